//! The demo as `cargo xtask demo` starts it, in the terminal and in the window: played to its end,
//! and stopped in the middle.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
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

/// Colours of a page with text on it: smooth letters have many, an empty window has one.
#[cfg(target_os = "linux")]
const COLOURS_MIN: usize = 64;

/// How long the demo may take to clear everything away.
const END_MAX: Duration = Duration::from_secs(20);

#[tokio::test]
async fn the_goal_is_reached_and_nothing_is_left() {
    let temporary = tempfile::tempdir().unwrap();
    let shown = played(start(&temporary, &["headless"])).await;
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
    let child = start(&temporary, &["headless"]);
    stopped_in_the_middle(child, temporary.path()).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_app_reaches_the_goal_in_its_window_and_nothing_is_left() {
    let (temporary, pictures) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let shown = played(start(&temporary, &in_window(&pictures))).await;
    in_order(
        &shown,
        &[
            "you press \"Make the next message a goal\"",
            "you set a token budget",
            "you press \"Send\"",
            "agent runs node --test: 4 passed, 2 failed (exit code 1)",
            "goal verdict: go on",
            "goal continuing  continuation 1 of",
            "agent runs node --test: 6 passed, 0 failed (exit code 0)",
            "goal verdict: go on",
            "goal continuing  continuation 2 of",
            "agent writes README.md",
            "goal verdict: complete",
            "goal complete  verified by audit",
            "desktop notification: Goal complete",
            "2 continuations · 3 audits",
            "test/csv.test.js |",
            "node --test: 6 passed, 0 failed",
            "4-complete.png",
            "Nothing is left running",
        ],
    );
    let names = ["1-armed", "2-working", "3-continued", "4-complete"];
    let kept = names.map(|name| picture(&pictures.path().join(format!("{name}.png"))));
    for (name, picture) in names.iter().zip(&kept) {
        assert_eq!((picture.width, picture.height), (1_280, 820), "{name}");
        let colours = picture.colours();
        assert!(colours >= COLOURS_MIN, "{name} has {colours} colours");
    }
    for (one, other) in kept.iter().zip(&kept[1..]) {
        assert!(one.dots != other.dots, "two pictures are the same");
    }
    assert_nothing_left(temporary.path());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn ctrl_c_in_the_middle_of_the_window_leaves_nothing() {
    let (temporary, pictures) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let child = start(&temporary, &in_window(&pictures));
    stopped_in_the_middle(child, temporary.path()).await;
}

#[tokio::test]
async fn a_place_that_is_none_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let output = start(&temporary, &["upstairs"]).wait_with_output().await;
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("upstairs"), "{errors}");
}

/// What a play that goes well prints.
async fn played(child: Child) -> String {
    let output = timeout(PLAY_MAX, child.wait_with_output()).await;
    let output = output.unwrap().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), errors.as_str()),
        (Some(0), ""),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "no colours in a pipe: {shown}");
    shown
}

/// Sends the signal of Ctrl-C when the agent works.
async fn stopped_in_the_middle(mut child: Child, temporary: &Path) {
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
    let (last, status) = timeout(END_MAX, rest).await.unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(last.starts_with("Nothing is left running"), "{last}");
    assert_nothing_left(temporary);
}

/// On a display that nobody sees.
#[cfg(target_os = "linux")]
fn in_window(pictures: &TempDir) -> [&str; 2] {
    ["virtual", pictures.path().to_str().unwrap()]
}

fn start(temporary: &TempDir, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(words)
        // Nobody has to follow it.
        .env("OPENCHAMBER_DEMO_BEAT_MS", "100")
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

/// A picture, dot by dot.
#[cfg(target_os = "linux")]
struct Picture {
    width: u32,
    height: u32,
    /// The colour of each, as the file has it.
    dots: Vec<u32>,
}

#[cfg(target_os = "linux")]
impl Picture {
    fn colours(&self) -> usize {
        self.dots.iter().collect::<BTreeSet<_>>().len()
    }
}

#[cfg(target_os = "linux")]
fn picture(path: &Path) -> Picture {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    let samples = frame.color_type.samples();
    let colour = |dot: &[u8]| {
        dot.iter()
            .fold(0, |all, part| (all << 8) | u32::from(*part))
    };
    Picture {
        width: frame.width,
        height: frame.height,
        dots: bytes.chunks(samples).map(colour).collect(),
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
