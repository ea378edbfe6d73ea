//! (h) What a command of the plugin costs, from the page's call to its answer: through Tauri's own
//! way of a call (its permissions, its reading of arguments, its answer as text), on its mock
//! runtime, which leaves out the browser's half alone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{
    INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder, mock_context, noop_assets,
};
use tauri::utils::acl::ExecutionContext;
use tauri::webview::InvokeRequest;
use tauri::{App, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_goal::{Builder, GoalExt};
use tempfile::TempDir;

use crate::figure::Figure;
use crate::stage::{Cast, PASSWORD, server, session};
use crate::{Result, Scale, usage};

/// Goals that the app knows.
const GOALS: usize = 1_000;

/// How long the app may take to know them.
const PATIENCE: Duration = Duration::from_mins(2);

/// Between two looks for them.
const LOOK: Duration = Duration::from_millis(50);

/// The processor time that a command answered from memory may take.
const MOST_MS: f64 = 1.0;

/// Commands that are answered from memory alone.
const FROM_MEMORY: [&str; 2] = ["get", "server_status"];

/// Commands that look at a file or the database, too.
const FROM_FILES: [&str; 2] = ["settings_get", "notices"];

/// The processor time of the plugin's commands.
pub(crate) async fn cost(scale: Scale) -> Result<Vec<Figure>> {
    let goals = scale.of(GOALS, 10);
    let mut server = server(&Cast::at_work(goals, /*bytes*/ 200)).await?;
    let url = server.url();
    // Tauri makes a runtime of its own, which must not be made within another one.
    let measuring = tokio::task::spawn_blocking(move || measure(&url, goals, scale));
    let figures = measuring.await??;
    let violations = server.violations();
    if !violations.is_empty() {
        return Err(format!("the plugin did what it must never do: {violations:#?}").into());
    }
    Ok(figures)
}

fn measure(url: &str, goals: usize, scale: Scale) -> Result<Vec<Figure>> {
    let desk = Desk::open()?;
    desk.connect(url, goals)?;
    let times = scale.of(2_000, 20);
    let empty = desk.takes("empty", times)?;
    let mut figures = Vec::new();
    for command in FROM_MEMORY {
        let took = desk.takes(&goal(command), times)?;
        let what = format!("processor time of `{command}`, from a page's call to its answer");
        figures.push(Figure::at_most("h", what, took, MOST_MS, " ms"));
        figures.push(against("an empty command", took, empty));
    }
    let in_rust = per_call(times, || {
        let view = desk.app.goal().get(&session(0))?;
        Ok(serde_json::to_string(&view)?.len())
    })?;
    figures.push(Figure::told(
        "h",
        "… the body of `get` and its JSON alone",
        ms(in_rust),
    ));
    for command in FROM_FILES {
        let took = desk.takes(&goal(command), times)?;
        figures.push(Figure::told(
            "h",
            format!("`{command}`, which reads a file"),
            ms(took),
        ));
    }
    let times = (times / 20).max(5);
    let took = desk.takes(&goal("list"), times)?;
    let what = format!("`list` of {goals} goals");
    figures.push(Figure::told("h", what, ms(took)));
    let in_rust = per_call(times, || {
        Ok(serde_json::to_string(&desk.app.goal().list())?.len())
    })?;
    figures.push(against("making the list and its JSON", took, in_rust));
    Ok(figures)
}

fn against(what: &str, took: f64, other: f64) -> Figure {
    let value = format!("{:.2}x", took / other);
    Figure::told("h", format!("… against {what}, {}", ms(other)), value)
}

fn ms(time: f64) -> String {
    format!("{time:.3} ms")
}

fn goal(command: &str) -> String {
    format!("plugin:goal|{command}")
}

/// The yardstick: all that Tauri does for a command, and nothing of the plugin's.
#[tauri::command]
async fn empty() {}

/// An app with the plugin and a window whose page may call everything.
struct Desk {
    app: App<MockRuntime>,
    window: WebviewWindow<MockRuntime>,
    _data: TempDir,
}

impl Desk {
    fn open() -> Result<Self> {
        let data = TempDir::new()?;
        let mut context = mock_context(noop_assets());
        let plugins = &mut context.config_mut().plugins.0;
        let nowhere = json!({ "server": { "kind": "none" } });
        plugins.insert("goal".to_owned(), nowhere);
        let commands = FROM_MEMORY.iter().chain(&FROM_FILES);
        for command in commands.chain(&["list", "server_connect"]) {
            let authority = context.runtime_authority_mut();
            authority.__allow_command(goal(command), ExecutionContext::Local);
        }
        let app = mock_builder()
            .plugin(Builder::new().data_dir(data.path()).build())
            .invoke_handler(tauri::generate_handler![empty])
            .build(context)?;
        let page = tauri::WebviewUrl::default();
        let window = WebviewWindowBuilder::new(&app, "main", page).build()?;
        Ok(Self {
            app,
            window,
            _data: data,
        })
    }

    /// Attaches the plugin to the server and waits until it knows all goals.
    fn connect(&self, url: &str, goals: usize) -> Result<()> {
        let server = json!({ "kind": "attached", "url": url, "password": PASSWORD });
        self.call(&goal("server_connect"), json!({ "server": server }))?;
        let begun = Instant::now();
        while self.app.goal().list().goals.len() < goals {
            if begun.elapsed() > PATIENCE {
                return Err(format!("the plugin did not find {goals} goals").into());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// The processor time of one call in milliseconds, out of so many.
    fn takes(&self, command: &str, times: usize) -> Result<f64> {
        let arguments = match command {
            "plugin:goal|get" => json!({ "sessionId": session(0) }),
            _ => json!({}),
        };
        per_call(times, || self.call(command, arguments.clone()))
    }

    /// Calls a command as the app's own page does; gives the length of its answer.
    fn call(&self, command: &str, arguments: Value) -> Result<usize> {
        let request = InvokeRequest {
            cmd: command.to_owned(),
            callback: CallbackFn(0),
            error: CallbackFn(1),
            url: "tauri://localhost".parse()?,
            body: InvokeBody::Json(arguments),
            headers: tauri::http::HeaderMap::default(),
            invoke_key: INVOKE_KEY.to_owned(),
        };
        let answer = get_ipc_response(&self.window, request);
        let answer = answer.map_err(|refused| format!("{command}: {refused}"))?;
        match answer {
            tauri::ipc::InvokeResponseBody::Json(text) => Ok(text.len()),
            tauri::ipc::InvokeResponseBody::Raw(bytes) => Ok(bytes.len()),
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.app.goal().shut_down();
    }
}

/// The processor time in milliseconds that `once` takes, out of so many times; all threads of this
/// process count, among them those that answer.
fn per_call(times: usize, once: impl Fn() -> Result<usize>) -> Result<f64> {
    // What is made once is made before.
    once()?;
    let before = usage::own_processor_time()?;
    let mut bytes = 0;
    for _ in 0..times {
        bytes += std::hint::black_box(once()?);
    }
    let took = usage::own_processor_time()?.saturating_sub(before);
    if bytes == 0 {
        return Err("nothing was answered".into());
    }
    let times = u32::try_from(times)?;
    Ok(took.as_secs_f64() * 1_000.0 / f64::from(times))
}
