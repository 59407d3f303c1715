//! The tokenizer of tercom, as sacreBLEU 2.6.0 has it for TER.
//!
//! By itself it splits at white space. *Normalized*, its Western rules are those of 13a but for
//! two: possessive `'s` stands alone, and what joins lines is a hyphen at the start of a line, not
//! at the end. *Asian support* adds characters that stand alone (to a normalized text) or are
//! deleted (with the other punctuation). The ranges are the original's, which takes U+3200 to
//! U+3F22 for enclosed letters; its rules for kana never apply, because they ask for the start of
//! a text that has just been wrapped in spaces.

use super::mteval_13a::{is_symbol, replace, resolve_entities, split};
use super::utf8::decode;
use super::{Tokenizer, whitespace};
use std::borrow::Cow;

/// The options of tercom's tokenizer, beside splitting at white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Split off punctuation, resolve entities, join lines.
    pub normalized: bool,
    /// Delete punctuation.
    pub no_punct: bool,
    /// Do both to Chinese and Japanese characters as well.
    pub asian_support: bool,
    /// Do it all again with what came out. It is what sacreBLEU does to references, and it makes
    /// a difference to normalized ones: `..1` becomes `. .1`, and that `. . 1`.
    pub twice: bool,
}

/// Ideographs, strokes, radicals and compatibility forms, first and last of each range.
const IDEOGRAPHS: [(u32, u32); 8] = [
    (0x2E80, 0x2EFF),
    (0x31C0, 0x31EF),
    (0x3200, 0x3F22),
    (0x3300, 0x33FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
];

/// Chinese, Japanese and full-width punctuation.
const PUNCTUATION: [(u32, u32); 11] = [
    (0x3001, 0x3002),
    (0x3008, 0x3011),
    (0x3014, 0x301F),
    (0x30FB, 0x30FB),
    (0xFF01, 0xFF02),
    (0xFF08, 0xFF09),
    (0xFF0C, 0xFF0C),
    (0xFF0E, 0xFF0E),
    (0xFF1A, 0xFF1B),
    (0xFF1F, 0xFF1F),
    (0xFF61, 0xFF65),
];

/// The width of the character that `text` starts with if it is in one of `ranges`; else 0.
fn width_in(ranges: &[(u32, u32)], text: &[u8]) -> usize {
    match decode(text) {
        (Some(point), width) if ranges.iter().any(|&(low, high)| (low..=high).contains(&point)) => {
            width
        }
        _ => 0,
    }
}

/// `text` with a space before each possessive `'s`. It is one before a symbol, a space or the end.
fn part_possessives(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let ends = |at: usize| text.get(at).is_none_or(|&byte| byte == b' ' || is_symbol(byte));
    let mut places =
        memchr::memmem::find_iter(&text, b"'s").filter(|place| ends(place + 2)).peekable();
    if places.peek().is_none() {
        drop(places);
        return text;
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    let mut done = 0;
    for place in places {
        out.extend_from_slice(&text[done..place]);
        out.push(b' ');
        done = place;
    }
    out.extend_from_slice(&text[done..]);
    Cow::Owned(out)
}

impl Options {
    /// True if anything but white space matters.
    pub fn is_plain(self) -> bool {
        !self.normalized && !self.no_punct
    }

    /// What splits hypotheses, or references, for which it is done `twice`.
    pub fn tokenizer(self, twice: bool) -> Tokenizer {
        // Without options it is the tokenizer that splits at white space.
        match self.is_plain() {
            true => Tokenizer::Whitespace,
            false => Tokenizer::Tercom(Self { twice, ..self }),
        }
    }

    /// The tokens of `text`, each with a space behind it.
    pub fn rewrite(self, text: &[u8]) -> Vec<u8> {
        let once = self.once(text);
        if self.twice { self.once(&once) } else { once }
    }

    fn once(self, text: &[u8]) -> Vec<u8> {
        let text = whitespace::trim_end(text);
        let mut out = Vec::with_capacity(text.len() + text.len() / 4);
        if !self.normalized {
            whitespace::tokenize(text, |start, end| self.push(&text[start..end], &mut out));
            return out;
        }
        let mut text = replace(Cow::Borrowed(text), b"\n-", b"");
        text = replace(text, b"\n", b" ");
        text = part_possessives(resolve_entities(text));
        let alone = |text: &[u8]| {
            let wide = [&IDEOGRAPHS[..], &PUNCTUATION].map(|ranges| width_in(ranges, text));
            if self.asian_support { wide[0].max(wide[1]) } else { 0 }
        };
        split(&text, true, alone, |start, end| self.push(&text[start..end], &mut out));
        out
    }

    /// Appends what is left of a token, if anything is.
    fn push(self, token: &[u8], out: &mut Vec<u8>) {
        let before = out.len();
        if !self.no_punct {
            out.extend_from_slice(token);
        } else {
            let mut at = 0;
            while at < token.len() {
                let (_, width) = decode(&token[at..]);
                let is_ascii = b".,?:;!\"()".contains(&token[at]);
                let is_wide = self.asian_support && width_in(&PUNCTUATION, &token[at..]) > 0;
                if !is_ascii && !is_wide {
                    out.extend_from_slice(&token[at..at + width]);
                }
                at += width;
            }
        }
        if out.len() > before {
            out.push(b' ');
        }
    }
}
