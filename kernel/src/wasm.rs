//! The kernel for JavaScript: WebAssembly whose functions take numbers, and bytes in shared memory.
//!
//! Whoever calls writes bytes to where [`page_room`] says, and calls a function. That gives a number:
//! the handle of what it made, or 0 for an error; what it says in bytes is where [`page_answer`]
//! points. Handles live until [`page_forget`]. The face for JavaScript is `kernel.js` of the report.
//!
//! One thread calls, so all state is its own.

mod alignment;
mod bootstrap;
mod metric_settings;
mod ngram_lists;
mod texts;

use crate::bleu;
use crate::columns;
use crate::count::Count;
use crate::ngrams::MOST_ORDERS;
use crate::scan::{Inputs, Rows, Scan};
use crate::text_batches::Source;
use bootstrap::Draws;
use metric_settings::Metric;
use ngram_lists::Grams;
use std::cell::RefCell;
use std::sync::Arc;
use texts::{Part, Texts};

/// The version of this interface, which the page and its binary must share.
const VERSION: u32 = 4;

/// Rows of integers, of one width.
struct Table {
    width: usize,
    values: Vec<i64>,
}

impl Table {
    /// Some rows, by their numbers, or all.
    fn rows(&self, numbers: Option<&[u32]>) -> Done<Vec<&[i64]>> {
        let Some(numbers) = numbers else {
            return Ok(self.values.chunks_exact(self.width).collect());
        };
        let row = |&row: &u32| {
            let start = row as usize * self.width;
            self.values.get(start..start + self.width).ok_or_else(|| "no such segment".to_owned())
        };
        numbers.iter().map(row).collect()
    }

    /// The sums of some rows, or of all.
    fn total(&self, numbers: Option<&[u32]>) -> Done<Vec<i64>> {
        if numbers.is_none() {
            return columns::total(&self.values, self.width).map_err(|error| error.to_string());
        }
        let mut sums = vec![0; self.width];
        for row in self.rows(numbers)? {
            if !columns::add(&mut sums, row) {
                return Err(columns::too_large().to_string());
            }
        }
        Ok(sums)
    }
}

enum Object {
    Texts(Arc<Texts>),
    Metric(Arc<Metric>),
    Table(Table),
    Draws(Box<Draws>),
    Grams(Box<Grams>),
}

#[derive(Default)]
struct State {
    input: Vec<u8>,
    answer: Vec<u8>,
    objects: Vec<Option<Object>>,
}

type Done<T> = Result<T, String>;

impl State {
    /// Keeps an object under the first handle that is free.
    fn keep(&mut self, object: Object) -> u32 {
        let free = self.objects.iter().position(Option::is_none).unwrap_or(self.objects.len());
        if free == self.objects.len() {
            self.objects.push(None);
        }
        self.objects[free] = Some(object);
        free as u32 + 1
    }

    fn at(&self, handle: u32) -> Option<&Object> {
        self.objects.get((handle as usize).checked_sub(1)?)?.as_ref()
    }

    fn texts(&self, handle: u32) -> Done<Arc<Texts>> {
        match self.at(handle) {
            Some(Object::Texts(texts)) => Ok(Arc::clone(texts)),
            _ => Err(format!("{handle} is no column of texts")),
        }
    }

    fn metric(&self, handle: u32) -> Done<Arc<Metric>> {
        match self.at(handle) {
            Some(Object::Metric(metric)) => Ok(Arc::clone(metric)),
            _ => Err(format!("{handle} is no metric")),
        }
    }

    fn table(&self, handle: u32) -> Done<&Table> {
        match self.at(handle) {
            Some(Object::Table(table)) => Ok(table),
            _ => Err(format!("{handle} is no table")),
        }
    }

    /// The numbers that were given as bytes.
    fn indices(&self) -> Vec<u32> {
        self.input.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect()
    }

    /// The same, where all rows may be meant.
    fn chosen(&self, all: u32) -> Option<Vec<u32>> {
        (all == 0).then(|| self.indices())
    }
}

