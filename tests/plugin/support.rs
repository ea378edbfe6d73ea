//! An app with the plugin, and the permissions resolved from the files as a build does it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{
    INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder, mock_context, noop_assets,
};
use tauri::utils::acl::capability::{Capability, CapabilityFile};
use tauri::utils::acl::manifest::{Manifest, PermissionFile};
use tauri::utils::acl::resolved::Resolved;
use tauri::utils::platform::Target;
use tauri::webview::InvokeRequest;
use tauri::{App, Context, Listener, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_goal::{Builder, GoalExt};
use tempfile::TempDir;

/// Longest time for something that takes milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Where a page of the app itself comes from.
pub(crate) const OWN: &str = "tauri://localhost";

/// An app that ends with the test.
pub(crate) struct House {
    pub(crate) app: App<MockRuntime>,
    pub(crate) main: WebviewWindow<MockRuntime>,
    pub(crate) folder: TempDir,
}

impl House {
    /// An app whose window `main` has `permissions`, without a server.
    pub(crate) fn with(permissions: &[&str]) -> Self {
        let capability = json!({
            "identifier": "test", "windows": ["main"], "permissions": permissions,
        });
        Self::configured(capability, json!({ "server": { "kind": "none" } }))
    }

    /// An app with every permission, without a server.
    pub(crate) fn open() -> Self {
        Self::with(&["goal:default", "goal:control", "goal:settings"])
    }

    /// An app with `capability` and `plugins.goal`, in a data folder of its own.
    pub(crate) fn configured(capability: Value, plugin: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let builder = Builder::new().data_dir(folder.path());
        Self::built(builder, capability, plugin, folder)
    }

    pub(crate) fn built(
        builder: Builder,
        capability: Value,
        plugin: Value,
        folder: TempDir,
    ) -> Self {
        let app = app(builder, capability, plugin).unwrap();
        let main = window(&app, "main");
        Self { app, main, folder }
    }

    /// Calls a command from the app's own page in `main`.
    pub(crate) fn call(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        call(&self.main, OWN, command, arguments)
    }

    /// The code of the refusal of a call.
    pub(crate) fn refusal(&self, command: &str, arguments: Value) -> String {
        let refusal = self.call(command, arguments).unwrap_err();
        assert!(refusal["message"].is_string(), "{refusal}");
        refusal["code"].as_str().unwrap().to_owned()
    }

    /// The payloads of an event from here on.
    pub(crate) fn listen(&self, event: &str) -> Heard {
        let (sender, payloads) = channel();
        self.app.listen_any(event, move |event| {
            // The test may have ended.
            let _ = sender.send(serde_json::from_str(event.payload()).unwrap());
        });
        Heard(payloads)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.app.goal().shut_down();
    }
}

/// The payloads of one event.
pub(crate) struct Heard(Receiver<Value>);

impl Heard {
    /// The next that `fits`.
    pub(crate) fn until(&self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let payload = self.0.recv_timeout(PATIENCE).unwrap();
            if fits(&payload) {
                return payload;
            }
        }
    }
}

/// An app with the plugin, or what its set-up says.
pub(crate) fn app(
    builder: Builder,
    capability: Value,
    plugin: Value,
) -> tauri::Result<App<MockRuntime>> {
    let mut context = context(capability);
    let plugins = &mut context.config_mut().plugins.0;
    plugins.insert("goal".to_owned(), plugin);
    mock_builder().plugin(builder.build()).build(context)
}

/// A window of the app.
pub(crate) fn window(app: &App<MockRuntime>, label: &str) -> WebviewWindow<MockRuntime> {
    WebviewWindowBuilder::new(app, label, tauri::WebviewUrl::default())
        .build()
        .unwrap()
}

/// Calls a command from a page at `url`.
pub(crate) fn call(
    window: &WebviewWindow<MockRuntime>,
    url: &str,
    command: &str,
    arguments: Value,
) -> Result<Value, Value> {
    let request = InvokeRequest {
        cmd: format!("plugin:goal|{command}"),
        callback: CallbackFn(0),
        error: CallbackFn(1),
        url: url.parse().unwrap(),
        body: InvokeBody::Json(arguments),
        headers: tauri::http::HeaderMap::default(),
        invoke_key: INVOKE_KEY.to_owned(),
    };
    get_ipc_response(window, request).map(|body| body.deserialize().unwrap())
}

fn context(capability: Value) -> Context<MockRuntime> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("permissions");
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("autogenerated/commands")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "toml") {
                let text = std::fs::read_to_string(path).unwrap();
                files.push(toml::from_str::<PermissionFile>(&text).unwrap());
            }
        }
    }
    let acl = BTreeMap::from([("goal".to_owned(), Manifest::new(files, None))]);
    let capability = match serde_json::from_value(capability).unwrap() {
        CapabilityFile::Capability(capability) => capability,
        CapabilityFile::List(_) | CapabilityFile::NamedList { .. } => unreachable!("it is one"),
    };
    let capabilities =
        BTreeMap::<String, Capability>::from([(capability.identifier.clone(), capability)]);
    let resolved = Resolved::resolve(&acl, capabilities, Target::current()).unwrap();
    let mut context = mock_context(noop_assets());
    *context.runtime_authority_mut() = tauri::runtime_authority!(acl, resolved);
    context
}
