//! Tokens as positions and 64-bit keys.
//!
//! A token of at most eight bytes *is* its key, so two of them are equal exactly if their keys
//! are. A longer one (or one that holds a NUL) has a mark byte and a 56-bit hash of all its bytes:
//! equal keys are then only a candidate, and the matcher compares the bytes.

use crate::interrupt::{Work, lengthen};
use crate::simd::{Portable, Vector};
use crate::text_batches::Padded;

/// The top byte of a hashed key. No UTF-8 text has a byte 0xFF.
pub const HASHED: u64 = 0xFF << 56;

/// Entries that every array of [`Tokens`] keeps behind the last token, so that vectors of keys can
/// be read, and positions written, past the end.
const SLACK: usize = 96;

/// Tokens whose keys are made at a time.
const CHUNK: usize = 256;

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

    #[inline(always)]
    fn grow(&mut self, count: usize) {
        if self.keys.len() < count + SLACK {
            self.grow_to(count + SLACK);
        }
    }

    #[cold]
    fn grow_to(&mut self, length: usize) {
        let length = length.max(2 * self.keys.len());
        lengthen(&mut self.starts, length);
        lengthen(&mut self.ends, length);
        // Last: `grow` goes by its length.
        lengthen(&mut self.keys, length);
    }

    /// Appends a token whose key is made later, by [`Tokens::make_keys`].
    #[inline]
    pub fn push(&mut self, start: usize, end: usize) {
        self.grow(self.count + 1);
        self.starts[self.count] = start as u32;
        self.ends[self.count] = end as u32;
        self.count += 1;
    }

    /// The first start and the first end, with room for `count` of each beside the slack.
    #[inline(always)]
    pub(crate) fn room(&mut self, count: usize) -> (*mut u32, *mut u32) {
        self.grow(count);
        (self.starts.as_mut_ptr(), self.ends.as_mut_ptr())
    }

    /// Says that `count` tokens have been written through [`Tokens::room`].
    pub(crate) fn set_count(&mut self, count: usize) {
        self.grow(count);
        self.count = count;
    }

    /// Makes the keys of all tokens. None of them may hold a NUL, unless `careful` is set.
    pub(crate) fn make_keys(&mut self, text: Padded<'_>, careful: bool) {
        // SAFETY: the portable set needs nothing of the processor.
        unsafe { self.make_keys_with::<Portable>(text, careful) }
    }

    /// The same.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    pub(crate) unsafe fn make_keys_with<V: Vector>(&mut self, text: Padded<'_>, careful: bool) {
        let length = text.bytes().len();
        debug_assert!(self.ends[..self.count].iter().all(|&end| end as usize <= length));
        let pointer = text.pointer();
        let (starts, ends) = (&self.starts[..self.count], &self.ends[..self.count]);
        let keys = &mut self.keys[..self.count];
        let chunks = keys.chunks_mut(CHUNK).zip(starts.chunks(CHUNK)).zip(ends.chunks(CHUNK));
        let mut work = Work::default();
        for ((keys, starts), ends) in chunks {
            work.done(2 * CHUNK);
            // Without a branch: one token in six is longer than eight bytes, which no predictor
            // foresees. Those are noted, and come by themselves.
            let (mut long, mut longer) = ([0_u16; CHUNK], 0);
            for (i, ((key, &start), &end)) in keys.iter_mut().zip(starts).zip(ends).enumerate() {
                let (start, length) = (start as usize, (end - start) as usize);
                // SAFETY: tokens lie in the text, which has margins of more than 8 bytes.
                *key = unsafe { short_key::<V>(pointer.add(start), length) };
                // SAFETY: no more are longer than there are.
                unsafe { *long.get_unchecked_mut(longer) = i as u16 };
                longer += usize::from(length > 8 || careful);
            }
            for &i in &long[..longer] {
                let i = usize::from(i);
                let (start, length) = (starts[i] as usize, (ends[i] - starts[i]) as usize);
                // SAFETY: as above.
                keys[i] = unsafe {
                    let at = pointer.add(start);
                    if length > 8 { long_key(at, length) } else { careful_key(at, length) }
                };
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

/// A hash of two words that hold all of a token, and of its length.
#[inline(always)]
fn hashed(first: u64, last: u64, length: usize) -> u64 {
    let hash = first.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ last.wrapping_add(length as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    hash >> 8 | HASHED
}

/// The key of a token of 1 to 8 bytes without NUL.
///
/// # Safety
/// Eight bytes must be readable; the processor must have the instructions of `V`.
#[inline(always)]
unsafe fn short_key<V: Vector>(at: *const u8, length: usize) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { V::low_bytes(eight(at), length) }
}

/// The key of a token of more than 8 bytes.
///
/// # Safety
/// The token must be readable.
#[inline(always)]
unsafe fn long_key(at: *const u8, length: usize) -> u64 {
    // SAFETY: as the caller promises.
    let (first, last) = unsafe { (eight(at), eight(at.add(length - 8))) };
    // SAFETY: as the caller promises.
    let first = if length > 16 { unsafe { first_words(at, length) } } else { first };
    hashed(first, last, length)
}

/// One word of all words but the last: every byte of a long token counts, or texts of addresses and
/// identifiers, which start and end alike, would all have one key.
///
/// # Safety
/// The token must be readable.
#[cold]
unsafe fn first_words(at: *const u8, length: usize) -> u64 {
    let mut hash = 0_u64;
    for word in (0..length - 8).step_by(8) {
        // SAFETY: the word lies in the token.
        let word = unsafe { eight(at.add(word)) };
        hash = (hash.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    hash ^ hash >> 32
}

/// The key of a token of at most 8 bytes, which may hold a NUL.
///
/// # Safety
/// Eight bytes must be readable.
#[inline(never)]
unsafe fn careful_key(at: *const u8, length: usize) -> u64 {
    if length == 0 {
        return 0;
    }
    // SAFETY: as the caller promises.
    let (bytes, key) =
        unsafe { (std::slice::from_raw_parts(at, length), short_key::<Portable>(at, length)) };
    if bytes.contains(&0) { hashed(key, key.wrapping_mul(31), length) } else { key }
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

    /// Where the keys start. Behind the last one, 64 more can be read.
    #[inline(always)]
    pub fn keys_and_more(&self) -> *const u64 {
        // Of all keys, not of the view's: these are read past.
        self.tokens.keys.as_ptr().wrapping_add(self.first)
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
        self.text.pointer().wrapping_add(start)
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
        tokens.make_keys(self.text, careful);
    }

    /// The bytes of token `i`.
    #[inline(always)]
    pub fn token(&self, i: usize) -> &'a [u8] {
        let range = self.range(i);
        &self.text.bytes()[range]
    }

    /// True if a token that has a hashed key equals another one with the same key.
    #[inline(always)]
    pub fn is_same(&self, i: usize, other: &Self, j: usize) -> bool {
        let (own, others) = (self.range(i), other.range(j));
        let length = own.len();
        if length != others.len() {
            return false;
        }
        if (9..=16).contains(&length) {
            // SAFETY: tokens lie in their texts, and these are longer than eight bytes.
            return unsafe {
                let own = self.text.pointer().add(own.start);
                let others = other.text.pointer().add(others.start);
                let last = length - 8;
                (eight(own) ^ eight(others)) | (eight(own.add(last)) ^ eight(others.add(last))) == 0
            };
        }
        self.token(i) == other.token(j)
    }

    /// Where token `i` lies in its text.
    #[inline(always)]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        let at = self.first + i;
        self.tokens.starts[at] as usize..self.tokens.ends[at] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_batches::PaddedBuffer;

    fn keys(of: &[String]) -> Vec<u64> {
        let mut text = PaddedBuffer::default();
        let mut tokens = Tokens::default();
        for token in of {
            let start = text.len();
            text.raw().extend_from_slice(token.as_bytes());
            tokens.push(start, text.len());
        }
        text.finish();
        tokens.make_keys(text.padded(), false);
        tokens.view(text.padded(), 0, of.len()).keys().to_vec()
    }

    #[test]
    fn every_byte_of_a_token_enters_its_key() {
        for length in 1..80 {
            let mut tokens = vec!["a".repeat(length)];
            for at in 0..length {
                let mut other = tokens[0].clone();
                other.replace_range(at..=at, "b");
                tokens.push(other);
            }
            let mut keys = keys(&tokens);
            assert!(keys.iter().all(|&key| (key >= HASHED) == (length > 8)));
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), tokens.len(), "{length} bytes");
        }
    }

    #[test]
    fn tokens_that_start_and_end_alike_have_different_keys() {
        for tail in ["/index.html", "@example.org/of/the/same/length", ""] {
            let address = |i| format!("https://a{i:010}{tail}");
            let mut keys = keys(&(0..100_000).map(address).collect::<Vec<_>>());
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), 100_000);
        }
    }
}
