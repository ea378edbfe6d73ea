//! Starting a goal: objective file, then goal, then prompt (O6, X21).

use goal_core::change::{self, Change, NewGoal, StoredObjective};
use goal_core::continuation;
use goal_core::decision::PauseCause;
use goal_core::evidence::Voice;
use goal_core::goal::{Goal, GoalId, MessageId, ResumedOver, SessionId, Status};
use goal_core::prompt;
use goal_core::slash::Invocation;
use goal_core::tail::Tail;
use goal_core::time::Wall;
use goal_core::timeline::Timeline;

use super::choices::Choices;
use super::dispatch::{self, Outgoing, Way};
use super::fit::{self, AuditorCopy, Fitted, Standing};
use super::{call_error, check_budget, look, objective_of, own_goal, read_session, write_error};
use crate::error::{Code, Error};
use crate::ports::{Address, AuditorModel, Ports, SessionRead};
use crate::stored::{Draft, WriteError, goal_of};
use crate::view::GoalView;

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartRequest {
    /// The session.
    pub session: SessionId,
    /// The objective, of any length; the auditor judges by at most 5,000 UTF-16 units. One that is
    /// sent and begins with a slash command of the server stands for that command's text.
    pub objective: String,
    /// Tokens it may use, if limited: 1 to 2^53 - 1.
    pub token_budget: Option<u64>,
    /// Send the objective as a prompt, with the reminder that goal mode is on, or as the slash
    /// command that it is, with what was chosen for it, or what [`Choices::saying`] says in its
    /// place; `None`: send nothing.
    pub send: Option<Choices>,
    /// Take the place of a goal that is not complete.
    pub replace: bool,
}

/// A started goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The goal.
    pub view: GoalView,
    /// The whole objective, as it was given, or as the slash command has it.
    pub objective: String,
    /// The slash command that was run.
    pub command: Option<String>,
    /// What the auditor gets of the objective; a prompt that is sent holds all of it (O12).
    pub copy: AuditorCopy,
    /// The objective stands in the metadata: the server is elsewhere, or the file could not be
    /// written (O7, X1).
    pub inline: bool,
    /// The model that will audit it.
    pub auditor: AuditorModel,
    /// The prompt that was sent.
    pub message: Option<MessageId>,
    /// The session is empty and nothing was sent: the goal waits for the first message.
    pub waits_for_first_message: bool,
}

/// Starts a goal in a session. A refused start changes nothing; an objective file it had replaced
/// is put back. An objective over the limit is condensed first, which takes up to a minute and a
/// call of the model that audits; dropping the future then leaves nothing behind.
///
/// # Errors
/// [`Code::InvalidSession`], [`Code::InvalidObjective`], [`Code::InvalidBudget`],
/// [`Code::UnknownSession`], [`Code::UnsuitableSession`], [`Code::GoalExists`],
/// [`Code::NoAuditor`], [`Code::CorruptMetadata`], [`Code::Conflict`] if the session's goal changed
/// while the objective was condensed, the codes of a failed call, and [`Code::NotDelivered`]: then
/// the goal exists and is paused.
pub async fn start(ports: &Ports, request: StartRequest) -> Result<Started, Error> {
    let ready = prepare_start(ports, request).await?;
    start_prepared(ports, ready).await
}

/// A start whose objective fits.
#[derive(Debug)]
pub(crate) struct ReadyStart {
    request: StartRequest,
    goal: GoalId,
    /// How the objective is sent, if it is.
    way: Way,
    /// The whole objective.
    objective: String,
    fitted: Fitted,
    /// What stood there before the objective was condensed, if it had to be.
    standing: Option<Standing>,
}

