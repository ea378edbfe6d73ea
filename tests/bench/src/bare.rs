//! The yardstick: a program that makes the calls of a cycle, reads the answers and does nothing
//! else. It runs as a process of its own, so that its processor time is its own.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use testkit::fake::FakeServer;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::stage::{self, PASSWORD};
use crate::{Result, usage};

/// Messages read at a time.
const PAGE: &str = "limit=40";

/// What the program is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// So many cycles over so many goals, so many at once; with the event stream read beside them
    /// and thrown away, or without it.
    Cycles {
        goals: usize,
        cycles: usize,
        at_once: usize,
        stream: bool,
    },
    /// All pages of all sessions, one after the other.
    Pages,
    /// So many times the round trips of a cycle that wait for each other, and no other call.
    Paths { times: usize },
}

impl Task {
    fn order(self) -> Value {
        match self {
            Self::Cycles {
                goals,
                cycles,
                at_once,
                stream,
            } => json!({
                "task": "cycles", "goals": goals, "cycles": cycles, "at_once": at_once,
                "stream": stream,
            }),
            Self::Pages => json!({ "task": "pages" }),
            Self::Paths { times } => json!({ "task": "paths", "times": times }),
        }
    }
}

/// What it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    /// Processor time, without that of the program's start.
    pub(crate) processor: Duration,
    /// Time on the clock; of paths, that of the fastest tenth.
    pub(crate) wall: Duration,
}

/// Runs the program on a server.
pub(crate) async fn run(server: &FakeServer, task: Task) -> Result<Took> {
    let mut order = task.order();
    order["url"] = json!(server.url());
    let mut child = Command::new(std::env::current_exe()?)
        .arg("bare")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(order.to_string().as_bytes()).await?;
    }
    let output = child.wait_with_output().await?;
    let told: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stdout).into_owned())?;
    let micros = |name: &str| Duration::from_micros(told[name].as_u64().unwrap_or_default());
    Ok(Took {
        processor: micros("processor"),
        wall: micros("wall"),
    })
}

/// The program itself: the order comes in, the figures go out.
pub(crate) async fn run_as_child() -> Result<()> {
    let order: Value = serde_json::from_reader(std::io::stdin())?;
    let number = |name: &str| -> Result<usize> {
        let number = order[name].as_u64().ok_or("an order without a number")?;
        Ok(usize::try_from(number)?)
    };
    let caller = Caller::new(order["url"].as_str().unwrap_or_default())?;
    // The connection comes about before anything is counted, as that of `serve` does.
    caller.get("/global/health").await?;
    if order["stream"] == true {
        caller.hear().await?;
    }
    let processor = usage::own_processor_time()?;
    let begun = Instant::now();
    let mut fastest = None;
    match order["task"].as_str() {
        Some("pages") => caller.all_pages().await?,
        Some("paths") => fastest = Some(paths(&caller, number("times")?).await?),
        Some(_) | None => {
            let (goals, cycles) = (number("goals")?, number("cycles")?);
            all_cycles(&caller, goals, cycles, number("at_once")?).await?;
        }
    }
    let wall = fastest.unwrap_or_else(|| begun.elapsed());
    let told = json!({
        "processor": (usage::own_processor_time()? - processor).as_micros(),
        "wall": wall.as_micros(),
    });
    crate::say(&told.to_string());
    Ok(())
}

async fn paths(caller: &Caller, times: usize) -> Result<Duration> {
    let mut all = Vec::new();
    for time in 0..times {
        let begun = Instant::now();
        let child = caller.path(time).await?;
        all.push(begun.elapsed());
        caller.forget(&child, 0).await?;
    }
    Ok(fastest_tenth(all))
}

/// The slowest of the fastest tenth: whatever else the machine does slows some, not all.
pub(crate) fn fastest_tenth(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all.get(all.len() / 10).copied().unwrap_or_default()
}

