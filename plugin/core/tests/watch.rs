//! When a cycle is due (R11-R20, X9, X15, X19).

mod support;

use goal_core::goal::GoalId;
use goal_core::limits::Limits;
use goal_core::signal::{GoalMark, Kick, Signal};
use goal_core::time::{Mono, Wall};
use goal_core::watch::{Ended, Watch};
use pretty_assertions::assert_eq;

use support::goals::goal;
use support::number;

/// Plays a script of lines `time event => what then runs` and compares each with what runs.
///
/// Events: `idle`, `busy`, `look`, `asked`, `resync`; `fresh N`, `resumed N`, `running N`,
/// `stopped N` (the goal as written at N); `expire`; `ended prompted`, `ended stopped`,
/// `ended failed`, `ended dropped`, `ended rest`, `ended rest UNTIL`.
/// What runs: a window and when it ends, `cycle`, or `nothing`.
fn check(name: &str, script: &str) {
    let mut watch = Watch::default();
    let lines = script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let played: Vec<String> = lines
        .clone()
        .map(|line| {
            let event = line.split("=>").next().unwrap_or_default();
            let outcome = play(&mut watch, event);
            format!("{} => {outcome}", event.trim())
        })
        .collect();
    assert_eq!(played, lines.collect::<Vec<_>>(), "{name}");
}

fn play(watch: &mut Watch, event: &str) -> String {
    let limits = Limits::DEFAULT;
    let words: Vec<&str> = event.split_whitespace().collect();
    let now = Mono(number(words[0]));
    let argument = words.get(2).copied().unwrap_or_default();
    let mark = |kick| {
        Signal::Goal(GoalMark {
            id: GoalId::new("g1"),
            updated_at: Wall(number(argument)),
            kick,
        })
    };
    let signal = match words[1] {
        "idle" => Signal::Idle,
        "busy" => Signal::Busy,
        "look" => Signal::LookAgain,
        "asked" => Signal::Asked,
        "resync" => Signal::Resync,
        "fresh" => mark(Kick::Fresh),
        "resumed" => mark(Kick::Resumed),
        "running" => mark(Kick::Running),
        "stopped" => mark(Kick::Stopped),
        "expire" => {
            return match watch.expire(now) {
                Some(wake) => format!("wake {:?}", wake.window),
                None => running(watch),
            };
        }
        "ended" => {
            let until = words.get(3).map(|until| Mono(number(until)));
            let ended = match argument {
                "prompted" => Ended::Prompted,
                "stopped" => Ended::Stopped,
                "failed" => Ended::Failed,
                "dropped" => Ended::Dropped,
                "rest" => Ended::Resting { until },
                other => panic!("no cycle ends {other:?}"),
            };
            watch.ended(ended, now, &limits);
            return running(watch);
        }
        other => panic!("nothing is called {other:?}"),
    };
    watch.signal(&signal, now, &limits);
    running(watch)
}

fn running(watch: &Watch) -> String {
    match watch.window() {
        Some((window, at)) => {
            assert_eq!(watch.deadline(), Some(at));
            format!("{window:?} {}", at.0)
        }
        None if watch.in_cycle() => "cycle".to_owned(),
        None => "nothing".to_owned(),
    }
}

#[test]
fn r12_idle_arms_and_arms_again() {
    check(
        "fifteen seconds after the last idle",
        "0 idle => Idle 15000
         5000 idle => Idle 20000
         5001 idle => Idle 20001
         20000 expire => Idle 20001
         20001 expire => wake Idle",
    );
}

#[test]
fn r13_busy_clears() {
    check(
        "a busy inside the window; only the longest recheck stays",
        "0 idle => Idle 15000
         14999 busy => Recheck 314999
         15000 expire => Recheck 314999
         20000 busy => Recheck 320000
         30000 idle => Idle 45000",
    );
    check(
        "a busy takes a kickoff and a Resume, too",
        "0 fresh 1 => Kickoff 3000
         1 busy => Recheck 300001
         2 idle => Idle 15002
         3 resumed 2 => Resume 253
         4 busy => Recheck 300004",
    );
}

