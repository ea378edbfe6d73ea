//! A session, its user, other clients, a failing server and a crashing engine, by chance; then
//! everybody calms down and the goal must come to its end.

use std::time::Duration;

use goal_core::goal::{MessageId, Status};
use goal_core::judge::AuditFailure;
use goal_core::notice::NoticeCode;
use goal_core::verdict::VerdictKind;
use serde_json::json;
use testkit::world::{Call, Fault, Session, World};

/// Seeds of one run of the tests; each takes a few hundred milliseconds.
const SEEDS: u64 = 40;

/// What happens by chance before everybody calms down.
const ACTIONS: usize = 60;

/// How long a calm goal may take to its end.
const CALM: Duration = Duration::from_hours(6);

#[tokio::test(start_paused = true)]
async fn x9_x17_whatever_happens_the_goal_comes_to_its_end_and_nothing_is_lost() {
    let seeds = wanted("GOAL_SEED").map_or(0..SEEDS, |seed| seed..seed + 1);
    let seeds = wanted("GOAL_SEEDS").map_or(seeds, |count| 0..count);
    let mut failed = Vec::new();
    for seed in seeds {
        let mut play = Play::begin(seed).await;
        for _ in 0..ACTIONS {
            play.act().await;
            play.check();
        }
        play.calm_down().await;
        play.check_the_end();
        if !play.faults.is_empty() {
            failed.push(format!("seed {seed}: {:#?}\n{:#?}", play.faults, play.log));
        }
    }
    assert!(
        failed.is_empty(),
        "{} plays fail: {}",
        failed.len(),
        failed[0]
    );
}

