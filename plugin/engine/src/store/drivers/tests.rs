use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::processes;
use crate::store::open;

const STALE: Duration = Duration::from_secs(30);

fn key() -> ServerKey {
    ServerKey::attached("http://127.0.0.1:4096").unwrap()
}

/// A process of which nothing is known but what it says itself.
fn elsewhere(nonce: &str) -> Owner {
    let mut owner = Owner::this_process(nonce);
    owner.process.host = "elsewhere".to_owned();
    owner
}

fn memory() -> Connection {
    open::in_memory("test".to_owned()).0.unwrap()
}

fn take(connection: &mut Connection, me: &Owner, now: u64) -> Lease {
    acquire(connection, &key(), me, Wall(now), STALE).unwrap()
}

fn held_by(pid: u32, since: u64, heartbeat: u64) -> Lease {
    Lease::HeldBy(Holder {
        pid,
        since: Wall(since),
        heartbeat: Wall(heartbeat),
    })
}

#[test]
fn two_connections_to_one_file_see_one_driver() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("goals.sqlite3");
    let mut ours = open::on_disk(&path).0.unwrap();
    let mut theirs = open::on_disk(&path).0.unwrap();
    let (a, b) = (Owner::this_process("a"), Owner::this_process("b"));

    assert_eq!(take(&mut ours, &a, 1_000), Lease::Mine(1));
    assert_eq!(
        take(&mut theirs, &b, 2_000),
        held_by(a.process.pid, 1_000, 1_000)
    );
    assert!(heartbeat(&mut ours, &key(), &a, 1, Wall(3_000)).unwrap());
    assert_eq!(
        take(&mut theirs, &b, 4_000),
        held_by(a.process.pid, 1_000, 3_000)
    );
    assert_eq!(
        take(&mut ours, &a, 5_000),
        Lease::Mine(1),
        "asking again changes no fence"
    );

    let other = ServerKey::attached("http://127.0.0.1:4097").unwrap();
    let lease = acquire(&mut theirs, &other, &b, Wall(5_000), STALE).unwrap();
    assert_eq!(lease, Lease::Mine(1), "another server is another lease");

    assert!(
        !release(&mut theirs, &key(), &b, 1).unwrap(),
        "only the holder gives it back"
    );
    assert!(release(&mut ours, &key(), &a, 1).unwrap());
    assert!(!heartbeat(&mut ours, &key(), &a, 1, Wall(6_000)).unwrap());
    assert_eq!(take(&mut theirs, &b, 6_000), Lease::Mine(2));
}

#[test]
fn a_driver_that_fell_silent_is_replaced_and_finds_out() {
    let mut connection = memory();
    let (a, b) = (elsewhere("a"), Owner::this_process("b"));
    assert_eq!(take(&mut connection, &a, 1_000), Lease::Mine(1));
    let limit = 1_000 + millis(STALE);
    assert_eq!(
        take(&mut connection, &b, limit),
        held_by(a.process.pid, 1_000, 1_000)
    );
    assert_eq!(take(&mut connection, &b, limit + 1), Lease::Mine(2));
    assert!(!heartbeat(&mut connection, &key(), &a, 1, Wall(limit + 2)).unwrap());
    assert!(!release(&mut connection, &key(), &a, 1).unwrap());
    assert_eq!(
        take(&mut connection, &a, limit + 2),
        held_by(b.process.pid, limit + 1, limit + 1)
    );
}

#[test]
fn a_clock_that_was_set_back_holds_nobody_up() {
    let mut connection = memory();
    let (a, b) = (elsewhere("a"), elsewhere("b"));
    let later = 1_000 + millis(STALE);
    assert_eq!(take(&mut connection, &a, later), Lease::Mine(1));
    assert_eq!(
        take(&mut connection, &b, 1_000),
        held_by(a.process.pid, later, later)
    );
    assert_eq!(take(&mut connection, &b, 999), Lease::Mine(2));
}

