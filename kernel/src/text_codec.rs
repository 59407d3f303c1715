//! Encoding of texts for reports, with a two-byte code for each frequent word.
//!
//! Deflate finds repetitions, but repeats every word in full after 32 KiB and needs three bytes for
//! a back-reference. Encoded text is a quarter smaller after Deflate, which then takes half the
//! time. `truebleu/reports/payload.py` describes the format; the report's `data.js` decodes it.

use crate::ids::TokenIds;
use crate::interrupt::Work;
use crate::tokens::{HASHED, hashed_key};
use xxhash_rust::xxh3::xxh3_64;

/// The byte that ends each text.
pub const END: u8 = 0xFF;
/// The byte that represents a missing text.
pub const ABSENT: u8 = 0xFE;
/// The byte before the length of a non-ASCII piece that is not a frequent word.
pub const SPELLED: u8 = 0xFD;
/// The lowest byte that starts a code.
pub const FIRST_CODE: u8 = 0x80;

/// Number of words that two-byte codes can represent.
const MAX_WORDS: usize = (SPELLED - FIRST_CODE) as usize * 256;
/// Maximum length of a piece.
const MAX_PIECE_BYTES: usize = u8::MAX as usize;
/// Number of bytes of text from which frequent words are chosen. More text hardly changes the
/// choice.
const SAMPLE_BYTES: usize = 4 << 20;

/// Columns of texts, encoded segment by segment.
pub struct TextColumns<'a>(pub Vec<Vec<Option<&'a [u8]>>>);

impl<'a> TextColumns<'a> {
    /// Return the number of bytes in each column.
    pub fn column_sizes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|column| column.iter().flatten().map(|text| text.len()).sum())
    }

    /// Encode all columns: the dictionary, then the texts. Columns must be smaller than 4 GiB.
    pub fn encode(&self) -> Vec<u8> {
        let sizes: Vec<usize> = self.column_sizes().collect();
        let frequent_words = find_frequent_words(self, sizes.iter().sum());
        let mut bytes = Vec::with_capacity(sizes.iter().sum::<usize>() / 2);
        bytes.extend((frequent_words.len() as u32).to_le_bytes());
        bytes.extend(sizes.iter().flat_map(|&size| (size as u32).to_le_bytes()));
        let mut words = WordCodes::default();
        for word in frequent_words {
            words.get_or_assign_id(word);
            bytes.push(word.len() as u8);
            bytes.extend(word);
        }
        let mut work = Work::default();
        for text in self.iter_texts(1) {
            work.add(text.map_or(1, <[u8]>::len));
            match text {
                Some(text) => {
                    words.encode_text(text, &mut bytes);
                    bytes.push(END);
                }
                None => bytes.push(ABSENT),
            }
        }
        bytes
    }

    /// Yield the texts of every `step`-th segment, segment by segment.
    fn iter_texts(&self, step: usize) -> impl Iterator<Item = Option<&'a [u8]>> {
        let segments = (0..self.0.first().map_or(0, Vec::len)).step_by(step);
        segments.flat_map(|i| self.0.iter().map(move |column| column[i]))
    }
}

/// Return the frequent words of columns with `bytes` bytes in total, most frequent first.
fn find_frequent_words<'a>(columns: &TextColumns<'a>, bytes: usize) -> Vec<&'a [u8]> {
    let step = bytes.div_ceil(SAMPLE_BYTES).max(1);
    let mut word_codes = WordCodes::default();
    let mut word_counts: Vec<(usize, &[u8])> = Vec::new();
    let mut work = Work::default();
    for text in columns.iter_texts(step).flatten() {
        for piece in split_pieces(text).filter(|piece| is_worth_a_code(piece)) {
            work.add(piece.len());
            let (id, is_new) = word_codes.get_or_assign_id(piece);
            if is_new {
                word_counts.push((0, piece));
            }
            word_counts[id as usize].0 += 1;
        }
    }
    // The dictionary contains another copy of each word.
    word_counts
        .retain(|&(count, word)| count > 1 && saved_bytes(count * step, word) > word.len() + 1);
    word_counts
        .sort_unstable_by_key(|&(count, word)| (usize::MAX - saved_bytes(count, word), word));
    word_counts.truncate(MAX_WORDS);
    word_counts.sort_unstable_by_key(|&(count, word)| (usize::MAX - count, word));
    word_counts.into_iter().map(|(_, word)| word).collect()
}

/// The words that have codes.
#[derive(Default)]
struct WordCodes {
    ids: TokenIds,
    list: WordList,
}

