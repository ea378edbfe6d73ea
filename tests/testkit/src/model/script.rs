//! Turns and audits written down in advance, and which step of them answers a request.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::Value;

use super::reply::{Answer, Call, Ending, Message, Refusal, Reply, TICK, Usage};
use super::request::{Kind, Question, tool_rounds};
use super::{DEFAULT_REPORT, DEFAULT_VERDICT, marker};
use crate::Error;

/// One answer of a scripted turn or audit; see [`Step::tool`], [`Step::say`] and the others.
#[derive(Debug, Clone)]
pub struct Step(Kept);

#[derive(Debug, Clone)]
enum Kept {
    /// Holds whatever step comes next.
    Gate(String),
    Answer(Slot),
}

/// An answer with what stands before it.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    /// Each must be open before the answer begins.
    pub(crate) gates: Vec<String>,
    pub(crate) reply: Reply,
    /// How often it is given before the next step's turn comes; `None`: always.
    times: Option<u32>,
}

impl Step {
    /// The model says `text` and the turn ends.
    #[must_use]
    pub fn say(text: impl Into<String>) -> Self {
        Self::message(Message {
            text: text.into(),
            ..Message::default()
        })
    }

    /// The model calls one tool; the next step follows once its result is there.
    #[must_use]
    pub fn tool(name: &str, arguments: Value) -> Self {
        Self::tools([(name, arguments)])
    }

    /// The model calls several tools in one answer; the next step follows once they have run.
    #[must_use]
    pub fn tools<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let calls = calls.into_iter().map(|(tool, arguments)| Call {
            tool: tool.to_owned(),
            arguments: arguments.to_string(),
        });
        let calls = calls.collect();
        Self::message(Message {
            calls,
            finish: "tool_calls",
            ..Message::default()
        })
    }

    /// An HTTP error with this status. OpenCode itself repeats a request after 429 and 5xx, so
    /// without [`Step::times`] it fails for good after about 70 s (before 1.18.17 never).
    #[must_use]
    pub fn error(status: u16) -> Self {
        Self::refusal(Refusal::with_status(status))
    }

    /// As [`Step::error`], with a `retry-after` header of this many seconds.
    #[must_use]
    pub fn error_retry_after(status: u16, seconds: u32) -> Self {
        let retry_after = Some(seconds.to_string());
        Self::refusal(Refusal {
            retry_after,
            ..Refusal::with_status(status)
        })
    }

    /// The provider says that the conversation does not fit its context.
    #[must_use]
    pub fn context_overflow() -> Self {
        Self::refusal(Refusal::context_overflow())
    }

    /// The output limit is reached while the model is still thinking: no text at all.
    #[must_use]
    pub fn length_no_text() -> Self {
        let reasoning = Some("thinking long about it".to_owned());
        Self::message(Message {
            reasoning,
            finish: "length",
            ..Message::default()
        })
    }

    /// The output limit is reached after `text`.
    #[must_use]
    pub fn length_with_text(text: impl Into<String>) -> Self {
        Self::message(Message {
            text: text.into(),
            finish: "length",
            ..Message::default()
        })
    }

    /// The model ends its turn without a word.
    #[must_use]
    pub fn empty() -> Self {
        Self::message(Message::default())
    }

    /// The provider's content filter ends the turn after `text`.
    #[must_use]
    pub fn content_filter(text: impl Into<String>) -> Self {
        Self::message(Message {
            text: text.into(),
            finish: "content_filter",
            ..Message::default()
        })
    }

    /// Small deltas, four a second, for `duration`; then `text`, and the turn ends.
    #[must_use]
    pub fn slow(duration: Duration, text: impl Into<String>) -> Self {
        let ticks = ticks(duration);
        Self::message(Message {
            text: text.into(),
            ticks,
            ..Message::default()
        })
    }

    /// Sends `text` and then holds the stream open until the test releases the gate.
    #[must_use]
    pub fn held(gate: &str, text: impl Into<String>) -> Self {
        let held = Some(gate.to_owned());
        Self::message(Message {
            text: text.into(),
            held,
            ..Message::default()
        })
    }

    /// The connection breaks in the middle of the answer (OpenCode repeats the request).
    #[must_use]
    pub fn broken_stream() -> Self {
        Self::message(Message {
            ending: Ending::Broken,
            ..Message::default()
        })
    }

    /// An error object comes in the middle of the answer (OpenCode repeats the request; before
    /// 1.18.14 the turn ends).
    #[must_use]
    pub fn error_in_stream() -> Self {
        Self::message(Message {
            ending: Ending::ErrorObject,
            ..Message::default()
        })
    }

    /// Holds the step after it (at the end: the default answer) until the test releases the gate
    /// of this name. A released gate stays open.
    #[must_use]
    pub fn gate(name: &str) -> Self {
        Self(Kept::Gate(name.to_owned()))
    }

    /// The model thinks aloud before it answers.
    #[must_use]
    pub fn reasoning(self, reasoning: impl Into<String>) -> Self {
        self.with_message(|message| message.reasoning = Some(reasoning.into()))
    }

    /// Reports these token numbers (600 prompt tokens of them as cached, where there are as many).
    #[must_use]
    pub fn usage(self, prompt: u64, completion: u64) -> Self {
        self.with_message(|message| message.usage = Usage { prompt, completion })
    }

    /// Gives this answer at most `times` times to the same question, then goes on with the next
    /// step: for errors and broken streams that pass.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        if let Kept::Answer(slot) = &mut self.0 {
            slot.times = Some(times);
        }
        self
    }

    fn message(message: Message) -> Self {
        Self(Kept::Answer(Slot::new(Reply::message(message))))
    }

    fn refusal(refusal: Refusal) -> Self {
        Self(Kept::Answer(Slot::new(Reply::refusal(refusal))))
    }

    /// Changes a message; gates and errors have none.
    fn with_message(mut self, change: impl FnOnce(&mut Message)) -> Self {
        if let Kept::Answer(slot) = &mut self.0
            && let Answer::Message(message) = &mut slot.reply.answer
        {
            change(message);
        }
        self
    }
}

