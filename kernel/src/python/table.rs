//! Tables of integers and columns of scores for Python. Both support the buffer protocol and Arrow,
//! and share their memory with derived objects.

use super::run::{LongSequence, create_list, run_on_text};
use super::{require, require_known};
use crate::arrow::{self, ArrowArray, ArrowSchema};
use crate::checksummed_frame::{Format, STATISTICS, SUMS};
use crate::columns::{self, ColumnRules};
use crate::interrupt::{self, Work};
use pyo3::exceptions::{PyBufferError, PyIndexError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PyTuple};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Rows of 64-bit integers of equal width.
#[pyclass(frozen, subclass, module = "truebleu._kernel")]
pub struct Table {
    values: Arc<Vec<i64>>,
    /// The index of this table's first value in `values`, and the number of values.
    start: usize,
    length: usize,
    width: usize,
    layout: BufferLayout,
}

impl Table {
    /// Create a table from `values`, row by row. `width` must not be 0.
    pub fn new(values: Vec<i64>, width: usize) -> Self {
        let length = values.len();
        Self::from_range(Arc::new(values), 0, length, width)
    }

    fn from_range(values: Arc<Vec<i64>>, start: usize, length: usize, width: usize) -> Self {
        let layout = BufferLayout::new(length, Some(width), 8);
        Self { values, start, length, width, layout }
    }

    /// Return the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Return the values, row by row.
    pub(super) fn values(&self) -> &[i64] {
        &self.values[self.start..self.start + self.length]
    }

    /// Return the rows.
    pub fn rows(&self) -> impl Iterator<Item = &[i64]> {
        self.values().chunks_exact(self.width)
    }

    /// Create a table of this width from consecutive parts.
    fn from_parts<'a>(
        py: Python<'_>,
        length: usize,
        parts: impl Iterator<Item = &'a [i64]> + Send,
        width: usize,
    ) -> PyResult<Self> {
        let values = run_on_text(py, 8 * length, || {
            let (mut values, mut work) = (Vec::new(), Work::default());
            for part in parts {
                work.add(2 + part.len() / 2);
                values.extend_from_slice(part);
            }
            values
        })?;
        Ok(Self::new(values, width))
    }

    /// Return row `i`, or `None` if the index is out of range.
    fn row(&self, i: usize) -> Option<&[i64]> {
        let start = i.checked_mul(self.width)?;
        self.values().get(start..)?.get(..self.width)
    }
}

/// Number of values processed between two polls.
const MAX_UNPOLLED_VALUES: usize = 1 << 14;

