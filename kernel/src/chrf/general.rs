//! The clipped matches of texts of any length and of any orders, in time that grows with the text.
//!
//! An n-gram is the n-gram of the order below that it starts with, and one more character. So each
//! order has a hash table of such pairs, and the place in the table is the n-gram's number for the
//! order above. The reference fills the table, the hypothesis only asks: where its n-gram is none of
//! the reference's, no longer one that starts there is, and the position is asked no more.

use crate::interrupt::Work;
use std::hash::{BuildHasher, RandomState};

/// A table of pairs; cheap to empty.
#[derive(Default)]
pub struct Matcher {
    slots: Vec<Slot>,
    /// What makes the hash differ from process to process, so that no text can be made to collide.
    seed: u64,
    /// The order that the table is for now, among all since the slots were cleared.
    epoch: u64,
    ours: Vec<Start>,
    theirs: Vec<Start>,
}

/// A pair, and how many of the reference's n-grams are left to match.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The number of the n-gram below, the character, the epoch; 0 for a slot that was never used.
    key: u64,
    left: u32,
}

/// Where an n-gram starts, and its number.
#[derive(Clone, Copy)]
struct Start {
    at: u32,
    number: u32,
}

/// The bits of a key that hold a number and a character: ids of characters stay below 2^22, as there
/// are fewer characters than that.
const CHARACTER: u32 = 32;
const EPOCH: u32 = CHARACTER + 22;
const EPOCHS: u64 = 1 << (64 - EPOCH);

impl Matcher {
    /// The clipped matches of each order, from 1.
    pub fn count(&mut self, hypothesis: &[u32], reference: &[u32], orders: usize) -> Vec<i64> {
        let mut all = vec![0; orders];
        let starts = |text: &[u32], starts: &mut Vec<Start>| {
            starts.clear();
            starts.extend((0..text.len() as u32).map(|at| Start { at, number: 0 }));
        };
        starts(hypothesis, &mut self.ours);
        starts(reference, &mut self.theirs);
        // At most half of the slots are used, and numbers take 32 bits.
        let slots = (2 * reference.len()).next_power_of_two().max(2);
        if self.slots.len() < slots {
            self.seed = RandomState::new().hash_one(slots);
            self.slots.clear();
            self.slots.resize(slots, Slot::default());
            self.epoch = 0;
        }
        for (order, matches) in all.iter_mut().enumerate() {
            self.theirs.truncate(reference.len().saturating_sub(order));
            if self.theirs.is_empty() || self.ours.is_empty() {
                break;
            }
            self.start_order();
            *matches = self.order(hypothesis, reference, order, slots - 1);
        }
        all
    }

    /// Empties the table.
    fn start_order(&mut self) {
        self.epoch += 1;
        if self.epoch == EPOCHS {
            self.slots.fill(Slot::default());
            self.epoch = 1;
        }
    }

    /// Counts the matches of the n-grams of `order` and one more characters.
    fn order(&mut self, hypothesis: &[u32], reference: &[u32], order: usize, mask: usize) -> i64 {
        let Self { slots, seed, epoch, ours, theirs } = self;
        let slots = &mut slots[..=mask];
        let key = |number: u32, character: u32| {
            debug_assert!(character >> (EPOCH - CHARACTER) == 0);
            u64::from(number) | u64::from(character) << CHARACTER | *epoch << EPOCH
        };
        let place = |key: u64| {
            let product = u128::from(key ^ *seed) * 0x9E37_79B9_7F4A_7C15;
            ((product >> 64) as u64 ^ product as u64) as usize & mask
        };
        let mut work = Work::default();
        for start in theirs {
            work.done(16);
            let key = key(start.number, reference[start.at as usize + order]);
            let mut at = place(key);
            loop {
                let slot = &mut slots[at];
                if slot.key == key {
                    slot.left += 1;
                    break;
                }
                if slot.key >> EPOCH != *epoch {
                    *slot = Slot { key, left: 1 };
                    break;
                }
                at = (at + 1) & mask;
            }
            start.number = at as u32;
        }
        let mut matches = 0;
        ours.retain_mut(|start| {
            work.done(16);
            let Some(&character) = hypothesis.get(start.at as usize + order) else {
                return false;
            };
            let key = key(start.number, character);
            let mut at = place(key);
            while slots[at].key != key {
                if slots[at].key >> EPOCH != *epoch {
                    return false;
                }
                at = (at + 1) & mask;
            }
            start.number = at as u32;
            let left = &mut slots[at].left;
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
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn defined(hypothesis: &[u32], reference: &[u32], orders: usize) -> Vec<i64> {
        let counts = |text: &[u32], order: usize| {
            let mut counts: HashMap<Vec<u32>, i64> = HashMap::new();
            for ngram in text.windows(order) {
                *counts.entry(ngram.to_vec()).or_default() += 1;
            }
            counts
        };
        let matches = |order| {
            let theirs = counts(reference, order);
            let ours = counts(hypothesis, order).into_iter();
            ours.map(|(ngram, count)| count.min(theirs.get(&ngram).copied().unwrap_or(0))).sum()
        };
        (1..=orders).map(matches).collect()
    }

    fn text() -> impl Strategy<Value = Vec<u32>> {
        let character = prop_oneof![8 => 0..4u32, 1 => 0..300u32, 1 => 0..0x11_0900u32];
        prop::collection::vec(character, 0..90)
    }

    proptest! {
        #[test]
        fn any_texts_one_after_the_other(
            pairs in prop::collection::vec((text(), text(), 0..12usize), 1..5)
        ) {
            let mut matcher = Matcher::default();
            for (hypothesis, reference, orders) in pairs {
                let matches = matcher.count(&hypothesis, &reference, orders);
                prop_assert_eq!(matches, defined(&hypothesis, &reference, orders));
            }
        }
    }

    #[test]
    fn the_table_is_emptied_however_often_it_is_used() {
        let mut matcher = Matcher::default();
        for round in 0..3 * EPOCHS as u32 {
            let texts = [[round, 1, 2, 1, 2], [1, 2, 1, round, 1]];
            assert_eq!(matcher.count(&texts[0], &texts[1], 6), defined(&texts[0], &texts[1], 6));
        }
    }

    #[test]
    fn no_texts_and_no_orders() {
        let mut matcher = Matcher::default();
        assert_eq!(matcher.count(&[], &[1], 2), [0, 0]);
        assert_eq!(matcher.count(&[1], &[], 2), [0, 0]);
        assert!(matcher.count(&[1], &[1], 0).is_empty());
    }
}
