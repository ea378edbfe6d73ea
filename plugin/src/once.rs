//! Carries a request out once, however often it is sent: a page that reloads in the middle sends it
//! again under its id and gets the first answer.

use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Requests remembered: hours of clicking, a few hundred bytes each.
const REMEMBERED_MAX: usize = 1_024;

/// Characters of a request's id.
const ID_MAX: usize = 128;

type Answer = Result<Arc<dyn Any + Send + Sync>>;

/// The requests carried out so far.
#[derive(Default)]
pub(crate) struct Once {
    /// Oldest first.
    seen: Mutex<VecDeque<Seen>>,
}

struct Seen {
    id: String,
    /// Command and arguments, as a digest: arguments may hold a password.
    print: [u8; 32],
    answer: Shared<BoxFuture<'static, Answer>>,
}

impl Once {
    /// Carries `work` out as a task of its own, which goes on when nobody waits for it any more. A
    /// panic in it is an error. With an id that was used for the same `command` and `arguments`,
    /// the first answer is given again; one that failed is tried anew.
    ///
    /// # Errors
    /// `invalidArguments` for an id that is none, or that was used for something else; else what
    /// `work` says.
    pub(crate) async fn run<T: Clone + Send + Sync + 'static>(
        &self,
        id: Option<&str>,
        command: &'static str,
        arguments: &(impl Serialize + Sync),
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let answer = match id {
            None => task(work),
            Some(id) => self.remembered(id, print_of(command, arguments)?, work)?,
        };
        let answer = answer.await?;
        let typed = answer.downcast_ref::<T>();
        typed.cloned().ok_or_else(Error::internal)
    }

    fn remembered<T: Clone + Send + Sync + 'static>(
        &self,
        id: &str,
        print: [u8; 32],
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<Shared<BoxFuture<'static, Answer>>> {
        check(id)?;
        // Held for a look at a short list; the work begins outside of it.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let at = seen.iter().position(|seen| seen.id == id);
        if let Some(found) = at.and_then(|at| seen.get(at)) {
            if found.print != print {
                return Err(Error::invalid_arguments(
                    "This `requestId` was used for another request; draw a new one for each.",
                ));
            }
            let failed = found.answer.peek().is_some_and(Result::is_err);
            if !failed {
                return Ok(found.answer.clone());
            }
        }
        if let Some(at) = at {
            seen.remove(at);
        } else if seen.len() >= REMEMBERED_MAX {
            seen.pop_front();
        }
        let answer = task(work);
        seen.push_back(Seen {
            id: id.to_owned(),
            print,
            answer: answer.clone(),
        });
        Ok(answer)
    }
}

fn task<T: Clone + Send + Sync + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Shared<BoxFuture<'static, Answer>> {
    let task = tauri::async_runtime::spawn(work);
    let answer = async move {
        match task.await {
            Ok(done) => done.map(|value| Arc::new(value) as Arc<dyn Any + Send + Sync>),
            Err(error) => {
                tracing::error!(%error, "a request broke off");
                Err(Error::internal())
            }
        }
    };
    answer.boxed().shared()
}

fn check(id: &str) -> Result<()> {
    let valid = (1..=ID_MAX).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    valid.then_some(()).ok_or_else(|| {
        Error::invalid_arguments("`requestId` takes 1 to 128 letters, digits, `-` and `_`.")
    })
}

