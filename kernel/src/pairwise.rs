//! Scores of every hypothesis against every reference.
//!
//! A metric counts clipped matches: for each n-gram, the smaller of its counts in hypothesis and
//! reference. For all pairs, each text is lexed once. Matching is organized by n-gram
//! ([`overlap`]): a block of references is indexed by its n-grams, and each n-gram of a hypothesis
//! is looked up once for the whole block:
//!
//! ```text
//! for each n-gram of the hypothesis, c times there:
//!     for each reference of the block that has it, d times there:
//!         matches[order][reference] += min(c, d)
//! ```
//!
//! The inner loop takes a few vector instructions if many references contain the n-gram, and
//! otherwise reads a short list. Near-duplicates, such as the candidates for one source, share
//! vectors. Unrelated texts share few n-grams, and only shared n-grams cost time. The remaining
//! work is the formula, whose logarithms are taken from tables computed by identical operations.
//!
//! Other metrics are scored pair by pair by [`naive`], with which tests compare the index.
//!
//! [`run`] processes a few blocks of references at a time. Threads claim bands of hypotheses in
//! turn and score them against these blocks. A [`Row`] stores the requested results of one
//! hypothesis: all scores, the best, or their mean. Scores arrive in the order of the references,
//! so floats are added from left to right for any number of threads. Apart from the rows, memory
//! holds the texts and one block per thread.

pub mod bleu;
mod chrf;
pub mod naive;
pub mod overlap;

use crate::bleu::Sum;
use crate::error::Error;
use crate::interrupt::{self, in_threads, lock};
use crate::lex::{LexScratch, Lexer};
use crate::text_batches::{self, BatchSize, Source};
use crate::tokens::View;
use overlap::SetRanges;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Number of hypotheses that a thread claims at a time.
pub const BAND_HEIGHT: usize = 16;

/// Two lists of texts that can be scored against each other.
pub trait Pairs: Send + Sync {
    /// Return the number of hypotheses and the number of references.
    fn shape(&self) -> (usize, usize);

    /// Return the end of the block of references that starts with `first`.
    fn block_end(&self, first: usize) -> usize;

    /// Prepare a block of references.
    fn prepare_block(&self, references: Range<usize>) -> Box<dyn Block + '_>;

    /// Return the score of each hypothesis in each set against the sum of the set's references,
    /// where `weights` gives the multiplicity of each reference. Return `None` if the metric cannot
    /// sum references.
    fn score_against_sums(
        &self,
        _sets: &[SetRanges],
        _weights: Option<&[u32]>,
        _workers: usize,
    ) -> Option<Vec<f64>> {
        None
    }
}

/// References that are ready for scoring.
pub trait Block: Send + Sync {
    /// Return a worker for one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;
}

