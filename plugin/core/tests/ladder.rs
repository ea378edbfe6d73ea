//! The ladder, rung by rung (X23).

mod support;

use std::time::Duration;

use goal_core::decide::{decide, gate_activity, gate_session};
use goal_core::decision::{BlockedCause, Decision, PauseCause, Prompting, Settlement, Why};
use goal_core::goal::{MessageId, RevertId, SessionId, Status};
use goal_core::limits::Limits;
use goal_core::memory::{Memory, Repeat, Sent};
use goal_core::prompt::Occasion;
use goal_core::snapshot::{Activity, Gate, Request, RequestKind, SessionFacts};
use goal_core::time::{Mono, Wall};
use pretty_assertions::assert_eq;

use support::goals::{goal, session};
use support::scenes::{NOW, Scene, scene};
use support::tails::{continuation_of, messages};

const DONE: &str = "u u1; a a1 < u1 stop 'done'";
const OPEN: &str = "u u1; a a1 < u1 open";
const TOOLS: &str = "u u1; a a1 < u1 tools tool=bash=0";
const ABORTED: &str = "u u1; a a1 < u1 err=MessageAbortedError";
const BLANK: &str = "u u1; a a1 < u1";
const DECLINED: &str = "u u1; a a1 < u1 tools refused=bash";
const FAILED: &str = "u u1; a a1 < u1 err=APIError:401";
const PENDING: &str = "u u1; a a1 < u1 stop 'done'; u u2";
const OURS: &str = "u u1; a a1 < u1 stop 'done'; c a1";
const CUT: &str = "u u1; a a1 < u1 length 'x'";
const CUT_TWICE: &str = "u u1; a a0 < u1 length 'x'; a a1 < u1 length 'y'";
const SUMMARY: &str = "u u1; a a0 < u1 stop 'x'; u m mark; a a1 < m summary stop 'sum'";
const HOLLOW: &str = "u u1; a a1 < u1 stop";
const SQUEEZED: &str = "u u1; a a0 < u1 stop 'x'; \
    u m1 mark; a s1 < m1 summary stop 'sum'; u m2 mark; a s2 < m2 summary stop 'sum'; \
    u m3 mark; a a1 < m3 summary stop 'sum'";

fn rest(why: Why) -> Decision {
    Decision::Rest(why)
}

fn blocked(cause: BlockedCause) -> Decision {
    Decision::Settle(Settlement::Blocked(cause))
}

fn go_on(occasion: Occasion) -> Decision {
    Decision::Continue(Prompting::New(occasion))
}

const FINISH: Decision = Decision::Continue(Prompting::Finish);
const RESEND: Decision = Decision::Continue(Prompting::Resend);
const OVER_BUDGET: Decision = Decision::Settle(Settlement::BudgetLimited);

fn turn_failed() -> Decision {
    blocked(BlockedCause::TurnFailed {
        reason: "APIError: 401".to_owned(),
    })
}

/// Each case: name, goal, messages, decision; an hour after the last event.
fn check(cases: &[(&str, &str, &str, Decision)]) {
    for (name, goal, messages, expected) in cases {
        assert_eq!(&scene(goal, messages).decide(), expected, "{name}");
    }
}

/// Each case: name, a scene, decision.
fn check_scenes(cases: Vec<(&str, Scene, Decision)>) {
    for (name, scene, expected) in cases {
        assert_eq!(scene.decide(), expected, "{name}");
    }
}

/// A later moment than [`NOW`].
fn later(ms: u64) -> Mono {
    Mono(NOW.0 + ms)
}

fn request() -> Request {
    Request {
        kind: RequestKind::Question,
        id: "que_1".to_owned(),
        subject: "Which way?".to_owned(),
    }
}

/// A change of a scene, and what the ladder says after it.
type Step = (fn(&mut Scene), Decision);

