//! Leads agent and auditor through the play, step by step, so that a person can follow it.

use std::path::Path;
use std::time::Duration;

use testkit::Step;
use testkit::model::ScriptedModel;

use crate::agent::Agent;
use crate::play::{self, Act};
use crate::stage::Stage;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// How long agent and auditor seem to think before each answer.
const BEAT: Duration = Duration::from_millis(1_400);

/// How long the model may wait to be asked for its next answer.
const ASKED_MAX: Duration = Duration::from_secs(40);

/// How long the server may take to store a report that it was given.
const STORED_MAX: Duration = Duration::from_secs(10);

/// Between two looks at the messages.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// The order in which the gates of the play open.
pub(crate) struct Score {
    /// For each act the number of the agent's answers.
    answers: Vec<usize>,
}

impl Score {
    /// Gives the model its script, each answer behind a gate of its own.
    ///
    /// # Errors
    /// If the script has a step that nothing leads to.
    pub(crate) fn hand_out(model: &ScriptedModel, project: &Path) -> Result<Self, Trouble> {
        let mut answers = Vec::new();
        for (index, Act { work, audit }) in play::acts(project).into_iter().enumerate() {
            answers.push(work.len());
            let gated = work.into_iter().enumerate();
            let gated = gated.flat_map(|(step, answer)| [Step::gate(&at(index, step)), answer]);
            model.push_turn(gated)?;
            model.push_audit([Step::gate(&at_audit(index)), audit])?;
        }
        Ok(Self { answers })
    }

    /// Plays it to its end, and tells what the agent does.
    ///
    /// # Errors
    /// If the model is not asked in time, or the server does not store what it answered.
    pub(crate) async fn play(&self, stage: &Stage, tell: &Tell) -> Result<(), Trouble> {
        let mut agent = Agent::default();
        for (index, answers) in self.answers.iter().enumerate() {
            for step in 0..*answers {
                let gate = at(index, step);
                asked(stage, &gate, "the agent").await?;
                // The question holds the result of the tool call before.
                look(&mut agent, stage, tell).await?;
                tokio::time::sleep(BEAT).await;
                stage.model.release(&gate);
            }
            let stored = reported(&mut agent, index + 1, stage, tell);
            match tokio::time::timeout(STORED_MAX, stored).await {
                Ok(stored) => stored?,
                Err(_) => return Err(Trouble::failed("the agent's report did not arrive")),
            }
            let gate = at_audit(index);
            asked(stage, &gate, "the auditor").await?;
            tokio::time::sleep(BEAT).await;
            stage.model.release(&gate);
        }
        Ok(())
    }
}

async fn asked(stage: &Stage, gate: &str, who: &str) -> Result<(), Trouble> {
    let reached = stage.model.reached(gate, ASKED_MAX).await;
    reached.map_err(|_| {
        let seconds = ASKED_MAX.as_secs();
        Trouble::failed(format!(
            "{who} was not asked for its next answer within {seconds} seconds"
        ))
    })
}

async fn reported(
    agent: &mut Agent,
    reports: usize,
    stage: &Stage,
    tell: &Tell,
) -> Result<(), Trouble> {
    while agent.reports() < reports {
        look(agent, stage, tell).await?;
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    Ok(())
}

async fn look(agent: &mut Agent, stage: &Stage, tell: &Tell) -> Result<(), Trouble> {
    for news in agent.news(&stage.messages().await?) {
        tell.agent(&news);
    }
    Ok(())
}

fn at(act: usize, step: usize) -> String {
    format!("answer {}.{}", act + 1, step + 1)
}

fn at_audit(act: usize) -> String {
    format!("audit {}", act + 1)
}