/// The scorer of one thread, with its buffers.
pub trait Worker {
    /// Score a band of hypotheses against the block.
    fn score(&mut self, band: &Band, take: &mut TakeScores<'_>) -> Result<(), Error>;
}

/// Hypotheses to score against a block.
#[derive(Clone)]
pub struct Band {
    /// The hypotheses.
    pub hypotheses: Range<usize>,
    /// Score only against references with a larger index than the hypothesis.
    pub above_diagonal: bool,
}

impl Band {
    /// Return the first of `references` that hypothesis `i` is scored against.
    fn first_reference(&self, i: usize, references: &Range<usize>) -> usize {
        if self.above_diagonal {
            references.start.max(i + 1).min(references.end)
        } else {
            references.start
        }
    }
}

/// A receiver of a hypothesis's scores, which is called with the hypothesis, the first reference
/// and the scores.
pub type TakeScores<'a> = dyn FnMut(usize, usize, &[f64]) + 'a;

/// A receiver of the scores of one hypothesis.
pub trait Row: Send {
    /// Receive the scores against the references from `first` on. Calls are in ascending order.
    fn take(&mut self, first: usize, scores: &[f64]);
}

/// Score all pairs; with `above_diagonal`, only pairs whose reference has a larger index.
pub fn run<R: Row>(
    pairs: &dyn Pairs,
    above_diagonal: bool,
    rows: &mut [R],
    workers: usize,
) -> Result<(), Error> {
    let (_, references) = pairs.shape();
    let mut end = 0;
    while end < references {
        let mut ranges = Vec::new();
        while ranges.len() < workers && end < references {
            let first = end;
            end = pairs.block_end(first);
            ranges.push(first..end);
        }
        let blocks = prepare_blocks(pairs, &ranges);
        // Later hypotheses are not scored against these references if only pairs above the diagonal
        // are requested.
        let height = if above_diagonal { rows.len().min(end) } else { rows.len() };
        score_bands(&blocks, above_diagonal, &mut rows[..height], workers)?;
    }
    Ok(())
}

/// Prepare the blocks, with one thread per block.
fn prepare_blocks<'a>(pairs: &'a dyn Pairs, ranges: &[Range<usize>]) -> Vec<Box<dyn Block + 'a>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut prepared = Vec::new();
        while let Some((i, range)) = claim_next(&next, ranges) {
            prepared.push((i, pairs.prepare_block(range.clone())));
        }
        prepared
    };
    let mut blocks: Vec<_> = in_threads(ranges.len(), work, work).into_iter().flatten().collect();
    blocks.sort_unstable_by_key(|(i, _)| *i);
    blocks.into_iter().map(|(_, block)| block).collect()
}

/// Return the next unclaimed item with its index.
fn claim_next<'a, T>(next: &AtomicUsize, items: &'a [T]) -> Option<(usize, &'a T)> {
    let i = next.fetch_add(1, Ordering::Relaxed);
    items.get(i).map(|item| (i, item))
}

/// Score all rows against the blocks, one band at a time.
fn score_bands<R: Row>(
    blocks: &[Box<dyn Block + '_>],
    above_diagonal: bool,
    rows: &mut [R],
    workers: usize,
) -> Result<(), Error> {
    let threads = workers.min(rows.len().div_ceil(BAND_HEIGHT));
    let bands = Mutex::new(rows.chunks_mut(BAND_HEIGHT).enumerate());
    let stopped = AtomicBool::new(false);
    let next = || lock(&bands).next();
    let work = || {
        let mut block_workers: Vec<_> = blocks.iter().map(|block| block.worker()).collect();
        while !stopped.load(Ordering::Relaxed)
            && let Some((number, rows)) = next()
        {
            let first = number * BAND_HEIGHT;
            let band = Band { hypotheses: first..first + rows.len(), above_diagonal };
            let mut take = |i: usize, column, scores: &[f64]| rows[i - first].take(column, scores);
            for block_worker in &mut block_workers {
                interrupt::poll();
                let result = block_worker.score(&band, &mut take);
                if result.is_err() {
                    stopped.store(true, Ordering::Relaxed);
                    return result;
                }
            }
        }
        Ok(())
    };
    in_threads(threads, work, work).into_iter().collect()
}

/// Lex a source, in batches of the sizes that `next_size` returns, to its end or until `next_size`
/// returns `None`. Pass each text's tokens to `take_text`, and each batch with its number of texts to
/// `take_batch`. No text may be missing.
pub(crate) fn lex_source(
    source: &mut dyn Source,
    mut next_size: impl FnMut() -> Option<BatchSize>,
    lexer: &Lexer,
    mut take_text: impl FnMut(&View<'_>),
    mut take_batch: impl FnMut(text_batches::Block, usize),
) -> Result<(), Error> {
    let mut scratch = LexScratch::default();
    let mut texts = 0;
    while let Some(size) = next_size()
        && let Some(batch) = source.next(size).map_err(to_missing_text)?
    {
        let Some(block) = batch.streams.into_iter().next() else { continue };
        let name = source.name();
        let mut lexed = lexer
            .lex(&block, &mut scratch)
            .map_err(|bad| bad.into_input_error(&block, name, texts))?;
        interrupt::poll();
        for _ in 0..batch.count {
            texts += 1;
            let Some(text) = lexed.next_segment() else {
                return Err(Error::MissingText { input: name.to_owned(), segment: texts });
            };
            take_text(&text);
        }
        take_batch(block, batch.count);
    }
    Ok(())
}

/// Replace the error for a missing hypothesis with the error for a missing text, which also
/// applies to references.
fn to_missing_text(error: Error) -> Error {
    match error {
        Error::MissingHypothesis { input, segment } => Error::MissingText { input, segment },
        error => error,
    }
}

// Receivers of scores -------------------------------------------------------------------

/// The scores against all references from `first` on, in double or single precision.
pub struct ScoreSlice<'a, T> {
    /// The first reference whose score is stored.
    pub first: usize,
    /// The stored scores.
    pub values: &'a mut [T],
}

impl Row for ScoreSlice<'_, f64> {
    fn take(&mut self, first: usize, scores: &[f64]) {
        self.values[first - self.first..][..scores.len()].copy_from_slice(scores);
    }
}