/// One scene in which every rung matches at once; each step takes the topmost one away, so that the
/// next must answer. It is the order of X23, from top to bottom.
#[test]
fn x23_the_rungs_stand_in_order() {
    let mut s = scene("paused turns=20 budget=100 used=100 step=a1", "").with(|s| {
        s.enabled = false;
        s.archived = true;
        s.inherited = true;
        s.revert = Some("msg_r");
        s.activity = Activity::Busy;
        s.objective = false;
        s.first_message_exists = false;
        s.untouched = 0;
        s.memory.stale = true;
        s.memory.retry_stopped = true;
    });
    assert_eq!(s.decide(), rest(Why::Disabled));
    for (change, expected) in gates().into_iter().chain(rungs()) {
        change(&mut s);
        assert_eq!(s.decide(), expected);
    }
}

fn gates() -> Vec<Step> {
    let first = Why::FirstMessageMissing {
        until: later(60_000),
    };
    let paused = Why::NotActive(Status::Paused);
    let archived = Decision::Pause(PauseCause::Archived);
    vec![
        (|s| s.enabled = true, rest(Why::Inherited)),
        (|s| s.inherited = false, rest(paused)),
        (|s| s.goal.status = Status::Active, archived),
        (|s| s.archived = false, rest(Why::NeedsClick)),
        (|s| s.memory.stale = false, rest(Why::Busy)),
        (|s| s.activity = Activity::Quiet, rest(first)),
        (|s| s.first_message_exists = true, rest(Why::Rewound)),
        (|s| s.revert = None, rest(Why::ObjectiveMissing)),
        (|s| s.objective = true, rest(Why::NoAssistantYet)),
        (|s| s.messages = PENDING.into(), rest(Why::UserPending)),
    ]
}

fn rungs() -> Vec<Step> {
    let grace = Why::WithinGrace {
        until: later(60_000),
    };
    let no_record = |s: &mut Scene| s.goal.continued_after = None;
    let failed_without_record = |s: &mut Scene| {
        s.messages = FAILED.into();
        s.goal.continued_after = None;
    };
    let cut_twice_and_squeezed = |s: &mut Scene| {
        s.messages = SQUEEZED.replace("stop 'x'", "length 'x'; a b0 < u1 length 'x'");
        s.goal.continued_after = goal("step=a1").continued_after;
    };
    let hollow_for_long = |s: &mut Scene| {
        s.messages = HOLLOW.into();
        s.untouched = 60_000;
    };
    let stopped = Decision::Pause(PauseCause::Aborted);
    let squeezed = Decision::Pause(PauseCause::ContextTooSmall);
    let cut_off = blocked(BlockedCause::RepeatedTruncation);
    vec![
        (|s| s.messages = OPEN.into(), rest(grace)),
        (failed_without_record, stopped),
        (|s| s.memory.retry_stopped = false, turn_failed()),
        (cut_twice_and_squeezed, OVER_BUDGET),
        (|s| s.goal.token_budget = None, FINISH),
        (no_record, blocked(BlockedCause::Cap)),
        (|s| s.goal.turns_used = 19, cut_off),
        (|s| s.messages = SQUEEZED.into(), squeezed),
        (|s| s.messages = SUMMARY.into(), go_on(Occasion::Compacted)),
        (hollow_for_long, go_on(Occasion::EmptyReply)),
        (|s| s.messages = DONE.into(), Decision::Audit),
    ]
}

/// What the gates alone say: about a session with `goal` that is a sub-agent's or archived.
fn gated(parent: bool, archived: bool, goal: &str, stale: bool) -> Option<Decision> {
    let session = SessionFacts {
        id: session(),
        parent: parent.then(|| SessionId::new("ses_0")),
        archived,
        revert: Some(RevertId::new("msg_r")),
    };
    let goal = support::goals::goal(goal);
    gate_session(&Gate {
        enabled: true,
        session: Some(&session),
        goal: Some(&goal),
        inherited: goal.session_id != Some(support::goals::session()),
        stale,
    })
}

#[test]
fn x23_the_gates_before_the_messages() {
    let (child, archived, stale) = (true, true, true);
    let paused = Some(rest(Why::NotActive(Status::Paused)));
    let inherited = Some(rest(Why::Inherited));
    let click = Some(rest(Why::NeedsClick));
    let pause = Some(Decision::Pause(PauseCause::Archived));
    assert_eq!(gated(false, false, "turns=3", false), None);
    assert_eq!(gated(false, archived, "", stale), pause);
    assert_eq!(gated(false, archived, "paused", false), paused);
    assert_eq!(gated(child, false, "", stale), inherited);
    assert_eq!(gated(false, false, "paused owner=ses_0", stale), inherited);
    assert_eq!(gated(false, false, "", stale), click);
    // X10: a Resume from before the long sleep is no click.
    assert_eq!(gated(false, false, "reason=resumed", stale), click);
    // X11: what is not its own, an archived session does not pause.
    assert_eq!(gated(child, archived, "", false), inherited);
}

