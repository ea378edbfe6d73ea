//! What the system keeps for the app: its start with the computer.

use testkit::ScriptedModel;

use crate::desktop::Desktop;

#[tokio::test]
async fn the_app_starts_with_the_computer_only_while_that_is_wished() {
    let desktop = Desktop::open(ScriptedModel::start().unwrap()).await;
    let folder = desktop.running.scratch().home().join(".config/autostart");
    let entry = || {
        let entries = std::fs::read_dir(&folder).ok()?;
        let mut texts = entries.flatten().map(|entry| entry.path());
        texts.find_map(|path| std::fs::read_to_string(path).ok())
    };
    assert_eq!(entry(), None);
    desktop.press("Settings").await;
    desktop.press("Start with the computer").await;
    let written = desktop.running.until("it is written", async || entry());
    let text = written.await;
    assert!(text.contains("openchamber-desktop --hidden"), "{text}");
    desktop.picture("settings-general").await;
    desktop.press("Start with the computer").await;
    let gone = async || entry().is_none().then_some(());
    desktop.running.until("it is taken back", gone).await;
}
