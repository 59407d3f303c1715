//! MeCab dictionaries with arbitrary contents either fail, or split any text into tokens that are
//! parts of it.

use crate::input::Input;
use crate::make::{self, Random};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::OnceLock;
use truebleu_kernel::lex::mecab::{DictionaryFiles, FileBytes, MecabDictionary};

/// Make an input: whether all data are checked; the number of changes; the file, the position and
/// the new byte of each; then the text.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let changes = random.below(7);
    out.extend([random.next_bits() as u8, changes as u8]);
    for _ in 0..changes {
        let file = random.below(5);
        let contents = &dictionary_files()[file];
        // Most of the character table is for characters that do not occur.
        let position = match random.below(3) {
            0 => random.below(contents.len()),
            1 => random.below(contents.len().min(160)),
            // Word lists end with the entries.
            _ => contents.len() - 1 - random.below(contents.len().min(400)),
        };
        let value = match random.below(3) {
            0 => contents[position] ^ 1 << random.below(8),
            1 => *random.choose(&[0, 1, 0x7F, 0x80, 0xFF]),
            _ => random.next_bits() as u8,
        };
        out.push(file as u8);
        out.extend(&(position as u32).to_le_bytes()[..3]);
        out.push(value);
    }
    const PIECES: &[&str] =
        &["a", "b", "ab", "東", "京", "東京", " ", "\u{3000}", "アイ", "ア", "z", "1", "😀", "\0"];
    for _ in 0..random.length(40) {
        out.extend_from_slice(random.choose(PIECES).as_bytes());
    }
    if random.once_in(4) {
        make::append_text(random, 40, out);
    }
}

/// Number of word types.
const WORD_TYPES: usize = 3;

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
    let base = |state: &[u8]| 1 + 257 * states.binary_search(&state).unwrap_or(0);
    let mut array = vec![0; 8 * (1 + 257 * states.len())];
    let mut write_unit = |place: usize, next: i32, owner: usize| {
        array[8 * place..][..4].copy_from_slice(&next.to_le_bytes());
        array[8 * place + 4..][..4].copy_from_slice(&(owner as u32).to_le_bytes());
    };
    write_unit(0, base(b"") as i32, 0);
    for state in &states[1..] {
        let (last, above) = state.split_last().unwrap();
        write_unit(base(above) + usize::from(*last) + 1, base(state) as i32, base(above));
    }
    let mut entries = Vec::new();
    for (spelling, words) in &spellings {
        let value = (entries.len() / 16) << 8 | words.len();
        write_unit(base(spelling), -(value as i32) - 1, base(spelling));
        for &(_, left, right, part, cost) in words {
            for field in [left, right, part, cost as u16, 0, 0, 0, 0] {
                entries.extend(field.to_le_bytes());
            }
        }
    }
    let size = (72 + array.len() + entries.len()) as u32;
    let counts = [words.len(), WORD_TYPES, WORD_TYPES, array.len(), entries.len(), 0, 0];
    let fields = [size ^ 0xEF71_8F77, 102, kind].into_iter().chain(counts.map(|n| n as u32));
    let mut file: Vec<u8> = fields.flat_map(u32::to_le_bytes).collect();
    file.extend(b"utf8");
    file.resize(72, 0);
    file.extend(array);
    file.extend(entries);
    file
}

/// Return the files of a dictionary of a few words.
fn dictionary_files() -> &'static [Vec<u8>; 5] {
    static FILES: OnceLock<[Vec<u8>; 5]> = OnceLock::new();
    FILES.get_or_init(|| {
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
        // For each character type: whether runs are words, whether words are generated even if the
        // dictionary has words, and the maximum length of words that are not runs.
        let kinds = [
            ("DEFAULT", true, false, 0),
            ("SPACE", true, false, 0),
            ("K", true, true, 2),
            ("D", false, false, 3),
        ];
        let generated_words = kinds.map(|(name, ..)| (name, 1, 1, 5, 1000));
        let costs = [0i16, 0, 0, 0, 0, 0, 0, 500, 0];
        let mut matrix = vec![WORD_TYPES as u8, 0, WORD_TYPES as u8, 0];
        matrix.extend(costs.into_iter().flat_map(i16::to_le_bytes));
        let mut characters = (kinds.len() as u32).to_le_bytes().to_vec();
        for (name, ..) in kinds {
            let mut padded = [0; 32];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            characters.extend(padded);
        }
        let type_bits = |kind: usize| {
            let (_, groups_runs, always_generates, length) = kinds[kind];
            let bits = 1 << kind | (kind as u32) << 18 | length << 26;
            (bits | u32::from(groups_runs) << 30 | u32::from(always_generates) << 31).to_le_bytes()
        };
        let first = characters.len();
        characters.extend(type_bits(0).repeat(0xFFFF));
        let mut set_types = |point: char, kind| {
            characters[first + 4 * point as usize..][..4].copy_from_slice(&type_bits(kind));
        };
        [' ', '\t'].into_iter().for_each(|space| set_types(space, 1));
        ('ア'..='ン').for_each(|point| set_types(point, 2));
        ('0'..='9').for_each(|digit| set_types(digit, 3));
        let settings = b"left-space-penalty-factor = 6,700\nmax-grouping-size = 24\n".to_vec();
        [
            encode_lexicon(0, &words),
            encode_lexicon(2, &generated_words),
            matrix,
            characters,
            settings,
        ]
    })
}

/// A copy of the files for changes, and the changes so far: the file, the position, and the
/// original byte.
#[derive(Default)]
struct ChangedFiles {
    files: Option<[Vec<u8>; 5]>,
    changes: Vec<(usize, usize, u8)>,
}

thread_local! {
    static CHANGED_FILES: Cell<ChangedFiles> = Cell::default();
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let checks_data = input.below(8) == 0;
    // The files are large, so they are copied once, and changes are reverted.
    let mut changed = CHANGED_FILES.take();
    let mut files = changed.files.take().unwrap_or_else(|| dictionary_files().clone());
    for (file, position, byte) in changed.changes.drain(..).rev() {
        files[file][position] = byte;
    }
    for _ in 0..input.below(7) {
        let file = input.below(5);
        let position = u32::from_le_bytes([input.byte(), input.byte(), input.byte(), 0]) as usize;
        let place = position % files[file].len();
        changed.changes.push((file, place, files[file][place]));
        files[file][place] = input.byte();
    }
    split_with_dictionary(&files, input.0, checks_data);
    changed.files = Some(files);
    CHANGED_FILES.set(changed);
}

/// Read the files as a dictionary, and split a text with it.
fn split_with_dictionary(files: &[Vec<u8>; 5], text: &[u8], checks_data: bool) {
    // SAFETY: the dictionary is dropped at the end of this function, before the files.
    let borrow_static = |file: &[u8]| FileBytes::Static(unsafe { &*ptr::from_ref(file) });
    let [words, unknown, matrix, characters, settings] =
        files.each_ref().map(|file| borrow_static(file));
    let files = DictionaryFiles { words, unknown, matrix, characters, settings };
    let Ok(dictionary) = MecabDictionary::new(files) else { return };
    let mut last = 0;
    dictionary.tokenize(text, |start, end| {
        assert!(last <= start && start < end && end <= text.len());
        last = end;
    });
    let mut last = 0;
    dictionary.split_words(text, |start, end| {
        assert!(last <= start && start < end && end <= text.len());
        last = end;
    });
    if checks_data {
        let _ = dictionary.check_data();
    }
}
