//! `<data-dir>/settings.json`, shared by the window and the command line.
//!
//! Two processes change it, people edit it, and a machine may lose power in between. So reading
//! never fails, writing never drops what it does not know, and no default is ever written over
//! somebody's values.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use goal_core::goal::SAFE_INTEGER_MAX;
use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{blocking, files};

/// The version of the file's layout that this program writes. A file without one is of this.
pub const SETTINGS_VERSION: u64 = 1;

/// Bytes of the largest settings file that is read: thousands of times what the known keys take.
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// UTF-8 bytes of a text value: longer than any path or model name.
const TEXT_BYTES_MAX: usize = 4_096;

/// UTF-8 bytes of one text of a notice: more than a daemon shows.
const TEMPLATE_BYTES_MAX: usize = 1_000;

/// UTF-16 units of a reply in a notice, at most.
const LAST_MESSAGE_MAX: u32 = 10_000;

/// How long a change waits for another process that is writing: writing takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// The key of the layout's version.
const VERSION_KEY: &str = "version";

/// What can be set. A key that is missing or holds an invalid value has its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `sessionGoalEnabled`: the loop runs. Default true; only an explicit `false` disables (R21).
    pub session_goal_enabled: bool,
    /// `sessionGoalDefaultBudgetEnabled`: new goals get the default budget. Default false.
    pub session_goal_default_budget_enabled: bool,
    /// `sessionGoalDefaultBudget`: tokens, 1 to 2^53 - 1. Default 200,000.
    pub session_goal_default_budget: u64,
    /// `nativeNotificationsEnabled`: notices leave the app. Default true (X22).
    pub native_notifications_enabled: bool,
    /// `notificationMode`: when notices of turns leave the app. Default `hidden-only`.
    pub notification_mode: NotificationMode,
    /// `notifyOnCompletion`: the end of a goal or of a turn raises a notice. Default true.
    pub notify_on_completion: bool,
    /// `notifyOnError`: a failed turn raises a notice. Default true.
    pub notify_on_error: bool,
    /// `notifyOnQuestion`: whoever waits for the user raises a notice. Default true.
    pub notify_on_question: bool,
    /// `notifyOnSubtasks`: the end of a sub-agent's turn raises a notice. Default true.
    pub notify_on_subtasks: bool,
    /// `notificationTemplates`: texts in place of the usual ones in notices of turns. Default none.
    pub notification_templates: Templates,
    /// `maxLastMessageLength`: UTF-16 units of a reply in such a text, at least 10. Default 250.
    pub max_last_message_length: u32,
    /// `smallModelUseDefault`: the audit's model is found by itself. Default true.
    pub small_model_use_default: bool,
    /// `smallModelOverride`: `provider/model` for the audit, looked at only while
    /// `smallModelUseDefault` is false. Default none.
    pub small_model_override: Option<String>,
    /// `opencodeBinary`: the `opencode` program to start. Default none: it is searched for.
    pub opencode_binary: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            session_goal_enabled: true,
            session_goal_default_budget_enabled: false,
            session_goal_default_budget: 200_000,
            native_notifications_enabled: true,
            notification_mode: NotificationMode::HiddenOnly,
            notify_on_completion: true,
            notify_on_error: true,
            notify_on_question: true,
            notify_on_subtasks: true,
            notification_templates: Templates::default(),
            max_last_message_length: 250,
            small_model_use_default: true,
            small_model_override: None,
            opencode_binary: None,
        }
    }
}

impl Settings {
    /// The budget of a new goal for which nobody says one (U3).
    #[must_use]
    pub fn default_budget(&self) -> Option<u64> {
        self.session_goal_default_budget_enabled
            .then_some(self.session_goal_default_budget)
    }
}

/// When notices of turns leave the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationMode {
    /// While no window of the app has the focus.
    HiddenOnly,
    /// Always.
    Always,
}

impl NotificationMode {
    /// Both, in the order of the documentation.
    pub const ALL: [Self; 2] = [Self::HiddenOnly, Self::Always];

    /// Its spelling in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HiddenOnly => "hidden-only",
            Self::Always => "always",
        }
    }
}

