//! Exact sums of integer columns with overflow detection, and rules that rows must satisfy.

use crate::error::Error;
use crate::interrupt;

/// Number of integers that are summed without overflow checks. If each is smaller than `SMALL` in
/// magnitude, the sum fits in 64 bits.
const CHUNK: usize = 1 << 12;
const SMALL: i64 = 1 << 50;

/// Minimum number of parallel sums. Several rows are summed side by side to fill wide registers for
/// any number of columns.
const LANES: usize = 256;

/// Return the sum of all rows of `values`, per column. `width` must not be 0.
pub fn sum_rows(values: &[i64], width: usize) -> Result<Vec<i64>, Error> {
    let lanes = width * LANES.div_ceil(width);
    let mut sums = vec![0_i64; lanes];
    let mut totals = vec![0_i128; width];
    // Process chunks in which each lane sums at most CHUNK integers.
    for chunk in values.chunks(lanes * CHUNK) {
        interrupt::poll();
        sums.fill(0);
        let mut high_bits = 0;
        for line in chunk.chunks(lanes) {
            for (sum, value) in sums.iter_mut().zip(line) {
                *sum = sum.wrapping_add(*value);
                // If `-SMALL <= value < SMALL`, `value + SMALL` is below `2 * SMALL`, so its higher
                // bits are zero.
                high_bits |= value.wrapping_add(SMALL);
            }
        }
        let is_small = (high_bits as u64) < 2 * SMALL as u64;
        let summands = if is_small { &sums } else { chunk };
        for row in summands.chunks(width) {
            for (total, value) in totals.iter_mut().zip(row) {
                *total += i128::from(*value);
            }
        }
    }
    totals.into_iter().map(|total| i64::try_from(total).map_err(|_| overflow_error())).collect()
}

/// Add a row to the sums. Return false if a sum overflows 64 bits; the sums are then invalid.
#[inline]
pub fn add_row(sums: &mut [i64], row: &[i64]) -> bool {
    let mut signs = 0;
    for (sum, value) in sums.iter_mut().zip(row) {
        let next = sum.wrapping_add(*value);
        // If a sum overflows, its sign differs from the signs of both summands.
        signs |= (next ^ *sum) & (next ^ value);
        *sum = next;
    }
    signs >= 0
}

/// Return the error for sums that overflow 64 bits.
pub fn overflow_error() -> Error {
    Error::Input("the sums overflow 64-bit integers, so the rows are not statistics of text".into())
}

/// Rules that hold for all rows of a metric, and for all sums of these rows.
#[derive(Clone, Debug, Default)]
pub struct ColumnRules {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The columns that may be negative.
    pub signed: Vec<usize>,
    /// Limits `(column, factor, limit)`: the magnitude of `column` is at most `factor` times the
    /// magnitude of `limit`.
    pub limits: Vec<(usize, u64, usize)>,
}

impl ColumnRules {
    /// Return an error if a rule refers to a column that does not exist.
    pub fn check(&self) -> Result<(), Error> {
        let limits = self.limits.iter().flat_map(|&(column, _, limit)| [column, limit]);
        match self.signed.iter().copied().chain(limits).find(|&column| column >= self.names.len()) {
            Some(column) => Err(Error::Input(format!("rule for unknown column {column}"))),
            None => Ok(()),
        }
    }

    /// Describe the rule that a row breaks, if any. The row must have all columns.
    pub fn find_violation(&self, row: &[i64]) -> Option<String> {
        let describe = |column: usize| format!("{} is {}", self.names[column], row[column]);
        let is_invalid_negative =
            |&column: &usize| row[column] < 0 && !self.signed.contains(&column);
        if let Some(column) = (0..row.len()).find(is_invalid_negative) {
            return Some(format!("{} (expected at least 0)", describe(column)));
        }
        let broken_limit = self.limits.iter().find(|limit| !satisfies_limit(row, limit));
        broken_limit.map(|&(column, _, limit)| {
            format!("{}, which is too large because {}", describe(column), describe(limit))
        })
    }

    /// Return an error for the first row of `values` that breaks a rule. `values` must consist of
    /// complete rows.
    pub fn check_rows(&self, values: &[i64]) -> Result<(), Error> {
        let mut sign_masks = vec![i64::MIN; self.names.len()];
        self.signed.iter().for_each(|&column| sign_masks[column] = 0);
        for (number, row) in values.chunks_exact(self.names.len().max(1)).enumerate() {
            if number % CHUNK == 0 {
                interrupt::poll();
            }
            let signs =
                row.iter().zip(&sign_masks).fold(0, |signs, (value, mask)| signs | value & mask);
            let is_valid =
                signs == 0 && self.limits.iter().all(|limit| satisfies_limit(row, limit));
            if !is_valid && let Some(problem) = self.find_violation(row) {
                let number = number + 1;
                return Err(Error::Input(format!(
                    "row {number}: {problem}, so this is not a row of text statistics. Count the text again"
                )));
            }
        }
        Ok(())
    }
}

/// Return whether a column satisfies a limit.
fn satisfies_limit(row: &[i64], &(column, times, limit): &(usize, u64, usize)) -> bool {
    let max_value = u128::from(row[limit].unsigned_abs()) * u128::from(times);
    u128::from(row[column].unsigned_abs()) <= max_value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum each column with 128-bit integers.
    fn sum_naively(values: &[i64], width: usize) -> Option<Vec<i64>> {
        let columns = 0..width;
        let sum = |column| -> i128 {
            values.iter().skip(column).step_by(width).map(|&v| i128::from(v)).sum()
        };
        columns.map(|column| i64::try_from(sum(column)).ok()).collect()
    }

    #[test]
    fn test_long_sums_are_exact_or_overflow() {
        for width in [1, 3, 10, 300] {
            let lines = 2 * CHUNK + 3;
            let rows = (width * LANES.div_ceil(width)) / width * lines / 16 + 5;
            let values: Vec<i64> = (0..rows * width).map(|i| SMALL - 1 - i as i64 % 7).collect();
            assert_eq!(sum_rows(&values, width).ok(), sum_naively(&values, width));
        }
    }

    #[test]
    fn test_overflow_is_detected() {
        assert!(sum_rows(&[1 << 62; 30], 10).is_err());
        assert_eq!(sum_rows(&[1 << 62, 1 << 62, -(1 << 62)], 1).unwrap(), [1 << 62]);
        let mut sums = [1 << 62, 0];
        assert!(!add_row(&mut sums, &[1 << 62, 0]));
    }
}
