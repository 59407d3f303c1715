//! Text normalization: lowercasing, the rules of tercom and 13a, and decoding of characters.

use super::lexers::rust_lowercase;
use crate::input::Input;
use crate::make::{self, Random};
use std::cell::RefCell;
use truebleu_kernel::lex::{Tokenizer, mteval_13a, tercom, utf8, whitespace};
use truebleu_kernel::text_batches::PaddedBuffer;

/// Make an input: options, then the text.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.push(random.next_bits() as u8);
    let max_bytes = if random.once_in(16) { 200 } else { 40 };
    make::append_text(random, max_bytes, out);
    if random.once_in(4) {
        out.push(b'\n');
        make::append_text(random, max_bytes / 2, out);
    }
    if random.once_in(4) {
        let mut damaged = out.split_off(1);
        make::damage(random, &mut damaged);
        out.append(&mut damaged);
    }
}

/// Run the target.
pub fn target(data: &[u8]) {
    thread_local! {
        static LOWERED: RefCell<PaddedBuffer> = RefCell::default();
    }
    let mut input = Input(data);
    let options = input.byte();
    let text = input.0;
    let valid = std::str::from_utf8(text);

    LOWERED.with_borrow_mut(|lowered| {
        lowered.clear();
        rust_lowercase().append(text, lowered);
        lowered.finish();
        let lowered = lowered.padded().bytes();
        assert!(lowered.len() <= 3 * text.len());
        if let Ok(text) = valid
            && !cfg!(miri)
        {
            let lines: Vec<String> = text.split('\n').map(str::to_lowercase).collect();
            assert_eq!(std::str::from_utf8(lowered), Ok(&lines.join("\n")[..]));
        }
    });

    let flag = |bit: u8| options >> bit & 1 == 1;
    let (normalized, no_punct, asian_support, twice) = (flag(0), flag(1), flag(2), flag(3));
    let options =
        tercom::TercomOptions { normalized, no_punct, asian_support, applies_twice: twice };
    let rewritten = options.rewrite(text);
    // At most one space around each character, applied twice.
    assert!(rewritten.len() <= 4 * text.len() + 2, "{} bytes", rewritten.len());
    let rewritten_13a = mteval_13a::rewrite_text(text);
    assert!(rewritten_13a.len() <= text.len());
    if valid.is_ok() {
        assert!(std::str::from_utf8(&rewritten).is_ok());
        assert!(std::str::from_utf8(&rewritten_13a).is_ok());
    }

    let mut position = 0;
    let mut points = valid.map(str::chars).ok();
    while position < text.len() {
        let (point, width) = utf8::decode_char(&text[position..]);
        assert!(width > 0 && position + width <= text.len());
        if let Some(points) = &mut points {
            let expected = points.next();
            assert_eq!(point, expected.map(u32::from));
            assert_eq!(Some(width), expected.map(char::len_utf8));
        }
        position += width;
    }

    // Tokenizers without rewriting rules emit parts of the text, in order.
    for tokenizer in [Tokenizer::Whitespace, Tokenizer::Spaces, Tokenizer::Character] {
        let (mut out, mut last) = (Vec::new(), 0);
        tokenizer.tokenize(text, &mut out, |start, end| {
            assert!(last <= start && start < end);
            last = end;
        });
        assert!(last <= out.len() && out.len() <= text.len());
    }
    if let Ok(text) = valid {
        let mut words = Vec::new();
        whitespace::tokenize_whitespace(text.as_bytes(), |start, end| {
            words.push(&text[start..end])
        });
        let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
        assert!(words.into_iter().eq(text.split(is_space).filter(|word| !word.is_empty())));
    }
}
