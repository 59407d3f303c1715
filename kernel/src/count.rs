//! Conversion of text batches to rows of counts, for any metric.

use crate::corpus_warnings::TextChecks;
use crate::error::Error;
use crate::interrupt;
use crate::lex::{self, Lexed, Lexer};
use crate::simd::{Instructions, Job, Vector};
use crate::text_batches::Block;
use crate::tokens::View;
use std::cell::RefCell;
use std::sync::Arc;

/// The part of a metric that computes the counts in a row.
pub trait Metric: Send + Sync + 'static {
    /// The reusable buffers of one thread.
    type Scratch: Default + Send;

    /// Whether the metric uses [`View::keys`].
    const KEYS: bool = true;

    /// The number of columns in a row.
    fn width(&self) -> usize;

    /// Write the row of one segment. `references` is not empty, and `row` is filled with 0.
    ///
    /// Implementations are `#[inline(always)]`, like implementations of [`Job::run`].
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut Self::Scratch,
        row: &mut [i64],
    );
}

/// A metric's formula, which computes the score of a row or of a sum of rows.
pub trait Formula: Send + Sync {
    /// Return the score of a row.
    fn score(&self, row: &[i64]) -> f64;
}

/// Lexers and a metric, which turn text into rows.
pub struct Counter<M> {
    /// The lexer for hypotheses.
    pub hypotheses: Lexer,
    /// The lexer for references; `None` to use the lexer for hypotheses.
    pub references: Option<Lexer>,
    /// The metric.
    pub metric: M,
}

/// A component that computes a scan's rows, for one metric or for several metrics side by side.
pub trait Count: Send + Sync {
    /// Return the number of columns in a row.
    fn width(&self) -> usize;

    /// Return a worker for one thread.
    fn worker(self: Arc<Self>) -> Box<dyn Worker>;
}

/// The counter of one thread, with its buffers.
pub trait Worker: Send {
    /// Return the rows of a batch.
    fn count(&mut self, batch: &Batch<'_>, summary: &mut Summary) -> Result<&[i64], Error>;
}

/// A [`Counter`] whose metric type is hidden.
pub trait SingleMetricCount: Count {
    /// Return the lexers for hypotheses and for references.
    fn lexers(&self) -> (&Lexer, &Lexer);
    /// Return a reader for single segments.
    fn reader(self: Arc<Self>) -> Box<dyn Reader>;
}

/// A reader that counts single segments outside of a scan.
pub trait Reader: Send {
    /// Return the row of one segment. The block contains the hypothesis, followed by `references`
    /// references.
    fn sentence(&mut self, texts: &Block, references: usize) -> Result<&[i64], Error>;

    /// Pass the score of each hypothesis against each reference to `take`, row by row. Each block
    /// comes with its number of segments. No segment may be missing.
    fn pairs(
        &mut self,
        hypotheses: (&Block, usize),
        references: (&Block, usize),
        formula: &dyn Formula,
        take: &mut dyn FnMut(f64),
    ) -> Result<(), Error>;
}

/// One range of segments, with their texts from all inputs.
pub struct Batch<'a> {
    /// The index of the first segment, counted from 0.
    pub first: u64,
    /// The number of segments.
    pub count: usize,
    /// The hypotheses.
    pub hypotheses: &'a Block,
    /// The references. Each block has at most one reference per segment.
    pub references: &'a [Block],
    /// The names of the inputs.
    pub names: &'a InputNames,
    /// Whether to collect the counts for warnings about the texts.
    pub has_warnings: bool,
}

/// The names of the inputs for messages: the hypotheses, then the references.
pub struct InputNames(pub Vec<String>);

impl InputNames {
    /// Return the name of a stream. A stream without its own name gets the last name.
    fn stream_name(&self, stream: usize) -> String {
        let last = self.0.len() - 1;
        self.0[stream.min(last)].clone()
    }
}

/// The results of a run, except the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of segments.
    pub segments: u64,
    /// The smallest and largest number of references per segment.
    pub references: Option<(u32, u32)>,
    /// The warning counts, which indicate that scores may be misleading.
    pub checks: TextChecks,
}

impl Summary {
    /// Add the result of another thread.
    pub fn merge(&mut self, other: Self) {
        self.segments += other.segments;
        self.references = merge_ranges(self.references, other.references);
        self.checks.merge(other.checks);
    }
}

