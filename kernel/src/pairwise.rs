//! Every hypothesis against every reference.
//!
//! A metric counts clipped matches: of each n-gram the lesser of its counts in hypothesis and
//! reference. For all pairs, each text is lexed once, and the work between texts is turned around
//! ([`overlap`]): a block of references is indexed by its n-grams, and each n-gram that a
//! hypothesis has is looked up once for all of them,
//!
//! ```text
//! for each n-gram of the hypothesis, c times there:
//!     for each reference of the block that has it, d times there:
//!         matches[order][reference] += min(c, d)
//! ```
//!
//! where the inner loop is a few vector instructions for the n-grams that many references have,
//! and a short list for the others. Near-duplicates, the candidates of one source, share vectors;
//! unrelated texts share little, and only what they share costs anything. What remains is the
//! formula, whose logarithms are taken from tables of the very same operations.
//!
//! Any other metric is asked pair by pair ([`plain`]), which is what the tests hold the index
//! equal to.
//!
//! [`run`] goes through the references a few blocks at a time, and for these through bands of
//! hypotheses, which the threads take in turn. A [`Row`] keeps what is wanted of the scores of one
//! hypothesis: all of them, the best, or their mean. References reach it in their order, so floats
//! are added from left to right however many threads there are. Beside what the rows keep, memory
//! is that of the texts and of one block per thread.

pub mod bleu;
mod chrf;
pub mod naive;
pub mod overlap;

use crate::bleu::Sum;
use crate::error::Error;
use crate::interrupt::{self, in_threads};
use crate::lex::{Lexer, Scratch};
use crate::text_batches::{self, Source, Want};
use crate::tokens::View;
use overlap::Places;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Hypotheses that a thread takes at a time.
pub const BAND: usize = 16;

/// Two lists of texts that can be scored against each other.
pub trait Pairs: Send + Sync {
    /// The numbers of hypotheses and references.
    fn shape(&self) -> (usize, usize);

    /// Where the block of references that starts with `first` ends.
    fn block_end(&self, first: usize) -> usize;

    /// Makes a block of references ready.
    fn block(&self, references: Range<usize>) -> Box<dyn Block + '_>;

    /// The score of each hypothesis of each set against the sum of the set's references, each of
    /// which counts as often as `weights` says; `None` if references of this metric do not add up.
    fn against_sums(
        &self,
        _sets: &[Places],
        _weights: Option<&[u32]>,
        _workers: usize,
    ) -> Option<Vec<f64>> {
        None
    }
}

/// Some references, ready to be scored against.
pub trait Block: Send + Sync {
    /// One thread's part of the work.
    fn worker(&self) -> Box<dyn Worker + '_>;
}

/// One thread's scorer, with its memory.
pub trait Worker {
    /// Scores a band of hypotheses against the block.
    fn score(&mut self, band: &Band, take: &mut Take<'_>) -> Result<(), Error>;
}

/// Hypotheses to be scored against a block.
#[derive(Clone)]
pub struct Band {
    /// The hypotheses.
    pub hypotheses: Range<usize>,
    /// Only against references behind the place of the hypothesis.
    pub above: bool,
}

impl Band {
    /// The first of `references` that hypothesis `i` is wanted against.
    fn first(&self, i: usize, references: &Range<usize>) -> usize {
        if self.above { references.start.max(i + 1).min(references.end) } else { references.start }
    }
}

/// Takes the scores of a hypothesis against the references from a number on.
pub type Take<'a> = dyn FnMut(usize, usize, &[f64]) + 'a;

/// A sink for the scores of one hypothesis.
pub trait Row: Send {
    /// Takes the scores against the references from `first` on. They come in order.
    fn take(&mut self, first: usize, scores: &[f64]);
}

/// Scores all pairs, or with `above` those of a hypothesis and the references behind its place.
pub fn run<R: Row>(
    pairs: &dyn Pairs,
    above: bool,
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
        let blocks = made_ready(pairs, &ranges);
        // Above the diagonal, no later hypothesis meets these references.
        let height = if above { rows.len().min(end) } else { rows.len() };
        score_bands(&blocks, above, &mut rows[..height], workers)?;
    }
    Ok(())
}

/// Makes the blocks ready, with a thread for each.
fn made_ready<'a>(pairs: &'a dyn Pairs, ranges: &[Range<usize>]) -> Vec<Box<dyn Block + 'a>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        while let Some((i, range)) = taken(&next, ranges) {
            made.push((i, pairs.block(range.clone())));
        }
        made
    };
    let mut blocks: Vec<_> = in_threads(ranges.len(), work, work).into_iter().flatten().collect();
    blocks.sort_unstable_by_key(|(i, _)| *i);
    blocks.into_iter().map(|(_, block)| block).collect()
}

fn taken<'a, T>(next: &AtomicUsize, items: &'a [T]) -> Option<(usize, &'a T)> {
    let i = next.fetch_add(1, Ordering::Relaxed);
    items.get(i).map(|item| (i, item))
}

