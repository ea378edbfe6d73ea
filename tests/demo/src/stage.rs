//! The stage of the terminal: scripted model, real server and project in one scratch home.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use testkit::model::ScriptedModel;
use testkit::openchamber::Output;
use testkit::{OpenCode, OpenCodeOptions, Openchamber, openchamber_binary};
use tokio::process::Command;

use crate::conduct::Scene;
use crate::play;
use crate::project::{self, Project, TOOL_MAX};
use crate::trouble::Trouble;

/// How long `watch` waits for the end of the goal, in seconds: about three times what it takes.
const WATCH_SECONDS: u32 = 110;

/// Everything but `serve`. Dropping it ends the server with all it started, and removes the files.
pub(crate) struct Stage {
    server: OpenCode,
    /// The agent and the auditor.
    pub(crate) model: ScriptedModel,
    /// What the agent works on.
    pub(crate) project: Project,
    /// The session in which the goal is pursued.
    pub(crate) session: String,
    binary: PathBuf,
    env: Vec<(String, String)>,
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
            config: project::provider(&model.url()),
            ..OpenCodeOptions::new(model.url())
        };
        let server = OpenCode::start(options).await?;
        let data_dir = server.scratch().data_dir();
        let mut env = project::inherited();
        env.extend(server.scratch().env().iter().cloned());
        env.extend([
            ("OPENCODE_SERVER_URL".to_owned(), server.url()),
            ("OPENCODE_SERVER_PASSWORD".to_owned(), password),
            (
                "OPENCHAMBER_DATA_DIR".to_owned(),
                data_dir.to_string_lossy().into_owned(),
            ),
        ]);
        let project = Project::lay_out(server.scratch()).await?;
        let session = server.create_session(project.folder(), play::TITLE).await?;
        Ok(Self {
            server,
            model,
            project,
            session,
            binary: openchamber_binary()?,
            env,
        })
    }

    /// The server's address.
    pub(crate) fn url(&self) -> String {
        self.server.url()
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

    /// Ends the server and everything that still runs in the scratch home, and removes the home.
    ///
    /// # Errors
    /// If something is left of it.
    pub(crate) async fn clear(mut self) -> Result<(), Trouble> {
        let home = self.server.scratch().home().to_owned();
        self.server.kill();
        project::is_quiet(self.server.scratch()).await?;
        drop(self);
        project::is_removed(&home)
    }
}

impl Scene for Stage {
    fn model(&self) -> &ScriptedModel {
        &self.model
    }

    async fn messages(&self) -> Result<Vec<Value>, Trouble> {
        let messages = self.server.messages(&self.session).await;
        messages.map_err(|error| {
            Trouble::failed(format!("the OpenCode server gives no messages: {error}"))
        })
    }

    /// The terminal shows everything as it comes.
    async fn show(&self, _act: usize, _answer: usize) -> Result<(), Trouble> {
        Ok(())
    }
}

/// Whoever reaches the server may run commands as this user, so nobody shall guess it.
fn random_password() -> Result<String, Trouble> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Trouble::failed(format!("the system gives no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
