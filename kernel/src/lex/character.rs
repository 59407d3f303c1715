//! The tokenizer `char`: every character except white space is a token.

use super::block::{BlockBits, BlockResult, BlockRule, BlockText};
use super::utf8::char_width;
use super::whitespace::{add_wide_space, ascii_space, space_width};
use crate::simd::Vector;

/// Emit every character of `text` that is not white space.
pub fn tokenize_characters(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut position = 0;
    while position < text.len() {
        let end = text.len().min(position + char_width(text[position]));
        if space_width(&text[position..]) == 0 {
            emit(position, end);
        }
        position = end;
    }
}

/// The block form of [`tokenize_characters`].
#[derive(Default)]
pub struct CharacterRule {
    space: BlockBits,
}

impl BlockRule for CharacterRule {
    #[inline(always)]
    unsafe fn lex_block<V: Vector>(
        &mut self,
        bytes: V::Bytes,
        block_text: &BlockText<'_>,
    ) -> BlockResult {
        self.space.advance();
        // SAFETY: the caller guarantees that `V` is available.
        let (space, leads, continuation, nul) = unsafe {
            let (space, leads) = ascii_space::<V>(bytes);
            let continuation = V::bits(V::within(bytes, 0x80, 0xBF));
            (space, leads, continuation, V::bits(V::equal(bytes, 0)))
        };
        self.space.current |= space;
        // SAFETY: the caller guarantees that `V` is available.
        unsafe { add_wide_space::<V>(leads, bytes, block_text, &mut self.space) };
        BlockResult { space: self.space.current, breaks: !continuation, irregular: nul }
    }
}