/// An answer of 64-bit floats.
fn floats(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// An answer of 64-bit integers.
fn integers<'a>(numbers: impl IntoIterator<Item = &'a i64>) -> Vec<u8> {
    numbers.into_iter().flat_map(|number| number.to_le_bytes()).collect()
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Does something with the state; an error is the answer, and 0.
fn with(work: impl FnOnce(&mut State) -> Done<u32>) -> u32 {
    STATE.with_borrow_mut(|state| {
        state.answer.clear();
        let done = work(state);
        done.unwrap_or_else(|told| {
            state.answer = told.into_bytes();
            0
        })
    })
}

/// The version of this interface.
#[unsafe(no_mangle)]
pub extern "C" fn page_version() -> u32 {
    VERSION
}

/// Where the next input of so many bytes is to be written.
#[unsafe(no_mangle)]
pub extern "C" fn page_room(length: u32) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(length as usize, 0);
        state.input.as_mut_ptr()
    })
}

/// Where the last answer is.
#[unsafe(no_mangle)]
pub extern "C" fn page_answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// How many bytes the last answer has.
#[unsafe(no_mangle)]
pub extern "C" fn page_answered() -> u32 {
    STATE.with_borrow(|state| state.answer.len() as u32)
}

/// Lets go of an object.
#[unsafe(no_mangle)]
pub extern "C" fn page_forget(handle: u32) {
    STATE.with_borrow_mut(|state| {
        let place = (handle as usize).wrapping_sub(1);
        if let Some(object) = state.objects.get_mut(place) {
            *object = None;
        }
    });
}

/// Lower-casing as the Python that made the page does it.
///
/// Input: pairs of code points of 4 bytes each, upper case and lower case.
#[unsafe(no_mangle)]
pub extern "C" fn page_lowercase() -> u32 {
    with(|state| {
        metric_settings::use_lowercase(state.indices().as_chunks::<2>().0);
        Ok(1)
    })
}

/// A column of so many texts.
///
/// Input: their lengths, of 4 bytes each (all bits set where there is none), then the texts.
#[unsafe(no_mangle)]
pub extern "C" fn page_texts(count: u32) -> u32 {
    with(|state| {
        let texts = Texts::new(std::mem::take(&mut state.input), count as usize)?;
        Ok(state.keep(Object::Texts(Arc::new(texts))))
    })
}

/// A metric. Input: its recipe, a line a parameter.
#[unsafe(no_mangle)]
pub extern "C" fn page_metric() -> u32 {
    with(|state| {
        let metric = Metric::new(&String::from_utf8_lossy(&state.input))?;
        Ok(state.keep(Object::Metric(Arc::new(metric))))
    })
}

/// The rows of segments `first` to `last` (left out), behind those of `table`, or in a new one for 0.
///
/// Input: handles of texts, of 4 bytes each: hypotheses, then references.
#[unsafe(no_mangle)]
pub extern "C" fn page_count(metric: u32, table: u32, first: u32, last: u32) -> u32 {
    with(|state| {
        let counter: Arc<dyn Count> = Arc::clone(&state.metric(metric)?.counter) as _;
        let columns = state.indices().into_iter().map(|handle| state.texts(handle));
        let mut parts = columns
            .map(|texts| Part::new(texts?, first as usize, last as usize))
            .collect::<Done<Vec<_>>>()?
            .into_iter();
        let hypotheses = parts.next().ok_or("no hypotheses")?;
        let references: Vec<_> = parts.map(|part| Box::new(part) as _).collect();
        let scan = Scan::new(Inputs { hypotheses: Box::new(hypotheses), references });
        let mut sinks = [Rows::default()];
        scan.run(&counter, None, &mut sinks, &mut |_| Ok(())).map_err(|error| error.to_string())?;
        let rows = Rows::joined(sinks.into());
        let width = counter.width();
        if table == 0 {
            return Ok(state.keep(Object::Table(Table { width, values: rows })));
        }
        match state.objects.get_mut(table as usize - 1) {
            Some(Some(Object::Table(known))) if known.width == width => known.values.extend(rows),
            _ => return Err(format!("{table} is no table of {width} columns")),
        }
        Ok(table)
    })
}

