//! All pairs of any metric, one pair after the other.

use super::{BAND, Band, Block, Pairs, Take, Worker, read};
use crate::count::{CountOne, Counter, Formula, Metric, Reader};
use crate::error::Error;
use crate::text::{self, Source, Want};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Two lists of texts, as they came, and how to count and score a pair of them.
pub struct Plain<M> {
    counter: Arc<Counter<M>>,
    formula: Arc<dyn Formula>,
    /// [`BAND`] of them in each.
    hypotheses: Vec<(text::Block, usize)>,
    references: Option<Vec<(text::Block, usize)>>,
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
        let texts = |source: &mut dyn Source, lexer| {
            let mut texts = Vec::new();
            let keep = |block, count| texts.push((block, count));
            read(source, Want::Segments(BAND), lexer, |_| {}, keep)?;
            Ok::<_, Error>(texts)
        };
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

    fn references(&self) -> &[(text::Block, usize)] {
        self.references.as_ref().unwrap_or(&self.hypotheses)
    }
}

impl<M: Metric> Pairs for Plain<M> {
    fn shape(&self) -> (usize, usize) {
        let count = |texts: &[(text::Block, usize)]| texts.iter().map(|(_, count)| count).sum();
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
