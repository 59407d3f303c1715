//! TER's bit-parallel search finds the same shifts and steps as the naive search.

use crate::input::Input;
use crate::make::Random;
use truebleu_kernel::ter::{naive, search};

/// Maximum number of words of a text.
const MAX_WORDS: usize = 160;

/// Make an input: the length of the hypothesis, then the words of hypothesis and reference, one
/// byte per word.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let max_words = match random.below(10_000) {
        0 => MAX_WORDS,
        1..200 => 20,
        _ => 8,
    };
    let vocabulary_size = 2 + random.below(12);
    let reference: Vec<u8> =
        (0..1 + random.below(max_words)).map(|_| 1 + random.below(vocabulary_size) as u8).collect();
    out.push(0);
    // Parts of the reference, and other words.
    let hypothesis_words = random.below(max_words + 1);
    while out.len() <= hypothesis_words {
        let start = random.below(reference.len());
        let length = random.below(12.min(reference.len() - start) + 1);
        out.extend_from_slice(&reference[start..start + length]);
        if random.once_in(3) {
            out.push(random.below(vocabulary_size + 2) as u8);
        }
    }
    out.truncate(MAX_WORDS);
    out[0] = (out.len() - 1) as u8;
    out.extend(reference);
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let length = input.below(MAX_WORDS);
    let to_words = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).collect::<Vec<_>>();
    let hypothesis = to_words(input.take(length));
    let reference = to_words(input.take(MAX_WORDS));
    if reference.is_empty() {
        return;
    }
    if let Some(outcome) = search(&hypothesis, &reference) {
        assert_eq!(outcome, naive::search(&hypothesis, &reference));
        // General bounds on the number of edits.
        let total_edits = outcome.total_edits();
        let lengths = [hypothesis.len(), reference.len()];
        assert!(
            total_edits <= hypothesis.len() + reference.len(),
            "{total_edits} edits of {lengths:?} words"
        );
    }
}