#[test]
fn x23_a_session_or_a_goal_that_is_not_there() {
    let (plain, active) = (scene("", "").snapshot().session, goal(""));
    let gate = |enabled, session, goal| {
        gate_session(&Gate {
            enabled,
            session,
            goal,
            inherited: false,
            stale: true,
        })
    };
    assert_eq!(gate(false, None, None), Some(rest(Why::Disabled)));
    assert_eq!(gate(true, None, None), Some(rest(Why::Gone)));
    assert_eq!(gate(true, None, Some(&active)), Some(rest(Why::Gone)));
    assert_eq!(gate(true, Some(&plain), None), Some(rest(Why::NoGoal)));
}

#[test]
fn r23_only_an_active_goal_is_worked_on() {
    for status in Status::ALL {
        let mut stopped = scene("", DONE);
        stopped.goal.status = status;
        let expected = match status {
            Status::Active => Decision::Audit,
            Status::Paused | Status::Blocked | Status::BudgetLimited | Status::Complete => {
                rest(Why::NotActive(status))
            }
        };
        assert_eq!(stopped.decide(), expected, "{}", status.name());
    }
}

#[test]
fn r24_r25_x15_nobody_is_disturbed() {
    let child = SessionId::new("ses_2");
    for (activity, expected) in [
        (Activity::Quiet, None),
        (Activity::Busy, Some(Why::Busy)),
        (Activity::Retrying, Some(Why::ProviderRetries)),
        (
            Activity::SubagentBusy(child.clone()),
            Some(Why::SubagentBusy(child)),
        ),
        (
            Activity::WaitingForYou(request()),
            Some(Why::WaitingForYou(request())),
        ),
    ] {
        let expected = expected.map(rest);
        assert_eq!(gate_activity(&activity), expected);
        let decided = scene("", DONE).with(|s| s.activity = activity).decide();
        assert_eq!(decided, expected.unwrap_or(Decision::Audit));
    }
}

#[test]
fn x21_the_first_message_is_waited_for_sixty_seconds() {
    let missing = |untouched| {
        scene("first=u9", DONE).with(|s| {
            s.first_message_exists = false;
            s.untouched = untouched;
        })
    };
    let waits = |left| rest(Why::FirstMessageMissing { until: later(left) });
    check_scenes(vec![
        ("just looked", missing(0), waits(60_000)),
        ("nearly over", missing(59_999), waits(1)),
        (
            "over",
            missing(60_000),
            Decision::Pause(PauseCause::FirstMessageMissing),
        ),
        (
            "a session that works is not idle",
            missing(60_000).with(|s| {
                s.memory.first_missed = Some(Mono(1));
                s.memory.touched();
                s.untouched = 20_000;
            }),
            waits(40_000),
        ),
    ]);
}

#[test]
fn x14_a_rewound_session_is_left_alone() {
    let rewound = |goal: &str| scene(goal, PENDING).with(|s| s.revert = Some("u2"));
    check_scenes(vec![
        ("rewound", rewound(""), rest(Why::Rewound)),
        (
            "a Resume from before",
            rewound("reason=resumed over=a1"),
            rest(Why::Rewound),
        ),
        (
            "a Resume over another point",
            rewound("reason=resumed over=a1/u1"),
            rest(Why::Rewound),
        ),
        (
            "a Resume over this point and another tail",
            rewound("reason=resumed over=a0/u2"),
            rest(Why::Rewound),
        ),
        (
            "a Resume made while rewound",
            rewound("reason=resumed over=a1/u2"),
            go_on(Occasion::Resumed),
        ),
        (
            "it is spent by no failure",
            scene("reason=resumed over=a1/u2", &format!("{FAILED}; u u2"))
                .with(|s| s.revert = Some("u2")),
            turn_failed(),
        ),
        (
            "the point lies before all that was read",
            scene("", DONE).with(|s| s.revert = Some("msg_older")),
            rest(Why::Rewound),
        ),
    ]);
}

