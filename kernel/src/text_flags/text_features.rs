//! What one text shows: its flags, and what is counted in it, 64 bytes at a time.

use super::{
    CONTROL, EDGES, EMPTY, ENTITIES, INVISIBLE, LETTERS, MOJIBAKE, Options, REPLACEMENT, TOKENIZED,
    UNSPLIT,
};
use crate::interrupt::Work;
use crate::lex::utf8::decode;
use crate::lex::whitespace::{trim_end, trim_start};
use crate::preservation;
use crate::scripts::{self, HAN, KANA, LATIN};
use crate::simd::{Classes, Vector};

/// What is counted in all texts of a column.
#[derive(Clone)]
pub struct Totals {
    /// Letters that are written from left to right, and from right to left.
    pub letters: [u64; 2],
    /// Each of [`Options::marks`].
    pub marks: Vec<u64>,
}

impl Totals {
    pub(super) fn new(options: &Options) -> Self {
        Self { letters: [0; 2], marks: vec![0; options.marks.len()] }
    }

    /// Counts a character outside ASCII. `directions.js` of the report has the same letters.
    fn add(&mut self, point: u32, options: &Options) {
        match point {
            0x580..=0x7FF => self.letters[1] += 1,
            // What is from U+2000 to U+2FFF is mostly no letter.
            0xC0..=0x57F | 0x800..=0x1FFF | 0x3000..=0xDFFF | 0x10000..=0x3FFFF => {
                self.letters[0] += 1;
            }
            _ => {}
        }
        // Marks are in two blocks, as are few letters.
        if matches!(point, 0x80..=0xBF | 0x2000..=0x2FFF | 0xFF00..) {
            for (mark, count) in options.marks.iter().zip(&mut self.marks) {
                *count += u64::from(u32::from(*mark) == point);
            }
        }
    }
}

/// The contents of a text.
#[derive(Clone)]
pub struct Seen {
    pub flags: u32,
    /// White space aside.
    pub characters: u32,
    pub letters: [u32; scripts::COUNT],
    /// The number opened minus the number closed, of each kind.
    pub brackets: [i32; 3],
    has_digits: bool,
}

impl Seen {
    #[inline(always)]
    pub fn of<V: Vector>(text: &[u8], options: &Options, totals: &mut Totals) -> Self {
        let mut seen = Self {
            flags: 0,
            characters: 0,
            letters: [0; scripts::COUNT],
            brackets: [0; 3],
            has_digits: false,
        };
        let inner = trim_start(trim_end(text));
        if inner.is_empty() {
            seen.flags |= EMPTY;
        }
        if inner.len() < text.len() && !inner.is_empty() {
            seen.flags |= EDGES;
        }
        let mut wrong = Wrong::default();
        // Where the last character ended that was not of ASCII.
        let mut end = 0;
        let mut work = Work::default();
        for (start, block) in (0..).step_by(BLOCK).zip(inner.chunks(BLOCK)) {
            work.done(BLOCK);
            // SAFETY: `columns` runs with the instructions of V.
            let mut unusual = unsafe { seen.count::<V>(block, options, totals) };
            while unusual != 0 {
                let at = start + unusual.trailing_zeros() as usize;
                unusual &= unusual - 1;
                // A character of several bytes is looked at once.
                if at >= end {
                    seen.look(inner, at, &mut end, &mut wrong, options, totals);
                }
            }
        }
        if wrong.weight >= 2 {
            seen.flags |= MOJIBAKE;
        }
        if inner.ends_with(b" .") {
            seen.flags |= TOKENIZED;
        }
        if options.tokenized {
            seen.flags &= !TOKENIZED;
        }
        if seen.is_unsplit(options) {
            seen.flags |= UNSPLIT;
        }
        seen
    }

