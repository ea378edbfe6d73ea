//! Measuring, cutting and escaping text.
//!
//! Lengths are UTF-16 code units, the unit in which the pages count characters (X24), and no cut
//! splits a surrogate pair: a character that does not fit whole is left out.

use std::borrow::Cow;

/// A part of a whole, for example one of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How many parts are meant. More than [`Share::of`] counts as all of them.
    pub parts: usize,
    /// How many parts make the whole. Zero counts as one.
    pub of: usize,
}

impl Share {
    /// The share of `units`, rounded down.
    #[must_use]
    pub const fn of_units(self, units: usize) -> usize {
        let of = if self.of == 0 { 1 } else { self.of };
        let parts = if self.parts > of { of } else { self.parts };
        // Divided first, so that no product can overflow.
        (units / of) * parts + (units % of) * parts / of
    }
}

/// The length of `text` in UTF-16 units.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The longest beginning of `text` that has at most `max_units` UTF-16 units.
#[must_use]
pub fn clamp(text: &str, max_units: usize) -> &str {
    let mut left = max_units;
    for (at, character) in text.char_indices() {
        match left.checked_sub(character.len_utf16()) {
            Some(rest) => left = rest,
            None => return &text[..at],
        }
    }
    text
}

/// The longest end of `text` that has at most `max_units` UTF-16 units.
#[must_use]
pub fn clamp_end(text: &str, max_units: usize) -> &str {
    let mut left = max_units;
    for (at, character) in text.char_indices().rev() {
        match left.checked_sub(character.len_utf16()) {
            Some(rest) => left = rest,
            None => return &text[at + character.len_utf8()..],
        }
    }
    text
}

/// [`clamp`] for a text that is owned already: nothing is copied.
#[must_use]
pub fn clamp_owned(mut text: String, max_units: usize) -> String {
    let bytes = clamp(&text, max_units).len();
    text.truncate(bytes);
    text
}

/// Shortens `text` to at most `max_units` UTF-16 units by taking out its middle.
///
/// A text that fits is returned as it is. Otherwise `head` says how much of the room beside the
/// marker goes to the beginning; the end gets the rest of it. Where not even the marker fits,
/// the beginning of the text is returned without one.
#[must_use]
pub fn clip_middle<'t>(text: &'t str, max_units: usize, head: Share, marker: &str) -> Cow<'t, str> {
    let Some(room) = max_units.checked_sub(utf16_len(marker)) else {
        return Cow::Borrowed(clamp(text, max_units));
    };
    let head_units = head.of_units(room);
    keep_ends(text, max_units, head_units, room - head_units, marker)
}

/// Shortens `text` like [`clip_middle`], with equal halves of
/// floor((`max_units` − marker length) / 2) units each (O11).
#[must_use]
pub fn clip_halves<'t>(text: &'t str, max_units: usize, marker: &str) -> Cow<'t, str> {
    let Some(room) = max_units.checked_sub(utf16_len(marker)) else {
        return Cow::Borrowed(clamp(text, max_units));
    };
    keep_ends(text, max_units, room / 2, room / 2, marker)
}

/// `text` without outer white space and with every run of white space inside made one space.
#[must_use]
pub fn collapse_whitespace(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}

/// `text` with `&`, `<` and `>` written as entities, fit to stand between two tags.
#[must_use]
pub fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            plain => escaped.push(plain),
        }
    }
    escaped
}

