//! The stored goal and its JSON, in both directions (R1-R8, X17).
//!
//! Reading never fails on foreign or malformed metadata: what is no goal is none. Writing touches
//! `openchamber.goal` alone and keeps everything else byte for byte.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::goal::{
    ContinuedAfter, Goal, GoalId, MessageId, ModelRef, ResumedOver, RevertId, SAFE_INTEGER_MAX,
    SessionId, Status, Unknown,
};
use crate::limits::Limits;
use crate::text;
use crate::time::Wall;

type Raw = IndexMap<String, Box<RawValue>>;

const NAMESPACE: &str = "openchamber";
const GOAL: &str = "goal";

/// The metadata is not what a goal can be written into; it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorruptMetadata {
    /// The session's metadata is not a JSON object.
    Metadata,
    /// `metadata.openchamber` is not a JSON object.
    Namespace,
}

/// Reads the goal of a session's metadata, given as JSON text; `None` is no goal (R3).
#[must_use]
pub fn read(metadata: &str, limits: &Limits) -> Option<Goal> {
    let top: Raw = serde_json::from_str(metadata).ok()?;
    let ours: Raw = serde_json::from_str(top.get(NAMESPACE)?.get()).ok()?;
    let fields: Map<String, Value> = serde_json::from_str(ours.get(GOAL)?.get()).ok()?;
    let raw: Raw = serde_json::from_str(ours.get(GOAL)?.get()).ok()?;
    goal_of(&fields, &raw, limits)
}

/// Writes `goal` into a session's metadata, or takes the goal out with `None`. Metadata that is
/// absent or `null` counts as empty.
///
/// # Errors
/// When the metadata, or the namespace in it, is something else than an object: overwriting it
/// would lose what another program keeps there.
pub fn write(metadata: Option<&str>, goal: Option<&Goal>) -> Result<String, CorruptMetadata> {
    let mut top = object(metadata).ok_or(CorruptMetadata::Metadata)?;
    let mut ours =
        object(top.get(NAMESPACE).map(|raw| raw.get())).ok_or(CorruptMetadata::Namespace)?;
    match goal {
        Some(goal) => {
            ours.insert(GOAL.to_owned(), raw(&Value::Object(fields_of(goal))));
        }
        None => {
            ours.shift_remove(GOAL);
        }
    }
    top.insert(NAMESPACE.to_owned(), raw_of(&ours));
    Ok(raw_of(&top).get().to_owned())
}

fn object(json: Option<&str>) -> Option<Raw> {
    match json.map(str::trim) {
        None | Some("null") => Some(Raw::new()),
        Some(json) => serde_json::from_str(json).ok(),
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    raw_of(value)
}

/// Values built here always have a JSON form; the fallback keeps the types honest.
fn raw_of<T: serde::Serialize>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

const KNOWN: [&str; 22] = [
    "id",
    "objective",
    "objectiveFile",
    "status",
    "tokenBudget",
    "tokensUsed",
    "tokensBaseline",
    "tokensCommitted",
    "turnsUsed",
    "blockedStreak",
    "auditFailStreak",
    "note",
    "statusReason",
    "evaluationProviderID",
    "evaluationModelID",
    "lastAccountedMessageID",
    "createdAt",
    "updatedAt",
    "sessionID",
    "continuedAfter",
    "resumedOver",
    "firstMessageID",
];
const ACTIVE_MS: &str = "activeMs";

fn goal_of(fields: &Map<String, Value>, raw: &Raw, limits: &Limits) -> Option<Goal> {
    let id = text_of(fields, "id").filter(|id| !id.trim().is_empty())?;
    let status = Status::parse(fields.get("status")?.as_str()?)?;
    let objective_file = fields.get("objectiveFile") == Some(&Value::Bool(true));
    let objective = text::clamp_owned(
        text_of(fields, "objective").unwrap_or_default(),
        limits.objective_max,
    );
    if objective.trim().is_empty() && !objective_file {
        return None;
    }
    let clamped = |name, max| text::clamp_owned(text_of(fields, name).unwrap_or_default(), max);
    Some(Goal {
        id: GoalId::new(id),
        objective,
        objective_file,
        status,
        token_budget: Some(count(fields, "tokenBudget")).filter(|budget| *budget > 0),
        tokens_used: count(fields, "tokensUsed"),
        tokens_baseline: count(fields, "tokensBaseline"),
        tokens_committed: count(fields, "tokensCommitted"),
        turns_used: small_count(fields, "turnsUsed"),
        blocked_streak: small_count(fields, "blockedStreak"),
        audit_fail_streak: small_count(fields, "auditFailStreak"),
        note: clamped("note", limits.note_max),
        status_reason: clamped("statusReason", limits.reason_max),
        evaluation: evaluation(fields),
        last_accounted: id_of(fields, "lastAccountedMessageID").map(MessageId::new),
        created_at: Wall(count(fields, "createdAt")),
        updated_at: Wall(count(fields, "updatedAt")),
        session_id: id_of(fields, "sessionID").map(SessionId::new),
        continued_after: continued_after(fields),
        resumed_over: resumed_over(fields),
        first_message: id_of(fields, "firstMessageID").map(MessageId::new),
        active_ms: count(fields, ACTIVE_MS),
        unknown: Unknown(
            raw.iter()
                .filter(|(name, _)| !KNOWN.contains(&name.as_str()) && name.as_str() != ACTIVE_MS)
                .map(|(name, value)| (name.clone(), value.get().to_owned()))
                .collect(),
        ),
    })
}

fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name)?.as_str().map(str::to_owned)
}

