//! The block lexer: a newline-terminated text, 64 bytes at a time.
//!
//! A tokenizer's [`Rule`] says for each block which bytes are white space and where tokens are cut;
//! starts and ends then follow by bit operations. What a rule cannot decide from its block (an
//! entity, a NUL, a run of points before a digit) makes the whole line irregular: the caller lexes
//! that line with the scalar definition.

use crate::interrupt;
use crate::simd::{Job, Vector};
use crate::text_batches::Padded;
use crate::tokens::Tokens;
use std::marker::PhantomData;

/// One bit per byte of the current block, and the bits that reach into the next one.
#[derive(Default)]
pub struct Bits {
    /// The current block's.
    pub now: u64,
    next: u64,
}

impl Bits {
    /// Goes on to the next block.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.now = self.next;
        self.next = 0;
    }

    /// Sets `width` bits from `at` on, which may lie in the next block.
    #[inline(always)]
    pub fn set(&mut self, at: u32, width: u32) {
        let bits = ((1u128 << width) - 1) << at;
        self.now |= bits as u64;
        self.next |= (bits >> 64) as u64;
    }
}

/// A block and what lies behind it, for the rare look at single characters.
pub struct Stretch<'a> {
    start: *const u8,
    text: PhantomData<&'a [u8]>,
}

impl Stretch<'_> {
    /// Sixteen bytes from position `at` on, which is at most 68. They may lie behind the text.
    #[inline(always)]
    pub fn from(&self, at: u32) -> &[u8] {
        debug_assert!(at <= 68);
        // SAFETY: the block starts before the text's end, and 96 bytes behind that are readable.
        unsafe { std::slice::from_raw_parts(self.start.add(at as usize), 16) }
    }

    /// The 64 bytes from position `at` on, which is at most 4.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn load<V: Vector>(&self, at: usize) -> V::Bytes {
        debug_assert!(at <= 4);
        // SAFETY: the block starts before the text's end, and 96 bytes behind that are readable.
        unsafe { V::load(self.start.add(at)) }
    }

    /// The byte behind the block.
    #[inline(always)]
    pub fn next(&self) -> u8 {
        self.from(64)[0]
    }
}

/// A rule's verdict on one block.
pub struct Cut {
    /// White space.
    pub space: u64,
    /// Bytes before which a token ends, or another starts.
    pub breaks: u64,
    /// Anywhere in a line that the scalar definition must lex.
    pub irregular: u64,
}

/// Looks at the edges of a line: the text, the line's start, its first token's start, its last
/// token's end. The text goes on behind the line, with a newline at least.
pub type Edges = fn(&[u8], usize, usize, usize) -> bool;

/// A tokenizer for blocks. A value holds what must be known of the blocks before.
pub trait Rule: Default {
    /// Tells if a line is irregular because of its first or last character.
    const EDGES: Option<Edges> = None;

    /// Cuts the next 64 bytes.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    unsafe fn cut<V: Vector>(&mut self, bytes: V::Bytes, stretch: &Stretch<'_>) -> Cut;
}

/// Where the lines of a text are, and which of them are irregular.
#[derive(Default)]
pub struct LineTable {
    /// The byte each line starts at.
    pub starts: Vec<u32>,
    /// The end of each line, counted in tokens.
    pub token_ends: Vec<u32>,
    /// The irregular lines, in order.
    pub irregular: Vec<u32>,
}

impl LineTable {
    /// Forgets all lines and keeps the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.token_ends.clear();
        self.irregular.clear();
    }

    /// Marks the lines of a block that `irregular` has bits in; `newline` are the block's line ends,
    /// which are not in the table yet.
    fn mark_irregular(&mut self, mut irregular: u64, newline: u64) {
        while irregular != 0 {
            let at = irregular.trailing_zeros();
            irregular &= irregular - 1;
            let before = (newline & !(u64::MAX << at)).count_ones() as usize;
            let line = (self.token_ends.len() + before) as u32;
            if self.irregular.last() != Some(&line) {
                self.irregular.push(line);
            }
        }
    }

    /// The bytes of line `i`, without its newline.
    pub fn line<'a>(&self, text: &'a [u8], i: usize) -> &'a [u8] {
        let start = self.starts[i] as usize;
        let end = self.starts.get(i + 1).map_or(text.len(), |&next| next as usize);
        &text[start..end - 1]
    }
}

/// Lexes `text` with the rule `R`, into `tokens` and `lines`.
pub struct LexBlocks<'a, R> {
    /// Text that ends with a newline.
    pub text: Padded<'a>,
    /// Where the tokens go.
    pub tokens: &'a mut Tokens,
    /// Where the lines go.
    pub lines: &'a mut LineTable,
    /// Make the tokens' keys, too.
    pub keys: bool,
    /// The tokenizer, before its first block.
    pub rule: R,
}

/// Bytes between two polls.
const MOST: usize = 1 << 22;

/// True if there is more text behind `position`, up to the next poll.
#[cold]
fn goes_on(position: usize, length: usize, stop: &mut usize) -> bool {
    if position < length {
        interrupt::poll();
        *stop = length.min(position + MOST);
    }
    position < length
}

impl<R: Rule> Job for LexBlocks<'_, R> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let bytes = self.text.bytes();
        let pointer = self.text.pointer();
        let length = bytes.len();
        // As if white space were before the text.
        let (mut blank_before, mut solid_before) = (1, 0);
        // A token that starts in one block may end in a later one, so the two are counted apart.
        // The newline at the text's end has closed every one of them.
        let (mut started, mut ended) = (0, 0);
        let mut line_start = 0;
        let mut position = 0;
        let mut stop = length.min(MOST);
        while position < stop || goes_on(position, length, &mut stop) {
            let (starts_at, ends_at) = self.tokens.room(started + 64);
            // SAFETY: position is within the text.
            let start = unsafe { pointer.add(position) };
            let stretch = Stretch { start, text: PhantomData };
            // SAFETY: the text has margins wider than a block; V is what the caller runs.
            let (mut cut, mut newline) = unsafe {
                let block = V::load(start);
                (self.rule.cut::<V>(block, &stretch), V::bits(V::equal(block, b'\n')))
            };
            if length - position < 64 {
                let valid = (1 << (length - position)) - 1;
                cut.space |= !valid;
                cut.irregular &= valid;
                newline &= valid;
            }
            let solid = !cut.space;
            let starts = solid & (cut.breaks | cut.space << 1 | blank_before);
            let ends = (solid << 1 | solid_before) & (cut.breaks | cut.space);
            blank_before = cut.space >> 63;
            solid_before = solid >> 63;

            if cut.irregular != 0 {
                self.lines.mark_irregular(cut.irregular, newline);
            }
            while newline != 0 {
                let at = newline.trailing_zeros();
                newline &= newline - 1;
                let through = (ends & (u64::MAX >> (63 - at))).count_ones();
                self.lines.token_ends.push(ended as u32 + through);
                self.lines.starts.push(line_start);
                line_start = position as u32 + at + 1;
            }
            // SAFETY: `room` made place for 64 tokens behind those started, and for what
            // `positions` may write beyond; fewer tokens have ended than started.
            unsafe {
                V::positions(starts, position as u32, starts_at.add(started));
                V::positions(ends, position as u32, ends_at.add(ended));
            }
            started += starts.count_ones() as usize;
            ended += ends.count_ones() as usize;
            position += 64;
        }
        debug_assert_eq!(started, ended);
        self.tokens.set_count(ended);
        if self.keys {
            // SAFETY: V is what the caller runs.
            unsafe { self.tokens.make_keys_with::<V>(self.text, false) };
        }
    }
}
