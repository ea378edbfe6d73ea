//! What the demo itself prints. Lines are at most 80 columns wide, except what a person would type.

use std::io::{IsTerminal as _, Write as _};

use jiff::Zoned;

use crate::trouble::Trouble;

const BOLD: &str = "1";
const DIM: &str = "2";
const CYAN: &str = "36";
const PLAIN: &str = "0";

/// How wide lines are.
const COLUMNS: usize = 80;

/// Columns before what is told with its time: `HH:MM:SS      agent `.
const TIMED_COLUMNS: usize = 20;

/// Prints to standard output, with colours where a person looks at it.
pub(crate) struct Tell {
    colours: bool,
}

impl Tell {
    /// Colours for a terminal, unless the variable `NO_COLOR` is set.
    pub(crate) fn to_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            colours: std::io::stdout().is_terminal() && !unwanted,
        }
    }

    /// A line as it is.
    pub(crate) fn line(&self, text: &str) {
        // Where nobody reads any more, the play still has to be cleared away.
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    /// An empty line, then a line that stands out.
    pub(crate) fn heading(&self, text: &str) {
        self.line(&format!("\n{}", self.dyed(BOLD, text)));
    }

    /// An empty line, then a command that is about to run.
    pub(crate) fn command(&self, text: &str) {
        self.line(&format!("\n{}", self.dyed(CYAN, &format!("$ {text}"))));
    }

    /// Something the agent has just done, set below the lines of the timeline.
    pub(crate) fn agent(&self, text: &str) {
        self.timed("agent", DIM, text.lines());
    }

    /// Something that `who` has just done or that has just happened to it.
    pub(crate) fn of(&self, who: &str, text: &str) {
        let lines = wrapped(text, COLUMNS - TIMED_COLUMNS);
        self.timed(who, PLAIN, lines.iter().map(String::as_str));
    }

    fn timed<'a>(&self, who: &str, colour: &str, lines: impl Iterator<Item = &'a str>) {
        let time = Zoned::now().strftime("%H:%M:%S").to_string();
        for (index, line) in lines.enumerate() {
            let before = if index == 0 {
                format!("{time}{who:>11} ")
            } else {
                " ".repeat(TIMED_COLUMNS)
            };
            self.line(&self.dyed(colour, &format!("{before}{line}")));
        }
    }

    /// What went wrong, on standard error.
    pub(crate) fn trouble(&self, trouble: &Trouble) {
        // There is no other place to tell it; the exit code does.
        let _ = writeln!(std::io::stderr(), "\ndemo: {trouble}");
    }

    fn dyed(&self, colour: &str, text: &str) -> String {
        if self.colours {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// `text` in lines of at most so many columns, broken between words. A longer word stays whole.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("much-too-long a", 4), ["much-too-long", "a"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
