//! Lists of distinctive n-grams equal the definition, although rare n-grams are excluded early.

mod common;

use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::HashMap;
use truebleu_kernel::distinctive_ngrams::{ListKind, ListSettings};
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Chunk, Source, Stream};
use truebleu_kernel::token_corpus::TokenCorpus;

/// A segment: two systems and two references, as words.
type Segment = [Vec<String>; 4];

/// Create a source of lines.
fn create_source(texts: impl Iterator<Item = String>) -> Box<dyn Source> {
    let mut text: Vec<u8> = texts.flat_map(|text| (text + "\n").into_bytes()).collect();
    let read_all = move |chunk: &mut Chunk| {
        let count = text.len();
        chunk.append(&std::mem::take(&mut text));
        Ok(count)
    };
    Box::new(Stream::new("texts".into(), None, Box::new(read_all)))
}

/// Read a corpus of up to about `max_tokens` tokens.
fn read_corpus(segments: &[Segment], max_tokens: usize) -> TokenCorpus {
    let create_column =
        |i: usize| create_source(segments.iter().map(move |texts| texts[i].join(" ")));
    let instructions = Instructions::best();
    let lexer = Lexer { tokenizer: Tokenizer::Whitespace, lowercase: None, instructions };
    let (systems, references) =
        (vec![create_column(0), create_column(1)], vec![create_column(2), create_column(3)]);
    TokenCorpus::read(systems, references, &lexer, 4, max_tokens).unwrap()
}

/// Return n-grams with their list values by the definition.
fn naive_list(segments: &[Segment], kind: ListKind, order: usize) -> Vec<(Vec<String>, u32)> {
    let mut sums: HashMap<Vec<String>, (usize, [u32; 5])> = HashMap::new();
    for texts in segments {
        let mut counts: HashMap<&[String], [u32; 4]> = HashMap::new();
        for (i, text) in texts.iter().enumerate() {
            for ngram in text.windows(order) {
                counts.entry(ngram).or_default()[i] += 1;
                let position = sums.len();
                sums.entry(ngram.to_vec()).or_insert((position, [0; 5]));
            }
        }
        for (ngram, [a, b, first_reference, second_reference]) in counts {
            let max_reference = first_reference.max(second_reference);
            let sum = &mut sums.get_mut(ngram).unwrap().1;
            for (sum, count) in sum.iter_mut().zip([
                a,
                b,
                a.min(max_reference),
                b.min(max_reference),
                max_reference,
            ]) {
                *sum += count;
            }
        }
    }
    let list_value = |[a, b, matched_a, matched_b, max_reference]: [u32; 5]| match kind {
        ListKind::Difference => matched_a.abs_diff(matched_b),
        ListKind::Overproduced => (a - matched_a).max(b - matched_b),
        ListKind::Missed => max_reference - matched_a.max(matched_b),
    };
    let mut entries: Vec<_> = sums
        .into_iter()
        .map(|(ngram, (position, sum))| (ngram, position, list_value(sum)))
        .collect();
    entries.retain(|&(_, _, value)| value > 0);
    entries.sort_by_key(|&(_, position, value)| (Reverse(value), position));
    entries.into_iter().map(|(ngram, _, value)| (ngram, value)).collect()
}

fn random_word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "c"]),
        // Equal lengths, and equal first and last eight bytes: similar keys.
        1 => prop::sample::select(vec!["abcdefghXijklmnop", "abcdefghYijklmnop", "abcdefgh"]),
    ]
    .prop_map(str::to_owned)
}

fn random_segments() -> impl Strategy<Value = Vec<Segment>> {
    let random_text = || prop::collection::vec(random_word(), 0..9);
    let segment =
        [random_text(), random_text(), random_text(), random_text()].prop_map(|mut texts| {
            // Make the systems equal in about half of the segments.
            if texts[0].len() % 2 == 0 {
                texts[1] = texts[0].clone();
            }
            texts
        });
    prop::collection::vec(segment, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn test_lists_match_definition(
        segments in random_segments(),
        max_entries in 1..12usize,
        initial_minimum in 1..30u32,
    ) {
        let corpus = read_corpus(&segments, usize::MAX);
        let pairs = [(0, Some(1))];
        let lists = ListSettings { pairs: &pairs, max_entries, max_examples: 5, initial_minimum: Some(initial_minimum) };
        for (order, lists) in (1..).zip(lists.find_lists(&corpus)) {
            for (kind, list) in ListKind::ALL.into_iter().zip(&lists[0]) {
                let text = |&token: &u32| {
                    String::from_utf8(corpus.vocabulary.token(token).to_vec()).unwrap()
                };
                let ngrams: Vec<Vec<String>> =
                    list.iter().map(|entry| entry.tokens.iter().map(text).collect()).collect();
                let expected = naive_list(&segments, kind, order).into_iter().take(max_entries);
                prop_assert_eq!(ngrams, expected.map(|(ngram, _)| ngram).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn test_large_corpus_is_truncated_after_a_segment(segments in random_segments(), max_tokens in 0..100usize) {
        let full_corpus = read_corpus(&segments, usize::MAX);
        let limited_corpus = read_corpus(&segments, max_tokens);
        prop_assert!(!full_corpus.is_truncated);
        prop_assert_eq!(limited_corpus.is_truncated, limited_corpus.segment_count() < full_corpus.segment_count());
    }
}
