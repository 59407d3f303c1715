//! Saved tables: accepted rows satisfy all rules, sums are exact, and damage is detected.

use crate::input::Input;
use crate::make::{self, Random};
use truebleu_kernel::checksummed_frame::{FrameParts, STATISTICS, checksum};
use truebleu_kernel::columns::{self, ColumnRules};

/// Maximum number of columns.
const MAX_COLUMNS: usize = 6;

/// Integers near the limits of rules and sums.
const LIMIT_VALUES: [i64; 12] =
    [0, 1, 2, 7, 8, 9, -1, i64::MAX, i64::MIN, 1 << 50, -(1 << 50), (1 << 62) + 1];

/// Make an input: the rules, the treatment of the frame, the damage; then the integers, one byte
/// per integer.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(random.next_bits().to_le_bytes());
    let is_small = random.once_in(2);
    for _ in 0..random.length(40) {
        out.push(random.below(if is_small { 48 } else { 256 }) as u8);
    }
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let width = 1 + input.below(MAX_COLUMNS);
    let rule_bits = input.byte();
    let frame_bits = input.byte();
    let seed = u64::from_le_bytes(std::array::from_fn(|i| if i < 5 { input.byte() } else { 0 }));
    let rules = ColumnRules {
        names: (0..width).map(|column| format!("c{column}")).collect(),
        signed: (0..width).filter(|column| rule_bits >> column & 1 == 1).collect(),
        limits: match rule_bits >> 6 {
            0 => vec![],
            1 => vec![(0, 1, width - 1)],
            2 => vec![(width - 1, 8, 0), (width / 2, 1 << 63, 0)],
            _ => vec![(0, u64::MAX, width - 1)],
        },
    };
    assert!(rules.check().is_ok());
    let to_integer = |byte: u8| match byte {
        0..48 => i64::from(byte % 12),
        _ => LIMIT_VALUES[usize::from(byte) % LIMIT_VALUES.len()],
    };
    let rows = input.0.len() / width;
    let values: Vec<i64> = input.take(rows * width).iter().map(|&byte| to_integer(byte)).collect();
    check_table(&rules, &values);
    if frame_bits & 3 != 0 {
        return;
    }
    let content: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let header = ["{}", "", "{\"columns\": [\"é\"]}", "[[[[[["][usize::from(frame_bits >> 2 & 3)];
    let valid_frame = STATISTICS.seal(header, &content);
    assert_eq!(
        STATISTICS.open("x", &valid_frame).ok(),
        Some(FrameParts { header, content: &content })
    );
    let mut damaged = valid_frame.clone();
    make::damage(&mut Random::new(seed), &mut damaged);
    assert!(
        damaged == valid_frame || STATISTICS.open("x", &damaged).is_err(),
        "damage was not detected"
    );
    // Damage with a recomputed checksum.
    damaged.truncate(damaged.len().saturating_sub(8));
    damaged.extend(checksum(&damaged));
    if let Ok(FrameParts { header, content }) = STATISTICS.open("x", &damaged) {
        assert!(header.len() + content.len() < damaged.len());
        let integers = content.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        let integers: Vec<i64> = integers.collect();
        check_table(&rules, &integers[..integers.len() / width * width]);
    }
}

/// Check that rows are accepted if they satisfy the rules, and that their sums are exact or
/// rejected.
fn check_table(rules: &ColumnRules, values: &[i64]) {
    let width = rules.names.len();
    let magnitude = |row: &[i64], column: usize| u128::from(row[column].unsigned_abs());
    let satisfies_rules = |row: &[i64]| {
        let has_valid_signs =
            (0..width).all(|column| row[column] >= 0 || rules.signed.contains(&column));
        let is_within_limit = |&(column, times, limit): &(usize, u64, usize)| {
            magnitude(row, column) <= magnitude(row, limit) * u128::from(times)
        };
        has_valid_signs && rules.limits.iter().all(is_within_limit)
    };
    let invalid_row = values.chunks(width).position(|row| !satisfies_rules(row));
    let result = rules.check_rows(values).map_err(|error| error.to_string());
    match (invalid_row, result) {
        (None, Ok(())) => {}
        (Some(row), Err(message)) => {
            assert!(
                message.contains(&format!("row {}: ", row + 1)),
                "{message} (expected row {row})"
            );
        }
        (invalid_row, result) => panic!("{result:?}, but row {invalid_row:?} breaks a rule"),
    }
    let sums: Vec<i128> = (0..width)
        .map(|column| values.iter().skip(column).step_by(width).copied().map(i128::from).sum())
        .collect();
    let exact: Option<Vec<i64>> = sums.into_iter().map(|sum| i64::try_from(sum).ok()).collect();
    assert_eq!(columns::sum_rows(values, width).ok(), exact);
    // Row by row, intermediate sums that overflow 64 bits are rejected, too.
    let mut row_sums = vec![0; width];
    if values.chunks(width).all(|row| columns::add_row(&mut row_sums, row)) {
        assert_eq!(Some(row_sums), exact);
    }
}