#[test]
fn x2_r30_there_must_be_an_answer_to_go_on_from() {
    check(&[
        ("nothing", "", "", rest(Why::NoAssistantYet)),
        ("a prompt", "", "u u1", rest(Why::NoAssistantYet)),
        (
            "resumed",
            "reason=resumed over=u1",
            "u u1",
            rest(Why::NoAssistantYet),
        ),
        (
            "a shell command",
            "",
            "u u1; a sh < u1 shell tool=bash=0",
            rest(Why::NoAssistantYet),
        ),
        (
            "an answer without a model (R77)",
            "",
            "u u1; a a1 < u1 nobody stop 'x'",
            blocked(BlockedCause::NoModel),
        ),
        (
            "nor is one continued unaudited",
            "",
            "u u1; a a1 < u1 nobody length 'x'",
            blocked(BlockedCause::NoModel),
        ),
        (
            "an older answer names one (R61)",
            "",
            "u u1; a a0 < u1 tools tool=x; a a1 < u1 nobody stop 'x'",
            Decision::Audit,
        ),
    ]);
}

#[test]
fn x18_a_persons_message_is_left_to_the_person() {
    let asked = rest(Why::UserPending);
    check_scenes(vec![
        (
            "fresh",
            scene("", PENDING).with(|s| s.untouched = 0),
            asked.clone(),
        ),
        ("old", scene("", PENDING), asked.clone()),
        (
            "a Resume over another tail",
            scene("reason=resumed over=a1", PENDING),
            asked.clone(),
        ),
        (
            "a Resume without a tail, as another client leaves it",
            scene("reason=resumed", PENDING),
            asked,
        ),
        (
            "a Resume over it",
            scene("reason=resumed over=u2", PENDING),
            go_on(Occasion::Resumed),
        ),
    ]);
}

fn sent(resends: u32, stopped: bool) -> Option<Sent> {
    Some(Sent {
        message: continuation_of(&messages(DONE), "a1"),
        resends,
        busy_seen: false,
        stopped,
        stream_broke: false,
        error: None,
    })
}

#[test]
fn x18_our_own_unanswered_message() {
    let ours = |sent: Option<Sent>| scene("turns=1 step=a1", OURS).with(|s| s.memory.sent = sent);
    let pause = Decision::Pause(PauseCause::Aborted);
    check_scenes(vec![
        (
            "within the grace",
            ours(None).with(|s| s.untouched = 59_999),
            rest(Why::WithinGrace { until: later(1) }),
        ),
        ("after a restart", ours(None), RESEND),
        ("never sent again", ours(sent(0, false)), RESEND),
        ("sent again once", ours(sent(1, false)), RESEND),
        ("sent again twice", ours(sent(2, false)), rest(Why::Stalled)),
        (
            "stalled already",
            ours(sent(0, false)).with(|s| s.memory.stalled = true),
            rest(Why::Stalled),
        ),
        (
            "no resends allowed",
            ours(None).with(|s| s.limits.resend_max = 0),
            rest(Why::Stalled),
        ),
        ("somebody stopped it", ours(sent(0, true)), pause.clone()),
        (
            "somebody stopped it while the provider was retried (G41)",
            ours(sent(0, false)).with(|s| s.memory.retry_stopped = true),
            pause.clone(),
        ),
        (
            "another one was stopped before",
            ours(sent(0, true).map(|sent| Sent {
                message: MessageId::new("msg_before"),
                ..sent
            })),
            RESEND,
        ),
        (
            "the cap counts it already",
            ours(None).with(|s| s.goal.turns_used = 20),
            RESEND,
        ),
        (
            "a Resume over it",
            ours(None).with(|s| {
                let id = continuation_of(&messages(DONE), "a1");
                s.goal = goal(&format!("reason=resumed over={id}"));
            }),
            go_on(Occasion::Resumed),
        ),
    ]);
}

