//! The goal as it stands on the server: read, and written only over what was read.

use std::sync::Arc;

use goal_core::change::{self, Change};
use goal_core::goal::{Goal, SessionId, Status};
use goal_core::payload;

use crate::ports::{CallError, CallErrorKind, Ports, SessionRead};

/// The goal in a session's metadata.
pub(crate) fn goal_of(read: &SessionRead, ports: &Ports) -> Option<Goal> {
    payload::read(read.metadata.as_deref()?, &ports.limits)
}

/// Why a write did not happen, or may not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// The stored goal is absent, another one, or not as the writer expects it (R6, R7, X17).
    Guarded,
    /// The metadata cannot hold a goal.
    Corrupt,
    /// The call failed; `NotSent` and `Refused` are certain, `Unknown` is not.
    Call(CallError),
}

impl WriteError {
    /// Nothing was written, and nothing will be.
    pub(crate) fn is_certain(&self) -> bool {
        match self {
            Self::Guarded | Self::Corrupt => true,
            Self::Call(error) => is_certain(error),
        }
    }
}

/// A write that took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The session as it was read before.
    pub(crate) base: SessionRead,
    /// The goal as written.
    pub(crate) goal: Goal,
}

/// A goal about to be written: what stood there, and what will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// The session as it was read.
    pub(crate) base: SessionRead,
    /// The goal as it will be.
    pub(crate) goal: Goal,
    metadata: String,
}

impl Draft {
    /// Reads the session anew, asks `guard` whether the stored goal is the one the changes were
    /// made for, and applies them (R6). Nothing is written yet.
    pub(crate) async fn prepare(
        ports: &Ports,
        session: &SessionId,
        directory: &str,
        guard: impl Fn(&Goal) -> bool + Send,
        changes: Vec<Change>,
    ) -> Result<Self, WriteError> {
        let base = ports
            .sessions
            .session(session, Some(directory))
            .await
            .map_err(WriteError::Call)?;
        let goal = goal_of(&base, ports)
            .filter(|goal| guard(goal))
            .ok_or(WriteError::Guarded)?;
        let now = ports.clock.wall();
        let goal = changes.into_iter().fold(goal, |goal, change| {
            change::apply(&goal, change, session, now, &ports.limits)
        });
        Self::of(base, goal)
    }

    /// A draft that puts `goal` into the session as read.
    pub(crate) fn of(base: SessionRead, goal: Goal) -> Result<Self, WriteError> {
        let metadata = payload::write(base.metadata.as_deref(), Some(&goal))
            .map_err(|_| WriteError::Corrupt)?;
        Ok(Self {
            base,
            goal,
            metadata,
        })
    }

    /// Writes it.
    pub(crate) async fn write(self, ports: &Ports) -> Result<Written, WriteError> {
        let Self {
            base,
            goal,
            metadata,
        } = self;
        let session = &base.facts.id;
        ports
            .sessions
            .write_metadata(session, &base.directory, &metadata)
            .await
            .map_err(WriteError::Call)?;
        Ok(Written { base, goal })
    }

    /// Writes it, and looks whether it took effect where the answer does not say so (X7): who asked
    /// for it is told the truth, and what belongs to it is done or undone with it.
    pub(crate) async fn write_surely(self, ports: &Ports) -> Result<Written, WriteError> {
        let written = Written {
            base: self.base.clone(),
            goal: self.goal.clone(),
        };
        match self.write(ports).await {
            Err(WriteError::Call(error)) if !is_certain(&error) => {
                match read_back(ports, &written.base).await {
                    Some(fresh) if descends(&fresh, &written.goal, ports) => Ok(written),
                    Some(_) | None => Err(WriteError::Call(error)),
                }
            }
            outcome => outcome,
        }
    }
}

async fn read_back(ports: &Ports, base: &SessionRead) -> Option<SessionRead> {
    let id = &base.facts.id;
    let fresh = ports.sessions.session(id, Some(&base.directory)).await;
    fresh.ok()
}

/// A goal about to be taken out of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Removal {
    base: SessionRead,
    metadata: String,
}

impl Removal {
    /// Reads the session anew and asks `guard` whether its goal is the one to take out.
    pub(crate) async fn prepare(
        ports: &Ports,
        read: &SessionRead,
        guard: impl Fn(&Goal) -> bool + Send,
    ) -> Result<Self, WriteError> {
        let id = &read.facts.id;
        let base = ports
            .sessions
            .session(id, Some(&read.directory))
            .await
            .map_err(WriteError::Call)?;
        goal_of(&base, ports)
            .filter(|goal| guard(goal))
            .ok_or(WriteError::Guarded)?;
        let metadata =
            payload::write(base.metadata.as_deref(), None).map_err(|_| WriteError::Corrupt)?;
        Ok(Self { base, metadata })
    }

