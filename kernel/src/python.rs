//! The Python module `truebleu._kernel`: only this file and its submodules know Python.

mod alignment;
mod groups;
mod leave_one_out;
mod meta_evaluation;
mod metrics;
mod pairwise;
mod resample;
mod run;
mod sentence;
mod sources;
mod table;
mod texts;
mod token_corpus;

use crate::error::Error;
use crate::lex::lowercase::Lowercase;
use crate::lex::{Lexer, Tokenizer, mecab, sentencepiece};
use crate::simd::Instructions;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use run::on_text;
use sources::Source;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use table::{Scores, Table};

pyo3::create_exception!(
    truebleu,
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
            Error::Busy => PyRuntimeError::new_err(error.to_string()),
            error => InputError::new_err(error.to_string()),
        }
    }
}

/// Carries a Python exception through the kernel.
fn stopped(error: PyErr) -> Error {
    Error::Stopped(Box::new(error))
}

/// Characters that Python encodes in one call, which no interrupt comes into.
const AT_ONCE: isize = 1 << 22;

/// A text as UTF-8 if it is so long that it is encoded piece by piece; what is ASCII is there already.
fn long_utf8(text: &Bound<'_, PyString>) -> PyResult<Option<Vec<u8>>> {
    // SAFETY: it is a string.
    let length = unsafe { ffi::PyUnicode_GetLength(text.as_ptr()) };
    let py = text.py();
    if length <= AT_ONCE
        || py.get_type::<PyString>().call_method1("isascii", (text,))?.is_truthy()?
    {
        return Ok(None);
    }
    let mut encoded = Vec::with_capacity(length as usize);
    for start in (0..length).step_by(AT_ONCE as usize) {
        py.check_signals()?;
        // SAFETY: it is a string; what comes is a new reference to one, or an error.
        let piece = unsafe {
            let piece = ffi::PyUnicode_Substring(text.as_ptr(), start, start + AT_ONCE);
            Bound::from_owned_ptr_or_err(py, piece)?
        };
        with_utf8(piece.cast()?, |bytes| encoded.extend_from_slice(bytes))?;
    }
    Ok(Some(encoded))
}

/// A segment as the kernel reads it: UTF-8, with surrogates as Python has them.
fn with_utf8<R>(text: &Bound<'_, PyString>, read: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Some(encoded) = long_utf8(text)? {
        return Ok(read(&encoded));
    }
    match text.to_str() {
        Ok(text) => Ok(read(text.as_bytes())),
        Err(_) => {
            // `str`'s own: a class derived from it may have another, which others wrote.
            let own = text.py().get_type::<PyString>();
            let bytes = own.call_method1("encode", (text, "utf-8", "surrogatepass"))?;
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

/// The error in the environment variable that chooses it. Raising it on import would keep
/// a program from telling its user in its own way.
static REFUSED: OnceLock<String> = OnceLock::new();

/// The choice that was made of an instruction set, whatever it is.
fn chosen_instructions() -> u8 {
    INSTRUCTIONS.load(Ordering::Relaxed)
}

fn current_instructions() -> PyResult<Instructions> {
    if let Some(refused) = REFUSED.get() {
        return Err(PyValueError::new_err(refused.clone()));
    }
    let index = usize::from(chosen_instructions());
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

/// A tokenizer with data of its own, read and ready.
#[pyclass(frozen, module = "truebleu._kernel")]
struct LoadedTokenizer {
    tokenizer: Tokenizer,
}

#[pymethods]
impl LoadedTokenizer {
    /// MeCab with the dictionary in a folder, the number of its words, and its checksum.
    #[staticmethod]
    fn mecab(py: Python<'_>, folder: PathBuf) -> PyResult<(Self, u32, u64)> {
        py.detach(|| {
            let dictionary = mecab::Dictionary::open(&folder)?;
            let (words, checksum) = (dictionary.words(), dictionary.checksum());
            Ok((Self { tokenizer: Tokenizer::Mecab(Arc::new(dictionary)) }, words, checksum))
        })
    }

    /// SentencePiece with the model in a file of these bytes.
    #[staticmethod]
    fn sentencepiece(py: Python<'_>, file: &[u8]) -> PyResult<Self> {
        py.detach(|| {
            let model = sentencepiece::Model::new(file.to_vec())?;
            Ok(Self { tokenizer: Tokenizer::SentencePiece(Arc::new(model)) })
        })
    }

    /// The pieces of a text, which may hold white space; the tokens are what it separates.
    fn pieces<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let (found, ends) = with_utf8(text, |bytes| {
            on_text(py, bytes.len(), || {
                let (mut found, mut ends) = (Vec::new(), Vec::new());
                let mut take = |piece: &[u8]| {
                    found.extend_from_slice(piece);
                    ends.push(found.len());
                };
                match &self.tokenizer {
                    Tokenizer::Mecab(dictionary) => {
                        dictionary.split(bytes, |start, end| take(&bytes[start..end]));
                    }
                    Tokenizer::SentencePiece(model) => {
                        model.split(bytes, &mut Vec::new(), |piece, _| take(piece));
                    }
                    _ => {}
                }
                (found, ends)
            })
        })??;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        listed(py, &found, starts.zip(ends.iter().copied()))
    }

    /// Checks all data, of which loading checks the outline.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match &self.tokenizer {
            Tokenizer::Mecab(dictionary) => Ok(py.detach(|| dictionary.check())?),
            _ => Ok(()),
        }
    }
}

