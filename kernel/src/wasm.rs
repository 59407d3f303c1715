//! The kernel for JavaScript: a WebAssembly interface whose functions take integers, and bytes in
//! shared memory.
//!
//! A caller writes input bytes to the address that [`page_room`] returns, and calls a function. The
//! function returns the handle of a new object, or 0 for an error. Output bytes, including error
//! messages, are at the address that [`page_answer`] returns. Objects live until [`page_forget`].
//! The JavaScript side is the report's `kernel.js`.
//!
//! Calls come from a single thread, so all state is thread-local.

mod alignment;
mod bootstrap;
mod metric_settings;
mod ngram_lists;
mod texts;

use crate::bleu;
use crate::columns;
use crate::count::Count;
use crate::error::Error;
use crate::ngrams::MAX_ORDER;
use crate::scan::{Inputs, RowList, Scan};
use crate::text_batches::Source;
use crate::token_corpus::TokenCorpus;
use bootstrap::Bootstrap;
use metric_settings::PageMetric;
use std::cell::RefCell;
use std::sync::Arc;
use texts::{TextColumn, TextRange};

/// The version of this interface, which must match between JavaScript and WebAssembly.
const VERSION: u32 = 4;

/// Rows of integers of equal width.
struct IntegerTable {
    width: usize,
    values: Vec<i64>,
}

impl IntegerTable {
    /// Return the rows with the given indices, or all rows.
    fn rows(&self, row_indices: Option<&[u32]>) -> TextResult<Vec<&[i64]>> {
        let Some(numbers) = row_indices else {
            return Ok(self.values.chunks_exact(self.width).collect());
        };
        let get_row = |&row: &u32| {
            let start = row as usize * self.width;
            self.values
                .get(start..start + self.width)
                .ok_or_else(|| "segment index out of range".to_owned())
        };
        numbers.iter().map(get_row).collect()
    }

    /// Return the sums of the rows with the given indices, or of all rows.
    fn total(&self, row_indices: Option<&[u32]>) -> TextResult<Vec<i64>> {
        if row_indices.is_none() {
            return Ok(columns::sum_rows(&self.values, self.width)?);
        }
        let mut sums = vec![0; self.width];
        for row in self.rows(row_indices)? {
            if !columns::add_row(&mut sums, row) {
                return Err(columns::overflow_error().into());
            }
        }
        Ok(sums)
    }
}

/// An object that JavaScript refers to by its handle.
enum Object {
    Texts(Arc<TextColumn>),
    Metric(Arc<PageMetric>),
    Table(IntegerTable),
    Draws(Box<Bootstrap>),
    Grams(Box<TokenCorpus>),
}

/// The state of the interface.
#[derive(Default)]
struct State {
    input: Vec<u8>,
    answer: Vec<u8>,
    objects: Vec<Option<Object>>,
}

type TextResult<T> = Result<T, String>;

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}

impl State {
    /// Store an object under the first free handle.
    fn store(&mut self, object: Object) -> u32 {
        let index = self.objects.iter().position(Option::is_none).unwrap_or(self.objects.len());
        if index == self.objects.len() {
            self.objects.push(None);
        }
        self.objects[index] = Some(object);
        index as u32 + 1
    }

    /// Return the object of a handle.
    fn get_object(&self, handle: u32) -> Option<&Object> {
        self.objects.get((handle as usize).checked_sub(1)?)?.as_ref()
    }

    fn texts_of_handle(&self, handle: u32) -> TextResult<Arc<TextColumn>> {
        match self.get_object(handle) {
            Some(Object::Texts(texts)) => Ok(Arc::clone(texts)),
            _ => wrong_handle(handle, "texts"),
        }
    }

    fn metric_of_handle(&self, handle: u32) -> TextResult<Arc<PageMetric>> {
        match self.get_object(handle) {
            Some(Object::Metric(metric)) => Ok(Arc::clone(metric)),
            _ => wrong_handle(handle, "a metric"),
        }
    }

