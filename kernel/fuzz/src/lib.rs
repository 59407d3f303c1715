//! Fuzz targets: the kernel's behaviour on arbitrary bytes.
//!
//! A target is a function of bytes that panics if the kernel panics, differs from its definition,
//! or exceeds a bound on its work. libFuzzer generates bytes that reach more and more code. [`run`]
//! generates inputs from a seed in the format of the target, so that most of them are meaningful.
//! It reaches a million inputs per second if the target is fast.

pub mod input;
pub mod make;
pub mod run;
mod targets;

use make::Random;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of the target and of its file.
    pub name: &'static str,
    /// Run the target, and panic if the result is wrong.
    pub run: fn(&[u8]),
    /// Generate an input, mostly a valid one.
    pub make: fn(&mut Random, &mut Vec<u8>),
    /// The maximum memory that one execution may allocate in total, in KiB.
    pub max_memory: usize,
}

macro_rules! targets {
    ($($name:ident $max_memory:literal,)*) => {
        /// All targets.
        pub const TARGETS: [Target; [$(stringify!($name)),*].len()] = [$(Target {
            name: stringify!($name),
            run: targets::$name::target,
            make: targets::$name::make,
            max_memory: $max_memory,
        }),*];
    };
}

targets! {
    lexers 1024,
    arrow 1024,
    matching 1024,
    chrf 1024,
    // The definition computes a table for each of a thousand candidates.
    ter 1_000_000,
    edits 1024,
    pairwise 2048,
    sums 1024,
    tables 1024,
    mecab 8192,
    sentencepiece 4096,
    score_lines 1024,
    // Chunks of 256 KiB.
    streams 65536,
    normalizers 1024,
}
