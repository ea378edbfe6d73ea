//! The arming machine of one session: what happened becomes at most one pending wake-up.
//!
//! Sans-I/O: [`Watch::signal`] takes what happened, [`Watch::deadline`] says when to come back, and
//! [`Watch::expire`] turns a passed deadline into a [`Wake`]. A trigger during a cycle is kept and
//! gets its own window after it: never lost, never two at once (R11-R20, X9, X19).

use std::time::Duration;

use crate::goal::GoalId;
use crate::limits::Limits;
use crate::signal::{GoalMark, Kick, Signal};
use crate::time::{Mono, Wall};

/// Why a timer runs, from the least to the most pressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Window {
    /// A named wait is looked at again.
    Recheck,
    /// A read failed; it is tried again.
    Retry,
    /// A request was asked or answered: short, and no quiet at all (X15).
    Asked,
    /// The quiet after `idle`.
    Idle,
    /// The short quiet of a fresh goal.
    Kickoff,
    /// The very short quiet of a Resume.
    Resume,
}

/// A cycle is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The window that ended.
    pub window: Window,
}

/// How a cycle ended, as far as timing is concerned (X9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A prompt went out; its idle comes back, and a lost one is found by a recheck.
    Prompted,
    /// The goal is no longer active, or no longer there: nothing is armed.
    Stopped,
    /// A read or write failed: one quiet window, then growing ones.
    Failed,
    /// A named wait, looked at again at this moment at the latest.
    Resting {
        /// When the wait ends by itself, if it does.
        until: Option<Mono>,
    },
    /// The user's intent, or another goal state, ended it before it could act: looked at again
    /// after one quiet window, since that change may bring no event of its own.
    Dropped,
}

/// The timer of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    timer: Option<(Mono, Window)>,
    in_cycle: bool,
    pending: Option<Window>,
    busy: bool,
    /// The goal is not active: nothing is armed until a write says otherwise.
    stopped: bool,
    failures: u32,
    seen: Option<(GoalId, Wall)>,
}

impl Watch {
    /// Takes what happened at `now`.
    pub fn signal(&mut self, signal: &Signal, now: Mono, limits: &Limits) {
        match signal {
            Signal::Idle => {
                self.busy = false;
                self.quiet_begins(now, limits);
            }
            Signal::Resync => {
                self.busy = false;
                self.failures = 0;
                self.quiet_begins(now, limits);
            }
            Signal::Busy => {
                self.busy = true;
                // A session that asks is busy all the while.
                if self.armed() != Some(Window::Asked) {
                    self.wait_for_idle(now, limits);
                }
            }
            Signal::LookAgain => {
                if !self.busy && self.armed() < Some(Window::Idle) {
                    self.trigger(Window::Idle, now, limits);
                }
            }
            Signal::Asked => {
                if self.armed() < Some(Window::Idle) {
                    self.trigger(Window::Asked, now, limits);
                }
            }
            Signal::Goal(mark) => self.goal(mark, now, limits),
        }
    }

    /// When [`Watch::expire`] has something to say; `None`: only a signal changes anything.
    #[must_use]
    pub fn deadline(&self) -> Option<Mono> {
        if self.in_cycle {
            None
        } else {
            self.timer.map(|(at, _)| at)
        }
    }

    /// The window that runs, and when it ends.
    #[must_use]
    pub fn window(&self) -> Option<(Window, Mono)> {
        if self.in_cycle {
            None
        } else {
            self.timer.map(|(at, window)| (window, at))
        }
    }

    /// Begins a cycle if its time has come. Calls that come early or twice change nothing.
    pub fn expire(&mut self, now: Mono) -> Option<Wake> {
        let (at, window) = self.timer?;
        if self.in_cycle || now < at {
            return None;
        }
        self.timer = None;
        self.in_cycle = true;
        Some(Wake { window })
    }

