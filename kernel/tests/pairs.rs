//! All pairs by the index are what they are pair by pair, for every instruction set and in any
//! number of threads.

mod common;

use proptest::prelude::*;
use std::sync::Arc;
use truebleu_kernel::bleu::{self, ReferenceLength, Smoothing};
use truebleu_kernel::chrf;
use truebleu_kernel::count::{Counter, Formula, Metric};
use truebleu_kernel::error::Error;
use truebleu_kernel::interrupt;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::pairwise::bleu::Bleu;
use truebleu_kernel::pairwise::naive::Plain;
use truebleu_kernel::pairwise::overlap::{Overlap, Overlaps};
use truebleu_kernel::pairwise::{Best, Expected, Pairs, Values, run};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Batch, Source, Want};

/// Texts in memory.
struct Texts {
    texts: Vec<Option<Vec<u8>>>,
    next: usize,
}

impl Source for Texts {
    fn name(&self) -> &str {
        "texts"
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        let most = match want {
            Want::Segments(count) => count,
            Want::Bytes(_) => 11,
        };
        let rest = &self.texts[self.next..];
        let count = rest.len().min(most);
        let block = common::block(&rest[..count]);
        self.next += count;
        Ok((count > 0).then(|| Batch { count, streams: vec![block] }))
    }
}

fn source(texts: &[String]) -> Box<dyn Source> {
    let texts = texts.iter().map(|text| Some(text.clone().into_bytes())).collect();
    Box::new(Texts { texts, next: 0 })
}

fn matrix(pairs: &dyn Pairs, workers: usize) -> Vec<f64> {
    let (height, width) = pairs.shape();
    let mut values = vec![f64::NAN; height * width];
    let mut rows: Vec<_> =
        values.chunks_mut(width).map(|values| Values { first: 0, values }).collect();
    run(pairs, false, &mut rows, workers).unwrap();
    values
}

fn check<M: Metric, O: Overlap + Clone>(
    tokenizer: Tokenizer,
    metric: impl Fn() -> M,
    overlap: &O,
    formula: &Arc<dyn Formula>,
    (hypotheses, references): (&[String], &[String]),
) {
    let lexer = |instructions| {
        let tokenizer = tokenizer.clone();
        Lexer { tokenizer, lowercase: None, instructions }
    };
    let plain = |instructions| {
        let counter = Arc::new(Counter {
            hypotheses: lexer(instructions),
            references: None,
            metric: metric(),
        });
        let (hypotheses, references) = (source(hypotheses), Some(source(references)));
        Plain::read(counter, Arc::clone(formula), hypotheses, references).unwrap()
    };
    let expected = matrix(&plain(Instructions::Scalar), 1);
    for instructions in common::available() {
        assert_eq!(matrix(&plain(instructions), 2), expected, "{instructions:?}");
        let (own, others) = (source(hypotheses), Some(source(references)));
        let pairs = Overlaps::read(overlap.clone(), &lexer(instructions), own, others).unwrap();
        for workers in 1..3 {
            assert_eq!(matrix(&pairs, workers), expected, "{instructions:?}");
        }
        if hypotheses.len() < references.len() {
            continue;
        }
        // Texts against each other, each pair once.
        let own = source(references);
        let pairs = Overlaps::read(overlap.clone(), &lexer(instructions), own, None).unwrap();
        let whole = matrix(&pairs, 1);
        let mut half = vec![Vec::new(); references.len()];
        let mut rows = Vec::new();
        for (i, values) in half.iter_mut().enumerate() {
            values.resize(references.len() - i - 1, f32::NAN);
            rows.push(Values { first: i + 1, values });
        }
        run(&pairs, true, &mut rows, 2).unwrap();
        for (i, row) in whole.chunks(references.len()).enumerate() {
            let row: Vec<f32> = row[i + 1..].iter().map(|&score| score as f32).collect();
            assert_eq!(half[i], row);
        }
    }
}

fn check_bleu(orders: usize, formula: &bleu::Formula, texts: (&[String], &[String])) {
    let columns =
        || bleu::Columns { lengths: vec![ReferenceLength::Closest], orders, at_least_one: false };
    let overlap = Bleu { orders, at_least_one: false, formula: formula.clone() };
    let formula: Arc<dyn Formula> = Arc::new(formula.clone());
    check(Tokenizer::Whitespace, columns, &overlap, &formula, texts);
}

/// Texts that share phrases, so that long n-grams match, are repeated and are clipped.
fn texts(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(common::segment(), 1..4).prop_flat_map(move |phrases| {
        let text = prop::collection::vec(prop::sample::select(phrases), 0..4);
        prop::collection::vec(text.prop_map(|parts| parts.join(" ")), count.clone())
    })
}

