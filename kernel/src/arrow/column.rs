//! A column of text as a source of segments.

use super::check::Layout;
use super::interface::{ArrayChunks, ArrowArray, ArrowInput};
use super::text::{list_range, read_string};
use crate::error::Error;
use crate::text_batches::{Batch, BatchSize, Block, BorrowedSegment, Source, check_text_size};
use std::sync::Arc;

/// A column of text, read in chunks.
pub struct TextColumn {
    name: String,
    layout: Layout,
    chunks: ArrayChunks,
    chunk: Option<Arc<ArrowArray>>,
    position: usize,
    /// Whether missing entries are an error, as in a column of hypotheses.
    is_required: bool,
    returned_segments: u64,
}

impl TextColumn {
    /// Create a source from a column.
    pub fn new(name: String, is_required: bool, input: ArrowInput) -> Result<Self, Error> {
        let (chunks, schema) = ArrayChunks::new(name.clone(), input)?;
        schema.check(&name)?;
        let layout = Layout::of_texts(&schema, &name)?;
        Ok(Self {
            name,
            layout,
            chunks,
            chunk: None,
            position: 0,
            is_required,
            returned_segments: 0,
        })
    }

    /// Return the current chunk, or `None` at the end.
    fn current_chunk(&mut self) -> Result<Option<Arc<ArrowArray>>, Error> {
        if let Some(chunk) = &self.chunk
            && self.position < chunk.length as usize
        {
            return Ok(Some(Arc::clone(chunk)));
        }
        self.position = 0;
        self.chunk = self.chunks.next_chunk()?;
        if let Some(chunk) = &self.chunk {
            // SAFETY: the interface guarantees that the pointers of an array refer to valid memory.
            unsafe { self.layout.check_array(chunk, &self.name)? };
        }
        Ok(self.chunk.clone())
    }
}

impl Source for TextColumn {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        let (max_segments, max_bytes) = size.limits();
        let mut streams: Vec<Vec<Option<BorrowedSegment>>> = vec![Vec::new()];
        let mut used_chunks = Vec::new();
        let (mut count, mut bytes) = (0, 0);
        while count < max_segments && (count == 0 || bytes < max_bytes) {
            let Some(chunk) = self.current_chunk()? else { break };
            while count < max_segments
                && (count == 0 || bytes < max_bytes)
                && self.position < chunk.length as usize
            {
                let mut push_text = |stream: usize, text: Option<&[u8]>| {
                    if streams.len() <= stream {
                        streams.resize(stream + 1, vec![None; count]);
                    }
                    bytes += text.map_or(0, <[u8]>::len);
                    // SAFETY: the batch owns the chunk.
                    streams[stream].push(text.map(|text| unsafe { BorrowedSegment::new(text) }));
                };
                // SAFETY: the array has this type by its schema, was checked, and has this entry.
                unsafe {
                    match self.layout.items() {
                        Some(item_type) => {
                            let child = &**chunk.children;
                            let range = list_range(&chunk, &self.layout, self.position);
                            for (stream, i) in range.enumerate() {
                                push_text(stream, read_string(child, item_type, i));
                            }
                        }
                        None => push_text(0, read_string(&chunk, &self.layout, self.position)),
                    }
                }
                count += 1;
                for stream in &mut streams {
                    stream.resize(count, None);
                }
                if self.is_required && streams[0][count - 1].is_none() {
                    let segment = self.returned_segments + count as u64;
                    return Err(Error::MissingHypothesis { input: self.name.clone(), segment });
                }
                self.position += 1;
            }
            used_chunks.push(chunk);
        }
        if count == 0 {
            return Ok(None);
        }
        check_text_size(&self.name, bytes)?;
        if self.is_required && self.layout.items().is_some() {
            return Err(Error::Input(format!(
                "{}: expected one string per segment, found a column of lists",
                self.name
            )));
        }
        self.returned_segments += count as u64;
        let owner: Arc<dyn std::any::Any + Send + Sync> = Arc::new(used_chunks);
        let block = |segments| Block::Segments {
            segments,
            is_utf8: false,
            owner: Some(Arc::clone(&owner)),
        };
        Ok(Some(Batch { count, streams: streams.into_iter().map(block).collect() }))
    }
}
