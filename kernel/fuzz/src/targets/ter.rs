//! TER's search on rows of bits finds the shifts and steps that the plain one finds.

use crate::input::Input;
use crate::make::Random;
use truebleu_kernel::ter::{naive, search};

/// The most words of a side.
const MOST: usize = 160;

/// An input: the hypothesis' length, then the words of both sides, a byte each.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let most = match random.below(10_000) {
        0 => MOST,
        1..200 => 20,
        _ => 8,
    };
    let kinds = 2 + random.below(12);
    let reference: Vec<u8> =
        (0..1 + random.below(most)).map(|_| 1 + random.below(kinds) as u8).collect();
    out.push(0);
    // Pieces of the reference, and other words.
    let words = random.below(most + 1);
    while out.len() <= words {
        let start = random.below(reference.len());
        let length = random.below(12.min(reference.len() - start) + 1);
        out.extend_from_slice(&reference[start..start + length]);
        if random.once_in(3) {
            out.push(random.below(kinds + 2) as u8);
        }
    }
    out.truncate(MOST);
    out[0] = (out.len() - 1) as u8;
    out.extend(reference);
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let length = input.below(MOST);
    let words = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).collect::<Vec<_>>();
    let hypothesis = words(input.take(length));
    let reference = words(input.take(MOST));
    if reference.is_empty() {
        return;
    }
    if let Some(fast) = search(&hypothesis, &reference) {
        assert_eq!(fast, naive::search(&hypothesis, &reference));
        // Bounds of the definition.
        let edits = fast.edits();
        let lengths = [hypothesis.len(), reference.len()];
        assert!(edits <= hypothesis.len() + reference.len(), "{edits} edits of {lengths:?} words");
    }
}
