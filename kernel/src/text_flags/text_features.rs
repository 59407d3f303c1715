//! The flags and character counts of a single text, computed 64 bytes at a time.

use super::{
    CONTROL, EDGES, EMPTY, ENTITIES, FlagOptions, INVISIBLE, MIN_SCRIPT_LETTERS, MOJIBAKE,
    REPLACEMENT, TOKENIZED, UNSPLIT,
};
use crate::interrupt::Work;
use crate::lex::utf8::decode_char;
use crate::lex::whitespace::{trim_end, trim_start};
use crate::preservation;
use crate::scripts::{self, HAN, KANA, LATIN};
use crate::simd::{Classes, Vector};

/// Counts over all texts of a column.
#[derive(Clone)]
pub struct ColumnTotals {
    /// The number of left-to-right letters, and the number of right-to-left letters.
    pub letters: [u64; 2],
    /// The number of occurrences of each of [`FlagOptions::marks`].
    pub marks: Vec<u64>,
}

impl ColumnTotals {
    pub(super) fn new(options: &FlagOptions) -> Self {
        Self { letters: [0; 2], marks: vec![0; options.marks.len()] }
    }

    /// Count a non-ASCII character, with the same classes of letters as in `text_direction.js`.
    fn count_character(&mut self, point: u32, options: &FlagOptions) {
        match point {
            0x580..=0x7FF => self.letters[1] += 1,
            // Most characters from U+2000 to U+2FFF are not letters.
            0xC0..=0x57F | 0x800..=0x1FFF | 0x3000..=0xDFFF | 0x10000..=0x3FFFF => {
                self.letters[0] += 1;
            }
            _ => {}
        }
        // All marks are in these ranges, which contain few letters.
        if matches!(point, 0x80..=0xBF | 0x2000..=0x2FFF | 0xFF00..) {
            for (mark, count) in options.marks.iter().zip(&mut self.marks) {
                *count += u64::from(u32::from(*mark) == point);
            }
        }
    }
}

/// The features of a text.
#[derive(Clone)]
pub struct TextFeatures {
    pub flags: u32,
    /// The number of characters, without white space.
    pub characters: u32,
    pub letters: [u32; scripts::COUNT],
    /// The number of opening brackets minus the number of closing brackets, of each kind.
    pub brackets: [i32; 3],
    has_digits: bool,
}

impl TextFeatures {
    /// Return the features of a text, and add its counts to `totals`.
    #[inline(always)]
    pub fn from_text<V: Vector>(
        text: &[u8],
        options: &FlagOptions,
        totals: &mut ColumnTotals,
    ) -> Self {
        let mut features = Self {
            flags: 0,
            characters: 0,
            letters: [0; scripts::COUNT],
            brackets: [0; 3],
            has_digits: false,
        };
        let trimmed = trim_start(trim_end(text));
        if trimmed.is_empty() {
            features.flags |= EMPTY;
        }
        if trimmed.len() < text.len() && !trimmed.is_empty() {
            features.flags |= EDGES;
        }
        let mut detector = MojibakeDetector::default();
        // The end of the last non-ASCII character.
        let mut end = 0;
        let mut work = Work::default();
        for (start, block) in (0..).step_by(BLOCK).zip(trimmed.chunks(BLOCK)) {
            work.add(BLOCK);
            // SAFETY: `flag_columns` runs with the instructions of V.
            let mut special_bytes = unsafe { features.count_block::<V>(block, options, totals) };
            while special_bytes != 0 {
                let position = start + special_bytes.trailing_zeros() as usize;
                special_bytes &= special_bytes - 1;
                // Process each multi-byte character only once.
                if position >= end {
                    features.examine(trimmed, position, &mut end, &mut detector, options, totals);
                }
            }
        }
        if detector.weight >= 2 {
            features.flags |= MOJIBAKE;
        }
        if trimmed.ends_with(b" .") {
            features.flags |= TOKENIZED;
        }
        if options.expects_tokenized {
            features.flags &= !TOKENIZED;
        }
        if features.is_unsplit(options) {
            features.flags |= UNSPLIT;
        }
        features
    }

