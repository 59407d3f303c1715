//! All pairs of any metric, one pair after the other.

use super::{BAND, Band, Block, Expected, Pairs, Row, Take, Worker, read, taken};
use crate::count::{CountOne, Counter, Formula, Metric, Reader};
use crate::error::Error;
use crate::interrupt::in_threads;
use crate::lex::Lexer;
use crate::text_batches::{self, Source, Want};
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

/// Some texts, as they came, and how many.
type Texts = (text_batches::Block, usize);

/// All texts of a source, each time as many as `size` says.
fn batches(
    source: &mut dyn Source,
    lexer: &Lexer,
    mut size: impl FnMut() -> usize,
) -> Result<Vec<Texts>, Error> {
    let mut texts = Vec::new();
    let keep = |block, count| texts.push((block, count));
    read(source, || Want::Segments(size()), lexer, |_| {}, keep)?;
    Ok(texts)
}

/// Two lists of texts, as they came, and how to count and score a pair of them.
pub struct Plain<M> {
    counter: Arc<Counter<M>>,
    formula: Arc<dyn Formula>,
    /// [`BAND`] of them in each.
    hypotheses: Vec<Texts>,
    references: Option<Vec<Texts>>,
    /// The owners of the texts' memory. Nothing more is read.
    _sources: Mutex<Vec<Box<dyn Source>>>,
}

impl<M: Metric> Plain<M> {
    /// Reads all texts. Without references, the hypotheses are their own.
    pub fn read(
        counter: Arc<Counter<M>>,
        formula: Arc<dyn Formula>,
        mut hypotheses: Box<dyn Source>,
        mut references: Option<Box<dyn Source>>,
    ) -> Result<Self, Error> {
        let texts = |source: &mut dyn Source, lexer| batches(source, lexer, || BAND);
        Ok(Self {
            hypotheses: texts(hypotheses.as_mut(), &counter.hypotheses)?,
            references: match &mut references {
                Some(references) => Some(texts(references.as_mut(), counter.references())?),
                None => None,
            },
            counter,
            formula,
            _sources: Mutex::new(std::iter::once(hypotheses).chain(references).collect()),
        })
    }

    fn references(&self) -> &[Texts] {
        self.references.as_ref().unwrap_or(&self.hypotheses)
    }
}

impl<M: Metric> Pairs for Plain<M> {
    fn shape(&self) -> (usize, usize) {
        let count = |texts: &[Texts]| texts.iter().map(|(_, count)| count).sum();
        (count(&self.hypotheses), count(self.references()))
    }

    fn block_end(&self, first: usize) -> usize {
        first + self.references()[first / BAND].1
    }

    fn block(&self, references: Range<usize>) -> Box<dyn Block + '_> {
        Box::new(PlainBlock { all: self, references })
    }
}

struct PlainBlock<'a, M> {
    all: &'a Plain<M>,
    references: Range<usize>,
}

impl<M: Metric> Block for PlainBlock<'_, M> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        let reader = Arc::clone(&self.all.counter).reader();
        Box::new(PlainWorker { block: self, reader, scores: Vec::new() })
    }
}

struct PlainWorker<'a, M> {
    block: &'a PlainBlock<'a, M>,
    reader: Box<dyn Reader>,
    scores: Vec<f64>,
}

impl<M: Metric> Worker for PlainWorker<'_, M> {
    fn score(&mut self, band: &Band, take: &mut Take<'_>) -> Result<(), Error> {
        let PlainBlock { all, references } = self.block;
        let (hypotheses, height) = &all.hypotheses[band.hypotheses.start / BAND];
        let (texts, width) = &all.references()[references.start / BAND];
        let Self { reader, scores, .. } = self;
        scores.clear();
        let mut keep = |score| scores.push(score);
        reader.pairs((hypotheses, *height), (texts, *width), &*all.formula, &mut keep)?;
        for (i, scores) in band.hypotheses.clone().zip(scores.chunks_exact(*width)) {
            let first = band.first(i, references);
            if first < references.end {
                take(i, first, &scores[first - references.start..]);
            }
        }
        Ok(())
    }
}

/// Hypotheses and the references that these are scored against, in a list of such sets.
#[derive(Debug)]
pub struct Set {
    /// The number of hypotheses.
    pub hypotheses: usize,
    /// The number of different references.
    pub references: usize,
    /// The references in the order in which their scores are added, some perhaps several times.
    pub order: Vec<usize>,
    /// What each of them weighs.
    pub weights: Option<Vec<f64>>,
    /// What sums are divided by.
    pub whole: f64,
}

/// The mean score of each hypothesis of each set against its references; without references, those
/// of a set are its hypotheses. `compensated` is as for [`Expected`]. Nothing at all if the texts
/// are not as many as the sets say.
pub fn expected<M: Metric>(
    counter: &Arc<Counter<M>>,
    formula: &dyn Formula,
    (mut hypotheses, mut references): (Box<dyn Source>, Option<Box<dyn Source>>),
    sets: &[Set],
    compensated: bool,
    workers: usize,
) -> Result<Vec<f64>, Error> {
    let mut sizes = sets.iter().map(|set| set.hypotheses);
    let own = batches(&mut *hypotheses, &counter.hypotheses, || sizes.next().unwrap_or(1))?;
    let mut sizes = sets.iter().map(|set| set.references);
    let others = references
        .as_mut()
        .map(|source| batches(&mut **source, counter.references(), || sizes.next().unwrap_or(1)))
        .transpose()?;
    let others = others.as_ref().unwrap_or(&own);
    let whole = |texts: &[Texts], size: fn(&Set) -> usize| {
        texts.iter().map(|(_, count)| *count).eq(sets.iter().map(size))
    };
    if !whole(&own, |set| set.hypotheses) || !whole(others, |set| set.references) {
        return Ok(Vec::new());
    }
    let texts: Vec<_> = own.iter().zip(others).zip(sets).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reader = Arc::clone(counter).reader();
        let (mut means, mut row, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((i, &(((own, height), (others, width)), set))) = taken(&next, &texts) {
            scores.clear();
            reader.pairs((own, *height), (others, *width), formula, &mut |score| {
                scores.push(score);
            })?;
            for scores in scores.chunks_exact(*width) {
                row.clear();
                row.extend(set.order.iter().map(|&place| scores[place]));
                let mut sum = Expected::new(set.weights.as_deref(), compensated);
                sum.take(0, &row);
                means.push((i, sum.sum() / set.whole));
            }
        }
        Ok(means)
    };
    let found = in_threads(workers.min(sets.len()), work, work);
    let mut means = found.into_iter().collect::<Result<Vec<_>, Error>>()?.concat();
    // Stable: those of a set are in their order.
    means.sort_by_key(|(i, _)| *i);
    Ok(means.into_iter().map(|(_, mean)| mean).collect())
}
