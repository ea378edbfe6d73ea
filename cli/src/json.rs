//! What programs read: goals and events as JSON, field by field.

use std::time::Duration;

use goal_core::goal::{GoalId, ModelRef, SessionId};
use goal_core::time::{Wall, millis};
use goal_engine::update::{DriverState, Update, UpdateKind};
use goal_engine::view::{GoalView, Phase};
use serde_json::{Value, json};

use crate::connect::ServerFacts;

/// The closed list of events in the output of `serve` and `watch`.
#[cfg(test)]
pub(crate) const EVENTS: [&str; 7] = [
    "ready",
    "phase",
    "decision",
    "verdict",
    "settled",
    "connection",
    "notice",
];

/// A goal with everything that is stored and known of it; `objective` where its text was read,
/// `phase` where somebody looked at what an active goal does.
pub(crate) fn goal(view: &GoalView, objective: Option<&str>, now: Wall) -> Value {
    let goal = &view.goal;
    json!({
        "sessionID": view.session.as_str(),
        "title": view.title,
        "directory": view.directory,
        "goalID": goal.id.as_str(),
        "objective": objective,
        "status": goal.status.name(),
        "reason": goal.status_reason,
        "note": goal.note,
        "phase": was_looked_at(view).then(|| view.phase.name()),
        "why": view.why,
        "detail": view.detail,
        "since": view.since.0,
        "until": view.next.map(|next| next.0),
        "tokensUsed": goal.tokens_used,
        "tokenBudget": goal.token_budget,
        "turnsUsed": goal.turns_used,
        "blockedStreak": goal.blocked_streak,
        "auditFailStreak": goal.audit_fail_streak,
        "auditedBy": goal.evaluation.as_ref().map(model),
        "firstMessageID": goal.first_message.as_ref().map(goal_core::goal::MessageId::as_str),
        "createdAt": goal.created_at.0,
        "updatedAt": goal.updated_at.0,
        "activeMs": goal.active_ms_at(now),
    })
}

/// Whether the phase is known: a command that only read the goal has not looked at what it does.
fn was_looked_at(view: &GoalView) -> bool {
    view.phase != Phase::Checking || view.seq > 0
}

/// A model as people write it: `provider/model`.
pub(crate) fn model(model: &ModelRef) -> String {
    format!("{}/{}", model.provider, model.model)
}

/// What the engine told, as one event.
pub(crate) fn event(update: &Update, server: &ServerFacts) -> Value {
    let at = update.at;
    match &update.kind {
        UpdateKind::Ready { driver, active } => ready(at, server, Some(*driver), *active),
        UpdateKind::Phase(view) => phase(at, view),
        UpdateKind::Decision {
            session,
            goal,
            decision,
            why,
        } => of_goal(
            at,
            "decision",
            session,
            goal,
            json!({ "decision": decision, "why": why }),
        ),
        UpdateKind::Verdict {
            session,
            goal,
            verdict,
            note,
            model: by,
        } => of_goal(
            at,
            "verdict",
            session,
            goal,
            json!({ "verdict": verdict, "note": note, "model": by.as_ref().map(model) }),
        ),
        UpdateKind::Settled(view) => settled(at, view),
        UpdateKind::Cleared(view) => cleared(at, &view.session, &view.goal.id),
        UpdateKind::Connection {
            connected,
            reason,
            retry_in,
        } => connection(at, *connected, reason, *retry_in),
        UpdateKind::Notice {
            session,
            goal,
            code,
            objective,
            detail,
        } => of_goal(
            at,
            "notice",
            session,
            goal,
            json!({
                "code": code.name(),
                "text": crate::words::of_code("notice", code.name()),
                "objective": objective,
                "detail": detail,
            }),
        ),
        UpdateKind::Driver(driver) => {
            let mut event = connection(at, true, "", None);
            extend(&mut event, driver_fields(*driver));
            event
        }
    }
}

/// Connected, and every session was looked at; `driver` where the process drives or could.
pub(crate) fn ready(
    at: Wall,
    server: &ServerFacts,
    driver: Option<DriverState>,
    active: usize,
) -> Value {
    let mut event = json!({
        "t": at.0,
        "event": "ready",
    });
    extend(&mut event, server_fields(server));
    extend(&mut event, json!({ "active": active }));
    if let Some(driver) = driver {
        extend(&mut event, driver_fields(driver));
    }
    event
}

/// Where a goal stands and what it does.
pub(crate) fn phase(at: Wall, view: &GoalView) -> Value {
    let goal = &view.goal;
    let fields = json!({
        "phase": view.phase.name(),
        "why": view.why,
        "detail": view.detail,
        "until": view.next.map(|next| next.0),
        "status": goal.status.name(),
        "reason": goal.status_reason,
        "note": goal.note,
        "tokensUsed": goal.tokens_used,
        "tokenBudget": goal.token_budget,
        "turnsUsed": goal.turns_used,
    });
    of_goal(at, "phase", &view.session, &goal.id, fields)
}

/// A goal that ended or was paused.
pub(crate) fn settled(at: Wall, view: &GoalView) -> Value {
    let goal = &view.goal;
    let fields = json!({
        "status": goal.status.name(),
        "reason": goal.status_reason,
        "note": goal.note,
        "tokensUsed": goal.tokens_used,
        "tokenBudget": goal.token_budget,
        "turnsUsed": goal.turns_used,
    });
    of_goal(at, "settled", &view.session, &goal.id, fields)
}

