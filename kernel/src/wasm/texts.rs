//! Columns of texts in the page's memory, which the kernel reads without copying.

use super::TextResult;
use crate::error::Error;
use crate::text_batches::{self, Batch, BatchSize, Block, BorrowedSegment, check_text_size};
use std::sync::Arc;

/// The length that marks a missing text.
const MISSING_LENGTH: u32 = u32::MAX;

/// Concatenated texts.
pub struct TextColumn {
    bytes: Vec<u8>,
    /// The start of each text, and the end of the last text.
    starts: Vec<usize>,
    is_missing: Vec<bool>,
}

impl TextColumn {
    /// Create a column from the lengths of `count` texts, followed by the texts.
    pub fn new(bytes: Vec<u8>, count: usize) -> TextResult<Self> {
        let lengths = count.checked_mul(4).and_then(|end| bytes.get(..end));
        let lengths =
            lengths.ok_or_else(|| format!("the input is too short for {count} lengths"))?;
        let (mut starts, mut missing) = (vec![4 * count], Vec::with_capacity(count));
        let mut position = 4 * count;
        for length in lengths.as_chunks::<4>().0 {
            let length = u32::from_le_bytes(*length);
            missing.push(length == MISSING_LENGTH);
            position += if length == MISSING_LENGTH { 0 } else { length as usize };
            starts.push(position);
        }
        if position != bytes.len() {
            return Err(format!("the lengths require {position} bytes, found {}", bytes.len()));
        }
        Ok(Self { bytes, starts, is_missing: missing })
    }

    /// Return the number of texts.
    pub fn count(&self) -> usize {
        self.is_missing.len()
    }

    /// Return a text, or `None` if it is missing.
    fn text(&self, i: usize) -> Option<&[u8]> {
        (!self.is_missing[i]).then(|| &self.bytes[self.starts[i]..self.starts[i + 1]])
    }
}

/// A source that returns a range of a column's texts.
pub struct TextRange {
    texts: Arc<TextColumn>,
    position: usize,
    last: usize,
}

impl TextRange {
    /// Create a source of the texts from `first` up to but not including `last`.
    pub fn new(texts: Arc<TextColumn>, first: usize, last: usize) -> TextResult<Self> {
        if first > last || last > texts.is_missing.len() {
            return Err(format!("invalid range of texts: {first} to {last}"));
        }
        Ok(Self { texts, position: first, last })
    }
}

impl text_batches::Source for TextRange {
    fn name(&self) -> &str {
        "texts"
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        let (max_segments, max_bytes) = size.limits();
        let mut segments = Vec::new();
        let mut bytes = 0;
        while self.position < self.last
            && segments.len() < max_segments
            && (segments.is_empty() || bytes < max_bytes)
        {
            let text = self.texts.text(self.position);
            bytes += text.map_or(0, <[u8]>::len);
            // SAFETY: the block owns the texts, which do not change.
            segments.push(text.map(|text| unsafe { BorrowedSegment::new(text) }));
            self.position += 1;
        }
        check_text_size("texts", bytes)?;
        let count = segments.len();
        let owner = Arc::clone(&self.texts);
        // The texts are valid UTF-8, because Python or the browser's encoder created them.
        let block = Block::Segments { segments, is_utf8: true, owner: Some(owner) };
        Ok((count > 0).then_some(Batch { count, streams: vec![block] }))
    }
}
