//! The tokenizer `char`: every character is a token, white space none.

use super::block::{Bits, Cut, Rule, Stretch};
use super::utf8::width;
use super::whitespace::{ascii_space, space, wide_space};
use crate::simd::Vector;

/// Every character of `text` that is not white space.
pub fn tokenize(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at < text.len() {
        let end = text.len().min(at + width(text[at]));
        if space(&text[at..]) == 0 {
            emit(at, end);
        }
        at = end;
    }
}

/// The block form of [`tokenize`].
#[derive(Default)]
pub struct Character {
    space: Bits,
}

impl Rule for Character {
    #[inline(always)]
    unsafe fn cut<V: Vector>(&mut self, bytes: V::Bytes, stretch: &Stretch<'_>) -> Cut {
        self.space.advance();
        // SAFETY: the caller's processor has the instructions of V.
        let (space, leads, continuation, nul) = unsafe {
            let (space, leads) = ascii_space::<V>(bytes);
            let continuation = V::bits(V::within(bytes, 0x80, 0xBF));
            (space, leads, continuation, V::bits(V::equal(bytes, 0)))
        };
        self.space.now |= space;
        // SAFETY: the caller's processor has the instructions of V.
        unsafe { wide_space::<V>(leads, bytes, stretch, &mut self.space) };
        Cut { space: self.space.now, breaks: !continuation, irregular: nul }
    }
}
