//! The Python module `truebleu._kernel`. Only this file and its submodules depend on Python.

mod alignment;
mod bleu_formula;
mod groups;
mod leave_one_out;
mod meta_evaluation;
mod metrics;
mod pairwise;
mod resample;
mod resegment;
mod run;
mod sentence;
mod sources;
mod table;
mod texts;
mod token_corpus;
mod token_ids;

use crate::error::Error;
use crate::lex::lowercase::Lowercase;
use crate::lex::{Lexer, Tokenizer, mecab, sentencepiece};
use crate::simd::Instructions;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use run::run_on_text;
use sources::Source;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use table::{Scores, Table};

pyo3::create_exception!(
    truebleu,
    InputError,
    PyValueError,
    "The input cannot be scored. The message names the input, the segment and the remedy."
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

/// Wrap a Python exception in a kernel error.
fn to_stopped_error(error: PyErr) -> Error {
    Error::Stopped(Box::new(error))
}

/// Maximum number of characters that Python encodes in one call, which cannot be interrupted.
const MAX_ENCODED_CHARACTERS: isize = 1 << 22;

/// Encode a long text as UTF-8 in chunks. Return `None` for short texts and for ASCII texts, which
/// need no chunks.
fn encode_long_text(text: &Bound<'_, PyString>) -> PyResult<Option<Vec<u8>>> {
    // SAFETY: the object is a string.
    let length = unsafe { ffi::PyUnicode_GetLength(text.as_ptr()) };
    let py = text.py();
    if length <= MAX_ENCODED_CHARACTERS
        || py.get_type::<PyString>().call_method1("isascii", (text,))?.is_truthy()?
    {
        return Ok(None);
    }
    let mut encoded = Vec::with_capacity(length as usize);
    for start in (0..length).step_by(MAX_ENCODED_CHARACTERS as usize) {
        py.check_signals()?;
        // SAFETY: the object is a string; the result is a new reference or an error.
        let piece = unsafe {
            let piece =
                ffi::PyUnicode_Substring(text.as_ptr(), start, start + MAX_ENCODED_CHARACTERS);
            Bound::from_owned_ptr_or_err(py, piece)?
        };
        with_utf8(piece.cast()?, |bytes| encoded.extend_from_slice(bytes))?;
    }
    Ok(Some(encoded))
}

/// Call a function with the UTF-8 bytes of a string, including surrogates.
fn with_utf8<R>(text: &Bound<'_, PyString>, work: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Some(encoded) = encode_long_text(text)? {
        return Ok(work(&encoded));
    }
    match text.to_str() {
        Ok(text) => Ok(work(text.as_bytes())),
        Err(_) => {
            // Call the method of `str` itself, because a subclass may override it.
            let str_type = text.py().get_type::<PyString>();
            let bytes = str_type.call_method1("encode", (text, "utf-8", "surrogatepass"))?;
            Ok(work(bytes.cast::<PyBytes>()?.as_bytes()))
        }
    }
}

/// Return the interpreter's `str.lower()` as a mapping.
fn python_lowercase(py: Python<'_>) -> PyResult<Arc<Lowercase>> {
    static TABLE: OnceLock<Arc<Lowercase>> = OnceLock::new();
    if let Some(table) = TABLE.get() {
        return Ok(Arc::clone(table));
    }
    // There are no cased characters beyond this range. The lowercase forms of the two excluded
    // characters depend on the context or have two characters.
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
                // This fails only if memory is exhausted.
                _ => out.extend_from_slice(segment),
            }
        });
    };
    let table = Arc::new(Lowercase::new(pairs, Box::new(fallback)));
    Ok(Arc::clone(TABLE.get_or_init(|| table)))
}

/// The instruction set in use, as an index into `Instructions::NAMES`.
static INSTRUCTIONS: AtomicU8 = AtomicU8::new(u8::MAX);

/// The error in the environment variable for the instruction set. It is raised on first use instead
/// of on import, so that programs can report it in their own way.
static ENVIRONMENT_ERROR: OnceLock<String> = OnceLock::new();

/// Return the index of the selected instruction set, or 255 if none was selected.
fn selected_instructions() -> u8 {
    INSTRUCTIONS.load(Ordering::Relaxed)
}

/// Return the instruction set in use, or the error in the environment variable.
fn current_instructions() -> PyResult<Instructions> {
    if let Some(message) = ENVIRONMENT_ERROR.get() {
        return Err(PyValueError::new_err(message.clone()));
    }
    let index = usize::from(selected_instructions());
    let name = Instructions::NAMES.get(index);
    Ok(name.and_then(|name| Instructions::from_name(name)).unwrap_or_else(Instructions::best))
}

