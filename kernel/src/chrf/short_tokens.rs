//! Clipped matches of tokens of at most four bytes, as those of the tokenizer `char`: all orders at
//! once, by the bitsets of characters.

use super::{Interner, bitsets};
use crate::simd::{ORDERS, Vector};
use crate::tokens::View;

/// Memory for one segment's matching, used again for the next.
#[derive(Default)]
pub struct Scratch {
    interner: Interner,
    hypothesis: Vec<u32>,
    reference: Vec<u32>,
    positions: Vec<u64>,
}

/// The clipped matches of orders 1 to 8; `None` if a token is longer, or if this is not the way for
/// so many of them.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
pub unsafe fn count<V: Vector>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    orders: usize,
    scratch: &mut Scratch,
) -> Option<[u32; ORDERS]> {
    let Scratch { interner, hypothesis: ours, reference: theirs, positions } = scratch;
    if hypothesis.count().min(reference.count()) > bitsets::MOST_BITS {
        return None;
    }
    // A key of at most four bytes is the token itself.
    let is_long = |view: &View<'_>| view.keys().iter().fold(0, |all, key| all | key) >> 32 != 0;
    if is_long(hypothesis) || is_long(reference) {
        return None;
    }
    interner.clear();
    for (view, ids) in [(hypothesis, &mut *ours), (reference, &mut *theirs)] {
        ids.clear();
        ids.extend(view.keys().iter().map(|&key| match key as u32 {
            ascii @ 0..0x80 => ascii,
            other => interner.number(other),
        }));
    }
    // SAFETY: as the caller promises.
    unsafe { bitsets::count::<V>(ours, theirs, orders, interner.ids(), positions) }
}
