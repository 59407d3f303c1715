//! Columns of integers: their sums, which are exact or refused, and what must hold of them.

use crate::error::Error;
use crate::interrupt;

/// Integers that are added up without looking for overflow: so many of them, each below `SMALL` in
/// size, stay within 64 bits.
const CHUNK: usize = 1 << 12;
const SMALL: i64 = 1 << 50;

/// Sums of `width` columns are made in as many rows side by side as have so many integers, which
/// fill wide registers whatever the width.
const LANES: usize = 256;

/// The sum of all rows of `values`, a column each. `width` must not be 0.
pub fn total(values: &[i64], width: usize) -> Result<Vec<i64>, Error> {
    let lanes = width * LANES.div_ceil(width);
    let mut sums = vec![0_i64; lanes];
    let mut totals = vec![0_i128; width];
    // Whole lines of lanes; each lane has CHUNK integers at most.
    for chunk in values.chunks(lanes * CHUNK) {
        interrupt::poll();
        sums.fill(0);
        let mut seen = 0;
        for line in chunk.chunks(lanes) {
            for (sum, value) in sums.iter_mut().zip(line) {
                *sum = sum.wrapping_add(*value);
                // Of a value from -SMALL to SMALL, no bit from that of 2 * SMALL on is set.
                seen |= value.wrapping_add(SMALL);
            }
        }
        let small = (seen as u64) < 2 * SMALL as u64;
        let exact = if small { &sums } else { chunk };
        for row in exact.chunks(width) {
            for (total, value) in totals.iter_mut().zip(row) {
                *total += i128::from(*value);
            }
        }
    }
    totals.into_iter().map(|total| i64::try_from(total).map_err(|_| too_large())).collect()
}

/// Adds a row to sums. False if one of them is then beyond 64 bits, and all of them are spoilt.
#[inline]
pub fn add(sums: &mut [i64], row: &[i64]) -> bool {
    let mut signs = 0;
    for (sum, value) in sums.iter_mut().zip(row) {
        let next = sum.wrapping_add(*value);
        // Of a sum that wrapped, the sign is neither that of the one nor that of the other.
        signs |= (next ^ *sum) & (next ^ value);
        *sum = next;
    }
    signs >= 0
}

/// The error for sums beyond 64 bits.
pub fn too_large() -> Error {
    Error::Input("the sums are beyond 64-bit integers; these are not statistics of text".into())
}

/// What holds of every row that a metric has counted, and of every sum of such rows.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The columns that may be below 0.
    pub signed: Vec<usize>,
    /// Columns and others that limit them: the size of the first is at most so many times the other.
    pub limits: Vec<(usize, u64, usize)>,
}

impl Rules {
    /// An error if there are rules for columns that there are not.
    pub fn check(&self) -> Result<(), Error> {
        let limits = self.limits.iter().flat_map(|&(column, _, limit)| [column, limit]);
        match self.signed.iter().copied().chain(limits).find(|&column| column >= self.names.len()) {
            Some(column) => Err(Error::Input(format!("a rule for column {column}: there is none"))),
            None => Ok(()),
        }
    }

    /// What is wrong with a row, if it breaks a rule. It must have all columns.
    pub fn broken(&self, row: &[i64]) -> Option<String> {
        let told = |column: usize| format!("{} is {}", self.names[column], row[column]);
        let below = |&column: &usize| row[column] < 0 && !self.signed.contains(&column);
        if let Some(column) = (0..row.len()).find(below) {
            return Some(format!("{}, below 0", told(column)));
        }
        let beyond = self.limits.iter().find(|limit| !within(row, limit));
        beyond.map(|&(column, _, limit)| {
            format!("{}, which is too much where {}", told(column), told(limit))
        })
    }