#[test]
fn r14_a_goal_on_an_idle_session_is_kicked_off() {
    check(
        "fresh",
        "7 fresh 1 => Kickoff 3007\n3007 expire => wake Kickoff",
    );
    check(
        "resumed",
        "7 resumed 1 => Resume 257\n257 expire => wake Resume",
    );
    check(
        "under way: the next idle decides",
        "7 running 1 => Recheck 300007",
    );
    check("stopped", "7 stopped 1 => nothing");
    check("no goal at all", "7 expire => nothing");
}

#[test]
fn r14_resumed_wins_over_fresh() {
    let kick = |line: &str| GoalMark::of(&goal(line)).kick;
    for (line, expected) in [
        ("", Kick::Fresh),
        ("reason=resumed", Kick::Resumed),
        ("turns=3 reason=resumed", Kick::Resumed),
        ("turns=1", Kick::Running),
        ("paused", Kick::Stopped),
        ("paused reason=resumed", Kick::Stopped),
        ("blocked", Kick::Stopped),
        ("budgetLimited", Kick::Stopped),
        ("complete", Kick::Stopped),
    ] {
        assert_eq!(kick(line), expected, "{line}");
    }
    let mark = GoalMark::of(&goal("id=g7 updated=77 turns=1"));
    let expected = GoalMark {
        id: GoalId::new("g7"),
        updated_at: Wall(77),
        kick: Kick::Running,
    };
    assert_eq!(mark, expected);
}

#[test]
fn r15_x19_a_fresh_goal_never_shortens_a_running_timer() {
    check(
        "of an idle",
        "0 idle => Idle 15000\n1 fresh 1 => Idle 15000",
    );
    check(
        "of a failed read",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15000 ended failed => Retry 30000
         15001 fresh 1 => Retry 30000",
    );
    check(
        "a mere recheck is no such timer",
        "0 running 1 => Recheck 300000\n1 fresh 2 => Kickoff 3001",
    );
    check(
        "of a busy session",
        "0 busy => Recheck 300000\n1 fresh 1 => Recheck 300000",
    );
}

#[test]
fn x19_a_resume_replaces_a_longer_timer() {
    check(
        "of an idle",
        "0 idle => Idle 15000\n9 resumed 1 => Resume 259",
    );
    check(
        "of a kickoff",
        "0 fresh 1 => Kickoff 3000\n9 resumed 2 => Resume 259",
    );
    check(
        "of a failed read",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15000 ended failed => Retry 30000
         16000 resumed 1 => Resume 16250",
    );
    check(
        "seen while busy, the normal quiet follows",
        "0 busy => Recheck 300000
         1 resumed 1 => Recheck 300000
         2 idle => Idle 15002
         3 resumed 1 => Idle 15002",
    );
    check(
        "an idle does not lengthen it",
        "0 resumed 1 => Resume 250\n100 idle => Resume 250\n100 resync => Resume 250",
    );
}

#[test]
fn r14_a_write_is_a_trigger_once_however_often_it_is_heard() {
    check(
        "four or five session.updated of one turn",
        "0 resumed 1 => Resume 250
         250 expire => wake Resume
         251 resumed 1 => cycle
         300 ended rest 60300 => Recheck 60300
         301 resumed 1 => Recheck 60300
         302 resumed 1 => Recheck 60300
         303 resumed 2 => Resume 553",
    );
    check(
        "a fresh goal, too",
        "0 fresh 1 => Kickoff 3000
         3000 expire => wake Kickoff
         3001 ended rest => Recheck 303001
         3002 fresh 1 => Recheck 303001
         3003 fresh 2 => Kickoff 6003",
    );
    check(
        "seen while busy, it is known afterwards",
        "0 busy => Recheck 300000
         1 fresh 1 => Recheck 300000
         2 idle => Idle 15002
         15002 expire => wake Idle
         15003 ended rest => Recheck 315003
         15004 fresh 1 => Recheck 315003",
    );
}

