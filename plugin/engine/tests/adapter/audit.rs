//! An audit from its model to its deleted session, and every way it can fail.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use goal_core::evidence::{Evidence, Voice};
use goal_core::goal::{GoalId, ModelRef, SessionId};
use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::limits::Limits;
use goal_core::message::ToolUse;
use goal_core::prompt;
use goal_core::snapshot::SessionFacts;
use goal_core::time::Wall;
use goal_core::verdict::{Verdict, VerdictKind};
use goal_engine::audit::{ServerAuditor, sweep_left_overs};
use goal_engine::ports::{AuditJob, AuditMark, Auditor as _, Clock, SessionRead};
use goal_engine::server::OpenCode;
use goal_engine::settings::SettingsFile;
use opencode_client::Client;
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fake::{Fake, Reply, client, dead_target, limits, not_found, said, said_in};

const COMPLETE: &str = r#"{"verdict":"complete","note":"all tests pass"}"#;

/// The end of the call that asks.
pub(crate) const MESSAGE: &str = "/message";

/// The wall clock stands still; every draw differs.
#[derive(Default)]
struct StoppedClock(std::sync::atomic::AtomicU8);

impl Clock for StoppedClock {
    fn wall(&self) -> Wall {
        Wall(1_000_000)
    }

    fn random(&self) -> [u8; 16] {
        [self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed); 16]
    }
}

fn auditor_with(client: Client, limits: Limits, settings: &Path) -> ServerAuditor {
    ServerAuditor::new(
        client,
        Arc::new(SettingsFile::new(settings.to_owned())),
        limits,
        "me".to_owned(),
        Arc::new(StoppedClock::default()),
    )
}

pub(crate) fn auditor(client: Client, limits: Limits) -> ServerAuditor {
    auditor_with(client, limits, Path::new("/nowhere/settings.json"))
}

pub(crate) fn model(provider: &str, model: &str) -> ModelRef {
    ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    }
}

pub(crate) fn voice() -> Voice {
    Voice {
        model: model("fake", "big"),
        agent: Some("build".to_owned()),
        variant: Some("high".to_owned()),
    }
}

fn job() -> AuditJob {
    AuditJob {
        session: SessionId::new("ses_p"),
        directory: "/d".to_owned(),
        goal: GoalId::new("g1"),
        objective: "make <it> green".to_owned(),
        evidence: Evidence {
            text: "Done: all. Verified: tests.".to_owned(),
            tools: vec![ToolUse {
                tool: "bash".to_owned(),
                title: "cargo test".to_owned(),
                status: "completed".to_owned(),
                exit: Some(0),
                ..ToolUse::default()
            }],
        },
        voice: voice(),
    }
}

async fn run(auditor: &ServerAuditor) -> AuditOutcome {
    auditor.audit(job(), CancellationToken::new()).await
}

fn verdict(kind: VerdictKind, note: &str, by: ModelRef) -> AuditOutcome {
    AuditOutcome::Verdict {
        verdict: Verdict {
            kind,
            note: note.to_owned(),
        },
        model: by,
    }
}

fn complete() -> AuditOutcome {
    verdict(
        VerdictKind::Complete,
        "all tests pass",
        model("fake", "small"),
    )
}

/// All prompts that reached an audit session.
pub(crate) fn prompts(fake: &Fake) -> Vec<crate::fake::Seen> {
    let mut seen = fake.seen("POST");
    seen.retain(|seen| seen.call.ends_with(MESSAGE));
    seen
}

/// Waits for the clean-up; then no session is left and every one was stopped before.
pub(crate) async fn assert_cleaned(fake: &Fake, auditor: &ServerAuditor) {
    assert!(
        auditor.finish(Duration::from_secs(20)).await,
        "clean-up hangs"
    );
    let made = fake
        .seen("POST /session")
        .iter()
        .filter(|it| it.call == "POST /session")
        .count();
    for n in 1..=made {
        let calls: Vec<String> = fake.seen("").into_iter().map(|seen| seen.call).collect();
        let at = |call: String| calls.iter().position(|seen| *seen == call);
        let abort = at(format!("POST /session/ses_c{n}/abort"));
        let delete = at(format!("DELETE /session/ses_c{n}"));
        assert!(abort.is_some() && abort < delete, "{n}: {calls:?}");
    }
}

