//! Plays a play: a world under paused time, the steps one after the other, then calm.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use goal_core::goal::{Goal, Status};
use goal_core::judge::AuditFailure;
use goal_core::verdict::VerdictKind;
use goal_engine::view::Phase;
use serde_json::json;
use testkit::world::{Session, Wish, World};

use super::metadata::EXTRA;
use super::reference::{Breach, Law, Look, Reference, Tolerance, foreign};
use super::steps::{
    Agent, Auditor, Client, Computer, Database, Engine, Line, Play, Server, Step, User,
};

/// How long a calm goal may take to its end.
const CALM: Duration = Duration::from_hours(6);

/// What became of a play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What was broken; empty if all is well.
    pub breaches: Vec<Breach>,
    /// What happened, a line for each step.
    pub log: Vec<String>,
}

impl Outcome {
    /// The first invariant that was broken.
    #[must_use]
    pub fn law(&self) -> Option<Law> {
        self.breaches.first().map(|breach| breach.law)
    }
}

/// Plays it, on this thread. Never panics: a panic is a breach, too.
#[must_use]
pub fn run(play: &Play) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => panic!("no runtime: {error}"),
    };
    let played = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let outcome = runtime.block_on(perform(play));
        drop(runtime);
        outcome
    }));
    played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome {
            breaches: vec![Breach {
                law: Law::NoPanic,
                how: text.unwrap_or_default(),
            }],
            log: Vec::new(),
        }
    })
}

async fn perform(play: &Play) -> Outcome {
    let mut scene = Scene::begins(play).await;
    for step in &play.steps {
        scene.plays(step).await;
        scene.judges(false);
        if !scene.reference.breaches().is_empty() {
            return scene.ends();
        }
    }
    scene.calms_down().await;
    scene.ends()
}

struct Scene {
    world: World,
    session: Session,
    reference: Reference,
    log: Vec<String>,
    /// The value that a client wrote last beside the goal.
    pins: u64,
    children: Vec<Session>,
    forks: usize,
    asking: bool,
    encouraged: u32,
    line_down: bool,
    /// How far the clock of this machine is ahead of the server's, in milliseconds.
    ahead: i64,
}

impl Scene {
    async fn begins(play: &Play) -> Self {
        let world = World::new();
        let session = world.session("s");
        if play.setup.ids_backwards {
            world.ids_run_backwards();
        }
        if play.setup.aborts_catch_prompts {
            world.aborts_catch_fresh_prompts();
        }
        let _ = session.user_says("go");
        session.client_writes(|metadata| metadata["other"] = foreign());
        let fields = json!({ EXTRA: { "hue": [1, 2.0] }, "tokenBudget": play.setup.budget });
        session.goal_with("make the tests pass", fields);
        let tolerance = Tolerance::of(play);
        let mut scene = Self {
            reference: Reference::new(session.id().as_str(), tolerance),
            world,
            session,
            log: Vec::new(),
            pins: 0,
            children: Vec::new(),
            forks: 0,
            asking: false,
            encouraged: 0,
            line_down: false,
            ahead: 0,
        };
        scene.world.engine_starts().await;
        if play.setup.rival {
            scene.rival_starts().await;
        }
        scene
    }

    async fn plays(&mut self, step: &Step) {
        self.notes(step);
        match step {
            Step::Pass(ms) => self.world.passes(Duration::from_millis(*ms)).await,
            Step::Until(point) => {
                let most = Duration::from_secs(20);
                self.world.passes_until(point.call(), most).await;
            }
            Step::Agent(agent) => self.agent(*agent),
            Step::User(user) => self.user(*user),
            Step::Client(client) => self.client(*client),
            Step::Call(point, mishap) => self.world.next(point.call(), mishap.fault()),
            Step::Line(line) => self.line(*line),
            Step::Server(server) => self.server(*server).await,
            Step::Engine(engine) => self.engine(*engine).await,
            Step::Computer(Computer::Sleeps(ms)) => self.world.sleeps(Duration::from_millis(*ms)),
            Step::Computer(Computer::IsSet(by)) => {
                self.world.clock_jumps(*by);
                self.ahead += by;
            }
            Step::Auditor(auditor) => self.auditor(*auditor),
            Step::Database(Database::IsLocked) => self.world.database_is_locked(),
            Step::Database(Database::IsDamaged) => self.world.database_is_damaged(),
            Step::Database(Database::Heals) => self.world.database_heals(),
        }
    }

