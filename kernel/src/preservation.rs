//! What a translation should keep: numbers, names, negation; and what it should not: source words.
//!
//! Rules without a model, each made to be right more often than it is complete. They are told as
//! flags ([`crate::health`]).

use memchr::memmem;

/// The largest number that is often a word: it does not count, because "3" may be "three".
const MOST_AS_WORD: usize = 12;
/// Words in a row that show that something was left as it was.
const RUN: usize = 4;
/// Bytes of the longest text in which runs and names are looked for, each through the whole of it.
const LONGEST: usize = 1 << 13;
/// Letters that a name has at least.
const NAME: usize = 3;

/// The numbers of a text in order of size, without what separates thousands and decimals: languages
/// differ in that, so "1,000.5" and "1.000,5" are the same.
pub fn numbers(text: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if !text[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let mut digits = Vec::new();
        while at < text.len() {
            if text[at].is_ascii_digit() {
                digits.push(text[at]);
                at += 1;
            } else if let Some(width) = separator(&text[at..]) {
                at += width;
            } else {
                break;
            }
        }
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros.min(digits.len() - 1));
        let small = digits.len() <= 2
            && digits.iter().fold(0, |n, digit| 10 * n + usize::from(digit - b'0')) <= MOST_AS_WORD;
        if !small {
            found.push(digits);
        }
    }
    found.sort_unstable();
    found
}

/// The width of what stands between the digits of one number: a mark, or a space before three.
fn separator(rest: &[u8]) -> Option<usize> {
    let width = match rest {
        [b',' | b'.' | b'\'', ..] => 1,
        [b' ', ..] => 1,
        [0xC2, 0xA0, ..] => 2,
        [0xE2, 0x80, 0xAF | 0x99, ..] => 3,
        _ => return None,
    };
    let digits = rest[width..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let marks = matches!(rest[0], b',' | b'.');
    ((marks && digits > 0) || digits == 3).then_some(width)
}

/// The words of a text without the marks around them, and whether a sentence begins with each.
fn words(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let mut begins = true;
    places(text).filter(|(start, end)| start < end).map(move |(start, end)| {
        let word = &text[start..end];
        let first = begins;
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte > 0x7F;
        let start = word.iter().position(is_letter).unwrap_or(word.len());
        let end = word.iter().rposition(is_letter).map_or(start, |last| last + 1);
        // Behind an abbreviation, too: a name that is not looked for is no harm.
        begins = word[end..].iter().any(|mark| b".!?:\"".contains(mark)) || start == word.len();
        (&word[start..end], first || start > 0)
    })
}

/// The names of a source that all references keep.
pub fn names<'a>(source: &'a [u8], references: &[&[u8]]) -> Vec<&'a [u8]> {
    if source.len() > LONGEST {
        return Vec::new();
    }
    let found = words(source).filter(|&(word, begins)| {
        !begins
            && word.len() >= NAME
            && word[0].is_ascii_uppercase()
            && word.iter().all(|byte| is_letter(*byte))
            && references.iter().all(|text| has_word(text, word))
    });
    found.map(|(word, _)| word).collect()
}

/// True if one of the names is not in the hypothesis.
pub fn lacks_name(hypothesis: &[u8], names: &[&[u8]]) -> bool {
    names.iter().any(|name| !has_word(hypothesis, name))
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_digit() || is_letter(*b));
    stands_in(text, word, |before, behind| !is_part(before) && !is_part(behind))
}

