//! Lower-casing exactly as Python's `str.lower()` does it.
//!
//! Python releases differ in the Unicode version they know, so the mapping comes from the running
//! interpreter (see python.rs). Two characters depend on their surroundings or become two
//! characters: final sigma and U+0130. Lines that hold one go through the interpreter itself.

use super::utf8::decode;
use crate::interrupt::Work;
use crate::text_batches::PaddedBuffer;

/// Lower-cases one segment, whatever is in it.
pub type Fallback = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send + Sync>;

/// The lower-case form of every character.
pub struct Lowercase {
    /// For each 256 code points: 0, or one more than the number of their page.
    index: Vec<u8>,
    /// The offsets to add to code points.
    pages: Vec<[i32; 256]>,
    fallback: Fallback,
}

/// Capital sigma, whose lower case depends on what is around it.
const SIGMA: u32 = 0x3A3;
/// Capital I with dot above, whose lower case is two characters.
const DOTTED_I: u32 = 0x130;

impl Lowercase {
    /// A table from (upper, lower) pairs of code points. `fallback` lower-cases the segments that
    /// hold one of the two characters that have no single lower-case form.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32)>, fallback: Fallback) -> Self {
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

    /// A table that only lower-cases A to Z.
    pub fn ascii() -> Self {
        let fallback = |segment: &[u8], out: &mut Vec<u8>| {
            out.extend(segment.iter().map(u8::to_ascii_lowercase));
        };
        Self::new([], Box::new(fallback))
    }

    fn lower(&self, point: u32) -> u32 {
        match self.index.get((point >> 8) as usize) {
            None | Some(0) => point,
            Some(&page) => {
                let difference = self.pages[usize::from(page) - 1][(point & 255) as usize];
                point.wrapping_add_signed(difference)
            }
        }
    }

    /// Appends the lower-case form of `text` to `out`. Newlines separate segments.
    pub fn append(&self, text: &[u8], out: &mut PaddedBuffer) {
        let out = out.raw();
        let begin = out.len();
        out.reserve(text.len() + 8);
        let mut work = Work::default();
        let mut at = 0;
        while at < text.len() {
            let plain = ascii_prefix(&text[at..text.len().min(at + (1 << 20))]);
            work.done(plain / 4);
            let from = out.len();
            out.extend_from_slice(&text[at..at + plain]);
            out[from..].make_ascii_lowercase();
            at += plain;
            while at < text.len() && text[at] >= 0x80 {
                work.done(4);
                let (point, width) = decode(&text[at..]);
                match point {
                    Some(SIGMA | DOTTED_I) => {
                        // Take the line back and let the interpreter do it.
                        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |i| i + 1);
                        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |i| at + i);
                        let kept = memchr::memrchr(b'\n', &out[begin..]).map_or(0, |i| i + 1);
                        out.truncate(begin + kept);
                        (self.fallback)(&text[start..end], out);
                        at = end;
                        break;
                    }
                    Some(point) => {
                        let lower = self.lower(point);
                        if lower == point {
                            out.extend_from_slice(&text[at..at + width]);
                        } else if let Some(lower) = char::from_u32(lower) {
                            let mut bytes = [0; 4];
                            out.extend_from_slice(lower.encode_utf8(&mut bytes).as_bytes());
                        }
                    }
                    None => out.extend_from_slice(&text[at..at + width]),
                }
                at += width;
            }
        }
    }
}

/// The length of the ASCII prefix of `text`.
fn ascii_prefix(text: &[u8]) -> usize {
    let chunks = text.chunks_exact(16);
    let whole = chunks.take_while(|chunk| chunk.is_ascii()).count() * 16;
    whole + text[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust() -> Lowercase {
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
        fn lower_casing_line_by_line_is_lower_casing(
            text in "([ -~]|[\u{c0}-\u{24f}]|[\u{370}-\u{3ff}]|Σ|İ|\u{307}|\n|\\PC){0,80}"
        ) {
            let mut out = PaddedBuffer::default();
            rust().append(text.as_bytes(), &mut out);
            out.finish();
            let lines: Vec<_> = text.split('\n').map(str::to_lowercase).collect();
            let expected = lines.join("\n");
            proptest::prop_assert_eq!(out.padded().bytes(), expected.as_bytes());
        }
    }
}
