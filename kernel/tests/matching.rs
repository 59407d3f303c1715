//! Clipped n-gram matches: bitsets and hash maps agree with the definition.

mod common;

use proptest::prelude::*;
use std::collections::HashMap;
use truebleu_kernel::lex::{LexScratch, Lexer, Tokenizer};
use truebleu_kernel::ngrams::{self, MAX_ORDER, Match, Matches, count_matches_general};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::Block;
use truebleu_kernel::tokens::View;

/// Return the clipped matches by the definition.
fn naive_matches(hypothesis: &[String], references: &[Vec<String>], max_order: usize) -> Matches {
    let mut matches = [0; MAX_ORDER];
    for order in 1..=max_order {
        let count_ngrams = |tokens: &[String]| {
            let mut counts: HashMap<Vec<String>, u32> = HashMap::new();
            for ngram in tokens.windows(order) {
                *counts.entry(ngram.to_vec()).or_default() += 1;
            }
            counts
        };
        let references: Vec<_> = references.iter().map(|tokens| count_ngrams(tokens)).collect();
        for (ngram, count) in count_ngrams(hypothesis) {
            let max_count = references.iter().filter_map(|counts| counts.get(&ngram)).max();
            matches[order - 1] += count.min(max_count.copied().unwrap_or(0));
        }
    }
    matches
}

/// Check that all methods agree.
fn check_matches(hypothesis: &[String], references: &[Vec<String>], max_order: usize) {
    let expected = naive_matches(hypothesis, references, max_order);
    let texts: Vec<Option<Vec<u8>>> = std::iter::once(&hypothesis.to_vec())
        .chain(references)
        .map(|tokens| Some(tokens.join(" ").into_bytes()))
        .collect();
    let blocks: Vec<Block> =
        texts.iter().map(|text| common::to_block(std::slice::from_ref(text))).collect();
    for instructions in Instructions::available() {
        let lexer = Lexer { tokenizer: Tokenizer::Whitespace, lowercase: None, instructions };
        let mut scratches: Vec<LexScratch> = blocks.iter().map(|_| LexScratch::default()).collect();
        let views: Vec<View<'_>> = blocks
            .iter()
            .zip(&mut scratches)
            .filter_map(|(block, scratch)| lexer.lex(block, scratch).ok()?.next_segment())
            .collect();
        let (hypothesis, references) = views.split_first().unwrap();
        assert_eq!(count_matches_general(hypothesis, references, max_order), expected);
        let mut scratch = ngrams::MatchScratch::default();
        let bitset_matches = instructions.run(Match {
            hypothesis: *hypothesis,
            references,
            max_order,
            scratch: &mut scratch,
        });
        assert_eq!(bitset_matches, expected, "{instructions:?}");
    }
}

fn random_token() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "c", "the", "of"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            // Equal length, and equal first and last eight bytes, so that hashes may collide.
            "abcdefghXijklmnop", "abcdefghYijklmnop", "abcdefgh", "abcdefghi", "a\0", "a",
        ]).prop_map(str::to_owned),
        1 => "[a-c]{1,10}",
    ]
}

/// Generate tokens of at most four bytes, and occasionally a longer token.
fn short_tokens() -> impl Strategy<Value = Vec<String>> {
    let short = vec!["a", "b", "\x01", "\x7F", "\x01\x01", "ab", "é", "日", "𝔘", "abcd", "ß"];
    let short = prop::sample::select(short).prop_map(str::to_owned);
    let longer = prop::sample::select(vec!["abcde", "a\0", "\0"]).prop_map(str::to_owned);
    let mostly_short = prop_oneof![400 => short.clone(), 1 => longer];
    prop_oneof![prop::collection::vec(short, 50..300), prop::collection::vec(mostly_short, 50..300)]
}

fn random_tokens(max_length: usize) -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        prop::collection::vec(random_token(), 0..12),
        prop::collection::vec(random_token(), 0..max_length),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn test_one_reference_with_four_orders(hypothesis in random_tokens(150), reference in random_tokens(70)) {
        check_matches(&hypothesis, &[reference], 4);
    }

    #[test]
    fn test_short_tokens_with_any_order(
        hypothesis in short_tokens(),
        reference in short_tokens(),
        max_order in 1..=MAX_ORDER,
    ) {
        check_matches(&hypothesis, &[reference], max_order);
    }

    #[test]
    fn test_any_references_with_any_order(
        hypothesis in random_tokens(150),
        references in prop::collection::vec(random_tokens(300), 0..4),
        max_order in 1..=MAX_ORDER,
    ) {
        check_matches(&hypothesis, &references, max_order);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn test_long_segments_with_any_references(
        hypothesis in prop::collection::vec(random_token(), 0..1500),
        references in prop::collection::vec(
            prop_oneof![random_tokens(300), prop::collection::vec(random_token(), 250..1500)],
            1..11,
        ),
        max_order in prop_oneof![3 => 4..=4usize, 1 => 1..=MAX_ORDER],
        count in prop_oneof![3 => 1..=3usize, 1 => 1..=10usize],
    ) {
        check_matches(&hypothesis, &references[..count.min(references.len())], max_order);
    }

    #[test]
    fn test_long_segments_of_short_tokens(
        hypothesis in prop::collection::vec(prop::sample::select(vec!["a", "b", "é", "日", "𝔘", "abcd"]), 0..2500),
        reference in prop::collection::vec(prop::sample::select(vec!["a", "b", "é", "日", "ß"]), 400..2500),
        max_order in prop_oneof![3 => 4..=4usize, 1 => 1..=MAX_ORDER],
    ) {
        let own = |tokens: &[&str]| tokens.iter().map(|&token| token.to_owned()).collect::<Vec<_>>();
        check_matches(&own(&hypothesis), &[own(&reference)], max_order);
    }
}

#[test]
fn test_reference_lengths_around_word_sizes() {
    for length in [
        1, 7, 8, 9, 31, 32, 63, 64, 65, 127, 128, 129, 191, 255, 256, 257, 400, 512, 513, 2048,
        2049, 4096, 4097, 8193,
    ] {
        let tokens: Vec<String> = (0..length).map(|i| format!("w{}", i * i % 1009)).collect();
        let mut hypothesis = tokens.clone();
        hypothesis.rotate_left(length / 3);
        let last_characters = |tokens: &[String]| -> Vec<String> {
            tokens.iter().map(|token| token.chars().last().unwrap().to_string()).collect()
        };
        check_matches(&last_characters(&hypothesis), &[last_characters(&tokens)], 4);
        for max_order in [1, 4, 16] {
            check_matches(&hypothesis, std::slice::from_ref(&tokens), max_order);
            check_matches(
                &hypothesis,
                &[tokens.clone(), hypothesis[..length / 2].to_vec()],
                max_order,
            );
        }
    }
}
