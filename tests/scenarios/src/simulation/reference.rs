//! What must hold, always: a model of a goal that knows nothing of how an engine works.
//!
//! It is told everything that happened in the world in its order ([`Reference::hears`]) and looks
//! at the whole from time to time ([`Reference::looks`]). What does not hold is a [`Breach`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use goal_core::goal::{GoalId, MessageId, Status};
use goal_core::notice::NoticeCode;
use goal_engine::view::{GoalView, Phase};
use serde_json::Value;
use testkit::world::{Fact, Sequel, What, Wish};

use super::metadata::{Seen, Texts};
use super::steps::{Line, Play, Step, User};

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which invariant it breaks.
    pub law: Law,
    /// How, for people.
    pub how: String,
}

/// The invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// No prompt after a stop without a Resume.
    StopHolds,
    /// What runs for a goal that was stopped is stopped.
    StopStops,
    /// At most one continuation for each tail.
    OneContinuation,
    /// A continuation is written down before it is sent.
    WrittenFirst,
    /// A session at work is not talked over, nor are its sub-agents.
    NotTalkedOver,
    /// A goal with another id is never written, and one that was run over is put back.
    OwnGoalOnly,
    /// What others keep beside the goal, and in it, survives.
    ForeignSurvives,
    /// `tokensUsed` never falls.
    TokensNeverFall,
    /// An active goal on a quiet session gets its next step in bounded time, or its phase names
    /// why not and until when.
    Moves,
    /// An engine tells of an ending once.
    ToldOnce,
    /// No audit session is left behind.
    NoAuditLeft,
    /// Once nothing fails any more, the goal comes to its end.
    Ends,
    /// Nobody panics.
    NoPanic,
}

/// How exact the world lets the model be. Where calls hang and events are lost, an engine knows
/// what a user wants later than where they do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// How old what an engine acts on may be.
    slack: Duration,
    /// Nothing but people and clients disturbs the engine.
    clean: bool,
    /// No engine of another machine drives as well.
    alone: bool,
    /// Events get lost on a stream that does not break.
    losses: bool,
    /// The user takes messages back.
    reverts: bool,
    /// Notices may be told again after a restart.
    database: bool,
    /// The wall clocks do not jump.
    steady: bool,
}

/// One call and what follows it at once, where nothing is slow.
const PROMPT: Duration = Duration::from_millis(1_000);

/// A call until its deadline, the window for a delivery, and another call.
const PATIENT: Duration = Duration::from_secs(30);

/// How long something goes on unseen where an event was lost: the longest recheck, and its calls.
const RECHECK: Duration = Duration::from_secs(360);

/// Longer than any brake between two continuations.
const NEXT_STEP: Duration = Duration::from_mins(15);

impl Tolerance {
    pub(super) fn of(play: &Play) -> Self {
        let disturbs = |step: &Step| match step {
            Step::Call(..)
            | Step::Line(_)
            | Step::Server(_)
            | Step::Engine(_)
            | Step::Computer(_) => true,
            Step::Pass(_)
            | Step::Until(_)
            | Step::Agent(_)
            | Step::User(_)
            | Step::Client(_)
            | Step::Auditor(_)
            | Step::Database(_) => false,
        };
        let jumps = |step: &Step| matches!(step, Step::Computer(_));
        let alone = !play.setup.rival;
        let clean = alone && !play.steps.iter().any(disturbs);
        Self {
            slack: if clean { PROMPT } else { PATIENT },
            clean,
            alone,
            losses: play
                .steps
                .iter()
                .any(|step| matches!(step, Step::Line(Line::Loses(_)))),
            reverts: play
                .steps
                .iter()
                .any(|step| matches!(step, Step::User(User::Reverts(_)))),
            database: play
                .steps
                .iter()
                .any(|step| matches!(step, Step::Database(_))),
            steady: !play.steps.iter().any(jumps),
        }
    }
}

/// A look at the whole.
pub(super) struct Look {
    pub(super) at: Duration,
    /// The goal's status as stored.
    pub(super) status: Option<Status>,
    /// The prompt that the session works on.
    pub(super) works_on: Option<MessageId>,
    /// Its messages.
    pub(super) sequence: Vec<Sequel>,
    /// What the engine shows, if one works on this machine and is connected.
    pub(super) view: Option<GoalView>,
    /// An engine works on this machine, with a line to a server that is up.
    pub(super) driven: bool,
    /// The wall clock of this machine.
    pub(super) wall: u64,
    /// Nothing fails any more.
    pub(super) calm: bool,
}

