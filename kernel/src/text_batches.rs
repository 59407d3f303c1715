//! Where segments come from, as far as the kernel sees it: batches of bytes.
//!
//! A [`Source`] gives its segments a batch at a time, so that memory stays flat however long the
//! input is. Files, pipes and decompressors are read a piece at a time, which batches share.

use crate::error::Error;
use crate::interrupt;
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
    /// A part of what a [`Stream`] read at once.
    Shared(Arc<Piece>, Range<usize>),
    /// Bytes of its own.
    Owned(PaddedBuffer),
}

impl Lines {
    /// The text; its last byte is a newline.
    pub fn padded(&self) -> Padded<'_> {
        match self {
            // A piece has margins around all that was read into it.
            Self::Shared(piece, range) => {
                Padded { all: &piece.bytes, start: range.start, end: range.end }
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

impl Block {
    /// The length of the text, or of the segments or tokens together.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Lines { lines, .. } => lines.padded().bytes().len(),
            Self::Segments { segments, .. } => {
                segments.iter().flatten().map(|text| text.bytes().len()).sum()
            }
            Self::Tokens(tokens) => tokens.text.len(),
        }
    }
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

/// The most bytes of a batch: positions in it are 32-bit numbers, and lower-casing may lengthen it.
const MOST_BYTES: usize = if cfg!(test) { 1 << 24 } else { 1 << 31 };

/// An error if so many bytes are too many for a batch.
pub fn check_size(name: &str, length: usize) -> Result<(), Error> {
    if length <= MOST_BYTES {
        Ok(())
    } else {
        Err(Error::TooLong { input: name.to_owned(), segment: None, bytes: length as u64 })
    }
}

/// The search for a batch's last line end, which goes on where it stopped when more text is there.
#[derive(Default)]
struct Split {
    /// The number of lines found.
    lines: usize,
    /// Where the last of them ends, behind its newline.
    end: usize,
    /// How much of the text has been looked at.
    seen: usize,
    /// How many bytes that took.
    #[cfg(test)]
    looked: usize,
}

impl Split {
    /// Goes on in `text`, whose start is as it was; true if no more lines are wanted.
    fn look(&mut self, text: &[u8], want: Want) -> bool {
        const CHUNK: usize = 4096;
        let (most, bytes) = match want {
            Want::Segments(lines) => (lines, usize::MAX),
            Want::Bytes(bytes) => (MOST_SEGMENTS, bytes),
        };
        while self.lines < most && self.seen < text.len() {
            if self.seen >= bytes && self.lines > 0 {
                return true;
            }
            // Of a line that is longer than wanted the end is, and nothing behind it.
            let (most, chunk) = match bytes.checked_sub(self.seen) {
                Some(left @ 1..) => (most, left.min(CHUNK)),
                _ => (1, CHUNK),
            };
            let chunk = &text[self.seen..][..chunk.min(text.len() - self.seen)];
            #[cfg(test)]
            {
                self.looked += chunk.len();
            }
            let here = memchr::memchr_iter(b'\n', chunk).count();
            if self.lines + here >= most {
                let last = memchr::memchr_iter(b'\n', chunk).nth(most - self.lines - 1);
                self.lines = most;
                self.end = self.seen + last.map_or(0, |at| at + 1);
                self.seen = self.end;
                return true;
            }
            if let Some(last) = memchr::memrchr(b'\n', chunk) {
                self.lines += here;
                self.end = self.seen + last + 1;
            }
            self.seen += chunk.len();
        }
        self.lines >= most
    }
}

/// Bytes read at once, with a [`MARGIN`] before and behind them. Batches share it.
pub struct Piece {
    /// All of them have a value, so that reading into them needs no zeros first.
    bytes: Vec<u8>,
    /// Where what was read ends.
    end: usize,
}

impl Piece {
    /// Bytes of a piece, unless a batch needs more.
    const SIZE: usize = 1 << 18;

    /// An empty one for so many bytes.
    fn new(size: usize) -> Self {
        Self { bytes: vec![0; MARGIN + size + MARGIN], end: MARGIN }
    }

    /// The number of bytes it has place for.
    fn size(&self) -> usize {
        self.bytes.len() - 2 * MARGIN
    }

    /// The place for more bytes, of which [`Piece::took`] then says how many there are.
    pub fn room(&mut self) -> &mut [u8] {
        let last = self.bytes.len() - MARGIN;
        &mut self.bytes[self.end..last]
    }

    /// Notes that so many bytes have come into the [`Piece::room`].
    pub fn took(&mut self, count: usize) {
        self.end += count.min(self.bytes.len() - MARGIN - self.end);
    }

    /// Appends bytes, in more memory if need be.
    pub fn append(&mut self, bytes: &[u8]) {
        let end = self.end + bytes.len();
        if end + MARGIN > self.bytes.len() {
            self.bytes.resize((end + MARGIN).next_power_of_two(), 0);
        }
        self.bytes[self.end..end].copy_from_slice(bytes);
        self.end = end;
    }
}

/// What a [`Stream`] reads from.
pub trait Read: Send {
    /// Brings more bytes into a piece; 0 at the end.
    fn read(&mut self, into: &mut Piece) -> Result<usize, Error>;

    /// True if that may wait for another process or thread.
    fn waits(&self) -> bool {
        true
    }

    /// The number of bytes that are still to come, where it is known.
    fn left(&self) -> Option<u64> {
        None
    }
}

impl<F: FnMut(&mut Piece) -> Result<usize, Error> + Send> Read for F {
    fn read(&mut self, into: &mut Piece) -> Result<usize, Error> {
        self(into)
    }
}

/// A regular file, as long as it was when it was opened: what is appended later is not read, and a
/// file that has become shorter is an error.
///
/// It is read and not mapped: another program that cuts a mapped file short would end this one, and
/// bytes that others write to must not be seen as a slice.
struct Regular {
    name: String,
    file: File,
    position: u64,
    /// 0 also for files without a size, as those that a system's kernel makes up.
    size: u64,
}

impl Regular {
    /// The most bytes of one call, which cannot be interrupted.
    const MOST: usize = 1 << 22;

    fn read_some(&self, into: &mut [u8]) -> std::io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.file, into, self.position);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(&self.file, into, self.position);
        #[cfg(not(any(unix, windows)))]
        return std::io::Read::read(&mut &self.file, into);
    }
}

