//! Segmentation of Japanese and Korean text into morphemes, with a compiled dictionary of MeCab
//! 0.996 (Kudo, Yamamoto and Matsumoto 2004) or of its Korean version, with the same results as
//! MeCab.
//!
//! A text is split into the sequence of words with the lowest total cost. Each word has a cost, and
//! so does each pair of adjacent words. The candidates at a position are words from the dictionary.
//! If the dictionary has none, or if the character type requires it, words are also generated. Ties
//! are broken by the order in which MeCab visits the words, so the order is the same here.
//!
//! The dictionary files are memory-mapped and read in place. Their contents are not trusted: even
//! with corrupt files, every text can be tokenized.

use super::utf8::char_width;
use super::whitespace;
use crate::error::Error;
use crate::interrupt::Work;
#[cfg(any(unix, windows))]
use memmap2::Mmap;
use std::cell::Cell;
#[cfg(any(unix, windows))]
use std::fs::File;
use std::ops::Deref;
use std::path::Path;

/// Maximum extent of a word in bytes. MeCab stores this length in 16 bits.
const MAX_WORD_BYTES: usize = 65_535;

/// Default maximum number of characters after the first in a generated word.
const DEFAULT_GROUP_SIZE: usize = 24;

/// Size in bytes of the header of a word list.
const HEADER_BYTES: usize = 72;

/// Number of entries in the character table, which covers the Basic Multilingual Plane except
/// U+FFFF.
const CHARACTER_COUNT: usize = 65_535;

/// The contents of a file, memory-mapped or in memory.
pub enum FileBytes {
    /// A memory-mapped file.
    #[cfg(any(unix, windows))]
    Mapped(Mmap),
    /// Owned bytes.
    Owned(Vec<u8>),
    /// Static bytes.
    Static(&'static [u8]),
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            #[cfg(any(unix, windows))]
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
            Self::Static(bytes) => bytes,
        }
    }
}

/// The files of a dictionary.
pub struct DictionaryFiles {
    /// `sys.dic`: the words.
    pub words: FileBytes,
    /// `unk.dic`: the properties of generated words, per character type.
    pub unknown: FileBytes,
    /// `matrix.bin`: the connection costs of word types.
    pub matrix: FileBytes,
    /// `char.bin`: the types of each character.
    pub characters: FileBytes,
    /// `dicrc`: the settings.
    pub settings: FileBytes,
}

impl DictionaryFiles {
    /// The file names, in the order of the fields.
    pub const NAMES: [&str; 5] = ["sys.dic", "unk.dic", "matrix.bin", "char.bin", "dicrc"];
}

/// A word list: a double array that maps spellings to ranges of `entries`.
struct Lexicon<'a> {
    array: &'a [[u8; 8]],
    entries: &'a [[u8; 16]],
}

/// The header of a word list.
struct LexiconHeader {
    words: u32,
    /// The number of left word types, and the number of right word types.
    type_counts: (u32, u32),
    array: usize,
    entries: usize,
}

/// A dictionary word. Several words may have the same spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordEntry {
    /// The word types that determine the costs of the connections to the left and right neighbours.
    left_type: u16,
    right_type: u16,
    part_of_speech: u16,
    cost: i16,
}

impl WordEntry {
    #[inline(always)]
    fn new(bytes: &[u8; 16]) -> Self {
        let read_u16 = |i: usize| u16::from_le_bytes([bytes[i], bytes[i + 1]]);
        Self {
            left_type: read_u16(0),
            right_type: read_u16(2),
            part_of_speech: read_u16(4),
            cost: read_u16(6) as i16,
        }
    }
}

/// Read a 32-bit integer.
fn read_u32(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?))
}

