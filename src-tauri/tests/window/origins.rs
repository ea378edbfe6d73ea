//! Sessions that begin from something: from an answer, from a plan, and goals that are crafted.

use serde_json::json;
use testkit::model::{ScriptedModel, Step};

use crate::desktop::Desktop;

/// Opens the menu of the newest reply, as a pointer does.
async fn open_menu(desktop: &Desktop) {
    let script = "
        const more = [...document.querySelectorAll(
            'article[aria-label^=\"Reply of\"] button[aria-label=\"More\"]')].at(-1);
        if (!more) return false;
        const at = { bubbles: true, cancelable: true, composed: true, button: 0 };
        more.dispatchEvent(new PointerEvent('pointerdown', at));
        return true;";
    desktop
        .running
        .until("the reply has a menu", async || {
            let opened = desktop.page.holds(script, "").await;
            opened.is_ok_and(|opened| opened).then_some(())
        })
        .await;
}

/// Waits until the instructions for an answer say `text`.
async fn instructions_say(desktop: &Desktop, text: &str) {
    let what = format!("the instructions say {text:?}");
    let said = async || {
        let value = desktop.page.value_of("Instructions").await.ok()?;
        value.contains(text).then_some(())
    };
    desktop.running.until(&what, said).await;
}

/// The folders of all sessions.
async fn folders(desktop: &Desktop) -> Vec<String> {
    let request = json!({ "method": "GET", "path": "/experimental/session", "query": [] });
    let script = "const [request, done] = arguments;
        window.__TAURI_INTERNALS__.invoke('server_call', { request }).then((bytes) => {
            const text = new TextDecoder().decode(bytes);
            done(JSON.parse(text.slice(text.indexOf('\\n') + 1)).map(({ directory }) => directory));
        }, (error) => done([String(error.code)]));";
    let listed = desktop.page.run_async(script, json!([request])).await;
    let listed = listed.unwrap();
    let listed = listed.as_array().unwrap();
    listed
        .iter()
        .map(|folder| folder.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn from_an_answer_a_goal_begins_in_a_worktree_of_its_own() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Quote every field of the export.")])
        .turn([Step::say("Every field is quoted.")])
        .audit_verdict("complete", "the export quotes")
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("What is to be done?").await;
    desktop.shows("Quote every field of the export.").await;
    open_menu(&desktop).await;
    desktop.press("Start a new session from this answer…").await;
    instructions_say(&desktop, "wait for my approval").await;
    desktop.picture("from-answer").await;
    desktop.press("Run as goal").await;
    instructions_say(&desktop, "do not wait for approval").await;
    desktop.press("Create worktree").await;
    desktop.shows("fake/small will audit it").await;
    desktop.picture("from-answer-goal").await;
    desktop.press("Start goal").await;

    desktop.shows("Every field is quoted.").await;
    desktop.goal_says("the export quotes").await;
    desktop.picture("from-answer-begun").await;
    let calls = desktop.model.work_calls();
    let asked = calls.last().unwrap();
    assert!(asked.mentions("Treat the answer below"));
    assert!(asked.mentions("Quote every field of the export."));
    let project = desktop.running.scratch().project();
    let folders = folders(&desktop).await;
    let elsewhere = folders
        .iter()
        .filter(|folder| **folder != project.display().to_string());
    let trees: Vec<&String> = elsewhere.collect();
    assert_eq!(trees.len(), 1, "{folders:?}");
    let filled = std::path::Path::new(trees[0]).join("README.md");
    assert!(filled.is_file(), "{}", filled.display());
}

#[tokio::test]
async fn a_saved_plan_is_implemented_as_a_goal_that_holds_all_of_it() {
    let model = ScriptedModel::builder()
        .turn([Step::say("The plan is implemented.")])
        .audit_verdict("complete", "all of the plan is there")
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    let plans = desktop.running.scratch().project().join(".opencode/plans");
    std::fs::create_dir_all(&plans).unwrap();
    let text = "# Quoting\n\n1. One function decides.\n2. The suite passes.\n";
    std::fs::write(plans.join("1764498000000-quiet-canyon.md"), text).unwrap();
    desktop.reload().await;
    desktop
        .press("Implement a plan that was saved in this folder")
        .await;
    desktop.shows("1764498000000-quiet-canyon.md").await;
    desktop.press("Run as goal").await;
    desktop.shows("fake/small will audit it").await;
    desktop.picture("from-plan").await;
    desktop.press("Start goal").await;

    desktop.shows("Implement the plan “Quoting”.").await;
    desktop.shows("The plan is implemented.").await;
    desktop.goal_says("all of the plan is there").await;
    desktop.picture("from-plan-begun").await;
    assert!(desktop.model.work_calls()[0].mentions("1. One function decides."));
    let audit = &desktop.model.audit_calls()[0];
    assert!(audit.mentions("1. One function decides."));
    assert!(audit.mentions(".opencode/plans/1764498000000-quiet-canyon.md"));
}

#[tokio::test]
async fn a_goal_is_crafted_in_a_dialogue_and_armed_with_one_press() {
    let proposed = "## Proposed goal\n\n```goal\nThe parser reads empty files.\n```\n\n\
        ## Why it can be verified\n\nThe suite says it.";
    let model = ScriptedModel::builder()
        .turn([Step::say("What shall be true when it is done?")])
        .turn([Step::say(proposed)])
        .turn([Step::say("Empty files are read.")])
        .audit_verdict("complete", "empty files are read")
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("/craft-goal a sturdy parser").await;
    desktop.shows("What shall be true when it is done?").await;
    let rules = &desktop.model.work_calls()[0];
    assert!(rules.mentions("Help the user craft a session goal."));
    desktop.send("It reads empty files.").await;
    desktop.shows("Why it can be verified").await;
    desktop.picture("craft-proposed").await;
    desktop.press("Arm as goal").await;
    desktop.shows("fake/small will audit it").await;
    assert_eq!(desktop.written().await, "The parser reads empty files.");
    assert_eq!(desktop.model.audit_calls().len(), 0);
    desktop.picture("craft-armed").await;
    desktop.press("Send").await;
    desktop.goal_says("empty files are read").await;
    assert!(desktop.model.audit_calls()[0].mentions("The parser reads empty files."));
}

#[tokio::test]
async fn of_all_folders_a_page_takes_away_only_a_worktree_that_it_made() {
    let model = ScriptedModel::builder().start().unwrap();
    let desktop = Desktop::open(model).await;
    let kept = desktop.running.scratch().home().join("kept");
    std::fs::create_dir_all(&kept).unwrap();
    let request = json!({
        "method": "DELETE",
        "path": "/experimental/worktree",
        "query": [["directory", desktop.running.scratch().project()]],
        "body": json!({ "directory": kept }).to_string(),
    });
    let refused = desktop
        .invoke("server_call", json!({ "request": request }))
        .await;
    assert_eq!(refused.unwrap_err()["code"], "notAllowed");
    assert!(kept.is_dir());
}
