//! chrF's counts for a segment, stored as a row of integers, and the chrF formula.
//!
//! For each order of character n-grams, then of word n-grams, a row contains three counts: n-grams
//! in the hypothesis, n-grams in the reference, and clipped matches. With several references, the
//! row describes the reference with the best score, or the first of several equally good
//! references.
//!
//! Like token matching in [`crate::ngrams`], character matching uses bitsets of reference
//! positions. Each vector lane holds one order, so one step handles all orders. Long texts are
//! sorted.

pub(crate) mod bitsets;
mod characters;

use crate::count::{self, Metric};
use crate::lex::{self, Tokenizer, whitespace};
use crate::ngrams::{self, Match, segment_ngrams::SegmentNgrams};
use crate::simd::Vector;
use crate::sorted_ngrams::{self, SortScratch};
use crate::tokens::{Tokens, View};

/// The chrF parameters that determine the counts.
#[derive(Clone, Debug)]
pub struct ChrfColumns {
    /// The largest order of character n-grams.
    pub char_order: usize,
    /// The largest order of word n-grams, at most [`ngrams::MAX_ORDER`].
    pub word_order: usize,
    /// Count white space as characters. Each segment is then a single token.
    pub whitespace: bool,
    /// The formula that selects the best of several references.
    pub formula: ChrfFormula,
}

/// Maximum number of characters in the shorter text for which bitsets are faster than sorting.
const MAX_UNSORTED_CHARACTERS: usize = 1024;

/// Reusable buffers of one thread.
#[derive(Default)]
pub struct ChrfScratch {
    interner: CharacterIds,
    hypothesis: ChrfText,
    reference: ChrfText,
    positions: Vec<u64>,
    sorting: SortScratch,
    ngrams: SegmentNgrams,
    words: ngrams::MatchScratch,
    candidate: Vec<i64>,
}

/// A segment's characters and words.
#[derive(Default)]
pub(crate) struct ChrfText {
    /// The ids of the characters.
    pub(crate) characters: Vec<u32>,
    pub(crate) words: Tokens,
}

impl Metric for ChrfColumns {
    type Scratch = ChrfScratch;
    /// Words need separate keys, because punctuation marks are split off.
    const KEYS: bool = false;

