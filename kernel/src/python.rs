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
use crate::interrupt::lock;
use crate::lex::lowercase::Lowercase;
use crate::lex::{Lexer, Tokenizer, mecab, sentencepiece};
use crate::simd::Instructions;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use run::run_on_text;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

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

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self::Stopped(Box::new(error))
    }
}

/// Return ValueError with this message unless a condition holds.
fn require(condition: bool, message: &'static str) -> PyResult<()> {
    if condition { Ok(()) } else { Err(PyValueError::new_err(message)) }
}

/// Return the value that `find` returns for a name, or ValueError for an unknown name.
fn require_known<T>(kind: &str, name: &str, find: impl FnOnce(&str) -> Option<T>) -> PyResult<T> {
    find(name).ok_or_else(|| PyValueError::new_err(format!("unknown {kind} '{name}'")))
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

/// The instruction set in use, as an index into `Instructions::ALL`.
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
    Ok(Instructions::ALL.get(index).copied().unwrap_or_else(Instructions::best))
}

/// Select the instruction set by name, for tests and measurements.
#[pyfunction]
fn use_instructions(name: &str) -> PyResult<()> {
    let set = Instructions::from_name(name).ok_or_else(|| {
        let valid_names = Instructions::ALL.iter().map(|set| set.name()).collect::<Vec<_>>();
        PyValueError::new_err(format!(
            "unknown instruction set '{name}' (expected one of {})",
            valid_names.join(", ")
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
    Instructions::available().map(Instructions::name).collect()
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
        let pieces = with_utf8(text, |bytes| {
            run_on_text(py, bytes.len(), || {
                let mut pieces = Vec::new();
                let mut push_piece = |piece: &[u8]| pieces.push(piece.to_vec());
                match &self.tokenizer {
                    Tokenizer::Mecab(dictionary) => {
                        dictionary.split_words(bytes, |start, end| push_piece(&bytes[start..end]));
                    }
                    Tokenizer::SentencePiece(model) => {
                        model.split_pieces(bytes, &mut Vec::new(), |piece, _| push_piece(piece));
                    }
                    _ => {}
                }
                pieces
            })
        })??;
        decode_tokens(py, pieces.iter().map(Vec::as_slice))
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
    *lock(&TOKENIZER_LOADER) = Some(load);
}

/// Lexer settings: a tokenizer with optional lowercasing, for any instruction set.
#[derive(Clone)]
struct LexerSettings {
    tokenizer: TokenizerChoice,
    lowercase: Option<Arc<Lowercase>>,
}

/// A tokenizer, or the name of a tokenizer with data.
#[derive(Clone)]
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
                let load = {
                    let load = lock(&TOKENIZER_LOADER);
                    let load = load.as_ref().map(|load| load.clone_ref(py));
                    require_known("tokenizer", name, |_| load)?
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
    decode_tokens(py, tokens.into_iter().map(|(start, end)| &buffer[start..end]))
}

/// Decode any number of tokens for Python. Signals are handled meanwhile.
fn decode_tokens<'a, 'py>(
    py: Python<'py>,
    tokens: impl Iterator<Item = &'a [u8]>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (i, token) in tokens.enumerate() {
        if i % (1 << 14) == 0 {
            py.check_signals()?;
        }
        list.append(decode_token(py, token)?)?;
    }
    Ok(list)
}

#[pymodule(gil_used = false)]
mod _kernel {
    use super::*;

    #[pymodule_export]
    use super::{
        InputError, LoadedTokenizer, available_instructions, instructions, load_tokenizers_with,
        tokenize, use_instructions,
    };
    #[pymodule_export]
    use alignment::{edits, ter_alignment};
    #[pymodule_export]
    use bleu_formula::BleuFormula;
    #[pymodule_export]
    use groups::{Frame, Groups, bucket, scores_of_rows};
    #[pymodule_export]
    use leave_one_out::{distinct, left_out};
    #[pymodule_export]
    use meta_evaluation::{
        best_epsilon, correlations, exceeding, holes, leads, outcomes, pair_counts, score_lines,
        subset_sums,
    };
    #[pymodule_export]
    use metrics::Metric;
    #[pymodule_export]
    use pairwise::{PairScores, Pairs};
    #[pymodule_export]
    use resample::{
        SingleFormula, SingleStack, Stack, Stream, count_apart, count_higher, exchanged,
        summarize_differences,
    };
    #[pymodule_export]
    use resegment::{align_by_edits, align_by_similarity, count_agreement, join_units};
    #[pymodule_export]
    use run::Scan;
    #[pymodule_export]
    use sources::{Source, arrow, encoded, file, references, stream, strings, tokens};
    #[pymodule_export]
    use table::{Scores, Table, sealed, unsealed};
    #[pymodule_export]
    use texts::{count_lines, count_same, is_utf8, with_dictionary};
    #[pymodule_export]
    use token_corpus::{Corpus, health};
    #[pymodule_export]
    use token_ids::TokenIds;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        if let Ok(name) = std::env::var("TRUEBLEU_SIMD")
            && let Err(error) = use_instructions(&name)
        {
            let message = error.value(module.py()).to_string();
            let _ = ENVIRONMENT_ERROR.set(format!("environment variable TRUEBLEU_SIMD: {message}"));
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