/// A table of so many rows that were counted elsewhere.
///
/// Input: for each column a byte that says how wide its numbers are (1, 2 or 4 bytes, or 8 for
/// floats), then the numbers.
#[unsafe(no_mangle)]
pub extern "C" fn page_table(rows: u32, width: u32) -> u32 {
    with(|state| {
        let (rows, width) = (rows as usize, width as usize);
        let mut values = vec![0; rows * width];
        let mut rest = &state.input[..];
        for column in 0..width {
            let (&[size], behind) = rest.split_first_chunk().ok_or("a column is missing")?;
            let size = usize::from(size);
            let (numbers, behind) =
                behind.split_at_checked(rows * size).ok_or("a column is too short")?;
            rest = behind;
            let places = values.iter_mut().skip(column).step_by(width);
            match size {
                1 => places.zip(numbers).for_each(|(place, &one)| *place = i64::from(one)),
                2 => places.zip(numbers.as_chunks::<2>().0).for_each(|(place, two)| {
                    *place = i64::from(u16::from_le_bytes(*two));
                }),
                4 => places.zip(numbers.as_chunks::<4>().0).for_each(|(place, four)| {
                    *place = i64::from(u32::from_le_bytes(*four));
                }),
                8 => places.zip(numbers.as_chunks::<8>().0).for_each(|(place, eight)| {
                    *place = f64::from_le_bytes(*eight) as i64;
                }),
                _ => return Err(format!("numbers of {size} bytes")),
            }
        }
        Ok(state.keep(Object::Table(Table { width, values })))
    })
}

/// A table of rows of so many 64-bit integers, which are the input: those of [`page_rows`].
#[unsafe(no_mangle)]
pub extern "C" fn page_table_of_rows(width: u32) -> u32 {
    with(|state| {
        let numbers = state.input.as_chunks::<8>().0;
        let (width, values) =
            (width as usize, numbers.iter().map(|eight| i64::from_le_bytes(*eight)));
        let values: Vec<i64> = values.collect();
        if width == 0 || !values.len().is_multiple_of(width) {
            return Err(format!("{} numbers are no rows of {width}", values.len()));
        }
        Ok(state.keep(Object::Table(Table { width, values })))
    })
}

/// The width of a table. Answer: the rows whose numbers are the input, or with `all` all of them,
/// as 64-bit integers.
#[unsafe(no_mangle)]
pub extern "C" fn page_rows(table: u32, all: u32) -> u32 {
    with(|state| {
        let table = state.table(table)?;
        let (rows, width) = (table.rows(state.chosen(all).as_deref())?, table.width as u32);
        state.answer = integers(rows.into_iter().flatten());
        Ok(width)
    })
}

/// A table of those columns of another one whose numbers are the input.
#[unsafe(no_mangle)]
pub extern "C" fn page_select(table: u32) -> u32 {
    with(|state| {
        let columns = state.indices();
        let Table { width, values } = state.table(table)?;
        if columns.is_empty() || columns.iter().any(|&column| column as usize >= *width) {
            return Err("no such column".to_owned());
        }
        let rows = values.chunks_exact(*width);
        let values =
            rows.flat_map(|row| columns.iter().map(|&column| row[column as usize])).collect();
        Ok(state.keep(Object::Table(Table { width: columns.len(), values })))
    })
}

/// Gives 1. Answer: a column of a table, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn page_column(table: u32, column: u32) -> u32 {
    with(|state| {
        let Table { width, values } = state.table(table)?;
        if column as usize >= *width {
            return Err(format!("no column {column}"));
        }
        let column = values[column as usize..].iter().step_by(*width);
        state.answer = floats(column.map(|&value| value as f64));
        Ok(1)
    })
}

/// Gives 1. Answer: the sum of each column, as 64-bit integers.
#[unsafe(no_mangle)]
pub extern "C" fn page_total(table: u32) -> u32 {
    with(|state| {
        state.answer = integers(&state.table(table)?.total(None)?);
        Ok(1)
    })
}

/// Gives 1. Answer: the score of each row as a segment's, as 64-bit floats, 0 to 100.
#[unsafe(no_mangle)]
pub extern "C" fn page_scores(metric: u32, table: u32) -> u32 {
    with(|state| {
        let (metric, table) = (state.metric(metric)?, state.table(table)?);
        let rows = metric.rows(&table.values, table.width)?;
        state.answer = floats(rows.map(|row| metric.formula(false).score(row)));
        Ok(1)
    })
}

