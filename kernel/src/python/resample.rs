//! Resampling for Python: a stream of random numbers, stacks of tables, and what is done with
//! thousands of scores at a time.

use super::current_instructions;
use super::run::{MOST_WORKERS, Many, interruptible, list, on_text};
use super::table::{Scores, Table};
use crate::bleu::{PARTS, Smoothing};
use crate::columns::too_large;
use crate::interrupt::{self, Work};
use crate::random::{Bits, Generator};
use crate::resample;
use crate::sacrebleu_float32::{Formula, Number};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Replicates whose single-precision sums are in memory at a time.
const REPLICATES: usize = 4096;

/// Random numbers that are drawn between two polls.
const DRAWS: usize = 1 << 13;

/// The random numbers of `numpy.random.default_rng(seed)`.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Stream(Mutex<(Generator, Bits)>);

impl Stream {
    /// Both, for one call at a time: what would wait for another may be what that waits for, a
    /// handler of signals or the interpreter's lock.
    fn both(&self) -> PyResult<MutexGuard<'_, (Generator, Bits)>> {
        match self.0.try_lock() {
            Ok(both) => Ok(both),
            Err(TryLockError::Poisoned(both)) => Ok(both.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "this stream of random numbers is being drawn from already",
            )),
        }
    }

    /// The generator, for anything but truth values: what is left of those is lost.
    pub(super) fn generator<R>(&self, draw: impl FnOnce(&mut Generator) -> R) -> PyResult<R> {
        let (generator, bits) = &mut *self.both()?;
        *bits = Bits::default();
        Ok(draw(generator))
    }
}

#[pymethods]
impl Stream {
    /// The stream of a non-negative integer, or an unpredictable one.
    #[new]
    fn new(py: Python<'_>, seed: Option<&Bound<'_, PyInt>>) -> PyResult<Self> {
        let bytes = if let Some(seed) = seed {
            if seed.lt(0)? {
                return Err(PyValueError::new_err(format!(
                    "seed={seed}: expected an integer of 0 or more"
                )));
            }
            let bits: usize = seed.call_method0("bit_length")?.extract()?;
            seed.call_method1("to_bytes", (bits.div_ceil(32).max(1) * 4, "little"))?
        } else {
            py.import("os")?.call_method1("urandom", (16,))?
        };
        let words = bytes.cast::<PyBytes>()?.as_bytes().as_chunks::<4>().0;
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        Ok(Self(Mutex::new((Generator::new(&words), Bits::default()))))
    }

    /// `count` integers below `bound`, as `Generator.choice(bound, count)`.
    fn indices<'py>(
        &self,
        py: Python<'py>,
        bound: u32,
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        if bound == 0 {
            return Err(PyValueError::new_err("expected an upper bound above 0"));
        }
        let indices = on_text(py, 4 * count, || {
            self.generator(|generator| {
                let mut indices = vec![0; count];
                for part in indices.chunks_mut(DRAWS) {
                    interrupt::poll();
                    generator.fill_below(bound, part);
                }
                indices
            })
        })??;
        list(py, indices)
    }

    /// `count` truth values, as `Generator.integers(2, size=count, dtype=bool)`. Calls one after the
    /// other continue one call of NumPy's.
    fn bools<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let bools = on_text(py, 4 * count, || -> PyResult<Vec<bool>> {
            let (generator, bits) = &mut *self.both()?;
            let mut work = Work::default();
            let draws = (0..count).inspect(|_| work.done(2));
            Ok(draws.map(|_| bits.take(generator, 1) == 1).collect())
        })??;
        list(py, bools)
    }
}

/// Tables side by side, to be resampled together.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Stack {
    stack: resample::Stack,
    widths: Vec<usize>,
}

impl Stack {
    /// The columns of each table, from rows that have those of all.
    fn split(&self, sums: &[i64]) -> Vec<Table> {
        let mut start = 0;
        let split = self.widths.iter().map(|&width| {
            let rows = sums.chunks_exact(self.stack.width());
            let values = rows.flat_map(|row| &row[start..start + width]).copied().collect();
            start += width;
            Table::new(values, width)
        });
        split.collect()
    }
}

#[pymethods]
impl Stack {
    #[new]
    fn new(py: Python<'_>, tables: Vec<PyRef<'_, Table>>) -> PyResult<Self> {
        let Some(rows) = tables.first().map(|table| table.rows().count()) else {
            return Err(PyValueError::new_err("no tables"));
        };
        let widths: Vec<usize> = tables.iter().map(|table| table.width()).collect();
        let values: Vec<_> = tables.iter().map(|table| (table.values(), table.width())).collect();
        let stack = interruptible(py, || resample::Stack::new(&values, rows))??;
        Ok(Self { stack, widths })
    }

