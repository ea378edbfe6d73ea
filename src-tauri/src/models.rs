//! The models and agents of a server, without what else it tells with them: keys and options.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tauri::{AppHandle, Runtime};
use tauri_plugin_goal::GoalExt as _;

use crate::call::ask;
use crate::error::{Error, Result};

#[cfg(test)]
mod tests;

/// What a page may choose from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Models {
    providers: Vec<Provider>,
    /// The model that the configuration names; where it names none, the server chooses.
    configured: Option<AgentModel>,
    agents: Vec<Agent>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Provider {
    id: String,
    name: String,
    models: Vec<Model>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    id: String,
    name: String,
    context_limit: Option<u64>,
    output_limit: Option<u64>,
    cost: Option<Cost>,
    variants: Vec<String>,
    attachments: bool,
    images: bool,
    pdf: bool,
    reasoning: bool,
}

/// US dollars for a million tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Agent {
    name: String,
    description: Option<String>,
    mode: Mode,
    hidden: bool,
    model: Option<AgentModel>,
    color: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Primary,
    Subagent,
    All,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentModel {
    provider_id: String,
    model_id: String,
}

/// The models and agents of a folder.
///
/// # Errors
/// `notConnected`, `timedOut`, `unreachable`, `invalid`.
pub(crate) async fn models<R: Runtime>(
    app: &AppHandle<R>,
    directory: Option<&str>,
) -> Result<Models> {
    let client = app.goal().server_client()?;
    let (providers, agents, config) = tokio::try_join!(
        ask(&client, &["config", "providers"], directory),
        ask(&client, &["agent"], directory),
        ask(&client, &["config"], directory),
    )?;
    read(&providers, &agents, &config)
}

/// What the server answered → what the page gets. Nothing is passed on that is not named here;
/// one odd model or agent is left out and spoils no other.
fn read(providers: &[u8], agents: &[u8], config: &[u8]) -> Result<Models> {
    #[derive(Deserialize)]
    struct Given<'a> {
        #[serde(borrow)]
        providers: Vec<&'a RawValue>,
    }
    let given: Given<'_> = serde_json::from_slice(providers).map_err(|_| not_readable())?;
    let agents: Vec<&RawValue> = serde_json::from_slice(agents).map_err(|_| not_readable())?;
    Ok(Models {
        providers: given.providers.into_iter().filter_map(provider).collect(),
        configured: configured(config),
        agents: agents.into_iter().filter_map(agent).collect(),
    })
}

/// The model of a configuration, written `provider/model`; of the rest nothing is kept.
fn configured(config: &[u8]) -> Option<AgentModel> {
    #[derive(Deserialize)]
    struct Given {
        model: Option<String>,
    }
    let given: Given = serde_json::from_slice(config).ok()?;
    let model = given.model?;
    let (provider_id, model_id) = model.split_once('/')?;
    Some(AgentModel {
        provider_id: provider_id.to_owned(),
        model_id: model_id.to_owned(),
    })
}

fn provider(raw: &RawValue) -> Option<Provider> {
    #[derive(Deserialize)]
    struct Given<'a> {
        id: String,
        #[serde(default)]
        name: Option<String>,
        #[serde(borrow, default)]
        models: BTreeMap<String, &'a RawValue>,
    }
    let given: Given<'_> = serde_json::from_str(raw.get()).ok()?;
    let models = given.models.into_iter();
    Some(Provider {
        name: given.name.unwrap_or_else(|| given.id.clone()),
        id: given.id,
        models: models.filter_map(|(id, raw)| model(id, raw)).collect(),
    })
}

fn model(id: String, raw: &RawValue) -> Option<Model> {
    // Read as a tree: every field may be missing or of another kind in another version.
    let given: Value = serde_json::from_str(raw.get()).ok()?;
    let given = given.as_object()?;
    let at = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(given.get(*first)?, |value, key| value.get(key))
    };
    let is = |path: &[&str]| at(path).and_then(Value::as_bool).unwrap_or(false);
    let dollars = |path: &[&str]| at(path).and_then(Value::as_f64);
    let (images, pdf) = (
        is(&["capabilities", "input", "image"]),
        is(&["capabilities", "input", "pdf"]),
    );
    let cost = dollars(&["cost", "input"]).zip(dollars(&["cost", "output"]));
    let variants = at(&["variants"]).and_then(Value::as_object);
    Some(Model {
        name: at(&["name"])
            .and_then(Value::as_str)
            .unwrap_or(&id)
            .to_owned(),
        context_limit: at(&["limit", "context"]).and_then(Value::as_u64),
        output_limit: at(&["limit", "output"]).and_then(Value::as_u64),
        cost: cost.map(|(input, output)| Cost {
            input,
            output,
            cache_read: dollars(&["cost", "cache", "read"]).unwrap_or(0.0),
            cache_write: dollars(&["cost", "cache", "write"]).unwrap_or(0.0),
        }),
        variants: variants
            .map(|variants| variants.keys().cloned().collect())
            .unwrap_or_default(),
        attachments: is(&["capabilities", "attachment"]) || images || pdf,
        images,
        pdf,
        reasoning: is(&["capabilities", "reasoning"]),
        id,
    })
}

fn agent(raw: &RawValue) -> Option<Agent> {
    #[derive(Deserialize)]
    struct Given {
        name: String,
        #[serde(default)]
        description: Option<String>,
        mode: Mode,
        #[serde(default)]
        hidden: Option<bool>,
        #[serde(default)]
        model: Option<GivenModel>,
        #[serde(default)]
        color: Option<String>,
    }
    #[derive(Deserialize)]
    struct GivenModel {
        #[serde(rename = "providerID")]
        provider_id: String,
        #[serde(rename = "modelID")]
        model_id: String,
    }
    let given: Given = serde_json::from_str(raw.get()).ok()?;
    Some(Agent {
        name: given.name,
        description: given.description,
        mode: given.mode,
        hidden: given.hidden.unwrap_or(false),
        model: given.model.map(|model| AgentModel {
            provider_id: model.provider_id,
            model_id: model.model_id,
        }),
        color: given.color,
    })
}

fn not_readable() -> Error {
    Error::invalid("The OpenCode server's list of models is not readable.")
}
