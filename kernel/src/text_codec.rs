//! Texts for a page, segment by segment, with a number of two bytes for each frequent word.
//!
//! Deflate finds repetitions, but spells every word anew after 32 KiB, and needs three bytes to say
//! that one occurs again. What it makes of numbers is a quarter smaller, in half the time.
//! `truebleu/reports/payload.py` describes the bytes; `data.js` of the report reads them.

use crate::ids::TokenNumbers;
use crate::interrupt::Work;
use crate::tokens::HASHED;
use xxhash_rust::xxh3::xxh3_64;

/// Behind each text.
pub const END: u8 = 0xFF;
/// In the place of a text that there is not.
pub const ABSENT: u8 = 0xFE;
/// Before the length of a piece that is no frequent word, and not of ASCII alone.
pub const SPELLED: u8 = 0xFD;
/// From this byte on, one is the first of a number.
pub const NUMBER: u8 = 0x80;

/// As many words as numbers of two bytes can tell apart.
const MOST: usize = (SPELLED - NUMBER) as usize * 256;
/// The longest piece.
const LONGEST: usize = u8::MAX as usize;
/// Bytes of the texts in which words are counted: more hardly change which are frequent.
const SAMPLE: usize = 4 << 20;

/// Columns of texts, one of the same segment behind the other.
pub struct Columns<'a>(pub Vec<Vec<Option<&'a [u8]>>>);

impl<'a> Columns<'a> {
    /// The bytes of each column's texts.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|column| column.iter().flatten().map(|text| text.len()).sum())
    }

    /// All in bytes: the dictionary, then the texts. No column has 4 GiB.
    pub fn written(&self) -> Vec<u8> {
        let sizes: Vec<usize> = self.sizes().collect();
        let frequent = frequent(self, sizes.iter().sum());
        let mut bytes = Vec::with_capacity(sizes.iter().sum::<usize>() / 2);
        bytes.extend((frequent.len() as u32).to_le_bytes());
        bytes.extend(sizes.iter().flat_map(|&size| (size as u32).to_le_bytes()));
        let mut words = Words::default();
        for word in frequent {
            words.number(word);
            bytes.push(word.len() as u8);
            bytes.extend(word);
        }
        let mut work = Work::default();
        for text in self.texts(1) {
            work.done(text.map_or(1, <[u8]>::len));
            match text {
                Some(text) => {
                    words.write(text, &mut bytes);
                    bytes.push(END);
                }
                None => bytes.push(ABSENT),
            }
        }
        bytes
    }

    /// The texts of every so many segments, all of one behind each other.
    fn texts(&self, step: usize) -> impl Iterator<Item = Option<&'a [u8]>> {
        let segments = (0..self.0.first().map_or(0, Vec::len)).step_by(step);
        segments.flat_map(|i| self.0.iter().map(move |column| column[i]))
    }
}

/// The frequent words of columns of so many bytes, the most frequent first.
fn frequent<'a>(columns: &Columns<'a>, bytes: usize) -> Vec<&'a [u8]> {
    let step = bytes.div_ceil(SAMPLE).max(1);
    let mut known = Words::default();
    let mut found: Vec<(usize, &[u8])> = Vec::new();
    let mut work = Work::default();
    for text in columns.texts(step).flatten() {
        for piece in pieces(text).filter(|piece| is_worth_a_number(piece)) {
            work.done(piece.len());
            let (number, new) = known.number(piece);
            if new {
                found.push((0, piece));
            }
            found[number as usize].0 += 1;
        }
    }
    // In the dictionary a word stands once more.
    found.retain(|&(count, word)| count > 1 && saved(count * step, word) > word.len() + 1);
    found.sort_unstable_by_key(|&(count, word)| (usize::MAX - saved(count, word), word));
    found.truncate(MOST);
    found.sort_unstable_by_key(|&(count, word)| (usize::MAX - count, word));
    found.into_iter().map(|(_, word)| word).collect()
}

/// Words that have numbers.
#[derive(Default)]
struct Words {
    numbers: TokenNumbers,
    list: List,
}

/// Words one behind the other, and where each ends: what is looked up often lies close together.
#[derive(Default)]
struct List {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl List {
    fn word(&self, number: u32) -> &[u8] {
        let (i, ends) = (number as usize, &self.ends);
        &self.bytes[i.checked_sub(1).map_or(0, |i| ends[i] as usize)..ends[i] as usize]
    }
}

impl Words {
    /// The number of a word, and whether it is new.
    fn number(&mut self, word: &[u8]) -> (u32, bool) {
        let Self { numbers, list } = self;
        let next = list.ends.len() as u32;
        let found = numbers.number(key(word, word.len()), word, next, |i| list.word(i) == word);
        if found.1 {
            list.bytes.extend(word);
            list.ends.push(list.bytes.len() as u32);
        }
        found
    }

