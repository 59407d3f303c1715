//! chrF's row of integers for a segment, and its formula.
//!
//! A row has three numbers for each order of character n-grams, then for each order of word
//! n-grams: how many the hypothesis has, how many the reference, how many clipped matches. Of
//! several references the one with the best score counts; of equally good ones the first.
//!
//! Characters are matched as tokens are in [`crate::ngrams`], with bitsets of reference positions,
//! but with one order per lane: a step takes all orders at once.

mod characters;
mod general;

use crate::count::{self, Metric};
use crate::lex::{self, whitespace};
use crate::ngrams::{self, Match};
use crate::tokens::{Tokens, View};
use crate::vector::{ORDERS, Vector};

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
        // Matches are the same either way round: the bitsets are for the side that makes less work.
        let work = |n: usize, bits: usize| n * bits.div_ceil(64);
        let (steps, bits) =
            if work(a.len(), b.len()) <= work(b.len(), a.len()) { (a, b) } else { (b, a) };
        let bounded = work(steps.len(), bits.len()) <= MOST_STEPS;
        if bits.len() <= MOST_BITS && self.char_order <= ORDERS && bounded {
            positions.resize(positions.len().max(interner.ids() * words_for(bits.len())), 0);
            // SAFETY: as the caller promises; positions have room for every id.
            let matches = unsafe { match_with_bitsets::<V>(steps, bits, positions) };
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
        if point < SMALL {
            return point;
        }
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

/// The most characters on the shorter side that bitsets are used for.
const MOST_BITS: usize = 2048;

/// The most words of bitsets that are gone through in one go, which is not polled in.
const MOST_STEPS: usize = 1 << 24;

/// The number of words of a bitset of `bits` positions.
fn words_for(bits: usize) -> usize {
    match bits.div_ceil(64) {
        few @ 0..=8 => few,
        many => many.next_multiple_of(GROUP),
    }
}

/// The clipped matches of orders 1 to 8. `positions` is all 0, before and after.
///
/// # Safety
/// The processor must have the instructions of `V`; `positions` has [`words_for`] words for each id.
#[inline(always)]
unsafe fn match_with_bitsets<V: Vector>(
    steps: &[u32],
    bits: &[u32],
    positions: &mut [u64],
) -> [u32; ORDERS] {
    let words = words_for(bits.len());
    debug_assert!(steps.iter().chain(bits).all(|&id| (id as usize + 1) * words <= positions.len()));
    // SAFETY: as the caller promises.
    unsafe {
        match words {
            0 => [0; ORDERS],
            1 => match_words::<V, 1>(steps, bits, positions),
            2 => match_words::<V, 2>(steps, bits, positions),
            3 => match_words::<V, 3>(steps, bits, positions),
            4 => match_words::<V, 4>(steps, bits, positions),
            5 => match_words::<V, 5>(steps, bits, positions),
            6 => match_words::<V, 6>(steps, bits, positions),
            7 => match_words::<V, 7>(steps, bits, positions),
            8 => match_words::<V, 8>(steps, bits, positions),
            _ => match_groups::<V>(steps, bits, positions, words / GROUP),
        }
    }
}

/// [`match_with_bitsets`] with `W` words per bitset, which stay in registers.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn match_words<V: Vector, const W: usize>(
    steps: &[u32],
    bits: &[u32],
    positions: &mut [u64],
) -> [u32; ORDERS] {
    let positions = set_positions(bits, positions, W);
    // SAFETY: as the caller promises.
    unsafe {
        let mut ends = [V::orders(0); W];
        let mut used = [V::orders(0); W];
        for &id in steps {
            // As `step`, but written out: through references, the bitsets would leave the registers.
            let equal = positions.add(id as usize * W);
            let (mut carry, mut free) = (V::orders(0), V::unfound());
            for w in 0..W {
                let previous = ends[w];
                ends[w] = V::next_ends(previous, carry, *equal.add(w));
                if w + 1 < W {
                    carry = V::carry(previous);
                }
                (used[w], free) = V::use_lowest(used[w], ends[w], free);
            }
        }
        for &id in bits {
            positions.add(id as usize * W).cast::<[u64; W]>().write([0; W]);
        }
        let mut matches = [0; ORDERS];
        for used in used {
            for (count, used) in matches.iter_mut().zip(V::each_order(used)) {
                *count += used.count_ones();
            }
        }
        matches
    }
}

/// How many words of longer bitsets are taken together, and how many such groups there are at most.
const GROUP: usize = 4;
const GROUPS: usize = MOST_BITS / 64 / GROUP;

/// [`match_words`] for any number of words, in groups of [`GROUP`].
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn match_groups<V: Vector>(
    steps: &[u32],
    bits: &[u32],
    positions: &mut [u64],
    groups: usize,
) -> [u32; ORDERS] {
    let width = groups * GROUP;
    let positions = set_positions(bits, positions, width);
    // SAFETY: as the caller promises.
    unsafe {
        let mut ends = [[V::orders(0); GROUP]; GROUPS];
        let mut used = [[V::orders(0); GROUP]; GROUPS];
        for &id in steps {
            let equal = positions.add(id as usize * width);
            let (mut carry, mut free) = (V::orders(0), V::unfound());
            for (i, (ends, used)) in ends.iter_mut().zip(&mut used).take(groups).enumerate() {
                let equal = equal.add(i * GROUP);
                step::<V, GROUP>(ends, used, &mut carry, &mut free, equal);
            }
        }
        for &id in bits {
            positions.add(id as usize * width).write_bytes(0, width);
        }
        count_used::<V>(used[..groups].as_flattened())
    }
}

/// Sets the bits of the positions of each id, in `width` words per id.
#[inline(always)]
fn set_positions(bits: &[u32], positions: &mut [u64], width: usize) -> *mut u64 {
    let positions = positions.as_mut_ptr();
    for (j, &id) in bits.iter().enumerate() {
        // SAFETY: there are `width` words for each id, and j is less than 64 times that.
        unsafe { *positions.add(id as usize * width + j / 64) |= 1 << (j % 64) };
    }
    positions
}

/// Goes on by one character, in `W` words of the bitsets; `equal` are the positions that have it.
///
/// # Safety
/// The processor must have the instructions of `V`; `equal` has `W` words.
#[inline(always)]
unsafe fn step<V: Vector, const W: usize>(
    ends: &mut [V::Orders; W],
    used: &mut [V::Orders; W],
    carry: &mut V::Orders,
    free: &mut V::Flags,
    equal: *const u64,
) {
    for w in 0..W {
        let previous = ends[w];
        // SAFETY: as the caller promises.
        unsafe {
            ends[w] = V::next_ends(previous, *carry, *equal.add(w));
            *carry = V::carry(previous);
            (used[w], *free) = V::use_lowest(used[w], ends[w], *free);
        }
    }
}

/// How many bits of each order are set.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
unsafe fn count_used<V: Vector>(used: &[V::Orders]) -> [u32; ORDERS] {
    let mut matches = [0; ORDERS];
    for &used in used {
        // SAFETY: as the caller promises.
        let used = unsafe { V::each_order(used) };
        for (count, used) in matches.iter_mut().zip(used) {
            *count += used.count_ones();
        }
    }
    matches
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
