//! One session of the world: what its user, its agent and other programs do in it.

use std::time::Duration;

use goal_core::goal::{Goal, MessageId, RevertId, SessionId};
use goal_core::message::{ErrorKind, Finish, Part, ToolUse, TurnError};
use goal_core::payload;
use goal_core::snapshot::{Request, RequestKind};
use goal_engine::command::{self, Choices, StartRequest, Started};
use goal_engine::ports::{Address, OpenRequest, PromptOut, ServerEvent};
use goal_engine::view::{GoalView, Phase};
use serde_json::{Value, json};

use super::World;
use super::facts::What;
use super::line::Listener;
use super::state::{Run, State};
use super::turns::{End, text, tool};

/// A session. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    world: World,
    id: SessionId,
}

/// A prompt of an engine as the server stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompted {
    /// Its id.
    pub message: MessageId,
    /// Its text parts.
    pub texts: Vec<String>,
    /// How long the world had existed.
    pub at: Duration,
    /// The engine that sent it first.
    pub engine: usize,
}

/// A message in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequel {
    /// Its id.
    pub message: MessageId,
    /// How long the world had existed.
    pub at: Duration,
    /// The engine that sent it first.
    pub engine: Option<usize>,
    /// The prompt that it answers.
    pub answers: Option<MessageId>,
}

/// What is seen of the session.
impl Session {
    pub(crate) fn new(world: World, id: SessionId) -> Self {
        Self { world, id }
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Its title.
    #[must_use]
    pub fn title(&self) -> String {
        self.state(|state, id| state.room(id).title.clone())
    }

    /// Whether it is archived.
    #[must_use]
    pub fn is_archived(&self) -> bool {
        self.state(|state, id| state.room(id).archived)
    }

    /// Its goal as the server has it.
    #[must_use]
    pub fn stored_goal(&self) -> Option<Goal> {
        let state = self.world.inner.server.lock();
        let metadata = state.room(&self.id).metadata.as_deref()?;
        payload::read(metadata, &self.world.inner.limits)
    }

    /// Its goal as the server has it.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn the_goal(&self) -> Goal {
        match self.stored_goal() {
            Some(goal) => goal,
            None => panic!("{} has no goal", self.id),
        }
    }

    /// Its metadata.
    #[must_use]
    pub fn metadata(&self) -> Value {
        let state = self.world.inner.server.lock();
        let metadata = state.room(&self.id).metadata.clone();
        metadata.map_or(Value::Null, |text| parse(&text))
    }

    /// What the newest engine shows of its goal.
    #[must_use]
    pub fn view(&self) -> Option<GoalView> {
        self.world.engine().get(&self.id)
    }

    /// The phase that the newest engine shows.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        self.view().map(|view| view.phase)
    }

    /// The messages that the command sent, with their visible and hidden texts, oldest first.
    #[must_use]
    pub fn commanded(&self) -> Vec<Prompted> {
        self.prompted(|engine| engine == 0)
    }

    /// The prompts that engines sent and the server stored, oldest first.
    #[must_use]
    pub fn continuations(&self) -> Vec<Prompted> {
        self.prompted(|engine| engine > 0)
    }

    fn prompted(&self, by: impl Fn(usize) -> bool) -> Vec<Prompted> {
        let state = self.world.inner.server.lock();
        let messages = state.room(&self.id).messages.iter();
        messages
            .filter_map(|stored| {
                let engine = stored.engine.filter(|engine| by(*engine))?;
                Some(Prompted {
                    message: stored.message.id.clone(),
                    texts: stored.message.texts().map(str::to_owned).collect(),
                    at: stored.at,
                    engine,
                })
            })
            .collect()
    }

    /// How often the model was called.
    #[must_use]
    pub fn model_calls(&self) -> u32 {
        self.world.inner.server.lock().room(&self.id).model_calls
    }

    /// Its messages in their order: who made each, and when.
    #[must_use]
    pub fn sequence(&self) -> Vec<Sequel> {
        let state = self.world.inner.server.lock();
        let messages = state.room(&self.id).messages.iter();
        messages
            .map(|stored| Sequel {
                message: stored.message.id.clone(),
                at: stored.at,
                engine: stored.engine.filter(|engine| *engine > 0),
                answers: stored.message.step().and_then(|step| step.parent.clone()),
            })
            .collect()
    }

    /// The prompt that it works on.
    #[must_use]
    pub fn works_on(&self) -> Option<MessageId> {
        let state = self.world.inner.server.lock();
        state.presence(&self.id)?;
        let step = state.current(&self.id);
        state
            .stored(&self.id, &step)?
            .message
            .step()?
            .parent
            .clone()
    }

    /// Whether it works.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.world.inner.server.lock().presence(&self.id).is_some()
    }

    /// The id of its newest message.
    #[must_use]
    pub fn newest(&self) -> Option<MessageId> {
        let state = self.world.inner.server.lock();
        let last = state.room(&self.id).messages.last();
        last.map(|stored| stored.message.id.clone())
    }

    fn state<T>(&self, change: impl FnOnce(&mut State, &SessionId) -> T) -> T {
        change(&mut self.world.inner.server.lock(), &self.id)
    }
}

