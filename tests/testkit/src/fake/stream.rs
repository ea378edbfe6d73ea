//! The event streams: everything told goes to each of them, and nothing waits for a slow reader.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use tokio::sync::mpsc;

use super::line::Line;

/// What happens to event streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFault {
    /// They stay open and say nothing any more, not even that the server lives.
    Silence,
    /// Their connections break.
    Cut,
    /// The server closes its side of them.
    HalfClosed,
}

/// The open streams.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    frames: mpsc::UnboundedSender<Bytes>,
    line: Line,
    silent: bool,
}

impl Streams {
    /// A new one, greeted.
    pub(super) fn open(&mut self, greeting: Bytes, line: Line) -> Response {
        let (frames, receiver) = mpsc::unbounded_channel();
        // The receiver lives in the answer's body.
        let _ = frames.send(greeting);
        self.open.push(Open {
            frames,
            line,
            silent: false,
        });
        let body = stream::unfold(receiver, async |mut receiver| {
            let frame = receiver.recv().await?;
            Some((Ok::<_, Infallible>(frame), receiver))
        });
        let kind = [
            (header::CONTENT_TYPE, "text/event-stream"),
            (header::CACHE_CONTROL, "no-cache, no-transform"),
        ];
        (kind, Body::from_stream(body)).into_response()
    }

    /// Whether nobody would hear anything.
    pub(super) fn nobody_hears(&self) -> bool {
        self.open.iter().all(|stream| stream.silent)
    }

    pub(super) fn tell(&mut self, frame: &Bytes) {
        self.open
            .retain(|stream| stream.silent || stream.frames.send(frame.clone()).is_ok());
    }

    pub(super) fn break_all(&mut self, fault: StreamFault) {
        match fault {
            StreamFault::Silence => {
                for stream in &mut self.open {
                    stream.silent = true;
                }
            }
            StreamFault::Cut => {
                for stream in self.open.drain(..) {
                    stream.line.cut.cancel();
                }
            }
            StreamFault::HalfClosed => {
                for stream in self.open.drain(..) {
                    stream.line.half_close.cancel();
                }
            }
        }
    }

    /// Those whose readers are gone are not among them.
    pub(super) fn len(&self) -> usize {
        let read = |stream: &&Open| !stream.frames.is_closed();
        self.open.iter().filter(read).count()
    }
}
