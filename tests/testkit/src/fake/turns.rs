//! Turns and what is told of them, in the order and with the repetitions of the real server.

use axum::body::Bytes;
use serde_json::{Value, json};

use super::state::{State, Stored, now};

/// The project of every folder.
pub(super) const PROJECT: &str = "debd4149d39dffab68089381b53445858d850afc";

/// What a turn says over and over.
const WORDS: &str = "the tests of the parser pass and the next step is the printer; ";

impl State {
    /// Stores a prompt, or what is new of it: the same ids again are an update.
    pub(super) fn store_prompt(&mut self, id: &str, message: &str, parts: &[(String, String)]) {
        let info = json!({
            "id": message,
            "role": "user",
            "sessionID": id,
            "time": { "created": now() },
            "agent": "build",
            "model": { "providerID": "acme", "modelID": "big" },
        });
        let shown: Vec<Value> = parts
            .iter()
            .map(|(part, text)| part_json(id, message, part, text))
            .collect();
        let stored = Stored {
            id: message.to_owned(),
            user: true,
            parent: None,
            parts: parts.iter().map(|(part, _)| part.clone()).collect(),
            json: json!({ "info": info, "parts": shown }).to_string(),
            info: info.to_string(),
        };
        self.store(id, stored);
        let directory = self.directory(id);
        self.tell_message(id, message);
        for part in shown {
            let properties = json!({ "sessionID": id, "part": part, "time": now() });
            self.tell_durable(&directory, "message.part.updated", id, &properties);
        }
    }

    /// Stores a whole turn's answer to the newest prompt, told to nobody.
    pub(super) fn store_answer(&mut self, id: &str, text: &str) {
        let message = self.id("msg");
        let parent = self.newest_prompt(id);
        self.store_step(id, &message, parent.as_deref(), Some(text));
    }

    /// A turn begins, for `prompt` or for the newest one.
    pub(super) fn begin_turn(&mut self, id: &str, prompt: Option<&str>) {
        let directory = self.directory(id);
        let parent = prompt
            .map(str::to_owned)
            .or_else(|| self.newest_prompt(id))
            .unwrap_or_default();
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        session.busy = Some(parent.clone());
        session.updated = now();
        let busy = self.busy.entry(directory.as_str().into()).or_default();
        busy.insert(id.to_owned());
        self.tell_session(id, "session.updated");
        self.tell_status(id, "busy");
        let message = self.id("msg");
        self.store_step(id, &message, Some(&parent), None);
        self.tell_message(id, &message);
        self.tell_status(id, "busy");
        self.tell_session(id, "session.updated");
        self.tell_message(id, &parent);
    }

    /// The running turn says what it has to say and ends; whether one ran.
    pub(super) fn finish_turn(&mut self, id: &str) -> bool {
        let text: String = WORDS.chars().cycle().take(self.turns.delta_bytes).collect();
        let deltas = self.turns.deltas;
        self.end_turn(id, &text, deltas).is_some()
    }

    /// The running turn says `text` so many times and ends. The message that it made.
    pub(super) fn end_turn(&mut self, id: &str, text: &str, times: usize) -> Option<String> {
        let directory = self.directory(id);
        let session = self.sessions.get_mut(id)?;
        // First: a turn whose message is still to come runs on.
        let message = session.tail().filter(|tail| !tail.user)?.id.clone();
        let parent = session.busy.take()?;
        self.tell_text(&directory, id, &message, text, times);
        self.store_step(id, &message, Some(&parent), Some(&text.repeat(times)));
        self.tell_message(id, &message);
        self.tell_message(id, &message);
        self.tell_status(id, "busy");
        if let Some(busy) = self.busy.get_mut(directory.as_str()) {
            busy.remove(id);
        }
        self.tell_status(id, "idle");
        let properties = json!({ "sessionID": id });
        self.tell(&directory, "session.idle", &properties);
        if let Some(session) = self.sessions.get_mut(id) {
            session.updated = now();
        }
        self.tell_session(id, "session.updated");
        self.tell_message(id, &parent);
        Some(message)
    }

    /// The turn is stopped: as the real server tells it, the message comes behind the first idle.
    pub(super) fn abort_turn(&mut self, id: &str) {
        let directory = self.directory(id);
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let running = session.busy.take().is_some();
        if let Some(busy) = self.busy.get_mut(directory.as_str()) {
            busy.remove(id);
        }
        if running {
            let error = json!({ "name": "MessageAbortedError", "data": { "message": "Aborted" } });
            let properties = json!({ "sessionID": id, "error": error });
            self.tell(&directory, "session.error", &properties);
        }
        self.tell_status(id, "idle");
        self.tell(&directory, "session.idle", &json!({ "sessionID": id }));
    }

    /// An assistant message: unfinished without a text.
    fn store_step(&mut self, id: &str, message: &str, parent: Option<&str>, text: Option<&str>) {
        let directory = self.directory(id);
        let mut info = json!({
            "id": message,
            "parentID": parent,
            "role": "assistant",
            "mode": "build",
            "agent": "build",
            "path": { "cwd": directory, "root": directory },
            "cost": 0.001_12,
            "tokens": { "total": 1_020, "input": 400, "output": 20, "reasoning": 0,
                        "cache": { "read": 600, "write": 0 } },
            "modelID": "big",
            "providerID": "acme",
            "time": { "created": now() },
            "sessionID": id,
        });
        let mut parts = vec![json!({
            "id": format!("prt_{message}s"), "messageID": message, "sessionID": id,
            "type": "step-start", "snapshot": PROJECT,
        })];
        if let Some(text) = text {
            info["time"]["completed"] = json!(now());
            info["finish"] = json!("stop");
            parts.push(part_json(id, message, &format!("prt_{message}t"), text));
            parts.push(json!({
                "id": format!("prt_{message}u"), "messageID": message, "sessionID": id,
                "type": "step-finish", "reason": "stop", "cost": 0.001_12,
                "tokens": info["tokens"],
            }));
        }
        let stored = Stored {
            id: message.to_owned(),
            user: false,
            parent: parent.map(str::to_owned),
            parts: Vec::new(),
            json: json!({ "info": info, "parts": parts }).to_string(),
            info: info.to_string(),
        };
        self.store(id, stored);
    }

