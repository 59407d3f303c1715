//! All pairs for Python: texts that are ready to be scored against each other, and their scores.

use super::run::{interruptible, list};
use super::table::{Scores, fill_buffer};
use crate::arrow::{self, ArrowArray, ArrowSchema};
use crate::error::Error;
use crate::pairwise::overlap::Places;
use crate::pairwise::{self, Best, Expected, Row, Values};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyTuple};
use std::ffi::{CStr, c_int};
use std::sync::Arc;

/// What the references of a set weigh together is below.
const MOST_WEIGHT: u64 = 1 << 31;

/// Two lists of texts and a metric to score them with, all pairs or some.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Pairs {
    pairs: Box<dyn pairwise::Pairs>,
    workers: usize,
}

impl Pairs {
    /// Pairs that have been read, and how many threads score them.
    pub fn new(pairs: Box<dyn pairwise::Pairs>, workers: usize) -> Self {
        Self { pairs, workers }
    }

    fn run<R: Row>(&self, py: Python<'_>, above: bool, rows: &mut [R]) -> PyResult<()> {
        Ok(interruptible(py, || pairwise::run(&*self.pairs, above, rows, self.workers))??)
    }

    /// The scores of all pairs, hypothesis after hypothesis; of a triangle those above the diagonal.
    fn values<T>(&self, py: Python<'_>, triangle: bool) -> PyResult<Vec<T>>
    where
        T: Clone + Default + Send,
        for<'a> Values<'a, T>: Row,
    {
        let (height, width) = self.pairs.shape();
        let whole = height.checked_mul(width);
        let mut values =
            zeros(whole.map(|whole| if triangle { (whole - height) / 2 } else { whole }))
                .ok_or_else(|| too_large(height, width, size_of::<T>()))?;
        let mut rest = &mut values[..];
        let mut rows = Vec::with_capacity(height);
        for i in 0..height {
            let first = if triangle { i + 1 } else { 0 };
            let (own, others) = rest.split_at_mut(width - first);
            rows.push(Values { first, values: own });
            rest = others;
        }
        self.run(py, triangle, &mut rows)?;
        Ok(values)
    }
}

/// `count` zeros, if there is memory for them.
fn zeros<T: Clone + Default>(count: Option<usize>) -> Option<Vec<T>> {
    let count = count?;
    // Only this asks whether there is; what vec! asks for comes as zeros, but must be there.
    Vec::<T>::new().try_reserve_exact(count).ok()?;
    Some(vec![T::default(); count])
}

fn too_large(height: usize, width: usize, size: usize) -> PyErr {
    let bytes = height as f64 * width as f64 * size as f64;
    PyMemoryError::new_err(format!(
        "{height} hypotheses × {width} references need {:.1} GiB of scores, which cannot be had; \
         dtype=\"float32\" halves that, and top_k() and expected() keep no matrix at all",
        bytes / (1u64 << 30) as f64
    ))
}

#[pymethods]
impl Pairs {
    /// The numbers of hypotheses and references.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.pairs.shape()
    }

    /// All scores, n × m; of a triangle, which needs the same texts on both sides, n(n-1)/2.
    fn matrix(&self, py: Python<'_>, single: bool, triangle: bool) -> PyResult<PairScores> {
        let (height, width) = self.pairs.shape();
        if triangle && height != width {
            return Err(PyValueError::new_err("a triangle of different texts"));
        }
        let numbers = match single {
            false => Numbers::Double(self.values(py, triangle)?),
            true => Numbers::Single(self.values(py, triangle)?),
        };
        Ok(PairScores::new(numbers, (!triangle).then_some(width)))
    }