#[cfg(unix)]
#[test]
fn a_driver_whose_process_is_gone_is_replaced_at_once() {
    let mut connection = memory();
    let mut child = Running(Command::new("sleep").arg("600").spawn().unwrap());
    let pid = child.0.id();
    let a = Owner {
        process: Process::running(pid),
        ..Owner::this_process("a")
    };
    let b = Owner::this_process("b");
    assert_eq!(take(&mut connection, &a, 1_000), Lease::Mine(1));
    assert_eq!(
        take(&mut connection, &b, 1_001),
        held_by(pid, 1_000, 1_000),
        "it is alive"
    );

    child.0.kill().unwrap();
    child.0.wait().unwrap();
    let far = elsewhere("c");
    assert_eq!(
        take(&mut connection, &far, 1_002),
        held_by(pid, 1_000, 1_000),
        "another machine cannot know"
    );
    assert_eq!(take(&mut connection, &b, 1_003), Lease::Mine(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_ended_uncollected_is_gone() {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let child = Running(Command::new("true").spawn().unwrap());
    let pid = child.0.id();
    let id = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    // Waits for the end and leaves the process uncollected.
    waitid(Id::Pid(id), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).unwrap();
    assert!(processes::exists(pid));
    let me = Process::this();
    let ended = Process {
        pid,
        started: String::new(),
        ..me.clone()
    };
    assert!(ended.is_gone(&me.host));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_id_that_is_used_again_is_another_process() {
    let mut connection = memory();
    let mut a = Owner::this_process("a");
    a.process.started = "1".to_owned();
    assert_ne!(a, Owner::this_process("a"));
    assert_eq!(take(&mut connection, &a, 1_000), Lease::Mine(1));
    assert_eq!(
        take(&mut connection, &Owner::this_process("b"), 1_001),
        Lease::Mine(2)
    );
}

/// Two processes, as two threads with a connection each, take and give back the lease as fast as
/// they can: never do both hold it, and the fence rises with every change of hands.
#[test]
fn two_drivers_never_hold_the_lease_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("goals.sqlite3");
    let holders = AtomicUsize::new(0);
    let turns: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let drivers: Vec<_> = ["a", "b"]
            .map(|nonce| {
                let (path, holders) = (&path, &holders);
                scope.spawn(move || drive(path, nonce, holders))
            })
            .into_iter()
            .collect();
        drivers
            .into_iter()
            .map(|driver| driver.join().unwrap())
            .collect()
    });
    let mut fences = turns.concat();
    assert!(turns.iter().all(|fences| fences.is_sorted()), "{turns:?}");
    fences.sort_unstable();
    let granted = u64::try_from(fences.len()).unwrap();
    assert_eq!(
        fences,
        (1..=granted).collect::<Vec<_>>(),
        "no fence was granted twice"
    );
    assert_eq!(granted, 2 * TURNS);
}

const TURNS: u64 = 40;

fn drive(path: &Path, nonce: &str, holders: &AtomicUsize) -> Vec<u64> {
    let mut connection = open::on_disk(path).0.unwrap();
    let me = Owner::this_process(nonce);
    let mut fences = Vec::new();
    while limit_to_sql(fences.len()) < to_sql(TURNS) {
        let Lease::Mine(fence) = take(&mut connection, &me, 1_000) else {
            std::thread::yield_now();
            continue;
        };
        assert_eq!(
            holders.fetch_add(1, Ordering::SeqCst),
            0,
            "somebody else drives, too"
        );
        assert!(heartbeat(&mut connection, &key(), &me, fence, Wall(1_000)).unwrap());
        holders.fetch_sub(1, Ordering::SeqCst);
        assert!(release(&mut connection, &key(), &me, fence).unwrap());
        fences.push(fence);
    }
    fences
}

#[derive(Clone, Debug)]
enum Step {
    Acquire(usize),
    Heartbeat(usize),
    Release(usize),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3_usize).prop_map(Step::Acquire),
        (0..3_usize).prop_map(Step::Heartbeat),
        (0..3_usize).prop_map(Step::Release),
        (0..20_000_u64).prop_map(Step::Pass),
    ]
}

/// What the lease must be: the holder, its fence and its last heartbeat.
#[derive(Default)]
struct Model {
    holder: Option<(usize, u64)>,
    fence: u64,
}