/// Checks a start and fits its objective. Writes nothing and may be dropped at any await.
pub(crate) async fn prepare_start(
    ports: &Ports,
    request: StartRequest,
) -> Result<ReadyStart, Error> {
    check_budget(request.token_budget)?;
    let text = objective_of(&request.objective)?;
    let way = way(ports, &request, text).await?;
    let objective = way.objective(text);
    let text = objective_of(&objective)?;
    let now = ports.clock.wall();
    let goal = continuation::goal_id(&request.session, now, &ports.clock.random());
    let (fitted, standing) = match Fitted::whole(text, ports.limits.objective_max) {
        Some(whole) => (whole, None),
        None => {
            let read = read_session(ports, &request.session).await?;
            check_suitable(&read)?;
            let own = check_free(ports, &read, request.replace).await?;
            let voice = fit::voice(ports, &read).await?;
            let voice = way.address(address(&request, voice)).voice();
            // What would be refused in the end need not be waited for.
            resolve_auditor(ports, &read.directory, voice.as_ref()).await?;
            let standing = Standing::of(ports, &read, own).await;
            let fitted = Fitted::shortened(ports, &read, &goal, voice, text).await;
            (fitted, Some(standing))
        }
    };
    Ok(ReadyStart {
        goal,
        objective: text.to_owned(),
        way,
        fitted,
        standing,
        request,
    })
}

/// Carries a prepared start out.
pub(crate) async fn start_prepared(ports: &Ports, ready: ReadyStart) -> Result<Started, Error> {
    let ReadyStart {
        request,
        goal,
        way,
        objective,
        fitted: Fitted { text: fitted, copy },
        standing,
    } = ready;
    let read = read_session(ports, &request.session).await?;
    check_suitable(&read)?;
    let own = check_free(ports, &read, request.replace).await?;
    if let Some(standing) = standing {
        standing.check(ports, &read, own.as_ref()).await?;
    }
    let scene = Scene::read(ports, &read).await?;
    let to = way.address(address(&request, scene.voice.clone()));
    let auditor = resolve_auditor(ports, &read.directory, to.voice().as_ref()).await?;
    let kept = Kept::put(ports, &read, &fitted).await;
    let put = fitted.clone();
    let sends = request.send.is_some();
    let first_message =
        sends.then(|| continuation::first_message_id(scene.newest, &ports.clock.random()));
    let new = NewGoal {
        id: goal,
        session: request.session.clone(),
        objective: kept.stored(fitted),
        token_budget: request.token_budget,
        first_message: first_message.clone(),
        over: scene.over(sends, &read),
    };
    let goal = match install(ports, &read, new, request.replace).await {
        Ok(goal) => goal,
        Err(Uninstalled { error, certain }) => {
            kept.undo(ports, &read, certain).await;
            return Err(error);
        }
    };
    kept.stays(ports, &read, &put).await;
    let command = way.command().map(str::to_owned);
    if let Some(message) = &first_message {
        let out = outgoing(&request, message, to, way, goal.token_budget)?;
        send(ports, &read, &goal, out).await?;
    }
    Ok(Started {
        view: look::view_of(&read, goal),
        objective,
        command,
        copy,
        inline: kept.inline,
        auditor,
        message: first_message,
        waits_for_first_message: scene.empty && !sends,
    })
}

/// How the objective is sent.
async fn way(ports: &Ports, request: &StartRequest, text: &str) -> Result<Way, Error> {
    let typed = request
        .send
        .as_ref()
        .is_some_and(|send| send.said().is_none());
    if !typed || Invocation::parse(text).is_none() {
        return Ok(Way::Prompt);
    }
    let read = read_session(ports, &request.session).await?;
    check_suitable(&read)?;
    let way = Way::of(ports, &read.directory, text).await?;
    Ok(way.for_a_goal())
}

/// The message that starts the goal: all of what was typed, or what is said in its place.
fn outgoing(
    request: &StartRequest,
    message: &MessageId,
    to: Address,
    way: Way,
    budget: Option<u64>,
) -> Result<Outgoing, Error> {
    let choices = request.send.as_ref();
    let said = choices.and_then(Choices::said);
    let reminder = prompt::first_turn_reminder(budget);
    let instructions = said.and_then(|said| said.instructions.as_deref());
    Ok(Outgoing {
        message: message.clone(),
        to,
        text: match said {
            Some(said) => said.prompt.clone(),
            None => objective_of(&request.objective)?.to_owned(),
        },
        attachments: choices.map_or_else(Vec::new, |choices| choices.attachments().to_vec()),
        reminder: Some(match instructions {
            Some(instructions) => format!("{instructions}\n\n{reminder}"),
            None => reminder,
        }),
        way,
    })
}

