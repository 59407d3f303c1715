//! Sources of segments, from which the kernel reads batches of bytes.
//!
//! A [`Source`] returns its segments in batches, so that memory use does not depend on the input
//! length. Files, pipes and decompressors are read in chunks that batches share.

use crate::error::Error;
use crate::interrupt;
use std::any::Any;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// Number of readable bytes before and after [`Padded`] text, so that blocks of 64 bytes and keys
/// of 8 bytes can be read at the edges of the text.
pub const MARGIN: usize = 96;

/// Bytes with at least [`MARGIN`] readable bytes before and after them.
#[derive(Clone, Copy)]
pub struct Padded<'a> {
    memory: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Padded<'a> {
    /// Return the bytes `range` of `memory`, or `None` if `memory` has too few bytes around them.
    pub fn within(memory: &'a [u8], range: Range<usize>) -> Option<Self> {
        let fits = range.start >= MARGIN
            && range.start <= range.end
            && range.end.checked_add(MARGIN)? <= memory.len();
        fits.then_some(Self { memory, start: range.start, end: range.end })
    }

    /// Return the text.
    pub fn bytes(self) -> &'a [u8] {
        &self.memory[self.start..self.end]
    }

    /// Return the 64 bytes from a position in the text. They may extend past the text.
    pub fn block(self, position: usize) -> &'a [u8; 64] {
        let memory = &self.memory[self.start + position..];
        memory.first_chunk().unwrap_or_else(|| unreachable!("the margin is wider than a block"))
    }

    /// Return a pointer to the start of the text. [`MARGIN`] bytes are readable before and after
    /// the text.
    pub fn pointer(self) -> *const u8 {
        // Derive the pointer from the whole memory, because reads go past both ends of the text.
        self.memory.as_ptr().wrapping_add(self.start)
    }
}

/// A growable text that keeps the margins of [`Padded`].
#[derive(Default)]
pub struct PaddedBuffer {
    bytes: Vec<u8>,
}

impl PaddedBuffer {
    /// Remove the text and keep the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(MARGIN, 0);
    }

    /// Return the buffer for appending. Its first [`MARGIN`] bytes are not text.
    pub fn buffer_mut(&mut self) -> &mut Vec<u8> {
        if self.bytes.len() < MARGIN {
            self.bytes.resize(MARGIN, 0);
        }
        &mut self.bytes
    }

    /// Return the number of bytes of text.
    pub fn len(&self) -> usize {
        self.bytes.len().saturating_sub(MARGIN)
    }

    /// Return the size of the buffer's memory in bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Return whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the text, which is only complete after [`PaddedBuffer::finish`].
    pub fn padded(&self) -> Padded<'_> {
        Padded { memory: &self.bytes, start: MARGIN, end: self.bytes.len() - MARGIN }
    }

    /// Append the margin after the text.
    pub fn finish(&mut self) {
        let end = self.buffer_mut().len() + MARGIN;
        self.bytes.resize(end, 0);
    }
}

/// One segment in another program's memory, kept alive by the batch's owner.
#[derive(Clone, Copy)]
pub struct BorrowedSegment {
    pointer: *const u8,
    length: usize,
}

// SAFETY: nothing writes to the bytes during the lifetime of a batch that refers to them.
unsafe impl Send for BorrowedSegment {}
// SAFETY: as above.
unsafe impl Sync for BorrowedSegment {}

impl BorrowedSegment {
    /// Create a reference to `bytes` that can outlive their borrow.
    ///
    /// # Safety
    /// The bytes must outlive the batch and stay unchanged: the block's `owner` or the source must
    /// own them.
    pub unsafe fn new(bytes: &[u8]) -> Self {
        Self { pointer: bytes.as_ptr(), length: bytes.len() }
    }

    /// Return the bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the caller of `new` guaranteed that the bytes are alive.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }
}

/// Memory that contains newline-terminated text.
pub enum Lines {
    /// A range of a chunk that a [`Stream`] read.
    Shared(Arc<Chunk>, Range<usize>),
    /// A separate buffer.
    Owned(PaddedBuffer),
}

