//! The bitsets count the n-grams that the hash maps count, and that the definition counts.

use crate::input::{Input, texts, with_lines};
use crate::make::{self, Random};
use std::cell::RefCell;
use truebleu_kernel::lex::{self, Lexer, Tokenizer};
use truebleu_kernel::ngrams::{self, MOST_ORDERS, Match, Matches, count_matches_general};
use truebleu_kernel::tokens::View;

/// An input: the instruction set, the orders, whether the hash maps are asked; then the hypothesis and the references.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let orders = if random.once_in(2) { 3 } else { random.bits() as u8 };
    out.extend([random.bits() as u8, orders, random.bits() as u8]);
    let count = if random.once_in(2) { 2 } else { 1 + random.below(5) };
    let most = match random.below(1000) {
        0 => 300,
        1..200 => 30,
        _ => 12,
    };
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
    let orders = 1 + input.below(MOST_ORDERS);
    let also_general = input.below(32) == 0;
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
            let counted =
                instructions.run(Match { hypothesis, references, orders, scratch: matched });
            assert_eq!(counted, defined(&hypothesis, references, orders), "{instructions:?}");
            if also_general {
                let general = count_matches_general(&hypothesis, references, orders);
                assert_eq!(general, counted, "hash maps");
            }
        });
    });
}

/// The matches of tokens, by their bytes.
fn defined(hypothesis: &View<'_>, references: &[View<'_>], orders: usize) -> Matches {
    let mut distinct: Vec<&[u8]> = Vec::new();
    let sides = std::iter::once(hypothesis).chain(references).map(|side| {
        let number = |i| {
            let token = side.token(i);
            let known = distinct.iter().position(|known| *known == token);
            known.unwrap_or_else(|| {
                distinct.push(token);
                distinct.len() - 1
            })
        };
        (0..side.count()).map(number).collect::<Vec<_>>()
    });
    let sides: Vec<Vec<usize>> = sides.collect();
    let sides: Vec<&[usize]> = sides.iter().map(Vec::as_slice).collect();
    matches(sides[0], &sides[1..], orders)
}

/// Clipped matches, straight from the definition: an n-gram of the hypothesis counts if fewer of it
/// come behind it than the reference with most of it has.
pub fn matches<T: PartialEq>(hypothesis: &[T], references: &[&[T]], orders: usize) -> Matches {
    let mut matches = [0; MOST_ORDERS];
    if orders == 0 {
        return matches;
    }
    let mut before: Vec<Runs<'_, T>> =
        std::iter::once(&hypothesis).chain(references).map(|side| Runs::new(side)).collect();
    for at in (0..hypothesis.len()).rev() {
        let mut most = [0; MOST_ORDERS];
        for reference in &mut before[1..] {
            let found = reference.equal(&hypothesis[at], 0, orders);
            most[..orders].iter_mut().zip(found).for_each(|(most, found)| *most = found.max(*most));
        }
        let behind = before[0].equal(&hypothesis[at], at + 1, orders);
        let there = orders.min(hypothesis.len() - at);
        for order in 0..there {
            matches[order] += u32::from(behind[order] < most[order]);
        }
    }
    matches
}

/// Of a text and each of its places: how many tokens from there on are those of another text, from
/// a place in that on which moves to its start.
struct Runs<'a, T> {
    text: &'a [T],
    lengths: Vec<usize>,
}

impl<'a, T: PartialEq> Runs<'a, T> {
    fn new(text: &'a [T]) -> Self {
        Self { text, lengths: vec![0; text.len() + 1] }
    }

    /// Goes to the token before, which is `token`. Of each order, the n-grams from `first` on that
    /// are the one which starts there.
    fn equal(&mut self, token: &T, first: usize, orders: usize) -> Matches {
        let mut found = [0; MOST_ORDERS];
        for (place, own) in self.text.iter().enumerate() {
            let length = if own == token { self.lengths[place + 1] + 1 } else { 0 };
            self.lengths[place] = length;
            if length > 0 && place >= first {
                found[length.min(orders) - 1] += 1;
            }
        }
        // Who shares a longer one shares the shorter ones.
        for order in (1..orders).rev() {
            found[order - 1] += found[order];
        }
        found
    }
}
