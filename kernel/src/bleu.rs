//! BLEU's counts for a segment, stored as a row of integers, and the BLEU formula.
//!
//! A row contains the hypothesis length, one or more effective reference lengths, and for each
//! order the number of clipped matches and the number of n-grams. The formula here is fast for many
//! rows; [`variants`] has the formulas of all published implementations.

#[cfg(any(feature = "page", feature = "python"))]
pub mod variants;

use crate::count::{self, Metric};
use crate::math::{exp, ln};
use crate::ngrams::{MAX_ORDER, Match, MatchScratch};
use crate::simd::Vector;
use crate::tokens::View;

named_enum! {
    /// The rule that derives the effective reference length from several references.
    ReferenceLength {
        /// The length closest to the hypothesis length; the shorter of two equally close lengths, as
        /// in mteval and sacreBLEU.
        Closest = "closest",
        /// The closest length; the first of several equally close lengths.
        ClosestFirst = "closest-first",
        /// The closest length; the longer of two equally close lengths.
        ClosestLonger = "closest-longer",
        /// The shortest length.
        Shortest = "shortest",
        /// The longest length.
        Longest = "longest",
        /// The mean of all lengths, stored as an integer in units of 1 / [`PARTS`].
        Average = "average",
        /// The mean of all lengths, rounded down.
        AverageTruncated = "average-truncated",
    }
}

/// The least common multiple of the integers from 1 to 16, so that a mean of up to 16 lengths is a
/// multiple of 1 / `PARTS`. In this unit, lengths of about 6,000 tokens or more exceed 32 bits.
pub const PARTS: i64 = 720_720;

impl ReferenceLength {
    /// Return the effective reference length of a segment that has at least one reference.
    #[inline(always)]
    fn effective_length(self, length: usize, references: &[View<'_>]) -> i64 {
        let lengths = references.iter().map(View::count);
        let distance = |reference: &usize| reference.abs_diff(length);
        let selected = match self {
            Self::Closest => lengths.min_by_key(|reference| (distance(reference), *reference)),
            Self::ClosestFirst => lengths.min_by_key(distance),
            Self::ClosestLonger => {
                lengths.min_by_key(|reference| (distance(reference), usize::MAX - reference))
            }
            Self::Shortest => lengths.min(),
            Self::Longest => lengths.max(),
            // With more than 16 references, rounding loses less than 1 / `PARTS` of a token.
            Self::Average => {
                return lengths.sum::<usize>() as i64 * PARTS / references.len().max(1) as i64;
            }
            Self::AverageTruncated => Some(lengths.sum::<usize>() / references.len().max(1)),
        };
        selected.unwrap_or(0) as i64
    }
}

/// The BLEU parameters that determine the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BleuColumns {
    /// The rules for reference lengths; each rule adds a column.
    pub lengths: Vec<ReferenceLength>,
    /// The largest n-gram order.
    pub max_order: usize,
    /// Count at least one n-gram of each order per hypothesis, as NLTK does.
    pub at_least_one: bool,
}

impl Metric for BleuColumns {
    type Scratch = MatchScratch;

    fn width(&self) -> usize {
        1 + self.lengths.len() + 2 * self.max_order
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut MatchScratch,
        row: &mut [i64],
    ) {
        let max_order = self.max_order;
        let length = hypothesis.count();
        row[0] = length as i64;
        let (lengths, counts) = row[1..].split_at_mut(self.lengths.len());
        for (value, rule) in lengths.iter_mut().zip(&self.lengths) {
            *value = rule.effective_length(length, references);
        }
        // SAFETY: the caller guarantees that `V` is available.
        let matches = unsafe { Match { hypothesis, references, max_order, scratch }.count::<V>() };
        let (matched, totals) = counts.split_at_mut(max_order);
        let minimum_total = usize::from(self.at_least_one);
        for (order, (matched, total)) in matched.iter_mut().zip(totals).enumerate() {
            *matched = i64::from(matches[order]);
            *total = length.saturating_sub(order).max(minimum_total) as i64;
        }
    }
}

/// The smoothing method for orders without matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// No smoothing: the score is 0.
    None,
    /// Use 1/2, 1/4, 1/8 … of a match for consecutive orders without matches, as mteval-v13a does.
    Exponential,
    /// Use this number of matches instead of zero.
    Floor(f64),
    /// Add this number to the match and n-gram counts of every order above 1.
    Add(f64),
}

impl Smoothing {
    /// Return the method with this name and smoothing value, or `None`.
    pub fn from_name(name: &str, value: f64) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "exp" => Self::Exponential,
            "floor" => Self::Floor(value),
            "add-k" => Self::Add(value),
            _ => return None,
        })
    }
}