impl LexiconHeader {
    /// Read and check the header of a word list.
    fn from_bytes(bytes: &[u8], expected_kind: u32) -> Result<Self, String> {
        let mut fields = [0; 10];
        for (i, field) in fields.iter_mut().enumerate() {
            *field = read_u32(bytes, 4 * i).ok_or("the file is too short for a header")?;
        }
        let [magic, version, list_kind, words, left, right, array, entries, features, _] = fields;
        let charset = bytes.get(40..HEADER_BYTES).ok_or("the file is too short for a header")?;
        if magic ^ 0xEF71_8F77 != bytes.len() as u32 || version != 102 || list_kind != expected_kind
        {
            return Err("the file is not a MeCab dictionary, or is incomplete".to_owned());
        }
        let charset = charset.split(|&byte| byte == 0).next().unwrap_or_default();
        if !["utf8", "utf-8", "utf_8"]
            .iter()
            .any(|name| charset.eq_ignore_ascii_case(name.as_bytes()))
        {
            let charset = String::from_utf8_lossy(charset);
            return Err(format!("unsupported encoding {charset} (expected UTF-8)"));
        }
        let sizes = [array, entries, features].map(u64::from);
        if HEADER_BYTES as u64 + sizes.iter().sum::<u64>() != bytes.len() as u64
            || array % 8 != 0
            || u64::from(entries) != 16 * u64::from(words)
        {
            return Err("the sizes in the header do not match the file size".to_owned());
        }
        Ok(Self {
            words,
            type_counts: (left, right),
            array: array as usize,
            entries: entries as usize,
        })
    }

    fn lexicon<'a>(&self, bytes: &'a [u8]) -> Lexicon<'a> {
        let (array, after) = bytes[HEADER_BYTES..].split_at(self.array);
        let (array, _) = array.as_chunks();
        let (entries, _) = after[..self.entries].as_chunks();
        Lexicon { array, entries }
    }
}

/// Decode a unit of the double array. Return the base of the unit's children (or a negative value),
/// and the unit's owner.
#[inline(always)]
fn decode_unit(bytes: &[u8; 8]) -> (i32, u32) {
    let bits = u64::from_le_bytes(*bytes);
    (bits as i32, (bits >> 32) as u32)
}

impl<'a> Lexicon<'a> {
    /// Return the value of the spelling that ends at the node with this base. The lowest byte is
    /// the number of entries, and the other bits are the index of the first entry.
    #[inline(always)]
    fn value(&self, base: u32) -> Option<u32> {
        let (value, owner) = decode_unit(self.array.get(base as usize)?);
        (owner == base && value < 0).then_some(!value as u32)
    }

    /// Return the entries that a value refers to.
    #[inline(always)]
    fn entries_of_value(&self, value: u32) -> &'a [[u8; 16]] {
        let first = (value >> 8) as usize;
        self.entries.get(first..first + (value & 255) as usize).unwrap_or_default()
    }

    /// Return the base of the child node for a byte.
    #[inline(always)]
    fn follow_byte(&self, base: u32, byte: u8) -> Option<u32> {
        let index = base.wrapping_add(u32::from(byte) + 1);
        let (next, owner) = decode_unit(self.array.get(index as usize)?);
        (owner == base).then_some(next as u32)
    }

    /// Return the base of the root.
    fn root(&self) -> Option<u32> {
        Some(decode_unit(self.array.first()?).0 as u32)
    }

    /// Return the entries with this spelling.
    fn find_spelling(&self, spelling: &[u8]) -> Option<&'a [[u8; 16]]> {
        let base =
            spelling.iter().try_fold(self.root()?, |base, &byte| self.follow_byte(base, byte))?;
        Some(self.entries_of_value(self.value(base)?))
    }
}

/// A bit field with the types of a character and the rules for generating words that start with it.
#[derive(Clone, Copy, Default)]
struct CharacterTypes(u32);

impl CharacterTypes {
    /// Return whether two characters have a common type.
    fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 & 0x3_FFFF != 0
    }

    /// Return the type of the words that are generated from the character.
    fn default_type(self) -> usize {
        (self.0 >> 18 & 255) as usize
    }

    /// Return the maximum length, in characters, of generated words that are not complete runs.
    fn max_length(self) -> usize {
        (self.0 >> 26 & 15) as usize
    }

    /// Return whether a word is generated from a complete run of characters of related types.
    fn groups_runs(self) -> bool {
        self.0 >> 30 & 1 == 1
    }

    /// Return whether words are generated even where the dictionary has words.
    fn always_generates(self) -> bool {
        self.0 >> 31 == 1
    }
}

