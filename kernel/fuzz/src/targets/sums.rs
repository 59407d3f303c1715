//! Sums as bytes: what is taken comes out as it went in, and nothing else is taken.

use crate::input::Input;
use crate::make::{self, Random};
use truebleu_kernel::arrow::key::KeyType;
use truebleu_kernel::groups::exchange::{from_bytes, to_bytes};
use truebleu_kernel::groups::totals::{Counts, Groups};

/// The columns of keys that an input may have.
fn types(which: u8) -> Vec<KeyType> {
    match which % 8 {
        0 => vec![],
        1 => vec![KeyType::Text],
        2 => vec![KeyType::Integer(b'l'), KeyType::Text],
        3 => vec![KeyType::Null, KeyType::Boolean],
        4 => vec![KeyType::Float(b'g'), KeyType::Binary],
        5 => vec![KeyType::Fixed(3), KeyType::Number("tdD".to_owned(), 4)],
        6 => vec![KeyType::Integer(b'C')],
        _ => vec![KeyType::Text, KeyType::Text],
    }
}

/// The columns of totals.
const WIDTH: usize = 2;

fn names(types: &[KeyType]) -> Vec<String> {
    (0..types.len()).map(|i| format!("k{i}")).collect()
}

/// An input: the types of keys; then sums, whole or damaged.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let which = random.next() as u8;
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
        let row = [random.below(9) as i64, *random.of(&[0, 4, 1 << 40])];
        let _ = groups.add(group, &row);
    }
    let mut bytes = to_bytes(&groups);
    if !random.once_in(4) {
        make::damage(random, &mut bytes);
    }
    out.append(&mut bytes);
}

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
        KeyType::Number(_, width) | KeyType::Fixed(width) => *width,
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
    let types = types(input.byte());
    let names = names(&types);
    let read = |bytes: &[u8]| from_bytes(&names, Some(types.clone()), WIDTH, bytes);
    let Some(groups) = read(input.0) else { return };
    // A group has a length, three counts, two bounds and its totals at least.
    assert!(groups.len() <= input.0.len() / (4 + 24 + 8 + 8 * WIDTH));
    let bytes = to_bytes(&groups);
    assert_eq!(bytes.len(), input.0.len());
    let again = read(&bytes).expect("what was written is read");
    assert_eq!(to_bytes(&again), bytes);
    assert_eq!(again.len(), groups.len());
}
