//! Bootstrap confidence intervals of one or two systems, identical to the intervals that
//! `truebleu/significance` computes.

use super::TextResult;
use super::metric_settings::PageMetric;
use crate::columns;
use crate::random::Generator;
use crate::resample::Stack;
use crate::simd::Instructions;
use std::sync::Arc;

/// Sums stay below 2 to the power of this number in absolute value.
const MAX_SUM_BITS: u32 = 61;
/// Maximum number of decimal places of scores that are summed as decimal numbers.
const MAX_DECIMAL_PLACES: usize = 9;

/// The meaning of the sums of a system.
enum SumKind {
    /// Sums of the metric's statistics.
    Statistics,
    /// Sums of segment scores as integers, with the divisor that turns a sum into a mean.
    Mean(u128),
    /// Sums of document scores, and sums of the documents' segment counts.
    MeanOfDocuments(ScoreScale),
}

/// The factor that converted scores to integers.
enum ScoreScale {
    Whole(u128),
    Part(f64),
}

/// Resamples of the rows of one or two tables, and the scores of each resample.
pub struct Bootstrap {
    metric: Arc<PageMetric>,
    sum_kind: SumKind,
    stack: Stack,
    width: usize,
    generator: Generator,
    scores: Vec<Vec<f64>>,
}

impl Bootstrap {
    /// Create a bootstrap from tables of the metric's rows, which have `width` columns.
    ///
    /// If whole documents are resampled, `groups` contains the document number of each row, in
    /// order of first segments; otherwise it is empty.
    pub fn new(
        metric: Arc<PageMetric>,
        tables: &[&[i64]],
        width: usize,
        groups: &[u32],
        seed: &[u32],
    ) -> TextResult<Self> {
        let segments = tables.first().map_or(0, |values| values.len() / width);
        if segments == 0 || tables.iter().any(|values| values.len() != segments * width) {
            return Err("expected tables with the same number of segments".to_owned());
        }
        let mut columns: Vec<Vec<i64>>;
        let mut sum_kind = SumKind::Statistics;
        let mut widths = width;
        if metric.is_segment_mean {
            let scores: Vec<Vec<f64>> = tables
                .iter()
                .map(|values| {
                    values.chunks_exact(width).map(|row| metric.formula(false).score(row)).collect()
                })
                .collect();
            let (scale, integers) = to_integers(&scores)?;
            (columns, widths) = (integers, 1);
            sum_kind = SumKind::Mean(u128::from(scale) * segments as u128);
            if !groups.is_empty() {
                let sizes = sum_groups(&vec![1; segments], 1, groups)?;
                for column in &mut columns {
                    *column = sum_groups(column, 1, groups)?;
                }
                let scale = append_sizes(&mut columns, &sizes, scale);
                (sum_kind, widths) = (SumKind::MeanOfDocuments(scale), 2);
            }
        } else if groups.is_empty() {
            columns = tables.iter().map(|values| values.to_vec()).collect();
        } else {
            let sums = tables.iter().map(|values| sum_groups(values, width, groups));
            columns = sums.collect::<TextResult<_>>()?;
        }
        let rows = columns[0].len() / widths;
        let parts: Vec<_> = columns.iter().map(|values| (&values[..], widths)).collect();
        let stack = Stack::new(&parts, rows)?;
        let scores = vec![Vec::new(); tables.len()];
        let generator = Generator::new(seed);
        Ok(Self { metric, sum_kind, stack, width: widths, generator, scores })
    }

    /// Add resamples, and return the total number.
    pub fn add_replicates(&mut self, replicates: usize) -> usize {
        let sums =
            self.stack.bootstrap_sums(&mut self.generator, replicates, Instructions::best(), 1);
        for row in sums.chunks_exact(self.stack.width()) {
            for (scores, sums) in self.scores.iter_mut().zip(row.chunks_exact(self.width)) {
                scores.push(match &self.sum_kind {
                    SumKind::Statistics => self.metric.formula(true).score(sums),
                    SumKind::Mean(divisor) => divide_rounded(sums[0], *divisor),
                    SumKind::MeanOfDocuments(ScoreScale::Whole(scale)) => {
                        divide_rounded(sums[0], scale * sums[1] as u128)
                    }
                    SumKind::MeanOfDocuments(ScoreScale::Part(scale)) => {
                        sums[0] as f64 / (scale * sums[1] as f64)
                    }
                });
            }
        }
        self.scores[0].len()
    }

