//! A file format that stores integers with a description and a checksum.
//!
//! A frame consists of a line with the format's name and version; a one-line JSON header; zero
//! bytes up to a multiple of 64, so that the integers can be memory-mapped; the content; and the
//! XXH3 checksum of all preceding bytes (64 bits, little-endian). Reading a frame requires only a
//! checksum library, and no content is executed.

use crate::error::Error;
use xxhash_rust::xxh3::xxh3_64;

/// The offset of the content is a multiple of this number of bytes.
const ALIGNMENT: usize = 64;

/// Size of the checksum in bytes.
const CHECKSUM_BYTES: usize = 8;

/// Return the checksum of all preceding bytes of a frame, in the stored byte order.
pub fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    xxh3_64(bytes).to_le_bytes()
}

/// A kind of frame, identified by its first line.
pub struct Format {
    /// The word after "truebleu" in the first line.
    pub name: &'static str,
    /// The version in the first line. Other versions cannot be read.
    pub version: u32,
    /// The name of the function that writes these frames, for use in messages.
    pub writer: &'static str,
}

/// The frame kind for tables of statistics.
pub const STATISTICS: Format = Format { name: "statistics", version: 2, writer: "Statistics.save" };

/// The frame kind for sums per group.
pub const SUMS: Format = Format { name: "sums", version: 2, writer: "Sums.to_bytes" };

/// The parts of a frame.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameParts<'a> {
    /// The header: one line of JSON in UTF-8.
    pub header: &'a str,
    /// The content.
    pub content: &'a [u8],
}

impl Format {
    /// Return the first line of a frame.
    fn first_line(&self) -> String {
        format!("truebleu {} {}\n", self.name, self.version)
    }

    /// Create a frame. The header must be a single line.
    pub fn seal(&self, header: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = self.first_line().into_bytes();
        bytes.reserve(header.len() + 2 * ALIGNMENT + content.len() + CHECKSUM_BYTES);
        bytes.extend_from_slice(header.as_bytes());
        bytes.push(b'\n');
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes.extend_from_slice(content);
        bytes.extend(checksum(&bytes));
        bytes
    }

    /// Return the parts of a frame, or an error if the frame is invalid, incomplete or corrupt.
    /// Messages refer to the input by `name`.
    pub fn open<'a>(&self, name: &str, bytes: &'a [u8]) -> Result<FrameParts<'a>, Error> {
        let Format { name: kind, version, writer } = self;
        let input_error = |problem: String| Error::Input(format!("{name}: {problem}"));
        let Some(after_first_line) = bytes.strip_prefix(self.first_line().as_bytes()) else {
            let prefix = format!("truebleu {kind} ");
            let found_version = bytes.strip_prefix(prefix.as_bytes()).map(|version| {
                let digits = version.iter().take(10).take_while(|byte| byte.is_ascii_digit());
                digits.map(|&digit| char::from(digit)).collect::<String>()
            });
            return Err(input_error(match found_version {
                Some(found) if !found.is_empty() && found != version.to_string() => format!(
                    "unsupported version {found} of truebleu {kind} (expected \
                     {version}). Write it again with {writer}"
                ),
                _ => format!("the data was not written by {writer}, or its first line is corrupt"),
            }));
        };
        let corrupt = || {
            input_error(format!(
                "the data was truncated or corrupted after {writer} wrote it. Write it again"
            ))
        };
        let (sealed, stored_checksum) =
            bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or_else(corrupt)?;
        if checksum(sealed) != *stored_checksum {
            return Err(corrupt());
        }
        // A valid checksum does not prove that `seal` wrote the frame.
        let body = &after_first_line
            [..after_first_line.len() - CHECKSUM_BYTES.min(after_first_line.len())];
        let end = body.iter().position(|&byte| byte == b'\n').ok_or_else(corrupt)?;
        let header = std::str::from_utf8(&body[..end]).map_err(|_| {
            input_error(format!("the header is not UTF-8. Write it again with {writer}"))
        })?;
        let start =
            (bytes.len() - CHECKSUM_BYTES - body.len() + end + 1).next_multiple_of(ALIGNMENT);
        let content = sealed.get(start..).ok_or_else(corrupt)?;
        Ok(FrameParts { header, content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_checksum_is_xxh3() {
        // Published test vectors for the empty input and "a", with seed 0.
        assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(xxh3_64(b"a"), 0xe6c6_32b6_1e96_4e1f);
    }
}
