//! The simulated server's state, and what a change of it emits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use goal_core::goal::{MessageId, ModelRef, RevertId, SessionId};
use goal_core::message::{Author, Message, Part, Step};
use goal_core::snapshot::SessionFacts;
use goal_core::time::{Wall, millis};
use goal_engine::ports::{
    Address, AuditMark, CommandRead, OpenRequest, Presence, PromptOut, ServerEvent, SessionRead,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::calls::{Call, Called, Fault};
use super::facts::{Fact, What};
use super::line::{Listener, Trouble};

/// The folder of every session that names no other.
pub(crate) const FOLDER: &str = "/home/demo/project";

/// The whole server.
pub(crate) struct State {
    epoch: Instant,
    base: u64,
    counter: u64,
    pub(crate) rooms: BTreeMap<SessionId, Room>,
    pub(crate) requests: Vec<OpenRequest>,
    /// The slash commands of every folder.
    pub(crate) commands: Vec<CommandRead>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) trouble: Trouble,
    /// What happened since it was last asked for.
    pub(crate) facts: Vec<Fact>,
    pub(crate) faults: BTreeMap<Call, VecDeque<Fault>>,
    pub(crate) always: BTreeMap<Call, Fault>,
    pub(crate) calls: Vec<Called>,
    /// Somebody waits for the next call.
    pub(crate) called: Arc<Notify>,
    /// How often an engine gave its connection up for a new one.
    pub(crate) reconnections: usize,
    /// The prompts of engines and commands, as often as they were sent.
    pub(crate) sent: Vec<PromptOut>,
    /// It answers.
    pub(crate) up: bool,
    /// An abort that comes before a prompt was taken up does nothing (it may do either).
    pub(crate) abort_misses_fresh_prompts: bool,
    /// Later ids sort before earlier ones, as those of a clock that was set back do.
    pub(crate) ids_backwards: bool,
}

/// One session.
pub(crate) struct Room {
    pub(crate) parent: Option<SessionId>,
    pub(crate) title: String,
    pub(crate) directory: String,
    pub(crate) metadata: Option<Arc<str>>,
    pub(crate) audit: Option<AuditMark>,
    /// Its parent does not wait for it: stopping the parent leaves it at work.
    pub(crate) background: bool,
    pub(crate) created: Wall,
    pub(crate) updated: Wall,
    pub(crate) archived: bool,
    /// A program of ours made it, by the port.
    pub(crate) is_made: bool,
    pub(crate) revert: Option<RevertId>,
    pub(crate) messages: Vec<Stored>,
    pub(crate) run: Run,
    /// Calls of the model: one for each assistant message.
    pub(crate) model_calls: u32,
    /// The token snapshot of the next finished message.
    pub(crate) tokens: u64,
    /// The model that answers; `None` leaves it out of the messages.
    pub(crate) model: Option<ModelRef>,
}

/// A message and what the engine's view of it leaves out.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) message: Message,
    /// The ids of its parts.
    pub(crate) parts: Vec<String>,
    /// Whom it addresses, a prompt only.
    pub(crate) to: Address,
    /// The engine that sent it; `None`: a person, another client, or the server itself.
    pub(crate) engine: Option<usize>,
    /// When it was stored, on the monotonic clock.
    pub(crate) at: Duration,
}

/// What a session does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Idle,
    /// A prompt is stored and about to be taken up; not in the status map yet.
    Starting {
        parent: MessageId,
        generation: u64,
    },
    /// The assistant message `step` is being written.
    Step {
        step: MessageId,
        retrying: bool,
    },
}

impl State {
    pub(crate) fn new(base: u64) -> Self {
        Self {
            epoch: Instant::now(),
            base,
            counter: 0,
            rooms: BTreeMap::new(),
            requests: Vec::new(),
            commands: Vec::new(),
            listeners: Vec::new(),
            trouble: Trouble::default(),
            facts: Vec::new(),
            faults: BTreeMap::new(),
            always: BTreeMap::new(),
            calls: Vec::new(),
            called: Arc::default(),
            reconnections: 0,
            sent: Vec::new(),
            up: true,
            abort_misses_fresh_prompts: true,
            ids_backwards: false,
        }
    }

