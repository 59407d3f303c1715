//! Metrics created from settings in text form. Python passes the same settings to the kernel.
//!
//! There is one line `name=value` per setting; the first is `metric=bleu`, `chrf`, `ter` or
//! `edits`. Lists are separated by commas, and booleans are `yes` and `no`.

use super::TextResult;
use crate::bleu::{self, ReferenceLength, Smoothing, variants};
use crate::chrf;
use crate::count::{self, Counter, Formula, SingleMetricCount};
use crate::edit_distance;
use crate::lex::lowercase::Lowercase;
use crate::lex::{Lexer, Tokenizer, tercom};
use crate::ngrams::MAX_ORDER;
use crate::simd::Instructions;
use crate::text_batches::PaddedBuffer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

/// A metric, ready for counting and scoring.
pub struct PageMetric {
    /// The counter.
    pub counter: Arc<dyn SingleMetricCount>,
    segment_formula: Arc<dyn Formula>,
    corpus_formula: Arc<dyn Formula>,
    /// BLEU's formulas for segments and for corpora, with intermediate steps.
    bleu_formulas: Option<[variants::BleuVariantFormula; 2]>,
    /// Whether the corpus score is the mean of segment scores.
    pub is_segment_mean: bool,
    /// The kind of token edits, if the metric counts them.
    pub edit_kind: Option<EditKind>,
}

/// The kind of token edits.
#[derive(Clone, Copy)]
pub enum EditKind {
    /// TER's edits, with shifts.
    Ter,
    /// An error rate's edits.
    Rate(edit_distance::EditMeasure),
}

thread_local! {
    static LOWERCASE: RefCell<Option<Arc<Lowercase>>> = const { RefCell::new(None) };
}

/// Set the lowercase mapping that Python uses.
pub fn use_lowercase(pairs: &[[u32; 2]]) {
    let pairs = pairs.iter().map(|&[upper, lower]| (upper, lower));
    let letters = Lowercase::new(pairs.clone(), Box::new(|text, out| out.extend_from_slice(text)));
    let mapping = Lowercase::new(
        pairs,
        Box::new(move |segment, out| lowercase_special(&letters, segment, out)),
    );
    LOWERCASE.set(Some(Arc::new(mapping)));
}

/// Lowercase a segment that contains a capital sigma, whose lowercase form depends on the context,
/// or a dotted capital I, whose lowercase form has two characters. This function uses the lowercase
/// forms of Rust's library.
fn lowercase_special(letters: &Lowercase, segment: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(segment);
    let lower = text.to_lowercase();
    let mut remaining = &lower[..];
    let special_forms: Vec<&str> = text
        .chars()
        .filter_map(|character| {
            let length: usize = character.to_lowercase().map(char::len_utf8).sum();
            let (lower_form, after) = remaining.split_at(length);
            remaining = after;
            SPECIAL.contains(&character).then_some(lower_form)
        })
        .collect();
    let mut special = special_forms.into_iter();
    let is_special = |i: &usize| SPECIAL.iter().any(|c| segment[*i..].starts_with(utf8_bytes(c)));
    let mut position = 0;
    while position < segment.len() {
        let end = (position..segment.len()).find(is_special).unwrap_or(segment.len());
        let mut lowered = PaddedBuffer::default();
        letters.append(&segment[position..end], &mut lowered);
        lowered.finish();
        out.extend_from_slice(lowered.padded().bytes());
        position = end + 2; // Both characters have two bytes.
        if end < segment.len() {
            out.extend_from_slice(special.next().unwrap_or_default().as_bytes());
        }
    }
}

/// The characters without a single lowercase form.
const SPECIAL: [char; 2] = ['Σ', 'İ'];

/// Return the UTF-8 bytes of a special character.
fn utf8_bytes(character: &char) -> &'static [u8] {
    if *character == 'Σ' { "Σ".as_bytes() } else { "İ".as_bytes() }
}

