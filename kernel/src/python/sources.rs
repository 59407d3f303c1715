//! Text from Python: sequences of strings, tokens, Arrow columns, files.

use super::{long_utf8, stopped, with_utf8};
use crate::arrow::{ArrowArray, ArrowArrayStream, ArrowSchema, Column};
use crate::error::Error;
use crate::interrupt::Work;
use crate::text_batches::{
    self, Batch, Block, Foreign, MOST_SEGMENTS, Piece, Stream, TokenBlock, Want, check_size,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBytes, PyCapsule, PyDict, PyFloat, PyInt, PyIterator, PyList, PySet, PyString, PyTuple,
};
use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A stream of segments. It can be read once.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Source {
    source: Mutex<Option<Box<dyn text_batches::Source>>>,
}

impl Source {
    fn new(source: impl text_batches::Source + 'static) -> Self {
        Self { source: Mutex::new(Some(Box::new(source))) }
    }

    /// The source itself, once.
    pub fn take(&self) -> PyResult<Box<dyn text_batches::Source>> {
        let taken = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| PyRuntimeError::new_err("this source has been read already"))
    }
}

/// The type of a value that should be text, or how it is missing: `text.checks.described`.
fn described(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let is_nan = value.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan());
    let missing = match name.as_str() {
        "NAType" => "pandas.NA",
        "NaTType" => "pandas.NaT",
        "NoneType" => "None",
        _ if is_nan => "NaN",
        _ => return format!("of type {name}"),
    };
    format!("{missing}, a missing value (fill it with \"\" or leave the segment out)")
}

/// Bytes in Python objects, or copies of them.
#[derive(Default)]
pub struct Keep {
    copies: Vec<Vec<u8>>,
    /// What holds the strings.
    pub held: Option<Py<PyAny>>,
}

impl Keep {
    /// The bytes of a string that lives as long as its source.
    pub fn foreign(&mut self, text: &Bound<'_, PyString>) -> PyResult<Foreign> {
        let long = long_utf8(text)?;
        if long.is_none()
            && let Ok(text) = text.to_str()
        {
            // SAFETY: strings do not change, and the source (or this value) holds this one.
            return Ok(unsafe { Foreign::new(text.as_bytes()) });
        }
        let copy = match long {
            Some(copy) => copy,
            None => with_utf8(text, <[u8]>::to_vec)?,
        };
        // SAFETY: moving a vector does not move its bytes, and this value keeps them.
        let foreign = unsafe { Foreign::new(&copy) };
        self.copies.push(copy);
        Ok(foreign)
    }

    fn done(self) -> Option<Arc<dyn Any + Send + Sync>> {
        (!self.copies.is_empty() || self.held.is_some())
            .then(|| Arc::new(self) as Arc<dyn Any + Send + Sync>)
    }
}

/// Hypotheses: a tuple of strings.
struct Strings {
    name: String,
    items: Py<PyTuple>,
    position: usize,
}

impl Strings {
    fn read(&mut self, py: Python<'_>, want: Want) -> PyResult<Result<Option<Batch>, Error>> {
        let items = self.items.bind(py);
        let (most, most_bytes) = limits(want);
        let mut segments = Vec::with_capacity(most.min(items.len() - self.position));
        let mut keep = Keep::default();
        let mut bytes = 0;
        while self.position < items.len()
            && segments.len() < most
            && (segments.is_empty() || bytes < most_bytes)
        {
            let item = items.get_borrowed_item(self.position)?;
            self.position += 1;
            let segment = self.position as u64;
            let Ok(text) = item.cast::<PyString>() else {
                if item.is_none() {
                    return Ok(Err(Error::MissingHypothesis { input: self.name.clone(), segment }));
                }
                return Err(PyTypeError::new_err(format!(
                    "{}: segment {segment} is {}, not str",
                    self.name,
                    described(&item)
                )));
            };
            let text = keep.foreign(&text)?;
            bytes += text.bytes().len();
            segments.push(Some(text));
        }
        if segments.is_empty() {
            return Ok(Ok(None));
        }
        if let Err(error) = check_size(&self.name, bytes) {
            return Ok(Err(error));
        }
        let count = segments.len();
        let block = Block::Segments { segments, trusted: true, keep: keep.done() };
        Ok(Ok(Some(Batch { count, streams: vec![block] })))
    }
}

