//! Gathering what one decision looks at: reads in the order of R27, each gate before the next read.
//!
//! The whole of it is one future that may be dropped at any await: it only reads.

use std::collections::{BTreeMap, BTreeSet};

use goal_core::accounting;
use goal_core::decide::{gate_activity, gate_session};
use goal_core::decision::{Decision, Unknown};
use goal_core::goal::{Goal, SessionId};
use goal_core::message::Message;
use goal_core::snapshot::{Activity, Gate, Reading};
use goal_core::timeline::Timeline;
use tokio::sync::OwnedSemaphorePermit;

use crate::ports::{CallError, CallErrorKind, OpenRequest, Ports, Presence, SessionRead};
use crate::stored::goal_of;

/// Sub-agents looked at for one session; more than any real run has at once.
const DESCENDANTS_MAX: usize = 500;

/// What an observation came to.
#[derive(Debug)]
pub(crate) enum Observed {
    /// A gate decided before everything was read.
    Gate {
        /// What it decided.
        decision: Decision,
        /// The session, if it was found.
        session: Option<Box<SessionRead>>,
    },
    /// Everything was read.
    Whole {
        /// What a decision looks at.
        reading: Box<Reading>,
        /// The session.
        session: Box<SessionRead>,
        /// The permit under which it was read; kept for as long as what was read.
        slot: Option<Slot>,
    },
    /// A read failed: unknown is not empty (R26).
    Failed {
        /// Which.
        what: Unknown,
        /// Why, for people.
        message: String,
    },
}

/// A cycle's permit to be under way; given back when it is dropped.
pub(crate) type Slot = OwnedSemaphorePermit;

impl Observed {
    /// Has the permit last as long as what was read under it.
    pub(crate) fn under(self, permit: Option<Slot>) -> Self {
        match self {
            Self::Whole {
                reading, session, ..
            } => Self::Whole {
                reading,
                session,
                slot: permit,
            },
            Self::Gate { .. } | Self::Failed { .. } => self,
        }
    }
}

/// Whether a goal only came along with a copy of its session (X11); asked of whoever knows all
/// sessions.
pub(crate) type IsInherited<'a> = dyn Fn(&Goal, &SessionRead) -> bool + Send + Sync + 'a;

/// Observes a session. `stale`: its goal waits for a click.
pub(crate) async fn observe(
    ports: &Ports,
    id: &SessionId,
    directory: Option<&str>,
    stale: bool,
    is_inherited: &IsInherited<'_>,
) -> Observed {
    match read_all(ports, id, directory, stale, is_inherited).await {
        Ok(observed) => observed,
        Err((what, error)) => Observed::Failed {
            what,
            message: error.message,
        },
    }
}

type Failed = (Unknown, CallError);

async fn read_all(
    ports: &Ports,
    id: &SessionId,
    directory: Option<&str>,
    stale: bool,
    is_inherited: &IsInherited<'_>,
) -> Result<Observed, Failed> {
    let enabled = ports.settings.read().await.settings.session_goal_enabled;
    let session = match ports.sessions.session(id, directory).await {
        Ok(session) => session,
        Err(error) if error.kind == CallErrorKind::Gone => {
            let gate = Gate {
                enabled,
                session: None,
                goal: None,
                inherited: false,
                stale,
            };
            return Ok(gated(gate_session(&gate), None));
        }
        Err(error) => return Err((Unknown::Session, error)),
    };
    let goal = goal_of(&session, ports);
    let inherited = goal
        .as_ref()
        .is_some_and(|goal| is_inherited(goal, &session));
    let gate = Gate {
        enabled,
        session: Some(&session.facts),
        goal: goal.as_ref(),
        inherited,
        stale,
    };
    let decision = gate_session(&gate);
    let (None, Some(goal)) = (&decision, goal) else {
        return Ok(gated(decision, Some(session)));
    };
    let activity = read_activity(ports, &session).await?;
    if let Some(decision) = gate_activity(&activity) {
        return Ok(gated(Some(decision), Some(session)));
    }
    let reading = read_messages(ports, &session, goal, enabled, inherited, activity).await?;
    Ok(Observed::Whole {
        reading: Box::new(reading),
        session: Box::new(session),
        slot: None,
    })
}

fn gated(decision: Option<Decision>, session: Option<SessionRead>) -> Observed {
    let decision = decision.unwrap_or(Decision::Recheck(Unknown::Session));
    Observed::Gate {
        decision,
        session: session.map(Box::new),
    }
}

/// Who works: the session, then its sub-agents, each by the status map of its own folder (R24,
/// R25, H11, H33).
async fn read_activity(ports: &Ports, session: &SessionRead) -> Result<Activity, Failed> {
    let statuses = ports
        .sessions
        .statuses(&session.directory)
        .await
        .map_err(of(Unknown::Status))?;
    match statuses.get(&session.facts.id) {
        Some(Presence::Retry) => return Ok(Activity::Retrying),
        Some(Presence::Busy) => {
            let waiting = asked_by_family(ports, session, &statuses).await?;
            return Ok(waiting.unwrap_or(Activity::Busy));
        }
        None => {}
    }
    let mut maps = BTreeMap::from([(session.directory.clone(), statuses)]);
    let mut busy = None;
    for child in descendants(ports, session)
        .await
        .map_err(of(Unknown::Children))?
    {
        if !maps.contains_key(&child.directory) {
            let map = ports
                .sessions
                .statuses(&child.directory)
                .await
                .map_err(of(Unknown::Status))?;
            maps.insert(child.directory.clone(), map);
        }
        let Some(map) = maps.get(&child.directory) else {
            continue;
        };
        if map.contains_key(&child.facts.id) {
            // One that asks is told before one that merely works.
            if let Some(asked) = open_request(ports, &child, map).await? {
                return Ok(asked);
            }
            busy.get_or_insert(child.facts.id);
        }
    }
    if let Some(child) = busy {
        return Ok(Activity::SubagentBusy(child));
    }
    Ok(Activity::Quiet)
}

