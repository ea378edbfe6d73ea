//! What can happen, as data: a list of steps that can be kept, shortened and played again.
//!
//! A step that makes no sense where it comes (an agent that speaks while nothing runs) does
//! nothing, so that any part of a play is a play.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use testkit::world::{Call, Fault};

/// A play: how the world begins, and what happens then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Play {
    /// How the world begins.
    pub setup: Setup,
    /// What happens.
    pub steps: Vec<Step>,
}

/// How the world begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Setup {
    /// An engine of another machine drives as well.
    pub rival: bool,
    /// The goal has a budget of so many tokens.
    pub budget: Option<u64>,
    /// Later ids of the server sort before earlier ones.
    pub ids_backwards: bool,
    /// An abort before a prompt was taken up takes the prompt back.
    pub aborts_catch_prompts: bool,
}

/// Something happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// Milliseconds pass.
    Pass(u64),
    /// Time passes until an engine makes such a call, at most 20 s.
    Until(Point),
    /// The agent does something.
    Agent(Agent),
    /// The user does something, and does not wait for what comes of it.
    User(User),
    /// Another client does something.
    Client(Client),
    /// The next such call goes otherwise.
    Call(Point, Mishap),
    /// Something befalls the event stream.
    Line(Line),
    /// Something befalls the server.
    Server(Server),
    /// Something befalls the engine.
    Engine(Engine),
    /// Something befalls the computer, in milliseconds.
    Computer(Computer),
    /// The auditor's next answer, or its pace.
    Auditor(Auditor),
    /// Something befalls the database.
    Database(Database),
}

/// A call of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the calls")]
pub enum Point {
    Session,
    Write,
    Status,
    Children,
    Messages,
    MessageExists,
    Prompt,
    Abort,
    List,
}

impl Point {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Session,
        Self::Write,
        Self::Status,
        Self::Children,
        Self::Messages,
        Self::MessageExists,
        Self::Prompt,
        Self::Abort,
        Self::List,
    ];

    /// The call.
    #[must_use]
    pub fn call(self) -> Call {
        match self {
            Self::Session => Call::Session,
            Self::Write => Call::Write,
            Self::Status => Call::Status,
            Self::Children => Call::Children,
            Self::Messages => Call::Messages,
            Self::MessageExists => Call::MessageExists,
            Self::Prompt => Call::Prompt,
            Self::Abort => Call::Abort,
            Self::List => Call::List,
        }
    }
}

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mishap {
    /// The server answers 500 and did nothing.
    Fails,
    /// The server answers 500 and did it.
    FailsAfterwards,
    /// No connection came about.
    NotSent,
    /// It never arrives; the caller learns nothing until its deadline.
    Lost,
    /// It takes effect, and its answer is lost until the caller's deadline.
    AnswerLost,
    /// It arrives so many milliseconds late.
    Slow(u64),
    /// Its answer arrives so many milliseconds late.
    SlowAnswer(u64),
    /// It is answered well and has no effect: the 204 that stores nothing.
    Swallowed,
    /// A prompt is stored and never runs.
    StoredOnly,
    /// A prompt arrives so many milliseconds after its caller gave up.
    Late(u64),
    /// An error of the session comes instead of a turn; the message is stored all the same.
    ErrorStored,
    /// An error of the session comes instead of a turn, and nothing is stored.
    ErrorOnly,
    /// The server refuses it with a 4xx.
    Refused,
}

impl Mishap {
    /// As the world plays it.
    #[must_use]
    pub fn fault(self) -> Fault {
        let ms = Duration::from_millis;
        match self {
            Self::Fails => Fault::status_500(),
            Self::FailsAfterwards => Fault::effective_500(),
            Self::NotSent => Fault::not_sent(),
            Self::Lost => Fault::lost(),
            Self::AnswerLost => Fault::answer_lost(),
            Self::Slow(by) => Fault::slow(ms(by)),
            Self::SlowAnswer(by) => Fault::slow_answer(ms(by)),
            Self::Swallowed => Fault::swallowed(),
            Self::StoredOnly => Fault::stored_only(),
            Self::Late(by) => Fault::late(ms(by)),
            Self::ErrorStored => Fault::error_instead(true),
            Self::ErrorOnly => Fault::error_instead(false),
            Self::Refused => Fault::refused("no"),
        }
    }
}

