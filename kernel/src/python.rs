//! The Python module `truebleu._kernel`: this file and its rooms are all that knows Python.

mod resample;
mod sources;
mod table;

use crate::bleu::{Columns, Formula, ReferenceLength, Smoothing};
use crate::error::Error;
use crate::lex::{Lexer, Tokenizer};
use crate::lowercase::Lowercase;
use crate::ngrams::MOST_ORDERS;
use crate::scan::{self, Counter, Inputs, Rows, Scored, Summary, Totals};
use crate::vector::Instructions;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use sources::Source;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use table::{Scores, Table};

pyo3::create_exception!(
    truebleu._kernel,
    InputError,
    PyValueError,
    "What was given cannot be scored: the message says which input, which segment, what to do."
);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped(reason) => match reason.downcast::<PyErr>() {
                Ok(error) => *error,
                Err(_) => PyRuntimeError::new_err("stopped"),
            },
            error => InputError::new_err(error.to_string()),
        }
    }
}

/// Carries a Python exception through the kernel.
fn stopped(error: PyErr) -> Error {
    Error::Stopped(Box::new(error))
}

/// A segment as the kernel reads it: UTF-8, with surrogates as Python has them.
fn with_utf8<R>(text: &Bound<'_, PyString>, read: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    match text.to_str() {
        Ok(text) => Ok(read(text.as_bytes())),
        Err(_) => {
            let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            Ok(read(bytes.cast::<PyBytes>()?.as_bytes()))
        }
    }
}

/// The interpreter's own `str.lower()`, as a table.
fn python_lowercase(py: Python<'_>) -> PyResult<Arc<Lowercase>> {
    static TABLE: OnceLock<Arc<Lowercase>> = OnceLock::new();
    if let Some(table) = TABLE.get() {
        return Ok(Arc::clone(table));
    }
    // No cased character lies beyond; the two that are left out need their surroundings.
    let cased = (0x80..0x20000).filter_map(char::from_u32);
    let upper: String = cased.filter(|&c| c != '\u{3A3}' && c != '\u{130}').collect();
    let lower: String = PyString::new(py, &upper).call_method0("lower")?.extract()?;
    let pairs = upper.chars().zip(lower.chars()).filter(|(upper, lower)| upper != lower);
    let pairs = pairs.map(|(upper, lower)| (upper as u32, lower as u32));
    let fallback = |segment: &[u8], out: &mut Vec<u8>| {
        Python::attach(|py| {
            let lowered = PyBytes::new(py, segment)
                .call_method1("decode", ("utf-8", "surrogatepass"))
                .and_then(|text| text.call_method0("lower"))
                .and_then(|text| text.call_method1("encode", ("utf-8", "surrogatepass")));
            match lowered.as_ref().map(|bytes| bytes.cast::<PyBytes>()) {
                Ok(Ok(bytes)) => out.extend_from_slice(bytes.as_bytes()),
                // Only a want of memory could bring us here.
                _ => out.extend_from_slice(segment),
            }
        });
    };
    let table = Arc::new(Lowercase::new(pairs, Box::new(fallback)));
    Ok(Arc::clone(TABLE.get_or_init(|| table)))
}

/// The instruction set in use, as an index into `Instructions::NAMES`.
static INSTRUCTIONS: AtomicU8 = AtomicU8::new(u8::MAX);

/// What is wrong with the environment variable that chooses it. Saying so on import would keep
/// a program from telling its user in its own way.
static REFUSED: OnceLock<String> = OnceLock::new();

fn current_instructions() -> PyResult<Instructions> {
    if let Some(refused) = REFUSED.get() {
        return Err(PyValueError::new_err(refused.clone()));
    }
    let index = usize::from(INSTRUCTIONS.load(Ordering::Relaxed));
    let name = Instructions::NAMES.get(index);
    Ok(name.and_then(|name| Instructions::named(name)).unwrap_or_else(Instructions::best))
}

/// Chooses the instruction set by name, for tests and measurements.
#[pyfunction]
fn use_instructions(name: &str) -> PyResult<()> {
    let known = Instructions::NAMES.join(", ");
    let set = Instructions::named(name).ok_or_else(|| {
        PyValueError::new_err(format!("unknown instruction set '{name}'; there are {known}"))
    })?;
    if !set.is_available() {
        return Err(PyValueError::new_err(format!("this processor does not have '{name}'")));
    }
    INSTRUCTIONS.store(set as u8, Ordering::Relaxed);
    Ok(())
}

/// The name of the instruction set in use.
#[pyfunction]
fn instructions() -> PyResult<&'static str> {
    Ok(current_instructions()?.name())
}

/// The names of the instruction sets this processor has, slowest first.
#[pyfunction]
fn available_instructions() -> Vec<&'static str> {
    Instructions::NAMES
        .into_iter()
        .filter(|name| Instructions::named(name).is_some_and(Instructions::is_available))
        .collect()
}