impl Model {
    fn acquire(&mut self, me: usize, now: u64) -> Option<u64> {
        match self.holder {
            Some((holder, _)) if holder == me => {}
            Some((_, heartbeat)) if now - heartbeat <= millis(STALE) => return None,
            Some(_) | None => self.fence += 1,
        }
        self.holder = Some((me, now));
        Some(self.fence)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    /// Any order of asking, beating, giving back and waiting, against a model of a few lines.
    #[test]
    fn the_lease_follows_its_model(steps in proptest::collection::vec(step(), 1..60)) {
        let mut connection = memory();
        let owners = ["a", "b", "c"].map(elsewhere);
        let (mut model, mut granted, mut now) = (Model::default(), [0_u64; 3], 100_000);
        for step in steps {
            match step {
                Step::Pass(ms) => now += ms,
                Step::Acquire(me) => {
                    let expected = model.acquire(me, now);
                    let lease = take(&mut connection, &owners[me], now);
                    prop_assert_eq!(matches!(lease, Lease::Mine(_)), expected.is_some());
                    if let Lease::Mine(fence) = lease {
                        prop_assert_eq!(Some(fence), expected);
                        granted[me] = fence;
                    }
                }
                Step::Heartbeat(me) => {
                    let mine = model.holder.is_some_and(|(holder, _)| holder == me);
                    let beat =
                        heartbeat(&mut connection, &key(), &owners[me], granted[me], Wall(now));
                    prop_assert_eq!(beat.unwrap(), mine);
                    if mine {
                        model.holder = Some((me, now));
                    }
                }
                Step::Release(me) => {
                    let mine = model.holder.is_some_and(|(holder, _)| holder == me);
                    let released = release(&mut connection, &key(), &owners[me], granted[me]);
                    prop_assert_eq!(released.unwrap(), mine);
                    if mine {
                        model.holder = None;
                    }
                }
            }
        }
    }
}

#[test]
fn servers_are_bounded_and_held_ones_stay() {
    let mut connection = memory();
    let me = elsewhere("me");
    let server = |n: usize| ServerKey::attached(&format!("http://host-{n}:1")).unwrap();
    for n in 0..DRIVERS_MAX + 10 {
        let now = Wall(u64::try_from(n).unwrap());
        let lease = acquire(&mut connection, &server(n), &me, now, STALE).unwrap();
        assert_eq!(lease, Lease::Mine(1));
        // The very first stays held.
        assert!(n == 0 || release(&mut connection, &server(n), &me, 1).unwrap());
    }
    let count: i64 = connection
        .query_row("SELECT count(*) FROM drivers", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, limit_to_sql(DRIVERS_MAX));
    assert!(heartbeat(&mut connection, &server(0), &me, 1, Wall(0)).unwrap());
}

#[test]
fn a_servers_key_is_the_same_for_every_spelling_and_holds_no_secret() {
    let key = |url: &str| ServerKey::attached(url).map(|key| key.0).ok();
    let local = Some("http://loopback:4096".to_owned());
    for url in [
        "http://127.0.0.1:4096",
        "http://localhost:4096/",
        "http://[::1]:4096//",
        "HTTP://LOCALHOST:4096",
        "http://0.0.0.0:4096",
        "http://opencode:hunter2@127.0.0.1:4096/?token=hunter2#x",
    ] {
        assert_eq!(key(url), local, "{url}");
    }
    assert_eq!(
        key("https://Example.org"),
        Some("https://example.org:443".to_owned())
    );
    assert_eq!(
        key("https://example.org/a/"),
        Some("https://example.org:443/a".to_owned())
    );
    assert_ne!(key("http://example.org:443"), key("https://example.org"));
    let long = format!("http://example.org/{}", "a".repeat(WORD_BYTES_MAX));
    for url in [
        "",
        "127.0.0.1:4096",
        "ftp://host",
        "file:///tmp",
        "http://",
        long.as_str(),
    ] {
        assert_eq!(key(url), None, "{url}");
    }
}

#[test]
fn a_managed_servers_key_is_its_data_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    std::fs::create_dir(&a).unwrap();
    assert_eq!(
        ServerKey::managed(&a),
        ServerKey::managed(&a.join("..").join("a"))
    );
    assert_ne!(ServerKey::managed(&a), ServerKey::managed(&b));
}

/// A child that never outlives its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
