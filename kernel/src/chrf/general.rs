//! Clipped matches for texts of any length and any n-gram orders, counted in time linear in the
//! text length.
//!
//! An n-gram consists of its (n-1)-gram prefix and one more character. Therefore, each order has a
//! hash table of (prefix, character) pairs. The index of a pair in the table identifies the n-gram
//! in the next order. Only reference n-grams are added to the table; hypothesis n-grams are looked
//! up. If the reference lacks an n-gram, it lacks all longer n-grams with that prefix, so the start
//! position is dropped.

use crate::interrupt::Work;
use std::hash::{BuildHasher, RandomState};

/// A hash table of pairs that is cheap to clear.
#[derive(Default)]
pub struct Matcher {
    slots: Vec<Slot>,
    /// A random hash seed per process, so that no text can be constructed to cause collisions.
    seed: u64,
    /// The current order's epoch, unique since the slots were cleared.
    epoch: u64,
    hypothesis_starts: Vec<Start>,
    reference_starts: Vec<Start>,
}

/// A pair, and the number of reference n-grams that are not matched yet.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The prefix id, the character, and the epoch; 0 if the slot was never used.
    key: u64,
    left: u32,
}

/// The start position of an n-gram, and the id of its prefix.
#[derive(Clone, Copy)]
struct Start {
    position: u32,
    prefix_id: u32,
}

/// Bit positions in a key. Character ids stay below 2^22, because there are fewer characters.
const CHARACTER_SHIFT: u32 = 32;
const EPOCH_SHIFT: u32 = CHARACTER_SHIFT + 22;
const EPOCH_LIMIT: u64 = 1 << (64 - EPOCH_SHIFT);

impl Matcher {
    /// Return the clipped matches of each order, starting with order 1.
    pub fn count_matches(
        &mut self,
        hypothesis: &[u32],
        reference: &[u32],
        orders: usize,
    ) -> Vec<i64> {
        let mut matches_by_order = vec![0; orders];
        let reset_starts = |text: &[u32], starts: &mut Vec<Start>| {
            starts.clear();
            starts.extend((0..text.len() as u32).map(|at| Start { position: at, prefix_id: 0 }));
        };
        reset_starts(hypothesis, &mut self.hypothesis_starts);
        reset_starts(reference, &mut self.reference_starts);
        // At most half of the slots are used, and ids have 32 bits.
        let slots = (2 * reference.len()).next_power_of_two().max(2);
        if self.slots.len() < slots {
            self.seed = RandomState::new().hash_one(slots);
            self.slots.clear();
            self.slots.resize(slots, Slot::default());
            self.epoch = 0;
        }
        for (order, matches) in matches_by_order.iter_mut().enumerate() {
            self.reference_starts.truncate(reference.len().saturating_sub(order));
            if self.reference_starts.is_empty() || self.hypothesis_starts.is_empty() {
                break;
            }
            self.start_order();
            *matches = self.count_order(hypothesis, reference, order, slots - 1);
        }
        matches_by_order
    }

    /// Invalidate all entries of the previous order by starting a new epoch.
    fn start_order(&mut self) {
        self.epoch += 1;
        if self.epoch == EPOCH_LIMIT {
            self.slots.fill(Slot::default());
            self.epoch = 1;
        }
    }