fn smoothing() -> impl Strategy<Value = Smoothing> {
    prop_oneof![
        Just(Smoothing::None),
        Just(Smoothing::Exponential),
        (0.0..2.0).prop_map(Smoothing::Floor),
        prop::sample::select(vec![0.0, 0.5, 1.0]).prop_map(Smoothing::Add),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn bleu_with_any_parameters(
        (hypotheses, references) in (texts(1..9), texts(1..20)),
        orders in prop_oneof![Just(4), 1..17usize],
        smoothing in smoothing(),
        (effective_order, compensated) in (any::<bool>(), any::<bool>()),
        weights in prop::option::of(prop::collection::vec(0.0..2.0f64, 16)),
    ) {
        let weights = weights.map(|weights| weights[..orders].to_vec());
        let formula = bleu::Formula { smoothing, effective_order, weights, compensated };
        let mixed: Vec<String> = hypotheses.iter().chain(&references).cloned().collect();
        check_bleu(orders, &formula, (&mixed, &references));
    }

    #[test]
    fn chrf_with_any_parameters(
        (hypotheses, references) in (texts(1..5), texts(1..20)),
        (char_order, word_order) in (1..9usize, 0..4usize),
        (whitespace, eps_smoothing) in (any::<bool>(), any::<bool>()),
        factor in prop::sample::select(vec![0.0, 1.0, 4.0]),
    ) {
        let formula = chrf::Formula { factor, factor_and_one: factor + 1.0, eps_smoothing };
        let columns =
            chrf::Columns { char_order, word_order, whitespace, formula: formula.clone() };
        let tokenizer = if whitespace { Tokenizer::Whole } else { Tokenizer::Whitespace };
        let formula: Arc<dyn Formula> = Arc::new(formula);
        let mixed: Vec<String> = hypotheses.iter().chain(&references).cloned().collect();
        check(tokenizer, || columns.clone(), &columns, &formula, (&mixed, &references));
    }

    #[test]
    fn the_best_are_those_that_sorting_finds(
        scores in prop::collection::vec(prop::sample::select(vec![0.0, 1.0, 2.5, 7.0]), 0..60),
        most in 1..20usize,
        lowest in any::<bool>(),
        piece in 1..9usize,
    ) {
        use truebleu_kernel::pairwise::Row;

        let mut best = Best::new(most, lowest);
        let mut expected: Vec<(usize, f64)> = scores.iter().copied().enumerate().collect();
        for (i, scores) in scores.chunks(piece).enumerate() {
            best.take(i * piece, scores);
        }
        let sign = if lowest { 1.0 } else { -1.0 };
        expected.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        expected.truncate(most);
        prop_assert_eq!(best.sorted(), expected);
    }
}

#[test]
fn more_references_than_a_block_has_and_every_width_of_counts() {
    let words = |i: usize, length: usize| -> String {
        (0..length).map(|j| format!("{} ", (i * j * j + j) % 11)).collect()
    };
    let lengths = [0, 1, 3, 30, 64, 255, 256, 300];
    let references: Vec<String> = (0..700).map(|i| words(i, lengths[i % 8])).collect();
    let hypotheses: Vec<String> = (0..20).map(|i| words(i, lengths[i % 7])).collect();
    let formula = bleu::Formula {
        smoothing: Smoothing::Exponential,
        effective_order: true,
        weights: None,
        compensated: false,
    };
    check_bleu(4, &formula, (&hypotheses, &references));
    // Two bytes are not enough for the counts.
    let long = vec!["a ".repeat(66_000), "a b ".repeat(20_000), "a".to_owned()];
    check_bleu(2, &formula, (&long, &long));
}

#[test]
fn an_error_of_the_check_stops_all_threads() {
    let texts: Vec<String> = (0..400).map(|i| format!("{i} {} c d", i % 7)).collect();
    let lexer = Lexer {
        tokenizer: Tokenizer::Whitespace,
        lowercase: None,
        instructions: Instructions::best(),
    };
    let formula = bleu::Formula {
        smoothing: Smoothing::None,
        effective_order: false,
        weights: None,
        compensated: false,
    };
    let metric = Bleu { orders: 4, at_least_one: false, formula };
    let pairs = Overlaps::read(metric, &lexer, source(&texts), None).unwrap();
    let mut rows = vec![Expected::new(None, false); texts.len()];
    let enough = || Err(Error::Input("enough".into()));
    let stopped = interrupt::run(enough, || {
        loop {
            run(&pairs, false, &mut rows, 3).unwrap();
        }
    });
    let stopped: Result<(), Error> = stopped;
    assert!(matches!(stopped, Err(Error::Input(_))));
}

#[test]
fn a_missing_text_is_named() {
    let texts = vec![Some(b"a".to_vec()), None];
    let lexer = Lexer {
        tokenizer: Tokenizer::Whitespace,
        lowercase: None,
        instructions: Instructions::best(),
    };
    let formula = chrf::Formula { factor: 4.0, factor_and_one: 5.0, eps_smoothing: false };
    let metric = chrf::Columns { char_order: 6, word_order: 0, whitespace: false, formula };
    let source = Box::new(Texts { texts, next: 0 });
    let error = Overlaps::read(metric, &lexer, source, None).map(drop).unwrap_err();
    assert!(error.to_string().starts_with("texts: segment 2 is missing"));
}