/// Concatenated words and their ends, compact for frequent look-ups.
#[derive(Default)]
struct WordList {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl WordList {
    fn word(&self, number: u32) -> &[u8] {
        let (i, ends) = (number as usize, &self.ends);
        &self.bytes[i.checked_sub(1).map_or(0, |i| ends[i] as usize)..ends[i] as usize]
    }
}

impl WordCodes {
    /// Return the id of a word, and whether it is new.
    fn get_or_assign_id(&mut self, word: &[u8]) -> (u32, bool) {
        let Self { ids, list } = self;
        let next = list.ends.len() as u32;
        let id_and_is_new =
            ids.get_or_assign(word_key(word, word.len()), word, next, |i| list.word(i) == word);
        if id_and_is_new.1 {
            list.bytes.extend(word);
            list.ends.push(list.bytes.len() as u32);
        }
        id_and_is_new
    }

    /// Append the encoded text to `bytes`.
    fn encode_text(&self, text: &[u8], bytes: &mut Vec<u8>) {
        let mut remaining = text;
        for piece in split_pieces(text) {
            if is_worth_a_code(piece) {
                let is_piece = |i| self.list.word(i) == piece;
                if let Some(number) =
                    self.ids.find(word_key(remaining, piece.len()), piece, is_piece)
                {
                    bytes.extend([FIRST_CODE + (number >> 8) as u8, number as u8]);
                } else {
                    if !piece.is_ascii() {
                        bytes.extend([SPELLED, piece.len() as u8]);
                    }
                    bytes.extend(piece);
                }
            } else {
                bytes.extend(piece);
            }
            remaining = &remaining[piece.len()..];
        }
    }
}

/// Return the key of the first `length` bytes of a text: the bytes and their length if short,
/// otherwise a hash.
fn word_key(text: &[u8], length: usize) -> u64 {
    if length > 16 {
        return xxh3_64(&text[..length]) >> 8 | HASHED;
    }
    let first_bytes = match text.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => u64::from_le_bytes(std::array::from_fn(|i| text.get(i).copied().unwrap_or(0))),
    };
    match text[..length].last_chunk() {
        Some(last_bytes) => hashed_key(first_bytes, u64::from_le_bytes(*last_bytes), length),
        None => first_bytes & ((1 << (8 * length)) - 1) | (length as u64) << 56,
    }
}

/// Return whether a code would shorten a piece.
fn is_worth_a_code(piece: &[u8]) -> bool {
    piece.len() > 2 || !piece.is_ascii()
}

/// Return the number of bytes that a code saves for a word with `count` occurrences.
fn saved_bytes(count: usize, word: &[u8]) -> usize {
    count * (word.len() - if word.is_ascii() { 2 } else { 0 })
}

/// Split text into pieces: words with a preceding space, characters of scripts without spaces, and
/// single bytes.
fn split_pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = *text.get(start)?;
        let piece_start = start;
        let mut end = start + usize::from(first == b' ');
        end += word_length(&text[end..text.len().min(piece_start + MAX_PIECE_BYTES)]);
        if end == piece_start {
            // Most characters with such first bytes are punctuation, or Chinese, Japanese or
            // Korean.
            end += match first {
                0xF0.. => 4,
                0x80.. => 3,
                _ => 1,
            };
        }
        start = end.min(text.len());
        Some(&text[piece_start..start])
    })
}

/// Return the number of word bytes at the start of a text: ASCII letters and digits, and bytes of
/// characters below U+2000.
fn word_length(text: &[u8]) -> usize {
    let (chunks, rest) = text.as_chunks();
    // Loops over single bytes would end unpredictably.
    for (i, chunk) in chunks.iter().enumerate() {
        let other_bytes = find_other_bytes(u64::from_le_bytes(*chunk));
        if other_bytes != 0 {
            return 8 * i + other_bytes.trailing_zeros() as usize / 8;
        }
    }
    let last_bytes = std::array::from_fn(|i| rest.get(i).copied().unwrap_or(0));
    let other_bytes = find_other_bytes(u64::from_le_bytes(last_bytes));
    8 * chunks.len() + other_bytes.trailing_zeros() as usize / 8
}

