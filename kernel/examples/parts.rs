//! Time the parts of BLEU on two files: reading, reading and tokenizing, and all of it.
//!
//! `cargo run --release --example parts TOKENIZER HYPOTHESES REFERENCES` prints the nanoseconds of
//! processor time of each, the minimum of several runs. It needs Linux.

use std::fs::{self, File};
use std::sync::Arc;
use truebleu_kernel::bleu::{BleuColumns, ReferenceLength};
use truebleu_kernel::count::{Count, Counter};
use truebleu_kernel::lex::{LexScratch, Lexer, Tokenizer};
use truebleu_kernel::scan::{Inputs, RowTotals, Scan};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{BatchSize, Source, Stream};

const RUNS: usize = 5;
const BATCH_BYTES: usize = 1 << 16;

fn open(path: &str) -> Box<dyn Source> {
    let file = File::open(path).expect("the file can be opened");
    Box::new(Stream::from_file(path.into(), file).expect("the file can be read"))
}

/// Read a file in batches, and tokenize them if there is a lexer.
fn read(path: &str, lexer: Option<&Lexer>) {
    let (mut source, mut scratch) = (open(path), LexScratch::default());
    while let Some(batch) = source.next(BatchSize::Bytes(BATCH_BYTES)).expect("readable text") {
        for block in &batch.streams {
            if let Some(lexer) = lexer {
                assert!(lexer.lex(block, &mut scratch).is_ok(), "{path} is not UTF-8");
            }
        }
    }
}

/// Return the processor time of this thread in nanoseconds, which Linux reports.
fn processor_time() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux's /proc");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("a number of nanoseconds")
}

fn time(mut work: impl FnMut()) -> u64 {
    let run = |_| {
        let start = processor_time();
        work();
        processor_time() - start
    };
    (0..RUNS).map(run).min().unwrap_or(0)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tokenizer, files @ ..] = &arguments[..] else { panic!("expected TOKENIZER FILE FILE") };
    let tokenizer = Tokenizer::from_name(tokenizer).expect("a tokenizer of the kernel");
    let lexer = Lexer { tokenizer, lowercase: None, instructions: Instructions::best() };
    let metric =
        BleuColumns { lengths: vec![ReferenceLength::Closest], max_order: 4, at_least_one: false };
    let counter: Arc<dyn Count> =
        Arc::new(Counter { hypotheses: lexer.clone(), references: None, metric });
    let score = || {
        let inputs = Inputs { hypotheses: open(&files[0]), references: vec![open(&files[1])] };
        let mut totals = vec![RowTotals(vec![0; counter.width()])];
        Scan::new(inputs).run(&counter, None, &mut totals, &mut |_| Ok(())).expect("a score");
    };
    println!(
        "[{}, {}, {}]",
        time(|| files.iter().for_each(|file| read(file, None))),
        time(|| files.iter().for_each(|file| read(file, Some(&lexer)))),
        time(score)
    );
}
