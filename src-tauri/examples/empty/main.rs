//! A window of Tauri with nothing in it: what the app's own window is compared with.

fn main() -> tauri::Result<()> {
    let context = tauri::generate_context!("examples/empty/tauri.conf.json");
    tauri::Builder::default().run(context)
}
