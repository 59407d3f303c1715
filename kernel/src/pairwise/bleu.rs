//! BLEU of all pairs: what the formula makes of the matches, from tables.
//!
//! Nearly all of the formula depends on the hypothesis' length and on one number of matches at a
//! time. So the logarithms are taken once for each length and number, and the brevity penalty once
//! for each two lengths, by the formula's own operations; a pair costs their sum and one
//! exponential.

use super::overlap::{Matched, Number, Overlap, Scores, Summed, Units};
use crate::bleu::{Formula, LOG_OF_ZERO, brevity};
use crate::count;
use crate::math::exp;
use crate::ngrams::MOST_ORDERS;
use crate::token_corpus::Vocabulary;
use crate::tokens::View;

/// BLEU, as far as pairs need it.
#[derive(Clone, Debug)]
pub struct Bleu {
    /// The highest n-gram order.
    pub orders: usize,
    /// Count at least one n-gram of each order in a hypothesis.
    pub at_least_one: bool,
    /// The formula.
    pub formula: Formula,
}

/// The terms of the formula for hypotheses of one length, computed once for all matches that there
/// can be.
pub struct Terms {
    length: usize,
    /// The number of orders that count.
    counted: usize,
    /// For each order that the hypotheses are long enough for, the logarithm for each number of
    /// matches; for none, that for each number of lower orders without a match.
    logs: Vec<Vec<f64>>,
    without: Vec<Vec<f64>>,
    /// The brevity penalty for each reference length, as far as references are long.
    brevity: Vec<f64>,
}

/// The longest hypotheses and references that [`Terms`] are kept for.
const LONGEST: usize = 255;

impl Terms {
    fn new(metric: &Bleu, length: usize) -> Self {
        let (mut logs, mut without) = (Vec::new(), Vec::new());
        for order in 0..metric.orders {
            let total = metric.total(length, order);
            let log = |count, mut missed| {
                metric.formula.logarithm(order, count, total, &mut missed).unwrap_or(LOG_OF_ZERO)
            };
            if metric.formula.logarithm(order, 0, total, &mut 0).is_none() {
                break;
            }
            logs.push((0..=total).map(|count| log(count, 0)).collect());
            without.push((0..=order as i32).map(|missed| log(0, missed)).collect());
        }
        let counted = if metric.formula.effective_order { logs.len() } else { metric.orders };
        Self { length, counted, logs, without, brevity: Vec::new() }
    }

    /// Makes ready for references of at most `longest` tokens.
    fn reach(&mut self, longest: usize) {
        let lengths = self.brevity.len()..=longest;
        self.brevity.extend(lengths.map(|r| brevity(self.length as i64, r as i64)));
    }

    /// The score of these matches of each order, as [`Formula`] gives it.
    #[inline(always)]
    fn score(&self, formula: &Formula, reference: usize, matches: impl Fn(usize) -> usize) -> f64 {
        // Without a token in common there is no longer n-gram either.
        if matches(0) == 0 {
            return 0.0;
        }
        let mut logs = [LOG_OF_ZERO; MOST_ORDERS];
        let mut missed = 0;
        for (order, log) in logs.iter_mut().enumerate().take(self.logs.len()) {
            let count = matches(order);
            *log = if count > 0 {
                self.logs[order][count]
            } else {
                missed += 1;
                self.without[order][missed - 1]
            };
        }
        let mean = formula.mean(&logs[..self.counted]);
        mean.map_or(0.0, |mean| self.brevity[reference] * exp(mean))
    }
}

impl Bleu {
    fn total(&self, length: usize, order: usize) -> i64 {
        length.saturating_sub(order).max(usize::from(self.at_least_one)) as i64
    }

    /// The score by the formula itself.
    fn score(&self, length: usize, reference: usize, matches: impl Fn(usize) -> usize) -> f64 {
        let mut row = [0; 2 + 2 * MOST_ORDERS];
        (row[0], row[1]) = (length as i64, reference as i64);
        for order in 0..self.orders {
            row[2 + order] = matches(order) as i64;
            row[2 + self.orders + order] = self.total(length, order);
        }
        count::Formula::score(&self.formula, &row[..2 + 2 * self.orders])
    }
}

impl Overlap for Bleu {
    type Reading = Vocabulary;
    type Memory = Vec<Option<Box<Terms>>>;

    fn orders(&self) -> Vec<usize> {
        vec![self.orders]
    }

    fn read(&self, text: &View<'_>, vocabulary: &mut Vocabulary, units: &mut [Units]) {
        vocabulary.number_all(text, |number| units[0].push(number));
    }

    #[inline(always)]
    fn score<T: Number>(
        &self,
        pairs: &Matched<'_, T>,
        memory: &mut Self::Memory,
        scores: &mut Scores,
    ) {
        let length = pairs.hypothesis[0] as usize;
        let longest = pairs.references[0].iter().fold(0, |a, &b| a.max(b)) as usize;
        memory.resize_with(LONGEST + 1, || None);
        let terms = memory.get_mut(length).map(|terms| {
            let terms = terms.get_or_insert_with(|| Box::new(Terms::new(self, length)));
            terms.reach(longest.min(LONGEST));
            &**terms
        });
        for lane in pairs.lanes.clone() {
            let reference = pairs.references[0][lane] as usize;
            let matches = |order: usize| pairs.matches[order][lane].into() as usize;
            scores[lane] = match terms {
                Some(terms) if reference <= LONGEST => {
                    terms.score(&self.formula, reference, matches)
                }
                _ => Self::score(self, length, reference, matches),
            };
        }
    }

    fn score_of_sum(&self, pair: &Summed) -> f64 {
        let least = pair.times * i64::from(self.at_least_one);
        let matches = pair.orders.iter().map(|&[_, _, matches]| matches);
        let totals = pair.orders.iter().map(|&[ours, _, _]| ours.max(least));
        let row: Vec<i64> = pair.lengths.into_iter().chain(matches).chain(totals).collect();
        count::Formula::score(&self.formula, &row)
    }
}
