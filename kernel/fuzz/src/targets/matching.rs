//! Clipped n-gram matches: bitsets and hash maps agree with the definition.

use crate::input::{Input, split_texts, with_lines};
use crate::make::{self, Random};
use std::cell::RefCell;
use truebleu_kernel::lex::{self, Lexer, Tokenizer};
use truebleu_kernel::ngrams::{self, MAX_ORDER, Match, Matches, count_matches_general};
use truebleu_kernel::tokens::View;

/// Make an input: the instruction set, the largest order, whether hash maps are tested; then the
/// hypothesis and the references.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    let orders = if random.once_in(2) { 3 } else { random.next_bits() as u8 };
    out.extend([random.next_bits() as u8, orders, random.next_bits() as u8]);
    let count = if random.once_in(2) { 2 } else { 1 + random.below(5) };
    let max_words = match random.below(1000) {
        0 => 1500,
        1..5 => 600,
        5..200 => 30,
        _ => 12,
    };
    make::append_texts(random, count, out, |random, out| {
        make::append_words(random, max_words, out)
    });
}

/// Reusable buffers.
#[derive(Default)]
struct MatchingBuffers {
    lexed: lex::LexScratch,
    matched: ngrams::MatchScratch,
    text: Vec<u8>,
}

/// Run the target.
pub fn target(data: &[u8]) {
    thread_local! {
        static MEMORY: RefCell<MatchingBuffers> = RefCell::default();
    }
    let mut input = Input(data);
    let instructions = input.instructions();
    let max_order = 1 + input.below(MAX_ORDER);
    let also_general = input.below(32) == 0;
    MEMORY.with_borrow_mut(|MatchingBuffers { lexed, matched, text }| {
        text.clear();
        for segment in split_texts(input.0) {
            text.extend(segment.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }));
            text.push(b'\n');
        }
        let text_count = split_texts(input.0).count();
        let lexer = Lexer { tokenizer: Tokenizer::Whitespace, lowercase: None, instructions };
        with_lines(text, |block| {
            let Ok(mut lines) = lexer.lex(block, lexed) else { return };
            let Some(hypothesis) = lines.next_segment() else { return };
            let references: Vec<View<'_>> =
                (1..text_count).filter_map(|_| lines.next_segment()).collect();
            let references = &references[..];
            let bitset_matches =
                instructions.run(Match { hypothesis, references, max_order, scratch: matched });
            assert_eq!(
                bitset_matches,
                matches_by_bytes(&hypothesis, references, max_order),
                "{instructions:?}"
            );
            if also_general {
                let general = count_matches_general(&hypothesis, references, max_order);
                assert_eq!(general, bitset_matches, "hash maps");
            }
        });
    });
}

/// Return the matches of tokens, compared by their bytes.
fn matches_by_bytes(hypothesis: &View<'_>, references: &[View<'_>], max_order: usize) -> Matches {
    let mut distinct: Vec<&[u8]> = Vec::new();
    let sides = std::iter::once(hypothesis).chain(references).map(|side| {
        let token_id = |i| {
            let token = side.token(i);
            let existing = distinct.iter().position(|candidate| *candidate == token);
            existing.unwrap_or_else(|| {
                distinct.push(token);
                distinct.len() - 1
            })
        };
        (0..side.count()).map(token_id).collect::<Vec<_>>()
    });
    let sides: Vec<Vec<usize>> = sides.collect();
    let sides: Vec<&[usize]> = sides.iter().map(Vec::as_slice).collect();
    naive_matches(sides[0], &sides[1..], max_order)
}

/// Return the clipped matches by the definition. An n-gram of the hypothesis counts if fewer copies
/// follow it than the largest count in a reference.
pub fn naive_matches<T: PartialEq>(
    hypothesis: &[T],
    references: &[&[T]],
    max_order: usize,
) -> Matches {
    let mut matches = [0; MAX_ORDER];
    if max_order == 0 {
        return matches;
    }
    let mut runs: Vec<CommonRuns<'_, T>> =
        std::iter::once(&hypothesis).chain(references).map(|side| CommonRuns::new(side)).collect();
    for position in (0..hypothesis.len()).rev() {
        let mut max_counts = [0; MAX_ORDER];
        for reference in &mut runs[1..] {
            let counts = reference.count_equal(&hypothesis[position], 0, max_order);
            max_counts[..max_order]
                .iter_mut()
                .zip(counts)
                .for_each(|(max, count)| *max = count.max(*max));
        }
        let later_counts = runs[0].count_equal(&hypothesis[position], position + 1, max_order);
        let order_count = max_order.min(hypothesis.len() - position);
        for order in 0..order_count {
            matches[order] += u32::from(later_counts[order] < max_counts[order]);
        }
    }
    matches
}

/// The lengths of common runs of tokens. For each position of a text, this is the number of tokens
/// from there that equal the tokens of another text from its current position. The current position
/// moves towards the start.
struct CommonRuns<'a, T> {
    text: &'a [T],
    lengths: Vec<usize>,
}

impl<'a, T: PartialEq> CommonRuns<'a, T> {
    fn new(text: &'a [T]) -> Self {
        Self { text, lengths: vec![0; text.len() + 1] }
    }

    /// Move to the previous token, which is `token`. Return, for each order, the number of n-grams
    /// at or after `first` that equal the n-gram at the current position.
    fn count_equal(&mut self, token: &T, first: usize, max_order: usize) -> Matches {
        let mut counts = [0; MAX_ORDER];
        for (position, other_token) in self.text.iter().enumerate() {
            let length = if other_token == token { self.lengths[position + 1] + 1 } else { 0 };
            self.lengths[position] = length;
            if length > 0 && position >= first {
                counts[length.min(max_order) - 1] += 1;
            }
        }
        // A common n-gram implies common shorter n-grams.
        for order in (1..max_order).rev() {
            counts[order - 1] += counts[order];
        }
        counts
    }
}
