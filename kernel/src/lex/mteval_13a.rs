//! The tokenizer `13a` of mteval-v13a, as in sacreBLEU 2.6.0.
//!
//! First the text is rewritten: `<skipped>` is removed, a hyphen at a line end joins the lines,
//! other line endings become spaces, and four entities are resolved. Then symbols become tokens. `.`
//! and `,` become tokens unless they have a digit on both sides; `-` becomes a token after a digit.
//! These rules apply only to ASCII, so typographic quotes and CJK punctuation stay attached.

use super::block::{BlockBits, BlockResult, BlockRule, BlockText};
use super::whitespace::{add_wide_space, space_width, wide_leads};
use crate::interrupt::Work;
use crate::simd::{self, Vector};
use memchr::memmem;
use std::borrow::Cow;

const ENTITIES: [(&[u8], &[u8]); 4] =
    [(b"&quot;", b"\""), (b"&amp;", b"&"), (b"&lt;", b"<"), (b"&gt;", b">")];

/// Return `text` with every `from` replaced by `to`.
pub(super) fn replace_all<'a>(text: Cow<'a, [u8]>, from: &[u8], to: &[u8]) -> Cow<'a, [u8]> {
    let finder = memmem::Finder::new(from);
    let mut positions = finder.find_iter(&text).peekable();
    if positions.peek().is_none() {
        drop(positions);
        return text;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for position in positions {
        out.extend_from_slice(&text[copied..position]);
        out.extend_from_slice(to);
        copied = position + from.len();
    }
    out.extend_from_slice(&text[copied..]);
    Cow::Owned(out)
}

/// Return the text to be split, with entities resolved and lines joined. The steps are in
/// sacreBLEU's order.
pub fn rewrite_text(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = replace_all(Cow::Borrowed(text), b"<skipped>", b"");
    text = replace_all(text, b"-\n", b"");
    text = replace_all(text, b"\n", b" ");
    resolve_entities(text)
}

/// Return `text` with the four entities resolved in sequence, so that `&amp;lt;` becomes `<`.
pub(super) fn resolve_entities(mut text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if memchr::memchr(b'&', &text).is_some() {
        for (entity, character) in ENTITIES {
            text = replace_all(text, entity, character);
        }
    }
    text
}

/// Return whether a byte is always a token: ASCII punctuation other than `'`, `,`, `-` and `.`.
pub(super) fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_punctuation() && !matches!(byte, b'\'' | b',' | b'-' | b'.')
}

/// Emit the tokens of rewritten text.
///
/// With `is_bounded`, treat the text as enclosed in spaces, as 13a does. Otherwise, no character
/// precedes the start or follows the end, as `zh` requires. `token_width` returns the width of a
/// non-ASCII character that is a token, or 0.
pub fn split_rewritten(
    text: &[u8],
    is_bounded: bool,
    token_width: impl Fn(&[u8]) -> usize,
    mut emit: impl FnMut(usize, usize),
) {
    let is_digit = |i: usize, edge: bool| text.get(i).map_or(edge, u8::is_ascii_digit);
    let follows_digit =
        |i: usize| i.checked_sub(1).map_or(!is_bounded, |previous| is_digit(previous, false));
    let mut token = None;
    let mut work = Work::default();
    let mut position = 0;
    while position < text.len() {
        work.add(2);
        let byte = text[position];
        let mut width = 1;
        let mut stands_alone = false;
        match byte {
            b'.' | b',' => {
                // sacreBLEU splits a run with two passes of substitutions that each consume pairs.
                // Therefore, the parity of the run's length determines which marks are split off.
                let run_length =
                    text[position..].iter().take_while(|&&b| b == b'.' || b == b',').count();
                let keeps_last = is_digit(position + run_length, !is_bounded)
                    && if run_length % 2 == 1 {
                        follows_digit(position)
                    } else {
                        !follows_digit(position)
                    };
                let split_count = if keeps_last { run_length - 1 } else { run_length };
                if split_count > 0 {
                    if let Some(start) = token.take() {
                        emit(start, position);
                    }
                    for i in position..position + split_count {
                        emit(i, i + 1);
                    }
                }
                if keeps_last {
                    token.get_or_insert(position + split_count);
                }
                position += run_length;
                continue;
            }
            b'-' => stands_alone = position > 0 && text[position - 1].is_ascii_digit(),
            0..0x80 => stands_alone = is_symbol(byte),
            _ => {}
        }
        if !stands_alone {
            let wide_width = if byte >= 0x80 { token_width(&text[position..]) } else { 0 };
            if wide_width > 0 {
                (width, stands_alone) = (wide_width, true);
            }
        }
        let blank_width = space_width(&text[position..]);
        if blank_width > 0 {
            if let Some(start) = token.take() {
                emit(start, position);
            }
            width = blank_width;
        } else if stands_alone {
            if let Some(start) = token.take() {
                emit(start, position);
            }
            emit(position, position + width);
        } else {
            token.get_or_insert(position);
        }
        position += width;
    }
    if let Some(start) = token {
        emit(start, text.len());
    }
}

