//! MeCab's words by a dictionary of a few words, whole and damaged.

mod common;

use proptest::prelude::*;
use std::collections::BTreeMap;
use truebleu_kernel::lex::mecab::{Bytes, Dictionary, Files};

/// A word: spelling, kind to its left and to its right neighbour, part of speech, cost.
type Word<'a> = (&'a str, u16, u16, u16, i16);

/// A list of words in the form of MeCab's. Each state of its double array has a place of its own, at
/// which no other has followers.
fn lexicon(kind: u32, words: &[Word<'_>]) -> Vec<u8> {
    let mut spellings: BTreeMap<&[u8], Vec<Word<'_>>> = BTreeMap::new();
    for word in words {
        spellings.entry(word.0.as_bytes()).or_default().push(*word);
    }
    let mut states: Vec<&[u8]> = vec![b""];
    for spelling in spellings.keys() {
        states.extend((1..=spelling.len()).map(|length| &spelling[..length]));
    }
    states.sort_unstable();
    states.dedup();
    let base = |state: &[u8]| 1 + 257 * states.binary_search(&state).unwrap();
    let mut array = vec![(0i32, 0u32); 1 + 257 * states.len()];
    array[0].0 = base(b"") as i32;
    for state in &states[1..] {
        let (last, above) = state.split_last().unwrap();
        array[base(above) + usize::from(*last) + 1] = (base(state) as i32, base(above) as u32);
    }
    let mut entries = Vec::new();
    for (spelling, words) in &spellings {
        let value = (entries.len() / 16) << 8 | words.len();
        array[base(spelling)] = (-(value as i32) - 1, base(spelling) as u32);
        for &(_, left, right, part, cost) in words {
            for half in [left, right, part, cost as u16, 0, 0, 0, 0] {
                entries.extend(half.to_le_bytes());
            }
        }
    }
    let array: Vec<u8> = array
        .into_iter()
        .flat_map(|(next, owner)| [next as u32, owner])
        .flat_map(u32::to_le_bytes)
        .collect();
    let size = 72 + array.len() + entries.len();
    let counts = [words.len(), KINDS, KINDS, array.len(), entries.len(), 0, 0];
    let mut file = Vec::new();
    for field in [size as u32 ^ 0xEF71_8F77, 102, kind].into_iter().chain(counts.map(|n| n as u32))
    {
        file.extend(field.to_le_bytes());
    }
    file.extend(b"utf8");
    file.resize(72, 0);
    file.extend(array);
    file.extend(entries);
    file
}

/// The kinds of words.
const KINDS: usize = 3;

/// The kinds of characters: names; and whether their runs are words, whether words are made up even
/// where there are some, and the longest of those that are no run.
const CHARACTERS: [(&str, bool, bool, u32); 4] = [
    ("DEFAULT", true, false, 0),
    ("SPACE", true, false, 0),
    ("K", true, true, 2),
    ("D", false, false, 3),
];

fn kind_of(point: u32) -> usize {
    match char::from_u32(point) {
        Some(' ' | '\t') => 1,
        Some('ア'..='ン') => 2,
        Some('0'..='9') => 3,
        _ => 0,
    }
}

/// The files of a dictionary.
fn files() -> [Vec<u8>; 5] {
    let words: [Word<'_>; 8] = [
        ("a", 1, 1, 5, 100),
        ("ab", 1, 1, 5, 150),
        ("b", 1, 1, 5, 50),
        ("東", 1, 1, 5, 100),
        ("東京", 1, 2, 6, 120),
        ("京", 2, 1, 5, 10),
        ("b\u{3000}c", 1, 1, 5, 10),
        ("アイ", 1, 1, 5, 2000),
    ];
    let made_up = CHARACTERS.map(|(name, ..)| (name, 1, 1, 5, 1000));
    // From kind 1 to kind 2 a step is dear.
    let costs = [0i16, 0, 0, 0, 0, 0, 0, 500, 0];
    let mut matrix = vec![KINDS as u8, 0, KINDS as u8, 0];
    matrix.extend(costs.into_iter().flat_map(i16::to_le_bytes));
    let mut characters = (CHARACTERS.len() as u32).to_le_bytes().to_vec();
    for (name, ..) in CHARACTERS {
        let mut padded = [0; 32];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        characters.extend(padded);
    }
    for point in 0..0xFFFF {
        let kind = kind_of(point);
        let (_, groups, always, length) = CHARACTERS[kind];
        let bits = 1 << kind
            | (kind as u32) << 18
            | length << 26
            | u32::from(groups) << 30
            | u32::from(always) << 31;
        characters.extend(bits.to_le_bytes());
    }
    let settings = b"; a comment\nleft-space-penalty-factor = 6,700\n".to_vec();
    [lexicon(0, &words), lexicon(2, &made_up), matrix, characters, settings]
}

fn dictionary(files: [Vec<u8>; 5]) -> Result<Dictionary, (&'static str, String)> {
    let [words, unknown, matrix, characters, settings] = files.map(Bytes::Owned);
    Dictionary::new(Files { words, unknown, matrix, characters, settings })
}

fn tokens<'a>(dictionary: &Dictionary, text: &'a str) -> Vec<&'a str> {
    let mut found = Vec::new();
    dictionary.tokenize(text.as_bytes(), |start, end| found.push(&text[start..end]));
    found
}

