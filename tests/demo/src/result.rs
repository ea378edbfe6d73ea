//! The end of the play: shown, and held against what it should be.

use serde_json::Value;
use testkit::openchamber::Output;

use crate::agent::{Tally, tally};
use crate::play;
use crate::stage::Stage;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// The goal as `watch` saw it end.
pub(crate) struct End {
    continuations: u64,
    tokens: u64,
}

impl End {
    /// Reads it from the output of `openchamber goal watch --json`.
    ///
    /// # Errors
    /// If the goal did not end as complete, with how it did.
    pub(crate) fn read(watched: &Output) -> Result<Self, Trouble> {
        let last = watched.lines.last().unwrap_or(&Value::Null);
        let word = |name: &str| last[name].as_str().unwrap_or("unknown").to_owned();
        if watched.code != Some(0) || word("status") != "complete" {
            let code = watched
                .code
                .map_or_else(|| "none".to_owned(), |code| code.to_string());
            let reason = word("reason");
            let because = if reason.is_empty() {
                String::new()
            } else {
                format!(" ({reason})")
            };
            return Err(Trouble::failed(format!(
                "`openchamber goal watch` ended with exit code {code} instead of 0: \
                 the goal is {}{because}",
                word("status"),
            )));
        }
        Ok(Self {
            continuations: last["turnsUsed"].as_u64().unwrap_or_default(),
            tokens: last["tokensUsed"].as_u64().unwrap_or_default(),
        })
    }

    /// Whether the play went as it was written.
    fn check(&self, stage: &Stage) -> Result<(), Trouble> {
        let expected = u64::from(play::CONTINUATIONS);
        if self.continuations != expected {
            return Err(Trouble::failed(format!(
                "the agent was sent on {} times instead of {expected}",
                self.continuations
            )));
        }
        if self.tokens == 0 || self.tokens > play::TOKEN_BUDGET {
            return Err(Trouble::failed(format!(
                "the goal used {} tokens, which cannot be",
                self.tokens
            )));
        }
        match stage.model.unused() {
            (0, 0) => Ok(()),
            (turns, audits) => Err(Trouble::failed(format!(
                "the goal is complete, but {turns} turns and {audits} audits were never played"
            ))),
        }
    }
}

/// Shows what was reached, and checks it: the goal, the files, the tests.
///
/// # Errors
/// The first thing that is not as it should be.
pub(crate) async fn show(stage: &Stage, end: &End, tell: &Tell) -> Result<(), Trouble> {
    tell.heading("The goal has ended; `openchamber goal watch` gave exit code 0 for it");
    tell.command(&format!("openchamber goal show {}", stage.session));
    stage.run(&["goal", "show", &stage.session]).await?;
    end.check(stage)?;
    show_files(stage, tell).await?;
    show_tests(stage, tell).await
}

async fn show_files(stage: &Stage, tell: &Tell) -> Result<(), Trouble> {
    tell.heading("What the agent changed, as Git sees it");
    let added = stage.in_project("git", &["add", "--all"]).await?;
    let stat = ["diff", "--cached", "--stat=76", "HEAD"];
    let stat = stage.in_project("git", &stat).await?;
    let names = ["diff", "--cached", "--name-only", "HEAD"];
    let names = stage.in_project("git", &names).await?;
    tell.line(stat.output.trim_end());
    let changed: Vec<&str> = names.output.lines().collect();
    if added.success && changed == play::CHANGED {
        return Ok(());
    }
    Err(Trouble::failed(format!(
        "the agent should have changed {}, but Git says: {}",
        play::CHANGED.join(", "),
        changed.join(", "),
    )))
}

/// The agent's word for it is not enough: the demo runs the tests itself.
async fn show_tests(stage: &Stage, tell: &Tell) -> Result<(), Trouble> {
    tell.heading("The tests, run once more by the demo itself");
    let ran = stage.in_project("node", &["--test"]).await?;
    let counted = tally(&ran.output);
    let shown = counted.map_or_else(|| "no summary".to_owned(), |tally| tally.to_string());
    tell.line(&format!("node --test: {shown}"));
    let expected = Tally {
        passed: play::TESTS,
        failed: 0,
    };
    if ran.success && counted == Some(expected) {
        Ok(())
    } else {
        Err(Trouble::failed(format!(
            "the project's tests should end with {expected}, but did with {shown}"
        )))
    }
}