/// Return the number of bytes of a row, or `None` for an invalid width.
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
        Self::from_range(Arc::clone(&table.values), table.start, table.length, table.width)
    }

    /// Create a table from little-endian bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], width: usize) -> PyResult<Self> {
        let is_valid = row_bytes(width).is_some_and(|bytes| data.len().is_multiple_of(bytes));
        require(is_valid, "the number of bytes does not match the width")?;
        let values = run_on_text(py, data.len(), || {
            let mut values = Vec::with_capacity(data.len() / 8);
            for part in data.as_chunks::<8>().0.chunks(MAX_UNPOLLED_VALUES) {
                interrupt::poll();
                values.extend(part.iter().map(|bytes| i64::from_le_bytes(*bytes)));
            }
            values
        })?;
        Ok(Self::new(values, width))
    }

    /// Create a table from rows.
    #[staticmethod]
    fn from_rows(rows: LongSequence<Vec<i64>>, width: usize) -> PyResult<Self> {
        let LongSequence(rows) = rows;
        if row_bytes(width).is_none() || rows.iter().any(|row| row.len() != width) {
            return Err(PyValueError::new_err(format!("every row must have {width} integers")));
        }
        Ok(Self::new(rows.concat(), width))
    }

    /// Return the values as little-endian bytes.
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

    /// Return a table with one row, the sum of all rows.
    fn total(&self, py: Python<'_>) -> PyResult<Self> {
        let (values, width) = (self.values(), self.width);
        let total = run_on_text(py, 8 * self.length, || columns::sum_rows(values, width))??;
        Ok(Self::new(total, self.width))
    }

    /// Return a table with the sum of each group, given the group number of each row.
    /// The number of groups must not exceed the number of rows.
    fn group_totals(
        &self,
        py: Python<'_>,
        numbers: LongSequence<usize>,
        groups: usize,
    ) -> PyResult<Self> {
        let (rows, width, LongSequence(numbers)) = (self.length / self.width, self.width, numbers);
        if numbers.len() != rows || groups > rows {
            let number_count = numbers.len();
            return Err(PyValueError::new_err(format!(
                "expected one group number per row and no empty group (found {number_count} numbers and \
                 {groups} groups for {rows} rows)"
            )));
        }
        let values = self.values();
        let totals = run_on_text(py, 8 * self.length, || -> PyResult<_> {
            let mut totals = vec![0; groups * width];
            let mut is_exact = true;
            for (part, numbers) in values.chunks(width << 12).zip(numbers.chunks(1 << 12)) {
                interrupt::poll();
                for (row, &number) in part.chunks_exact(width).zip(numbers) {
                    if number >= groups {
                        let message =
                            format!("group {number} out of range (expected 0 to {})", groups - 1);
                        return Err(PyIndexError::new_err(message));
                    }
                    is_exact &= columns::add_row(&mut totals[number * width..][..width], row);
                }
            }
            if is_exact { Ok(totals) } else { Err(columns::overflow_error().into()) }
        })??;
        Ok(Self::new(totals, width))
    }

    /// Raise InputError for rows that a metric with these columns cannot have counted: rows with
    /// negative values in columns other than `signed`, or with values above the `limits`.
    fn check(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        signed: Vec<usize>,
        limits: Vec<(usize, u64, usize)>,
    ) -> PyResult<()> {
        let rules = ColumnRules { names, signed, limits };
        require(rules.names.len() == self.width, "expected one name per column")?;
        rules.check()?;
        let values = self.values();
        Ok(run_on_text(py, 8 * self.length, || rules.check_rows(values))??)
    }

    /// Return the rows from `start` to `stop`, which share the memory of this table.
    fn range(&self, start: usize, stop: usize) -> PyResult<Self> {
        let count = self.length / self.width;
        if start > stop || stop > count {
            return Err(PyIndexError::new_err("row out of range"));
        }
        let (first, length) = (self.start + start * self.width, (stop - start) * self.width);
        Ok(Self::from_range(Arc::clone(&self.values), first, length, self.width))
    }

    /// Return the rows with these indices, in this order.
    fn pick(&self, py: Python<'_>, numbers: LongSequence<usize>) -> PyResult<Self> {
        let LongSequence(numbers) = numbers;
        // Indices may repeat without limit, so check them before allocating memory.
        if numbers.iter().any(|&i| self.row(i).is_none()) {
            return Err(PyIndexError::new_err("row out of range"));
        }
        let rows = numbers.iter().filter_map(|&i| self.row(i));
        Self::from_parts(py, numbers.len() * self.width, rows, self.width)
    }

    /// Return the rows for which `mask` is true.
    fn filter(&self, py: Python<'_>, mask: LongSequence<bool>) -> PyResult<Self> {
        let LongSequence(mask) = mask;
        require(mask.len() == self.length / self.width, "expected one mask value per row")?;
        let selected =
            self.rows().zip(mask).filter(|(_, is_selected)| *is_selected).map(|(row, _)| row);
        Self::from_parts(py, self.length, selected, self.width)
    }

    /// Return a table of these columns, in this order.
    fn columns_of(&self, py: Python<'_>, columns: Vec<usize>) -> PyResult<Self> {
        if columns.is_empty() || columns.iter().any(|&column| column >= self.width) {
            return Err(PyIndexError::new_err("column out of range"));
        }
        let column_indices = columns.iter();
        let parts =
            self.rows().flat_map(|row| column_indices.clone().map(|&column| &row[column..=column]));
        Self::from_parts(py, self.length, parts, columns.len())
    }

    /// Return a table with this table's rows, then the other table's rows.
    fn concatenated(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        require(self.width == other.width, "tables have different widths")?;
        let parts = [self.values(), other.values()].into_iter();
        let parts = parts.flat_map(|values| values.chunks(MAX_UNPOLLED_VALUES));
        Self::from_parts(py, self.length + other.length, parts, self.width)
    }

    /// Return whether all values are equal.
    fn same(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        if self.width != other.width || self.length != other.length {
            return Ok(false);
        }
        let mut parts = self
            .values()
            .chunks(MAX_UNPOLLED_VALUES)
            .zip(other.values().chunks(MAX_UNPOLLED_VALUES));
        Ok(run_on_text(py, 8 * self.length, || {
            parts.all(|(values, other_values)| {
                interrupt::poll();
                values == other_values
            })
        })?)
    }

    /// Return the values of one column.
    fn values_of<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        if column >= self.width {
            return Err(PyIndexError::new_err("column out of range"));
        }
        create_list(py, self.rows().map(|row| row[column]))
    }

    /// Return all rows as lists.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        create_list(py, self.rows())
    }

    /// Return the table as an Arrow array of structures with these column names (schema and array).
    fn arrow_array<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
    ) -> PyResult<ArrayCapsules<'py>> {
        let array = self.to_arrow(py, &names)?;
        array_capsules(py, table_schema(&names), array)
    }

    /// Return the table as an Arrow stream of one batch.
    fn arrow_stream<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let array = self.to_arrow(py, &names)?;
        let stream = arrow::single_array_stream(move || table_schema(&names), array);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let table = slf.get();
        // SAFETY: the table is frozen, and the buffer holds a reference to it.
        unsafe { fill_buffer(slf.as_any(), view, flags, table.values(), c"q", &table.layout) }
    }
}