async fn all_cycles(caller: &Caller, goals: usize, cycles: usize, at_once: usize) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers: JoinSet<Result<()>> = JoinSet::new();
    for _ in 0..at_once {
        let (caller, next) = (caller.clone(), Arc::clone(&next));
        workers.spawn(async move {
            loop {
                let cycle = next.fetch_add(1, Ordering::Relaxed);
                if cycle >= cycles {
                    return Ok(());
                }
                caller.cycle(cycle % goals, cycle).await?;
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done??;
    }
    Ok(())
}

/// Calls, and reads the answers as bytes.
#[derive(Clone)]
struct Caller {
    http: Client,
    url: String,
}

impl Caller {
    fn new(url: &str) -> Result<Self> {
        let http = opencode_client::http_client().no_proxy().build()?;
        let url = url.to_owned();
        Ok(Self { http, url })
    }

    async fn get(&self, path: &str) -> Result<Option<String>> {
        self.call(Method::GET, path, None)
            .await
            .map(|(next, _)| next)
    }

    /// The next page's cursor, and the body.
    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<(Option<String>, Vec<u8>)> {
        let url = format!("{}{path}", self.url);
        let mut request = self.http.request(method, url);
        request = request.basic_auth("opencode", Some(PASSWORD));
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body);
        }
        let answer = request.send().await?.error_for_status()?;
        let next = answer.headers().get("x-next-cursor");
        let next = next.and_then(|next| next.to_str().ok()).map(str::to_owned);
        Ok((next, answer.bytes().await?.to_vec()))
    }

    /// Opens the event stream and reads on, in a task of its own.
    async fn hear(&self) -> Result<()> {
        let request = self.http.get(format!("{}/global/event", self.url));
        let request = request.basic_auth("opencode", Some(PASSWORD));
        let mut stream = request.send().await?.error_for_status()?;
        tokio::spawn(async move { while let Ok(Some(_)) = stream.chunk().await {} });
        Ok(())
    }

    async fn all_pages(&self) -> Result<()> {
        let mut path = "/experimental/session?limit=100&archived=true".to_owned();
        while let Some(next) = self.get(&path).await? {
            path = format!("/experimental/session?limit=100&archived=true&cursor={next}");
        }
        Ok(())
    }

    /// The calls of one cycle, each when the one before is answered; what a cycle asks together is
    /// asked together.
    async fn cycle(&self, number: usize, cycle: usize) -> Result<()> {
        self.look(number).await?;
        let at = at(number);
        self.get(&format!("/config?{at}")).await?;
        self.get(&format!("/config/providers?{at}")).await?;
        self.get(&format!("/agent?{at}")).await?;
        let child = self.audit(number).await?;
        self.forget(&child, number).await?;
        self.go_on(number, cycle).await
    }

    /// The round trips of a cycle of the first goal of which each waits for the one before; the
    /// audit session that is left.
    async fn path(&self, cycle: usize) -> Result<String> {
        self.look(0).await?;
        let at = at(0);
        let (config, providers, agents) = (
            format!("/config?{at}"),
            format!("/config/providers?{at}"),
            format!("/agent?{at}"),
        );
        tokio::try_join!(self.get(&config), self.get(&providers), self.get(&agents))?;
        let child = self.audit(0).await?;
        self.go_on(0, cycle).await?;
        Ok(child)
    }

    async fn look(&self, number: usize) -> Result<()> {
        let (id, at) = (stage::session(number), at(number));
        self.get(&format!("/session/{id}?{at}")).await?;
        self.get(&format!("/session/status?{at}")).await?;
        self.get(&format!("/session/{id}/children?{at}")).await?;
        self.get(&format!("/session/{id}/message?{at}&{PAGE}"))
            .await?;
        Ok(())
    }

    async fn audit(&self, number: usize) -> Result<String> {
        let (id, at) = (stage::session(number), at(number));
        let order = json!({
            "parentID": id,
            "title": "Goal audit",
            "metadata": { "openchamber": { "goalAudit": {
                "owner": "bare", "goalID": "goal", "until": 0, "attempt": "bare",
            } } },
            "permission": [{ "permission": "*", "pattern": "*", "action": "deny" }],
        });
        let path = format!("/session?{at}");
        let (_, made) = self
            .call(Method::POST, &path, Some(order.to_string()))
            .await?;
        let made: Value = serde_json::from_slice(&made)?;
        let child = made["id"].as_str().ok_or("a session without an id")?;
        let question = json!({
            "model": { "providerID": "acme", "modelID": "small" },
            "agent": "goal-auditor",
            "parts": [{ "type": "text", "text": text(6_000) }],
        });
        let path = format!("/session/{child}/message?{at}");
        self.call(Method::POST, &path, Some(question.to_string()))
            .await?;
        Ok(child.to_owned())
    }

    async fn forget(&self, child: &str, number: usize) -> Result<()> {
        let at = at(number);
        let path = format!("/session/{child}/abort?{at}");
        self.call(Method::POST, &path, None).await?;
        let path = format!("/session/{child}?{at}");
        self.call(Method::DELETE, &path, None).await?;
        Ok(())
    }

    async fn go_on(&self, number: usize, cycle: usize) -> Result<()> {
        let (id, at) = (stage::session(number), at(number));
        let session = format!("/session/{id}?{at}");
        let status = format!("/session/status?{at}");
        let messages = format!("/session/{id}/message?{at}&{PAGE}");
        self.get(&session).await?;
        let metadata = stage::metadata(number, "active");
        let patch = format!(r#"{{"metadata":{metadata}}}"#);
        self.call(Method::PATCH, &session, Some(patch)).await?;
        tokio::try_join!(self.get(&session), self.get(&status), self.get(&messages))?;
        let prompt = json!({
            "messageID": format!("msg_bare{cycle}"),
            "agent": "build",
            "model": { "providerID": "acme", "modelID": "big" },
            "parts": [{ "type": "text", "id": format!("prt_bare{cycle}"), "text": text(2_000) }],
        });
        let path = format!("/session/{id}/prompt_async?{at}");
        self.call(Method::POST, &path, Some(prompt.to_string()))
            .await?;
        Ok(())
    }
}

fn at(number: usize) -> String {
    format!("directory={}", stage::folder(number))
}

fn text(bytes: usize) -> String {
    "the parser ".chars().cycle().take(bytes).collect()
}
