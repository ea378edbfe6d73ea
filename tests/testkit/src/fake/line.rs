//! Connections that can be cut, or closed on the server's side only, at any moment.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Accepts connections, until its life ends.
pub(super) struct Door {
    pub(super) listener: TcpListener,
    /// Ends every connection.
    pub(super) life: CancellationToken,
}

/// The switches of one connection.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Breaks it.
    pub(super) cut: CancellationToken,
    /// The server says that it will say nothing more; the client may go on.
    pub(super) half_close: CancellationToken,
}

/// A connection as the HTTP library sees it.
pub(super) struct Wire {
    stream: TcpStream,
    line: Line,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    half_close: Pin<Box<WaitForCancellationFutureOwned>>,
    half_closed: bool,
}

impl Listener for Door {
    type Io = Wire;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Small answers are not held back for more to come.
        let _ = stream.set_nodelay(true);
        let line = Line {
            cut: self.life.child_token(),
            half_close: CancellationToken::new(),
        };
        let wire = Wire {
            cut: Box::pin(line.cut.clone().cancelled_owned()),
            half_close: Box::pin(line.half_close.clone().cancelled_owned()),
            half_closed: false,
            stream,
            line,
        };
        (wire, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, Door>> for Line {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        stream.io().line.clone()
    }
}

impl Wire {
    /// Carries out what was switched meanwhile.
    fn look(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.cut.as_mut().poll(context).is_ready() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if !self.half_closed && self.half_close.as_mut().poll(context).is_ready() {
            self.half_closed = true;
            // Nothing is buffered here, so that closing never waits.
            let _ = Pin::new(&mut self.stream).poll_shutdown(context);
        }
        Ok(())
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.look(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.look(context)?;
        if self.half_closed {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.look(context)?;
        if self.half_closed {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        Poll::Ready(Ok(()))
    }
}
