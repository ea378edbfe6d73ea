//! What a person chose for the prompt that starts a goal, checked before anything happens.

use crate::error::{Code, Error};
use crate::ports::{Address, Attachment};

/// Characters of an agent's, a provider's, a model's or a variant's name.
const NAME_MAX: usize = 200;

/// Files of one prompt.
const ATTACHMENTS_MAX: usize = 20;

/// Characters of a file's name.
const FILE_NAME_MAX: usize = 255;

/// Bytes of all addresses of files together: 20 MiB of content, in base64.
const URLS_MAX: usize = 28_000_000;

/// Characters of either half of a media type.
const MIME_HALF_MAX: usize = 127;

/// Whom the first prompt addresses and what goes along with it. What is left out follows the
/// session, as a continuation does; a continuation then follows this prompt's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    to: Address,
    attachments: Vec<Attachment>,
}

impl Choices {
    /// Checks what was chosen.
    ///
    /// # Errors
    /// [`Code::InvalidPrompt`], with the field and its rule.
    pub fn new(to: Address, attachments: Vec<Attachment>) -> Result<Self, Error> {
        let model = to.model.as_ref();
        let names = [
            ("agent", to.agent.as_deref()),
            (
                "model.providerId",
                model.map(|model| model.provider.as_str()),
            ),
            ("model.modelId", model.map(|model| model.model.as_str())),
            ("variant", to.variant.as_deref()),
        ];
        for (field, name) in names {
            if name.is_some_and(|name| !is_name(name, NAME_MAX)) {
                let rule = format!("takes 1 to {NAME_MAX} characters, no control characters");
                return Err(invalid(field, &rule));
            }
        }
        check_attachments(&attachments)?;
        Ok(Self { to, attachments })
    }

    /// Whom the prompt addresses, where that was chosen.
    #[must_use]
    pub fn to(&self) -> &Address {
        &self.to
    }

    /// The files that go along.
    #[must_use]
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }
}

fn check_attachments(attachments: &[Attachment]) -> Result<(), Error> {
    if attachments.len() > ATTACHMENTS_MAX {
        let rule = format!("takes at most {ATTACHMENTS_MAX} files");
        return Err(invalid("attachments", &rule));
    }
    for (at, attachment) in attachments.iter().enumerate() {
        let wrong =
            |field: &str, rule: &str| Err(invalid(&format!("attachments[{at}].{field}"), rule));
        if !is_name(&attachment.name, FILE_NAME_MAX) {
            let rule = format!("takes 1 to {FILE_NAME_MAX} characters, no control characters");
            return wrong("name", &rule);
        }
        if !is_mime(&attachment.mime) {
            return wrong(
                "mime",
                "takes a media type without parameters, such as image/png",
            );
        }
        let url = &attachment.url;
        if !(url.starts_with("data:") || url.starts_with("file:")) {
            return wrong("url", "takes a `data:` or a `file:` address");
        }
    }
    let bytes: usize = attachments.iter().map(|one| one.url.len()).sum();
    if bytes > URLS_MAX {
        let rule = format!("takes at most {URLS_MAX} bytes of addresses, 20 MiB of content");
        return Err(invalid("attachments", &rule));
    }
    Ok(())
}

fn is_name(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.chars().take(most + 1).count()) && !text.chars().any(char::is_control)
}

