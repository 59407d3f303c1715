//! Texts against the sum of many references: time grows with the number of texts, not of pairs.
//!
//! The counts of all references are added up, and those of the hypothesis are taken as often as
//! there are references: of an n-gram that it has c times, of m references that have it t times
//! together, min(m · c, t) match. That is what Jannis Vamvas and Rico Sennrich (2024, Linear-time
//! minimum Bayes risk decoding with reference aggregation) call the aggregate reference, in whole
//! numbers; a weight of w makes w references of one.

use super::{Nodes, Overlap, Overlaps, Side, Summed, Walk};
use crate::interrupt::{self, Work, in_threads};
use crate::pairwise::taken;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;

/// Where the hypotheses and the references of a set are.
#[derive(Clone, Debug)]
pub struct Places {
    /// The hypotheses.
    pub hypotheses: Range<usize>,
    /// The references.
    pub references: Range<usize>,
}

impl<M: Overlap> Overlaps<M> {
    /// The score of each hypothesis of each set against the sum of its references, as often as
    /// `weights` says for each of all references.
    pub(super) fn against_sums(
        &self,
        sets: &[Places],
        weights: Option<&[u32]>,
        workers: usize,
    ) -> Vec<f64> {
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut memory, mut found) = (Memory::default(), Vec::new());
            while let Some((i, set)) = taken(&next, sets) {
                let weight = |reference| weights.map_or(1, |weights| i64::from(weights[reference]));
                memory.add_up(self, set.references.clone(), weight);
                let scores =
                    set.hypotheses.clone().map(|hypothesis| memory.score(self, hypothesis));
                found.push((i, scores.collect::<Vec<f64>>()));
            }
            found
        };
        let threads = workers.min(sets.len());
        let mut found: Vec<_> = in_threads(threads, work, work).into_iter().flatten().collect();
        found.sort_unstable_by_key(|(i, _)| *i);
        found.into_iter().flat_map(|(_, scores)| scores).collect()
    }
}

/// One thread's memory: the sum of a set's references.
#[derive(Default)]
struct Memory {
    /// Of each kind of units the n-grams, and how often the references have them.
    kinds: Vec<(Nodes, Vec<i64>)>,
    /// The sum; the hypothesis' numbers are those of the last one.
    pair: Summed,
    found: Vec<u32>,
    walk: Walk<u32>,
    work: Work,
}

impl Memory {
    /// Adds up the references of a set.
    fn add_up<M: Overlap>(
        &mut self,
        all: &Overlaps<M>,
        references: Range<usize>,
        weight: impl Fn(usize) -> i64,
    ) {
        let Self { kinds, pair, found, work, .. } = self;
        kinds.clear();
        *pair = Summed { times: references.clone().map(&weight).sum(), ..Summed::default() };
        let texts = all.references();
        pair.lengths[1] = references.clone().map(|i| weight(i) * texts.length(0, i)).sum();
        for (units, &orders) in texts.units.iter().zip(&all.orders) {
            let (mut nodes, mut counts) = (Nodes::default(), Vec::new());
            let first = pair.orders.len();
            pair.orders.resize(first + orders, [0; 3]);
            for i in references.clone() {
                interrupt::poll();
                found.clear();
                let text = units.text(i);
                nodes.grow_all(text, orders, found, work);
                counts.resize(nodes.count(), 0);
                found.iter().for_each(|&node| counts[node as usize] += weight(i));
                for (order, [_, all, _]) in pair.orders[first..].iter_mut().enumerate() {
                    *all += weight(i) * text.len().saturating_sub(order) as i64;
                }
            }
            kinds.push((nodes, counts));
        }
    }

    /// The score of a hypothesis against the sum.
    fn score<M: Overlap>(&mut self, all: &Overlaps<M>, hypothesis: usize) -> f64 {
        interrupt::poll();
        let Self { kinds, pair, walk, .. } = self;
        let times = pair.times;
        pair.lengths[0] = times * all.hypotheses.length(0, hypothesis);
        let mut rest = &mut pair.orders[..];
        for (((nodes, counts), units), &orders) in
            kinds.iter().zip(&all.hypotheses.units).zip(&all.orders)
        {
            let (own, others) = rest.split_at_mut(orders);
            let units = units.text(hypothesis);
            walk.begin(nodes, units);
            for (order, [ours, _, matches]) in own.iter_mut().enumerate() {
                *ours = times * units.len().saturating_sub(order) as i64;
                walk.go_on(nodes, units, order);
                let Walk { alive, seen, .. } = &mut *walk;
                // All occurrences of an n-gram are counted with the first.
                let counted = alive.iter().map(|&(_, node)| {
                    let count = i64::from(std::mem::take(&mut seen[node as usize]));
                    (times * count).min(counts[node as usize])
                });
                *matches = counted.sum();
            }
            rest = others;
        }
        all.metric.score_of_sum(pair)
    }
}

impl Side {
    /// The length of a text in units of a kind.
    fn length(&self, kind: usize, i: usize) -> i64 {
        self.units[kind].text(i).len() as i64
    }
}