/// The user's own texts in notices of turns; an empty one means the usual text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Templates {
    /// A turn ended.
    pub completion: Template,
    /// A turn failed.
    pub error: Template,
    /// A question or a permission request waits.
    pub question: Template,
    /// A sub-agent's turn ended.
    pub subtask: Template,
}

/// The text of one kind of notice, with placeholders such as `{session_name}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// The first line.
    pub title: String,
    /// The rest.
    pub message: String,
}

/// Where the values of a reading come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The settings file.
    File,
    /// The file is unreadable or gone; these are the values read last by this process.
    LastRead,
    /// The file is unreadable or gone; these stand in the copy of its last good state.
    LastGood,
    /// Nothing was ever set, or neither file nor copy can be read.
    Defaults,
}

/// The settings at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The values.
    pub settings: Settings,
    /// Where they come from.
    pub source: Source,
}

/// Why the settings were not changed. The file is as it was in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file was written by a newer version of this program.
    #[error(
        "the settings file has version {found}, this program knows version {SETTINGS_VERSION}: \
         it is read but not changed; update this program or change the setting with the newer one"
    )]
    NewerVersion {
        /// What stands in the file.
        found: String,
    },
    /// No setting has this name.
    #[error("there is no setting `{key}`")]
    UnknownKey {
        /// The name.
        key: String,
    },
    /// The setting does not take this value.
    #[error("the setting `{key}` takes {expected}")]
    InvalidValue {
        /// The setting.
        key: &'static str,
        /// What it takes.
        expected: &'static str,
    },
    /// Another process kept the lock.
    #[error(
        "another program has been writing the settings for {} s; try again, and if it stays so, \
         end the program that holds {}", LOCK_PATIENCE.as_secs(), path.display()
    )]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// The file would grow beyond what is read back.
    #[error("the settings would take more than {FILE_BYTES_MAX} bytes; remove what is not needed")]
    TooLarge,
    /// The operating system refused.
    #[error(
        "the settings could not be {action} at {}: {source}; nothing was changed, check that the \
         folder can be written and has room", path.display()
    )]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The process is ending.
    #[error("the settings were not changed because the program is ending")]
    Ending,
}

/// The settings file of one data folder, with what this process read last. Cheap to clone; the
/// clones share what was read.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    /// The last good content that this process saw. A plain mutex: it is held for a copy only.
    seen: Mutex<Option<Vec<u8>>>,
    /// How long a change waits for the lock.
    lock_patience: Duration,
    /// The damage was logged as a warning; it is read again at every fire time.
    warned: AtomicBool,
}

impl SettingsFile {
    /// The settings at `path`. Nothing is read or created yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self::with_patience(path, LOCK_PATIENCE)
    }

    fn with_patience(path: PathBuf, lock_patience: Duration) -> Self {
        Self {
            shared: Arc::new(Shared {
                path,
                seen: Mutex::new(None),
                lock_patience,
                warned: AtomicBool::new(false),
            }),
        }
    }

    /// The values as they are at this moment. Never fails: a file that is unreadable or gone gives
    /// the values read last, else those of the last good copy, else the defaults. To reset
    /// everything, remove the file and its copy (`settings.json.last-good`) and start anew.
    pub async fn read(&self) -> Reading {
        let shared = Arc::clone(&self.shared);
        // The program is ending if this fails: no file is read any more.
        blocking::run(move || shared.read())
            .await
            .unwrap_or_else(|| self.shared.without_files())
    }

    /// As [`read`](Self::read), on this thread, which may block.
    pub(crate) fn read_here(&self) -> Reading {
        self.shared.read()
    }

    /// What is wrong with the file at this moment, in words: it cannot be read, or a newer version
    /// of this program wrote it. `None` if nothing is, or if there is no file.
    pub async fn complaint(&self) -> Option<String> {
        let shared = Arc::clone(&self.shared);
        let complaint = blocking::run(move || match load(&shared.path) {
            Ok((_, object)) => object.check_version().err().map(|error| error.to_string()),
            Err(Unreadable::Missing) => None,
            Err(unreadable) => Some(unreadable.to_string()),
        });
        complaint.await.flatten()
    }

    /// Sets each key of `changes` to its value; `null` takes the key back to its default. All of
    /// them or none; every other key of the file stays as it is, byte for byte. Gives back the
    /// settings as they then are.
    ///
    /// An unreadable file is put aside as `settings.json.broken-<n>` and the change is made on
    /// the values that [`read`](Self::read) gives.
    ///
    /// # Errors
    ///
    /// [`SettingsError`]; the file is as it was then.
    pub async fn update(
        &self,
        changes: serde_json::Map<String, Value>,
    ) -> Result<Settings, SettingsError> {
        let shared = Arc::clone(&self.shared);
        blocking::run(move || shared.update(&changes))
            .await
            .unwrap_or(Err(SettingsError::Ending))
    }
}