#[tokio::test]
async fn an_audit_asks_in_a_marked_child_that_may_do_nothing() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [said(COMPLETE)]);
    let auditor = auditor(fake.client(), limits());
    assert_eq!(run(&auditor).await, complete());
    assert_cleaned(&fake, &auditor).await;

    let made = &fake.seen("POST /session")[0];
    assert_eq!(made.query, "directory=%2Fd");
    let mark = &made.body["metadata"]["openchamber"]["goalAudit"];
    // The deadline of 10 s and five minutes behind the stopped clock's 1,000 s.
    assert_eq!(mark["until"], 1_310_000);
    assert_eq!(
        (&mark["owner"], &mark["goalID"]),
        (&json!("me"), &json!("g1"))
    );
    assert_eq!(made.body["parentID"], "ses_p");
    assert_eq!(made.body["title"], "Goal audit");
    let deny = json!([{"permission": "*", "pattern": "*", "action": "deny"}]);
    assert_eq!(made.body["permission"], deny);

    let asked = prompts(&fake);
    assert_eq!(asked.len(), 1);
    let text = asked[0].body["parts"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("make &lt;it&gt; green") && text.contains("cargo test"),
        "{text}"
    );
    let expected = json!({
        "model": {"providerID": "fake", "modelID": "small"},
        "agent": "goal-auditor",
        "parts": [{"type": "text", "text": text}],
    });
    assert_eq!(
        asked[0].body, expected,
        "neither format nor tools nor a variant"
    );
}

#[tokio::test]
async fn without_the_agent_the_instructions_go_along() {
    let fake = Fake::start().await;
    fake.script(
        "GET /agent",
        [Reply::Json(200, json!([{"name": "build"}])), Reply::Html],
    );
    fake.script(MESSAGE, [said(COMPLETE), Reply::Json(200, json!(true))]);
    let auditor = auditor(fake.client(), limits());
    assert_eq!(run(&auditor).await, complete());
    let body = &prompts(&fake)[0].body;
    assert_eq!(body["system"], prompt::audit_system());
    assert_eq!(body.get("agent"), None);
}

#[tokio::test]
async fn evidence_is_clipped_to_its_limit() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [said(COMPLETE)]);
    let limits = Limits {
        evidence_max: 200,
        ..limits()
    };
    let auditor = auditor(fake.client(), limits);
    let mut job = job();
    job.evidence.text = format!("{}end", "x".repeat(5_000));
    auditor.audit(job, CancellationToken::new()).await;
    let body = &prompts(&fake)[0].body;
    let text = body["parts"][0]["text"].as_str().unwrap();
    assert!(text.contains(prompt::EVIDENCE_MARKER.trim()) && text.contains("xend"));
    assert!(!text.contains(&"x".repeat(200)));
}

#[tokio::test]
async fn a_verdict_may_stand_in_the_reasoning_alone() {
    let fake = Fake::start().await;
    fake.script(
        MESSAGE,
        [said_in(json!([{"type": "reasoning", "text": COMPLETE}]))],
    );
    assert_eq!(run(&auditor(fake.client(), limits())).await, complete());
}

