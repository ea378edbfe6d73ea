//! The stage: scripted model, real server and project in one scratch home.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model::ScriptedModel;
use testkit::openchamber::Output;
use testkit::{OpenCode, OpenCodeOptions, Openchamber, openchamber_binary};
use tokio::process::Command;

use crate::play;
use crate::trouble::Trouble;

/// What a started program takes over from the person's own environment. All else is left out, so
/// that nobody's settings or keys reach the play.
const INHERITED: [&str; 8] = [
    "PATH", "LANG", "SHELL", "USER", "TERM", "COLUMNS", "TZ", "NO_COLOR",
];

/// How long git or the tests may take.
const TOOL_MAX: Duration = Duration::from_secs(30);

/// How long `watch` waits for the end of the goal, in seconds: about three times what it takes.
const WATCH_SECONDS: u32 = 110;

/// How long processes that were ended may take to be gone.
const GONE_MAX: Duration = Duration::from_secs(5);

/// Between two looks whether they are gone.
const GONE_PAUSE: Duration = Duration::from_millis(50);

/// Everything but `serve`. Dropping it ends the server with all it started, and removes the files.
pub(crate) struct Stage {
    server: OpenCode,
    /// The agent and the auditor.
    pub(crate) model: ScriptedModel,
    /// The session in which the goal is pursued.
    pub(crate) session: String,
    binary: PathBuf,
    env: Vec<(String, String)>,
}

/// A program that has ended.
pub(crate) struct Ran {
    /// Whether its exit code was 0.
    pub(crate) success: bool,
    /// What it printed on standard output.
    pub(crate) output: String,
}

impl Stage {
    /// Starts the server in front of the scripted model, lays out the project, makes the session.
    ///
    /// # Errors
    /// What could not be started, and why.
    pub(crate) async fn set() -> Result<Self, Trouble> {
        let model = ScriptedModel::start()?;
        let password = random_password()?;
        let options = OpenCodeOptions {
            password: Some(password.clone()),
            config: provider(&model.url()),
            ..OpenCodeOptions::new(model.url())
        };
        let server = OpenCode::start(options).await?;
        let data_dir = server.scratch().data_dir();
        let mut env = inherited();
        env.extend(server.scratch().env().iter().cloned());
        env.extend([
            ("OPENCODE_SERVER_URL".to_owned(), server.url()),
            ("OPENCODE_SERVER_PASSWORD".to_owned(), password),
            (
                "OPENCHAMBER_DATA_DIR".to_owned(),
                data_dir.to_string_lossy().into_owned(),
            ),
        ]);
        let mut stage = Self {
            server,
            model,
            session: String::new(),
            binary: openchamber_binary()?,
            env,
        };
        stage.lay_out_project().await?;
        let project = stage.project();
        stage.session = stage.server.create_session(&project, play::TITLE).await?;
        Ok(stage)
    }

    /// The folder the agent works in.
    pub(crate) fn project(&self) -> PathBuf {
        self.server.project()
    }

