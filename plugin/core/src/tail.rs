//! What the newest messages say about how the session came to rest.

use crate::continuation;
use crate::goal::{Goal, MessageId, RevertId};
use crate::message::{ErrorKind, Finish, Message, Part, Step, TurnError};
use crate::time::Wall;
use crate::timeline::{Timeline, Turn};

/// How a session came to rest (R29, R48, X12, X18).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TailKind {
    /// No assistant message: there is no model to go on with (R30).
    Empty,
    /// A person's prompt that nothing answers.
    UserPending,
    /// Our own continuation that nothing answers; it followed this tail.
    OursUnanswered {
        /// The tail that the continuation was made for.
        after: MessageId,
    },
    /// An assistant message that has neither ended nor failed.
    Unfinished,
    /// The run broke off between two steps: tools were asked for and no step followed (X10).
    Interrupted,
    /// Somebody stopped the turn.
    Aborted,
    /// The user refused a permission or dismissed a question.
    Declined,
    /// The turn failed.
    Failed {
        /// The error's name and text, for a reason: "name: text", "name", or empty.
        reason: String,
    },
    /// The reply was cut off at the model's output limit.
    Truncated,
    /// The context was compacted; a summary only recounts (R60).
    Compacted,
    /// It ended well, yet without a word and without a tool (X20).
    Hollow,
    /// It ended well and can be audited.
    Finished,
}

/// The tail: which message it is and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// How the session came to rest.
    pub kind: TailKind,
    /// The newest message that can be a tail; `None` in an empty session.
    pub id: Option<MessageId>,
    /// When that message ended, else when it was created.
    pub at: Wall,
    /// The newest assistant message was stopped, whatever came after it (X18).
    pub stop_behind: bool,
}

/// What classification needs besides the messages.
#[derive(Clone, Copy, Debug)]
pub struct TailContext<'a> {
    /// The goal whose continuations are recognised as ours.
    pub goal: &'a Goal,
    /// The session's revert point; part of a continuation's identity.
    pub revert: Option<&'a RevertId>,
    /// `ContextOverflowError` was seen for the newest turn: its blank end is no stop (X12).
    pub overflow_seen: bool,
}

impl Tail {
    /// The message that is the tail: the newest prompt that nothing answers, else the newest
    /// assistant message.
    #[must_use]
    pub fn newest(timeline: &Timeline) -> Option<&Message> {
        match Newest::of(timeline) {
            Newest::Prompt(prompt) => Some(prompt),
            Newest::Turn((message, _)) => Some(message),
            Newest::NoAnswerYet(prompt) => prompt,
        }
    }

    /// Classifies the newest messages.
    #[must_use]
    pub fn read(timeline: &Timeline, context: TailContext<'_>) -> Self {
        let stop_behind = timeline.newest_work().is_some_and(|turn| {
            matches!(
                end_of(timeline, turn, context),
                TailKind::Aborted | TailKind::Declined
            )
        });
        match Newest::of(timeline) {
            Newest::NoAnswerYet(prompt) => Self::of(TailKind::Empty, prompt, stop_behind),
            Newest::Prompt(prompt) => {
                let kind = match continuation::answered_tail(timeline, &prompt.id, context) {
                    Some(after) => TailKind::OursUnanswered { after },
                    None => TailKind::UserPending,
                };
                Self::of(kind, Some(prompt), stop_behind)
            }
            Newest::Turn(turn) => {
                let end = end_of(timeline, turn, context);
                let stop = (end == TailKind::Compacted)
                    .then(|| stop_before_summary(timeline, context))
                    .flatten();
                Self::of(stop.unwrap_or(end), Some(turn.0), stop_behind)
            }
        }
    }

    fn of(kind: TailKind, message: Option<&Message>, stop_behind: bool) -> Self {
        let at = message.map_or(Wall(0), end_time);
        Self {
            kind,
            id: message.map(|message| message.id.clone()),
            at,
            stop_behind,
        }
    }
}

