use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

struct Case {
    dir: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("data").join("goals.sqlite3")
    }

    fn open(&self) -> Store {
        Store::open(&self.path())
    }

    /// A plain connection, as another program would have it.
    fn raw(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    fn copies(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.dir.path().join("data"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains(".broken-"))
            .collect();
        names.sort();
        names
    }
}

fn decision(session: &str, n: u64) -> DecisionRecord {
    DecisionRecord {
        at: Wall(1_000 + n),
        session: SessionId::new(session),
        goal: GoalId::new("goal"),
        kind: "rest".to_owned(),
        why: "childBusy".to_owned(),
        detail: json!({ "n": n }),
        tokens_used: n,
        turns_used: 3,
    }
}

fn notice(key: &str) -> NoticePlan {
    NoticePlan {
        key: key.to_owned(),
        at: Wall(5),
        session: SessionId::new("ses_1"),
        goal: GoalId::new("goal"),
        code: "complete".to_owned(),
        args: json!({ "title": "Fix it" }),
    }
}

async fn numbers(store: &Store, session: &str, limit: usize) -> Vec<u64> {
    let found = store
        .decisions(SessionId::new(session), limit)
        .await
        .unwrap();
    found
        .into_iter()
        .map(|stored| stored.record.tokens_used)
        .collect()
}

async fn new_notice(store: &Store, key: &str) -> i64 {
    match store.plan_notice(notice(key)).await.unwrap() {
        Planned::New(id) => id,
        known @ (Planned::AlreadyPlanned(_) | Planned::AlreadySent | Planned::AlreadyFailed(_)) => {
            panic!("{known:?}")
        }
    }
}

async fn pending_keys(store: &Store) -> Vec<String> {
    store
        .pending_notices()
        .await
        .unwrap()
        .into_iter()
        .map(|stored| stored.plan.key)
        .collect()
}

#[tokio::test]
async fn decisions_come_back_newest_first_by_session_and_survive_a_restart() {
    let case = Case::new();
    let store = case.open();
    assert_eq!(store.health(), &Health::Fine);
    for n in 0..3 {
        store.append_decision(decision("ses_a", n)).await.unwrap();
    }
    store.append_decision(decision("ses_b", 9)).await.unwrap();
    drop(store);

    let store = case.open();
    assert_eq!(numbers(&store, "ses_a", 2).await, [2, 1]);
    assert_eq!(numbers(&store, "ses_b", usize::MAX).await, [9]);
    assert_eq!(numbers(&store, "ses_c", 10).await, Vec::<u64>::new());
    let newest = store
        .decisions(SessionId::new("ses_a"), 1)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(newest.record, decision("ses_a", 2));
}

#[tokio::test]
async fn decisions_are_bounded_for_each_session() {
    let store = Store::in_memory("test");
    store
        .append_decision(decision("ses_quiet", 7))
        .await
        .unwrap();
    let many = u64::try_from(DECISIONS_PER_SESSION_MAX).unwrap() + 10;
    for n in 0..many {
        store
            .append_decision(decision("ses_busy", n))
            .await
            .unwrap();
    }
    let kept = numbers(&store, "ses_busy", usize::MAX).await;
    assert_eq!(kept, (10..many).rev().collect::<Vec<_>>());
    assert_eq!(
        numbers(&store, "ses_quiet", 10).await,
        [7],
        "the busy one pushes nobody out"
    );
}

#[tokio::test]
async fn decisions_are_bounded_in_all() {
    let case = Case::new();
    drop(case.open());
    case.raw()
        .execute_batch(&format!(
            "INSERT INTO decisions
             WITH RECURSIVE row(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row
                                       WHERE n < {DECISIONS_MAX})
             SELECT n, n, 'ses_' || n, 'goal', 'rest', 'why', '{{}}', 0, 0 FROM row"
        ))
        .unwrap();
    let store = case.open();
    store.append_decision(decision("ses_new", 1)).await.unwrap();
    let count: i64 = case
        .raw()
        .query_row("SELECT count(*) FROM decisions", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, limit_to_sql(DECISIONS_MAX));
    assert_eq!(
        numbers(&store, "ses_1", 1).await,
        Vec::<u64>::new(),
        "the oldest is gone"
    );
    assert_eq!(numbers(&store, "ses_2", 1).await, [0]);
}

