//! Each block lexer gives the tokens of its definition, and refuses what is not UTF-8 where it is.

use crate::input::{BETWEEN, Input, is_pythons, texts, with_lines, with_segments};
use crate::make::{self, Random};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use truebleu_kernel::lex::lowercase::Lowercase;
use truebleu_kernel::lex::{BadBytes, Lexed, Lexer, Scratch, Tokenizer};
use truebleu_kernel::tokens::View;

/// Bits of the input's third byte.
const LOWERCASE: u8 = 1;
const LINES: u8 = 2;
const TRUSTED: u8 = 4;

/// An input: the tokenizer, the instruction set, bits; then the segments.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend([random.bits() as u8, random.bits() as u8, random.bits() as u8]);
    if random.once_in(4) {
        out[2] &= !LOWERCASE;
    }
    let count = 1 + random.length(8);
    make::texts(random, count, out, |random, out| {
        if random.once_in(12) {
            out.push(MISSING);
        }
        make::text(random, 160, out);
        if random.once_in(8) {
            out.push(b'\n');
            make::text(random, 40, out);
        }
    });
    if random.once_in(6) {
        let mut damaged = out.split_off(3);
        make::damage(random, &mut damaged);
        out.append(&mut damaged);
    }
}

/// The first byte of a segment that is missing.
const MISSING: u8 = 0xFE;

/// Lower case by the standard library.
pub fn lowercase() -> Arc<Lowercase> {
    static TABLE: OnceLock<Arc<Lowercase>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        // Miri would take minutes over all characters, and what they become is not looked at there.
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

#[derive(Default)]
struct Memory {
    scratch: Scratch,
    text: Vec<u8>,
    defined: Vec<u8>,
    ranges: Vec<(usize, usize)>,
}

/// Runs it.
pub fn target(data: &[u8]) {
    thread_local! {
        static MEMORY: RefCell<Memory> = RefCell::default();
    }
    let mut input = Input(data);
    let tokenizer = input.tokenizer();
    let instructions = input.instructions();
    let bits = input.byte();
    let lowercase = (bits & LOWERCASE != 0 && !cfg!(miri)).then(lowercase);
    let lexer = Lexer { tokenizer, lowercase, instructions };
    MEMORY.with_borrow_mut(|Memory { scratch, text, defined, ranges }| {
        if bits & LINES != 0 {
            text.clear();
            text.extend_from_slice(input.0);
            text.push(b'\n');
            let segments = || text[..text.len() - 1].split(|&byte| byte == b'\n').map(Some);
            with_lines(text, |block| {
                let expected = std::str::from_utf8(text).map(drop).map_err(|error| {
                    let offset = error.valid_up_to();
                    let segment = text[..offset].iter().filter(|&&byte| byte == b'\n').count();
                    BadBytes { segment, offset, byte: text[offset] }
                });
                let lexed = lexer.lex(block, scratch);
                assert_eq!(lexed.as_ref().map(drop).map_err(clone), expected);
                if let Ok(lexed) = lexed {
                    check(&lexer, lexed, segments(), true, (defined, ranges));
                }
            });
            return;
        }
        let trusted = bits & TRUSTED != 0;
        let segments: Vec<Option<&[u8]>> =
            texts(input.0).map(|text| (text.first() != Some(&MISSING)).then_some(text)).collect();
        let whole = segments.iter().flatten().all(|text| std::str::from_utf8(text).is_ok());
        let pythons = segments.iter().flatten().all(|text| is_pythons(text));
        with_segments(&segments, trusted, |block| match lexer.lex(block, scratch) {
            Ok(lexed) => {
                assert!(trusted || whole, "text that is not UTF-8 was taken");
                // Lower case as the standard library has it is of text without surrogates.
                let comparable = whole || pythons && lexer.lowercase.is_none();
                check(&lexer, lexed, segments.iter().copied(), comparable, (defined, ranges));
            }
            Err(bad) => {
                assert!(!trusted && !whole, "text was refused");
                let first = segments
                    .iter()
                    .position(|text| text.is_some_and(|text| std::str::from_utf8(text).is_err()));
                // Segments with a newline inside are looked at last.
                let folded = segments.iter().flatten().any(|text| text.contains(&b'\n'));
                assert!(folded || Some(bad.segment) == first, "{bad:?}, and not {first:?}");
            }
        });
    });
}

fn clone(bad: &BadBytes) -> BadBytes {
    let &BadBytes { segment, offset, byte } = bad;
    BadBytes { segment, offset, byte }
}

/// That each segment has its tokens, if that can be said of these bytes.
fn check<'a>(
    lexer: &Lexer,
    mut lexed: Lexed<'_>,
    segments: impl Iterator<Item = Option<&'a [u8]>>,
    comparable: bool,
    (defined, ranges): (&mut Vec<u8>, &mut Vec<(usize, usize)>),
) {
    for (number, segment) in segments.enumerate() {
        let view = lexed.next_segment();
        assert_eq!(view.is_some(), segment.is_some(), "segment {number}");
        let (Some(view), Some(segment)) = (view, segment) else { continue };
        let size: usize = (0..view.count()).map(|i| view.token(i).len()).sum();
        if !comparable {
            // An entity of two characters and more becomes one; lower case may be longer.
            assert!(size <= 3 * segment.len(), "tokens of {size} bytes");
            continue;
        }
        defined.clear();
        ranges.clear();
        let lowered;
        let segment = match &lexer.lowercase {
            None => segment,
            Some(_) => {
                lowered = std::str::from_utf8(segment).unwrap().to_lowercase();
                lowered.as_bytes()
            }
        };
        lexer.tokenizer.tokenize(segment, defined, |start, end| ranges.push((start, end)));
        same(&lexer.tokenizer, number, &view, defined, ranges);
    }
}

fn same(
    tokenizer: &Tokenizer,
    number: usize,
    view: &View<'_>,
    defined: &[u8],
    ranges: &[(usize, usize)],
) {
    let equal = view.count() == ranges.len()
        && ranges
            .iter()
            .enumerate()
            .all(|(i, &(start, end))| view.token(i) == &defined[start..end]);
    if !equal {
        let found: Vec<_> =
            (0..view.count()).map(|i| String::from_utf8_lossy(view.token(i))).collect();
        let expected: Vec<_> = ranges
            .iter()
            .map(|&(start, end)| String::from_utf8_lossy(&defined[start..end]))
            .collect();
        panic!("{tokenizer:?}, segment {number}: {found:?}, and not {expected:?}");
    }
    for i in 0..view.count() {
        let token = view.token(i);
        assert!(!token.is_empty() && !token.contains(&BETWEEN));
    }
}
