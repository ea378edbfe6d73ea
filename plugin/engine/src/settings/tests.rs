use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

struct Case {
    dir: tempfile::TempDir,
    file: SettingsFile,
}

impl Case {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = SettingsFile::new(dir.path().join("settings.json"));
        Self { dir, file }
    }

    fn with(text: impl AsRef<[u8]>) -> Self {
        let case = Self::new();
        fs::write(case.path(), text).unwrap();
        case
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("settings.json")
    }

    /// What another process, started now, reads.
    async fn read_elsewhere(&self) -> Reading {
        SettingsFile::new(self.path()).read().await
    }

    async fn set(&self, key: &str, value: Value) -> Result<Settings, SettingsError> {
        self.file
            .update(serde_json::Map::from_iter([(key.to_owned(), value)]))
            .await
    }

    fn copies(&self) -> usize {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        entries
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .contains(".broken-")
            })
            .count()
    }

    fn object(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path()).unwrap()).unwrap()
    }
}

fn reading(settings: Settings, source: Source) -> Reading {
    Reading { settings, source }
}

fn disabled() -> Settings {
    Settings {
        session_goal_enabled: false,
        ..Settings::default()
    }
}

#[tokio::test]
async fn nothing_set_means_enabled_and_reading_creates_nothing() {
    let case = Case::new();
    assert_eq!(
        case.file.read().await,
        reading(Settings::default(), Source::Defaults)
    );
    assert!(Settings::default().session_goal_enabled);
    assert_eq!(fs::read_dir(case.dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn every_key_is_read_and_written_by_its_name() {
    let case = Case::new();
    let changes = json!({
        "sessionGoalEnabled": false,
        "sessionGoalDefaultBudgetEnabled": true,
        "sessionGoalDefaultBudget": 1500.9,
        "nativeNotificationsEnabled": false,
        "notificationMode": "always",
        "notifyOnCompletion": false,
        "notifyOnError": false,
        "notifyOnQuestion": false,
        "notifyOnSubtasks": false,
        "notificationTemplates": { "subtask": { "title": " {session_name} " } },
        "maxLastMessageLength": 10.5,
        "smallModelUseDefault": false,
        "smallModelOverride": " acme/models/tiny ",
        "opencodeBinary": "/opt/opencode",
    });
    let expected = Settings {
        session_goal_enabled: false,
        session_goal_default_budget_enabled: true,
        session_goal_default_budget: 1_500,
        native_notifications_enabled: false,
        notification_mode: NotificationMode::Always,
        notify_on_completion: false,
        notify_on_error: false,
        notify_on_question: false,
        notify_on_subtasks: false,
        notification_templates: Templates {
            subtask: Template {
                title: "{session_name}".to_owned(),
                message: String::new(),
            },
            ..Templates::default()
        },
        max_last_message_length: 10,
        small_model_use_default: false,
        small_model_override: Some("acme/models/tiny".to_owned()),
        opencode_binary: Some(PathBuf::from("/opt/opencode")),
    };
    let changes = changes.as_object().unwrap().clone();
    assert_eq!(
        changes.len(),
        Key::ALL.len(),
        "every known key is in this test"
    );
    assert_eq!(case.file.update(changes).await.unwrap(), expected);
    assert_eq!(case.read_elsewhere().await, reading(expected, Source::File));
    assert_eq!(case.object()["version"], json!(SETTINGS_VERSION));
    assert_eq!(case.object()["sessionGoalDefaultBudget"], json!(1_500));
}

#[tokio::test]
async fn null_takes_a_key_back_to_its_default() {
    let case = Case::with(r#"{"sessionGoalEnabled": false, "notifyOnQuestion": false}"#);
    let settings = case.set("sessionGoalEnabled", Value::Null).await.unwrap();
    assert_eq!(
        settings,
        Settings {
            notify_on_question: false,
            ..Settings::default()
        }
    );
    assert_eq!(
        case.object(),
        json!({"version": 1, "notifyOnQuestion": false})
    );
}

#[tokio::test]
async fn only_an_explicit_false_disables() {
    for value in ["null", "0", r#""false""#, "[]", "{}", "true"] {
        let case = Case::with(format!(r#"{{"sessionGoalEnabled": {value}}}"#));
        assert!(
            case.file.read().await.settings.session_goal_enabled,
            "{value}"
        );
    }
    let case = Case::with(r#"{"sessionGoalEnabled": false}"#);
    assert_eq!(case.file.read().await, reading(disabled(), Source::File));
}

#[tokio::test]
async fn an_invalid_value_has_its_default_and_spoils_no_other() {
    let invalid = [
        r#""sessionGoalDefaultBudget": 0"#,
        r#""sessionGoalDefaultBudget": 0.9"#,
        r#""sessionGoalDefaultBudget": -5"#,
        r#""sessionGoalDefaultBudget": 9007199254740992"#,
        r#""sessionGoalDefaultBudget": 1e300"#,
        r#""sessionGoalDefaultBudget": "7""#,
        r#""smallModelOverride": "no-slash""#,
        r#""smallModelOverride": "/model""#,
        r#""smallModelOverride": "provider/ ""#,
        r#""opencodeBinary": "  ""#,
        r#""opencodeBinary": 7"#,
        r#""sessionGoalDefaultBudgetEnabled": "yes""#,
    ];
    for pair in invalid {
        let case = Case::with(format!(r#"{{{pair}, "sessionGoalEnabled": false}}"#));
        assert_eq!(
            case.file.read().await,
            reading(disabled(), Source::File),
            "{pair}"
        );

        let name = pair.split('"').nth(1).unwrap();
        let value: Value = serde_json::from_str(pair.split_once(": ").unwrap().1).unwrap();
        let before = fs::read(case.path()).unwrap();
        let refused = case.set(name, value).await.unwrap_err();
        assert!(matches!(refused, SettingsError::InvalidValue { key, .. } if key == name));
        assert_eq!(fs::read(case.path()).unwrap(), before, "nothing changed");
    }
    let largest = Case::with(r#"{"sessionGoalDefaultBudget": 9007199254740991}"#);
    let settings = largest.file.read().await.settings;
    assert_eq!(settings.session_goal_default_budget, SAFE_INTEGER_MAX);
}

#[tokio::test]
async fn one_invalid_change_refuses_them_all() {
    let case = Case::new();
    let changes = json!({"sessionGoalEnabled": false, "sessionGoalEnabledd": true});
    let refused = case
        .file
        .update(changes.as_object().unwrap().clone())
        .await
        .unwrap_err();
    assert!(matches!(&refused, SettingsError::UnknownKey { key } if key == "sessionGoalEnabledd"));
    assert!(!case.path().exists());
}

#[tokio::test]
async fn foreign_keys_survive_byte_for_byte() {
    let foreign = r#"{"b": 1.10, "huge": 123456789012345678901234567890, "esc": "\u0041"}"#;
    let case = Case::with(format!(
        r#"{{"theirs": {foreign}, "sessionGoalEnabled": true}}"#
    ));
    for n in 1..=20 {
        case.set("sessionGoalDefaultBudget", json!(n))
            .await
            .unwrap();
    }
    let text = fs::read_to_string(case.path()).unwrap();
    assert!(text.contains(foreign), "{text}");
}

#[tokio::test]
async fn a_newer_file_is_read_and_never_written() {
    for version in ["2", "1e3", "-1", r#""two""#, "null"] {
        let text = format!(r#"{{"version": {version}, "sessionGoalEnabled": false}}"#);
        let case = Case::with(&text);
        assert_eq!(case.file.read().await, reading(disabled(), Source::File));
        let refused = case
            .set("sessionGoalEnabled", json!(true))
            .await
            .unwrap_err();
        assert!(matches!(&refused, SettingsError::NewerVersion { found } if found == version));
        assert_eq!(fs::read_to_string(case.path()).unwrap(), text);
    }
}

/// What a power loss leaves of a file that is written in place.
#[tokio::test]
async fn a_file_cut_at_any_byte_gives_the_last_good_values_and_loses_nothing() {
    let good = Case::with(r#"{"theirs": [1, 2], "sessionGoalDefaultBudget": 7}"#);
    good.set("sessionGoalEnabled", json!(false)).await.unwrap();
    let whole = fs::read(good.path()).unwrap();
    let values = Settings {
        session_goal_default_budget: 7,
        ..disabled()
    };
    let last_good = fs::read(good.dir.path().join("settings.json.last-good")).unwrap();
    assert_eq!(last_good, whole);

    // The last byte is the newline behind the object; the file is whole without it.
    for cut in 0..whole.len() - 1 {
        let case = Case::with(&whole[..cut]);
        fs::write(case.dir.path().join("settings.json.last-good"), &whole).unwrap();
        assert_eq!(
            case.file.read().await,
            reading(values.clone(), Source::LastGood),
            "{cut}"
        );

        case.set("notifyOnQuestion", json!(false)).await.unwrap();
        let expected = Settings {
            notify_on_question: false,
            ..values.clone()
        };
        assert_eq!(
            case.read_elsewhere().await,
            reading(expected, Source::File),
            "{cut}"
        );
        assert_eq!(case.object()["theirs"], json!([1, 2]), "{cut}");
        let aside = fs::read(case.dir.path().join("settings.json.broken-1")).unwrap();
        assert_eq!(aside, &whole[..cut], "the damaged file is kept");
    }
}

#[tokio::test]
async fn a_cut_copy_is_no_good_copy() {
    let case = Case::with("\0\0\0\0");
    fs::write(
        case.dir.path().join("settings.json.last-good"),
        r#"{"sessionGoalEnabled": fal"#,
    )
    .unwrap();
    assert_eq!(
        case.file.read().await,
        reading(Settings::default(), Source::Defaults)
    );
}

#[tokio::test]
async fn what_was_read_last_stands_in_before_the_copy() {
    let case = Case::with(r#"{"sessionGoalEnabled": false}"#);
    case.file.read().await;
    let copy = case.dir.path().join("settings.json.last-good");
    for damage in [&b"{"[..], b"[]", b"\0\0", b"\xff"] {
        fs::write(case.path(), damage).unwrap();
        fs::write(&copy, r#"{"sessionGoalEnabled": true}"#).unwrap();
        assert_eq!(
            case.file.read().await,
            reading(disabled(), Source::LastRead),
            "{damage:?}"
        );
        let elsewhere = case.read_elsewhere().await;
        assert_eq!(
            elsewhere,
            reading(Settings::default(), Source::LastGood),
            "{damage:?}"
        );
    }
    fs::remove_file(case.path()).unwrap();
    assert_eq!(
        case.file.read().await,
        reading(disabled(), Source::LastRead)
    );
    let endless = vec![b' '; FILE_BYTES_MAX + 1];
    fs::write(case.path(), endless).unwrap();
    assert_eq!(
        case.file.read().await,
        reading(disabled(), Source::LastRead)
    );
}

#[tokio::test]
async fn the_copy_follows_a_change_made_by_hand() {
    let case = Case::with("\u{feff}{\"sessionGoalEnabled\": false}");
    assert_eq!(case.file.read().await, reading(disabled(), Source::File));
    fs::write(case.path(), "{ oops").unwrap();
    assert_eq!(
        case.read_elsewhere().await,
        reading(disabled(), Source::LastGood)
    );
}

#[tokio::test]
async fn a_file_that_becomes_sound_again_is_believed_at_once() {
    let case = Case::with(r#"{"sessionGoalEnabled": false}"#);
    case.file.read().await;
    fs::write(case.path(), "{").unwrap();
    assert_eq!(case.file.read().await.source, Source::LastRead);
    fs::write(case.path(), "{}").unwrap();
    assert_eq!(
        case.file.read().await,
        reading(Settings::default(), Source::File)
    );
}

#[tokio::test]
async fn damaged_copies_are_bounded() {
    let case = Case::new();
    for n in 0..8 {
        fs::write(case.path(), format!("damage {n}")).unwrap();
        case.set("sessionGoalEnabled", json!(false)).await.unwrap();
    }
    assert_eq!(case.copies(), usize::try_from(files::ASIDE_MAX).unwrap());
}

#[tokio::test]
async fn a_held_lock_is_said_and_nothing_changes() {
    let case = Case::new();
    let impatient = SettingsFile::with_patience(case.path(), Duration::from_millis(20));
    let lock = files::lock(&case.dir.path().join("settings.json.lock"), Duration::ZERO).unwrap();
    let change = serde_json::Map::from_iter([("sessionGoalEnabled".to_owned(), json!(false))]);
    let refused = impatient.update(change.clone()).await.unwrap_err();
    assert!(matches!(refused, SettingsError::Busy { .. }), "{refused}");
    assert!(!case.path().exists());
    drop(lock);
    assert_eq!(impatient.update(change).await.unwrap(), disabled());
}

#[tokio::test]
async fn a_path_that_is_no_file_is_an_error_and_reading_goes_on() {
    let case = Case::new();
    fs::create_dir(case.path()).unwrap();
    assert_eq!(
        case.file.read().await,
        reading(Settings::default(), Source::Defaults)
    );
    let refused = case
        .set("sessionGoalEnabled", json!(false))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, SettingsError::Io { action: "read", .. }),
        "{refused}"
    );

    let below = SettingsFile::new(case.dir.path().join("settings.json.lock").join("s.json"));
    let refused = below.update(serde_json::Map::new()).await.unwrap_err();
    assert!(
        matches!(
            refused,
            SettingsError::Io {
                action: "written",
                ..
            }
        ),
        "{refused}"
    );
}

/// Two processes that change different keys at the same time: both changes stand in the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_two_writers_do_not_erase_each_other() {
    let case = Case::new();
    let (ours, theirs) = (case.file.clone(), SettingsFile::new(case.path()));
    let writer = |file: SettingsFile, key: &'static str| async move {
        for n in 0..20 {
            let value = if key == "sessionGoalDefaultBudget" {
                json!(n + 1)
            } else {
                json!(n < 19)
            };
            let change = serde_json::Map::from_iter([(key.to_owned(), value)]);
            file.update(change).await.unwrap();
        }
    };
    let ours = tokio::spawn(writer(ours, "sessionGoalDefaultBudget"));
    let theirs = tokio::spawn(writer(theirs, "sessionGoalEnabled"));
    ours.await.unwrap();
    theirs.await.unwrap();
    let expected = Settings {
        session_goal_default_budget: 20,
        ..disabled()
    };
    assert_eq!(case.read_elsewhere().await, reading(expected, Source::File));
}
