//! The kernel of truebleu: bytes in, integers out.
//!
//! Text comes from a [`text::Source`], is lexed by a [`lex::Lexer`], matched in [`ngrams`], and
//! leaves as rows of integers ([`bleu`], [`chrf`], [`ter`]), one a segment. [`count`] and [`scan`]
//! put these together; [`grouped`] does it for rows of a table, whose totals by group are kept in
//! [`groups`] and travel as [`state`]. What the rows mean is Python's business; only `python` knows
//! that there is such a thing.

pub mod arrow;
pub mod bleu;
pub mod chrf;
pub mod contrast;
pub mod count;
pub mod error;
pub mod grouped;
pub mod groups;
pub mod health;
pub mod inventory;
pub mod left_out;
pub mod lex;
pub mod lowercase;
pub mod ngrams;
pub mod observe;
pub mod pairwise;
#[cfg(feature = "python")]
mod python;
pub mod random;
pub mod resample;
pub mod scan;
pub mod single;
pub mod state;
pub mod ter;
pub mod text;
pub mod tokens;
pub mod vector;
