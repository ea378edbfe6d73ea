//! The ladder (X23): the first rung that matches decides, cheapest first.

use std::time::Duration;

use crate::decision::{BlockedCause, Decision, PauseCause, Prompting, Settlement, Why};
use crate::goal::Status;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::prompt::Occasion;
use crate::snapshot::{Activity, Gate, Snapshot};
use crate::tail::{self, TailKind};

/// The rungs that need the session alone; `None` goes on to the next read (R27).
#[must_use]
pub fn gate_session(gate: &Gate<'_>) -> Option<Decision> {
    let rest = |why| Some(Decision::Rest(why));
    if !gate.enabled {
        return rest(Why::Disabled);
    }
    let Some(session) = gate.session else {
        return rest(Why::Gone);
    };
    let Some(goal) = gate.goal else {
        return rest(Why::NoGoal);
    };
    let foreign = gate.inherited || session.parent.is_some();
    if session.archived && !foreign && goal.status == Status::Active {
        return Some(Decision::Pause(PauseCause::Archived));
    }
    if foreign {
        return rest(Why::Inherited);
    }
    if goal.status != Status::Active {
        return rest(Why::NotActive(goal.status));
    }
    if gate.stale {
        rest(Why::NeedsClick)
    } else {
        None
    }
}

/// The rung that needs the status map, the sub-agents and the open requests (R24, R25, X15).
#[must_use]
pub fn gate_activity(activity: &Activity) -> Option<Decision> {
    let why = match activity {
        Activity::Quiet => return None,
        Activity::Busy => Why::Busy,
        Activity::Retrying => Why::ProviderRetries,
        Activity::SubagentBusy(child) => Why::SubagentBusy(child.clone()),
        Activity::WaitingForYou(request) => Why::WaitingForYou(request.clone()),
    };
    Some(Decision::Rest(why))
}

/// Decides what the whole snapshot asks for.
#[must_use]
pub fn decide(snapshot: &Snapshot, limits: &Limits) -> Decision {
    let rungs: [fn(&Snapshot, &Limits) -> Option<Decision>; 16] = [
        |s, _| gate_session(&s.gate()),
        |s, _| gate_activity(&s.activity),
        first_message,
        rewound,
        objective,
        unanswered,
        within_grace,
        stopped,
        failed,
        budget,
        stalled,
        finish,
        cap_and_truncation,
        compactions,
        unaudited,
        empty_turn,
    ];
    rungs
        .iter()
        .find_map(|rung| rung(snapshot, limits))
        .unwrap_or_else(|| audit(snapshot, limits))
}

fn first_message(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    if s.first_message_exists {
        return None;
    }
    let until = s
        .memory
        .first_missed
        .unwrap_or(s.now)
        .after(limits.first_message_wait);
    Some(if s.now >= until {
        Decision::Pause(PauseCause::FirstMessageMissing)
    } else {
        Decision::Rest(Why::FirstMessageMissing { until })
    })
}

fn rewound(s: &Snapshot, _: &Limits) -> Option<Decision> {
    (s.session.revert.is_some() && !s.resumed_over_tail()).then_some(Decision::Rest(Why::Rewound))
}

fn objective(s: &Snapshot, _: &Limits) -> Option<Decision> {
    if s.objective.is_none() {
        return Some(Decision::Rest(Why::ObjectiveMissing));
    }
    (s.tail.kind == TailKind::Empty).then_some(Decision::Rest(Why::NoAssistantYet))
}

/// An unanswered user message as tail (X18): a person's keeps the loop away; our own is sent again
/// unless somebody stopped it.
fn unanswered(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    if s.resumed_over_tail() {
        return None;
    }
    let TailKind::OursUnanswered { after } = &s.tail.kind else {
        return (s.tail.kind == TailKind::UserPending).then_some(Decision::Rest(Why::UserPending));
    };
    // Work of somebody else may have begun behind what was gone over, and have been stopped.
    let gone_over = s.timeline.get(after).map(|message| message.created);
    let newer_work = s.timeline.newest_work();
    let newer_work = newer_work.is_some_and(|(work, _)| Some(work.created) > gone_over);
    let went_over_stop = !newer_work
        && s.goal
            .resumed_over
            .as_ref()
            .is_some_and(|over| over.tail.as_ref() == Some(after));
    let sent = s
        .memory
        .sent
        .as_ref()
        .filter(|sent| Some(&sent.message) == s.tail.id.as_ref());
    if let Some(text) = sent.and_then(|sent| sent.error.clone()) {
        let cause = BlockedCause::PromptRefused { text };
        return Some(Decision::Settle(Settlement::Blocked(cause)));
    }
    let stopped = sent.is_some_and(|sent| sent.stopped) || s.memory.retry_stopped;
    if stopped || (s.tail.stop_behind && !went_over_stop) {
        return Some(Decision::Pause(PauseCause::Aborted));
    }
    if let Some(wait) = grace_left(s, limits) {
        return Some(wait);
    }
    Some(
        if s.memory.stalled || sent.map_or(0, |sent| sent.resends) >= limits.resend_max {
            Decision::Rest(Why::Stalled)
        } else {
            Decision::Continue(Prompting::Resend)
        },
    )
}

fn within_grace(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    let open = matches!(s.tail.kind, TailKind::Unfinished | TailKind::Interrupted);
    if open && !s.resumed_over_tail() {
        grace_left(s, limits)
    } else {
        None
    }
}

fn stopped(s: &Snapshot, _: &Limits) -> Option<Decision> {
    let aborted = s.tail.kind == TailKind::Aborted || s.memory.retry_stopped;
    let cause = if s.tail.kind == TailKind::Declined {
        PauseCause::Declined
    } else if aborted {
        PauseCause::Aborted
    } else {
        return None;
    };
    let nudged = s
        .goal
        .valid_step()
        .is_some_and(|step| Some(&step.tail) == s.tail.id.as_ref());
    (!s.resumed_over_tail() && !nudged).then_some(Decision::Pause(cause))
}

