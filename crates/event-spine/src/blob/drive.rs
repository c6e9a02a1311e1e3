//! Owns running an async store for a blocking caller, wherever the caller stands.
//!
//! Tokio panics when a runtime is entered from within another one, and `futures` when its executors nest. So a call is
//! polled here, on the caller's own thread, with nothing but park and unpark. Stores that talk to a network need a
//! reactor beside that: theirs runs on a thread of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::sync::oneshot;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(), // may wake for nothing; the poll finds out
        }
    }
}

/// A thread with a tokio runtime. It ends when this is dropped.
pub(super) struct Reactor {
    handle: tokio::runtime::Handle,
    _alive: oneshot::Sender<()>,
}

impl Reactor {
    pub(super) fn start() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (alive, dropped) = oneshot::channel::<()>();
        thread::Builder::new().name("spine-blobs".into()).spawn(move || {
            let _ = runtime.block_on(dropped); // an error is the sign to stop: the sender is gone
        })?;
        Ok(Self { handle, _alive: alive })
    }

    /// Runs a future on the reactor's thread and waits for it; nothing when it panicked there.
    pub(super) fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        block_on(self.handle.spawn(future)).ok()
    }
}
