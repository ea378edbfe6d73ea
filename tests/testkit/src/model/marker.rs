//! `[[MARK arguments]]` in the newest user message chooses the answer where no script does.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::DEFAULT_REPORT;
use super::DEFAULT_VERDICT;
use super::reply::{Call, Ending, Message, Refusal, Reply, Usage};
use super::request::{tool_names, tool_results};

/// The markers of one text: name → arguments (the last one of a name wins).
pub(crate) type Marks = BTreeMap<String, String>;

/// The markers of a text: all `[[…]]`, or, if there are none, all `<<…>>` (which pass unseen
/// inside the arguments of a `[[TOOL …]]` and so can script a subagent's prompt).
pub(crate) fn marks(text: &str) -> Marks {
    let outer = scan(text, "[[", "]]");
    if outer.is_empty() {
        scan(text, "<<", ">>")
    } else {
        outer
    }
}

/// The answer that markers ask for. `errors_before` counts the errors given to this text so far.
pub(crate) fn reply(marks: &Marks, body: &Value, errors_before: u32) -> Reply {
    let refused = refusal(marks, errors_before);
    let mut reply = refused.map_or_else(|| Reply::message(message(marks, body)), Reply::refusal);
    // The source of these markers answers errors at once, whatever the delay.
    if !matches!(reply.answer, super::reply::Answer::Refusal(_)) {
        reply.delay = seconds(marks, "DELAY");
    }
    reply
}

fn refusal(marks: &Marks, errors_before: u32) -> Option<Refusal> {
    if marks.contains_key("OVERFLOW") {
        return Some(Refusal::context_overflow());
    }
    let status = marks
        .keys()
        .find_map(|name| name.strip_prefix("ERROR")?.parse().ok())?;
    let times = number(marks, "ERRTIMES").unwrap_or(u32::MAX);
    (errors_before < times).then(|| Refusal {
        retry_after: marks.get("RETRYAFTER").cloned(),
        ..Refusal::with_status(status)
    })
}

fn message(marks: &Marks, body: &Value) -> Message {
    let has = |name: &str| marks.contains_key(name);
    let mut message = Message {
        text: DEFAULT_REPORT.to_owned(),
        ..Message::default()
    };
    if let Some(text) = marks.get("TEXT") {
        message.text.clone_from(text);
    }
    if let Some(words) = number(marks, "WORDS") {
        message.text = (0..words)
            .map(|n| format!("w{n}"))
            .collect::<Vec<_>>()
            .join(" ");
        message.by_word = true;
    }
    if has("LENGTH") {
        message.text = String::new();
        message.reasoning = Some("thinking long about it".to_owned());
        message.finish = "length";
    }
    if has("LENGTHTEXT") {
        message.text = "This text was cut off in the mid".to_owned();
        message.finish = "length";
    }
    if has("EMPTY") {
        message.text = String::new();
    }
    if has("FILTER") {
        message.finish = "content_filter";
    }
    if has("REASON") {
        message.reasoning = Some("some reasoning".to_owned());
    }
    if let Some(usage) = marks.get("USAGE").and_then(|arguments| usage(arguments)) {
        message.usage = usage;
    }
    message.hang = seconds(marks, "HANG");
    message.ticks = super::ticks(seconds(marks, "SLOW"));
    if has("STREAMERR") {
        message.ending = Ending::ErrorObject;
    }
    if has("DROP") {
        message.ending = Ending::Broken;
    }
    call_tools(marks, body, &mut message);
    message
}

/// `TOOL` calls `LOOP` times and then reports; an offered `StructuredOutput` is always used.
fn call_tools(marks: &Marks, body: &Value, message: &mut Message) {
    if let Some(arguments) = marks.get("TOOL") {
        let (tool, arguments) = arguments.split_once(' ').unwrap_or((arguments, "{}"));
        let times = number(marks, "LOOP").unwrap_or(1);
        if tool_results(body) < times as usize {
            call(message, tool, arguments);
        } else {
            message.text = format!("After the tool. {}", message.text);
        }
    }
    let structured = tool_names(body).any(|name| name == "StructuredOutput");
    if structured && !marks.contains_key("NOSTRUCT") {
        let answer = marks.get("STRUCT").map_or(DEFAULT_VERDICT, String::as_str);
        call(message, "StructuredOutput", answer);
    }
}

