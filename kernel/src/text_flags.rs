//! Flags for single texts whose scores may be misleading.
//!
//! This module defines the flags, and `truebleu/reports/data_checks.py` explains them to readers.

mod text_features;

use crate::interrupt::{self, Work};
use crate::preservation::{self, NegationWords};
use crate::simd::{Instructions, Job, Vector};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
pub use text_features::ColumnTotals;
use text_features::TextFeatures;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The text is empty or contains only white space.
pub const EMPTY: u32 = 1;
/// The segment lacks this reference.
pub const MISSING: u32 = 1 << 1;
/// The hypothesis equals its source.
pub const COPIED: u32 = 1 << 2;
/// The hypothesis equals one of its references.
pub const IDENTICAL: u32 = 1 << 3;
/// The hypothesis has at least [`MIN_DUPLICATE_BYTES`] bytes and also occurs with another source.
pub const DUPLICATE: u32 = 1 << 4;
/// The source and references occurred in an earlier segment.
pub const REPEATED: u32 = 1 << 5;
/// The hypothesis has fewer than half as many characters as each reference.
pub const SHORT: u32 = 1 << 6;
/// The hypothesis has more than twice as many characters as each reference.
pub const LARGE: u32 = 1 << 7;
/// The hypothesis repeats words four times in a row, but no reference does.
pub const LOOP: u32 = 1 << 8;
/// The script of the hypothesis differs from the scripts of all its references.
pub const SCRIPT: u32 = 1 << 9;
/// The text is in a script without spaces that the tokenizer does not split.
pub const UNSPLIT: u32 = 1 << 10;
/// The text is tokenized.
pub const TOKENIZED: u32 = 1 << 11;
/// The text contains UTF-8 that was decoded as another encoding.
pub const MOJIBAKE: u32 = 1 << 12;
/// The text contains U+FFFD or a surrogate.
pub const REPLACEMENT: u32 = 1 << 13;
/// The text contains control characters other than the tab.
pub const CONTROL: u32 = 1 << 14;
/// The text contains invisible characters that are not part of words.
pub const INVISIBLE: u32 = 1 << 15;
/// The text starts or ends with white space.
pub const EDGES: u32 = 1 << 16;
/// The text contains HTML character references.
pub const ENTITIES: u32 = 1 << 17;
/// The brackets of the hypothesis are not balanced, although the brackets of all references are.
pub const BRACKETS: u32 = 1 << 18;
/// The numbers in the hypothesis differ from the numbers in the source and in every reference.
pub const NUMBERS: u32 = 1 << 19;
/// The hypothesis lacks a name that the source and all references contain.
pub const NAMES: u32 = 1 << 20;
/// The hypothesis contains consecutive source words that no reference contains.
pub const UNTRANSLATED: u32 = 1 << 21;
/// The hypothesis negates something although no reference does, or vice versa.
pub const NEGATION: u32 = 1 << 22;

/// Minimum length in bytes of texts that are unlikely to be equal by chance.
pub const MIN_DUPLICATE_BYTES: usize = 20;
/// Minimum number of characters for comparing lengths.
const MIN_COMPARED_CHARACTERS: u32 = 20;
/// Minimum number of letters for determining a script.
const MIN_SCRIPT_LETTERS: u32 = 8;

/// The texts of each system, of each reference, and of the source, with one entry per segment.
pub struct FlaggedTexts<'a> {
    /// The texts of each system.
    pub systems: Vec<Vec<Option<&'a [u8]>>>,
    /// The texts of each reference.
    pub references: Vec<Vec<Option<&'a [u8]>>>,
    /// The source texts, if any.
    pub source: Option<Vec<Option<&'a [u8]>>>,
}

/// The options for text flags.
pub struct FlagOptions {
    /// Whether the text is expected to be tokenized.
    pub expects_tokenized: bool,
    /// The scripts that the tokenizer does not split, each with its maximum share of characters.
    pub unsplit: Vec<(usize, f64)>,
    /// The negating words in the language of the hypotheses.
    pub negation: NegationWords,
    /// The characters to count.
    pub marks: Vec<char>,
}

