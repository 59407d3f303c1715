//! Whatever is in a dictionary of MeCab's: it is refused, or any text has tokens that are parts of it.

use crate::input::Input;
use crate::make::{self, Random};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::OnceLock;
use truebleu_kernel::lex::mecab::{Bytes, Dictionary, Files};

/// An input: whether all is checked; the number of changes; of each the file, the place and the new byte; then the text.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let changes = random.below(7);
    out.extend([random.bits() as u8, changes as u8]);
    for _ in 0..changes {
        let file = random.below(5);
        let whole = &files()[file];
        // Most of the table of characters is of characters that no text has.
        let place = match random.below(3) {
            0 => random.below(whole.len()),
            1 => random.below(whole.len().min(160)),
            // Lists of words end with the entries.
            _ => whole.len() - 1 - random.below(whole.len().min(400)),
        };
        let value = match random.below(3) {
            0 => whole[place] ^ 1 << random.below(8),
            1 => *random.of(&[0, 1, 0x7F, 0x80, 0xFF]),
            _ => random.bits() as u8,
        };
        out.push(file as u8);
        out.extend(&(place as u32).to_le_bytes()[..3]);
        out.push(value);
    }
    const PIECES: &[&str] =
        &["a", "b", "ab", "東", "京", "東京", " ", "\u{3000}", "アイ", "ア", "z", "1", "😀", "\0"];
    for _ in 0..random.length(40) {
        out.extend_from_slice(random.of(PIECES).as_bytes());
    }
    if random.once_in(4) {
        make::text(random, 40, out);
    }
}

/// The kinds of words.
const KINDS: usize = 3;

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
    let base = |state: &[u8]| 1 + 257 * states.binary_search(&state).unwrap_or(0);
    let mut array = vec![0; 8 * (1 + 257 * states.len())];
    let mut put = |place: usize, next: i32, owner: usize| {
        array[8 * place..][..4].copy_from_slice(&next.to_le_bytes());
        array[8 * place + 4..][..4].copy_from_slice(&(owner as u32).to_le_bytes());
    };
    put(0, base(b"") as i32, 0);
    for state in &states[1..] {
        let (last, above) = state.split_last().unwrap();
        put(base(above) + usize::from(*last) + 1, base(state) as i32, base(above));
    }
    let mut entries = Vec::new();
    for (spelling, words) in &spellings {
        let value = (entries.len() / 16) << 8 | words.len();
        put(base(spelling), -(value as i32) - 1, base(spelling));
        for &(_, left, right, part, cost) in words {
            for half in [left, right, part, cost as u16, 0, 0, 0, 0] {
                entries.extend(half.to_le_bytes());
            }
        }
    }
    let size = (72 + array.len() + entries.len()) as u32;
    let counts = [words.len(), KINDS, KINDS, array.len(), entries.len(), 0, 0];
    let fields = [size ^ 0xEF71_8F77, 102, kind].into_iter().chain(counts.map(|n| n as u32));
    let mut file: Vec<u8> = fields.flat_map(u32::to_le_bytes).collect();
    file.extend(b"utf8");
    file.resize(72, 0);
    file.extend(array);
    file.extend(entries);
    file
}

/// The files of a dictionary of a few words.
fn files() -> &'static [Vec<u8>; 5] {
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
        // Whether runs of a kind are words, whether words are made up where there are some, and the
        // longest of those that are no run.
        let kinds = [
            ("DEFAULT", true, false, 0),
            ("SPACE", true, false, 0),
            ("K", true, true, 2),
            ("D", false, false, 3),
        ];
        let made_up = kinds.map(|(name, ..)| (name, 1, 1, 5, 1000));
        let costs = [0i16, 0, 0, 0, 0, 0, 0, 500, 0];
        let mut matrix = vec![KINDS as u8, 0, KINDS as u8, 0];
        matrix.extend(costs.into_iter().flat_map(i16::to_le_bytes));
        let mut characters = (kinds.len() as u32).to_le_bytes().to_vec();
        for (name, ..) in kinds {
            let mut padded = [0; 32];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            characters.extend(padded);
        }
        let bits = |kind: usize| {
            let (_, groups, always, length) = kinds[kind];
            let bits = 1 << kind | (kind as u32) << 18 | length << 26;
            (bits | u32::from(groups) << 30 | u32::from(always) << 31).to_le_bytes()
        };
        let first = characters.len();
        characters.extend(bits(0).repeat(0xFFFF));
        let mut put = |point: char, kind| {
            characters[first + 4 * point as usize..][..4].copy_from_slice(&bits(kind));
        };
        [' ', '\t'].into_iter().for_each(|space| put(space, 1));
        ('ア'..='ン').for_each(|point| put(point, 2));
        ('0'..='9').for_each(|digit| put(digit, 3));
        let settings = b"left-space-penalty-factor = 6,700\nmax-grouping-size = 24\n".to_vec();
        [lexicon(0, &words), lexicon(2, &made_up), matrix, characters, settings]
    })
}

/// A copy of the files to change, and its changes since: the file, the place, what was there.
#[derive(Default)]
struct Copy {
    files: Option<[Vec<u8>; 5]>,
    changes: Vec<(usize, usize, u8)>,
}

thread_local! {
    static COPY: Cell<Copy> = Cell::default();
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let also_checked = input.below(8) == 0;
    // The files are large, so they are copied once, and what was changed is put back.
    let mut copy = COPY.take();
    let mut files = copy.files.take().unwrap_or_else(|| files().clone());
    for (file, place, byte) in copy.changes.drain(..).rev() {
        files[file][place] = byte;
    }
    for _ in 0..input.below(7) {
        let file = input.below(5);
        let place = u32::from_le_bytes([input.byte(), input.byte(), input.byte(), 0]) as usize;
        let place = place % files[file].len();
        copy.changes.push((file, place, files[file][place]));
        files[file][place] = input.byte();
    }
    read(&files, input.0, also_checked);
    copy.files = Some(files);
    COPY.set(copy);
}

/// Reads the files as a dictionary's, and a text with it.
fn read(files: &[Vec<u8>; 5], text: &[u8], also_checked: bool) {
    // SAFETY: the dictionary is gone when this function ends, and the files are not.
    let there = |file: &[u8]| Bytes::Static(unsafe { &*ptr::from_ref(file) });
    let [words, unknown, matrix, characters, settings] = files.each_ref().map(|file| there(file));
    let files = Files { words, unknown, matrix, characters, settings };
    let Ok(dictionary) = Dictionary::new(files) else { return };
    let mut last = 0;
    dictionary.tokenize(text, |start, end| {
        assert!(last <= start && start < end && end <= text.len());
        last = end;
    });
    let mut last = 0;
    dictionary.split(text, |start, end| {
        assert!(last <= start && start < end && end <= text.len());
        last = end;
    });
    if also_checked {
        let _ = dictionary.check();
    }
}
