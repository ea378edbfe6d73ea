//! What a person chose for the prompt that starts a goal, checked before anything happens.

use goal_core::fields::{self, File};

use crate::error::{Code, Error};
use crate::ports::{Address, Attachment, Catalogue};

/// Whom the first prompt addresses and what goes along with it. What is left out follows the
/// session, as a continuation does; a continuation then follows this prompt's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    to: Address,
    attachments: Vec<Attachment>,
    said: Option<Said>,
}

/// What is said to the agent in the objective's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The prompt that a person sees.
    pub(super) prompt: String,
    /// What goes along with it and is marked as not typed.
    pub(super) instructions: Option<String>,
}

impl Choices {
    /// Checks what was chosen.
    ///
    /// # Errors
    /// [`crate::Code::InvalidPrompt`], with the field and its rule.
    pub fn new(to: Address, attachments: Vec<Attachment>) -> Result<Self, Error> {
        let model = to.model.as_ref();
        let names = [
            ("agent", to.agent.as_deref()),
            (
                "model.providerId",
                model.map(|model| model.provider.as_str()),
            ),
            ("model.modelId", model.map(|model| model.model.as_str())),
            ("variant", to.variant.as_deref()),
        ];
        for (field, name) in names {
            name.map_or(Ok(()), |name| fields::name(field, name))?;
        }
        let files: Vec<File<'_>> = attachments.iter().map(file).collect();
        fields::files("attachments", &files)?;
        Ok(Self {
            to,
            attachments,
            said: None,
        })
    }

    /// Says `prompt` to the agent where a goal begins, in place of its objective: for an objective
    /// that says more to the auditor than a person wants to read in the conversation. It is sent as
    /// it is, never as a slash command. `instructions` go along in the part that the person did not
    /// type, before the reminder. Only the start of a goal looks at either.
    ///
    /// # Errors
    /// [`crate::Code::InvalidPrompt`], with the field and its rule.
    pub fn saying(self, prompt: &str, instructions: Option<&str>) -> Result<Self, Error> {
        let prompt = fields::prompt("prompt", prompt)?.to_owned();
        let instructions = instructions.map(|text| fields::prompt("instructions", text));
        let instructions = instructions.transpose()?.map(str::to_owned);
        Ok(Self {
            said: Some(Said {
                prompt,
                instructions,
            }),
            ..self
        })
    }

