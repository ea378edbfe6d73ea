//! What can be typed. Values whose refusal has a code of its own (budgets, limits, objectives)
//! come as text and are read behind this door, by `objective`, `limits` and [`budget`].

mod schedule;
mod session;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use goal_core::fields;
use goal_core::goal::{ModelRef, SAFE_INTEGER_MAX, SessionId};
use goal_core::objective::valid_session_id;
use goal_engine::command::Choices;
use goal_engine::error::Code;
use goal_engine::ports::Address;
use tracing_subscriber::filter::LevelFilter;

use crate::failure::Failure;
use crate::limits::LimitFlags;

pub(crate) use self::schedule::{
    CreateTask, History, ListTasks, OneTask, ScheduleVerb, UpdateTask,
};
pub(crate) use self::session::{
    Create, Fork, List, Messages, OfSession, Send, SessionVerb, TIMEOUT_SECONDS, Until, WaitFlags,
    folder, message,
};

/// Widest line of a help text.
const HELP_COLUMNS: usize = 100;

/// Longest `--timeout`, in seconds: a year.
const TIMEOUT_SECONDS_MAX: i64 = 365 * 24 * 60 * 60;

#[derive(Debug, Parser)]
#[command(
    name = "openchamber",
    version,
    about = say!("help.about"),
    max_term_width = HELP_COLUMNS,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) area: Area,
}

/// What every verb takes.
#[derive(Args, Debug)]
pub(crate) struct Common {
    #[arg(long, global = true, help = say!("help.json"), help_heading = say!("help.output"))]
    pub(crate) json: bool,
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        help = say!("help.log"),
        help_heading = say!("help.output")
    )]
    pub(crate) log: Option<Level>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Where the server and our own files are. The password has no flag: the list of processes, which
