//! Sums as bytes: what is taken comes out as it went in, and nothing else is taken.

use crate::input::Input;
use crate::make::{self, Random};
use truebleu_kernel::arrow::key::{KeyType, Time};
use truebleu_kernel::checksummed_frame::{SUMS, Sealed};
use truebleu_kernel::columns::Rules;
use truebleu_kernel::groups::group_sums::{Counts, Groups};
use truebleu_kernel::groups::state_table::{Metrics, from_bytes, to_bytes};

/// The columns of keys that an input may have.
fn types(which: u8) -> Vec<KeyType> {
    match which % 8 {
        0 => vec![],
        1 => vec![KeyType::Text],
        2 => vec![KeyType::Integer(b'l'), KeyType::Text],
        3 => vec![KeyType::Null, KeyType::Boolean],
        4 => vec![KeyType::Float(b'g'), KeyType::Binary],
        5 => vec![KeyType::Fixed(3), KeyType::Date],
        6 => vec![KeyType::Decimal, KeyType::Time(Time::Utc)],
        _ => vec![KeyType::Text, KeyType::Text],
    }
}

/// The columns of totals.
const WIDTH: usize = 2;

/// One metric, whose columns are never below 0, and the second never above the first.
fn metrics() -> Metrics {
    let names = vec!["all".to_owned(), "some".to_owned()];
    Metrics(vec![("f".to_owned(), Rules { names, signed: vec![], limits: vec![(1, 1, 0)] })])
}

fn names(types: &[KeyType]) -> Vec<String> {
    (0..types.len()).map(|i| format!("k{i}")).collect()
}

/// An input: the types of keys; then sums, whole or damaged.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let which = random.bits() as u8 & !FRAMED;
    out.push(which);
    let types = types(which);
    let mut groups = Groups::new(names(&types), WIDTH);
    groups.types = Some(types.clone());
    let mut key = Vec::new();
    for _ in 0..random.length(5) {
        key.clear();
        types.iter().for_each(|of| entry(random, of, &mut key));
        let (group, _) = groups.group(&key);
        let segments = random.below(3) as i64;
        *groups.counts_mut(group) = Counts {
            segments,
            null_hypotheses: random.below(3) as i64,
            null_references: *random.of(&[0, 1, i64::MAX]),
            references: (segments > 0).then(|| (1, 1 + random.below(3) as i32)),
        };
        let row = [*random.of(&[4, 9, 1 << 40]), random.below(5) as i64];
        let _ = groups.add(group, &row);
    }
    let mut bytes = to_bytes(&groups);
    if !random.once_in(4) {
        make::damage(random, &mut bytes);
    }
    if random.once_in(8) {
        // Now and then the frame is damaged as well, and the checksum made again.
        let mut frame = SUMS.seal("{}", &bytes);
        frame.truncate(frame.len() - 8);
        make::damage(random, &mut frame);
        out[0] |= FRAMED;
        bytes = frame;
    }
    out.append(&mut bytes);
}

/// A bit of the first byte: a frame follows, without its checksum.
const FRAMED: u8 = 0x80;

/// Appends an entry of a key.
fn entry(random: &mut Random, of: &KeyType, key: &mut Vec<u8>) {
    if random.once_in(4) || *of == KeyType::Null {
        return key.push(0);
    }
    key.push(1);
    let width = match of {
        KeyType::Boolean => 1,
        KeyType::Integer(_) => 9,
        KeyType::Float(_) => 8,
        KeyType::Date => 4,
        KeyType::Time(_) => 8,
        KeyType::Fixed(width) => *width,
        KeyType::Decimal => {
            // The scale, before a number that mostly does not end in 0.
            key.push(random.below(4) as u8);
            16
        }
        _ => {
            let width = random.below(4);
            key.extend((width as u32).to_le_bytes());
            width
        }
    };
    let few = random.below(3) as u8;
    key.extend((0..width).map(|i| if i == 0 { few } else { 0 }));
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let which = input.byte();
    if which & FRAMED == 0 {
        return content(which, input.0);
    }
    // With the checksum that `seal` gives to these bytes, if they are a frame's.
    let frame = sealed(input.0);
    if let Ok(Sealed { header, content: inner }) = SUMS.open("sums", &frame) {
        assert!(!header.contains('\n'));
        content(which, inner);
    }
}

/// The bytes with the checksum of a frame behind them.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut frame = bytes.to_vec();
    frame.extend(truebleu_kernel::checksummed_frame::checksum(bytes));
    frame
}

/// The sums in a frame.
fn content(which: u8, bytes: &[u8]) {
    let types = types(which);
    let names = names(&types);
    let read = |bytes: &[u8]| from_bytes(&names, Some(types.clone()), &metrics(), bytes).ok();
    let Some(groups) = read(bytes) else { return };
    // A group has a length, three counts, two bounds and its totals at least.
    assert!(groups.len() <= bytes.len() / (4 + 24 + 8 + 8 * WIDTH));
    let written = to_bytes(&groups);
    assert_eq!(written.len(), bytes.len());
    let again = read(&written).expect("what was written is read");
    assert_eq!(to_bytes(&again), written);
    for group in 0..groups.len() {
        let totals = groups.totals(group);
        assert!(0 <= totals[1] && totals[1] <= totals[0], "{totals:?}");
    }
}
