//! The play in the terminal alone, with the `openchamber` command.

use std::time::Instant;

use crate::conduct::Score;
use crate::play;
use crate::result::{self, End};
use crate::serve::Serve;
use crate::signals::Signals;
use crate::stage::Stage;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// How long the session is quiet before the goal is looked at: shorter than usual, so that the
/// demo is, too.
const QUIET_MS: &str = "3000";

/// Sets the stage, plays, and clears it away whatever happened.
///
/// # Errors
/// What did not go as it should, or that a signal asked to stop.
pub(crate) async fn demo(tell: &Tell, mut signals: Signals) -> Result<(), Trouble> {
    let began = Instant::now();
    tell.heading("A goal in a real OpenCode session, from start to end (about 40 seconds)");
    tell.line(crate::INTRO);
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
    crate::cleared(stage.clear().await, &shown, tell)?;
    shown?;
    tell.line(&format!("It took {} seconds.", began.elapsed().as_secs()));
    tell.line("Next, with your own model: README.md, \"Attach it to your own server\".");
    Ok(())
}

/// Starts the goal and the loop, and plays until `watch` says that the goal has ended.
async fn perform(stage: &Stage, serve: &mut Option<Serve>, tell: &Tell) -> Result<End, Trouble> {
    let score = Score::hand_out(&stage.model, stage.project.folder())?;
    let session = stage.session.as_str();
    tell.heading("A session in a project that has a CSV exporter, but no tests");
    tell.line(&format!("folder   {}", stage.project.folder().display()));
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
