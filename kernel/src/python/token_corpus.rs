//! Statistics other than metrics for Python: n-grams, words by frequency, and text flags.

use super::run::interruptible;
use super::sources::Source;
use super::table::Table;
use super::texts::PythonTexts;
use super::{
    LexerSettings, current_instructions, decode_token, decode_tokens, require, require_known,
};
use crate::distinctive_ngrams::{ListSettings, NgramEntry, SystemPair};
use crate::interrupt::Work;
use crate::ngrams::MAX_ORDER;
use crate::preservation::NegationWords;
use crate::scripts;
use crate::text_flags::{ColumnTotals, FlagOptions, FlaggedColumn, FlaggedTexts};
use crate::token_corpus::TokenCorpus;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// The tokens of systems and references as ids.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Corpus {
    corpus: TokenCorpus,
}

/// A distinctive n-gram: tokens, matches and counts in each system of the pair, count in the
/// references, log-odds ratio, z-score, and segments.
type NgramTuple<'py> = (Vec<Bound<'py, PyAny>>, Vec<u32>, Vec<u32>, u32, f64, f64, Vec<u32>);

#[pymethods]
impl Corpus {
    /// Read about `most` tokens from the sources, for n-grams of at most `orders` tokens.
    #[new]
    fn new(
        py: Python<'_>,
        systems: Vec<PyRef<'_, Source>>,
        references: Vec<PyRef<'_, Source>>,
        tokenizer: &str,
        lowercase: &str,
        orders: usize,
        most: usize,
    ) -> PyResult<Self> {
        let is_valid = !systems.is_empty() && (1..=MAX_ORDER).contains(&orders);
        require(is_valid, "expected at least one system and a valid order")?;
        let take_all = |sources: Vec<PyRef<'_, Source>>| {
            sources.iter().map(|source| source.take()).collect::<PyResult<Vec<_>>>()
        };
        let (systems, references) = (take_all(systems)?, take_all(references)?);
        let lexer =
            LexerSettings::new(py, tokenizer, lowercase)?.to_lexer(current_instructions()?)?;
        let read = || TokenCorpus::read(systems, references, &lexer, orders, most);
        Ok(Self { corpus: interruptible(py, read)?? })
    }

    /// Return the number of segments.
    fn __len__(&self) -> usize {
        self.corpus.segment_count()
    }

    /// Whether some segments were not read.
    #[getter]
    fn truncated(&self) -> bool {
        self.corpus.is_truncated
    }

    /// Return all distinct tokens.
    fn vocabulary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let vocabulary = &self.corpus.vocabulary;
        decode_tokens(py, (0..vocabulary.count() as u32).map(|id| vocabulary.token(id)))
    }

    /// Return the word counts per frequency bucket
    /// ([`TokenCorpus::count_frequency_buckets`]). `frequencies` contains the
    /// frequency of each token of the vocabulary (default: its frequency in the references).
    fn buckets(
        &self,
        py: Python<'_>,
        edges: Vec<u64>,
        frequencies: Option<Vec<u64>>,
    ) -> PyResult<Table> {
        require((1..=255).contains(&edges.len()), "expected 1 to 255 bucket edges")?;
        let width = edges.len() * (1 + self.corpus.systems);
        let rows = interruptible(py, || {
            let frequencies = frequencies.unwrap_or_else(|| self.corpus.reference_frequencies());
            let has_all_tokens = frequencies.len() == self.corpus.vocabulary.count();
            has_all_tokens.then(|| self.corpus.count_frequency_buckets(&frequencies, &edges))
        })?;
        let rows = rows.ok_or_else(|| PyValueError::new_err("expected one frequency per token"))?;
        Ok(Table::new(rows, width))
    }

    /// Return the distinctive n-grams. For each order and each pair of systems (or system and
    /// None), the result contains the lists of differences, overproduced and missed n-grams.
    #[pyo3(signature = (*, pairs, limit, examples, least = None))]
    fn contrasts<'py>(
        &self,
        py: Python<'py>,
        pairs: Vec<SystemPair>,
        limit: usize,
        examples: usize,
        least: Option<u32>,
    ) -> PyResult<Vec<Vec<Vec<Vec<NgramTuple<'py>>>>>> {
        let systems = self.corpus.systems;
        let are_valid = |&(first, second): &SystemPair| {
            first < systems && second.is_none_or(|second| second < systems)
        };
        let is_valid = limit > 0 && pairs.iter().all(are_valid);
        require(is_valid, "expected valid system indices and a limit of at least 1")?;
        let lists = ListSettings {
            pairs: &pairs,
            max_entries: limit,
            max_examples: examples,
            initial_minimum: least,
        };
        let lists_by_order = interruptible(py, || lists.find_lists(&self.corpus))?;
        let to_tuple = |entry: NgramEntry| -> PyResult<NgramTuple<'py>> {
            let vocabulary = &self.corpus.vocabulary;
            let tokens = entry.tokens.iter().map(|&id| decode_token(py, vocabulary.token(id)));
            Ok((
                tokens.collect::<PyResult<_>>()?,
                entry.match_counts,
                entry.system_counts,
                entry.reference_count,
                entry.log_odds,
                entry.z,
                entry.segments,
            ))
        };
        let to_list =
            |entries: Vec<NgramEntry>| entries.into_iter().map(to_tuple).collect::<PyResult<_>>();
        let to_lists =
            |lists: [Vec<NgramEntry>; 3]| lists.into_iter().map(to_list).collect::<PyResult<_>>();
        let tuples =
            lists_by_order.into_iter().map(|order| order.into_iter().map(to_lists).collect());
        tuples.collect()
    }
}

