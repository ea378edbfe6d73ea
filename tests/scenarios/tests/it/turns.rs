//! What is told of sessions without an active goal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use goal_core::notice::NoticeCode;
use goal_engine::turns::{Screen, overhear, tell_turns};
use pretty_assertions::assert_eq;
use serde_json::json;
use testkit::world::{Session, World};

use crate::support::{a_goal_at_work, a_session, ms, secs};

/// A window that has the focus or not.
#[derive(Clone, Default)]
struct Window(Arc<AtomicBool>);

impl Screen for Window {
    fn has_focus(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Listens beside the engines, as a desktop app does.
async fn listens(world: &World) -> Window {
    let (mut events, heard) = overhear(world.events());
    let (ports, window) = (world.command(), Window::default());
    let screen = window.clone();
    tokio::spawn(async move { tell_turns(&ports, heard, &screen, &|_| {}).await });
    tokio::spawn(async move {
        loop {
            events.next().await;
        }
    });
    world.settles().await;
    window
}

fn told(world: &World) -> Vec<NoticeCode> {
    world.notices().iter().map(|notice| notice.code).collect()
}

async fn a_turn(world: &World, session: &Session) {
    let _ = session.user_says("go on");
    world.passes(secs(2)).await;
    session.assistant_finishes("all done");
    world.passes(secs(2)).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_without_a_goal_is_told_once() {
    let (world, session) = a_session().await;
    listens(&world).await;
    a_turn(&world, &session).await;
    let notices = world.notices();
    let [notice] = &notices[..] else {
        panic!("one notice: {notices:?}");
    };
    assert_eq!(notice.code, NoticeCode::TurnReady);
    assert_eq!(&notice.session, session.id());
    assert_eq!(notice.goal.as_str(), "");
    assert!(notice.detail.starts_with("s"), "{notice:?}");
    session.repeats_status();
    world.passes(secs(60)).await;
    assert_eq!(told(&world).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r81_an_active_goal_keeps_its_turns_quiet() {
    let (world, session) = a_goal_at_work().await;
    listens(&world).await;
    session.assistant_finishes("half of it is done");
    world.passes(secs(10)).await;
    assert_eq!(told(&world), []);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_the_user_stopped_is_no_news() {
    let (world, session) = a_session().await;
    listens(&world).await;
    let _ = session.user_says("go on");
    world.passes(secs(2)).await;
    session.user_aborts();
    world.passes(secs(10)).await;
    assert_eq!(told(&world), []);
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_is_told_as_failed_and_not_as_ready() {
    let (world, session) = a_session().await;
    listens(&world).await;
    let _ = session.user_says("go on");
    world.passes(secs(2)).await;
    session.assistant_fails("APIError", "no credit");
    world.passes(secs(10)).await;
    assert_eq!(told(&world), [NoticeCode::TurnFailed]);
    assert!(world.notices()[0].detail.contains("no credit"));
}

#[tokio::test(start_paused = true)]
async fn turns_in_quick_succession_are_told_once() {
    let (world, session) = a_session().await;
    listens(&world).await;
    for _ in 0..3 {
        let _ = session.user_says("go on");
        world.passes(ms(500)).await;
        session.assistant_finishes("done");
        world.passes(ms(500)).await;
    }
    assert_eq!(told(&world), [NoticeCode::TurnReady]);
    world.passes(secs(10)).await;
    a_turn(&world, &session).await;
    assert_eq!(told(&world).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_a_subagent_obeys_its_own_setting() {
    let (world, session) = a_session().await;
    listens(&world).await;
    world.setting("notifyOnSubtasks", false.into()).await;
    let _ = session.user_says("go on");
    let child = session.starts_subagent("child");
    world.passes(secs(2)).await;
    child.assistant_finishes("my part is done");
    world.passes(secs(10)).await;
    assert_eq!(told(&world), []);
    world.setting("notifyOnSubtasks", true.into()).await;
    a_turn(&world, &child).await;
    assert_eq!(told(&world), [NoticeCode::TurnReady]);
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_at_the_app_is_told_nothing_unless_always() {
    let (world, session) = a_session().await;
    let window = listens(&world).await;
    window.0.store(true, Ordering::Relaxed);
    a_turn(&world, &session).await;
    assert_eq!(told(&world), []);
    world.setting("notificationMode", "always".into()).await;
    world.passes(secs(10)).await;
    a_turn(&world, &session).await;
    assert_eq!(told(&world), [NoticeCode::TurnReady]);
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_turn_notice_has_its_switch() {
    let (world, session) = a_session().await;
    listens(&world).await;
    for key in ["notifyOnCompletion", "notifyOnError", "notifyOnQuestion"] {
        world.setting(key, false.into()).await;
    }
    a_turn(&world, &session).await;
    world.passes(secs(10)).await;
    let _ = session.user_says("go on");
    session.asks_permission("bash");
    world.passes(secs(5)).await;
    session.user_allows();
    session.assistant_fails("APIError", "no credit");
    world.passes(secs(10)).await;
    assert_eq!(told(&world), []);
}

#[tokio::test(start_paused = true)]
async fn a_request_is_told_once_if_it_stands() {
    let (world, session) = a_session().await;
    listens(&world).await;
    let _ = session.user_says("go on");
    session.asks_permission("bash");
    world.passes(ms(300)).await;
    session.user_allows();
    world.passes(secs(5)).await;
    assert_eq!(told(&world), [], "a rule answered it");
    session.asks_permission("edit");
    world.passes(secs(5)).await;
    assert_eq!(told(&world), [NoticeCode::WaitingForPermission]);
    assert_eq!(world.notices()[0].detail, "edit");
}

#[tokio::test(start_paused = true)]
async fn a_template_words_the_notice_and_a_missing_reply_keeps_the_usual_text() {
    let (world, session) = a_session().await;
    listens(&world).await;
    let templates = json!({ "completion": {
        "title": "{session_name} in {project_name}", "message": "{model_name}: {last_message}",
    }});
    world.setting("notificationTemplates", templates).await;
    world.setting("maxLastMessageLength", 10.into()).await;
    let _ = session.user_says("go on");
    world.passes(secs(2)).await;
    session.assistant_finishes("all of it is done");
    world.passes(secs(2)).await;
    let notice = world.notices().remove(0);
    assert!(notice.objective.starts_with("s in "), "{notice:?}");
    assert!(notice.detail.ends_with(": all of it…"), "{notice:?}");
}

#[tokio::test(start_paused = true)]
async fn what_ended_in_a_gap_is_no_news_and_the_next_turn_is() {
    let (world, session) = a_session().await;
    listens(&world).await;
    let _ = session.user_says("go on");
    world.passes(secs(2)).await;
    world.stream_breaks();
    session.finishes_unheard("done");
    world.stream_returns();
    session.repeats_status();
    world.passes(secs(10)).await;
    assert_eq!(told(&world), []);

    a_turn(&world, &session).await;
    assert_eq!(told(&world), [NoticeCode::TurnReady]);
}
