//! The tokenizers `ptb` and `ptb-coco`: Stanford's PTBTokenizer (CoreNLP 3.4.1, options
//! `-preserveLines -lowerCase`) as the COCO caption evaluation calls it.
//!
//! The rules were inferred from the output of the original for 500,000 strings. At each position the
//! longest match wins, including the text that a rule only looks at; of equal matches, the first.
//! Lines are not sentences for the original, so it looks at the next line. A segment is tokenized
//! as if a line with a lower-case word followed. Line breaks inside a segment are spaces; in the
//! original they shift all later captions.

mod pattern;

use super::utf8::decode_char;
use Form::{Brackets, Entities, Period, Quotes, Text, Word};
use pattern::Pattern;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The classes of U+0000 to U+FFFF: `N` for spaces, characters that the original deletes with a
/// warning, and hyphens that only join; `L` for letters and digits; `M` for marks that continue words,
/// but not words with digits or hyphens; `O` for other characters, which are tokens.
static CLASSES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut classes = Vec::new();
    let runs = include_str!("ptb/classes.txt").trim_end();
    for run in runs.split_inclusive(|c: char| c.is_ascii_uppercase()) {
        let (length, class) = run.split_at(run.len() - 1);
        let length: usize = length.trim_start().parse().expect("the length of a run");
        classes.resize(classes.len() + length, class.as_bytes()[0]);
    }
    classes
});

/// Tokens that `ptb-coco` removes. The original's list also has brackets in upper case, but its
/// tokens are in lower case.
const REMOVED_TOKENS: [&[u8]; 13] =
    [b"''", b"'", b"``", b"`", b".", b"?", b"!", b",", b":", b"-", b"--", b"...", b";"];
/// Words that are split after three characters.
const SPLIT_WORDS: [&str; 6] = ["cannot", "gonna", "gotta", "lemme", "gimme", "wanna"];

/// How the text of a token follows from the matched characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In lower case.
    Word,
    /// In lower case, and each quotation mark in ASCII.
    Quotes,
    /// With `-lrb-` and `-rrb-` for round brackets, and U+00A0 for spaces.
    Brackets,
    /// In lower case, with `&` for `&amp;`.
    Entities,
    /// With a period as an additional token.
    Period,
    /// Another text; no token if it is empty.
    Text(&'static str),
}

/// A rule.
struct Rule {
    token: Pattern,
    following: Pattern,
    /// Words, each between spaces; empty if the rule has no list.
    list: String,
    form: Form,
    /// The bits of ASCII characters that each token contains, and of those that can start a token.
    needed: u128,
    first: u128,
}

/// The rules, and all words in lists.
static RULES: LazyLock<(Vec<Rule>, String)> = LazyLock::new(|| {
    let (mut macros, mut lists, mut rules) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let lines = include_str!("ptb/rules.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        match line.split_once(" := ") {
            Some((name, words)) if name.starts_with('@') => {
                let list = lists.entry(name).or_insert_with(|| " ".to_owned());
                *list += &[words, " "].concat();
            }
            Some((name, pattern)) => *macros.entry(name).or_insert_with(String::new) += pattern,
            None => rules.push(parse_rule(line, &macros, &lists)),
        }
    }
    (rules, lists.into_values().collect())
});

fn parse_rule(
    line: &'static str,
    macros: &BTreeMap<&str, String>,
    lists: &BTreeMap<&str, String>,
) -> Rule {
    let parse = |pattern: &str| {
        let mut pattern = pattern.to_owned();
        while let Some((name, value)) = macros.iter().find(|(name, _)| pattern.contains(**name)) {
            pattern = pattern.replace(name, value);
        }
        Pattern::parse(&mut pattern.chars().peekable())
    };
    let mut fields = line.split_ascii_whitespace();
    let token = parse(fields.next().unwrap_or_default());
    let (needed, first, _) = token.analyze();
    let (following, list) = (parse(""), String::new());
    let mut rule = Rule { token, following, list, form: Word, needed, first };
    for field in fields {
        match field.split_at(1) {
            ("/", following) => rule.following = parse(following),
            ("@", _) => rule.list = lists[field].clone(),
            ("=", text) => rule.form = Text(text),
            _ => {
                let forms = [Quotes, Brackets, Entities, Period].into_iter();
                let mut forms = forms.filter(|form| format!("{form:?}") == field);
                rule.form = forms.next().expect("the name of a form");
            }
        }
    }
    rule
}

