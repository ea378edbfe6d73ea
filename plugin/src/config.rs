//! What an app configures: `plugins.goal` of `tauri.conf.json`, and the same from Rust.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use goal_core::limits::{Limits, TUNABLES, Tunable};
use goal_engine::host::ServerChoice;
use goal_engine::paths::{DATA_DIR_VARIABLE, DataDir};
use goal_engine::{Code as EngineCode, Error as EngineError};
use opencode_client::{DEFAULT_USERNAME, Secret, Target, process_environment};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::models::ServerRequest;

/// The environment variable with the password of a server.
pub const PASSWORD_VARIABLE: &str = "OPENCODE_SERVER_PASSWORD";

/// `plugins.goal` of `tauri.conf.json`. Every key may be left out; an unknown one is refused.
///
/// ```
/// let config: tauri_plugin_goal::Config = serde_json::from_str(
///     r#"{ "server": { "kind": "attached", "url": "http://127.0.0.1:4096" },
///          "limits": { "idleQuietMs": 5000 } }"#,
/// )?;
/// assert!(!config.keep_running.unwrap_or_default());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Config {
    /// The OpenCode server. Default: one that this app starts in the user's home folder.
    pub server: Option<Server>,
    /// The data folder. Default: `OPENCHAMBER_DATA_DIR`, else that of the OpenChamber app.
    pub data_dir: Option<PathBuf>,
    /// Numbers that the loop obeys, where they are not the usual ones.
    pub limits: LimitsConfig,
    /// The app goes on when its last window is closed. Default: no. It then needs another way to
    /// end and to come back, such as a tray.
    pub keep_running: Option<bool>,
    /// SIGTERM and SIGINT end the app in order; on Windows, Ctrl-C. Default: yes.
    pub handle_signals: Option<bool>,
    /// The language of native notices, such as `fr`. Default: English.
    pub language: Option<String>,
}

/// The OpenCode server an app uses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", deny_unknown_fields)]
pub enum Server {
    /// One that this app starts, keeps running and ends.
    Managed {
        /// The folder it runs in. Default: the user's home folder.
        #[serde(default)]
        directory: Option<PathBuf>,
        /// The `opencode` program. Default: the setting `opencodeBinary`, else it is searched for.
        #[serde(default)]
        binary: Option<PathBuf>,
    },
    /// One that runs. Its password is read from `OPENCODE_SERVER_PASSWORD`, or given to
    /// [`Builder::password`](crate::Builder::password): it has no place in a file.
    Attached {
        /// Its address, such as `http://127.0.0.1:4096`.
        url: String,
        /// The user name, if it is not `opencode`.
        #[serde(default)]
        username: Option<String>,
    },
    /// None, until `server_connect` names one.
    None {},
}

impl Config {
    /// This, with every key that `other` names in place of its own.
    #[must_use]
    pub(crate) fn overlaid(mut self, other: Self) -> Self {
        self.limits.0.extend(other.limits.0);
        Self {
            server: other.server.or(self.server),
            data_dir: other.data_dir.or(self.data_dir),
            limits: self.limits,
            keep_running: other.keep_running.or(self.keep_running),
            handle_signals: other.handle_signals.or(self.handle_signals),
            language: other.language.or(self.language),
        }
    }

    /// The data folder.
    ///
    /// # Errors
    /// `dataFolder` if this user has none.
    pub(crate) fn data_dir(&self) -> Result<DataDir> {
        let variable = std::env::var_os(DATA_DIR_VARIABLE);
        DataDir::resolve(self.data_dir.as_deref(), variable.as_deref()).map_err(|error| {
            Error::new(
                Code::Engine(EngineCode::DataFolder),
                format!("{error}; or set `dataDir` in the app's configuration"),
            )
        })
    }

    /// The server to connect to at first; `None`: none until one is named. `home` is the user's
    /// home folder.
    ///
    /// # Errors
    /// `unreachable` for an address that is none.
    pub(crate) fn choice(
        &self,
        home: Option<PathBuf>,
        password: Option<Secret>,
    ) -> Result<Option<ServerChoice>> {
        let usual = Server::Managed {
            directory: None,
            binary: None,
        };
        match self.server.as_ref().unwrap_or(&usual) {
            Server::Managed { directory, binary } => {
                let directory = directory.clone().or(home);
                Ok(Some(managed(directory, binary.clone())))
            }
            Server::Attached { url, username } => {
                attached(url, username.as_deref(), password).map(Some)
            }
            Server::None {} => Ok(None),
        }
    }

