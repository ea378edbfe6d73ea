//! `schedule`: tasks are listed, made and changed in the data folder, without a server; only `run`
//! needs one. Every step is the engine's.

use goal_core::limits::Limits;
use goal_core::schedule::{TaskDraft, When};
use goal_engine::clock::SystemClock;
use goal_engine::command::Sent;
use goal_engine::error::Code;
use goal_engine::ports::Sessions as _;
use goal_engine::schedule;
use goal_engine::server::OpenCode;
use goal_engine::store::{ServerKey, Store, StoredRun, StoredTask};
use serde_json::{Value, json};

use super::{clock, session};
use crate::args::{
    self, Connection, CreateTask, History, ListTasks, OneTask, ScheduleVerb, UpdateTask,
};
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;
use crate::signals::Signals;
use crate::{connect, render, text};

/// Days of the week in a text, from Sunday on.
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Does what was typed.
pub(super) async fn run(
    verb: ScheduleVerb,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    match verb {
        ScheduleVerb::List(args) => list(&args, connection, output).await,
        ScheduleVerb::Create(args) => create(*args, connection, output).await,
        ScheduleVerb::Update(args) => update(*args, connection, output).await,
        ScheduleVerb::Run(args) => run_now(&args, connection, output).await,
        ScheduleVerb::Enable(args) => enable(&args, true, connection, output).await,
        ScheduleVerb::Disable(args) => enable(&args, false, connection, output).await,
        ScheduleVerb::Delete(args) => delete(&args, connection, output).await,
        ScheduleVerb::History(args) => history(&args, connection, output).await,
    }
}

async fn list(
    args: &ListTasks,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let dir = args.dir.as_deref();
    let dir = dir.map(|dir| folder(dir, connection)).transpose()?;
    let store = open(connection).await?;
    let mut tasks = schedule::list(&store).await?;
    tasks.retain(|task| {
        let of = &task.task.draft.directory;
        dir.as_ref().is_none_or(|dir| dir == of)
    });
    let mut lasts = Vec::new();
    for task in &tasks {
        lasts.push(schedule::history(&store, &task.id, 1).await?.pop());
    }
    let shown = tasks.iter().zip(&lasts);
    let objects: Vec<Value> = shown
        .clone()
        .map(|(task, last)| object(task, last.as_ref()))
        .collect();
    output.result(&json!({ "status": "ok", "tasks": objects }), || {
        if args.quiet.quiet {
            return tasks.iter().map(|task| task.id.to_string()).collect();
        }
        if tasks.is_empty() {
            return vec![say!("schedule.none")];
        }
        shown
            .flat_map(|(task, last)| lines(task, last.as_ref()))
            .collect()
    })?;
    Ok(Exit::Fine)
}

async fn create(
    args: CreateTask,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let when = args.when.when()?;
    let when = when.ok_or_else(|| Failure::usage(say!("error.schedule.when")))?;
    let directory = folder(&args.dir, connection)?;
    let prompt = crate::objective::typed(&args.prompt)?;
    let goal = args.goal.goal.wish(/*replace*/ false)?;
    let draft = TaskDraft {
        name: args.name,
        directory,
        when,
        timezone: args.when.timezone.unwrap_or_else(schedule::local_zone),
        prompt,
        model: args.model,
        agent: args.agent,
        variant: args.variant,
        goal: goal.is_some(),
        goal_token_budget: goal.and_then(|goal| goal.token_budget),
        archive: args.goal.archive,
    };
    let store = open(connection).await?;
    let task = schedule::create(&store, &SystemClock, draft, !args.disabled).await?;
    tell(&task, "create", args.quiet.quiet, output)
}

async fn update(
    args: UpdateTask,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let when = args.when.when()?;
    let dir = args.dir.as_deref();
    let dir = dir.map(|dir| folder(dir, connection)).transpose()?;
    let said = args.prompt.as_deref();
    let said = said.map(crate::objective::typed).transpose()?;
    let store = open(connection).await?;
    let seen = schedule::find(&store, &args.task).await?;
    let before = seen.task.draft.clone();
    let mut draft = TaskDraft {
        name: args.name.unwrap_or(before.name),
        directory: dir.unwrap_or(before.directory),
        when: when.unwrap_or(before.when),
        timezone: args.when.timezone.unwrap_or(before.timezone),
        prompt: said.unwrap_or(before.prompt),
        model: args.model.unwrap_or(before.model),
        agent: args.agent.or(before.agent).filter(|_| !args.no_agent),
        variant: args.variant.or(before.variant).filter(|_| !args.no_variant),
        goal: before.goal,
        goal_token_budget: before.goal_token_budget,
        archive: before.archive,
    };
    args.goal.apply(&mut draft)?;
    if draft == seen.task.draft {
        return Err(Failure::usage(say!("error.schedule.unchanged")).into());
    }
    let task = schedule::update(&store, &SystemClock, &seen, draft).await?;
    tell(&task, "update", args.quiet.quiet, output)
}