#[test]
fn x7_an_error_that_left_no_answer_blocks_with_its_text() {
    let refused = |text: &str| {
        let sent = sent(0, false).map(|sent| Sent {
            error: Some(text.to_owned()),
            ..sent
        });
        scene("turns=1 step=a1", OURS).with(|s| s.memory.sent = sent)
    };
    let text = "UnknownError: Model not found";
    let expected = blocked(BlockedCause::PromptRefused {
        text: text.to_owned(),
    });
    check_scenes(vec![
        (
            "at once",
            refused(text).with(|s| s.untouched = 0),
            expected.clone(),
        ),
        ("later", refused(text), expected),
        (
            "an error that left an answer is judged by it (R49)",
            refused(text).with(|s| s.messages = FAILED.into()),
            turn_failed(),
        ),
    ]);
}

#[test]
fn x18_a_stop_behind_our_message() {
    let pause = Decision::Pause(PauseCause::Aborted);
    for behind in [ABORTED, BLANK, DECLINED] {
        let line = format!("{behind}; c a1");
        check_scenes(vec![
            ("nobody resumed", scene("turns=1", &line), pause.clone()),
            (
                "a Resume went over it",
                scene("turns=1 over=a1", &line),
                RESEND,
            ),
            (
                "a Resume went over an older one",
                scene("turns=1 over=a0", &line),
                pause.clone(),
            ),
        ]);
    }
}

#[test]
fn x10_what_was_cut_off_goes_on_after_the_grace() {
    for tail in [OPEN, TOOLS] {
        let after = |untouched| scene("", tail).with(|s| s.untouched = untouched);
        check_scenes(vec![
            (
                "at first",
                after(0),
                rest(Why::WithinGrace {
                    until: later(60_000),
                }),
            ),
            (
                "nearly",
                after(59_999),
                rest(Why::WithinGrace { until: later(1) }),
            ),
            ("then", after(60_000), go_on(Occasion::Interrupted)),
            (
                "an event of the session in between",
                after(0).with(|s| {
                    s.memory.unbacked = Some((Some(MessageId::new("a1")), Mono(0)));
                    s.memory.touched();
                }),
                rest(Why::WithinGrace {
                    until: later(60_000),
                }),
            ),
            (
                "another tail stood so long",
                after(0).with(|s| {
                    s.memory.unbacked = Some((Some(MessageId::new("a0")), Mono(0)));
                }),
                rest(Why::WithinGrace {
                    until: later(60_000),
                }),
            ),
            (
                "a Resume over it does not wait",
                scene("reason=resumed over=a1", tail).with(|s| s.untouched = 0),
                go_on(Occasion::Resumed),
            ),
            (
                "a Resume over another tail waits",
                scene("reason=resumed over=a0", tail).with(|s| s.untouched = 0),
                rest(Why::WithinGrace {
                    until: later(60_000),
                }),
            ),
        ]);
    }
}

#[test]
fn r43_r45_r46_x12_stops_pause_and_a_resume_goes_over_one() {
    for (tail, cause) in [
        (ABORTED, PauseCause::Aborted),
        (BLANK, PauseCause::Aborted),
        (DECLINED, PauseCause::Declined),
    ] {
        let pause = Decision::Pause(cause);
        check(&[
            ("stopped", "", tail, pause.clone()),
            (
                "`resumed` alone is no right over a stop",
                "reason=resumed",
                tail,
                pause.clone(),
            ),
            (
                "a new stop after the Resume",
                "reason=resumed over=a0",
                tail,
                pause.clone(),
            ),
            (
                "another revert point",
                "reason=resumed over=a1/u9",
                tail,
                pause.clone(),
            ),
            (
                "a Resume over it",
                "reason=resumed over=a1",
                tail,
                go_on(Occasion::Resumed),
            ),
            (
                "the reload was undone: no `resumed` is left",
                "over=a1",
                tail,
                go_on(Occasion::Resumed),
            ),
            (
                "the nudge over it was persisted",
                "turns=1 step=a1",
                tail,
                FINISH,
            ),
            (
                "somebody wrote after the nudge",
                "turns=1 step=a1@1999",
                tail,
                pause.clone(),
            ),
            (
                "the nudge was for another tail",
                "turns=1 step=a0",
                tail,
                pause,
            ),
        ]);
    }
}

