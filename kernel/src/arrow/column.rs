//! A column of text as a source of segments.

use super::check::Layout;
use super::interface::{ArrowArray, ArrowArrayStream, ArrowSchema, Chunks};
use super::text::{Kind, list, string};
use crate::error::Error;
use crate::text_batches::{Batch, Block, Foreign, MOST_SEGMENTS, Source, Want, check_size};
use std::sync::Arc;

/// A column of text, read a chunk at a time.
pub struct Column {
    name: String,
    kind: Kind,
    layout: Layout,
    chunks: Chunks,
    chunk: Option<Arc<ArrowArray>>,
    position: usize,
    /// Missing entries are an error: these are hypotheses.
    required: bool,
    given: u64,
}

impl Column {
    /// The column that `stream` brings.
    pub fn from_stream(
        name: String,
        required: bool,
        stream: ArrowArrayStream,
    ) -> Result<Self, Error> {
        let (chunks, schema) = Chunks::from_stream(name.clone(), stream)?;
        Self::new(name, required, &schema, chunks)
    }

    /// The column that `array` is.
    pub fn from_array(
        name: String,
        required: bool,
        schema: &ArrowSchema,
        array: ArrowArray,
    ) -> Result<Self, Error> {
        let chunks = Chunks::from_array(name.clone(), array);
        Self::new(name, required, schema, chunks)
    }

    fn new(
        name: String,
        required: bool,
        schema: &ArrowSchema,
        chunks: Chunks,
    ) -> Result<Self, Error> {
        schema.check(&name)?;
        let kind = Kind::of(schema, &name)?;
        let layout = Layout::of(&kind, None);
        Ok(Self { name, kind, layout, chunks, chunk: None, position: 0, required, given: 0 })
    }

    /// The chunk to read from; `None` at the end.
    fn chunk(&mut self) -> Result<Option<Arc<ArrowArray>>, Error> {
        if let Some(chunk) = &self.chunk
            && self.position < chunk.length as usize
        {
            return Ok(Some(Arc::clone(chunk)));
        }
        self.position = 0;
        self.chunk = self.chunks.next_chunk()?;
        if let Some(chunk) = &self.chunk {
            // SAFETY: the interface promises memory where the pointers of an array lead.
            unsafe { self.layout.check(chunk, &self.name)? };
        }
        Ok(self.chunk.clone())
    }
}

impl Source for Column {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        let (most, most_bytes) = match want {
            Want::Segments(segments) => (segments, usize::MAX),
            Want::Bytes(bytes) => (MOST_SEGMENTS, bytes),
        };
        let mut streams: Vec<Vec<Option<Foreign>>> = vec![Vec::new()];
        let mut keep = Vec::new();
        let (mut count, mut bytes) = (0, 0);
        while count < most && (count == 0 || bytes < most_bytes) {
            let Some(chunk) = self.chunk()? else { break };
            while count < most
                && (count == 0 || bytes < most_bytes)
                && self.position < chunk.length as usize
            {
                let mut put = |stream: usize, text: Option<&[u8]>| {
                    if streams.len() <= stream {
                        streams.resize(stream + 1, vec![None; count]);
                    }
                    bytes += text.map_or(0, <[u8]>::len);
                    // SAFETY: the chunk is kept as long as the batch.
                    streams[stream].push(text.map(|text| unsafe { Foreign::new(text) }));
                };
                // SAFETY: the array is of this kind, by its schema, was checked, and has this entry.
                unsafe {
                    match self.kind.items() {
                        Some(of) => {
                            let child = &**chunk.children;
                            let range = list(&chunk, &self.kind, self.position);
                            for (stream, i) in range.enumerate() {
                                put(stream, string(child, of, i));
                            }
                        }
                        None => put(0, string(&chunk, &self.kind, self.position)),
                    }
                }
                count += 1;
                for stream in &mut streams {
                    stream.resize(count, None);
                }
                if self.required && streams[0][count - 1].is_none() {
                    let segment = self.given + count as u64;
                    return Err(Error::MissingHypothesis { input: self.name.clone(), segment });
                }
                self.position += 1;
            }
            keep.push(chunk);
        }
        if count == 0 {
            return Ok(None);
        }
        check_size(&self.name, bytes)?;
        if self.required && self.kind.items().is_some() {
            return Err(Error::Input(format!(
                "{}: a column of lists; hypotheses are one string a segment",
                self.name
            )));
        }
        self.given += count as u64;
        let keep: Arc<dyn std::any::Any + Send + Sync> = Arc::new(keep);
        let block =
            |segments| Block::Segments { segments, trusted: false, keep: Some(Arc::clone(&keep)) };
        Ok(Some(Batch { count, streams: streams.into_iter().map(block).collect() }))
    }
}
