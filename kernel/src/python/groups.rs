//! Totals of groups for Python: rows of a table in, the table of a state out.

use super::metrics::{self, Metric};
use super::run::{MOST_WORKERS, interruptible};
use super::sources::Given;
use super::stopped;
use super::table::Table;
use crate::arrow::key::{KeyType, decimal, float, integer, signed};
use crate::arrow::rows;
use crate::columns::{Rules, too_large};
use crate::count::{Batch, Count, Summary, Worker};
use crate::error::Error;
use crate::groups::count::{Found, Plan, run, workers};
use crate::groups::group_sums::{self, Counts, Groups as Totals};
use crate::groups::state_table::{self, Metrics};
use crate::interrupt::Work;
use crate::text_batches::{Block, Foreign};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyList, PyString, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

/// The bucket of an id: of a string's UTF-8, or of an integer's eight little-endian bytes.
#[pyfunction]
pub fn bucket(identity: &Bound<'_, PyAny>, buckets: u64) -> PyResult<u64> {
    if buckets == 0 {
        return Err(PyValueError::new_err("no buckets"));
    }
    if let Ok(text) = identity.cast::<PyString>() {
        return super::with_utf8(text, |bytes| group_sums::bucket(bytes, buckets));
    }
    if let Ok(bytes) = identity.cast::<PyBytes>() {
        return Ok(group_sums::bucket(bytes.as_bytes(), buckets));
    }
    // Those of two signs in 64 bits, as Arrow's integers are.
    let number = identity.extract::<i64>().map(i64::to_le_bytes);
    let number = number.or_else(|_| identity.extract::<u64>().map(u64::to_le_bytes))?;
    Ok(group_sums::bucket(&number, buckets))
}

/// A table of another program. It can be read once.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Frame {
    frame: Mutex<Option<rows::Frame>>,
    names: Vec<String>,
}

#[pymethods]
impl Frame {
    /// The table an object gives by the Arrow PyCapsule protocol. `name` is for messages.
    #[new]
    fn new(table: &Bound<'_, PyAny>, name: String) -> PyResult<Self> {
        let frame = match Given::by(table)? {
            Given::Stream(stream) => rows::Frame::from_stream(name, stream)?,
            Given::Array(schema, array) => rows::Frame::from_array(name, schema, array)?,
        };
        let names = frame.names();
        Ok(Self { frame: Mutex::new(Some(frame)), names })
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

impl Frame {
    fn take(&self) -> PyResult<rows::Frame> {
        let taken = self.frame.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| PyRuntimeError::new_err("this table has been read already"))
    }
}

/// A metric whose rows Python counts: `call(hypotheses, references)` gives a table.
struct Called {
    call: Py<PyAny>,
    width: usize,
}

impl Count for Called {
    fn width(&self) -> usize {
        self.width
    }

