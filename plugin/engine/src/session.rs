//! One session with a goal: an actor that hears what happens, thinks, audits and acts.
//!
//! ```text
//!            inbox ──▶ heard ──▶ Watch (core) ──deadline──▶ wake
//!                                                            │
//!   Idle ──▶ Thinking (droppable) ──▶ decide ──▶ Auditing (droppable, a task of its own) ──▶ judge
//!     ▲                                  │                                                    │
//!     └───────── Acting (never dropped, polled beside the inbox) ◀────────────────────────────┘
//! ```
//!
//! At most one of them runs at a time, so no lock keeps a cycle honest (R17). What the user wants
//! ends thinking and auditing at once; acting looks at [`Live`] before each effect (X8).

mod cycle;
mod heard;
mod late;

pub(crate) use self::cycle::name_of;

use self::late::{Late, Wire};

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use goal_core::goal::{Goal, MessageId, SessionId, Status};
use goal_core::judge::AuditOutcome;
use goal_core::memory::Memory;
use goal_core::time::{Mono, Wall};
use goal_core::watch::Watch;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use crate::act::{self, Acted, Step};
use crate::command;
use crate::error::{Code, Error};
use crate::live::Live;
use crate::ports::{Ports, Presence, ServerEvent, SessionRead};
use crate::shared::Shared;
use crate::tell::Planned;
use crate::think::Observed;
use crate::view::GoalView;

/// Messages an actor may be behind; whoever sends waits, and an actor never blocks for long.
pub(crate) const INBOX_MAX: usize = 256;

/// An actor without an active goal ends after this long, if no prompt of ours may still arrive; the
/// next event about its goal makes one.
const LINGER: Duration = Duration::from_secs(60);

/// Own writes whose echoes are recognised.
const OWN_WRITES_MAX: usize = 16;

/// Ids of messages that were seen; enough to tell a new prompt from the update of an old one.
const SEEN_MAX: usize = 256;

/// What an actor is told.
#[derive(Debug)]
pub(crate) enum Msg {
    /// The session as an event or a write's echo shows it.
    Heard(Arc<SessionRead>),
    /// The session as read after the stream came up: events may be lost.
    Resync(Arc<SessionRead>),
    /// Something happened in the session itself. Boxed: an inbox keeps room for dozens of
    /// messages, however rarely one comes.
    Event(Box<ServerEvent>),
    /// A sub-agent came to rest.
    FamilyRests,
    /// A request of the session or of a sub-agent was asked or answered.
    Asked,
    /// The settings were written.
    SettingsChanged,
    /// The stream is down.
    Lost,
    /// The user asks for something.
    Intent(Box<Intent>),
}

impl Msg {
    pub(crate) fn event(event: ServerEvent) -> Self {
        Self::Event(Box::new(event))
    }
}

/// What the user asks of a session's goal, and where the answer goes.
#[derive(Debug)]
pub(crate) enum Intent {
    /// Pause it and stop what runs.
    Pause(Reply<command::Paused>),
    /// Go on, perhaps with another budget.
    Resume(Option<Option<u64>>, Reply<command::Resumed>),
    /// Another objective or budget.
    Edit(Box<command::ReadyEdit>, Reply<command::Edited>),
    /// Mark it complete.
    Complete(Reply<command::Completed>),
    /// Take it out.
    Clear(Reply<command::Cleared>),
    /// Start one.
    Start(Box<command::ReadyStart>, Reply<command::Started>),
}

/// Where an answer goes; whoever asked may be gone.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

impl Intent {
    /// Carries it out, answers, and gives the goal as it then is; `None` if it is as before, or
    /// gone.
    pub(crate) async fn carry_out(self, ports: &Ports, id: &SessionId) -> Option<Box<Goal>> {
        match self {
            Self::Pause(reply) => answer(reply, command::pause(ports, id).await, |paused| {
                &paused.view
            }),
            Self::Resume(budget, reply) => {
                let result = command::resume(ports, id, budget).await;
                answer(reply, result, |resumed| &resumed.view)
            }
            Self::Edit(ready, reply) => {
                let result = command::edit_prepared(ports, *ready).await;
                answer(reply, result, |edited| &edited.view)
            }
            Self::Complete(reply) => {
                let result = command::complete(ports, id).await;
                answer(reply, result, |completed| &completed.view)
            }
            Self::Start(ready, reply) => {
                let result = command::start_prepared(ports, *ready).await;
                answer(reply, result, |started| &started.view)
            }
            Self::Clear(reply) => {
                // The goal is gone: the echo of that write says so.
                let _ = reply.send(command::clear(ports, id).await);
                None
            }
        }
    }

