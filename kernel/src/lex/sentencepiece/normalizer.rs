//! How a model rewrites text before it splits it.
//!
//! The rules are strings that stand for others; the longest that matches is taken. A model has them
//! in the form of Darts-clone (Yata 2013): a double array of 32-bit units, from spellings to places
//! in a pool of strings that each end with a zero byte.

use super::super::utf8;
use super::MARK;
use super::trie::Trie;
use crate::interrupt::Work;

/// The longest spelling that a rule rewrites, and the longest that it gives, in bytes. Models have
/// none of a hundred; a damaged one must not take for ever.
const LONGEST: usize = 1024;

/// What a byte that belongs to no character is rewritten as: U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The rules of a model, and what it does with spaces.
pub struct Normalizer {
    units: Vec<u32>,
    pool: Vec<u8>,
    /// ASCII characters that are not rewritten if another ASCII character, or nothing, follows.
    plain: [bool; 128],
    pub add_prefix: bool,
    pub remove_extra: bool,
    pub escape: bool,
    pub is_suffix: bool,
}

impl Default for Normalizer {
    fn default() -> Self {
        Self {
            units: Vec::new(),
            pool: Vec::new(),
            plain: [false; 128],
            add_prefix: true,
            remove_extra: true,
            escape: true,
            is_suffix: false,
        }
    }
}

/// The offset from a unit to those that follow it.
#[inline(always)]
fn offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & 1 << 9) >> 6)
}

impl Normalizer {
    /// Reads the rules: the size of the array, the array, the pool.
    pub fn read_rules(&mut self, rules: &[u8]) -> Result<(), String> {
        let damaged = || "its rules of normalization are damaged".to_owned();
        if rules.is_empty() {
            return Ok(());
        }
        let (size, rest) = rules.split_first_chunk().ok_or_else(damaged)?;
        let size = u32::from_le_bytes(*size) as usize;
        if size >= rest.len() {
            return Err(damaged());
        }
        let (units, pool) = rest.split_at(size);
        if pool.split(|&byte| byte == 0).any(|text| text.len() > LONGEST) {
            return Err(damaged());
        }
        self.units = units.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        self.pool = pool.to_vec();
        Ok(())
    }

    /// Finds which characters nothing is to be done about.
    pub fn prepare(&mut self, own: &Trie) {
        for byte in 0x21..0x7F_u8 {
            let is_plain =
                |next: u8| self.rule(&[byte, next]).is_none() && !self.goes_on(&[byte, next]);
            self.plain[usize::from(byte)] =
                !own.starts(byte) && (!self.goes_on(&[byte]) || (0..128).all(is_plain));
        }
    }

    /// True if a longer spelling that is rewritten may start with `text`.
    fn goes_on(&self, text: &[u8]) -> bool {
        let mut at = self.units.first().map_or(0, |&root| offset(root));
        for &byte in text {
            at ^= u32::from(byte);
            match self.units.get(at as usize) {
                Some(&unit) if unit & (1 << 31 | 0xFF) == u32::from(byte) => at ^= offset(unit),
                _ => return false,
            }
        }
        true
    }

    /// The longest spelling at the start of `text` that is rewritten, and as what.
    #[inline(always)]
    fn rule(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let mut at = offset(*self.units.first()?);
        let mut found = None;
        for (i, &byte) in text.iter().take(LONGEST).enumerate() {
            at ^= u32::from(byte);
            let Some(&unit) = self.units.get(at as usize) else { break };
            if unit & (1 << 31 | 0xFF) != u32::from(byte) {
                break;
            }
            at ^= offset(unit);
            if unit >> 8 & 1 == 1 {
                found = self.units.get(at as usize).map(|value| (i + 1, value & 0x7FFF_FFFF));
            }
        }
        let (length, value) = found?;
        let text = self.pool.get(value as usize..).unwrap_or_default();
        Some((length, &text[..memchr::memchr(0, text).unwrap_or(text.len())]))
    }

    /// How many bytes at the start of `text`, which is not empty, become what.
    #[inline(always)]
    fn prefix<'a>(&'a self, text: &'a [u8], own: &Trie) -> (usize, &'a [u8]) {
        if let Some(length) = own.longest(text) {
            return (length, &text[..length]);
        }
        if let Some(found) = self.rule(text) {
            return found;
        }
        match utf8::decode(text) {
            (Some(code), width) if !(0xD800..0xE000).contains(&code) => (width, &text[..width]),
            _ => (1, REPLACEMENT),
        }
    }

    /// Appends the normalized form of `text`.
    pub fn normalize(&self, mut text: &[u8], own: &Trie, out: &mut Vec<u8>) {
        let base = out.len();
        let space: &[u8] = if self.escape { MARK } else { b" " };
        if self.remove_extra {
            while !text.is_empty() {
                let (length, becomes) = self.prefix(text, own);
                if becomes != b" " {
                    break;
                }
                text = &text[length..];
            }
        }
        if text.is_empty() {
            return;
        }
        if !self.is_suffix && self.add_prefix {
            out.extend_from_slice(space);
        }
        let mut skips = self.remove_extra;
        let mut work = Work::default();
        while let Some(&byte) = text.first() {
            work.done(2);
            if byte < 128
                && self.plain[usize::from(byte)]
                && text.get(1).is_none_or(|&next| next < 128)
            {
                out.push(byte);
                skips = false;
                text = &text[1..];
                continue;
            }
            let (length, mut becomes) = self.prefix(text, own);
            text = &text[length..];
            while skips && let [b' ', rest @ ..] = becomes {
                becomes = rest;
            }
            if let Some(&last) = becomes.last() {
                for &byte in becomes {
                    if byte == b' ' {
                        out.extend_from_slice(space);
                    } else {
                        out.push(byte);
                    }
                }
                skips = last == b' ' && self.remove_extra;
            }
        }
        if self.remove_extra {
            while out[base..].ends_with(space) {
                out.truncate(out.len() - space.len());
            }
        }
        if self.is_suffix && self.add_prefix {
            out.extend_from_slice(space);
        }
    }
}