    fn worker(self: Arc<Self>) -> Box<dyn Worker> {
        Box::new(Calling { called: self, rows: Vec::new() })
    }
}

struct Calling {
    called: Arc<Called>,
    rows: Vec<i64>,
}

/// The texts of one stream, the hypotheses' being 0.
fn texts<'a>(batch: &'a Batch<'_>, stream: usize) -> Result<Vec<Option<&'a str>>, Error> {
    let block = if stream == 0 { batch.hypotheses } else { &batch.references[stream - 1] };
    let Block::Segments { segments, .. } = block else {
        return Err(Error::Input("rows of a table must be texts in memory".into()));
    };
    let mut texts = Vec::with_capacity(segments.len());
    for (i, segment) in segments.iter().enumerate() {
        let bytes = segment.as_ref().map(Foreign::bytes);
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

impl Worker for Calling {
    fn count(&mut self, batch: &Batch<'_>, _: &mut Summary) -> Result<&[i64], Error> {
        let texts = |stream: usize| texts(batch, stream);
        let hypotheses = texts(0)?;
        let references = (1..=batch.references.len()).map(texts).collect::<Result<Vec<_>, _>>()?;
        let Self { called, rows } = self;
        Python::attach(|py| -> PyResult<()> {
            let of_row = (0..batch.count)
                .map(|i| PyList::new(py, references.iter().filter_map(|stream| stream[i])));
            // Tuples inside are never mistaken for streams of references.
            let of_row = of_row.map(|list| Ok(list?.to_tuple())).collect::<PyResult<Vec<_>>>()?;
            let hypotheses = PyList::new(py, hypotheses.iter().flatten())?;
            let table = called.call.bind(py).call1((hypotheses, PyList::new(py, of_row)?))?;
            let table = table.cast::<Table>()?.get();
            if table.width() != called.width || table.values().len() != batch.count * called.width {
                return Err(PyValueError::new_err("the table returned has another shape"));
            }
            rows.clear();
            rows.extend_from_slice(table.values());
            Ok(())
        })
        .map_err(stopped)?;
        Ok(&self.rows)
    }
}

/// The names of columns, the numbers of those that may be below 0, and what limits others: the parts
/// of `Rules`.
type Named = (Vec<String>, Vec<usize>, Vec<(usize, u64, usize)>);

/// Totals of groups, and the columns they are made of.
#[pyclass(module = "truebleu._kernel")]
pub struct Groups {
    plan: Plan,
    metrics: Metrics,
    counter: Arc<dyn Count>,
    /// True if Python counts for one of them.
    calls: bool,
    groups: Totals,
    rows: u64,
    first_null: Option<u64>,
    idle: Mutex<Vec<Box<dyn Worker>>>,
}

#[pymethods]
impl Groups {
    /// No groups yet. `metrics` has each metric's fingerprint, what its columns are, and the
    /// metric itself or what makes a table of hypotheses and references.
    #[new]
    #[pyo3(signature = (metrics, hypothesis, references, by, bucket, by_row=false))]
    fn new(
        metrics: Vec<(String, Named, Bound<'_, PyAny>)>,
        hypothesis: String,
        references: Vec<String>,
        by: Vec<String>,
        bucket: Option<(String, u64)>,
        by_row: bool,
    ) -> PyResult<Self> {
        if bucket
            .as_ref()
            .is_some_and(|(_, buckets)| *buckets == 0 || i64::try_from(*buckets).is_err())
        {
            return Err(PyValueError::new_err("bucket: expected at least 1 bucket"));
        }
        let mut counters: Vec<Arc<dyn Count>> = Vec::new();
        let mut described = Vec::new();
        let mut calls = false;
        for (fingerprint, (names, signed, limits), metric) in metrics {
            let rules = Rules { names, signed, limits };
            rules.check()?;
            counters.push(match metric.cast::<Metric>() {
                Ok(metric) => metric.get().counter()?,
                Err(_) => {
                    calls = true;
                    Arc::new(Called { call: metric.unbind(), width: rules.names.len() })
                }
            });
            described.push((fingerprint, rules));
        }
        let counter = metrics::joined(counters);
        let metrics = Metrics(described);
        if counter.width() != metrics.width() || metrics.0.is_empty() {
            return Err(PyValueError::new_err("the metrics have other widths"));
        }
        let plan = Plan { hypothesis, references, by, bucket, by_row };
        let groups = Totals::new(plan.keys(), metrics.width());
        let idle = Mutex::default();
        Ok(Self { plan, metrics, counter, calls, groups, rows: 0, first_null: None, idle })
    }

    /// Adds the rows of a table, all or none.
    fn update(&mut self, py: Python<'_>, frame: &Frame, workers: usize) -> PyResult<()> {
        let frame = frame.take()?;
        let Self { plan, groups, counter, calls, idle, .. } = self;
        let idle = idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        // What others wrote runs in the thread that called, and nowhere else.
        let workers = if *calls { 1 } else { workers.clamp(1, MOST_WORKERS) };
        let found = interruptible(py, || -> Result<Found, Error> {
            idle.extend(self::workers(counter, workers.saturating_sub(idle.len())));
            let found = run(plan, groups.width(), frame, &mut idle[..workers])?;
            groups.merge(&found.groups)?;
            Ok(found)
        })??;
        if self.first_null.is_none() {
            self.first_null = found.first_null.map(|row| self.rows + row);
        }
        self.rows += found.rows;
        Ok(())
    }

    /// Adds the rows of a table of states, all or none.
    fn read(&mut self, py: Python<'_>, frame: &Frame) -> PyResult<()> {
        let frame = frame.take()?;
        let Self { plan, groups, metrics, .. } = self;
        Ok(interruptible(py, || {
            let bucketed = plan.bucket.is_some();
            groups.merge(&state_table::read(frame, &plan.keys(), bucketed, metrics)?)
        })??)
    }

    /// Adds the groups of another, all or none.
    fn merge(&mut self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<()> {
        let (own, theirs) = (&mut self.groups, &other.groups);
        Ok(interruptible(py, || own.merge(theirs))??)
    }

    fn __len__(&self) -> usize {
        self.groups.len()
    }

    /// The first row with a null that this one has read, counted from 1.
    #[getter]
    fn first_null(&self) -> Option<u64> {
        self.first_null
    }

    /// The segments, the rows without a hypothesis, the rows without a reference; the fewest and
    /// the most references of a segment: of all groups.
    fn counted(&self, py: Python<'_>) -> PyResult<Counted> {
        let groups = &self.groups;
        let counts = interruptible(py, || {
            let mut work = Work::default();
            let counts = (0..groups.len()).inspect(|_| work.done(4));
            counts.map(|group| *groups.counts(group)).try_fold(Counts::NONE, Counts::plus)
        })?;
        Ok(counted(&counts.ok_or_else(too_large)?))
    }

    /// For each group, in canonical order: the entries of its key, and what `counted` gives.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyTuple>, Counted)>> {
        let groups = &self.groups;
        let ordered = interruptible(py, || groups.ordered())?;
        let each = ordered.into_iter().enumerate().map(|(i, group)| {
            if i % (1 << 12) == 0 {
                py.check_signals()?;
            }
            let key: Vec<_> = groups
                .entries(group)
                .map(|(of, entry)| value(py, of, entry))
                .collect::<PyResult<_>>()?;
            Ok((PyTuple::new(py, key)?, counted(groups.counts(group))))
        });
        each.collect()
    }

    /// The formats of the keys, as Arrow has them; None before anything was read.
    #[getter]
    fn formats(&self) -> Option<Vec<String>> {
        let types = self.groups.types.as_ref()?;
        Some(types.iter().map(|of| of.format(false)).collect())
    }

    /// The totals of one metric, one row per group in canonical order.
    fn statistics(&self, py: Python<'_>, metric: usize) -> PyResult<Table> {
        let part = self.metrics.part(metric).ok_or_else(|| PyIndexError::new_err("no metric"))?;
        let (width, groups) = (part.len(), &self.groups);
        let values = interruptible(py, || {
            let mut work = Work::default();
            let rows = groups.ordered().into_iter().inspect(|_| work.done(8 + width));
            rows.flat_map(|group| groups.totals(group)[part.clone()].iter().copied()).collect()
        })?;
        Ok(Table::new(values, width))
    }

    /// Some of the groups, by their place in canonical order, by some columns of their keys: those
    /// that differ in others alone are added up. Buckets, if they are there, are the last column.
    fn rolled_up(&self, py: Python<'_>, chosen: Vec<usize>, columns: Vec<usize>) -> PyResult<Self> {
        let groups = &self.groups;
        let named = groups.names.len();
        if columns.iter().any(|&column| column >= named)
            || chosen.iter().any(|&place| place >= groups.len())
        {
            return Err(PyIndexError::new_err("no such column, or no such group"));
        }
        let mut plan = self.plan.clone();
        plan.by = columns.iter().filter_map(|&column| self.plan.by.get(column).cloned()).collect();
        plan.bucket = plan.bucket.filter(|_| columns.contains(&self.plan.by.len()));
        let groups = interruptible(py, || {
            let ordered = groups.ordered();
            let chosen: Vec<_> = chosen.iter().map(|&place| ordered[place]).collect();
            groups.rolled_up(&chosen, &columns)
        })??;
        let (metrics, counter) = (self.metrics.clone(), Arc::clone(&self.counter));
        let (rows, first_null, idle) = (self.rows, self.first_null, Mutex::default());
        Ok(Self { plan, metrics, counter, calls: self.calls, groups, rows, first_null, idle })
    }

    /// Where each row is a group: the statistics of those that have text, and a byte for each row,
    /// 1 if it has.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<(Table, Bound<'py, PyBytes>)> {
        let groups = &self.groups;
        let (values, there) = interruptible(py, || {
            let mut work = Work::default();
            let (mut values, mut there) = (Vec::new(), Vec::with_capacity(groups.len()));
            for group in groups.ordered() {
                work.done(8 + groups.width());
                let segments = groups.counts(group).segments;
                there.push(u8::from(segments > 0));
                if segments > 0 {
                    values.extend_from_slice(groups.totals(group));
                }
            }
            (values, there)
        })?;
        Ok((Table::new(values, groups.width()), PyBytes::new(py, &there)))
    }

    /// The groups in canonical order as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let groups = &self.groups;
        Ok(PyBytes::new(py, &interruptible(py, || state_table::to_bytes(groups))?))
    }

    /// Adds groups that `to_bytes` wrote, whose keys have these formats.
    fn read_bytes(
        &mut self,
        py: Python<'_>,
        formats: Option<Vec<String>>,
        data: &[u8],
    ) -> PyResult<()> {
        let damaged = || Error::Input("these bytes are not sums: keys of an unknown type".into());
        let types = match formats {
            None => None,
            Some(formats) => {
                let types = formats.iter().map(|format| KeyType::parse(format));
                Some(types.collect::<Option<Vec<_>>>().ok_or_else(damaged)?)
            }
        };
        let Self { plan, groups, metrics, .. } = self;
        Ok(interruptible(py, || {
            groups.merge(&state_table::from_bytes(&plan.keys(), types, metrics, data)?)
        })??)
    }

    /// The table of the state as an Arrow array of structures: schema and array.
    fn arrow_array<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let (schema, array) = self.table(py)?.structure();
        capsules(py, schema, array)
    }

    /// A table of scores as an Arrow stream of one batch: of the groups at these places in
    /// canonical order the key, the score, the segments, and columns of text.
    fn scored<'py>(
        &self,
        py: Python<'py>,
        places: Vec<usize>,
        scores: Vec<f64>,
        beside: Vec<(String, Vec<String>)>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let groups = &self.groups;
        let lengths = beside.iter().map(|(_, values)| values.len());
        if lengths.chain([scores.len()]).any(|length| length != places.len())
            || places.iter().any(|&place| place >= groups.len())
        {
            return Err(PyValueError::new_err("columns of other lengths, or no such group"));
        }
        let table = interruptible(py, || {
            let ordered = groups.ordered();
            let chosen: Vec<_> = places.iter().map(|&place| ordered[place]).collect();
            state_table::Table::of_scores(groups, &chosen, scores, &beside)
        })??;
        PyCapsule::new_with_value(py, table.stream(), c"arrow_array_stream")
    }

