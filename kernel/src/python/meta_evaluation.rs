//! Meta-evaluation for Python. Scores are passed as bytes of doubles, and counts are returned as
//! tables.

use super::require;
use super::resample::Stream;
use super::run::{create_list, interruptible, run_on_text};
use super::table::Table;
use crate::interrupt::Work;
use crate::meta_evaluation::{self, Averaging, PairCounts, ScoreMatrices, ScoreRow};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Decode doubles in native byte order.
fn decode_doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
}

/// Return the rows of human scores and metric scores to correlate.
fn score_rows(
    human: &[u8],
    metric: &[u8],
    systems: usize,
    average: &str,
) -> PyResult<Vec<ScoreRow>> {
    let average = Averaging::from_name(average).ok_or_else(|| {
        PyValueError::new_err(format!("unknown average '{average}' (expected none, item or sys)"))
    })?;
    let have_same_shape =
        human.len() == metric.len() && systems > 0 && human.len().is_multiple_of(8 * systems);
    require(have_same_shape, "expected two score matrices for the same systems")?;
    let (human_scores, metric_scores) = (decode_doubles(human), decode_doubles(metric));
    Ok(ScoreMatrices { human: &human_scores, metric: &metric_scores, systems }.rows(average))
}

/// Return, for each row, the number of cells, the pair counts, and the number of distinct human
/// scores or metric scores, whichever is smaller.
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
        for row in score_rows(gold, metric, systems, average)? {
            let counts = PairCounts::count_pairs(&row, epsilon, least);
            let distinct_count = |scores: &[f64]| meta_evaluation::count_distinct(scores);
            values.extend([
                row.human.len() as i64,
                counts.concordant,
                counts.discordant,
                counts.human_tied,
                counts.metric_tied,
                counts.both_tied,
                distinct_count(&row.human).min(distinct_count(&row.metric)),
            ]);
        }
        Ok(Table::new(values, 7))
    })?
}

/// Return Pearson's r or Spearman's ρ of each row, and the number of its cells.
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
        let rows = score_rows(gold, metric, systems, average)?;
        let correlation = if ranks { meta_evaluation::spearman } else { meta_evaluation::pearson };
        Ok((
            rows.iter().map(correlation).collect(),
            rows.iter().map(|row| row.human.len()).collect(),
        ))
    })?
}

/// Return the best tie threshold, a table, and the number of pairs that the threshold ties. The
/// table contains, for each row, its pairs and its agreeing pairs with and without the threshold.
#[pyfunction]
pub fn best_epsilon(
    py: Python<'_>,
    gold: &[u8],
    metric: &[u8],
    systems: usize,
    average: &str,
) -> PyResult<(f64, Table, i64)> {
    interruptible(py, || {
        let best = meta_evaluation::calibrate_ties(&score_rows(gold, metric, systems, average)?);
        Ok((best.epsilon, Table::new(best.rows.concat(), 3), best.tied))
    })?
}

/// Return a byte for each pair of each row: 1 if the metric agrees with the human scores at this
/// threshold.
#[pyfunction]
pub fn outcomes<'py>(
    py: Python<'py>,
    gold: &[u8],
    metric: &[u8],
    systems: usize,
    average: &str,
    epsilon: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let agreements = interruptible(py, || -> PyResult<_> {
        Ok(meta_evaluation::pair_outcomes(&score_rows(gold, metric, systems, average)?, epsilon))
    })??;
    Ok(PyBytes::new(py, &agreements))
}

/// Return, for each pair of systems, the number of random swaps after which the first system leads
/// by at least the observed amount.
#[pyfunction]
pub fn leads(
    py: Python<'_>,
    scores: &[u8],
    systems: usize,
    stream: &Stream,
    samples: usize,
) -> PyResult<Vec<u32>> {
    interruptible(py, || {
        let scores = decode_doubles(scores);
        stream.generator(|draws| meta_evaluation::count_leads(&scores, systems, draws, samples))
    })?
}

/// Return the cells that have a human score but no metric score.
#[pyfunction]
pub fn holes<'py>(py: Python<'py>, gold: &[u8], metric: &[u8]) -> PyResult<Bound<'py, PyList>> {
    let missing_cells = run_on_text(py, gold.len(), || {
        let mut work = Work::default();
        let score_pairs =
            decode_doubles(gold).into_iter().zip(decode_doubles(metric)).inspect(|_| work.add(1));
        let missing = score_pairs
            .enumerate()
            .filter(|(_, (human, metric))| !human.is_nan() && metric.is_nan());
        missing.map(|(cell, _)| cell).collect::<Vec<_>>()
    })?;
    create_list(py, missing_cells)
}

/// Return, for each pair of metrics, the number of trials in which the first metric's Pearson's r
/// exceeds the second metric's by at least the observed difference. `gold` contains the number of
/// cells, the sum of the human scores, and the sum of their squares.
#[pyfunction]
pub fn exceeding(
    py: Python<'_>,
    totals: Vec<i64>,
    exchanged: &Table,
    gold: (f64, f64, f64),
    scale: f64,
    slack: f64,
) -> PyResult<Vec<u32>> {
    let has_all_columns =
        totals.len() == exchanged.width() && totals.len().is_multiple_of(meta_evaluation::MOMENTS);
    require(has_all_columns, "expected three columns per metric")?;
    let trials = exchanged.values();
    Ok(interruptible(py, || {
        meta_evaluation::count_exceeding_leads(&totals, trials, gold, scale, slack)
    })?)
}

/// Return the sum of every subset of the rows, one row per subset.
#[pyfunction]
pub fn subset_sums(py: Python<'_>, table: &Table) -> PyResult<Table> {
    require(table.rows().count() <= 20, "expected at most 20 rows")?;
    let (values, width) = (table.values(), table.width());
    let sums = interruptible(py, || meta_evaluation::subset_sums(values, width))?;
    Ok(Table::new(sums, width))
}

/// The name of a system, and the number of its consecutive lines.
type SystemBlock = (String, usize);

/// Parse a score file. Return its systems, and their scores as bytes of doubles. On failure, raise
/// ValueError with the number of the first invalid line.
#[pyfunction]
pub fn score_lines<'py>(
    py: Python<'py>,
    text: &[u8],
) -> PyResult<(Vec<SystemBlock>, Bound<'py, PyBytes>)> {
    let parsed = interruptible(py, || {
        meta_evaluation::parse_score_lines(text).map(|(blocks, scores)| {
            let blocks: Vec<_> = blocks.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
            let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_ne_bytes()).collect();
            (blocks, bytes)
        })
    })?;
    match parsed {
        Ok((blocks, bytes)) => Ok((blocks, PyBytes::new(py, &bytes))),
        Err(line) => Err(PyValueError::new_err(line)),
    }
}
