//! What `--help` says: the text a person learns the command from.

use crate::command::Command;

const VERBS: [&str; 29] = [
    "goal serve",
    "goal start",
    "goal show",
    "goal list",
    "goal watch",
    "goal why",
    "goal pause",
    "goal edit",
    "goal complete",
    "goal clear",
    "goal resume",
    "session create",
    "session send",
    "session fork",
    "session list",
    "session status",
    "session messages",
    "schedule list",
    "schedule create",
    "schedule update",
    "schedule run",
    "schedule enable",
    "schedule disable",
    "schedule delete",
    "schedule history",
    "doctor",
    "auditor test",
    "completions",
    "man",
];

#[tokio::test]
async fn the_help_of_goal_names_verbs_and_exit_codes() {
    let done = Command::new().goal("--help").await;
    assert_eq!(done.code, 0);
    insta::assert_snapshot!("help_goal", done.stdout);
}

#[tokio::test]
async fn the_help_of_session_names_verbs_and_exit_codes() {
    let done = Command::new().line("session --help").await;
    assert_eq!(done.code, 0);
    insta::assert_snapshot!("help_session", done.stdout);
}

#[tokio::test]
async fn the_help_of_schedule_names_verbs_and_exit_codes() {
    let done = Command::new().line("schedule --help").await;
    assert_eq!(done.code, 0);
    insta::assert_snapshot!("help_schedule", done.stdout);
}

#[tokio::test]
async fn every_verb_has_a_help_with_an_example() {
    for verb in VERBS {
        let done = Command::new().line(&format!("{verb} --help")).await;
        assert_eq!(done.code, 0, "{verb}");
        let example = format!("openchamber {verb}");
        let examples = done.stdout.split("Example").nth(1).unwrap();
        assert!(examples.contains(&example), "{verb}");
        for flag in [
            "--json",
            "--server",
            "--data-dir",
            "OPENCODE_SERVER_PASSWORD",
        ] {
            assert!(done.stdout.contains(flag), "{verb}: {flag}");
        }
        let name = verb.replace(' ', "_").replace("goal_", "");
        insta::assert_snapshot!(format!("help_{name}"), done.stdout);
    }
}

#[tokio::test]
async fn every_shell_completes_and_the_manual_has_a_page_for_each_verb() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let done = Command::new().line(&format!("completions {shell}")).await;
        assert_eq!(done.code, 0, "{shell}: {done:?}");
        assert!(done.stdout.contains("goal-token-budget"), "{shell}");
    }
    for verb in std::iter::once("").chain(VERBS) {
        let done = Command::new().line(format!("man {verb}").trim()).await;
        assert_eq!(done.code, 0, "{verb}: {done:?}");
        let title = format!("openchamber {verb}").trim().replace(' ', "-");
        let line = format!(".TH {title} 1");
        assert!(done.stdout.contains(&line), "{verb}: {}", done.stdout);
    }
    let done = Command::new().line("man goal frob").await;
    assert_eq!(done.code, 2, "{done:?}");
}

#[tokio::test]
async fn a_pipe_gets_no_colours() {
    let lines: [&[&str]; 4] = [
        &["--help"],
        &["goal", "serve", "--help"],
        &["goal", "frob"],
        &["goal", "list"],
    ];
    for line in lines {
        let done = Command::new().run(line, "").await;
        let all = [done.stdout, done.stderr].concat();
        assert!(
            !all.is_empty() && !all.contains('\u{1b}'),
            "{line:?}: {all:?}"
        );
    }
}

#[tokio::test]
async fn a_secret_in_the_environment_is_not_shown() {
    let command =
        Command::at("http://user:hunter2@127.0.0.1:1").env("OPENCODE_SERVER_PASSWORD", "hunter2");
    for line in [
        "--help",
        "list --help",
        "list",
        "list --json",
        "list --server",
    ] {
        let done = command.goal(line).await;
        let all = [done.stdout, done.stderr].concat();
        assert!(!all.contains("hunter2"), "{line}: {all}");
    }
}
