//! Lexing of segments into tokens with one of eleven tokenizers.
//!
//! Each tokenizer has a scalar definition, which processes one segment. It may also have a block
//! form, which processes blocks of many lines and must produce the same tokens. Lines that the
//! block form cannot handle are tokenized by the scalar definition. The tokenizers of tercom, MeCab,
//! SentencePiece and PTB have no block form.

pub mod block;
pub mod character;
pub mod chinese;
pub mod international;
pub mod lowercase;
pub mod mecab;
pub mod mteval_13a;
pub mod ptb;
pub mod sentencepiece;
pub mod tercom;
mod unicode;
pub mod utf8;
pub mod whitespace;

use crate::interrupt::{self, Work};
use crate::simd::{Instructions, Job, Vector};
use crate::text_batches::{Block, BorrowedSegment, Padded, PaddedBuffer};
use crate::tokens::{Tokens, View};
use block::{BlockRule, LexBlocks, LineTable};
use lowercase::Lowercase;
use std::sync::Arc;

/// Whether this is the kernel for web pages.
const IS_FOR_PAGES: bool = cfg!(all(feature = "page", target_arch = "wasm32"));

/// The tokenizers.
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// `none`, which splits at white space.
    Whitespace,
    /// `jiwer`, which splits at spaces and at runs of two or more white-space characters.
    Spaces,
    /// `13a`.
    ThirteenA,
    /// `intl`.
    International,
    /// `zh`.
    Chinese,
    /// `char`.
    Character,
    /// `ptb`, or `ptb-coco`, which removes punctuation.
    Ptb {
        /// Whether to remove the punctuation that COCO's evaluation removes.
        coco: bool,
    },
    /// `tercom`, with its options.
    Tercom(tercom::TercomOptions),
    /// MeCab, with a dictionary.
    Mecab(Arc<mecab::MecabDictionary>),
    /// SentencePiece, with a model.
    SentencePiece(Arc<sentencepiece::SentencePieceModel>),
    /// No tokenizer: each segment is one token, including its white space.
    WholeSegment,
}

impl Tokenizer {
    /// The tokenizers without options, with their names.
    pub const NAMES: [(&str, Self); 10] = [
        ("none", Self::Whitespace),
        ("ids", Self::Whitespace),
        ("jiwer", Self::Spaces),
        ("13a", Self::ThirteenA),
        ("intl", Self::International),
        ("zh", Self::Chinese),
        ("char", Self::Character),
        ("ptb", Self::Ptb { coco: false }),
        ("ptb-coco", Self::Ptb { coco: true }),
        ("whole", Self::WholeSegment),
    ];

    /// Return the tokenizer with this name, or `None`.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut named = Self::NAMES.into_iter();
        named.find_map(|(known_name, tokenizer)| (known_name == name).then_some(tokenizer))
    }

    /// Tokenize a segment by the scalar definition: append the text of the tokens to `text`, and
    /// emit the position of each token.
    ///
    /// White space at the end of the segment is removed first, as in sacreBLEU.
    pub fn tokenize(&self, segment: &[u8], text: &mut Vec<u8>, mut emit: impl FnMut(usize, usize)) {
        let base = text.len();
        let mut emit = |start, end| emit(base + start, base + end);
        let trimmed = whitespace::trim_end(segment);
        let stripped = whitespace::trim_start(trimmed);
        let mut append = |segment| {
            text.extend_from_slice(segment);
            segment
        };
        match self {
            Self::Whitespace => whitespace::tokenize_whitespace(append(trimmed), emit),
            Self::Spaces => whitespace::split_at_spaces(append(stripped), emit),
            Self::ThirteenA => {
                append(&mteval_13a::rewrite_text(trimmed));
                mteval_13a::split_rewritten(&text[base..], true, |_| 0, emit);
            }
            Self::International => international::tokenize_intl(append(trimmed), emit),
            Self::Chinese => chinese::tokenize_zh(append(stripped), emit),
            Self::Character => character::tokenize_characters(append(trimmed), emit),
            Self::Ptb { coco } => ptb::tokenize_ptb(segment, *coco, text, emit),
            Self::Tercom(options) => {
                append(&options.rewrite(trimmed));
                whitespace::tokenize_whitespace(&text[base..], emit);
            }
            // Only Python loads dictionaries and models, and every report contains the kernel for
            // web pages, which is smaller without the code that reads them.
            Self::Mecab(_) | Self::SentencePiece(_) if IS_FOR_PAGES => {}
            Self::Mecab(dictionary) => dictionary.tokenize(append(stripped), emit),
            Self::SentencePiece(model) => model.tokenize(trimmed, text, emit),
            Self::WholeSegment if segment.is_empty() => {}
            Self::WholeSegment => emit(0, append(segment).len()),
        }
    }
}

