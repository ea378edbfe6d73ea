//! What a window manager does, as far as tests need it.

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};
use x11rb::rust_connection::RustConnection;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Asks the window of this title on `display` to close, as a press on its cross does.
///
/// # Errors
/// If there is no such window, or no such screen.
pub(super) fn close(display: &str, title: &str) -> Result<()> {
    let (x, screen) = x11rb::connect(Some(display))?;
    let screen = x.setup().roots.get(screen).ok_or("no screen")?;
    let window = find(&x, screen.root, title)?.ok_or("no such window")?;
    let protocols = x.intern_atom(false, b"WM_PROTOCOLS")?.reply()?.atom;
    let delete = x.intern_atom(false, b"WM_DELETE_WINDOW")?.reply()?.atom;
    let now = 0;
    let message = ClientMessageEvent::new(32, window, protocols, [delete, now, 0, 0, 0]);
    x.send_event(false, window, EventMask::NO_EVENT, message)?
        .check()?;
    Ok(())
}

/// The window of this title at or below `window`.
fn find(x: &RustConnection, window: Window, title: &str) -> Result<Option<Window>> {
    let name = x
        .get_property(false, window, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 1_024)?
        .reply()?;
    if name.value == title.as_bytes() {
        return Ok(Some(window));
    }
    for child in x.query_tree(window)?.reply()?.children {
        if let Some(found) = find(x, child, title)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
