//! A scan reads sources in batches, and lexes and counts the batches with one or more threads.
//!
//! Each thread claims the next batch of all sources and processes it independently. Rows are
//! integers and keep their batch number, so the result does not depend on the number of threads.

use crate::count::{self, Count, Formula, InputNames, Summary};
use crate::error::Error;
use crate::interrupt::{self, in_threads, lock};
use crate::text_batches::{Batch, BatchSize, Block, MAX_BATCH_SEGMENTS, Source};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Approximate number of bytes of hypotheses per batch, chosen so that the batch's tokens fit in
/// the second-level cache.
const BATCH_BYTES: usize = 1 << 16;

/// The hypotheses and the references of a run.
pub struct Inputs {
    /// The source of the hypotheses, one per segment.
    pub hypotheses: Box<dyn Source>,
    /// The sources of the references, each with one or more references per segment.
    pub references: Vec<Box<dyn Source>>,
}

/// The sources and their read positions.
struct BatchFeed {
    /// All sources, with the hypotheses first.
    sources: Vec<Box<dyn Source>>,
    /// The number of segments read from each source.
    segment_counts: Vec<u64>,
    batches: usize,
    has_ended: bool,
    /// Reading pauses before the first batch that starts at this segment or later.
    limit: u64,
}

/// One range of segments from all inputs, before lexing.
struct UnlexedBatch {
    number: usize,
    first: u64,
    count: usize,
    hypotheses: Block,
    references: Vec<Block>,
}

impl UnlexedBatch {
    fn as_batch<'a>(&'a self, names: &'a InputNames, has_warnings: bool) -> count::Batch<'a> {
        let Self { first, count, hypotheses, references, .. } = self;
        let (first, count) = (*first, *count);
        count::Batch { first, count, hypotheses, references, names, has_warnings }
    }
}

impl BatchFeed {
    fn new(inputs: Inputs) -> Self {
        let sources: Vec<_> = std::iter::once(inputs.hypotheses).chain(inputs.references).collect();
        Self {
            segment_counts: vec![0; sources.len()],
            sources,
            batches: 0,
            has_ended: false,
            limit: u64::MAX,
        }
    }

    /// Read the next batch of a source.
    fn read_batch(&mut self, source: usize, size: BatchSize) -> Result<Option<Batch>, Error> {
        let batch = self.sources[source].next(size)?;
        self.segment_counts[source] += batch.as_ref().map_or(0, |batch| batch.count as u64);
        Ok(batch)
    }

    /// Return the next batch of all sources, or `None` at the end or at the limit.
    fn next(&mut self) -> Result<Option<UnlexedBatch>, Error> {
        if self.has_ended || self.segment_counts[0] >= self.limit {
            return Ok(None);
        }
        // The feed is marked as ended until the batch is complete, so that an error also ends it.
        self.has_ended = true;
        let first = self.segment_counts[0];
        let hypotheses = self.read_batch(0, BatchSize::Bytes(BATCH_BYTES))?;
        let count = hypotheses.as_ref().map_or(0, |batch| batch.count);
        let mut references = Vec::new();
        for source in 1..self.sources.len() {
            // When the hypotheses end, the references must end, too.
            let batch = self.read_batch(source, BatchSize::Segments(count.max(1)))?;
            if batch.as_ref().map_or(0, |batch| batch.count) != count {
                return Err(self.length_error());
            }
            references.extend(batch.into_iter().flat_map(|batch| batch.streams));
        }
        let Some(hypotheses) = hypotheses.and_then(|batch| batch.streams.into_iter().next()) else {
            return Ok(None);
        };
        let number = self.batches;
        self.batches += 1;
        self.has_ended = false;
        Ok(Some(UnlexedBatch { number, first, count, hypotheses, references }))
    }

    /// Return the error for inputs of different lengths, after reading all inputs to count them.
    fn length_error(&mut self) -> Error {
        let mut counts = Vec::new();
        for (source, segment_count) in self.sources.iter_mut().zip(&self.segment_counts) {
            match count_remaining(source.as_mut()) {
                Ok(remaining) => counts.push((source.name().to_owned(), segment_count + remaining)),
                Err(error) => return error,
            }
        }
        Error::Lengths(counts)
    }
}

