//! The end of the play: shown, and held against what it should be.

use serde_json::Value;
use testkit::ScriptedModel;
use testkit::openchamber::Output;

use crate::agent::{Tally, tally};
use crate::play;
use crate::project::Project;
use crate::stage::Stage;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// The goal as it ended.
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
        if watched.code != Some(0) {
            let code = watched
                .code
                .map_or_else(|| "none".to_owned(), |code| code.to_string());
            return Err(Trouble::failed(format!(
                "`openchamber goal watch` ended with exit code {code} instead of 0: \
                 the goal is {}",
                state(last),
            )));
        }
        Self::of(last)
    }

    /// Reads it from the goal itself, as the command and pages have it.
    ///
    /// # Errors
    /// If it is not complete, with how it is.
    pub(crate) fn of(goal: &Value) -> Result<Self, Trouble> {
        if goal["status"] != "complete" {
            return Err(Trouble::failed(format!(
                "the goal should be complete, but is {}",
                state(goal)
            )));
        }
        Ok(Self {
            continuations: goal["turnsUsed"].as_u64().unwrap_or_default(),
            tokens: goal["tokensUsed"].as_u64().unwrap_or_default(),
        })
    }

    /// Whether the play went as it was written.
    ///
    /// # Errors
    /// The first thing that did not.
    pub(crate) fn check(&self, model: &ScriptedModel) -> Result<(), Trouble> {
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
        let audits = model.audit_calls().len();
        if audits != play::AUDITS {
            return Err(Trouble::failed(format!(
                "the auditor was asked {audits} times instead of {}",
                play::AUDITS
            )));
        }
        match model.unused() {
            (0, 0) => Ok(()),
            (turns, audits) => Err(Trouble::failed(format!(
                "the goal is complete, but {turns} turns and {audits} audits were never played"
            ))),
        }
    }
}

/// Where a goal stands, and why.
fn state(goal: &Value) -> String {
    let word = |name: &str| goal[name].as_str().unwrap_or("unknown").to_owned();
    let reason = word("reason");
    if reason.is_empty() {
        word("status")
    } else {
        format!("{} ({reason})", word("status"))
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
    end.check(&stage.model)?;
    show_project(&stage.project, tell).await
}

/// Shows what became of the project, and checks it: the files, the tests.
///
/// # Errors
/// The first thing that is not as it should be.
pub(crate) async fn show_project(project: &Project, tell: &Tell) -> Result<(), Trouble> {
    show_files(project, tell).await?;
    show_tests(project, tell).await
}

async fn show_files(project: &Project, tell: &Tell) -> Result<(), Trouble> {
    tell.heading("What the agent changed, as Git sees it");
    let added = project.run("git", &["add", "--all"]).await?;
    let stat = ["diff", "--cached", "--stat=76", "HEAD"];
    let stat = project.run("git", &stat).await?;
    let names = ["diff", "--cached", "--name-only", "HEAD"];
    let names = project.run("git", &names).await?;
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
async fn show_tests(project: &Project, tell: &Tell) -> Result<(), Trouble> {
    tell.heading("The tests, run once more by the demo itself");
    let ran = project.run("node", &["--test"]).await?;
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