impl Lines {
    /// Return the text, whose last byte is a newline.
    pub fn padded(&self) -> Padded<'_> {
        match self {
            // A chunk has margins around all bytes read into it.
            Self::Shared(piece, range) => {
                Padded { memory: &piece.bytes, start: range.start, end: range.end }
            }
            Self::Owned(buffer) => buffer.padded(),
        }
    }
}

/// The text of one stream of a batch: the hypotheses, or one of the references.
pub enum Block {
    /// Lines of a file, which may not be valid UTF-8.
    Lines {
        /// The newline-terminated text.
        lines: Lines,
        /// The offset of the text in its file, for error messages; `None` if the text is a column
        /// of a table.
        offset: Option<u64>,
    },
    /// Segments in memory, where `None` is a missing reference.
    Segments {
        /// One entry per segment.
        segments: Vec<Option<BorrowedSegment>>,
        /// Whether the segments are known to be UTF-8 (with surrogates, as Python allows).
        is_utf8: bool,
        /// The owner of the bytes.
        owner: Option<Arc<dyn Any + Send + Sync>>,
    },
    /// Tokenized segments.
    Tokens(TokenBlock),
}

impl Block {
    /// Return the number of bytes of the text, or of all segments or tokens.
    pub fn byte_count(&self) -> usize {
        match self {
            Self::Lines { lines, .. } => lines.padded().bytes().len(),
            Self::Segments { segments, .. } => {
                segments.iter().flatten().map(|text| text.bytes().len()).sum()
            }
            Self::Tokens(tokens) => tokens.text.len(),
        }
    }
}

/// Tokenized segments.
#[derive(Default)]
pub struct TokenBlock {
    /// All tokens, concatenated.
    pub text: PaddedBuffer,
    /// The end of each token in `text`.
    pub token_ends: Vec<u32>,
    /// The end of each segment, in tokens.
    pub segment_ends: Vec<u32>,
    /// The indices of missing segments.
    pub missing_segments: Vec<u32>,
    /// Whether a token may be other than a token id below 2^24, which has four bytes from `@` on.
    pub has_other_tokens: bool,
}

/// A batch of tokenized segments in preparation.
pub struct TokenBatch {
    blocks: Vec<TokenBlock>,
    count: usize,
}

impl TokenBatch {
    /// Return the next batch, of at most about `max_bytes` bytes of text. `append` appends the texts
    /// of the next segment to the blocks of the batch, or returns false at the end.
    pub fn read(
        name: &str,
        (max_segments, max_bytes): (usize, usize),
        mut append: impl FnMut(&mut Self) -> Result<bool, Error>,
    ) -> Result<Option<Batch>, Error> {
        let mut batch = Self { blocks: vec![TokenBlock::default()], count: 0 };
        while batch.count < max_segments
            && (batch.count == 0 || batch.blocks[0].text.len() < max_bytes)
            && append(&mut batch)?
        {
            for block in &mut batch.blocks {
                if block.segment_ends.len() == batch.count {
                    block.missing_segments.push(batch.count as u32);
                    block.segment_ends.push(block.token_ends.len() as u32);
                }
                check_text_size(name, block.text.len())?;
            }
            batch.count += 1;
        }
        let finish = |mut block: TokenBlock| {
            block.text.finish();
            Block::Tokens(block)
        };
        let streams = batch.blocks.into_iter().map(finish).collect();
        Ok((batch.count > 0).then_some(Batch { count: batch.count, streams }))
    }

    /// Append a text to the current segment: `append` appends its tokens to a block.
    pub fn push_text<T>(&mut self, text: usize, append: impl FnOnce(&mut TokenBlock) -> T) -> T {
        // Missing texts of the segment are not appended, so several blocks may be new.
        while self.blocks.len() <= text {
            self.blocks.push(TokenBlock {
                segment_ends: vec![0; self.count],
                missing_segments: (0..self.count as u32).collect(),
                ..TokenBlock::default()
            });
        }
        let block = &mut self.blocks[text];
        let result = append(block);
        block.segment_ends.push(block.token_ends.len() as u32);
        result
    }
}

/// One range of segments from one or more streams.
pub struct Batch {
    /// The number of segments per stream.
    pub count: usize,
    /// The streams. A source of references may return a different number of streams in each batch.
    pub streams: Vec<Block>,
}

