//! How the simulated server runs turns: what is stored, and in which order it is told.

use goal_core::goal::{MessageId, SessionId};
use goal_core::message::{Author, ErrorKind, Finish, Message, Part, Step, ToolUse, TurnError};
use goal_engine::ports::{Address, PromptOut, ServerEvent};

use super::state::{Run, State, Stored};

/// The file of a prompt.
const FILE: Part = Part::Other { prompt: true };

/// How an assistant message ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    pub(crate) finish: Option<Finish>,
    pub(crate) error: Option<TurnError>,
    pub(crate) summary: bool,
}

impl State {
    /// Takes a prompt as the server does: the same id again is an update. Gives the run that
    /// shall begin, if one does.
    pub(crate) fn take_prompt(
        &mut self,
        id: &SessionId,
        prompt: &PromptOut,
        engine: Option<usize>,
    ) -> Option<u64> {
        let part = prompt
            .part
            .clone()
            .unwrap_or_else(|| self.native_id("prt_"));
        let owner = self.owner_of(&prompt.message);
        if let Some(owner) = owner {
            return self.take_again(id, &owner, prompt, part);
        }
        self.drop_reverted(id);
        let mut parts = vec![(part.clone(), text(&prompt.text, false))];
        let files = prompt.attachments.iter().enumerate();
        parts.extend(files.map(|(at, _)| (format!("{part}f{at:02}"), FILE)));
        if let Some(reminder) = &prompt.reminder {
            parts.push((format!("{part}r"), text(reminder, true)));
        }
        self.store_prompt(id, &prompt.message, parts, engine);
        if let Some(stored) = self.stored_mut(id, &prompt.message) {
            stored.to = prompt.to.clone();
        }
        self.schedule(id, &prompt.message)
    }

    /// Takes a prompt as the server does that has no such model or agent: an error of the session,
    /// and no turn.
    pub(crate) fn refuse_later(
        &mut self,
        id: &SessionId,
        prompt: &PromptOut,
        engine: Option<usize>,
        stored: bool,
    ) {
        if self.room(id).run != Run::Idle {
            // What runs takes the prompt up.
            self.take_prompt(id, prompt, engine);
            return;
        }
        if stored {
            self.take_prompt(id, prompt, engine);
            self.room_mut(id).run = Run::Idle;
        }
        self.emit(&ServerEvent::Error {
            session: id.clone(),
            kind: ErrorKind::Failure,
            text: "UnknownError: Model not found: fake/big.".to_owned(),
        });
        if stored {
            self.say_status(id);
        }
    }

    /// The run of `parent`, if the session is free for one.
    pub(crate) fn schedule(&mut self, id: &SessionId, parent: &MessageId) -> Option<u64> {
        if self.room(id).run != Run::Idle {
            return None;
        }
        let generation = self.count();
        self.room_mut(id).run = Run::Starting {
            parent: parent.clone(),
            generation,
        };
        Some(generation)
    }

    fn owner_of(&self, message: &MessageId) -> Option<SessionId> {
        let holds = |id: &&SessionId| self.stored(id, message).is_some();
        self.rooms.keys().find(holds).cloned()
    }

    fn take_again(
        &mut self,
        id: &SessionId,
        owner: &SessionId,
        prompt: &PromptOut,
        part: String,
    ) -> Option<u64> {
        if let Some(stored) = self.stored_mut(owner, &prompt.message)
            && !stored.parts.contains(&part)
        {
            stored.parts.push(part);
            stored.message.parts.push(text(&prompt.text, false));
        }
        if owner != id {
            return None;
        }
        self.say_message(id, &prompt.message);
        if self.room(id).run != Run::Idle {
            return None;
        }
        let messages = &self.room(id).messages;
        let newest = messages.iter().rfind(|m| m.message.step().is_none());
        let is_last = newest.is_some_and(|m| m.message.id == prompt.message);
        let answer = messages
            .iter()
            .filter_map(|stored| stored.message.step())
            .rfind(|step| step.parent.as_ref() == Some(&prompt.message));
        let answered = answer.is_some_and(|step| step.error.is_none() && step.finish.is_some());
        if is_last && answered {
            self.emit(&ServerEvent::Busy(
                id.clone(),
                goal_engine::ports::Presence::Busy,
            ));
            self.emit(&ServerEvent::Idle(id.clone()));
            return None;
        }
        self.schedule(id, &prompt.message)
    }

    /// A scheduled run begins, unless something ended it.
    pub(crate) fn begin(&mut self, id: &SessionId, generation: u64) {
        let Some(room) = self.rooms.get(id) else {
            return;
        };
        let Run::Starting {
            parent,
            generation: due,
        } = room.run.clone()
        else {
            return;
        };
        if due == generation && self.up {
            self.begin_step(id, &parent);
            self.say_session(id);
            self.say_message(id, &parent);
            self.say_status(id);
        }
    }

