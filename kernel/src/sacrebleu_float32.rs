//! Scores computed from single-precision sums, with the floating-point operations of sacreBLEU
//! 2.6.0 and NumPy 2.
//!
//! sacreBLEU's bootstrap sums statistics in 32-bit floats and passes NumPy scalars to formulas for
//! Python floats. Since NumPy 2, the result of combining a NumPy float with a Python float has 32
//! bits ([`MixedFloat`] implements that rule). Therefore, most of the arithmetic is in single
//! precision. The result is a NumPy float, unless a branch returns a Python constant.

use crate::bleu::Smoothing;
use crate::math::{exp, ln};
use crate::ngrams::MAX_ORDER;
use std::ops::{Add, Div, Mul};

/// A Python float or a 32-bit NumPy float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MixedFloat {
    /// A Python float: 64 bits, rounded to 32 bits when combined with a NumPy float.
    Python(f64),
    /// A 32-bit NumPy float.
    Single(f32),
}
use MixedFloat::{Python, Single};

impl MixedFloat {
    /// Return the value.
    pub fn value(self) -> f64 {
        match self {
            Python(value) => value,
            Single(value) => f64::from(value),
        }
    }

    /// Combine two numbers by NumPy's promotion rule.
    fn combine(self, other: Self, wide: fn(f64, f64) -> f64, single: fn(f32, f32) -> f32) -> Self {
        match (self, other) {
            (Python(a), Python(b)) => Python(wide(a, b)),
            (Python(a), Single(b)) => Single(single(a as f32, b)),
            (Single(a), Python(b)) => Single(single(a, b as f32)),
            (Single(a), Single(b)) => Single(single(a, b)),
        }
    }
}

impl Add for MixedFloat {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.combine(other, Add::add, Add::add)
    }
}

impl Mul for MixedFloat {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.combine(other, Mul::mul, Mul::mul)
    }
}

impl Div for MixedFloat {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        self.combine(other, Div::div, Div::div)
    }
}

/// A formula of sacreBLEU.
#[derive(Clone, Debug, PartialEq)]
pub enum Float32Formula {
    /// BLEU.
    Bleu {
        /// The smoothing method for orders without matches.
        smoothing: Smoothing,
        /// Skip the orders that are longer than the hypotheses.
        effective_order: bool,
        /// Use compensated summation, like `sum()` in Python 3.12 and later.
        compensated: bool,
    },
    /// chrF.
    Chrf {
        /// β², where recall is weighted β times as much as precision.
        factor: f64,
        /// Average over all orders, with an epsilon for missing orders.
        eps_smoothing: bool,
    },
    /// TER.
    Ter,
}

impl Float32Formula {
    /// Return the score of a row of sums.
    pub fn score(&self, row: &[f32]) -> MixedFloat {
        match *self {
            Self::Bleu { smoothing, effective_order, compensated } => {
                Python(bleu_score(row, smoothing, effective_order, compensated))
            }
            Self::Chrf { factor, eps_smoothing } => chrf_score(row, factor, eps_smoothing),
            Self::Ter => ter_score(row),
        }
    }
}

/// Return the BLEU score.
fn bleu_score(row: &[f32], smoothing: Smoothing, effective_order: bool, compensated: bool) -> f64 {
    let orders = (row.len() - 2) / 2;
    let (length, reference) = (f64::from(row[0]).trunc(), f64::from(row[1]).trunc());
    let (matches, totals) = row[2..].split_at(orders);
    if matches.iter().all(|&count| count == 0.0) {
        return 0.0;
    }
    let brevity_penalty = if length >= reference {
        1.0
    } else if length > 0.0 {
        exp(1.0 - reference / length)
    } else {
        0.0
    };
    let mut logs = [crate::bleu::LOG_OF_ZERO; MAX_ORDER];
    let mut order_count = orders;
    let mut divisor = 1.0;
    for order in 0..orders {
        let (mut count, mut total) = (matches[order], totals[order]);
        if let (Smoothing::Add(value), true) = (smoothing, order > 0) {
            count += value as f32;
            total += value as f32;
        }
        if total == 0.0 {
            break;
        }
        if effective_order {
            order_count = order + 1;
        }
        let precision = if count == 0.0 {
            match smoothing {
                Smoothing::Exponential => {
                    divisor *= 2.0;
                    100.0 / (divisor * total)
                }
                Smoothing::Floor(value) => (100.0 * value) as f32 / total,
                Smoothing::None | Smoothing::Add(_) => 0.0,
            }
        } else {
            100.0 * count / total
        };
        if precision != 0.0 {
            logs[order] = ln(f64::from(precision));
        }
    }
    let sum = crate::bleu::sum(logs[..order_count].iter().copied(), compensated);
    brevity_penalty * exp(sum / order_count as f64)
}

/// Return the chrF score.
fn chrf_score(row: &[f32], factor: f64, eps_smoothing: bool) -> MixedFloat {
    let ratio = |count: f32, total: f32| {
        if total > 0.0 { Single(count / total) } else { Python(1e-16) }
    };
    let mut score = Python(0.0);
    let (mut precision, mut recall) = (Python(0.0), Python(0.0));
    let mut order_count = 0;
    for order in row.chunks_exact(3) {
        let [hypothesis, reference, matches] = [order[0], order[1], order[2]];
        let (p, r) = (ratio(matches, hypothesis), ratio(matches, reference));
        let denominator = Python(factor) * p + r;
        score = score
            + if denominator.value() > 0.0 {
                Python(1.0 + factor) * p * r / denominator
            } else {
                Python(1e-16)
            };
        if hypothesis > 0.0 && reference > 0.0 {
            precision = precision + p;
            recall = recall + r;
            order_count += 1;
        }
    }
    if eps_smoothing {
        return Python(100.0) * score / Python((row.len() / 3) as f64);
    }
    if order_count > 0 {
        precision = precision / Python(f64::from(order_count));
        recall = recall / Python(f64::from(order_count));
    }
    if (precision + recall).value() == 0.0 {
        return Python(0.0);
    }
    let mean = Python(1.0 + factor) * precision * recall;
    Python(100.0) * (mean / (Python(factor) * precision + recall))
}

/// Return the TER score.
fn ter_score(row: &[f32]) -> MixedFloat {
    let [edits, length] = [row[0], row[1]];
    Python(100.0)
        * if length > 0.0 {
            Single(edits / length)
        } else {
            Python(if edits > 0.0 { 1.0 } else { 0.0 })
        }
}