/// A tokenizer with optional lowercasing.
#[derive(Clone)]
pub struct Lexer {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The lowercase mapping that is applied first, if any.
    pub lowercase: Option<Arc<Lowercase>>,
    /// The instruction set.
    pub instructions: Instructions,
}

/// Reusable buffers for the tokens of a block.
#[derive(Default)]
pub struct LexScratch {
    /// Segments joined into lines, and lowercased lines.
    joined: PaddedBuffer,
    lowered: PaddedBuffer,
    tokens: Tokens,
    lines: LineTable,
    /// The text and tokens of segments that are not lexed by the block form.
    annex_text: PaddedBuffer,
    annex: Tokens,
    exceptions: Vec<Exception>,
    /// Indices of segments that contain a newline and therefore cannot be lines.
    multiline_segments: Vec<u32>,
    /// The text of these segments, lowercased if the tokens are, and the end of each segment.
    multiline_text: Vec<u8>,
    multiline_ends: Vec<usize>,
}

impl LexScratch {
    /// Return the approximate size of the buffers in bytes.
    pub(crate) fn byte_count(&self) -> usize {
        let Self { joined, lowered, annex_text, tokens, annex, multiline_text, .. } = self;
        let text_bytes = [joined, lowered, annex_text].map(PaddedBuffer::capacity);
        let tokens = tokens.capacity() + annex.capacity();
        text_bytes.iter().sum::<usize>() + multiline_text.capacity() + 16 * tokens
    }
}

/// A segment with tokens outside the main text, or without tokens because it is missing.
#[derive(Clone, Copy)]
struct Exception {
    segment: u32,
    /// The range of the segment's tokens in the annex; `None` for a missing segment.
    tokens: Option<(u32, u32)>,
}

/// The tokens of a block, read segment by segment.
#[derive(Clone)]
pub struct Lexed<'a> {
    text: Padded<'a>,
    tokens: &'a Tokens,
    lines: &'a LineTable,
    annex_text: Padded<'a>,
    annex: &'a Tokens,
    /// The exceptions, sorted by segment.
    exceptions: &'a [Exception],
    /// The index of the next exception.
    next_exception: usize,
    /// The index of the next segment.
    segment: usize,
    /// The number of segments to advance per read.
    step: usize,
    has_lines: bool,
    /// The segments with newlines, with their text and its ends.
    multiline_segments: &'a [u32],
    multiline_text: &'a [u8],
    multiline_ends: &'a [usize],
}

