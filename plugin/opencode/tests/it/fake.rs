//! Servers that do exactly what a test tells them, on loopback.

use std::time::Duration;

use axum::Router;
use opencode_client::{Client, DEFAULT_USERNAME, Secret, Target, Timeouts};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Long enough for a loaded machine; a test that ends by it has failed.
pub(crate) const PATIENT: Timeouts = Timeouts {
    connect: Duration::from_secs(20),
    call: Duration::from_secs(20),
};

pub(crate) const PASSWORD: &str = "hunter2";

/// A server that ends with the test.
pub(crate) struct Fake {
    pub(crate) url: String,
    task: JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    /// An HTTP server with these routes.
    pub(crate) async fn http(routes: Router) -> Self {
        let (listener, url) = listen().await;
        let task = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, task }
    }

    /// A server that follows `script`, one entry a connection, and is silent on all later ones.
    pub(crate) async fn scripted(script: Vec<Connection>) -> Self {
        let (listener, url) = listen().await;
        let task = tokio::spawn(async move {
            let mut held = Vec::new();
            for connection in script {
                let (socket, _) = listener.accept().await.unwrap();
                held.extend(connection.play(socket).await);
            }
            loop {
                held.push(listener.accept().await.unwrap().0);
            }
        });
        Self { url, task }
    }

    pub(crate) fn client(&self) -> Client {
        client(&self.url, PATIENT)
    }

    pub(crate) fn impatient_client(&self, call: Duration) -> Client {
        client(&self.url, Timeouts { call, ..PATIENT })
    }
}

/// What a scripted server does with one connection.
pub(crate) struct Connection {
    /// Pieces to send once the request's head was read, each with a pause before it.
    pieces: Vec<(Duration, Vec<u8>)>,
    /// Whether the connection is kept open then.
    hold: bool,
}

impl Connection {
    /// Accepts, reads the request and says nothing.
    pub(crate) fn mute() -> Self {
        Self {
            pieces: Vec::new(),
            hold: true,
        }
    }

    /// Accepts, reads the request and hangs up.
    pub(crate) fn broken() -> Self {
        Self {
            pieces: Vec::new(),
            hold: false,
        }
    }

    /// An answer with this head line and type, and everything that is sent after it.
    pub(crate) fn answering(status: &str, content_type: &str) -> Self {
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n"
        );
        Self {
            pieces: vec![(Duration::ZERO, head.into_bytes())],
            hold: false,
        }
    }

    /// An event stream that has greeted.
    pub(crate) fn greeting() -> Self {
        Self::answering("200 OK", "text/event-stream").then(GREETING)
    }

    pub(crate) fn then(self, piece: &str) -> Self {
        self.after(Duration::ZERO, piece)
    }

    pub(crate) fn after(mut self, pause: Duration, piece: &str) -> Self {
        self.pieces.push((pause, piece.as_bytes().to_vec()));
        self
    }

    /// Keeps the connection open at the end.
    pub(crate) fn hold(self) -> Self {
        Self { hold: true, ..self }
    }

    async fn play(self, mut socket: TcpStream) -> Option<TcpStream> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match socket.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return None,
            }
        }
        for (pause, piece) in self.pieces {
            tokio::time::sleep(pause).await;
            // The client may have hung up by now; then there is nobody to tell.
            socket.write_all(&piece).await.ok()?;
            socket.flush().await.ok()?;
        }
        self.hold.then_some(socket)
    }
}

pub(crate) const GREETING: &str =
    "data: {\"payload\":{\"type\":\"server.connected\",\"properties\":{}}}\n\n";

/// An address where nobody listens.
pub(crate) async fn nobody() -> String {
    listen().await.1
}

pub(crate) fn client(url: &str, timeouts: Timeouts) -> Client {
    let password = Some(Secret::new(PASSWORD));
    Client::new(
        Target::parse(url, DEFAULT_USERNAME, password).unwrap(),
        timeouts,
    )
    .unwrap()
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}
