//! A run over sources: progress and interrupts while it lasts, and its results.

use super::stopped;
use super::table::Table;
use crate::corpus_warnings::{InputSigns, Scripts};
use crate::count::{Count, Summary};
use crate::error::Error;
use crate::interrupt;
use crate::scan::{self, Rows, Totals};
use crate::scripts;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most threads of a run.
pub const MOST_WORKERS: usize = 1024;

/// Does work without the interpreter's lock, until it is done or a signal's handler raises.
///
/// Handlers run in the main thread: work in another one is done to its end.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    py.detach(|| interrupt::run(|| Python::attach(|py| py.check_signals()).map_err(stopped), work))
}

/// So many bytes of text are some tens of microseconds of work.
const LONG: usize = 1 << 14;

/// Work on so many bytes of text, [`interruptible`] if they are many.
pub fn on_text<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    if bytes > LONG { interruptible(py, work) } else { Ok(work()) }
}

/// What one sequence of Python's holds, however long: a signal is seen while it is read.
pub struct Many<T>(pub Vec<T>);

/// Python objects made or read between two looks for signals.
const OBJECTS: usize = 1 << 14;

impl<'a, 'py, T: FromPyObjectOwned<'py>> FromPyObject<'a, 'py> for Many<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let mut items = Vec::new();
        for item in given.try_iter()? {
            if items.len() % OBJECTS == 0 {
                given.py().check_signals()?;
            }
            items.push(item?.extract().map_err(Into::into)?);
        }
        Ok(Self(items))
    }
}

/// A list for Python, however long: a signal is seen while it is made.
pub fn list<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    items: impl IntoIterator<Item = T>,
) -> PyResult<Bound<'py, PyList>> {
    let mut items = items.into_iter();
    let mut next = || PyList::new(py, items.by_ref().take(OBJECTS).collect::<Vec<_>>());
    let list = next()?;
    loop {
        py.check_signals()?;
        let more = next()?;
        if more.is_empty() {
            return Ok(list);
        }
        list.set_slice(list.len(), list.len(), &more)?;
    }
}

/// Lets Python see an interrupt, and how far the run is, about twenty times a second.
pub fn signals(progress: Option<Py<PyAny>>) -> impl FnMut(u64) -> Result<(), Error> {
    let mut last = Instant::now();
    move |segments| {
        if last.elapsed() < Duration::from_millis(50) {
            return Ok(());
        }
        last = Instant::now();
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |call| call.call1(py, (segments,)).map(drop))
        })
        .map_err(stopped)
    }
}

/// The summary of a run as a dict; its meaning is decided in Python.
pub fn summary_dict<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let seen = &summary.checks;
    dict.set_item("segments", summary.segments)?;
    dict.set_item("references", summary.references)?;
    dict.set_item("tokenized", (seen.tokenized.count, seen.tokenized.first.clone()))?;
    dict.set_item("identical", seen.identical)?;
    dict.set_item("marked", seen.marked.clone())?;
    let empty = seen.inputs.iter().map(|input| (input.empty.count, input.empty.first.clone()));
    dict.set_item("empty", empty.collect::<Vec<_>>())?;
    let numbers = |number: fn(&InputSigns) -> u64| seen.inputs.iter().map(number).collect();
    let (decomposed, tabs): (Vec<u64>, Vec<u64>) =
        (numbers(|it| it.decomposed), numbers(|it| it.tabs));
    dict.set_item("decomposed", decomposed)?;
    dict.set_item("tabs", tabs)?;
    let by_script = |of: &Scripts| {
        let letters = scripts::NAMES.into_iter().zip(of.letters).filter(|(_, count)| *count > 0);
        letters.into_py_dict(py)
    };
    let references = PyDict::new(py);
    let own = &seen.reference_scripts;
    references.set_item("segments", own.segments)?;
    references.set_item("characters", own.characters)?;
    references.set_item("words", own.words)?;
    references.set_item("accented", own.accented)?;
    references.set_item("scripts", by_script(own)?)?;
    dict.set_item("reference_text", references)?;
    dict.set_item("characters", (seen.scripts.segments, seen.scripts.characters))?;
    dict.set_item("han", seen.scripts.han.clone())?;
    dict.set_item("scripts", by_script(&seen.scripts)?)?;
    Ok(dict)
}

/// A run over sources, a piece at a time.
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
    /// The rows of the next segments: about so many, or all that are left.
    #[pyo3(signature = (segments=None))]
    fn table<'py>(
        &self,
        py: Python<'py>,
        segments: Option<u64>,
    ) -> PyResult<(Table, Bound<'py, PyDict>)> {
        let mut sinks = vec![Rows::default(); self.workers];
        let (summary, rows) = interruptible(py, || -> Result<_, Error> {
            let summary = self.scan.run(&self.counter, segments, &mut sinks, &mut |_| Ok(()))?;
            Ok((summary, Rows::joined(sinks)))
        })??;
        Ok((Table::new(rows, self.counter.width()), summary_dict(py, &summary)?))
    }

    /// The sum of all rows that are left. `progress` is called now and then with the number of
    /// segments so far.
    #[pyo3(signature = (progress=None))]
    fn totals<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Table, Bound<'py, PyDict>)> {
        let width = self.counter.width();
        let mut sinks = vec![Totals(vec![0; width]); self.workers];
        let mut told = signals(progress);
        let summary =
            interruptible(py, || self.scan.run(&self.counter, None, &mut sinks, &mut told))??;
        let mut totals = vec![0; width];
        for sink in sinks {
            for (total, value) in totals.iter_mut().zip(sink.0) {
                *total += value;
            }
        }
        Ok((Table::new(totals, width), summary_dict(py, &summary)?))
    }
}
