//! Sessions that are made, written to or copied, with a goal or without: whatever can be refused is
//! refused before anything is made (A1), and what a failure leaves behind is named (A6).

use goal_core::continuation;
use goal_core::fields;
use goal_core::goal::{Goal, MessageId, SessionId};

use super::choices::Choices;
use super::dispatch::{self, Outgoing, Way};
use super::start::{Scene, StartRequest, Started, resolve_auditor, start};
use super::{call_error, check_budget, read_session};
use crate::error::{Code, Error};
use crate::ports::{Ports, SessionRead};
use crate::stored::{Removal, goal_of};

/// A message for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A prompt, or a slash command of the server with what stands behind it.
    pub text: String,
    /// Whom it addresses, and what goes along.
    pub choices: Choices,
    /// Begin a goal with it.
    pub goal: Option<GoalWish>,
}

/// A goal that a message begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalWish {
    /// Tokens it may use, if limited.
    pub token_budget: Option<u64>,
    /// Take the place of a goal that is not complete.
    pub replace: bool,
}

/// A session to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateRequest {
    /// The folder on the server, as an absolute path.
    pub directory: String,
    /// Its title; the server finds one otherwise.
    pub title: Option<String>,
    /// What is said in it first.
    pub note: Option<Note>,
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendRequest {
    /// The session.
    pub session: SessionId,
    /// The folder that it must belong to, if one is named.
    pub directory: Option<String>,
    /// What is said.
    pub note: Note,
}

/// A session to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkRequest {
    /// The session that is copied.
    pub session: SessionId,
    /// The folder that it must belong to, if one is named.
    pub directory: Option<String>,
    /// The message that the copy ends before; `None` copies everything.
    pub before: Option<MessageId>,
    /// What is said in the copy.
    pub note: Note,
}

/// A carried-out request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The session: the one that was made, or written to.
    pub session: SessionRead,
    /// The message that arrived there.
    pub message: Option<MessageId>,
    /// The slash command that was run.
    pub command: Option<String>,
    /// The goal that was started.
    pub goal: Option<Started>,
}

/// A request that was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// Why.
    pub error: Error,
    /// What is there all the same; `None`: nothing was done.
    pub remains: Option<Remains>,
}

/// What a failure left behind (A6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// What it is.
    pub what: Left,
    /// The session.
    pub session: SessionId,
    /// Its folder.
    pub directory: String,
}

/// What can be left behind; a new session counts before the goal in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A session that was made.
    SessionCreated,
    /// A copy.
    SessionForked,
    /// A paused goal in a session that was there before.
    GoalPaused,
}

impl Left {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::SessionCreated, Self::SessionForked, Self::GoalPaused];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionCreated => "sessionCreated",
            Self::SessionForked => "sessionForked",
            Self::GoalPaused => "goalPaused",
        }
    }
}

impl From<Error> for Unsent {
    /// An error before anything was done.
    fn from(error: Error) -> Self {
        Self {
            error,
            remains: None,
        }
    }
}

impl Unsent {
    fn leaving(error: Error, what: Left, read: &SessionRead) -> Self {
        Self {
            error,
            remains: Some(Remains {
                what,
                session: read.facts.id.clone(),
                directory: read.directory.clone(),
            }),
        }
    }
}

/// Makes a session, and says in it what shall be said.
///
/// # Errors
/// [`Code::InvalidPrompt`] for a folder, title, text, agent, model or variant that cannot be, those
/// of [`start`] with a goal, [`Code::NotDelivered`], and the codes of a failed call.
pub async fn create(ports: &Ports, request: CreateRequest) -> Result<Sent, Unsent> {
    let directory = request.directory.as_str();
    fields::folder("dir", directory).map_err(Error::from)?;
    let title = request.title.as_deref();
    title
        .map_or(Ok(()), |title| fields::title("title", title))
        .map_err(Error::from)?;
    if let Some(note) = &request.note {
        check(ports, directory, note).await?;
        if note.goal.is_some() {
            // Nobody has spoken yet, so it is known already who could audit.
            let voice = note.choices.to().voice();
            resolve_auditor(ports, directory, voice.as_ref()).await?;
        }
    }
    let made = ports.sessions.create(directory, title).await;
    let read = made.map_err(call_error)?;
    let Some(note) = request.note else {
        return Ok(Sent {
            session: read,
            message: None,
            command: None,
            goal: None,
        });
    };
    let said = say(ports, read.clone(), note).await;
    said.map_err(|error| Unsent::leaving(error, Left::SessionCreated, &read))
}

/// Says something in a session.
///
/// # Errors
/// As [`create`], [`Code::UnknownSession`], and [`Code::UnsuitableSession`] for an audit, or for a
/// session of another folder than the one that was named.
pub async fn send(ports: &Ports, request: SendRequest) -> Result<Sent, Unsent> {
    let read = read_session(ports, &request.session).await?;
    check_session(&read, request.directory.as_deref())?;
    check(ports, &read.directory, &request.note).await?;
    let with_goal = request.note.goal.is_some();
    let said = say(ports, read.clone(), request.note).await;
    said.map_err(|error| {
        if with_goal && error.code() == Code::NotDelivered {
            return Unsent::leaving(error, Left::GoalPaused, &read);
        }
        error.into()
    })
}

