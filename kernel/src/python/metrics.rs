//! The metrics for Python: a counter and its formulas behind one class.

use super::alignment;
use super::pairwise::{MeanScores, Pairs, ReadPairs};
use super::run::{MOST_WORKERS, Scan, interruptible, on_text, summary_dict};
use super::sentence::{Desk, Desks};
use super::sources::Source;
use super::table::{Scores, Table};
use super::{Lexing, chosen_instructions, current_instructions, stopped};
use crate::bleu::{self, ReferenceLength, Smoothing};
use crate::chrf;
use crate::count::{self, Count, CountOne, Counter, Formula, Joint};
use crate::edit_distance;
use crate::error::Error;
use crate::interrupt::Work;
use crate::lex::tercom;
use crate::ngram_f;
use crate::ngrams::MOST_ORDERS;
use crate::pairwise::bleu::Bleu;
use crate::pairwise::naive::{self, Plain};
use crate::pairwise::overlap::{Overlap, Overlaps};
use crate::scan::{Inputs, Scored};
use crate::simd::Instructions;
use crate::ter;
use crate::text_batches::MOST_SEGMENTS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::sync::Arc;

type Make = Box<dyn Fn(Instructions) -> PyResult<Arc<dyn CountOne>> + Send + Sync>;

/// A set of texts: how many hypotheses and different references, the places of these in the order in
/// which they are added, their weights, and what the sum of these is.
#[derive(FromPyObject)]
struct Set(usize, usize, Vec<usize>, Option<Vec<f64>>, f64);

/// A metric with all of its parameters, ready to count and score.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Metric {
    make: Make,
    read_pairs: ReadPairs,
    mean_scores: MeanScores,
    /// For single segments, and for corpora.
    segment: Arc<dyn Formula>,
    corpus: Arc<dyn Formula>,
    /// A score's row has this width; 0 if the rows cannot be scored here.
    width: usize,
    desks: Desks,
}

impl Metric {
    /// A metric that counts `columns` of what `hypotheses` and `references` lex.
    fn new<M: count::Metric + Clone>(
        lexing: (Lexing, Option<Lexing>),
        columns: M,
        segment: Arc<dyn Formula>,
        corpus: Arc<dyn Formula>,
    ) -> Self {
        let width = columns.width();
        let make = Arc::new(move |instructions| -> PyResult<_> {
            let (lexing, other) = (&lexing.0, lexing.1.as_ref());
            Ok(Arc::new(Counter {
                hypotheses: lexing.with(instructions)?,
                references: other.map(|lexing| lexing.with(instructions)).transpose()?,
                metric: columns.clone(),
            }))
        });
        let (maker, formula) = (Arc::clone(&make), Arc::clone(&segment));
        let (other_maker, other_formula) = (Arc::clone(&make), Arc::clone(&segment));
        Self {
            make: Box::new(move |instructions| Ok(make(instructions)?)),
            read_pairs: Box::new(move |instructions, hypotheses, references| {
                let counter = maker(instructions).map_err(stopped)?;
                let formula = Arc::clone(&formula);
                Ok(Box::new(Plain::read(counter, formula, hypotheses, references)?))
            }),
            mean_scores: Box::new(move |instructions, texts, sets, compensated, workers| {
                let counter = other_maker(instructions).map_err(stopped)?;
                naive::expected(&counter, &*other_formula, texts, sets, compensated, workers)
            }),
            segment,
            corpus,
            width,
            desks: Desks::default(),
        }
    }

    /// The same, with a faster way to all pairs of what `lexing` lexes.
    fn overlapping<M: Overlap + Clone>(self, lexing: Lexing, metric: M) -> Self {
        let read_pairs: ReadPairs = Box::new(move |instructions, hypotheses, references| {
            let lexer = lexing.with(instructions).map_err(stopped)?;
            Ok(Box::new(Overlaps::read(metric.clone(), &lexer, hypotheses, references)?))
        });
        Self { read_pairs, ..self }
    }

