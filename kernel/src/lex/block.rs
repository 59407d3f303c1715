//! The block lexer, which processes newline-terminated text in blocks of 64 bytes.
//!
//! For each block, a tokenizer's [`BlockRule`] returns the bytes that are white space and the
//! positions where tokens break. Token starts and ends are derived by bit operations. A line is
//! irregular if the rule cannot handle it, for example because of an entity, a NUL, or a run of
//! full stops before a digit. The caller lexes irregular lines with the scalar definition.

use crate::interrupt;
use crate::simd::{Job, Vector};
use crate::text_batches::Padded;
use crate::tokens::Tokens;
use std::marker::PhantomData;

/// One bit per byte of the current block, plus the bits that extend into the next block.
#[derive(Default)]
pub struct BlockBits {
    /// The bits of the current block.
    pub current: u64,
    next: u64,
}

impl BlockBits {
    /// Advance to the next block.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.current = self.next;
        self.next = 0;
    }

    /// Set `width` bits from `position`, which may extend into the next block.
    #[inline(always)]
    pub fn set(&mut self, position: u32, width: u32) {
        let bits = ((1u128 << width) - 1) << position;
        self.current |= bits as u64;
        self.next |= (bits >> 64) as u64;
    }
}

/// A block and the bytes after it, for rules that look at single characters.
pub struct BlockText<'a> {
    start: *const u8,
    text: PhantomData<&'a [u8]>,
}

impl BlockText<'_> {
    /// Return 16 bytes from `position`, which is at most 68. They may extend past the text.
    #[inline(always)]
    pub fn bytes_from(&self, position: u32) -> &[u8] {
        debug_assert!(position <= 68);
        // SAFETY: the block starts before the end of the text, and 96 bytes after that end are
        // readable.
        unsafe { std::slice::from_raw_parts(self.start.add(position as usize), 16) }
    }

    /// Return the 64 bytes from `position`, which is at most 4.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    #[inline(always)]
    pub unsafe fn load<V: Vector>(&self, position: usize) -> V::Bytes {
        debug_assert!(position <= 4);
        // SAFETY: the block starts before the end of the text, and 96 bytes after that end are
        // readable.
        unsafe { V::load(self.start.add(position)) }
    }

    /// Return the byte after the block.
    #[inline(always)]
    pub fn next_byte(&self) -> u8 {
        self.bytes_from(64)[0]
    }
}

/// The result of a rule for one block.
pub struct BlockResult {
    /// The white-space bytes.
    pub space: u64,
    /// The positions where a token ends or starts.
    pub breaks: u64,
    /// At least one byte of each line that the scalar definition must lex.
    pub irregular: u64,
}

/// A function that checks the first and last characters of a line. The arguments are the text, the
/// start of the line, the start of its first token, and the end of its last token. A newline always
/// follows the line.
pub type EdgeCheck = fn(&[u8], usize, usize, usize) -> bool;

/// The block form of a tokenizer, which stores the state from previous blocks.
pub trait BlockRule: Default {
    /// A function that returns whether a line is irregular because of its first or last character.
    const EDGE_CHECK: Option<EdgeCheck> = None;

    /// Process the next 64 bytes.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    unsafe fn lex_block<V: Vector>(
        &mut self,
        bytes: V::Bytes,
        block_text: &BlockText<'_>,
    ) -> BlockResult;
}

/// The positions of all lines of a text, and a list of the irregular lines.
#[derive(Default)]
pub struct LineTable {
    /// The byte offset at which each line starts.
    pub starts: Vec<u32>,
    /// The number of tokens up to the end of each line.
    pub token_ends: Vec<u32>,
    /// The irregular lines in ascending order.
    pub irregular: Vec<u32>,
}

impl LineTable {
    /// Remove all lines, but keep the allocated memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.token_ends.clear();
        self.irregular.clear();
    }

    /// Add a line if `is_line`, without a branch.
    #[inline(always)]
    fn push_if(&mut self, is_line: bool, start: u32, token_end: u32) {
        let count = self.starts.len() + usize::from(is_line);
        self.starts.push(start);
        self.starts.truncate(count);
        self.token_ends.push(token_end);
        self.token_ends.truncate(count);
    }

    /// Mark the lines of a block that have bits in `irregular`. `newline` marks the block's line
    /// ends, which are not in the table yet.
    fn mark_irregular(&mut self, mut irregular: u64, newline: u64) {
        while irregular != 0 {
            let offset = irregular.trailing_zeros();
            irregular &= irregular - 1;
            let lines_before = (newline & !(u64::MAX << offset)).count_ones() as usize;
            let line = (self.token_ends.len() + lines_before) as u32;
            if self.irregular.last() != Some(&line) {
                self.irregular.push(line);
            }
        }
    }

    /// Return the bytes of line `i` without its newline.
    pub fn line<'a>(&self, text: &'a [u8], i: usize) -> &'a [u8] {
        let start = self.starts[i] as usize;
        let end = self.starts.get(i + 1).map_or(text.len(), |&next| next as usize);
        &text[start..end - 1]
    }
}

