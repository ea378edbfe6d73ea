//! What the fields of a request may hold.

use goal_core::fields::{
    self, BUDGET_OFFERED, Broken, FILE_NAME_MAX, FILES_MAX, FOLDER_MAX, File, MIME_HALF_MAX,
    NAME_MAX, PROMPT_MAX, URLS_MAX,
};
use goal_core::goal::{ModelRef, SAFE_INTEGER_MAX};
use pretty_assertions::assert_eq;

const URL: &str = "data:text/plain,a";

fn file<'t>(name: &'t str, mime: &'t str, url: &'t str) -> File<'t> {
    File { name, mime, url }
}

fn told<T>(result: Result<T, Broken>) -> String {
    result
        .err()
        .map(|broken| broken.to_string())
        .unwrap_or_default()
}

#[test]
fn a1_names_and_titles_have_a_length_and_no_control_characters() {
    let (longest, longer) = ("é".repeat(NAME_MAX), "é".repeat(NAME_MAX + 1));
    for good in ["build", "a b/c:d", longest.as_str()] {
        assert_eq!(fields::name("agent", good), Ok(()));
        assert_eq!(fields::title("title", good), Ok(()));
    }
    for bad in ["", "two\nlines", "\u{1b}[31m", "nul\0", longer.as_str()] {
        let expected = "`agent` takes 1 to 200 characters, no control characters.";
        assert_eq!(told(fields::name("agent", bad)), expected, "{bad:?}");
        let expected = "`title` takes 1 to 200 characters, no control characters.";
        assert_eq!(told(fields::title("title", bad)), expected, "{bad:?}");
    }
}

#[test]
fn a1_folders_are_absolute_on_any_system() {
    let longest = format!("/{}", "a".repeat(FOLDER_MAX - 1));
    for good in [
        "/",
        "/a b/ü",
        "C:\\work",
        "d:/work",
        "\\\\host\\share",
        &longest,
    ] {
        assert_eq!(fields::folder("dir", good), Ok(()), "{good:?}");
    }
    let longer = format!("{longest}a");
    for bad in [
        "", "a", "./a", "~/a", "C:work", "1:/a", "/a\nb", "/a\0", &longer, "é:/a",
    ] {
        let told = told(fields::folder("dir", bad));
        assert!(
            told.starts_with("`dir` takes an absolute path"),
            "{bad:?}: {told}"
        );
    }
}

#[test]
fn a1_prompts_say_something_and_end_somewhere() {
    assert_eq!(fields::prompt("prompt", "  do it \n"), Ok("do it"));
    let longest = "a".repeat(PROMPT_MAX);
    assert_eq!(fields::prompt("prompt", &longest), Ok(longest.as_str()));
    for bad in ["", " \n\u{200b}", &"a".repeat(PROMPT_MAX + 1)] {
        let expected = "`prompt` takes a text of at most 4000000 bytes.";
        assert_eq!(told(fields::prompt("prompt", bad)), expected);
    }
}

#[test]
fn a1_messages_and_models_are_recognised_by_their_form() {
    for good in ["msg_1", "msg_22e6d9258001rjRC7evVQfO8U6"] {
        assert_eq!(fields::message("message", good), Ok(()));
    }
    for bad in ["", "msg", "ses_1", "msg_1/../x", "msg_ü", "msg 1"] {
        let expected = "`message` takes a message id, such as msg_0123abcd.";
        assert_eq!(told(fields::message("message", bad)), expected, "{bad:?}");
    }
    let model = |provider: &str, model: &str| ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    assert_eq!(fields::model("model", "p/m"), Ok(model("p", "m")));
    assert_eq!(fields::model("model", "p/m/x"), Ok(model("p", "m/x")));
    for bad in ["", "p", "p/", "/m", "/"] {
        let expected = "`model` takes provider/model, such as acme/big.";
        assert_eq!(told(fields::model("model", bad)), expected, "{bad:?}");
    }
}

#[test]
fn a1_budgets_are_whole_numbers_within_their_range() {
    assert_eq!(fields::budget("b", 1), Ok(1));
    assert_eq!(fields::budget("b", SAFE_INTEGER_MAX), Ok(SAFE_INTEGER_MAX));
    let expected = "`b` takes a whole number from 1 to 9007199254740991.";
    for bad in [0, SAFE_INTEGER_MAX + 1, u64::MAX] {
        assert_eq!(told(fields::budget("b", bad)), expected);
    }
    let read = |text| fields::budget_in_digits("b", text, BUDGET_OFFERED);
    assert_eq!(read("1000"), Ok(1_000));
    assert_eq!(read("100000000"), Ok(100_000_000));
    for bad in [
        "999",
        "100000001",
        "",
        "-5000",
        "+5000",
        "5e3",
        "5_000",
        " 5000",
        "5000.0",
        "٥٠٠٠",
        "99999999999999999999999",
    ] {
        let expected = "`b` takes a whole number from 1000 to 100000000.";
        assert_eq!(told(read(bad)), expected, "{bad:?}");
    }
}

#[test]
fn files_have_a_name_a_type_and_an_address() {
    let (longest, longer) = ("n".repeat(FILE_NAME_MAX), "n".repeat(FILE_NAME_MAX + 1));
    let half = "x".repeat(MIME_HALF_MAX + 1);
    let long_mime = format!("a/{half}");
    let good = [
        file(&longest, "image/png", URL),
        file("a b.svg", "image/svg+xml", "data:;base64,AA=="),
        file("é", "application/vnd.a-b.c_d", "file:///home/me/a.txt"),
    ];
    assert_eq!(fields::files("attachments", &good), Ok(()));
    for (field, bad) in [
        ("name", file("", "a/b", URL)),
        ("name", file("a\tb", "a/b", URL)),
        ("name", file(&longer, "a/b", URL)),
        ("mime", file("n", "", URL)),
        ("mime", file("n", "image", URL)),
        ("mime", file("n", "image/", URL)),
        ("mime", file("n", "/png", URL)),
        ("mime", file("n", "a/b/c", URL)),
        ("mime", file("n", "text/plain; charset=utf-8", URL)),
        ("mime", file("n", "text/plain\n", URL)),
        ("mime", file("n", &long_mime, URL)),
        ("url", file("n", "a/b", "")),
        ("url", file("n", "a/b", "/etc/passwd")),
        ("url", file("n", "a/b", "https://example.org/a.png")),
        ("url", file("n", "a/b", " data:,a")),
    ] {
        let told = told(fields::files("attachments", &[good[0], bad]));
        let begin = format!("`attachments[1].{field}` takes ");
        assert!(told.starts_with(&begin), "{bad:?}: {told}");
    }
}

#[test]
fn files_are_bounded_in_number_and_size() {
    let small = file("n", "a/b", "data:,a");
    assert_eq!(fields::files("attachments", &[small; FILES_MAX]), Ok(()));
    let told_of = |files: &[File<'_>]| told(fields::files("attachments", files));
    let expected = "`attachments` takes at most 20 files.";
    assert_eq!(told_of(&[small; FILES_MAX + 1]), expected);

    let half = |bytes: usize| format!("data:{}", "A".repeat(bytes - 5));
    let (fits, over) = (half(URLS_MAX / 2), half(URLS_MAX / 2 + 1));
    let fits = file("n", "a/b", &fits);
    assert_eq!(fields::files("attachments", &[fits, fits]), Ok(()));
    let told = told_of(&[fits, file("n", "a/b", &over)]);
    assert!(told.contains("28000000 bytes"), "{told}");
}
