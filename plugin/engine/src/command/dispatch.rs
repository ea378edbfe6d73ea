//! How a text goes to its session, as a prompt or as the slash command that it is, and whether it
//! arrived there.

use std::time::Duration;

use goal_core::goal::MessageId;
use goal_core::objective;
use goal_core::slash::{self, Invocation};

use super::call_error;
use crate::error::Error;
use crate::ports::{
    Address, Attachment, CallError, CallErrorKind, CommandOut, CommandRead, Ports, PromptOut,
    SessionRead,
};

/// How often a sent message is looked for within the delivery window.
const DELIVERY_LOOKS: u32 = 20;

/// What a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A prompt.
    Prompt,
    /// A slash command that the server knows.
    Command(Known),
}

/// A slash command with what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    command: CommandRead,
    arguments: String,
}

impl Way {
    /// A text with a slash is a prompt only if the server's list was read and lacks it (A3).
    pub(super) async fn of(ports: &Ports, directory: &str, text: &str) -> Result<Self, Error> {
        let Some(Invocation { name, arguments }) = Invocation::parse(text) else {
            return Ok(Self::Prompt);
        };
        let commands = ports.sessions.commands(directory).await;
        let mut commands = commands.map_err(call_error)?.into_iter();
        Ok(match commands.find(|command| command.name == name) {
            Some(command) => Self::Command(Known {
                command,
                arguments: arguments.to_owned(),
            }),
            None => Self::Prompt,
        })
    }

    /// The same for a text that becomes a goal: a command whose text is not known says nothing that
    /// could be judged, so the invocation is sent as it was typed (A3).
    pub(super) fn for_a_goal(self) -> Self {
        match self {
            Self::Command(known) if known.template().is_some() => Self::Command(known),
            Self::Prompt | Self::Command(_) => Self::Prompt,
        }
    }

    /// The objective of a goal that begins with `text` (§5.8).
    pub(super) fn objective(&self, text: &str) -> String {
        match self {
            Self::Prompt => text.to_owned(),
            Self::Command(known) => slash::objective_for(text, known.template()),
        }
    }

    /// The command's name.
    pub(super) fn command(&self) -> Option<&str> {
        match self {
            Self::Prompt => None,
            Self::Command(known) => Some(&known.command.name),
        }
    }

    /// Whom it addresses in the end: what a command names itself goes before every choice, and a
    /// variant stays with its model.
    pub(super) fn address(&self, to: Address) -> Address {
        let Self::Command(Known { command, .. }) = self else {
            return to;
        };
        let agent = command.agent.clone().or(to.agent);
        match &command.model {
            Some(model) => Address {
                model: Some(model.clone()),
                agent,
                variant: None,
            },
            None => Address { agent, ..to },
        }
    }
}

impl Known {
    fn template(&self) -> Option<&str> {
        let template = self.command.template.as_deref()?;
        objective::validate(template).ok().map(|_| template)
    }
}

/// A message about to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outgoing {
    pub(super) message: MessageId,
    pub(super) to: Address,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
    /// For a prompt only: a command has no room for it (A3).
    pub(super) reminder: Option<String>,
    pub(super) way: Way,
}

/// Sends a message and makes sure that it arrived.
///
/// # Errors
/// Why it did not, for people.
pub(super) async fn deliver(
    ports: &Ports,
    read: &SessionRead,
    out: Outgoing,
) -> Result<(), String> {
    let failed = match out.way {
        Way::Prompt => {
            let out = PromptOut {
                part: Some(out.message.as_str().replacen("msg_", "prt_", 1)),
                message: out.message,
                to: out.to,
                text: out.text,
                attachments: out.attachments,
                reminder: out.reminder,
            };
            prompt(ports, read, &out).await
        }
        Way::Command(Known { command, arguments }) => {
            let out = CommandOut {
                message: out.message,
                name: command.name,
                arguments,
                to: out.to,
                attachments: out.attachments,
            };
            run(ports, read, &out).await
        }
    };
    failed.map_err(|reason| match reason.is_empty() {
        true => "The server did not store it.".to_owned(),
        false => reason,
    })
}

async fn prompt(ports: &Ports, read: &SessionRead, out: &PromptOut) -> Result<(), String> {
    let id = &read.facts.id;
    let mut reason = String::new();
    for _ in 0..2 {
        match ports.sessions.prompt(id, &read.directory, out).await {
            Ok(()) => {}
            Err(error) => {
                reason = error.message;
                match error.kind {
                    CallErrorKind::Refused | CallErrorKind::Gone => break,
                    CallErrorKind::Unauthorized
                    | CallErrorKind::NotOpenCode
                    | CallErrorKind::NotSent
                    | CallErrorKind::Unknown => {}
                }
            }
        }
        if arrived(ports, read, &out.message).await {
            return Ok(());
        }
    }
    Err(reason)
}

/// Runs a command. Its answer comes when the turn has ended, so what counts is its message; the
/// text is added once more by each repetition, so only what was never sent is sent again (X7).
async fn run(ports: &Ports, read: &SessionRead, out: &CommandOut) -> Result<(), String> {
    let mut reason = String::new();
    for _ in 0..2 {
        let calling = ports.sessions.command(&read.facts.id, &read.directory, out);
        let answer = tokio::select! {
            answer = calling => answer,
            () = is_stored(ports, read, &out.message) => return Ok(()),
            () = tokio::time::sleep(ports.limits.first_message_wait) => return Err(reason),
        };
        let Err(CallError { kind, message }) = answer else {
            return Ok(());
        };
        reason = message;
        match kind {
            CallErrorKind::NotSent => {}
            CallErrorKind::Unknown if arrived(ports, read, &out.message).await => return Ok(()),
            CallErrorKind::Unknown
            | CallErrorKind::Refused
            | CallErrorKind::Gone
            | CallErrorKind::Unauthorized
            | CallErrorKind::NotOpenCode => break,
        }
    }
    Err(reason)
}

/// Comes back once a message is stored.
async fn is_stored(ports: &Ports, read: &SessionRead, message: &MessageId) {
    let (id, directory) = (&read.facts.id, &read.directory);
    let exists = async || ports.sessions.message_exists(id, directory, message).await;
    while exists().await != Ok(true) {
        tokio::time::sleep(look_pause(ports)).await;
    }
}

/// A lookup that fails counts as arrived: the goal waits for its first message either way (A5).
async fn arrived(ports: &Ports, read: &SessionRead, message: &MessageId) -> bool {
    for _ in 0..DELIVERY_LOOKS {
        match ports
            .sessions
            .message_exists(&read.facts.id, &read.directory, message)
            .await
        {
            Ok(true) | Err(_) => return true,
            Ok(false) => tokio::time::sleep(look_pause(ports)).await,
        }
    }
    false
}

fn look_pause(ports: &Ports) -> Duration {
    ports.limits.delivery_window / DELIVERY_LOOKS
}
