//! White space as Python's `str.split()` sees it, and the tokenizer `none` that only splits there;
//! and `jiwer`, for which a single white-space character that is no space belongs to the word.
//!
//! The 29 code points are Unicode's White_Space and U+001C to U+001F; U+180E, U+200B, U+2060 and
//! U+FEFF are not among them.

use super::block::{Bits, Cut, Rule, Stretch};
use crate::interrupt::Work;
use crate::simd::Vector;

/// The width of the white-space character that `text` starts with; 0 for none.
#[inline]
pub fn space(text: &[u8]) -> usize {
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

/// `text` without white space at its end, as `str.rstrip()`.
pub fn trim_end(mut text: &[u8]) -> &[u8] {
    loop {
        let length = text.len();
        let width = (1..=3.min(length)).find(|&width| space(&text[length - width..]) == width);
        match width {
            Some(width) => text = &text[..length - width],
            None => return text,
        }
    }
}

/// `text` without white space at its start, as `str.lstrip()`.
pub fn trim_start(mut text: &[u8]) -> &[u8] {
    loop {
        match space(text) {
            0 => return text,
            width => text = &text[width..],
        }
    }
}

/// The tokenizer `none`: tokens are what white space separates.
pub fn tokenize(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut start = 0;
    let mut at = 0;
    let mut work = Work::default();
    while at < text.len() {
        work.done(1);
        let width = space(&text[at..]);
        if width > 0 {
            if start < at {
                emit(start, at);
            }
            start = at + width;
        }
        at += width.max(1);
    }
    if start < at {
        emit(start, at);
    }
}

/// The tokenizer `jiwer`: tokens are what spaces separate, and runs of two and more white-space
/// characters. There is none at either end of `text`.
pub fn split_at_spaces(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        let first = space(&text[at..]);
        if first == 0 {
            at += 1;
            continue;
        }
        let mut end = at + first;
        while end < text.len() && space(&text[end..]) > 0 {
            end += space(&text[end..]);
        }
        if text[at] == b' ' || end > at + first {
            emit(start, at);
            start = end;
        }
        at = end;
    }
    if start < at {
        emit(start, at);
    }
}

/// The bits of ASCII white space, and of the bytes that may start other white space.
#[inline(always)]
pub(super) unsafe fn ascii_space<V: Vector>(bytes: V::Bytes) -> (u64, u64) {
    // SAFETY: the caller's processor has the instructions of V.
    unsafe {
        let controls = V::or(V::within(bytes, 0x09, 0x0D), V::within(bytes, 0x1C, 0x20));
        (V::bits(controls), wide_leads::<V>(bytes))
    }
}

/// The bits of the bytes that may start white space beyond ASCII.
#[inline(always)]
pub(super) unsafe fn wide_leads<V: Vector>(bytes: V::Bytes) -> u64 {
    // SAFETY: the caller's processor has the instructions of V.
    unsafe { V::bits(V::or(V::equal(bytes, 0xC2), V::within(bytes, 0xE1, 0xE3))) }
}

/// Adds the white space beyond ASCII that starts at one of `leads`.
#[inline(always)]
pub(super) unsafe fn wide_space<V: Vector>(
    mut leads: u64,
    bytes: V::Bytes,
    stretch: &Stretch<'_>,
    space_bits: &mut Bits,
) {
    if leads == 0 {
        return;
    }
    // Curly quotes and dashes begin as some of these spaces do: the third byte tells them apart.
    // SAFETY: the caller's processor has the instructions of V.
    leads &= unsafe {
        let third = stretch.load::<V>(2);
        let spaces = V::or(V::within(third, 0x80, 0x8A), V::within(third, 0xA8, 0xA9));
        let others = V::or(V::equal(third, 0x9F), V::equal(third, 0xAF));
        V::bits(V::or(V::or(spaces, others), V::equal(bytes, 0xC2)))
    };
    while leads != 0 {
        let at = leads.trailing_zeros();
        leads &= leads - 1;
        let width = space(stretch.from(at));
        if width > 0 {
            space_bits.set(at, width as u32);
        }
    }
}

/// The block form of [`tokenize`].
#[derive(Default)]
pub struct Whitespace {
    space: Bits,
}

impl Rule for Whitespace {
    #[inline(always)]
    unsafe fn cut<V: Vector>(&mut self, bytes: V::Bytes, stretch: &Stretch<'_>) -> Cut {
        self.space.advance();
        // SAFETY: the caller's processor has the instructions of V.
        let (space, leads, nul) = unsafe {
            let (space, leads) = ascii_space::<V>(bytes);
            (space, leads, V::bits(V::equal(bytes, 0)))
        };
        self.space.now |= space;
        // SAFETY: the caller's processor has the instructions of V.
        unsafe { wide_space::<V>(leads, bytes, stretch, &mut self.space) };
        Cut { space: self.space.now, breaks: 0, irregular: nul }
    }
}

/// The block form of [`split_at_spaces`]: a line with other white space than spaces is irregular.
#[derive(Default)]
pub struct Spaces {
    whitespace: Whitespace,
}

impl Rule for Spaces {
    #[inline(always)]
    unsafe fn cut<V: Vector>(&mut self, bytes: V::Bytes, stretch: &Stretch<'_>) -> Cut {
        // SAFETY: the caller's processor has the instructions of V.
        let (cut, plain) = unsafe {
            let plain = V::or(V::equal(bytes, b' '), V::equal(bytes, b'\n'));
            (self.whitespace.cut::<V>(bytes, stretch), V::bits(plain))
        };
        Cut { irregular: cut.irregular | cut.space & !plain, ..cut }
    }
}