/// Return the number of remaining segments of a source.
fn count_remaining(source: &mut dyn Source) -> Result<u64, Error> {
    let mut count = 0;
    while let Some(batch) = source.next(BatchSize::Segments(MAX_BATCH_SEGMENTS))? {
        interrupt::poll();
        count += batch.count as u64;
    }
    Ok(count)
}

/// A receiver of the rows of each batch.
pub trait Sink: Send {
    /// Receive the rows of a batch, given its number.
    fn take(&mut self, batch: usize, rows: &[i64]);
}

/// Exclusive access to the feed for one thread at a time. Waiting threads poll for interrupts.
struct FeedAccess {
    feed: Mutex<BatchFeed>,
    is_taken: Mutex<bool>,
    released: Condvar,
}

impl FeedAccess {
    /// Wait for exclusive access.
    fn acquire(&self) -> FeedGuard<'_> {
        loop {
            let mut is_taken = lock(&self.is_taken);
            if *is_taken {
                let wait = self.released.wait_timeout(is_taken, interrupt::PAUSE);
                is_taken = wait.unwrap_or_else(PoisonError::into_inner).0;
            }
            if !*is_taken {
                *is_taken = true;
                return FeedGuard { feed: lock(&self.feed), access: self };
            }
            drop(is_taken);
            interrupt::poll();
        }
    }
}

/// A guard that gives exclusive access to the feed until it is dropped.
struct FeedGuard<'a> {
    feed: MutexGuard<'a, BatchFeed>,
    access: &'a FeedAccess,
}

impl Drop for FeedGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.access.is_taken) = false;
        self.access.released.notify_one();
    }
}

/// A run over the inputs, in one or more parts.
pub struct Scan {
    access: FeedAccess,
    names: InputNames,
    is_busy: AtomicBool,
    /// Whether to collect the counts for warnings about the texts.
    pub has_warnings: bool,
}

/// A guard for a part of a run. If the guard is dropped before the part is complete, the run ends.
struct RunPart<'a> {
    scan: &'a Scan,
    is_complete: bool,
}

impl<'a> RunPart<'a> {
    fn new(scan: &'a Scan) -> Result<Self, Error> {
        match scan.is_busy.swap(true, Ordering::Acquire) {
            false => Ok(Self { scan, is_complete: false }),
            // Waiting could deadlock if the other part waits for this thread.
            true => Err(Error::Busy),
        }
    }
}

impl Drop for RunPart<'_> {
    fn drop(&mut self) {
        if !self.is_complete {
            lock(&self.scan.access.feed).has_ended = true;
        }
        self.scan.is_busy.store(false, Ordering::Release);
    }
}

impl Scan {
    /// Create a run that has not read anything.
    pub fn new(inputs: Inputs) -> Self {
        let feed = BatchFeed::new(inputs);
        let names =
            InputNames(feed.sources.iter().map(|source| source.name().to_owned()).collect());
        let turns = FeedAccess {
            feed: Mutex::new(feed),
            is_taken: Mutex::new(false),
            released: Condvar::new(),
        };
        Self { access: turns, names, is_busy: AtomicBool::new(false), has_warnings: true }
    }

