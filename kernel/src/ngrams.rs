//! Clipped n-gram matches. The count of a hypothesis n-gram is limited to its largest count in a
//! reference.
//!
//! [`Match::count`] uses bitsets and no hash table. For each hypothesis position `i`, let `R(i)` be
//! the set of reference positions with the same token. Then
//!
//! ```text
//! E(i, 1) = R(i)        E(i, n) = R(i) & (E(i - 1, n - 1) << 1)
//! ```
//!
//! is the set of reference positions where the n-gram that ends at `i` also ends. Each `i` uses the
//! lowest unused position of `E(i, n)`. The number of used positions is the clipped count. The
//! count is exact: occurrences of the same n-gram have equal sets, and different n-grams have
//! disjoint sets. Therefore, each n-gram uses min(count in hypothesis, count in reference)
//! positions.
//!
//! With several references, each reference marks the hypothesis positions that used one of its
//! positions, and the union of the marks is counted. Each reference marks the first `c` occurrences
//! of an n-gram, where `c` is its count. Therefore, the union has as many marks as the largest
//! count.
//!
//! References that are too long for bitsets are sorted. [`count_matches_general`] counts with hash
//! maps, for input that neither method supports. Tests compare both methods with it.

mod numbered_tokens;
pub(crate) mod segment_ngrams;

use crate::interrupt::Work;
use crate::simd::{Job, ORDERS, Vector};
use crate::tokens::View;
use segment_ngrams::SegmentNgrams;

/// The largest n-gram order.
pub const MAX_ORDER: usize = 16;
/// Maximum number of hypothesis tokens that are processed without polling for interrupts.
const MAX_UNPOLLED_TOKENS: usize = 1 << 20;
/// Maximum number of reference tokens for bitsets.
pub const MAX_BITSET_TOKENS: usize = 256;
const MAX_WORDS: usize = MAX_BITSET_TOKENS / 64;

/// Clipped counts of each order.
pub type Matches = [u32; MAX_ORDER];

/// Reusable buffers for matching a segment.
#[derive(Default)]
pub struct MatchScratch {
    /// For each hypothesis token, the reference positions with an equal key.
    equal: Vec<u64>,
    /// The hypothesis tokens with hashed keys that also occur in the reference.
    hashed: Vec<u32>,
    /// For each order, the hypothesis positions whose n-grams match in any reference.
    marks: Vec<u64>,
    /// The positions of each key of the current reference.
    index: PositionIndex,
    /// The buffers for matching long segments.
    numbered: numbered_tokens::NumberedTokenScratch,
}

/// A hypothesis and its references, to be matched.
pub struct Match<'a, 'b> {
    /// The tokens of the hypothesis.
    pub hypothesis: View<'a>,
    /// The tokens of each reference.
    pub references: &'b [View<'a>],
    /// The largest order to count.
    pub max_order: usize,
    /// Reusable buffers.
    pub scratch: &'b mut MatchScratch,
}

impl Match<'_, '_> {
    /// Count the clipped matches of each order.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    #[inline(always)]
    pub unsafe fn count<V: Vector>(self) -> Matches {
        let Self { hypothesis, references, max_order, scratch } = self;
        // SAFETY: guaranteed by the caller.
        let matches_by_bitsets = unsafe {
            match references {
                [reference]
                    if max_order == 4
                        && reference.count() <= 64
                        && hypothesis.count() <= MAX_UNPOLLED_TOKENS =>
                {
                    match_one_word::<V>(&hypothesis, reference, scratch)
                }
                [reference]
                    if max_order <= ORDERS
                        && (65..=V::MAX_COMPARED_KEYS).contains(&reference.count())
                        && hypothesis.count() <= MAX_UNPOLLED_TOKENS =>
                {
                    match_two_words::<V>(&hypothesis, reference, max_order, scratch)
                }
                _ if has_too_many_references(&hypothesis, references) => None,
                [reference] if max_order <= ORDERS && reference.count() > 64 => {
                    scratch.numbered.count_matches::<V>(&hypothesis, references, max_order)
                }
                _ if references.iter().any(|reference| reference.count() > MAX_BITSET_TOKENS) => {
                    scratch.numbered.count_matches::<V>(&hypothesis, references, max_order)
                }
                _ => match_many_words::<V>(&hypothesis, references, max_order, scratch),
            }
        };
        matches_by_bitsets
            .unwrap_or_else(|| count_matches_general(&hypothesis, references, max_order))
    }
}