    fn table_of_handle(&self, handle: u32) -> TextResult<&IntegerTable> {
        match self.get_object(handle) {
            Some(Object::Table(table)) => Ok(table),
            _ => wrong_handle(handle, "a table"),
        }
    }

    fn bootstrap_of_handle(&mut self, handle: u32) -> TextResult<&mut Bootstrap> {
        match self.objects.get_mut((handle as usize).wrapping_sub(1)) {
            Some(Some(Object::Draws(bootstrap))) => Ok(bootstrap),
            _ => wrong_handle(handle, "a bootstrap"),
        }
    }

    fn corpus_of_handle(&self, handle: u32) -> TextResult<&TokenCorpus> {
        match self.get_object(handle) {
            Some(Object::Grams(corpus)) => Ok(corpus),
            _ => wrong_handle(handle, "n-grams"),
        }
    }

    /// Return the input as 32-bit integers.
    fn input_integers(&self) -> Vec<u32> {
        self.input.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    /// Return the row indices in the input, or `None` if all rows are requested.
    fn requested_rows(&self, is_all: u32) -> Option<Vec<u32>> {
        (is_all == 0).then(|| self.input_integers())
    }
}

/// Return the error for a handle that does not refer to an object of this kind.
fn wrong_handle<T>(handle: u32, kind: &str) -> TextResult<T> {
    Err(format!("handle {handle} does not refer to {kind}"))
}

/// Encode 64-bit floats as the bytes of an answer.
fn encode_floats(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// Encode 64-bit integers as the bytes of an answer.
fn encode_integers<'a>(numbers: impl IntoIterator<Item = &'a i64>) -> Vec<u8> {
    numbers.into_iter().flat_map(|number| number.to_le_bytes()).collect()
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Run a function on the state. On an error, return 0 and put the message into the answer.
fn with_state(work: impl FnOnce(&mut State) -> TextResult<u32>) -> u32 {
    STATE.with_borrow_mut(|state| {
        state.answer.clear();
        let result = work(state);
        result.unwrap_or_else(|message| {
            state.answer = message.into_bytes();
            0
        })
    })
}

/// Return the version of this interface.
#[unsafe(no_mangle)]
pub extern "C" fn page_version() -> u32 {
    VERSION
}

/// Return the address to which an input of `length` bytes must be written.
#[unsafe(no_mangle)]
pub extern "C" fn page_room(length: u32) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(length as usize, 0);
        state.input.as_mut_ptr()
    })
}

/// Return the address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn page_answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Return the length of the last answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn page_answered() -> u32 {
    STATE.with_borrow(|state| state.answer.len() as u32)
}

/// Release an object.
#[unsafe(no_mangle)]
pub extern "C" fn page_forget(handle: u32) {
    STATE.with_borrow_mut(|state| {
        let index = (handle as usize).wrapping_sub(1);
        if let Some(object) = state.objects.get_mut(index) {
            *object = None;
        }
    });
}

/// Set the lowercase mapping to the mapping of the Python version that created the page.
///
/// Input: pairs of uppercase and lowercase code points (4 bytes per code point).
#[unsafe(no_mangle)]
pub extern "C" fn page_lowercase() -> u32 {
    with_state(|state| {
        metric_settings::use_lowercase(state.input_integers().as_chunks::<2>().0);
        Ok(1)
    })
}

/// Store a column of `count` texts.
///
/// Input: their 4-byte lengths (all bits set for a missing text), then the texts.
#[unsafe(no_mangle)]
pub extern "C" fn page_texts(count: u32) -> u32 {
    with_state(|state| {
        let texts = TextColumn::new(std::mem::take(&mut state.input), count as usize)?;
        Ok(state.store(Object::Texts(Arc::new(texts))))
    })
}

/// Create a metric. Input: its settings, one per line.
#[unsafe(no_mangle)]
pub extern "C" fn page_metric() -> u32 {
    with_state(|state| {
        let metric = PageMetric::new(&String::from_utf8_lossy(&state.input))?;
        Ok(state.store(Object::Metric(Arc::new(metric))))
    })
}

