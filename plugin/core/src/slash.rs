//! Slash commands: the one parser for an invocation, and the text that it stands for (§5.8, X25).

use crate::text::trim_text;

/// A text of the form `/name arguments`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invocation<'t> {
    /// The command's name: everything up to the first white space, without the slash.
    pub name: &'t str,
    /// Everything behind it, over all lines, without outer white space.
    pub arguments: &'t str,
}

impl<'t> Invocation<'t> {
    /// Reads `text` as an invocation. `None` where it does not begin with a slash and a name.
    #[must_use]
    pub fn parse(text: &'t str) -> Option<Self> {
        let line = text.strip_prefix('/')?;
        let name_end = line.find(char::is_whitespace).unwrap_or(line.len());
        let (name, arguments) = line.split_at(name_end);
        (!name.is_empty()).then(|| Self {
            name,
            arguments: trim_text(arguments),
        })
    }
}

/// The objective that an armed text stands for: a command's template with the arguments put in.
///
/// A text that is no invocation, one whose template is unavailable or blank, and one of which
/// nothing is left once the arguments are in, stands for itself.
#[must_use]
pub fn objective_for(text: &str, template: Option<&str>) -> String {
    match (Invocation::parse(text), template) {
        (Some(invocation), Some(template)) => {
            let expanded = match trim_text(template).is_empty() {
                true => String::new(),
                false => expand(template, invocation.arguments),
            };
            match trim_text(&expanded).is_empty() {
                true => text.to_owned(),
                false => expanded,
            }
        }
        (Some(_) | None, Some(_) | None) => text.to_owned(),
    }
}

/// Puts `arguments` into a command's template, in one pass: what was inserted is not expanded
/// again.
///
/// `$ARGUMENTS` stands for the raw text, `$1` and so on for single arguments. Arguments are
/// separated by white space; double or single quotes around one hold it together and are dropped.
/// The highest number takes its argument and all that follow, joined by a space; a number without
/// an argument is empty. A template without placeholders is followed by a blank line and the
/// arguments, where there are any.
#[must_use]
pub fn expand(template: &str, arguments: &str) -> String {
    let pieces = pieces(template);
    let highest = pieces.iter().filter_map(Piece::number).max();
    let placeholder = |piece: &Piece<'_>| !matches!(piece, Piece::Text(_));
    if !pieces.iter().any(placeholder) {
        return with_suffix(template, arguments);
    }
    let tokens = tokens(arguments);
    let mut expanded = String::with_capacity(template.len() + arguments.len());
    for piece in pieces {
        match piece {
            Piece::Text(text) => expanded.push_str(text),
            Piece::All => expanded.push_str(arguments),
            Piece::Number(number) => {
                let from = tokens.get(number - 1..).unwrap_or_default();
                let taken = if Some(number) == highest {
                    from.len()
                } else {
                    1
                };
                expanded.push_str(&from[..taken.min(from.len())].join(" "));
            }
        }
    }
    expanded
}

enum Piece<'t> {
    Text(&'t str),
    /// `$ARGUMENTS`.
    All,
    /// `$1` and up.
    Number(usize),
}

impl Piece<'_> {
    const fn number(&self) -> Option<usize> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::All => None,
        }
    }
}

fn with_suffix(template: &str, arguments: &str) -> String {
    if trim_text(arguments).is_empty() {
        return template.to_owned();
    }
    format!("{}\n\n{arguments}", template.trim_end())
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let mut searched = 0;
    while let Some(offset) = rest[searched..].find('$') {
        let dollar = searched + offset;
        let (text, from_dollar) = rest.split_at(dollar);
        match placeholder_at_start(from_dollar) {
            Some((piece, length)) => {
                pieces.push(Piece::Text(text));
                pieces.push(piece);
                rest = &from_dollar[length..];
                searched = 0;
            }
            None => searched = dollar + 1,
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// `$0` is no placeholder: arguments are counted from 1.
fn placeholder_at_start(text: &str) -> Option<(Piece<'_>, usize)> {
    const ALL: &str = "$ARGUMENTS";
    if text.starts_with(ALL) {
        return Some((Piece::All, ALL.len()));
    }
    let digits = text.strip_prefix('$')?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let digits = digits.get(..count).filter(|digits| !digits.is_empty())?;
    // A number too large to count to has no argument, and is still the highest.
    let number = digits.parse().unwrap_or(usize::MAX);
    (number > 0).then_some((Piece::Number(number), count + 1))
}

/// A double quote with a partner holds an argument together wherever it stands, a single quote
/// only at the beginning of an argument: `don't` and `user's` are words. A quote without a
/// partner is a character like any other.
fn tokens(arguments: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = arguments.trim_start();
    while !rest.is_empty() {
        let (token, after) = next_token(rest);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

fn next_token(text: &str) -> (&str, &str) {
    if let Some(quoted) = quoted(text, '"').or_else(|| quoted(text, '\'')) {
        return quoted;
    }
    let mut end = text.len();
    for (at, character) in text.char_indices().skip(1) {
        let opens = character == '"' && quoted(&text[at..], '"').is_some();
        if character.is_whitespace() || opens {
            end = at;
            break;
        }
    }
    text.split_at(end)
}

fn quoted(text: &str, quote: char) -> Option<(&str, &str)> {
    text.strip_prefix(quote)?.split_once(quote)
}
