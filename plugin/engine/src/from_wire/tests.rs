use goal_core::message::Author;
use opencode_client::{
    MessageError, MessageInfo, PermissionRequest, QuestionRequest, Revert, Role, Session,
    SessionTime, Status, TextPart, Tokens, ToolMetadata, ToolPart, ToolStatus,
};
use pretty_assertions::assert_eq;

use super::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn child_with(metadata: &str) -> SessionRead {
    session(Session {
        id: "ses_1".to_owned(),
        parent_id: Some("ses_0".to_owned()),
        metadata: Some(raw(metadata)),
        ..Session::default()
    })
}

fn answer(info: MessageInfo) -> Step {
    let read = message(wire::Message {
        info: MessageInfo {
            id: "msg_1".to_owned(),
            role: Role::Assistant,
            ..info
        },
        parts: Vec::new(),
    });
    read.unwrap().step().unwrap().clone()
}

#[test]
fn a_session_is_read_with_its_metadata_byte_for_byte() {
    let metadata = "{ \"a\":1, \"a\":2, \"big\":12345678901234567890 }";
    let read = session(Session {
        id: "ses_1".to_owned(),
        title: "T".to_owned(),
        directory: "/d".to_owned(),
        time: SessionTime {
            created: 1,
            updated: 2,
            archived: Some(3),
        },
        revert: Some(Revert {
            message_id: "msg_9".to_owned(),
            part_id: Some("prt_9".to_owned()),
        }),
        metadata: Some(raw(metadata)),
        ..Session::default()
    });
    let expected = SessionRead {
        facts: SessionFacts {
            id: SessionId::new("ses_1"),
            parent: None,
            archived: true,
            revert: Some(RevertId::new("msg_9")),
        },
        title: "T".to_owned(),
        directory: "/d".to_owned(),
        metadata: Some(Arc::from(metadata)),
        audit: None,
        created: Wall(1),
        updated: Wall(2),
    };
    assert_eq!(read, expected);
}

