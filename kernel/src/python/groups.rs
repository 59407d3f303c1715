//! Grouping for Python, which turns the rows of a table into a table of aggregated statistics.

use super::metrics::{self, Metric};
use super::require;
use super::run::{MAX_WORKERS, interruptible};
use super::sources::take_arrow_input;
use super::table::{ArrayCapsules, Table, array_capsules};
use crate::arrow::key::{KeyType, read_decimal, read_float, read_integer_value, read_signed};
use crate::arrow::rows;
use crate::columns::{ColumnRules, overflow_error};
use crate::count::{Batch, Count, Summary, Worker};
use crate::error::Error;
use crate::groups::count::{ColumnRoles, GroupedTable, count_table, create_workers};
use crate::groups::group_sums::{self, GroupSums as Totals, RowCounts};
use crate::groups::state_table::{self, StateMetrics};
use crate::interrupt::{Work, lock};
use crate::text_batches::{Block, BorrowedSegment};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyList, PyString, PyTuple};
use std::sync::{Arc, Mutex};

/// Return the hash bucket for an id. Strings are hashed as UTF-8, and integers as eight
/// little-endian bytes.
#[pyfunction]
pub fn bucket(identity: &Bound<'_, PyAny>, buckets: u64) -> PyResult<u64> {
    require(buckets > 0, "buckets must be at least 1")?;
    if let Ok(text) = identity.cast::<PyString>() {
        return super::with_utf8(text, |bytes| group_sums::hash_bucket(bytes, buckets));
    }
    if let Ok(bytes) = identity.cast::<PyBytes>() {
        return Ok(group_sums::hash_bucket(bytes.as_bytes(), buckets));
    }
    // Arrow's integers are signed or unsigned and have at most 64 bits.
    let number = identity.extract::<i64>().map(i64::to_le_bytes);
    let number = number.or_else(|_| identity.extract::<u64>().map(u64::to_le_bytes))?;
    Ok(group_sums::hash_bucket(&number, buckets))
}

/// A table from another program, which can be read once.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Frame {
    frame: Mutex<Option<rows::TableReader>>,
    names: Vec<String>,
}

