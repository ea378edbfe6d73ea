//! What the user is told of sessions without an active goal: a turn ended or failed, a question or
//! a permission request waits (§4.1). Sessions with one are told of by the loop itself.
//!
//! It listens beside the engine and only reads: whatever goes wrong here costs a notice, never a
//! goal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use goal_core::goal::{GoalId, SessionId, Status};
use goal_core::message::{ErrorKind, Message};
use goal_core::notice::{BODY_MAX, NoticeCode, NoticeGate};
use goal_core::snapshot::{Request, RequestKind};
use goal_core::text;
use goal_core::timeline::Timeline;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::outbox::Outbox;
use crate::ports::{Events, NoticeOut, Ports, ServerEvent, SessionRead};
use crate::settings::{NotificationMode, Settings, Template};
use crate::stored::goal_of;
use crate::tell;

/// Events that wait to be looked at; beyond it the newest are not told.
const HEARD_MAX: usize = 1_024;

/// Sessions whose turns are followed; the oldest are forgotten first.
const FOLLOWED_MAX: usize = 1_000;

/// How long a look at a session may take before the notice is given up.
const LOOK_MAX: Duration = Duration::from_secs(2);

/// Between two notices about the turns of one session.
const COOLDOWN: Duration = Duration::from_secs(5);

/// How long a request must stand: one that is answered at once by a rule is none of the user's.
const REQUEST_STANDS: Duration = Duration::from_millis(500);

/// Sub-agents of sub-agents, at most.
const DEPTH_MAX: usize = 8;

/// Messages read for the last reply.
const MESSAGES: u32 = 5;

/// Bytes read of a file of Git's.
const GIT_BYTES_MAX: u64 = 4_096;

/// Requests that were told; the oldest are forgotten first.
const REQUESTS_TOLD_MAX: usize = 1_000;

/// What the user looks at.
pub trait Screen: Send + Sync {
    /// Whether a window of the app has the focus.
    fn has_focus(&self) -> bool;
}

/// The engine's events on their way, overheard.
struct Overheard {
    events: Box<dyn Events>,
    heard: mpsc::Sender<ServerEvent>,
}

/// What was overheard.
pub struct Heard(mpsc::Receiver<ServerEvent>);

/// Has somebody listen beside the engine, which is never kept waiting.
#[must_use]
pub fn overhear(events: Box<dyn Events>) -> (Box<dyn Events>, Heard) {
    let (sender, heard) = mpsc::channel(HEARD_MAX);
    let overheard = Overheard {
        events,
        heard: sender,
    };
    (Box::new(overheard), Heard(heard))
}

#[async_trait]
impl Events for Overheard {
    async fn next(&mut self) -> ServerEvent {
        let event = self.events.next().await;
        // A listener that has fallen behind misses a notice.
        let _ = self.heard.try_send(event.clone());
        event
    }

    fn reconnect(&mut self) {
        self.events.reconnect();
    }
}

/// Tells of turns until the events end. `told` hears of each notice as it goes out.
pub async fn tell_turns(
    ports: &Ports,
    heard: Heard,
    screen: &dyn Screen,
    told: &(dyn Fn(&NoticeOut) + Send + Sync),
) {
    let mut listener = Listener {
        ports,
        outbox: Outbox::start(ports.clone()),
        screen,
        told,
        turns: BTreeMap::new(),
        order: VecDeque::new(),
        standing: BTreeMap::new(),
        requests_told: VecDeque::new(),
    };
    listener.listen(heard.0).await;
}

struct Listener<'a> {
    ports: &'a Ports,
    outbox: Outbox,
    screen: &'a dyn Screen,
    told: &'a (dyn Fn(&NoticeOut) + Send + Sync),
    turns: BTreeMap<SessionId, Turn>,
    /// The sessions followed, oldest first.
    order: VecDeque<SessionId>,
    /// Sessions with a request that may still be answered at once, and when it stands.
    standing: BTreeMap<SessionId, Instant>,
    requests_told: VecDeque<String>,
}

/// What is known of a session's turn.
#[derive(Default)]
struct Turn {
    /// It was seen to begin: the end of one that was not is no news.
    begun: bool,
    /// Somebody stopped it.
    stopped: bool,
    /// It failed, and that was told.
    failed: bool,
    /// When its session was told of.
    told: Option<Instant>,
}

/// Something to tell, if its session turns out to be one that is told of.
struct Occasion {
    code: NoticeCode,
    /// The request; `None`: it is about the turn itself.
    request: Option<String>,
    /// An error's text, what a request asks.
    detail: String,
}

