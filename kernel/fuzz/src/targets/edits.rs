//! The error rates' alignment on rows of bits is the one that the whole table has.

use crate::input::Input;
use crate::make::Random;
use truebleu_kernel::edit_distance::{Edit, edits, naive};

/// The most words of a side.
const MOST: usize = 250;

/// An input: the reference's length, then the words of both sides, a byte each.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let most = match random.below(1000) {
        0 => MOST,
        1..50 => 70,
        _ => 14,
    };
    let kinds = 1 + random.below(9);
    out.push(0);
    for _ in 0..random.below(most) {
        out.push(random.below(kinds) as u8);
    }
    out[0] = (out.len() - 1) as u8;
    if random.once_in(4) {
        for _ in 0..random.below(most) {
            out.push(random.below(kinds + 1) as u8);
        }
        return;
    }
    let every = 2 + random.below(10);
    for at in 1..out.len() {
        match random.below(3 * every) {
            0 => {}
            1 => out.extend([out[at], random.below(kinds) as u8]),
            2 => out.push(random.below(kinds + 1) as u8),
            _ => out.push(out[at]),
        }
    }
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let length = input.below(MOST + 1);
    let words = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).collect::<Vec<_>>();
    let reference = words(input.take(length));
    let hypothesis = words(input.take(2 * MOST));
    let found = edits(&reference, &hypothesis);
    let (distance, defined) = naive::align(&reference, &hypothesis);
    assert_eq!(found.iter().filter(|&&edit| edit != Edit::Hit).count(), distance);
    assert_eq!(found, defined);
}
