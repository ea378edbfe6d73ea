//! Panics of the product, noticed although the runtime swallows those of its tasks.

use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    // A test under paused time runs all its tasks on its own thread.
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

static WATCH: Once = Once::new();

/// From now on, panics in the product's own files are noted.
pub(crate) fn watch() {
    WATCH.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            if place.contains("plugin/") {
                PANICS.with(|panics| panics.borrow_mut().push(info.to_string()));
            }
            before(info);
        }));
    });
}

/// The panics on this thread since they were last asked for.
pub(crate) fn taken() -> Vec<String> {
    PANICS.with(|panics| std::mem::take(&mut *panics.borrow_mut()))
}