#[test]
fn x12_a_provider_retry_that_ended_in_idle_was_stopped() {
    let stopped =
        |goal: &str, tail: &str| scene(goal, tail).with(|s| s.memory.retry_stopped = true);
    let pause = Decision::Pause(PauseCause::Aborted);
    check_scenes(vec![
        ("whatever the tail", stopped("", DONE), pause.clone()),
        ("before a failure", stopped("", FAILED), pause),
        (
            "a refusal is named as such",
            stopped("", DECLINED),
            Decision::Pause(PauseCause::Declined),
        ),
        (
            "a Resume over it",
            stopped("reason=resumed over=a1", DONE),
            go_on(Occasion::Resumed),
        ),
    ]);
}

#[test]
fn r49_r53_a_failure_blocks_and_no_resume_goes_over_it() {
    check(&[
        ("failed", "", FAILED, turn_failed()),
        ("resumed", "reason=resumed over=a1", FAILED, turn_failed()),
        ("persisted", "turns=1 step=a1", FAILED, turn_failed()),
        (
            "with budget and cap spent",
            "turns=20 budget=1 used=1",
            FAILED,
            turn_failed(),
        ),
        (
            "cut off and failed",
            "",
            "u u1; a a1 < u1 length err=APIError:401",
            turn_failed(),
        ),
    ]);
    let reason = |name: &str| {
        let decision = scene("", &format!("u u1; a a1 < u1 err={name}")).decide();
        let Decision::Settle(settlement) = decision else {
            panic!("{decision:?}");
        };
        settlement.reason()
    };
    assert_eq!(reason("APIError:down"), "APIError: down");
    assert_eq!(reason("APIError"), "APIError");
    assert_eq!(reason(""), "assistant turn failed");
    assert_eq!(reason(":down"), "assistant turn failed: down");
}

#[test]
fn r50_r53_the_budget_holds_over_everything_but_stops_and_failures() {
    let spent = "turns=20 budget=100 used=100";
    check(&[
        ("reached", "budget=100 used=100", DONE, OVER_BUDGET),
        ("one left", "budget=100 used=99", DONE, Decision::Audit),
        (
            "the newest turn reaches it",
            "budget=100 used=99",
            "u u1; a a1 < u1 stop 'x' 100t",
            OVER_BUDGET,
        ),
        ("before the cap", spent, DONE, OVER_BUDGET),
        ("before a truncation", spent, CUT_TWICE, OVER_BUDGET),
        ("before a summary", spent, SUMMARY, OVER_BUDGET),
        ("before an empty turn", spent, HOLLOW, OVER_BUDGET),
        ("before an interrupted one", spent, TOOLS, OVER_BUDGET),
        (
            "before a Resume over a stop",
            "reason=resumed over=a1 budget=100 used=100",
            ABORTED,
            OVER_BUDGET,
        ),
        (
            "before a persisted continuation",
            "step=a1 budget=100 used=100",
            DONE,
            OVER_BUDGET,
        ),
        (
            "after a stop",
            spent,
            ABORTED,
            Decision::Pause(PauseCause::Aborted),
        ),
    ]);
}

#[test]
fn x7_a_stalled_loop_sends_nothing() {
    for (name, goal, messages) in [
        ("to audit", "", DONE),
        ("to continue", "", CUT),
        ("to finish", "step=a1", DONE),
    ] {
        let s = scene(goal, messages).with(|s| s.memory.stalled = true);
        assert_eq!(s.decide(), rest(Why::Stalled), "{name}");
    }
    let failed = scene("", FAILED).with(|s| s.memory.stalled = true);
    assert_eq!(failed.decide(), turn_failed(), "an end is still seen");
}

#[test]
fn x6_a_persisted_continuation_is_finished_without_audit() {
    check(&[
        ("over a finished turn", "turns=1 step=a1", DONE, FINISH),
        ("exempt from the cap", "turns=20 step=a1", DONE, FINISH),
        (
            "and from a second truncation",
            "turns=1 step=a1",
            CUT_TWICE,
            FINISH,
        ),
        ("over a summary", "turns=1 step=a1", SUMMARY, FINISH),
        ("another tail", "turns=1 step=a0", DONE, Decision::Audit),
        (
            "another write since",
            "turns=1 step=a1@1999",
            DONE,
            Decision::Audit,
        ),
        (
            "a reason stands",
            "turns=1 step=a1 reason=resumed",
            DONE,
            Decision::Audit,
        ),
    ]);
}

