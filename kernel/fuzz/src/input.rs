//! Reading a target's input, and putting text before the kernel.

use std::cell::Cell;
use std::sync::OnceLock;
use truebleu_kernel::lex::{Tokenizer, tercom};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Block, Foreign, Lines, PaddedBuffer};

/// The bytes of an input that are left; zeros follow them.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `most`.
    pub fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most
    }

    /// The next eight bytes as a number.
    pub fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// The next bytes, or as many as there are.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// One of the instruction sets that this machine has.
    pub fn instructions(&mut self) -> Instructions {
        static SETS: OnceLock<Vec<Instructions>> = OnceLock::new();
        let sets = SETS.get_or_init(|| {
            let all = Instructions::NAMES.into_iter().filter_map(Instructions::named);
            all.filter(|set| set.is_available()).collect()
        });
        sets[self.below(sets.len())]
    }

    /// A tokenizer without a file of its own.
    pub fn tokenizer(&mut self) -> Tokenizer {
        let which = self.byte();
        if which & 1 == 0 || which & 0x60 != 0 {
            let (_, tokenizer) =
                &Tokenizer::NAMED[usize::from(which >> 1) % Tokenizer::NAMED.len()];
            return tokenizer.clone();
        }
        let flag = |bit: u8| which >> bit & 1 == 1;
        let (normalized, no_punct, asian_support, twice) = (flag(1), flag(2), flag(3), flag(4));
        Tokenizer::Tercom(tercom::Options { normalized, no_punct, asian_support, twice })
    }
}

/// What stands between two texts in an input: a byte that no text has.
pub const BETWEEN: u8 = 0xFF;

/// The texts of an input.
pub fn texts(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    input.split(|&byte| byte == BETWEEN)
}

/// Hands `text`, which ends with a newline, to `work` as lines.
pub fn with_lines<T>(text: &[u8], work: impl FnOnce(&Block) -> T) -> T {
    thread_local! {
        static BUFFER: Cell<PaddedBuffer> = Cell::default();
    }
    let mut buffer = BUFFER.take();
    buffer.clear();
    buffer.raw().extend_from_slice(text);
    buffer.finish();
    let block = Block::Lines { lines: Lines::Owned(buffer), offset: Some(0) };
    let result = work(&block);
    if let Block::Lines { lines: Lines::Owned(buffer), .. } = block {
        BUFFER.set(buffer);
    }
    result
}

/// Hands `texts` to `work` as segments in memory.
pub fn with_segments<T>(
    texts: &[Option<&[u8]>],
    trusted: bool,
    work: impl FnOnce(&Block) -> T,
) -> T {
    // SAFETY: the texts outlive the block, which does not leave this function.
    let segments = texts.iter().map(|text| text.map(|text| unsafe { Foreign::new(text) }));
    work(&Block::Segments { segments: segments.collect(), trusted, keep: None })
}

/// True if a text is UTF-8, with surrogates, as Python has it.
pub fn is_pythons(mut text: &[u8]) -> bool {
    loop {
        match std::str::from_utf8(text) {
            Ok(_) => return true,
            Err(error) => match text[error.valid_up_to()..] {
                [0xED, 0xA0..=0xBF, 0x80..=0xBF, ref rest @ ..] => text = rest,
                _ => return false,
            },
        }
    }
}