#[test]
fn the_cheapest_words_are_found() {
    let dictionary = dictionary(files()).unwrap();
    assert_eq!(dictionary.words(), 8);
    dictionary.check().unwrap();
    for (text, expected) in [
        ("", &[][..]),
        // "a" and "b" cost as much as "ab"; the word that was joined last is asked first.
        ("ab", &["a", "b"]),
        ("東京", &["東京"]),
        ("東 京", &["東", "京"]),
        // Behind white space "東京" is dear.
        ("a 東京", &["a", "東", "京"]),
        // A word with white space inside is two tokens.
        ("b\u{3000}c", &["b", "c"]),
        // Runs of other characters; of at most 25.
        ("xyz", &["xyz"]),
        ("アイウ", &["アイウ"]),
        ("12345", &["123", "45"]),
        ("a\0b", &["a"]),
        ("a😀b", &["a", "😀b"]),
    ] {
        assert_eq!(tokens(&dictionary, text), expected, "{text:?}");
    }
    let long = "z".repeat(26);
    assert_eq!(tokens(&dictionary, &long[1..]), [&long[1..]]);
    assert_eq!(tokens(&dictionary, &long), ["z", &long[1..]]);
}

#[test]
fn every_byte_that_counts_changes_the_checksum() {
    let files = files();
    let whole = dictionary(files.clone()).unwrap().checksum();
    for file in 0..4 {
        let length = files[file].len();
        // The header of the words is checked by itself.
        let first = if file == 0 { 72 } else { 0 };
        for at in (first..length).step_by(1 + length / 60) {
            let mut changed = files.clone();
            changed[file][at] ^= 0x10;
            if let Ok(changed) = dictionary(changed) {
                assert_ne!(changed.checksum(), whole, "file {file}, byte {at}");
            }
        }
    }
    let mut changed = files.clone();
    changed[4] = b"left-space-penalty-factor = 6,701".to_vec();
    assert_ne!(dictionary(changed).unwrap().checksum(), whole);
}

#[test]
fn files_of_other_sizes_are_refused() {
    for file in 0..4 {
        for length in [0, 3, 4, 40, 71, 72, 80] {
            let mut cut = files();
            cut[file].truncate(length.min(cut[file].len() - 1));
            assert_eq!(dictionary(cut).err().map(|(name, _)| name), Some(Files::NAMES[file]));
        }
    }
}

#[test]
fn what_points_outside_is_found_by_the_check() {
    for (at, byte) in [(-16, 3), (-14, 3), (-128, 9)] {
        let mut changed = files();
        let at = changed[0].len().wrapping_add_signed(at);
        changed[0][at] = byte;
        let dictionary = dictionary(changed).unwrap();
        assert!(dictionary.check().is_err());
        assert_eq!(tokens(&dictionary, "東京").concat(), "東京");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_damage_makes_it_fail(
        file in 0..5usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        near in any::<bool>(),
        text in prop::collection::vec(
            prop::sample::select(vec!["a", "b", "ab", "東", "京", " ", "\u{3000}", "アイ", "z", "1", "😀", "\0"]),
            0..30,
        ).prop_map(|pieces| pieces.concat()),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut changed = files();
        let length = changed[file].len();
        for (at, byte) in changes {
            changed[file][at.index(if near { length.min(160) } else { length })] = byte;
        }
        if let Ok(dictionary) = dictionary(changed) {
            for text in [text.as_bytes(), &bytes] {
                let mut total = 0;
                dictionary.tokenize(text, |start, end| total += text[start..end].len());
                prop_assert!(total <= text.len());
            }
            let _ = dictionary.check();
        }
    }
}
