//! Each block lexer produces the tokens of its scalar definition, and reports the position of
//! invalid UTF-8.

use crate::input::{Input, TEXT_SEPARATOR, is_python_utf8, split_texts, with_lines, with_segments};
use crate::make::{self, Random};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use truebleu_kernel::lex::lowercase::Lowercase;
use truebleu_kernel::lex::{InvalidUtf8, LexScratch, Lexed, Lexer, Tokenizer};
use truebleu_kernel::tokens::View;

/// Bits of the third input byte.
const LOWERCASE_FLAG: u8 = 1;
const LINES_FLAG: u8 = 2;
const UTF8_FLAG: u8 = 4;

/// Make an input: the tokenizer, the instruction set, flags; then the segments.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend([random.next_bits() as u8, random.next_bits() as u8, random.next_bits() as u8]);
    if random.once_in(4) {
        out[2] &= !LOWERCASE_FLAG;
    }
    let count = 1 + random.length(8);
    make::append_texts(random, count, out, |random, out| {
        if random.once_in(12) {
            out.push(MISSING_MARK);
        }
        make::append_text(random, 160, out);
        if random.once_in(8) {
            out.push(b'\n');
            make::append_text(random, 40, out);
        }
    });
    if random.once_in(6) {
        let mut damaged = out.split_off(3);
        make::damage(random, &mut damaged);
        out.append(&mut damaged);
    }
}

/// The first byte of a missing segment.
const MISSING_MARK: u8 = 0xFE;

/// Return the lowercase mapping of the standard library.
pub fn rust_lowercase() -> Arc<Lowercase> {
    static TABLE: OnceLock<Arc<Lowercase>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        // Miri would need minutes for all characters, and does not check the mapping.
        let last = if cfg!(miri) { 0x600 } else { 0x11_0000 };
        let pairs = (0x80..last).filter_map(char::from_u32).filter_map(|upper| {
            let mut lower = upper.to_lowercase();
            let first = lower.next()?;
            (first != upper && lower.next().is_none()).then_some((upper.into(), first.into()))
        });
        let fallback = |segment: &[u8], out: &mut Vec<u8>| match std::str::from_utf8(segment) {
            Ok(text) => out.extend_from_slice(text.to_lowercase().as_bytes()),
            Err(_) => out.extend_from_slice(segment),
        };
        Arc::new(Lowercase::new(pairs, Box::new(fallback)))
    });
    Arc::clone(table)
}

/// Reusable buffers.
#[derive(Default)]
struct LexerBuffers {
    scratch: LexScratch,
    text: Vec<u8>,
    expected_text: Vec<u8>,
    ranges: Vec<(usize, usize)>,
}

