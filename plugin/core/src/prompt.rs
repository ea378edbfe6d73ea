//! The words that are sent to a model.
//!
//! Every prompt is a file in `prompts/`, checked against its values when the crate is compiled.
//! The objective, the agent's words and the names of tools are data: they are inserted escaped,
//! so that none of them can open or close a block (O14 to O18, X2).

use std::borrow::Cow;

use crate::message::ToolUse;
use crate::template::{Safe, Template};
use crate::text::{Share, clamp, clip_middle, collapse_whitespace};

/// What the continuation prompt is made from. The numbers are those of the goal as written, after
/// the continuation was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Continuation<'a> {
    /// The effective objective.
    pub objective: &'a str,
    /// Why the agent is prompted.
    pub occasion: Occasion,
    /// Tokens spent on the goal so far.
    pub tokens_used: u64,
    /// The goal's token budget, where it has one.
    pub token_budget: Option<u64>,
    /// Which continuation this is, counted from 1.
    pub turn: u32,
    /// How many continuations the goal may have.
    pub turns_max: u32,
}

/// Why the agent is prompted to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The audit found work left.
    Progress,
    /// The last turn never came to its end.
    Interrupted,
    /// The last reply hit the output limit.
    Truncated,
    /// The conversation was compacted.
    Compacted,
    /// The user resumed the goal.
    Resumed,
    /// The user changed the objective.
    ObjectiveEdited,
    /// The last reply had neither text nor tool calls.
    EmptyReply,
    /// The audit failed, and the goal goes on without it once.
    Unaudited,
}

impl Occasion {
    /// All occasions.
    pub const ALL: [Self; 8] = [
        Self::Progress,
        Self::Interrupted,
        Self::Truncated,
        Self::Compacted,
        Self::Resumed,
        Self::ObjectiveEdited,
        Self::EmptyReply,
        Self::Unaudited,
    ];

    const fn sentence(self) -> &'static str {
        match self {
            Self::Progress => OCCASION_PROGRESS.text(),
            Self::Interrupted => OCCASION_INTERRUPTED.text(),
            Self::Truncated => OCCASION_TRUNCATED.text(),
            Self::Compacted => OCCASION_COMPACTED.text(),
            Self::Resumed => OCCASION_RESUMED.text(),
            Self::ObjectiveEdited => OCCASION_OBJECTIVE_EDITED.text(),
            Self::EmptyReply => OCCASION_EMPTY_REPLY.text(),
            Self::Unaudited => OCCASION_UNAUDITED.text(),
        }
    }
}

/// One tool call of the judged turn, as the auditor sees it: without its output.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolLine {
    /// The tool's name.
    pub tool: String,
    /// What the call was about, in the tool's own words. May be empty.
    pub title: String,
    /// How the call ended, in the server's word, for example `completed` or `error`.
    pub status: String,
    /// The exit code, for a tool that ran a command.
    pub exit: Option<i64>,
}

impl From<&ToolUse> for ToolLine {
    fn from(used: &ToolUse) -> Self {
        Self {
            tool: used.tool.clone(),
            title: used.title.clone(),
            status: used.status.clone(),
            exit: used.exit,
        }
    }
}

/// The most tool calls an audit lists. The newest are kept: the checks that matter stand last.
pub const AUDIT_TOOLS_MAX: usize = 40;

/// UTF-16 units of a tool's title, name or status that an audit shows.
pub const AUDIT_TOOL_UNITS_MAX: usize = 160;

/// UTF-16 units of the objective that show the auditor the language of its note.
pub const LANGUAGE_SAMPLE_UNITS: usize = 200;

/// UTF-16 units of a task that a distillation reads, so that the request fits a small model.
pub const DISTILL_INPUT_UNITS_MAX: usize = 100_000;

/// Stands where the middle of the judged text was taken out.
pub const EVIDENCE_MARKER: &str = "\n\n[… the middle of this turn's text was left out here …]\n\n";

