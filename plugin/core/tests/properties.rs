//! What holds for every goal, timeline, change, metadata and order of events.

mod support;

use goal_core::accounting::fold;
use goal_core::change::{Change, StoredObjective, apply};
use goal_core::continuation::{ContinuationIds, ids, ids_sent};
use goal_core::decide::decide;
use goal_core::decision::{BlockedCause, Decision, PauseCause, Prompting, Settlement};
use goal_core::evidence::Evidence;
use goal_core::goal::{Goal, GoalId, MessageId, RevertId, Status, Unknown};
use goal_core::judge::{AuditFailure, AuditOutcome, Audited, judge};
use goal_core::limits::Limits;
use goal_core::memory::Memory;
use goal_core::payload::{read, write};
use goal_core::prompt::Occasion;
use goal_core::signal::{GoalMark, Kick, Signal};
use goal_core::tail::{Tail, TailContext, TailKind};
use goal_core::time::{Mono, Wall};
use goal_core::timeline::Timeline;
use goal_core::verdict::{Verdict, VerdictKind};
use goal_core::watch::{Ended, Watch};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use support::goals::{goal, model, over, session};
use support::scenes::scene;
use support::tails;

const LIMITS: Limits = Limits::DEFAULT;

// ---------------------------------------------------------------------------------- what is drawn

/// One message of a tail: how it ends, and its tokens. Ids and parents follow from its place.
fn message_words() -> impl Strategy<Value = String> {
    let ends = select(vec![
        "stop 'words'",
        "stop",
        "stop tool=bash=0",
        "tools tool=bash=0",
        "tools refused=bash",
        "length",
        "length 'cut'",
        "other 'odd'",
        "open",
        "",
        "err=MessageAbortedError",
        "err=MessageOutputLengthError",
        "err=ContextOverflowError:full",
        "err=APIError:401",
        "summary stop 'sum'",
        "summary open",
        "shell tool=bash=0",
    ]);
    let answer = (ends, 0u64..2_000).prop_map(|(end, tokens)| format!("a {end} {tokens}t"));
    let prompt = select(vec![
        "",
        "'words'",
        "synthetic",
        "mark",
        "overflow",
        "file",
        "bare",
    ]);
    prop_oneof![
        3 => answer,
        1 => prompt.prop_map(|parts| format!("u {parts}")),
    ]
}

/// A session's messages: every answer follows the newest prompt before it.
fn session_messages() -> impl Strategy<Value = String> {
    vec(message_words(), 0..9).prop_map(|lines| {
        let mut parent = 0;
        let mut text = String::from("u m0");
        for (index, line) in lines.iter().enumerate() {
            let id = index + 1;
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            if kind == "u" {
                parent = id;
                text.push_str(&format!("; u m{id} {rest}"));
            } else {
                text.push_str(&format!("; a m{id} < m{parent} {rest}"));
            }
        }
        text
    })
}

/// A goal somewhere in its life; its cursor, record and Resume may or may not fit the messages.
fn any_goal() -> impl Strategy<Value = Goal> {
    let counters = (
        0u64..3_000,
        0u64..3_000,
        0u64..3_000,
        0u32..23,
        0u32..4,
        0u32..3,
    );
    let places = (
        option::of(0usize..9),
        option::of(0usize..9),
        option::of(0usize..9),
    );
    let rest = (
        select(Status::ALL.to_vec()),
        select(vec!["", "resumed", "why"]),
        option::of(1u64..4_000),
        0u64..12_000,
        any::<bool>(),
    );
    (counters, places, rest, unknown_fields()).prop_map(|(counters, places, rest, unknown)| {
        let (used, baseline, committed, turns, blocked, fails) = counters;
        let (status, reason, budget, created, filed) = rest;
        let place = |at: Option<usize>| at.map(|at| MessageId::new(format!("m{at}")));
        let mut goal = goal(&format!(
            "created={created} used={used} baseline={baseline} committed={committed} \
             turns={turns} blocked={blocked} fails={fails} reason={reason}"
        ));
        goal.status = status;
        goal.token_budget = budget;
        goal.objective_file = filed;
        goal.last_accounted = place(places.0);
        goal.continued_after = places.1.map(|at| goal_core::goal::ContinuedAfter {
            tail: MessageId::new(format!("m{at}")),
            at: goal.updated_at,
        });
        goal.resumed_over = places.2.map(|at| over(&format!("m{at}")));
        goal.unknown = unknown;
        goal
    })
}