    /// The server that a page asks for. A managed one keeps the configured program: a page never
    /// names a program to start by this way.
    ///
    /// # Errors
    /// `invalidArguments` for an address that is none.
    pub(crate) fn asked(
        &self,
        request: &ServerRequest,
        home: Option<PathBuf>,
    ) -> Result<Option<ServerChoice>> {
        match request {
            ServerRequest::Managed { directory } => {
                let (configured, binary) = match &self.server {
                    Some(Server::Managed { directory, binary }) => {
                        (directory.clone(), binary.clone())
                    }
                    Some(Server::Attached { .. } | Server::None {}) | None => (None, None),
                };
                let directory = directory.clone().map(PathBuf::from);
                Ok(Some(managed(directory.or(configured).or(home), binary)))
            }
            ServerRequest::Attached {
                url,
                username,
                password,
            } => {
                let password = password.clone().map(Secret::new);
                attached(url, username.as_deref(), password)
                    .map(Some)
                    .map_err(|error| Error::invalid_arguments(error.message()))
            }
            ServerRequest::None {} => Ok(None),
        }
    }
}

/// The password of `OPENCODE_SERVER_PASSWORD`, if it is set and text.
pub(crate) fn password_of_environment() -> Option<Secret> {
    std::env::var(PASSWORD_VARIABLE).ok().map(Secret::new)
}

fn managed(directory: Option<PathBuf>, binary: Option<PathBuf>) -> ServerChoice {
    ServerChoice::Managed {
        binary,
        directory: directory.unwrap_or_else(std::env::temp_dir),
        environment: process_environment(),
    }
}

fn attached(url: &str, username: Option<&str>, password: Option<Secret>) -> Result<ServerChoice> {
    let username = username.unwrap_or(DEFAULT_USERNAME);
    Target::parse(url, username, password)
        .map(ServerChoice::Attached)
        .map_err(|error| EngineError::new(EngineCode::Unreachable, error.message()).into())
}

/// Limits by name; each is checked where it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitsConfig(BTreeMap<&'static str, Vec<u64>>);

impl LimitsConfig {
    /// Sets a limit by the name it has in the app's configuration.
    ///
    /// ```
    /// let mut config = tauri_plugin_goal::Config::default();
    /// config.limits.set("turnsMax", 5)?;
    /// assert_eq!(config.limits.limits()?.turns_max, 5);
    /// # Ok::<(), tauri_plugin_goal::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalidLimits` for a name that is none, or a value that the limit does not take.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<()> {
        let one = BTreeMap::from([(name, value.into())]);
        let one = serde_json::to_value(one).and_then(serde_json::from_value::<Self>);
        let one = one.map_err(|error| {
            Error::new(Code::Engine(EngineCode::InvalidLimits), error.to_string())
        })?;
        self.0.extend(one.0);
        Ok(())
    }

    /// The usual limits with these in place of theirs.
    ///
    /// # Errors
    /// `invalidLimits` if two of them contradict each other.
    pub fn limits(&self) -> Result<Limits> {
        let mut limits = Limits::DEFAULT;
        for limit in &TUNABLES {
            if let Some(numbers) = self.0.get(limit.name) {
                // They are as many as it takes: `read` saw to that.
                let _ = limit.set(&mut limits, numbers);
            }
        }
        limits.check().map(|()| limits).map_err(|broken| {
            let code = Code::Engine(EngineCode::InvalidLimits);
            Error::new(code, camel(broken.sentence()))
        })
    }
}

impl<'de> Deserialize<'de> for LimitsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let mut limits = BTreeMap::new();
        for (name, value) in given {
            let Some(limit) = TUNABLES.iter().find(|limit| camel(limit.name) == name) else {
                return Err(D::Error::custom(format!("there is no limit `{name}`")));
            };
            let numbers = read(limit, &value).ok_or_else(|| {
                D::Error::invalid_value(Unexpected::Other(&value.to_string()), &Expected(limit))
            })?;
            limits.insert(limit.name, numbers);
        }
        Ok(Self(limits))
    }
}

fn read(limit: &Tunable, value: &Value) -> Option<Vec<u64>> {
    let range = range(limit);
    let one = |value: &Value| value.as_u64().filter(|number| range.contains(number));
    if limit.takes() == 1 {
        return one(value).map(|number| vec![number]);
    }
    let values = value.as_array()?;
    let numbers: Vec<u64> = values.iter().map(one).collect::<Option<_>>()?;
    (numbers.len() == limit.takes()).then_some(numbers)
}

/// As on the command line, but that an app always leaves its user a moment to speak.
fn range(limit: &Tunable) -> RangeInclusive<u64> {
    let least = u64::from(limit.name == "idle-quiet-ms");
    let range = limit.range();
    least.max(*range.start())..=*range.end()
}

struct Expected<'a>(&'a Tunable);

impl serde::de::Expected for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = range(self.0);
        let (min, max) = (range.start(), range.end());
        let name = camel(self.0.name);
        if self.0.takes() == 1 {
            write!(f, "a whole number from {min} to {max} for `{name}`")
        } else {
            write!(f, "two numbers from {min} to {max} for `{name}`")
        }
    }
}

