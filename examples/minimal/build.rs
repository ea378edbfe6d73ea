//! Checks configuration and capabilities, and embeds the page.

fn main() {
    tauri_build::build();
}