    /// The table of the state as an Arrow stream of one batch.
    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.table(py)?.stream(), c"arrow_array_stream")
    }
}

impl Groups {
    fn table(&self, py: Python<'_>) -> PyResult<state_table::Table> {
        let (groups, metrics) = (&self.groups, &self.metrics);
        Ok(interruptible(py, || state_table::Table::new(groups, metrics))??)
    }
}

/// A table of one column as an Arrow array of structures: `scores`, which stand where `there` is 1.
#[pyfunction]
pub fn scores_of_rows<'py>(
    py: Python<'py>,
    scores: Vec<f64>,
    there: &[u8],
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let valid: Vec<_> = there.iter().map(|&byte| byte == 1).collect();
    let mut given = scores.into_iter();
    let each = valid.iter().map(|&valid| if valid { given.next() } else { Some(0.0) });
    let each: Option<Vec<_>> = each.collect();
    let each = each.filter(|_| given.next().is_none());
    let each =
        each.ok_or_else(|| PyValueError::new_err("another number of scores than of rows"))?;
    let (schema, array) = state_table::Table::of_rows(each.into_iter(), &valid).structure();
    capsules(py, schema, array)
}

/// An Arrow array, with its schema before it.
fn capsules(
    py: Python<'_>,
    schema: crate::arrow::ArrowSchema,
    array: crate::arrow::ArrowArray,
) -> PyResult<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)> {
    Ok((
        PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
        PyCapsule::new_with_value(py, array, c"arrow_array")?,
    ))
}

