//! From a batch of text to rows of integers, for any metric: lex the hypotheses and the
//! references, and let the metric count each segment.

use crate::corpus_warnings::TextChecks;
use crate::error::Error;
use crate::interrupt;
use crate::lex::{self, Lexed, Lexer};
use crate::simd::{Instructions, Job, Vector};
use crate::text_batches::Block;
use crate::tokens::View;
use std::sync::Arc;

/// A metric, as far as it decides the integers of a row.
pub trait Metric: Send + Sync + 'static {
    /// A thread's memory.
    type Scratch: Default + Send;

    /// False if [`View::keys`] are not asked for.
    const KEYS: bool = true;

    /// The number of columns of a row.
    fn width(&self) -> usize;

    /// Writes the row of one segment. `references` is not empty, and all of `row` is 0.
    ///
    /// Implementations are `#[inline(always)]`, as those of [`Job::run`].
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut Self::Scratch,
        row: &mut [i64],
    );
}

/// A metric's formula: the score of a row, or of a sum of rows.
pub trait Formula: Send + Sync {
    /// The score.
    fn score(&self, row: &[i64]) -> f64;
}

/// How text becomes tokens, and tokens rows.
pub struct Counter<M> {
    /// How hypotheses become tokens.
    pub hypotheses: Lexer,
    /// How references do, if not as hypotheses.
    pub references: Option<Lexer>,
    /// The metric.
    pub metric: M,
}

impl<M> Counter<M> {
    /// How references become tokens.
    pub fn references(&self) -> &Lexer {
        self.references.as_ref().unwrap_or(&self.hypotheses)
    }
}

/// The rows a scan makes: one metric's, or those of several side by side.
pub trait Count: Send + Sync {
    /// The number of columns of a row.
    fn width(&self) -> usize;

    /// One thread's part of the work.
    fn worker(self: Arc<Self>) -> Box<dyn Worker>;
}

/// One thread's counter, with its memory.
pub trait Worker: Send {
    /// The rows of a batch.
    fn count(&mut self, batch: &Batch<'_>, summary: &mut Summary) -> Result<&[i64], Error>;
}

/// A [`Counter`] of whatever metric.
pub trait CountOne: Count {
    /// A reader for single segments.
    fn reader(self: Arc<Self>) -> Box<dyn Reader>;
}

/// Counts what is no part of a run.
pub trait Reader: Send {
    /// The row of one segment, whose hypothesis and `references` references are those of the block.
    fn sentence(&mut self, texts: &Block, references: usize) -> Result<&[i64], Error>;

    /// Hands the score of each hypothesis against each reference, by row, to `take`. The blocks
    /// have so many segments; none may be missing.
    fn pairs(
        &mut self,
        hypotheses: (&Block, usize),
        references: (&Block, usize),
        formula: &dyn Formula,
        take: &mut dyn FnMut(f64),
    ) -> Result<(), Error>;
}

/// The same segments of all inputs.
pub struct Batch<'a> {
    /// The number of the first segment, from 0.
    pub first: u64,
    /// The number of segments.
    pub count: usize,
    /// The hypotheses.
    pub hypotheses: &'a Block,
    /// The references: at most one per segment from each.
    pub references: &'a [Block],
    /// The names of the inputs.
    pub names: &'a Names,
}

/// The names of the inputs in messages: the hypotheses, then the references.
pub struct Names(pub Vec<String>);

impl Names {
    fn of(&self, stream: usize) -> String {
        let last = self.0.len() - 1;
        self.0[stream.min(last)].clone()
    }
}

/// The result of a run, apart from its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of segments.
    pub segments: u64,
    /// The fewest and the most references per segment.
    pub references: Option<(u32, u32)>,
    /// Signs that the scores may mislead.
    pub checks: TextChecks,
}

impl Summary {
    /// Adds what another thread saw.
    pub fn merge(&mut self, other: Self) {
        self.segments += other.segments;
        self.references = widest(self.references, other.references);
        self.checks.merge(other.checks);
    }
}