/// Return the range that covers both ranges.
fn merge_ranges(first: Option<(u32, u32)>, second: Option<(u32, u32)>) -> Option<(u32, u32)> {
    match (first, second) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (first, second) => first.or(second),
    }
}

impl From<lex::InvalidUtf8> for Error {
    /// Create an error for invalid text whose position in the input is unknown.
    fn from(bad: lex::InvalidUtf8) -> Self {
        Self::Input(format!("the text contains byte 0x{:02x}, which is not valid UTF-8", bad.byte))
    }
}

impl lex::InvalidUtf8 {
    /// Return the error for invalid text in a block whose first segment has the index `first` in
    /// the input, counted from 0.
    pub(crate) fn into_input_error(self, block: &Block, input: &str, first: u64) -> Error {
        Error::Utf8 {
            input: input.to_owned(),
            segment: first + self.segment as u64 + 1,
            offset: match block {
                Block::Lines { offset, .. } => offset.map(|offset| offset + self.offset as u64),
                _ => None,
            },
            byte: self.byte,
        }
    }
}

impl<M: Metric> Count for Counter<M> {
    fn width(&self) -> usize {
        self.metric.width()
    }

    fn worker(self: Arc<Self>) -> Box<dyn Worker> {
        Box::new(MetricWorker::new(self))
    }
}

impl<M: Metric> SingleMetricCount for Counter<M> {
    fn lexers(&self) -> (&Lexer, &Lexer) {
        (&self.hypotheses, self.references.as_ref().unwrap_or(&self.hypotheses))
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(MetricWorker::new(self))
    }
}

/// A counter that reads the text once and puts the rows of several metrics side by side.
pub struct JointCounter(pub Vec<Arc<dyn Count>>);

impl Count for JointCounter {
    fn width(&self) -> usize {
        self.0.iter().map(|part| part.width()).sum()
    }

    fn worker(self: Arc<Self>) -> Box<dyn Worker> {
        let width = self.width();
        let parts = self.0.iter().map(|part| (part.width(), Arc::clone(part).worker()));
        Box::new(JointWorker { width, parts: parts.collect(), rows: Vec::new() })
    }
}

struct JointWorker {
    width: usize,
    parts: Vec<(usize, Box<dyn Worker>)>,
    rows: Vec<i64>,
}

impl Worker for JointWorker {
    fn count(&mut self, batch: &Batch<'_>, summary: &mut Summary) -> Result<&[i64], Error> {
        self.rows.clear();
        self.rows.resize(batch.count * self.width, 0);
        let mut first = 0;
        for (width, part) in &mut self.parts {
            // All metrics produce the same warning counts, so keep only the counts of the first
            // metric.
            let mut unused_summary = Summary::default();
            let rows = part.count(batch, if first == 0 { summary } else { &mut unused_summary })?;
            let places = self.rows.chunks_exact_mut(self.width);
            for (place, row) in places.zip(rows.chunks_exact(*width)) {
                place[first..first + *width].copy_from_slice(row);
            }
            first += *width;
        }
        Ok(&self.rows)
    }
}

struct MetricWorker<M: Metric> {
    counter: Arc<Counter<M>>,
    scratch: CountScratch<M::Scratch>,
    rows: Vec<i64>,
    /// True while counting is in progress, and after an interrupted count.
    unfinished: bool,
}

impl<M: Metric> MetricWorker<M> {
    fn new(counter: Arc<Counter<M>>) -> Self {
        let take_idle = || IDLE_BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        let (hypotheses, references) = (take_idle(), vec![take_idle()]);
        let scratch = CountScratch { hypotheses, references, metric: M::Scratch::default() };
        Self { counter, scratch, rows: Vec::new(), unfinished: false }
    }

    /// Start counting. Replace the buffers if the previous count was interrupted.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.unfinished, true) {
            self.scratch = CountScratch::default();
        }
    }
}

/// Maximum number and size in bytes of buffers in [`IDLE_BUFFERS`].
const MAX_IDLE_BUFFERS: usize = 4;
const MAX_IDLE_BYTES: usize = 1 << 21;

thread_local! {
    /// Buffers of finished workers. Mapping new memory takes as long as counting a small batch.
    static IDLE_BUFFERS: RefCell<Vec<lex::LexScratch>> = RefCell::default();
}

