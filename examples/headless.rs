//! The loop without a window: what the plugin stands on, in a program of its own.
//!
//! ```text
//! OPENCODE_SERVER_PASSWORD=secret opencode serve --port 4096
//! OPENCODE_SERVER_PASSWORD=secret cargo run --example headless -- http://127.0.0.1:4096
//! ```
//!
//! It drives every active goal of the server until Ctrl-C, and says what they do.

#![expect(
    clippy::print_stdout,
    reason = "saying what goals do is what the example is for"
)]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use goal_core::limits::Limits;
use goal_engine::Engine;
use goal_engine::host::{Connected, ServerChoice, connect};
use goal_engine::paths::DataDir;
use goal_engine::ports::{NoticeOut, Notices};
use goal_engine::update::UpdateKind;
use opencode_client::{DEFAULT_USERNAME, Secret, Target};

/// Notices become lines.
struct Lines;

#[async_trait]
impl Notices for Lines {
    async fn deliver(&self, notice: &NoticeOut) -> Result<(), String> {
        println!("{}: {}", notice.code.name(), notice.objective);
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1);
    let url = url.ok_or("name the server, such as http://127.0.0.1:4096")?;
    let password = std::env::var("OPENCODE_SERVER_PASSWORD").ok();
    let target = Target::parse(&url, DEFAULT_USERNAME, password.map(Secret::new))?;
    let data_dir = DataDir::resolve(None, std::env::var_os("OPENCHAMBER_DATA_DIR").as_deref())?;
    let server = ServerChoice::Attached(target);
    let Connected {
        ports,
        events,
        driver,
        auditor,
        ..
    } = connect(server, &data_dir, &Limits::DEFAULT, Arc::new(Lines)).await?;
    let engine = Engine::start(ports, events, driver);
    let mut updates = engine.updates();
    loop {
        tokio::select! {
            // Updates are hints: one that was missed is followed by others.
            update = updates.recv() => if let Ok(update) = update
                && let UpdateKind::Phase(view) = update.kind
            {
                println!("{} {}: {}", view.session, view.goal.status.name(), view.phase.name());
            },
            _ = tokio::signal::ctrl_c() => break,
        }
    }
    // In order: the loop, its audits, and only then whatever they ran on.
    engine.shutdown().await;
    auditor.finish(Duration::from_secs(5)).await;
    Ok(())
}
