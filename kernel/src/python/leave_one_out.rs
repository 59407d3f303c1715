//! Leave-one-out scores of a set of texts, for Python.

use super::metrics::parse_length_rule;
use super::run::{MAX_WORKERS, interruptible};
use super::sources::Source;
use super::table::Table;
use super::{LexerSettings, current_instructions, require};
use crate::leave_one_out::TextSet;
use crate::ngrams::MAX_ORDER;
use pyo3::prelude::*;

/// Read up to `max_texts` texts of a source as token ids.
fn read_set(
    py: Python<'_>,
    texts: &Source,
    (tokenizer, lowercase): (&str, &str),
    max_texts: usize,
) -> PyResult<TextSet> {
    let source = texts.take()?;
    let lexer = LexerSettings::new(py, tokenizer, lowercase)?.to_lexer(current_instructions()?)?;
    Ok(interruptible(py, || TextSet::read_texts(source, &lexer, max_texts))??)
}

/// Return the BLEU statistics of each text with all other texts as references. The columns are the
/// hypothesis length, the reference length, the number of matches of each order, and the number of
/// n-grams of each order. For the rule "average", the reference length is the sum of the other
/// lengths.
#[pyfunction]
#[pyo3(signature = (texts, *, tokenizer, lowercase, max_order, reference_length, at_least_one, most, workers))]
#[allow(clippy::too_many_arguments)]
pub fn left_out(
    py: Python<'_>,
    texts: &Source,
    tokenizer: &str,
    lowercase: &str,
    max_order: usize,
    reference_length: &str,
    at_least_one: bool,
    most: usize,
    workers: usize,
) -> PyResult<Table> {
    let rule = parse_length_rule(reference_length)?;
    require((1..=MAX_ORDER).contains(&max_order), "max_order must be from 1 to 16")?;
    let set = read_set(py, texts, (tokenizer, lowercase), most)?;
    let workers = workers.clamp(1, MAX_WORKERS);
    let rows = interruptible(py, || set.bleu_rows(max_order, rule, at_least_one, workers))?;
    Ok(Table::new(rows, 2 + 2 * max_order))
}

/// Return the number of distinct n-grams of one order in all texts. Also return three numbers for
/// each text: tokens, n-grams, and distinct n-grams.
#[pyfunction]
#[pyo3(signature = (texts, *, tokenizer, lowercase, order))]
pub fn distinct(
    py: Python<'_>,
    texts: &Source,
    tokenizer: &str,
    lowercase: &str,
    order: usize,
) -> PyResult<(usize, Table)> {
    require(order > 0, "order must be at least 1")?;
    let set = read_set(py, texts, (tokenizer, lowercase), usize::MAX)?;
    let (distinct_count, rows) = interruptible(py, || set.count_distinct(order))?;
    Ok((distinct_count, Table::new(rows, 3)))
}