    fn refuse(self) {
        let ending = || {
            Error::new(
                Code::ShuttingDown,
                "The program is ending; nothing was done.",
            )
        };
        match self {
            Self::Pause(reply) => drop(reply.send(Err(ending()))),
            Self::Resume(_, reply) => drop(reply.send(Err(ending()))),
            Self::Edit(_, reply) => drop(reply.send(Err(ending()))),
            Self::Complete(reply) => drop(reply.send(Err(ending()))),
            Self::Clear(reply) => drop(reply.send(Err(ending()))),
            Self::Start(_, reply) => drop(reply.send(Err(ending()))),
        }
    }
}

fn answer<T>(
    reply: Reply<T>,
    result: Result<T, Error>,
    view: impl Fn(&T) -> &GoalView,
) -> Option<Box<Goal>> {
    let goal = result
        .as_ref()
        .ok()
        .map(|done| Box::new(view(done).goal.clone()));
    let _ = reply.send(result);
    goal
}

/// The actor of one session.
pub(crate) struct Actor {
    shared: Arc<Shared>,
    id: SessionId,
    /// The session as it was last heard or read.
    read: Arc<SessionRead>,
    /// Its goal as it was last heard, read or written.
    goal: Option<Goal>,
    /// When a cycle is due.
    watch: Watch,
    /// What only this process knows of the session.
    memory: Memory,
    /// What the acting step can hear.
    live: Arc<Live>,
    work: Work,
    /// Requests that wait for the acting step to end; bounded by the inbox.
    intents: VecDeque<Intent>,
    /// Notices that come true with a write whose outcome is not known yet.
    planned: Vec<Planned>,
    /// `updatedAt` of writes of ours, to recognise their echoes.
    own_writes: VecDeque<Wall>,
    /// Messages seen in events.
    seen: VecDeque<MessageId>,
    /// Prompts of ours, to stop their turns once the goal is not active (X8).
    wire: Wire,
    /// What the session was last heard to do.
    presence: Option<Presence>,
    /// The turn that a stop of somebody else ended, until it is known whether the server reloaded.
    stopped_at: Option<Mono>,
    /// Somebody stopped the turn while a step acted: the goal is paused right after it.
    stop_after_acting: bool,
    /// The server reloaded while a step acted: the pause of the stop is undone right after it.
    undo_after_acting: bool,
    /// A prompt of ours showed up, or may, while a step acted: if the goal is not active once
    /// nothing does, its turn is stopped (X8).
    abort_due: bool,
    /// The stream came up while the goal was not active: prompts of ours are looked for (X8).
    look_due: bool,
    /// Another client resumed the goal: what it goes over is recorded once nothing acts.
    resume_seen: bool,
    /// The decision and reason journaled last: a repeated wait is not written down again.
    journaled: Option<(&'static str, String)>,
    /// The session is gone: the actor ends.
    gone: bool,
}

/// What runs.
enum Work {
    Idle,
    Thinking(BoxFuture<'static, Observed>),
    Auditing(Box<Audit>),
    Acting(BoxFuture<'static, Done>),
}

/// A running audit. Dropping it cancels the task, which still stops and deletes its session.
struct Audit {
    step: Step,
    task: JoinHandle<AuditOutcome>,
    _cancel: DropGuard,
}

/// What an acting step came to.
enum Done {
    /// A decision was carried out.
    Acted {
        acted: Box<Acted>,
        decision: &'static str,
    },
    /// A request of the user was carried out; the goal as it then is.
    Asked(Option<Box<Goal>>),
    /// Whatever ran in the session was stopped.
    Aborted,
    /// Prompts of ours were looked for.
    Looked(Late),
}

/// What the loop woke up for.
enum Woken {
    Msg(Option<Msg>),
    Observed(Box<Observed>),
    Audited(AuditOutcome),
    Done(Box<Done>),
    Deadline,
    Linger,
    Shutdown,
}

impl Actor {
    /// An actor for a session with a goal, not started yet. The goal as it was last shown tells
    /// what the first message changes.
    pub(crate) fn new(shared: Arc<Shared>, read: Arc<SessionRead>) -> Self {
        Self {
            goal: shared.view(&read.facts.id).map(|view| view.goal),
            shared,
            id: read.facts.id.clone(),
            read,
            watch: Watch::default(),
            memory: Memory::default(),
            live: Arc::default(),
            work: Work::Idle,
            intents: VecDeque::new(),
            planned: Vec::new(),
            own_writes: VecDeque::new(),
            seen: VecDeque::new(),
            wire: Wire::default(),
            presence: None,
            stopped_at: None,
            stop_after_acting: false,
            undo_after_acting: false,
            abort_due: false,
            look_due: false,
            resume_seen: false,
            journaled: None,
            gone: false,
        }
    }

    /// Runs until the session is gone, nothing is left to do for a while, or the engine ends.
    ///
    /// Boxed: a task keeps room for what it is begun with beside what it makes of it.
    pub(crate) async fn run(mut self: Box<Self>, mut inbox: mpsc::Receiver<Msg>) {
        loop {
            match self.next(&mut inbox).await {
                Woken::Msg(Some(msg)) => self.on_msg(msg),
                // Boxed: these hold a whole snapshot, and a task keeps room for all that it ever
                // may hold, also while it rests.
                Woken::Observed(observed) => Box::pin(self.on_observed(*observed)).await,
                Woken::Audited(outcome) => Box::pin(self.on_audited(outcome)).await,
                Woken::Done(done) => Box::pin(self.on_done(*done)).await,
                Woken::Deadline => self.wake(),
                Woken::Linger => break,
                Woken::Shutdown | Woken::Msg(None) => {
                    Box::pin(self.finish()).await;
                    break;
                }
            }
            if self.gone {
                break;
            }
            self.next_intent();
            self.next_look();
            if matches!(self.work, Work::Idle) {
                self.live.forget();
            }
        }
        inbox.close();
        // Requests that arrived while it ended are answered, not dropped in silence.
        while let Ok(msg) = inbox.try_recv() {
            if let Msg::Intent(intent) = msg {
                self.intents.push_back(*intent);
            }
        }
        self.refuse_intents();
    }

    async fn next(&mut self, inbox: &mut mpsc::Receiver<Msg>) -> Woken {
        let idle = matches!(self.work, Work::Idle);
        let deadline = self.watch.deadline().filter(|_| idle);
        let at = deadline.map(|deadline| self.shared.instant(deadline));
        let lingers = idle && deadline.is_none() && !self.is_active();
        let linger = self.wire.open_for(self.now()).max(LINGER);
        let shared = Arc::clone(&self.shared);
        tokio::select! {
            biased;
            () = shared.shutdown.cancelled() => Woken::Shutdown,
            msg = inbox.recv() => Woken::Msg(msg),
            woken = self.work.next() => woken,
            () = sleep_until(at), if at.is_some() => Woken::Deadline,
            () = tokio::time::sleep(linger), if lingers => Woken::Linger,
        }
    }

    /// The engine ends: thinking and auditing are dropped, acting runs to its end without waiting
    /// for what only an event could tell, and so does what follows from it: a stop that was heard
    /// meanwhile.
    async fn finish(&mut self) {
        while matches!(self.work, Work::Acting(_)) {
            self.live.end();
            if let Woken::Done(done) = self.work.next().await {
                self.on_done(*done).await;
            }
        }
        self.work = Work::Idle;
    }

    fn is_active(&self) -> bool {
        self.goal
            .as_ref()
            .is_some_and(|goal| goal.status == Status::Active)
    }

    fn now(&self) -> Mono {
        self.shared.now()
    }

    /// Starts the next request of the user once nothing acts.
    fn next_intent(&mut self) {
        if matches!(self.work, Work::Acting(_)) {
            return;
        }
        let resume_seen = std::mem::take(&mut self.resume_seen);
        let Some(intent) = self.intents.pop_front() else {
            if resume_seen {
                self.record_resume();
            }
            return;
        };
        self.drop_cycle();
        self.live.begin();
        let shared = Arc::clone(&self.shared);
        let id = self.id.clone();
        let live = Arc::clone(&self.live);
        self.work = Work::Acting(Box::pin(async move {
            let goal = intent.carry_out(&shared.ports, &id).await;
            if let Some(goal) = &goal {
                act::put_siblings_back(&shared.ports, &live, goal).await;
            }
            Done::Asked(goal)
        }));
    }

    /// Looks for prompts of ours in a session whose goal is not active, once nothing acts (X8).
    fn next_look(&mut self) {
        if !self.look_due || !matches!(self.work, Work::Idle) {
            return;
        }
        self.look_due = false;
        if self.is_active() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let read = Arc::clone(&self.read);
        let known = self.wire.messages();
        self.work = Work::Acting(Box::pin(async move {
            let found = late::look(&shared.ports, &read, &known).await;
            Done::Looked(found.unwrap_or_else(|error| {
                tracing::warn!(
                    error = error.message,
                    "late prompts could not be looked for"
                );
                Late::default()
            }))
        }));
    }

    fn refuse_intents(&mut self) {
        for intent in self.intents.drain(..) {
            intent.refuse();
        }
    }
}

impl Work {
    /// Waits for what runs; for ever if nothing does. May be dropped while waiting.
    async fn next(&mut self) -> Woken {
        let woken = match self {
            Self::Idle => std::future::pending().await,
            Self::Thinking(future) => Woken::Observed(Box::new(future.await)),
            Self::Auditing(audit) => match (&mut audit.task).await {
                Ok(outcome) => return Woken::Audited(outcome),
                Err(error) => {
                    tracing::error!(%error, "an audit ended without an outcome");
                    let failure = goal_core::judge::AuditFailure::Connection;
                    return Woken::Audited(AuditOutcome::Failed(failure));
                }
            },
            Self::Acting(future) => Woken::Done(Box::new(future.await)),
        };
        *self = Self::Idle;
        woken
    }
}

/// Sleeps until `at`; for ever without one.
pub(crate) async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