/// JSON text: whatever another program may have stored.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        select(vec![
            "1e400",
            "-0",
            "1.50",
            "12345678901234567890123",
            r#""\ud83d""#,
            "[ ]"
        ])
        .prop_map(str::to_owned),
        ".{0,9}".prop_map(|text| serde_json::Value::from(text).to_string()),
        select(vec![
            r#""active""#,
            r#""resumed""#,
            r#""g1""#,
            r#"{"tail":"m1","at":2000}"#
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            vec((name(), inner), 0..4).prop_map(object),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "openchamber",
            "goal",
            "id",
            "objective",
            "objectiveFile",
            "status",
            "tokenBudget",
            "tokensUsed",
            "note",
            "continuedAfter",
            "resumedOver",
            "updatedAt",
        ])
        .prop_map(str::to_owned),
        "[a-z]{1,4}",
    ]
}

fn object(fields: Vec<(String, String)>) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{name:?}: {value}"))
        .collect();
    format!("{{{}}}", fields.join(" , "))
}

fn unknown_fields() -> impl Strategy<Value = Unknown> {
    vec(("x[a-z]{1,4}", json()), 0..3).prop_map(|mut fields| {
        fields.sort();
        fields.dedup_by(|one, other| one.0 == other.0);
        Unknown(fields)
    })
}

fn any_audited() -> impl Strategy<Value = Option<Audited>> {
    option::of(
        (0u32..4, 0u32..3, option::of("[a-z ]{0,9}"), any::<bool>()).prop_map(
            |(blocked, fails, note, named)| Audited {
                blocked_streak: blocked,
                audit_fail_streak: fails,
                note,
                evaluation: named.then(|| model("fake/small")),
            },
        ),
    )
}

/// A change, made of the messages it was decided over.
fn any_change() -> impl Strategy<Value = (usize, Option<Audited>, Option<u64>, bool)> {
    (
        0usize..11,
        any_audited(),
        option::of(1u64..5_000),
        any::<bool>(),
    )
}

fn change_of(
    goal: &Goal,
    timeline: &Timeline,
    (which, audited, budget, flag): (usize, Option<Audited>, Option<u64>, bool),
) -> Change {
    let ledger = fold(goal, timeline);
    let tail = timeline
        .messages()
        .last()
        .map_or(MessageId::new("m0"), |last| last.id.clone());
    let gone_over = over(tail.as_str());
    let token_budget = flag.then_some(budget);
    match which {
        0 | 1 => Change::Continued {
            ledger,
            tail,
            audited,
        },
        2 => Change::Settled {
            settlement: Settlement::BudgetLimited,
            ledger,
            audited,
        },
        3 => Change::Settled {
            settlement: Settlement::Blocked(BlockedCause::Cap),
            ledger,
            audited,
        },
        4 => Change::LoopPaused {
            cause: PauseCause::Aborted,
            ledger: flag.then_some(ledger),
            audited,
        },
        5 => Change::Refunded,
        6 => Change::ReloadUndone { over: gone_over },
        7 => Change::Edited {
            objective: flag.then_some(StoredObjective::File),
            token_budget,
            over: Some(gone_over),
            forget_first_message: flag,
        },
        8 => Change::Paused,
        9 => Change::Resumed {
            token_budget,
            over: Some(gone_over),
            forget_first_message: flag,
        },
        _ => Change::MarkedComplete,
    }
}

// --------------------------------------------------------------------------------- accounting, R37

