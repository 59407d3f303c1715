//! Where segments come from, as far as the kernel sees it: batches of bytes.
//!
//! A [`Source`] gives its segments a batch at a time, so that memory stays flat however long the
//! input is. Files are mapped and read in place; anything else arrives through a buffer.

use crate::error::Error;
use memmap2::Mmap;
use std::any::Any;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// Readable bytes that [`Padded`] text has on either side, so that blocks of 64 bytes and keys of
/// 8 can be read at its edges.
pub const MARGIN: usize = 96;

/// Bytes with at least [`MARGIN`] readable bytes before and behind them.
#[derive(Clone, Copy)]
pub struct Padded<'a> {
    all: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Padded<'a> {
    /// The bytes `range` of `all`; `None` when `all` leaves too little room around them.
    pub fn within(all: &'a [u8], range: Range<usize>) -> Option<Self> {
        let fits = range.start >= MARGIN
            && range.start <= range.end
            && range.end.checked_add(MARGIN)? <= all.len();
        fits.then_some(Self { all, start: range.start, end: range.end })
    }

    /// The text itself.
    pub fn bytes(self) -> &'a [u8] {
        &self.all[self.start..self.end]
    }

    /// Where the text starts; [`MARGIN`] bytes are readable before and behind it.
    pub fn pointer(self) -> *const u8 {
        // Of the whole memory, not of the text's part of it: what it points to may be read before the
        // text and behind it.
        self.all.as_ptr().wrapping_add(self.start)
    }
}

/// A growing text that keeps the margins of [`Padded`].
#[derive(Default)]
pub struct PaddedBuffer {
    bytes: Vec<u8>,
}

impl PaddedBuffer {
    /// Forgets the text and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(MARGIN, 0);
    }

    /// The bytes so far, to append to. The first [`MARGIN`] of them are not text.
    pub fn raw(&mut self) -> &mut Vec<u8> {
        if self.bytes.len() < MARGIN {
            self.bytes.resize(MARGIN, 0);
        }
        &mut self.bytes
    }

    /// The number of bytes of text.
    pub fn len(&self) -> usize {
        self.bytes.len().saturating_sub(MARGIN)
    }

    /// True if there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text. Only complete after [`PaddedBuffer::finish`].
    pub fn padded(&self) -> Padded<'_> {
        Padded { all: &self.bytes, start: MARGIN, end: self.bytes.len() - MARGIN }
    }

    /// Adds the margin behind the text.
    pub fn finish(&mut self) {
        let end = self.raw().len() + MARGIN;
        self.bytes.resize(end, 0);
    }
}

/// One segment in another program's memory, which the batch's owner keeps alive.
#[derive(Clone, Copy)]
pub struct Foreign {
    pointer: *const u8,
    length: usize,
}

// SAFETY: the bytes are never written to while a batch that holds them lives.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// Remembers `bytes` beyond their borrow.
    ///
    /// # Safety
    /// The bytes must outlive the batch, unchanged: its `keep` or its source holds their owner.
    pub unsafe fn new(bytes: &[u8]) -> Self {
        Self { pointer: bytes.as_ptr(), length: bytes.len() }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the maker of this value promised that they live.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }
}

/// The memory of a newline-terminated text.
pub enum Lines {
    /// A mapped file, and the part of it.
    Mapped(Arc<Mmap>, Range<usize>),
    /// Bytes of its own.
    Owned(PaddedBuffer),
}

impl Lines {
    /// The text; its last byte is a newline.
    pub fn padded(&self) -> Padded<'_> {
        match self {
            // The constructor in `MappedFile::next` has checked the margins.
            Self::Mapped(map, range) => {
                Padded { all: &map[..], start: range.start, end: range.end }
            }
            Self::Owned(buffer) => buffer.padded(),
        }
    }
}

/// The text of one stream (the hypotheses, or one of the references) in a batch.
pub enum Block {
    /// Lines of a file. They may not be UTF-8.
    Lines {
        /// The newline-terminated text.
        lines: Lines,
        /// Where the text starts in its file, for error messages; `None` for a part of each line.
        offset: Option<u64>,
    },
    /// Segments in memory; `None` is a missing reference.
    Segments {
        /// One entry a segment.
        segments: Vec<Option<Foreign>>,
        /// True if they are known to be UTF-8 (with surrogates, as Python has them).
        trusted: bool,
        /// The owner that keeps the bytes alive.
        keep: Option<Arc<dyn Any + Send + Sync>>,
    },
    /// Segments that are tokens already.
    Tokens(TokenBlock),
}

/// Segments that came as tokens.
#[derive(Default)]
pub struct TokenBlock {
    /// All tokens, one after the other.
    pub text: PaddedBuffer,
    /// The end of each token in `text`.
    pub token_ends: Vec<u32>,
    /// The end of each segment, counted in tokens.
    pub segment_ends: Vec<u32>,
    /// The segments that are missing.
    pub missing: Vec<u32>,
}

