//! A real OpenCode server in a scratch home, owned by the test.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::{Error, Scratch, process};

/// The server answers within a second or two; on a busy machine several times that.
const START_MAX: Duration = Duration::from_secs(60);

/// A request that arrives before the server's handler is ready is never answered, so a probe is
/// given up soon and made again on a new connection, each time with twice the patience.
const PROBE_MIN: Duration = Duration::from_millis(250);

/// The patience of a probe at most: a busy machine needs some.
const PROBE_MAX: Duration = Duration::from_secs(2);

/// Between two probes of a port that nobody listens on yet.
const PROBE_PAUSE: Duration = Duration::from_millis(50);

/// A request that does not wait for a model.
const CALL_MAX: Duration = Duration::from_secs(20);

/// A whole turn; a provider error that OpenCode retries takes about 70 s.
const TURN_MAX: Duration = Duration::from_secs(120);

/// Ports tried before giving up: another process may take one between our look and the start.
const PORTS_TRIED_MAX: u32 = 3;

/// The end of the server's output that an error shows.
const LOG_CHARS_MAX: usize = 4_000;

/// The user name of HTTP Basic where none is set.
const USER: &str = "opencode";

/// The OpenCode binary: `OPENCODE_BINARY`, else the one that `npm ci` puts under `tests/real`.
///
/// # Errors
/// [`Error::OpenCodeMissing`], which says how to install it.
pub fn opencode_binary() -> Result<PathBuf, Error> {
    let installed = "../real/node_modules/opencode-linux-x64/bin/opencode";
    let path = std::env::var_os("OPENCODE_BINARY")
        .filter(|path| !path.is_empty())
        .map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join(installed),
            PathBuf::from,
        );
    path.canonicalize()
        .ok()
        .filter(|path| path.is_file())
        .ok_or(Error::OpenCodeMissing { path })
}

/// How a server is started; begin with [`OpenCodeOptions::new`].
#[derive(Clone)]
pub struct OpenCodeOptions {
    /// Base URL of the provider `fake`, as [`crate::ScriptedModel::url`] gives it.
    pub model_url: String,
    /// Asked for by HTTP Basic (user `opencode`) on every request.
    pub password: Option<String>,
    /// More variables for the server; they win over the scratch home's.
    pub env: Vec<(String, String)>,
    /// Merged over the configuration file, object by object.
    pub config: Value,
    /// Another binary than [`opencode_binary`], for other versions.
    pub binary: Option<PathBuf>,
}

/// A running server. It and all it started end when it is dropped.
pub struct OpenCode {
    options: OpenCodeOptions,
    http: reqwest::Client,
    port: u16,
    child: Option<Child>,
    scratch: Scratch,
}

impl OpenCodeOptions {
    /// No password, nothing extra, the installed binary.
    #[must_use]
    pub fn new(model_url: impl Into<String>) -> Self {
        Self {
            model_url: model_url.into(),
            password: None,
            env: Vec::new(),
            config: json!({}),
            binary: None,
        }
    }
}

impl OpenCode {
    /// Starts a server in a new scratch home and waits until it is healthy.
    ///
    /// # Errors
    /// [`Error::OpenCodeMissing`] without a binary, [`Error::Ended`] or [`Error::Deadline`] with
    /// the end of the server's output if it does not come up.
    pub async fn start(options: OpenCodeOptions) -> Result<Self, Error> {
        let scratch = Scratch::with_config(&options.model_url, &options.config)?;
        // Each probe needs its own connection; see `PROBE_MIN`.
        let http = opencode_client::http_client()
            .no_proxy()
            .pool_max_idle_per_host(0)
            .build();
        let http = http.map_err(|source| Error::Http {
            what: "HTTP client".to_owned(),
            source,
        })?;
        let mut server = Self {
            options,
            http,
            port: 0,
            child: None,
            scratch,
        };
        let mut tries = 0;
        loop {
            tries += 1;
            server.port = process::free_port().map_err(Error::io("find a free port"))?;
            match server.boot().await {
                Err(Error::Ended { .. }) if tries < PORTS_TRIED_MAX => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(server),
            }
        }
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The password it asks for.
    #[must_use]
    pub fn password(&self) -> Option<&str> {
        self.options.password.as_deref()
    }

    /// The server's process while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Its home, with project and environment.
    #[must_use]
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Its project folder.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.scratch.project()
    }

