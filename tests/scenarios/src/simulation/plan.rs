//! A seed becomes a play.
//!
//! Half of the seeds aim at one moment of a cycle (`aims`). Each of the others switches whole
//! classes of events off and gives the rest weights of its own: where everything may happen all
//! the time, nothing goes deep.

use super::aims::aimed;
use super::chance::Chance;
use super::steps::{
    Agent, Auditor, Client, Computer, Database, Engine, Line, Mishap, Play, Point, Server, Setup,
    Step, User,
};

/// Steps of a play before everybody calms down, the passing of time not counted.
const STEPS: u64 = 70;

/// The play of a seed.
#[must_use]
pub fn play_of(seed: u64) -> Play {
    let mut chance = Chance::new(seed);
    if chance.of(2) == 0 {
        return aimed(&mut chance);
    }
    let weights = Weights::drawn(&mut chance);
    let setup = Setup {
        rival: weights.rival > 0,
        budget: (chance.of(6) == 0).then(|| 5_000 + chance.of(20_000)),
        ids_backwards: chance.of(8) == 0,
        aborts_catch_prompts: chance.of(2) == 0,
    };
    let mut steps = Vec::new();
    let count = 10 + chance.of(STEPS - 10);
    let mut hurried = 0;
    for _ in 0..count {
        if hurried == 0 && chance.of(8) == 0 {
            // Several things within a second.
            hurried = 3 + chance.of(5);
        }
        let step = weights.step(&mut chance);
        let interjects = matches!(step, Step::Until(_)) && chance.of(2) == 0;
        steps.push(step);
        if interjects {
            // Between two calls of one cycle.
            steps.push(Step::Pass(chance.of(8)));
            steps.push(weights.interjection(&mut chance));
        }
        let pause = pause(&mut chance, hurried > 0);
        if pause > 0 {
            steps.push(Step::Pass(pause));
        }
        hurried = hurried.saturating_sub(1);
    }
    Play { setup, steps }
}

fn pause(chance: &mut Chance, hurried: bool) -> u64 {
    let scale = if hurried {
        [0, 1, 10, 100, 300][chance.at(5)]
    } else {
        [0, 3, 60, 3_000, 18_000][chance.at(5)]
    };
    chance.of(scale + 1)
}

/// How often each class of events comes; 0: never in this play.
struct Weights {
    time: u64,
    until: u64,
    agent: u64,
    user: u64,
    client: u64,
    call: u64,
    line: u64,
    server: u64,
    engine: u64,
    computer: u64,
    auditor: u64,
    database: u64,
    rival: u64,
}

impl Weights {
    fn drawn(chance: &mut Chance) -> Self {
        let mut faults = || {
            if chance.of(5) < 2 {
                1 + chance.of(6)
            } else {
                0
            }
        };
        let (call, line, server, engine) = (faults(), faults(), faults(), faults());
        let (computer, auditor, database, client) = (faults(), faults(), faults(), faults());
        Self {
            time: 2 + chance.of(3),
            until: 1 + chance.of(3),
            agent: 4 + chance.of(4),
            user: chance.of(8),
            client,
            call,
            line,
            server,
            engine,
            computer,
            auditor,
            database,
            rival: u64::from(chance.of(5) == 0),
        }
    }

    /// Somebody wants something else at this moment.
    fn interjection(&self, chance: &mut Chance) -> Step {
        if chance.of(self.user + self.client + 1) < self.client {
            client(chance)
        } else {
            user(chance)
        }
    }

    fn step(&self, chance: &mut Chance) -> Step {
        type Draw = fn(&mut Chance) -> Step;
        let rival: Draw = |chance| {
            let all = [Engine::RivalIsKilled, Engine::RivalStarts];
            Step::Engine(all[chance.at(all.len())])
        };
        let classes: [(u64, Draw); 13] = [
            (self.time, time),
            (self.until, until),
            (self.agent, agent),
            (self.user, user),
            (self.client, client),
            (self.call, call),
            (self.line, line),
            (self.server, server),
            (self.engine, engine),
            (self.computer, computer),
            (self.auditor, auditor),
            (self.database, database),
            (self.rival, rival),
        ];
        let mut left = chance.of(classes.iter().map(|(weight, _)| weight).sum());
        for (weight, draw) in classes {
            if left < weight {
                return draw(chance);
            }
            left -= weight;
        }
        Step::Pass(1)
    }
}

fn time(chance: &mut Chance) -> Step {
    let scale = [400, 3_000, 16_000, 70_000][chance.at(4)];
    Step::Pass(1 + chance.of(scale))
}

fn until(chance: &mut Chance) -> Step {
    let all = [
        Point::Session,
        Point::Messages,
        Point::Write,
        Point::Prompt,
        Point::Abort,
    ];
    Step::Until(all[chance.at(all.len())])
}