    /// Count the bytes of a block, and return the bytes that need closer examination: all bytes
    /// except ordinary word characters and spaces.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    #[inline(always)]
    unsafe fn count_block<V: Vector>(
        &mut self,
        block: &[u8],
        options: &FlagOptions,
        totals: &mut ColumnTotals,
    ) -> u64 {
        let mut padded = [b' '; BLOCK];
        padded[..block.len()].copy_from_slice(block);
        // SAFETY: 64 bytes are read; the caller guarantees everything else.
        unsafe {
            let bytes = V::load(padded.as_ptr());
            let letters =
                V::bits(V::or(V::within(bytes, b'A', b'Z'), V::within(bytes, b'a', b'z')))
                    .count_ones();
            let visible = V::or(V::within(bytes, b'!', 0x7F), V::within(bytes, 0xC0, 0xFF));
            self.characters += V::bits(visible).count_ones();
            self.letters[LATIN] += letters;
            totals.letters[0] += u64::from(letters);
            self.has_digits |= V::bits(V::within(bytes, b'0', b'9')) != 0;
            for (mark, count) in options.marks.iter().zip(&mut totals.marks) {
                if mark.is_ascii() {
                    *count += u64::from(V::bits(V::equal(bytes, *mark as u8)).count_ones());
                }
            }
            V::having(V::classes(bytes, &SPECIAL_BYTES), 0xFF)
                | V::bits(V::within(bytes, 0x80, 0xFF))
        }
    }

    /// Examine a special byte, or the character that starts with it. Set `end` to the end of that
    /// character.
    #[inline(always)]
    fn examine(
        &mut self,
        text: &[u8],
        position: usize,
        end: &mut usize,
        detector: &mut MojibakeDetector,
        options: &FlagOptions,
        totals: &mut ColumnTotals,
    ) {
        let byte = text[position];
        if byte.is_ascii() {
            let (before, after) = (&text[..position], &text[position + 1..]);
            match byte {
                b'(' => self.brackets[0] += 1,
                b')' => self.brackets[0] -= 1,
                b'[' => self.brackets[1] += 1,
                b']' => self.brackets[1] -= 1,
                b'{' => self.brackets[2] += 1,
                b'}' => self.brackets[2] -= 1,
                b'&' if is_entity(after) => self.flags |= ENTITIES,
                b',' if before.ends_with(b" ") && after.starts_with(b" ") => {
                    self.flags |= TOKENIZED;
                }
                b'@' if is_joiner(before, after) => self.flags |= TOKENIZED,
                0..=0x1F | 0x7F => self.flags |= CONTROL,
                _ => {}
            }
            return;
        }
        let (point, width) = decode_char(&text[position..]);
        if position != *end {
            detector.remaining = 0;
        }
        *end = position + width;
        let point = point.unwrap_or(0xFFFD);
        totals.count_character(point, options);
        detector.add_character(point, position.checked_sub(1).map_or(0, |before| text[before]));
        match point {
            0x80..=0x9F => self.flags |= CONTROL,
            0xFFFD | 0xD800..=0xDFFF => self.flags |= REPLACEMENT,
            0xAD | 0x180E | 0x200B | 0x200E | 0x200F | 0x202A..=0x202E | 0x2060..=0x206F => {
                self.flags |= INVISIBLE;
            }
            0xFEFF | 0xE0000..=0xE007F => self.flags |= INVISIBLE,
            // SentencePiece's mark for a space.
            0x2581 => self.flags |= TOKENIZED,
            _ => {
                if let Some(script) = scripts::find_script(point) {
                    self.letters[script] += 1;
                }
            }
        }
    }

    /// Return the numbers in the text from which the features were computed.
    pub fn numbers_of_text(&self, text: &[u8]) -> Vec<Vec<u8>> {
        if self.has_digits { preservation::extract_numbers(text) } else { Vec::new() }
    }

    fn is_unsplit(&self, options: &FlagOptions) -> bool {
        let character_count = f64::from(self.characters);
        options
            .unsplit
            .iter()
            .any(|&(script, share)| f64::from(self.letters[script]) > share * character_count)
    }

    /// Return the script to which more than half of the letters belong. Chinese and Japanese are
    /// treated as one script.
    pub fn script(&self) -> Option<usize> {
        let mut letters = self.letters;
        letters[HAN] += std::mem::take(&mut letters[KANA]);
        let letter_count: u32 = letters.iter().sum();
        let majority_script = letters.iter().position(|&count| 2 * count > letter_count);
        majority_script.filter(|_| letter_count >= MIN_SCRIPT_LETTERS)
    }
}

