//! Rules about the documents: links that lead somewhere, decisions numbered without gaps.

use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::files::File;

/// The links and images of one Markdown file that name a local file or folder which is not there.
/// Links to other hosts and within the document are not looked at.
pub fn link_problems(file: &File, root: &Path) -> Vec<String> {
    let folder = root
        .join(&file.path)
        .parent()
        .map_or_else(|| root.to_path_buf(), Path::to_path_buf);
    let links = destinations(&file.text);
    let broken = links
        .iter()
        .filter(|link| is_local(link) && !folder.join(path_of(link)).exists());
    broken
        .map(|link| format!("{} links to {link}, which is not there", file.path))
        .collect()
}

/// What is wrong with the names of the files in `docs/decisions`, given in order: each must be
/// `NNNN-words.md`, counted from 0001 without a gap or a double.
pub fn decision_problems(names: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let expected = format!("{:04}-", index + 1);
        let words = name
            .strip_prefix(&expected)
            .and_then(|rest| rest.strip_suffix(".md"));
        if !words.is_some_and(is_kebab) {
            problems.push(format!(
                "docs/decisions/{name}: expected a name like {expected}what-was-decided.md"
            ));
        }
    }
    problems
}

/// The text of every fenced block of `text` that is marked with the word `info`.
pub fn blocks(text: &str, info: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new(text) {
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(mark))) = &event {
            open = (mark.as_ref() == info).then(String::new);
        } else if let Event::Text(part) = &event {
            if let Some(block) = &mut open {
                block.push_str(part);
            }
        } else if let Event::End(TagEnd::CodeBlock) = &event {
            found.extend(open.take());
        }
    }
    found
}

fn destinations(text: &str) -> Vec<String> {
    let links = Parser::new(text).filter_map(|event| {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            Some(dest_url.into_string())
        } else {
            None
        }
    });
    links.collect()
}

fn is_local(link: &str) -> bool {
    let elsewhere = link.contains("://") || link.starts_with("mailto:");
    !elsewhere && !link.starts_with('#')
}

/// The link without the place within the file it leads to.
fn path_of(link: &str) -> &str {
    link.split(['#', '?']).next().unwrap_or(link)
}

fn is_kebab(words: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    words
        .split('-')
        .all(|word| !word.is_empty() && word.chars().all(plain))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::files::root;

    #[test]
    fn a_broken_link_is_named_and_a_good_one_is_not() {
        let text = "[a](src/lib.rs#files) [b](gone.md) ![c](gone.png) [d](https://host/x) [e](#f)\n\
                    `[code](code.md)`\n\n| table |\n| --- |\n| [g][ref] |\n\n[ref]: ../gone/";
        let file = File {
            path: "tests/tidy/README.md".to_owned(),
            text: text.to_owned(),
        };
        let expected = ["gone.md", "gone.png", "../gone/"]
            .map(|link| format!("tests/tidy/README.md links to {link}, which is not there"));
        assert_eq!(link_problems(&file, &root()), expected);
    }

    #[test]
    fn decisions_are_counted_from_one_without_gaps() {
        assert_eq!(
            decision_problems(&["0001-one.md", "0002-two-words.md"]),
            Vec::<String>::new()
        );
        let broken: [&[&str]; 6] = [
            &["0000-one.md"],
            &["0001-one.md", "0003-three.md"],
            &["0001-one.md", "0001-other.md"],
            &["0001-one.txt"],
            &["0001-.md"],
            &["notes.md"],
        ];
        for names in broken {
            assert_eq!(decision_problems(names).len(), 1, "{names:?}");
        }
    }

    #[test]
    fn only_blocks_with_the_mark_are_taken() {
        let text = "```tree\na\nb\n```\n\n```text\nc\n```\n\n    d\n";
        assert_eq!(blocks(text, "tree"), ["a\nb\n"]);
    }
}
