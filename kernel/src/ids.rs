//! Numbers for keys and for tokens, in the order in which they come.
//!
//! Whoever writes the text chooses the keys. So they are spread over a table by a random seed of
//! this process, and tokens that have one hashed key are told apart by a seeded hash of their bytes:
//! no text makes a look-up longer than another. The numbers are the same with every seed.

use crate::tokens::HASHED;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// What keys are spread by.
#[derive(Clone, Copy)]
struct Seed(u64, u64);

impl Seed {
    fn of_process() -> Self {
        static SEED: OnceLock<Seed> = OnceLock::new();
        *SEED.get_or_init(|| {
            let random = RandomState::new();
            Self(random.hash_one(0), random.hash_one(1) | 1)
        })
    }

    #[inline(always)]
    fn spread(self, key: u64) -> u64 {
        let product = u128::from(key ^ self.0) * u128::from(self.1);
        product as u64 ^ (product >> 64) as u64
    }
}

/// Numbers for keys, where equal keys are the same.
///
/// Written by hand: `hashbrown` takes 6 to 29 % more instructions in what counts pairs of numbers.
pub(crate) struct Numbers {
    /// Keys with numbers, at most half of them taken.
    slots: Vec<(u64, u32)>,
    shift: u32,
    count: usize,
    seed: Seed,
}

/// Stands for a slot without a key.
const EMPTY: u32 = u32::MAX;

impl Default for Numbers {
    fn default() -> Self {
        let mut numbers = Self { slots: Vec::new(), shift: 0, count: 0, seed: Seed::of_process() };
        numbers.clear(0);
        numbers
    }
}

impl Numbers {
    /// Forgets all, and makes room for so many keys.
    #[inline(always)]
    pub(crate) fn clear(&mut self, keys: usize) {
        let bits = (2 * keys).next_power_of_two().ilog2().max(6);
        self.slots.clear();
        self.slots.resize(1 << bits, (0, EMPTY));
        self.shift = 64 - bits;
        self.count = 0;
    }

    /// The number of different keys.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The number of a key, counted from 0; whether it is new.
    #[inline(always)]
    pub(crate) fn number(&mut self, key: u64) -> (u32, bool) {
        self.number_or(key, self.count as u32)
    }

    /// The slot of a key, or the free one where it belongs.
    #[inline(always)]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (self.seed.spread(key) >> self.shift) as usize & mask;
        while self.slots[at].1 != EMPTY && self.slots[at].0 != key {
            at = (at + 1) & mask;
        }
        at
    }

    /// The number of a key, which is `next` if it is new; whether it is.
    #[inline(always)]
    fn number_or(&mut self, key: u64, next: u32) -> (u32, bool) {
        let at = self.slot(key);
        let (_, number) = self.slots[at];
        if number != EMPTY {
            return (number, false);
        }
        self.slots[at] = (key, next);
        self.count += 1;
        if 2 * self.count > self.slots.len() {
            self.grow();
        }
        (next, true)
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![(0, EMPTY); 2 * self.slots.len()];
        self.shift -= 1;
        for (key, number) in std::mem::replace(&mut self.slots, slots) {
            if number != EMPTY {
                let at = self.slot(key);
                self.slots[at] = (key, number);
            }
        }
    }

    /// The number of a key, if it has one.
    #[inline(always)]
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        let (_, number) = self.slots[self.slot(key)];
        (number != EMPTY).then_some(number)
    }
}

/// Numbers for tokens: by their keys, and where several have one hashed key, for all but the first of
/// them by their bytes.
#[derive(Default)]
pub(crate) struct TokenNumbers {
    by_key: Numbers,
    by_bytes: HashMap<Box<[u8]>, u32>,
}

impl TokenNumbers {
    /// Forgets all, and makes room for so many.
    pub(crate) fn clear(&mut self, tokens: usize) {
        self.by_key.clear(tokens);
        if !self.by_bytes.is_empty() {
            self.by_bytes = HashMap::new();
        }
    }

    /// The number of a token, which is `next` if it is new; whether it is. `is` says if the token
    /// with a number has these bytes.
    #[inline(always)]
    pub(crate) fn number(
        &mut self,
        key: u64,
        bytes: &[u8],
        next: u32,
        is: impl Fn(u32) -> bool,
    ) -> (u32, bool) {
        let (number, new) = self.by_key.number_or(key, next);
        // A key that is no hash is the token itself.
        if new || key < HASHED || is(number) { (number, new) } else { self.other(bytes, next) }
    }

    #[cold]
    fn other(&mut self, bytes: &[u8], next: u32) -> (u32, bool) {
        if let Some(&number) = self.by_bytes.get(bytes) {
            return (number, false);
        }
        self.by_bytes.insert(bytes.into(), next);
        (next, true)
    }

    /// The number of a token, if it has one.
    #[inline(always)]
    pub(crate) fn find(&self, key: u64, bytes: &[u8], is: impl Fn(u32) -> bool) -> Option<u32> {
        let number = self.by_key.find(key)?;
        if key < HASHED || is(number) { Some(number) } else { self.by_bytes.get(bytes).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers for tokens that come with keys, in turn.
    fn numbers(tokens: &[(u64, &'static str)]) -> Vec<u32> {
        let mut known: Vec<&str> = Vec::new();
        let mut numbers = TokenNumbers::default();
        let mut number = |&(key, token): &(u64, &'static str)| {
            let next = known.len() as u32;
            let same = |number: u32| known[number as usize] == token;
            let (number, new) = numbers.number(key, token.as_bytes(), next, same);
            if new {
                known.push(token);
            }
            let same = |number: u32| known[number as usize] == token;
            assert_eq!(numbers.find(key, token.as_bytes(), same), Some(number));
            number
        };
        tokens.iter().map(&mut number).collect()
    }

    #[test]
    fn tokens_with_one_hashed_key_are_told_apart() {
        let tokens = ["one", "another", "one", "third", "another", "third"];
        let tokens = tokens.map(|token| (HASHED | 7, token));
        assert_eq!(numbers(&tokens), [0, 1, 0, 2, 1, 2]);
    }

    #[test]
    fn numbers_go_on_in_the_order_of_the_tokens() {
        let tokens = [(3, "a"), (HASHED, "long one"), (HASHED, "longer"), (4, "b"), (3, "a")];
        assert_eq!(numbers(&tokens), [0, 1, 2, 3, 0]);
    }

    #[test]
    fn a_cleared_table_knows_nothing_and_takes_no_longer_to_clear_than_it_need() {
        let mut numbers = Numbers::default();
        for key in 0..100_000 {
            assert_eq!(numbers.number(key << 32), (key as u32, true));
        }
        numbers.clear(10);
        assert_eq!((numbers.count(), numbers.find(0)), (0, None));
        assert_eq!(numbers.slots.len(), 64);
        assert_eq!(numbers.number(5), (0, true));
    }
}
