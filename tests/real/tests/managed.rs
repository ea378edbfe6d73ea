//! The server that the command starts for itself.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::PATIENCE;
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, Step};
use testkit::{Openchamber, Scratch};

const PASSWORD: &str = "correct horse";

#[tokio::test]
async fn a_tool_shell_sees_neither_password_nor_configuration() {
    let model = ScriptedModel::builder()
        .turn([
            Step::tool(
                "bash",
                json!({ "command": "env > seen.txt", "description": "look" }),
            ),
            Step::say("Done: looked. Verified: yes. Remaining: nothing."),
        ])
        .audit_verdict("complete", "looked")
        .start()
        .unwrap();
    let scratch = Scratch::new(&model.url()).unwrap();
    let command = Openchamber::new(scratch.env())
        .unwrap()
        .env("OPENCODE_SERVER_PASSWORD", PASSWORD)
        .env(
            "OPENCHAMBER_DATA_DIR",
            &scratch.data_dir().to_string_lossy(),
        );
    let project = scratch.project();
    let limits = ["--idle-quiet-ms", "500", "--kickoff-quiet-ms", "250"];
    let folder = ["--dir", project.to_str().unwrap()];
    let mut serve = command.serve(&[&limits[..], &folder].concat()).unwrap();
    let ready = serve
        .next_event(|event| event["event"] == "ready", PATIENCE)
        .await
        .unwrap();
    let url = ready["url"].as_str().unwrap().to_owned();
    let session = create_session(&url, &scratch).await;
    let command = command.env("OPENCODE_SERVER_URL", &url);

    let start = [
        "goal",
        "start",
        &session,
        "--objective",
        "Look around",
        "--send",
    ];
    let started = command.run(&start, "", PATIENCE).await.unwrap();
    assert_eq!(started.code, Some(0), "{started:?}");
    let end = serve
        .next_event(|event| event["event"] == "settled", PATIENCE)
        .await
        .unwrap();

    assert_eq!(end["status"], "complete");
    let audit = &model.audit_calls()[0];
    assert!(
        audit.system_text().len() < 4_000,
        "the auditor's own prompt, not the build agent's"
    );
    let seen = std::fs::read_to_string(scratch.project().join("seen.txt")).unwrap();
    assert!(
        seen.contains("PATH="),
        "the shell's environment was written: {seen}"
    );
    assert!(!seen.contains(PASSWORD), "{seen}");
    assert!(!seen.contains("goal-auditor"), "{seen}");
    serve.terminate();
    assert!(serve.wait(PATIENCE).await.unwrap().success());
    assert_eq!(
        scratch.processes(),
        Vec::<u32>::new(),
        "the server ended with the command"
    );
}

async fn create_session(url: &str, scratch: &Scratch) -> String {
    let created: Value = opencode_client::http_client()
        .build()
        .unwrap()
        .post(format!(
            "{url}/session?directory={}",
            scratch.project().display()
        ))
        .basic_auth("opencode", Some(PASSWORD))
        .json(&json!({ "title": "managed" }))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    created["id"].as_str().unwrap().to_owned()
}
