//! `cargo xtask demo`: a goal is pursued on the real OpenCode server, from start to end.
//!
//! ```text
//! demo ──► openchamber goal start · serve · watch · show ──► OpenCode (real, scratch home)
//!   └── opens the gates of the script ──► ScriptedModel ◄───────────┘
//! ```
//!
//! Reading order: [`play`] is what happens, [`stage`] is where, [`conduct`] leads through it,
//! [`agent`] tells what the agent does, [`result`] checks the end. The binary expects the
//! `openchamber` command beside itself, as `cargo build` puts it there.

mod agent;
mod conduct;
mod play;
mod result;
mod serve;
mod signals;
mod stage;
mod tell;
mod trouble;

use std::process::ExitCode;
use std::time::Instant;

use crate::conduct::Score;
use crate::result::End;
use crate::serve::Serve;
use crate::signals::Signals;
use crate::stage::Stage;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// Exit code after Ctrl-C, as shells give it.
const EXIT_INTERRUPTED: u8 = 130;

/// How long the session is quiet before the goal is looked at: shorter than usual, so that the
/// demo is, too.
const QUIET_MS: &str = "3000";

const INTRO: &str = "\
The OpenCode server is the real one from npm: its tools, the files, the tests
and the goal are real. The model is a script, so no key and no money is needed.

Watch an agent that stops too early, twice. Each time an auditor looks at what
was done, and the agent is sent on, until the goal is verified.";

#[tokio::main]
async fn main() -> ExitCode {
    let tell = Tell::to_stdout();
    let outcome = match Signals::listen() {
        Ok(signals) => demo(&tell, signals).await,
        Err(error) => Err(Trouble::failed(format!(
            "the system lets nobody listen for Ctrl-C: {error}"
        ))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            tell.trouble(&trouble);
            match trouble {
                Trouble::Interrupted => ExitCode::from(EXIT_INTERRUPTED),
                Trouble::Failed(_) => ExitCode::FAILURE,
            }
        }
    }
}

/// Sets the stage, plays, and clears it away whatever happened.
async fn demo(tell: &Tell, mut signals: Signals) -> Result<(), Trouble> {
    let began = Instant::now();
    tell.heading("A goal in a real OpenCode session, from start to end (about 40 seconds)");
    tell.line(INTRO);
    let stage = tokio::select! {
        stage = Stage::set() => stage?,
        () = signals.next() => return Err(Trouble::Interrupted),
    };
    let mut serve = None;
    let played = tokio::select! {
        end = perform(&stage, &mut serve, tell) => end,
        () = signals.next() => Err(Trouble::Interrupted),
    };
    let stopped = match serve {
        Some(serve) => serve.end().await,
        None => Ok(()),
    };
    let shown = match (played, stopped) {
        (Ok(end), Ok(())) => tokio::select! {
            shown = result::show(&stage, &end, tell) => shown,
            () = signals.next() => Err(Trouble::Interrupted),
        },
        (Err(trouble), _) | (Ok(_), Err(trouble)) => Err(trouble),
    };
    if let Err(left) = stage.clear().await {
        if let Err(before) = &shown {
            tell.trouble(before);
        }
        return Err(left);
    }
    tell.heading("Nothing is left running, and the scratch folder is removed.");
    shown?;
    tell.line(&format!("It took {} seconds.", began.elapsed().as_secs()));
    tell.line("Next, with your own model: README.md, \"Attach it to your own server\".");
    Ok(())
}

/// Starts the goal and the loop, and plays until `watch` says that the goal has ended.
async fn perform(stage: &Stage, serve: &mut Option<Serve>, tell: &Tell) -> Result<End, Trouble> {
    let score = Score::hand_out(&stage.model, &stage.project())?;
    let session = stage.session.as_str();
    tell.heading("A session in a project that has a CSV exporter, but no tests");
    tell.line(&format!("folder   {}", stage.project().display()));
    tell.line(&format!(
        "server   {} (in OPENCODE_SERVER_URL)",
        stage.url()
    ));
    tell.line(&format!("session  {session}"));

    let budget = play::TOKEN_BUDGET.to_string();
    // As a shell takes it, within 80 columns.
    let objective = play::OBJECTIVE.replace("; ", "; \\\n");
    tell.command(&format!(
        "openchamber goal start {session} \\\n    \
         --send --token-budget {budget} --objective \\\n    \
         \"{objective}\""
    ));
    let start = [
        "goal",
        "start",
        session,
        "--send",
        "--token-budget",
        &budget,
        "--objective",
        play::OBJECTIVE,
    ];
    stage.run(&start).await?;
    tell.command(&format!(
        "openchamber goal serve --idle-quiet-ms {QUIET_MS}"
    ));
    let command = stage.openchamber(&["goal", "serve", "--idle-quiet-ms", QUIET_MS]);
    let serve = serve.insert(Serve::start(command)?);
    let played = async {
        match score.play(stage, tell).await {
            // What is left is the end of the goal, which `watch` tells.
            Ok(()) => std::future::pending().await,
            Err(trouble) => trouble,
        }
    };
    tokio::select! {
        watched = stage.watch() => End::read(&watched?),
        trouble = played => Err(trouble),
        trouble = serve.ended() => Err(trouble),
    }
}
