//! BLEU formulas of published implementations, with their intermediate steps.
//!
//! They follow the original programs operation by operation. [`super::BleuFormula`] computes only
//! sacreBLEU's formula, but faster.

use super::{LOG_OF_ZERO, sum};
use crate::count;
use crate::math::{exact_sum, exp, ln, power};

/// The small constants that pycocoevalcap adds to avoid division by 0.
const TINY: f64 = 1e-15;
const SMALL: f64 = 1e-9;
/// The number that MultiWOZ adds to n-gram counts and precisions.
const OFFSET: f64 = 1e-7;

named_enum! {
    /// The treatment of an order without matches.
    Smoothing {
        /// Use 1/2, 1/4, … of a match.
        Exponential = "exp",
        /// Use the smoothing value as the number of matches.
        Floor = "floor",
        /// Add the smoothing value to the match and n-gram counts of every order above 1.
        Add = "add-k",
        /// Set the score to 0.
        None = "none",
        /// Add the smoothing value to the match and n-gram counts of every order.
        AddToAll = "add-k-all",
        /// Like `Add`, but an order-1 count of 0 becomes the smallest positive number.
        AddTiny = "add-k-tiny",
        /// Add pycocoevalcap's small constants to the match and n-gram counts.
        Epsilon = "epsilon",
        /// Add MultiWOZ's small constant to the n-gram count and to the precision.
        Offset = "offset",
        /// Use the smallest positive number as the precision.
        Tiny = "tiny",
    }
}

named_enum! {
    /// The treatment of an order that has no n-grams because the hypotheses are too short.
    MissingOrder {
        /// The score is 0.
        Zero = "zero",
        /// The precision is 1.
        PerfectPrecision = "one",
        /// The order is skipped.
        Drop = "drop",
        /// Every order has n-grams, because each segment counts at least one n-gram of each order.
        AtLeastOne = "at-least-one",
    }
}

named_enum! {
    /// The condition under which the score is 0 before smoothing.
    NoMatch {
        /// No order has a match.
        Zero = "zero",
        /// At least one order has no match.
        AnyZero = "any-zero",
        /// The score is never 0 before smoothing.
        Smoothed = "smoothed",
    }
}

named_enum! {
    /// The brevity penalty formula.
    Penalty {
        /// exp(1 - r/c) if c < r.
        Standard = "standard",
        /// The standard formula, with 1 added to both lengths.
        PlusOne = "plus-one",
        /// The formula of pycocoevalcap.
        Coco = "coco",
        /// Always 1.
        None = "none",
    }
}

named_enum! {
    /// The implementation that determines the order of floating-point operations.
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
        /// PyTorch-Ignite's: NLTK's, with unsmoothed precisions in single precision.
        Ignite = "ignite",
        /// tensor2tensor's: TensorFlow's nmt, with a score in single precision.
        TensorToTensor = "t2t",
        /// xnmt's, which adds logarithms in single precision.
        Xnmt = "xnmt",
    }
}

/// The BLEU parameters that apply after counting.
#[derive(Clone, Debug)]
pub struct BleuVariantFormula {
    /// The treatment of an order without matches.
    pub smoothing: Smoothing,
    /// The smoothing value.
    pub smoothing_value: f64,
    /// The treatment of an order that has no n-grams.
    pub missing_order: MissingOrder,
    /// The condition under which the score is 0 before smoothing.
    pub no_match: NoMatch,
    /// The brevity penalty formula.
    pub penalty: Penalty,
    /// The brevity penalty of a hypothesis without tokens.
    pub empty_brevity: f64,
    /// One weight per order; `None` for equal weights.
    pub weights: Option<Vec<f64>>,
    /// The order of floating-point operations.
    pub arithmetic: Arithmetic,
    /// Use compensated summation, like `sum()` in Python 3.12 and later.
    pub compensated: bool,
    /// Reference lengths are in units of 1 / `length_unit` token: 1 or [`super::PARTS`], or the
    /// number of references if their lengths are summed.
    pub length_unit: f64,
}

/// The precision of one n-gram order.
#[derive(Clone, Copy, Debug)]
pub struct OrderPrecision {
    /// The number of matches, including any added smoothing value.
    pub numerator: f64,
    /// The number of n-grams, including any added smoothing value.
    pub denominator: f64,
    /// The precision; `None` is treated as 1.
    pub precision: Option<f64>,
    /// The number of matches that smoothing substituted or added, if any.
    pub smoothed: Option<f64>,
}

/// Round a number to single precision.
fn round_to_single(x: f64) -> f64 {
    f64::from(x as f32)
}

impl BleuVariantFormula {
    /// Return the scale of the precisions: 100 for percentages, 1 for fractions.
    fn precision_scale(&self) -> f64 {
        if self.arithmetic == Arithmetic::SacreBleu { 100.0 } else { 1.0 }
    }

    /// Return the hypothesis length and the reference length in tokens.
    fn token_lengths(&self, row: &[i64]) -> (f64, f64) {
        (row[0] as f64, row[1] as f64 / self.length_unit)
    }

