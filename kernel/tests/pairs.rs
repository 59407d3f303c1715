//! Pairwise scores: the index equals scoring pair by pair, for every instruction set and any number
//! of threads.

mod common;

use proptest::prelude::*;
use std::sync::Arc;
use truebleu_kernel::bleu::{self, ReferenceLength, Smoothing};
use truebleu_kernel::chrf;
use truebleu_kernel::count::{Counter, Formula, Metric};
use truebleu_kernel::error::Error;
use truebleu_kernel::interrupt;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::pairwise::bleu::PairwiseBleu;
use truebleu_kernel::pairwise::naive::NaivePairs;
use truebleu_kernel::pairwise::overlap::{Overlap, OverlapPairs};
use truebleu_kernel::pairwise::{Pairs, ScoreSlice, TopScores, WeightedSum, run};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Batch, BatchSize, Source};

/// Source of texts in memory.
struct TextSource {
    texts: Vec<Option<Vec<u8>>>,
    next: usize,
}

impl Source for TextSource {
    fn name(&self) -> &str {
        "texts"
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        let max_segments = match size {
            BatchSize::Segments(count) => count,
            BatchSize::Bytes(_) => 11,
        };
        let remaining = &self.texts[self.next..];
        let count = remaining.len().min(max_segments);
        let block = common::to_block(&remaining[..count]);
        self.next += count;
        Ok((count > 0).then(|| Batch { count, streams: vec![block] }))
    }
}

/// Create a source.
fn create_source(texts: &[String]) -> Box<dyn Source> {
    let texts = texts.iter().map(|text| Some(text.clone().into_bytes())).collect();
    Box::new(TextSource { texts, next: 0 })
}

/// Return all pairwise scores.
fn score_matrix(pairs: &dyn Pairs, workers: usize) -> Vec<f64> {
    let (height, width) = pairs.shape();
    let mut values = vec![f64::NAN; height * width];
    let mut rows: Vec<_> =
        values.chunks_mut(width).map(|values| ScoreSlice { first: 0, values }).collect();
    run(pairs, false, &mut rows, workers).unwrap();
    values
}

/// Check the index against scoring pair by pair.
fn check_pairs<M: Metric, O: Overlap + Clone>(
    tokenizer: Tokenizer,
    metric: impl Fn() -> M,
    overlap: &O,
    formula: &Arc<dyn Formula>,
    (hypotheses, references): (&[String], &[String]),
) {
    let create_lexer = |instructions| {
        let tokenizer = tokenizer.clone();
        Lexer { tokenizer, lowercase: None, instructions }
    };
    let naive_pairs = |instructions| {
        let counter = Arc::new(Counter {
            hypotheses: create_lexer(instructions),
            references: None,
            metric: metric(),
        });
        let (hypotheses, references) = (create_source(hypotheses), Some(create_source(references)));
        NaivePairs::read_texts(counter, Arc::clone(formula), hypotheses, references).unwrap()
    };
    let expected = score_matrix(&naive_pairs(Instructions::Scalar), 1);
    for instructions in Instructions::available() {
        assert_eq!(score_matrix(&naive_pairs(instructions), 2), expected, "{instructions:?}");
        let (first, second) = (create_source(hypotheses), Some(create_source(references)));
        let pairs =
            OverlapPairs::read_texts(overlap.clone(), &create_lexer(instructions), first, second)
                .unwrap();
        for workers in 1..3 {
            assert_eq!(score_matrix(&pairs, workers), expected, "{instructions:?}");
        }
        if hypotheses.len() < references.len() {
            continue;
        }
        // Texts against each other, each pair once.
        let single_source = create_source(references);
        let pairs = OverlapPairs::read_texts(
            overlap.clone(),
            &create_lexer(instructions),
            single_source,
            None,
        )
        .unwrap();
        let full_matrix = score_matrix(&pairs, 1);
        let mut triangle = vec![Vec::new(); references.len()];
        let mut rows = Vec::new();
        for (i, values) in triangle.iter_mut().enumerate() {
            values.resize(references.len() - i - 1, f32::NAN);
            rows.push(ScoreSlice { first: i + 1, values });
        }
        run(&pairs, true, &mut rows, 2).unwrap();
        for (i, row) in full_matrix.chunks(references.len()).enumerate() {
            let row: Vec<f32> = row[i + 1..].iter().map(|&score| score as f32).collect();
            assert_eq!(triangle[i], row);
        }
    }
}

/// Check BLEU.
fn check_bleu(max_order: usize, formula: &bleu::BleuFormula, texts: (&[String], &[String])) {
    let columns = || bleu::BleuColumns {
        lengths: vec![ReferenceLength::Closest],
        max_order,
        at_least_one: false,
    };
    let overlap = PairwiseBleu { max_order, at_least_one: false, formula: formula.clone() };
    let formula: Arc<dyn Formula> = Arc::new(formula.clone());
    check_pairs(Tokenizer::Whitespace, columns, &overlap, &formula, texts);
}

/// Generate texts that share phrases, so that long n-grams match, repeat and are clipped.
fn random_texts(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(common::random_segment(), 1..4).prop_flat_map(move |phrases| {
        let text = prop::collection::vec(prop::sample::select(phrases), 0..4);
        prop::collection::vec(text.prop_map(|parts| parts.join(" ")), count.clone())
    })
}

