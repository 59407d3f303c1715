//! A set of texts against itself, for Python.

use super::run::{MOST_WORKERS, interruptible};
use super::sources::Source;
use super::table::Table;
use super::{Lexing, current_instructions};
use crate::bleu::ReferenceLength;
use crate::leave_one_out::Set;
use crate::ngrams::MOST_ORDERS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A source's texts, up to `most`, as numbers of tokens.
fn read(
    py: Python<'_>,
    texts: &Source,
    (tokenizer, lowercase): (&str, &str),
    most: usize,
) -> PyResult<Set> {
    let source = texts.take()?;
    let lexer = Lexing::new(py, tokenizer, lowercase)?.with(current_instructions()?)?;
    Ok(interruptible(py, || Set::read(source, &lexer, most))??)
}

/// BLEU's row of each text with all the others as references: hypothesis length, reference length
/// (of the rule "average" the sum of the others'), matches and n-grams of each order.
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
    let rule = ReferenceLength::named(reference_length).ok_or_else(|| {
        PyValueError::new_err(format!("unknown rule for the reference length '{reference_length}'"))
    })?;
    if !(1..=MOST_ORDERS).contains(&max_order) {
        return Err(PyValueError::new_err("max_order must be 1 to 16"));
    }
    let set = read(py, texts, (tokenizer, lowercase), most)?;
    let workers = workers.clamp(1, MOST_WORKERS);
    let rows = interruptible(py, || set.rows(max_order, rule, at_least_one, workers))?;
    Ok(Table::new(rows, 2 + 2 * max_order))
}

/// The number of different n-grams of one order in the texts; and for each text its tokens, its
/// n-grams, and how many of these are different ones.
#[pyfunction]
#[pyo3(signature = (texts, *, tokenizer, lowercase, order))]
pub fn distinct(
    py: Python<'_>,
    texts: &Source,
    tokenizer: &str,
    lowercase: &str,
    order: usize,
) -> PyResult<(usize, Table)> {
    if order == 0 {
        return Err(PyValueError::new_err("n-grams have at least one token"));
    }
    let set = read(py, texts, (tokenizer, lowercase), usize::MAX)?;
    let (different, rows) = interruptible(py, || set.distinct(order))?;
    Ok((different, Table::new(rows, 3)))
}
