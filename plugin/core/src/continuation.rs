//! Ids of a continuation, derived from the goal and the tail it answers (X6).
//!
//! Every driver, and the same one after a crash, derives the same ids for the same tail, and the
//! server drops the double. They sort right after the tail they answer and before whatever follows:
//! older servers take the greatest id for the newest message.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::goal::{Goal, GoalId, MessageId, RevertId, SessionId};
use crate::message::{Message, Part};
use crate::objective::{self, Fitting};
use crate::prompt;
use crate::tail::{self, TailContext};
use crate::time::Wall;
use crate::timeline::Timeline;

/// The ids under which one continuation is sent, each time it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinuationIds {
    /// Id of the user message.
    pub message: MessageId,
    /// Id of its only part; with both given, OpenCode takes a repetition for an update.
    pub part: String,
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: usize = 14;

/// OpenCode counts the ids of one millisecond from 1. The last number sorts behind all of them:
/// a tail that is a prompt has an id of the very millisecond it was created in.
const COUNTER: u64 = 4_095;

/// Derives the ids of the continuation that answers `tail`, which ended (or began) at `at`.
#[must_use]
pub fn ids(
    goal: &GoalId,
    tail: &MessageId,
    at: Wall,
    revert: Option<&RevertId>,
) -> ContinuationIds {
    ContinuationIds {
        message: MessageId::new(derive("msg_", goal, tail, at, revert)),
        part: derive("prt_", goal, tail, at, revert),
    }
}

/// A native-looking message id for the first prompt of a goal, drawn with `random` bytes from the
/// caller (X21).
///
/// `newest` is the latest time that the server itself wrote into the session. An id ahead of the
/// server's clock sorts behind its own answers, and older servers then ask the model again and
/// again until their clock has caught up.
#[must_use]
pub fn first_message_id(newest: Wall, random: &[u8]) -> MessageId {
    let mut hash = Sha256::new();
    hash.update(b"first");
    hash.update(random);
    MessageId::new(format!(
        "msg_{}{}",
        time_part(newest),
        digits(&hash.finalize())
    ))
}

/// An opaque id for a new goal (O13), from `random` bytes of the caller.
#[must_use]
pub fn goal_id(session: &SessionId, now: Wall, random: &[u8]) -> GoalId {
    let mut hash = Sha256::new();
    hash.update(b"goal");
    hash.update(session.as_str());
    hash.update(random);
    GoalId::new(format!(
        "goal_{}{}",
        time_part(now),
        digits(&hash.finalize())
    ))
}

/// The ids under which the stored prompt `message` was sent, if it is a continuation of the goal's:
/// with both of them given, sending it again is no second message (X18).
#[must_use]
pub fn ids_sent(
    timeline: &Timeline,
    message: &MessageId,
    context: TailContext<'_>,
) -> Option<ContinuationIds> {
    recognise(timeline, message, context).map(|(_, ids)| ids)
}

/// Whether the agent was told another objective than `objective` the last time (G61): by the
/// newest continuation; before the first one by the prompt that started the goal, if the goal was
/// resumed or edited since. `max_units` is the objective's limit: what a longer prompt was made
/// into is not known. Judged by the messages, so it holds for every client's edit and after a
/// restart.
#[must_use]
pub fn told_otherwise(
    timeline: &Timeline,
    context: TailContext<'_>,
    objective: &str,
    max_units: usize,
) -> bool {
    let continuations = timeline.messages().iter().rev().filter(|message| {
        message.is_prompt() && recognise(timeline, &message.id, context).is_some()
    });
    let told = continuations
        .flat_map(Message::texts)
        .find_map(|text| prompt::carries_objective(text, objective));
    if let Some(told) = told {
        return !told;
    }
    let first = context.goal.first_message.as_ref();
    let first = first.filter(|_| context.goal.is_resumed());
    first
        .and_then(|first| timeline.get(first))
        .is_some_and(|first| match objective::fit(&words(first), max_units) {
            Fitting::Whole(told) => told != objective,
            Fitting::TooLong { .. } => false,
        })
}

/// What a prompt says in words that its author sees.
fn words(message: &Message) -> String {
    let seen = |part: &Part| match part {
        Part::Text {
            text,
            unseen: false,
        } => Some(text.clone()),
        Part::Text { .. }
        | Part::Tool(_)
        | Part::StepStart
        | Part::Compaction { .. }
        | Part::Other { .. } => None,
    };
    let texts: Vec<String> = message.parts.iter().filter_map(seen).collect();
    texts.join("\n")
}