/// A MeCab dictionary.
pub struct MecabDictionary {
    files: DictionaryFiles,
    words: LexiconHeader,
    /// The properties of generated words, per character type.
    unknown: Vec<Vec<WordEntry>>,
    /// The offset of the character table in its file.
    character_offset: usize,
    /// The number of left word types, which is the length of a matrix row.
    row_length: usize,
    /// The types of the space character.
    space_types: CharacterTypes,
    /// The costs added to a word after white space, by part of speech (Korean version only).
    penalties: Vec<i32>,
    max_group_size: usize,
}

impl std::fmt::Debug for MecabDictionary {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Dictionary({} words)", self.words.words)
    }
}

impl MecabDictionary {
    /// Memory-map the files in a folder, or read them on platforms without memory mapping.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let map = |name: &str| {
            let path = folder.join(name);
            let problem = |error: std::io::Error| {
                Error::Input(format!("{}: cannot open dictionary file: {error}", path.display()))
            };
            #[cfg(any(unix, windows))]
            {
                let file = File::open(&path).map_err(problem)?;
                // SAFETY: the map is only read, and all contents are checked on use. If another
                // program changes the file, only the tokens change. The operating system requires
                // that a mapped file is not truncated.
                unsafe { Mmap::map(&file) }.map(FileBytes::Mapped).map_err(problem)
            }
            #[cfg(not(any(unix, windows)))]
            std::fs::read(&path).map(FileBytes::Owned).map_err(problem)
        };
        let [words, unknown, matrix, characters, settings] = DictionaryFiles::NAMES;
        let files = DictionaryFiles {
            words: map(words)?,
            unknown: map(unknown)?,
            matrix: map(matrix)?,
            characters: map(characters)?,
            settings: map(settings)?,
        };
        Self::new(files).map_err(|(name, problem)| {
            Error::Input(format!("{}: {problem}", folder.join(name).display()))
        })
    }

    /// Create a dictionary from these files. On failure, return the invalid file and the problem.
    pub fn new(files: DictionaryFiles) -> Result<Self, (&'static str, String)> {
        let [words_name, unknown_name, matrix_name, characters_name, _] = DictionaryFiles::NAMES;
        let words =
            LexiconHeader::from_bytes(&files.words, 0).map_err(|problem| (words_name, problem))?;
        let unknown = LexiconHeader::from_bytes(&files.unknown, 2)
            .map_err(|problem| (unknown_name, problem))?;
        let size = read_u32(&files.matrix, 0).map_or((0, 0), |sizes| (sizes & 0xFFFF, sizes >> 16));
        if files.matrix.len() as u64 != 4 + 2 * u64::from(size.0) * u64::from(size.1) {
            return Err((matrix_name, "the file size does not match the header".to_owned()));
        }
        if words.type_counts != size || unknown.type_counts != size {
            return Err((
                matrix_name,
                "the file and sys.dic belong to different dictionaries".to_owned(),
            ));
        }
        let character_error = |problem: &str| (characters_name, problem.to_owned());
        let type_count = read_u32(&files.characters, 0).map_or(0, |count| count as usize);
        let start = 4 + 32 * type_count.min(256);
        if type_count > 18 || files.characters.len() != start + 4 * CHARACTER_COUNT {
            return Err(character_error("the file size does not match the header"));
        }
        let lexicon = unknown.lexicon(&files.unknown);
        let generated = files.characters[4..start].chunks(32).map(|name| {
            let name = name.split(|&byte| byte == 0).next()?;
            Some(lexicon.find_spelling(name)?.iter().map(WordEntry::new).collect())
        });
        let unknown = generated.collect::<Option<_>>().ok_or_else(|| {
            character_error("unk.dic lacks a character type that this file defines")
        })?;
        let settings = DictionarySettings::parse(&files.settings);
        let mut dictionary = Self {
            words,
            unknown,
            character_offset: start,
            row_length: size.0 as usize,
            space_types: CharacterTypes::default(),
            penalties: settings.penalties,
            max_group_size: settings.max_group_size,
            files,
        };
        dictionary.space_types = dictionary.reader(b"").types_of_point(u32::from(b' '));
        Ok(dictionary)
    }

    /// Return the number of words.
    pub fn word_count(&self) -> u32 {
        self.words.words
    }

    /// Return a checksum of all data except the features, which do not affect tokenization.
    /// Dictionaries that tokenize any text differently almost certainly have different checksums.
    pub fn checksum(&self) -> u64 {
        let DictionaryFiles { words, unknown, matrix, characters, .. } = &self.files;
        let data_end = HEADER_BYTES + self.words.array + self.words.entries;
        let settings = self.penalties.iter().flat_map(|penalty| penalty.to_le_bytes());
        let settings =
            settings.chain((self.max_group_size as u64).to_le_bytes()).collect::<Vec<_>>();
        let parts = [&words[HEADER_BYTES..data_end], unknown, matrix, characters, &settings];
        parts.into_iter().fold(0, mix_checksum)
    }

    /// Check all data. [`MecabDictionary::new`] skips this check for speed.
    pub fn check_data(&self) -> Result<(), Error> {
        let view = self.reader(b"");
        let (left, right) = self.words.type_counts;
        let is_known = |entry: &WordEntry| {
            u32::from(entry.right_type) < left && u32::from(entry.left_type) < right
        };
        let Lexicon { array, entries } = view.words;
        let is_in_range = |bytes: &[u8; 8]| {
            let value = !decode_unit(bytes).0;
            value < 0 || (value >> 8) as usize + (value & 255) as usize <= entries.len()
        };
        let corrupt = |name| Err(Error::Input(format!("the dictionary file {name} is corrupt")));
        let [words, unknown, ..] = DictionaryFiles::NAMES;
        if !array.iter().all(is_in_range)
            || !entries.iter().all(|bytes| is_known(&WordEntry::new(bytes)))
        {
            return corrupt(words);
        }
        if !self.unknown.iter().flatten().all(is_known) {
            return corrupt(unknown);
        }
        Ok(())
    }

    /// Return a reader that splits `text` with this dictionary.
    fn reader<'a>(&'a self, text: &'a [u8]) -> DictionaryReader<'a> {
        let DictionaryFiles { words, matrix, characters, .. } = &self.files;
        let (matrix, _) = matrix[4..].as_chunks();
        let (characters, _) = characters[self.character_offset..].as_chunks();
        DictionaryReader {
            dictionary: self,
            words: self.words.lexicon(words),
            matrix,
            characters,
            text,
        }
    }

    /// Emit the tokens of `text`, which must not start or end with white space. The tokens are
    /// MeCab's words, split at white space as in sacreBLEU.
    pub fn tokenize(&self, text: &[u8], mut emit: impl FnMut(usize, usize)) {
        self.split_words(text, |start, end| {
            whitespace::tokenize_whitespace(&text[start..end], |token_start, token_end| {
                emit(start + token_start, start + token_end)
            });
        });
    }

    /// Emit the words of `text`, which must not start or end with white space.
    ///
    /// Text after a NUL is ignored, as in MeCab. MeCab rejects texts with a total cost of 2^31 or
    /// more; this function splits them, too.
    pub fn split_words(&self, text: &[u8], mut emit: impl FnMut(usize, usize)) {
        thread_local! {
            static LATTICE: Cell<Lattice> = Cell::default();
        }
        let text = &text[..memchr::memchr(0, text).unwrap_or(text.len())];
        let mut lattice = LATTICE.take();
        lattice.find_path(&self.reader(text));
        for &(start, length) in lattice.path.iter().rev() {
            emit(start as usize, start as usize + usize::from(length));
        }
        // Keep the memory for the next text, unless this text was unusually long.
        if lattice.nodes.capacity() <= MAX_KEPT_NODES {
            LATTICE.set(lattice);
        }
    }
}

