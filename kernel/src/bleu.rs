//! BLEU's row of integers for a segment, and its formula.
//!
//! A row is: hypothesis length, effective reference length (by one rule or several), the clipped
//! matches of each order, the numbers of n-grams of each order. The formula is here for many scores
//! at once; its readable definition, which the tests hold it equal to, is in
//! `truebleu/metrics/bleu_formula.py`.

#[cfg(feature = "page")]
pub mod variants;

use crate::count::{self, Metric};
use crate::math::{exp, ln};
use crate::ngrams::{MOST_ORDERS, Match, Scratch};
use crate::simd::Vector;
use crate::tokens::View;

/// The choice of the reference length among several references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceLength {
    /// The one closest to the hypothesis' length; the shorter of two that are equally close, as
    /// mteval and sacreBLEU have it.
    Closest,
    /// The closest; of equally close ones the first.
    ClosestFirst,
    /// The closest; of equally close ones the longer.
    ClosestLonger,
    /// The shortest.
    Shortest,
    /// The longest.
    Longest,
    /// The mean of all, in parts of [`PARTS`], which keeps it an integer.
    Average,
    /// The mean of all, without its fraction.
    AverageTruncated,
}

/// The least number that 1 to 16 all divide: so many parts of a token make a mean an integer. Those
/// of 6,000 tokens are more than 32 bits hold.
pub const PARTS: i64 = 720_720;

impl ReferenceLength {
    /// The rules and their names.
    pub const NAMED: [(&str, Self); 7] = [
        ("closest", Self::Closest),
        ("closest-first", Self::ClosestFirst),
        ("closest-longer", Self::ClosestLonger),
        ("shortest", Self::Shortest),
        ("longest", Self::Longest),
        ("average", Self::Average),
        ("average-truncated", Self::AverageTruncated),
    ];

    /// The rule with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, rule)| rule)
    }

    /// The reference length of a segment with at least one reference.
    #[inline(always)]
    fn of(self, length: usize, references: &[View<'_>]) -> i64 {
        let lengths = references.iter().map(View::count);
        let distance = |reference: &usize| reference.abs_diff(length);
        let chosen = match self {
            Self::Closest => lengths.min_by_key(|reference| (distance(reference), *reference)),
            Self::ClosestFirst => lengths.min_by_key(distance),
            Self::ClosestLonger => {
                lengths.min_by_key(|reference| (distance(reference), usize::MAX - reference))
            }
            Self::Shortest => lengths.min(),
            Self::Longest => lengths.max(),
            // More than 16 references lose less than a part each.
            Self::Average => {
                return lengths.sum::<usize>() as i64 * PARTS / references.len().max(1) as i64;
            }
            Self::AverageTruncated => Some(lengths.sum::<usize>() / references.len().max(1)),
        };
        chosen.unwrap_or(0) as i64
    }
}

/// BLEU's parameters, as far as they decide the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// A column of reference lengths for each rule.
    pub lengths: Vec<ReferenceLength>,
    /// The highest n-gram order.
    pub orders: usize,
    /// Count at least one n-gram of each order in a hypothesis, as NLTK does.
    pub at_least_one: bool,
}

impl Metric for Columns {
    type Scratch = Scratch;

    fn width(&self) -> usize {
        1 + self.lengths.len() + 2 * self.orders
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut Scratch,
        row: &mut [i64],
    ) {
        let orders = self.orders;
        let length = hypothesis.count();
        row[0] = length as i64;
        let (lengths, counts) = row[1..].split_at_mut(self.lengths.len());
        for (value, rule) in lengths.iter_mut().zip(&self.lengths) {
            *value = rule.of(length, references);
        }
        // SAFETY: as the caller promises.
        let matches = unsafe { Match { hypothesis, references, orders, scratch }.count::<V>() };
        let (matched, totals) = counts.split_at_mut(orders);
        let least = usize::from(self.at_least_one);
        for (order, (matched, total)) in matched.iter_mut().zip(totals).enumerate() {
            *matched = i64::from(matches[order]);
            *total = length.saturating_sub(order).max(least) as i64;
        }
    }
}

