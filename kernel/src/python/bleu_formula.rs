//! BLEU's formula for Python, with the parameters of all published implementations.

use super::run::interruptible;
use super::table::Table;
use super::{require, require_known};
use crate::bleu::variants::{
    Arithmetic, BleuVariantFormula, MissingOrder, NoMatch, Penalty, Smoothing,
};
use crate::interrupt::Work;
use pyo3::prelude::*;

/// BLEU's formula. A row has the hypothesis length, the reference length in units of
/// 1 / `length_unit` token, the matches and the n-grams of each order.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct BleuFormula(BleuVariantFormula);

#[pymethods]
impl BleuFormula {
    #[new]
    #[pyo3(signature = (*, smoothing, smoothing_value, missing_order, no_match, brevity_penalty, empty_brevity, weights, arithmetic, compensated, length_unit))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        smoothing: &str,
        smoothing_value: f64,
        missing_order: &str,
        no_match: &str,
        brevity_penalty: &str,
        empty_brevity: f64,
        weights: Option<Vec<f64>>,
        arithmetic: &str,
        compensated: bool,
        length_unit: f64,
    ) -> PyResult<Self> {
        Ok(Self(BleuVariantFormula {
            smoothing: require_known("smoothing", smoothing, Smoothing::from_name)?,
            smoothing_value,
            missing_order: require_known("missing_order", missing_order, MissingOrder::from_name)?,
            no_match: require_known("no_match", no_match, NoMatch::from_name)?,
            penalty: require_known("brevity_penalty", brevity_penalty, Penalty::from_name)?,
            empty_brevity,
            weights,
            arithmetic: require_known("arithmetic", arithmetic, Arithmetic::from_name)?,
            compensated,
            length_unit,
        }))
    }

    /// Return the score of each row: 0-100 in sacreBLEU's arithmetic, otherwise 0-1.
    fn scores(&self, py: Python<'_>, table: &Table) -> PyResult<Vec<f64>> {
        self.check_width(table.width())?;
        let mut work = Work::default();
        let score = |row| {
            work.add(1 << 6);
            self.0.unscaled_score(row)
        };
        Ok(interruptible(py, || table.rows().map(score).collect())?)
    }

    /// Return the precision of each order in percent, and 0 for orders without a precision.
    fn percentages(&self, row: Vec<i64>) -> PyResult<Vec<f64>> {
        let orders = self.check_width(row.len())?;
        let mut percentages = Vec::with_capacity(orders);
        if !self.0.is_zero_before_smoothing(&row) {
            let precisions = self.0.order_precisions(&row).into_iter();
            let factor = self.0.percent_factor();
            percentages.extend(precisions.filter_map(|step| step.precision).map(|p| factor * p));
        }
        percentages.resize(orders, 0.0);
        Ok(percentages)
    }

    /// Return the brevity penalty of a row.
    fn brevity_penalty(&self, row: Vec<i64>) -> PyResult<f64> {
        self.check_width(row.len())?;
        Ok(self.0.brevity_penalty(&row))
    }
}

impl BleuFormula {
    /// Return the number of orders of rows with this width.
    fn check_width(&self, width: usize) -> PyResult<usize> {
        let orders = width.saturating_sub(2) / 2;
        let has_all_weights = self.0.weights.as_ref().is_none_or(|weights| weights.len() == orders);
        require(
            width >= 4 && width.is_multiple_of(2) && has_all_weights,
            "expected two lengths, and the matches and the n-grams of each order",
        )?;
        Ok(orders)
    }
}
