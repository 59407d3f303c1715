//! Agreement of metric and human scores: sorting equals pair counting, and the threshold is
//! optimal.

use truebleu_kernel::meta_evaluation::{
    Averaging, PairCounts, ScoreMatrices, ScoreRow, calibrate_ties, pair_outcomes,
    parse_score_lines, subset_sums,
};

/// Return reproducible pseudo-random numbers.
fn random_numbers(seed: u64, count: usize, values: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % values
    };
    (0..count).map(|_| next() as f64 / 4.0).collect()
}

#[test]
fn test_sorting_matches_pair_counting() {
    for (seed, values) in [(1, 3), (2, 10), (3, 1000), (4, 1)] {
        let row = ScoreRow {
            human: random_numbers(seed, 200, values),
            metric: random_numbers(seed + 9, 200, 40),
        };
        assert_eq!(
            PairCounts::count_pairs(&row, 0.0, 0.0),
            PairCounts::count_naively(&row, 0.0, 0.0)
        );
    }
}

#[test]
fn test_tie_threshold_gives_reported_agreement() {
    let (systems, items) = (5, 30);
    let mut human = random_numbers(5, systems * items, 4);
    human[7] = f64::NAN;
    let metric = random_numbers(6, systems * items, 50);
    let rows = ScoreMatrices { human: &human, metric: &metric, systems }.rows(Averaging::Item);
    let calibration = calibrate_ties(&rows);
    let mut agreements = pair_outcomes(&rows, calibration.epsilon).into_iter();
    for [pairs, expected, _] in calibration.rows {
        let agreeing_pairs: i64 = (0..pairs).filter_map(|_| agreements.next()).map(i64::from).sum();
        assert_eq!(agreeing_pairs, expected);
    }
}

#[test]
fn test_subset_sums_cover_every_subset() {
    assert_eq!(subset_sums(&[1, 10, 2, 20], 2), [0, 0, 1, 10, 2, 20, 3, 30]);
}

#[test]
fn test_score_lines_are_grouped_by_system() {
    let (blocks, scores) = parse_score_lines(b"oak 1\noak\tNone\nelm -2e-1\n").unwrap();
    assert_eq!(blocks, [("oak", 2), ("elm", 1)]);
    assert!(scores[1].is_nan());
    assert_eq!(parse_score_lines(b"oak 1\noak one\n"), Err(2));
    assert_eq!(parse_score_lines(b"oak 1 2\n"), Err(1));
}
