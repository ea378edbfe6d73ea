//! What people read of a goal, in lines.

use goal_core::goal::{Goal, Status};
use goal_core::limits::Limits;
use goal_core::reason;
use goal_core::time::Wall;
use goal_engine::store::StoredDecision;
use goal_engine::view::GoalView;
use jiff::tz::TimeZone;

use crate::page::{Page, SEPARATOR, Tone};
use crate::text;
use crate::words;

/// Lines of an objective that are shown.
const OBJECTIVE_LINES_MAX: usize = 6;

/// Columns of the names in front of values.
const NAME_COLUMNS: usize = 14;

/// Columns of tokens in a table: of how many, too.
const TOKENS_COLUMNS: usize = 12;

/// Columns of a note in a table that goes into a pipe.
const NOTE_COLUMNS: usize = 60;

/// What it takes to show times: now, and where the reader's clock hangs.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub(crate) now: Wall,
    pub(crate) zone: TimeZone,
}

/// One goal with all there is to say.
pub(crate) fn goal(
    view: &GoalView,
    objective: Option<&str>,
    limits: &Limits,
    clock: &Clock,
    page: Page,
) -> Vec<String> {
    let goal = &view.goal;
    let mut lines = vec![format!("{}  {}", view.session, name_of(view))];
    let mut field = |name: String, value: String| {
        if !value.is_empty() {
            let head = format!("  {}", text::column(&name, NAME_COLUMNS));
            lines.push(page.hang(&head, NAME_COLUMNS + 2, &value));
        }
    };
    field(say!("field.status"), status(goal));
    field(say!("field.phase"), phase(view, clock.now));
    let objective = objective.map_or_else(
        || vec![say!("objective.missing")],
        |objective| text::lines(objective, OBJECTIVE_LINES_MAX),
    );
    for (index, line) in objective.into_iter().enumerate() {
        let name = if index == 0 {
            say!("field.objective")
        } else {
            String::new()
        };
        field(name, line);
    }
    field(say!("field.note"), text::one_line(&goal.note));
    field(say!("field.tokens"), tokens(goal));
    field(say!("field.turns"), continuations(goal, limits.turns_max));
    let auditor = goal.evaluation.as_ref().map(crate::json::model);
    field(
        say!("field.auditedBy"),
        text::one_line(&auditor.unwrap_or_default()),
    );
    let active = std::time::Duration::from_millis(goal.active_ms_at(clock.now));
    field(say!("field.active"), text::span(active));
    field(
        say!("field.created"),
        text::date(goal.created_at, &clock.zone),
    );
    field(
        say!("field.updated"),
        text::date(goal.updated_at, &clock.zone),
    );
    field(say!("field.folder"), text::one_line(&view.directory));
    lines
}

/// A table of goals in the order they come. What an active one does just now takes a look at it,
/// which `show` does.
pub(crate) fn list(views: &[GoalView], page: Page) -> Vec<String> {
    if views.is_empty() {
        return vec![say!("list.none")];
    }
    let head = [
        say!("field.session"),
        say!("field.title"),
        say!("field.status"),
        say!("field.tokens"),
        say!("field.note"),
    ];
    let titles = views.iter().map(|view| text::one_line(&view.title));
    let titles: Vec<String> = titles.collect();
    let widest = titles.iter().map(|title| text::width(title)).max();
    let title_columns = widest
        .unwrap_or_default()
        .max(text::width(&head[1]))
        .min(page.name_columns_max());
    let row = |cells: &[String; 5], tone: Tone| {
        let [session, title, status, tokens, note] = cells;
        let widths = [session_columns(views), title_columns, status_columns()];
        let head = format!(
            "{}  {}  {}  {}  ",
            text::column(session, widths[0]),
            text::column(title, widths[1]),
            page.cell(status, widths[2], tone),
            text::column(tokens, TOKENS_COLUMNS),
        );
        let columns = widths.iter().sum::<usize>() + TOKENS_COLUMNS + 4 * 2;
        match page.columns() {
            Some(_) => page.hang(&head, columns, note),
            None => page.hang(&head, columns, &text::clip(note, NOTE_COLUMNS)),
        }
    };
    let rows = views.iter().zip(titles).map(|(view, title)| {
        let goal = &view.goal;
        let said = match goal.status {
            Status::Active | Status::Complete => text::one_line(&goal.note),
            Status::Paused | Status::Blocked | Status::BudgetLimited => reason(goal),
        };
        let status = words::of_code("status", goal.status.name());
        let session = view.session.to_string();
        row(
            &[session, title, status, usage(goal), said],
            tone(goal.status),
        )
    });
    std::iter::once(row(&head, Tone::Plain))
        .chain(rows)
        .collect()
}

/// Decisions with their times, as they come.
pub(crate) fn decisions(recent: &[StoredDecision], zone: &TimeZone) -> Vec<String> {
    if recent.is_empty() {
        return vec![format!("  {}", say!("why.noDecisions"))];
    }
    let lines = recent.iter().map(|stored| {
        let record = &stored.record;
        let line = format!(
            "  {}  {}  {}",
            text::date(record.at, zone),
            text::column(&words::of_code("decision", &record.kind), 16),
            because(&record.why),
        );
        line.trim_end().to_owned()
    });
    lines.collect()
}

