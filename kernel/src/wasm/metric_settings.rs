//! Metrics from recipes: what truebleu's metrics hand to the kernel in Python, as lines of text.
//!
//! A recipe is a line for each parameter, `name=value`; the first is `metric=bleu`, `chrf`, `ter`,
//! `edits` or `ngram_f`. Lists have commas, truth values are `yes` and `no`.

use super::Done;
use crate::bleu::{self, ReferenceLength, Smoothing, variants};
use crate::chrf;
use crate::count::{self, CountOne, Counter, Formula};
use crate::edit_distance;
use crate::lex::lowercase::Lowercase;
use crate::lex::{Lexer, Tokenizer, tercom};
use crate::ngram_f;
use crate::ngrams::MOST_ORDERS;
use crate::simd::Instructions;
use crate::text_batches::PaddedBuffer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

/// A metric, ready to count and score.
pub struct Metric {
    /// What counts.
    pub counter: Arc<dyn CountOne>,
    segment: Arc<dyn Formula>,
    corpus: Arc<dyn Formula>,
    lexers: (Lexer, Lexer),
    /// BLEU's steps, of segments and of corpora.
    bleu: Option<[variants::Formula; 2]>,
    /// The score of a corpus is the mean of its segments'.
    mean: bool,
    /// What is edited, if it is tokens.
    edited: Option<Edited>,
}

/// How tokens are edited.
#[derive(Clone, Copy)]
pub enum Edited {
    /// As TER does.
    Ter,
    /// As an error rate does.
    Rate(edit_distance::Measure),
}

thread_local! {
    static LOWERCASE: RefCell<Option<Arc<Lowercase>>> = const { RefCell::new(None) };
}

/// Takes the lower-case form of each letter from Python.
pub fn use_lowercase(pairs: &[[u32; 2]]) {
    let pairs = pairs.iter().map(|&[upper, lower]| (upper, lower));
    let letters = Lowercase::new(pairs.clone(), Box::new(|text, out| out.extend_from_slice(text)));
    let table = Lowercase::new(pairs, Box::new(move |segment, out| sigma(&letters, segment, out)));
    LOWERCASE.set(Some(Arc::new(table)));
}

/// A segment with capital sigma, whose small form depends on the letters around it, or dotted
/// capital I, which becomes two characters: these two as Rust's library has them.
fn sigma(letters: &Lowercase, segment: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(segment);
    let lower = text.to_lowercase();
    let mut rest = &lower[..];
    let special: Vec<&str> = text
        .chars()
        .filter_map(|character| {
            let length: usize = character.to_lowercase().map(char::len_utf8).sum();
            let (own, behind) = rest.split_at(length);
            rest = behind;
            SPECIAL.contains(&character).then_some(own)
        })
        .collect();
    let mut special = special.into_iter();
    let starts = |at: &usize| SPECIAL.iter().any(|c| segment[*at..].starts_with(bytes(c)));
    let mut at = 0;
    while at < segment.len() {
        let end = (at..segment.len()).find(starts).unwrap_or(segment.len());
        let mut lowered = PaddedBuffer::default();
        letters.append(&segment[at..end], &mut lowered);
        lowered.finish();
        out.extend_from_slice(lowered.padded().bytes());
        at = end + 2; // both are two bytes
        if end < segment.len() {
            out.extend_from_slice(special.next().unwrap_or_default().as_bytes());
        }
    }
}

/// The characters that have no small form of their own.
const SPECIAL: [char; 2] = ['Σ', 'İ'];

fn bytes(character: &char) -> &'static [u8] {
    if *character == 'Σ' { "Σ".as_bytes() } else { "İ".as_bytes() }
}

/// The parameters of a recipe.
struct Parameters<'a>(HashMap<&'a str, &'a str>);

fn is_yes(name: &str, text: &str) -> Done<bool> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        text => Err(format!("{name}={text}: expected yes or no")),
    }
}

impl<'a> Parameters<'a> {
    fn text(&self, name: &str) -> Done<&'a str> {
        self.0.get(name).copied().ok_or_else(|| format!("the recipe has no {name}"))
    }

    fn number<T: FromStr>(&self, name: &str) -> Done<T> {
        let text = self.text(name)?;
        text.parse().map_err(|_| format!("{name}={text}: expected a number"))
    }

    fn yes(&self, name: &str) -> Done<bool> {
        is_yes(name, self.text(name)?)
    }

    fn order(&self, name: &str, least: usize) -> Done<usize> {
        let order = self.number(name)?;
        if (least..=MOST_ORDERS).contains(&order) {
            return Ok(order);
        }
        Err(format!("{name}={order}: expected {least} to {MOST_ORDERS}"))
    }

    fn lexer(&self, tokenizer: Tokenizer) -> Done<Lexer> {
        self.lexer_of(tokenizer, self.text("lowercase")?)
    }

    fn lexer_of(&self, tokenizer: Tokenizer, lowercase: &str) -> Done<Lexer> {
        let lowercase = match lowercase {
            "no" => None,
            "ascii" => Some(Arc::new(Lowercase::ascii())),
            "python" => Some(LOWERCASE.with_borrow(Clone::clone).ok_or("no table of lower case")?),
            text => return Err(format!("lowercase={text}: expected no, python or ascii")),
        };
        Ok(Lexer { tokenizer, lowercase, instructions: Instructions::best() })
    }

    fn tokenizer(&self) -> Done<Lexer> {
        let name = self.text("tokenizer")?;
        let tokenizer = Tokenizer::named(name);
        self.lexer(tokenizer.ok_or_else(|| format!("the page has no tokenizer {name}"))?)
    }
}

