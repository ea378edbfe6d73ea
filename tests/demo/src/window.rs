//! The play in the app's window: the goal is armed in the composer, as a person does it, and the
//! app pursues it by itself.
//!
//! [`desktop`] is everything around the window, [`hands`] what is done and seen in it, [`timeline`]
//! what the app tells of its goals.

mod desktop;
mod hands;
mod timeline;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testkit::{ScriptedModel, Step};

use self::desktop::Desktop;
use self::hands::Hands;
use self::timeline::Timeline;
use crate::conduct::{self, Score};
use crate::play;
use crate::project::Project;
use crate::result::{self, End};
use crate::signals::Signals;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// How long the end of the goal, and its notification, may take after the last verdict.
const END_MAX: Duration = Duration::from_secs(20);

/// How many beats the end stays to be seen.
const LAST_BEATS: u32 = 3;

/// How many goals of the person's own the model has answers for.
const OWN_GOALS: usize = 20;

const STAY: &str = "\
The window stays open, with a model that can only say what it is. Try:

- press \"New session\" (the pen), write a message, press the target beside
  \"Send\", and send it: this goal is sent on once, and its second audit finds
  it reached
- stop it in the middle (Ctrl+.): the goal pauses; \"Resume\" goes on
- press the target in the first session: all about its goal

It ends when you close the window, or here by Ctrl-C.";

/// Where the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On a display that nobody sees.
    Virtual,
    /// In front of the person.
    Display,
    /// There until it is closed.
    Stay,
}

impl Place {
    /// The place that xtask names so.
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word {
            "virtual" => Some(Self::Virtual),
            "display" => Some(Self::Display),
            "stay" => Some(Self::Stay),
            _ => None,
        }
    }
}

/// Opens the app, plays, and clears everything away whatever happened.
///
/// # Errors
/// What did not go as it should, or that a signal asked to stop.
pub(crate) async fn demo(
    tell: &Tell,
    mut signals: Signals,
    place: Place,
    pictures: &Path,
) -> Result<(), Trouble> {
    let began = Instant::now();
    tell.heading("A goal in the OpenChamber app, from start to end (about a minute)");
    tell.line(crate::INTRO);
    let model = ScriptedModel::builder().title(play::TITLE).start()?;
    let mut desktop = Desktop::new(&model.url(), place)?;
    let played = tokio::select! {
        played = perform(&mut desktop, &model, tell, pictures) => played,
        () = signals.next() => Err(Trouble::Interrupted),
    };
    let shown = match played {
        Ok(()) => tokio::select! {
            () = last_look(&desktop, place, &model, tell) => Ok(()),
            () = signals.next() => match place {
                Place::Stay => Ok(()),
                Place::Virtual | Place::Display => Err(Trouble::Interrupted),
            },
        },
        Err(Trouble::Failed(_)) if desktop.was_closed() => Err(Trouble::failed(
            "the window was closed before the goal was reached",
        )),
        Err(trouble) => Err(trouble),
    };
    let closed = desktop.close().await;
    let shown = shown.and(closed);
    crate::cleared(desktop.clear().await, &shown, tell)?;
    shown?;
    tell.line(&format!("It took {} seconds.", began.elapsed().as_secs()));
    tell.line("Next, with your own model: `cargo xtask app`.");
    Ok(())
}

/// From the opening of the window to the end of the goal, with everything checked.
async fn perform(
    desktop: &mut Desktop,
    model: &ScriptedModel,
    tell: &Tell,
    pictures: &Path,
) -> Result<(), Trouble> {
    let project = Project::lay_out(desktop.scratch()).await?;
    let score = Score::hand_out(model, project.folder())?;
    tell.heading("A project that has a CSV exporter, but no tests, in the app's window");
    tell.line(&format!("folder   {}", project.folder().display()));
    let page = desktop.open().await?;
    let hands = Hands::on(page, model, project.folder(), pictures)?;
    tell.line(&format!("server   {}\n", hands.is_connected().await?));
    hands.watch().await?;
    hands.arm_and_send(tell).await?;

    let mut timeline = Timeline::new();
    let played = async {
        score.play(&hands, tell).await?;
        tokio::time::sleep(END_MAX).await;
        Err(Trouble::failed("the goal did not end with the last audit"))
    };
    let goal = tokio::select! {
        goal = timeline.follow(&hands, tell) => goal?,
        trouble = played => return trouble,
    };
    desktop.is_notified(&mut timeline, &hands, tell).await?;
    hands.show_end().await?;

    let end = End::of(&goal)?;
    tell.heading("The goal has ended, as the app has it");
    tell.line(&timeline::summary(&goal, model.audit_calls().len()));
    end.check(model)?;
    timeline.check()?;
    result::show_project(&project, tell).await?;
    show_pictures(&hands.pictures(), tell)
}

/// Names the pictures.
fn show_pictures(pictures: &[PathBuf], tell: &Tell) -> Result<(), Trouble> {
    tell.heading("What the window showed");
    for picture in pictures {
        let kept = std::fs::metadata(picture).is_ok_and(|file| file.len() > 0);
        if !kept {
            let path = picture.display();
            return Err(Trouble::failed(format!("there is no picture {path}")));
        }
        tell.line(&picture.display().to_string());
    }
    Ok(())
}

/// Leaves the person time to look at the end, or the window for good.
async fn last_look(desktop: &Desktop, place: Place, model: &ScriptedModel, tell: &Tell) {
    match place {
        Place::Virtual => {}
        Place::Display => tokio::time::sleep(conduct::beat() * LAST_BEATS).await,
        Place::Stay => {
            tell.line("");
            // What cannot be scripted is answered with a default.
            let _ = script_of_its_own(model);
            tell.line(STAY);
            desktop.is_closed().await;
        }
    }
}

/// What the model answers to a person who plays with it.
fn script_of_its_own(model: &ScriptedModel) -> Result<(), testkit::Error> {
    let half = "Done: nothing; this model is a script. Verified: no. Remaining: one turn more.";
    let all = "Done: nothing; this model is a script. Verified: no. Remaining: nothing.";
    for _ in 0..OWN_GOALS {
        model.push_turn([Step::say(half)])?;
        model.push_turn([Step::say(all)])?;
        let goes_on = play::verdict("continue", "A scripted verdict: there is one turn more.");
        model.push_audit([goes_on])?;
        let complete = play::verdict("complete", "A scripted verdict: nothing remains.");
        model.push_audit([complete])?;
    }
    Ok(())
}
