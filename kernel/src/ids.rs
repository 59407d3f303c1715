//! Ids for keys and for tokens, assigned in order of first use.
//!
//! Users control the texts and therefore the keys. A random seed per process spreads the keys over
//! the table. Tokens that share a hashed key are distinguished by a seeded hash of their bytes.
//! Therefore, no text can be constructed to make look-ups slow. The ids do not depend on the seed.

use crate::tokens::HASHED;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Random seed for spreading keys over the table.
#[derive(Clone, Copy)]
pub(crate) struct Seed(u64, u64);

impl Seed {
    pub(crate) fn process_seed() -> Self {
        static SEED: OnceLock<Seed> = OnceLock::new();
        *SEED.get_or_init(|| {
            let random = RandomState::new();
            Self(random.hash_one(0), random.hash_one(1) | 1)
        })
    }

    #[inline(always)]
    pub(crate) fn hash(self, key: u64) -> u64 {
        let product = u128::from(key ^ self.0) * u128::from(self.1);
        product as u64 ^ (product >> 64) as u64
    }
}

/// Ids for keys.
///
/// This is a custom hash table because code that counts pairs of ids takes 6 to 29% more
/// instructions with `hashbrown`.
pub(crate) struct KeyIds {
    /// Keys and their ids; at most half of the slots are used.
    slots: Vec<(u64, u32)>,
    shift: u32,
    count: usize,
    seed: Seed,
}

/// The id that marks an empty slot.
const EMPTY: u32 = u32::MAX;

impl Default for KeyIds {
    fn default() -> Self {
        let mut ids = Self { slots: Vec::new(), shift: 0, count: 0, seed: Seed::process_seed() };
        ids.clear(0);
        ids
    }
}

impl KeyIds {
    /// Remove all keys, and reserve space for this number of keys.
    #[inline(always)]
    pub(crate) fn clear(&mut self, keys: usize) {
        let bits = (2 * keys).next_power_of_two().ilog2().max(6);
        self.slots.clear();
        self.slots.resize(1 << bits, (0, EMPTY));
        self.shift = 64 - bits;
        self.count = 0;
    }

    /// Return the number of distinct keys.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Return the id of a key, counted from 0, and whether the key is new.
    #[inline(always)]
    pub(crate) fn get_or_assign(&mut self, key: u64) -> (u32, bool) {
        self.get_or_assign_next(key, self.count as u32)
    }

    /// Return the slot of a key, or the free slot where it belongs.
    #[inline(always)]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = (self.seed.hash(key) >> self.shift) as usize & mask;
        // A single branch: it is unpredictable whether a key has an id.
        while (self.slots[index].1 != EMPTY) & (self.slots[index].0 != key) {
            index = (index + 1) & mask;
        }
        index
    }

    /// Return the id of a key, and whether the key is new. A new key gets the id `next`.
    #[inline(always)]
    fn get_or_assign_next(&mut self, key: u64, next: u32) -> (u32, bool) {
        let index = self.slot(key);
        let (_, id) = self.slots[index];
        if id != EMPTY {
            return (id, false);
        }
        self.slots[index] = (key, next);
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
        for (key, id) in std::mem::replace(&mut self.slots, slots) {
            if id != EMPTY {
                let index = self.slot(key);
                self.slots[index] = (key, id);
            }
        }
    }

    /// Return the id of a key, if it has one.
    #[inline(always)]
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        let (_, id) = self.slots[self.slot(key)];
        (id != EMPTY).then_some(id)
    }
}

/// Ids for tokens. The key identifies the token, except if tokens share a hashed key; then the
/// first token is identified by its key and all others by their bytes.
#[derive(Default)]
pub(crate) struct TokenIds {
    by_key: KeyIds,
    by_bytes: HashMap<Box<[u8]>, u32>,
}

impl TokenIds {
    /// Remove all tokens, and reserve space for this number of tokens.
    pub(crate) fn clear(&mut self, tokens: usize) {
        self.by_key.clear(tokens);
        if !self.by_bytes.is_empty() {
            self.by_bytes = HashMap::new();
        }
    }

    /// Return the id of a token, and whether the token is new. A new token gets the id `next`.
    /// `has_id` must return whether the token with a given id has these bytes.
    #[inline(always)]
    pub(crate) fn get_or_assign(
        &mut self,
        key: u64,
        bytes: &[u8],
        next: u32,
        has_id: impl Fn(u32) -> bool,
    ) -> (u32, bool) {
        let (id, is_new) = self.by_key.get_or_assign_next(key, next);
        // An unhashed key is the token itself, so equal keys mean equal tokens.
        if is_new || key < HASHED || has_id(id) {
            (id, is_new)
        } else {
            self.get_or_assign_by_bytes(bytes, next)
        }
    }

    #[cold]
    fn get_or_assign_by_bytes(&mut self, bytes: &[u8], next: u32) -> (u32, bool) {
        if let Some(&id) = self.by_bytes.get(bytes) {
            return (id, false);
        }
        self.by_bytes.insert(bytes.into(), next);
        (next, true)
    }

    /// Return the id of a token, if it has one.
    #[inline(always)]
    pub(crate) fn find(&self, key: u64, bytes: &[u8], has_id: impl Fn(u32) -> bool) -> Option<u32> {
        let id = self.by_key.find(key)?;
        if key < HASHED || has_id(id) { Some(id) } else { self.by_bytes.get(bytes).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return the ids of tokens, given their keys.
    fn assign_ids(tokens: &[(u64, &'static str)]) -> Vec<u32> {
        let mut assigned_tokens: Vec<&str> = Vec::new();
        let mut ids = TokenIds::default();
        let mut assign = |&(key, token): &(u64, &'static str)| {
            let next = assigned_tokens.len() as u32;
            let same = |id: u32| assigned_tokens[id as usize] == token;
            let (id, is_new) = ids.get_or_assign(key, token.as_bytes(), next, same);
            if is_new {
                assigned_tokens.push(token);
            }
            let same = |id: u32| assigned_tokens[id as usize] == token;
            assert_eq!(ids.find(key, token.as_bytes(), same), Some(id));
            id
        };
        tokens.iter().map(&mut assign).collect()
    }

    #[test]
    fn test_tokens_with_equal_hashed_keys_get_different_ids_in_order() {
        let tokens = [(3, "a"), (HASHED, "long one"), (HASHED, "longer"), (4, "b"), (3, "a")];
        assert_eq!(assign_ids(&tokens), [0, 1, 2, 3, 0]);
        let tokens = ["one", "another", "one", "third", "another", "third"];
        let tokens = tokens.map(|token| (HASHED | 7, token));
        assert_eq!(assign_ids(&tokens), [0, 1, 0, 2, 1, 2]);
    }

    #[test]
    fn test_clear_forgets_keys_and_shrinks_table() {
        let mut numbers = KeyIds::default();
        for key in 0..100_000 {
            assert_eq!(numbers.get_or_assign(key << 32), (key as u32, true));
        }
        numbers.clear(10);
        assert_eq!((numbers.count(), numbers.find(0)), (0, None));
        assert_eq!(numbers.slots.len(), 64);
        assert_eq!(numbers.get_or_assign(5), (0, true));
    }
}
