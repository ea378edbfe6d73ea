//! What the model was asked, and what kind of question it was.

use std::sync::Arc;

use serde_json::Value;

/// What a request to the model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A step of a turn: of the session or of a subagent.
    Work,
    /// A goal's progress is judged.
    Audit,
    /// OpenCode asks for the title of a new session.
    Title,
    /// OpenCode asks for a summary of a long session.
    Compaction,
}

/// How far the answer to a request got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Still being held back or sent.
    Open,
    /// Sent to its end (a scripted break of the connection counts as an end).
    Answered,
    /// The other side went away first: the turn was aborted, or the server ended.
    ClientGone,
}

/// One recorded request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Counted from 1 in the order of arrival.
    pub number: usize,
    /// What it is for.
    pub kind: Kind,
    /// The OpenCode session it comes from, where OpenCode names it.
    pub session: Option<String>,
    /// When it arrived, in epoch milliseconds.
    pub received_ms: u64,
    /// How far its answer got.
    pub progress: Progress,
    /// The JSON body.
    pub body: Arc<Value>,
}

impl Request {
    /// The model asked, e.g. `big`.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// Text of the newest user message, empty without one.
    #[must_use]
    pub fn last_user_text(&self) -> String {
        user_texts(&self.body).pop().unwrap_or_default()
    }

    /// Text of all system messages, joined by newlines.
    #[must_use]
    pub fn system_text(&self) -> String {
        system_text(&self.body)
    }

    /// Names of the tools offered.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        tool_names(&self.body).map(ToOwned::to_owned).collect()
    }

    /// Whether any message holds `text`.
    #[must_use]
    pub fn mentions(&self, text: &str) -> bool {
        messages(&self.body)
            .iter()
            .any(|message| text_of(message).contains(text))
    }
}

/// The kind of a request, by what OpenCode puts into it; `is_audit` is asked last.
pub(crate) fn classify(body: &Value, is_audit: impl FnOnce(&Value) -> bool) -> Kind {
    let system = system_text(body).to_lowercase();
    if system.contains("title generator") {
        return Kind::Title;
    }
    let last = user_texts(body).pop().unwrap_or_default().to_lowercase();
    let summarises = system.contains("anchored context summar")
        || system.contains("summarizing conversations")
        || start(&system, 600).contains("summarization")
        || start(&last, 400).contains("context checkpoint");
    if summarises {
        return Kind::Compaction;
    }
    if is_audit(body) {
        Kind::Audit
    } else {
        Kind::Work
    }
}

/// What is asked twice by the same question: OpenCode repeats it after an error and, with tool
/// results added, after each tool call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Question {
    pub(crate) session: Option<String>,
    /// A repeated prompt is a new question: there is one more user message.
    pub(crate) user_messages: usize,
    pub(crate) last_text: String,
}

impl Question {
    pub(crate) fn of(body: &Value, session: Option<String>) -> Self {
        let mut texts = user_texts(body);
        Self {
            session,
            user_messages: texts.len(),
            last_text: texts.pop().unwrap_or_default(),
        }
    }
}

/// Answers with tool calls since the newest user message.
pub(crate) fn tool_rounds(body: &Value) -> usize {
    since_user(body)
        .filter(|message| message["tool_calls"].is_array())
        .count()
}

/// Tool results since the newest user message.
pub(crate) fn tool_results(body: &Value) -> usize {
    since_user(body)
        .filter(|message| message["role"] == "tool")
        .count()
}

pub(crate) fn tool_names(body: &Value) -> impl Iterator<Item = &str> {
    let tools = body["tools"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    tools
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
}

pub(crate) fn user_texts(body: &Value) -> Vec<String> {
    messages(body)
        .iter()
        .filter(|message| message["role"] == "user")
        .map(text_of)
        .collect()
}

pub(crate) fn mentions(body: &Value, text: &str) -> bool {
    messages(body)
        .iter()
        .any(|message| text_of(message).contains(text))
}

fn system_text(body: &Value) -> String {
    let system = messages(body)
        .iter()
        .filter(|message| message["role"] == "system");
    system.map(text_of).collect::<Vec<_>>().join("\n")
}

fn since_user(body: &Value) -> impl Iterator<Item = &Value> {
    messages(body)
        .iter()
        .rev()
        .take_while(|message| message["role"] != "user")
}

fn messages(body: &Value) -> &[Value] {
    body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// The text of a message, whether it is one string or a list of parts.
fn text_of(message: &Value) -> String {
    let content = &message["content"];
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = parts
        .iter()
        .map(|part| part["text"].as_str().unwrap_or_default());
    texts.collect::<Vec<_>>().join("\n")
}

/// The first `characters` of a text.
fn start(text: &str, characters: usize) -> &str {
    let end = text
        .char_indices()
        .nth(characters)
        .map_or(text.len(), |(index, _)| index);
    &text[..end]
}
