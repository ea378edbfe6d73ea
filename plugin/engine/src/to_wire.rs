//! What the engine asks for → what the server is sent.

use goal_core::goal::ModelRef;
use opencode_client as wire;
use serde_json::json;
use serde_json::value::RawValue;

use crate::from_wire::{AUDIT_KEY, OPENCHAMBER_KEY};
use crate::ports::{AuditMark, CallError, CallErrorKind, PromptOut};

/// A prompt (R76, X6): the visible text, then the reminder.
pub(crate) fn prompt(prompt: &PromptOut) -> wire::Prompt {
    let visible = wire::PromptPart {
        id: prompt.part.clone(),
        text: prompt.text.clone(),
        ..wire::PromptPart::default()
    };
    let reminder = prompt.reminder.as_ref().map(|text| wire::PromptPart {
        id: prompt.part.as_deref().map(part_after),
        text: text.clone(),
        synthetic: true,
        ..wire::PromptPart::default()
    });
    let voice = prompt.voice.as_ref();
    wire::Prompt {
        message_id: Some(prompt.message.as_str().to_owned()),
        model: voice.map(|voice| model(&voice.model)),
        agent: voice.and_then(|voice| voice.agent.clone()),
        variant: voice.and_then(|voice| voice.variant.clone()),
        system: None,
        no_reply: false,
        parts: [Some(visible), reminder].into_iter().flatten().collect(),
    }
}

/// A model.
pub(crate) fn model(model: &ModelRef) -> wire::ModelRef {
    wire::ModelRef {
        provider_id: model.provider.clone(),
        model_id: model.model.clone(),
    }
}

/// Metadata to be written.
pub(crate) fn metadata(text: &str) -> Result<Box<RawValue>, CallError> {
    RawValue::from_string(text.to_owned()).map_err(|error| CallError {
        kind: CallErrorKind::Refused,
        message: format!("the session's metadata is not JSON: {error}"),
    })
}

/// The metadata of an audit session (X4). `attempt` tells the sessions of one audit apart.
pub(crate) fn audit_metadata(mark: &AuditMark, attempt: &str) -> Result<Box<RawValue>, CallError> {
    let metadata = json!({
        OPENCHAMBER_KEY: {
            AUDIT_KEY: {
                "owner": mark.owner,
                "goalID": mark.goal.as_str(),
                "until": mark.until.0,
                "attempt": attempt,
            },
        },
    });
    self::metadata(&metadata.to_string())
}

/// An id that sorts right behind `part`: OpenCode orders the parts of a message by their ids.
fn part_after(part: &str) -> String {
    format!("{part}r")
}

#[cfg(test)]
mod tests {
    use goal_core::evidence::Voice;
    use goal_core::goal::{GoalId, MessageId};
    use goal_core::time::Wall;
    use pretty_assertions::assert_eq;
    use serde_json::Value;

    use super::*;
    use crate::from_wire::audit_mark;

    fn sent(out: &PromptOut) -> Value {
        serde_json::to_value(prompt(out)).unwrap()
    }

    fn plain() -> PromptOut {
        PromptOut {
            message: MessageId::new("msg_1"),
            part: None,
            voice: None,
            text: "go on".to_owned(),
            reminder: None,
        }
    }

    #[test]
    fn a_prompt_without_a_voice_leaves_the_choice_to_the_server() {
        let expected = json!({"messageID": "msg_1", "parts": [{"type": "text", "text": "go on"}]});
        assert_eq!(sent(&plain()), expected);
    }

    #[test]
    fn a_prompt_names_its_voice_and_its_ids() {
        let out = PromptOut {
            part: Some("prt_1".to_owned()),
            voice: Some(Voice {
                model: ModelRef {
                    provider: "p".to_owned(),
                    model: "m/x".to_owned(),
                },
                agent: Some("plan".to_owned()),
                variant: Some("high".to_owned()),
            }),
            reminder: Some("remember".to_owned()),
            ..plain()
        };
        let expected = json!({
            "messageID": "msg_1",
            "model": {"providerID": "p", "modelID": "m/x"},
            "agent": "plan",
            "variant": "high",
            "parts": [
                {"type": "text", "id": "prt_1", "text": "go on"},
                {"type": "text", "id": "prt_1r", "text": "remember", "synthetic": true},
            ],
        });
        assert_eq!(sent(&out), expected);
    }

    #[test]
    fn a_mark_survives_the_way_there_and_back() {
        let mark = AuditMark {
            owner: "me \"quoted\"".to_owned(),
            goal: GoalId::new("g1"),
            until: Wall(1_796_037_327_909),
        };
        let metadata = audit_metadata(&mark, "a1").unwrap();
        assert_eq!(audit_mark(metadata.get()), Some(mark));
        assert!(metadata.get().contains("\"a1\""));
    }

    #[test]
    fn metadata_keeps_its_bytes_and_must_be_json() {
        let text = "{ \"big\": 12345678901234567890, \"a\":1,\"a\":2 }";
        assert_eq!(metadata(text).unwrap().get(), text);
        assert_eq!(metadata("{").unwrap_err().kind, CallErrorKind::Refused);
    }
}