/// Mix bytes into a checksum. Each step is invertible, so a single difference always changes the
/// result. With eight independent lanes, the computation is faster than memory access.
fn mix_checksum(seed: u64, bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let step = |sum: u64, word: u64| (sum.rotate_left(29) ^ word).wrapping_mul(FACTOR);
    let mut lanes = [seed; 8];
    let (blocks, remainder) = bytes.as_chunks::<64>();
    let mut last = [0; 64];
    last[..remainder.len()].copy_from_slice(remainder);
    for block in blocks.iter().chain([&last]) {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = step(*lane, u64::from_le_bytes(*word));
        }
    }
    lanes.into_iter().fold(bytes.len() as u64, step)
}

/// Maximum number of nodes for which a thread keeps memory between texts.
const MAX_KEPT_NODES: usize = 1 << 18;

/// The settings in `dicrc` that affect tokenization.
struct DictionarySettings {
    penalties: Vec<i32>,
    max_group_size: usize,
}

impl DictionarySettings {
    fn parse(bytes: &[u8]) -> Self {
        let mut settings = Self { penalties: Vec::new(), max_group_size: DEFAULT_GROUP_SIZE };
        for line in String::from_utf8_lossy(bytes).lines() {
            let Some((name, value)) = line.split_once('=') else { continue };
            let numbers = value.split(',').map_while(|number| number.trim().parse::<i32>().ok());
            match name.trim() {
                "left-space-penalty-factor" => {
                    let numbers: Vec<i32> = numbers.collect();
                    for pair in numbers.chunks_exact(2) {
                        if let Ok(part) = u16::try_from(pair[0]) {
                            let length = settings.penalties.len().max(usize::from(part) + 1);
                            settings.penalties.resize(length, 0);
                            settings.penalties[usize::from(part)] = pair[1];
                        }
                    }
                }
                "max-grouping-size" => {
                    let size = numbers.last().and_then(|size| usize::try_from(size).ok());
                    settings.max_group_size = size
                        .filter(|&size| size > 0)
                        .unwrap_or(DEFAULT_GROUP_SIZE)
                        .min(MAX_WORD_BYTES);
                }
                _ => {}
            }
        }
        settings
    }
}