    /// How long the world has existed.
    pub(crate) fn elapsed(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// The server's wall clock.
    pub(crate) fn now(&self) -> Wall {
        Wall(self.base + millis(self.elapsed()))
    }

    /// The computer of the server slept for so long: its clock ran on.
    pub(crate) fn sleeps(&mut self, by: Duration) {
        self.base += millis(by);
    }

    /// Remembers what happened.
    pub(crate) fn note(&mut self, engine: Option<usize>, session: &str, what: What) {
        self.facts.push(Fact {
            at: self.elapsed(),
            engine,
            session: session.to_owned(),
            what,
        });
    }

    /// Remembers that an engine begins to send a prompt.
    pub(crate) fn note_prompt(&mut self, engine: usize, id: &SessionId, prompt: &PromptOut) {
        self.sent.push(prompt.clone());
        let sent = What::Sent {
            message: prompt.message.clone(),
            busy_since: self.family_busy_since(id),
        };
        self.note(Some(engine), id.as_str(), sent);
    }

    /// Replaces the metadata of a session.
    pub(crate) fn write(&mut self, id: &SessionId, engine: Option<usize>, metadata: Arc<str>) {
        let room = self.room_mut(id);
        let before = room.metadata.replace(Arc::clone(&metadata));
        let after = Some(metadata);
        self.note(engine, id.as_str(), What::Wrote { before, after });
        self.touch(id);
        self.say_session(id);
    }

    pub(crate) fn count(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// An id in the server's native form.
    pub(crate) fn native_id(&mut self, prefix: &str) -> String {
        let counter = self.count();
        let mut time = (self.now().0 * 4096 + counter % 4096) & 0xFFFF_FFFF_FFFF;
        if self.ids_backwards {
            time ^= 0xFFFF_FFFF_FFFF;
        }
        format!("{prefix}{time:012x}{counter:014}")
    }

    pub(crate) fn room(&self, id: &SessionId) -> &Room {
        match self.rooms.get(id) {
            Some(room) => room,
            None => panic!("the server has no session {id}"),
        }
    }

    pub(crate) fn room_mut(&mut self, id: &SessionId) -> &mut Room {
        match self.rooms.get_mut(id) {
            Some(room) => room,
            None => panic!("the server has no session {id}"),
        }
    }

    /// Makes a session.
    pub(crate) fn create(&mut self, id: &SessionId, room: Room) {
        self.rooms.insert(id.clone(), room);
        self.say_session(id);
    }

    /// Copies a session: its metadata, and what stands before `before`, or all of it.
    pub(crate) fn fork(&mut self, id: &SessionId, copy: &SessionId, before: Option<&MessageId>) {
        let room = self.room(id);
        let (title, folder) = (format!("{} (fork #1)", room.title), room.directory.clone());
        let (metadata, messages) = (room.metadata.clone(), room.messages.clone());
        let kept = messages
            .into_iter()
            .take_while(|stored| Some(&stored.message.id) != before);
        let mut copies = Vec::new();
        for mut stored in kept {
            stored.message.id = MessageId::new(self.native_id("msg_"));
            stored.engine = None;
            copies.push(stored);
        }
        let room = Room {
            metadata,
            messages: copies,
            ..self.new_room(&title, &folder)
        };
        self.create(copy, room);
    }

    /// The turn that answers a prompt has ended.
    pub(crate) fn is_answered(&self, id: &SessionId, message: &MessageId) -> bool {
        let Some(room) = self.rooms.get(id) else {
            return true;
        };
        let mut steps = room
            .messages
            .iter()
            .filter_map(|stored| stored.message.step());
        room.run == Run::Idle && steps.any(|step| step.parent.as_ref() == Some(message))
    }

    pub(crate) fn new_room(&self, title: &str, directory: &str) -> Room {
        Room {
            parent: None,
            title: title.to_owned(),
            directory: directory.to_owned(),
            metadata: None,
            audit: None,
            background: false,
            created: self.now(),
            updated: self.now(),
            archived: false,
            is_made: false,
            revert: None,
            messages: Vec::new(),
            run: Run::Idle,
            model_calls: 0,
            tokens: 1_000,
            model: Some(ModelRef {
                provider: "fake".to_owned(),
                model: "big".to_owned(),
            }),
        }
    }

    pub(crate) fn read(&self, id: &SessionId) -> SessionRead {
        let room = self.room(id);
        SessionRead {
            facts: SessionFacts {
                id: id.clone(),
                parent: room.parent.clone(),
                archived: room.archived,
                revert: room.revert.clone(),
            },
            title: room.title.clone(),
            directory: room.directory.clone(),
            metadata: room.metadata.clone(),
            audit: room.audit.clone(),
            created: room.created,
            updated: room.updated,
        }
    }

    /// What a session is in the status map as.
    pub(crate) fn presence(&self, id: &SessionId) -> Option<Presence> {
        match self.room(id).run {
            Run::Idle | Run::Starting { .. } => None,
            Run::Step {
                retrying: false, ..
            } => Some(Presence::Busy),
            Run::Step { retrying: true, .. } => Some(Presence::Retry),
        }
    }

    /// Since when the step that runs has been running.
    pub(crate) fn busy_since(&self, id: &SessionId) -> Option<Duration> {
        match &self.rooms.get(id)?.run {
            Run::Step { step, .. } => Some(self.stored(id, step)?.at),
            Run::Idle | Run::Starting { .. } => None,
        }
    }

    /// Since when the session, or a sub-agent of it, has been running.
    fn family_busy_since(&self, id: &SessionId) -> Option<Duration> {
        let child = |room: &Room| room.parent.as_ref() == Some(id) && room.audit.is_none();
        let children = self.rooms.iter().filter(|(_, room)| child(room));
        let family = children.map(|(child, _)| child).chain([id]);
        family.filter_map(|id| self.busy_since(id)).min()
    }

    pub(crate) fn touch(&mut self, id: &SessionId) {
        let now = self.now();
        self.room_mut(id).updated = now;
    }

    pub(crate) fn emit(&mut self, event: &ServerEvent) {
        let fate = self.trouble.fate();
        for listener in &self.listeners {
            if listener.is_connected() {
                listener.hears(event, fate);
            }
        }
    }

    pub(crate) fn say_session(&mut self, id: &SessionId) {
        let read = self.read(id);
        self.emit(&ServerEvent::Session(Box::new(read)));
    }

    pub(crate) fn say_message(&mut self, id: &SessionId, message: &MessageId) {
        let Some(stored) = self.stored(id, message) else {
            return;
        };
        let step = stored.message.step();
        let event = ServerEvent::Message {
            session: id.clone(),
            message: message.clone(),
            parent: step.and_then(|step| step.parent.clone()),
            aborted: step
                .and_then(|step| step.error.as_ref())
                .is_some_and(|error| error.kind == goal_core::message::ErrorKind::Aborted),
        };
        self.emit(&event);
    }

    pub(crate) fn say_status(&mut self, id: &SessionId) {
        let event = match self.presence(id) {
            Some(presence) => ServerEvent::Busy(id.clone(), presence),
            None => ServerEvent::Idle(id.clone()),
        };
        self.emit(&event);
    }

    pub(crate) fn stored(&self, id: &SessionId, message: &MessageId) -> Option<&Stored> {
        let found = |stored: &&Stored| stored.message.id == *message;
        self.rooms.get(id)?.messages.iter().find(found)
    }

    pub(crate) fn stored_mut(
        &mut self,
        id: &SessionId,
        message: &MessageId,
    ) -> Option<&mut Stored> {
        let found = |stored: &&mut Stored| stored.message.id == *message;
        self.rooms.get_mut(id)?.messages.iter_mut().find(found)
    }

    /// The step of the assistant message `message`.
    pub(crate) fn step_mut(&mut self, id: &SessionId, message: &MessageId) -> Option<&mut Step> {
        match &mut self.stored_mut(id, message)?.message.author {
            Author::Assistant(step) => Some(step),
            Author::User => None,
        }
    }

    /// Stores a user message and says so.
    pub(crate) fn store_prompt(
        &mut self,
        id: &SessionId,
        message: &MessageId,
        parts: Vec<(String, Part)>,
        engine: Option<usize>,
    ) {
        let (ids, parts) = parts.into_iter().unzip();
        let stored = Stored {
            message: Message {
                id: message.clone(),
                created: self.now(),
                author: Author::User,
                parts,
            },
            parts: ids,
            to: Address::default(),
            engine,
            at: self.elapsed(),
        };
        self.room_mut(id).messages.push(stored);
        self.touch(id);
        self.say_session(id);
        self.say_message(id, message);
        self.say_session(id);
    }

    /// Removes what a revert left behind: the next prompt does so for good.
    pub(crate) fn drop_reverted(&mut self, id: &SessionId) {
        let room = self.room_mut(id);
        let Some(point) = room.revert.take() else {
            return;
        };
        let at = |stored: &Stored| stored.message.id.as_str() == point.as_str();
        if let Some(cut) = room.messages.iter().position(at) {
            room.messages.truncate(cut);
        }
    }
}