/// Whom the session speaks with once the goal is started: what was chosen for the prompt, else
/// `voice`.
fn address(request: &StartRequest, voice: Option<Voice>) -> Address {
    let chosen = request.send.as_ref().map(Choices::to);
    chosen.cloned().unwrap_or_default().before(voice)
}

fn check_suitable(read: &SessionRead) -> Result<(), Error> {
    let what = if read.audit.is_some() {
        "is an audit"
    } else if read.facts.parent.is_some() {
        "is a sub-agent of another session"
    } else if read.facts.archived {
        "is archived"
    } else {
        return Ok(());
    };
    let text = format!(
        "Session {} {what}: no goal runs there. Choose another.",
        read.facts.id
    );
    Err(Error::new(Code::UnsuitableSession, text))
}

/// The session's own goal, if it may be replaced: one that is complete, or that only came along
/// with a fork, unasked.
async fn check_free(
    ports: &Ports,
    read: &SessionRead,
    replace: bool,
) -> Result<Option<Goal>, Error> {
    match own_goal(ports, read).await? {
        Some(goal) if !replace && goal.status != Status::Complete => Err(Error::new(
            Code::GoalExists,
            format!(
                "The session has a goal already, and it is {}. Use --replace to start another \
                 in its place.",
                goal.status.name()
            ),
        )),
        own => Ok(own),
    }
}

pub(super) async fn resolve_auditor(
    ports: &Ports,
    directory: &str,
    voice: Option<&Voice>,
) -> Result<AuditorModel, Error> {
    match ports.auditor.resolve(directory, voice).await {
        Ok(Some(model)) => Ok(model),
        Ok(None) => Err(Error::new(
            Code::NoAuditor,
            "No model can be found to audit the goal. Set small_model in OpenCode's \
             configuration, or log in to a provider with: opencode auth login",
        )),
        Err(error) => Err(call_error(error)),
    }
}

/// The session as the new goal finds it.
pub(super) struct Scene {
    pub(super) voice: Option<Voice>,
    tail: Option<MessageId>,
    /// The latest time in it, by the server's clock.
    pub(super) newest: Wall,
    empty: bool,
    busy: bool,
}

impl Scene {
    pub(super) async fn read(ports: &Ports, read: &SessionRead) -> Result<Self, Error> {
        let id = &read.facts.id;
        let limit = ports.limits.page_messages;
        let (page, statuses) = tokio::join!(
            ports.sessions.messages(id, &read.directory, None, limit),
            ports.sessions.statuses(&read.directory),
        );
        let page = page.map_err(call_error)?;
        let busy = statuses.map_err(call_error)?.contains_key(id);
        let revert = read.facts.revert.as_ref();
        let created = page.items.iter().map(|message| message.created);
        let newest = created.fold(read.updated, Wall::max);
        let timeline = Timeline::new(page.items, revert);
        let tail = Tail::newest(&timeline).map(|message| message.id.clone());
        Ok(Self {
            voice: Voice::of(&timeline),
            empty: timeline.messages().is_empty(),
            tail,
            newest,
            busy,
        })
    }

    /// Starting without a prompt goes over the tail as Resume does, if the session is idle (X12).
    fn over(&self, send: bool, read: &SessionRead) -> Option<ResumedOver> {
        (!send && !self.busy).then(|| ResumedOver {
            tail: self.tail.clone(),
            revert: read.facts.revert.clone(),
        })
    }
}

/// Where the objective was put, and what stood there before.
pub(super) struct Kept {
    pub(super) inline: bool,
    before: Option<String>,
}

impl Kept {
    pub(super) async fn put(ports: &Ports, read: &SessionRead, text: &str) -> Self {
        let id = read.facts.id.as_str();
        if !ports.sessions.is_local() {
            return Self {
                inline: true,
                before: None,
            };
        }
        let before = ports.objectives.read(id).await;
        match ports.objectives.write(id, text).await {
            Ok(_) => Self {
                inline: false,
                before,
            },
            Err(error) => {
                tracing::warn!(%error, "the objective goes into the metadata instead");
                Self {
                    inline: true,
                    before,
                }
            }
        }
    }

