//! The tokenizer `13a` of mteval-v13a, as sacreBLEU 2.6.0 has it.
//!
//! First the text is rewritten: `<skipped>` goes, a hyphen at a line end joins the lines, other
//! line ends become spaces, four entities are resolved. Then symbols stand alone; `.` and `,` do
//! unless a digit is on both sides; `-` does after a digit. Only ASCII counts: typographic quotes
//! and CJK punctuation stay attached.

use super::block::{Bits, Cut, Rule, Stretch};
use super::whitespace::{space, wide_leads, wide_space};
use crate::interrupt::Work;
use crate::simd::{self, Vector};
use memchr::memmem;
use std::borrow::Cow;

const ENTITIES: [(&[u8], &[u8]); 4] =
    [(b"&quot;", b"\""), (b"&amp;", b"&"), (b"&lt;", b"<"), (b"&gt;", b">")];

/// `text` with every `from` replaced.
pub(super) fn replace<'a>(text: Cow<'a, [u8]>, from: &[u8], to: &[u8]) -> Cow<'a, [u8]> {
    let finder = memmem::Finder::new(from);
    let mut places = finder.find_iter(&text).peekable();
    if places.peek().is_none() {
        drop(places);
        return text;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    for place in places {
        out.extend_from_slice(&text[done..place]);
        out.extend_from_slice(to);
        done = place + from.len();
    }
    out.extend_from_slice(&text[done..]);
    Cow::Owned(out)
}

/// The text that is split: entities resolved, lines joined. The order of the steps is sacreBLEU's.
pub fn rewrite(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = replace(Cow::Borrowed(text), b"<skipped>", b"");
    text = replace(text, b"-\n", b"");
    text = replace(text, b"\n", b" ");
    resolve_entities(text)
}

/// `text` with the four entities resolved, one after the other: `&amp;lt;` becomes `<`.
pub(super) fn resolve_entities(mut text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if memchr::memchr(b'&', &text).is_some() {
        for (entity, character) in ENTITIES {
            text = replace(text, entity, character);
        }
    }
    text
}

/// ASCII punctuation but `'`, `,`, `-` and `.`; it always stands alone.
pub(super) fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_punctuation() && !matches!(byte, b'\'' | b',' | b'-' | b'.')
}

/// Tokens of rewritten text.
///
/// With `bounded`, the text counts as standing between spaces, as 13a wraps it; without, nothing
/// is before its start or behind its end, which `zh` needs. `alone` gives the width of a wider
/// character that stands alone, 0 for all others.
pub fn split(
    text: &[u8],
    bounded: bool,
    alone: impl Fn(&[u8]) -> usize,
    mut emit: impl FnMut(usize, usize),
) {
    let digit = |at: usize, edge: bool| text.get(at).map_or(edge, u8::is_ascii_digit);
    let after_digit = |at: usize| at.checked_sub(1).map_or(!bounded, |before| digit(before, false));
    let mut token = None;
    let mut work = Work::default();
    let mut at = 0;
    while at < text.len() {
        work.done(2);
        let byte = text[at];
        let mut width = 1;
        let mut stands_alone = false;
        match byte {
            b'.' | b',' => {
                // A run of them: which of its members are split off follows from two passes of
                // substitutions that each consume pairs, hence from the parity of its length.
                let run = text[at..].iter().take_while(|&&b| b == b'.' || b == b',').count();
                let glued = digit(at + run, !bounded)
                    && if run % 2 == 1 { after_digit(at) } else { !after_digit(at) };
                let single = if glued { run - 1 } else { run };
                if single > 0 {
                    if let Some(start) = token.take() {
                        emit(start, at);
                    }
                    for i in at..at + single {
                        emit(i, i + 1);
                    }
                }
                if glued {
                    token.get_or_insert(at + single);
                }
                at += run;
                continue;
            }
            b'-' => stands_alone = at > 0 && text[at - 1].is_ascii_digit(),
            0..0x80 => stands_alone = is_symbol(byte),
            _ => {}
        }
        if !stands_alone {
            let wide = if byte >= 0x80 { alone(&text[at..]) } else { 0 };
            if wide > 0 {
                (width, stands_alone) = (wide, true);
            }
        }
        let blank = space(&text[at..]);
        if blank > 0 {
            if let Some(start) = token.take() {
                emit(start, at);
            }
            width = blank;
        } else if stands_alone {
            if let Some(start) = token.take() {
                emit(start, at);
            }
            emit(at, at + width);
        } else {
            token.get_or_insert(at);
        }
        at += width;
    }
    if let Some(start) = token {
        emit(start, text.len());
    }
}