impl<M: Metric> Drop for MetricWorker<M> {
    fn drop(&mut self) {
        if self.unfinished {
            return;
        }
        let CountScratch { hypotheses, references, .. } = std::mem::take(&mut self.scratch);
        // Thread-local values may be gone when a thread ends.
        let _ = IDLE_BUFFERS.try_with(|idle_buffers| {
            let mut idle_buffers = idle_buffers.borrow_mut();
            for buffers in references.into_iter().chain([hypotheses]) {
                let is_small = buffers.byte_count() <= MAX_IDLE_BYTES;
                if is_small && idle_buffers.len() < MAX_IDLE_BUFFERS {
                    idle_buffers.push(buffers);
                }
            }
        });
    }
}

#[derive(Default)]
struct CountScratch<S> {
    hypotheses: lex::LexScratch,
    references: Vec<lex::LexScratch>,
    metric: S,
}

impl<S> CountScratch<S> {
    /// Create any missing buffers for this number of references.
    fn reserve_references(&mut self, references: usize) {
        if self.references.len() < references {
            self.references.resize_with(references, Default::default);
        }
    }

    /// Lex all blocks. Errors contain the index of the stream; 0 means the hypotheses.
    fn lex<'a, M: Metric>(
        &'a mut self,
        counter: &Counter<M>,
        hypotheses: &'a Block,
        references: &'a [Block],
    ) -> Result<(Lexed<'a>, Vec<Lexed<'a>>, &'a mut S), (usize, lex::InvalidUtf8)> {
        self.reserve_references(references.len());
        let Self { hypotheses: scratch, references: scratches, metric } = self;
        let (lexer, reference_lexer) = counter.lexers();
        let hypotheses = lexer.lex_block(hypotheses, scratch, M::KEYS);
        let hypotheses = hypotheses.map_err(|bad| (0, bad))?;
        let references = references.iter().zip(scratches).enumerate();
        let references = references.map(|(i, (block, scratch))| {
            reference_lexer.lex_block(block, scratch, M::KEYS).map_err(|bad| (i + 1, bad))
        });
        Ok((hypotheses, references.collect::<Result<_, _>>()?, metric))
    }
}

impl<M: Metric> Worker for MetricWorker<M> {
    fn count(&mut self, batch: &Batch<'_>, summary: &mut Summary) -> Result<&[i64], Error> {
        self.begin();
        let Batch { first, count, hypotheses, references, names, has_warnings } = *batch;
        if first == 0 && has_warnings {
            let streams = std::iter::once(hypotheses).chain(references);
            summary.checks.find_byte_order_marks(streams);
        }
        let Self { counter, scratch, rows, unfinished } = self;
        rows.clear();
        rows.resize(count * counter.metric.width(), 0);
        let lexed = scratch.lex(counter, hypotheses, references);
        let (lexed, mut lexed_references, scratch) = lexed.map_err(|(stream, bad)| {
            let block = if stream == 0 { hypotheses } else { &references[stream - 1] };
            bad.into_input_error(block, &names.stream_name(stream), first)
        })?;
        if has_warnings {
            summary.checks.examine_batch(first, count, &lexed, &lexed_references);
        }
        summary.segments += count as u64;
        let outcome = counter.hypotheses.instructions.run(CountBatch {
            hypotheses: lexed,
            references: &mut lexed_references,
            metric: &counter.metric,
            scratch,
            rows,
        });
        let reference_range =
            outcome.map_err(|i| Error::NoReference { segment: first + i as u64 + 1 })?;
        summary.references = merge_ranges(summary.references, reference_range);
        *unfinished = false;
        Ok(rows)
    }
}