    /// Writes a text.
    fn write(&self, text: &[u8], bytes: &mut Vec<u8>) {
        let mut rest = text;
        for piece in pieces(text) {
            if is_worth_a_number(piece) {
                let known = |i| self.list.word(i) == piece;
                if let Some(number) = self.numbers.find(key(rest, piece.len()), piece, known) {
                    bytes.extend([NUMBER + (number >> 8) as u8, number as u8]);
                } else {
                    if !piece.is_ascii() {
                        bytes.extend([SPELLED, piece.len() as u8]);
                    }
                    bytes.extend(piece);
                }
            } else {
                bytes.extend(piece);
            }
            rest = &rest[piece.len()..];
        }
    }
}

/// The word of so many bytes that a text begins with: itself and its length if it is short, or a hash.
fn key(text: &[u8], length: usize) -> u64 {
    if length > 7 {
        return xxh3_64(&text[..length]) >> 8 | HASHED;
    }
    let eight = match text.first_chunk() {
        Some(eight) => *eight,
        None => std::array::from_fn(|i| text.get(i).copied().unwrap_or(0)),
    };
    u64::from_le_bytes(eight) & ((1 << (8 * length)) - 1) | (length as u64) << 56
}

/// True for a piece that is longer than a number.
fn is_worth_a_number(piece: &[u8]) -> bool {
    piece.len() > 2 || !piece.is_ascii()
}

/// The bytes that a number saves for a word that occurs so often.
fn saved(count: usize, word: &[u8]) -> usize {
    count * (word.len() - if word.is_ascii() { 2 } else { 0 })
}

/// Text in pieces: words, with the space before one; characters of scripts without spaces; all else
/// byte by byte.
fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = *text.get(start)?;
        let from = start;
        let mut end = start + usize::from(first == b' ');
        while end < text.len() && end - from < LONGEST && is_of_word(text[end]) {
            end += 1;
        }
        if end == from {
            // Most of what begins so is punctuation, or a character of Chinese, Japanese or Korean.
            end += match first {
                0xF0.. => 4,
                0x80.. => 3,
                _ => 1,
            };
        }
        start = end.min(text.len());
        Some(&text[from..start])
    })
}

/// True for letters and digits of ASCII, and bytes of characters that come before U+2000.
fn is_of_word(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = (byte as u8).is_ascii_alphanumeric() || (0x80 <= byte && byte < 0xE2);
            byte += 1;
        }
        table
    };
    TABLE[usize::from(byte)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The texts again, in columns.
    fn read(bytes: &[u8], columns: usize) -> Vec<Vec<Option<Vec<u8>>>> {
        let number = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
        let mut at = 4 + 4 * columns;
        let mut words = Vec::new();
        for _ in 0..number(0) {
            let end = at + 1 + usize::from(bytes[at]);
            words.push(&bytes[at + 1..end]);
            at = end;
        }
        let mut found = vec![Vec::new(); columns];
        let mut text = Vec::new();
        let mut rest = bytes[at..].iter().copied();
        let mut count = 0;
        while let Some(byte) = rest.next() {
            match byte {
                END | ABSENT => {
                    let text = std::mem::take(&mut text);
                    found[count % columns].push((byte == END).then_some(text));
                    count += 1;
                }
                SPELLED => {
                    let length = usize::from(rest.next().unwrap());
                    text.extend(rest.by_ref().take(length));
                }
                NUMBER.. => {
                    let low = usize::from(rest.next().unwrap());
                    text.extend(words[usize::from(byte - NUMBER) << 8 | low]);
                }
                _ => text.push(byte),
            }
        }
        for (role, column) in found.iter().enumerate() {
            assert_eq!(column.iter().flatten().map(Vec::len).sum::<usize>(), number(4 + 4 * role));
        }
        found
    }

    fn check(columns: &[Vec<Option<Vec<u8>>>]) -> usize {
        let given = |column: &Vec<Option<Vec<u8>>>| -> Vec<Option<Vec<u8>>> { column.clone() };
        let borrowed = columns.iter().map(|column| column.iter().map(Option::as_deref).collect());
        let written = Columns(borrowed.collect()).written();
        assert_eq!(read(&written, columns.len()), columns.iter().map(given).collect::<Vec<_>>());
        written.len()
    }

    fn texts(texts: &[&str]) -> Vec<Option<Vec<u8>>> {
        texts.iter().map(|text| Some(text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn texts_come_back_and_repeated_words_take_two_bytes() {
        let text = "The committee decided that the committee's budget, 1,234 euros, is spent.";
        assert!(check(&[texts(&[text; 50]), texts(&[text; 50])]) < 100 * text.len() * 6 / 10);
        let chinese = "委员会决定，委员会的预算已经用完。";
        assert!(check(&[texts(&[chinese; 50])]) < 50 * chinese.len() * 8 / 10);
        check(&[texts(&["Žluťoučký kůň", "Жёлтый конь", "노란 말", "🐎 🐎🐎", "", " ", "  a  "])]);
    }

    #[test]
    fn what_is_missing_and_what_is_no_text_comes_back() {
        check(&[]);
        check(&[vec![]]);
        check(&[vec![None, Some(vec![]), Some(vec![0xFF, 0xFE, 0xFD, 0x80, 0, b' ', 0xF0])]]);
        check(&[vec![Some(vec![b'a'; 1000]); 3], vec![Some(vec![0xC3; 1000]), None, None]]);
    }

    #[test]
    fn more_words_than_there_are_numbers() {
        let words = (0..2 * MOST).map(|i| format!("word{i} word{i} "));
        check(&[texts(&[&words.collect::<String>()])]);
    }

    #[test]
    fn words_are_counted_in_a_part_of_large_texts() {
        let line = "the same words again and again in a line that is long enough ".repeat(20);
        let lines = vec![Some(line.into_bytes()); SAMPLE / 400];
        assert!(check(std::slice::from_ref(&lines)) < lines.len() * 600);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(columns in proptest::collection::vec(
            proptest::collection::vec(proptest::option::of(
                proptest::collection::vec(prop_oneof![any::<u8>(), Just(b' '), Just(b'a'), Just(0xE4), Just(0xC3)], 0..30)
            ), 4), 1..4,
        )) {
            check(&columns);
        }
    }
}