    /// Count about `segments` further segments, or all remaining segments (`None`), with one thread
    /// per sink.
    ///
    /// The calling thread regularly calls `check` with the number of segments read so far; an error
    /// from `check` stops the run. If several errors occur, the first in the text is returned. A
    /// summary without segments means that the end was reached.
    ///
    /// Only the calling thread reads a source that may wait or that calls foreign code: only this
    /// thread can be interrupted, and reading such a source takes longer than counting.
    pub fn run<S: Sink>(
        &self,
        counter: &Arc<dyn Count>,
        segments: Option<u64>,
        sinks: &mut [S],
        check: &mut dyn FnMut(u64) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let mut part_guard = RunPart::new(self)?;
        let mut threads = sinks.len();
        {
            let feed = &mut self.access.acquire().feed;
            if feed.sources.iter().any(|source| source.may_wait()) {
                threads = 1;
            }
            feed.limit = segments.map_or(u64::MAX, |segment_limit| {
                feed.segment_counts[0].saturating_add(segment_limit)
            });
        }
        let sinks = Mutex::new(sinks.iter_mut());
        let first_error: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let work = |check: &mut dyn FnMut(u64) -> Result<(), Error>| {
            let mut summary = Summary::default();
            let Some(sink) = lock(&sinks).next() else { return summary };
            if let Err((batch, error)) = self.process_batches(counter, sink, check, &mut summary) {
                let mut first_error = lock(&first_error);
                if first_error.as_ref().is_none_or(|(earlier, _)| batch < *earlier) {
                    *first_error = Some((batch, error));
                }
                drop(first_error);
                self.access.acquire().feed.has_ended = true;
            }
            summary
        };
        let mut summary = Summary::default();
        for part_summary in in_threads(threads, || work(check), || work(&mut |_| Ok(()))) {
            summary.merge(part_summary);
        }
        part_guard.is_complete = true;
        match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(summary),
        }
    }

    /// Process batches in one thread. On an error, also return the number of its batch.
    fn process_batches<S: Sink>(
        &self,
        counter: &Arc<dyn Count>,
        sink: &mut S,
        check: &mut dyn FnMut(u64) -> Result<(), Error>,
        summary: &mut Summary,
    ) -> Result<(), (usize, Error)> {
        let mut worker = Arc::clone(counter).worker();
        let mut segments_read = 0;
        loop {
            interrupt::poll();
            check(segments_read).map_err(|error| (0, error))?;
            let next = {
                let feed = &mut self.access.acquire().feed;
                segments_read = feed.segment_counts[0];
                let number = feed.batches;
                feed.next().map_err(|error| (number, error))?
            };
            let Some(batch) = next else { return Ok(()) };
            let number = batch.number;
            let rows = worker.count(&batch.as_batch(&self.names, self.has_warnings), summary);
            sink.take(number, rows.map_err(|error| (number, error))?);
        }
    }
}

/// A sink that sums rows.
#[derive(Clone, Debug)]
pub struct RowTotals(pub Vec<i64>);

impl Sink for RowTotals {
    fn take(&mut self, _batch: usize, rows: &[i64]) {
        for row in rows.chunks_exact(self.0.len()) {
            for (total, value) in self.0.iter_mut().zip(row) {
                *total += value;
            }
        }
    }
}

/// A sink that converts each row to a score and discards the row.
pub struct RowScores<'a> {
    formula: &'a dyn Formula,
    width: usize,
    scores: Vec<(usize, Vec<f64>)>,
}

impl<'a> RowScores<'a> {
    /// Create a sink for rows of this width.
    pub fn new(formula: &'a dyn Formula, width: usize) -> Self {
        Self { formula, width, scores: Vec::new() }
    }

    /// Return the scores of all threads, in the order of their segments.
    pub fn merge(parts: Vec<Self>) -> Vec<f64> {
        let mut parts: Vec<_> = parts.into_iter().flat_map(|part| part.scores).collect();
        parts.sort_unstable_by_key(|(batch, _)| *batch);
        parts.into_iter().flat_map(|(_, scores)| scores).collect()
    }
}

impl Sink for RowScores<'_> {
    fn take(&mut self, batch: usize, rows: &[i64]) {
        let scores = rows.chunks_exact(self.width).map(|row| self.formula.score(row));
        self.scores.push((batch, scores.collect()));
    }
}

/// A sink that keeps all rows.
#[derive(Clone, Debug, Default)]
pub struct RowList(Vec<(usize, Vec<i64>)>);

impl Sink for RowList {
    fn take(&mut self, batch: usize, rows: &[i64]) {
        self.0.push((batch, rows.to_vec()));
    }
}

impl RowList {
    /// Return the rows of all threads, in the order of their segments.
    pub fn merge(parts: Vec<Self>) -> Vec<i64> {
        let mut parts: Vec<_> = parts.into_iter().flat_map(|part| part.0).collect();
        parts.sort_unstable_by_key(|(batch, _)| *batch);
        parts.into_iter().flat_map(|(_, rows)| rows).collect()
    }
}
