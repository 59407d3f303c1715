//! Signs that a score may mislead, counted while the text is read: tokenized hypotheses, copied
//! references, byte-order marks, scripts without spaces.

use crate::lex::Lexed;
use crate::text::Block;

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

/// The characters of the first hypotheses by scripts that are written without spaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scripts {
    /// All characters looked at, white space aside.
    pub characters: u64,
    /// Han.
    pub han: u64,
    /// Hiragana and Katakana.
    pub kana: u64,
    /// Hangul syllables.
    pub hangul: u64,
    /// Thai, Lao, Myanmar and Khmer.
    pub southeast_asian: u64,
}

/// Counts of what was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChecks {
    /// Hypotheses that end in a full stop with a space before it.
    pub tokenized: Occurrences,
    /// Hypotheses that equal their first reference.
    pub identical: u64,
    /// The scripts of the first hypotheses.
    pub scripts: Scripts,
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
            if first == 0 {
                self.scripts.look(line);
            }
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
        self.tokenized.merge(other.tokenized);
        self.identical += other.identical;
        self.marked.extend(other.marked);
        if other.scripts.characters > 0 {
            self.scripts = other.scripts;
        }
    }
}

impl Scripts {
    pub(crate) fn look(&mut self, line: &[u8]) {
        let mut at = 0;
        while at < line.len() {
            let (point, width) = crate::lex::utf8::decode(&line[at..]);
            at += width;
            let Some(point) = point else { continue };
            self.characters += u64::from(point > 0x20);
            match point {
                0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x3FFFF => self.han += 1,
                0x3040..=0x30FF => self.kana += 1,
                0xAC00..=0xD7A3 => self.hangul += 1,
                0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF => self.southeast_asian += 1,
                _ => {}
            }
        }
    }
}
