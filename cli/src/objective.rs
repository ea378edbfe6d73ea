//! Where `start` and `edit` take the objective from.

use std::io::Read;
use std::path::Path;

use goal_core::objective::validate;
use goal_engine::error::Code;

use crate::args::Objective;
use crate::failure::Failure;

/// Most bytes that are read of a file or of standard input. The agent gets the whole text as one
/// message; a megabyte is more than any model takes in.
const BYTES_MAX: u64 = 1024 * 1024;

/// The objective that was given: as text, in a file, or on standard input.
///
/// # Errors
/// `invalidObjective` if it cannot be read, is too long, is not UTF-8, or says nothing.
pub(crate) fn read(given: &Objective) -> Result<String, Failure> {
    if let Some(text) = &given.text {
        return said(text.clone(), "--objective");
    }
    let path = given.file.as_deref();
    let path = path.filter(|path| *path != Path::new("-"));
    let Some(path) = path else {
        return from_stdin();
    };
    let name = crate::text::one_line(&path.display().to_string());
    let mut file = std::fs::File::open(path).map_err(|error| unreadable(&name, &error))?;
    said(read_from(&mut file, &name)?, &name)
}

/// A text as it was typed, where `-` stands for standard input.
///
/// # Errors
/// As [`read`], for standard input.
pub(crate) fn typed(text: &str) -> Result<String, Failure> {
    match text {
        "-" => from_stdin(),
        text => Ok(text.to_owned()),
    }
}

/// A text from standard input.
///
/// # Errors
/// As [`read`].
fn from_stdin() -> Result<String, Failure> {
    let name = say!("objective.stdin");
    said(read_from(&mut std::io::stdin().lock(), &name)?, &name)
}

fn read_from(source: &mut impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    source
        .take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(name, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > BYTES_MAX {
        return Err(invalid(say!(
            "error.objective.long",
            name = name,
            max = BYTES_MAX
        )));
    }
    String::from_utf8(bytes).map_err(|_| invalid(say!("error.objective.utf8", name = name)))
}

fn said(text: String, name: &str) -> Result<String, Failure> {
    match validate(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(invalid(say!("error.objective.empty", name = name))),
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    invalid(say!(
        "error.objective.unreadable",
        name = name,
        error = error
    ))
}

fn invalid(message: String) -> Failure {
    Failure::of(Code::InvalidObjective, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(bytes: &[u8]) -> Result<String, Failure> {
        read_from(&mut &*bytes, "it")
    }

    #[test]
    fn a_text_of_a_megabyte_is_read_and_no_byte_more() {
        let full = vec![b'a'; usize::try_from(BYTES_MAX).unwrap()];
        assert_eq!(read_bytes(&full).unwrap().len(), full.len());
        let over = [full, vec![b'a']].concat();
        assert_eq!(read_bytes(&over).unwrap_err().code, "invalidObjective");
    }

    #[test]
    fn other_encodings_are_refused() {
        let failure = read_bytes(b"caf\xe9").unwrap_err();
        assert_eq!(failure.code, "invalidObjective");
        assert!(failure.message.contains("it"), "{}", failure.message);
    }

    #[test]
    fn nothing_is_no_objective() {
        for text in ["", " \n\t", "\u{200b}"] {
            assert!(said(text.to_owned(), "it").is_err(), "{text:?}");
        }
        assert_eq!(said(" do it\n".to_owned(), "it").unwrap(), " do it\n");
    }
}