    /// Counts what is counted byte by byte in a block, and gives the bits of bytes that are more than
    /// a part of a word, or a space.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    unsafe fn count<V: Vector>(
        &mut self,
        block: &[u8],
        options: &Options,
        totals: &mut Totals,
    ) -> u64 {
        let mut padded = [b' '; BLOCK];
        padded[..block.len()].copy_from_slice(block);
        // SAFETY: 64 bytes are read; the caller promises the rest.
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
            V::having(V::classes(bytes, &UNUSUAL), 0xFF) | V::bits(V::within(bytes, 0x80, 0xFF))
        }
    }

    /// Looks at an unusual byte of a text, or at the character that begins with it, which `end` then
    /// is the end of.
    #[inline(always)]
    fn look(
        &mut self,
        text: &[u8],
        at: usize,
        end: &mut usize,
        wrong: &mut Wrong,
        options: &Options,
        totals: &mut Totals,
    ) {
        let byte = text[at];
        if byte.is_ascii() {
            let (before, rest) = (&text[..at], &text[at + 1..]);
            match byte {
                b'(' => self.brackets[0] += 1,
                b')' => self.brackets[0] -= 1,
                b'[' => self.brackets[1] += 1,
                b']' => self.brackets[1] -= 1,
                b'{' => self.brackets[2] += 1,
                b'}' => self.brackets[2] -= 1,
                b'&' if is_entity(rest) => self.flags |= ENTITIES,
                b',' if before.ends_with(b" ") && rest.starts_with(b" ") => {
                    self.flags |= TOKENIZED;
                }
                b'@' if is_mark_of_tokens(before, rest) => self.flags |= TOKENIZED,
                0..=0x1F | 0x7F => self.flags |= CONTROL,
                _ => {}
            }
            return;
        }
        let (point, width) = decode(&text[at..]);
        if at != *end {
            wrong.rest = 0;
        }
        *end = at + width;
        let point = point.unwrap_or(0xFFFD);
        totals.add(point, options);
        wrong.next(point, at.checked_sub(1).map_or(0, |before| text[before]));
        match point {
            0x80..=0x9F => self.flags |= CONTROL,
            0xFFFD | 0xD800..=0xDFFF => self.flags |= REPLACEMENT,
            0xAD | 0x180E | 0x200B | 0x200E | 0x200F | 0x202A..=0x202E | 0x2060..=0x206F => {
                self.flags |= INVISIBLE;
            }
            0xFEFF | 0xE0000..=0xE007F => self.flags |= INVISIBLE,
            // SentencePiece's space.
            0x2581 => self.flags |= TOKENIZED,
            _ => {
                if let Some(script) = scripts::of(point) {
                    self.letters[script] += 1;
                }
            }
        }
    }

    /// Those of the text, of which this was seen.
    pub fn numbers(&self, text: &[u8]) -> Vec<Vec<u8>> {
        if self.has_digits { preservation::numbers(text) } else { Vec::new() }
    }

    fn is_unsplit(&self, options: &Options) -> bool {
        let all = f64::from(self.characters);
        options.unsplit.iter().any(|&(script, share)| f64::from(self.letters[script]) > share * all)
    }

    /// The script of more than half of the letters; Chinese and Japanese share one.
    pub fn script(&self) -> Option<usize> {
        let mut letters = self.letters;
        letters[HAN] += std::mem::take(&mut letters[KANA]);
        let all: u32 = letters.iter().sum();
        let most = letters.iter().position(|&own| 2 * own > all);
        most.filter(|_| all >= LETTERS)
    }
}

/// True if an ampersand with this text behind it is a character's name or number.
fn is_entity(rest: &[u8]) -> bool {
    let (rest, digits) = match rest {
        [b'#', b'x' | b'X', rest @ ..] => (rest, (1..=6, u8::is_ascii_hexdigit as fn(&u8) -> bool)),
        [b'#', rest @ ..] => (rest, (1..=7, u8::is_ascii_digit as fn(&u8) -> bool)),
        rest => (rest, (2..=8, u8::is_ascii_alphabetic as fn(&u8) -> bool)),
    };
    let length = rest.iter().take_while(|&byte| digits.1(byte)).count();
    digits.0.contains(&length) && rest.get(length) == Some(&b';')
}

/// True for an at sign that tokenizers leave: `@@` behind a piece of a word, ` @-@ `.
fn is_mark_of_tokens(before: &[u8], rest: &[u8]) -> bool {
    match rest {
        [b'@'] | [b'@', b' ', ..] => before.last().is_some_and(|&byte| byte > b' ' && byte != b'@'),
        [b'-', b'@', b' ', ..] => before.ends_with(b" "),
        _ => false,
    }
}

/// Bytes of text that are looked at together.
const BLOCK: usize = 64;

/// Bytes of ASCII that are more than a part of a word, or a space.
const UNUSUAL: Classes = Classes::new([
    // Control characters, but not the tab.
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

/// Finds UTF-8 that was read as Windows-1252 or Latin-1: é as Ã©, ’ as â€™, и as Ð¸.
#[derive(Default)]
struct Wrong {
    /// 2 and more are enough.
    weight: u32,
    /// Characters that are still to come of a sequence, and what it weighs.
    rest: u32,
    worth: u32,
    /// The first character of the run.
    lead: u32,
}

impl Wrong {
    #[inline(always)]
    fn next(&mut self, point: u32, before: u8) {
        if self.rest > 0 && is_continuation(point) {
            self.rest -= 1;
            match (self.lead, point) {
                // With the euro sign it is punctuation of all kinds; without it, anything.
                (0xE2, 0x20AC) if self.rest == 1 => self.worth = 2,
                // In French, à and a guillemet have a no-break space between them.
                (0xE0, 0xA0) => self.rest = 0,
                // Any word may have quotes and dashes behind it.
                _ if self.worth < 2 && is_mark(point) => self.worth = 0,
                _ => {}
            }
            if self.rest == 0 && (self.lead, point) != (0xE0, 0xA0) {
                self.weight += self.worth;
            }
        } else {
            self.rest = 0;
            if (0xC2..=0xF4).contains(&point) {
                self.lead = point;
                self.rest = 1 + u32::from(point >= 0xE0) + u32::from(point >= 0xF0);
                // Words in capitals may end in such letters.
                let capitals = before.is_ascii_uppercase();
                self.worth = if point <= 0xC3 && !capitals { 2 } else { 1 };
            }
        }
    }
}

/// Quotes, dashes and dots.
fn is_mark(point: u32) -> bool {
    matches!(point, 0x2013..=0x2026 | 0x2039 | 0x203A | 0xAB | 0xBB)
}

/// True if Windows-1252 or Latin-1 has this character where UTF-8 has bytes after the first.
fn is_continuation(point: u32) -> bool {
    const WINDOWS: [u32; 27] = [
        0x20AC, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152,
        0x17D, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161,
        0x203A, 0x153, 0x17E, 0x178,
    ];
    (0x80..=0xBF).contains(&point) || (point > 0xFF && WINDOWS.contains(&point))
}
