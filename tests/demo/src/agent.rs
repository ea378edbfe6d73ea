//! What the agent did, read from the session's messages on the server.

use std::collections::BTreeSet;

use serde_json::Value;

/// Longest error of a tool that is shown, in characters.
const ERROR_CHARS_MAX: usize = 100;

/// Remembers which parts of the messages were told already.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    told: BTreeSet<String>,
    /// Reports among them.
    reports: usize,
}

/// How a run of `node --test` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u32,
    /// Tests that failed.
    pub(crate) failed: u32,
}

impl Agent {
    /// What is new and finished in `messages`, oldest first; a report has several lines.
    pub(crate) fn news(&mut self, messages: &[Value]) -> Vec<String> {
        let mut news = Vec::new();
        let answers = messages
            .iter()
            .filter(|message| message["info"]["role"] == "assistant");
        for part in answers.filter_map(|message| message["parts"].as_array()) {
            for part in part {
                news.extend(self.part(part));
            }
        }
        news
    }

    /// Reports told so far: one for each finished turn.
    pub(crate) fn reports(&self) -> usize {
        self.reports
    }

    fn part(&mut self, part: &Value) -> Option<String> {
        let id = part["id"].as_str().unwrap_or_default();
        if self.told.contains(id) {
            return None;
        }
        let news = match part["type"].as_str() {
            Some("tool") => tool(part)?,
            Some("text") if part["time"]["end"].is_number() => {
                self.reports += 1;
                report(part["text"].as_str().unwrap_or_default())
            }
            Some(_) | None => return None,
        };
        self.told.insert(id.to_owned());
        Some(news)
    }
}

/// How the tests in this output of `node --test` ended, whatever the reporter; `None` if the
/// output ends without a summary.
pub(crate) fn tally(output: &str) -> Option<Tally> {
    let count = |name: &str| {
        let mut counts = output.lines().filter_map(|line| {
            let line = line.trim_start_matches(['#', 'ℹ']).trim();
            line.strip_prefix(name)?.trim().parse().ok()
        });
        counts.next_back()
    };
    Some(Tally {
        passed: count("pass ")?,
        failed: count("fail ")?,
    })
}

impl std::fmt::Display for Tally {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { passed, failed } = self;
        write!(formatter, "{passed} passed, {failed} failed")
    }
}

/// The line for a tool call that has ended.
fn tool(part: &Value) -> Option<String> {
    let state = &part["state"];
    let tool = part["tool"].as_str().unwrap_or("?");
    if state["status"] == "error" {
        let error = state["error"].as_str().unwrap_or("no reason given");
        let error: String = error.chars().take(ERROR_CHARS_MAX).collect();
        return Some(format!("{tool} fails: {}", one_line(&error)));
    }
    if state["status"] != "completed" {
        return None;
    }
    let file = || {
        let path = state["input"]["filePath"].as_str().unwrap_or_default();
        path.split_once("/project/").map_or(path, |(_, file)| file)
    };
    Some(match tool {
        "read" => format!("reads {}", file()),
        "write" => format!("writes {}", file()),
        "edit" => format!("edits {}", file()),
        "bash" => run(state),
        other => format!("uses {other}"),
    })
}

fn run(state: &Value) -> String {
    let command = one_line(state["input"]["command"].as_str().unwrap_or_default());
    let output = state["output"].as_str().unwrap_or_default();
    let end = match (tally(output), state["metadata"]["exit"].as_i64()) {
        (Some(tally), Some(code)) => format!("{tally} (exit code {code})"),
        (None, Some(code)) => format!("exit code {code}"),
        (Some(tally), None) => tally.to_string(),
        (None, None) => "no exit code".to_owned(),
    };
    format!("runs {command}: {end}")
}

/// A report, its later lines set below the first.
fn report(text: &str) -> String {
    const SAYS: &str = "says ";
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(one_line).collect();
    let below = format!("\n{}", " ".repeat(SAYS.len()));
    format!("{SAYS}{}", lines.join(&below))
}

/// Text in one line, without what could steer a terminal.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|character| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    });
    plain.collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_finished_part_is_told_once() {
        let mut agent = Agent::default();
        let reading = json!({ "filePath": "/tmp/goal-1/project/src/csv.js" });
        let mut call = json!({
            "id": "prt_1", "type": "tool", "tool": "read",
            "state": { "status": "running", "input": reading },
        });
        assert_eq!(agent.news(&answer(&[call.clone()])), Vec::<String>::new());

        call["state"]["status"] = json!("completed");
        let said = json!({
            "id": "prt_2", "type": "text", "text": "Done: a.\n\nVerified: b.", "time": { "end": 1 },
        });
        let messages = answer(&[call, said]);
        let expected = ["reads src/csv.js", "says Done: a.\n     Verified: b."];
        assert_eq!(agent.news(&messages), expected);
        assert_eq!(agent.reports(), 1);
        assert_eq!(agent.news(&messages), Vec::<String>::new());
    }

    #[test]
    fn text_that_is_still_being_written_waits() {
        let mut agent = Agent::default();
        let part = json!({ "id": "prt_1", "type": "text", "text": "", "time": { "start": 1 } });
        assert_eq!(agent.news(&answer(&[part])), Vec::<String>::new());
        assert_eq!(agent.reports(), 0);
    }

    #[test]
    fn a_run_shows_how_it_ended() {
        let state = json!({
            "input": { "command": "node --test" },
            "output": "# tests 6\n# pass 4\n# fail 2\n# skipped 0\n",
            "metadata": { "exit": 1 },
        });
        assert_eq!(
            run(&state),
            "runs node --test: 4 passed, 2 failed (exit code 1)"
        );
    }

    #[test]
    fn a_failed_tool_says_why() {
        let part = json!({
            "tool": "edit", "state": { "status": "error", "error": "oldString\nnot found" },
        });
        assert_eq!(
            tool(&part).as_deref(),
            Some("edit fails: oldString not found")
        );
    }

    #[test]
    fn both_reporters_of_node_are_counted() {
        let expected = Some(Tally {
            passed: 6,
            failed: 0,
        });
        assert_eq!(tally("ok 1 - pass 9\n# pass 6\n# fail 0"), expected);
        assert_eq!(tally("ℹ tests 6\nℹ pass 6\nℹ fail 0"), expected);
        assert_eq!(tally("node: bad option"), None);
    }

    fn answer(parts: &[Value]) -> Vec<Value> {
        let question = json!({
            "info": { "role": "user" },
            "parts": [{ "id": "prt_0", "type": "text", "text": "do", "time": { "end": 1 } }],
        });
        vec![
            question,
            json!({ "info": { "role": "assistant" }, "parts": parts }),
        ]
    }
}
