//! A home, a configuration and a project that live as long as a test.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Error, process};

/// Of every `git` in the home, ours and the server's. Its automatic maintenance would go on in the
/// background after the command that started it.
const GIT_CONFIG: &str = "[user]
\tname = Test
\temail = test@localhost
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

/// A scratch home for an OpenCode server and what starts it. Dropping it ends every process that
/// still runs with this `HOME`, and removes the folder.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    env: Vec<(String, String)>,
}

impl Scratch {
    /// A home whose OpenCode knows the provider `fake` at `model_url` with the models `big` (the
    /// default) and `small` (the small model), and a Git project with one commit.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be written or `git` does not run.
    pub fn new(model_url: &str) -> Result<Self, Error> {
        Self::with_config(model_url, &json!({}))
    }

    /// As [`Scratch::new`], with `extra` merged over OpenCode's configuration, object by object.
    ///
    /// # Errors
    /// As [`Scratch::new`].
    pub fn with_config(model_url: &str, extra: &Value) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("goal-").tempdir();
        let folder = folder.map_err(Error::io("make a scratch folder"))?;
        let env = environment(folder.path());
        let scratch = Self { folder, env };
        for path in [
            "config/opencode",
            "data",
            "state",
            "cache",
            "tmp",
            "project",
            "goal-data",
        ] {
            make_folder(&scratch.home().join(path))?;
        }
        let mut config = configuration(model_url);
        merge(&mut config, extra);
        let file = scratch.home().join("config/opencode/opencode.json");
        write(&file, &format!("{config:#}\n"))?;
        write(&scratch.home().join(".gitconfig"), GIT_CONFIG)?;
        scratch.init_project()?;
        Ok(scratch)
    }

    /// `HOME` of the processes under test.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    /// The project folder: a Git repository with one commit.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// An empty folder for the engine's own data (`--data-dir`).
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.home().join("goal-data")
    }

    /// The variables that lead a process into this home; `OPENCODE_BINARY` is among them where
    /// the binary is installed. Give them to the child only, never to the test's own process.
    #[must_use]
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// The processes that run with this home, by id, ascending. Empty where there is no `/proc`.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        process::of_home(self.home())
    }

    /// Ends all of them at once.
    pub fn end_processes(&self) {
        for pid in self.processes() {
            process::signal(pid, nix::sys::signal::Signal::SIGKILL);
        }
    }

    fn init_project(&self) -> Result<(), Error> {
        let project = self.project();
        write(&project.join("README.md"), "# A project under test\n")?;
        let commands = [
            vec!["init", "--quiet"],
            vec!["add", "."],
            vec!["commit", "--quiet", "--message", "Begin"],
        ];
        for command in commands {
            process::run_quietly(&project, "git", &command, &self.env)
                .map_err(Error::io("make a Git project"))?;
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.end_processes();
    }
}

fn environment(home: &Path) -> Vec<(String, String)> {
    let place = |folder: &str| home.join(folder).to_string_lossy().into_owned();
    let mut env = vec![
        ("HOME".to_owned(), home.to_string_lossy().into_owned()),
        ("XDG_CONFIG_HOME".to_owned(), place("config")),
        ("XDG_DATA_HOME".to_owned(), place("data")),
        ("XDG_STATE_HOME".to_owned(), place("state")),
        ("XDG_CACHE_HOME".to_owned(), place("cache")),
        ("TMPDIR".to_owned(), place("tmp")),
    ];
    // Nothing is fetched: a test must not depend on what the network gives.
    let switches = [
        "AUTOUPDATE",
        "MODELS_FETCH",
        "LSP_DOWNLOAD",
        "DEFAULT_PLUGINS",
        "SHARE",
    ];
    env.extend(switches.map(|name| (format!("OPENCODE_DISABLE_{name}"), "1".to_owned())));
    // A server with a plugin installs what plugins are written with, in each home anew, and tries
    // for a quarter of a minute where there is no network.
    env.push(("NPM_CONFIG_OFFLINE".to_owned(), "true".to_owned()));
    if let Ok(binary) = crate::opencode_binary() {
        env.push((
            "OPENCODE_BINARY".to_owned(),
            binary.to_string_lossy().into_owned(),
        ));
    }
    env
}

fn configuration(model_url: &str) -> Value {
    let model = |name: &str| {
        json!({
            "name": name,
            "limit": { "context": 200_000, "output": 8_192 },
            "cost": { "input": 1, "output": 2, "cache_read": 0.1, "cache_write": 1 },
        })
    };
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "fake/big",
        "small_model": "fake/small",
        "provider": { "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": { "baseURL": model_url, "apiKey": "fake-key" },
            "models": { "big": model("big"), "small": model("small") },
        } },
    })
}

/// Objects are merged key by key; any other value replaces what was there.
fn merge(base: &mut Value, extra: &Value) {
    match (base.as_object_mut(), extra.as_object()) {
        (Some(base), Some(extra)) => {
            for (key, value) in extra {
                merge(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Some(_) | None, Some(_) | None) => *base = extra.clone(),
    }
}

fn make_folder(path: &Path) -> Result<(), Error> {
    let what = format!("make folder {}", path.display());
    std::fs::create_dir_all(path).map_err(Error::io(what))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(Error::io(format!("write {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_objects_and_replaces_the_rest() {
        let mut base = json!({ "a": { "b": 1, "c": [1] }, "d": 2 });
        merge(
            &mut base,
            &json!({ "a": { "c": [2], "e": {} }, "d": { "f": null } }),
        );
        assert_eq!(
            base,
            json!({ "a": { "b": 1, "c": [2], "e": {} }, "d": { "f": null } })
        );
    }

    #[test]
    fn dropping_ends_what_runs_in_the_home() {
        let scratch = Scratch::new("http://127.0.0.1:9/v1").unwrap();
        let home = scratch.home().to_owned();
        let env = process::environment(scratch.env());
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .env_clear()
            .envs(env)
            .spawn()
            .unwrap();
        assert_eq!(scratch.processes(), [child.id()]);
        assert!(scratch.project().join(".git").is_dir());
        drop(scratch);
        assert!(!child.wait().unwrap().success());
        assert!(!home.exists());
    }
}