#[test]
fn x9_a_trigger_during_a_cycle_gets_its_own_window_after_it() {
    for (trigger, window, length) in [
        ("idle", "Idle", 15_000),
        ("resync", "Idle", 15_000),
        ("look", "Idle", 15_000),
        ("asked", "Asked", 250),
        ("fresh 2", "Kickoff", 3_000),
        ("resumed 2", "Resume", 250),
    ] {
        for ended in [
            "prompted",
            "failed",
            "dropped",
            "rest",
            "rest 30000",
            "stopped",
        ] {
            let at = 20_000 + length;
            check(
                &format!("{trigger}, then {ended}"),
                &format!(
                    "0 idle => Idle 15000
                     15000 expire => wake Idle
                     16000 {trigger} => cycle
                     17000 expire => cycle
                     20000 ended {ended} => {window} {at}
                     {at} expire => wake {window}"
                ),
            );
        }
    }
}

#[test]
fn x9_of_several_triggers_the_most_pressing_stays_and_there_is_one_cycle() {
    check(
        "idle, fresh, resumed, idle",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15001 idle => cycle
         15002 fresh 1 => cycle
         15003 resumed 2 => cycle
         15004 idle => cycle
         16000 ended rest => Resume 16250
         16250 expire => wake Resume
         16251 ended rest => Recheck 316251",
    );
}

#[test]
fn r13_a_busy_during_a_cycle_takes_the_trigger_back_but_never_all() {
    check(
        "the next idle decides",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15001 idle => cycle
         15002 busy => cycle
         16000 ended rest 30000 => Recheck 30000",
    );
    check(
        "even if the cycle thought the goal had ended before the Resume",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15001 stopped 1 => cycle
         15002 resumed 2 => cycle
         15003 busy => cycle
         16000 ended stopped => Recheck 316000",
    );
}

#[test]
fn x9_how_a_cycle_ends_says_when_to_come_back() {
    for (ended, runs) in [
        ("prompted", "Recheck 320000"),
        ("stopped", "nothing"),
        ("failed", "Retry 35000"),
        ("dropped", "Recheck 35000"),
        ("rest", "Recheck 320000"),
        ("rest 21000", "Recheck 21000"),
        ("rest 320001", "Recheck 320000"),
        ("rest 20000", "Recheck 20000"),
    ] {
        check(
            ended,
            &format!(
                "0 idle => Idle 15000
                 15000 expire => wake Idle
                 20000 ended {ended} => {runs}"
            ),
        );
    }
}

#[test]
fn r26_x9_failed_reads_come_back_after_growing_windows() {
    check(
        "one quiet window, doubled to five minutes, for as long as it takes",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15000 ended failed => Retry 30000
         30000 expire => wake Retry
         30000 ended failed => Retry 60000
         60000 expire => wake Retry
         60000 ended failed => Retry 120000
         120000 expire => wake Retry
         120000 ended failed => Retry 240000
         240000 expire => wake Retry
         240000 ended failed => Retry 480000
         480000 expire => wake Retry
         480000 ended failed => Retry 780000
         780000 expire => wake Retry
         780000 ended failed => Retry 1080000",
    );
    check(
        "a read that succeeds begins anew",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15000 ended failed => Retry 30000
         30000 expire => wake Retry
         30000 ended failed => Retry 60000
         60000 expire => wake Retry
         60000 ended rest 70000 => Recheck 70000
         70000 expire => wake Recheck
         70000 ended failed => Retry 85000",
    );
    check(
        "so does a reconnection (X10)",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15000 ended failed => Retry 30000
         30000 expire => wake Retry
         30000 ended failed => Retry 60000
         31000 resync => Idle 46000
         46000 expire => wake Idle
         46000 ended failed => Retry 61000",
    );
}

