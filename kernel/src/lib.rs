//! The kernel of truebleu: bytes in, integers out.
//!
//! Text comes from a [`text::Source`], is lexed by a [`lex::Lexer`], matched in [`ngrams`], and
//! leaves as rows of integers ([`bleu`], [`chrf`], [`ter`]), one a segment. [`count`] and [`scan`]
//! put these together. What the rows mean is Python's business; only `python` knows that there is
//! such a thing.

pub mod arrow;
pub mod bleu;
pub mod chrf;
pub mod contrast;
pub mod count;
pub mod error;
pub mod health;
pub mod inventory;
pub mod lex;
pub mod lowercase;
pub mod ngrams;
pub mod observe;
#[cfg(feature = "python")]
mod python;
pub mod random;
pub mod resample;
pub mod scan;
pub mod single;
pub mod ter;
pub mod text;
pub mod tokens;
pub mod vector;
