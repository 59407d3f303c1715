//! Lexing: segments to tokens, by one of ten tokenizers.
//!
//! Each tokenizer has a scalar definition, which takes one segment, and a block form, which takes
//! many lines at once and must give the same tokens for each. The block form hands every line that
//! it cannot decide to the scalar one. Tercom's, MeCab's and SentencePiece's have no block form.

pub mod block;
pub mod character;
pub mod chinese;
pub mod international;
pub mod lowercase;
pub mod mecab;
pub mod mteval_13a;
pub mod sentencepiece;
pub mod tercom;
mod unicode;
pub mod utf8;
pub mod whitespace;

use crate::interrupt::{self, Work};
use crate::simd::Instructions;
use crate::text_batches::{Block, Foreign, Padded, PaddedBuffer};
use crate::tokens::{Tokens, View};
use block::{LexBlocks, LineTable, Rule};
use lowercase::Lowercase;
use std::sync::Arc;

/// How text is split into tokens.
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// `none`: at white space.
    Whitespace,
    /// `jiwer`: at spaces, and at runs of other white space.
    Spaces,
    /// `13a`.
    ThirteenA,
    /// `intl`.
    International,
    /// `zh`.
    Chinese,
    /// `char`.
    Character,
    /// `tercom`, with its options.
    Tercom(tercom::Options),
    /// MeCab's, with a dictionary.
    Mecab(Arc<mecab::Dictionary>),
    /// SentencePiece's, with a model.
    SentencePiece(Arc<sentencepiece::Model>),
    /// Not at all: the segment, white space and all, is one token.
    Whole,
}

impl Tokenizer {
    /// The tokenizers without options, and their names.
    pub const NAMED: [(&str, Self); 7] = [
        ("none", Self::Whitespace),
        ("jiwer", Self::Spaces),
        ("13a", Self::ThirteenA),
        ("intl", Self::International),
        ("zh", Self::Chinese),
        ("char", Self::Character),
        ("whole", Self::Whole),
    ];

    /// The tokenizer with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, tokenizer)| tokenizer)
    }

    /// The definition: appends what the tokens of `segment` lie in to `text`, and emits where.
    ///
    /// As in sacreBLEU, white space at the segment's end goes first.
    pub fn tokenize(&self, segment: &[u8], text: &mut Vec<u8>, mut emit: impl FnMut(usize, usize)) {
        let base = text.len();
        let mut emit = |start, end| emit(base + start, base + end);
        if matches!(self, Self::Whole) {
            text.extend_from_slice(segment);
            if !segment.is_empty() {
                emit(0, segment.len());
            }
            return;
        }
        let mut segment = whitespace::trim_end(segment);
        match self {
            Self::ThirteenA => {
                text.extend_from_slice(&mteval_13a::rewrite(segment));
                mteval_13a::split(&text[base..], true, |_| 0, emit);
                return;
            }
            Self::Tercom(options) => {
                text.extend_from_slice(&options.rewrite(segment));
                whitespace::tokenize(&text[base..], emit);
                return;
            }
            Self::SentencePiece(model) => {
                model.tokenize(segment, text, emit);
                return;
            }
            Self::Chinese | Self::Mecab(_) | Self::Spaces => {
                segment = whitespace::trim_start(segment);
            }
            _ => {}
        }
        text.extend_from_slice(segment);
        match self {
            Self::Whitespace => whitespace::tokenize(segment, emit),
            Self::Spaces => whitespace::split_at_spaces(segment, emit),
            Self::International => international::tokenize(segment, emit),
            Self::Chinese => chinese::tokenize(segment, emit),
            Self::Character => character::tokenize(segment, emit),
            Self::Mecab(dictionary) => dictionary.tokenize(segment, emit),
            Self::ThirteenA | Self::Tercom(_) | Self::SentencePiece(_) | Self::Whole => {}
        }
    }
}

/// A tokenizer and what is done to the text before it.
#[derive(Clone)]
pub struct Lexer {
    /// How text is split.
    pub tokenizer: Tokenizer,
    /// How text is lower-cased first, if it is.
    pub lowercase: Option<Arc<Lowercase>>,
    /// The instruction set to run with.
    pub instructions: Instructions,
}

