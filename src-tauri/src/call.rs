//! `server_call`: what the page asks of the server, checked, sent and given back as it came.

use std::sync::Arc;
use std::time::Duration;

use opencode_client::{Client, Forward, Forwarded, Kind, Verb};
use serde::Serialize;
use tauri::ipc::Response;
use tauri::{AppHandle, Manager as _, Runtime};
use tauri_plugin_goal::GoalExt as _;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::allow::{Call, Refusal, Route, Tree, allow};
use crate::error::{Code, Error, Result};
use crate::pages::Pages;
use crate::trees::Trees;

/// Usual calls that are under way at once; more of them wait, within their deadline. Each may bring
/// an answer of 64 MB.
const USUAL_MAX: usize = 16;

/// Calls that last as long as a turn, one per session at work.
const TURNS_MAX: usize = 32;

/// What lasts longer than this lasts as long as a turn.
const USUAL_LONGEST: Duration = Duration::from_mins(5);

/// How many calls are under way.
pub(crate) struct Calls {
    usual: Semaphore,
    turns: Semaphore,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            usual: Semaphore::new(USUAL_MAX),
            turns: Semaphore::new(TURNS_MAX),
        }
    }
}

/// The first line of an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    status: u16,
    /// Empty where there is no body.
    content_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

/// Carries a call of the page in `window` out. It ends with the page.
///
/// # Errors
/// `notAllowed`, `invalid`, `tooBig`, `notConnected`, `timedOut`, `unreachable`, `ended`.
pub(crate) async fn call<R: Runtime>(
    app: &AppHandle<R>,
    window: &str,
    call: &Call,
) -> Result<Response> {
    let route = allow(call).map_err(refused)?;
    let gone = app.state::<Pages>().page(window);
    tokio::select! {
        biased;
        () = gone.cancelled() => Err(Error::new(Code::Ended, "The page has gone.")),
        answer = carry_out(app, route) => Ok(Response::new(wire(&answer?))),
    }
}

async fn carry_out<R: Runtime>(app: &AppHandle<R>, route: Route) -> Result<Forwarded> {
    if let Some(session) = &route.aborts
        && paused(app, session).await
    {
        return Ok(Forwarded {
            status: 200,
            content_type: Some("application/json".to_owned()),
            next: None,
            body: b"true".to_vec(),
        });
    }
    let tree = route.tree.clone();
    let trees = app.state::<Trees>();
    if let Some(Tree::Removes(directory)) = &tree
        && !trees.has(directory)
    {
        let why = "Of all folders, the page may take away only a worktree that it made.";
        return Err(Error::new(Code::NotAllowed, why));
    }
    let client = app.goal().server_client()?;
    let calls = Arc::clone(&app.state::<Arc<Calls>>());
    let answer = forward(&client, &calls, route).await?;
    if tree == Some(Tree::Makes) && (200..300).contains(&answer.status) {
        trees.remember(&answer.body);
    }
    Ok(answer)
}

async fn forward(client: &Client, calls: &Calls, route: Route) -> Result<Forwarded> {
    let deadline = route.deadline;
    let room = if deadline > USUAL_LONGEST {
        &calls.turns
    } else {
        &calls.usual
    };
    let call = Forward {
        verb: route.verb,
        path: route.path,
        query: route.query,
        body: route.body,
        deadline,
    };
    let sent = async {
        // Never closed.
        let _turn = room.acquire().await;
        client.forward(&call).await
    };
    match timeout(deadline, sent).await {
        Ok(answer) => answer.map_err(failed),
        Err(_) => Err(timed_out()),
    }
}

/// A goal that is pursued would send the agent on after a mere abort: the user's stop is the goal's
/// pause, which stops the turn, too. Says whether it was done.
async fn paused<R: Runtime>(app: &AppHandle<R>, session: &str) -> bool {
    let active = app
        .goal()
        .get(session)
        .is_ok_and(|goal| goal.is_some_and(|goal| goal.status == "active"));
    if !active {
        return false;
    }
    match app.goal().pause(session).await {
        // What ran may run on: then the abort itself is tried.
        Ok(paused) => paused.abort_failed.is_none(),
        Err(error) => {
            let code = error.code().name();
            tracing::warn!(session, code, "a stop could not pause the goal");
            false
        }
    }
}

/// Asks the server something for the host itself, and gives the body of its success.
///
/// # Errors
/// Those of [`call`].
pub(crate) async fn ask(
    client: &Client,
    path: &[&str],
    directory: Option<&str>,
) -> Result<Vec<u8>> {
    let call = Forward {
        verb: Verb::Get,
        path: path.iter().map(|word| (*word).to_owned()).collect(),
        query: directory
            .map(|directory| ("directory".to_owned(), directory.to_owned()))
            .into_iter()
            .collect(),
        body: None,
        deadline: Duration::from_secs(30),
    };
    let answer = client.forward(&call).await.map_err(failed)?;
    if (200..300).contains(&answer.status) {
        return Ok(answer.body);
    }
    let message = format!(
        "The OpenCode server answered with status {}.",
        answer.status
    );
    Err(Error::new(Code::Unreachable, message))
}

/// One line of JSON, then the body as it came.
fn wire(answer: &Forwarded) -> Vec<u8> {
    let head = Head {
        status: answer.status,
        content_type: answer.content_type.as_deref().unwrap_or_default(),
        next_cursor: answer.next.as_deref(),
    };
    // Numbers and texts can be written.
    let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
    bytes.reserve_exact(answer.body.len() + 1);
    bytes.push(b'\n');
    bytes.extend_from_slice(&answer.body);
    bytes
}

fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::NotAllowed(why) => Error::new(Code::NotAllowed, why),
        Refusal::Invalid(why) => Error::invalid(why),
        Refusal::TooBig => Error::new(Code::TooBig, "The request is too large."),
    }
}

fn timed_out() -> Error {
    Error::new(
        Code::TimedOut,
        "The OpenCode server did not answer in time; what it began goes on.",
    )
}

/// A failed call as the page gets it.
pub(crate) fn failed(error: opencode_client::Error) -> Error {
    let code = match error.kind() {
        Kind::Timeout => return timed_out(),
        Kind::TooLarge => Code::TooBig,
        Kind::Unauthorized => Code::Unauthorized,
        Kind::NotOpenCode | Kind::Malformed | Kind::MalformedId | Kind::TooOld { .. } => {
            Code::Invalid
        }
        Kind::Unreachable
        | Kind::NotFound
        | Kind::Rejected { .. }
        | Kind::Server { .. }
        | Kind::BadTarget => Code::Unreachable,
    };
    Error::new(code, error.message())
}
