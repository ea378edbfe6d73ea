//! The calls a client makes, each with its deadline; the content type is checked before a 200 is
//! believed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::error::{Error, Kind};
use crate::events::{EventOptions, EventStream, RawStream};
use crate::fields::{self, Fields};
use crate::target::Target;
use crate::wire::{
    Agent, Command, CommandCall, Health, Message, NewSession, Page, PermissionRequest, Prompt,
    Providers, QuestionRequest, Session, Status,
};

/// Longest answer that is read, in bytes. Forty messages with large tool outputs stay far below.
pub const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The oldest version that is known to keep session metadata: 1.15.4 takes it with a 200 and
/// forgets it, 1.15.13 keeps it.
pub const VERSION_MIN: [u64; 3] = [1, 15, 13];

/// Longest try of [`Client::connect`]: a server that is starting may accept a connection and never
/// answer on it, while the next connection is answered within milliseconds.
const PROBE_MAX: Duration = Duration::from_secs(2);

/// Pause between two tries of [`Client::connect`].
const PROBE_PAUSE: Duration = Duration::from_millis(100);

/// How long an unused connection is kept. Shorter than the server's own patience, so that a request
/// hardly ever meets a connection that is just being closed.
const IDLE_MAX: Duration = Duration::from_secs(3);

/// Longest id that enters a path, in characters. OpenCode's own have 30.
const ID_CHARS_MAX: usize = 128;

/// The deadlines of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection to come about.
    pub connect: Duration,
    /// For a whole call, from the connection to the last byte of the answer.
    pub call: Duration,
}

impl Timeouts {
    /// 3 s to connect, 10 s for a call.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(3),
        call: Duration::from_secs(10),
    };
}

/// The methods that [`Client::forward`] sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Makes or does something.
    Post,
    /// Changes something.
    Patch,
    /// Takes something away.
    Delete,
}

impl Verb {
    fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

/// A call for [`Client::forward`]. Its text may be a prompt, so it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Forward {
    /// How.
    pub verb: Verb,
    /// The path's segments; each is escaped as one.
    pub path: Vec<String>,
    /// The query's pairs; each part is escaped.
    pub query: Vec<(String, String)>,
    /// JSON.
    pub body: Option<String>,
    /// For the whole call, from the connection to the last byte of the answer.
    pub deadline: Duration,
}

/// The answer to a [`Forward`], as it came.
#[derive(Clone, PartialEq, Eq)]
pub struct Forwarded {
    /// The HTTP status.
    pub status: u16,
    /// Of the body.
    pub content_type: Option<String>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// A client of one server. Clones are cheap and share their connections and their target: a server
/// that was started again elsewhere is followed by all of them at once, event streams included.
#[derive(Clone, Debug)]
pub struct Client {
    link: Arc<watch::Sender<Link>>,
    timeouts: Timeouts,
    body_bytes_max: usize,
}

/// Where the clones of a client send what they are asked to.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    http: reqwest::Client,
    target: Arc<Target>,
    /// Whether anything may be sent there.
    pub(crate) is_up: bool,
}

