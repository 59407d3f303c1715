//! Scores of single-precision sums, operation by operation as sacreBLEU 2.6.0 computes them with
//! NumPy 2.
//!
//! sacreBLEU's bootstrap sums statistics in 32-bit floats and hands NumPy's scalars to formulas
//! written for Python's numbers. Since NumPy 2 a NumPy number stays 32 bits wide when it meets a
//! Python number ([`Number`] is that rule), so most of the arithmetic is in single precision, and
//! the result is a NumPy number, unless a branch that returns a Python constant was taken.

use crate::bleu::Smoothing;
use crate::math::{exp, ln};
use crate::ngrams::MOST_ORDERS;
use std::ops::{Add, Div, Mul};

/// A number in a mixture of Python's floats and NumPy's 32-bit ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Python's: 64 bits wide, and rounded to 32 where it meets one of NumPy's.
    Python(f64),
    /// NumPy's.
    Single(f32),
}
use Number::{Python, Single};

impl Number {
    /// The value.
    pub fn value(self) -> f64 {
        match self {
            Python(value) => value,
            Single(value) => f64::from(value),
        }
    }

    fn with(self, other: Self, wide: fn(f64, f64) -> f64, single: fn(f32, f32) -> f32) -> Self {
        match (self, other) {
            (Python(a), Python(b)) => Python(wide(a, b)),
            (Python(a), Single(b)) => Single(single(a as f32, b)),
            (Single(a), Python(b)) => Single(single(a, b as f32)),
            (Single(a), Single(b)) => Single(single(a, b)),
        }
    }
}

impl Add for Number {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, Add::add, Add::add)
    }
}

impl Mul for Number {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.with(other, Mul::mul, Mul::mul)
    }
}

impl Div for Number {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        self.with(other, Div::div, Div::div)
    }
}

/// A formula of sacreBLEU.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// BLEU.
    Bleu {
        /// The smoothing of orders with zero matches.
        smoothing: Smoothing,
        /// Leave out the orders that the hypotheses are too short for.
        effective_order: bool,
        /// Add as Python 3.12 and later do in `sum()`.
        compensated: bool,
    },
    /// chrF.
    Chrf {
        /// Beta squared: how much recall counts.
        factor: f64,
        /// The mean of all orders, with an epsilon for those that are missing.
        eps_smoothing: bool,
    },
    /// TER.
    Ter,
}

impl Formula {
    /// The score of a row of sums.
    pub fn score(&self, row: &[f32]) -> Number {
        match *self {
            Self::Bleu { smoothing, effective_order, compensated } => {
                Python(bleu(row, smoothing, effective_order, compensated))
            }
            Self::Chrf { factor, eps_smoothing } => chrf(row, factor, eps_smoothing),
            Self::Ter => ter(row),
        }
    }
}

fn bleu(row: &[f32], smoothing: Smoothing, effective_order: bool, compensated: bool) -> f64 {
    let orders = (row.len() - 2) / 2;
    let (length, reference) = (f64::from(row[0]).trunc(), f64::from(row[1]).trunc());
    let (matches, totals) = row[2..].split_at(orders);
    if matches.iter().all(|&count| count == 0.0) {
        return 0.0;
    }
    let brevity = if length >= reference {
        1.0
    } else if length > 0.0 {
        exp(1.0 - reference / length)
    } else {
        0.0
    };
    let mut logs = [crate::bleu::LOG_OF_ZERO; MOST_ORDERS];
    let mut counted = orders;
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
            counted = order + 1;
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
    let sum = crate::bleu::sum(logs[..counted].iter().copied(), compensated);
    brevity * exp(sum / counted as f64)
}

fn chrf(row: &[f32], factor: f64, eps_smoothing: bool) -> Number {
    let ratio = |count: f32, total: f32| {
        if total > 0.0 { Single(count / total) } else { Python(1e-16) }
    };
    let mut score = Python(0.0);
    let (mut precision, mut recall) = (Python(0.0), Python(0.0));
    let mut counted = 0;
    for order in row.chunks_exact(3) {
        let [hypothesis, reference, matches] = [order[0], order[1], order[2]];
        let (p, r) = (ratio(matches, hypothesis), ratio(matches, reference));
        let below = Python(factor) * p + r;
        score = score
            + if below.value() > 0.0 {
                Python(1.0 + factor) * p * r / below
            } else {
                Python(1e-16)
            };
        if hypothesis > 0.0 && reference > 0.0 {
            precision = precision + p;
            recall = recall + r;
            counted += 1;
        }
    }
    if eps_smoothing {
        return Python(100.0) * score / Python((row.len() / 3) as f64);
    }
    if counted > 0 {
        precision = precision / Python(f64::from(counted));
        recall = recall / Python(f64::from(counted));
    }
    if (precision + recall).value() == 0.0 {
        return Python(0.0);
    }
    let mean = Python(1.0 + factor) * precision * recall;
    Python(100.0) * (mean / (Python(factor) * precision + recall))
}

fn ter(row: &[f32]) -> Number {
    let [edits, length] = [row[0], row[1]];
    Python(100.0)
        * if length > 0.0 {
            Single(edits / length)
        } else {
            Python(if edits > 0.0 { 1.0 } else { 0.0 })
        }
}