/// A lexer; `lowercase` is "no", "python" (as `str.lower()`) or "ascii".
fn lexer(py: Python<'_>, tokenizer: &str, lowercase: &str) -> PyResult<Lexer> {
    let tokenizer = Tokenizer::named(tokenizer)
        .ok_or_else(|| PyValueError::new_err(format!("unknown tokenizer '{tokenizer}'")))?;
    let lowercase = match lowercase {
        "no" => None,
        "python" => Some(python_lowercase(py)?),
        "ascii" => Some(Arc::new(Lowercase::ascii())),
        _ => return Err(PyValueError::new_err(format!("unknown lower-casing '{lowercase}'"))),
    };
    Ok(Lexer { tokenizer, lowercase, instructions: current_instructions()? })
}

/// The tokens of one text, by the definition of a tokenizer.
#[pyfunction]
fn tokenize<'py>(
    text: &Bound<'py, PyString>,
    tokenizer: &str,
    lowercase: &str,
) -> PyResult<Bound<'py, PyList>> {
    let py = text.py();
    let lexer = lexer(py, tokenizer, lowercase)?;
    let mut buffer = Vec::new();
    let mut tokens = Vec::new();
    with_utf8(text, |bytes| match &lexer.lowercase {
        None => lexer.tokenizer.tokenize(bytes, &mut buffer, |start, end| tokens.push(start..end)),
        Some(lowercase) => {
            let mut lowered = crate::text::PaddedBuffer::default();
            lowercase.append(bytes, &mut lowered);
            lowered.finish();
            let bytes = lowered.padded().bytes();
            lexer.tokenizer.tokenize(bytes, &mut buffer, |start, end| tokens.push(start..end));
        }
    })?;
    let list = PyList::empty(py);
    for range in tokens {
        let bytes = PyBytes::new(py, &buffer[range]);
        list.append(bytes.call_method1("decode", ("utf-8", "surrogatepass"))?)?;
    }
    Ok(list)
}

/// More threads than this help nobody.
const MOST_WORKERS: usize = 1024;

/// Lets Python see an interrupt, and how far the run is, about twenty times a second.
fn signals(progress: Option<Py<PyAny>>) -> impl FnMut(u64) -> Result<(), Error> {
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

/// What is known after a run: a dict, so that the meaning is Python's.
fn summary_dict<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let seen = &summary.observations;
    dict.set_item("segments", summary.segments)?;
    dict.set_item("references", summary.references)?;
    dict.set_item("tokenized", (seen.tokenized.count, seen.tokenized.first.clone()))?;
    dict.set_item("identical", seen.identical)?;
    dict.set_item("marked", seen.marked.clone())?;
    let scripts = PyDict::new(py);
    scripts.set_item("characters", seen.scripts.characters)?;
    scripts.set_item("han", seen.scripts.han)?;
    scripts.set_item("kana", seen.scripts.kana)?;
    scripts.set_item("hangul", seen.scripts.hangul)?;
    scripts.set_item("southeast_asian", seen.scripts.southeast_asian)?;
    dict.set_item("scripts", scripts)?;
    Ok(dict)
}

/// A run over sources, a piece at a time.
#[pyclass(frozen, module = "truebleu._kernel")]
struct Scan {
    scan: scan::Scan,
    counter: Counter,
    workers: usize,
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
        let summary =
            py.detach(|| self.scan.run(&self.counter, segments, &mut sinks, &mut signals(None)))?;
        let rows = py.detach(|| Rows::joined(sinks));
        let width = self.counter.columns.width();
        Ok((Table::new(rows, width), summary_dict(py, &summary)?))
    }

    /// The sum of all rows that are left. `progress` is called now and then with the number of
    /// segments so far.
    #[pyo3(signature = (progress=None))]
    fn totals<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Table, Bound<'py, PyDict>)> {
        let width = self.counter.columns.width();
        let mut sinks = vec![Totals(vec![0; width]); self.workers];
        let summary =
            py.detach(|| self.scan.run(&self.counter, None, &mut sinks, &mut signals(progress)))?;
        let mut totals = vec![0; width];
        for sink in sinks {
            for (total, value) in totals.iter_mut().zip(sink.0) {
                *total += value;
            }
        }
        Ok((Table::new(totals, width), summary_dict(py, &summary)?))
    }
}

/// BLEU with all of its parameters, ready to count and score.
#[pyclass(frozen, module = "truebleu._kernel")]
struct Bleu {
    tokenizer: String,
    lowercase: String,
    columns: Columns,
    /// For single segments.
    formula: Formula,
    scratch: Mutex<Vec<sources::SentenceScratch>>,
}

impl Bleu {
    fn counter(&self, py: Python<'_>) -> PyResult<Counter> {
        let lexer = lexer(py, &self.tokenizer, &self.lowercase)?;
        Ok(Counter { lexer, columns: self.columns.clone() })
    }
}