fn agent(chance: &mut Chance) -> Step {
    let all = [
        Agent::Finishes,
        Agent::Finishes,
        Agent::Finishes,
        Agent::Finishes,
        Agent::Works,
        Agent::Works,
        Agent::IsCutOff,
        Agent::SaysNothing,
        Agent::Compacts,
        Agent::IsRetried,
        Agent::Fails,
        Agent::Asks,
        Agent::Delegates,
        Agent::SubagentsRest,
    ];
    Step::Agent(all[chance.at(all.len())])
}

fn user(chance: &mut Chance) -> Step {
    let all = [
        User::Says,
        User::Says,
        User::Stops,
        User::Stops,
        User::Pauses,
        User::Pauses,
        User::Resumes,
        User::Resumes,
        User::Resumes,
        User::Edits,
        User::Allows,
        User::Declines,
        User::Reverts(1 + u8::try_from(chance.of(4)).unwrap_or(0)),
        User::Restores,
        User::Starts,
        User::Clears,
        User::Completes,
    ];
    // What ends a goal comes less often than the rest.
    let length = if chance.of(3) == 0 {
        all.len()
    } else {
        all.len() - 3
    };
    Step::User(all[chance.at(length)])
}

fn client(chance: &mut Chance) -> Step {
    let all = [
        Client::Pins,
        Client::Pins,
        Client::Pins,
        Client::Pauses,
        Client::Resumes,
        Client::Resumes,
        Client::Forks,
        Client::Replaces,
        Client::Clears,
    ];
    Step::Client(all[chance.at(all.len())])
}

fn call(chance: &mut Chance) -> Step {
    let ms = chance.of(4_000);
    if chance.of(2) == 0 {
        let all = [
            Mishap::Swallowed,
            Mishap::StoredOnly,
            Mishap::Late(1_000 + 5 * ms),
            Mishap::ErrorStored,
            Mishap::ErrorOnly,
            Mishap::Refused,
            Mishap::AnswerLost,
            Mishap::FailsAfterwards,
        ];
        return Step::Call(Point::Prompt, all[chance.at(all.len())]);
    }
    let all = [
        Mishap::Fails,
        Mishap::FailsAfterwards,
        Mishap::NotSent,
        Mishap::Lost,
        Mishap::AnswerLost,
        Mishap::Slow(ms),
        Mishap::SlowAnswer(ms),
    ];
    let point = Point::ALL[chance.at(Point::ALL.len())];
    Step::Call(point, all[chance.at(all.len())])
}

fn line(chance: &mut Chance) -> Step {
    let count = 1 + u8::try_from(chance.of(6)).unwrap_or(0);
    let all = [
        Line::Loses(count),
        Line::Doubles(count),
        Line::Delays(count, 1 + chance.of(40)),
        Line::Delays(count, 1_000 + chance.of(20_000)),
        Line::Breaks,
        Line::Returns,
        Line::FallsSilent,
    ];
    Step::Line(all[chance.at(all.len())])
}

fn server(chance: &mut Chance) -> Step {
    let all = [
        Server::Dies,
        Server::Returns,
        Server::Returns,
        Server::Reloads,
    ];
    Step::Server(all[chance.at(all.len())])
}

fn engine(chance: &mut Chance) -> Step {
    let all = [
        Engine::IsKilled(0),
        Engine::IsKilled(1 + chance.of(60)),
        Engine::IsKilled(1 + chance.of(20)),
        Engine::Ends,
        Engine::Starts,
        Engine::Starts,
        Engine::Starts,
    ];
    Step::Engine(all[chance.at(all.len())])
}

fn computer(chance: &mut Chance) -> Step {
    let sleep = [20_000, 600_000, 30_000_000][chance.at(3)];
    let set = i64::try_from(chance.of(600_000)).unwrap_or(0) - 300_000;
    Step::Computer(match chance.of(3) {
        0 => Computer::IsSet(set),
        _ => Computer::Sleeps(1 + chance.of(sleep)),
    })
}

fn auditor(chance: &mut Chance) -> Step {
    let all = [
        Auditor::SaysContinue,
        Auditor::SaysBlocked,
        Auditor::SaysBlocked,
        Auditor::SaysComplete,
        Auditor::TalksNonsense,
        Auditor::TalksForeign,
        Auditor::Fails,
        Auditor::IsDead,
        Auditor::Takes(1 + chance.of(60_000)),
        Auditor::Takes(1 + chance.of(500)),
    ];
    Step::Auditor(all[chance.at(all.len())])
}

fn database(chance: &mut Chance) -> Step {
    let all = [Database::IsLocked, Database::IsDamaged, Database::Heals];
    Step::Database(all[chance.at(all.len())])
}
