//! Resampled sums equal row-by-row sums, and the random numbers equal NumPy's.

mod common;

use proptest::prelude::*;
use truebleu_kernel::random::{Bits, Generator};
use truebleu_kernel::resample::{SingleStack, Stack};
use truebleu_kernel::simd::Instructions;

/// A seed, indices, booleans, and large integers.
type StreamCase<'a> = (&'a [u32], [u32; 8], [u32; 12], [u32; 3]);

/// The values come from `numpy.random.default_rng(seed)`.
#[test]
fn test_stream_matches_numpy() {
    let cases: [StreamCase<'_>; 3] = [
        (
            &[0],
            [1701, 1273, 1022, 539, 615, 81, 150, 33],
            [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0],
            [3492969079, 2789219405, 3920255352],
        ),
        (
            &[12345],
            [1398, 454, 1577, 633, 408, 1594, 1285, 1352],
            [1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1],
            [1679802727, 3605303106, 1429424934],
        ),
        (
            &[7, 0, 0, 0, 4],
            [1602, 1716, 215, 1144, 1317, 1031, 863, 1654],
            [0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0],
            [3305719756, 4277466824, 272900861],
        ),
    ];
    for (seed, indices, bools, integers) in cases {
        let mut generator = Generator::new(seed);
        let mut sample = [0; 8];
        generator.fill_below(2000, &mut sample);
        assert_eq!(sample, indices);
        let mut bits = Bits::default();
        assert_eq!(bools.map(|_| bits.take(&mut generator, 1)), bools);
        let mut sample = [0; 3];
        generator.fill_below(u32::MAX, &mut sample);
        assert_eq!(sample, integers);
    }
}

#[test]
fn test_bound_one_uses_no_random_bits() {
    let (mut generator, mut fresh_generator) = (Generator::new(&[1]), Generator::new(&[1]));
    let mut sample = [7; 5];
    generator.fill_below(1, &mut sample);
    assert_eq!(sample, [0; 5]);
    let mut indices = [[0; 4]; 2];
    generator.fill_below(100, &mut indices[0]);
    fresh_generator.fill_below(100, &mut indices[1]);
    assert_eq!(indices[0], indices[1]);
}

/// Bits do not depend on the number taken at a time.
#[test]
fn test_bits_do_not_depend_on_call_sizes() {
    let (mut first, mut second) = (Generator::new(&[3]), Generator::new(&[3]));
    let (mut singly, mut together) = (Bits::default(), Bits::default());
    for count in [1, 31, 32, 7, 32, 32, 5, 0, 20] {
        let bits = (0..count).fold(0, |bits, i| bits | singly.take(&mut first, 1) << i);
        assert_eq!(together.take(&mut second, count), bits);
    }
}

/// A table: its values row by row, and its width.
type TableValues = (Vec<i64>, usize);

/// Generate tables with equal numbers of rows, whose columns need 16, 32 or 64 bits, are multiples
/// of a large number, or equal another column plus a constant.
fn random_tables() -> impl Strategy<Value = (usize, Vec<TableValues>)> {
    let largest = prop::sample::select(vec![0, 1, 40, 2000, 2047, 2048, 70_000, 1 << 27, 1 << 36]);
    let column = (largest, prop::sample::select(vec![1, 1, 1, 360_360, 720_720]), any::<bool>());
    let columns = prop::collection::vec(prop::collection::vec(column, 1..24), 1..4);
    (1..70usize, columns).prop_flat_map(|(rows, tables)| {
        let to_strategy = |columns: Vec<(i64, i64, bool)>| {
            let width = columns.len();
            let row: Vec<_> = columns
                .into_iter()
                .map(|(largest, unit, is_signed)| {
                    let smallest = if is_signed { -largest } else { 0 };
                    (smallest..=largest).prop_map(move |value| value * unit)
                })
                .collect();
            prop::collection::vec(row, rows).prop_map(move |rows| (rows.concat(), width))
        };
        let copies = prop::collection::vec((any::<[usize; 4]>(), -3..3i64), 0..12);
        (Just(rows), tables.into_iter().map(to_strategy).collect::<Vec<_>>(), copies).prop_map(
            |(rows, mut tables, copies)| {
                for ([from_table, from_column, to_table, to_column], constant) in copies {
                    let (from_table, to_table) =
                        (from_table % tables.len(), to_table % tables.len());
                    let (from_width, to_width) = (tables[from_table].1, tables[to_table].1);
                    for row in 0..rows {
                        let value =
                            tables[from_table].0[row * from_width + from_column % from_width];
                        tables[to_table].0[row * to_width + to_column % to_width] =
                            value + constant;
                    }
                }
                (rows, tables)
            },
        )
    })
}

/// Return the values and widths as slices.
fn views(tables: &[TableValues]) -> Vec<(&[i64], usize)> {
    tables.iter().map(|(values, width)| (values.as_slice(), *width)).collect()
}

/// Return a row of all tables.
fn joint_row(tables: &[TableValues], row: usize) -> Vec<i64> {
    tables.iter().flat_map(|(values, width)| &values[row * width..][..*width]).copied().collect()
}