    /// The counter of this metric's rows.
    pub fn counter(&self) -> PyResult<Arc<dyn Count>> {
        let counter: Arc<dyn Count> = (self.make)(current_instructions()?)?;
        Ok(counter)
    }
}

#[pymethods]
impl Metric {
    /// BLEU.
    #[staticmethod]
    #[pyo3(signature = (*, tokenizer, lowercase, max_order, reference_lengths, at_least_one, smoothing, smoothing_value, effective_order, weights, compensated))]
    #[allow(clippy::too_many_arguments)]
    fn bleu(
        py: Python<'_>,
        tokenizer: &str,
        lowercase: &str,
        max_order: usize,
        reference_lengths: Vec<String>,
        at_least_one: bool,
        smoothing: &str,
        smoothing_value: f64,
        effective_order: (bool, bool),
        weights: Option<Vec<f64>>,
        compensated: bool,
    ) -> PyResult<Self> {
        let smoothing = Smoothing::named(smoothing, smoothing_value)
            .ok_or_else(|| PyValueError::new_err(format!("unknown smoothing '{smoothing}'")))?;
        let fits = weights.as_ref().is_none_or(|weights| weights.len() == max_order);
        if !(1..=MOST_ORDERS).contains(&max_order) || !fits {
            return Err(PyValueError::new_err("max_order must be 1 to 16, with a weight for each"));
        }
        let lengths = reference_lengths.iter().map(|name| {
            ReferenceLength::named(name).ok_or_else(|| {
                PyValueError::new_err(format!("unknown rule for the reference length '{name}'"))
            })
        });
        let lengths = lengths.collect::<PyResult<Vec<_>>>()?;
        let scored = lengths.len() == 1;
        let formula = |effective_order| {
            Arc::new(bleu::Formula {
                smoothing,
                effective_order,
                weights: weights.clone(),
                compensated,
            })
        };
        let lexing = || Lexing::new(py, tokenizer, lowercase);
        let columns = bleu::Columns { lengths, orders: max_order, at_least_one };
        let (segment, corpus) = (formula(effective_order.0), formula(effective_order.1));
        let pairwise = Bleu { orders: max_order, at_least_one, formula: (*segment).clone() };
        let metric =
            Self::new((lexing()?, None), columns, segment, corpus).overlapping(lexing()?, pairwise);
        Ok(Self { width: if scored { metric.width } else { 0 }, ..metric })
    }

    /// chrF.
    #[staticmethod]
    #[pyo3(signature = (*, lowercase, char_order, word_order, whitespace, factor, factor_and_one, eps_smoothing))]
    #[allow(clippy::too_many_arguments)]
    fn chrf(
        py: Python<'_>,
        lowercase: &str,
        char_order: usize,
        word_order: usize,
        whitespace: bool,
        factor: f64,
        factor_and_one: f64,
        eps_smoothing: bool,
    ) -> PyResult<Self> {
        if word_order > MOST_ORDERS || char_order + word_order == 0 {
            return Err(PyValueError::new_err(
                "expected at least one order, and at most 16 of words",
            ));
        }
        let formula = chrf::Formula { factor, factor_and_one, eps_smoothing };
        let columns =
            chrf::Columns { char_order, word_order, whitespace, formula: formula.clone() };
        let lexing = || Lexing::of(py, columns.tokenizer(), lowercase);
        let (lexing, other) = (lexing()?, lexing()?);
        let (pairwise, formula) = (columns.clone(), Arc::new(formula));
        let metric = Self::new((lexing, None), columns, Arc::clone(&formula) as _, formula);
        Ok(metric.overlapping(other, pairwise))
    }