impl<'a> Lexed<'a> {
    /// Return the tokens of the next segment, or `None` if it is missing.
    #[inline(always)]
    pub fn next_segment(&mut self) -> Option<View<'a>> {
        let i = self.segment;
        self.segment += self.step;
        if let Some(exception) = self.exceptions.get(self.next_exception)
            && exception.segment as usize == i
        {
            self.next_exception += self.step;
            let (first, last) = exception.tokens?;
            return Some(self.annex.view(self.annex_text, first as usize, last as usize));
        }
        let first = if i == 0 { 0 } else { self.lines.token_ends[i - 1] };
        let last = self.lines.token_ends[i];
        Some(self.tokens.view(self.text, first as usize, last as usize))
    }

    /// Return one copy of the reader for each of the next `count` segments, positioned before that
    /// segment. Stop at the first missing segment.
    pub fn split_positions(&self, count: usize) -> Vec<Self> {
        let mut cursor = self.clone();
        let positions = (0..count).map_while(|_| {
            let position = cursor.clone();
            cursor.next_segment().map(|_| position)
        });
        positions.collect()
    }

    /// Return a copy of the reader that yields the next segment on every read.
    pub fn repeated(&self) -> Self {
        Self { step: 0, ..self.clone() }
    }

    /// Return whether segment `i` is missing. Its line in the text is empty.
    pub fn is_missing(&self, i: usize) -> bool {
        let exception_index =
            self.exceptions.binary_search_by_key(&i, |exception| exception.segment as usize);
        exception_index.is_ok_and(|index| self.exceptions[index].tokens.is_none())
    }

    /// Return the lexed text of segment `i`, unless the segments were tokenized by the caller. It
    /// has newlines if the segment has.
    #[inline(always)]
    pub fn line(&self, i: usize) -> Option<&'a [u8]> {
        if !self.multiline_segments.is_empty()
            && let Ok(index) = self.multiline_segments.binary_search(&(i as u32))
        {
            let start = if index == 0 { 0 } else { self.multiline_ends[index - 1] };
            return Some(&self.multiline_text[start..self.multiline_ends[index]]);
        }
        self.has_lines.then(|| self.lines.line(self.text.bytes(), i))
    }

    /// Return the 64 bytes from the start of line `i`, which may extend past its newline. Return
    /// `None` if the segments are not lines of a text.
    #[inline(always)]
    pub fn line_block(&self, i: usize) -> Option<&'a [u8; 64]> {
        let has_lines = self.has_lines && self.multiline_segments.is_empty();
        has_lines.then(|| self.text.block(self.lines.starts[i] as usize))
    }
}

/// The position and value of an invalid byte in UTF-8 text.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidUtf8 {
    /// The index of the segment, counted from 0.
    pub segment: usize,
    /// The offset in the block's text.
    pub offset: usize,
    /// The first invalid byte.
    pub byte: u8,
}

impl Lexer {
    /// Tokenize a segment by the scalar definition ([`Tokenizer::tokenize`]), after lowercasing.
    pub fn tokenize(&self, segment: &[u8], text: &mut Vec<u8>, emit: impl FnMut(usize, usize)) {
        let Some(lowercase) = &self.lowercase else {
            return self.tokenizer.tokenize(segment, text, emit);
        };
        let mut lowered = PaddedBuffer::default();
        lowercase.append(segment, &mut lowered);
        lowered.finish();
        self.tokenizer.tokenize(lowered.padded().bytes(), text, emit);
    }

