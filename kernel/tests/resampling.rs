//! Resampled sums are what adding the drawn rows one by one gives, and the draws are NumPy's.

mod common;

use proptest::prelude::*;
use truebleu_kernel::random::{Bits, Generator};
use truebleu_kernel::resample::{SingleStack, Stack};

/// A seed, draws, truth values, and draws again.
type Case<'a> = (&'a [u32], [u32; 8], [u32; 12], [u32; 3]);

/// From `numpy.random.default_rng(seed)`.
#[test]
fn the_stream_is_that_of_numpy() {
    let cases: [Case<'_>; 3] = [
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
    for (seed, indices, bools, large) in cases {
        let mut generator = Generator::new(seed);
        let mut drawn = [0; 8];
        generator.fill_below(2000, &mut drawn);
        assert_eq!(drawn, indices);
        let mut bits = Bits::default();
        assert_eq!(bools.map(|_| bits.take(&mut generator, 1)), bools);
        let mut drawn = [0; 3];
        generator.fill_below(u32::MAX, &mut drawn);
        assert_eq!(drawn, large);
    }
}

#[test]
fn one_row_draws_nothing() {
    let (mut generator, mut other) = (Generator::new(&[1]), Generator::new(&[1]));
    let mut drawn = [7; 5];
    generator.fill_below(1, &mut drawn);
    assert_eq!(drawn, [0; 5]);
    let mut indices = [[0; 4]; 2];
    generator.fill_below(100, &mut indices[0]);
    other.fill_below(100, &mut indices[1]);
    assert_eq!(indices[0], indices[1]);
}

/// Bits are taken from the stream the same way however many are taken at a time.
#[test]
fn bits_are_taken_in_order() {
    let (mut one, mut many) = (Generator::new(&[3]), Generator::new(&[3]));
    let (mut singly, mut together) = (Bits::default(), Bits::default());
    for count in [1, 31, 32, 7, 32, 32, 5, 0, 20] {
        let bits = (0..count).fold(0, |all, i| all | singly.take(&mut one, 1) << i);
        assert_eq!(together.take(&mut many, count), bits);
    }
}

/// A table: values row after row, and its width.
type Table = (Vec<i64>, usize);

/// Tables side by side whose columns need 16, 32 or 64 bits, or are multiples of a large number.
fn tables() -> impl Strategy<Value = (usize, Vec<Table>)> {
    let largest = prop::sample::select(vec![0, 1, 40, 2000, 2047, 2048, 70_000, 1 << 27, 1 << 36]);
    let column = (largest, prop::sample::select(vec![1, 1, 1, 360_360, 720_720]), any::<bool>());
    let columns = prop::collection::vec(prop::collection::vec(column, 1..24), 1..4);
    (1..70usize, columns).prop_flat_map(|(rows, tables)| {
        let table = |columns: Vec<(i64, i64, bool)>| {
            let width = columns.len();
            let row: Vec<_> = columns
                .into_iter()
                .map(|(largest, unit, signed)| {
                    let least = if signed { -largest } else { 0 };
                    (least..=largest).prop_map(move |value| value * unit)
                })
                .collect();
            prop::collection::vec(row, rows).prop_map(move |rows| (rows.concat(), width))
        };
        (Just(rows), tables.into_iter().map(table).collect::<Vec<_>>())
    })
}

fn views(tables: &[Table]) -> Vec<(&[i64], usize)> {
    tables.iter().map(|(values, width)| (values.as_slice(), *width)).collect()
}

/// The row of all tables together.
fn row(tables: &[Table], row: usize) -> Vec<i64> {
    tables.iter().flat_map(|(values, width)| &values[row * width..][..*width]).copied().collect()
}

fn add(total: &mut [i64], row: &[i64]) {
    for (total, value) in total.iter_mut().zip(row) {
        *total += value;
    }
}

proptest! {
    #[test]
    fn bootstrap_sums_are_those_of_the_drawn_rows(
        (rows, tables) in tables(), seed: u32, replicates in 0..20usize, workers in 1..4usize
    ) {
        let stack = Stack::new(&views(&tables), rows).unwrap();
        let mut draws = vec![0; rows * replicates];
        Generator::new(&[seed]).fill_below(rows as u32, &mut draws);
        let expected: Vec<i64> = draws
            .chunks_exact(rows)
            .flat_map(|draws| {
                let mut total = vec![0; stack.width()];
                draws.iter().for_each(|&draw| add(&mut total, &row(&tables, draw as usize)));
                total
            })
            .collect();
        for instructions in common::available() {
            let mut generator = Generator::new(&[seed]);
            let sums = stack.bootstrap(&mut generator, replicates, instructions, workers);
            prop_assert_eq!(&sums, &expected, "{:?}", instructions);
        }
    }

    #[test]
    fn chosen_sums_are_those_of_the_rows_whose_bit_is_set(
        (rows, tables) in tables(), seed: u32, trials in 0..40usize, first in 0..40usize,
        workers in 1..4usize
    ) {
        let stack = Stack::new(&views(&tables), rows).unwrap();
        let (mut generator, mut bits) = (Generator::new(&[seed]), Bits::default());
        let mut expected = vec![0; trials * stack.width()];
        for total in expected.chunks_exact_mut(stack.width()) {
            for i in 0..rows {
                if bits.take(&mut generator, 1) == 1 {
                    add(total, &row(&tables, i));
                }
            }
        }
        for instructions in common::available() {
            // Two calls go on where one would.
            let (mut generator, mut bits) = (Generator::new(&[seed]), Bits::default());
            let mut sums = Vec::new();
            for trials in [first.min(trials), trials - first.min(trials)] {
                let chosen = stack.choose(&mut generator, &mut bits, trials, instructions, workers);
                sums.extend(chosen);
            }
            prop_assert_eq!(&sums, &expected, "{:?}", instructions);
        }
    }

    #[test]
    fn single_precision_sums_are_made_in_the_order_of_the_draws(
        rows in 1..60usize, width in 1..70usize, seed: u32, workers in 1..4usize
    ) {
        // Fractions, and sums far beyond 2^24.
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
        for instructions in common::available() {
            let sums = stack.bootstrap(&mut Generator::new(&[seed]), 9, instructions, workers);
            prop_assert_eq!(&sums, &expected, "{:?}", instructions);
        }
    }
}

/// More rows than one block of draws or of trials takes.
#[test]
fn blocks_cannot_be_seen() {
    let rows = 9000;
    let table: Table = ((0..rows as i64 * 2).map(|i| i * i % 611).collect(), 2);
    let stack = Stack::new(&views(std::slice::from_ref(&table)), rows).unwrap();
    let one = |workers| {
        let mut generator = Generator::new(&[5]);
        let mut sums =
            stack.bootstrap(&mut generator, 500, common::available().last().unwrap(), workers);
        let mut bits = Bits::default();
        sums.extend(stack.choose(
            &mut generator,
            &mut bits,
            4100,
            common::available().last().unwrap(),
            workers,
        ));
        sums
    };
    let sums = one(1);
    assert_eq!(sums, one(3));
    let mut draws = vec![0; rows * 500];
    Generator::new(&[5]).fill_below(rows as u32, &mut draws);
    let mut last = vec![0; 2];
    for &draw in &draws[rows * 499..] {
        add(&mut last, &row(std::slice::from_ref(&table), draw as usize));
    }
    assert_eq!(sums[998..1000], last);
}

#[test]
fn what_cannot_be_resampled_is_refused() {
    let message = |tables: &[(&[i64], usize)], rows| {
        Stack::new(tables, rows).err().map(|error| error.to_string())
    };
    assert_eq!(message(&[(&[], 2)], 0).unwrap(), "0 segments cannot be resampled");
    assert!(message(&[(&[1, 2], 1), (&[1, 2, 3], 1)], 2).unwrap().contains("different lengths"));
    assert!(message(&[(&[i64::MAX, 1], 1)], 2).unwrap().contains("exceed 64 bits"));
    assert_eq!(message(&[(&[i64::MAX / 2, 1], 1)], 2), None);
}