/// A text to split, and the parts of the dictionary that are needed for splitting.
struct DictionaryReader<'a> {
    dictionary: &'a MecabDictionary,
    words: Lexicon<'a>,
    matrix: &'a [[u8; 2]],
    characters: &'a [[u8; 4]],
    text: &'a [u8],
}

impl<'a> DictionaryReader<'a> {
    /// Return the types of a code point.
    #[inline(always)]
    fn types_of_point(&self, point: u32) -> CharacterTypes {
        let bytes = self.characters.get(point as usize);
        CharacterTypes(bytes.map_or(0, |&bytes| u32::from_le_bytes(bytes)))
    }

    /// Return the types and the width of the character at `position`. Like MeCab, treat a four-byte
    /// character, or one that `limit` truncates, as U+0000.
    #[inline(always)]
    fn character_at(&self, position: usize, limit: usize) -> (CharacterTypes, usize) {
        let text = self.text.get(position..).unwrap_or_default();
        let available = limit.saturating_sub(position);
        let point = |lead: u8, tail: &[u8]| {
            tail.iter().fold(u32::from(lead), |point, byte| point << 6 | u32::from(byte & 63))
        };
        match *text {
            [byte, ..] if byte < 0x80 => (self.types_of_point(u32::from(byte)), 1),
            [lead @ 0xE0..=0xEF, ..] if available >= 3 => {
                (self.types_of_point(point(lead & 15, &text[1..3])), 3)
            }
            [lead @ 0xC0..=0xDF, ..] if available >= 2 => {
                (self.types_of_point(point(lead & 31, &text[1..2])), 2)
            }
            [0xF0..=0xF7, ..] if available >= 4 => (self.types_of_point(0), 4),
            _ => (self.types_of_point(0), 1),
        }
    }

    /// Return the run of characters at `position` in which each character shares a type with its
    /// predecessor. The character before `position` has the types `types`. Examine at most
    /// `max_count` characters.
    #[inline(always)]
    fn find_run(
        &self,
        mut position: usize,
        limit: usize,
        mut types: CharacterTypes,
        max_count: usize,
    ) -> CharacterRun {
        let mut run = CharacterRun { end: position, count: 0, next: None };
        while position < limit && run.count < max_count {
            let (next_types, width) = self.character_at(position, limit);
            run.next = Some((next_types, width));
            if !types.overlaps(next_types) {
                break;
            }
            types = next_types;
            position += width;
            run.count += 1;
        }
        run.end = position;
        run
    }