fn id_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    text_of(fields, name).filter(|id| !id.is_empty())
}

/// A counter: whatever is not a finite number above zero counts as zero, fractions are cut (R4).
fn count(fields: &Map<String, Value>, name: &str) -> u64 {
    let Some(Value::Number(number)) = fields.get(name) else {
        return 0;
    };
    if let Some(whole) = number.as_u64() {
        return whole.min(SAFE_INTEGER_MAX);
    }
    let value = number
        .as_f64()
        .filter(|value| value.is_finite() && *value > 0.0)
        .unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the value is finite, above zero and bounded by 2^53, where floats are exact"
    )]
    let whole = value.floor().min(SAFE_INTEGER_MAX as f64) as u64;
    whole
}

fn small_count(fields: &Map<String, Value>, name: &str) -> u32 {
    u32::try_from(count(fields, name)).unwrap_or(u32::MAX)
}

fn evaluation(fields: &Map<String, Value>) -> Option<ModelRef> {
    Some(ModelRef {
        provider: id_of(fields, "evaluationProviderID")?,
        model: id_of(fields, "evaluationModelID")?,
    })
}

fn continued_after(fields: &Map<String, Value>) -> Option<ContinuedAfter> {
    let step = fields.get("continuedAfter")?.as_object()?;
    let tail = id_of(step, "tail")?;
    Some(ContinuedAfter {
        tail: MessageId::new(tail),
        at: Wall(count(step, "at")),
    })
}

fn resumed_over(fields: &Map<String, Value>) -> Option<ResumedOver> {
    let over = fields.get("resumedOver")?.as_object()?;
    Some(ResumedOver {
        tail: id_of(over, "tail").map(MessageId::new),
        revert: id_of(over, "revert").map(RevertId::new),
    })
}

fn fields_of(goal: &Goal) -> Map<String, Value> {
    let mut fields = required_fields(goal);
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    put(
        "evaluationProviderID",
        goal.evaluation.as_ref().map(|model| json!(model.provider)),
    );
    put(
        "evaluationModelID",
        goal.evaluation.as_ref().map(|model| json!(model.model)),
    );
    put(
        "lastAccountedMessageID",
        goal.last_accounted.as_ref().map(|id| json!(id.as_str())),
    );
    put(
        "sessionID",
        goal.session_id.as_ref().map(|id| json!(id.as_str())),
    );
    put(
        "firstMessageID",
        goal.first_message.as_ref().map(|id| json!(id.as_str())),
    );
    put(
        "continuedAfter",
        goal.continued_after
            .as_ref()
            .map(|step| json!({ "tail": step.tail.as_str(), "at": step.at.0 })),
    );
    put(
        "resumedOver",
        goal.resumed_over.as_ref().map(resumed_over_json),
    );
    put(ACTIVE_MS, Some(json!(goal.active_ms)));
    for (name, value) in &goal.unknown.0 {
        if let Ok(value) = serde_json::from_str(value) {
            fields.insert(name.clone(), value);
        }
    }
    fields
}

fn required_fields(goal: &Goal) -> Map<String, Value> {
    let fields = [
        ("id", json!(goal.id.as_str())),
        ("objective", json!(goal.objective)),
        ("objectiveFile", json!(goal.objective_file)),
        ("status", json!(goal.status.name())),
        ("tokenBudget", json!(goal.token_budget)),
        ("tokensUsed", json!(goal.tokens_used)),
        ("tokensBaseline", json!(goal.tokens_baseline)),
        ("tokensCommitted", json!(goal.tokens_committed)),
        ("turnsUsed", json!(goal.turns_used)),
        ("blockedStreak", json!(goal.blocked_streak)),
        ("auditFailStreak", json!(goal.audit_fail_streak)),
        ("note", json!(goal.note)),
        ("statusReason", json!(goal.status_reason)),
        ("createdAt", json!(goal.created_at.0)),
        ("updatedAt", json!(goal.updated_at.0)),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn resumed_over_json(over: &ResumedOver) -> Value {
    let mut fields = Map::new();
    if let Some(tail) = &over.tail {
        fields.insert("tail".to_owned(), json!(tail.as_str()));
    }
    if let Some(revert) = &over.revert {
        fields.insert("revert".to_owned(), json!(revert.as_str()));
    }
    Value::Object(fields)
}
