//! The error rates' alignment: rows of bits find what the whole table has, edit by edit.
#![allow(missing_docs)]

use proptest::prelude::*;
use truebleu_kernel::edit_distance::{Edit, edits, naive};

/// The number of cases; many more where `TRUEBLEU_THOROUGH` is set, which needs a release build.
fn cases(usual: u32) -> ProptestConfig {
    let thorough = std::env::var_os("TRUEBLEU_THOROUGH").is_some();
    ProptestConfig::with_cases(if thorough { 100 * usual } else { usual })
}

fn words(kinds: u32, longest: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..kinds, 0..=longest)
}

fn check(reference: &[u32], hypothesis: &[u32]) -> Result<(), TestCaseError> {
    let found = edits(reference, hypothesis);
    let (distance, defined) = naive::align(reference, hypothesis);
    prop_assert_eq!(found.iter().filter(|&&edit| edit != Edit::Hit).count(), distance);
    prop_assert_eq!(found, defined);
    Ok(())
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn short_segments(reference in words(4, 12), hypothesis in words(5, 12)) {
        check(&reference, &hypothesis)?;
    }

    #[test]
    fn a_block_and_its_edge(reference in words(9, 70), hypothesis in words(9, 70)) {
        check(&reference, &hypothesis)?;
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn several_blocks(reference in words(20, 400), hypothesis in words(20, 300)) {
        check(&reference, &hypothesis)?;
    }
}

/// Pseudorandom words, and the same with about one in `every` edited.
fn long(length: u32, kinds: u32, every: u32) -> (Vec<u32>, Vec<u32>) {
    let mut state = 12345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let reference: Vec<u32> = (0..length).map(|_| next() % kinds).collect();
    let mut hypothesis = Vec::new();
    for &word in &reference {
        match next() % (3 * every) {
            0 => {}
            1 => hypothesis.extend([word, next() % kinds]),
            2 => hypothesis.push(next() % kinds),
            _ => hypothesis.push(word),
        }
    }
    (reference, hypothesis)
}

/// Where only a band is computed, the way is the whole table's.
#[test]
fn a_band() {
    for kinds in [3, 50, 5000] {
        let (reference, hypothesis) = long(3000, kinds, 50);
        assert_eq!(edits(&reference, &hypothesis), naive::align(&reference, &hypothesis).1);
    }
}

/// Where the table is cut in two, the way may be another one, but as cheap.
#[test]
fn a_table_that_is_cut() {
    for kinds in [3, 50, 5000] {
        let (reference, hypothesis) = long(3000, kinds, 2);
        let found = edits(&reference, &hypothesis);
        let distance = found.iter().filter(|&&edit| edit != Edit::Hit).count();
        assert_eq!(distance, naive::align(&reference, &hypothesis).0);
        let both = |edit: &&Edit| **edit != Edit::Insertion;
        assert_eq!(found.iter().filter(both).count(), reference.len());
    }
}

/// Many kinds of words over many blocks have no table of bits.
#[test]
fn many_kinds_of_words() {
    let (reference, hypothesis) = long(60_000, 30_000, 500);
    let found = edits(&reference, &hypothesis);
    let replayed: Vec<u32> = replay(&found, &reference, &hypothesis);
    assert_eq!(replayed, hypothesis);
}

/// The hypothesis that the edits make of the reference.
fn replay(edits: &[Edit], reference: &[u32], hypothesis: &[u32]) -> Vec<u32> {
    let (mut i, mut j) = (0, 0);
    let mut made = Vec::new();
    for edit in edits {
        match edit {
            Edit::Hit => made.push(reference[j]),
            Edit::Substitution | Edit::Insertion => made.push(hypothesis[i]),
            Edit::Deletion => {}
        }
        i += usize::from(*edit != Edit::Deletion);
        j += usize::from(*edit != Edit::Insertion);
    }
    assert_eq!((i, j), (hypothesis.len(), reference.len()));
    made
}
