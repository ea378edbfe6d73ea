//! What can be read of sessions: which there are, how one stands, what was said in it, and whether
//! a message that was sent there has had its turn.

use goal_core::goal::{MessageId, SessionId};
use goal_core::message::Message;
use goal_core::timeline::Timeline;

use super::{call_error, look, own_goal, read_session};
use crate::error::Error;
use crate::listing;
use crate::ports::{OpenRequest, Ports, Presence, SessionRead};
use crate::view::GoalView;

/// How a session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The session.
    pub session: SessionRead,
    /// What it does; `None`: it rests.
    pub presence: Option<Presence>,
    /// What it waits for somebody to answer.
    pub requests: Vec<OpenRequest>,
    /// Its goal.
    pub goal: Option<GoalView>,
}

/// Whether the turn that a message began has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is still to come, or runs.
    Runs,
    /// The session rests.
    Rests {
        /// What the agent said last, in words.
        said: Option<String>,
    },
}

/// The sessions of all folders or of one, the most recently changed first: no sub-agents, no audits
/// and no archived ones.
///
/// # Errors
/// The codes of a failed call.
pub async fn sessions(ports: &Ports, directory: Option<&str>) -> Result<Vec<SessionRead>, Error> {
    let listing = listing::read(ports.sessions.as_ref()).await;
    if let Some(error) = listing.failed {
        return Err(call_error(error));
    }
    let mut reads = listing.reads;
    reads.retain(|read| {
        let shown = read.facts.parent.is_none() && read.audit.is_none() && !read.facts.archived;
        shown && directory.is_none_or(|named| named == read.directory)
    });
    Ok(reads)
}

/// How a session stands now.
///
/// # Errors
/// [`crate::Code::InvalidSession`], [`crate::Code::UnknownSession`], and the codes of a failed
/// call.
pub async fn standing(ports: &Ports, session: &SessionId) -> Result<Standing, Error> {
    let read = read_session(ports, session).await?;
    let goal = own_goal(ports, &read).await?;
    let (statuses, requests) = tokio::join!(
        ports.sessions.statuses(&read.directory),
        ports.sessions.requests(&read.directory),
    );
    let presence = statuses.map_err(call_error)?.get(session).copied();
    let mut requests = requests.map_err(call_error)?;
    // What a session at rest still asks is a left-over of a turn that was stopped (X15).
    requests.retain(|open| open.session == *session && presence.is_some());
    Ok(Standing {
        goal: goal.map(|goal| look::view_of(&read, goal)),
        session: read,
        presence,
        requests,
    })
}

/// The newest messages of a session, at most `limit` of them, oldest first.
///
/// # Errors
/// As [`standing`].
pub async fn messages(
    ports: &Ports,
    session: &SessionId,
    limit: u32,
) -> Result<Vec<Message>, Error> {
    let read = read_session(ports, session).await?;
    let page = ports
        .sessions
        .messages(session, &read.directory, None, limit)
        .await
        .map_err(call_error)?;
    let mut messages = page.items;
    messages.sort_by_key(|message| message.created);
    Ok(messages)
}

/// Whether the turn that `message` began has ended. A session that rests before it began to work
/// has not answered yet (A7): an answer has to be there, or somebody saw the turn begin.
///
/// # Errors
/// The codes of a failed call.
pub async fn turn(
    ports: &Ports,
    read: &SessionRead,
    message: &MessageId,
    began: bool,
) -> Result<Turn, Error> {
    let id = &read.facts.id;
    // The status first: a turn that ends in between has its answer by then.
    let statuses = ports.sessions.statuses(&read.directory).await;
    if statuses.map_err(call_error)?.contains_key(id) {
        return Ok(Turn::Runs);
    }
    let limit = ports.limits.page_messages;
    let page = ports
        .sessions
        .messages(id, &read.directory, None, limit)
        .await
        .map_err(call_error)?;
    let timeline = Timeline::new(page.items, None);
    let messages = timeline.messages();
    let position = messages.iter().position(|one| one.id == *message);
    let behind = messages.get(position.map_or(0, |at| at + 1)..);
    let answers = behind.unwrap_or_default();
    let ended = |one: &&Message| {
        let step = one.step();
        step.is_some_and(|step| step.completed.is_some() || step.error.is_some())
    };
    if !began && !answers.iter().any(|one| ended(&one)) {
        return Ok(Turn::Runs);
    }
    let said = answers
        .iter()
        .rev()
        .find(|one| ended(one) && one.has_text());
    Ok(Turn::Rests {
        said: said.map(|one| one.texts().collect::<Vec<_>>().join("\n")),
    })
}