/// The fewest and the most of both.
fn widest(one: Option<(u32, u32)>, other: Option<(u32, u32)>) -> Option<(u32, u32)> {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (one, other) => one.or(other),
    }
}

impl From<lex::BadBytes> for Error {
    /// For text whose place in the input is not known.
    fn from(bad: lex::BadBytes) -> Self {
        Self::Input(format!("a byte 0x{:02x} that is not UTF-8", bad.byte))
    }
}

impl lex::BadBytes {
    /// The error for text in a block whose first segment is the input's segment `first`, from 0.
    pub(crate) fn within(self, block: &Block, input: &str, first: u64) -> Error {
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
        Box::new(Counting::new(self))
    }
}

impl<M: Metric> CountOne for Counter<M> {
    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(Counting::new(self))
    }
}

/// Several metrics' rows side by side, from one reading of the text.
pub struct Joint(pub Vec<Arc<dyn Count>>);

impl Count for Joint {
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
            // The checks of the text are the same for each metric, and are made once.
            let mut same = Summary::default();
            let rows = part.count(batch, if first == 0 { summary } else { &mut same })?;
            let places = self.rows.chunks_exact_mut(self.width);
            for (place, row) in places.zip(rows.chunks_exact(*width)) {
                place[first..first + *width].copy_from_slice(row);
            }
            first += *width;
        }
        Ok(&self.rows)
    }
}

struct Counting<M: Metric> {
    counter: Arc<Counter<M>>,
    scratch: Scratch<M::Scratch>,
    rows: Vec<i64>,
    /// True while something is counted, and for ever after if that was stopped in the middle.
    unfinished: bool,
}

impl<M: Metric> Counting<M> {
    fn new(counter: Arc<Counter<M>>) -> Self {
        Self { counter, scratch: Scratch::default(), rows: Vec::new(), unfinished: false }
    }

    /// Begins to count, in memory that was left in order.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.unfinished, true) {
            self.scratch = Scratch::default();
        }
    }
}

#[derive(Default)]
struct Scratch<S> {
    hypotheses: lex::Scratch,
    references: Vec<lex::Scratch>,
    metric: S,
}

impl<S> Scratch<S> {
    /// Makes room for so many references.
    fn room(&mut self, references: usize) {
        if self.references.len() < references {
            self.references.resize_with(references, Default::default);
        }
    }

    /// Lexes all blocks. An error comes with the number of its stream, the hypotheses' being 0.
    fn lex<'a, M: Metric>(
        &'a mut self,
        counter: &Counter<M>,
        hypotheses: &'a Block,
        references: &'a [Block],
    ) -> Result<(Lexed<'a>, Vec<Lexed<'a>>, &'a mut S), (usize, lex::BadBytes)> {
        self.room(references.len());
        let Self { hypotheses: scratch, references: scratches, metric } = self;
        let hypotheses = counter.hypotheses.lex_for(hypotheses, scratch, M::KEYS);
        let hypotheses = hypotheses.map_err(|bad| (0, bad))?;
        let references = references.iter().zip(scratches).enumerate();
        let references = references.map(|(i, (block, scratch))| {
            counter.references().lex_for(block, scratch, M::KEYS).map_err(|bad| (i + 1, bad))
        });
        Ok((hypotheses, references.collect::<Result<_, _>>()?, metric))
    }
}

impl<M: Metric> Worker for Counting<M> {
    fn count(&mut self, batch: &Batch<'_>, summary: &mut Summary) -> Result<&[i64], Error> {
        self.begin();
        let Batch { first, count, hypotheses, references, names } = *batch;
        if first == 0 {
            let streams = std::iter::once(hypotheses).chain(references);
            summary.checks.look_for_mark(streams);
        }
        let Self { counter, scratch, rows, unfinished } = self;
        rows.clear();
        rows.resize(count * counter.metric.width(), 0);
        let lexed = scratch.lex(counter, hypotheses, references);
        let (lexed, mut lexed_references, scratch) = lexed.map_err(|(stream, bad)| {
            let block = if stream == 0 { hypotheses } else { &references[stream - 1] };
            bad.within(block, &names.of(stream), first)
        })?;
        summary.checks.look(first, count, &lexed, &lexed_references);
        summary.segments += count as u64;
        let outcome = counter.hypotheses.instructions.run(CountBatch {
            hypotheses: lexed,
            references: &mut lexed_references,
            metric: &counter.metric,
            scratch,
            rows,
        });
        let counted = outcome.map_err(|i| Error::NoReference { segment: first + i as u64 + 1 })?;
        summary.references = widest(summary.references, counted);
        *unfinished = false;
        Ok(rows)
    }
}