/// everybody on the machine can read, would show it.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.connection"))]
pub(crate) struct Connection {
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "OPENCODE_SERVER_URL",
        hide_env_values = true,
        help = say!("help.server")
    )]
    pub(crate) server: Option<String>,
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "OPENCODE_SERVER_USERNAME",
        hide_env_values = true,
        help = say!("help.username")
    )]
    pub(crate) username: Option<String>,
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "OPENCHAMBER_DATA_DIR",
        hide_env_values = true,
        help = say!("help.dataDir")
    )]
    pub(crate) data_dir: Option<PathBuf>,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Area {
    #[command(
        about = say!("help.goal.about"),
        long_about = say!("help.goal.long"),
        after_help = say!("help.goal.exits"),
        arg_required_else_help = true
    )]
    Goal {
        #[command(subcommand)]
        verb: Verb,
    },
    #[command(
        about = say!("help.session.about"),
        long_about = say!("help.session.long"),
        after_help = say!("help.session.exits"),
        arg_required_else_help = true
    )]
    Session {
        #[command(subcommand)]
        verb: SessionVerb,
    },
    #[command(
        about = say!("help.schedule.about"),
        long_about = say!("help.schedule.long"),
        after_help = say!("help.schedule.exits"),
        arg_required_else_help = true
    )]
    Schedule {
        #[command(subcommand)]
        verb: ScheduleVerb,
    },
    #[command(
        about = say!("help.doctor.about"),
        long_about = say!("help.doctor.long"),
        after_long_help = say!("help.doctor.examples")
    )]
    Doctor(Doctor),
    #[command(
        about = say!("help.auditor.about"),
        long_about = say!("help.auditor.long"),
        arg_required_else_help = true
    )]
    Auditor {
        #[command(subcommand)]
        verb: AuditorVerb,
    },
    #[command(
        about = say!("help.completions.about"),
        long_about = say!("help.completions.long"),
        after_long_help = say!("help.completions.examples")
    )]
    Completions(Completions),
    #[command(
        about = say!("help.man.about"),
        long_about = say!("help.man.long"),
        after_long_help = say!("help.man.examples")
    )]
    Man(Man),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditorVerb {
    #[command(
        about = say!("help.test.about"),
        long_about = say!("help.test.long"),
        after_long_help = say!("help.test.examples")
    )]
    Test(AuditorTest),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    #[command(
        about = say!("help.serve.about"),
        long_about = say!("help.serve.long"),
        after_long_help = say!("help.serve.examples")
    )]
    Serve(Box<Serve>),
    #[command(
        about = say!("help.start.about"),
        long_about = say!("help.start.long"),
        after_long_help = say!("help.start.examples")
    )]
    Start(Start),
    #[command(
        about = say!("help.show.about"),
        long_about = say!("help.show.long"),
        after_long_help = say!("help.show.examples")
    )]
    Show(OneSession),
    #[command(
        about = say!("help.list.about"),
        long_about = say!("help.list.long"),
        after_long_help = say!("help.list.examples")
    )]
    List,
    #[command(
        about = say!("help.watch.about"),
        long_about = say!("help.watch.long"),
        after_long_help = say!("help.watch.examples")
    )]
    Watch(Watch),
    #[command(
        about = say!("help.why.about"),
        long_about = say!("help.why.long"),
        after_long_help = say!("help.why.examples")
    )]
    Why(OneSession),
    #[command(
        about = say!("help.pause.about"),
        long_about = say!("help.pause.long"),
        after_long_help = say!("help.pause.examples")
    )]
    Pause(Pause),
    #[command(
        about = say!("help.resume.about"),
        long_about = say!("help.resume.long"),
        after_long_help = say!("help.resume.examples")
    )]
    Resume(Resume),
    #[command(
        about = say!("help.edit.about"),
        long_about = say!("help.edit.long"),
        after_long_help = say!("help.edit.examples")
    )]
    Edit(Edit),
    #[command(
        about = say!("help.complete.about"),
        long_about = say!("help.complete.long"),
        after_long_help = say!("help.complete.examples")
    )]
    Complete(OneSession),
    #[command(
        about = say!("help.clear.about"),
        long_about = say!("help.clear.long"),
        after_long_help = say!("help.clear.examples")
    )]
    Clear(OneSession),
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    #[arg(
        long,
        value_name = "PATH",
        help = say!("help.serve.opencode"),
        help_heading = say!("help.managed")
    )]
    pub(crate) opencode: Option<PathBuf>,
    #[arg(
        long,
        value_name = "DIR",
        help = say!("help.serve.dir"),
        help_heading = say!("help.managed")
    )]
    pub(crate) dir: Option<PathBuf>,
    #[arg(
        long,
        help = say!("help.serve.noLogFile"),
        help_heading = say!("help.output")
    )]
    pub(crate) no_log_file: bool,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
}

#[derive(Args, Debug)]
pub(crate) struct OneSession {
    #[arg(value_name = "SESSION", help = say!("help.session"))]
    pub(crate) session: String,
}

/// Where an objective comes from: one of three.
#[derive(Args, Debug)]
#[group(id = "source", multiple = false)]
pub(crate) struct Objective {
    #[arg(
        long = "objective",
        value_name = "TEXT",
        allow_hyphen_values = true,
        help = say!("help.objective")
    )]
    pub(crate) text: Option<String>,
    #[arg(
        long = "objective-file",
        value_name = "PATH",
        help = say!("help.objectiveFile")
    )]
    pub(crate) file: Option<PathBuf>,
    #[arg(
        value_name = "-",
        value_parser = ["-"],
        hide_possible_values = true,
        help = say!("help.stdin")
    )]
    pub(crate) stdin: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    group = clap::ArgGroup::new("what").args(["text", "file", "stdin"]).required(true),
    override_usage = "openchamber goal start [OPTIONS] <SESSION> \
                      <--objective <TEXT>|--objective-file <PATH>|->"
)]
pub(crate) struct Start {
    #[arg(value_name = "SESSION", help = say!("help.session"))]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) objective: Objective,
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        help = say!("help.start.tokenBudget")
    )]
    pub(crate) token_budget: Option<String>,
    #[arg(long, help = say!("help.start.send"))]
    pub(crate) send: bool,
    #[arg(long, help = say!("help.start.replace"))]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) choices: ChoiceFlags,
}

