//! Drafts as they are kept, changed and refused.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn draft(text: &str) -> Draft {
    Draft {
        text: text.to_owned(),
        attachments: Vec::new(),
        armed: false,
        budget: None,
    }
}

fn attached(bytes: usize) -> Draft {
    Draft {
        attachments: vec![Attachment {
            name: String::new(),
            mime: String::new(),
            url: "a".repeat(bytes),
        }],
        ..draft("x")
    }
}

#[test]
fn a_draft_is_kept_until_it_is_taken_away() {
    let mut drafts = Drafts::default();
    let written = drafts.set("new:/a", Some(draft("x")), 1).unwrap();
    let written: Vec<(String, Value)> = written
        .into_iter()
        .map(|(key, kept)| (key, serde_json::to_value(kept).unwrap()))
        .collect();
    let (read, unreadable) = Drafts::of_kept(written);
    assert_eq!((read, unreadable), (drafts.clone(), 0));
    assert_eq!(
        serde_json::to_value(drafts.list()).unwrap(),
        json!({ "new:/a": { "text": "x", "attachments": [], "armed": false, "budget": null } })
    );
    assert_eq!(
        drafts.set("new:/a", None, 2).unwrap(),
        [("new:/a".to_owned(), None)]
    );
    assert!(drafts.list().is_empty());
    assert_eq!(drafts.set("new:/a", None, 3).unwrap(), []);
}

#[test]
fn the_one_that_was_changed_longest_ago_makes_room() {
    let mut drafts = Drafts::default();
    for at in 0..200 {
        drafts
            .set(&format!("ses_{at}"), Some(draft("x")), at)
            .unwrap();
    }
    drafts.set("ses_0", Some(draft("again")), 200).unwrap();
    let changes = drafts.set("new", Some(draft("x")), 201).unwrap();
    let gone: Vec<_> = changes.iter().filter(|(_, kept)| kept.is_none()).collect();
    assert_eq!(gone, [&("ses_1".to_owned(), None)]);
    assert_eq!(drafts.list().len(), 200);
}

#[test]
fn a_queue_is_kept_beside_the_draft_of_its_session() {
    let mut drafts = Drafts::default();
    drafts.set("ses_1", Some(draft("x")), 1).unwrap();
    drafts.set("queue:ses_1", Some(draft("[]")), 2).unwrap();
    let kept: Vec<&str> = drafts.list().into_keys().collect();
    assert_eq!(kept, ["queue:ses_1", "ses_1"]);
}

#[test]
fn all_of_them_together_are_bounded() {
    let mut drafts = Drafts::default();
    for at in 0..5 {
        let large = attached(7 * 1024 * 1024);
        drafts.set(&format!("ses_{at}"), Some(large), at).unwrap();
    }
    let kept: Vec<&str> = drafts.list().into_keys().collect();
    assert_eq!(kept, ["ses_1", "ses_2", "ses_3", "ses_4"]);
}

#[test]
fn what_is_too_long_or_belongs_nowhere_changes_nothing() {
    let mut drafts = Drafts::default();
    drafts.set("ses_1", Some(draft("x")), 1).unwrap();
    let before = drafts.clone();
    let long = draft(&"é".repeat(100_001));
    let refused = drafts.set("ses_1", Some(long), 2).unwrap_err();
    assert_eq!(refused.code(), Code::TooBig);
    let large = attached(9 * 1024 * 1024);
    assert_eq!(
        drafts.set("ses_1", Some(large), 2).unwrap_err().code(),
        Code::TooBig
    );
    let key = format!("new:{}", "a".repeat(5_000));
    for key in [
        "",
        "x",
        "new:",
        "old:/a",
        "queue:new",
        "ses_1/../x",
        "new:\0",
        &key,
    ] {
        for draft in [Some(draft("x")), None] {
            let refused = drafts.set(key, draft, 2).unwrap_err();
            assert_eq!(refused.code(), Code::Invalid, "{key}");
        }
    }
    assert_eq!(drafts, before);
    assert!(
        drafts
            .set("ses_1", Some(draft(&"é".repeat(100_000))), 2)
            .is_ok()
    );
}

#[test]
fn what_was_kept_badly_is_left_out_and_counted() {
    let kept = [
        (
            "ses_1".to_owned(),
            json!({ "at": 1, "draft": { "text": "x" } }),
        ),
        ("ses_2".to_owned(), json!({ "text": "x" })),
        (
            "nowhere".to_owned(),
            json!({ "at": 1, "draft": { "text": "x" } }),
        ),
    ];
    let (drafts, unreadable) = Drafts::of_kept(kept);
    let kept: Vec<&str> = drafts.list().into_keys().collect();
    assert_eq!((kept, unreadable), (vec!["ses_1"], 2));
}