impl Job for Match<'_, '_> {
    type Output = Matches;

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> Matches {
        // SAFETY: guaranteed by the caller.
        unsafe { self.count::<V>() }
    }
}

/// Count the matches in the most frequent case: one reference of at most 64 tokens, orders 1 to 4.
/// Return `None` if different tokens have equal hashed keys.
#[inline(always)]
unsafe fn match_one_word<V: Vector>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    scratch: &mut MatchScratch,
) -> Option<Matches> {
    let length = hypothesis.count();
    if scratch.equal.len() < length {
        scratch.equal.resize(length.next_power_of_two(), 0);
    }
    let equal = &mut scratch.equal[..length];
    // SAFETY: 64 keys are readable from the reference's first key, and the caller guarantees that
    // `V` is available.
    let used = unsafe {
        match reference.count().div_ceil(V::LANES) {
            0 => return Some([0; MAX_ORDER]),
            1 => match_four_orders::<V, 1>(hypothesis, reference, equal),
            2 => match_four_orders::<V, 2>(hypothesis, reference, equal),
            3 => match_four_orders::<V, 3>(hypothesis, reference, equal),
            4 => match_four_orders::<V, 4>(hypothesis, reference, equal),
            5 => match_four_orders::<V, 5>(hypothesis, reference, equal),
            6 => match_four_orders::<V, 6>(hypothesis, reference, equal),
            7 => match_four_orders::<V, 7>(hypothesis, reference, equal),
            _ => match_four_orders::<V, 8>(hypothesis, reference, equal),
        }
    };
    // SAFETY: the caller guarantees that `V` is available.
    if !unsafe {
        verify_hashed::<V, 1>(hypothesis, reference, equal.as_chunks().0, &mut scratch.hashed)
    } {
        return None;
    }
    let mut matches = [0; MAX_ORDER];
    for (count, used) in matches.iter_mut().zip(used) {
        *count = used.count_ones();
    }
    Some(matches)
}

/// Return the used positions of each order. The reference's keys fill `CHUNKS` vectors.
#[inline(always)]
unsafe fn match_four_orders<V: Vector, const CHUNKS: usize>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    equal: &mut [u64],
) -> [u64; 4] {
    let keys = reference.padded_keys();
    // SAFETY: keys are readable past the last token; the caller guarantees that `V` is available.
    let mut chunks = unsafe { [V::load_keys(keys); CHUNKS] };
    for (i, chunk) in chunks.iter_mut().enumerate().skip(1) {
        // SAFETY: as above.
        *chunk = unsafe { V::load_keys(keys.add(i * V::LANES)) };
    }
    let valid_bits = u64::MAX >> (64 - reference.count());
    // The orders are in separate registers: moving them between the lanes of a vector would take
    // most of the time, because each token waits for the previous one.
    let (mut ends, mut used) = ([0_u64; 4], [0_u64; 4]);
    for (&key, equal) in hypothesis.keys().iter().zip(equal) {
        // SAFETY: the caller guarantees that `V` is available.
        *equal = unsafe { V::equal_among(&chunks, key) } & valid_bits;
        ends = [*equal, ends[0] << 1 & *equal, ends[1] << 1 & *equal, ends[2] << 1 & *equal];
        for (used, ends) in used.iter_mut().zip(ends) {
            // SAFETY: as above.
            unsafe {
                let free = V::scalar(ends & !*used);
                *used = V::scalar(*used | free & free.wrapping_neg());
            }
        }
    }
    used
}

