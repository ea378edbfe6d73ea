//! A distillation through the audit's machinery, and every way it can fail (O10, O11).

use std::time::Duration;

use goal_core::evidence::Voice;
use goal_core::goal::{GoalId, SessionId};
use goal_core::judge::AuditFailure;
use goal_core::prompt;
use goal_engine::audit::ServerAuditor;
use goal_engine::ports::{Auditor as _, DistillJob, Distillation};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::audit::{MESSAGE, assert_cleaned, auditor, model, prompts, voice};
use crate::fake::{Fake, Reply, client, dead_target, limits, said, said_in};

const CRITERIA: &str = "- all tests pass";

fn job() -> DistillJob {
    DistillJob {
        session: SessionId::new("ses_p"),
        directory: "/d".to_owned(),
        goal: GoalId::new("g1"),
        objective: "make <it> green".to_owned(),
        voice: Some(voice()),
        within: Duration::from_secs(10),
    }
}

async fn run(auditor: &ServerAuditor) -> Distillation {
    auditor.distill(job()).await
}

/// A reply with this in its head.
fn replied(head: serde_json::Value) -> Reply {
    let Reply::Json(status, mut reply) = said("- all tests") else {
        panic!("a reply is JSON");
    };
    reply["info"]
        .as_object_mut()
        .unwrap()
        .extend(head.as_object().unwrap().clone());
    Reply::Json(status, reply)
}

#[tokio::test]
async fn a_distillation_asks_once_in_a_marked_child_that_may_do_nothing() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [said(CRITERIA)]);
    let auditor = auditor(fake.client(), limits());
    let expected = Distillation::Said {
        text: CRITERIA.to_owned(),
        model: model("fake", "small"),
    };
    assert_eq!(run(&auditor).await, expected);
    assert_cleaned(&fake, &auditor).await;

    let made = &fake.seen("POST /session")[0];
    let mark = &made.body["metadata"]["openchamber"]["goalAudit"];
    // The job's 10 s and five minutes behind the stopped clock's 1,000 s.
    assert_eq!(
        (&mark["owner"], &mark["goalID"], &mark["until"]),
        (&json!("me"), &json!("g1"), &json!(1_310_000))
    );
    assert_eq!(made.body["parentID"], "ses_p");
    assert_eq!(made.body["title"], "Goal criteria");
    let deny = json!([{"permission": "*", "pattern": "*", "action": "deny"}]);
    assert_eq!(made.body["permission"], deny);

    let asked = prompts(&fake);
    assert_eq!(asked.len(), 1);
    let request = prompt::distill_request("make <it> green");
    let expected = json!({
        "model": {"providerID": "fake", "modelID": "small"},
        "system": prompt::distill_system(),
        "parts": [{"type": "text", "text": request}],
    });
    assert_eq!(
        asked[0].body, expected,
        "the agent of audits would answer with a verdict"
    );
}

#[tokio::test]
async fn thoughts_and_synthetic_text_are_not_said() {
    let fake = Fake::start().await;
    let parts = json!([
        {"type": "reasoning", "id": "prt_1", "text": "hm"},
        {"type": "text", "id": "prt_2", "text": "remember", "synthetic": true},
        {"type": "text", "id": "prt_3", "text": CRITERIA},
    ]);
    fake.script(MESSAGE, [said_in(parts)]);
    let auditor = auditor(fake.client(), limits());
    let outcome = run(&auditor).await;
    assert!(
        matches!(&outcome, Distillation::Said { text, .. } if text == CRITERIA),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn without_a_named_model_the_sessions_provider_condenses_or_nobody() {
    let cases = [
        ("fake", Some(model("fake", "quick"))),
        // It has no small model: the session's own.
        ("other", Some(model("other", "big"))),
        ("claude-code", None),
    ];
    for (provider, expected) in cases {
        let fake = Fake::start().await;
        fake.script("GET /config", [Reply::Json(200, json!({}))]);
        fake.script(MESSAGE, [said(CRITERIA)]);
        let auditor = auditor(fake.client(), limits());
        let job = DistillJob {
            voice: Some(Voice {
                model: model(provider, "big"),
                ..voice()
            }),
            ..job()
        };
        let expected = match expected {
            Some(model) => Distillation::Said {
                text: CRITERIA.to_owned(),
                model,
            },
            None => Distillation::Failed(AuditFailure::NoModel),
        };
        assert_eq!(auditor.distill(job).await, expected, "{provider}");
        assert_cleaned(&fake, &auditor).await;
    }
}

#[tokio::test]
async fn a_failed_distillation_says_why_and_leaves_no_session() {
    let error = |name: &str| json!({"error": {"name": name, "data": {"message": "no quota"}}});
    let cases = [
        (
            replied(json!({"finish": "length"})),
            AuditFailure::Unparsable,
        ),
        (replied(error("APIError")), AuditFailure::Provider),
        (
            replied(error("ContextOverflowError")),
            AuditFailure::Provider,
        ),
        (Reply::Json(500, json!({})), AuditFailure::Provider),
        (Reply::Html, AuditFailure::Connection),
    ];
    for (reply, expected) in cases {
        let fake = Fake::start().await;
        fake.script(MESSAGE, [reply.clone()]);
        let auditor = auditor(fake.client(), limits());
        let outcome = run(&auditor).await;
        assert_eq!(outcome, Distillation::Failed(expected), "{reply:?}");
        assert_eq!(prompts(&fake).len(), 1, "{reply:?}");
        assert_cleaned(&fake, &auditor).await;
    }
    let away = auditor(client(dead_target().await), limits());
    let expected = Distillation::Failed(AuditFailure::Connection);
    assert_eq!(run(&away).await, expected);
}

#[tokio::test]
async fn connection_trouble_is_tried_again_in_a_session_of_its_own() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [Reply::Break, said(CRITERIA)]);
    let auditor = auditor(fake.client(), limits());
    let outcome = run(&auditor).await;
    assert!(matches!(outcome, Distillation::Said { .. }), "{outcome:?}");
    assert_eq!(prompts(&fake).len(), 2);
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_distillation_that_hangs_ends_at_its_own_deadline() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [Reply::Hang]);
    let auditor = auditor(fake.client(), limits());
    let job = DistillJob {
        within: Duration::from_millis(500),
        ..job()
    };
    let expected = Distillation::Failed(AuditFailure::Timeout);
    assert_eq!(auditor.distill(job).await, expected);
    assert_cleaned(&fake, &auditor).await;
}

#[tokio::test]
async fn a_dropped_distillation_is_cleaned_up_all_the_same() {
    let fake = Fake::start().await;
    fake.script(MESSAGE, [Reply::Hang]);
    let auditor = auditor(fake.client(), limits());
    let running = tokio::spawn({
        let auditor = auditor.clone();
        async move { run(&auditor).await }
    });
    fake.wait_for("POST /session/ses_c1/message", 1).await;
    running.abort();
    fake.wait_for("DELETE /session/ses_c1", 1).await;
    assert_cleaned(&fake, &auditor).await;
}