/// Add a row to sums.
fn add_row(total: &mut [i64], row: &[i64]) {
    for (total, value) in total.iter_mut().zip(row) {
        *total += value;
    }
}

proptest! {
    #[test]
    fn test_bootstrap_sums_match_row_sums(
        (rows, tables) in random_tables(), seed: u32, replicates in 0..20usize, workers in 1..4usize
    ) {
        let stack = Stack::new(&views(&tables), rows).unwrap();
        let mut draws = vec![0; rows * replicates];
        Generator::new(&[seed]).fill_below(rows as u32, &mut draws);
        let expected: Vec<i64> = draws
            .chunks_exact(rows)
            .flat_map(|draws| {
                let mut total = vec![0; stack.width()];
                draws.iter().for_each(|&draw| add_row(&mut total, &joint_row(&tables, draw as usize)));
                total
            })
            .collect();
        for instructions in Instructions::available() {
            let mut generator = Generator::new(&[seed]);
            let sums = stack.bootstrap_sums(&mut generator, replicates, instructions, workers);
            prop_assert_eq!(&sums, &expected, "{:?}", instructions);
        }
    }

    #[test]
    fn test_random_half_sums_match_selected_rows(
        (rows, tables) in random_tables(), seed: u32, trials in 0..40usize, first in 0..40usize,
        workers in 1..4usize
    ) {
        let stack = Stack::new(&views(&tables), rows).unwrap();
        let (mut generator, mut bits) = (Generator::new(&[seed]), Bits::default());
        let mut expected = vec![0; trials * stack.width()];
        for total in expected.chunks_exact_mut(stack.width()) {
            for i in 0..rows {
                if bits.take(&mut generator, 1) == 1 {
                    add_row(total, &joint_row(&tables, i));
                }
            }
        }
        for instructions in Instructions::available() {
            // Two calls continue each other.
            let (mut generator, mut bits) = (Generator::new(&[seed]), Bits::default());
            let mut sums = Vec::new();
            for trials in [first.min(trials), trials - first.min(trials)] {
                let next_sums = stack.random_half_sums(&mut generator, &mut bits, trials, instructions, workers);
                sums.extend(next_sums);
            }
            prop_assert_eq!(&sums, &expected, "{:?}", instructions);
        }
    }

    #[test]
    fn test_single_precision_sums_follow_sample_order(
        rows in 1..60usize, width in 1..70usize, seed: u32, workers in 1..4usize
    ) {
        // Fractions, and sums far above 2^24.
        let value = |row: usize, column: usize| ((row * 7919 + column * 104_729) % 9_999_991) as f32 / 3.0;
        let stack = SingleStack::new(rows, width, value).unwrap();
        let mut draws = vec![0; rows * 9];
        Generator::new(&[seed]).fill_below(rows as u32, &mut draws);
        let expected: Vec<f32> = draws
            .chunks_exact(rows)
            .flat_map(|draws| {
                (0..width).map(|column| {
                    draws.iter().fold(0.0, |sum, &draw| sum + value(draw as usize, column))
                })
            })
            .collect();
        for instructions in Instructions::available() {
            let sums = stack.bootstrap_sums(&mut Generator::new(&[seed]), 9, instructions, workers);
            prop_assert_eq!(&sums, &expected, "{:?}", instructions);
        }
    }
}

/// More rows than a block of samples or of trials holds.
#[test]
fn test_block_size_and_threads_do_not_change_sums() {
    let rows = 9000;
    let table: TableValues = ((0..rows as i64 * 2).map(|i| i * i % 611).collect(), 2);
    let stack = Stack::new(&views(std::slice::from_ref(&table)), rows).unwrap();
    let sums_with_workers = |workers| {
        let mut generator = Generator::new(&[5]);
        let mut sums = stack.bootstrap_sums(&mut generator, 500, Instructions::best(), workers);
        let mut bits = Bits::default();
        sums.extend(stack.random_half_sums(
            &mut generator,
            &mut bits,
            4100,
            Instructions::best(),
            workers,
        ));
        sums
    };
    let sums = sums_with_workers(1);
    assert_eq!(sums, sums_with_workers(3));
    let mut draws = vec![0; rows * 500];
    Generator::new(&[5]).fill_below(rows as u32, &mut draws);
    let mut last_sums = vec![0; 2];
    for &draw in &draws[rows * 499..] {
        add_row(&mut last_sums, &joint_row(std::slice::from_ref(&table), draw as usize));
    }
    assert_eq!(sums[998..1000], last_sums);
}

#[test]
fn test_invalid_tables_fail() {
    let message = |tables: &[(&[i64], usize)], rows| {
        Stack::new(tables, rows).err().map(|error| error.to_string())
    };
    assert_eq!(
        message(&[(&[], 2)], 0).unwrap(),
        "cannot resample 0 segments (expected 1 to 4,294,967,295)"
    );
    assert!(message(&[(&[1, 2], 1), (&[1, 2, 3], 1)], 2).unwrap().contains("different lengths"));
    assert!(message(&[(&[i64::MAX, 1], 1)], 2).unwrap().contains("overflow 64-bit integers"));
    assert_eq!(message(&[(&[i64::MAX / 2, 1], 1)], 2), None);
}