async fn enable(
    args: &OneTask,
    enabled: bool,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let store = open(connection).await?;
    let seen = schedule::find(&store, &args.task).await?;
    let task = schedule::enable(&store, &SystemClock, &seen, enabled).await?;
    let action = if enabled { "enable" } else { "disable" };
    tell(&task, action, args.quiet.quiet, output)
}

async fn delete(
    args: &OneTask,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let store = open(connection).await?;
    let seen = schedule::find(&store, &args.task).await?;
    schedule::delete(&store, &seen.id).await?;
    let told = json!({ "status": "ok", "action": "delete", "taskID": seen.id.as_str() });
    output.result(&told, || {
        if args.quiet.quiet {
            return vec![seen.id.to_string()];
        }
        vec![say!("schedule.deleted", name = name(&seen))]
    })?;
    Ok(Exit::Fine)
}

async fn history(
    args: &History,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let store = open(connection).await?;
    let task = schedule::find(&store, &args.task).await?;
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let runs = schedule::history(&store, &task.id, limit).await?;
    let objects: Vec<Value> = runs.iter().map(run_object).collect();
    let told = json!({ "status": "ok", "taskID": task.id.as_str(), "runs": objects });
    output.result(&told, || {
        if runs.is_empty() {
            return vec![say!("schedule.noRuns")];
        }
        runs.iter().flat_map(run_lines).collect()
    })?;
    Ok(Exit::Fine)
}

async fn run_now(
    args: &OneTask,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let connected = connect::for_command(connection, &Limits::DEFAULT).await?;
    let task = schedule::find(&connected.ports.store, &args.task).await?;
    let server = ServerKey::attached(&connected.server.url);
    let server = server.map_err(|error| Failure::of(Code::Unreachable, error.to_string()))?;
    let mut signals = Signals::listen().map_err(|error| Failure::system(&error))?;
    let done = tokio::select! {
        done = schedule::run_now(&connected.ports, &server, &task) => done,
        () = signals.next() => {
            super::audits_end(&connected.auditor, output).await;
            return Ok(Exit::Interrupted);
        }
    };
    super::audits_end(&connected.auditor, output).await;
    let sent = done.map_err(session::failure)?;
    let session = &sent.session.facts.id;
    let told = json!({
        "status": "ok",
        "action": "run",
        "taskID": task.id.as_str(),
        "sessionID": session.as_str(),
        "directory": sent.session.directory,
        "title": sent.session.title,
        "dispatchedAsCommand": sent.command.is_some(),
        "goalEnabled": sent.goal.is_some(),
    });
    output.result(&told, || match args.quiet.quiet {
        true => vec![session.to_string()],
        false => sent_lines(&sent),
    })?;
    Ok(Exit::Fine)
}

fn sent_lines(sent: &Sent) -> Vec<String> {
    let session = &sent.session.facts.id;
    let directory = text::one_line(&sent.session.directory);
    let mut lines = vec![
        say!("session.created", session = session),
        say!("session.in", directory = directory),
    ];
    if let Some(started) = &sent.goal {
        let tokens = render::tokens(&started.view.goal);
        lines.push(say!("session.goal", tokens = tokens));
        lines.extend(super::change::follow_lines(session));
    }
    lines
}

/// The store of the data folder: it needs neither server nor host.
async fn open(connection: &Connection) -> Result<Store, Failure> {
    let database = connection.data_dir()?.database();
    let opened = tokio::task::spawn_blocking(move || Store::open(&database)).await;
    opened.map_err(|error| Failure::system(&std::io::Error::other(error)))
}

/// A task's folder; one on another machine is taken as it is.
fn folder(dir: &std::path::Path, connection: &Connection) -> Result<String, Failure> {
    let is_local = match connection.target()? {
        None => true,
        Some(_) => OpenCode::new(connect::client(connection, &Limits::DEFAULT)?).is_local(),
    };
    args::folder(dir, is_local)
}