    /// Return the confidence interval of each system's score, and the interval of the difference
    /// (second score minus first score).
    pub fn confidence_intervals(&self, level: f64) -> TextResult<Vec<f64>> {
        let mut score_lists: Vec<Vec<f64>> = self.scores.clone();
        if let [a, b] = &self.scores[..] {
            score_lists.push(b.iter().zip(a).map(|(b, a)| b - a).collect());
        }
        let mut bounds = Vec::new();
        for mut scores in score_lists {
            if scores.is_empty() {
                return Err("there are no resamples".to_owned());
            }
            scores.sort_unstable_by(f64::total_cmp);
            // The small addend keeps products such as 1000 * 0.05 from rounding down to below 50.
            let cut = (scores.len() as f64 * (1.0 - level) / 2.0 + 1e-9) as usize;
            let cut = cut.min(scores.len() - 1);
            bounds.extend([scores[cut], scores[scores.len() - 1 - cut]]);
        }
        Ok(bounds)
    }
}

/// Return the sums of the rows of each group.
fn sum_groups(values: &[i64], width: usize, groups: &[u32]) -> TextResult<Vec<i64>> {
    if groups.len() * width != values.len() {
        return Err("every segment needs a document".to_owned());
    }
    let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
    let mut sums = vec![0; count * width];
    for (row, &group) in values.chunks_exact(width).zip(groups) {
        if !columns::add_row(&mut sums[group as usize * width..][..width], row) {
            return Err(columns::overflow_error().into());
        }
    }
    Ok(sums)
}

/// Convert scores to integers whose sums are exact in any order, and return the factor. Decimal
/// numbers are multiplied by a power of ten, others by the largest power of two for which all sums
/// fit.
fn to_integers(scores: &[Vec<f64>]) -> TextResult<(u64, Vec<Vec<i64>>)> {
    let all_scores = || scores.iter().flatten().copied();
    let largest = all_scores().map(f64::abs).fold(0.0, f64::max);
    if !largest.is_finite() {
        return Err("a score is not a finite number".to_owned());
    }
    let max_sum = largest.ceil() as u128 * scores[0].len() as u128;
    let spare_bits = MAX_SUM_BITS.checked_sub(u128::BITS - max_sum.leading_zeros());
    let spare =
        spare_bits.ok_or_else(|| format!("scores are too large to be summed: {largest}"))?;
    let scale = match max_decimal_places(all_scores()) {
        None => 1 << spare,
        Some(places) => 10u64.pow(places as u32).min(1 << spare),
    };
    let to_integer = |x: &f64| (x * scale as f64).round_ties_even() as i64;
    Ok((scale, scores.iter().map(|column| column.iter().map(to_integer).collect()).collect()))
}

/// Return the maximum number of decimal places; `None` if a number is not a short decimal number.
fn max_decimal_places(numbers: impl Iterator<Item = f64>) -> Option<usize> {
    let mut max_places = 0;
    for x in numbers {
        if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
            return None; // Python formats such numbers with an exponent.
        }
        let places = x.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len());
        if places > MAX_DECIMAL_PLACES {
            return None;
        }
        max_places = max_places.max(places);
    }
    Some(max_places)
}

/// Put the number of segments next to the sum of each document, and scale the sums so that the sum
/// of any resample fits.
fn append_sizes(columns: &mut [Vec<i64>], sizes: &[i64], scale: u64) -> ScoreScale {
    let largest = columns.iter().flatten().map(|total| total.unsigned_abs()).max().unwrap_or(0);
    let required_bits = u128::BITS - (u128::from(largest) * sizes.len() as u128).leading_zeros();
    let shift = required_bits.saturating_sub(MAX_SUM_BITS);
    let rounding = (1_i64 << shift) >> 1;
    for column in columns {
        let pairs = column.iter().zip(sizes);
        *column = pairs.flat_map(|(total, &size)| [(total + rounding) >> shift, size]).collect();
    }
    if shift == 0 {
        ScoreScale::Whole(u128::from(scale))
    } else {
        ScoreScale::Part(scale as f64 / (1_u64 << shift) as f64)
    }
}

/// Divide an integer by another and round once, as Python does.
fn divide_rounded(dividend: i64, divisor: u128) -> f64 {
    let size = u128::from(dividend.unsigned_abs());
    if size == 0 || divisor == 0 {
        return 0.0;
    }
    // The quotient has at least 64 binary digits; the last digit records whether there is a
    // remainder.
    let shift = (64 + size.leading_zeros()).saturating_sub(divisor.leading_zeros());
    let shift = shift.min(size.leading_zeros());
    let (quotient, remainder) = ((size << shift) / divisor, (size << shift) % divisor);
    let value = (quotient | u128::from(remainder != 0)) as f64 * 0.5f64.powi(shift as i32);
    if dividend < 0 { -value } else { value }
}
