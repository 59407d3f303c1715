//! Normalization of text by a model before splitting.
//!
//! The rules map strings to replacements; the longest matching string is used. Models store them in
//! Darts-clone format (Yata 2013): a double array of 32-bit units that maps strings to positions in
//! a pool of zero-terminated replacements.

use super::super::utf8;
use super::SPACE_MARK;
use super::trie::Trie;
use crate::interrupt::Work;

/// Maximum length in bytes of a string that a rule replaces, and of a replacement. Real models stay
/// below 100. The limit bounds the running time for corrupt models.
const MAX_RULE_BYTES: usize = 1024;

/// The replacement of an invalid byte: U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The normalization rules and the settings for spaces.
pub struct Normalizer {
    units: Vec<u32>,
    pool: Vec<u8>,
    /// ASCII characters that no rule changes if they precede another ASCII character or the end.
    is_plain: [bool; 128],
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
            is_plain: [false; 128],
            add_prefix: true,
            remove_extra: true,
            escape: true,
            is_suffix: false,
        }
    }
}

/// Return the offset from a unit to its children.
#[inline(always)]
fn child_offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & 1 << 9) >> 6)
}

impl Normalizer {
    /// Read the rules, which are stored as the size of the array, the array, and the pool.
    pub fn read_rules(&mut self, rules: &[u8]) -> Result<(), String> {
        let corrupt = || "the normalization rules are corrupt".to_owned();
        if rules.is_empty() {
            return Ok(());
        }
        let (size, after_size) = rules.split_first_chunk().ok_or_else(corrupt)?;
        let size = u32::from_le_bytes(*size) as usize;
        if size >= after_size.len() {
            return Err(corrupt());
        }
        let (units, pool) = after_size.split_at(size);
        if pool.split(|&byte| byte == 0).any(|text| text.len() > MAX_RULE_BYTES) {
            return Err(corrupt());
        }
        self.units = units.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        self.pool = pool.to_vec();
        Ok(())
    }

    /// Find the ASCII characters that need no normalization.
    pub fn find_plain_characters(&mut self, user_defined: &Trie) {
        for byte in 0x21..0x7F_u8 {
            let is_unchanged = |following: u8| {
                self.find_rule(&[byte, following]).is_none()
                    && !self.is_rule_prefix(&[byte, following])
            };
            self.is_plain[usize::from(byte)] = !user_defined.starts_with_byte(byte)
                && (!self.is_rule_prefix(&[byte]) || (0..128).all(is_unchanged));
        }
    }

    /// Return whether a longer string that a rule replaces may start with `text`.
    fn is_rule_prefix(&self, text: &[u8]) -> bool {
        let mut index = self.units.first().map_or(0, |&root| child_offset(root));
        for &byte in text {
            index ^= u32::from(byte);
            match self.units.get(index as usize) {
                Some(&unit) if unit & (1 << 31 | 0xFF) == u32::from(byte) => {
                    index ^= child_offset(unit)
                }
                _ => return false,
            }
        }
        true
    }

    /// Return the length of the longest string at the start of `text` that a rule replaces, and its
    /// replacement.
    #[inline(always)]
    fn find_rule(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let mut index = child_offset(*self.units.first()?);
        let mut longest_match = None;
        for (i, &byte) in text.iter().take(MAX_RULE_BYTES).enumerate() {
            index ^= u32::from(byte);
            let Some(&unit) = self.units.get(index as usize) else { break };
            if unit & (1 << 31 | 0xFF) != u32::from(byte) {
                break;
            }
            index ^= child_offset(unit);
            if unit >> 8 & 1 == 1 {
                longest_match =
                    self.units.get(index as usize).map(|value| (i + 1, value & 0x7FFF_FFFF));
            }
        }
        let (length, value) = longest_match?;
        let text = self.pool.get(value as usize..).unwrap_or_default();
        Some((length, &text[..memchr::memchr(0, text).unwrap_or(text.len())]))
    }

    /// Return the number of bytes to replace at the start of `text`, and their replacement. `text`
    /// must not be empty.
    #[inline(always)]
    fn next_replacement<'a>(&'a self, text: &'a [u8], user_defined: &Trie) -> (usize, &'a [u8]) {
        if let Some(length) = user_defined.longest_prefix(text) {
            return (length, &text[..length]);
        }
        if let Some(replacement) = self.find_rule(text) {
            return replacement;
        }
        match utf8::decode_char(text) {
            (Some(code), width) if !(0xD800..0xE000).contains(&code) => (width, &text[..width]),
            _ => (1, REPLACEMENT),
        }
    }

    /// Append the normalized form of `text`.
    pub fn normalize(&self, mut text: &[u8], user_defined: &Trie, out: &mut Vec<u8>) {
        let base = out.len();
        let space: &[u8] = if self.escape { SPACE_MARK } else { b" " };
        if self.remove_extra {
            while !text.is_empty() {
                let (length, replacement) = self.next_replacement(text, user_defined);
                if replacement != b" " {
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
        let mut skips_spaces = self.remove_extra;
        let mut work = Work::default();
        while let Some(&byte) = text.first() {
            work.add(2);
            if byte < 128
                && self.is_plain[usize::from(byte)]
                && text.get(1).is_none_or(|&next| next < 128)
            {
                out.push(byte);
                skips_spaces = false;
                text = &text[1..];
                continue;
            }
            let (length, mut replacement) = self.next_replacement(text, user_defined);
            text = &text[length..];
            while skips_spaces && let [b' ', after @ ..] = replacement {
                replacement = after;
            }
            if let Some(&last) = replacement.last() {
                for &byte in replacement {
                    if byte == b' ' {
                        out.extend_from_slice(space);
                    } else {
                        out.push(byte);
                    }
                }
                skips_spaces = last == b' ' && self.remove_extra;
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