    fn agent(&mut self, agent: Agent) {
        if agent == Agent::SubagentsRest {
            self.subagents_rest();
            return;
        }
        let session = self.session.clone();
        if !session.is_busy() || !self.world.server_is_up() {
            return;
        }
        if std::mem::take(&mut self.asking) {
            session.user_allows();
        }
        match agent {
            Agent::Finishes => session.assistant_finishes("some of it"),
            Agent::Works => session.assistant_uses_tool("bash", "ls"),
            Agent::IsCutOff => session.assistant_truncated(),
            Agent::SaysNothing => session.assistant_says_nothing(),
            Agent::Compacts => session.compacts_by_itself(),
            Agent::IsRetried => session.provider_retries(),
            Agent::Fails => session.assistant_fails("APIError", "no credit"),
            Agent::Asks => {
                session.asks_permission("bash");
                self.asking = true;
            }
            Agent::Delegates => {
                let name = format!("child{}", self.children.len());
                self.children.push(session.starts_subagent(&name));
            }
            Agent::SubagentsRest => {}
        }
    }

    fn subagents_rest(&mut self) {
        if self.world.server_is_up() {
            for child in self.children.iter().filter(|child| child.is_busy()) {
                child.assistant_finishes("my part");
            }
        }
    }

    fn user(&mut self, user: User) {
        let session = self.session.clone();
        let wish = match user {
            User::Pauses => Wish::Pause,
            User::Resumes => Wish::Resume,
            User::Edits => Wish::Edit,
            User::Completes => Wish::Complete,
            User::Clears => Wish::Clear,
            User::Starts => Wish::Start,
            User::Says
            | User::Stops
            | User::Reverts(_)
            | User::Restores
            | User::Allows
            | User::Declines => {
                self.user_in_session(user);
                return;
            }
        };
        session.user_wishes(wish);
    }

    /// What needs the server.
    fn user_in_session(&mut self, user: User) {
        if !self.world.server_is_up() {
            return;
        }
        let session = self.session.clone();
        match user {
            User::Says => {
                let _ = session.user_says("and that, too");
            }
            User::Stops => {
                session.user_aborts();
                self.asking = false;
            }
            User::Reverts(back) if !session.is_busy() => {
                let messages = session.sequence();
                let place = messages.len().saturating_sub(usize::from(back));
                if let Some(message) = messages.get(place.max(1)) {
                    session.user_reverts(&message.message);
                }
            }
            User::Restores => session.user_restores(),
            User::Allows if std::mem::take(&mut self.asking) => session.user_allows(),
            User::Declines if self.asking && session.is_busy() => {
                self.asking = false;
                session.user_declines();
            }
            User::Reverts(_)
            | User::Allows
            | User::Declines
            | User::Pauses
            | User::Resumes
            | User::Edits
            | User::Completes
            | User::Clears
            | User::Starts => {}
        }
    }

    fn client(&mut self, client: Client) {
        let goal = self.session.stored_goal();
        let open = goal.is_some_and(|goal| goal.status != Status::Complete);
        if !self.world.server_is_up() {
            return;
        }
        match client {
            Client::Pins => {
                self.pins += 1;
                let pins = self.pins;
                self.session
                    .client_writes(|metadata| metadata["pins"] = json!(pins));
            }
            Client::Pauses if open => {
                self.session
                    .client_edits_goal(json!({ "status": "paused", "statusReason": "" }));
            }
            Client::Resumes if open => self.session.client_resumes(),
            Client::Replaces => self.session.goal("do something else"),
            Client::Clears => self.session.client_clears(),
            Client::Forks => {
                self.forks += 1;
                let _ = self.session.user_forks(&format!("fork{}", self.forks));
            }
            Client::Pauses | Client::Resumes => {}
        }
    }