impl<M: Metric> Reader for MetricWorker<M> {
    fn sentence(&mut self, texts: &Block, references: usize) -> Result<&[i64], Error> {
        self.begin();
        let Self { counter, scratch, rows, unfinished } = self;
        rows.clear();
        rows.resize(counter.metric.width(), 0);
        scratch.reserve_references(1);
        let CountScratch { hypotheses: first, references: reference_scratches, metric } = scratch;
        let hypotheses = counter.hypotheses.lex_block(texts, first, M::KEYS)?;
        let mut lexed_references = match &counter.references {
            Some(lexer) => lexer.lex_block(texts, &mut reference_scratches[0], M::KEYS)?,
            None => hypotheses.clone(),
        };
        lexed_references.next_segment();
        let (mut single, mut split);
        let references: &mut [Lexed<'_>] = if references == 1 {
            single = [lexed_references];
            &mut single
        } else {
            split = lexed_references.split_positions(references);
            &mut split
        };
        let result = counter.hypotheses.instructions.run(CountBatch {
            hypotheses,
            references,
            metric: &counter.metric,
            scratch: metric,
            rows,
        });
        *unfinished = false;
        match result {
            Ok(Some(_)) => Ok(rows),
            _ => Err(Error::NoReference { segment: 1 }),
        }
    }

    fn pairs(
        &mut self,
        hypotheses: (&Block, usize),
        references: (&Block, usize),
        formula: &dyn Formula,
        take: &mut dyn FnMut(f64),
    ) -> Result<(), Error> {
        self.begin();
        let Self { counter, scratch, rows, unfinished } = self;
        let width = counter.metric.width();
        rows.clear();
        rows.resize(width * references.1, 0);
        let lexed = scratch.lex(counter, hypotheses.0, std::slice::from_ref(references.0));
        let (lexed, lexed_references, scratch) = lexed.map_err(|(_, bad)| Error::from(bad))?;
        let all_references = &lexed_references[0];
        for hypothesis in lexed.split_positions(hypotheses.1) {
            interrupt::poll();
            rows.fill(0);
            let mut references = all_references.clone();
            let outcome = counter.hypotheses.instructions.run(CountBatch {
                hypotheses: hypothesis.repeated(),
                references: std::slice::from_mut(&mut references),
                metric: &counter.metric,
                scratch: &mut *scratch,
                rows,
            });
            // The caller guarantees that no text is missing.
            debug_assert!(outcome.is_ok());
            rows.chunks_exact(width).for_each(|row| take(formula.score(row)));
        }
        *unfinished = false;
        Ok(())
    }
}

/// Count the next segment of lexed texts. `row` stays 0 if the hypothesis or all references are
/// missing.
pub(crate) fn count_next<M: Metric>(
    instructions: Instructions,
    metric: &M,
    hypotheses: &Lexed<'_>,
    references: &[Lexed<'_>],
    scratch: &mut M::Scratch,
    row: &mut [i64],
) {
    row.fill(0);
    let (hypotheses, references) = (hypotheses.clone(), &mut references.to_vec()[..]);
    let batch = CountBatch { hypotheses, references, metric, scratch, rows: row };
    // The only possible error is that the hypothesis or all references are missing.
    let _ = instructions.run(batch);
}

/// A job that counts the segments of one batch. A single segment is a batch of one segment, and
/// pairs are batches with a repeated hypothesis. The metric's code, which dominates the compile
/// time, is therefore compiled only once per instruction set.
struct CountBatch<'a, 'b, M: Metric> {
    hypotheses: Lexed<'a>,
    references: &'b mut [Lexed<'a>],
    metric: &'b M,
    scratch: &'b mut M::Scratch,
    rows: &'b mut [i64],
}

impl<M: Metric> Job for CountBatch<'_, '_, M> {
    /// The smallest and largest number of references, or the first segment without a reference.
    type Output = Result<Option<(u32, u32)>, usize>;

    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) -> Self::Output {
        let mut multiple_views: Vec<View<'_>> = Vec::new();
        let mut reference_range = None;
        for (i, row) in self.rows.chunks_exact_mut(self.metric.width()).enumerate() {
            let single_view;
            let views = match self.references {
                [reference] => {
                    single_view = reference.next_segment();
                    single_view.as_slice()
                }
                _ => {
                    multiple_views.clear();
                    for reference in self.references.iter_mut() {
                        multiple_views.extend(reference.next_segment());
                    }
                    &multiple_views
                }
            };
            let Some(hypothesis) = self.hypotheses.next_segment() else {
                return Err(i);
            };
            if views.is_empty() {
                return Err(i);
            }
            let count = views.len() as u32;
            reference_range = merge_ranges(reference_range, Some((count, count)));
            // SAFETY: guaranteed by the caller.
            unsafe { self.metric.row::<V>(hypothesis, views, self.scratch, row) };
        }
        Ok(reference_range)
    }
}