/// The model.
pub(super) struct Reference {
    session: String,
    allows: Tolerance,
    breaches: Vec<Breach>,
    texts: Texts,
    /// What each engine read last, and when.
    read: BTreeMap<usize, (Duration, Option<Arc<str>>)>,
    /// How often each engine read each goal.
    looked_at: BTreeMap<(usize, GoalId), u32>,
    /// Metadata that was written over by an engine, with when.
    overwritten: Vec<(Duration, Option<Arc<str>>)>,
    /// A goal that an engine ran over and has to put back: its id, and since when.
    overrun: Option<(GoalId, Duration)>,
    /// Since when the goal is not active.
    inactive: Option<Duration>,
    /// The user's confirmed stop that stands, with when it was asked for.
    halted: Option<(Duration, Duration)>,
    /// The user stopped a turn, and wants nothing else since.
    stopped_turn: Option<Duration>,
    said: Duration,
    /// When somebody wanted the goal to go on, or another goal.
    grants: Vec<Duration>,
    /// When each wish was last asked for.
    asked: BTreeMap<Wish, Duration>,
    /// The wishes that are not answered yet, oldest first.
    open_wishes: Vec<(Wish, Duration)>,
    /// The write of a wish that nobody hears ran over one that another client made behind its
    /// reading.
    siblings_run_over: bool,
    /// Wishes to go on that are not answered yet.
    on_their_way: Vec<Wish>,
    /// Continuations that were written down, and those that were sent.
    written_down: usize,
    sent: BTreeSet<MessageId>,
    /// The tail that was written down last, and those that the sent ones answer.
    tail: Option<String>,
    tails: BTreeMap<MessageId, String>,
    first_messages: BTreeSet<String>,
    endings: BTreeMap<(bool, GoalId, &'static str), Ending>,
    elsewhere: BTreeSet<usize>,
    last_told: Option<(Duration, usize, GoalId, NoticeCode)>,
    starts: u32,
    killed: Duration,
    driven_since: Option<Duration>,
    calm_since: Option<Duration>,
    phase: Option<(Phase, Duration)>,
    idle_since: Option<Duration>,
    stuck_since: Option<Duration>,
}

#[derive(Default)]
struct Ending {
    written: u32,
    told: u32,
    /// An engine was killed right after it told.
    cut: u32,
}

impl Reference {
    pub(super) fn new(session: &str, allows: Tolerance) -> Self {
        Self {
            session: session.to_owned(),
            allows,
            breaches: Vec::new(),
            texts: Texts::default(),
            read: BTreeMap::new(),
            looked_at: BTreeMap::new(),
            overwritten: Vec::new(),
            overrun: None,
            inactive: None,
            halted: None,
            stopped_turn: None,
            said: Duration::ZERO,
            grants: Vec::new(),
            asked: BTreeMap::new(),
            open_wishes: Vec::new(),
            siblings_run_over: false,
            on_their_way: Vec::new(),
            written_down: 0,
            sent: BTreeSet::new(),
            tail: None,
            tails: BTreeMap::new(),
            first_messages: BTreeSet::new(),
            endings: BTreeMap::new(),
            elsewhere: BTreeSet::new(),
            last_told: None,
            starts: 0,
            killed: Duration::ZERO,
            driven_since: None,
            calm_since: None,
            phase: None,
            idle_since: None,
            stuck_since: None,
        }
    }

    /// What was broken so far.
    pub(super) fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// The engine with this number works on the other machine.
    pub(super) fn is_elsewhere(&mut self, engine: usize) {
        self.elsewhere.insert(engine);
    }

    /// Whether all that others keep beside the goal has to be there in the end. PATCH has no
    /// compare-and-set, so a write may run over one that it did not see; whoever hears the stream
    /// puts that back. A wish that a command carries out, one for a goal that no engine watches,
    /// and one that takes a goal out or puts another in its place hear nothing, and nothing is
    /// demanded of them.
    pub(super) fn siblings_hold(&self) -> bool {
        self.allows.clean && !self.siblings_run_over
    }

