//! Scans for Python, with progress reports, interrupts and results.

use super::table::Table;
use crate::corpus_warnings::{CharacterStatistics, InputWarnings};
use crate::count::{Count, Summary};
use crate::error::Error;
use crate::interrupt;
use crate::scan::{self, RowList, RowTotals};
use crate::scripts;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of threads of a run.
pub const MAX_WORKERS: usize = 1024;

/// Run `work` without the interpreter's lock, until it ends or a signal handler raises an
/// exception.
///
/// Handlers run in the main thread, so they cannot interrupt work in other threads.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    py.detach(|| interrupt::run(|| Ok(Python::attach(|py| py.check_signals())?), work))
}

/// Maximum number of bytes processed without handling interrupts, which takes tens of microseconds.
const MAX_UNINTERRUPTIBLE_BYTES: usize = 1 << 14;

/// Run `work` on a text of `bytes` bytes. If the text is long, make the work [`interruptible`].
pub fn run_on_text<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    if bytes > MAX_UNINTERRUPTIBLE_BYTES { interruptible(py, work) } else { Ok(work()) }
}

/// The items of a Python sequence of any length. Signals are handled while it is read.
pub struct LongSequence<T>(pub Vec<T>);

/// Number of Python objects created or read between two checks for signals.
const MAX_UNCHECKED_OBJECTS: usize = 1 << 14;

impl<'a, 'py, T: FromPyObjectOwned<'py>> FromPyObject<'a, 'py> for LongSequence<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let mut items = Vec::new();
        for item in object.try_iter()? {
            if items.len() % MAX_UNCHECKED_OBJECTS == 0 {
                object.py().check_signals()?;
            }
            items.push(item?.extract().map_err(Into::into)?);
        }
        Ok(Self(items))
    }
}

/// Create a Python list of any length. Signals are handled while it is created.
pub fn create_list<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    items: impl IntoIterator<Item = T>,
) -> PyResult<Bound<'py, PyList>> {
    let mut items = items.into_iter();
    let mut next_part =
        || PyList::new(py, items.by_ref().take(MAX_UNCHECKED_OBJECTS).collect::<Vec<_>>());
    let list = next_part()?;
    loop {
        py.check_signals()?;
        let part = next_part()?;
        if part.is_empty() {
            return Ok(list);
        }
        list.set_slice(list.len(), list.len(), &part)?;
    }
}

/// Return a function that handles signals and reports progress about 20 times per second.
pub fn signal_check(progress: Option<Py<PyAny>>) -> impl FnMut(u64) -> Result<(), Error> {
    let mut last = Instant::now();
    move |segments| {
        if last.elapsed() < Duration::from_millis(50) {
            return Ok(());
        }
        last = Instant::now();
        Python::attach(|py| {
            py.check_signals()?;
            Ok(progress.as_ref().map_or(Ok(()), |call| call.call1(py, (segments,)).map(drop))?)
        })
    }
}

/// Convert the summary of a run to a Python dict.
pub fn summary_dict<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let checks = &summary.checks;
    dict.set_item("segments", summary.segments)?;
    dict.set_item("references", summary.references)?;
    dict.set_item("tokenized", (checks.tokenized.count, checks.tokenized.first.clone()))?;
    dict.set_item("identical", checks.identical)?;
    dict.set_item("marked", checks.inputs_with_bom.clone())?;
    let empty = checks.inputs.iter().map(|input| (input.empty.count, input.empty.first.clone()));
    dict.set_item("empty", empty.collect::<Vec<_>>())?;
    let input_counts =
        |number: fn(&InputWarnings) -> u64| checks.inputs.iter().map(number).collect();
    let (decomposed, tabs): (Vec<u64>, Vec<u64>) =
        (input_counts(|input| input.decomposed), input_counts(|input| input.tabs));
    dict.set_item("decomposed", decomposed)?;
    dict.set_item("tabs", tabs)?;
    let letters_by_script = |statistics: &CharacterStatistics| {
        let letters =
            scripts::NAMES.into_iter().zip(statistics.letters).filter(|(_, count)| *count > 0);
        letters.into_py_dict(py)
    };
    let references = PyDict::new(py);
    let reference_statistics = &checks.reference_scripts;
    references.set_item("segments", reference_statistics.segments)?;
    references.set_item("characters", reference_statistics.characters)?;
    references.set_item("words", reference_statistics.words)?;
    references.set_item("accented", reference_statistics.accented)?;
    references.set_item("scripts", letters_by_script(reference_statistics)?)?;
    dict.set_item("reference_text", references)?;
    dict.set_item("characters", (checks.scripts.segments, checks.scripts.characters))?;
    dict.set_item("han", checks.scripts.han.clone())?;
    dict.set_item("scripts", letters_by_script(&checks.scripts)?)?;
    Ok(dict)
}

/// A scan of sources, which can be run in one or more parts.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Scan {
    /// The sources.
    pub scan: scan::Scan,
    /// The metrics.
    pub counter: Arc<dyn Count>,
    /// The number of threads.
    pub workers: usize,
}

#[pymethods]
impl Scan {
    /// Return the rows of about the next `segments` segments, or of all remaining segments.
    #[pyo3(signature = (segments=None))]
    fn table<'py>(
        &self,
        py: Python<'py>,
        segments: Option<u64>,
    ) -> PyResult<(Table, Bound<'py, PyDict>)> {
        let mut sinks = vec![RowList::default(); self.workers];
        let (summary, rows) = interruptible(py, || -> Result<_, Error> {
            let summary = self.scan.run(&self.counter, segments, &mut sinks, &mut |_| Ok(()))?;
            Ok((summary, RowList::merge(sinks)))
        })??;
        Ok((Table::new(rows, self.counter.width()), summary_dict(py, &summary)?))
    }

    /// Return the sum of all remaining rows. `progress` is called regularly with the number of
    /// segments read so far.
    #[pyo3(signature = (progress=None))]
    fn totals<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Table, Bound<'py, PyDict>)> {
        let width = self.counter.width();
        let mut sinks = vec![RowTotals(vec![0; width]); self.workers];
        let mut check = signal_check(progress);
        let summary =
            interruptible(py, || self.scan.run(&self.counter, None, &mut sinks, &mut check))??;
        let mut totals = vec![0; width];
        for sink in sinks {
            for (total, value) in totals.iter_mut().zip(sink.0) {
                *total += value;
            }
        }
        Ok((Table::new(totals, width), summary_dict(py, &summary)?))
    }
}