/// Return the flags of each text: a column of 32-bit little-endian integers per system, per
/// reference, and for the source if there is one. For each column, also return the number of texts
/// with each flag, the numbers of left-to-right letters and of right-to-left letters, and the
/// number of occurrences of each mark.
///
/// Columns are tuples of bytes and None, or lines, of equal length. `unsplit` names the scripts
/// that the tokenizer does not split, each with a maximum share of the characters. `negation`
/// contains the negating words ([`NegationWords::new`]), and `marks` contains the characters to
/// count.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes these arguments by name")]
#[pyo3(signature = (systems, references, source, *, tokenized, unsplit, negation, marks))]
pub fn health<'py>(
    py: Python<'py>,
    systems: Vec<PythonTexts<'py>>,
    references: Vec<PythonTexts<'py>>,
    source: Option<PythonTexts<'py>>,
    tokenized: bool,
    unsplit: Vec<(String, f64)>,
    negation: Vec<String>,
    marks: Vec<char>,
) -> PyResult<Bound<'py, PyList>> {
    let mut columns =
        PythonTexts::columns(systems.iter().chain(&references).chain(&source))?.into_iter();
    let mut take_columns = |count: usize| columns.by_ref().take(count).collect::<Vec<_>>();
    let (systems, references) = (take_columns(systems.len()), take_columns(references.len()));
    let source = columns.next();
    let unsplit = unsplit.into_iter().map(|(name, share)| {
        let find_index = |name: &str| scripts::NAMES.iter().position(|&script| script == name);
        Ok((require_known("script", &name, find_index)?, share))
    });
    let unsplit = unsplit.collect::<PyResult<_>>()?;
    let options = FlagOptions {
        expects_tokenized: tokenized,
        unsplit,
        negation: NegationWords::new(&negation),
        marks,
    };
    let texts = FlaggedTexts { systems, references, source };
    let set = current_instructions()?;
    let columns = interruptible(py, || {
        let mut work = Work::default();
        let columns = texts.compute_flags(&options, set).into_iter().map(
            |FlaggedColumn { flags, totals }| {
                let mut counts = vec![0u64; 32];
                let mut bytes = Vec::with_capacity(4 * flags.len());
                for flags in flags {
                    work.add(8);
                    bytes.extend(flags.to_le_bytes());
                    let mut remaining = flags;
                    while remaining != 0 {
                        counts[remaining.trailing_zeros() as usize] += 1;
                        remaining &= remaining - 1;
                    }
                }
                (bytes, counts, totals)
            },
        );
        columns.collect::<Vec<_>>()
    })?;
    let items = columns.into_iter().map(|(bytes, counts, ColumnTotals { letters, marks })| {
        (PyBytes::new(py, &bytes), counts, letters, marks)
    });
    PyList::new(py, items.collect::<Vec<_>>())
}
