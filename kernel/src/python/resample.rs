//! Resampling for Python: a stream of random numbers, stacks of tables, and operations on thousands
//! of scores.

use super::metrics::parse_smoothing;
use super::run::{LongSequence, MAX_WORKERS, create_list, interruptible, run_on_text};
use super::table::{Scores, Table};
use super::{current_instructions, require};
use crate::bleu::PARTS;
use crate::columns::overflow_error;
use crate::interrupt::{self, Work};
use crate::math;
use crate::random::{Bits, Generator};
use crate::resample;
use crate::sacrebleu_float32::{Float32Formula, MixedFloat};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList};
use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Number of replicates for which single-precision sums are stored at a time.
const MAX_BLOCK_REPLICATES: usize = 4096;

/// Number of random integers generated between two polls.
const MAX_UNPOLLED_INTEGERS: usize = 1 << 13;

/// The random numbers of `numpy.random.default_rng(seed)`.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Stream(Mutex<(Generator, Bits)>);

impl Stream {
    /// Lock the generator and the remaining bits. Waiting for another call could deadlock, for
    /// example in a signal handler or with the interpreter's lock, so a concurrent call is an
    /// error.
    fn lock(&self) -> PyResult<MutexGuard<'_, (Generator, Bits)>> {
        match self.0.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(error)) => Ok(error.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("this stream of random numbers is already in use"))
            }
        }
    }

    /// Call a function with the generator, for values other than booleans. This discards the
    /// remaining bits.
    pub(super) fn generator<R>(&self, work: impl FnOnce(&mut Generator) -> R) -> PyResult<R> {
        let (generator, bits) = &mut *self.lock()?;
        *bits = Bits::default();
        Ok(work(generator))
    }
}

#[pymethods]
impl Stream {
    /// Create the stream for a seed (a non-negative integer), or an unpredictable stream for None.
    #[new]
    fn new(py: Python<'_>, seed: Option<&Bound<'_, PyInt>>) -> PyResult<Self> {
        let bytes = if let Some(seed) = seed {
            if seed.lt(0)? {
                let message = format!("seed={seed}: expected a non-negative integer");
                return Err(PyValueError::new_err(message));
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

    /// Return `count` integers from 0 to `bound` - 1, like `Generator.choice(bound, count)`.
    fn indices<'py>(
        &self,
        py: Python<'py>,
        bound: u32,
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        require(bound > 0, "bound must be at least 1")?;
        let indices = run_on_text(py, 4 * count, || {
            self.generator(|generator| {
                let mut indices = vec![0; count];
                for part in indices.chunks_mut(MAX_UNPOLLED_INTEGERS) {
                    interrupt::poll();
                    generator.fill_below(bound, part);
                }
                indices
            })
        })??;
        create_list(py, indices)
    }

    /// Return `count` booleans, like `Generator.integers(2, size=count, dtype=bool)`. The results
    /// of consecutive calls equal those of a single NumPy call.
    fn bools<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let bools = run_on_text(py, 4 * count, || -> PyResult<Vec<bool>> {
            let (generator, bits) = &mut *self.lock()?;
            let mut work = Work::default();
            let draws = (0..count).inspect(|_| work.add(2));
            Ok(draws.map(|_| bits.take(generator, 1) == 1).collect())
        })??;
        create_list(py, bools)
    }
}

/// Tables that are resampled together, stored side by side.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Stack {
    stack: resample::Stack,
    widths: Vec<usize>,
}

impl Stack {
    /// Split rows that contain the columns of all tables into one table per original table.
    fn split_tables(&self, sums: &[i64]) -> Vec<Table> {
        let mut start = 0;
        let tables = self.widths.iter().map(|&width| {
            let rows = sums.chunks_exact(self.stack.width());
            let values = rows.flat_map(|row| &row[start..start + width]).copied().collect();
            start += width;
            Table::new(values, width)
        });
        tables.collect()
    }
}

