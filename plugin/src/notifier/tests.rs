use std::sync::Mutex;

use goal_core::goal::{GoalId, SessionId};
use pretty_assertions::assert_eq;

use super::*;

pub(super) fn notice(session: &str, code: NoticeCode) -> NoticeOut {
    NoticeOut {
        session: SessionId::new(session),
        directory: "/project".to_owned(),
        title: "Fix the parser".to_owned(),
        goal: GoalId::new("g_1"),
        code,
        objective: "All tests pass".to_owned(),
        detail: "a password is missing".to_owned(),
    }
}

fn english() -> Words {
    Words::of(None)
}

/// Shows nothing, in one of several ways.
enum Trouble {
    Refuses,
    Hangs,
    Panics,
}

#[async_trait]
impl Show for Trouble {
    async fn show(&self, _: &NoticeOut, _: &Wording) -> Result<(), String> {
        match self {
            Self::Refuses => Err("no daemon".to_owned()),
            Self::Hangs => std::future::pending().await,
            Self::Panics => std::panic::resume_unwind(Box::new("broken")),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn trouble_becomes_a_sentence_within_the_time_limit() {
    for (trouble, sentence) in [
        (Trouble::Refuses, "no daemon"),
        (
            Trouble::Hangs,
            "the notification daemon did not answer in time",
        ),
        (Trouble::Panics, "showing the notification broke off"),
    ] {
        let notifier = Notifier::new(english(), Arc::new(trouble));
        let told = notifier
            .deliver(&notice("ses_1", NoticeCode::GoalComplete))
            .await;
        assert_eq!(told, Err(sentence.to_owned()));
    }
}

#[test]
fn a_notice_says_the_objective_and_then_the_reason() {
    let words = wording(&english(), &notice("ses_1", NoticeCode::GoalBlocked));
    assert_eq!(words.title, "Goal blocked");
    assert_eq!(words.body, "All tests pass\na password is missing");

    let mut long = notice("ses_1", NoticeCode::GoalBlocked);
    long.objective = "o".repeat(140);
    long.detail = "d".repeat(100);
    let body = wording(&english(), &long).body;
    assert_eq!(text::utf16_len(&body), 240);

    let mut bare = notice("ses_1", NoticeCode::TurnReady);
    (bare.objective, bare.detail) = (String::new(), String::new());
    assert_eq!(wording(&english(), &bare).body, "Fix the parser");

    let mut own = notice("ses_1", NoticeCode::TurnReady);
    (own.goal, own.objective) = (GoalId::new(""), "Parser waits".to_owned());
    let words = wording(&english(), &own);
    assert_eq!(
        (words.title.as_str(), words.body.as_str()),
        ("Parser waits", "a password is missing")
    );
}

#[test]
fn resume_is_offered_where_it_is_the_way_on() {
    let offered: Vec<&str> = NoticeCode::ALL
        .into_iter()
        .filter(|code| offers_resume(*code))
        .map(NoticeCode::name)
        .collect();
    assert_eq!(offered, ["goalBlocked", "goalPaused", "stalled"]);
}

#[cfg(all(target_os = "linux", feature = "native-notifications"))]
mod bus;

/// Clicks in the order they came.
#[derive(Clone, Default)]
pub(super) struct Clicks(Arc<Mutex<Vec<Click>>>);

impl Clicks {
    pub(super) fn listener(&self) -> OnClick {
        let clicks = self.clone();
        Arc::new(move |click| clicks.0.lock().unwrap().push(click))
    }

    pub(super) fn all(&self) -> Vec<Click> {
        self.0.lock().unwrap().clone()
    }
}
