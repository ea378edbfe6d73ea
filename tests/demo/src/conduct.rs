//! Leads agent and auditor through the play, step by step, so that a person can follow it.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::Step;
use testkit::model::ScriptedModel;

use crate::agent::Agent;
use crate::play::{self, Act};
use crate::tell::Tell;
use crate::trouble::Trouble;

/// How long agent and auditor seem to think before each answer.
const BEAT: Duration = Duration::from_millis(1_400);

/// The variable with another beat, in milliseconds: a test has no eyes to follow with.
const BEAT_VARIABLE: &str = "OPENCHAMBER_DEMO_BEAT_MS";

/// How long the model may wait to be asked for its next answer.
const ASKED_MAX: Duration = Duration::from_secs(40);

/// How long the server may take to store a report that it was given.
const STORED_MAX: Duration = Duration::from_secs(10);

/// Between two looks at the messages.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// Where the play is played.
pub(crate) trait Scene {
    /// The agent and the auditor.
    fn model(&self) -> &ScriptedModel;

    /// The session's messages on the server.
    ///
    /// # Errors
    /// If the server does not answer.
    async fn messages(&self) -> Result<Vec<Value>, Trouble>;

    /// The agent is about to give this answer of this act, both counted from 1: what came before
    /// can be seen.
    ///
    /// # Errors
    /// If it cannot.
    async fn show(&self, act: usize, answer: usize) -> Result<(), Trouble>;
}

/// How long a person gets to follow one step.
pub(crate) fn beat() -> Duration {
    let set = std::env::var(BEAT_VARIABLE).ok();
    let set = set.and_then(|beat| beat.parse().ok());
    set.map_or(BEAT, Duration::from_millis)
}

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
    pub(crate) async fn play(&self, scene: &impl Scene, tell: &Tell) -> Result<(), Trouble> {
        let (mut agent, beat) = (Agent::default(), beat());
        for (index, answers) in self.answers.iter().enumerate() {
            for step in 0..*answers {
                let gate = at(index, step);
                asked(scene, &gate, "the agent").await?;
                // The question holds the result of the tool call before.
                look(&mut agent, scene, tell).await?;
                scene.show(index + 1, step + 1).await?;
                tokio::time::sleep(beat).await;
                scene.model().release(&gate);
            }
            let stored = reported(&mut agent, index + 1, scene, tell);
            match tokio::time::timeout(STORED_MAX, stored).await {
                Ok(stored) => stored?,
                Err(_) => return Err(Trouble::failed("the agent's report did not arrive")),
            }
            let gate = at_audit(index);
            asked(scene, &gate, "the auditor").await?;
            tokio::time::sleep(beat).await;
            scene.model().release(&gate);
        }
        Ok(())
    }
}

async fn asked(scene: &impl Scene, gate: &str, who: &str) -> Result<(), Trouble> {
    let reached = scene.model().reached(gate, ASKED_MAX).await;
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
    scene: &impl Scene,
    tell: &Tell,
) -> Result<(), Trouble> {
    while agent.reports() < reports {
        look(agent, scene, tell).await?;
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    Ok(())
}

async fn look(agent: &mut Agent, scene: &impl Scene, tell: &Tell) -> Result<(), Trouble> {
    for news in agent.news(&scene.messages().await?) {
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