    /// For each hypothesis the references with the highest scores, or with the lowest, and these
    /// scores; the best first.
    fn top_k<'py>(&self, py: Python<'py>, k: usize, lowest: bool) -> PyResult<Bound<'py, PyList>> {
        let (height, width) = self.pairs.shape();
        let k = k.clamp(1, width.max(1));
        let mut rows: Vec<_> = (0..height).map(|_| Best::new(k, lowest)).collect();
        self.run(py, false, &mut rows)?;
        list(py, rows.into_iter().map(Best::sorted))
    }

    /// For each hypothesis the mean of its scores, by the weights of the references and their sum.
    fn expected(
        &self,
        py: Python<'_>,
        weights: Option<Vec<f64>>,
        whole: f64,
        compensated: bool,
    ) -> PyResult<Scores> {
        let (height, width) = self.pairs.shape();
        if weights.as_ref().is_some_and(|weights| weights.len() != width) {
            return Err(PyValueError::new_err("every reference needs a weight"));
        }
        let mut rows = vec![Expected::new(weights.as_deref(), compensated); height];
        self.run(py, false, &mut rows)?;
        Ok(Scores::new(rows.iter().map(|row| row.sum() / whole).collect()))
    }

    /// The score of each hypothesis against the sum of the references of its set. The sets follow
    /// each other: so many hypotheses, so many references; `None` if sums say nothing here.
    fn against_sums(
        &self,
        py: Python<'_>,
        sets: Vec<(usize, usize)>,
        weights: Option<Vec<u32>>,
    ) -> PyResult<Option<Scores>> {
        let (height, width) = self.pairs.shape();
        let mut ends = (0_usize, 0_usize);
        let places = sets.into_iter().map(|(hypotheses, references)| {
            let (own, others) = ends;
            ends = (own.checked_add(hypotheses)?, others.checked_add(references)?);
            Some(Places { hypotheses: own..ends.0, references: others..ends.1 })
        });
        let sets = places.collect::<Option<Vec<_>>>();
        let Some(sets) = sets.filter(|_| ends == (height, width)) else {
            return Err(PyValueError::new_err(format!(
                "sets: expected sizes that add up to {height} hypotheses and {width} references"
            )));
        };
        // Counts are multiplied by what a set's references weigh together.
        let fits = |weights: &Vec<u32>| {
            let of_set = |set: &Places| weights.get(set.references.clone());
            let sum = |all: &[u32]| all.iter().map(|&weight| u64::from(weight)).sum::<u64>();
            weights.len() == width
                && sets.iter().filter_map(of_set).all(|all| sum(all) < MOST_WEIGHT)
        };
        if !weights.as_ref().is_none_or(fits) {
            return Err(PyValueError::new_err(
                "weights: expected one for each reference, those of a set below 2^31 together",
            ));
        }
        let workers = self.workers;
        let scored =
            interruptible(py, || self.pairs.against_sums(&sets, weights.as_deref(), workers))?;
        Ok(scored.map(Scores::new))
    }
}

/// Scores in either precision.
enum Numbers {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

/// Scores of pairs: rows of the same width, or all in one row.
#[pyclass(frozen, subclass, module = "truebleu._kernel")]
pub struct PairScores {
    numbers: Arc<Numbers>,
    /// For the buffer protocol; the second only of rows.
    shape: [isize; 2],
    strides: [isize; 2],
    dimensions: c_int,
}

impl PairScores {
    fn new(numbers: Numbers, width: Option<usize>) -> Self {
        let (length, size) = match &numbers {
            Numbers::Double(values) => (values.len(), 8),
            Numbers::Single(values) => (values.len(), 4),
        };
        let (shape, strides, dimensions) = match width {
            Some(width) => {
                let height = length.checked_div(width).unwrap_or(0);
                ([height as isize, width as isize], [size * width as isize, size], 2)
            }
            None => ([length as isize, 1], [size, size], 1),
        };
        Self { numbers: Arc::new(numbers), shape, strides, dimensions }
    }

    /// The numbers of a range, in double precision.
    fn part(&self, range: std::ops::Range<usize>) -> Option<Vec<f64>> {
        Some(match &*self.numbers {
            Numbers::Double(values) => values.get(range)?.to_vec(),
            Numbers::Single(values) => values.get(range)?.iter().map(|&v| f64::from(v)).collect(),
        })
    }

    fn len(&self) -> usize {
        match &*self.numbers {
            Numbers::Double(values) => values.len(),
            Numbers::Single(values) => values.len(),
        }
    }

    fn schema(&self) -> ArrowSchema {
        let format = if self.is_single() { "f" } else { "g" };
        if self.dimensions == 1 {
            return arrow::schema(format, "score", Vec::new());
        }
        let item = arrow::schema(format, "item", Vec::new());
        arrow::schema(&format!("+w:{}", self.shape[1]), "scores", vec![item])
    }

    fn array(&self) -> ArrowArray {
        let numbers = match &*self.numbers {
            Numbers::Double(values) => arrow::numbers(values.clone()),
            Numbers::Single(values) => arrow::numbers(values.clone()),
        };
        match self.dimensions {
            1 => numbers,
            // A list of fixed size has the layout of a structure of one column.
            _ => arrow::structure(self.shape[0] as usize, vec![numbers]),
        }
    }
}

#[pymethods]
impl PairScores {
    #[new]
    #[pyo3(signature = (scores, *_arguments, **_named))]
    fn python_new(
        scores: PyRef<'_, Self>,
        _arguments: &Bound<'_, PyTuple>,
        _named: Option<&Bound<'_, PyAny>>,
    ) -> Self {
        let Self { numbers, shape, strides, dimensions } = &*scores;
        let numbers = Arc::clone(numbers);
        Self { numbers, shape: *shape, strides: *strides, dimensions: *dimensions }
    }

