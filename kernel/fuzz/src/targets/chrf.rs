//! chrF's rows are those of the definition: characters, words, the best of several references.

use super::matching::matches;
use crate::input::{Input, texts, with_segments};
use crate::make::{self, Random};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use truebleu_kernel::chrf::{Columns, Formula};
use truebleu_kernel::count::{self, CountOne, Counter, Reader};
use truebleu_kernel::lex::{Lexer, Tokenizer, whitespace};

/// An input: the instruction set, the orders and options; then the hypothesis and the references.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend([random.bits() as u8, random.bits() as u8, random.bits() as u8]);
    let count = if random.once_in(2) { 2 } else { 2 + random.below(3) };
    let most = if random.once_in(3000) { 600 } else { 40 };
    make::texts(random, count, out, |random, out| {
        if random.once_in(2) {
            make::words(random, most / 6, out)
        } else {
            make::text(random, most, out)
        }
    });
}

/// Runs it.
pub fn target(data: &[u8]) {
    thread_local! {
        static READERS: RefCell<HashMap<[usize; 5], Box<dyn Reader>>> = RefCell::default();
    }
    let mut input = Input(data);
    let instructions = input.instructions();
    let (char_order, word_order) = (1 + input.below(9), input.below(4));
    let options = input.byte();
    let (whitespace, eps_smoothing) = (options & 1 == 1, options & 2 == 2);
    let formula = Formula { factor: 4.0, factor_and_one: 5.0, eps_smoothing };
    let columns = Columns { char_order, word_order, whitespace, formula };
    let all: Vec<&[u8]> = texts(input.0).filter(|text| std::str::from_utf8(text).is_ok()).collect();
    let [hypothesis, references @ ..] = &all[..] else { return };
    if references.is_empty() {
        return;
    }
    let expected = defined(&columns, hypothesis, references);
    let key = [
        instructions as usize,
        char_order,
        word_order,
        usize::from(whitespace),
        usize::from(eps_smoothing),
    ];
    READERS.with_borrow_mut(|readers| {
        let reader = readers.entry(key).or_insert_with(|| {
            let tokenizer = if whitespace { Tokenizer::Whole } else { Tokenizer::Whitespace };
            let lexer = Lexer { tokenizer, lowercase: None, instructions };
            let metric = columns.clone();
            Arc::new(Counter { hypotheses: lexer, references: None, metric }).reader()
        });
        let texts: Vec<_> = all.iter().map(|text| Some(*text)).collect();
        with_segments(&texts, true, |block| {
            let row = reader.sentence(block, references.len()).expect("text is counted");
            assert_eq!(row, expected, "{instructions:?} {columns:?}");
        });
    });
}

/// The row, straight from the definition.
fn defined(columns: &Columns, hypothesis: &[u8], references: &[&[u8]]) -> Vec<i64> {
    let mut best: Option<(f64, Vec<i64>)> = None;
    let hypothesis = units(columns, hypothesis);
    for reference in references {
        let reference = units(columns, reference);
        let mut row = Vec::new();
        put(&mut row, &hypothesis.0, &reference.0, columns.char_order);
        put(&mut row, &hypothesis.1, &reference.1, columns.word_order);
        let score = count::Formula::score(&columns.formula, &row);
        if best.as_ref().is_none_or(|(before, _)| score > *before) {
            best = Some((score, row));
        }
    }
    best.map(|(_, row)| row).unwrap_or_default()
}

/// The characters and the words of a text.
fn units<'a>(columns: &Columns, text: &'a [u8]) -> (Vec<char>, Vec<&'a str>) {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut tokens = Vec::new();
    whitespace::tokenize(text.as_bytes(), |start, end| tokens.push(&text[start..end]));
    let characters = if columns.whitespace {
        text.chars().collect()
    } else {
        tokens.iter().flat_map(|token| token.chars()).collect()
    };
    let mut words = Vec::new();
    for token in tokens {
        let several = token.chars().nth(1).is_some();
        if several && token.ends_with(|c: char| c.is_ascii_punctuation()) {
            words.extend([&token[..token.len() - 1], &token[token.len() - 1..]]);
        } else if several && token.starts_with(|c: char| c.is_ascii_punctuation()) {
            words.extend([&token[..1], &token[1..]]);
        } else {
            words.push(token);
        }
    }
    (characters, words)
}

/// Appends three numbers for each order.
fn put<T: PartialEq>(row: &mut Vec<i64>, hypothesis: &[T], reference: &[T], orders: usize) {
    let matches = matches(hypothesis, &[reference], orders);
    for (order, matches) in (1..=orders).zip(matches) {
        let grams = |side: &[T]| (side.len() + 1).saturating_sub(order);
        // Where the reference has no n-gram, sacreBLEU does not count the hypothesis' either.
        let counted = if grams(reference) == 0 { 0 } else { grams(hypothesis) };
        row.extend([counted as i64, grams(reference) as i64, matches.into()]);
    }
}