/// [`escape_xml`] with both kinds of quotes written as entities too, fit to stand inside a quoted
/// attribute.
#[must_use]
pub fn escape_xml_attribute(text: &str) -> String {
    escape_xml(text)
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// `text` without outer white space and byte order marks.
#[must_use]
pub fn trim_text(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
}

/// The content of a code fence, where the fence wraps the whole of `text`.
///
/// The opening line may name a language. `None` where the text is not one whole fence, or where
/// the fence holds another one.
#[must_use]
pub fn unwrap_fence(text: &str) -> Option<&str> {
    let inner = trim_text(text).strip_prefix("```")?.strip_suffix("```")?;
    let is_info = |line: &str| line.chars().all(|character| !character.is_whitespace());
    let body = match inner.split_once('\n') {
        Some((info, body)) if is_info(info.trim_end()) => body,
        Some(_) | None => inner,
    };
    // A longer fence would leave its own backticks behind.
    let whole = !body.starts_with('`') && !body.ends_with('`') && !body.contains("\n```");
    whole.then(|| trim_text(body))
}

/// `text` without the blocks in which a reasoning model thinks aloud.
///
/// Tags are `think`, `thinking`, `thought` and `reasoning`, in any case. A block that is never
/// closed reaches to the end; a closing tag without an opening one ends a block that began with
/// the text.
#[must_use]
pub fn strip_thinking(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    let mut outside = String::new();
    let mut inside = false;
    let mut met_tag = false;
    while let Some(at) = rest.find('<') {
        let (before, from_tag) = rest.split_at(at);
        let tag = ThinkTag::at_start_of(from_tag);
        let length = tag.map_or(1, |tag| tag.bytes);
        if !inside {
            outside.push_str(before);
        }
        match tag {
            Some(tag) => {
                met_tag = true;
                if tag.closes && !inside {
                    outside.clear();
                }
                inside = !tag.closes;
            }
            None if !inside => outside.push('<'),
            None => {}
        }
        rest = &from_tag[length..];
    }
    if !met_tag {
        return Cow::Borrowed(text);
    }
    if !inside {
        outside.push_str(rest);
    }
    Cow::Owned(outside)
}

/// Whether `text` is one closing tag of a think block and nothing else.
pub(crate) fn is_closing_think_tag(text: &str) -> bool {
    ThinkTag::at_start_of(text).is_some_and(|tag| tag.closes && tag.bytes == text.len())
}

const THINK_TAGS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];

#[derive(Clone, Copy)]
struct ThinkTag {
    closes: bool,
    bytes: usize,
}

impl ThinkTag {
    fn at_start_of(text: &str) -> Option<Self> {
        let after_angle = text.strip_prefix('<')?;
        let name_on = after_angle.strip_prefix('/').unwrap_or(after_angle);
        let name_bytes = name_on
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .take(THINK_TAG_BYTES_MAX)
            .count();
        let (name, after_name) = name_on.split_at(name_bytes);
        let after_tag = after_name.strip_prefix('>')?;
        THINK_TAGS
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
            .then(|| Self {
                closes: name_on.len() < after_angle.len(),
                bytes: text.len() - after_tag.len(),
            })
    }
}

/// No name of [`THINK_TAGS`] is longer, so no more of a long word needs to be looked at.
const THINK_TAG_BYTES_MAX: usize = 9;

