//! Fitting a long objective for the auditor, before anything is written (O10 to O12).

use std::time::Duration;

use goal_core::evidence::Voice;
use goal_core::goal::{Goal, GoalId, ModelRef, Status};
use goal_core::judge::AuditFailure;
use goal_core::objective::{self, Fitting};
use goal_core::timeline::Timeline;

use super::call_error;
use crate::error::{Code, Error};
use crate::ports::{DistillJob, Distillation, Ports, SessionRead};
use crate::think;

/// How long a distillation may take: whoever starts or edits the goal waits for it.
const DISTILL_MAX: Duration = Duration::from_secs(60);

/// How the auditor's copy of an objective came about. Continuations hold the same copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditorCopy {
    /// The objective fits: it is the copy.
    Whole,
    /// This model condensed it to the criteria by which it is judged (O10).
    Distilled(ModelRef),
    /// Its beginning and end, for nothing could be condensed; why (O11).
    Excerpt(AuditFailure),
}

impl AuditorCopy {
    /// Whether the auditor gets less than the whole objective.
    #[must_use]
    pub fn is_shortened(&self) -> bool {
        match self {
            Self::Whole => false,
            Self::Distilled(_) | Self::Excerpt(_) => true,
        }
    }
}

/// An objective as it is stored, and how that came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) text: String,
    pub(super) copy: AuditorCopy,
}

impl Fitted {
    /// The objective itself, if it fits.
    pub(super) fn whole(text: &str, max: usize) -> Option<Self> {
        match objective::fit(text, max) {
            Fitting::Whole(text) => Some(Self {
                text,
                copy: AuditorCopy::Whole,
            }),
            Fitting::TooLong { .. } => None,
        }
    }

    /// Has a text that is too long condensed; failing that, its beginning and end.
    pub(super) async fn shortened(
        ports: &Ports,
        read: &SessionRead,
        goal: &GoalId,
        voice: Option<Voice>,
        text: &str,
    ) -> Self {
        let job = DistillJob {
            session: read.facts.id.clone(),
            directory: read.directory.clone(),
            goal: goal.clone(),
            objective: text.to_owned(),
            voice,
            within: DISTILL_MAX,
        };
        let max = ports.limits.objective_max;
        let why = match ports.auditor.distill(job).await {
            Distillation::Said { text, model } => match objective::from_distillation(&text, max) {
                Some(text) => {
                    let copy = AuditorCopy::Distilled(model);
                    return Self { text, copy };
                }
                None => AuditFailure::Unparsable,
            },
            Distillation::Failed(why) => why,
        };
        Self {
            text: objective::excerpt(text, max),
            copy: AuditorCopy::Excerpt(why),
        }
    }
}

/// What stood in a session before the wait for a distillation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    goal: Option<Goal>,
    objective: Option<String>,
}

impl Standing {
    pub(super) async fn of(ports: &Ports, read: &SessionRead, goal: Option<Goal>) -> Self {
        let objective = match &goal {
            Some(goal) => think::effective_objective(ports, &read.facts.id, goal).await,
            None => None,
        };
        Self { goal, objective }
    }

    /// Refuses to write over what somebody did during the wait: another goal, none any more,
    /// another objective or budget, or a pause. The loop's own progress is no obstacle.
    pub(super) async fn check(
        &self,
        ports: &Ports,
        read: &SessionRead,
        goal: Option<&Goal>,
    ) -> Result<(), Error> {
        let Self { goal, objective } = Self::of(ports, read, goal.cloned()).await;
        let same = match (&self.goal, &goal) {
            (None, None) => true,
            (Some(before), Some(now)) => {
                let paused = now.status == Status::Paused && before.status != Status::Paused;
                let untouched = before.id == now.id && before.token_budget == now.token_budget;
                untouched && !paused && self.objective == objective
            }
            (Some(_), None) | (None, Some(_)) => false,
        };
        if same {
            return Ok(());
        }
        Err(Error::new(
            Code::Conflict,
            "The goal was changed while the long objective was being condensed. Nothing was \
             written; look at it and try again.",
        ))
    }
}

/// Who speaks in a session; `None`: nobody did yet.
pub(super) async fn voice(ports: &Ports, read: &SessionRead) -> Result<Option<Voice>, Error> {
    let limit = ports.limits.page_messages;
    let id = &read.facts.id;
    let page = ports
        .sessions
        .messages(id, &read.directory, None, limit)
        .await
        .map_err(call_error)?;
    let timeline = Timeline::new(page.items, read.facts.revert.as_ref());
    Ok(Voice::of(&timeline))
}
