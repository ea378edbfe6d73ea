//! The app's item in the tray: how its goals stand, and its menu.

use testkit::ScriptedModel;
use testkit::model::Step;
use testkit::tray::{Item, Line, Tray};
use testkit::window::{PATIENCE, Running};

use crate::desktop::{Desktop, app};

#[tokio::test]
async fn the_tray_tells_of_goals_shows_the_window_pauses_and_quits() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "Working on it.")])
        .start()
        .unwrap();
    let running = Running::driver(app(), &model.url()).await;
    let tray = Tray::start(running.bus().address()).await.unwrap();
    let desktop = Desktop::of(model, running).await;
    let item = tray.item(PATIENCE).await.unwrap();
    let panel = Panel {
        tray,
        item,
        desktop,
    };
    let lines = panel.says("No active goals").await;
    assert!(!lines[0].enabled, "it only tells");
    let labels: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "No active goals",
            "",
            "Open OpenChamber",
            "Pause all goals",
            "",
            "Quit OpenChamber"
        ]
    );

    panel.desktop.arm_and_send("Finish the work").await;
    panel.desktop.shows("Working on it.").await;
    panel.says("1 active").await;
    panel.desktop.close().await;
    panel.press("Open OpenChamber").await;
    panel.desktop.is_back().await;
    panel.desktop.goal_says("the session works").await;

    panel.press("Pause all goals").await;
    panel.desktop.goal_says("Paused by you").await;
    panel.says("No active goals").await;
    panel.desktop.picture("goal-paused-by-tray").await;

    panel.press("Quit OpenChamber").await;
    panel.desktop.running.has_no_app().await;
    panel.desktop.running.has_no_server().await;
}

/// A panel with the app's item on it.
struct Panel {
    tray: Tray,
    item: Item,
    desktop: Desktop,
}

impl Panel {
    /// Waits until the menu's first line says `text`, and gives its lines.
    async fn says(&self, text: &str) -> Vec<Line> {
        let what = format!("the tray says {text:?}");
        self.desktop
            .running
            .until(&what, async || {
                let lines = self.tray.menu(&self.item).await.ok()?;
                (lines.first()?.label == text).then_some(lines)
            })
            .await
    }

    async fn press(&self, label: &str) {
        let lines = self.tray.menu(&self.item).await.unwrap();
        let line = lines.iter().find(|line| line.label == label);
        let line = line.unwrap_or_else(|| panic!("no {label:?} in {lines:?}"));
        self.tray.press(&self.item, line).await.unwrap();
    }
}
