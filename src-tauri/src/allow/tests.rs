//! The table from outside: what gets through, what does not, and what is sent on.

use pretty_assertions::assert_eq;

use super::*;

fn call(method: &str, path: &str) -> Call {
    Call {
        method: method.to_owned(),
        path: path.to_owned(),
        query: Vec::new(),
        body: None,
    }
}

fn with_body(method: &str, path: &str, body: &str) -> Call {
    Call {
        body: Some(body.to_owned()),
        ..call(method, path)
    }
}

fn with_query(path: &str, query: &[(&str, &str)]) -> Call {
    let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    Call {
        query: query.iter().map(pair).collect(),
        ..call("GET", path)
    }
}

fn is_not_allowed(call: &Call) -> bool {
    matches!(allow(call), Err(Refusal::NotAllowed(_)))
}

fn is_invalid(call: &Call) -> bool {
    matches!(allow(call), Err(Refusal::Invalid(_)))
}

/// Every call that is allowed, with ids as the server makes them.
const ALLOWED: &[(&str, &str)] = &[
    ("GET", "/global/health"),
    ("GET", "/path"),
    ("GET", "/vcs"),
    ("GET", "/vcs/diff"),
    ("GET", "/project"),
    ("GET", "/project/current"),
    ("GET", "/session"),
    ("GET", "/session/status"),
    ("GET", "/session/ses_1"),
    ("GET", "/session/ses_1/children"),
    ("GET", "/session/ses_1/todo"),
    ("GET", "/session/ses_1/message"),
    ("GET", "/session/ses_1/message/msg_1"),
    ("GET", "/session/ses_1/diff"),
    ("GET", "/experimental/session"),
    ("GET", "/permission"),
    ("GET", "/question"),
    ("GET", "/command"),
    ("GET", "/agent"),
    ("GET", "/mcp"),
    ("GET", "/lsp"),
    ("GET", "/formatter"),
    ("GET", "/file"),
    ("GET", "/file/content"),
    ("GET", "/file/status"),
    ("GET", "/find"),
    ("GET", "/find/file"),
    ("GET", "/find/symbol"),
    ("POST", "/session"),
    ("POST", "/session/ses_1/prompt_async"),
    ("POST", "/session/ses_1/command"),
    ("POST", "/session/ses_1/shell"),
    ("POST", "/session/ses_1/abort"),
    ("POST", "/experimental/worktree"),
    ("DELETE", "/experimental/worktree"),
    ("POST", "/session/ses_1/summarize"),
    ("POST", "/session/ses_1/fork"),
    ("POST", "/session/ses_1/revert"),
    ("POST", "/session/ses_1/unrevert"),
    ("POST", "/session/ses_1/init"),
    ("POST", "/permission/per_1/reply"),
    ("POST", "/question/que_1/reply"),
    ("POST", "/question/que_1/reject"),
    ("PATCH", "/session/ses_1"),
    ("DELETE", "/session/ses_1"),
];

#[test]
fn what_the_page_needs_gets_through_and_nothing_else_of_the_table() {
    assert_eq!(TABLE.len(), ALLOWED.len());
    for (method, path) in ALLOWED {
        let route = allow(&call(method, path)).unwrap_or_else(|why| panic!("{path}: {why:?}"));
        assert_eq!(format!("/{}", route.path.join("/")), *path);
        for other in ["GET", "POST", "PATCH", "DELETE"] {
            let listed = ALLOWED.contains(&(other, path));
            assert_eq!(allow(&call(other, path)).is_ok(), listed, "{other} {path}");
        }
    }
}

#[test]
fn keys_configuration_and_the_servers_own_life_are_out_of_reach() {
    for path in [
        "/config",
        "/config/providers",
        "/provider",
        "/provider/auth",
        "/provider/openai/oauth/authorize",
        "/auth",
        "/auth/openai",
        "/global/config",
        "/global/dispose",
        "/global/event",
        "/event",
        "/instance/dispose",
        "/tui/submit-prompt",
        "/tui/publish",
        "/sync/history",
        "/pty",
        "/pty/pty_1",
        "/doc",
        "/log",
        "/mcp/server/connect",
        "/experimental/tool",
        "/session/ses_1/share",
        "/session/ses_1/permissions/per_1",
        "/api/session",
    ] {
        for method in ["GET", "POST", "PATCH", "DELETE"] {
            assert!(is_not_allowed(&call(method, path)), "{method} {path}");
            let with_body = with_body(method, path, "{}");
            assert!(is_not_allowed(&with_body), "{method} {path}");
        }
    }
    assert!(is_not_allowed(&call("POST", "/session/ses_1/message")));
    assert!(is_not_allowed(&call(
        "DELETE",
        "/session/ses_1/message/msg_1"
    )));
    assert!(is_not_allowed(&call("POST", "/mcp")));
}