/// Memory for the tokens of one block, used again for the next.
#[derive(Default)]
pub struct Scratch {
    /// Segments that were not lines, joined to lines; lines that were lower-cased.
    joined: PaddedBuffer,
    lowered: PaddedBuffer,
    tokens: Tokens,
    lines: LineTable,
    /// The text and tokens of irregular segments.
    annex_text: PaddedBuffer,
    annex: Tokens,
    exceptions: Vec<Exception>,
    /// Segments with a newline inside, which cannot be lines.
    folded: Vec<u32>,
}

/// A segment whose tokens are not in the main text.
#[derive(Clone, Copy)]
struct Exception {
    segment: u32,
    /// Its tokens in the annex; `None` for a segment that is missing.
    tokens: Option<(u32, u32)>,
}

/// The tokens of one block, a segment at a time.
#[derive(Clone)]
pub struct Lexed<'a> {
    text: Padded<'a>,
    tokens: &'a Tokens,
    lines: &'a LineTable,
    annex_text: Padded<'a>,
    annex: &'a Tokens,
    /// In the order of their segments.
    exceptions: &'a [Exception],
    /// The next of `exceptions` to come.
    exception: usize,
    /// The next segment.
    segment: usize,
    /// How far it is to the one after it.
    step: usize,
    has_lines: bool,
}

impl<'a> Lexed<'a> {
    /// The tokens of the next segment; `None` if it is missing. Segments come in order.
    #[inline(always)]
    pub fn next_segment(&mut self) -> Option<View<'a>> {
        let i = self.segment;
        self.segment += self.step;
        if let Some(exception) = self.exceptions.get(self.exception)
            && exception.segment as usize == i
        {
            self.exception += self.step;
            let (first, last) = exception.tokens?;
            return Some(self.annex.view(self.annex_text, first as usize, last as usize));
        }
        let first = if i == 0 { 0 } else { self.lines.token_ends[i - 1] };
        let last = self.lines.token_ends[i];
        Some(self.tokens.view(self.text, first as usize, last as usize))
    }

    /// Copies that stand before each of the next `count` segments, up to one that is missing.
    pub fn each(&self, count: usize) -> Vec<Self> {
        let mut next = self.clone();
        let each = (0..count).map_while(|_| {
            let here = next.clone();
            next.next_segment().map(|_| here)
        });
        each.collect()
    }

    /// The next segment, again and again.
    pub fn repeated(&self) -> Self {
        Self { step: 0, ..self.clone() }
    }

    /// Whether segment `i` is missing, so that an empty line stands in for it.
    pub fn is_missing(&self, i: usize) -> bool {
        let found = self.exceptions.binary_search_by_key(&i, |one| one.segment as usize);
        found.is_ok_and(|at| self.exceptions[at].tokens.is_none())
    }

    /// The text of segment `i` as it was lexed, where that is a line.
    pub fn line(&self, i: usize) -> Option<&'a [u8]> {
        self.has_lines.then(|| self.lines.line(self.text.bytes(), i))
    }
}

/// Bytes that are not UTF-8: the segment in the block, the offset in its text, the byte.
#[derive(Debug, PartialEq, Eq)]
pub struct BadBytes {
    /// The segment, counted from 0.
    pub segment: usize,
    /// Where in the block's text.
    pub offset: usize,
    /// The first offending byte.
    pub byte: u8,
}

impl Lexer {
    /// The definition: as [`Tokenizer::tokenize`], behind lower-casing.
    pub fn tokenize(&self, segment: &[u8], text: &mut Vec<u8>, emit: impl FnMut(usize, usize)) {
        let Some(lowercase) = &self.lowercase else {
            return self.tokenizer.tokenize(segment, text, emit);
        };
        let mut lowered = PaddedBuffer::default();
        lowercase.append(segment, &mut lowered);
        lowered.finish();
        self.tokenizer.tokenize(lowered.padded().bytes(), text, emit);
    }

