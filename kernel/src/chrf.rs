//! chrF's row of integers for a segment, and its formula.
//!
//! A row has three numbers for each order of character n-grams, then for each order of word
//! n-grams: how many the hypothesis has, how many the reference, how many clipped matches. Of
//! several references the one with the best score counts; of equally good ones the first.
//!
//! Characters are matched as tokens are in [`crate::ngrams`], with bitsets of reference positions,
//! but with one order per lane: a step takes all orders at once.

mod bitsets;
mod characters;
mod general;
pub(crate) mod short_tokens;

use crate::count::{self, Metric};
use crate::lex::{self, Tokenizer, whitespace};
use crate::ngrams::{self, Match};
use crate::simd::Vector;
use crate::tokens::{Tokens, View};

/// chrF's parameters, as far as they decide the counts.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The highest order of character n-grams.
    pub char_order: usize,
    /// The highest order of word n-grams, at most [`ngrams::MOST_ORDERS`].
    pub word_order: usize,
    /// Count white space as characters. Segments then come as single tokens.
    pub whitespace: bool,
    /// The formula, which decides which of several references is the best.
    pub formula: Formula,
}

/// A thread's memory.
#[derive(Default)]
pub struct Scratch {
    interner: Interner,
    hypothesis: Text,
    reference: Text,
    positions: Vec<u64>,
    matcher: general::Matcher,
    words: ngrams::Scratch,
    candidate: Vec<i64>,
}

/// A segment as chrF sees it.
#[derive(Default)]
pub(crate) struct Text {
    /// Numbers of characters.
    pub(crate) characters: Vec<u32>,
    pub(crate) words: Tokens,
}

impl Metric for Columns {
    type Scratch = Scratch;
    /// Words have keys of their own, since punctuation marks are split off them.
    const KEYS: bool = false;

    fn width(&self) -> usize {
        3 * (self.char_order + self.word_order)
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut Scratch,
        row: &mut [i64],
    ) {
        scratch.interner.clear();
        // SAFETY: as the caller promises.
        unsafe { self.read::<V>(&hypothesis, &mut scratch.interner, &mut scratch.hypothesis) };
        // Opaque, or the compiler makes a copy of the loop, and of all that is inlined in it, for each
        // case: they are most of chrF's code.
        let several = || std::hint::black_box(references.len() > 1);
        let mut best = f64::NEG_INFINITY;
        let mut candidate = std::mem::take(&mut scratch.candidate);
        candidate.resize(row.len(), 0);
        for reference in references {
            let counts = if several() { &mut candidate[..] } else { &mut *row };
            // SAFETY: as the caller promises.
            unsafe { self.against::<V>(&hypothesis, reference, scratch, counts) };
            if several() {
                let score = count::Formula::score(&self.formula, &candidate);
                if score > best {
                    best = score;
                    row.copy_from_slice(&candidate);
                }
            }
        }
        scratch.candidate = candidate;
    }
}

impl Columns {
    /// What splits the text: without words, reading the characters leaves white space out.
    pub fn tokenizer(&self) -> Tokenizer {
        if self.whitespace || self.word_order == 0 {
            Tokenizer::Whole
        } else {
            Tokenizer::Whitespace
        }
    }