const DISTILL_MARKER: &str = "\n\n[… the middle of this task was left out here …]\n\n";

/// A quarter of a clipped text is its beginning: a report stands at the end (X2).
const HEAD_SHARE: Share = Share { parts: 1, of: 4 };

/// The prompt that sends the agent on (O15).
#[must_use]
pub fn continuation(values: &Continuation<'_>) -> String {
    let budget = match values.token_budget {
        None => Safe::own(BUDGET_NONE.text()),
        Some(budget) => BUDGET_SET.render([
            Safe::number(values.tokens_used),
            Safe::number(budget),
            Safe::number(budget.saturating_sub(values.tokens_used)),
        ]),
    };
    let prompt = CONTINUATION.render([
        Safe::own(values.occasion.sentence()),
        Safe::element(values.objective),
        budget,
        Safe::number(values.turn),
        Safe::number(values.turns_max),
    ]);
    prompt.into_string()
}

/// Whether the text of a continuation carries this objective; `None` if it carries none at all.
#[must_use]
pub fn carries_objective(text: &str, objective: &str) -> Option<bool> {
    let (_, behind) = text.split_once("<objective>\n")?;
    let (carried, _) = behind.split_once("\n</objective>")?;
    Some(carried == Safe::element(objective).into_string())
}

/// The reminder that goes with the message that started a goal, to be sent as a synthetic text
/// part after the user's own (O14).
#[must_use]
pub fn first_turn_reminder(token_budget: Option<u64>) -> String {
    let budget = match token_budget {
        None => Safe::own(""),
        Some(budget) => FIRST_TURN_BUDGET.render([Safe::number(budget)]),
    };
    FIRST_TURN_REMINDER.render([budget]).into_string()
}

/// The auditor's system prompt (O16).
#[must_use]
pub const fn audit_system() -> &'static str {
    AUDIT_SYSTEM.text()
}

/// What the auditor is asked (O17).
///
/// `evidence` is the text of the judged turn as [`clip_evidence`] leaves it. Of `tools`, oldest
/// first, the newest [`AUDIT_TOOLS_MAX`] are listed and the others counted.
#[must_use]
pub fn audit_request(objective: &str, evidence: &str, tools: &[ToolLine]) -> String {
    let sample = collapse_whitespace(clamp(objective.trim(), LANGUAGE_SAMPLE_UNITS));
    let prompt = AUDIT_REQUEST.render([
        Safe::element(objective),
        Safe::element(evidence),
        tool_results(tools),
        Safe::element(&sample),
    ]);
    prompt.into_string()
}

/// What the auditor is told, once, when its reply could not be read.
#[must_use]
pub const fn audit_again() -> &'static str {
    AUDIT_AGAIN.text()
}

/// The text of a turn in at most `max_units` UTF-16 units: a quarter of it from the beginning,
/// the rest from the end, with [`EVIDENCE_MARKER`] between (X2, O18).
#[must_use]
pub fn clip_evidence(turn_text: &str, max_units: usize) -> Cow<'_, str> {
    clip_middle(turn_text, max_units, HEAD_SHARE, EVIDENCE_MARKER)
}

/// The system prompt for the distillation of an objective that is too long (O10).
#[must_use]
pub const fn distill_system() -> &'static str {
    DISTILL_SYSTEM.text()
}

/// The request for a distillation. A task of more than [`DISTILL_INPUT_UNITS_MAX`] loses its
/// middle.
#[must_use]
pub fn distill_request(objective: &str) -> String {
    let task = clip_middle(
        objective,
        DISTILL_INPUT_UNITS_MAX,
        HALF_SHARE,
        DISTILL_MARKER,
    );
    DISTILL_REQUEST.render([Safe::element(&task)]).into_string()
}

/// A task keeps its purpose at the beginning and its acceptance criteria at the end.
const HALF_SHARE: Share = Share { parts: 1, of: 2 };

