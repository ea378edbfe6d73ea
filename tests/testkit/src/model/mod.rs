//! An OpenAI-compatible model that answers as the test wrote it down.
//!
//! A request is of one [`Kind`]. *Work* takes the next scripted turn for every new user message;
//! within a turn the step follows from the tool calls already answered, as in a real tool loop,
//! and a request repeated after an error goes on in the same turn. A subagent's prompt is a user
//! message too, and takes a turn. *Audits* take the next scripted audit. Titles and summaries have
//! fixed answers. When the script has run out, `[[MARK …]]` in the newest user message chooses the
//! answer to work, and after that the default report or verdict does.
//!
//! Markers (all found in the text apply; seconds may be fractions):
//!
//! ```text
//! [[TEXT some words]]   reply text                      [[WORDS n]]    n words, one delta each
//! [[LENGTH]]            output limit, no text           [[LENGTHTEXT]] output limit, some text
//! [[EMPTY]]             no text                         [[FILTER]]     content filter
//! [[REASON]]            reasoning, then text            [[ERROR401]]   HTTP error, any status
//! [[RETRYAFTER s]]      header for the error            [[ERRTIMES n]] the error n times only
//! [[OVERFLOW]]          400 context_length_exceeded     [[SLOW s]]     four deltas a second
//! [[HANG s]]            silence after the headers       [[DELAY s]]    silence before them
//! [[DROP]]              connection breaks midway        [[STREAMERR]]  error object midway
//! [[USAGE p c]]         prompt and completion tokens    [[TOOL name {json}]] [[LOOP n]] tool calls
//! [[STRUCT {json}]]     StructuredOutput answer         [[NOSTRUCT]]   text in spite of that tool
//! ```
//!
//! Arguments end at the first `]]`: write nested lists inside them as `] ]`, or use a script.
//! The same in `<<…>>` is read where no `[[…]]` is: for prompts inside a tool call's arguments.

mod marker;
mod reply;
mod request;
mod script;
mod server;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

pub use request::{Kind, Progress, Request};
pub use script::Step;
pub(crate) use script::ticks;

use crate::Error;
use crate::watched::Watched;
use request::tool_names;
use script::{Script, Turn};

/// What the agent says where nothing else was scripted.
pub const DEFAULT_REPORT: &str = "Done: step. Verified: yes. Remaining: more.";

/// What the auditor says where nothing else was scripted.
pub const DEFAULT_VERDICT: &str = r#"{"verdict":"continue","note":"step done"}"#;

/// Requests recorded and answered; a runaway loop gets 503 after that many.
pub const REQUESTS_MAX: usize = 4_096;

/// A running scripted model. It stops, and breaks its connections, when it is dropped.
///
/// It runs on a thread and a runtime of its own, so it answers while the test blocks or its
/// runtime's time is paused.
#[derive(Debug)]
pub struct ScriptedModel {
    shared: Arc<Shared>,
    server: server::Server,
}

/// The script of a model that is not started yet.
#[derive(Default)]
pub struct Builder {
    script: Script,
    /// Gates waiting for the audit that they hold.
    audit_gates: Vec<String>,
    is_audit: Option<AuditTest>,
}

type AuditTest = Box<dyn Fn(&Value) -> bool + Send + Sync>;

/// What the server thread and the test both see.
struct Shared {
    state: Watched<State>,
    is_audit: AuditTest,
}

#[derive(Debug, Default)]
struct State {
    script: Script,
    log: Vec<Request>,
    gates: BTreeMap<String, Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    reached: bool,
    open: bool,
}

impl ScriptedModel {
    /// An empty script.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A model driven by markers alone.
    ///
    /// # Errors
    /// As [`Builder::start`].
    pub fn start() -> Result<Self, Error> {
        Self::builder().start()
    }