#[pymethods]
impl Stack {
    #[new]
    fn new(py: Python<'_>, tables: Vec<PyRef<'_, Table>>) -> PyResult<Self> {
        let Some(rows) = tables.first().map(|table| table.rows().count()) else {
            return Err(PyValueError::new_err("expected at least one table"));
        };
        let widths: Vec<usize> = tables.iter().map(|table| table.width()).collect();
        let values: Vec<_> = tables.iter().map(|table| (table.values(), table.width())).collect();
        let stack = interruptible(py, || resample::Stack::new(&values, rows))??;
        Ok(Self { stack, widths })
    }

    /// Create a stack of the differences between each table and the first table of its list, as
    /// needed by [`exchanged`].
    #[staticmethod]
    fn of_differences(py: Python<'_>, lists: Vec<Vec<PyRef<'_, Table>>>) -> PyResult<Self> {
        let mut differences = Vec::new();
        for (tables, table) in
            lists.iter().flat_map(|list| list.iter().map(move |table| (list, table)))
        {
            let (table_values, first, width) = (table.values(), tables[0].values(), table.width());
            let has_same_shape = (table_values.len(), width) == (first.len(), tables[0].width());
            require(has_same_shape, "tables have different shapes")?;
            let difference = interruptible(py, || {
                let mut work = Work::default();
                let pairs = table_values.iter().zip(first).inspect(|_| work.add(1));
                pairs.map(|(value, first)| value.checked_sub(*first)).collect::<Option<_>>()
            })?;
            differences
                .push(Py::new(py, Table::new(difference.ok_or_else(overflow_error)?, width))?);
        }
        Self::new(py, differences.iter().map(|table| table.borrow(py)).collect())
    }

    /// Return, for each table, the sums of bootstrap samples, with one row per replicate.
    fn bootstrap(
        &self,
        py: Python<'_>,
        stream: &Stream,
        replicates: usize,
        workers: usize,
    ) -> PyResult<Vec<Table>> {
        let (set, workers) = (current_instructions()?, workers.clamp(1, MAX_WORKERS));
        interruptible(py, || {
            let sums = stream.generator(|generator| {
                self.stack.bootstrap_sums(generator, replicates, set, workers)
            })?;
            Ok(self.split_tables(&sums))
        })?
    }

    /// Return, for each table, the sums of random halves of its rows, with one row per trial. The
    /// random numbers of consecutive calls equal those of a single NumPy call.
    fn choose(
        &self,
        py: Python<'_>,
        stream: &Stream,
        trials: usize,
        workers: usize,
    ) -> PyResult<Vec<Table>> {
        let (set, workers) = (current_instructions()?, workers.clamp(1, MAX_WORKERS));
        interruptible(py, || {
            let (generator, bits) = &mut *stream.lock()?;
            Ok(self
                .split_tables(&self.stack.random_half_sums(generator, bits, trials, set, workers)))
        })?
    }
}

/// Return the sums of both systems of a pair after swapping the segments that were not selected.
#[pyfunction]
pub fn exchanged(
    py: Python<'_>,
    chosen: (PyRef<'_, Table>, PyRef<'_, Table>),
    totals: (PyRef<'_, Table>, PyRef<'_, Table>),
) -> PyResult<(Table, Table)> {
    let width = chosen.0.width();
    let have_equal_widths =
        [&*chosen.1, &*totals.0, &*totals.1].iter().all(|table| table.width() == width);
    let (chosen, totals) =
        ((chosen.0.values(), chosen.1.values()), (totals.0.values(), totals.1.values()));
    let lengths = (chosen.1.len(), totals.0.len(), totals.1.len());
    let have_equal_shapes = have_equal_widths && lengths == (chosen.0.len(), width, width);
    require(have_equal_shapes, "the two tables have different shapes")?;
    let sums = interruptible(py, || {
        let is_small = [chosen.0, chosen.1, totals.0, totals.1].into_iter().all(are_small);
        if is_small {
            // Sums of five such numbers fit into 64 bits, and sums in 64 bits are faster.
            return swap_all_sums(
                chosen,
                totals,
                |selected, other_selected, total, other_total| {
                    let sum = selected + other_total - other_selected;
                    Some((sum, total + other_total - sum))
                },
            );
        }
        swap_all_sums(chosen, totals, |selected, other_selected, total, other_total| {
            let sum = i128::from(selected) + i128::from(other_total) - i128::from(other_selected);
            let other_sum = i128::from(total) + i128::from(other_total) - sum;
            Some((i64::try_from(sum).ok()?, i64::try_from(other_sum).ok()?))
        })
    })?;
    let (first_sums, second_sums) = sums.ok_or_else(overflow_error)?;
    Ok((Table::new(first_sums, width), Table::new(second_sums, width)))
}

