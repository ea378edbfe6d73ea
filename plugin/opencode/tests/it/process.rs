//! A managed server: a script in place of OpenCode that runs this very test program as the server.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{get, post};
use opencode_client::{
    Client, ConfigError, Kind, LOG_BYTES_MAX, Managed, PasswordSource, Secret, StartError,
    StartOptions, Stopped, Target,
};
use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

use crate::fake::PATIENT;

/// A script that is being written must not be inherited by a process another test is starting: the
/// system would refuse to run it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// A folder with a stand-in for OpenCode.
struct Stage {
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Stage {
    /// `lines` run before the server; without the word `serve` among them there is none.
    async fn set(lines: &str) -> Self {
        let turn = ONE_AT_A_TIME.lock().await;
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("opencode");
        let serve = format!(
            "FAKE_PORT=$5 exec '{}' --ignored --exact process::stand_in --nocapture",
            std::env::current_exe().unwrap().display()
        );
        let text = format!("#!/bin/sh\ncd \"$(dirname \"$0\")\"\n{lines}\n");
        std::fs::write(&script, text.replace("serve", &serve)).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self {
            folder,
            _turn: turn,
        }
    }

    fn options(&self) -> StartOptions {
        let path = OsString::from("/usr/local/bin:/usr/bin:/bin");
        let environment = [(OsString::from("PATH"), path)].into();
        StartOptions {
            timeouts: PATIENT,
            ..StartOptions::new(
                self.at("opencode"),
                self.folder.path().to_owned(),
                environment,
            )
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }
}

/// Not a test: the server that the script runs. Ends when told to, or with its group.
#[test]
#[ignore = "runs as a child of the other tests"]
fn stand_in() {
    let Ok(port) = std::env::var("FAKE_PORT") else {
        return;
    };
    let password = std::env::var("OPENCODE_SERVER_PASSWORD").unwrap();
    let health = move |headers: HeaderMap| async move {
        let expected = reqwest_basic("opencode", &password);
        let asks = std::env::var_os("FAKE_OPEN").is_none();
        let refused = headers
            .get(header::AUTHORIZATION)
            .is_none_or(|given| given != expected.as_str());
        if asks && refused {
            return (
                StatusCode::UNAUTHORIZED,
                [(header::CONTENT_TYPE, "text/plain")],
                "",
            );
        }
        let version = r#"{"healthy":true,"version":"1.18.33"}"#;
        (
            StatusCode::OK,
            [(header::CONTENT_TYPE, "application/json")],
            version,
        )
    };
    let config = || async {
        let content = std::env::var("OPENCODE_CONFIG_CONTENT").unwrap_or_default();
        ([(header::CONTENT_TYPE, "application/json")], content)
    };
    let routes = Router::new()
        .route("/global/health", get(health))
        .route("/config", get(config))
        .route(
            "/session/ses_end/abort",
            post(|| async {
                std::process::exit(3);
                #[expect(unreachable_code, reason = "a handler needs a type to answer with")]
                StatusCode::OK
            }),
        );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"))
            .await
            .unwrap();
        axum::serve(listener, routes).await.unwrap();
    });
}

/// The header HTTP Basic asks for, made by the library the client uses.
fn reqwest_basic(user: &str, password: &str) -> String {
    let request = opencode_client::http_client()
        .build()
        .unwrap()
        .get("http://127.0.0.1/")
        .basic_auth(user, Some(password));
    let request = request.build().unwrap();
    request.headers()[header::AUTHORIZATION]
        .to_str()
        .unwrap()
        .to_owned()
}

fn client(target: &Target) -> Client {
    Client::new(target.clone(), PATIENT).unwrap()
}

#[tokio::test]
async fn a_server_is_started_with_a_password_of_its_own_and_stopped() {
    let stage = Stage::set("echo \"$@\" > args; env > env; serve").await;
    let managed = Managed::start(&stage.options()).await.unwrap();
    assert_eq!(managed.version(), "1.18.33");
    let target = managed.target().clone();
    assert!(target.is_loopback());
    // The child gets the environment it is given, and nothing of ours.
    assert!(!stage.read("env").contains("CARGO"));
    let port = target.url.port().unwrap();
    assert_ne!(port, 4096);
    assert_eq!(
        stage.read("args"),
        format!("serve --hostname 127.0.0.1 --port {port}\n")
    );
    let password = target.password.clone().unwrap();
    assert_eq!(password.expose().len(), 43);
    assert!(
        stage
            .read("env")
            .contains(&format!("OPENCODE_SERVER_PASSWORD={}", password.expose()))
    );
    assert!(!format!("{managed:?}").contains(password.expose()));
    assert!(!format!("{:?}", stage.options()).contains("/usr/local/bin"));

    let stranger = Target {
        password: None,
        ..target.clone()
    };
    let error = client(&stranger).health().await.unwrap_err();
    assert_eq!(*error.kind(), Kind::Unauthorized);

    let stopped = managed.stop().await.unwrap();
    assert!(matches!(stopped, Stopped::Asked(_)), "{stopped:?}");
    let error = client(&target).health().await.unwrap_err();
    assert_eq!(*error.kind(), Kind::Unreachable);
}

