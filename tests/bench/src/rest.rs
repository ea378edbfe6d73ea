//! (f) Goals that rest cost nothing.

use std::time::Duration;

use crate::cycles::millis;
use crate::figure::Figure;
use crate::stage::{Cast, Stage};
use crate::{Result, Scale, usage};

/// From the start to the first count: what a start brings with it is over.
const START: Duration = Duration::from_secs(20);

pub(crate) async fn wake_ups(scale: Scale) -> Result<Vec<Figure>> {
    let goals = scale.of(1_000, 10);
    let seconds = scale.of(60, 2);
    let mut cast = Cast::at_work(goals, /*bytes*/ 200);
    cast.status = "paused";
    cast.busy = false;
    // The limits are those that everybody has.
    let stage = Stage::set(&cast, &[]).await?;
    let pid = stage.serve.pid();
    tokio::time::sleep(START / u32::try_from(60 / seconds)?).await;
    let (sleeps, used) = (usage::sleeps(pid)?, usage::processor_time(pid)?);
    tokio::time::sleep(Duration::from_secs(u64::try_from(seconds)?)).await;
    let sleeps = usage::sleeps(pid)? - sleeps;
    let used = usage::processor_time(pid)? - used;
    let threads = usage::threads(pid)?;
    stage.clear().await?;
    let seconds = f64::from(u32::try_from(seconds)?);
    let per_second = f64::from(u32::try_from(sleeps)?) / seconds;
    Ok(vec![
        Figure::at_most(
            "f",
            format!("wake-ups a second of all {threads} threads, {goals} paused goals"),
            per_second,
            1.0,
            "",
        ),
        Figure::told("f", format!("processor time in {seconds} s"), millis(used)),
    ])
}
