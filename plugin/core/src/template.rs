//! Strict templates: what is inserted is safe by its type, and a template that does not fit its
//! values does not compile.

use crate::text::{escape_xml, escape_xml_attribute};

/// A text with `N` placeholders of the form `{{name}}`, each standing in it exactly once.
#[derive(Debug)]
pub(crate) struct Template<const N: usize> {
    slots: [Slot; N],
    after_slots: &'static str,
}

/// Why a text and a list of value names do not make a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateError {
    /// `{{` without its `}}`.
    Unclosed,
    /// `}}` without its `{{`.
    Unopened,
    /// A placeholder for which there is no value.
    Missing(&'static str),
    /// A value for which there is no placeholder.
    Extra(&'static str),
    /// Two values of one name, or a second placeholder for a value.
    Doubled(&'static str),
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    before: &'static str,
    value: usize,
}

impl<const N: usize> Template<N> {
    /// A template that ships with the crate. Meant for constants: a text that does not fit its
    /// names stops the build.
    pub(crate) const fn shipped(source: &'static str, names: [&'static str; N]) -> Self {
        match Self::parse(source, names) {
            Ok(template) => template,
            Err(TemplateError::Unclosed) => panic!("a placeholder is not closed"),
            Err(TemplateError::Unopened) => panic!("a placeholder is not opened"),
            Err(TemplateError::Missing(name)) => panic!("{}", name),
            Err(TemplateError::Extra(name)) => panic!("{}", name),
            Err(TemplateError::Doubled(name)) => panic!("{}", name),
        }
    }

    /// Reads `source` against the names of its values, in the order in which
    /// [`Template::render`] takes them. White space at the end of the source is dropped.
    pub(crate) const fn parse(
        source: &'static str,
        names: [&'static str; N],
    ) -> Result<Self, TemplateError> {
        let mut slots = [Slot {
            before: "",
            value: 0,
        }; N];
        let mut taken = [false; N];
        let mut found = 0;
        let mut rest = source.trim_ascii_end();
        while let Some(open) = find(rest, b'{') {
            let (before, from_open) = rest.split_at(open);
            let (_, inner) = from_open.split_at(2);
            let Some(close) = find(inner, b'}') else {
                return Err(TemplateError::Unclosed);
            };
            let (name, from_close) = inner.split_at(close);
            let Some(value) = position(name, &names) else {
                return Err(TemplateError::Missing(name));
            };
            if taken[value] {
                return Err(TemplateError::Doubled(name));
            }
            if find(before, b'}').is_some() {
                return Err(TemplateError::Unopened);
            }
            taken[value] = true;
            slots[found] = Slot { before, value };
            found += 1;
            (_, rest) = from_close.split_at(2);
        }
        if find(rest, b'}').is_some() {
            return Err(TemplateError::Unopened);
        }
        match first_unused(&taken, &names) {
            Some(error) => Err(error),
            None => Ok(Self {
                slots,
                after_slots: rest,
            }),
        }
    }

    /// The text with every placeholder replaced, in one pass: nothing inserted is read again.
    pub(crate) fn render(&self, values: [Safe; N]) -> Safe {
        let mut text = String::new();
        for slot in &self.slots {
            text.push_str(slot.before);
            text.push_str(&values[slot.value].0);
        }
        text.push_str(self.after_slots);
        Safe(text)
    }
}

impl Template<0> {
    /// The text of a template without placeholders.
    pub(crate) const fn text(&self) -> &'static str {
        self.after_slots
    }
}

/// Text that can open and close nothing in the template it is put into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Safe(String);

impl Safe {
    /// Foreign text, to stand between two tags.
    pub(crate) fn element(text: &str) -> Self {
        Self(escape_xml(text))
    }

    /// Foreign text, to stand inside a quoted attribute.
    pub(crate) fn attribute(text: &str) -> Self {
        Self(escape_xml_attribute(text))
    }

    /// A number.
    pub(crate) fn number(number: impl Into<i128>) -> Self {
        Self(number.into().to_string())
    }

    /// Our own words.
    pub(crate) fn own(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Several texts, one a line.
    pub(crate) fn lines(texts: impl IntoIterator<Item = Self>) -> Self {
        let lines: Vec<String> = texts.into_iter().map(|text| text.0).collect();
        Self(lines.join("\n"))
    }

    /// The text itself.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Where `brace` first stands twice in a row.
const fn find(text: &str, brace: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        if bytes[at] == brace && bytes[at + 1] == brace {
            return Some(at);
        }
        at += 1;
    }
    None
}

const fn position<const N: usize>(name: &str, names: &[&'static str; N]) -> Option<usize> {
    let mut at = 0;
    while at < N {
        if same(name, names[at]) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// A name that stands twice in the list is never found at its second place, so it is left over
/// like a value without a placeholder.
const fn first_unused<const N: usize>(
    taken: &[bool; N],
    names: &[&'static str; N],
) -> Option<TemplateError> {
    let mut at = 0;
    while at < N {
        if !taken[at] {
            return match position(names[at], names) {
                Some(first) if first < at => Some(TemplateError::Doubled(names[at])),
                Some(_) | None => Some(TemplateError::Extra(names[at])),
            };
        }
        at += 1;
    }
    None
}

/// `==` on texts cannot be called while constants are computed.
const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_where_their_names_stand() {
        let template = Template::parse("{{b}}-{{a}}.\n\n", ["a", "b"]).unwrap();
        let rendered = template.render([Safe::number(1_u32), Safe::own("two")]);
        assert_eq!(rendered.into_string(), "two-1.");
    }

    #[test]
    fn what_is_inserted_is_not_read_again() {
        let template = Template::parse("{{a}} {{b}}", ["a", "b"]).unwrap();
        let rendered = template.render([Safe::element("{{b}}"), Safe::element("{{a}}")]);
        assert_eq!(rendered.into_string(), "{{b}} {{a}}");
    }

    #[test]
    fn single_braces_are_text() {
        let template = Template::parse(r#"{"a": {}} {b}"#, []);
        assert_eq!(template.err(), Some(TemplateError::Unopened));
        let template = Template::parse(r#"{"a": 1} {b}"#, []).unwrap();
        assert_eq!(template.text(), r#"{"a": 1} {b}"#);
    }

    #[test]
    fn missing_extra_and_doubled_values_are_errors() {
        let error = |source, names: [&'static str; 2]| Template::parse(source, names).err();
        assert_eq!(error("{{a}}{{b}}", ["a", "b"]), None);
        assert_eq!(
            error("{{a}}{{c}}", ["a", "b"]),
            Some(TemplateError::Missing("c"))
        );
        assert_eq!(
            error("{{a}}{{b}}{{}}", ["a", "b"]),
            Some(TemplateError::Missing(""))
        );
        assert_eq!(
            error("{{ a }}{{b}}", ["a", "b"]),
            Some(TemplateError::Missing(" a "))
        );
        assert_eq!(error("{{a}}", ["a", "b"]), Some(TemplateError::Extra("b")));
        assert_eq!(error("", ["a", "b"]), Some(TemplateError::Extra("a")));
        assert_eq!(
            error("{{a}}{{a}}{{b}}", ["a", "b"]),
            Some(TemplateError::Doubled("a"))
        );
        assert_eq!(
            error("{{a}}", ["a", "a"]),
            Some(TemplateError::Doubled("a"))
        );
    }

    #[test]
    fn torn_placeholders_are_errors() {
        let error = |source| Template::parse(source, ["a"]).err();
        assert_eq!(error("{{a}} {{b"), Some(TemplateError::Unclosed));
        assert_eq!(error("{{a"), Some(TemplateError::Unclosed));
        assert_eq!(error("}} {{a}}"), Some(TemplateError::Unopened));
        assert_eq!(error("{{a}} }}"), Some(TemplateError::Unopened));
    }

    #[test]
    fn what_is_inserted_is_escaped_for_its_place() {
        assert_eq!(Safe::element("</a>\"&").into_string(), "&lt;/a&gt;\"&amp;");
        assert_eq!(Safe::attribute("\"'<").into_string(), "&quot;&#39;&lt;");
        assert_eq!(Safe::number(-3_i64).into_string(), "-3");
        let lines = Safe::lines([Safe::own("a"), Safe::own("b")]);
        assert_eq!(lines.into_string(), "a\nb");
    }
}