impl<M: Metric> Reader for Counting<M> {
    fn sentence(&mut self, texts: &Block, references: usize) -> Result<&[i64], Error> {
        self.begin();
        let Self { counter, scratch, rows, unfinished } = self;
        rows.clear();
        rows.resize(counter.metric.width(), 0);
        scratch.room(1);
        let Scratch { hypotheses: first, references: others, metric } = scratch;
        let hypotheses = counter.hypotheses.lex_for(texts, first, M::KEYS)?;
        let mut others = match &counter.references {
            Some(lexer) => lexer.lex_for(texts, &mut others[0], M::KEYS)?,
            None => hypotheses.clone(),
        };
        others.next_segment();
        let (mut only, mut several);
        let references: &mut [Lexed<'_>] = if references == 1 {
            only = [others];
            &mut only
        } else {
            several = others.each(references);
            &mut several
        };
        let counted = counter.hypotheses.instructions.run(CountBatch {
            hypotheses,
            references,
            metric: &counter.metric,
            scratch: metric,
            rows,
        });
        *unfinished = false;
        match counted {
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
        let others = &lexed_references[0];
        for hypothesis in lexed.each(hypotheses.1) {
            interrupt::poll();
            rows.fill(0);
            let mut references = others.clone();
            let counted = counter.hypotheses.instructions.run(CountBatch {
                hypotheses: hypothesis.repeated(),
                references: std::slice::from_mut(&mut references),
                metric: &counter.metric,
                scratch: &mut *scratch,
                rows,
            });
            // Nothing is missing, as the caller promises.
            debug_assert!(counted.is_ok());
            rows.chunks_exact(width).for_each(|row| take(formula.score(row)));
        }
        *unfinished = false;
        Ok(())
    }
}

/// Counts the next segment of texts that were lexed. All of `row` stays 0 if one of both sides is
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
    // An error only says that a side is missing.
    let _ = instructions.run(batch);
}

/// Counts the segments of one batch. A single segment is a batch of one, and pairs are batches with
/// the same hypothesis: the metric's code is compiled once per instruction set, which is most of the
/// time that compiling takes.
struct CountBatch<'a, 'b, M: Metric> {
    hypotheses: Lexed<'a>,
    references: &'b mut [Lexed<'a>],
    metric: &'b M,
    scratch: &'b mut M::Scratch,
    rows: &'b mut [i64],
}

impl<M: Metric> Job for CountBatch<'_, '_, M> {
    /// The fewest and the most references of a segment, or the first segment without one.
    type Output = Result<Option<(u32, u32)>, usize>;

    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) -> Self::Output {
        let mut several: Vec<View<'_>> = Vec::new();
        let mut numbers = None;
        for (i, row) in self.rows.chunks_exact_mut(self.metric.width()).enumerate() {
            let only;
            let views = match self.references {
                [reference] => {
                    only = reference.next_segment();
                    only.as_slice()
                }
                _ => {
                    several.clear();
                    for reference in self.references.iter_mut() {
                        several.extend(reference.next_segment());
                    }
                    &several
                }
            };
            let Some(hypothesis) = self.hypotheses.next_segment() else {
                return Err(i);
            };
            if views.is_empty() {
                return Err(i);
            }
            let count = views.len() as u32;
            numbers = widest(numbers, Some((count, count)));
            // SAFETY: as the caller promises.
            unsafe { self.metric.row::<V>(hypothesis, views, self.scratch, row) };
        }
        Ok(numbers)
    }
}
