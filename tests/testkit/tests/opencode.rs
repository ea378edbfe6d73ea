//! The real server boots, works with its tools, and leaves nothing behind.
//!
//! Without the binary these tests fail and say how to install it: a skipped test proves nothing.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::model::{Kind, Progress};
use testkit::{Error, OpenCode, OpenCodeOptions, ScriptedModel, Step};

const DEADLINE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_prompt_is_answered_with_a_tool_call_that_writes_a_file() {
    let model = ScriptedModel::builder()
        .turn([
            Step::tool(
                "write",
                json!({ "filePath": "made.txt", "content": "by a tool\n" }),
            ),
            Step::tool(
                "bash",
                json!({
                    "command": "sleep 600 >/dev/null 2>&1 & cat made.txt", "description": "Look",
                }),
            ),
            Step::say("Done: made.txt. Verified: read. Remaining: nothing."),
        ])
        .start()
        .unwrap();
    let begin = Instant::now();
    let server = OpenCode::start(OpenCodeOptions::new(model.url()))
        .await
        .unwrap();
    println!("healthy after {:?}", begin.elapsed());
    let (pid, project) = (server.pid().unwrap(), server.project());
    let home = server.scratch().home().to_owned();

    let session = server.create_session(&project, "A file").await.unwrap();
    let answer = server.converse(&session, "make a file").await.unwrap();
    println!("answered after {:?}", begin.elapsed());
    assert!(said(&answer).contains("Verified: read"), "{answer}");
    assert_eq!(
        std::fs::read_to_string(project.join("made.txt")).unwrap(),
        "by a tool\n"
    );
    assert_eq!(model.unused(), (0, 0));
    let calls = model.work_calls();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[0].session.as_deref(), Some(session.as_str()));
    assert!(calls[0].tools().contains(&"write".to_owned()));
    // The server and the shell command that outlives its tool call.
    let processes = server.scratch().processes();
    assert!(
        processes.contains(&pid) && processes.len() > 1,
        "{processes:?}"
    );

    drop(server);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(living_with(&home), Vec::<u32>::new());
    assert!(!home.exists());
}

#[tokio::test]
async fn a_restart_keeps_the_data_and_the_address_and_asks_for_the_password() {
    let model = ScriptedModel::builder()
        .turn([Step::held("mid", "half an")])
        .start()
        .unwrap();
    let mut options = OpenCodeOptions::new(model.url());
    options.password = Some("a-test-password".to_owned());
    options.config = json!({ "command": { "hello": { "template": "Say $1" } } });
    let mut server = OpenCode::start(options).await.unwrap();
    let (pid, url) = (server.pid().unwrap(), server.url());
    assert!(!format!("{server:?}").contains("a-test-password"));
    assert_eq!(
        reqwest::get(format!("{url}/global/health"))
            .await
            .unwrap()
            .status(),
        401
    );
    let unknown = server.call(Method::GET, "/no-such-path", None).await;
    assert!(
        matches!(unknown, Err(Error::Answer { status: 200, .. })),
        "{unknown:?}"
    );
    let commands = server.call(Method::GET, "/command", None).await.unwrap();
    assert!(
        commands
            .as_array()
            .unwrap()
            .iter()
            .any(|command| command["name"] == "hello")
    );

    let session = server
        .create_session(&server.project(), "Cut off")
        .await
        .unwrap();
    server.prompt(&session, "begin").await.unwrap();
    model.reached("mid", DEADLINE).await.unwrap();
    server.restart().await.unwrap();
    model
        .wait_for(
            |log| log.iter().all(|call| call.progress == Progress::ClientGone),
            DEADLINE,
        )
        .await
        .unwrap();

    assert_eq!(server.url(), url);
    assert_ne!(server.pid().unwrap(), pid);
    let messages = server.messages(&session).await.unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1]["info"]["time"]["completed"], Value::Null);
    server.abort(&session).await.unwrap();
}

#[tokio::test]
async fn the_server_s_own_questions_are_told_apart() {
    let model = ScriptedModel::builder()
        .turn([Step::say("worked")])
        .audit_verdict("complete", "seen")
        .start()
        .unwrap();
    let mut options = OpenCodeOptions::new(model.url());
    options.config = json!({ "agent": { "judge": {
        "mode": "primary", "hidden": true, "prompt": "You judge.", "permission": { "*": "deny" },
    } } });
    let server = OpenCode::start(options).await.unwrap();
    let post = |path: String, body: Value| {
        let server = &server;
        async move { server.call(Method::POST, &path, Some(&body)).await.unwrap() }
    };
    let project = server.project().display().to_string();
    let session = post(format!("/session?directory={project}"), json!({})).await;
    let id = session["id"].as_str().unwrap();
    assert_eq!(said(&server.converse(id, "work").await.unwrap()), "worked");

    let deny_all = json!([{ "permission": "*", "pattern": "*", "action": "deny" }]);
    let child = json!({ "parentID": id, "title": "judge", "permission": deny_all });
    let child = post(format!("/session?directory={project}"), child).await;
    let child = child["id"].as_str().unwrap();
    let question = json!({ "agent": "judge", "parts": [{ "type": "text", "text": "done?" }] });
    let verdict = post(format!("/session/{child}/message"), question).await;
    assert!(
        said(&verdict).contains(r#""verdict":"complete""#),
        "{verdict}"
    );

    let with = json!({ "providerID": "fake", "modelID": "big" });
    post(format!("/session/{id}/summarize"), with).await;
    model
        .wait_for(|log| log.len() == 4, DEADLINE)
        .await
        .unwrap();
    let mut kinds: Vec<Kind> = model
        .requests()
        .iter()
        .map(|request| request.kind)
        .collect();
    // The title is asked for beside the first turn, before or after it.
    kinds[..2].sort_by_key(|kind| *kind != Kind::Title);
    assert_eq!(
        kinds,
        [Kind::Title, Kind::Work, Kind::Audit, Kind::Compaction]
    );
    assert_eq!(model.audit_calls()[0].session.as_deref(), Some(child));
}

#[tokio::test]
async fn a_binary_that_ends_at_once_is_reported_with_its_output() {
    let mut options = OpenCodeOptions::new("http://127.0.0.1:9/v1");
    options.binary = Some("/bin/false".into());
    let error = OpenCode::start(options).await.unwrap_err();
    assert!(matches!(error, Error::Ended { .. }), "{error}");
}

fn said(message: &Value) -> String {
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// Every process whose environment still names the scratch home.
fn living_with(home: &Path) -> Vec<u32> {
    let needle = home.to_str().unwrap();
    let pids = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
    let names_it = |pid: &u32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environ).contains(needle)
    };
    pids.filter(names_it).collect()
}
