//! A server with goals, and the command that drives them.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::fake::{Auditing, Endpoint, FakeOptions, FakeServer, Room, Turns};
use testkit::{Openchamber, Serve, openchamber_binary};

use crate::Result;

/// Sessions in one project folder.
const PER_FOLDER: usize = 10;

/// How long anything may take, on any machine.
const PATIENCE: Duration = Duration::from_mins(10);

/// The password of every server here.
pub(crate) const PASSWORD: &str = "sesame";

/// Limits under which a cycle follows a turn at once and nothing else holds it up.
pub(crate) const AT_ONCE: [&str; 15] = [
    "--idle-quiet-ms=20",
    "--kickoff-quiet-ms=20",
    "--resume-quiet-ms=20",
    "--interrupted-grace-ms=60000",
    "--recheck-max-ms=3600000",
    "--call-timeout-ms=60000",
    "--audit-timeout-ms=60000",
    "--continue-gap-ms=0",
    "--turns-max=1000000",
    "--repeat-slow=0",
    "--repeat-max=0",
    "--empty-max=0",
    "--liveness-ms=60000",
    "--reconnect-min-ms=10",
    "--audit-retry-ms=5000,20000",
];

/// The goals of a stage.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    /// How many sessions.
    pub(crate) sessions: usize,
    /// How many of them have a goal; the oldest ones.
    pub(crate) goals: usize,
    /// The goals' status.
    pub(crate) status: &'static str,
    /// What was said in each session.
    pub(crate) said: Vec<String>,
    /// A turn runs in each session.
    pub(crate) busy: bool,
    /// What turns are like.
    pub(crate) turns: Turns,
    /// The server's distance.
    pub(crate) delay: Duration,
}

impl Cast {
    /// So many active goals, in each of which a turn runs: ten messages of `bytes` each, turns of
    /// fifty pieces with 200 bytes.
    pub(crate) fn at_work(goals: usize, bytes: usize) -> Self {
        Self {
            sessions: goals,
            goals,
            status: "active",
            said: said(bytes),
            busy: true,
            turns: Turns {
                deltas: 50,
                delta_bytes: 200,
                held: true,
                // A session's past is as long in every cycle.
                messages_max: 10,
            },
            delay: Duration::ZERO,
        }
    }
}

/// Ten messages; the last is the agent's.
pub(crate) fn said(bytes: usize) -> Vec<String> {
    let words = "the parser reads what the printer prints, and the other way round; ";
    let text: String = words.chars().cycle().take(bytes).collect();
    vec![text; 10]
}

/// The id of a session.
pub(crate) fn session(number: usize) -> String {
    format!("ses_bench{number:06}")
}

/// The folder of a session.
pub(crate) fn folder(number: usize) -> String {
    format!("/bench/project{:05}", number / PER_FOLDER)
}

/// The metadata of a session with a goal.
pub(crate) fn metadata(number: usize, status: &str) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_millis());
    json!({
        "other": { "theme": "dark", "tags": ["a", "b"] },
        "openchamber": { "goal": {
            "id": format!("goal-{number}"),
            "sessionID": session(number),
            "objective": "Every test of the workspace passes and the change is described",
            "status": status,
            "tokensUsed": 12_345,
            "createdAt": u64::try_from(now).unwrap_or(u64::MAX),
            "updatedAt": u64::try_from(now).unwrap_or(u64::MAX),
        } },
    })
    .to_string()
}

/// A server with its cast.
pub(crate) async fn server(cast: &Cast) -> Result<FakeServer> {
    let options = FakeOptions {
        password: Some(PASSWORD.to_owned()),
        deadline: Duration::from_secs(60),
        delay: cast.delay,
        ..FakeOptions::default()
    };
    let server = FakeServer::start(options).await?;
    server.set_turns(cast.turns.clone());
    // No goal is ever reached.
    server.set_auditing(Auditing {
        prompts: usize::MAX,
    });
    for number in (0..cast.sessions).rev() {
        let has_goal = number < cast.goals;
        server.put(Room {
            id: session(number),
            directory: folder(number),
            metadata: has_goal.then(|| metadata(number, cast.status)),
            said: cast.said.clone(),
            busy: cast.busy,
        });
    }
    Ok(server)
}