/// The flags of each text of a column, and the totals of all texts.
pub struct FlaggedColumn {
    /// The flags per segment.
    pub flags: Vec<u32>,
    /// The counts over all segments.
    pub totals: ColumnTotals,
}

/// Return whether one to four words are repeated four times in a row.
fn is_loop<'a>(text: &'a [u8], words: &mut Vec<&'a [u8]>) -> bool {
    words.clear();
    let mut work = Work::default();
    let word_ranges = preservation::word_ranges(text).filter(|(start, end)| start < end);
    words.extend(word_ranges.map(|(start, end)| &text[start..end]));
    let is_word = |word: &&[u8]| word.iter().any(|byte| byte.is_ascii_alphabetic() || *byte > 0x7F);
    (1..=4).any(|period| {
        // A repetition contains `3 * period` consecutive words that each equal the word one period
        // earlier. Every run of this length contains a word whose index is a multiple of this
        // length.
        let min_run = 3 * period;
        (period + min_run - 1..words.len()).step_by(min_run).any(|index| {
            work.add(8);
            // Most pairs of different words differ in the last letter, which needs no function call
            // to compare.
            let is_repeated = |&i: &usize| {
                words[i].last() == words[i - period].last() && words[i] == words[i - period]
            };
            is_repeated(&index)
                && min_run
                    <= (period..index).rev().take(min_run).take_while(is_repeated).count()
                        + (index..words.len()).take(min_run).take_while(is_repeated).count()
                && words[index + 1 - period..=index].iter().any(&is_word)
        })
    })
}

/// The parts of a segment that hypotheses should preserve.
struct PreservedContent<'a> {
    references: Vec<&'a [u8]>,
    source: Option<&'a [u8]>,
    /// Names in the source that all references preserve, and the source's `countable_words`.
    names: Vec<&'a [u8]>,
    source_words: Vec<(usize, usize)>,
    /// The numbers that occur in each reference and in the source.
    numbers: Vec<Vec<Vec<u8>>>,
    /// Whether all references (true) or no references (false) negate something; otherwise `None`.
    references_negate: Option<bool>,
}

impl<'a> PreservedContent<'a> {
    fn from_segment(
        references: Vec<&'a [u8]>,
        features: &[TextFeatures],
        source_text: Option<&(&'a [u8], TextFeatures)>,
        options: &FlagOptions,
    ) -> Self {
        let source = source_text.map(|&(text, _)| text);
        let texts =
            references.iter().zip(features).chain(source_text.map(|(text, seen)| (text, seen)));
        let numbers = texts.map(|(text, seen)| seen.numbers_of_text(text)).collect();
        let mut negates = None;
        if !options.negation.is_empty() {
            let count = references.iter().filter(|text| options.negation.is_negated(text)).count();
            negates = match count {
                0 => Some(false),
                all if all == references.len() => Some(true),
                _ => None,
            };
        }
        let names = source
            .map(|source| preservation::preserved_names(source, &references))
            .unwrap_or_default();
        let rows = source.map(preservation::countable_words).unwrap_or_default();
        Self { references, source, names, source_words: rows, numbers, references_negate: negates }
    }

    /// Return the flags for content that a hypothesis does not preserve.
    fn flags(&self, text: &[u8], features: &TextFeatures, options: &FlagOptions) -> u32 {
        if self.references.is_empty() {
            return 0;
        }
        let mut flags = 0;
        let mut set = |flag, condition: bool| flags |= if condition { flag } else { 0 };
        let own_numbers = features.numbers_of_text(text);
        set(NUMBERS, self.numbers.iter().all(|numbers| *numbers != own_numbers));
        if let Some(source) = self.source.filter(|source| *source != text) {
            set(NAMES, preservation::lacks_name(text, &self.names));
            set(
                UNTRANSLATED,
                preservation::has_source_words(text, source, &self.source_words, &self.references),
            );
        }
        set(
            NEGATION,
            self.references_negate
                .is_some_and(|negates| negates != options.negation.is_negated(text)),
        );
        flags
    }
}

impl<'a> FlaggedTexts<'a> {
    /// Return the flags of each system, of each reference, and of the source.
    pub fn compute_flags(
        &self,
        options: &FlagOptions,
        instructions: Instructions,
    ) -> Vec<FlaggedColumn> {
        instructions.run(FlagsJob { texts: self, options })
    }

