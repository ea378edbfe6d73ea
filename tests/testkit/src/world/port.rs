//! The simulated server behind the engine's ports; what a crashed engine does ends at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use goal_core::goal::{MessageId, ModelRef, SessionId};
use goal_core::message::Message;
use goal_core::slash;
use goal_core::time::Wall;
use goal_engine::ports::{
    AgentRead, CallError, CallErrorKind, Catalogue, CommandOut, CommandRead, Events, ModelRead,
    OpenRequest, Page, Presence, PromptOut, ServerEvent, SessionRead, Sessions,
};
use tokio::sync::mpsc::UnboundedReceiver;

use super::calls::{Call, Called, Effect, Fault, gone};
use super::facts::What;
use super::life::Life;
use super::state::State;

/// How long a request and an answer are on their way.
const HALF_TRIP: Duration = Duration::from_millis(1);

/// How long after a stored prompt the session is busy (measured: about 40 ms).
const TAKE_UP: Duration = Duration::from_millis(40);

/// How late the message of a stopped turn is told (measured: 20 to 700 ms).
const ABORT_LATE: Duration = Duration::from_millis(300);

/// Sessions on a page.
const SESSIONS_PAGE: usize = 3;

/// The server, shared by everyone who talks to it.
#[derive(Clone)]
pub(crate) struct Server(Arc<Mutex<State>>);

impl Server {
    pub(crate) fn new(base: u64) -> Self {
        Self(Arc::new(Mutex::new(State::new(base))))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a prompt and runs it when its time has come.
    pub(crate) fn prompt(&self, id: &SessionId, prompt: &PromptOut, engine: Option<usize>) {
        let generation = self.lock().take_prompt(id, prompt, engine);
        self.run_later(id, generation);
    }

    pub(crate) fn run_later(&self, id: &SessionId, generation: Option<u64>) {
        let Some(generation) = generation else {
            return;
        };
        let (server, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            tokio::time::sleep(TAKE_UP).await;
            server.lock().begin(&id, generation);
        });
    }

    /// Stops a session and the sub-agents that it waits for.
    pub(crate) fn abort(&self, id: &SessionId) {
        let mut state = self.lock();
        let works = |child: &SessionId| state.presence(child).is_some();
        let children: Vec<SessionId> = state
            .rooms
            .iter()
            .filter(|(child, room)| {
                let waited_for = !room.background && room.audit.is_none();
                room.parent.as_ref() == Some(id) && waited_for && works(child)
            })
            .map(|(child, _)| child.clone())
            .collect();
        let late = state.abort(id);
        drop(state);
        if let Some(step) = late {
            let (server, id) = (self.clone(), id.clone());
            tokio::spawn(async move {
                tokio::time::sleep(ABORT_LATE).await;
                server.lock().abort_late(&id, &step);
            });
            for child in children {
                self.abort(&child);
            }
        }
    }
}

/// One engine's line to the server.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) server: Server,
    /// 0 is a command without a running loop.
    pub(crate) engine: usize,
    pub(crate) life: Life,
}

impl Line {
    async fn call<T>(
        &self,
        call: Call,
        session: &str,
        perform: impl FnOnce(&Server, Effect) -> Result<T, CallError> + Send,
    ) -> Result<T, CallError> {
        let fault = self.record(call, session);
        self.life.wait(HALF_TRIP + fault.before).await;
        if !self.server.lock().up {
            return Err(CallError {
                kind: CallErrorKind::NotSent,
                message: "connection refused".to_owned(),
            });
        }
        let result = match (&fault.error, fault.effect) {
            (Some(error), Effect::None) => Err(error.clone()),
            (Some(error), effect) => perform(&self.server, effect).and(Err(error.clone())),
            (None, effect) => perform(&self.server, effect),
        };
        self.life.wait(HALF_TRIP + fault.after).await;
        result
    }

    /// A prompt on its way to the server.
    async fn take(&self, call: Call, id: &SessionId, prompt: &PromptOut) -> Result<(), CallError> {
        let engine = self.engine;
        self.server.lock().note_prompt(engine, id, prompt);
        self.call(call, id.as_str(), move |server, effect| {
            if !server.lock().rooms.contains_key(id) {
                return Err(gone(id));
            }
            match effect {
                Effect::Full => server.prompt(id, prompt, Some(engine)),
                Effect::StoredOnly => {
                    let mut state = server.lock();
                    if state.take_prompt(id, prompt, Some(engine)).is_some() {
                        state.room_mut(id).run = super::state::Run::Idle;
                    }
                }
                Effect::None => {}
                Effect::ErrorInstead { stored } => {
                    let mut state = server.lock();
                    state.refuse_later(id, prompt, Some(engine), stored);
                }
                Effect::Late(by) => {
                    let (server, id, prompt) = (server.clone(), id.clone(), prompt.clone());
                    tokio::spawn(async move {
                        tokio::time::sleep(by).await;
                        // A server that was killed meanwhile never gets it.
                        if server.lock().up {
                            server.prompt(&id, &prompt, Some(engine));
                        }
                    });
                }
            }
            Ok(())
        })
        .await
    }

