//! The timeline of `serve` and `watch` for people: a line for whatever is new, none for what was
//! said before.

use std::collections::BTreeMap;
use std::time::Duration;

use goal_core::goal::{GoalId, SessionId, Status};
use goal_core::limits::Limits;
use goal_core::notice::NoticeCode;
use goal_core::time::Wall;
use goal_engine::update::{DriverState, Update, UpdateKind};
use goal_engine::view::{GoalView, Phase};
use jiff::tz::TimeZone;

use crate::render::{self, TITLE_COLUMNS};
use crate::text;
use crate::words;

/// Columns of what happened; the longest word of the catalogue fits.
const LABEL_COLUMNS: usize = 22;

/// Sessions whose last line is remembered. Beyond it all are forgotten, which repeats a line.
const SESSIONS_MAX: usize = 4_096;

/// Remembers what was said last.
pub(crate) struct Timeline {
    zone: TimeZone,
    turns_max: u32,
    /// For each session its name and the last thing said of it.
    said: BTreeMap<SessionId, Said>,
    /// The last thing said of the connection: why it is down, or `None` while it is up.
    down: Option<String>,
    /// Who drives, if it was said.
    driver: Option<DriverState>,
}

struct Said {
    name: String,
    state: State,
}

/// What makes a line new. Times and counters alone do not.
#[derive(PartialEq, Eq)]
enum State {
    Doing {
        goal: GoalId,
        phase: Phase,
        why: String,
        detail: String,
        turns: u32,
    },
    Ended {
        goal: GoalId,
        status: Status,
        updated: Wall,
    },
}

impl Timeline {
    /// Times are shown as the clock in `zone` shows them.
    pub(crate) fn new(zone: TimeZone, limits: &Limits) -> Self {
        Self {
            zone,
            turns_max: limits.turns_max,
            said: BTreeMap::new(),
            down: None,
            driver: None,
        }
    }

    /// The lines for an update of the engine.
    pub(crate) fn update(&mut self, update: &Update) -> Vec<String> {
        let at = update.at;
        let line = match &update.kind {
            UpdateKind::Ready { driver, active } => {
                let ready = self.ready(at, *active);
                return std::iter::once(ready)
                    .chain(self.driver(at, *driver))
                    .collect();
            }
            UpdateKind::Phase(view) => self.view(at, view),
            // The phase that follows from it says it.
            UpdateKind::Decision { .. } => None,
            UpdateKind::Verdict {
                session,
                verdict,
                note,
                model,
                ..
            } => {
                let note = match *verdict {
                    "failed" => words::of_code("auditFailure", note),
                    _ => text::one_line(note),
                };
                let by = model.as_ref().map(crate::json::model).unwrap_or_default();
                let facts = render::joined([note, text::one_line(&by)]);
                let label = words::of_code("verdict", verdict);
                Some(self.line(at, &self.name(session), &label, &facts))
            }
            UpdateKind::Settled(view) => self.ended(at, view),
            UpdateKind::Connection {
                connected,
                reason,
                retry_in,
            } => self.connection(at, *connected, reason, *retry_in),
            UpdateKind::Notice {
                session,
                code,
                detail,
                ..
            } => self.notice(at, session, *code, detail),
            UpdateKind::Driver(driver) => self.driver(at, *driver),
        };
        line.into_iter().collect()
    }

    /// The line for a goal as it is seen, if that is new.
    pub(crate) fn view(&mut self, at: Wall, view: &GoalView) -> Option<String> {
        if view.goal.status != Status::Active {
            // Goals that had ended before anybody looked are no news.
            return match self.said.get(&view.session) {
                Some(_) => self.ended(at, view),
                None => None,
            };
        }
        let goal = &view.goal;
        let state = State::Doing {
            goal: goal.id.clone(),
            phase: view.phase,
            why: view.why.clone(),
            detail: view.detail.clone(),
            turns: goal.turns_used,
        };
        self.remember(view, state)?;
        let waits = render::waits(view, at);
        let facts = if view.phase == Phase::Continuing {
            let turns = say!("turns", n = goal.turns_used, max = self.turns_max);
            render::joined([turns, render::tokens(goal), waits])
        } else {
            waits
        };
        Some(self.line(
            at,
            &render::name_of(view),
            &render::phase_name(view),
            &facts,
        ))
    }

    /// The line for a goal that ended or was paused, if that is new.
    pub(crate) fn ended(&mut self, at: Wall, view: &GoalView) -> Option<String> {
        let goal = &view.goal;
        let state = State::Ended {
            goal: goal.id.clone(),
            status: goal.status,
            updated: goal.updated_at,
        };
        self.remember(view, state)?;
        let reason = render::reason(goal);
        let note = text::one_line(&goal.note);
        // A blocked goal's reason is the audit's note.
        let note = if note == reason { String::new() } else { note };
        let facts = render::joined([
            reason,
            note,
            render::tokens(goal),
            say!("turns", n = goal.turns_used, max = self.turns_max),
        ]);
        let label = words::of_code("status", goal.status.name());
        Some(self.line(at, &render::name_of(view), &label, &facts))
    }