#[tokio::test]
async fn what_is_too_long_is_cut_and_what_is_too_large_is_left_out() {
    let store = Store::in_memory("test");
    let long = DecisionRecord {
        goal: GoalId::new("€".repeat(400)),
        detail: json!({ "text": "x".repeat(DETAIL_BYTES_MAX) }),
        tokens_used: u64::MAX,
        ..decision("ses_a", 0)
    };
    store.append_decision(long).await.unwrap();
    let kept = store
        .decisions(SessionId::new("ses_a"), 1)
        .await
        .unwrap()
        .remove(0)
        .record;
    assert_eq!(kept.goal.as_str(), "€".repeat(WORD_BYTES_MAX / 3));
    assert_eq!(
        kept.detail,
        json!({ "omittedBytes": DETAIL_BYTES_MAX + 11 })
    );
    assert_eq!(kept.tokens_used, u64::try_from(i64::MAX).unwrap());
}

#[tokio::test]
async fn a_notice_is_told_once_across_restarts() {
    let case = Case::new();
    let store = case.open();
    let key = notice_key(&GoalId::new("g:1"), "complete", Wall(77));
    let id = new_notice(&store, &key).await;
    drop(store);

    // A crash before the mark: it is pending, and planning it again finds it.
    let store = case.open();
    let pending = store.pending_notices().await.unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].id, &pending[0].plan), (id, &notice(&key)));
    let again = store.plan_notice(notice(&key)).await.unwrap();
    assert_eq!(again, Planned::AlreadyPlanned(id));
    assert!(store.mark_notice_sent(id).await.unwrap());
    drop(store);

    let store = case.open();
    assert_eq!(pending_keys(&store).await, Vec::<String>::new());
    assert_eq!(
        store.plan_notice(notice(&key)).await.unwrap(),
        Planned::AlreadySent
    );
    assert!(
        !store.mark_notice_failed(id).await.unwrap(),
        "what was told stays told"
    );
    assert!(store.mark_notice_sent(id).await.unwrap());
    assert!(!store.withdraw_notice(id).await.unwrap());
    assert_eq!(store.notices(10).await.unwrap()[0].state, NoticeState::Sent);
}

#[test]
fn a_notices_key_tells_goals_codes_and_writes_apart() {
    let key = |goal: &str, code: &str, at| notice_key(&GoalId::new(goal), code, Wall(at));
    assert_eq!(key("a", "blocked", 1), key("a", "blocked", 1));
    let keys = [
        key("a", "blocked", 1),
        key("b", "blocked", 1),
        key("a", "complete", 1),
        key("a", "blocked", 2),
        key("1:a", "blocked", 1),
    ];
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len(), "{keys:?}");
}

#[tokio::test]
async fn a_notice_that_failed_or_was_withdrawn_is_not_pending() {
    let store = Store::in_memory("test");
    let failed = new_notice(&store, "failed").await;
    let withdrawn = new_notice(&store, "withdrawn").await;
    new_notice(&store, "planned").await;
    assert!(store.mark_notice_failed(failed).await.unwrap());
    assert!(store.withdraw_notice(withdrawn).await.unwrap());
    assert!(!store.withdraw_notice(withdrawn).await.unwrap());
    assert_eq!(pending_keys(&store).await, ["planned"]);
    let again = store.plan_notice(notice("failed")).await.unwrap();
    assert_eq!(again, Planned::AlreadyFailed(failed));
    assert!(
        store.mark_notice_sent(failed).await.unwrap(),
        "a later attempt may succeed"
    );

    assert!(store.mark_notice_read(failed).await.unwrap());
    assert!(!store.mark_notice_read(withdrawn).await.unwrap());
    let listed: Vec<_> = store
        .notices(10)
        .await
        .unwrap()
        .into_iter()
        .map(|stored| (stored.plan.key, stored.state, stored.read))
        .collect();
    assert_eq!(
        listed,
        [
            ("planned".to_owned(), NoticeState::Planned, false),
            ("failed".to_owned(), NoticeState::Sent, true),
        ]
    );
}

