//! What goals cost: each figure is a ratio of two things measured in the same run, so that it says
//! the same on every machine.
//!
//! ```text
//! bench ──in memory──▶ FakeServer ◀──HTTP── openchamber goal serve   (a process: CPU, memory, …)
//!   │                       ▲
//!   └──starts──▶ bench bare ┘   the same calls and nothing else      (a process: CPU)
//! ```
//!
//! Reading order: [`stage`] sets a server and a `serve` up and drives turns, [`usage`] reads what a
//! process used, [`bare`] is the yardstick; [`cycles`], [`memory`], [`latency`], [`flood`],
//! [`rest`], [`start`], [`commands`], [`storm`], [`window`] and [`page`] are the figures,
//! [`figure`] is how they are told.

mod bare;
mod browser;
mod commands;
mod cycles;
mod figure;
mod flood;
mod latency;
mod memory;
mod page;
mod rest;
mod stage;
mod start;
mod storm;
mod usage;
mod window;

use std::process::ExitCode;

use crate::figure::{Figure, table};

/// What a bench comes to grief by, in words.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Divides numbers of goals, sessions and repetitions, and the seconds of a wait. 1 is what
    /// the targets are about; anything else only shows that the benches work.
    divisor: usize,
}

impl Scale {
    /// `full`, or the part of it that is measured; at least `least`.
    fn of(self, full: usize, least: usize) -> usize {
        (full / self.divisor).max(least)
    }
}

/// A bench: its letter, and what it measures.
struct Bench {
    letter: &'static str,
    what: &'static str,
}

const BENCHES: [Bench; 11] = [
    bench("a", "processor time of a cycle"),
    bench("b", "memory"),
    bench("c", "processor time of a cycle by number of goals"),
    bench("d", "from the quiet window's end to the prompt"),
    bench("e", "a flood of events"),
    bench("f", "goals that rest"),
    bench("g", "start and recovery"),
    bench("h", "commands of the plugin"),
    bench("i", "a storm of changes in a page"),
    bench("j", "the app's window"),
    bench("k", "the app's page"),
];

const fn bench(letter: &'static str, what: &'static str) -> Bench {
    Bench { letter, what }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = match words.first().map(String::as_str) {
        // What it is compared with runs on one thread.
        Some("bare") => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build(),
        Some(_) | None => tokio::runtime::Runtime::new(),
    };
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(&words)),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("bench: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[String]) -> Result<()> {
    match words {
        [word] if word == "bare" => bare::run_as_child().await,
        [word, letters @ ..] if word == "--quick" => figures(letters, Scale { divisor: 100 }).await,
        letters => figures(letters, Scale { divisor: 1 }).await,
    }
}

/// Runs the benches that `letters` name, all without any, and prints the table.
async fn figures(letters: &[String], scale: Scale) -> Result<()> {
    if let Some(unknown) = letters
        .iter()
        .find(|letter| !BENCHES.iter().any(|bench| bench.letter == **letter))
    {
        return Err(format!("there is no bench `{unknown}`; there are a to k").into());
    }
    let mut all: Vec<Figure> = Vec::new();
    for bench in BENCHES {
        if letters.is_empty() || letters.iter().any(|letter| letter == bench.letter) {
            say(&format!("({}) {} …", bench.letter, bench.what));
            all.extend(measure(bench.letter, scale).await?);
        }
    }
    say(&table(&all));
    Ok(())
}

async fn measure(letter: &str, scale: Scale) -> Result<Vec<Figure>> {
    match letter {
        "a" => cycles::cost(scale).await,
        "b" => memory::peak(scale).await,
        "c" => cycles::flatness(scale).await,
        "d" => latency::to_the_prompt(scale).await,
        "e" => flood::speed(scale),
        "f" => rest::wake_ups(scale).await,
        "h" => commands::cost(scale).await,
        "i" => storm::frames(scale),
        "j" => window::cost(scale).await,
        "k" => page::speed(),
        _ => start::recovery(scale).await,
    }
}

/// Prints a line.
#[expect(clippy::print_stdout, reason = "a bench speaks to the terminal")]
fn say(text: &str) {
    println!("{text}");
}
