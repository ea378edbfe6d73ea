//! Every call of a cycle meets every fault, twice in a row.

use std::ops::RangeInclusive;

use testkit::fake::{Answer, Endpoint, Fault};

use crate::house::House;

/// How often in a row: a retry that fails as well is another path than one that does not.
const TIMES: usize = 2;

/// The calls by which a cycle looks.
const READS: [Endpoint; 4] = [
    Endpoint::Session,
    Endpoint::Status,
    Endpoint::Children,
    Endpoint::Messages,
];

/// The calls by which an audit is prepared.
const AUDIT_READS: [Endpoint; 3] = [Endpoint::Config, Endpoint::Providers, Endpoint::Agents];

/// The calls of an audit with an effect.
const AUDIT_WRITES: [Endpoint; 3] = [Endpoint::Create, Endpoint::Ask, Endpoint::Delete];

/// The calls by which a goal is written and gone on with.
const WRITES: [Endpoint; 2] = [Endpoint::Patch, Endpoint::Prompt];

/// A goal is pursued to its end while each of `endpoints` meets each of `faults`, in so many steps.
async fn all_survive(endpoints: &[Endpoint], faults: &[Fault], steps: RangeInclusive<usize>) {
    for endpoint in endpoints {
        for fault in faults {
            say_case(*endpoint, *fault);
            let house = House::new().await;
            house.server.fault(*endpoint, TIMES, *fault);
            let running = house.serve().await;
            house.until_complete().await;
            // Whoever looks whether a write took effect need not write again.
            let left = house.server.faults_left(*endpoint);
            assert!(left < TIMES, "{endpoint:?} was never asked");
            house.ends_well_after(running, steps.clone()).await;
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a failing test shows which case it was"
)]
fn say_case(endpoint: Endpoint, fault: Fault) {
    eprintln!("{endpoint:?} {fault:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_fail_at_once() {
    let faults = [Answer::Cut, Answer::Status(503), Answer::Html].map(Fault::without_effect);
    all_survive(&READS, &faults, 1..=1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_never_come() {
    let faults = [Fault::without_effect(Answer::Hang)];
    all_survive(&READS, &faults, 1..=1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_come_byte_by_byte() {
    let faults = [Fault::with_effect(Answer::Trickle)];
    all_survive(&READS, &faults, 1..=1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_stop_in_the_middle() {
    let faults = [Fault::with_effect(Answer::HalfClosed)];
    all_survive(&READS, &faults, 1..=1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_sessions_that_cannot_be_read() {
    let house = House::new().await;
    let faults = [
        Fault::with_effect(Answer::Trickle),
        Fault::without_effect(Answer::Cut),
    ];
    for fault in faults {
        house.server.fault(Endpoint::List, 1, fault);
    }
    let running = house.serve().await;
    house.until_complete().await;
    assert_eq!(house.server.faults_left(Endpoint::List), 0);
    house.ends_well(running).await;
}

/// An audit that cannot be had sends the agent on without one, once or twice; the goal does not
/// end by it.
#[tokio::test(flavor = "multi_thread")]
async fn an_audit_that_cannot_ask() {
    let faults = [
        Fault::without_effect(Answer::Cut),
        Fault::without_effect(Answer::Status(503)),
        Fault::without_effect(Answer::Html),
        Fault::with_effect(Answer::Trickle),
    ];
    all_survive(&AUDIT_READS, &faults, 1..=1 + TIMES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_whose_calls_fail() {
    let faults = [
        Fault::without_effect(Answer::Cut),
        Fault::without_effect(Answer::Status(503)),
        Fault::without_effect(Answer::Html),
        Fault::with_effect(Answer::Cut),
        Fault::with_effect(Answer::Status(500)),
    ];
    all_survive(&AUDIT_WRITES, &faults, 1..=1 + TIMES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_whose_answers_come_in_pieces() {
    let faults = [Answer::Trickle, Answer::HalfClosed].map(Fault::with_effect);
    let endpoints = [Endpoint::Create, Endpoint::Ask];
    all_survive(&endpoints, &faults, 1..=1 + TIMES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_that_do_not_arrive() {
    let faults = [
        Answer::Cut,
        Answer::Status(503),
        Answer::Html,
        Answer::Hang,
        Answer::Status(204),
    ];
    all_survive(&WRITES, &faults.map(Fault::without_effect), 1..=1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_whose_answer_is_lost() {
    let faults = [Answer::Cut, Answer::Status(500), Answer::Html, Answer::Hang];
    all_survive(&WRITES, &faults.map(Fault::with_effect), 1..=1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_written_goal_that_is_answered_in_pieces() {
    let faults = [Answer::Trickle, Answer::HalfClosed].map(Fault::with_effect);
    all_survive(&[Endpoint::Patch], &faults, 1..=1).await;
}
