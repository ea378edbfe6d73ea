//! The scripted model, the real server and the command, in one scratch home.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::model::ScriptedModel;
use testkit::openchamber::Output;
use testkit::{Error, OpenCode, OpenCodeOptions, Openchamber, Serve};

/// How long anything on the real server may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Short limits that keep their relations and leave the real server its time: an abort's message
/// arrives up to 700 ms late.
const LIMITS: [&str; 14] = [
    "--idle-quiet-ms",
    "1000",
    "--kickoff-quiet-ms",
    "500",
    "--resume-quiet-ms",
    "250",
    "--interrupted-grace-ms",
    "4000",
    "--continue-gap-ms",
    "0",
    "--audit-timeout-ms",
    "30000",
    "--recheck-max-ms",
    "5000",
];

const PASSWORD: &str = "correct horse";

/// What to build a [`House`] with.
#[derive(Default)]
pub struct Setup {
    /// The server's configuration beyond the scripted provider.
    pub config: Option<Value>,
}

/// A whole installation.
pub struct House {
    /// The scripted model.
    pub model: ScriptedModel,
    /// The real server.
    pub server: OpenCode,
    /// The command, connected to the server.
    pub command: Openchamber,
    /// The session that the tests talk about.
    pub session: String,
}

impl House {
    /// Starts the server in front of `model` and makes one session.
    ///
    /// # Errors
    /// Whatever kept a part from starting, with what to do.
    pub async fn build(model: ScriptedModel, setup: Setup) -> Result<Self, Error> {
        let options = OpenCodeOptions {
            password: Some(PASSWORD.to_owned()),
            config: setup.config.unwrap_or_else(|| json!({})),
            ..OpenCodeOptions::new(model.url())
        };
        let server = OpenCode::start(options).await?;
        let command = Openchamber::new(server.scratch().env())?
            .env("OPENCODE_SERVER_URL", &server.url())
            .env("OPENCODE_SERVER_PASSWORD", PASSWORD)
            .env(
                "OPENCHAMBER_DATA_DIR",
                &server.scratch().data_dir().to_string_lossy(),
            );
        let session = server
            .create_session(&server.project(), "the goal's session")
            .await?;
        Ok(Self {
            model,
            server,
            command,
            session,
        })
    }

    /// Runs the loop until the test ends it, and waits until it is ready.
    ///
    /// # Errors
    /// If it does not become ready.
    pub async fn serve(&self) -> Result<Serve, Error> {
        self.serve_at(&self.server.url()).await
    }

    /// Runs the loop against another address of the same server.
    ///
    /// # Errors
    /// If it does not become ready.
    pub async fn serve_at(&self, url: &str) -> Result<Serve, Error> {
        let mut serve = self
            .command
            .clone()
            .env("OPENCODE_SERVER_URL", url)
            .serve(&LIMITS)?;
        serve
            .next_event(|event| event["event"] == "ready", PATIENCE)
            .await?;
        Ok(serve)
    }

    /// Runs one verb on the test's session: `goal <verb> <session> <more…>`.
    ///
    /// # Errors
    /// If it does not end in time or prints no JSON.
    pub async fn goal(&self, verb: &str, more: &[&str]) -> Result<Output, Error> {
        let arguments = [&["goal", verb, self.session.as_str()], more].concat();
        self.command.run(&arguments, "", PATIENCE).await
    }

    /// Starts a goal with its prompt.
    ///
    /// # Errors
    /// If the command does not end in time or refuses.
    pub async fn start(&self, objective: &str) -> Result<Output, Error> {
        self.goal("start", &["--objective", objective, "--send"])
            .await
    }

    /// The stored goal as any client of the server sees it.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn stored(&self) -> Result<Value, Error> {
        let path = format!("/session/{}", self.session);
        let session = self.server.call(reqwest::Method::GET, &path, None).await?;
        Ok(session["metadata"]["openchamber"]["goal"].clone())
    }

    /// The texts of the prompts in the session, oldest first, synthetic parts left out.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn prompts(&self) -> Result<Vec<String>, Error> {
        let messages = self.server.messages(&self.session).await?;
        Ok(messages
            .iter()
            .filter(|message| message["info"]["role"] == "user")
            .filter_map(|message| message["parts"].as_array())
            .map(|parts| {
                let seen = parts.iter().filter(|part| part["synthetic"] != json!(true));
                seen.filter_map(|part| part["text"].as_str())
                    .collect::<Vec<_>>()
                    .join("\n")
            })
            .collect())
    }

    /// Sessions that look like an audit and still exist.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn audits_left(&self) -> Result<usize, Error> {
        let path = format!("/session/{}/children", self.session);
        let children = self.server.call(reqwest::Method::GET, &path, None).await?;
        let mark = "/metadata/openchamber/goalAudit";
        let children = children.as_array().cloned().unwrap_or_default();
        Ok(children
            .iter()
            .filter(|child| child.pointer(mark).is_some())
            .count())
    }
}
