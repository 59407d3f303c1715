//! The lists of n-grams are those of the definition, whatever is left out on the way to them.

mod common;

use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::HashMap;
use truebleu_kernel::distinctive_ngrams::{Kind, Lists};
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Piece, Source, Stream};
use truebleu_kernel::token_corpus::Corpus;

/// A segment: two systems and two references, as words.
type Segment = [Vec<String>; 4];

fn source(texts: impl Iterator<Item = String>) -> Box<dyn Source> {
    let mut text: Vec<u8> = texts.flat_map(|text| (text + "\n").into_bytes()).collect();
    let read = move |into: &mut Piece| {
        let count = text.len();
        into.append(&std::mem::take(&mut text));
        Ok(count)
    };
    Box::new(Stream::new("texts".into(), None, Box::new(read)))
}

fn corpus(segments: &[Segment], most: usize) -> Corpus {
    let column = |i: usize| source(segments.iter().map(move |texts| texts[i].join(" ")));
    let instructions = Instructions::best();
    let lexer = Lexer { tokenizer: Tokenizer::Whitespace, lowercase: None, instructions };
    let (systems, references) = (vec![column(0), column(1)], vec![column(2), column(3)]);
    Corpus::read(systems, references, &lexer, 4, most, &mut |_| Ok(())).unwrap()
}

/// N-grams with the values that put them into a list, straight from the definition.
fn defined(segments: &[Segment], kind: Kind, order: usize) -> Vec<(Vec<String>, u32)> {
    let mut sums: HashMap<Vec<String>, (usize, [u32; 5])> = HashMap::new();
    for texts in segments {
        let mut counts: HashMap<&[String], [u32; 4]> = HashMap::new();
        for (i, text) in texts.iter().enumerate() {
            for gram in text.windows(order) {
                counts.entry(gram).or_default()[i] += 1;
                let first = sums.len();
                sums.entry(gram.to_vec()).or_insert((first, [0; 5]));
            }
        }
        for (gram, [a, b, one, other]) in counts {
            let most = one.max(other);
            let sum = &mut sums.get_mut(gram).unwrap().1;
            for (sum, more) in sum.iter_mut().zip([a, b, a.min(most), b.min(most), most]) {
                *sum += more;
            }
        }
    }
    let value = |[a, b, matched_a, matched_b, most]: [u32; 5]| match kind {
        Kind::Difference => matched_a.abs_diff(matched_b),
        Kind::Over => (a - matched_a).max(b - matched_b),
        Kind::Missed => most - matched_a.max(matched_b),
    };
    let mut found: Vec<_> =
        sums.into_iter().map(|(gram, (first, sum))| (gram, first, value(sum))).collect();
    found.retain(|&(_, _, value)| value > 0);
    found.sort_by_key(|&(_, first, value)| (Reverse(value), first));
    found.into_iter().map(|(gram, _, value)| (gram, value)).collect()
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "c"]),
        // Of equal length, with equal first and last eight bytes: keys that say too little.
        1 => prop::sample::select(vec!["abcdefghXijklmnop", "abcdefghYijklmnop", "abcdefgh"]),
    ]
    .prop_map(str::to_owned)
}

fn segments() -> impl Strategy<Value = Vec<Segment>> {
    let text = || prop::collection::vec(word(), 0..9);
    let segment = [text(), text(), text(), text()].prop_map(|mut texts| {
        // Systems that often say the same.
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
    fn lists_are_those_of_the_definition(
        segments in segments(),
        limit in 1..12usize,
        least in 1..30u32,
    ) {
        let corpus = corpus(&segments, usize::MAX);
        let pairs = [(0, Some(1))];
        let lists = Lists { orders: 4, pairs: &pairs, limit, examples: 5, least: Some(least) };
        for (order, lists) in (1..).zip(lists.of(&corpus)) {
            for (kind, list) in Kind::ALL.into_iter().zip(&lists[0]) {
                let text = |&token: &u32| {
                    String::from_utf8(corpus.vocabulary.token(token).to_vec()).unwrap()
                };
                let found: Vec<Vec<String>> =
                    list.iter().map(|entry| entry.tokens.iter().map(text).collect()).collect();
                let expected = defined(&segments, kind, order).into_iter().take(limit);
                prop_assert_eq!(found, expected.map(|(gram, _)| gram).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_too_large_is_cut_after_a_segment(segments in segments(), most in 0..100usize) {
        let whole = corpus(&segments, usize::MAX);
        let part = corpus(&segments, most);
        prop_assert!(!whole.truncated);
        prop_assert_eq!(part.truncated, part.count() < whole.count());
    }
}