/// A job that lexes `text` with the rule `R`, and stores the result in `tokens` and `lines`.
pub struct LexBlocks<'a, R> {
    /// Text that ends with a newline.
    pub text: Padded<'a>,
    /// The output tokens.
    pub tokens: &'a mut Tokens,
    /// The output lines.
    pub lines: &'a mut LineTable,
    /// Whether to also compute the keys of the tokens.
    pub with_keys: bool,
    /// The rule in its initial state.
    pub rule: R,
}

/// Number of bytes between two polls.
const MAX_UNPOLLED_BYTES: usize = 1 << 22;

/// Return whether there is more text after `position`, and set the position of the next poll.
#[cold]
fn continue_after_poll(position: usize, length: usize, stop: &mut usize) -> bool {
    if position < length {
        interrupt::poll();
        *stop = length.min(position + MAX_UNPOLLED_BYTES);
    }
    position < length
}

impl<R: BlockRule> Job for LexBlocks<'_, R> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let bytes = self.text.bytes();
        let pointer = self.text.pointer();
        let length = bytes.len();
        // Treat the position before the text as white space.
        let (mut blank_before, mut solid_before) = (1, 0);
        // A token may start in one block and end in a later one, so starts and ends are counted
        // separately. The final newline ends every token.
        let (mut started, mut ended) = (0, 0);
        let mut line_start = 0;
        let mut position = 0;
        let mut stop = length.min(MAX_UNPOLLED_BYTES);
        while position < stop || continue_after_poll(position, length, &mut stop) {
            let (start_buffer, end_buffer) = self.tokens.reserve_positions(started + 64);
            // SAFETY: `position` is within the text.
            let start = unsafe { pointer.add(position) };
            let block_text = BlockText { start, text: PhantomData };
            // SAFETY: the margins of the text are wider than a block, and the caller guarantees
            // that `V` is available.
            let (mut result, mut newline) = unsafe {
                let block = V::load(start);
                (self.rule.lex_block::<V>(block, &block_text), V::bits(V::equal(block, b'\n')))
            };
            if length - position < 64 {
                let valid = (1 << (length - position)) - 1;
                result.space |= !valid;
                result.irregular &= valid;
                newline &= valid;
            }
            let solid = !result.space;
            let starts = solid & (result.breaks | result.space << 1 | blank_before);
            let ends = (solid << 1 | solid_before) & (result.breaks | result.space);
            blank_before = result.space >> 63;
            solid_before = solid >> 63;

            if result.irregular != 0 {
                self.lines.mark_irregular(result.irregular, newline);
            }
            // It is unpredictable whether a block has a newline, but few blocks have two.
            loop {
                let ends_in_line = (ends & (newline ^ newline.wrapping_sub(1))).count_ones();
                self.lines.push_if(newline != 0, line_start, ended as u32 + ends_in_line);
                let next_start = position as u32 + newline.trailing_zeros() + 1;
                line_start = if newline == 0 { line_start } else { next_start };
                newline &= newline.wrapping_sub(1);
                if newline == 0 {
                    break;
                }
            }
            // SAFETY: `reserve_positions` provided space for 64 tokens after the started tokens,
            // and for the extra values that `positions` may write. The number of ended tokens never
            // exceeds the number of started tokens.
            unsafe {
                V::positions(starts, position as u32, start_buffer.add(started));
                V::positions(ends, position as u32, end_buffer.add(ended));
            }
            started += starts.count_ones() as usize;
            ended += ends.count_ones() as usize;
            position += 64;
        }
        debug_assert_eq!(started, ended);
        self.tokens.set_count(ended);
        if self.with_keys {
            // SAFETY: the caller guarantees that `V` is available.
            unsafe { self.tokens.make_keys_with::<V>(self.text, false) };
        }
    }
}
