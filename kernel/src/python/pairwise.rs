//! Pairwise scoring for Python: texts that are ready for scoring, and their scores.

use super::require;
use super::run::{create_list, interruptible};
use super::table::{ArrayCapsules, BufferLayout, Scores, array_capsules, fill_buffer};
use crate::arrow::{self, ArrowArray, ArrowSchema};
use crate::pairwise::overlap::SetRanges;
use crate::pairwise::{self, Row, ScoreSlice, TopScores, WeightedSum};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyTuple};
use std::ffi::c_int;
use std::sync::Arc;

/// Exclusive upper bound on the sum of a set's reference weights.
const WEIGHT_LIMIT: u64 = 1 << 31;

/// Two lists of texts and a metric for scoring all or some pairs of them.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Pairs {
    pairs: Box<dyn pairwise::Pairs>,
    workers: usize,
}

impl Pairs {
    /// Create pairs from texts that have been read. `workers` threads score the pairs.
    pub fn new(pairs: Box<dyn pairwise::Pairs>, workers: usize) -> Self {
        Self { pairs, workers }
    }

    /// Score all pairs, or the pairs above the diagonal.
    fn run<R: Row>(&self, py: Python<'_>, above_diagonal: bool, rows: &mut [R]) -> PyResult<()> {
        Ok(interruptible(py, || pairwise::run(&*self.pairs, above_diagonal, rows, self.workers))??)
    }

    /// Return the scores of all pairs, hypothesis by hypothesis. With `triangle`, return only the
    /// scores above the diagonal.
    fn score_values<T>(&self, py: Python<'_>, triangle: bool) -> PyResult<Vec<T>>
    where
        T: Clone + Default + Send,
        for<'a> ScoreSlice<'a, T>: Row,
    {
        let (height, width) = self.pairs.shape();
        let pair_count = height.checked_mul(width);
        let mut values =
            try_zeros(pair_count.map(|whole| if triangle { (whole - height) / 2 } else { whole }))
                .ok_or_else(|| memory_error(height, width, size_of::<T>()))?;
        let mut remaining = &mut values[..];
        let mut rows = Vec::with_capacity(height);
        for i in 0..height {
            let first = if triangle { i + 1 } else { 0 };
            let (row, later_rows) = remaining.split_at_mut(width - first);
            rows.push(ScoreSlice { first, values: row });
            remaining = later_rows;
        }
        self.run(py, triangle, &mut rows)?;
        Ok(values)
    }
}

/// Return `count` zeros, or `None` if memory is insufficient.
fn try_zeros<T: Clone + Default>(count: Option<usize>) -> Option<Vec<T>> {
    let count = count?;
    // Test the allocation first, because `vec!` aborts if memory is insufficient.
    Vec::<T>::new().try_reserve_exact(count).ok()?;
    Some(vec![T::default(); count])
}

/// Return the error for a score matrix that does not fit into memory.
fn memory_error(height: usize, width: usize, size: usize) -> PyErr {
    let bytes = height as f64 * width as f64 * size as f64;
    PyMemoryError::new_err(format!(
        "cannot allocate {:.1} GiB for the scores of {height} hypotheses × {width} references. \
         Use dtype=\"float32\" to halve the size, or top_k() or expected() to avoid the matrix",
        bytes / (1u64 << 30) as f64
    ))
}

#[pymethods]
impl Pairs {
    /// Return the number of hypotheses and the number of references.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.pairs.shape()
    }

    /// Return all n × m scores. With `triangle`, hypotheses and references must be the same texts,
    /// and only the n(n-1)/2 scores above the diagonal are returned.
    fn matrix(&self, py: Python<'_>, single: bool, triangle: bool) -> PyResult<PairScores> {
        let (height, width) = self.pairs.shape();
        require(!triangle || height == width, "triangle requires the same texts on both sides")?;
        let numbers = match single {
            false => ScoreValues::Double(self.score_values(py, triangle)?),
            true => ScoreValues::Single(self.score_values(py, triangle)?),
        };
        Ok(PairScores::new(numbers, (!triangle).then_some(width)))
    }