impl Read for Regular {
    fn read(&mut self, into: &mut Piece) -> Result<usize, Error> {
        let left = self.left().and_then(|left| left.try_into().ok()).unwrap_or(usize::MAX);
        let room = into.room();
        let most = room.len().min(Self::MOST).min(left);
        let count = loop {
            match self.read_some(&mut room[..most]) {
                Ok(count) => break count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::Input(format!("{} cannot be read: {error}", self.name)));
                }
            }
        };
        if count == 0 && most > 0 && self.size > 0 {
            return Err(Error::Changed {
                input: self.name.clone(),
                before: self.size,
                now: self.file.metadata().map_or(self.position, |file| file.len()),
            });
        }
        into.took(count);
        self.position += count as u64;
        Ok(count)
    }

    fn waits(&self) -> bool {
        false
    }

    fn left(&self) -> Option<u64> {
        (self.size > 0).then(|| self.size - self.position)
    }
}

/// Lines of bytes that come a piece at a time: of a file, a pipe, a decompressor.
pub struct Stream {
    name: String,
    read: Box<dyn Read>,
    /// What was read; `start` is the first byte that has not been given.
    piece: Arc<Piece>,
    start: usize,
    /// Pieces whose batches may be gone, to be filled again.
    spare: Vec<Arc<Piece>>,
    /// The number of bytes and of lines that have been given.
    offset: u64,
    given: u64,
    ended: bool,
    /// Give only this tab-separated column, counted from 0.
    column: Option<usize>,
    #[cfg(test)]
    looked: usize,
}