impl Metric {
    /// The metric of a recipe.
    pub fn new(recipe: &str) -> Done<Self> {
        let lines = recipe.lines().map(|line| {
            line.split_once('=').ok_or_else(|| format!("{line}: expected a name and a value"))
        });
        let given = Parameters(lines.collect::<Done<_>>()?);
        match given.text("metric")? {
            "bleu" => given.bleu(),
            "chrf" => given.chrf(),
            "ter" => given.ter(),
            "edits" => given.edits(),
            "ngram_f" => given.ngram_f(),
            name => Err(format!("the page has no metric {name}")),
        }
    }

    fn made<M: count::Metric>(
        lexers: (Lexer, Option<Lexer>),
        metric: M,
        segment: Arc<dyn Formula>,
        corpus: Arc<dyn Formula>,
    ) -> Self {
        let (hypotheses, references) = lexers;
        let both = (hypotheses.clone(), references.clone().unwrap_or_else(|| hypotheses.clone()));
        let counter = Arc::new(Counter { hypotheses, references, metric });
        Self { counter, segment, corpus, lexers: both, bleu: None, mean: false, edited: None }
    }

    /// The rows of a table of such a width, which must be this metric's.
    pub fn rows<'a>(
        &self,
        values: &'a [i64],
        width: usize,
    ) -> Done<std::slice::ChunksExact<'a, i64>> {
        if width != self.counter.width() {
            return Err(format!("a table of {width} columns is not this metric's"));
        }
        Ok(values.chunks_exact(width))
    }

    /// What is edited, if it is tokens.
    pub fn edited(&self) -> Option<Edited> {
        self.edited
    }

    /// True if the score of a corpus is the mean of its segments'.
    pub fn is_mean(&self) -> bool {
        self.mean
    }

    /// That mean.
    pub fn mean<'a>(&self, rows: impl ExactSizeIterator<Item = &'a [i64]>) -> f64 {
        let Some([formula, _]) = &self.bleu else { return 0.0 };
        let count = rows.len();
        if count == 0 {
            return 0.0;
        }
        let factor = formula.factor();
        let natural = rows.map(|row| formula.natural(row));
        let mean = bleu::sum(natural, formula.compensated) / count as f64;
        if factor == 1.0 { mean } else { factor * mean }
    }

    /// BLEU's steps to the score of a segment, or of a corpus.
    pub fn bleu(&self, corpus: bool) -> Option<&variants::Formula> {
        self.bleu.as_ref().map(|both| &both[usize::from(corpus)])
    }

    /// The formula of segments, or of corpora.
    pub fn formula(&self, corpus: bool) -> &dyn Formula {
        if corpus { &*self.corpus } else { &*self.segment }
    }

    /// How hypotheses become tokens.
    pub fn hypotheses(&self) -> &Lexer {
        &self.lexers.0
    }

    /// How references do.
    pub fn references(&self) -> &Lexer {
        &self.lexers.1
    }
}