impl Listener<'_> {
    async fn listen(&mut self, mut heard: mpsc::Receiver<ServerEvent>) {
        loop {
            let due = self.standing.values().min().copied();
            let wait = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = heard.recv() => match event {
                    Some(event) => self.hear(event).await,
                    None => return,
                },
                () = wait => self.look_at_requests().await,
            }
        }
    }

    async fn hear(&mut self, event: ServerEvent) {
        match event {
            // What happened in a gap is not known, and old news is none.
            ServerEvent::Connected | ServerEvent::Lost { .. } => {
                self.turns.values_mut().for_each(|turn| turn.begun = false);
                self.standing.clear();
            }
            ServerEvent::Busy(session, _) => {
                let turn = self.turn(&session);
                if !turn.begun {
                    (turn.begun, turn.stopped, turn.failed) = (true, false, false);
                }
            }
            ServerEvent::Idle(session) => self.ended(session).await,
            ServerEvent::Error {
                session,
                kind,
                text,
            } => self.failed(session, kind, text).await,
            ServerEvent::Message {
                session, aborted, ..
            } => {
                if aborted {
                    self.turn(&session).stopped = true;
                }
            }
            ServerEvent::Request { session, open } => {
                if open {
                    let due = Instant::now() + REQUEST_STANDS;
                    self.standing.entry(session).or_insert(due);
                } else {
                    self.standing.remove(&session);
                }
            }
            ServerEvent::Deleted(session) => {
                self.turns.remove(&session);
                self.order.retain(|followed| *followed != session);
                self.standing.remove(&session);
            }
            ServerEvent::Session(_) | ServerEvent::Disposed { .. } => {}
        }
    }

    async fn ended(&mut self, session: SessionId) {
        let turn = self.turn(&session);
        let ready = std::mem::take(&mut turn.begun) && !turn.stopped && !turn.failed;
        if ready {
            let occasion = Occasion {
                code: NoticeCode::TurnReady,
                request: None,
                detail: String::new(),
            };
            self.turn_told(&session, occasion).await;
        }
    }

    async fn failed(&mut self, session: SessionId, kind: ErrorKind, text: String) {
        match kind {
            ErrorKind::Aborted => self.turn(&session).stopped = true,
            // The server compacts and goes on.
            ErrorKind::ContextOverflow => {}
            ErrorKind::OutputLength | ErrorKind::Failure => {
                self.turn(&session).failed = true;
                let occasion = Occasion {
                    code: NoticeCode::TurnFailed,
                    request: None,
                    detail: text,
                };
                self.turn_told(&session, occasion).await;
            }
        }
    }

    /// Tells of a turn, unless its session was told of a moment ago.
    async fn turn_told(&mut self, session: &SessionId, occasion: Occasion) {
        let now = Instant::now();
        let turn = self.turn(session);
        if turn.told.is_some_and(|told| now < told + COOLDOWN) {
            return;
        }
        turn.told = Some(now);
        self.tell(session, occasion).await;
    }

    async fn look_at_requests(&mut self) {
        let now = Instant::now();
        let due: Vec<SessionId> = self
            .standing
            .iter()
            .filter(|(_, due)| **due <= now)
            .map(|(session, _)| session.clone())
            .collect();
        for session in due {
            self.standing.remove(&session);
            for request in self.requests_of(&session).await {
                if self.requests_told.contains(&request.id) {
                    continue;
                }
                self.requests_told.push_back(request.id.clone());
                if self.requests_told.len() > REQUESTS_TOLD_MAX {
                    self.requests_told.pop_front();
                }
                let code = match request.kind {
                    RequestKind::Permission => NoticeCode::WaitingForPermission,
                    RequestKind::Question => NoticeCode::WaitingForAnswer,
                };
                let occasion = Occasion {
                    code,
                    request: Some(request.id),
                    detail: request.subject,
                };
                self.tell(&session, occasion).await;
            }
        }
    }

    async fn requests_of(&self, session: &SessionId) -> Vec<Request> {
        let sessions = &self.ports.sessions;
        let look = async {
            let read = sessions.session(session, None).await.ok()?;
            sessions.requests(&read.directory).await.ok()
        };
        let open = timeout(LOOK_MAX, look).await.ok().flatten();
        let open = open.unwrap_or_default().into_iter();
        open.filter(|open| open.session == *session)
            .map(|open| open.request)
            .collect()
    }

    async fn tell(&self, session: &SessionId, occasion: Occasion) {
        let settings = self.ports.settings.read().await.settings;
        let wanted = match occasion.code.gate() {
            NoticeGate::Completion => settings.notify_on_completion,
            NoticeGate::Question => settings.notify_on_question,
            NoticeGate::Error => settings.notify_on_error,
        };
        let seen =
            settings.notification_mode == NotificationMode::HiddenOnly && self.screen.has_focus();
        if !wanted || seen {
            return;
        }
        let looked = timeout(LOOK_MAX, self.look(session)).await;
        let Ok(Some(scene)) = looked else {
            return tracing::debug!(%session, "a turn is not told of");
        };
        let subtask = scene.read.facts.parent.is_some();
        if subtask && occasion.code == NoticeCode::TurnReady && !settings.notify_on_subtasks {
            return;
        }
        let out = notice(&scene, &occasion, &settings, subtask).await;
        let key = scene.key(&occasion);
        if let Some(planned) = tell::plan_turn(self.ports, out, &key).await {
            (self.told)(&planned.out);
            self.outbox.put(planned);
        }
    }

    /// The session, if it is one that is told of here: no audit, and no active goal on it or on
    /// the session it works for.
    async fn look(&self, session: &SessionId) -> Option<Scene> {
        let sessions = &self.ports.sessions;
        let read = sessions.session(session, None).await.ok()?;
        let mut root = read.clone();
        for _ in 0..DEPTH_MAX {
            if root.audit.is_some() {
                return None;
            }
            match root.facts.parent.clone() {
                Some(parent) => root = sessions.session(&parent, None).await.ok()?,
                None => break,
            }
        }
        let goal = goal_of(&root, self.ports);
        if goal.is_some_and(|goal| goal.status == Status::Active) {
            return None;
        }
        let page = sessions.messages(session, &read.directory, None, MESSAGES);
        let messages = page.await.map(|page| page.items).unwrap_or_default();
        Some(Scene { read, messages })
    }

    fn turn(&mut self, session: &SessionId) -> &mut Turn {
        if !self.turns.contains_key(session) {
            self.order.push_back(session.clone());
            if self.order.len() > FOLLOWED_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.turns.remove(&oldest);
            }
        }
        self.turns.entry(session.clone()).or_default()
    }
}

