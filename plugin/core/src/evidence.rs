//! What the audit may see of the agent's work: its last turn, and nothing else (R62, X2).

use crate::goal::ModelRef;
use crate::message::ToolUse;
use crate::timeline::Timeline;

/// The last turn: every assistant message that answers the same prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Its text parts in order, joined by line breaks; not clipped yet.
    pub text: String,
    /// Its recorded tool results in order.
    pub tools: Vec<ToolUse>,
}

/// Who speaks in the session: what a continuation and an audit are addressed to (R61, R76).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voice {
    /// The model.
    pub model: ModelRef,
    /// The agent, where it is named.
    pub agent: Option<String>,
    /// The variant, where one was used.
    pub variant: Option<String>,
}

impl Evidence {
    /// Collects the turn that the newest non-summary assistant message belongs to.
    #[must_use]
    pub fn collect(timeline: &Timeline) -> Self {
        let Some((newest, step)) = timeline.newest_work() else {
            return Self::default();
        };
        let same_turn = timeline.messages().iter().filter(|message| {
            message.step().is_some_and(|other| {
                !other.summary
                    && (message.id == newest.id
                        || (other.parent.is_some() && other.parent == step.parent))
            })
        });
        let mut evidence = Self::default();
        for message in same_turn {
            for text in message.texts().filter(|text| !text.trim().is_empty()) {
                if !evidence.text.is_empty() {
                    evidence.text.push('\n');
                }
                evidence.text.push_str(text);
            }
            evidence.tools.extend(message.tools().cloned());
        }
        evidence
    }
}

impl Voice {
    /// The voice of the newest non-summary assistant message that names its model: a summary
    /// carries the compaction agent's.
    #[must_use]
    pub fn of(timeline: &Timeline) -> Option<Self> {
        timeline
            .turns_back()
            .filter(|(_, step)| !step.summary)
            .find_map(|(_, step)| {
                Some(Self {
                    model: step.model.clone()?,
                    agent: step.agent.clone(),
                    variant: step.variant.clone(),
                })
            })
    }
}
