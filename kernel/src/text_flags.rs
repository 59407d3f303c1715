//! Flags for single texts whose scores may mislead.
//!
//! `truebleu/reports/data_checks.py` says what each flag means to a reader; the definitions are here.

mod text_features;

use crate::interrupt::{self, Work};
use crate::preservation::{self, Negation};
use crate::simd::{Instructions, Job, Vector};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use text_features::Seen;
pub use text_features::Totals;
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

/// The flags of each text of a column, and what is counted in all of them.
pub struct Column {
    /// By segment.
    pub flags: Vec<u32>,
    /// Of all segments.
    pub totals: Totals,
}

/// True if one to four words are repeated four times in a row.
fn is_loop<'a>(text: &'a [u8], words: &mut Vec<&'a [u8]>) -> bool {
    words.clear();
    let mut work = Work::default();
    let places = preservation::places(text).filter(|(start, end)| start < end);
    words.extend(places.map(|(start, end)| &text[start..end]));
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
        let names =
            source.map(|source| preservation::names(source, &references)).unwrap_or_default();
        let rows = source.map(preservation::rows).unwrap_or_default();
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
            set(NAMES, preservation::lacks_name(text, &self.names));
            set(UNTRANSLATED, preservation::has_source(text, source, &self.rows, &self.references));
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