    fn line(&mut self, line: Line) {
        match line {
            Line::Loses(count) => self.world.events_are_lost(usize::from(count)),
            Line::Doubles(count) => self.world.events_are_doubled(usize::from(count)),
            Line::Delays(count, ms) => {
                let by = Duration::from_millis(ms);
                self.world.events_are_late(usize::from(count), by);
            }
            Line::Breaks if self.world.server_is_up() => {
                self.world.stream_breaks();
                self.line_down = true;
            }
            Line::Returns if self.world.server_is_up() => self.line_returns(),
            Line::FallsSilent if !self.line_down => self.world.stream_falls_silent(),
            Line::Breaks | Line::Returns | Line::FallsSilent => {}
        }
    }

    fn line_returns(&mut self) {
        if std::mem::take(&mut self.line_down) {
            self.world.stream_returns();
        }
    }

    async fn server(&mut self, server: Server) {
        match server {
            Server::Dies if self.world.server_is_up() => {
                self.world.server_dies();
                self.reference.server_dies();
                (self.line_down, self.asking) = (true, false);
            }
            Server::Returns if !self.world.server_is_up() => {
                self.world.server_returns();
                self.line_down = false;
            }
            Server::Reloads if self.world.server_is_up() => self.world.server_reloads().await,
            Server::Dies | Server::Returns | Server::Reloads => {}
        }
    }

    async fn engine(&mut self, engine: Engine) {
        let lives = self.world.engine_lives(false);
        match engine {
            Engine::IsKilled(steps) if lives => self.world.engine_is_killed(steps),
            Engine::Ends if lives => self.world.host_ends().await,
            Engine::Starts if !lives => {
                self.world.engine_starts().await;
            }
            Engine::RivalIsKilled => self.world.rival_is_killed(),
            Engine::RivalStarts if !self.world.engine_lives(true) => self.rival_starts().await,
            Engine::IsKilled(_) | Engine::Ends | Engine::Starts | Engine::RivalStarts => {}
        }
    }

    async fn rival_starts(&mut self) {
        let number = self.world.engine_starts_elsewhere().await;
        self.reference.is_elsewhere(number);
    }

    fn auditor(&mut self, auditor: Auditor) {
        let world = &self.world;
        match auditor {
            Auditor::SaysContinue => world.auditor_says(VerdictKind::Continue, "go on"),
            Auditor::SaysBlocked => world.auditor_says(VerdictKind::Blocked, "no compiler"),
            Auditor::SaysComplete => world.auditor_says(VerdictKind::Complete, "verified"),
            Auditor::TalksNonsense => world.auditor_replies("I would rather not {"),
            Auditor::TalksForeign => {
                world.auditor_replies(
                    "```json\n{\"verdict\":\"continue\",\"note\":\"дальше\"}\n```",
                );
            }
            Auditor::Fails => world.auditor_fails(AuditFailure::Provider),
            Auditor::IsDead => world.auditor_is_silent(),
            Auditor::Takes(ms) => world.audits_take(Duration::from_millis(ms)),
        }
    }

    fn judges(&mut self, calm: bool) {
        for fact in self.world.facts() {
            self.reference.hears(&fact);
        }
        let look = Look {
            at: self.world.age(),
            status: self.session.stored_goal().map(|goal| goal.status),
            works_on: self.session.works_on(),
            sequence: self.session.sequence(),
            view: self.world.shown(self.session.id()),
            driven: self.world.line_is_up(),
            wall: self.world.wall(),
            calm,
        };
        self.reference.looks(&look);
    }

    /// Nothing fails any more, and the user wants the goal to go on.
    async fn calms_down(&mut self) {
        self.log.push("calm".to_owned());
        self.heals().await;
        self.passes(30).await;
        let open = self.session.stored_goal();
        if open.is_none_or(|goal| goal.status == Status::Complete) {
            self.session.goal("begin once more");
        }
        let begin = self.world.age();
        let mut turns = 0;
        while self.status() != Some(Status::Complete) {
            if self.world.age() - begin > CALM || !self.reference.breaches().is_empty() {
                self.never_ends();
                return;
            }
            if self.session.is_busy() {
                self.agent(Agent::Finishes);
                turns += 1;
            } else {
                self.subagents_rest();
                self.encourages();
            }
            if turns >= 3 {
                self.world.auditor_says(VerdictKind::Complete, "verified");
            }
            self.passes(20).await;
        }
        // Left-over audits are found by the first look after their time has passed, by whichever
        // clock it was written down and is read.
        let behind = Duration::from_millis(self.ahead.unsigned_abs());
        self.passes(600 + behind.as_secs()).await;
        self.world.stream_breaks();
        self.passes(1).await;
        self.world.stream_returns();
        self.passes(20).await;
        self.judges_the_end();
    }