/// The size of the next batch.
#[derive(Clone, Copy)]
pub enum BatchSize {
    /// At least one complete segment, up to about this many bytes in total.
    Bytes(usize),
    /// Exactly this many segments, or all remaining segments if there are fewer.
    Segments(usize),
}

impl BatchSize {
    /// Return the maximum number of segments, and the maximum number of bytes, of a batch.
    pub fn limits(self) -> (usize, usize) {
        match self {
            Self::Segments(segments) => (segments, usize::MAX),
            Self::Bytes(bytes) => (MAX_BATCH_SEGMENTS, bytes),
        }
    }
}

/// Maximum number of segments in a batch.
pub const MAX_BATCH_SEGMENTS: usize = 4096;

/// A stream of segments, or of several references per segment.
pub trait Source: Send {
    /// Return the name for messages, such as `hypotheses` or `reference 2 (FILE)`.
    fn name(&self) -> &str;

    /// Return the next segments, or `None` at the end.
    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error>;

    /// Return whether `next` may wait for another process or thread, such as a pipe or a
    /// decompressor.
    fn may_wait(&self) -> bool {
        false
    }
}

/// Maximum number of bytes in a batch. Positions are 32-bit integers, and lowercasing may lengthen
/// a text.
const MAX_BATCH_BYTES: usize = if cfg!(test) { 1 << 24 } else { 1 << 31 };

/// Return an error if a text of `length` bytes is too large for a batch.
pub fn check_text_size(name: &str, length: usize) -> Result<(), Error> {
    if length <= MAX_BATCH_BYTES {
        Ok(())
    } else {
        Err(Error::TooLong { input: name.to_owned(), segment: None, bytes: length as u64 })
    }
}

/// An incremental search for the last line end of a batch.
#[derive(Default)]
struct LineSearch {
    /// The number of lines so far.
    lines: usize,
    /// The end of the last line, after its newline.
    lines_end: usize,
    /// The number of bytes searched so far.
    searched: usize,
    /// The number of bytes read by searches, for tests.
    #[cfg(test)]
    read_bytes: usize,
}

impl LineSearch {
    /// Continue the search in `text`, which starts with the bytes already searched. Return whether
    /// the batch is full.
    fn advance(&mut self, text: &[u8], size: BatchSize) -> bool {
        const CHUNK: usize = 4096;
        let (max_lines, bytes) = size.limits();
        while self.lines < max_lines && self.searched < text.len() {
            if self.searched >= bytes && self.lines > 0 {
                return true;
            }
            // Once a line is longer than the requested size, search only for its end.
            let (max_lines, chunk) = match bytes.checked_sub(self.searched) {
                Some(remaining @ 1..) => (max_lines, remaining.min(CHUNK)),
                _ => (1, CHUNK),
            };
            let chunk = &text[self.searched..][..chunk.min(text.len() - self.searched)];
            #[cfg(test)]
            {
                self.read_bytes += chunk.len();
            }
            let line_count = memchr::memchr_iter(b'\n', chunk).count();
            if self.lines + line_count >= max_lines {
                let last = memchr::memchr_iter(b'\n', chunk).nth(max_lines - self.lines - 1);
                self.lines = max_lines;
                self.lines_end = self.searched + last.map_or(0, |offset| offset + 1);
                self.searched = self.lines_end;
                return true;
            }
            if let Some(last) = memchr::memrchr(b'\n', chunk) {
                self.lines += line_count;
                self.lines_end = self.searched + last + 1;
            }
            self.searched += chunk.len();
        }
        self.lines >= max_lines
    }
}

/// A chunk of bytes that batches share, with a [`MARGIN`] before and after it.
pub struct Chunk {
    /// All bytes are initialized, so that they can be read into without zeroing them first.
    bytes: Vec<u8>,
    /// The end of the bytes read so far.
    end: usize,
}

impl Chunk {
    /// Default size of a chunk in bytes.
    const SIZE: usize = 1 << 18;

    /// Create an empty chunk of `size` bytes.
    fn new(size: usize) -> Self {
        Self { bytes: vec![0; MARGIN + size + MARGIN], end: MARGIN }
    }

