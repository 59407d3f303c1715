//! The targets, one per file.

pub mod arrow;
pub mod chrf;
pub mod edits;
pub mod lexers;
pub mod matching;
pub mod mecab;
pub mod normalizers;
pub mod pairwise;
pub mod score_lines;
pub mod sentencepiece;
pub mod streams;
pub mod sums;
pub mod tables;
pub mod ter;
