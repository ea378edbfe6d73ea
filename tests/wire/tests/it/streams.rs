//! The event stream fails: what was missed is read, and the goal goes on.

use testkit::fake::{Answer, Endpoint, FakeServer, Fault, StreamFault, Turns};

use crate::house::{House, SESSION};

/// The stream breaks while a turn runs; nothing of its end is heard on it.
async fn survives(fault: StreamFault) {
    let house = House::new().await;
    house.server.set_turns(Turns {
        held: true,
        ..Turns::default()
    });
    let running = house.serve().await;
    house.until_prompted().await;
    house.server.break_streams(fault);
    assert!(house.server.finish_turn(SESSION));
    house.until_complete().await;
    let opened = |server: &FakeServer| server.requests()[&Endpoint::Events] >= 2;
    house.server.until("another stream", opened).await.unwrap();
    house.ends_well(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks() {
    survives(StreamFault::Cut).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_whose_server_side_is_closed() {
    survives(StreamFault::HalfClosed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_falls_silent() {
    survives(StreamFault::Silence).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_does_not_come_about() {
    let answers = [
        Answer::Cut,
        Answer::Hang,
        Answer::Status(503),
        Answer::Html,
        Answer::HalfClosed,
    ];
    for answer in answers {
        let house = House::new().await;
        house
            .server
            .fault(Endpoint::Events, 2, Fault::without_effect(answer));
        let running = house.serve().await;
        house.until_complete().await;
        assert_eq!(house.server.faults_left(Endpoint::Events), 0, "{answer:?}");
        house.ends_well(running).await;
    }
}