/// Return whether the sizes of all values are below 2^60.
fn are_small(values: &[i64]) -> bool {
    let mut parts = values.chunks(MAX_UNPOLLED_INTEGERS);
    parts.all(|values| {
        interrupt::poll();
        values.iter().fold(0, |bits, value| bits | value.unsigned_abs()) < 1 << 60
    })
}

/// Return both systems' sums in every trial. `swap_sums` returns the sums of one column: the sum of
/// a system's selected rows and the other system's unselected rows, and the sum of all other rows.
/// Return `None` if a sum does not fit into 64 bits.
#[inline(always)]
fn swap_all_sums(
    chosen: (&[i64], &[i64]),
    totals: (&[i64], &[i64]),
    swap_sums: impl Fn(i64, i64, i64, i64) -> Option<(i64, i64)>,
) -> Option<(Vec<i64>, Vec<i64>)> {
    let (mut first_sums, mut second_sums) = (vec![0; chosen.0.len()], vec![0; chosen.0.len()]);
    let (width, mut work) = (totals.0.len(), Work::default());
    let rows = chosen.0.chunks_exact(width).zip(chosen.1.chunks_exact(width));
    let sums = first_sums.chunks_exact_mut(width).zip(second_sums.chunks_exact_mut(width));
    for ((first, second), (first_sums, second_sums)) in rows.zip(sums) {
        work.add(width);
        for column in 0..width {
            let (total, other_total) = (totals.0[column], totals.1[column]);
            (first_sums[column], second_sums[column]) =
                swap_sums(first[column], second[column], total, other_total)?;
        }
    }
    Some((first_sums, second_sums))
}

/// Return the number of pairs of scores that differ by at least `distance`, or by more if
/// `strictly` is set.
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
        let distances = pairs.inspect(|_| work.add(1)).map(|(a, b)| (a - b).abs());
        distances.filter(|&d| if strictly { d > distance } else { d >= distance }).count()
    })?)
}

/// Return the numbers of pairs of scores in which the first and in which the second score is higher.
#[pyfunction]
pub fn count_higher(py: Python<'_>, one: &Scores, other: &Scores) -> PyResult<(usize, usize)> {
    let pairs = one.values().iter().zip(other.values());
    Ok(interruptible(py, || {
        let mut work = Work::default();
        pairs.inspect(|_| work.add(1)).fold((0, 0), |(higher, lower), (a, b)| {
            (higher + usize::from(a > b), lower + usize::from(a < b))
        })
    })?)
}

/// Return the sorted differences between pairs of scores, their exactly rounded mean, and their
/// variance, with the number of pairs minus 1 as divisor.
#[pyfunction]
pub fn summarize_differences(
    py: Python<'_>,
    one: &Scores,
    other: &Scores,
) -> PyResult<(Scores, f64, f64)> {
    let pairs = one.values().iter().zip(other.values());
    Ok(interruptible(py, || {
        let mut work = Work::default();
        let mut differences: Vec<f64> =
            pairs.inspect(|_| work.add(1 << 6)).map(|(a, b)| a - b).collect();
        let count = differences.len() as f64;
        let mean = math::exact_sum(differences.iter().copied()) / count;
        let squares = differences.iter().map(|difference| math::square(difference - mean));
        let variance = if count > 1.0 { math::exact_sum(squares) / (count - 1.0) } else { 0.0 };
        differences.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        (Scores::new(differences), mean, variance)
    })?)
}

/// A sacreBLEU formula, computed in single precision as with NumPy 2.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct SingleFormula(Float32Formula);

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
        let smoothing = parse_smoothing(smoothing, smoothing_value)?;
        Ok(Self(Float32Formula::Bleu { smoothing, effective_order, compensated }))
    }

    /// chrF; `factor` is β².
    #[staticmethod]
    fn chrf(factor: f64, eps_smoothing: bool) -> Self {
        Self(Float32Formula::Chrf { factor, eps_smoothing })
    }

    /// TER, computed from edits and from reference lengths in units of 1/720,720.
    #[staticmethod]
    fn ter() -> Self {
        Self(Float32Formula::Ter)
    }
}

