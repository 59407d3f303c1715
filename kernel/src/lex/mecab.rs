//! Japanese and Korean morphemes, as MeCab 0.996 (Kudo, Yamamoto and Matsumoto 2004) and its Korean
//! version find them in one of their compiled dictionaries.
//!
//! A text is read as the words that cost least in all: each word has a cost, and each two that
//! follow each other. The words that may start at a place are those of the dictionary, and, where it
//! has none or the kind of character asks for it, made-up ones of the characters there. Equal costs
//! are settled by the order in which MeCab comes to the words, so that order is kept here.
//!
//! The dictionary's files are mapped and read in place. Nothing in them is trusted: whatever they
//! hold, a text has some tokens.

use super::utf8::width;
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

/// A word's longest reach, in bytes: what MeCab keeps lengths in has 16 bits.
const REACH: usize = 65_535;

/// The most characters beside the first that are one made-up word, unless a dictionary says another.
const GROUPED: usize = 24;

/// The part of the header of both lists of words that says how they were made, in bytes.
const HEADER: usize = 72;

/// The entries of the table of characters: all of the basic plane but the last.
const CHARACTERS: usize = 65_535;

/// A file's bytes: mapped, or in memory.
pub enum Bytes {
    /// A mapped file.
    #[cfg(any(unix, windows))]
    Mapped(Mmap),
    /// Bytes of its own.
    Owned(Vec<u8>),
    /// Bytes that are always there.
    Static(&'static [u8]),
}

impl Deref for Bytes {
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
pub struct Files {
    /// `sys.dic`: the words.
    pub words: Bytes,
    /// `unk.dic`: the made-up words of each kind of character.
    pub unknown: Bytes,
    /// `matrix.bin`: the cost of each kind of word behind each other.
    pub matrix: Bytes,
    /// `char.bin`: the kinds of each character.
    pub characters: Bytes,
    /// `dicrc`: settings.
    pub settings: Bytes,
}

impl Files {
    /// The names of the files, in the order of the fields.
    pub const NAMES: [&str; 5] = ["sys.dic", "unk.dic", "matrix.bin", "char.bin", "dicrc"];
}

/// A list of words: a double array from spellings to places in `entries`.
struct Lexicon<'a> {
    array: &'a [[u8; 8]],
    entries: &'a [[u8; 16]],
}

/// What the header of a list of words says.
struct Header {
    words: u32,
    /// The kinds of word, as the left and as the right of two.
    kinds: (u32, u32),
    array: usize,
    entries: usize,
}

/// A word that a spelling may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The kind of word it is to its left neighbour, and to its right one.
    left: u16,
    right: u16,
    part_of_speech: u16,
    cost: i16,
}

impl Entry {
    #[inline(always)]
    fn new(bytes: &[u8; 16]) -> Self {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self { left: half(0), right: half(2), part_of_speech: half(4), cost: half(6) as i16 }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

impl Header {
    /// Reads and checks the header of one of a dictionary's two lists of words.
    fn read(bytes: &[u8], kind: u32) -> Result<Self, String> {
        let mut fields = [0; 10];
        for (i, field) in fields.iter_mut().enumerate() {
            *field = u32_at(bytes, 4 * i).ok_or("it is too short for a header")?;
        }
        let [magic, version, is, words, left, right, array, entries, features, _] = fields;
        let charset = bytes.get(40..HEADER).ok_or("it is too short for a header")?;
        if magic ^ 0xEF71_8F77 != bytes.len() as u32 || version != 102 || is != kind {
            return Err("it is no dictionary of MeCab's, or not all of it".to_owned());
        }
        let charset = charset.split(|&byte| byte == 0).next().unwrap_or_default();
        if !["utf8", "utf-8", "utf_8"]
            .iter()
            .any(|name| charset.eq_ignore_ascii_case(name.as_bytes()))
        {
            let charset = String::from_utf8_lossy(charset);
            return Err(format!("its text is {charset}; only dictionaries in UTF-8 can be used"));
        }
        let sizes = [array, entries, features].map(u64::from);
        if HEADER as u64 + sizes.iter().sum::<u64>() != bytes.len() as u64
            || array % 8 != 0
            || u64::from(entries) != 16 * u64::from(words)
        {
            return Err("its parts do not add up to its size".to_owned());
        }
        Ok(Self { words, kinds: (left, right), array: array as usize, entries: entries as usize })
    }

    fn lexicon<'a>(&self, bytes: &'a [u8]) -> Lexicon<'a> {
        let (array, rest) = bytes[HEADER..].split_at(self.array);
        let (array, _) = array.as_chunks();
        let (entries, _) = rest[..self.entries].as_chunks();
        Lexicon { array, entries }
    }
}

