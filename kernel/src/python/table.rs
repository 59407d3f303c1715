//! Numbers for Python: a table of integers, a column of scores. Both speak the buffer protocol and
//! Arrow, and share their memory with what is made of them.

use super::run::{Many, list, on_text};
use crate::arrow::{self, ArrowArray, ArrowSchema};
use crate::checksummed_frame::{Format, STATISTICS, SUMS};
use crate::columns::{self, Rules};
use crate::interrupt::{self, Work};
use pyo3::exceptions::{PyBufferError, PyIndexError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PyTuple};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Rows of 64-bit integers, all of the same width.
#[pyclass(frozen, subclass, module = "truebleu._kernel")]
pub struct Table {
    values: Arc<Vec<i64>>,
    /// The first of this table's values in `values`, and how many there are.
    start: usize,
    length: usize,
    width: usize,
    /// Shape and strides, for the buffer protocol.
    shape: [isize; 2],
    strides: [isize; 2],
}

impl Table {
    /// A table of `values`, row after row. `width` must not be 0.
    pub fn new(values: Vec<i64>, width: usize) -> Self {
        let length = values.len();
        Self::part(Arc::new(values), 0, length, width)
    }

    fn part(values: Arc<Vec<i64>>, start: usize, length: usize, width: usize) -> Self {
        Self {
            values,
            start,
            length,
            width,
            shape: [(length / width) as isize, width as isize],
            strides: [8 * width as isize, 8],
        }
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The values, row after row.
    pub(super) fn values(&self) -> &[i64] {
        &self.values[self.start..self.start + self.length]
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &[i64]> {
        self.values().chunks_exact(self.width)
    }

    /// Rows of a table of this width, one part after the other.
    fn of_parts<'a>(
        py: Python<'_>,
        length: usize,
        parts: impl Iterator<Item = &'a [i64]> + Send,
        width: usize,
    ) -> PyResult<Self> {
        let values = on_text(py, 8 * length, || {
            let (mut values, mut work) = (Vec::new(), Work::default());
            for part in parts {
                work.done(2 + part.len() / 2);
                values.extend_from_slice(part);
            }
            values
        })?;
        Ok(Self::new(values, width))
    }

    fn row(&self, i: usize) -> Option<&[i64]> {
        let start = i.checked_mul(self.width)?;
        self.values().get(start..)?.get(..self.width)
    }
}

/// Values that are gone through between two polls.
const PART: usize = 1 << 14;

/// The bytes of a row; `None` for a width that no row can have.
fn row_bytes(width: usize) -> Option<usize> {
    let bytes = width.checked_mul(8)?;
    (1..=isize::MAX as usize).contains(&bytes).then_some(bytes)
}

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (table, *_arguments, **_named))]
    fn python_new(
        table: PyRef<'_, Self>,
        _arguments: &Bound<'_, PyTuple>,
        _named: Option<&Bound<'_, PyAny>>,
    ) -> Self {
        Self::part(Arc::clone(&table.values), table.start, table.length, table.width)
    }

    /// A table of little-endian bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], width: usize) -> PyResult<Self> {
        let whole = row_bytes(width).is_some_and(|bytes| data.len().is_multiple_of(bytes));
        if !whole {
            return Err(PyValueError::new_err("these bytes are not a table of that width"));
        }
        let values = on_text(py, data.len(), || {
            let mut values = Vec::with_capacity(data.len() / 8);
            for part in data.as_chunks::<8>().0.chunks(PART) {
                interrupt::poll();
                values.extend(part.iter().map(|eight| i64::from_le_bytes(*eight)));
            }
            values
        })?;
        Ok(Self::new(values, width))
    }

    /// A table of rows.
    #[staticmethod]
    fn from_rows(rows: Many<Vec<i64>>, width: usize) -> PyResult<Self> {
        let Many(rows) = rows;
        if row_bytes(width).is_none() || rows.iter().any(|row| row.len() != width) {
            return Err(PyValueError::new_err(format!("every row must have {width} integers")));
        }
        Ok(Self::new(rows.concat(), width))
    }

    /// The values as little-endian bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = self.values().iter().flat_map(|value| value.to_le_bytes()).collect();
        PyBytes::new(py, &bytes)
    }

    fn __len__(&self) -> usize {
        self.length / self.width
    }

    #[getter(width)]
    fn python_width(&self) -> usize {
        self.width
    }

    /// One row, the sum of all.
    fn total(&self, py: Python<'_>) -> PyResult<Self> {
        let (values, width) = (self.values(), self.width);
        let total = on_text(py, 8 * self.length, || columns::total(values, width))??;
        Ok(Self::new(total, self.width))
    }

    /// A row for each of `groups` groups, the sum of the rows that `numbers` puts into it. There
    /// are no more groups than rows.
    fn group_totals(&self, py: Python<'_>, numbers: Many<usize>, groups: usize) -> PyResult<Self> {
        let (rows, width, Many(numbers)) = (self.length / self.width, self.width, numbers);
        if numbers.len() != rows || groups > rows {
            let found = numbers.len();
            return Err(PyValueError::new_err(format!(
                "{found} group numbers and {groups} groups for {rows} rows; every row needs a \
                 group, and every group a row"
            )));
        }
        let values = self.values();
        let totals = on_text(py, 8 * self.length, || -> PyResult<_> {
            let mut totals = vec![0; groups * width];
            let mut fits = true;
            for (part, numbers) in values.chunks(width << 12).zip(numbers.chunks(1 << 12)) {
                interrupt::poll();
                for (row, &number) in part.chunks_exact(width).zip(numbers) {
                    if number >= groups {
                        let told = format!("group {number} of {groups}; they are counted from 0");
                        return Err(PyIndexError::new_err(told));
                    }
                    fits &= columns::add(&mut totals[number * width..][..width], row);
                }
            }
            if fits { Ok(totals) } else { Err(columns::too_large().into()) }
        })??;
        Ok(Self::new(totals, width))
    }

    /// Refuses rows that a metric with columns of these names cannot have counted: numbers below 0
    /// but in `signed`, and of `limits` the first larger than so many times the other.
    fn check(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        signed: Vec<usize>,
        limits: Vec<(usize, u64, usize)>,
    ) -> PyResult<()> {
        let rules = Rules { names, signed, limits };
        if rules.names.len() != self.width {
            return Err(PyValueError::new_err("every column needs a name"));
        }
        rules.check()?;
        let values = self.values();
        Ok(on_text(py, 8 * self.length, || rules.check_rows(values))??)
    }

    /// The rows from `start` to `stop`, in the same memory.
    fn range(&self, start: usize, stop: usize) -> PyResult<Self> {
        let count = self.length / self.width;
        if start > stop || stop > count {
            return Err(PyIndexError::new_err("row out of range"));
        }
        let (first, length) = (self.start + start * self.width, (stop - start) * self.width);
        Ok(Self::part(Arc::clone(&self.values), first, length, self.width))
    }

    /// The rows with these numbers, in their order.
    fn pick(&self, py: Python<'_>, numbers: Many<usize>) -> PyResult<Self> {
        let Many(numbers) = numbers;
        // Rows may be named more often than there are: what is allocated has been seen to be there.
        if numbers.iter().any(|&number| self.row(number).is_none()) {
            return Err(PyIndexError::new_err("row out of range"));
        }
        let rows = numbers.iter().filter_map(|&number| self.row(number));
        Self::of_parts(py, numbers.len() * self.width, rows, self.width)
    }

    /// The rows for which `mask` is true.
    fn filter(&self, py: Python<'_>, mask: Many<bool>) -> PyResult<Self> {
        let Many(mask) = mask;
        if mask.len() != self.length / self.width {
            return Err(PyValueError::new_err("the mask needs a truth value for each row"));
        }
        let chosen = self.rows().zip(mask).filter(|(_, chosen)| *chosen).map(|(row, _)| row);
        Self::of_parts(py, self.length, chosen, self.width)
    }

    /// The table of these columns, in their order.
    fn columns_of(&self, py: Python<'_>, columns: Vec<usize>) -> PyResult<Self> {
        if columns.is_empty() || columns.iter().any(|&column| column >= self.width) {
            return Err(PyIndexError::new_err("column out of range"));
        }
        let each = columns.iter();
        let parts = self.rows().flat_map(|row| each.clone().map(|&column| &row[column..=column]));
        Self::of_parts(py, self.length, parts, columns.len())
    }

    /// This table's rows and then the other's.
    fn concatenated(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        if self.width != other.width {
            return Err(PyValueError::new_err("tables of different widths"));
        }
        let parts = [self.values(), other.values()].into_iter();
        let parts = parts.flat_map(|values| values.chunks(PART));
        Self::of_parts(py, self.length + other.length, parts, self.width)
    }

    /// True if all values are the same.
    fn same(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        if self.width != other.width || self.length != other.length {
            return Ok(false);
        }
        let mut parts = self.values().chunks(PART).zip(other.values().chunks(PART));
        Ok(on_text(py, 8 * self.length, || {
            parts.all(|(own, others)| {
                interrupt::poll();
                own == others
            })
        })?)
    }

    /// The values of one column.
    fn values_of<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        if column >= self.width {
            return Err(PyIndexError::new_err("column out of range"));
        }
        list(py, self.rows().map(|row| row[column]))
    }

    /// All rows, as lists.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.rows())
    }

    /// The table as an Arrow array of structures, with these names of columns: schema and array.
    fn arrow_array<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let array = self.arrow(py, &names)?;
        Ok((
            PyCapsule::new_with_value(py, table_schema(&names), c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    /// The table as an Arrow stream of one batch.
    fn arrow_stream<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let array = self.arrow(py, &names)?;
        let stream = arrow::stream(move || table_schema(&names), array);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let table = slf.get();
        let (shape, strides) = (table.shape.as_ptr(), table.strides.as_ptr());
        let values = table.values();
        // SAFETY: the table is frozen, and the buffer holds a reference to it.
        unsafe { fill_buffer(slf.as_any(), view, flags, values, c"q", (2, shape, strides)) }
    }
}

impl Table {
    fn arrow(&self, py: Python<'_>, names: &[String]) -> PyResult<ArrowArray> {
        if names.len() != self.width {
            return Err(PyValueError::new_err("every column needs a name"));
        }
        Ok(on_text(py, 8 * self.length, || {
            let mut work = Work::default();
            let columns = (0..self.width).map(|column| {
                let rows = self.rows().inspect(|_| work.done(2));
                arrow::numbers(rows.map(|row| row[column]).collect::<Vec<_>>())
            });
            arrow::structure(self.length / self.width, columns.collect())
        })?)
    }
}

/// The frames that there are, by their names.
fn format(kind: &str) -> PyResult<&'static Format> {
    let known = [&STATISTICS, &SUMS].into_iter().find(|format| format.name == kind);
    known.ok_or_else(|| PyValueError::new_err(format!("no frame of '{kind}'")))
}