    /// Return the capacity in bytes.
    fn size(&self) -> usize {
        self.bytes.len() - 2 * MARGIN
    }

    /// Return the unused bytes. Call [`Chunk::commit`] with the number of bytes written to them.
    pub fn spare_mut(&mut self) -> &mut [u8] {
        let last = self.bytes.len() - MARGIN;
        &mut self.bytes[self.end..last]
    }

    /// Record that `count` bytes have been written to [`Chunk::spare_mut`].
    pub fn commit(&mut self, count: usize) {
        self.end += count.min(self.bytes.len() - MARGIN - self.end);
    }

    /// Append bytes, enlarging the chunk if they do not fit.
    pub fn append(&mut self, bytes: &[u8]) {
        let end = self.end + bytes.len();
        if end + MARGIN > self.bytes.len() {
            self.bytes.resize((end + MARGIN).next_power_of_two(), 0);
        }
        self.bytes[self.end..end].copy_from_slice(bytes);
        self.end = end;
    }
}

/// The origin of the bytes of a [`Stream`].
pub trait ReadChunk: Send {
    /// Read more bytes into a chunk, and return their number; 0 at the end.
    fn read_into(&mut self, chunk: &mut Chunk) -> Result<usize, Error>;

    /// Return whether reading may wait for another process or thread.
    fn may_wait(&self) -> bool {
        true
    }

    /// Return the number of remaining bytes, if known.
    fn remaining_bytes(&self) -> Option<u64> {
        None
    }
}

impl<F: FnMut(&mut Chunk) -> Result<usize, Error> + Send> ReadChunk for F {
    fn read_into(&mut self, chunk: &mut Chunk) -> Result<usize, Error> {
        self(chunk)
    }
}

/// A regular file, read up to its size when it was opened. Bytes appended later are not read; a
/// file that has become shorter is an error.
///
/// The file is read, not memory-mapped. If another program truncated a mapped file, this process
/// would be killed. Memory that other programs write to must not be used as a slice.
struct RegularFile {
    name: String,
    file: File,
    position: u64,
    /// The size in bytes, which is 0 for files without a size, such as files in `/proc`.
    size: u64,
}

impl RegularFile {
    /// Maximum number of bytes per read call, because a call cannot be interrupted.
    const MAX_READ_BYTES: usize = 1 << 22;

    fn read_at_position(&self, target: &mut [u8]) -> std::io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.file, target, self.position);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(&self.file, target, self.position);
        #[cfg(not(any(unix, windows)))]
        return std::io::Read::read(&mut &self.file, target);
    }
}

impl ReadChunk for RegularFile {
    fn read_into(&mut self, chunk: &mut Chunk) -> Result<usize, Error> {
        let remaining =
            self.remaining_bytes().and_then(|left| left.try_into().ok()).unwrap_or(usize::MAX);
        let spare = chunk.spare_mut();
        let max_bytes = spare.len().min(Self::MAX_READ_BYTES).min(remaining);
        let count = loop {
            match self.read_at_position(&mut spare[..max_bytes]) {
                Ok(count) => break count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::Input(format!("{}: cannot read file: {error}", self.name)));
                }
            }
        };
        if count == 0 && max_bytes > 0 && self.size > 0 {
            return Err(Error::Changed {
                input: self.name.clone(),
                before: self.size,
                now: self.file.metadata().map_or(self.position, |file| file.len()),
            });
        }
        chunk.commit(count);
        self.position += count as u64;
        Ok(count)
    }

    fn may_wait(&self) -> bool {
        false
    }

    fn remaining_bytes(&self) -> Option<u64> {
        (self.size > 0).then(|| self.size - self.position)
    }
}

/// Lines of bytes that are read in chunks from a file, a pipe or a decompressor.
pub struct Stream {
    name: String,
    reader: Box<dyn ReadChunk>,
    /// The current chunk; `start` is the first byte not yet returned.
    chunk: Arc<Chunk>,
    start: usize,
    /// Chunks to refill once no batch refers to them.
    reusable_chunks: Vec<Arc<Chunk>>,
    /// The number of bytes and the number of lines returned so far.
    offset: u64,
    line_count: u64,
    ended: bool,
    /// Return only this tab-separated column, counted from 0.
    column: Option<usize>,
    #[cfg(test)]
    read_bytes: usize,
}