impl Shared {
    fn read(&self) -> Reading {
        match load(&self.path) {
            Ok((bytes, object)) => {
                self.warned.store(false, Ordering::Relaxed);
                if self.remember(&bytes) {
                    self.refresh_last_good();
                }
                Reading {
                    settings: object.settings(),
                    source: Source::File,
                }
            }
            Err(unreadable) => {
                let (object, source) = self.stand_in();
                self.log(&unreadable, source);
                Reading {
                    settings: object.settings(),
                    source,
                }
            }
        }
    }

    fn update(&self, changes: &serde_json::Map<String, Value>) -> Result<Settings, SettingsError> {
        let changes = changes
            .iter()
            .map(|(name, value)| Key::parse(name).and_then(|key| key.normalise(value)))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(folder) = self.path.parent() {
            files::create_private_folder(folder).map_err(|e| self.io("written", e))?;
        }
        let lock_path = self.lock_path();
        let lock = files::lock(&lock_path, self.lock_patience).map_err(|source| {
            if source.kind() == io::ErrorKind::TimedOut {
                SettingsError::Busy { path: lock_path }
            } else {
                self.io("locked", source)
            }
        })?;
        let mut object = self.base()?;
        object.check_version()?;
        for (key, value) in changes {
            object.set(key.name(), value);
        }
        let bytes = object.into_bytes().map_err(|e| self.io("written", e))?;
        if bytes.len() > FILE_BYTES_MAX {
            return Err(SettingsError::TooLarge);
        }
        files::write_atomically(&self.path, &bytes).map_err(|e| self.io("written", e))?;
        self.write_last_good(&bytes);
        drop(lock);
        let settings = Object::parse(&bytes)
            .map(|object| object.settings())
            .unwrap_or_default();
        self.remember(&bytes);
        Ok(settings)
    }

    /// What a change is made on. A damaged file is copied aside, not moved: so there is no moment
    /// at which a crash would leave no settings file.
    fn base(&self) -> Result<Object, SettingsError> {
        match load(&self.path) {
            Ok((_, object)) => Ok(object),
            Err(Unreadable::Missing) => Ok(self.stand_in().0),
            Err(Unreadable::Io(source)) => Err(self.io("read", source)),
            Err(damaged @ (Unreadable::TooLarge | Unreadable::NotAnObject)) => {
                let copy = files::aside(&self.path);
                std::fs::copy(&self.path, &copy).map_err(|e| self.io("put aside", e))?;
                let (object, source) = self.stand_in();
                self.log(&damaged, source);
                tracing::warn!(copy = %copy.display(), "the damaged settings file was put aside");
                Ok(object)
            }
        }
    }

    /// The values that stand in for a file that cannot be read.
    fn stand_in(&self) -> (Object, Source) {
        if let Some(object) = self.last_seen() {
            return (object, Source::LastRead);
        }
        match load(&self.last_good_path()) {
            Ok((_, object)) => (object, Source::LastGood),
            Err(_) => (Object::default(), Source::Defaults),
        }
    }

    fn without_files(&self) -> Reading {
        let (settings, source) = match self.last_seen() {
            Some(object) => (object.settings(), Source::LastRead),
            None => (Settings::default(), Source::Defaults),
        };
        Reading { settings, source }
    }

    fn last_seen(&self) -> Option<Object> {
        let seen = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        seen.and_then(|bytes| Object::parse(&bytes))
    }