    /// A new assistant message, still being written.
    pub(crate) fn begin_step(&mut self, id: &SessionId, parent: &MessageId) -> MessageId {
        let message = MessageId::new(self.native_id("msg_"));
        let room = self.room(id);
        let stored = self.stored(id, parent);
        let to = stored.map(|stored| stored.to.clone()).unwrap_or_default();
        let step = Step {
            parent: Some(parent.clone()),
            // A room without a model names none, whoever is asked.
            model: room
                .model
                .as_ref()
                .map(|own| to.model.as_ref().unwrap_or(own).clone()),
            agent: to.agent.or_else(|| Some("build".to_owned())),
            variant: to.variant,
            ..Step::default()
        };
        let stored = Stored {
            message: Message {
                id: message.clone(),
                created: self.now(),
                author: Author::Assistant(Box::new(step)),
                parts: vec![Part::StepStart],
            },
            parts: Vec::new(),
            to: Address::default(),
            engine: None,
            at: self.elapsed(),
        };
        let room = self.room_mut(id);
        room.messages.push(stored);
        room.model_calls += 1;
        room.run = Run::Step {
            step: message.clone(),
            retrying: false,
        };
        self.touch(id);
        self.say_status(id);
        self.say_message(id, &message);
        message
    }

    /// The message that is being written.
    pub(crate) fn current(&self, id: &SessionId) -> MessageId {
        match &self.room(id).run {
            Run::Step { step, .. } => step.clone(),
            Run::Idle | Run::Starting { .. } => panic!("nothing runs in {id}"),
        }
    }

    pub(crate) fn add_part(&mut self, id: &SessionId, message: &MessageId, part: Part) {
        if let Some(stored) = self.stored_mut(id, message) {
            stored.message.parts.push(part);
        }
    }

    /// Ends an assistant message; the session stays as it is.
    pub(crate) fn complete(&mut self, id: &SessionId, message: &MessageId, end: End) {
        let now = self.now();
        let room = self.room_mut(id);
        let tokens = if end.finish.is_some() { room.tokens } else { 0 };
        room.tokens += 500;
        if let Some(step) = self.step_mut(id, message) {
            step.completed = Some(now);
            step.finish = end.finish;
            step.error = end.error;
            step.summary = end.summary;
            step.tokens = tokens;
            if end.summary {
                step.agent = Some("compaction".to_owned());
            }
        }
        self.touch(id);
        self.say_message(id, message);
    }

    /// After a step: the next queued prompt, else idle with its trailing events.
    pub(crate) fn go_on_or_rest(&mut self, id: &SessionId, message: &MessageId) {
        let parent = self
            .stored(id, message)
            .and_then(|stored| stored.message.step()?.parent.clone());
        let messages = &self.room(id).messages;
        let behind = messages
            .iter()
            .skip_while(|stored| Some(&stored.message.id) != parent.as_ref())
            .skip(1);
        let queued = behind
            .filter(|stored| stored.message.is_prompt())
            .last()
            .map(|stored| stored.message.id.clone());
        match queued {
            Some(queued) => {
                self.begin_step(id, &queued);
            }
            None => {
                self.say_status(id);
                self.rest(id);
                self.say_session(id);
                if let Some(parent) = parent {
                    self.say_message(id, &parent);
                }
            }
        }
    }

    pub(crate) fn rest(&mut self, id: &SessionId) {
        self.room_mut(id).run = Run::Idle;
        self.say_status(id);
    }

    /// Stops what runs, as a request to abort does. Gives what follows late, if something does.
    pub(crate) fn abort(&mut self, id: &SessionId) -> Option<MessageId> {
        let run = self.rooms.get(id)?.run.clone();
        match run {
            Run::Idle => self.say_status(id),
            Run::Starting { .. } => {
                if self.abort_misses_fresh_prompts {
                    self.say_status(id);
                } else {
                    self.rest(id);
                }
            }
            Run::Step {
                step,
                retrying: true,
            } => {
                self.complete(id, &step, End::default());
                self.rest(id);
            }
            Run::Step {
                step,
                retrying: false,
            } => {
                self.emit(&ServerEvent::Error {
                    session: id.clone(),
                    kind: ErrorKind::Aborted,
                    text: "MessageAbortedError: Aborted".to_owned(),
                });
                self.rest(id);
                return Some(step);
            }
        }
        None
    }

    /// The late traces of an abort: the message's end, then a second idle.
    pub(crate) fn abort_late(&mut self, id: &SessionId, step: &MessageId) {
        if self.stored(id, step).is_none() || !self.up {
            return;
        }
        let end = End {
            error: Some(TurnError {
                kind: ErrorKind::Aborted,
                name: "MessageAbortedError".to_owned(),
                text: "Aborted".to_owned(),
            }),
            ..End::default()
        };
        self.complete(id, step, end);
        if self.room(id).run == Run::Idle {
            self.say_status(id);
        }
    }
}

/// A text part.
pub(crate) fn text(words: &str, unseen: bool) -> Part {
    Part::Text {
        text: words.to_owned(),
        unseen,
    }
}

/// A tool's part.
pub(crate) fn tool(name: &str, title: &str) -> Part {
    Part::Tool(ToolUse {
        tool: name.to_owned(),
        title: title.to_owned(),
        status: "completed".to_owned(),
        exit: Some(0),
        ..ToolUse::default()
    })
}
