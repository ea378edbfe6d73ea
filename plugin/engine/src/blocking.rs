//! Work that blocks on files or the database: away from the tasks, on tokio's threads for it.
//!
//! A simulation is the exception. Which of several threads ends first is chance, and there a seed
//! has to be the same run each time: it asks for its thread's work to be done at once.

use std::cell::Cell;
use std::convert::Infallible;
use std::panic::catch_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

thread_local! {
    static AT_ONCE: Cell<bool> = const { Cell::new(false) };
}

/// From now on, blocking work that tasks on this thread ask for is done on this thread, in the
/// order in which it is asked for. Only for a runtime of one thread whose files never hang.
pub fn at_once_on_this_thread() {
    AT_ONCE.set(true);
}

/// Work that is done again and again until this is dropped; what is under way then still ends.
pub(crate) enum Repeating {
    /// On a thread of its own, which waits for the next time or for the drop of this.
    Thread(#[expect(dead_code, reason = "its drop is the sign")] mpsc::Sender<Infallible>),
    /// In a task.
    Task(JoinHandle<()>),
}

impl Drop for Repeating {
    fn drop(&mut self) {
        if let Self::Task(task) = self {
            task.abort();
        }
    }
}

/// Does `work` now and each time that `period` has passed since it was done. That is not left to
/// tokio's timers: for one of some seconds they wake the runtime several times.
pub(crate) fn every(period: Duration, work: impl FnMut() + Send + 'static) -> Repeating {
    let work = Arc::new(Mutex::new(work));
    if AT_ONCE.get() {
        return Repeating::Task(tokio::spawn(repeat(period, work)));
    }
    let (sign, dropped) = mpsc::channel();
    let theirs = Arc::clone(&work);
    let again = move || {
        loop {
            // A panic is told where it happens; the next time is another chance.
            let _ = catch_unwind(|| once(&theirs));
            if dropped.recv_timeout(period) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
    };
    match thread::Builder::new()
        .name("repeating".to_owned())
        .spawn(again)
    {
        Ok(_) => Repeating::Thread(sign),
        Err(error) => {
            tracing::warn!(%error, "the system gives no thread; one is borrowed each time");
            Repeating::Task(tokio::spawn(repeat(period, work)))
        }
    }
}

async fn repeat<F: FnMut() + Send + 'static>(period: Duration, work: Arc<Mutex<F>>) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let work = Arc::clone(&work);
        run(move || once(&work)).await;
    }
}

fn once(work: &Mutex<impl FnMut()>) {
    // Nobody else holds it, and what a panic left behind is the work's own business.
    (work.lock().unwrap_or_else(PoisonError::into_inner))();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// No test waits for it.
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn work_is_repeated_also_behind_a_panic_and_ends_when_it_is_dropped() {
        let (tell, done) = mpsc::channel();
        let mut times = 0;
        let repeating = every(Duration::from_millis(1), move || {
            times += 1;
            let _ = tell.send(times);
            assert_ne!(times, 1, "the first time goes wrong");
        });
        assert_eq!(done.recv(), Ok(1));
        assert_eq!(done.recv(), Ok(2));
        drop(repeating);
        // The thread lets go of the work, and with it of the channel.
        while done.recv().is_ok() {}
    }

    #[test]
    fn a_drop_does_not_wait_for_the_next_time() {
        let (tell, done) = mpsc::channel();
        let repeating = every(LONG, move || {
            let _ = tell.send(());
        });
        assert_eq!(done.recv(), Ok(()));
        drop(repeating);
        assert!(done.recv().is_err(), "the work is gone");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_repeats_work_as_a_thread_does() {
        let (tell, mut done) = tokio::sync::mpsc::channel(1);
        let work = move || {
            let _ = tell.try_send(());
        };
        let task = tokio::spawn(repeat(LONG, Arc::new(Mutex::new(work))));
        assert_eq!(done.recv().await, Some(()));
        assert_eq!(done.recv().await, Some(()));
        drop(Repeating::Task(task));
        assert_eq!(done.recv().await, None);
    }
}
