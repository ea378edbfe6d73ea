//! One event as the server tells it → as the page gets it. Pure.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An event for pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// `{directory, type, properties}`.
    pub(crate) json: Arc<str>,
    /// What it says about a part of a message.
    pub(crate) about: About,
}

/// What an event says about a part of a message, as far as others make it superfluous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Nothing.
    Other,
    /// The part of this id is as the event says, whatever was told before.
    Whole(String),
    /// The part of this id grew.
    Growth(String),
}

/// Whether pages are told of events of type `kind`. A durable event comes a second time as `sync`;
/// the others tell of nothing a page shows.
pub(crate) fn is_wanted(kind: &str) -> bool {
    !matches!(
        kind,
        "sync"
            | "plugin.added"
            | "catalog.updated"
            | "integration.updated"
            | "reference.updated"
            | "server.heartbeat"
            | "server.connected"
    )
}

#[derive(Deserialize)]
struct Given<'a> {
    #[serde(borrow, default)]
    directory: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Payload<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    properties: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Told<'a> {
    directory: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    properties: Option<&'a RawValue>,
}

impl Event {
    /// The event in a frame's data; `None` if there is none.
    pub(crate) fn read(data: &str) -> Option<Self> {
        let given: Given<'_> = serde_json::from_str(data).ok()?;
        let known = |directory: &&str| !directory.is_empty() && *directory != "global";
        let told = Told {
            directory: given.directory.as_deref().filter(known),
            kind: &given.payload.kind,
            properties: given.payload.properties,
        };
        let json = serde_json::to_string(&told).ok()?;
        Some(Self {
            json: json.into(),
            about: about(told.kind, told.properties),
        })
    }
}

fn about(kind: &str, properties: Option<&RawValue>) -> About {
    #[derive(Deserialize)]
    struct Updated {
        part: Part,
    }
    #[derive(Deserialize)]
    struct Part {
        id: String,
    }
    #[derive(Deserialize)]
    struct Delta {
        #[serde(rename = "partID")]
        part: String,
    }
    let Some(properties) = properties.map(RawValue::get) else {
        return About::Other;
    };
    let about = match kind {
        "message.part.updated" => {
            serde_json::from_str(properties).map(|updated: Updated| About::Whole(updated.part.id))
        }
        "message.part.delta" => {
            serde_json::from_str(properties).map(|delta: Delta| About::Growth(delta.part))
        }
        _ => return About::Other,
    };
    // One that names no part makes nothing superfluous.
    about.unwrap_or(About::Other)
}
