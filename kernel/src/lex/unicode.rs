//! The classes of punctuation, symbol and number characters.
//!
//! The classes are Unicode's general categories P, S and N in the Python module `regex` 2026.11.15,
//! which sacreBLEU's `intl` tokenizer uses. Older releases of that module differ only in characters
//! that were not assigned yet.

/// The class of a character in the tokenizer `intl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Letters, marks, separators, controls and unassigned code points.
    Other,
    /// General category P.
    Punctuation,
    /// General category S.
    Symbol,
    /// General category N.
    Number,
}

/// Number of blocks of 256 code points. Code points beyond them have no class.
const BLOCKS: usize = 508;
/// The number of each block's page, then the pages, which contain two bits per code point. `tables.py`
/// generates this file.
static TABLE: [u8; 8316] = *include_bytes!("unicode.bin");

/// Return the class of a code point.
#[inline(always)]
pub fn class(point: u32) -> Class {
    let (index, pages) = TABLE.split_at(BLOCKS);
    let Some(&page) = index.get((point >> 8) as usize) else { return Class::Other };
    let four = pages[usize::from(page) * 64 + (point >> 2 & 63) as usize];
    match four >> (2 * (point & 3)) & 3 {
        0 => Class::Other,
        1 => Class::Punctuation,
        2 => Class::Symbol,
        _ => Class::Number,
    }
}
