//! Columns of texts that the page holds, read by the kernel from where they lie.

use super::Done;
use crate::error::Error;
use crate::text_batches::{self, Batch, Block, Foreign, MOST_SEGMENTS, Want, check_size};
use std::sync::Arc;

/// In the place of a length: there is no such text.
const MISSING: u32 = u32::MAX;

/// Texts one behind the other.
pub struct Texts {
    bytes: Vec<u8>,
    /// Where each starts, and where the last ends.
    starts: Vec<usize>,
    missing: Vec<bool>,
}

impl Texts {
    /// `bytes` are the lengths of so many texts, then the texts.
    pub fn new(bytes: Vec<u8>, count: usize) -> Done<Self> {
        let lengths = count.checked_mul(4).and_then(|end| bytes.get(..end));
        let lengths = lengths.ok_or_else(|| format!("no room for {count} lengths"))?;
        let (mut starts, mut missing) = (vec![4 * count], Vec::with_capacity(count));
        let mut at = 4 * count;
        for length in lengths.as_chunks::<4>().0 {
            let length = u32::from_le_bytes(*length);
            missing.push(length == MISSING);
            at += if length == MISSING { 0 } else { length as usize };
            starts.push(at);
        }
        if at != bytes.len() {
            return Err(format!("{} bytes, and {at} by the lengths", bytes.len()));
        }
        Ok(Self { bytes, starts, missing })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.missing.len()
    }

    fn text(&self, i: usize) -> Option<&[u8]> {
        (!self.missing[i]).then(|| &self.bytes[self.starts[i]..self.starts[i + 1]])
    }
}

/// Some texts of a column, from one to another, as a source.
pub struct Part {
    texts: Arc<Texts>,
    next: usize,
    last: usize,
}

impl Part {
    /// The texts from `first` to `last`, which is left out.
    pub fn new(texts: Arc<Texts>, first: usize, last: usize) -> Done<Self> {
        if first > last || last > texts.missing.len() {
            return Err(format!("no texts {first} to {last}"));
        }
        Ok(Self { texts, next: first, last })
    }
}

impl text_batches::Source for Part {
    fn name(&self) -> &str {
        "texts"
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        let (most, most_bytes) = match want {
            Want::Segments(segments) => (segments, usize::MAX),
            Want::Bytes(bytes) => (MOST_SEGMENTS, bytes),
        };
        let mut segments = Vec::new();
        let mut bytes = 0;
        while self.next < self.last
            && segments.len() < most
            && (segments.is_empty() || bytes < most_bytes)
        {
            let text = self.texts.text(self.next);
            bytes += text.map_or(0, <[u8]>::len);
            // SAFETY: the block keeps the texts, which nothing changes.
            segments.push(text.map(|text| unsafe { Foreign::new(text) }));
            self.next += 1;
        }
        check_size("texts", bytes)?;
        let count = segments.len();
        let keep = Arc::clone(&self.texts);
        // They come from Python, which made them UTF-8, or from a browser's own encoder.
        let block = Block::Segments { segments, trusted: true, keep: Some(keep) };
        Ok((count > 0).then_some(Batch { count, streams: vec![block] }))
    }
}