/// Select the instruction set by name, for tests and measurements.
#[pyfunction]
fn use_instructions(name: &str) -> PyResult<()> {
    let valid_names = Instructions::NAMES.join(", ");
    let set = Instructions::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "unknown instruction set '{name}' (expected one of {valid_names})"
        ))
    })?;
    if !set.is_available() {
        return Err(PyValueError::new_err(format!(
            "this processor does not support the instruction set '{name}'"
        )));
    }
    INSTRUCTIONS.store(set as u8, Ordering::Relaxed);
    Ok(())
}

/// Return the name of the instruction set in use.
#[pyfunction]
fn instructions() -> PyResult<&'static str> {
    Ok(current_instructions()?.name())
}

/// Return the names of the instruction sets that this processor supports, slowest first.
#[pyfunction]
fn available_instructions() -> Vec<&'static str> {
    Instructions::NAMES
        .into_iter()
        .filter(|name| Instructions::from_name(name).is_some_and(Instructions::is_available))
        .collect()
}

/// A tokenizer with loaded data.
#[pyclass(frozen, module = "truebleu._kernel")]
struct LoadedTokenizer {
    tokenizer: Tokenizer,
}

#[pymethods]
impl LoadedTokenizer {
    /// Load MeCab with the dictionary in a folder. Return the tokenizer, and the dictionary's
    /// number of words and checksum.
    #[staticmethod]
    fn mecab(py: Python<'_>, folder: PathBuf) -> PyResult<(Self, u32, u64)> {
        py.detach(|| {
            let dictionary = mecab::MecabDictionary::open(&folder)?;
            let (words, checksum) = (dictionary.word_count(), dictionary.checksum());
            Ok((Self { tokenizer: Tokenizer::Mecab(Arc::new(dictionary)) }, words, checksum))
        })
    }

    /// Load SentencePiece with a model, given as the bytes of the model file.
    #[staticmethod]
    fn sentencepiece(py: Python<'_>, file: &[u8]) -> PyResult<Self> {
        py.detach(|| {
            let model = sentencepiece::SentencePieceModel::new(file.to_vec())?;
            Ok(Self { tokenizer: Tokenizer::SentencePiece(Arc::new(model)) })
        })
    }

    /// Return the pieces of a text. To get tokens, also split the pieces at white space.
    fn pieces<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let (pieces, ends) = with_utf8(text, |bytes| {
            run_on_text(py, bytes.len(), || {
                let (mut pieces, mut ends) = (Vec::new(), Vec::new());
                let mut push_piece = |piece: &[u8]| {
                    pieces.extend_from_slice(piece);
                    ends.push(pieces.len());
                };
                match &self.tokenizer {
                    Tokenizer::Mecab(dictionary) => {
                        dictionary.split_words(bytes, |start, end| push_piece(&bytes[start..end]));
                    }
                    Tokenizer::SentencePiece(model) => {
                        model.split_pieces(bytes, &mut Vec::new(), |piece, _| push_piece(piece));
                    }
                    _ => {}
                }
                (pieces, ends)
            })
        })??;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        list_ranges(py, &pieces, starts.zip(ends.iter().copied()))
    }

    /// Check all data; loading checks only the structure.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match &self.tokenizer {
            Tokenizer::Mecab(dictionary) => Ok(py.detach(|| dictionary.check_data())?),
            _ => Ok(()),
        }
    }
}

/// The Python function that loads a tokenizer that needs data, given its name.
static TOKENIZER_LOADER: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// Set the function that loads a tokenizer that needs data, given its name.
#[pyfunction]
fn load_tokenizers_with(load: Py<PyAny>) {
    *TOKENIZER_LOADER.lock().unwrap_or_else(PoisonError::into_inner) = Some(load);
}

/// Lexer settings: a tokenizer with optional lowercasing, for any instruction set.
struct LexerSettings {
    tokenizer: TokenizerChoice,
    lowercase: Option<Arc<Lowercase>>,
}

/// A tokenizer, or the name of a tokenizer with data.
enum TokenizerChoice {
    Ready(Tokenizer),
    /// Python loads the data on first use, once per process, so that metrics can be created,
    /// printed and pickled without the data.
    Named(String),
}

impl LexerSettings {
    /// Create settings. `lowercase` is "no", "python" (`str.lower()`) or "ascii".
    fn new(py: Python<'_>, tokenizer: &str, lowercase: &str) -> PyResult<Self> {
        let choice = Tokenizer::from_name(tokenizer);
        let tokenizer = choice
            .map_or_else(|| TokenizerChoice::Named(tokenizer.to_owned()), TokenizerChoice::Ready);
        let lowercase = Self::lowercase(py, lowercase)?;
        Ok(Self { tokenizer, lowercase })
    }

    /// Create settings with a tokenizer that needs no loading.
    fn from_tokenizer(py: Python<'_>, tokenizer: Tokenizer, lowercase: &str) -> PyResult<Self> {
        let lowercase = Self::lowercase(py, lowercase)?;
        Ok(Self { tokenizer: TokenizerChoice::Ready(tokenizer), lowercase })
    }