    /// The server was killed: what it was about to tell of a stop is lost with it.
    pub(super) fn server_dies(&mut self) {
        self.stopped_turn = None;
    }

    pub(super) fn breach(&mut self, law: Law, how: impl Into<String>) {
        let breach = Breach {
            law,
            how: how.into(),
        };
        if !self.breaches.contains(&breach) {
            self.breaches.push(breach);
        }
    }

    /// Something happened.
    pub(super) fn hears(&mut self, fact: &Fact) {
        let at = fact.at;
        match (&fact.what, fact.engine) {
            (What::Started, _) => self.starts += 1,
            (What::Killed, Some(engine)) => self.is_killed(at, engine),
            (What::Told { goal, code }, Some(engine)) => self.is_told(at, engine, goal, *code),
            (What::Reloaded, _) => self.stopped_turn = None,
            _ if fact.session != self.session => {
                if fact.engine.is_some() && matches!(fact.what, What::Sent { .. }) {
                    self.breach(Law::OwnGoalOnly, "a copy of the session got a prompt");
                }
            }
            (What::Read(metadata), Some(engine)) => {
                self.is_read(at, engine, metadata.as_ref());
            }
            (What::Wrote { before, after }, Some(engine)) => {
                self.engine_writes(at, engine, before.as_ref(), after.as_ref());
            }
            (What::Wrote { before, after }, None) => {
                self.client_writes(at, before.as_ref(), after.as_ref());
            }
            (
                What::Sent {
                    message,
                    busy_since,
                },
                Some(engine),
            ) if engine > 0 => {
                self.is_sent(at, message, *busy_since);
            }
            (What::Asked(wish), _) => self.is_asked(at, *wish),
            (What::Answered(wish, status), engine) => self.is_answered(at, *wish, *status, engine),
            // A wish to go on that is on its way may come behind it.
            (What::Stopped, _) => {
                self.stopped_turn = self.on_their_way.is_empty().then_some(at);
            }
            (What::Said, _) => {
                self.said = at;
                self.stopped_turn = None;
            }
            (
                What::Read(_) | What::Sent { .. } | What::Killed | What::Told { .. },
                None | Some(_),
            ) => {}
        }
    }
}

/// Writes.
impl Reference {
    fn is_read(&mut self, at: Duration, engine: usize, metadata: Option<&Arc<str>>) {
        if let Some(id) = self.texts.seen(metadata).id().cloned() {
            *self.looked_at.entry((engine, id)).or_default() += 1;
        }
        self.read.insert(engine, (at, metadata.cloned()));
    }

    /// What an engine settles or continues it has looked at to decide, and once more to write.
    fn decided_on_this(&mut self, engine: usize, base: &Seen, new: &Seen) {
        let Some(id) = new
            .id()
            .filter(|_| engine > 0 && self.open_wishes.is_empty())
        else {
            return;
        };
        let goes_on = new.step.is_some() && new.step != base.step;
        let ends = new.status.and_then(code_of).is_some() && new.status != base.status;
        let looks = self.looked_at.get(&(engine, id.clone())).copied();
        if (goes_on || ends) && looks.unwrap_or_default() < 2 {
            let how = format!("{id} was written by a decision on another goal");
            self.breach(Law::OwnGoalOnly, how);
        }
    }

