//! `serve`: runs the loop for every session of a server, and tells what happens.

use std::time::Duration;

use goal_engine::Engine;
use goal_engine::error::Code;
use goal_engine::host::{Connected, ServerState};
use goal_engine::schedule::Scheduler;
use goal_engine::update::Update;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::args::{Connection, Serve};
use crate::connect::{self, PASSWORD_VARIABLE, ServerFacts};
use crate::failure::{Exit, Failure, Stop};
use crate::output::{Output, Printer, json_line};
use crate::signals::Signals;
use crate::timeline::Timeline;
use crate::{json, log, text};

/// How long the sessions of stopped audits may take to be deleted.
const AUDITS_END: Duration = Duration::from_secs(5);

/// Runs until a signal, or until nobody reads the output.
pub(crate) async fn serve(
    args: &Serve,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let limits = args.limits.limits()?;
    let mut signals = Signals::listen().map_err(|error| Failure::system(&error))?;
    let connected = tokio::select! {
        connected = connect::for_serve(args, connection, &limits) => connected?,
        () = signals.next() => return Ok(Exit::Fine),
    };
    let Connected {
        ports,
        events,
        driver,
        server,
        managed,
        auditor,
        client: _,
    } = connected;
    let mut teller = Teller {
        timeline: Timeline::of_host(super::clock().zone, &limits, output.page()),
        json: output.is_json(),
        server: ServerFacts::from(&server),
        states: managed.as_ref().map(|managed| managed.state()),
        printer: Printer::to_stdout(),
    };
    let (version, managed_here) = (&server.version, server.managed);
    tracing::info!(version, managed = managed_here, url = server.url, "serving");
    let engine = Engine::start(ports.clone(), events, driver.clone());
    let mut updates = engine.updates();
    let scheduler = Scheduler::start(ports, driver, engine.updates());
    let ended = tokio::select! {
        stop = teller.tell_all(&engine, &mut updates) => Err(stop),
        () = signals.next() => Ok(Exit::Fine),
    };
    let quiet_end = async {
        tokio::join!(scheduler.shutdown(), engine.shutdown());
        if !auditor.finish(AUDITS_END).await {
            tracing::warn!("audit sessions are left over; the next start deletes them");
        }
        if let Some(managed) = managed
            && let Err(error) = managed.stop().await
        {
            tracing::warn!(%error, "the OpenCode server could not be ended");
        }
        let printed = teller.finish(&mut updates).await;
        ended.and_then(|exit| printed.map(|()| exit))
    };
    tokio::select! {
        ended = quiet_end => ended,
        () = signals.next() => Ok(Exit::Interrupted),
    }
}

/// Turns updates into lines.
struct Teller {
    timeline: Timeline,
    json: bool,
    server: ServerFacts,
    /// How a server of ours stands.
    states: Option<watch::Receiver<ServerState>>,
    printer: Printer,
}

impl Teller {
    /// Tells everything, until it cannot be told any more.
    async fn tell_all(&mut self, engine: &Engine, updates: &mut Receiver<Update>) -> Stop {
        match self.try_tell_all(engine, updates).await {
            Ok(never) => match never {},
            Err(stop) => stop,
        }
    }

    async fn try_tell_all(
        &mut self,
        engine: &Engine,
        updates: &mut Receiver<Update>,
    ) -> Result<std::convert::Infallible, Stop> {
        self.tell_server().await?;
        loop {
            let patience = self.timeline.patience(super::now());
            let update = tokio::select! {
                update = updates.recv() => update,
                () = within(patience) => {
                    let lines = self.timeline.overdue(super::now());
                    self.print(lines).await?;
                    continue;
                }
                state = next_state(&mut self.states) => {
                    self.tell_state(&state).await?;
                    continue;
                }
                stop = self.printer.ended() => return Err(stop),
            };
            match update {
                Ok(update) => self.tell(&update).await?,
                // A reader so slow that updates were lost is right again after a full list.
                Err(RecvError::Lagged(_)) => self.tell_views(engine).await?,
                Err(RecvError::Closed) => {
                    let message = say!("error.engineEnded");
                    return Err(Failure::of(Code::ShuttingDown, message).into());
                }
            }
        }
    }

    async fn tell(&mut self, update: &Update) -> Result<(), Stop> {
        log::heard(update);
        if self.json {
            let line = json_line(&json::event(update, &self.server))?;
            return self.printer.line(line).await;
        }
        let lines = self.timeline.update(update);
        self.print(lines).await
    }

    async fn print(&mut self, lines: Vec<String>) -> Result<(), Stop> {
        for line in lines {
            self.printer.line(line).await?;
        }
        Ok(())
    }

    async fn tell_views(&mut self, engine: &Engine) -> Result<(), Stop> {
        let now = super::now();
        for view in engine.list() {
            let lines = if self.json {
                vec![json_line(&json::phase(now, &view))?]
            } else {
                self.timeline.view(now, &view)
            };
            self.print(lines).await?;
        }
        Ok(())
    }

    /// Tells that a server of ours ended, or runs again, perhaps elsewhere.
    async fn tell_state(&mut self, state: &ServerState) -> Result<(), Stop> {
        let now = super::now();
        if let ServerState::Running(server) = state {
            self.server = ServerFacts::from(server);
        }
        if self.json {
            let event = match state {
                ServerState::Running(_) => json::moved(now, &self.server),
                ServerState::Away { why, retry_in } => {
                    json::connection(now, /*connected*/ false, why, Some(*retry_in))
                }
            };
            return self.printer.line(json_line(&event)?).await;
        }
        match state {
            ServerState::Running(_) => {
                self.timeline.server_back();
                self.tell_server().await
            }
            ServerState::Away { why, retry_in } => {
                let line = self.timeline.server_away(now, why, *retry_in);
                self.printer.line(line).await
            }
        }
    }

    /// Which server it is and how others reach it; programs read that in the event `ready`.
    async fn tell_server(&mut self) -> Result<(), Stop> {
        if self.json {
            return Ok(());
        }
        let server = &self.server;
        let now = super::now();
        let version = text::one_line(&server.version);
        let version = say!("serve.version", version = version);
        let mut lines = vec![self.timeline.server(now, &version, &server.url)];
        if server.managed {
            let how = if connect::password_is_set() {
                say!(
                    "serve.managed.shared",
                    url = server.url,
                    variable = PASSWORD_VARIABLE
                )
            } else {
                say!("serve.managed.own", variable = PASSWORD_VARIABLE)
            };
            lines.push(self.timeline.server(now, &say!("serve.managed"), &how));
        }
        self.print(lines).await
    }

    /// Tells what is left, and waits until it is printed.
    async fn finish(mut self, updates: &mut Receiver<Update>) -> Result<(), Stop> {
        while let Ok(update) = updates.try_recv() {
            self.tell(&update).await?;
        }
        let rest = self.timeline.rest();
        self.print(rest).await?;
        self.printer.finish().await
    }
}

/// Waits so long; forever without a time.
async fn within(patience: Option<Duration>) {
    match patience {
        Some(patience) => tokio::time::sleep(patience).await,
        None => std::future::pending().await,
    }
}

/// Waits for the next state of a server of ours; forever if there is none.
async fn next_state(states: &mut Option<watch::Receiver<ServerState>>) -> ServerState {
    if let Some(states) = states
        && states.changed().await.is_ok()
    {
        return states.borrow_and_update().clone();
    }
    std::future::pending().await
}