/// Count the matches with one reference of 65 to 128 tokens, and at most [`ORDERS`] orders. Comparing
/// all keys takes half as long as numbering the tokens. Return `None` if different tokens have equal
/// hashed keys.
#[inline(always)]
unsafe fn match_two_words<V: Vector>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    max_order: usize,
    scratch: &mut MatchScratch,
) -> Option<Matches> {
    let length = hypothesis.count();
    if scratch.equal.len() < 2 * length {
        scratch.equal.resize((2 * length).next_power_of_two(), 0);
    }
    let equal = &mut scratch.equal.as_chunks_mut::<2>().0[..length];
    let keys = reference.padded_keys();
    let valid_bits = u64::MAX >> (128 - reference.count());
    // SAFETY: 64 keys are readable past the last token, and the caller guarantees that `V` is
    // available.
    unsafe {
        let mut chunks = [[V::load_keys(keys); 8]; 2];
        for (i, chunk) in chunks.as_flattened_mut().iter_mut().enumerate() {
            *chunk = V::load_keys(keys.add(i * V::LANES));
        }
        let (mut ends, mut used) = ([V::orders(0); 2], [V::orders(0); 2]);
        for (&key, equal) in hypothesis.keys().iter().zip(&mut *equal) {
            equal[0] = V::equal_among(&chunks[0], key);
            equal[1] = V::equal_among(&chunks[1], key) & valid_bits;
            let carry = V::carry(ends[0]);
            ends[0] = V::next_ends(ends[0], V::orders(0), equal[0]);
            ends[1] = V::next_ends(ends[1], carry, equal[1]);
            let unfound;
            (used[0], unfound) = V::use_lowest(used[0], ends[0], V::unfound());
            (used[1], _) = V::use_lowest(used[1], ends[1], unfound);
        }
        if !verify_hashed::<V, 2>(hypothesis, reference, equal, &mut scratch.hashed) {
            return None;
        }
        let mut matches = [0; MAX_ORDER];
        for used in used {
            for (count, used) in matches.iter_mut().zip(V::each_order(used)).take(max_order) {
                *count += used.count_ones();
            }
        }
        Some(matches)
    }
}

/// Return, as bits, which of the 64 tokens from `first` on have hashed keys.
#[inline(always)]
unsafe fn find_hashed<V: Vector>(text: &View<'_>, first: usize) -> u64 {
    let token_count = (text.count() - first).min(64);
    let mut hashed = 0;
    // Process 32 tokens per iteration. Most segments have at most 32 tokens, and a varying number
    // of iterations would defeat the branch predictor.
    for half in (0..token_count).step_by(32) {
        for lane in (half..half + 32).step_by(V::LANES) {
            // SAFETY: keys are readable far enough past the last token.
            hashed |= unsafe { V::marked_keys(text.padded_keys().add(first + lane)) } << lane;
        }
    }
    hashed & u64::MAX >> (64 - token_count)
}

/// Return whether all tokens with equal hashed keys are equal. `equal` has `N` words for each token
/// of the hypothesis.
#[inline(always)]
unsafe fn verify_hashed<V: Vector, const N: usize>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    equal: &[[u64; N]],
    hashed_tokens: &mut Vec<u32>,
) -> bool {
    if hashed_tokens.len() < equal.len() {
        hashed_tokens.resize(equal.len().next_power_of_two(), 0);
    }
    // There are two branch-free loops, because it is unpredictable whether a long token matches.
    let mut count = 0;
    for first in (0..equal.len()).step_by(64) {
        // SAFETY: the caller guarantees that `V` is available.
        let mut hashed = unsafe { find_hashed::<V>(hypothesis, first) };
        while hashed != 0 {
            let i = first + hashed.trailing_zeros() as usize;
            hashed &= hashed - 1;
            // SAFETY: `i` is a token index, and there is at most one entry per token.
            unsafe {
                *hashed_tokens.get_unchecked_mut(count) = i as u32;
                count += usize::from(*equal.get_unchecked(i) != [0; N]);
            }
        }
    }
    for &i in &hashed_tokens[..count] {
        let mut verified = true;
        for (word, &same) in equal[i as usize].iter().enumerate() {
            let mut same = same;
            while same != 0 {
                let j = word * 64 + same.trailing_zeros() as usize;
                same &= same - 1;
                verified &= hypothesis.is_same(i as usize, reference, j);
            }
        }
        if !verified {
            return false;
        }
    }
    true
}

