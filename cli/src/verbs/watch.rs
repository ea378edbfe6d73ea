//! `watch`: follows goals as any other client can, from the sessions and their events alone. It
//! drives nothing and works with and without a running `serve`.

use std::collections::BTreeMap;
use std::time::Duration;

use goal_core::goal::{Goal, GoalId, SessionId, Status};
use goal_core::limits::Limits;
use goal_core::payload;
use goal_engine::command;
use goal_engine::error::{Code, Error};
use goal_engine::host::CommandConnection;
use goal_engine::ports::{Events, Ports, ServerEvent, SessionRead};
use goal_engine::server::ServerEvents;
use goal_engine::view::GoalView;
use serde_json::Value;

use crate::args::{Connection, Watch};
use crate::connect::{self, ServerFacts};
use crate::failure::{Exit, Failure, Stop};
use crate::output::{Output, Printer, json_line};
use crate::signals::Signals;
use crate::timeline::Timeline;
use crate::{args, json};

/// A look without an event, in case one was missed. The events are what is relied on.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Pause before a server that did not answer at the start is tried again.
const CONNECT_AGAIN: Duration = Duration::from_secs(2);

/// Watches one goal until it ends, or all of them.
pub(crate) async fn watch(
    args: &Watch,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args.session.as_deref().map(args::session).transpose()?;
    let mut signals = Signals::listen().map_err(|error| Failure::system(&error))?;
    // Nobody waits for an end of all goals: a signal is the way to stop watching them.
    let interrupted = match &session {
        Some(_) => Exit::Interrupted,
        None => Exit::Fine,
    };
    let time = async {
        match args.timeout {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds.into())).await,
            None => std::future::pending().await,
        }
    };
    let mut printer = Printer::to_stdout();
    let result = tokio::select! {
        result = connected(session, connection, output, &mut printer) => result,
        () = signals.next() => Ok(interrupted),
        () = time => Ok(Exit::Timeout),
    };
    let printed = printer.finish().await;
    result.and_then(|exit| printed.map(|()| exit))
}

/// Follows one goal to its end, for another verb; `shows`: with its lines for people.
pub(crate) async fn follow(
    session: SessionId,
    connected: CommandConnection,
    events: &mut ServerEvents,
    output: &Output,
    shows: bool,
) -> Result<Exit, Stop> {
    let mut watcher = Watcher::new(Some(session), connected, output);
    watcher.json = false;
    watcher.silent = !shows;
    let mut printer = Printer::to_stdout();
    let result = watcher.run(events, &mut printer).await;
    let printed = printer.finish().await;
    result.and_then(|exit| printed.map(|()| exit))
}

/// Connects, for as long as it takes, and watches.
async fn connected(
    session: Option<SessionId>,
    connection: &Connection,
    output: &mut Output,
    printer: &mut Printer,
) -> Result<Exit, Stop> {
    let limits = Limits::DEFAULT;
    let mut told = false;
    let (connected, mut events) = loop {
        let failure = match connect::for_watch(connection, &limits).await {
            Ok(connected) => break connected,
            Err(failure) => failure,
        };
        if failure.code != Code::Unreachable.name() {
            return Err(failure.into());
        }
        if !std::mem::replace(&mut told, true) {
            output.remark(&say!("watch.away", message = failure.message));
        }
        tokio::time::sleep(CONNECT_AGAIN).await;
    };
    let mut watcher = Watcher::new(session, connected, output);
    watcher.run(&mut events, printer).await
}

/// What is known of the goals that are watched.
struct Watcher {
    ports: Ports,
    limits: Limits,
    /// The one session, or all of them.
    session: Option<SessionId>,
    /// The goals by their sessions, as they were shown last.
    known: BTreeMap<SessionId, GoalView>,
    /// Every watched goal was read once.
    looked: bool,
    timeline: Timeline,
    json: bool,
    /// Nothing is printed: only the end counts.
    silent: bool,
    server: ServerFacts,
    /// Lines to print.
    lines: Vec<String>,
}

impl Watcher {
    /// Nothing was looked at yet. It prints as the command's output does.
    fn new(session: Option<SessionId>, connected: CommandConnection, output: &Output) -> Self {
        let limits = Limits::DEFAULT;
        let CommandConnection { ports, server, .. } = connected;
        Self {
            session,
            known: BTreeMap::new(),
            looked: false,
            timeline: Timeline::of_watcher(super::clock().zone, &limits, output.page()),
            json: output.is_json(),
            silent: false,
            server: ServerFacts::from(&server),
            lines: Vec::new(),
            ports,
            limits,
        }
    }