    fn engine_writes(
        &mut self,
        at: Duration,
        engine: usize,
        before: Option<&Arc<str>>,
        after: Option<&Arc<str>>,
    ) {
        let read = self.read.get(&engine).cloned();
        let (read_at, base) = read.unwrap_or((at, before.cloned()));
        let (old, new) = (self.texts.seen(before), self.texts.seen(after));
        let base = self.texts.seen(base.as_ref());
        // What is written as it stands harms nobody.
        let restores = before == after || self.restores(at, &new);
        if !restores {
            self.decided_on_this(engine, &base, &new);
        }
        let puts_back = new.id() == base.id() && self.was_beside(at, &new);
        if new.foreign != base.foreign && !restores && !puts_back {
            let how = format!("{} became {}", base.foreign, new.foreign);
            self.breach(Law::ForeignSurvives, how);
        }
        if new.id() == base.id() && new.extra != base.extra {
            let how = format!("unknown fields became {}", new.extra);
            self.breach(Law::ForeignSurvives, how);
        }
        if new.id() != base.id() && !restores && !self.wishes_another(at) {
            let how = format!("read {:?}, wrote {:?}", base.id(), new.id());
            self.breach(Law::OwnGoalOnly, how);
        }
        if new.id() == base.id() && new.used < base.used && !restores {
            let how = format!("from {} to {}", base.used, new.used);
            self.breach(Law::TokensNeverFall, how);
        }
        // What is put back counts as it did before it was run over.
        let lone = self.allows.alone && engine > 0 && !restores;
        if lone && new.id() == old.id() && new.used < old.used {
            let how = format!("from the stored {} to {}", old.used, new.used);
            self.breach(Law::TokensNeverFall, how);
        }
        if restores
            && self
                .overrun
                .as_ref()
                .is_some_and(|(id, _)| Some(id) == new.id())
        {
            self.overrun = None;
        } else if old.id() != new.id()
            && base.id() == new.id()
            && read_at < at
            && let Some(id) = old.id()
        {
            self.overrun = Some((id.clone(), at));
        }
        let heard = engine > 0 && old.status == Some(Status::Active) && old.id() == new.id();
        let by_wish = !self.open_wishes.is_empty() && !heard;
        self.siblings_run_over |= old.foreign != new.foreign && by_wish;
        self.overwritten.push((at, before.cloned()));
        if let Some(first) = &new.first_message {
            self.first_messages.insert(first.clone());
        }
        if let Some((tail, _)) = &new.step
            && new.step != old.step
        {
            self.written_down += 1;
            self.tail = Some(tail.clone());
        }
        // A wish to go on is no longer on its way once it is written.
        if new.resumed() && new.stamp != base.stamp && !self.on_their_way.is_empty() {
            self.on_their_way.remove(0);
        }
        self.counts_ending(engine, &base, &new);
        self.follows(at, &old, &new);
    }

    fn client_writes(&mut self, at: Duration, before: Option<&Arc<str>>, after: Option<&Arc<str>>) {
        let (old, new) = (self.texts.seen(before), self.texts.seen(after));
        if old.goal != new.goal {
            self.overrun = None;
            self.stopped_turn = None;
            if new.status == Some(Status::Active) {
                self.grants.push(at);
                self.halted = None;
            }
        }
        self.follows(at, &old, &new);
    }

    /// Whether a write brings back what an engine wrote over within the last seconds.
    fn restores(&mut self, at: Duration, new: &Seen) -> bool {
        let recent: Vec<Option<Arc<str>>> = self
            .overwritten
            .iter()
            .filter(|(when, _)| at - *when <= PATIENT)
            .map(|(_, text)| text.clone())
            .collect();
        recent.iter().any(|text| {
            let old = self.texts.seen(text.as_ref());
            old.foreign == new.foreign && old.id() == new.id()
        })
    }

    /// Whether an engine wrote over the same things beside a goal within the last seconds.
    fn was_beside(&mut self, at: Duration, new: &Seen) -> bool {
        let recent: Vec<Option<Arc<str>>> = self
            .overwritten
            .iter()
            .filter(|(when, _)| at - *when <= PATIENT)
            .map(|(_, text)| text.clone())
            .collect();
        recent
            .iter()
            .any(|text| self.texts.seen(text.as_ref()).foreign == new.foreign)
    }

    fn wishes_another(&self, at: Duration) -> bool {
        let recent = |wish| {
            self.asked
                .get(&wish)
                .is_some_and(|asked| at - *asked <= PATIENT * 3)
        };
        recent(Wish::Start) || recent(Wish::Clear)
    }

    fn follows(&mut self, at: Duration, old: &Seen, new: &Seen) {
        let active = new.status == Some(Status::Active);
        if active {
            self.inactive = None;
        } else if old.status == Some(Status::Active) || self.inactive.is_none() {
            self.inactive = Some(at);
        }
    }

