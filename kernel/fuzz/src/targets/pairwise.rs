//! All pairs by the index are what they are pair by pair, and so are means, and sums of one reference.

use crate::input::{BETWEEN, Input};
use crate::make::{self, Random};
use std::sync::Arc;
use truebleu_kernel::bleu::{self, ReferenceLength, Smoothing};
use truebleu_kernel::chrf;
use truebleu_kernel::count::{Counter, Formula, Metric};
use truebleu_kernel::error::Error;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::pairwise::bleu::Bleu;
use truebleu_kernel::pairwise::naive::{self, Plain, Set};
use truebleu_kernel::pairwise::overlap::{Overlap, Overlaps, Places};
use truebleu_kernel::pairwise::{Pairs, Values, run};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Batch, Block, Foreign, Source, Want};

/// An input: the instruction set, the metric and its options, the number of hypotheses; the texts.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(std::array::from_fn::<u8, 4, _>(|_| random.bits() as u8));
    let (texts, words) = if random.once_in(16) { (12, 16) } else { (4, 8) };
    let count = 2 + random.length(texts);
    make::texts(random, count, out, |random, out| make::words(random, words, out));
}

/// Texts of the input.
struct Texts {
    segments: Vec<Foreign>,
    next: usize,
}

impl Source for Texts {
    fn name(&self) -> &str {
        "texts"
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        let most = match want {
            Want::Segments(count) => count,
            Want::Bytes(_) => 5,
        };
        let rest = &self.segments[self.next..];
        let count = rest.len().min(most);
        let segments = rest[..count].iter().copied().map(Some).collect();
        self.next += count;
        let block = Block::Segments { segments, trusted: false, keep: None };
        Ok((count > 0).then(|| Batch { count, streams: vec![block] }))
    }
}

fn source(texts: &[&[u8]]) -> Box<dyn Source> {
    // SAFETY: the texts are those of the input, and the sources are gone before it is.
    let segments = texts.iter().map(|text| unsafe { Foreign::new(text) }).collect();
    Box::new(Texts { segments, next: 0 })
}

fn matrix(pairs: &dyn Pairs) -> Vec<u64> {
    let (height, width) = pairs.shape();
    let mut values = vec![f64::NAN; height * width];
    let mut rows: Vec<_> =
        values.chunks_mut(width).map(|values| Values { first: 0, values }).collect();
    run(pairs, false, &mut rows, 1).expect("nobody stops it");
    values.into_iter().map(f64::to_bits).collect()
}

fn check<M: Metric, O: Overlap>(
    instructions: Instructions,
    tokenizer: Tokenizer,
    metric: M,
    overlap: O,
    formula: Arc<dyn Formula>,
    (hypotheses, references): (&[&[u8]], &[&[u8]]),
) {
    let lexer = Lexer { tokenizer, lowercase: None, instructions };
    let counter = Arc::new(Counter { hypotheses: lexer.clone(), references: None, metric });
    let both = || (source(hypotheses), Some(source(references)));
    let (own, others) = both();
    let plain = Plain::read(Arc::clone(&counter), Arc::clone(&formula), own, others);
    let (own, others) = both();
    let index = Overlaps::read(overlap, &lexer, own, others);
    let (Ok(plain), Ok(index)) = (plain, index) else { panic!("text was refused") };
    let scores = matrix(&plain);
    assert_eq!(matrix(&index), scores, "{instructions:?}");

    let (height, width) = plain.shape();
    let score = |bits: &u64| f64::from_bits(*bits);
    let order = (0..width).collect();
    let whole = width as f64;
    let set = Set { hypotheses: height, references: width, order, weights: None, whole };
    let means = naive::expected(&counter, &*formula, both(), &[set], false, 1);
    let expected = scores.chunks(width).map(|row| row.iter().map(score).sum::<f64>() / whole);
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(means.map(bits).ok(), Some(bits(expected.collect())), "{instructions:?}");

    let one = |reference| Places { hypotheses: 0..height, references: reference..reference + 1 };
    let ones: Vec<_> = (0..width).map(one).collect();
    let sums = index.against_sums(&ones, None, 1).unwrap_or_default();
    let columns = (0..width).flat_map(|column| scores[column..].iter().step_by(width).copied());
    assert_eq!(bits(sums), columns.collect::<Vec<_>>(), "{instructions:?}");
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let instructions = input.instructions();
    let which = input.byte();
    let options = input.byte();
    let count = input.byte();
    let texts: Vec<&[u8]> = input
        .0
        .split(|&byte| byte == BETWEEN)
        .filter(|text| std::str::from_utf8(text).is_ok())
        .take(24)
        .collect();
    if texts.len() < 2 {
        return;
    }
    let both = texts.split_at(1 + usize::from(count) % (texts.len() - 1));
    if which & 1 == 0 {
        let orders = if which & 2 == 0 { 4 } else { 1 + usize::from(which >> 2) % 16 };
        let smoothing = match options >> 4 & 3 {
            0 => Smoothing::None,
            1 => Smoothing::Exponential,
            2 => Smoothing::Floor(0.25),
            _ => Smoothing::Add(1.0),
        };
        let (effective_order, compensated) = (options & 1 == 1, options & 2 == 2);
        let weights = (options & 4 == 4).then(|| vec![0.25; orders]);
        let formula = bleu::Formula { smoothing, effective_order, weights, compensated };
        let at_least_one = false;
        let lengths = vec![ReferenceLength::Closest];
        let columns = bleu::Columns { lengths, orders, at_least_one };
        let overlap = Bleu { orders, at_least_one, formula: formula.clone() };
        check(instructions, Tokenizer::Whitespace, columns, overlap, Arc::new(formula), both);
    } else {
        let eps_smoothing = options & 1 == 1;
        let formula = chrf::Formula { factor: 4.0, factor_and_one: 5.0, eps_smoothing };
        let columns = chrf::Columns {
            char_order: 1 + usize::from(which >> 1) % 8,
            word_order: usize::from(options >> 2) % 4,
            whitespace: options & 2 == 2,
            formula: formula.clone(),
        };
        let whole = columns.whitespace;
        let tokenizer = if whole { Tokenizer::Whole } else { Tokenizer::Whitespace };
        check(instructions, tokenizer, columns.clone(), columns, Arc::new(formula), both);
    }
}