fn tool_results(tools: &[ToolLine]) -> Safe {
    let left_out = tools.len().saturating_sub(AUDIT_TOOLS_MAX);
    let mut lines = Vec::with_capacity(tools.len() - left_out + 1);
    if left_out > 0 {
        let count = u64::try_from(left_out).unwrap_or(u64::MAX);
        lines.push(AUDIT_TOOLS_LEFT_OUT.render([Safe::number(count)]));
    }
    lines.extend(tools.iter().skip(left_out).map(tool_result));
    Safe::lines(lines)
}

fn tool_result(line: &ToolLine) -> Safe {
    let tool = Safe::attribute(&tool_word(&line.tool));
    let status = Safe::attribute(&tool_word(&line.status));
    let title = Safe::element(&tool_word(&line.title));
    match line.exit {
        None => AUDIT_TOOL.render([tool, status, title]),
        Some(exit) => AUDIT_TOOL_EXIT.render([tool, status, Safe::number(exit), title]),
    }
}

/// One line, and not a long one: a title can hold a whole script.
fn tool_word(text: &str) -> String {
    collapse_whitespace(clamp(text.trim(), AUDIT_TOOL_UNITS_MAX))
}

const CONTINUATION: Template<5> = Template::shipped(
    include_str!("../prompts/continuation.md"),
    ["occasion", "objective", "budget", "turn", "turns_max"],
);
const BUDGET_SET: Template<3> = Template::shipped(
    include_str!("../prompts/budget_set.md"),
    ["tokens_used", "token_budget", "tokens_remaining"],
);
const BUDGET_NONE: Template<0> = Template::shipped(include_str!("../prompts/budget_none.md"), []);
const FIRST_TURN_REMINDER: Template<1> = Template::shipped(
    include_str!("../prompts/first_turn_reminder.md"),
    ["budget"],
);
const FIRST_TURN_BUDGET: Template<1> = Template::shipped(
    include_str!("../prompts/first_turn_budget.md"),
    ["token_budget"],
);
const AUDIT_SYSTEM: Template<0> = Template::shipped(include_str!("../prompts/audit_system.md"), []);
const AUDIT_REQUEST: Template<4> = Template::shipped(
    include_str!("../prompts/audit_request.md"),
    ["objective", "turn_text", "tool_results", "language_sample"],
);
const AUDIT_TOOL: Template<3> = Template::shipped(
    include_str!("../prompts/audit_tool.md"),
    ["tool", "status", "title"],
);
const AUDIT_TOOL_EXIT: Template<4> = Template::shipped(
    include_str!("../prompts/audit_tool_exit.md"),
    ["tool", "status", "exit", "title"],
);
const AUDIT_TOOLS_LEFT_OUT: Template<1> = Template::shipped(
    include_str!("../prompts/audit_tools_left_out.md"),
    ["count"],
);
const AUDIT_AGAIN: Template<0> = Template::shipped(include_str!("../prompts/audit_again.md"), []);
const DISTILL_SYSTEM: Template<0> =
    Template::shipped(include_str!("../prompts/distill_system.md"), []);
const DISTILL_REQUEST: Template<1> =
    Template::shipped(include_str!("../prompts/distill_request.md"), ["task"]);

const OCCASION_PROGRESS: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/progress.md"), []);
const OCCASION_INTERRUPTED: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/interrupted.md"), []);
const OCCASION_TRUNCATED: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/truncated.md"), []);
const OCCASION_COMPACTED: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/compacted.md"), []);
const OCCASION_RESUMED: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/resumed.md"), []);
const OCCASION_OBJECTIVE_EDITED: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/objective_edited.md"), []);
const OCCASION_EMPTY_REPLY: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/empty_reply.md"), []);
const OCCASION_UNAUDITED: Template<0> =
    Template::shipped(include_str!("../prompts/occasion/unaudited.md"), []);