/// What the user does.
impl Session {
    /// The user sends a message; it is taken up at once, or queued while the session works.
    pub fn user_says(&self, words: &str) -> MessageId {
        self.state(|state, id| {
            let prompt = PromptOut {
                message: MessageId::new(state.native_id("msg_")),
                part: None,
                to: Address::default(),
                text: words.to_owned(),
                attachments: Vec::new(),
                reminder: None,
            };
            state.note(None, id.as_str(), What::Said);
            if let Some(generation) = state.take_prompt(id, &prompt, None) {
                state.begin(id, generation);
            }
            prompt.message
        })
    }

    /// The user stops whatever runs.
    pub fn user_aborts(&self) {
        self.state(|state, id| {
            if state.presence(id).is_some() {
                state.note(None, id.as_str(), What::Stopped);
            }
        });
        self.world.inner.server.abort(&self.id);
    }

    /// The user refuses what is asked, without a word.
    pub fn user_declines(&self) {
        self.answered();
        self.state(|state, id| {
            let step = state.current(id);
            let declined = ToolUse {
                tool: "bash".to_owned(),
                status: "error".to_owned(),
                declined: true,
                ..ToolUse::default()
            };
            state.add_part(id, &step, Part::Tool(declined));
            state.complete(id, &step, ended(Finish::ToolCalls));
            state.go_on_or_rest(id, &step);
        });
    }

    /// The user allows what is asked; the turn goes on.
    pub fn user_allows(&self) {
        self.answered();
    }

    /// The user archives the session.
    pub fn user_archives(&self) {
        self.state(|state, id| {
            state.room_mut(id).archived = true;
            state.touch(id);
            state.say_session(id);
        });
    }

    /// The user deletes the session.
    pub fn user_deletes(&self) {
        self.state(|state, id| {
            state.rooms.remove(id);
            state.emit(&ServerEvent::Deleted(id.clone()));
        });
    }

    /// The user rewinds the session to before `message`.
    pub fn user_reverts(&self, message: &MessageId) {
        let point = RevertId::new(message.as_str());
        self.state(|state, id| {
            state.room_mut(id).revert = Some(point);
            state.touch(id);
            state.say_session(id);
        });
    }

    /// The user takes a rewind back.
    pub fn user_restores(&self) {
        self.state(|state, id| {
            state.room_mut(id).revert = None;
            state.touch(id);
            state.say_session(id);
        });
    }

    /// The user copies the session.
    #[must_use]
    pub fn user_forks(&self, name: &str) -> Session {
        let copy = SessionId::new(format!("ses_{name}"));
        self.state(|state, id| state.fork(id, &copy, None));
        Session::new(self.world.clone(), copy)
    }

    fn answered(&self) {
        self.state(|state, id| {
            state.requests.retain(|open| open.session != *id);
            state.emit(&ServerEvent::Request {
                session: id.clone(),
                open: false,
            });
        });
    }
}

/// What the agent does.
impl Session {
    /// The agent says `words` and its turn is done.
    pub fn assistant_finishes(&self, words: &str) {
        self.finish(&[text(words, false)], ended(Finish::Stop));
    }

