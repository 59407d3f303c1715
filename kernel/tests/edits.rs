//! The error rates' alignment: bit-parallel rows give the same edits as the full table.
#![allow(missing_docs)]

use proptest::prelude::*;
use truebleu_kernel::edit_distance::{Edit, align_tokens, naive};

/// Return the number of cases, which is larger if `TRUEBLEU_THOROUGH` is set (needs a release
/// build).
fn case_count(default_count: u32) -> ProptestConfig {
    let is_thorough = std::env::var_os("TRUEBLEU_THOROUGH").is_some();
    ProptestConfig::with_cases(if is_thorough { 100 * default_count } else { default_count })
}

/// Generate words.
fn random_words(vocabulary_size: u32, max_length: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..vocabulary_size, 0..=max_length)
}

/// Check that both alignments agree.
fn check_alignment(reference: &[u32], hypothesis: &[u32]) -> Result<(), TestCaseError> {
    let fast_edits = align_tokens(reference, hypothesis);
    let (distance, expected) = naive::align(reference, hypothesis);
    prop_assert_eq!(fast_edits.iter().filter(|&&edit| edit != Edit::Hit).count(), distance);
    prop_assert_eq!(fast_edits, expected);
    Ok(())
}

proptest! {
    #![proptest_config(case_count(1000))]

    #[test]
    fn test_short_segments(reference in random_words(4, 12), hypothesis in random_words(5, 12)) {
        check_alignment(&reference, &hypothesis)?;
    }

    #[test]
    fn test_references_around_one_block(reference in random_words(9, 70), hypothesis in random_words(9, 70)) {
        check_alignment(&reference, &hypothesis)?;
    }
}

proptest! {
    #![proptest_config(case_count(60))]

    #[test]
    fn test_several_blocks(reference in random_words(20, 400), hypothesis in random_words(20, 300)) {
        check_alignment(&reference, &hypothesis)?;
    }
}

/// Return pseudo-random words, and a copy with about one word in `edit_interval` edited.
fn long_pair(length: u32, vocabulary_size: u32, edit_interval: u32) -> (Vec<u32>, Vec<u32>) {
    let mut state = 12345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let reference: Vec<u32> = (0..length).map(|_| next() % vocabulary_size).collect();
    let mut hypothesis = Vec::new();
    for &word in &reference {
        match next() % (3 * edit_interval) {
            0 => {}
            1 => hypothesis.extend([word, next() % vocabulary_size]),
            2 => hypothesis.push(next() % vocabulary_size),
            _ => hypothesis.push(word),
        }
    }
    (reference, hypothesis)
}

/// If only a band is computed, the path equals the path in the full table.
#[test]
fn test_band_gives_path_of_full_table() {
    for vocabulary_size in [3, 50, 5000] {
        let (reference, hypothesis) = long_pair(3000, vocabulary_size, 50);
        assert_eq!(align_tokens(&reference, &hypothesis), naive::align(&reference, &hypothesis).1);
    }
}

/// If the table is split, the path may differ, but is equally cheap.
#[test]
fn test_split_table_gives_optimal_distance() {
    for vocabulary_size in [3, 50, 5000] {
        let (reference, hypothesis) = long_pair(3000, vocabulary_size, 2);
        let fast_edits = align_tokens(&reference, &hypothesis);
        let distance = fast_edits.iter().filter(|&&edit| edit != Edit::Hit).count();
        assert_eq!(distance, naive::align(&reference, &hypothesis).0);
        let uses_reference = |edit: &&Edit| **edit != Edit::Insertion;
        assert_eq!(fast_edits.iter().filter(uses_reference).count(), reference.len());
    }
}

/// With many distinct words and many blocks, there is no dense bitset.
#[test]
fn test_large_vocabulary_without_dense_bitsets() {
    let (reference, hypothesis) = long_pair(60_000, 30_000, 500);
    let fast_edits = align_tokens(&reference, &hypothesis);
    let replayed: Vec<u32> = apply_edits(&fast_edits, &reference, &hypothesis);
    assert_eq!(replayed, hypothesis);
}

/// Apply the edits to the reference, and return the resulting hypothesis.
fn apply_edits(edits: &[Edit], reference: &[u32], hypothesis: &[u32]) -> Vec<u32> {
    let (mut i, mut j) = (0, 0);
    let mut words = Vec::new();
    for edit in edits {
        match edit {
            Edit::Hit => words.push(reference[j]),
            Edit::Substitution | Edit::Insertion => words.push(hypothesis[i]),
            Edit::Deletion => {}
        }
        i += usize::from(*edit != Edit::Deletion);
        j += usize::from(*edit != Edit::Insertion);
    }
    assert_eq!((i, j), (hypothesis.len(), reference.len()));
    words
}
