//! What follows from an audit (R64-R73, X20).

mod support;

use goal_core::decision::{BlockedCause, Decision, PauseCause, Prompting, Settlement};
use goal_core::evidence::{Evidence, Voice};
use goal_core::judge::{AuditFailure, AuditOutcome, Audited, judge};
use goal_core::limits::Limits;
use goal_core::memory::Memory;
use goal_core::message::ToolUse;
use goal_core::prompt::Occasion;
use goal_core::verdict::{Verdict, VerdictKind};
use pretty_assertions::assert_eq;

use support::goals::{goal, model};
use support::tails::timeline;

const PROGRESS: Decision = Decision::Continue(Prompting::New(Occasion::Progress));
const UNAUDITED: Decision = Decision::Continue(Prompting::New(Occasion::Unaudited));
const UNAVAILABLE: Decision = Decision::Settle(Settlement::Blocked(BlockedCause::AuditUnavailable));

fn verdict(kind: VerdictKind, note: &str) -> AuditOutcome {
    AuditOutcome::Verdict {
        verdict: Verdict {
            kind,
            note: note.to_owned(),
        },
        model: model("fake/small"),
    }
}

fn by_audit(note: &str) -> Decision {
    Decision::Settle(Settlement::Blocked(BlockedCause::ByAudit {
        note: note.to_owned(),
    }))
}

fn audited(blocked: u32, fails: u32, note: Option<&str>) -> Audited {
    Audited {
        blocked_streak: blocked,
        audit_fail_streak: fails,
        note: note.map(str::to_owned),
        evaluation: Some(model("fake/small")),
    }
}

/// A goal's first audit in this process, with no evidence but the goal.
fn judged(line: &str, outcome: &AuditOutcome) -> (Decision, Audited) {
    let memory = &mut Memory::default();
    judge(
        &goal(line),
        &Evidence::default(),
        outcome,
        memory,
        &Limits::DEFAULT,
    )
}

#[test]
fn r66_r67_r68_r70_verdicts() {
    use VerdictKind::{Blocked, Complete, Continue};
    for (name, line, kind, decision, streak) in [
        (
            "complete",
            "blocked=2 fails=1",
            Complete,
            Decision::Settle(Settlement::Complete),
            0,
        ),
        ("continue", "blocked=2 fails=1", Continue, PROGRESS, 0),
        ("blocked once", "fails=1", Blocked, PROGRESS, 1),
        ("blocked twice", "blocked=1", Blocked, PROGRESS, 2),
        (
            "blocked three times",
            "blocked=2",
            Blocked,
            by_audit("note"),
            3,
        ),
        (
            "beyond",
            "blocked=4294967295",
            Blocked,
            by_audit("note"),
            u32::MAX,
        ),
    ] {
        let expected = (decision, audited(streak, 0, Some("note")));
        assert_eq!(judged(line, &verdict(kind, "note")), expected, "{name}");
    }
}

#[test]
fn r67_blocked_continue_blocked_blocked_goes_on() {
    use VerdictKind::{Blocked, Continue};
    let mut blocked = 0;
    let mut decisions = Vec::new();
    for (turn, kind) in [Blocked, Blocked, Continue, Blocked, Blocked, Blocked]
        .iter()
        .enumerate()
    {
        let line = format!("blocked={blocked}");
        let (decision, after) = judged(&line, &verdict(*kind, &format!("{turn}")));
        blocked = after.blocked_streak;
        decisions.push(decision);
    }
    let expected = [
        PROGRESS,
        PROGRESS,
        PROGRESS,
        PROGRESS,
        PROGRESS,
        by_audit("5"),
    ];
    assert_eq!(decisions, expected);
}

