//! A server elsewhere that asks for a password, with the system's keyring and without one.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use testkit::window::Running;
use testkit::{OpenCode, OpenCodeOptions, ScriptedModel};

use crate::desktop::{Desktop, app};

const PASSWORD: &str = "correct horse battery staple";

/// The real keyring of GNOME on the desktop's own bus, unlocked; ended with this.
struct Keyring(Child);

impl Keyring {
    async fn start(running: &Running) -> Self {
        let mut daemon = running.program("gnome-keyring-daemon");
        daemon.args(["--foreground", "--unlock", "--components=secrets"]);
        daemon.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut daemon = daemon.spawn().unwrap();
        // What unlocks it, up to the end of the input.
        let mut words = daemon.stdin.take().unwrap();
        words.write_all(b"of the keyring").unwrap();
        drop(words);
        let started = Self(daemon);
        let owned = [
            "--session",
            "--print-reply=literal",
            "--dest=org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.NameHasOwner",
            "string:org.freedesktop.secrets",
        ];
        running
            .until("the keyring is there", async || {
                let answer = running.ask("dbus-send", &owned)?;
                answer.contains("true").then_some(())
            })
            .await;
        started
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        // It may have ended with its bus.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that asks for the password.
async fn server(model: &ScriptedModel) -> OpenCode {
    let mut options = OpenCodeOptions::new(model.url());
    options.password = Some(PASSWORD.to_owned());
    OpenCode::start(options).await.unwrap()
}

/// Chooses the server, as the settings do; says what went wrong, as a code.
async fn attach(desktop: &Desktop, server: &OpenCode, keep: bool) -> Result<(), String> {
    let to = json!({ "url": server.url(), "password": PASSWORD, "keep": keep });
    match desktop.invoke("server_attach", to).await {
        Ok(_) => Ok(()),
        Err(error) => Err(error["code"].as_str().unwrap_or_default().to_owned()),
    }
}

async fn choice(desktop: &Desktop) -> Value {
    desktop.invoke("server_choice", json!({})).await.unwrap()
}

/// The files below `folder` in which the password stands.
fn files_with_password(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            found.extend(files_with_password(&path));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            let words = PASSWORD.as_bytes();
            if bytes.windows(words.len()).any(|window| window == words) {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test]
async fn a_password_in_the_keyring_opens_the_server_again_after_a_crash() {
    let model = ScriptedModel::start().unwrap();
    let server = server(&model).await;
    let running = Running::driver(app(), &model.url()).await;
    let _keyring = Keyring::start(&running).await;
    let mut desktop = Desktop::of(model, running).await;
    let attached = attach(&desktop, &server, true).await;
    assert_eq!(attached, Ok(()), "{}", desktop.running.said());
    desktop.is_connected().await;
    desktop.crash_and_come_back().await;
    let url = desktop.server().await;
    assert_eq!(
        url.trim_end_matches('/'),
        server.url().trim_end_matches('/')
    );
    let choice = choice(&desktop).await;
    assert_eq!(choice["passwordKept"], true, "{choice}");
    let home = desktop.running.scratch().home();
    assert_eq!(files_with_password(home), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn without_a_keyring_the_password_is_asked_for_each_time() {
    let model = ScriptedModel::start().unwrap();
    let server = server(&model).await;
    let mut desktop = Desktop::open(model).await;
    let refused = attach(&desktop, &server, true).await;
    assert_eq!(refused, Err("keyringUnavailable".to_owned()));
    let unchanged = choice(&desktop).await;
    assert_eq!(unchanged["kind"], "managed", "{unchanged}");
    assert_eq!(attach(&desktop, &server, false).await, Ok(()));
    desktop.is_connected().await;
    desktop.running.crash().await;
    desktop.page = desktop.running.page().await;
    desktop.shows("The server asks for a password").await;
    desktop.picture("password").await;
    let home = desktop.running.scratch().home();
    assert_eq!(files_with_password(home), Vec::<std::path::PathBuf>::new());
    assert_eq!(attach(&desktop, &server, false).await, Ok(()));
    desktop.is_connected().await;
}