/// Scores all rows against the blocks, a band at a time.
fn score_bands<R: Row>(
    blocks: &[Box<dyn Block + '_>],
    above: bool,
    rows: &mut [R],
    workers: usize,
) -> Result<(), Error> {
    let threads = workers.min(rows.len().div_ceil(BAND));
    let bands = Mutex::new(rows.chunks_mut(BAND).enumerate());
    let stopped = AtomicBool::new(false);
    let next = || bands.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut parts: Vec<_> = blocks.iter().map(|block| block.worker()).collect();
        while !stopped.load(Ordering::Relaxed)
            && let Some((number, rows)) = next()
        {
            let first = number * BAND;
            let band = Band { hypotheses: first..first + rows.len(), above };
            let mut take = |i: usize, column, scores: &[f64]| rows[i - first].take(column, scores);
            for part in &mut parts {
                interrupt::poll();
                let scored = part.score(&band, &mut take);
                if scored.is_err() {
                    stopped.store(true, Ordering::Relaxed);
                    return scored;
                }
            }
        }
        Ok(())
    };
    in_threads(threads, work, work).into_iter().collect()
}

/// Lexes all of a source, each time as much as `want` says. Each text's tokens go to `look`, then
/// each batch and how many texts it has to `keep`. None may be missing.
fn read(
    source: &mut dyn Source,
    mut want: impl FnMut() -> Want,
    lexer: &Lexer,
    mut look: impl FnMut(&View<'_>),
    mut keep: impl FnMut(text_batches::Block, usize),
) -> Result<(), Error> {
    let mut scratch = Scratch::default();
    let mut texts = 0;
    while let Some(batch) = source.next(want()).map_err(missing)? {
        let Some(block) = batch.streams.into_iter().next() else { continue };
        let name = source.name();
        let mut lexed =
            lexer.lex(&block, &mut scratch).map_err(|bad| bad.within(&block, name, texts))?;
        interrupt::poll();
        for _ in 0..batch.count {
            texts += 1;
            let Some(text) = lexed.next_segment() else {
                return Err(Error::MissingText { input: name.to_owned(), segment: texts });
            };
            look(&text);
        }
        keep(block, batch.count);
    }
    Ok(())
}

/// A missing hypothesis is a missing text, on either side.
pub(crate) fn missing(error: Error) -> Error {
    match error {
        Error::MissingHypothesis { input, segment } => Error::MissingText { input, segment },
        other => other,
    }
}

// Sinks for scores -----------------------------------------------------------------------

/// The scores themselves, from a place on, in double or single precision.
pub struct Values<'a, T> {
    /// The first reference of which a score is kept.
    pub first: usize,
    /// Where they go.
    pub values: &'a mut [T],
}

impl Row for Values<'_, f64> {
    fn take(&mut self, first: usize, scores: &[f64]) {
        self.values[first - self.first..][..scores.len()].copy_from_slice(scores);
    }
}

impl Row for Values<'_, f32> {
    fn take(&mut self, first: usize, scores: &[f64]) {
        for (value, score) in self.values[first - self.first..].iter_mut().zip(scores) {
            *value = *score as f32;
        }
    }
}

/// The best few scores and where they are, of equal ones those that come first.
pub struct Best {
    most: usize,
    /// 1 if high scores are good ones, -1 if low ones are.
    sign: f64,
    /// References and their scores, signed: at most twice as many as are wanted, in any order.
    found: Vec<(usize, f64)>,
    /// No score that is not higher is wanted any more.
    least: f64,
}

impl Best {
    /// At most `most`, which is not 0; the highest or the lowest.
    pub fn new(most: usize, lowest: bool) -> Self {
        let sign = if lowest { -1.0 } else { 1.0 };
        Self { most, sign, found: Vec::new(), least: f64::NEG_INFINITY }
    }

    /// The references and their scores, the best first.
    pub fn sorted(mut self) -> Vec<(usize, f64)> {
        self.found.sort_unstable_by(Self::order);
        self.found.truncate(self.most);
        self.found.iter_mut().for_each(|(_, score)| *score *= self.sign);
        self.found
    }

    fn order(a: &(usize, f64), b: &(usize, f64)) -> std::cmp::Ordering {
        b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
    }
}

impl Row for Best {
    fn take(&mut self, first: usize, scores: &[f64]) {
        for (i, score) in scores.iter().enumerate() {
            let score = self.sign * score;
            if score > self.least {
                self.found.push((first + i, score));
                if self.found.len() == 2 * self.most {
                    let last = self.most - 1;
                    let (_, &mut (_, least), _) =
                        self.found.select_nth_unstable_by(last, Self::order);
                    self.found.truncate(self.most);
                    self.least = least;
                }
            }
        }
    }
}

/// The sum of the scores, each with its weight, from left to right.
#[derive(Clone)]
pub struct Expected<'a> {
    weights: Option<&'a [f64]>,
    sum: Sum,
}

impl<'a> Expected<'a> {
    /// Nothing yet. `compensated` is as for [`Sum`].
    pub fn new(weights: Option<&'a [f64]>, compensated: bool) -> Self {
        Self { weights, sum: Sum::new(compensated) }
    }

    /// The sum.
    pub fn sum(&self) -> f64 {
        self.sum.value()
    }
}

impl Row for Expected<'_> {
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