    /// Lexes the segments of a block.
    pub fn lex<'a>(
        &self,
        block: &'a Block,
        scratch: &'a mut Scratch,
    ) -> Result<Lexed<'a>, BadBytes> {
        self.lex_for(block, scratch, true)
    }

    /// The same; without `keys` only where the tokens are, for what does not compare them.
    pub fn lex_for<'a>(
        &self,
        block: &'a Block,
        scratch: &'a mut Scratch,
        keys: bool,
    ) -> Result<Lexed<'a>, BadBytes> {
        let Scratch { joined, lowered, tokens, lines, annex_text, annex, exceptions, folded } =
            scratch;
        tokens.clear();
        annex.clear();
        lines.clear();
        annex_text.clear();
        exceptions.clear();
        folded.clear();
        joined.clear();
        let mut text = match block {
            Block::Tokens(given) => {
                lex_given(given, tokens, lines, exceptions);
                annex_text.finish();
                return Ok(Lexed {
                    text: given.text.padded(),
                    tokens,
                    lines,
                    annex_text: annex_text.padded(),
                    annex,
                    exceptions,
                    exception: 0,
                    segment: 0,
                    step: 1,
                    has_lines: false,
                });
            }
            Block::Lines { lines, .. } => {
                let text = lines.padded();
                validate(text.bytes())?;
                text
            }
            Block::Segments { segments, trusted, .. } => {
                for (i, segment) in segments.iter().enumerate() {
                    match segment {
                        None => exceptions.push(Exception { segment: i as u32, tokens: None }),
                        Some(bytes) => interrupt::append(joined.raw(), bytes.bytes()),
                    }
                    joined.raw().push(b'\n');
                }
                let newlines = memchr::memchr_iter(b'\n', joined.raw()).count();
                if newlines != segments.len() {
                    fold(segments, joined, folded);
                }
                joined.finish();
                if !trusted {
                    validate(joined.padded().bytes())?;
                    for &i in folded.iter() {
                        if let Some(bytes) = segments[i as usize] {
                            validate(bytes.bytes())
                                .map_err(|bad| BadBytes { segment: i as usize, ..bad })?;
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
        let line_by_line = matches!(
            self.tokenizer,
            Tokenizer::Tercom(_) | Tokenizer::Mecab(_) | Tokenizer::SentencePiece(_)
        );
        if line_by_line || self.instructions == Instructions::Scalar {
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', text.bytes()) {
                lines.starts.push(start);
                lines.token_ends.push(0);
                lines.irregular.push(lines.irregular.len() as u32);
                start = end as u32 + 1;
            }
        } else {
            match &self.tokenizer {
                Tokenizer::Whitespace => {
                    self.blocks::<whitespace::Whitespace>(text, tokens, lines, keys);
                }
                Tokenizer::Spaces => self.blocks::<whitespace::Spaces>(text, tokens, lines, keys),
                Tokenizer::ThirteenA => {
                    self.blocks::<mteval_13a::ThirteenA>(text, tokens, lines, keys)
                }
                Tokenizer::International => {
                    self.blocks::<international::International>(text, tokens, lines, keys);
                }
                Tokenizer::Chinese => self.blocks::<chinese::Chinese>(text, tokens, lines, keys),
                Tokenizer::Character => {
                    self.blocks::<character::Character>(text, tokens, lines, keys)
                }
                Tokenizer::Tercom(_) | Tokenizer::Mecab(_) | Tokenizer::SentencePiece(_) => {}
                Tokenizer::Whole => lex_whole(text, tokens, lines, keys),
            }
        }
        self.lex_exceptions(block, text, lines, folded, annex_text, annex, exceptions);
        annex_text.finish();
        annex.make_keys(annex_text.padded(), true);
        Ok(Lexed {
            text,
            tokens,
            lines,
            annex_text: annex_text.padded(),
            annex,
            exceptions,
            exception: 0,
            segment: 0,
            step: 1,
            has_lines: true,
        })
    }

    fn blocks<R: Rule>(
        &self,
        text: Padded<'_>,
        tokens: &mut Tokens,
        lines: &mut LineTable,
        keys: bool,
    ) {
        self.instructions.run(LexBlocks { text, tokens, lines, keys, rule: R::default() });
        if let Some(irregular) = R::EDGES {
            let mut first = 0;
            for line in 0..lines.token_ends.len() {
                let last = lines.token_ends[line] as usize;
                if first < last {
                    let (start, _) = tokens.range(first);
                    let (_, end) = tokens.range(last - 1);
                    if irregular(text.bytes(), lines.starts[line] as usize, start, end) {
                        lines.irregular.push(line as u32);
                    }
                }
                first = last;
            }
            lines.irregular.sort_unstable();
            lines.irregular.dedup();
        }
    }

    /// Lexes what is not a regular line, with the scalar definition.
    #[allow(clippy::too_many_arguments)]
    fn lex_exceptions(
        &self,
        block: &Block,
        text: Padded<'_>,
        lines: &LineTable,
        folded: &[u32],
        annex_text: &mut PaddedBuffer,
        annex: &mut Tokens,
        exceptions: &mut Vec<Exception>,
    ) {
        let missing = exceptions.len();
        let mut work = Work::default();
        let mut lex = |segment: u32, bytes: &[u8]| {
            let first = annex.count() as u32;
            let raw = annex_text.raw();
            self.tokenizer.tokenize(bytes, raw, |start, end| {
                work.done(16);
                annex.push(start - crate::text_batches::MARGIN, end - crate::text_batches::MARGIN);
            });
            // A byte between two segments, so that none runs into the next.
            raw.push(b'\n');
            exceptions.push(Exception { segment, tokens: Some((first, annex.count() as u32)) });
        };
        if let Block::Segments { segments, .. } = block {
            let mut lowered = PaddedBuffer::default();
            for &i in folded {
                let Some(bytes) = &segments[i as usize] else {
                    continue;
                };
                match &self.lowercase {
                    None => lex(i, bytes.bytes()),
                    Some(lowercase) => {
                        lowered.clear();
                        lowercase.append(bytes.bytes(), &mut lowered);
                        lowered.finish();
                        lex(i, lowered.padded().bytes());
                    }
                }
            }
        }
        for &i in &lines.irregular {
            lex(i, lines.line(text.bytes(), i as usize));
        }
        if missing + folded.len() > 0 {
            // Empty lines stand in for missing and folded segments; what they give comes last.
            exceptions.sort_by_key(|exception| exception.segment);
            exceptions.dedup_by_key(|exception| exception.segment);
        }
    }
}

/// Lines as tokens.
fn lex_whole(text: Padded<'_>, tokens: &mut Tokens, lines: &mut LineTable, keys: bool) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.bytes()) {
        if start < end {
            tokens.push(start, end);
        }
        lines.starts.push(start as u32);
        lines.token_ends.push(tokens.count() as u32);
        start = end + 1;
    }
    if keys {
        tokens.make_keys(text, true);
    }
}

/// Joins segments to lines again, with an empty line in place of each that has a newline inside.
fn fold(segments: &[Option<Foreign>], joined: &mut PaddedBuffer, folded: &mut Vec<u32>) {
    joined.clear();
    for (i, segment) in segments.iter().enumerate() {
        if let Some(bytes) = segment {
            if memchr::memchr(b'\n', bytes.bytes()).is_some() {
                folded.push(i as u32);
            } else {
                interrupt::append(joined.raw(), bytes.bytes());
            }
        }
        joined.raw().push(b'\n');
    }
}

/// Tokens that came as tokens.
fn lex_given(
    given: &crate::text_batches::TokenBlock,
    tokens: &mut Tokens,
    lines: &mut LineTable,
    exceptions: &mut Vec<Exception>,
) {
    let mut start = 0;
    for &end in &given.token_ends {
        tokens.push(start, end as usize);
        start = end as usize;
    }
    tokens.make_keys(given.text.padded(), true);
    lines.token_ends.extend_from_slice(&given.segment_ends);
    exceptions.extend(given.missing.iter().map(|&segment| Exception { segment, tokens: None }));
}

/// Checks that newline-terminated text is UTF-8.
fn validate(text: &[u8]) -> Result<(), BadBytes> {
    if simdutf8::basic::from_utf8(text).is_ok() {
        return Ok(());
    }
    match simdutf8::compat::from_utf8(text) {
        Ok(_) => Ok(()),
        Err(error) => {
            let offset = error.valid_up_to();
            let segment = memchr::memchr_iter(b'\n', &text[..offset]).count();
            Err(BadBytes { segment, offset, byte: text[offset] })
        }
    }
}