    /// The error for the first row of `values` that breaks a rule. They must be whole rows.
    pub fn check_rows(&self, values: &[i64]) -> Result<(), Error> {
        let mut negative = vec![i64::MIN; self.names.len()];
        self.signed.iter().for_each(|&column| negative[column] = 0);
        for (number, row) in values.chunks_exact(self.names.len().max(1)).enumerate() {
            if number % CHUNK == 0 {
                interrupt::poll();
            }
            let signs =
                row.iter().zip(&negative).fold(0, |signs, (value, mask)| signs | value & mask);
            let whole = signs == 0 && self.limits.iter().all(|limit| within(row, limit));
            if !whole && let Some(why) = self.broken(row) {
                let number = number + 1;
                return Err(Error::Input(format!(
                    "these are not statistics of text: in row {number} {why}; count the text again"
                )));
            }
        }
        Ok(())
    }
}

/// Whether the size of a column is at most so many times that of another.
fn within(row: &[i64], &(column, times, limit): &(usize, u64, usize)) -> bool {
    let most = u128::from(row[limit].unsigned_abs()) * u128::from(times);
    u128::from(row[column].unsigned_abs()) <= most
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(values: &[i64], width: usize) -> Option<Vec<i64>> {
        let columns = 0..width;
        let sum = |column| -> i128 {
            values.iter().skip(column).step_by(width).map(|&v| i128::from(v)).sum()
        };
        columns.map(|column| i64::try_from(sum(column)).ok()).collect()
    }

    /// Integers of every size, the limits among them.
    fn value() -> impl Strategy<Value = i64> {
        let limits = vec![i64::MIN, i64::MAX, SMALL, -SMALL, SMALL - 1, -SMALL - 1, 1 << 62, 0];
        prop_oneof![4 => 0..100_i64, 1 => prop::sample::select(limits), 1 => any::<i64>()]
    }

    proptest! {
        #[test]
        fn sums_are_exact_or_refused(
            width in 1..20_usize,
            values in prop::collection::vec(value(), 0..600),
        ) {
            let values = &values[..values.len() / width * width];
            prop_assert_eq!(total(values, width).ok(), plain(values, width));
            let mut sums = vec![0; width];
            let whole = values.chunks_exact(width).all(|row| add(&mut sums, row));
            if whole {
                prop_assert_eq!(Some(sums), plain(values, width));
            }
        }
    }

    #[test]
    fn a_sum_is_exact_however_many_rows_there_are() {
        for width in [1, 3, 10, 300] {
            let lines = 2 * CHUNK + 3;
            let rows = (width * LANES.div_ceil(width)) / width * lines / 16 + 5;
            let values: Vec<i64> = (0..rows * width).map(|i| SMALL - 1 - i as i64 % 7).collect();
            assert_eq!(total(&values, width).ok(), plain(&values, width));
        }
    }

    #[test]
    fn three_rows_of_two_to_the_62nd_do_not_wrap() {
        assert!(total(&[1 << 62; 30], 10).is_err());
        assert_eq!(total(&[1 << 62, 1 << 62, -(1 << 62)], 1).unwrap(), [1 << 62]);
        let mut sums = [1 << 62, 0];
        assert!(!add(&mut sums, &[1 << 62, 0]));
    }

    #[test]
    fn a_row_that_breaks_a_rule_is_named() {
        let names = ["matches", "totals", "score"].map(str::to_owned).to_vec();
        let rules = Rules { names, signed: vec![2], limits: vec![(0, 1, 1), (2, 8, 1)] };
        assert!(rules.check_rows(&[1, 2, -3, 2, 2, 16, 0, 0, 0]).is_ok());
        let told = |values: &[i64]| rules.check_rows(values).unwrap_err().to_string();
        assert!(
            told(&[1, 2, 0, 3, 2, 0])
                .contains("row 2 matches is 3, which is too much where totals is 2")
        );
        assert!(told(&[-1, 2, 0]).contains("row 1 matches is -1, below 0"));
        assert!(told(&[0, 2, -17]).contains("score is -17"));
        assert!(told(&[i64::MIN, i64::MAX, 0]).contains("below 0"));
    }
}
