//! What the engine asks for → what the server is sent.

use goal_core::goal::ModelRef;
use opencode_client as wire;
use serde_json::json;
use serde_json::value::RawValue;

use crate::from_wire::{AUDIT_KEY, OPENCHAMBER_KEY};
use crate::ports::{AuditMark, CallError, CallErrorKind, CommandOut, PromptOut};

/// What the reminder's id has behind that of the text; it sorts behind every file's.
const REMINDER_SUFFIX: &str = "r";

/// A prompt (R76, X6): the visible text, then the files, then the reminder.
pub(crate) fn prompt(prompt: &PromptOut) -> wire::Prompt {
    let id = |suffix: &str| Some(format!("{}{suffix}", prompt.part.as_ref()?));
    let visible = wire::PromptPart::Text(wire::PromptText {
        id: prompt.part.clone(),
        text: prompt.text.clone(),
        ..wire::PromptText::default()
    });
    let files = prompt.attachments.iter().enumerate().map(|(at, file)| {
        wire::PromptPart::File(wire::PromptFile {
            id: id(&file_suffix(at)),
            mime: file.mime.clone(),
            filename: file.name.clone(),
            url: file.url.clone(),
        })
    });
    let reminder = prompt.reminder.as_ref().map(|text| {
        wire::PromptPart::Text(wire::PromptText {
            id: id(REMINDER_SUFFIX),
            text: text.clone(),
            synthetic: true,
            ..wire::PromptText::default()
        })
    });
    wire::Prompt {
        message_id: Some(prompt.message.as_str().to_owned()),
        model: prompt.to.model.as_ref().map(model),
        agent: prompt.to.agent.clone(),
        variant: prompt.to.variant.clone(),
        system: None,
        no_reply: false,
        parts: std::iter::once(visible)
            .chain(files)
            .chain(reminder)
            .collect(),
    }
}

/// A call of a slash command. It has no room for a reminder.
pub(crate) fn command(command: &CommandOut) -> wire::CommandCall {
    let files = command.attachments.iter().map(|file| wire::PromptFile {
        id: None,
        mime: file.mime.clone(),
        filename: file.name.clone(),
        url: file.url.clone(),
    });
    let model = command.to.model.as_ref();
    wire::CommandCall {
        command: command.name.clone(),
        arguments: command.arguments.clone(),
        message_id: Some(command.message.as_str().to_owned()),
        agent: command.to.agent.clone(),
        model: model.map(|model| format!("{}/{}", model.provider, model.model)),
        variant: command.to.variant.clone(),
        parts: files.collect(),
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

/// What the id of the file at `at` has behind that of the text: OpenCode orders the parts of a
/// message by their ids.
fn file_suffix(at: usize) -> String {
    format!("f{at:02}")
}

#[cfg(test)]
mod tests {
    use goal_core::goal::{GoalId, MessageId};
    use goal_core::time::Wall;
    use pretty_assertions::assert_eq;
    use serde_json::Value;

    use super::*;
    use crate::from_wire::audit_mark;
    use crate::ports::{Address, Attachment};

    fn sent(out: &PromptOut) -> Value {
        serde_json::to_value(prompt(out)).unwrap()
    }

    fn plain() -> PromptOut {
        PromptOut {
            message: MessageId::new("msg_1"),
            part: None,
            to: Address::default(),
            text: "go on".to_owned(),
            attachments: Vec::new(),
            reminder: None,
        }
    }

    fn chosen() -> Address {
        Address {
            model: Some(ModelRef {
                provider: "p".to_owned(),
                model: "m/x".to_owned(),
            }),
            agent: Some("plan".to_owned()),
            variant: Some("high".to_owned()),
        }
    }

    #[test]
    fn a_prompt_without_an_address_leaves_the_choice_to_the_server() {
        let expected = json!({"messageID": "msg_1", "parts": [{"type": "text", "text": "go on"}]});
        assert_eq!(sent(&plain()), expected);
    }

    #[test]
    fn a_prompt_names_its_voice_and_its_ids() {
        let out = PromptOut {
            part: Some("prt_1".to_owned()),
            to: chosen(),
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
    fn files_stand_between_text_and_reminder_also_by_their_ids() {
        let file = |n: usize| Attachment {
            name: format!("{n}.png"),
            mime: "image/png".to_owned(),
            url: "data:image/png;base64,AA==".to_owned(),
        };
        let out = PromptOut {
            part: Some("prt_1".to_owned()),
            attachments: (0..20).map(file).collect(),
            reminder: Some("remember".to_owned()),
            ..plain()
        };
        let sent = sent(&out);
        let parts = sent["parts"].as_array().unwrap();
        let expected = json!({
            "type": "file", "id": "prt_1f00", "mime": "image/png", "filename": "0.png",
            "url": "data:image/png;base64,AA==",
        });
        assert_eq!(parts[1], expected);
        assert_eq!(parts[20]["filename"], "19.png");
        let ids: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["id"].as_str())
            .collect();
        assert_eq!(ids.len(), 22);
        assert!(ids.is_sorted(), "{ids:?}");
        let without_ids = PromptOut { part: None, ..out };
        assert_eq!(self::sent(&without_ids)["parts"][1]["id"], Value::Null);
    }

    #[test]
    fn a_command_is_called_with_its_files_and_without_a_reminder() {
        let call = CommandOut {
            message: MessageId::new("msg_1"),
            name: "team/review".to_owned(),
            arguments: "the  parser\nand more".to_owned(),
            to: chosen(),
            attachments: vec![Attachment {
                name: "a.png".to_owned(),
                mime: "image/png".to_owned(),
                url: "data:image/png;base64,AA==".to_owned(),
            }],
        };
        let expected = json!({
            "command": "team/review",
            "arguments": "the  parser\nand more",
            "messageID": "msg_1",
            "agent": "plan",
            "model": "p/m/x",
            "variant": "high",
            "parts": [{
                "type": "file", "mime": "image/png", "filename": "a.png",
                "url": "data:image/png;base64,AA==",
            }],
        });
        assert_eq!(serde_json::to_value(command(&call)).unwrap(), expected);
        let plain = CommandOut {
            to: Address::default(),
            attachments: Vec::new(),
            ..call
        };
        let expected = json!({
            "command": "team/review",
            "arguments": "the  parser\nand more",
            "messageID": "msg_1",
        });
        assert_eq!(serde_json::to_value(command(&plain)).unwrap(), expected);
    }

    #[test]
    fn what_is_chosen_goes_before_the_voice_and_a_variant_stays_with_its_model() {
        let model = |name: &str| ModelRef {
            provider: "p".to_owned(),
            model: name.to_owned(),
        };
        let address = |name: Option<&str>, agent: Option<&str>, variant: Option<&str>| Address {
            model: name.map(model),
            agent: agent.map(str::to_owned),
            variant: variant.map(str::to_owned),
        };
        let said = address(Some("old"), Some("build"), Some("high"));
        let old = Some("old");
        for (chosen, expected) in [
            (address(None, None, None), said.clone()),
            (
                address(None, Some("plan"), None),
                address(old, Some("plan"), Some("high")),
            ),
            (
                address(None, None, Some("low")),
                address(old, Some("build"), Some("low")),
            ),
            (
                address(Some("new"), None, None),
                address(Some("new"), Some("build"), None),
            ),
        ] {
            assert_eq!(chosen.clone().before(said.voice()), expected);
            assert_eq!(chosen.clone().before(None), chosen);
        }
        assert_eq!(address(None, Some("plan"), None).voice(), None);
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
