//! Flags for single texts whose scores may mislead.
//!
//! `truebleu/views/report/health.py` says what each flag means to a reader; the definitions are here.

use crate::interrupt::{self, Work};
use crate::kept::{self, Negation};
use crate::lex::utf8::decode;
use crate::lex::whitespace::{trim_end, trim_start};
use crate::scripts::{self, HAN, KANA, LATIN};
use crate::vector::{Classes, Instructions, Job, Vector};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Nothing but white space.
pub const EMPTY: u32 = 1;
/// A reference that the segment has not.
pub const MISSING: u32 = 1 << 1;
/// A hypothesis that is its source.
pub const COPIED: u32 = 1 << 2;
/// A hypothesis that is one of its references.
pub const IDENTICAL: u32 = 1 << 3;
/// A hypothesis of [`LONG`] bytes or more that is that of another source, too.
pub const DUPLICATE: u32 = 1 << 4;
/// A segment whose source and references have been there before.
pub const REPEATED: u32 = 1 << 5;
/// A hypothesis with less than half of the characters of each reference.
pub const SHORT: u32 = 1 << 6;
/// A hypothesis with more than twice the characters of each reference.
pub const LARGE: u32 = 1 << 7;
/// A hypothesis that says the same four times in a row, as no reference does.
pub const LOOP: u32 = 1 << 8;
/// A hypothesis in another script than all of its references.
pub const SCRIPT: u32 = 1 << 9;
/// A script without spaces that the tokenizer does not split.
pub const UNSPLIT: u32 = 1 << 10;
/// Text that has been tokenized.
pub const TOKENIZED: u32 = 1 << 11;
/// UTF-8 that was taken for something else.
pub const MOJIBAKE: u32 = 1 << 12;
/// U+FFFD, or a surrogate.
pub const REPLACEMENT: u32 = 1 << 13;
/// Control characters other than the tab.
pub const CONTROL: u32 = 1 << 14;
/// Invisible characters that words are not made of.
pub const INVISIBLE: u32 = 1 << 15;
/// White space at one of the ends.
pub const EDGES: u32 = 1 << 16;
/// Characters of HTML by name or number.
pub const ENTITIES: u32 = 1 << 17;
/// Brackets that are opened and not closed, where those of all references are.
pub const BRACKETS: u32 = 1 << 18;
/// A hypothesis whose numbers are neither those of the source nor those of a reference.
pub const NUMBERS: u32 = 1 << 19;
/// A hypothesis without a name that the source and all references have.
pub const NAMES: u32 = 1 << 20;
/// A hypothesis with words of the source in a row that no reference has.
pub const UNTRANSLATED: u32 = 1 << 21;
/// A hypothesis that negates something where no reference does, or the other way round.
pub const NEGATION: u32 = 1 << 22;

/// Bytes of a text that is not the same as another one by chance.
pub const LONG: usize = 20;
/// Characters of a text whose length is compared with others'.
const COMPARABLE: u32 = 20;
/// Letters of a text that has a script.
const LETTERS: u32 = 8;

/// The same number of texts of each system and reference, and sources if there are any.
pub struct Texts<'a> {
    /// Each system's.
    pub systems: Vec<Vec<Option<&'a [u8]>>>,
    /// Those of the first reference, of the second …
    pub references: Vec<Vec<Option<&'a [u8]>>>,
    /// The source text.
    pub source: Option<Vec<Option<&'a [u8]>>>,
}

/// The options that depend on how the text is tokenized later.
pub struct Options {
    /// True if the text is expected to be tokenized already.
    pub tokenized: bool,
    /// The scripts that stay in long pieces, and the share of a text from which on that matters.
    pub unsplit: Vec<(usize, f64)>,
    /// The words that negate in the language of the hypotheses.
    pub negation: Negation,
    /// Characters that are counted.
    pub marks: Vec<char>,
}

/// What is counted in all texts of a column.
#[derive(Clone)]
pub struct Totals {
    /// Letters that are written from left to right, and from right to left.
    pub letters: [u64; 2],
    /// Each of [`Options::marks`].
    pub marks: Vec<u64>,
}