/// The request that a busy session waits for, if it asks one itself (X15).
async fn open_request(
    ports: &Ports,
    session: &SessionRead,
    statuses: &BTreeMap<SessionId, Presence>,
) -> Result<Option<Activity>, Failed> {
    let open = live_requests(ports, session, statuses).await?;
    let asked = open
        .into_iter()
        .find(|open| open.session == session.facts.id);
    Ok(asked.map(|open| Activity::WaitingForYou(open.request)))
}

/// The request that a busy session or one of its sub-agents waits for (X15).
async fn asked_by_family(
    ports: &Ports,
    session: &SessionRead,
    statuses: &BTreeMap<SessionId, Presence>,
) -> Result<Option<Activity>, Failed> {
    let open = live_requests(ports, session, statuses).await?;
    if open.is_empty() {
        return Ok(None);
    }
    let mut family: BTreeSet<SessionId> = descendants(ports, session)
        .await
        .map_err(of(Unknown::Children))?
        .into_iter()
        .map(|child| child.facts.id)
        .collect();
    family.insert(session.facts.id.clone());
    let asked = open.into_iter().find(|open| family.contains(&open.session));
    Ok(asked.map(|open| Activity::WaitingForYou(open.request)))
}

/// The open requests of a session's folder; those of sessions that are not busy are left-overs
/// (X15).
async fn live_requests(
    ports: &Ports,
    session: &SessionRead,
    statuses: &BTreeMap<SessionId, Presence>,
) -> Result<Vec<OpenRequest>, Failed> {
    let mut open = ports
        .sessions
        .requests(&session.directory)
        .await
        .map_err(of(Unknown::Requests))?;
    open.retain(|open| statuses.contains_key(&open.session));
    Ok(open)
}

/// Every sub-agent below a session, audits left out.
pub(crate) async fn descendants(
    ports: &Ports,
    session: &SessionRead,
) -> Result<Vec<SessionRead>, CallError> {
    let mut found: Vec<SessionRead> = Vec::new();
    let mut level = vec![(session.facts.id.clone(), session.directory.clone())];
    while let Some((id, directory)) = level.pop() {
        for child in ports.sessions.children(&id, &directory).await? {
            let known = found.iter().any(|other| other.facts.id == child.facts.id);
            if child.audit.is_none() && !known && found.len() < DESCENDANTS_MAX {
                level.push((child.facts.id.clone(), child.directory.clone()));
                found.push(child);
            }
        }
    }
    Ok(found)
}

async fn read_messages(
    ports: &Ports,
    session: &SessionRead,
    goal: Goal,
    enabled: bool,
    inherited: bool,
    activity: Activity,
) -> Result<Reading, Failed> {
    let timeline = read_timeline(ports, session, &goal)
        .await
        .map_err(of(Unknown::Messages))?;
    let first_message_exists = match goal.awaited_prompt() {
        Some(first) if timeline.get(first).is_none() => ports
            .sessions
            .message_exists(&session.facts.id, &session.directory, first)
            .await
            .map_err(of(Unknown::Messages))?,
        Some(_) | None => true,
    };
    let objective = effective_objective(ports, &session.facts.id, &goal).await;
    Ok(Reading {
        enabled,
        session: session.facts.clone(),
        goal,
        inherited,
        activity,
        objective,
        first_message_exists,
        timeline,
    })
}

/// The newest messages, paged back as far as the accounting needs (X21).
async fn read_timeline(
    ports: &Ports,
    session: &SessionRead,
    goal: &Goal,
) -> Result<Timeline, CallError> {
    let limits = &ports.limits;
    let most = usize::try_from(limits.messages_max).unwrap_or(usize::MAX);
    let mut messages: Vec<Message> = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let page = ports
            .sessions
            .messages(
                &session.facts.id,
                &session.directory,
                before.as_deref(),
                limits.page_messages,
            )
            .await?;
        let empty = page.items.is_empty();
        messages.splice(0..0, page.items);
        let revert = session.facts.revert.as_ref();
        let next = page.next.filter(|_| !empty && messages.len() < most);
        let Some(next) = next else {
            return Ok(Timeline::new(messages, revert));
        };
        let timeline = Timeline::new(messages.clone(), revert);
        if !accounting::needs_older(goal, &timeline) {
            return Ok(timeline);
        }
        before = Some(next);
    }
}

/// The objective's text: the file where the goal says so, else what stands in the goal (R9). A
/// file of an earlier goal is not looked at.
pub(crate) async fn effective_objective(
    ports: &Ports,
    session: &SessionId,
    goal: &Goal,
) -> Option<String> {
    let file = if goal.objective_file && ports.sessions.is_local() {
        ports.objectives.read(session.as_str()).await
    } else {
        None
    };
    file.or_else(|| Some(goal.objective.clone()))
        .filter(|text| !text.trim().is_empty())
}

fn of(what: Unknown) -> impl Fn(CallError) -> Failed {
    move |error| (what, error)
}
