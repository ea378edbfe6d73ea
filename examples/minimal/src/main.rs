//! The smallest complete Tauri app with session goals: one window that lists them.
//!
//! ```text
//! cargo run -p minimal
//! ```
//!
//! It starts an OpenCode server of its own. `MINIMAL_GOAL` holds other values for `plugins.goal`,
//! such as `{"server":{"kind":"attached","url":"http://127.0.0.1:4096"}}`. With `MINIMAL_TWICE` set
//! it opens a second window, which shows and does the same.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use tauri::{Listener, WebviewUrl, WebviewWindowBuilder};
use tauri_plugin_goal::{Builder, Config};

/// The environment variable with other values for `plugins.goal`.
const VARIABLE: &str = "MINIMAL_GOAL";

/// The environment variable that asks for a second window.
const TWICE: &str = "MINIMAL_TWICE";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = match std::env::var(VARIABLE) {
        Ok(config) => serde_json::from_str(&config)?,
        Err(_) => Config::default(),
    };
    tauri::Builder::default()
        .plugin(Builder::new().config(config).build())
        .setup(|app| {
            // What the page shows, for whoever started the app in a terminal.
            app.listen_any("shown", |event| say(event.payload()));
            if std::env::var_os(TWICE).is_some() {
                WebviewWindowBuilder::new(app, "second", WebviewUrl::default()).build()?;
            }
            Ok(())
        })
        .run(tauri::generate_context!())?;
    Ok(())
}

#[expect(
    clippy::print_stderr,
    reason = "a line for the terminal is what it is for"
)]
fn say(text: &str) {
    eprintln!("shown: {text}");
}
