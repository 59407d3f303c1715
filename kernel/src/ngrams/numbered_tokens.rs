//! Clipped matches of long segments, whose tokens are replaced by ids. Like characters, the ids are
//! matched with bitsets or by sorting, for all orders together.

use super::{MAX_ORDER, Matches};
use crate::chrf::bitsets;
use crate::ids::Seed;
use crate::interrupt::{Work, extend_to};
use crate::simd::{ORDERS, Vector};
use crate::sorted_ngrams::{self, MAX_REFERENCES, SortScratch};
use crate::tokens::{HASHED, View};

/// Maximum number of tokens for bitsets. Sorting is faster for longer texts.
const MAX_BITSET_TOKENS: usize = 512;

/// Reusable buffers for matching a segment.
#[derive(Default)]
pub(super) struct NumberedTokenScratch {
    /// A hash table with open addressing. A slot contains an id, or 0 if it is free.
    slots: Vec<u32>,
    /// For each id, the key of the token. The id 0 represents tokens that only the hypothesis
    /// contains.
    keys: Vec<u64>,
    /// For each id, the reference and the position where it first occurs.
    first_occurrences: Vec<(u32, u32)>,
    /// The ids of the hypothesis, then the ids of the references.
    ids: Vec<u32>,
    /// For [`bitsets`].
    positions: Vec<u64>,
    sorting: SortScratch,
}

impl NumberedTokenScratch {
    /// Return the clipped matches of each order. Return `None` if neither method can count them, or
    /// if different tokens have equal hashed keys.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn count_matches<V: Vector>(
        &mut self,
        hypothesis: &View<'_>,
        references: &[View<'_>],
        max_order: usize,
    ) -> Option<Matches> {
        if max_order > ORDERS || references.len() > MAX_REFERENCES {
            return None;
        }
        let id_bound = self.assign_ids(hypothesis, references)?;
        let (hypothesis_ids, mut remaining) = self.ids.split_at(hypothesis.count());
        let mut texts: [&[u32]; MAX_REFERENCES] = Default::default();
        for (ids, reference) in texts.iter_mut().zip(references) {
            (*ids, remaining) = remaining.split_at(reference.count());
        }
        let (positions, sorting) = (&mut self.positions, &mut self.sorting);
        let counts = match &texts[..references.len()] {
            [ids] if hypothesis_ids.len().max(ids.len()) <= MAX_BITSET_TOKENS => {
                // SAFETY: the caller guarantees that `V` is available.
                unsafe {
                    bitsets::count_matches::<V>(hypothesis_ids, ids, max_order, id_bound, positions)
                }
            }
            references => sorted_ngrams::count_matches(
                hypothesis_ids,
                references,
                max_order,
                id_bound,
                sorting,
            ),
        }?;
        let mut matches = [0; MAX_ORDER];
        matches[..max_order].copy_from_slice(&counts[..max_order]);
        Some(matches)
    }

    /// Assign ids to the tokens of the references, and find the ids of the hypothesis. Return an
    /// exclusive upper bound on the ids, or `None` if different tokens have equal hashed keys.
    ///
    /// The code has no unpredictable branches, unless tokens have hashed keys.
    #[inline(never)]
    fn assign_ids(&mut self, hypothesis: &View<'_>, references: &[View<'_>]) -> Option<usize> {
        let Self { slots, keys: id_keys, first_occurrences, ids, .. } = self;
        let mut work = Work::default();
        let seed = Seed::process_seed();
        let token_count = references.iter().map(View::count).sum::<usize>();
        // At most an eighth of the slots is used, so that there are few collisions.
        let bits = (8 * token_count).next_power_of_two().ilog2().max(6);
        let mask = (1 << bits) - 1;
        slots.clear();
        extend_to(slots, 1 << bits);
        extend_to(id_keys, token_count + 2);
        extend_to(first_occurrences, token_count + 2);
        ids.clear();
        extend_to(ids, hypothesis.count() + token_count);
        let find = |slots: &[u32], id_keys: &[u64], key: u64| {
            let mut slot = (seed.hash(key) >> (64 - bits)) as usize & mask;
            let mut id = slots[slot];
            while (id != 0) & (id_keys[id as usize] != key) {
                slot = (slot + 1) & mask;
                id = slots[slot];
            }
            (slot, id)
        };
        let mut has_collision = false;
        let mut next = 1;
        let (hypothesis_ids, mut remaining) = ids.split_at_mut(hypothesis.count());
        for (number, reference) in references.iter().enumerate() {
            let (reference_ids, others) = remaining.split_at_mut(reference.count());
            remaining = others;
            for (i, (id, &key)) in reference_ids.iter_mut().zip(reference.keys()).enumerate() {
                work.add(4);
                let (slot, found) = find(slots, id_keys, key);
                *id = if found == 0 { next } else { found };
                slots[slot] = *id;
                // If the id is not new, the next new id overwrites these entries.
                id_keys[next as usize] = key;
                first_occurrences[next as usize] = (number as u32, i as u32);
                next += u32::from(*id == next);
                if key >= HASHED {
                    let (first, position) = first_occurrences[*id as usize];
                    let first = &references[first as usize];
                    has_collision |= !reference.is_same(i, first, position as usize);
                }
            }
        }
        for (i, (id, &key)) in hypothesis_ids.iter_mut().zip(hypothesis.keys()).enumerate() {
            work.add(4);
            *id = find(slots, id_keys, key).1;
            if key >= HASHED && *id > 0 {
                let (first, position) = first_occurrences[*id as usize];
                let first = &references[first as usize];
                has_collision |= !hypothesis.is_same(i, first, position as usize);
            }
        }
        (!has_collision).then_some(next as usize)
    }
}