/// A limit's name such as `idle-quiet-ms`, or a sentence with some, as the keys are written.
fn camel(sentence: &str) -> String {
    let word = |word: &str| {
        let mut parts = word.split('-');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |name, part| {
            let (head, tail) = part.split_at(part.chars().next().map_or(0, char::len_utf8));
            name + &head.to_uppercase() + tail
        })
    };
    sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(value: Value) -> Result<Config, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_configured_is_a_server_of_our_own_with_the_usual_limits() {
        let config = config(json!({})).unwrap();
        assert_eq!(config, Config::default());
        assert_eq!(config.limits.limits(), Ok(Limits::DEFAULT));
        let home = PathBuf::from("/home/somebody");
        let choice = config.choice(Some(home.clone()), None).unwrap();
        assert!(matches!(
            choice,
            Some(ServerChoice::Managed { binary: None, directory, .. }) if directory == home
        ));
    }

    #[test]
    fn an_unknown_key_is_refused_by_its_name() {
        for (value, key) in [
            (json!({ "keepAlive": true }), "keepAlive"),
            (json!({ "limits": { "idleMs": 1 } }), "idleMs"),
            (
                json!({ "server": { "kind": "attached", "url": "x", "password": "secret" } }),
                "password",
            ),
            (json!({ "server": { "kind": "remote" } }), "remote"),
        ] {
            let refusal = config(value).unwrap_err();
            assert!(refusal.contains(&format!("`{key}`")), "{refusal}");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
    }

    #[test]
    fn a_limit_out_of_range_is_refused_by_its_name() {
        for value in [json!(99), json!(-1), json!(0.5), json!("1"), json!([1, 2])] {
            let refusal = config(json!({ "limits": { "recheckMaxMs": value } })).unwrap_err();
            assert!(refusal.contains("`recheckMaxMs`"), "{refusal}");
        }
        assert!(config(json!({ "limits": { "auditRetryMs": [1] } })).is_err());
        assert!(config(json!({ "limits": { "idleQuietMs": 0 } })).is_err());
    }

    #[test]
    fn contradictions_between_limits_are_told_with_the_names_of_their_keys() {
        let config = config(json!({ "limits": { "kickoffQuietMs": 60_000 } })).unwrap();
        let error = config.limits.limits().unwrap_err();
        assert_eq!(error.code().name(), "invalidLimits");
        assert_eq!(
            error.message(),
            "kickoffQuietMs must not exceed idleQuietMs"
        );
    }

    #[test]
    fn rust_sets_a_limit_by_the_same_name_and_within_the_same_range() {
        let mut limits = LimitsConfig::default();
        limits.set("turnsMax", 5).unwrap();
        assert_eq!(limits.limits().unwrap().turns_max, 5);
        for (name, value) in [("turnsMax", 0), ("turns_max", 5)] {
            let refused = limits.set(name, value).unwrap_err();
            assert!(refused.message().contains(name), "{refused}");
        }
    }

    #[test]
    fn every_key_reaches_a_limit_of_its_own() {
        let mut reached: Vec<Limits> = Vec::new();
        for key in &TUNABLES {
            let value = if key.takes() == 2 {
                json!([777, 778])
            } else {
                json!(777)
            };
            let mut limits = Limits::DEFAULT;
            assert!(key.set(&mut limits, &read(key, &value).unwrap()));
            assert_ne!(limits, Limits::DEFAULT, "{}", key.name);
            assert!(!reached.contains(&limits), "{}", key.name);
            reached.push(limits);
        }
    }

    #[test]
    fn what_rust_says_stands_over_what_the_file_says() {
        let file = config(json!({
            "keepRunning": true, "language": "fr", "limits": { "turnsMax": 3, "emptyMax": 1 }
        }));
        let rust = config(json!({ "language": "en", "limits": { "turnsMax": 4 } }));
        let both = file.unwrap().overlaid(rust.unwrap());
        assert_eq!(both.keep_running, Some(true));
        assert_eq!(both.language.as_deref(), Some("en"));
        let limits = both.limits.limits().unwrap();
        assert_eq!((limits.turns_max, limits.empty_max), (4, 1));
    }

    #[test]
    fn an_address_is_checked_and_a_password_never_shown() {
        let attached = |url: &str| ServerRequest::Attached {
            url: url.to_owned(),
            username: None,
            password: Some("secret".to_owned()),
        };
        let config = Config::default();
        let refused = config.asked(&attached("not a url"), None).unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArguments);
        let taken = config.asked(&attached("http://127.0.0.1:1"), None).unwrap();
        assert!(!format!("{taken:?}").contains("secret"));
        assert!(!format!("{:?}", attached("http://u:secret@h")).contains("secret"));
    }
}