#[pymethods]
impl Frame {
    /// Wrap a table that implements the Arrow PyCapsule protocol. Error messages contain `name`.
    #[new]
    fn new(table: &Bound<'_, PyAny>, name: String) -> PyResult<Self> {
        let frame = rows::TableReader::new(name, take_arrow_input(table)?)?;
        let names = frame.column_names();
        Ok(Self { frame: Mutex::new(Some(frame)), names })
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

impl Frame {
    fn take(&self) -> PyResult<rows::TableReader> {
        let reader = lock(&self.frame).take();
        reader.ok_or_else(|| PyRuntimeError::new_err("this table has already been read"))
    }
}

/// A metric whose rows a Python function counts: `call(hypotheses, references)` returns a table.
struct PythonCounter {
    call: Py<PyAny>,
    width: usize,
}

impl Count for PythonCounter {
    fn width(&self) -> usize {
        self.width
    }

    fn worker(self: Arc<Self>) -> Box<dyn Worker> {
        Box::new(PythonWorker { counter: self, rows: Vec::new() })
    }
}

struct PythonWorker {
    counter: Arc<PythonCounter>,
    rows: Vec<i64>,
}

/// Return the texts of one stream. Stream 0 contains the hypotheses.
fn stream_texts<'a>(batch: &'a Batch<'_>, stream: usize) -> Result<Vec<Option<&'a str>>, Error> {
    let block = if stream == 0 { batch.hypotheses } else { &batch.references[stream - 1] };
    let Block::Segments { segments, .. } = block else {
        return Err(Error::Input("expected texts in memory".into()));
    };
    let mut texts = Vec::with_capacity(segments.len());
    for (i, segment) in segments.iter().enumerate() {
        let bytes = segment.as_ref().map(BorrowedSegment::bytes);
        let text = bytes.map(std::str::from_utf8).transpose().map_err(|error| Error::Utf8 {
            input: batch.names.0[stream].clone(),
            segment: batch.first + i as u64 + 1,
            offset: None,
            byte: bytes.map_or(0, |bytes| bytes[error.valid_up_to()]),
        })?;
        texts.push(text);
    }
    Ok(texts)
}

impl Worker for PythonWorker {
    fn count(&mut self, batch: &Batch<'_>, _: &mut Summary) -> Result<&[i64], Error> {
        let texts_of_stream = |stream: usize| stream_texts(batch, stream);
        let hypotheses = texts_of_stream(0)?;
        let references =
            (1..=batch.references.len()).map(texts_of_stream).collect::<Result<Vec<_>, _>>()?;
        let Self { counter, rows } = self;
        Python::attach(|py| -> PyResult<()> {
            let references_by_row = (0..batch.count)
                .map(|i| PyList::new(py, references.iter().filter_map(|stream| stream[i])));
            // A tuple contains one segment's references, whereas a list might be a stream of
            // references.
            let reference_tuples =
                references_by_row.map(|list| Ok(list?.to_tuple())).collect::<PyResult<Vec<_>>>()?;
            let hypotheses = PyList::new(py, hypotheses.iter().flatten())?;
            let table =
                counter.call.bind(py).call1((hypotheses, PyList::new(py, reference_tuples)?))?;
            let table = table.cast::<Table>()?.get();
            let shape = (table.width(), table.values().len());
            let has_shape = shape == (counter.width, batch.count * counter.width);
            require(has_shape, "the returned table has an unexpected shape")?;
            rows.clear();
            rows.extend_from_slice(table.values());
            Ok(())
        })?;
        Ok(&self.rows)
    }
}

/// The parts of `ColumnRules`: the column names, the signed columns, and the limits.
type RuleParts = (Vec<String>, Vec<usize>, Vec<(usize, u64, usize)>);

/// Aggregated statistics per group, and the settings for counting.
#[pyclass(module = "truebleu._kernel")]
pub struct Groups {
    plan: ColumnRoles,
    metrics: StateMetrics,
    counter: Arc<dyn Count>,
    /// Whether a Python function counts the rows of at least one metric.
    calls: bool,
    groups: Totals,
    rows: u64,
    first_null: Option<u64>,
    idle: Mutex<Vec<Box<dyn Worker>>>,
}

#[pymethods]
impl Groups {
    /// Create an empty collection. Each item of `metrics` consists of a fingerprint, column rules,
    /// and a metric or a function that returns a table for hypotheses and references.
    #[new]
    #[pyo3(signature = (metrics, hypothesis, references, by, bucket, *, source=None, by_row=false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        metrics: Vec<(String, RuleParts, Bound<'_, PyAny>)>,
        hypothesis: String,
        references: Vec<String>,
        by: Vec<String>,
        bucket: Option<(String, u64)>,
        source: Option<String>,
        by_row: bool,
    ) -> PyResult<Self> {
        let has_valid_count =
            |(_, buckets): &(String, u64)| (1..=i64::MAX as u64).contains(buckets);
        let is_valid = bucket.as_ref().is_none_or(has_valid_count);
        require(is_valid, "bucket: expected at least 1 bucket")?;
        let mut counters: Vec<Arc<dyn Count>> = Vec::new();
        let mut metric_rules = Vec::new();
        let mut calls = false;
        for (fingerprint, (names, signed, limits), metric) in metrics {
            let rules = ColumnRules { names, signed, limits };
            rules.check()?;
            counters.push(match metric.cast::<Metric>() {
                Ok(metric) => metric.get().counter()?,
                Err(_) => {
                    calls = true;
                    Arc::new(PythonCounter { call: metric.unbind(), width: rules.names.len() })
                }
            });
            metric_rules.push((fingerprint, rules));
        }
        let counter = metrics::combine_counters(counters);
        let metrics = StateMetrics(metric_rules);
        let is_consistent = counter.width() == metrics.width() && !metrics.0.is_empty();
        require(is_consistent, "the metrics do not match their column names")?;
        let plan = ColumnRoles {
            hypothesis,
            references,
            source,
            group_columns: by,
            bucket_column: bucket,
            by_row,
        };
        let groups = Totals::new(plan.key_names(), metrics.width());
        let idle = Mutex::default();
        Ok(Self { plan, metrics, counter, calls, groups, rows: 0, first_null: None, idle })
    }

    /// Add all rows of a table. After an error, no row has been added.
    fn update(&mut self, py: Python<'_>, frame: &Frame, workers: usize) -> PyResult<()> {
        let frame = frame.take()?;
        let Self { plan, groups, counter, calls, idle, .. } = self;
        let idle = &mut *lock(idle);
        // Foreign code runs only in the calling thread.
        let workers = if *calls { 1 } else { workers.clamp(1, MAX_WORKERS) };
        let grouped = interruptible(py, || -> Result<GroupedTable, Error> {
            idle.extend(self::create_workers(counter, workers.saturating_sub(idle.len())));
            let found = count_table(plan, groups.width(), frame, &mut idle[..workers])?;
            groups.merge(&found.groups)?;
            Ok(found)
        })??;
        if self.first_null.is_none() {
            self.first_null = grouped.first_null.map(|row| self.rows + row);
        }
        self.rows += grouped.rows;
        Ok(())
    }

    /// Add all rows of a state table. After an error, no row has been added.
    fn read(&mut self, py: Python<'_>, frame: &Frame) -> PyResult<()> {
        let frame = frame.take()?;
        let Self { plan, groups, metrics, .. } = self;
        Ok(interruptible(py, || {
            let has_bucket = plan.bucket_column.is_some();
            groups.merge(&state_table::read_state_table(
                frame,
                &plan.key_names(),
                has_bucket,
                metrics,
            )?)
        })??)
    }

    /// Add all groups of another collection. After an error, no group has been added.
    fn merge(&mut self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<()> {
        let (sums, other_sums) = (&mut self.groups, &other.groups);
        Ok(interruptible(py, || sums.merge(other_sums))??)
    }

    fn __len__(&self) -> usize {
        self.groups.len()
    }

    /// The first row that contains a null, counted from 1.
    #[getter]
    fn first_null(&self) -> Option<u64> {
        self.first_null
    }

    /// Return the counts over all groups: segments, rows without a hypothesis, rows without a
    /// reference, and the smallest and largest number of references.
    fn counted(&self, py: Python<'_>) -> PyResult<CountTuple> {
        let groups = &self.groups;
        let counts = interruptible(py, || {
            let mut work = Work::default();
            let counts = (0..groups.len()).inspect(|_| work.add(4));
            counts
                .map(|group| *groups.counts_of_group(group))
                .try_fold(RowCounts::EMPTY, RowCounts::checked_add)
        })?;
        Ok(count_tuple(&counts.ok_or_else(overflow_error)?))
    }

    /// Return the key entries and the counts of each group, in canonical order.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyTuple>, CountTuple)>> {
        let groups = &self.groups;
        let ordered = interruptible(py, || groups.ordered_groups())?;
        let entries = ordered.into_iter().enumerate().map(|(i, group)| {
            if i % (1 << 12) == 0 {
                py.check_signals()?;
            }
            let key: Vec<_> = groups
                .key_entries(group)
                .map(|(key_type, entry)| decode_entry(py, key_type, entry))
                .collect::<PyResult<_>>()?;
            Ok((PyTuple::new(py, key)?, count_tuple(groups.counts_of_group(group))))
        });
        entries.collect()
    }

    /// The formats of the keys in Arrow's notation, or None if nothing has been read.
    #[getter]
    fn formats(&self) -> Option<Vec<String>> {
        let types = self.groups.types.as_ref()?;
        Some(types.iter().map(|key_type| key_type.format(false)).collect())
    }

    /// Return the sums of one metric, one row per group in canonical order.
    fn statistics(&self, py: Python<'_>, metric: usize) -> PyResult<Table> {
        let metric_columns = self
            .metrics
            .metric_columns(metric)
            .ok_or_else(|| PyIndexError::new_err("metric index out of range"))?;
        let (width, groups) = (metric_columns.len(), &self.groups);
        let values = interruptible(py, || {
            let mut work = Work::default();
            let rows = groups.ordered_groups().into_iter().inspect(|_| work.add(8 + width));
            rows.flat_map(|group| {
                groups.sums_of_group(group)[metric_columns.clone()].iter().copied()
            })
            .collect()
        })?;
        Ok(Table::new(values, width))
    }

    /// Return the groups at these positions in the canonical order, with only these key columns.
    /// Groups with equal keys are merged, and their sums are added. A bucket column, if any, is the
    /// last column.
    fn rolled_up(&self, py: Python<'_>, chosen: Vec<usize>, columns: Vec<usize>) -> PyResult<Self> {
        let groups = &self.groups;
        let column_count = groups.names.len();
        if columns.iter().any(|&column| column >= column_count)
            || chosen.iter().any(|&position| position >= groups.len())
        {
            return Err(PyIndexError::new_err("column or group index out of range"));
        }
        let mut plan = self.plan.clone();
        plan.group_columns = columns
            .iter()
            .filter_map(|&column| self.plan.group_columns.get(column).cloned())
            .collect();
        plan.bucket_column =
            plan.bucket_column.filter(|_| columns.contains(&self.plan.group_columns.len()));
        let groups = interruptible(py, || {
            let ordered = groups.ordered_groups();
            let chosen: Vec<_> = chosen.iter().map(|&position| ordered[position]).collect();
            groups.roll_up(&chosen, &columns)
        })??;
        let (metrics, counter) = (self.metrics.clone(), Arc::clone(&self.counter));
        let (rows, first_null, idle) = (self.rows, self.first_null, Mutex::default());
        Ok(Self { plan, metrics, counter, calls: self.calls, groups, rows, first_null, idle })
    }

    /// Return the statistics of all rows with text, for groups that consist of one row each. Also
    /// return one byte per row: 1 if the row has text, otherwise 0.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<(Table, Bound<'py, PyBytes>)> {
        let groups = &self.groups;
        let (values, has_text) = interruptible(py, || {
            let mut work = Work::default();
            let (mut values, mut has_text) = (Vec::new(), Vec::with_capacity(groups.len()));
            for group in groups.ordered_groups() {
                work.add(8 + groups.width());
                let segments = groups.counts_of_group(group).segments;
                has_text.push(u8::from(segments > 0));
                if segments > 0 {
                    values.extend_from_slice(groups.sums_of_group(group));
                }
            }
            (values, has_text)
        })?;
        Ok((Table::new(values, groups.width()), PyBytes::new(py, &has_text)))
    }

