//! What a person may pass on when something is wrong: versions, states by codes, the log's last
//! lines. No secret, nothing of a prompt, no home folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tauri::{AppHandle, Manager as _, Runtime};
use tauri_plugin_goal::GoalExt as _;

use crate::kept::Keeping;
use crate::log;

/// Bytes of the log: some hundred lines.
const LOG_BYTES: u64 = 32 * 1024;

/// All of it, as text.
pub(crate) fn diagnostics<R: Runtime>(app: &AppHandle<R>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to memory does not fail.
        let _ = writeln!(text, "{name}: {value}");
    };
    line("OpenChamber", &app.package_info().version.to_string());
    line("Tauri", tauri::VERSION);
    let webview = tauri::webview_version();
    line("Web view", webview.as_deref().unwrap_or("unknown"));
    let (os, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    line("System", &format!("{os} {processor}"));
    let server = app.goal().server_status();
    line("Server", &format!("{:?}", server.state));
    line("Server code", server.code.unwrap_or("none"));
    line(
        "Server version",
        server.version.as_deref().unwrap_or("unknown"),
    );
    line("Server of our own", yes(server.managed));
    line("Driver", &format!("{:?}", server.driver));
    line("Database", &format!("{:?}", server.database));
    let mut goals: BTreeMap<String, usize> = BTreeMap::new();
    for goal in app.goal().list().goals {
        *goals
            .entry(format!("{}/{}", goal.status, goal.phase))
            .or_default() += 1;
    }
    for (how, count) in goals {
        line("Goals", &format!("{count} {how}"));
    }
    let preferences = app.state::<Keeping<R>>().preferences();
    line("Keeps running", yes(preferences.keep_running));
    line("Starts with the computer", yes(preferences.autostart));
    text.push_str("\nLog:\n");
    text.push_str(&log::tail(app.state::<Keeping<R>>().folder(), LOG_BYTES));
    let home = app.path().home_dir().ok();
    without_home(text, home.as_deref().and_then(|home| home.to_str()))
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn without_home(text: String, home: Option<&str>) -> String {
    match home.map(|home| home.trim_end_matches(['/', '\\'])) {
        Some(home) if !home.is_empty() => text.replace(home, "~"),
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_not_named() {
        let text = || "in /home/somebody/work and /home/somebody".to_owned();
        let expected = "in ~/work and ~";
        assert_eq!(without_home(text(), Some("/home/somebody")), expected);
        assert_eq!(without_home(text(), Some("/home/somebody/")), expected);
        assert_eq!(without_home(text(), Some("/")), text());
        assert_eq!(without_home(text(), None), text());
    }
}
