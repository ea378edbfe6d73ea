//! The scripted model, the real server and the command, in one scratch home.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::model::ScriptedModel;
use testkit::openchamber::Output;
use testkit::{Error, OpenCode, OpenCodeOptions, Openchamber, Serve};

use crate::{Stream, Version};

/// How long anything on the real server may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Short limits that keep their relations and leave the real server its time: an abort's message
/// arrives up to 700 ms late.
const LIMITS: [(&str, &str); 7] = [
    ("--idle-quiet-ms", "1000"),
    ("--kickoff-quiet-ms", "500"),
    ("--resume-quiet-ms", "250"),
    ("--interrupted-grace-ms", "4000"),
    ("--continue-gap-ms", "0"),
    ("--audit-timeout-ms", "30000"),
    ("--recheck-max-ms", "5000"),
];

const PASSWORD: &str = "correct horse";

/// What to build a [`House`] with.
#[derive(Default)]
pub struct Setup {
    /// The server's configuration beyond the scripted provider.
    pub config: Option<Value>,
    /// More variables for the server.
    pub env: Vec<(String, String)>,
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
            env: setup.env,
            ..OpenCodeOptions::new(model.url())
        };
        let server = OpenCode::start(options).await?;
        // A home of its own: killing the server ends whatever runs in the server's.
        let home = server.scratch().home().join("user");
        let command = Openchamber::new(server.scratch().env())?
            .env("HOME", &home.to_string_lossy())
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
        self.serve_with(&[]).await
    }

    /// Runs the loop against another address of the same server, with other values for some
    /// limits.
    ///
    /// # Errors
    /// If it does not become ready.
    pub async fn serve_at(&self, url: &str, limits: &[(&str, &str)]) -> Result<Serve, Error> {
        let command = self.command.clone().env("OPENCODE_SERVER_URL", url);
        ready(&command, limits).await.map(|(serve, _)| serve)
    }

    /// Runs the loop with other values for some limits.
    ///
    /// # Errors
    /// If it does not become ready.
    pub async fn serve_with(&self, limits: &[(&str, &str)]) -> Result<Serve, Error> {
        ready(&self.command, limits).await.map(|(serve, _)| serve)
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

    /// Starts a goal with its prompt and makes sure that it was.
    ///
    /// # Errors
    /// As [`House::start`], and [`Error::Ended`] with what it printed if the command refuses.
    pub async fn begin(&self, objective: &str) -> Result<(), Error> {
        let started = self.start(objective).await?;
        if started.code == Some(0) {
            return Ok(());
        }
        Err(Error::Ended {
            what: format!("goal start, code {:?}", started.code),
            log: format!(
                "{:?}\n{}\n{}",
                started.lines,
                started.errors,
                self.server.log()
            ),
        })
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
        self.audit_sessions().await.map(|audits| audits.len())
    }

    /// The audit sessions that exist, as the server shows them.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn audit_sessions(&self) -> Result<Vec<Value>, Error> {
        let path = format!("/session/{}/children", self.session);
        let children = self.server.call(Method::GET, &path, None).await?;
        let mark = "/metadata/openchamber/goalAudit";
        let mut children = children.as_array().cloned().unwrap_or_default();
        children.retain(|child| child.pointer(mark).is_some());
        Ok(children)
    }

    /// The server's version, for what differs between versions.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn version(&self) -> Result<Version, Error> {
        Version::of(&self.server).await
    }

    /// The server's events from now on.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn stream(&self) -> Result<Stream, Error> {
        Stream::open(&self.server, PATIENCE).await
    }

    /// A call below the test's session: `POST /session/<session>/<path>`.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Error> {
        let path = format!("/session/{}/{path}", self.session);
        self.server.call(Method::POST, &path, Some(body)).await
    }

    /// The session's whole metadata.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn metadata(&self) -> Result<Value, Error> {
        let path = format!("/session/{}", self.session);
        let mut session = self.server.call(Method::GET, &path, None).await?;
        Ok(session["metadata"].take())
    }

    /// Writes the session's metadata as any client may, whole.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub async fn write_metadata(&self, metadata: &Value) -> Result<(), Error> {
        self.patch(&json!({ "metadata": metadata })).await
    }

    /// Changes the session as any client may.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub async fn patch(&self, body: &Value) -> Result<(), Error> {
        let path = format!("/session/{}", self.session);
        let patched = self.server.call(Method::PATCH, &path, Some(body)).await;
        patched.map(drop)
    }

    /// The ids of the sessions that are not idle.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn busy(&self) -> Result<Vec<String>, Error> {
        let statuses = self
            .server
            .call(Method::GET, "/session/status", None)
            .await?;
        let statuses = statuses.as_object().cloned().unwrap_or_default();
        Ok(statuses.into_iter().map(|(id, _)| id).collect())
    }
}

/// Runs the loop with this command, and gives it with its first event once it is ready.
///
/// # Errors
/// If it does not become ready.
pub async fn ready(
    command: &Openchamber,
    limits: &[(&str, &str)],
) -> Result<(Serve, Value), Error> {
    let mut arguments = Vec::new();
    for (flag, usual) in LIMITS {
        let other = limits.iter().find(|(name, _)| *name == flag);
        arguments.extend([flag, other.map_or(usual, |(_, value)| *value)]);
    }
    let more = limits
        .iter()
        .filter(|(name, _)| LIMITS.iter().all(|(flag, _)| flag != name));
    arguments.extend(more.flat_map(|(flag, value)| [*flag, *value]));
    let mut serve = command.serve(&arguments)?;
    let first = serve
        .next_event(|event| event["event"] == "ready", PATIENCE)
        .await?;
    Ok((serve, first))
}

/// Waits until the goal is paused or has ended.
///
/// # Errors
/// If that does not happen in time.
pub async fn settled(serve: &mut Serve) -> Result<Value, Error> {
    serve
        .next_event(|event| event["event"] == "settled", PATIENCE)
        .await
}

/// Waits until the goal rests in a phase for a reason.
///
/// # Errors
/// If that does not happen in time.
pub async fn in_phase(serve: &mut Serve, phase: &str, why: &str) -> Result<Value, Error> {
    let is_it =
        |event: &Value| event["event"] == "phase" && event["phase"] == phase && event["why"] == why;
    serve.next_event(is_it, PATIENCE).await
}

/// Waits until the goal was looked at once more and rests in the same phase as before.
///
/// # Errors
/// If that does not happen in time.
pub async fn looked_again(serve: &mut Serve, phase: &str, why: &str) -> Result<Value, Error> {
    in_phase(serve, "checking", "").await?;
    in_phase(serve, phase, why).await
}

/// The events of one kind so far.
#[must_use]
pub fn events_of(serve: &Serve, kind: &str) -> Vec<Value> {
    let mut events = serve.events();
    events.retain(|event| event["event"] == kind);
    events
}

/// Waits until at least `count` notices were told, and gives all that were.
///
/// # Errors
/// If they do not come in time.
pub async fn notices(serve: &mut Serve, count: usize) -> Result<Vec<Value>, Error> {
    while events_of(serve, "notice").len() < count {
        serve
            .next_event(|event| event["event"] == "notice", PATIENCE)
            .await?;
    }
    Ok(events_of(serve, "notice"))
}

/// Why the goal was continued, in order.
#[must_use]
pub fn continued(serve: &Serve) -> Vec<String> {
    events_of(serve, "decision")
        .iter()
        .filter(|event| event["decision"] == "continue")
        .filter_map(|event| event["why"].as_str().map(str::to_owned))
        .collect()
}
