//! Agreement of two scores: sorting counts what pairs count, and the best threshold is the first.

use truebleu_kernel::meta_evaluation::{
    Average, Counts, Matrices, Row, best_epsilon, outcomes, score_lines, subset_sums,
};

/// Numbers that look random, the same each time.
fn numbers(seed: u64, count: usize, values: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % values
    };
    (0..count).map(|_| next() as f64 / 4.0).collect()
}

#[test]
fn sorting_counts_what_pairs_count() {
    for (seed, values) in [(1, 3), (2, 10), (3, 1000), (4, 1)] {
        let row = Row { gold: numbers(seed, 200, values), metric: numbers(seed + 9, 200, 40) };
        assert_eq!(Counts::of(&row, 0.0, 0.0), Counts::by_definition(&row, 0.0, 0.0));
    }
}

#[test]
fn the_threshold_gives_what_it_says() {
    let (systems, items) = (5, 30);
    let mut gold = numbers(5, systems * items, 4);
    gold[7] = f64::NAN;
    let metric = numbers(6, systems * items, 50);
    let rows = Matrices { gold: &gold, metric: &metric, systems }.rows(Average::Item);
    let best = best_epsilon(&rows);
    let mut found = outcomes(&rows, best.epsilon).into_iter();
    for [pairs, hits, _] in best.rows {
        let row: i64 = (0..pairs).filter_map(|_| found.next()).map(i64::from).sum();
        assert_eq!(row, hits);
    }
}

#[test]
fn every_subset_has_its_sum() {
    assert_eq!(subset_sums(&[1, 10, 2, 20], 2), [0, 0, 1, 10, 2, 20, 3, 30]);
}

#[test]
fn lines_of_scores_are_read_in_blocks() {
    let (blocks, scores) = score_lines(b"oak 1\noak\tNone\nelm -2e-1\n").unwrap();
    assert_eq!(blocks, [("oak", 2), ("elm", 1)]);
    assert!(scores[1].is_nan());
    assert_eq!(score_lines(b"oak 1\noak one\n"), Err(2));
    assert_eq!(score_lines(b"oak 1 2\n"), Err(1));
}
