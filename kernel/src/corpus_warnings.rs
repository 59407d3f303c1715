//! Signs that a score may mislead, counted while the text is read: tokenized hypotheses, copied
//! references, byte-order marks, scripts, empty segments, tabs, Unicode forms.

use crate::interrupt::Work;
use crate::lex::Lexed;
use crate::scripts::{self, HAN, LATIN};
use crate::text_batches::Block;
use std::iter;

/// The most line numbers remembered of each kind.
const EXAMPLES: usize = 3;

/// A number of segments, and the first few of them, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// Their number.
    pub count: u64,
    /// The first of them.
    pub first: Vec<u64>,
}

impl Occurrences {
    fn add(&mut self, segment: u64) {
        self.count += 1;
        if self.first.len() < EXAMPLES {
            self.first.push(segment);
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.sort_unstable();
        self.first.truncate(EXAMPLES);
    }
}

/// The characters of the first hypotheses, or references, by script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripts {
    /// The number of texts looked at.
    pub segments: u64,
    /// All of their characters, white space aside.
    pub characters: u64,
    /// Their words: runs without ASCII white space.
    pub words: u64,
    /// Latin letters beyond ASCII, and combining accents.
    pub accented: u64,
    /// The letters of each script.
    pub letters: [u64; scripts::COUNT],
    /// Han characters of the hypotheses, of the first reference … if the hypotheses have many.
    pub han: Vec<String>,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            segments: 0,
            characters: 0,
            words: 0,
            accented: 0,
            letters: [0; scripts::COUNT],
            han: Vec::new(),
        }
    }
}

/// Number of segments at the beginning whose characters are examined. Warnings need shares, not
/// counts, and examining a whole batch took a tenth of the time of a short corpus.
const MAX_EXAMINED_SEGMENTS: usize = 200;

/// The most Han characters that are kept of each input.
const SAMPLE: usize = 500;

/// Signs in one input: the hypotheses, or a column of references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputSigns {
    /// Segments without any characters but white space.
    pub empty: Occurrences,
    /// Among the first segments those with a mark that NFC would join to the letter before it.
    pub decomposed: u64,
    /// Among the first segments those with a tab.
    pub tabs: u64,
}