    /// Return, for each hypothesis, the references with the highest or lowest scores, and their
    /// scores, best first.
    fn top_k<'py>(&self, py: Python<'py>, k: usize, lowest: bool) -> PyResult<Bound<'py, PyList>> {
        let (height, width) = self.pairs.shape();
        let k = k.clamp(1, width.max(1));
        let mut rows: Vec<_> = (0..height).map(|_| TopScores::new(k, lowest)).collect();
        self.run(py, false, &mut rows)?;
        create_list(py, rows.into_iter().map(TopScores::into_sorted))
    }

    /// Return the weighted mean score of each hypothesis. `weight_sum` is the sum of the
    /// references' weights.
    fn expected(
        &self,
        py: Python<'_>,
        weights: Option<Vec<f64>>,
        weight_sum: f64,
        compensated: bool,
    ) -> PyResult<Scores> {
        let (height, width) = self.pairs.shape();
        let has_all_weights = weights.as_ref().is_none_or(|weights| weights.len() == width);
        require(has_all_weights, "expected one weight per reference")?;
        let mut rows = vec![WeightedSum::new(weights.as_deref(), compensated); height];
        self.run(py, false, &mut rows)?;
        Ok(Scores::new(rows.iter().map(|row| row.sum() / weight_sum).collect()))
    }

    /// Return the score of each hypothesis against the sum of the references of its set. `sets`
    /// contains the numbers of hypotheses and references of consecutive sets. Return `None` if the
    /// metric cannot sum references.
    fn against_sums(
        &self,
        py: Python<'_>,
        sets: Vec<(usize, usize)>,
        weights: Option<Vec<u32>>,
    ) -> PyResult<Option<Scores>> {
        let (height, width) = self.pairs.shape();
        let mut ends = (0_usize, 0_usize);
        let set_ranges = sets.into_iter().map(|(hypotheses, references)| {
            let (hypothesis_start, reference_start) = ends;
            ends = (
                hypothesis_start.checked_add(hypotheses)?,
                reference_start.checked_add(references)?,
            );
            Some(SetRanges {
                hypotheses: hypothesis_start..ends.0,
                references: reference_start..ends.1,
            })
        });
        let sets = set_ranges.collect::<Option<Vec<_>>>();
        let Some(sets) = sets.filter(|_| ends == (height, width)) else {
            return Err(PyValueError::new_err(format!(
                "sets: expected sizes with a total of {height} hypotheses and {width} references"
            )));
        };
        // Counts are multiplied by the sum of a set's weights, so limit this sum to avoid overflow.
        let are_valid = |weights: &Vec<u32>| {
            let weights_of_set = |set: &SetRanges| weights.get(set.references.clone());
            let sum =
                |weights: &[u32]| weights.iter().map(|&weight| u64::from(weight)).sum::<u64>();
            weights.len() == width
                && sets.iter().filter_map(weights_of_set).all(|weights| sum(weights) < WEIGHT_LIMIT)
        };
        let problem = "weights: expected one per reference, with a sum below 2^31 per set";
        require(weights.as_ref().is_none_or(are_valid), problem)?;
        let workers = self.workers;
        let scores = interruptible(py, || {
            self.pairs.score_against_sums(&sets, weights.as_deref(), workers)
        })?;
        Ok(scores.map(Scores::new))
    }
}

/// Scores in double or single precision.
enum ScoreValues {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

/// Scores of pairs: a matrix, or a flat list.
#[pyclass(frozen, subclass, module = "truebleu._kernel")]
pub struct PairScores {
    numbers: Arc<ScoreValues>,
    layout: BufferLayout,
}

impl PairScores {
    fn new(numbers: ScoreValues, width: Option<usize>) -> Self {
        let (length, size) = match &numbers {
            ScoreValues::Double(values) => (values.len(), 8),
            ScoreValues::Single(values) => (values.len(), 4),
        };
        Self { numbers: Arc::new(numbers), layout: BufferLayout::new(length, width, size) }
    }

    /// Return the scores of a range in double precision.
    fn values_in_range(&self, range: std::ops::Range<usize>) -> Option<Vec<f64>> {
        Some(match &*self.numbers {
            ScoreValues::Double(values) => values.get(range)?.to_vec(),
            ScoreValues::Single(values) => {
                values.get(range)?.iter().map(|&v| f64::from(v)).collect()
            }
        })
    }

    fn len(&self) -> usize {
        match &*self.numbers {
            ScoreValues::Double(values) => values.len(),
            ScoreValues::Single(values) => values.len(),
        }
    }

    /// Return the schema of the scores.
    fn schema(&self) -> ArrowSchema {
        let format = if self.is_single() { "f" } else { "g" };
        if self.layout.dimensions == 1 {
            return arrow::create_schema(format, "score", Vec::new());
        }
        let item = arrow::create_schema(format, "item", Vec::new());
        arrow::create_schema(&format!("+w:{}", self.layout.shape[1]), "scores", vec![item])
    }

