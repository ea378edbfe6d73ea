//! The flags of `session`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use goal_core::fields::{self, BUDGET_OFFERED};
use goal_core::goal::MessageId;
use goal_engine::command::{Choices, GoalWish, Note};
use goal_engine::error::Code;
use goal_engine::ports::Address;

use super::model;
use crate::failure::Failure;

/// Longest `--timeout`, in seconds: a day.
const TIMEOUT_SECONDS_MAX: i64 = 24 * 60 * 60;

/// Seconds that `--wait` waits if nobody says how long.
pub(crate) const TIMEOUT_SECONDS: u32 = 600;

/// Sessions that `list` shows at most, and messages that `messages` shows.
const SHOWN_MAX: i64 = 1_000;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionVerb {
    #[command(
        about = say!("help.session.create.about"),
        long_about = say!("help.session.create.long"),
        after_long_help = say!("help.session.create.examples")
    )]
    Create(Box<Create>),
    #[command(
        about = say!("help.session.send.about"),
        long_about = say!("help.session.send.long"),
        after_long_help = say!("help.session.send.examples")
    )]
    Send(Box<Send>),
    #[command(
        about = say!("help.session.fork.about"),
        long_about = say!("help.session.fork.long"),
        after_long_help = say!("help.session.fork.examples")
    )]
    Fork(Box<Fork>),
    #[command(
        about = say!("help.session.list.about"),
        long_about = say!("help.session.list.long"),
        after_long_help = say!("help.session.list.examples")
    )]
    List(List),
    #[command(
        about = say!("help.session.status.about"),
        long_about = say!("help.session.status.long"),
        after_long_help = say!("help.session.status.examples")
    )]
    Status(OfSession),
    #[command(
        about = say!("help.session.messages.about"),
        long_about = say!("help.session.messages.long"),
        after_long_help = say!("help.session.messages.examples")
    )]
    Messages(Messages),
}

#[derive(Args, Debug)]
pub(crate) struct Create {
    #[arg(long, value_name = "DIR", help = say!("help.session.dir"))]
    pub(crate) dir: PathBuf,
    #[arg(
        long,
        alias = "name",
        value_name = "TEXT",
        allow_hyphen_values = true,
        help = say!("help.session.title")
    )]
    pub(crate) title: Option<String>,
    #[arg(
        long,
        value_name = "TEXT",
        required_if_eq("goal", "true"),
        allow_hyphen_values = true,
        help = say!("help.session.prompt")
    )]
    pub(crate) prompt: Option<String>,
    #[command(flatten)]
    pub(crate) goal: GoalFlags,
    #[command(flatten)]
    pub(crate) to: ToFlags,
    #[command(flatten)]
    pub(crate) wait: WaitFlags,
}

#[derive(Args, Debug)]
pub(crate) struct Send {
    #[arg(long, value_name = "SESSION", help = say!("help.session.session"))]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) what: WhatFlags,
    #[arg(long, requires = "goal", help = say!("help.start.replace"))]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) goal: GoalFlags,
    #[command(flatten)]
    pub(crate) to: ToFlags,
    #[command(flatten)]
    pub(crate) wait: WaitFlags,
}

#[derive(Args, Debug)]
pub(crate) struct Fork {
    #[arg(long, value_name = "SESSION", help = say!("help.session.source"))]
    pub(crate) session: String,
    #[arg(long, value_name = "MESSAGE", help = say!("help.session.message"))]
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) what: WhatFlags,
    #[command(flatten)]
    pub(crate) goal: GoalFlags,
    #[command(flatten)]
    pub(crate) to: ToFlags,
    #[command(flatten)]
    pub(crate) wait: WaitFlags,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    #[arg(long, value_name = "DIR", help = say!("help.session.onlyDir"))]
    pub(crate) dir: Option<PathBuf>,
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=SHOWN_MAX),
        help = say!("help.session.limit")
    )]
    pub(crate) limit: u32,
}

#[derive(Args, Debug)]
pub(crate) struct OfSession {
    #[arg(long, value_name = "SESSION", help = say!("help.session.session"))]
    pub(crate) session: String,
}

#[derive(Args, Debug)]
pub(crate) struct Messages {
    #[arg(long, value_name = "SESSION", help = say!("help.session.session"))]
    pub(crate) session: String,
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=SHOWN_MAX),
        help = say!("help.session.newest")
    )]
    pub(crate) limit: u32,
}

/// What is sent into a session, and the folder that it must belong to.
#[derive(Args, Debug)]
pub(crate) struct WhatFlags {
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help = say!("help.session.prompt")
    )]
    pub(crate) prompt: String,
    #[arg(long, value_name = "DIR", help = say!("help.session.itsDir"))]
    pub(crate) dir: Option<PathBuf>,
}

