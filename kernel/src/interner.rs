//! The words of a segment as small numbers, for metrics that align two texts.

use crate::interrupt::Work;
use crate::tokens::{HASHED, View};

/// Words as small numbers: those of the reference from 1 on, all others 0.
#[derive(Default)]
pub(crate) struct Interner {
    /// Numbers of words, found by their keys; 0 where there is none.
    table: Vec<u32>,
    /// Where each word first stands in the reference, and how often it is left to be matched.
    pub(crate) words: Vec<(u32, u32)>,
    pub(crate) hypothesis: Vec<u32>,
    pub(crate) reference: Vec<u32>,
    /// The number of words of the hypothesis that can have a counterpart each.
    common: usize,
}

impl Interner {
    #[inline(always)]
    fn slot(&self, key: u64) -> usize {
        let bits = self.table.len().trailing_zeros();
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize
    }

    /// The number of a token, or the slot where it would be.
    #[inline(always)]
    fn find(&self, reference: &View<'_>, key: u64, token: &[u8]) -> Result<u32, usize> {
        let mut slot = self.slot(key);
        loop {
            let word = self.table[slot];
            let Some(index) = (word as usize).checked_sub(1) else {
                return Err(slot);
            };
            let first = self.words[index].0 as usize;
            let hashed = key >= HASHED;
            if reference.keys()[first] == key && (!hashed || reference.token(first) == token) {
                return Ok(word);
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }

    /// Numbers the words of both sides.
    #[inline(always)]
    pub(crate) fn number(&mut self, hypothesis: &View<'_>, reference: &View<'_>) {
        let slots = (2 * reference.count()).next_power_of_two().max(64);
        self.table.clear();
        self.table.resize(slots, 0);
        self.words.clear();
        self.reference.clear();
        self.hypothesis.clear();
        self.common = 0;
        let mut work = Work::default();
        for (i, &key) in reference.keys().iter().enumerate() {
            work.done(8);
            let word = match self.find(reference, key, reference.token(i)) {
                Ok(word) => word,
                Err(slot) => {
                    self.words.push((i as u32, 0));
                    self.table[slot] = self.words.len() as u32;
                    self.words.len() as u32
                }
            };
            self.words[word as usize - 1].1 += 1;
            self.reference.push(word);
        }
        for (i, &key) in hypothesis.keys().iter().enumerate() {
            work.done(8);
            let word = self.find(reference, key, hypothesis.token(i)).unwrap_or(0);
            if let Some(index) = (word as usize).checked_sub(1) {
                let left = &mut self.words[index].1;
                self.common += usize::from(*left > 0);
                *left = left.saturating_sub(1);
            }
            self.hypothesis.push(word);
        }
    }

    /// Words without a counterpart cost an edit each, in whatever order.
    pub(crate) fn least(&self) -> u32 {
        (self.hypothesis.len().max(self.reference.len()) - self.common) as u32
    }
}