    fn counts_ending(&mut self, engine: usize, base: &Seen, new: &Seen) {
        let Some((id, code)) = new.id().zip(new.status.and_then(code_of)) else {
            return;
        };
        if base.stamp != new.stamp {
            let key = (self.elsewhere.contains(&engine), id.clone(), code.name());
            self.endings.entry(key).or_default().written += 1;
        }
    }
}

fn code_of(status: Status) -> Option<NoticeCode> {
    match status {
        Status::Complete => Some(NoticeCode::GoalComplete),
        Status::Blocked => Some(NoticeCode::GoalBlocked),
        Status::BudgetLimited => Some(NoticeCode::GoalBudgetLimited),
        Status::Active | Status::Paused => None,
    }
}

/// Prompts, notices, and what the user wants.
impl Reference {
    fn is_sent(&mut self, at: Duration, message: &MessageId, busy_since: Option<Duration>) {
        if self.first_messages.contains(message.as_str()) {
            return;
        }
        let slack = self.allows.slack;
        let old = |since: Option<Duration>| since.filter(|since| *since + slack < at);
        if let Some(since) = old(self.inactive) {
            let how = format!("{message} at {at:?} for a goal that is not active since {since:?}");
            self.breach(Law::StopHolds, how);
        }
        if let Some(since) = old(self.stopped_turn) {
            let how = format!("{message} at {at:?} behind the turn that was stopped at {since:?}");
            self.breach(Law::StopHolds, how);
        }
        if let Some((_, since)) = self.halted
            && since < at
        {
            let how = format!("{message} at {at:?} although a stop was confirmed at {since:?}");
            self.breach(Law::StopHolds, how);
        }
        if let Some(since) = old(busy_since) {
            let how = format!("{message} at {at:?}, at work since {since:?}");
            self.breach(Law::NotTalkedOver, how);
        }
        self.sent.insert(message.clone());
        if let Some(tail) = &self.tail {
            self.tails.entry(message.clone()).or_insert(tail.clone());
        }
        if self.sent.len() > self.written_down {
            let how = format!("{message} at {at:?} was not written down");
            self.breach(Law::WrittenFirst, how);
        }
    }

    fn is_told(&mut self, at: Duration, engine: usize, goal: &GoalId, code: NoticeCode) {
        let ends = [
            NoticeCode::GoalComplete,
            NoticeCode::GoalBlocked,
            NoticeCode::GoalBudgetLimited,
        ];
        if !ends.contains(&code) {
            return;
        }
        self.last_told = Some((at, engine, goal.clone(), code));
        let again = if self.allows.database { self.starts } else { 0 };
        let key = (self.elsewhere.contains(&engine), goal.clone(), code.name());
        let ending = self.endings.entry(key).or_default();
        ending.told += 1;
        if ending.told > ending.written + ending.cut + again {
            let how = format!(
                "{goal} {} was told {} times, written {} times",
                code.name(),
                ending.told,
                ending.written
            );
            self.breach(Law::ToldOnce, how);
        }
    }

    /// Between a notice and the mark that it was told lies nothing but the kill: telling it again
    /// is the lesser evil.
    fn is_killed(&mut self, at: Duration, engine: usize) {
        self.killed = at;
        if let Some((told, by, goal, code)) = self.last_told.take()
            && told == at
            && by == engine
        {
            let key = (self.elsewhere.contains(&engine), goal, code.name());
            self.endings.entry(key).or_default().cut += 1;
        }
    }

    fn is_asked(&mut self, at: Duration, wish: Wish) {
        self.asked.insert(wish, at);
        self.open_wishes.push((wish, at));
        match wish {
            Wish::Resume | Wish::Edit | Wish::Start => {
                self.grants.push(at);
                self.on_their_way.push(wish);
                self.halted = None;
                self.stopped_turn = None;
                self.overrun = None;
            }
            Wish::Clear | Wish::Complete => self.overrun = None,
            Wish::Pause => {}
        }
    }