#[tokio::test]
async fn a_note_in_a_foreign_script_is_dropped_and_the_verdict_kept() {
    let fake = Fake::start().await;
    fake.script(
        MESSAGE,
        [said(r#"{"verdict":"continue","note":"осталось"}"#)],
    );
    let outcome = run(&auditor(fake.client(), limits())).await;
    assert_eq!(
        outcome,
        verdict(VerdictKind::Continue, "", model("fake", "small"))
    );
}

#[tokio::test]
async fn an_unreadable_reply_is_asked_for_once_more_in_the_same_session() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [said("Looks good to me!"), said(COMPLETE)]);
    let auditor = auditor(fake.client(), limits());
    assert_eq!(run(&auditor).await, complete());
    let asked = prompts(&fake);
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].body["parts"][0]["text"], prompt::audit_again());
    assert_eq!(asked[0].call, asked[1].call);
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn nonsense_twice_is_one_failed_audit() {
    let fake = Fake::start().await;
    fake.script(
        MESSAGE,
        [
            said("DONE!"),
            said(r#"{"verdict":"maybe"}"#),
            said(COMPLETE),
        ],
    );
    let auditor = auditor(fake.client(), limits());
    assert_eq!(
        run(&auditor).await,
        AuditOutcome::Failed(AuditFailure::Unparsable)
    );
    assert_eq!(prompts(&fake).len(), 2);
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_failure_of_the_provider_is_not_tried_again() {
    let api_error = json!({"name": "APIError", "data": {"message": "no", "statusCode": 401}});
    let info = json!({"id": "msg_r", "role": "assistant", "error": api_error});
    let with_error = Reply::Json(200, json!({"info": info, "parts": []}));
    let refused = Reply::Json(
        500,
        json!({"name": "UnknownError", "data": {"message": "x"}}),
    );
    for reply in [with_error, refused] {
        let fake = Fake::start().await;
        fake.script(MESSAGE, [reply, said(COMPLETE)]);
        let auditor = auditor(fake.client(), limits());
        assert_eq!(
            run(&auditor).await,
            AuditOutcome::Failed(AuditFailure::Provider)
        );
        assert_eq!(prompts(&fake).len(), 1);
        assert_cleaned(&fake, &auditor).await;
    }
}

#[tokio::test]
async fn connection_trouble_is_tried_again_in_a_new_session() {
    let aborted = json!({"name": "MessageAbortedError", "data": {"message": "Aborted"}});
    let info = json!({"id": "msg_r", "role": "assistant", "error": aborted});
    let stopped = Reply::Json(200, json!({"info": info, "parts": []}));
    let gateway = Reply::Json(503, json!({"message": "starting"}));
    for trouble in [Reply::Break, gateway, stopped] {
        let fake = Fake::start().await;
        fake.script(MESSAGE, [trouble, said(COMPLETE)]);
        let auditor = auditor(fake.client(), limits());
        assert_eq!(run(&auditor).await, complete());
        let calls: Vec<String> = prompts(&fake).into_iter().map(|seen| seen.call).collect();
        assert_eq!(
            calls,
            [
                "POST /session/ses_c1/message",
                "POST /session/ses_c2/message"
            ]
        );
        assert_cleaned(&fake, &auditor).await;
    }
}

#[tokio::test]
async fn connection_trouble_is_tried_three_times_in_all() {
    let fake = Fake::start().await;
    fake.script(
        MESSAGE,
        [Reply::Break, Reply::Break, Reply::Break, said(COMPLETE)],
    );
    let auditor = auditor(fake.client(), limits());
    assert_eq!(
        run(&auditor).await,
        AuditOutcome::Failed(AuditFailure::Connection)
    );
    assert_eq!(prompts(&fake).len(), 3);
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_server_that_is_away_is_connection_trouble() {
    let auditor = auditor(client(dead_target().await), limits());
    assert_eq!(
        run(&auditor).await,
        AuditOutcome::Failed(AuditFailure::Connection)
    );
}

#[tokio::test]
async fn a_pause_that_would_pass_the_deadline_is_not_waited_for() {
    let limits = Limits {
        audit_timeout: Duration::from_secs(5),
        audit_retry: [Duration::from_hours(1); 2],
        ..limits()
    };
    let auditor = auditor(client(dead_target().await), limits);
    assert_eq!(
        run(&auditor).await,
        AuditOutcome::Failed(AuditFailure::Connection)
    );
}

#[tokio::test]
async fn an_audit_that_hangs_ends_at_its_deadline_and_is_stopped() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [Reply::Hang]);
    let limits = Limits {
        audit_timeout: Duration::from_millis(500),
        ..limits()
    };
    let auditor = auditor(fake.client(), limits);
    assert_eq!(
        run(&auditor).await,
        AuditOutcome::Failed(AuditFailure::Timeout)
    );
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_cancelled_audit_is_stopped_at_once() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [Reply::Hang]);
    let auditor = auditor(fake.client(), limits());
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let (auditor, cancel) = (auditor.clone(), cancel.clone());
        async move { auditor.audit(job(), cancel).await }
    });
    fake.wait_for("POST /session/ses_c1/message", 1).await;
    cancel.cancel();
    running.await.unwrap();
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_dropped_audit_is_cleaned_up_all_the_same() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [Reply::Hang]);
    let auditor = auditor(fake.client(), limits());
    let running = tokio::spawn({
        let auditor = auditor.clone();
        async move { run(&auditor).await }
    });
    fake.wait_for("POST /session/ses_c1/message", 1).await;
    running.abort();
    fake.wait_for("DELETE /session/ses_c1", 1).await;
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_session_that_is_made_after_the_audit_was_given_up_is_deleted() {
    let fake = Fake::start().await;
    fake.script("POST /session", [Reply::AfterGate]);
    let auditor = auditor(fake.client(), limits());
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let (auditor, cancel) = (auditor.clone(), cancel.clone());
        async move { auditor.audit(job(), cancel).await }
    });
    fake.wait_for("POST /session", 1).await;
    cancel.cancel();
    running.await.unwrap();
    assert_eq!(fake.seen("DELETE").len(), 0);
    fake.open_gate();
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_session_whose_id_never_arrived_is_found_and_deleted() {
    let fake = Fake::start().await;
    fake.script("POST /session", [Reply::Break]);
    fake.script(MESSAGE, [said(COMPLETE)]);
    let auditor = auditor(fake.client(), limits());
    assert_eq!(run(&auditor).await, complete());
    assert_eq!(prompts(&fake)[0].call, "POST /session/ses_c2/message");
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_failed_deletion_is_tried_again() {
    let fake = Fake::start().await;
    let failed = Reply::Json(
        500,
        json!({"name": "UnknownError", "data": {"message": "x"}}),
    );
    fake.script("DELETE", [failed, Reply::Break]);
    fake.script(MESSAGE, [said(COMPLETE)]);
    let auditor = auditor(fake.client(), limits());
    assert_eq!(run(&auditor).await, complete());
    assert_cleaned(&fake, &auditor).await;
    assert_eq!(fake.seen("DELETE /session/ses_c1").len(), 3);
}

#[tokio::test]
async fn a_configured_model_that_the_server_lacks_is_no_model() {
    let fake = Fake::start().await;
    fake.script(
        "GET /config",
        [Reply::Json(200, json!({"small_model": "fake/gone"}))],
    );
    let auditor = auditor(fake.client(), limits());
    assert_eq!(
        run(&auditor).await,
        AuditOutcome::Failed(AuditFailure::NoModel)
    );
    assert_eq!(fake.seen("POST"), []);
}

/// What `resolve` finds, as `provider/model by source`.
async fn resolved(auditor: &ServerAuditor, voice: Option<&Voice>) -> Option<String> {
    let found = auditor.resolve("/d", voice).await.unwrap()?;
    Some(format!(
        "{}/{} by {}",
        found.model.provider, found.model.model, found.source
    ))
}

#[tokio::test]
async fn settings_come_before_configuration_before_the_sessions_provider() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    let auditor = auditor_with(fake.client(), limits(), &file);
    let set = |use_default: bool| {
        let settings = json!({
            "smallModelUseDefault": use_default,
            "smallModelOverride": "fake/quick",
        });
        std::fs::write(&file, settings.to_string()).unwrap();
    };
    let found = |text: &str| Some(text.to_owned());
    let voice = voice();
    set(false);
    assert_eq!(
        resolved(&auditor, Some(&voice)).await,
        found("fake/quick by settings")
    );
    set(true);
    assert_eq!(
        resolved(&auditor, Some(&voice)).await,
        found("fake/small by config")
    );
    assert_eq!(
        resolved(&auditor, None).await,
        found("fake/small by config")
    );
    fake.script("GET /config", [Reply::Json(200, json!({}))]);
    assert_eq!(
        resolved(&auditor, Some(&voice)).await,
        found("fake/quick by family-scan")
    );
    fake.script(
        "GET /config",
        [Reply::Json(200, json!({"small_model": ""}))],
    );
    assert_eq!(
        resolved(&auditor, None).await,
        found("fake/big by session-model")
    );
    assert!(
        fake.seen("GET")
            .iter()
            .all(|seen| seen.query == "directory=%2Fd")
    );
}

