//! The row of integers of the F-score of n-grams, and its formula.
//!
//! A row has three numbers for each order: the clipped matches, the n-grams of the hypothesis, those
//! of the reference. Of several references the one with the best score counts; of equally good ones
//! the first.

use crate::count::{self, Formula as _};
use crate::ngrams::{Match, Scratch};
use crate::simd::Vector;
use crate::tokens::View;

/// The F-score of all orders together.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// β², the square of the weight of recall relative to precision.
    pub factor: f64,
}

impl count::Formula for Formula {
    /// The score of a row, 0 to 100.
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

/// The columns of a row.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The orders, from 1, the highest last.
    pub orders: Vec<usize>,
    /// What decides which of several references is the best.
    pub formula: Formula,
}

/// A thread's memory.
#[derive(Default)]
pub struct Memory {
    ngrams: Scratch,
    candidate: Vec<i64>,
}

impl count::Metric for Columns {
    type Scratch = Memory;

    fn width(&self) -> usize {
        3 * self.orders.len()
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut Memory,
        row: &mut [i64],
    ) {
        let mut best = f64::NEG_INFINITY;
        let Memory { ngrams: scratch, candidate } = scratch;
        candidate.resize(row.len(), 0);
        // Four orders at once cost less than two by the way that is for any number of them.
        let orders = self.orders.last().map_or(4, |&order| order.max(4));
        for reference in references.chunks(1) {
            let scratch = &mut *scratch;
            let found = Match { hypothesis, references: reference, orders, scratch };
            // SAFETY: as the caller promises.
            let matches = unsafe { found.count::<V>() };
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
