//! The tokenizer `zh`, as sacreBLEU 2.6.0 has it: Chinese characters stand alone, the rest is
//! split by the rules of 13a.
//!
//! sacreBLEU writes some ranges as `\u` escapes of five hexadecimal digits, which Python reads as
//! four digits and a letter. So U+2001 to U+2A6D all count as Chinese (typographic quotes and
//! dashes, €, ™, arrows, zero-width spaces), and the ideographs beyond U+FFFF do not. It is what
//! every published zh score was computed with, so it is reproduced.

use super::block::{Bits, Cut, Edges, Rule, Stretch};
use super::mteval_13a::{Carry, Classes, split};
use super::whitespace::{wide_leads, wide_space};
use crate::simd::Vector;

/// The characters that stand alone, first and last of each range.
const RANGES: [(u32, u32); 13] = [
    (0x2001, 0x2A6D),
    (0x2E80, 0x2FDF),
    (0x2FF0, 0x303F),
    (0x3100, 0x312F),
    (0x31A0, 0x31EF),
    (0x3200, 0x4DB5),
    (0x4E00, 0x9FBB),
    (0xF900, 0xFA2D),
    (0xFA30, 0xFA6A),
    (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
];

/// The width in bytes of the Chinese character that `text` starts with; 0 for any other.
/// All of them have three bytes.
#[inline(always)]
fn chinese(text: &[u8]) -> usize {
    let [first @ 0xE2..=0xEF, second, third, ..] = *text else {
        return 0;
    };
    if matches!(first, 0xE5..=0xE8) {
        return 3;
    }
    let point = u32::from(first & 15) << 12 | u32::from(second & 63) << 6 | u32::from(third & 63);
    if RANGES.iter().any(|&(low, high)| (low..=high).contains(&point)) { 3 } else { 0 }
}

/// Tokens of text whose ends are stripped of white space.
pub fn tokenize(text: &[u8], emit: impl FnMut(usize, usize)) {
    split(text, false, chinese, emit);
}

/// The block form of [`tokenize`].
#[derive(Default)]
pub struct Chinese {
    space: Bits,
    alone: Bits,
    carry: Carry,
}

impl Rule for Chinese {
    /// Nothing stands outside the line: a point there is only split off for what is inside.
    const EDGES: Option<Edges> = Some(|text, _line, first, last| {
        let point = |at: usize| text[at] == b'.' || text[at] == b',';
        let digit = |at: usize| text[at].is_ascii_digit();
        (point(first) && digit(first + 1))
            || (point(last - 1) && last - first > 1 && digit(last - 2))
    });

    #[inline(always)]
    unsafe fn cut<V: Vector>(&mut self, bytes: V::Bytes, stretch: &Stretch<'_>) -> Cut {
        self.space.advance();
        self.alone.advance();
        // SAFETY: the caller's processor has the instructions of V.
        let (leads, classes, mut wide, nul) = unsafe {
            let wide = V::bits(V::within(bytes, 0xE2, 0xEF));
            let nul = V::bits(V::equal(bytes, 0));
            (wide_leads::<V>(bytes), Classes::of::<V>(bytes), wide, nul)
        };
        self.space.now |= classes.space;
        // SAFETY: the caller's processor has the instructions of V.
        unsafe { wide_space::<V>(leads, bytes, stretch, &mut self.space) };
        let (mut breaks, run) = self.carry.split(&classes, stretch);
        // A cut before the character and one behind it.
        while wide != 0 {
            let at = wide.trailing_zeros();
            wide &= wide - 1;
            if chinese(stretch.from(at)) > 0 {
                self.alone.set(at, 1);
                self.alone.set(at + 3, 1);
            }
        }
        breaks |= self.alone.now;
        Cut { space: self.space.now, breaks, irregular: nul | run }
    }
}