fn print_of(command: &'static str, arguments: &impl Serialize) -> Result<[u8; 32]> {
    let arguments = serde_json::to_vec(arguments).map_err(|_| Error::internal())?;
    let mut digest = Sha256::new();
    digest.update(command);
    digest.update([0]);
    digest.update(&arguments);
    Ok(digest.finalize().into())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use pretty_assertions::assert_eq;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::error::Code;

    /// Work that counts how often it is carried out.
    fn counted(times: &Arc<AtomicU32>) -> impl Future<Output = Result<u32>> + use<> {
        let times = Arc::clone(times);
        async move { Ok(times.fetch_add(1, Ordering::Relaxed) + 1) }
    }

    #[tokio::test]
    async fn a_repeated_request_is_carried_out_once() {
        let (once, times) = (Once::default(), Arc::default());
        for _ in 0..3 {
            let answer = once.run(Some("r1"), "pause", &"ses_1", counted(&times));
            assert_eq!(answer.await, Ok(1));
        }
        let another = once.run(Some("r2"), "pause", &"ses_1", counted(&times));
        assert_eq!(another.await, Ok(2));
        let without = once.run(None, "pause", &"ses_1", counted(&times));
        assert_eq!(without.await, Ok(3));
    }

    #[tokio::test]
    async fn a_repetition_while_the_first_runs_waits_for_its_answer() {
        let (once, gate) = (Once::default(), Arc::new(Semaphore::new(0)));
        let times = Arc::default();
        let slow = || {
            let (gate, work) = (Arc::clone(&gate), counted(&times));
            async move {
                gate.acquire()
                    .await
                    .map_err(|_| Error::internal())?
                    .forget();
                work.await
            }
        };
        let first = once.run(Some("r1"), "pause", &"ses_1", slow());
        let second = once.run(Some("r1"), "pause", &"ses_1", slow());
        let open = async {
            tokio::task::yield_now().await;
            gate.add_permits(1);
        };
        let (first, second, ()) = tokio::join!(first, second, open);
        assert_eq!((first, second), (Ok(1), Ok(1)));
    }

    #[tokio::test]
    async fn an_id_means_one_request_only() {
        let (once, times) = (Once::default(), Arc::default());
        let first = once.run(Some("r1"), "pause", &"ses_1", counted(&times));
        first.await.unwrap();
        for (command, session) in [("pause", "ses_2"), ("clear", "ses_1")] {
            let other = once.run(Some("r1"), command, &session, counted(&times));
            assert_eq!(other.await.unwrap_err().code(), Code::InvalidArguments);
        }
        for id in ["", "with space", "ä", &"x".repeat(129)] {
            let refused = once.run(Some(id), "pause", &"ses_1", counted(&times));
            assert_eq!(refused.await.unwrap_err().code(), Code::InvalidArguments);
        }
        assert_eq!(times.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn another_choice_for_the_prompt_is_another_request() {
        use crate::models::{Attachment, ChosenModel, Start};

        let plain = || Start::new("ses_1", "The tests pass.");
        let model = ChosenModel {
            provider_id: "p".to_owned(),
            model_id: "m".to_owned(),
        };
        let file = Attachment {
            name: "a".to_owned(),
            mime: "a/b".to_owned(),
            url: "data:,a".to_owned(),
        };
        let (mut agent, mut other, mut variant, mut files) = (plain(), plain(), plain(), plain());
        agent.agent = Some("plan".to_owned());
        other.model = Some(model);
        variant.variant = Some("high".to_owned());
        files.attachments = vec![file];
        let (once, times) = (Once::default(), Arc::default());
        for _ in 0..2 {
            let again = plain();
            let done = once.run(Some("r1"), "start", &again, counted(&times));
            assert_eq!(done.await, Ok(1));
        }
        for start in [agent, other, variant, files] {
            let refused = once.run(Some("r1"), "start", &start, counted(&times));
            assert_eq!(refused.await.unwrap_err().code(), Code::InvalidArguments);
        }
    }

    #[tokio::test]
    async fn a_failed_request_is_tried_anew_and_a_panic_is_a_failure() {
        let (once, times) = (Once::default(), Arc::default());
        let panics = async {
            std::panic::resume_unwind(Box::new("broken"));
        };
        let broken: Result<u32> = once.run(Some("r1"), "pause", &"ses_1", panics).await;
        assert_eq!(broken.unwrap_err().code(), Code::Internal);
        let again = once.run(Some("r1"), "pause", &"ses_1", counted(&times));
        assert_eq!(again.await, Ok(1));
    }

    #[tokio::test]
    async fn the_memory_is_bounded_and_forgets_the_oldest() {
        let (once, times) = (Once::default(), Arc::default());
        for n in 0..=REMEMBERED_MAX {
            let id = format!("r{n}");
            let done = once.run(Some(&id), "pause", &n, counted(&times)).await;
            done.unwrap();
        }
        assert_eq!(once.seen.lock().unwrap().len(), REMEMBERED_MAX);
        let made = u32::try_from(REMEMBERED_MAX).unwrap() + 1;
        let forgotten = once.run(Some("r0"), "pause", &0, counted(&times)).await;
        assert_eq!(forgotten, Ok(made + 1));
    }
}
