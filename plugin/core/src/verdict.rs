//! The auditor's reply, read as a verdict (O19, O20).
//!
//! Models wrap, fence and repeat their answers and think aloud about them, so the reply is tried
//! from the strictest reading to the loosest. What stays unread is an error with a name: no
//! reading guesses a verdict.

use std::cell::Cell;
use std::io;

use serde_json::{Deserializer, Map, Value};

use crate::limits::Limits;
use crate::text::{clamp, is_closing_think_tag, strip_thinking, trim_text, unwrap_fence};

/// What the auditor decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub kind: VerdictKind,
    /// The auditor's note: trimmed, at most [`NOTE_UNITS_MAX`] UTF-16 units, possibly empty. It
    /// is a model's text: show it as text only.
    pub note: String,
}

/// The three verdicts (R64).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerdictKind {
    /// Work is left.
    Continue,
    /// The objective is met.
    Complete,
    /// Nothing more can be done without the user.
    Blocked,
}

impl VerdictKind {
    /// The word that stands for the verdict in a reply.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Complete => "complete",
            Self::Blocked => "blocked",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase();
        [Self::Continue, Self::Complete, Self::Blocked]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }
}

/// Why a reply is no verdict. Each counts as a failed reading, never as `continue` (G23).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unparsable {
    /// There is no text, at least none outside the model's thinking.
    Empty,
    /// The text holds no complete JSON object.
    NoObject,
    /// There are JSON objects, none of which has a verdict.
    NoVerdict,
    /// The verdict is not one of the three words.
    UnknownVerdict,
    /// The text holds so many broken objects that reading it was given up.
    Tangled,
}

impl Unparsable {
    /// The reason as a code for logs, which hold no text of a reply (O22).
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoObject => "no_object",
            Self::NoVerdict => "no_verdict",
            Self::UnknownVerdict => "unknown_verdict",
            Self::Tangled => "tangled",
        }
    }
}

/// UTF-16 units of a note (O20).
pub const NOTE_UNITS_MAX: usize = Limits::DEFAULT.note_max;

/// Reads the auditor's reply: its text and, where the model has one, its reasoning.
///
/// In order: the whole text as a JSON object; the content of a fence that wraps all of it; the
/// last complete object with a known verdict outside of think blocks; the same on the reasoning;
/// an object with which an otherwise empty reply ends its think block. An object that names an
/// unknown verdict, with no known one beside it, ends the search: a draft in the reasoning does
/// not outvote it.
///
/// # Errors
/// Why no reading found a verdict.
pub fn parse(reply: &str, reasoning: &str) -> Result<Verdict, Unparsable> {
    let reply_error = match read_text(reply) {
        Ok(verdict) => return Ok(verdict),
        Err(error) if error.is_final() => return Err(error),
        Err(error) => error,
    };
    let reasoning_error = match read_text(reasoning) {
        Ok(verdict) => return Ok(verdict),
        Err(error) if error.is_final() => return Err(error),
        Err(error) => error,
    };
    match read_end(reply) {
        Some(verdict) => Ok(verdict),
        None if reply_error == Unparsable::Empty => Err(reasoning_error),
        None => Err(reply_error),
    }
}

impl Unparsable {
    const fn is_final(self) -> bool {
        match self {
            Self::UnknownVerdict | Self::Tangled => true,
            Self::Empty | Self::NoObject | Self::NoVerdict => false,
        }
    }
}

fn read_text(text: &str) -> Result<Verdict, Unparsable> {
    let text = trim_text(text);
    if let Some(object) = whole_object(text) {
        return read_object(&object);
    }
    if let Some(object) = unwrap_fence(text).and_then(whole_object) {
        return read_object(&object);
    }
    let spoken = strip_thinking(text);
    if trim_text(&spoken).is_empty() {
        return Err(Unparsable::Empty);
    }
    last_verdict(&spoken, &Work::for_text(&spoken)).map(|found| found.verdict)
}

/// The verdict with which the raw text ends, think tags or not. What is followed by more words is
/// a draft, not an answer.
fn read_end(text: &str) -> Option<Verdict> {
    let found = last_verdict(text, &Work::for_text(text)).ok()?;
    let rest = trim_text(&text[found.end..]).trim_matches('`');
    let rest = trim_text(rest);
    (rest.is_empty() || is_closing_think_tag(rest)).then_some(found.verdict)
}

fn whole_object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn read_object(object: &Map<String, Value>) -> Result<Verdict, Unparsable> {
    let object = unwrapped(object);
    let word = object.get("verdict").ok_or(Unparsable::NoVerdict)?;
    let kind = word
        .as_str()
        .and_then(VerdictKind::from_word)
        .ok_or(Unparsable::UnknownVerdict)?;
    let note = object.get("note").and_then(Value::as_str).unwrap_or("");
    let note = clamp(trim_text(note), NOTE_UNITS_MAX).trim_end();
    Ok(Verdict {
        kind,
        note: note.to_owned(),
    })
}

