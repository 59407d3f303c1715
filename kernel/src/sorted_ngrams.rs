//! Clipped n-gram matches of long texts, counted by sorting in time linear in the length.
//!
//! Each position of a text has a key, which contains the ids of its n-gram of the largest order and
//! the number of its text. A radix sort makes equal n-grams of every order adjacent. One pass over
//! the sorted keys then counts the n-grams of all orders together.
//!
//! The code has no unpredictable branches. Therefore, it is several times as fast as hash tables.

use crate::interrupt::{Work, extend_to};
use crate::simd::ORDERS;

/// Maximum number of references.
pub const MAX_REFERENCES: usize = 8;

/// Number of keys that are processed without polling for interrupts.
const CHUNK_KEYS: usize = 1 << 12;

/// Reusable buffers for matching a segment.
#[derive(Default)]
pub struct SortScratch {
    keys: Vec<u64>,
    sorted: Vec<u64>,
    /// For each id, its rank among the ids that occur, counted from 1.
    ranks: Vec<u32>,
    /// For each rank, the number of its occurrences in the texts. Rank 0 is past the end of a text.
    totals: Vec<u32>,
    /// For each rank, the index of the next key in the sorted keys.
    next: Vec<u32>,
}

/// Return the clipped matches of a hypothesis with its references, given as ids below `ids`. Return
/// `None` for no order, for more than 8 orders or references, or if a key would need more than 64
/// bits.
pub fn count_matches(
    hypothesis: &[u32],
    references: &[&[u32]],
    orders: usize,
    ids: usize,
    scratch: &mut SortScratch,
) -> Option<[u32; ORDERS]> {
    let texts = || std::iter::once(hypothesis).chain(references.iter().copied());
    let length: usize = texts().map(<[u32]>::len).sum();
    if !(1..=ORDERS).contains(&orders)
        || references.len() > MAX_REFERENCES
        || u32::try_from(length).is_err()
    {
        return None;
    }
    let SortScratch { keys, sorted, ranks, totals, next } = scratch;
    rank_ids(texts(), ids, ranks, totals);
    let bit_width = |largest: usize| (usize::BITS - largest.leading_zeros()) as usize;
    let (id_bits, text_bits) = (bit_width(totals.len() - 1), bit_width(references.len()));
    if orders * id_bits + text_bits > 64 {
        return None;
    }
    // The first id is in the highest bits.
    let shift = |order: usize| 64 - (order + 1) * id_bits;
    let mut work = Work::default();
    extend_to(keys, length);
    extend_to(sorted, length);
    let (mut keys, mut sorted) = (&mut keys[..length], &mut sorted[..length]);
    let mut remaining = &mut keys[..];
    for (number, text) in texts().enumerate() {
        let (text_keys, others) = remaining.split_at_mut(text.len());
        remaining = others;
        let mut ngram = 0;
        for (key, &id) in text_keys.iter_mut().zip(text).rev() {
            work.add(1);
            ngram = ngram >> id_bits | u64::from(ranks[id as usize]) << shift(0);
            *key = ngram & u64::MAX << shift(orders - 1) | number as u64;
        }
    }
    for order in (0..orders).rev() {
        // The ids of this order are all ids except the first `order` ids of each text.
        next.clone_from(totals);
        for &id in texts().flat_map(|text| &text[..order.min(text.len())]) {
            next[ranks[id as usize] as usize] -= 1;
            next[0] += 1;
        }
        let mut start = 0;
        for count in next.iter_mut() {
            start += std::mem::replace(count, start);
        }
        for chunk in keys.chunks(CHUNK_KEYS) {
            work.add(CHUNK_KEYS);
            for &key in chunk {
                let place = &mut next[(key >> shift(order)) as usize & ((1 << id_bits) - 1)];
                sorted[*place as usize] = key;
                *place += 1;
            }
        }
        std::mem::swap(&mut keys, &mut sorted);
    }
    let mut matches = match references.len() {
        0 | 1 if orders <= 4 => sum_clipped_counts::<2, 4>(keys, id_bits, text_bits),
        0 | 1 => sum_clipped_counts::<2, ORDERS>(keys, id_bits, text_bits),
        2 => sum_clipped_counts::<3, ORDERS>(keys, id_bits, text_bits),
        3 | 4 => sum_clipped_counts::<5, ORDERS>(keys, id_bits, text_bits),
        _ => sum_clipped_counts::<{ 1 + MAX_REFERENCES }, ORDERS>(keys, id_bits, text_bits),
    };
    // Subtract n-grams that extend past the ends of both texts.
    for order in 1..orders.min(hypothesis.len() + 1) {
        let end = &hypothesis[hypothesis.len() - order..];
        if references.iter().any(|reference| reference.ends_with(end)) {
            matches[order..orders].iter_mut().for_each(|count| *count -= 1);
        }
    }
    Some(matches)
}

/// Number the ids that occur, and count their occurrences.
fn rank_ids<'a>(
    texts: impl Iterator<Item = &'a [u32]>,
    ids: usize,
    ranks: &mut Vec<u32>,
    totals: &mut Vec<u32>,
) {
    let mut work = Work::default();
    ranks.clear();
    ranks.resize(ids, 0);
    for text in texts {
        for &id in text {
            work.add(1);
            ranks[id as usize] += 1;
        }
    }
    totals.clear();
    totals.push(0);
    for count in ranks.iter_mut().filter(|count| **count > 0) {
        totals.push(std::mem::replace(count, totals.len() as u32));
    }
}

/// Return the sum of the clipped counts of the first `O` orders, given the sorted keys of at most
/// `N` texts.
fn sum_clipped_counts<const N: usize, const O: usize>(
    keys: &[u64],
    id_bits: usize,
    text_bits: usize,
) -> [u32; ORDERS] {
    // For each number of equal bits: all bits set in the orders whose n-grams are equal.
    let equal_orders: [[i32; O]; 65] = std::array::from_fn(|bits| {
        std::array::from_fn(|order| if (order + 1) * id_bits <= bits { -1 } else { 0 })
    });
    let text_mask = (1 << text_bits) - 1;
    let mut matches = [0_i32; O];
    // For each text and order, the count of the current n-gram.
    let mut counts = [[0_i32; O]; N];
    let mut work = Work::default();
    for (i, &key) in keys.iter().enumerate() {
        work.add(1);
        let text = (key & text_mask) as usize;
        let next_key = keys.get(i + 1).copied().unwrap_or(!key);
        let equal = &equal_orders[((key ^ next_key) & !text_mask).leading_zeros() as usize];
        for order in 0..O {
            let mut max_count = 0;
            for (number, counts) in counts.iter_mut().enumerate().rev() {
                let count = counts[order] + i32::from(number == text);
                counts[order] = count & equal[order];
                max_count = if number > 0 { max_count.max(count) } else { max_count.min(count) };
            }
            matches[order] += max_count & !equal[order];
        }
    }
    std::array::from_fn(|order| matches.get(order).map_or(0, |&count| count as u32))
}