    /// Takes it out, and looks whether that took effect where the answer does not say so (X7).
    pub(crate) async fn write(self, ports: &Ports) -> Result<(), WriteError> {
        let written = ports
            .sessions
            .write_metadata(&self.base.facts.id, &self.base.directory, &self.metadata)
            .await;
        match written {
            Err(error) if !is_certain(&error) => {
                let before = goal_of(&self.base, ports).map(|goal| goal.id);
                match read_back(ports, &self.base).await {
                    Some(fresh) if goal_of(&fresh, ports).map(|goal| goal.id) != before => Ok(()),
                    Some(_) | None => Err(WriteError::Call(error)),
                }
            }
            written => written.map(|_| ()).map_err(WriteError::Call),
        }
    }
}

/// Whether a session as heard of carries exactly this write of this goal.
pub(crate) fn carries(read: &SessionRead, goal: &Goal, ports: &Ports) -> bool {
    goal_of(read, ports).is_some_and(|g| g.id == goal.id && g.updated_at == goal.updated_at)
}

/// Whether a session carries this write of this goal, or what others made of it since: an answer
/// that is lost is waited for long enough that the loop may have counted on. What ends a goal's
/// activity is only carried by the status it gave; what begins it may have been ended again.
fn descends(read: &SessionRead, written: &Goal, ports: &Ports) -> bool {
    goal_of(read, ports).is_some_and(|goal| {
        goal.id == written.id
            && goal.updated_at >= written.updated_at
            && goal.objective == written.objective
            && goal.objective_file == written.objective_file
            && goal.token_budget == written.token_budget
            && (goal.status == written.status || written.status == Status::Active)
    })
}

/// What another client wrote between our read and our write of it, judged by what was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overwritten {
    /// Nothing.
    Nothing,
    /// Another goal state: it wins and is written back (X17).
    Goal(Arc<str>),
    /// The same goal beside other metadata: ours is written again on top of it (G56).
    Siblings(SessionRead),
}

/// Looks through what was heard since our read, up to the echo of our write.
pub(crate) fn overwritten(
    heard: &[Arc<SessionRead>],
    written: &Written,
    ports: &Ports,
) -> Overwritten {
    let mut foreign = None;
    for read in heard {
        if carries(read, &written.goal, ports) {
            break;
        }
        // What was heard up to our read is older than it, and lost nothing; so is what stood there
        // before, although the event of what we read was lost.
        let newer = read.updated >= written.base.updated;
        foreign = (newer && read.metadata != written.base.metadata).then_some(read);
    }
    match foreign {
        None => Overwritten::Nothing,
        Some(read) => {
            let base = goal_of(&written.base, ports);
            match (&read.metadata, goal_of(read, ports) == base) {
                (Some(metadata), false) => Overwritten::Goal(Arc::clone(metadata)),
                (None, false) => Overwritten::Goal(Arc::from("{}")),
                (_, true) => Overwritten::Siblings(SessionRead::clone(read)),
            }
        }
    }
}

/// What was heard right before the echo of a write that only touched the goal, and that echo, if
/// the two differ beside the goal.
pub(crate) fn siblings_run_over(
    heard: &[Arc<SessionRead>],
    goal: &Goal,
    ports: &Ports,
) -> Option<(SessionRead, SessionRead)> {
    let place = heard.iter().position(|read| carries(read, goal, ports))?;
    let (before, echo) = (heard.get(place.checked_sub(1)?)?, heard.get(place)?);
    let differ = !payload::same_beside(before.metadata.as_deref(), echo.metadata.as_deref());
    (differ && before.updated <= echo.updated)
        .then(|| (SessionRead::clone(before), SessionRead::clone(echo)))
}

/// A certain failure: the write has not taken effect and will not.
pub(crate) fn is_certain(error: &CallError) -> bool {
    match error.kind {
        CallErrorKind::Gone
        | CallErrorKind::Refused
        | CallErrorKind::NotSent
        | CallErrorKind::Unauthorized => true,
        CallErrorKind::NotOpenCode | CallErrorKind::Unknown => false,
    }
}