fn failed(s: &Snapshot, _: &Limits) -> Option<Decision> {
    let TailKind::Failed { reason } = &s.tail.kind else {
        return None;
    };
    let cause = BlockedCause::TurnFailed {
        reason: reason.clone(),
    };
    Some(Decision::Settle(Settlement::Blocked(cause)))
}

fn budget(s: &Snapshot, _: &Limits) -> Option<Decision> {
    s.goal
        .token_budget
        .is_some_and(|budget| s.ledger.used >= budget)
        .then_some(Decision::Settle(Settlement::BudgetLimited))
}

fn stalled(s: &Snapshot, _: &Limits) -> Option<Decision> {
    s.memory.stalled.then_some(Decision::Rest(Why::Stalled))
}

fn finish(s: &Snapshot, _: &Limits) -> Option<Decision> {
    let persisted = s.goal.valid_step()?;
    (Some(&persisted.tail) == s.tail.id.as_ref()).then(|| prompt(s, Prompting::Finish))
}

fn cap_and_truncation(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    let blocked = |cause| Some(Decision::Settle(Settlement::Blocked(cause)));
    if s.goal.turns_used >= limits.turns_max {
        return blocked(BlockedCause::Cap);
    }
    if !s.goal.is_resumed() && tail::truncated_in_a_row(&s.timeline, limits.truncated_max) {
        return blocked(BlockedCause::RepeatedTruncation);
    }
    None
}

fn compactions(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    let row = tail::compactions_in_a_row(&s.timeline, s.memory.compactions_from);
    let too_many = limits.compactions_max > 0 && row >= limits.compactions_max;
    (too_many && !s.resumed_over_tail()).then_some(Decision::Pause(PauseCause::ContextTooSmall))
}

/// Work in progress is not judged: it goes on (R45, R54, R60, X10).
fn unaudited(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    let resumed = s.resumed_over_tail();
    let occasion = match s.tail.kind {
        TailKind::Truncated => Occasion::Truncated,
        TailKind::Compacted => Occasion::Compacted,
        TailKind::UserPending
        | TailKind::OursUnanswered { .. }
        | TailKind::Unfinished
        | TailKind::Interrupted
        | TailKind::Aborted
        | TailKind::Declined
            if resumed =>
        {
            Occasion::Resumed
        }
        TailKind::Unfinished | TailKind::Interrupted => Occasion::Interrupted,
        TailKind::Hollow | TailKind::Finished
            if resumed && (s.session.revert.is_some() || s.memory.retry_stopped) =>
        {
            Occasion::Resumed
        }
        TailKind::Empty
        | TailKind::UserPending
        | TailKind::OursUnanswered { .. }
        | TailKind::Aborted
        | TailKind::Declined
        | TailKind::Failed { .. }
        | TailKind::Hollow
        | TailKind::Finished => return None,
    };
    Some(spaced(s, limits).unwrap_or_else(|| prompt(s, Prompting::New(occasion))))
}

/// A reply without a word and without a tool (X20).
fn empty_turn(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    if s.tail.kind != TailKind::Hollow || limits.empty_max == 0 {
        return None;
    }
    if s.memory.nudges >= limits.empty_max {
        return Some(Decision::Settle(Settlement::Blocked(
            BlockedCause::EmptyReplies,
        )));
    }
    let since = s.memory.hollow.as_ref().map_or(s.now, |(_, since)| *since);
    let until = since.after(limits.empty_quiet);
    if s.now < until && !s.goal.is_resumed() {
        return Some(Decision::Rest(Why::Patience { until }));
    }
    let nudge = || prompt(s, Prompting::New(Occasion::EmptyReply));
    Some(spaced(s, limits).unwrap_or_else(nudge))
}

fn audit(s: &Snapshot, limits: &Limits) -> Decision {
    if s.voice.is_none() {
        return Decision::Settle(Settlement::Blocked(BlockedCause::NoModel));
    }
    spaced(s, limits).unwrap_or(Decision::Audit)
}

/// A prompt needs a model to address; that is checked before anything is written (R77, X7).
fn prompt(s: &Snapshot, prompting: Prompting) -> Decision {
    match s.voice {
        Some(_) => Decision::Continue(prompting),
        None => Decision::Settle(Settlement::Blocked(BlockedCause::NoModel)),
    }
}

/// The distance between two continuations, unless the user asked to go on (X20).
fn spaced(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    let until = s.memory.continued_at?.after(distance(&s.memory, limits));
    (s.now < until && !s.goal.is_resumed()).then_some(Decision::Rest(Why::Patience { until }))
}

fn distance(memory: &Memory, limits: &Limits) -> Duration {
    let repeats = memory.repeat.as_ref().map_or(0, |repeat| repeat.count);
    if limits.repeat_slow == 0 || repeats < limits.repeat_slow {
        return limits.continue_gap;
    }
    let doublings = (repeats - limits.repeat_slow).min(16);
    limits
        .repeat_gap
        .saturating_mul(1 << doublings)
        .max(limits.continue_gap)
}

/// What is left of the grace for a tail that nothing backs (X10).
fn grace_left(s: &Snapshot, limits: &Limits) -> Option<Decision> {
    let since = s
        .memory
        .unbacked
        .as_ref()
        .map_or(s.now, |(_, since)| *since);
    let until = since.after(limits.interrupted_grace);
    (s.now < until).then_some(Decision::Rest(Why::WithinGrace { until }))
}
