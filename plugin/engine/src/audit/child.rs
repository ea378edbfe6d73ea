//! The throw-away session of an audit, and its end.
//!
//! Whoever drops a [`Child`] has it stopped and deleted, also in the middle of an await: a task of
//! the [`Cleaner`] does it and outlives the audit. Making one is such a task, too, for a request
//! that nobody waits for any more may still have made a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use goal_core::goal::SessionId;
use goal_core::judge::AuditFailure;
use opencode_client::{Client, Error, Kind, NewSession, PermissionRule};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::Failure;
use crate::from_wire;

/// The title of a session that an audit is a child of when nobody's session is meant.
pub(super) const TRIAL_TITLE: &str = "Auditor test";

/// Deadline of one clean-up with all its tries.
const CLEAN_UP_MAX: Duration = Duration::from_secs(30);

/// Pauses before the tries of one clean-up: a connection that breaks is mostly back at once, a
/// server that restarts within seconds.
const CLEAN_UP_PAUSES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_secs(2),
    Duration::from_secs(8),
];

/// The session to be made.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The session whose goal it is about.
    pub(super) parent: SessionId,
    /// Its folder.
    pub(super) directory: String,
    /// What it is called while it exists.
    pub(super) title: &'static str,
    /// The mark; holds `attempt`.
    pub(super) metadata: Box<RawValue>,
    /// Random text by which the session is found if its id never arrives.
    pub(super) attempt: String,
}

/// Makes audit sessions and cleans up behind them. Clones share the work.
#[derive(Clone)]
pub(super) struct Cleaner {
    client: Client,
    tasks: TaskTracker,
    /// A session that is known to exist could not be cleaned up.
    left: Arc<AtomicBool>,
    /// A child may be dropped by a thread of another runtime.
    runtime: Handle,
}

impl Cleaner {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            tasks: TaskTracker::new(),
            left: Arc::default(),
            runtime: Handle::current(),
        }
    }

    /// Makes the session.
    pub(super) async fn open(&self, order: Order) -> Result<Child, Failure> {
        let (give, take) = oneshot::channel();
        let cleaner = self.clone();
        let making = async move {
            // If nobody takes it, the child is dropped here.
            drop(give.send(cleaner.make(order).await));
        };
        self.tasks.spawn_on(making, &self.runtime);
        match take.await {
            Ok(made) => made.map_err(|error| Failure::of(&error)),
            Err(_) => Err(Failure::Final(AuditFailure::Connection)),
        }
    }

    /// Makes a session that is nobody's child, for an audit that judges nobody's work. The error
    /// is `None` if the program is ending.
    pub(super) async fn open_alone(&self, directory: &str) -> Result<Child, Option<Error>> {
        let session = powerless(TRIAL_TITLE);
        let directory: Arc<str> = Arc::from(directory);
        let (give, take) = oneshot::channel();
        let cleaner = self.clone();
        let making = async move {
            let made = cleaner.client.create_session(Some(&directory), &session);
            let made = made.await.map(|made| Child {
                id: made.id,
                directory: Arc::clone(&directory),
                cleaner: cleaner.clone(),
            });
            // If nobody takes it, the child is dropped here.
            drop(give.send(made));
        };
        self.tasks.spawn_on(making, &self.runtime);
        match take.await {
            Ok(made) => made.map_err(Some),
            Err(_) => Err(None),
        }
    }

    /// Waits for the work under way; whether it is done and no session is known to be left.
    pub(super) async fn finish(&self, within: Duration) -> bool {
        self.tasks.close();
        let done = tokio::time::timeout(within, self.tasks.wait()).await;
        done.is_ok() && !self.left.load(Ordering::Relaxed)
    }

    async fn make(&self, order: Order) -> Result<Child, Error> {
        let session = NewSession {
            parent_id: Some(order.parent.as_str().to_owned()),
            metadata: Some(order.metadata.clone()),
            ..powerless(order.title)
        };
        let directory: Arc<str> = Arc::from(order.directory.as_str());
        let made = self.client.create_session(Some(&directory), &session).await;
        match made {
            Ok(made) => Ok(Child {
                id: made.id,
                directory,
                cleaner: self.clone(),
            }),
            Err(error) => {
                if error.maybe_sent() {
                    self.clean_up(Remains::Unknown(order));
                }
                Err(error)
            }
        }
    }

    fn clean_up(&self, remains: Remains) {
        let (client, left) = (self.client.clone(), Arc::clone(&self.left));
        let cleaning = async move {
            let done = tokio::time::timeout(CLEAN_UP_MAX, clean(&client, &remains)).await;
            if !matches!(done, Ok(true)) {
                // Of an unknown one only its absence was seen.
                let known = matches!(remains, Remains::Known { .. });
                left.fetch_or(known, Ordering::Relaxed);
                tracing::warn!(?remains, "an audit session may be left until it is swept");
            }
        };
        self.tasks.spawn_on(cleaning, &self.runtime);
    }
}

/// A session whose model may do nothing but answer.
fn powerless(title: &str) -> NewSession {
    NewSession {
        title: Some(title.to_owned()),
        permission: vec![PermissionRule::deny_all()],
        ..NewSession::default()
    }
}

/// An audit session. Dropping it has it stopped and deleted.
pub(super) struct Child {
    id: String,
    directory: Arc<str>,
    cleaner: Cleaner,
}

impl Child {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn directory(&self) -> &str {
        &self.directory
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.cleaner.clean_up(Remains::Known {
            id: std::mem::take(&mut self.id),
            directory: Arc::clone(&self.directory),
        });
    }
}

/// What is to be cleaned up.
enum Remains {
    /// This session.
    Known { id: String, directory: Arc<str> },
    /// A session that may have been made by this order.
    Unknown(Order),
}

impl std::fmt::Debug for Remains {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known { id, .. } => f.write_str(id),
            Self::Unknown(order) => write!(f, "unknown child of {}", order.parent),
        }
    }
}

/// Whether nothing is left.
async fn clean(client: &Client, remains: &Remains) -> bool {
    for pause in CLEAN_UP_PAUSES {
        tokio::time::sleep(pause).await;
        let tried = match remains {
            Remains::Known { id, directory } => remove(client, id, directory).await.map(|()| true),
            Remains::Unknown(order) => find_and_remove(client, order).await,
        };
        match tried {
            Ok(true) => return true,
            Ok(false) => {}
            Err(error) => tracing::debug!(?remains, %error, "an audit session was not deleted"),
        }
    }
    false
}

/// Stops and deletes a session. One that is gone is deleted.
async fn remove(client: &Client, id: &str, directory: &str) -> Result<(), Error> {
    // A run that cannot be stopped ends with its session, only later.
    if let Err(error) = client.abort(id, Some(directory)).await {
        tracing::debug!(session = id, %error, "an audit was not stopped");
    }
    match client.delete_session(id, Some(directory)).await {
        Err(error) if *error.kind() == Kind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes the session that came of an order, if one did by now; whether that is so.
async fn find_and_remove(client: &Client, order: &Order) -> Result<bool, Error> {
    let directory = order.directory.as_str();
    let children = client
        .children(order.parent.as_str(), Some(directory))
        .await;
    let children = match children {
        Err(error) if *error.kind() == Kind::NotFound => return Ok(true),
        children => children?,
    };
    for child in children {
        let read = from_wire::session(child);
        let ours = |metadata: &Arc<str>| metadata.contains(&order.attempt);
        if read.audit.is_some() && read.metadata.as_ref().is_some_and(ours) {
            remove(client, read.facts.id.as_str(), directory).await?;
            return Ok(true);
        }
    }
    Ok(false)
}