/// The same segments of one or more streams.
pub struct Batch {
    /// The number of segments of each stream here.
    pub count: usize,
    /// The streams. A source of references may give any number of them, in each batch another.
    pub streams: Vec<Block>,
}

/// The amount a source should give next.
#[derive(Clone, Copy)]
pub enum Want {
    /// Whole segments of about this many bytes in all; at least one segment.
    Bytes(usize),
    /// Exactly so many segments, or what is left of them.
    Segments(usize),
}

/// The most segments a batch holds.
pub const MOST_SEGMENTS: usize = 4096;

/// A stream of segments, or of several references for each segment.
pub trait Source: Send {
    /// Its name in messages: `hypotheses`, `reference 2 (FILE)`.
    fn name(&self) -> &str;

    /// The next segments; `None` at the end.
    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error>;

    /// True if `next` may wait for another process or thread: a pipe, a decompressor.
    fn waits(&self) -> bool {
        false
    }
}

/// Splits `text` for a batch: how many lines, and how many bytes they take with their newlines.
///
/// A last line without a newline counts when `last` is set, and is left for later otherwise.
pub fn split_lines(text: &[u8], want: Want, last: bool) -> (usize, usize) {
    let (limit, bytes) = match want {
        Want::Segments(lines) => (lines, text.len()),
        Want::Bytes(bytes) => (MOST_SEGMENTS, bytes.min(text.len())),
    };
    let mut lines = 0;
    let mut end = 0;
    for chunk in text[..bytes].chunks(4096) {
        let here = memchr::memchr_iter(b'\n', chunk).count();
        if lines + here >= limit {
            let inside = memchr::memchr_iter(b'\n', chunk).nth(limit - lines - 1);
            return (limit, end + inside.map_or(0, |at| at + 1));
        }
        lines += here;
        end += chunk.len();
    }
    // Nothing more fits: back to the last whole line, or on to the end of the first one.
    if lines > 0 && bytes < text.len() {
        return (lines, memchr::memrchr(b'\n', &text[..bytes]).map_or(0, |at| at + 1));
    }
    if bytes < text.len()
        && let Some(at) = memchr::memchr(b'\n', &text[bytes..])
    {
        return (1, bytes + at + 1);
    }
    let whole = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
    if last && whole < text.len() { (lines + 1, text.len()) } else { (lines, whole) }
}

/// A regular file, mapped into memory and lexed in place.
pub struct MappedFile {
    name: String,
    map: Arc<Mmap>,
    position: usize,
    /// How far the system has been asked to bring pages in.
    brought: usize,
}

/// The bytes of a file paged in at once: far cheaper than a fault every few pages.
const WINDOW: usize = 1 << 22;

impl MappedFile {
    /// Maps `file`.
    ///
    /// The file must not be cut short while it is read; that is the operating system's rule for
    /// mapped files.
    pub fn new(name: String, file: &File) -> std::io::Result<Self> {
        // SAFETY: the map is only read; a file that another program changes meanwhile gives other
        // bytes, which are checked before they are lexed.
        let map = unsafe { Mmap::map(file)? };
        #[cfg(unix)]
        {
            let _ = map.advise(memmap2::Advice::Sequential);
        }
        Ok(Self { name, map: Arc::new(map), position: 0, brought: 0 })
    }
}

impl MappedFile {
    /// Has the system bring in the next part of the file, and let go of what has been read, where
    /// it knows how to. What goes stays in the page cache, and would come back if asked for.
    fn bring(&mut self) {
        while self.position + WINDOW / 4 > self.brought && self.brought < self.map.len() {
            let length = WINDOW.min(self.map.len() - self.brought);
            #[cfg(target_os = "linux")]
            {
                // An older kernel refuses; then pages come in one fault after the other.
                let populate = memmap2::Advice::PopulateRead;
                let _ = self.map.advise_range(populate, self.brought, length);
            }
            #[cfg(unix)]
            if let Some(behind) = self.brought.checked_sub(2 * WINDOW) {
                // SAFETY: the map is of a file and only read: the pages' content cannot be lost.
                let _ = unsafe {
                    let let_go = memmap2::UncheckedAdvice::DontNeed;
                    self.map.unchecked_advise_range(let_go, behind, WINDOW)
                };
            }
            self.brought += length;
        }
    }
}

impl Source for MappedFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        self.bring();
        let start = self.position;
        let (count, length) = split_lines(&self.map[start..], want, true);
        if count == 0 {
            return Ok(None);
        }
        check_size(&self.name, length)?;
        let range = start..start + length;
        self.position = range.end;
        let whole = self.map[range.end - 1] == b'\n';
        let lines = if whole && Padded::within(&self.map, range.clone()).is_some() {
            Lines::Mapped(Arc::clone(&self.map), range)
        } else {
            Lines::Owned(owned_lines(&self.map[range]))
        };
        let offset = Some(start as u64);
        Ok(Some(Batch { count, streams: vec![Block::Lines { lines, offset }] }))
    }
}