impl Stream {
    /// Maximum number of reusable chunks: each thread may hold one.
    const MAX_REUSABLE_CHUNKS: usize = 64;
    /// Maximum size of a reusable chunk.
    const MAX_REUSABLE_SIZE: usize = 1 << 22;

    /// Create a stream of the lines that `reader` reads, or of one tab-separated column of them.
    pub fn new(name: String, column: Option<usize>, reader: Box<dyn ReadChunk>) -> Self {
        // This size is enough for a whole file, and for a newline if the file lacks one.
        let size = reader
            .remaining_bytes()
            .map_or(Chunk::SIZE, |bytes| (bytes + 1).min(Chunk::SIZE as u64) as usize);
        Self {
            name,
            reader,
            chunk: Arc::new(Chunk::new(size)),
            start: MARGIN,
            reusable_chunks: Vec::new(),
            offset: 0,
            line_count: 0,
            ended: false,
            column,
            #[cfg(test)]
            read_bytes: 0,
        }
    }

    /// Create a stream of the lines of a regular file, up to its current size.
    pub fn from_file(name: String, file: File) -> std::io::Result<Self> {
        let size = file.metadata()?.len();
        let reader = Box::new(RegularFile { name: name.clone(), file, position: 0, size });
        Ok(Self::new(name, None, reader))
    }

    /// Read more bytes after the current text, which may move.
    fn read_more(&mut self) -> Result<(), Error> {
        let unread = self.chunk.end - self.start;
        let unshared_chunk = Arc::get_mut(&mut self.chunk);
        match unshared_chunk {
            // Keep a quarter of the chunk free. A line that needs more gets a chunk of twice its
            // length.
            Some(piece) if unread < piece.size() - piece.size() / 4 => {
                if piece.end - MARGIN > piece.size() - piece.size() / 4 {
                    piece.bytes.copy_within(self.start..piece.end, MARGIN);
                    piece.end = MARGIN + unread;
                    self.start = MARGIN;
                }
            }
            _ => {
                let mut next_chunk = self.get_empty_chunk(2 * unread + 2);
                if let Some(piece) = Arc::get_mut(&mut next_chunk) {
                    piece.append(&self.chunk.bytes[self.start..self.chunk.end]);
                }
                let full_chunk = std::mem::replace(&mut self.chunk, next_chunk);
                self.start = MARGIN;
                if full_chunk.size() <= Self::MAX_REUSABLE_SIZE
                    && self.reusable_chunks.len() < Self::MAX_REUSABLE_CHUNKS
                {
                    self.reusable_chunks.push(full_chunk);
                }
            }
        }
        if let Some(piece) = Arc::get_mut(&mut self.chunk) {
            let count = self.reader.read_into(piece)?;
            self.ended = count == 0 || self.reader.remaining_bytes() == Some(0);
            // The last line may lack a newline.
            if self.ended && piece.end > self.start && piece.bytes[piece.end - 1] != b'\n' {
                piece.append(b"\n");
            }
        }
        Ok(())
    }

    /// Return an unshared chunk of at least this size.
    fn get_empty_chunk(&mut self, size: usize) -> Arc<Chunk> {
        let mut chunks = self.reusable_chunks.iter_mut();
        let is_large_enough = |piece: &mut Chunk| piece.size() >= size.max(Chunk::SIZE);
        match chunks.position(|piece| Arc::get_mut(piece).is_some_and(is_large_enough)) {
            None => Arc::new(Chunk::new(size.max(Chunk::SIZE))),
            Some(i) => {
                let mut piece = self.reusable_chunks.swap_remove(i);
                if let Some(piece) = Arc::get_mut(&mut piece) {
                    piece.end = MARGIN;
                }
                piece
            }
        }
    }

