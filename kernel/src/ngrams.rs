//! Clipped n-gram matches: how many n-grams of a hypothesis are found in its references, each
//! counted at most as often as in the reference that has it most often.
//!
//! [`Match::count`] uses bitsets and no hash table. Give each hypothesis position `i` the set
//! `R(i)` of reference positions with the same token. Then
//!
//! ```text
//! E(i, 1) = R(i)        E(i, n) = R(i) & (E(i - 1, n - 1) << 1)
//! ```
//!
//! is the set of reference positions where the n-gram that ends at `i` ends too. Each `i` uses up
//! the lowest position of `E(i, n)` that is still free; what is used up in the end is the clipped
//! count. That is exact: two occurrences of one n-gram have the same set, those of different
//! n-grams have disjoint ones, so each n-gram uses min(count in hypothesis, count in reference)
//! positions. With several references, the hypothesis positions that found a free one are marked
//! for each reference, and the union of the marks is counted: the first `c` occurrences are the
//! marked ones where `c` is the reference's count, so the union has the largest of them.
//!
//! [`count_matches_general`] counts with hash maps, for references too long for the bitsets, and
//! is what the tests hold the bitsets equal to.

use crate::chrf::short_tokens;
use crate::ids::{Numbers, TokenNumbers};
use crate::interrupt::Work;
use crate::simd::{Job, ORDERS, Vector};
use crate::tokens::View;

/// The highest n-gram order.
pub const MOST_ORDERS: usize = 16;
/// A hypothesis of more tokens is polled in the middle of.
const LONG: usize = 1 << 20;
/// The most tokens of a reference that bitsets are used for.
pub const MOST_BITS: usize = 256;
const WORDS: usize = MOST_BITS / 64;

/// Clipped counts of each order.
pub type Matches = [u32; MOST_ORDERS];

/// Memory for one segment's matching, used again for the next.
#[derive(Default)]
pub struct Scratch {
    /// For each hypothesis token the reference positions with an equal key.
    equal: Vec<u64>,
    /// The hypothesis tokens with hashed keys that are found in the reference.
    hashed: Vec<u32>,
    /// For each order, the hypothesis positions that found a free position in some reference.
    marks: Vec<u64>,
    /// The positions of each key of the current reference.
    index: Index,
    /// For tokens that are short.
    short: short_tokens::Scratch,
}

/// One segment to be matched.
pub struct Match<'a, 'b> {
    /// The hypothesis' tokens.
    pub hypothesis: View<'a>,
    /// The tokens of each reference.
    pub references: &'b [View<'a>],
    /// The highest order to count.
    pub orders: usize,
    /// Memory.
    pub scratch: &'b mut Scratch,
}

impl Match<'_, '_> {
    /// Counts the clipped matches of each order.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn count<V: Vector>(self) -> Matches {
        let Self { hypothesis, references, orders, scratch } = self;
        // SAFETY: as the caller promises.
        let counted = unsafe {
            if let [reference] = references
                && orders <= ORDERS
                && reference.count() > 64
                && let Some(few) =
                    short_tokens::count::<V>(&hypothesis, reference, orders, &mut scratch.short)
            {
                let mut matches = [0; MOST_ORDERS];
                matches[..orders].copy_from_slice(&few[..orders]);
                return matches;
            }
            match references {
                [reference]
                    if orders == 4 && reference.count() <= 64 && hypothesis.count() <= LONG =>
                {
                    one_word::<V>(&hypothesis, reference, scratch)
                }
                _ => many_words::<V>(&hypothesis, references, orders, scratch),
            }
        };
        counted.unwrap_or_else(|| count_matches_general(&hypothesis, references, orders))
    }
}

impl Job for Match<'_, '_> {
    type Output = Matches;

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> Matches {
        // SAFETY: as the caller promises.
        unsafe { self.count::<V>() }
    }
}

