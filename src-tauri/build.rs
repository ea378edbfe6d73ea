//! Checks configuration and capabilities, makes one permission for each command of the app, and
//! embeds the page.

use tauri_build::{AppManifest, Attributes};

/// The app's commands. The handler in `src/app.rs` and the page have the same list: a test
/// compares.
const COMMANDS: &[&str] = &[
    "server_call",
    "server_events",
    "models",
    "server_attach",
    "server_manage",
    "server_choice",
    "preferences",
    "preferences_set",
    "drafts",
    "draft_set",
    "pick_folder",
    "open_external",
    "diagnostics",
    "take_open",
    "painted",
    "quit",
];

#[expect(
    clippy::expect_used,
    reason = "a build that cannot go on ends with its reason"
)]
fn main() {
    let attributes = Attributes::new().app_manifest(AppManifest::new().commands(COMMANDS));
    tauri_build::try_build(attributes).expect("the app's configuration or capabilities are wrong");
}