#[tokio::test]
async fn what_cannot_be_looked_up_refuses_nothing() {
    let auditor = auditor(client(dead_target().await), limits());
    let found = resolved(&auditor, Some(&voice())).await;
    assert_eq!(found, Some("fake/big by session-model".to_owned()));
    assert!(auditor.resolve("/d", None).await.is_err());
}

#[tokio::test]
async fn only_audits_whose_time_has_passed_are_swept() {
    let fake = Fake::start().await;
    fake.script(
        "DELETE",
        [
            not_found(),
            Reply::Json(500, json!({})),
            Reply::Json(200, json!(true)),
        ],
    );
    let read = |id: &str, until: Option<u64>, parent: Option<&str>| SessionRead {
        facts: SessionFacts {
            id: SessionId::new(id),
            parent: parent.map(SessionId::new),
            archived: false,
            revert: None,
        },
        title: String::new(),
        directory: "/d".to_owned(),
        metadata: None,
        audit: until.map(|until| AuditMark {
            owner: "other".to_owned(),
            goal: GoalId::new("g"),
            until: Wall(until),
        }),
        created: Wall(0),
        updated: Wall(0),
    };
    let sessions = [
        read("ses_1", Some(9), Some("ses_0")),
        read("ses_2", Some(10), Some("ses_0")),
        read("ses_3", Some(9), None),
        read("ses_4", None, Some("ses_0")),
        read("ses_5", Some(1), Some("ses_0")),
        read("ses_6", Some(2), Some("ses_0")),
    ];
    sweep_left_overs(&OpenCode::new(fake.client()), &sessions, Wall(10)).await;
    let calls: Vec<String> = fake.seen("").into_iter().map(|seen| seen.call).collect();
    let expected = ["ses_1", "ses_5", "ses_6"].map(|id| {
        [
            format!("POST /session/{id}/abort"),
            format!("DELETE /session/{id}"),
        ]
    });
    assert_eq!(calls, expected.concat());
}