    fn store(&mut self, id: &str, stored: Stored) {
        let most = self.turns.messages_max;
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let known = session
            .messages
            .iter_mut()
            .rfind(|known| known.id == stored.id);
        match known {
            Some(known) => *known = stored,
            None => session.messages.push_back(stored),
        }
        while session.messages.len() > most {
            session.messages.pop_front();
        }
    }

    fn newest_prompt(&self, id: &str) -> Option<String> {
        let messages = &self.sessions.get(id)?.messages;
        let prompt = messages.iter().rfind(|stored| stored.user)?;
        Some(prompt.id.clone())
    }

    pub(super) fn directory(&self, id: &str) -> String {
        let session = self.sessions.get(id);
        session.map_or_else(String::new, |session| session.directory.to_string())
    }

    fn tell_text(&mut self, directory: &str, id: &str, message: &str, text: &str, times: usize) {
        let part = format!("prt_{message}t");
        let empty = part_json(id, message, &part, "");
        let properties = json!({ "sessionID": id, "part": empty, "time": now() });
        self.tell_durable(directory, "message.part.updated", id, &properties);
        for _ in 0..times {
            let properties = json!({
                "sessionID": id, "messageID": message, "partID": part,
                "field": "text", "delta": text,
            });
            self.tell(directory, "message.part.delta", &properties);
        }
        let whole = part_json(id, message, &part, &text.repeat(times));
        let properties = json!({ "sessionID": id, "part": whole, "time": now() });
        self.tell_durable(directory, "message.part.updated", id, &properties);
    }

    pub(super) fn tell_session(&mut self, id: &str, kind: &str) {
        if self.streams.nobody_hears() {
            return;
        }
        let Some(session) = self.session_json(id) else {
            return;
        };
        let directory = self.directory(id);
        let properties = format!(r#"{{"sessionID":"{id}","info":{session}}}"#);
        self.tell_durable_text(&directory, kind, id, &properties);
    }

    fn tell_message(&mut self, id: &str, message: &str) {
        let session = self.sessions.get(id);
        let Some(stored) = session.and_then(|session| session.message(message)) else {
            return;
        };
        let properties = format!(r#"{{"sessionID":"{id}","info":{}}}"#, stored.info);
        let directory = self.directory(id);
        self.tell_durable_text(&directory, "message.updated", id, &properties);
    }

    fn tell_status(&mut self, id: &str, status: &str) {
        let directory = self.directory(id);
        let properties = json!({ "sessionID": id, "status": { "type": status } });
        self.tell(&directory, "session.status", &properties);
    }

    /// A sign of life, or a greeting.
    pub(super) fn tell_server(&mut self, kind: &str) {
        let frame = self.server_frame(kind);
        self.streams.tell(&frame);
    }

    pub(super) fn server_frame(&mut self, kind: &str) -> Bytes {
        let event = self.id("evt");
        let payload = json!({ "id": event, "type": kind, "properties": {} });
        Bytes::from(format!("data: {}\n\n", json!({ "payload": payload })))
    }

    fn tell(&mut self, directory: &str, kind: &str, properties: &Value) {
        if !self.streams.nobody_hears() {
            let event = self.id("evt");
            self.tell_text_frame(directory, kind, &event, &properties.to_string());
        }
    }

    fn tell_durable(&mut self, directory: &str, kind: &str, id: &str, properties: &Value) {
        if !self.streams.nobody_hears() {
            self.tell_durable_text(directory, kind, id, &properties.to_string());
        }
    }

    /// With the twin that the real server sends of whatever it keeps.
    fn tell_durable_text(&mut self, directory: &str, kind: &str, id: &str, properties: &str) {
        if self.streams.nobody_hears() {
            return;
        }
        let event = self.id("evt");
        self.tell_text_frame(directory, kind, &event, properties);
        let seq = self.sessions.get_mut(id).map_or(0, |session| {
            session.seq += 1;
            session.seq - 1
        });
        let folder = json!(directory);
        let frame = format!(
            "data: {{\"directory\":{folder},\"project\":\"{PROJECT}\",\"payload\":{{\
             \"type\":\"sync\",\"syncEvent\":{{\"id\":\"{event}\",\"type\":\"{kind}.1\",\
             \"seq\":{seq},\"aggregateID\":\"{id}\",\"data\":{properties}}},\
             \"id\":\"{event}\"}}}}\n\n"
        );
        self.streams.tell(&Bytes::from(frame));
    }

    fn tell_text_frame(&mut self, directory: &str, kind: &str, event: &str, properties: &str) {
        let folder = json!(directory);
        let frame = format!(
            "data: {{\"directory\":{folder},\"project\":\"{PROJECT}\",\"payload\":{{\
             \"id\":\"{event}\",\"type\":\"{kind}\",\"properties\":{properties}}}}}\n\n"
        );
        self.streams.tell(&Bytes::from(frame));
    }
}

fn part_json(id: &str, message: &str, part: &str, text: &str) -> Value {
    json!({
        "id": part, "messageID": message, "sessionID": id, "type": "text", "text": text,
        "time": { "start": now(), "end": now() },
    })
}
