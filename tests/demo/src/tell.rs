//! What the demo itself prints. Lines are at most 80 columns wide, except what a person would type.

use std::io::{IsTerminal as _, Write as _};

use jiff::Zoned;

use crate::trouble::Trouble;

const BOLD: &str = "1";
const DIM: &str = "2";
const CYAN: &str = "36";

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
        let time = Zoned::now().strftime("%H:%M:%S").to_string();
        for (index, line) in text.lines().enumerate() {
            let before = if index == 0 {
                format!("{time}      agent ")
            } else {
                " ".repeat("HH:MM:SS      agent ".len())
            };
            self.line(&self.dyed(DIM, &format!("{before}{line}")));
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