/// Copies a session and says something in the copy, which never carries the goal of its source.
///
/// # Errors
/// As [`send`], and [`Code::InvalidPrompt`] for a message that the session does not have.
pub async fn fork(ports: &Ports, request: ForkRequest) -> Result<Sent, Unsent> {
    let read = read_session(ports, &request.session).await?;
    check_session(&read, request.directory.as_deref())?;
    let before = request.before.as_ref();
    if let Some(before) = before {
        check_message(ports, &read, before).await?;
    }
    check(ports, &read.directory, &request.note).await?;
    let copy = ports.sessions.fork(&read.facts.id, &read.directory, before);
    let copy = copy.await.map_err(call_error)?;
    without_goal(ports, &copy).await;
    let said = say(ports, copy.clone(), request.note).await;
    said.map_err(|error| Unsent::leaving(error, Left::SessionForked, &copy))
}

/// What can be known to be wrong with a message before anything is done (A1).
async fn check(ports: &Ports, directory: &str, note: &Note) -> Result<(), Error> {
    fields::prompt("prompt", &note.text)?;
    check_budget(note.goal.as_ref().and_then(|wish| wish.token_budget))?;
    let catalogue = ports.sessions.catalogue(directory).await;
    note.choices.check_known(&catalogue)
}

fn check_session(read: &SessionRead, directory: Option<&str>) -> Result<(), Error> {
    let id = &read.facts.id;
    let text = if read.audit.is_some() {
        format!("Session {id} is an audit: nothing is said there.")
    } else if directory.is_some_and(|named| named != read.directory) {
        format!(
            "Session {id} belongs to the folder {}, not to the one that was named.",
            read.directory
        )
    } else {
        return Ok(());
    };
    Err(Error::new(Code::UnsuitableSession, text))
}

/// The server would copy everything if it does not know the message.
async fn check_message(ports: &Ports, read: &SessionRead, id: &MessageId) -> Result<(), Error> {
    fields::message("message", id.as_str())?;
    let exists = ports
        .sessions
        .message_exists(&read.facts.id, &read.directory, id)
        .await;
    if exists.map_err(call_error)? {
        return Ok(());
    }
    let text = format!("`message` names no message of session {}.", read.facts.id);
    Err(Error::new(Code::InvalidPrompt, text))
}

/// A goal that came along is not pursued (X11); taken out, nobody takes it for one of the copy. If
/// that fails, it stays what it is.
async fn without_goal(ports: &Ports, copy: &SessionRead) {
    let Some(goal) = goal_of(copy, ports) else {
        return;
    };
    let same = |fresh: &Goal| fresh.id == goal.id;
    let removed = match Removal::prepare(ports, copy, same).await {
        Ok(removal) => removal.write(ports).await,
        Err(error) => Err(error),
    };
    if let Err(error) = removed {
        tracing::warn!(
            ?error,
            "the goal that came along with a fork stays there, inert"
        );
    }
}

async fn say(ports: &Ports, read: SessionRead, note: Note) -> Result<Sent, Error> {
    let Some(wish) = note.goal else {
        return plainly(ports, read, &note.text, &note.choices).await;
    };
    let request = StartRequest {
        session: read.facts.id.clone(),
        objective: note.text,
        token_budget: wish.token_budget,
        send: Some(note.choices),
        replace: wish.replace,
    };
    let started = start(ports, request).await?;
    Ok(Sent {
        session: read,
        message: started.message.clone(),
        command: started.command.clone(),
        goal: Some(started),
    })
}

/// Says something without a goal: whom it addresses, where that was not chosen, is whoever spoke
/// last (A4).
async fn plainly(
    ports: &Ports,
    read: SessionRead,
    text: &str,
    choices: &Choices,
) -> Result<Sent, Error> {
    let text = fields::prompt("prompt", text)?;
    let way = Way::of(ports, &read.directory, text).await?;
    let scene = Scene::read(ports, &read).await?;
    let message = continuation::first_message_id(scene.newest, &ports.clock.random());
    let command = way.command().map(str::to_owned);
    let out = Outgoing {
        message: message.clone(),
        to: way.address(choices.to().clone().before(scene.voice)),
        text: text.to_owned(),
        attachments: choices.attachments().to_vec(),
        reminder: None,
        way,
    };
    let delivered = dispatch::deliver(ports, &read, out).await;
    delivered.map_err(|reason| {
        let text = format!("The message was not delivered: {reason}");
        Error::new(Code::NotDelivered, text)
    })?;
    Ok(Sent {
        session: read,
        message: Some(message),
        command,
        goal: None,
    })
}