    /// Return the given column of all lines in `text`.
    fn extract_column(&self, text: &[u8], column: usize) -> Result<PaddedBuffer, Error> {
        let mut buffer = PaddedBuffer::default();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        for (line, number) in text.split(|&byte| byte == b'\n').zip(self.line_count + 1..) {
            let field =
                line.split(|&byte| byte == b'\t').nth(column).ok_or_else(|| Error::Column {
                    input: self.name.clone(),
                    line: number,
                    column: column + 1,
                    column_count: line.split(|&byte| byte == b'\t').count(),
                })?;
            buffer.buffer_mut().extend_from_slice(field);
            buffer.buffer_mut().push(b'\n');
        }
        buffer.finish();
        Ok(buffer)
    }
}

impl Source for Stream {
    fn name(&self) -> &str {
        &self.name
    }

    fn may_wait(&self) -> bool {
        self.reader.may_wait()
    }

    fn next(&mut self, batch_size: BatchSize) -> Result<Option<Batch>, Error> {
        let mut search = LineSearch::default();
        loop {
            let text = &self.chunk.bytes[self.start..self.chunk.end];
            let is_full = search.advance(text, batch_size);
            let is_complete =
                is_full || (matches!(batch_size, BatchSize::Bytes(_)) && search.lines > 0);
            let length = if is_complete { search.lines_end } else { text.len() };
            if length > MAX_BATCH_BYTES {
                return Err(Error::TooLong {
                    input: self.name.clone(),
                    segment: Some(self.line_count + search.lines as u64 + u64::from(!is_complete)),
                    bytes: length as u64,
                });
            }
            if is_complete || self.ended {
                break;
            }
            interrupt::poll();
            self.read_more()?;
        }
        #[cfg(test)]
        {
            self.read_bytes += search.read_bytes;
        }
        let LineSearch { lines: count, lines_end: length, .. } = search;
        if count == 0 {
            return Ok(None);
        }
        let range = self.start..self.start + length;
        let offset = self.column.is_none().then_some(self.offset);
        let lines = match self.column {
            None => Lines::Shared(Arc::clone(&self.chunk), range.clone()),
            Some(column) => {
                Lines::Owned(self.extract_column(&self.chunk.bytes[range.clone()], column)?)
            }
        };
        self.start = range.end;
        self.offset += length as u64;
        self.line_count += count as u64;
        Ok(Some(Batch { count, streams: vec![Block::Lines { lines, offset }] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return a reader of `text` that reads `size` bytes at a time.
    fn read_in_pieces(text: &[u8], size: usize) -> Box<dyn ReadChunk> {
        let (text, mut position) = (text.to_vec(), 0);
        Box::new(move |chunk: &mut Chunk| {
            let next = &text[position..text.len().min(position + size)];
            chunk.append(next);
            position += next.len();
            Ok(next.len())
        })
    }

    /// Return all lines of a stream, keeping `max_live_batches` batches alive.
    fn read_all(stream: &mut Stream, size: BatchSize, max_live_batches: usize) -> Vec<u8> {
        let (mut read_text, mut batches) = (Vec::new(), std::collections::VecDeque::new());
        let mut check_batch = |batch: Batch| {
            for block in &batch.streams {
                let Block::Lines { lines, offset } = block else { panic!("lines expected") };
                let text = lines.padded();
                assert_eq!(*offset, Some(read_text.len() as u64));
                assert_eq!(memchr::memchr_iter(b'\n', text.bytes()).count(), batch.count);
                read_text.extend_from_slice(text.bytes());
            }
        };
        while let Some(batch) = stream.next(size).unwrap() {
            batches.push_back(batch);
            if batches.len() > max_live_batches {
                batches.pop_front().into_iter().for_each(&mut check_batch);
            }
        }
        batches.into_iter().for_each(check_batch);
        read_text
    }

    #[test]
    fn test_batch_has_limited_number_of_lines() {
        let empty_lines = b"\n".repeat(2 * MAX_BATCH_SEGMENTS);
        let mut stream = Stream::new("stream".into(), None, read_in_pieces(&empty_lines, 1 << 20));
        let batch = stream.next(BatchSize::Bytes(1 << 16)).unwrap().unwrap();
        assert_eq!(batch.count, MAX_BATCH_SEGMENTS);
    }

    #[test]
    fn test_stream_lines_do_not_depend_on_chunk_sizes() {
        let line = |i: usize| format!("{}line {i}\n", "long ".repeat(i % 7 * i % 300));
        let text: Vec<u8> = (0..300).flat_map(|i| line(i).into_bytes()).collect();
        for size in [7, 640, 10_000, 300_000, 2_000_000] {
            for batch_size in [BatchSize::Segments(33), BatchSize::Bytes(1 << 16)] {
                for max_live_batches in [0, 3, 90] {
                    let mut stream =
                        Stream::new("stream".into(), None, read_in_pieces(&text, size));
                    assert!(read_all(&mut stream, batch_size, max_live_batches) == text);
                    // The same text without its last newline.
                    let truncated = read_in_pieces(&text[..text.len() - 1], size);
                    let mut stream = Stream::new("stream".into(), None, truncated);
                    assert!(read_all(&mut stream, batch_size, max_live_batches) == text);
                }
            }
        }
    }

    #[test]
    fn test_bytes_are_searched_a_bounded_number_of_times() {
        const LENGTH: usize = 1 << 18;
        let long = [&b"x".repeat(LENGTH)[..], b"\nend\n"].concat();
        let lines = b"a few words\n".repeat(LENGTH / 12);
        for (text, column) in [(&long, None), (&lines, None), (&long, Some(0)), (&lines, Some(0))] {
            for size in [1000, 1 << 12, 1 << 18] {
                for batch_size in
                    [BatchSize::Segments(1), BatchSize::Segments(4096), BatchSize::Bytes(1 << 16)]
                {
                    let mut stream =
                        Stream::new("stream".into(), column, read_in_pieces(text, size));
                    while stream.next(batch_size).unwrap().is_some() {}
                    // A batch may search 4,096 bytes past its end, which the next batch searches
                    // again.
                    let max_bytes = text.len() + stream.line_count as usize * 4096;
                    assert!(stream.read_bytes >= text.len() && stream.read_bytes <= max_bytes);
                    if stream.line_count == 2 {
                        assert!(stream.read_bytes <= text.len() + 2 * 4096);
                    }
                }
            }
        }
    }

    #[test]
    fn test_too_long_line_fails_early() {
        let mut total = 0_usize;
        let reader = move |chunk: &mut Chunk| {
            let count = chunk.spare_mut().len();
            chunk.commit(count);
            total += count;
            assert!(total <= 2 * MAX_BATCH_BYTES);
            Ok(count)
        };
        let mut stream = Stream::new("hypotheses".into(), None, Box::new(reader));
        let Err(error) = stream.next(BatchSize::Bytes(1 << 16)) else {
            panic!("the line was accepted")
        };
        let Error::TooLong { input, segment, bytes } = error else { panic!("wrong error") };
        assert_eq!((&*input, segment), ("hypotheses", Some(1)));
        assert!(bytes > MAX_BATCH_BYTES as u64);
    }

    #[test]
    fn test_file_is_read_up_to_its_initial_size() {
        let path = std::env::temp_dir().join(format!("truebleu-text-{}", std::process::id()));
        let text = b"a line of some words\n".repeat(40_000);
        std::fs::write(&path, &text).unwrap();
        let open = || Stream::from_file("file".into(), File::open(&path).unwrap()).unwrap();
        assert!(read_all(&mut open(), BatchSize::Bytes(1 << 16), 2) == text);
        let mut stream = open();
        let append_handle = std::fs::OpenOptions::new().append(true).open(&path);
        std::io::Write::write_all(&mut append_handle.unwrap(), b"more\n").unwrap();
        assert!(read_all(&mut stream, BatchSize::Segments(9), 0) == text);
        let mut stream = open();
        stream.next(BatchSize::Segments(3)).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(300_000).unwrap();
        let error = loop {
            match stream.next(BatchSize::Bytes(1 << 16)) {
                Ok(batch) => assert!(batch.is_some()),
                Err(error) => break error,
            }
        };
        let expected_message =
            "file: file changed while it was being read (expected 840005 bytes, found 300000)";
        assert!(error.to_string().starts_with(expected_message), "{error}");
        // A deleted file remains readable while it is open.
        let mut stream = open();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read_all(&mut stream, BatchSize::Bytes(1 << 16), 0).len(), 300_000 + 1);
    }
}