#[test]
fn an_audit_mark_is_read_however_damaged_and_a_damaged_one_never_ends() {
    let mark = |owner: &str, goal: &str, until: u64| {
        Some(AuditMark {
            owner: owner.to_owned(),
            goal: GoalId::new(goal),
            until: Wall(until),
        })
    };
    let cases = [
        (
            r#"{"openchamber":{"goalAudit":{"owner":"o","goalID":"g","until":5}}}"#,
            mark("o", "g", 5),
        ),
        (
            r#"{"openchamber":{"goalAudit":{"owner":"o","goalID":"g","until":5.9}}}"#,
            mark("o", "g", 5),
        ),
        (
            r#"{"openchamber":{"goalAudit":{"owner":7,"until":"soon"}}}"#,
            mark("", "", u64::MAX),
        ),
        (
            r#"{"openchamber":{"goalAudit":{"until":-1}}}"#,
            mark("", "", u64::MAX),
        ),
        (r#"{"openchamber":{"goalAudit":true}}"#, None),
        (r#"{"openchamber":{"goal":"goalAudit"}}"#, None),
        (
            r#"{"goalAudit":{"owner":"o","goalID":"g","until":5}}"#,
            None,
        ),
        (r#"{"openchamber":[]," goalAudit":1}"#, None),
        ("{}", None),
    ];
    for (metadata, expected) in cases {
        assert_eq!(child_with(metadata).audit, expected, "{metadata}");
    }
}

#[test]
fn a_copy_of_an_audit_is_none() {
    let fork = session(Session {
        id: "ses_1".to_owned(),
        metadata: Some(raw(r#"{"openchamber":{"goalAudit":{"until":5}}}"#)),
        ..Session::default()
    });
    assert_eq!(fork.audit, None);
}

#[test]
fn an_answer_is_read_whole() {
    let step = answer(MessageInfo {
        parent_id: Some("msg_0".to_owned()),
        completed: Some(9),
        summary: true,
        finish: Some("tool-calls".to_owned()),
        provider_id: Some("p".to_owned()),
        model_id: Some("m".to_owned()),
        agent: Some("plan".to_owned()),
        mode: Some("build".to_owned()),
        variant: Some("high".to_owned()),
        tokens: Some(Tokens {
            input: 400,
            output: 20,
            reasoning: 1_000,
            cache_read: 600,
            cache_write: 5_000,
        }),
        ..MessageInfo::default()
    });
    let expected = Step {
        parent: Some(MessageId::new("msg_0")),
        completed: Some(Wall(9)),
        summary: true,
        finish: Some(Finish::ToolCalls),
        error: None,
        model: Some(ModelRef {
            provider: "p".to_owned(),
            model: "m".to_owned(),
        }),
        agent: Some("plan".to_owned()),
        variant: Some("high".to_owned()),
        tokens: 1_020,
    };
    assert_eq!(step, expected);
}

#[test]
fn what_an_answer_lacks_is_absent() {
    let blank = || Some(" ".to_owned());
    let step = answer(MessageInfo {
        parent_id: blank(),
        finish: blank(),
        provider_id: Some("p".to_owned()),
        model_id: blank(),
        agent: blank(),
        mode: Some("build".to_owned()),
        variant: blank(),
        tokens: Some(Tokens {
            input: u64::MAX,
            output: 1,
            ..Tokens::default()
        }),
        ..MessageInfo::default()
    });
    let expected = Step {
        agent: Some("build".to_owned()),
        tokens: u64::MAX,
        ..Step::default()
    };
    assert_eq!(step, expected);
}

#[test]
fn words_of_finish_and_error_are_told_apart() {
    let finishes = [
        ("stop", Finish::Stop),
        ("tool-calls", Finish::ToolCalls),
        ("length", Finish::Length),
        ("content-filter", Finish::Other),
    ];
    for (word, expected) in finishes {
        let info = MessageInfo {
            finish: Some(word.to_owned()),
            ..MessageInfo::default()
        };
        assert_eq!(answer(info).finish, Some(expected), "{word}");
    }
    let errors = [
        ("MessageAbortedError", ErrorKind::Aborted),
        ("MessageOutputLengthError", ErrorKind::OutputLength),
        ("ContextOverflowError", ErrorKind::ContextOverflow),
        ("APIError", ErrorKind::Failure),
        ("", ErrorKind::Failure),
    ];
    for (name, expected) in errors {
        let info = MessageInfo {
            error: Some(MessageError {
                name: name.to_owned(),
                message: "said".to_owned(),
                status: None,
            }),
            ..MessageInfo::default()
        };
        let error = answer(info).error.unwrap();
        assert_eq!(
            (error.kind, error.text.as_str()),
            (expected, "said"),
            "{name}"
        );
    }
}

#[test]
fn a_filtered_reply_is_a_failure_with_or_without_an_error() {
    let filtered = |completed, error: Option<&str>| {
        let info = MessageInfo {
            completed,
            finish: Some("content-filter".to_owned()),
            error: error.map(|message| MessageError {
                name: "ContentFilterError".to_owned(),
                message: message.to_owned(),
                status: None,
            }),
            ..MessageInfo::default()
        };
        let error = answer(info).error;
        error.map(|error| (error.kind, error.name, error.text))
    };
    let failure = |text: &str| {
        let name = "ContentFilterError".to_owned();
        Some((ErrorKind::Failure, name, text.to_owned()))
    };
    assert_eq!(filtered(Some(2), Some("said")), failure("said"));
    assert_eq!(
        filtered(Some(2), None),
        failure("The provider's content filter blocked the reply")
    );
    assert_eq!(filtered(None, None), None, "it may still be told");
}

#[test]
fn parts_become_what_the_loop_cares_about() {
    let text = |synthetic, ignored| {
        wire::Part::Text(TextPart {
            text: "t".to_owned(),
            synthetic,
            ignored,
            ..TextPart::default()
        })
    };
    let read = |unseen| Part::Text {
        text: "t".to_owned(),
        unseen,
    };
    let other = |kind: &str| wire::Part::Other {
        kind: kind.to_owned(),
    };
    let compaction = |overflow| wire::Part::Compaction {
        auto: true,
        overflow,
    };
    let cases = [
        (text(false, false), read(false)),
        (text(true, false), read(true)),
        (text(false, true), read(true)),
        (wire::Part::StepStart, Part::StepStart),
        (compaction(true), Part::Compaction { overflow: true }),
        (compaction(false), Part::Compaction { overflow: false }),
        (wire::Part::File, Part::Other { prompt: true }),
        (wire::Part::Subtask, Part::Other { prompt: true }),
        (other("agent"), Part::Other { prompt: true }),
        (other("patch"), Part::Other { prompt: false }),
        (other(""), Part::Other { prompt: false }),
        (
            wire::Part::StepFinish { reason: None },
            Part::Other { prompt: false },
        ),
        (
            wire::Part::Reasoning {
                text: "hm".to_owned(),
            },
            Part::Other { prompt: false },
        ),
    ];
    for (from, expected) in cases {
        assert_eq!(part(from.clone()), expected, "{from:?}");
    }
}

#[test]
fn a_tool_is_declined_only_by_the_users_own_no() {
    let tool = |status, error: Option<&str>| {
        tool_use(ToolPart {
            tool: "bash".to_owned(),
            status,
            error: error.map(str::to_owned),
            ..ToolPart::default()
        })
        .declined
    };
    let refused = "The user rejected permission to use this specific tool call.";
    let reasoned = format!("{refused} with the following feedback: use make");
    let cases = [
        (ToolStatus::Error, Some(refused), true),
        (
            ToolStatus::Error,
            Some("The user dismissed this question"),
            true,
        ),
        (ToolStatus::Error, Some(reasoned.as_str()), false),
        (ToolStatus::Error, Some("Tool execution aborted"), false),
        (ToolStatus::Error, None, false),
        (ToolStatus::Completed, Some(refused), false),
    ];
    for (status, error, expected) in cases {
        assert_eq!(tool(status, error), expected, "{status:?} {error:?}");
    }
}

#[test]
fn a_tool_keeps_title_exit_and_child() {
    let read = tool_use(ToolPart {
        tool: "task".to_owned(),
        status: ToolStatus::Completed,
        title: Some("look around".to_owned()),
        metadata: ToolMetadata {
            exit: Some(-1),
            session_id: Some("ses_2".to_owned()),
            ..ToolMetadata::default()
        },
        ..ToolPart::default()
    });
    let expected = ToolUse {
        tool: "task".to_owned(),
        title: "look around".to_owned(),
        status: "completed".to_owned(),
        exit: Some(-1),
        declined: false,
        child: Some(SessionId::new("ses_2")),
    };
    assert_eq!(read, expected);
}

#[test]
fn unreadable_messages_are_left_out_of_a_page() {
    let message = |id: &str, role| wire::Message {
        info: MessageInfo {
            id: id.to_owned(),
            role,
            ..MessageInfo::default()
        },
        parts: Vec::new(),
    };
    let page = messages(wire::Page {
        items: vec![
            message("msg_1", Role::User),
            message("", Role::User),
            message("msg_2", Role::Other),
        ],
        next: Some("more".to_owned()),
    });
    let ids: Vec<&str> = page.items.iter().map(|it| it.id.as_str()).collect();
    assert_eq!((ids, page.next.as_deref()), (vec!["msg_1"], Some("more")));
    assert_eq!(page.items[0].author, Author::User);
}

#[test]
fn only_idle_sessions_have_no_presence() {
    let retry = Status::Retry {
        attempt: 1,
        message: String::new(),
        next: 0,
    };
    let named = [
        ("a", Status::Idle),
        ("b", Status::Busy),
        ("c", retry),
        ("d", Status::Other("paused".to_owned())),
    ];
    let read = statuses(named.map(|(id, status)| (id.to_owned(), status)).into());
    let expected = [
        ("b", Presence::Busy),
        ("c", Presence::Retry),
        ("d", Presence::Busy),
    ];
    assert_eq!(
        read,
        expected.map(|(id, it)| (SessionId::new(id), it)).into()
    );
}

#[test]
fn requests_say_who_asks_what() {
    let asked = permission(PermissionRequest {
        id: "per_1".to_owned(),
        session_id: "ses_1".to_owned(),
        permission: "bash".to_owned(),
        patterns: vec!["echo *".to_owned()],
    });
    assert_eq!(asked.request.kind, RequestKind::Permission);
    assert_eq!(asked.request.subject, "bash");
    let asked = question(QuestionRequest {
        id: "que_1".to_owned(),
        session_id: "ses_1".to_owned(),
        questions: vec!["x".repeat(500)],
    });
    assert_eq!(asked.request.kind, RequestKind::Question);
    assert_eq!(asked.request.subject.len(), SUBJECT_UNITS_MAX);
}