#[test]
fn a_path_means_the_same_to_everybody_or_is_refused() {
    for path in [
        "",
        "/",
        "session",
        "//session",
        "/session/",
        "/session//ses_1",
        "/session/ses_1/",
        "/session/../config",
        "/session/ses_1/../../config",
        "/./session",
        "/session/.",
        "/session/ses_1%2Fmessage",
        "/session/ses_1%2f..%2f..%2fconfig",
        "/%73ession",
        "/session?directory=/",
        "/session#x",
        "/session;x",
        "/session\\ses_1",
        "/session/ses_1\n",
        "/session/ses_1 ",
        "/session/ses_1\0",
        "/session/ses_é",
        "http://evil.example/session",
        "/session/ses_1@evil.example",
    ] {
        assert!(is_invalid(&call("GET", path)), "{path:?}");
    }
    let long = format!("/session/ses_{}", "a".repeat(600));
    assert!(is_invalid(&call("GET", &long)));
}

#[test]
fn words_are_written_small_and_methods_large() {
    for path in [
        "/Session",
        "/SESSION/status",
        "/session/SES_1",
        "/Global/Health",
    ] {
        assert!(is_not_allowed(&call("GET", path)), "{path}");
    }
    for method in ["get", "Get", "PUT", "HEAD", "OPTIONS", "", "GET "] {
        assert!(is_invalid(&call(method, "/session")), "{method:?}");
    }
}

#[test]
fn an_id_is_one_of_its_kind() {
    for path in [
        "/session/msg_1",
        "/session/1",
        "/session/ses_1/message/ses_1",
        "/session/ses_1/message/prt_1",
    ] {
        assert!(is_not_allowed(&call("GET", path)), "{path}");
    }
    for path in [
        "/permission/ses_1/reply",
        "/permission/que_1/reply",
        "/question/per_1/reply",
        "/question/que_1/remove",
    ] {
        assert!(is_not_allowed(&with_body("POST", path, "{}")), "{path}");
    }
    let long = format!("/permission/per_{}/reply", "a".repeat(200));
    assert!(is_not_allowed(&with_body("POST", &long, "{}")));
}

#[test]
fn a_query_has_the_keys_of_its_call_each_once() {
    let asked = [
        ("directory", "/a b/ü&x=1"),
        ("limit", "40"),
        ("before", "x"),
    ];
    let route = allow(&with_query("/session/ses_1/message", &asked)).unwrap_or_else(|_| panic!());
    let sent: Vec<(&str, &str)> = route
        .query
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(sent, asked, "as it was, to be escaped when it is sent");
    for key in [
        "auth_token",
        "limit",
        "workspace",
        "Directory",
        "",
        "directory[]",
    ] {
        assert!(
            is_not_allowed(&with_query("/agent", &[(key, "x")])),
            "{key}"
        );
    }
    let long = "a".repeat(5_000);
    for query in [
        &[("directory", "/a"), ("directory", "/b")][..],
        &[("directory", "/a\0")][..],
        &[("directory", long.as_str())][..],
    ] {
        assert!(is_invalid(&with_query("/agent", query)));
    }
}