fn keep_ends<'t>(
    text: &'t str,
    max_units: usize,
    head_units: usize,
    tail_units: usize,
    marker: &str,
) -> Cow<'t, str> {
    if clamp(text, max_units).len() == text.len() {
        return Cow::Borrowed(text);
    }
    let head = clamp(text, head_units);
    let tail = clamp_end(text, tail_units);
    Cow::Owned([head, marker, tail].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_are_utf16_units() {
        for (text, units) in [("", 0), ("abc", 3), ("äöü", 3), ("日本", 2), ("a🎯b", 4)] {
            assert_eq!(utf16_len(text), units, "{text}");
        }
    }

    #[test]
    fn a_pair_that_does_not_fit_is_left_out_whole() {
        for (units, head, tail) in [
            (0, "", ""),
            (1, "a", "b"),
            (2, "a", "b"),
            (3, "a🎯", "🎯b"),
            (4, "a🎯b", "a🎯b"),
            (usize::MAX, "a🎯b", "a🎯b"),
        ] {
            assert_eq!(clamp("a🎯b", units), head, "{units}");
            assert_eq!(clamp_end("a🎯b", units), tail, "{units}");
            assert_eq!(clamp_owned("a🎯b".to_owned(), units), head, "{units}");
        }
    }

    #[test]
    fn shares_are_rounded_down_and_never_more_than_the_whole() {
        let share = |parts, of, units| Share { parts, of }.of_units(units);
        assert_eq!(share(1, 4, 103), 25);
        assert_eq!(share(3, 4, 103), 77);
        assert_eq!(share(5, 4, 103), 103);
        assert_eq!(share(1, 0, 103), 103);
        assert_eq!(share(0, 4, 103), 0);
        assert_eq!(share(3, 4, usize::MAX), usize::MAX / 4 * 3 + 2);
    }

    #[test]
    fn the_middle_is_what_goes() {
        let quarter = Share { parts: 1, of: 4 };
        let text = "abcdefghijklmnopqrstuvwxyz";
        for (max, expected) in [
            (26, text),
            (25, "abcde[…]jklmnopqrstuvwxyz"),
            (11, "ab[…]uvwxyz"),
            (3, "[…]"),
            (2, "ab"),
            (0, ""),
        ] {
            assert_eq!(clip_middle(text, max, quarter, "[…]"), expected, "{max}");
        }
    }

    #[test]
    fn halves_are_equal_also_where_a_unit_is_left_over() {
        let text = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(clip_halves(text, 10, "[…]"), "abc[…]xyz");
        assert_eq!(clip_halves(text, 9, "[…]"), "abc[…]xyz");
        assert_eq!(clip_halves(text, 26, "[…]"), text);
        assert_eq!(clip_halves(text, 2, "[…]"), "ab");
    }

    #[test]
    fn white_space_is_collapsed_and_trimmed() {
        assert_eq!(collapse_whitespace(" a\t\n b\u{2003}\u{a0}c "), "a b c");
        assert_eq!(collapse_whitespace(" \n "), "");
    }

    #[test]
    fn escaping_covers_elements_and_attributes() {
        assert_eq!(escape_xml("a<b>&amp;\"'"), "a&lt;b&gt;&amp;amp;\"'");
        assert_eq!(escape_xml_attribute("<\"'&>"), "&lt;&quot;&#39;&amp;&gt;");
    }

    #[test]
    fn a_fence_counts_only_where_it_wraps_everything() {
        for (text, inner) in [
            ("```\nx\n```", Some("x")),
            ("  ```json\r\n{}\r\n```  ", Some("{}")),
            ("```{}```", Some("{}")),
            ("```Fix it```", Some("Fix it")),
            ("```two words\nx\n```", Some("two words\nx")),
            ("before\n```\nx\n```", None),
            ("```\nx\n```\nafter", None),
            ("```\nx\n```\nbetween\n```\ny\n```", None),
            ("````\nx\n````", None),
            ("```", None),
            ("", None),
        ] {
            assert_eq!(unwrap_fence(text), inner, "{text:?}");
        }
    }

    #[test]
    fn thinking_is_taken_out() {
        for (text, spoken) in [
            ("plain < text", "plain < text"),
            ("<think>a</think>b", "b"),
            ("a<THINKING>b</Thinking>c<thought>d</thought>e", "ace"),
            ("a<reasoning>b", "a"),
            ("a</think>b</think>c", "c"),
            ("<think>a<think>b</think>c</think>d", "d"),
            ("<think>a < b <b> </thinking>c<b>", "c<b>"),
            ("<thinker>a</thinker>", "<thinker>a</thinker>"),
            ("<think", "<think"),
            ("<think>", ""),
        ] {
            assert_eq!(strip_thinking(text), spoken, "{text:?}");
        }
    }

    #[test]
    fn a_closing_tag_is_known_alone() {
        for (text, closing) in [
            ("</think>", true),
            ("</THOUGHT>", true),
            ("<think>", false),
            ("</think> x", false),
            ("</b>", false),
            ("", false),
        ] {
            assert_eq!(is_closing_think_tag(text), closing, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn clips_fit_and_keep_both_ends(
            text in "[a-z🎯é]{0,80}",
            max in 0_usize..100,
            parts in 0_usize..6,
        ) {
            let clipped = clip_middle(&text, max, Share { parts, of: 4 }, "[…]");
            prop_assert!(utf16_len(&clipped) <= max);
            if utf16_len(&text) <= max {
                prop_assert_eq!(clipped.as_ref(), text.as_str());
            } else if let Some((head, tail)) = clipped.split_once("[…]") {
                prop_assert!(text.starts_with(head));
                prop_assert!(text.ends_with(tail));
                // At most a split pair is lost at each cut.
                prop_assert!(utf16_len(&clipped) + 2 >= max);
            } else {
                prop_assert!(max < 3);
            }
        }

        #[test]
        fn clamping_takes_all_that_fits(text in "[a-z🎯é]{0,40}", max in 0_usize..60) {
            let head = clamp(&text, max);
            prop_assert!(text.starts_with(head) && utf16_len(head) <= max);
            let next = text[head.len()..].chars().next();
            prop_assert!(next.is_none_or(|next| utf16_len(head) + next.len_utf16() > max));
        }

        #[test]
        fn nothing_thought_is_spoken(before in "[a-z<>/]{0,9}", inside in "[a-z {}]{0,20}") {
            let text = format!("{before}<think>SECRET{inside}</think>spoken");
            let spoken = strip_thinking(&text);
            prop_assert!(!spoken.contains("SECRET"));
            prop_assert!(spoken.ends_with("spoken"));
        }
    }
}
