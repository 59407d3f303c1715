//! Tokens as positions and 64-bit keys.
//!
//! A token of at most eight bytes *is* its key, so two of them are equal exactly if their keys
//! are. A longer one (or one that holds a NUL) has a mark byte and a 56-bit hash: equal keys are
//! then only a candidate, and the matcher compares the bytes.

use crate::text::Padded;

/// The top byte of a hashed key. No UTF-8 text has a byte 0xFF.
pub const HASHED: u64 = 0xFF << 56;

/// Entries that every array of [`Tokens`] keeps behind the last token, so that vectors of keys can
/// be read, and positions written, past the end.
const SLACK: usize = 96;

/// Tokens as a structure of arrays. Positions count from the start of their text.
#[derive(Default)]
pub struct Tokens {
    starts: Vec<u32>,
    ends: Vec<u32>,
    keys: Vec<u64>,
    count: usize,
}

impl Tokens {
    /// Forgets the tokens and keeps the memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.grow(0);
    }

    /// The number of tokens.
    pub fn count(&self) -> usize {
        self.count
    }

    fn grow(&mut self, count: usize) {
        let length = count + SLACK;
        if self.keys.len() < length {
            let length = length.max(2 * self.keys.len());
            self.starts.resize(length, 0);
            self.ends.resize(length, 0);
            self.keys.resize(length, 0);
        }
    }

    /// Appends a token whose key is made later, by [`Tokens::make_keys`].
    #[inline]
    pub fn push(&mut self, start: usize, end: usize) {
        self.grow(self.count + 1);
        self.starts[self.count] = start as u32;
        self.ends[self.count] = end as u32;
        self.count += 1;
    }

    /// Room for `more` starts and ends behind the first `count`, beside the slack.
    #[inline(always)]
    pub(crate) fn room(&mut self, count: usize, more: usize) -> (*mut u32, *mut u32) {
        self.grow(count + more);
        (self.starts[count..].as_mut_ptr(), self.ends[count..].as_mut_ptr())
    }

    /// Says that `count` tokens have been written through [`Tokens::room`].
    pub(crate) fn set_count(&mut self, count: usize) {
        self.grow(count);
        self.count = count;
    }

    /// Makes the keys of the tokens from `first` on. None of them may hold a NUL, unless
    /// `careful` is set.
    #[inline(always)]
    pub(crate) fn make_keys(&mut self, text: Padded<'_>, first: usize, careful: bool) {
        let pointer = text.pointer();
        let length = text.bytes().len();
        debug_assert!(self.ends[..self.count].iter().all(|&end| end as usize <= length));
        for i in first..self.count {
            // SAFETY: i < count; tokens lie in the text, which has margins of more than 8 bytes.
            unsafe {
                let start = *self.starts.get_unchecked(i) as usize;
                let length = *self.ends.get_unchecked(i) as usize - start;
                let at = pointer.add(start);
                *self.keys.get_unchecked_mut(i) =
                    if careful { careful_key(at, length) } else { key(at, length) };
            }
        }
    }

    /// Where token `i` starts and ends.
    pub(crate) fn range(&self, i: usize) -> (usize, usize) {
        (self.starts[i] as usize, self.ends[i] as usize)
    }

    /// The tokens from `first` to `last` of `text`.
    #[inline(always)]
    pub(crate) fn view<'a>(&'a self, text: Padded<'a>, first: usize, last: usize) -> View<'a> {
        debug_assert!(first <= last && last <= self.count);
        View { text, tokens: self, first, count: last - first }
    }
}

#[inline(always)]
unsafe fn eight(at: *const u8) -> u64 {
    // SAFETY: the caller gives eight readable bytes.
    u64::from_le_bytes(unsafe { at.cast::<[u8; 8]>().read_unaligned() })
}

#[inline(always)]
fn hashed(first: u64, last: u64, length: usize) -> u64 {
    let hash = first.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ last.wrapping_add(length as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    hash >> 8 | HASHED
}

/// The key of a token without NUL.
///
/// # Safety
/// The token and eight bytes on either side must be readable.
#[inline(always)]
unsafe fn key(at: *const u8, length: usize) -> u64 {
    // SAFETY: as the caller promises.
    let (first, last) = unsafe { (eight(at), eight(at.add(length).sub(8))) };
    let short = if length >= 8 { first } else { first & ((1 << (8 * length)) - 1) };
    if length <= 8 { short } else { hashed(first, last, length) }
}

/// The key of any token; equal to [`key`] for one without NUL.
///
/// # Safety
/// As for [`key`].
unsafe fn careful_key(at: *const u8, length: usize) -> u64 {
    // SAFETY: the token is readable.
    let bytes = unsafe { std::slice::from_raw_parts(at, length) };
    // SAFETY: as the caller promises.
    let plain = unsafe { key(at, length) };
    if length > 8 || !bytes.contains(&0) {
        plain
    } else {
        hashed(plain, plain.wrapping_mul(31), length)
    }
}

/// The tokens of one segment.
#[derive(Clone, Copy)]
pub struct View<'a> {
    text: Padded<'a>,
    tokens: &'a Tokens,
    first: usize,
    count: usize,
}

impl<'a> View<'a> {
    /// The number of tokens of the segment.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The keys of the tokens.
    #[inline(always)]
    pub fn keys(&self) -> &'a [u64] {
        // SAFETY: the view was made within the tokens.
        unsafe { self.tokens.keys.get_unchecked(self.first..self.first + self.count) }
    }

    /// The text from the first token's start to the last one's end.
    #[inline(always)]
    pub fn span(&self) -> &'a [u8] {
        if self.count == 0 {
            return &[];
        }
        &self.text.bytes()[self.range(0).start..self.range(self.count - 1).end]
    }

    /// Where [`View::span`] starts; the text's margins are readable around it.
    #[inline(always)]
    pub(crate) fn span_pointer(&self) -> *const u8 {
        let start = if self.count == 0 { 0 } else { self.range(0).start };
        // SAFETY: tokens lie in the text.
        unsafe { self.text.pointer().add(start) }
    }

    /// Other tokens of the same text.
    #[inline(always)]
    pub fn of<'b>(&self, tokens: &'b Tokens, first: usize, last: usize) -> View<'b>
    where
        'a: 'b,
    {
        tokens.view(self.text, first, last)
    }

    /// Makes the keys of other tokens of the same text; `careful` if one of them may hold a NUL.
    #[inline(always)]
    pub fn make_keys(&self, tokens: &mut Tokens, careful: bool) {
        tokens.make_keys(self.text, 0, careful);
    }

    /// The bytes of token `i`.
    #[inline(always)]
    pub fn token(&self, i: usize) -> &'a [u8] {
        let range = self.range(i);
        &self.text.bytes()[range]
    }

    /// Where token `i` lies in its text.
    #[inline(always)]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        let at = self.first + i;
        self.tokens.starts[at] as usize..self.tokens.ends[at] as usize
    }
}