impl Row for ScoreSlice<'_, f32> {
    fn take(&mut self, first: usize, scores: &[f64]) {
        for (value, score) in self.values[first - self.first..].iter_mut().zip(scores) {
            *value = *score as f32;
        }
    }
}

/// The `k` best scores and their references; of equal scores, the first are kept.
pub struct TopScores {
    k: usize,
    /// 1 if high scores are better, -1 if low scores are better.
    sign: f64,
    /// References and their signed scores: fewer than `2 * k`, in any order.
    candidates: Vec<(usize, f64)>,
    /// Signed scores up to this threshold are discarded.
    threshold: f64,
}

impl TopScores {
    /// Create a receiver of the `k` highest or lowest scores, for `k > 0`.
    pub fn new(k: usize, lowest: bool) -> Self {
        let sign = if lowest { -1.0 } else { 1.0 };
        Self { k, sign, candidates: Vec::new(), threshold: f64::NEG_INFINITY }
    }

    /// Return the references and their scores, best first.
    pub fn into_sorted(mut self) -> Vec<(usize, f64)> {
        self.candidates.sort_unstable_by(Self::compare_entries);
        self.candidates.truncate(self.k);
        self.candidates.iter_mut().for_each(|(_, score)| *score *= self.sign);
        self.candidates
    }

    /// Return the order of two entries: by descending score, then by ascending reference.
    fn compare_entries(a: &(usize, f64), b: &(usize, f64)) -> std::cmp::Ordering {
        b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
    }
}

impl Row for TopScores {
    fn take(&mut self, first: usize, scores: &[f64]) {
        for (i, score) in scores.iter().enumerate() {
            let score = self.sign * score;
            if score > self.threshold {
                self.candidates.push((first + i, score));
                if self.candidates.len() == 2 * self.k {
                    let last = self.k - 1;
                    let (_, &mut (_, kth_score), _) =
                        self.candidates.select_nth_unstable_by(last, Self::compare_entries);
                    self.candidates.truncate(self.k);
                    self.threshold = kth_score;
                }
            }
        }
    }
}

/// The weighted sum of the scores, which are added from left to right.
#[derive(Clone)]
pub struct WeightedSum<'a> {
    weights: Option<&'a [f64]>,
    sum: Sum,
}

impl<'a> WeightedSum<'a> {
    /// Create an empty sum. `compensated` has the same meaning as for [`Sum`].
    pub fn new(weights: Option<&'a [f64]>, compensated: bool) -> Self {
        Self { weights, sum: Sum::new(compensated) }
    }

    /// The sum.
    pub fn sum(&self) -> f64 {
        self.sum.value()
    }
}

impl Row for WeightedSum<'_> {
    fn take(&mut self, first: usize, scores: &[f64]) {
        match self.weights {
            None => scores.iter().for_each(|&score| self.sum.add(score)),
            Some(weights) => {
                for (score, weight) in scores.iter().zip(&weights[first..]) {
                    self.sum.add(weight * score);
                }
            }
        }
    }
}