    /// Generate words at `start`, after any white space. `types` and `width` describe the character
    /// at `start`. `has_words` indicates whether the dictionary has words there.
    #[inline(always)]
    fn generate_words(
        &self,
        (start, limit): (usize, usize),
        (types, width): (CharacterTypes, usize),
        mut has_words: bool,
        mut emit: impl FnMut(&WordEntry, usize),
    ) {
        let entries =
            self.dictionary.unknown.get(types.default_type()).map_or(&[][..], Vec::as_slice);
        let mut emit_word = |end: usize| {
            for entry in entries {
                emit(entry, end);
            }
            !entries.is_empty()
        };
        let mut end = start + width;
        let mut group = None;
        if types.groups_runs() {
            // A longer run is never a word, and no shorter word can end where it ends.
            let max_count = self.dictionary.max_group_size.max(types.max_length()) + 1;
            let run = self.find_run(end, limit, types, max_count);
            if run.count <= self.dictionary.max_group_size {
                has_words |= emit_word(run.end);
            }
            group = Some(run.end);
        }
        for _ in 0..types.max_length() {
            if end > limit || group == Some(end) {
                break;
            }
            has_words |= emit_word(end);
            let (next_types, width) = self.character_at(end, limit);
            if !types.overlaps(next_types) {
                break;
            }
            end += width;
        }
        if !has_words {
            emit_word(end);
        }
    }
}

/// A run of characters in which each character shares a type with its predecessor.
struct CharacterRun {
    end: usize,
    count: usize,
    next: Option<(CharacterTypes, usize)>,
}

/// A word at a position of the text, with the cheapest path to it.
#[derive(Clone, Copy)]
struct Node {
    cost: i64,
    /// The previous word on the path.
    previous: u32,
    /// The previous node in the list of nodes with the same end.
    next: u32,
    start: u32,
    length: u16,
    right_type: u16,
}

/// The index that means "no node".
const NONE: u32 = u32::MAX;

/// A dictionary word found at a position of the text.
#[derive(Clone, Copy)]
struct CandidateWord {
    entry: WordEntry,
    length: u16,
}

/// The search for the words that start at one position.
#[derive(Clone, Copy)]
struct PrefixSearch {
    start: u32,
    /// The position of the next byte.
    position: u32,
    /// The base of the children of the prefix in the double array.
    base: u32,
}

/// A dictionary spelling found in the text.
#[derive(Clone, Copy, Default)]
struct SpellingMatch {
    start: u32,
    length: u32,
    value: u32,
}

/// All dictionary words that start in one window of the text.
///
/// Each search step waits for memory. The searches of a window therefore advance in turn, so that
/// their waiting times overlap.
#[derive(Default)]
struct WindowLookup {
    window_start: usize,
    window_end: usize,
    searches: Vec<PrefixSearch>,
    matches: Vec<SpellingMatch>,
    /// For each byte of the window, the index in `words` of the first word that starts there. The
    /// last entry is the length of `words`.
    offsets: Vec<u32>,
    words: Vec<CandidateWord>,
}

/// Size of the window in bytes.
const WINDOW_BYTES: usize = 768;

impl WindowLookup {
    fn clear(&mut self) {
        (self.window_start, self.window_end) = (0, 0);
    }

    /// Return the words that start at `start`, shortest first.
    fn words_at(&mut self, view: &DictionaryReader<'_>, start: usize) -> &[CandidateWord] {
        let is_char_start = |byte: u8| byte & 0xC0 != 0x80;
        let is_searched = self.window_start == start || is_char_start(view.text[start]);
        if !(self.window_start..self.window_end).contains(&start) || !is_searched {
            self.search_window(view, start);
        }
        let offset = start - self.window_start;
        &self.words[self.offsets[offset] as usize..self.offsets[offset + 1] as usize]
    }