    /// The objective as the goal holds it.
    pub(super) fn stored(&self, text: String) -> StoredObjective {
        match self.inline {
            true => StoredObjective::Inline(text),
            false => StoredObjective::File,
        }
    }

    /// Puts the text there again if whoever cleared the goal before took it away meanwhile.
    async fn stays(&self, ports: &Ports, read: &SessionRead, text: &str) {
        let id = read.facts.id.as_str();
        if self.inline || ports.objectives.read(id).await.is_some() {
            return;
        }
        if let Err(error) = ports.objectives.write(id, text).await {
            tracing::warn!(%error, "the objective that was taken away could not be put back");
        }
    }

    /// Puts back what stood there, after a write of the goal that failed; `certain`: it has not
    /// taken effect and will not. Where that is not known, a text that a stored goal may be judged
    /// by stays: a goal without its objective never moves again.
    pub(super) async fn undo(&self, ports: &Ports, read: &SessionRead, certain: bool) {
        if self.inline || !(certain || self.is_unwritten(ports, read).await) {
            return;
        }
        let id = read.facts.id.as_str();
        match &self.before {
            Some(text) => {
                if let Err(error) = ports.objectives.write(id, text).await {
                    tracing::warn!(%error, "the earlier objective could not be put back");
                }
            }
            None => ports.objectives.delete(id).await,
        }
    }

    /// There is an earlier text, and the goal that it belongs to stands as it did.
    async fn is_unwritten(&self, ports: &Ports, read: &SessionRead) -> bool {
        if self.before.is_none() {
            return false;
        }
        let id = &read.facts.id;
        let fresh = ports.sessions.session(id, Some(&read.directory)).await;
        fresh.is_ok_and(|fresh| goal_of(&fresh, ports) == goal_of(read, ports))
    }
}

/// Why a goal was not installed.
struct Uninstalled {
    error: Error,
    /// Nothing was written, and nothing will be.
    certain: bool,
}

impl From<Error> for Uninstalled {
    /// An error before anything was written.
    fn from(error: Error) -> Self {
        Self {
            error,
            certain: true,
        }
    }
}

impl From<WriteError> for Uninstalled {
    fn from(error: WriteError) -> Self {
        Self {
            certain: error.is_certain(),
            error: write_error(error),
        }
    }
}

async fn install(
    ports: &Ports,
    read: &SessionRead,
    new: NewGoal,
    replace: bool,
) -> Result<Goal, Uninstalled> {
    let id = &read.facts.id;
    let fresh = ports
        .sessions
        .session(id, Some(&read.directory))
        .await
        .map_err(call_error)?;
    check_free(ports, &fresh, replace).await?;
    let goal = change::create(new, ports.clock.wall(), &ports.limits);
    let draft = Draft::of(fresh, goal)?;
    Ok(draft.write_surely(ports).await?.goal)
}

/// Sends the objective; a goal whose message did not arrive is paused.
///
/// Nobody else sends it: the goal keeps only its id, so what was chosen for it ends with this call.
/// Should the process die in between, the goal is paused as one whose first message never came, and
/// a Resume goes on with the voice of the session.
async fn send(ports: &Ports, read: &SessionRead, goal: &Goal, out: Outgoing) -> Result<(), Error> {
    let Err(reason) = dispatch::deliver(ports, read, out).await else {
        return Ok(());
    };
    pause_undelivered(ports, read, goal).await;
    Err(Error::new(
        Code::NotDelivered,
        format!(
            "The goal was written, but its prompt was not delivered: {reason} The goal is paused."
        ),
    ))
}

async fn pause_undelivered(ports: &Ports, read: &SessionRead, goal: &Goal) {
    let change = Change::LoopPaused {
        cause: PauseCause::FirstMessageMissing,
        ledger: None,
        audited: None,
    };
    let guard = |fresh: &Goal| fresh.id == goal.id && fresh.status == Status::Active;
    let id = &read.facts.id;
    let draft = Draft::prepare(ports, id, &read.directory, guard, vec![change]).await;
    if let Ok(draft) = draft
        && draft.write_surely(ports).await.is_ok()
    {
        return;
    }
    tracing::warn!(session = %id, "the goal without its prompt could not be paused");
}