/// What gives a tokenizer with data, loaded, for its name: a function of Python's.
static LOAD: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// Says who loads tokenizers with data: a function from names to loaded tokenizers.
#[pyfunction]
fn load_tokenizers_with(load: Py<PyAny>) {
    *LOAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(load);
}

/// How text becomes tokens, without the instructions it is done with.
struct Lexing {
    tokenizer: Choice,
    lowercase: Option<Arc<Lowercase>>,
}

/// A tokenizer, or the name of one with data.
enum Choice {
    Ready(Tokenizer),
    /// Python finds and loads it when there is text to split, and once in a process. A metric is a
    /// value: it is made, printed and pickled where there are no data, too.
    Named(String),
}

impl Lexing {
    /// `lowercase` is "no", "python" (as `str.lower()`) or "ascii".
    fn new(py: Python<'_>, tokenizer: &str, lowercase: &str) -> PyResult<Self> {
        let choice = Tokenizer::named(tokenizer);
        let tokenizer = choice.map_or_else(|| Choice::Named(tokenizer.to_owned()), Choice::Ready);
        let lowercase = Self::lowercase(py, lowercase)?;
        Ok(Self { tokenizer, lowercase })
    }

    fn of(py: Python<'_>, tokenizer: Tokenizer, lowercase: &str) -> PyResult<Self> {
        let lowercase = Self::lowercase(py, lowercase)?;
        Ok(Self { tokenizer: Choice::Ready(tokenizer), lowercase })
    }

    fn lowercase(py: Python<'_>, name: &str) -> PyResult<Option<Arc<Lowercase>>> {
        match name {
            "no" => Ok(None),
            "python" => Ok(Some(python_lowercase(py)?)),
            "ascii" => Ok(Some(Arc::new(Lowercase::ascii()))),
            _ => Err(PyValueError::new_err(format!("unknown lower-casing '{name}'"))),
        }
    }

    fn tokenizer(&self) -> PyResult<Tokenizer> {
        match &self.tokenizer {
            Choice::Ready(tokenizer) => Ok(tokenizer.clone()),
            Choice::Named(name) => Python::attach(|py| {
                let unknown = || PyValueError::new_err(format!("unknown tokenizer '{name}'"));
                let load = {
                    let load = LOAD.lock().unwrap_or_else(PoisonError::into_inner);
                    load.as_ref().map(|load| load.clone_ref(py)).ok_or_else(unknown)?
                };
                let loaded = load.call1(py, (name,))?;
                Ok(loaded.bind(py).cast::<LoadedTokenizer>()?.get().tokenizer.clone())
            }),
        }
    }

    fn with(&self, instructions: Instructions) -> PyResult<Lexer> {
        let tokenizer = self.tokenizer()?;
        Ok(Lexer { tokenizer, lowercase: self.lowercase.clone(), instructions })
    }
}

/// A token for Python. One that holds half a character, which only MeCab makes and only at the end
/// of its reach, is as mecab-python3 has it.
fn decoded<'py>(py: Python<'py>, token: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(text) = std::str::from_utf8(token) {
        return Ok(PyString::new(py, text).into_any());
    }
    let bytes = PyBytes::new(py, token);
    match bytes.call_method1("decode", ("utf-8", "surrogatepass")) {
        Err(_) => bytes.call_method1("decode", ("utf-8", "surrogateescape")),
        text => text,
    }
}