impl Table {
    /// Return the table as an Arrow array.
    fn to_arrow(&self, py: Python<'_>, names: &[String]) -> PyResult<ArrowArray> {
        require(names.len() == self.width, "every column needs a name")?;
        Ok(run_on_text(py, 8 * self.length, || {
            let mut work = Work::default();
            let columns = (0..self.width).map(|column| {
                let rows = self.rows().inspect(|_| work.add(2));
                arrow::number_column(rows.map(|row| row[column]).collect::<Vec<_>>())
            });
            arrow::struct_array(self.length / self.width, columns.collect())
        })?)
    }
}

/// Return the frame format with this name.
fn find_format(kind: &str) -> PyResult<&'static Format> {
    require_known("frame format", kind, |kind| {
        [&STATISTICS, &SUMS].into_iter().find(|format| format.name == kind)
    })
}

/// Create a frame of this kind, which consists of a one-line header, the content, and a checksum.
#[pyfunction]
pub fn sealed<'py>(
    py: Python<'py>,
    kind: &str,
    header: &str,
    content: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    require(!header.contains('\n'), "the header must be a single line")?;
    let format = find_format(kind)?;
    Ok(PyBytes::new(py, &py.detach(|| format.seal(header, content))))
}

/// Return the header and the content of a frame. Error messages refer to the input by `name`.
#[pyfunction]
pub fn unsealed<'py>(
    py: Python<'py>,
    kind: &str,
    name: &str,
    data: &[u8],
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let format = find_format(kind)?;
    let frame = py.detach(|| format.open(name, data))?;
    Ok((frame.header.to_owned(), PyBytes::new(py, frame.content)))
}

/// Return the schema of a table of integers.
fn table_schema(names: &[String]) -> ArrowSchema {
    let columns = names.iter().map(|name| arrow::create_schema("l", name, Vec::new())).collect();
    arrow::create_schema("+s", "", columns)
}

/// The capsules of an Arrow schema and an array.
pub(super) type ArrayCapsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// Return the capsules of an Arrow schema and an array.
pub(super) fn array_capsules(
    py: Python<'_>,
    schema: ArrowSchema,
    array: ArrowArray,
) -> PyResult<ArrayCapsules<'_>> {
    Ok((
        PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
        PyCapsule::new_with_value(py, array, c"arrow_array")?,
    ))
}

/// Shape and strides of numbers in C order, for the buffer protocol. A flat list does not use the
/// second entries.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct BufferLayout {
    /// The lengths of the dimensions.
    pub shape: [isize; 2],
    strides: [isize; 2],
    /// The number of dimensions.
    pub dimensions: usize,
}

impl BufferLayout {
    /// Return the layout of `count` numbers of `size` bytes: a matrix of the given width, or a flat
    /// list.
    pub fn new(count: usize, width: Option<usize>, size: usize) -> Self {
        let columns = width.unwrap_or(1);
        let rows = count.checked_div(columns).unwrap_or(0);
        Self {
            shape: [rows, columns].map(|length| length as isize),
            strides: [size * columns, size].map(|stride| stride as isize),
            dimensions: if width.is_some() { 2 } else { 1 },
        }
    }
}

