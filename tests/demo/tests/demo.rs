//! The demo as `cargo xtask demo` starts it: played to its end, and stopped in the middle.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// What the README promises, so a slow machine has it, too.
const PLAY_MAX: Duration = Duration::from_secs(120);

/// How long the demo may take to clear everything away.
const END_MAX: Duration = Duration::from_secs(20);

#[tokio::test]
async fn the_goal_is_reached_and_nothing_is_left() {
    let temporary = tempfile::tempdir().unwrap();
    let child = start(&temporary);
    let output = timeout(PLAY_MAX, child.wait_with_output()).await;
    let output = output.expect("the play ends in time").unwrap();

    let shown = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), errors.as_str()),
        (Some(0), ""),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "no colours in a pipe: {shown}");
    in_order(
        &shown,
        &[
            "agent runs node --test: 4 passed, 2 failed (exit code 1)",
            "verdict: go on",
            "continuation 1 of",
            "agent runs node --test: 6 passed, 0 failed (exit code 0)",
            "verdict: go on",
            "continuation 2 of",
            "agent writes README.md",
            "verdict: complete",
            "verified by the audit",
            "test/csv.test.js |",
            "node --test: 6 passed, 0 failed",
            "Nothing is left running",
        ],
    );
    assert_nothing_left(temporary.path());
}

#[tokio::test]
async fn ctrl_c_in_the_middle_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = start(&temporary);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let middle = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains("agent writes") {
                return true;
            }
        }
        false
    };
    assert!(timeout(PLAY_MAX, middle).await.unwrap(), "the play began");

    let pid = i32::try_from(child.id().unwrap()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    let rest = async {
        let mut last = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            last = line;
        }
        (last, child.wait().await.unwrap())
    };
    let (last, status) = timeout(END_MAX, rest).await.expect("it ends soon");
    assert_eq!(status.code(), Some(130));
    assert!(last.starts_with("Nothing is left running"), "{last}");
    assert_nothing_left(temporary.path());
}

fn start(temporary: &TempDir) -> Child {
    Command::new(env!("CARGO_BIN_EXE_demo"))
        // Where the scratch home will lie.
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// Each of `expected` stands in `text`, after the one before it.
fn in_order(text: &str, expected: &[&str]) {
    let mut rest = text;
    for words in expected {
        let (_, after) = rest
            .split_once(words)
            .unwrap_or_else(|| panic!("`{words}` is missing or too early in:\n{text}"));
        rest = after;
    }
}

fn assert_nothing_left(temporary: &Path) {
    let files: Vec<_> = std::fs::read_dir(temporary)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files, Vec::<std::path::PathBuf>::new());
    assert_eq!(processes_of(temporary), Vec::<String>::new());
}

/// The command lines of the processes whose home lies in `folder`.
fn processes_of(folder: &Path) -> Vec<String> {
    let wanted = format!("HOME={}", folder.display());
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let processes = processes.filter_map(|entry| Some(entry.ok()?.path()));
    let ours = processes.filter(|process| {
        let variables = std::fs::read(process.join("environ")).unwrap_or_default();
        let mut variables = variables.split(|byte| *byte == 0);
        variables.any(|variable| variable.starts_with(wanted.as_bytes()))
    });
    ours.map(|process| std::fs::read_to_string(process.join("cmdline")).unwrap_or_default())
        .collect()
}
