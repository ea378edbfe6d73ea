//! Standard output and standard error.

use std::io::{self, Write};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::failure::{Exit, Failure, Stop};
use crate::page::Page;
use crate::text;

/// Lines that may wait for a slow reader; more of them and the writer of lines waits, too.
const LINES_WAITING_MAX: usize = 256;

/// How long the last lines may take to reach a slow reader.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The output of one command.
pub(crate) struct Output {
    json: bool,
}

impl Output {
    /// For people, or with `json` for programs.
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether programs read it.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Where lines for people go.
    pub(crate) fn page(&self) -> Page {
        Page::of_stdout()
    }

    /// Writes the result: the object for programs, the lines for people.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be written.
    pub(crate) fn result(
        &mut self,
        object: &impl Serialize,
        lines: impl FnOnce() -> Vec<String>,
    ) -> Result<(), Stop> {
        let text = if self.json {
            json_line(object)?
        } else {
            lines().join("\n")
        };
        self.line(&text)
    }

    /// Writes lines for people alone, where the object for programs is a failure's.
    ///
    /// # Errors
    /// [`Stop`] if they cannot be written.
    pub(crate) fn lines(&mut self, lines: &[String]) -> Result<(), Stop> {
        if self.json || lines.is_empty() {
            return Ok(());
        }
        self.line(&lines.join("\n"))
    }

    /// Tells people something that is neither result nor failure.
    pub(crate) fn remark(&mut self, message: &str) {
        // Where nobody reads the remarks, the result still counts.
        let _ = writeln!(io::stderr(), "{}", text::harmless(message));
    }

    /// Ends the command: tells a failure, and gives the exit code.
    pub(crate) fn end(&mut self, result: Result<Exit, Stop>) -> Exit {
        match result {
            Ok(exit) => exit,
            Err(Stop::OutputClosed) => Exit::Fine,
            Err(Stop::Failure(failure)) => {
                self.tell(&failure);
                failure.exit
            }
        }
    }

    fn tell(&mut self, failure: &Failure) {
        if self.json {
            let error = json!({ "code": failure.code, "message": failure.message });
            let mut object = json!({ "status": "error", "error": error });
            if let (Value::Object(object), Value::Object(details)) =
                (&mut object, failure.details.clone())
            {
                object.extend(details);
            }
            // There is no second place to tell it.
            let _ = json_line(&object).and_then(|text| self.line(&text));
            return;
        }
        let title = crate::words::of_code("error", failure.code);
        let message = text::one_line(&failure.message);
        let message = if message.is_empty() { &title } else { &message };
        self.remark(&say!("error.line", title = title, message = message));
        let hint = crate::words::here().code("hint", failure.code);
        if let Some(hint) = hint.filter(|hint| !has_advice(message, hint)) {
            self.remark(&say!("error.hint", hint = hint));
        }
    }

    fn line(&mut self, text: &str) -> Result<(), Stop> {
        // It takes colours out again where they do not belong.
        let mut stdout = anstream::stdout().lock();
        writeln!(stdout, "{text}")
            .and_then(|()| stdout.flush())
            .map_err(|error| Stop::of_output(&error))
    }
}

/// Whether a message names a command, flag, variable or key of the hint already: then it says
/// what to do.
pub(crate) fn has_advice(message: &str, hint: &str) -> bool {
    const COMMAND: &str = "openchamber goal ";
    let verbs = hint.split(COMMAND).skip(1);
    let mut commands = verbs.filter_map(|rest| rest.split_whitespace().next());
    let mut names = hint
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
        .filter(|word| word.starts_with("--") || word.contains('_'));
    commands.any(|verb| message.contains(&format!("{COMMAND}{verb}")))
        || names.any(|name| message.contains(name))
}

/// A value as JSON in one line, in which nothing can steer a terminal.
///
/// # Errors
/// [`Stop`] for a value that is no JSON; ours all are.
pub(crate) fn json_line(value: &impl Serialize) -> Result<String, Stop> {
    let plain = serde_json::to_string(value).map_err(|error| {
        let error = io::Error::other(error);
        Stop::Failure(Failure::output(&error))
    })?;
    let mut line = String::with_capacity(plain.len());
    for character in plain.chars() {
        // Outside of strings JSON is ASCII, so an escape is right wherever one of these stands.
        if text::is_harmful(character) {
            line.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            line.push(character);
        }
    }
    Ok(line)
}

/// Writes lines as they come, each at once, from a thread of its own: a reader that is slow holds
/// up nothing but the lines.
pub(crate) struct Printer {
    /// `None` once it ended.
    running: Option<Running>,
}