/// Run the target.
pub fn target(data: &[u8]) {
    thread_local! {
        static MEMORY: RefCell<LexerBuffers> = RefCell::default();
    }
    let mut input = Input(data);
    let tokenizer = input.tokenizer();
    let instructions = input.instructions();
    let flags = input.byte();
    let lowercase = (flags & LOWERCASE_FLAG != 0 && !cfg!(miri)).then(rust_lowercase);
    let lexer = Lexer { tokenizer, lowercase, instructions };
    MEMORY.with_borrow_mut(|LexerBuffers { scratch, text, expected_text: defined, ranges }| {
        if flags & LINES_FLAG != 0 {
            text.clear();
            text.extend_from_slice(input.0);
            text.push(b'\n');
            let segments = || text[..text.len() - 1].split(|&byte| byte == b'\n').map(Some);
            with_lines(text, |block| {
                let expected = std::str::from_utf8(text).map(drop).map_err(|error| {
                    let offset = error.valid_up_to();
                    let segment = text[..offset].iter().filter(|&&byte| byte == b'\n').count();
                    InvalidUtf8 { segment, offset, byte: text[offset] }
                });
                let lexed = lexer.lex(block, scratch);
                assert_eq!(lexed.as_ref().map(drop).map_err(clone_error), expected);
                if let Ok(lexed) = lexed {
                    check_segments(&lexer, lexed, segments(), true, (defined, ranges));
                }
            });
            return;
        }
        let is_trusted = flags & UTF8_FLAG != 0;
        let segments: Vec<Option<&[u8]>> = split_texts(input.0)
            .map(|text| (text.first() != Some(&MISSING_MARK)).then_some(text))
            .collect();
        let is_valid = segments.iter().flatten().all(|text| std::str::from_utf8(text).is_ok());
        let is_valid_python = segments.iter().flatten().all(|text| is_python_utf8(text));
        with_segments(&segments, is_trusted, |block| match lexer.lex(block, scratch) {
            Ok(lexed) => {
                assert!(is_trusted || is_valid, "invalid UTF-8 was accepted");
                // The standard library lowercases only text without surrogates.
                let comparable = is_valid || is_valid_python && lexer.lowercase.is_none();
                check_segments(
                    &lexer,
                    lexed,
                    segments.iter().copied(),
                    comparable,
                    (defined, ranges),
                );
            }
            Err(bad) => {
                assert!(!is_trusted && !is_valid, "valid text was rejected");
                let first_invalid = segments
                    .iter()
                    .position(|text| text.is_some_and(|text| std::str::from_utf8(text).is_err()));
                // Segments with newlines are checked last.
                let has_newlines = segments.iter().flatten().any(|text| text.contains(&b'\n'));
                assert!(
                    has_newlines || Some(bad.segment) == first_invalid,
                    "{bad:?} (expected {first_invalid:?})"
                );
            }
        });
    });
}

/// Copy an error.
fn clone_error(bad: &InvalidUtf8) -> InvalidUtf8 {
    let &InvalidUtf8 { segment, offset, byte } = bad;
    InvalidUtf8 { segment, offset, byte }
}

/// Check the tokens of each segment, if the bytes allow a comparison.
fn check_segments<'a>(
    lexer: &Lexer,
    mut lexed: Lexed<'_>,
    segments: impl Iterator<Item = Option<&'a [u8]>>,
    comparable: bool,
    (expected_text, ranges): (&mut Vec<u8>, &mut Vec<(usize, usize)>),
) {
    for (number, segment) in segments.enumerate() {
        let view = lexed.next_segment();
        assert_eq!(view.is_some(), segment.is_some(), "segment {number}");
        let (Some(view), Some(segment)) = (view, segment) else { continue };
        let size: usize = (0..view.count()).map(|i| view.token(i).len()).sum();
        if !comparable {
            // An entity of several characters becomes one character; lowercase text may be longer.
            assert!(size <= 3 * segment.len(), "tokens of {size} bytes");
            continue;
        }
        expected_text.clear();
        ranges.clear();
        let lowered;
        let segment = match &lexer.lowercase {
            None => segment,
            Some(_) => {
                lowered = std::str::from_utf8(segment).unwrap().to_lowercase();
                lowered.as_bytes()
            }
        };
        lexer.tokenizer.tokenize(segment, expected_text, |start, end| ranges.push((start, end)));
        assert_same_tokens(&lexer.tokenizer, number, &view, expected_text, ranges);
    }
}

/// Panic unless the tokens equal the expected tokens.
fn assert_same_tokens(
    tokenizer: &Tokenizer,
    number: usize,
    view: &View<'_>,
    expected_text: &[u8],
    ranges: &[(usize, usize)],
) {
    let are_equal = view.count() == ranges.len()
        && ranges
            .iter()
            .enumerate()
            .all(|(i, &(start, end))| view.token(i) == &expected_text[start..end]);
    if !are_equal {
        let tokens: Vec<_> =
            (0..view.count()).map(|i| String::from_utf8_lossy(view.token(i))).collect();
        let expected: Vec<_> = ranges
            .iter()
            .map(|&(start, end)| String::from_utf8_lossy(&expected_text[start..end]))
            .collect();
        panic!("{tokenizer:?}, segment {number}: {tokens:?} (expected {expected:?})");
    }
    for i in 0..view.count() {
        let token = view.token(i);
        assert!(!token.is_empty() && !token.contains(&TEXT_SEPARATOR));
    }
}
