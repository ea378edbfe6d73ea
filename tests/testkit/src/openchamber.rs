//! The `openchamber` command as a user runs it.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::watched::Watched;
use crate::{Error, process};

/// Lines kept of a running `serve`; a test that makes more has lost its way.
const LINES_MAX: usize = 50_000;

/// Characters of standard error kept, from its start: the first message names the cause.
const ERRORS_CHARS_MAX: usize = 64 * 1024;

/// The `openchamber` binary of the build this test belongs to: `CARGO_BIN_EXE_openchamber` where
/// cargo sets it, else the one beside the folder of the running test.
///
/// # Errors
/// [`Error::OpenchamberMissing`], which says how to build it.
pub fn openchamber_binary() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os("CARGO_BIN_EXE_openchamber") {
        return Ok(PathBuf::from(path));
    }
    let running = std::env::current_exe().map_err(Error::io("find the running test"))?;
    // Tests run from `target/<profile>/deps`, commands from `target/<profile>`.
    let name = format!("openchamber{}", std::env::consts::EXE_SUFFIX);
    let places = running
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(&name));
    let places: Vec<PathBuf> = places.collect();
    let built = places.iter().find(|path| path.is_file()).cloned();
    built.ok_or_else(|| Error::OpenchamberMissing {
        path: places.into_iter().next_back().unwrap_or_default(),
    })
}

/// The command with the environment it runs in.
#[derive(Clone)]
pub struct Openchamber {
    binary: PathBuf,
    env: Vec<(String, String)>,
}

/// What a finished command left.
#[derive(Debug)]
pub struct Output {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output, one JSON value a line.
    pub lines: Vec<Value>,
    /// Standard error as it is.
    pub errors: String,
}

/// A running `openchamber … --json`, mostly `goal serve`. Dropping it ends it with its process
/// group.
#[derive(Debug)]
pub struct Serve {
    child: Child,
    pid: u32,
    heard: Arc<Watched<Heard>>,
    /// Events up to here were given out by [`Serve::next_event`].
    given: usize,
}

/// What came out of a running command so far.
#[derive(Debug, Default)]
struct Heard {
    lines: Vec<Result<Value, String>>,
    errors: String,
    /// Standard output is closed.
    ended: bool,
}

impl Openchamber {
    /// The built binary with these variables (usually [`crate::Scratch::env`]); of the test's own
    /// environment it sees the few that every process needs.
    ///
    /// # Errors
    /// [`Error::OpenchamberMissing`].
    pub fn new(env: &[(String, String)]) -> Result<Self, Error> {
        Ok(Self {
            binary: openchamber_binary()?,
            env: env.to_vec(),
        })
    }

    /// Another binary with these variables.
    #[must_use]
    pub fn with_binary(binary: PathBuf, env: &[(String, String)]) -> Self {
        Self {
            binary,
            env: env.to_vec(),
        }
    }