/// Segments, rows without a hypothesis, rows without a reference; the fewest and the most references
/// of a segment.
type Counted = (i64, i64, i64, Option<(i32, i32)>);

fn counted(counts: &Counts) -> Counted {
    let Counts { segments, null_hypotheses, null_references, references } = *counts;
    (segments, null_hypotheses, null_references, references)
}

/// A key as Python has it: numbers, decimals, strings, truth values; dates as days, times as
/// microseconds.
fn value<'py>(py: Python<'py>, of: &KeyType, entry: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let Some(value) = of.value(entry) else {
        return Ok(py.None().into_bound(py));
    };
    Ok(match of {
        KeyType::Null => py.None().into_bound(py),
        KeyType::Boolean => PyBool::new(py, value == [1]).to_owned().into_any(),
        KeyType::Integer(_) => integer(value).into_pyobject(py)?.into_any(),
        KeyType::Float(_) => float(value).into_pyobject(py)?.into_any(),
        KeyType::Date | KeyType::Time(_) => signed(value).into_pyobject(py)?.into_any(),
        KeyType::Decimal => {
            let (mantissa, scale) = decimal(value);
            let made = format!("{mantissa}E-{scale}");
            py.import("decimal")?.getattr("Decimal")?.call1((made,))?
        }
        KeyType::Fixed(_) | KeyType::Binary => PyBytes::new(py, value).into_any(),
        KeyType::Text => PyString::new(py, &String::from_utf8_lossy(value)).into_any(),
    })
}