    fn is_answered(
        &mut self,
        at: Duration,
        wish: Wish,
        status: Option<Status>,
        engine: Option<usize>,
    ) {
        // Which of several is answered is not told: the least is demanded of a stop if a refusal
        // is taken for that of the last, and all else for that of the first.
        let is_open = |(other, _): &(Wish, Duration)| *other == wish;
        let open = match status {
            Some(_) => self.open_wishes.iter().position(is_open),
            None => self.open_wishes.iter().rposition(is_open),
        };
        let asked = open.map_or(at, |place| self.open_wishes.remove(place).1);
        if let Some(place) = self.on_their_way.iter().position(|other| *other == wish) {
            self.on_their_way.swap_remove(place);
        }
        let stops = match wish {
            Wish::Pause => status == Some(Status::Paused),
            Wish::Clear => status.is_some(),
            Wish::Resume | Wish::Edit | Wish::Start | Wish::Complete => false,
        };
        let since_then = self.grants.iter().any(|grant| *grant >= asked);
        // Only the engine that drives knows at once; others hear of it.
        let at_once = self.allows.alone && engine.is_some_and(|engine| engine > 0);
        if stops && !since_then && self.on_their_way.is_empty() {
            let holds = if at_once { at } else { at + self.allows.slack };
            self.halted = Some((asked, holds));
        }
    }
}

/// The whole.
impl Reference {
    /// Looks at the whole.
    pub(super) fn looks(&mut self, look: &Look) {
        self.one_continuation(&look.sequence);
        self.stop_stops(look);
        self.puts_back(look);
        let driven = look.driven.then(|| self.driven_since.unwrap_or(look.at));
        self.driven_since = driven;
        let calm = look.calm.then(|| self.calm_since.unwrap_or(look.at));
        self.calm_since = calm;
        self.moves(look);
    }

    fn one_continuation(&mut self, sequence: &[Sequel]) {
        let mut broken = Vec::new();
        for pair in sequence.windows(2) {
            let [first, second] = pair else { continue };
            let ours =
                |sequel: &Sequel| sequel.engine.is_some() && self.sent.contains(&sequel.message);
            let asked = |grant: &Duration| first.at <= *grant + PATIENT && *grant <= second.at;
            let parted = self.allows.reverts && self.are_parted(&first.message, &second.message);
            if ours(first) && ours(second) && !parted && !self.grants.iter().any(asked) {
                let how = format!("{} and {}", first.message, second.message);
                broken.push(how);
            }
        }
        for how in broken {
            self.breach(Law::OneContinuation, how);
        }
    }

    /// Where messages are taken back, what stood between two prompts may be gone: then they answer
    /// different tails, and the second does not answer the first.
    fn are_parted(&self, first: &MessageId, second: &MessageId) -> bool {
        let tail = |message: &MessageId| self.tails.get(message);
        let other = |tail_of_second: &String| {
            tail_of_second != first.as_str() && tail(first) != Some(tail_of_second)
        };
        tail(second).is_some_and(other)
    }

    /// A turn of ours that began after a stop, or goes on after a confirmed one, is ended.
    fn stop_stops(&mut self, look: &Look) {
        let Some(prompt) = look.works_on.as_ref() else {
            return;
        };
        let ours = self.sent.contains(prompt);
        let answers = |sequel: &&Sequel| sequel.answers.as_ref() == Some(prompt);
        let Some(begun) = look.sequence.iter().find(answers).map(|first| first.at) else {
            return;
        };
        if !self.allows.clean || self.said + PATIENT > look.at || self.killed > Duration::ZERO {
            return;
        }
        // A goal that was paused before is paused: nothing is done for it.
        let paused_then = |asked| self.inactive.is_some_and(|since| since >= asked);
        let late = |since: Duration| since + Duration::from_secs(12) < look.at;
        let began_later = self
            .inactive
            .is_some_and(|since| since + Duration::from_millis(5) < begun && late(begun) && ours);
        let goes_on = self
            .halted
            .is_some_and(|(asked, since)| begun < asked && late(since) && paused_then(asked));
        if began_later || goes_on {
            let how = format!("{prompt} is still worked on at {:?}", look.at);
            self.breach(Law::StopStops, how);
        }
    }

    fn puts_back(&mut self, look: &Look) {
        let Some((id, since)) = self.overrun.clone() else {
            return;
        };
        if self.allows.clean && since + Duration::from_secs(10) < look.at {
            let how = format!("{id} was run over at {since:?} and not put back");
            self.breach(Law::OwnGoalOnly, how);
            self.overrun = None;
        }
    }