    /// How far each table is from the first one of its list: all that [`exchanged`] needs.
    #[staticmethod]
    fn of_differences(py: Python<'_>, lists: Vec<Vec<PyRef<'_, Table>>>) -> PyResult<Self> {
        let mut apart = Vec::new();
        for (tables, table) in lists.iter().flat_map(|list| list.iter().map(move |one| (list, one)))
        {
            let (own, first, width) = (table.values(), tables[0].values(), table.width());
            if (own.len(), width) != (first.len(), tables[0].width()) {
                return Err(PyValueError::new_err("tables of different shapes"));
            }
            let values = interruptible(py, || {
                let mut work = Work::default();
                let pairs = own.iter().zip(first).inspect(|_| work.done(1));
                pairs.map(|(own, first)| own.checked_sub(*first)).collect::<Option<_>>()
            })?;
            apart.push(Py::new(py, Table::new(values.ok_or_else(too_large)?, width))?);
        }
        Self::new(py, apart.iter().map(|table| table.borrow(py)).collect())
    }

    /// Bootstrap samples: for each table a row of sums per replicate.
    fn bootstrap(
        &self,
        py: Python<'_>,
        stream: &Stream,
        replicates: usize,
        workers: usize,
    ) -> PyResult<Vec<Table>> {
        let (set, workers) = (current_instructions()?, workers.clamp(1, MOST_WORKERS));
        interruptible(py, || {
            let sums = stream
                .generator(|generator| self.stack.bootstrap(generator, replicates, set, workers))?;
            Ok(self.split(&sums))
        })?
    }

    /// Random halves: for each table, of each trial, the sum of the rows that the trial takes.
    /// Calls one after the other continue one call of NumPy's.
    fn choose(
        &self,
        py: Python<'_>,
        stream: &Stream,
        trials: usize,
        workers: usize,
    ) -> PyResult<Vec<Table>> {
        let (set, workers) = (current_instructions()?, workers.clamp(1, MOST_WORKERS));
        interruptible(py, || {
            let (generator, bits) = &mut *stream.both()?;
            Ok(self.split(&self.stack.choose(generator, bits, trials, set, workers)))
        })?
    }
}

/// The sums of both systems of a pair after the segments that were not chosen have changed sides.
#[pyfunction]
pub fn exchanged(
    py: Python<'_>,
    chosen: (PyRef<'_, Table>, PyRef<'_, Table>),
    totals: (PyRef<'_, Table>, PyRef<'_, Table>),
) -> PyResult<(Table, Table)> {
    let width = chosen.0.width();
    let of_one = [&*chosen.1, &*totals.0, &*totals.1].iter().all(|table| table.width() == width);
    let rows = chosen.0.values().len() == chosen.1.values().len();
    if !of_one || !rows || totals.0.rows().count() != 1 || totals.1.rows().count() != 1 {
        return Err(PyValueError::new_err("the two tables have different shapes"));
    }
    let (chosen, totals) =
        ((chosen.0.values(), chosen.1.values()), (totals.0.values(), totals.1.values()));
    // Of a trial, one system's sum is that of its chosen rows and of the other's rows that are not.
    let pair = |one: i64, other: i64, (total, theirs): (i64, i64)| {
        let sum = i128::from(one) + i128::from(theirs) - i128::from(other);
        let rest = i128::from(total) + i128::from(theirs) - sum;
        Some((i64::try_from(sum).ok()?, i64::try_from(rest).ok()?))
    };
    let sums = interruptible(py, || {
        let mut work = Work::default();
        let (mut ones, mut others) = (Vec::new(), Vec::new());
        for (one, other) in chosen.0.chunks_exact(width).zip(chosen.1.chunks_exact(width)) {
            work.done(4 * width);
            for (column, (&one, &other)) in one.iter().zip(other).enumerate() {
                let (one, other) = pair(one, other, (totals.0[column], totals.1[column]))?;
                ones.push(one);
                others.push(other);
            }
        }
        Some((Table::new(ones, width), Table::new(others, width)))
    })?;
    Ok(sums.ok_or_else(too_large)?)
}

/// The number of pairs of scores that differ by `distance` or more.
#[pyfunction]
pub fn count_apart(
    py: Python<'_>,
    one: &Scores,
    other: &Scores,
    distance: f64,
    strictly: bool,
) -> PyResult<usize> {
    let pairs = one.values().iter().zip(other.values());
    Ok(interruptible(py, || {
        let mut work = Work::default();
        let apart = pairs.inspect(|_| work.done(1)).map(|(a, b)| (a - b).abs());
        apart.filter(|&apart| if strictly { apart > distance } else { apart >= distance }).count()
    })?)
}

