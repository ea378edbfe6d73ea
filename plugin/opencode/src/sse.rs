//! Bytes → frames, and a look at a frame's type before anybody parses it. Pure.
//!
//! One shell command that prints 300 lines makes OpenCode send 3.4 MB, nearly all of it events
//! nobody here wants. Telling them by their type costs a scan; parsing them would cost a tree.

use std::borrow::Cow;

use crate::fields::Lossy;

/// Largest frame that is kept, in bytes. A session's record with its metadata comes in one frame.
pub const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One event as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The joined `data` lines of an event.
    Data(String),
    /// An event longer than the bound; its content is gone.
    Oversize {
        /// Its length in bytes, line ends left out.
        bytes: u64,
    },
}

/// Cuts a stream of server-sent events into frames, wherever the network cuts the bytes.
///
/// Keeps at most one unfinished frame of the bound it was made with. What is unfinished when the
/// stream ends was never an event.
#[derive(Debug)]
pub struct Decoder {
    bytes_max: usize,
    /// The line being read.
    line: Vec<u8>,
    /// The `data` lines of the frame being read, joined.
    data: Vec<u8>,
    /// Whether the frame has a `data` line at all; an empty one counts.
    has_data: bool,
    /// Length of the frame so far, while it is too long to be kept.
    oversize: Option<u64>,
    /// Whether the line being read has any byte; needed where its bytes are not kept.
    line_started: bool,
    /// The last byte was a carriage return: a line feed right behind it belongs to it.
    after_return: bool,
}

impl Decoder {
    /// A decoder that keeps frames of at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            oversize: None,
            line_started: false,
            after_return: false,
        }
    }

    /// Takes the next bytes and gives the frames they complete, in order.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.extend_line(bytes);
                break;
            };
            self.extend_line(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            frames.extend(self.end_line());
            bytes = &bytes[end + 1..];
        }
        frames
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        self.line_started |= !bytes.is_empty();
        if let Some(length) = &mut self.oversize {
            *length = length.saturating_add(bytes.len() as u64);
            return;
        }
        let length = self.line.len() + self.data.len() + bytes.len();
        if length > self.bytes_max {
            self.oversize = Some(length as u64);
            self.line = Vec::new();
            self.data = Vec::new();
            return;
        }
        self.line.extend_from_slice(bytes);
    }

    fn end_line(&mut self) -> Option<Frame> {
        if !std::mem::take(&mut self.line_started) {
            return self.end_frame();
        }
        let line = std::mem::take(&mut self.line);
        let value = match line.strip_prefix(b"data:") {
            Some(value) => value.strip_prefix(b" ").unwrap_or(value),
            None if line == b"data" => b"",
            // Comments and the fields `id`, `event` and `retry`: OpenCode cannot resume.
            None => return None,
        };
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        None
    }

    fn end_frame(&mut self) -> Option<Frame> {
        let has_data = std::mem::take(&mut self.has_data);
        let data = std::mem::take(&mut self.data);
        if let Some(bytes) = self.oversize.take() {
            return Some(Frame::Oversize { bytes });
        }
        let text = String::from_utf8(data)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        has_data.then_some(Frame::Data(text))
    }
}

/// The type of the event in `frame`: the string `payload.type`, else the string `type`.
///
/// Looks only at the members of the outer object and of `payload`, in whatever order they come; a
/// `"type"` deeper inside or within a string never counts. `None` if there is none, and for text
/// that breaks off before it. Text that is no JSON gives some answer and no panic.
pub fn peek_type(frame: &str) -> Option<Cow<'_, str>> {
    let mut scan = Scan { text: frame, at: 0 };
    let mut flat = None;
    scan.enter(b'{')?;
    while let Some(key) = scan.key() {
        match (key.as_ref(), scan.here()) {
            ("payload", Some(b'{')) => {
                if let Some(found) = scan.type_of_object() {
                    return Some(found);
                }
            }
            ("type", Some(b'"')) => flat = scan.string(),
            _ => scan.skip_value(),
        }
    }
    flat
}

/// A place in a JSON text. Follows structure, does not validate.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// The first non-blank byte from here on.
    fn here(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over `byte`, if it comes next.
    fn enter(&mut self, byte: u8) -> Option<()> {
        (self.here()? == byte).then(|| self.at += 1)
    }

    /// Inside an object: steps over the next key and its colon; at the object's end, steps out.
    fn key(&mut self) -> Option<Cow<'a, str>> {
        if self.here()? == b',' {
            self.at += 1;
        }
        if self.here()? == b'}' {
            self.at += 1;
            return None;
        }
        let key = self.string()?;
        self.enter(b':')?;
        Some(key)
    }

    /// The string member `type` of the object that begins here, else steps over the object.
    fn type_of_object(&mut self) -> Option<Cow<'a, str>> {
        self.enter(b'{')?;
        while let Some(key) = self.key() {
            if key == "type" && self.here() == Some(b'"') {
                return self.string();
            }
            self.skip_value();
        }
        None
    }

    /// The string that begins here, unescaped; steps over it.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.here()?;
        let start = self.at;
        self.skip_string()?;
        let quoted = &self.text[start..self.at];
        let plain = quoted.get(1..quoted.len() - 1)?;
        if !plain.contains('\\') {
            return Some(Cow::Borrowed(plain));
        }
        serde_json::from_str::<Lossy>(quoted)
            .ok()
            .map(|lossy| Cow::Owned(lossy.0))
    }

    /// Steps over a string; `None` at its missing begin or end.
    fn skip_string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        if *bytes.get(self.at)? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            let byte = *bytes.get(self.at)?;
            // An escaped character beyond ASCII is stepped over byte by byte; none of its bytes
            // looks like a quote or a backslash.
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return Some(());
            }
        }
    }

    /// Steps over the value that begins here, or to the end of the text.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.here() {
            match byte {
                b'"' => {
                    if self.skip_string().is_none() {
                        self.at = self.text.len();
                    }
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    // At depth 0 it closes what the value stands in.
                    if depth == 0 {
                        return;
                    }
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' => {
                    if depth == 0 {
                        return;
                    }
                    self.at += 1;
                    continue;
                }
                _ => {
                    self.skip_word();
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Steps over a number, `true`, `false`, `null`, or whatever else stands there.
    fn skip_word(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_word = |byte: &u8| !matches!(byte, b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']');
        self.at += rest.iter().take_while(|byte| is_word(byte)).count();
    }
}
