//! MeCab segmentation with a small dictionary, intact and damaged.

mod common;

use proptest::prelude::*;
use std::collections::BTreeMap;
use truebleu_kernel::lex::mecab::{DictionaryFiles, FileBytes, MecabDictionary};

/// A word: spelling, left type, right type, part of speech, cost.
type Word<'a> = (&'a str, u16, u16, u16, i16);

/// Return a word list in MeCab's format. Each state of its double array has a separate base, so
/// that no children overlap.
fn encode_lexicon(kind: u32, words: &[Word<'_>]) -> Vec<u8> {
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
            for field_value in [left, right, part, cost as u16, 0, 0, 0, 0] {
                entries.extend(field_value.to_le_bytes());
            }
        }
    }
    let array: Vec<u8> = array
        .into_iter()
        .flat_map(|(next, owner)| [next as u32, owner])
        .flat_map(u32::to_le_bytes)
        .collect();
    let size = 72 + array.len() + entries.len();
    let counts = [words.len(), WORD_TYPES, WORD_TYPES, array.len(), entries.len(), 0, 0];
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

/// Number of word types.
const WORD_TYPES: usize = 3;

/// The character types: the name, whether runs are words, whether words are generated even if the
/// dictionary has words, and the maximum length of words that are not runs.
const CHARACTER_TYPES: [(&str, bool, bool, u32); 4] = [
    ("DEFAULT", true, false, 0),
    ("SPACE", true, false, 0),
    ("K", true, true, 2),
    ("D", false, false, 3),
];

/// Return the type of a character.
fn character_type(point: u32) -> usize {
    match char::from_u32(point) {
        Some(' ' | '\t') => 1,
        Some('ア'..='ン') => 2,
        Some('0'..='9') => 3,
        _ => 0,
    }
}

/// Return the files of a dictionary.
fn dictionary_files() -> [Vec<u8>; 5] {
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
    let generated_words = CHARACTER_TYPES.map(|(name, ..)| (name, 1, 1, 5, 1000));
    // The connection from type 1 to type 2 is expensive.
    let costs = [0i16, 0, 0, 0, 0, 0, 0, 500, 0];
    let mut matrix = vec![WORD_TYPES as u8, 0, WORD_TYPES as u8, 0];
    matrix.extend(costs.into_iter().flat_map(i16::to_le_bytes));
    let mut characters = (CHARACTER_TYPES.len() as u32).to_le_bytes().to_vec();
    for (name, ..) in CHARACTER_TYPES {
        let mut padded = [0; 32];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        characters.extend(padded);
    }
    for point in 0..0xFFFF {
        let kind = character_type(point);
        let (_, groups_runs, always_generates, length) = CHARACTER_TYPES[kind];
        let bits = 1 << kind
            | (kind as u32) << 18
            | length << 26
            | u32::from(groups_runs) << 30
            | u32::from(always_generates) << 31;
        characters.extend(bits.to_le_bytes());
    }
    let settings = b"; a comment\nleft-space-penalty-factor = 6,700\n".to_vec();
    [encode_lexicon(0, &words), encode_lexicon(2, &generated_words), matrix, characters, settings]
}

/// Create a dictionary.
fn create_dictionary(files: [Vec<u8>; 5]) -> Result<MecabDictionary, (&'static str, String)> {
    let [words, unknown, matrix, characters, settings] = files.map(FileBytes::Owned);
    MecabDictionary::new(DictionaryFiles { words, unknown, matrix, characters, settings })
}

/// Return the tokens of a text.
fn tokenize<'a>(dictionary: &MecabDictionary, text: &'a str) -> Vec<&'a str> {
    let mut tokens = Vec::new();
    dictionary.tokenize(text.as_bytes(), |start, end| tokens.push(&text[start..end]));
    tokens
}

#[test]
fn test_cheapest_words_are_found() {
    let dictionary = create_dictionary(dictionary_files()).unwrap();
    assert_eq!(dictionary.word_count(), 8);
    dictionary.check_data().unwrap();
    for (text, expected) in [
        ("", &[][..]),
        // "a" and "b" cost as much as "ab"; the most recently connected word wins.
        ("ab", &["a", "b"]),
        ("東京", &["東京"]),
        ("東 京", &["東", "京"]),
        // After white space, "東京" has a penalty.
        ("a 東京", &["a", "東", "京"]),
        // A word that contains white space is two tokens.
        ("b\u{3000}c", &["b", "c"]),
        // Runs of other characters, up to 25 characters long.
        ("xyz", &["xyz"]),
        ("アイウ", &["アイウ"]),
        ("12345", &["123", "45"]),
        ("a\0b", &["a"]),
        ("a😀b", &["a", "😀b"]),
    ] {
        assert_eq!(tokenize(&dictionary, text), expected, "{text:?}");
    }
    let long = "z".repeat(26);
    assert_eq!(tokenize(&dictionary, &long[1..]), [&long[1..]]);
    assert_eq!(tokenize(&dictionary, &long), ["z", &long[1..]]);
}

#[test]
fn test_checksum_depends_on_every_relevant_byte() {
    let files = dictionary_files();
    let original_checksum = create_dictionary(files.clone()).unwrap().checksum();
    for file in 0..4 {
        let length = files[file].len();
        // The header of the words is validated separately.
        let first = if file == 0 { 72 } else { 0 };
        for position in (first..length).step_by(1 + length / 60) {
            let mut changed = files.clone();
            changed[file][position] ^= 0x10;
            if let Ok(changed) = create_dictionary(changed) {
                assert_ne!(changed.checksum(), original_checksum, "file {file}, byte {position}");
            }
        }
    }
    let mut changed = files.clone();
    changed[4] = b"left-space-penalty-factor = 6,701".to_vec();
    assert_ne!(create_dictionary(changed).unwrap().checksum(), original_checksum);
}

#[test]
fn test_truncated_files_fail() {
    for file in 0..4 {
        for length in [0, 3, 4, 40, 71, 72, 80] {
            let mut cut = dictionary_files();
            cut[file].truncate(length.min(cut[file].len() - 1));
            assert_eq!(
                create_dictionary(cut).err().map(|(name, _)| name),
                Some(DictionaryFiles::NAMES[file])
            );
        }
    }
}

#[test]
fn test_check_finds_invalid_references() {
    for (offset, byte) in [(-16, 3), (-14, 3), (-128, 9)] {
        let mut changed = dictionary_files();
        let position = changed[0].len().wrapping_add_signed(offset);
        changed[0][position] = byte;
        let dictionary = create_dictionary(changed).unwrap();
        assert!(dictionary.check_data().is_err());
        assert_eq!(tokenize(&dictionary, "東京").concat(), "東京");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn test_damaged_dictionary_does_not_break_tokenization(
        file in 0..5usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        near_start in any::<bool>(),
        text in prop::collection::vec(
            prop::sample::select(vec!["a", "b", "ab", "東", "京", " ", "\u{3000}", "アイ", "z", "1", "😀", "\0"]),
            0..30,
        ).prop_map(|pieces| pieces.concat()),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut changed = dictionary_files();
        let length = changed[file].len();
        for (index, byte) in changes {
            changed[file][index.index(if near_start { length.min(160) } else { length })] = byte;
        }
        if let Ok(dictionary) = create_dictionary(changed) {
            for text in [text.as_bytes(), &bytes] {
                let mut total = 0;
                dictionary.tokenize(text, |start, end| total += text[start..end].len());
                prop_assert!(total <= text.len());
            }
            let _ = dictionary.check_data();
        }
    }
}
