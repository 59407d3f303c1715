//! Pairwise scores: the index equals scoring pair by pair, including means, and sums of one
//! reference.

use crate::input::{Input, TEXT_SEPARATOR};
use crate::make::{self, Random};
use std::sync::Arc;
use truebleu_kernel::bleu::{self, ReferenceLength, Smoothing};
use truebleu_kernel::chrf;
use truebleu_kernel::count::{Counter, Formula, Metric};
use truebleu_kernel::error::Error;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::pairwise::bleu::PairwiseBleu;
use truebleu_kernel::pairwise::naive::{self, NaivePairs, ScoringSet};
use truebleu_kernel::pairwise::overlap::{Overlap, OverlapPairs, SetRanges};
use truebleu_kernel::pairwise::{Pairs, ScoreSlice, run};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Batch, BatchSize, Block, BorrowedSegment, Source};

/// Make an input: the instruction set, the metric and its options, the number of hypotheses; then
/// the texts.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(std::array::from_fn::<u8, 4, _>(|_| random.next_bits() as u8));
    let (max_texts, max_words) = if random.once_in(16) { (12, 16) } else { (4, 8) };
    let count = 2 + random.length(max_texts);
    make::append_texts(random, count, out, |random, out| {
        make::append_words(random, max_words, out)
    });
}

/// Source of texts of the input.
struct TextSource {
    segments: Vec<BorrowedSegment>,
    next: usize,
}

impl Source for TextSource {
    fn name(&self) -> &str {
        "texts"
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        let max_segments = match size {
            BatchSize::Segments(count) => count,
            BatchSize::Bytes(_) => 5,
        };
        let remaining = &self.segments[self.next..];
        let count = remaining.len().min(max_segments);
        let segments = remaining[..count].iter().copied().map(Some).collect();
        self.next += count;
        let block = Block::Segments { segments, is_utf8: false, owner: None };
        Ok((count > 0).then(|| Batch { count, streams: vec![block] }))
    }
}

/// Create a source.
fn create_source(texts: &[&[u8]]) -> Box<dyn Source> {
    // SAFETY: the texts belong to the input, which outlives the sources.
    let segments = texts.iter().map(|text| unsafe { BorrowedSegment::new(text) }).collect();
    Box::new(TextSource { segments, next: 0 })
}

/// Return the bits of all pairwise scores.
fn score_matrix(pairs: &dyn Pairs) -> Vec<u64> {
    let (height, width) = pairs.shape();
    let mut values = vec![f64::NAN; height * width];
    let mut rows: Vec<_> =
        values.chunks_mut(width).map(|values| ScoreSlice { first: 0, values }).collect();
    run(pairs, false, &mut rows, 1).expect("the work is not interrupted");
    values.into_iter().map(f64::to_bits).collect()
}

/// Check that the index and scoring pair by pair agree.
fn check_pairs<M: Metric, O: Overlap>(
    instructions: Instructions,
    tokenizer: Tokenizer,
    metric: M,
    overlap: O,
    formula: Arc<dyn Formula>,
    (hypotheses, references): (&[&[u8]], &[&[u8]]),
) {
    let lexer = Lexer { tokenizer, lowercase: None, instructions };
    let counter = Arc::new(Counter { hypotheses: lexer.clone(), references: None, metric });
    let create_sources = || (create_source(hypotheses), Some(create_source(references)));
    let (first, second) = create_sources();
    let naive_pairs = NaivePairs::read_texts(counter.clone(), Arc::clone(&formula), first, second);
    let (first, second) = create_sources();
    let index_pairs = OverlapPairs::read_texts(overlap, &lexer, first, second);
    let (Ok(naive_pairs), Ok(index_pairs)) = (naive_pairs, index_pairs) else {
        panic!("valid text was rejected")
    };
    let scores = score_matrix(&naive_pairs);
    assert_eq!(score_matrix(&index_pairs), scores, "{instructions:?}");

    let (height, width) = naive_pairs.shape();
    let score = |bits: &u64| f64::from_bits(*bits);
    let order = (0..width).collect();
    let divisor = width as f64;
    let set = ScoringSet { hypotheses: height, references: width, order, weights: None, divisor };
    let means = naive::expected_scores(counter, &*formula, create_sources(), &[set], false, 1);
    let expected = scores.chunks(width).map(|row| row.iter().map(score).sum::<f64>() / divisor);
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(means.map(bits).ok(), Some(bits(expected.collect())), "{instructions:?}");

    let single_reference =
        |reference| SetRanges { hypotheses: 0..height, references: reference..reference + 1 };
    let reference_sets: Vec<_> = (0..width).map(single_reference).collect();
    let sums = index_pairs.score_against_sums(&reference_sets, None, 1).unwrap_or_default();
    let columns = (0..width).flat_map(|column| scores[column..].iter().step_by(width).copied());
    assert_eq!(bits(sums), columns.collect::<Vec<_>>(), "{instructions:?}");
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let instructions = input.instructions();
    let selector = input.byte();
    let options = input.byte();
    let count = input.byte();
    let texts: Vec<&[u8]> = input
        .0
        .split(|&byte| byte == TEXT_SEPARATOR)
        .filter(|text| std::str::from_utf8(text).is_ok())
        .take(24)
        .collect();
    if texts.len() < 2 {
        return;
    }
    let sides = texts.split_at(1 + usize::from(count) % (texts.len() - 1));
    if selector & 1 == 0 {
        let max_order = if selector & 2 == 0 { 4 } else { 1 + usize::from(selector >> 2) % 16 };
        let smoothing = match options >> 4 & 3 {
            0 => Smoothing::None,
            1 => Smoothing::Exponential,
            2 => Smoothing::Floor(0.25),
            _ => Smoothing::Add(1.0),
        };
        let (effective_order, compensated) = (options & 1 == 1, options & 2 == 2);
        let weights = (options & 4 == 4).then(|| vec![0.25; max_order]);
        let formula = bleu::BleuFormula { smoothing, effective_order, weights, compensated };
        let at_least_one = false;
        let lengths = vec![ReferenceLength::Closest];
        let columns = bleu::BleuColumns { lengths, max_order, at_least_one };
        let overlap = PairwiseBleu { max_order, at_least_one, formula: formula.clone() };
        check_pairs(
            instructions,
            Tokenizer::Whitespace,
            columns,
            overlap,
            Arc::new(formula),
            sides,
        );
    } else {
        let eps_smoothing = options & 1 == 1;
        let formula = chrf::ChrfFormula { factor: 4.0, factor_and_one: 5.0, eps_smoothing };
        let columns = chrf::ChrfColumns {
            char_order: 1 + usize::from(selector >> 1) % 8,
            word_order: usize::from(options >> 2) % 4,
            whitespace: options & 2 == 2,
            formula: formula.clone(),
        };
        let keeps_whitespace = columns.whitespace;
        let tokenizer =
            if keeps_whitespace { Tokenizer::WholeSegment } else { Tokenizer::Whitespace };
        check_pairs(instructions, tokenizer, columns.clone(), columns, Arc::new(formula), sides);
    }
}
