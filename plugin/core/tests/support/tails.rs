//! A session's messages as a few words each.

use goal_core::continuation;
use goal_core::goal::{GoalId, MessageId, RevertId, SessionId};
use goal_core::message::{Author, ErrorKind, Finish, Message, Part, Step, ToolUse, TurnError};
use goal_core::tail::{Tail, TailContext};
use goal_core::time::Wall;
use goal_core::timeline::Timeline;

use super::goals::{goal, model};
use super::{number, words};

/// Messages separated by `;`, in the order the server lists them. Without `@created`, the n-th
/// message was created at n × 1000; an assistant's ends 500 later.
///
/// - `u ID …` is a prompt. `'text'` is what it says; `synthetic`, `ignored`, `mark` (a
///   compaction), `overflow` (one after an overflow), `file` and `bare` (no part at all) say what
///   it is made of instead.
/// - `c TAIL …` is the continuation of goal `g1` after the earlier message TAIL; `c TAIL/REVERT` is
///   one made while rewound.
/// - `a ID < PARENT …` is a step of the agent: `stop`, `tools`, `length` or `other` is its finish
///   (without one it ends blank); `open` never ended; `summary`; `'text'`; `120t` is its token
///   snapshot; `err=Name` or `err=Name:text`; `tool=NAME` with `=CODE` for an exit code;
///   `refused=NAME`; `shell` drops the step's beginning; `by=provider/model`, `agent=`, `variant=`
///   and `nobody` name the voice; `ends@N`.
pub(crate) fn messages(text: &str) -> Vec<Message> {
    let mut messages = Vec::new();
    for line in text
        .split(';')
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let words = words(line);
        let mut created = Wall(1_000 * (messages.len() as u64 + 1));
        for word in &words {
            if let Some(at) = word.strip_prefix('@') {
                created = Wall(number(at));
            }
        }
        let message = match words[0].as_str() {
            "u" => prompt(MessageId::new(&words[1]), created, &words[2..]),
            "c" => {
                let id = continuation_of(&messages, &words[1]);
                prompt(id, created, &words[2..])
            }
            "a" => answer(&words[1..], created, line),
            other => panic!("{other:?} is neither u, c nor a"),
        };
        messages.push(message);
    }
    messages
}

/// The messages in order, with nothing rewound.
pub(crate) fn timeline(text: &str) -> Timeline {
    Timeline::new(messages(text), None)
}

/// How a session with these messages came to rest, for goal `g1`.
pub(crate) fn tail(text: &str) -> Tail {
    let goal = goal("");
    let context = TailContext {
        goal: &goal,
        revert: None,
        overflow_seen: false,
    };
    Tail::read(&timeline(text), context)
}

/// The id of goal `g1`'s continuation after the message `tail` (or `tail/revert`).
pub(crate) fn continuation_of(messages: &[Message], tail: &str) -> MessageId {
    let (tail, revert) = tail.split_once('/').unwrap_or((tail, ""));
    let message = messages
        .iter()
        .find(|message| message.id.as_str() == tail)
        .unwrap_or_else(|| panic!("no message {tail:?} before its continuation"));
    let at = message
        .step()
        .and_then(|step| step.completed)
        .unwrap_or(message.created);
    let revert = Some(RevertId::new(revert)).filter(|_| !revert.is_empty());
    continuation::ids(&GoalId::new("g1"), &message.id, at, revert.as_ref()).message
}

fn prompt(id: MessageId, created: Wall, words: &[String]) -> Message {
    let text = |text: &str, unseen| Part::Text {
        text: text.to_owned(),
        unseen,
    };
    let mut parts = Vec::new();
    let mut bare = false;
    for word in words {
        match word.as_str() {
            "synthetic" | "ignored" => parts.push(text("unseen", true)),
            "mark" => parts.push(Part::Compaction { overflow: false }),
            "overflow" => parts.push(Part::Compaction { overflow: true }),
            "file" => parts.push(Part::Other { prompt: true }),
            "bare" => bare = true,
            other => match other.strip_prefix('\'') {
                Some(said) => parts.push(text(said, false)),
                None => assert!(other.starts_with('@'), "no prompt has {other:?}"),
            },
        }
    }
    if parts.is_empty() && !bare {
        parts.push(text("go", false));
    }
    Message {
        id,
        created,
        author: Author::User,
        parts,
    }
}

fn answer(words: &[String], created: Wall, line: &str) -> Message {
    assert_eq!(words[1], "<", "a step answers something: {line:?}");
    let mut step = Step {
        parent: Some(MessageId::new(&words[2])),
        completed: Some(Wall(created.0 + 500)),
        model: Some(model("fake/big")),
        agent: Some("build".to_owned()),
        ..Step::default()
    };
    let mut parts = vec![Part::StepStart];
    for word in &words[3..] {
        if let Some(said) = word.strip_prefix('\'') {
            parts.push(Part::Text {
                text: said.to_owned(),
                unseen: false,
            });
        } else if word == "shell" {
            parts.retain(|part| *part != Part::StepStart);
        } else if !step_word(&mut step, word) && !word.starts_with('@') {
            parts.push(tool(word).unwrap_or_else(|| panic!("no step has {word:?}")));
        }
    }
    Message {
        id: MessageId::new(&words[0]),
        created,
        author: Author::Assistant(Box::new(step)),
        parts,
    }
}

fn step_word(step: &mut Step, word: &str) -> bool {
    match word {
        "stop" => step.finish = Some(Finish::Stop),
        "tools" => step.finish = Some(Finish::ToolCalls),
        "length" => step.finish = Some(Finish::Length),
        "other" => step.finish = Some(Finish::Other),
        "open" => step.completed = None,
        "summary" => step.summary = true,
        "nobody" => step.model = None,
        _ => return step_value(step, word),
    }
    true
}

fn step_value(step: &mut Step, word: &str) -> bool {
    if let Some(snapshot) = word.strip_suffix('t')
        && snapshot.bytes().all(|digit| digit.is_ascii_digit())
    {
        step.tokens = number(snapshot);
    } else if let Some(at) = word.strip_prefix("ends@") {
        step.completed = Some(Wall(number(at)));
    } else if let Some(error) = word.strip_prefix("err=") {
        step.error = Some(turn_error(error));
    } else if let Some(by) = word.strip_prefix("by=") {
        step.model = Some(model(by));
    } else if let Some(agent) = word.strip_prefix("agent=") {
        step.agent = Some(agent.to_owned());
    } else if let Some(variant) = word.strip_prefix("variant=") {
        step.variant = Some(variant.to_owned());
    } else {
        return false;
    }
    true
}

fn turn_error(text: &str) -> TurnError {
    let (name, text) = text.split_once(':').unwrap_or((text, ""));
    TurnError {
        kind: match name {
            "MessageAbortedError" => ErrorKind::Aborted,
            "MessageOutputLengthError" => ErrorKind::OutputLength,
            "ContextOverflowError" => ErrorKind::ContextOverflow,
            _ => ErrorKind::Failure,
        },
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

fn tool(word: &str) -> Option<Part> {
    let (kind, name) = word.split_once('=')?;
    let (name, exit) = name.split_once('=').unwrap_or((name, ""));
    let declined = match kind {
        "tool" => false,
        "refused" => true,
        _ => return None,
    };
    Some(Part::Tool(ToolUse {
        tool: name.to_owned(),
        status: if declined { "error" } else { "completed" }.to_owned(),
        exit: (!exit.is_empty()).then(|| exit.parse().expect("an exit code")),
        declined,
        child: None::<SessionId>,
        ..ToolUse::default()
    }))
}