    /// The row of the hypothesis that was read last against one reference.
    #[inline(always)]
    unsafe fn against<V: Vector>(
        &self,
        hypothesis: &View<'_>,
        reference: &View<'_>,
        scratch: &mut Scratch,
        row: &mut [i64],
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.read::<V>(reference, &mut scratch.interner, &mut scratch.reference) };
        let Scratch { interner, hypothesis: ours, reference: theirs, positions, .. } = scratch;
        let (a, b) = (&ours.characters[..], &theirs.characters[..]);
        let (characters, word_counts) = row.split_at_mut(3 * self.char_order);
        // SAFETY: as the caller promises; every id is one of the interner's.
        let matches =
            unsafe { bitsets::count::<V>(a, b, self.char_order, interner.ids(), positions) };
        if let Some(matches) = matches {
            write(characters, a.len(), b.len(), |order| i64::from(matches[order]));
        } else {
            let matches = scratch.matcher.count(a, b, self.char_order);
            write(characters, a.len(), b.len(), |order| matches[order]);
        }
        if self.word_order > 0 {
            let (a, b) = (ours.words.count(), theirs.words.count());
            let hypothesis = hypothesis.of(&ours.words, 0, a);
            let references = &[reference.of(&theirs.words, 0, b)];
            // Four orders at once cost less than two by the way that is for any number of them.
            let orders = self.word_order.max(4);
            // SAFETY: as the caller promises.
            let matches = unsafe {
                Match { hypothesis, references, orders, scratch: &mut scratch.words }.count::<V>()
            };
            write(word_counts, a, b, |order| i64::from(matches[order]));
        }
    }

    /// The characters and words of a segment.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    pub(crate) unsafe fn read<V: Vector>(
        &self,
        segment: &View<'_>,
        interner: &mut Interner,
        text: &mut Text,
    ) {
        let Text { characters, words } = text;
        let bytes = segment.span();
        // SAFETY: text has margins of 96 bytes, and the caller's processor fits V.
        unsafe {
            let start = segment.span_pointer();
            characters::read::<V>(start, bytes.len(), self.whitespace, interner, characters);
        }
        if self.word_order > 0 {
            words.clear();
            for i in 0..segment.count() {
                let range = segment.range(i);
                if self.whitespace {
                    let start = range.start;
                    let token = segment.token(i);
                    whitespace::tokenize(token, |from, to| {
                        separate(&token[from..to], start + from, words);
                    });
                } else {
                    separate(segment.token(i), range.start, words);
                }
            }
            segment.make_keys(words, memchr::memchr(0, bytes).is_some());
        }
    }
}

/// The code point that a text starts with, and its width. No text has a byte that starts none; beyond
/// all characters such a byte equals itself.
#[inline(always)]
pub(crate) fn next_point(text: &[u8]) -> (u32, usize) {
    if text[0].is_ascii() {
        return (u32::from(text[0]), 1);
    }
    match lex::utf8::decode(text) {
        (Some(point), width) => (point, width),
        (None, width) => (0x11_0000 + u32::from(text[0]), width),
    }
}

/// Splits an ASCII punctuation mark off a word that starts at `start`: the last character, or else
/// the first, as the original chrF++ does.
#[inline(always)]
fn separate(word: &[u8], start: usize, words: &mut Tokens) {
    let (first, last) = (word[0], word[word.len() - 1]);
    let end = start + word.len();
    let cut = if lex::utf8::width(first) >= word.len() {
        None
    } else if last.is_ascii_punctuation() {
        Some(end - 1)
    } else if first.is_ascii_punctuation() {
        Some(start + 1)
    } else {
        None
    };
    match cut {
        Some(cut) => {
            words.push(start, cut);
            words.push(cut, end);
        }
        None => words.push(start, end),
    }
}

/// Writes three numbers per order from the lengths of both sides.
#[inline(always)]
fn write(row: &mut [i64], hypothesis: usize, reference: usize, matches: impl Fn(usize) -> i64) {
    for (order, counts) in row.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let ngrams = reference.saturating_sub(order);
        // Where the reference has no n-gram, sacreBLEU does not count the hypothesis' either.
        let ours = if ngrams > 0 { hypothesis.saturating_sub(order) } else { 0 };
        *counts = [ours as i64, ngrams as i64, matches(order)];
    }
}

/// Numbers for characters: small code points are their own, others are numbered as they come.
pub(crate) struct Interner {
    /// Open addressing: code point, generation, id.
    slots: Vec<(u32, u32, u32)>,
    generation: u32,
    known: u32,
}

/// Code points below this one are their own ids: Latin to Arabic.
const SMALL: u32 = 0x800;

impl Default for Interner {
    fn default() -> Self {
        Self { slots: vec![(0, 0, 0); 1 << 12], generation: 1, known: 0 }
    }
}