#[test]
fn a_session_keeps_its_goal_and_its_permissions() {
    let patch = |body: &str| allow(&with_body("PATCH", "/session/ses_1", body));
    let sent = patch(r#"{ "title": "x", "time": { "archived": 1 } }"#);
    let sent = sent.unwrap_or_else(|_| panic!()).body;
    assert_eq!(
        sent.as_deref(),
        Some(r#"{"time":{ "archived": 1 },"title":"x"}"#)
    );
    assert!(patch(r#"{"time":{"archived":null}}"#).is_ok());
    for body in [
        r#"{"metadata":{}}"#,
        r#"{"title":"x","metadata":null}"#,
        r#"{"metad\u0061ta":{}}"#,
        r#"{"permission":[]}"#,
        r#"{"time":{"created":1}}"#,
        r#"{"time":{"archived":1,"updated":1}}"#,
    ] {
        assert!(matches!(patch(body), Err(Refusal::NotAllowed(_))), "{body}");
    }
    for body in [
        r#"{"time":1}"#,
        r#"{"time":{"archived":"x"}}"#,
        "[]",
        "null",
        "",
        "{",
    ] {
        assert!(matches!(patch(body), Err(Refusal::Invalid(_))), "{body}");
    }
    let create = |body: &str| allow(&with_body("POST", "/session", body));
    assert!(create(r#"{"title":"x"}"#).is_ok());
    for key in ["metadata", "permission", "workspaceID"] {
        let body = format!(r#"{{"{key}":{{}}}}"#);
        assert!(
            matches!(create(&body), Err(Refusal::NotAllowed(_))),
            "{key}"
        );
    }
}

#[test]
fn a_prompt_carries_no_permissions_and_no_system_text() {
    let prompt = |body: &str| allow(&with_body("POST", "/session/ses_1/prompt_async", body));
    assert!(prompt(r#"{"parts":[],"agent":"build","noReply":true}"#).is_ok());
    for key in ["tools", "system", "format", "permission"] {
        let body = format!(r#"{{"parts":[],"{key}":{{}}}}"#);
        assert!(
            matches!(prompt(&body), Err(Refusal::NotAllowed(_))),
            "{key}"
        );
    }
}

#[test]
fn a_worktree_is_made_without_a_command_and_known_when_it_goes() {
    let tree = |method: &str, body: &str| {
        allow(&with_body(method, "/experimental/worktree", body)).map(|route| route.tree)
    };
    assert_eq!(tree("POST", r#"{"name":"a"}"#), Ok(Some(Tree::Makes)));
    for key in ["startCommand", "directory"] {
        let body = format!(r#"{{"{key}":"x"}}"#);
        assert!(matches!(tree("POST", &body), Err(Refusal::NotAllowed(_))));
    }
    for (body, expected) in [
        (r#"{"directory":"/t/a"}"#, "/t/a"),
        (r#"{"directory":"/t/a","directory":"/t/b"}"#, "/t/b"),
        (r#"{"directory":["/t/a"]}"#, ""),
        ("{}", ""),
    ] {
        let removes = Some(Tree::Removes(expected.to_owned()));
        assert_eq!(tree("DELETE", body), Ok(removes), "{body}");
    }
    let without = allow(&call("DELETE", "/experimental/worktree"));
    let tree = without.unwrap_or_else(|_| panic!()).tree;
    assert_eq!(tree, Some(Tree::Removes(String::new())));
    let other = allow(&call("DELETE", "/session/ses_1"));
    assert_eq!(other.unwrap_or_else(|_| panic!()).tree, None);
}

#[test]
fn what_was_checked_is_what_is_sent() {
    let twice = r#"{"title":"first","title":"second"}"#;
    let route = allow(&with_body("PATCH", "/session/ses_1", twice));
    let sent = route.unwrap_or_else(|_| panic!()).body;
    assert_eq!(sent.as_deref(), Some(r#"{"title":"second"}"#));
    assert!(is_invalid(&with_body("GET", "/session", "{}")));
    assert!(is_invalid(&with_body("DELETE", "/session/ses_1", "{}")));
    let long = format!(r#"{{"title":"{}"}}"#, "a".repeat(BODY_BYTES_MAX));
    let refused = allow(&with_body("PATCH", "/session/ses_1", &long));
    assert!(matches!(refused, Err(Refusal::TooBig)));
}

#[test]
fn what_lasts_as_long_as_a_turn_has_that_long() {
    let deadline = |method: &str, path: &str| {
        let route = allow(&call(method, path));
        route.unwrap_or_else(|_| panic!("{path}")).deadline
    };
    assert_eq!(deadline("GET", "/session"), USUAL);
    assert_eq!(deadline("POST", "/session/ses_1/prompt_async"), LONG);
    for path in ["command", "shell", "summarize", "init"] {
        assert_eq!(deadline("POST", &format!("/session/ses_1/{path}")), TURN);
    }
}

#[test]
fn a_stop_is_known_as_one() {
    let aborts = |path: &str| {
        let route = allow(&call("POST", path));
        route.unwrap_or_else(|_| panic!("{path}")).aborts
    };
    assert_eq!(aborts("/session/ses_1/abort").as_deref(), Some("ses_1"));
    assert_eq!(aborts("/session/ses_1/unrevert"), None);
}
