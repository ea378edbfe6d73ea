//! OpenChamber: OpenCode sessions with goals, in a window of their own.
//!
//! The page in `app/` shows and asks; this host holds what it must not: the server's password and
//! keys, the goals' loop, files. The modules, in reading order: `app` (put together), `commands`
//! (what the page may ask); `allow`, `trees` and `call` (the way to the server), `stream` (the way
//! back), `pages` (what ends with a page); `kept`, `preferences`, `drafts`, `server`, `keyring`,
//! `models`; `window`, `links`, `overall`, `tray`, `notice`, `words`; `log`, `diagnostics`,
//! `error`.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod allow;
mod app;
mod call;
mod commands;
mod diagnostics;
mod drafts;
mod error;
mod kept;
mod keyring;
mod links;
mod log;
mod models;
mod notice;
mod overall;
mod pages;
mod preferences;
mod server;
mod stream;
mod tray;
mod trees;
mod window;
mod words;

#[cfg(test)]
mod contract;

fn main() -> tauri::Result<()> {
    app::run(tauri::generate_context!())
}
