//! Input errors, which state the problem, its location, and the remedy.

use std::fmt;

/// The reason why counting failed.
#[derive(Debug)]
pub enum Error {
    /// Inputs of different lengths, as (name, number of segments).
    Lengths(Vec<(String, u64)>),
    /// Invalid UTF-8.
    Utf8 {
        /// The input.
        input: String,
        /// The line number, counted from 1.
        segment: u64,
        /// The offset in the file, if known.
        offset: Option<u64>,
        /// The offending byte.
        byte: u8,
    },
    /// A missing hypothesis.
    MissingHypothesis {
        /// The input.
        input: String,
        /// The segment number, counted from 1.
        segment: u64,
    },
    /// A missing text in an input where every text is required.
    MissingText {
        /// The input.
        input: String,
        /// The number of the text in the input, counted from 1.
        segment: u64,
    },
    /// A segment without any reference.
    NoReference {
        /// The segment number, counted from 1.
        segment: u64,
    },
    /// A segment or input that is too large to process in one piece.
    TooLong {
        /// The input.
        input: String,
        /// The number of the segment at which the limit is exceeded, counted from 1, if known.
        segment: Option<u64>,
        /// The number of bytes.
        bytes: u64,
    },
    /// A file that has become shorter since it was opened.
    Changed {
        /// The input.
        input: String,
        /// The size of the file in bytes when it was opened.
        before: u64,
        /// The current size of the file in bytes.
        now: u64,
    },
    /// A line with too few tab-separated columns.
    Column {
        /// The input.
        input: String,
        /// The line number, counted from 1.
        line: u64,
        /// The number of the requested column, counted from 1.
        column: usize,
        /// The number of columns in the line.
        column_count: usize,
    },
    /// An attempt to read a run that is already being read.
    Busy,
    /// Any other error, described by its message.
    Input(String),
    /// The caller's reason to stop, for example an exception or an interrupt.
    Stopped(Box<dyn std::any::Any + Send>),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths(inputs) if inputs.first().is_some_and(|(_, count)| *count == 0) => {
                let name = inputs.first().map_or("hypotheses", |(name, _)| name);
                write!(out, "{name}: no segments (expected at least one)")
            }
            Self::Lengths(inputs) => {
                write!(out, "the inputs have different numbers of segments: ")?;
                for (i, (name, count)) in inputs.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(out, "{comma}{name} {count}")?;
                }
                let shortest = inputs.iter().map(|(_, count)| count).min().unwrap_or(&0);
                write!(out, "; segment {} is not in every input", shortest + 1)
            }
            Self::Utf8 { input, segment, offset, byte } => {
                write!(out, "{input}, line {segment}: byte 0x{byte:02x}")?;
                if let Some(offset) = offset {
                    write!(out, " at offset {offset}")?;
                }
                write!(
                    out,
                    " is not valid UTF-8. If the text has another encoding, specify it \
                     (--encoding on the command line, File(path, encoding=...) in Python)"
                )
            }
            Self::MissingHypothesis { input, segment } => write!(
                out,
                "{input}: segment {segment} is missing (None). Every segment needs a hypothesis. \
                 Use an empty string if the system produced no output"
            ),
            Self::MissingText { input, segment } => write!(
                out,
                "{input}: segment {segment} is missing (None). Every text is required. Use an \
                 empty string for an empty text"
            ),
            Self::NoReference { segment } => write!(
                out,
                "references: segment {segment} has no reference (all are missing). Every segment needs at \
                 least one reference. Add a reference or remove the segment"
            ),
            Self::TooLong { input, segment, bytes } => {
                write!(out, "{input}")?;
                if let Some(segment) = segment {
                    write!(out, ", segment {segment}")?;
                }
                write!(out, ": {bytes} bytes (expected at most 2 GiB per segment). Split the text")
            }
            Self::Changed { input, before, now } => write!(
                out,
                "{input}: file changed while it was being read (expected {before} bytes, found {now}). \
                 Score it again when no program writes to it"
            ),
            Self::Busy => out.write_str(
                "the run is already being read. Callbacks and other threads cannot read the same run \
                 at the same time",
            ),
            Self::Column { input, line, column, column_count } => write!(
                out,
                "{input}, line {line}: expected at least {column} tab-separated columns, \
                 found {column_count}",
            ),
            Self::Input(message) => out.write_str(message),
            Self::Stopped(_) => out.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}
