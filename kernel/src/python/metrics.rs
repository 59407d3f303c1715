//! The metrics for Python, as a class that combines a counter with its formulas.

use super::alignment;
use super::pairwise::Pairs;
use super::run::{MAX_WORKERS, Scan, interruptible, run_on_text, summary_dict};
use super::sentence::{ReaderPool, ReaderSlot, ScoreClass};
use super::sources::Source;
use super::table::{Scores, Table};
use super::{LexerSettings, current_instructions, require, require_known, selected_instructions};
use crate::bleu::{self, ReferenceLength, Smoothing};
use crate::chrf;
use crate::count::{self, Count, Counter, Formula, JointCounter, SingleMetricCount};
use crate::edit_distance::{self, EditMeasure};
use crate::error::Error;
use crate::interrupt::Work;
use crate::lex::tercom;
use crate::ngram_f;
use crate::ngrams::MAX_ORDER;
use crate::pairwise;
use crate::pairwise::bleu::PairwiseBleu;
use crate::pairwise::naive::{self, NaivePairs};
use crate::pairwise::overlap::{Overlap, OverlapPairs};
use crate::sari;
use crate::scan::{Inputs, RowScores};
use crate::simd::Instructions;
use crate::ter;
use crate::text_batches::{self, MAX_BATCH_SEGMENTS};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyString};
use std::sync::{Arc, OnceLock};

/// A function that creates a counter for an instruction set.
type MakeCounter = Box<dyn Fn(Instructions) -> PyResult<Arc<dyn SingleMetricCount>> + Send + Sync>;

/// A function that reads texts for scoring pairs: hypotheses, and references if they differ.
type ReadPairs = Box<
    dyn Fn(
            Instructions,
            Box<dyn text_batches::Source>,
            Option<Box<dyn text_batches::Source>>,
        ) -> Result<Box<dyn pairwise::Pairs>, Error>
        + Send
        + Sync,
>;

/// A set of texts: the numbers of hypotheses and of distinct references, the indices of the
/// references in the order of summation, their weights, and the divisor.
#[derive(FromPyObject)]
struct SetTuple(usize, usize, Vec<usize>, Option<Vec<f64>>, f64);

/// A metric with all settings, ready for counting and scoring.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Metric {
    make: MakeCounter,
    /// A faster method for scoring pairs, if the metric has one.
    read_pairs: Option<ReadPairs>,
    /// The formulas for single segments and for corpora.
    segment: Arc<dyn Formula>,
    corpus: Arc<dyn Formula>,
    /// The width of the rows that the formulas accept, or 0 if they cannot score rows.
    width: usize,
    reader_pool: ReaderPool,
    score_class: OnceLock<ScoreClass>,
}

impl Metric {
    /// Create a metric that counts `columns` of texts lexed with these settings.
    fn new<M: count::Metric + Clone>(
        settings: (LexerSettings, Option<LexerSettings>),
        columns: M,
        segment: impl Formula + 'static,
        corpus: impl Formula + 'static,
    ) -> Self {
        let width = columns.width();
        Self {
            make: Box::new(move |instructions| {
                let (hypotheses, references) = &settings;
                let references =
                    references.as_ref().map(|settings| settings.to_lexer(instructions));
                Ok(Arc::new(Counter {
                    hypotheses: hypotheses.to_lexer(instructions)?,
                    references: references.transpose()?,
                    metric: columns.clone(),
                }))
            }),
            read_pairs: None,
            segment: Arc::new(segment),
            corpus: Arc::new(corpus),
            width,
            reader_pool: ReaderPool::default(),
            score_class: OnceLock::new(),
        }
    }

    /// Return this metric with a faster method for scoring pairs of texts lexed with these
    /// settings.
    fn with_overlap<M: Overlap + Clone>(self, settings: LexerSettings, metric: M) -> Self {
        let read_pairs: ReadPairs = Box::new(move |instructions, hypotheses, references| {
            let lexer = settings.to_lexer(instructions)?;
            Ok(Box::new(OverlapPairs::read_texts(metric.clone(), &lexer, hypotheses, references)?))
        });
        Self { read_pairs: Some(read_pairs), ..self }
    }

