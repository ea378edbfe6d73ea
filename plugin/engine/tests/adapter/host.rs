//! How a host comes to its server, and what it says when it does not.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use goal_engine::error::{Code, Error};
use goal_engine::host::{self, RunningServer, ServerChoice};
use goal_engine::paths::DataDir;
use goal_engine::ports::{NoticeOut, Notices, ServerEvent};
use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;

use crate::fake::{Fake, Reply, dead_target, limits};

pub(crate) struct NoNotices;

#[async_trait]
impl Notices for NoNotices {
    async fn deliver(&self, _: &NoticeOut) -> Result<(), String> {
        Err("nobody listens".to_owned())
    }
}

pub(crate) fn data_dir(folder: &Path) -> DataDir {
    DataDir::resolve(Some(folder), None).unwrap()
}

async fn connect(choice: ServerChoice, folder: &Path) -> Result<host::Connected, Error> {
    host::connect(choice, &data_dir(folder), &limits(), Arc::new(NoNotices)).await
}

async fn refusal(choice: ServerChoice, folder: &Path) -> Error {
    connect(choice, folder).await.err().unwrap()
}

/// A managed server whose program is a shell script, or the path of no program.
fn managed(folder: &TempDir, binary: &str) -> ServerChoice {
    ServerChoice::Managed {
        binary: Some(folder.path().join(binary)),
        directory: folder.path().to_owned(),
        environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
    }
}

#[tokio::test]
async fn attaching_gives_ports_on_the_running_server() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let connected = connect(ServerChoice::Attached(fake.target()), folder.path())
        .await
        .unwrap();
    let expected = RunningServer {
        version: "1.18.33".to_owned(),
        url: fake.target().url.to_string(),
        managed: false,
    };
    assert_eq!(connected.server, expected);
    assert!(connected.managed.is_none());
    assert!(connected.ports.sessions.is_local());
    assert_eq!(connected.ports.limits, limits());
    let mut events = connected.events;
    fake.script("GET /global/event", [Reply::Json(401, json!(null))]);
    let heard = events.next().await;
    assert!(
        matches!(
            heard,
            ServerEvent::Lost {
                unauthorized: true,
                ..
            }
        ),
        "{heard:?}"
    );
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_named_with_what_to_do() {
    let health = |version: &str| Reply::Json(200, json!({"healthy": true, "version": version}));
    let cases = [
        (
            Reply::Json(401, json!(null)),
            Code::Unauthorized,
            "OPENCODE_SERVER_PASSWORD",
        ),
        (Reply::Html, Code::NotOpenCode, "not an OpenCode server"),
        (health("1.14.34"), Code::NotOpenCode, "1.14.34"),
        (
            Reply::Json(403, json!({"message": "no"})),
            Code::NotOpenCode,
            "403",
        ),
    ];
    for (reply, code, words) in cases {
        let fake = Fake::start().await;
        fake.script("GET /global/health", [reply]);
        let folder = tempfile::tempdir().unwrap();
        let error = refusal(ServerChoice::Attached(fake.target()), folder.path()).await;
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_unreachable_for_hosts_and_commands() {
    let folder = tempfile::tempdir().unwrap();
    let target = dead_target().await;
    let url = target.url.to_string();
    let error = refusal(ServerChoice::Attached(target.clone()), folder.path()).await;
    assert_eq!(error.code(), Code::Unreachable);
    assert!(error.message().contains(&url), "{error}");
    let dir = data_dir(folder.path());
    let command = host::connect_for_command(target, &dir, &limits(), Arc::new(NoNotices)).await;
    assert_eq!(
        command.err().map(|error| error.code()),
        Some(Code::Unreachable)
    );
}

#[tokio::test]
async fn a_host_needs_its_data_folder_and_a_command_does_not() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("data");
    let error = refusal(ServerChoice::Attached(fake.target()), &below).await;
    assert_eq!(error.code(), Code::DataFolder);
    assert_eq!(fake.seen(""), [], "the server was not asked");
    let dir = data_dir(&below);
    let command =
        host::connect_for_command(fake.target(), &dir, &limits(), Arc::new(NoNotices)).await;
    assert_eq!(command.unwrap().server.version, "1.18.33");
}

#[tokio::test]
async fn a_missing_program_is_told_with_how_to_install_it() {
    let folder = tempfile::tempdir().unwrap();
    let error = refusal(managed(&folder, "none"), &folder.path().join("data")).await;
    assert_eq!(error.code(), Code::OpenCodeMissing);
    assert!(
        error.message().contains("npm install -g opencode-ai"),
        "{error}"
    );
}

#[tokio::test]
async fn the_program_of_the_settings_is_used_where_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let settings = json!({"opencodeBinary": folder.path().join("from-settings")});
    std::fs::write(folder.path().join("settings.json"), settings.to_string()).unwrap();
    let choice = ServerChoice::Managed {
        binary: None,
        directory: folder.path().to_owned(),
        environment: [("PATH".into(), folder.path().into())].into(),
    };
    let error = refusal(choice, folder.path()).await;
    assert_eq!(error.code(), Code::OpenCodeMissing);
    assert!(error.message().contains("from-settings"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_ends_at_once_leaves_a_log_that_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("opencode");
    std::fs::write(&script, "#!/bin/sh\necho no luck\nexit 3\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let data = folder.path().join("data");
    let error = refusal(managed(&folder, "opencode"), &data).await;
    assert_eq!(error.code(), Code::OpenCodeMissing);
    let log = data.join("opencode").join("server.log");
    assert!(error.message().contains(&*log.to_string_lossy()), "{error}");
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log, "no luck\nno luck\n", "both tries are in it");
    let left = std::fs::read_dir(data.join("opencode").join("servers")).unwrap();
    assert_eq!(left.count(), 0, "no server is written down");
}