impl Stream {
    /// Pieces that are kept to be filled again: each thread has one in its hands.
    const SPARE: usize = 64;
    /// The largest of them.
    const LARGEST: usize = 1 << 22;

    /// Lines of the bytes that `read` brings; with `column`, one tab-separated column of them.
    pub fn new(name: String, column: Option<usize>, read: Box<dyn Read>) -> Self {
        // A whole file, and the newline that it may lack.
        let size =
            read.left().map_or(Piece::SIZE, |all| (all + 1).min(Piece::SIZE as u64) as usize);
        Self {
            name,
            read,
            piece: Arc::new(Piece::new(size)),
            start: MARGIN,
            spare: Vec::new(),
            offset: 0,
            given: 0,
            ended: false,
            column,
            #[cfg(test)]
            looked: 0,
        }
    }

    /// The lines of a regular file, as far as it reaches now.
    pub fn file(name: String, file: File) -> std::io::Result<Self> {
        let size = file.metadata()?.len();
        let read = Box::new(Regular { name: name.clone(), file, position: 0, size });
        Ok(Self::new(name, None, read))
    }

    /// Reads on behind what is there, which may move.
    fn read_on(&mut self) -> Result<(), Error> {
        let rest = self.piece.end - self.start;
        let alone = Arc::get_mut(&mut self.piece);
        match alone {
            // A quarter stays free: a line that takes more has a piece of twice its length next.
            Some(piece) if rest < piece.size() - piece.size() / 4 => {
                if piece.end - MARGIN > piece.size() - piece.size() / 4 {
                    piece.bytes.copy_within(self.start..piece.end, MARGIN);
                    piece.end = MARGIN + rest;
                    self.start = MARGIN;
                }
            }
            _ => {
                let mut next = self.empty_piece(2 * rest + 2);
                if let Some(piece) = Arc::get_mut(&mut next) {
                    piece.append(&self.piece.bytes[self.start..self.piece.end]);
                }
                let full = std::mem::replace(&mut self.piece, next);
                self.start = MARGIN;
                if full.size() <= Self::LARGEST && self.spare.len() < Self::SPARE {
                    self.spare.push(full);
                }
            }
        }
        if let Some(piece) = Arc::get_mut(&mut self.piece) {
            let count = self.read.read(piece)?;
            self.ended = count == 0 || self.read.left() == Some(0);
            // The last line may lack a newline.
            if self.ended && piece.end > self.start && piece.bytes[piece.end - 1] != b'\n' {
                piece.append(b"\n");
            }
        }
        Ok(())
    }

    /// A piece of at least this size that nobody else holds.
    fn empty_piece(&mut self, size: usize) -> Arc<Piece> {
        let mut spare = self.spare.iter_mut();
        let fits = |piece: &mut Piece| piece.size() >= size.max(Piece::SIZE);
        match spare.position(|piece| Arc::get_mut(piece).is_some_and(fits)) {
            None => Arc::new(Piece::new(size.max(Piece::SIZE))),
            Some(i) => {
                let mut piece = self.spare.swap_remove(i);
                if let Some(piece) = Arc::get_mut(&mut piece) {
                    piece.end = MARGIN;
                }
                piece
            }
        }
    }

