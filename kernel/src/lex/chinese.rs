//! The tokenizer `zh`, as in sacreBLEU 2.6.0: each Chinese character is a token, and the remaining
//! text is split by the rules of 13a.
//!
//! sacreBLEU writes some ranges as `\u` escapes with five hexadecimal digits, which Python parses
//! as four digits and a letter. Therefore all characters from U+2001 to U+2A6D count as Chinese,
//! even typographic quotes, €, ™ and arrows, but ideographs above U+FFFF do not. All published zh
//! scores depend on this behaviour, so it is reproduced.

use super::block::{BlockBits, BlockResult, BlockRule, BlockText, EdgeCheck};
use super::mteval_13a::{ByteClasses, SplitState, split_rewritten};
use super::whitespace::{add_wide_space, wide_leads};
use crate::simd::Vector;

/// The characters that are tokens, as ranges of code points (first and last).
const CHINESE_RANGES: [(u32, u32); 13] = [
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

/// Return the width in bytes (3) of the Chinese character at the start of `text`, or 0 for any
/// other text.
#[inline(always)]
fn chinese_width(text: &[u8]) -> usize {
    let [first @ 0xE2..=0xEF, second, third, ..] = *text else {
        return 0;
    };
    if matches!(first, 0xE5..=0xE8) {
        return 3;
    }
    let point = u32::from(first & 15) << 12 | u32::from(second & 63) << 6 | u32::from(third & 63);
    if CHINESE_RANGES.iter().any(|&(low, high)| (low..=high).contains(&point)) { 3 } else { 0 }
}

/// Emit the tokens of `text`, which must not start or end with white space.
pub fn tokenize_zh(text: &[u8], emit: impl FnMut(usize, usize)) {
    split_rewritten(text, false, chinese_width, emit);
}

/// The block form of [`tokenize_zh`].
#[derive(Default)]
pub struct ChineseRule {
    space: BlockBits,
    token_breaks: BlockBits,
    carry: SplitState,
}

impl BlockRule for ChineseRule {
    /// A full stop or comma at the edge of a line has only one neighbour. If this is a digit, the
    /// mark is not split off.
    const EDGE_CHECK: Option<EdgeCheck> = Some(|text, _line, first, last| {
        let is_point = |i: usize| text[i] == b'.' || text[i] == b',';
        let is_digit = |i: usize| text[i].is_ascii_digit();
        (is_point(first) && is_digit(first + 1))
            || (is_point(last - 1) && last - first > 1 && is_digit(last - 2))
    });

    #[inline(always)]
    unsafe fn lex_block<V: Vector>(
        &mut self,
        bytes: V::Bytes,
        block_text: &BlockText<'_>,
    ) -> BlockResult {
        self.space.advance();
        self.token_breaks.advance();
        // SAFETY: the caller guarantees that `V` is available.
        let (leads, classes, mut wide, nul) = unsafe {
            let wide = V::bits(V::within(bytes, 0xE2, 0xEF));
            let nul = V::bits(V::equal(bytes, 0));
            (wide_leads::<V>(bytes), ByteClasses::from_bytes::<V>(bytes), wide, nul)
        };
        self.space.current |= classes.space;
        // SAFETY: the caller guarantees that `V` is available.
        unsafe { add_wide_space::<V>(leads, bytes, block_text, &mut self.space) };
        let (mut breaks, run) = self.carry.split_block(&classes, block_text);
        // Set one break before the character and one after it.
        while wide != 0 {
            let position = wide.trailing_zeros();
            wide &= wide - 1;
            if chinese_width(block_text.bytes_from(position)) > 0 {
                self.token_breaks.set(position, 1);
                self.token_breaks.set(position + 3, 1);
            }
        }
        breaks |= self.token_breaks.current;
        BlockResult { space: self.space.current, breaks, irregular: nul | run }
    }
}