/// The smoothing of orders with zero matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// Nothing: the score is 0.
    None,
    /// Half as many matches for each such order, as mteval-v13a: 1/2, 1/4, 1/8 …
    Exponential,
    /// This number of matches instead of zero.
    Floor(f64),
    /// This number added to matches and n-grams above order 1.
    Add(f64),
}

impl Smoothing {
    /// The method with this name, if there is one.
    pub fn named(name: &str, value: f64) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "exp" => Self::Exponential,
            "floor" => Self::Floor(value),
            "add-k" => Self::Add(value),
            _ => return None,
        })
    }
}

/// BLEU's parameters after counting.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The smoothing of orders with zero matches.
    pub smoothing: Smoothing,
    /// Leave out the orders that the hypothesis is too short for.
    pub effective_order: bool,
    /// One weight per order; `None` for the mean.
    pub weights: Option<Vec<f64>>,
    /// Add logarithms as Python 3.12 and later do in `sum()`: compensated.
    pub compensated: bool,
}

/// The logarithm that stands for that of 0 in sacreBLEU.
pub(crate) const LOG_OF_ZERO: f64 = -9_999_999_999.0;

impl Formula {
    /// The logarithm of an order's precision, the order counted from 0; `None` for an order that
    /// the hypothesis is too short for. Orders without a match count up in `missed`.
    pub(crate) fn logarithm(
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

    /// The mean of the logarithms that count; `None` if none does, because the segment is too short
    /// for every order that has a weight.
    #[inline(always)]
    pub(crate) fn mean(&self, logs: &[f64]) -> Option<f64> {
        let Some(weights) = &self.weights else {
            let total = sum(logs.iter().copied(), self.compensated);
            return (!logs.is_empty()).then(|| total / logs.len() as f64);
        };
        let products = logs.iter().zip(weights).map(|(log, weight)| log * weight);
        let products = sum(products, self.compensated);
        if logs.len() == weights.len() {
            return Some(products);
        }
        let whole = sum(weights[..logs.len()].iter().copied(), self.compensated);
        (whole > 0.0).then(|| products / whole)
    }
}

/// The brevity penalty.
pub(crate) fn brevity(length: i64, reference: i64) -> f64 {
    if length >= reference {
        1.0
    } else if length > 0 {
        exp(1.0 - reference as f64 / length as f64)
    } else {
        0.0
    }
}

impl count::Formula for Formula {
    /// 0 to 100, operation by operation as sacreBLEU computes it.
    fn score(&self, row: &[i64]) -> f64 {
        let orders = (row.len() - 2) / 2;
        let (matches, totals) = row[2..].split_at(orders);
        if matches.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let mut logs = [LOG_OF_ZERO; MOST_ORDERS];
        let mut present = 0;
        let mut missed = 0;
        for order in 0..orders {
            let log = self.logarithm(order, matches[order], totals[order], &mut missed);
            let Some(log) = log else { break };
            logs[order] = log;
            present = order + 1;
        }
        let counted = if self.effective_order { present } else { orders };
        let mean = self.mean(&logs[..counted]);
        mean.map_or(0.0, |mean| brevity(row[0], row[1]) * exp(mean))
    }
}

/// Python's `sum()`: plain before 3.12, compensated (Neumaier) since.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    sum: f64,
    compensation: f64,
    compensated: bool,
}

impl Sum {
    /// The sum of nothing.
    #[inline(always)]
    pub fn new(compensated: bool) -> Self {
        Self { sum: 0.0, compensation: 0.0, compensated }
    }

    /// Adds a value.
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

/// The [`Sum`] of all values.
#[inline(always)]
pub(crate) fn sum(values: impl Iterator<Item = f64>, compensated: bool) -> f64 {
    let mut sum = Sum::new(compensated);
    values.for_each(|value| sum.add(value));
    sum.value()
}
