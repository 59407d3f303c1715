//! Checks for lost numbers, names and negation, and for untranslated source words.
//!
//! The rules use no model, and prefer precision to recall. [`crate::text_flags`] reports them as
//! flags.

use memchr::memmem;

/// Largest number that is often spelled as a word and therefore ignored: "3" may be "three".
const MAX_IGNORED_NUMBER: usize = 12;
/// Number of consecutive source words in a hypothesis that indicate untranslated text.
const RUN_WORDS: usize = 4;
/// Maximum text length in bytes for the search for source words and names, which scans the text
/// once per word or name.
const MAX_SEARCHED_BYTES: usize = 1 << 13;
/// Minimum number of letters in a name.
const MIN_NAME_LETTERS: usize = 3;

/// Return the numbers in a text, sorted and without thousands and decimal separators. Languages use
/// different separators, so "1,000.5" and "1.000,5" are equal.
pub fn extract_numbers(text: &[u8]) -> Vec<Vec<u8>> {
    let mut numbers = Vec::new();
    let mut position = 0;
    while position < text.len() {
        if !text[position].is_ascii_digit() {
            position += 1;
            continue;
        }
        let mut digits = Vec::new();
        while position < text.len() {
            if text[position].is_ascii_digit() {
                digits.push(text[position]);
                position += 1;
            } else if let Some(width) = separator_width(&text[position..]) {
                position += width;
            } else {
                break;
            }
        }
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros.min(digits.len() - 1));
        let is_ignored = digits.len() <= 2
            && digits.iter().fold(0, |n, digit| 10 * n + usize::from(digit - b'0'))
                <= MAX_IGNORED_NUMBER;
        if !is_ignored {
            numbers.push(digits);
        }
    }
    numbers.sort_unstable();
    numbers
}

/// Return the width of a separator between the digits of a number: a mark, or a space before three
/// digits.
fn separator_width(remaining: &[u8]) -> Option<usize> {
    let width = match remaining {
        [b',' | b'.' | b'\'', ..] => 1,
        [b' ', ..] => 1,
        [0xC2, 0xA0, ..] => 2,
        [0xE2, 0x80, 0xAF | 0x99, ..] => 3,
        _ => return None,
    };
    let digits = remaining[width..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_decimal_mark = matches!(remaining[0], b',' | b'.');
    ((is_decimal_mark && digits > 0) || digits == 3).then_some(width)
}

/// Return the words of a text without surrounding punctuation, and whether each word starts a
/// sentence.
fn iter_words(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let mut starts_sentence = true;
    word_ranges(text).filter(|(start, end)| start < end).map(move |(start, end)| {
        let word = &text[start..end];
        let is_first = starts_sentence;
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte > 0x7F;
        let start = word.iter().position(is_letter).unwrap_or(word.len());
        let end = word.iter().rposition(is_letter).map_or(start, |last| last + 1);
        // Full stops of abbreviations are treated as sentence ends. This error can only hide a
        // name.
        starts_sentence =
            word[end..].iter().any(|mark| b".!?:\"".contains(mark)) || start == word.len();
        (&word[start..end], is_first || start > 0)
    })
}

/// Return the names in a source text that all references preserve.
pub fn preserved_names<'a>(source: &'a [u8], references: &[&[u8]]) -> Vec<&'a [u8]> {
    if source.len() > MAX_SEARCHED_BYTES {
        return Vec::new();
    }
    let name_words = iter_words(source).filter(|&(word, starts_sentence)| {
        !starts_sentence
            && word.len() >= MIN_NAME_LETTERS
            && word[0].is_ascii_uppercase()
            && word.iter().all(|byte| is_letter(*byte))
            && references.iter().all(|text| has_word(text, word))
    });
    name_words.map(|(word, _)| word).collect()
}

/// Return whether the hypothesis lacks one of the names.
pub fn lacks_name(hypothesis: &[u8], names: &[&[u8]]) -> bool {
    names.iter().any(|name| !has_word(hypothesis, name))
}

/// Return whether a text contains `word`, other than as part of a longer word.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    let is_word_byte =
        |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_digit() || is_letter(*b));
    contains_between(text, word, |before, after| !is_word_byte(before) && !is_word_byte(after))
}