/// The tail that the prompt `id` was derived from, if this goal's continuation it is.
pub(crate) fn answered_tail(
    timeline: &Timeline,
    id: &MessageId,
    context: TailContext<'_>,
) -> Option<MessageId> {
    recognise(timeline, id, context).map(|(tail, _)| tail.clone())
}

fn recognise<'a>(
    timeline: &'a Timeline,
    id: &MessageId,
    context: TailContext<'_>,
) -> Option<(&'a MessageId, ContinuationIds)> {
    let reverts = [None, context.revert, resumed_revert(context.goal)];
    let candidates = timeline.messages().iter().rev().filter(|m| m.id != *id);
    candidates
        // The end of a stopped message is stored up to 700 ms late: the continuation may have been
        // derived before it.
        .flat_map(|tail| [(tail, tail::end_time(tail)), (tail, tail.created)])
        .filter(|(_, at)| id.as_str().get(4..16) == Some(time_part(*at).as_str()))
        .flat_map(|(tail, at)| reverts.map(|revert| (tail, at, revert)))
        .map(|(tail, at, revert)| (&tail.id, ids(&context.goal.id, &tail.id, at, revert)))
        .find(|(_, ids)| ids.message == *id)
}

/// The revert point of a Resume: once its continuation is sent, the session forgets it.
fn resumed_revert(goal: &Goal) -> Option<&RevertId> {
    goal.resumed_over
        .as_ref()
        .and_then(|over| over.revert.as_ref())
}

fn derive(
    prefix: &str,
    goal: &GoalId,
    tail: &MessageId,
    at: Wall,
    revert: Option<&RevertId>,
) -> String {
    let mut hash = Sha256::new();
    for field in [
        prefix,
        goal.as_str(),
        tail.as_str(),
        revert.map_or("", RevertId::as_str),
    ] {
        // Lengths keep ("ab", "c") and ("a", "bc") apart; 64 bits of them on every machine.
        let length = u64::try_from(field.len()).unwrap_or(u64::MAX);
        hash.update(length.to_le_bytes());
        hash.update(field);
    }
    format!("{prefix}{}{}", time_part(at), digits(&hash.finalize()))
}

/// OpenCode's native time encoding: 48 bits of milliseconds times 4096 plus a counter.
fn time_part(at: Wall) -> String {
    let native = at.0.wrapping_mul(4096).wrapping_add(COUNTER) & 0xFFFF_FFFF_FFFF;
    let mut hex = String::with_capacity(12);
    // Writing to a String cannot fail.
    let _ = write!(hex, "{native:012x}");
    hex
}

fn digits(hash: &[u8]) -> String {
    hash.iter()
        .take(DIGITS)
        .filter_map(|byte| BASE62.get(usize::from(*byte) % BASE62.len()))
        .map(|digit| char::from(*digit))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_native_and_stable() {
        let ids = ids(
            &GoalId::new("g1"),
            &MessageId::new("msg_tail"),
            Wall(1_796_030_623_009),
            None,
        );
        let hex = format!(
            "{:012x}",
            (1_796_030_623_009_u64 * 4096 + 4_095) & 0xFFFF_FFFF_FFFF
        );
        assert_eq!(ids.message.as_str().len(), 4 + 12 + DIGITS);
        assert!(ids.message.as_str().starts_with(&format!("msg_{hex}")));
        assert!(ids.part.starts_with(&format!("prt_{hex}")));
        // A change of these values would let two versions of the app send two continuations.
        assert_eq!(ids.message.as_str(), "msg_22bc46d21fffPUZLy03RmCDm6h");
        assert_eq!(ids.part, "prt_22bc46d21fffG9NWkJgIEtGxFV");
    }

    #[test]
    fn every_ingredient_counts() {
        let make = |goal: &str, tail: &str, at, revert: Option<&str>| {
            let revert = revert.map(RevertId::new);
            ids(
                &GoalId::new(goal),
                &MessageId::new(tail),
                Wall(at),
                revert.as_ref(),
            )
            .message
        };
        let base = make("g", "t", 1, None);
        for other in [
            make("h", "t", 1, None),
            make("g", "u", 1, None),
            make("g", "t", 2, None),
            make("g", "t", 1, Some("r")),
            make("gt", "", 1, None),
        ] {
            assert_ne!(base, other);
        }
    }
}
