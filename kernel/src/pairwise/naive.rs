//! Scores of all pairs for any metric, computed one pair at a time.

use super::{
    BAND_HEIGHT, Band, Block, Pairs, Row, TakeScores, WeightedSum, Worker, claim_next, lex_source,
};
use crate::count::{Formula, Reader, SingleMetricCount};
use crate::error::Error;
use crate::interrupt::in_threads;
use crate::lex::Lexer;
use crate::text_batches::{self, BatchSize, Source};
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

/// Unprocessed texts and their number.
type TextBatch = (text_batches::Block, usize);

/// Read all texts of a source, in batches of the sizes that `size` returns.
fn read_batches(
    source: &mut dyn Source,
    lexer: &Lexer,
    mut size: impl FnMut() -> usize,
) -> Result<Vec<TextBatch>, Error> {
    let mut texts = Vec::new();
    let take_batch = |block, count| texts.push((block, count));
    lex_source(source, || Some(BatchSize::Segments(size())), lexer, |_| {}, take_batch)?;
    Ok(texts)
}

/// Two lists of unprocessed texts, with the counter and formula for scoring them.
pub struct NaivePairs {
    counter: Arc<dyn SingleMetricCount>,
    formula: Arc<dyn Formula>,
    /// The texts, in batches of [`BAND_HEIGHT`].
    hypotheses: Vec<TextBatch>,
    references: Option<Vec<TextBatch>>,
    /// The sources, kept only because they own the texts' memory.
    _sources: Mutex<Vec<Box<dyn Source>>>,
}

impl NaivePairs {
    /// Read all texts. Without references, the hypotheses also serve as references.
    pub fn read_texts(
        counter: Arc<dyn SingleMetricCount>,
        formula: Arc<dyn Formula>,
        mut hypotheses: Box<dyn Source>,
        mut references: Option<Box<dyn Source>>,
    ) -> Result<Self, Error> {
        let read_source =
            |source: &mut dyn Source, lexer| read_batches(source, lexer, || BAND_HEIGHT);
        let (lexer, reference_lexer) = counter.lexers();
        Ok(Self {
            hypotheses: read_source(hypotheses.as_mut(), lexer)?,
            references: match &mut references {
                Some(references) => Some(read_source(references.as_mut(), reference_lexer)?),
                None => None,
            },
            counter,
            formula,
            _sources: Mutex::new(std::iter::once(hypotheses).chain(references).collect()),
        })
    }

    fn references(&self) -> &[TextBatch] {
        self.references.as_ref().unwrap_or(&self.hypotheses)
    }
}

impl Pairs for NaivePairs {
    fn shape(&self) -> (usize, usize) {
        let count = |texts: &[TextBatch]| texts.iter().map(|(_, count)| count).sum();
        (count(&self.hypotheses), count(self.references()))
    }

    fn block_end(&self, first: usize) -> usize {
        first + self.references()[first / BAND_HEIGHT].1
    }

    fn prepare_block(&self, references: Range<usize>) -> Box<dyn Block + '_> {
        Box::new(NaiveBlock { pairs: self, references })
    }
}

struct NaiveBlock<'a> {
    pairs: &'a NaivePairs,
    references: Range<usize>,
}

impl Block for NaiveBlock<'_> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        let reader = Arc::clone(&self.pairs.counter).reader();
        Box::new(NaiveWorker { block: self, reader, scores: Vec::new() })
    }
}

struct NaiveWorker<'a> {
    block: &'a NaiveBlock<'a>,
    reader: Box<dyn Reader>,
    scores: Vec<f64>,
}

impl Worker for NaiveWorker<'_> {
    fn score(&mut self, band: &Band, take: &mut TakeScores<'_>) -> Result<(), Error> {
        let NaiveBlock { pairs: all, references } = self.block;
        let (hypotheses, height) = &all.hypotheses[band.hypotheses.start / BAND_HEIGHT];
        let (texts, width) = &all.references()[references.start / BAND_HEIGHT];
        let Self { reader, scores, .. } = self;
        scores.clear();
        let mut take_score = |score| scores.push(score);
        reader.pairs((hypotheses, *height), (texts, *width), &*all.formula, &mut take_score)?;
        for (i, scores) in band.hypotheses.clone().zip(scores.chunks_exact(*width)) {
            let first = band.first_reference(i, references);
            if first < references.end {
                take(i, first, &scores[first - references.start..]);
            }
        }
        Ok(())
    }
}

/// Sizes of a set of hypotheses and the references that they are scored against.
#[derive(Debug)]
pub struct ScoringSet {
    /// The number of hypotheses.
    pub hypotheses: usize,
    /// The number of distinct references.
    pub references: usize,
    /// The indices of the references in the order of addition, which may contain repetitions.
    pub order: Vec<usize>,
    /// The weight of each entry of `order`.
    pub weights: Option<Vec<f64>>,
    /// The divisor of the sums.
    pub divisor: f64,
}

/// Return the mean score of each hypothesis in each set against the set's references. Without
/// references, the hypotheses of a set also serve as references. `compensated` has the same meaning
/// as for [`WeightedSum`]. Return `None` if the number of texts does not match the sets.
pub fn expected_scores(
    counter: Arc<dyn SingleMetricCount>,
    formula: &dyn Formula,
    (mut hypotheses, mut references): (Box<dyn Source>, Option<Box<dyn Source>>),
    sets: &[ScoringSet],
    compensated: bool,
    workers: usize,
) -> Result<Vec<f64>, Error> {
    let (lexer, reference_lexer) = counter.lexers();
    let mut sizes = sets.iter().map(|set| set.hypotheses);
    let hypothesis_batches = read_batches(&mut *hypotheses, lexer, || sizes.next().unwrap_or(1))?;
    let mut sizes = sets.iter().map(|set| set.references);
    let mut read_references = |source: &mut Box<dyn Source>| {
        read_batches(&mut **source, reference_lexer, || sizes.next().unwrap_or(1))
    };
    let reference_batches = references.as_mut().map(&mut read_references).transpose()?;
    let reference_batches = reference_batches.as_ref().unwrap_or(&hypothesis_batches);
    let has_sizes = |texts: &[TextBatch], size: fn(&ScoringSet) -> usize| {
        texts.iter().map(|(_, count)| *count).eq(sets.iter().map(size))
    };
    if !has_sizes(&hypothesis_batches, |set| set.hypotheses)
        || !has_sizes(reference_batches, |set| set.references)
    {
        return Ok(Vec::new());
    }
    let texts: Vec<_> = hypothesis_batches.iter().zip(reference_batches).zip(sets).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reader = Arc::clone(&counter).reader();
        let (mut means, mut row, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((i, &(((hypotheses, height), (references, width)), set))) =
            claim_next(&next, &texts)
        {
            scores.clear();
            reader.pairs((hypotheses, *height), (references, *width), formula, &mut |score| {
                scores.push(score);
            })?;
            for scores in scores.chunks_exact(*width) {
                row.clear();
                row.extend(set.order.iter().map(|&place| scores[place]));
                let mut sum = WeightedSum::new(set.weights.as_deref(), compensated);
                sum.take(0, &row);
                means.push((i, sum.sum() / set.divisor));
            }
        }
        Ok(means)
    };
    let results = in_threads(workers.min(sets.len()), work, work);
    let mut means = results.into_iter().collect::<Result<Vec<_>, Error>>()?.concat();
    // The sort is stable, so the hypotheses of a set stay in order.
    means.sort_by_key(|(i, _)| *i);
    Ok(means.into_iter().map(|(_, mean)| mean).collect())
}