impl Totals {
    fn new(options: &Options) -> Self {
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

/// The flags of each text of a column, and what is counted in all of them.
pub struct Column {
    /// By segment.
    pub flags: Vec<u32>,
    /// Of all segments.
    pub totals: Totals,
}

/// The contents of a text.
#[derive(Clone)]
struct Seen {
    flags: u32,
    /// White space aside.
    characters: u32,
    letters: [u32; scripts::COUNT],
    /// The number opened minus the number closed, of each kind.
    brackets: [i32; 3],
    has_digits: bool,
}

impl Seen {
    #[inline(always)]
    fn of<V: Vector>(text: &[u8], options: &Options, totals: &mut Totals) -> Self {
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
    fn numbers(&self, text: &[u8]) -> Vec<Vec<u8>> {
        if self.has_digits { kept::numbers(text) } else { Vec::new() }
    }

    fn is_unsplit(&self, options: &Options) -> bool {
        let all = f64::from(self.characters);
        options.unsplit.iter().any(|&(script, share)| f64::from(self.letters[script]) > share * all)
    }

    /// The script of more than half of the letters; Chinese and Japanese share one.
    fn script(&self) -> Option<usize> {
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

/// True if one to four words are repeated four times in a row.
fn is_loop<'a>(text: &'a [u8], words: &mut Vec<&'a [u8]>) -> bool {
    words.clear();
    let mut work = Work::default();
    words.extend(kept::places(text).map(|(start, end)| &text[start..end]));
    words.retain(|word| !word.is_empty());
    let is_word = |word: &&[u8]| word.iter().any(|byte| byte.is_ascii_alphabetic() || *byte > 0x7F);
    (1..=4).any(|period| {
        // So many words in a row that are as those a period before: every such row has one that
        // stands at a multiple of the number.
        let least = 3 * period;
        (period + least - 1..words.len()).step_by(least).any(|at| {
            work.done(8);
            // Most words differ in their last letters, which is seen without a call.
            let same = |&at: &usize| {
                words[at].last() == words[at - period].last() && words[at] == words[at - period]
            };
            same(&at)
                && least
                    <= (period..at).rev().take(least).take_while(same).count()
                        + (at..words.len()).take(least).take_while(same).count()
                && words[at + 1 - period..=at].iter().any(&is_word)
        })
    })
}

/// What hypotheses of a segment should keep.
struct Kept<'a> {
    references: Vec<&'a [u8]>,
    source: Option<&'a [u8]>,
    /// Of the source: names that all references keep, and words in rows.
    names: Vec<&'a [u8]>,
    rows: Vec<(usize, usize)>,
    /// Of the references, and of the source.
    numbers: Vec<Vec<Vec<u8>>>,
    /// Whether references negate something: all of them, or none; `None` if some do.
    negates: Option<bool>,
}

impl<'a> Kept<'a> {
    fn of(
        references: Vec<&'a [u8]>,
        seen: &[Seen],
        original: Option<&(&'a [u8], Seen)>,
        options: &Options,
    ) -> Self {
        let source = original.map(|&(text, _)| text);
        let texts = references.iter().zip(seen).chain(original.map(|(text, seen)| (text, seen)));
        let numbers = texts.map(|(text, seen)| seen.numbers(text)).collect();
        let mut negates = None;
        if !options.negation.is_empty() {
            let count = references.iter().filter(|text| options.negation.is_in(text)).count();
            negates = match count {
                0 => Some(false),
                all if all == references.len() => Some(true),
                _ => None,
            };
        }
        let names = source.map(|source| kept::names(source, &references)).unwrap_or_default();
        let rows = source.map(kept::rows).unwrap_or_default();
        Self { references, source, names, rows, numbers, negates }
    }

    fn flags(&self, text: &[u8], seen: &Seen, options: &Options) -> u32 {
        if self.references.is_empty() {
            return 0;
        }
        let mut flags = 0;
        let mut set = |flag, holds: bool| flags |= if holds { flag } else { 0 };
        let own = seen.numbers(text);
        set(NUMBERS, self.numbers.iter().all(|numbers| *numbers != own));
        if let Some(source) = self.source.filter(|source| *source != text) {
            set(NAMES, kept::lacks_name(text, &self.names));
            set(UNTRANSLATED, kept::has_source(text, source, &self.rows, &self.references));
        }
        set(NEGATION, self.negates.is_some_and(|all| all != options.negation.is_in(text)));
        flags
    }
}

impl<'a> Texts<'a> {
    /// The flags of each text: those of each system, of each reference, and of the source.
    pub fn flags(&self, options: &Options, instructions: Instructions) -> Vec<Column> {
        instructions.run(Flags { texts: self, options })
    }

    #[inline(always)]
    fn columns<V: Vector>(&self, options: &Options) -> Vec<Column> {
        let count = self.systems.first().map_or(0, Vec::len);
        let new = || Column { flags: vec![0; count], totals: Totals::new(options) };
        let mut systems: Vec<_> = self.systems.iter().map(|_| new()).collect();
        let mut references: Vec<_> = self.references.iter().map(|_| new()).collect();
        let mut source: Option<_> = self.source.as_ref().map(|_| new());
        let mut words = Vec::new();
        for i in 0..count {
            interrupt::poll();
            let mut seen = Vec::with_capacity(references.len());
            for (made, column) in references.iter_mut().zip(&self.references) {
                // No closure: it would not be compiled with the instructions of V.
                made.flags[i] = MISSING;
                if let Some(text) = column[i] {
                    let own = Seen::of::<V>(text, options, &mut made.totals);
                    made.flags[i] = own.flags;
                    seen.push(own);
                }
            }
            let mut original = None;
            if let (Some(made), Some(column)) = (&mut source, &self.source)
                && let Some(text) = column[i]
            {
                let own = Seen::of::<V>(text, options, &mut made.totals);
                made.flags[i] = own.flags & !TOKENIZED & !UNSPLIT;
                original = Some((text, own));
            }
            let texts = self.references.iter().filter_map(|column| column[i]);
            let kept = Kept::of(texts.collect(), &seen, original.as_ref(), options);
            for (made, column) in systems.iter_mut().zip(&self.systems) {
                let Some(text) = column[i] else { continue };
                let own = Seen::of::<V>(text, options, &mut made.totals);
                made.flags[i] = own.flags | self.compared(i, text, &own, &seen, &mut words);
                if own.flags & EMPTY == 0 {
                    made.flags[i] |= kept.flags(text, &own, options);
                }
            }
        }
        for (made, column) in systems.iter_mut().zip(&self.systems) {
            self.find_duplicates(column, &mut made.flags);
        }
        if let Some(made) = source.as_mut().or(references.first_mut()) {
            self.find_repeated(&mut made.flags);
        }
        systems.into_iter().chain(references).chain(source).collect()
    }

    /// The flags from comparing a hypothesis with its references and its source.
    fn compared(
        &self,
        i: usize,
        text: &'a [u8],
        seen: &Seen,
        references: &[Seen],
        words: &mut Vec<&'a [u8]>,
    ) -> u32 {
        let mut flags = 0;
        let mut set = |flag, holds: bool| flags |= if holds { flag } else { 0 };
        let filled = seen.flags & EMPTY == 0;
        let source = self.source.as_ref().and_then(|column| column[i]);
        set(COPIED, filled && source == Some(text));
        let mut texts = self.references.iter().filter_map(|column| column[i]);
        set(IDENTICAL, filled && texts.any(|reference| reference == text));
        if references.is_empty() {
            return flags;
        }
        let lengths = references.iter().map(|reference| reference.characters);
        let (fewest, most) = lengths
            .fold((u32::MAX, 0), |(fewest, most), length| (fewest.min(length), most.max(length)));
        let own = seen.characters;
        set(SHORT, filled && fewest >= COMPARABLE && 2 * own < fewest);
        set(LARGE, own >= COMPARABLE && own > 2 * most);
        let balanced = |seen: &Seen| seen.brackets == [0; 3];
        set(BRACKETS, !balanced(seen) && references.iter().all(balanced));
        let script = seen.script();
        let others =
            |reference: &Seen| reference.script().is_some_and(|other| Some(other) != script);
        set(SCRIPT, script.is_some() && references.iter().all(others));
        let mut texts = self.references.iter().filter_map(|column| column[i]);
        set(LOOP, is_loop(text, words) && !texts.any(|text| is_loop(text, words)));
        flags
    }

    /// True if two segments have the same source, or without sources the same references.
    fn same_origin(&self, one: usize, other: usize) -> bool {
        match &self.source {
            Some(source) => source[one] == source[other],
            None => self.references.iter().all(|column| column[one] == column[other]),
        }
    }

    fn find_duplicates(&self, column: &[Option<&[u8]>], flags: &mut [u32]) {
        // By text its number, and by number the first segment that has it; of each segment its own.
        let mut known: HashMap<&[u8], usize, Seed> =
            HashMap::with_capacity_and_hasher(column.len(), Seed::default());
        let mut first: Vec<usize> = Vec::new();
        let mut different: Vec<bool> = Vec::new();
        let numbers = column.iter().enumerate().map(|(i, text)| {
            Some(match known.entry(text.filter(|text| text.len() >= LONG)?) {
                Entry::Occupied(known) => {
                    let number = *known.get();
                    different[number] |= !self.same_origin(first[number], i);
                    number
                }
                Entry::Vacant(free) => {
                    first.push(i);
                    different.push(false);
                    *free.insert(first.len() - 1)
                }
            })
        });
        let numbers: Vec<Option<usize>> = numbers.collect();
        for (flags, number) in flags.iter_mut().zip(numbers) {
            if number.is_some_and(|number| different[number]) {
                *flags |= DUPLICATE;
            }
        }
    }

    fn find_repeated(&self, flags: &mut [u32]) {
        // By the source and all references, which may be many segments' own in all but one.
        let mut known = HashSet::with_capacity_and_hasher(flags.len(), Seed::default());
        for (i, flags) in flags.iter_mut().enumerate() {
            let source = self.source.as_ref().and_then(|column| column[i]);
            let references: Vec<_> = self.references.iter().map(|column| column[i]).collect();
            if !known.insert((source, references)) {
                *flags |= REPEATED;
            }
        }
    }
}

/// The flags of all texts.
struct Flags<'a> {
    texts: &'a Texts<'a>,
    options: &'a Options,
}

impl Job for Flags<'_> {
    type Output = Vec<Column>;

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> Vec<Column> {
        self.texts.columns::<V>(self.options)
    }
}

/// Hashes of texts, by a random seed: whoever writes them cannot make them collide.
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Seed {
    type Hasher = Hash;

    fn build_hasher(&self) -> Hash {
        Hash(self.0)
    }
}

struct Hash(u64);

impl Hasher for Hash {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
