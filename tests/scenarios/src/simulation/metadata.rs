//! Metadata as the reference model sees it: the goal's own fields, and all the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use goal_core::goal::{GoalId, RESUMED, Status};
use serde_json::Value;

/// The field of another client within the goal.
pub(super) const EXTRA: &str = "xColour";

/// One state of a session's metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    id: Option<GoalId>,
    /// The goal as it stands there.
    pub(super) goal: Value,
    pub(super) status: Option<Status>,
    /// `tokensUsed`.
    pub(super) used: u64,
    /// `updatedAt`.
    pub(super) stamp: u64,
    /// The tail of a continuation that is written down and that nobody wrote over since.
    pub(super) step: Option<(String, u64)>,
    pub(super) first_message: Option<String>,
    /// The field that another client keeps in the goal.
    pub(super) extra: Value,
    /// Everything but the goal.
    pub(super) foreign: Value,
}

impl Seen {
    fn read(text: &str) -> Self {
        let mut foreign: Value = serde_json::from_str(text).unwrap_or_default();
        let goal = foreign
            .get_mut("openchamber")
            .and_then(Value::as_object_mut)
            .and_then(|openchamber| openchamber.remove("goal"))
            .unwrap_or_default();
        let word = |name: &str| goal[name].as_str().map(str::to_owned);
        let stamp = goal["updatedAt"].as_u64().unwrap_or_default();
        let after = &goal["continuedAfter"];
        let step = after["tail"].as_str().map(str::to_owned);
        let step = step.filter(|_| after["at"].as_u64() == Some(stamp));
        Self {
            id: word("id").map(GoalId::new),
            status: word("status").and_then(|name| Status::parse(&name)),
            used: goal["tokensUsed"].as_u64().unwrap_or_default(),
            stamp,
            step: step.map(|tail| (tail, stamp)),
            first_message: word("firstMessageID"),
            extra: goal[EXTRA].clone(),
            goal,
            foreign,
        }
    }

    /// Somebody asked for it to go on, and no continuation went out since.
    pub(super) fn resumed(&self) -> bool {
        self.goal["statusReason"].as_str() == Some(RESUMED)
    }

    /// The goal's id; `None` if there is no goal.
    pub(super) fn id(&self) -> Option<&GoalId> {
        self.id.as_ref()
    }
}

/// Texts that were read once are not read again.
#[derive(Default)]
pub(super) struct Texts(BTreeMap<Arc<str>, Seen>);

impl Texts {
    pub(super) fn seen(&mut self, text: Option<&Arc<str>>) -> Seen {
        let Some(text) = text else {
            return Seen::default();
        };
        if let Some(seen) = self.0.get(text) {
            return seen.clone();
        }
        let seen = Seen::read(text);
        self.0.insert(Arc::clone(text), seen.clone());
        seen
    }
}