/// Count the segments from `first` up to but not including `last`. Append the rows to `table`, or
/// create a table if `table` is 0.
///
/// Input: 4-byte handles of the hypothesis texts, then of the reference texts.
#[unsafe(no_mangle)]
pub extern "C" fn page_count(metric: u32, table: u32, first: u32, last: u32) -> u32 {
    with_state(|state| {
        let counter: Arc<dyn Count> = Arc::clone(&state.metric_of_handle(metric)?.counter) as _;
        let columns =
            state.input_integers().into_iter().map(|handle| state.texts_of_handle(handle));
        let mut ranges = columns
            .map(|texts| TextRange::new(texts?, first as usize, last as usize))
            .collect::<TextResult<Vec<_>>>()?
            .into_iter();
        let hypotheses = ranges.next().ok_or("no hypotheses")?;
        let references: Vec<_> = ranges.map(|range| Box::new(range) as _).collect();
        let mut scan = Scan::new(Inputs { hypotheses: Box::new(hypotheses), references });
        scan.has_warnings = false;
        let mut sinks = [RowList::default()];
        scan.run(&counter, None, &mut sinks, &mut |_| Ok(()))?;
        let rows = RowList::merge(sinks.into());
        let width = counter.width();
        if table == 0 {
            return Ok(state.store(Object::Table(IntegerTable { width, values: rows })));
        }
        match state.objects.get_mut(table as usize - 1) {
            Some(Some(Object::Table(table))) if table.width == width => table.values.extend(rows),
            _ => return wrong_handle(table, &format!("a table with {width} columns")),
        }
        Ok(table)
    })
}

/// Create a table of `rows` rows that were counted elsewhere.
///
/// Input: for each column, a byte with the size of its numbers (1, 2 or 4 bytes, or 8 for floats),
/// then the numbers.
#[unsafe(no_mangle)]
pub extern "C" fn page_table(rows: u32, width: u32) -> u32 {
    with_state(|state| {
        let (rows, width) = (rows as usize, width as usize);
        let mut values = vec![0; rows * width];
        let mut remaining = &state.input[..];
        for column in 0..width {
            let (&[size], after_size) = remaining.split_first_chunk().ok_or("missing column")?;
            let size = usize::from(size);
            let (numbers, after_numbers) =
                after_size.split_at_checked(rows * size).ok_or("truncated column")?;
            remaining = after_numbers;
            let cells = values.iter_mut().skip(column).step_by(width);
            match size {
                1 => cells.zip(numbers).for_each(|(cell, &number)| *cell = i64::from(number)),
                2 => cells.zip(numbers.as_chunks::<2>().0).for_each(|(cell, bytes)| {
                    *cell = i64::from(u16::from_le_bytes(*bytes));
                }),
                4 => cells.zip(numbers.as_chunks::<4>().0).for_each(|(cell, bytes)| {
                    *cell = i64::from(u32::from_le_bytes(*bytes));
                }),
                8 => cells.zip(numbers.as_chunks::<8>().0).for_each(|(cell, bytes)| {
                    *cell = f64::from_le_bytes(*bytes) as i64;
                }),
                _ => return Err(format!("invalid number size: {size} bytes")),
            }
        }
        Ok(state.store(Object::Table(IntegerTable { width, values })))
    })
}

/// Create a table with `width` columns of 64-bit integers from the input, which has the format of
/// [`page_rows`].
#[unsafe(no_mangle)]
pub extern "C" fn page_table_of_rows(width: u32) -> u32 {
    with_state(|state| {
        let numbers = state.input.as_chunks::<8>().0;
        let (width, values) =
            (width as usize, numbers.iter().map(|bytes| i64::from_le_bytes(*bytes)));
        let values: Vec<i64> = values.collect();
        if width == 0 || !values.len().is_multiple_of(width) {
            return Err(format!("cannot divide {} numbers into rows of {width}", values.len()));
        }
        Ok(state.store(Object::Table(IntegerTable { width, values })))
    })
}

