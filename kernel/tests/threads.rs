//! Multi-threaded code gives the same results as one thread. ThreadSanitizer runs these tests
//! (`make races`).
#![cfg(not(target_family = "wasm"))]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use truebleu_kernel::bleu::{self, ReferenceLength, Smoothing};
use truebleu_kernel::chrf;
use truebleu_kernel::count::{Count, Counter, JointCounter};
use truebleu_kernel::error::Error;
use truebleu_kernel::interrupt;
use truebleu_kernel::lex::lowercase::Lowercase;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::pairwise::bleu::PairwiseBleu;
use truebleu_kernel::pairwise::overlap::OverlapPairs;
use truebleu_kernel::pairwise::{ScoreSlice, run};
use truebleu_kernel::random::Generator;
use truebleu_kernel::resample::Stack;
use truebleu_kernel::scan::{Inputs, RowList, Scan};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Source, Stream};

const THREADS: usize = 4;

/// A temporary file of a few batches.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, suffix_interval: usize) -> Self {
        let file = format!("truebleu-threads-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(file);
        let line = |i: usize| {
            let end =
                if i.is_multiple_of(suffix_interval) { " ½ «und» mehr" } else { " a b, c" };
            format!("Der Satz {i} hat {} Wörter{end}.\n", i % 7)
        };
        std::fs::write(&path, (0..9_000).map(line).collect::<String>()).unwrap();
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Open a file as a source.
fn file_source(path: &Path) -> Box<dyn Source> {
    let file = std::fs::File::open(path).unwrap();
    Box::new(Stream::from_file("text".into(), file).unwrap())
}

/// Create a lexer with lowercasing.
fn create_lexer(tokenizer: Tokenizer) -> Lexer {
    let lowercase = Some(Arc::new(Lowercase::ascii()));
    Lexer { tokenizer, lowercase, instructions: Instructions::best() }
}

/// Create a counter of two metrics side by side.
fn joint_counter() -> Arc<dyn Count> {
    let bleu_lexer = create_lexer(Tokenizer::ThirteenA);
    let lengths = vec![ReferenceLength::Closest];
    let metric = bleu::BleuColumns { lengths, max_order: 4, at_least_one: false };
    let bleu: Arc<dyn Count> =
        Arc::new(Counter { hypotheses: bleu_lexer, references: None, metric });
    let chrf_lexer = create_lexer(Tokenizer::Whitespace);
    let formula = chrf::ChrfFormula { factor: 4.0, factor_and_one: 5.0, eps_smoothing: false };
    let metric = chrf::ChrfColumns { char_order: 6, word_order: 2, whitespace: false, formula };
    let chrf: Arc<dyn Count> =
        Arc::new(Counter { hypotheses: chrf_lexer, references: None, metric });
    Arc::new(JointCounter(vec![bleu, chrf]))
}

/// Count the rows of two texts.
fn count_rows(counter: &Arc<dyn Count>, texts: &[TemporaryFile; 2], threads: usize) -> Vec<i64> {
    let [hypotheses, references] = texts;
    let inputs = Inputs {
        hypotheses: file_source(&hypotheses.0),
        references: vec![file_source(&references.0)],
    };
    let mut sinks = vec![RowList::default(); threads];
    Scan::new(inputs).run(counter, None, &mut sinks, &mut |_| Ok(())).unwrap();
    RowList::merge(sinks)
}

#[test]
fn test_concurrent_scans_can_share_a_counter() {
    let texts = [TemporaryFile::new("h", 3), TemporaryFile::new("r", 4)];
    let counter = joint_counter();
    let expected = count_rows(&counter, &texts, 1);
    std::thread::scope(|scope| {
        let scans: Vec<_> =
            (0..2).map(|_| scope.spawn(|| count_rows(&counter, &texts, THREADS))).collect();
        for scan in scans {
            assert_eq!(scan.join().unwrap(), expected);
        }
    });
}

#[test]
fn test_interrupt_stops_all_threads() {
    let texts = [TemporaryFile::new("stopped-h", 3), TemporaryFile::new("stopped-r", 4)];
    let counter = joint_counter();
    let stopped = interrupt::run(
        || Err(Error::Input("enough".into())),
        || {
            // Repeat until the check is called, which takes some milliseconds.
            loop {
                count_rows(&counter, &texts, THREADS);
                interrupt::poll();
            }
        },
    );
    let reason: Result<(), _> = stopped.map(|_: ()| ());
    assert_eq!(reason.unwrap_err().to_string(), "enough");
}

#[test]
fn test_pairwise_scores() {
    let text = TemporaryFile::new("pairs", 3);
    let formula = bleu::BleuFormula {
        smoothing: Smoothing::Exponential,
        effective_order: true,
        weights: None,
        compensated: false,
    };
    let lines = std::fs::read_to_string(&text.0).unwrap();
    let first_lines: String = lines.lines().take(300).flat_map(|line| [line, "\n"]).collect();
    std::fs::write(&text.0, first_lines).unwrap();
    let metric = PairwiseBleu { max_order: 4, at_least_one: false, formula };
    let lexer = create_lexer(Tokenizer::Whitespace);
    let pairs = OverlapPairs::read_texts(metric, &lexer, file_source(&text.0), None).unwrap();
    let score_matrix = |threads| {
        let mut values = vec![f64::NAN; 300 * 300];
        let mut rows: Vec<_> =
            values.chunks_mut(300).map(|values| ScoreSlice { first: 0, values }).collect();
        run(&pairs, false, &mut rows, threads).unwrap();
        values
    };
    assert_eq!(score_matrix(THREADS), score_matrix(1));
}

#[test]
fn test_bootstrap_sums() {
    let table: Vec<i64> = (0..4_000).map(|i| i * i % 97).collect();
    let stack = Stack::new(&[(&table, 4)], 1_000).unwrap();
    let bootstrap_sums = |threads| {
        stack.bootstrap_sums(&mut Generator::new(&[1]), 300, Instructions::best(), threads)
    };
    assert_eq!(bootstrap_sums(THREADS), bootstrap_sums(1));
}