    /// Return whether the score is 0 before smoothing.
    pub fn is_zero_before_smoothing(&self, row: &[i64]) -> bool {
        let mut matches = row[2..2 + (row.len() - 2) / 2].iter();
        match self.no_match {
            NoMatch::Zero => matches.all(|&count| count == 0),
            NoMatch::AnyZero => matches.any(|&count| count == 0),
            NoMatch::Smoothed => false,
        }
    }

    /// Return the brevity penalty.
    pub fn brevity_penalty(&self, row: &[i64]) -> f64 {
        let (c, r) = self.token_lengths(row);
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
            Arithmetic::Nmt | Arithmetic::TensorToTensor => exp(1.0 - 1.0 / (c / r)),
            Arithmetic::Single => {
                round_to_single(exp(round_to_single(1.0 - round_to_single(r / c))))
            }
            _ => exp(1.0 - r / c),
        }
    }

    /// Return the precision of each order that affects the score, scaled by `precision_scale`.
    /// Higher orders that do not affect the score are omitted.
    pub fn order_precisions(&self, row: &[i64]) -> Vec<OrderPrecision> {
        let scale = self.precision_scale();
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
                numerator += self.smoothing_value;
                denominator += self.smoothing_value;
                smoothed = Some(self.smoothing_value);
            }
            let mut push_step = |precision, smoothed| {
                steps.push(OrderPrecision { numerator, denominator, precision, smoothed });
            };
            if self.smoothing == Smoothing::Epsilon {
                push_step(Some(scale * ((numerator + TINY) / (denominator + SMALL))), None);
                continue;
            }
            if self.smoothing == Smoothing::Offset {
                let precision = scale * (numerator / (denominator + OFFSET) + OFFSET);
                push_step(Some(precision), None);
                continue;
            }
            if denominator == 0.0 {
                match self.missing_order {
                    MissingOrder::PerfectPrecision => push_step(None, None),
                    MissingOrder::Drop => break,
                    MissingOrder::Zero | MissingOrder::AtLeastOne => {
                        for order in order..matches.len() {
                            let (numerator, denominator) =
                                (matches[order] as f64, totals[order] as f64);
                            let precision = Some(0.0);
                            steps.push(OrderPrecision {
                                numerator,
                                denominator,
                                precision,
                                smoothed: None,
                            });
                        }
                        break;
                    }
                }
                continue;
            }
            if numerator != 0.0 {
                push_step(Some(scale * numerator / denominator), smoothed);
                continue;
            }
            match self.smoothing {
                Smoothing::Exponential => {
                    divisor *= 2.0;
                    push_step(Some(scale / (divisor * denominator)), Some(1.0 / divisor));
                }
                Smoothing::Floor => push_step(
                    Some(scale * self.smoothing_value / denominator),
                    Some(self.smoothing_value),
                ),
                Smoothing::Tiny => push_step(Some(f64::MIN_POSITIVE), None),
                Smoothing::AddTiny => push_step(Some(f64::MIN_POSITIVE / denominator), smoothed),
                _ => push_step(Some(0.0), smoothed),
            }
        }
        steps
    }

    /// Return the mean of the precisions, on their scale, without the brevity penalty.
    pub fn mean_precision(&self, precisions: &[OrderPrecision]) -> f64 {
        if precisions.is_empty() {
            return 0.0;
        }
        let scale = self.precision_scale();
        let count = precisions.len();
        let precisions = precisions.iter().map(|step| step.precision.unwrap_or(scale));
        let weight =
            |i: usize| self.weights.as_ref().map_or(1.0 / count as f64, |weights| weights[i]);
        if self.arithmetic == Arithmetic::SacreBleu {
            let logs: Vec<f64> =
                precisions.map(|p| if p == 0.0 { LOG_OF_ZERO } else { ln(p) }).collect();
            let Some(weights) = &self.weights else {
                return exp(sum(logs.iter().copied(), self.compensated) / count as f64);
            };
            let products = logs.iter().zip(weights).map(|(log, weight)| log * weight);
            let mut mean = sum(products, self.compensated);
            if count < weights.len() {
                let weight_sum = sum(weights[..count].iter().copied(), self.compensated);
                mean = if weight_sum == 0.0 { LOG_OF_ZERO } else { mean / weight_sum };
            }
            return exp(mean);
        }
        if matches!(self.arithmetic, Arithmetic::Nltk | Arithmetic::Ignite) {
            let is_single =
                self.arithmetic == Arithmetic::Ignite && self.smoothing == Smoothing::None;
            let positive_precisions = precisions
                .map(|p| if is_single { round_to_single(p) } else { p })
                .enumerate()
                .filter(|&(_, p)| p > 0.0);
            return exp(exact_sum(positive_precisions.map(|(i, p)| weight(i) * ln(p))));
        }
        if precisions.clone().any(|p| p <= 0.0) {
            return 0.0;
        }
        let precisions = precisions.enumerate();
        if self.arithmetic == Arithmetic::Single {
            let logs = precisions.filter(|&(i, _)| weight(i) != 0.0).map(|(i, p)| {
                round_to_single(
                    round_to_single(weight(i)) * round_to_single(ln(round_to_single(p))),
                )
            });
            return round_to_single(exp(round_to_single(sum(logs, self.compensated))));
        }
        if self.arithmetic == Arithmetic::Xnmt {
            return exp(precisions.fold(0.0, |log_mean, (i, p)| {
                let product = round_to_single(weight(i)) * round_to_single(ln(p));
                round_to_single(log_mean + round_to_single(product))
            }));
        }
        exp(sum(precisions.map(|(i, p)| weight(i) * ln(p)), self.compensated))
    }

    /// Return CodeNN's score, which adds small constants in each logarithm and in the brevity
    /// penalty.
    fn codenn_score(&self, row: &[i64]) -> f64 {
        let (c, r) = self.token_lengths(row);
        let (matches, totals) = row[2..].split_at((row.len() - 2) / 2);
        let (mut added_count, mut mean) = (0.0, 0.0);
        for (&matched, &total) in matches.iter().zip(totals) {
            let (numerator, denominator) =
                (matched as f64 + added_count, total as f64 + added_count);
            mean += ln(numerator + f64::MIN_POSITIVE) - ln(denominator + f64::MIN_POSITIVE);
            added_count = self.smoothing_value;
        }
        exp(mean / matches.len() as f64 + (1.0 - (r + 1.0) / (c + 1.0)).min(0.0))
    }

    /// Return cdec's score, which uses single precision for the logarithms and the brevity penalty.
    fn cdec_score(&self, row: &[i64]) -> f64 {
        let (c, r) = self.token_lengths(row);
        let (matches, totals) = row[2..].split_at((row.len() - 2) / 2);
        let floor_count = round_to_single(self.smoothing_value);
        let (mut mean, mut orders) = (0.0, 0);
        for (&matched, &total) in matches.iter().zip(totals) {
            if total != 0 {
                let log =
                    round_to_single(ln(if matched == 0 { floor_count } else { matched as f64 }));
                mean = round_to_single(
                    mean + round_to_single(log - round_to_single(ln(total as f64))),
                );
                orders += 1;
            }
        }
        if orders == 0 {
            return 0.0;
        }
        let log_brevity_penalty =
            if c < r { round_to_single(round_to_single(c - r) / c) } else { 0.0 };
        round_to_single(exp(round_to_single(
            round_to_single(mean / f64::from(orders)) + log_brevity_penalty,
        )))
    }

    /// Return pycocoevalcap's mean (the root of a product) or AllenNLP's (a mean of logarithms).
    fn guarded_mean(&self, row: &[i64]) -> f64 {
        let (matches, totals) = row[2..].split_at((row.len() - 2) / 2);
        let orders = matches.len() as f64;
        let counts = matches.iter().zip(totals).map(|(&m, &n)| (m as f64, n as f64));
        if self.arithmetic == Arithmetic::Coco {
            let running_product =
                counts.fold(1.0, |product, (m, n)| product * ((m + TINY) / (n + SMALL)));
            return power(running_product, 1.0 / orders);
        }
        let weight = |i: usize| self.weights.as_ref().map_or(1.0 / orders, |weights| weights[i]);
        let logs = counts
            .enumerate()
            // For an order without n-grams, AllenNLP's logarithms cancel, so the precision is 1.
            .filter(|&(i, (_, n))| weight(i) != 0.0 && n + self.smoothing_value != 0.0)
            .map(|(i, (m, n))| {
                weight(i) * (ln(m + self.smoothing_value) - ln(n + self.smoothing_value))
            });
        exp(sum(logs, self.compensated))
    }

    /// Return the score, scaled by `precision_scale`.
    pub fn unscaled_score(&self, row: &[i64]) -> f64 {
        if self.is_zero_before_smoothing(row) {
            return 0.0;
        }
        match self.arithmetic {
            Arithmetic::CodeNn => self.codenn_score(row),
            Arithmetic::Cdec => self.cdec_score(row),
            Arithmetic::Coco => self.guarded_mean(row) * self.brevity_penalty(row),
            Arithmetic::AllenNlp => self.brevity_penalty(row) * self.guarded_mean(row),
            Arithmetic::Single => round_to_single(
                round_to_single(self.brevity_penalty(row))
                    * self.mean_precision(&self.order_precisions(row)),
            ),
            arithmetic => {
                let score =
                    self.mean_precision(&self.order_precisions(row)) * self.brevity_penalty(row);
                let is_single = arithmetic == Arithmetic::TensorToTensor;
                if is_single { round_to_single(score) } else { score }
            }
        }
    }

    /// Return the factor that converts `unscaled_score` to a 0-100 scale.
    pub fn percent_factor(&self) -> f64 {
        100.0 / self.precision_scale()
    }
}

impl count::Formula for BleuVariantFormula {
    fn score(&self, row: &[i64]) -> f64 {
        if self.arithmetic == Arithmetic::SacreBleu {
            return self.unscaled_score(row);
        }
        self.percent_factor() * self.unscaled_score(row)
    }
}
