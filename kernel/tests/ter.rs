//! TER: the fast search is the plain one.
#![allow(missing_docs)]

use proptest::prelude::*;
use truebleu_kernel::ter::{plain, search};

/// A reference over `kinds` words, and a hypothesis made of pieces of it.
fn pair(kinds: u32, longest: usize) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let reference = prop::collection::vec(1..=kinds, 1..=longest);
    let pieces =
        prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, 0..4u32), 0..=longest / 3);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn short_segments((hypothesis, reference) in pair(9, 16)) {
        let fast = search(&hypothesis, &reference);
        prop_assert_eq!(fast, Some(plain::search(&hypothesis, &reference)));
    }

    #[test]
    fn usual_segments((hypothesis, reference) in pair(30, 60)) {
        let fast = search(&hypothesis, &reference);
        prop_assert_eq!(fast, Some(plain::search(&hypothesis, &reference)));
    }

    #[test]
    fn few_words_repeated((hypothesis, reference) in pair(3, 90)) {
        let fast = search(&hypothesis, &reference);
        if let Some(fast) = fast {
            prop_assert_eq!(fast, plain::search(&hypothesis, &reference));
        }
    }

    #[test]
    fn long_segments_in_another_order((hypothesis, reference) in pair(40, 160)) {
        let fast = search(&hypothesis, &reference);
        if let Some(fast) = fast {
            prop_assert_eq!(fast, plain::search(&hypothesis, &reference));
        }
    }

    #[test]
    fn distances_where_the_beam_binds(
        hypothesis in prop::collection::vec(0..5u32, 1..180),
        reference in prop::collection::vec(1..5u32, 1..180),
    ) {
        let fast = search(&hypothesis, &reference);
        if let Some(fast) = fast {
            prop_assert_eq!(fast, plain::search(&hypothesis, &reference));
        }
    }
}