#[pymethods]
impl Bleu {
    #[new]
    #[pyo3(signature = (*, tokenizer, lowercase, max_order, reference_lengths, at_least_one, smoothing, smoothing_value, effective_order, weights, compensated))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        tokenizer: String,
        lowercase: String,
        max_order: usize,
        reference_lengths: Vec<String>,
        at_least_one: bool,
        smoothing: &str,
        smoothing_value: f64,
        effective_order: bool,
        weights: Option<Vec<f64>>,
        compensated: bool,
    ) -> PyResult<Self> {
        let smoothing = Smoothing::named(smoothing, smoothing_value)
            .ok_or_else(|| PyValueError::new_err(format!("unknown smoothing '{smoothing}'")))?;
        let fits = weights.as_ref().is_none_or(|weights| weights.len() == max_order);
        if !(1..=MOST_ORDERS).contains(&max_order) || !fits {
            return Err(PyValueError::new_err("max_order must be 1 to 16, with a weight for each"));
        }
        let lengths = reference_lengths.iter().map(|name| {
            ReferenceLength::named(name).ok_or_else(|| {
                PyValueError::new_err(format!("unknown rule for the reference length '{name}'"))
            })
        });
        let lengths = lengths.collect::<PyResult<_>>()?;
        Ok(Self {
            tokenizer,
            lowercase,
            columns: Columns { lengths, orders: max_order, at_least_one },
            formula: Formula { smoothing, effective_order, weights, compensated },
            scratch: Mutex::new(Vec::new()),
        })
    }

    /// Starts a run over hypotheses and references.
    fn scan(
        &self,
        py: Python<'_>,
        hypotheses: &Source,
        references: Vec<PyRef<'_, Source>>,
        workers: usize,
    ) -> PyResult<Scan> {
        let references = references.iter().map(|source| source.take());
        let inputs = Inputs {
            hypotheses: hypotheses.take()?,
            references: references.collect::<PyResult<_>>()?,
        };
        let counter = self.counter(py)?;
        Ok(Scan { scan: scan::Scan::new(inputs), counter, workers: workers.clamp(1, MOST_WORKERS) })
    }

    /// The scores of all segments that are left in a run.
    fn segments<'py>(&self, py: Python<'py>, run: &Scan) -> PyResult<(Scores, Bound<'py, PyDict>)> {
        let width = run.counter.columns.width();
        let mut sinks: Vec<_> =
            (0..run.workers).map(|_| Scored::new(&self.formula, width)).collect();
        let summary =
            py.detach(|| run.scan.run(&run.counter, None, &mut sinks, &mut signals(None)))?;
        let scores = py.detach(|| Scored::joined(sinks));
        Ok((Scores::new(scores), summary_dict(py, &summary)?))
    }

    /// The scores of a table's rows, each a segment.
    fn scores(&self, py: Python<'_>, table: &Table) -> PyResult<Scores> {
        if table.width() != self.columns.width() || self.columns.lengths.len() != 1 {
            return Err(PyValueError::new_err("a table of another width"));
        }
        Ok(py.detach(|| Scores::new(table.rows().map(|row| self.formula.score(row)).collect())))
    }

    /// The score of one segment, its row, and how many references it had.
    fn sentence<'py>(
        &self,
        hypothesis: &Bound<'py, PyString>,
        references: &Bound<'py, PyAny>,
    ) -> PyResult<(f64, Bound<'py, PyTuple>, usize)> {
        let py = hypothesis.py();
        let counter = self.counter(py)?;
        let mut scratch = {
            let mut pool = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
            pool.pop().unwrap_or_default()
        };
        let counted = scratch.count(&counter, hypothesis, references);
        let row = counted.map(|count| (scratch.row(), count));
        let result = row
            .and_then(|(row, count)| Ok((self.formula.score(row), PyTuple::new(py, row)?, count)));
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        result
    }
}

#[pymodule]
fn _kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if let Ok(name) = std::env::var("TRUEBLEU_SIMD")
        && let Err(error) = use_instructions(&name)
    {
        let message = error.value(module.py()).to_string();
        let _ = REFUSED.set(format!("environment variable TRUEBLEU_SIMD: {message}"));
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add_class::<Bleu>()?;
    module.add_class::<Scan>()?;
    module.add_class::<Source>()?;
    module.add_class::<Table>()?;
    module.add_class::<Scores>()?;
    module.add_class::<resample::Stream>()?;
    module.add_class::<resample::Stack>()?;
    module.add_class::<resample::SingleStack>()?;
    module.add_class::<resample::SingleFormula>()?;
    for function in [
        wrap_pyfunction!(use_instructions, module)?,
        wrap_pyfunction!(instructions, module)?,
        wrap_pyfunction!(available_instructions, module)?,
        wrap_pyfunction!(tokenize, module)?,
        wrap_pyfunction!(sources::strings, module)?,
        wrap_pyfunction!(sources::references, module)?,
        wrap_pyfunction!(sources::tokens, module)?,
        wrap_pyfunction!(sources::arrow, module)?,
        wrap_pyfunction!(sources::mapped, module)?,
        wrap_pyfunction!(sources::stream, module)?,
        wrap_pyfunction!(resample::exchanged, module)?,
        wrap_pyfunction!(resample::count_apart, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