/// The object inside `{"answer": {…}}`. Only where it stands alone: of several objects inside one
/// none is the verdict of the whole.
fn unwrapped(mut object: &Map<String, Value>) -> &Map<String, Value> {
    while object.len() == 1 && !object.contains_key("verdict") {
        match object.values().next().and_then(Value::as_object) {
            Some(inner) => object = inner,
            None => return object,
        }
    }
    object
}

struct Found {
    verdict: Verdict,
    /// The byte behind the object.
    end: usize,
}

/// The last complete JSON object of `text` with a known verdict. Objects inside another complete
/// one are part of it.
fn last_verdict(text: &str, work: &Work) -> Result<Found, Unparsable> {
    let mut outcome = Err(Unparsable::NoObject);
    let mut at = 0;
    while let Some(offset) = text[at..].find('{') {
        let start = at + offset;
        let Some((object, length)) = object_at_start(&text[start..], work)? else {
            at = start + 1;
            continue;
        };
        at = start + length;
        match (read_object(&object), &outcome) {
            (Ok(verdict), _) => outcome = Ok(Found { verdict, end: at }),
            (Err(_), Ok(_) | Err(Unparsable::UnknownVerdict)) => {}
            (Err(error), Err(_)) => outcome = Err(error),
        }
    }
    outcome
}

type ObjectAndLength = (Map<String, Value>, usize);

fn object_at_start(text: &str, work: &Work) -> Result<Option<ObjectAndLength>, Unparsable> {
    let reader = Metered {
        bytes: text.as_bytes(),
        work,
    };
    let mut objects = Deserializer::from_reader(reader).into_iter();
    match objects.next() {
        Some(Ok(object)) => Ok(Some((object, objects.byte_offset()))),
        Some(Err(_)) | None if work.left.get() == 0 => Err(Unparsable::Tangled),
        Some(Err(_)) | None => Ok(None),
    }
}

/// How many more bytes may be read. Each opening brace starts an attempt, and a text made of
/// openings would otherwise be read once for each of them.
struct Work {
    left: Cell<usize>,
}

/// An honest reply is read about twice: once whole, once in search of its last object.
const READS_PER_BYTE: usize = 16;

impl Work {
    const fn for_text(text: &str) -> Self {
        let bytes = text.len().saturating_add(1);
        Self {
            left: Cell::new(bytes.saturating_mul(READS_PER_BYTE)),
        }
    }
}

/// Reads from memory and counts.
struct Metered<'a> {
    bytes: &'a [u8],
    work: &'a Work,
}

impl io::Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.len().min(buffer.len()).min(self.work.left.get());
        let (taken, rest) = self.bytes.split_at(count);
        buffer[..count].copy_from_slice(taken);
        self.bytes = rest;
        self.work.left.set(self.work.left.get() - count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_read(text: &str) -> usize {
        let work = Work::for_text(text);
        let before = work.left.get();
        let _outcome = last_verdict(text, &work).map(|found| found.end);
        before - work.left.get()
    }

    #[test]
    fn work_grows_with_the_text_and_not_with_its_square() {
        for piece in [
            "{",
            "{}",
            "{\"",
            "{\"a\":",
            "{\"a\":[",
            "{\"a\":{\"a\":\"{",
            "{ ",
            "\\\"{",
            "{\"verdict\":\"complete\"},",
            "{\"verdict\":\"complete\",",
            "{\"verdict\":\"complete\"",
            "{\"a\":[{},",
            "<think>{",
            "```{",
        ] {
            let text = piece.repeat(20_000 / piece.len());
            let once = bytes_read(&text);
            let twice = bytes_read(&text.repeat(2));
            let bound = READS_PER_BYTE * (text.len() + 1);
            assert!(once <= bound, "{piece}: {once}");
            assert!(
                twice <= 2 * once + READS_PER_BYTE,
                "{piece}: {once}, {twice}"
            );
        }
    }

    #[test]
    fn an_honest_text_is_read_once() {
        let text = r#"fn main() { a } then {"x": {"y": [1]}} {"verdict":"complete","note":"{"}"#;
        assert!(bytes_read(text) <= text.len());
    }

    #[test]
    fn giving_up_is_an_error_of_its_own() {
        let text = format!("{}{}", "{\"a\":".repeat(2_000), r#"{"verdict":"complete"}"#);
        assert_eq!(parse(&text, ""), Err(Unparsable::Tangled));
    }
}
