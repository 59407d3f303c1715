//! Counts for warnings about misleading scores, collected while the text is read: tokenized
//! hypotheses, copied references, byte-order marks, scripts, empty segments, tabs, and Unicode
//! forms.

use crate::interrupt::Work;
use crate::lex::Lexed;
use crate::lex::whitespace::{trim_end, trim_start};
use crate::scripts::{self, HAN, LATIN};
use crate::text_batches::Block;
use std::iter;

/// Maximum number of segment numbers stored per warning.
const MAX_EXAMPLES: usize = 3;

/// The number of segments with a property, and the numbers of the first few of these segments,
/// counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// The number of segments.
    pub count: u64,
    /// The first segment numbers.
    pub first: Vec<u64>,
}

impl Occurrences {
    fn add(&mut self, segment: u64) {
        self.count += 1;
        if self.first.len() < MAX_EXAMPLES {
            self.first.push(segment);
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.sort_unstable();
        self.first.truncate(MAX_EXAMPLES);
    }
}

/// Character statistics of the examined hypotheses or references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharacterStatistics {
    /// The number of texts examined.
    pub segments: u64,
    /// The number of characters, without white space.
    pub characters: u64,
    /// The number of words, delimited by ASCII white space.
    pub words: u64,
    /// The number of non-ASCII Latin letters and combining accents.
    pub accented: u64,
    /// The number of letters of each script.
    pub letters: [u64; scripts::COUNT],
    /// Han characters of the hypotheses and of each reference, if the hypotheses contain many Han
    /// characters.
    pub han: Vec<String>,
}

impl Default for CharacterStatistics {
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

/// Return whether the characters of segment `index` are examined: all of the first 100 segments,
/// every 4th up to 1,000, every 16th up to 10,000, then every 128th. Warnings need only
/// proportions, and examining all segments took a tenth of the total time.
fn is_examined(index: u64) -> bool {
    let step = match index {
        0..100 => 1,
        100..1000 => 4,
        1000..10_000 => 16,
        _ => 128,
    };
    index.is_multiple_of(step)
}

/// Return the words of a segment, delimited by ASCII white space.
fn split_words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Return the number of equal bytes at the start of two texts.
fn common_prefix_length(text: &[u8], other: &[u8]) -> usize {
    let (blocks, other_blocks) = (text.as_chunks().0, other.as_chunks().0);
    for (i, (&block, &other_block)) in blocks.iter().zip(other_blocks).enumerate() {
        // A loop over bytes would be slower, because the length of the prefix is unpredictable.
        let difference = u128::from_le_bytes(block) ^ u128::from_le_bytes(other_block);
        if difference != 0 {
            return 16 * i + difference.trailing_zeros() as usize / 8;
        }
    }
    let start = 16 * blocks.len().min(other_blocks.len());
    let bytes = text[start..].iter().zip(&other[start..]);
    start + bytes.take_while(|(byte, other)| byte == other).count()
}

/// Return whether two segments are equal, apart from their white space.
fn are_identical(line: &[u8], other: &[u8]) -> bool {
    let (line, other) = (line.trim_ascii(), other.trim_ascii());
    let common = common_prefix_length(line, other);
    let before = common.checked_sub(1).map(|last| line[last]);
    match (line.get(common), other.get(common)) {
        (Some(&byte), Some(&other_byte)) => {
            // Only white space can differ: one of the bytes if it follows white space, or both.
            let nearby = [before, Some(byte), Some(other_byte)];
            nearby.iter().flatten().filter(|byte| byte.is_ascii_whitespace()).count() > 1
                && split_words(line).eq(split_words(other))
        }
        (byte, other_byte) => byte == other_byte, // only at the ends of both
    }
}

/// Return whether the starts of two lines show that the lines differ in more than white space. This
/// is the case for most pairs of lines, and is found without an unpredictable branch. `length` is
/// the length of the first line.
#[inline(always)]
fn have_different_starts(block: &[u8; 64], other_block: &[u8; 64], length: usize) -> bool {
    let (mut difference, mut position) = (0, 0);
    let words = block.as_chunks::<8>().0.iter().zip(other_block.as_chunks::<8>().0);
    for (i, (&word, &other_word)) in words.enumerate().rev() {
        let word_difference = u64::from_le_bytes(word) ^ u64::from_le_bytes(other_word);
        (difference, position) =
            if word_difference == 0 { (difference, position) } else { (word_difference, 8 * i) };
    }
    position = (position + difference.trailing_zeros() as usize / 8) % 64;
    // As in `are_identical`. The newlines are white space, and control characters may be.
    let before = if position == 0 { b' ' } else { block[position - 1] };
    let nearby = [before, block[position], other_block[position]];
    let spaces: u32 = nearby.iter().map(|byte| u32::from(*byte <= b' ')).sum();
    difference != 0 && position <= length && spaces < 2
}

/// Return whether a segment ends in a space and a full stop, ignoring white space at its end.
fn ends_in_separate_period(line: &[u8]) -> bool {
    match line.last() {
        Some(byte) if byte.is_ascii_graphic() => line.ends_with(b" ."),
        _ => trim_end(line).ends_with(b" ."),
    }
}

/// Return whether a segment contains only white space.
fn is_blank(line: &[u8]) -> bool {
    !line.first().is_some_and(u8::is_ascii_graphic) && trim_start(line).is_empty()
}

/// Maximum number of Han characters kept per input.
const MAX_HAN_CHARACTERS: usize = 500;

/// Warning counts of one input: the hypotheses, or a column of references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputWarnings {
    /// The segments that contain only white space.
    pub empty: Occurrences,
    /// The number of examined segments with a mark that NFC would combine with the preceding
    /// letter.
    pub decomposed: u64,
    /// The number of examined segments that contain a tab.
    pub tabs: u64,
}