#[tokio::test]
async fn notices_are_bounded_and_planned_ones_go_last() {
    let store = Store::in_memory("test");
    new_notice(&store, "old and planned").await;
    for n in 0..NOTICES_MAX + 5 {
        let id = new_notice(&store, &format!("{n}")).await;
        store.mark_notice_sent(id).await.unwrap();
    }
    let kept = store.notices(usize::MAX).await.unwrap();
    assert_eq!(kept.len(), NOTICES_MAX);
    assert_eq!(pending_keys(&store).await, ["old and planned"]);
}

#[tokio::test]
async fn a_notice_that_is_too_large_is_refused() {
    let store = Store::in_memory("test");
    let args = NoticePlan {
        args: Value::from("x".repeat(ARGS_BYTES_MAX)),
        ..notice("a")
    };
    let refused = store.plan_notice(args).await.unwrap_err();
    assert!(
        matches!(
            refused,
            StoreError::TooLarge {
                limit: ARGS_BYTES_MAX,
                ..
            }
        ),
        "{refused}"
    );
    let refused = store
        .plan_notice(notice(&"k".repeat(1_025)))
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused}");
    assert_eq!(store.notices(1).await.unwrap(), []);
}

#[tokio::test]
async fn a_damaged_file_is_put_aside_and_a_fresh_one_is_begun() {
    let case = Case::new();
    drop(case.open());
    let damages: [&[u8]; 3] = [
        b"this is no database, whatever its name may say",
        &[0; 4096],
        b"SQLite format 3\0 and cut off",
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        fs::write(case.path(), damage).unwrap();
        let store = case.open();
        let Health::PutAside { copy } = store.health() else {
            panic!("{}", store.health())
        };
        assert_eq!(fs::read(copy).unwrap(), damage);
        assert!(
            store.health().to_string().contains("broken-"),
            "the words name the copy"
        );
        store.append_decision(decision("ses_a", 1)).await.unwrap();
        assert_eq!(case.copies().len(), n + 1);
        drop(store);
        assert_eq!(
            numbers(&case.open(), "ses_a", 1).await,
            [1],
            "the fresh one is kept"
        );
    }
    assert_eq!(case.open().health(), &Health::Fine);
}

#[tokio::test]
async fn damage_in_the_middle_is_found() {
    let case = Case::new();
    let store = case.open();
    for n in 0..50 {
        store.append_decision(decision("ses_a", n)).await.unwrap();
    }
    drop(store);
    let mut bytes = fs::read(case.path()).unwrap();
    for byte in bytes.iter_mut().skip(4_096) {
        *byte = 0xa5;
    }
    fs::write(case.path(), bytes).unwrap();
    let store = case.open();
    assert!(
        matches!(store.health(), Health::PutAside { .. }),
        "{}",
        store.health()
    );
}

/// Several processes that start at once over a damaged file: one of them puts it aside, and all
/// of them then share the one fresh file.
#[tokio::test]
async fn several_starts_over_a_damaged_file_share_one_fresh_file() {
    let case = Case::new();
    drop(case.open());
    fs::write(case.path(), "damaged".repeat(1_000)).unwrap();
    let stores: Vec<Store> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..6).map(|_| scope.spawn(|| case.open())).collect();
        starts
            .into_iter()
            .map(|start| start.join().unwrap())
            .collect()
    });
    let fresh = |store: &&Store| matches!(store.health(), Health::PutAside { .. });
    assert_eq!(stores.iter().filter(fresh).count(), 1);
    assert_eq!(case.copies().len(), 1);
    for (n, store) in (0..).zip(&stores) {
        store.append_decision(decision("ses_a", n)).await.unwrap();
    }
    assert_eq!(numbers(&stores[0], "ses_a", 10).await, [5, 4, 3, 2, 1, 0]);
}

