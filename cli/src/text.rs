//! Text on its way to a terminal: harmless, short, in columns.

use std::time::Duration;

use goal_core::time::Wall;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthChar as _;

/// Stands for what was cut off.
const MORE: char = '…';

/// Foreign text in one line: white space is collapsed, and what could steer a terminal or reorder
/// what it shows is made visible.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(harmless).collect();
    words.join(" ")
}

/// The lines of foreign text, at most `lines_max` of them, each harmless; a last line says that
/// there is more.
pub(crate) fn lines(text: &str, lines_max: usize) -> Vec<String> {
    let mut all = text.trim().lines();
    let mut lines: Vec<String> = all
        .by_ref()
        .take(lines_max)
        .map(|line| harmless(&line.replace('\t', "    ")))
        .collect();
    if all.next().is_some() {
        lines.push(MORE.to_string());
    }
    lines
}

/// Makes visible what is none: control characters as their pictures, characters that turn the
/// direction of text or break lines as their numbers.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{0}'..='\u{1f}' => {
                let picture = char::from_u32(0x2400 + u32::from(character));
                shown.push(picture.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            '\u{7f}' => shown.push('\u{2421}'),
            character if is_harmful(character) => {
                shown.extend(character.escape_unicode());
            }
            character => shown.push(character),
        }
    }
    shown
}

/// Characters beyond ASCII that a terminal may obey, or that hide or reorder what stands there.
pub(crate) fn is_harmful(character: char) -> bool {
    matches!(
        character,
        '\u{7f}'..='\u{9f}'
            | '\u{200e}' | '\u{200f}' | '\u{61c}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// The beginning of `text` that takes at most `columns` columns, with a mark if it was cut.
pub(crate) fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        clipped.push(character);
    }
    clipped.push(MORE);
    clipped
}

/// `text` in exactly `columns` columns.
pub(crate) fn column(text: &str, columns: usize) -> String {
    let mut cell = clip(text, columns);
    let missing = columns.saturating_sub(width(&cell));
    cell.extend(std::iter::repeat_n(' ', missing));
    cell
}

/// The columns `text` takes in a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.chars()
        .map(|character| character.width().unwrap_or(0))
        .sum()
}

/// A number of tokens as people read it (§5.4): `950`, `1.2K`, `12K`, `3.4M`.
pub(crate) fn tokens(count: u64) -> String {
    let tenths = |unit: u64| {
        let tenths =
            (count / (unit / 10)).saturating_add(u64::from(count % (unit / 10) >= unit / 20));
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => say!("tokens.thousand", n = tenths(1_000)),
        9_950..999_500 => say!("tokens.thousand", n = (count + 500) / 1_000),
        999_500.. => say!("tokens.million", n = tenths(1_000_000)),
    }
}

/// A span of time as people read it; under a minute in seconds, rounded up, so that a wait that
/// is still going on is never "0 s".
pub(crate) fn span(duration: Duration) -> String {
    let seconds = duration
        .as_secs()
        .saturating_add(u64::from(duration.subsec_nanos() > 0));
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    match seconds {
        0..60 => say!("span.seconds", n = seconds),
        60..3_600 => say!("span.minutes", n = minutes, rest = seconds % 60),
        _ => say!("span.hours", n = hours, rest = minutes % 60),
    }
}

/// The time of day.
pub(crate) fn clock(at: Wall, zone: &TimeZone) -> String {
    format_time(at, zone, "%H:%M:%S")
}

/// Day and time of day.
pub(crate) fn date(at: Wall, zone: &TimeZone) -> String {
    format_time(at, zone, "%Y-%m-%d %H:%M:%S")
}

/// Times of other clients may be any number: one that no calendar has is shown as the number.
fn format_time(at: Wall, zone: &TimeZone, format: &str) -> String {
    let moment = i64::try_from(at.0)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok());
    match moment {
        Some(moment) => moment.to_zoned(zone.clone()).strftime(format).to_string(),
        None => at.0.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_note_steers_the_terminal() {
        let attack = "\u{1b}]0;owned\u{7}\u{9b}31m red\u{202e}txt\u{7f}";
        let shown = one_line(attack);
        assert_eq!(shown, "␛]0;owned␇\\u{9b}31m red\\u{202e}txt␡");
        assert!(!shown.chars().any(|c| c.is_control() || is_harmful(c)));
    }

    #[test]
    fn lines_break_in_one_place_only() {
        assert_eq!(one_line(" a\n\r\n b\tc\u{2028}d "), "a b c d");
        assert_eq!(lines("a\n\tb\rc\n\nd\n", 3), ["a", "    b␍c", "", "…"]);
        assert_eq!(lines("a\nb", 2), ["a", "b"]);
    }

    #[test]
    fn columns_count_what_the_terminal_shows() {
        assert_eq!(column("ab", 4), "ab  ");
        assert_eq!(column("日本語です", 6), "日本… ");
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(clip("abcd", 4), "abcd");
        assert_eq!(width(&column("e\u{301}tude", 3)), 3);
    }

    #[test]
    fn tokens_are_short() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0K"),
            (1_250, "1.3K"),
            (9_949, "9.9K"),
            (9_950, "10K"),
            (12_499, "12K"),
            (200_000, "200K"),
            (999_499, "999K"),
            (999_500, "1.0M"),
            (3_440_000, "3.4M"),
            (u64::MAX, "18446744073709.6M"),
        ];
        for (count, shown) in cases {
            assert_eq!(tokens(count), shown, "{count}");
        }
    }

    #[test]
    fn a_wait_that_goes_on_is_never_nothing() {
        let cases = [
            (0, "0 s"),
            (1, "1 s"),
            (14_001, "15 s"),
            (60_000, "1 min 0 s"),
            (3_599_999, "1 h 0 min"),
            (86_400_000, "24 h 0 min"),
        ];
        for (ms, shown) in cases {
            assert_eq!(span(Duration::from_millis(ms)), shown, "{ms}");
        }
    }

    #[test]
    fn times_that_no_calendar_has_do_no_harm() {
        assert_eq!(clock(Wall(3_723_004), &TimeZone::UTC), "01:02:03");
        assert_eq!(date(Wall(0), &TimeZone::UTC), "1970-01-01 00:00:00");
        assert_eq!(clock(Wall(u64::MAX), &TimeZone::UTC), u64::MAX.to_string());
    }
}
