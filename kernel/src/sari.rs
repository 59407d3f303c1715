//! SARI's counts for a segment, stored as a row of integers, and its formula.
//!
//! The source takes the place of the hypothesis in a scan; the first reference is the system
//! output, and the other references are the simplifications by people. For each order and each of
//! the operations add, keep and delete, a row contains the number of n-grams that the output
//! handles as the references do, and the numbers of n-grams in the output and in the references.
//!
//! Added n-grams count once. The counts of kept and deleted n-grams are multiplied by the number of
//! references, so that an n-gram has a part for each reference that keeps it.

use crate::count;
use crate::ngrams::segment_ngrams::SegmentNgrams;
use crate::simd::Vector;
use crate::tokens::View;

/// The number of n-gram orders.
pub const ORDERS: usize = 4;
/// The numbers per order: three for each operation.
const ORDER_COLUMNS: usize = 9;

/// SARI's counter.
#[derive(Clone, Copy, Debug)]
pub struct SariColumns;

/// Reusable buffers of one thread.
#[derive(Default)]
pub struct SariScratch {
    ids: SegmentNgrams,
    /// The counts of each n-gram in the source, in the output and in all references.
    counts: Vec<[i64; 3]>,
}

impl SariScratch {
    /// Write the row of a segment: the source, the output, and the references.
    fn count_segment(&mut self, texts: &[View<'_>], row: &mut [i64]) {
        let Self { ids, counts } = self;
        let reference_count = texts.len() as i64 - 2;
        ids.number_tokens(texts);
        for (order, columns) in (1..).zip(row.chunks_exact_mut(ORDER_COLUMNS)) {
            counts.clear();
            counts.resize(ids.id_bound(order), [0; 3]);
            ids.visit(order, |text, ngram| counts[ngram][text.min(2)] += 1);
            counts.iter().for_each(|&counts| add_ngram(counts, reference_count, columns));
        }
    }
}

/// Add the counts of one n-gram to the columns of its order.
fn add_ngram([source, output, references]: [i64; 3], reference_count: i64, columns: &mut [i64]) {
    let (source, output) = (source * reference_count, output * reference_count);
    let mut add_operation = |operation: usize, by_output: i64, by_references: i64| {
        let columns = &mut columns[3 * operation..3 * operation + 3];
        columns[0] += by_output.min(by_references);
        columns[1] += by_output;
        columns[2] += by_references;
    };
    if source == 0 {
        add_operation(0, output.min(1), references.min(1));
    } else {
        add_operation(1, source.min(output), source.min(references));
        add_operation(2, (source - output).max(0), (source - references).max(0));
    }
}

impl count::Metric for SariColumns {
    type Scratch = SariScratch;

    fn width(&self) -> usize {
        ORDERS * ORDER_COLUMNS
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        source: View<'_>,
        references: &[View<'_>],
        scratch: &mut SariScratch,
        row: &mut [i64],
    ) {
        scratch.count_segment(&[&[source], references].concat(), row);
    }
}

/// SARI's formula, in EASSE's order of floating-point operations.
#[derive(Clone, Copy, Debug)]
pub struct SariFormula {
    /// Average precisions and recalls over the orders before computing F-scores, as in the paper.
    pub averages_precisions: bool,
    /// Use the precision of deletions instead of their F-score.
    pub deletion_precision: bool,
}

/// Return the harmonic mean of precision and recall.
fn f_score(precision: f64, recall: f64) -> f64 {
    if precision > 0.0 && recall > 0.0 {
        2.0 * precision * recall / (precision + recall)
    } else {
        0.0
    }
}

impl count::Formula for SariFormula {
    fn score(&self, row: &[i64]) -> f64 {
        let ratio =
            |part: i64, total: i64| if total > 0 { part as f64 / total as f64 } else { 0.0 };
        let scores = [0, 1, 2].map(|operation| {
            let value = |precision, recall| {
                let is_precision = operation == 2 && self.deletion_precision;
                if is_precision { precision } else { f_score(precision, recall) }
            };
            let (mut mean, mut precisions, mut recalls) = (0.0, 0.0, 0.0);
            for columns in row.chunks_exact(ORDER_COLUMNS) {
                let good = columns[3 * operation];
                let precision = ratio(good, columns[3 * operation + 1]);
                let recall = ratio(good, columns[3 * operation + 2]);
                mean += value(precision, recall) / ORDERS as f64;
                precisions += precision;
                recalls += recall;
            }
            let orders = ORDERS as f64;
            let paper = self.averages_precisions;
            100.0 * if paper { value(precisions / orders, recalls / orders) } else { mean }
        });
        (scores[0] + scores[1] + scores[2]) / 3.0
    }
}
