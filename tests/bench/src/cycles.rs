//! (a) What a cycle costs beside its calls, and (c) whether it costs the same however many goals
//! there are.

use std::time::Duration;

use testkit::fake::FakeServer;

use crate::bare::{self, Task};
use crate::figure::Figure;
use crate::stage::{self, AT_ONCE, Cast, Stage};
use crate::{Result, Scale, usage};

/// Cycles that are under way at once.
const UNDER_WAY: usize = 8;

/// Length of a message of a session's past.
const MESSAGE_BYTES: usize = 200;

/// What cycles took.
struct Cost {
    per_cycle: Duration,
    calls: f64,
}

/// (a)
pub(crate) async fn cost(scale: Scale) -> Result<Vec<Figure>> {
    let goals = scale.of(1_000, 10);
    let cycles = scale.of(2_000, 20);
    let engine = engine(goals, cycles).await?;
    let mut figures = Vec::new();
    for (stream, with) in [(true, "calls and event stream"), (false, "calls alone")] {
        let bare = bare(goals, cycles, stream).await?;
        // Both made the same calls, or the comparison says nothing.
        if (engine.calls - bare.calls).abs() > 0.05 {
            let message = format!("{} calls a cycle against {}", engine.calls, bare.calls);
            return Err(message.into());
        }
        let ratio = engine.per_cycle.as_secs_f64() / bare.per_cycle.as_secs_f64();
        let what = format!("processor time of a cycle, {goals} goals, against its {with}");
        figures.push(Figure::at_most("a", what, ratio, 2.0, "x"));
        let what = format!("… of its {with}");
        figures.push(Figure::told("a", what, millis(bare.per_cycle)));
    }
    figures.push(Figure::told("a", "… of a cycle", millis(engine.per_cycle)));
    let calls = format!("{:.1}", engine.calls);
    figures.push(Figure::told("a", "calls of a cycle", calls));
    Ok(figures)
}

/// (c)
pub(crate) async fn flatness(scale: Scale) -> Result<Vec<Figure>> {
    let cycles = scale.of(1_000, 20);
    let mut costs = Vec::new();
    for goals in [10, scale.of(1_000, 20), scale.of(10_000, 40)] {
        costs.push((goals, engine(goals, cycles).await?.per_cycle));
    }
    let mut figures = Vec::new();
    let (fewest, least) = costs[0];
    for (goals, cost) in &costs[1..] {
        let ratio = cost.as_secs_f64() / least.as_secs_f64();
        let what = format!("processor time of a cycle, {goals} goals against {fewest}");
        figures.push(Figure::at_most("c", what, ratio, 1.2, "x"));
    }
    for (goals, cost) in costs {
        let what = format!("… of a cycle, {goals} goals");
        figures.push(Figure::told("c", what, millis(cost)));
    }
    Ok(figures)
}

/// Cycles of `serve`.
async fn engine(goals: usize, cycles: usize) -> Result<Cost> {
    let cast = Cast::at_work(goals, MESSAGE_BYTES);
    let stage = Stage::set(&cast, &AT_ONCE).await?;
    stage.settle().await?;
    // The first cycles open connections and files.
    stage.drive(UNDER_WAY.min(goals) * 4, UNDER_WAY).await?;
    stage.rest().await?;
    stage.server.forget_requests();
    let before = usage::processor_time(stage.serve.pid())?;
    stage.drive(cycles, UNDER_WAY).await?;
    stage.rest().await?;
    let used = usage::processor_time(stage.serve.pid())? - before;
    let cost = cost_of(&stage.server, used, cycles);
    stage.clear().await?;
    Ok(cost)
}

/// The same calls and nothing else.
async fn bare(goals: usize, cycles: usize, stream: bool) -> Result<Cost> {
    let mut cast = Cast::at_work(goals, MESSAGE_BYTES);
    cast.busy = false;
    // What the turn before the cycle said, which `serve` finds there, too.
    if let Some(last) = cast.said.last_mut() {
        *last = last.repeat(cast.turns.deltas);
    }
    cast.turns.held = false;
    let mut server = stage::server(&cast).await?;
    let task = Task::Cycles {
        goals,
        cycles,
        at_once: UNDER_WAY,
        stream,
    };
    let took = bare::run(&server, task).await?;
    let mut cost = cost_of(&server, took.processor, cycles);
    // What came before everything.
    let before = if stream { 2 } else { 1 };
    cost.calls -= stage::ratio(before, cycles);
    // It keeps no rule but that of the calls.
    drop(server.violations());
    Ok(cost)
}

fn cost_of(server: &FakeServer, used: Duration, cycles: usize) -> Cost {
    let calls = server.requests().values().sum();
    let cycles_count = u32::try_from(cycles).unwrap_or(u32::MAX);
    Cost {
        per_cycle: used / cycles_count,
        calls: stage::ratio(calls, cycles),
    }
}

/// In milliseconds, as of the machine at hand.
pub(crate) fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1_000.0)
}
