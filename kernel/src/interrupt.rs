//! Interruption of long work: loops call [`poll`], and [`run`] ends when its check returns an
//! error.
//!
//! Each call of [`run`] has its own stop flag. The calling thread regularly calls the check (in
//! Python, for signals) when it polls; threads added by [`in_threads`] read the flag. If the flag
//! is set, the poll unwinds to [`run`], like a panic without a message. Intermediate functions
//! therefore need no handling of partial results, and a loop needs only one line.
//!
//! Code may poll only where a panic would be harmless: buffers must be safe to drop, and the next
//! user must clear them.

use crate::error::Error;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A function that returns an error with the reason if the work must stop.
pub type Check = fn() -> Result<(), Error>;

/// The interval between two checks, and the maximum time that a thread waits between two polls.
pub const PAUSE: Duration = Duration::from_millis(20);

/// Lock a mutex, ignoring poisoning: an interruption unwinds while locks are held.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of one thread during a call of [`run`].
struct Call {
    stopped: Arc<AtomicBool>,
    /// In the calling thread: the check, and the time of its last call.
    check: Option<(Check, Instant)>,
}

thread_local! {
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// A guard that marks a call as a thread's current call until it is dropped.
struct CallScope(Option<Call>);

impl CallScope {
    fn new(call: Option<Call>) -> Self {
        Self(CALL.replace(call))
    }
}

impl Drop for CallScope {
    fn drop(&mut self) {
        CALL.set(self.0.take());
    }
}

/// The panic payload of an interrupted poll. In the calling thread, it contains the reason.
struct Interruption(Option<Error>);

fn unwind(reason: Option<Error>) {
    // A panic during unwinding would abort the process.
    if !thread::panicking() {
        resume_unwind(Box::new(Interruption(reason)));
    }
}

/// Unwind if the current call of [`run`] must stop. Outside of [`run`], do nothing.
///
/// A poll takes tens of nanoseconds. Loops call it about once per ten thousand steps (see
/// [`Work`]).
#[inline(never)]
pub fn poll() {
    enum PollAction {
        Ask(Check),
        Stop,
    }
    let next = CALL.with_borrow_mut(|call| {
        let Call { stopped, check } = call.as_mut()?;
        if stopped.load(Ordering::Relaxed) {
            return Some(PollAction::Stop);
        }
        let (check, last) = check.as_mut()?;
        (last.elapsed() >= PAUSE).then(|| {
            *last = Instant::now();
            PollAction::Ask(*check)
        })
    });
    match next {
        None => {}
        Some(PollAction::Stop) => unwind(None),
        // The check may itself call `run`.
        Some(PollAction::Ask(check)) => {
            if let Err(reason) = check() {
                CALL.with_borrow(|call| {
                    if let Some(call) = call {
                        call.stopped.store(true, Ordering::Relaxed);
                    }
                });
                unwind(Some(reason));
            }
        }
    }
}

/// A counter that polls whenever enough work has been done.
#[derive(Default)]
pub struct Work(usize);

impl Work {
    /// Record `units` units of work. A unit takes a few nanoseconds.
    #[inline(always)]
    pub fn add(&mut self, units: usize) {
        self.0 += units;
        if self.0 >= 1 << 15 {
            self.0 = 0;
            poll();
        }
    }
}

/// Number of entries written to new memory between two polls; mapping new pages is slow.
const MAX_UNPOLLED_ENTRIES: usize = 1 << 20;

/// Extend `values` with zeros to at least this length, polling if there are many.
pub fn extend_to<T: Clone + Default>(values: &mut Vec<T>, length: usize) {
    values.reserve_exact(length.saturating_sub(values.len()));
    while values.len() < length {
        values.resize(length.min(values.len() + MAX_UNPOLLED_ENTRIES), T::default());
        if values.len() < length {
            poll();
        }
    }
}

/// Append bytes, polling if there are many.
#[inline]
pub fn append(target: &mut Vec<u8>, bytes: &[u8]) {
    target.reserve(bytes.len());
    if bytes.len() <= MAX_UNPOLLED_ENTRIES {
        target.extend_from_slice(bytes);
        return;
    }
    for part in bytes.chunks(MAX_UNPOLLED_ENTRIES) {
        poll();
        target.extend_from_slice(part);
    }
}

/// Run `work`, which may poll, until it ends or `check` stops it.
pub fn run<T>(check: Check, work: impl FnOnce() -> T) -> Result<T, Error> {
    let call = Call { stopped: Arc::default(), check: Some((check, Instant::now())) };
    let call_scope = CallScope::new(Some(call));
    let result = catch_unwind(AssertUnwindSafe(work));
    drop(call_scope);
    result.or_else(|panic| match panic.downcast::<Interruption>() {
        Ok(unwound) => Err(unwound.0.unwrap_or_else(|| Error::Stopped(Box::new(())))),
        Err(panic) => resume_unwind(panic),
    })
}

/// Return the results of `own_work` in this thread and of `other_work` in all other threads. If the
/// system refuses to create a thread, the other threads do its work.
///
/// All threads belong to the call of this thread, which polls while it waits for them.
pub fn in_threads<T: Send>(
    threads: usize,
    own_work: impl FnOnce() -> T,
    other_work: impl Fn() -> T + Sync,
) -> Vec<T> {
    if threads < 2 {
        return vec![own_work()];
    }
    let stopped = CALL.with_borrow(|call| call.as_ref().map(|call| Arc::clone(&call.stopped)));
    let running = RunningThreads { count: AtomicUsize::new(0), owner: thread::current() };
    let run_other = || {
        let _counter = ThreadRegistration(&running);
        let call = stopped.clone().map(|stopped| Call { stopped, check: None });
        let _scope = CallScope::new(call);
        other_work()
    };
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for _ in 1..threads {
            running.count.fetch_add(1, Ordering::Relaxed);
            match thread::Builder::new().spawn_scoped(scope, run_other) {
                Ok(thread) => handles.push(thread),
                Err(_) => {
                    running.count.fetch_sub(1, Ordering::Relaxed);
                    break;
                }
            }
        }
        let mut results = vec![own_work()];
        while running.count.load(Ordering::Acquire) > 0 {
            poll();
            thread::park_timeout(PAUSE);
        }
        for thread in handles {
            match thread.join() {
                Ok(result) => results.push(result),
                Err(panic) => resume_unwind(panic),
            }
        }
        results
    })
}

