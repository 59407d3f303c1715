//! The words of a segment as small numbers, for metrics that align two texts.

use crate::ids::TokenNumbers;
use crate::interrupt::Work;
use crate::tokens::View;

/// Words as small numbers: those of the reference from 1 on, all others 0.
#[derive(Default)]
pub(crate) struct Interner {
    numbers: TokenNumbers,
    /// Where each word first stands in the reference, and how often it is left to be matched.
    pub(crate) words: Vec<(u32, u32)>,
    pub(crate) hypothesis: Vec<u32>,
    pub(crate) reference: Vec<u32>,
    /// The number of words of the hypothesis that can have a counterpart each.
    common: usize,
}

impl Interner {
    /// Numbers the words of both sides.
    #[inline(always)]
    pub(crate) fn number(&mut self, hypothesis: &View<'_>, reference: &View<'_>) {
        self.numbers.clear(reference.count());
        self.words.clear();
        self.reference.clear();
        self.hypothesis.clear();
        self.common = 0;
        let mut work = Work::default();
        let is = |words: &[(u32, u32)], word: u32, token: &[u8]| {
            reference.token(words[word as usize - 1].0 as usize) == token
        };
        for (i, &key) in reference.keys().iter().enumerate() {
            work.done(8);
            let Self { numbers, words, .. } = &mut *self;
            let same = |word: u32| is(words, word, reference.token(i));
            let next = words.len() as u32 + 1;
            let (word, new) = numbers.number(key, reference.token(i), next, same);
            if new {
                words.push((i as u32, 0));
            }
            self.words[word as usize - 1].1 += 1;
            self.reference.push(word);
        }
        for (i, &key) in hypothesis.keys().iter().enumerate() {
            work.done(8);
            let token = hypothesis.token(i);
            let same = |word: u32| is(&self.words, word, token);
            let word = self.numbers.find(key, token, same).unwrap_or(0);
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