/// A unit of a double array: where its followers start, or, below 0, a value; and whose it is.
#[inline(always)]
fn unit(bytes: &[u8; 8]) -> (i32, u32) {
    let bits = u64::from_le_bytes(*bytes);
    (bits as i32, (bits >> 32) as u32)
}

impl<'a> Lexicon<'a> {
    /// The value of the spelling that leads to the unit whose followers start at `base`: the number
    /// of its first entry, and in the last byte how many it has.
    #[inline(always)]
    fn value(&self, base: u32) -> Option<u32> {
        let (value, owner) = unit(self.array.get(base as usize)?);
        (owner == base && value < 0).then_some(!value as u32)
    }

    /// The entries of a value.
    #[inline(always)]
    fn entries(&self, value: u32) -> &'a [[u8; 16]] {
        let first = (value >> 8) as usize;
        self.entries.get(first..first + (value & 255) as usize).unwrap_or_default()
    }

    /// Where the followers of a byte start.
    #[inline(always)]
    fn follow(&self, base: u32, byte: u8) -> Option<u32> {
        let at = base.wrapping_add(u32::from(byte) + 1);
        let (next, owner) = unit(self.array.get(at as usize)?);
        (owner == base).then_some(next as u32)
    }

    fn root(&self) -> Option<u32> {
        Some(unit(self.array.first()?).0 as u32)
    }

    /// The entries with one spelling.
    fn find(&self, spelling: &[u8]) -> Option<&'a [[u8; 16]]> {
        let base = spelling.iter().try_fold(self.root()?, |base, &byte| self.follow(base, byte))?;
        Some(self.entries(self.value(base)?))
    }
}

/// The kinds of a character: its bits, and how made-up words start with it.
#[derive(Clone, Copy, Default)]
struct Kinds(u32);

impl Kinds {
    fn share(self, other: Self) -> bool {
        self.0 & other.0 & 0x3_FFFF != 0
    }

    /// The kind whose made-up words start with it.
    fn first(self) -> usize {
        (self.0 >> 18 & 255) as usize
    }

    /// The longest made-up word, beside a whole run of its kind.
    fn length(self) -> usize {
        (self.0 >> 26 & 15) as usize
    }

    /// True if a run of its kind is a made-up word.
    fn groups(self) -> bool {
        self.0 >> 30 & 1 == 1
    }

    /// True if words are made up even where the dictionary has some.
    fn always(self) -> bool {
        self.0 >> 31 == 1
    }
}

/// A dictionary of MeCab's.
pub struct Dictionary {
    files: Files,
    words: Header,
    /// Made-up words of each kind of character.
    unknown: Vec<Vec<Entry>>,
    /// Where the table of characters starts in its file.
    characters: usize,
    /// The kinds of word as the left of two: the length of a row of the matrix.
    row: usize,
    /// The kinds of a space.
    space: Kinds,
    /// Added to the cost of a word behind white space, by its part of speech: the Korean version's.
    penalties: Vec<i32>,
    grouped: usize,
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Dictionary({} words)", self.words.words)
    }
}

