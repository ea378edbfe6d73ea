//! The scripted model, asked over HTTP as OpenCode asks it.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model::{DEFAULT_REPORT, DEFAULT_VERDICT, Kind, Progress};
use testkit::{Error, ScriptedModel, Step};

const DEADLINE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_turn_goes_on_step_by_step_with_its_tool_results() {
    let model = ScriptedModel::builder()
        .turn([
            Step::tool("bash", json!({ "command": "ls" })).usage(500, 7),
            Step::tools([("read", json!({})), ("glob", json!({}))]),
            Step::say("Done: both."),
        ])
        .turn([Step::say("second turn").usage(2000, 30)])
        .start()
        .unwrap();
    let mut talk = Talk::new(&model);

    let first = talk.ask("begin").await;
    assert_eq!(
        tools(&first),
        [("bash".to_owned(), r#"{"command":"ls"}"#.to_owned())]
    );
    assert_eq!(first["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(first["usage"], usage(500, 7, 0));

    let second = talk.answer_tools(&first).await;
    assert_eq!(tools(&second).len(), 2);
    let third = talk.answer_tools(&second).await;
    assert_eq!(text(&third), "Done: both.");
    assert_eq!(third["usage"], usage(1000, 20, 600));

    assert_eq!(text(&talk.ask("go on").await), "second turn");
    assert_eq!(text(&talk.ask("go on").await), DEFAULT_REPORT);
    assert_eq!(model.work_calls().len(), 5);
    assert_eq!(model.work_calls()[2].last_user_text(), "begin");
}

#[tokio::test]
async fn the_same_prompt_in_two_sessions_takes_two_turns() {
    let model = ScriptedModel::builder()
        .turn([Step::say("one")])
        .turn([Step::say("two")])
        .start()
        .unwrap();
    let (mut here, mut there) = (Talk::new(&model), Talk::new(&model));
    there.session = "ses_there".to_owned();
    assert_eq!(text(&here.ask("same").await), "one");
    assert_eq!(text(&there.ask("same").await), "two");
    assert_eq!(model.requests()[1].session.as_deref(), Some("ses_there"));
    assert_eq!(model.unused(), (0, 0));
}

#[tokio::test]
async fn an_error_stays_unless_it_is_given_a_number_of_times() {
    let model = ScriptedModel::builder()
        .turn([Step::error(401)])
        .turn([
            Step::error_retry_after(429, 7).times(2),
            Step::say("through"),
        ])
        .start()
        .unwrap();
    let mut talk = Talk::new(&model);
    for _ in 0..3 {
        let response = talk.send("fails").await;
        assert_eq!(response.status(), 401);
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"]["message"], "fake error 401");
        talk.messages.pop();
    }
    talk.messages
        .push(json!({ "role": "user", "content": "fails" }));
    for _ in 0..2 {
        let response = talk.send("passes").await;
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["retry-after"], "7");
        talk.messages.pop();
    }
    assert_eq!(text(&talk.ask("passes").await), "through");
}

#[tokio::test]
async fn requests_are_told_apart_and_recorded() {
    let model = ScriptedModel::builder()
        .audit_verdict("complete", "all there")
        .audit_raw("garbage")
        .audit_error(500)
        .start()
        .unwrap();
    let system = |text: &str| vec![json!({ "role": "system", "content": text })];

    let mut title = Talk::new(&model);
    title.tools = json!([]);
    title.messages = system("You are a title generator.");
    assert_eq!(text(&title.ask("[[TEXT not me]]").await), "Fake title");

    let mut summary = Talk::new(&model);
    summary.tools = json!([]);
    summary.messages = system("You are an anchored context summarizer");
    assert!(text(&summary.ask("sum up").await).starts_with("SUMMARY"));

    let mut audit = Talk::new(&model);
    audit.tools = json!([]);
    let verdict: Value = serde_json::from_str(&text(&audit.ask("judge").await)).unwrap();
    assert_eq!(
        verdict,
        json!({ "verdict": "complete", "note": "all there" })
    );
    assert_eq!(text(&audit.ask("judge").await), "garbage");
    assert_eq!(audit.send("judge").await.status(), 500);
    assert_eq!(
        text(&audit.ask("[[TEXT the agent's]]").await),
        DEFAULT_VERDICT
    );

    let kinds: Vec<Kind> = model
        .requests()
        .iter()
        .map(|request| request.kind)
        .collect();
    let audits = [Kind::Audit; 4];
    assert_eq!(
        kinds,
        [&[Kind::Title, Kind::Compaction][..], &audits].concat()
    );
    let calls = model.audit_calls();
    assert!(
        calls
            .iter()
            .all(|call| call.progress == Progress::Answered && call.model() == "big")
    );
    assert!(calls[0].mentions("judge") && !calls[0].mentions("sum up"));
}

#[tokio::test]
async fn the_test_can_say_what_an_audit_is() {
    let model = ScriptedModel::builder()
        .audit_marker("<verdict>")
        .start()
        .unwrap();
    let mut talk = Talk::new(&model);
    assert_eq!(text(&talk.ask("give a <verdict>").await), DEFAULT_VERDICT);
    let mut bare = Talk::new(&model);
    bare.tools = json!([]);
    assert_eq!(text(&bare.ask("[[TEXT hello]]").await), "hello");
}

#[tokio::test]
async fn gates_hold_an_answer_until_it_is_released() {
    let model = ScriptedModel::builder()
        .turn([Step::gate("before"), Step::say("free")])
        .turn([Step::held("within", "begun")])
        .audit_gate("judge")
        .start()
        .unwrap();
    let mut talk = Talk::new(&model);
    let answer = tokio::spawn(async move { (text(&talk.ask("one").await), talk) });
    model.reached("before", DEADLINE).await.unwrap();
    assert_eq!(model.requests()[0].progress, Progress::Open);
    model.release("before");
    let (said, mut talk) = answer.await.unwrap();
    assert_eq!(said, "free");

    talk.stream = true;
    let mut response = talk.send("two").await;
    model.reached("within", DEADLINE).await.unwrap();
    let mut seen = String::new();
    while !seen.contains("begun") {
        seen.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(!seen.contains("DONE"));
    model.release("within");
    assert!(response.text().await.unwrap().ends_with("data: [DONE]\n\n"));

    let mut audit = Talk::new(&model);
    audit.tools = json!([]);
    model.release("judge");
    assert_eq!(text(&audit.ask("judge").await), DEFAULT_VERDICT);
    model.reached("judge", DEADLINE).await.unwrap();
}

#[tokio::test]
async fn a_client_that_goes_away_is_recorded() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "begun")])
        .start()
        .unwrap();
    let mut talk = Talk::new(&model);
    talk.stream = true;
    let response = talk.send("one").await;
    model.reached("never", DEADLINE).await.unwrap();
    drop(response);
    model
        .wait_for(
            |log| log.iter().any(|one| one.progress == Progress::ClientGone),
            DEADLINE,
        )
        .await
        .unwrap();
}