    /// Ends the cycle and arms what follows from how it ended. A trigger that came during the
    /// cycle gets its own window now. Without a cycle under way, nothing changes.
    pub fn ended(&mut self, ended: Ended, now: Mono, limits: &Limits) {
        if !self.in_cycle {
            return;
        }
        self.in_cycle = false;
        let latest = now.after(limits.recheck_max);
        self.failures = match ended {
            Ended::Failed => self.failures.saturating_add(1),
            Ended::Prompted | Ended::Stopped | Ended::Resting { .. } | Ended::Dropped => 0,
        };
        self.timer = match ended {
            Ended::Prompted => Some((latest, Window::Recheck)),
            Ended::Dropped => Some((now.after(limits.idle_quiet), Window::Recheck)),
            Ended::Stopped => None,
            Ended::Failed => Some((now.after(self.retry_delay(limits)), Window::Retry)),
            Ended::Resting { until } => {
                let at = until.map_or(latest, |until| until.min(latest));
                Some((at, Window::Recheck))
            }
        };
        match self.pending.take() {
            Some(Window::Recheck) => {
                self.timer.get_or_insert((latest, Window::Recheck));
            }
            Some(window) => self.timer = Some((now.after(length(window, limits)), window)),
            None => {}
        }
        if self.stopped {
            self.timer = None;
        }
    }

    /// Whether a cycle is under way.
    #[must_use]
    pub fn in_cycle(&self) -> bool {
        self.in_cycle
    }

    /// Whether the session was last heard to be busy.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.busy
    }

    fn goal(&mut self, mark: &GoalMark, now: Mono, limits: &Limits) {
        let known = self
            .seen
            .as_ref()
            .is_some_and(|(id, at)| *id == mark.id && *at == mark.updated_at);
        self.seen = Some((mark.id.clone(), mark.updated_at));
        let revived = std::mem::replace(&mut self.stopped, mark.kick == Kick::Stopped);
        match mark.kick {
            Kick::Stopped => {
                self.timer = None;
                self.pending = None;
            }
            Kick::Resumed if !known && !self.busy => self.trigger(Window::Resume, now, limits),
            Kick::Fresh if !known && !self.busy && self.armed() < Some(Window::Retry) => {
                self.trigger(Window::Kickoff, now, limits);
            }
            // A pause that was undone: the session rests already and will not say so again.
            Kick::Running if revived && !self.busy && self.armed() < Some(Window::Retry) => {
                self.trigger(Window::Idle, now, limits);
            }
            // A goal that nothing is armed for would sleep for ever: it is looked at again.
            Kick::Resumed | Kick::Fresh | Kick::Running => {
                if self.armed().is_none() && !self.in_cycle {
                    self.timer = Some((now.after(limits.recheck_max), Window::Recheck));
                }
            }
        }
    }

    /// While the session works nothing is due: its `idle` will say when. An `idle` that gets lost
    /// on an unbroken stream is made up for by the recheck.
    fn wait_for_idle(&mut self, now: Mono, limits: &Limits) {
        if self.in_cycle {
            self.pending = self.pending.map(|_| Window::Recheck);
        } else {
            self.timer = (!self.stopped).then(|| (now.after(limits.recheck_max), Window::Recheck));
        }
    }

    /// Every `idle` begins the quiet window anew (R12), but never lengthens a Resume's (X19).
    fn quiet_begins(&mut self, now: Mono, limits: &Limits) {
        if self.armed() != Some(Window::Resume) {
            self.trigger(Window::Idle, now, limits);
        }
    }

    /// A cycle under way keeps the most pressing trigger for afterwards; otherwise the window
    /// begins now, replacing whatever ran.
    fn trigger(&mut self, window: Window, now: Mono, limits: &Limits) {
        if self.stopped {
            return;
        }
        if self.in_cycle {
            self.pending = self.pending.max(Some(window));
        } else {
            self.timer = Some((now.after(length(window, limits)), window));
        }
    }

    fn armed(&self) -> Option<Window> {
        if self.in_cycle {
            self.pending
        } else {
            self.timer.map(|(_, window)| window)
        }
    }

    fn retry_delay(&self, limits: &Limits) -> Duration {
        let doublings = self.failures.saturating_sub(1).min(16);
        limits
            .idle_quiet
            .saturating_mul(1 << doublings)
            .min(limits.recheck_max)
    }
}

fn length(window: Window, limits: &Limits) -> Duration {
    match window {
        Window::Recheck => limits.recheck_max,
        Window::Retry | Window::Idle => limits.idle_quiet,
        Window::Kickoff => limits.kickoff_quiet,
        Window::Resume | Window::Asked => limits.resume_quiet,
    }
}