    async fn heals(&mut self) {
        self.world.heals();
        self.world.events_are_sound();
        self.world.database_heals();
        self.world.auditor_recovers();
        self.world.engine_is_spared();
        self.server(Server::Returns).await;
        self.line_returns();
        self.engine(Engine::Starts).await;
    }

    async fn passes(&mut self, secs: u64) {
        self.world.passes(Duration::from_secs(secs)).await;
        self.judges(true);
    }

    /// The user looks in from time to time, and resumes what waits for that.
    fn encourages(&mut self) {
        let stopped = self.status().is_some_and(Status::can_resume);
        let shown = self.world.shown(self.session.id());
        let why = shown.as_ref().map_or("", |view| view.why.as_str());
        // An engine that missed an event for good may show a goal as it no longer is, or none.
        let waits = ["userPending", "stalled", "rewound", "needsClick"].contains(&why)
            || shown
                .as_ref()
                .is_none_or(|view| view.phase == Phase::Settled);
        if why == "noAssistantYet" {
            let _ = self.session.user_says("begin again");
        }
        let goal = self.session.stored_goal();
        let spent = |goal: Goal| {
            goal.token_budget
                .is_some_and(|most| goal.tokens_used >= most)
        };
        if stopped && goal.is_some_and(spent) {
            self.session.client_edits_goal(json!({
                "tokenBudget": null, "status": "active", "statusReason": "resumed",
                "turnsUsed": 0, "blockedStreak": 0, "auditFailStreak": 0,
            }));
        } else if stopped || waits {
            // No Resume goes over a turn that failed: something has to be said.
            self.encouraged += 1;
            if self.encouraged.is_multiple_of(3) {
                let _ = self.session.user_says("try again");
            }
            self.session.user_wishes(Wish::Resume);
        }
    }

    fn never_ends(&mut self) {
        if self.reference.breaches().is_empty() {
            let view = self.world.shown(self.session.id());
            let shown = view.map(|view| (view.phase, view.why, view.detail));
            let how = format!("{:?} {shown:?}", self.status());
            self.reference.breach(Law::Ends, how);
        }
    }

    fn judges_the_end(&mut self) {
        if let Some(goal) = self.session.stored_goal()
            && self.reference.told(&goal.id) == 0
        {
            self.reference.breach(Law::ToldOnce, "the end was not told");
        }
        let left = self.world.open_audits();
        if left > 0 {
            let how = format!("{left} audit sessions are left");
            self.reference.breach(Law::NoAuditLeft, how);
        }
        let metadata = self.session.metadata();
        if metadata["other"] != foreign() {
            let how = format!("{} is left", metadata["other"]);
            self.reference.breach(Law::ForeignSurvives, how);
        }
        let pins = metadata["pins"].as_u64().unwrap_or_default();
        if self.reference.siblings_hold() && pins != self.pins {
            let how = format!("pins are {pins}, not {}", self.pins);
            self.reference.breach(Law::ForeignSurvives, how);
        }
    }

    fn status(&self) -> Option<Status> {
        self.session.stored_goal().map(|goal| goal.status)
    }

    fn notes(&mut self, step: &Step) {
        let status = self.status();
        let at = self.world.age();
        self.log.push(format!("{at:?} {step:?} [{status:?}]"));
    }

    fn ends(mut self) -> Outcome {
        let decisions = self.world.decisions();
        self.log.push(format!("decided: {decisions:?}"));
        Outcome {
            breaches: self.reference.breaches().to_vec(),
            log: self.log,
        }
    }
}