    /// Return the scores as an Arrow array.
    fn array(&self) -> ArrowArray {
        let column = match &*self.numbers {
            ScoreValues::Double(values) => arrow::number_column(values.clone()),
            ScoreValues::Single(values) => arrow::number_column(values.clone()),
        };
        match self.layout.dimensions {
            1 => column,
            // Arrow's fixed-size lists have the memory layout of a structure with one column.
            _ => arrow::struct_array(self.layout.shape[0] as usize, vec![column]),
        }
    }
}

#[pymethods]
impl PairScores {
    #[new]
    #[pyo3(signature = (scores, *_arguments, **_keywords))]
    fn python_new(
        scores: PyRef<'_, Self>,
        _arguments: &Bound<'_, PyTuple>,
        _keywords: Option<&Bound<'_, PyAny>>,
    ) -> Self {
        Self { numbers: Arc::clone(&scores.numbers), layout: scores.layout }
    }

    /// Create scores from rows: a matrix of the given width, or a flat list if `width` is None.
    #[staticmethod]
    fn from_rows(
        rows: Vec<PyRef<'_, Scores>>,
        width: Option<usize>,
        single: bool,
    ) -> PyResult<Self> {
        let is_valid = width.is_none_or(|width| rows.iter().all(|row| row.values().len() == width));
        require(is_valid, "the rows do not have the given width")?;
        let values = rows.iter().flat_map(|row| row.values());
        let numbers = match single {
            false => ScoreValues::Double(values.copied().collect()),
            true => ScoreValues::Single(values.map(|&value| value as f32).collect()),
        };
        Ok(Self::new(numbers, width))
    }

    /// Create scores from little-endian bytes.
    #[staticmethod]
    fn from_bytes(data: &[u8], width: Option<usize>, single: bool) -> Self {
        let doubles = data.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let singles = data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let numbers = match single {
            false => ScoreValues::Double(doubles.collect()),
            true => ScoreValues::Single(singles.collect()),
        };
        Self::new(numbers, width)
    }

    /// Return the scores as little-endian bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = match &*self.numbers {
            ScoreValues::Double(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            ScoreValues::Single(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        };
        PyBytes::new(py, &bytes)
    }

    /// Return the number of rows of a matrix, or the number of scores in a flat list.
    fn __len__(&self) -> usize {
        self.layout.shape[0] as usize
    }

    /// The lengths of all dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout.shape[..self.layout.dimensions])
    }

    /// Whether the scores are stored in single precision.
    #[getter(single)]
    fn is_single(&self) -> bool {
        matches!(*self.numbers, ScoreValues::Single(_))
    }

    /// Return one row in double precision.
    fn row(&self, i: usize) -> PyResult<Scores> {
        let width = self.layout.shape[1] as usize;
        let row = i.checked_mul(width).and_then(|start| self.values_in_range(start..start + width));
        let row = row.filter(|_| self.layout.dimensions == 2 && i < self.__len__());
        row.map(Scores::new).ok_or_else(|| PyIndexError::new_err("row out of range"))
    }

    /// Return the score with this index, counted over all rows.
    fn at(&self, i: usize) -> PyResult<f64> {
        let value = match &*self.numbers {
            ScoreValues::Double(values) => values.get(i).copied(),
            ScoreValues::Single(values) => values.get(i).map(|&value| f64::from(value)),
        };
        value.ok_or_else(|| PyIndexError::new_err("score out of range"))
    }

    /// Return all scores.
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        create_list(py, self.values_in_range(0..self.len()).unwrap_or_default())
    }

    /// Return whether the precision, the shape and all scores are equal.
    fn same(&self, other: &Self) -> bool {
        let are_equal = match (&*self.numbers, &*other.numbers) {
            (ScoreValues::Double(own), ScoreValues::Double(others)) => own == others,
            (ScoreValues::Single(own), ScoreValues::Single(others)) => own == others,
            _ => false,
        };
        are_equal && self.layout == other.layout
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<ArrayCapsules<'py>> {
        let _ = requested_schema;
        array_capsules(py, self.schema(), self.array())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let array = slf.get().array();
        let owner = slf.unbind();
        let stream = arrow::single_array_stream(move || owner.get().schema(), array);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let scores = slf.get();
        let (owner, layout) = (slf.as_any(), &scores.layout);
        // SAFETY: the scores are frozen, and the buffer holds a reference to them.
        unsafe {
            match &*scores.numbers {
                ScoreValues::Double(v) => fill_buffer(owner, view, flags, v, c"d", layout),
                ScoreValues::Single(v) => fill_buffer(owner, view, flags, v, c"f", layout),
            }
        }
    }
}
