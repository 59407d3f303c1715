//! BLEU's row of integers for a segment, and its formula.
//!
//! A row is: hypothesis length, effective reference length, the clipped matches of each order, the
//! numbers of n-grams of each order. The formula is here for many scores at once; its readable
//! definition, which the tests hold it equal to, is in `truebleu/bleu.py`.

use crate::ngrams::{MOST_ORDERS, Match, Scratch};
use crate::tokens::View;
use crate::vector::Vector;

/// How many columns a row has.
pub fn columns(orders: usize) -> usize {
    2 + 2 * orders
}

/// Writes the row of one segment. `references` must not be empty.
///
/// The effective reference length is the one closest to the hypothesis' length; the shorter of two
/// that are equally close, as mteval and sacreBLEU have it.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
pub unsafe fn row<V: Vector>(
    hypothesis: View<'_>,
    references: &[View<'_>],
    orders: usize,
    scratch: &mut Scratch,
    row: &mut [i64],
) {
    let length = hypothesis.count();
    let closest = references
        .iter()
        .map(View::count)
        .min_by_key(|&reference| (reference.abs_diff(length), reference))
        .unwrap_or(0);
    // SAFETY: as the caller promises.
    let matches = unsafe { Match { hypothesis, references, orders, scratch }.count::<V>() };
    row[0] = length as i64;
    row[1] = closest as i64;
    for order in 0..orders {
        row[2 + order] = i64::from(matches[order]);
        row[2 + orders + order] = length.saturating_sub(order) as i64;
    }
}

/// What to do about orders without a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// Nothing: the score is 0.
    None,
    /// Half as many matches for each such order, as mteval-v13a: 1/2, 1/4, 1/8 …
    Exponential,
    /// So many matches instead of none.
    Floor(f64),
    /// So many more matches and n-grams, above order 1.
    Add(f64),
}

/// BLEU's parameters after counting.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// What to do about orders without a match.
    pub smoothing: Smoothing,
    /// Leave out the orders that the hypothesis is too short for.
    pub effective_order: bool,
    /// One weight an order; `None` for the mean.
    pub weights: Option<Vec<f64>>,
    /// Add logarithms as Python 3.12 and later do in `sum()`: compensated.
    pub compensated: bool,
}

/// The logarithm that stands for that of 0 in sacreBLEU.
const LOG_OF_ZERO: f64 = -9_999_999_999.0;

impl Formula {
    /// The score of a row, 0 to 100, operation by operation as sacreBLEU computes it.
    pub fn score(&self, row: &[i64]) -> f64 {
        let orders = (row.len() - 2) / 2;
        let (length, reference) = (row[0] as f64, row[1] as f64);
        let (matches, totals) = row[2..].split_at(orders);
        if matches.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let brevity = if row[0] >= row[1] {
            1.0
        } else if row[0] > 0 {
            (1.0 - reference / length).exp()
        } else {
            0.0
        };
        let mut logs = [LOG_OF_ZERO; MOST_ORDERS];
        let mut counted = orders;
        let mut divisor = 1.0;
        for order in 0..orders {
            let (mut count, mut total) = (matches[order] as f64, totals[order] as f64);
            if let (Smoothing::Add(value), true) = (self.smoothing, order > 0) {
                count += value;
                total += value;
            }
            if total == 0.0 {
                break;
            }
            if self.effective_order {
                counted = order + 1;
            }
            let precision = if count == 0.0 {
                match self.smoothing {
                    Smoothing::Exponential => {
                        divisor *= 2.0;
                        100.0 / (divisor * total)
                    }
                    Smoothing::Floor(value) => 100.0 * value / total,
                    Smoothing::None | Smoothing::Add(_) => 0.0,
                }
            } else {
                100.0 * count / total
            };
            logs[order] = if precision == 0.0 { LOG_OF_ZERO } else { precision.ln() };
        }
        let mean = match &self.weights {
            None => self.sum(logs[..counted].iter().copied()) / counted as f64,
            Some(weights) => {
                let products =
                    logs[..counted].iter().zip(weights).map(|(log, weight)| log * weight);
                let whole = self.sum(weights[..counted].iter().copied());
                let sum = self.sum(products);
                if counted == orders {
                    sum
                } else if whole > 0.0 {
                    sum / whole
                } else {
                    // Only orders that the segment is too short for have a weight.
                    return 0.0;
                }
            }
        };
        brevity * mean.exp()
    }

    /// Python's `sum()`: plain before 3.12, compensated (Neumaier) since.
    fn sum(&self, values: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut compensation) = (0.0f64, 0.0f64);
        for value in values {
            let next = sum + value;
            if self.compensated {
                compensation += if sum.abs() >= value.abs() {
                    (sum - next) + value
                } else {
                    (value - next) + sum
                };
            }
            sum = next;
        }
        if compensation != 0.0 && compensation.is_finite() { sum + compensation } else { sum }
    }
}