/// `type/subtype`, of the characters that RFC 6838 allows.
fn is_mime(text: &str) -> bool {
    let is_half = |half: &str| {
        (1..=MIME_HALF_MAX).contains(&half.len())
            && half
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let halves = text.split_once('/');
    halves.is_some_and(|(kind, subtype)| is_half(kind) && is_half(subtype))
}

fn invalid(field: &str, rule: &str) -> Error {
    Error::new(Code::InvalidPrompt, format!("`{field}` {rule}."))
}

#[cfg(test)]
mod tests {
    use goal_core::goal::ModelRef;
    use pretty_assertions::assert_eq;

    use super::*;

    fn file(name: &str, mime: &str, url: &str) -> Attachment {
        Attachment {
            name: name.to_owned(),
            mime: mime.to_owned(),
            url: url.to_owned(),
        }
    }

    fn agent(name: &str) -> Address {
        Address {
            agent: Some(name.to_owned()),
            ..Address::default()
        }
    }

    fn model(provider: &str, model: &str) -> Address {
        Address {
            model: Some(ModelRef {
                provider: provider.to_owned(),
                model: model.to_owned(),
            }),
            ..Address::default()
        }
    }

    fn variant(name: &str) -> Address {
        Address {
            variant: Some(name.to_owned()),
            ..Address::default()
        }
    }

    #[test]
    fn names_have_a_length_and_no_control_characters() {
        let (longest, longer) = ("é".repeat(NAME_MAX), "é".repeat(NAME_MAX + 1));
        let bad = ["", "two\nlines", "\u{1b}[31m", "nul\0", longer.as_str()];
        for good in ["build", "a b/c:d", longest.as_str()] {
            for to in [agent(good), model(good, good), variant(good)] {
                let choices = Choices::new(to.clone(), Vec::new()).unwrap();
                assert_eq!(choices.to(), &to);
            }
        }
        for bad in bad {
            for (field, to) in [
                ("agent", agent(bad)),
                ("model.providerId", model(bad, "m")),
                ("model.modelId", model("p", bad)),
                ("variant", variant(bad)),
            ] {
                let error = Choices::new(to, Vec::new()).unwrap_err();
                assert_eq!(error.code(), Code::InvalidPrompt);
                let expected =
                    format!("`{field}` takes 1 to 200 characters, no control characters.");
                assert_eq!(error.message(), expected, "{bad:?}");
            }
        }
    }

    #[test]
    fn files_have_a_name_a_type_and_an_address() {
        let (longest, longer) = ("n".repeat(FILE_NAME_MAX), "n".repeat(FILE_NAME_MAX + 1));
        let half = "x".repeat(MIME_HALF_MAX + 1);
        let url = "data:text/plain,a";
        let good = [
            file(&longest, "image/png", url),
            file("a b.svg", "image/svg+xml", "data:;base64,AA=="),
            file("é", "application/vnd.a-b.c_d", "file:///home/me/a.txt"),
        ];
        let choices = Choices::new(Address::default(), good.to_vec()).unwrap();
        assert_eq!(choices.attachments(), good);
        for (field, bad) in [
            ("name", file("", "a/b", url)),
            ("name", file("a\tb", "a/b", url)),
            ("name", file(&longer, "a/b", url)),
            ("mime", file("n", "", url)),
            ("mime", file("n", "image", url)),
            ("mime", file("n", "image/", url)),
            ("mime", file("n", "/png", url)),
            ("mime", file("n", "a/b/c", url)),
            ("mime", file("n", "text/plain; charset=utf-8", url)),
            ("mime", file("n", "text/plain\n", url)),
            ("mime", file("n", &format!("a/{half}"), url)),
            ("url", file("n", "a/b", "")),
            ("url", file("n", "a/b", "/etc/passwd")),
            ("url", file("n", "a/b", "https://example.org/a.png")),
            ("url", file("n", "a/b", " data:,a")),
        ] {
            let given = vec![good[0].clone(), bad.clone()];
            let error = Choices::new(Address::default(), given).unwrap_err();
            assert_eq!(error.code(), Code::InvalidPrompt);
            let begin = format!("`attachments[1].{field}` takes ");
            assert!(error.message().starts_with(&begin), "{bad:?}: {error}");
        }
    }

    #[test]
    fn files_are_bounded_in_number_and_size() {
        let small = file("n", "a/b", "data:,a");
        let most = vec![small.clone(); ATTACHMENTS_MAX];
        Choices::new(Address::default(), most.clone()).unwrap();
        let more = [most, vec![small]].concat();
        let error = Choices::new(Address::default(), more).unwrap_err();
        assert_eq!(error.message(), "`attachments` takes at most 20 files.");

        let half = |bytes: usize| file("n", "a/b", &format!("data:{}", "A".repeat(bytes - 5)));
        let full = vec![half(URLS_MAX / 2), half(URLS_MAX / 2)];
        Choices::new(Address::default(), full).unwrap();
        let over = vec![half(URLS_MAX / 2), half(URLS_MAX / 2 + 1)];
        let error = Choices::new(Address::default(), over).unwrap_err();
        assert_eq!(error.code(), Code::InvalidPrompt);
        assert!(error.message().contains("28000000 bytes"), "{error}");
    }
}