/// Return whether there are too many short references for bitsets. Processing the hypothesis once
/// per reference would take many times as long as counting all n-grams.
fn has_too_many_references(hypothesis: &View<'_>, references: &[View<'_>]) -> bool {
    let total_tokens = || hypothesis.count() + references.iter().map(View::count).sum::<usize>();
    references.len() > 64 && references.len() * hypothesis.count() > 64 * total_tokens()
}

/// Count the matches for any number of references of at most 256 tokens, and any order. Return
/// `None` if different tokens have equal hashed keys.
#[inline(always)]
unsafe fn match_many_words<V: Vector>(
    hypothesis: &View<'_>,
    references: &[View<'_>],
    max_order: usize,
    scratch: &mut MatchScratch,
) -> Option<Matches> {
    let mark_words = hypothesis.count().div_ceil(64);
    scratch.marks.clear();
    scratch.marks.resize(max_order * mark_words, 0);
    for reference in references {
        // SAFETY: the caller guarantees that `V` is available.
        let verified = unsafe {
            match (reference.count().div_ceil(64), max_order) {
                (0, _) => continue,
                (1, 4) => mark_matches::<V, 1, 4>(hypothesis, reference, 4, scratch),
                (2, 4) => mark_matches::<V, 2, 4>(hypothesis, reference, 4, scratch),
                (_, 4) => mark_matches::<V, MAX_WORDS, 4>(hypothesis, reference, 4, scratch),
                (_, _) => mark_matches::<V, MAX_WORDS, MAX_ORDER>(
                    hypothesis, reference, max_order, scratch,
                ),
            }
        };
        if !verified {
            return None;
        }
    }
    let mut matches = [0; MAX_ORDER];
    if mark_words > 0 {
        for (count, marks) in matches.iter_mut().zip(scratch.marks.chunks(mark_words)) {
            *count = marks.iter().map(|word| word.count_ones()).sum();
        }
    }
    Some(matches)
}

/// Mark the hypothesis positions whose n-grams match an unused position in the reference. The
/// reference has at most `64 * N` tokens, and `max_order` is at most `O`. Return false if different
/// tokens have equal hashed keys.
#[inline(always)]
unsafe fn mark_matches<V: Vector, const N: usize, const O: usize>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    max_order: usize,
    scratch: &mut MatchScratch,
) -> bool {
    let length = hypothesis.count();
    let mark_words = length.div_ceil(64);
    if scratch.equal.len() < length * N {
        scratch.equal.resize((length * N).next_power_of_two(), 0);
    }
    // One look-up costs as much as a few vector comparisons.
    let is_indexed = reference.count() > 4 * V::LANES;
    if is_indexed {
        scratch.index.fill(reference);
    }
    let equal = &mut scratch.equal.as_chunks_mut().0[..length];
    let (mut ends, mut used) = ([[0u64; N]; O], [[0u64; N]; O]);
    let mut work = Work::default();
    for (chunk, keys) in hypothesis.keys().chunks(64).enumerate() {
        work.add(64 * N * max_order);
        let mut marks = [0u64; O];
        for (i, &key) in keys.iter().enumerate() {
            let same = if is_indexed {
                scratch.index.positions::<N>(key)
            } else {
                // SAFETY: the caller guarantees that `V` is available.
                unsafe { find_key::<V, N>(reference, key) }
            };
            equal[chunk * 64 + i] = same;
            // High orders come first, because they need the previous ends of the lower orders.
            for order in (0..max_order.min(O)).rev() {
                let mut carry = 0;
                let mut used_bit = 0;
                for word in 0..N {
                    let mut end = same[word];
                    if order > 0 {
                        let previous_ends = ends[order - 1][word];
                        end &= previous_ends << 1 | carry;
                        carry = previous_ends >> 63;
                    }
                    ends[order][word] = end;
                    // The lowest unused position, if no lower word had an unused position.
                    let free = end & !used[order][word];
                    let lowest = if used_bit == 0 { free & free.wrapping_neg() } else { 0 };
                    used[order][word] |= lowest;
                    used_bit |= lowest;
                }
                marks[order] |= u64::from(used_bit != 0) << i;
            }
        }
        for (order, marks) in marks.iter().enumerate().take(max_order) {
            scratch.marks[order * mark_words + chunk] |= marks;
        }
    }
    // SAFETY: the caller guarantees that `V` is available.
    unsafe { verify_hashed::<V, N>(hypothesis, reference, equal, &mut scratch.hashed) }
}