/// The code points of a segment.
struct Line {
    points: Vec<u32>,
}

const NEWLINE: u32 = b'\n' as u32;

impl Line {
    fn new(segment: &[u8]) -> Self {
        let mut points = Vec::with_capacity(segment.len());
        if segment.is_ascii() {
            points.extend(segment.iter().map(|&byte| u32::from(byte)));
        } else {
            let mut position = 0;
            while position < segment.len() {
                let (point, width) = decode_char(&segment[position..]);
                points.push(point.unwrap_or(0));
                position += width;
            }
        }
        Self { points }
    }

    /// Return the character at a position as a code point; after the end, a newline and a letter.
    #[inline(always)]
    fn at(&self, i: usize) -> u32 {
        let after = if i == self.points.len() { NEWLINE } else { 0x7A };
        self.points.get(i).copied().unwrap_or(after)
    }

    /// Return the ASCII text of a range in lower case.
    fn lower_text(&self, start: usize, end: usize) -> Vec<u8> {
        (start..end).map(|i| (self.at(i) as u8).to_ascii_lowercase()).collect()
    }

    /// Return the end of a word or number that no other rule can match, or `i`.
    fn find_plain_end(&self, i: usize) -> usize {
        let run = |condition: fn(u32) -> bool| {
            i + self.points[i..].iter().take_while(|&&point| condition(point)).count()
        };
        let (end, digits) = (run(is_ascii_letter), run(is_ascii_digit));
        let has_space = |end: usize| matches!(self.at(end), 0x20 | NEWLINE);
        if has_space(digits) && !is_ascii_digit(self.at(digits + 1)) {
            // A number that is not a part of a fraction or of a telephone number.
            return digits;
        }
        let text = self.lower_text(i, end);
        let is_word = has_space(end)
            || self.at(end) == 0x2E && has_space(end + 1) && end > i + 1 && {
                let word = [b" ", &text[..], b" "].concat();
                memchr::memmem::find(RULES.1.as_bytes(), &word).is_none()
            };
        if is_word && !SPLIT_WORDS.iter().any(|word| word.as_bytes() == text) { end } else { i }
    }

    /// Return the end and the form of the token at `i`, which is not a space. `present` has the bits
    /// of the ASCII characters up to the next U+0020, and may have others.
    fn match_token(&self, i: usize, present: u128) -> (usize, Form) {
        // The original deletes characters without a rule.
        let (mut reach, mut end, mut form) = (i, i + 1, Text(""));
        let first = 1_u128.checked_shl(self.at(i));
        let is_possible = |rule: &&Rule| {
            first.is_none_or(|bit| rule.first & bit != 0) && rule.needed & !present == 0
        };
        for rule in RULES.0.iter().filter(is_possible) {
            for last in rule.token.find_ends(self, &[i]) {
                let ends = rule.following.find_ends(self, &[last]);
                let Some(&rule_reach) = ends.last() else { continue };
                let word = || [b" ", &self.lower_text(i, last - 1)[..], b" "].concat();
                let list = rule.list.as_bytes();
                if rule_reach > reach
                    && (list.is_empty() || memchr::memmem::find(list, &word()).is_some())
                {
                    (reach, end, form) = (rule_reach, last, rule.form);
                }
            }
        }
        (end, form)
    }
}

fn to_char(point: u32) -> char {
    char::from_u32(point).unwrap_or('\0')
}

fn class_of(point: u32) -> u8 {
    CLASSES.get(point as usize).copied().unwrap_or(b'N')
}

/// Return whether a character is in one of the classes of patterns.
fn is_in_class(point: u32, class: char) -> bool {
    let is_word = class_of(point) == b'L';
    let is_number = to_char(point).is_numeric();
    match class {
        'l' => is_word && !is_number,
        'w' => is_word,
        'd' => is_word && is_number,
        'm' => class_of(point) == b'M',
        'o' => class_of(point) == b'O',
        's' => is_space(point),
        'z' => point < 0x100 && is_space(point),
        _ => to_char(point).is_uppercase(),
    }
}