    /// The agent is done without a word.
    pub fn assistant_says_nothing(&self) {
        self.finish(&[], ended(Finish::Stop));
    }

    /// The agent's reply is cut off at the output limit.
    pub fn assistant_truncated(&self) {
        self.finish(&[text("and then", false)], ended(Finish::Length));
    }

    /// The agent uses a tool and goes on to its next step.
    pub fn assistant_uses_tool(&self, name: &str, title: &str) {
        self.goes_on_behind(tool(name, title));
    }

    /// The agent's reply comes to its limit before it held a word.
    pub fn assistant_thinks_too_long(&self) {
        self.finish(&[], ended(Finish::Length));
    }

    /// The agent runs a command that ends with this exit code, and goes on to its next step.
    pub fn assistant_runs(&self, command: &str, exit: i64) {
        let run = ToolUse {
            tool: "bash".to_owned(),
            title: command.to_owned(),
            status: "completed".to_owned(),
            exit: Some(exit),
            ..ToolUse::default()
        };
        self.goes_on_behind(Part::Tool(run));
    }

    /// The last thing in the agent's reply is a tool, and its turn is done.
    pub fn assistant_ends_with_tool(&self, name: &str, title: &str) {
        self.finish(&[tool(name, title)], ended(Finish::Stop));
    }

    /// The provider fails for good: error, idle, the message, idle.
    pub fn assistant_fails(&self, name: &str, words: &str) {
        self.fail(name, words, None);
    }

    /// The provider fails for good, in a reply that came to its limit.
    pub fn assistant_fails_at_its_limit(&self, name: &str, words: &str) {
        self.fail(name, words, Some(Finish::Length));
    }

    /// The provider fails and the server tries again.
    pub fn provider_retries(&self) {
        self.retrying(true);
    }

    /// The server's next try begins.
    pub fn provider_is_tried(&self) {
        self.retrying(false);
    }

    /// A full context: the server compacts and goes on by itself.
    pub fn compacts_by_itself(&self) {
        self.state(|state, id| {
            let step = state.current(id);
            state.add_part(id, &step, text("so far", false));
            state.complete(id, &step, ended(Finish::Stop));
            go_on_after_summary(state, id);
        });
    }

    /// A full context before the agent said a word: the server compacts and goes on.
    pub fn compacts_without_a_word(&self) {
        self.state(|state, id| {
            let step = state.current(id);
            state.complete(id, &step, ended(Finish::Stop));
            go_on_after_summary(state, id);
        });
    }

    /// The agent is done, and the events of it get lost on the way.
    pub fn finishes_unheard(&self, words: &str) {
        self.unheard(|session| session.assistant_finishes(words));
    }

    /// The user says something and gets an answer, and the events of it get lost on the way.
    pub fn turns_unheard(&self, words: &str, answer: &str) {
        self.unheard(|session| {
            let _ = session.user_says(words);
            session.assistant_finishes(answer);
        });
    }

    /// The user has the session compacted while it rests.
    pub fn user_compacts(&self) {
        self.state(|state, id| {
            let step = summarize(state, id);
            state.go_on_or_rest(id, &step);
        });
    }

    /// A tool asks for permission.
    pub fn asks_permission(&self, what: &str) {
        self.state(|state, id| {
            let open = OpenRequest {
                session: id.clone(),
                request: Request {
                    kind: RequestKind::Permission,
                    id: format!("per_{}", state.count()),
                    subject: what.to_owned(),
                },
            };
            state.requests.push(open);
            state.emit(&ServerEvent::Request {
                session: id.clone(),
                open: true,
            });
        });
    }

    /// The agent starts a sub-agent, which works.
    #[must_use]
    pub fn starts_subagent(&self, name: &str) -> Session {
        let folder = self.state(|state, id| state.room(id).directory.clone());
        self.starts_subagent_in(name, &folder)
    }

    /// The agent starts a sub-agent, which works in `folder`.
    #[must_use]
    pub fn starts_subagent_in(&self, name: &str, folder: &str) -> Session {
        let id = SessionId::new(format!("ses_{name}"));
        self.state(|state, parent| {
            let mut room = state.new_room(name, folder);
            room.parent = Some(parent.clone());
            state.create(&id, room);
        });
        let child = Session::new(self.world.clone(), id);
        let _ = child.user_says("do your part");
        child
    }