/// The tokens of one text, by the definition of a tokenizer.
#[pyfunction]
fn tokenize<'py>(
    text: &Bound<'py, PyString>,
    tokenizer: &Bound<'py, PyAny>,
    lowercase: &str,
) -> PyResult<Bound<'py, PyList>> {
    let py = text.py();
    let lexing = match tokenizer.cast::<LoadedTokenizer>() {
        Ok(loaded) => Lexing::of(py, loaded.get().tokenizer.clone(), lowercase)?,
        Err(_) => Lexing::new(py, tokenizer.extract()?, lowercase)?,
    };
    let lexer = lexing.with(Instructions::Scalar)?;
    let (buffer, tokens) = with_utf8(text, |bytes| {
        on_text(py, bytes.len(), || {
            let (mut buffer, mut tokens) = (Vec::new(), Vec::new());
            lexer.tokenize(bytes, &mut buffer, |start, end| tokens.push((start, end)));
            (buffer, tokens)
        })
    })??;
    listed(py, &buffer, tokens.into_iter())
}

/// Parts of a text as a list of strings.
fn listed<'py>(
    py: Python<'py>,
    text: &[u8],
    parts: impl Iterator<Item = (usize, usize)>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (i, (start, end)) in parts.enumerate() {
        if i % (1 << 14) == 0 {
            py.check_signals()?;
        }
        list.append(decoded(py, &text[start..end])?)?;
    }
    Ok(list)
}

#[pymodule(gil_used = false)]
fn _kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if let Ok(name) = std::env::var("TRUEBLEU_SIMD")
        && let Err(error) = use_instructions(&name)
    {
        let message = error.value(module.py()).to_string();
        let _ = REFUSED.set(format!("environment variable TRUEBLEU_SIMD: {message}"));
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add_class::<groups::Frame>()?;
    module.add_class::<groups::Groups>()?;
    module.add_class::<token_corpus::Corpus>()?;
    module.add_class::<LoadedTokenizer>()?;
    module.add_class::<metrics::Metric>()?;
    module.add_class::<pairwise::Pairs>()?;
    module.add_class::<pairwise::PairScores>()?;
    module.add_class::<run::Scan>()?;
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
        wrap_pyfunction!(load_tokenizers_with, module)?,
        wrap_pyfunction!(tokenize, module)?,
        wrap_pyfunction!(alignment::ter_alignment, module)?,
        wrap_pyfunction!(alignment::edits, module)?,
        wrap_pyfunction!(groups::bucket, module)?,
        wrap_pyfunction!(groups::scores_of_rows, module)?,
        wrap_pyfunction!(token_corpus::health, module)?,
        wrap_pyfunction!(texts::count_lines, module)?,
        wrap_pyfunction!(texts::count_same, module)?,
        wrap_pyfunction!(texts::is_utf8, module)?,
        wrap_pyfunction!(texts::with_dictionary, module)?,
        wrap_pyfunction!(leave_one_out::left_out, module)?,
        wrap_pyfunction!(leave_one_out::distinct, module)?,
        wrap_pyfunction!(table::sealed, module)?,
        wrap_pyfunction!(table::unsealed, module)?,
        wrap_pyfunction!(sources::encoded, module)?,
        wrap_pyfunction!(sources::strings, module)?,
        wrap_pyfunction!(sources::references, module)?,
        wrap_pyfunction!(sources::tokens, module)?,
        wrap_pyfunction!(sources::arrow, module)?,
        wrap_pyfunction!(sources::file, module)?,
        wrap_pyfunction!(sources::stream, module)?,
        wrap_pyfunction!(meta_evaluation::pair_counts, module)?,
        wrap_pyfunction!(meta_evaluation::correlations, module)?,
        wrap_pyfunction!(meta_evaluation::best_epsilon, module)?,
        wrap_pyfunction!(meta_evaluation::outcomes, module)?,
        wrap_pyfunction!(meta_evaluation::leads, module)?,
        wrap_pyfunction!(meta_evaluation::holes, module)?,
        wrap_pyfunction!(meta_evaluation::exceeding, module)?,
        wrap_pyfunction!(meta_evaluation::subset_sums, module)?,
        wrap_pyfunction!(meta_evaluation::score_lines, module)?,
        wrap_pyfunction!(resample::exchanged, module)?,
        wrap_pyfunction!(resample::count_apart, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