    /// Whether these bytes are news to this process.
    fn remember(&self, bytes: &[u8]) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let news = seen.as_deref() != Some(bytes);
        if news {
            *seen = Some(bytes.to_vec());
        }
        news
    }

    /// Follows a change that somebody made by hand, so that the copy knows it, too. Only under the
    /// lock, and never waiting for it: who holds it writes the copy itself.
    fn refresh_last_good(&self) {
        let Ok(lock) = files::lock(&self.lock_path(), Duration::ZERO) else {
            return tracing::debug!("the copy of the settings is left to who holds the lock");
        };
        if let Ok((bytes, _)) = load(&self.path) {
            self.write_last_good(&bytes);
        }
        drop(lock);
    }

    fn write_last_good(&self, bytes: &[u8]) {
        let path = self.last_good_path();
        let same = files::read_prefix(&path, FILE_BYTES_MAX)
            .is_ok_and(|prefix| !prefix.cut && prefix.bytes == bytes);
        if same {
            return;
        }
        if let Err(error) = files::write_atomically(&path, bytes) {
            tracing::warn!(%error, "the copy of the settings could not be written");
        }
    }

    fn log(&self, why: &Unreadable, source: Source) {
        let never_set = matches!((why, source), (Unreadable::Missing, Source::Defaults));
        if never_set || self.warned.swap(true, Ordering::Relaxed) {
            tracing::debug!(%why, ?source, "no settings file was read");
        } else {
            let path = self.path.display();
            tracing::warn!(%path, %why, ?source, "the settings file could not be read");
        }
    }

    fn lock_path(&self) -> PathBuf {
        files::with_suffix(&self.path, ".lock")
    }

    fn last_good_path(&self) -> PathBuf {
        files::with_suffix(&self.path, ".last-good")
    }

    fn io(&self, action: &'static str, source: io::Error) -> SettingsError {
        SettingsError::Io {
            action,
            path: self.path.clone(),
            source,
        }
    }
}

/// Why a settings file gives no values.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("it does not exist")]
    Missing,
    #[error("{0}")]
    Io(io::Error),
    #[error("it is larger than {FILE_BYTES_MAX} bytes")]
    TooLarge,
    #[error("it is not a JSON object")]
    NotAnObject,
}

fn load(path: &Path) -> Result<(Vec<u8>, Object), Unreadable> {
    let prefix = files::read_prefix(path, FILE_BYTES_MAX).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            Unreadable::Missing
        } else {
            Unreadable::Io(error)
        }
    })?;
    if prefix.cut {
        return Err(Unreadable::TooLarge);
    }
    match Object::parse(&prefix.bytes) {
        Some(object) => Ok((prefix.bytes, object)),
        None => Err(Unreadable::NotAnObject),
    }
}

/// The file's keys in their order, each value as it was written.
#[derive(Debug, Default)]
struct Object(IndexMap<String, Box<RawValue>>);

impl Object {
    fn parse(bytes: &[u8]) -> Option<Self> {
        // Some editors put a byte order mark in front.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        serde_json::from_slice(bytes).ok().map(Self)
    }

