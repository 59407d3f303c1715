//! The bitsets count the n-grams that the hash maps count, and that the definition counts.

use crate::input::{Input, texts, with_lines};
use crate::make::{self, Random};
use std::cell::RefCell;
use truebleu_kernel::lex::{self, Lexer, Tokenizer};
use truebleu_kernel::ngrams::{self, MOST_ORDERS, Match, Matches, count_matches_general};
use truebleu_kernel::tokens::View;

/// An input: the instruction set, the orders; then the hypothesis and the references.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let orders = if random.once_in(2) { 3 } else { random.bits() as u8 };
    out.extend([random.bits() as u8, orders]);
    let count = if random.once_in(2) { 2 } else { 1 + random.below(5) };
    let most = if random.once_in(200) { 300 } else { 30 };
    make::texts(random, count, out, |random, out| make::words(random, most, out));
}

#[derive(Default)]
struct Memory {
    lexed: lex::Scratch,
    matched: ngrams::Scratch,
    text: Vec<u8>,
}

/// Runs it.
pub fn target(data: &[u8]) {
    thread_local! {
        static MEMORY: RefCell<Memory> = RefCell::default();
    }
    let mut input = Input(data);
    let instructions = input.instructions();
    let bits = input.byte();
    let orders = 1 + usize::from(bits) % MOST_ORDERS;
    MEMORY.with_borrow_mut(|Memory { lexed, matched, text }| {
        text.clear();
        for one in texts(input.0) {
            text.extend(one.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }));
            text.push(b'\n');
        }
        let count = texts(input.0).count();
        let lexer = Lexer { tokenizer: Tokenizer::Whitespace, lowercase: None, instructions };
        with_lines(text, |block| {
            let Ok(mut lines) = lexer.lex(block, lexed) else { return };
            let Some(hypothesis) = lines.next_segment() else { return };
            let references: Vec<View<'_>> =
                (1..count).filter_map(|_| lines.next_segment()).collect();
            let references = &references[..];
            let general = count_matches_general(&hypothesis, references, orders);
            let counted =
                instructions.run(Match { hypothesis, references, orders, scratch: matched });
            assert_eq!(counted, general, "{instructions:?}");
            if bits & 0xE0 == 0 && hypothesis.count() < 40 {
                assert_eq!(general, defined(&hypothesis, references, orders));
            }
        });
    });
}

/// Clipped matches, straight from the definition.
fn defined(hypothesis: &View<'_>, references: &[View<'_>], orders: usize) -> Matches {
    let mut matches = [0; MOST_ORDERS];
    for order in 1..=orders {
        let starts = |view: &View<'_>| 0..(view.count() + 1).saturating_sub(order);
        let same = |one: &View<'_>, i: usize, other: &View<'_>, j: usize| {
            (0..order).all(|k| one.token(i + k) == other.token(j + k))
        };
        for i in starts(hypothesis) {
            let times = |view| starts(view).filter(|&j| same(hypothesis, i, view, j)).count();
            // Each n-gram once, where it stands last.
            if starts(hypothesis).skip(i + 1).any(|j| same(hypothesis, i, hypothesis, j)) {
                continue;
            }
            let most = references.iter().map(times).max().unwrap_or(0);
            matches[order - 1] += times(hypothesis).min(most) as u32;
        }
    }
    matches
}