    /// Return the counter of this metric's rows.
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
        let smoothing = parse_smoothing(smoothing, smoothing_value)?;
        let has_all_weights = weights.as_ref().is_none_or(|weights| weights.len() == max_order);
        let is_valid = (1..=MAX_ORDER).contains(&max_order) && has_all_weights;
        require(is_valid, "expected a max_order from 1 to 16 and one weight per order")?;
        let lengths = reference_lengths.iter().map(|name| parse_length_rule(name));
        let lengths = lengths.collect::<PyResult<Vec<_>>>()?;
        let is_scorable = lengths.len() == 1;
        let segment = bleu::BleuFormula {
            smoothing,
            effective_order: effective_order.0,
            weights,
            compensated,
        };
        let corpus = bleu::BleuFormula { effective_order: effective_order.1, ..segment.clone() };
        let settings = LexerSettings::new(py, tokenizer, lowercase)?;
        let columns = bleu::BleuColumns { lengths, max_order, at_least_one };
        let pairwise = PairwiseBleu { max_order, at_least_one, formula: segment.clone() };
        let metric = Self::new((settings.clone(), None), columns, segment, corpus)
            .with_overlap(settings, pairwise);
        Ok(Self { width: if is_scorable { metric.width } else { 0 }, ..metric })
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
        require(
            word_order <= MAX_ORDER && char_order + word_order > 0,
            "expected char_order + word_order of at least 1, and word_order of at most 16",
        )?;
        let formula = chrf::ChrfFormula { factor, factor_and_one, eps_smoothing };
        let columns =
            chrf::ChrfColumns { char_order, word_order, whitespace, formula: formula.clone() };
        let settings = LexerSettings::from_tokenizer(py, columns.tokenizer(), lowercase)?;
        let lexers = (settings.clone(), None);
        let metric = Self::new(lexers, columns.clone(), formula.clone(), formula);
        Ok(metric.with_overlap(settings, columns))
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
        let options =
            tercom::TercomOptions { normalized, no_punct, asian_support, applies_twice: false };
        let (hypothesis_settings, reference_settings) =
            alignment::ter_lexer_settings(py, options, case_sensitive)?;
        let settings = (hypothesis_settings, Some(reference_settings));
        Ok(Self::new(settings, ter::TerColumns, ter::TerFormula, ter::TerFormula))
    }

    /// The word error rate and related metrics. With `characters`, the character error rate.
    #[staticmethod]
    #[pyo3(signature = (*, tokenizer, lowercase, measure, characters))]
    fn edits(
        py: Python<'_>,
        tokenizer: &str,
        lowercase: &str,
        measure: &str,
        characters: bool,
    ) -> PyResult<Self> {
        let measure = require_known("measure", measure, EditMeasure::from_name)?;
        let tokenizer = if characters { "whole" } else { tokenizer };
        let settings = LexerSettings::new(py, tokenizer, lowercase)?;
        let columns = edit_distance::EditColumns { measure, aligns_characters: characters };
        Ok(Self::new((settings, None), columns, measure, measure))
    }

    /// The F-score over the n-grams of all given orders.
    #[staticmethod]
    #[pyo3(signature = (*, tokenizer, lowercase, orders, factor))]
    fn ngram_f(
        py: Python<'_>,
        tokenizer: &str,
        lowercase: &str,
        orders: Vec<usize>,
        factor: f64,
    ) -> PyResult<Self> {
        let is_valid =
            orders.is_sorted() && orders.iter().all(|order| (1..=MAX_ORDER).contains(order));
        require(is_valid, "orders must be integers from 1 to 16 in ascending order")?;
        let settings = LexerSettings::new(py, tokenizer, lowercase)?;
        let formula = ngram_f::NgramFFormula { factor };
        let columns = ngram_f::NgramFColumns { orders, formula };
        Ok(Self::new((settings, None), columns, formula, formula))
    }

    /// SARI, whose scans read the sources, the hypotheses and the references, in this order.
    #[staticmethod]
    #[pyo3(signature = (*, tokenizer, lowercase, split_sources, averages_precisions, deletion_precision))]
    fn sari(
        py: Python<'_>,
        tokenizer: &str,
        lowercase: &str,
        split_sources: bool,
        averages_precisions: bool,
        deletion_precision: bool,
    ) -> PyResult<Self> {
        let texts = LexerSettings::new(py, tokenizer, lowercase)?;
        let settings = match split_sources {
            true => (LexerSettings::new(py, "none", "no")?, Some(texts)),
            false => (texts, None),
        };
        let formula = sari::SariFormula { averages_precisions, deletion_precision };
        Ok(Self::new(settings, sari::SariColumns, formula, formula))
    }

    /// Start a scan of hypotheses and references. Each row contains this metric's columns, followed
    /// by the columns of `others`. Without `examines_text`, the summaries lack the counts for warnings
    /// about the texts.
    #[pyo3(signature = (hypotheses, references, workers, others=Vec::new(), examines_text=true))]
    fn scan(
        &self,
        hypotheses: &Source,
        references: Vec<PyRef<'_, Source>>,
        workers: usize,
        others: Vec<PyRef<'_, Self>>,
        examines_text: bool,
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
        let counter = combine_counters(counters);
        let mut scan = crate::scan::Scan::new(inputs);
        scan.has_warnings = examines_text;
        Ok(Scan { scan, counter, workers: workers.clamp(1, MAX_WORKERS) })
    }

    /// Return the scores of all remaining segments of a run.
    fn segments<'py>(&self, py: Python<'py>, run: &Scan) -> PyResult<(Scores, Bound<'py, PyDict>)> {
        let width = run.counter.width();
        let mut sinks: Vec<_> =
            (0..run.workers).map(|_| RowScores::new(&*self.segment, width)).collect();
        let (summary, scores) = interruptible(py, || -> Result<_, Error> {
            let summary = run.scan.run(&run.counter, None, &mut sinks, &mut |_| Ok(()))?;
            Ok((summary, RowScores::merge(sinks)))
        })??;
        Ok((Scores::new(scores), summary_dict(py, &summary)?))
    }

    /// Return the score of each row of a table. Rows describe segments or, with `corpus`, corpora.
    fn scores(&self, py: Python<'_>, table: &Table, corpus: bool) -> PyResult<Scores> {
        let has_width = table.width() == self.width;
        require(has_width, "the table's number of columns does not match the metric")?;
        let formula = if corpus { &self.corpus } else { &self.segment };
        let mut work = Work::default();
        let score = |row| {
            work.add(1 << 6);
            formula.score(row)
        };
        Ok(interruptible(py, || Scores::new(table.rows().map(score).collect()))?)
    }

    /// Return the score of one segment, the bytes of its row, and its number of references.
    #[pyo3(signature = (hypothesis, references, /))]
    fn sentence<'py>(
        &self,
        hypothesis: &Bound<'py, PyString>,
        references: &Bound<'py, PyAny>,
    ) -> PyResult<(f64, Bound<'py, PyBytes>, usize)> {
        let py = hypothesis.py();
        let make_reader = || Ok((self.make)(current_instructions()?)?.reader());
        self.reader_pool.with_reader(selected_instructions(), make_reader, |slot| {
            slot.texts.set_texts(hypothesis, references)?;
            let ReaderSlot { texts, reader, .. } = slot;
            let count = texts.reference_count();
            let row =
                run_on_text(py, texts.byte_count(), || reader.sentence(texts.block(), count))??;
            Ok((self.segment.score(row), row_bytes(py, row)?, count))
        })
    }

    /// Return the score of one segment as an object of the class of the Python metric's scores.
    #[pyo3(signature = (metric, hypothesis, references, /))]
    fn sentence_score<'py>(
        &self,
        metric: &Bound<'py, PyAny>,
        hypothesis: &Bound<'py, PyString>,
        references: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = hypothesis.py();
        let class = match self.score_class.get() {
            Some(class) => class,
            None => {
                let class = ScoreClass::new(metric.getattr("SCORE")?.cast_into()?)?;
                self.score_class.get_or_init(|| class)
            }
        };
        let (value, row, count) = self.sentence(hypothesis, references)?;
        let (value, count) = (PyFloat::new(py, value), count.into_pyobject(py)?);
        let is_segment = PyBool::new(py, true);
        class.create(py, [metric, &row, &count, &is_segment, &value])
    }

    /// Return the mean score of each hypothesis in each set against the set's references. Without
    /// references, the hypotheses also serve as references.
    #[pyo3(signature = (hypotheses, references, sets, compensated, workers))]
    fn expected(
        &self,
        py: Python<'_>,
        hypotheses: &Source,
        references: Option<&Source>,
        sets: Vec<SetTuple>,
        compensated: bool,
        workers: usize,
    ) -> PyResult<Scores> {
        let texts = (hypotheses.take()?, references.map(Source::take).transpose()?);
        let instructions = current_instructions()?;
        let sets: Vec<_> =
            sets.into_iter()
                .map(|SetTuple(hypotheses, references, order, weights, divisor)| {
                    naive::ScoringSet { hypotheses, references, order, weights, divisor }
                })
                .collect();
        let is_valid = |set: &naive::ScoringSet| {
            let has_all_weights =
                set.weights.as_ref().is_none_or(|weights| weights.len() == set.order.len());
            let sizes = [set.hypotheses, set.references];
            has_all_weights
                && sizes.iter().all(|size| (1..=MAX_BATCH_SEGMENTS).contains(size))
                && set.order.iter().all(|&i| i < set.references)
                && (references.is_some() || set.hypotheses == set.references)
        };
        require(sets.iter().all(is_valid), "invalid sets")?;
        let workers = workers.clamp(1, MAX_WORKERS);
        let scores = interruptible(py, || {
            let counter = (self.make)(instructions)?;
            naive::expected_scores(counter, &*self.segment, texts, &sets, compensated, workers)
        })??;
        let has_all_texts = scores.len() == sets.iter().map(|set| set.hypotheses).sum::<usize>();
        require(has_all_texts, "the number of texts differs from the sizes of the sets")?;
        Ok(Scores::new(scores))
    }

    /// Read texts for scoring each hypothesis against each reference. Without references, the
    /// hypotheses also serve as references.
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
        let pairs = interruptible(py, || -> Result<Box<dyn pairwise::Pairs>, Error> {
            if let Some(read_pairs) = &self.read_pairs {
                return read_pairs(instructions, hypotheses, references);
            }
            let (counter, formula) = ((self.make)(instructions)?, Arc::clone(&self.segment));
            Ok(Box::new(NaivePairs::read_texts(counter, formula, hypotheses, references)?))
        })??;
        Ok(Pairs::new(pairs, workers.clamp(1, MAX_WORKERS)))
    }
}

/// Return the smoothing method with this name and value.
pub(super) fn parse_smoothing(name: &str, value: f64) -> PyResult<Smoothing> {
    require_known("smoothing", name, |name| Smoothing::from_name(name, value))
}

/// Return the reference length rule with this name.
pub(super) fn parse_length_rule(name: &str) -> PyResult<ReferenceLength> {
    require_known("reference length rule", name, ReferenceLength::from_name)
}

/// Return the bytes of a row in native byte order.
fn row_bytes<'py>(py: Python<'py>, row: &[i64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, size_of_val(row), |bytes| {
        for (target, number) in bytes.chunks_exact_mut(size_of::<i64>()).zip(row) {
            target.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })
}

/// Combine counters into one. Return a single counter unchanged.
pub fn combine_counters(mut counters: Vec<Arc<dyn Count>>) -> Arc<dyn Count> {
    match counters.pop() {
        Some(single) if counters.is_empty() => single,
        last => {
            counters.extend(last);
            Arc::new(JointCounter(counters))
        }
    }
}
