//! BLEU as its published implementations have it: `truebleu/metrics/bleu_formula.py`, operation by
//! operation, where there is no Python.
//!
//! [`super::Formula`] has sacreBLEU's case for many rows; this has every case, and the steps to it.

use super::{LOG_OF_ZERO, PARTS, sum};
use crate::count;
use crate::math::{exp, ln, power};
use crate::ngrams::MOST_ORDERS;

/// pycocoevalcap's guards against division by 0.
const TINY: f64 = 1e-15;
const SMALL: f64 = 1e-9;

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$own:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$own])* $variant,)+ }

        impl $name {
            /// The one with this name, if there is one.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

named! {
    /// What becomes of an order without a match.
    Smoothing {
        /// 1/2, 1/4, ... of a match.
        Exponential = "exp",
        /// The value instead.
        Floor = "floor",
        /// The value more of matches and n-grams above order 1.
        Add = "add-k",
        /// The score is 0.
        None = "none",
        /// The value more of all orders.
        AddToAll = "add-k-all",
        /// As `Add`, and the smallest positive number of matches at order 1.
        AddTiny = "add-k-tiny",
        /// pycocoevalcap's guards.
        Epsilon = "epsilon",
        /// The smallest positive number.
        Tiny = "tiny",
    }
}

named! {
    /// What becomes of an order that the hypotheses are too short for.
    Missing {
        /// It makes the score 0.
        Zero = "zero",
        /// Its precision is 1.
        One = "one",
        /// It is left out.
        Drop = "drop",
        /// There is none, as each segment counts one n-gram of each order.
        AtLeastOne = "at-least-one",
    }
}

named! {
    /// The score without matches.
    NoMatch {
        /// 0 without any match.
        Zero = "zero",
        /// 0 without a match in any one order.
        AnyZero = "any-zero",
        /// Smoothing may make it positive.
        Smoothed = "smoothed",
    }
}

named! {
    /// The brevity penalty.
    Penalty {
        /// exp(1 - r/c) if c < r.
        Standard = "standard",
        /// With 1 added to both lengths.
        PlusOne = "plus-one",
        /// As pycocoevalcap.
        Coco = "coco",
        /// Always 1.
        None = "none",
    }
}

named! {
    /// Whose order of floating-point operations.
    Arithmetic {
        /// sacreBLEU's.
        SacreBleu = "sacrebleu",
        /// NLTK's.
        Nltk = "nltk",
        /// TensorFlow's nmt.
        Nmt = "nmt",
        /// pycocoevalcap's.
        Coco = "coco",
        /// CodeNN's.
        CodeNn = "codenn",
        /// AllenNLP's.
        AllenNlp = "allennlp",
        /// Single precision.
        Single = "float32",
        /// cdec's.
        Cdec = "cdec",
    }
}

/// BLEU's parameters after counting.
#[derive(Clone, Debug)]
pub struct Formula {
    /// What becomes of an order without a match.
    pub smoothing: Smoothing,
    /// The value that smoothing takes.
    pub value: f64,
    /// What becomes of an order that the hypotheses are too short for.
    pub missing: Missing,
    /// The score without matches.
    pub no_match: NoMatch,
    /// The brevity penalty.
    pub penalty: Penalty,
    /// The brevity penalty of hypotheses without tokens.
    pub empty_brevity: f64,
    /// One weight per order; `None` for the mean.
    pub weights: Option<Vec<f64>>,
    /// Whose order of operations.
    pub arithmetic: Arithmetic,
    /// Add as Python 3.12 and later do in `sum()`.
    pub compensated: bool,
    /// Reference lengths are in parts of [`PARTS`].
    pub parts: bool,
}

/// One order on the way to a score.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The numbers whose quotient the precision is, with what smoothing has added.
    pub numerator: f64,
    /// The same of the n-grams in all.
    pub denominator: f64,
    /// `None` for one that counts as 1.
    pub precision: Option<f64>,
    /// The number that stands for no match, or was added to both, if smoothing did so.
    pub smoothed: Option<f64>,
}

/// A number in single precision.
fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

impl Formula {
    /// The scale of the arithmetic: per cent or fractions.
    fn unit(&self) -> f64 {
        if self.arithmetic == Arithmetic::SacreBleu { 100.0 } else { 1.0 }
    }

    fn lengths(&self, row: &[i64]) -> (f64, f64) {
        let parts = if self.parts { PARTS as f64 } else { 1.0 };
        (row[0] as f64, row[1] as f64 / parts)
    }

    /// True if the score is 0 before smoothing.
    pub fn is_hopeless(&self, row: &[i64]) -> bool {
        let mut matches = row[2..2 + (row.len() - 2) / 2].iter();
        match self.no_match {
            NoMatch::Zero => matches.all(|&count| count == 0),
            NoMatch::AnyZero => matches.any(|&count| count == 0),
            NoMatch::Smoothed => false,
        }
    }