fn limits(want: Want) -> (usize, usize) {
    match want {
        Want::Segments(segments) => (segments, usize::MAX),
        Want::Bytes(bytes) => (MOST_SEGMENTS, bytes),
    }
}

impl text_batches::Source for Strings {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        Python::attach(|py| self.read(py, want)).map_err(stopped)?
    }
}

/// Texts that are UTF-8 already: a tuple of bytes, or `None` where there is none.
struct Encoded {
    name: String,
    items: Py<PyTuple>,
    position: usize,
}

impl Encoded {
    fn read(&mut self, py: Python<'_>, want: Want) -> PyResult<Result<Option<Batch>, Error>> {
        let items = self.items.bind(py);
        let (most, most_bytes) = limits(want);
        let mut segments = Vec::with_capacity(most.min(items.len() - self.position));
        let mut bytes = 0;
        while self.position < items.len()
            && segments.len() < most
            && (segments.is_empty() || bytes < most_bytes)
        {
            let item = items.get_borrowed_item(self.position)?;
            self.position += 1;
            segments.push(match item.is_none() {
                true => None,
                false => {
                    let text = item.cast::<PyBytes>()?;
                    let text = text.as_bytes();
                    bytes += text.len();
                    // SAFETY: bytes do not change, and this source holds them.
                    Some(unsafe { Foreign::new(text) })
                }
            });
        }
        if segments.is_empty() {
            return Ok(Ok(None));
        }
        if let Err(error) = check_size(&self.name, bytes) {
            return Ok(Err(error));
        }
        let count = segments.len();
        // Lone surrogates are none of UTF-8, and are taken for what they are.
        let block = Block::Segments { segments, trusted: true, keep: None };
        Ok(Ok(Some(Batch { count, streams: vec![block] })))
    }
}

impl text_batches::Source for Encoded {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        Python::attach(|py| self.read(py, want)).map_err(stopped)?
    }
}

/// References: a tuple that has for each segment a string, or a tuple or list of strings and `None`.
struct References {
    items: Py<PyTuple>,
    position: usize,
}

impl References {
    fn read(&mut self, py: Python<'_>, want: Want) -> PyResult<Result<Option<Batch>, Error>> {
        let items = self.items.bind(py);
        let (most, _) = limits(want);
        let count = most.min(items.len() - self.position);
        if count == 0 {
            return Ok(Ok(None));
        }
        let mut keep = Keep::default();
        // One object to release later, instead of one per segment.
        let mut held = Vec::new();
        let mut streams: Vec<Vec<Option<Foreign>>> = vec![Vec::with_capacity(count)];
        let mut bytes = 0;
        for row in 0..count {
            let item = items.get_borrowed_item(self.position + row)?;
            if let Ok(text) = item.cast::<PyString>() {
                let text = keep.foreign(&text)?;
                bytes += text.bytes().len();
                streams[0].push(Some(text));
            } else if !item.is_none() {
                let several = several(&item, self.position + row + 1)?;
                for (i, text) in several.iter_borrowed().enumerate() {
                    if streams.len() <= i {
                        streams.push(vec![None; row]);
                    }
                    if text.is_none() {
                        continue;
                    }
                    let text = text
                        .cast::<PyString>()
                        .map_err(|_| not_text(self.position + row + 1, Some(i + 1), &text))?;
                    let text = keep.foreign(&text)?;
                    bytes += text.bytes().len();
                    streams[i].push(Some(text));
                }
                held.push(several);
            }
            for stream in &mut streams {
                stream.resize(row + 1, None);
            }
        }
        self.position += count;
        if let Err(error) = check_size("references", bytes) {
            return Ok(Err(error));
        }
        if !held.is_empty() {
            keep.held = Some(PyTuple::new(py, held)?.into_any().unbind());
        }
        let keep = keep.done();
        let block = |segments| Block::Segments { segments, trusted: true, keep: keep.clone() };
        Ok(Ok(Some(Batch { count, streams: streams.into_iter().map(block).collect() })))
    }
}

impl text_batches::Source for References {
    fn name(&self) -> &str {
        "references"
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        Python::attach(|py| self.read(py, want)).map_err(stopped)?
    }
}

/// The error about a reference of another type.
pub fn not_text(segment: usize, reference: Option<usize>, value: &Bound<'_, PyAny>) -> PyErr {
    let which = reference.map_or(String::new(), |reference| format!(", reference {reference}"));
    PyTypeError::new_err(format!(
        "references: segment {segment}{which} is {}; \
         a segment's references are a string, or a sequence of strings and None",
        described(value)
    ))
}