/// Return the start and end of each stretch of text between spaces.
///
/// Words are short, so testing eight bytes at a time is faster than searching for each space.
pub fn word_ranges(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    const LOW: u64 = u64::from_le_bytes([0x7F; 8]);
    let (mut position, mut spaces, mut start) = (0, 0_u64, 0);
    let mut ends = std::iter::from_fn(move || {
        while spaces == 0 {
            let remaining = text.get(position..).filter(|rest| !rest.is_empty())?;
            let bytes = match remaining.first_chunk() {
                Some(eight) => *eight,
                None => std::array::from_fn(|i| remaining.get(i).copied().unwrap_or(0)),
            };
            let difference = u64::from_le_bytes(bytes) ^ u64::from_le_bytes([b' '; 8]);
            spaces = !(((difference & LOW) + LOW) | difference | LOW);
            position += 8;
        }
        let space = position - 8 + spaces.trailing_zeros() as usize / 8;
        spaces &= spaces - 1;
        Some(space)
    });
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let end = ends.next().unwrap_or_else(|| {
            is_over = true;
            text.len()
        });
        let place = (start, end);
        start = end + 1;
        Some(place)
    })
}

/// Return the positions of a source's words for [`has_source_words`]. Words without letters and
/// one-byte words are replaced by (0, 0). Return an empty list if the text is too long to search.
pub fn countable_words(source: &[u8]) -> Vec<(usize, usize)> {
    let is_countable = |&(start, end): &(usize, usize)| {
        end - start > 1 && source[start..end].iter().any(|byte| is_letter(*byte))
    };
    let searched = if source.len() > MAX_SEARCHED_BYTES { &[] } else { source };
    // Words without letters and one-byte words end a run of source words.
    word_ranges(searched).map(|place| if is_countable(&place) { place } else { (0, 0) }).collect()
}

/// Return whether the hypothesis contains four consecutive source words that no reference contains.
pub fn has_source_words(
    hypothesis: &[u8],
    source: &[u8],
    rows: &[(usize, usize)],
    references: &[&[u8]],
) -> bool {
    if hypothesis.len() > MAX_SEARCHED_BYTES {
        return false;
    }
    let word_mask = WordMask::from_text(hypothesis);
    // The starts of the last candidate words; the oldest entry is overwritten.
    let (mut starts, mut run_length) = ([0; RUN_WORDS], 0);
    for &(start, end) in rows {
        if start < end && word_mask.may_have(&source[start..end]) {
            starts[run_length % RUN_WORDS] = start;
            run_length += 1;
            let run = &source[starts[run_length % RUN_WORDS]..end];
            if run_length >= RUN_WORDS
                && contains_run(hypothesis, run)
                && !references.iter().any(|text| contains_run(text, run))
            {
                return true;
            }
        } else {
            run_length = 0;
        }
    }
    false
}

/// A Bloom filter of the words of a text, by length, first byte and last byte.
struct WordMask(u128);

impl WordMask {
    fn from_text(text: &[u8]) -> Self {
        Self(
            word_ranges(text)
                .fold(0, |mask, (start, end)| mask | Self::word_bit(&text[start..end])),
        )
    }

    fn word_bit(word: &[u8]) -> u128 {
        let (Some(&first), Some(&last)) = (word.first(), word.last()) else { return 0 };
        let mixed = usize::from(first) * 37 + usize::from(last) * 11 + word.len() * 5;
        1 << (mixed % 127)
    }

    fn may_have(&self, word: &[u8]) -> bool {
        self.0 & Self::word_bit(word) != 0
    }
}

/// Return whether a byte is an ASCII letter or part of a non-ASCII character.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte > 0x7F
}

/// Return whether a text contains `run`, a sequence of complete words.
fn contains_run(text: &[u8], run: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| byte.is_none_or(|&byte| byte == b' ');
    contains_between(text, run, |before, after| is_space(before) && is_space(after))
}

/// Return whether `needle` occurs in a text with allowed bytes before and after it.
///
/// Texts are short, so checking each occurrence of the first byte is faster than preparing a
/// search.
fn contains_between(
    text: &[u8],
    needle: &[u8],
    is_allowed: impl Fn(Option<&u8>, Option<&u8>) -> bool,
) -> bool {
    memchr::memchr_iter(needle[0], text).any(|position| {
        let before = position.checked_sub(1).and_then(|previous| text.get(previous));
        is_allowed(before, text.get(position + needle.len()))
            && text[position..].starts_with(needle)
    })
}

/// Lowercase negating words. A star at the start or end of a pattern matches the rest of a word.
pub struct NegationWords {
    words: Vec<(Vec<u8>, bool, bool)>,
    /// For each byte, whether a negating word may start or end with it.
    may_match: [bool; 256],
}

