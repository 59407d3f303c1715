//! The words of a segment as small ids, for metrics that align two texts.

use crate::ids::TokenIds;
use crate::interrupt::Work;
use crate::tokens::View;

/// Word ids: reference words have ids from 1; words that only the hypothesis contains have the id
/// 0.
#[derive(Default)]
pub(crate) struct WordIds {
    numbers: TokenIds,
    /// The first position of each word in the reference, and the number of unmatched occurrences.
    pub(crate) words: Vec<(u32, u32)>,
    pub(crate) hypothesis: Vec<u32>,
    pub(crate) reference: Vec<u32>,
    /// Size of the largest one-to-one matching between equal words.
    common: usize,
}

impl WordIds {
    /// Assign ids to the words of hypothesis and reference.
    #[inline(always)]
    pub(crate) fn assign_ids(&mut self, hypothesis: &View<'_>, reference: &View<'_>) {
        self.numbers.clear(reference.count());
        self.words.clear();
        self.reference.clear();
        self.hypothesis.clear();
        self.common = 0;
        let mut work = Work::default();
        let is_equal = |words: &[(u32, u32)], word: u32, token: &[u8]| {
            reference.token(words[word as usize - 1].0 as usize) == token
        };
        for (i, &key) in reference.keys().iter().enumerate() {
            work.add(8);
            let Self { numbers, words, .. } = &mut *self;
            let same = |word: u32| is_equal(words, word, reference.token(i));
            let next = words.len() as u32 + 1;
            let (word, is_new) = numbers.get_or_assign(key, reference.token(i), next, same);
            if is_new {
                words.push((i as u32, 0));
            }
            self.words[word as usize - 1].1 += 1;
            self.reference.push(word);
        }
        for (i, &key) in hypothesis.keys().iter().enumerate() {
            work.add(8);
            let token = hypothesis.token(i);
            let same = |word: u32| is_equal(&self.words, word, token);
            let word = self.numbers.find(key, token, same).unwrap_or(0);
            if let Some(index) = (word as usize).checked_sub(1) {
                let left = &mut self.words[index].1;
                self.common += usize::from(*left > 0);
                *left = left.saturating_sub(1);
            }
            self.hypothesis.push(word);
        }
    }

    /// Return a lower bound on the edits: each word without a match costs at least one edit,
    /// regardless of the word order.
    pub(crate) fn min_edits(&self) -> u32 {
        (self.hypothesis.len().max(self.reference.len()) - self.common) as u32
    }
}