/// The number of running threads, excluding the thread that waits for them.
struct RunningThreads {
    count: AtomicUsize,
    owner: thread::Thread,
}

/// A guard that registers a running thread until it is dropped.
struct ThreadRegistration<'a>(&'a RunningThreads);

impl Drop for ThreadRegistration<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Release);
        self.0.owner.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop_at_once() -> Result<(), Error> {
        Err(Error::Input("enough".to_owned()))
    }

    fn work_forever() -> ! {
        let mut work = Work::default();
        loop {
            work.add(1);
        }
    }

    #[test]
    fn test_endless_work_stops() {
        let Err(error) = run(stop_at_once, || -> () { work_forever() }) else {
            panic!("the work ended")
        };
        assert_eq!(error.to_string(), "enough");
    }

    #[test]
    fn test_all_threads_stop() {
        for threads in [1, 2, 5] {
            let result = run(stop_at_once, || {
                in_threads(threads, || work_forever(), || work_forever()).len()
            });
            assert!(result.is_err());
        }
        let result = run(stop_at_once, || in_threads(3, || (), || work_forever()).len());
        assert!(result.is_err());
    }

    #[test]
    fn test_nested_calls_stop_independently() {
        let outer = run(stop_at_once, || {
            // The inner call stops, but the outer call has not called its check yet.
            let inner = run(stop_at_once, || -> () { work_forever() });
            inner.is_err()
        });
        assert!(outer.is_ok_and(|stopped| stopped));
        let results =
            in_threads(3, || true, || run(stop_at_once, || -> () { work_forever() }).is_err());
        assert_eq!(results, [true; 3]);
    }

    #[test]
    fn test_poll_outside_of_run_has_no_effect() {
        for _ in 0..100 {
            poll();
        }
        assert_eq!(run(|| Ok(()), || 7).ok(), Some(7));
    }
}
