//! Text that is hard to lex, and conversion of texts to blocks.
#![allow(dead_code)]

use proptest::prelude::*;
use truebleu_kernel::text_batches::{Block, BorrowedSegment};

/// Strings that the tokenizers' rules handle.
const PIECES: &[&str] = &[
    "a",
    "the",
    "über",
    "été",
    "Straße",
    "1",
    "22",
    "3.14",
    "1,000",
    ".",
    ",",
    "..",
    ",,,",
    ".5",
    "5.",
    "-",
    "--",
    "1-2",
    "'",
    "\"",
    "!",
    "?",
    "(",
    ")",
    "$",
    "+",
    "=",
    "^",
    "~",
    "_",
    "/",
    "%",
    "&",
    "&amp;",
    "&quot;",
    "&lt;",
    "&gt;",
    "&amp",
    "&amp;lt;",
    "<",
    "<skipped>",
    "<skip",
    " ",
    "  ",
    "\t",
    "\r",
    "\u{b}",
    "\u{1c}",
    "\u{1f}",
    "\u{85}",
    "\u{a0}",
    "\u{1680}",
    "\u{2003}",
    "\u{2028}",
    "\u{202f}",
    "\u{205f}",
    "\u{3000}",
    "\u{180e}",
    "\u{200b}",
    "\u{feff}",
    "中",
    "文",
    "。",
    "，",
    "、",
    "“",
    "”",
    "’",
    "–",
    "—",
    "…",
    "€",
    "™",
    "½",
    "Ⅷ",
    "٣",
    "۳",
    "\u{2e80}",
    "\u{3250}",
    "か",
    "カ",
    "ｶ",
    "한",
    "ไทย",
    "\u{301}",
    "\u{200d}",
    "👩",
    "🏽",
    "𠀀",
    "\u{10ffff}",
    "\0",
    "a\0",
    "internationalization",
    "internationalizatiom",
    "interpationalization",
    "\u{7f}",
    "\u{80}",
];

/// Generate a segment of pieces, words and arbitrary characters, without newlines.
pub fn random_segment() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => "[a-z]{1,12}",
        1 => "[ -~]{0,4}",
        1 => "\\PC{0,3}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Convert segments to a block in memory. The strings must outlive it.
pub fn to_block(segments: &[Option<Vec<u8>>]) -> Block {
    let segments = segments
        .iter()
        // SAFETY: the tests keep the vectors as long as the block.
        .map(|segment| segment.as_ref().map(|bytes| unsafe { BorrowedSegment::new(bytes) }))
        .collect();
    Block::Segments { segments, is_utf8: true, owner: None }
}
