//! The kernel of truebleu, which turns the bytes of texts into integers.
//!
//! [`text_batches`] and [`arrow`] read text, [`lex`] tokenizes it, and [`ngrams`] matches n-grams.
//! The metrics ([`bleu`], [`chrf`], [`ter`], [`edit_distance`], [`ngram_f`],
//! [`sari`]) produce one row of integers per segment. [`count`] and [`scan`] combine these steps for
//! a corpus. [`groups`] applies them to the rows of a table and sums by group. Python interprets
//! the rows. Only `python` depends on Python, and `wasm` is the interface for JavaScript.

/// Define an enum whose variants have names.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Return the name of the variant.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Return the variant with this name, or `None`.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

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
pub mod resegment;
pub mod sacrebleu_float32;
pub mod sari;
pub mod scan;
pub mod scripts;
pub mod simd;
mod sorted_ngrams;
pub mod ter;
pub mod text_batches;
pub mod text_codec;
pub mod text_flags;
pub mod token_corpus;
pub mod tokens;
#[cfg(feature = "page")]
mod wasm;
