//! Links into the app, `openchamber://session/<id>`, and links out of it.

use std::sync::{Mutex, PoisonError};

use opencode_client::check_session_id;
use serde::Serialize;
use url::Url;

use crate::error::{Error, Result};

/// The scheme of links into the app.
const SCHEME: &str = "openchamber";

/// Longest link that leaves the app, in bytes.
const EXTERNAL_BYTES_MAX: usize = 8_192;

/// A session to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Open {
    pub(crate) session_id: String,
    pub(crate) directory: Option<String>,
}

/// What a link into the app asks for; `None` if it is no such link. Links come from anywhere.
pub(crate) fn session_of(link: &Url) -> Option<Open> {
    let is_plain = link.scheme() == SCHEME
        && link.host_str() == Some("session")
        && link.port().is_none()
        && link.username().is_empty()
        && link.password().is_none()
        && link.query().is_none()
        && link.fragment().is_none();
    let id = link.path().strip_prefix('/')?;
    (is_plain && check_session_id(id).is_ok()).then(|| Open {
        session_id: id.to_owned(),
        directory: None,
    })
}

/// A link that may be handed to the system.
///
/// # Errors
/// `invalid` for anything but a web page or a mail address.
pub(crate) fn external(link: &str) -> Result<Url> {
    let refused = || Error::invalid("Only links to web pages and mail addresses are opened.");
    if link.len() > EXTERNAL_BYTES_MAX {
        return Err(refused());
    }
    let link = Url::parse(link).map_err(|_| refused())?;
    match link.scheme() {
        "http" | "https" if link.has_host() => Ok(link),
        "mailto" => Ok(link),
        _ => Err(refused()),
    }
}

/// Whether a page may be shown in the app's own window.
pub(crate) fn is_own(page: &Url) -> bool {
    let (scheme, host) = (page.scheme(), page.host_str().unwrap_or_default());
    let is_own = if cfg!(windows) {
        matches!(scheme, "http" | "https") && host == "tauri.localhost"
    } else {
        scheme == "tauri" && host == "localhost"
    };
    is_own && page.port().is_none()
}

/// What was asked to be opened before a page listened.
#[derive(Default)]
pub(crate) struct Opens(Mutex<Asked>);

#[derive(Default)]
struct Asked {
    open: Option<Open>,
    /// The page asked what there is, so it listens.
    listens: bool,
}

impl Opens {
    /// Something is to be opened: says whether a page listens that can be told. If not, it is kept.
    pub(crate) fn ask(&self, open: &Open) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked.listens {
            asked.open = Some(open.clone());
        }
        asked.listens
    }

    /// What there is, once; from now on a page listens.
    pub(crate) fn take(&self) -> Option<Open> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.listens = true;
        asked.open.take()
    }

    /// The page has gone.
    pub(crate) fn left(&self) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.listens = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(link: &str) -> Option<String> {
        session_of(&Url::parse(link).unwrap()).map(|open| open.session_id)
    }

    #[test]
    fn a_link_names_a_session_and_nothing_else() {
        let link = "openchamber://session/ses_3f2a9c";
        assert_eq!(session(link).as_deref(), Some("ses_3f2a9c"));
        for link in [
            "openchamber://session/",
            "openchamber://session/msg_1",
            "openchamber://session/ses_1/",
            "openchamber://session/ses_1/../ses_2/x",
            "openchamber://session/ses_%2e",
            "openchamber://session//ses_1",
            "openchamber://settings/ses_1",
            "openchamber://session:80/ses_1",
            "openchamber://me@session/ses_1",
            "openchamber://session/ses_1?directory=/",
            "openchamber://session/ses_1#now",
            "openchamber:session/ses_1",
            "https://session/ses_1",
        ] {
            assert_eq!(session(link), None, "{link}");
        }
    }

    #[test]
    fn only_web_pages_and_mail_addresses_leave_the_app() {
        for link in [
            "http://a.example/b?c#d",
            "https://a.example",
            "mailto:a@b.example",
        ] {
            assert!(external(link).is_ok(), "{link}");
        }
        let long = format!("https://a.example/{}", "a".repeat(EXTERNAL_BYTES_MAX));
        for link in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "openchamber://session/ses_1",
            "smb://host/share",
            "/etc/passwd",
            "",
            "https:",
            &long,
        ] {
            assert!(external(link).is_err(), "{link}");
        }
    }

    #[test]
    fn the_window_shows_the_apps_own_pages_alone() {
        let own = if cfg!(windows) {
            "http://tauri.localhost/index.html"
        } else {
            "tauri://localhost/index.html"
        };
        assert!(is_own(&Url::parse(own).unwrap()));
        for page in [
            "https://evil.example/",
            "http://127.0.0.1:4096/",
            "http://localhost/",
            "tauri://evil.example/",
            "file:///etc/passwd",
            "about:blank",
            "data:text/html,x",
            "blob:tauri://localhost/1",
        ] {
            assert!(!is_own(&Url::parse(page).unwrap()), "{page}");
        }
    }

    #[test]
    fn what_was_asked_for_before_a_page_listened_is_given_once() {
        let open = |id: &str| Open {
            session_id: id.to_owned(),
            directory: None,
        };
        let opens = Opens::default();
        assert!(!opens.ask(&open("ses_1")));
        assert!(!opens.ask(&open("ses_2")), "the newest counts");
        assert_eq!(opens.take(), Some(open("ses_2")));
        assert_eq!(opens.take(), None);
        assert!(opens.ask(&open("ses_3")), "the page is told");
        opens.left();
        assert!(!opens.ask(&open("ses_4")));
        assert_eq!(opens.take(), Some(open("ses_4")));
    }
}
