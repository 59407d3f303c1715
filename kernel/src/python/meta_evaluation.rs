//! Two scores of the same things, for Python: doubles come as bytes, counts leave as tables.

use super::resample::Stream;
use super::run::{interruptible, list, on_text};
use super::table::Table;
use crate::interrupt::Work;
use crate::meta_evaluation::{self, Average, Counts, Matrices, Row};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|eight| f64::from_ne_bytes(*eight)).collect()
}

/// The rows of two matrices.
fn rows(gold: &[u8], metric: &[u8], systems: usize, average: &str) -> PyResult<Vec<Row>> {
    let average = Average::named(average)
        .ok_or_else(|| PyValueError::new_err(format!("unknown average '{average}'")))?;
    if gold.len() != metric.len() || systems == 0 || !gold.len().is_multiple_of(8 * systems) {
        return Err(PyValueError::new_err("two matrices of the same systems are needed"));
    }
    let (gold, metric) = (doubles(gold), doubles(metric));
    Ok(Matrices { gold: &gold, metric: &metric, systems }.rows(average))
}

/// For each row its cells, its pairs by kind, and the fewer of the different values of both.
#[pyfunction]
pub fn pair_counts(
    py: Python<'_>,
    gold: &[u8],
    metric: &[u8],
    systems: usize,
    average: &str,
    epsilon: f64,
    least: f64,
) -> PyResult<Table> {
    interruptible(py, || {
        let mut values = Vec::new();
        for row in rows(gold, metric, systems, average)? {
            let found = Counts::of(&row, epsilon, least);
            let distinct = |scores: &[f64]| meta_evaluation::distinct(scores);
            values.extend([
                row.gold.len() as i64,
                found.concordant,
                found.discordant,
                found.gold_tied,
                found.metric_tied,
                found.both_tied,
                distinct(&row.gold).min(distinct(&row.metric)),
            ]);
        }
        Ok(Table::new(values, 7))
    })?
}

/// Pearson's r, or Spearman's, of each row, and the number of its cells.
#[pyfunction]
pub fn correlations(
    py: Python<'_>,
    gold: &[u8],
    metric: &[u8],
    systems: usize,
    average: &str,
    ranks: bool,
) -> PyResult<(Vec<f64>, Vec<usize>)> {
    interruptible(py, || {
        let rows = rows(gold, metric, systems, average)?;
        let one = if ranks { meta_evaluation::spearman } else { meta_evaluation::pearson };
        Ok((rows.iter().map(one).collect(), rows.iter().map(|row| row.gold.len()).collect()))
    })?
}

/// The best tie threshold; for each row its pairs, and those that agree with it and without; and
/// the pairs that it ties.
#[pyfunction]
pub fn best_epsilon(
    py: Python<'_>,
    gold: &[u8],
    metric: &[u8],
    systems: usize,
    average: &str,
) -> PyResult<(f64, Table, i64)> {
    interruptible(py, || {
        let best = meta_evaluation::best_epsilon(&rows(gold, metric, systems, average)?);
        Ok((best.epsilon, Table::new(best.rows.concat(), 3), best.tied))
    })?
}

/// A byte for each pair of each row: 1 if the metric agrees with people at this threshold.
#[pyfunction]
pub fn outcomes<'py>(
    py: Python<'py>,
    gold: &[u8],
    metric: &[u8],
    systems: usize,
    average: &str,
    epsilon: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = interruptible(py, || -> PyResult<_> {
        Ok(meta_evaluation::outcomes(&rows(gold, metric, systems, average)?, epsilon))
    })??;
    Ok(PyBytes::new(py, &found))
}

/// For every two systems, how many random exchanges leave the first as far ahead as it is.
#[pyfunction]
pub fn leads(
    py: Python<'_>,
    scores: &[u8],
    systems: usize,
    stream: &Stream,
    samples: usize,
) -> PyResult<Vec<u32>> {
    interruptible(py, || {
        let scores = doubles(scores);
        stream.generator(|draws| meta_evaluation::leads(&scores, systems, draws, samples))
    })?
}

/// The cells that people rated and the metric did not.
#[pyfunction]
pub fn holes<'py>(py: Python<'py>, gold: &[u8], metric: &[u8]) -> PyResult<Bound<'py, PyList>> {
    let found = on_text(py, gold.len(), || {
        let mut work = Work::default();
        let both = doubles(gold).into_iter().zip(doubles(metric)).inspect(|_| work.done(1));
        let missing =
            both.enumerate().filter(|(_, (gold, metric))| !gold.is_nan() && metric.is_nan());
        missing.map(|(cell, _)| cell).collect::<Vec<_>>()
    })?;
    list(py, found)
}

/// For every two metrics, in how many trials the first leads in r by as much as it does. `gold`:
/// the number of cells, the sum of people's scores, that of their squares.
#[pyfunction]
pub fn exceeding(
    py: Python<'_>,
    totals: Vec<i64>,
    exchanged: &Table,
    gold: (f64, f64, f64),
    scale: f64,
    slack: f64,
) -> PyResult<Vec<u32>> {
    if totals.len() != exchanged.width() || !totals.len().is_multiple_of(meta_evaluation::MOMENTS) {
        return Err(PyValueError::new_err("three columns for each metric are needed"));
    }
    let trials = exchanged.values();
    Ok(interruptible(py, || meta_evaluation::exceeding(&totals, trials, gold, scale, slack))?)
}

/// A row for every subset of the rows: their sum.
#[pyfunction]
pub fn subset_sums(py: Python<'_>, table: &Table) -> PyResult<Table> {
    if table.rows().count() > 20 {
        return Err(PyValueError::new_err("expected at most 20 rows"));
    }
    let (values, width) = (table.values(), table.width());
    let sums = interruptible(py, || meta_evaluation::subset_sums(values, width))?;
    Ok(Table::new(sums, width))
}

/// A system, and the number of its lines.
type Block = (String, usize);

/// The blocks of systems of a file, and the doubles of their scores; or the number of the first
/// line that is not a system and a score.
#[pyfunction]
pub fn score_lines<'py>(
    py: Python<'py>,
    text: &[u8],
) -> PyResult<(Vec<Block>, Bound<'py, PyBytes>)> {
    let read = interruptible(py, || {
        meta_evaluation::score_lines(text).map(|(blocks, scores)| {
            let blocks: Vec<_> = blocks.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
            let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_ne_bytes()).collect();
            (blocks, bytes)
        })
    })?;
    match read {
        Ok((blocks, bytes)) => Ok((blocks, PyBytes::new(py, &bytes))),
        Err(line) => Err(PyValueError::new_err(line)),
    }
}