    /// Return the groups in canonical order as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let groups = &self.groups;
        Ok(PyBytes::new(py, &interruptible(py, || state_table::encode_groups(groups))?))
    }

    /// Add groups from the bytes that `to_bytes` returned, with keys of these formats.
    fn read_bytes(
        &mut self,
        py: Python<'_>,
        formats: Option<Vec<String>>,
        data: &[u8],
    ) -> PyResult<()> {
        let unknown_type_error = || Error::Input("invalid sums: a key has an unknown type".into());
        let types = match formats {
            None => None,
            Some(formats) => {
                let types = formats.iter().map(|format| KeyType::parse(format));
                Some(types.collect::<Option<Vec<_>>>().ok_or_else(unknown_type_error)?)
            }
        };
        let Self { plan, groups, metrics, .. } = self;
        Ok(interruptible(py, || {
            groups.merge(&state_table::decode_groups(&plan.key_names(), types, metrics, data)?)
        })??)
    }

    /// Return the state table as an Arrow array of structures (the schema and the array).
    fn arrow_array<'py>(&self, py: Python<'py>) -> PyResult<ArrayCapsules<'py>> {
        let (schema, array) = self.state_table(py)?.into_structure();
        array_capsules(py, schema, array)
    }

    /// Return a table of scores as an Arrow stream of one batch. It has one row for each of these
    /// positions in the canonical order: key, score, number of segments, and further columns of
    /// text.
    fn scored<'py>(
        &self,
        py: Python<'py>,
        places: Vec<usize>,
        scores: Vec<f64>,
        beside: Vec<(String, Vec<String>)>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let groups = &self.groups;
        let lengths = beside.iter().map(|(_, values)| values.len());
        let is_valid = lengths.chain([scores.len()]).all(|length| length == places.len())
            && places.iter().all(|&position| position < groups.len());
        require(is_valid, "columns have different lengths, or a group index is out of range")?;
        let table = interruptible(py, || {
            let ordered = groups.ordered_groups();
            let group_indices: Vec<_> = places.iter().map(|&position| ordered[position]).collect();
            state_table::StateTable::from_scores(groups, &group_indices, scores, &beside)
        })??;
        PyCapsule::new_with_value(py, table.into_stream(), c"arrow_array_stream")
    }

    /// Return the state table as an Arrow stream of one batch.
    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.state_table(py)?.into_stream(), c"arrow_array_stream")
    }
}