impl Dictionary {
    /// Maps the files in a folder; reads them where none can be mapped.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let map = |name: &str| {
            let path = folder.join(name);
            let problem = |error: std::io::Error| {
                Error::Input(format!("{}: {error}; it is part of a dictionary", path.display()))
            };
            #[cfg(any(unix, windows))]
            {
                let file = File::open(&path).map_err(problem)?;
                // SAFETY: the map is only read, and everything that is read is checked where it is
                // used; a file that another program changes meanwhile gives other tokens. The file
                // must not be cut short; that is the operating system's rule for mapped files.
                unsafe { Mmap::map(&file) }.map(Bytes::Mapped).map_err(problem)
            }
            #[cfg(not(any(unix, windows)))]
            std::fs::read(&path).map(Bytes::Owned).map_err(problem)
        };
        let [words, unknown, matrix, characters, settings] = Files::NAMES;
        let files = Files {
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

    /// A dictionary of these files; if they are none, which file is to blame and why.
    pub fn new(files: Files) -> Result<Self, (&'static str, String)> {
        let [words_name, unknown_name, matrix_name, characters_name, _] = Files::NAMES;
        let words = Header::read(&files.words, 0).map_err(|problem| (words_name, problem))?;
        let unknown = Header::read(&files.unknown, 2).map_err(|problem| (unknown_name, problem))?;
        let size = u32_at(&files.matrix, 0).map_or((0, 0), |both| (both & 0xFFFF, both >> 16));
        if files.matrix.len() as u64 != 4 + 2 * u64::from(size.0) * u64::from(size.1) {
            return Err((matrix_name, "its size is not what it says".to_owned()));
        }
        if words.kinds != size || unknown.kinds != size {
            return Err((matrix_name, "it is of another dictionary than the words".to_owned()));
        }
        let of_characters = |problem: &str| (characters_name, problem.to_owned());
        let kinds = u32_at(&files.characters, 0).map_or(0, |count| count as usize);
        let start = 4 + 32 * kinds.min(256);
        if kinds > 18 || files.characters.len() != start + 4 * CHARACTERS {
            return Err(of_characters("its size is not what it says"));
        }
        let lexicon = unknown.lexicon(&files.unknown);
        let made_up = files.characters[4..start].chunks(32).map(|name| {
            let name = name.split(|&byte| byte == 0).next()?;
            Some(lexicon.find(name)?.iter().map(Entry::new).collect())
        });
        let unknown = made_up
            .collect::<Option<_>>()
            .ok_or_else(|| of_characters("it has a kind of characters that unk.dic has not"))?;
        let settings = Settings::read(&files.settings);
        let mut dictionary = Self {
            words,
            unknown,
            characters: start,
            row: size.0 as usize,
            space: Kinds::default(),
            penalties: settings.penalties,
            grouped: settings.grouped,
            files,
        };
        dictionary.space = dictionary.view(b"").kinds(u32::from(b' '));
        Ok(dictionary)
    }

    /// The number of words.
    pub fn words(&self) -> u32 {
        self.words.words
    }

    /// A number that differs, in all likelihood, from that of any dictionary that would split some
    /// text in another way: of everything that is read, which is the files without the features.
    pub fn checksum(&self) -> u64 {
        let Files { words, unknown, matrix, characters, .. } = &self.files;
        let read = HEADER + self.words.array + self.words.entries;
        let settings = self.penalties.iter().flat_map(|penalty| penalty.to_le_bytes());
        let settings = settings.chain((self.grouped as u64).to_le_bytes()).collect::<Vec<_>>();
        let parts = [&words[HEADER..read], unknown, matrix, characters, &settings];
        parts.into_iter().fold(0, checksum)
    }

    /// Checks everything that is read, as [`Dictionary::new`] has no time to.
    pub fn check(&self) -> Result<(), Error> {
        let view = self.view(b"");
        let (left, right) = self.words.kinds;
        let is_known =
            |entry: &Entry| u32::from(entry.right) < left && u32::from(entry.left) < right;
        let Lexicon { array, entries } = view.words;
        let fits = |bytes: &[u8; 8]| {
            let value = !unit(bytes).0;
            value < 0 || (value >> 8) as usize + (value & 255) as usize <= entries.len()
        };
        let damaged = |name| Err(Error::Input(format!("{name} of the dictionary is damaged")));
        let [words, unknown, ..] = Files::NAMES;
        if !array.iter().all(fits) || !entries.iter().all(|bytes| is_known(&Entry::new(bytes))) {
            return damaged(words);
        }
        if !self.unknown.iter().flatten().all(is_known) {
            return damaged(unknown);
        }
        Ok(())
    }

    fn view<'a>(&'a self, text: &'a [u8]) -> View<'a> {
        let Files { words, matrix, characters, .. } = &self.files;
        let (matrix, _) = matrix[4..].as_chunks();
        let (characters, _) = characters[self.characters..].as_chunks();
        View { dictionary: self, words: self.words.lexicon(words), matrix, characters, text }
    }

    /// Finds the tokens of `text`, which starts and ends with no white space: its words, split
    /// where they hold white space, as sacreBLEU splits them.
    pub fn tokenize(&self, text: &[u8], mut emit: impl FnMut(usize, usize)) {
        self.split(text, |start, end| {
            whitespace::tokenize(&text[start..end], |from, to| emit(start + from, start + to));
        });
    }

    /// Finds the words of `text`, which starts and ends with no white space.
    ///
    /// What is behind a NUL is not read, as MeCab reads none of it. What MeCab refuses, a text whose
    /// words cost 2^31 or more, goes on.
    pub fn split(&self, text: &[u8], mut emit: impl FnMut(usize, usize)) {
        thread_local! {
            static LATTICE: Cell<Lattice> = Cell::default();
        }
        let text = &text[..memchr::memchr(0, text).unwrap_or(text.len())];
        let mut lattice = LATTICE.take();
        lattice.read(&self.view(text));
        for &(start, length) in lattice.path.iter().rev() {
            emit(start as usize, start as usize + usize::from(length));
        }
        // The memory is used again, unless a single text has taken very much.
        if lattice.nodes.capacity() <= KEPT {
            LATTICE.set(lattice);
        }
    }
}

