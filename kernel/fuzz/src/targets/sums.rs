//! Sums in bytes: accepted bytes round-trip exactly, and all other bytes fail.

use crate::input::Input;
use crate::make::{self, Random};
use truebleu_kernel::arrow::key::{KeyType, TimeKind};
use truebleu_kernel::checksummed_frame::{FrameParts, SUMS};
use truebleu_kernel::columns::ColumnRules;
use truebleu_kernel::groups::group_sums::{GroupSums, RowCounts};
use truebleu_kernel::groups::state_table::{StateMetrics, decode_groups, encode_groups};

/// Return the types of the key columns.
fn key_types(selector: u8) -> Vec<KeyType> {
    match selector % 8 {
        0 => vec![],
        1 => vec![KeyType::Text],
        2 => vec![KeyType::Integer(b'l'), KeyType::Text],
        3 => vec![KeyType::Null, KeyType::Boolean],
        4 => vec![KeyType::Float(b'g'), KeyType::Binary],
        5 => vec![KeyType::Fixed(3), KeyType::Date],
        6 => vec![KeyType::Decimal, KeyType::Time(TimeKind::Utc)],
        _ => vec![KeyType::Text, KeyType::Text],
    }
}

/// Number of columns of the sums.
const WIDTH: usize = 2;

/// Return one metric, whose columns are never negative, and whose second column never exceeds the
/// first.
fn state_metrics() -> StateMetrics {
    let names = vec!["all".to_owned(), "some".to_owned()];
    StateMetrics(vec![(
        "f".to_owned(),
        ColumnRules { names, signed: vec![], limits: vec![(1, 1, 0)] },
    )])
}

/// Return the names of the key columns.
fn key_names(types: &[KeyType]) -> Vec<String> {
    (0..types.len()).map(|i| format!("k{i}")).collect()
}

/// Make an input: the key types, then valid or damaged sums.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let selector = random.next_bits() as u8 & !FRAME_FLAG;
    out.push(selector);
    let types = key_types(selector);
    let mut groups = GroupSums::new(key_names(&types), WIDTH);
    groups.types = Some(types.clone());
    let mut key = Vec::new();
    for _ in 0..random.length(5) {
        key.clear();
        types.iter().for_each(|key_type| append_entry(random, key_type, &mut key));
        let (group, _) = groups.get_or_insert(&key);
        let segments = random.below(3) as i64;
        *groups.counts_mut(group) = RowCounts {
            segments,
            null_hypotheses: random.below(3) as i64,
            null_references: *random.choose(&[0, 1, i64::MAX]),
            references: (segments > 0).then(|| (1, 1 + random.below(3) as i32)),
        };
        let row = [*random.choose(&[4, 9, 1 << 40]), random.below(5) as i64];
        let _ = groups.add_row(group, &row);
    }
    let mut bytes = encode_groups(&groups);
    if !random.once_in(4) {
        make::damage(random, &mut bytes);
    }
    if random.once_in(8) {
        // Occasionally damage the frame, which gets a valid checksum later.
        let mut frame = SUMS.seal("{}", &bytes);
        frame.truncate(frame.len() - 8);
        make::damage(random, &mut frame);
        out[0] |= FRAME_FLAG;
        bytes = frame;
    }
    out.append(&mut bytes);
}

/// The bit of the first byte that announces a frame without checksum.
const FRAME_FLAG: u8 = 0x80;

/// Append an entry of a key.
fn append_entry(random: &mut Random, key_type: &KeyType, key: &mut Vec<u8>) {
    if random.once_in(4) || *key_type == KeyType::Null {
        return key.push(0);
    }
    key.push(1);
    let width = match key_type {
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
    let first_byte = random.below(3) as u8;
    key.extend((0..width).map(|i| if i == 0 { first_byte } else { 0 }));
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let selector = input.byte();
    if selector & FRAME_FLAG == 0 {
        return check_content(selector, input.0);
    }
    // Add a valid checksum, if these bytes are a frame.
    let frame = add_checksum(input.0);
    if let Ok(FrameParts { header, content: inner }) = SUMS.open("sums", &frame) {
        assert!(!header.contains('\n'));
        check_content(selector, inner);
    }
}

/// Append the checksum of a frame.
fn add_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut frame = bytes.to_vec();
    frame.extend(truebleu_kernel::checksummed_frame::checksum(bytes));
    frame
}

/// Check the sums in a frame.
fn check_content(selector: u8, bytes: &[u8]) {
    let types = key_types(selector);
    let names = key_names(&types);
    let decode =
        |bytes: &[u8]| decode_groups(&names, Some(types.clone()), &state_metrics(), bytes).ok();
    let Some(groups) = decode(bytes) else { return };
    // A group has at least a length, three counts, two bounds and its sums.
    assert!(groups.len() <= bytes.len() / (4 + 24 + 8 + 8 * WIDTH));
    let encoded = encode_groups(&groups);
    assert_eq!(encoded.len(), bytes.len());
    let decoded = decode(&encoded).expect("encoded sums can be decoded");
    assert_eq!(encode_groups(&decoded), encoded);
    for group in 0..groups.len() {
        let sums = groups.sums_of_group(group);
        assert!(0 <= sums[1] && sums[1] <= sums[0], "{sums:?}");
    }
}