#[tokio::test]
async fn what_does_not_happen_is_reported_with_what_did() {
    let model = ScriptedModel::start().unwrap();
    Talk::new(&model).ask("hello there").await;
    let error = model
        .wait_for(|log| log.len() > 1, Duration::from_millis(10))
        .await
        .unwrap_err();
    assert!(matches!(&error, Error::Deadline { seen, .. } if seen.contains("hello there")));
    let error = model
        .reached("nowhere", Duration::from_millis(10))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }));
}

#[test]
fn a_step_that_no_request_can_reach_is_refused() {
    let script = ScriptedModel::builder()
        .turn([Step::say("fine")])
        .turn([Step::say("ends"), Step::say("never")]);
    assert!(matches!(
        script.start(),
        Err(Error::Unreachable { turn: 2, step: 2 })
    ));
}

#[tokio::test]
async fn markers_choose_text_usage_and_ending() {
    let model = ScriptedModel::start().unwrap();
    let mut talk = Talk::new(&model);
    talk.tools = json!([{ "function": { "name": "bash" } }]);
    let cases = [
        ("[[TEXT two words]]", "two words", "stop"),
        ("[[WORDS 3]]", "w0 w1 w2", "stop"),
        ("[[LENGTH]]", "", "length"),
        (
            "[[LENGTHTEXT]]",
            "This text was cut off in the mid",
            "length",
        ),
        ("[[EMPTY]]", "", "stop"),
        ("[[FILTER]]", DEFAULT_REPORT, "content_filter"),
        ("[[DELAY 0.01]]", DEFAULT_REPORT, "stop"),
        ("<<TEXT inner>>", "inner", "stop"),
    ];
    for (prompt, said, finish) in cases {
        let answer = talk.ask(prompt).await;
        assert_eq!(text(&answer), said, "{prompt}");
        assert_eq!(answer["choices"][0]["finish_reason"], finish, "{prompt}");
    }
    assert_eq!(
        talk.ask("[[USAGE 700 3]]").await["usage"],
        usage(700, 3, 600)
    );
    assert_eq!(talk.send("[[OVERFLOW]]").await.status(), 400);
    let refused = talk
        .send("[[ERROR503]] [[RETRYAFTER 4]] [[ERRTIMES 1]]")
        .await;
    assert_eq!(
        (
            refused.status().as_u16(),
            refused.headers()["retry-after"].as_bytes()
        ),
        (503, &b"4"[..])
    );
    talk.messages.pop();
    let again = talk
        .send("[[ERROR503]] [[RETRYAFTER 4]] [[ERRTIMES 1]]")
        .await;
    assert_eq!(again.status(), 200);
}