/// Mixes bytes into a number. Every step undoes nothing of the one before, so that no single
/// difference is lost; and there are eight side by side, so that reading the bytes takes longer.
fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let step = |sum: u64, word: u64| (sum.rotate_left(29) ^ word).wrapping_mul(FACTOR);
    let mut lanes = [seed; 8];
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks.iter().chain([&last]) {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = step(*lane, u64::from_le_bytes(*word));
        }
    }
    lanes.into_iter().fold(bytes.len() as u64, step)
}

/// The nodes that a thread keeps memory for between two texts.
const KEPT: usize = 1 << 18;

/// What counts in `dicrc`.
struct Settings {
    penalties: Vec<i32>,
    grouped: usize,
}

impl Settings {
    fn read(bytes: &[u8]) -> Self {
        let mut settings = Self { penalties: Vec::new(), grouped: GROUPED };
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
                    settings.grouped = size.filter(|&size| size > 0).unwrap_or(GROUPED).min(REACH);
                }
                _ => {}
            }
        }
        settings
    }
}

/// A dictionary's parts, and a text to read with it.
struct View<'a> {
    dictionary: &'a Dictionary,
    words: Lexicon<'a>,
    matrix: &'a [[u8; 2]],
    characters: &'a [[u8; 4]],
    text: &'a [u8],
}

impl<'a> View<'a> {
    #[inline(always)]
    fn kinds(&self, point: u32) -> Kinds {
        let bytes = self.characters.get(point as usize);
        Kinds(bytes.map_or(0, |&bytes| u32::from_le_bytes(bytes)))
    }

    /// The kinds of the character at `at`, and its width; a character of four bytes counts as
    /// U+0000, and so does a byte that `limit` has cut from its character.
    #[inline(always)]
    fn character(&self, at: usize, limit: usize) -> (Kinds, usize) {
        let text = self.text.get(at..).unwrap_or_default();
        let room = limit.saturating_sub(at);
        let point = |lead: u8, tail: &[u8]| {
            tail.iter().fold(u32::from(lead), |point, byte| point << 6 | u32::from(byte & 63))
        };
        match *text {
            [byte, ..] if byte < 0x80 => (self.kinds(u32::from(byte)), 1),
            [lead @ 0xE0..=0xEF, ..] if room >= 3 => (self.kinds(point(lead & 15, &text[1..3])), 3),
            [lead @ 0xC0..=0xDF, ..] if room >= 2 => (self.kinds(point(lead & 31, &text[1..2])), 2),
            [0xF0..=0xF7, ..] if room >= 4 => (self.kinds(0), 4),
            _ => (self.kinds(0), 1),
        }
    }