/// A frame of a kind: a header of one line, a content, a checksum.
#[pyfunction]
pub fn sealed<'py>(
    py: Python<'py>,
    kind: &str,
    header: &str,
    content: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    if header.contains('\n') {
        return Err(PyValueError::new_err("a header is one line"));
    }
    let format = format(kind)?;
    Ok(PyBytes::new(py, &py.detach(|| format.seal(header, content))))
}

/// The header and the content of a frame. `name` is that of the input, for messages.
#[pyfunction]
pub fn unsealed<'py>(
    py: Python<'py>,
    kind: &str,
    name: &str,
    data: &[u8],
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let format = format(kind)?;
    let found = py.detach(|| format.open(name, data))?;
    Ok((found.header.to_owned(), PyBytes::new(py, found.content)))
}

fn table_schema(names: &[String]) -> ArrowSchema {
    let columns = names.iter().map(|name| arrow::schema("l", name, Vec::new())).collect();
    arrow::schema("+s", "", columns)
}

/// Fills a read-only buffer of numbers, whose strides are those of C.
///
/// # Safety
/// `view` must be null or what the interpreter gives to be filled. `values`, shape and strides must
/// live and stay as long as `owner`, and both must have as many entries as there are dimensions.
pub(super) unsafe fn fill_buffer<T>(
    owner: &Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
    values: &[T],
    format: &'static std::ffi::CStr,
    (dimensions, shape, strides): (c_int, *const isize, *const isize),
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("no view to fill"));
    }
    let asked = |flag: c_int| flags & flag == flag;
    // SAFETY: as the caller promises.
    let lengths = unsafe { std::slice::from_raw_parts(shape, dimensions as usize) };
    // In a line, or without numbers, the first index and the last are the fastest.
    let flat = values.is_empty() || lengths.iter().filter(|&&length| length > 1).count() <= 1;
    let refused = if asked(ffi::PyBUF_WRITABLE) {
        Some("these numbers are read-only")
    } else if asked(ffi::PyBUF_F_CONTIGUOUS) && !flat {
        Some("these numbers are in C order, row after row, and not in Fortran's")
    } else if asked(ffi::PyBUF_FORMAT) && !asked(ffi::PyBUF_ND) {
        Some("plain bytes have no format; ask for a shape as well")
    } else {
        None
    };
    if let Some(why) = refused {
        // SAFETY: the interpreter gives a view to be filled; without an object it is not.
        unsafe { (*view).obj = std::ptr::null_mut() };
        return Err(PyBufferError::new_err(why));
    }
    // SAFETY: the interpreter gives a view to be filled; what it points to lives with the owner.
    unsafe {
        (*view).obj = owner.clone().into_ptr();
        (*view).buf = values.as_ptr().cast_mut().cast::<c_void>();
        (*view).len = size_of_val(values) as isize;
        (*view).readonly = 1;
        (*view).format = if asked(ffi::PyBUF_FORMAT) {
            format.as_ptr().cast_mut()
        } else {
            std::ptr::null_mut()
        };
        // Without a shape, the numbers are a plain row of bytes.
        let shaped = asked(ffi::PyBUF_ND);
        (*view).itemsize = if shaped { size_of::<T>() as isize } else { 1 };
        (*view).ndim = if shaped { dimensions } else { 1 };
        (*view).shape = if shaped { shape.cast_mut() } else { std::ptr::null_mut() };
        (*view).strides =
            if asked(ffi::PyBUF_STRIDES) { strides.cast_mut() } else { std::ptr::null_mut() };
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = std::ptr::null_mut();
    }
    Ok(())
}

