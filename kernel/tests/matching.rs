//! The bitsets count what the hash maps count, and both count what the definition says.

mod common;

use proptest::prelude::*;
use std::collections::HashMap;
use truebleu_kernel::lex::{Lexer, Scratch, Tokenizer};
use truebleu_kernel::ngrams::{self, MOST_ORDERS, Match, Matches, count_matches_general};
use truebleu_kernel::text_batches::Block;
use truebleu_kernel::tokens::View;

/// Clipped matches, straight from the definition.
fn defined(hypothesis: &[String], references: &[Vec<String>], orders: usize) -> Matches {
    let mut matches = [0; MOST_ORDERS];
    for order in 1..=orders {
        let count = |tokens: &[String]| {
            let mut counts: HashMap<Vec<String>, u32> = HashMap::new();
            for gram in tokens.windows(order) {
                *counts.entry(gram.to_vec()).or_default() += 1;
            }
            counts
        };
        let references: Vec<_> = references.iter().map(|tokens| count(tokens)).collect();
        for (gram, times) in count(hypothesis) {
            let most = references.iter().filter_map(|counts| counts.get(&gram)).max();
            matches[order - 1] += times.min(most.copied().unwrap_or(0));
        }
    }
    matches
}

fn check(hypothesis: &[String], references: &[Vec<String>], orders: usize) {
    let expected = defined(hypothesis, references, orders);
    let texts: Vec<Option<Vec<u8>>> = std::iter::once(&hypothesis.to_vec())
        .chain(references)
        .map(|tokens| Some(tokens.join(" ").into_bytes()))
        .collect();
    let blocks: Vec<Block> =
        texts.iter().map(|text| common::block(std::slice::from_ref(text))).collect();
    for instructions in common::available() {
        let lexer = Lexer { tokenizer: Tokenizer::Whitespace, lowercase: None, instructions };
        let mut scratches: Vec<Scratch> = blocks.iter().map(|_| Scratch::default()).collect();
        let views: Vec<View<'_>> = blocks
            .iter()
            .zip(&mut scratches)
            .filter_map(|(block, scratch)| lexer.lex(block, scratch).ok()?.next_segment())
            .collect();
        let (hypothesis, references) = views.split_first().unwrap();
        assert_eq!(count_matches_general(hypothesis, references, orders), expected);
        let mut scratch = ngrams::Scratch::default();
        let counted = instructions.run(Match {
            hypothesis: *hypothesis,
            references,
            orders,
            scratch: &mut scratch,
        });
        assert_eq!(counted, expected, "{instructions:?}");
    }
}

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "c", "the", "of"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            // Equal length, equal first and last eight bytes: the same hash.
            "abcdefghXijklmnop", "abcdefghYijklmnop", "abcdefgh", "abcdefghi", "a\0", "a",
        ]).prop_map(str::to_owned),
        1 => "[a-c]{1,10}",
    ]
}

/// Tokens of at most four bytes, and now and then a longer one.
fn short_tokens() -> impl Strategy<Value = Vec<String>> {
    let short = vec!["a", "b", "\x01", "\x7F", "\x01\x01", "ab", "é", "日", "𝔘", "abcd", "ß"];
    let short = prop::sample::select(short).prop_map(str::to_owned);
    let longer = prop::sample::select(vec!["abcde", "a\0", "\0"]).prop_map(str::to_owned);
    let mostly = prop_oneof![400 => short.clone(), 1 => longer];
    prop_oneof![prop::collection::vec(short, 50..300), prop::collection::vec(mostly, 50..300)]
}

fn tokens(most: usize) -> impl Strategy<Value = Vec<String>> {
    prop_oneof![prop::collection::vec(token(), 0..12), prop::collection::vec(token(), 0..most),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn one_reference_orders_one_to_four(hypothesis in tokens(150), reference in tokens(70)) {
        check(&hypothesis, &[reference], 4);
    }

    #[test]
    fn short_tokens_any_order(
        hypothesis in short_tokens(),
        reference in short_tokens(),
        orders in 1..=MOST_ORDERS,
    ) {
        check(&hypothesis, &[reference], orders);
    }

    #[test]
    fn any_references_any_order(
        hypothesis in tokens(150),
        references in prop::collection::vec(tokens(300), 0..4),
        orders in 1..=MOST_ORDERS,
    ) {
        check(&hypothesis, &references, orders);
    }
}

#[test]
fn references_of_every_length_around_the_sizes_of_words() {
    for length in [
        1, 7, 8, 9, 31, 32, 63, 64, 65, 127, 128, 129, 191, 255, 256, 257, 400, 512, 513, 2048,
        2049,
    ] {
        let tokens: Vec<String> = (0..length).map(|i| format!("w{}", i * i % 37)).collect();
        let mut hypothesis = tokens.clone();
        hypothesis.rotate_left(length / 3);
        let characters = |tokens: &[String]| -> Vec<String> {
            tokens.iter().map(|token| token.chars().last().unwrap().to_string()).collect()
        };
        check(&characters(&hypothesis), &[characters(&tokens)], 4);
        for orders in [1, 4, 16] {
            check(&hypothesis, std::slice::from_ref(&tokens), orders);
            check(&hypothesis, &[tokens.clone(), hypothesis[..length / 2].to_vec()], orders);
        }
    }
}