/// A session and the end of its conversation.
struct Scene {
    read: SessionRead,
    messages: Vec<Message>,
}

impl Scene {
    fn last_reply(&self) -> String {
        let replies = self.messages.iter();
        let replies = replies.filter(|message| message.step().is_some_and(|step| !step.summary));
        let newest = replies.max_by_key(|message| message.created);
        newest.map_or_else(String::new, |message| {
            message.texts().collect::<Vec<_>>().join("\n")
        })
    }

    /// What makes a notice one and the same, in every process that hears of it.
    fn key(&self, occasion: &Occasion) -> String {
        let newest = self.messages.iter().max_by_key(|message| message.created);
        let about = match (&occasion.request, newest) {
            (Some(request), _) => request.clone(),
            (None, Some(newest)) => newest.id.to_string(),
            (None, None) => self.read.updated.0.to_string(),
        };
        format!("{}:{about}:{}", occasion.code.name(), self.read.facts.id)
    }
}

/// The notice, in the user's own words where a template has some. Its `objective` is then the
/// title, its `detail` the rest.
async fn notice(
    scene: &Scene,
    occasion: &Occasion,
    settings: &Settings,
    subtask: bool,
) -> NoticeOut {
    let templates = &settings.notification_templates;
    let template = match occasion.code.gate() {
        NoticeGate::Completion if subtask => &templates.subtask,
        NoticeGate::Completion => &templates.completion,
        NoticeGate::Question => &templates.question,
        NoticeGate::Error => &templates.error,
    };
    let values = values(scene, occasion, settings, template).await;
    let title = filled(&template.title, &values).unwrap_or_default();
    let usual = if occasion.detail.is_empty() {
        usual_text(&values)
    } else {
        occasion.detail.clone()
    };
    let rest = filled(&template.message, &values).unwrap_or(usual);
    let clamped = |text: &str| {
        let text = text::collapse_whitespace(text);
        text::clamp(&text, BODY_MAX).to_owned()
    };
    NoticeOut {
        session: scene.read.facts.id.clone(),
        directory: scene.read.directory.clone(),
        title: scene.read.title.clone(),
        goal: GoalId::new(""),
        code: occasion.code,
        objective: clamped(&title),
        detail: clamped(&rest),
    }
}

type Values = BTreeMap<&'static str, String>;

