//! What the server knows: sessions, messages, what was asked of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::fault::Fault;
use super::stream::Streams;

/// How a server behaves as a whole.
#[derive(Clone, Debug)]
pub struct FakeOptions {
    /// Asked for by HTTP Basic, with the user name `opencode`; `None`: everybody is let in.
    pub password: Option<String>,
    /// The deadline that the client under test has for its calls: whoever waits much longer for an
    /// answer that never comes has none.
    pub deadline: Duration,
    /// Between two signs of life on the event streams.
    pub heartbeat: Duration,
    /// From an answer's being ready to its first byte: the distance to a server elsewhere.
    pub delay: Duration,
}

impl Default for FakeOptions {
    /// No password, ten seconds for a call and for a heartbeat as with the real one, no distance.
    fn default() -> Self {
        Self {
            password: None,
            deadline: Duration::from_secs(10),
            heartbeat: Duration::from_secs(10),
            delay: Duration::ZERO,
        }
    }
}

/// A session to be put there.
#[derive(Clone, Debug)]
pub struct Room {
    /// Its id, `ses_…`.
    pub id: String,
    /// The project folder.
    pub directory: String,
    /// Its metadata as JSON text; `None` without any.
    pub metadata: Option<String>,
    /// Texts said so far, by user and assistant in turns; an even number ends with a finished
    /// turn.
    pub said: Vec<String>,
    /// A turn runs in it.
    pub busy: bool,
}

/// What a turn is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Pieces in which the text comes.
    pub deltas: usize,
    /// Length of a piece, in bytes.
    pub delta_bytes: usize,
    /// It ends by [`super::FakeServer::finish_turn`] only.
    pub held: bool,
    /// Messages kept of a session; older ones are forgotten, as if they had never been.
    pub messages_max: usize,
}

impl Default for Turns {
    /// Three short pieces, at once, nothing forgotten.
    fn default() -> Self {
        Self {
            deltas: 3,
            delta_bytes: 20,
            held: false,
            messages_max: usize::MAX,
        }
    }
}

/// What the auditor says; no two of its notes are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auditing {
    /// A goal is reached once its session was sent so many different prompts.
    pub prompts: usize,
}

/// A prompt as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSeen {
    /// The id of its message.
    pub message: String,
    /// The newest message of the session at that moment.
    pub tail: Option<String>,
    /// When.
    pub at: Instant,
}

/// A session.
pub(super) struct Session {
    pub(super) directory: Arc<str>,
    pub(super) parent: Option<String>,
    pub(super) title: String,
    pub(super) metadata: Option<Box<RawValue>>,
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) messages: VecDeque<Stored>,
    /// The message that the running turn answers.
    pub(super) busy: Option<String>,
    pub(super) prompts: Vec<PromptSeen>,
    pub(super) audits: usize,
    /// Of the durable events told so far.
    pub(super) seq: u64,
}

/// A message as it is answered.
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) user: bool,
    /// The message it answers.
    pub(super) parent: Option<String>,
    /// Its parts' ids.
    pub(super) parts: Vec<String>,
    /// `{"info":…,"parts":[…]}`
    pub(super) json: String,
    /// `info` alone.
    pub(super) info: String,
}

/// Everything.
pub(super) struct State {
    pub(super) options: FakeOptions,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) children: BTreeMap<String, BTreeSet<String>>,
    /// Sessions by folder.
    pub(super) folders: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// What runs, by folder.
    pub(super) busy: BTreeMap<Arc<str>, BTreeSet<String>>,
    pub(super) turns: Turns,
    pub(super) auditing: Auditing,
    pub(super) streams: Streams,
    pub(super) faults: BTreeMap<Endpoint, VecDeque<Fault>>,
    pub(super) requests: BTreeMap<Endpoint, usize>,
    /// Requests that wait for their answer, event streams left out, and the most there ever were.
    pub(super) under_way: usize,
    pub(super) under_way_max: usize,
    pub(super) prompts_total: usize,
    pub(super) violations: Vec<String>,
    /// Cursors given for pages.
    pub(super) cursors: BTreeSet<String>,
    counter: u64,
    /// When the next session that is put there was last changed.
    age: u64,
}