/// Whether the prompt begins a goal.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.session.goalHeading"))]
pub(crate) struct GoalFlags {
    #[arg(long, help = say!("help.session.goal"))]
    pub(crate) goal: bool,
    #[arg(
        long,
        value_name = "N",
        requires = "goal",
        allow_hyphen_values = true,
        help = say!("help.session.goalTokenBudget")
    )]
    pub(crate) goal_token_budget: Option<String>,
}

/// Whom the prompt addresses.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.session.promptHeading"))]
pub(crate) struct ToFlags {
    #[arg(long, value_name = "NAME", help = say!("help.start.agent"))]
    pub(crate) agent: Option<String>,
    #[arg(long, value_name = "PROVIDER/MODEL", help = say!("help.start.model"))]
    pub(crate) model: Option<String>,
    #[arg(long, value_name = "NAME", help = say!("help.start.variant"))]
    pub(crate) variant: Option<String>,
}

/// Whether the command waits, and what it shows then.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.session.waitHeading"))]
pub(crate) struct WaitFlags {
    #[arg(long, help = say!("help.session.wait"))]
    pub(crate) wait: bool,
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        requires = "wait",
        hide_possible_values = true,
        help = say!("help.session.until")
    )]
    pub(crate) until: Option<Until>,
    #[arg(
        long,
        value_name = "S",
        requires = "wait",
        value_parser = clap::value_parser!(u32).range(1..=TIMEOUT_SECONDS_MAX),
        help = say!("help.session.timeout")
    )]
    pub(crate) timeout: Option<u32>,
    #[arg(long, requires = "wait", help = say!("help.session.lastAssistant"))]
    pub(crate) last_assistant: bool,
    #[arg(short, long, conflicts_with = "json", help = say!("help.session.quiet"))]
    pub(crate) quiet: bool,
}

/// What `--wait` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// The end of the goal, where there is one.
    Goal,
    /// The end of the turn.
    Idle,
}

impl GoalFlags {
    /// The goal that the prompt begins.
    ///
    /// # Errors
    /// `invalidBudget`.
    pub(crate) fn wish(&self, replace: bool) -> Result<Option<GoalWish>, Failure> {
        let token_budget = budget(self.goal_token_budget.as_deref())?;
        Ok(self.goal.then_some(GoalWish {
            token_budget,
            replace,
        }))
    }
}

impl ToFlags {
    /// Whether anything was chosen.
    pub(crate) fn is_chosen(&self) -> bool {
        self.agent.is_some() || self.model.is_some() || self.variant.is_some()
    }

    /// What is said, and to whom.
    ///
    /// # Errors
    /// `invalidPrompt`; `invalidObjective` for a standard input that cannot be read.
    pub(crate) fn note(&self, prompt: &str, goal: Option<GoalWish>) -> Result<Note, Failure> {
        let to = Address {
            model: self.model.as_deref().map(model).transpose()?,
            agent: self.agent.clone(),
            variant: self.variant.clone(),
        };
        let choices = Choices::new(to, Vec::new())?;
        let text = crate::objective::typed(prompt)?;
        fields::prompt("--prompt", &text).map_err(broken)?;
        Ok(Note {
            text,
            choices,
            goal,
        })
    }
}

/// Reads what `--goal-token-budget` says.
///
/// # Errors
/// `invalidBudget`.
pub(crate) fn budget(text: Option<&str>) -> Result<Option<u64>, Failure> {
    text.map(|text| fields::budget_in_digits("--goal-token-budget", text, BUDGET_OFFERED))
        .transpose()
        .map_err(|broken| Failure::of(Code::InvalidBudget, broken.to_string()))
}

/// Reads a message's id.
///
/// # Errors
/// `invalidPrompt`.
pub(crate) fn message(id: &str) -> Result<MessageId, Failure> {
    fields::message("--message", id).map_err(broken)?;
    Ok(MessageId::new(id))
}

/// A folder as the server knows it: whole, and there if the server is on this machine.
///
/// # Errors
/// `invalidPrompt`.
pub(crate) fn folder(path: &Path, is_local: bool) -> Result<String, Failure> {
    let whole = match is_local {
        true => path.canonicalize().ok().filter(|path| path.is_dir()),
        false => Some(path.to_path_buf()),
    };
    let shown = || crate::text::one_line(&path.display().to_string());
    let whole = whole.ok_or_else(|| {
        Failure::of(
            Code::InvalidPrompt,
            say!("error.session.dir", folder = shown()),
        )
    })?;
    let text = whole.to_str().ok_or_else(|| {
        Failure::of(
            Code::InvalidPrompt,
            say!("error.session.dir", folder = shown()),
        )
    })?;
    fields::folder("--dir", text).map_err(broken)?;
    Ok(text.to_owned())
}

fn broken(broken: fields::Broken) -> Failure {
    Failure::of(Code::InvalidPrompt, broken.to_string())
}
