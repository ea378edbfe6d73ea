//! The objective: what counts as one, and how a long one is fitted for the auditor (O3, O10 to
//! O12). The agent always receives the full text in the conversation; only the copy by which it
//! is judged is fitted.

use std::fmt;

use crate::text::{clamp, clip_halves, strip_thinking, trim_text, unwrap_fence, utf16_len};

/// Why a text is no objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectiveError {
    /// Nothing is left of the text once white space and invisible characters are taken away.
    Empty,
}

impl fmt::Display for ObjectiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("an objective is required: the text is empty"),
        }
    }
}

impl std::error::Error for ObjectiveError {}

/// Whether an objective fits as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fitting {
    /// It fits: this is the copy for the auditor.
    Whole(String),
    /// It has to be distilled, or failing that excerpted.
    TooLong {
        /// Its length in UTF-16 units.
        units: usize,
    },
}

/// Stands in an excerpt where the middle of the objective was taken out.
pub const EXCERPT_MARKER: &str = "\n\n[… trimmed here for the auditor; the conversation holds the \
                                  full text of this objective …]\n\n";

/// The objective without outer white space.
///
/// # Errors
/// [`ObjectiveError::Empty`] where nothing visible is left.
pub fn validate(text: &str) -> Result<&str, ObjectiveError> {
    let trimmed = trim_text(text);
    if trimmed.chars().all(is_invisible) {
        return Err(ObjectiveError::Empty);
    }
    Ok(trimmed)
}

/// Whether `text`, without outer white space, fits into `max_units` UTF-16 units.
#[must_use]
pub fn fit(text: &str, max_units: usize) -> Fitting {
    let trimmed = trim_text(text);
    match utf16_len(trimmed) {
        units if units <= max_units => Fitting::Whole(trimmed.to_owned()),
        units => Fitting::TooLong { units },
    }
}

/// The auditor's copy of an objective that was distilled: the distillation, without a model's
/// thinking and without a fence around it, in at most `max_units` UTF-16 units. `None` where
/// nothing is left of it: the [`excerpt`] takes its place (O11).
#[must_use]
pub fn from_distillation(distilled: &str, max_units: usize) -> Option<String> {
    let spoken = strip_thinking(distilled);
    let criteria = unwrap_fence(&spoken).unwrap_or(&spoken);
    let criteria = validate(criteria).ok()?;
    Some(clamp(criteria, max_units).to_owned())
}

/// Beginning and end of an objective with [`EXCERPT_MARKER`] between them, in at most `max_units`
/// UTF-16 units. The beginning keeps the intent, the end the acceptance criteria.
#[must_use]
pub fn excerpt(text: &str, max_units: usize) -> String {
    clip_halves(trim_text(text), max_units, EXCERPT_MARKER).into_owned()
}

/// Whether `id` may name an objective file: 4 to 128 ASCII letters, digits, `_` and `-`. To be
/// asked before any access to the file system (O2).
#[must_use]
pub fn valid_session_id(id: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (4..=128).contains(&id.len()) && id.bytes().all(known)
}

/// White space, control characters, and characters that take no room: a text of nothing else
/// says nothing.
fn is_invisible(character: char) -> bool {
    let takes_no_room = matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    );
    character.is_whitespace() || character.is_control() || takes_no_room
}