fn is_ascii_digit(point: u32) -> bool {
    (0x30..=0x39).contains(&point)
}

fn is_ascii_letter(point: u32) -> bool {
    (0x61..=0x7A).contains(&(point | 32))
}

fn is_space(point: u32) -> bool {
    matches!(point, 0x9..=0xD | 0x20 | 0x85 | 0xA0 | 0x2000..=0x200B | 0x200D | 0x2028 | 0x2029
        | 0x2060 | 0x3000 | 0xFEFF)
}

/// Return a quotation mark in ASCII, or `None`.
fn rewrite_quote(point: u32) -> Option<&'static str> {
    match point {
        0x91 | 0x2018 | 0x201B | 0x2039 => Some("`"),
        0x92 | 0x2019 | 0x203A => Some("'"),
        0x93 | 0xAB | 0x201C => Some("``"),
        0x94 | 0xBB | 0x201D => Some("''"),
        _ => None,
    }
}

/// Append the text of a token.
fn push_token(points: &[u32], form: Form, text: &mut Vec<u8>) {
    if let Text(fixed) = form {
        return text.extend_from_slice(fixed.as_bytes());
    }
    let mut token = String::new();
    for &point in points {
        match (form, point) {
            (Brackets, 0x28) => token.push_str("-lrb-"),
            (Brackets, 0x29) => token.push_str("-rrb-"),
            (Brackets, 0x20) => token.push('\u{A0}'),
            (_, 0xAD) => {}
            (Quotes, _) => match rewrite_quote(point) {
                Some(quote) => token.push_str(quote),
                None => token.push(to_char(point)),
            },
            _ => token.push(to_char(point)),
        }
    }
    token = token.to_lowercase();
    if form == Entities || form == Quotes {
        token = token.replace("&amp;", "&").replace("&apos;", "'");
    }
    text.extend_from_slice(token.as_bytes());
}

/// The tokens of words: their text, and their positions in it.
type CachedTokens = (Vec<u8>, Vec<(usize, usize)>);

const MAX_CACHED_WORDS: usize = 1 << 15;

thread_local! {
    static CACHES: RefCell<[FxHashMap<Vec<u8>, CachedTokens>; 2]> = RefCell::default();
}

/// Append the tokens of a segment to `text`, and emit the position of each token. With `coco`,
/// remove punctuation, and split tokens at U+00A0 as the BLEU and CIDEr of the original do.
pub fn tokenize_ptb(
    segment: &[u8],
    coco: bool,
    text: &mut Vec<u8>,
    mut emit: impl FnMut(usize, usize),
) {
    let base = text.len();
    let mut emit = |start, end| emit(start - base, end - base);
    let (mut line, mut present) = (None, (0, 0));
    if !segment.is_ascii() {
        let (line, mut i) = (Line::new(segment), 0);
        while i < line.points.len() {
            i = tokenize_word(&line, i, &mut present, coco, text, &mut emit);
        }
        return;
    }
    CACHES.with_borrow_mut(|caches| {
        let cache = &mut caches[usize::from(coco)];
        if cache.len() > MAX_CACHED_WORDS {
            cache.clear();
        }
        let mut i = 0;
        while i < segment.len() {
            let start = text.len();
            let (length, is_plain) = append_lower_word(&segment[i..], text);
            let word = &segment[i..i + length];
            let has_space = matches!(segment.get(i + length), Some(b' ') | None);
            let is_split = || SPLIT_WORDS.iter().any(|split| split.as_bytes() == &text[start..]);
            if is_plain && has_space && !is_split() {
                if length > 0 {
                    emit(start, text.len());
                    text.push(b' ');
                }
                i += length + 1;
                continue;
            }
            text.truncate(start);
            // Of other words, only those with a period, a digit or `<` depend on later words.
            let is_last = i + length == segment.len();
            let is_fixed = |&byte: &u8| match byte {
                b'.' => is_last,
                b'0'..=b'9' | b'<' => false,
                byte => byte < 127,
            };
            if !has_space || !word.iter().all(is_fixed) {
                let line = line.get_or_insert_with(|| Line::new(segment));
                i = tokenize_word(line, i, &mut present, coco, text, &mut emit);
                continue;
            }
            let (tokens, positions) = match cache.get(word) {
                Some(cached_tokens) => cached_tokens,
                None => {
                    let (mut text, mut ends) = (Vec::new(), Vec::new());
                    let mut push = |start, end| ends.push((start, end));
                    tokenize_word(&Line::new(word), 0, &mut (0, 0), coco, &mut text, &mut push);
                    cache.entry(word.to_vec()).or_insert((text, ends))
                }
            };
            text.extend_from_slice(tokens);
            positions.iter().for_each(|&(first, last)| emit(start + first, start + last));
            i += length + 1;
        }
    });
}

