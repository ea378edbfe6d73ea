//! `session`: what is asked of the server, in which order, and what is told of it.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::command::{Command, Done};
use crate::fake::{DIRECTORY, Fake, goal};

const ID: &str = "ses_1234";

/// Lines that are refused, each with its code.
const REFUSED: &[(&str, &str)] = &[
    ("create --dir /no/such/folder", "invalidPrompt"),
    ("create --dir HERE --title LONG", "invalidPrompt"),
    ("create --dir HERE --goal", "usage"),
    ("create --dir HERE --wait", "usage"),
    ("create --dir HERE --agent build", "usage"),
    ("create --prompt a", "usage"),
    ("send --session nope! --prompt a", "invalidSession"),
    ("send --session ses_gone --prompt a", "unknownSession"),
    ("send --session ses_1234 --prompt ", "invalidPrompt"),
    ("SEND --dir HERE", "unsuitableSession"),
    ("SEND --goal-token-budget 5000", "usage"),
    ("SEND --goal --goal-token-budget 999", "invalidBudget"),
    ("SEND --goal --goal-token-budget 5e3", "invalidBudget"),
    ("SEND --message msg_1", "usage"),
    ("SEND --replace", "usage"),
    ("SEND --model acme", "invalidPrompt"),
    ("SEND --model acme/none", "invalidPrompt"),
    ("SEND --agent two\nlines", "invalidPrompt"),
    ("SEND --timeout 5", "usage"),
    ("SEND --last-assistant", "usage"),
    ("SEND --wait --timeout 86401", "usage"),
    ("SEND --wait --timeout 0", "usage"),
    ("SEND --quiet", "usage"),
    (
        "fork --session ses_1234 --prompt a --message ses_1",
        "invalidPrompt",
    ),
    (
        "fork --session ses_1234 --prompt a --message msg_no",
        "invalidPrompt",
    ),
    ("list --limit 0", "usage"),
];

/// A server with one session that has spoken, and a command beside it.
async fn a_house() -> (Fake, Command) {
    let fake = Fake::start().await;
    fake.put(ID, json!({ "ofAnotherClient": 1 }));
    fake.put_turn("I did it.");
    let command = Command::at(&fake.url);
    fake.note_objectives(&command.home().join("data/goals"));
    (fake, command)
}

async fn session(command: &Command, words: &[&str]) -> Done {
    command.run(&[&["session"], words].concat(), "").await
}

fn here(command: &Command) -> String {
    command.home().to_str().unwrap().to_owned()
}

fn objective(command: &Command, id: &str) -> String {
    let file = command.home().join(format!("data/goals/{id}.md"));
    std::fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn a2_o6_a_session_is_made_then_the_file_then_the_goal_then_the_prompt() {
    let (fake, command) = a_house().await;
    let dir = here(&command);
    let words = ["create", "--dir", &dir, "--title", "T", "--prompt", "Do it"];
    let budget = ["--goal", "--goal-token-budget", "5000", "--json"];
    let done = session(&command, &[&words[..], &budget].concat()).await;
    assert_eq!(done.code, 0, "{done:?}");
    let told = done.json();
    assert_eq!(told["action"], "create");
    assert_eq!(told["sessionID"], "ses_made0");
    assert_eq!(told["title"], "T");
    assert_eq!(told["promptDispatched"], true);
    assert_eq!(told["dispatchedAsCommand"], false);
    assert_eq!(told["goal"]["tokenBudget"], 5_000);
    assert_eq!(told["goal"]["objective"], "Do it");
    assert_eq!(
        fake.written(),
        [
            "POST session ses_made0",
            "PATCH active ses_made0, file",
            "POST prompt of 2 ses_made0, file",
        ]
    );
    assert_eq!(objective(&command, "ses_made0"), "Do it");
}

#[tokio::test]
async fn a3_a_slash_command_is_sent_as_one_behind_file_and_goal() {
    let (fake, command) = a_house().await;
    let text = r#"/move "src old" dist extra"#;
    let words = [
        "send",
        "--session",
        ID,
        "--prompt",
        text,
        "--goal",
        "--json",
    ];
    let done = session(&command, &words).await;
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.json()["dispatchedAsCommand"], true);
    let expanded = "Move src old to dist extra";
    assert_eq!(done.json()["goal"]["objective"], expanded);
    assert_eq!(objective(&command, ID), expanded);
    let sent = format!("POST command \"move\" {} {ID}, file", json!(&text[6..]));
    let expected = [format!("PATCH active {ID}, file"), sent];
    assert_eq!(fake.written(), expected);
}

