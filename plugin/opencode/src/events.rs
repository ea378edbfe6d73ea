//! The subscription: liveness counted on bytes, endless reconnection, and a word about every gap.
//!
//! ```text
//!   Waiting ──time or kick──▶ Connecting ──head──▶ Open ──events──▶ caller
//!      ▲                          │                  │
//!      └───────── Lost ◀──────────┴── silent, closed, kicked
//! ```
//!
//! The server replays nothing. Whoever listens reads again what it must know after every
//! [`StreamItem::Connected`].

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use reqwest::Response;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::client::{Client, Link};
use crate::envelope::{Envelope, Event, Parsed, is_wanted, parse_frame};
use crate::error::{Error, Kind};
use crate::sse::{Decoder, FRAME_BYTES_MAX, Frame, peek_type};

/// The patience of an event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventOptions {
    /// From asking for a connection to the server's greeting on it.
    pub connect: Duration,
    /// Without a byte for so long, a connection is dead. The server beats every 10 s.
    pub liveness: Duration,
    /// Pause before the first reconnection; doubled by each one that leads to nothing.
    pub backoff_min: Duration,
    /// Longest pause between two reconnections, and the pause after a refused password.
    pub backoff_max: Duration,
    /// Largest event that is kept, in bytes.
    pub frame_bytes_max: usize,
}

impl EventOptions {
    /// 10 s to the greeting, 45 s of silence, reconnection after 250 ms to 30 s, 16 MiB an event.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(10),
        liveness: Duration::from_secs(45),
        backoff_min: Duration::from_millis(250),
        backoff_max: Duration::from_secs(30),
        frame_bytes_max: FRAME_BYTES_MAX,
    };
}

/// What an event stream has to say.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value at a time, never stored in bulk"
)]
pub enum StreamItem {
    /// The server greeted: from here on nothing is missed, before it anything may have been.
    Connected,
    /// Something happened.
    Event(Envelope),
    /// An event longer than the bound was dropped: what it told is lost, the connection goes on.
    Skipped {
        /// Its length in bytes.
        bytes: u64,
    },
    /// There is no connection; the next one is tried after `retry_in`, or at once by [`Kick`].
    Lost {
        /// Why.
        reason: LostReason,
        /// Until the next try.
        retry_in: Duration,
    },
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// No connection came about.
    Unreachable,
    /// The server refused the user name or the password.
    Unauthorized,
    /// Something else answers there.
    NotOpenCode,
    /// The server refused or failed.
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// No greeting came in time.
    NoGreeting,
    /// The server ended the stream, or the connection broke.
    Closed,
    /// Not a byte came for as long as the liveness limit.
    Silent,
    /// The caller asked for a new connection, or for another server.
    Kicked,
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("the server cannot be reached"),
            Self::Unauthorized => f.write_str("the server refused the user name or the password"),
            Self::NotOpenCode => f.write_str("what answers there is not an OpenCode server"),
            Self::Refused { status } => write!(f, "the server refused with status {status}"),
            Self::NoGreeting => f.write_str("the server did not greet in time"),
            Self::Closed => f.write_str("the connection was closed"),
            Self::Silent => f.write_str("the server fell silent"),
            Self::Kicked => f.write_str("a new connection was asked for"),
        }
    }
}

/// What a stream of unread events has to say: a [`StreamItem`] whose events are text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawItem {
    /// The server greeted: from here on nothing is missed, before it anything may have been.
    Connected,
    /// An event's JSON as it came: `{directory, payload: {type, properties}}`.
    Event(String),
    /// An event longer than the bound was dropped: what it told is lost, the connection goes on.
    Skipped {
        /// Its length in bytes.
        bytes: u64,
    },
    /// There is no connection; the next one is tried after `retry_in`, or at once by [`Kick`].
    Lost {
        /// Why.
        reason: LostReason,
        /// Until the next try.
        retry_in: Duration,
    },
}

/// Makes an event stream connect anew at once, for example after the computer slept.
#[derive(Clone, Debug)]
pub struct Kick(Arc<Notify>);

impl Kick {
    /// Asks for it. Several requests before the stream looks are one.
    pub fn now(&self) {
        self.0.notify_one();
    }
}

/// An endless subscription to the events of all directories.
#[derive(Debug)]
pub struct EventStream(RawStream);

impl EventStream {
    pub(crate) fn new(client: Client, options: EventOptions) -> Self {
        Self(RawStream::new(client, options, is_wanted))
    }

    /// A handle that makes this stream connect anew.
    pub fn kick(&self) -> Kick {
        self.0.kick()
    }