    /// The base URL for OpenCode's provider settings, `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.server.port())
    }

    /// Adds a work turn while running.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if a step would never be used.
    pub fn push_turn(&self, steps: impl IntoIterator<Item = Step>) -> Result<(), Error> {
        let turn = Turn::work(steps);
        turn.check(1)?;
        self.shared
            .state
            .change(|state| state.script.turns.push_back(turn));
        Ok(())
    }

    /// Adds an audit while running.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if a step would never be used.
    pub fn push_audit(&self, steps: impl IntoIterator<Item = Step>) -> Result<(), Error> {
        let turn = Turn::audit(steps);
        turn.check(1)?;
        self.shared
            .state
            .change(|state| state.script.audits.push_back(turn));
        Ok(())
    }

    /// All requests so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state.read(|state| state.log.clone())
    }

    /// The work requests so far; several of them may belong to one turn.
    #[must_use]
    pub fn work_calls(&self) -> Vec<Request> {
        self.calls(Kind::Work)
    }

    /// The audits so far.
    #[must_use]
    pub fn audit_calls(&self) -> Vec<Request> {
        self.calls(Kind::Audit)
    }

    /// Scripted turns and audits that no request has taken yet.
    #[must_use]
    pub fn unused(&self) -> (usize, usize) {
        self.shared
            .state
            .read(|state| (state.script.turns.len(), state.script.audits.len()))
    }

    /// Waits until `is_so` holds for the requests so far; woken by each arrival and each end.
    ///
    /// # Errors
    /// [`Error::Deadline`], with the requests seen.
    pub async fn wait_for(
        &self,
        is_so: impl Fn(&[Request]) -> bool,
        deadline: Duration,
    ) -> Result<(), Error> {
        let look = |state: &mut State| is_so(&state.log).then_some(());
        let found = self.shared.state.within(deadline, look).await;
        found.ok_or_else(|| self.too_late("requests to the model".to_owned(), deadline))
    }

    /// Waits until an answer stands before the gate `name` (or passed it earlier).
    ///
    /// # Errors
    /// [`Error::Deadline`], with the requests seen.
    pub async fn reached(&self, name: &str, deadline: Duration) -> Result<(), Error> {
        let look = |state: &mut State| state.gates.get(name)?.reached.then_some(());
        let found = self.shared.state.within(deadline, look).await;
        found.ok_or_else(|| self.too_late(format!("gate {name:?} reached"), deadline))
    }

    /// Opens the gate `name` for good, also for answers that have not come to it yet.
    pub fn release(&self, name: &str) {
        self.shared.state.change(|state| {
            state.gates.entry(name.to_owned()).or_default().open = true;
        });
    }

    fn calls(&self, kind: Kind) -> Vec<Request> {
        let mut calls = self.requests();
        calls.retain(|request| request.kind == kind);
        calls
    }

    fn too_late(&self, what: String, after: Duration) -> Error {
        let lines = self.requests().into_iter().map(|request| {
            let text = request.last_user_text();
            let text: String = text.chars().take(80).collect();
            let Request {
                number,
                kind,
                progress,
                ..
            } = request;
            format!("{number}: {kind:?} {progress:?} {text:?}")
        });
        Error::Deadline {
            what,
            after,
            seen: lines.collect::<Vec<_>>().join("\n"),
        }
    }
}

impl Builder {
    /// Adds a work turn: the steps that answer one user message.
    #[must_use]
    pub fn turn(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.script.turns.push_back(Turn::work(steps));
        self
    }

    /// Adds an audit, step by step: for errors that pass, slow answers and the like.
    #[must_use]
    pub fn audit(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        let gates = std::mem::take(&mut self.audit_gates);
        self.script
            .audits
            .push_back(Turn::audit(steps).held_by(gates));
        self
    }

    /// Adds an audit that gives this verdict as the JSON asked for.
    #[must_use]
    pub fn audit_verdict(self, verdict: &str, note: &str) -> Self {
        self.audit_raw(json!({ "verdict": verdict, "note": note }).to_string())
    }

    /// Adds an audit that answers exactly `text`.
    #[must_use]
    pub fn audit_raw(self, text: impl Into<String>) -> Self {
        self.audit([Step::say(text)])
    }

    /// Adds an audit whose every try fails with this HTTP status.
    #[must_use]
    pub fn audit_error(self, status: u16) -> Self {
        self.audit([Step::error(status)])
    }

    /// Holds the audit added next (at the end: one with the default verdict) at a gate.
    #[must_use]
    pub fn audit_gate(mut self, name: &str) -> Self {
        self.audit_gates.push(name.to_owned());
        self
    }

    /// Answers with this where OpenCode asks for a session's title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.script.title = Some(title.into());
        self
    }

    /// Says which requests are audits, by their body. Titles and summaries are told apart before.
    /// Without it: those that offer no tools.
    #[must_use]
    pub fn audit_when(mut self, test: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        self.is_audit = Some(Box::new(test));
        self
    }

    /// Takes every request with `text` in one of its messages for an audit.
    #[must_use]
    pub fn audit_marker(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.audit_when(move |body| request::mentions(body, &text))
    }

    /// Starts the model on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`Error::Unreachable`] for a step that would never be used, [`Error::Io`] for a port or
    /// thread that the system does not give.
    pub fn start(mut self) -> Result<ScriptedModel, Error> {
        if !self.audit_gates.is_empty() {
            self = self.audit_raw(DEFAULT_VERDICT);
        }
        for turns in [&self.script.turns, &self.script.audits] {
            for (index, turn) in turns.iter().enumerate() {
                turn.check(index + 1)?;
            }
        }
        let state = State {
            script: self.script,
            ..State::default()
        };
        let offers_no_tools: AuditTest = Box::new(|body| tool_names(body).next().is_none());
        let is_audit = self.is_audit.unwrap_or(offers_no_tools);
        let shared = Arc::new(Shared {
            state: Watched::new(state),
            is_audit,
        });
        let server = server::Server::start(Arc::clone(&shared))?;
        Ok(ScriptedModel { shared, server })
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("script", &self.script)
            .finish_non_exhaustive()
    }
}
