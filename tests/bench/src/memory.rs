//! (b) The most memory that `serve` ever holds.

use crate::figure::Figure;
use crate::stage::{AT_ONCE, Cast, Stage};
use crate::{Result, Scale, usage};

/// Length of a message.
const MESSAGE_BYTES: usize = 2_000;

const MEGABYTE: f64 = 1_000_000.0;

pub(crate) async fn peak(scale: Scale) -> Result<Vec<Figure>> {
    let goals = scale.of(1_000, 10);
    let few = held(goals / 10).await?;
    let peak = held(goals).await?;
    let many = held(goals * 2).await?;
    let growth = megabytes(many.saturating_sub(peak)) * 1_000.0 / float(goals);
    Ok(vec![
        Figure::at_most(
            "b",
            format!("peak memory, {goals} goals with ten messages of 2 kB"),
            megabytes(peak),
            25.0,
            " MB",
        ),
        Figure::told("b", "… per further goal", format!("{growth:.1} kB")),
        Figure::told(
            "b",
            format!("… {} goals", goals / 10),
            format!("{:.2} MB", megabytes(few)),
        ),
    ])
}

/// The peak after a start at which every goal rests, so that all cycles begin together, and a
/// further cycle of each.
async fn held(goals: usize) -> Result<u64> {
    let mut cast = Cast::at_work(goals, MESSAGE_BYTES);
    cast.busy = false;
    let stage = Stage::set(&cast, &AT_ONCE).await?;
    let all = |server: &testkit::fake::FakeServer| server.prompts_total() >= goals;
    stage.until("a first prompt of every goal", all).await?;
    stage.drive(goals, /*at_once*/ 8).await?;
    stage.rest().await?;
    let peak = usage::memory_peak(stage.serve.pid())?;
    stage.clear().await?;
    Ok(peak)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MEGABYTE
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn float(count: usize) -> f64 {
    count as f64
}
