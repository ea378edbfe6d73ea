//! Goals and messages written as a few readable words; see [`goals::goal`] and [`tails::tail`].
#![expect(
    dead_code,
    reason = "every test file takes its own part of this vocabulary"
)]
#![expect(
    clippy::expect_used,
    reason = "a test that is spelled wrong has to fail"
)]

pub(crate) mod goals;
pub(crate) mod scenes;
pub(crate) mod tails;

/// Splits a line into words. `'…'` holds words together; a word that begins so keeps the first
/// quote, which tells a text from a name.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        let word_begins = words.last().is_some_and(String::is_empty);
        match letter {
            '\'' => {
                quoted = !quoted;
                if quoted && word_begins {
                    words.last_mut().expect("never empty").push(letter);
                }
            }
            space if space.is_whitespace() && !quoted => words.push(String::new()),
            other => words.last_mut().expect("never empty").push(other),
        }
    }
    assert!(!quoted, "an open quote in {line:?}");
    words.retain(|word| !word.is_empty());
    words
}

/// The number that a word ends in.
pub(crate) fn number(text: &str) -> u64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}