/// A formula of sacreBLEU, in single precision as NumPy 2 computes it.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct SingleFormula(Formula);

#[pymethods]
impl SingleFormula {
    /// BLEU.
    #[staticmethod]
    fn bleu(
        smoothing: &str,
        smoothing_value: f64,
        effective_order: bool,
        compensated: bool,
    ) -> PyResult<Self> {
        let smoothing = Smoothing::named(smoothing, smoothing_value)
            .ok_or_else(|| PyValueError::new_err(format!("unknown smoothing '{smoothing}'")))?;
        Ok(Self(Formula::Bleu { smoothing, effective_order, compensated }))
    }

    /// chrF; `factor` is the square of beta.
    #[staticmethod]
    fn chrf(factor: f64, eps_smoothing: bool) -> Self {
        Self(Formula::Chrf { factor, eps_smoothing })
    }

    /// TER, of edits and reference lengths in parts of 720,720.
    #[staticmethod]
    fn ter() -> Self {
        Self(Formula::Ter)
    }
}

/// Tables side by side, to be resampled together in single precision.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct SingleStack {
    stack: resample::SingleStack,
    width: usize,
    parts: Vec<(usize, Formula)>,
}

#[pymethods]
impl SingleStack {
    #[new]
    fn new(
        py: Python<'_>,
        tables: Vec<(PyRef<'_, Table>, PyRef<'_, SingleFormula>)>,
    ) -> PyResult<Self> {
        let rows = tables.first().map_or(0, |(table, _)| table.rows().count());
        if tables.iter().any(|(table, _)| table.rows().count() != rows) {
            return Err(PyValueError::new_err("tables of different lengths"));
        }
        let parts: Vec<_> =
            tables.iter().map(|(table, formula)| (table.width(), formula.0.clone())).collect();
        let columns: Vec<(&[i64], usize, f64)> = tables
            .iter()
            .flat_map(|(table, formula)| {
                let lengths = matches!(formula.0, Formula::Ter).then_some(1);
                (0..table.width()).map(move |column| {
                    let parts = if lengths == Some(column) { PARTS as f64 } else { 1.0 };
                    (&table.values()[column..], table.width(), parts)
                })
            })
            .collect();
        let stack = interruptible(py, || {
            resample::SingleStack::new(rows, columns.len(), |row, column| {
                let (values, width, parts) = columns[column];
                (values[row * width] as f64 / parts) as f32
            })
        })??;
        Ok(Self { stack, width: columns.len(), parts })
    }

    /// The scores of so many bootstrap samples of each table, and whether all of them are single.
    fn bootstrap(
        &self,
        py: Python<'_>,
        stream: &Stream,
        replicates: usize,
        workers: usize,
    ) -> PyResult<Vec<(Scores, bool)>> {
        let (set, workers) = (current_instructions()?, workers.clamp(1, MOST_WORKERS));
        interruptible(py, || {
            let mut scores = vec![(Vec::new(), true); self.parts.len()];
            let mut left = replicates;
            while left > 0 {
                let block = left.min(REPLICATES);
                let sums = stream
                    .generator(|generator| self.stack.bootstrap(generator, block, set, workers))?;
                for row in sums.chunks_exact(self.width) {
                    let mut rest = row;
                    for ((width, formula), (values, single)) in self.parts.iter().zip(&mut scores) {
                        let (own, others) = rest.split_at(*width);
                        rest = others;
                        let score = formula.score(own);
                        *single &= matches!(score, Number::Single(_));
                        values.push(score.value());
                    }
                }
                left -= block;
            }
            let scores = scores.into_iter();
            Ok(scores.map(|(values, single)| (Scores::new(values), single)).collect())
        })?
    }

    /// The sums themselves of so many bootstrap samples of rows of numbers.
    #[staticmethod]
    fn sums(
        py: Python<'_>,
        rows: Many<Vec<f64>>,
        stream: &Stream,
        replicates: usize,
    ) -> PyResult<Vec<Vec<f64>>> {
        let (set, Many(rows)) = (current_instructions()?, rows);
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 || rows.iter().any(|row| row.len() != width) {
            return Err(PyValueError::new_err("every row must have the same number of values"));
        }
        let sums = interruptible(py, || -> PyResult<_> {
            let value = |row: usize, column: usize| rows[row][column] as f32;
            let stack = resample::SingleStack::new(rows.len(), width, value)?;
            stream.generator(|generator| stack.bootstrap(generator, replicates, set, 1))
        })??;
        Ok(sums
            .chunks_exact(width)
            .map(|row| row.iter().map(|&sum| sum.into()).collect())
            .collect())
    }
}
