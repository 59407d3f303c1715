//! Saved tables: what is taken keeps all rules, sums are exact, and no damage goes unseen.

use crate::input::Input;
use crate::make::{self, Random};
use truebleu_kernel::checksummed_frame::{STATISTICS, Sealed, checksum};
use truebleu_kernel::columns::{self, Rules};

/// The most columns.
const MOST: usize = 6;

/// Integers that rules and sums are about.
const VALUES: [i64; 12] =
    [0, 1, 2, 7, 8, 9, -1, i64::MAX, i64::MIN, 1 << 50, -(1 << 50), (1 << 62) + 1];

/// An input: the rules, what becomes of the frame, the damage; then the integers, a byte each.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(random.bits().to_le_bytes());
    let small = random.once_in(2);
    for _ in 0..random.length(40) {
        out.push(random.below(if small { 48 } else { 256 }) as u8);
    }
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let width = 1 + input.below(MOST);
    let bits = input.byte();
    let frame = input.byte();
    let seed = u64::from_le_bytes(std::array::from_fn(|i| if i < 5 { input.byte() } else { 0 }));
    let rules = Rules {
        names: (0..width).map(|column| format!("c{column}")).collect(),
        signed: (0..width).filter(|column| bits >> column & 1 == 1).collect(),
        limits: match bits >> 6 {
            0 => vec![],
            1 => vec![(0, 1, width - 1)],
            2 => vec![(width - 1, 8, 0), (width / 2, 1 << 63, 0)],
            _ => vec![(0, u64::MAX, width - 1)],
        },
    };
    assert!(rules.check().is_ok());
    let value = |byte: u8| match byte {
        0..48 => i64::from(byte % 12),
        _ => VALUES[usize::from(byte) % VALUES.len()],
    };
    let rows = input.0.len() / width;
    let values: Vec<i64> = input.take(rows * width).iter().map(|&byte| value(byte)).collect();
    check(&rules, &values);
    if frame & 3 != 0 {
        return;
    }
    let content: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let header = ["{}", "", "{\"columns\": [\"é\"]}", "[[[[[["][usize::from(frame >> 2 & 3)];
    let whole = STATISTICS.seal(header, &content);
    assert_eq!(STATISTICS.open("x", &whole).ok(), Some(Sealed { header, content: &content }));
    let mut damaged = whole.clone();
    make::damage(&mut Random::new(seed), &mut damaged);
    assert!(damaged == whole || STATISTICS.open("x", &damaged).is_err(), "damage was not seen");
    // Damage by somebody who makes the checksum again.
    damaged.truncate(damaged.len().saturating_sub(8));
    damaged.extend(checksum(&damaged));
    if let Ok(Sealed { header, content }) = STATISTICS.open("x", &damaged) {
        assert!(header.len() + content.len() < damaged.len());
        let integers = content.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        let integers: Vec<i64> = integers.collect();
        check(&rules, &integers[..integers.len() / width * width]);
    }
}

/// That rows are taken if they keep the rules, and that their sums are exact or refused.
fn check(rules: &Rules, values: &[i64]) {
    let width = rules.names.len();
    let wide = |row: &[i64], column: usize| u128::from(row[column].unsigned_abs());
    let kept = |row: &[i64]| {
        let signs = (0..width).all(|column| row[column] >= 0 || rules.signed.contains(&column));
        let within = |&(column, times, limit): &(usize, u64, usize)| {
            wide(row, column) <= wide(row, limit) * u128::from(times)
        };
        signs && rules.limits.iter().all(within)
    };
    let broken = values.chunks(width).position(|row| !kept(row));
    let found = rules.check_rows(values).map_err(|error| error.to_string());
    match (broken, found) {
        (None, Ok(())) => {}
        (Some(row), Err(told)) => {
            assert!(told.contains(&format!("in row {} ", row + 1)), "{told}, and not row {row}");
        }
        (broken, found) => panic!("{found:?}, and row {broken:?} breaks a rule"),
    }
    let sums: Vec<i128> = (0..width)
        .map(|column| values.iter().skip(column).step_by(width).copied().map(i128::from).sum())
        .collect();
    let exact: Option<Vec<i64>> = sums.into_iter().map(|sum| i64::try_from(sum).ok()).collect();
    assert_eq!(columns::total(values, width).ok(), exact);
    // Row by row, what goes beyond 64 bits on the way is refused as well.
    let mut added = vec![0; width];
    if values.chunks(width).all(|row| columns::add(&mut added, row)) {
        assert_eq!(Some(added), exact);
    }
}
