//! The server's sessions and events behind the engine's ports.

use std::collections::{BTreeMap, VecDeque};

use async_trait::async_trait;
use goal_core::goal::{MessageId, SessionId};
use goal_core::message::Message;
use goal_core::time::Wall;
use opencode_client::{Client, Event, EventStream, LostReason, NewSession, Status, StreamItem};

use crate::from_wire::{self, call_error};
use crate::ports::{
    CallError, Catalogue, CommandOut, CommandRead, Events, OpenRequest, Page, Presence, PromptOut,
    ServerEvent, SessionRead, Sessions,
};
use crate::to_wire;

/// Sessions whose second word about becoming idle is awaited. It follows within microseconds, so
/// more than a few never wait; a forgotten one costs a second event that changes nothing.
const IDLE_PAIRS_MAX: usize = 64;

/// An OpenCode server. Every call has the deadline of its client.
#[derive(Clone, Debug)]
pub struct OpenCode {
    client: Client,
}

impl OpenCode {
    /// The server that `client` talks to.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl Sessions for OpenCode {
    async fn session(
        &self,
        id: &SessionId,
        directory: Option<&str>,
    ) -> Result<SessionRead, CallError> {
        let read = self.client.session(id.as_str(), directory).await;
        read.map(from_wire::session).map_err(|e| call_error(&e))
    }

    async fn write_metadata(
        &self,
        id: &SessionId,
        directory: &str,
        metadata: &str,
    ) -> Result<SessionRead, CallError> {
        let metadata = to_wire::metadata(metadata)?;
        let written = self
            .client
            .patch_metadata(id.as_str(), Some(directory), &metadata)
            .await;
        written.map(from_wire::session).map_err(|e| call_error(&e))
    }

    async fn statuses(&self, directory: &str) -> Result<BTreeMap<SessionId, Presence>, CallError> {
        let read = self.client.status(Some(directory)).await;
        read.map(from_wire::statuses).map_err(|e| call_error(&e))
    }

    async fn children(
        &self,
        id: &SessionId,
        directory: &str,
    ) -> Result<Vec<SessionRead>, CallError> {
        let read = self.client.children(id.as_str(), Some(directory)).await;
        let children = read.map_err(|e| call_error(&e))?;
        Ok(children.into_iter().map(from_wire::session).collect())
    }

    async fn requests(&self, directory: &str) -> Result<Vec<OpenRequest>, CallError> {
        let permissions = self.client.permissions(Some(directory)).await;
        let permissions = permissions.map_err(|e| call_error(&e))?;
        let questions = self.client.questions(Some(directory)).await;
        let questions = questions.map_err(|e| call_error(&e))?;
        let permissions = permissions.into_iter().map(from_wire::permission);
        let questions = questions.into_iter().map(from_wire::question);
        Ok(permissions.chain(questions).collect())
    }