    fn width(&self) -> usize {
        3 * (self.char_order + self.word_order)
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut ChrfScratch,
        row: &mut [i64],
    ) {
        scratch.interner.clear();
        // SAFETY: the caller guarantees that `V` is available.
        unsafe { self.read_text::<V>(&hypothesis, &mut scratch.interner, &mut scratch.hypothesis) };
        // `black_box` prevents the compiler from duplicating the loop, with all inlined code, for
        // each case. The loop accounts for most of chrF's code size.
        let has_several_references = || std::hint::black_box(references.len() > 1);
        let mut best = f64::NEG_INFINITY;
        let mut candidate = std::mem::take(&mut scratch.candidate);
        candidate.resize(row.len(), 0);
        for reference in references {
            let counts = if has_several_references() { &mut candidate[..] } else { &mut *row };
            // SAFETY: the caller guarantees that `V` is available.
            unsafe { self.count_reference::<V>(&hypothesis, reference, scratch, counts) };
            if has_several_references() {
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

impl ChrfColumns {
    /// Return the tokenizer. Without word n-grams, segments need not be split.
    pub fn tokenizer(&self) -> Tokenizer {
        if self.whitespace || self.word_order == 0 {
            Tokenizer::WholeSegment
        } else {
            Tokenizer::Whitespace
        }
    }

    /// Count the matches of the most recently read hypothesis with one reference.
    #[inline(always)]
    unsafe fn count_reference<V: Vector>(
        &self,
        hypothesis: &View<'_>,
        reference: &View<'_>,
        scratch: &mut ChrfScratch,
        row: &mut [i64],
    ) {
        // SAFETY: the caller guarantees that `V` is available.
        unsafe { self.read_text::<V>(reference, &mut scratch.interner, &mut scratch.reference) };
        let ChrfScratch {
            interner,
            hypothesis: hypothesis_text,
            reference: reference_text,
            positions,
            ..
        } = scratch;
        let (a, b) = (&hypothesis_text.characters[..], &reference_text.characters[..]);
        let (characters, word_counts) = row.split_at_mut(3 * self.char_order);
        let (ids, orders) = (interner.id_bound(), self.char_order);
        let is_long = a.len().min(b.len()) > MAX_UNSORTED_CHARACTERS;
        let sort = || sorted_ngrams::count_matches(a, &[b], orders, ids, &mut scratch.sorting);
        let matches = match is_long.then(sort).flatten() {
            // SAFETY: the caller guarantees that `V` is available; the interner assigned every id.
            // The call is not in a closure, which would be compiled without the features of `V`.
            None => unsafe { bitsets::count_matches::<V>(a, b, orders, ids, positions) },
            sorted => sorted,
        };
        if let Some(matches) = matches {
            write_counts(characters, a.len(), b.len(), |order| i64::from(matches[order]));
        } else {
            scratch.ngrams.set_ids(&[a, b]);
            let matches = scratch.ngrams.count_matches(orders);
            write_counts(characters, a.len(), b.len(), |order| i64::from(matches[order]));
        }
        if self.word_order > 0 {
            let (a, b) = (hypothesis_text.words.count(), reference_text.words.count());
            let hypothesis = hypothesis.view_tokens(&hypothesis_text.words, 0, a);
            let references = &[reference.view_tokens(&reference_text.words, 0, b)];
            // The specialized code for four orders is faster than the general code for two orders.
            let orders = self.word_order.max(4);
            // SAFETY: the caller guarantees that `V` is available.
            let matches = unsafe {
                Match { hypothesis, references, max_order: orders, scratch: &mut scratch.words }
                    .count::<V>()
            };
            write_counts(word_counts, a, b, |order| i64::from(matches[order]));
        }
    }

    /// Read the characters and words of a segment.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    #[inline(always)]
    pub(crate) unsafe fn read_text<V: Vector>(
        &self,
        segment: &View<'_>,
        interner: &mut CharacterIds,
        text: &mut ChrfText,
    ) {
        let ChrfText { characters, words } = text;
        let bytes = segment.span();
        // SAFETY: text has margins of 96 bytes, and the caller guarantees that `V` is available.
        unsafe {
            let start = segment.span_pointer();
            characters::read_characters::<V>(
                start,
                bytes.len(),
                self.whitespace,
                interner,
                characters,
            );
        }
        if self.word_order > 0 {
            words.clear();
            for i in 0..segment.count() {
                let range = segment.range(i);
                if self.whitespace {
                    let start = range.start;
                    let token = segment.token(i);
                    whitespace::tokenize_whitespace(token, |from, to| {
                        push_word(&token[from..to], start + from, words);
                    });
                } else {
                    push_word(segment.token(i), range.start, words);
                }
            }
            segment.make_keys(words, memchr::memchr(0, bytes).is_some());
        }
    }
}

/// Return the first code point of a text, and its width in bytes. Valid text never starts with a
/// continuation byte. Such a byte yields a value above all code points.
#[inline(always)]
pub(crate) fn next_point(text: &[u8]) -> (u32, usize) {
    if text[0].is_ascii() {
        return (u32::from(text[0]), 1);
    }
    match lex::utf8::decode_char(text) {
        (Some(point), width) => (point, width),
        (None, width) => (0x11_0000 + u32::from(text[0]), width),
    }
}

/// Split an ASCII punctuation mark off a word that starts at `start`: the last character, or else
/// the first, as the original chrF++ does.
#[inline(always)]
fn push_word(word: &[u8], start: usize, words: &mut Tokens) {
    let (first, last) = (word[0], word[word.len() - 1]);
    let end = start + word.len();
    let cut = if lex::utf8::char_width(first) >= word.len() {
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

/// Write the three counts of each order, given the lengths of hypothesis and reference.
#[inline(always)]
fn write_counts(
    row: &mut [i64],
    hypothesis: usize,
    reference: usize,
    matches: impl Fn(usize) -> i64,
) {
    for (order, counts) in row.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let reference_ngrams = reference.saturating_sub(order);
        // sacreBLEU ignores the hypothesis n-grams of an order if the reference has no n-grams.
        let hypothesis_ngrams =
            if reference_ngrams > 0 { hypothesis.saturating_sub(order) } else { 0 };
        *counts = [hypothesis_ngrams as i64, reference_ngrams as i64, matches(order)];
    }
}

/// Character ids. A small code point is its own id; other ids are assigned in order of first use.
pub(crate) struct CharacterIds {
    /// A hash table with open addressing, whose slots contain (code point, generation, id).
    slots: Vec<(u32, u32, u32)>,
    generation: u32,
    assigned_count: u32,
}

/// Code points below this limit (Latin to Arabic) are their own ids.
const FIRST_ASSIGNED_ID: u32 = 0x800;

impl Default for CharacterIds {
    fn default() -> Self {
        Self { slots: vec![(0, 0, 0); 1 << 12], generation: 1, assigned_count: 0 }
    }
}

impl CharacterIds {
    /// Remove all assigned ids.
    pub(crate) fn clear(&mut self) {
        self.assigned_count = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            *self = Self::default();
        }
    }

    /// Return an exclusive upper bound on the ids.
    pub(crate) fn id_bound(&self) -> usize {
        (FIRST_ASSIGNED_ID + self.assigned_count) as usize
    }

    /// Return the id of a code point.
    #[inline(always)]
    pub(crate) fn id(&mut self, point: u32) -> u32 {
        if point < FIRST_ASSIGNED_ID { point } else { self.assign_id(point) }
    }

    /// Return the id of a value of any size. Assign an id to a new value.
    #[inline(always)]
    fn assign_id(&mut self, point: u32) -> u32 {
        loop {
            let mask = self.slots.len() - 1;
            let mut slot = (point.wrapping_mul(0x9E37_79B1) >> 12) as usize & mask;
            while self.slots[slot].1 == self.generation {
                if self.slots[slot].0 == point {
                    return self.slots[slot].2;
                }
                slot = (slot + 1) & mask;
            }
            if (self.assigned_count as usize) < self.slots.len() / 2 {
                let id = FIRST_ASSIGNED_ID + self.assigned_count;
                self.assigned_count += 1;
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

/// The chrF parameters that apply after counting.
#[derive(Clone, Debug, PartialEq)]
pub struct ChrfFormula {
    /// β², where recall is weighted β times as much as precision.
    pub factor: f64,
    /// 1 + β².
    pub factor_and_one: f64,
    /// Replace missing values with a tiny number instead of skipping their orders (chrF++.py).
    pub eps_smoothing: bool,
}

/// The value that replaces zero if [`ChrfFormula::eps_smoothing`] is set.
const EPSILON: f64 = 1e-16;

impl ChrfFormula {
    /// Return the scores of `N` pairs on a 0-100 scale, computed in sacreBLEU's order of
    /// floating-point operations.
    ///
    /// `orders` contains, for each order and pair, the numbers of hypothesis n-grams, reference
    /// n-grams and matches. The code has no branches, so that one vector can hold several pairs.
    #[inline(always)]
    pub(crate) fn score_pairs<const N: usize>(
        &self,
        orders: impl Iterator<Item = [[f64; N]; 3]>,
    ) -> [f64; N] {
        let zero = [0.0; N];
        if self.eps_smoothing {
            let (mut sum, mut count) = (zero, 0.0);
            for [hypothesis, reference, matches] in orders {
                for i in 0..N {
                    let ratio = |total: f64| if total > 0.0 { matches[i] / total } else { EPSILON };
                    let (precision, recall) = (ratio(hypothesis[i]), ratio(reference[i]));
                    let denominator = self.factor * precision + recall;
                    let mean = self.factor_and_one * precision * recall / denominator;
                    sum[i] += if denominator > 0.0 { mean } else { EPSILON };
                }
                count += 1.0;
            }
            return sum.map(|sum| 100.0 * sum / count);
        }
        let (mut precision, mut recall, mut counted_orders) = (zero, zero, zero);
        for [hypothesis, reference, matches] in orders {
            for i in 0..N {
                let is_counted = hypothesis[i] > 0.0 && reference[i] > 0.0;
                precision[i] += if is_counted { matches[i] / hypothesis[i] } else { 0.0 };
                recall[i] += if is_counted { matches[i] / reference[i] } else { 0.0 };
                counted_orders[i] += if is_counted { 1.0 } else { 0.0 };
            }
        }
        std::array::from_fn(|i| {
            let orders = if counted_orders[i] > 0.0 { counted_orders[i] } else { 1.0 };
            let (precision, recall) = (precision[i] / orders, recall[i] / orders);
            let mean = self.factor_and_one * precision * recall;
            let score = 100.0 * (mean / (self.factor * precision + recall));
            if precision + recall == 0.0 { 0.0 } else { score }
        })
    }
}

impl count::Formula for ChrfFormula {
    fn score(&self, row: &[i64]) -> f64 {
        let orders = row.as_chunks::<3>().0.iter();
        self.score_pairs(orders.map(|counts| counts.map(|count| [count as f64])))[0]
    }
}
