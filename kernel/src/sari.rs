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
use crate::ids::{KeyIds, TokenIds};
use crate::interrupt::Work;
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
    token_ids: TokenIds,
    pair_ids: KeyIds,
    /// The first occurrence of each token: a text and a position.
    places: Vec<(u32, u32)>,
    /// The ids of the tokens and of the n-grams of the current order, for one text after another.
    tokens: Vec<u32>,
    ngrams: Vec<u32>,
    /// The counts of each n-gram in the source, in the output and in all references.
    counts: Vec<[i64; 3]>,
}

impl SariScratch {
    /// Assign ids to the tokens of all texts.
    fn number_tokens(&mut self, texts: &[View<'_>], work: &mut Work) {
        let Self { token_ids, places, tokens, .. } = self;
        token_ids.clear(texts.iter().map(View::count).sum());
        places.clear();
        tokens.clear();
        for (t, text) in texts.iter().enumerate() {
            for (i, &key) in text.keys().iter().enumerate() {
                work.add(8);
                let bytes = text.token(i);
                let has_bytes = |id: u32| {
                    let (t, i) = places[id as usize];
                    texts[t as usize].token(i as usize) == bytes
                };
                let next = places.len() as u32;
                let (id, is_new) = token_ids.get_or_assign(key, bytes, next, has_bytes);
                if is_new {
                    places.push((t as u32, i as u32));
                }
                tokens.push(id);
            }
        }
    }

    /// Count the n-grams of an order (from 0) in all texts. Ids of order n come from pairs of an
    /// n-gram of order n - 1 and a token.
    fn count_order(&mut self, texts: &[View<'_>], order: usize, work: &mut Work) {
        let Self { pair_ids, places, tokens, ngrams, counts, .. } = self;
        if order == 0 {
            ngrams.clone_from(tokens);
        } else {
            pair_ids.clear(tokens.len());
        }
        counts.clear();
        counts.resize(if order == 0 { places.len() } else { tokens.len() }, [0; 3]);
        let mut first = 0;
        for (t, text) in texts.iter().enumerate() {
            let column = t.min(2);
            for i in first..first + text.count().saturating_sub(order) {
                work.add(8);
                if order > 0 {
                    let pair = u64::from(ngrams[i]) << 32 | u64::from(tokens[i + order]);
                    ngrams[i] = pair_ids.get_or_assign(pair).0;
                }
                counts[ngrams[i] as usize][column] += 1;
            }
            first += text.count();
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
        let mut texts = Vec::with_capacity(1 + references.len());
        texts.push(source);
        texts.extend_from_slice(references);
        count_segment(&texts, scratch, row);
    }
}

/// Write the row of a segment: the source, the output, and the references.
fn count_segment(texts: &[View<'_>], scratch: &mut SariScratch, row: &mut [i64]) {
    let reference_count = texts.len() as i64 - 2;
    let mut work = Work::default();
    scratch.number_tokens(texts, &mut work);
    for (order, columns) in row.chunks_exact_mut(ORDER_COLUMNS).enumerate() {
        scratch.count_order(texts, order, &mut work);
        scratch.counts.iter().for_each(|&counts| add_ngram(counts, reference_count, columns));
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