    fn record(&self, call: Call, session: &str) -> Fault {
        self.life.step();
        let mut state = self.server.lock();
        let called = Called {
            at: state.elapsed(),
            engine: self.engine,
            call,
            session: session.to_owned(),
        };
        state.calls.push(called);
        state.called.notify_waiters();
        let plain = Fault::slow(Duration::ZERO);
        // Faults are for engines: commands of other programs have their own line.
        if self.engine == 0 {
            return plain;
        }
        let next = state
            .faults
            .get_mut(&call)
            .and_then(|next| next.pop_front());
        next.or_else(|| state.always.get(&call).cloned())
            .unwrap_or(plain)
    }
}

#[async_trait]
impl Sessions for Line {
    async fn session(&self, id: &SessionId, _: Option<&str>) -> Result<SessionRead, CallError> {
        self.call(Call::Session, id.as_str(), |server, _| {
            let mut state = server.lock();
            if !state.rooms.contains_key(id) {
                return Err(gone(id));
            }
            let read = state.read(id);
            let metadata = read.metadata.clone();
            state.note(Some(self.engine), id.as_str(), What::Read(metadata));
            Ok(read)
        })
        .await
    }

    async fn write_metadata(
        &self,
        id: &SessionId,
        _: &str,
        metadata: &str,
    ) -> Result<SessionRead, CallError> {
        self.call(Call::Write, id.as_str(), |server, effect| {
            let mut state = server.lock();
            if !state.rooms.contains_key(id) {
                return Err(gone(id));
            }
            if effect != Effect::None {
                state.write(id, Some(self.engine), metadata.into());
            }
            Ok(state.read(id))
        })
        .await
    }

    async fn statuses(&self, directory: &str) -> Result<BTreeMap<SessionId, Presence>, CallError> {
        self.call(Call::Status, "", |server, _| {
            let state = server.lock();
            let here = state
                .rooms
                .iter()
                .filter(|(_, room)| room.directory == directory);
            Ok(here
                .filter_map(|(id, _)| Some((id.clone(), state.presence(id)?)))
                .collect())
        })
        .await
    }

    async fn children(&self, id: &SessionId, _: &str) -> Result<Vec<SessionRead>, CallError> {
        self.call(Call::Children, id.as_str(), |server, _| {
            let state = server.lock();
            let children = state
                .rooms
                .iter()
                .filter(|(_, room)| room.parent.as_ref() == Some(id));
            Ok(children.map(|(child, _)| state.read(child)).collect())
        })
        .await
    }

    async fn requests(&self, directory: &str) -> Result<Vec<OpenRequest>, CallError> {
        self.call(Call::Requests, "", |server, _| {
            let state = server.lock();
            let here = |open: &&OpenRequest| {
                let room = state.rooms.get(&open.session);
                room.is_some_and(|room| room.directory == directory)
            };
            Ok(state.requests.iter().filter(here).cloned().collect())
        })
        .await
    }

