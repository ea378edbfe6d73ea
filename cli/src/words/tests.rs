use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use goal_core::decision::{Prompting, Unknown, Why};
use goal_core::goal::{SessionId, Status};
use goal_core::judge::AuditFailure;
use goal_core::notice::NoticeCode;
use goal_core::prompt::Occasion;
use goal_core::schedule::RunState;
use goal_core::snapshot::{Request, RequestKind};
use goal_core::time::Mono;
use goal_engine::error::Code;
use goal_engine::view::Phase;

use super::*;

/// Families of keys whose codes are made by the program, with every code there is.
fn families() -> Vec<(&'static str, Vec<&'static str>)> {
    let errors = Code::ALL.map(Code::name);
    let errors = errors.into_iter().chain(crate::failure::OWN_CODES);
    vec![
        ("phase", Phase::ALL.map(Phase::name).to_vec()),
        ("status", Status::ALL.map(Status::name).to_vec()),
        ("notice", NoticeCode::ALL.map(NoticeCode::name).to_vec()),
        ("error", errors.clone().collect()),
        ("hint", errors.collect()),
        ("why", whys()),
        ("reason", reasons()),
        ("occasion", occasions()),
        ("auditFailure", audit_failures()),
        ("distill", audit_failures()),
        (
            "decision",
            vec!["rest", "recheck", "pause", "settle", "audit", "continue"],
        ),
        ("verdict", vec!["continue", "complete", "blocked", "failed"]),
        (
            "auditor",
            vec!["settings", "config", "family-scan", "session-model"],
        ),
        ("check.state", vec!["ok", "warn", "fail"]),
        ("session.state", vec!["idle", "busy", "retry"]),
        ("session.role", vec!["user", "assistant"]),
        ("schedule.state", RunState::ALL.map(RunState::name).to_vec()),
        ("check", crate::verbs::CHECKS.to_vec()),
        ("help.limit", crate::limits::names().collect()),
    ]
}

#[test]
fn every_code_has_words() {
    for (language, _) in CATALOGUES {
        let words = Words::of(language);
        for (family, codes) in families() {
            for code in codes {
                assert!(
                    words.code(family, code).is_some(),
                    "{language}: {family}.{code}"
                );
            }
        }
    }
}

#[test]
fn every_key_is_used_and_every_used_key_is_there() {
    let used = used();
    for (language, [own, _]) in CATALOGUES {
        let there: BTreeSet<String> = Words::of(language).texts.into_keys().collect();
        // Of the shared words pages use others.
        let unused: Vec<_> = texts(own)
            .into_keys()
            .filter(|key| !used.contains(key))
            .collect();
        let missing: Vec<_> = used.difference(&there).collect();
        assert!(unused.is_empty(), "{language}: unused {unused:?}");
        assert!(missing.is_empty(), "{language}: missing {missing:?}");
    }
}

#[test]
fn every_name_in_a_text_is_given_where_it_is_said() {
    let (calls, used) = (calls(), used());
    for (language, _) in CATALOGUES {
        let mut said = Words::of(language).texts;
        said.retain(|key, _| used.contains(key));
        for (key, text) in said {
            let given = calls.get(&key).cloned().unwrap_or_default();
            for name in names_in(&text) {
                assert!(given.contains(&name), "{language}: {key} has {{{name}}}");
            }
        }
    }
}

#[test]
fn no_key_stands_twice() {
    for (language, both) in CATALOGUES {
        let lines = both.iter().flat_map(|text| text.lines());
        let lines = lines.filter(|line| line.starts_with("  \"")).count();
        assert_eq!(lines, Words::of(language).texts.len(), "{language}");
    }
}

#[test]
fn values_are_filled_in_once() {
    let say = |text: &str, arguments: &[(&str, &str)]| fill(text, arguments);
    assert_eq!(say("{a}-{b}", &[("a", "{b}"), ("b", "2")]), "{b}-2");
    assert_eq!(say("{unknown} {a", &[("a", "1")]), "{unknown} {a");
    assert_eq!(say("{\"status\":{a}}", &[("a", "1")]), "{\"status\":1}");
    assert_eq!(Words::of("en").say("no.such.key", &[]), "no.such.key");
}