impl InputWarnings {
    fn examine_batch(&mut self, first: u64, count: usize, examined: &[usize], lexed: &Lexed<'_>) {
        let lines = (0..count).map_while(|i| Some((i, lexed.line(i)?)));
        for (i, line) in lines {
            if is_blank(line) && !lexed.is_missing(i) {
                self.empty.add(first + i as u64 + 1);
            }
        }
        for line in examined.iter().map_while(|&i| lexed.line(i)) {
            self.tabs += u64::from(memchr::memchr(b'\t', line).is_some());
            self.decomposed += u64::from(has_combining_mark(line));
        }
    }

    fn merge(&mut self, other: Self) {
        self.empty.merge(other.empty);
        self.decomposed += other.decomposed;
        self.tabs += other.tabs;
    }
}

/// Return whether a line has a Latin, Greek, Cyrillic, Arabic, kana or Hangul mark that NFC
/// combines with most preceding letters.
fn has_combining_mark(line: &[u8]) -> bool {
    let is_combining_mark = |c| {
        matches!(c, '\u{300}'..='\u{36f}' | '\u{653}'..='\u{655}' | '\u{1161}'..='\u{11ff}')
            || matches!(c, '\u{3099}' | '\u{309a}')
    };
    let mut work = Work::default();
    let mut characters = line.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    !line.is_ascii()
        && characters.any(|c| {
            work.add(1);
            is_combining_mark(c)
        })
}

/// The warning counts of all inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChecks {
    /// The warning counts of the hypotheses, then of each reference.
    pub inputs: Vec<InputWarnings>,
    /// The hypotheses that end in a space and a full stop, ignoring white space at the end.
    pub tokenized: Occurrences,
    /// The number of hypotheses that equal their first reference, apart from white space.
    pub identical: u64,
    /// The character statistics of the examined hypotheses.
    pub scripts: CharacterStatistics,
    /// The character statistics of the references for these hypotheses.
    pub reference_scripts: CharacterStatistics,
    /// The inputs that start with a byte-order mark: 0 for the hypotheses, 1 for the first
    /// reference.
    pub inputs_with_bom: Vec<usize>,
}

/// UTF-8's byte-order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl TextChecks {
    /// Examine one batch, which starts at segment `first`, counted from 0.
    pub fn examine_batch(
        &mut self,
        first: u64,
        count: usize,
        hypotheses: &Lexed<'_>,
        references: &[Lexed<'_>],
    ) {
        let examined: Vec<_> = (0..count).filter(|&i| is_examined(first + i as u64)).collect();
        self.inputs.resize_with(1 + references.len(), InputWarnings::default);
        for (input, lexed) in self.inputs.iter_mut().zip(iter::once(hypotheses).chain(references)) {
            input.examine_batch(first, count, &examined, lexed);
        }
        for i in 0..count {
            let Some(line) = hypotheses.line(i) else {
                return;
            };
            if ends_in_separate_period(line) {
                self.tokenized.add(first + i as u64 + 1);
            }
            let Some(reference) = references.first() else { continue };
            if let (Some(block), Some(other)) = (hypotheses.line_block(i), reference.line_block(i))
                && have_different_starts(block, other, line.len())
            {
                continue;
            }
            if reference.line(i).is_some_and(|reference| are_identical(line, reference)) {
                self.identical += 1;
            }
        }
        for i in examined {
            hypotheses.line(i).into_iter().for_each(|line| self.scripts.examine_line(line));
            for line in references.iter().filter_map(|lexed| lexed.line(i)) {
                self.reference_scripts.examine_line(line);
            }
        }
        if first == 0 && 10 * self.scripts.letters[HAN] > 3 * self.scripts.characters {
            let inputs = iter::once(hypotheses).chain(references);
            self.scripts.han = inputs.map(|lexed| sample_han(lexed, count)).collect();
        }
    }

    /// Record the inputs of the first batch that start with a byte-order mark.
    pub fn find_byte_order_marks<'a>(&mut self, streams: impl Iterator<Item = &'a Block>) {
        for (i, block) in streams.enumerate() {
            let start = match block {
                Block::Lines { lines, .. } => lines.padded().bytes(),
                Block::Segments { segments, .. } => match segments.first() {
                    Some(Some(segment)) => segment.bytes(),
                    _ => continue,
                },
                Block::Tokens(_) => continue,
            };
            if start.starts_with(BYTE_ORDER_MARK) {
                self.inputs_with_bom.push(i);
            }
        }
    }

    /// Add the counts of another thread.
    pub fn merge(&mut self, other: Self) {
        if self.inputs.len() < other.inputs.len() {
            self.inputs.resize_with(other.inputs.len(), InputWarnings::default);
        }
        for (input, other_input) in self.inputs.iter_mut().zip(other.inputs) {
            input.merge(other_input);
        }
        self.tokenized.merge(other.tokenized);
        self.identical += other.identical;
        self.inputs_with_bom.extend(other.inputs_with_bom);
        self.scripts.merge(other.scripts);
        self.reference_scripts.merge(other.reference_scripts);
    }
}

