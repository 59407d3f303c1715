//! TER: the fast search finds what the plain one finds, shift by shift and step by step.
#![allow(missing_docs)]

use proptest::prelude::*;
use truebleu_kernel::ter::{naive, search};

/// The number of cases; many more where `TRUEBLEU_THOROUGH` is set, which needs a release build.
fn cases(usual: u32) -> ProptestConfig {
    let thorough = std::env::var_os("TRUEBLEU_THOROUGH").is_some();
    ProptestConfig::with_cases(if thorough { 100 * usual } else { usual })
}

/// A reference of `kinds` of words, and a hypothesis made of pieces of it.
fn pair(kinds: u32, longest: usize) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let reference = prop::collection::vec(1..=kinds, 1..=longest);
    let piece = (any::<prop::sample::Index>(), 0..12usize, 0..4u32);
    let pieces = prop::collection::vec(piece, 0..=longest / 3);
    (reference, pieces).prop_map(move |(reference, pieces)| {
        let mut hypothesis = Vec::new();
        for (start, length, other) in pieces {
            let start = start.index(reference.len());
            let end = (start + length).min(reference.len());
            hypothesis.extend_from_slice(&reference[start..end]);
            if other == 0 {
                hypothesis.push(0);
            }
        }
        hypothesis.truncate(longest);
        (hypothesis, reference)
    })
}

/// Nothing to compare where the beam is too wide for the fast search.
fn check(hypothesis: &[u32], reference: &[u32]) -> Result<(), TestCaseError> {
    if let Some(fast) = search(hypothesis, reference) {
        prop_assert_eq!(fast, naive::search(hypothesis, reference));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn short_segments((hypothesis, reference) in pair(9, 16)) {
        check(&hypothesis, &reference)?;
    }

    #[test]
    fn few_words_repeated((hypothesis, reference) in pair(3, 24)) {
        check(&hypothesis, &reference)?;
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn usual_segments((hypothesis, reference) in pair(30, 50)) {
        check(&hypothesis, &reference)?;
    }

    #[test]
    fn lengths_that_differ(
        hypothesis in prop::collection::vec(0..9u32, 1..30),
        reference in prop::collection::vec(1..9u32, 1..300),
    ) {
        check(&hypothesis, &reference)?;
    }
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn segments_that_the_beam_cuts((hypothesis, reference) in pair(60, 130)) {
        check(&hypothesis, &reference)?;
    }
}

/// The beam leaves a cell out here, and then a shift of two words saves six edits.
#[test]
fn a_gain_beyond_what_a_shift_can_save() {
    let hypothesis = [
        5, 0, 0, 6, 3, 7, 8, 13, 0, 0, 0, 16, 17, 0, 8, 11, 10, 8, 13, 14, 15, 18, 8, 11, 10, 8, 0,
        0, 18, 0, 8, 19, 12, 10, 16, 17, 20, 21, 22, 23, 24, 25, 26, 27, 28, 0, 31, 0,
    ];
    let reference = [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 8, 11, 12, 10, 8, 13, 14, 15, 10, 16, 17, 18, 8, 9, 10, 8,
        19, 12, 10, 16, 17, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 8, 35, 10,
        8, 13, 18, 8, 36, 33, 8, 28, 29, 18, 33, 37, 8, 38, 39, 10, 8, 40, 41, 10, 8, 24, 42,
    ];
    let outcome = naive::search(&hypothesis, &reference);
    assert_eq!(outcome.edits(), 45);
    assert_eq!(search(&hypothesis, &reference), Some(outcome));
}