/// Violations kept; the first ones tell the cause.
const VIOLATIONS_MAX: usize = 100;

impl State {
    pub(super) fn new(options: FakeOptions) -> Self {
        Self {
            options,
            sessions: BTreeMap::new(),
            children: BTreeMap::new(),
            folders: BTreeMap::new(),
            busy: BTreeMap::new(),
            turns: Turns::default(),
            auditing: Auditing { prompts: 0 },
            streams: Streams::default(),
            faults: BTreeMap::new(),
            requests: BTreeMap::new(),
            under_way: 0,
            under_way_max: 0,
            prompts_total: 0,
            violations: Vec::new(),
            cursors: BTreeSet::new(),
            counter: 0,
            age: now(),
        }
    }

    /// A number that was not given before.
    pub(super) fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// An id of OpenCode's length.
    pub(super) fn id(&mut self, prefix: &str) -> String {
        format!("{prefix}_{:012x}{:014}", now(), self.number())
    }

    pub(super) fn violated(&mut self, what: impl Into<String>) {
        if self.violations.len() < VIOLATIONS_MAX {
            self.violations.push(what.into());
        }
    }

    /// What runs is cut off, as it is when the process dies; open streams are forgotten.
    pub(super) fn crash(&mut self) {
        self.streams = Streams::default();
        self.busy.clear();
        for session in self.sessions.values_mut() {
            session.busy = None;
        }
    }

    pub(super) fn put(&mut self, rooms: Vec<Room>) {
        self.age -= 1;
        for room in rooms {
            self.put_at(room, self.age);
        }
    }

    fn put_at(&mut self, room: Room, at: u64) {
        let directory: Arc<str> = Arc::from(room.directory.as_str());
        let metadata = room.metadata.map(RawValue::from_string);
        let session = Session {
            directory: Arc::clone(&directory),
            parent: None,
            title: format!("Work in {}", room.id),
            metadata: metadata.and_then(Result::ok),
            created: at,
            updated: at,
            messages: VecDeque::new(),
            busy: None,
            prompts: Vec::new(),
            audits: 0,
            seq: 0,
        };
        self.add(room.id.clone(), session);
        for (at, text) in room.said.iter().enumerate() {
            if at % 2 == 0 {
                let message = self.id("msg");
                let part = self.id("prt");
                self.store_prompt(&room.id, &message, &[(part, text.clone())]);
            } else {
                self.store_answer(&room.id, text);
            }
        }
        if room.busy {
            self.begin_turn(&room.id, None);
            if let Some(session) = self.sessions.get_mut(&room.id) {
                session.updated = at;
            }
        }
        self.tell_session(&room.id, "session.created");
    }

