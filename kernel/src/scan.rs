//! From sources to rows: batches are taken in turn, lexed and matched, by one thread or several.
//!
//! Every thread takes the next batch from all sources at once and works on it alone. Rows are
//! integers and know their place, so the result is the same however many threads there are.

use crate::count::{self, Count, Formula, Names, Summary};
use crate::error::Error;
use crate::interrupt::{self, in_threads};
use crate::text_batches::{Batch, Block, MOST_SEGMENTS, Source, Want};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of hypotheses per batch, about. Its tokens stay in the second-level cache.
const BATCH_BYTES: usize = 1 << 16;

/// The hypotheses and the references of one run.
pub struct Inputs {
    /// One segment each.
    pub hypotheses: Box<dyn Source>,
    /// Each source gives one reference per segment, or several.
    pub references: Vec<Box<dyn Source>>,
}

/// The sources, and how far they have been read.
struct Feed {
    /// The hypotheses first.
    sources: Vec<Box<dyn Source>>,
    /// The number of segments each source has given.
    given: Vec<u64>,
    batches: usize,
    ended: bool,
    /// Pause before the batch that would start at this segment.
    limit: u64,
}

/// The same segments of all inputs, as they were read.
struct Work {
    number: usize,
    first: u64,
    count: usize,
    hypotheses: Block,
    references: Vec<Block>,
}

impl Work {
    fn texts<'a>(&'a self, names: &'a Names) -> count::Batch<'a> {
        let Self { first, count, hypotheses, references, .. } = self;
        count::Batch { first: *first, count: *count, hypotheses, references, names }
    }
}

impl Feed {
    fn new(inputs: Inputs) -> Self {
        let sources: Vec<_> = std::iter::once(inputs.hypotheses).chain(inputs.references).collect();
        Self { given: vec![0; sources.len()], sources, batches: 0, ended: false, limit: u64::MAX }
    }

    fn read(&mut self, source: usize, want: Want) -> Result<Option<Batch>, Error> {
        let batch = self.sources[source].next(want)?;
        self.given[source] += batch.as_ref().map_or(0, |batch| batch.count as u64);
        Ok(batch)
    }

    fn next(&mut self) -> Result<Option<Work>, Error> {
        if self.ended || self.given[0] >= self.limit {
            return Ok(None);
        }
        // Until it is known to be otherwise: an error ends the feed as well.
        self.ended = true;
        let first = self.given[0];
        let hypotheses = self.read(0, Want::Bytes(BATCH_BYTES))?;
        let count = hypotheses.as_ref().map_or(0, |batch| batch.count);
        let mut references = Vec::new();
        for source in 1..self.sources.len() {
            // At the end of the hypotheses, the references must not go on.
            let batch = self.read(source, Want::Segments(count.max(1)))?;
            if batch.as_ref().map_or(0, |batch| batch.count) != count {
                return Err(self.lengths());
            }
            references.extend(batch.into_iter().flat_map(|batch| batch.streams));
        }
        let Some(hypotheses) = hypotheses.and_then(|batch| batch.streams.into_iter().next()) else {
            return Ok(None);
        };
        let number = self.batches;
        self.batches += 1;
        self.ended = false;
        Ok(Some(Work { number, first, count, hypotheses, references }))
    }

    /// The error for inputs of different lengths. Reads all of them to their ends to count.
    fn lengths(&mut self) -> Error {
        let mut counts = Vec::new();
        for (source, given) in self.sources.iter_mut().zip(&self.given) {
            match count_rest(source.as_mut()) {
                Ok(rest) => counts.push((source.name().to_owned(), given + rest)),
                Err(error) => return error,
            }
        }
        Error::Lengths(counts)
    }
}

/// The number of segments a source has left.
fn count_rest(source: &mut dyn Source) -> Result<u64, Error> {
    let mut count = 0;
    while let Some(batch) = source.next(Want::Segments(MOST_SEGMENTS))? {
        interrupt::poll();
        count += batch.count as u64;
    }
    Ok(count)
}

/// Takes the rows of a batch: its number, and its rows.
pub trait Sink: Send {
    /// Takes them.
    fn take(&mut self, batch: usize, rows: &[i64]);
}

/// The feed, in the hands of one thread at a time. The others poll while they wait for it.
struct Turns {
    feed: Mutex<Feed>,
    taken: Mutex<bool>,
    free: Condvar,
}

impl Turns {
    fn take(&self) -> Turn<'_> {
        loop {
            let mut taken = lock(&self.taken);
            if *taken {
                let wait = self.free.wait_timeout(taken, interrupt::PAUSE);
                taken = wait.unwrap_or_else(PoisonError::into_inner).0;
            }
            if !*taken {
                *taken = true;
                return Turn { feed: lock(&self.feed), turns: self };
            }
            drop(taken);
            interrupt::poll();
        }
    }
}

/// The feed, until this is dropped.
struct Turn<'a> {
    feed: MutexGuard<'a, Feed>,
    turns: &'a Turns,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.turns.taken) = false;
        self.turns.free.notify_one();
    }
}

/// A run over inputs, all at once or in pieces.
pub struct Scan {
    turns: Turns,
    names: Names,
    busy: AtomicBool,
}

/// The part of a run that is being done; one that is not done to its end ends the run.
struct Part<'a> {
    scan: &'a Scan,
    whole: bool,
}

