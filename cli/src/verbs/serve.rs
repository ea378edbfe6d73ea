//! `serve`: runs the loop for every session of a server, and tells what happens.

use std::process::ExitStatus;
use std::time::Duration;

use goal_engine::Engine;
use goal_engine::error::Code;
use goal_engine::host::Connected;
use goal_engine::update::Update;
use opencode_client::Managed;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::args::{Connection, Serve};
use crate::connect::{self, PASSWORD_VARIABLE, ServerFacts};
use crate::failure::{Exit, Failure, Stop};
use crate::json;
use crate::output::{Output, Printer, json_line};
use crate::signals::Signals;
use crate::timeline::Timeline;

/// How long the sessions of stopped audits may take to be deleted.
const AUDITS_END: Duration = Duration::from_secs(5);

/// Runs until a signal, until nobody reads the output, or until a server of its own ends.
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
        mut managed,
        auditor,
    } = connected;
    let mut teller = Teller {
        timeline: Timeline::new(super::clock().zone, &limits),
        json: output.is_json(),
        server: ServerFacts::from(&server),
        printer: Printer::to_stdout(),
    };
    let engine = Engine::start(ports, events, driver);
    let mut updates = engine.updates();
    let ended = tokio::select! {
        stop = teller.tell_all(&engine, &mut updates) => Err(stop),
        () = signals.next() => Ok(Exit::Fine),
        status = end_of(managed.as_mut()) => Err(server_ended(status).into()),
    };
    let quiet_end = async {
        engine.shutdown().await;
        if !auditor.finish(AUDITS_END).await {
            tracing::warn!("audit sessions are left over; the next start deletes them");
        }
        if let Some(managed) = managed.take()
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
            let update = tokio::select! {
                update = updates.recv() => update,
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
        if self.json {
            let line = json_line(&json::event(update, &self.server))?;
            return self.printer.line(line).await;
        }
        for line in self.timeline.update(update) {
            self.printer.line(line).await?;
        }
        Ok(())
    }

    async fn tell_views(&mut self, engine: &Engine) -> Result<(), Stop> {
        let now = super::now();
        for view in engine.list() {
            let line = if self.json {
                Some(json_line(&json::phase(now, &view))?)
            } else {
                self.timeline.view(now, &view)
            };
            if let Some(line) = line {
                self.printer.line(line).await?;
            }
        }
        Ok(())
    }

    /// Which server it is and how others reach it; programs read that in the event `ready`.
    async fn tell_server(&mut self) -> Result<(), Stop> {
        if self.json {
            return Ok(());
        }
        let server = &self.server;
        let now = super::now();
        let version = say!("serve.version", version = server.version);
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
        for line in lines {
            self.printer.line(line).await?;
        }
        Ok(())
    }

    /// Tells what is left, and waits until it is printed.
    async fn finish(mut self, updates: &mut Receiver<Update>) -> Result<(), Stop> {
        while let Ok(update) = updates.try_recv() {
            self.tell(&update).await?;
        }
        self.printer.finish().await
    }
}

/// Waits for the end of the server that was started here; forever if there is none.
async fn end_of(managed: Option<&mut Managed>) -> std::io::Result<ExitStatus> {
    match managed {
        Some(managed) => managed.wait_exit().await,
        None => std::future::pending().await,
    }
}

fn server_ended(status: std::io::Result<ExitStatus>) -> Failure {
    let status = match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Failure::of(Code::Server, say!("error.serverEnded", status = status))
}