    /// TER.
    #[staticmethod]
    #[pyo3(signature = (*, normalized, no_punct, asian_support, case_sensitive))]
    fn ter(
        py: Python<'_>,
        normalized: bool,
        no_punct: bool,
        asian_support: bool,
        case_sensitive: bool,
    ) -> PyResult<Self> {
        let options = tercom::Options { normalized, no_punct, asian_support, twice: false };
        let (ours, theirs) = alignment::lexing(py, options, case_sensitive)?;
        let lexing = (ours, Some(theirs));
        Ok(Self::new(lexing, ter::Columns, Arc::new(ter::Formula), Arc::new(ter::Formula)))
    }

    /// The word error rate and its relatives, or with `characters` the character error rate.
    #[staticmethod]
    #[pyo3(signature = (*, tokenizer, lowercase, measure, characters))]
    fn edits(
        py: Python<'_>,
        tokenizer: &str,
        lowercase: &str,
        measure: &str,
        characters: bool,
    ) -> PyResult<Self> {
        let measure = edit_distance::Measure::named(measure)
            .ok_or_else(|| PyValueError::new_err(format!("unknown measure '{measure}'")))?;
        let tokenizer = if characters { "whole" } else { tokenizer };
        let lexing = || Lexing::new(py, tokenizer, lowercase);
        let columns = edit_distance::Columns { measure, characters };
        Ok(Self::new((lexing()?, None), columns, Arc::new(measure), Arc::new(measure)))
    }

    /// The F-score of n-grams of some orders together.
    #[staticmethod]
    #[pyo3(signature = (*, tokenizer, lowercase, orders, factor))]
    fn ngram_f(
        py: Python<'_>,
        tokenizer: &str,
        lowercase: &str,
        orders: Vec<usize>,
        factor: f64,
    ) -> PyResult<Self> {
        if !orders.is_sorted() || !orders.iter().all(|order| (1..=MOST_ORDERS).contains(order)) {
            return Err(PyValueError::new_err("orders must be 1 to 16, the highest last"));
        }
        let lexing = || Lexing::new(py, tokenizer, lowercase);
        let formula = ngram_f::Formula { factor };
        let columns = ngram_f::Columns { orders, formula };
        Ok(Self::new((lexing()?, None), columns, Arc::new(formula), Arc::new(formula)))
    }

    /// Starts a run over hypotheses and references, with the rows of `others` beside this one's.
    #[pyo3(signature = (hypotheses, references, workers, others=Vec::new()))]
    fn scan(
        &self,
        hypotheses: &Source,
        references: Vec<PyRef<'_, Source>>,
        workers: usize,
        others: Vec<PyRef<'_, Self>>,
    ) -> PyResult<Scan> {
        let references = references.iter().map(|source| source.take());
        let inputs = Inputs {
            hypotheses: hypotheses.take()?,
            references: references.collect::<PyResult<_>>()?,
        };
        let mut counters = vec![self.counter()?];
        for other in &others {
            counters.push(other.counter()?);
        }
        let counter = joined(counters);
        let scan = crate::scan::Scan::new(inputs);
        Ok(Scan { scan, counter, workers: workers.clamp(1, MOST_WORKERS) })
    }

