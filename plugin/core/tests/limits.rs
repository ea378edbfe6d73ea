//! The numbers, and the relations between them (X24).

use std::time::Duration;

use goal_core::limits::{BrokenRelation, Limits, TUNABLES};
use pretty_assertions::assert_eq;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn x24_defaults() {
    let expected = Limits {
        idle_quiet: ms(15_000),
        kickoff_quiet: ms(3_000),
        resume_quiet: ms(250),
        call_timeout: ms(10_000),
        audit_timeout: ms(90_000),
        audit_retry: [ms(5_000), ms(20_000)],
        delivery_window: ms(5_000),
        interrupted_grace: ms(60_000),
        recheck_max: ms(300_000),
        stale_after: ms(86_400_000),
        liveness: ms(45_000),
        reconnect_min: ms(250),
        reconnect_max: ms(30_000),
        page_messages: 40,
        messages_max: 1_000,
        evidence_max: 6_000,
        note_max: 280,
        reason_max: 200,
        objective_max: 5_000,
        turns_max: 20,
        blocked_max: 3,
        audit_fail_max: 2,
        truncated_max: 2,
        continue_gap: ms(2_000),
        empty_quiet: ms(60_000),
        empty_max: 2,
        repeat_slow: 3,
        repeat_max: 6,
        repeat_gap: ms(30_000),
        compactions_max: 3,
        unconfirmed_max: 3,
        resend_max: 2,
        first_message_wait: ms(60_000),
        disposal_window: ms(200),
        write_echo: ms(1_000),
    };
    assert_eq!(Limits::DEFAULT, expected);
}

/// Whether the defaults with one number changed are refused, and why.
fn check(change: impl FnOnce(&mut Limits)) -> Result<(), BrokenRelation> {
    let mut limits = Limits::DEFAULT;
    change(&mut limits);
    limits.check()
}

#[test]
fn x24_relations_hold_up_to_their_edge() {
    use BrokenRelation::{
        GraceBelowThreeIdles, GraceBelowTwoSeconds, IdleAboveRecheck, KickoffAboveIdle,
        ReconnectMinAboveMax, ResumeAboveKickoff,
    };
    assert_eq!(check(|l| l.resume_quiet = l.kickoff_quiet), Ok(()));
    assert_eq!(
        check(|l| l.resume_quiet = ms(3_001)),
        Err(ResumeAboveKickoff)
    );
    assert_eq!(check(|l| l.kickoff_quiet = l.idle_quiet), Ok(()));
    assert_eq!(
        check(|l| l.kickoff_quiet = ms(15_001)),
        Err(KickoffAboveIdle)
    );
    assert_eq!(check(|l| l.recheck_max = l.idle_quiet), Ok(()));
    assert_eq!(check(|l| l.recheck_max = ms(14_999)), Err(IdleAboveRecheck));
    assert_eq!(check(|l| l.interrupted_grace = ms(45_000)), Ok(()));
    assert_eq!(
        check(|l| l.interrupted_grace = ms(44_999)),
        Err(GraceBelowThreeIdles)
    );
    let quick = |l: &mut Limits, grace| {
        l.resume_quiet = ms(10);
        l.kickoff_quiet = ms(20);
        l.idle_quiet = ms(30);
        l.interrupted_grace = ms(grace);
    };
    assert_eq!(check(|l| quick(l, 2_000)), Ok(()));
    assert_eq!(check(|l| quick(l, 1_999)), Err(GraceBelowTwoSeconds));
    assert_eq!(check(|l| l.reconnect_min = l.reconnect_max), Ok(()));
    assert_eq!(
        check(|l| l.reconnect_min = ms(30_001)),
        Err(ReconnectMinAboveMax)
    );
}

