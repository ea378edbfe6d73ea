//! The boundary between page and host as it ships: the lists of commands in all their places, and
//! who may call them, on the mock runtime with the capability files of the build.

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder};
use tauri::webview::InvokeRequest;
use tauri::{App, WebviewUrl, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_goal::{Config, GoalExt as _, Server};
use tempfile::TempDir;

use crate::app::{begin, with_commands};

/// Where a page of the app itself comes from.
const OWN: &str = if cfg!(windows) {
    "http://tauri.localhost"
} else {
    "tauri://localhost"
};

#[test]
fn build_handler_capability_and_page_name_the_same_commands() {
    let commands = commands();
    let handled: Vec<String> = between(&read("src/app.rs"), "generate_handler![", "]")
        .split(',')
        .filter_map(|line| line.trim().strip_prefix("commands::").map(str::to_owned))
        .collect();
    assert_eq!(handled, commands);
    let capability: Value = serde_json::from_str(&read("capabilities/main.json")).unwrap();
    let allowed: Vec<String> = capability["permissions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|permission| permission.as_str()?.strip_prefix("allow-"))
        .map(|command| command.replace('-', "_"))
        .collect();
    assert_eq!(allowed, commands);
    let page = read("../app/src/host/contract.ts");
    let asked: Vec<String> = between(&page, "COMMANDS = [", "]")
        .split(',')
        .map(|line| line.trim().trim_matches('\'').to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(asked, commands);
}

#[test]
fn the_page_hears_the_events_that_are_told() {
    let mut told: Vec<String> = ["src/window.rs", "src/commands.rs", "src/notice.rs"]
        .into_iter()
        .flat_map(|file| words_of(&read(file), "emit(\"app://"))
        .collect();
    let mut heard = words_of(&read("../app/src/host/contract.ts"), "app://");
    told.sort();
    heard.sort();
    assert_eq!(told, heard);
}

#[test]
fn the_window_calls_every_command_and_another_one_none() {
    let house = House::open();
    let other = house.window("other");
    for command in commands() {
        // None is carried out: an argument is unknown.
        let nonsense = json!({ "nobodyKnows": 1 });
        let refusal = call(&house.main, OWN, &command, nonsense.clone()).unwrap_err();
        assert_eq!(refusal["code"], "invalid", "{command}: {refusal}");
        for (window, url) in [
            (&other, OWN),
            (&house.main, "https://evil.example"),
            (&house.main, "http://127.0.0.1:4096"),
        ] {
            let refusal = call(window, url, &command, nonsense.clone()).unwrap_err();
            let text = refusal.as_str().unwrap_or_default();
            assert!(text.contains("not allowed"), "{command} {url}: {refusal}");
        }
    }
}

#[test]
fn other_plugins_of_the_app_are_out_of_the_pages_reach() {
    let house = House::open();
    for command in [
        "plugin:store|load",
        "plugin:dialog|open",
        "plugin:opener|open_url",
        "plugin:autostart|enable",
        "plugin:deep-link|register",
        "plugin:window|close",
        "plugin:webview|create_webview_window",
    ] {
        let refusal = call(&house.main, OWN, command, json!({})).unwrap_err();
        let text = refusal.as_str().unwrap_or_default();
        assert!(text.contains("not allowed"), "{command}: {refusal}");
    }
    let goals = call(&house.main, OWN, "plugin:goal|list", json!({}));
    assert_eq!(goals.unwrap()["goals"], json!([]));
}

#[test]
fn a_call_that_is_allowed_says_that_there_is_no_server_and_another_one_that_it_is_not() {
    let house = House::open();
    for (method, path, code) in [
        ("GET", "/session", "notConnected"),
        ("GET", "/config", "notAllowed"),
        ("GET", "/session/../config", "invalid"),
        ("POST", "/experimental/worktree", "notConnected"),
        // Of no folder is it known that it was made for a page.
        ("DELETE", "/experimental/worktree", "notAllowed"),
    ] {
        let request = json!({ "method": method, "path": path, "query": [], "body": null });
        let refusal = house.refusal("server_call", json!({ "request": request }));
        assert_eq!(refusal, code, "{path}");
    }
    assert_eq!(
        house.refusal("models", json!({ "directory": null })),
        "notConnected"
    );
}

#[test]
fn preferences_and_drafts_are_there_after_the_next_start() {
    let house = House::open();
    let changed = house.call("preferences_set", json!({ "patch": { "theme": "dark" } }));
    assert_eq!(changed.unwrap()["theme"], "dark");
    let refused = json!({ "patch": { "theme": "light", "sidebarWidth": 1 } });
    assert_eq!(house.refusal("preferences_set", refused), "invalid");
    let draft = json!({ "text": "x", "attachments": [], "armed": true, "budget": 5 });
    let set = json!({ "key": "ses_1", "draft": draft });
    assert_eq!(house.call("draft_set", set), Ok(Value::Null));

    let again = House::in_folder(house.end());
    assert_eq!(
        again.call("preferences", json!({})).unwrap()["theme"],
        "dark"
    );
    assert_eq!(
        again.call("drafts", json!({})).unwrap(),
        json!({ "ses_1": draft })
    );
    let taken = json!({ "key": "ses_1", "draft": null });
    again.call("draft_set", taken).unwrap();
    assert_eq!(again.call("drafts", json!({})).unwrap(), json!({}));
}

#[test]
fn a_damaged_file_is_kept_as_a_copy_and_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("preferences.json");
    std::fs::write(&path, r#"{"theme":"da"#).unwrap();
    let house = House::in_folder(folder);
    let read = house.call("preferences", json!({})).unwrap();
    assert_eq!(read["theme"], "system");
    house
        .call("preferences_set", json!({ "patch": { "theme": "light" } }))
        .unwrap();
    let copies: Vec<String> = std::fs::read_dir(house.folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "bad"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(copies, [r#"{"theme":"da"#]);
}

#[test]
fn an_address_that_is_none_changes_no_server() {
    let house = House::open();
    let attach = json!({ "url": "file:///x", "username": null, "password": null, "keep": false });
    assert_eq!(house.refusal("server_attach", attach), "invalid");
    let choice = house.call("server_choice", json!({})).unwrap();
    assert_eq!(choice["kind"], "managed");
}

#[test]
fn a_server_that_does_not_answer_changes_no_server() {
    let house = House::open();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let attach = json!({ "url": url, "username": null, "password": "x", "keep": false });
    assert_eq!(house.refusal("server_attach", attach), "unreachable");
    let choice = house.call("server_choice", json!({})).unwrap();
    assert_eq!(choice["kind"], "managed");
}

#[test]
fn diagnostics_name_versions_and_states() {
    let house = House::open();
    let text = house.call("diagnostics", json!({})).unwrap();
    let text = text.as_str().unwrap();
    for part in ["OpenChamber: 0.1.0", "Server: None", "Keeps running: yes"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn the_page_policy_allows_no_foreign_content_and_no_eval() {
    let config: Value = serde_json::from_str(&read("tauri.conf.json")).unwrap();
    let policy = config["app"]["security"]["csp"].as_object().unwrap();
    assert_eq!(policy["default-src"], "'none'");
    assert_eq!(policy["script-src"], "'self'");
    assert_eq!(policy["connect-src"], "ipc: http://ipc.localhost");
    for (directive, sources) in policy {
        let sources = sources.as_str().unwrap();
        let known = [
            "'none'",
            "'self'",
            "data:",
            "blob:",
            "ipc:",
            "http://ipc.localhost",
        ];
        for source in sources.split(' ') {
            let is_style = directive == "style-src" && source == "'unsafe-inline'";
            assert!(known.contains(&source) || is_style, "{directive} {source}");
        }
    }
    assert_eq!(config["app"]["withGlobalTauri"], Value::Null);
}

/// The app without a screen and without a server, in a data folder of its own.
struct House {
    app: App<MockRuntime>,
    main: WebviewWindow<MockRuntime>,
    folder: TempDir,
}

impl House {
    fn open() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    fn in_folder(folder: TempDir) -> Self {
        let app = with_commands(mock_builder())
            .build(tauri::generate_context!("tauri.conf.json", test = true))
            .unwrap();
        let config = Config {
            server: Some(Server::None {}),
            ..Config::default()
        };
        begin(app.handle(), folder.path(), Some(config)).unwrap();
        let main = window(&app, "main");
        Self { app, main, folder }
    }

    /// The app's end; its files stay.
    fn end(self) -> TempDir {
        self.app.goal().shut_down();
        self.folder
    }

    fn window(&self, label: &str) -> WebviewWindow<MockRuntime> {
        window(&self.app, label)
    }

    fn call(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        call(&self.main, OWN, command, arguments)
    }

    fn refusal(&self, command: &str, arguments: Value) -> String {
        let refusal = self.call(command, arguments).unwrap_err();
        assert!(refusal["message"].is_string(), "{refusal}");
        refusal["code"].as_str().unwrap().to_owned()
    }
}

fn window(app: &App<MockRuntime>, label: &str) -> WebviewWindow<MockRuntime> {
    WebviewWindowBuilder::new(app, label, WebviewUrl::default())
        .build()
        .unwrap()
}

fn call(
    window: &WebviewWindow<MockRuntime>,
    url: &str,
    command: &str,
    arguments: Value,
) -> Result<Value, Value> {
    let request = InvokeRequest {
        cmd: command.to_owned(),
        callback: CallbackFn(0),
        error: CallbackFn(1),
        url: url.parse().unwrap(),
        body: InvokeBody::Json(arguments),
        headers: tauri::http::HeaderMap::default(),
        invoke_key: INVOKE_KEY.to_owned(),
    };
    get_ipc_response(window, request).map(|body| body.deserialize().unwrap())
}

fn commands() -> Vec<String> {
    between(&read("build.rs"), "COMMANDS: &[&str] = &[", "]")
        .split(',')
        .map(|line| line.trim().trim_matches('"').to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

fn words_of(text: &str, mark: &str) -> Vec<String> {
    text.split(mark)
        .skip(1)
        .map(|rest| {
            let letter = |letter: &char| letter.is_ascii_lowercase() || *letter == '-';
            rest.chars().take_while(letter).collect()
        })
        .collect()
}

fn between(text: &str, from: &str, to: &str) -> String {
    let (_, rest) = text.split_once(from).unwrap();
    rest.split_once(to).unwrap().0.to_owned()
}

fn read(path: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).unwrap()
}
