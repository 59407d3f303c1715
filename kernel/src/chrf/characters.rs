//! The characters of a segment, 64 bytes at a time.

use super::Interner;
use crate::interrupt::Work;
use crate::lex::utf8;
use crate::lex::whitespace::space;
use crate::simd::Vector;

/// Puts the numbers of the characters of a text into `characters`, without white space unless
/// `whitespace` is set.
///
/// # Safety
/// The processor must have the instructions of `V`; `start` has `length` bytes of UTF-8 (with
/// surrogates), and 80 more are readable behind them.
#[inline(always)]
pub unsafe fn read<V: Vector>(
    start: *const u8,
    length: usize,
    whitespace: bool,
    interner: &mut Interner,
    characters: &mut Vec<u32>,
) {
    characters.clear();
    // No more characters than bytes, and 80 values may be written at once.
    characters.reserve(length + 80);
    let out = characters.as_mut_ptr();
    let mut count = 0;
    let mut position = 0;
    let mut work = Work::default();
    while position < length {
        work.done(64);
        // SAFETY: position is within the text; `out` has room for a value for each byte so far and
        // for 80 more; the rest is as the caller promises.
        unsafe {
            let at = start.add(position);
            let block = V::load(at);
            let valid = u64::MAX >> 64usize.saturating_sub(length - position);
            let mut kept = valid & !V::bits(V::within(block, 0x80, 0xBF));
            let long = valid & V::bits(V::within(block, 0xE0, 0xFF));
            if !whitespace {
                let controls = V::or(V::within(block, 0x09, 0x0D), V::within(block, 0x1C, 0x20));
                kept &= !V::bits(controls);
                let leads = V::bits(V::equal(block, 0xC2));
                if leads != 0 {
                    // U+0085 and U+00A0; the second byte may be the first of the next block.
                    let second = V::bits(V::or(V::equal(block, 0x85), V::equal(block, 0xA0)));
                    let next = u64::from(matches!(*at.add(64), 0x85 | 0xA0));
                    kept &= !(leads & (second >> 1 | next << 63));
                }
                if long != 0 {
                    kept &= !long_spaces(at, long);
                }
            }
            let here = out.add(count);
            V::points(at, kept, here);
            if long & kept != 0 {
                number_long(at, kept, long & kept, interner, here);
            }
            count += kept.count_ones() as usize;
        }
        position += 64;
    }
    // SAFETY: so many have been written, and there is room for more.
    unsafe { characters.set_len(count) };
}

/// Which of the characters of three and more bytes are white space.
///
/// # Safety
/// 80 bytes must be readable from `at`.
#[inline(always)]
unsafe fn long_spaces(at: *const u8, mut long: u64) -> u64 {
    let mut spaces = 0;
    while long != 0 {
        let bit = long.trailing_zeros();
        long &= long - 1;
        // SAFETY: as the caller promises.
        let character = unsafe { std::slice::from_raw_parts(at.add(bit as usize), 3) };
        spaces |= u64::from(space(character) > 0) << bit;
    }
    spaces
}

/// Writes the numbers of the characters of three and more bytes, each in its place among `kept`.
///
/// # Safety
/// 80 bytes must be readable from `at`, and `out` have a place for each bit of `kept`.
#[inline(always)]
unsafe fn number_long(
    at: *const u8,
    kept: u64,
    mut long: u64,
    interner: &mut Interner,
    out: *mut u32,
) {
    while long != 0 {
        let bit = long.trailing_zeros();
        long &= long - 1;
        let before = (kept & !(u64::MAX << bit)).count_ones() as usize;
        // SAFETY: as the caller promises; the place is one of those of `kept`.
        unsafe {
            let character = std::slice::from_raw_parts(at.add(bit as usize), 4);
            let width = utf8::width(character[0]);
            let lead = u32::from(character[0]) & (0x7F >> width);
            let tail = character[1..width].iter();
            let point = tail.fold(lead, |point, byte| point << 6 | u32::from(byte & 63));
            out.add(before).write(interner.id(point));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Instructions, Job};
    use crate::text_batches::PaddedBuffer;
    use proptest::prelude::*;

    struct Read<'a> {
        text: &'a [u8],
        whitespace: bool,
        interner: Interner,
    }

    impl Job for Read<'_> {
        type Output = Vec<u32>;

        unsafe fn run<V: Vector>(mut self) -> Vec<u32> {
            let mut buffer = PaddedBuffer::default();
            buffer.raw().extend_from_slice(self.text);
            // What stands behind a text is none of its characters.
            buffer.raw().extend_from_slice(b"\xA0\x85z");
            buffer.finish();
            let mut characters = vec![7; 3];
            let start = buffer.padded().pointer();
            let Self { text, whitespace, interner } = &mut self;
            // SAFETY: the buffer has margins of 96 bytes; the caller's processor fits V.
            unsafe { read::<V>(start, text.len(), *whitespace, interner, &mut characters) };
            characters
        }
    }

    /// One character after the other.
    fn defined(mut text: &[u8], whitespace: bool) -> Vec<u32> {
        let (mut interner, mut characters) = (Interner::default(), Vec::new());
        while !text.is_empty() {
            let (point, width) = super::super::next_point(text);
            if whitespace || space(text) == 0 {
                characters.push(interner.id(point));
            }
            text = &text[width..];
        }
        characters
    }

    fn check(text: &[u8]) {
        for whitespace in [false, true] {
            let expected = defined(text, whitespace);
            for set in Instructions::NAMES.into_iter().filter_map(Instructions::named) {
                let read = Read { text, whitespace, interner: Interner::default() };
                assert_eq!(set.run(read), expected, "{set:?} {whitespace} {text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_character_by_character(
            text in "([ -~]|[a-zé ]{1,9}|[\u{80}-\u{ff}]|[\u{7f0}-\u{80f}]|[\u{1fff}-\u{2060}]|\\s|\\PC|.){0,200}"
        ) {
            check(text.as_bytes());
        }
    }

    #[test]
    fn each_character_is_read_at_each_place_of_a_block() {
        let characters: [&[u8]; 14] = [
            b"a",
            b" ",
            b"\0",
            b"\x1F",
            b"\xC2\x85",
            b"\xC2\xA0",
            b"\xC2\xA1",
            b"\xC3\xA0",
            b"\xDF\xBF",
            b"\xE0\xA0\x80",
            b"\xE3\x80\x80",
            b"\xED\xA0\x80",
            b"\xE2\x80\x8B",
            b"\xF0\x9F\x99\x82",
        ];
        for character in characters {
            for before in 0..130 {
                check(&[&b"x".repeat(before)[..], character].concat());
                check(&[&b"x".repeat(before)[..], character, b"\xC2\x80 y"].concat());
            }
        }
    }
}
