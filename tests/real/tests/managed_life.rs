//! The server that the command starts for itself is killed, or the command is: the goal goes on.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use std::path::Path;
use std::process::Command;

use pretty_assertions::assert_eq;
use real::PATIENCE;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, Step};
use testkit::{Openchamber, Scratch, Serve};

const PASSWORD: &str = "correct horse";

const LIMITS: [&str; 10] = [
    "--idle-quiet-ms",
    "1000",
    "--kickoff-quiet-ms",
    "500",
    "--interrupted-grace-ms",
    "4000",
    "--continue-gap-ms",
    "0",
    "--recheck-max-ms",
    "5000",
];

/// A goal whose first turn never ends by itself.
struct Home {
    model: ScriptedModel,
    scratch: Scratch,
    command: Openchamber,
}

impl Home {
    fn build() -> Self {
        let model = ScriptedModel::builder()
            .turn([Step::held("half", "I begin with")])
            .turn([Step::say("Done: all. Verified: yes. Remaining: nothing.")])
            .audit_verdict("complete", "done")
            .start()
            .unwrap();
        let scratch = Scratch::new(&model.url()).unwrap();
        let data = scratch.data_dir().to_string_lossy().into_owned();
        let command = Openchamber::new(scratch.env())
            .unwrap()
            .env("OPENCODE_SERVER_PASSWORD", PASSWORD)
            .env("OPENCHAMBER_DATA_DIR", &data);
        Self {
            model,
            scratch,
            command,
        }
    }

    /// Runs the loop with a server of its own; gives that server's address, too.
    async fn serve(&self) -> (Serve, String) {
        let project = self.scratch.project().to_string_lossy().into_owned();
        let arguments = [&["--dir", project.as_str()], &LIMITS[..]].concat();
        let mut serve = self.command.serve(&arguments).unwrap();
        let ready = serve.next_event(|event| event["event"] == "ready", PATIENCE);
        let url = url(&ready.await.unwrap());
        (serve, url)
    }

    /// Starts the goal and waits until its first turn runs; gives the session.
    async fn in_the_first_turn(&self, url: &str) -> String {
        let project = self.scratch.project();
        let path = format!("session?directory={}", project.display());
        let title = json!({ "title": "managed" });
        let created = call(Method::POST, url, &path, Some(&title)).await;
        let session = created["id"].as_str().unwrap().to_owned();
        let command = self.command.clone().env("OPENCODE_SERVER_URL", url);
        let start = [
            "goal",
            "start",
            &session,
            "--objective",
            "Write a poem",
            "--send",
        ];
        let started = command.run(&start, "", PATIENCE).await.unwrap();
        assert_eq!(started.code, Some(0), "{started:?}");
        self.model.reached("half", PATIENCE).await.unwrap();
        session
    }

    /// The process of the server that is written down; the only one.
    fn server_pid(&self) -> u32 {
        let folder = self.scratch.data_dir().join("opencode").join("servers");
        let mut files = std::fs::read_dir(folder).unwrap();
        let file = files.next().unwrap().unwrap();
        assert!(
            files.next().is_none(),
            "more than one server is written down"
        );
        let note = std::fs::read_to_string(file.path()).unwrap();
        let note: Value = serde_json::from_str(&note).unwrap();
        u32::try_from(note["server"]["pid"].as_u64().unwrap()).unwrap()
    }

    /// Waits for the goal's end and checks that the interrupted turn was continued once.
    async fn completes(&self, serve: &mut Serve, url: &str, session: &str) {
        let settled = serve.next_event(|event| event["event"] == "settled", PATIENCE);
        let end = settled.await.unwrap();
        assert_eq!(end["status"], "complete", "{end}");
        let path = format!("session/{session}/message");
        let messages = call(Method::GET, url, &path, None).await;
        let prompts = messages.as_array().unwrap().iter();
        let prompts = prompts.filter(|message| message["info"]["role"] == "user");
        assert_eq!(prompts.count(), 2, "the objective and one continuation");
        assert_eq!(self.model.unused(), (0, 0));
        assert_eq!(self.model.audit_calls().len(), 1);
    }

    /// Ends the command as a user does; nothing that it started is left.
    async fn ends(&self, mut serve: Serve) {
        serve.terminate();
        assert!(serve.wait(PATIENCE).await.unwrap().success());
        assert_eq!(self.scratch.processes(), Vec::<u32>::new());
        let folder = self.scratch.data_dir().join("opencode").join("servers");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    }
}

fn url(event: &Value) -> String {
    event["url"].as_str().unwrap().to_owned()
}

async fn call(method: Method, url: &str, path: &str, body: Option<&Value>) -> Value {
    let mut request = opencode_client::http_client()
        .build()
        .unwrap()
        .request(method, format!("{url}/{path}"))
        .basic_auth("opencode", Some(PASSWORD));
    if let Some(body) = body {
        request = request.json(body);
    }
    request.send().await.unwrap().json().await.unwrap()
}

fn runs(pid: u32) -> bool {
    // A zombie has no environment.
    let environ = std::fs::read(Path::new("/proc").join(pid.to_string()).join("environ"));
    environ.is_ok_and(|environ| !environ.is_empty())
}

#[tokio::test]
async fn a_killed_server_is_started_again_and_the_goal_goes_on() {
    let home = Home::build();
    let (mut serve, first) = home.serve().await;
    let session = home.in_the_first_turn(&first).await;
    let killed = home.server_pid();
    assert!(runs(killed));

    let mut kill = Command::new("kill");
    kill.args(["-KILL", &killed.to_string()]);
    assert!(kill.status().unwrap().success());
    let moved = |event: &Value| event["event"] == "connection" && event["url"].is_string();
    let second = url(&serve.next_event(moved, PATIENCE).await.unwrap());

    assert_ne!(second, first);
    assert_ne!(home.server_pid(), killed);
    home.completes(&mut serve, &second, &session).await;
    home.ends(serve).await;
}

#[tokio::test]
async fn a_killed_command_ends_its_orphan_when_it_comes_back_and_the_goal_goes_on() {
    let home = Home::build();
    let (mut serve, first) = home.serve().await;
    let session = home.in_the_first_turn(&first).await;
    let orphan = home.server_pid();

    serve.kill();
    serve.wait(PATIENCE).await.unwrap();
    assert!(runs(orphan), "the server outlives a crash of its command");
    let (mut serve, second) = home.serve().await;

    assert!(!runs(orphan));
    assert_ne!(home.server_pid(), orphan);
    home.completes(&mut serve, &second, &session).await;
    home.ends(serve).await;
}