    /// Scores from rows, which are of the same width if that is given.
    #[staticmethod]
    #[pyo3(signature = (rows, width, single))]
    fn from_rows(
        rows: Vec<PyRef<'_, Scores>>,
        width: Option<usize>,
        single: bool,
    ) -> PyResult<Self> {
        if width.is_some_and(|width| rows.iter().any(|row| row.values().len() != width)) {
            return Err(PyValueError::new_err("rows of different widths"));
        }
        let values = rows.iter().flat_map(|row| row.values());
        let numbers = match single {
            false => Numbers::Double(values.copied().collect()),
            true => Numbers::Single(values.map(|&value| value as f32).collect()),
        };
        Ok(Self::new(numbers, width))
    }

    /// Scores from little-endian bytes.
    #[staticmethod]
    #[pyo3(signature = (data, width, single))]
    fn from_bytes(data: &[u8], width: Option<usize>, single: bool) -> Self {
        let numbers = match single {
            false => Numbers::Double(
                data.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
            ),
            true => Numbers::Single(
                data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            ),
        };
        Self::new(numbers, width)
    }

    /// The scores as little-endian bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = match &*self.numbers {
            Numbers::Double(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Numbers::Single(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        };
        PyBytes::new(py, &bytes)
    }

    /// The number of rows, or of scores.
    fn __len__(&self) -> usize {
        self.shape[0] as usize
    }

    /// The lengths of all dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape[..self.dimensions as usize])
    }

    /// True if the scores are in single precision.
    #[getter(single)]
    fn is_single(&self) -> bool {
        matches!(*self.numbers, Numbers::Single(_))
    }

    /// One row, in double precision.
    fn row(&self, i: usize) -> PyResult<Scores> {
        let width = self.shape[1] as usize;
        let row = i.checked_mul(width).and_then(|start| self.part(start..start + width));
        let row = row.filter(|_| self.dimensions == 2 && i < self.shape[0] as usize);
        row.map(Scores::new).ok_or_else(|| PyIndexError::new_err("row out of range"))
    }

    /// One score, counted from the first of all.
    fn at(&self, i: usize) -> PyResult<f64> {
        let value = match &*self.numbers {
            Numbers::Double(values) => values.get(i).copied(),
            Numbers::Single(values) => values.get(i).map(|&value| f64::from(value)),
        };
        value.ok_or_else(|| PyIndexError::new_err("score out of range"))
    }

    /// All scores, one after the other.
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.part(0..self.len()).unwrap_or_default())
    }

    /// True if precision, shape and all scores are the same.
    fn same(&self, other: &Self) -> bool {
        let numbers = match (&*self.numbers, &*other.numbers) {
            (Numbers::Double(own), Numbers::Double(others)) => own == others,
            (Numbers::Single(own), Numbers::Single(others)) => own == others,
            _ => false,
        };
        numbers && self.dimensions == other.dimensions && self.shape == other.shape
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        Ok((
            PyCapsule::new_with_value(py, self.schema(), c"arrow_schema")?,
            PyCapsule::new_with_value(py, self.array(), c"arrow_array")?,
        ))
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
        let stream = arrow::stream(move || owner.get().schema(), array);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let scores = slf.get();
        let layout = (scores.dimensions, scores.shape.as_ptr(), scores.strides.as_ptr());
        let (single, double): (&CStr, &CStr) = (c"f", c"d");
        // SAFETY: the scores are frozen, and the buffer holds a reference to them.
        unsafe {
            match &*scores.numbers {
                Numbers::Double(v) => fill_buffer(slf.as_any(), view, flags, v, double, layout),
                Numbers::Single(v) => fill_buffer(slf.as_any(), view, flags, v, single, layout),
            }
        }
    }
}

/// The mean scores of sets of texts: what a metric's `expected` does, with its threads.
pub type MeanScores = Box<
    dyn Fn(
            crate::simd::Instructions,
            (Box<dyn crate::text_batches::Source>, Option<Box<dyn crate::text_batches::Source>>),
            &[pairwise::naive::Set],
            bool,
            usize,
        ) -> Result<Vec<f64>, Error>
        + Send
        + Sync,
>;

/// Reading texts for pairs: what a metric's `pairs` does.
pub type ReadPairs = Box<
    dyn Fn(
            crate::simd::Instructions,
            Box<dyn crate::text_batches::Source>,
            Option<Box<dyn crate::text_batches::Source>>,
        ) -> Result<Box<dyn pairwise::Pairs>, Error>
        + Send
        + Sync,
>;
