//! `cargo xtask simulate`: many seeds, on all cores, until they are played or Ctrl-C.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use scenarios::simulation::{Failure, examine};

/// How often the progress is shown.
const PROGRESS: Duration = Duration::from_secs(5);

/// Failures that are shortened and shown: one fault of the engine shows in many seeds.
const SHOWN: usize = 10;

/// Exit code of a run that somebody stopped.
const STOPPED: u8 = 130;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let [first, count] = numbers[..] else {
        println!("usage: simulate FIRST_SEED COUNT");
        return ExitCode::from(2);
    };
    let stop = AtomicBool::new(false);
    let next = AtomicU64::new(0);
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let tell = tell.clone();
            let (stop, next) = (&stop, &next);
            scope.spawn(move || play(first, count, stop, next, &tell));
        }
        drop(tell);
        watch(count, &stop, told)
    })
}

fn play(
    first: u64,
    count: u64,
    stop: &AtomicBool,
    next: &AtomicU64,
    tell: &Sender<Option<Failure>>,
) {
    while !stop.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count || tell.send(examine(first.wrapping_add(number))).is_err() {
            return;
        }
    }
}

/// Shows what was played and found; ends with the players, or at a signal.
fn watch(count: u64, stop: &AtomicBool, told: Receiver<Option<Failure>>) -> ExitCode {
    let signals = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (forward, mut results) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        while let Ok(result) = told.recv() {
            if forward.send(result).is_err() {
                return;
            }
        }
    });
    let signals = match signals {
        Ok(signals) => signals,
        Err(error) => {
            println!("no signals can be heard: {error}");
            return ExitCode::FAILURE;
        }
    };
    signals.block_on(async {
        let mut tally = Tally::begins(count);
        let mut tick = tokio::time::interval(PROGRESS);
        let mut stopped = false;
        loop {
            tokio::select! {
                result = results.recv() => match result {
                    Some(result) => tally.takes(result),
                    None => break,
                },
                _ = tick.tick() => tally.shows(),
                _ = tokio::signal::ctrl_c(), if !stopped => {
                    println!("stopping; what was found follows");
                    stopped = true;
                    stop.store(true, Ordering::Relaxed);
                }
            }
            if tally.failures >= SHOWN {
                stop.store(true, Ordering::Relaxed);
            }
        }
        tally.shows();
        match (tally.failures, stopped) {
            (0, false) => ExitCode::SUCCESS,
            (0, true) => ExitCode::from(STOPPED),
            (_, _) => ExitCode::FAILURE,
        }
    })
}

struct Tally {
    begun: Instant,
    count: u64,
    done: u64,
    failures: usize,
}

impl Tally {
    fn begins(count: u64) -> Self {
        Self {
            begun: Instant::now(),
            count,
            done: 0,
            failures: 0,
        }
    }

    fn takes(&mut self, result: Option<Failure>) {
        self.done += 1;
        if let Some(failure) = result {
            self.failures += 1;
            println!("\n{failure}");
        }
    }

    fn shows(&self) {
        let done = u32::try_from(self.done).unwrap_or(u32::MAX);
        let rate = f64::from(done) / self.begun.elapsed().as_secs_f64().max(0.001);
        println!(
            "{} of {} seeds, {rate:.0} a second, {} failed",
            self.done, self.count, self.failures
        );
    }
}