/// Return the top bit of each of eight bytes that is not a word byte.
fn find_other_bytes(bytes: u64) -> u64 {
    const TOP: u64 = u64::from_le_bytes([0x80; 8]);
    let low = bytes & !TOP;
    // Return the top bit of each byte whose low seven bits are at least `first`.
    let at_least = |low: u64, first: u8| low + u64::from_le_bytes([0x80 - first; 8]);
    let lower_case = low | u64::from_le_bytes([0x20; 8]);
    let letters = at_least(lower_case, b'a') & !at_least(lower_case, b'z' + 1);
    let digits = at_least(low, b'0') & !at_least(low, b'9' + 1);
    let ascii = !bytes & (letters | digits);
    let non_ascii = bytes & !at_least(low, 0xE2 - 0x80);
    !(ascii | non_ascii) & TOP
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decode the texts, in columns.
    fn decode(bytes: &[u8], columns: usize) -> Vec<Vec<Option<Vec<u8>>>> {
        let read_u32 = |position: usize| {
            u32::from_le_bytes(*bytes[position..].first_chunk().unwrap()) as usize
        };
        let mut position = 4 + 4 * columns;
        let mut words = Vec::new();
        for _ in 0..read_u32(0) {
            let end = position + 1 + usize::from(bytes[position]);
            words.push(&bytes[position + 1..end]);
            position = end;
        }
        let mut decoded = vec![Vec::new(); columns];
        let mut text = Vec::new();
        let mut encoded = bytes[position..].iter().copied();
        let mut count = 0;
        while let Some(byte) = encoded.next() {
            match byte {
                END | ABSENT => {
                    let text = std::mem::take(&mut text);
                    decoded[count % columns].push((byte == END).then_some(text));
                    count += 1;
                }
                SPELLED => {
                    let length = usize::from(encoded.next().unwrap());
                    text.extend(encoded.by_ref().take(length));
                }
                FIRST_CODE.. => {
                    let low = usize::from(encoded.next().unwrap());
                    text.extend(words[usize::from(byte - FIRST_CODE) << 8 | low]);
                }
                _ => text.push(byte),
            }
        }
        for (role, column) in decoded.iter().enumerate() {
            let size: usize = column.iter().flatten().map(Vec::len).sum();
            assert_eq!(size, read_u32(4 + 4 * role));
        }
        decoded
    }

    /// Check that encoded texts decode to the same texts, and return the encoded size.
    fn assert_round_trip(columns: &[Vec<Option<Vec<u8>>>]) -> usize {
        let borrowed = columns.iter().map(|column| column.iter().map(Option::as_deref).collect());
        let encoded = TextColumns(borrowed.collect()).encode();
        assert_eq!(decode(&encoded, columns.len()), columns);
        encoded.len()
    }

    fn to_column(texts: &[&str]) -> Vec<Option<Vec<u8>>> {
        texts.iter().map(|text| Some(text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn test_round_trip_and_repeated_words_take_two_bytes() {
        let text = "The committee decided that the committee's budget, 1,234 euros, is spent.";
        let columns = [to_column(&[text; 50]), to_column(&[text; 50])];
        assert!(assert_round_trip(&columns) < 100 * text.len() * 6 / 10);
        let chinese = "委员会决定，委员会的预算已经用完。";
        assert!(assert_round_trip(&[to_column(&[chinese; 50])]) < 50 * chinese.len() * 8 / 10);
        let texts = ["Žluťoučký kůň", "Жёлтый конь", "노란 말", "🐎 🐎🐎", "", " ", "  a  "];
        assert_round_trip(&[to_column(&texts)]);
    }

    #[test]
    fn test_missing_and_invalid_texts_round_trip() {
        assert_round_trip(&[]);
        assert_round_trip(&[vec![]]);
        let invalid = vec![0xFF, 0xFE, 0xFD, 0x80, 0, b' ', 0xF0];
        assert_round_trip(&[vec![None, Some(vec![]), Some(invalid)]]);
        let long = [vec![Some(vec![b'a'; 1000]); 3], vec![Some(vec![0xC3; 1000]), None, None]];
        assert_round_trip(&long);
    }

    #[test]
    fn test_more_words_than_codes() {
        let words = (0..2 * MAX_WORDS).map(|i| format!("word{i} word{i} "));
        assert_round_trip(&[to_column(&[&words.collect::<String>()])]);
    }

    #[test]
    fn test_large_texts_are_sampled() {
        let line = "the same words again and again in a line that is long enough ".repeat(20);
        let lines = vec![Some(line.into_bytes()); SAMPLE_BYTES / 400];
        assert!(assert_round_trip(std::slice::from_ref(&lines)) < lines.len() * 600);
    }

    #[test]
    fn test_word_bytes() {
        for byte in 0..=u8::MAX {
            let is_word_byte = byte.is_ascii_alphanumeric() || (0x80..0xE2).contains(&byte);
            for i in 0..20 {
                let mut text = [b'z'; 20];
                text[i] = byte;
                assert_eq!(word_length(&text), if is_word_byte { 20 } else { i }, "{byte}, {i}");
            }
        }
        assert_eq!((word_length(b""), word_length(b"az09AZ")), (0, 6));
    }

    proptest! {
        #[test]
        fn test_random_bytes_round_trip(columns in proptest::collection::vec(
            proptest::collection::vec(proptest::option::of(
                proptest::collection::vec(prop_oneof![any::<u8>(), Just(b' '), Just(b'a'), Just(0xE4), Just(0xC3)], 0..30)
            ), 4), 1..4,
        )) {
            assert_round_trip(&columns);
        }
    }
}