/// The usual case: one reference of at most 64 tokens, orders 1 to 4.
/// `None` if a hashed key misled.
#[inline(always)]
unsafe fn one_word<V: Vector>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    scratch: &mut Scratch,
) -> Option<Matches> {
    let length = hypothesis.count();
    if scratch.equal.len() < length {
        scratch.equal.resize(length.next_power_of_two(), 0);
    }
    let equal = &mut scratch.equal[..length];
    // SAFETY: keys can be read 64 past the reference's first; V is what the caller runs.
    let used = unsafe {
        match reference.count().div_ceil(V::LANES) {
            0 => return Some([0; MOST_ORDERS]),
            1 => four_orders::<V, 1>(hypothesis, reference, equal),
            2 => four_orders::<V, 2>(hypothesis, reference, equal),
            3 => four_orders::<V, 3>(hypothesis, reference, equal),
            4 => four_orders::<V, 4>(hypothesis, reference, equal),
            5 => four_orders::<V, 5>(hypothesis, reference, equal),
            6 => four_orders::<V, 6>(hypothesis, reference, equal),
            7 => four_orders::<V, 7>(hypothesis, reference, equal),
            _ => four_orders::<V, 8>(hypothesis, reference, equal),
        }
    };
    // SAFETY: V is what the caller runs.
    if !unsafe { verify::<V, 1>(hypothesis, reference, equal.as_chunks().0, &mut scratch.hashed) } {
        return None;
    }
    let mut matches = [0; MOST_ORDERS];
    for (count, used) in matches.iter_mut().zip(&used[..4]) {
        *count = used.count_ones();
    }
    Some(matches)
}

/// The positions used up for each order, with the reference's keys in `CHUNKS` vectors.
#[inline(always)]
unsafe fn four_orders<V: Vector, const CHUNKS: usize>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    equal: &mut [u64],
) -> [u64; ORDERS] {
    let at = reference.keys_and_more();
    // SAFETY: keys can be read far enough behind the last token; V is what the caller runs.
    let mut chunks = unsafe { [V::load_keys(at); CHUNKS] };
    for (i, chunk) in chunks.iter_mut().enumerate().skip(1) {
        // SAFETY: as above.
        *chunk = unsafe { V::load_keys(at.add(i * V::LANES)) };
    }
    let inside = u64::MAX >> (64 - reference.count());
    // SAFETY: V is what the caller runs.
    let (mut ends, mut used) = unsafe { (V::orders(0), V::orders(0)) };
    for (&key, equal) in hypothesis.keys().iter().zip(equal) {
        // SAFETY: V is what the caller runs.
        unsafe {
            *equal = V::equal_among(&chunks, key) & inside;
            ends = V::next_ends(ends, V::orders(0), *equal);
            (used, _) = V::use_lowest(used, ends, V::unfound());
        }
    }
    // SAFETY: V is what the caller runs.
    unsafe { V::each_order(used) }
}

/// The tokens with hashed keys among the 64 from `first` on, as bits.
#[inline(always)]
unsafe fn hashed<V: Vector>(text: &View<'_>, first: usize) -> u64 {
    let here = (text.count() - first).min(64);
    let mut hashed = 0;
    // Thirty-two at once: most segments have no more, and how many loops a few take, no predictor
    // foresees.
    for half in (0..here).step_by(32) {
        for lane in (half..half + 32).step_by(V::LANES) {
            // SAFETY: keys can be read far enough behind the last token.
            hashed |= unsafe { V::marked_keys(text.keys_and_more().add(first + lane)) } << lane;
        }
    }
    hashed & u64::MAX >> (64 - here)
}

