//! Where a server is and how to identify to it.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use crate::error::{Error, Kind};

/// The user name OpenCode expects when none is configured.
pub const DEFAULT_USERNAME: &str = "opencode";

/// A value that shows as `***` wherever it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The secret itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A server's address and credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Scheme, host and port; the path is `/`, and there is no user information.
    pub url: Url,
    /// The user name of HTTP Basic.
    pub username: String,
    /// The password of HTTP Basic; without one no credentials are sent.
    pub password: Option<Secret>,
}

impl Target {
    /// Checks an address as a person types it.
    ///
    /// An empty `password` counts as none, as it does for OpenCode.
    ///
    /// # Errors
    /// [`Kind::BadTarget`] unless `url` is `http(s)://host[:port]` without path, query, fragment
    /// and user information, and `username` is non-empty and has no colon, which HTTP Basic cannot
    /// carry.
    pub fn parse(url: &str, username: &str, password: Option<Secret>) -> Result<Self, Error> {
        let url = Url::parse(url.trim()).map_err(|error| {
            bad(format!(
                "the server address is not a URL ({error}); give http://host:port"
            ))
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(
                "the server address must begin with http:// or https://",
            ));
        }
        if url.host().is_none() {
            return Err(bad(
                "the server address names no host; give http://host:port",
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad(
                "give user name and password separately, not inside the address",
            ));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(bad(
                "the server address must end after the port; give http://host:port",
            ));
        }
        if username.is_empty() || username.contains(':') {
            return Err(bad(
                "the user name must not be empty and must not contain a colon",
            ));
        }
        let password = password.filter(|password| !password.expose().is_empty());
        Ok(Self {
            url,
            username: username.to_owned(),
            password,
        })
    }

    /// Whether the server runs on this machine, as far as the address tells.
    pub fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name == "localhost" || name.ends_with(".localhost")
            }
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
            None => false,
        }
    }
}

fn bad(message: impl Into<String>) -> Error {
    Error::without_effect(Kind::BadTarget, message)
}