/// Return the width of a table. Answer: the rows with the indices in the input, or all rows if
/// `all` is not 0, as 64-bit integers.
#[unsafe(no_mangle)]
pub extern "C" fn page_rows(table: u32, all: u32) -> u32 {
    with_state(|state| {
        let table = state.table_of_handle(table)?;
        let (rows, width) = (table.rows(state.requested_rows(all).as_deref())?, table.width as u32);
        state.answer = encode_integers(rows.into_iter().flatten());
        Ok(width)
    })
}

/// Create a table from columns of another table. Input: the indices of the columns.
#[unsafe(no_mangle)]
pub extern "C" fn page_select(table: u32) -> u32 {
    with_state(|state| {
        let columns = state.input_integers();
        let IntegerTable { width, values } = state.table_of_handle(table)?;
        if columns.is_empty() || columns.iter().any(|&column| column as usize >= *width) {
            return Err("column index out of range".to_owned());
        }
        let rows = values.chunks_exact(*width);
        let values =
            rows.flat_map(|row| columns.iter().map(|&column| row[column as usize])).collect();
        Ok(state.store(Object::Table(IntegerTable { width: columns.len(), values })))
    })
}

/// Return 1. Answer: a column of a table, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn page_column(table: u32, column: u32) -> u32 {
    with_state(|state| {
        let IntegerTable { width, values } = state.table_of_handle(table)?;
        if column as usize >= *width {
            return Err(format!("column index {column} out of range"));
        }
        let column = values[column as usize..].iter().step_by(*width);
        state.answer = encode_floats(column.map(|&value| value as f64));
        Ok(1)
    })
}

/// Return 1. Answer: the sum of each column, as 64-bit integers.
#[unsafe(no_mangle)]
pub extern "C" fn page_total(table: u32) -> u32 {
    with_state(|state| {
        state.answer = encode_integers(&state.table_of_handle(table)?.total(None)?);
        Ok(1)
    })
}

/// Return 1. Answer: the sentence-level score of each row, on a 0-100 scale, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn page_scores(metric: u32, table: u32) -> u32 {
    with_state(|state| {
        let (metric, table) = (state.metric_of_handle(metric)?, state.table_of_handle(table)?);
        let rows = metric.rows(&table.values, table.width)?;
        state.answer = encode_floats(rows.map(|row| metric.formula(false).score(row)));
        Ok(1)
    })
}

/// Return 1. Answer: the corpus-level score as a 64-bit float, computed from all rows if `all` is
/// not 0, otherwise from the rows with the indices in the input.
#[unsafe(no_mangle)]
pub extern "C" fn page_corpus(metric: u32, table: u32, all: u32) -> u32 {
    with_state(|state| {
        let selected_rows = state.requested_rows(all);
        let (metric, table) = (state.metric_of_handle(metric)?, state.table_of_handle(table)?);
        drop(metric.rows(&table.values, table.width)?);
        let score = if metric.is_segment_mean {
            metric.mean_segment_score(table.rows(selected_rows.as_deref())?.into_iter())
        } else {
            metric.formula(true).score(&table.total(selected_rows.as_deref())?)
        };
        state.answer = encode_floats([score]);
        Ok(1)
    })
}

/// Return 1. Answer: for each row, the corpus-level score without that row, as a 64-bit float.
#[unsafe(no_mangle)]
pub extern "C" fn page_without(metric: u32, table: u32) -> u32 {
    with_state(|state| {
        let (metric, table) = (state.metric_of_handle(metric)?, state.table_of_handle(table)?);
        let rows = metric.rows(&table.values, table.width)?;
        state.answer = if metric.is_segment_mean {
            let scores: Vec<f64> = rows.map(|row| metric.formula(false).score(row)).collect();
            let (sum, remaining_count) = (scores.iter().sum::<f64>(), scores.len() as f64 - 1.0);
            let mean_without =
                |score| if remaining_count > 0.0 { (sum - score) / remaining_count } else { 0.0 };
            encode_floats(scores.into_iter().map(mean_without))
        } else {
            let totals = table.total(None)?;
            let mut remaining = totals.clone();
            encode_floats(rows.map(|row| {
                for ((remaining, total), value) in remaining.iter_mut().zip(&totals).zip(row) {
                    *remaining = total - value;
                }
                metric.formula(true).score(&remaining)
            }))
        };
        Ok(1)
    })
}