    /// How far characters go on that share a kind each with the one before, from `at`, which is
    /// behind one of `kinds`; how many they are; and the last character looked at, if there is one.
    /// It looks at no more than `most`.
    #[inline(always)]
    fn run(&self, mut at: usize, limit: usize, mut kinds: Kinds, most: usize) -> Run {
        let mut run = Run { end: at, count: 0, next: None };
        while at < limit && run.count < most {
            let (next, width) = self.character(at, limit);
            run.next = Some((next, width));
            if !kinds.share(next) {
                break;
            }
            kinds = next;
            at += width;
            run.count += 1;
        }
        run.end = at;
        run
    }

    /// Makes up words at `start`, which is behind white space that starts at `from`. The character
    /// there has these kinds and this width, and the dictionary has some words or none.
    #[inline(always)]
    fn make_up(
        &self,
        (start, limit): (usize, usize),
        (kinds, width): (Kinds, usize),
        mut some: bool,
        mut word: impl FnMut(&Entry, usize),
    ) {
        let entries = self.dictionary.unknown.get(kinds.first()).map_or(&[][..], Vec::as_slice);
        let mut make_up = |end: usize| {
            for entry in entries {
                word(entry, end);
            }
            !entries.is_empty()
        };
        let mut end = start + width;
        let mut group = None;
        if kinds.groups() {
            // A longer run is no word, and no shorter word ends where it does.
            let most = self.dictionary.grouped.max(kinds.length()) + 1;
            let run = self.run(end, limit, kinds, most);
            if run.count <= self.dictionary.grouped {
                some |= make_up(run.end);
            }
            group = Some(run.end);
        }
        for _ in 0..kinds.length() {
            if end > limit || group == Some(end) {
                break;
            }
            some |= make_up(end);
            let (next, width) = self.character(end, limit);
            if !kinds.share(next) {
                break;
            }
            end += width;
        }
        if !some {
            make_up(end);
        }
    }
}

/// Characters that belong together.
struct Run {
    end: usize,
    count: usize,
    next: Option<(Kinds, usize)>,
}

/// A word at a place in the text, with the cheapest way to it.
#[derive(Clone, Copy)]
struct Node {
    cost: i64,
    /// The word before it.
    previous: u32,
    /// Of the words that end where it ends, the one that came before it.
    next: u32,
    start: u32,
    length: u16,
    right: u16,
}

/// No node.
const NONE: u32 = u32::MAX;

/// A word of the dictionary at a place in the text.
#[derive(Clone, Copy)]
struct Word {
    entry: Entry,
    length: u16,
}

/// The search for the words that start at one place.
#[derive(Clone, Copy)]
struct Walk {
    start: u32,
    /// The next byte.
    at: u32,
    /// Where the followers of the bytes so far start in the double array.
    base: u32,
}

/// A spelling that was found.
#[derive(Clone, Copy, Default)]
struct Match {
    start: u32,
    length: u32,
    value: u32,
}

/// All words of the dictionary that start in one stretch of the text.
///
/// What makes a search slow is the wait for each of its steps to come from memory. So those of a
/// whole stretch go side by side, a step of each in turn, and the waits fall together.
#[derive(Default)]
struct Lookup {
    from: usize,
    to: usize,
    walks: Vec<Walk>,
    matches: Vec<Match>,
    /// For each byte of the stretch where its words start in `words`; and the end of the last.
    offsets: Vec<u32>,
    words: Vec<Word>,
}

/// The length of a stretch, in bytes.
const STRETCH: usize = 768;

impl Lookup {
    fn clear(&mut self) {
        (self.from, self.to) = (0, 0);
    }