impl Interner {
    pub(crate) fn clear(&mut self) {
        self.known = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            *self = Self::default();
        }
    }

    /// An upper bound on the ids given.
    pub(crate) fn ids(&self) -> usize {
        (SMALL + self.known) as usize
    }

    #[inline(always)]
    pub(crate) fn id(&mut self, point: u32) -> u32 {
        if point < SMALL { point } else { self.number(point) }
    }

    /// The number of a value, whatever its size.
    #[inline(always)]
    fn number(&mut self, point: u32) -> u32 {
        loop {
            let mask = self.slots.len() - 1;
            let mut slot = (point.wrapping_mul(0x9E37_79B1) >> 12) as usize & mask;
            while self.slots[slot].1 == self.generation {
                if self.slots[slot].0 == point {
                    return self.slots[slot].2;
                }
                slot = (slot + 1) & mask;
            }
            if (self.known as usize) < self.slots.len() / 2 {
                let id = SMALL + self.known;
                self.known += 1;
                self.slots[slot] = (point, self.generation, id);
                return id;
            }
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let length = self.slots.len() * 4;
        let old = std::mem::replace(&mut self.slots, vec![(0, 0, 0); length]);
        for entry in old.into_iter().filter(|entry| entry.1 == self.generation) {
            let mut slot = (entry.0.wrapping_mul(0x9E37_79B1) >> 12) as usize & (length - 1);
            while self.slots[slot].1 == self.generation {
                slot = (slot + 1) & (length - 1);
            }
            self.slots[slot] = entry;
        }
    }
}

/// chrF's parameters after counting.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// β², and one more: recall counts β times as much as precision.
    pub factor: f64,
    /// 1 + β².
    pub factor_and_one: f64,
    /// A tiny number for what is missing instead of leaving such orders out, as in chrF++.py.
    pub eps_smoothing: bool,
}

/// Stands for zero in [`Formula::eps_smoothing`].
const EPSILON: f64 = 1e-16;

impl Formula {
    /// The scores of `N` pairs, 0 to 100, operation by operation as sacreBLEU computes them.
    ///
    /// For each order, three numbers of each pair: how many n-grams the hypothesis has, how many
    /// the reference, how many match. Without a branch, so that several pairs are one vector.
    #[inline(always)]
    pub(crate) fn side_by_side<const N: usize>(
        &self,
        orders: impl Iterator<Item = [[f64; N]; 3]>,
    ) -> [f64; N] {
        let zero = [0.0; N];
        if self.eps_smoothing {
            let (mut sum, mut count) = (zero, 0.0);
            for [hypothesis, reference, matches] in orders {
                for i in 0..N {
                    let part = |all: f64| if all > 0.0 { matches[i] / all } else { EPSILON };
                    let (precision, recall) = (part(hypothesis[i]), part(reference[i]));
                    let below = self.factor * precision + recall;
                    let mean = self.factor_and_one * precision * recall / below;
                    sum[i] += if below > 0.0 { mean } else { EPSILON };
                }
                count += 1.0;
            }
            return sum.map(|sum| 100.0 * sum / count);
        }
        let (mut precision, mut recall, mut counted) = (zero, zero, zero);
        for [hypothesis, reference, matches] in orders {
            for i in 0..N {
                let counts = hypothesis[i] > 0.0 && reference[i] > 0.0;
                precision[i] += if counts { matches[i] / hypothesis[i] } else { 0.0 };
                recall[i] += if counts { matches[i] / reference[i] } else { 0.0 };
                counted[i] += if counts { 1.0 } else { 0.0 };
            }
        }
        std::array::from_fn(|i| {
            let orders = if counted[i] > 0.0 { counted[i] } else { 1.0 };
            let (precision, recall) = (precision[i] / orders, recall[i] / orders);
            let mean = self.factor_and_one * precision * recall;
            let score = 100.0 * (mean / (self.factor * precision + recall));
            if precision + recall == 0.0 { 0.0 } else { score }
        })
    }
}

impl count::Formula for Formula {
    fn score(&self, row: &[i64]) -> f64 {
        let orders = row.as_chunks::<3>().0.iter();
        self.side_by_side(orders.map(|counts| counts.map(|count| [count as f64])))[0]
    }
}