    /// Checks what was chosen against what there is. A list that is empty, as one that could not be
    /// read, refuses nobody (A1).
    pub(super) fn check_known(&self, there: &Catalogue) -> Result<(), Error> {
        let Address {
            model,
            agent,
            variant,
        } = &self.to;
        if let Some(agent) = agent.as_deref().filter(|_| !there.agents.is_empty()) {
            let mut agents = there.agents.iter();
            match agents.find(|known| known.name == agent) {
                Some(known) if known.is_subagent => {
                    return Err(unknown(
                        "agent",
                        "names an agent that only works for others",
                    ));
                }
                Some(_) => {}
                None => return Err(unknown("agent", "names no agent of this folder")),
            }
        }
        let Some(model) = model.as_ref().filter(|_| !there.models.is_empty()) else {
            return Ok(());
        };
        let mut models = there.models.iter();
        let Some(known) = models.find(|known| known.model == *model) else {
            return Err(unknown("model", "names no model that can be used here"));
        };
        let variants = &known.variants;
        match variant {
            Some(variant) if !variants.is_empty() && !variants.contains(variant) => {
                Err(unknown("variant", "names no variant of this model"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whom the prompt addresses, where that was chosen.
    #[must_use]
    pub fn to(&self) -> &Address {
        &self.to
    }

    /// What is said in the objective's place.
    pub(super) fn said(&self) -> Option<&Said> {
        self.said.as_ref()
    }

    /// The files that go along.
    #[must_use]
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }
}

fn unknown(field: &str, rule: &str) -> Error {
    Error::new(Code::InvalidPrompt, format!("`{field}` {rule}."))
}

fn file(attachment: &Attachment) -> File<'_> {
    File {
        name: &attachment.name,
        mime: &attachment.mime,
        url: &attachment.url,
    }
}

#[cfg(test)]
mod tests {
    use goal_core::goal::ModelRef;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::ports::{AgentRead, ModelRead};

    #[test]
    fn every_choice_is_checked_under_its_own_name() {
        let bad = "two\nlines".to_owned();
        let model = |provider: &str, model: &str| {
            Some(ModelRef {
                provider: provider.to_owned(),
                model: model.to_owned(),
            })
        };
        let named = |agent: Option<String>, model, variant| Address {
            model,
            agent,
            variant,
        };
        for (field, to) in [
            ("agent", named(Some(bad.clone()), None, None)),
            ("model.providerId", named(None, model(&bad, "m"), None)),
            ("model.modelId", named(None, model("p", &bad), None)),
            ("variant", named(None, None, Some(bad.clone()))),
        ] {
            let error = Choices::new(to, Vec::new()).unwrap_err();
            assert_eq!(error.code(), Code::InvalidPrompt);
            let expected = format!("`{field}` takes 1 to 200 characters, no control characters.");
            assert_eq!(error.message(), expected);
        }
        let file = Attachment {
            name: "n".to_owned(),
            mime: "a/b".to_owned(),
            url: "/etc/passwd".to_owned(),
        };
        let error = Choices::new(Address::default(), vec![file]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidPrompt);
        let expected = "`attachments[0].url` takes a `data:` or a `file:` address.";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn a1_who_is_not_there_is_refused_unless_nothing_is_known() {
        let big = ModelRef {
            provider: "p".to_owned(),
            model: "big".to_owned(),
        };
        let agent = |name: &str, is_subagent| AgentRead {
            name: name.to_owned(),
            is_subagent,
        };
        let there = Catalogue {
            agents: vec![agent("build", false), agent("explore", true)],
            models: vec![ModelRead {
                model: big.clone(),
                variants: vec!["high".to_owned()],
            }],
        };
        let other = ModelRef {
            model: "other".to_owned(),
            ..big.clone()
        };
        let choice = |agent: Option<&str>, model: Option<&ModelRef>, variant: Option<&str>| {
            let to = Address {
                model: model.cloned(),
                agent: agent.map(str::to_owned),
                variant: variant.map(str::to_owned),
            };
            Choices::new(to, Vec::new()).unwrap()
        };
        for good in [
            Choices::default(),
            choice(Some("build"), Some(&big), Some("high")),
            choice(None, None, Some("any")),
        ] {
            assert_eq!(good.check_known(&there), Ok(()));
        }
        for (bad, expected) in [
            (
                choice(Some("none"), None, None),
                "`agent` names no agent of this folder.",
            ),
            (
                choice(Some("explore"), None, None),
                "`agent` names an agent that only works for others.",
            ),
            (
                choice(None, Some(&other), None),
                "`model` names no model that can be used here.",
            ),
            (
                choice(None, Some(&big), Some("low")),
                "`variant` names no variant of this model.",
            ),
        ] {
            let error = bad.check_known(&there).unwrap_err();
            assert_eq!(
                (error.code(), error.message()),
                (Code::InvalidPrompt, expected)
            );
            assert_eq!(bad.check_known(&Catalogue::default()), Ok(()));
        }
    }

    #[test]
    fn what_is_said_in_the_objectives_place_is_a_prompt() {
        let long = "a".repeat(fields::PROMPT_MAX + 1);
        let refused = |prompt: &str, instructions: Option<&str>| {
            let refused = Choices::default().saying(prompt, instructions);
            let error = refused.unwrap_err();
            assert_eq!(error.code(), Code::InvalidPrompt);
            error.message().to_owned()
        };
        let rule = "takes a text of at most 4000000 bytes.";
        assert_eq!(refused(" \n", None), format!("`prompt` {rule}"));
        assert_eq!(refused(&long, None), format!("`prompt` {rule}"));
        assert_eq!(refused("Go.", Some("")), format!("`instructions` {rule}"));
        let said = Choices::default().saying(" Go. ", Some("Read it."));
        let expected = Said {
            prompt: "Go.".to_owned(),
            instructions: Some("Read it.".to_owned()),
        };
        assert_eq!(said.unwrap().said(), Some(&expected));
    }

    #[test]
    fn what_is_well_is_kept_as_it_is() {
        let to = Address {
            agent: Some("a b/c:d".to_owned()),
            ..Address::default()
        };
        let file = Attachment {
            name: "n".to_owned(),
            mime: "a/b".to_owned(),
            url: "data:,a".to_owned(),
        };
        let choices = Choices::new(to.clone(), vec![file.clone()]).unwrap();
        assert_eq!((choices.to(), choices.attachments()), (&to, &[file][..]));
    }
}
