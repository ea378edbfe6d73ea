//! Carrying out a decision: write, look again, prompt. Never dropped half-way: the actor polls it
//! beside its inbox, and before each effect it asks whether the user wants something else (X8).

use goal_core::change::Change;
use goal_core::continuation::{self, ContinuationIds};
use goal_core::decision::{BlockedCause, Decision, PauseCause, Prompting, Settlement, Unknown};
use goal_core::goal::{Goal, MessageId, ResumedOver, SessionId, Status};
use goal_core::judge::Audited;
use goal_core::message::ErrorKind;
use goal_core::notice;
use goal_core::payload::same_beside;
use goal_core::prompt::{self, Occasion};
use goal_core::snapshot::Snapshot;
use goal_core::tail::{Tail, TailContext};
use goal_core::timeline::Timeline;

use crate::command;
use crate::live::Live;
use crate::ports::{Address, CallError, CallErrorKind, Ports, PromptOut, SessionRead};
use crate::stored::{
    Draft, Overwritten, WriteError, Written, carries, goal_of, is_certain, overwritten,
    siblings_run_over,
};
use crate::tell::{self, Planned};
use crate::think::{Slot, effective_objective};

/// What one step acts for.
#[derive(Debug)]
pub(crate) struct Step {
    /// The snapshot that was decided on.
    pub(crate) snapshot: Snapshot,
    /// The session at that moment.
    pub(crate) session: SessionRead,
    /// The audit before the decision, if there was one.
    pub(crate) audited: Option<Audited>,
    /// The cycle's permit to be under way.
    pub(crate) _slot: Option<Slot>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Acted {
    /// The prompt is taken up, or stored and on its way.
    Prompted {
        /// The goal as written.
        goal: Goal,
    },
    /// The prompt was sent and nothing shows that it arrived.
    Unconfirmed {
        /// The goal as written.
        goal: Goal,
    },
    /// The goal was paused or ended by this step.
    Stopped {
        /// The goal as written.
        goal: Goal,
        /// What the user is told of it.
        notice: Option<Planned>,
    },
    /// Somebody else changed the goal, or the user wants something else.
    Dropped,
    /// Something could not be read or written.
    Failed {
        /// What.
        what: Unknown,
        /// Why, for people.
        message: String,
        /// A notice that is right if the write took effect after all.
        notice: Option<Planned>,
    },
}

/// The ids of the continuation that `decision` asks for; `None` if it sends nothing.
pub(crate) fn ids_of(snapshot: &Snapshot, decision: &Decision) -> Option<ContinuationIds> {
    let Decision::Continue(prompting) = decision else {
        return None;
    };
    let goal = &snapshot.goal;
    let revert = snapshot.session.revert.as_ref();
    let tail = snapshot.tail.id.as_ref()?;
    match prompting {
        Prompting::New(_) | Prompting::Finish => {
            Some(continuation::ids(&goal.id, tail, snapshot.tail.at, revert))
        }
        Prompting::Resend => {
            let context = TailContext {
                goal,
                revert,
                overflow_seen: snapshot.memory.overflow_seen,
            };
            continuation::ids_sent(&snapshot.timeline, tail, context)
        }
    }
}

/// Carries out a pause, an ending or a continuation. Other decisions have no effect.
pub(crate) async fn act(ports: &Ports, live: &Live, step: Step, decision: Decision) -> Acted {
    let ledger = step.snapshot.ledger.clone();
    let audited = step.audited.clone();
    match decision {
        Decision::Pause(cause) => {
            let change = Change::LoopPaused {
                cause,
                ledger: Some(ledger),
                audited,
            };
            stop(ports, live, &step, Ending::Pause(cause), vec![change]).await
        }
        Decision::Settle(settlement) => {
            let change = Change::Settled {
                settlement: settlement.clone(),
                ledger,
                audited,
            };
            let changes = if is_refused(&settlement) {
                vec![Change::Refunded, change]
            } else {
                vec![change]
            };
            stop(ports, live, &step, Ending::Settle(settlement), changes).await
        }
        Decision::Continue(prompting) => go_on(ports, live, &step, prompting).await,
        Decision::Rest(_) | Decision::Recheck(_) | Decision::Audit => Acted::Dropped,
    }
}

/// Pauses a goal at once after its turn was stopped (R42): no messages are read first.
pub(crate) async fn pause_at_once(
    ports: &Ports,
    live: &Live,
    session: &SessionId,
    directory: &str,
    goal: &Goal,
    cause: PauseCause,
) -> Acted {
    let change = Change::LoopPaused {
        cause,
        ledger: None,
        audited: None,
    };
    let guard = |fresh: &Goal| fresh.id == goal.id && fresh.status == Status::Active;
    let draft = Draft::prepare(ports, session, directory, guard, vec![change]).await;
    match commit(ports, live, draft).await {
        Ok(goal) => Acted::Stopped { goal, notice: None },
        Err(lost) => lost.into_acted(),
    }
}

/// Records what the Resume `goal` of another client, which does not know of that, goes over (X12).
/// `None`: there was nothing to record, or it could not be.
pub(crate) async fn record_resume(
    ports: &Ports,
    live: &Live,
    read: &SessionRead,
    goal: &Goal,
) -> Option<Goal> {
    let scene = command::scene_of_resume(ports, read, goal).await;
    let (over, forget_first_message) = match scene {
        Ok((None, false)) => return None,
        Ok(scene) => scene,
        Err(error) => {
            tracing::warn!(%error, "what a Resume goes over could not be recorded");
            return None;
        }
    };
    let change = Change::Resumed {
        token_budget: None,
        over,
        forget_first_message,
    };
    let guard = |fresh: &Goal| same_goal(fresh, goal);
    let (id, directory) = (&read.facts.id, &read.directory);
    let draft = Draft::prepare(ports, id, directory, guard, vec![change]).await;
    commit(ports, live, draft).await.ok()
}

/// Takes back the pause of a stop that was the server's reload, and goes over the turn that was
/// cut off (X12). `None`: somebody else changed the goal, or it could not be written.
pub(crate) async fn undo_reload(
    ports: &Ports,
    live: &Live,
    read: &SessionRead,
    goal: &Goal,
) -> Option<Goal> {
    let over = match command::tail_now(ports, read, goal).await {
        Ok(over) => over,
        Err(error) => {
            tracing::warn!(error = error.message, "what a reload cut off is not known");
            ResumedOver {
                tail: None,
                revert: None,
            }
        }
    };
    let guard = |fresh: &Goal| {
        let paused =
            fresh.status == Status::Paused && fresh.status_reason == PauseCause::Aborted.reason();
        fresh.id == goal.id && (paused || fresh.status == Status::Active)
    };
    let change = vec![Change::ReloadUndone { over }];
    let draft = Draft::prepare(ports, &read.facts.id, &read.directory, guard, change).await;
    commit(ports, live, draft).await.ok()
}

#[derive(Clone, Debug)]
enum Ending {
    Pause(PauseCause),
    Settle(Settlement),
}

fn is_refused(settlement: &Settlement) -> bool {
    matches!(
        settlement,
        Settlement::Blocked(BlockedCause::PromptRefused { .. })
    )
}

/// Pauses or ends the goal that was decided on.
async fn stop(
    ports: &Ports,
    live: &Live,
    step: &Step,
    ending: Ending,
    changes: Vec<Change>,
) -> Acted {
    if step.audited.is_some()
        && let Err(acted) = check_still_judged(ports, step).await
    {
        return acted;
    }
    if live.halted() {
        return Acted::Dropped;
    }
    end(ports, live, step, &step.snapshot.goal, ending, changes).await
}

/// Writes the end of `expected`. The notice is written down before the goal is, so that a crash
/// between the two loses neither (R80).
async fn end(
    ports: &Ports,
    live: &Live,
    step: &Step,
    expected: &Goal,
    ending: Ending,
    changes: Vec<Change>,
) -> Acted {
    let session = &step.session;
    let guard = |fresh: &Goal| same_goal(fresh, expected);
    let id = &session.facts.id;
    let draft = match Draft::prepare(ports, id, &session.directory, guard, changes).await {
        Ok(draft) => draft,
        Err(error) => return failed_write(error, None),
    };
    let objective = step.snapshot.objective.as_deref().unwrap_or_default();
    let told = match &ending {
        Ending::Pause(cause) => notice::of_pause(*cause, objective),
        Ending::Settle(settlement) => {
            Some(notice::of_settlement(settlement, &draft.goal, objective))
        }
    };
    let planned = match told {
        Some(notice) => tell::plan(ports, session, &draft.goal, &notice).await,
        None => None,
    };
    match commit(ports, live, Ok(draft)).await {
        Ok(goal) => Acted::Stopped {
            goal,
            notice: planned,
        },
        Err(Lost::Write(WriteError::Call(call))) if !is_certain(&call) => {
            failed_write(WriteError::Call(call), planned)
        }
        Err(lost) => {
            tell::withdraw(ports, planned).await;
            lost.into_acted()
        }
    }
}

/// A verdict counts only while what it judged still stands: objective and tail (X8, G61).
async fn check_still_judged(ports: &Ports, step: &Step) -> Result<(), Acted> {
    let look = look_again(ports, step, &step.snapshot.goal).await?;
    if look.unchanged {
        Ok(())
    } else {
        Err(Acted::Dropped)
    }
}

async fn go_on(ports: &Ports, live: &Live, step: &Step, prompting: Prompting) -> Acted {
    let decision = Decision::Continue(prompting.clone());
    let Some(ids) = ids_of(&step.snapshot, &decision) else {
        return Acted::Dropped;
    };
    if live.halted() {
        return Acted::Dropped;
    }
    let (goal, occasion) = match prompting {
        Prompting::New(occasion) => match persist(ports, live, step).await {
            Ok(goal) => (goal, occasion),
            Err(acted) => return acted,
        },
        Prompting::Finish | Prompting::Resend => (step.snapshot.goal.clone(), Occasion::Progress),
    };
    let look = match look_again(ports, step, &goal).await {
        Ok(look) => look,
        Err(acted) => return acted,
    };
    if !look.unchanged || look.busy || live.halted() {
        return Acted::Dropped;
    }
    let Some(objective) = look.objective else {
        return Acted::Dropped;
    };
    let out = PromptOut {
        message: ids.message,
        part: Some(ids.part),
        to: Address::from(step.snapshot.voice.clone()),
        text: text_of(ports, step, &goal, &objective, occasion),
        attachments: Vec::new(),
        reminder: None,
    };
    send(ports, live, step, goal, &out).await
}

fn text_of(ports: &Ports, step: &Step, goal: &Goal, objective: &str, occasion: Occasion) -> String {
    let snapshot = &step.snapshot;
    let context = TailContext {
        goal: &snapshot.goal,
        revert: snapshot.session.revert.as_ref(),
        overflow_seen: snapshot.memory.overflow_seen,
    };
    let most = ports.limits.objective_max;
    let edited = continuation::told_otherwise(&snapshot.timeline, context, objective, most);
    prompt::continuation(&prompt::Continuation {
        objective,
        occasion: if edited {
            Occasion::ObjectiveEdited
        } else {
            occasion
        },
        tokens_used: goal.tokens_used,
        token_budget: goal.token_budget,
        turn: goal.turns_used,
        turns_max: ports.limits.turns_max,
    })
}

/// Writes the continuation down before it is sent (R74).
async fn persist(ports: &Ports, live: &Live, step: &Step) -> Result<Goal, Acted> {
    let snapshot = &step.snapshot;
    let Some(tail) = snapshot.tail.id.clone() else {
        return Err(Acted::Dropped);
    };
    let change = Change::Continued {
        ledger: snapshot.ledger.clone(),
        tail,
        audited: step.audited.clone(),
    };
    let session = &step.session;
    let guard = |fresh: &Goal| same_goal(fresh, &snapshot.goal);
    let id = &session.facts.id;
    let draft = Draft::prepare(ports, id, &session.directory, guard, vec![change]).await;
    commit(ports, live, draft).await.map_err(Lost::into_acted)
}

/// Why a write does not stand.
enum Lost {
    /// It did not take effect, or may not have.
    Write(WriteError),
    /// It ran over what another client wrote; that is back, and the step ends so.
    Overwritten(Box<Acted>),
}

impl Lost {
    fn into_acted(self) -> Acted {
        match self {
            Self::Write(error) => failed_write(error, None),
            Self::Overwritten(acted) => *acted,
        }
    }
}

/// Writes a draft and looks whether it ran over what another client wrote: the one way in which a
/// step writes a goal (X17).
async fn commit(
    ports: &Ports,
    live: &Live,
    draft: Result<Draft, WriteError>,
) -> Result<Goal, Lost> {
    let draft = draft.map_err(Lost::Write)?;
    live.writing(&draft.goal);
    let written = draft.write(ports).await.map_err(Lost::Write)?;
    settle_overwritten(ports, live, &written)
        .await
        .map_err(|acted| Lost::Overwritten(Box::new(acted)))
}

/// Waits for the echo of a write; what another client wrote in between our read and it is written
/// back (X17).
async fn settle_overwritten(ports: &Ports, live: &Live, written: &Written) -> Result<Goal, Acted> {
    let echoed = |live: &Live| {
        live.heard()
            .iter()
            .any(|read| carries(read, &written.goal, ports))
            .then_some(())
    };
    // Without an echo the look before a prompt reads the goal anew.
    let _ = live.wait(ports.limits.write_echo, echoed).await;
    let lost = overwritten(&live.heard(), written, ports);
    if lost == Overwritten::Nothing {
        return Ok(written.goal.clone());
    }
    let failed = |error| failed_write(WriteError::Call(error), None);
    // Whoever wrote on top of our write wants the newest thing of all.
    let fresh = read_again(ports, &written.base).await.map_err(failed)?;
    if !carries(&fresh, &written.goal, ports) {
        return Err(Acted::Dropped);
    }
    let (session, directory) = (&fresh.facts.id, &fresh.directory);
    match lost {
        Overwritten::Nothing => Ok(written.goal.clone()),
        Overwritten::Goal(metadata) => {
            let back = ports
                .sessions
                .write_metadata(session, directory, &metadata)
                .await;
            back.map_err(failed)?;
            Err(Acted::Dropped)
        }
        Overwritten::Siblings(read) => {
            let again = match Draft::of(read, written.goal.clone()) {
                Ok(again) => again.write(ports).await,
                Err(error) => Err(error),
            };
            again
                .map(|again| again.goal)
                .map_err(|error| failed_write(error, None))
        }
    }
}

/// Puts back what another client wrote beside the goal while a request of the user was carried out
/// (G56): a write of ours changes nothing there, so what its echo lacks was run over by it. Only
/// what was heard is known; a command without a running loop hears nothing.
pub(crate) async fn put_siblings_back(ports: &Ports, live: &Live, goal: &Goal) {
    let Some((lost, echo)) = siblings_run_over(&live.heard(), goal, ports) else {
        return;
    };
    let again = async {
        let call = WriteError::Call;
        let fresh = read_again(ports, &echo).await.map_err(call)?;
        let stands = carries(&fresh, goal, ports)
            && same_beside(fresh.metadata.as_deref(), echo.metadata.as_deref());
        match stands {
            true => Draft::of(lost, goal.clone())?
                .write(ports)
                .await
                .map(|_| ()),
            false => Ok(()),
        }
    };
    if let Err(error) = again.await {
        tracing::warn!(?error, "what stood beside the goal could not be put back");
    }
}

async fn read_again(ports: &Ports, base: &SessionRead) -> Result<SessionRead, CallError> {
    let id = &base.facts.id;
    ports.sessions.session(id, Some(&base.directory)).await
}

/// What a last look before an effect found.
struct Look {
    /// Goal, tail and revert point are those that were decided on, and so is the objective.
    unchanged: bool,
    /// The session works.
    busy: bool,
    /// The effective objective.
    objective: Option<String>,
}

/// Reads once more what must not have changed: session, status, newest messages, objective (R75,
/// R78, X8).
async fn look_again(ports: &Ports, step: &Step, expected: &Goal) -> Result<Look, Acted> {
    let id = &step.session.facts.id;
    let directory = step.session.directory.as_str();
    let limit = ports.limits.page_messages;
    let (session, statuses, page) = tokio::join!(
        ports.sessions.session(id, Some(directory)),
        ports.sessions.statuses(directory),
        ports.sessions.messages(id, directory, None, limit),
    );
    let unknown = |what| move |error: CallError| failed(what, error.message);
    let session = session.map_err(unknown(Unknown::Session))?;
    let statuses = statuses.map_err(unknown(Unknown::Status))?;
    let page = page.map_err(unknown(Unknown::Messages))?;
    let objective = effective_objective(ports, id, expected).await;
    let revert = session.facts.revert.as_ref();
    let context = TailContext {
        goal: expected,
        revert,
        overflow_seen: step.snapshot.memory.overflow_seen,
    };
    let tail = Tail::read(&Timeline::new(page.items, revert), context);
    let goal = goal_of(&session, ports);
    let same = goal.is_some_and(|goal| {
        goal.status == Status::Active
            && goal.id == expected.id
            && goal.updated_at == expected.updated_at
    });
    Ok(Look {
        unchanged: same
            && !session.facts.archived
            && revert == step.snapshot.session.revert.as_ref()
            && tail.id == step.snapshot.tail.id
            && tail.kind == step.snapshot.tail.kind
            && (step.audited.is_none() || objective == step.snapshot.objective),
        busy: statuses.contains_key(id),
        objective,
    })
}

/// Sends the prompt and makes sure that it arrived (X7): 204 is not delivery.
async fn send(ports: &Ports, live: &Live, step: &Step, goal: Goal, out: &PromptOut) -> Acted {
    let id = &step.session.facts.id;
    let directory = step.session.directory.as_str();
    for _ in 0..2 {
        live.expect(&out.message);
        match ports.sessions.prompt(id, directory, out).await {
            Ok(()) => {}
            Err(error) => match error.kind {
                CallErrorKind::Refused => {
                    live.not_taken();
                    return refused(ports, live, step, goal, error.message).await;
                }
                CallErrorKind::Gone => {
                    live.not_taken();
                    return Acted::Dropped;
                }
                CallErrorKind::NotSent | CallErrorKind::Unauthorized => {
                    live.not_taken();
                    return failed(Unknown::Prompt, error.message);
                }
                // Perhaps it was stored: that is asked for below, before anything is sent again.
                CallErrorKind::Unknown | CallErrorKind::NotOpenCode => {}
            },
        }
        match confirm(ports, live, step, &out.message).await {
            Confirmed::Arrived => return Acted::Prompted { goal },
            Confirmed::Refused(text) => return refused(ports, live, step, goal, text).await,
            Confirmed::Unknown(error) => return failed(Unknown::Prompt, error.message),
            Confirmed::Missing if live.halted() => return Acted::Dropped,
            Confirmed::Missing => {}
        }
    }
    Acted::Unconfirmed { goal }
}

enum Confirmed {
    /// It runs, was answered, or is stored; what is stored and never runs is X18's to find.
    Arrived,
    /// The server reported an error and no assistant message answers.
    Refused(String),
    /// It is not stored.
    Missing,
    /// Nobody knows.
    Unknown(CallError),
}

async fn confirm(ports: &Ports, live: &Live, step: &Step, message: &MessageId) -> Confirmed {
    let heard = |live: &Live| {
        let delivery = live.delivered();
        let error = delivery
            .error
            .filter(|(kind, _)| *kind == ErrorKind::Failure);
        // The wait goes on even if the user wants something else: an abort that comes together
        // with the prompt is lost, so it has to find the turn (X8).
        if delivery.answered {
            return Some(Ok(()));
        }
        error
            .map(|(_, text)| Err(text))
            .or_else(|| delivery.busy.then_some(Ok(())))
    };
    let heard = live.wait(ports.limits.delivery_window, heard).await;
    let id = &step.session.facts.id;
    let directory = step.session.directory.as_str();
    match heard {
        Some(Ok(())) => Confirmed::Arrived,
        Some(Err(text)) => match is_answered(ports, id, directory, message).await {
            Ok(true) => Confirmed::Arrived,
            Ok(false) => Confirmed::Refused(text),
            Err(error) => Confirmed::Unknown(error),
        },
        None => match ports.sessions.message_exists(id, directory, message).await {
            Ok(true) => Confirmed::Arrived,
            Ok(false) => Confirmed::Missing,
            Err(error) => Confirmed::Unknown(error),
        },
    }
}

async fn is_answered(
    ports: &Ports,
    id: &SessionId,
    directory: &str,
    message: &MessageId,
) -> Result<bool, CallError> {
    let page = ports
        .sessions
        .messages(id, directory, None, ports.limits.page_messages)
        .await?;
    Ok(page.items.iter().any(|other| {
        other
            .step()
            .is_some_and(|step| step.parent.as_ref() == Some(message))
    }))
}

/// The server will never take this prompt: the turn is given back and the goal is blocked with the
/// server's text (X7).
async fn refused(ports: &Ports, live: &Live, step: &Step, written: Goal, text: String) -> Acted {
    let settlement = Settlement::Blocked(BlockedCause::PromptRefused { text });
    let ledger = step.snapshot.ledger.clone();
    let changes = vec![
        Change::Refunded,
        Change::Settled {
            settlement: settlement.clone(),
            ledger,
            audited: None,
        },
    ];
    let ending = Ending::Settle(settlement);
    end(ports, live, step, &written, ending, changes).await
}

/// The stored goal is exactly the one the cycle began with: any other write, by whomever, drops
/// the cycle (X17).
fn same_goal(fresh: &Goal, base: &Goal) -> bool {
    fresh.id == base.id
        && fresh.updated_at == base.updated_at
        && fresh.status == base.status
        && fresh.turns_used == base.turns_used
        && fresh.blocked_streak == base.blocked_streak
        && fresh.audit_fail_streak == base.audit_fail_streak
        && fresh.continued_after == base.continued_after
}

fn failed_write(error: WriteError, notice: Option<Planned>) -> Acted {
    match error {
        WriteError::Guarded | WriteError::Corrupt => Acted::Dropped,
        WriteError::Call(call) => Acted::Failed {
            what: Unknown::Write,
            message: call.message,
            notice,
        },
    }
}

fn failed(what: Unknown, message: String) -> Acted {
    Acted::Failed {
        what,
        message,
        notice: None,
    }
}