/// Append the bytes of an ASCII text up to the first space or control character, each with bit 5 set.
/// Return their number, and whether all are letters, so that the word is in lower case.
#[inline(always)]
fn append_lower_word(segment: &[u8], text: &mut Vec<u8>) -> (usize, bool) {
    // Eight bytes are compared at once. None has the high bit, so sums do not overflow into the next.
    let repeat = |byte: u8| u64::from_le_bytes([byte; 8]);
    let (start, mut length, mut others) = (text.len(), 0, 0);
    loop {
        let mut bytes = [b' '; 8];
        match segment[length..].first_chunk() {
            Some(chunk) => bytes = *chunk,
            None => bytes[..segment.len() - length].copy_from_slice(&segment[length..]),
        }
        let word = u64::from_le_bytes(bytes);
        let spaces = !(word + repeat(0x7F - b' ')) & repeat(0x80);
        let lower = word | repeat(0x20);
        let letters = (lower + repeat(0x80 - b'a')) & !(lower + repeat(0x7F - b'z'));
        // The bits below the first space.
        others |= !letters & repeat(0x80) & (spaces & spaces.wrapping_neg()).wrapping_sub(1);
        text.extend_from_slice(&lower.to_le_bytes());
        length += spaces.trailing_zeros() as usize / 8;
        if spaces != 0 {
            text.truncate(start + length);
            return (length, others == 0);
        }
    }
}

/// Append the tokens of the word at a position of a line to `text`, and emit their positions in
/// `text`. Return the position of the next word.
///
/// `present` has the ASCII characters up to a U+0020, and its position. Collecting them again for each
/// token would take quadratic time.
fn tokenize_word(
    line: &Line,
    mut i: usize,
    present: &mut (u128, usize),
    coco: bool,
    text: &mut Vec<u8>,
    emit: &mut impl FnMut(usize, usize),
) -> usize {
    let points = &line.points[..];
    let mut emit_token = |start: usize, form: Form, text: &mut Vec<u8>| {
        let token = &text[start..];
        if token.is_empty() || coco && REMOVED_TOKENS.contains(&token) {
            return text.truncate(start);
        }
        let mut part = start;
        if form == Brackets
            && coco
            && let Ok(token) = std::str::from_utf8(token)
        {
            for (offset, space) in token.match_indices('\u{A0}') {
                emit(part, start + offset);
                part = start + offset + space.len();
            }
        }
        emit(part, text.len());
        // Separate tokens, because block lexers may join adjacent tokens.
        text.push(b' ');
    };
    while i < points.len() && !is_space(points[i]) {
        let start = text.len();
        let (mut end, mut form) = (line.find_plain_end(i), Word);
        if end == i {
            if i >= present.1 {
                let word = points[i..].iter().take_while(|&&point| point != 0x20);
                *present = word.fold((0, i), |(present, end), &point| {
                    (present | 1_u128.checked_shl(point).unwrap_or(0), end + 1)
                });
            }
            (end, form) = line.match_token(i, present.0);
        }
        push_token(&points[i..end.min(points.len())], form, text);
        emit_token(start, form, text);
        if form == Period {
            text.push(b'.');
            emit_token(text.len() - 1, Word, text);
        }
        i = end;
    }
    i + 1
}