/// Gives 1. Answer: the score of the corpus of the rows whose numbers are the input, or with `all`
/// of all, as a 64-bit float.
#[unsafe(no_mangle)]
pub extern "C" fn page_corpus(metric: u32, table: u32, all: u32) -> u32 {
    with(|state| {
        let chosen = state.chosen(all);
        let (metric, table) = (state.metric(metric)?, state.table(table)?);
        drop(metric.rows(&table.values, table.width)?);
        let score = if metric.is_mean() {
            metric.mean(table.rows(chosen.as_deref())?.into_iter())
        } else {
            metric.formula(true).score(&table.total(chosen.as_deref())?)
        };
        state.answer = floats([score]);
        Ok(1)
    })
}

/// Gives 1. Answer: the score of the rest without each row, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn page_without(metric: u32, table: u32) -> u32 {
    with(|state| {
        let (metric, table) = (state.metric(metric)?, state.table(table)?);
        let rows = metric.rows(&table.values, table.width)?;
        state.answer = if metric.is_mean() {
            let scores: Vec<f64> = rows.map(|row| metric.formula(false).score(row)).collect();
            let (sum, rest) = (scores.iter().sum::<f64>(), scores.len() as f64 - 1.0);
            let without = |score| if rest > 0.0 { (sum - score) / rest } else { 0.0 };
            floats(scores.into_iter().map(without))
        } else {
            let totals = table.total(None)?;
            let mut rest = totals.clone();
            floats(rows.map(|row| {
                for ((rest, total), value) in rest.iter_mut().zip(&totals).zip(row) {
                    *rest = total - value;
                }
                metric.formula(true).score(&rest)
            }))
        };
        Ok(1)
    })
}

/// The number of orders that count in the score of a table's first row, by BLEU, and one more; as a
/// segment's, or with `corpus` a corpus'.
///
/// Answer, as 64-bit floats: the brevity penalty, the mean without it, 0 to 100, whether the score
/// is 0 before smoothing; then of each order the numerator, the denominator, the precision in per
/// cent (NaN for one that counts as 1) and what smoothing put there (NaN if nothing).
#[unsafe(no_mangle)]
pub extern "C" fn page_steps(metric: u32, table: u32, corpus: u32) -> u32 {
    with(|state| {
        let (metric, table) = (state.metric(metric)?, state.table(table)?);
        let row = metric.rows(&table.values, table.width)?.next().ok_or("no row")?;
        let formula = metric.bleu(corpus != 0).ok_or("only BLEU has these steps")?;
        let steps = formula.steps(row);
        let percent = formula.factor();
        let mean = if formula.is_hopeless(row) { 0.0 } else { percent * formula.mean(&steps) };
        let (brevity, hopeless) = (formula.brevity(row), f64::from(formula.is_hopeless(row)));
        let count = steps.len() as u32;
        let orders = steps.into_iter().flat_map(|step: bleu::variants::Step| {
            let precision = step.precision.map_or(f64::NAN, |precision| percent * precision);
            [step.numerator, step.denominator, precision, step.smoothed.unwrap_or(f64::NAN)]
        });
        state.answer = floats([brevity, mean, hopeless].into_iter().chain(orders));
        Ok(count + 1)
    })
}

/// Resamples of the segments of a table, and of another one for 0 of none.
///
/// Input: the seed as two numbers of 4 bytes, the lower first; then the number of each row's
/// document, if whole documents are to be drawn.
#[unsafe(no_mangle)]
pub extern "C" fn page_resample(metric: u32, one: u32, other: u32) -> u32 {
    with(|state| {
        let given = state.indices();
        let (seed, groups) = given.split_at_checked(2).ok_or("no seed")?;
        let metric = state.metric(metric)?;
        let mut tables = vec![state.table(one)?];
        if other != 0 {
            tables.push(state.table(other)?);
        }
        let width = metric.counter.width();
        for table in &tables {
            drop(metric.rows(&table.values, table.width)?);
        }
        let tables: Vec<&[i64]> = tables.iter().map(|table| &table.values[..]).collect();
        let draws = Draws::new(metric, &tables, width, groups, seed)?;
        Ok(state.keep(Object::Draws(Box::new(draws))))
    })
}

/// Draws so many resamples more, and gives how many there are.
#[unsafe(no_mangle)]
pub extern "C" fn page_draw(draws: u32, replicates: u32) -> u32 {
    with(|state| match state.objects.get_mut((draws as usize).wrapping_sub(1)) {
        Some(Some(Object::Draws(draws))) => Ok(draws.draw(replicates as usize) as u32),
        _ => Err(format!("{draws} is no resample")),
    })
}

