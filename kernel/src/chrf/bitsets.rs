//! Clipped matches of character n-grams, counted for all orders together with bitsets of positions.

use crate::simd::{ORDERS, Vector};

/// Maximum number of characters in the shorter text.
pub(crate) const MAX_BITS: usize = 2048;

/// Maximum number of bitset words processed without polling for interrupts.
const MAX_STEPS: usize = 1 << 24;

/// Return the clipped matches of orders 1 to 8 in two texts, given as ids below `ids`. Return
/// `None` if both texts are too long, or if more than 8 orders are requested. `positions` must be
/// all 0, and is all 0 afterwards.
///
/// # Safety
/// The processor must support the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn count_matches<V: Vector>(
    a: &[u32],
    b: &[u32],
    orders: usize,
    ids: usize,
    positions: &mut Vec<u64>,
) -> Option<[u32; ORDERS]> {
    debug_assert!(a.iter().chain(b).all(|&id| (id as usize) < ids));
    // Matches are symmetric, so the bitsets represent whichever text requires less work.
    let work = |n: usize, bits: usize| n * bits.div_ceil(64) + bits;
    let (steps, bits) =
        if work(a.len(), b.len()) <= work(b.len(), a.len()) { (a, b) } else { (b, a) };
    let words = bits.len().div_ceil(64);
    if bits.len() > MAX_BITS || orders > ORDERS || steps.len() * words > MAX_STEPS {
        return None;
    }
    let width =
        if words <= V::REGISTER_WORDS { words } else { words.next_multiple_of(GROUP_WORDS) };
    positions.resize(positions.len().max(ids * width), 0);
    // SAFETY: the caller guarantees that `V` is available; there are `width` words per id.
    Some(unsafe {
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
            9 if V::REGISTER_WORDS >= 9 => match_words::<V, 9>(steps, bits, positions),
            10 if V::REGISTER_WORDS >= 10 => match_words::<V, 10>(steps, bits, positions),
            11 if V::REGISTER_WORDS >= 11 => match_words::<V, 11>(steps, bits, positions),
            12 if V::REGISTER_WORDS >= 12 => match_words::<V, 12>(steps, bits, positions),
            _ => match_groups::<V>(steps, bits, positions, words.div_ceil(GROUP_WORDS)),
        }
    })
}

/// Count the matches of two texts if the `W` words of each bitset fit into registers.
///
/// # Safety
/// The processor must support the instructions of `V`; `positions` has `W` words per id.
#[inline(always)]
unsafe fn match_words<V: Vector, const W: usize>(
    steps: &[u32],
    bits: &[u32],
    positions: &mut [u64],
) -> [u32; ORDERS] {
    let positions = set_positions(bits, positions, W);
    // SAFETY: the caller guarantees that `V` is available.
    unsafe {
        let mut ends = [V::orders(0); W];
        let mut used = [V::orders(0); W];
        for (step, &id) in steps.iter().enumerate() {
            // This is `match_character`, inlined by hand: bitsets passed by reference would not
            // stay in registers.
            let equal = positions.add(id as usize * W);
            let (mut carry, mut free) = (V::orders(0), V::unfound());
            for w in 0..W {
                let previous = ends[w];
                let by_order;
                (ends[w], by_order) = V::extend_ngrams(previous, carry, *equal.add(w), step);
                if w + 1 < W {
                    carry = V::carry(previous);
                }
                (used[w], free) = V::use_lowest(used[w], by_order, free);
            }
        }
        clear_positions(bits, positions, W);
        let mut matches = [0; ORDERS];
        for used in used {
            for (count, used) in matches.iter_mut().zip(V::each_order(used)) {
                *count += used.count_ones();
            }
        }
        matches
    }
}

/// Number of words of a long bitset that are processed as one group, and the maximum number of such
/// groups.
const GROUP_WORDS: usize = 4;
const MAX_GROUPS: usize = MAX_BITS / 64 / GROUP_WORDS;

/// Count like [`match_words`], for any number of words, in groups of [`GROUP_WORDS`].
///
/// # Safety
/// The caller must meet the conditions of [`match_words`].
#[inline(always)]
unsafe fn match_groups<V: Vector>(
    steps: &[u32],
    bits: &[u32],
    positions: &mut [u64],
    groups: usize,
) -> [u32; ORDERS] {
    let width = groups * GROUP_WORDS;
    let positions = set_positions(bits, positions, width);
    // SAFETY: the caller guarantees that `V` is available.
    unsafe {
        let mut ends = [[V::orders(0); GROUP_WORDS]; MAX_GROUPS];
        let mut used = [[V::orders(0); GROUP_WORDS]; MAX_GROUPS];
        for (step, &id) in steps.iter().enumerate() {
            let equal = positions.add(id as usize * width);
            let (mut carry, mut free) = (V::orders(0), V::unfound());
            for (i, (ends, used)) in ends.iter_mut().zip(&mut used).take(groups).enumerate() {
                let equal = equal.add(i * GROUP_WORDS);
                match_character::<V, GROUP_WORDS>(ends, used, &mut carry, &mut free, equal, step);
            }
        }
        clear_positions(bits, positions, width);
        count_used::<V>(used[..groups].as_flattened())
    }
}

/// Set the position bits of each id, in `width` words per id.
#[inline(always)]
fn set_positions(bits: &[u32], positions: &mut [u64], width: usize) -> *mut u64 {
    let positions = positions.as_mut_ptr();
    for (j, &id) in bits.iter().enumerate() {
        // SAFETY: there are `width` words per id, and `j` is less than `64 * width`.
        unsafe { *positions.add(id as usize * width + j / 64) |= 1 << (j % 64) };
    }
    positions
}

/// Undo [`set_positions`].
///
/// # Safety
/// The arguments must equal the arguments and the result of the [`set_positions`] call.
#[inline(always)]
unsafe fn clear_positions(bits: &[u32], positions: *mut u64, width: usize) {
    for (j, &id) in bits.iter().enumerate() {
        // SAFETY: `set_positions` wrote to the same words.
        unsafe { *positions.add(id as usize * width + j / 64) = 0 };
    }
}

/// Process one character in `W` words of the bitsets; `equal` marks its positions.
///
/// # Safety
/// The processor must support the instructions of `V`; `equal` has `W` words.
#[inline(always)]
unsafe fn match_character<V: Vector, const W: usize>(
    ends: &mut [V::Orders; W],
    used: &mut [V::Orders; W],
    carry: &mut V::Orders,
    free: &mut V::Flags,
    equal: *const u64,
    step: usize,
) {
    for w in 0..W {
        let previous = ends[w];
        // SAFETY: the caller guarantees that `V` is available.
        unsafe {
            let by_order;
            (ends[w], by_order) = V::extend_ngrams(previous, *carry, *equal.add(w), step);
            *carry = V::carry(previous);
            (used[w], *free) = V::use_lowest(used[w], by_order, *free);
        }
    }
}

/// Return the number of set bits of each order.
///
/// # Safety
/// The processor must support the instructions of `V`.
#[inline(always)]
unsafe fn count_used<V: Vector>(used: &[V::Orders]) -> [u32; ORDERS] {
    let mut matches = [0; ORDERS];
    for &used in used {
        // SAFETY: the caller guarantees that `V` is available.
        let used = unsafe { V::each_order(used) };
        for (count, used) in matches.iter_mut().zip(used) {
            *count += used.count_ones();
        }
    }
    matches
}