    /// Ends the server and all it started at once, as a crash does. The data stay.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            process::kill_group(child.id());
            // A process that SIGKILL was sent to is gone at once; this only reaps it.
            let _ = child.wait();
        }
        self.scratch.end_processes();
    }

    /// Ends the server if it runs and starts it again on the same port with the same data.
    ///
    /// # Errors
    /// As [`OpenCode::start`].
    pub async fn restart(&mut self) -> Result<(), Error> {
        self.kill();
        self.boot().await
    }

    /// The end of what the server printed.
    #[must_use]
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.log_file()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let skipped = text.chars().count().saturating_sub(LOG_CHARS_MAX);
        text.chars().skip(skipped).collect()
    }

    /// Makes a session in `directory` and gives its id. With a title no title is asked for.
    ///
    /// # Errors
    /// [`Error::Http`] or [`Error::Answer`].
    pub async fn create_session(&self, directory: &Path, title: &str) -> Result<String, Error> {
        let path = format!("/session?directory={}", encoded(directory));
        let session = self
            .call(Method::POST, &path, Some(&json!({ "title": title })))
            .await?;
        Ok(session["id"].as_str().unwrap_or_default().to_owned())
    }

    /// Sends a prompt and returns as soon as the server has taken it.
    ///
    /// # Errors
    /// [`Error::Http`] or [`Error::Answer`].
    pub async fn prompt(&self, session: &str, text: &str) -> Result<(), Error> {
        let path = format!("/session/{session}/prompt_async");
        self.call(Method::POST, &path, Some(&parts(text)))
            .await
            .map(drop)
    }

    /// Sends a prompt, waits for the end of its turn and gives the last assistant message.
    ///
    /// # Errors
    /// [`Error::Http`] (also after two minutes) or [`Error::Answer`].
    pub async fn converse(&self, session: &str, text: &str) -> Result<Value, Error> {
        let path = format!("/session/{session}/message");
        self.request(Method::POST, &path, Some(&parts(text)), TURN_MAX)
            .await
    }

    /// All messages of a session, oldest first.
    ///
    /// # Errors
    /// [`Error::Http`] or [`Error::Answer`].
    pub async fn messages(&self, session: &str) -> Result<Vec<Value>, Error> {
        let messages = self
            .call(Method::GET, &format!("/session/{session}/message"), None)
            .await?;
        Ok(messages.as_array().cloned().unwrap_or_default())
    }

    /// Stops the running turn of a session.
    ///
    /// # Errors
    /// [`Error::Http`] or [`Error::Answer`].
    pub async fn abort(&self, session: &str) -> Result<(), Error> {
        self.call(Method::POST, &format!("/session/{session}/abort"), None)
            .await
            .map(drop)
    }

    /// Any other JSON call; an empty answer gives `null`.
    ///
    /// # Errors
    /// [`Error::Http`] after 20 s or without an answer; [`Error::Answer`] for a status other than
    /// 2xx and for HTML, which OpenCode answers for unknown paths.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Error> {
        self.request(method, path, body, CALL_MAX).await
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        deadline: Duration,
    ) -> Result<Value, Error> {
        let what = format!("{method} {path}");
        let mut request = self
            .http
            .request(method, self.url() + path)
            .timeout(deadline);
        if let Some(password) = &self.options.password {
            request = request.basic_auth(USER, Some(password));
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let failed = |source| Error::Http {
            what: what.clone(),
            source,
        };
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let text = response.text().await.map_err(failed)?;
        let json = if text.is_empty() {
            Ok(Value::Null)
        } else {
            serde_json::from_str(&text)
        };
        match json {
            Ok(json) if status.is_success() => Ok(json),
            Ok(_) | Err(_) => {
                let body = text.chars().take(LOG_CHARS_MAX).collect();
                Err(Error::Answer {
                    what,
                    status: status.as_u16(),
                    body,
                })
            }
        }
    }

    /// Starts the process on `self.port` and waits until it is healthy.
    async fn boot(&mut self) -> Result<(), Error> {
        self.child = Some(self.spawn()?);
        let begin = Instant::now();
        let mut patience = PROBE_MIN;
        while begin.elapsed() < START_MAX {
            if let Some(Ok(Some(status))) = self.child.as_mut().map(Child::try_wait) {
                self.child = None;
                let what = format!("OpenCode on port {} ({status})", self.port);
                return Err(Error::Ended {
                    what,
                    log: self.log(),
                });
            }
            let health = self
                .request(Method::GET, "/global/health", None, patience)
                .await;
            match health {
                Ok(health) if health["healthy"] == true => return Ok(()),
                Err(Error::Http { source, .. }) if source.is_timeout() => {
                    patience = (patience * 2).min(PROBE_MAX);
                }
                // Nobody listens yet, or somebody else does.
                Ok(_) | Err(_) => {}
            }
            tokio::time::sleep(PROBE_PAUSE).await;
        }
        self.kill();
        let what = format!("OpenCode healthy on port {}", self.port);
        Err(Error::Deadline {
            what,
            after: START_MAX,
            seen: self.log(),
        })
    }

    fn spawn(&self) -> Result<Child, Error> {
        use std::os::unix::process::CommandExt as _;

        let binary = self
            .options
            .binary
            .clone()
            .map_or_else(opencode_binary, Ok)?;
        let open_log = || {
            File::options()
                .create(true)
                .append(true)
                .open(self.log_file())
        };
        let log = open_log().map_err(Error::io("open the server's log"))?;
        let errors = log
            .try_clone()
            .map_err(Error::io("open the server's log"))?;
        let mut command = Command::new(&binary);
        command
            .args([
                "serve",
                "--hostname",
                "127.0.0.1",
                "--port",
                &self.port.to_string(),
            ])
            .current_dir(self.project())
            .env_clear()
            .envs(process::environment(self.scratch.env()))
            .envs(self.options.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            // A group of its own: the test runner's signals do not reach it, ours reach it all.
            .process_group(0);
        if let Some(password) = &self.options.password {
            command.env("OPENCODE_SERVER_PASSWORD", password);
        }
        command
            .spawn()
            .map_err(Error::io(format!("start {}", binary.display())))
    }

    fn log_file(&self) -> PathBuf {
        self.scratch.home().join("server.log")
    }
}

impl Drop for OpenCode {
    fn drop(&mut self) {
        self.kill();
    }
}

impl std::fmt::Debug for OpenCodeOptions {
    /// Without the password and the values of the variables.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenCodeOptions")
            .field("model_url", &self.model_url)
            .field("password", &self.password.as_ref().map(|_| "…"))
            .field("config", &self.config)
            .field("binary", &self.binary)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for OpenCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenCode")
            .field("port", &self.port)
            .field("pid", &self.pid())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

fn parts(text: &str) -> Value {
    json!({ "parts": [{ "type": "text", "text": text }] })
}

/// A path as a query value: every byte that is not plainly harmless is escaped.
fn encoded(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped = bytes.map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
            char::from(*byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    escaped.collect()
}
