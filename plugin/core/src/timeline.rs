//! A session's messages in the order they happened, without what no rule may look at.

use crate::goal::{MessageId, RevertId};
use crate::message::{Message, Step};

/// Messages by creation time, cut at the revert point, without shell messages (X2, X14, R57).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    messages: Vec<Message>,
}

/// An assistant message together with its own side of it.
pub(crate) type Turn<'a> = (&'a Message, &'a Step);

impl Timeline {
    /// Orders `messages` by creation time (equal times keep their order), drops those at or
    /// behind `revert`, and drops shell messages with the user messages they answer. A revert
    /// point that is not among them lies before them all.
    #[must_use]
    pub fn new(mut messages: Vec<Message>, revert: Option<&RevertId>) -> Self {
        messages.sort_by_key(|message| message.created);
        if let Some(point) = revert {
            let cut = messages
                .iter()
                .position(|m| m.id.as_str() == point.as_str());
            messages.truncate(cut.unwrap_or(0));
        }
        let shells: Vec<MessageId> = messages
            .iter()
            .filter(|message| message.is_shell())
            .filter_map(|message| message.step()?.parent.clone())
            .collect();
        messages.retain(|message| !message.is_shell() && !shells.contains(&message.id));
        Self { messages }
    }

    /// All messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The message with this id.
    #[must_use]
    pub fn get(&self, id: &MessageId) -> Option<&Message> {
        self.messages.iter().find(|message| message.id == *id)
    }

    /// Where the message with this id stands.
    pub(crate) fn position(&self, id: &MessageId) -> Option<usize> {
        self.messages.iter().position(|message| message.id == *id)
    }

    /// Assistant messages, newest first.
    pub(crate) fn turns_back(&self) -> impl Iterator<Item = Turn<'_>> {
        self.messages
            .iter()
            .rev()
            .filter_map(|message| Some((message, message.step()?)))
    }

    /// The newest assistant message.
    pub(crate) fn newest_turn(&self) -> Option<Turn<'_>> {
        self.turns_back().next()
    }

    /// The newest assistant message that is no summary: what the agent itself said last (R61).
    pub(crate) fn newest_work(&self) -> Option<Turn<'_>> {
        self.turns_back().find(|(_, step)| !step.summary)
    }
}