/// More seeds, or a single one again, where somebody looks for a fault.
fn wanted(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

struct Play {
    world: World,
    session: Session,
    chance: Chance,
    log: Vec<String>,
    faults: Vec<String>,
    /// The value that a client wrote last beside the goal.
    pins: u64,
    /// Events may be lost in this play, so a sibling's write may be, too.
    gaps: bool,
    /// No engine of another machine drives as well; each tells its own user of the end.
    alone: bool,
    /// How many continuations there were when a pause was confirmed.
    paused_at: Option<Vec<MessageId>>,
    connected: bool,
    up: bool,
    asking: bool,
}

impl Play {
    async fn begin(seed: u64) -> Self {
        let world = World::new();
        let session = world.session("s");
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let _ = session.user_says("go");
        session.goal("make the tests pass");
        world.engine_starts().await;
        let gaps = chance.of(2) == 0;
        let alone = chance.of(4) != 0;
        if !alone {
            world.engine_starts_elsewhere().await;
        }
        Self {
            world,
            session,
            chance,
            log: Vec::new(),
            faults: Vec::new(),
            pins: 0,
            gaps,
            alone,
            paused_at: None,
            connected: true,
            up: true,
            asking: false,
        }
    }

    async fn act(&mut self) {
        let action = self.chance.of(20);
        self.note(&format!("action {action}"));
        match action {
            0..=2 => self.time_passes().await,
            3 | 4 => self.until_a_call().await,
            5..=8 => self.agent_acts(),
            9 | 10 => self.user_acts(),
            11 => self.user_pauses().await,
            12 | 13 => self.user_resumes().await,
            14 => self.client_writes(),
            15 | 16 => self.call_fails(),
            17 => self.auditor_answers(),
            18 => self.line_changes(),
            _ => self.engine_restarts().await,
        }
        let pause = [0, 1, 3, 8, 60][self.at(5)];
        let pause = self.chance.of(pause + 1);
        self.world.passes(Duration::from_millis(pause)).await;
    }

    async fn time_passes(&mut self) {
        let scale = [10, 400, 3_000, 16_000, 70_000][self.at(5)];
        let ms = self.chance.of(scale);
        self.note(&format!("{ms} ms pass"));
        self.world.passes(Duration::from_millis(ms)).await;
    }

    /// Time passes until the engine makes a certain call, so that what comes next lands within a
    /// cycle.
    async fn until_a_call(&mut self) {
        let calls = [
            Call::Session,
            Call::Messages,
            Call::Write,
            Call::Prompt,
            Call::Abort,
        ];
        let call = calls[self.at(calls.len())];
        self.note(&format!("until {call:?}"));
        let before = self.world.count(call);
        for _ in 0..4_000 {
            if self.world.count(call) > before {
                break;
            }
            self.world.passes(Duration::from_millis(5)).await;
        }
    }

    fn agent_acts(&mut self) {
        if !self.session.is_busy() || !self.up {
            return;
        }
        let session = self.session.clone();
        let action = self.chance.of(12);
        self.note(&format!("agent {action}"));
        if std::mem::take(&mut self.asking) {
            session.user_allows();
        }
        match action {
            0..=4 => session.assistant_finishes("some of it"),
            5 | 6 => session.assistant_uses_tool("bash", "ls"),
            7 => session.assistant_truncated(),
            8 => session.assistant_says_nothing(),
            9 => session.compacts_by_itself(),
            10 => {
                session.provider_retries();
            }
            _ => {
                session.asks_permission("bash");
                self.asking = true;
            }
        }
    }

    fn user_acts(&mut self) {
        if !self.up {
            return;
        }
        match self.chance.of(4) {
            0 => {
                self.note("user aborts");
                self.session.user_aborts();
                self.asking = false;
            }
            1 => {
                self.note("client pauses");
                self.session
                    .client_edits_goal(json!({ "status": "paused" }));
            }
            _ => {
                self.note("user says");
                let _ = self.session.user_says("and that, too");
            }
        }
    }

    async fn user_pauses(&mut self) {
        let paused = self.world.engine().pause(self.session.id()).await;
        self.note(&format!("pause: {}", paused.is_ok()));
        if paused.is_ok() && self.status() == Status::Paused {
            self.paused_at = Some(self.sent());
        }
    }

    async fn user_resumes(&mut self) {
        let by_client = self.chance.of(3) == 0;
        self.check();
        self.paused_at = None;
        if by_client && self.status() != Status::Complete && self.up {
            self.note("client resumes");
            self.session.client_resumes();
        } else {
            let resumed = self.world.engine().resume(self.session.id(), None).await;
            self.note(&format!("resume: {}", resumed.is_ok()));
        }
    }

    fn client_writes(&mut self) {
        self.pins += 1;
        let pins = self.pins;
        self.note(&format!("pins {pins}"));
        self.session
            .client_writes(|metadata| metadata["pins"] = json!(pins));
    }

    fn call_fails(&mut self) {
        let calls = [
            Call::Session,
            Call::Write,
            Call::Status,
            Call::Children,
            Call::Messages,
            Call::MessageExists,
            Call::Prompt,
            Call::Prompt,
            Call::Write,
            Call::Abort,
        ];
        let call = calls[self.at(calls.len())];
        let faults = [
            Fault::status_500(),
            Fault::not_sent(),
            Fault::lost(),
            Fault::answer_lost(),
            Fault::effective_500(),
            Fault::slow(Duration::from_millis(self.chance.of(4_000))),
            Fault::slow_answer(Duration::from_millis(self.chance.of(4_000))),
        ];
        let fault = faults[self.at(faults.len())].clone();
        self.note(&format!("{call:?} {fault:?}"));
        self.world.next(call, fault);
    }

    fn auditor_answers(&mut self) {
        match self.chance.of(3) {
            0 => self.world.auditor_fails(AuditFailure::Provider),
            1 => self.world.auditor_says(VerdictKind::Blocked, "no compiler"),
            _ => self.world.auditor_says(VerdictKind::Continue, "go on"),
        }
    }

    fn line_changes(&mut self) {
        if !self.gaps {
            return;
        }
        let what = (self.connected, self.up, self.chance.of(2));
        self.note(&format!("line {what:?}"));
        match what {
            (true, true, 0) => {
                self.world.server_dies();
                (self.up, self.connected) = (false, false);
            }
            (true, true, _) => {
                self.world.stream_breaks();
                self.connected = false;
            }
            (_, false, _) => {
                self.world.server_returns();
                (self.up, self.connected) = (true, true);
            }
            (false, true, _) => {
                self.world.stream_returns();
                self.connected = true;
            }
        }
        self.asking &= self.up;
    }

    async fn engine_restarts(&mut self) {
        if !self.gaps {
            return;
        }
        self.note("engine restarts");
        if self.chance.of(2) == 0 {
            self.world.engine_crashes();
        } else {
            self.world.engine_ends().await;
        }
        self.time_passes().await;
        self.world.engine_starts().await;
        if self.up {
            self.connected = true;
        }
    }

    fn check(&mut self) {
        let sent = self.session.continuations();
        for prompt in &sent {
            if prompt.texts.len() != 1 {
                self.fault(&format!("{} has several parts", prompt.message));
            }
        }
        let before = self.paused_at.clone();
        if before.is_some_and(|before| self.sent().iter().any(|id| !before.contains(id))) {
            self.fault("a prompt was stored after a pause was confirmed");
        }
    }

    /// Nothing fails any more, and the user wants the goal to go on.
    async fn calm_down(&mut self) {
        self.note("calm");
        self.world.heals();
        if !self.up {
            self.world.server_returns();
        } else if !self.connected {
            self.world.stream_returns();
        }
        self.world.passes(Duration::from_secs(30)).await;
        self.check();
        self.paused_at = None;
        let begin = self.world.age();
        let mut turns = 0;
        while self.status() != Status::Complete {
            if self.world.age() - begin > CALM {
                let why = self.session.view().map(|view| (view.phase, view.why));
                self.fault(&format!("no end: {:?} {why:?}", self.status()));
                return;
            }
            if self.session.is_busy() {
                if std::mem::take(&mut self.asking) {
                    self.session.user_allows();
                }
                self.session.assistant_finishes("all of it");
                turns += 1;
            } else {
                self.encourage().await;
            }
            if turns >= 3 {
                self.world.auditor_says(VerdictKind::Complete, "verified");
            }
            self.world.passes(Duration::from_secs(20)).await;
        }
        self.world.passes(Duration::from_secs(600)).await;
    }

    /// The user looks in from time to time, and resumes what waits for that.
    async fn encourage(&mut self) {
        let view = self.session.view();
        let waits = view.is_some_and(|view| {
            ["userPending", "stalled", "paused", "blocked"].contains(&view.why.as_str())
        });
        if waits {
            let resumed = self.world.engine().resume(self.session.id(), None).await;
            self.note(&format!("calm resume: {}", resumed.is_ok()));
        }
    }

    fn check_the_end(&mut self) {
        let told = self.world.notices();
        let complete = |code: &NoticeCode| *code == NoticeCode::GoalComplete;
        let ends = told.iter().filter(|notice| complete(&notice.code)).count();
        let right = ends == 1 || (ends == 2 && !self.alone);
        if self.status() == Status::Complete && !right {
            self.fault(&format!("the end was told {ends} times"));
        }
        if self.world.open_audits() > 0 {
            self.fault("an audit session was left behind");
        }
        let pins = self.session.metadata()["pins"].as_u64().unwrap_or_default();
        if self.alone && !self.gaps && pins != self.pins {
            self.fault(&format!("pins are {pins}, not {}", self.pins));
        }
    }

    fn status(&self) -> Status {
        self.session.the_goal().status
    }

    fn sent(&self) -> Vec<MessageId> {
        let sent = self.session.continuations().into_iter();
        sent.map(|prompt| prompt.message).collect()
    }

    fn at(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(1);
        usize::try_from(self.chance.of(length)).unwrap_or(0)
    }

    fn note(&mut self, what: &str) {
        let line = format!("{:?} {what} [{:?}]", self.world.age(), self.status());
        self.log.push(line);
    }

    fn fault(&mut self, what: &str) {
        let what = what.to_owned();
        self.note(&format!("FAULT {what}"));
        if !self.faults.contains(&what) {
            self.faults.push(what);
        }
    }
}

/// Chance from a seed: xorshift.
struct Chance(u64);

impl Chance {
    /// A number below `limit`.
    fn of(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}