#[tokio::test]
async fn a_newer_database_is_read_and_never_written() {
    let case = Case::new();
    let store = case.open();
    store.append_decision(decision("ses_a", 1)).await.unwrap();
    let id = new_notice(&store, "key").await;
    drop(store);
    case.raw()
        .pragma_update(None, "user_version", open::version() + 1)
        .unwrap();

    let store = case.open();
    assert!(
        matches!(store.health(), Health::ReadOnly { .. }),
        "{}",
        store.health()
    );
    assert!(store.health().to_string().contains("update this program"));
    assert_eq!(numbers(&store, "ses_a", 10).await, [1]);
    assert_eq!(pending_keys(&store).await, ["key"]);
    let refused = [
        store.append_decision(decision("ses_a", 2)).await.err(),
        store.plan_notice(notice("other")).await.err(),
        store.mark_notice_sent(id).await.err(),
    ];
    for error in refused {
        assert!(matches!(error, Some(StoreError::ReadOnly(_))), "{error:?}");
    }
    drop(store);
    let version: i64 = case
        .raw()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, open::version() + 1);
    assert_eq!(case.copies(), Vec::<String>::new());
}

#[tokio::test]
async fn a_database_that_is_only_read_still_tells_who_drives() {
    let case = Case::new();
    let store = case.open();
    let (driver, other) = (Owner::this_process("driver"), Owner::this_process("other"));
    let key = ServerKey::attached("http://127.0.0.1:4096").unwrap();
    let (now, stale) = (Wall(1_000), Duration::from_secs(30));
    let lease = store
        .acquire(key.clone(), driver.clone(), now, stale)
        .await
        .unwrap();
    assert_eq!(lease, Lease::Mine(1));
    case.raw()
        .pragma_update(None, "user_version", open::version() + 1)
        .unwrap();

    let read_only = case.open();
    let lease = read_only
        .acquire(key.clone(), other.clone(), now, stale)
        .await
        .unwrap();
    assert!(matches!(lease, Lease::HeldBy(_)), "{lease:?}");
    assert!(store.release(key.clone(), driver, 1).await.unwrap());
    let refused = read_only.acquire(key, other, now, stale).await.unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly(_)), "{refused}");
}

#[tokio::test]
async fn a_place_that_cannot_be_written_degrades_to_memory() {
    let case = Case::new();
    fs::write(
        case.dir.path().join("data"),
        "a file where the folder should be",
    )
    .unwrap();
    let other = Case::new();
    fs::create_dir_all(other.path()).unwrap();
    for store in [case.open(), other.open()] {
        assert!(
            matches!(store.health(), Health::MemoryOnly { .. }),
            "{}",
            store.health()
        );
        assert!(
            store.health().to_string().contains("goals.sqlite3"),
            "{}",
            store.health()
        );
        store.append_decision(decision("ses_a", 1)).await.unwrap();
        assert_eq!(numbers(&store, "ses_a", 10).await, [1]);
        let id = new_notice(&store, "key").await;
        assert!(store.mark_notice_sent(id).await.unwrap());
    }
}

#[tokio::test]
async fn without_any_database_every_answer_is_an_error() {
    let health = Health::MemoryOnly {
        why: "no memory".to_owned(),
    };
    let store = Store::with(None, health);
    let refused = store
        .append_decision(decision("ses_a", 1))
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    assert!(store.notices(1).await.is_err());
}

#[tokio::test]
async fn another_programs_write_makes_ours_busy_not_lost_for_ever() {
    let case = Case::new();
    let store = case.open();
    let raw = case.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Without patience the answer comes at once.
    store
        .read(|connection| Ok(connection.busy_timeout(Duration::ZERO)?))
        .await
        .unwrap();
    let refused = store
        .append_decision(decision("ses_a", 1))
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::Busy), "{refused}");
    assert_eq!(
        numbers(&store, "ses_a", 1).await,
        Vec::<u64>::new(),
        "reading goes on"
    );
    raw.execute_batch("ROLLBACK").unwrap();
    store.append_decision(decision("ses_a", 1)).await.unwrap();
}

#[test]
fn several_first_starts_make_one_database() {
    let case = Case::new();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(case.open().health(), &Health::Fine));
        }
    });
    let version: i64 = case
        .raw()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, open::version());
    let mode: String = case
        .raw()
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let case = Case::new();
    let store = case.open();
    store.append_decision(decision("ses_a", 1)).await.unwrap();
    let folder = case.dir.path().join("data");
    for entry in fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
    assert_eq!(
        fs::metadata(folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
}