    /// The scores of all segments that are left in a run.
    fn segments<'py>(&self, py: Python<'py>, run: &Scan) -> PyResult<(Scores, Bound<'py, PyDict>)> {
        let width = run.counter.width();
        let mut sinks: Vec<_> =
            (0..run.workers).map(|_| Scored::new(&*self.segment, width)).collect();
        let (summary, scores) = interruptible(py, || -> Result<_, Error> {
            let summary = run.scan.run(&run.counter, None, &mut sinks, &mut |_| Ok(()))?;
            Ok((summary, Scored::joined(sinks)))
        })??;
        Ok((Scores::new(scores), summary_dict(py, &summary)?))
    }

    /// The scores of a table's rows, each a segment or the totals of a corpus.
    fn scores(&self, py: Python<'_>, table: &Table, corpus: bool) -> PyResult<Scores> {
        if table.width() != self.width {
            return Err(PyValueError::new_err(
                "the table has another number of columns than this metric",
            ));
        }
        let formula = if corpus { &self.corpus } else { &self.segment };
        let mut work = Work::default();
        let score = |row| {
            work.done(1 << 6);
            formula.score(row)
        };
        Ok(interruptible(py, || Scores::new(table.rows().map(score).collect()))?)
    }

    /// The score of one segment, the bytes of its row, and how many references it had.
    #[pyo3(signature = (hypothesis, references, /))]
    fn sentence<'py>(
        &self,
        hypothesis: &Bound<'py, PyString>,
        references: &Bound<'py, PyAny>,
    ) -> PyResult<(f64, Bound<'py, PyBytes>, usize)> {
        let py = hypothesis.py();
        let make = || Ok((self.make)(current_instructions()?)?.reader());
        self.desks.at_one(chosen_instructions(), make, |desk| {
            desk.texts.read(hypothesis, references)?;
            let Desk { texts, reader, .. } = desk;
            let count = texts.references();
            let row = on_text(py, texts.bytes(), || reader.sentence(texts.block(), count))??;
            Ok((self.segment.score(row), bytes_of(py, row)?, count))
        })
    }

    /// The mean score of each hypothesis of each set against the references of the set; without
    /// references, against each other.
    #[pyo3(signature = (hypotheses, references, sets, compensated, workers))]
    fn expected(
        &self,
        py: Python<'_>,
        hypotheses: &Source,
        references: Option<&Source>,
        sets: Vec<Set>,
        compensated: bool,
        workers: usize,
    ) -> PyResult<Scores> {
        let texts = (hypotheses.take()?, references.map(Source::take).transpose()?);
        let instructions = current_instructions()?;
        let sets: Vec<_> = sets
            .into_iter()
            .map(|Set(hypotheses, references, order, weights, whole)| naive::Set {
                hypotheses,
                references,
                order,
                weights,
                whole,
            })
            .collect();
        let fits = |set: &naive::Set| {
            let weighted = set.weights.as_ref().is_none_or(|all| all.len() == set.order.len());
            let sizes = [set.hypotheses, set.references];
            weighted
                && sizes.iter().all(|size| (1..=MOST_SEGMENTS).contains(size))
                && set.order.iter().all(|&place| place < set.references)
                && (references.is_some() || set.hypotheses == set.references)
        };
        if !sets.iter().all(fits) {
            return Err(PyValueError::new_err("sets that do not fit"));
        }
        let workers = workers.clamp(1, MOST_WORKERS);
        let found = interruptible(py, || {
            (self.mean_scores)(instructions, texts, &sets, compensated, workers)
        })??;
        if found.len() != sets.iter().map(|set| set.hypotheses).sum::<usize>() {
            return Err(PyValueError::new_err("other texts than those of the sets"));
        }
        Ok(Scores::new(found))
    }

    /// Reads texts, to score each hypothesis against each reference; without references, against
    /// each other.
    #[pyo3(signature = (hypotheses, references, workers))]
    fn pairs(
        &self,
        py: Python<'_>,
        hypotheses: &Source,
        references: Option<&Source>,
        workers: usize,
    ) -> PyResult<Pairs> {
        let hypotheses = hypotheses.take()?;
        let references = references.map(Source::take).transpose()?;
        let instructions = current_instructions()?;
        let pairs = interruptible(py, || (self.read_pairs)(instructions, hypotheses, references))??;
        Ok(Pairs::new(pairs, workers.clamp(1, MOST_WORKERS)))
    }
}

/// The bytes of a row, as the machine has them.
fn bytes_of<'py>(py: Python<'py>, row: &[i64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, size_of_val(row), |bytes| {
        for (place, number) in bytes.chunks_exact_mut(size_of::<i64>()).zip(row) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })
}

/// One counter for all: a lone one itself.
pub fn joined(mut counters: Vec<Arc<dyn Count>>) -> Arc<dyn Count> {
    match counters.pop() {
        Some(only) if counters.is_empty() => only,
        last => {
            counters.extend(last);
            Arc::new(Joint(counters))
        }
    }
}