/// True if all pairs of tokens with equal hashed keys are equal indeed; `equal` has `N` words for
/// each token of the hypothesis.
#[inline(always)]
unsafe fn verify<V: Vector, const N: usize>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    equal: &[[u64; N]],
    found: &mut Vec<u32>,
) -> bool {
    if found.len() < equal.len() {
        found.resize(equal.len().next_power_of_two(), 0);
    }
    // Two loops without a branch inside: whether a long token is found, no predictor foresees.
    let mut count = 0;
    for first in (0..equal.len()).step_by(64) {
        // SAFETY: V is what the caller runs.
        let mut hashed = unsafe { hashed::<V>(hypothesis, first) };
        while hashed != 0 {
            let i = first + hashed.trailing_zeros() as usize;
            hashed &= hashed - 1;
            // SAFETY: i is a token's, and no more are found than there are tokens.
            unsafe {
                *found.get_unchecked_mut(count) = i as u32;
                count += usize::from(*equal.get_unchecked(i) != [0; N]);
            }
        }
    }
    for &i in &found[..count] {
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

/// True if there are so many short references that going through the hypothesis for each takes many
/// times as long as counting all n-grams.
fn are_crowded(hypothesis: &View<'_>, references: &[View<'_>]) -> bool {
    let all = || hypothesis.count() + references.iter().map(View::count).sum::<usize>();
    references.len() > 64 && references.len() * hypothesis.count() > 64 * all()
}

/// Any number of references of at most 256 tokens, any order.
/// `None` if a reference is longer or a hashed key misled.
#[inline(always)]
unsafe fn many_words<V: Vector>(
    hypothesis: &View<'_>,
    references: &[View<'_>],
    orders: usize,
    scratch: &mut Scratch,
) -> Option<Matches> {
    if references.iter().any(|reference| reference.count() > MOST_BITS)
        || are_crowded(hypothesis, references)
    {
        return None;
    }
    let mark_words = hypothesis.count().div_ceil(64);
    scratch.marks.clear();
    scratch.marks.resize(orders * mark_words, 0);
    for reference in references {
        // SAFETY: V is what the caller runs.
        let verified = unsafe {
            match (reference.count().div_ceil(64), orders) {
                (0, _) => continue,
                (1, 4) => mark::<V, 1, 4>(hypothesis, reference, 4, scratch),
                (2, 4) => mark::<V, 2, 4>(hypothesis, reference, 4, scratch),
                (_, 4) => mark::<V, WORDS, 4>(hypothesis, reference, 4, scratch),
                (_, _) => mark::<V, WORDS, MOST_ORDERS>(hypothesis, reference, orders, scratch),
            }
        };
        if !verified {
            return None;
        }
    }
    let mut matches = [0; MOST_ORDERS];
    if mark_words > 0 {
        for (count, marks) in matches.iter_mut().zip(scratch.marks.chunks(mark_words)) {
            *count = marks.iter().map(|word| word.count_ones()).sum();
        }
    }
    Some(matches)
}

/// Marks the hypothesis positions whose n-grams find a free position in the reference, which has
/// at most `64 * N` tokens; `orders` is at most `O`. False if a hashed key misled.
#[inline(always)]
unsafe fn mark<V: Vector, const N: usize, const O: usize>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    orders: usize,
    scratch: &mut Scratch,
) -> bool {
    let length = hypothesis.count();
    let mark_words = length.div_ceil(64);
    if scratch.equal.len() < length * N {
        scratch.equal.resize((length * N).next_power_of_two(), 0);
    }
    // Looking a key up costs as much as a handful of vector comparisons.
    let indexed = reference.count() > 4 * V::LANES;
    if indexed {
        scratch.index.fill(reference);
    }
    let equal = &mut scratch.equal.as_chunks_mut().0[..length];
    let (mut ends, mut used) = ([[0u64; N]; O], [[0u64; N]; O]);
    let mut work = Work::default();
    for (chunk, keys) in hypothesis.keys().chunks(64).enumerate() {
        work.done(64 * N * orders);
        let mut marks = [0u64; O];
        for (i, &key) in keys.iter().enumerate() {
            let same = if indexed {
                scratch.index.positions::<N>(key)
            } else {
                // SAFETY: V is what the caller runs.
                unsafe { compare::<V, N>(reference, key) }
            };
            equal[chunk * 64 + i] = same;
            // High orders first: they need what the lower ones were one position earlier.
            for order in (0..orders.min(O)).rev() {
                let mut carry = 0;
                let mut taken = 0;
                for word in 0..N {
                    let mut end = same[word];
                    if order > 0 {
                        let before = ends[order - 1][word];
                        end &= before << 1 | carry;
                        carry = before >> 63;
                    }
                    ends[order][word] = end;
                    // The lowest free position, if no lower word had one.
                    let free = end & !used[order][word];
                    let lowest = if taken == 0 { free & free.wrapping_neg() } else { 0 };
                    used[order][word] |= lowest;
                    taken |= lowest;
                }
                marks[order] |= u64::from(taken != 0) << i;
            }
        }
        for (order, marks) in marks.iter().enumerate().take(orders) {
            scratch.marks[order * mark_words + chunk] |= marks;
        }
    }
    // SAFETY: V is what the caller runs.
    unsafe { verify::<V, N>(hypothesis, reference, equal, &mut scratch.hashed) }
}

/// The reference positions that have this key, by comparing all of them.
#[inline(always)]
unsafe fn compare<V: Vector, const N: usize>(reference: &View<'_>, key: u64) -> [u64; N] {
    let (keys, count) = (reference.keys_and_more(), reference.count());
    let mut same = [0; N];
    for (word, first) in same.iter_mut().zip((0..count).step_by(64)) {
        let here = (count - first).min(64);
        for lane in (0..here).step_by(V::LANES) {
            // SAFETY: keys can be read far enough behind the last token.
            *word |= unsafe { V::equal_keys(V::load_keys(keys.add(first + lane)), key) << lane };
        }
        *word &= u64::MAX >> (64 - here);
    }
    same
}

/// The positions of each key of a reference, which has at most half as many tokens as slots.
struct Index {
    slots: Vec<Slot>,
    filled: Vec<usize>,
}

/// A key and its positions; a slot without positions is free.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    positions: [u64; WORDS],
}

