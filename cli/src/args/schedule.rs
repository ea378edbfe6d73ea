//! The flags of `schedule`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use goal_core::schedule::{TaskDraft, When};
use goal_engine::schedule::HISTORY_MAX;

use super::session::{GoalFlags, budget};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleVerb {
    #[command(
        about = say!("help.schedule.list.about"),
        long_about = say!("help.schedule.list.long"),
        after_long_help = say!("help.schedule.list.examples")
    )]
    List(ListTasks),
    #[command(
        about = say!("help.schedule.create.about"),
        long_about = say!("help.schedule.create.long"),
        after_long_help = say!("help.schedule.create.examples")
    )]
    Create(Box<CreateTask>),
    #[command(
        about = say!("help.schedule.update.about"),
        long_about = say!("help.schedule.update.long"),
        after_long_help = say!("help.schedule.update.examples")
    )]
    Update(Box<UpdateTask>),
    #[command(
        about = say!("help.schedule.run.about"),
        long_about = say!("help.schedule.run.long"),
        after_long_help = say!("help.schedule.run.examples")
    )]
    Run(OneTask),
    #[command(
        about = say!("help.schedule.enable.about"),
        long_about = say!("help.schedule.enable.long"),
        after_long_help = say!("help.schedule.enable.examples")
    )]
    Enable(OneTask),
    #[command(
        about = say!("help.schedule.disable.about"),
        long_about = say!("help.schedule.disable.long"),
        after_long_help = say!("help.schedule.disable.examples")
    )]
    Disable(OneTask),
    #[command(
        about = say!("help.schedule.delete.about"),
        long_about = say!("help.schedule.delete.long"),
        after_long_help = say!("help.schedule.delete.examples")
    )]
    Delete(OneTask),
    #[command(
        about = say!("help.schedule.history.about"),
        long_about = say!("help.schedule.history.long"),
        after_long_help = say!("help.schedule.history.examples")
    )]
    History(History),
}

#[derive(Args, Debug)]
pub(crate) struct ListTasks {
    #[arg(long, value_name = "DIR", help = say!("help.session.onlyDir"))]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) quiet: Quiet,
}

#[derive(Args, Debug)]
pub(crate) struct OneTask {
    #[arg(value_name = "TASK", help = say!("help.schedule.task"))]
    pub(crate) task: String,
    #[command(flatten)]
    pub(crate) quiet: Quiet,
}

#[derive(Args, Debug)]
pub(crate) struct History {
    #[arg(value_name = "TASK", help = say!("help.schedule.task"))]
    pub(crate) task: String,
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=HISTORY_MAX as i64),
        help = say!("help.schedule.limit")
    )]
    pub(crate) limit: u32,
}

#[derive(Args, Debug)]
pub(crate) struct CreateTask {
    #[arg(long, value_name = "DIR", help = say!("help.schedule.dir"))]
    pub(crate) dir: PathBuf,
    #[arg(
        long,
        alias = "title",
        value_name = "TEXT",
        allow_hyphen_values = true,
        help = say!("help.schedule.name")
    )]
    pub(crate) name: String,
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help = say!("help.session.prompt")
    )]
    pub(crate) prompt: String,
    #[arg(long, value_name = "PROVIDER/MODEL", help = say!("help.schedule.model"))]
    pub(crate) model: String,
    #[arg(long, value_name = "NAME", help = say!("help.schedule.agent"))]
    pub(crate) agent: Option<String>,
    #[arg(long, value_name = "NAME", help = say!("help.schedule.variant"))]
    pub(crate) variant: Option<String>,
    #[arg(long, help = say!("help.schedule.disabled"))]
    pub(crate) disabled: bool,
    #[command(flatten)]
    pub(crate) when: WhenFlags,
    #[command(flatten)]
    pub(crate) goal: TaskGoalFlags,
    #[command(flatten)]
    pub(crate) quiet: Quiet,
}

#[derive(Args, Debug)]
pub(crate) struct UpdateTask {
    #[arg(value_name = "TASK", help = say!("help.schedule.task"))]
    pub(crate) task: String,
    #[arg(long, value_name = "DIR", help = say!("help.schedule.dir"))]
    pub(crate) dir: Option<PathBuf>,
    #[arg(
        long,
        alias = "title",
        value_name = "TEXT",
        allow_hyphen_values = true,
        help = say!("help.schedule.name")
    )]
    pub(crate) name: Option<String>,
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help = say!("help.session.prompt")
    )]
    pub(crate) prompt: Option<String>,
    #[arg(long, value_name = "PROVIDER/MODEL", help = say!("help.schedule.model"))]
    pub(crate) model: Option<String>,
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "no_agent",
        help = say!("help.schedule.agent")
    )]
    pub(crate) agent: Option<String>,
    #[arg(long, help = say!("help.schedule.noAgent"))]
    pub(crate) no_agent: bool,
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "no_variant",
        help = say!("help.schedule.variant")
    )]
    pub(crate) variant: Option<String>,
    #[arg(long, help = say!("help.schedule.noVariant"))]
    pub(crate) no_variant: bool,
    #[command(flatten)]
    pub(crate) when: WhenFlags,
    #[command(flatten)]
    pub(crate) goal: GoalChangeFlags,
    #[command(flatten)]
    pub(crate) quiet: Quiet,
}

