//! A play that fails becomes the shortest one that fails alike.

use std::fmt;

use super::plan::play_of;
use super::run::{Outcome, run};
use super::steps::{Play, Step};

/// Plays tried for one failure at most: some seconds.
const TRIES: usize = 600;

/// A seed whose play fails.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// Steps of its play.
    pub length: usize,
    /// The shortest play that breaks the same invariant.
    pub play: Play,
    /// What becomes of that.
    pub outcome: Outcome,
}

/// Plays a seed. If it fails, its shortest form is looked for.
#[must_use]
pub fn examine(seed: u64) -> Option<Failure> {
    let play = play_of(seed);
    let outcome = run(&play);
    outcome.law()?;
    let length = play.steps.len();
    let (play, outcome) = shortest(play, outcome);
    Some(Failure {
        seed,
        length,
        play,
        outcome,
    })
}

/// In a form that can be kept: the play as a file of `tests/scenarios/cases` holds it.
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "# seed {}, {} of {} steps",
            self.seed,
            self.play.steps.len(),
            self.length
        )?;
        for breach in &self.outcome.breaches {
            writeln!(formatter, "# {:?}: {}", breach.law, breach.how)?;
        }
        write!(formatter, "{}", self.play)
    }
}

/// Takes pieces out, large ones first, as long as what is left breaks the same invariant (delta
/// debugging); then makes the pauses that are left shorter.
fn shortest(mut play: Play, mut outcome: Outcome) -> (Play, Outcome) {
    let law = outcome.law();
    let mut tries = 0;
    let mut fails = |candidate: &Play| {
        tries += 1;
        if tries > TRIES {
            return None;
        }
        let outcome = run(candidate);
        (outcome.law() == law).then_some(outcome)
    };
    let mut piece = play.steps.len();
    while piece > 0 {
        let mut shorter = false;
        let mut begin = 0;
        while begin < play.steps.len() {
            let end = (begin + piece).min(play.steps.len());
            let mut candidate = play.clone();
            candidate.steps.drain(begin..end);
            match fails(&candidate) {
                Some(found) => {
                    (play, outcome, shorter) = (candidate, found, true);
                }
                None => begin = end,
            }
        }
        if !shorter || piece > 1 {
            piece /= 2;
        }
    }
    for place in 0..play.steps.len() {
        while let Step::Pass(ms) = play.steps[place]
            && ms > 1
        {
            let mut candidate = play.clone();
            candidate.steps[place] = Step::Pass(ms / 2);
            match fails(&candidate) {
                Some(found) => (play, outcome) = (candidate, found),
                None => break,
            }
        }
    }
    (play, outcome)
}
