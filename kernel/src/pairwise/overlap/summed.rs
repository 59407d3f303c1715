//! Scores of texts against the sum of many references, computed in time that is linear in the
//! number of texts instead of the number of pairs.
//!
//! The counts of all references are added, and the hypothesis is counted once per reference. If an
//! n-gram occurs c times in the hypothesis and t times in m references together, min(m · c, t) of
//! its occurrences match. This is the integer form of reference aggregation (Jannis Vamvas and Rico
//! Sennrich, 2024, Linear-time minimum Bayes risk decoding with reference aggregation). A reference
//! with weight w is counted w times.

use super::{NgramTree, NgramWalk, Overlap, OverlapPairs, SummedPair, TextUnits};
use crate::interrupt::{self, Work, in_threads};
use crate::pairwise::claim_next;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;

/// The ranges of a set's hypotheses and references.
#[derive(Clone, Debug)]
pub struct SetRanges {
    /// The range of the hypotheses.
    pub hypotheses: Range<usize>,
    /// The range of the references.
    pub references: Range<usize>,
}

impl<M: Overlap> OverlapPairs<M> {
    /// Return the score of each hypothesis in each set against the sum of the set's references.
    /// `weights` gives the multiplicity of each reference.
    pub(super) fn score_against_sums(
        &self,
        sets: &[SetRanges],
        weights: Option<&[u32]>,
        workers: usize,
    ) -> Vec<f64> {
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut scratch, mut results) = (SumScratch::default(), Vec::new());
            while let Some((i, set)) = claim_next(&next, sets) {
                let weight = |reference| weights.map_or(1, |weights| i64::from(weights[reference]));
                scratch.sum_references(self, set.references.clone(), weight);
                let scores =
                    set.hypotheses.clone().map(|hypothesis| scratch.score(self, hypothesis));
                results.push((i, scores.collect::<Vec<f64>>()));
            }
            results
        };
        let threads = workers.min(sets.len());
        let mut results: Vec<_> = in_threads(threads, work, work).into_iter().flatten().collect();
        results.sort_unstable_by_key(|(i, _)| *i);
        results.into_iter().flat_map(|(_, scores)| scores).collect()
    }
}

/// Buffers of one thread: the sum of a set's references.
#[derive(Default)]
struct SumScratch {
    /// For each kind of unit, the n-grams and their counts in the references.
    kinds: Vec<(NgramTree, Vec<i64>)>,
    /// The summed references, and the most recent hypothesis.
    pair: SummedPair,
    node_list: Vec<u32>,
    walk: NgramWalk<u32>,
    work: Work,
}

impl SumScratch {
    /// Sum the references of a set.
    fn sum_references<M: Overlap>(
        &mut self,
        pairs: &OverlapPairs<M>,
        references: Range<usize>,
        weight: impl Fn(usize) -> i64,
    ) {
        let Self { kinds, pair, node_list: found, work, .. } = self;
        kinds.clear();
        *pair =
            SummedPair { times: references.clone().map(&weight).sum(), ..SummedPair::default() };
        let references_units = pairs.references();
        pair.lengths[1] =
            references.clone().map(|i| weight(i) * references_units.length(0, i)).sum();
        for (units, &max_order) in references_units.units.iter().zip(&pairs.max_orders) {
            let (mut tree, mut counts) = (NgramTree::default(), Vec::new());
            let first = pair.orders.len();
            pair.orders.resize(first + max_order, [0; 3]);
            for i in references.clone() {
                interrupt::poll();
                found.clear();
                let text = units.text(i);
                tree.insert_all(text, max_order, found, work);
                counts.resize(tree.count(), 0);
                found.iter().for_each(|&node| counts[node as usize] += weight(i));
                for (order, [_, total, _]) in pair.orders[first..].iter_mut().enumerate() {
                    *total += weight(i) * text.len().saturating_sub(order) as i64;
                }
            }
            kinds.push((tree, counts));
        }
    }

    /// Return the score of a hypothesis against the sum.
    fn score<M: Overlap>(&mut self, pairs: &OverlapPairs<M>, hypothesis: usize) -> f64 {
        interrupt::poll();
        let Self { kinds, pair, walk, .. } = self;
        let times = pair.times;
        pair.lengths[0] = times * pairs.hypotheses.length(0, hypothesis);
        let mut remaining_orders = &mut pair.orders[..];
        for (((nodes, counts), units), &orders) in
            kinds.iter().zip(&pairs.hypotheses.units).zip(&pairs.max_orders)
        {
            let (unit_orders, later_orders) = remaining_orders.split_at_mut(orders);
            let units = units.text(hypothesis);
            walk.start_text(nodes, units);
            for (order, [hypothesis_ngrams, _, matches]) in unit_orders.iter_mut().enumerate() {
                *hypothesis_ngrams = times * units.len().saturating_sub(order) as i64;
                walk.next_order(nodes, units, order);
                let NgramWalk { active: alive, node_counts: seen, .. } = &mut *walk;
                // All occurrences of an n-gram are counted at its first occurrence.
                let clipped_counts = alive.iter().map(|&(_, node)| {
                    let count = i64::from(std::mem::take(&mut seen[node as usize]));
                    (times * count).min(counts[node as usize])
                });
                *matches = clipped_counts.sum();
            }
            remaining_orders = later_orders;
        }
        pairs.metric.score_against_sum(pair)
    }
}

impl TextUnits {
    /// Return the length of a text in units of the given kind.
    fn length(&self, kind: usize, i: usize) -> i64 {
        self.units[kind].text(i).len() as i64
    }
}
