//! Messages as the loop sees them: parsed once at the door, then trusted.

use crate::goal::{MessageId, ModelRef, SessionId};
use crate::time::Wall;

/// One message of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id. Order never follows from ids (R57).
    pub id: MessageId,
    /// When the server created it; the order of messages.
    pub created: Wall,
    /// Who wrote it, and what only that side has.
    pub author: Author,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// A prompt: the user's, ours, or one the server put in.
    User,
    /// One step of the agent.
    Assistant(Box<Step>),
}

/// What only an assistant message has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The user message it answers.
    pub parent: Option<MessageId>,
    /// When it ended, if it did.
    pub completed: Option<Wall>,
    /// Compaction output: not a turn of the agent.
    pub summary: bool,
    /// Why the model stopped, if it said so.
    pub finish: Option<Finish>,
    /// What went wrong, if something did.
    pub error: Option<TurnError>,
    /// The model that answered, where it is named.
    pub model: Option<ModelRef>,
    /// The agent that answered (or its mode, R76).
    pub agent: Option<String>,
    /// The variant that answered.
    pub variant: Option<String>,
    /// Snapshot of its tokens: input + cache read + output (R31).
    pub tokens: u64,
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done speaking.
    Stop,
    /// It asked for tools; at idle that means the run broke off between two steps.
    ToolCalls,
    /// It hit its output limit.
    Length,
    /// Anything else.
    Other,
}

/// The error on a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnError {
    /// Which kind of error.
    pub kind: ErrorKind,
    /// The error's name; may be blank.
    pub name: String,
    /// The provider's or server's text; may be blank.
    pub text: String,
}

/// The kinds of error that mean something of their own (R48).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// `MessageAbortedError`: somebody stopped the turn.
    Aborted,
    /// `MessageOutputLengthError`: the reply was cut off.
    OutputLength,
    /// `ContextOverflowError`. As a session's error: the server compacts and goes on. On a message:
    /// no compaction helped, the turn failed.
    ContextOverflow,
    /// Anything else: the turn failed.
    Failure,
}

/// A part of a message, as far as the loop cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text {
        /// The words.
        text: String,
        /// Put in by a program, or not sent to the model: no prompt of a person's.
        unseen: bool,
    },
    /// One use of a tool.
    Tool(ToolUse),
    /// The begin of a model step; a shell message has none.
    StepStart,
    /// The mark of a compaction.
    Compaction {
        /// It followed a context overflow reported by the provider.
        overflow: bool,
    },
    /// Any other part: a file, reasoning, a sub-task.
    Other {
        /// It belongs to a prompt (a file, a sub-task); reasoning and bookkeeping do not.
        prompt: bool,
    },
}

/// One use of a tool and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// The tool's name.
    pub tool: String,
    /// The title that the server shows for it.
    pub title: String,
    /// `pending`, `running`, `completed` or `error`.
    pub status: String,
    /// Exit code, where the tool has one.
    pub exit: Option<i64>,
    /// The user refused permission or dismissed its question.
    pub declined: bool,
    /// The sub-agent session it runs, if it does.
    pub child: Option<SessionId>,
}

impl Message {
    /// The assistant's side, if the assistant wrote it.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        match &self.author {
            Author::Assistant(step) => Some(step),
            Author::User => None,
        }
    }

    /// Whether a person's or our own prompt stands in it, so that it can be a tail (X2): a user
    /// message of which every part is synthetic, ignored or a compaction mark is none.
    #[must_use]
    pub fn is_prompt(&self) -> bool {
        match self.author {
            Author::User => self.parts.iter().any(|part| match part {
                Part::Text { unseen, .. } => !unseen,
                Part::Compaction { .. } | Part::StepStart => false,
                Part::Tool(_) => true,
                Part::Other { prompt } => *prompt,
            }),
            Author::Assistant(_) => false,
        }
    }

    /// Whether it is a shell command's output: a tool part without a model step (X2). A command
    /// run as a sub-task looks alike, but its tool is `task`: that is the agent's work.
    #[must_use]
    pub fn is_shell(&self) -> bool {
        match self.author {
            Author::Assistant(_) => {
                self.tools().next().is_some()
                    && self.tools().all(|tool| tool.tool != "task")
                    && !self
                        .parts
                        .iter()
                        .any(|part| matches!(part, Part::StepStart))
            }
            Author::User => false,
        }
    }

    /// Its uses of tools, in order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolUse> {
        self.parts.iter().filter_map(|part| match part {
            Part::Tool(tool) => Some(tool),
            Part::Text { .. } | Part::StepStart | Part::Compaction { .. } | Part::Other { .. } => {
                None
            }
        })
    }

    /// Its text parts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            Part::Tool(_) | Part::StepStart | Part::Compaction { .. } | Part::Other { .. } => None,
        })
    }

    /// Whether it says anything in words.
    #[must_use]
    pub fn has_text(&self) -> bool {
        self.texts().any(|text| !text.trim().is_empty())
    }
}