    pub(super) fn add(&mut self, id: String, session: Session) {
        let directory = Arc::clone(&session.directory);
        let folder = self.folders.entry(directory).or_default();
        folder.insert(id.clone());
        if let Some(parent) = &session.parent {
            let siblings = self.children.entry(parent.clone()).or_default();
            siblings.insert(id.clone());
        }
        self.sessions.insert(id, session);
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<()> {
        self.tell_session(id, "session.deleted");
        let session = self.sessions.remove(id)?;
        for set in [
            self.folders.get_mut(&session.directory),
            self.busy.get_mut(&session.directory),
        ] {
            set.map(|set| set.remove(id));
        }
        if let Some(siblings) = session
            .parent
            .and_then(|parent| self.children.get_mut(&parent))
        {
            siblings.remove(id);
        }
        for child in self.children.remove(id).unwrap_or_default() {
            self.remove(&child);
        }
        Some(())
    }

    pub(super) fn write_metadata(&mut self, id: &str, metadata: Box<RawValue>) -> Option<()> {
        let session = self.sessions.get_mut(id)?;
        session.metadata = Some(metadata);
        session.updated = now();
        self.tell_session(id, "session.updated");
        Some(())
    }

    pub(super) fn metadata(&self, id: &str) -> Option<String> {
        let metadata = self.sessions.get(id)?.metadata.as_ref()?;
        Some(metadata.get().to_owned())
    }

    pub(super) fn goal(&self, id: &str) -> Value {
        let metadata = self
            .sessions
            .get(id)
            .and_then(|session| session.metadata.as_ref());
        let metadata = metadata.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        metadata.map_or(Value::Null, |metadata| {
            metadata["openchamber"]["goal"].clone()
        })
    }

    pub(super) fn prompts(&self, id: &str) -> Vec<PromptSeen> {
        let session = self.sessions.get(id);
        session.map_or_else(Vec::new, |session| session.prompts.clone())
    }

    pub(super) fn audits(&self) -> Vec<String> {
        let audits = self.sessions.iter();
        audits
            .filter(|(_, session)| session.is_audit())
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// The auditor's next words about the session that the audit `id` belongs to.
    pub(super) fn verdict(&mut self, id: &str) -> String {
        let auditing = self.auditing;
        let parent = self
            .sessions
            .get(id)
            .and_then(|session| session.parent.clone());
        let judged = parent.and_then(|parent| self.sessions.get_mut(&parent));
        let (audits, prompts) = judged.map_or((0, 0), |judged| {
            judged.audits += 1;
            (judged.audits, judged.steps())
        });
        let verdict = if prompts < auditing.prompts {
            "continue"
        } else {
            "complete"
        };
        let note = format!("step {audits} of the work was looked at");
        json!({ "verdict": verdict, "note": note }).to_string()
    }

    /// A session as it is answered and told.
    pub(super) fn session_json(&self, id: &str) -> Option<String> {
        #[derive(Serialize)]
        struct Time {
            created: u64,
            updated: u64,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shown<'a> {
            id: &'a str,
            slug: &'a str,
            #[serde(rename = "projectID")]
            project_id: &'a str,
            directory: &'a str,
            path: &'a str,
            #[serde(rename = "parentID", skip_serializing_if = "Option::is_none")]
            parent_id: Option<&'a str>,
            title: &'a str,
            agent: &'a str,
            version: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            metadata: Option<&'a RawValue>,
            cost: f64,
            time: Time,
        }
        let session = self.sessions.get(id)?;
        let shown = Shown {
            id,
            slug: "silent-lagoon",
            project_id: super::turns::PROJECT,
            directory: &session.directory,
            path: "",
            parent_id: session.parent.as_deref(),
            title: &session.title,
            agent: "build",
            version: super::FAKE_VERSION,
            metadata: session.metadata.as_deref(),
            cost: 0.001_12,
            time: Time {
                created: session.created,
                updated: session.updated,
            },
        };
        serde_json::to_string(&shown).ok()
    }
}

impl Session {
    /// It carries an audit's mark, and is a child.
    pub(super) fn is_audit(&self) -> bool {
        let marked = |raw: &RawValue| raw.get().contains("\"goalAudit\"");
        self.parent.is_some() && self.metadata.as_deref().is_some_and(marked)
    }

    /// Different prompts that it was sent; repetitions follow each other.
    fn steps(&self) -> usize {
        let mut ids: Vec<&str> = self
            .prompts
            .iter()
            .map(|sent| sent.message.as_str())
            .collect();
        ids.dedup();
        ids.len()
    }

    pub(super) fn tail(&self) -> Option<&Stored> {
        self.messages.back()
    }

    pub(super) fn message(&self, id: &str) -> Option<&Stored> {
        self.messages.iter().rfind(|stored| stored.id == id)
    }
}

/// Epoch milliseconds.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