#[test]
fn x9_a_wait_is_looked_at_again_on_its_event() {
    check(
        "sub-agent, answer, settings",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15001 ended rest => Recheck 315001
         20000 look => Idle 35000
         21000 look => Idle 35000",
    );
    check(
        "not while the session works",
        "0 busy => Recheck 300000\n1 look => Recheck 300000",
    );
    check(
        "not sooner than a Resume",
        "0 resumed 1 => Resume 250\n1 look => Resume 250",
    );
}

#[test]
fn x15_a_request_is_named_at_once_while_the_session_is_busy() {
    check(
        "asked, and busy repeated",
        "0 busy => Recheck 300000
         10 asked => Asked 260
         20 busy => Asked 260
         260 expire => wake Asked
         261 ended rest => Recheck 300261",
    );
    check(
        "an idle after it is quiet as ever",
        "0 busy => Recheck 300000\n10 asked => Asked 260\n20 idle => Idle 15020",
    );
    check(
        "a quiet window is not cut short",
        "0 idle => Idle 15000\n1 asked => Idle 15000",
    );
    check(
        "during a cycle",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15001 asked => cycle
         15002 busy => cycle
         15003 ended rest => Asked 15253",
    );
}

#[test]
fn a_stopped_goal_arms_nothing() {
    check(
        "whatever the session does",
        "0 idle => Idle 15000
         1 stopped 1 => nothing
         2 idle => nothing
         3 busy => nothing
         4 idle => nothing
         5 resync => nothing
         6 look => nothing
         7 asked => nothing
         8 stopped 1 => nothing
         9 expire => nothing",
    );
    check(
        "also when it stopped during a cycle",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15001 idle => cycle
         15002 stopped 1 => cycle
         15003 idle => cycle
         15004 ended dropped => nothing",
    );
    check(
        "and forgets what was asked before it stopped",
        "0 idle => Idle 15000
         15000 expire => wake Idle
         15001 resumed 1 => cycle
         15002 stopped 2 => cycle
         15003 running 3 => cycle
         15004 ended dropped => Idle 30004",
    );
    check(
        "until it is resumed",
        "0 stopped 1 => nothing\n1 resumed 2 => Resume 251",
    );
    check(
        "or replaced",
        "0 stopped 1 => nothing\n1 fresh 2 => Kickoff 3001",
    );
    check(
        "or its pause is undone (X12): no idle will come",
        "0 stopped 1 => nothing\n1 running 2 => Idle 15001",
    );
    check(
        "or one that was missed while the stream was down",
        "0 stopped 1 => nothing\n1 resync => nothing\n2 running 2 => Idle 15002",
    );
    check(
        "but not while the session is busy",
        "0 stopped 1 => nothing\n1 busy => nothing\n2 resumed 2 => Recheck 300002",
    );
}

#[test]
fn early_and_double_calls_are_harmless() {
    check(
        "expire",
        "0 expire => nothing
         0 idle => Idle 15000
         14999 expire => Idle 15000
         15000 expire => wake Idle
         15000 expire => cycle
         15001 expire => cycle
         15002 ended stopped => nothing
         15003 expire => nothing",
    );
    check(
        "ended",
        "0 idle => Idle 15000
         1 ended stopped => Idle 15000
         2 ended failed => Idle 15000
         15000 expire => wake Idle
         15001 ended rest => Recheck 315001
         15002 ended stopped => Recheck 315001",
    );
    check(
        "a late call fires once",
        "0 idle => Idle 15000\n900000 expire => wake Idle",
    );
}

#[test]
fn r13_the_session_is_known_to_be_busy_or_not() {
    let mut watch = Watch::default();
    let mut after = |event: &str| {
        play(&mut watch, event);
        watch.busy()
    };
    assert!(!after("0 resumed 1"));
    assert!(after("1 busy"));
    assert!(after("2 resumed 2"));
    assert!(!after("3 idle"));
    assert!(after("4 busy"));
    assert!(!after("5 resync"));
}
