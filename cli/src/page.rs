//! Where lines go: on a terminal they have colours and are wrapped at words, elsewhere each is
//! one plain line.

use std::io;

use anstyle::{AnsiColor, Style};

use crate::text;

/// Columns that wrapped text takes at least; where fewer are left, it begins on a line of its own.
const TEXT_COLUMNS_MIN: usize = 24;

/// A terminal that says it is narrower is taken to be so wide: nothing could be read on it.
const TERMINAL_COLUMNS_MIN: usize = 40;

/// The most columns of a session's title.
const NAME_COLUMNS_MAX: usize = 32;

/// Columns of a fact that is better not cut in two.
const FACT_COLUMNS_MAX: usize = 24;

/// What stands between two facts.
pub(crate) const SEPARATOR: &str = " · ";

/// The indent of text that begins on a line of its own.
const INDENT: usize = 4;

/// What a piece of text says by its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing.
    Plain,
    /// It is there to be looked up, not to be read.
    Faint,
    /// Well done.
    Good,
    /// Not done yet, or it waits for somebody.
    Caution,
    /// It ended badly.
    Bad,
}

/// Where lines go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    width: Width,
    colour: bool,
}

#[derive(Clone, Copy, Debug)]
enum Width {
    /// As long as it takes: a pipe or a file.
    Any,
    /// As wide as the terminal is at that moment.
    Terminal,
    #[cfg(test)]
    Columns(usize),
}

impl Page {
    /// Standard output. `NO_COLOR` and a terminal that knows no colours are obeyed.
    pub(crate) fn of_stdout() -> Self {
        let colour = anstream::stdout().current_choice() != anstream::ColorChoice::Never;
        let width = match columns() {
            Some(_) => Width::Terminal,
            None => Width::Any,
        };
        Self { width, colour }
    }

    /// A pipe.
    #[cfg(test)]
    pub(crate) const PIPE: Self = Self {
        width: Width::Any,
        colour: false,
    };

    /// A terminal of so many columns.
    #[cfg(test)]
    pub(crate) fn terminal(columns: usize, colour: bool) -> Self {
        let width = Width::Columns(columns);
        Self { width, colour }
    }

    /// How wide it is; `None` if lines may be of any length.
    pub(crate) fn columns(self) -> Option<usize> {
        let columns = match self.width {
            Width::Any => None,
            Width::Terminal => columns(),
            #[cfg(test)]
            Width::Columns(columns) => Some(columns),
        };
        columns.map(|columns| columns.max(TERMINAL_COLUMNS_MIN))
    }

    /// The most columns that a session's title takes in a line: a quarter of a narrow terminal.
    pub(crate) fn name_columns_max(self) -> usize {
        let quarter = self.columns().map(|columns| columns / 4);
        quarter.unwrap_or(NAME_COLUMNS_MAX).min(NAME_COLUMNS_MAX)
    }

    /// `text` in the colour of its tone.
    pub(crate) fn paint(self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Caution => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
        };
        if self.colour && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// `text` in its tone, and blanks up to `columns`. Longer text is not cut.
    pub(crate) fn cell(self, text: &str, columns: usize, tone: Tone) -> String {
        let missing = columns.saturating_sub(text::width(text));
        format!("{}{}", self.paint(text, tone), " ".repeat(missing))
    }

    /// `head`, which takes `columns`, and `text` behind it; on a terminal the lines that `text`
    /// takes more stand below its first one.
    pub(crate) fn hang(self, head: &str, columns: usize, text: &str) -> String {
        let whole = || format!("{head}{text}").trim_end().to_owned();
        let Some(all) = self.columns() else {
            return whole();
        };
        if columns + text::width(text) <= all {
            return whole();
        }
        let left = all.saturating_sub(columns);
        if left >= TEXT_COLUMNS_MIN {
            let indent = format!("\n{}", " ".repeat(columns));
            return format!("{head}{}", wrapped(text, left).join(&indent));
        }
        let indent = format!("\n{}", " ".repeat(INDENT));
        let lines = wrapped(text, all - INDENT);
        format!("{}{indent}{}", head.trim_end(), lines.join(&indent))
    }
}

/// `text` in lines of at most `columns`, cut at blanks and rather between facts than within a
/// short one; a longer word is cut where the line ends.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    // No other text has such a blank: `one_line` makes plain ones of all.
    const TIED: &str = "\u{a0}";
    let facts = text.split(SEPARATOR).map(|fact| {
        if text::width(fact) <= columns.min(FACT_COLUMNS_MAX) {
            fact.replace(' ', TIED)
        } else {
            fact.to_owned()
        }
    });
    let facts: Vec<String> = facts.collect();
    // A line may end in a separator, and does not begin with one.
    let text = facts.join(&SEPARATOR.replacen(' ', TIED, 1));
    let options = textwrap::Options::new(columns)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(&text, options);
    lines.iter().map(|line| line.replace(TIED, " ")).collect()
}

fn columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(columns))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const FACTS: &str = "all tests pass · 12K of 200K tokens · 2 continuations";

    #[test]
    fn a_pipe_gets_one_plain_line() {
        let shown = Page::PIPE.hang("head  ", 6, FACTS);
        assert_eq!(shown, format!("head  {FACTS}"));
        assert_eq!(Page::PIPE.paint("x", Tone::Bad), "x");
        assert_eq!(Page::PIPE.hang("head  ", 6, ""), "head");
    }

    #[test]
    fn a_terminal_gets_lines_that_hang_below_the_first() {
        let shown = Page::terminal(40, /*colour*/ false).hang("head  ", 6, FACTS);
        let expected = "head  all tests pass ·\n      12K of 200K tokens ·\n      2 continuations";
        assert_eq!(shown, expected);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_lost() {
        let long = "x".repeat(90);
        let text = format!("日本語の題名 {long} · {FACTS}");
        for columns in 40..130 {
            let page = Page::terminal(columns, /*colour*/ false);
            for head in ["", "head  ", "a head that leaves hardly any room  "] {
                let shown = page.hang(head, text::width(head), &text);
                for line in shown.lines() {
                    assert!(text::width(line) <= columns, "{columns}: {line:?}");
                }
                let letters = |text: &str| -> String {
                    text.chars().filter(|c| !c.is_whitespace()).collect()
                };
                assert_eq!(letters(&shown), letters(&format!("{head}{text}")));
            }
        }
    }

    #[test]
    fn colours_end_where_their_text_ends_and_take_no_columns() {
        let page = Page::terminal(80, /*colour*/ true);
        let cell = page.cell("done", 6, Tone::Good);
        assert_eq!(cell, "\u{1b}[32mdone\u{1b}[0m  ");
        assert_eq!(page.cell("done", 6, Tone::Plain), "done  ");
        assert_eq!(page.paint("", Tone::Bad), "");
    }
}
