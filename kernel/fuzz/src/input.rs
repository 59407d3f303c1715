//! Reading of target inputs, and conversion of texts to blocks.

use std::cell::Cell;
use std::sync::OnceLock;
use truebleu_kernel::lex::{Tokenizer, tercom};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Block, BorrowedSegment, Lines, PaddedBuffer};

/// The remaining bytes of an input, followed by zeros.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// Return the next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Return a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// Return the next eight bytes as a number.
    pub fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Return the next `count` bytes, or all remaining bytes if there are fewer.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (bytes, remaining) = self.0.split_at(count.min(self.0.len()));
        self.0 = remaining;
        bytes
    }

    /// Return an instruction set that this processor supports.
    pub fn instructions(&mut self) -> Instructions {
        static SETS: OnceLock<Vec<Instructions>> = OnceLock::new();
        let sets = SETS.get_or_init(|| Instructions::available().collect());
        sets[self.below(sets.len())]
    }

    /// Return a tokenizer that needs no data file.
    pub fn tokenizer(&mut self) -> Tokenizer {
        let selector = self.byte();
        if selector & 1 == 0 || selector & 0x60 != 0 {
            let (_, tokenizer) =
                &Tokenizer::NAMES[usize::from(selector >> 1) % Tokenizer::NAMES.len()];
            return tokenizer.clone();
        }
        let flag = |bit: u8| selector >> bit & 1 == 1;
        let (normalized, no_punct, asian_support, twice) = (flag(1), flag(2), flag(3), flag(4));
        Tokenizer::Tercom(tercom::TercomOptions {
            normalized,
            no_punct,
            asian_support,
            applies_twice: twice,
        })
    }
}

/// The separator of texts in an input: a byte that never occurs in UTF-8.
pub const TEXT_SEPARATOR: u8 = 0xFF;

/// Return the texts of an input.
pub fn split_texts(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    input.split(|&byte| byte == TEXT_SEPARATOR)
}

/// Pass `text`, which ends with a newline, to `work` as lines.
pub fn with_lines<T>(text: &[u8], work: impl FnOnce(&Block) -> T) -> T {
    thread_local! {
        static BUFFER: Cell<PaddedBuffer> = Cell::default();
    }
    let mut buffer = BUFFER.take();
    buffer.clear();
    buffer.buffer_mut().extend_from_slice(text);
    buffer.finish();
    let block = Block::Lines { lines: Lines::Owned(buffer), offset: Some(0) };
    let result = work(&block);
    if let Block::Lines { lines: Lines::Owned(buffer), .. } = block {
        BUFFER.set(buffer);
    }
    result
}

/// Pass `texts` to `work` as segments in memory.
pub fn with_segments<T>(
    texts: &[Option<&[u8]>],
    is_utf8: bool,
    work: impl FnOnce(&Block) -> T,
) -> T {
    // SAFETY: the texts outlive the block, which does not leave this function.
    let segments = texts.iter().map(|text| text.map(|text| unsafe { BorrowedSegment::new(text) }));
    work(&Block::Segments { segments: segments.collect(), is_utf8, owner: None })
}

/// Return whether a text is UTF-8, where surrogates are allowed as in Python.
pub fn is_python_utf8(mut text: &[u8]) -> bool {
    loop {
        match std::str::from_utf8(text) {
            Ok(_) => return true,
            Err(error) => match text[error.valid_up_to()..] {
                [0xED, 0xA0..=0xBF, 0x80..=0xBF, ref after @ ..] => text = after,
                _ => return false,
            },
        }
    }
}