/// The settings of a metric by name.
struct Settings<'a>(HashMap<&'a str, &'a str>);

/// Parse a boolean.
fn parse_boolean(name: &str, text: &str) -> TextResult<bool> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        text => Err(format!("{name}={text}: expected yes or no")),
    }
}

impl<'a> Settings<'a> {
    /// Return the value of a setting.
    fn text(&self, name: &str) -> TextResult<&'a str> {
        self.0.get(name).copied().ok_or_else(|| format!("missing setting: {name}"))
    }

    /// Return the value of a numeric setting.
    fn number<T: FromStr>(&self, name: &str) -> TextResult<T> {
        let text = self.text(name)?;
        text.parse().map_err(|_| format!("{name}={text}: expected a number"))
    }

    /// Return the value of a boolean setting.
    fn boolean(&self, name: &str) -> TextResult<bool> {
        parse_boolean(name, self.text(name)?)
    }

    /// Return an n-gram order of at least `min_order`.
    fn order(&self, name: &str, min_order: usize) -> TextResult<usize> {
        let order = self.number(name)?;
        if (min_order..=MAX_ORDER).contains(&order) {
            return Ok(order);
        }
        Err(format!("{name}={order}: expected {min_order} to {MAX_ORDER}"))
    }

    /// Return a lexer with the lowercase mode of the settings.
    fn lexer(&self, tokenizer: Tokenizer) -> TextResult<Lexer> {
        self.lexer_with_lowercase(tokenizer, self.text("lowercase")?)
    }

    /// Return a lexer with this lowercase mode.
    fn lexer_with_lowercase(&self, tokenizer: Tokenizer, lowercase: &str) -> TextResult<Lexer> {
        let lowercase = match lowercase {
            "no" => None,
            "ascii" => Some(Arc::new(Lowercase::ascii())),
            "python" => Some(
                LOWERCASE.with_borrow(Clone::clone).ok_or("the lowercase mapping is not set")?,
            ),
            text => return Err(format!("lowercase={text}: expected no, python or ascii")),
        };
        Ok(Lexer { tokenizer, lowercase, instructions: Instructions::best() })
    }

    /// Return the lexer of the tokenizer setting.
    fn tokenizer_lexer(&self) -> TextResult<Lexer> {
        let name = self.text("tokenizer")?;
        let tokenizer = Tokenizer::from_name(name);
        self.lexer(
            tokenizer.ok_or_else(|| format!("tokenizer {name} is not available in the browser"))?,
        )
    }
}

impl PageMetric {
    /// Create the metric with these settings.
    pub fn new(settings_text: &str) -> TextResult<Self> {
        let lines = settings_text.lines().map(|line| {
            line.split_once('=').ok_or_else(|| format!("{line}: expected a name and a value"))
        });
        let settings = Settings(lines.collect::<TextResult<_>>()?);
        match settings.text("metric")? {
            "bleu" => settings.bleu(),
            "chrf" => settings.chrf(),
            "ter" => settings.ter(),
            "edits" => settings.edits(),
            name => Err(format!("metric {name} is not available in the browser")),
        }
    }

    /// Create a metric from its lexers, its counter and its formulas.
    fn from_parts<M: count::Metric>(
        lexers: (Lexer, Option<Lexer>),
        metric: M,
        segment: Arc<dyn Formula>,
        corpus: Arc<dyn Formula>,
    ) -> Self {
        let (hypotheses, references) = lexers;
        Self {
            counter: Arc::new(Counter { hypotheses, references, metric }),
            segment_formula: segment,
            corpus_formula: corpus,
            bleu_formulas: None,
            is_segment_mean: false,
            edit_kind: None,
        }
    }