    fn moves(&mut self, look: &Look) {
        let active = look.status == Some(Status::Active);
        let view = look.view.as_ref().filter(|_| active && look.driven);
        let Some(view) = view else {
            self.phase = None;
            self.idle_since = None;
            self.stuck_since = None;
            let lost = self.allows.losses;
            if active && !lost && look.calm && self.lasts(self.calm_since, look.at, RECHECK) {
                self.breach(Law::Moves, "the engine does not show the goal");
            }
            return;
        };
        let since = match self.phase {
            Some((phase, since)) if phase == view.phase => since,
            Some(_) | None => look.at,
        };
        self.phase = Some((view.phase, since));
        let idle = look.works_on.is_none();
        self.idle_since = idle.then(|| self.idle_since.unwrap_or(look.at));
        if let Some(complaint) = self.complaint(look, view, since) {
            let how = format!("{:?} {:?}: {complaint}", view.phase, view.why);
            self.breach(Law::Moves, how);
        }
        let waits_for_itself = match view.phase {
            Phase::Quiet
            | Phase::Checking
            | Phase::Auditing
            | Phase::Continuing
            | Phase::Retrying => true,
            Phase::Working
            | Phase::WaitingForSubagent
            | Phase::WaitingForYou
            | Phase::Rewound
            | Phase::NeedsClick
            | Phase::ObjectiveMissing
            | Phase::Stalled
            | Phase::Settled => false,
        };
        let stuck = look.calm && idle && waits_for_itself;
        self.stuck_since = stuck.then(|| self.stuck_since.unwrap_or(look.at));
        if self.lasts(self.stuck_since, look.at, NEXT_STEP) {
            let how = format!("no next step: {:?} {:?}", view.phase, view.why);
            self.breach(Law::Moves, how);
        }
    }

    /// What is wrong with what is shown of an active goal.
    fn complaint(&self, look: &Look, view: &GoalView, since: Duration) -> Option<String> {
        if !self.lasts(self.driven_since, look.at, PATIENT * 2) {
            return None;
        }
        let lasts = |most| self.lasts(Some(since), look.at, most);
        match view.phase {
            Phase::Checking | Phase::Continuing => {
                lasts(PATIENT * 5).then(|| "goes on and on".to_owned())
            }
            Phase::Auditing => lasts(PATIENT * 5).then(|| "the audit has no end".to_owned()),
            Phase::Working => {
                let idle = self.lasts(self.idle_since, look.at, RECHECK);
                (idle && lasts(RECHECK)).then(|| "the session rests".to_owned())
            }
            Phase::Settled => {
                // A Resume whose event was lost on an unbroken stream is found by nobody.
                (lasts(RECHECK) && !self.allows.losses).then(|| "the goal is active".to_owned())
            }
            Phase::Quiet
            | Phase::Retrying
            | Phase::WaitingForSubagent
            | Phase::WaitingForYou
            | Phase::Rewound
            | Phase::NeedsClick
            | Phase::ObjectiveMissing
            | Phase::Stalled => self.until_when(look, view),
        }
    }

    /// A wait says until when it waits at the latest, and that is not long gone or far away.
    fn until_when(&self, look: &Look, view: &GoalView) -> Option<String> {
        let Some(next) = view.next else {
            let unnamed = self.lasts(self.phase.map(|(_, since)| since), look.at, PATIENT);
            return unnamed.then(|| "nobody knows until when".to_owned());
        };
        let longest = u64::try_from(RECHECK.as_millis()).unwrap_or(u64::MAX);
        if !self.allows.steady {
            return None;
        }
        if next.0 > look.wall + longest {
            return Some(format!("until {} ms from now", next.0 - look.wall));
        }
        let late = look.wall.saturating_sub(next.0);
        (late > 60_000).then(|| format!("was due {late} ms ago"))
    }

    fn lasts(&self, since: Option<Duration>, at: Duration, most: Duration) -> bool {
        since.is_some_and(|since| since + most < at)
    }

    /// How often the end of this goal was told, on both machines.
    pub(super) fn told(&self, goal: &GoalId) -> u32 {
        let code = NoticeCode::GoalComplete.name();
        let of = |((_, id, told), ending): (&(bool, GoalId, &'static str), &Ending)| {
            (id == goal && *told == code).then_some(ending.told)
        };
        self.endings.iter().filter_map(of).sum()
    }
}

/// What stands beside the goal that nobody may lose.
pub(super) fn foreign() -> Value {
    serde_json::json!({ "list": [1, 2.50, "ü"], "nothing": null, "deep": { "goal": false } })
}