    async fn run(&mut self, events: &mut dyn Events, printer: &mut Printer) -> Result<Exit, Stop> {
        let mut exit = self.look().await;
        loop {
            let lines = std::mem::take(&mut self.lines);
            for line in lines.into_iter().filter(|_| !self.silent) {
                printer.line(line).await?;
            }
            if let Some(exit) = exit? {
                return Ok(exit);
            }
            exit = tokio::select! {
                event = events.next() => self.event(event).await,
                () = tokio::time::sleep(LOOK_AGAIN) => self.look().await,
                stop = printer.ended() => return Err(stop),
            };
        }
    }

    /// Looks at everything that is watched. What a server that is away would say is asked again
    /// when it is back.
    async fn look(&mut self) -> Result<Option<Exit>, Stop> {
        let read = match self.session.clone() {
            Some(session) => match command::show(&self.ports, &session).await {
                Ok(view) => Ok(vec![view]),
                Err(error) if self.has_no_goal(&error) => Ok(Vec::new()),
                Err(error) => Err(error),
            },
            None => command::list(&self.ports).await,
        };
        let views = match read {
            Ok(views) => views,
            Err(error) if self.is_passing(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        self.looked_at(views).await
    }

    async fn looked_at(&mut self, views: Vec<GoalView>) -> Result<Option<Exit>, Stop> {
        let first = !std::mem::replace(&mut self.looked, true);
        if first {
            self.ready(&views)?;
        }
        let gone: Vec<SessionId> = self
            .known
            .keys()
            .filter(|known| views.iter().all(|view| view.session != **known))
            .cloned()
            .collect();
        for session in gone {
            self.cleared(&session)?;
        }
        if self.session.is_some() && views.is_empty() {
            return Ok(Some(Exit::NoGoal));
        }
        let mut exit = None;
        for view in views {
            exit = exit.or(self.seen(view, first).await?);
        }
        Ok(exit)
    }

    async fn event(&mut self, event: ServerEvent) -> Result<Option<Exit>, Stop> {
        match event {
            ServerEvent::Connected => {
                self.connection(/*connected*/ true, "", None)?;
                self.look().await
            }
            ServerEvent::Lost {
                unauthorized: true,
                reason,
                ..
            } => Err(Failure::of(Code::Unauthorized, reason).into()),
            ServerEvent::Lost {
                reason, retry_in, ..
            } => {
                self.connection(/*connected*/ false, &reason, Some(retry_in))?;
                Ok(None)
            }
            ServerEvent::Session(read) if self.is_news(&read) => self.look_at(&read).await,
            ServerEvent::Deleted(session) if self.is_watched(&session) => {
                self.cleared(&session)?;
                Ok(self.session.is_some().then_some(Exit::NoGoal))
            }
            ServerEvent::Session(_)
            | ServerEvent::Deleted(_)
            | ServerEvent::Idle(_)
            | ServerEvent::Busy(..)
            | ServerEvent::Error { .. }
            | ServerEvent::Message { .. }
            | ServerEvent::Request { .. }
            | ServerEvent::Disposed { .. } => Ok(None),
        }
    }

    /// Looks at a session whose goal is not the one that was shown.
    async fn look_at(&mut self, read: &SessionRead) -> Result<Option<Exit>, Stop> {
        let session = read.facts.id.clone();
        match command::show(&self.ports, &session).await {
            Ok(view) => self.seen(view, /*first*/ false).await,
            Err(error) if self.has_no_goal(&error) => {
                if self.known.contains_key(&session) {
                    self.cleared(&session)?;
                }
                Ok(self.session.is_some().then_some(Exit::NoGoal))
            }
            Err(error) if self.is_passing(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in a goal as it is: says what is new, and ends with the one goal that is watched.
    async fn seen(&mut self, view: GoalView, first: bool) -> Result<Option<Exit>, Stop> {
        let live = !first && view.goal.status == Status::Paused;
        let view = match live && self.is_new(&view) {
            true => match self.confirmed(view).await {
                Some(view) => view,
                None => return Ok(None),
            },
            false => view,
        };
        if self.is_new(&view) {
            self.say(&view, first)?;
        }
        let exit = Exit::of_status(view.goal.status).filter(|_| self.session.is_some());
        self.known.insert(view.session.clone(), view);
        Ok(exit)
    }

    /// A pause is told only if it lasts: the loop takes back one that came from the server's
    /// reload (X12).
    async fn confirmed(&self, view: GoalView) -> Option<GoalView> {
        tokio::time::sleep(self.limits.disposal_window + self.limits.write_echo).await;
        let again = command::show(&self.ports, &view.session).await;
        // If it cannot be read, the next look will tell.
        again.ok()
    }

    fn is_news(&self, read: &SessionRead) -> bool {
        if !self.is_watched(&read.facts.id) {
            return false;
        }
        let stored = read
            .metadata
            .as_deref()
            .and_then(|metadata| payload::read(metadata, &self.limits));
        let known = self.known.get(&read.facts.id).map(|view| &view.goal);
        known.map(Marks::of) != stored.as_ref().map(Marks::of)
    }

    fn is_new(&self, view: &GoalView) -> bool {
        let known = self.known.get(&view.session);
        known.map(|known| Marks::of(&known.goal)) != Some(Marks::of(&view.goal))
    }

    fn is_watched(&self, session: &SessionId) -> bool {
        match &self.session {
            Some(watched) => watched == session,
            None => true,
        }
    }

    /// A session that was there and is deleted has no goal any more; one that never was is a
    /// mistake of whoever named it.
    fn has_no_goal(&self, error: &Error) -> bool {
        error.code() == Code::NoGoal || (error.code() == Code::UnknownSession && self.looked)
    }

    /// A failure that says nothing of the goal: the server is away, and is asked again. One that
    /// refuses from the beginning would refuse for ever.
    fn is_passing(&self, error: &Error) -> bool {
        let refuses = matches!(error.code(), Code::Server | Code::NotOpenCode);
        error.code() == Code::Unreachable || (refuses && self.looked)
    }

    fn ready(&mut self, views: &[GoalView]) -> Result<(), Stop> {
        let active = views
            .iter()
            .filter(|view| view.goal.status == Status::Active)
            .count();
        let now = super::now();
        if self.json {
            return self.json_line(&json::ready(now, &self.server, None, active));
        }
        if self.session.is_none() {
            let line = self.timeline.ready(now, active);
            self.lines.push(line);
        }
        Ok(())
    }

    fn say(&mut self, view: &GoalView, first: bool) -> Result<(), Stop> {
        let now = super::now();
        let active = view.goal.status == Status::Active;
        // Of all goals that had ended before, only the one that was asked for is worth a line.
        if !active && first && self.session.is_none() {
            return Ok(());
        }
        if self.json {
            let event = if active {
                json::phase(now, view)
            } else {
                json::settled(now, view)
            };
            return self.json_line(&event);
        }
        let lines = if active {
            self.timeline.progress(now, view)
        } else {
            self.timeline.ended(now, view)
        };
        self.lines.extend(lines);
        Ok(())
    }

    fn cleared(&mut self, session: &SessionId) -> Result<(), Stop> {
        let Some(view) = self.known.remove(session) else {
            return Ok(());
        };
        let now = super::now();
        if self.json {
            return self.json_line(&json::cleared(now, session, &view.goal.id));
        }
        let lines = self.timeline.cleared(now, &view);
        self.lines.extend(lines);
        Ok(())
    }

    fn connection(
        &mut self,
        connected: bool,
        reason: &str,
        retry_in: Option<Duration>,
    ) -> Result<(), Stop> {
        let now = super::now();
        if self.json {
            return self.json_line(&json::connection(now, connected, reason, retry_in));
        }
        let line = self.timeline.connection(now, connected, reason, retry_in);
        self.lines.extend(line);
        Ok(())
    }

    fn json_line(&mut self, event: &Value) -> Result<(), Stop> {
        self.lines.push(json_line(event)?);
        Ok(())
    }
}

/// What of a goal is worth a line when it changes.
#[derive(PartialEq, Eq)]
struct Marks<'a> {
    id: &'a GoalId,
    status: Status,
    turns: u32,
    note: &'a str,
    reason: &'a str,
    budget: Option<u64>,
}

impl<'a> Marks<'a> {
    fn of(goal: &'a Goal) -> Self {
        Self {
            id: &goal.id,
            status: goal.status,
            turns: goal.turns_used,
            note: &goal.note,
            reason: &goal.status_reason,
            budget: goal.token_budget,
        }
    }
}