impl<'a> Part<'a> {
    fn new(scan: &'a Scan) -> Result<Self, Error> {
        match scan.busy.swap(true, Ordering::Acquire) {
            false => Ok(Self { scan, whole: false }),
            // To wait for it would be forever, if it waits for us.
            true => Err(Error::Busy),
        }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if !self.whole {
            lock(&self.scan.turns.feed).ended = true;
        }
        self.scan.busy.store(false, Ordering::Release);
    }
}

impl Scan {
    /// A run that has not read anything yet.
    pub fn new(inputs: Inputs) -> Self {
        let feed = Feed::new(inputs);
        let names = Names(feed.sources.iter().map(|source| source.name().to_owned()).collect());
        let turns =
            Turns { feed: Mutex::new(feed), taken: Mutex::new(false), free: Condvar::new() };
        Self { turns, names, busy: AtomicBool::new(false) }
    }

    /// Counts the next segments, about `segments` of them or all that are left (`None`), with a
    /// thread for each sink.
    ///
    /// `check` is called now and then by the calling thread, with the number of segments taken so
    /// far, and may stop the run. Of several errors the first in the text is given. No segments
    /// in the summary means the end.
    ///
    /// A source that may wait, or that calls what others wrote, is read by the calling thread
    /// alone: only that one can be interrupted, and the source is slower than the counting anyway.
    pub fn run<S: Sink>(
        &self,
        counter: &Arc<dyn Count>,
        segments: Option<u64>,
        sinks: &mut [S],
        check: &mut dyn FnMut(u64) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let mut part = Part::new(self)?;
        let mut threads = sinks.len();
        {
            let feed = &mut self.turns.take().feed;
            if feed.sources.iter().any(|source| source.waits()) {
                threads = 1;
            }
            feed.limit = segments.map_or(u64::MAX, |more| feed.given[0].saturating_add(more));
        }
        let sinks = Mutex::new(sinks.iter_mut());
        let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let work = |check: &mut dyn FnMut(u64) -> Result<(), Error>| {
            let mut summary = Summary::default();
            let Some(sink) = lock(&sinks).next() else { return summary };
            if let Err((batch, error)) = self.work(counter, sink, check, &mut summary) {
                let mut failed = lock(&failed);
                if failed.as_ref().is_none_or(|(earlier, _)| batch < *earlier) {
                    *failed = Some((batch, error));
                }
                drop(failed);
                self.turns.take().feed.ended = true;
            }
            summary
        };
        let mut summary = Summary::default();
        for part in in_threads(threads, || work(check), || work(&mut |_| Ok(()))) {
            summary.merge(part);
        }
        part.whole = true;
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(summary),
        }
    }

    /// One thread's part; an error comes with the number of its batch.
    fn work<S: Sink>(
        &self,
        counter: &Arc<dyn Count>,
        sink: &mut S,
        check: &mut dyn FnMut(u64) -> Result<(), Error>,
        summary: &mut Summary,
    ) -> Result<(), (usize, Error)> {
        let mut worker = Arc::clone(counter).worker();
        let mut taken = 0;
        loop {
            interrupt::poll();
            check(taken).map_err(|error| (0, error))?;
            let next = {
                let feed = &mut self.turns.take().feed;
                taken = feed.given[0];
                let number = feed.batches;
                feed.next().map_err(|error| (number, error))?
            };
            let Some(batch) = next else { return Ok(()) };
            let number = batch.number;
            let rows = worker.count(&batch.texts(&self.names), summary);
            sink.take(number, rows.map_err(|error| (number, error))?);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds rows up.
#[derive(Clone, Debug)]
pub struct Totals(pub Vec<i64>);

impl Sink for Totals {
    fn take(&mut self, _batch: usize, rows: &[i64]) {
        for row in rows.chunks_exact(self.0.len()) {
            for (total, value) in self.0.iter_mut().zip(row) {
                *total += value;
            }
        }
    }
}

/// Turns each row into a score at once, and keeps nothing else.
pub struct Scored<'a> {
    formula: &'a dyn Formula,
    width: usize,
    scores: Vec<(usize, Vec<f64>)>,
}

impl<'a> Scored<'a> {
    /// Scores rows of this width.
    pub fn new(formula: &'a dyn Formula, width: usize) -> Self {
        Self { formula, width, scores: Vec::new() }
    }

    /// The scores of all threads, in the order of their segments.
    pub fn joined(parts: Vec<Self>) -> Vec<f64> {
        let mut parts: Vec<_> = parts.into_iter().flat_map(|part| part.scores).collect();
        parts.sort_unstable_by_key(|(batch, _)| *batch);
        parts.into_iter().flat_map(|(_, scores)| scores).collect()
    }
}

impl Sink for Scored<'_> {
    fn take(&mut self, batch: usize, rows: &[i64]) {
        let scores = rows.chunks_exact(self.width).map(|row| self.formula.score(row));
        self.scores.push((batch, scores.collect()));
    }
}

/// Keeps all rows.
#[derive(Clone, Debug, Default)]
pub struct Rows(Vec<(usize, Vec<i64>)>);

impl Sink for Rows {
    fn take(&mut self, batch: usize, rows: &[i64]) {
        self.0.push((batch, rows.to_vec()));
    }
}

impl Rows {
    /// The rows of all threads, in the order of their segments.
    pub fn joined(parts: Vec<Self>) -> Vec<i64> {
        let mut parts: Vec<_> = parts.into_iter().flat_map(|part| part.0).collect();
        parts.sort_unstable_by_key(|(batch, _)| *batch);
        parts.into_iter().flat_map(|(_, rows)| rows).collect()
    }
}