/// Symbols and white space, by rows of the ASCII table: `!` to `/`, `:` to `?`, the brackets and what
/// is between them, `@` and the grave accent, `_`; tab to carriage return, the separators, the space.
const TABLE: simd::Classes = simd::Classes::new([
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

/// The classes of bytes that the splitting rules speak of.
pub(super) struct Classes {
    /// ASCII white space.
    pub space: u64,
    /// Always alone.
    pub symbol: u64,
    /// `.` and `,`.
    pub point: u64,
    /// ASCII digits.
    pub digit: u64,
    /// `-`.
    pub hyphen: u64,
}

impl Classes {
    #[inline(always)]
    pub unsafe fn of<V: Vector>(bytes: V::Bytes) -> Self {
        // SAFETY: the caller's processor has the instructions of V.
        unsafe {
            let classes = V::classes(bytes, &TABLE);
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

/// The state that the splitting rules need from the block before.
#[derive(Default)]
pub(super) struct Carry {
    digit: u64,
    point: u64,
    alone: u64,
}

impl Carry {
    /// Where tokens are cut in this block, and the digits behind a run of two or more points.
    #[inline(always)]
    pub fn split(&mut self, of: &Classes, stretch: &Stretch<'_>) -> (u64, u64) {
        let after_digit = of.digit << 1 | self.digit;
        let before_digit = of.digit >> 1 | u64::from(stretch.next().is_ascii_digit()) << 63;
        let alone =
            of.symbol | (of.point & !(after_digit & before_digit)) | (of.hyphen & after_digit);
        let breaks = alone | alone << 1 | self.alone;
        let run = (of.point << 1 | self.point >> 1) & (of.point << 2 | self.point) & of.digit;
        self.digit = of.digit >> 63;
        self.point = of.point >> 62;
        self.alone = alone >> 63;
        (breaks, run)
    }
}

/// The block form: [`split`] for text that needs no rewriting.
#[derive(Default)]
pub struct ThirteenA {
    space: Bits,
    carry: Carry,
}

impl Rule for ThirteenA {
    #[inline(always)]
    unsafe fn cut<V: Vector>(&mut self, bytes: V::Bytes, stretch: &Stretch<'_>) -> Cut {
        self.space.advance();
        // SAFETY: the caller's processor has the instructions of V.
        let (leads, classes, mut rare, nul) = unsafe {
            let rare = V::bits(V::or(V::equal(bytes, b'&'), V::equal(bytes, b'<')));
            let nul = V::bits(V::equal(bytes, 0));
            (wide_leads::<V>(bytes), Classes::of::<V>(bytes), rare, nul)
        };
        self.space.now |= classes.space;
        // SAFETY: the caller's processor has the instructions of V.
        unsafe { wide_space::<V>(leads, bytes, stretch, &mut self.space) };
        let (breaks, run) = self.carry.split(&classes, stretch);
        let mut irregular = nul | run;
        while rare != 0 {
            let at = rare.trailing_zeros();
            rare &= rare - 1;
            let text = stretch.from(at);
            if text.starts_with(b"<skipped>")
                || ENTITIES.iter().any(|(entity, _)| text.starts_with(entity))
            {
                irregular |= 1 << at;
            }
        }
        Cut { space: self.space.now, breaks, irregular }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_definitions_say() {
        for byte in 0..=u8::MAX {
            let classes = TABLE.of(byte);
            assert_eq!(classes & SYMBOL != 0, is_symbol(byte), "{byte:#x}");
            assert_eq!(classes & SPACE != 0, space(&[byte]) == 1, "{byte:#x}");
        }
    }
}