    fn value(&self, key: &str) -> Option<Value> {
        self.0
            .get(key)
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    fn set(&mut self, key: &str, value: Option<Box<RawValue>>) {
        match value {
            Some(value) => drop(self.0.insert(key.to_owned(), value)),
            None => drop(self.0.shift_remove(key)),
        }
    }

    fn check_version(&self) -> Result<(), SettingsError> {
        let Some(raw) = self.0.get(VERSION_KEY) else {
            return Ok(());
        };
        let known = raw
            .get()
            .parse::<u64>()
            .is_ok_and(|version| version <= SETTINGS_VERSION);
        if known {
            return Ok(());
        }
        // A version that is no number, too, is none that may be written over.
        Err(SettingsError::NewerVersion {
            found: raw.get().chars().take(40).collect(),
        })
    }

    fn into_bytes(mut self) -> io::Result<Vec<u8>> {
        if !self.0.contains_key(VERSION_KEY) {
            let version = serde_json::value::to_raw_value(&SETTINGS_VERSION)?;
            self.0.shift_insert(0, VERSION_KEY.to_owned(), version);
        }
        let mut bytes = serde_json::to_vec_pretty(&self.0)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    fn settings(&self) -> Settings {
        let default = Settings::default();
        let flag = |key: Key, default| {
            self.value(key.name())
                .and_then(|v| v.as_bool())
                .unwrap_or(default)
        };
        Settings {
            session_goal_enabled: flag(Key::GoalEnabled, default.session_goal_enabled),
            session_goal_default_budget_enabled: flag(
                Key::DefaultBudgetEnabled,
                default.session_goal_default_budget_enabled,
            ),
            session_goal_default_budget: self
                .value(Key::DefaultBudget.name())
                .and_then(|value| budget(&value))
                .unwrap_or(default.session_goal_default_budget),
            native_notifications_enabled: flag(
                Key::NativeNotifications,
                default.native_notifications_enabled,
            ),
            notification_mode: self
                .value(Key::NotificationMode.name())
                .and_then(|value| mode(&value))
                .unwrap_or(default.notification_mode),
            notify_on_completion: flag(Key::NotifyOnCompletion, default.notify_on_completion),
            notify_on_error: flag(Key::NotifyOnError, default.notify_on_error),
            notify_on_question: flag(Key::NotifyOnQuestion, default.notify_on_question),
            notify_on_subtasks: flag(Key::NotifyOnSubtasks, default.notify_on_subtasks),
            notification_templates: self
                .value(Key::Templates.name())
                .and_then(|value| templates(&value))
                .unwrap_or_default(),
            max_last_message_length: self
                .value(Key::LastMessageLength.name())
                .and_then(|value| last_message_length(&value))
                .unwrap_or(default.max_last_message_length),
            small_model_use_default: flag(Key::SmallModelDefault, default.small_model_use_default),
            small_model_override: self
                .value(Key::SmallModelOverride.name())
                .and_then(|value| model(&value)),
            opencode_binary: self
                .value(Key::OpencodeBinary.name())
                .and_then(|value| text(&value))
                .map(PathBuf::from),
        }
    }
}

/// The names of all settings, as they stand in the file.
pub fn keys() -> impl Iterator<Item = &'static str> {
    Key::ALL.into_iter().map(Key::name)
}

/// The keys this program knows.
#[derive(Clone, Copy, Debug)]
enum Key {
    GoalEnabled,
    DefaultBudgetEnabled,
    DefaultBudget,
    NativeNotifications,
    NotificationMode,
    NotifyOnCompletion,
    NotifyOnError,
    NotifyOnQuestion,
    NotifyOnSubtasks,
    Templates,
    LastMessageLength,
    SmallModelDefault,
    SmallModelOverride,
    OpencodeBinary,
}

impl Key {
    const ALL: [Self; 14] = [
        Self::GoalEnabled,
        Self::DefaultBudgetEnabled,
        Self::DefaultBudget,
        Self::NativeNotifications,
        Self::NotificationMode,
        Self::NotifyOnCompletion,
        Self::NotifyOnError,
        Self::NotifyOnQuestion,
        Self::NotifyOnSubtasks,
        Self::Templates,
        Self::LastMessageLength,
        Self::SmallModelDefault,
        Self::SmallModelOverride,
        Self::OpencodeBinary,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::GoalEnabled => "sessionGoalEnabled",
            Self::DefaultBudgetEnabled => "sessionGoalDefaultBudgetEnabled",
            Self::DefaultBudget => "sessionGoalDefaultBudget",
            Self::NativeNotifications => "nativeNotificationsEnabled",
            Self::NotificationMode => "notificationMode",
            Self::NotifyOnCompletion => "notifyOnCompletion",
            Self::NotifyOnError => "notifyOnError",
            Self::NotifyOnQuestion => "notifyOnQuestion",
            Self::NotifyOnSubtasks => "notifyOnSubtasks",
            Self::Templates => "notificationTemplates",
            Self::LastMessageLength => "maxLastMessageLength",
            Self::SmallModelDefault => "smallModelUseDefault",
            Self::SmallModelOverride => "smallModelOverride",
            Self::OpencodeBinary => "opencodeBinary",
        }
    }

