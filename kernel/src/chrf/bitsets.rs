//! Clipped matches of character n-grams by bitsets of positions, all orders at once.

use crate::simd::{ORDERS, Vector};

/// The most characters on the shorter side.
pub(crate) const MOST_BITS: usize = 2048;

/// The most words of bitsets that are gone through in one go, which is not polled in.
const MOST_STEPS: usize = 1 << 24;

/// The most words of a bitset that stay in registers.
const FEW: usize = 8;

/// The clipped matches of orders 1 to 8 of two texts, which are numbers below `ids`. `None` if this
/// is not the way for them: both are long, or the orders are more. `positions` is all 0, before and
/// after.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn count<V: Vector>(
    a: &[u32],
    b: &[u32],
    orders: usize,
    ids: usize,
    positions: &mut Vec<u64>,
) -> Option<[u32; ORDERS]> {
    debug_assert!(a.iter().chain(b).all(|&id| (id as usize) < ids));
    // Matches are the same either way round: the bitsets are for the side that makes less work.
    let work = |n: usize, bits: usize| n * bits.div_ceil(64) + bits;
    let (steps, bits) =
        if work(a.len(), b.len()) <= work(b.len(), a.len()) { (a, b) } else { (b, a) };
    let words = bits.len().div_ceil(64);
    if bits.len() > MOST_BITS || orders > ORDERS || steps.len() * words > MOST_STEPS {
        return None;
    }
    let width = if words <= FEW { words } else { words.next_multiple_of(GROUP) };
    positions.resize(positions.len().max(ids * width), 0);
    // SAFETY: as the caller promises; there are `width` words for each id.
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
            _ => match_groups::<V>(steps, bits, positions, words.div_ceil(GROUP)),
        }
    })
}

/// The matches of two texts, the shorter of which has `W` bitsets, which stay in registers.
///
/// # Safety
/// The processor must have the instructions of `V`; `positions` has `W` words for each id.
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
        clear_positions(bits, positions, width);
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

/// Takes back what [`set_positions`] did.
///
/// # Safety
/// With the same arguments, and the pointer that it gave.
#[inline(always)]
unsafe fn clear_positions(bits: &[u32], positions: *mut u64, width: usize) {
    for (j, &id) in bits.iter().enumerate() {
        // SAFETY: as there.
        unsafe { *positions.add(id as usize * width + j / 64) = 0 };
    }
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