    /// The next item; connects and reconnects while it waits.
    ///
    /// Cancel-safe: all progress is kept in the stream, and no item is lost when the future is
    /// dropped.
    pub async fn next(&mut self) -> StreamItem {
        loop {
            match self.0.next().await {
                RawItem::Connected => return StreamItem::Connected,
                RawItem::Event(data) => match parse_frame(&data) {
                    Parsed::Event(envelope) => return StreamItem::Event(envelope),
                    Parsed::Unwanted => {}
                    Parsed::Malformed => {
                        tracing::debug!(bytes = data.len(), "a frame that is no event was dropped");
                    }
                },
                RawItem::Skipped { bytes } => return StreamItem::Skipped { bytes },
                RawItem::Lost { reason, retry_in } => {
                    return StreamItem::Lost { reason, retry_in };
                }
            }
        }
    }
}

/// The subscription under an [`EventStream`]: its events are not read, for whoever passes them on.
pub struct RawStream {
    client: Client,
    options: EventOptions,
    /// Which types of events are kept.
    is_wanted: fn(&str) -> bool,
    nudges: Nudges,
    /// The pause before the next reconnection.
    backoff: Duration,
    state: State,
}

impl fmt::Debug for RawStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawStream")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl RawStream {
    pub(crate) fn new(client: Client, options: EventOptions, is_wanted: fn(&str) -> bool) -> Self {
        let nudges = Nudges {
            kick: Arc::new(Notify::new()),
            moves: client.moves(),
        };
        Self {
            client,
            options,
            is_wanted,
            nudges,
            backoff: options.backoff_min,
            state: State::Waiting {
                until: Instant::now(),
            },
        }
    }

    /// A handle that makes this stream connect anew.
    pub fn kick(&self) -> Kick {
        Kick(Arc::clone(&self.nudges.kick))
    }

    /// The next item; connects and reconnects while it waits. Cancel-safe like
    /// [`EventStream::next`].
    pub async fn next(&mut self) -> RawItem {
        loop {
            let step = match &mut self.state {
                State::Waiting { until } => wait(*until, &mut self.nudges).await,
                State::Connecting { opening, until } => {
                    connect(opening, *until, &mut self.nudges).await
                }
                State::Open(open) => open.next(self.options.liveness, &mut self.nudges).await,
            };
            if let Some(item) = self.take(step) {
                return item;
            }
        }
    }

    /// Moves on to the state that follows from `step`.
    fn take(&mut self, step: Step) -> Option<RawItem> {
        match step {
            Step::Connect => {
                let client = self.client.clone();
                // The connection goes to where the server is now.
                self.nudges.moves.mark_unchanged();
                let until = Instant::now() + self.options.connect;
                let opening = Box::pin(async move { client.open_events().await });
                self.state = State::Connecting { opening, until };
                None
            }
            Step::Opened {
                response,
                greet_until,
            } => {
                let decoder = Decoder::wanting(self.options.frame_bytes_max, self.is_wanted);
                self.state = State::Open(Open::new(response, decoder, greet_until));
                None
            }
            Step::Greeted => Some(RawItem::Connected),
            Step::Frame(frame) => {
                // A server that greets and hangs up again earns no quick retry; one that beats or
                // tells of something does.
                self.backoff = self.options.backoff_min;
                self.read_frame(frame)
            }
            Step::Lost(reason) => Some(self.lose(reason)),
        }
    }

    fn read_frame(&self, frame: Frame) -> Option<RawItem> {
        match frame {
            Frame::Unwanted => None,
            Frame::Oversize { bytes } => {
                tracing::warn!(bytes, "an event longer than the bound was dropped");
                Some(RawItem::Skipped { bytes })
            }
            // What tells no type is no event; whoever reads it says so.
            Frame::Data(data) => peek_type(&data)
                .is_none_or(|kind| (self.is_wanted)(&kind))
                .then_some(RawItem::Event(data)),
        }
    }

    fn lose(&mut self, reason: LostReason) -> RawItem {
        let retry_in = match reason {
            LostReason::Kicked => {
                self.backoff = self.options.backoff_min;
                Duration::ZERO
            }
            // Trying a wrong password quickly looks like guessing one.
            LostReason::Unauthorized => self.options.backoff_max,
            LostReason::Unreachable
            | LostReason::NotOpenCode
            | LostReason::Refused { .. }
            | LostReason::NoGreeting
            | LostReason::Closed
            | LostReason::Silent => {
                let pause = self.backoff;
                self.backoff = pause.saturating_mul(2).min(self.options.backoff_max);
                pause
            }
        };
        self.state = State::Waiting {
            until: Instant::now() + retry_in,
        };
        tracing::debug!(%reason, ?retry_in, "event stream lost");
        RawItem::Lost { reason, retry_in }
    }
}