/// Whether little is printed.
#[derive(Args, Debug)]
pub(crate) struct Quiet {
    #[arg(
        short,
        long,
        conflicts_with = "json",
        help = say!("help.schedule.quiet"),
        help_heading = say!("help.output")
    )]
    pub(crate) quiet: bool,
}

/// When a task runs: one of four.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.schedule.whenHeading"))]
pub(crate) struct WhenFlags {
    #[arg(
        long,
        value_name = "HH:MM",
        value_delimiter = ',',
        conflicts_with_all = ["weekly", "once", "cron", "time"],
        help = say!("help.schedule.daily")
    )]
    pub(crate) daily: Vec<String>,
    #[arg(
        long,
        value_name = "DAY",
        value_delimiter = ',',
        requires = "time",
        conflicts_with_all = ["once", "cron"],
        hide_possible_values = true,
        help = say!("help.schedule.weekly")
    )]
    pub(crate) weekly: Vec<Day>,
    #[arg(
        long,
        value_name = "YYYY-MM-DD",
        requires = "time",
        conflicts_with = "cron",
        help = say!("help.schedule.once")
    )]
    pub(crate) once: Option<String>,
    #[arg(
        long,
        value_name = "EXPRESSION",
        conflicts_with = "time",
        allow_hyphen_values = true,
        help = say!("help.schedule.cron")
    )]
    pub(crate) cron: Option<String>,
    #[arg(
        long,
        value_name = "HH:MM",
        value_delimiter = ',',
        help = say!("help.schedule.time")
    )]
    pub(crate) time: Vec<String>,
    #[arg(long, value_name = "ZONE", help = say!("help.schedule.timezone"))]
    pub(crate) timezone: Option<String>,
}

/// A day of the week, from Sunday on as its numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Day {
    Sun,
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
}

/// Whether a new task's prompt begins a goal.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.session.goalHeading"))]
pub(crate) struct TaskGoalFlags {
    #[command(flatten)]
    pub(crate) goal: GoalFlags,
    #[arg(long, requires = "goal", help = say!("help.schedule.archive"))]
    pub(crate) archive: bool,
}

/// The same for a task that is there.
#[derive(Args, Debug)]
#[command(next_help_heading = say!("help.session.goalHeading"))]
pub(crate) struct GoalChangeFlags {
    #[arg(long, conflicts_with = "no_goal", help = say!("help.session.goal"))]
    pub(crate) goal: bool,
    #[arg(
        long,
        conflicts_with_all = ["goal_token_budget", "archive"],
        help = say!("help.schedule.noGoal")
    )]
    pub(crate) no_goal: bool,
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        conflicts_with = "no_goal_token_budget",
        help = say!("help.session.goalTokenBudget")
    )]
    pub(crate) goal_token_budget: Option<String>,
    #[arg(long, help = say!("help.schedule.noGoalTokenBudget"))]
    pub(crate) no_goal_token_budget: bool,
    #[arg(long, conflicts_with = "no_archive", help = say!("help.schedule.archive"))]
    pub(crate) archive: bool,
    #[arg(long, help = say!("help.schedule.noArchive"))]
    pub(crate) no_archive: bool,
}

impl WhenFlags {
    /// When the task runs; `None`: nothing was said.
    ///
    /// # Errors
    /// `usage` for times of nothing, or several for a day that comes once.
    pub(crate) fn when(&self) -> Result<Option<When>, Failure> {
        let times = self.time.clone();
        if !self.daily.is_empty() {
            let times = self.daily.clone();
            return Ok(Some(When::Daily { times }));
        }
        if !self.weekly.is_empty() {
            // The days stand in the order of their numbers.
            let weekdays = self.weekly.iter().map(|day| *day as u8).collect();
            return Ok(Some(When::Weekly { weekdays, times }));
        }
        if let Some(cron) = self.cron.clone() {
            return Ok(Some(When::Cron { cron }));
        }
        match (&self.once, times.as_slice()) {
            (Some(date), [time]) => Ok(Some(When::Once {
                date: date.clone(),
                time: time.clone(),
            })),
            (Some(_), _) => Err(Failure::usage(say!("error.schedule.onceTimes"))),
            (None, []) => Ok(None),
            (None, [_, ..]) => Err(Failure::usage(say!("error.schedule.times"))),
        }
    }
}

impl GoalChangeFlags {
    /// Changes what a task says of goals.
    ///
    /// # Errors
    /// `invalidBudget`.
    pub(crate) fn apply(&self, draft: &mut TaskDraft) -> Result<(), Failure> {
        draft.goal = (draft.goal || self.goal) && !self.no_goal;
        let tokens = budget(self.goal_token_budget.as_deref())?;
        draft.goal_token_budget = tokens
            .or(draft.goal_token_budget)
            .filter(|_| !self.no_goal_token_budget && !self.no_goal);
        draft.archive = (draft.archive || self.archive) && !self.no_archive && !self.no_goal;
        Ok(())
    }
}