/// Where the words of a text stand, and what is between two spaces.
///
/// Words are short: eight bytes at a time is faster than a search for each space.
pub fn places(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    const LOW: u64 = u64::from_le_bytes([0x7F; 8]);
    let (mut next, mut spaces, mut start) = (0, 0_u64, 0);
    let mut ends = std::iter::from_fn(move || {
        while spaces == 0 {
            let rest = text.get(next..).filter(|rest| !rest.is_empty())?;
            let eight = match rest.first_chunk() {
                Some(eight) => *eight,
                None => std::array::from_fn(|i| rest.get(i).copied().unwrap_or(0)),
            };
            let other = u64::from_le_bytes(eight) ^ u64::from_le_bytes([b' '; 8]);
            spaces = !(((other & LOW) + LOW) | other | LOW);
            next += 8;
        }
        let at = next - 8 + spaces.trailing_zeros() as usize / 8;
        spaces &= spaces - 1;
        Some(at)
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

/// The rows of words of a source that a hypothesis may have left as they were: where each word
/// stands, and whether it counts. None of a text that is too long to be looked through.
pub fn rows(source: &[u8]) -> Vec<(usize, usize)> {
    let counts = |&(start, end): &(usize, usize)| {
        end - start > 1 && source[start..end].iter().any(|byte| is_letter(*byte))
    };
    let all = if source.len() > LONGEST { &[] } else { source };
    // A word that does not count ends a row.
    places(all).map(|place| if counts(&place) { place } else { (0, 0) }).collect()
}

/// True if four words in a row stand as they are in the source, and in no reference.
pub fn has_source(
    hypothesis: &[u8],
    source: &[u8],
    rows: &[(usize, usize)],
    references: &[&[u8]],
) -> bool {
    if hypothesis.len() > LONGEST {
        return false;
    }
    let known = Mask::of(hypothesis);
    // The starts of the last words, all of which the hypothesis may have; the oldest is overwritten.
    let (mut starts, mut row) = ([0; RUN], 0);
    for &(start, end) in rows {
        if start < end && known.may_have(&source[start..end]) {
            starts[row % RUN] = start;
            row += 1;
            let run = &source[starts[row % RUN]..end];
            if row >= RUN
                && contains(hypothesis, run)
                && !references.iter().any(|text| contains(text, run))
            {
                return true;
            }
        } else {
            row = 0;
        }
    }
    false
}

/// Which words a text may have: a bit for each kind of length, first and last byte.
struct Mask(u128);

impl Mask {
    fn of(text: &[u8]) -> Self {
        Self(places(text).fold(0, |mask, (start, end)| mask | Self::bit(&text[start..end])))
    }

    fn bit(word: &[u8]) -> u128 {
        let (Some(&first), Some(&last)) = (word.first(), word.last()) else { return 0 };
        let mixed = usize::from(first) * 37 + usize::from(last) * 11 + word.len() * 5;
        1 << (mixed % 127)
    }

    fn may_have(&self, word: &[u8]) -> bool {
        self.0 & Self::bit(word) != 0
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte > 0x7F
}

/// True if words stand in a text from the beginning of a word to the end of one.
fn contains(text: &[u8], run: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| byte.is_none_or(|&byte| byte == b' ');
    stands_in(text, run, |before, behind| is_space(before) && is_space(behind))
}

/// True if a text has something between bytes that allow it.
///
/// Texts are short: to prepare a search takes longer than to look where the first byte stands.
fn stands_in(text: &[u8], some: &[u8], allowed: impl Fn(Option<&u8>, Option<&u8>) -> bool) -> bool {
    memchr::memchr_iter(some[0], text).any(|at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        allowed(before, text.get(at + some.len())) && text[at..].starts_with(some)
    })
}

/// Words that negate, in small letters; those with a star at an end are that part of a word.
pub struct Negation {
    words: Vec<(Vec<u8>, bool, bool)>,
    /// Whether a word that begins, or that ends, with this byte may be one.
    may_be: [bool; 256],
}

impl Negation {
    /// From patterns: "not", "n't" as "*n't", "keine" and "keiner" as "kein*".
    pub fn new(patterns: &[String]) -> Self {
        let made = patterns.iter().map(|pattern| {
            let bytes = pattern.trim_matches('*').replace('’', "'").into_bytes();
            (bytes, pattern.starts_with('*'), pattern.ends_with('*'))
        });
        let words: Vec<_> = made.collect();
        let mut may_be = [false; 256];
        for (word, ends, begins) in &words {
            // Of a part inside a word, any word may be one.
            let bytes = if *ends && *begins { (0..=255).collect() } else { vec![0] };
            let bytes = match (word.first(), word.last()) {
                (_, Some(&last)) if *ends && !begins => vec![last],
                (Some(&first), _) if !ends => vec![first],
                _ => bytes,
            };
            for byte in bytes {
                may_be[usize::from(byte)] = true;
                may_be[usize::from(byte.to_ascii_uppercase())] = true;
                // What is no ASCII has other bytes in capitals.
                if byte > 0x7F {
                    may_be[0x80..].fill(true);
                }
            }
        }
        Self { words, may_be }
    }

    /// True if no words are known.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// True if a text negates something.
    pub fn is_in(&self, text: &[u8]) -> bool {
        let mut lowered = Vec::new();
        let may_be = |byte: Option<&u8>| byte.is_some_and(|byte| self.may_be[usize::from(*byte)]);
        words(text).any(|(word, _)| {
            if !may_be(word.first()) && !may_be(word.last()) {
                return false;
            }
            lowered.clear();
            match std::str::from_utf8(word) {
                Ok(text) if !text.is_ascii() => {
                    lowered.extend(text.to_lowercase().replace('’', "'").bytes());
                }
                _ => lowered.extend(word.to_ascii_lowercase()),
            }
            self.words.iter().any(|(known, ends, begins)| match (ends, begins) {
                (true, true) => memmem::find(&lowered, known).is_some(),
                (true, false) => lowered.ends_with(known),
                (false, true) => lowered.starts_with(known),
                (false, false) => lowered == *known,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        numbers(text.as_bytes()).into_iter().map(|one| String::from_utf8(one).unwrap()).collect()
    }

    proptest::proptest! {
        #[test]
        fn words_stand_between_spaces(text in "[ aé]{0,40}") {
            let found: Vec<_> = places(text.as_bytes()).map(|(from, to)| &text[from..to]).collect();
            assert_eq!(found, text.split(' ').collect::<Vec<_>>());
        }
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        assert_eq!(said("1,000.5 and 1.000,5 and 1 000,5"), ["10005", "10005", "10005"]);
        assert_eq!(said("1\u{a0}000 or 1\u{202f}000 or 1'000"), ["1000", "1000", "1000"]);
        assert_eq!(said("in 2024, 2025."), ["2024", "2025"]);
        assert_eq!(said("3 of 12, at 007"), Vec::<String>::new());
        assert_eq!(said("13 14"), ["13", "14"]);
        assert_eq!(said("0.5 00"), Vec::<String>::new());
        assert_eq!(said("15:30"), ["15", "30"]);
    }

    #[test]
    fn names_that_are_lacking() {
        let lacks = |h: &str, s: &str, r: &str| {
            lacks_name(h.as_bytes(), &names(s.as_bytes(), &[r.as_bytes()]))
        };
        assert!(lacks("He saw her.", "Er sah Maria.", "He saw Maria."));
        assert!(!lacks("He saw Maria!", "Er sah Maria.", "He saw Maria."));
        // It begins the sentence, it is translated, it is part of a longer word.
        assert!(!lacks("She slept.", "Maria schlief.", "Maria slept."));
        assert!(!lacks("The house.", "Das Haus.", "The house."));
        assert!(lacks("He saw Marian.", "Er sah Maria.", "He saw Maria."));
        assert!(!lacks("He left. He slept.", "Er ging. Maria schlief.", "He left. Maria slept."));
    }

    #[test]
    fn words_of_the_source() {
        let has = |h: &str, s: &str, r: &str| {
            let source = s.as_bytes();
            has_source(h.as_bytes(), source, &rows(source), &[r.as_bytes()])
        };
        let source = "Der Zug nach Hamburg fährt heute nicht";
        assert!(has("The train nach Hamburg fährt heute not", source, "No train today"));
        assert!(!has("The train nach Hamburg fährt today", source, "No train today"));
        assert!(!has("Zug nach Hamburg fährt", source, "Zug nach Hamburg fährt"));
        assert!(!has("", "", ""));
        assert!(!has("1 2 3 4", "1 2 3 4", "5"));
    }

    #[test]
    fn negation() {
        let english = Negation::new(&["not".into(), "*n't".into(), "no".into()]);
        assert!(english.is_in("It does NOT, work".as_bytes()));
        assert!(english.is_in("It doesn’t work".as_bytes()));
        assert!(!english.is_in("Nothing, noted".as_bytes()));
        let german = Negation::new(&["kein*".into()]);
        assert!(german.is_in("Keinesfalls".as_bytes()));
        assert!(!german.is_in("Ein".as_bytes()));
        let russian = Negation::new(&["не".into()]);
        assert!(russian.is_in("Не знаю".as_bytes()));
        assert!(Negation::new(&[]).is_empty());
    }
}
