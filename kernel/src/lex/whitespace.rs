//! White space as defined by Python's `str.split()`, and the tokenizers `none` and `jiwer`. `none`
//! splits only at white space. `jiwer` treats a single white-space character other than a space as
//! part of a word.
//!
//! The 29 code points are Unicode's White_Space and U+001C to U+001F. U+180E, U+200B, U+2060 and
//! U+FEFF are not included.

use super::block::{BlockBits, BlockResult, BlockRule, BlockText};
use crate::interrupt::Work;
use crate::simd::Vector;

/// Return the width of the white-space character at the start of `text`, or 0.
#[inline]
pub fn space_width(text: &[u8]) -> usize {
    match *text {
        [b' ' | 0x09..=0x0D | 0x1C..=0x1F, ..] => 1,
        [0xC2, 0x85 | 0xA0, ..] => 2,
        [0xE1, 0x9A, 0x80, ..] => 3,
        [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..] => 3,
        [0xE2, 0x81, 0x9F, ..] => 3,
        [0xE3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}

/// Return `text` without white space at its end, like `str.rstrip()`.
pub fn trim_end(mut text: &[u8]) -> &[u8] {
    loop {
        let length = text.len();
        let width =
            (1..=3.min(length)).find(|&width| space_width(&text[length - width..]) == width);
        match width {
            Some(width) => text = &text[..length - width],
            None => return text,
        }
    }
}

/// Return `text` without white space at its start, like `str.lstrip()`.
pub fn trim_start(mut text: &[u8]) -> &[u8] {
    loop {
        match space_width(text) {
            0 => return text,
            width => text = &text[width..],
        }
    }
}

/// Emit the tokens of the tokenizer `none`, which splits at white space.
pub fn tokenize_whitespace(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut start = 0;
    let mut position = 0;
    let mut work = Work::default();
    while position < text.len() {
        work.add(1);
        let width = space_width(&text[position..]);
        if width > 0 {
            if start < position {
                emit(start, position);
            }
            start = position + width;
        }
        position += width.max(1);
    }
    if start < position {
        emit(start, position);
    }
}

/// Emit the tokens of the tokenizer `jiwer`, which splits at spaces and at runs of two or more
/// white-space characters. `text` must not start or end with white space.
pub fn split_at_spaces(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut start = 0;
    let mut position = 0;
    while position < text.len() {
        let first = space_width(&text[position..]);
        if first == 0 {
            position += 1;
            continue;
        }
        let mut end = position + first;
        while end < text.len() && space_width(&text[end..]) > 0 {
            end += space_width(&text[end..]);
        }
        if text[position] == b' ' || end > position + first {
            emit(start, position);
            start = end;
        }
        position = end;
    }
    if start < position {
        emit(start, position);
    }
}

/// Return the bits of ASCII white space, and of bytes that may start other white space.
#[inline(always)]
pub(super) unsafe fn ascii_space<V: Vector>(bytes: V::Bytes) -> (u64, u64) {
    // SAFETY: the caller guarantees that `V` is available.
    unsafe {
        let controls = V::or(V::within(bytes, 0x09, 0x0D), V::within(bytes, 0x1C, 0x20));
        (V::bits(controls), wide_leads::<V>(bytes))
    }
}

/// Return the bits of the bytes that may start non-ASCII white space.
#[inline(always)]
pub(super) unsafe fn wide_leads<V: Vector>(bytes: V::Bytes) -> u64 {
    // SAFETY: the caller guarantees that `V` is available.
    unsafe { V::bits(V::or(V::equal(bytes, 0xC2), V::within(bytes, 0xE1, 0xE3))) }
}

/// Add the non-ASCII white space that starts at one of `leads`.
#[inline(always)]
pub(super) unsafe fn add_wide_space<V: Vector>(
    mut leads: u64,
    bytes: V::Bytes,
    block_text: &BlockText<'_>,
    space_bits: &mut BlockBits,
) {
    if leads == 0 {
        return;
    }
    // Curly quotes and dashes share their first bytes with some spaces; the third byte differs.
    // SAFETY: the caller guarantees that `V` is available.
    leads &= unsafe {
        let third = block_text.load::<V>(2);
        let spaces = V::or(V::within(third, 0x80, 0x8A), V::within(third, 0xA8, 0xA9));
        let other_spaces = V::or(V::equal(third, 0x9F), V::equal(third, 0xAF));
        V::bits(V::or(V::or(spaces, other_spaces), V::equal(bytes, 0xC2)))
    };
    while leads != 0 {
        let position = leads.trailing_zeros();
        leads &= leads - 1;
        let width = space_width(block_text.bytes_from(position));
        if width > 0 {
            space_bits.set(position, width as u32);
        }
    }
}

/// The block form of [`tokenize_whitespace`].
#[derive(Default)]
pub struct WhitespaceRule {
    space: BlockBits,
}

impl BlockRule for WhitespaceRule {
    #[inline(always)]
    unsafe fn lex_block<V: Vector>(
        &mut self,
        bytes: V::Bytes,
        block_text: &BlockText<'_>,
    ) -> BlockResult {
        self.space.advance();
        // SAFETY: the caller guarantees that `V` is available.
        let (space, leads, nul) = unsafe {
            let (space, leads) = ascii_space::<V>(bytes);
            (space, leads, V::bits(V::equal(bytes, 0)))
        };
        self.space.current |= space;
        // SAFETY: the caller guarantees that `V` is available.
        unsafe { add_wide_space::<V>(leads, bytes, block_text, &mut self.space) };
        BlockResult { space: self.space.current, breaks: 0, irregular: nul }
    }
}

/// The block form of [`split_at_spaces`]. Lines with other white space are irregular.
#[derive(Default)]
pub struct SpacesRule {
    whitespace: WhitespaceRule,
}

impl BlockRule for SpacesRule {
    #[inline(always)]
    unsafe fn lex_block<V: Vector>(
        &mut self,
        bytes: V::Bytes,
        block_text: &BlockText<'_>,
    ) -> BlockResult {
        // SAFETY: the caller guarantees that `V` is available.
        let (result, spaces_and_newlines) = unsafe {
            let spaces_and_newlines = V::or(V::equal(bytes, b' '), V::equal(bytes, b'\n'));
            (self.whitespace.lex_block::<V>(bytes, block_text), V::bits(spaces_and_newlines))
        };
        BlockResult { irregular: result.irregular | result.space & !spaces_and_newlines, ..result }
    }
}