/// Whom the prompt of a start addresses.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.prompt"))]
pub(crate) struct ChoiceFlags {
    #[arg(long, value_name = "NAME", requires = "send", help = say!("help.start.agent"))]
    pub(crate) agent: Option<String>,
    #[arg(
        long,
        value_name = "PROVIDER/MODEL",
        requires = "send",
        help = say!("help.start.model")
    )]
    pub(crate) model: Option<String>,
    #[arg(long, value_name = "NAME", requires = "send", help = say!("help.start.variant"))]
    pub(crate) variant: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    group = clap::ArgGroup::new("change")
        .args(["text", "file", "stdin", "token_budget", "no_token_budget"])
        .multiple(true)
        .required(true),
    override_usage = "openchamber goal edit [OPTIONS] <SESSION> \
                      [--objective <TEXT>|--objective-file <PATH>|-] \
                      [--token-budget <N>|--no-token-budget]"
)]
pub(crate) struct Edit {
    #[arg(value_name = "SESSION", help = say!("help.session"))]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) objective: Objective,
    #[command(flatten)]
    pub(crate) budget: BudgetChange,
}

/// Another budget, or none.
#[derive(Args, Debug)]
pub(crate) struct BudgetChange {
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        conflicts_with = "no_token_budget",
        help = say!("help.tokenBudget")
    )]
    pub(crate) token_budget: Option<String>,
    #[arg(long, action = ArgAction::SetTrue, help = say!("help.noTokenBudget"))]
    pub(crate) no_token_budget: bool,
}

#[derive(Args, Debug)]
#[command(override_usage = "openchamber goal pause [OPTIONS] <SESSION|--all>")]
pub(crate) struct Pause {
    #[arg(
        value_name = "SESSION",
        required_unless_present = "all",
        conflicts_with = "all",
        help = say!("help.session")
    )]
    pub(crate) session: Option<String>,
    #[arg(long, help = say!("help.pause.all"))]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    #[arg(value_name = "SHELL", help = say!("help.completions.shell"))]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    #[arg(value_name = "VERB", help = say!("help.man.verb"))]
    pub(crate) verb: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    #[arg(long, value_name = "DIR", help = say!("help.doctor.dir"))]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct AuditorTest {
    #[arg(value_name = "SESSION", help = say!("help.test.session"))]
    pub(crate) session: Option<String>,
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "session",
        help = say!("help.test.dir")
    )]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Watch {
    #[arg(value_name = "SESSION", help = say!("help.watch.session"))]
    pub(crate) session: Option<String>,
    #[arg(
        long,
        value_name = "S",
        value_parser = clap::value_parser!(u32).range(0..=TIMEOUT_SECONDS_MAX),
        help = say!("help.watch.timeout")
    )]
    pub(crate) timeout: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct Resume {
    #[arg(value_name = "SESSION", help = say!("help.session"))]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) budget: BudgetChange,
}

impl Objective {
    /// Whether one was given.
    pub(crate) fn is_given(&self) -> bool {
        self.text.is_some() || self.file.is_some() || self.stdin.is_some()
    }
}

impl BudgetChange {
    /// The new budget; the outer `None` keeps the old one, the inner one takes it away.
    ///
    /// # Errors
    /// `invalidBudget`.
    pub(crate) fn wanted(&self) -> Result<Option<Option<u64>>, Failure> {
        match &self.token_budget {
            Some(text) => Ok(Some(Some(budget(text)?))),
            None => Ok(self.no_token_budget.then_some(None)),
        }
    }
}

