//! The timeline of `serve` and `watch` for people: a line for whatever is new, none for what was
//! said before.

mod lines;

use std::collections::BTreeMap;
use std::time::Duration;

use goal_core::goal::{Goal, GoalId, SessionId, Status};
use goal_core::limits::Limits;
use goal_core::notice::NoticeCode;
use goal_core::time::Wall;
use goal_engine::update::{DriverState, Update, UpdateKind};
use goal_engine::view::{GoalView, Phase};
use jiff::tz::TimeZone;

use crate::page::{Page, Tone};
use crate::render;
use crate::text;
use crate::words;

use self::lines::{Line, Lines};

/// Sessions whose last line is remembered. Beyond it all are forgotten, which repeats a line.
const SESSIONS_MAX: usize = 4_096;

/// Lines that wait until the server is ready. Beyond it they do not wait.
const EARLY_MAX: usize = 4_096;

/// A look at the server that lasts so long is worth a line. Most take milliseconds, and what
/// comes of them says more.
const LOOK: Duration = Duration::from_secs(1);

/// Remembers what was said last.
pub(crate) struct Timeline {
    turns_max: u32,
    lines: Lines,
    /// For each session what was said of it last.
    said: BTreeMap<SessionId, Said>,
    /// Looks that go on: since when, and what is said of one that lasts.
    looks: BTreeMap<SessionId, (Wall, Box<GoalView>)>,
    /// Lines about goals wait until the server is ready, then stand below that.
    early: Option<Vec<Line>>,
    /// The last thing said of the connection: why it is down, or `None` while it is up.
    down: Option<String>,
    /// A server of ours ended and was not started again yet, which was said.
    away: bool,
    /// Who drives, if it was said.
    driver: Option<DriverState>,
}

#[derive(Default)]
struct Said {
    name: String,
    state: Option<State>,
    note: String,
    auditor: String,
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
    /// The timeline of a host, whose goals stand below the line that it is ready. Times are shown
    /// as the clock in `zone` shows them.
    pub(crate) fn of_host(zone: TimeZone, limits: &Limits, page: Page) -> Self {
        let watcher = Self::of_watcher(zone, limits, page);
        Self {
            early: Some(Vec::new()),
            ..watcher
        }
    }

    /// The timeline of somebody who only follows.
    pub(crate) fn of_watcher(zone: TimeZone, limits: &Limits, page: Page) -> Self {
        Self {
            turns_max: limits.turns_max,
            lines: Lines::new(zone, page),
            said: BTreeMap::new(),
            looks: BTreeMap::new(),
            early: None,
            down: None,
            away: false,
            driver: None,
        }
    }

    /// What is printed for an update of the engine.
    pub(crate) fn update(&mut self, update: &Update) -> Vec<String> {
        let at = update.at;
        let line = match &update.kind {
            UpdateKind::Ready { driver, active } => {
                let mut lines = vec![self.ready(at, *active)];
                lines.extend(self.driver(at, *driver));
                lines.extend(self.rest());
                return lines;
            }
            UpdateKind::Connection {
                connected,
                reason,
                retry_in,
            } => {
                let line = self.connection(at, *connected, reason, *retry_in);
                return line.into_iter().collect();
            }
            UpdateKind::Driver(driver) => return self.driver(at, *driver).into_iter().collect(),
            // The phase that follows from it says it.
            UpdateKind::Decision { .. } => None,
            UpdateKind::Phase(view) => self.seen(at, view),
            UpdateKind::Verdict {
                session,
                verdict,
                note,
                model,
                ..
            } => {
                let by = model.as_ref().map(crate::json::model).unwrap_or_default();
                Some(self.verdict(at, session, verdict, note, &by))
            }
            UpdateKind::Settled(view) => self.end(at, view),
            UpdateKind::Cleared(view) => return self.cleared(at, view),
            UpdateKind::Notice {
                session,
                code,
                detail,
                ..
            } => self.notice(at, session, *code, detail),
        };
        self.out(line)
    }

    /// What is printed for a goal as it is seen, if that is new.
    pub(crate) fn view(&mut self, at: Wall, view: &GoalView) -> Vec<String> {
        let line = self.seen(at, view);
        self.out(line)
    }

    /// What is printed for looks that have lasted a while by `now`.
    pub(crate) fn overdue(&mut self, now: Wall) -> Vec<String> {
        let looks = std::mem::take(&mut self.looks);
        let (long, short) = looks
            .into_iter()
            .partition(|(_, (since, _))| Self::patience_of(*since, now).is_zero());
        self.looks = short;
        let long: BTreeMap<SessionId, (Wall, Box<GoalView>)> = long;
        long.into_values()
            .flat_map(|(since, view)| {
                let line = self.doing(since, &view);
                self.out(line)
            })
            .collect()
    }

    /// How long until [`Self::overdue`] may have something to say; `None` until the next update.
    pub(crate) fn patience(&self, now: Wall) -> Option<Duration> {
        let since = self.looks.values().map(|(since, _)| *since);
        since.map(|since| Self::patience_of(since, now)).min()
    }

