//! Properties of the alignment of a text with the segments of its reference.

use proptest::collection::vec;
use proptest::prelude::*;
use truebleu_kernel::resegment::similar::{self, UnitType};
use truebleu_kernel::resegment::{LeadingBorders, UNPAIRED, bit_parallel, general};

fn units(largest: usize) -> impl Strategy<Value = Vec<u32>> {
    (1..8_u32).prop_flat_map(move |kinds| vec(0..kinds, 0..largest))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Both alignments by edits are equal where both can be used, ties included.
    #[test]
    fn test_bit_parallel_equals_general(
        segments in vec(units(90), 1..6),
        hypothesis in units(300),
        counts_borders: bool,
    ) {
        let borders =
            if counts_borders { LeadingBorders::Counted } else { LeadingBorders::Free };
        let single: Vec<&[u32]> = segments.iter().map(Vec::as_slice).collect();
        let alternatives: Vec<Vec<Vec<u32>>> =
            segments.iter().map(|units| vec![units.clone()]).collect();
        let fast = bit_parallel::align_bit_parallel(&single, &hypothesis, borders);
        let slow = general::align_general(&alternatives, &hypothesis, &[], borders);
        prop_assert_eq!(&fast.segments, &slow.segments);
        prop_assert_eq!(&fast.pairs, &slow.pairs);
        if !hypothesis.is_empty() {
            prop_assert_eq!(fast.errors, slow.errors);
        }
    }

    /// Segments never decrease, and each unit of the reference is paired at most once, in order.
    #[test]
    fn test_similarity_alignment_is_monotone(
        segments in vec(units(40), 1..6),
        hypothesis in units(120),
        only_equal: bool,
    ) {
        let types: Vec<UnitType> = (0..8_u32)
            .map(|kind| UnitType { characters: vec![kind, kind + 1], is_punctuation: kind == 7 })
            .collect();
        let single: Vec<&[u32]> = segments.iter().map(Vec::as_slice).collect();
        let alignment = similar::align_by_similarity(&single, &hypothesis, &types, only_equal);
        let mut last = (0, 0);
        for (&segment, &pair) in alignment.segments.iter().zip(&alignment.pairs) {
            if pair != UNPAIRED {
                prop_assert!((segment, pair + 1) > last);
                prop_assert!((pair as usize) < segments[segment as usize].len());
                last = (segment, pair + 1);
            } else if segment != UNPAIRED {
                prop_assert!(segment >= last.0);
            }
        }
    }
}