    /// One more variable; it wins over those before.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs `openchamber <arguments> --json` to its end, with `input` as its standard input.
    ///
    /// # Errors
    /// [`Error::Deadline`] (the command is ended then), [`Error::NotJson`] for a line on standard
    /// output that is not JSON.
    pub async fn run(
        &self,
        arguments: &[&str],
        input: &str,
        deadline: Duration,
    ) -> Result<Output, Error> {
        let what = format!("openchamber {}", arguments.join(" "));
        let mut child = self.spawn(&[arguments, &["--json"]].concat(), Stdio::piped())?;
        let mut stdin = child.stdin.take();
        let finished = async {
            if let Some(stdin) = &mut stdin {
                // A command that does not read its input closes the pipe: no error of the test.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
            drop(stdin);
            child.wait_with_output().await
        };
        let output = match tokio::time::timeout(deadline, finished).await {
            Ok(output) => output.map_err(Error::io(what))?,
            Err(_) => {
                return Err(Error::Deadline {
                    what,
                    after: deadline,
                    seen: String::new(),
                });
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().map(|line| parse(line).map_err(Error::NotJson));
        Ok(Output {
            code: output.status.code(),
            lines: lines.collect::<Result<_, _>>()?,
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Starts `openchamber goal serve <arguments> --json`. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Io`] if it does not start.
    pub fn serve(&self, arguments: &[&str]) -> Result<Serve, Error> {
        self.start(&[&["goal", "serve"], arguments].concat())
    }

    /// Starts `openchamber <arguments> --json`, a verb that is to be stopped before its end. Needs
    /// a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Io`] if it does not start.
    pub fn start(&self, arguments: &[&str]) -> Result<Serve, Error> {
        let arguments = [arguments, &["--json"]].concat();
        let mut child = self.spawn(&arguments, Stdio::null())?;
        let heard = Arc::new(Watched::new(Heard::default()));
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(hear_lines(BufReader::new(stdout), Arc::clone(&heard)));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(hear_errors(BufReader::new(stderr), Arc::clone(&heard)));
        }
        let pid = child.id().unwrap_or_default();
        Ok(Serve {
            child,
            pid,
            heard,
            given: 0,
        })
    }

    fn spawn(&self, arguments: &[&str], stdin: Stdio) -> Result<Child, Error> {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .env_clear()
            .envs(process::environment(&self.env))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
            .spawn()
            .map_err(Error::io(format!("start {}", self.binary.display())))
    }
}

impl Serve {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the next event for which `is_it` holds and gives it out; it and those before it
    /// are not given out again.
    ///
    /// # Errors
    /// [`Error::Deadline`] or, if the command ended first, [`Error::Ended`], both with the events
    /// seen; [`Error::NotJson`] if such a line comes first.
    pub async fn next_event(
        &mut self,
        is_it: impl Fn(&Value) -> bool,
        deadline: Duration,
    ) -> Result<Value, Error> {
        let begin = self.given;
        let mut at = begin;
        let look = |heard: &mut Heard| {
            while let Some(line) = heard.lines.get(at) {
                at += 1;
                match line {
                    Ok(event) if is_it(event) => return Some(Ok(event.clone())),
                    Ok(_) => {}
                    Err(line) => return Some(Err(Error::NotJson(line.clone()))),
                }
            }
            let what = || "an event of openchamber goal serve".to_owned();
            heard.ended.then(|| {
                Err(Error::Ended {
                    what: what(),
                    log: heard.shown(begin),
                })
            })
        };
        let found = self.heard.within(deadline, look).await;
        let Some(found) = found else {
            let what = "an event of openchamber goal serve".to_owned();
            let seen = self.heard.read(|heard| heard.shown(begin));
            return Err(Error::Deadline {
                what,
                after: deadline,
                seen,
            });
        };
        self.given = at;
        found
    }

    /// All events so far, given out or not.
    #[must_use]
    pub fn events(&self) -> Vec<Value> {
        self.heard
            .read(|heard| heard.lines.iter().flatten().cloned().collect())
    }

    /// Standard error so far.
    #[must_use]
    pub fn errors(&self) -> String {
        self.heard.read(|heard| heard.errors.clone())
    }

    /// Asks it to end (SIGTERM).
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Asks it to end as Ctrl-C does (SIGINT).
    pub fn interrupt(&self) {
        self.signal(Signal::SIGINT);
    }

    /// Ends this process alone, at once (SIGKILL), as a crash does: what it started is left.
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// [`Error::Deadline`] if it still runs then.
    pub async fn wait(&mut self, deadline: Duration) -> Result<ExitStatus, Error> {
        match tokio::time::timeout(deadline, self.child.wait()).await {
            Ok(status) => status.map_err(Error::io("wait for openchamber")),
            Err(_) => Err(Error::Deadline {
                what: "the end of openchamber goal serve".to_owned(),
                after: deadline,
                seen: self.heard.read(|heard| heard.shown(self.given)),
            }),
        }
    }

    /// No signal after it was reaped: its number may be another process by then.
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.child.id() {
            process::signal(pid, signal);
        }
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        if let Some(pid) = self.child.id() {
            process::kill_group(pid);
        }
    }
}

impl Heard {
    /// The lines from `begin` on and standard error, for a failing test.
    fn shown(&self, begin: usize) -> String {
        let lines = self.lines.iter().skip(begin).map(|line| match line {
            Ok(event) => event.to_string(),
            Err(line) => line.clone(),
        });
        let lines = lines.chain(std::iter::once(self.errors.clone()));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl std::fmt::Debug for Openchamber {
    /// Without the values of the variables: a password may be among them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Openchamber")
            .field("binary", &self.binary)
            .finish_non_exhaustive()
    }
}

async fn hear_lines(stdout: impl AsyncBufRead + Unpin, heard: Arc<Watched<Heard>>) {
    let mut lines = stdout.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        heard.change(|heard| {
            if heard.lines.len() < LINES_MAX {
                heard.lines.push(parse(&line));
            }
        });
    }
    heard.change(|heard| heard.ended = true);
}

/// Reads on when enough is kept: a full pipe would stop the command.
async fn hear_errors(stderr: impl AsyncBufRead + Unpin, heard: Arc<Watched<Heard>>) {
    let mut lines = stderr.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        heard.change(|heard| {
            if heard.errors.len() < ERRORS_CHARS_MAX {
                heard.errors.extend([line.as_str(), "\n"]);
            }
        });
    }
}

fn parse(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|_| line.to_owned())
}
