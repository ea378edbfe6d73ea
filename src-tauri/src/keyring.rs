//! Passwords of attached servers in the system's keyring: there, or nowhere.
//!
//! A keyring may be missing (no session bus, no secret service), may ask its user to open it, and
//! may never answer. So each question runs on a thread of its own, for a limited time.

use std::time::Duration;

use keyring::Entry;
use opencode_client::{Secret, Target};
use tokio::time::timeout;

use crate::error::{Code, Error, Result};

/// The name under which the keyring shows what is ours.
const SERVICE: &str = "dev.openchamber.desktop";

/// How long a keyring may take: its user may be asked for a password.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Whether there is a keyring that can be used.
pub(crate) async fn is_available() -> bool {
    ask(|| Ok(Entry::store_status().is_ok()))
        .await
        .unwrap_or(false)
}

/// The password that is kept for `target`, if any.
///
/// # Errors
/// `keyringUnavailable`.
pub(crate) async fn password(target: &Target) -> Result<Option<Secret>> {
    let account = account(target);
    ask(
        move || match Entry::new(SERVICE, &account)?.get_password() {
            Ok(password) => Ok(Some(Secret::new(password))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        },
    )
    .await
}

/// Keeps a password for `target`.
///
/// # Errors
/// `keyringUnavailable`; nothing was kept then.
pub(crate) async fn keep(target: &Target, password: Secret) -> Result<()> {
    let account = account(target);
    ask(move || Entry::new(SERVICE, &account)?.set_password(password.expose())).await
}

/// Forgets the password of `target`.
///
/// # Errors
/// `keyringUnavailable`.
pub(crate) async fn forget(target: &Target) -> Result<()> {
    let account = account(target);
    ask(
        move || match Entry::new(SERVICE, &account)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(error),
        },
    )
    .await
}

fn account(target: &Target) -> String {
    format!("{}@{}", target.username, target.url)
}

async fn ask<T: Send + 'static>(
    question: impl FnOnce() -> keyring::Result<T> + Send + 'static,
) -> Result<T> {
    let asked = tauri::async_runtime::spawn_blocking(question);
    match timeout(ANSWER_MAX, asked).await {
        Ok(Ok(Ok(answer))) => Ok(answer),
        Ok(Ok(Err(error))) => {
            tracing::info!(why = kind(&error), "the keyring cannot be used");
            Err(unavailable())
        }
        // A panic inside of a foreign library, or no answer.
        Ok(Err(_)) | Err(_) => {
            tracing::warn!("the keyring did not answer");
            Err(unavailable())
        }
    }
}

/// What went wrong, without what the library has to say about it: that may hold an account.
fn kind(error: &keyring::Error) -> &'static str {
    if matches!(error, keyring::Error::NoDefaultStore) {
        "none"
    } else if matches!(error, keyring::Error::NoStorageAccess(_)) {
        "closed"
    } else {
        "failed"
    }
}

fn unavailable() -> Error {
    Error::new(
        Code::KeyringUnavailable,
        "The system's keyring cannot be used, so the password would not be kept.",
    )
}