fn tell(
    task: &StoredTask,
    action: &'static str,
    quiet: bool,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let told = json!({ "status": "ok", "action": action, "task": object(task, None) });
    output.result(&told, || match quiet {
        true => vec![task.id.to_string()],
        false => lines(task, None),
    })?;
    Ok(Exit::Fine)
}

fn name(task: &StoredTask) -> String {
    text::one_line(&task.task.draft.name)
}

fn object(task: &StoredTask, last: Option<&StoredRun>) -> Value {
    let mut object = json!({ "taskID": task.id.as_str() });
    super::extend(&mut object, json!(task.task.draft));
    let more = json!({
        "enabled": task.enabled,
        "nextRunAt": task.next.map(|next| next.0),
        "createdAt": task.created.0,
        "updatedAt": task.updated.0,
        "lastRun": last.map(run_object),
    });
    super::extend(&mut object, more);
    object
}

fn lines(task: &StoredTask, last: Option<&StoredRun>) -> Vec<String> {
    let (draft, zone) = (&task.task.draft, clock().zone);
    let state = match task.next {
        _ if !task.enabled => say!("schedule.isDisabled"),
        Some(next) => say!("schedule.next", time = text::date(next, &zone)),
        None => say!("schedule.never"),
    };
    let goal = match (draft.goal, draft.goal_token_budget) {
        (false, _) => say!("schedule.goal.no"),
        (true, None) => say!("schedule.goal.yes"),
        (true, Some(tokens)) => say!("schedule.goal.budget", tokens = tokens),
    };
    let archive = draft.archive.then(|| say!("schedule.archives"));
    let facts = [Some(rule_text(task)), Some(state), Some(goal), archive];
    let facts = render::joined(facts.into_iter().flatten());
    let mut lines = vec![
        format!("{}  {}", task.id, name(task)),
        format!("  {facts}"),
        say!("session.in", directory = text::one_line(&draft.directory)),
    ];
    lines.extend(last.map(|run| {
        let state = crate::words::of_code("schedule.state", run.state.name());
        let time = text::date(run.occurrence.unwrap_or(run.claimed), &zone);
        say!("schedule.last", time = time, state = state)
    }));
    lines
}

fn rule_text(task: &StoredTask) -> String {
    let draft = &task.task.draft;
    let zone = &draft.timezone;
    match &draft.when {
        When::Daily { times } => {
            say!("schedule.rule.daily", times = times.join(","), zone = zone)
        }
        When::Weekly { weekdays, times } => {
            let days = weekdays
                .iter()
                .filter_map(|day| DAYS.get(usize::from(*day)).copied());
            let days = days.collect::<Vec<_>>().join(",");
            let times = times.join(",");
            say!(
                "schedule.rule.weekly",
                days = days,
                times = times,
                zone = zone
            )
        }
        When::Once { date, time } => {
            say!("schedule.rule.once", date = date, time = time, zone = zone)
        }
        When::Cron { cron } => {
            say!(
                "schedule.rule.cron",
                cron = text::one_line(cron),
                zone = zone
            )
        }
    }
}

fn run_object(run: &StoredRun) -> Value {
    json!({
        "state": run.state.name(),
        "occurrence": run.occurrence.map(|at| at.0),
        "occurrences": run.occurrences,
        "claimedAt": run.claimed.0,
        "endedAt": run.ended.map(|at| at.0),
        "sessionID": run.session.as_ref().map(goal_core::goal::SessionId::as_str),
        "reason": run.reason,
    })
}

fn run_lines(run: &StoredRun) -> Vec<String> {
    let zone = clock().zone;
    let state = crate::words::of_code("schedule.state", run.state.name());
    let time = text::date(run.occurrence.unwrap_or(run.claimed), &zone);
    let session = run.session.as_ref().map(ToString::to_string);
    let times = (run.occurrences > 1).then(|| say!("schedule.occurrences", n = run.occurrences));
    let asked = run.occurrence.is_none().then(|| say!("schedule.asked"));
    let facts = render::joined([Some(state), times, asked, session].into_iter().flatten());
    let mut lines = vec![format!("{time}  {facts}")];
    if !run.reason.is_empty() {
        lines.push(format!("  {}", text::one_line(&run.reason)));
    }
    lines
}