impl Slot {
    fn new(reply: Reply) -> Self {
        Self {
            gates: Vec::new(),
            reply,
            times: None,
        }
    }

    /// Whether the step after this one can ever be reached.
    fn passes_on(&self) -> bool {
        self.times.is_some() || self.reply.calls_tools()
    }
}

/// The steps that answer one question and what follows from its tool results.
#[derive(Debug)]
pub(crate) struct Turn(Vec<Slot>);

impl Turn {
    /// Gates move to the step which they hold.
    fn new(steps: impl IntoIterator<Item = Step>, default: &str) -> Self {
        let mut slots = Vec::new();
        let mut gates = Vec::new();
        for step in steps {
            match step.0 {
                Kept::Gate(name) => gates.push(name),
                Kept::Answer(mut slot) => {
                    slot.gates.append(&mut gates);
                    slots.push(slot);
                }
            }
        }
        if !gates.is_empty() {
            slots.push(Slot {
                gates,
                ..Slot::new(says(default))
            });
        }
        Self(slots)
    }

    pub(crate) fn work(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::new(steps, DEFAULT_REPORT)
    }

    pub(crate) fn audit(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::new(steps, DEFAULT_VERDICT)
    }

    /// Holds the whole turn.
    pub(crate) fn held_by(mut self, gates: Vec<String>) -> Self {
        if let Some(first) = self.0.first_mut() {
            first.gates.splice(..0, gates);
        }
        self
    }

    /// `number` is this turn's place in the script, counted from 1, for the error's sake.
    pub(crate) fn check(&self, number: usize) -> Result<(), Error> {
        let before_last = self.0.iter().rev().skip(1).rev();
        match before_last.enumerate().find(|(_, slot)| !slot.passes_on()) {
            Some((index, _)) => Err(Error::Unreachable {
                turn: number,
                step: index + 2,
            }),
            None => Ok(()),
        }
    }

    /// The step for a request that shows the results of `rounds` answers with tool calls.
    fn step(&mut self, mut rounds: usize) -> Option<Slot> {
        for slot in &mut self.0 {
            if slot.reply.calls_tools() && rounds > 0 {
                rounds -= 1;
                continue;
            }
            match &mut slot.times {
                Some(0) => {}
                Some(left) => {
                    *left -= 1;
                    return Some(slot.clone());
                }
                None => return Some(slot.clone()),
            }
        }
        None
    }
}

/// The whole script with what was used up of it.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) turns: VecDeque<Turn>,
    pub(crate) audits: VecDeque<Turn>,
    /// The title of every session that asks for one.
    pub(crate) title: Option<String>,
    /// Turns and audits that belong to a question already asked. Not longer than the log.
    asked: BTreeMap<(u8, Question), Turn>,
    /// Errors given because of markers, by the text that held them.
    marker_errors: BTreeMap<String, u32>,
}

impl Script {
    /// The answer to a request, and the gates before it.
    pub(crate) fn answer(&mut self, kind: Kind, question: Question, body: &Value) -> Slot {
        match kind {
            Kind::Title => Slot::new(says(self.title.as_deref().unwrap_or("Fake title"))),
            Kind::Compaction => Slot::new(says("SUMMARY: goal and progress so far.")),
            Kind::Work => {
                let scripted = self.scripted(Kind::Work, question.clone(), body);
                scripted.unwrap_or_else(|| self.marked(&question.last_text, body))
            }
            // No markers: the auditor is shown the objective, whose markers are for the agent.
            Kind::Audit => {
                let scripted = self.scripted(Kind::Audit, question, body);
                scripted.unwrap_or_else(|| Slot::new(says(DEFAULT_VERDICT)))
            }
        }
    }

    /// The step of the turn bound to this question; a new question takes the next turn.
    fn scripted(&mut self, kind: Kind, question: Question, body: &Value) -> Option<Slot> {
        let queue = if kind == Kind::Audit {
            &mut self.audits
        } else {
            &mut self.turns
        };
        let rounds = tool_rounds(body);
        // Without a session two questions with the same text cannot be told apart: of audits,
        // which often repeat a text, each counts as a new one.
        if kind == Kind::Audit && question.session.is_none() {
            return queue.pop_front()?.step(rounds);
        }
        let key = (u8::from(kind == Kind::Audit), question);
        if let Some(turn) = self.asked.get_mut(&key) {
            return turn.step(rounds);
        }
        let turn = queue.pop_front()?;
        self.asked.entry(key).or_insert(turn).step(rounds)
    }

    fn marked(&mut self, last_text: &str, body: &Value) -> Slot {
        let marks = marker::marks(last_text);
        let errors = self.marker_errors.get(last_text).copied().unwrap_or(0);
        let reply = marker::reply(&marks, body, errors);
        if matches!(reply.answer, Answer::Refusal(_)) {
            self.marker_errors
                .insert(last_text.to_owned(), errors.saturating_add(1));
        }
        Slot::new(reply)
    }
}

/// Deltas in `duration`, one every [`TICK`].
pub(crate) fn ticks(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis() / TICK.as_millis()).unwrap_or(u32::MAX)
}

fn says(text: &str) -> Reply {
    Reply::message(Message {
        text: text.to_owned(),
        ..Message::default()
    })
}