/// The BLEU parameters that apply after counting.
#[derive(Clone, Debug, PartialEq)]
pub struct BleuFormula {
    /// The smoothing method for orders without matches.
    pub smoothing: Smoothing,
    /// Skip the orders that are longer than the hypothesis.
    pub effective_order: bool,
    /// One weight per order; `None` for equal weights.
    pub weights: Option<Vec<f64>>,
    /// Use compensated summation for logarithms, like `sum()` in Python 3.12 and later.
    pub compensated: bool,
}

/// The logarithm that sacreBLEU uses for a precision of 0.
pub(crate) const LOG_OF_ZERO: f64 = -9_999_999_999.0;

impl BleuFormula {
    /// Return the logarithm of an order's precision, where orders are numbered from 0. Return
    /// `None` if the hypothesis has no n-gram of the order. Increment `missed` for an order without
    /// matches.
    pub(crate) fn log_precision(
        &self,
        order: usize,
        count: i64,
        total: i64,
        missed: &mut i32,
    ) -> Option<f64> {
        let (mut count, mut total) = (count as f64, total as f64);
        if let (Smoothing::Add(value), true) = (self.smoothing, order > 0) {
            count += value;
            total += value;
        }
        if total == 0.0 {
            return None;
        }
        let precision = if count == 0.0 {
            *missed += 1;
            match self.smoothing {
                Smoothing::Exponential => 100.0 / (2f64.powi(*missed) * total),
                Smoothing::Floor(value) => 100.0 * value / total,
                Smoothing::None | Smoothing::Add(_) => 0.0,
            }
        } else {
            100.0 * count / total
        };
        Some(if precision == 0.0 { LOG_OF_ZERO } else { ln(precision) })
    }

    /// Return the weighted mean of the log precisions. Return `None` if the segment is too short
    /// for every order with a positive weight.
    #[inline(always)]
    pub(crate) fn mean_log(&self, logs: &[f64]) -> Option<f64> {
        let Some(weights) = &self.weights else {
            let total = sum(logs.iter().copied(), self.compensated);
            return (!logs.is_empty()).then(|| total / logs.len() as f64);
        };
        let products = logs.iter().zip(weights).map(|(log, weight)| log * weight);
        let products = sum(products, self.compensated);
        if logs.len() == weights.len() {
            return Some(products);
        }
        let weight_sum = sum(weights[..logs.len()].iter().copied(), self.compensated);
        (weight_sum > 0.0).then(|| products / weight_sum)
    }
}

/// Return the brevity penalty.
pub(crate) fn brevity_penalty(length: i64, reference: i64) -> f64 {
    if length >= reference {
        1.0
    } else if length > 0 {
        exp(1.0 - reference as f64 / length as f64)
    } else {
        0.0
    }
}

impl count::Formula for BleuFormula {
    /// Return the score on a 0-100 scale, in sacreBLEU's order of floating-point operations.
    fn score(&self, row: &[i64]) -> f64 {
        let orders = (row.len() - 2) / 2;
        let (matches, totals) = row[2..].split_at(orders);
        if matches.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let mut logs = [LOG_OF_ZERO; MAX_ORDER];
        let mut effective_order = 0;
        let mut missed = 0;
        for order in 0..orders {
            let log = self.log_precision(order, matches[order], totals[order], &mut missed);
            let Some(log) = log else { break };
            logs[order] = log;
            effective_order = order + 1;
        }
        let order_count = if self.effective_order { effective_order } else { orders };
        let mean = self.mean_log(&logs[..order_count]);
        mean.map_or(0.0, |mean| brevity_penalty(row[0], row[1]) * exp(mean))
    }
}

/// A sum like Python's `sum()`, which has used Neumaier's compensation since Python 3.12.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    sum: f64,
    compensation: f64,
    compensated: bool,
}

impl Sum {
    /// Create an empty sum.
    #[inline(always)]
    pub fn new(compensated: bool) -> Self {
        Self { sum: 0.0, compensation: 0.0, compensated }
    }

    /// Add a value.
    #[inline(always)]
    pub fn add(&mut self, value: f64) {
        let next = self.sum + value;
        if self.compensated {
            self.compensation += if self.sum.abs() >= value.abs() {
                (self.sum - next) + value
            } else {
                (value - next) + self.sum
            };
        }
        self.sum = next;
    }

    /// The sum.
    #[inline(always)]
    pub fn value(&self) -> f64 {
        if self.compensation != 0.0 && self.compensation.is_finite() {
            self.sum + self.compensation
        } else {
            self.sum
        }
    }
}

/// Return the [`Sum`] of all values.
#[inline(always)]
pub(crate) fn sum(values: impl Iterator<Item = f64>, compensated: bool) -> f64 {
    let mut sum = Sum::new(compensated);
    values.for_each(|value| sum.add(value));
    sum.value()
}