impl InputSigns {
    fn look(&mut self, first: u64, count: usize, lexed: &Lexed<'_>) {
        let lines = (0..count).map_while(|i| Some((i, lexed.line(i)?)));
        for (i, line) in lines {
            if line.iter().all(u8::is_ascii_whitespace) && !lexed.is_missing(i) {
                self.empty.add(first + i as u64 + 1);
            }
            if first == 0 && i < MAX_EXAMINED_SEGMENTS {
                self.tabs += u64::from(memchr::memchr(b'\t', line).is_some());
                self.decomposed += u64::from(has_separate_mark(line));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.empty.merge(other.empty);
        self.decomposed += other.decomposed;
        self.tabs += other.tabs;
    }
}

/// Whether a line has a mark of Latin, Greek, Cyrillic, Arabic, kana or Hangul that NFC joins to
/// most letters before it.
fn has_separate_mark(line: &[u8]) -> bool {
    let marks = |c| {
        matches!(c, '\u{300}'..='\u{36f}' | '\u{653}'..='\u{655}' | '\u{1161}'..='\u{11ff}')
            || matches!(c, '\u{3099}' | '\u{309a}')
    };
    let mut work = Work::default();
    let mut characters = line.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    !line.is_ascii()
        && characters.any(|c| {
            work.done(1);
            marks(c)
        })
}

/// Counts of what was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChecks {
    /// The signs in the hypotheses, in the first reference …
    pub inputs: Vec<InputSigns>,
    /// Hypotheses that end in a full stop with a space before it.
    pub tokenized: Occurrences,
    /// Hypotheses that equal their first reference.
    pub identical: u64,
    /// The scripts of the first hypotheses.
    pub scripts: Scripts,
    /// The scripts of their references.
    pub reference_scripts: Scripts,
    /// The inputs that start with a byte-order mark: 0 the hypotheses, 1 the first reference …
    pub marked: Vec<usize>,
}

/// UTF-8's byte-order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

impl TextChecks {
    /// Looks at one batch, whose first segment is `first` (from 0).
    pub fn look(
        &mut self,
        first: u64,
        count: usize,
        hypotheses: &Lexed<'_>,
        references: &[Lexed<'_>],
    ) {
        self.inputs.resize_with(1 + references.len(), InputSigns::default);
        for (input, lexed) in self.inputs.iter_mut().zip(iter::once(hypotheses).chain(references)) {
            input.look(first, count, lexed);
        }
        for i in 0..count {
            let Some(line) = hypotheses.line(i) else {
                return;
            };
            if line.ends_with(b" .") {
                self.tokenized.add(first + i as u64 + 1);
            }
            if references.first().and_then(|lexed| lexed.line(i)) == Some(line) {
                self.identical += 1;
            }
            if first == 0 && i < MAX_EXAMINED_SEGMENTS {
                self.scripts.look(line);
                for line in references.iter().filter_map(|lexed| lexed.line(i)) {
                    self.reference_scripts.look(line);
                }
            }
        }
        if first == 0 && 10 * self.scripts.letters[HAN] > 3 * self.scripts.characters {
            let all = iter::once(hypotheses).chain(references);
            self.scripts.han = all.map(|lexed| han(lexed, count)).collect();
        }
    }

    /// Looks for a byte-order mark in the first batch.
    pub fn look_for_mark<'a>(&mut self, streams: impl Iterator<Item = &'a Block>) {
        for (i, block) in streams.enumerate() {
            let start = match block {
                Block::Lines { lines, .. } => lines.padded().bytes(),
                Block::Segments { segments, .. } => match segments.first() {
                    Some(Some(segment)) => segment.bytes(),
                    _ => continue,
                },
                Block::Tokens(_) => continue,
            };
            if start.starts_with(MARK) {
                self.marked.push(i);
            }
        }
    }

    /// Adds what another thread saw.
    pub fn merge(&mut self, other: Self) {
        if self.inputs.len() < other.inputs.len() {
            self.inputs.resize_with(other.inputs.len(), InputSigns::default);
        }
        for (input, more) in self.inputs.iter_mut().zip(other.inputs) {
            input.merge(more);
        }
        self.tokenized.merge(other.tokenized);
        self.identical += other.identical;
        self.marked.extend(other.marked);
        if other.scripts.characters > 0 {
            self.scripts = other.scripts;
        }
        if other.reference_scripts.characters > 0 {
            self.reference_scripts = other.reference_scripts;
        }
    }
}

/// The first Han characters of some lines.
fn han(lexed: &Lexed<'_>, count: usize) -> String {
    let mut found = String::new();
    let mut left = SAMPLE;
    let mut work = Work::default();
    for line in (0..count).map_while(|i| lexed.line(i)) {
        let text = String::from_utf8_lossy(line);
        let characters = text.chars().inspect(|_| work.done(4));
        let own = characters.filter(|&c| scripts::of(c.into()) == Some(HAN)).take(left);
        for character in own {
            found.push(character);
            left -= 1;
        }
        if left == 0 {
            break;
        }
    }
    found
}

impl Scripts {
    fn look(&mut self, line: &[u8]) {
        self.segments += 1;
        let mut work = Work::default();
        let mut at = 0;
        self.words += line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count() as u64;
        while at < line.len() {
            work.done(1);
            let byte = line[at];
            if byte.is_ascii() {
                self.characters += u64::from(byte > b' ');
                self.letters[LATIN] += u64::from(byte.is_ascii_alphabetic());
                at += 1;
                continue;
            }
            let (point, width) = crate::lex::utf8::decode(&line[at..]);
            at += width;
            let Some(point) = point else { continue };
            self.characters += 1;
            let script = scripts::of(point);
            let accent = script == Some(LATIN) || (0x300..=0x36F).contains(&point);
            self.accented += u64::from(accent);
            if let Some(script) = script {
                self.letters[script] += 1;
            }
        }
    }
}