    /// Return the flags of all columns.
    #[inline(always)]
    fn flag_columns<V: Vector>(&self, options: &FlagOptions) -> Vec<FlaggedColumn> {
        let count = self.systems.first().map_or(0, Vec::len);
        let new_column =
            || FlaggedColumn { flags: vec![0; count], totals: ColumnTotals::new(options) };
        let mut systems: Vec<_> = self.systems.iter().map(|_| new_column()).collect();
        let mut references: Vec<_> = self.references.iter().map(|_| new_column()).collect();
        let mut source: Option<_> = self.source.as_ref().map(|_| new_column());
        let mut words = Vec::new();
        for i in 0..count {
            interrupt::poll();
            let mut reference_features = Vec::with_capacity(references.len());
            for (flagged, column) in references.iter_mut().zip(&self.references) {
                // A closure would not be compiled with the instructions of V.
                flagged.flags[i] = MISSING;
                if let Some(text) = column[i] {
                    let features = TextFeatures::from_text::<V>(text, options, &mut flagged.totals);
                    flagged.flags[i] = features.flags;
                    reference_features.push(features);
                }
            }
            let mut source_text = None;
            if let (Some(flagged), Some(column)) = (&mut source, &self.source)
                && let Some(text) = column[i]
            {
                let features = TextFeatures::from_text::<V>(text, options, &mut flagged.totals);
                flagged.flags[i] = features.flags & !TOKENIZED & !UNSPLIT;
                source_text = Some((text, features));
            }
            let texts = self.references.iter().filter_map(|column| column[i]);
            let content = PreservedContent::from_segment(
                texts.collect(),
                &reference_features,
                source_text.as_ref(),
                options,
            );
            for (flagged, column) in systems.iter_mut().zip(&self.systems) {
                let Some(text) = column[i] else { continue };
                let features = TextFeatures::from_text::<V>(text, options, &mut flagged.totals);
                flagged.flags[i] = features.flags
                    | self.comparison_flags(i, text, &features, &reference_features, &mut words);
                if features.flags & EMPTY == 0 {
                    flagged.flags[i] |= content.flags(text, &features, options);
                }
            }
        }
        for (flagged, column) in systems.iter_mut().zip(&self.systems) {
            self.find_duplicates(column, &mut flagged.flags);
        }
        if let Some(flagged) = source.as_mut().or(references.first_mut()) {
            self.find_repeated(&mut flagged.flags);
        }
        systems.into_iter().chain(references).chain(source).collect()
    }