    /// The server's address.
    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// The session's messages on the server.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(crate) async fn messages(&self) -> Result<Vec<Value>, Trouble> {
        let messages = self.server.messages(&self.session).await;
        messages.map_err(|error| {
            Trouble::failed(format!("the OpenCode server gives no messages: {error}"))
        })
    }

    /// `openchamber <arguments>`, connected to the server, with its output on the terminal.
    pub(crate) fn openchamber(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs `openchamber <arguments>` with its output on the terminal, to its end.
    ///
    /// # Errors
    /// If it cannot be started, or ends with anything but exit code 0.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<(), Trouble> {
        let verb: Vec<&str> = arguments.iter().take(2).copied().collect();
        let how = match self.openchamber(arguments).status().await {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let verb = verb.join(" ");
        Err(Trouble::failed(format!(
            "`openchamber {verb}` failed: {how}"
        )))
    }

    /// `openchamber goal watch <session>`, until the goal ends.
    ///
    /// # Errors
    /// If it cannot be started, or does not end although its time is up.
    pub(crate) async fn watch(&self) -> Result<Output, Trouble> {
        let seconds = WATCH_SECONDS.to_string();
        let arguments = ["goal", "watch", &self.session, "--timeout", &seconds];
        let patience = Duration::from_secs(WATCH_SECONDS.into()) + TOOL_MAX;
        let command = Openchamber::with_binary(self.binary.clone(), &self.env);
        Ok(command.run(&arguments, "", patience).await?)
    }

    /// Runs a program in the project's folder to its end.
    ///
    /// # Errors
    /// If it cannot be started or takes too long.
    pub(crate) async fn in_project(
        &self,
        program: &str,
        arguments: &[&str],
    ) -> Result<Ran, Trouble> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        match tokio::time::timeout(TOOL_MAX, command.output()).await {
            Ok(Ok(output)) => Ok(Ran {
                success: output.status.success(),
                output: String::from_utf8_lossy(&output.stdout).into_owned(),
            }),
            Ok(Err(error)) => Err(Trouble::failed(format!(
                "`{program}` is needed, but cannot be started: {error}"
            ))),
            Err(_) => Err(Trouble::failed(format!(
                "`{program}` took more than {} seconds",
                TOOL_MAX.as_secs()
            ))),
        }
    }

    /// Ends the server and everything that still runs in the scratch home, and removes the home.
    ///
    /// # Errors
    /// If something is left of it.
    pub(crate) async fn clear(mut self) -> Result<(), Trouble> {
        let home = self.server.scratch().home().to_owned();
        self.server.kill();
        let gone = async {
            while !self.server.scratch().processes().is_empty() {
                tokio::time::sleep(GONE_PAUSE).await;
            }
        };
        if tokio::time::timeout(GONE_MAX, gone).await.is_err() {
            let left = self.server.scratch().processes();
            return Err(Trouble::failed(format!(
                "these processes of the play still run: {left:?}"
            )));
        }
        drop(self);
        if home.exists() {
            return Err(Trouble::failed(format!(
                "the scratch folder {} could not be removed",
                home.display()
            )));
        }
        Ok(())
    }

    /// The project before the agent begins, as the one commit of a Git repository.
    async fn lay_out_project(&self) -> Result<(), Trouble> {
        let project = self.project();
        let failed = |error| Trouble::failed(format!("could not lay out the project: {error}"));
        // The scratch home's own README.md: the agent shall write one.
        std::fs::remove_file(project.join("README.md")).map_err(failed)?;
        for (path, text) in play::PROJECT {
            let path = project.join(path);
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            folder
                .and_then(|()| std::fs::write(&path, text))
                .map_err(failed)?;
        }
        let identity = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost"];
        let commit = [
            "commit",
            "--quiet",
            "--amend",
            "--message",
            "A CSV exporter",
        ];
        for arguments in [
            &["add", "--all"][..],
            &[&identity[..], &commit[..]].concat(),
        ] {
            if !self.in_project("git", arguments).await?.success {
                return Err(failed(std::io::Error::other("git failed")));
            }
        }
        Ok(())
    }
}

fn inherited() -> Vec<(String, String)> {
    let values = INHERITED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    values.collect()
}

/// Whoever reaches the server may run commands as this user, so nobody shall guess it.
fn random_password() -> Result<String, Trouble> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Trouble::failed(format!("the system gives no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The scripted model under names that say what it is.
fn provider(url: &str) -> Value {
    let model = |name: &str| {
        json!({
            "name": name,
            "limit": { "context": 200_000, "output": 8_192 },
            "cost": { "input": 0, "output": 0 },
        })
    };
    json!({
        "model": "scripted/agent",
        "small_model": "scripted/auditor",
        "provider": { "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": { "baseURL": url, "apiKey": "none" },
            "models": { "agent": model("Agent"), "auditor": model("Auditor") },
        } },
    })
}
