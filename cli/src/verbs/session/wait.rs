//! `--wait`: until the goal has ended, or the turn. Nothing is driven here.

use std::time::Duration;

use goal_core::goal::{MessageId, SessionId};
use goal_core::limits::Limits;
use goal_engine::command::{self, Sent, Turn};
use goal_engine::error::{Code, Error};
use goal_engine::host::CommandConnection;
use goal_engine::ports::{Events, Ports, ServerEvent};
use goal_engine::server::ServerEvents;
use goal_engine::view::GoalView;
use opencode_client::EventOptions;

use crate::args::{Connection, TIMEOUT_SECONDS, Until, WaitFlags};
use crate::connect;
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;
use crate::verbs::watch;

/// A look without an event, in case one was missed. The events are what is relied on.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// What came of it.
pub(super) struct Waited {
    pub(super) exit: Exit,
    /// The goal as it then is.
    pub(super) goal: Option<GoalView>,
    /// What the agent said last.
    pub(super) said: Option<String>,
}

/// Waits for what was sent.
pub(super) async fn wait(
    sent: &Sent,
    message: &MessageId,
    flags: &WaitFlags,
    connected: CommandConnection,
    connection: &Connection,
    output: &Output,
) -> Result<Waited, Stop> {
    let ports = connected.ports.clone();
    let client = connect::client(connection, &Limits::DEFAULT)?;
    let mut events = ServerEvents::new(client.events(EventOptions::DEFAULT));
    let seconds = flags.timeout.unwrap_or(TIMEOUT_SECONDS);
    let session = sent.session.facts.id.clone();
    let for_the_goal = sent.goal.is_some() && flags.until != Some(Until::Idle);
    let waiting = async {
        if for_the_goal {
            let shows = !(flags.quiet || output.is_json());
            return watch::follow(session, connected, &mut events, output, shows).await;
        }
        until_idle(&ports, sent, message, &mut events).await
    };
    let time = Duration::from_secs(seconds.into());
    let exit = match tokio::time::timeout(time, waiting).await {
        Ok(exit) => exit?,
        Err(_) => Exit::Timeout,
    };
    let goal = match &sent.goal {
        Some(_) => command::show(&ports, &sent.session.facts.id).await.ok(),
        None => None,
    };
    Ok(Waited {
        exit,
        goal,
        said: said(&ports, sent, message).await,
    })
}

/// What the agent said last; where that cannot be read, nothing.
async fn said(ports: &Ports, sent: &Sent, message: &MessageId) -> Option<String> {
    let turn = command::turn(ports, &sent.session, message, /*began*/ true);
    match turn.await {
        Ok(Turn::Rests { said }) => said,
        Ok(Turn::Runs) | Err(_) => None,
    }
}

async fn until_idle(
    ports: &Ports,
    sent: &Sent,
    message: &MessageId,
    events: &mut ServerEvents,
) -> Result<Exit, Stop> {
    let session = &sent.session.facts.id;
    let mut began = false;
    loop {
        match command::turn(ports, &sent.session, message, began).await {
            Ok(Turn::Rests { .. }) => return Ok(Exit::Fine),
            Ok(Turn::Runs) => {}
            Err(error) if error.code() == Code::Unreachable => {}
            Err(error) => return Err(error.into()),
        }
        let news = next_news(session, &mut began, events);
        if let Ok(news) = tokio::time::timeout(LOOK_AGAIN, news).await {
            news?;
        }
    }
}

/// The next event after which a look is worth it.
async fn next_news(
    session: &SessionId,
    began: &mut bool,
    events: &mut ServerEvents,
) -> Result<(), Failure> {
    loop {
        match events.next().await {
            ServerEvent::Connected => return Ok(()),
            ServerEvent::Idle(id) if id == *session => return Ok(()),
            ServerEvent::Busy(id, _) if id == *session => *began = true,
            ServerEvent::Deleted(id) if id == *session => {
                let text = say!("error.session.deleted", session = session);
                return Err(Error::new(Code::UnknownSession, text).into());
            }
            ServerEvent::Lost {
                unauthorized: true,
                reason,
                ..
            } => return Err(Failure::of(Code::Unauthorized, reason)),
            ServerEvent::Lost { .. }
            | ServerEvent::Session(_)
            | ServerEvent::Deleted(_)
            | ServerEvent::Idle(_)
            | ServerEvent::Busy(..)
            | ServerEvent::Error { .. }
            | ServerEvent::Message { .. }
            | ServerEvent::Request { .. }
            | ServerEvent::Disposed { .. } => {}
        }
    }
}
