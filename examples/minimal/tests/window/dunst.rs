//! A notification as a person sees and clicks it: shown by a real dunst on the test's screen.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::json;
use testkit::model::{ScriptedModel, Step};
use testkit::window::Running;

use crate::desktop::{Desktop, House};
use crate::{REPORT, code};

/// A click does what the notification offers, and nothing goes away by itself.
const CONFIG: &str = "\
[global]
    monitor = 0
    follow = none
    width = 380
    origin = top-right
    offset = 24x24
    font = Sans 11
    idle_threshold = 0
    mouse_left_click = do_action
[urgency_normal]
    timeout = 0
";

/// Colours of a notification that is drawn: an empty window has one, its frame two.
const COLOURS_MIN: u32 = 8;

#[tokio::test]
async fn a_click_on_a_real_notification_opens_its_session() {
    let model = ScriptedModel::builder()
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let house = House::build(model).await;
    let desktop = Desktop::open_with(&house, Dunst::start).await;
    desktop.start_goal(&house, "Finish the work").await;
    let session = &house.session;
    desktop
        .page_says(session, "complete. everything was checked")
        .await;
    desktop.notice_is_sent("goalComplete").await;
    let window = desktop.notification().await;
    desktop.picture("dunst.png");

    let before = desktop.said().len();
    let click = ["mousemove", "--window", &window, "60", "20", "click", "1"];
    desktop.running.ask("xdotool", &click).unwrap();
    desktop.says_after(before, &format!("open {session}")).await;
}

/// The daemon. It ends with its desktop.
struct Dunst(Child);

impl Dunst {
    async fn start(running: &Running) -> Self {
        let config = running.scratch().home().join("dunstrc");
        std::fs::write(&config, CONFIG).unwrap();
        let mut dunst = running.program("dunst");
        dunst.arg("-config").arg(config);
        let child = dunst.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let started = Self(child.unwrap());
        let bus = running.bus();
        running
            .until("dunst is there", async || {
                bus.has_daemon().await.then_some(())
            })
            .await;
        started
    }
}

impl Drop for Dunst {
    fn drop(&mut self) {
        // It may have ended with its screen.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Desktop<Dunst> {
    /// Waits until the plugin showed a notice, and so listens for clicks on it.
    async fn notice_is_sent(&self, wanted: &str) {
        let what = format!("{wanted} is sent");
        self.running
            .until(&what, async || {
                let notices = self.invoke("notices", json!({})).await.ok()?;
                let mut notices = notices.as_array()?.iter();
                notices
                    .any(|notice| code(notice) == wanted && notice["state"] == "sent")
                    .then_some(())
            })
            .await;
    }

    /// Waits until a notification is drawn; gives its window.
    async fn notification(&self) -> String {
        let search = ["search", "--onlyvisible", "--class", "Dunst"];
        self.running
            .until("a notification is drawn", async || {
                let found = self.running.ask("xdotool", &search)?;
                let window = found.lines().next()?.trim().to_owned();
                let look = ["-window", &window, "-format", "%k", "info:"];
                let colours: u32 = self.running.ask("import", &look)?.trim().parse().ok()?;
                (colours >= COLOURS_MIN).then_some(window)
            })
            .await
    }

    /// A picture of the whole screen, for people.
    fn picture(&self, name: &str) {
        let folder = pictures();
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        let words = ["-window", "root", path.to_str().unwrap()];
        self.running.ask("import", &words).unwrap();
    }
}

fn pictures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pictures/window")
}
