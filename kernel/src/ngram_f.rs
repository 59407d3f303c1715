//! The n-gram F-score's counts for a segment, stored as a row of integers, and its formula.
//!
//! For each order, a row contains the clipped matches, the number of n-grams in the hypothesis, and
//! the number of n-grams in the reference. With several references, the row describes the reference
//! with the best score, or the first of equally good references.

use crate::count::{self, Formula as _};
use crate::ngrams::{Match, MatchScratch};
use crate::simd::Vector;
use crate::tokens::View;

/// The F-score computed from the counts of all orders together.
#[derive(Clone, Copy, Debug)]
pub struct NgramFFormula {
    /// β², where recall is weighted β times as much as precision.
    pub factor: f64,
}

impl count::Formula for NgramFFormula {
    /// Return the score of a row on a 0-100 scale.
    fn score(&self, row: &[i64]) -> f64 {
        let [mut matches, mut hypothesis, mut reference] = [0, 0, 0];
        for counts in row.as_chunks::<3>().0 {
            matches += counts[0];
            hypothesis += counts[1];
            reference += counts[2];
        }
        if matches == 0 {
            return 0.0;
        }
        let precision = matches as f64 / hypothesis as f64;
        let recall = matches as f64 / reference as f64;
        let weighted = self.factor * precision + recall;
        100.0 * ((1.0 + self.factor) * precision * recall / weighted)
    }
}

/// The metric settings that determine the columns of a row.
#[derive(Clone, Debug)]
pub struct NgramFColumns {
    /// The n-gram orders in ascending order.
    pub orders: Vec<usize>,
    /// The formula that selects the best of several references.
    pub formula: NgramFFormula,
}

/// Reusable buffers of one thread.
#[derive(Default)]
pub struct NgramFScratch {
    ngrams: MatchScratch,
    candidate: Vec<i64>,
}

impl count::Metric for NgramFColumns {
    type Scratch = NgramFScratch;

    fn width(&self) -> usize {
        3 * self.orders.len()
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut NgramFScratch,
        row: &mut [i64],
    ) {
        let mut best = f64::NEG_INFINITY;
        let NgramFScratch { ngrams: scratch, candidate } = scratch;
        candidate.resize(row.len(), 0);
        // The specialized code for four orders is faster than the general code for two orders.
        let orders = self.orders.last().map_or(4, |&order| order.max(4));
        for reference in references.chunks(1) {
            let scratch = &mut *scratch;
            let matching = Match { hypothesis, references: reference, max_order: orders, scratch };
            // SAFETY: the caller guarantees that `V` is available.
            let matches = unsafe { matching.count::<V>() };
            for (counts, order) in candidate.as_chunks_mut::<3>().0.iter_mut().zip(&self.orders) {
                let ngrams = |view: &View<'_>| view.count().saturating_sub(order - 1) as i64;
                let matched = i64::from(matches[order - 1]);
                *counts = [matched, ngrams(&hypothesis), ngrams(&reference[0])];
            }
            let score = self.formula.score(candidate);
            if score > best {
                best = score;
                row.copy_from_slice(candidate);
            }
        }
    }
}
