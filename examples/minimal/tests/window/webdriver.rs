//! As much of WebDriver as the tests need.

use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};

/// Longest time for one command. Without an automated app behind it the driver never answers.
const COMMAND_MAX: Duration = Duration::from_secs(30);

/// A page under a driver's hands.
pub(crate) struct Page {
    http: Client,
    session: String,
}

impl Page {
    /// Has the driver at `url` start `app`.
    pub(crate) async fn open(url: &str, app: &str) -> Result<Self, String> {
        let http = Client::builder().no_proxy().timeout(COMMAND_MAX).build();
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
    pub(crate) async fn reload(&self) -> Result<Value, String> {
        self.post("refresh", json!({})).await
    }

    /// Loads another page.
    pub(crate) async fn go(&self, url: &str) -> Result<Value, String> {
        self.post("url", json!({ "url": url })).await
    }

    /// What `script` returns.
    pub(crate) async fn run(&self, script: &str, args: Value) -> Result<Value, String> {
        self.post("execute/sync", json!({ "script": script, "args": args }))
            .await
    }

    /// What `script` hands to its last argument.
    pub(crate) async fn run_async(&self, script: &str, args: Value) -> Result<Value, String> {
        self.post("execute/async", json!({ "script": script, "args": args }))
            .await
    }

    async fn post(&self, command: &str, body: Value) -> Result<Value, String> {
        let url = format!("{}/{command}", self.session);
        send(&self.http, Method::POST, url, body).await
    }
}

/// Whether a driver listens at `url`.
pub(crate) async fn is_ready(url: &str) -> bool {
    let http = Client::builder().no_proxy().timeout(COMMAND_MAX).build();
    match http {
        Ok(http) => http.get(format!("{url}/status")).send().await.is_ok(),
        Err(_) => false,
    }
}

async fn send(http: &Client, method: Method, url: String, body: Value) -> Result<Value, String> {
    let answer = http.request(method, url).json(&body).send().await;
    let answer = answer.map_err(|error| error.to_string())?;
    let failed = !answer.status().is_success();
    let mut answer: Value = answer.json().await.map_err(|error| error.to_string())?;
    if failed {
        return Err(answer["value"].to_string());
    }
    Ok(answer["value"].take())
}
