//! The kernel for JavaScript: WebAssembly whose functions take numbers, and bytes in shared memory.
//!
//! Whoever calls writes bytes to where [`page_room`] says, and calls a function. That gives a number:
//! the handle of what it made, or 0 for an error; what it says in bytes is where [`page_answer`]
//! points. Handles live until [`page_forget`]. The face for JavaScript is `kernel.js` of the report.
//!
//! One thread calls, so all state is its own.

mod recipe;
mod texts;

use crate::columns;
use crate::count::{Count, Formula};
use crate::scan::{Inputs, Rows, Scan};
use recipe::Metric;
use std::cell::RefCell;
use std::sync::Arc;
use texts::{Part, Texts};

/// The version of this interface, which the page and its binary must share.
const VERSION: u32 = 1;

/// Rows of integers, of one width.
struct Table {
    width: usize,
    values: Vec<i64>,
}

enum Object {
    Texts(Arc<Texts>),
    Metric(Arc<Metric>),
    Table(Table),
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

    fn answer_floats(&mut self, numbers: impl Iterator<Item = f64>) {
        self.answer.extend(numbers.flat_map(f64::to_le_bytes));
    }
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
        recipe::use_lowercase(state.indices().as_chunks::<2>().0);
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

/// A table of rows that were counted elsewhere. Input: 64-bit floats, row after row.
#[unsafe(no_mangle)]
pub extern "C" fn page_table(width: u32) -> u32 {
    with(|state| {
        let width = width as usize;
        let floats = state.input.as_chunks::<8>().0;
        if width == 0 || !floats.len().is_multiple_of(width) {
            return Err(format!("{} numbers are no rows of {width}", floats.len()));
        }
        let values = floats.iter().map(|eight| f64::from_le_bytes(*eight) as i64).collect();
        Ok(state.keep(Object::Table(Table { width, values })))
    })
}

/// The width of a table's rows. Answer: the columns one after the other, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn page_columns(table: u32) -> u32 {
    with(|state| {
        let Table { width, values } = state.table(table)?;
        let width = *width;
        let columns = (0..width).flat_map(|column| values[column..].iter().step_by(width));
        let columns: Vec<f64> = columns.map(|&value| value as f64).collect();
        state.answer_floats(columns.into_iter());
        Ok(width as u32)
    })
}

/// A table of one row: the sum of the rows whose numbers are the input, or with `all` of all.
#[unsafe(no_mangle)]
pub extern "C" fn page_total(table: u32, all: u32) -> u32 {
    with(|state| {
        let Table { width, values } = state.table(table)?;
        let width = *width;
        let sums = if all != 0 {
            columns::total(values, width).map_err(|error| error.to_string())?
        } else {
            let mut sums = vec![0; width];
            for row in state.indices() {
                let start = row as usize * width;
                let row = values.get(start..start + width).ok_or("no such segment")?;
                if !columns::add(&mut sums, row) {
                    return Err(columns::too_large().to_string());
                }
            }
            sums
        };
        Ok(state.keep(Object::Table(Table { width, values: sums })))
    })
}

/// Gives 1. Answer: the score of each row, as 64-bit floats, 0 to 100; rows are segments, or with
/// `corpus` the totals of corpora.
#[unsafe(no_mangle)]
pub extern "C" fn page_scores(metric: u32, table: u32, corpus: u32) -> u32 {
    with(|state| {
        let (metric, table) = (state.metric(metric)?, state.table(table)?);
        let formula: &dyn Formula = metric.formula(corpus != 0);
        if table.width != metric.counter.width() {
            return Err(format!("a table of {} columns is not this metric's", table.width));
        }
        let scores: Vec<f64> =
            table.values.chunks_exact(table.width).map(|row| formula.score(row)).collect();
        state.answer_floats(scores.into_iter());
        Ok(1)
    })
}

/// Gives 1. Answer: the score of the rest without each row, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn page_without(metric: u32, table: u32) -> u32 {
    with(|state| {
        let (metric, Table { width, values }) = (state.metric(metric)?, state.table(table)?);
        let totals = columns::total(values, *width).map_err(|error| error.to_string())?;
        let formula = metric.formula(true);
        let mut rest = totals.clone();
        let scores: Vec<f64> = values
            .chunks_exact(*width)
            .map(|row| {
                for ((rest, total), value) in rest.iter_mut().zip(&totals).zip(row) {
                    *rest = total - value;
                }
                formula.score(&rest)
            })
            .collect();
        state.answer_floats(scores.into_iter());
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
