//! Plays that are short and aimed: at one moment of a cycle, with what hurts there.
//!
//! A defect that needs three things within a few milliseconds is not met by chance among seventy
//! steps of everything. Each aim brings a cycle to such a moment; half of the plays have only
//! people in them, so that the model may demand the most.

use super::chance::Chance;
use super::steps::{
    Agent, Auditor, Client, Engine, Line, Mishap, Play, Point, Server, Setup, Step, User,
};

/// Aims of one play at most.
const AIMS: u64 = 4;

/// An aimed play.
pub(super) fn aimed(chance: &mut Chance) -> Play {
    let setup = Setup {
        rival: chance.of(12) == 0,
        budget: (chance.of(12) == 0).then(|| 5_000 + chance.of(20_000)),
        ids_backwards: chance.of(8) == 0,
        aborts_catch_prompts: chance.of(2) == 0,
    };
    type Aim = fn(&mut Chance, &mut Vec<Step>);
    let people: [Aim; 4] = [stops_a_turn, stops_a_prompt, cuts_in, cuts_into_an_audit];
    let faults: [Aim; 6] = [
        kills_in_an_audit,
        changes_unheard,
        reads_fail,
        write_is_lost,
        prompt_is_lost,
        stops_while_down,
    ];
    let faulty = chance.of(2) == 0;
    let mut steps = Vec::new();
    for number in 0..1 + chance.of(AIMS) {
        if number > 0 {
            steps.push(Step::Until(Point::Prompt));
            steps.push(Step::Pass(50 + chance.of(200)));
        }
        if chance.of(4) == 0 {
            steps.push(Step::Auditor(verdict(chance)));
        }
        let aim = if faulty && chance.of(3) > 0 {
            faults[chance.at(faults.len())]
        } else {
            people[chance.at(people.len())]
        };
        aim(chance, &mut steps);
        steps.push(Step::Pass(chance.of(20_000)));
        if chance.of(2) == 0 {
            steps.push(Step::User(User::Resumes));
            steps.push(Step::Pass(chance.of(2_000)));
        }
    }
    Play { setup, steps }
}

fn verdict(chance: &mut Chance) -> Auditor {
    let all = [
        Auditor::SaysBlocked,
        Auditor::SaysComplete,
        Auditor::Fails,
        Auditor::IsDead,
        Auditor::Takes(1 + chance.of(30_000)),
    ];
    all[chance.at(all.len())]
}

fn stop(chance: &mut Chance) -> Step {
    let all = [
        Step::User(User::Pauses),
        Step::User(User::Pauses),
        Step::User(User::Stops),
        Step::User(User::Clears),
        Step::User(User::Completes),
        Step::Client(Client::Pauses),
    ];
    all[chance.at(all.len())].clone()
}

fn change(chance: &mut Chance) -> Step {
    let all = [
        Step::Client(Client::Replaces),
        Step::Client(Client::Replaces),
        Step::Client(Client::Pins),
        Step::Client(Client::Pauses),
        Step::Client(Client::Resumes),
        Step::Client(Client::Clears),
        Step::User(User::Edits),
        Step::User(User::Starts),
        Step::User(User::Says),
        Step::User(User::Reverts(1 + u8::try_from(chance.of(3)).unwrap_or(0))),
    ];
    if chance.of(2) == 0 {
        stop(chance)
    } else {
        all[chance.at(all.len())].clone()
    }
}

/// The turn of a continuation is at work, and is stopped.
fn stops_a_turn(chance: &mut Chance, steps: &mut Vec<Step>) {
    steps.push(Step::Agent(Agent::Finishes));
    steps.push(Step::Until(Point::Prompt));
    steps.push(Step::Pass(45 + chance.of(400)));
    steps.push(Step::Agent(match chance.of(3) {
        0 => Agent::Delegates,
        1 => Agent::Asks,
        _ => Agent::Works,
    }));
    steps.push(stop(chance));
    steps.push(Step::Pass(13_000 + chance.of(4_000)));
}

/// A prompt is on its way, and is stopped.
fn stops_a_prompt(chance: &mut Chance, steps: &mut Vec<Step>) {
    steps.push(Step::Agent(Agent::Finishes));
    steps.push(Step::Until(Point::Prompt));
    steps.push(Step::Pass(chance.of(50)));
    steps.push(stop(chance));
    steps.push(Step::Pass(13_000 + chance.of(4_000)));
}

/// Between two calls of a cycle somebody wants something else.
fn cuts_in(chance: &mut Chance, steps: &mut Vec<Step>) {
    let all = [
        Point::Session,
        Point::Status,
        Point::Children,
        Point::Messages,
        Point::Write,
        Point::Prompt,
    ];
    steps.push(Step::Agent(Agent::Finishes));
    for _ in 0..1 + chance.of(2) {
        steps.push(Step::Until(all[chance.at(all.len())]));
        steps.push(Step::Pass(chance.of(5)));
    }
    steps.push(change(chance));
}

/// While the auditor thinks somebody wants something else.
fn cuts_into_an_audit(chance: &mut Chance, steps: &mut Vec<Step>) {
    begins_an_audit(chance, steps);
    steps.push(change(chance));
}