#[tokio::test]
async fn markers_call_tools_in_a_loop_and_answer_structured_requests() {
    let model = ScriptedModel::start().unwrap();
    let mut talk = Talk::new(&model);
    let first = talk.ask(r#"[[TOOL bash {"list":[1]}]] [[LOOP 2]]"#).await;
    assert_eq!(
        tools(&first),
        [("bash".to_owned(), r#"{"list":[1]}"#.to_owned())]
    );
    let second = talk.answer_tools(&first).await;
    assert_eq!(tools(&second).len(), 1);
    assert!(text(&talk.answer_tools(&second).await).starts_with("After the tool. Done"));

    talk.tools = json!([{ "function": { "name": "StructuredOutput" } }]);
    let structured = talk.ask(r#"[[STRUCT {"a":1}]]"#).await;
    assert_eq!(
        tools(&structured),
        [("StructuredOutput".to_owned(), r#"{"a":1}"#.to_owned())]
    );
    assert_eq!(text(&talk.ask("[[NOSTRUCT]]").await), DEFAULT_REPORT);
}

#[tokio::test]
async fn streams_carry_the_same_answer_in_pieces() {
    let model = ScriptedModel::start().unwrap();
    let mut talk = Talk::new(&model);
    talk.stream = true;
    let (events, whole) = talk.stream("[[REASON]] [[WORDS 3]] [[HANG 0.01]]").await;
    assert!(whole);
    let joined = |field: &str| {
        let pieces = events
            .iter()
            .filter_map(|event| event["choices"][0]["delta"][field].as_str());
        pieces.collect::<String>()
    };
    assert_eq!(joined("content"), "w0 w1 w2 ");
    assert_eq!(joined("reasoning_content"), "some reasoning ");
    let last = events.last().unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!(last["usage"], usage(1000, 20, 600));

    let begin = Instant::now();
    let (events, whole) = talk.stream("[[SLOW 0.5]]").await;
    assert!(whole && begin.elapsed() >= Duration::from_millis(500));
    assert_eq!(events[1]["choices"][0]["delta"]["content"], "tick0 ");

    let (events, whole) = talk.stream("[[STREAMERR]]").await;
    assert!(whole);
    assert_eq!(events.last().unwrap()["error"]["code"], "overloaded");

    let (events, whole) = talk.stream("[[DROP]]").await;
    assert!(!whole);
    assert_eq!(
        events.last().unwrap()["choices"][0]["delta"]["content"],
        "partial answer "
    );
}

#[tokio::test]
async fn dropping_the_model_breaks_its_connections() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "begun")])
        .start()
        .unwrap();
    let mut talk = Talk::new(&model);
    talk.stream = true;
    let response = talk.send("one").await;
    model.reached("never", DEADLINE).await.unwrap();
    drop(model);
    assert!(response.text().await.is_err());
    assert!(reqwest::get(talk.url).await.is_err());
}

/// One conversation with the model, in one session.
struct Talk {
    http: reqwest::Client,
    url: String,
    session: String,
    messages: Vec<Value>,
    tools: Value,
    stream: bool,
}

impl Talk {
    fn new(model: &ScriptedModel) -> Self {
        Self {
            http: opencode_client::http_client()
                .no_proxy()
                .timeout(DEADLINE)
                .build()
                .unwrap(),
            url: format!("{}/chat/completions", model.url()),
            session: "ses_here".to_owned(),
            messages: vec![json!({ "role": "system", "content": "You are an agent." })],
            tools: json!([{ "type": "function", "function": { "name": "bash" } }]),
            stream: false,
        }
    }

    /// Adds a user message and gives the answer, which becomes part of the conversation.
    async fn ask(&mut self, prompt: &str) -> Value {
        let answer: Value = self.send(prompt).await.json().await.unwrap();
        self.messages.push(answer["choices"][0]["message"].clone());
        answer
    }

    async fn send(&mut self, prompt: &str) -> reqwest::Response {
        let parts = json!([{ "type": "text", "text": prompt }]);
        self.messages
            .push(json!({ "role": "user", "content": parts }));
        self.post().await
    }

    /// Answers each tool call of `answer` and gives what the model says then.
    async fn answer_tools(&mut self, answer: &Value) -> Value {
        for call in answer["choices"][0]["message"]["tool_calls"]
            .as_array()
            .unwrap()
        {
            let id = &call["id"];
            self.messages
                .push(json!({ "role": "tool", "tool_call_id": id, "content": "ok" }));
        }
        let answer: Value = self.post().await.json().await.unwrap();
        self.messages.push(answer["choices"][0]["message"].clone());
        answer
    }

    /// The events of a streamed answer, and whether the stream came to its end.
    async fn stream(&mut self, prompt: &str) -> (Vec<Value>, bool) {
        let mut response = self.send(prompt).await;
        let mut bytes = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.split("\n\n").filter(|line| !line.is_empty()).collect();
        let datas = lines
            .iter()
            .map(|line| line.strip_prefix("data: ").unwrap());
        let events = datas.filter(|data| *data != "[DONE]");
        let events = events
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        (events, text.ends_with("data: [DONE]\n\n"))
    }

    async fn post(&self) -> reqwest::Response {
        let body = json!({
            "model": "big",
            "stream": self.stream,
            "messages": self.messages,
            "tools": self.tools,
        });
        let request = self
            .http
            .post(&self.url)
            .header("x-session-id", &self.session);
        request.json(&body).send().await.unwrap()
    }
}

fn text(answer: &Value) -> String {
    answer["choices"][0]["message"]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn tools(answer: &Value) -> Vec<(String, String)> {
    let calls = answer["choices"][0]["message"]["tool_calls"]
        .as_array()
        .unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let function = |call: &Value| {
        (
            word(&call["function"]["name"]),
            word(&call["function"]["arguments"]),
        )
    };
    calls.iter().map(function).collect()
}

fn usage(prompt: u64, completion: u64, cached: u64) -> Value {
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": { "cached_tokens": cached },
    })
}