#[tokio::test]
async fn a3_an_unknown_command_is_a_prompt_and_so_is_one_without_a_text_for_a_goal() {
    for text in ["/nope x", "/mystery x"] {
        let (fake, command) = a_house().await;
        let words = ["send", "--session", ID, "--prompt", text, "--goal"];
        let done = session(&command, &words).await;
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(objective(&command, ID), text);
        let sent = format!("POST prompt of 2 {ID}, file");
        assert_eq!(fake.written(), [format!("PATCH active {ID}, file"), sent]);
    }
    let (fake, command) = a_house().await;
    let words = ["send", "--session", ID, "--prompt", "/mystery x"];
    assert_eq!(session(&command, &words).await.code, 0);
    let sent = format!("POST command \"mystery\" \"x\" {ID}");
    assert_eq!(
        fake.written(),
        [sent],
        "without a goal nothing is judged by its text"
    );
}

#[tokio::test]
async fn a2_a_fork_loses_the_goal_of_its_source_before_it_gets_its_own() {
    let (fake, command) = a_house().await;
    fake.put_goal(ID, goal("g1", "active", ""));
    let words = ["fork", "--session", ID, "--prompt", "Do that", "--json"];
    let done = session(&command, &words).await;
    assert_eq!(done.code, 0, "{done:?}");
    let told = done.json();
    assert_eq!(
        (&told["sessionID"], &told["sourceSessionID"]),
        (&json!("ses_copy"), &json!(ID))
    );
    assert_eq!(told["goal"], Value::Null);
    let fork = format!("POST fork {ID}");
    let expected = [&fork, "PATCH nothing ses_copy", "POST prompt of 1 ses_copy"];
    assert_eq!(fake.written(), expected);
    assert_eq!(
        fake.metadata("ses_copy")["openchamber"]["goal"],
        Value::Null
    );

    let more = ["fork", "--session", ID, "--prompt", "Do that", "--goal"];
    let done = session(&command, &more).await;
    assert_eq!(done.code, 0, "{done:?}");
    let expected = [
        &fork,
        "PATCH nothing ses_copy",
        "PATCH active ses_copy, file",
        "POST prompt of 2 ses_copy, file",
    ];
    assert_eq!(fake.written()[3..], expected);
    assert_eq!(fake.metadata(ID)["openchamber"]["goal"]["id"], "g1");
}

#[tokio::test]
async fn a1_what_is_wrong_is_refused_before_anything_is_written() {
    let (fake, command) = a_house().await;
    for (line, code) in REFUSED {
        let line = line.replace("HERE", &here(&command));
        let line = line.replace("LONG", &"x".repeat(201));
        let line = line.replace("SEND", &format!("send --session {ID} --prompt a"));
        let words: Vec<&str> = line.split(' ').collect();
        let done = session(&command, &[&words[..], &["--json"]].concat()).await;
        let told = done.json();
        assert_eq!(told["error"]["code"], *code, "{words:?}: {told}");
        let expected = if *code == "unsuitableSession" { 1 } else { 2 };
        assert_eq!(done.code, expected, "{words:?}");
    }
    assert_eq!(fake.written(), Vec::<String>::new());
    assert_eq!(fake.sessions().1, [ID]);
}

#[tokio::test]
async fn a1_a_goal_that_nobody_could_audit_makes_no_session() {
    let (fake, command) = a_house().await;
    fake.take_models();
    let dir = here(&command);
    let words = ["create", "--dir", &dir, "--prompt", "a", "--goal", "--json"];
    let done = session(&command, &words).await;
    assert_eq!(done.json()["error"]["code"], "noAuditor");
    assert_eq!(fake.written(), Vec::<String>::new());
}

#[tokio::test]
async fn a6_what_a_failure_leaves_behind_is_named() {
    let (fake, command) = a_house().await;
    fake.hears_nothing();
    let dir = here(&command);
    let create = ["create", "--dir", &dir, "--prompt", "a"];
    let fork = ["fork", "--session", ID, "--prompt", "/move a b", "--goal"];
    let send = ["send", "--session", ID, "--prompt", "a", "--goal"];
    let plain = ["send", "--session", ID, "--prompt", "a"];
    for (words, remains, id) in [
        (&create[..], json!("sessionCreated"), json!("ses_made0")),
        (&fork, json!("sessionForked"), json!("ses_copy")),
        (&send, json!("goalPaused"), json!(ID)),
        (&plain, Value::Null, Value::Null),
    ] {
        let done = session(&command, &[words, &["--json"]].concat()).await;
        let told = done.json();
        assert_eq!(told["error"]["code"], "notDelivered", "{told}");
        assert_eq!((&told["remains"], &told["sessionID"]), (&remains, &id));
        assert_eq!(done.code, 1);
        if !id.is_null() {
            let message = told["error"]["message"].as_str().unwrap();
            assert!(message.contains(id.as_str().unwrap()), "{message}");
            assert_eq!(told["directory"], DIRECTORY);
        }
    }
    assert_eq!(fake.metadata(ID)["openchamber"]["goal"]["status"], "paused");
}