    fn cut_column(&self, text: &[u8], column: usize) -> Result<PaddedBuffer, Error> {
        let mut buffer = PaddedBuffer::default();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        for (line, number) in text.split(|&byte| byte == b'\n').zip(self.given + 1..) {
            let field =
                line.split(|&byte| byte == b'\t').nth(column).ok_or_else(|| Error::Column {
                    input: self.name.clone(),
                    line: number,
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
        self.read.waits()
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        let mut found = Split::default();
        loop {
            let text = &self.piece.bytes[self.start..self.piece.end];
            let all = found.look(text, want);
            let enough = all || (matches!(want, Want::Bytes(_)) && found.lines > 0);
            let length = if enough { found.end } else { text.len() };
            if length > MOST_BYTES {
                return Err(Error::TooLong {
                    input: self.name.clone(),
                    segment: Some(self.given + found.lines as u64 + u64::from(!enough)),
                    bytes: length as u64,
                });
            }
            if enough || self.ended {
                break;
            }
            interrupt::poll();
            self.read_on()?;
        }
        #[cfg(test)]
        {
            self.looked += found.looked;
        }
        let Split { lines: count, end: length, .. } = found;
        if count == 0 {
            return Ok(None);
        }
        let range = self.start..self.start + length;
        let offset = self.column.is_none().then_some(self.offset);
        let lines = match self.column {
            None => Lines::Shared(Arc::clone(&self.piece), range.clone()),
            Some(column) => {
                Lines::Owned(self.cut_column(&self.piece.bytes[range.clone()], column)?)
            }
        };
        self.start = range.end;
        self.offset += length as u64;
        self.given += count as u64;
        Ok(Some(Batch { count, streams: vec![Block::Lines { lines, offset }] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many lines a search finds, where they end, and if no more are wanted.
    fn split(text: &[u8], want: Want) -> (usize, usize, bool) {
        let mut found = Split::default();
        let all = found.look(text, want);
        (found.lines, found.end, all)
    }

    #[test]
    fn lines_are_split_at_newlines_only() {
        let text = b"a\nb\r\n\nlast\n";
        assert_eq!(split(text, Want::Segments(2)), (2, 5, true));
        assert_eq!(split(text, Want::Segments(9)), (4, 11, false));
        assert_eq!(split(b"a\nlast", Want::Segments(9)), (1, 2, false));
        assert_eq!(split(text, Want::Bytes(3)), (1, 2, true));
        assert_eq!(split(text, Want::Bytes(1)), (1, 2, true));
        assert_eq!(split(text, Want::Bytes(5)), (2, 5, true));
        assert_eq!(split(text, Want::Bytes(100)), (4, 11, false));
        assert_eq!(split(b"", Want::Segments(1)), (0, 0, false));
        assert_eq!(split(b"no end", Want::Bytes(2)), (0, 0, false));
        let many = b"\n".repeat(2 * MOST_SEGMENTS);
        let most = (MOST_SEGMENTS, MOST_SEGMENTS, true);
        assert_eq!(split(&many, Want::Bytes(1 << 16)), most);
        let long = [&b"x".repeat(10_000)[..], b"\n\nrest\n"].concat();
        assert_eq!(split(&long, Want::Bytes(9)), (1, 10_001, true));
        assert_eq!(split(&long, Want::Segments(2)), (2, 10_002, true));
    }

    /// A source of `text` that brings `piece` bytes at a time.
    fn pieces(text: &[u8], piece: usize) -> Box<dyn Read> {
        let (text, mut at) = (text.to_vec(), 0);
        Box::new(move |into: &mut Piece| {
            let next = &text[at..text.len().min(at + piece)];
            into.append(next);
            at += next.len();
            Ok(next.len())
        })
    }

    /// All lines of a stream; `held` batches live at a time.
    fn all(stream: &mut Stream, want: Want, held: usize) -> Vec<u8> {
        let (mut seen, mut batches) = (Vec::new(), std::collections::VecDeque::new());
        let mut take = |batch: Batch| {
            for block in &batch.streams {
                let Block::Lines { lines, offset } = block else { panic!("lines expected") };
                let text = lines.padded();
                assert_eq!(*offset, Some(seen.len() as u64));
                assert_eq!(memchr::memchr_iter(b'\n', text.bytes()).count(), batch.count);
                seen.extend_from_slice(text.bytes());
            }
        };
        while let Some(batch) = stream.next(want).unwrap() {
            batches.push_back(batch);
            if batches.len() > held {
                batches.pop_front().into_iter().for_each(&mut take);
            }
        }
        batches.into_iter().for_each(take);
        seen
    }

    #[test]
    fn a_stream_gives_the_same_lines_however_its_bytes_arrive() {
        let line = |i: usize| format!("{}line {i}\n", "long ".repeat(i % 7 * i % 300));
        let text: Vec<u8> = (0..300).flat_map(|i| line(i).into_bytes()).collect();
        for piece in [7, 640, 10_000, 300_000, 2_000_000] {
            for want in [Want::Segments(33), Want::Bytes(1 << 16)] {
                for held in [0, 3, 90] {
                    let mut stream = Stream::new("stream".into(), None, pieces(&text, piece));
                    assert!(all(&mut stream, want, held) == text);
                    // But for the last newline.
                    let cut = pieces(&text[..text.len() - 1], piece);
                    let mut stream = Stream::new("stream".into(), None, cut);
                    assert!(all(&mut stream, want, held) == text);
                }
            }
        }
    }

    #[test]
    fn each_byte_is_looked_at_a_few_times_at_most() {
        const LENGTH: usize = 1 << 18;
        let long = [&b"x".repeat(LENGTH)[..], b"\nend\n"].concat();
        let lines = b"a few words\n".repeat(LENGTH / 12);
        for (text, column) in [(&long, None), (&lines, None), (&long, Some(0)), (&lines, Some(0))] {
            for piece in [1000, 1 << 12, 1 << 18] {
                for want in [Want::Segments(1), Want::Segments(4096), Want::Bytes(1 << 16)] {
                    let mut stream = Stream::new("stream".into(), column, pieces(text, piece));
                    while stream.next(want).unwrap().is_some() {}
                    // A batch looks at a chunk behind its end, which the next one looks at again.
                    let most = text.len() + stream.given as usize * 4096;
                    assert!(stream.looked >= text.len() && stream.looked <= most);
                    if stream.given == 2 {
                        assert!(stream.looked <= text.len() + 2 * 4096);
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_when_it_is_known_to_be() {
        let mut brought = 0_usize;
        let read = move |into: &mut Piece| {
            let room = into.room().len();
            into.took(room);
            brought += room;
            assert!(brought <= 2 * MOST_BYTES);
            Ok(room)
        };
        let mut stream = Stream::new("hypotheses".into(), None, Box::new(read));
        let Err(error) = stream.next(Want::Bytes(1 << 16)) else { panic!("it was taken") };
        let Error::TooLong { input, segment, bytes } = error else { panic!("another error") };
        assert_eq!((&*input, segment), ("hypotheses", Some(1)));
        assert!(bytes > MOST_BYTES as u64);
    }

    #[test]
    fn a_file_is_read_as_far_as_it_reached() {
        let path = std::env::temp_dir().join(format!("truebleu-text-{}", std::process::id()));
        let text = b"a line of some words\n".repeat(40_000);
        std::fs::write(&path, &text).unwrap();
        let open = || Stream::file("file".into(), File::open(&path).unwrap()).unwrap();
        assert!(all(&mut open(), Want::Bytes(1 << 16), 2) == text);
        // What is appended meanwhile is not read.
        let mut stream = open();
        let more = std::fs::OpenOptions::new().append(true).open(&path);
        std::io::Write::write_all(&mut more.unwrap(), b"more\n").unwrap();
        assert!(all(&mut stream, Want::Segments(9), 0) == text);
        // What is cut off is missed.
        let mut stream = open();
        stream.next(Want::Segments(3)).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(300_000).unwrap();
        let error = loop {
            match stream.next(Want::Bytes(1 << 16)) {
                Ok(batch) => assert!(batch.is_some()),
                Err(error) => break error,
            }
        };
        let told = "file changed while it was read: it had 840005 bytes, now 300000";
        assert!(error.to_string().starts_with(told), "{error}");
        // A file that is gone is still open.
        let mut stream = open();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(all(&mut stream, Want::Bytes(1 << 16), 0).len(), 300_000 + 1);
    }
}
