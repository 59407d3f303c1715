//! Fuzz targets: what the kernel must do with bytes that nobody wrote.
//!
//! A target is a function of bytes that panics if the kernel panics, gives something else than its
//! definition, or does more work than a bound. libFuzzer makes bytes that reach more and more code;
//! [`run`] makes them from a seed, in the form that the target reads, so that most of them say
//! something, and at a million a second where the work is small.

pub mod input;
pub mod make;
pub mod run;
mod targets;

use make::Random;

/// Something the kernel does with bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is its file's as well.
    pub name: &'static str,
    /// Does it, and panics if the result is wrong.
    pub run: fn(&[u8]),
    /// Makes an input, mostly one that makes sense.
    pub make: fn(&mut Random, &mut Vec<u8>),
    /// The most memory that one execution may ask for in all, in KiB.
    pub most_memory: usize,
}

macro_rules! targets {
    ($($name:ident $most_memory:literal,)*) => {
        /// All targets.
        pub const TARGETS: [Target; [$(stringify!($name)),*].len()] = [$(Target {
            name: stringify!($name),
            run: targets::$name::target,
            make: targets::$name::make,
            most_memory: $most_memory,
        }),*];
    };
}

targets! {
    lexers 1024,
    arrow 1024,
    matching 1024,
    chrf 1024,
    // The definition has a table for each of a thousand candidates.
    ter 1_000_000,
    edits 1024,
    pairwise 2048,
    sums 1024,
    tables 1024,
    mecab 8192,
    sentencepiece 4096,
    score_lines 1024,
    // Pieces of 256 KiB.
    streams 65536,
    normalizers 1024,
}
