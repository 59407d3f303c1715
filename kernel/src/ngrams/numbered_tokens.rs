//! Clipped matches of long segments, whose tokens are replaced by ids. Like characters, the ids are
//! matched with bitsets or by sorting, for all orders together.

use super::{MAX_ORDER, Matches};
use crate::chrf::bitsets;
use crate::ids::Seed;
use crate::interrupt::{Work, extend_to};
use crate::simd::{ORDERS, Vector};
use crate::sorted_ngrams::{self, MAX_REFERENCES, SortScratch};
use crate::tokens::{HASHED, View};
use std::cell::RefCell;

/// Maximum number of tokens for bitsets. Sorting is faster for longer texts.
const MAX_BITSET_TOKENS: usize = 512;

/// Maximum number of entries in the table of token ids, which take eight megabytes.
const MAX_TABLE_IDS: usize = 1 << 20;

/// The last use of each token id.
#[derive(Default)]
struct IdTable {
    /// For each token id, the last segment that contains it (in the upper half), and its id there.
    last_ids: Vec<u64>,
    /// The number of the last segment.
    segment: u32,
}

thread_local! {
    /// The table is kept between calls, because clearing a new one takes longer than a small batch.
    static ID_TABLE: RefCell<IdTable> = RefCell::default();
}

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
    /// The positions of tokens of one text that have hashed keys and ids.
    hashed: Vec<u32>,
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
    fn assign_ids(&mut self, hypothesis: &View<'_>, references: &[View<'_>]) -> Option<usize> {
        let token_count = references.iter().map(View::count).sum::<usize>();
        self.ids.clear();
        extend_to(&mut self.ids, hypothesis.count() + token_count);
        if hypothesis.has_small_ids()
            && references.iter().all(View::has_small_ids)
            && let Some(bound) = self.assign_ids_by_value(hypothesis, references)
        {
            return Some(bound);
        }
        self.assign_ids_by_hash(hypothesis, references, token_count)
    }

    /// Assign ids like [`Self::assign_ids`] to token ids. Return `None` if an id is too large for the
    /// table.
    #[inline(never)]
    fn assign_ids_by_value(
        &mut self,
        hypothesis: &View<'_>,
        references: &[View<'_>],
    ) -> Option<usize> {
        // A signal handler that a poll calls may count, too, and then uses another table.
        let IdTable { mut last_ids, segment } = ID_TABLE.take();
        let segment = segment.wrapping_add(1).max(1);
        if segment == 1 {
            last_ids.clear();
        }
        let marker = u64::from(segment) << 32;
        let mut work = Work::default();
        let (hypothesis_ids, mut remaining) = self.ids.split_at_mut(hypothesis.count());
        let mut next = 1;
        for reference in references {
            let (reference_ids, others) = remaining.split_at_mut(reference.count());
            remaining = others;
            for (id, &key) in reference_ids.iter_mut().zip(reference.keys()) {
                work.add(1);
                let index = decode_id(key);
                if index >= last_ids.len() {
                    if index >= MAX_TABLE_IDS {
                        ID_TABLE.set(IdTable { last_ids, segment });
                        return None;
                    }
                    extend_to(&mut last_ids, (index + 1).next_power_of_two());
                }
                let last_id = &mut last_ids[index];
                let is_new = *last_id < marker;
                *id = if is_new { next } else { *last_id as u32 };
                *last_id = marker | u64::from(*id);
                next += u32::from(is_new);
            }
        }
        for (id, &key) in hypothesis_ids.iter_mut().zip(hypothesis.keys()) {
            work.add(1);
            let last_id = last_ids.get(decode_id(key)).copied().unwrap_or(0);
            *id = if last_id < marker { 0 } else { last_id as u32 };
        }
        ID_TABLE.set(IdTable { last_ids, segment });
        Some(next as usize)
    }

    /// Assign ids like [`Self::assign_ids`] to tokens of any form.
    ///
    /// The code has no unpredictable branches.
    #[inline(never)]
    fn assign_ids_by_hash(
        &mut self,
        hypothesis: &View<'_>,
        references: &[View<'_>],
        token_count: usize,
    ) -> Option<usize> {
        let Self { slots, keys: id_keys, first_occurrences, ids, hashed, .. } = self;
        let mut work = Work::default();
        let seed = Seed::process_seed();
        // At most an eighth of the slots is used, so that there are few collisions.
        let bits = (8 * token_count).next_power_of_two().ilog2().max(6);
        slots.clear();
        extend_to(slots, 1 << bits);
        extend_to(id_keys, token_count + 2);
        extend_to(first_occurrences, token_count + 2);
        let find = |slots: &[u32], id_keys: &[u64], key: u64| {
            let mask = slots.len() - 1;
            let mut slot = (seed.hash(key) >> (64 - bits)) as usize & mask;
            let mut id = slots[slot];
            while (id != 0) & (id_keys[id as usize] != key) {
                slot = (slot + 1) & mask;
                id = slots[slot];
            }
            (slot, id)
        };
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
            }
        }
        for (id, &key) in hypothesis_ids.iter_mut().zip(hypothesis.keys()) {
            work.add(4);
            *id = find(slots, id_keys, key).1;
        }
        let mut remaining = &ids[..];
        for text in std::iter::once(hypothesis).chain(references) {
            let (text_ids, others) = remaining.split_at(text.count());
            remaining = others;
            extend_to(hashed, text_ids.len());
            let mut count = 0;
            for (i, (&key, &id)) in text.keys().iter().zip(text_ids).enumerate() {
                hashed[count] = i as u32;
                count += usize::from((key >= HASHED) & (id > 0));
            }
            for &i in &hashed[..count] {
                work.add(4);
                let (first, position) = first_occurrences[text_ids[i as usize] as usize];
                if !text.is_same(i as usize, &references[first as usize], position as usize) {
                    return None;
                }
            }
        }
        Some(next as usize)
    }
}

/// Return the token id with this key, which contains six bits per byte.
#[inline(always)]
fn decode_id(key: u64) -> usize {
    let key = key as usize;
    key & 0x3F | (key >> 2 & 0xFC0) | (key >> 4 & 0x3_F000) | (key >> 6 & 0xFC_0000)
}
