//! Tokens, represented by positions and 64-bit keys.
//!
//! A token of at most eight bytes is its own key, so two such tokens are equal if and only if their
//! keys are equal. A longer token, or a token with a NUL byte, has a key that consists of a mark
//! byte and a 56-bit hash. If two such keys are equal, the matcher compares the bytes.

use crate::interrupt::{Work, extend_to};
use crate::simd::{Portable, Vector};
use crate::text_batches::Padded;

/// The top byte of a hashed key. UTF-8 text never contains the byte 0xFF.
pub const HASHED: u64 = 0xFF << 56;

/// Number of extra entries after the last token in every array of [`Tokens`], so that vectors of
/// keys can be read, and positions written, past the end.
const SLACK: usize = 96;

/// Number of tokens whose keys are computed together.
const CHUNK_TOKENS: usize = 256;

/// Tokens as a structure of arrays, with positions relative to the start of their text.
#[derive(Default)]
pub struct Tokens {
    starts: Vec<u32>,
    ends: Vec<u32>,
    keys: Vec<u64>,
    count: usize,
    /// Whether every token is a token id of four bytes.
    are_small_ids: bool,
}

impl Tokens {
    /// Remove all tokens and keep the memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.are_small_ids = false;
        self.ensure_capacity(0);
    }

    /// Return the number of tokens.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Return the number of tokens that the memory can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.keys.len()
    }

    #[inline(always)]
    fn ensure_capacity(&mut self, count: usize) {
        if self.keys.len() < count + SLACK {
            self.reallocate(count + SLACK);
        }
    }

    #[cold]
    fn reallocate(&mut self, length: usize) {
        let length = length.max(2 * self.keys.len());
        extend_to(&mut self.starts, length);
        extend_to(&mut self.ends, length);
        // Extend this last, because `ensure_capacity` checks its length.
        extend_to(&mut self.keys, length);
    }

    /// Append a token whose key is computed later, by [`Tokens::make_keys`].
    #[inline]
    pub fn push(&mut self, start: usize, end: usize) {
        self.ensure_capacity(self.count + 1);
        self.starts[self.count] = start as u32;
        self.ends[self.count] = end as u32;
        self.count += 1;
    }

    /// Return pointers to the starts and to the ends, with space for `count` values plus the slack.
    #[inline(always)]
    pub(crate) fn reserve_positions(&mut self, count: usize) -> (*mut u32, *mut u32) {
        self.ensure_capacity(count);
        (self.starts.as_mut_ptr(), self.ends.as_mut_ptr())
    }

    /// Record that `count` tokens have been written through [`Tokens::reserve_positions`].
    pub(crate) fn set_count(&mut self, count: usize) {
        self.ensure_capacity(count);
        self.count = count;
    }

    /// Compute the keys of all tokens. Set `may_contain_nul` if a token may contain a NUL byte.
    pub(crate) fn make_keys(&mut self, text: Padded<'_>, may_contain_nul: bool) {
        // SAFETY: the portable set needs no particular instructions.
        unsafe { self.make_keys_with::<Portable>(text, may_contain_nul) }
    }

    /// Compute the keys like [`Tokens::make_keys`], with the instructions of `V`.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    #[inline(always)]
    pub(crate) unsafe fn make_keys_with<V: Vector>(
        &mut self,
        text: Padded<'_>,
        may_contain_nul: bool,
    ) {
        let length = text.bytes().len();
        debug_assert!(self.ends[..self.count].iter().all(|&end| end as usize <= length));
        let pointer = text.pointer();
        let (starts, ends) = (&self.starts[..self.count], &self.ends[..self.count]);
        let keys = &mut self.keys[..self.count];
        let chunks = keys
            .chunks_mut(CHUNK_TOKENS)
            .zip(starts.chunks(CHUNK_TOKENS))
            .zip(ends.chunks(CHUNK_TOKENS));
        let mut work = Work::default();
        for ((keys, starts), ends) in chunks {
            work.add(2 * CHUNK_TOKENS);
            // This loop is branch-free, because one token in six has more than eight bytes, at
            // unpredictable positions. Long tokens are handled in a second loop.
            let (mut special_tokens, mut special_count) = ([0_u16; CHUNK_TOKENS], 0);
            for (i, ((key, &start), &end)) in keys.iter_mut().zip(starts).zip(ends).enumerate() {
                let (start, length) = (start as usize, (end - start) as usize);
                // SAFETY: tokens lie in the text, which has margins of more than 8 bytes.
                *key = unsafe { short_key::<V>(pointer.add(start), length) };
                // SAFETY: there is at most one special entry per token.
                unsafe { *special_tokens.get_unchecked_mut(special_count) = i as u16 };
                special_count += usize::from(length > 8 || may_contain_nul);
            }
            for &i in &special_tokens[..special_count] {
                let i = usize::from(i);
                let (start, length) = (starts[i] as usize, (ends[i] - starts[i]) as usize);
                // SAFETY: as above.
                keys[i] = unsafe {
                    let start_pointer = pointer.add(start);
                    if length > 8 {
                        long_key(start_pointer, length)
                    } else {
                        short_key_with_nul(start_pointer, length)
                    }
                };
            }
        }
    }

    /// Set the keys of token ids of four bytes without NUL, which make up `text`.
    pub(crate) fn set_id_keys(&mut self, text: &[u8]) {
        let keys = &mut self.keys[..self.count];
        debug_assert_eq!(text.len(), 4 * keys.len());
        for (key, bytes) in keys.iter_mut().zip(text.as_chunks().0) {
            *key = u32::from_le_bytes(*bytes).into();
        }
        self.are_small_ids = true;
    }

    /// Return the start and end of token `i`.
    pub(crate) fn range(&self, i: usize) -> (usize, usize) {
        (self.starts[i] as usize, self.ends[i] as usize)
    }

    /// Return the tokens from `first` to `last` of `text`.
    #[inline(always)]
    pub(crate) fn view<'a>(&'a self, text: Padded<'a>, first: usize, last: usize) -> View<'a> {
        debug_assert!(first <= last && last <= self.count);
        View { text, tokens: self, first, count: last - first }
    }
}