#[test]
fn r51_the_cap() {
    check(&[
        ("one left", "turns=19", DONE, Decision::Audit),
        ("reached", "turns=20", DONE, blocked(BlockedCause::Cap)),
        (
            "beyond, as another limit allowed it",
            "turns=21",
            DONE,
            blocked(BlockedCause::Cap),
        ),
        (
            "before a truncation",
            "turns=20",
            CUT,
            blocked(BlockedCause::Cap),
        ),
        (
            "an edit grants no turns",
            "turns=20 reason=resumed",
            DONE,
            blocked(BlockedCause::Cap),
        ),
    ]);
}

#[test]
fn r54_first_truncation_continues_r55_second_in_a_row_blocks() {
    let cut_off = blocked(BlockedCause::RepeatedTruncation);
    check(&[
        ("T", "", CUT, go_on(Occasion::Truncated)),
        ("T T", "", CUT_TWICE, cut_off.clone()),
        (
            "T T, resumed once (R59)",
            "reason=resumed",
            CUT_TWICE,
            go_on(Occasion::Truncated),
        ),
        (
            "T T T, the Resume is spent",
            "turns=1 over=a1",
            "u u1; a a0 < u1 length 'x'; a a1 < u1 length 'y'; u c; a a2 < c length 'z'",
            cut_off.clone(),
        ),
        (
            "T summary T",
            "",
            "u u1; a a0 < u1 length 'x'; u m mark; a s < m summary stop 'sum'; \
             u k synthetic; a a1 < k length 'y'",
            cut_off.clone(),
        ),
        (
            "T T summary: the pair comes before R60",
            "",
            "u u1; a a0 < u1 length 'x'; a a1 < u1 length 'y'; u m mark; a s < m summary stop 's'",
            cut_off,
        ),
        (
            "T ordinary T",
            "",
            "u u1; a a0 < u1 length 'x'; a o < u1 stop 'y'; u u2; a a1 < u2 length 'z'",
            go_on(Occasion::Truncated),
        ),
        (
            "T T and over the budget (R59)",
            "reason=resumed budget=1 used=1",
            CUT_TWICE,
            OVER_BUDGET,
        ),
    ]);
}

#[test]
fn x20_three_compactions_without_work_between() {
    let pause = Decision::Pause(PauseCause::ContextTooSmall);
    check_scenes(vec![
        ("three", scene("", SQUEEZED), pause.clone()),
        (
            "three, and `resumed` over another tail",
            scene("reason=resumed over=s2", SQUEEZED),
            pause,
        ),
        (
            "three, and a Resume over the last",
            scene("reason=resumed over=a1", SQUEEZED),
            go_on(Occasion::Compacted),
        ),
        (
            "two since the restart",
            scene("", SQUEEZED).with(|s| s.memory.compactions_from = Wall(4_000)),
            go_on(Occasion::Compacted),
        ),
        (
            "switched off",
            scene("", SQUEEZED).with(|s| s.limits.compactions_max = 0),
            go_on(Occasion::Compacted),
        ),
    ]);
}

#[test]
fn x20_an_empty_turn_is_nudged_after_a_minute_and_not_for_ever() {
    let hollow = |untouched, nudges| {
        scene("", HOLLOW).with(|s| {
            s.untouched = untouched;
            s.memory.nudges = nudges;
        })
    };
    let patience = |left| rest(Why::Patience { until: later(left) });
    check_scenes(vec![
        ("first", hollow(0, 0), patience(60_000)),
        ("soon", hollow(59_999, 0), patience(1)),
        ("then", hollow(60_000, 0), go_on(Occasion::EmptyReply)),
        ("a second", hollow(60_000, 1), go_on(Occasion::EmptyReply)),
        (
            "no third",
            hollow(0, 2),
            blocked(BlockedCause::EmptyReplies),
        ),
        (
            "a Resume does not wait",
            hollow(0, 0).with(|s| s.goal = goal("reason=resumed over=a1")),
            go_on(Occasion::EmptyReply),
        ),
        (
            "switched off: it is audited",
            hollow(0, 2).with(|s| s.limits.empty_max = 0),
            Decision::Audit,
        ),
        (
            "two seconds lie between two continuations here, too",
            hollow(0, 0).with(|s| {
                s.limits.empty_quiet = Duration::ZERO;
                s.memory.continued_at = Some(Mono(NOW.0 - 500));
            }),
            patience(1_500),
        ),
    ]);
}