    /// The brevity penalty.
    pub fn brevity(&self, row: &[i64]) -> f64 {
        let (c, r) = self.lengths(row);
        match self.penalty {
            Penalty::None => return 1.0,
            Penalty::Coco => {
                let ratio = (c + TINY) / (r + SMALL);
                return if ratio < 1.0 { exp(1.0 - 1.0 / ratio) } else { 1.0 };
            }
            Penalty::PlusOne => return exp((1.0 - (r + 1.0) / (c + 1.0)).min(0.0)),
            Penalty::Standard => {}
        }
        if c == 0.0 && (r > 0.0 || self.no_match == NoMatch::Smoothed) {
            return self.empty_brevity;
        }
        if c >= r {
            return 1.0;
        }
        match self.arithmetic {
            Arithmetic::Nmt => exp(1.0 - 1.0 / (c / r)),
            Arithmetic::Single => single(exp(single(1.0 - single(r / c)))),
            _ => exp(1.0 - r / c),
        }
    }

    /// The orders that count, in the scale of the arithmetic; those that do not are left out at the
    /// end.
    pub fn steps(&self, row: &[i64]) -> Vec<Step> {
        let unit = self.unit();
        let (matches, totals) = row[2..].split_at((row.len() - 2) / 2);
        let mut steps = Vec::with_capacity(matches.len());
        let mut divisor = 1.0;
        for (order, (&matched, &total)) in matches.iter().zip(totals).enumerate() {
            let (mut numerator, mut denominator) = (matched as f64, total as f64);
            let mut smoothed = None;
            let added = match self.smoothing {
                Smoothing::AddToAll => true,
                Smoothing::Add | Smoothing::AddTiny => order > 0,
                _ => false,
            };
            if added {
                numerator += self.value;
                denominator += self.value;
                smoothed = Some(self.value);
            }
            let mut put = |precision, smoothed| {
                steps.push(Step { numerator, denominator, precision, smoothed });
            };
            if self.smoothing == Smoothing::Epsilon {
                put(Some(unit * ((numerator + TINY) / (denominator + SMALL))), None);
                continue;
            }
            if denominator == 0.0 {
                match self.missing {
                    Missing::One => put(None, None),
                    Missing::Drop => break,
                    Missing::Zero | Missing::AtLeastOne => {
                        for order in order..matches.len() {
                            let (numerator, denominator) =
                                (matches[order] as f64, totals[order] as f64);
                            let precision = Some(0.0);
                            steps.push(Step { numerator, denominator, precision, smoothed: None });
                        }
                        break;
                    }
                }
                continue;
            }
            if numerator != 0.0 {
                put(Some(unit * numerator / denominator), smoothed);
                continue;
            }
            match self.smoothing {
                Smoothing::Exponential => {
                    divisor *= 2.0;
                    put(Some(unit / (divisor * denominator)), Some(1.0 / divisor));
                }
                Smoothing::Floor => put(Some(unit * self.value / denominator), Some(self.value)),
                Smoothing::Tiny => put(Some(f64::MIN_POSITIVE), None),
                Smoothing::AddTiny => put(Some(f64::MIN_POSITIVE / denominator), smoothed),
                _ => put(Some(0.0), smoothed),
            }
        }
        steps
    }

    /// The mean of the precisions, without the brevity penalty; in the scale of the arithmetic.
    pub fn mean(&self, steps: &[Step]) -> f64 {
        if steps.is_empty() {
            return 0.0;
        }
        let unit = self.unit();
        let count = steps.len();
        let precisions = steps.iter().map(|step| step.precision.unwrap_or(unit));
        let weight = |i: usize| self.weights.as_ref().map_or(1.0 / count as f64, |all| all[i]);
        if self.arithmetic == Arithmetic::SacreBleu {
            let logs: Vec<f64> =
                precisions.map(|p| if p == 0.0 { LOG_OF_ZERO } else { ln(p) }).collect();
            let Some(weights) = &self.weights else {
                return exp(sum(logs.iter().copied(), self.compensated) / count as f64);
            };
            let products = logs.iter().zip(weights).map(|(log, weight)| log * weight);
            let mut mean = sum(products, self.compensated);
            if count < weights.len() {
                let whole = sum(weights[..count].iter().copied(), self.compensated);
                mean = if whole == 0.0 { LOG_OF_ZERO } else { mean / whole };
            }
            return exp(mean);
        }
        if self.arithmetic == Arithmetic::Nltk {
            let some = precisions.enumerate().filter(|&(_, p)| p > 0.0);
            return exp(exact_sum(some.map(|(i, p)| weight(i) * ln(p))));
        }
        if precisions.clone().any(|p| p <= 0.0) {
            return 0.0;
        }
        let precisions = precisions.enumerate();
        if self.arithmetic == Arithmetic::Single {
            let logs = precisions
                .filter(|&(i, _)| weight(i) != 0.0)
                .map(|(i, p)| single(single(weight(i)) * single(ln(single(p)))));
            return single(exp(single(sum(logs, self.compensated))));
        }
        exp(sum(precisions.map(|(i, p)| weight(i) * ln(p)), self.compensated))
    }