    /// Lex the segments of a block.
    pub fn lex<'a>(
        &self,
        block: &'a Block,
        scratch: &'a mut LexScratch,
    ) -> Result<Lexed<'a>, InvalidUtf8> {
        self.lex_block(block, scratch, true)
    }

    /// Lex the segments of a block. Without `with_keys`, compute only the positions of the tokens,
    /// for callers that do not compare tokens.
    pub fn lex_block<'a>(
        &self,
        block: &'a Block,
        scratch: &'a mut LexScratch,
        with_keys: bool,
    ) -> Result<Lexed<'a>, InvalidUtf8> {
        let LexScratch {
            joined,
            lowered,
            tokens,
            lines,
            annex_text,
            annex,
            exceptions,
            multiline_segments: folded,
            multiline_text,
            multiline_ends,
        } = scratch;
        tokens.clear();
        annex.clear();
        lines.clear();
        annex_text.clear();
        exceptions.clear();
        folded.clear();
        multiline_text.clear();
        multiline_ends.clear();
        joined.clear();
        let mut text = match block {
            Block::Tokens(token_block) => {
                lex_token_block(token_block, tokens, lines, exceptions);
                annex_text.finish();
                return Ok(Lexed {
                    text: token_block.text.padded(),
                    tokens,
                    lines,
                    annex_text: annex_text.padded(),
                    annex,
                    exceptions,
                    next_exception: 0,
                    segment: 0,
                    step: 1,
                    has_lines: false,
                    multiline_segments: folded,
                    multiline_text,
                    multiline_ends,
                });
            }
            Block::Lines { lines, .. } => {
                let text = lines.padded();
                if !self.instructions.run(CheckUtf8(text)) {
                    check_utf8(text.bytes())?;
                }
                text
            }
            Block::Segments { segments, is_utf8: trusted, .. } => {
                for (i, segment) in segments.iter().enumerate() {
                    match segment {
                        None => exceptions.push(Exception { segment: i as u32, tokens: None }),
                        Some(bytes) => interrupt::append(joined.buffer_mut(), bytes.bytes()),
                    }
                    joined.buffer_mut().push(b'\n');
                }
                let newlines = memchr::memchr_iter(b'\n', joined.buffer_mut()).count();
                if newlines != segments.len() {
                    let keeps_ends = matches!(self.tokenizer, Tokenizer::WholeSegment);
                    join_lines(segments, joined, folded, keeps_ends);
                }
                joined.finish();
                if !trusted {
                    check_utf8(joined.padded().bytes())?;
                    for &i in folded.iter() {
                        if let Some(bytes) = segments[i as usize] {
                            check_utf8(bytes.bytes())
                                .map_err(|bad| InvalidUtf8 { segment: i as usize, ..bad })?;
                        }
                    }
                }
                joined.padded()
            }
        };
        if let Some(lowercase) = &self.lowercase {
            lowered.clear();
            lowercase.append(text.bytes(), lowered);
            lowered.finish();
            text = lowered.padded();
        }
        let has_blocks = self.instructions != Instructions::Scalar;
        match has_blocks.then_some(&self.tokenizer) {
            Some(Tokenizer::Whitespace) => {
                self.lex_blocks::<whitespace::WhitespaceRule>(text, tokens, lines, with_keys);
            }
            Some(Tokenizer::Spaces) => {
                self.lex_blocks::<whitespace::SpacesRule>(text, tokens, lines, with_keys);
            }
            Some(Tokenizer::ThirteenA) => {
                self.lex_blocks::<mteval_13a::ThirteenARule>(text, tokens, lines, with_keys);
            }
            Some(Tokenizer::International) => {
                let lex = Self::lex_blocks::<international::InternationalRule>;
                lex(self, text, tokens, lines, with_keys);
            }
            Some(Tokenizer::Chinese) => {
                self.lex_blocks::<chinese::ChineseRule>(text, tokens, lines, with_keys);
            }
            Some(Tokenizer::Character) => {
                self.lex_blocks::<character::CharacterRule>(text, tokens, lines, with_keys);
            }
            Some(Tokenizer::WholeSegment) => lex_whole(text, tokens, lines, with_keys),
            // Without a block form, each line is an exception.
            _ => {
                let mut start = 0;
                for end in memchr::memchr_iter(b'\n', text.bytes()) {
                    lines.starts.push(start);
                    lines.token_ends.push(0);
                    lines.irregular.push(lines.irregular.len() as u32);
                    start = end as u32 + 1;
                }
            }
        }
        self.collect_multiline_text(block, folded, multiline_text, multiline_ends);
        let multiline = (&folded[..], &multiline_text[..], &multiline_ends[..]);
        self.lex_exceptions(text, lines, multiline, annex_text, annex, exceptions);
        annex_text.finish();
        let may_contain_nul = memchr::memchr(0, annex_text.padded().bytes()).is_some();
        annex.make_keys(annex_text.padded(), may_contain_nul);
        Ok(Lexed {
            text,
            tokens,
            lines,
            annex_text: annex_text.padded(),
            annex,
            exceptions,
            next_exception: 0,
            segment: 0,
            step: 1,
            has_lines: true,
            multiline_segments: folded,
            multiline_text,
            multiline_ends,
        })
    }

    /// Lex text with the block form of a tokenizer.
    fn lex_blocks<R: BlockRule>(
        &self,
        text: Padded<'_>,
        tokens: &mut Tokens,
        lines: &mut LineTable,
        with_keys: bool,
    ) {
        self.instructions.run(LexBlocks { text, tokens, lines, with_keys, rule: R::default() });
        if let Some(is_irregular) = R::EDGE_CHECK {
            let mut first = 0;
            for line in 0..lines.token_ends.len() {
                let last = lines.token_ends[line] as usize;
                if first < last {
                    let (start, _) = tokens.range(first);
                    let (_, end) = tokens.range(last - 1);
                    if is_irregular(text.bytes(), lines.starts[line] as usize, start, end) {
                        lines.irregular.push(line as u32);
                    }
                }
                first = last;
            }
            lines.irregular.sort_unstable();
            lines.irregular.dedup();
        }
    }

    /// Append the text of segments with newlines, lowercased if the tokens are, and its ends.
    fn collect_multiline_text(
        &self,
        block: &Block,
        multiline_segments: &[u32],
        text: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) {
        let Block::Segments { segments, .. } = block else { return };
        let mut lowered = PaddedBuffer::default();
        for bytes in multiline_segments.iter().filter_map(|&i| segments[i as usize].as_ref()) {
            match &self.lowercase {
                None => interrupt::append(text, bytes.bytes()),
                Some(lowercase) => {
                    lowered.clear();
                    lowercase.append(bytes.bytes(), &mut lowered);
                    lowered.finish();
                    interrupt::append(text, lowered.padded().bytes());
                }
            }
            ends.push(text.len());
        }
    }

    /// Lex irregular segments with the scalar definition.
    fn lex_exceptions(
        &self,
        text: Padded<'_>,
        lines: &LineTable,
        (multiline_segments, multiline_text, multiline_ends): (&[u32], &[u8], &[usize]),
        annex_text: &mut PaddedBuffer,
        annex: &mut Tokens,
        exceptions: &mut Vec<Exception>,
    ) {
        let missing_count = exceptions.len();
        let mut work = Work::default();
        let mut lex_segment = |segment: u32, bytes: &[u8]| {
            let first = annex.count() as u32;
            let buffer = annex_text.buffer_mut();
            self.tokenizer.tokenize(bytes, buffer, |start, end| {
                work.add(16);
                annex.push(start - crate::text_batches::MARGIN, end - crate::text_batches::MARGIN);
            });
            // Separate segments with a byte, so that adjacent segments cannot merge.
            buffer.push(b'\n');
            exceptions.push(Exception { segment, tokens: Some((first, annex.count() as u32)) });
        };
        let mut start = 0;
        for (&i, &end) in multiline_segments.iter().zip(multiline_ends) {
            lex_segment(i, &multiline_text[start..end]);
            start = end;
        }
        for &i in &lines.irregular {
            lex_segment(i, lines.line(text.bytes(), i as usize));
        }
        if missing_count + multiline_segments.len() > 0 {
            // Missing and multi-line segments were added first, so sort the exceptions by segment.
            exceptions.sort_by_key(|exception| exception.segment);
            exceptions.dedup_by_key(|exception| exception.segment);
        }
    }
}