impl Groups {
    /// Return the state table.
    fn state_table(&self, py: Python<'_>) -> PyResult<state_table::StateTable> {
        let (groups, metrics) = (&self.groups, &self.metrics);
        Ok(interruptible(py, || state_table::StateTable::new(groups, metrics))??)
    }
}

/// Return a table with one column of scores as an Arrow array of structures. `scores` contains the
/// scores of the rows with text (where `has_text` is 1). Other rows are null.
#[pyfunction]
pub fn scores_of_rows<'py>(
    py: Python<'py>,
    scores: Vec<f64>,
    has_text: &[u8],
) -> PyResult<ArrayCapsules<'py>> {
    let is_valid: Vec<_> = has_text.iter().map(|&byte| byte == 1).collect();
    let mut remaining_scores = scores.into_iter();
    let column =
        is_valid.iter().map(|&valid| if valid { remaining_scores.next() } else { Some(0.0) });
    let row_scores: Option<Vec<_>> = column.collect();
    let row_scores = row_scores.filter(|_| remaining_scores.next().is_none());
    let row_scores = row_scores
        .ok_or_else(|| PyValueError::new_err("the number of scores does not match the rows"))?;
    let table = state_table::StateTable::from_row_scores(row_scores.into_iter(), &is_valid);
    let (schema, array) = table.into_structure();
    array_capsules(py, schema, array)
}