    #[inline(never)]
    fn search_window(&mut self, view: &DictionaryReader<'_>, window_start: usize) {
        let Self { searches, matches, offsets, words, .. } = self;
        let DictionaryReader { text, words: lexicon, .. } = view;
        let window_end = text.len().min(window_start + WINDOW_BYTES);
        (self.window_start, self.window_end) = (window_start, window_end);
        searches.clear();
        offsets.clear();
        offsets.resize(window_end - window_start + 2, 0);
        let root = lexicon.root().unwrap_or(0);
        for start in window_start..window_end {
            if text[start] & 0xC0 != 0x80 || start == window_start {
                searches.push(PrefixSearch {
                    start: start as u32,
                    position: start as u32,
                    base: root,
                });
            }
        }
        matches.clear();
        while !searches.is_empty() {
            // Move the unfinished searches to the front.
            let mut active_count = 0;
            for i in 0..searches.len() {
                let PrefixSearch { start, position: at, mut base } = searches[i];
                let width_here = text.get(at as usize).map_or(0, |&lead| char_width(lead));
                let next_position = at as usize + width_here;
                // No spelling ends inside a character.
                let Some(bytes) =
                    text.get(next_position - width_here..next_position).filter(|_| width_here > 0)
                else {
                    continue;
                };
                let is_prefix = bytes.iter().all(|&byte| {
                    let next = lexicon.follow_byte(base, byte);
                    base = next.unwrap_or(base);
                    next.is_some()
                });
                if !is_prefix {
                    continue;
                }
                searches[active_count] =
                    PrefixSearch { start, position: next_position as u32, base };
                active_count += 1;
                if let Some(value) = lexicon.value(base) {
                    matches.push(SpellingMatch {
                        start,
                        length: next_position as u32 - start,
                        value,
                    });
                }
            }
            searches.truncate(active_count);
        }
        for found in &matches[..] {
            offsets[found.start as usize - window_start + 2] +=
                lexicon.entries_of_value(found.value).len() as u32;
        }
        let mut sum = 0;
        for offset in &mut offsets[..] {
            sum += *offset;
            *offset = sum;
        }
        let empty_word = CandidateWord { entry: WordEntry::new(&[0; 16]), length: 0 };
        words.clear();
        words.resize(sum as usize, empty_word);
        for found in &matches[..] {
            // The index for the next word of this position. After the last word, it is the start of
            // the next position's words.
            let offset = &mut offsets[found.start as usize - window_start + 1];
            for entry in lexicon.entries_of_value(found.value) {
                words[*offset as usize] =
                    CandidateWord { entry: WordEntry::new(entry), length: found.length as u16 };
                *offset += 1;
            }
        }
    }
}

/// The words that end at a position of the text.
#[derive(Clone, Copy)]
struct EndPosition {
    /// The most recently connected node that ends here.
    last_node: u32,
    /// The lowest cost of the nodes that end here.
    lowest_cost: i64,
}

/// A node that ends at the position where the next words start.
struct Neighbour {
    /// The excess over the lowest cost. The low 32 bits break ties in favour of the most recent
    /// node.
    key: i64,
    right_type: u16,
}

/// A node that costs this much more than another is never on the cheapest path, because connection
/// costs have 16 bits.
const MAX_COST_DIFFERENCE: i64 = 1 << 20;

/// Buffers for the words of one text.
#[derive(Default)]
struct Lattice {
    lookup: WindowLookup,
    nodes: Vec<Node>,
    ends: Vec<EndPosition>,
    generated: Vec<CandidateWord>,
    neighbours: Vec<Neighbour>,
    /// For each right word type, the cheapest connection to it, and the position for which this
    /// connection is valid.
    connections: Vec<(u64, i64)>,
    /// A number that is unique for each position.
    position_id: u64,
    /// The words of the cheapest path, last word first, as start and length.
    path: Vec<(u32, u16)>,
}

/// Collect the nodes that end at one position. They are the left neighbours of the next words.
#[inline(always)]
fn collect_neighbours(neighbours: &mut Vec<Neighbour>, nodes: &[Node], end: EndPosition) {
    neighbours.clear();
    let mut node_index = end.last_node;
    while let Some(node) = nodes.get(node_index as usize) {
        let extra_cost = (node.cost - end.lowest_cost).min(MAX_COST_DIFFERENCE);
        neighbours.push(Neighbour {
            key: extra_cost << 32 | i64::from(!node_index),
            right_type: node.right_type,
        });
        node_index = node.next;
    }
}

/// Return the key of the cheapest neighbour of a word of type `left_type`, plus the connection
/// cost.
#[inline(always)]
fn cheapest_key(neighbours: &[Neighbour], view: &DictionaryReader<'_>, left_type: u16) -> i64 {
    let length = view.dictionary.row_length;
    let start = length * usize::from(left_type);
    let row = view.matrix.get(start..start + length).unwrap_or_default();
    let mut best = i64::MAX;
    for neighbour in neighbours {
        let cost = row.get(usize::from(neighbour.right_type));
        let cost = cost.map_or(i16::MAX, |&bytes| i16::from_le_bytes(bytes));
        best = best.min(neighbour.key + (i64::from(cost) << 32));
    }
    best
}

