//! Scans give the same rows for any source, chunk size and number of threads.

mod common;

use proptest::prelude::*;
use std::sync::Arc;
use truebleu_kernel::bleu::{BleuColumns, ReferenceLength};
use truebleu_kernel::count::{Count, Counter, Summary};
use truebleu_kernel::error::Error;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::scan::{Inputs, RowList, Scan};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Chunk, Source, Stream};

/// Create a BLEU counter.
fn bleu_counter() -> Arc<dyn Count> {
    let instructions = Instructions::best();
    let lexer = Lexer { tokenizer: Tokenizer::ThirteenA, lowercase: None, instructions };
    let metric =
        BleuColumns { lengths: vec![ReferenceLength::Closest], max_order: 4, at_least_one: false };
    Arc::new(Counter { hypotheses: lexer, references: None, metric })
}

/// Create a stream that reads `chunk_size` bytes at a time.
fn create_stream(name: &str, text: &str, chunk_size: usize) -> Box<dyn Source> {
    let mut remaining = text.as_bytes().to_vec();
    let read_chunk = move |chunk: &mut Chunk| {
        let count = chunk_size.min(remaining.len());
        chunk.append(&remaining.drain(..count).collect::<Vec<_>>());
        Ok(count)
    };
    Box::new(Stream::new(name.into(), None, Box::new(read_chunk)))
}

/// Scan the inputs, in parts of `segments` segments.
fn scan_inputs(
    inputs: Inputs,
    workers: usize,
    segments: Option<u64>,
) -> Result<(Vec<i64>, Summary), Error> {
    let scan = Scan::new(inputs);
    let mut rows = Vec::new();
    let mut last = Summary::default();
    loop {
        let mut sinks = vec![RowList::default(); workers];
        let summary = scan.run(&bleu_counter(), segments, &mut sinks, &mut |_| Ok(()))?;
        if summary.segments == 0 {
            return Ok((rows, last));
        }
        rows.extend(RowList::merge(sinks));
        last = summary;
    }
}

/// Join segments to lines.
fn join_lines(segments: &[String], last_newline: bool) -> String {
    let mut text = segments.join("\n");
    // An empty last line requires a final newline.
    if last_newline || segments.last().is_some_and(String::is_empty) {
        text.push('\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn test_rows_do_not_depend_on_chunks_and_threads(
        segments in prop::collection::vec((common::random_segment(), common::random_segment()), 1..80),
        chunk_size in 1..5000usize,
        workers in 1..4usize,
        pause in prop::option::of(1..50u64),
        last_newline in any::<bool>(),
    ) {
        let (hypotheses, references): (Vec<_>, Vec<_>) = segments.into_iter().unzip();
        let (hypotheses, references) =
            (join_lines(&hypotheses, last_newline), join_lines(&references, last_newline));
        let inputs = |chunk_size| Inputs {
            hypotheses: create_stream("h", &hypotheses, chunk_size),
            references: vec![create_stream("r", &references, chunk_size)],
        };
        let (expected, _) = scan_inputs(inputs(1 << 20), 1, None).unwrap();
        let (chunked_rows, _) = scan_inputs(inputs(chunk_size), workers, pause).unwrap();
        prop_assert_eq!(expected, chunked_rows);
    }
}

#[test]
fn test_file_gives_same_rows_as_stream() {
    let folder = std::env::temp_dir().join(format!("truebleu-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for size in [1, 2, 40, 3000, 20_000] {
        let text: String = (0..size).map(|i| format!("segment {i}, of {size}.\n")).collect();
        let path = folder.join("text");
        std::fs::write(&path, &text).unwrap();
        let file = || -> Box<dyn Source> {
            let file = std::fs::File::open(&path).unwrap();
            Box::new(Stream::from_file("file".into(), file).unwrap())
        };
        let from_file = Inputs { hypotheses: file(), references: vec![file()] };
        let from_stream = Inputs {
            hypotheses: create_stream("h", &text, 777),
            references: vec![create_stream("r", &text, 999)],
        };
        let (rows, summary) = scan_inputs(from_file, 2, None).unwrap();
        assert_eq!(rows, scan_inputs(from_stream, 1, None).unwrap().0);
        assert_eq!(rows.len(), size * 10);
        assert_eq!(summary.checks.identical, size as u64);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Return the message of a failed scan.
fn scan_error(hypotheses: &str, references: &[&str]) -> String {
    let inputs = Inputs {
        hypotheses: create_stream("hypotheses", hypotheses, 1000),
        references: references.iter().map(|text| create_stream("references", text, 1000)).collect(),
    };
    scan_inputs(inputs, 2, None).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn test_length_error_counts_all_inputs() {
    let long: String = (0..10_000).map(|i| format!("{i}\n")).collect();
    let message = scan_error("a\nb\nc\n", &["a\n", &long]);
    assert!(
        message.contains("hypotheses 3, references 1, references 10000; segment 2"),
        "{message}"
    );
    assert!(scan_error(&long, &["a\n"]).contains("hypotheses 10000, references 1;"));
    assert!(scan_error("a\n", &[&long]).contains("hypotheses 1, references 10000;"));
    assert!(scan_error("", &["a\n"]).contains("hypotheses: no segments"));
}

#[test]
fn test_utf8_error_names_line_and_offset() {
    let create_reader = |text: Vec<u8>| {
        let mut remaining = text;
        Box::new(move |chunk: &mut Chunk| {
            let count = remaining.len();
            chunk.append(&std::mem::take(&mut remaining));
            Ok(count)
        })
    };
    let mut text = "fine line\n".repeat(5000).into_bytes();
    let offset = text.len() - 4;
    text[offset] = 0xE9;
    let inputs = Inputs {
        hypotheses: create_stream("h", &"x\n".repeat(5000), 1000),
        references: vec![Box::new(Stream::new("r".into(), None, create_reader(text)))],
    };
    let message = scan_inputs(inputs, 1, None).err().unwrap().to_string();
    assert!(message.contains(&format!("r, line 5000: byte 0xe9 at offset {offset} ")), "{message}");
}

#[test]
fn test_check_error_stops_scan() {
    let inputs = Inputs {
        hypotheses: create_stream("h", &"x\n".repeat(100_000), 10_000),
        references: vec![create_stream("r", &"x\n".repeat(100_000), 10_000)],
    };
    let mut sinks = vec![RowList::default(); 2];
    let scan = Scan::new(inputs);
    let stopped =
        scan.run(&bleu_counter(), None, &mut sinks, &mut |_| Err(Error::Input("enough".into())));
    assert_eq!(stopped.err().unwrap().to_string(), "enough");
}