/// A goal that is no more: its status is `null`.
pub(crate) fn cleared(at: Wall, session: &SessionId, goal: &GoalId) -> Value {
    let fields = json!({ "status": null, "reason": "cleared" });
    of_goal(at, "settled", session, goal, fields)
}

/// The line to the server.
pub(crate) fn connection(
    at: Wall,
    connected: bool,
    reason: &str,
    retry_in: Option<Duration>,
) -> Value {
    json!({
        "t": at.0,
        "event": "connection",
        "connected": connected,
        "reason": reason,
        "retryInMs": retry_in.map(millis),
    })
}

/// A server of ours runs again, perhaps elsewhere.
pub(crate) fn moved(at: Wall, server: &ServerFacts) -> Value {
    let mut event = connection(at, /*connected*/ true, "", None);
    extend(&mut event, server_fields(server));
    event
}

fn server_fields(server: &ServerFacts) -> Value {
    json!({
        "url": server.url,
        "version": server.version,
        "managed": server.managed,
    })
}

fn of_goal(at: Wall, event: &str, session: &SessionId, goal: &GoalId, fields: Value) -> Value {
    let mut object = json!({
        "t": at.0,
        "event": event,
        "sessionID": session.as_str(),
        "goalID": goal.as_str(),
    });
    extend(&mut object, fields);
    object
}

fn driver_fields(driver: DriverState) -> Value {
    match driver {
        DriverState::Driving => json!({ "driver": "driving" }),
        DriverState::Passive { pid } => json!({ "driver": "passive", "pid": pid }),
    }
}

fn extend(object: &mut Value, fields: Value) {
    if let (Value::Object(object), Value::Object(fields)) = (object, fields) {
        object.extend(fields);
    }
}

#[cfg(test)]
mod tests {
    use goal_core::notice::NoticeCode;

    use super::*;
    use crate::render::tests::view;

    #[test]
    fn every_update_is_an_event_of_the_list_with_its_ids() {
        let (session, goal) = (SessionId::new("ses_1"), GoalId::new("g_1"));
        let kinds = [
            UpdateKind::Ready {
                driver: DriverState::Driving,
                active: 1,
            },
            UpdateKind::Phase(Box::new(view())),
            UpdateKind::Decision {
                session: session.clone(),
                goal: goal.clone(),
                decision: "rest",
                why: "busy".to_owned(),
            },
            UpdateKind::Verdict {
                session: session.clone(),
                goal: goal.clone(),
                verdict: "continue",
                note: "half done".to_owned(),
                model: Some(ModelRef {
                    provider: "p".to_owned(),
                    model: "m".to_owned(),
                }),
            },
            UpdateKind::Settled(Box::new(view())),
            UpdateKind::Connection {
                connected: false,
                reason: "gone".to_owned(),
                retry_in: Some(Duration::from_millis(250)),
            },
            UpdateKind::Notice {
                session,
                goal,
                code: NoticeCode::GoalPaused,
                objective: "o".to_owned(),
                detail: "no progress".to_owned(),
            },
        ];
        let server = ServerFacts {
            url: "http://127.0.0.1:1".to_owned(),
            version: "1.18.33".to_owned(),
            managed: false,
        };
        for (kind, name) in kinds.into_iter().zip(EVENTS) {
            let update = Update { at: Wall(7), kind };
            let event = event(&update, &server);
            assert_eq!(event["t"], 7);
            assert_eq!(event["event"], name);
            let of_a_goal = !matches!(name, "ready" | "connection");
            assert_eq!(event["sessionID"].is_string(), of_a_goal, "{event}");
            assert_eq!(event["goalID"].is_string(), of_a_goal, "{event}");
        }
    }

    #[test]
    fn a_phase_says_what_is_waited_for_and_how_far_the_goal_is() {
        let phase = phase(Wall(7), &view());
        let expected = json!({
            "t": 7,
            "event": "phase",
            "sessionID": "ses_1",
            "goalID": "g_1",
            "phase": "waitingForSubagent",
            "why": "subagentBusy",
            "detail": "ses_child",
            "until": 300_000,
            "status": "active",
            "reason": "",
            "note": "two of three done",
            "tokensUsed": 12_345,
            "tokenBudget": 200_000,
            "turnsUsed": 3,
        });
        assert_eq!(phase, expected);
    }

    #[test]
    fn a_phase_that_nobody_looked_at_is_null() {
        let mut view = view();
        assert_eq!(goal(&view, None, Wall(0))["phase"], "waitingForSubagent");
        view.phase = Phase::Checking;
        assert_eq!(goal(&view, None, Wall(0))["phase"], "checking");
        view.seq = 0;
        assert_eq!(goal(&view, None, Wall(0))["phase"], Value::Null);
    }

    #[test]
    fn who_drives_is_told_with_the_connection() {
        let server = ServerFacts::default();
        let kind = UpdateKind::Driver(DriverState::Passive { pid: 42 });
        let event = event(&Update { at: Wall(7), kind }, &server);
        assert_eq!(event["event"], "connection");
        assert_eq!(event["driver"], "passive");
        assert_eq!(event["pid"], 42);
    }
}
