use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

fn key() -> ServerKey {
    ServerKey::attached("http://127.0.0.1:4096").unwrap()
}

/// Which settings and which fence a beat told of.
fn told(news: &mut mpsc::Receiver<News>) -> (usize, Vec<u64>) {
    let (mut settings, mut lost) = (0, Vec::new());
    while let Ok(one) = news.try_recv() {
        match one {
            News::Settings(_) => settings += 1,
            News::LeaseLost(fence) => lost.push(fence),
        }
    }
    (settings, lost)
}

#[tokio::test]
async fn a_lost_lease_arrives_as_news() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_memory("this is a test");
    let mut beats = Beats::new();
    let (ours, theirs) = (Owner::this_process("ours"), Owner::this_process("theirs"));
    let begin = Wall(1_000);
    let lease = store.acquire(key(), ours.clone(), begin, DRIVER_STALE);
    assert_eq!(lease.await.unwrap(), Lease::Mine(1));
    let beat = |now| Beat {
        file: Arc::new(SettingsFile::new(folder.path().join("settings.json"))),
        known: Some(Settings::default()),
        store: store.clone(),
        driver: Driver {
            key: key(),
            owner: ours.clone(),
        },
        fence: Some(1),
        now,
    };
    beat(begin.after(HEARTBEAT)).run(&beats.tell);
    assert_eq!(told(&mut beats.news), (0, vec![]), "it is still ours");
    let later = begin.after(HEARTBEAT).after(DRIVER_STALE);
    store.release(key(), ours.clone(), 1).await.unwrap();
    let lease = store.acquire(key(), theirs, later, DRIVER_STALE);
    assert_eq!(lease.await.unwrap(), Lease::Mine(2));
    beat(later).run(&beats.tell);
    assert_eq!(told(&mut beats.news), (0, vec![1]));
}

#[test]
fn no_second_beat_begins_while_one_hangs() {
    // One thread for blocking work: what is begun is done in its order.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let begun = Arc::new(AtomicU32::new(0));
        let (release, disk) = std::sync::mpsc::channel::<()>();
        let mut beats = Beats::new();
        let count = Arc::clone(&begun);
        beats.begin(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            // It ends with the test at the latest.
            let _ = disk.recv();
        });
        let again = |beats: &mut Beats| {
            let count = Arc::clone(&begun);
            beats.begin(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            });
        };
        again(&mut beats);
        again(&mut beats);
        release.send(()).unwrap();
        everything_is_done().await;
        assert_eq!(begun.load(Ordering::SeqCst), 1, "the disk hung");
        again(&mut beats);
        everything_is_done().await;
        assert_eq!(begun.load(Ordering::SeqCst), 2, "the disk is back");
    });
}

/// Waits until all blocking work that was begun before came to its end.
async fn everything_is_done() {
    tokio::task::spawn_blocking(|| ()).await.unwrap();
}
