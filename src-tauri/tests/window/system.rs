//! What the system keeps for the app: its start with the computer, the password of a server.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::json;
use testkit::window::Running;
use testkit::{OpenCode, OpenCodeOptions, ScriptedModel};

use crate::desktop::{Desktop, app};

const PASSWORD: &str = "a-password-of-this-test";

#[tokio::test]
async fn the_app_starts_with_the_computer_only_while_that_is_wished() {
    let desktop = Desktop::open(ScriptedModel::start().unwrap()).await;
    let folder = desktop.running.scratch().home().join(".config/autostart");
    let entry = || {
        let entries = std::fs::read_dir(&folder).ok()?;
        let mut texts = entries.flatten().map(|entry| entry.path());
        texts.find_map(|path| std::fs::read_to_string(path).ok())
    };
    assert_eq!(entry(), None);
    desktop.press("Settings").await;
    desktop.press("Start with the computer").await;
    let written = desktop.running.until("it is written", async || entry());
    let text = written.await;
    assert!(text.contains("openchamber-desktop --hidden"), "{text}");
    desktop.picture("settings-general").await;
    desktop.press("Start with the computer").await;
    let gone = async || entry().is_none().then_some(());
    desktop.running.until("it is taken back", gone).await;
}

#[tokio::test]
async fn a_password_is_kept_in_the_keyring_and_in_no_file_of_ours() {
    let model = ScriptedModel::start().unwrap();
    let server = with_password(&model).await;
    let running = Running::driver(app(), &model.url()).await;
    let keyring = Keyring::start(&running);
    let mut desktop = Desktop::of(model, running).await;
    attach(&desktop, &server, /*keep*/ true).await;
    desktop.crash_and_come_back().await;
    assert!(uses(&desktop, &server).await);

    drop(keyring);
    let kept = holding(desktop.running.scratch().home(), PASSWORD.as_bytes());
    assert_eq!(kept, Vec::<String>::new());
}

#[tokio::test]
async fn without_a_keyring_a_password_is_asked_for_at_each_start() {
    let model = ScriptedModel::start().unwrap();
    let server = with_password(&model).await;
    let mut desktop = Desktop::open(model).await;
    attach(&desktop, &server, /*keep*/ false).await;
    desktop.running.crash().await;
    desktop.page = desktop.running.page().await;
    desktop.shows("The server asks for a password").await;
    desktop.picture("password").await;
    desktop.fill("Password", PASSWORD).await;
    desktop.press("Test and use").await;
    desktop.is_connected().await;
    assert!(uses(&desktop, &server).await);
}

async fn with_password(model: &ScriptedModel) -> OpenCode {
    let mut options = OpenCodeOptions::new(model.url());
    options.password = Some(PASSWORD.to_owned());
    OpenCode::start(options).await.unwrap()
}

async fn attach(desktop: &Desktop, server: &OpenCode, keep: bool) {
    let attach = json!({ "url": server.url(), "password": PASSWORD, "keep": keep });
    let attached = desktop.invoke("server_attach", attach);
    attached.await.unwrap();
    desktop.is_connected().await;
    assert!(uses(desktop, server).await);
}

/// Whether this server is the one that is connected.
async fn uses(desktop: &Desktop, server: &OpenCode) -> bool {
    desktop.server().await.trim_end_matches('/') == server.url()
}

/// The files below `folder` that hold `text`.
fn holding(folder: &Path, text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(holding(&path, text));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            if bytes.windows(text.len()).any(|window| window == text) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// A keyring on the desktop's bus, open. It ends when it is dropped.
struct Keyring(Child);

impl Keyring {
    fn start(running: &Running) -> Self {
        let mut daemon = running.program("gnome-keyring-daemon");
        daemon.args(["--foreground", "--unlock", "--components=secrets"]);
        let mut daemon = daemon
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // What opens it; its end makes the daemon begin.
        let mut opening = daemon.stdin.take().unwrap();
        opening.write_all(b"the key of this keyring").unwrap();
        Self(daemon)
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