/// The references of one segment, as a tuple that holds them.
pub fn several<'py>(item: &Bound<'py, PyAny>, segment: usize) -> PyResult<Bound<'py, PyTuple>> {
    if let Ok(tuple) = item.cast::<PyTuple>() {
        return Ok(tuple.clone());
    }
    if let Ok(list) = item.cast::<PyList>() {
        return Ok(list.to_tuple());
    }
    let unordered = item.is_instance_of::<PyDict>() || item.is_instance_of::<PySet>();
    if unordered || item.is_instance_of::<PyBytes>() || !item.hasattr("__len__")? {
        return Err(not_text(segment, None, item));
    }
    PyTuple::new(item.py(), item.try_iter()?.collect::<PyResult<Vec<_>>>()?)
}

/// Segments that are tokens: an iterator over sequences of strings or integers, or, for
/// references, over lists of such sequences (and `None`).
struct TokenRows {
    name: String,
    rows: Py<PyIterator>,
    several: bool,
    given: usize,
}

fn push_tokens(
    block: &mut TokenBlock,
    tokens: &Bound<'_, PyAny>,
    name: &str,
    segment: usize,
) -> PyResult<()> {
    let mut work = Work::default();
    for token in tokens.try_iter()? {
        let token = token?;
        work.done(64);
        if let Ok(text) = token.cast::<PyString>() {
            with_utf8(text, |bytes| block.text.raw().extend_from_slice(bytes))?;
        } else {
            // Any integer, NumPy's too. Its digits stand for it.
            let number = token.call_method0("__index__").map_err(|_| {
                PyTypeError::new_err(format!(
                    "{name}: segment {segment} has a token {}; \
                     tokens are strings or integers",
                    described(&token)
                ))
            })?;
            let digits = number.cast::<PyInt>()?.str()?;
            with_utf8(&digits, |bytes| block.text.raw().extend_from_slice(bytes))?;
        }
        block.token_ends.push(block.text.len() as u32);
    }
    block.segment_ends.push(block.token_ends.len() as u32);
    Ok(())
}

impl TokenRows {
    fn read(&mut self, py: Python<'_>, want: Want) -> PyResult<Result<Option<Batch>, Error>> {
        let mut rows = self.rows.bind(py).clone();
        let (most, most_bytes) = limits(want);
        let mut blocks = vec![TokenBlock::default()];
        let mut count = 0;
        while count < most && (count == 0 || blocks[0].text.len() < most_bytes) {
            let Some(row) = rows.next() else { break };
            let row = row?;
            self.given += 1;
            let sequences: Vec<Bound<'_, PyAny>> =
                if self.several { row.try_iter()?.collect::<PyResult<_>>()? } else { vec![row] };
            for (i, tokens) in sequences.iter().enumerate() {
                if blocks.len() <= i {
                    blocks.push(missing_rows(count));
                }
                if !tokens.is_none() {
                    push_tokens(&mut blocks[i], tokens, &self.name, self.given)?;
                }
            }
            count += 1;
            for block in &mut blocks {
                if block.segment_ends.len() < count {
                    block.missing.push(count as u32 - 1);
                    block.segment_ends.push(block.token_ends.len() as u32);
                }
                if let Err(error) = check_size(&self.name, block.text.len()) {
                    return Ok(Err(error));
                }
            }
        }
        if count == 0 {
            return Ok(Ok(None));
        }
        let finish = |mut block: TokenBlock| {
            block.text.finish();
            Block::Tokens(block)
        };
        Ok(Ok(Some(Batch { count, streams: blocks.into_iter().map(finish).collect() })))
    }
}

fn missing_rows(count: usize) -> TokenBlock {
    TokenBlock {
        segment_ends: vec![0; count],
        missing: (0..count as u32).collect(),
        ..TokenBlock::default()
    }
}

impl text_batches::Source for TokenRows {
    fn name(&self) -> &str {
        &self.name
    }

    /// True, so that what others wrote runs in the thread that called, and nowhere else.
    fn waits(&self) -> bool {
        true
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        Python::attach(|py| self.read(py, want)).map_err(stopped)?
    }
}

/// Hypotheses from a tuple of strings.
#[pyfunction]
pub fn strings(items: Py<PyTuple>, name: String) -> Source {
    Source::new(Strings { name, items, position: 0 })
}