type Opening = Pin<Box<dyn Future<Output = Result<Response, Error>> + Send>>;
type Chunks = Pin<Box<dyn Stream<Item = Result<Vec<Frame>, reqwest::Error>> + Send>>;

enum State {
    /// Between two connections.
    Waiting { until: Instant },
    /// Asking for one; the greeting is due by `until`.
    Connecting { opening: Opening, until: Instant },
    /// Reading.
    Open(Open),
}

/// What makes a stream connect anew before its time.
struct Nudges {
    kick: Arc<Notify>,
    moves: watch::Receiver<Link>,
}

impl Nudges {
    /// Waits for a kick, or until the server moved or is known to be away. Cancel-safe.
    async fn any(&mut self) {
        tokio::select! {
            () = self.kick.notified() => {}
            // Only fails without a client, and the stream itself holds one.
            _ = self.moves.changed() => {}
        }
    }

    /// Why an open connection is given up after a nudge.
    fn reason(&self) -> LostReason {
        if self.moves.borrow().is_up {
            LostReason::Kicked
        } else {
            LostReason::Unreachable
        }
    }
}

/// What a state came to.
enum Step {
    Connect,
    Opened {
        response: Response,
        greet_until: Instant,
    },
    Greeted,
    Frame(Frame),
    Lost(LostReason),
}

/// A connection that is being read.
struct Open {
    /// What each read of the connection completes; often nothing.
    chunks: Chunks,
    /// Frames that arrived together with the one returned last.
    ready: VecDeque<Frame>,
    last_byte: Instant,
    /// When the greeting is due; `None` once it came.
    greet_until: Option<Instant>,
}

impl Open {
    fn new(response: Response, mut decoder: Decoder, greet_until: Instant) -> Self {
        let chunks = response
            .bytes_stream()
            .map(move |chunk| chunk.map(|bytes| decoder.push(&bytes)));
        Self {
            chunks: Box::pin(chunks),
            ready: VecDeque::new(),
            last_byte: Instant::now(),
            greet_until: Some(greet_until),
        }
    }

    async fn next(&mut self, liveness: Duration, nudges: &mut Nudges) -> Step {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                if self.greet_until.is_some() && is_greeting(&frame) {
                    self.greet_until = None;
                    return Step::Greeted;
                }
                return Step::Frame(frame);
            }
            let silent_at = self.last_byte + liveness;
            let until = self
                .greet_until
                .map_or(silent_at, |greet| greet.min(silent_at));
            let chunk = tokio::select! {
                biased;
                () = nudges.any() => return Step::Lost(nudges.reason()),
                // Polls the bytes first: what has arrived counts, however late it is looked at.
                chunk = timeout_at(until, self.chunks.next()) => chunk,
            };
            match chunk {
                Ok(Some(Ok(frames))) => {
                    self.last_byte = Instant::now();
                    self.ready.extend(frames);
                }
                Ok(Some(Err(_)) | None) => return Step::Lost(LostReason::Closed),
                Err(_) if self.greet_until.is_some() => return Step::Lost(LostReason::NoGreeting),
                Err(_) => return Step::Lost(LostReason::Silent),
            }
        }
    }
}

async fn wait(until: Instant, nudges: &mut Nudges) -> Step {
    tokio::select! {
        () = nudges.any() => {}
        () = sleep_until(until) => {}
    }
    Step::Connect
}

async fn connect(opening: &mut Opening, until: Instant, nudges: &mut Nudges) -> Step {
    let opened = tokio::select! {
        biased;
        () = nudges.any() => return Step::Connect,
        opened = timeout_at(until, opening) => opened,
    };
    match opened {
        Ok(Ok(response)) => Step::Opened {
            response,
            greet_until: until,
        },
        Ok(Err(error)) => Step::Lost(reason_of(&error)),
        Err(_) => Step::Lost(LostReason::NoGreeting),
    }
}

fn reason_of(error: &Error) -> LostReason {
    match error.kind() {
        Kind::Unreachable | Kind::Timeout | Kind::BadTarget => LostReason::Unreachable,
        Kind::Unauthorized => LostReason::Unauthorized,
        Kind::Rejected { status } | Kind::Server { status } => {
            LostReason::Refused { status: *status }
        }
        Kind::NotFound
        | Kind::NotOpenCode
        | Kind::Malformed
        | Kind::TooLarge
        | Kind::TooOld { .. }
        | Kind::MalformedId => LostReason::NotOpenCode,
    }
}

fn is_greeting(frame: &Frame) -> bool {
    match frame {
        Frame::Data(data) => matches!(
            parse_frame(data),
            Parsed::Event(Envelope {
                event: Event::ServerConnected,
                ..
            })
        ),
        Frame::Oversize { .. } | Frame::Unwanted => false,
    }
}
