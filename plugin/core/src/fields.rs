//! What the fields of a request may hold: each limit once, for pages, the command and the engine.
//! A refusal names the field and its rule, never what the field held.

use std::fmt;
use std::ops::RangeInclusive;

use crate::goal::{ModelRef, SAFE_INTEGER_MAX};

/// Characters of an agent's, a provider's, a model's or a variant's name.
pub const NAME_MAX: usize = 200;

/// Characters of a session's title.
pub const TITLE_MAX: usize = 200;

/// Bytes of a folder's path; no system takes longer ones.
pub const FOLDER_MAX: usize = 4_096;

/// Bytes of a prompt: far more than any model reads.
pub const PROMPT_MAX: usize = 4_000_000;

/// Tokens of a budget that a flag or a form offers. A goal itself may have any from 1 on.
pub const BUDGET_OFFERED: RangeInclusive<u64> = 1_000..=100_000_000;

/// Files of one prompt.
pub const FILES_MAX: usize = 20;

/// Characters of a file's name.
pub const FILE_NAME_MAX: usize = 255;

/// Bytes of all addresses of files together: 20 MiB of content, in base64.
pub const URLS_MAX: usize = 28_000_000;

/// Characters of either half of a media type.
pub const MIME_HALF_MAX: usize = 127;

/// A field that breaks its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The field's name, where the request has it.
    pub field: String,
    /// What it takes.
    pub rule: String,
}

impl Broken {
    /// A field and the rule that it breaks, as the rest of a sentence: "takes …".
    pub fn new(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            rule: rule.into(),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}.", self.field, self.rule)
    }
}

impl std::error::Error for Broken {}

/// A file that goes along with a prompt, as it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its media type.
    pub mime: &'t str,
    /// Where it is.
    pub url: &'t str,
}

/// The name of an agent, a provider, a model or a variant.
///
/// # Errors
/// [`Broken`] where it is empty, too long or no single line.
pub fn name(field: &str, text: &str) -> Result<(), Broken> {
    line(field, text, NAME_MAX)
}

/// A session's title.
///
/// # Errors
/// As [`name`].
pub fn title(field: &str, text: &str) -> Result<(), Broken> {
    line(field, text, TITLE_MAX)
}

/// A folder on the server: an absolute path, of whatever system the server runs on.
///
/// # Errors
/// [`Broken`] for a relative one, one that is too long, or one with control characters.
pub fn folder(field: &str, text: &str) -> Result<(), Broken> {
    let drive = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text
            .get(1..3)
            .is_some_and(|rest| rest == ":\\" || rest == ":/");
    let absolute = text.starts_with('/') || text.starts_with("\\\\") || drive;
    if absolute && text.len() <= FOLDER_MAX && !text.chars().any(char::is_control) {
        return Ok(());
    }
    let rule =
        format!("takes an absolute path of at most {FOLDER_MAX} bytes, no control characters");
    Err(Broken::new(field, rule))
}

/// A prompt.
///
/// # Errors
/// [`Broken`] where it says nothing, or is too long.
pub fn prompt<'t>(field: &str, text: &'t str) -> Result<&'t str, Broken> {
    let said = crate::objective::validate(text).ok();
    said.filter(|said| said.len() <= PROMPT_MAX)
        .ok_or_else(|| Broken::new(field, format!("takes a text of at most {PROMPT_MAX} bytes")))
}

/// A message's id, as OpenCode makes them.
///
/// # Errors
/// [`Broken`] for any other text.
pub fn message(field: &str, id: &str) -> Result<(), Broken> {
    if id.starts_with("msg") && crate::objective::valid_session_id(id) {
        return Ok(());
    }
    Err(Broken::new(
        field,
        "takes a message id, such as msg_0123abcd",
    ))
}

/// A model as `provider/model`: its provider's name up to the first slash, then its own.
///
/// # Errors
/// [`Broken`] where one of the two is missing.
pub fn model(field: &str, text: &str) -> Result<ModelRef, Broken> {
    let names = text.split_once('/');
    let named = names.filter(|(provider, model)| !provider.is_empty() && !model.is_empty());
    let (provider, model) =
        named.ok_or_else(|| Broken::new(field, "takes provider/model, such as acme/big"))?;
    Ok(ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    })
}

/// A goal's token budget.
///
/// # Errors
/// [`Broken`] for zero, and beyond what every client counts exactly.
pub fn budget(field: &str, tokens: u64) -> Result<u64, Broken> {
    within(field, tokens, 1..=SAFE_INTEGER_MAX)
}

/// A token budget in digits, within `range`. A sign, a point or another script's digits are none.
///
/// # Errors
/// [`Broken`].
pub fn budget_in_digits(
    field: &str,
    text: &str,
    range: RangeInclusive<u64>,
) -> Result<u64, Broken> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    within(field, number.unwrap_or_default(), range)
}

/// The files of a prompt.
///
/// # Errors
/// [`Broken`] for the first that breaks a rule, or for all of them together.
pub fn files(field: &str, files: &[File<'_>]) -> Result<(), Broken> {
    if files.len() > FILES_MAX {
        let rule = format!("takes at most {FILES_MAX} files");
        return Err(Broken::new(field, rule));
    }
    for (at, file) in files.iter().enumerate() {
        let part = |name: &str| format!("{field}[{at}].{name}");
        line(&part("name"), file.name, FILE_NAME_MAX)?;
        if !is_mime(file.mime) {
            let rule = "takes a media type without parameters, such as image/png";
            return Err(Broken::new(part("mime"), rule));
        }
        if !(file.url.starts_with("data:") || file.url.starts_with("file:")) {
            let rule = "takes a `data:` or a `file:` address";
            return Err(Broken::new(part("url"), rule));
        }
    }
    let bytes: usize = files.iter().map(|file| file.url.len()).sum();
    if bytes > URLS_MAX {
        let rule = format!("takes at most {URLS_MAX} bytes of addresses, 20 MiB of content");
        return Err(Broken::new(field, rule));
    }
    Ok(())
}

pub(crate) fn line(field: &str, text: &str, most: usize) -> Result<(), Broken> {
    let counted = text.chars().take(most + 1).count();
    if (1..=most).contains(&counted) && !text.chars().any(char::is_control) {
        return Ok(());
    }
    let rule = format!("takes 1 to {most} characters, no control characters");
    Err(Broken::new(field, rule))
}

pub(crate) fn within(field: &str, number: u64, range: RangeInclusive<u64>) -> Result<u64, Broken> {
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = (range.start(), range.end());
    let rule = format!("takes a whole number from {least} to {most}");
    Err(Broken::new(field, rule))
}

/// `type/subtype`, of the characters that RFC 6838 allows.
fn is_mime(text: &str) -> bool {
    let is_half = |half: &str| {
        (1..=MIME_HALF_MAX).contains(&half.len())
            && half
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let halves = text.split_once('/');
    halves.is_some_and(|(kind, subtype)| is_half(kind) && is_half(subtype))
}
