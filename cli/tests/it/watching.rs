//! `watch`: how it ends, and what it says on the way.

use serde_json::json;

use crate::command::{Command, Running};
use crate::fake::{Fake, goal, listen};

const SESSION: &str = "ses_1234";

/// Watches an active goal, and is known to listen: it has told the goal, and the greeting of the
/// event stream made it look again.
async fn watching(fake: &Fake) -> Running {
    fake.put_goal(SESSION, goal("g_1", "active", ""));
    let mut running = Command::at(&fake.url).start("watch ses_1234 --json");
    let phase = running.event("phase").await;
    assert_eq!(phase["status"], "active", "{phase}");
    running.event("connection").await;
    running
}

#[tokio::test]
async fn a_goal_that_has_ended_is_told_at_once() {
    let cases = [
        ("complete", "verified by audit", 0),
        ("blocked", "empty replies", 10),
        ("budgetLimited", "token budget reached", 11),
        ("paused", "", 12),
    ];
    for (status, reason, code) in cases {
        let fake = Fake::start().await;
        fake.put_goal(SESSION, goal("g_1", status, reason));
        let done = Command::at(&fake.url)
            .goal("watch ses_1234 --timeout 40")
            .await;
        assert_eq!(done.code, code, "{status}: {}", done.stderr);
        assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
        assert!(done.stdout.contains("Fix the parser"), "{}", done.stdout);
    }
}

#[tokio::test]
async fn no_goal() {
    let fake = Fake::start().await;
    fake.put(SESSION, json!({}));
    let done = Command::at(&fake.url).goal("watch ses_1234 --json").await;
    assert_eq!(done.code, 13, "{}", done.stdout);
}

#[tokio::test]
async fn a_goal_is_followed_to_its_end() {
    let fake = Fake::start().await;
    let mut running = watching(&fake).await;
    let mut moved = goal("g_1", "active", "");
    moved["turnsUsed"] = json!(3);
    moved["note"] = json!("almost");
    fake.put_goal(SESSION, moved);
    let phase = running.event("phase").await;
    assert_eq!(
        (&phase["turnsUsed"], &phase["note"]),
        (&json!(3), &json!("almost"))
    );
    fake.put_goal(SESSION, goal("g_1", "complete", "verified by audit"));
    let settled = running.event("settled").await;
    assert_eq!(settled["status"], "complete");
    assert_eq!(running.end().await, (0, String::new()));
}

#[tokio::test]
async fn a_goal_in_its_place_is_followed_on() {
    let fake = Fake::start().await;
    let mut running = watching(&fake).await;
    fake.put_goal(SESSION, goal("g_2", "active", ""));
    let phase = running.event("phase").await;
    assert_eq!(phase["goalID"], "g_2");
    fake.put_goal(SESSION, goal("g_2", "blocked", "empty replies"));
    assert_eq!(running.end().await.0, 10);
}

#[tokio::test]
async fn a_pause_that_is_taken_back_ends_nothing() {
    let fake = Fake::start().await;
    let mut running = watching(&fake).await;
    fake.put_goal(
        SESSION,
        goal("g_1", "paused", "paused after the turn was stopped"),
    );
    let mut back = goal("g_1", "active", "");
    back["note"] = json!("the server reloaded");
    fake.put_goal(SESSION, back);
    let phase = running.event("phase").await;
    assert_eq!(phase["note"], "the server reloaded");
    fake.put_goal(SESSION, goal("g_1", "paused", ""));
    assert_eq!(running.end().await.0, 12);
}

#[tokio::test]
async fn a_goal_that_is_removed() {
    let fake = Fake::start().await;
    let mut running = watching(&fake).await;
    fake.put(SESSION, json!({}));
    let settled = running.event("settled").await;
    assert_eq!(
        (&settled["status"], &settled["reason"]),
        (&json!(null), &json!("cleared"))
    );
    assert_eq!(running.end().await.0, 13);

    let running = watching(&fake).await;
    fake.delete(SESSION);
    assert_eq!(running.end().await.0, 13);
}

#[tokio::test]
async fn the_time_is_up() {
    let fake = Fake::start().await;
    fake.put_goal(SESSION, goal("g_1", "active", ""));
    for line in ["watch ses_1234 --timeout 1", "watch --timeout 1"] {
        let done = Command::at(&fake.url).goal(line).await;
        assert_eq!(done.code, 124, "{line}: {}", done.stderr);
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_waited_for() {
    let listener = listen().await;
    let address = listener.local_addr().unwrap();
    drop(listener);
    let command = Command::at(&format!("http://{address}"));
    let mut running = command.start("watch ses_1234");
    let remark = running.remark().await;
    assert!(remark.starts_with("waiting for the server: "), "{remark}");
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    // Nothing is answered before this test waits, and the goal is there by then.
    let fake = Fake::on(listener, "1.18.33");
    fake.put_goal(SESSION, goal("g_1", "complete", "marked by user"));
    let (code, rest) = running.end().await;
    assert!(
        code == 0 && rest.contains("marked by you"),
        "{code}: {rest}"
    );
}

#[tokio::test]
async fn all_goals_are_followed() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1111", goal("g_1", "active", ""));
    fake.put_goal("ses_2222", goal("g_2", "complete", ""));
    let mut running = Command::at(&fake.url).start("watch --json");
    let ready = running.event("ready").await;
    assert_eq!(ready["active"], 1);
    running.event("connection").await;
    fake.put_goal("ses_3333", goal("g_3", "active", ""));
    let phase = running.event("phase").await;
    assert_eq!(phase["sessionID"], "ses_3333");
    fake.put_goal("ses_1111", goal("g_1", "blocked", "empty replies"));
    let settled = running.event("settled").await;
    assert_eq!(settled["sessionID"], "ses_1111");
    fake.put("ses_3333", json!({}));
    let settled = running.event("settled").await;
    assert_eq!(settled["reason"], "cleared");
    #[cfg(unix)]
    {
        running.signal(nix::sys::signal::Signal::SIGINT);
        assert_eq!(running.end().await.0, 0);
    }
}
