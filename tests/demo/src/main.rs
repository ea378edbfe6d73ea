//! `cargo xtask demo`: a goal is pursued on the real OpenCode server, from start to end.
//!
//! ```text
//! demo ──► WebKitWebDriver ──► openchamber-desktop ───────────► OpenCode (real, scratch home)
//!   ├───── or openchamber goal start · serve · watch · show ───────────┤
//!   └── opens the gates of the script ──► ScriptedModel ◄──────────────┘
//! ```
//!
//! Reading order: [`play`] is what happens, [`project`] what the agent works on, [`window`] shows
//! it in the app's window, [`headless`] in the terminal alone, on [`stage`]; [`conduct`] leads
//! through it, [`agent`] tells what the agent does, [`result`] checks the end. The binary expects
//! `openchamber-desktop` or the `openchamber` command beside itself, as `cargo build` puts them
//! there; xtask tells it by one word where to play.

mod agent;
mod conduct;
mod headless;
mod play;
mod project;
mod result;
mod serve;
mod signals;
mod stage;
mod tell;
mod trouble;
#[cfg(target_os = "linux")]
mod window;

use std::process::ExitCode;

use crate::signals::Signals;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// Exit code after Ctrl-C, as shells give it.
const EXIT_INTERRUPTED: u8 = 130;

const INTRO: &str = "\
The OpenCode server is the real one from npm: its tools, the files, the tests
and the goal are real. The model is a script, so no key and no money is needed.

Watch an agent that stops too early, twice. Each time an auditor looks at what
was done, and the agent is sent on, until the goal is verified.";

#[tokio::main]
async fn main() -> ExitCode {
    let tell = Tell::to_stdout();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match Signals::listen() {
        Ok(signals) => demo(&words, &tell, signals).await,
        Err(error) => Err(Trouble::failed(format!(
            "the system lets nobody listen for Ctrl-C: {error}"
        ))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            tell.trouble(&trouble);
            match trouble {
                Trouble::Interrupted => ExitCode::from(EXIT_INTERRUPTED),
                Trouble::Failed(_) => ExitCode::FAILURE,
            }
        }
    }
}

/// Plays where the words say: `headless`, or with a folder for the pictures in the window, on a
/// `virtual` display, on the person's own `display`, or there until it is closed (`stay`).
async fn demo(words: &[String], tell: &Tell, signals: Signals) -> Result<(), Trouble> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["headless"] => headless::demo(tell, signals).await,
        #[cfg(target_os = "linux")]
        [place, pictures] => {
            let place = window::Place::of(place).ok_or_else(|| unknown(&words))?;
            window::demo(tell, signals, place, pictures.as_ref()).await
        }
        _ => Err(unknown(&words)),
    }
}

fn unknown(words: &[&str]) -> Trouble {
    Trouble::failed(format!(
        "`{}` is no place to play; start the demo by `cargo xtask demo`",
        words.join(" ")
    ))
}

/// Says that everything is cleared away. If it is not, what went wrong `before` is told, too.
fn cleared(
    outcome: Result<(), Trouble>,
    before: &Result<(), Trouble>,
    tell: &Tell,
) -> Result<(), Trouble> {
    if let Err(left) = outcome {
        if let Err(before) = before {
            tell.trouble(before);
        }
        return Err(left);
    }
    tell.heading("Nothing is left running, and the scratch folder is removed.");
    Ok(())
}