fn lex_whole(text: Padded<'_>, tokens: &mut Tokens, lines: &mut LineTable, with_keys: bool) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.bytes()) {
        if start < end {
            tokens.push(start, end);
        }
        lines.starts.push(start as u32);
        lines.token_ends.push(tokens.count() as u32);
        start = end + 1;
    }
    if with_keys {
        tokens.make_keys(text, true);
    }
}

/// Join segments into lines, with an empty line for each segment that contains a newline. Newlines
/// at the end of a segment are removed first, unless `keeps_ends`.
fn join_lines(
    segments: &[Option<BorrowedSegment>],
    joined: &mut PaddedBuffer,
    multiline_segments: &mut Vec<u32>,
    keeps_ends: bool,
) {
    joined.clear();
    for (i, segment) in segments.iter().enumerate() {
        if let Some(bytes) = segment {
            let bytes = bytes.bytes();
            let line = if keeps_ends { bytes } else { trim_newlines(bytes) };
            if memchr::memchr(b'\n', line).is_some() {
                multiline_segments.push(i as u32);
            } else {
                interrupt::append(joined.buffer_mut(), line);
            }
        }
        joined.buffer_mut().push(b'\n');
    }
}

/// Return `text` without newlines at its end. Tokenizers ignore white space at the end.
fn trim_newlines(text: &[u8]) -> &[u8] {
    let length = text.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
    &text[..length]
}