    /// Return the flags that result from comparing a hypothesis with its references and its source.
    fn comparison_flags(
        &self,
        i: usize,
        text: &'a [u8],
        features: &TextFeatures,
        reference_features: &[TextFeatures],
        words: &mut Vec<&'a [u8]>,
    ) -> u32 {
        let mut flags = 0;
        let mut set = |flag, condition: bool| flags |= if condition { flag } else { 0 };
        let is_filled = features.flags & EMPTY == 0;
        let source = self.source.as_ref().and_then(|column| column[i]);
        set(COPIED, is_filled && source == Some(text));
        let mut texts = self.references.iter().filter_map(|column| column[i]);
        set(IDENTICAL, is_filled && texts.any(|reference| reference == text));
        if reference_features.is_empty() {
            return flags;
        }
        let reference_lengths = reference_features.iter().map(|reference| reference.characters);
        let (shortest, longest) = reference_lengths
            .fold((u32::MAX, 0), |(shortest, longest), length| {
                (shortest.min(length), longest.max(length))
            });
        let own_length = features.characters;
        set(SHORT, is_filled && shortest >= MIN_COMPARED_CHARACTERS && 2 * own_length < shortest);
        set(LARGE, own_length >= MIN_COMPARED_CHARACTERS && own_length > 2 * longest);
        let is_balanced = |seen: &TextFeatures| seen.brackets == [0; 3];
        set(BRACKETS, !is_balanced(features) && reference_features.iter().all(is_balanced));
        let script = features.script();
        let has_other_script = |reference: &TextFeatures| {
            reference.script().is_some_and(|found_script| Some(found_script) != script)
        };
        set(SCRIPT, script.is_some() && reference_features.iter().all(has_other_script));
        let mut texts = self.references.iter().filter_map(|column| column[i]);
        set(LOOP, is_loop(text, words) && !texts.any(|text| is_loop(text, words)));
        flags
    }

    /// Return whether two segments have the same source, or the same references if there are no
    /// sources.
    fn have_same_origin(&self, one: usize, b: usize) -> bool {
        match &self.source {
            Some(source) => source[one] == source[b],
            None => self.references.iter().all(|column| column[one] == column[b]),
        }
    }

    /// Flag long hypotheses that occur with different sources.
    fn find_duplicates(&self, column: &[Option<&[u8]>], flags: &mut [u32]) {
        // For each text id, its first segment, and whether the origins of its segments differ.
        let mut text_ids: HashMap<&[u8], usize, RandomSeed> =
            HashMap::with_capacity_and_hasher(column.len(), RandomSeed::default());
        let mut first_segments: Vec<usize> = Vec::new();
        let mut has_different_origins: Vec<bool> = Vec::new();
        let ids = column.iter().enumerate().map(|(i, text)| {
            Some(match text_ids.entry(text.filter(|text| text.len() >= MIN_DUPLICATE_BYTES)?) {
                Entry::Occupied(entry) => {
                    let id = *entry.get();
                    has_different_origins[id] |= !self.have_same_origin(first_segments[id], i);
                    id
                }
                Entry::Vacant(entry) => {
                    first_segments.push(i);
                    has_different_origins.push(false);
                    *entry.insert(first_segments.len() - 1)
                }
            })
        });
        let ids: Vec<Option<usize>> = ids.collect();
        for (flags, id) in flags.iter_mut().zip(ids) {
            if id.is_some_and(|id| has_different_origins[id]) {
                *flags |= DUPLICATE;
            }
        }
    }

    /// Flag segments whose source and references occurred before.
    fn find_repeated(&self, flags: &mut [u32]) {
        // The key consists of the source and all references, because different sources often share
        // one reference.
        let mut earlier_texts =
            HashSet::with_capacity_and_hasher(flags.len(), RandomSeed::default());
        for (i, flags) in flags.iter_mut().enumerate() {
            let source = self.source.as_ref().and_then(|column| column[i]);
            let references: Vec<_> = self.references.iter().map(|column| column[i]).collect();
            if !earlier_texts.insert((source, references)) {
                *flags |= REPEATED;
            }
        }
    }
}

/// A job that computes the flags of all texts.
struct FlagsJob<'a> {
    texts: &'a FlaggedTexts<'a>,
    options: &'a FlagOptions,
}

impl Job for FlagsJob<'_> {
    type Output = Vec<FlaggedColumn>;

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> Vec<FlaggedColumn> {
        self.texts.flag_columns::<V>(self.options)
    }
}

/// Randomly seeded hashes, so that no texts can be constructed to collide.
struct RandomSeed(u64);

impl Default for RandomSeed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for RandomSeed {
    type Hasher = SeededHasher;

    fn build_hasher(&self) -> SeededHasher {
        SeededHasher(self.0)
    }
}

struct SeededHasher(u64);

impl Hasher for SeededHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