    /// Return the rows of a table, or an error if its width does not match the metric.
    pub fn rows<'a>(
        &self,
        values: &'a [i64],
        width: usize,
    ) -> TextResult<std::slice::ChunksExact<'a, i64>> {
        if width != self.counter.width() {
            return Err(format!("the table has {width} columns, which does not match the metric"));
        }
        Ok(values.chunks_exact(width))
    }

    /// Return the mean of segment scores.
    pub fn mean_segment_score<'a>(&self, rows: impl ExactSizeIterator<Item = &'a [i64]>) -> f64 {
        let Some([formula, _]) = &self.bleu_formulas else { return 0.0 };
        let count = rows.len();
        if count == 0 {
            return 0.0;
        }
        let factor = formula.percent_factor();
        let scores = rows.map(|row| formula.unscaled_score(row));
        let mean = bleu::sum(scores, formula.compensated) / count as f64;
        if factor == 1.0 { mean } else { factor * mean }
    }

    /// Return BLEU's formula with intermediate steps, for a segment or a corpus.
    pub fn bleu_formula(&self, is_corpus: bool) -> Option<&variants::BleuVariantFormula> {
        self.bleu_formulas.as_ref().map(|formulas| &formulas[usize::from(is_corpus)])
    }

    /// Return the formula for segments or for corpora.
    pub fn formula(&self, is_corpus: bool) -> &dyn Formula {
        if is_corpus { &*self.corpus_formula } else { &*self.segment_formula }
    }
}

