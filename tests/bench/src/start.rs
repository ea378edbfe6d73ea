//! (g) Start and recovery on a server with many sessions.

use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use testkit::fake::{Endpoint, StreamFault};

use crate::bare::{self, Task};
use crate::cycles::millis;
use crate::figure::Figure;
use crate::stage::{self, AT_ONCE, Cast, count};
use crate::{Result, Scale, usage};

/// How long a start may take, on any machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// Of so many sessions one has a goal.
const PER_GOAL: usize = 100;

pub(crate) async fn recovery(scale: Scale) -> Result<Vec<Figure>> {
    let sessions = scale.of(10_000, 200);
    let mut cast = Cast::at_work(sessions / PER_GOAL, /*bytes*/ 200);
    cast.sessions = sessions;
    cast.status = "paused";
    cast.busy = false;
    cast.said = Vec::new();
    let mut server = stage::server(&cast).await?;
    let bare = bare::run(&server, Task::Pages).await?;
    server.forget_requests();
    let data = TempDir::new()?;
    let begun = Instant::now();
    let mut serve = stage::serve(&server, &data, &AT_ONCE)?;
    serve
        .next_event(|event: &Value| event["event"] == "ready", PATIENCE)
        .await?;
    let start = begun.elapsed();
    let pid = serve.pid();
    let used = usage::processor_time(pid)?;
    let requests: usize = server.requests().values().sum();
    let pages = count(&server, Endpoint::List);
    let begun = Instant::now();
    server.break_streams(StreamFault::Cut);
    let twice = |server: &testkit::fake::FakeServer| count(server, Endpoint::List) >= 2 * pages;
    server.until_within("a recovery", PATIENCE, twice).await?;
    let again = begun.elapsed();
    let recovered = usage::processor_time(pid)? - used;
    serve.terminate();
    serve.wait(PATIENCE).await?;
    drop(server.violations());
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    let told = |what: String, value: String| Figure::told("g", what, value);
    Ok(vec![
        told(
            format!("start with {sessions} sessions against bare paging, time"),
            format!("{:.2}x", ratio(start, bare.wall)),
        ),
        told(
            "… processor time, the program's own start included".to_owned(),
            format!("{:.2}x", ratio(used, bare.processor)),
        ),
        told(
            "recovery after a lost stream against bare paging, time".to_owned(),
            format!("{:.2}x", ratio(again, bare.wall)),
        ),
        told(
            "… processor time".to_owned(),
            format!("{:.2}x", ratio(recovered, bare.processor)),
        ),
        told("start".to_owned(), millis(start)),
        told("requests of a start".to_owned(), requests.to_string()),
        told(
            "… pages of sessions among them".to_owned(),
            pages.to_string(),
        ),
    ])
}
