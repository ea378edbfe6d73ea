//! (d) How long after the quiet window's end the prompt goes out, audit included.

use std::time::{Duration, Instant};

use testkit::fake::FakeServer;

use crate::bare::{self, Task, fastest_tenth};
use crate::cycles::millis;
use crate::figure::Figure;
use crate::stage::{AT_ONCE, Cast, Stage, server, session};
use crate::{Result, Scale};

/// The quiet window.
const QUIET: Duration = Duration::from_millis(20);

/// Round trips of a cycle of which each waits for the one before: session, status, sub-agents,
/// messages; what the audit asks, all at once; its session, its verdict; session, write, the last
/// look, prompt.
const ROUND_TRIPS: u32 = 11;

/// Between asking a server of this machine and its answer: next to nothing, and what the real one
/// takes at best.
const DELAYS: [(Duration, &str); 2] = [
    (Duration::from_millis(5), "5 ms a call"),
    (Duration::ZERO, "no time a call"),
];

pub(crate) async fn to_the_prompt(scale: Scale) -> Result<Vec<Figure>> {
    let times = scale.of(200, 5);
    let mut figures = Vec::new();
    for (delay, how) in DELAYS {
        let unavoidable = unavoidable(delay, times).await?;
        let took = took(delay, times).await?;
        let ratio = took.as_secs_f64() / unavoidable.as_secs_f64();
        let what = format!("end of the quiet window to prompt against its round trips, {how}");
        figures.push(Figure::at_most("d", what, ratio, 1.5, "x"));
        figures.push(Figure::told("d", "… to the prompt", millis(took)));
        let what = format!("… {ROUND_TRIPS} round trips");
        figures.push(Figure::told("d", what, millis(unavoidable)));
    }
    Ok(figures)
}

/// A cycle's time behind its quiet window.
async fn took(delay: Duration, times: usize) -> Result<Duration> {
    let mut cast = Cast::at_work(/*goals*/ 1, /*bytes*/ 200);
    cast.delay = delay;
    let stage = Stage::set(&cast, &AT_ONCE).await?;
    stage.settle().await?;
    let id = session(0);
    let mut all = Vec::new();
    for _ in 0..times {
        stage.rest().await?;
        let before = stage.server.prompts_total();
        let idle = Instant::now();
        if !stage.server.finish_turn(&id) {
            return Err("no turn runs".into());
        }
        let sent = |server: &FakeServer| server.prompts_total() > before;
        stage.until("a prompt", sent).await?;
        let prompt = stage.server.prompts(&id).pop().ok_or("no prompt")?;
        all.push((prompt.at - idle).saturating_sub(QUIET));
    }
    stage.clear().await?;
    Ok(fastest_tenth(all))
}

/// The time of the round trips alone.
async fn unavoidable(delay: Duration, times: usize) -> Result<Duration> {
    let mut cast = Cast::at_work(/*goals*/ 1, /*bytes*/ 200);
    cast.busy = false;
    cast.turns.held = false;
    cast.delay = delay;
    let mut server = server(&cast).await?;
    let took = bare::run(&server, Task::Paths { times }).await?;
    // It keeps no rule but that of the calls.
    drop(server.violations());
    Ok(took.wall)
}