impl ChoiceFlags {
    /// What was chosen.
    ///
    /// # Errors
    /// `invalidPrompt`.
    pub(crate) fn chosen(&self) -> Result<Choices, Failure> {
        let to = Address {
            model: self.model.as_deref().map(model).transpose()?,
            agent: self.agent.clone(),
            variant: self.variant.clone(),
        };
        Ok(Choices::new(to, Vec::new())?)
    }
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => Self::OFF,
            Level::Error => Self::ERROR,
            Level::Warn => Self::WARN,
            Level::Info => Self::INFO,
            Level::Debug => Self::DEBUG,
            Level::Trace => Self::TRACE,
        }
    }
}

/// Reads a session id as OpenCode makes them.
///
/// # Errors
/// `invalidSession`.
pub(crate) fn session(text: &str) -> Result<SessionId, Failure> {
    if valid_session_id(text) {
        Ok(SessionId::new(text))
    } else {
        let shown = crate::text::clip(&crate::text::one_line(text), 60);
        let message = say!("error.invalidSession.value", value = shown);
        Err(Failure::of(Code::InvalidSession, message))
    }
}

/// Reads a model: its provider's name up to the first slash, then its own.
///
/// # Errors
/// `invalidPrompt`.
fn model(text: &str) -> Result<ModelRef, Failure> {
    fields::model("model", text).map_err(|_| {
        let shown = crate::text::clip(&crate::text::one_line(text), 60);
        let message = say!("error.invalidPrompt.model", value = shown);
        Failure::of(Code::InvalidPrompt, message)
    })
}

/// Reads a token budget: a whole number from 1 to 2^53 - 1, in digits.
///
/// # Errors
/// `invalidBudget`.
pub(crate) fn budget(text: &str) -> Result<u64, Failure> {
    fields::budget_in_digits("tokenBudget", text, 1..=SAFE_INTEGER_MAX).map_err(|_| {
        let shown = crate::text::clip(&crate::text::one_line(text), 40);
        let message = say!(
            "error.invalidBudget.value",
            value = shown,
            max = SAFE_INTEGER_MAX
        );
        Failure::of(Code::InvalidBudget, message)
    })
}

/// What clap has to say about a line, without usage and tips, in one line.
pub(crate) fn first_paragraph(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let paragraph: Vec<&str> = rendered
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .map(str::trim)
        .collect();
    let joined = paragraph.join(" ");
    joined.strip_prefix("error: ").unwrap_or(&joined).to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn budgets_are_whole_numbers_of_tokens() {
        assert_eq!(budget("1"), Ok(1));
        assert_eq!(budget("200000"), Ok(200_000));
        assert_eq!(budget("9007199254740991"), Ok(SAFE_INTEGER_MAX));
        let refused = [
            "0",
            "-5",
            "+5",
            "1.5",
            "1e5",
            "200_000",
            "200K",
            "",
            " 7",
            "9007199254740992",
            "99999999999999999999999",
            "٣",
            "NaN",
        ];
        for text in refused {
            let failure = budget(text).unwrap_err();
            assert_eq!(failure.code, "invalidBudget", "{text}");
            assert_eq!(failure.exit, crate::failure::Exit::Usage, "{text}");
        }
    }

    #[test]
    fn ids_that_name_no_session_are_refused_before_anything_is_asked() {
        assert_eq!(session("ses_1").unwrap().as_str(), "ses_1");
        for text in ["", "../../etc/passwd", "ses_1\u{1b}[31m", "ses 1", "abc"] {
            let failure = session(text).unwrap_err();
            assert_eq!(failure.code, "invalidSession", "{text:?}");
            assert!(!failure.message.contains('\u{1b}'), "{}", failure.message);
        }
    }

    #[test]
    fn a_common_flag_stands_anywhere() {
        for line in [
            ["openchamber", "--server", "http://h:1", "goal", "list"],
            ["openchamber", "goal", "--server", "http://h:1", "list"],
            ["openchamber", "goal", "list", "--server", "http://h:1"],
        ] {
            let cli = Cli::try_parse_from(line).unwrap();
            assert_eq!(cli.common.connection.server.as_deref(), Some("http://h:1"));
        }
    }
}