/// What an agent does in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Agent {
    /// It says something and is done.
    Finishes,
    /// It uses a tool and goes on.
    Works,
    /// Its reply is cut off at the output limit.
    IsCutOff,
    /// It is done without a word.
    SaysNothing,
    /// Its context is full: it compacts and goes on.
    Compacts,
    /// Its provider fails and is tried again.
    IsRetried,
    /// Its provider fails for good.
    Fails,
    /// It asks for a permission.
    Asks,
    /// It starts a sub-agent.
    Delegates,
    /// Its sub-agents come to rest.
    SubagentsRest,
}

/// What a user does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum User {
    /// Types a message.
    Says,
    /// Stops what runs.
    Stops,
    /// Pauses the goal.
    Pauses,
    /// Resumes it.
    Resumes,
    /// Edits its objective.
    Edits,
    /// Marks it complete.
    Completes,
    /// Takes it out.
    Clears,
    /// Starts another one in its place.
    Starts,
    /// Rewinds the session by so many messages.
    Reverts(u8),
    /// Takes the rewind back.
    Restores,
    /// Allows what is asked.
    Allows,
    /// Refuses what is asked.
    Declines,
}

/// What another client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Client {
    /// Writes something beside the goal.
    Pins,
    /// Pauses the goal without stopping what runs.
    Pauses,
    /// Resumes it.
    Resumes,
    /// Puts another goal in its place.
    Replaces,
    /// Takes it out.
    Clears,
    /// Copies the session, goal and all.
    Forks,
}

/// What befalls the event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    /// So many events are lost.
    Loses(u8),
    /// So many arrive twice.
    Doubles(u8),
    /// So many arrive so many milliseconds late, behind those that follow them.
    Delays(u8, u64),
    /// It breaks, and stays down.
    Breaks,
    /// It is back.
    Returns,
    /// It dies without a word.
    FallsSilent,
}

/// What befalls the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    /// It is killed in the middle of whatever it does.
    Dies,
    /// It is up again.
    Returns,
    /// It stops all turns and reads its folder anew.
    Reloads,
}

/// What befalls the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Engine {
    /// It is killed after so many further steps: calls that begin or are answered, looks at the
    /// clock, notices. 0: now.
    IsKilled(u64),
    /// It ends in order.
    Ends,
    /// It starts, if none works.
    Starts,
    /// The one of the other machine is killed.
    RivalIsKilled,
    /// The one of the other machine starts.
    RivalStarts,
}

/// What befalls the computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Computer {
    /// It sleeps for so many milliseconds: the wall clock runs on, nothing else does.
    Sleeps(u64),
    /// Its wall clock is set, so many milliseconds on.
    IsSet(i64),
}

/// The auditor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Auditor {
    /// Go on.
    SaysContinue,
    /// It cannot go on.
    SaysBlocked,
    /// It is done.
    SaysComplete,
    /// What it says is no verdict.
    TalksNonsense,
    /// It answers in a language that nobody used.
    TalksForeign,
    /// Its provider fails.
    Fails,
    /// It never answers.
    IsDead,
    /// From now on it takes so many milliseconds.
    Takes(u64),
}

/// The database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Database {
    /// Another program holds its lock.
    IsLocked,
    /// A table is missing.
    IsDamaged,
    /// It works again.
    Heals,
}

/// A text that is no play.
#[derive(Debug)]
pub struct NoPlay(String);

impl fmt::Display for NoPlay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NoPlay {}

/// A play as text: the setup, then a line for each step. Lines that begin with `#` are for people.
impl fmt::Display for Play {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |text: serde_json::Result<String>| text.map_err(|_| fmt::Error);
        writeln!(formatter, "{}", line(serde_json::to_string(&self.setup))?)?;
        for step in &self.steps {
            writeln!(formatter, "{}", line(serde_json::to_string(step))?)?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Play {
    type Err = NoPlay;

    fn from_str(text: &str) -> Result<Self, NoPlay> {
        let wrong = |line: &str| {
            let line = line.to_owned();
            move |error: serde_json::Error| NoPlay(format!("`{line}` is no step: {error}"))
        };
        let mut lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let Some(first) = lines.next() else {
            return Err(NoPlay("there is no setup".to_owned()));
        };
        Ok(Self {
            setup: serde_json::from_str(first).map_err(wrong(first))?,
            steps: lines
                .map(|line| serde_json::from_str(line).map_err(wrong(line)))
                .collect::<Result<_, _>>()?,
        })
    }
}