/// While the auditor thinks the engine, or the server, is killed.
fn kills_in_an_audit(chance: &mut Chance, steps: &mut Vec<Step>) {
    begins_an_audit(chance, steps);
    match chance.of(4) {
        0 | 1 => steps.push(Step::Server(Server::Dies)),
        2 => steps.push(Step::Engine(Engine::IsKilled(chance.of(12)))),
        _ => steps.push(Step::Engine(Engine::Ends)),
    }
    steps.push(Step::Pass(chance.of(4_000)));
    if chance.of(2) == 0 {
        steps.push(change(chance));
        steps.push(Step::Pass(chance.of(2_000)));
    }
    steps.push(Step::Server(Server::Returns));
    steps.push(Step::Engine(Engine::Starts));
}

/// While the auditor thinks the goal becomes another, and nobody hears of it in time.
fn changes_unheard(chance: &mut Chance, steps: &mut Vec<Step>) {
    begins_an_audit(chance, steps);
    let count = 1 + u8::try_from(chance.of(3)).unwrap_or(0);
    steps.push(Step::Line(if chance.of(2) == 0 {
        Line::Loses(count)
    } else {
        Line::Delays(count, 1_000 + chance.of(9_000))
    }));
    steps.push(match chance.of(3) {
        0 => change(chance),
        _ => Step::Client(Client::Replaces),
    });
}

/// Sub-agents work, or the user's own turn does, and just then the reads fail that would tell.
fn reads_fail(chance: &mut Chance, steps: &mut Vec<Step>) {
    let points = [
        Point::Status,
        Point::Children,
        Point::Children,
        Point::Messages,
        Point::Session,
    ];
    let ways = [
        Mishap::Fails,
        Mishap::Fails,
        Mishap::NotSent,
        Mishap::Lost,
        Mishap::Slow(chance.of(9_000)),
    ];
    if chance.of(3) > 0 {
        steps.push(Step::Agent(Agent::Delegates));
        // Long enough that nobody may not know.
        steps.push(Step::Pass(31_000 + chance.of(5_000)));
    }
    steps.push(Step::Agent(Agent::Finishes));
    steps.push(Step::Pass(chance.of(14_000)));
    for _ in 0..1 + chance.of(3) {
        let way = ways[chance.at(ways.len())];
        steps.push(Step::Call(points[chance.at(points.len())], way));
    }
    steps.push(Step::Pass(16_000 + chance.of(40_000)));
    if chance.of(2) == 0 {
        steps.push(Step::Agent(Agent::SubagentsRest));
    }
}

/// A write, or its answer, is lost, and meanwhile somebody wants something else.
fn write_is_lost(chance: &mut Chance, steps: &mut Vec<Step>) {
    let ways = [
        Mishap::Lost,
        Mishap::AnswerLost,
        Mishap::Fails,
        Mishap::FailsAfterwards,
        Mishap::SlowAnswer(chance.of(9_000)),
        Mishap::Slow(chance.of(9_000)),
    ];
    let way = ways[chance.at(ways.len())];
    if chance.of(2) == 0 {
        steps.push(Step::Call(Point::Write, way));
        steps.push(change(chance));
    } else {
        steps.push(Step::Agent(Agent::Finishes));
        steps.push(Step::Call(Point::Write, way));
        steps.push(Step::Until(Point::Write));
    }
    steps.push(Step::Pass(chance.of(3_000)));
    steps.push(change(chance));
}

/// A prompt does not arrive as it should, and perhaps is stopped.
fn prompt_is_lost(chance: &mut Chance, steps: &mut Vec<Step>) {
    let ways = [
        Mishap::Swallowed,
        Mishap::StoredOnly,
        Mishap::Late(chance.of(20_000)),
        Mishap::ErrorOnly,
        Mishap::AnswerLost,
        Mishap::FailsAfterwards,
        Mishap::Lost,
    ];
    steps.push(Step::Agent(Agent::Finishes));
    steps.push(Step::Call(Point::Prompt, ways[chance.at(ways.len())]));
    if chance.of(4) == 0 {
        steps.push(Step::Call(Point::MessageExists, Mishap::Fails));
    }
    steps.push(Step::Until(Point::Prompt));
    steps.push(Step::Pass(chance.of(9_000)));
    if chance.of(2) == 0 {
        steps.push(stop(chance));
    }
}

/// The line is down, and the user stops what goes on behind it.
fn stops_while_down(chance: &mut Chance, steps: &mut Vec<Step>) {
    steps.push(Step::Line(Line::Breaks));
    steps.push(Step::Pass(chance.of(500)));
    for _ in 0..1 + chance.of(3) {
        steps.push(change(chance));
        steps.push(Step::Pass(chance.of(60)));
    }
    steps.push(Step::Agent(Agent::Finishes));
    steps.push(Step::Pass(chance.of(8_000)));
    steps.push(Step::Line(Line::Returns));
}

/// A turn is over, its quiet has passed, and the auditor was asked.
fn begins_an_audit(chance: &mut Chance, steps: &mut Vec<Step>) {
    steps.push(Step::Agent(Agent::Finishes));
    steps.push(Step::Until(Point::Messages));
    steps.push(Step::Pass(1 + chance.of(2_000)));
}