    /// The agent starts a sub-agent in the background, which works on when the agent is stopped.
    #[must_use]
    pub fn starts_background_subagent(&self, name: &str) -> Session {
        let child = self.starts_subagent(name);
        child.state(|state, id| state.room_mut(id).background = true);
        child
    }

    /// The server tells the session what its sub-agent in the background came to.
    pub fn hears_of_subagent(&self, child: &Session) {
        let words = text(
            &format!("<task id=\"{}\" state=\"completed\">", child.id),
            true,
        );
        self.state(|state, id| {
            let message = MessageId::new(state.native_id("msg_"));
            let part = state.native_id("prt_");
            state.store_prompt(id, &message, vec![(part, words)], None);
            if state.room(id).run == Run::Idle {
                state.begin_step(id, &message);
            }
        });
    }

    /// The snapshot of tokens of the next finished message.
    pub fn next_tokens(&self, tokens: u64) {
        self.state(|state, id| state.room_mut(id).tokens = tokens);
    }

    /// Its messages name no model.
    pub fn names_no_model(&self) {
        self.state(|state, id| state.room_mut(id).model = None);
    }

    /// The server reports an error of the session that stands in no message.
    pub fn server_reports(&self, words: &str) {
        self.state(|state, id| {
            state.emit(&ServerEvent::Error {
                session: id.clone(),
                kind: ErrorKind::Failure,
                text: words.to_owned(),
            });
        });
    }

    /// The server says again that the session rests, or works.
    pub fn repeats_status(&self) {
        self.state(|state, id| state.say_status(id));
    }

    fn fail(&self, name: &str, words: &str, finish: Option<Finish>) {
        self.state(|state, id| {
            let step = state.current(id);
            state.emit(&ServerEvent::Error {
                session: id.clone(),
                kind: ErrorKind::Failure,
                text: format!("{name}: {words}"),
            });
            state.rest(id);
            let error = TurnError {
                kind: ErrorKind::Failure,
                name: name.to_owned(),
                text: words.to_owned(),
            };
            let end = End {
                finish,
                error: Some(error),
                ..End::default()
            };
            state.complete(id, &step, end);
            state.say_status(id);
        });
    }

    fn goes_on_behind(&self, part: Part) {
        self.state(|state, id| {
            let step = state.current(id);
            state.add_part(id, &step, part);
            state.complete(id, &step, ended(Finish::ToolCalls));
            let parent = state
                .stored(id, &step)
                .and_then(|stored| stored.message.step()?.parent.clone());
            if let Some(parent) = parent {
                state.begin_step(id, &parent);
            }
        });
    }

    fn unheard(&self, happens: impl FnOnce(&Self)) {
        let listening = self.state(|state, _| {
            let deaf = |listener: &mut Listener| listener.is_deaf(true);
            state.listeners.iter_mut().map(deaf).collect::<Vec<_>>()
        });
        happens(self);
        self.state(|state, _| {
            for (listener, connected) in state.listeners.iter_mut().zip(listening) {
                listener.is_deaf(!connected);
            }
        });
    }

    fn finish(&self, parts: &[Part], end: End) {
        self.state(|state, id| {
            let step = state.current(id);
            for part in parts {
                state.add_part(id, &step, part.clone());
            }
            state.complete(id, &step, end);
            state.go_on_or_rest(id, &step);
        });
    }

    fn retrying(&self, retrying: bool) {
        self.state(|state, id| {
            let step = state.current(id);
            state.room_mut(id).run = Run::Step { step, retrying };
            state.say_status(id);
        });
    }
}

/// What other programs do with its metadata.
impl Session {
    /// Another client, which knows none of our own fields, sets a goal.
    pub fn goal(&self, objective: &str) {
        self.goal_with(objective, json!({}));
    }

