//! Every bench runs to its end, at a hundredth of its size. What it measures then says nothing.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failed set-up fails the test"
)]

use std::process::Command;

fn table_of(letters: &[&str]) -> String {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = bench.arg("--quick").args(letters).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn the_figure_of_a_cycle_is_told_with_target_and_verdict() {
    let table = table_of(&["a"]);
    assert!(table.contains("17.0"), "calls of a cycle:\n{table}");
    assert!(table.contains("at most 2x"), "{table}");
}

#[test]
fn figures_by_number_of_goals_are_told() {
    let table = table_of(&["c"]);
    assert!(table.contains("at most 1.2x"), "{table}");
}

#[test]
fn figures_of_memory_and_time_are_told() {
    let table = table_of(&["b", "d", "g"]);
    for target in ["at most 25 MB", "at most 1.5x"] {
        assert!(table.contains(target), "{target}:\n{table}");
    }
    assert!(table.contains("pages of sessions"), "{table}");
}

#[test]
fn figures_of_events_and_rest_are_told() {
    let table = table_of(&["e", "f"]);
    for target in ["at least 20x", "at most 1"] {
        assert!(table.contains(target), "{target}:\n{table}");
    }
}

#[test]
fn the_figures_of_commands_are_told() {
    let table = table_of(&["h"]);
    for told in [
        "`get`",
        "at most 1 ms",
        "an empty command",
        "`list` of 10 goals",
    ] {
        assert!(table.contains(told), "{told}:\n{table}");
    }
}

#[test]
fn a_bench_that_does_not_exist_is_named() {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = bench.arg("x").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("`x`"));
}