fn call(message: &mut Message, tool: &str, arguments: &str) {
    message.text = String::new();
    message.finish = "tool_calls";
    message.calls = vec![Call {
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    }];
}

fn number(marks: &Marks, name: &str) -> Option<u32> {
    marks.get(name)?.parse().ok()
}

fn seconds(marks: &Marks, name: &str) -> Duration {
    let seconds = marks.get(name).and_then(|arguments| arguments.parse().ok());
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .unwrap_or_default()
}

fn usage(arguments: &str) -> Option<Usage> {
    let mut numbers = arguments.split_whitespace().map(str::parse);
    Some(Usage {
        prompt: numbers.next()?.ok()?,
        completion: numbers.next()?.ok()?,
    })
}

fn scan(text: &str, open: &str, close: &str) -> Marks {
    let mut found = Marks::new();
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        rest = &rest[at..];
        match mark(&rest[open.len()..], close) {
            Some((name, arguments, after)) => {
                found.insert(name.to_owned(), arguments.to_owned());
                rest = after;
            }
            // `[[[TEXT x]]` holds a marker that starts one character later.
            None => rest = &rest[1..],
        }
    }
    found
}

/// Name, arguments and what follows, if a marker starts here (behind its opening brackets).
fn mark<'a>(text: &'a str, close: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let name_end = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let name_end = name_end.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = &text[..text.len() - name_end.len()];
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let end = name_end.find(close)?;
    if end > 0 && !name_end.starts_with(char::is_whitespace) {
        return None;
    }
    // Arguments may end in brackets of their own, as JSON lists do: the last closing pair of a
    // run counts.
    let behind = name_end[end + close.len()..].bytes();
    let bracket = close.as_bytes()[0];
    let run = if end == 0 {
        0
    } else {
        behind.take_while(|byte| *byte == bracket).count()
    };
    let (arguments, after) = name_end.split_at(end + run);
    Some((name, arguments.trim_start(), &after[close.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        marks(text).into_iter().collect()
    }

    fn pair(name: &str, arguments: &str) -> (String, String) {
        (name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn finds_names_and_arguments() {
        let found = pairs("do it [[SLOW 3]] and [[TEXT two words]] [[EMPTY]]");
        assert_eq!(
            found,
            [
                pair("EMPTY", ""),
                pair("SLOW", "3"),
                pair("TEXT", "two words")
            ]
        );
    }

    #[test]
    fn keeps_brackets_that_belong_to_the_arguments() {
        assert_eq!(
            pairs(r#"[[TOOL todowrite {"todos":[1]}]] rest ]]"#),
            [pair("TOOL", r#"todowrite {"todos":[1]}"#)]
        );
        assert_eq!(pairs("[[TEXT [a]]]"), [pair("TEXT", "[a]")]);
    }

    #[test]
    fn reads_angle_markers_only_where_no_square_ones_are() {
        assert_eq!(pairs("<<SLOW 3>>"), [pair("SLOW", "3")]);
        assert_eq!(
            pairs(r#"[[TOOL task {"prompt":"<<SLOW 3>>"}]]"#),
            [pair("TOOL", r#"task {"prompt":"<<SLOW 3>>"}"#)]
        );
    }

    #[test]
    fn ignores_what_only_looks_like_a_marker() {
        for text in [
            "[[",
            "[[]]",
            "[[lower]]",
            "[[OPEN",
            "[[NAMEx]]",
            "[[12]]",
            "[é[TEXT]]",
        ] {
            assert_eq!(pairs(text), [], "{text}");
        }
        assert_eq!(pairs("[[[TEXT x]]"), [pair("TEXT", "x")]);
    }
}
