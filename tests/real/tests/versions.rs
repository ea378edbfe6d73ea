//! Where servers of different versions behave differently, and that the goal comes to the same.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup, in_phase, settled};
use serde_json::json;
use testkit::model::{ScriptedModel, Step};

/// An id that sorts behind all that a server makes.
const AHEAD: &str = "msg_ffffffffffffzzzzzzzzzzzzzz";

async fn house(step: Step) -> House {
    let model = ScriptedModel::builder().turn([step]).start().unwrap();
    House::build(model, Setup::default()).await.unwrap()
}

#[tokio::test]
async fn an_id_ahead_of_the_servers_clock_costs_older_servers_call_after_call() {
    let house = House::build(ScriptedModel::start().unwrap(), Setup::default())
        .await
        .unwrap();
    let mut stream = house.stream().await.unwrap();
    let body = json!({
        "messageID": AHEAD,
        "parts": [{ "type": "text", "text": "Write a poem" }],
    });

    house.post("prompt_async", &body).await.unwrap();

    if house.version().await.unwrap().orders_messages_by_time() {
        stream
            .status(&house.session, "idle", PATIENCE)
            .await
            .unwrap();
        assert_eq!(house.model.work_calls().len(), 1);
        return;
    }
    // Each answer sorts before the question, so there seems to be none.
    let asked_again = |requests: &[testkit::model::Request]| requests.len() > 3;
    house.model.wait_for(asked_again, PATIENCE).await.unwrap();
    house.server.abort(&house.session).await.unwrap();
    stream
        .status(&house.session, "idle", PATIENCE)
        .await
        .unwrap();
    assert_eq!(house.prompts().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_filtered_reply_is_an_error_or_only_says_so() {
    let house = house(Step::content_filter("I had begun")).await;
    let version = house.version().await.unwrap();

    let answer = house.server.converse(&house.session, "Write a poem").await;

    let info = answer.unwrap()["info"].take();
    assert_eq!(info["finish"], "content-filter");
    let expected = if version.records_a_filtered_reply_as_an_error() {
        json!("ContentFilterError")
    } else {
        json!(null)
    };
    assert_eq!(info["error"]["name"], expected, "{info}");
}

#[tokio::test]
async fn an_error_inside_an_answer_is_repeated_or_blocks_with_its_text() {
    let house = house(Step::error_in_stream()).await;
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();

    if house
        .version()
        .await
        .unwrap()
        .repeats_after_an_error_in_the_stream()
    {
        in_phase(&mut serve, "working", "providerRetries")
            .await
            .unwrap();
        return;
    }
    let end = settled(&mut serve).await.unwrap();
    assert_eq!(end["status"], "blocked", "{end}");
    let reason = end["reason"].as_str().unwrap();
    assert!(reason.starts_with("UnknownError: "), "{reason}");
    assert_eq!(house.model.audit_calls().len(), 0);
}
