//! Stops long work from inside: its loops call [`poll`], and [`run`] ends when its check says so.
//!
//! The flag that stops belongs to one call. The thread that called asks the check (for signals, in
//! Python) every now and then when it polls; the threads that [`in_threads`] adds read the flag. A
//! poll that finds it set unwinds up to [`run`], as a panic would without its message: nothing in
//! between has to know of half a result, and no loop needs more than one line.
//!
//! So a poll may stand wherever a panic may: memory that is worked in must be safe to drop, and is
//! cleared by whoever uses it next.

use crate::error::Error;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Says if the work is to stop, by an error that gives the reason.
pub type Check = fn() -> Result<(), Error>;

/// How often the check is asked, and how long a thread waits for others between two polls.
pub const PAUSE: Duration = Duration::from_millis(20);

/// A call, as one of its threads sees it.
struct Call {
    stopped: Arc<AtomicBool>,
    /// In the thread that called: what is asked, and when it was last.
    check: Option<(Check, Instant)>,
}

thread_local! {
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// A call that is a thread's own until this is dropped.
struct Here(Option<Call>);

impl Here {
    fn new(call: Option<Call>) -> Self {
        Self(CALL.replace(call))
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        CALL.set(self.0.take());
    }
}

/// What a poll unwinds with: the reason, in the thread that called.
struct Unwound(Option<Error>);

fn unwind(reason: Option<Error>) {
    // What is dropped because of a panic must not panic in its turn.
    if !thread::panicking() {
        resume_unwind(Box::new(Unwound(reason)));
    }
}

/// Ends the work here if its call is to stop; outside of [`run`] it does nothing.
///
/// It costs some tens of nanoseconds: loops call it every ten thousand or so ([`Work`]).
#[inline(never)]
pub fn poll() {
    enum Next {
        Ask(Check),
        Stop,
    }
    let next = CALL.with_borrow_mut(|call| {
        let Call { stopped, check } = call.as_mut()?;
        if stopped.load(Ordering::Relaxed) {
            return Some(Next::Stop);
        }
        let (check, last) = check.as_mut()?;
        (last.elapsed() >= PAUSE).then(|| {
            *last = Instant::now();
            Next::Ask(*check)
        })
    });
    match next {
        None => {}
        Some(Next::Stop) => unwind(None),
        // The check may come to a call of its own.
        Some(Next::Ask(check)) => {
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

/// Polls whenever enough work has been done.
#[derive(Default)]
pub struct Work(usize);

impl Work {
    /// Counts so many more units of work, each of some nanoseconds.
    #[inline(always)]
    pub fn done(&mut self, units: usize) {
        self.0 += units;
        if self.0 >= 1 << 15 {
            self.0 = 0;
            poll();
        }
    }
}

/// Entries of fresh memory that are written between two polls: the system has to find their pages.
const FRESH: usize = 1 << 20;

/// Makes `values` at least this long, with zeros behind what is there.
pub fn lengthen<T: Clone + Default>(values: &mut Vec<T>, length: usize) {
    values.reserve_exact(length.saturating_sub(values.len()));
    while values.len() < length {
        poll();
        values.resize(length.min(values.len() + FRESH), T::default());
    }
}

/// Appends bytes, however many.
#[inline]
pub fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    to.reserve(bytes.len());
    if bytes.len() <= FRESH {
        to.extend_from_slice(bytes);
        return;
    }
    for part in bytes.chunks(FRESH) {
        poll();
        to.extend_from_slice(part);
    }
}

/// Does `work`, which may poll, until it is done or `check` stops it.
pub fn run<T>(check: Check, work: impl FnOnce() -> T) -> Result<T, Error> {
    let call = Call { stopped: Arc::default(), check: Some((check, Instant::now())) };
    let here = Here::new(Some(call));
    let done = catch_unwind(AssertUnwindSafe(work));
    drop(here);
    done.or_else(|panic| match panic.downcast::<Unwound>() {
        Ok(unwound) => Err(unwound.0.unwrap_or_else(|| Error::Stopped(Box::new(())))),
        Err(panic) => resume_unwind(panic),
    })
}

/// The results of `own` in this thread and of `other` in all others. A thread that the system does not
/// grant is one fewer: they share the work, and it gets done.
///
/// They all belong to the call of this thread, which goes on polling while it waits for them.
pub fn in_threads<T: Send>(
    threads: usize,
    own: impl FnOnce() -> T,
    other: impl Fn() -> T + Sync,
) -> Vec<T> {
    if threads < 2 {
        return vec![own()];
    }
    let stopped = CALL.with_borrow(|call| call.as_ref().map(|call| Arc::clone(&call.stopped)));
    let running = Running { count: AtomicUsize::new(0), owner: thread::current() };
    let other = || {
        let _one = One(&running);
        let call = stopped.clone().map(|stopped| Call { stopped, check: None });
        let _here = Here::new(call);
        other()
    };
    thread::scope(|scope| {
        let mut others = Vec::new();
        for _ in 1..threads {
            running.count.fetch_add(1, Ordering::Relaxed);
            match thread::Builder::new().spawn_scoped(scope, other) {
                Ok(thread) => others.push(thread),
                Err(_) => {
                    running.count.fetch_sub(1, Ordering::Relaxed);
                    break;
                }
            }
        }
        let mut results = vec![own()];
        while running.count.load(Ordering::Acquire) > 0 {
            poll();
            thread::park_timeout(PAUSE);
        }
        for thread in others {
            match thread.join() {
                Ok(result) => results.push(result),
                Err(panic) => resume_unwind(panic),
            }
        }
        results
    })
}

/// The number of threads that work beside the one that waits for them.
struct Running {
    count: AtomicUsize,
    owner: thread::Thread,
}

/// One of them, until this is dropped.
struct One<'a>(&'a Running);

impl Drop for One<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Release);
        self.0.owner.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn always() -> Result<(), Error> {
        Err(Error::Input("enough".to_owned()))
    }

    fn forever() -> ! {
        let mut work = Work::default();
        loop {
            work.done(1);
        }
    }

    #[test]
    fn work_without_an_end_stops() {
        let Err(error) = run(always, || -> () { forever() }) else { panic!("it ended") };
        assert_eq!(error.to_string(), "enough");
    }

    #[test]
    fn so_do_all_threads_whoever_has_the_most_to_do() {
        for threads in [1, 2, 5] {
            let all = run(always, || in_threads(threads, || forever(), || forever()).len());
            assert!(all.is_err());
        }
        let others = run(always, || in_threads(3, || (), || forever()).len());
        assert!(others.is_err());
    }

    #[test]
    fn calls_do_not_stop_each_other() {
        let outer = run(always, || {
            // The inner call stops; the outer one has not asked yet.
            let inner = run(always, || -> () { forever() });
            inner.is_err()
        });
        assert!(outer.is_ok_and(|stopped| stopped));
        let results = in_threads(3, || true, || run(always, || -> () { forever() }).is_err());
        assert_eq!(results, [true; 3]);
    }

    #[test]
    fn outside_of_a_call_a_poll_does_nothing() {
        for _ in 0..100 {
            poll();
        }
        assert_eq!(run(|| Ok(()), || 7).ok(), Some(7));
    }
}