impl NegationWords {
    /// Create the list from patterns: "not", "*n't" for "n't", "kein*" for "keine" and "keiner".
    pub fn new(patterns: &[String]) -> Self {
        let parsed_patterns = patterns.iter().map(|pattern| {
            let bytes = pattern.trim_matches('*').replace('’', "'").into_bytes();
            (bytes, pattern.starts_with('*'), pattern.ends_with('*'))
        });
        let words: Vec<_> = parsed_patterns.collect();
        let mut may_be = [false; 256];
        for (word, is_suffix, is_prefix) in &words {
            // A pattern with a star at both ends may match words with any first and last byte.
            let bytes = if *is_suffix && *is_prefix { (0..=255).collect() } else { vec![0] };
            let bytes = match (word.first(), word.last()) {
                (_, Some(&last)) if *is_suffix && !is_prefix => vec![last],
                (Some(&first), _) if !is_suffix => vec![first],
                _ => bytes,
            };
            for byte in bytes {
                may_be[usize::from(byte)] = true;
                may_be[usize::from(byte.to_ascii_uppercase())] = true;
                // The uppercase form of a non-ASCII character consists of different bytes.
                if byte > 0x7F {
                    may_be[0x80..].fill(true);
                }
            }
        }
        Self { words, may_match: may_be }
    }

    /// Return whether the list has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Return whether a text contains a negating word.
    pub fn is_negated(&self, text: &[u8]) -> bool {
        let mut lowered = Vec::new();
        let may_match =
            |byte: Option<&u8>| byte.is_some_and(|byte| self.may_match[usize::from(*byte)]);
        iter_words(text).any(|(word, _)| {
            if !may_match(word.first()) && !may_match(word.last()) {
                return false;
            }
            lowered.clear();
            match std::str::from_utf8(word) {
                Ok(text) if !text.is_ascii() => {
                    lowered.extend(text.to_lowercase().replace('’', "'").bytes());
                }
                _ => lowered.extend(word.to_ascii_lowercase()),
            }
            self.words.iter().any(|(pattern, is_suffix, is_prefix)| match (is_suffix, is_prefix) {
                (true, true) => memmem::find(&lowered, pattern).is_some(),
                (true, false) => lowered.ends_with(pattern),
                (false, true) => lowered.starts_with(pattern),
                (false, false) => lowered == *pattern,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers_of_text(text: &str) -> Vec<String> {
        extract_numbers(text.as_bytes())
            .into_iter()
            .map(|digits| String::from_utf8(digits).unwrap())
            .collect()
    }

    proptest::proptest! {
        #[test]
        fn test_word_ranges_equal_split_at_spaces(text in "[ aé]{0,40}") {
            let words: Vec<_> = word_ranges(text.as_bytes()).map(|(start, end)| &text[start..end]).collect();
            assert_eq!(words, text.split(' ').collect::<Vec<_>>());
        }
    }

    #[test]
    fn test_number_separators_are_ignored() {
        assert_eq!(numbers_of_text("1,000.5 and 1.000,5 and 1 000,5"), ["10005", "10005", "10005"]);
        assert_eq!(
            numbers_of_text("1\u{a0}000 or 1\u{202f}000 or 1'000"),
            ["1000", "1000", "1000"]
        );
        assert_eq!(numbers_of_text("in 2024, 2025."), ["2024", "2025"]);
        assert_eq!(numbers_of_text("3 of 12, at 007"), Vec::<String>::new());
        assert_eq!(numbers_of_text("13 14"), ["13", "14"]);
        assert_eq!(numbers_of_text("0.5 00"), Vec::<String>::new());
        assert_eq!(numbers_of_text("15:30"), ["15", "30"]);
    }

    #[test]
    fn test_missing_names_are_found() {
        let lacks = |h: &str, s: &str, r: &str| {
            lacks_name(h.as_bytes(), &preserved_names(s.as_bytes(), &[r.as_bytes()]))
        };
        assert!(lacks("He saw her.", "Er sah Maria.", "He saw Maria."));
        assert!(!lacks("He saw Maria!", "Er sah Maria.", "He saw Maria."));
        // These words start a sentence, are translated, or occur only as part of a longer word.
        assert!(!lacks("She slept.", "Maria schlief.", "Maria slept."));
        assert!(!lacks("The house.", "Das Haus.", "The house."));
        assert!(lacks("He saw Marian.", "Er sah Maria.", "He saw Maria."));
        assert!(!lacks("He left. He slept.", "Er ging. Maria schlief.", "He left. Maria slept."));
    }

    #[test]
    fn test_untranslated_words_are_found() {
        let has = |h: &str, s: &str, r: &str| {
            let source = s.as_bytes();
            has_source_words(h.as_bytes(), source, &countable_words(source), &[r.as_bytes()])
        };
        let source = "Der Zug nach Hamburg fährt heute nicht";
        assert!(has("The train nach Hamburg fährt heute not", source, "No train today"));
        assert!(!has("The train nach Hamburg fährt today", source, "No train today"));
        assert!(!has("Zug nach Hamburg fährt", source, "Zug nach Hamburg fährt"));
        assert!(!has("", "", ""));
        assert!(!has("1 2 3 4", "1 2 3 4", "5"));
    }
}