/// Return the first Han characters of the given lines.
fn sample_han(lexed: &Lexed<'_>, count: usize) -> String {
    let mut sample = String::new();
    let mut remaining = MAX_HAN_CHARACTERS;
    let mut work = Work::default();
    for line in (0..count).map_while(|i| lexed.line(i)) {
        let text = String::from_utf8_lossy(line);
        let characters = text.chars().inspect(|_| work.add(4));
        let line_sample =
            characters.filter(|&c| scripts::find_script(c.into()) == Some(HAN)).take(remaining);
        for character in line_sample {
            sample.push(character);
            remaining -= 1;
        }
        if remaining == 0 {
            break;
        }
    }
    sample
}

impl CharacterStatistics {
    fn merge(&mut self, other: Self) {
        self.segments += other.segments;
        self.characters += other.characters;
        self.words += other.words;
        self.accented += other.accented;
        for (count, other_count) in self.letters.iter_mut().zip(other.letters) {
            *count += other_count;
        }
        // Only the thread with the first batch samples Han characters.
        self.han.extend(other.han);
    }

    fn examine_line(&mut self, line: &[u8]) {
        self.segments += 1;
        let mut work = Work::default();
        let mut position = 0;
        self.words += split_words(line).count() as u64;
        let count = |is_counted: fn(&u8) -> bool| line.iter().copied().filter(is_counted).count();
        self.characters += count(|byte| (b'!'..=0x7F).contains(byte)) as u64;
        self.letters[LATIN] += count(u8::is_ascii_alphabetic) as u64;
        while let Some(offset) = line[position..].iter().position(|byte| !byte.is_ascii()) {
            work.add(1 + offset);
            position += offset;
            let (point, width) = crate::lex::utf8::decode_char(&line[position..]);
            position += width;
            let Some(point) = point else { continue };
            self.characters += 1;
            let script = scripts::find_script(point);
            let is_accented = script == Some(LATIN) || (0x300..=0x36F).contains(&point);
            self.accented += u64::from(is_accented);
            if let Some(script) = script {
                self.letters[script] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_differ_only_in_white_space_are_identical() {
        for (line, other, identical) in [
            ("a b", " a\tb \n", true),
            ("a  b", "a b", true),
            ("", " ", true),
            ("a b", "ab", false),
            ("ab c", "a bc", false),
            ("a b", "a b b", false),
            ("a", "", false),
            ("a b c", "a x c", false),
            ("a bc", "a  bc", true),
            ("a bc", "a\tbc", true),
            ("a bc", "abc", false),
            ("a segment of more than one block", "a segment of more\t than one block ", true),
            ("a segment of more than one block", "a segment of more than one blocks", false),
            ("a segment of more than one block", "a segment of mores than one block", false),
            ("exactly 16 bytes", "exactly 16 bytes", true),
            ("exactly 16 bytes", "exactly 16 bytes more", false),
        ] {
            assert_eq!(are_identical(line.as_bytes(), other.as_bytes()), identical, "{line:?}");
            assert_eq!(are_identical(other.as_bytes(), line.as_bytes()), identical, "{other:?}");
            let block = |line: &str| -> [u8; 64] {
                let padded = [line.as_bytes(), b"\n", &[line.len() as u8; 64]].concat();
                *padded.first_chunk().unwrap()
            };
            let differ = have_different_starts(&block(line), &block(other), line.len());
            assert!(!(differ && identical), "{line:?} {other:?}");
            let differ = have_different_starts(&block(other), &block(line), other.len());
            assert!(!(differ && identical), "{line:?} {other:?}");
        }
    }
}
