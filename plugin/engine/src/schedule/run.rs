//! One run: its session is made, and its prompt or goal begun, as by hand (T7).

use std::time::Duration;

use goal_core::schedule::{RunState, Task};
use goal_core::time::Wall;
use tokio::time::{sleep, timeout};

use crate::command::{self, Choices, CreateRequest, GoalWish, Note, Sent, Unsent};
use crate::error::{Code, Error};
use crate::ports::{Address, Ports};
use crate::store::{Dispatched, ServerKey};

/// How long a run may take to begin: a slash command is answered when it has ended (T8).
const WATCHDOG: Duration = Duration::from_secs(30 * 60);

/// How long a server that does not answer is waited for (T7).
const SERVER_MAX: Duration = Duration::from_secs(10);

/// How often it is asked again.
const SERVER_AGAIN: Duration = Duration::from_secs(1);

/// Begins a claimed run and writes down what came of it. `moment` is what its title names.
pub(super) async fn dispatch(
    ports: &Ports,
    server: &ServerKey,
    task: &Task,
    run: i64,
    moment: Wall,
) -> Result<Sent, Unsent> {
    let begun = match timeout(WATCHDOG, begin(ports, task, moment)).await {
        Ok(begun) => begun,
        Err(_) => {
            let text =
                "The run took half an hour to begin and was given up; what it began goes on.";
            Err(Error::new(Code::NotDelivered, text).into())
        }
    };
    let now = ports.clock.wall();
    match &begun {
        Ok(sent) => {
            let what = Dispatched {
                session: sent.session.facts.id.clone(),
                goal: sent.goal.as_ref().map(|goal| goal.view.goal.id.clone()),
                message: sent.message.clone(),
                server: server.clone(),
            };
            let mut kept = ports.store.run_dispatched(run, what.clone(), now).await;
            if kept.is_err() {
                // Without its session in the history nobody would see its end (T10).
                kept = ports.store.run_dispatched(run, what, now).await;
            }
            if let Err(error) = kept {
                let session = sent.session.facts.id.as_str();
                tracing::warn!(run, session, %error, "a run's session could not be written down");
            }
        }
        Err(unsent) => {
            let code = unsent.error.code().name();
            let reason = format!("{code}: {}", unsent.error.message());
            let left = unsent.remains.as_ref();
            let left = left.map(|remains| remains.session.clone());
            end(ports, run, RunState::Failed, reason, left).await;
        }
    }
    begun
}

/// Writes down that a run ended, trying twice (T10).
pub(super) async fn end(
    ports: &Ports,
    run: i64,
    state: RunState,
    reason: String,
    session: Option<goal_core::goal::SessionId>,
) {
    let now = ports.clock.wall();
    let store = &ports.store;
    let mut ended = store
        .end_run(run, state, reason.clone(), session.clone(), now)
        .await;
    if ended.is_err() {
        ended = store.end_run(run, state, reason, session, now).await;
    }
    match ended {
        Ok(_) => tracing::info!(run, state = state.name(), "a run ended"),
        Err(error) => tracing::warn!(run, %error, "a run's end could not be written down"),
    }
}

async fn begin(ports: &Ports, task: &Task, moment: Wall) -> Result<Sent, Unsent> {
    let request = request(task, moment)?;
    let started = tokio::time::Instant::now();
    loop {
        let sent = command::create(ports, request.clone()).await;
        let again = sent.as_ref().is_err_and(|unsent| {
            unsent.error.code() == Code::Unreachable && unsent.remains.is_none()
        });
        if !again || started.elapsed() >= SERVER_MAX {
            return sent;
        }
        sleep(SERVER_AGAIN).await;
    }
}

fn request(task: &Task, moment: Wall) -> Result<CreateRequest, Error> {
    let draft = &task.draft;
    let to = Address {
        model: Some(task.model.clone()),
        agent: draft.agent.clone(),
        variant: draft.variant.clone(),
    };
    let goal = draft.goal.then_some(GoalWish {
        token_budget: draft.goal_token_budget,
        replace: false,
    });
    Ok(CreateRequest {
        directory: draft.directory.clone(),
        title: Some(task.title(moment)),
        note: Some(Note {
            text: draft.prompt.clone(),
            choices: Choices::new(to, Vec::new())?,
            goal,
        }),
    })
}