/// Return the reference positions with this key, found by comparing all keys.
#[inline(always)]
unsafe fn find_key<V: Vector, const N: usize>(reference: &View<'_>, key: u64) -> [u64; N] {
    let (keys, count) = (reference.padded_keys(), reference.count());
    let mut same = [0; N];
    for (word, first) in same.iter_mut().zip((0..count).step_by(64)) {
        let token_count = (count - first).min(64);
        for lane in (0..token_count).step_by(V::LANES) {
            // SAFETY: keys are readable far enough past the last token.
            *word |= unsafe { V::equal_keys(V::load_keys(keys.add(first + lane)), key) << lane };
        }
        *word &= u64::MAX >> (64 - token_count);
    }
    same
}

/// The positions of each key of a reference. The table has at least twice as many slots as tokens.
struct PositionIndex {
    slots: Vec<Slot>,
    filled: Vec<usize>,
}

/// A key and its positions. A slot without positions is free.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    positions: [u64; MAX_WORDS],
}

impl Default for PositionIndex {
    fn default() -> Self {
        Self { slots: vec![Slot::default(); 2 * MAX_BITSET_TOKENS], filled: Vec::new() }
    }
}

impl PositionIndex {
    /// Return the slot of a key, or the free slot where it belongs.
    #[inline(always)]
    fn find(&self, key: u64) -> usize {
        const BITS: u32 = (2 * MAX_BITSET_TOKENS).ilog2();
        let mut index = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize;
        loop {
            let slot = &self.slots[index];
            if slot.key == key || slot.positions == [0; MAX_WORDS] {
                return index;
            }
            index = (index + 1) % self.slots.len();
        }
    }

    /// Replace the contents with the keys of `reference`.
    #[inline(always)]
    fn fill(&mut self, reference: &View<'_>) {
        for index in self.filled.drain(..) {
            self.slots[index] = Slot::default();
        }
        for (i, &key) in reference.keys().iter().enumerate() {
            let index = self.find(key);
            let slot = &mut self.slots[index];
            if slot.positions == [0; MAX_WORDS] {
                slot.key = key;
                self.filled.push(index);
            }
            slot.positions[i / 64] |= 1 << (i % 64);
        }
    }

    /// Return the positions of a key.
    #[inline(always)]
    fn positions<const N: usize>(&self, key: u64) -> [u64; N] {
        let slot = &self.slots[self.find(key)];
        let mut positions = [0; N];
        positions.copy_from_slice(&slot.positions[..N]);
        positions
    }
}

/// Count the clipped matches with hash maps, for segments of any length.
///
/// The result is exact for all texts. Bitsets and sorting are faster.
pub fn count_matches_general(
    hypothesis: &View<'_>,
    references: &[View<'_>],
    max_order: usize,
) -> Matches {
    let mut ngrams = SegmentNgrams::default();
    ngrams.number_tokens(&[&[*hypothesis], references].concat());
    let mut matches = [0; MAX_ORDER];
    matches[..max_order].copy_from_slice(&ngrams.count_matches(max_order));
    matches
}