/// Generate a smoothing method.
fn random_smoothing() -> impl Strategy<Value = Smoothing> {
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
    fn test_bleu_index_matches_naive_pairs(
        (hypotheses, references) in (random_texts(1..9), random_texts(1..20)),
        max_order in prop_oneof![Just(4), 1..17usize],
        smoothing in random_smoothing(),
        (effective_order, compensated) in (any::<bool>(), any::<bool>()),
        weights in prop::option::of(prop::collection::vec(0.0..2.0f64, 16)),
    ) {
        let weights = weights.map(|weights| weights[..max_order].to_vec());
        let formula = bleu::BleuFormula { smoothing, effective_order, weights, compensated };
        let mixed: Vec<String> = hypotheses.iter().chain(&references).cloned().collect();
        check_bleu(max_order, &formula, (&mixed, &references));
    }

    #[test]
    fn test_chrf_index_matches_naive_pairs(
        (hypotheses, references) in (random_texts(1..5), random_texts(1..20)),
        (char_order, word_order) in (1..9usize, 0..4usize),
        (whitespace, eps_smoothing) in (any::<bool>(), any::<bool>()),
        factor in prop::sample::select(vec![0.0, 1.0, 4.0]),
    ) {
        let formula = chrf::ChrfFormula { factor, factor_and_one: factor + 1.0, eps_smoothing };
        let columns =
            chrf::ChrfColumns { char_order, word_order, whitespace, formula: formula.clone() };
        let tokenizer = if whitespace { Tokenizer::WholeSegment } else { Tokenizer::Whitespace };
        let formula: Arc<dyn Formula> = Arc::new(formula);
        let mixed: Vec<String> = hypotheses.iter().chain(&references).cloned().collect();
        check_pairs(tokenizer, || columns.clone(), &columns, &formula, (&mixed, &references));
    }

    #[test]
    fn test_top_scores_match_sorting(
        scores in prop::collection::vec(prop::sample::select(vec![0.0, 1.0, 2.5, 7.0]), 0..60),
        k in 1..20usize,
        lowest in any::<bool>(),
        part_size in 1..9usize,
    ) {
        use truebleu_kernel::pairwise::Row;

        let mut top_scores = TopScores::new(k, lowest);
        let mut expected: Vec<(usize, f64)> = scores.iter().copied().enumerate().collect();
        for (i, scores) in scores.chunks(part_size).enumerate() {
            top_scores.take(i * part_size, scores);
        }
        let sign = if lowest { 1.0 } else { -1.0 };
        expected.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        expected.truncate(k);
        prop_assert_eq!(top_scores.into_sorted(), expected);
    }
}

#[test]
fn test_many_references_and_all_integer_sizes() {
    let repeated_words = |i: usize, length: usize| -> String {
        (0..length).map(|j| format!("{} ", (i * j * j + j) % 11)).collect()
    };
    let lengths = [0, 1, 3, 30, 64, 255, 256, 300];
    let references: Vec<String> = (0..700).map(|i| repeated_words(i, lengths[i % 8])).collect();
    let hypotheses: Vec<String> = (0..20).map(|i| repeated_words(i, lengths[i % 7])).collect();
    let formula = bleu::BleuFormula {
        smoothing: Smoothing::Exponential,
        effective_order: true,
        weights: None,
        compensated: false,
    };
    check_bleu(4, &formula, (&hypotheses, &references));
    // These counts do not fit 16 bits.
    let long = vec!["a ".repeat(66_000), "a b ".repeat(20_000), "a".to_owned()];
    check_bleu(2, &formula, (&long, &long));
}

#[test]
fn test_check_error_stops_all_threads() {
    let texts: Vec<String> = (0..400).map(|i| format!("{i} {} c d", i % 7)).collect();
    let lexer = Lexer {
        tokenizer: Tokenizer::Whitespace,
        lowercase: None,
        instructions: Instructions::best(),
    };
    let formula = bleu::BleuFormula {
        smoothing: Smoothing::None,
        effective_order: false,
        weights: None,
        compensated: false,
    };
    let metric = PairwiseBleu { max_order: 4, at_least_one: false, formula };
    let pairs = OverlapPairs::read_texts(metric, &lexer, create_source(&texts), None).unwrap();
    let mut rows = vec![WeightedSum::new(None, false); texts.len()];
    let stop_at_once = || Err(Error::Input("enough".into()));
    let stopped = interrupt::run(stop_at_once, || {
        loop {
            run(&pairs, false, &mut rows, 3).unwrap();
        }
    });
    let stopped: Result<(), Error> = stopped;
    assert!(matches!(stopped, Err(Error::Input(_))));
}

#[test]
fn test_error_names_missing_text() {
    let texts = vec![Some(b"a".to_vec()), None];
    let lexer = Lexer {
        tokenizer: Tokenizer::Whitespace,
        lowercase: None,
        instructions: Instructions::best(),
    };
    let formula = chrf::ChrfFormula { factor: 4.0, factor_and_one: 5.0, eps_smoothing: false };
    let metric = chrf::ChrfColumns { char_order: 6, word_order: 0, whitespace: false, formula };
    let source = Box::new(TextSource { texts, next: 0 });
    let error = OverlapPairs::read_texts(metric, &lexer, source, None).map(drop).unwrap_err();
    assert!(error.to_string().starts_with("texts: segment 2 is missing"));
}