    /// The words that start at `start`, the shortest first.
    fn words(&mut self, view: &View<'_>, start: usize) -> &[Word] {
        let begins = |byte: u8| byte & 0xC0 != 0x80;
        let known = self.from == start || begins(view.text[start]);
        if !(self.from..self.to).contains(&start) || !known {
            self.look_up(view, start);
        }
        let at = start - self.from;
        &self.words[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    #[inline(never)]
    fn look_up(&mut self, view: &View<'_>, from: usize) {
        let Self { walks, matches, offsets, words, .. } = self;
        let View { text, words: lexicon, .. } = view;
        let to = text.len().min(from + STRETCH);
        (self.from, self.to) = (from, to);
        walks.clear();
        offsets.clear();
        offsets.resize(to - from + 2, 0);
        let root = lexicon.root().unwrap_or(0);
        for start in from..to {
            if text[start] & 0xC0 != 0x80 || start == from {
                walks.push(Walk { start: start as u32, at: start as u32, base: root });
            }
        }
        matches.clear();
        while !walks.is_empty() {
            // The walks that go on come to the front.
            let mut kept = 0;
            for i in 0..walks.len() {
                let Walk { start, at, mut base } = walks[i];
                let character = text.get(at as usize).map_or(0, |&lead| width(lead));
                let at = at as usize + character;
                // No spelling ends inside a character.
                let Some(bytes) = text.get(at - character..at).filter(|_| character > 0) else {
                    continue;
                };
                let goes_on = bytes.iter().all(|&byte| {
                    let next = lexicon.follow(base, byte);
                    base = next.unwrap_or(base);
                    next.is_some()
                });
                if !goes_on {
                    continue;
                }
                walks[kept] = Walk { start, at: at as u32, base };
                kept += 1;
                if let Some(value) = lexicon.value(base) {
                    matches.push(Match { start, length: at as u32 - start, value });
                }
            }
            walks.truncate(kept);
        }
        for one in &matches[..] {
            offsets[one.start as usize - from + 2] += lexicon.entries(one.value).len() as u32;
        }
        let mut sum = 0;
        for offset in &mut offsets[..] {
            sum += *offset;
            *offset = sum;
        }
        let blank = Word { entry: Entry::new(&[0; 16]), length: 0 };
        words.clear();
        words.resize(sum as usize, blank);
        for one in &matches[..] {
            // Where the next word of this place goes; at last, where those of the next place start.
            let offset = &mut offsets[one.start as usize - from + 1];
            for entry in lexicon.entries(one.value) {
                words[*offset as usize] =
                    Word { entry: Entry::new(entry), length: one.length as u16 };
                *offset += 1;
            }
        }
    }
}

/// A place in the text as the end of words.
#[derive(Clone, Copy)]
struct End {
    /// The last node that was joined and ends here.
    last: u32,
    /// The lowest cost of those that end here.
    lowest: i64,
}

/// A node that ends where words start.
struct Neighbour {
    /// Its cost beyond the lowest of all; and below it, in 32 bits, what settles equal costs: the
    /// last one joined comes first.
    key: i64,
    right: u16,
}

/// A node that is dearer than another by more than this is never the cheapest to join: the cost of
/// a step has 16 bits.
const HOPELESS: i64 = 1 << 20;

/// Memory for the words of one text.
#[derive(Default)]
struct Lattice {
    lookup: Lookup,
    nodes: Vec<Node>,
    ends: Vec<End>,
    made_up: Vec<Word>,
    neighbours: Vec<Neighbour>,
    /// For each kind of word on the right the cheapest way to it, and the place this is known of.
    known: Vec<(u64, i64)>,
    /// A number that no other place has had.
    place: u64,
    /// The words of the cheapest way, the last one first: start and length.
    path: Vec<(u32, u16)>,
}

/// The nodes that end at one place, as neighbours of words on their right.
#[inline(always)]
fn gather(neighbours: &mut Vec<Neighbour>, nodes: &[Node], end: End) {
    neighbours.clear();
    let mut at = end.last;
    while let Some(node) = nodes.get(at as usize) {
        let beyond = (node.cost - end.lowest).min(HOPELESS);
        neighbours.push(Neighbour { key: beyond << 32 | i64::from(!at), right: node.right });
        at = node.next;
    }
}

/// The key of the neighbour that is the cheapest to join to a word of the kind `left`, with the cost
/// of the step.
#[inline(always)]
fn cheapest(neighbours: &[Neighbour], view: &View<'_>, left: u16) -> i64 {
    let length = view.dictionary.row;
    let start = length * usize::from(left);
    let row = view.matrix.get(start..start + length).unwrap_or_default();
    let mut best = i64::MAX;
    for neighbour in neighbours {
        let cost = row.get(usize::from(neighbour.right));
        let cost = cost.map_or(i16::MAX, |&bytes| i16::from_le_bytes(bytes));
        best = best.min(neighbour.key + (i64::from(cost) << 32));
    }
    best
}

impl Lattice {
    fn read(&mut self, view: &View<'_>) {
        // What is in variables of its own can be in registers.
        let mut nodes = std::mem::take(&mut self.nodes);
        let mut ends = std::mem::take(&mut self.ends);
        let mut neighbours = std::mem::take(&mut self.neighbours);
        let mut known = std::mem::take(&mut self.known);
        let Self { lookup, made_up, place, path, .. } = self;
        let size = view.text.len();
        lookup.clear();
        nodes.clear();
        ends.clear();
        path.clear();
        ends.resize(size + 1, End { last: NONE, lowest: i64::MAX });
        nodes.push(Node { cost: 0, previous: NONE, next: NONE, start: 0, length: 0, right: 0 });
        ends[0] = End { last: 0, lowest: 0 };
        known.resize(known.len().max(view.dictionary.words.kinds.1 as usize), (0, 0));
        let mut work = Work::default();
        for at in 0..size {
            work.done(16);
            let here = ends[at];
            if here.last == NONE {
                continue;
            }
            let limit = size.min(at + REACH);
            let Run { end: start, next, .. } =
                view.run(at, limit, view.dictionary.space, usize::MAX);
            let Some(first) = next.filter(|_| start < size) else { continue };
            let mut words = lookup.words(view, start);
            while let [rest @ .., word] = words
                && start < limit
                && start + usize::from(word.length) > limit
            {
                words = rest;
            }
            made_up.clear();
            if words.is_empty() || first.0.always() {
                let some = !words.is_empty();
                view.make_up((start, limit), first, some, |&entry, end| {
                    made_up.push(Word { entry, length: (end - start) as u16 });
                });
            }
            gather(&mut neighbours, &nodes, here);
            *place += 1;
            let penalties = if start > at { &view.dictionary.penalties[..] } else { &[] };
            // MeCab has 16 bits for how far a word reaches, white space before it and all.
            let space = (start - at) as u16;
            // The last one made is the first to be joined.
            for words in [&made_up[..], words] {
                for &Word { entry, length } in words.iter().rev() {
                    let end = at + usize::from(space.wrapping_add(length));
                    let Some(end) = ends.get_mut(end) else { continue };
                    let key = match known.get_mut(usize::from(entry.left)) {
                        Some((known_at, key)) => {
                            if *known_at != *place {
                                *known_at = *place;
                                *key = cheapest(&neighbours, view, entry.left);
                            }
                            *key
                        }
                        None => cheapest(&neighbours, view, entry.left),
                    };
                    let penalty = penalties.get(usize::from(entry.part_of_speech)).unwrap_or(&0);
                    let own = i64::from(entry.cost) + i64::from(*penalty);
                    let cost = here.lowest + (key >> 32) + own;
                    let next = std::mem::replace(&mut end.last, nodes.len() as u32);
                    end.lowest = end.lowest.min(cost);
                    let (previous, start, right) = (!(key as u32), start as u32, entry.right);
                    nodes.push(Node { cost, previous, next, start, length, right });
                }
            }
        }
        let last = ends.iter().rfind(|end| end.last != NONE);
        gather(&mut neighbours, &nodes, *last.unwrap_or(&ends[0]));
        let mut at = !(cheapest(&neighbours, view, 0) as u32);
        while at != 0 {
            let Some(node) = nodes.get(at as usize) else { break };
            path.push((node.start, node.length));
            at = node.previous;
        }
        (self.nodes, self.ends, self.neighbours, self.known) = (nodes, ends, neighbours, known);
    }
}