/// Read eight bytes.
#[inline(always)]
unsafe fn read_word(source: *const u8) -> u64 {
    // SAFETY: the caller guarantees eight readable bytes.
    u64::from_le_bytes(unsafe { source.cast::<[u8; 8]>().read_unaligned() })
}

/// Return a key that hashes two words, which together cover the token, and the token's length.
#[inline(always)]
pub(crate) fn hashed_key(first: u64, last: u64, length: usize) -> u64 {
    let hash = first.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ last.wrapping_add(length as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    hash >> 8 | HASHED
}

/// Return the key of a token of 1 to 8 bytes without NUL.
///
/// # Safety
/// Eight bytes must be readable. The processor must support the instructions of `V`.
#[inline(always)]
unsafe fn short_key<V: Vector>(source: *const u8, length: usize) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { V::low_bytes(read_word(source), length) }
}

/// Return the key of a token of more than 8 bytes.
///
/// # Safety
/// The token must be readable.
#[inline(always)]
unsafe fn long_key(pointer: *const u8, length: usize) -> u64 {
    // SAFETY: guaranteed by the caller.
    let (first, last) = unsafe { (read_word(pointer), read_word(pointer.add(length - 8))) };
    // SAFETY: guaranteed by the caller.
    let first = if length > 16 { unsafe { hash_leading_words(pointer, length) } } else { first };
    hashed_key(first, last, length)
}