/// Return the number of orders that affect the BLEU score of a table's first row, plus one. The row
/// describes a segment, or a corpus if `corpus` is not 0.
///
/// Answer, as 64-bit floats: the brevity penalty; the mean of the precisions on a 0-100 scale;
/// whether the score is 0 before smoothing. Then for each order: the numerator, the denominator,
/// the precision in percent (NaN if it is treated as 1) and the value that smoothing used (NaN if
/// none).
#[unsafe(no_mangle)]
pub extern "C" fn page_steps(metric: u32, table: u32, corpus: u32) -> u32 {
    with_state(|state| {
        let (metric, table) = (state.metric_of_handle(metric)?, state.table_of_handle(table)?);
        let row = metric.rows(&table.values, table.width)?.next().ok_or("no row")?;
        let formula = metric.bleu_formula(corpus != 0).ok_or("the metric is not BLEU")?;
        let precisions = formula.order_precisions(row);
        let percent_factor = formula.percent_factor();
        let mean = if formula.is_zero_before_smoothing(row) {
            0.0
        } else {
            percent_factor * formula.mean_precision(&precisions)
        };
        let (brevity_penalty, is_zero) =
            (formula.brevity_penalty(row), f64::from(formula.is_zero_before_smoothing(row)));
        let count = precisions.len() as u32;
        let orders = precisions.into_iter().flat_map(|order: bleu::variants::OrderPrecision| {
            let precision =
                order.precision.map_or(f64::NAN, |precision| percent_factor * precision);
            [order.numerator, order.denominator, precision, order.smoothed.unwrap_or(f64::NAN)]
        });
        state.answer = encode_floats([brevity_penalty, mean, is_zero].into_iter().chain(orders));
        Ok(count + 1)
    })
}

/// Create a bootstrap of the segments of one table, or of two tables if `second_table` is not 0.
///
/// Input: the seed as two 4-byte words, the low-order word first; then, if whole documents are
/// resampled, the document number of each row.
#[unsafe(no_mangle)]
pub extern "C" fn page_resample(metric: u32, first_table: u32, second_table: u32) -> u32 {
    with_state(|state| {
        let input = state.input_integers();
        let (seed, groups) = input.split_at_checked(2).ok_or("no seed")?;
        let metric = state.metric_of_handle(metric)?;
        let mut tables = vec![state.table_of_handle(first_table)?];
        if second_table != 0 {
            tables.push(state.table_of_handle(second_table)?);
        }
        let width = metric.counter.width();
        for table in &tables {
            drop(metric.rows(&table.values, table.width)?);
        }
        let tables: Vec<&[i64]> = tables.iter().map(|table| &table.values[..]).collect();
        let bootstrap = Bootstrap::new(metric, &tables, width, groups, seed)?;
        Ok(state.store(Object::Draws(Box::new(bootstrap))))
    })
}

/// Add `replicates` resamples, and return the total number.
#[unsafe(no_mangle)]
pub extern "C" fn page_draw(bootstrap_handle: u32, replicates: u32) -> u32 {
    with_state(|state| {
        let bootstrap = state.bootstrap_of_handle(bootstrap_handle)?;
        Ok(bootstrap.add_replicates(replicates as usize) as u32)
    })
}

/// Return 1. Answer: as 64-bit floats, the confidence interval of each system's score; with two
/// systems, also the interval of the difference (second score minus first score).
#[unsafe(no_mangle)]
pub extern "C" fn page_intervals(bootstrap_handle: u32, level: f64) -> u32 {
    with_state(|state| {
        let bounds = state.bootstrap_of_handle(bootstrap_handle)?.confidence_intervals(level)?;
        state.answer = encode_floats(bounds);
        Ok(1)
    })
}