/// Gives 1. Answer: the ends of the interval of each system's score, and if there are two of the
/// second's less the first's, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn page_intervals(draws: u32, level: f64) -> u32 {
    with(|state| {
        let ends = match state.at(draws) {
            Some(Object::Draws(draws)) => draws.intervals(level)?,
            _ => return Err(format!("{draws} is no resample")),
        };
        state.answer = floats(ends);
        Ok(1)
    })
}

/// The n-grams of systems and of references, up to an order, as the metric splits them.
///
/// Input: handles of texts, of 4 bytes each: so many systems, then references.
#[unsafe(no_mangle)]
pub extern "C" fn page_grams(metric: u32, systems: u32, orders: u32) -> u32 {
    with(|state| {
        let metric = state.metric(metric)?;
        let parts = state.indices().into_iter().map(|handle| -> Done<Box<dyn Source>> {
            let texts = state.texts(handle)?;
            let last = texts.count();
            Ok(Box::new(Part::new(texts, 0, last)?))
        });
        let mut parts = parts.collect::<Done<Vec<_>>>()?;
        let systems = systems as usize;
        if systems == 0 || systems > parts.len() || !(1..=MOST_ORDERS).contains(&(orders as usize))
        {
            return Err("expected at least one system and a valid order".to_owned());
        }
        let references = parts.split_off(systems);
        let made = Grams::new(parts, references, metric.hypotheses(), orders as usize)?;
        Ok(state.keep(Object::Grams(Box::new(made))))
    })
}

/// The number of segments whose n-grams were counted. Answer: the lists of a system and another one
/// (counted from 1; 0 for none), as [`Grams::lists`] has them.
#[unsafe(no_mangle)]
pub extern "C" fn page_contrasts(grams: u32, one: u32, other: u32, limit: u32) -> u32 {
    with(|state| {
        let Some(Object::Grams(grams)) = state.at(grams) else {
            return Err(format!("{grams} is no corpus"));
        };
        let pair = (one as usize, (other as usize).checked_sub(1));
        let (lists, segments) = (grams.lists(pair, limit as usize)?, grams.segments() as u32);
        state.answer = lists;
        Ok(segments)
    })
}

/// A table of the words of the references by their frequency, as [`Grams::frequencies`] has them.
///
/// Input: the least frequency of each bucket, of 4 bytes each.
#[unsafe(no_mangle)]
pub extern "C" fn page_frequencies(grams: u32) -> u32 {
    with(|state| {
        let edges: Vec<u64> = state.indices().into_iter().map(u64::from).collect();
        let Some(Object::Grams(grams)) = state.at(grams) else {
            return Err(format!("{grams} is no corpus"));
        };
        if edges.is_empty() || edges.len() > usize::from(u8::MAX) {
            return Err("expected some edges".to_owned());
        }
        let (width, values) = grams.frequencies(&edges);
        Ok(state.keep(Object::Table(Table { width, values })))
    })
}

/// Gives 1. Answer: the edits of a segment, as [`alignment::alignment`] has them.
///
/// Input: its texts, so many, as those of [`page_texts`]: the hypothesis, then the references.
#[unsafe(no_mangle)]
pub extern "C" fn page_alignment(metric: u32, count: u32) -> u32 {
    with(|state| {
        let texts = Texts::new(std::mem::take(&mut state.input), count as usize)?;
        state.answer = alignment::alignment(&*state.metric(metric)?, texts)?;
        Ok(1)
    })
}

/// The number of tokens of the text that is the input, as the metric splits hypotheses, or with
/// `reference` references. Answer: their lengths, of 4 bytes each, then the tokens.
#[unsafe(no_mangle)]
pub extern "C" fn page_tokens(metric: u32, reference: u32) -> u32 {
    with(|state| {
        let metric = state.metric(metric)?;
        let mut text = Vec::new();
        let mut ends = Vec::new();
        let lexer = if reference != 0 { metric.references() } else { metric.hypotheses() };
        lexer.tokenize(&state.input, &mut text, |start, end| ends.push((start, end)));
        for (start, end) in &ends {
            state.answer.extend(((end - start) as u32).to_le_bytes());
        }
        for (start, end) in &ends {
            state.answer.extend_from_slice(&text[*start..*end]);
        }
        // No tokens are no error.
        Ok(ends.len() as u32 + 1)
    })
}