/// Describe a read-only buffer of numbers in `view`.
///
/// # Safety
/// `view` must be null, or a view that the interpreter passes to be filled in. `values` and `layout`
/// must live as long as `owner`, without moving.
pub(super) unsafe fn fill_buffer<T>(
    owner: &Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
    values: &[T],
    format: &'static std::ffi::CStr,
    layout: &BufferLayout,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("the view is null"));
    }
    let is_requested = |flag: c_int| flags & flag == flag;
    let BufferLayout { shape, strides, dimensions } = layout;
    // C and Fortran order are identical if at most one dimension is longer than 1.
    let is_any_order =
        values.is_empty() || shape[..*dimensions].iter().filter(|&&length| length > 1).count() <= 1;
    let problem = if is_requested(ffi::PyBUF_WRITABLE) {
        Some("the buffer is read-only")
    } else if is_requested(ffi::PyBUF_F_CONTIGUOUS) && !is_any_order {
        Some("the buffer has C order, not Fortran order")
    } else if is_requested(ffi::PyBUF_FORMAT) && !is_requested(ffi::PyBUF_ND) {
        Some("a format requires a shape (PyBUF_ND)")
    } else {
        None
    };
    if let Some(problem) = problem {
        // SAFETY: the interpreter passes a view to be filled, and treats a view without an object
        // as empty.
        unsafe { (*view).obj = std::ptr::null_mut() };
        return Err(PyBufferError::new_err(problem));
    }
    // SAFETY: the interpreter passes a view to be filled; its pointers live as long as the owner.
    unsafe {
        (*view).obj = owner.clone().into_ptr();
        (*view).buf = values.as_ptr().cast_mut().cast::<c_void>();
        (*view).len = size_of_val(values) as isize;
        (*view).readonly = 1;
        let null = std::ptr::null_mut();
        let has_format = is_requested(ffi::PyBUF_FORMAT);
        (*view).format = if has_format { format.as_ptr().cast_mut() } else { null };
        // Without a shape, the buffer is a flat sequence of bytes.
        let has_shape = is_requested(ffi::PyBUF_ND);
        (*view).itemsize = if has_shape { size_of::<T>() as isize } else { 1 };
        (*view).ndim = if has_shape { *dimensions as c_int } else { 1 };
        let null = std::ptr::null_mut();
        (*view).shape = if has_shape { shape.as_ptr().cast_mut() } else { null };
        let has_strides = is_requested(ffi::PyBUF_STRIDES);
        (*view).strides = if has_strides { strides.as_ptr().cast_mut() } else { null };
        (*view).suboffsets = null;
        (*view).internal = std::ptr::null_mut();
    }
    Ok(())
}

/// Scores, one per segment, as 64-bit floats.
#[pyclass(frozen, module = "truebleu", sequence)]
pub struct Scores {
    values: Vec<f64>,
    layout: BufferLayout,
}

impl Scores {
    /// Create a column of scores.
    pub fn new(values: Vec<f64>) -> Self {
        let layout = BufferLayout::new(values.len(), None, 8);
        Self { values, layout }
    }

    /// Return the scores.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Return the scores as an Arrow array.
    fn to_arrow(&self) -> ArrowArray {
        arrow::number_column(self.values.clone())
    }
}

#[pymethods]
impl Scores {
    #[new]
    fn python_new(values: LongSequence<f64>) -> Self {
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
            let selected =
                (0..indices.slicelength as isize).map(|i| self.values[(start + i * step) as usize]);
            return Ok(Bound::new(py, Self::new(selected.collect()))?.into_any());
        }
        let index: isize = index.extract()?;
        let length = self.values.len() as isize;
        let position = if index < 0 { index + length } else { index };
        match usize::try_from(position).ok().and_then(|position| self.values.get(position)) {
            Some(value) => Ok(value.into_pyobject(py)?.into_any()),
            None => Err(PyIndexError::new_err(format!(
                "segment index {index} out of range for {length} segments"
            ))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        create_list(py, &self.values)?.try_iter()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        if let Ok(scores) = other.cast::<Self>() {
            return self.values == scores.get().values;
        }
        other.extract::<Vec<f64>>().is_ok_and(|values| self.values == values)
    }

    fn __repr__(&self) -> String {
        let first: Vec<_> = self.values.iter().take(4).map(|score| format!("{score:.2}")).collect();
        let ellipsis = if self.values.len() > 4 { ", …" } else { "" };
        format!("Scores({} segments: [{}{ellipsis}])", self.values.len(), first.join(", "))
    }

    /// Return the scores as a list of floats.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        create_list(py, &self.values)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyList>,))> {
        Ok((slf.get_type().into_any(), (create_list(slf.py(), &slf.get().values)?,)))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<ArrayCapsules<'py>> {
        let _ = requested_schema;
        array_capsules(py, arrow::create_schema("g", "score", Vec::new()), self.to_arrow())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = arrow::single_array_stream(
            || arrow::create_schema("g", "score", Vec::new()),
            self.to_arrow(),
        );
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let scores = slf.get();
        // SAFETY: the scores are frozen, and the buffer holds a reference to them.
        unsafe { fill_buffer(slf.as_any(), view, flags, &scores.values, c"d", &scores.layout) }
    }
}