async fn values(
    scene: &Scene,
    occasion: &Occasion,
    settings: &Settings,
    template: &Template,
) -> Values {
    let timeline = Timeline::new(scene.messages.clone(), scene.read.facts.revert.as_ref());
    let voice = goal_core::evidence::Voice::of(&timeline);
    let agent = voice.as_ref().and_then(|voice| voice.agent.clone());
    let model = voice.map(|voice| voice.model.model);
    let last = if occasion.detail.is_empty() {
        scene.last_reply()
    } else {
        occasion.detail.clone()
    };
    let longest = usize::try_from(settings.max_last_message_length).unwrap_or(usize::MAX);
    let last = text::collapse_whitespace(&last);
    let directory = &scene.read.directory;
    let project = Path::new(directory).file_name();
    let wants_branch = [&template.title, &template.message]
        .iter()
        .any(|text| text.contains("{branch}"));
    let branch = if wants_branch {
        branch_of(directory.clone()).await
    } else {
        String::new()
    };
    BTreeMap::from([
        (
            "project_name",
            project.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        ),
        ("worktree", directory.clone()),
        ("branch", branch),
        ("session_name", scene.read.title.clone()),
        ("agent_name", agent.unwrap_or_default()),
        ("model_name", model.unwrap_or_default()),
        ("last_message", shortened(&last, longest)),
        ("session_id", scene.read.facts.id.to_string()),
    ])
}

/// What a notice says that no template words: the session and its model.
fn usual_text(values: &Values) -> String {
    let parts = ["session_name", "model_name"].map(|name| values.get(name).map(String::as_str));
    let parts: Vec<&str> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" · ")
}

fn shortened(text: &str, longest: usize) -> String {
    if text::utf16_len(text) <= longest {
        return text.to_owned();
    }
    format!("{}…", text::clamp(text, longest.saturating_sub(1)))
}

/// A template with its values; an unknown placeholder is empty. `None`: there is no template, or
/// it needs a last message and there is none (§4.1).
fn filled(template: &str, values: &Values) -> Option<String> {
    if template.is_empty() {
        return None;
    }
    let mut out = String::new();
    let mut used = BTreeSet::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            break;
        };
        out.push_str(values.get(name).map_or("", String::as_str));
        used.insert(name);
        rest = behind;
    }
    out.push_str(rest);
    let lacks =
        used.contains("last_message") && values.get("last_message").is_none_or(String::is_empty);
    (!lacks).then_some(out)
}

/// The branch that is checked out, as Git's own files say; empty where they do not.
async fn branch_of(directory: String) -> String {
    let read = tokio::task::spawn_blocking(move || branch_in(Path::new(&directory)));
    read.await.ok().flatten().unwrap_or_default()
}

fn branch_in(directory: &Path) -> Option<String> {
    let dot_git = directory.join(".git");
    let folder = if dot_git.is_dir() {
        dot_git
    } else {
        // A worktree has a file that names the folder.
        let named = beginning(&dot_git)?;
        directory.join(PathBuf::from(named.strip_prefix("gitdir:")?.trim()))
    };
    let head = beginning(&folder.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    Some(branch.to_owned())
}

fn beginning(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(GIT_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn values() -> Values {
        BTreeMap::from([
            ("session_name", "Parser".to_owned()),
            ("last_message", String::new()),
        ])
    }

    #[test]
    fn a_template_is_filled_and_an_unknown_placeholder_is_empty() {
        for (template, text) in [
            ("", None),
            ("{session_name} is ready", Some("Parser is ready")),
            ("a{nobody}b", Some("ab")),
            ("open {brace", Some("open {brace")),
            ("{last_message}", None),
        ] {
            assert_eq!(filled(template, &values()).as_deref(), text, "{template}");
        }
    }

    #[test]
    fn a_long_reply_is_shortened_with_a_mark() {
        assert_eq!(shortened("0123456789", 10), "0123456789");
        assert_eq!(shortened("0123456789a", 10), "012345678…");
    }

    #[test]
    fn the_branch_is_read_in_a_clone_and_in_a_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let (clone, worktree) = (folder.path().join("clone"), folder.path().join("tree"));
        std::fs::create_dir_all(clone.join(".git/worktrees/tree")).unwrap();
        std::fs::create_dir(&worktree).unwrap();
        std::fs::write(clone.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        let git = clone.join(".git/worktrees/tree");
        std::fs::write(git.join("HEAD"), "0123abcd\n").unwrap();
        std::fs::write(
            worktree.join(".git"),
            format!("gitdir: {}\n", git.display()),
        )
        .unwrap();
        assert_eq!(branch_in(&clone).as_deref(), Some("feature/x"));
        assert_eq!(branch_in(&worktree), None, "no branch is checked out");
        std::fs::write(git.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        assert_eq!(branch_in(&worktree).as_deref(), Some("side"));
        assert_eq!(branch_in(folder.path()), None);
    }
}