proptest! {
    #[test]
    fn r37_tokens_used_never_fall(
        start in any_goal(),
        steps in vec((session_messages(), option::of(0usize..9), any_change(), 0u64..9_000), 1..8),
    ) {
        let mut goal = start;
        for (messages, revert, change, now) in steps {
            let revert = revert.map(|at| RevertId::new(format!("m{at}")));
            let timeline = Timeline::new(tails::messages(&messages), revert.as_ref());
            let ledger = fold(&goal, &timeline);
            prop_assert!(ledger.used >= goal.tokens_used);
            let again = Goal {
                tokens_used: ledger.used,
                tokens_baseline: ledger.baseline,
                tokens_committed: ledger.committed,
                last_accounted: ledger.cursor.clone(),
                ..goal.clone()
            };
            if again.last_accounted.is_some() {
                prop_assert_eq!(fold(&again, &timeline), ledger, "folding twice counts once");
            }
            let change = change_of(&goal, &timeline, change);
            let next = apply(&goal, change, &session(), Wall(now), &LIMITS);
            prop_assert!(next.tokens_used >= goal.tokens_used);
            prop_assert!(next.updated_at > goal.updated_at);
            goal = next;
        }
    }
}

// ------------------------------------------------------------------------------------ payload, X17

proptest! {
    #[test]
    fn r3_any_metadata_is_read_and_written_without_a_panic(metadata in json(), text in ".{0,40}") {
        for metadata in [metadata, text] {
            let found = read(&metadata, &LIMITS);
            let fresh = goal("turns=1");
            match write(Some(&metadata), Some(&fresh)) {
                Ok(written) => prop_assert_eq!(read(&written, &LIMITS), Some(fresh)),
                Err(_) => prop_assert_eq!(found, None, "what cannot be written was no goal"),
            }
        }
    }

    #[test]
    fn r3_any_payload_is_read_and_stays_what_it_was_read_as(
        fields in vec((name(), json()), 0..12),
    ) {
        let metadata = object(vec![("openchamber".to_owned(), object(vec![(
            "goal".to_owned(),
            object(
                [("id", r#""g1""#), ("status", r#""active""#), ("objective", r#""x""#)]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into_iter()
                    .chain(fields.into_iter().filter(|(name, _)| {
                        !["id", "status", "objective"].contains(&name.as_str())
                    }))
                    .collect(),
            ),
        )]))]);
        let found = read(&metadata, &LIMITS);
        prop_assert!(found.is_some(), "{metadata}");
        let written = write(Some(&metadata), found.as_ref());
        prop_assert_eq!(read(&written.unwrap_or_default(), &LIMITS), found);
    }

    #[test]
    fn x17_a_goal_survives_its_json(goal in any_goal()) {
        let written = write(None, Some(&goal)).unwrap_or_default();
        prop_assert_eq!(read(&written, &LIMITS), Some(goal));
    }

    #[test]
    fn x17_changes_keep_what_is_not_ours(
        start in any_goal(),
        messages in session_messages(),
        changes in vec(any_change(), 1..6),
        (top, ours) in (json(), json()),
    ) {
        let timeline = tails::timeline(&messages);
        let unknown = start.unknown.clone();
        let foreign = object(vec![
            ("top".to_owned(), top.clone()),
            ("openchamber".to_owned(), object(vec![("ours".to_owned(), ours.clone())])),
        ]);
        let mut metadata = write(Some(&foreign), Some(&start)).unwrap_or_default();
        for change in changes {
            let Some(stored) = read(&metadata, &LIMITS) else {
                return Err(TestCaseError::fail(format!("no goal in {metadata}")));
            };
            let change = change_of(&stored, &timeline, change);
            let next = apply(&stored, change, &session(), Wall(1), &LIMITS);
            prop_assert_eq!(&next.unknown, &unknown);
            metadata = write(Some(&metadata), Some(&next)).unwrap_or_default();
        }
        for (name, value) in [("top", &top), ("ours", &ours)] {
            let part = format!("{name:?}:{value}");
            prop_assert!(metadata.contains(&part), "{part} is gone from {metadata}");
        }
        for (name, value) in &unknown.0 {
            prop_assert!(metadata.contains(&format!("{name:?}:{value}")), "{name} is gone");
        }
    }
}

// ---------------------------------------------------------------------- one continuation per tail

/// What a driver with this memory does about a session at rest, up to a prompt. The auditor always
/// says the same.
fn drive(goal: &Goal, messages: &str, memory: Memory, verdict: Option<VerdictKind>) -> Driven {
    let snapshot = scene("", messages)
        .with(|s| {
            s.goal = goal.clone();
            s.memory = memory;
        })
        .snapshot();
    let mut audited = None;
    let mut decision = decide(&snapshot, &LIMITS);
    if decision == Decision::Audit {
        let outcome = match verdict {
            None => AuditOutcome::Failed(AuditFailure::Timeout),
            Some(kind) => AuditOutcome::Verdict {
                verdict: Verdict {
                    kind,
                    note: "note".to_owned(),
                },
                model: model("fake/small"),
            },
        };
        let evidence = Evidence::collect(&snapshot.timeline);
        let memory = &mut snapshot.memory.clone();
        let (judged, after) = judge(goal, &evidence, &outcome, memory, &LIMITS);
        (decision, audited) = (judged, Some(after));
    }
    let context = TailContext {
        goal,
        revert: None,
        overflow_seen: false,
    };
    let ids = snapshot.tail.id.as_ref().and_then(|tail| {
        if decision == RESEND {
            ids_sent(&snapshot.timeline, tail, context)
        } else {
            Some(ids(&goal.id, tail, snapshot.tail.at, None))
        }
    });
    let change = snapshot.tail.id.clone().map(|tail| Change::Continued {
        ledger: snapshot.ledger.clone(),
        tail,
        audited,
    });
    Driven {
        decision,
        ids,
        change,
        tail: snapshot.tail,
    }
}

struct Driven {
    decision: Decision,
    ids: Option<ContinuationIds>,
    change: Option<Change>,
    tail: Tail,
}

const RESEND: Decision = Decision::Continue(Prompting::Resend);
const FINISH: Decision = Decision::Continue(Prompting::Finish);

fn any_verdict() -> impl Strategy<Value = Option<VerdictKind>> {
    use VerdictKind::{Blocked, Complete, Continue};
    select(vec![None, Some(Continue), Some(Blocked), Some(Complete)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn x6_a_tail_is_continued_once(
        start in any_goal(),
        messages in session_messages(),
        verdicts in (any_verdict(), any_verdict()),
    ) {
        let start = Goal { status: Status::Active, token_budget: None, ..start };
        let first = drive(&start, &messages, Memory::default(), verdicts.0);
        let (Decision::Continue(_), Some(ids), Some(change)) =
            (&first.decision, &first.ids, first.change.clone())
        else {
            return Ok(());
        };
        // A second driver on the same state, whatever its auditor says: the same message, or none.
        let second = drive(&start, &messages, Memory::default(), verdicts.1);
        if matches!(second.decision, Decision::Continue(_)) {
            prop_assert_eq!(second.ids.as_ref(), Some(ids));
        }
        if first.decision == RESEND {
            prop_assert_eq!(Some(&ids.message), first.tail.id.as_ref(), "the stored message");
            return Ok(());
        }
        // Killed between the write and the prompt: finished, never decided or counted again.
        let written = if first.decision == FINISH {
            start
        } else {
            apply(&start, change, &session(), Wall(5_000), &LIMITS)
        };
        let again = drive(&written, &messages, Memory::default(), verdicts.1);
        prop_assert_eq!(&again.decision, &FINISH);
        prop_assert_eq!(again.ids.as_ref(), Some(ids));
        // Stored: whoever looks sees the loop's own message, and sends nothing but that again.
        let tail = first.tail.id.as_ref().map_or("", MessageId::as_str);
        let stored = format!("{messages}; c {tail}");
        let after = drive(&written, &stored, Memory::default(), verdicts.1);
        prop_assert_eq!(after.tail.id.as_ref(), Some(&ids.message));
        if after.decision == RESEND {
            prop_assert_eq!(after.ids.as_ref(), Some(ids));
        } else {
            prop_assert_eq!(&after.decision, &Decision::Pause(PauseCause::Aborted));
            prop_assert!(after.tail.stop_behind, "{stored}");
        }
    }

    #[test]
    fn x6_other_tails_get_other_ids(
        one in ("[a-z]{0,3}", "[a-z]{0,3}", 0u64..4, option::of("[a-z]{1,2}")),
        other in ("[a-z]{0,3}", "[a-z]{0,3}", 0u64..4, option::of("[a-z]{1,2}")),
    ) {
        let made = |(goal, tail, at, revert): &(String, String, u64, Option<String>)| {
            let revert = revert.as_ref().map(RevertId::new);
            ids(&GoalId::new(goal), &MessageId::new(tail), Wall(*at), revert.as_ref())
        };
        prop_assert_eq!(one == other, made(&one) == made(&other));
        prop_assert_eq!(one == other, made(&one).message == made(&other).message);
    }

    #[test]
    fn x23_every_session_at_rest_has_an_answer(
        goal in any_goal(),
        messages in session_messages(),
        revert in option::of(0usize..9),
    ) {
        let revert = revert.map(|at| RevertId::new(format!("m{at}")));
        let timeline = Timeline::new(tails::messages(&messages), revert.as_ref());
        let context = TailContext { goal: &goal, revert: revert.as_ref(), overflow_seen: false };
        let tail = Tail::read(&timeline, context);
        prop_assert_eq!(tail.id.is_none(), !timeline.messages().iter().any(|message| {
            message.step().is_some() || message.is_prompt()
        }));
        let driven = drive(&goal, &messages, Memory::default(), None);
        let prompts = matches!(driven.decision, Decision::Continue(_));
        prop_assert!(!prompts || goal.status == Status::Active);
        prop_assert!(!prompts || driven.tail.kind != TailKind::UserPending
            || goal.resumed_over.is_some(), "a person's message is left alone");
        if let Decision::Continue(Prompting::New(occasion)) = &driven.decision {
            let gone_over = *occasion == Occasion::Resumed;
            prop_assert!(!gone_over || goal.resumed_over(driven.tail.id.as_ref(), None));
            prop_assert!(goal.turns_used < LIMITS.turns_max, "the cap");
        }
    }
}

// ------------------------------------------------------------------------------------------ watch

#[derive(Clone, Debug)]
enum Event {
    Signal(Signal),
    /// Time passes; a deadline that is met begins a cycle, at its time.
    Pass(u64),
    /// The clock is asked although nothing may be due.
    Expire,
    Ended(Ended),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let mark = (
        select(vec![
            Kick::Resumed,
            Kick::Fresh,
            Kick::Running,
            Kick::Stopped,
        ]),
        0u64..4,
    )
        .prop_map(|(kick, at)| {
            Signal::Goal(GoalMark {
                id: GoalId::new("g1"),
                updated_at: Wall(at),
                kick,
            })
        });
    let signal = select(vec![
        Signal::Idle,
        Signal::Busy,
        Signal::LookAgain,
        Signal::Asked,
        Signal::Resync,
    ]);
    let ended = prop_oneof![
        select(vec![
            Ended::Prompted,
            Ended::Stopped,
            Ended::Failed,
            Ended::Dropped
        ]),
        option::of(0u64..900_000).prop_map(|until| Ended::Resting {
            until: until.map(Mono)
        }),
    ];
    let event = prop_oneof![
        4 => signal.prop_map(Event::Signal),
        3 => mark.prop_map(Event::Signal),
        3 => (0u64..400_000).prop_map(Event::Pass),
        1 => Just(Event::Expire),
        4 => ended.prop_map(Event::Ended),
    ];
    vec(event, 0..40)
}

/// When the next cycle must have begun at the latest, if it must; nothing about how.
#[derive(Debug, Default)]
struct Model {
    in_cycle: bool,
    busy: bool,
    stopped: bool,
    seen: Option<Wall>,
    due: Option<u64>,
    /// A trigger during a cycle: how long after its end the next one must have begun.
    owed: Option<u64>,
}

const QUIET: u64 = 15_000;
const RECHECK: u64 = 300_000;

impl Model {
    fn owe(&mut self, within: u64, now: u64) {
        if self.in_cycle {
            self.owed = Some(self.owed.map_or(within, |owed| owed.min(within)));
        } else if !self.stopped {
            self.due = Some(now + within);
        }
    }

    fn signal(&mut self, signal: &Signal, now: u64) {
        self.busy = match signal {
            Signal::Busy => true,
            Signal::Idle | Signal::Resync => false,
            Signal::Goal(_) | Signal::LookAgain | Signal::Asked => self.busy,
        };
        match signal {
            Signal::Busy if self.in_cycle => self.owed = self.owed.map(|_| RECHECK),
            Signal::Busy => self.owe(RECHECK, now),
            Signal::Goal(mark) => {
                let is_new = self.seen.replace(mark.updated_at) != Some(mark.updated_at);
                self.stopped = mark.kick == Kick::Stopped;
                if mark.kick == Kick::Resumed && is_new && !self.busy {
                    self.owe(250, now);
                } else if !self.in_cycle {
                    // A kickoff may take the place of a recheck that was nearly due.
                    let within = if self.due.is_none() { RECHECK } else { 3_000 };
                    self.due = self.due.max(Some(now + within));
                }
            }
            Signal::LookAgain if self.busy => {}
            Signal::Idle | Signal::Resync | Signal::LookAgain | Signal::Asked => {
                self.owe(QUIET, now);
            }
        }
        if self.stopped {
            (self.due, self.owed) = (None, None);
        }
    }

    fn ended(&mut self, ended: Ended, now: u64) {
        let rests = if ended == Ended::Dropped {
            QUIET
        } else {
            RECHECK
        };
        let own = (ended != Ended::Stopped && !self.stopped).then_some(rests);
        self.due = self.owed.take().or(own).map(|within| now + within);
        self.in_cycle = false;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn x9_no_trigger_is_forgotten_and_none_is_doubled(events in events()) {
        let (mut watch, mut model, mut now) = (Watch::default(), Model::default(), 0u64);
        for event in events {
            match &event {
                Event::Signal(signal) => {
                    watch.signal(signal, Mono(now), &LIMITS);
                    model.signal(signal, now);
                }
                Event::Ended(ended) => {
                    watch.ended(*ended, Mono(now), &LIMITS);
                    if model.in_cycle {
                        model.ended(*ended, now);
                    }
                }
                Event::Pass(ms) => {
                    let until = now + ms;
                    if let Some(at) = watch.deadline().filter(|at| at.0 <= until) {
                        now = now.max(at.0);
                        prop_assert!(watch.expire(Mono(now)).is_some(), "a deadline is a wake");
                        (model.in_cycle, model.due) = (true, None);
                    }
                    now = until;
                }
                Event::Expire if watch.deadline().is_some_and(|at| at <= Mono(now)) => {}
                Event::Expire => {
                    let before = watch.clone();
                    prop_assert_eq!(watch.expire(Mono(now)), None);
                    prop_assert_eq!(&watch, &before, "an early call changes nothing");
                }
            }
            let deadline = watch.deadline().map(|at| at.0);
            prop_assert_eq!(watch.in_cycle(), model.in_cycle, "after {:?}", &event);
            prop_assert!(!(model.in_cycle || model.stopped) || deadline.is_none(), "{:?}", model);
            if let Some(due) = model.due {
                prop_assert!(deadline.is_some_and(|at| at <= due), "{:?}: {:?}", event, model);
            }
        }
    }
}
