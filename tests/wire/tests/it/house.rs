//! A server, an engine that drives it, and what must hold in the end.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use goal_core::limits::Limits;
use goal_engine::Engine;
use goal_engine::audit::ServerAuditor;
use goal_engine::host::{self, Connected, ServerChoice};
use goal_engine::paths::DataDir;
use goal_engine::ports::{NoticeOut, Notices};
use opencode_client::{DEFAULT_USERNAME, Secret, Target};
use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;
use testkit::fake::{Auditing, FakeOptions, FakeServer, Room};

/// The session with the goal.
pub(crate) const SESSION: &str = "ses_wire";

/// Its folder.
pub(crate) const DIRECTORY: &str = "/work shop/ä";

/// Metadata of somebody else, which must survive byte for byte: spaces, order, numbers.
pub(crate) const FOREIGN: &str =
    r#""zeta":{ "b" : [1.50, 1.50e+2, null],"a":"\u00e4"},"alpha":12345678901234567890"#;

/// The deadline of a call. Short, so that faults pass quickly; a machine too slow for it makes
/// calls fail, which is what these tests are about.
pub(crate) const CALL: Duration = Duration::from_millis(700);

/// Everything of one test.
pub(crate) struct House {
    pub(crate) server: FakeServer,
    limits: Limits,
    data: TempDir,
}

/// A running engine.
pub(crate) struct Running {
    pub(crate) engine: Engine,
    pub(crate) auditor: Arc<ServerAuditor>,
}

/// Nobody is told anything.
pub(crate) struct Untold;

#[async_trait]
impl Notices for Untold {
    async fn deliver(&self, _: &NoticeOut) -> Result<(), String> {
        Ok(())
    }
}

/// Short limits: everything that waits in real life for minutes waits for moments here.
pub(crate) fn limits() -> Limits {
    let ms = Duration::from_millis;
    Limits {
        idle_quiet: ms(20),
        kickoff_quiet: ms(20),
        resume_quiet: ms(20),
        call_timeout: CALL,
        audit_timeout: ms(4_000),
        audit_retry: [ms(20), ms(40)],
        delivery_window: ms(500),
        interrupted_grace: ms(2_000),
        recheck_max: ms(1_000),
        // The server beats often: only a stream that is really dead is silent for so long.
        liveness: ms(3_000),
        reconnect_min: ms(10),
        reconnect_max: ms(100),
        continue_gap: ms(0),
        // A fault may meet one audit after another.
        audit_fail_max: 100,
        unconfirmed_max: 100,
        write_echo: ms(200),
        ..Limits::DEFAULT
    }
}

impl House {
    /// A server with one session, whose goal needs one more step.
    pub(crate) async fn new() -> Self {
        let house = Self::empty(limits()).await;
        house.server.put(room(SESSION, &goal("active")));
        house
    }

    /// A server without sessions, for an engine with these limits.
    pub(crate) async fn empty(limits: Limits) -> Self {
        let options = FakeOptions {
            password: Some("sesame".to_owned()),
            deadline: limits.call_timeout,
            heartbeat: Duration::from_millis(200),
            ..FakeOptions::default()
        };
        Self::on(options, limits).await
    }

    /// A server of its own kind without sessions.
    pub(crate) async fn on(options: FakeOptions, limits: Limits) -> Self {
        let server = FakeServer::start(options).await.unwrap();
        server.set_auditing(Auditing { prompts: 1 });
        let data = TempDir::new().unwrap();
        Self {
            server,
            limits,
            data,
        }
    }

    /// Where the server is, and its password.
    pub(crate) fn target(&self) -> Target {
        let password = self.server.password().map(Secret::new);
        Target::parse(&self.server.url(), DEFAULT_USERNAME, password).unwrap()
    }

    pub(crate) fn data_dir(&self) -> DataDir {
        DataDir::resolve(Some(self.data.path()), None).unwrap()
    }

    /// An engine that drives the server.
    pub(crate) async fn serve(&self) -> Running {
        let choice = ServerChoice::Attached(self.target());
        let data_dir = self.data_dir();
        let connected = host::connect(choice, &data_dir, &self.limits, Arc::new(Untold));
        Running::of(connected.await.unwrap())
    }

    /// Waits until the goal is complete.
    pub(crate) async fn until_complete(&self) {
        let complete = |server: &FakeServer| server.goal(SESSION)["status"] == "complete";
        self.server.until("the end", complete).await.unwrap();
    }

    /// Waits until a continuation was sent.
    pub(crate) async fn until_prompted(&self) {
        let prompted = |server: &FakeServer| !server.prompts(SESSION).is_empty();
        self.server.until("a prompt", prompted).await.unwrap();
    }

    /// The engine ends, and what must hold after every test is looked at.
    pub(crate) async fn ends_well(self, running: Running) {
        self.ends_well_after(running, /*steps*/ 1..=1).await;
    }

    /// As [`House::ends_well`], after another number of steps. Each is taken once, however often
    /// it is sent.
    pub(crate) async fn ends_well_after(mut self, running: Running, steps: RangeInclusive<usize>) {
        running.stop().await;
        assert_eq!(self.server.violations(), Vec::<String>::new());
        assert_eq!(self.server.audits(), Vec::<String>::new());
        let goal = self.server.goal(SESSION);
        assert_eq!(goal["ofAnotherClient"], json!([1, 2]), "{goal}");
        let metadata = self.server.metadata(SESSION).unwrap();
        assert!(metadata.contains(FOREIGN), "{metadata}");
        let prompts = self.server.prompts(SESSION);
        let mut ids: Vec<&str> = prompts.iter().map(|sent| sent.message.as_str()).collect();
        ids.dedup();
        assert!(steps.contains(&ids.len()), "{prompts:?}");
        assert_eq!(goal["turnsUsed"], ids.len(), "{goal}");
    }
}

impl Running {
    pub(crate) fn of(connected: Connected) -> Self {
        let Connected {
            ports,
            events,
            driver,
            auditor,
            ..
        } = connected;
        Self {
            engine: Engine::start(ports, events, driver),
            auditor,
        }
    }

    pub(crate) async fn stop(self) {
        self.engine.shutdown().await;
        let finished = self.auditor.finish(Duration::from_secs(40)).await;
        assert!(finished, "audit sessions are left over");
    }
}

/// A session that rests after its first turn.
pub(crate) fn room(id: &str, goal: &str) -> Room {
    Room {
        id: id.to_owned(),
        directory: DIRECTORY.to_owned(),
        metadata: Some(format!(r#"{{{FOREIGN},"openchamber":{{"goal":{goal}}}}}"#)),
        said: vec![
            "make the tests pass".to_owned(),
            "half of them do".to_owned(),
        ],
        busy: false,
    }
}

/// A goal, with a field that only another client knows.
pub(crate) fn goal(status: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = u64::try_from(now.unwrap().as_millis()).unwrap();
    json!({
        "id": "goal-1",
        "objective": "All tests pass",
        "status": status,
        "createdAt": now,
        "updatedAt": now,
        "ofAnotherClient": [1, 2],
    })
    .to_string()
}
