//! The error rates' bit-parallel alignment equals the alignment of the full table.

use crate::input::Input;
use crate::make::Random;
use truebleu_kernel::edit_distance::{Edit, align_tokens, naive};

/// Maximum number of words of a text.
const MAX_WORDS: usize = 250;

/// Make an input: the length of the reference, then the words of reference and hypothesis, one byte
/// per word.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let max_words = match random.below(1000) {
        0 => MAX_WORDS,
        1..50 => 70,
        _ => 14,
    };
    let vocabulary_size = 1 + random.below(9);
    out.push(0);
    for _ in 0..random.below(max_words) {
        out.push(random.below(vocabulary_size) as u8);
    }
    out[0] = (out.len() - 1) as u8;
    if random.once_in(4) {
        for _ in 0..random.below(max_words) {
            out.push(random.below(vocabulary_size + 1) as u8);
        }
        return;
    }
    let edit_interval = 2 + random.below(10);
    for i in 1..out.len() {
        match random.below(3 * edit_interval) {
            0 => {}
            1 => out.extend([out[i], random.below(vocabulary_size) as u8]),
            2 => out.push(random.below(vocabulary_size + 1) as u8),
            _ => out.push(out[i]),
        }
    }
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let length = input.below(MAX_WORDS + 1);
    let to_words = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).collect::<Vec<_>>();
    let reference = to_words(input.take(length));
    let hypothesis = to_words(input.take(2 * MAX_WORDS));
    let edits = align_tokens(&reference, &hypothesis);
    let (distance, expected) = naive::align(&reference, &hypothesis);
    assert_eq!(edits.iter().filter(|&&edit| edit != Edit::Hit).count(), distance);
    assert_eq!(edits, expected);
}
