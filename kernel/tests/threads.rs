//! Several threads: each path that starts some gives what one thread gives. ThreadSanitizer runs
//! these tests (`make races`).
#![cfg(not(target_family = "wasm"))]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use truebleu_kernel::bleu::{self, ReferenceLength, Smoothing};
use truebleu_kernel::chrf;
use truebleu_kernel::count::{Count, Counter, Joint};
use truebleu_kernel::error::Error;
use truebleu_kernel::interrupt;
use truebleu_kernel::lex::lowercase::Lowercase;
use truebleu_kernel::lex::{Lexer, Tokenizer};
use truebleu_kernel::pairwise::bleu::Bleu;
use truebleu_kernel::pairwise::overlap::Overlaps;
use truebleu_kernel::pairwise::{Values, run};
use truebleu_kernel::random::Generator;
use truebleu_kernel::resample::Stack;
use truebleu_kernel::scan::{Inputs, Rows, Scan};
use truebleu_kernel::simd::Instructions;
use truebleu_kernel::text_batches::{Source, Stream};

const THREADS: usize = 4;

/// A file of a few batches, which goes when this is dropped.
struct Text(PathBuf);

impl Text {
    fn new(name: &str, every: usize) -> Self {
        let file = format!("truebleu-threads-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(file);
        let line = |i: usize| {
            let end = if i.is_multiple_of(every) { " ½ «und» mehr" } else { " a b, c" };
            format!("Der Satz {i} hat {} Wörter{end}.\n", i % 7)
        };
        std::fs::write(&path, (0..9_000).map(line).collect::<String>()).unwrap();
        Self(path)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn source(path: &Path) -> Box<dyn Source> {
    let file = std::fs::File::open(path).unwrap();
    Box::new(Stream::file("text".into(), file).unwrap())
}

fn lexer(tokenizer: Tokenizer) -> Lexer {
    let lowercase = Some(Arc::new(Lowercase::ascii()));
    Lexer { tokenizer, lowercase, instructions: Instructions::best() }
}

/// Two metrics side by side, with a lexer that they share.
fn counter() -> Arc<dyn Count> {
    let both = lexer(Tokenizer::ThirteenA);
    let lengths = vec![ReferenceLength::Closest];
    let metric = bleu::Columns { lengths, orders: 4, at_least_one: false };
    let bleu: Arc<dyn Count> = Arc::new(Counter { hypotheses: both, references: None, metric });
    let words = lexer(Tokenizer::Whitespace);
    let formula = chrf::Formula { factor: 4.0, factor_and_one: 5.0, eps_smoothing: false };
    let metric = chrf::Columns { char_order: 6, word_order: 2, whitespace: false, formula };
    let chrf: Arc<dyn Count> = Arc::new(Counter { hypotheses: words, references: None, metric });
    Arc::new(Joint(vec![bleu, chrf]))
}

fn rows(counter: &Arc<dyn Count>, texts: &[Text; 2], threads: usize) -> Vec<i64> {
    let [hypotheses, references] = texts;
    let inputs =
        Inputs { hypotheses: source(&hypotheses.0), references: vec![source(&references.0)] };
    let mut sinks = vec![Rows::default(); threads];
    Scan::new(inputs).run(counter, None, &mut sinks, &mut |_| Ok(())).unwrap();
    Rows::joined(sinks)
}

#[test]
fn scans_that_share_a_counter() {
    let texts = [Text::new("h", 3), Text::new("r", 4)];
    let counter = counter();
    let expected = rows(&counter, &texts, 1);
    std::thread::scope(|scope| {
        let scans: Vec<_> =
            (0..2).map(|_| scope.spawn(|| rows(&counter, &texts, THREADS))).collect();
        for scan in scans {
            assert_eq!(scan.join().unwrap(), expected);
        }
    });
}

#[test]
fn a_scan_that_is_stopped_in_all_threads() {
    let texts = [Text::new("stopped-h", 3), Text::new("stopped-r", 4)];
    let counter = counter();
    let stopped = interrupt::run(
        || Err(Error::Input("enough".into())),
        || {
            // Until the check has been asked, which takes some milliseconds.
            loop {
                rows(&counter, &texts, THREADS);
                interrupt::poll();
            }
        },
    );
    let reason: Result<(), _> = stopped.map(|_: ()| ());
    assert_eq!(reason.unwrap_err().to_string(), "enough");
}

#[test]
fn pairs_of_texts() {
    let text = Text::new("pairs", 3);
    let formula = bleu::Formula {
        smoothing: Smoothing::Exponential,
        effective_order: true,
        weights: None,
        compensated: false,
    };
    let lines = std::fs::read_to_string(&text.0).unwrap();
    let few: String = lines.lines().take(300).flat_map(|line| [line, "\n"]).collect();
    std::fs::write(&text.0, few).unwrap();
    let metric = Bleu { orders: 4, at_least_one: false, formula };
    let lexer = lexer(Tokenizer::Whitespace);
    let pairs = Overlaps::read(metric, &lexer, source(&text.0), None).unwrap();
    let matrix = |threads| {
        let mut values = vec![f64::NAN; 300 * 300];
        let mut rows: Vec<_> =
            values.chunks_mut(300).map(|values| Values { first: 0, values }).collect();
        run(&pairs, false, &mut rows, threads).unwrap();
        values
    };
    assert_eq!(matrix(THREADS), matrix(1));
}

#[test]
fn samples() {
    let table: Vec<i64> = (0..4_000).map(|i| i * i % 97).collect();
    let stack = Stack::new(&[(&table, 4)], 1_000).unwrap();
    let sums =
        |threads| stack.bootstrap(&mut Generator::new(&[1]), 300, Instructions::best(), threads);
    assert_eq!(sums(THREADS), sums(1));
}