/// Return whether an ampersand followed by this text starts an HTML character reference.
fn is_entity(remaining: &[u8]) -> bool {
    let (rest, digits) = match remaining {
        [b'#', b'x' | b'X', rest @ ..] => (rest, (1..=6, u8::is_ascii_hexdigit as fn(&u8) -> bool)),
        [b'#', rest @ ..] => (rest, (1..=7, u8::is_ascii_digit as fn(&u8) -> bool)),
        rest => (rest, (2..=8, u8::is_ascii_alphabetic as fn(&u8) -> bool)),
    };
    let length = rest.iter().take_while(|&byte| digits.1(byte)).count();
    digits.0.contains(&length) && rest.get(length) == Some(&b';')
}

/// Return whether an at sign is a tokenizer's mark: `@@` after a subword, or ` @-@ `.
fn is_joiner(before: &[u8], after: &[u8]) -> bool {
    match after {
        [b'@'] | [b'@', b' ', ..] => before.last().is_some_and(|&byte| byte > b' ' && byte != b'@'),
        [b'-', b'@', b' ', ..] => before.ends_with(b" "),
        _ => false,
    }
}

/// Number of bytes that one step processes.
const BLOCK: usize = 64;

/// ASCII bytes other than ordinary word characters and spaces.
const SPECIAL_BYTES: Classes = Classes::new([
    // Control characters except the tab.
    (1, !(1 << 9)),
    (1 << 1, !0),
    // & ( ) ,
    (1 << 2, 1 << 6 | 1 << 8 | 1 << 9 | 1 << 0xC),
    // @
    (1 << 4, 1),
    // [ ]
    (1 << 5, 1 << 0xB | 1 << 0xD),
    // { } and U+007F
    (1 << 7, 1 << 0xB | 1 << 0xD | 1 << 0xF),
    (0, 0),
    (0, 0),
]);

/// A detector of UTF-8 that was decoded as Windows-1252 or Latin-1: é as Ã©, ’ as â€™, и as Ð¸.
#[derive(Default)]
struct MojibakeDetector {
    /// The total weight of the evidence so far; 2 is sufficient.
    weight: u32,
    /// The number of remaining characters of a sequence, and the weight of the sequence.
    remaining: u32,
    sequence_weight: u32,
    /// The first character of the sequence.
    lead: u32,
}

impl MojibakeDetector {
    #[inline(always)]
    fn add_character(&mut self, point: u32, previous: u8) {
        if self.remaining > 0 && is_continuation(point) {
            self.remaining -= 1;
            match (self.lead, point) {
                // Sequences starting with `â€` represent punctuation; others may represent any
                // character.
                (0xE2, 0x20AC) if self.remaining == 1 => self.sequence_weight = 2,
                // French text may have a no-break space between à and a guillemet.
                (0xE0, 0xA0) => self.remaining = 0,
                // Quotes and dashes may follow any word.
                _ if self.sequence_weight < 2 && is_quote_or_dash(point) => {
                    self.sequence_weight = 0
                }
                _ => {}
            }
            if self.remaining == 0 && (self.lead, point) != (0xE0, 0xA0) {
                self.weight += self.sequence_weight;
            }
        } else {
            self.remaining = 0;
            if (0xC2..=0xF4).contains(&point) {
                self.lead = point;
                self.remaining = 1 + u32::from(point >= 0xE0) + u32::from(point >= 0xF0);
                // Words in capital letters may end with such characters.
                let follows_capital = previous.is_ascii_uppercase();
                self.sequence_weight = if point <= 0xC3 && !follows_capital { 2 } else { 1 };
            }
        }
    }
}

/// Return whether a character is a quote, a dash or an ellipsis.
fn is_quote_or_dash(point: u32) -> bool {
    matches!(point, 0x2013..=0x2026 | 0x2039 | 0x203A | 0xAB | 0xBB)
}

/// Return whether a UTF-8 continuation byte decodes to this character in Windows-1252 or Latin-1.
fn is_continuation(point: u32) -> bool {
    const WINDOWS_1252: [u32; 27] = [
        0x20AC, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152,
        0x17D, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161,
        0x203A, 0x153, 0x17E, 0x178,
    ];
    (0x80..=0xBF).contains(&point) || (point > 0xFF && WINDOWS_1252.contains(&point))
}