struct Running {
    lines: mpsc::Sender<String>,
    thread: JoinHandle<io::Result<()>>,
}

impl Printer {
    /// Prints to standard output.
    pub(crate) fn to_stdout() -> Self {
        Self::start(anstream::stdout())
    }

    fn start(mut to: impl Write + Send + 'static) -> Self {
        let (lines, mut waiting) = mpsc::channel::<String>(LINES_WAITING_MAX);
        let thread = std::thread::spawn(move || {
            while let Some(line) = waiting.blocking_recv() {
                writeln!(to, "{line}")?;
                to.flush()?;
            }
            Ok(())
        });
        Self {
            running: Some(Running { lines, thread }),
        }
    }

    /// Prints a line; waits while [`LINES_WAITING_MAX`] lines are not printed yet.
    ///
    /// # Errors
    /// [`Stop`] if lines before it could not be written.
    pub(crate) async fn line(&mut self, line: String) -> Result<(), Stop> {
        let Some(running) = &self.running else {
            return Err(Stop::OutputClosed);
        };
        match running.lines.send(line).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.why_ended().unwrap_or(Stop::OutputClosed)),
        }
    }

    /// Waits until lines cannot be written any more. Cancel-safe.
    pub(crate) async fn ended(&mut self) -> Stop {
        if let Some(running) = &self.running {
            running.lines.closed().await;
        }
        self.why_ended().unwrap_or(Stop::OutputClosed)
    }

    /// Waits a short while until everything is printed.
    ///
    /// # Errors
    /// [`Stop`] if something could not be written.
    pub(crate) async fn finish(mut self) -> Result<(), Stop> {
        let Some(Running { lines, thread }) = self.running.take() else {
            return Ok(());
        };
        drop(lines);
        let joined = tokio::task::spawn_blocking(move || thread.join());
        match tokio::time::timeout(LAST_LINES, joined).await {
            Ok(Ok(Ok(Err(error)))) => Err(Stop::of_output(&error)),
            // A thread that panicked or a reader that does not read: nothing is left to tell.
            Ok(Ok(Ok(Ok(())) | Err(_)) | Err(_)) | Err(_) => Ok(()),
        }
    }

    /// The thread ends by itself only after a failed write, so this does not wait.
    fn why_ended(&mut self) -> Option<Stop> {
        let running = self.running.take()?;
        let error = running.thread.join().ok()?.err()?;
        Some(Stop::of_output(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Sink {
        written: Arc<Mutex<Vec<u8>>>,
        error: Option<io::ErrorKind>,
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(kind) = self.error {
                return Err(kind.into());
            }
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_carries_no_control_character() {
        let value = json!({ "note": "a\u{1b}[31m\u{9b}31m\u{202e}\n\"é" });
        let line = json_line(&value).unwrap();
        assert!(!line.chars().any(|c| c.is_control() || text::is_harmful(c)));
        let back: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(back, value);
    }

    #[test]
    fn advice_is_given_once() {
        let message = "no goal. Start one with: openchamber goal start";
        assert!(has_advice(message, "openchamber goal start <session> --x"));
        assert!(!has_advice(message, "openchamber goal show <session>"));
        assert!(has_advice("use --replace.", "or: --replace"));
        assert!(!has_advice("use --token-budget 5", "or: --no-token-budget"));
        assert!(has_advice("set A_B to it", "A_B=… helps"));
        assert!(!has_advice("a message", ""));
    }

    #[tokio::test]
    async fn every_line_is_printed_before_the_end() {
        let sink = Sink::default();
        let mut printer = Printer::start(sink.clone());
        for line in ["one", "two"] {
            printer.line(line.to_owned()).await.unwrap();
        }
        printer.finish().await.unwrap();
        assert_eq!(*sink.written.lock().unwrap(), b"one\ntwo\n");
    }

    #[tokio::test]
    async fn a_closed_output_is_told_apart_from_a_failed_one() {
        let cases = [
            (io::ErrorKind::BrokenPipe, "closed"),
            (io::ErrorKind::StorageFull, "output"),
        ];
        for (kind, expected) in cases {
            let mut printer = Printer::start(Sink {
                error: Some(kind),
                ..Sink::default()
            });
            let stop = loop {
                if let Err(stop) = printer.line("lost".to_owned()).await {
                    break stop;
                }
                tokio::task::yield_now().await;
            };
            let told = match stop {
                Stop::OutputClosed => "closed",
                Stop::Failure(failure) => failure.code,
            };
            assert_eq!(told, expected);
            assert_eq!(
                printer.line("more".to_owned()).await,
                Err(Stop::OutputClosed)
            );
        }
    }
}
