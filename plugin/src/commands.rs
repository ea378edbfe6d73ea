//! The commands of pages: one expression each.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tauri::ipc::{CommandArg, CommandItem, InvokeBody, InvokeError};
use tauri::{AppHandle, Runtime, Webview, command};

use crate::GoalExt;
use crate::error::{Error, Result};
use crate::models::{
    AuditorCheck, AuditorModel, AuditorTest, Cleared, Completed, Edit, Edited, Explanation,
    GoalView, ListNotices, MarkRead, MarkedRead, Nothing, Notice, ObjectiveText, OfSession, OnAll,
    OnSession, Paused, PausedOne, Resume, Resumed, ServerConnect, ServerStatus, SetSettings,
    SettingsView, Snapshot, Start, Started, TestAuditor, Unwatch, WatchSession, Watching,
};

#[command]
pub(crate) async fn get<R: Runtime>(
    app: AppHandle<R>,
    of: Args<OfSession>,
) -> Result<Option<GoalView>> {
    app.goal().get(&of.0.session_id)
}

#[command]
pub(crate) async fn list<R: Runtime>(app: AppHandle<R>, _no: Args<Nothing>) -> Result<Snapshot> {
    Ok(app.goal().list_for_page())
}

#[command]
pub(crate) async fn objective<R: Runtime>(
    app: AppHandle<R>,
    of: Args<OfSession>,
) -> Result<ObjectiveText> {
    app.goal().objective(&of.0.session_id).await
}

#[command]
pub(crate) async fn why<R: Runtime>(app: AppHandle<R>, of: Args<OfSession>) -> Result<Explanation> {
    app.goal().why(&of.0.session_id).await
}

#[command]
pub(crate) async fn notices<R: Runtime>(
    app: AppHandle<R>,
    list: Args<ListNotices>,
) -> Result<Vec<Notice>> {
    app.goal().notices(list.0).await
}

#[command]
pub(crate) async fn settings_get<R: Runtime>(
    app: AppHandle<R>,
    _no: Args<Nothing>,
) -> Result<SettingsView> {
    Ok(app.goal().settings().await)
}

#[command]
pub(crate) async fn server_status<R: Runtime>(
    app: AppHandle<R>,
    _no: Args<Nothing>,
) -> Result<ServerStatus> {
    Ok(app.goal().server_status())
}

#[command]
pub(crate) async fn auditor_check<R: Runtime>(
    app: AppHandle<R>,
    whose: Args<AuditorCheck>,
) -> Result<AuditorModel> {
    app.goal().auditor_check(whose.0).await
}

#[command]
pub(crate) async fn watch<R: Runtime>(
    app: AppHandle<R>,
    webview: Webview<R>,
    of: Args<WatchSession>,
) -> Result<Watching> {
    app.goal().watch(webview, of.0)
}

#[command]
pub(crate) async fn unwatch<R: Runtime>(
    app: AppHandle<R>,
    webview: Webview<R>,
    which: Args<Unwatch>,
) {
    app.goal().unwatch(&webview, which.0.id);
}

#[command]
pub(crate) async fn start<R: Runtime>(app: AppHandle<R>, start: Args<Start>) -> Result<Started> {
    app.goal().start(start.0).await
}

#[command]
pub(crate) async fn edit<R: Runtime>(app: AppHandle<R>, edit: Args<Edit>) -> Result<Edited> {
    app.goal().edit(edit.0).await
}

#[command]
pub(crate) async fn pause<R: Runtime>(app: AppHandle<R>, on: Args<OnSession>) -> Result<Paused> {
    app.goal().pause(on.0).await
}

#[command]
pub(crate) async fn resume<R: Runtime>(app: AppHandle<R>, resume: Args<Resume>) -> Result<Resumed> {
    app.goal().resume(resume.0).await
}

#[command]
pub(crate) async fn complete<R: Runtime>(
    app: AppHandle<R>,
    on: Args<OnSession>,
) -> Result<Completed> {
    app.goal().complete(on.0).await
}

#[command]
pub(crate) async fn clear<R: Runtime>(app: AppHandle<R>, on: Args<OnSession>) -> Result<Cleared> {
    app.goal().clear(on.0).await
}

#[command]
pub(crate) async fn pause_all<R: Runtime>(
    app: AppHandle<R>,
    on: Args<OnAll>,
) -> Result<Vec<PausedOne>> {
    app.goal().pause_all(on.0).await
}

#[command]
pub(crate) async fn auditor_test<R: Runtime>(
    app: AppHandle<R>,
    whose: Args<TestAuditor>,
) -> Result<AuditorTest> {
    app.goal().auditor_test(whose.0).await
}

#[command]
pub(crate) async fn notices_mark_read<R: Runtime>(
    app: AppHandle<R>,
    read: Args<MarkRead>,
) -> Result<MarkedRead> {
    app.goal().notices_mark_read(read.0).await
}

#[command]
pub(crate) async fn settings_set<R: Runtime>(
    app: AppHandle<R>,
    set: Args<SetSettings>,
) -> Result<SettingsView> {
    app.goal().settings_set(set.0).await
}

#[command]
pub(crate) async fn server_connect<R: Runtime>(
    app: AppHandle<R>,
    connect: Args<ServerConnect>,
) -> Result<ServerStatus> {
    app.goal().server_connect(connect.0).await
}

/// Characters of what is wrong with arguments: enough for a name, too few for an objective.
const COMPLAINT_MAX: usize = 300;

/// All arguments of a call as one value, checked before the command begins. Tauri's own reading
/// would take each argument by itself, pass over unknown ones and answer with a bare text.
pub(crate) struct Args<T>(T);

impl<'de, R: Runtime, T: DeserializeOwned> CommandArg<'de, R> for Args<T> {
    fn from_command(command: CommandItem<'de, R>) -> std::result::Result<Self, InvokeError> {
        read(command.message.payload())
            .map(Self)
            .map_err(InvokeError::from)
    }
}

fn read<T: DeserializeOwned>(body: &InvokeBody) -> Result<T> {
    let value = match body {
        InvokeBody::Json(Value::Null) => Value::Object(Map::new()),
        InvokeBody::Json(value) => value.clone(),
        InvokeBody::Raw(_) => return Err(Error::invalid_arguments("Arguments are JSON.")),
    };
    T::deserialize(value).map_err(|error| {
        let complaint: String = error.to_string().chars().take(COMPLAINT_MAX).collect();
        Error::invalid_arguments(complaint)
    })
}
