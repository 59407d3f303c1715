//! Reading the characters of a segment, 64 bytes at a time.

use super::CharacterIds;
use crate::interrupt::Work;
use crate::lex::utf8;
use crate::lex::whitespace::space_width;
use crate::simd::Vector;

/// Store the character ids of a text in `characters`. Skip white space unless `whitespace` is set.
///
/// # Safety
/// The processor must support the instructions of `V`. `start` must point to `length` bytes of
/// UTF-8 (surrogates allowed), followed by 80 readable bytes.
#[inline(always)]
pub unsafe fn read_characters<V: Vector>(
    start: *const u8,
    length: usize,
    whitespace: bool,
    interner: &mut CharacterIds,
    characters: &mut Vec<u32>,
) {
    characters.clear();
    // A text has at most one character per byte, and one step may write 80 values.
    characters.reserve(length + 80);
    let out = characters.as_mut_ptr();
    let mut count = 0;
    let mut position = 0;
    let mut work = Work::default();
    while position < length {
        work.add(64);
        // SAFETY: `position` is within the text. `out` has room for one value per byte so far and
        // 80 more. The caller guarantees everything else.
        unsafe {
            let source = start.add(position);
            let block = V::load(source);
            let valid = u64::MAX >> 64usize.saturating_sub(length - position);
            let mut retained = valid & !V::bits(V::within(block, 0x80, 0xBF));
            let long = valid & V::bits(V::within(block, 0xE0, 0xFF));
            if !whitespace {
                let controls = V::or(V::within(block, 0x09, 0x0D), V::within(block, 0x1C, 0x20));
                retained &= !V::bits(controls);
                let leads = V::bits(V::equal(block, 0xC2));
                if leads != 0 {
                    // U+0085 and U+00A0; their second byte may be in the next block.
                    let second = V::bits(V::or(V::equal(block, 0x85), V::equal(block, 0xA0)));
                    let next = u64::from(matches!(*source.add(64), 0x85 | 0xA0));
                    retained &= !(leads & (second >> 1 | next << 63));
                }
                if long != 0 {
                    retained &= !long_spaces(source, long);
                }
            }
            let target = out.add(count);
            V::points(source, retained, target);
            if long & retained != 0 {
                write_long_ids(source, retained, long & retained, interner, target);
            }
            count += retained.count_ones() as usize;
        }
        position += 64;
    }
    // SAFETY: `count` values have been written, within the capacity.
    unsafe { characters.set_len(count) };
}

/// Return a mask of the white-space characters with three or more bytes.
///
/// # Safety
/// 80 bytes must be readable from `source`.
#[inline(always)]
unsafe fn long_spaces(source: *const u8, mut long: u64) -> u64 {
    let mut spaces = 0;
    while long != 0 {
        let bit = long.trailing_zeros();
        long &= long - 1;
        // SAFETY: the caller guarantees 80 readable bytes.
        let character = unsafe { std::slice::from_raw_parts(source.add(bit as usize), 3) };
        spaces |= u64::from(space_width(character) > 0) << bit;
    }
    spaces
}

/// Write the ids of characters with three or more bytes at their positions among `retained`.
///
/// # Safety
/// 80 bytes must be readable from `source`, and `out` must have one place per bit of `retained`.
#[inline(always)]
unsafe fn write_long_ids(
    source: *const u8,
    retained: u64,
    mut long: u64,
    interner: &mut CharacterIds,
    out: *mut u32,
) {
    while long != 0 {
        let bit = long.trailing_zeros();
        long &= long - 1;
        let before = (retained & !(u64::MAX << bit)).count_ones() as usize;
        // SAFETY: the caller guarantees the readable bytes and a place for each bit of `retained`.
        unsafe {
            let character = std::slice::from_raw_parts(source.add(bit as usize), 4);
            let width = utf8::char_width(character[0]);
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

    struct ReadJob<'a> {
        text: &'a [u8],
        whitespace: bool,
        interner: CharacterIds,
    }

    impl Job for ReadJob<'_> {
        type Output = Vec<u32>;

        unsafe fn run<V: Vector>(mut self) -> Vec<u32> {
            let mut buffer = PaddedBuffer::default();
            buffer.buffer_mut().extend_from_slice(self.text);
            // Bytes after a text must not be read as its characters.
            buffer.buffer_mut().extend_from_slice(b"\xA0\x85z");
            buffer.finish();
            let mut characters = vec![7; 3];
            let start = buffer.padded().pointer();
            let Self { text, whitespace, interner } = &mut self;
            // SAFETY: the buffer has margins of 96 bytes, and the caller guarantees that `V` is
            // available.
            unsafe {
                read_characters::<V>(start, text.len(), *whitespace, interner, &mut characters)
            };
            characters
        }
    }

    fn read_characters_naively(mut text: &[u8], whitespace: bool) -> Vec<u32> {
        let (mut interner, mut characters) = (CharacterIds::default(), Vec::new());
        while !text.is_empty() {
            let (point, width) = super::super::next_point(text);
            if whitespace || space_width(text) == 0 {
                characters.push(interner.id(point));
            }
            text = &text[width..];
        }
        characters
    }

    fn assert_all_sets_agree(text: &[u8]) {
        for whitespace in [false, true] {
            let expected = read_characters_naively(text, whitespace);
            for &set in Instructions::ALL {
                let read = ReadJob { text, whitespace, interner: CharacterIds::default() };
                assert_eq!(set.run(read), expected, "{set:?} {whitespace} {text:?}");
            }
        }
    }

    #[test]
    fn test_character_is_read_at_any_block_offset() {
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
                assert_all_sets_agree(&[&b"x".repeat(before)[..], character].concat());
                assert_all_sets_agree(
                    &[&b"x".repeat(before)[..], character, b"\xC2\x80 y"].concat(),
                );
            }
        }
    }
}