/// References from a tuple that has for each segment a string, or a sequence of strings and None.
#[pyfunction]
pub fn references(items: Bound<'_, PyTuple>) -> PyResult<Source> {
    let items = plain_sequences(items)?.unbind();
    Ok(Source::new(References { items, position: 0 }))
}

/// The same references with tuples for sequences of classes that others wrote: their code runs here,
/// in the thread that called, and not in whichever reads on.
fn plain_sequences(items: Bound<'_, PyTuple>) -> PyResult<Bound<'_, PyTuple>> {
    let py = items.py();
    let mut changed = None;
    for (i, item) in items.iter_borrowed().enumerate() {
        if i % (1 << 14) == 0 {
            py.check_signals()?;
        }
        let plain = item.is_instance_of::<PyString>()
            || item.is_none()
            || item.is_instance_of::<PyTuple>()
            || item.is_instance_of::<PyList>();
        if !plain {
            let all = changed.get_or_insert_with(|| items.iter().collect::<Vec<_>>());
            all[i] = several(&item, i + 1)?.into_any();
        }
    }
    changed.map_or(Ok(items.clone()), |all| PyTuple::new(py, all))
}

/// Texts from a tuple of bytes, each the UTF-8 of a string (with surrogates as Python has them),
/// or None.
#[pyfunction]
pub fn encoded(items: Py<PyTuple>, name: String) -> Source {
    Source::new(Encoded { name, items, position: 0 })
}

/// Segments that are tokens; with `several`, each row is a sequence of them.
#[pyfunction]
pub fn tokens(rows: Py<PyIterator>, name: String, several: bool) -> Source {
    Source::new(TokenRows { name, rows, several, given: 0 })
}

/// The capsules an object gives by the Arrow PyCapsule protocol.
pub enum Given {
    /// A stream of arrays.
    Stream(ArrowArrayStream),
    /// A single array, and its type.
    Array(ArrowSchema, ArrowArray),
}

impl Given {
    /// By `__arrow_c_stream__`, or by `__arrow_c_array__`.
    pub fn by(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        fn moved<T>(capsule: &Bound<'_, PyAny>, name: &std::ffi::CStr, empty: T) -> PyResult<T> {
            let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast::<T>();
            // SAFETY: a capsule of this name holds such a structure; an empty one in its place
            // tells the capsule that it has been moved out.
            Ok(unsafe { pointer.as_ptr().replace(empty) })
        }
        if object.hasattr("__arrow_c_stream__")? {
            let capsule = object.call_method0("__arrow_c_stream__")?;
            let stream = moved(&capsule, c"arrow_array_stream", ArrowArrayStream::empty())?;
            return Ok(Self::Stream(stream));
        }
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            object.call_method0("__arrow_c_array__")?.extract()?;
        let schema = moved(&schema, c"arrow_schema", ArrowSchema::empty())?;
        Ok(Self::Array(schema, moved(&array, c"arrow_array", ArrowArray::empty())?))
    }
}

/// An Arrow column, by the PyCapsule protocol.
#[pyfunction]
pub fn arrow(column: &Bound<'_, PyAny>, name: String, required: bool) -> PyResult<Source> {
    Ok(Source::new(match Given::by(column)? {
        Given::Stream(stream) => Column::from_stream(name, required, stream)?,
        Given::Array(schema, array) => Column::from_array(name, required, &schema, array)?,
    }))
}

/// The lines of a regular file, as far as it reaches now.
#[pyfunction]
pub fn file(path: PathBuf, name: String) -> PyResult<Source> {
    Ok(Source::new(Stream::file(name, std::fs::File::open(path)?)?))
}

/// The lines of what `read(size)` brings as bytes; with `column`, a tab-separated column of them,
/// counted from 0.
#[pyfunction]
#[pyo3(signature = (read, name, column=None))]
pub fn stream(read: Py<PyAny>, name: String, column: Option<usize>) -> Source {
    const MOST: usize = 1 << 22;
    let read = move |into: &mut Piece| {
        let more = Python::attach(|py| -> PyResult<usize> {
            let bytes = read.bind(py).call1((into.room().len().min(MOST),))?;
            let bytes = bytes.cast::<PyBytes>()?.as_bytes();
            into.append(bytes);
            Ok(bytes.len())
        });
        more.map_err(stopped)
    };
    Source::new(Stream::new(name, column, Box::new(read)))
}
