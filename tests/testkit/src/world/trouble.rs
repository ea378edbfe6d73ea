//! What goes wrong around an engine: its line, its database, its computer, its own end.

use std::time::Duration;

use goal_core::goal::SessionId;
use goal_engine::ports::ServerEvent;
use goal_engine::view::GoalView;

use super::facts::{Fact, What};
use super::line::Fate;
use super::{Running, World};

/// How long a client waits before it connects again.
const RETRY: Duration = Duration::from_millis(250);

/// The line.
impl World {
    /// The next `count` events arrive nowhere.
    pub fn events_are_lost(&self, count: usize) {
        self.fates(count, Fate::Lost);
    }

    /// The next `count` events arrive twice.
    pub fn events_are_doubled(&self, count: usize) {
        self.fates(count, Fate::Doubled);
    }

    /// The next `count` events arrive so much later, and those behind them may overtake them.
    pub fn events_are_late(&self, count: usize, by: Duration) {
        self.fates(count, Fate::Late(by));
    }

    /// Events arrive again as they should.
    pub fn events_are_sound(&self) {
        self.inner.server.lock().trouble.ends();
    }

    /// The stream of every engine dies without a word. The client notices it by its liveness, as
    /// the real one does, and connects again.
    pub fn stream_falls_silent(&self) {
        let mut state = self.inner.server.lock();
        for place in 0..state.listeners.len() {
            let listener = &mut state.listeners[place];
            if listener.is_connected() {
                listener.falls_silent();
                self.notices_silence(place, listener.connection());
            }
        }
    }

    /// The computer sleeps, with the server on it: the wall clocks run on and nothing else does,
    /// and the stream does not survive it.
    pub fn sleeps(&self, by: Duration) {
        let ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.inner.clock.jump(ms);
        self.inner.server.lock().sleeps(by);
        self.stream_falls_silent();
    }

    fn fates(&self, count: usize, fate: Fate) {
        self.inner.server.lock().trouble.next(count, fate);
    }

    fn notices_silence(&self, place: usize, connection: u64) {
        let server = self.inner.server.clone();
        let liveness = self.inner.limits.liveness;
        tokio::spawn(async move {
            tokio::time::sleep(liveness).await;
            let is_still = |server: &super::port::Server| {
                let state = server.lock();
                state.listeners[place].connection() == connection
            };
            if !is_still(&server) {
                return;
            }
            let lost = ServerEvent::Lost {
                reason: "nothing was heard for 45 s".to_owned(),
                unauthorized: false,
                retry_in: RETRY,
            };
            server.lock().listeners[place].says(&lost);
            tokio::time::sleep(RETRY).await;
            let mut state = server.lock();
            let up = state.up;
            let listener = &mut state.listeners[place];
            if up && listener.connection() == connection {
                listener.reconnects();
            }
        });
    }
}

/// Engines and their databases.
impl World {
    /// The engine that works on this machine is killed after so many further steps: calls that
    /// begin or are answered, looks at the clock, notices. 0: now.
    pub fn engine_is_killed(&self, after: u64) {
        self.each_that_works(false, |running| match after {
            0 => running.life.end(),
            steps => running.life.ends_after(steps),
        });
    }

    /// Whoever was to be killed after some steps lives on.
    pub fn engine_is_spared(&self) {
        self.each_that_works(false, |running| running.life.ends_after(0));
    }

    /// The engine of the other machine is killed.
    pub fn rival_is_killed(&self) {
        self.each_that_works(true, |running| running.life.end());
    }

    /// The engine that works on this machine ends in order.
    pub async fn host_ends(&self) {
        let mut ending = Vec::new();
        self.each_that_works(false, |running| {
            running.ended = true;
            ending.push(running.engine.clone());
        });
        for engine in ending {
            engine.shutdown().await;
        }
    }

    fn each_that_works(&self, elsewhere: bool, mut then: impl FnMut(&mut Running)) {
        let mut engines = self.engines();
        let here = |running: &&mut Running| running.elsewhere == elsewhere && running.works();
        engines.running.iter_mut().filter(here).for_each(&mut then);
    }

    /// Whether an engine works on this machine, or on the other one.
    #[must_use]
    pub fn engine_lives(&self, elsewhere: bool) -> bool {
        let engines = self.engines();
        let newest = engines
            .running
            .iter()
            .rfind(|running| running.elsewhere == elsewhere);
        newest.is_some_and(Running::works)
    }

    /// The database of this machine is locked by another program.
    pub fn database_is_locked(&self) {
        self.inner.database.is_locked();
    }

    /// The database of this machine has lost a table.
    pub fn database_is_damaged(&self) {
        self.inner.database.is_damaged();
    }

    /// The database of this machine works again.
    pub fn database_heals(&self) {
        self.inner.database.heals();
    }
}

/// The auditor.
impl World {
    /// The auditor's model answers with this text next time.
    pub fn auditor_replies(&self, text: &str) {
        self.inner.auditor.reply(text);
    }

    /// The auditor does not answer next time, until the audit's deadline.
    pub fn auditor_is_silent(&self) {
        self.inner.auditor.never_answers();
    }

    /// Nothing is scripted for the auditor any more, and it is as fast as at first.
    pub fn auditor_recovers(&self) {
        self.inner.auditor.forgets();
    }
}

/// What happened.
impl World {
    /// The wall clock of this machine, in milliseconds.
    #[must_use]
    pub fn wall(&self) -> u64 {
        self.inner.clock.wall().0
    }

    /// Whether the server answers.
    #[must_use]
    pub fn server_is_up(&self) -> bool {
        self.inner.server.lock().up
    }

    /// Whether the engine on this machine has a line to the server that carries events.
    #[must_use]
    pub fn line_is_up(&self) -> bool {
        let Some((number, _)) = self.host() else {
            return false;
        };
        let state = self.inner.server.lock();
        state.up && state.listeners[number - 1].is_connected()
    }

    /// What the engine that works on this machine shows of a session's goal.
    #[must_use]
    pub fn shown(&self, session: &SessionId) -> Option<GoalView> {
        self.host().and_then(|(_, engine)| engine.get(session))
    }

    /// Remembers something of the user.
    pub(crate) fn notes(&self, engine: Option<usize>, session: &str, what: What) {
        self.inner.server.lock().note(engine, session, what);
    }

    /// What happened since it was last asked for, in its order.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        std::mem::take(&mut self.inner.server.lock().facts)
    }
}