/// What stands at the end of the messages, before it is judged.
enum Newest<'a> {
    /// No assistant message; the newest prompt, if there is one.
    NoAnswerYet(Option<&'a Message>),
    /// A prompt that nothing answers.
    Prompt(&'a Message),
    /// The newest assistant message.
    Turn(Turn<'a>),
}

impl<'a> Newest<'a> {
    fn of(timeline: &'a Timeline) -> Self {
        let Some(turn) = timeline.newest_turn() else {
            let mut messages = timeline.messages().iter().rev();
            return Self::NoAnswerYet(messages.find(|message| message.is_prompt()));
        };
        unanswered(timeline).map_or(Self::Turn(turn), Self::Prompt)
    }
}

/// When a message ended, else when it was created.
pub(crate) fn end_time(message: &Message) -> Wall {
    message
        .step()
        .and_then(|step| step.completed)
        .unwrap_or(message.created)
}

/// The newest prompt that is not a continuation of this goal, and when it was created. `None`
/// where that cannot be told: what a prompt at the very beginning of these messages follows is
/// not among them.
#[must_use]
pub fn newest_human_prompt<'a>(
    timeline: &'a Timeline,
    context: TailContext<'_>,
) -> Option<(&'a MessageId, Wall)> {
    timeline
        .messages()
        .iter()
        .rev()
        .filter(|message| message.is_prompt())
        .find(|message| continuation::answered_tail(timeline, &message.id, context).is_none())
        .filter(|message| {
            let mut before = timeline
                .messages()
                .iter()
                .take_while(|m| m.id != message.id);
            before.any(|m| m.step().is_some())
        })
        .map(|message| (&message.id, message.created))
}

/// The newest prompt, if neither it nor a newer user message is the parent of an answer (X2). A
/// summary answers nobody: compacting after a stop must not turn an unanswered prompt into work.
fn unanswered(timeline: &Timeline) -> Option<&Message> {
    let messages = timeline.messages();
    let at = messages.iter().rposition(Message::is_prompt)?;
    let newer: Vec<&MessageId> = messages[at..]
        .iter()
        .filter(|m| m.step().is_none())
        .map(|m| &m.id)
        .collect();
    let answered = timeline
        .turns_back()
        .filter(|(_, step)| !step.summary)
        .filter_map(|(_, step)| step.parent.as_ref())
        .any(|parent| newer.contains(&parent));
    if answered { None } else { messages.get(at) }
}

/// How one assistant message ended. `error` is looked at before `finish` (R48).
fn end_of(timeline: &Timeline, (message, step): Turn<'_>, context: TailContext<'_>) -> TailKind {
    if let Some(error) = &step.error {
        return match error.kind {
            ErrorKind::Aborted => TailKind::Aborted,
            ErrorKind::OutputLength => TailKind::Truncated,
            // An overflow that a compaction helps leaves no error on the message.
            ErrorKind::ContextOverflow | ErrorKind::Failure => TailKind::Failed {
                reason: failure_reason(error),
            },
        };
    }
    if step.completed.is_none() {
        return TailKind::Unfinished;
    }
    if step.summary {
        return TailKind::Compacted;
    }
    match step.finish {
        None if overflowed(timeline, message, context) => TailKind::Interrupted,
        None => TailKind::Aborted,
        Some(Finish::ToolCalls) if message.tools().any(|tool| tool.declined) => TailKind::Declined,
        Some(Finish::ToolCalls) => TailKind::Interrupted,
        Some(Finish::Length) => TailKind::Truncated,
        Some(Finish::Stop | Finish::Other) => {
            if message.has_text() || message.tools().next().is_some() {
                TailKind::Finished
            } else {
                TailKind::Hollow
            }
        }
    }
}

/// A compaction may stand before a stop; the stop still counts (X12).
fn stop_before_summary(timeline: &Timeline, context: TailContext<'_>) -> Option<TailKind> {
    let end = end_of(timeline, timeline.newest_work()?, context);
    match end {
        TailKind::Aborted | TailKind::Declined => Some(end),
        TailKind::Empty
        | TailKind::UserPending
        | TailKind::OursUnanswered { .. }
        | TailKind::Unfinished
        | TailKind::Interrupted
        | TailKind::Failed { .. }
        | TailKind::Truncated
        | TailKind::Compacted
        | TailKind::Hollow
        | TailKind::Finished => None,
    }
}

/// Whether a message without finish and error ended in a context overflow: it was seen live, or
/// the compaction that followed says so.
fn overflowed(timeline: &Timeline, message: &Message, context: TailContext<'_>) -> bool {
    let newest = timeline
        .newest_work()
        .is_some_and(|(newest, _)| newest.id == message.id);
    let marked = timeline
        .messages()
        .iter()
        .skip_while(|m| m.id != message.id)
        .find(|m| m.step().is_none())
        .is_some_and(|m| {
            m.parts
                .iter()
                .any(|part| matches!(part, Part::Compaction { overflow: true }))
        });
    marked || (newest && context.overflow_seen)
}

/// What an unnamed failure is called (R49).
pub(crate) const UNNAMED_FAILURE: &str = "assistant turn failed";

/// "name: text", whichever of the two is there (R49, X20).
fn failure_reason(error: &TurnError) -> String {
    match (error.name.trim(), error.text.trim()) {
        (name, "") => name.to_owned(),
        ("", text) => format!("{UNNAMED_FAILURE}: {text}"),
        (name, text) => format!("{name}: {text}"),
    }
}

/// Whether a completed message was cut off at the output limit (R48).
fn is_truncated(step: &Step) -> bool {
    match &step.error {
        Some(error) => error.kind == ErrorKind::OutputLength,
        None => step.finish == Some(Finish::Length),
    }
}

/// Whether the `count` newest completed turns were all cut off: summaries and stopped turns are
/// skipped, anything else breaks the row (R55-R59).
#[must_use]
pub fn truncated_in_a_row(timeline: &Timeline, count: usize) -> bool {
    let newest: Vec<bool> = timeline
        .turns_back()
        .filter(|(_, step)| step.completed.is_some() && !step.summary && !is_stopped(step))
        .take(count)
        .map(|(_, step)| is_truncated(step))
        .collect();
    count > 0 && newest.len() == count && newest.into_iter().all(|truncated| truncated)
}

/// Compactions since `floor` with neither a tool result nor a word of the agent between (X20).
#[must_use]
pub fn compactions_in_a_row(timeline: &Timeline, floor: Wall) -> u32 {
    let mut count = 0;
    for (message, step) in timeline.turns_back().take_while(|(m, _)| m.created > floor) {
        if step.summary {
            count += u32::from(step.completed.is_some());
        } else if message.has_text() || message.tools().next().is_some() {
            break;
        }
    }
    count
}

fn is_stopped(step: &Step) -> bool {
    step.error
        .as_ref()
        .is_some_and(|error| error.kind == ErrorKind::Aborted)
        || (step.error.is_none() && step.finish.is_none())
}
