//! The kernel of truebleu: bytes in, integers out.
//!
//! Text comes from a [`text::Source`], is lexed by a [`lex::Lexer`], matched in [`ngrams`], and
//! leaves as rows of integers ([`bleu`], [`chrf`], [`ter`], [`edits`], [`ngram_f`]), one per segment. [`count`] and [`scan`]
//! put these together; [`groups`] does it for the rows of a table and adds them up by group. What
//! the rows mean is decided in Python. Two modules are faces of it: `python` alone knows about Python,
//! and `page` is what JavaScript calls.

pub mod arrow;
pub mod bleu;
pub mod checksummed_frame;
pub mod chrf;
pub mod columns;
pub mod corpus_warnings;
pub mod count;
pub mod distinctive_ngrams;
pub mod edit_distance;
pub mod error;
pub mod groups;
mod ids;
mod interner;
pub mod interrupt;
pub mod leave_one_out;
pub mod lex;
mod math;
pub mod meta_evaluation;
pub mod ngram_f;
pub mod ngrams;
pub mod pairwise;
pub mod preservation;
#[cfg(feature = "python")]
mod python;
pub mod random;
pub mod resample;
pub mod sacrebleu_float32;
pub mod scan;
pub mod scripts;
pub mod simd;
pub mod ter;
pub mod text_batches;
pub mod text_codec;
pub mod text_flags;
pub mod token_corpus;
pub mod tokens;
#[cfg(feature = "page")]
mod wasm;