#[tokio::test]
async fn a7_waiting_ends_with_the_turn_and_shows_what_was_said() {
    let (_fake, command) = a_house().await;
    let words = ["send", "--session", ID, "--prompt", "/move a b", "--wait"];
    let done = session(
        &command,
        &[&words[..], &["--last-assistant", "--quiet"]].concat(),
    )
    .await;
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.stdout, format!("{ID}\nmoved it\n"));
    let done = session(
        &command,
        &[&words[..], &["--last-assistant", "--json"]].concat(),
    )
    .await;
    let told = done.json();
    assert_eq!(told["lastAssistant"], "moved it");
    assert_eq!((&told["timedOut"], done.code), (&json!(false), 0));
}

#[tokio::test]
async fn a7_waiting_for_a_goal_ends_with_the_goal_or_with_the_time() {
    let (fake, command) = a_house().await;
    let words = ["send", "--session", ID, "--prompt", "Do it", "--goal"];
    let wait = ["--wait", "--timeout", "1", "--json"];
    let done = session(&command, &[&words[..], &wait].concat()).await;
    let told = done.json();
    assert_eq!(
        (&told["timedOut"], done.code),
        (&json!(true), 124),
        "{done:?}"
    );
    assert_eq!(told["goal"]["status"], "active");

    let again = ["--replace", "--wait", "--until", "idle", "--json"];
    let done = session(&command, &[&words[..], &again].concat()).await;
    assert_eq!(
        (&done.json()["goal"]["status"], done.code),
        (&json!("active"), 0)
    );

    let waiting = async {
        let words = [
            "send",
            "--session",
            ID,
            "--prompt",
            "Do it",
            "--goal",
            "--replace",
        ];
        session(&command, &[&words[..], &["--wait", "--json"]].concat()).await
    };
    let before = fake.written().len();
    let ending = async {
        while fake.written().len() < before + 2 {
            tokio::task::yield_now().await;
        }
        let mut stored = fake.metadata(ID)["openchamber"]["goal"].clone();
        stored["status"] = json!("blocked");
        stored["updatedAt"] = json!(9_000_000_000_000_u64);
        fake.put_goal(ID, stored);
    };
    let (done, ()) = tokio::join!(waiting, ending);
    assert_eq!(
        (&done.json()["goal"]["status"], done.code),
        (&json!("blocked"), 10)
    );
}

#[tokio::test]
async fn sessions_are_listed_shown_and_read() {
    let (fake, command) = a_house().await;
    fake.put_goal("ses_goal", goal("g1", "paused", ""));
    let listed = session(&command, &["list", "--json"]).await.json();
    let ids: Vec<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["sessionID"].as_str())
        .collect();
    assert_eq!(ids.len(), 2, "{listed}");
    assert!(ids.contains(&ID) && ids.contains(&"ses_goal"));
    let one = session(&command, &["list", "--limit", "1"]).await;
    assert!(one.stdout.contains("and 1 more"), "{}", one.stdout);
    let elsewhere = here(&command);
    let none = session(&command, &["list", "--dir", &elsewhere]).await;
    assert_eq!(none.stdout, "No sessions.\n");

    let status = ["status", "--session", "ses_goal", "--json"];
    let told = session(&command, &status).await.json();
    assert_eq!(
        (&told["state"], &told["goal"]["status"]),
        (&json!("idle"), &json!("paused"))
    );
    let told = session(&command, &["status", "--session", ID, "--json"])
        .await
        .json();
    assert_eq!(told["goal"], Value::Null);

    let read = session(&command, &["messages", "--session", ID, "--json"])
        .await
        .json();
    let messages = read["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(
        (&messages[0]["role"], &messages[0]["text"]),
        (&json!("user"), &json!("go"))
    );
    assert_eq!(messages[1]["text"], "I did it.");
    assert_eq!(messages[1]["model"], "acme/big");
    let shown = session(&command, &["messages", "--session", ID])
        .await
        .stdout;
    assert!(shown.contains("  I did it."), "{shown}");
}

#[tokio::test]
async fn a_prompt_comes_from_standard_input_where_it_is_a_dash() {
    let (fake, command) = a_house().await;
    let words = [
        "session",
        "send",
        "--session",
        ID,
        "--prompt",
        "-",
        "--goal",
    ];
    let done = command.run(&words, "Do it\nwell\n").await;
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(objective(&command, ID), "Do it\nwell");
    assert_eq!(fake.written().len(), 2);
}
