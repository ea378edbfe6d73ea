use std::fs;

use pretty_assertions::assert_eq;

use super::*;

const ID: &str = "ses_0123abcDEF";

struct Case {
    dir: tempfile::TempDir,
    objectives: Objectives,
}

impl Case {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (own, legacy) = (dir.path().join("own"), dir.path().join("legacy"));
        fs::create_dir(&legacy).unwrap();
        Self {
            objectives: Objectives::new(own, Some(legacy)),
            dir,
        }
    }

    fn put(&self, folder: &str, bytes: impl AsRef<[u8]>) {
        let folder = self.dir.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{ID}.md")), bytes).unwrap();
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir.path().join(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    async fn read(&self) -> Option<String> {
        self.objectives.read(ID).await
    }
}

#[tokio::test]
async fn what_is_written_is_read_and_what_is_deleted_is_absent() {
    let case = Case::new();
    assert_eq!(case.read().await, None);
    let kept = case
        .objectives
        .write(ID, "  \n Make the tests pass. \n")
        .await
        .unwrap();
    assert_eq!(kept, "Make the tests pass.");
    assert_eq!(case.read().await, Some(kept));
    case.objectives.write(ID, "Another goal").await.unwrap();
    assert_eq!(case.read().await.as_deref(), Some("Another goal"));
    assert_eq!(
        case.files("own"),
        [format!("{ID}.md")],
        "nothing but the file itself"
    );
    case.objectives.delete(ID).await;
    assert_eq!(case.read().await, None);
    case.objectives.delete(ID).await;
}

#[cfg(unix)]
#[tokio::test]
async fn file_and_folder_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let case = Case::new();
    case.put("own", "old");
    let own = case.dir.path().join("own");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    case.objectives.write(ID, "text").await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&own), 0o700);
    assert_eq!(mode(&own.join(format!("{ID}.md"))), 0o600);
}

#[tokio::test]
async fn a_malformed_id_touches_no_file() {
    let case = Case::new();
    case.put("own", "text");
    let outside = case.dir.path().join("secret.md");
    fs::write(&outside, "secret").unwrap();
    let long = "a".repeat(129);
    for id in [
        "../secret",
        "abc",
        "",
        "a/../b",
        "ses_ä",
        "ses.1",
        "ses_1\0",
        "ses 1",
        &long,
    ] {
        assert_eq!(case.objectives.read(id).await, None, "{id:?}");
        let refused = case.objectives.write(id, "overwritten").await;
        assert!(
            matches!(refused, Err(ObjectiveError::InvalidSessionId)),
            "{id:?}"
        );
        case.objectives.delete(id).await;
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "secret");
    assert_eq!(case.files("own"), [format!("{ID}.md")]);
}

#[tokio::test]
async fn an_empty_text_is_refused_and_the_older_file_stays() {
    let case = Case::new();
    case.objectives.write(ID, "first").await.unwrap();
    for text in ["", " \n\t ", "\u{feff}", "\0\0\0"] {
        let refused = case.objectives.write(ID, text).await;
        assert!(matches!(refused, Err(ObjectiveError::Empty)), "{text:?}");
    }
    assert_eq!(case.read().await.as_deref(), Some("first"));
}

#[tokio::test]
async fn a_text_over_the_limit_is_clamped_without_splitting_a_character() {
    let case = Case::new();
    // Each takes two UTF-16 units; with one unit in front, the last pair does not fit whole.
    let text = format!("x{}", "🦀".repeat(2_500));
    let kept = case.objectives.write(ID, &text).await.unwrap();
    assert_eq!(kept.encode_utf16().count(), OBJECTIVE_UNITS_MAX - 1);
    assert_eq!(case.read().await, Some(kept));
    let exact = "y".repeat(OBJECTIVE_UNITS_MAX);
    assert_eq!(case.objectives.write(ID, &exact).await.unwrap(), exact);
}

#[tokio::test]
async fn a_huge_file_is_read_no_further_than_its_bound() {
    let case = Case::new();
    // Behind the bound stands what is not UTF-8: to meet it would make the file absent. The
    // three bytes of a character lie across the bound.
    let mut bytes = "€".repeat(READ_BYTES_MAX / 3 + 1).into_bytes();
    assert!(!READ_BYTES_MAX.is_multiple_of(3));
    bytes.extend([0xff; 100]);
    case.put("own", &bytes);
    assert_eq!(case.read().await, Some("€".repeat(OBJECTIVE_UNITS_MAX)));
}

#[tokio::test]
async fn a_file_that_says_nothing_is_absent() {
    let case = Case::new();
    let nothing: [&[u8]; 5] = [b"", b" \n ", b"\0\0\0\0", b"text \xff", b"\xef\xbb\xbf"];
    for bytes in nothing {
        case.put("own", bytes);
        assert_eq!(case.read().await, None, "{bytes:?}");
    }
    case.put("own", "\u{feff}edited by hand\n");
    assert_eq!(case.read().await.as_deref(), Some("edited by hand"));
}

#[tokio::test]
async fn the_other_folder_is_read_where_the_own_file_is_missing_and_never_written() {
    let case = Case::new();
    case.put("legacy", "from the other server");
    assert_eq!(case.read().await.as_deref(), Some("from the other server"));
    case.objectives.delete(ID).await;
    assert_eq!(case.files("legacy"), [format!("{ID}.md")]);

    case.objectives.write(ID, "ours").await.unwrap();
    assert_eq!(case.read().await.as_deref(), Some("ours"));
    case.put("own", b"damaged \xff");
    assert_eq!(
        case.read().await,
        None,
        "an older text does not stand in for a damaged one"
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named_in_the_error() {
    let case = Case::new();
    fs::write(
        case.dir.path().join("own"),
        "a file where the folder should be",
    )
    .unwrap();
    let refused = case
        .objectives
        .write(ID, "a secret plan")
        .await
        .unwrap_err();
    assert!(matches!(refused, ObjectiveError::Write { .. }), "{refused}");
    assert!(
        refused.to_string().contains(&format!("{ID}.md")),
        "{refused}"
    );
    assert!(!format!("{refused:?}").contains("secret plan"));
    assert_eq!(case.read().await, None);
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_does_not_block() {
    let case = Case::new();
    let own = case.dir.path().join("own");
    fs::create_dir(&own).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(own.join(format!("{ID}.md")))
        .status();
    assert!(made.unwrap().success());
    assert_eq!(case.read().await, None);
}
