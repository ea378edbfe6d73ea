//! Work that blocks on files or the database: away from the tasks, on tokio's threads for it.
//!
//! A simulation is the exception. Which of several threads ends first is chance, and there a seed
//! has to be the same run each time: it asks for its thread's work to be done at once.

use std::cell::Cell;

thread_local! {
    static AT_ONCE: Cell<bool> = const { Cell::new(false) };
}

/// From now on, blocking work that tasks on this thread ask for is done on this thread, in the
/// order in which it is asked for. Only for a runtime of one thread whose files never hang.
pub fn at_once_on_this_thread() {
    AT_ONCE.set(true);
}

/// Work that was begun and that nobody waits for.
pub(crate) struct Begun(tokio::task::JoinHandle<()>);

impl Begun {
    /// Whether it came to its end.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_finished()
    }
}

/// Begins `work`; whoever asked for it is not woken when it is done.
pub(crate) fn begin(work: impl FnOnce() + Send + 'static) -> Begun {
    if AT_ONCE.get() {
        return Begun(tokio::spawn(async move { work() }));
    }
    Begun(tokio::task::spawn_blocking(work))
}

/// Does `work` and gives what it came to. `None`: it panicked, or the program is ending.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if AT_ONCE.get() {
        // Other tasks get their turn here, as they do while a thread works.
        tokio::task::yield_now().await;
        return Some(work());
    }
    tokio::task::spawn_blocking(work).await.ok()
}
