//! Counts beside the metrics, for Python: n-grams, words by frequency, the health of texts.

use super::run::{interruptible, signals};
use super::sources::Source;
use super::table::Table;
use super::texts::Held;
use super::{Lexing, current_instructions, decoded};
use crate::distinctive_ngrams::{Entry, Lists, Pair};
use crate::interrupt::Work;
use crate::ngrams::MOST_ORDERS;
use crate::preservation::Negation;
use crate::scripts;
use crate::text_flags::{Column, Options, Texts, Totals};
use crate::token_corpus;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// The tokens of systems and references, as numbers.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Corpus {
    corpus: token_corpus::Corpus,
    orders: usize,
}

/// Tokens, matched and produced by each system of the pair, in the references, log-odds, z, segments.
type Gram<'py> = (Vec<Bound<'py, PyAny>>, Vec<u32>, Vec<u32>, u32, f64, f64, Vec<u32>);

#[pymethods]
impl Corpus {
    /// Reads sources up to about `most` tokens, to look at n-grams up to `orders`.
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
        if systems.is_empty() || !(1..=MOST_ORDERS).contains(&orders) {
            return Err(PyValueError::new_err("expected at least one system and a valid order"));
        }
        let taken = |sources: Vec<PyRef<'_, Source>>| {
            sources.iter().map(|source| source.take()).collect::<PyResult<Vec<_>>>()
        };
        let (systems, references) = (taken(systems)?, taken(references)?);
        let lexer = Lexing::new(py, tokenizer, lowercase)?.with(current_instructions()?)?;
        let corpus = interruptible(py, || {
            token_corpus::Corpus::read(
                systems,
                references,
                &lexer,
                orders,
                most,
                &mut signals(None),
            )
        })??;
        Ok(Self { corpus, orders })
    }

    /// The number of segments.
    fn __len__(&self) -> usize {
        self.corpus.count()
    }

    /// True if there were more than were read.
    #[getter]
    fn truncated(&self) -> bool {
        self.corpus.truncated
    }

    /// All different tokens.
    fn vocabulary<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let tokens = (0..self.corpus.vocabulary.count() as u32).map(|number| {
            if number % (1 << 14) == 0 {
                py.check_signals()?;
            }
            self.token(py, number)
        });
        tokens.collect()
    }

    /// For each segment the reference words of each bucket, and those that each system matched, as
    /// [`inventory::Corpus::buckets`] has them. `frequencies` are of the tokens of the vocabulary;
    /// those in the references if there are none.
    fn buckets(
        &self,
        py: Python<'_>,
        edges: Vec<u64>,
        frequencies: Option<Vec<u64>>,
    ) -> PyResult<Table> {
        if edges.is_empty() || edges.len() > usize::from(u8::MAX) {
            return Err(PyValueError::new_err("expected some edges"));
        }
        let width = edges.len() * (1 + self.corpus.systems);
        let rows = interruptible(py, || {
            let frequencies = frequencies.unwrap_or_else(|| self.corpus.reference_frequencies());
            let known = frequencies.len() == self.corpus.vocabulary.count();
            known.then(|| self.corpus.buckets(&frequencies, &edges))
        })?;
        let rows = rows.ok_or_else(|| PyValueError::new_err("every token needs a frequency"))?;
        Ok(Table::new(rows, width))
    }

    /// For each order, and each pair of systems (or one and None), the n-grams of the differences,
    /// of those that are over, and of those that are missed.
    #[pyo3(signature = (*, pairs, limit, examples, least = None))]
    fn contrasts<'py>(
        &self,
        py: Python<'py>,
        pairs: Vec<Pair>,
        limit: usize,
        examples: usize,
        least: Option<u32>,
    ) -> PyResult<Vec<Vec<Vec<Vec<Gram<'py>>>>>> {
        let systems = self.corpus.systems;
        let known =
            |&(one, other): &Pair| one < systems && other.is_none_or(|other| other < systems);
        if limit == 0 || !pairs.iter().all(known) {
            return Err(PyValueError::new_err("expected known systems and a limit of at least 1"));
        }
        let lists = Lists { orders: self.orders, pairs: &pairs, limit, examples, least };
        let found = interruptible(py, || lists.of(&self.corpus))?;
        let gram = |entry: Entry| -> PyResult<Gram<'py>> {
            let tokens = entry.tokens.iter().map(|&number| self.token(py, number));
            Ok((
                tokens.collect::<PyResult<_>>()?,
                entry.matched,
                entry.produced,
                entry.reference,
                entry.log_odds,
                entry.z,
                entry.segments,
            ))
        };
        let list = |entries: Vec<Entry>| entries.into_iter().map(gram).collect::<PyResult<_>>();
        let lists = |lists: [Vec<Entry>; 3]| lists.into_iter().map(list).collect::<PyResult<_>>();
        let orders = found.into_iter().map(|order| order.into_iter().map(lists).collect());
        orders.collect()
    }
}

impl Corpus {
    fn token<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyAny>> {
        decoded(py, self.corpus.vocabulary.token(number))
    }
}

/// The flags of each text, as bits: a column of 32-bit little-endian integers for each system, each
/// reference, and the source if there is one, with the number of texts that have each bit, the
/// letters of all texts from left to right and from right to left, and how often each mark occurs.
///
/// Columns are tuples of bytes and None, or lines, all of the same length. `unsplit` are the scripts that
/// the tokenizer leaves in long pieces, by name, each with the share of a text that is too much;
/// `negation` the words that negate, as [`Negation::new`] takes them; `marks` characters to count.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
#[pyo3(signature = (systems, references, source, *, tokenized, unsplit, negation, marks))]
pub fn health<'py>(
    py: Python<'py>,
    systems: Vec<Held<'py>>,
    references: Vec<Held<'py>>,
    source: Option<Held<'py>>,
    tokenized: bool,
    unsplit: Vec<(String, f64)>,
    negation: Vec<String>,
    marks: Vec<char>,
) -> PyResult<Bound<'py, PyList>> {
    let mut columns = Held::columns(systems.iter().chain(&references).chain(&source))?.into_iter();
    let mut first = |count: usize| columns.by_ref().take(count).collect::<Vec<_>>();
    let (systems, references) = (first(systems.len()), first(references.len()));
    let source = columns.next();
    let unsplit = unsplit.into_iter().map(|(name, share)| {
        let script = scripts::NAMES.iter().position(|&known| known == name);
        Ok((script.ok_or_else(|| PyValueError::new_err(format!("no script '{name}'")))?, share))
    });
    let unsplit = unsplit.collect::<PyResult<_>>()?;
    let options = Options { tokenized, unsplit, negation: Negation::new(&negation), marks };
    let texts = Texts { systems, references, source };
    let set = current_instructions()?;
    let columns = interruptible(py, || {
        let mut work = Work::default();
        let columns = texts.flags(&options, set).into_iter().map(|Column { flags, totals }| {
            let mut counts = vec![0u64; 32];
            let mut bytes = Vec::with_capacity(4 * flags.len());
            for flags in flags {
                work.done(8);
                bytes.extend(flags.to_le_bytes());
                let mut rest = flags;
                while rest != 0 {
                    counts[rest.trailing_zeros() as usize] += 1;
                    rest &= rest - 1;
                }
            }
            (bytes, counts, totals)
        });
        columns.collect::<Vec<_>>()
    })?;
    let told = columns.into_iter().map(|(bytes, counts, Totals { letters, marks })| {
        (PyBytes::new(py, &bytes), counts, letters, marks)
    });
    PyList::new(py, told.collect::<Vec<_>>())
}