impl Lattice {
    /// Find the cheapest path through a text.
    fn find_path(&mut self, view: &DictionaryReader<'_>) {
        // The compiler can keep local variables in registers, but not fields.
        let mut nodes = std::mem::take(&mut self.nodes);
        let mut ends = std::mem::take(&mut self.ends);
        let mut neighbours = std::mem::take(&mut self.neighbours);
        let mut connections = std::mem::take(&mut self.connections);
        let Self { lookup, generated, position_id, path, .. } = self;
        let size = view.text.len();
        lookup.clear();
        nodes.clear();
        ends.clear();
        path.clear();
        ends.resize(size + 1, EndPosition { last_node: NONE, lowest_cost: i64::MAX });
        nodes.push(Node {
            cost: 0,
            previous: NONE,
            next: NONE,
            start: 0,
            length: 0,
            right_type: 0,
        });
        ends[0] = EndPosition { last_node: 0, lowest_cost: 0 };
        connections
            .resize(connections.len().max(view.dictionary.words.type_counts.1 as usize), (0, 0));
        let mut work = Work::default();
        for position in 0..size {
            work.add(16);
            let end_here = ends[position];
            if end_here.last_node == NONE {
                continue;
            }
            let limit = size.min(position + MAX_WORD_BYTES);
            let CharacterRun { end: start, next, .. } =
                view.find_run(position, limit, view.dictionary.space_types, usize::MAX);
            let Some(first_character) = next.filter(|_| start < size) else { continue };
            let mut words = lookup.words_at(view, start);
            while let [shorter @ .., word] = words
                && start < limit
                && start + usize::from(word.length) > limit
            {
                words = shorter;
            }
            generated.clear();
            if words.is_empty() || first_character.0.always_generates() {
                let has_words = !words.is_empty();
                view.generate_words((start, limit), first_character, has_words, |&entry, end| {
                    generated.push(CandidateWord { entry, length: (end - start) as u16 });
                });
            }
            collect_neighbours(&mut neighbours, &nodes, end_here);
            *position_id += 1;
            let penalties = if start > position { &view.dictionary.penalties[..] } else { &[] };
            // MeCab stores the extent of a word, including white space before it, in 16 bits.
            let space = (start - position) as u16;
            // MeCab connects the most recently generated word first, which decides ties.
            for words in [&generated[..], words] {
                for &CandidateWord { entry, length } in words.iter().rev() {
                    let end = position + usize::from(space.wrapping_add(length));
                    let Some(end) = ends.get_mut(end) else { continue };
                    let key = match connections.get_mut(usize::from(entry.left_type)) {
                        Some((valid_id, key)) => {
                            if *valid_id != *position_id {
                                *valid_id = *position_id;
                                *key = cheapest_key(&neighbours, view, entry.left_type);
                            }
                            *key
                        }
                        None => cheapest_key(&neighbours, view, entry.left_type),
                    };
                    let penalty = penalties.get(usize::from(entry.part_of_speech)).unwrap_or(&0);
                    let word_cost = i64::from(entry.cost) + i64::from(*penalty);
                    let cost = end_here.lowest_cost + (key >> 32) + word_cost;
                    let next = std::mem::replace(&mut end.last_node, nodes.len() as u32);
                    end.lowest_cost = end.lowest_cost.min(cost);
                    let (previous, start, right) = (!(key as u32), start as u32, entry.right_type);
                    nodes.push(Node { cost, previous, next, start, length, right_type: right });
                }
            }
        }
        let last = ends.iter().rfind(|end| end.last_node != NONE);
        collect_neighbours(&mut neighbours, &nodes, *last.unwrap_or(&ends[0]));
        let mut node_index = !(cheapest_key(&neighbours, view, 0) as u32);
        while node_index != 0 {
            let Some(node) = nodes.get(node_index as usize) else { break };
            path.push((node.start, node.length));
            node_index = node.previous;
        }
        (self.nodes, self.ends, self.neighbours, self.connections) =
            (nodes, ends, neighbours, connections);
    }
}
