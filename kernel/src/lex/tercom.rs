//! The tokenizer of tercom for TER, as in sacreBLEU 2.6.0.
//!
//! Without options it splits at white space. With `normalized`, its Western rules match the rules
//! of 13a, with two exceptions. Possessive `'s` is a token, and lines are joined at a hyphen that
//! starts a line instead of one that ends a line. `asian_support` adds characters that are tokens
//! (with `normalized`) or are deleted (with `no_punct`). The character ranges are tercom's and
//! treat U+3200 to U+3F22 as enclosed letters. Its rules for kana never apply, because they only
//! match at the start of a text that always starts with a space.

use super::mteval_13a::{is_symbol, replace_all, resolve_entities, split_rewritten};
use super::utf8::decode_char;
use super::{Tokenizer, whitespace};
use std::borrow::Cow;

/// The options of tercom's tokenizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TercomOptions {
    /// Split off punctuation, resolve entities, and join lines.
    pub normalized: bool,
    /// Delete punctuation.
    pub no_punct: bool,
    /// Also apply `normalized` and `no_punct` to Chinese and Japanese characters.
    pub asian_support: bool,
    /// Apply the tokenizer to its own output, as sacreBLEU does for references. This changes
    /// normalized references: `..1` becomes `. .1`, and then `. . 1`.
    pub applies_twice: bool,
}

/// Ideographs, strokes, radicals and compatibility forms, as first and last code points.
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

/// Return the width of the character at the start of `text` if it is in one of `ranges`, otherwise
/// 0.
fn width_in(ranges: &[(u32, u32)], text: &[u8]) -> usize {
    match decode_char(text) {
        (Some(point), width) if ranges.iter().any(|&(low, high)| (low..=high).contains(&point)) => {
            width
        }
        _ => 0,
    }
}

/// Return `text` with a space before each possessive `'s`, which must precede a symbol, a space or
/// the end.
fn split_possessives(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let is_at_word_end =
        |position: usize| text.get(position).is_none_or(|&byte| byte == b' ' || is_symbol(byte));
    let mut positions = memchr::memmem::find_iter(&text, b"'s")
        .filter(|position| is_at_word_end(position + 2))
        .peekable();
    if positions.peek().is_none() {
        drop(positions);
        return text;
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    let mut copied = 0;
    for position in positions {
        out.extend_from_slice(&text[copied..position]);
        out.push(b' ');
        copied = position;
    }
    out.extend_from_slice(&text[copied..]);
    Cow::Owned(out)
}

impl TercomOptions {
    /// Return whether tokens are split only at white space.
    pub fn is_whitespace_only(self) -> bool {
        !self.normalized && !self.no_punct
    }

    /// Return the tokenizer with these options. Set `applies_twice` for references.
    pub fn tokenizer(self, applies_twice: bool) -> Tokenizer {
        // Without options, this is the tokenizer that splits at white space.
        match self.is_whitespace_only() {
            true => Tokenizer::Whitespace,
            false => Tokenizer::Tercom(Self { applies_twice, ..self }),
        }
    }

    /// Return the tokens of `text`, each followed by a space.
    pub fn rewrite(self, text: &[u8]) -> Vec<u8> {
        let rewritten = self.rewrite_once(text);
        if self.applies_twice { self.rewrite_once(&rewritten) } else { rewritten }
    }

    /// Apply the tokenizer once.
    fn rewrite_once(self, text: &[u8]) -> Vec<u8> {
        let text = whitespace::trim_end(text);
        let mut out = Vec::with_capacity(text.len() + text.len() / 4);
        if !self.normalized {
            whitespace::tokenize_whitespace(text, |start, end| {
                self.push_token(&text[start..end], &mut out)
            });
            return out;
        }
        let mut text = replace_all(Cow::Borrowed(text), b"\n-", b"");
        text = replace_all(text, b"\n", b" ");
        text = split_possessives(resolve_entities(text));
        let token_width = |text: &[u8]| {
            let widths = [&IDEOGRAPHS[..], &PUNCTUATION].map(|ranges| width_in(ranges, text));
            if self.asian_support { widths[0].max(widths[1]) } else { 0 }
        };
        split_rewritten(&text, true, token_width, |start, end| {
            self.push_token(&text[start..end], &mut out)
        });
        out
    }

    /// Append a token after deleting punctuation, unless nothing remains.
    fn push_token(self, token: &[u8], out: &mut Vec<u8>) {
        let start_length = out.len();
        if !self.no_punct {
            out.extend_from_slice(token);
        } else {
            let mut position = 0;
            while position < token.len() {
                let (_, width) = decode_char(&token[position..]);
                let is_ascii = b".,?:;!\"()".contains(&token[position]);
                let is_wide = self.asian_support && width_in(&PUNCTUATION, &token[position..]) > 0;
                if !is_ascii && !is_wide {
                    out.extend_from_slice(&token[position..position + width]);
                }
                position += width;
            }
        }
        if out.len() > start_length {
            out.push(b' ');
        }
    }
}
