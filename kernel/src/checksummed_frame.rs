//! The frame that integers are kept and sent in: what they are, the integers, and a checksum.
//!
//! It is a line with the format's name and version; a line of JSON, the header; zero bytes up to a
//! multiple of 64, so that a program can map the integers; the content; and, in the last 8 bytes,
//! the XXH3 checksum (64 bits, little-endian) of all bytes before. It needs no library but that of
//! the checksum, and nothing in it can run.

use crate::error::Error;
use xxhash_rust::xxh3::xxh3_64;

/// What the content's place in the frame is a multiple of.
const ALIGNMENT: usize = 64;

/// The bytes of the checksum.
const CHECKSUM: usize = 8;

/// The checksum of a frame's other bytes, as it stands behind them.
pub fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    xxh3_64(bytes).to_le_bytes()
}

/// A kind of frame.
pub struct Format {
    /// The word behind "truebleu" in the first line.
    pub name: &'static str,
    /// The version in the first line: the only one that is read.
    pub version: u32,
    /// Who writes it, for messages.
    pub writer: &'static str,
}

/// Tables of statistics.
pub const STATISTICS: Format = Format { name: "statistics", version: 2, writer: "Statistics.save" };

/// Sums of groups.
pub const SUMS: Format = Format { name: "sums", version: 2, writer: "Sums.to_bytes" };

/// What a frame says, and what is in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Sealed<'a> {
    /// The header: one line of JSON, UTF-8.
    pub header: &'a str,
    /// The content.
    pub content: &'a [u8],
}

impl Format {
    /// The first line.
    fn line(&self) -> String {
        format!("truebleu {} {}\n", self.name, self.version)
    }

    /// A frame. The header must be one line.
    pub fn seal(&self, header: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = self.line().into_bytes();
        bytes.reserve(header.len() + 2 * ALIGNMENT + content.len() + CHECKSUM);
        bytes.extend_from_slice(header.as_bytes());
        bytes.push(b'\n');
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes.extend_from_slice(content);
        bytes.extend(checksum(&bytes));
        bytes
    }

    /// What is in a frame; an error if it is not such a frame, whole and as it was made. `name` is
    /// that of the input, for messages.
    pub fn open<'a>(&self, name: &str, bytes: &'a [u8]) -> Result<Sealed<'a>, Error> {
        let Format { name: kind, version, writer } = self;
        let wrong = |why: String| Error::Input(format!("{name}: {why}"));
        let Some(rest) = bytes.strip_prefix(self.line().as_bytes()) else {
            let prefix = format!("truebleu {kind} ");
            let other = bytes.strip_prefix(prefix.as_bytes()).map(|rest| {
                let digits = rest.iter().take(10).take_while(|byte| byte.is_ascii_digit());
                digits.map(|&digit| char::from(digit)).collect::<String>()
            });
            return Err(wrong(match other {
                Some(other) if !other.is_empty() && other != version.to_string() => format!(
                    "version {other} of truebleu's {kind}, and this truebleu reads version \
                     {version}; make it again with {writer}"
                ),
                _ => format!("not what {writer} has written, or its first line is damaged"),
            }));
        };
        let damaged =
            || wrong(format!("was cut or damaged since {writer} wrote it; make it again"));
        let (sealed, found) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(damaged)?;
        if checksum(sealed) != *found {
            return Err(damaged());
        }
        // From here on a frame is as somebody made it, though not as `seal` makes it.
        let rest = &rest[..rest.len() - CHECKSUM.min(rest.len())];
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
        let header = std::str::from_utf8(&rest[..end])
            .map_err(|_| wrong(format!("the header is not UTF-8; make it again with {writer}")))?;
        let start = (bytes.len() - CHECKSUM - rest.len() + end + 1).next_multiple_of(ALIGNMENT);
        let content = sealed.get(start..).ok_or_else(damaged)?;
        Ok(Sealed { header, content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_gives_what_was_put_in() {
        for (header, content) in
            [("{}", &b""[..]), ("{\"a\": \"\u{e9}\"}", b"12345678"), ("", b"\n")]
        {
            let bytes = STATISTICS.seal(header, content);
            assert_eq!(STATISTICS.open("x", &bytes).unwrap(), Sealed { header, content });
            assert_eq!((bytes.len() - 8 - content.len()) % 64, 0);
        }
    }

    #[test]
    fn the_checksum_is_xxh3() {
        // Published vectors, of nothing and of "a", with seed 0.
        assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(xxh3_64(b"a"), 0xe6c6_32b6_1e96_4e1f);
    }

    #[test]
    fn whatever_is_changed_cut_or_added_is_refused() {
        let bytes = SUMS.seal("{\"a\": 1}", &[7; 40]);
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(SUMS.open("x", &other).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(SUMS.open("x", &bytes[..length]).is_err(), "{length} bytes");
        }
        for more in [&b"\0"[..], b"\n", &bytes] {
            assert!(SUMS.open("x", &[&bytes, more].concat()).is_err());
        }
    }

    #[test]
    fn another_kind_or_version_is_named() {
        let told = |bytes: &[u8]| STATISTICS.open("x", bytes).unwrap_err().to_string();
        assert!(told(&SUMS.seal("{}", b"")).starts_with("x: not what Statistics.save has written"));
        assert!(told(b"truebleu statistics 1\n{}").contains("version 1 of truebleu's statistics"));
        assert!(told(b"truebleu statistics 2").contains("first line is damaged"));
    }
}
