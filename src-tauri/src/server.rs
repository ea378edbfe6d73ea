//! Which server the app uses: one of its own, or one that runs elsewhere.

use opencode_client::{
    Client, DEFAULT_USERNAME, Secret, Target, Timeouts, is_too_old, version_min,
};
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager as _, Runtime};
use tauri_plugin_goal::models::{ServerConnect, ServerRequest, ServerState, ServerStatus};
use tauri_plugin_goal::{GoalExt as _, Server, config};

use crate::call::failed;
use crate::error::{Error, Result};
use crate::kept::Keeping;
use crate::keyring;

/// The server of the next starts. A password has no place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Choice {
    /// One that the app starts and ends.
    #[default]
    Managed,
    /// One that runs.
    Attached {
        url: String,
        username: Option<String>,
        /// It was used with a password.
        with_password: bool,
    },
}

/// What the page asks to attach to. It holds a password, so it has no `Debug`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attach {
    url: String,
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    password: Option<String>,
    #[serde(default)]
    keep: bool,
}

/// The choice as the page sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chosen {
    #[serde(flatten)]
    kind: Kind,
    /// There is a keyring.
    keyring: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
enum Kind {
    Managed,
    Attached {
        url: String,
        username: Option<String>,
        password_kept: bool,
        needs_password: bool,
    },
}

impl Choice {
    /// The server as the goals' plugin is told of it at the start. One with a password is connected
    /// to later, by [`connect_kept`]: a keyring may let its user wait.
    pub(crate) fn at_start(&self) -> Server {
        match self {
            Self::Managed => Server::Managed {
                directory: None,
                binary: None,
            },
            Self::Attached {
                with_password: true,
                ..
            } => Server::None {},
            Self::Attached { url, username, .. } => Server::Attached {
                url: url.clone(),
                username: username.clone(),
            },
        }
    }

    /// Itself if its address is one, else the usual one.
    pub(crate) fn checked(self) -> Self {
        match &self {
            Self::Attached { url, username, .. } if target(url, username.as_deref()).is_err() => {
                tracing::warn!("the address of the chosen server is none");
                Self::Managed
            }
            Self::Attached { .. } | Self::Managed => self,
        }
    }
}

/// Attaches to a running server, and keeps that for the next starts. It is asked for its health
/// first: a mistyped address must not end a server of ours with what it works on.
///
/// # Errors
/// `invalid` for an address that is none or where no OpenCode that will do answers, `unreachable`,
/// `timedOut`, `unauthorized`, `keyringUnavailable` if the password is to be kept and cannot be;
/// nothing was changed then. `unwritable`, and those of the plugin's `server_connect`.
pub(crate) async fn attach<R: Runtime>(app: &AppHandle<R>, attach: Attach) -> Result<ServerStatus> {
    let username = attach.username.filter(|name| !name.is_empty());
    let given = attach.password.filter(|password| !password.is_empty());
    let target = target(&attach.url, username.as_deref())?;
    let password = match &given {
        Some(password) => Some(Secret::new(password.clone())),
        None if attach.keep => keyring::password(&target).await?,
        None => keyring::password(&target).await.unwrap_or_default(),
    };
    answers(&attach.url, username.as_deref(), password.clone()).await?;
    if let (Some(_), Some(password)) = (&given, &password) {
        if attach.keep {
            keyring::keep(&target, password.clone()).await?;
        } else {
            forget(&target).await;
        }
    }
    let url = target.url.as_str().to_owned();
    let choice = Choice::Attached {
        url: url.clone(),
        username: username.clone(),
        with_password: password.is_some(),
    };
    let status = connect(app, url, username, password).await?;
    if status.code == Some("unauthorized") {
        // A wrong password would be tried at each start.
        forget(&target).await;
    }
    app.state::<Keeping<R>>().set_choice(choice)?;
    Ok(status)
}

/// Goes back to a server of the app's own.
///
/// # Errors
/// `unwritable`, and those of the plugin's `server_connect`.
pub(crate) async fn manage<R: Runtime>(app: &AppHandle<R>) -> Result<ServerStatus> {
    let server = ServerRequest::Managed { directory: None };
    let connect = ServerConnect {
        server: Some(server),
        request_id: None,
    };
    let status = app.goal().server_connect(connect).await?;
    app.state::<Keeping<R>>().set_choice(Choice::Managed)?;
    Ok(status)
}

/// The chosen server.
pub(crate) async fn chosen<R: Runtime>(app: &AppHandle<R>) -> Chosen {
    let kind = match app.state::<Keeping<R>>().choice() {
        Choice::Managed => Kind::Managed,
        Choice::Attached { url, username, .. } => {
            let kept = match target(&url, username.as_deref()) {
                Ok(target) => keyring::password(&target).await.unwrap_or_default(),
                Err(_) => None,
            };
            let status = app.goal().server_status();
            Kind::Attached {
                url,
                username,
                password_kept: kept.is_some(),
                needs_password: status.state == ServerState::None
                    || status.code == Some("unauthorized"),
            }
        }
    };
    Chosen {
        kind,
        keyring: keyring::is_available().await,
    }
}

/// Connects to the chosen server if its password had to be looked for first. Without one the page
/// asks for it.
pub(crate) async fn connect_kept<R: Runtime>(app: &AppHandle<R>) {
    let choice = app.state::<Keeping<R>>().choice();
    let Choice::Attached {
        url,
        username,
        with_password: true,
    } = choice
    else {
        return;
    };
    let Ok(target) = target(&url, username.as_deref()) else {
        return;
    };
    let kept = keyring::password(&target).await.unwrap_or_default();
    let password = kept.or_else(|| {
        std::env::var(config::PASSWORD_VARIABLE)
            .ok()
            .map(Secret::new)
    });
    if password.is_none() {
        return tracing::info!("the chosen server needs a password, and none is kept");
    }
    if let Err(error) = connect(app, url, username, password).await {
        tracing::warn!(
            code = error.code().name(),
            "the chosen server was not taken"
        );
    }
}

async fn connect<R: Runtime>(
    app: &AppHandle<R>,
    url: String,
    username: Option<String>,
    password: Option<Secret>,
) -> Result<ServerStatus> {
    let server = ServerRequest::Attached {
        url,
        username,
        password: password.map(|password| password.expose().to_owned()),
    };
    let connect = ServerConnect {
        server: Some(server),
        request_id: None,
    };
    Ok(app.goal().server_connect(connect).await?)
}

/// Asks a server for its health, once.
async fn answers(url: &str, username: Option<&str>, password: Option<Secret>) -> Result<()> {
    let target = Target::parse(url, username.unwrap_or(DEFAULT_USERNAME), password);
    let client = target.and_then(|target| Client::new(target, Timeouts::DEFAULT));
    let client = client.map_err(|error| Error::invalid(error.message()))?;
    let health = client.health().await.map_err(failed)?;
    if is_too_old(&health.version) {
        let (version, least) = (health.version, version_min());
        let said = format!("OpenCode {version} is too old: {least} is the oldest that will do.");
        return Err(Error::invalid(said));
    }
    Ok(())
}

async fn forget(target: &Target) {
    // Where there is no keyring, nothing is kept.
    let _ = keyring::forget(target).await;
}

fn target(url: &str, username: Option<&str>) -> Result<Target> {
    Target::parse(url, username.unwrap_or(DEFAULT_USERNAME), None)
        .map_err(|error| Error::invalid(error.message()))
}