impl Parameters<'_> {
    fn named<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> Done<T> {
        let text = self.text(name)?;
        find(text).ok_or_else(|| format!("no {name} {text}"))
    }

    fn bleu(&self) -> Done<Metric> {
        let orders = self.order("max_order", 1)?;
        let length = self.named("reference_lengths", ReferenceLength::named)?;
        let weights = match self.text("weights")? {
            "" => None,
            text => {
                let weights = text.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>();
                let weights = weights.map_err(|_| format!("weights={text}: expected numbers"))?;
                if weights.len() != orders {
                    return Err(format!("{} weights for {orders} orders", weights.len()));
                }
                Some(weights)
            }
        };
        let mean = self.named("aggregate", |text| match text {
            "segments" => Some(true),
            "corpus" => Some(false),
            _ => None,
        })?;
        let both = self.text("missing")?.split_once(',').ok_or("missing: expected two")?;
        let missing =
            |name: &str| variants::Missing::named(name).ok_or_else(|| format!("no missing {name}"));
        let of = |missing| -> Done<variants::Formula> {
            Ok(variants::Formula {
                smoothing: self.named("smoothing", variants::Smoothing::named)?,
                value: self.number("smoothing_value")?,
                missing,
                no_match: self.named("no_match", variants::NoMatch::named)?,
                penalty: self.named("brevity_penalty", variants::Penalty::named)?,
                empty_brevity: self.number("empty_brevity")?,
                weights: weights.clone(),
                arithmetic: self.named("arithmetic", variants::Arithmetic::named)?,
                compensated: self.yes("compensated")?,
                parts: length == ReferenceLength::Average,
            })
        };
        let segment = of(missing(both.0)?)?;
        // What is a mean of segments is one of their scores.
        let corpus = of(if mean { segment.missing } else { missing(both.1)? })?;
        let columns = bleu::Columns {
            lengths: vec![length],
            orders,
            at_least_one: segment.missing == variants::Missing::AtLeastOne,
        };
        let made = Metric::made(
            (self.tokenizer()?, None),
            columns,
            self.fastest(&segment)?,
            self.fastest(&corpus)?,
        );
        Ok(Metric { bleu: Some([segment, corpus]), mean, ..made })
    }

    /// sacreBLEU's case of a formula as it is for many rows, and any other as it is.
    fn fastest(&self, of: &variants::Formula) -> Done<Arc<dyn Formula>> {
        use variants::{Arithmetic, Missing, NoMatch, Penalty};
        let smoothing = Smoothing::named(self.text("smoothing")?, of.value);
        let usual = of.arithmetic == Arithmetic::SacreBleu
            && of.no_match == NoMatch::Zero
            && of.penalty == Penalty::Standard
            && of.empty_brevity == 0.0
            && matches!(of.missing, Missing::Zero | Missing::Drop)
            && !of.parts;
        Ok(match smoothing {
            Some(smoothing) if usual => Arc::new(bleu::Formula {
                smoothing,
                effective_order: of.missing == Missing::Drop,
                weights: of.weights.clone(),
                compensated: of.compensated,
            }),
            _ => Arc::new(of.clone()),
        })
    }

    fn chrf(&self) -> Done<Metric> {
        let (char_order, word_order) = (self.number("char_order")?, self.order("word_order", 0)?);
        if char_order + word_order == 0 {
            return Err("expected at least one order".to_owned());
        }
        let (factor, factor_and_one) = (self.number("factor")?, self.number("factor_and_one")?);
        let eps_smoothing = self.yes("eps_smoothing")?;
        let formula = chrf::Formula { factor, factor_and_one, eps_smoothing };
        let whitespace = self.yes("whitespace")?;
        let columns =
            chrf::Columns { char_order, word_order, whitespace, formula: formula.clone() };
        let lexer = self.lexer(columns.tokenizer())?;
        let formula = Arc::new(formula);
        Ok(Metric::made((lexer, None), columns, Arc::clone(&formula) as _, formula))
    }

    fn ter(&self) -> Done<Metric> {
        let options = tercom::Options {
            normalized: self.yes("normalized")?,
            no_punct: self.yes("no_punct")?,
            asian_support: self.yes("asian_support")?,
            twice: false,
        };
        let lowercase = if self.yes("case_sensitive")? { "no" } else { "python" };
        let lexer = |twice| self.lexer_of(options.tokenizer(twice), lowercase);
        let lexers = (lexer(false)?, Some(lexer(true)?));
        let made = Metric::made(
            lexers,
            crate::ter::Columns,
            Arc::new(crate::ter::Formula),
            Arc::new(crate::ter::Formula),
        );
        Ok(Metric { edited: Some(Edited::Ter), ..made })
    }

    fn edits(&self) -> Done<Metric> {
        let name = self.text("measure")?;
        let measure =
            edit_distance::Measure::named(name).ok_or_else(|| format!("no measure {name}"))?;
        let columns = edit_distance::Columns { measure, characters: self.yes("characters")? };
        let edited = (!columns.characters).then_some(Edited::Rate(measure));
        let formula = || Arc::new(measure);
        let made = Metric::made((self.tokenizer()?, None), columns, formula(), formula());
        Ok(Metric { edited, ..made })
    }

    fn ngram_f(&self) -> Done<Metric> {
        let orders = self.text("orders")?.split(',').map(str::parse).collect::<Result<Vec<_>, _>>();
        let orders: Vec<usize> = orders.map_err(|_| "orders: expected numbers")?;
        if !orders.is_sorted() || !orders.iter().all(|order| (1..=MOST_ORDERS).contains(order)) {
            return Err("orders must be 1 to 16, the highest last".to_owned());
        }
        let formula = ngram_f::Formula { factor: self.number("factor")? };
        let columns = ngram_f::Columns { orders, formula };
        let formula = Arc::new(formula);
        Ok(Metric::made((self.tokenizer()?, None), columns, Arc::clone(&formula) as _, formula))
    }
}