    /// Count the matches of the n-grams of `order + 1` characters.
    fn count_order(
        &mut self,
        hypothesis: &[u32],
        reference: &[u32],
        order: usize,
        mask: usize,
    ) -> i64 {
        let Self { slots, seed, epoch, hypothesis_starts: ours, reference_starts: theirs } = self;
        let slots = &mut slots[..=mask];
        let make_key = |prefix_id: u32, character: u32| {
            debug_assert!(character >> (EPOCH_SHIFT - CHARACTER_SHIFT) == 0);
            u64::from(prefix_id) | u64::from(character) << CHARACTER_SHIFT | *epoch << EPOCH_SHIFT
        };
        let slot_index = |key: u64| {
            let product = u128::from(key ^ *seed) * 0x9E37_79B9_7F4A_7C15;
            ((product >> 64) as u64 ^ product as u64) as usize & mask
        };
        let mut work = Work::default();
        for start in theirs {
            work.add(16);
            let key = make_key(start.prefix_id, reference[start.position as usize + order]);
            let mut index = slot_index(key);
            loop {
                let slot = &mut slots[index];
                if slot.key == key {
                    slot.left += 1;
                    break;
                }
                if slot.key >> EPOCH_SHIFT != *epoch {
                    *slot = Slot { key, left: 1 };
                    break;
                }
                index = (index + 1) & mask;
            }
            start.prefix_id = index as u32;
        }
        let mut matches = 0;
        ours.retain_mut(|start| {
            work.add(16);
            let Some(&character) = hypothesis.get(start.position as usize + order) else {
                return false;
            };
            let key = make_key(start.prefix_id, character);
            let mut index = slot_index(key);
            while slots[index].key != key {
                if slots[index].key >> EPOCH_SHIFT != *epoch {
                    return false;
                }
                index = (index + 1) & mask;
            }
            start.prefix_id = index as u32;
            let left = &mut slots[index].left;
            matches += i64::from(*left > 0);
            *left = left.saturating_sub(1);
            true
        });
        matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sorted_ngrams::{self, SortScratch};
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn count_naively(hypothesis: &[u32], reference: &[u32], orders: usize) -> Vec<i64> {
        let counts = |text: &[u32], order: usize| {
            let mut counts: HashMap<Vec<u32>, i64> = HashMap::new();
            for ngram in text.windows(order) {
                *counts.entry(ngram.to_vec()).or_default() += 1;
            }
            counts
        };
        let matches = |order| {
            let reference_counts = counts(reference, order);
            let hypothesis_counts = counts(hypothesis, order).into_iter();
            hypothesis_counts
                .map(|(ngram, count)| count.min(reference_counts.get(&ngram).copied().unwrap_or(0)))
                .sum()
        };
        (1..=orders).map(matches).collect()
    }

    fn random_text() -> impl Strategy<Value = Vec<u32>> {
        let character = prop_oneof![8 => 0..4u32, 1 => 0..300u32, 1 => 0..0x11_0900u32];
        prop::collection::vec(character, 0..90)
    }

    proptest! {
        #[test]
        fn test_consecutive_texts_match_naive_counts(
            pairs in prop::collection::vec((random_text(), random_text(), 0..12usize), 1..5)
        ) {
            let (mut matcher, mut sorting) = (Matcher::default(), SortScratch::default());
            for (hypothesis, reference, orders) in pairs {
                let expected = count_naively(&hypothesis, &reference, orders);
                let matches = matcher.count_matches(&hypothesis, &reference, orders);
                prop_assert_eq!(&matches, &expected);
                let ids = 0x11_0900;
                let sorted = sorted_ngrams::count_matches(
                    &hypothesis, &[&reference], orders, ids, &mut sorting,
                );
                if let Some(sorted) = sorted {
                    prop_assert_eq!(sorted[..orders].to_vec(), expected.iter().map(|&n| n as u32).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn test_epoch_overflow_clears_table() {
        let mut matcher = Matcher::default();
        for round in 0..3 * EPOCH_LIMIT as u32 {
            let texts = [[round, 1, 2, 1, 2], [1, 2, 1, round, 1]];
            assert_eq!(
                matcher.count_matches(&texts[0], &texts[1], 6),
                count_naively(&texts[0], &texts[1], 6)
            );
        }
    }

    #[test]
    fn test_empty_texts_and_zero_orders() {
        let mut matcher = Matcher::default();
        assert_eq!(matcher.count_matches(&[], &[1], 2), [0, 0]);
        assert_eq!(matcher.count_matches(&[1], &[], 2), [0, 0]);
        assert!(matcher.count_matches(&[1], &[1], 0).is_empty());
    }
}