/// Copy the tokens of segments that are already tokenized.
fn lex_token_block(
    token_block: &crate::text_batches::TokenBlock,
    tokens: &mut Tokens,
    lines: &mut LineTable,
    exceptions: &mut Vec<Exception>,
) {
    let ends = &token_block.token_ends[..];
    let (start_places, end_places) = tokens.reserve_positions(ends.len());
    // SAFETY: there is space for one value per token.
    unsafe {
        end_places.copy_from_nonoverlapping(ends.as_ptr(), ends.len());
        start_places.write(0);
        start_places.add(1).copy_from_nonoverlapping(ends.as_ptr(), ends.len());
    }
    tokens.set_count(ends.len());
    let text = token_block.text.padded();
    if token_block.has_other_tokens {
        tokens.make_keys(text, memchr::memchr(0, text.bytes()).is_some());
    } else {
        tokens.set_id_keys(text.bytes());
    }
    lines.token_ends.extend_from_slice(&token_block.segment_ends);
    exceptions.extend(
        token_block.missing_segments.iter().map(|&segment| Exception { segment, tokens: None }),
    );
}

/// A job that returns true only if newline-terminated text is valid UTF-8. It may return false for
/// valid text.
struct CheckUtf8<'a>(Padded<'a>);

impl Job for CheckUtf8<'_> {
    type Output = bool;

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> bool {
        let Self(text) = self;
        let length = text.bytes().len();
        let (mut is_valid, mut end) = (V::CHECKS_UTF8, 0);
        while is_valid && end < length {
            // The last block ends with the text, so that it does not depend on the bytes after it.
            end = length.min(end + 64);
            // SAFETY: blocks end in the text, whose margin before it is wider than a block and
            // three bytes, and the caller guarantees that `V` is available.
            is_valid = unsafe { V::continues_utf8(text.pointer().add(end).sub(64)) };
        }
        is_valid
    }
}

/// Return an error if newline-terminated text is not valid UTF-8.
fn check_utf8(text: &[u8]) -> Result<(), InvalidUtf8> {
    if simdutf8::basic::from_utf8(text).is_ok() {
        return Ok(());
    }
    match simdutf8::compat::from_utf8(text) {
        Ok(_) => Ok(()),
        Err(error) => {
            let offset = error.valid_up_to();
            let segment = memchr::memchr_iter(b'\n', &text[..offset]).count();
            Err(InvalidUtf8 { segment, offset, byte: text[offset] })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_utf8_check_agrees_with_standard_library() {
        let sets: Vec<_> = Instructions::available().collect();
        let is_implemented = |set| matches!(set, Instructions::Avx2 | Instructions::Avx512);
        let edges =
            [0, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC]
                .into_iter()
                .chain([0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF]);
        let edges: Vec<u8> = edges.collect();
        let digit = |i: usize, place: u32| edges[i / edges.len().pow(place) % edges.len()];
        // All sequences of three of these bytes before the fourth, at the edges of blocks and text.
        for i in 0..edges.len().pow(3) {
            for (last, before, after) in
                [(b'a', 0, 0), (0x80, 61, 0), (0xBF, 30, 64), (0xBF, 62, 7)]
            {
                let bytes = [digit(i, 0), digit(i, 1), digit(i, 2), last];
                let (before, after) = (vec![b'a'; before], vec![b'a'; after]);
                let mut text = PaddedBuffer::default();
                text.clear();
                for bytes in [&before[..], &bytes, &after, b"\n"] {
                    text.buffer_mut().extend_from_slice(bytes);
                }
                text.finish();
                let is_utf8 = std::str::from_utf8(text.padded().bytes()).is_ok();
                for &set in &sets {
                    let is_checked = set.run(CheckUtf8(text.padded()));
                    assert_eq!(is_checked, is_utf8 && is_implemented(set), "{bytes:?} {set:?}");
                }
            }
        }
    }
}
