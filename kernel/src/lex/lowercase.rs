//! Lowercasing identical to Python's `str.lower()`.
//!
//! Python releases use different Unicode versions, so the mapping comes from the running
//! interpreter (see python.rs). Two characters have no single lowercase form: capital sigma, whose
//! lowercase form depends on the context, and U+0130, which becomes two characters. The interpreter
//! itself lowercases lines that contain one of these.

use super::utf8::decode_char;
use crate::interrupt::Work;
use crate::text_batches::PaddedBuffer;

/// A function that lowercases any segment.
pub type LowercaseFallback = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send + Sync>;

/// The lowercase mapping of every character.
pub struct Lowercase {
    /// For each block of 256 code points: 0, or the index of its page plus one.
    index: Vec<u8>,
    /// The offsets to be added to code points.
    pages: Vec<[i32; 256]>,
    fallback: LowercaseFallback,
}

/// Capital sigma, whose lowercase form depends on the context.
const SIGMA: u32 = 0x3A3;
/// Capital I with dot above, whose lowercase form has two characters.
const DOTTED_I: u32 = 0x130;

impl Lowercase {
    /// Create a mapping from (upper, lower) pairs of code points. `fallback` lowercases segments
    /// that contain one of the two characters without a single lowercase form.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32)>, fallback: LowercaseFallback) -> Self {
        let mut table = Self { index: vec![0; 0x1100], pages: Vec::new(), fallback };
        for (upper, lower) in pairs {
            let Some(entry) = table.index.get_mut((upper >> 8) as usize) else {
                continue;
            };
            if *entry == 0 {
                table.pages.push([0; 256]);
                *entry = table.pages.len() as u8;
            }
            table.pages[usize::from(*entry) - 1][(upper & 255) as usize] =
                lower as i32 - upper as i32;
        }
        table
    }

    /// Create a mapping that lowercases only A to Z.
    pub fn ascii() -> Self {
        let fallback = |segment: &[u8], out: &mut Vec<u8>| {
            out.extend(segment.iter().map(u8::to_ascii_lowercase));
        };
        Self::new([], Box::new(fallback))
    }

    /// Return the lowercase form of a code point.
    fn lower_point(&self, point: u32) -> u32 {
        match self.index.get((point >> 8) as usize) {
            None | Some(0) => point,
            Some(&page) => {
                let difference = self.pages[usize::from(page) - 1][(point & 255) as usize];
                point.wrapping_add_signed(difference)
            }
        }
    }

    /// Append the lowercase form of `text` to `out`. Newlines separate segments.
    pub fn append(&self, text: &[u8], out: &mut PaddedBuffer) {
        let out = out.buffer_mut();
        let out_start = out.len();
        out.reserve(text.len() + 8);
        let mut work = Work::default();
        let mut position = 0;
        while position < text.len() {
            let ascii_length = ascii_prefix(&text[position..text.len().min(position + (1 << 20))]);
            work.add(ascii_length / 4);
            let copied_start = out.len();
            out.extend_from_slice(&text[position..position + ascii_length]);
            out[copied_start..].make_ascii_lowercase();
            position += ascii_length;
            while position < text.len() && text[position] >= 0x80 {
                work.add(4);
                let (point, width) = decode_char(&text[position..]);
                match point {
                    Some(SIGMA | DOTTED_I) => {
                        // Discard the output of this line, and lowercase the line with the
                        // fallback.
                        let start = memchr::memrchr(b'\n', &text[..position]).map_or(0, |i| i + 1);
                        let end = memchr::memchr(b'\n', &text[position..])
                            .map_or(text.len(), |i| position + i);
                        let line_offset =
                            memchr::memrchr(b'\n', &out[out_start..]).map_or(0, |i| i + 1);
                        out.truncate(out_start + line_offset);
                        (self.fallback)(&text[start..end], out);
                        position = end;
                        break;
                    }
                    Some(point) => {
                        let lower = self.lower_point(point);
                        if lower == point {
                            out.extend_from_slice(&text[position..position + width]);
                        } else if let Some(lower) = char::from_u32(lower) {
                            let mut bytes = [0; 4];
                            out.extend_from_slice(lower.encode_utf8(&mut bytes).as_bytes());
                        }
                    }
                    None => out.extend_from_slice(&text[position..position + width]),
                }
                position += width;
            }
        }
    }
}

/// Return the length of the ASCII prefix of `text`.
fn ascii_prefix(text: &[u8]) -> usize {
    let chunks = text.chunks_exact(16);
    let chunked_length = chunks.take_while(|chunk| chunk.is_ascii()).count() * 16;
    chunked_length + text[chunked_length..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Create a mapping from Rust's lowercase forms.
    fn rust_mapping() -> Lowercase {
        let pairs = (0x80..0x20000).filter_map(char::from_u32).filter_map(|upper| {
            let mut lower = upper.to_lowercase();
            let first = lower.next()?;
            (lower.len() == 0 && first != upper).then_some((upper as u32, first as u32))
        });
        Lowercase::new(
            pairs,
            Box::new(|text, out| {
                out.extend(String::from_utf8_lossy(text).to_lowercase().as_bytes());
            }),
        )
    }

    proptest::proptest! {
        #[test]
        fn test_append_matches_rust_per_line(
            text in "([ -~]|[\u{c0}-\u{24f}]|[\u{370}-\u{3ff}]|Σ|İ|\u{307}|\n|\\PC){0,80}"
        ) {
            let mut out = PaddedBuffer::default();
            rust_mapping().append(text.as_bytes(), &mut out);
            out.finish();
            let lines: Vec<_> = text.split('\n').map(str::to_lowercase).collect();
            let expected = lines.join("\n");
            proptest::prop_assert_eq!(out.padded().bytes(), expected.as_bytes());
        }
    }
}