    async fn messages(
        &self,
        id: &SessionId,
        _: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Page<Message>, CallError> {
        self.call(Call::Messages, id.as_str(), |server, _| {
            let state = server.lock();
            let Some(room) = state.rooms.get(id) else {
                return Err(gone(id));
            };
            let end = before.and_then(|at| at.parse().ok());
            let end = end.unwrap_or(room.messages.len()).min(room.messages.len());
            let begin = end.saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
            let items = room.messages[begin..end].iter();
            Ok(Page {
                items: items.map(|stored| stored.message.clone()).collect(),
                next: (begin > 0).then(|| begin.to_string()),
            })
        })
        .await
    }

    async fn message_exists(
        &self,
        id: &SessionId,
        _: &str,
        message: &MessageId,
    ) -> Result<bool, CallError> {
        self.call(Call::MessageExists, id.as_str(), |server, _| {
            Ok(server.lock().stored(id, message).is_some())
        })
        .await
    }

    async fn prompt(&self, id: &SessionId, _: &str, prompt: &PromptOut) -> Result<(), CallError> {
        self.take(Call::Prompt, id, prompt).await
    }

    async fn commands(&self, _: &str) -> Result<Vec<CommandRead>, CallError> {
        self.call(Call::Commands, "", |server, _| {
            Ok(server.lock().commands.clone())
        })
        .await
    }

    async fn command(
        &self,
        id: &SessionId,
        _: &str,
        command: &CommandOut,
    ) -> Result<(), CallError> {
        let known = self.server.lock().commands.clone();
        let mut known = known.into_iter();
        let Some(known) = known.find(|known| known.name == command.name) else {
            return Err(CallError {
                kind: CallErrorKind::Unknown,
                message: "Unexpected server error.".to_owned(),
            });
        };
        let prompt = PromptOut {
            message: command.message.clone(),
            part: None,
            to: command.to.clone(),
            text: slash::expand(&known.template.unwrap_or_default(), &command.arguments),
            attachments: command.attachments.clone(),
            reminder: None,
        };
        self.take(Call::Command, id, &prompt).await?;
        while !self.server.lock().is_answered(id, &command.message) {
            self.life.wait(TAKE_UP).await;
        }
        Ok(())
    }

    async fn create(&self, directory: &str, title: Option<&str>) -> Result<SessionRead, CallError> {
        self.call(Call::Create, "", |server, _| {
            let mut state = server.lock();
            let id = SessionId::new(state.native_id("ses_"));
            let mut room = state.new_room(title.unwrap_or("New session"), directory);
            room.is_made = true;
            state.create(&id, room);
            Ok(state.read(&id))
        })
        .await
    }

    async fn fork(
        &self,
        id: &SessionId,
        _: &str,
        before: Option<&MessageId>,
    ) -> Result<SessionRead, CallError> {
        self.call(Call::Fork, id.as_str(), |server, _| {
            let mut state = server.lock();
            if !state.rooms.contains_key(id) {
                return Err(gone(id));
            }
            let copy = SessionId::new(state.native_id("ses_"));
            state.fork(id, &copy, before);
            Ok(state.read(&copy))
        })
        .await
    }

    async fn catalogue(&self, _: &str) -> Catalogue {
        let agent = |name: &str, is_subagent| AgentRead {
            name: name.to_owned(),
            is_subagent,
        };
        let model = |name: &str| ModelRead {
            model: ModelRef {
                provider: "fake".to_owned(),
                model: name.to_owned(),
            },
            variants: vec!["high".to_owned()],
        };
        let read = self.call(Call::Catalogue, "", |_, _| {
            Ok(Catalogue {
                agents: vec![
                    agent("build", /*is_subagent*/ false),
                    agent("plan", /*is_subagent*/ false),
                    agent("explore", /*is_subagent*/ true),
                ],
                models: vec![model("big"), model("small")],
            })
        });
        read.await.unwrap_or_default()
    }

    async fn abort(&self, id: &SessionId, _: &str) -> Result<(), CallError> {
        self.call(Call::Abort, id.as_str(), |server, _| {
            server.abort(id);
            Ok(())
        })
        .await
    }

    async fn list(&self, cursor: Option<&str>, limit: u32) -> Result<Page<SessionRead>, CallError> {
        let before = cursor.and_then(|at| at.parse().ok()).unwrap_or(u64::MAX);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let limit = limit.saturating_mul(SESSIONS_PAGE) / 100;
        self.call(Call::List, "", |server, _| {
            let state = server.lock();
            let mut reads: Vec<SessionRead> = state.rooms.keys().map(|id| state.read(id)).collect();
            reads.retain(|read| read.updated.0 < before);
            reads.sort_by(|a, b| {
                let newest = b.updated.cmp(&a.updated);
                newest.then_with(|| b.facts.id.cmp(&a.facts.id))
            });
            let more = reads.len() > limit;
            reads.truncate(limit);
            let last = reads.last().map(|read| read.updated.0.to_string());
            Ok(Page {
                next: last.filter(|_| more),
                items: reads,
            })
        })
        .await
    }

    async fn archive(&self, id: &SessionId, _: &str, _: Wall) -> Result<(), CallError> {
        self.call(Call::Archive, id.as_str(), |server, _| {
            let mut state = server.lock();
            if !state.rooms.contains_key(id) {
                return Err(gone(id));
            }
            state.room_mut(id).archived = true;
            state.touch(id);
            state.say_session(id);
            Ok(())
        })
        .await
    }

    async fn delete_audit(&self, id: &SessionId, _: &str) -> Result<(), CallError> {
        self.call(Call::DeleteAudit, id.as_str(), |server, _| {
            let mut state = server.lock();
            state.rooms.remove(id);
            state.emit(&ServerEvent::Deleted(id.clone()));
            Ok(())
        })
        .await
    }

    fn is_local(&self) -> bool {
        true
    }
}

/// What one engine hears.
pub(crate) struct Ear {
    pub(crate) server: Server,
    /// Its place among the server's listeners.
    pub(crate) place: usize,
    pub(crate) receiver: UnboundedReceiver<ServerEvent>,
    pub(crate) life: Life,
}

#[async_trait]
impl Events for Ear {
    async fn next(&mut self) -> ServerEvent {
        tokio::select! {
            biased;
            () = self.life.over() => std::future::pending().await,
            event = self.receiver.recv() => match event {
                Some(event) => {
                    self.life.step();
                    event
                }
                None => std::future::pending().await,
            },
        }
    }
    /// What the old connection held is lost; the new one is up at once, if the server is.
    fn reconnect(&mut self) {
        while self.receiver.try_recv().is_ok() {}
        let mut state = self.server.lock();
        state.reconnections += 1;
        let up = state.up;
        let Some(listener) = state.listeners.get_mut(self.place) else {
            return;
        };
        let lost = ServerEvent::Lost {
            reason: "given up for a new connection".to_owned(),
            unauthorized: false,
            retry_in: Duration::ZERO,
        };
        listener.says(&lost);
        if up && !listener.is_broken() {
            listener.reconnects();
        }
    }
}