#[test]
fn the_language_is_the_environments_and_english_otherwise() {
    let named = |values: [&str; 3]| language(&values.map(str::to_owned));
    assert_eq!(named(["", "", ""]), "en");
    assert_eq!(named(["", "", "en_GB.UTF-8"]), "en");
    assert_eq!(named(["C", "", "xx_XX"]), "en");
    assert_eq!(named(["", "xx@euro", "en"]), "en");
}

/// Every key that the command says.
fn used() -> BTreeSet<String> {
    let mut used: BTreeSet<String> = calls().into_keys().collect();
    for (family, codes) in families() {
        used.extend(codes.into_iter().map(|code| format!("{family}.{code}")));
    }
    used
}

fn whys() -> Vec<&'static str> {
    let until = Mono(0);
    let request = Request {
        kind: RequestKind::Question,
        id: String::new(),
        subject: String::new(),
    };
    let all = [
        Why::Disabled,
        Why::Gone,
        Why::NoGoal,
        Why::Inherited,
        Why::NeedsClick,
        Why::Busy,
        Why::ProviderRetries,
        Why::SubagentBusy(SessionId::new("ses_1")),
        Why::WaitingForYou(request),
        Why::FirstMessageMissing { until },
        Why::Rewound,
        Why::ObjectiveMissing,
        Why::NoAssistantYet,
        Why::UserPending,
        Why::WithinGrace { until },
        Why::Patience { until },
        Why::Stalled,
    ];
    let unknown = [
        Unknown::Session,
        Unknown::Status,
        Unknown::Children,
        Unknown::Requests,
        Unknown::Messages,
        Unknown::Write,
        Unknown::Prompt,
    ];
    let codes = all.iter().map(Why::code);
    let codes = codes.chain(unknown.map(Unknown::code));
    // What the engine says beside the core's codes.
    codes.chain(["notDriving", "finished"]).collect()
}

fn reasons() -> Vec<&'static str> {
    goal_core::reason::canonical()
        .into_iter()
        .map(|(_, code)| code)
        .collect()
}

fn occasions() -> Vec<&'static str> {
    let new = [
        Occasion::Progress,
        Occasion::Interrupted,
        Occasion::Truncated,
        Occasion::Compacted,
        Occasion::Resumed,
        Occasion::ObjectiveEdited,
        Occasion::EmptyReply,
        Occasion::Unaudited,
    ];
    let all = new.map(Prompting::New).into_iter();
    let all = all.chain([Prompting::Finish, Prompting::Resend]);
    all.map(|prompting| prompting.code()).collect()
}

fn audit_failures() -> Vec<&'static str> {
    let all = [
        AuditFailure::NoModel,
        AuditFailure::Connection,
        AuditFailure::Timeout,
        AuditFailure::Provider,
        AuditFailure::Unparsable,
    ];
    all.map(AuditFailure::code).to_vec()
}

/// Every key that the sources say, with the names that are given at all of its places.
fn calls() -> BTreeMap<String, BTreeSet<String>> {
    let mut sources = Vec::new();
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut sources,
    );
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        for call in source.split("say!(").skip(1) {
            let Some((key, arguments)) = call.trim_start().strip_prefix('"').and_then(|call| {
                let (key, rest) = call.split_once('"')?;
                Some((key, top_level(rest)))
            }) else {
                continue;
            };
            let given = arguments.split(',').filter_map(|argument| {
                let (name, _) = argument.split_once(" = ")?;
                Some(name.trim().to_owned())
            });
            let given: BTreeSet<String> = given.collect();
            calls
                .entry(key.to_owned())
                .and_modify(|names| names.retain(|name| given.contains(name)))
                .or_insert(given);
        }
    }
    calls
}

fn collect(folder: &Path, sources: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path
            .file_name()
            .is_none_or(|name| name != "tests.rs" && name != "words.rs")
        {
            sources.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The text up to the parenthesis that closes the call, without what stands in parentheses.
fn top_level(rest: &str) -> String {
    let mut depth = 0_u32;
    let mut text = String::new();
    for character in rest.chars() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => break,
            ')' | ']' => depth -= 1,
            _ if depth == 0 => text.push(character),
            _ => {}
        }
    }
    text
}

fn names_in(text: &str) -> Vec<String> {
    let parts = text.split('{').skip(1);
    let names = parts.filter_map(|part| part.split_once('}').map(|(name, _)| name));
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric());
    names.filter(is_name).map(str::to_owned).collect()
}