/// The number of segments, the number of rows without a hypothesis, the number of rows without a
/// reference, and the smallest and largest number of references per segment.
type CountTuple = (i64, i64, i64, Option<(i32, i32)>);

fn count_tuple(counts: &RowCounts) -> CountTuple {
    let RowCounts { segments, null_hypotheses, null_references, references } = *counts;
    (segments, null_hypotheses, null_references, references)
}

/// Convert a key entry to a Python object. Dates become integers in days, and times become integers
/// in microseconds.
fn decode_entry<'py>(
    py: Python<'py>,
    key_type: &KeyType,
    entry: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let Some(value) = key_type.entry_value(entry) else {
        return Ok(py.None().into_bound(py));
    };
    Ok(match key_type {
        KeyType::Null => py.None().into_bound(py),
        KeyType::Boolean => PyBool::new(py, value == [1]).to_owned().into_any(),
        KeyType::Integer(_) => read_integer_value(value).into_pyobject(py)?.into_any(),
        KeyType::Float(_) => read_float(value).into_pyobject(py)?.into_any(),
        KeyType::Date | KeyType::Time(_) => read_signed(value).into_pyobject(py)?.into_any(),
        KeyType::Decimal => {
            let (mantissa, scale) = read_decimal(value);
            let decimal_text = format!("{mantissa}E-{scale}");
            py.import("decimal")?.getattr("Decimal")?.call1((decimal_text,))?
        }
        KeyType::Fixed(_) | KeyType::Binary => PyBytes::new(py, value).into_any(),
        KeyType::Text => PyString::new(py, &String::from_utf8_lossy(value)).into_any(),
    })
}