#[test]
fn r69_one_failed_audit_is_tolerated_in_a_row() {
    let failures = [
        AuditFailure::NoModel,
        AuditFailure::Connection,
        AuditFailure::Timeout,
        AuditFailure::Provider,
        AuditFailure::Unparsable,
    ];
    for failure in failures {
        let failed = AuditOutcome::Failed(failure);
        let after = |fails| Audited {
            blocked_streak: 0,
            audit_fail_streak: fails,
            note: None,
            evaluation: None,
        };
        let first = judged("blocked=2 note=kept model=fake/old", &failed);
        assert_eq!(first, (UNAUDITED, after(1)), "{}", failure.code());
        assert_eq!(judged("fails=1", &failed), (UNAVAILABLE, after(2)));
        assert_eq!(judged("fails=7", &failed), (UNAVAILABLE, after(8)));
    }
    let mut codes: Vec<&str> = failures.iter().map(|failure| failure.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(
        codes.len(),
        failures.len(),
        "every failure has a code of its own"
    );
}

#[test]
fn r70_fail_ok_fail_goes_on() {
    let failed = AuditOutcome::Failed(AuditFailure::Timeout);
    let mut fails = 0;
    let outcomes = [failed.clone(), verdict(VerdictKind::Continue, "n"), failed];
    let decisions = outcomes.map(|outcome| {
        let (decision, after) = judged(&format!("fails={fails}"), &outcome);
        fails = after.audit_fail_streak;
        decision
    });
    assert_eq!(decisions, [UNAUDITED, PROGRESS, UNAUDITED]);
    assert_eq!(fails, 1);
}

#[test]
fn r73_an_empty_note_keeps_the_stored_one() {
    let (_, after) = judged("note=kept", &verdict(VerdictKind::Continue, ""));
    assert_eq!(after, audited(0, 0, None));
    let (decision, _) = judged("blocked=2 note=old", &verdict(VerdictKind::Blocked, ""));
    assert_eq!(decision, by_audit(""), "an old note is no reason");
}

/// Plays audits of one session in a row: `(verdict, note, exit code of its tool)`.
fn played(limits: &Limits, audits: &[(VerdictKind, &str, i64)]) -> Vec<Decision> {
    let mut memory = Memory::default();
    let mut current = goal("");
    audits
        .iter()
        .map(|(kind, note, exit)| {
            let tool = ToolUse {
                tool: "bash".to_owned(),
                status: "completed".to_owned(),
                exit: Some(*exit),
                ..ToolUse::default()
            };
            let evidence = Evidence {
                text: format!("words differ: {note}"),
                tools: vec![tool],
            };
            let outcome = verdict(*kind, note);
            let (decision, after) = judge(&current, &evidence, &outcome, &mut memory, limits);
            current.blocked_streak = after.blocked_streak;
            decision
        })
        .collect()
}

#[test]
fn x20_six_equal_audits_pause() {
    use VerdictKind::{Blocked, Complete, Continue};
    let limits = Limits::DEFAULT;
    let pause = Decision::Pause(PauseCause::NoProgress);
    let same = (Continue, "waiting for CI", 0);
    let last = |audits: &[_]| played(&limits, audits).pop().unwrap();

    let mut expected = vec![PROGRESS; 5];
    expected.push(pause.clone());
    assert_eq!(played(&limits, &[same; 6]), expected);

    let other_note = (Continue, "other", 0);
    let other_tool = (Continue, "waiting for CI", 1);
    for between in [other_note, other_tool] {
        let audits = [&[same; 5][..], &[between], &[same; 5]].concat();
        assert_eq!(played(&limits, &audits), vec![PROGRESS; 11]);
    }
    let blocked = (Blocked, "waiting for CI", 0);
    assert_eq!(
        last(&[same, same, same, same, same, blocked]),
        pause,
        "the verdict is not compared"
    );
    assert_eq!(
        last(&[
            same,
            same,
            same,
            same,
            same,
            (Complete, "waiting for CI", 0)
        ]),
        Decision::Settle(Settlement::Complete),
        "a verified goal is complete"
    );
    assert_eq!(
        last(&[same, same, same, blocked, blocked, blocked]),
        by_audit("waiting for CI"),
        "the auditor's own end comes first"
    );
    let off = Limits {
        repeat_max: 0,
        ..limits
    };
    assert_eq!(played(&off, &[same; 9]), vec![PROGRESS; 9], "switched off");
}

#[test]
fn x20_a_failed_audit_is_no_progress() {
    let mut memory = Memory::default();
    let limits = Limits::DEFAULT;
    let evidence = Evidence::default();
    let same = verdict(VerdictKind::Continue, "same");
    let failed = AuditOutcome::Failed(AuditFailure::Timeout);
    let outcomes = [&same, &same, &same, &failed, &same, &same, &same];
    let decisions: Vec<Decision> = outcomes
        .iter()
        .map(|outcome| judge(&goal(""), &evidence, outcome, &mut memory, &limits).0)
        .collect();
    assert_eq!(
        decisions.last(),
        Some(&Decision::Pause(PauseCause::NoProgress))
    );
}

#[test]
fn x2_evidence_is_the_last_turn() {
    let tools = |names: &[&str]| -> Vec<ToolUse> {
        names
            .iter()
            .map(|name| ToolUse {
                tool: (*name).to_owned(),
                status: "completed".to_owned(),
                exit: Some(0),
                ..ToolUse::default()
            })
            .collect()
    };
    let evidence = |text: &str, names: &[&str]| Evidence {
        text: text.to_owned(),
        tools: tools(names),
    };
    for (name, messages, expected) in [
        ("nothing", "u u1", Evidence::default()),
        (
            "all messages that answer the same prompt (G20)",
            "u u1; a a1 < u1 tools 'tests pass' tool=bash=0; a a2 < u1 tools tool=ls=0; \
             a a3 < u1 stop 'done'",
            evidence("tests pass\ndone", &["bash", "ls"]),
        ),
        (
            "not the turn before",
            "u u1; a a1 < u1 stop 'old' tool=old=0; u u2; a a2 < u2 stop 'new'",
            evidence("new", &[]),
        ),
        (
            "tools only",
            "u u1; a a1 < u1 stop tool=bash=0",
            evidence("", &["bash"]),
        ),
        (
            "no summary, no shell command, no prompt",
            "u u1 'words'; a s < u1 summary stop 'sum'; a a1 < u1 stop 'done' 'twice'; \
             u u2 'ran ls'; a sh < u2 shell tool=bash=0",
            evidence("done\ntwice", &[]),
        ),
        (
            "blank words are none",
            "u u1; a a1 < u1 tools ' ' tool=bash=0; a a2 < u1 stop 'done'",
            evidence("done", &["bash"]),
        ),
    ] {
        assert_eq!(Evidence::collect(&timeline(messages)), expected, "{name}");
    }
}

#[test]
fn r61_r76_the_voice_is_the_agents_not_the_compactions() {
    let voice = |model_name: &str, agent: &str, variant: Option<&str>| {
        Some(Voice {
            model: model(model_name),
            agent: Some(agent.to_owned()),
            variant: variant.map(str::to_owned),
        })
    };
    for (name, messages, expected) in [
        ("nobody", "u u1", None),
        (
            "the newest",
            "u u1; a a1 < u1 stop 'x' by=p/old; a a2 < u1 stop 'x' by=p/new agent=plan variant=high",
            voice("p/new", "plan", Some("high")),
        ),
        (
            "not a summary's",
            "u u1; a a1 < u1 stop 'x' by=p/work; a s < u1 summary stop 's' by=p/tiny agent=compaction",
            voice("p/work", "build", None),
        ),
        (
            "only a summary",
            "u u1; a s < u1 summary stop 's' by=p/tiny",
            None,
        ),
        (
            "the newest that names its model",
            "u u1; a a1 < u1 stop 'x' by=p/work; a a2 < u1 stop 'x' nobody",
            voice("p/work", "build", None),
        ),
    ] {
        assert_eq!(Voice::of(&timeline(messages)), expected, "{name}");
    }
}