/// A server and a `serve` that drives it.
pub(crate) struct Stage {
    pub(crate) server: FakeServer,
    pub(crate) serve: Serve,
    goals: usize,
    _data: TempDir,
}

impl Stage {
    /// Starts both; comes back when every session was looked at.
    pub(crate) async fn set(cast: &Cast, flags: &[&str]) -> Result<Self> {
        let server = server(cast).await?;
        Self::before(server, cast, flags).await
    }

    /// Starts `serve` on a server that is there.
    pub(crate) async fn before(server: FakeServer, cast: &Cast, flags: &[&str]) -> Result<Self> {
        let data = TempDir::new()?;
        let mut serve = serve(&server, &data, flags)?;
        let ready = |event: &Value| event["event"] == "ready";
        serve.next_event(ready, PATIENCE).await?;
        Ok(Self {
            server,
            serve,
            goals: cast.goals,
            _data: data,
        })
    }

    /// Waits until every goal was looked at and rests behind its running turn.
    pub(crate) async fn settle(&self) -> Result<()> {
        let goals = self.goals;
        let looked = |server: &FakeServer| count(server, Endpoint::Questions) >= goals;
        let what = "a look at every goal";
        Ok(self.server.until_within(what, PATIENCE, looked).await?)
    }

    /// Ends so many turns, one goal after the other, with at most `at_once` cycles under way;
    /// comes back when each was continued.
    pub(crate) async fn drive(&self, cycles: usize, at_once: usize) -> Result<()> {
        let before = self.server.prompts_total();
        let at_once = at_once.min(self.goals);
        for done in 0..cycles {
            let room = |server: &FakeServer| server.prompts_total() + at_once > before + done;
            self.until("a prompt", room).await?;
            // Spread over all of them, also where there are more goals than cycles.
            let step = (self.goals / cycles).max(1);
            let id = session(done * step % self.goals);
            self.until("a turn", |server| server.finish_turn(&id))
                .await?;
        }
        let all = |server: &FakeServer| server.prompts_total() >= before + cycles;
        self.until("the last prompt", all).await
    }

    /// Waits until no audit session is left: the cycles are over in every part.
    pub(crate) async fn rest(&self) -> Result<()> {
        let none = |server: &FakeServer| server.audits().is_empty();
        self.until("the end of all audits", none).await
    }

    pub(crate) async fn until(
        &self,
        what: &str,
        holds: impl Fn(&FakeServer) -> bool,
    ) -> Result<()> {
        Ok(self.server.until_within(what, PATIENCE, holds).await?)
    }

    /// Both end; the server must have nothing to complain of.
    pub(crate) async fn clear(mut self) -> Result<()> {
        self.serve.terminate();
        self.serve.wait(PATIENCE).await?;
        let violations = self.server.violations();
        if violations.is_empty() {
            return Ok(());
        }
        Err(format!("the client did what it must never do: {violations:#?}").into())
    }
}

/// Starts `serve` on a server, with its home and its data in `home`.
pub(crate) fn serve(server: &FakeServer, home: &TempDir, flags: &[&str]) -> Result<Serve> {
    let url = server.url();
    let data = home.path().to_string_lossy();
    let arguments = [&["--server", &url, "--data-dir", &data], flags].concat();
    let env = [
        ("HOME", home.path().to_string_lossy().into_owned()),
        ("OPENCODE_SERVER_PASSWORD", PASSWORD.to_owned()),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value));
    let command = Openchamber::with_binary(openchamber_binary()?, &env);
    Ok(command.serve(&arguments)?)
}

/// How often an endpoint was asked.
pub(crate) fn count(server: &FakeServer, endpoint: Endpoint) -> usize {
    server
        .requests()
        .get(&endpoint)
        .copied()
        .unwrap_or_default()
}

/// One number over another.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a bench stay far below 2^52"
)]
pub(crate) fn ratio(one: usize, other: usize) -> f64 {
    one as f64 / other as f64
}