impl Settings<'_> {
    /// Return the value of a setting, converted by `find`.
    fn named_value<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> TextResult<T> {
        let text = self.text(name)?;
        find(text).ok_or_else(|| format!("invalid {name}: {text}"))
    }

    /// Create BLEU.
    fn bleu(&self) -> TextResult<PageMetric> {
        let max_order = self.order("max_order", 1)?;
        let length = self.named_value("reference_lengths", ReferenceLength::from_name)?;
        let weights = match self.text("weights")? {
            "" => None,
            text => {
                let weights = text.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>();
                let weights = weights.map_err(|_| format!("weights={text}: expected numbers"))?;
                if weights.len() != max_order {
                    return Err(format!("{} weights for {max_order} orders", weights.len()));
                }
                Some(weights)
            }
        };
        let is_segment_mean = self.named_value("aggregate", |text| match text {
            "segments" => Some(true),
            "corpus" => Some(false),
            _ => None,
        })?;
        let missing_orders = self
            .text("missing")?
            .split_once(',')
            .ok_or("missing: expected two comma-separated values")?;
        let parse_missing_order = |name: &str| {
            variants::MissingOrder::from_name(name)
                .ok_or_else(|| format!("invalid missing: {name}"))
        };
        let make_formula = |missing_order| -> TextResult<variants::BleuVariantFormula> {
            Ok(variants::BleuVariantFormula {
                smoothing: self.named_value("smoothing", variants::Smoothing::from_name)?,
                smoothing_value: self.number("smoothing_value")?,
                missing_order,
                no_match: self.named_value("no_match", variants::NoMatch::from_name)?,
                penalty: self.named_value("brevity_penalty", variants::Penalty::from_name)?,
                empty_brevity: self.number("empty_brevity")?,
                weights: weights.clone(),
                arithmetic: self.named_value("arithmetic", variants::Arithmetic::from_name)?,
                compensated: self.boolean("compensated")?,
                length_unit: if length == ReferenceLength::Average {
                    bleu::PARTS as f64
                } else {
                    1.0
                },
            })
        };
        let segment = make_formula(parse_missing_order(missing_orders.0)?)?;
        // A metric that averages segment scores uses the segment setting for corpora, too.
        let corpus = make_formula(if is_segment_mean {
            segment.missing_order
        } else {
            parse_missing_order(missing_orders.1)?
        })?;
        let columns = bleu::BleuColumns {
            lengths: vec![length],
            max_order,
            at_least_one: segment.missing_order == variants::MissingOrder::AtLeastOne,
        };
        let metric = PageMetric::from_parts(
            (self.tokenizer_lexer()?, None),
            columns,
            self.fastest_formula(&segment)?,
            self.fastest_formula(&corpus)?,
        );
        Ok(PageMetric { bleu_formulas: Some([segment, corpus]), is_segment_mean, ..metric })
    }

    /// Return the fast formula if it gives the same scores, otherwise the general formula.
    fn fastest_formula(
        &self,
        variant_formula: &variants::BleuVariantFormula,
    ) -> TextResult<Arc<dyn Formula>> {
        use variants::{Arithmetic, MissingOrder, NoMatch, Penalty};
        let smoothing =
            Smoothing::from_name(self.text("smoothing")?, variant_formula.smoothing_value);
        let is_sacrebleu_formula = variant_formula.arithmetic == Arithmetic::SacreBleu
            && variant_formula.no_match == NoMatch::Zero
            && variant_formula.penalty == Penalty::Standard
            && variant_formula.empty_brevity == 0.0
            && matches!(variant_formula.missing_order, MissingOrder::Zero | MissingOrder::Drop)
            && variant_formula.length_unit == 1.0;
        Ok(match smoothing {
            Some(smoothing) if is_sacrebleu_formula => Arc::new(bleu::BleuFormula {
                smoothing,
                effective_order: variant_formula.missing_order == MissingOrder::Drop,
                weights: variant_formula.weights.clone(),
                compensated: variant_formula.compensated,
            }),
            _ => Arc::new(variant_formula.clone()),
        })
    }

    /// Create chrF.
    fn chrf(&self) -> TextResult<PageMetric> {
        let (char_order, word_order) = (self.number("char_order")?, self.order("word_order", 0)?);
        if char_order + word_order == 0 {
            return Err("expected at least one order".to_owned());
        }
        let (factor, factor_and_one) = (self.number("factor")?, self.number("factor_and_one")?);
        let eps_smoothing = self.boolean("eps_smoothing")?;
        let formula = chrf::ChrfFormula { factor, factor_and_one, eps_smoothing };
        let whitespace = self.boolean("whitespace")?;
        let columns =
            chrf::ChrfColumns { char_order, word_order, whitespace, formula: formula.clone() };
        let lexer = self.lexer(columns.tokenizer())?;
        let formula = Arc::new(formula);
        Ok(PageMetric::from_parts((lexer, None), columns, Arc::clone(&formula) as _, formula))
    }

    /// Create TER.
    fn ter(&self) -> TextResult<PageMetric> {
        let options = tercom::TercomOptions {
            normalized: self.boolean("normalized")?,
            no_punct: self.boolean("no_punct")?,
            asian_support: self.boolean("asian_support")?,
            applies_twice: false,
        };
        let lowercase = if self.boolean("case_sensitive")? { "no" } else { "python" };
        let lexer = |twice| self.lexer_with_lowercase(options.tokenizer(twice), lowercase);
        let lexers = (lexer(false)?, Some(lexer(true)?));
        let metric = PageMetric::from_parts(
            lexers,
            crate::ter::TerColumns,
            Arc::new(crate::ter::TerFormula),
            Arc::new(crate::ter::TerFormula),
        );
        Ok(PageMetric { edit_kind: Some(EditKind::Ter), ..metric })
    }

    /// Create an error rate.
    fn edits(&self) -> TextResult<PageMetric> {
        let name = self.text("measure")?;
        let measure = edit_distance::EditMeasure::from_name(name)
            .ok_or_else(|| format!("invalid measure: {name}"))?;
        let columns =
            edit_distance::EditColumns { measure, aligns_characters: self.boolean("characters")? };
        let edited = (!columns.aligns_characters).then_some(EditKind::Rate(measure));
        let formula = || Arc::new(measure);
        let metric =
            PageMetric::from_parts((self.tokenizer_lexer()?, None), columns, formula(), formula());
        Ok(PageMetric { edit_kind: edited, ..metric })
    }
}
