//! Whatever the source, the size of its pieces and the number of threads: the same rows.

mod common;

use proptest::prelude::*;
use std::sync::Arc;
use truebleu_kernel::bleu::{Columns, ReferenceLength};
use truebleu_kernel::count::{Count, Counter, Summary};
use truebleu_kernel::error::Error;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::scan::{Inputs, Rows, Scan};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Piece, Source, Stream};

fn counter() -> Arc<dyn Count> {
    let instructions = Instructions::best();
    let lexer = Lexer { tokenizer: Tokenizer::ThirteenA, lowercase: None, instructions };
    let metric =
        Columns { lengths: vec![ReferenceLength::Closest], orders: 4, at_least_one: false };
    Arc::new(Counter { hypotheses: lexer, references: None, metric })
}

/// A stream that gives `piece` bytes at a time.
fn stream(name: &str, text: &str, piece: usize) -> Box<dyn Source> {
    let mut rest = text.as_bytes().to_vec();
    let read = move |into: &mut Piece| {
        let count = piece.min(rest.len());
        into.append(&rest.drain(..count).collect::<Vec<_>>());
        Ok(count)
    };
    Box::new(Stream::new(name.into(), None, Box::new(read)))
}

fn run(
    inputs: Inputs,
    workers: usize,
    segments: Option<u64>,
) -> Result<(Vec<i64>, Summary), Error> {
    let scan = Scan::new(inputs);
    let mut all = Vec::new();
    let mut last = Summary::default();
    loop {
        let mut sinks = vec![Rows::default(); workers];
        let summary = scan.run(&counter(), segments, &mut sinks, &mut |_| Ok(()))?;
        if summary.segments == 0 {
            return Ok((all, last));
        }
        all.extend(Rows::joined(sinks));
        last = summary;
    }
}

fn lines(segments: &[String], last_newline: bool) -> String {
    let mut text = segments.join("\n");
    // A last line that is empty is only there if a newline ends it.
    if last_newline || segments.last().is_some_and(String::is_empty) {
        text.push('\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pieces_and_threads_change_nothing(
        segments in prop::collection::vec((common::segment(), common::segment()), 1..80),
        piece in 1..5000usize,
        workers in 1..4usize,
        pause in prop::option::of(1..50u64),
        last_newline in any::<bool>(),
    ) {
        let (hypotheses, references): (Vec<_>, Vec<_>) = segments.into_iter().unzip();
        let (hypotheses, references) =
            (lines(&hypotheses, last_newline), lines(&references, last_newline));
        let inputs = |piece| Inputs {
            hypotheses: stream("h", &hypotheses, piece),
            references: vec![stream("r", &references, piece)],
        };
        let (whole, _) = run(inputs(1 << 20), 1, None).unwrap();
        let (pieces, _) = run(inputs(piece), workers, pause).unwrap();
        prop_assert_eq!(whole, pieces);
    }
}

#[test]
fn a_file_gives_the_rows_of_a_stream() {
    let folder = std::env::temp_dir().join(format!("truebleu-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for size in [1, 2, 40, 3000, 20_000] {
        let text: String = (0..size).map(|i| format!("segment {i}, of {size}.\n")).collect();
        let path = folder.join("text");
        std::fs::write(&path, &text).unwrap();
        let file = || -> Box<dyn Source> {
            let file = std::fs::File::open(&path).unwrap();
            Box::new(Stream::file("file".into(), file).unwrap())
        };
        let from_file = Inputs { hypotheses: file(), references: vec![file()] };
        let from_stream = Inputs {
            hypotheses: stream("h", &text, 777),
            references: vec![stream("r", &text, 999)],
        };
        let (rows, summary) = run(from_file, 2, None).unwrap();
        assert_eq!(rows, run(from_stream, 1, None).unwrap().0);
        assert_eq!(rows.len(), size * 10);
        assert_eq!(summary.checks.identical, size as u64);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

fn error_of(hypotheses: &str, references: &[&str]) -> String {
    let inputs = Inputs {
        hypotheses: stream("hypotheses", hypotheses, 1000),
        references: references.iter().map(|text| stream("references", text, 1000)).collect(),
    };
    run(inputs, 2, None).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn different_lengths_are_counted_to_the_end() {
    let long: String = (0..10_000).map(|i| format!("{i}\n")).collect();
    let message = error_of("a\nb\nc\n", &["a\n", &long]);
    assert!(
        message.contains("hypotheses 3, references 1, references 10000; segment 2"),
        "{message}"
    );
    assert!(error_of(&long, &["a\n"]).contains("hypotheses 10000, references 1;"));
    assert!(error_of("a\n", &[&long]).contains("hypotheses 1, references 10000;"));
    assert!(error_of("", &["a\n"]).contains("hypotheses: no segments at all"));
}

#[test]
fn bytes_that_are_not_utf8_are_found_by_line_and_offset() {
    let read = |text: Vec<u8>| {
        let mut rest = text;
        Box::new(move |into: &mut Piece| {
            let count = rest.len();
            into.append(&std::mem::take(&mut rest));
            Ok(count)
        })
    };
    let mut text = "fine line\n".repeat(5000).into_bytes();
    let at = text.len() - 4;
    text[at] = 0xE9;
    let inputs = Inputs {
        hypotheses: stream("h", &"x\n".repeat(5000), 1000),
        references: vec![Box::new(Stream::new("r".into(), None, read(text)))],
    };
    let message = run(inputs, 1, None).err().unwrap().to_string();
    assert!(message.contains(&format!("r, line 5000: byte 0xe9 at offset {at} ")), "{message}");
}

#[test]
fn the_caller_can_stop_a_run() {
    let inputs = Inputs {
        hypotheses: stream("h", &"x\n".repeat(100_000), 10_000),
        references: vec![stream("r", &"x\n".repeat(100_000), 10_000)],
    };
    let mut sinks = vec![Rows::default(); 2];
    let scan = Scan::new(inputs);
    let stopped =
        scan.run(&counter(), None, &mut sinks, &mut |_| Err(Error::Input("enough".into())));
    assert_eq!(stopped.err().unwrap().to_string(), "enough");
}
