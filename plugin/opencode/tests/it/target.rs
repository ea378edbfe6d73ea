//! Addresses as people type them.

use opencode_client::{DEFAULT_USERNAME, Kind, Secret, Target};
use pretty_assertions::assert_eq;

fn parse(url: &str) -> Result<Target, opencode_client::Error> {
    Target::parse(url, DEFAULT_USERNAME, None)
}

#[test]
fn plain_addresses_are_taken() {
    for (given, kept) in [
        ("http://127.0.0.1:4096", "http://127.0.0.1:4096/"),
        (" https://code.example/ ", "https://code.example/"),
        ("HTTP://[::1]:80", "http://[::1]/"),
    ] {
        assert_eq!(parse(given).unwrap().url.as_str(), kept);
    }
}

#[test]
fn everything_else_is_refused_without_repeating_a_password() {
    for given in [
        "",
        "127.0.0.1:4096",
        "localhost:4096",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "http://127.0.0.1:4096/api",
        "http://127.0.0.1:4096/?a=b",
        "http://127.0.0.1:4096/#x",
        "http://me:hunter2@127.0.0.1:4096",
        "http://127.0.0.1:99999",
    ] {
        let error = parse(given).unwrap_err();
        assert_eq!(*error.kind(), Kind::BadTarget, "{given}");
        assert!(!error.maybe_sent());
        assert!(!error.message().contains("hunter2"));
    }
    for name in ["", "a:b"] {
        let error = Target::parse("http://127.0.0.1:1", name, None).unwrap_err();
        assert_eq!(*error.kind(), Kind::BadTarget);
    }
}

#[test]
fn an_empty_password_is_none_and_no_password_is_shown() {
    let with =
        |password| Target::parse("http://127.0.0.1:1", "me", Some(Secret::new(password))).unwrap();
    assert_eq!(with("").password, None);
    let shown = format!("{:?}", with("hunter2"));
    assert!(
        shown.contains("***") && !shown.contains("hunter2"),
        "{shown}"
    );
    assert_eq!(with("hunter2").password.unwrap().expose(), "hunter2");
}

#[test]
fn this_machine_is_told_from_others() {
    for (url, expected) in [
        ("http://127.0.0.1:1", true),
        ("http://127.9.9.9", true),
        ("http://localhost:1", true),
        ("http://a.localhost", true),
        ("http://[::1]:1", true),
        ("http://[::ffff:127.0.0.1]", true),
        ("http://10.0.0.1", false),
        ("http://localhost.example", false),
        ("http://0.0.0.0", false),
    ] {
        assert_eq!(parse(url).unwrap().is_loopback(), expected, "{url}");
    }
}