/// Tables that are resampled together in single precision, stored side by side.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct SingleStack {
    stack: resample::SingleStack,
    width: usize,
    parts: Vec<(usize, Float32Formula)>,
}

#[pymethods]
impl SingleStack {
    #[new]
    fn new(
        py: Python<'_>,
        tables: Vec<(PyRef<'_, Table>, PyRef<'_, SingleFormula>)>,
    ) -> PyResult<Self> {
        let rows = tables.first().map_or(0, |(table, _)| table.rows().count());
        let have_same_length = tables.iter().all(|(table, _)| table.rows().count() == rows);
        require(have_same_length, "tables have different lengths")?;
        let parts: Vec<_> =
            tables.iter().map(|(table, formula)| (table.width(), formula.0.clone())).collect();
        let columns: Vec<(&[i64], usize, f64)> = tables
            .iter()
            .flat_map(|(table, formula)| {
                let length_column = matches!(formula.0, Float32Formula::Ter).then_some(1);
                (0..table.width()).map(move |column| {
                    let divisor = if length_column == Some(column) { PARTS as f64 } else { 1.0 };
                    (&table.values()[column..], table.width(), divisor)
                })
            })
            .collect();
        let stack = interruptible(py, || {
            resample::SingleStack::new(rows, columns.len(), |row, column| {
                let (values, width, divisor) = columns[column];
                (values[row * width] as f64 / divisor) as f32
            })
        })??;
        Ok(Self { stack, width: columns.len(), parts })
    }

    /// Return the scores of bootstrap samples of each table, and whether all scores are in single
    /// precision.
    fn bootstrap(
        &self,
        py: Python<'_>,
        stream: &Stream,
        replicates: usize,
        workers: usize,
    ) -> PyResult<Vec<(Scores, bool)>> {
        let (set, workers) = (current_instructions()?, workers.clamp(1, MAX_WORKERS));
        interruptible(py, || {
            let mut scores = vec![(Vec::new(), true); self.parts.len()];
            let mut remaining = replicates;
            while remaining > 0 {
                let block_size = remaining.min(MAX_BLOCK_REPLICATES);
                let sums = stream.generator(|generator| {
                    self.stack.bootstrap_sums(generator, block_size, set, workers)
                })?;
                for row in sums.chunks_exact(self.width) {
                    let mut remaining_columns = row;
                    for ((width, formula), (values, is_single)) in
                        self.parts.iter().zip(&mut scores)
                    {
                        let (row_part, later_columns) = remaining_columns.split_at(*width);
                        remaining_columns = later_columns;
                        let score = formula.score(row_part);
                        *is_single &= matches!(score, MixedFloat::Single(_));
                        values.push(score.value());
                    }
                }
                remaining -= block_size;
            }
            let scores = scores.into_iter();
            Ok(scores.map(|(values, is_single)| (Scores::new(values), is_single)).collect())
        })?
    }

    /// Resample rows of numbers, and return the sums of each bootstrap sample.
    #[staticmethod]
    fn sums(
        py: Python<'_>,
        rows: LongSequence<Vec<f64>>,
        stream: &Stream,
        replicates: usize,
    ) -> PyResult<Vec<Vec<f64>>> {
        let (set, LongSequence(rows)) = (current_instructions()?, rows);
        let width = rows.first().map_or(0, Vec::len);
        let is_valid = width > 0 && rows.iter().all(|row| row.len() == width);
        require(is_valid, "rows must have the same number of values")?;
        let sums = interruptible(py, || -> PyResult<_> {
            let value = |row: usize, column: usize| rows[row][column] as f32;
            let stack = resample::SingleStack::new(rows.len(), width, value)?;
            stream.generator(|generator| stack.bootstrap_sums(generator, replicates, set, 1))
        })??;
        Ok(sums
            .chunks_exact(width)
            .map(|row| row.iter().map(|&sum| sum.into()).collect())
            .collect())
    }
}