#[tokio::test]
async fn passwords_differ_from_start_to_start_unless_given() {
    let stage = Stage::set("serve").await;
    let mut passwords = Vec::new();
    for _ in 0..2 {
        let managed = Managed::start(&stage.options()).await.unwrap();
        passwords.push(managed.target().password.clone().unwrap());
        managed.stop().await.unwrap();
    }
    assert_ne!(passwords[0], passwords[1]);
    let password = PasswordSource::Given(Secret::new("my own"));
    let managed = Managed::start(&StartOptions {
        password,
        ..stage.options()
    })
    .await
    .unwrap();
    assert_eq!(
        managed.target().password.as_ref().unwrap().expose(),
        "my own"
    );
    managed.stop().await.unwrap();
}

#[tokio::test]
async fn our_configuration_is_added_to_the_users() {
    let stage = Stage::set("serve").await;
    let mut options = stage.options();
    let users = OsString::from(r#"{"small_model":"theirs/m","agent":{"a":{}}}"#);
    options
        .environment
        .insert(OsString::from("OPENCODE_CONFIG_CONTENT"), users);
    options.config = Some(json!({"agent": {"b": {"hidden": true}}}));
    let managed = Managed::start(&options).await.unwrap();
    let small_model = client(managed.target()).small_model(None).await.unwrap();
    assert_eq!(small_model.as_deref(), Some("theirs/m"));
    managed.stop().await.unwrap();

    let broken = OsString::from("{not json");
    options
        .environment
        .insert(OsString::from("OPENCODE_CONFIG_CONTENT"), broken);
    let error = Managed::start(&options).await.unwrap_err();
    assert!(
        matches!(error, StartError::Config(ConfigError::NotJson { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_server_that_ends_at_once_is_tried_twice_and_its_output_kept() {
    let stage = Stage::set("echo try >> tries; echo 'no such option' >&2; exit 7").await;
    let log = stage.at("server.log");
    let options = StartOptions {
        log_file: Some(log.clone()),
        ..stage.options()
    };
    let error = Managed::start(&options).await.unwrap_err();
    let StartError::Exited { status } = error else {
        panic!("{error:?}")
    };
    assert_eq!(status.code(), Some(7));
    assert_eq!(stage.read("tries"), "try\ntry\n");
    assert_eq!(stage.read("server.log"), "no such option\n".repeat(2));
    assert_eq!(
        std::fs::metadata(log).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[tokio::test]
async fn the_log_goes_on_from_start_to_start_and_never_holds_the_password() {
    let words = "printf 'user %s' \"$OPENCODE_SERVER_PASSWORD\"; echo ' is ready' >&2; serve";
    let stage = Stage::set(words).await;
    let options = StartOptions {
        log_file: Some(stage.at("server.log")),
        ..stage.options()
    };
    for _ in 0..2 {
        let managed = Managed::start(&options).await.unwrap();
        managed.stop().await.unwrap();
    }
    let log = stage.read("server.log");
    assert_eq!(log.matches("user *** is ready\n").count(), 2, "{log}");
}

#[tokio::test]
async fn a_server_that_prints_without_end_is_never_held_up() {
    // Far more than a pipe holds, before the server runs.
    let stage = Stage::set("head -c 3000000 /dev/zero | tr '\\0' x; serve").await;
    let options = StartOptions {
        log_file: Some(stage.at("server.log")),
        ..stage.options()
    };
    let managed = Managed::start(&options).await.unwrap();
    managed.stop().await.unwrap();
    let sizes: Vec<u64> = ["server.log.2", "server.log.1", "server.log"]
        .map(|name| std::fs::metadata(stage.at(name)).unwrap().len())
        .into();
    assert!(sizes.iter().all(|size| *size <= LOG_BYTES_MAX), "{sizes:?}");
    assert!(sizes.iter().sum::<u64>() >= 3_000_000, "{sizes:?}");
}

#[tokio::test]
async fn every_process_is_told_also_of_a_try_that_failed() {
    let stage = Stage::set("if [ ! -e tried ]; then touch tried; exit 1; fi; serve").await;
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let ledger = Arc::clone(&told);
    let options = StartOptions {
        on_spawn: Some(Arc::new(move |pid| ledger.lock().unwrap().push(pid))),
        ..stage.options()
    };
    let managed = Managed::start(&options).await.unwrap();
    let pids = told.lock().unwrap().clone();
    assert_eq!(pids.len(), 2);
    assert_eq!(managed.pid(), Some(pids[1]));
    managed.stop().await.unwrap();
}

#[tokio::test]
async fn a_second_try_may_succeed() {
    let stage = Stage::set("if [ ! -e tried ]; then touch tried; exit 1; fi; serve").await;
    let managed = Managed::start(&stage.options()).await.unwrap();
    managed.stop().await.unwrap();
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_named() {
    let stage = Stage::set("serve").await;
    let options = StartOptions {
        binary: stage.at("gone"),
        ..stage.options()
    };
    let error = Managed::start(&options).await.unwrap_err();
    assert!(matches!(error, StartError::Spawn { .. }), "{error:?}");
    assert!(error.to_string().contains("gone"), "{error}");
    let log_file = Some(stage.at("no/such/folder"));
    let error = Managed::start(&StartOptions {
        log_file,
        ..stage.options()
    })
    .await
    .unwrap_err();
    assert!(matches!(error, StartError::Log { .. }), "{error:?}");
}

#[tokio::test]
async fn a_program_that_is_no_server_is_ended_after_the_wait() {
    let stage = Stage::set("exec sleep 1000 > alive").await;
    let health_within = Duration::from_millis(300);
    let error = Managed::start(&StartOptions {
        health_within,
        ..stage.options()
    })
    .await
    .unwrap_err();
    let StartError::Unhealthy(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(*error.kind(), Kind::Unreachable);
}

#[tokio::test]
async fn a_server_that_does_not_ask_for_our_password_is_not_ours() {
    let stage = Stage::set("echo try >> tries; FAKE_OPEN=1 serve").await;
    let error = Managed::start(&stage.options()).await.unwrap_err();
    let StartError::Unhealthy(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(*error.kind(), Kind::NotOpenCode);
    assert_eq!(
        stage.read("tries"),
        "try\ntry\n",
        "another port may be free"
    );
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_noticed() {
    let stage = Stage::set("serve").await;
    let mut managed = Managed::start(&stage.options()).await.unwrap();
    let error = client(managed.target())
        .abort("ses_end", None)
        .await
        .unwrap_err();
    assert!(error.maybe_sent());
    assert_eq!(managed.wait_exit().await.unwrap().code(), Some(3));
    assert_eq!(managed.wait_exit().await.unwrap().code(), Some(3));
    let stopped = managed.stop().await.unwrap();
    assert!(matches!(stopped, Stopped::Before(status) if status.code() == Some(3)));
}

#[tokio::test]
async fn a_server_that_will_not_end_is_killed() {
    let stage = Stage::set("trap '' TERM; serve").await;
    let stop_grace = Duration::from_millis(300);
    let managed = Managed::start(&StartOptions {
        stop_grace,
        ..stage.options()
    })
    .await
    .unwrap();
    assert_eq!(managed.stop().await.unwrap(), Stopped::Killed);
}

#[tokio::test]
async fn what_the_server_started_in_its_group_ends_with_it() {
    let stage = Stage::set("(trap '' TERM; echo up; exec sleep 1000) > pipe &\nserve").await;
    for drop_it in [false, true] {
        let ended = watch_pipe(&stage);
        let managed = Managed::start(&stage.options()).await.unwrap();
        if drop_it {
            drop(managed);
        } else {
            managed.stop().await.unwrap();
        }
        let text = tokio::time::timeout(Duration::from_secs(20), ended)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(text, "up\n");
    }
}

/// Makes the pipe `pipe` and resolves once everybody who writes to it is gone.
fn watch_pipe(stage: &Stage) -> tokio::sync::oneshot::Receiver<String> {
    let pipe = stage.at("pipe");
    let _ = std::fs::remove_file(&pipe);
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        std::fs::File::open(pipe)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        let _ = sender.send(text);
    });
    receiver
}
