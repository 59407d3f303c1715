//! chrF's rows equal the definition: characters, words, and the best of several references.

use super::matching::naive_matches;
use crate::input::{Input, split_texts, with_segments};
use crate::make::{self, Random};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use truebleu_kernel::chrf::{ChrfColumns, ChrfFormula};
use truebleu_kernel::count::{self, Counter, Reader, SingleMetricCount};
use truebleu_kernel::lex::{Lexer, Tokenizer, whitespace};

/// Make an input: the instruction set, the orders and options; then the hypothesis and the
/// references.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend([random.next_bits() as u8, random.next_bits() as u8, random.next_bits() as u8]);
    let count = if random.once_in(2) { 2 } else { 2 + random.below(3) };
    let max_bytes = if random.once_in(3000) { 600 } else { 40 };
    make::append_texts(random, count, out, |random, out| {
        if random.once_in(2) {
            make::append_words(random, max_bytes / 6, out)
        } else {
            make::append_text(random, max_bytes, out)
        }
    });
}

/// Run the target.
pub fn target(data: &[u8]) {
    thread_local! {
        static READERS: RefCell<HashMap<[usize; 5], Box<dyn Reader>>> = RefCell::default();
    }
    let mut input = Input(data);
    let instructions = input.instructions();
    let (char_order, word_order) = (1 + input.below(9), input.below(4));
    let options = input.byte();
    let (whitespace, eps_smoothing) = (options & 1 == 1, options & 2 == 2);
    let formula = ChrfFormula { factor: 4.0, factor_and_one: 5.0, eps_smoothing };
    let columns = ChrfColumns { char_order, word_order, whitespace, formula };
    let valid_texts: Vec<&[u8]> =
        split_texts(input.0).filter(|text| std::str::from_utf8(text).is_ok()).collect();
    let [hypothesis, references @ ..] = &valid_texts[..] else { return };
    if references.is_empty() {
        return;
    }
    let expected = naive_row(&columns, hypothesis, references);
    let key = [
        instructions as usize,
        char_order,
        word_order,
        usize::from(whitespace),
        usize::from(eps_smoothing),
    ];
    READERS.with_borrow_mut(|readers| {
        let reader = readers.entry(key).or_insert_with(|| {
            let tokenizer =
                if whitespace { Tokenizer::WholeSegment } else { Tokenizer::Whitespace };
            let lexer = Lexer { tokenizer, lowercase: None, instructions };
            let metric = columns.clone();
            Arc::new(Counter { hypotheses: lexer, references: None, metric }).reader()
        });
        let texts: Vec<_> = valid_texts.iter().map(|text| Some(*text)).collect();
        with_segments(&texts, true, |block| {
            let row = reader.sentence(block, references.len()).expect("valid text can be counted");
            assert_eq!(row, expected, "{instructions:?} {columns:?}");
        });
    });
}

/// Return the row by the definition.
fn naive_row(columns: &ChrfColumns, hypothesis: &[u8], references: &[&[u8]]) -> Vec<i64> {
    let mut best: Option<(f64, Vec<i64>)> = None;
    let hypothesis = split_units(columns, hypothesis);
    for reference in references {
        let reference = split_units(columns, reference);
        let mut row = Vec::new();
        append_counts(&mut row, &hypothesis.0, &reference.0, columns.char_order);
        append_counts(&mut row, &hypothesis.1, &reference.1, columns.word_order);
        let score = count::Formula::score(&columns.formula, &row);
        if best.as_ref().is_none_or(|(best_score, _)| score > *best_score) {
            best = Some((score, row));
        }
    }
    best.map(|(_, row)| row).unwrap_or_default()
}

/// Return the characters and the words of a text.
fn split_units<'a>(columns: &ChrfColumns, text: &'a [u8]) -> (Vec<char>, Vec<&'a str>) {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut tokens = Vec::new();
    whitespace::tokenize_whitespace(text.as_bytes(), |start, end| tokens.push(&text[start..end]));
    let characters = if columns.whitespace {
        text.chars().collect()
    } else {
        tokens.iter().flat_map(|token| token.chars()).collect()
    };
    let mut words = Vec::new();
    for token in tokens {
        let has_several_characters = token.chars().nth(1).is_some();
        if has_several_characters && token.ends_with(|c: char| c.is_ascii_punctuation()) {
            words.extend([&token[..token.len() - 1], &token[token.len() - 1..]]);
        } else if has_several_characters && token.starts_with(|c: char| c.is_ascii_punctuation()) {
            words.extend([&token[..1], &token[1..]]);
        } else {
            words.push(token);
        }
    }
    (characters, words)
}

/// Append three numbers per order.
fn append_counts<T: PartialEq>(
    row: &mut Vec<i64>,
    hypothesis: &[T],
    reference: &[T],
    max_order: usize,
) {
    let matches = naive_matches(hypothesis, &[reference], max_order);
    for (order, matches) in (1..=max_order).zip(matches) {
        let ngram_count = |side: &[T]| (side.len() + 1).saturating_sub(order);
        // sacreBLEU ignores the hypothesis n-grams of an order if the reference has no n-grams.
        let hypothesis_ngrams =
            if ngram_count(reference) == 0 { 0 } else { ngram_count(hypothesis) };
        row.extend([hypothesis_ngrams as i64, ngram_count(reference) as i64, matches.into()]);
    }
}
