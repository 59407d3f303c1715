//! BLEU scores of all pairs, computed from matches with look-up tables.
//!
//! Almost every part of the formula depends on the hypothesis length and on a single number of
//! matches. Logarithms are therefore computed once per length and number of matches, and the
//! brevity penalty once per pair of lengths, by the same operations as in the formula. Each pair
//! then costs a sum and one exponential.

use super::overlap::{BlockScores, CountInteger, MatchedPairs, Overlap, SummedPair, Units};
use crate::bleu::{BleuFormula, LOG_OF_ZERO, brevity_penalty};
use crate::count;
use crate::math::exp;
use crate::ngrams::MAX_ORDER;
use crate::token_corpus::Vocabulary;
use crate::tokens::View;

/// The BLEU settings for pairs.
#[derive(Clone, Debug)]
pub struct PairwiseBleu {
    /// The largest n-gram order.
    pub max_order: usize,
    /// Count at least one n-gram of each order per hypothesis.
    pub at_least_one: bool,
    /// The formula.
    pub formula: BleuFormula,
}

/// The terms of the formula for hypotheses of one length, computed once for every possible number
/// of matches.
pub struct Terms {
    length: usize,
    /// Number of orders that affect the score.
    order_count: usize,
    /// For each order with n-grams, the logarithm for each number of matches. An order without
    /// matches has one logarithm for each number of lower orders without matches.
    logs: Vec<Vec<f64>>,
    logs_without_matches: Vec<Vec<f64>>,
    /// The brevity penalty for each reference length that has occurred so far.
    brevity_penalties: Vec<f64>,
}

/// Maximum length of hypotheses and references for which [`Terms`] are stored.
const MAX_TABLE_LENGTH: usize = 255;

impl Terms {
    /// Compute the terms for hypotheses of one length.
    fn new(metric: &PairwiseBleu, length: usize) -> Self {
        let (mut logs, mut logs_without_matches) = (Vec::new(), Vec::new());
        for order in 0..metric.max_order {
            let total = metric.ngram_total(length, order);
            let log = |count, mut missed| {
                metric
                    .formula
                    .log_precision(order, count, total, &mut missed)
                    .unwrap_or(LOG_OF_ZERO)
            };
            if metric.formula.log_precision(order, 0, total, &mut 0).is_none() {
                break;
            }
            logs.push((0..=total).map(|count| log(count, 0)).collect());
            logs_without_matches.push((0..=order as i32).map(|missed| log(0, missed)).collect());
        }
        let order_count =
            if metric.formula.effective_order { logs.len() } else { metric.max_order };
        Self { length, order_count, logs, logs_without_matches, brevity_penalties: Vec::new() }
    }

    /// Extend the table to references of at most `longest` tokens.
    fn extend_to(&mut self, longest: usize) {
        let lengths = self.brevity_penalties.len()..=longest;
        self.brevity_penalties
            .extend(lengths.map(|r| brevity_penalty(self.length as i64, r as i64)));
    }

    /// Return the score for the matches of each order, equal to [`BleuFormula`]'s score.
    #[inline(always)]
    fn score(
        &self,
        formula: &BleuFormula,
        reference: usize,
        matches: impl Fn(usize) -> usize,
    ) -> f64 {
        // Without a common token, there cannot be any longer match.
        if matches(0) == 0 {
            return 0.0;
        }
        let mut logs = [LOG_OF_ZERO; MAX_ORDER];
        let mut missed = 0;
        for (order, log) in logs.iter_mut().enumerate().take(self.logs.len()) {
            let count = matches(order);
            *log = if count > 0 {
                self.logs[order][count]
            } else {
                missed += 1;
                self.logs_without_matches[order][missed - 1]
            };
        }
        let mean = formula.mean_log(&logs[..self.order_count]);
        mean.map_or(0.0, |mean| self.brevity_penalties[reference] * exp(mean))
    }
}

impl PairwiseBleu {
    /// Return the number of n-grams of an order, where orders are counted from 0.
    fn ngram_total(&self, length: usize, order: usize) -> i64 {
        length.saturating_sub(order).max(usize::from(self.at_least_one)) as i64
    }

    /// Return the score computed by the formula, without look-up tables.
    fn score_by_formula(
        &self,
        length: usize,
        reference: usize,
        matches: impl Fn(usize) -> usize,
    ) -> f64 {
        let mut row = [0; 2 + 2 * MAX_ORDER];
        (row[0], row[1]) = (length as i64, reference as i64);
        for order in 0..self.max_order {
            row[2 + order] = matches(order) as i64;
            row[2 + self.max_order + order] = self.ngram_total(length, order);
        }
        count::Formula::score(&self.formula, &row[..2 + 2 * self.max_order])
    }
}

impl Overlap for PairwiseBleu {
    type Reading = Vocabulary;
    type Scratch = Vec<Option<Box<Terms>>>;

    fn max_orders(&self) -> Vec<usize> {
        vec![self.max_order]
    }

    fn read_units(&self, text: &View<'_>, vocabulary: &mut Vocabulary, units: &mut [Units]) {
        vocabulary.assign_ids(text, |number| units[0].push(number));
    }

    #[inline(always)]
    fn score_block<T: CountInteger>(
        &self,
        pairs: &MatchedPairs<'_, T>,
        memory: &mut Self::Scratch,
        scores: &mut BlockScores,
    ) {
        let length = pairs.hypothesis[0] as usize;
        let longest = pairs.references[0].iter().fold(0, |a, &b| a.max(b)) as usize;
        memory.resize_with(MAX_TABLE_LENGTH + 1, || None);
        let terms = memory.get_mut(length).map(|terms| {
            let terms = terms.get_or_insert_with(|| Box::new(Terms::new(self, length)));
            terms.extend_to(longest.min(MAX_TABLE_LENGTH));
            &**terms
        });
        for lane in pairs.lanes.clone() {
            let reference = pairs.references[0][lane] as usize;
            let matches = |order: usize| pairs.matches[order][lane].into() as usize;
            scores[lane] = match terms {
                Some(terms) if reference <= MAX_TABLE_LENGTH => {
                    terms.score(&self.formula, reference, matches)
                }
                _ => Self::score_by_formula(self, length, reference, matches),
            };
        }
    }

    fn score_against_sum(&self, pair: &SummedPair) -> f64 {
        let minimum_total = pair.times * i64::from(self.at_least_one);
        let matches = pair.orders.iter().map(|&[_, _, matches]| matches);
        let totals = pair
            .orders
            .iter()
            .map(|&[hypothesis_ngrams, _, _]| hypothesis_ngrams.max(minimum_total));
        let row: Vec<i64> = pair.lengths.into_iter().chain(matches).chain(totals).collect();
        count::Formula::score(&self.formula, &row)
    }
}