#[test]
fn x20_two_seconds_lie_between_two_continuations() {
    for (messages, expected) in [
        (DONE, Decision::Audit),
        (CUT, go_on(Occasion::Truncated)),
        (SUMMARY, go_on(Occasion::Compacted)),
        (TOOLS, go_on(Occasion::Interrupted)),
    ] {
        let after =
            |ms| scene("", messages).with(|s| s.memory.continued_at = Some(Mono(NOW.0 - ms)));
        let wait = rest(Why::Patience { until: later(1) });
        assert_eq!(after(1_999).decide(), wait, "{messages}");
        assert_eq!(after(2_000).decide(), expected, "{messages}");
        let resumed = after(0).with(|s| s.goal = goal("reason=resumed"));
        assert_eq!(resumed.decide(), expected, "a Resume excepted: {messages}");
    }
}

#[test]
fn x20_equal_audits_double_the_distance() {
    let after = |count, ms| {
        scene("", DONE).with(|s| {
            s.memory.continued_at = Some(Mono(NOW.0 - ms));
            s.memory.repeat = Some(Repeat {
                note: "same".to_owned(),
                tools: Vec::new(),
                count,
            });
        })
    };
    for (count, distance) in [
        (1, 2_000),
        (2, 2_000),
        (3, 30_000),
        (4, 60_000),
        (5, 120_000),
    ] {
        let wait = rest(Why::Patience { until: later(1) });
        assert_eq!(
            after(count, distance - 1).decide(),
            wait,
            "{count} equal audits"
        );
        assert_eq!(after(count, distance).decide(), Decision::Audit, "{count}");
    }
    let off = after(5, 2_000).with(|s| s.limits.repeat_slow = 0);
    assert_eq!(off.decide(), Decision::Audit, "switched off");
    let first = scene("", DONE).with(|s| s.memory = after(5, 0).memory);
    let first = first.with(|s| s.memory.continued_at = None);
    assert_eq!(first.decide(), Decision::Audit, "nothing was sent yet");
    let endless = after(u32::MAX, NOW.0);
    assert!(matches!(
        endless.decide(),
        Decision::Rest(Why::Patience { .. })
    ));
}

#[test]
fn x20_patience_is_granted_anew() {
    let worn = Memory {
        stale: true,
        stalled: true,
        unconfirmed: 2,
        retry_stopped: true,
        sent: sent(2, true),
        continued_at: Some(Mono(7)),
        unbacked: Some((None, Mono(7))),
        first_missed: Some(Mono(7)),
        hollow: Some((MessageId::new("a1"), Mono(7))),
        nudges: 2,
        repeat: Some(Repeat {
            note: "same".to_owned(),
            tools: Vec::new(),
            count: 5,
        }),
        ..Memory::fresh(&goal("").id, Wall(1))
    };
    let mut by_message = worn.clone();
    by_message.grant_patience(Wall(9));
    let expected = Memory {
        hollow: None,
        nudges: 0,
        repeat: None,
        compactions_from: Wall(9),
        ..worn.clone()
    };
    assert_eq!(by_message, expected, "a new user message");

    let mut by_resume = worn;
    by_resume.resumed(Wall(9));
    let expected = Memory::fresh(&goal("").id, Wall(9));
    assert_eq!(by_resume, expected, "a Resume");
}

#[test]
fn x3_the_limits_are_arguments() {
    let snapshot = scene("turns=2", CUT_TWICE).snapshot();
    let limits = Limits {
        turns_max: 3,
        truncated_max: 3,
        ..Limits::DEFAULT
    };
    assert_eq!(decide(&snapshot, &limits), go_on(Occasion::Truncated));
    let fewer = Limits {
        turns_max: 2,
        ..limits
    };
    assert_eq!(decide(&snapshot, &fewer), blocked(BlockedCause::Cap));
}
