//! A task: what is said when, where and to whom. The one validator of its fields.

use jiff::tz::TimeZoneDatabase;
use serde::{Deserialize, Serialize};

use super::{Schedule, When};
use crate::fields::{self, BUDGET_OFFERED, Broken};
use crate::goal::ModelRef;
use crate::time::Wall;

/// Characters of a task's name.
pub const NAME_MAX: usize = 80;

/// Characters of a task's prompt.
pub const PROMPT_MAX: usize = 20_000;

/// A task as it is typed, stored and shown; nothing of it is checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskDraft {
    /// What people call it.
    pub name: String,
    /// The folder its sessions are made in, as an absolute path.
    pub directory: String,
    /// When it runs.
    #[serde(rename = "schedule")]
    pub when: When,
    /// The IANA name of the zone that `when` is read in.
    pub timezone: String,
    /// What is said: a prompt, or a slash command of the server.
    pub prompt: String,
    /// The model it is said to, as `provider/model`.
    pub model: String,
    /// The agent, if one is named.
    pub agent: Option<String>,
    /// The model's variant, if one is named.
    pub variant: Option<String>,
    /// The prompt begins a goal.
    pub goal: bool,
    /// Tokens the goal may use, if limited.
    pub goal_token_budget: Option<u64>,
    /// The session is archived once its goal is complete, and only then.
    pub archive: bool,
}

/// A task whose every field is as it has to be.
#[derive(Clone, Debug)]
pub struct Task {
    /// The fields, in their normal form.
    pub draft: TaskDraft,
    /// Computes when it runs.
    pub schedule: Schedule,
    /// The model.
    pub model: ModelRef,
}

impl Task {
    /// Checks every field (T1, T2).
    ///
    /// # Errors
    /// [`Broken`] for the first field that breaks its rule, under its name on the command line and
    /// in JSON.
    pub fn check(draft: TaskDraft, zones: &TimeZoneDatabase, now: Wall) -> Result<Self, Broken> {
        fields::line("name", &draft.name, NAME_MAX)?;
        fields::folder("dir", &draft.directory)?;
        let said = fields::prompt("prompt", &draft.prompt)?;
        if said.chars().count() > PROMPT_MAX {
            let rule = format!("takes a text of at most {PROMPT_MAX} characters");
            return Err(Broken::new("prompt", rule));
        }
        let model = fields::model("model", &draft.model)?;
        let names = [
            ("model", Some(model.provider.as_str())),
            ("model", Some(model.model.as_str())),
            ("agent", draft.agent.as_deref()),
            ("variant", draft.variant.as_deref()),
        ];
        for (field, name) in names {
            name.map_or(Ok(()), |name| fields::name(field, name))?;
        }
        if let Some(tokens) = draft.goal_token_budget {
            fields::within("goalTokenBudget", tokens, BUDGET_OFFERED)?;
        }
        let without_goal = [
            ("goalTokenBudget", draft.goal_token_budget.is_some()),
            ("archive", draft.archive),
        ];
        for (field, is_set) in without_goal {
            if is_set && !draft.goal {
                return Err(Broken::new(field, "takes nothing without a goal"));
            }
        }
        let (schedule, when) = Schedule::check(&draft.when, &draft.timezone, zones, now)?;
        Ok(Self {
            draft: TaskDraft { when, ..draft },
            schedule,
            model,
        })
    }

    /// The title of the session of a run that began at `moment` (T7).
    #[must_use]
    pub fn title(&self, moment: Wall) -> String {
        format!("{} {}", self.draft.name, self.schedule.shown(moment))
    }
}