/// Count the n-grams of systems and references up to `max_order`, with the metric's tokenizer.
///
/// Input: 4-byte handles of the texts of `systems` systems, then of the references.
#[unsafe(no_mangle)]
pub extern "C" fn page_grams(metric: u32, systems: u32, max_order: u32) -> u32 {
    with_state(|state| {
        let metric = state.metric_of_handle(metric)?;
        let sources =
            state.input_integers().into_iter().map(|handle| -> TextResult<Box<dyn Source>> {
                let texts = state.texts_of_handle(handle)?;
                let last = texts.count();
                Ok(Box::new(TextRange::new(texts, 0, last)?))
            });
        let mut sources = sources.collect::<TextResult<Vec<_>>>()?;
        let systems = systems as usize;
        if systems == 0
            || systems > sources.len()
            || !(1..=MAX_ORDER).contains(&(max_order as usize))
        {
            return Err("expected at least one system and a valid order".to_owned());
        }
        let references = sources.split_off(systems);
        let (lexer, _) = metric.counter.lexers();
        let max_order = max_order as usize;
        let corpus =
            TokenCorpus::read(sources, references, lexer, max_order, ngram_lists::MAX_TOKENS)?;
        Ok(state.store(Object::Grams(Box::new(corpus))))
    })
}

/// Return the number of counted segments. Answer: the lists of a system and another system (counted
/// from 1; 0 for none), in the format of [`ngram_lists::encode_lists`].
#[unsafe(no_mangle)]
pub extern "C" fn page_contrasts(
    grams_handle: u32,
    system: u32,
    other_system: u32,
    limit: u32,
) -> u32 {
    with_state(|state| {
        let corpus = state.corpus_of_handle(grams_handle)?;
        let pair = (system as usize, (other_system as usize).checked_sub(1));
        let segments = corpus.segment_count() as u32;
        state.answer = ngram_lists::encode_lists(corpus, pair, limit as usize)?;
        Ok(segments)
    })
}

/// Create a table of the reference words by frequency, in the format of
/// [`TokenCorpus::count_frequency_buckets`].
///
/// Input: the minimum frequency of each bucket, in 4 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn page_frequencies(grams_handle: u32) -> u32 {
    with_state(|state| {
        let edges: Vec<u64> = state.input_integers().into_iter().map(u64::from).collect();
        let corpus = state.corpus_of_handle(grams_handle)?;
        if !(1..=255).contains(&edges.len()) {
            return Err("expected 1 to 255 bucket edges".to_owned());
        }
        let values = corpus.count_frequency_buckets(&corpus.reference_frequencies(), &edges);
        let width = edges.len() * (1 + corpus.systems);
        Ok(state.store(Object::Table(IntegerTable { width, values })))
    })
}

/// Return 1. Answer: the edits of a segment, in the format of [`alignment::encode_alignment`].
///
/// Input: `count` texts in the format of [`page_texts`]: the hypothesis, then the references.
#[unsafe(no_mangle)]
pub extern "C" fn page_alignment(metric: u32, count: u32) -> u32 {
    with_state(|state| {
        let texts = TextColumn::new(std::mem::take(&mut state.input), count as usize)?;
        state.answer = alignment::encode_alignment(&*state.metric_of_handle(metric)?, texts)?;
        Ok(1)
    })
}

/// Return the number of tokens of the input text plus one, tokenized like hypotheses, or like
/// references if `reference` is not 0. Answer: the 4-byte lengths of the tokens, then the tokens.
#[unsafe(no_mangle)]
pub extern "C" fn page_tokens(metric: u32, reference: u32) -> u32 {
    with_state(|state| {
        let metric = state.metric_of_handle(metric)?;
        let mut text = Vec::new();
        let mut ends = Vec::new();
        let (hypothesis_lexer, reference_lexer) = metric.counter.lexers();
        let lexer = if reference != 0 { reference_lexer } else { hypothesis_lexer };
        lexer.tokenize(&state.input, &mut text, |start, end| ends.push((start, end)));
        for (start, end) in &ends {
            state.answer.extend(((end - start) as u32).to_le_bytes());
        }
        for (start, end) in &ends {
            state.answer.extend_from_slice(&text[*start..*end]);
        }
        // Add one, because 0 would mean an error.
        Ok(ends.len() as u32 + 1)
    })
}