    /// What waits for the server to be ready, and from here on nothing does.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        let early = self.early.take().unwrap_or_default();
        early.iter().map(|line| self.lines.lay(line)).collect()
    }

    /// What is printed for a goal that ended or was paused, if that is new.
    pub(crate) fn ended(&mut self, at: Wall, view: &GoalView) -> Vec<String> {
        let line = self.end(at, view);
        self.out(line)
    }

    /// What is printed for an active goal of which only the stored part is known.
    pub(crate) fn progress(&mut self, at: Wall, view: &GoalView) -> Vec<String> {
        let goal = &view.goal;
        let said = self.remembered(view);
        said.note = text::one_line(&goal.note);
        let facts = render::joined([
            said.note.clone(),
            render::tokens(goal),
            render::continuations(goal, self.turns_max),
        ]);
        let label = words::of_code("status", goal.status.name());
        self.out(Some(Line {
            at,
            name: render::name_of(view),
            label,
            tone: render::tone(goal.status),
            facts,
        }))
    }

    /// What is printed for a goal that is no more.
    pub(crate) fn cleared(&mut self, at: Wall, view: &GoalView) -> Vec<String> {
        self.said.remove(&view.session);
        self.looks.remove(&view.session);
        self.out(Some(Line {
            at,
            name: render::name_of(view),
            label: say!("timeline.cleared"),
            tone: Tone::Plain,
            facts: String::new(),
        }))
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
        if self.away && !connected {
            return None;
        }
        let Some(reason) = down else {
            let label = say!("timeline.connected");
            return Some(self.of_server(at, label, Tone::Good, String::new()));
        };
        let retry = retry_in.map(|pause| say!("timeline.retry", span = text::span(pause)));
        let facts = render::joined([reason, retry.unwrap_or_default()]);
        Some(self.of_server(at, say!("timeline.lost"), Tone::Bad, facts))
    }

    /// The line that a server of ours ended. That it cannot be reached then needs no other.
    pub(crate) fn server_away(&mut self, at: Wall, why: &str, retry_in: Duration) -> String {
        self.away = true;
        let start = say!("timeline.startAgain", span = text::span(retry_in));
        let facts = render::joined([text::one_line(why), start]);
        self.of_server(at, say!("timeline.ended"), Tone::Bad, facts)
    }

    /// A server of ours runs again.
    pub(crate) fn server_back(&mut self) {
        self.away = false;
    }

    /// A line about the server.
    pub(crate) fn server(&mut self, at: Wall, label: &str, facts: &str) -> String {
        self.of_server(at, label.to_owned(), Tone::Plain, facts.to_owned())
    }

    /// The line that everything was looked at once.
    pub(crate) fn ready(&mut self, at: Wall, active: usize) -> String {
        self.down = None;
        let facts = match active {
            1 => say!("timeline.active.one"),
            _ => say!("timeline.active", n = active),
        };
        self.of_server(at, say!("timeline.ready"), Tone::Plain, facts)
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
        Some(self.of_server(at, label, Tone::Caution, facts))
    }

    fn of_server(&mut self, at: Wall, label: String, tone: Tone, facts: String) -> String {
        let name = say!("timeline.server");
        self.lines.lay(&Line {
            at,
            name,
            label,
            tone,
            facts,
        })
    }

    fn seen(&mut self, at: Wall, view: &GoalView) -> Option<Line> {
        if view.goal.status != Status::Active {
            // Goals that had ended before anybody looked are no news.
            return match self.said.contains_key(&view.session) {
                true => self.end(at, view),
                false => None,
            };
        }
        if view.phase == Phase::Checking {
            self.look(at, view);
            return None;
        }
        self.doing(at, view)
    }

    /// Holds back that the server is being asked: what comes of it is mostly there at once.
    fn look(&mut self, at: Wall, view: &GoalView) {
        let fits = self.looks.len() < SESSIONS_MAX;
        let new = !self.looks.contains_key(&view.session);
        if new && fits && !self.was_said(view, &doing_state(view)) {
            let look = (at, Box::new(view.clone()));
            self.looks.insert(view.session.clone(), look);
        }
    }

    fn doing(&mut self, at: Wall, view: &GoalView) -> Option<Line> {
        let goal = &view.goal;
        self.remember(view, doing_state(view))?;
        let waits = render::waits(view, at);
        let facts = if view.phase == Phase::Continuing {
            let turns = render::continuations(goal, self.turns_max);
            render::joined([turns, render::tokens(goal), waits])
        } else {
            waits
        };
        Some(Line {
            at,
            name: render::name_of(view),
            label: render::phase_name(view),
            tone: Tone::Plain,
            facts,
        })
    }

    fn verdict(
        &mut self,
        at: Wall,
        session: &SessionId,
        verdict: &str,
        note: &str,
        by: &str,
    ) -> Line {
        self.looks.remove(session);
        let note = match verdict {
            "failed" => words::of_code("auditFailure", note),
            _ => text::one_line(note),
        };
        let by = text::one_line(by);
        let name = self.name(session);
        let said = self.said.entry(session.clone()).or_default();
        said.name.clone_from(&name);
        said.note.clone_from(&note);
        let other = said.auditor != by && !by.is_empty();
        if other {
            said.auditor.clone_from(&by);
        }
        let facts = render::joined([note, if other { by } else { String::new() }]);
        let tone = match verdict {
            "complete" => Tone::Good,
            "blocked" => Tone::Bad,
            _ => Tone::Caution,
        };
        let label = words::of_code("verdict", verdict);
        Line {
            at,
            name,
            label,
            tone,
            facts,
        }
    }

    fn end(&mut self, at: Wall, view: &GoalView) -> Option<Line> {
        let goal = &view.goal;
        let state = State::Ended {
            goal: goal.id.clone(),
            status: goal.status,
            updated: goal.updated_at,
        };
        self.remember(view, state)?;
        let said = self.remembered(view);
        let (reason, note) = why_ended(goal, &said.note);
        let facts = render::joined([
            reason,
            note,
            render::tokens(goal),
            render::continuations(goal, self.turns_max),
        ]);
        Some(Line {
            at,
            name: render::name_of(view),
            label: words::of_code("status", goal.status.name()),
            tone: render::tone(goal.status),
            facts,
        })
    }

    /// Ends are told by their own line; what waits for the user deserves a second one.
    fn notice(
        &mut self,
        at: Wall,
        session: &SessionId,
        code: NoticeCode,
        detail: &str,
    ) -> Option<Line> {
        match code {
            NoticeCode::GoalComplete
            | NoticeCode::GoalBlocked
            | NoticeCode::GoalBudgetLimited
            | NoticeCode::GoalPaused
            // Sessions without a goal are not this command's business.
            | NoticeCode::TurnReady
            | NoticeCode::TurnFailed => None,
            NoticeCode::WaitingForPermission
            | NoticeCode::WaitingForAnswer
            | NoticeCode::Stalled => {
                let told = words::of_code("notice", code.name());
                Some(Line {
                    at,
                    name: self.name(session),
                    label: say!("timeline.notice"),
                    tone: Tone::Caution,
                    facts: render::joined([told, text::one_line(detail)]),
                })
            }
        }
    }

    /// Lays a line out, or has it wait until the server is ready.
    fn out(&mut self, line: Option<Line>) -> Vec<String> {
        let Some(line) = line else {
            return Vec::new();
        };
        self.lines.make_room(&line.name);
        match &mut self.early {
            Some(early) => {
                early.push(line);
                if early.len() < EARLY_MAX {
                    return Vec::new();
                }
                self.rest()
            }
            None => vec![self.lines.lay(&line)],
        }
    }

    /// Remembers a state; `None` if it is the one that was said last.
    fn remember(&mut self, view: &GoalView, state: State) -> Option<()> {
        self.looks.remove(&view.session);
        if self.was_said(view, &state) {
            return None;
        }
        self.remembered(view).state = Some(state);
        Some(())
    }

    fn was_said(&self, view: &GoalView, state: &State) -> bool {
        let said = self.said.get(&view.session);
        said.is_some_and(|said| said.state.as_ref() == Some(state))
    }

    fn remembered(&mut self, view: &GoalView) -> &mut Said {
        if self.said.len() >= SESSIONS_MAX && !self.said.contains_key(&view.session) {
            self.said.clear();
        }
        let said = self.said.entry(view.session.clone()).or_default();
        said.name = render::name_of(view);
        said
    }

    fn name(&self, session: &SessionId) -> String {
        self.said
            .get(session)
            .map_or_else(|| session.to_string(), |said| said.name.clone())
    }

    /// A clock that was set shows no line too late by more than [`LOOK`].
    fn patience_of(since: Wall, now: Wall) -> Duration {
        let lasted = Duration::from_millis(now.0.abs_diff(since.0));
        LOOK.saturating_sub(lasted)
    }
}

fn doing_state(view: &GoalView) -> State {
    State::Doing {
        goal: view.goal.id.clone(),
        phase: view.phase,
        why: view.why.clone(),
        detail: view.detail.clone(),
        turns: view.goal.turns_used,
    }
}

/// Reason and note of an end, without what was `said` a moment ago.
fn why_ended(goal: &Goal, said: &str) -> (String, String) {
    let reason = render::reason(goal);
    let note = text::one_line(&goal.note);
    // A blocked goal's reason is the audit's note.
    let by_note = !note.is_empty() && reason == note;
    if by_note && note == said {
        return (say!("reason.blockedByAudit"), String::new());
    }
    let repeated = by_note || note == said;
    (reason, if repeated { String::new() } else { note })
}

#[cfg(test)]
mod tests;