/// Symbols and white space, by row of the ASCII table: `!` to `/`; `:` to `?`; the brackets and the
/// characters between them; `@` and the grave accent; `_`; tab to carriage return; the separators;
/// space.
const CLASS_TABLE: simd::Classes = simd::Classes::new([
    (1 << 2, 0b1000_1111_0111_1110),
    (1 << 3, 0b1111_1100_0000_0000),
    (1 << 5 | 1 << 7, 0b0111_1000_0000_0000),
    (1 << 4 | 1 << 6, 1),
    (1 << 5, 1 << 15),
    (1 << 0, 0b0011_1110_0000_0000),
    (1 << 1, 0b1111_0000_0000_0000),
    (1 << 2, 1),
]);
const SYMBOL: u8 = 0b0001_1111;
const SPACE: u8 = 0b1110_0000;

/// The classes of bytes that the splitting rules use.
pub(super) struct ByteClasses {
    /// ASCII white space.
    pub space: u64,
    /// Symbols, which are always tokens.
    pub symbol: u64,
    /// `.` and `,`.
    pub point: u64,
    /// ASCII digits.
    pub digit: u64,
    /// `-`.
    pub hyphen: u64,
}

impl ByteClasses {
    /// Classify the bytes of a block.
    #[inline(always)]
    pub unsafe fn from_bytes<V: Vector>(bytes: V::Bytes) -> Self {
        // SAFETY: the caller guarantees that `V` is available.
        unsafe {
            let classes = V::classes(bytes, &CLASS_TABLE);
            Self {
                space: V::having(classes, SPACE),
                symbol: V::having(classes, SYMBOL),
                point: V::bits(V::or(V::equal(bytes, b'.'), V::equal(bytes, b','))),
                digit: V::bits(V::within(bytes, b'0', b'9')),
                hyphen: V::bits(V::equal(bytes, b'-')),
            }
        }
    }
}

/// The state of the splitting rules from the previous block.
#[derive(Default)]
pub(super) struct SplitState {
    digit: u64,
    point: u64,
    token_break: u64,
}

impl SplitState {
    /// Return the breaks in this block, and the digits after a run of two or more full stops.
    #[inline(always)]
    pub fn split_block(&mut self, classes: &ByteClasses, block_text: &BlockText<'_>) -> (u64, u64) {
        let after_digit = classes.digit << 1 | self.digit;
        let before_digit =
            classes.digit >> 1 | u64::from(block_text.next_byte().is_ascii_digit()) << 63;
        let single_tokens = classes.symbol
            | (classes.point & !(after_digit & before_digit))
            | (classes.hyphen & after_digit);
        let breaks = single_tokens | single_tokens << 1 | self.token_break;
        let point_runs = (classes.point << 1 | self.point >> 1)
            & (classes.point << 2 | self.point)
            & classes.digit;
        self.digit = classes.digit >> 63;
        self.point = classes.point >> 62;
        self.token_break = single_tokens >> 63;
        (breaks, point_runs)
    }
}

/// The block form of [`split_rewritten`], for text that needs no rewriting.
#[derive(Default)]
pub struct ThirteenARule {
    space: BlockBits,
    state: SplitState,
}

impl BlockRule for ThirteenARule {
    #[inline(always)]
    unsafe fn lex_block<V: Vector>(
        &mut self,
        bytes: V::Bytes,
        block_text: &BlockText<'_>,
    ) -> BlockResult {
        self.space.advance();
        // SAFETY: the caller guarantees that `V` is available.
        let (leads, classes, mut entity_starts, nul) = unsafe {
            let entity_starts = V::bits(V::or(V::equal(bytes, b'&'), V::equal(bytes, b'<')));
            let nul = V::bits(V::equal(bytes, 0));
            (wide_leads::<V>(bytes), ByteClasses::from_bytes::<V>(bytes), entity_starts, nul)
        };
        self.space.current |= classes.space;
        // SAFETY: the caller guarantees that `V` is available.
        unsafe { add_wide_space::<V>(leads, bytes, block_text, &mut self.space) };
        let (breaks, run) = self.state.split_block(&classes, block_text);
        let mut irregular = nul | run;
        while entity_starts != 0 {
            let position = entity_starts.trailing_zeros();
            entity_starts &= entity_starts - 1;
            let text = block_text.bytes_from(position);
            if text.starts_with(b"<skipped>")
                || ENTITIES.iter().any(|(entity, _)| text.starts_with(entity))
            {
                irregular |= 1 << position;
            }
        }
        BlockResult { space: self.space.current, breaks, irregular }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_class_table_matches_definitions() {
        for byte in 0..=u8::MAX {
            let classes = CLASS_TABLE.byte_classes(byte);
            assert_eq!(classes & SYMBOL != 0, is_symbol(byte), "{byte:#x}");
            assert_eq!(classes & SPACE != 0, space_width(&[byte]) == 1, "{byte:#x}");
        }
    }
}
