//! Clipped matches of tokens of at most four bytes, such as the tokens of the tokenizer `char`.
//! Like characters, they are matched with bitsets or by sorting, for all orders together.

use super::{CharacterIds, bitsets};
use crate::simd::{ORDERS, Vector};
use crate::sorted_ngrams::{self, SortScratch};
use crate::tokens::View;

/// Maximum number of tokens for bitsets. Sorting is faster for longer texts.
const MAX_BITSET_TOKENS: usize = 512;

/// Reusable buffers for matching a segment.
#[derive(Default)]
pub struct ShortTokenScratch {
    interner: CharacterIds,
    hypothesis: Vec<u32>,
    reference: Vec<u32>,
    positions: Vec<u64>,
    sorting: SortScratch,
}

/// Return the clipped matches of orders 1 to 8. Return `None` if a token is longer than four bytes,
/// or if neither method can count the texts.
///
/// # Safety
/// The processor must support the instructions of `V`.
#[inline(always)]
pub unsafe fn count_short_tokens<V: Vector>(
    hypothesis: &View<'_>,
    reference: &View<'_>,
    orders: usize,
    scratch: &mut ShortTokenScratch,
) -> Option<[u32; ORDERS]> {
    let ShortTokenScratch {
        interner,
        hypothesis: hypothesis_ids,
        reference: reference_ids,
        positions,
        sorting,
    } = scratch;
    // The key of a token of at most four bytes is the token itself.
    let is_long = |view: &View<'_>| view.keys().iter().fold(0, |bits, key| bits | key) >> 32 != 0;
    if is_long(hypothesis) || is_long(reference) {
        return None;
    }
    interner.clear();
    for (view, ids) in [(hypothesis, &mut *hypothesis_ids), (reference, &mut *reference_ids)] {
        ids.clear();
        ids.extend(view.keys().iter().map(|&key| match key as u32 {
            ascii @ 0..0x80 => ascii,
            token => interner.assign_id(token),
        }));
    }
    let ids = interner.id_bound();
    if hypothesis_ids.len().max(reference_ids.len()) > MAX_BITSET_TOKENS {
        return sorted_ngrams::count_matches(
            hypothesis_ids,
            &[reference_ids],
            orders,
            ids,
            sorting,
        );
    }
    // SAFETY: the caller guarantees that `V` is available.
    unsafe { bitsets::count_matches::<V>(hypothesis_ids, reference_ids, orders, ids, positions) }
}
