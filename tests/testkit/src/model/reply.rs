//! What the model answers, as data, and how it looks on the wire.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

/// Pause between two deltas of a slow answer.
pub(crate) const TICK: Duration = Duration::from_millis(250);

/// Cached prompt tokens that every large enough answer reports.
const CACHED_TOKENS: u64 = 600;

/// Long enough for the partial text to leave before the connection is broken.
const FLUSH: Duration = Duration::from_millis(20);

/// One answer of the model.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// Waited before the response headers.
    pub(crate) delay: Duration,
    pub(crate) answer: Answer,
}

/// An HTTP error, or a message.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Refusal(Refusal),
    Message(Message),
}

/// An HTTP error with an error object as its body.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) error: Value,
    /// Value of a `retry-after` header.
    pub(crate) retry_after: Option<String>,
}

/// A chat completion.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// Silence between the response headers and the first delta.
    pub(crate) hang: Duration,
    pub(crate) reasoning: Option<String>,
    /// Deltas sent before the text, one every [`TICK`].
    pub(crate) ticks: u32,
    pub(crate) text: String,
    /// One delta for each word.
    pub(crate) by_word: bool,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: &'static str,
    pub(crate) ending: Ending,
    /// Gate at which the stream waits after its text.
    pub(crate) held: Option<String>,
    pub(crate) usage: Usage,
}

/// One tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: String,
    /// JSON as text, so that malformed arguments can be scripted too.
    pub(crate) arguments: String,
}

/// How a stream ends after its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Whole,
    /// The connection breaks in the middle.
    Broken,
    /// An error object inside the stream.
    ErrorObject,
}

/// Token numbers of one answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
}

/// The next thing to do while a stream is being sent.
#[derive(Debug)]
pub(crate) enum Piece {
    Event(String),
    Pause(Duration),
    Hold(String),
    /// The last one of a whole stream.
    Done,
    Break,
}

impl Default for Message {
    fn default() -> Self {
        Self {
            hang: Duration::ZERO,
            reasoning: None,
            ticks: 0,
            text: String::new(),
            by_word: false,
            calls: Vec::new(),
            finish: "stop",
            ending: Ending::Whole,
            held: None,
            usage: Usage {
                prompt: 1000,
                completion: 20,
            },
        }
    }
}

impl Reply {
    pub(crate) fn message(message: Message) -> Self {
        Self {
            delay: Duration::ZERO,
            answer: Answer::Message(message),
        }
    }

    pub(crate) fn refusal(refusal: Refusal) -> Self {
        Self {
            delay: Duration::ZERO,
            answer: Answer::Refusal(refusal),
        }
    }

    pub(crate) fn calls_tools(&self) -> bool {
        match &self.answer {
            Answer::Refusal(_) => false,
            Answer::Message(message) => !message.calls.is_empty(),
        }
    }
}

impl Refusal {
    pub(crate) fn with_status(status: u16) -> Self {
        let error = json!({
            "message": format!("fake error {status}"),
            "type": "fake_error",
            "code": format!("fake_{status}"),
        });
        Self {
            status,
            error,
            retry_after: None,
        }
    }

    pub(crate) fn context_overflow() -> Self {
        let error = json!({
            "message": "This model's maximum context length is 8192 tokens. \
                        However, your messages resulted in 9000 tokens.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        });
        Self {
            status: 400,
            error,
            retry_after: None,
        }
    }
}

impl Message {
    /// The answer as one object, for a request without `stream`.
    pub(crate) fn whole(&self, model: &str, number: usize) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text });
        if !self.calls.is_empty() {
            message["tool_calls"] = self.calls_json(number);
        }
        json!({
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [{ "index": 0, "message": message, "finish_reason": self.finish }],
            "usage": self.usage.json(),
        })
    }

    /// The answer as a stream, in order.
    pub(crate) fn pieces(&self, model: &str, number: usize) -> VecDeque<Piece> {
        let delta = |delta: Value| Piece::Event(chunk(model, &delta, None, None));
        let content = |text: String| delta(json!({ "content": text }));
        let mut pieces = VecDeque::from([
            Piece::Pause(self.hang),
            delta(json!({ "role": "assistant", "content": "" })),
        ]);
        for word in self
            .reasoning
            .iter()
            .flat_map(|reasoning| reasoning.split(' '))
        {
            pieces.push_back(delta(json!({ "reasoning_content": format!("{word} ") })));
        }
        for tick in 0..self.ticks {
            pieces.push_back(content(format!("tick{tick} ")));
            pieces.push_back(Piece::Pause(TICK));
        }
        match self.ending {
            Ending::Whole => {}
            Ending::Broken => {
                pieces.push_back(content("partial answer ".to_owned()));
                pieces.extend([Piece::Pause(FLUSH), Piece::Break]);
                return pieces;
            }
            Ending::ErrorObject => {
                pieces.push_back(content("partial answer ".to_owned()));
                pieces.extend([Piece::Event(error_in_stream()), Piece::Done]);
                return pieces;
            }
        }
        if self.by_word {
            let words = self.text.split(' ').map(|word| content(format!("{word} ")));
            pieces.extend(words);
        } else if !self.text.is_empty() {
            pieces.push_back(content(self.text.clone()));
        }
        pieces.extend(self.held.clone().map(Piece::Hold));
        if !self.calls.is_empty() {
            pieces.push_back(delta(json!({ "tool_calls": self.calls_json(number) })));
        }
        let last = chunk(
            model,
            &json!({}),
            Some(self.finish),
            Some(self.usage.json()),
        );
        pieces.extend([Piece::Event(last), Piece::Done]);
        pieces
    }

    /// Call ids hold the number of the request: unique within a conversation.
    fn calls_json(&self, number: usize) -> Value {
        let calls = self.calls.iter().enumerate().map(|(index, call)| {
            json!({
                "index": index,
                "id": format!("call_{number}_{index}"),
                "type": "function",
                "function": { "name": call.tool, "arguments": call.arguments },
            })
        });
        Value::Array(calls.collect())
    }
}

impl Usage {
    fn json(self) -> Value {
        let cached = if self.prompt >= CACHED_TOKENS {
            CACHED_TOKENS
        } else {
            0
        };
        json!({
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt.saturating_add(self.completion),
            "prompt_tokens_details": { "cached_tokens": cached },
        })
    }
}

fn chunk(model: &str, delta: &Value, finish: Option<&str>, usage: Option<Value>) -> String {
    let mut chunk = json!({
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    if let Some(usage) = usage {
        chunk["usage"] = usage;
    }
    chunk.to_string()
}

fn error_in_stream() -> String {
    json!({ "error": {
        "message": "fake overloaded in stream",
        "type": "overloaded_error",
        "code": "overloaded",
    } })
    .to_string()
}
