//! Looking at goals without driving them.

use goal_core::decide::decide;
use goal_core::decision::Decision;
use goal_core::goal::{Goal, SessionId};
use goal_core::inherit::{Carrier, is_inherited};
use goal_core::memory::Memory;
use goal_core::snapshot::Snapshot;
use goal_core::time::{Mono, Wall, millis};

use super::{call_error, read_goal};
use crate::error::Error;
use crate::listing;
use crate::ports::{Ports, SessionRead};
use crate::session::name_of;
use crate::store::StoredDecision;
use crate::stored::goal_of;
use crate::think::{self, Observed};
use crate::view::{GoalView, Phase, detail_of};

/// Decisions that [`why`] gives at most.
const RECENT_MAX: usize = 10;

/// What a look right now says, without the memory of a running loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// `rest`, `recheck`, `pause`, `settle`, `audit` or `continue`: what a cycle would do.
    pub decision: &'static str,
    /// Why, as a code.
    pub why: String,
    /// What it is about: a sub-agent's id, what a request asks for, an error's text.
    pub detail: String,
    /// When a wait ends by itself, if it does.
    pub until: Option<Wall>,
}

/// Why a goal does what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The goal.
    pub view: GoalView,
    /// What a look right now says.
    pub look: Look,
    /// What the running loop decided last, newest first, at most 10.
    pub recent: Vec<StoredDecision>,
}

/// A session's goal, with the phase that a look right now suggests.
///
/// # Errors
/// [`crate::Code::NoGoal`], [`crate::Code::InvalidSession`], [`crate::Code::UnknownSession`], and
/// the codes of a failed call.
pub async fn show(ports: &Ports, session: &SessionId) -> Result<GoalView, Error> {
    Ok(look(ports, session).await?.0)
}

/// Why a session's goal does what it does.
///
/// # Errors
/// Those of [`show`]. A journal that cannot be read counts as empty.
pub async fn why(ports: &Ports, session: &SessionId) -> Result<Explanation, Error> {
    let (view, look) = look(ports, session).await?;
    let recent = match ports.store.decisions(session.clone(), RECENT_MAX).await {
        Ok(recent) => recent,
        Err(error) => {
            tracing::warn!(%error, "the journal could not be read");
            Vec::new()
        }
    };
    Ok(Explanation { view, look, recent })
}

/// The whole objective of a goal, for display: the file's text, else the stored one (R9). `None`
/// where it is on another machine or missing.
pub async fn objective(ports: &Ports, view: &GoalView) -> Option<String> {
    think::effective_objective(ports, &view.session, &view.goal).await
}

/// The goals of all sessions, newest first; inherited ones and audits left out.
///
/// # Errors
/// The codes of a failed call.
pub async fn list(ports: &Ports) -> Result<Vec<GoalView>, Error> {
    let found = all_goals(ports).await?;
    let carriers = carriers(&found);
    Ok(found
        .into_iter()
        .filter(|(read, goal)| {
            let id = &read.facts.id;
            read.facts.parent.is_none() && !is_inherited(goal, id, read.created, &carriers)
        })
        .map(|(read, goal)| view_of(&read, goal))
        .collect())
}

/// Every session that carries a goal, its own or a copy; audits left out.
pub(super) async fn all_goals(ports: &Ports) -> Result<Vec<(SessionRead, Goal)>, Error> {
    let listing = listing::read(ports.sessions.as_ref()).await;
    if let Some(error) = listing.failed {
        return Err(call_error(error));
    }
    let sessions = listing.reads.into_iter();
    let sessions = sessions.filter(|read| read.audit.is_none());
    Ok(sessions
        .filter_map(|read| goal_of(&read, ports).map(|goal| (read, goal)))
        .collect())
}

/// Who carries which goal, for telling a goal from its copies.
pub(super) fn carriers(found: &[(SessionRead, Goal)]) -> Vec<Carrier> {
    found
        .iter()
        .map(|(read, goal)| Carrier {
            session: read.facts.id.clone(),
            created: read.created,
            goal: goal.id.clone(),
        })
        .collect()
}

/// A goal as it stands in the metadata; what an active one does now takes a look.
pub(crate) fn view_of(read: &SessionRead, goal: Goal) -> GoalView {
    let (phase, why) = if goal.status == goal_core::goal::Status::Active {
        (Phase::Checking, String::new())
    } else {
        (Phase::Settled, goal.status.name().to_owned())
    };
    GoalView {
        session: read.facts.id.clone(),
        title: read.title.clone(),
        directory: read.directory.clone(),
        phase,
        why,
        detail: String::new(),
        since: goal.updated_at,
        next: None,
        seq: 0,
        goal,
    }
}

async fn look(ports: &Ports, session: &SessionId) -> Result<(GoalView, Look), Error> {
    let (read, goal) = read_goal(ports, session).await?;
    let named = |goal: &Goal, read: &SessionRead| {
        goal.session_id
            .as_ref()
            .is_some_and(|owner| *owner != read.facts.id)
    };
    let observed = think::observe(ports, session, Some(&read.directory), false, &named).await;
    let mut view = view_of(&read, goal);
    let (decision, detail) = match observed {
        Observed::Gate { decision, .. } => (decision, String::new()),
        Observed::Failed { what, message } => (Decision::Recheck(what), message),
        Observed::Whole { reading, .. } => {
            let now = Mono(millis(ports.limits.recheck_max));
            let mut memory = Memory::fresh(&reading.goal.id, Wall(0));
            let snapshot = Snapshot::take(*reading, &mut memory, now);
            view.goal.tokens_used = snapshot.ledger.used;
            (decide(&snapshot, &ports.limits), String::new())
        }
    };
    let (name, why) = name_of(&decision);
    let mut look = Look {
        decision: name,
        why,
        detail,
        until: None,
    };
    view.phase = match &decision {
        Decision::Rest(why) => {
            look.detail = detail_of(why);
            Phase::of_rest(why)
        }
        Decision::Recheck(_) => Phase::Retrying,
        Decision::Pause(_) | Decision::Settle(_) | Decision::Audit | Decision::Continue(_) => {
            Phase::Quiet
        }
    };
    view.why.clone_from(&look.why);
    view.detail.clone_from(&look.detail);
    Ok((view, look))
}
