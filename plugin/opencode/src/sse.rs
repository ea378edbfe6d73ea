//! Bytes → frames, and a look at a frame's type before anybody parses it. Pure.
//!
//! One shell command that prints 300 lines makes OpenCode send 3.4 MB, nearly all of it events
//! nobody here wants. Telling them by their type costs a scan; parsing them would cost a tree.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

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
    /// An event of a type that nobody wants; its content was never kept.
    Unwanted,
}

/// How much of an event is looked at before it is kept: OpenCode's events tell their type within
/// the first 200 bytes, unless the folder's path is very long.
const HEAD_BYTES_MAX: usize = 1_024;

/// What is looked at of an event must hold this much; below it, keeping is as cheap as looking.
const HEAD_BYTES_MIN: usize = 256;

/// Cuts a stream of server-sent events into frames, wherever the network cuts the bytes.
///
/// Keeps at most one unfinished frame of the bound it was made with. What is unfinished when the
/// stream ends was never an event.
#[derive(Debug)]
pub struct Decoder {
    bytes_max: usize,
    /// Which types of events are kept.
    is_wanted: fn(&str) -> bool,
    /// The frame being read is of a type that nobody wants: it is passed over.
    passing: bool,
    /// The line being read was looked at.
    looked: bool,
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
        Self::wanting(bytes_max, |_| true)
    }

    /// A decoder that passes over long events as soon as it sees that their type is not wanted.
    /// Short ones, and those that tell their type late or outside of `payload`, are kept all the
    /// same.
    pub fn wanting(bytes_max: usize, is_wanted: fn(&str) -> bool) -> Self {
        Self {
            bytes_max,
            is_wanted,
            passing: false,
            looked: false,
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
            let end = memchr2(b'\n', b'\r', bytes);
            let line = &bytes[..end.unwrap_or(bytes.len())];
            self.take(line);
            let Some(end) = end else {
                break;
            };
            self.after_return = bytes[end] == b'\r';
            frames.extend(self.end_line());
            bytes = &bytes[end + 1..];
        }
        frames
    }

    /// The next bytes of a line.
    fn take(&mut self, bytes: &[u8]) {
        let kept = self.line.len();
        let decided = self.looked || self.passing || self.has_data || self.oversize.is_some();
        if decided || kept + bytes.len() < HEAD_BYTES_MIN {
            return self.extend_line(bytes);
        }
        // A network that cuts a head in two must not have the whole of a long event kept.
        self.looked = true;
        if kept == 0 {
            self.passing = self.passes(bytes);
            return self.extend_line(bytes);
        }
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES_MAX));
        self.extend_line(head);
        self.passing = self.passes(&self.line);
        if self.passing {
            self.line = Vec::new();
        }
        self.extend_line(rest);
    }

    /// Whether the type of the event that begins with `line` tells that nobody wants it.
    fn passes(&self, line: &[u8]) -> bool {
        let head = &line[..line.len().min(HEAD_BYTES_MAX)];
        head.strip_prefix(b"data:")
            .and_then(|text| peek(text).in_payload)
            .is_some_and(|kind| !(self.is_wanted)(&kind))
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        self.line_started |= !bytes.is_empty();
        if self.passing {
            return;
        }
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
        self.looked = false;
        if !std::mem::take(&mut self.line_started) {
            return self.end_frame();
        }
        if self.passing {
            return None;
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
        if std::mem::take(&mut self.passing) {
            return Some(Frame::Unwanted);
        }
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
    let types = peek(frame.as_bytes());
    types.in_payload.or(types.outside)
}

/// The types that a frame tells.
#[derive(Default)]
struct Types<'a> {
    /// The string `payload.type`; whatever follows it, it is the event's.
    in_payload: Option<Cow<'a, str>>,
    /// The string `type`, found before `payload` told another.
    outside: Option<Cow<'a, str>>,
}

/// Of bytes, which may end inside a character.
fn peek(frame: &[u8]) -> Types<'_> {
    let mut scan = Scan { text: frame, at: 0 };
    let mut types = Types::default();
    if scan.enter(b'{').is_none() {
        return types;
    }
    while let Some(key) = scan.key() {
        let value = scan.here();
        if value == Some(b'{') && is_named(key, "payload") {
            types.in_payload = scan.type_of_object();
            if types.in_payload.is_some() {
                break;
            }
        } else if value == Some(b'"') && is_named(key, "type") {
            types.outside = scan.string();
        } else {
            scan.skip_value();
        }
    }
    types
}

/// Whether a key, quoted as it stands in the text, is `name`.
fn is_named(quoted: &[u8], name: &str) -> bool {
    let plain = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    if plain == name.as_bytes() {
        return true;
    }
    memchr(b'\\', plain).is_some() && unescaped(quoted).is_some_and(|text| text == name)
}

/// The text of a quoted string.
fn unescaped(quoted: &[u8]) -> Option<String> {
    let lossy = serde_json::from_slice::<Lossy>(quoted).ok()?;
    Some(lossy.0)
}

/// A place in a JSON text. Follows structure, does not validate.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    /// The first non-blank byte from here on.
    fn here(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..)?;
        self.at += rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        self.text.get(self.at).copied()
    }

    /// Steps over `byte`, if it comes next.
    fn enter(&mut self, byte: u8) -> Option<()> {
        (self.here()? == byte).then(|| self.at += 1)
    }

    /// Inside an object: steps over the next key, given with its quotes, and its colon; at the
    /// object's end, steps out.
    fn key(&mut self) -> Option<&'a [u8]> {
        if self.here()? == b',' {
            self.at += 1;
        }
        if self.here()? == b'}' {
            self.at += 1;
            return None;
        }
        let key = self.quoted()?;
        self.enter(b':')?;
        Some(key)
    }

    /// The string member `type` of the object that begins here, else steps over the object.
    fn type_of_object(&mut self) -> Option<Cow<'a, str>> {
        self.enter(b'{')?;
        while let Some(key) = self.key() {
            if is_named(key, "type") && self.here() == Some(b'"') {
                return self.string();
            }
            self.skip_value();
        }
        None
    }

    /// The string that begins here, unescaped; steps over it.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let quoted = self.quoted()?;
        let plain = quoted.get(1..quoted.len() - 1)?;
        if memchr(b'\\', plain).is_none() {
            return Some(String::from_utf8_lossy(plain));
        }
        unescaped(quoted).map(Cow::Owned)
    }

    /// The string that begins here, with its quotes; steps over it.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        self.here()?;
        let start = self.at;
        self.skip_string()?;
        Some(&self.text[start..self.at])
    }

    /// Steps over a string; `None` at its missing begin or end.
    fn skip_string(&mut self) -> Option<()> {
        self.enter_string()?;
        loop {
            let rest = self.text.get(self.at..)?;
            let found = memchr2(b'"', b'\\', rest)?;
            // Of an escaped character beyond ASCII only the first byte is stepped over; none of
            // the others looks like a quote or a backslash.
            self.at += found + if rest[found] == b'"' { 1 } else { 2 };
            if rest[found] == b'"' {
                return Some(());
            }
        }
    }

    fn enter_string(&mut self) -> Option<()> {
        (*self.text.get(self.at)? == b'"').then(|| self.at += 1)
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
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_word = |byte: &u8| !matches!(byte, b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']');
        self.at += rest.iter().take_while(|byte| is_word(byte)).count();
    }
}
