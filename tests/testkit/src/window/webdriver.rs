//! As much of WebDriver as the tests need.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use opencode_client::http_client;
use reqwest::{Client, Method};
use serde_json::{Value, json};

/// Longest time for one command. Without an automated app behind it the driver never answers.
const COMMAND_MAX: Duration = Duration::from_secs(30);

/// A page under a driver's hands. Every call fails with the driver's words.
#[derive(Debug)]
pub struct Page {
    http: Client,
    session: String,
}

impl Page {
    /// Has the driver at `url` start `app`.
    ///
    /// # Errors
    /// That the driver did not, or not in time.
    pub async fn open(url: &str, app: &str) -> Result<Self, String> {
        let http = http_client().no_proxy().timeout(COMMAND_MAX).build();
        let http = http.map_err(|error| error.to_string())?;
        let options = json!({ "binary": app, "args": [] });
        let wanted = json!({ "alwaysMatch": { "webkitgtk:browserOptions": options } });
        let body = json!({ "capabilities": wanted });
        let made = send(&http, Method::POST, format!("{url}/session"), body).await?;
        let id = made["sessionId"].as_str().unwrap_or_default();
        Ok(Self {
            http,
            session: format!("{url}/session/{id}"),
        })
    }

    /// Loads the page anew.
    ///
    /// # Errors
    /// The driver's.
    pub async fn reload(&self) -> Result<Value, String> {
        self.post("refresh", json!({})).await
    }

    /// The app's windows.
    ///
    /// # Errors
    /// The driver's.
    pub async fn windows(&self) -> Result<Vec<String>, String> {
        let url = format!("{}/window/handles", self.session);
        let handles = send(&self.http, Method::GET, url, Value::Null).await?;
        serde_json::from_value(handles).map_err(|error| error.to_string())
    }

    /// Goes on with another of [`Page::windows`].
    ///
    /// # Errors
    /// The driver's.
    pub async fn turn_to(&self, window: &str) -> Result<Value, String> {
        self.post("window", json!({ "handle": window })).await
    }

    /// Goes on with the window that the app has: the one before was closed.
    ///
    /// # Errors
    /// The driver's, or that there is none.
    pub async fn follow(&self) -> Result<(), String> {
        let windows = self.windows().await?;
        let window = windows.last().ok_or("no window")?;
        self.turn_to(window).await.map(drop)
    }

    /// Loads another page.
    ///
    /// # Errors
    /// The driver's.
    pub async fn go(&self, url: &str) -> Result<Value, String> {
        self.post("url", json!({ "url": url })).await
    }

    /// What `script` returns.
    ///
    /// # Errors
    /// The driver's.
    pub async fn run(&self, script: &str, args: Value) -> Result<Value, String> {
        self.post("execute/sync", json!({ "script": script, "args": args }))
            .await
    }

    /// What `script` hands to its last argument.
    ///
    /// # Errors
    /// The driver's.
    pub async fn run_async(&self, script: &str, args: Value) -> Result<Value, String> {
        self.post("execute/async", json!({ "script": script, "args": args }))
            .await
    }

    /// Presses keys, one after another, as a person at the keyboard does. Special keys are the
    /// characters of WebDriver's table.
    ///
    /// # Errors
    /// The driver's.
    pub async fn press(&self, keys: &str) -> Result<Value, String> {
        let each = keys.chars().flat_map(|key| {
            ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
        });
        let each: Vec<Value> = each.collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": each });
        self.post("actions", json!({ "actions": [keyboard] })).await
    }

    /// The page as a picture: the bytes of a PNG file.
    ///
    /// # Errors
    /// The driver's, or that it gave no picture.
    pub async fn picture(&self) -> Result<Vec<u8>, String> {
        let url = format!("{}/screenshot", self.session);
        let answer = send(&self.http, Method::GET, url, Value::Null).await?;
        let text = answer.as_str().ok_or("no picture")?;
        STANDARD.decode(text).map_err(|error| error.to_string())
    }

    async fn post(&self, command: &str, body: Value) -> Result<Value, String> {
        let url = format!("{}/{command}", self.session);
        send(&self.http, Method::POST, url, body).await
    }
}

/// Whether a driver listens at `url`.
pub async fn is_ready(url: &str) -> bool {
    let http = http_client().no_proxy().timeout(COMMAND_MAX).build();
    match http {
        Ok(http) => http.get(format!("{url}/status")).send().await.is_ok(),
        Err(_) => false,
    }
}

async fn send(http: &Client, method: Method, url: String, body: Value) -> Result<Value, String> {
    let request = http.request(method, url);
    // A GET with a body is none that the driver knows.
    let request = if body.is_null() {
        request
    } else {
        request.json(&body)
    };
    let answer = request.send().await;
    let answer = answer.map_err(|error| error.to_string())?;
    let failed = !answer.status().is_success();
    let mut answer: Value = answer.json().await.map_err(|error| error.to_string())?;
    if failed {
        return Err(answer["value"].to_string());
    }
    Ok(answer["value"].take())
}