    /// CodeNN's: guards in both logarithms, the brevity penalty among them.
    fn codenn(&self, row: &[i64]) -> f64 {
        let (c, r) = self.lengths(row);
        let (matches, totals) = row[2..].split_at((row.len() - 2) / 2);
        let (mut added, mut mean) = (0.0, 0.0);
        for (&matched, &total) in matches.iter().zip(totals) {
            let (numerator, denominator) = (matched as f64 + added, total as f64 + added);
            mean += ln(numerator + f64::MIN_POSITIVE) - ln(denominator + f64::MIN_POSITIVE);
            added = self.value;
        }
        exp(mean / matches.len() as f64 + (1.0 - (r + 1.0) / (c + 1.0)).min(0.0))
    }

    /// cdec's: logarithms in single precision, the brevity penalty among them.
    fn cdec(&self, row: &[i64]) -> f64 {
        let (c, r) = self.lengths(row);
        let (matches, totals) = row[2..].split_at((row.len() - 2) / 2);
        let instead = single(self.value);
        let (mut mean, mut orders) = (0.0, 0);
        for (&matched, &total) in matches.iter().zip(totals) {
            if total != 0 {
                let log = single(ln(if matched == 0 { instead } else { matched as f64 }));
                mean = single(mean + single(log - single(ln(total as f64))));
                orders += 1;
            }
        }
        if orders == 0 {
            return 0.0;
        }
        let brevity = if c < r { single(single(c - r) / c) } else { 0.0 };
        single(exp(single(single(mean / f64::from(orders)) + brevity)))
    }

    /// pycocoevalcap's mean, a running product and its root; and AllenNLP's, of guarded logarithms.
    fn guarded(&self, row: &[i64]) -> f64 {
        let (matches, totals) = row[2..].split_at((row.len() - 2) / 2);
        let orders = matches.len() as f64;
        let counts = matches.iter().zip(totals).map(|(&m, &n)| (m as f64, n as f64));
        if self.arithmetic == Arithmetic::Coco {
            let product = counts.fold(1.0, |all, (m, n)| all * ((m + TINY) / (n + SMALL)));
            return power(product, 1.0 / orders);
        }
        let weight = |i: usize| self.weights.as_ref().map_or(1.0 / orders, |all| all[i]);
        let logs = counts
            .enumerate()
            // Without a guard, an order without n-grams is perfect, as with the smallest guard.
            .filter(|&(i, (_, n))| weight(i) != 0.0 && n + self.value != 0.0)
            .map(|(i, (m, n))| weight(i) * (ln(m + self.value) - ln(n + self.value)));
        exp(sum(logs, self.compensated))
    }

    /// The score in the scale of the arithmetic.
    pub fn natural(&self, row: &[i64]) -> f64 {
        if self.is_hopeless(row) {
            return 0.0;
        }
        match self.arithmetic {
            Arithmetic::CodeNn => self.codenn(row),
            Arithmetic::Cdec => self.cdec(row),
            Arithmetic::Coco => self.guarded(row) * self.brevity(row),
            Arithmetic::AllenNlp => self.brevity(row) * self.guarded(row),
            Arithmetic::Single => single(single(self.brevity(row)) * self.mean(&self.steps(row))),
            _ => self.mean(&self.steps(row)) * self.brevity(row),
        }
    }

    /// The factor from the arithmetic's scale to per cent.
    pub fn factor(&self) -> f64 {
        100.0 / self.unit()
    }
}

impl count::Formula for Formula {
    fn score(&self, row: &[i64]) -> f64 {
        if self.arithmetic == Arithmetic::SacreBleu {
            return self.natural(row);
        }
        self.factor() * self.natural(row)
    }
}

/// The sum of a few numbers, rounded once: Python's `math.fsum`.
///
/// Jonathan Richard Shewchuk (1997): Adaptive precision floating-point arithmetic and fast robust
/// geometric predicates.
fn exact_sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = Vec::with_capacity(MOST_ORDERS);
    for mut x in numbers {
        let mut kept = 0;
        for i in 0..parts.len() {
            let mut y = parts[i];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                parts[kept] = low;
                kept += 1;
            }
            x = high;
        }
        parts.truncate(kept);
        parts.push(x);
    }
    let Some(mut high) = parts.pop() else { return 0.0 };
    while let Some(part) = parts.pop() {
        let before = high;
        high = before + part;
        let low = part - (high - before);
        if low != 0.0 {
            // Half-way cases go to even, of what is left, too.
            if parts.last().is_some_and(|&next| (low < 0.0) == (next < 0.0) && next != 0.0) {
                let twice = low * 2.0;
                let sum = high + twice;
                if twice == sum - high {
                    high = sum;
                }
            }
            break;
        }
    }
    high
}