#[test]
fn x24_zero_is_refused_where_it_would_run_hot_or_end_everything() {
    let zeroed: [fn(&mut Limits); 13] = [
        |l| l.call_timeout = Duration::ZERO,
        |l| l.audit_timeout = Duration::ZERO,
        |l| l.delivery_window = Duration::ZERO,
        |l| l.liveness = Duration::ZERO,
        |l| l.turns_max = 0,
        |l| l.blocked_max = 0,
        |l| l.audit_fail_max = 0,
        |l| l.truncated_max = 0,
        |l| l.unconfirmed_max = 0,
        |l| l.page_messages = 0,
        |l| l.messages_max = 0,
        // The quiet windows form a row; the longest of them must be something.
        |l| {
            l.resume_quiet = Duration::ZERO;
            l.kickoff_quiet = Duration::ZERO;
            l.idle_quiet = Duration::ZERO;
        },
        |l| {
            l.resume_quiet = Duration::ZERO;
            l.kickoff_quiet = Duration::ZERO;
            l.idle_quiet = Duration::ZERO;
            l.recheck_max = Duration::ZERO;
        },
    ];
    for (index, change) in zeroed.into_iter().enumerate() {
        assert_eq!(check(change), Err(BrokenRelation::Zero), "case {index}");
    }
}

#[test]
fn x20_every_brake_can_be_switched_off() {
    let off: [fn(&mut Limits); 8] = [
        |l| l.empty_max = 0,
        |l| l.repeat_slow = 0,
        |l| l.repeat_max = 0,
        |l| l.compactions_max = 0,
        |l| l.resend_max = 0,
        |l| l.continue_gap = Duration::ZERO,
        |l| l.stale_after = Duration::ZERO,
        |l| l.resume_quiet = Duration::ZERO,
    ];
    for (index, change) in off.into_iter().enumerate() {
        assert_eq!(check(change), Ok(()), "case {index}");
    }
}

#[test]
fn every_sentence_names_its_flags() {
    use BrokenRelation::{
        GraceBelowThreeIdles, GraceBelowTwoSeconds, IdleAboveRecheck, KickoffAboveIdle,
        ReconnectMinAboveMax, ResumeAboveKickoff, Zero,
    };
    for (relation, flags) in [
        (
            ResumeAboveKickoff,
            vec!["resume-quiet-ms", "kickoff-quiet-ms"],
        ),
        (KickoffAboveIdle, vec!["kickoff-quiet-ms", "idle-quiet-ms"]),
        (IdleAboveRecheck, vec!["idle-quiet-ms", "recheck-max-ms"]),
        (GraceBelowTwoSeconds, vec!["interrupted-grace-ms", "2000"]),
        (
            GraceBelowThreeIdles,
            vec!["interrupted-grace-ms", "idle-quiet-ms"],
        ),
        (
            ReconnectMinAboveMax,
            vec!["reconnect-min-ms", "reconnect-max-ms"],
        ),
        (Zero, vec!["above zero"]),
    ] {
        for flag in flags {
            assert!(
                relation.sentence().contains(flag),
                "{relation:?} names {flag}"
            );
        }
    }
}

#[test]
fn every_limit_may_be_set_or_has_a_reason_why_not() {
    // A new limit does not compile here until it is decided which of the two it is.
    let Limits {
        idle_quiet: _,
        kickoff_quiet: _,
        resume_quiet: _,
        call_timeout: _,
        audit_timeout: _,
        audit_retry: _,
        delivery_window: _,
        interrupted_grace: _,
        recheck_max: _,
        stale_after: _,
        liveness: _,
        reconnect_min: _,
        reconnect_max: _,
        turns_max: _,
        blocked_max: _,
        audit_fail_max: _,
        truncated_max: _,
        continue_gap: _,
        empty_quiet: _,
        empty_max: _,
        repeat_slow: _,
        repeat_max: _,
        repeat_gap: _,
        compactions_max: _,
        unconfirmed_max: _,
        resend_max: _,
        first_message_wait: _,
        // Agreed with the other clients that read the same goals and files.
        note_max: _,
        reason_max: _,
        objective_max: _,
        // What a model is shown, and how it is read: no matter of patience.
        evidence_max: _,
        page_messages: _,
        messages_max: _,
        // Measured on the server.
        disposal_window: _,
        write_echo: _,
    } = Limits::DEFAULT;
    assert_eq!(TUNABLES.len(), 27);
}

#[test]
fn every_name_reaches_a_limit_of_its_own() {
    let mut reached: Vec<Limits> = Vec::new();
    for tunable in &TUNABLES {
        let mut limits = Limits::DEFAULT;
        let numbers = vec![777; tunable.takes()];
        assert!(tunable.set(&mut limits, &numbers), "{}", tunable.name);
        assert_eq!(tunable.get(&limits), numbers, "{}", tunable.name);
        assert!(!reached.contains(&limits), "{}", tunable.name);
        reached.push(limits);
    }
}