/// A builder of HTTP clients that can speak TLS: the cryptography is that of `ring`, unless the
/// program has chosen its own. Reqwest's usual one takes two megabytes more of every program.
pub fn http_client() -> reqwest::ClientBuilder {
    // Refused where there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

impl Link {
    fn to(target: Target, timeouts: Timeouts) -> Result<Self, Error> {
        let mut builder = http_client()
            .connect_timeout(timeouts.connect)
            .pool_idle_timeout(IDLE_MAX)
            // A redirect would carry the password to wherever it points.
            .redirect(reqwest::redirect::Policy::none());
        if target.is_loopback() {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| {
            let message = format!("no HTTP client could be set up: {error}");
            Error::without_effect(Kind::BadTarget, message)
        })?;
        Ok(Self {
            http,
            target: Arc::new(target),
            is_up: true,
        })
    }
}

impl Client {
    /// A client of the server at `target`; nothing is sent yet.
    ///
    /// # Errors
    /// [`Kind::BadTarget`] if the TLS set-up of this machine cannot be read.
    pub fn new(target: Target, timeouts: Timeouts) -> Result<Self, Error> {
        let link = Link::to(target, timeouts)?;
        Ok(Self {
            link: Arc::new(watch::Sender::new(link)),
            timeouts,
            body_bytes_max: BODY_BYTES_MAX,
        })
    }

    /// The same client reading answers of at most `bytes`.
    #[must_use]
    pub fn with_body_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// The server this client talks to, or talked to last.
    pub fn target(&self) -> Arc<Target> {
        Arc::clone(&self.link.borrow().target)
    }

    /// From now on this client and all its clones talk to `target`; their event streams connect
    /// there at once. Calls that are under way end where they began.
    ///
    /// # Errors
    /// As [`Client::new`]; nothing has changed then.
    pub fn rebind(&self, target: Target) -> Result<(), Error> {
        let link = Link::to(target, self.timeouts)?;
        self.link.send_replace(link);
        Ok(())
    }

    /// From now on, until [`Client::rebind`], nothing is sent any more: every call of this client
    /// and its clones fails at once as [`Kind::Unreachable`], and event streams lose their
    /// connection. For a server that is known to have ended: whatever listens at its address next
    /// must see neither prompts nor the password.
    pub fn suspend(&self) {
        self.link.send_modify(|link| link.is_up = false);
    }

    /// Tells of every change of the target.
    pub(crate) fn moves(&self) -> watch::Receiver<Link> {
        self.link.subscribe()
    }

    /// Asks once for the server's health, within the deadline of a call.
    ///
    /// # Errors
    /// [`Kind::NotOpenCode`] if the answer is no health report, else as any call.
    pub async fn health(&self) -> Result<Health, Error> {
        self.health_within(self.timeouts.call).await
    }

    /// Waits until the server is healthy, trying again and again for at most `within`.
    ///
    /// # Errors
    /// At once: [`Kind::Unauthorized`], [`Kind::NotOpenCode`], [`Kind::TooOld`] (before
    /// [`VERSION_MIN`], which has no session metadata), or another refusal. After `within`: the
    /// failure of the last try, [`Kind::Unreachable`], [`Kind::Timeout`] or [`Kind::Server`].
    pub async fn connect(&self, within: Duration) -> Result<Health, Error> {
        self.probe(within, /*waits*/ true).await
    }

    /// As [`Client::connect`] for a server that should be running: where nothing listens, there is
    /// nothing to wait for.
    ///
    /// # Errors
    /// Those of [`Client::connect`]; a refused connection at once.
    pub async fn connect_to_running(&self, within: Duration) -> Result<Health, Error> {
        self.probe(within, /*waits*/ false).await
    }

    async fn probe(&self, within: Duration, waits: bool) -> Result<Health, Error> {
        let end = Instant::now() + within;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            // A try that failed gives its connection up, so each one goes out on a new connection.
            let patience = left.min(PROBE_MAX).min(self.timeouts.call);
            let error = match self.health_within(patience).await {
                Ok(health) => return check_version(health),
                Err(error) => error,
            };
            let passing = match error.kind() {
                Kind::Unreachable => waits || error.maybe_sent(),
                Kind::Timeout | Kind::Server { .. } => true,
                Kind::Unauthorized
                | Kind::NotFound
                | Kind::Rejected { .. }
                | Kind::NotOpenCode
                | Kind::Malformed
                | Kind::TooLarge
                | Kind::TooOld { .. }
                | Kind::MalformedId
                | Kind::BadTarget => false,
            };
            if !passing || Instant::now() + PROBE_PAUSE >= end {
                return Err(error);
            }
            tokio::time::sleep(PROBE_PAUSE).await;
        }
    }

    /// Subscribes to the events of all directories. Connects when first asked for an item.
    pub fn events(&self, options: EventOptions) -> EventStream {
        EventStream::new(self.clone(), options)
    }

    /// Subscribes to the events of all directories without reading them; those of types that
    /// `is_wanted` refuses are dropped.
    pub fn raw_events(&self, options: EventOptions, is_wanted: fn(&str) -> bool) -> RawStream {
        RawStream::new(self.clone(), options, is_wanted)
    }

    /// Sends a call that somebody else composed, and gives the answer as it came: refusals and
    /// failures of the server are answers, too. What may be forwarded is the caller's to decide.
    ///
    /// Dropping the future gives up waiting; what the server began goes on.
    ///
    /// # Errors
    /// [`Kind::Unreachable`], [`Kind::Timeout`], [`Kind::TooLarge`]; [`Kind::NotOpenCode`] for a
    /// success that is not JSON, and for a redirect.
    pub async fn forward(&self, call: &Forward) -> Result<Forwarded, Error> {
        let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
        let query: Vec<(&str, &str)> = call
            .query
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let mut request = self
            .request(call.verb.method(), &path, &query)?
            .timeout(call.deadline);
        if let Some(body) = &call.body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        let response = request
            .send()
            .await
            .map_err(|error| Error::from_transport(&error))?;
        let status = response.status();
        if status.is_redirection() || status.is_informational() {
            return Err(not_open_code("it redirects"));
        }
        let is_json = has_type(&response, "application/json");
        if status.is_success() && status != StatusCode::NO_CONTENT && !is_json {
            return Err(not_open_code("its answer is not JSON"));
        }
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        Ok(Forwarded {
            status: status.as_u16(),
            content_type: header("content-type"),
            next: header("x-next-cursor"),
            body: self.read_bytes(response).await?,
        })
    }

    /// Reads a session.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if it does not exist; [`Kind::MalformedId`]; else as any call.
    pub async fn session(&self, id: &str, directory: Option<&str>) -> Result<Session, Error> {
        check_session_id(id)?;
        let answer = self
            .call(Call::get(["session", id]).directory(directory))
            .await?;
        answer.one(Session::read)
    }

    /// Replaces a session's whole metadata and returns the session as it is then.
    ///
    /// `metadata` must be an object; the server refuses anything else, and takes `null` as no
    /// change.
    ///
    /// # Errors
    /// As [`Client::session`].
    pub async fn patch_metadata(
        &self,
        id: &str,
        directory: Option<&str>,
        metadata: &RawValue,
    ) -> Result<Session, Error> {
        #[derive(Serialize)]
        struct Patch<'a> {
            metadata: &'a RawValue,
        }
        check_session_id(id)?;
        let call = Call::send(Method::PATCH, ["session", id], &Patch { metadata })?;
        self.call(call.directory(directory))
            .await?
            .one(Session::read)
    }

    /// Archives a session: `at` is the time that is kept for it, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`Client::session`].
    pub async fn archive(&self, id: &str, directory: Option<&str>, at: u64) -> Result<(), Error> {
        check_session_id(id)?;
        let patch = json!({ "time": { "archived": at } });
        let call = Call::send(Method::PATCH, ["session", id], &patch)?;
        self.call(call.directory(directory)).await?.done()
    }

    /// Makes a session.
    ///
    /// # Errors
    /// As any call. The server does not check that the parent exists.
    pub async fn create_session(
        &self,
        directory: Option<&str>,
        session: &NewSession,
    ) -> Result<Session, Error> {
        let call = Call::send(Method::POST, ["session"], session)?;
        self.call(call.directory(directory))
            .await?
            .one(Session::read)
    }

    /// Deletes a session and its children.
    ///
    /// # Errors
    /// As [`Client::session`].
    pub async fn delete_session(&self, id: &str, directory: Option<&str>) -> Result<(), Error> {
        check_session_id(id)?;
        let call = Call::new(Method::DELETE, ["session", id]).directory(directory);
        self.call(call).await?.done()
    }

    /// Stops what a session is doing. Succeeds on an idle and on an unknown session, too.
    ///
    /// # Errors
    /// [`Kind::MalformedId`]; else as any call.
    pub async fn abort(&self, id: &str, directory: Option<&str>) -> Result<(), Error> {
        check_session_id(id)?;
        let call = Call::new(Method::POST, ["session", id, "abort"]).directory(directory);
        self.call(call).await?.done()
    }

    /// What the sessions of one directory are doing. A session that is not in the map is idle,
    /// unknown, or at home in another directory.
    ///
    /// # Errors
    /// As any call.
    pub async fn status(&self, directory: Option<&str>) -> Result<BTreeMap<String, Status>, Error> {
        let call = Call::get(["session", "status"]).directory(directory);
        let answer = self.call(call).await?;
        let statuses = answer.fields()?;
        Ok(statuses
            .iter()
            .map(|(id, raw)| (id.to_owned(), Status::read(raw)))
            .collect())
    }

    /// The direct children of a session.
    ///
    /// # Errors
    /// As [`Client::session`].
    pub async fn children(&self, id: &str, directory: Option<&str>) -> Result<Vec<Session>, Error> {
        check_session_id(id)?;
        let call = Call::get(["session", id, "children"]).directory(directory);
        self.call(call).await?.list(Session::read)
    }

    /// The newest `limit` messages of a session, or those before a cursor, oldest first.
    ///
    /// `before` is the `next` of an earlier page, nothing else.
    ///
    /// # Errors
    /// As [`Client::session`].
    pub async fn messages(
        &self,
        id: &str,
        directory: Option<&str>,
        limit: u32,
        before: Option<&str>,
    ) -> Result<Page<Message>, Error> {
        check_session_id(id)?;
        // The server takes 0 as "everything".
        let limit = limit.max(1).to_string();
        let mut call = Call::get(["session", id, "message"]).directory(directory);
        call = call.query("limit", &limit);
        if let Some(before) = before {
            call = call.query("before", before);
        }
        let answer = self.call(call).await?;
        let items = answer.list(|raw| Some(Message::read(raw)))?;
        Ok(Page {
            items,
            next: answer.next,
        })
    }

    /// One message, or `None` if the session has none of that id, or does not exist itself.
    ///
    /// # Errors
    /// [`Kind::MalformedId`]; else as any call.
    pub async fn message(
        &self,
        id: &str,
        message_id: &str,
        directory: Option<&str>,
    ) -> Result<Option<Message>, Error> {
        check_session_id(id)?;
        check_message_id(message_id)?;
        let call = Call::get(["session", id, "message", message_id]).directory(directory);
        match self.call(call).await {
            Ok(answer) => answer.one(read_message).map(Some),
            Err(error) if *error.kind() == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a prompt over. Success means that the server took it, not that it is stored or runs:
    /// an unknown model or agent shows only on the event stream.
    ///
    /// # Errors
    /// As [`Client::session`]; look at [`Error::maybe_sent`] before sending it again.
    pub async fn prompt_async(
        &self,
        id: &str,
        directory: Option<&str>,
        prompt: &Prompt,
    ) -> Result<(), Error> {
        check_session_id(id)?;
        let call = Call::send(Method::POST, ["session", id, "prompt_async"], prompt)?;
        self.call(call.directory(directory)).await?.done()
    }

    /// Sends a prompt and waits at most `deadline` for the answering message.
    ///
    /// A provider's failure comes as a message whose `info.error` is set. Neither the deadline nor
    /// dropping the future ends the run on the server: abort the session.
    ///
    /// # Errors
    /// As [`Client::session`].
    pub async fn prompt(
        &self,
        id: &str,
        directory: Option<&str>,
        prompt: &Prompt,
        deadline: Duration,
    ) -> Result<Message, Error> {
        check_session_id(id)?;
        let call = Call::send(Method::POST, ["session", id, "message"], prompt)?;
        let call = call
            .directory(directory)
            .deadline(Deadline::After(deadline));
        self.call(call).await?.one(read_message)
    }

    /// Runs a slash command and waits, as long as its turn takes, for the answering message.
    ///
    /// Dropping the future gives up waiting; the turn runs on.
    ///
    /// # Errors
    /// [`Kind::Server`] for an unknown command; else as [`Client::session`].
    pub async fn command(
        &self,
        id: &str,
        directory: Option<&str>,
        command: &CommandCall,
    ) -> Result<Message, Error> {
        check_session_id(id)?;
        let call = Call::send(Method::POST, ["session", id, "command"], command)?;
        let call = call.directory(directory).deadline(Deadline::Never);
        self.call(call).await?.one(read_message)
    }

    /// Copies a session: what stands before the message `before`, or all of it. Its metadata come
    /// along, its parent and permissions do not.
    ///
    /// An unknown message is ignored by the server, which copies everything then.
    ///
    /// # Errors
    /// As [`Client::session`].
    pub async fn fork(
        &self,
        id: &str,
        directory: Option<&str>,
        before: Option<&str>,
    ) -> Result<Session, Error> {
        #[derive(Serialize)]
        struct Fork<'a> {
            #[serde(rename = "messageID", skip_serializing_if = "Option::is_none")]
            before: Option<&'a str>,
        }
        check_session_id(id)?;
        before.map_or(Ok(()), check_message_id)?;
        let call = Call::send(Method::POST, ["session", id, "fork"], &Fork { before })?;
        self.call(call.directory(directory))
            .await?
            .one(Session::read)
    }

    /// The slash commands of a directory.
    ///
    /// # Errors
    /// As any call.
    pub async fn commands(&self, directory: Option<&str>) -> Result<Vec<Command>, Error> {
        self.call(Call::get(["command"]).directory(directory))
            .await?
            .list(Command::read)
    }

    /// The open permission requests of a directory, left-overs of aborted turns included.
    ///
    /// # Errors
    /// As any call.
    pub async fn permissions(
        &self,
        directory: Option<&str>,
    ) -> Result<Vec<PermissionRequest>, Error> {
        let answer = self
            .call(Call::get(["permission"]).directory(directory))
            .await?;
        answer.list(|raw| PermissionRequest::read(&Fields::of(raw)?))
    }

    /// The open questions of a directory, left-overs of aborted turns included.
    ///
    /// # Errors
    /// As any call.
    pub async fn questions(&self, directory: Option<&str>) -> Result<Vec<QuestionRequest>, Error> {
        let answer = self
            .call(Call::get(["question"]).directory(directory))
            .await?;
        answer.list(|raw| QuestionRequest::read(&Fields::of(raw)?))
    }

    /// The agents of a directory, hidden ones included.
    ///
    /// # Errors
    /// As any call.
    pub async fn agents(&self, directory: Option<&str>) -> Result<Vec<Agent>, Error> {
        self.call(Call::get(["agent"]).directory(directory))
            .await?
            .list(Agent::read)
    }

    /// The connected providers and their models, without the keys the server sends along.
    ///
    /// # Errors
    /// As any call.
    pub async fn providers(&self, directory: Option<&str>) -> Result<Providers, Error> {
        let answer = self
            .call(Call::get(["config", "providers"]).directory(directory))
            .await?;
        answer.one(Providers::read)
    }

    /// The small model set in the server's configuration, `provider/model`. Nothing else of the
    /// configuration is read: it holds keys.
    ///
    /// # Errors
    /// As any call.
    pub async fn small_model(&self, directory: Option<&str>) -> Result<Option<String>, Error> {
        let answer = self
            .call(Call::get(["config"]).directory(directory))
            .await?;
        Ok(answer.fields()?.string("small_model"))
    }

    /// One page of the sessions of all directories, the most recently changed first, children and
    /// (if asked for) archived ones included.
    ///
    /// `cursor` is the `next` of an earlier page, when its last session was changed, or any other
    /// time in milliseconds: only sessions changed before it follow. Others of that millisecond may
    /// not have fit on the earlier page; from one later on, they come, and some come again.
    ///
    /// # Errors
    /// As any call.
    pub async fn everywhere(
        &self,
        cursor: Option<&str>,
        limit: u32,
        archived: bool,
    ) -> Result<Page<Session>, Error> {
        let limit = limit.max(1).to_string();
        let mut call = Call::get(["experimental", "session"]).query("limit", &limit);
        if archived {
            call = call.query("archived", "true");
        }
        if let Some(cursor) = cursor {
            call = call.query("cursor", cursor);
        }
        let answer = self.call(call).await?;
        let items = answer.list(Session::read)?;
        Ok(Page {
            items,
            next: answer.next,
        })
    }

    /// Opens the event stream: the answer's head, within the connection's deadline only.
    pub(crate) async fn open_events(&self) -> Result<Response, Error> {
        let request = self
            .request(Method::GET, &["global", "event"], &[])?
            .header(ACCEPT, "text/event-stream");
        let response = request
            .send()
            .await
            .map_err(|error| Error::from_transport(&error))?;
        if response.status().is_success() && has_type(&response, "text/event-stream") {
            return Ok(response);
        }
        match self.read(response).await {
            Ok(_) => Err(not_open_code("its event stream is none")),
            Err(error) => Err(error),
        }
    }

    async fn health_within(&self, deadline: Duration) -> Result<Health, Error> {
        let call = Call::get(["global", "health"]).deadline(Deadline::After(deadline));
        let answer = self.call(call).await?;
        Health::read(answer.json()?).ok_or_else(|| not_open_code("its health report is none"))
    }

    async fn call(&self, call: Call<'_>) -> Result<Answer, Error> {
        let mut request = self.request(call.method, &call.path, &call.query)?;
        request = match call.deadline {
            Deadline::Usual => request.timeout(self.timeouts.call),
            Deadline::After(deadline) => request.timeout(deadline),
            Deadline::Never => request,
        };
        if let Some(body) = call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = request
            .send()
            .await
            .map_err(|error| Error::from_transport(&error))?;
        self.read(response).await
    }

    fn request(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<RequestBuilder, Error> {
        let link = self.link.borrow().clone();
        if !link.is_up {
            let message = "the OpenCode server has ended and does not run again yet";
            return Err(Error::without_effect(Kind::Unreachable, message));
        }
        let mut url = link.target.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.clear().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = link.http.request(method, url);
        Ok(match &link.target.password {
            Some(password) => request.basic_auth(&link.target.username, Some(password.expose())),
            None => request,
        })
    }

    /// Turns an answer's head and body into what the caller may believe.
    async fn read(&self, response: Response) -> Result<Answer, Error> {
        let status = response.status();
        let is_json = has_type(&response, "application/json");
        let next = response.headers().get("x-next-cursor");
        let next = next.and_then(|next| next.to_str().ok()).map(str::to_owned);
        if status == StatusCode::UNAUTHORIZED {
            let message = "the OpenCode server refused the user name or the password (401)";
            return Err(Error::without_effect(Kind::Unauthorized, message));
        }
        if status == StatusCode::NO_CONTENT {
            return Ok(Answer { body: None, next });
        }
        if status.is_success() && !is_json {
            return Err(not_open_code("its answer is not JSON"));
        }
        if status.is_redirection() || status.is_informational() {
            return Err(not_open_code("it redirects"));
        }
        let body = self.read_body(response).await?;
        if status.is_success() {
            let body = RawValue::from_string(body).map_err(|error| {
                let message = format!("the OpenCode server's answer is no JSON: {error}");
                Error::maybe_effective(Kind::Malformed, message)
            })?;
            return Ok(Answer {
                body: Some(body),
                next,
            });
        }
        Err(refusal(status.as_u16(), is_json, &body))
    }

    async fn read_body(&self, response: Response) -> Result<String, Error> {
        let body = self.read_bytes(response).await?;
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    async fn read_bytes(&self, mut response: Response) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        loop {
            let chunk = response
                .chunk()
                .await
                .map_err(|error| Error::from_transport(&error))?;
            let Some(chunk) = chunk else {
                break;
            };
            if body.len() + chunk.len() > self.body_bytes_max {
                let message = format!(
                    "the OpenCode server's answer is longer than {} bytes",
                    self.body_bytes_max
                );
                return Err(Error::maybe_effective(Kind::TooLarge, message));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Checks that `id` can be a session's: `ses`, then up to 128 letters, digits, `_` and `-` in all.
///
/// OpenCode answers an id of another form with status 500, which says nothing.
///
/// # Errors
/// [`Kind::MalformedId`].
pub fn check_session_id(id: &str) -> Result<(), Error> {
    check_id(id, "ses", "session")
}

/// Checks that `id` can be a message's: `msg`, then up to 128 letters, digits, `_` and `-` in all.
///
/// # Errors
/// [`Kind::MalformedId`].
pub fn check_message_id(id: &str) -> Result<(), Error> {
    check_id(id, "msg", "message")
}

fn check_id(id: &str, prefix: &str, noun: &str) -> Result<(), Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if id.starts_with(prefix) && id.len() <= ID_CHARS_MAX && id.bytes().all(plain) {
        return Ok(());
    }
    let shown: String = id.chars().take(40).collect();
    let message = format!("{shown:?} is no {noun} id; those look like {prefix}_0123abcd…");
    Err(Error::without_effect(Kind::MalformedId, message))
}

/// How long a call may take.
enum Deadline {
    /// As the client's timeouts say.
    Usual,
    /// So long.
    After(Duration),
    /// As long as the caller keeps waiting.
    Never,
}

/// A request before it is addressed.
struct Call<'a> {
    method: Method,
    path: Vec<&'a str>,
    query: Vec<(&'static str, &'a str)>,
    body: Option<Vec<u8>>,
    deadline: Deadline,
}

impl<'a> Call<'a> {
    fn new<const N: usize>(method: Method, path: [&'a str; N]) -> Self {
        Self {
            method,
            path: path.to_vec(),
            query: Vec::new(),
            body: None,
            deadline: Deadline::Usual,
        }
    }

    fn get<const N: usize>(path: [&'a str; N]) -> Self {
        Self::new(Method::GET, path)
    }

    fn send<const N: usize>(
        method: Method,
        path: [&'a str; N],
        body: &impl Serialize,
    ) -> Result<Self, Error> {
        let body = serde_json::to_vec(body).map_err(|error| {
            let message = format!("the request cannot be written as JSON: {error}");
            Error::without_effect(Kind::Malformed, message)
        })?;
        Ok(Self {
            body: Some(body),
            ..Self::new(method, path)
        })
    }

    fn directory(self, directory: Option<&'a str>) -> Self {
        match directory {
            Some(directory) => self.query("directory", directory),
            None => self,
        }
    }

    fn query(mut self, key: &'static str, value: &'a str) -> Self {
        self.query.push((key, value));
        self
    }

    fn deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = deadline;
        self
    }
}

/// A believed answer.
struct Answer {
    /// `None` for 204.
    body: Option<Box<RawValue>>,
    /// The cursor of the next page.
    next: Option<String>,
}

impl Answer {
    /// For calls of which only the success matters.
    fn done(self) -> Result<(), Error> {
        Ok(())
    }

    fn json(&self) -> Result<&RawValue, Error> {
        self.body.as_deref().ok_or_else(|| malformed("is empty"))
    }

    fn fields(&self) -> Result<Fields<'_>, Error> {
        Fields::of(self.json()?).ok_or_else(|| malformed("is no object"))
    }

    fn one<T>(&self, read: impl Fn(&RawValue) -> Option<T>) -> Result<T, Error> {
        read(self.json()?).ok_or_else(|| malformed("lacks what it should hold"))
    }

    /// All elements that `read` understands; the others are counted in the log.
    fn list<T>(&self, read: impl Fn(&RawValue) -> Option<T>) -> Result<Vec<T>, Error> {
        let elements = fields::list(self.json()?).ok_or_else(|| malformed("is no list"))?;
        let total = elements.len();
        let read: Vec<T> = elements.into_iter().filter_map(read).collect();
        if read.len() < total {
            tracing::warn!(
                unreadable = total - read.len(),
                total,
                "elements without an id"
            );
        }
        Ok(read)
    }
}

fn read_message(raw: &RawValue) -> Option<Message> {
    let message = Message::read(raw);
    (!message.info.id.is_empty()).then_some(message)
}

/// Whether a server of this version is older than [`VERSION_MIN`]. What is no release is a build of
/// somebody's own: from a working copy it calls itself 0.0.0-something and is newer than any.
pub fn is_too_old(version: &str) -> bool {
    let mut numbers = version.split(['.', '-', '+']).map(str::parse::<u64>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return false;
    };
    let patch = numbers.next().and_then(Result::ok).unwrap_or(0);
    (major, minor) != (0, 0) && [major, minor, patch] < VERSION_MIN
}

/// [`VERSION_MIN`] as a server writes it.
pub fn version_min() -> String {
    VERSION_MIN.map(|number| number.to_string()).join(".")
}

fn check_version(health: Health) -> Result<Health, Error> {
    if !is_too_old(&health.version) {
        return Ok(health);
    }
    let message = format!(
        "the OpenCode server is version {}, but session metadata needs {} or newer",
        health.version,
        version_min()
    );
    Err(Error::without_effect(
        Kind::TooOld {
            version: health.version,
        },
        message,
    ))
}

/// The error for a 4xx or 5xx answer. OpenCode's routes differ in how they name what went wrong.
fn refusal(status: u16, is_json: bool, body: &str) -> Error {
    let fields = if is_json { Fields::of_text(body) } else { None }.unwrap_or_default();
    let said = fields
        .object("data")
        .string("message")
        .or_else(|| fields.string("message"));
    let name = fields.string("name").or_else(|| fields.string("_tag"));
    if status == 404 && name.as_deref() == Some("NotFoundError") {
        let message = said.unwrap_or_else(|| "not found".to_owned());
        return Error::without_effect(Kind::NotFound, message);
    }
    if status == 404 && name.is_none() {
        return not_open_code("it knows nothing of this call (404)");
    }
    let text = match (name, said) {
        (Some(name), Some(said)) => format!("{name}: {said}"),
        (Some(text), None) | (None, Some(text)) => text,
        (None, None) => "no reason given".to_owned(),
    };
    Error::from_status(status, &text)
}

fn has_type(response: &Response, wanted: &str) -> bool {
    let given = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|given| given.to_str().ok());
    let essence = given
        .and_then(|given| given.split(';').next())
        .unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(wanted)
}

fn not_open_code(why: &str) -> Error {
    let message = format!("what answers at this address is not an OpenCode server: {why}");
    Error::without_effect(Kind::NotOpenCode, message)
}

fn malformed(what: &str) -> Error {
    let message = format!("the OpenCode server's answer {what}");
    Error::maybe_effective(Kind::Malformed, message)
}