    /// The line for an active goal of which only the stored part is known.
    pub(crate) fn progress(&self, at: Wall, view: &GoalView) -> String {
        let goal = &view.goal;
        let facts = render::joined([
            text::one_line(&goal.note),
            render::tokens(goal),
            say!("turns", n = goal.turns_used, max = self.turns_max),
        ]);
        let label = words::of_code("status", goal.status.name());
        self.line(at, &render::name_of(view), &label, &facts)
    }

    /// The line for a goal that is no more.
    pub(crate) fn cleared(&mut self, at: Wall, view: &GoalView) -> String {
        self.said.remove(&view.session);
        self.line(at, &render::name_of(view), &say!("timeline.cleared"), "")
    }

    /// The line about the line to the server, if it is new.
    pub(crate) fn connection(
        &mut self,
        at: Wall,
        connected: bool,
        reason: &str,
        retry_in: Option<Duration>,
    ) -> Option<String> {
        let down = (!connected).then(|| text::one_line(reason));
        if down == self.down {
            return None;
        }
        self.down.clone_from(&down);
        let Some(reason) = down else {
            return Some(self.line(
                at,
                &say!("timeline.server"),
                &say!("timeline.connected"),
                "",
            ));
        };
        let retry = retry_in.map(|pause| say!("timeline.retry", span = text::span(pause)));
        let facts = render::joined([reason, retry.unwrap_or_default()]);
        let label = say!("timeline.lost");
        Some(self.line(at, &say!("timeline.server"), &label, &facts))
    }

    /// A line about the server.
    pub(crate) fn server(&self, at: Wall, label: &str, facts: &str) -> String {
        self.line(at, &say!("timeline.server"), label, facts)
    }

    /// The line that everything was looked at once.
    pub(crate) fn ready(&mut self, at: Wall, active: usize) -> String {
        self.down = None;
        let facts = match active {
            1 => say!("timeline.active.one"),
            _ => say!("timeline.active", n = active),
        };
        self.line(
            at,
            &say!("timeline.server"),
            &say!("timeline.ready"),
            &facts,
        )
    }

    fn driver(&mut self, at: Wall, driver: DriverState) -> Option<String> {
        let before = self.driver.replace(driver);
        if before == Some(driver) {
            return None;
        }
        let (label, facts) = match driver {
            // That this process drives is what it was started for.
            DriverState::Driving if before.is_none() => return None,
            DriverState::Driving => (say!("timeline.driving"), String::new()),
            DriverState::Passive { pid } => (
                say!("timeline.passive"),
                say!("timeline.passive.who", pid = pid),
            ),
        };
        Some(self.line(at, &say!("timeline.server"), &label, &facts))
    }

    /// Ends are told by their own line; what waits for the user deserves a second one.
    fn notice(
        &self,
        at: Wall,
        session: &SessionId,
        code: NoticeCode,
        detail: &str,
    ) -> Option<String> {
        match code {
            NoticeCode::GoalComplete
            | NoticeCode::GoalBlocked
            | NoticeCode::GoalBudgetLimited
            | NoticeCode::GoalPaused => None,
            NoticeCode::WaitingForPermission
            | NoticeCode::WaitingForAnswer
            | NoticeCode::Stalled => {
                let told = words::of_code("notice", code.name());
                let facts = render::joined([told, text::one_line(detail)]);
                let label = say!("timeline.notice");
                Some(self.line(at, &self.name(session), &label, &facts))
            }
        }
    }

    /// Remembers a state; `None` if it is the one that was said last.
    fn remember(&mut self, view: &GoalView, state: State) -> Option<()> {
        let last = self.said.get(&view.session);
        if last.is_some_and(|said| said.state == state) {
            return None;
        }
        if self.said.len() >= SESSIONS_MAX && last.is_none() {
            self.said.clear();
        }
        let name = render::name_of(view);
        self.said.insert(view.session.clone(), Said { name, state });
        Some(())
    }

    fn name(&self, session: &SessionId) -> String {
        self.said
            .get(session)
            .map_or_else(|| session.to_string(), |said| said.name.clone())
    }

    fn line(&self, at: Wall, name: &str, label: &str, facts: &str) -> String {
        let line = format!(
            "{}  {}  {}  {facts}",
            text::clock(at, &self.zone),
            text::column(name, TITLE_COLUMNS),
            text::column(label, LABEL_COLUMNS),
        );
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests;