    async fn messages(
        &self,
        id: &SessionId,
        directory: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Page<Message>, CallError> {
        let read = self
            .client
            .messages(id.as_str(), Some(directory), limit, before)
            .await;
        read.map(from_wire::messages).map_err(|e| call_error(&e))
    }

    async fn message_exists(
        &self,
        id: &SessionId,
        directory: &str,
        message: &MessageId,
    ) -> Result<bool, CallError> {
        let read = self
            .client
            .message(id.as_str(), message.as_str(), Some(directory))
            .await;
        read.map(|found| found.is_some())
            .map_err(|e| call_error(&e))
    }

    async fn prompt(
        &self,
        id: &SessionId,
        directory: &str,
        prompt: &PromptOut,
    ) -> Result<(), CallError> {
        let prompt = to_wire::prompt(prompt);
        self.client
            .prompt_async(id.as_str(), Some(directory), &prompt)
            .await
            .map_err(|e| call_error(&e))
    }

    async fn commands(&self, directory: &str) -> Result<Vec<CommandRead>, CallError> {
        let read = self.client.commands(Some(directory)).await;
        let commands = read.map_err(|e| call_error(&e))?;
        Ok(commands.into_iter().map(from_wire::command).collect())
    }

    async fn command(
        &self,
        id: &SessionId,
        directory: &str,
        command: &CommandOut,
    ) -> Result<(), CallError> {
        let call = to_wire::command(command);
        let answer = self
            .client
            .command(id.as_str(), Some(directory), &call)
            .await;
        answer.map(drop).map_err(|e| call_error(&e))
    }

    async fn create(&self, directory: &str, title: Option<&str>) -> Result<SessionRead, CallError> {
        let new = NewSession {
            title: title.map(str::to_owned),
            ..NewSession::default()
        };
        let made = self.client.create_session(Some(directory), &new).await;
        made.map(from_wire::session).map_err(|e| call_error(&e))
    }

    async fn fork(
        &self,
        id: &SessionId,
        directory: &str,
        before: Option<&MessageId>,
    ) -> Result<SessionRead, CallError> {
        let before = before.map(MessageId::as_str);
        let made = self.client.fork(id.as_str(), Some(directory), before).await;
        made.map(from_wire::session).map_err(|e| call_error(&e))
    }

    async fn catalogue(&self, directory: &str) -> Catalogue {
        let (agents, providers) = tokio::join!(
            self.client.agents(Some(directory)),
            self.client.providers(Some(directory)),
        );
        from_wire::catalogue(agents.unwrap_or_default(), providers.unwrap_or_default())
    }

    async fn abort(&self, id: &SessionId, directory: &str) -> Result<(), CallError> {
        self.client
            .abort(id.as_str(), Some(directory))
            .await
            .map_err(|e| call_error(&e))
    }

    async fn list(&self, cursor: Option<&str>, limit: u32) -> Result<Page<SessionRead>, CallError> {
        let read = self
            .client
            .everywhere(cursor, limit, /*archived*/ true)
            .await;
        read.map(from_wire::sessions).map_err(|e| call_error(&e))
    }

    async fn archive(&self, id: &SessionId, directory: &str, at: Wall) -> Result<(), CallError> {
        let archived = self.client.archive(id.as_str(), Some(directory), at.0);
        archived.await.map_err(|e| call_error(&e))
    }

    async fn delete_audit(&self, id: &SessionId, directory: &str) -> Result<(), CallError> {
        self.client
            .delete_session(id.as_str(), Some(directory))
            .await
            .map_err(|e| call_error(&e))
    }

    fn is_local(&self) -> bool {
        self.client.target().is_loopback()
    }
}

/// The events of an OpenCode server.
#[derive(Debug)]
pub struct ServerEvents {
    stream: EventStream,
    pairs: IdlePairs,
}

impl ServerEvents {
    /// The events of `stream`.
    #[must_use]
    pub fn new(stream: EventStream) -> Self {
        Self {
            stream,
            pairs: IdlePairs::default(),
        }
    }
}

#[async_trait]
impl Events for ServerEvents {
    async fn next(&mut self) -> ServerEvent {
        loop {
            let item = self.stream.next().await;
            if let Some(event) = translate(item, &mut self.pairs) {
                return event;
            }
        }
    }

    fn reconnect(&mut self) {
        self.stream.kick().now();
    }
}

/// What an item of the stream tells the engine; `None`: nothing.
fn translate(item: StreamItem, pairs: &mut IdlePairs) -> Option<ServerEvent> {
    match item {
        StreamItem::Connected => {
            *pairs = IdlePairs::default();
            Some(ServerEvent::Connected)
        }
        StreamItem::Lost { reason, retry_in } => Some(ServerEvent::Lost {
            reason: reason.to_string(),
            unauthorized: reason == LostReason::Unauthorized,
            retry_in,
        }),
        // Events so long are pieces of a tool's output, which nobody here reads; whatever else it
        // was, the longest wait between two looks bounds what is missed.
        StreamItem::Skipped { bytes } => {
            tracing::debug!(bytes, "an overlong event was skipped");
            None
        }
        StreamItem::Event(envelope) => {
            if pairs.is_repetition(&envelope.event) {
                return None;
            }
            from_wire::event(envelope.event)
        }
    }
}

/// OpenCode says twice that a session became idle: as a status, and right after it by itself.
#[derive(Debug, Default)]
struct IdlePairs {
    /// The sessions of which the first word came and the second did not yet, oldest first.
    open: VecDeque<String>,
}

impl IdlePairs {
    /// Whether `event` is the second word.
    fn is_repetition(&mut self, event: &Event) -> bool {
        if let Event::SessionStatus { id, status } = event {
            self.open.retain(|open| open != id);
            if *status == Status::Idle {
                self.open.push_back(id.clone());
            }
            if self.open.len() > IDLE_PAIRS_MAX {
                self.open.pop_front();
            }
        }
        let Event::SessionIdle { id } = event else {
            return false;
        };
        let before = self.open.len();
        self.open.retain(|open| open != id);
        self.open.len() < before
    }
}

#[cfg(test)]
mod tests;