    /// Another client sets a goal with `fields` on top of the usual ones.
    pub fn goal_with(&self, objective: &str, fields: Value) {
        let now = self.state(|state, _| state.now().0);
        let count = self.state(|state, _| state.count());
        let mut goal = json!({
            "id": format!("goal-{count}"), "objective": objective, "objectiveFile": false,
            "status": "active", "tokenBudget": null, "tokensUsed": 0, "tokensBaseline": 0,
            "tokensCommitted": 0, "turnsUsed": 0, "blockedStreak": 0, "auditFailStreak": 0,
            "note": "", "statusReason": "", "createdAt": now, "updatedAt": now,
        });
        if let (Some(goal), Value::Object(fields)) = (goal.as_object_mut(), fields) {
            goal.extend(fields);
        }
        self.client_writes(|metadata| metadata["openchamber"]["goal"] = goal);
    }

    /// Another client reads the metadata, changes it and writes it back, in one moment.
    pub fn client_writes(&self, change: impl FnOnce(&mut Value)) {
        let mut metadata = self.metadata();
        if metadata.is_null() {
            metadata = json!({});
        }
        change(&mut metadata);
        self.state(|state, id| {
            state.write(id, None, metadata.to_string().into());
        });
    }

    /// Another client changes fields of the goal and stamps it.
    pub fn client_edits_goal(&self, fields: Value) {
        let now = self.state(|state, _| state.now().0);
        self.client_writes(|metadata| {
            let goal = &mut metadata["openchamber"]["goal"];
            goal["updatedAt"] = now.into();
            if let Value::Object(fields) = fields {
                for (key, value) in fields {
                    goal[key] = value;
                }
            }
        });
    }

    /// Another client pauses the goal, and stops what runs.
    pub fn client_pauses(&self) {
        self.client_edits_goal(json!({ "status": "paused", "statusReason": "" }));
        self.user_aborts();
    }

    /// Another client resumes the goal.
    pub fn client_resumes(&self) {
        self.client_edits_goal(json!({
            "status": "active", "statusReason": "resumed", "turnsUsed": 0, "blockedStreak": 0,
            "auditFailStreak": 0,
        }));
    }

    /// Another client takes the goal away.
    pub fn client_clears(&self) {
        self.client_writes(|metadata| {
            if let Some(openchamber) = metadata["openchamber"].as_object_mut() {
                openchamber.remove("goal");
            }
        });
    }

    /// A goal is started as the command does it.
    ///
    /// # Errors
    /// Those of the command.
    pub async fn starts_goal(
        &self,
        objective: &str,
        send: bool,
    ) -> Result<Started, goal_engine::Error> {
        let send = send.then(Choices::default);
        self.starts_goal_with(objective, send).await
    }

    /// The same, with what was chosen for the prompt; `None` sends none.
    ///
    /// # Errors
    /// As [`command::start`].
    pub async fn starts_goal_with(
        &self,
        objective: &str,
        send: Option<Choices>,
    ) -> Result<Started, goal_engine::Error> {
        let request = StartRequest {
            session: self.id.clone(),
            objective: objective.to_owned(),
            token_budget: None,
            send,
            replace: false,
        };
        command::start(&self.world.command(), request).await
    }
}

/// A compaction's mark and summary; the session then works.
fn summarize(state: &mut State, id: &SessionId) -> MessageId {
    let mark = MessageId::new(state.native_id("msg_"));
    let part = state.native_id("prt_");
    let parts = vec![(part, Part::Compaction { overflow: false })];
    state.store_prompt(id, &mark, parts, None);
    let step = state.begin_step(id, &mark);
    state.add_part(id, &step, text("What was done so far: all of it.", false));
    let end = End {
        summary: true,
        ..ended(Finish::Stop)
    };
    state.complete(id, &step, end);
    step
}

/// A compaction in the middle of the work, and the server's own word to go on.
fn go_on_after_summary(state: &mut State, id: &SessionId) {
    summarize(state, id);
    let message = MessageId::new(state.native_id("msg_"));
    let words = text("Continue if you have next steps.", true);
    let part = state.native_id("prt_");
    state.store_prompt(id, &message, vec![(part, words)], None);
    state.begin_step(id, &message);
}

fn ended(finish: Finish) -> End {
    End {
        finish: Some(finish),
        ..End::default()
    }
}

fn parse(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => panic!("the metadata is no JSON: {error}"),
    }
}
