//! What both stages have: the project the agent works in, and the scripted model as a provider.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::Scratch;
use tokio::process::Command;

use crate::play;
use crate::trouble::Trouble;

/// What a started program takes over from the person's own environment. All else is left out, so
/// that nobody's settings or keys reach the play.
const INHERITED: [&str; 8] = [
    "PATH", "LANG", "SHELL", "USER", "TERM", "COLUMNS", "TZ", "NO_COLOR",
];

/// How long git or the tests may take.
pub(crate) const TOOL_MAX: Duration = Duration::from_secs(30);

/// How long processes that were ended may take to be gone.
const GONE_MAX: Duration = Duration::from_secs(5);

/// Between two looks whether they are gone.
const GONE_PAUSE: Duration = Duration::from_millis(50);

/// The project's folder, and the variables of programs that run in it.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    folder: PathBuf,
    env: Vec<(String, String)>,
}

/// A program that has ended.
pub(crate) struct Ran {
    /// Whether its exit code was 0.
    pub(crate) success: bool,
    /// What it printed on standard output.
    pub(crate) output: String,
}

impl Project {
    /// The project of a scratch home, before the agent begins: the one commit of a Git repository.
    ///
    /// # Errors
    /// What could not be written, or that Git does not do its part.
    pub(crate) async fn lay_out(scratch: &Scratch) -> Result<Self, Trouble> {
        let mut env = inherited();
        env.extend(scratch.env().iter().cloned());
        let project = Self {
            folder: scratch.project(),
            env,
        };
        let failed = |error| Trouble::failed(format!("could not lay out the project: {error}"));
        // The scratch home's own README.md: the agent shall write one.
        std::fs::remove_file(project.folder.join("README.md")).map_err(failed)?;
        for (path, text) in play::PROJECT {
            let path = project.folder.join(path);
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
            if !project.run("git", arguments).await?.success {
                return Err(failed(std::io::Error::other("git failed")));
            }
        }
        Ok(project)
    }

    /// Where it lies.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a program in it to its end.
    ///
    /// # Errors
    /// If it cannot be started or takes too long.
    pub(crate) async fn run(&self, program: &str, arguments: &[&str]) -> Result<Ran, Trouble> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.folder)
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
}

/// The few variables that started programs take over.
pub(crate) fn inherited() -> Vec<(String, String)> {
    let values = INHERITED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    values.collect()
}

/// The scripted model under names that say what it is.
pub(crate) fn provider(url: &str) -> Value {
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

/// Waits until nothing runs any more in a home whose processes were ended.
///
/// # Errors
/// If something does.
pub(crate) async fn is_quiet(scratch: &Scratch) -> Result<(), Trouble> {
    let gone = async {
        while !scratch.processes().is_empty() {
            tokio::time::sleep(GONE_PAUSE).await;
        }
    };
    match tokio::time::timeout(GONE_MAX, gone).await {
        Ok(()) => Ok(()),
        Err(_) => Err(Trouble::failed(format!(
            "these processes of the play still run: {:?}",
            scratch.processes()
        ))),
    }
}

/// Whether the folder of a home that was dropped is gone.
///
/// # Errors
/// If it is not.
pub(crate) fn is_removed(home: &Path) -> Result<(), Trouble> {
    if home.exists() {
        return Err(Trouble::failed(format!(
            "the scratch folder {} could not be removed",
            home.display()
        )));
    }
    Ok(())
}