/// Hash all bytes of a token except the last eight. Tokens with equal starts and ends, such as URLs
/// and identifiers, must not share a key, so the hash must depend on every byte.
///
/// # Safety
/// The token must be readable.
#[cold]
unsafe fn hash_leading_words(pointer: *const u8, length: usize) -> u64 {
    let mut hash = 0_u64;
    for word in (0..length - 8).step_by(8) {
        // SAFETY: the word lies in the token.
        let word = unsafe { read_word(pointer.add(word)) };
        hash = (hash.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    hash ^ hash >> 32
}

/// Return the key of a token of at most 8 bytes that may contain a NUL byte.
///
/// # Safety
/// Eight bytes must be readable.
#[inline(never)]
unsafe fn short_key_with_nul(pointer: *const u8, length: usize) -> u64 {
    if length == 0 {
        return 0;
    }
    // SAFETY: guaranteed by the caller.
    let (bytes, key) = unsafe {
        (std::slice::from_raw_parts(pointer, length), short_key::<Portable>(pointer, length))
    };
    if bytes.contains(&0) { hashed_key(key, key.wrapping_mul(31), length) } else { key }
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
    /// Return the number of tokens of the segment.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Return the keys of the tokens.
    #[inline(always)]
    pub fn keys(&self) -> &'a [u64] {
        // SAFETY: the view lies within the tokens.
        unsafe { self.tokens.keys.get_unchecked(self.first..self.first + self.count) }
    }

    /// Return whether every token of the text is a token id of four bytes.
    pub(crate) fn has_small_ids(&self) -> bool {
        self.tokens.are_small_ids
    }

    /// Return a pointer to the first key. At least 64 more keys are readable after the last one.
    #[inline(always)]
    pub fn padded_keys(&self) -> *const u64 {
        // Point into the array of all keys, because reads go past the end of the view.
        self.tokens.keys.as_ptr().wrapping_add(self.first)
    }

    /// Return the text from the start of the first token to the end of the last token.
    #[inline(always)]
    pub fn span(&self) -> &'a [u8] {
        if self.count == 0 {
            return &[];
        }
        &self.text.bytes()[self.range(0).start..self.range(self.count - 1).end]
    }

    /// Return a pointer to the start of [`View::span`]. The text's margins are readable around it.
    #[inline(always)]
    pub(crate) fn span_pointer(&self) -> *const u8 {
        let start = if self.count == 0 { 0 } else { self.range(0).start };
        self.text.pointer().wrapping_add(start)
    }

    /// Return a view of other tokens of the same text.
    #[inline(always)]
    pub fn view_tokens<'b>(&self, tokens: &'b Tokens, first: usize, last: usize) -> View<'b>
    where
        'a: 'b,
    {
        tokens.view(self.text, first, last)
    }

    /// Compute the keys of other tokens of the same text. Set `may_contain_nul` if a token may
    /// contain a NUL byte.
    #[inline(always)]
    pub fn make_keys(&self, tokens: &mut Tokens, may_contain_nul: bool) {
        tokens.make_keys(self.text, may_contain_nul);
    }

    /// Return the bytes of token `i`.
    #[inline(always)]
    pub fn token(&self, i: usize) -> &'a [u8] {
        let range = self.range(i);
        &self.text.bytes()[range]
    }

    /// Return whether two tokens with equal hashed keys are equal.
    #[inline(always)]
    pub fn is_same(&self, i: usize, other: &Self, j: usize) -> bool {
        let (own_range, other_range) = (self.range(i), other.range(j));
        let length = own_range.len();
        if length != other_range.len() {
            return false;
        }
        if (9..=16).contains(&length) {
            // SAFETY: tokens lie in their texts, and these tokens are longer than eight bytes.
            return unsafe {
                let pointer = self.text.pointer().add(own_range.start);
                let other_pointer = other.text.pointer().add(other_range.start);
                let last = length - 8;
                (read_word(pointer) ^ read_word(other_pointer))
                    | (read_word(pointer.add(last)) ^ read_word(other_pointer.add(last)))
                    == 0
            };
        }
        self.token(i) == other.token(j)
    }

    /// Return the byte range of token `i` in its text.
    #[inline(always)]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        let index = self.first + i;
        self.tokens.starts[index] as usize..self.tokens.ends[index] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_batches::PaddedBuffer;

    /// Return the keys of concatenated tokens.
    fn keys_of_tokens(token_texts: &[String]) -> Vec<u64> {
        let mut text = PaddedBuffer::default();
        let mut tokens = Tokens::default();
        for token in token_texts {
            let start = text.len();
            text.buffer_mut().extend_from_slice(token.as_bytes());
            tokens.push(start, text.len());
        }
        text.finish();
        tokens.make_keys(text.padded(), false);
        tokens.view(text.padded(), 0, token_texts.len()).keys().to_vec()
    }

    #[test]
    fn test_key_depends_on_every_byte() {
        for length in 1..80 {
            let mut tokens = vec!["a".repeat(length)];
            for changed in 0..length {
                let mut other = tokens[0].clone();
                other.replace_range(changed..=changed, "b");
                tokens.push(other);
            }
            let mut keys = keys_of_tokens(&tokens);
            assert!(keys.iter().all(|&key| (key >= HASHED) == (length > 8)));
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), tokens.len(), "{length} bytes");
        }
    }

    #[test]
    fn test_equal_starts_and_ends_give_different_keys() {
        for tail in ["/index.html", "@example.org/of/the/same/length", ""] {
            let address = |i| format!("https://a{i:010}{tail}");
            let mut keys = keys_of_tokens(&(0..100_000).map(address).collect::<Vec<_>>());
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), 100_000);
        }
    }
}
