//! Errors in the input: what is wrong, where, and what to do about it.

use std::fmt;

/// Why a table could not be made.
#[derive(Debug)]
pub enum Error {
    /// Inputs of different lengths: (name, number of segments) of each.
    Lengths(Vec<(String, u64)>),
    /// Bytes that are not UTF-8.
    Utf8 {
        /// The input.
        input: String,
        /// The line, counted from 1.
        segment: u64,
        /// The offset in the file, where it is known.
        offset: Option<u64>,
        /// The offending byte.
        byte: u8,
    },
    /// A hypothesis that is missing.
    MissingHypothesis {
        /// The input.
        input: String,
        /// The segment, counted from 1.
        segment: u64,
    },
    /// A text that is missing where each must be there.
    MissingText {
        /// The input.
        input: String,
        /// The text, counted from 1.
        segment: u64,
    },
    /// A segment without any reference.
    NoReference {
        /// The segment, counted from 1.
        segment: u64,
    },
    /// Too many bytes in one piece.
    TooLong {
        /// The input.
        input: String,
        /// The segment that makes them too many, counted from 1, where it is known.
        segment: Option<u64>,
        /// The number of bytes.
        bytes: u64,
    },
    /// A file that has become shorter since it was opened.
    Changed {
        /// The input.
        input: String,
        /// Its size in bytes when it was opened.
        before: u64,
        /// Its size now.
        now: u64,
    },
    /// A line with too few tab-separated columns.
    Column {
        /// The input.
        input: String,
        /// The line, counted from 1.
        line: u64,
        /// The column asked for, counted from 1.
        column: usize,
        /// The number of columns found.
        found: usize,
    },
    /// A run that is asked for more while it is being read.
    Busy,
    /// Anything else, in words.
    Input(String),
    /// The caller's own reason to stop: an exception, an interrupt.
    Stopped(Box<dyn std::any::Any + Send>),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths(inputs) if inputs.first().is_some_and(|(_, count)| *count == 0) => {
                let name = inputs.first().map_or("hypotheses", |(name, _)| name);
                write!(out, "{name}: no segments at all; there is nothing to score")
            }
            Self::Lengths(inputs) => {
                write!(out, "the inputs have different numbers of segments: ")?;
                for (i, (name, count)) in inputs.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(out, "{comma}{name} {count}")?;
                }
                let shortest = inputs.iter().map(|(_, count)| count).min().unwrap_or(&0);
                write!(out, "; segment {} has no counterpart", shortest + 1)
            }
            Self::Utf8 { input, segment, offset, byte } => {
                write!(out, "{input}, line {segment}: byte 0x{byte:02x}")?;
                if let Some(offset) = offset {
                    write!(out, " at offset {offset}")?;
                }
                write!(
                    out,
                    " is not UTF-8; if the text is in another encoding, name it \
                     (--encoding on the command line, File(path, encoding=...) in Python)"
                )
            }
            Self::MissingHypothesis { input, segment } => write!(
                out,
                "{input}: segment {segment} is missing (None); every segment needs a hypothesis, \
                 an empty string if the system gave nothing"
            ),
            Self::MissingText { input, segment } => write!(
                out,
                "{input}: segment {segment} is missing (None); every text must be there, an empty \
                 string where there is nothing"
            ),
            Self::NoReference { segment } => write!(
                out,
                "references: segment {segment} has none (all are missing); every segment needs at \
                 least one reference, so leave the segment out or give it one"
            ),
            Self::TooLong { input, segment, bytes } => {
                write!(out, "{input}")?;
                if let Some(segment) = segment {
                    write!(out, ", segment {segment}")?;
                }
                write!(out, ": {bytes} bytes in one piece; a segment can have at most 2 GiB")
            }
            Self::Changed { input, before, now } => write!(
                out,
                "{input} changed while it was read: it had {before} bytes, now {now}; score it \
                 when nothing writes to it any more"
            ),
            Self::Busy => out.write_str(
                "the run is being read already; what it calls, and other threads, cannot read on \
                 in it",
            ),
            Self::Column { input, line, column, found } => write!(
                out,
                "{input}, line {line}: column {column} asked for, but the line has {found} \
                 tab-separated column{}",
                if *found == 1 { "" } else { "s" }
            ),
            Self::Input(message) => out.write_str(message),
            Self::Stopped(_) => out.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}
