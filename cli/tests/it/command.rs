//! Runs the command.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

/// Long enough for a loaded machine; a test that ends by it has failed.
pub(crate) const DEADLINE: Duration = Duration::from_secs(50);

/// The command with a home of its own.
pub(crate) struct Command {
    home: Arc<TempDir>,
    env: Vec<(String, String)>,
}

/// What a finished command left.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A running command.
pub(crate) struct Running {
    child: Child,
    lines: Option<Lines<BufReader<ChildStdout>>>,
    /// Its folder lasts as long as it runs.
    _home: Arc<TempDir>,
}

impl Command {
    pub(crate) fn new() -> Self {
        Self {
            home: Arc::new(TempDir::new().unwrap()),
            env: Vec::new(),
        }
    }

    /// With a server to ask.
    pub(crate) fn at(url: &str) -> Self {
        Self::new().env("OPENCODE_SERVER_URL", url)
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    /// The text of all its log files.
    #[cfg(unix)]
    pub(crate) fn logged(&self) -> String {
        let Ok(files) = std::fs::read_dir(self.home().join("data/logs")) else {
            return String::new();
        };
        let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        texts.collect()
    }

    /// Puts a shell script into the home that can be run.
    #[cfg(unix)]
    pub(crate) fn put_program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.home().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    }

    /// Runs `openchamber goal <line>`; words are separated by blanks.
    pub(crate) async fn goal(&self, line: &str) -> Done {
        let words: Vec<&str> = std::iter::once("goal").chain(line.split(' ')).collect();
        self.run(&words, "").await
    }

    pub(crate) async fn run(&self, arguments: &[&str], input: &str) -> Done {
        let mut child = self.spawn(arguments);
        let mut stdin = child.stdin.take().unwrap();
        // A command that does not read its input closes it.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let output = tokio::time::timeout(DEADLINE, child.wait_with_output())
            .await
            .unwrap()
            .unwrap();
        Done {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `openchamber <line>`.
    pub(crate) async fn line(&self, line: &str) -> Done {
        let words: Vec<&str> = line.split(' ').collect();
        self.run(&words, "").await
    }

    /// Starts `openchamber goal <line>`.
    pub(crate) fn start(&self, line: &str) -> Running {
        self.start_line(&format!("goal {line}"))
    }

    /// Starts `openchamber <line>`.
    pub(crate) fn start_line(&self, line: &str) -> Running {
        let words: Vec<&str> = line.split(' ').collect();
        let mut child = self.spawn(&words);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running {
            child,
            lines: Some(lines),
            _home: Arc::clone(&self.home),
        }
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        tokio::process::Command::new(env!("CARGO_BIN_EXE_openchamber"))
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("OPENCHAMBER_DATA_DIR", self.home.path().join("data"))
            .env("TZ", "UTC")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }
}

impl Done {
    /// Standard output as the one JSON object it has to be.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The code of the error on standard output.
    pub(crate) fn error(&self) -> String {
        let json = self.json();
        assert_eq!(json["status"], "error", "{json}");
        assert!(json["error"]["message"].is_string(), "{json}");
        json["error"]["code"].as_str().unwrap().to_owned()
    }
}

impl Running {
    /// The next line of standard output for which `is_it` holds.
    pub(crate) async fn line(&mut self, is_it: impl Fn(&str) -> bool) -> String {
        let lines = self.lines.as_mut().unwrap();
        let mut seen = Vec::new();
        let found = tokio::time::timeout(DEADLINE, async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if is_it(&line) {
                    return Some(line);
                }
                seen.push(line);
            }
            None
        })
        .await;
        found.ok().flatten().ok_or(seen).unwrap()
    }

    /// The next event with this name.
    pub(crate) async fn event(&mut self, name: &str) -> Value {
        let of_event = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
        let line = self.line(|line| of_event(line)["event"] == name).await;
        of_event(&line)
    }

    /// Reads standard error up to its first line's end.
    pub(crate) async fn remark(&mut self) -> String {
        let stderr = self.child.stderr.as_mut().unwrap();
        let mut line = String::new();
        let read = BufReader::new(stderr);
        tokio::time::timeout(DEADLINE, read.take(4_096).read_line(&mut line))
            .await
            .unwrap()
            .unwrap();
        line
    }

    /// Closes the reading end of its standard output.
    #[cfg(unix)]
    pub(crate) fn close_output(&mut self) {
        self.lines = None;
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
    }

    /// Waits for its end, and gives exit code and the rest of its output.
    pub(crate) async fn end(mut self) -> (i32, String) {
        let mut rest = String::new();
        let ended = async {
            if let Some(lines) = self.lines.take() {
                lines.into_inner().read_to_string(&mut rest).await.unwrap();
            }
            self.child.wait().await.unwrap()
        };
        let status = tokio::time::timeout(DEADLINE, ended).await.unwrap();
        (status.code().unwrap(), rest)
    }
}