/// How goals are ordered for people: active ones first, then the ones that changed last.
pub(crate) fn sort(views: &mut [GoalView]) {
    views.sort_by(|one, other| {
        let key = |view: &GoalView| {
            (
                view.goal.status != Status::Active,
                std::cmp::Reverse(view.goal.updated_at),
                view.session.clone(),
            )
        };
        key(one).cmp(&key(other))
    });
}

/// The session's title, or its id where it has none.
pub(crate) fn name_of(view: &GoalView) -> String {
    let title = text::one_line(&view.title);
    if title.is_empty() {
        view.session.to_string()
    } else {
        title
    }
}

/// The status with its reason.
pub(crate) fn status(goal: &Goal) -> String {
    let status = words::of_code("status", goal.status.name());
    match reason(goal) {
        reason if reason.is_empty() => status,
        // The reason says the status, too.
        reason if paused_by_user(goal) => reason,
        reason => say!("status.because", status = status, reason = reason),
    }
}

/// What a status says by its colour.
pub(crate) fn tone(status: Status) -> Tone {
    match status {
        Status::Active => Tone::Plain,
        Status::Paused => Tone::Caution,
        Status::Blocked | Status::BudgetLimited => Tone::Bad,
        Status::Complete => Tone::Good,
    }
}

/// Why it stands where it stands, in the reader's language where the reason is one of the known
/// ones (X17); a provider's or an auditor's text is shown as it is.
pub(crate) fn reason(goal: &Goal) -> String {
    if paused_by_user(goal) {
        return say!("reason.pausedByUser");
    }
    let stored = goal.status_reason.as_str();
    match reason::code_of(stored) {
        Some(code) => words::of_code("reason", code),
        None => text::one_line(stored),
    }
}

/// Every pause of the loop has a reason (X17); the user's has none.
fn paused_by_user(goal: &Goal) -> bool {
    goal.status == Status::Paused && goal.status_reason.trim().is_empty()
}

/// What it does, why, and until when; nothing for a goal that is not active.
pub(crate) fn phase(view: &GoalView, now: Wall) -> String {
    if view.goal.status != Status::Active {
        return String::new();
    }
    match waits(view, now) {
        waits if waits.is_empty() => phase_name(view),
        waits => say!("phase.facts", phase = phase_name(view), facts = waits),
    }
}

/// The phase in words.
pub(crate) fn phase_name(view: &GoalView) -> String {
    words::of_code("phase", view.phase.name())
}

/// What is waited for, and how long.
pub(crate) fn waits(view: &GoalView, now: Wall) -> String {
    // Where phase and reason have the same words, the phase has said it.
    let why = Some(because(&view.why)).filter(|why| *why != phase_name(view));
    let mut facts = vec![why.unwrap_or_default(), text::one_line(&view.detail)];
    if let Some(next) = view.next.filter(|next| *next > now) {
        facts.push(say!("phase.until", span = text::span(next.since(now))));
    }
    joined(facts)
}

/// A reason code in words; nothing for none.
pub(crate) fn because(why: &str) -> String {
    if why.is_empty() {
        return String::new();
    }
    // A decision's reason may be an occasion, a cause, a status or an audit's failure.
    let families = ["why", "occasion", "reason", "status", "auditFailure"];
    let known = families
        .iter()
        .find_map(|family| words::here().code(family, why));
    known.map_or_else(|| text::one_line(why), str::to_owned)
}

/// Tokens used, of how many.
pub(crate) fn tokens(goal: &Goal) -> String {
    say!("tokens.used", usage = usage(goal))
}

/// How often an active goal was continued, of at most `max` times, or one that ended in all;
/// nothing for one that never was.
pub(crate) fn continuations(goal: &Goal, max: u32) -> String {
    match (goal.turns_used, goal.status) {
        (0, _) => String::new(),
        (n, Status::Active) => say!("turns.of", n = n, max = max),
        (1, _) => say!("turns.one"),
        (n, _) => say!("turns.all", n = n),
    }
}

/// Facts in one line, empty ones left out.
pub(crate) fn joined(facts: impl IntoIterator<Item = String>) -> String {
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    facts.join(SEPARATOR)
}

fn usage(goal: &Goal) -> String {
    let used = text::tokens(goal.tokens_used);
    match goal.token_budget {
        Some(budget) => say!("tokens.of", used = used, budget = text::tokens(budget)),
        None => used,
    }
}

fn session_columns(views: &[GoalView]) -> usize {
    let widest = views.iter().map(|view| text::width(view.session.as_str()));
    widest.max().unwrap_or_default().clamp(7, 40)
}

/// As wide as the widest word that can stand there.
fn status_columns() -> usize {
    let words = Status::ALL.map(|status| words::of_code("status", status.name()));
    let widest = words.iter().map(|word| text::width(word)).max();
    widest.unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