/// Scores, one per segment: 64-bit floating-point numbers.
#[pyclass(frozen, module = "truebleu", sequence)]
pub struct Scores {
    values: Vec<f64>,
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Scores {
    /// These scores.
    pub fn new(values: Vec<f64>) -> Self {
        let shape = [values.len() as isize];
        Self { values, shape, strides: [8] }
    }

    /// The scores.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    fn arrow(&self) -> ArrowArray {
        arrow::numbers(self.values.clone())
    }
}

#[pymethods]
impl Scores {
    #[new]
    fn python_new(values: Many<f64>) -> Self {
        Self::new(values.0)
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<pyo3::types::PySlice>() {
            let indices = slice.indices(self.values.len() as isize)?;
            let (start, step) = (indices.start, indices.step);
            let chosen =
                (0..indices.slicelength as isize).map(|i| self.values[(start + i * step) as usize]);
            return Ok(Bound::new(py, Self::new(chosen.collect()))?.into_any());
        }
        let index: isize = index.extract()?;
        let length = self.values.len() as isize;
        let at = if index < 0 { index + length } else { index };
        match usize::try_from(at).ok().and_then(|at| self.values.get(at)) {
            Some(value) => Ok(value.into_pyobject(py)?.into_any()),
            None => Err(PyIndexError::new_err(format!(
                "segment {index} of {length}; they are counted from 0"
            ))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        list(py, &self.values)?.try_iter()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        if let Ok(other) = other.cast::<Self>() {
            return self.values == other.get().values;
        }
        other.extract::<Vec<f64>>().is_ok_and(|other| self.values == other)
    }

    fn __repr__(&self) -> String {
        let first: Vec<_> = self.values.iter().take(4).map(|score| format!("{score:.2}")).collect();
        let more = if self.values.len() > 4 { ", …" } else { "" };
        format!("Scores({} segments: [{}{more}])", self.values.len(), first.join(", "))
    }

    /// The scores as a list of floats.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.values)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyList>,))> {
        Ok((slf.get_type().into_any(), (list(slf.py(), &slf.get().values)?,)))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let schema = arrow::schema("g", "score", Vec::new());
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, self.arrow(), c"arrow_array")?,
        ))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = arrow::stream(|| arrow::schema("g", "score", Vec::new()), self.arrow());
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let scores = slf.get();
        let (shape, strides) = (scores.shape.as_ptr(), scores.strides.as_ptr());
        let values = &scores.values;
        // SAFETY: the scores are frozen, and the buffer holds a reference to them.
        unsafe { fill_buffer(slf.as_any(), view, flags, values, c"d", (1, shape, strides)) }
    }
}
