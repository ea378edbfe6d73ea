//! The stored goal and its JSON, in both directions (R1-R8, X17).
//!
//! Reading never fails on foreign or malformed metadata: what is no goal is none. Writing touches
//! `openchamber.goal` alone and keeps everything else byte for byte.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;
use serde_json::{Number, json};

use crate::goal::{
    ContinuedAfter, Goal, GoalId, MessageId, ModelRef, ResumedOver, RevertId, SAFE_INTEGER_MAX,
    SessionId, Status, Unknown,
};
use crate::limits::Limits;
use crate::text;
use crate::time::Wall;

/// An object whose values stay the text they are: what we do not know is never parsed.
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
    goal_of(&serde_json::from_str(ours.get(GOAL)?.get()).ok()?, limits)
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
            ours.insert(GOAL.to_owned(), raw(&fields_of(goal)));
            top.insert(NAMESPACE.to_owned(), raw(&ours));
        }
        None => {
            if ours.shift_remove(GOAL).is_some() {
                top.insert(NAMESPACE.to_owned(), raw(&ours));
            }
        }
    }
    Ok(raw(&top).get().to_owned())
}

/// Whether two sessions' metadata are the same beside the goal. What is no metadata is like none.
#[must_use]
pub fn same_beside(one: Option<&str>, other: Option<&str>) -> bool {
    let beside = |metadata| {
        let mut all: serde_json::Value = serde_json::from_str(metadata).unwrap_or_default();
        if let Some(ours) = all.get_mut(NAMESPACE).and_then(|ours| ours.as_object_mut()) {
            ours.remove(GOAL);
        }
        all
    };
    one == other || one.map(beside) == other.map(beside)
}

fn object(json: Option<&str>) -> Option<Raw> {
    match json.map(str::trim) {
        None | Some("null") => Some(Raw::new()),
        Some(json) => serde_json::from_str(json).ok(),
    }
}

/// Values built here always have a JSON form; the fallback keeps the types honest.
fn raw<T: serde::Serialize>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

const KNOWN: [&str; 23] = [
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
    "activeMs",
];

fn goal_of(fields: &Raw, limits: &Limits) -> Option<Goal> {
    let id = text_of(fields, "id").filter(|id| !id.trim().is_empty())?;
    let status = Status::parse(&text_of(fields, "status")?)?;
    let objective_file = fields
        .get("objectiveFile")
        .is_some_and(|raw| raw.get() == "true");
    let clamped = |name, max| text::clamp_owned(text_of(fields, name).unwrap_or_default(), max);
    let objective = clamped("objective", limits.objective_max);
    if objective.trim().is_empty() && !objective_file {
        return None;
    }
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
        active_ms: count(fields, "activeMs"),
        unknown: Unknown(
            fields
                .iter()
                .filter(|(name, _)| !KNOWN.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.get().to_owned()))
                .collect(),
        ),
    })
}

fn text_of(fields: &Raw, name: &str) -> Option<String> {
    let text: Text = serde_json::from_str(fields.get(name)?.get()).ok()?;
    Some(text.0)
}

fn id_of(fields: &Raw, name: &str) -> Option<String> {
    text_of(fields, name).filter(|id| !id.is_empty())
}

/// A counter: whatever is not a finite number above zero counts as zero, fractions are cut (R4).
fn count(fields: &Raw, name: &str) -> u64 {
    let number = fields
        .get(name)
        .and_then(|raw| serde_json::from_str(raw.get()).ok());
    let Some(number): Option<Number> = number else {
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

fn small_count(fields: &Raw, name: &str) -> u32 {
    u32::try_from(count(fields, name)).unwrap_or(u32::MAX)
}

fn evaluation(fields: &Raw) -> Option<ModelRef> {
    Some(ModelRef {
        provider: id_of(fields, "evaluationProviderID")?,
        model: id_of(fields, "evaluationModelID")?,
    })
}

fn continued_after(fields: &Raw) -> Option<ContinuedAfter> {
    let step: Raw = serde_json::from_str(fields.get("continuedAfter")?.get()).ok()?;
    let tail = id_of(&step, "tail")?;
    Some(ContinuedAfter {
        tail: MessageId::new(tail),
        at: Wall(count(&step, "at")),
    })
}

fn resumed_over(fields: &Raw) -> Option<ResumedOver> {
    let over: Raw = serde_json::from_str(fields.get("resumedOver")?.get()).ok()?;
    Some(ResumedOver {
        tail: id_of(&over, "tail").map(MessageId::new),
        revert: id_of(&over, "revert").map(RevertId::new),
    })
}

/// A JSON string. Other clients cut texts between the halves of a surrogate pair; a half that no
/// text can hold becomes replacement characters, so that it does not hide the goal.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(String::from_utf8_lossy(bytes).into_owned()))
    }
}

fn fields_of(goal: &Goal) -> Raw {
    let mut fields = required_fields(goal);
    let mut put = |name: &str, value: Option<Box<RawValue>>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    let model = goal.evaluation.as_ref();
    put(
        "evaluationProviderID",
        model.map(|model| raw(&model.provider)),
    );
    put("evaluationModelID", model.map(|model| raw(&model.model)));
    put(
        "lastAccountedMessageID",
        goal.last_accounted.as_ref().map(|id| raw(&id.as_str())),
    );
    put(
        "sessionID",
        goal.session_id.as_ref().map(|id| raw(&id.as_str())),
    );
    put(
        "firstMessageID",
        goal.first_message.as_ref().map(|id| raw(&id.as_str())),
    );
    put(
        "continuedAfter",
        goal.continued_after
            .as_ref()
            .map(|step| raw(&json!({ "tail": step.tail.as_str(), "at": step.at.0 }))),
    );
    put(
        "resumedOver",
        goal.resumed_over.as_ref().map(resumed_over_json),
    );
    put("activeMs", Some(raw(&goal.active_ms)));
    for (name, value) in &goal.unknown.0 {
        if let Ok(value) = RawValue::from_string(value.clone()) {
            fields.entry(name.clone()).or_insert(value);
        }
    }
    fields
}

fn required_fields(goal: &Goal) -> Raw {
    let fields = [
        ("id", raw(&goal.id.as_str())),
        ("objective", raw(&goal.objective)),
        ("objectiveFile", raw(&goal.objective_file)),
        ("status", raw(&goal.status.name())),
        ("tokenBudget", raw(&goal.token_budget)),
        ("tokensUsed", raw(&goal.tokens_used)),
        ("tokensBaseline", raw(&goal.tokens_baseline)),
        ("tokensCommitted", raw(&goal.tokens_committed)),
        ("turnsUsed", raw(&goal.turns_used)),
        ("blockedStreak", raw(&goal.blocked_streak)),
        ("auditFailStreak", raw(&goal.audit_fail_streak)),
        ("note", raw(&goal.note)),
        ("statusReason", raw(&goal.status_reason)),
        ("createdAt", raw(&goal.created_at.0)),
        ("updatedAt", raw(&goal.updated_at.0)),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn resumed_over_json(over: &ResumedOver) -> Box<RawValue> {
    let sides = [
        ("tail", over.tail.as_ref().map(MessageId::as_str)),
        ("revert", over.revert.as_ref().map(RevertId::as_str)),
    ];
    let named: IndexMap<&str, &str> = sides
        .into_iter()
        .filter_map(|(name, id)| Some((name, id?)))
        .collect();
    raw(&named)
}