    /// Return the lowercase mapping with this name.
    fn lowercase(py: Python<'_>, name: &str) -> PyResult<Option<Arc<Lowercase>>> {
        match name {
            "no" => Ok(None),
            "python" => Ok(Some(python_lowercase(py)?)),
            "ascii" => Ok(Some(Arc::new(Lowercase::ascii()))),
            _ => Err(PyValueError::new_err(format!(
                "unknown lowercase mode '{name}' (expected no, python or ascii)"
            ))),
        }
    }

    /// Return the tokenizer. Load its data if this is its first use.
    fn tokenizer(&self) -> PyResult<Tokenizer> {
        match &self.tokenizer {
            TokenizerChoice::Ready(tokenizer) => Ok(tokenizer.clone()),
            TokenizerChoice::Named(name) => Python::attach(|py| {
                let unknown_tokenizer =
                    || PyValueError::new_err(format!("unknown tokenizer '{name}'"));
                let load = {
                    let load = TOKENIZER_LOADER.lock().unwrap_or_else(PoisonError::into_inner);
                    load.as_ref().map(|load| load.clone_ref(py)).ok_or_else(unknown_tokenizer)?
                };
                let loaded = load.call1(py, (name,))?;
                Ok(loaded.bind(py).cast::<LoadedTokenizer>()?.get().tokenizer.clone())
            }),
        }
    }

    /// Return a lexer for this instruction set.
    fn to_lexer(&self, instructions: Instructions) -> PyResult<Lexer> {
        let tokenizer = self.tokenizer()?;
        Ok(Lexer { tokenizer, lowercase: self.lowercase.clone(), instructions })
    }
}

/// Decode a token for Python. MeCab may split a character at the maximum word length. Decode the
/// resulting token as mecab-python3 does.
fn decode_token<'py>(py: Python<'py>, token: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(text) = std::str::from_utf8(token) {
        return Ok(PyString::new(py, text).into_any());
    }
    let bytes = PyBytes::new(py, token);
    match bytes.call_method1("decode", ("utf-8", "surrogatepass")) {
        Err(_) => bytes.call_method1("decode", ("utf-8", "surrogateescape")),
        text => text,
    }
}

/// Return the tokens of one text, computed by the scalar definition of a tokenizer.
#[pyfunction]
fn tokenize<'py>(
    text: &Bound<'py, PyString>,
    tokenizer: &Bound<'py, PyAny>,
    lowercase: &str,
) -> PyResult<Bound<'py, PyList>> {
    let py = text.py();
    let settings = match tokenizer.cast::<LoadedTokenizer>() {
        Ok(loaded) => LexerSettings::from_tokenizer(py, loaded.get().tokenizer.clone(), lowercase)?,
        Err(_) => LexerSettings::new(py, tokenizer.extract()?, lowercase)?,
    };
    let lexer = settings.to_lexer(Instructions::Scalar)?;
    let (buffer, tokens) = with_utf8(text, |bytes| {
        run_on_text(py, bytes.len(), || {
            let (mut buffer, mut tokens) = (Vec::new(), Vec::new());
            lexer.tokenize(bytes, &mut buffer, |start, end| tokens.push((start, end)));
            (buffer, tokens)
        })
    })??;
    list_ranges(py, &buffer, tokens.into_iter())
}

/// Return ranges of a text as a list of strings.
fn list_ranges<'py>(
    py: Python<'py>,
    text: &[u8],
    ranges: impl Iterator<Item = (usize, usize)>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (i, (start, end)) in ranges.enumerate() {
        if i % (1 << 14) == 0 {
            py.check_signals()?;
        }
        list.append(decode_token(py, &text[start..end])?)?;
    }
    Ok(list)
}

#[pymodule(gil_used = false)]
fn _kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if let Ok(name) = std::env::var("TRUEBLEU_SIMD")
        && let Err(error) = use_instructions(&name)
    {
        let message = error.value(module.py()).to_string();
        let _ = ENVIRONMENT_ERROR.set(format!("environment variable TRUEBLEU_SIMD: {message}"));
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add_class::<bleu_formula::BleuFormula>()?;
    module.add_class::<groups::Frame>()?;
    module.add_class::<groups::Groups>()?;
    module.add_class::<token_corpus::Corpus>()?;
    module.add_class::<LoadedTokenizer>()?;
    module.add_class::<metrics::Metric>()?;
    module.add_class::<pairwise::Pairs>()?;
    module.add_class::<pairwise::PairScores>()?;
    module.add_class::<run::Scan>()?;
    module.add_class::<Source>()?;
    module.add_class::<token_ids::TokenIds>()?;
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
        wrap_pyfunction!(resample::count_higher, module)?,
        wrap_pyfunction!(resample::summarize_differences, module)?,
        wrap_pyfunction!(resegment::align_by_edits, module)?,
        wrap_pyfunction!(resegment::align_by_similarity, module)?,
        wrap_pyfunction!(resegment::join_units, module)?,
        wrap_pyfunction!(resegment::count_agreement, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
