//! On a bus of its own: each test starts this program again with the bus's address, because the
//! address is a variable of the whole process.

use std::process::Command;

use pretty_assertions::assert_eq;
use testkit::notifyd::{Bus, Note, Notifyd};

use super::*;
use crate::notifier::daemon::Daemon;

const ADDRESS: &str = "DBUS_SESSION_BUS_ADDRESS";

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_notice_is_shown_as_the_daemon_can_show_it() {
    on_a_bus("shown");
}

#[test]
fn a_second_notice_of_a_session_takes_the_place_of_the_first() {
    on_a_bus("replaced");
}

#[test]
fn a_click_comes_back_with_what_was_clicked() {
    on_a_bus("clicked");
}

#[test]
fn a_daemon_without_buttons_and_markup_gets_plain_text() {
    on_a_bus("plain");
}

#[test]
fn without_a_daemon_the_notice_fails_with_a_reason() {
    on_a_bus("no_daemon");
}

#[test]
fn without_a_bus_the_notice_fails_with_a_reason() {
    run("no_daemon", "unix:path=/nowhere/at/all");
}

#[test]
fn a_daemon_that_hangs_is_not_waited_for() {
    on_a_bus("hangs");
}

#[test]
fn who_waits_for_clicks_is_bounded() {
    on_a_bus("bounded");
}

#[tokio::test]
#[ignore = "run by `a_notice_is_shown_as_the_daemon_can_show_it` on a bus of its own"]
async fn shown() {
    let mut daemon = start(&["actions", "body", "body-markup"]).await;
    let (notifier, _) = notifier();
    let mut out = notice("ses_1", NoticeCode::GoalBlocked);
    out.objective = "1 < 2 & 3".to_owned();
    notifier.deliver(&out).await.unwrap();
    let expected = Note {
        id: 1,
        app: "App".to_owned(),
        replaces: 0,
        summary: "Goal blocked".to_owned(),
        body: "1 &lt; 2 &amp; 3\na password is missing".to_owned(),
        actions: ["default", "Open", "resume", "Resume"]
            .map(str::to_owned)
            .to_vec(),
        entry: Some("dev.example.app".to_owned()),
    };
    assert_eq!(daemon.next(PATIENCE).await.unwrap(), expected);
}

#[tokio::test]
#[ignore = "run by `a_second_notice_of_a_session_takes_the_place_of_the_first`"]
async fn replaced() {
    let mut daemon = start(&["actions"]).await;
    let (notifier, _) = notifier();
    for (session, code) in [
        ("ses_1", NoticeCode::WaitingForAnswer),
        ("ses_2", NoticeCode::GoalComplete),
        ("ses_1", NoticeCode::GoalComplete),
    ] {
        notifier.deliver(&notice(session, code)).await.unwrap();
    }
    let mut ids = Vec::new();
    for _ in 0..3 {
        let note = daemon.next(PATIENCE).await.unwrap();
        ids.push((note.id, note.replaces));
    }
    assert_eq!(ids, [(1, 0), (2, 0), (1, 1)]);
}

#[tokio::test]
#[ignore = "run by `a_click_comes_back_with_what_was_clicked`"]
async fn clicked() {
    let mut daemon = start(&["actions"]).await;
    let (notifier, clicks) = notifier();
    for (action, means) in [("default", Action::Open), ("resume", Action::Resume)] {
        let out = notice(&format!("ses_{action}"), NoticeCode::GoalPaused);
        notifier.deliver(&out).await.unwrap();
        let note = daemon.next(PATIENCE).await.unwrap();
        let before = clicks.all().len();
        // The listener subscribes after the notification is shown, a moment that no user beats.
        let heard = async {
            while clicks.all().len() == before {
                daemon.click(note.id, action).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, heard).await.unwrap();
        let click = Click {
            notice: out,
            action: means,
        };
        assert_eq!(clicks.all()[before..], [click]);
    }
}

#[tokio::test]
#[ignore = "run by `a_daemon_without_buttons_and_markup_gets_plain_text`"]
async fn plain() {
    let mut daemon = start(&["body"]).await;
    let (notifier, _) = notifier();
    let mut out = notice("ses_1", NoticeCode::GoalPaused);
    out.objective = "1 < 2".to_owned();
    notifier.deliver(&out).await.unwrap();
    let note = daemon.next(PATIENCE).await.unwrap();
    assert_eq!(note.body, "1 < 2\na password is missing");
    assert_eq!(note.actions, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "run by `without_a_daemon_the_notice_fails_with_a_reason` and its neighbour"]
async fn no_daemon() {
    let (notifier, _) = notifier();
    let told = notifier
        .deliver(&notice("ses_1", NoticeCode::GoalPaused))
        .await;
    assert!(told.is_err_and(|reason| !reason.is_empty()));
}

#[tokio::test]
#[ignore = "run by `a_daemon_that_hangs_is_not_waited_for`"]
async fn hangs() {
    let _daemon = Notifyd::hanging(&address()).await.unwrap();
    let (notifier, _) = notifier();
    let told = notifier
        .deliver(&notice("ses_1", NoticeCode::GoalPaused))
        .await;
    let late = "the notification daemon did not answer in time";
    assert_eq!(told, Err(late.to_owned()));
}

#[tokio::test]
#[ignore = "run by `who_waits_for_clicks_is_bounded`"]
async fn bounded() {
    let _daemon = start(&["actions"]).await;
    let shown = Arc::new(daemon(&Clicks::default()));
    let notifier = Notifier::new(english(), Arc::clone(&shown) as _);
    for n in 0..40 {
        let out = notice(&format!("ses_{n:04}"), NoticeCode::GoalPaused);
        notifier.deliver(&out).await.unwrap();
    }
    assert_eq!(shown.waiting(), 16);
}

fn daemon(clicks: &Clicks) -> Daemon {
    Daemon::new(
        "App".to_owned(),
        "dev.example.app".to_owned(),
        english(),
        clicks.listener(),
    )
}

fn notifier() -> (Notifier, Clicks) {
    let clicks = Clicks::default();
    let notifier = Notifier::new(english(), Arc::new(daemon(&clicks)));
    (notifier, clicks)
}

async fn start(abilities: &[&str]) -> Notifyd {
    Notifyd::start(&address(), abilities).await.unwrap()
}

fn address() -> String {
    std::env::var(ADDRESS).unwrap()
}

fn on_a_bus(test: &str) {
    let bus = Bus::start().unwrap();
    run(test, bus.address());
}

fn run(test: &str, address: &str) {
    let name = format!("notifier::tests::bus::{test}");
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--ignored", "--nocapture"])
        .env(ADDRESS, address)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let passed = done.status.success() && said.contains("1 passed");
    assert!(passed, "{said}\n{}", String::from_utf8_lossy(&done.stderr));
}
