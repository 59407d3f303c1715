//! TER: the fast search finds the same shifts and steps as the naive search.
#![allow(missing_docs)]

use proptest::prelude::*;
use truebleu_kernel::ter::{naive, search};

/// Return the number of cases, which is larger if `TRUEBLEU_THOROUGH` is set (needs a release
/// build).
fn case_count(default_count: u32) -> ProptestConfig {
    let is_thorough = std::env::var_os("TRUEBLEU_THOROUGH").is_some();
    ProptestConfig::with_cases(if is_thorough { 100 * default_count } else { default_count })
}

/// Generate a reference with words up to `kinds`, and a hypothesis made of parts of it.
fn random_pair(max_word: u32, max_length: usize) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let reference = prop::collection::vec(1..=max_word, 1..=max_length);
    let piece = (any::<prop::sample::Index>(), 0..12usize, 0..4u32);
    let pieces = prop::collection::vec(piece, 0..=max_length / 3);
    (reference, pieces).prop_map(move |(reference, pieces)| {
        let mut hypothesis = Vec::new();
        for (start, length, extra) in pieces {
            let start = start.index(reference.len());
            let end = (start + length).min(reference.len());
            hypothesis.extend_from_slice(&reference[start..end]);
            if extra == 0 {
                hypothesis.push(0);
            }
        }
        hypothesis.truncate(max_length);
        (hypothesis, reference)
    })
}

/// Compare both searches, unless the beam is too wide for the fast search.
fn check_search(hypothesis: &[u32], reference: &[u32]) -> Result<(), TestCaseError> {
    if let Some(outcome) = search(hypothesis, reference) {
        prop_assert_eq!(outcome, naive::search(hypothesis, reference));
    }
    Ok(())
}

proptest! {
    #![proptest_config(case_count(400))]

    #[test]
    fn test_short_segments((hypothesis, reference) in random_pair(9, 16)) {
        check_search(&hypothesis, &reference)?;
    }

    #[test]
    fn test_small_vocabulary((hypothesis, reference) in random_pair(3, 24)) {
        check_search(&hypothesis, &reference)?;
    }
}

proptest! {
    #![proptest_config(case_count(24))]

    #[test]
    fn test_typical_segments((hypothesis, reference) in random_pair(30, 50)) {
        check_search(&hypothesis, &reference)?;
    }

    #[test]
    fn test_different_lengths(
        hypothesis in prop::collection::vec(0..9u32, 1..30),
        reference in prop::collection::vec(1..9u32, 1..300),
    ) {
        check_search(&hypothesis, &reference)?;
    }
}

proptest! {
    #![proptest_config(case_count(6))]

    #[test]
    fn test_segments_wider_than_beam((hypothesis, reference) in random_pair(60, 130)) {
        check_search(&hypothesis, &reference)?;
    }
}

/// Here the beam excludes a cell, and then a shift of two words saves six edits.
#[test]
fn test_beam_allows_gain_above_usual_bound() {
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
    assert_eq!(outcome.total_edits(), 45);
    assert_eq!(search(&hypothesis, &reference), Some(outcome));
}