/// A copy of `text` with margins and a newline at its end.
fn owned_lines(text: &[u8]) -> PaddedBuffer {
    let mut buffer = PaddedBuffer::default();
    buffer.raw().extend_from_slice(text);
    if text.last() != Some(&b'\n') {
        buffer.raw().push(b'\n');
    }
    buffer.finish();
    buffer
}

/// Positions in a batch are 32-bit numbers, and lower-casing may lengthen the text.
pub fn check_size(name: &str, length: usize) -> Result<(), Error> {
    if length <= 1 << 31 {
        Ok(())
    } else {
        Err(Error::TooLong { input: name.to_owned(), bytes: length as u64 })
    }
}

/// Reads more bytes into a buffer; 0 at the end.
pub type Read = Box<dyn FnMut(&mut Vec<u8>) -> Result<usize, Error> + Send>;

/// Bytes that come a piece at a time: a pipe, a compressed file.
pub struct Stream {
    name: String,
    read: Read,
    /// Bytes read and not yet given; the first `start` of them are used up.
    pending: Vec<u8>,
    start: usize,
    offset: u64,
    ended: bool,
    /// Give only this tab-separated column, counted from 0.
    column: Option<usize>,
    line: u64,
}

impl Stream {
    /// Lines of the bytes that `read` brings; with `column`, one tab-separated column of them.
    pub fn new(name: String, column: Option<usize>, read: Read) -> Self {
        Self { name, read, pending: Vec::new(), start: 0, offset: 0, ended: false, column, line: 0 }
    }

    fn cut_column(&mut self, text: &[u8], column: usize) -> Result<PaddedBuffer, Error> {
        let mut buffer = PaddedBuffer::default();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        for line in text.split(|&byte| byte == b'\n') {
            self.line += 1;
            let field =
                line.split(|&byte| byte == b'\t').nth(column).ok_or_else(|| Error::Column {
                    input: self.name.clone(),
                    line: self.line,
                    column: column + 1,
                    found: line.split(|&byte| byte == b'\t').count(),
                })?;
            buffer.raw().extend_from_slice(field);
            buffer.raw().push(b'\n');
        }
        buffer.finish();
        Ok(buffer)
    }
}

impl Source for Stream {
    fn name(&self) -> &str {
        &self.name
    }

    fn waits(&self) -> bool {
        true
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        loop {
            let text = &self.pending[self.start..];
            let (count, length) = split_lines(text, want, self.ended);
            let enough = match want {
                Want::Segments(wanted) => count == wanted,
                Want::Bytes(_) => count > 0,
            };
            if !enough && !self.ended {
                self.pending.drain(..self.start);
                self.start = 0;
                check_size(&self.name, self.pending.len())?;
                self.ended = (self.read)(&mut self.pending)? == 0;
                continue;
            }
            if count == 0 {
                return Ok(None);
            }
            check_size(&self.name, length)?;
            let offset = self.column.is_none().then_some(self.offset);
            let range = self.start..self.start + length;
            let lines = match self.column {
                None => owned_lines(&self.pending[range.clone()]),
                Some(column) => {
                    let text = self.pending[range.clone()].to_vec();
                    self.cut_column(&text, column)?
                }
            };
            self.start = range.end;
            self.offset += length as u64;
            let block = Block::Lines { lines: Lines::Owned(lines), offset };
            return Ok(Some(Batch { count, streams: vec![block] }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_at_newlines_only_and_the_last_may_lack_one() {
        let text = b"a\nb\r\n\nlast";
        assert_eq!(split_lines(text, Want::Segments(2), true), (2, 5));
        assert_eq!(split_lines(text, Want::Segments(9), true), (4, 10));
        assert_eq!(split_lines(text, Want::Segments(9), false), (3, 6));
        assert_eq!(split_lines(text, Want::Bytes(3), true), (1, 2));
        assert_eq!(split_lines(text, Want::Bytes(1), true), (1, 2));
        assert_eq!(split_lines(text, Want::Bytes(100), true), (4, 10));
        assert_eq!(split_lines(b"", Want::Segments(1), true), (0, 0));
        assert_eq!(split_lines(b"no end", Want::Bytes(2), false), (0, 0));
    }

    #[test]
    fn a_stream_gives_the_same_lines_however_its_bytes_arrive() {
        let text: Vec<u8> = (0..500).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
        for piece in [1, 7, 64, 10_000] {
            let mut rest = text.clone();
            let read: Read = Box::new(move |into| {
                let count = piece.min(rest.len());
                into.extend(rest.drain(..count));
                Ok(count)
            });
            let mut stream = Stream::new("stream".into(), None, read);
            let mut seen = Vec::new();
            while let Some(batch) = stream.next(Want::Segments(33)).unwrap() {
                for block in &batch.streams {
                    let Block::Lines { lines, .. } = block else { panic!("lines expected") };
                    seen.extend_from_slice(lines.padded().bytes());
                }
            }
            assert_eq!(seen, text);
        }
    }
}