impl Default for Index {
    fn default() -> Self {
        Self { slots: vec![Slot::default(); 2 * MOST_BITS], filled: Vec::new() }
    }
}

impl Index {
    /// The slot of a key, or the free one where it would go.
    #[inline(always)]
    fn find(&self, key: u64) -> usize {
        const BITS: u32 = (2 * MOST_BITS).ilog2();
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize;
        loop {
            let slot = &self.slots[at];
            if slot.key == key || slot.positions == [0; WORDS] {
                return at;
            }
            at = (at + 1) % self.slots.len();
        }
    }

    /// Replaces what was here with the keys of `reference`.
    #[inline(always)]
    fn fill(&mut self, reference: &View<'_>) {
        for at in self.filled.drain(..) {
            self.slots[at] = Slot::default();
        }
        for (i, &key) in reference.keys().iter().enumerate() {
            let at = self.find(key);
            let slot = &mut self.slots[at];
            if slot.positions == [0; WORDS] {
                slot.key = key;
                self.filled.push(at);
            }
            slot.positions[i / 64] |= 1 << (i % 64);
        }
    }

    #[inline(always)]
    fn positions<const N: usize>(&self, key: u64) -> [u64; N] {
        let slot = &self.slots[self.find(key)];
        let mut positions = [0; N];
        positions.copy_from_slice(&slot.positions[..N]);
        positions
    }
}

/// The same counts by hash maps, for segments of any length.
///
/// Every n-gram is a number: that of its first n-1 tokens and that of its last one, together,
/// are numbered in turn.
pub fn count_matches_general(
    hypothesis: &View<'_>,
    references: &[View<'_>],
    orders: usize,
) -> Matches {
    let mut numbers = TokenNumbers::default();
    let mut work = Work::default();
    let mut tokens: Vec<&[u8]> = Vec::new();
    let mut segments: Vec<Vec<u32>> = Vec::with_capacity(1 + references.len());
    for view in std::iter::once(hypothesis).chain(references) {
        let number = |(i, &key)| {
            work.done(8);
            let token = view.token(i);
            let same = |number: u32| tokens[number as usize] == token;
            let (number, new) = numbers.number(key, token, tokens.len() as u32, same);
            if new {
                tokens.push(token);
            }
            number
        };
        segments.push(view.keys().iter().enumerate().map(number).collect());
    }
    let mut grams = segments.clone();
    let mut pairs = Numbers::default();
    let mut matches = [0; MOST_ORDERS];
    for order in 1..=orders.min(hypothesis.count()) {
        let known = if order == 1 {
            tokens.len()
        } else {
            pairs.clear(tokens.len());
            for (grams, tokens) in grams.iter_mut().zip(&segments) {
                let longer = tokens.len().saturating_sub(order - 1);
                for i in 0..longer {
                    work.done(8);
                    let pair = u64::from(grams[i]) << 32 | u64::from(tokens[i + order - 1]);
                    grams[i] = pairs.number(pair).0;
                }
                grams.truncate(longer);
            }
            pairs.count()
        };
        work.done(4 * (known + grams.iter().map(Vec::len).sum::<usize>()));
        // Of each n-gram its count in the current text, and its highest in a reference.
        let mut counts = vec![(0_u32, 0_u32); known];
        for reference in &grams[1..] {
            for &gram in reference {
                let (here, most) = &mut counts[gram as usize];
                *here += 1;
                *most = (*here).max(*most);
            }
            for &gram in reference {
                counts[gram as usize].0 = 0;
            }
        }
        for &gram in &grams[0] {
            let (here, most) = &mut counts[gram as usize];
            *here += 1;
            matches[order - 1] += u32::from(*here <= *most);
        }
    }
    matches
}