    fn parse(name: &str) -> Result<Self, SettingsError> {
        Self::ALL
            .into_iter()
            .find(|key| key.name() == name)
            .ok_or_else(|| SettingsError::UnknownKey {
                key: name.chars().take(80).collect(),
            })
    }

    /// The value as it is written; `None` takes the key out of the file.
    fn normalise(self, value: &Value) -> Result<(Self, Option<Box<RawValue>>), SettingsError> {
        if value.is_null() {
            return Ok((self, None));
        }
        let (valid, expected) = match self {
            Self::GoalEnabled
            | Self::DefaultBudgetEnabled
            | Self::NativeNotifications
            | Self::NotifyOnCompletion
            | Self::NotifyOnError
            | Self::NotifyOnQuestion
            | Self::NotifyOnSubtasks
            | Self::SmallModelDefault => (value.as_bool().map(Value::from), "true or false"),
            Self::DefaultBudget => (
                budget(value).map(Value::from),
                "a number of tokens from 1 to 9007199254740991",
            ),
            Self::NotificationMode => (
                mode(value).map(|mode| Value::from(mode.name())),
                "`hidden-only` or `always`",
            ),
            Self::Templates => (
                templates(value).map(|_| value.clone()),
                "an object of `completion`, `error`, `question` and `subtask`, each with the \
                 texts `title` and `message`, at most 1,000 bytes long",
            ),
            Self::LastMessageLength => (
                last_message_length(value).map(Value::from),
                "a number of characters from 10 to 10000",
            ),
            Self::SmallModelOverride => (model(value).map(Value::from), "`provider/model`"),
            Self::OpencodeBinary => (text(value).map(Value::from), "the path of a program"),
        };
        valid
            .and_then(|value| serde_json::value::to_raw_value(&value).ok())
            .map(|raw| (self, Some(raw)))
            .ok_or(SettingsError::InvalidValue {
                key: self.name(),
                expected,
            })
    }
}

/// A positive finite number, floored (§5.6).
fn budget(value: &Value) -> Option<u64> {
    let whole = match (value.as_u64(), value.as_f64()) {
        (Some(whole), _) => whole,
        // The conversion saturates; what it saturates to is out of range below.
        (None, Some(number)) => number.floor() as u64,
        (None, None) => return None,
    };
    (1..=SAFE_INTEGER_MAX).contains(&whole).then_some(whole)
}

fn mode(value: &Value) -> Option<NotificationMode> {
    let name = value.as_str()?;
    NotificationMode::ALL
        .into_iter()
        .find(|mode| mode.name() == name)
}

/// A finite number of at least 10, floored; more than any daemon shows is none.
fn last_message_length(value: &Value) -> Option<u32> {
    let whole = budget(value)?;
    u32::try_from(whole)
        .ok()
        .filter(|whole| (10..=LAST_MESSAGE_MAX).contains(whole))
}

/// Texts by kind and line; a kind or line that is left out has none.
fn templates(value: &Value) -> Option<Templates> {
    let kinds = value.as_object()?;
    let mut templates = Templates::default();
    for (kind, lines) in kinds {
        let template = match kind.as_str() {
            "completion" => &mut templates.completion,
            "error" => &mut templates.error,
            "question" => &mut templates.question,
            "subtask" => &mut templates.subtask,
            _ => return None,
        };
        for (line, text) in lines.as_object()? {
            let text = text.as_str()?.trim();
            let place = match line.as_str() {
                "title" => &mut template.title,
                "message" => &mut template.message,
                _ => return None,
            };
            if text.len() > TEMPLATE_BYTES_MAX || text.contains('\0') {
                return None;
            }
            text.clone_into(place);
        }
    }
    Some(templates)
}

/// `provider/model`, trimmed; the model's own name may hold further slashes.
fn model(value: &Value) -> Option<String> {
    let name = text(value)?;
    let (provider, model) = name.split_once('/')?;
    (!provider.trim().is_empty() && !model.trim().is_empty()).then_some(name)
}

/// A text that says something, trimmed.
fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    let fits = !text.is_empty() && text.len() <= TEXT_BYTES_MAX && !text.contains('\0');
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
