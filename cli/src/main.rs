//! The openchamber command: session goals for OpenCode from the terminal.
fn main() {}
