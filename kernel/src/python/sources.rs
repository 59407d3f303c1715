//! Sources of text from Python: sequences of strings, tokens, Arrow columns, and files.

use super::{encode_long_text, with_utf8};
use crate::arrow::{ArrowArray, ArrowArrayStream, ArrowInput, ArrowSchema, TextColumn};
use crate::error::Error;
use crate::interrupt::{Work, lock};
use crate::text_batches::{
    self, Batch, BatchSize, Block, BorrowedSegment, Chunk, Stream, TokenBatch, TokenBlock,
    check_text_size,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBytes, PyCapsule, PyDict, PyFloat, PyFrozenSet, PyInt, PyIterator, PyList, PySet, PyString,
    PyTuple,
};
use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A stream of segments that can be read once.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct Source {
    source: Mutex<Option<Box<dyn text_batches::Source>>>,
}

impl Source {
    pub(super) fn new(source: impl text_batches::Source + 'static) -> Self {
        Self { source: Mutex::new(Some(Box::new(source))) }
    }

    /// Return the source, which can be taken only once.
    pub fn take(&self) -> PyResult<Box<dyn text_batches::Source>> {
        let inner = lock(&self.source).take();
        inner.ok_or_else(|| PyRuntimeError::new_err("this source has already been read"))
    }
}

/// Describe the type of a value that is not text, or the kind of missing value, in the same words
/// as `text.argument_checks`.
fn describe_value(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let is_nan = value.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan());
    let missing = match name.as_str() {
        "NAType" => "pandas.NA",
        "NaTType" => "pandas.NaT",
        "NoneType" => "None",
        _ if is_nan => "NaN",
        _ => return format!("of type {name}"),
    };
    format!("{missing}, a missing value (replace it with \"\" or remove the segment)")
}

/// Owners of borrowed bytes: Python objects, and copies of their bytes.
#[derive(Default)]
pub struct ByteOwners {
    copies: Vec<Vec<u8>>,
    /// The owner of the strings.
    pub owner: Option<Py<PyAny>>,
}

impl ByteOwners {
    /// Borrow the bytes of a string, or copy them if they cannot be borrowed.
    pub fn borrow(&mut self, text: &Bound<'_, PyString>) -> PyResult<BorrowedSegment> {
        let encoded = encode_long_text(text)?;
        if encoded.is_none()
            && let Ok(text) = text.to_str()
        {
            // SAFETY: strings are immutable, and the source (or this value) owns this string.
            return Ok(unsafe { BorrowedSegment::new(text.as_bytes()) });
        }
        let copy = match encoded {
            Some(copy) => copy,
            None => with_utf8(text, <[u8]>::to_vec)?,
        };
        // SAFETY: moving a vector does not move its bytes, and this value owns them.
        let foreign = unsafe { BorrowedSegment::new(&copy) };
        self.copies.push(copy);
        Ok(foreign)
    }

    /// Return the owners, or `None` if there are none.
    fn into_owner(self) -> Option<Arc<dyn Any + Send + Sync>> {
        (!self.copies.is_empty() || self.owner.is_some())
            .then(|| Arc::new(self) as Arc<dyn Any + Send + Sync>)
    }
}

/// Number of objects whose headers are loaded at a time.
const LOADED_HEADERS: usize = 16;

/// Load the headers of the objects from `position` on, if it is a multiple of [`LOADED_HEADERS`].
///
/// Objects of a large tuple are not in the cache. Loads without other work between them wait for
/// memory at the same time.
#[inline(always)]
fn load_headers(items: &Bound<'_, PyTuple>, position: usize) -> PyResult<()> {
    if position.is_multiple_of(LOADED_HEADERS) {
        for i in position..items.len().min(position + LOADED_HEADERS) {
            std::hint::black_box(items.get_borrowed_item(i)?.get_type_ptr());
        }
    }
    Ok(())
}

/// A source of texts from a tuple: strings, or `None` and texts already encoded as UTF-8.
struct TextSource {
    name: String,
    items: Py<PyTuple>,
    position: usize,
    is_encoded: bool,
}

impl TextSource {
    /// Borrow the bytes of the item at `position` - 1.
    fn borrow(
        &self,
        item: &Bound<'_, PyAny>,
        owners: &mut ByteOwners,
    ) -> Result<Option<BorrowedSegment>, Error> {
        let segment = self.position as u64;
        if self.is_encoded {
            if item.is_none() {
                return Ok(None);
            }
            let text = item.cast::<PyBytes>().map_err(PyErr::from)?;
            // SAFETY: `bytes` objects are immutable, and this source owns them.
            return Ok(Some(unsafe { BorrowedSegment::new(text.as_bytes()) }));
        }
        match item.cast::<PyString>() {
            Ok(text) => Ok(Some(owners.borrow(text)?)),
            Err(_) if item.is_none() => {
                Err(Error::MissingHypothesis { input: self.name.clone(), segment })
            }
            Err(_) => Err(PyTypeError::new_err(format!(
                "{}: segment {segment} is {}, not str",
                self.name,
                describe_value(item)
            ))
            .into()),
        }
    }
}

impl text_batches::Source for TextSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        Python::attach(|py| {
            let items = self.items.clone_ref(py).into_bound(py);
            let (max_segments, max_bytes) = size.limits();
            let mut segments = Vec::with_capacity(max_segments.min(items.len() - self.position));
            let mut owners = ByteOwners::default();
            let mut bytes = 0;
            while self.position < items.len()
                && segments.len() < max_segments
                && (segments.is_empty() || bytes < max_bytes)
            {
                load_headers(&items, self.position)?;
                let item = items.get_borrowed_item(self.position)?;
                self.position += 1;
                let segment = self.borrow(&item, &mut owners)?;
                bytes += segment.as_ref().map_or(0, |segment| segment.bytes().len());
                segments.push(segment);
            }
            check_text_size(&self.name, bytes)?;
            let count = segments.len();
            // Lone surrogates are not valid UTF-8, but are allowed here.
            let block = Block::Segments { segments, is_utf8: true, owner: owners.into_owner() };
            Ok((count > 0).then(|| Batch { count, streams: vec![block] }))
        })
    }
}

/// A source of references from a tuple with one entry per segment: a string, or a sequence of
/// strings and `None`.
struct ReferenceSource {
    items: Py<PyTuple>,
    position: usize,
}

impl text_batches::Source for ReferenceSource {
    fn name(&self) -> &str {
        "references"
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        Python::attach(|py| {
            let items = self.items.bind(py);
            let (max_segments, _) = size.limits();
            let count = max_segments.min(items.len() - self.position);
            if count == 0 {
                return Ok(None);
            }
            let mut owners = ByteOwners::default();
            // One owner of all segments is faster to release than one owner per segment.
            let mut reference_lists = Vec::new();
            let mut streams: Vec<Vec<Option<BorrowedSegment>>> = vec![Vec::with_capacity(count)];
            let mut bytes = 0;
            for row in 0..count {
                load_headers(items, self.position + row)?;
                let item = items.get_borrowed_item(self.position + row)?;
                let segment = self.position + row + 1;
                if let Ok(text) = item.cast::<PyString>() {
                    let segment_bytes = owners.borrow(&text)?;
                    bytes += segment_bytes.bytes().len();
                    streams[0].push(Some(segment_bytes));
                } else if !item.is_none() {
                    let segment_references = several(&item, segment)?;
                    for (i, text) in segment_references.iter_borrowed().enumerate() {
                        if streams.len() <= i {
                            streams.push(vec![None; row]);
                        }
                        if text.is_none() {
                            continue;
                        }
                        let text = text
                            .cast::<PyString>()
                            .map_err(|_| not_text_error(segment, Some(i + 1), &text))?;
                        let text = owners.borrow(&text)?;
                        bytes += text.bytes().len();
                        streams[i].push(Some(text));
                    }
                    reference_lists.push(segment_references);
                }
                for stream in &mut streams {
                    stream.resize(row + 1, None);
                }
            }
            self.position += count;
            check_text_size("references", bytes)?;
            if !reference_lists.is_empty() {
                owners.owner = Some(PyTuple::new(py, reference_lists)?.into_any().unbind());
            }
            let owner = owners.into_owner();
            let block =
                |segments| Block::Segments { segments, is_utf8: true, owner: owner.clone() };
            Ok(Some(Batch { count, streams: streams.into_iter().map(block).collect() }))
        })
    }
}

/// Return the error for a reference of an unsupported type.
pub fn not_text_error(segment: usize, reference: Option<usize>, value: &Bound<'_, PyAny>) -> PyErr {
    let reference_name =
        reference.map_or(String::new(), |reference| format!(", reference {reference}"));
    PyTypeError::new_err(format!(
        "references, segment {segment}{reference_name} is {} \
         (expected a string, or a sequence of strings and None, per segment)",
        describe_value(value)
    ))
}

/// Return the references of one segment as a tuple that owns them.
pub fn several<'py>(item: &Bound<'py, PyAny>, segment: usize) -> PyResult<Bound<'py, PyTuple>> {
    if let Ok(tuple) = item.cast::<PyTuple>() {
        return Ok(tuple.clone());
    }
    if let Ok(list) = item.cast::<PyList>() {
        return Ok(list.to_tuple());
    }
    let is_unordered = item.is_instance_of::<PyDict>()
        || item.is_instance_of::<PySet>()
        || item.is_instance_of::<PyFrozenSet>();
    if is_unordered || item.is_instance_of::<PyBytes>() || !item.hasattr("__len__")? {
        return Err(not_text_error(segment, None, item));
    }
    PyTuple::new(item.py(), item.try_iter()?.collect::<PyResult<Vec<_>>>()?)
}

/// A source of tokenized segments from an iterator over sequences of strings or integers. For
/// references, each item is a list that contains such sequences or `None`.
struct TokenSource {
    name: String,
    rows: Py<PyIterator>,
    has_several_references: bool,
    segment_count: usize,
}

/// Append the tokens of a segment to a block.
fn push_tokens(
    block: &mut TokenBlock,
    tokens: &Bound<'_, PyAny>,
    name: &str,
    segment: usize,
) -> PyResult<()> {
    let mut work = Work::default();
    block.has_other_tokens = true;
    for token in tokens.try_iter()? {
        let token = token?;
        work.add(64);
        let push = |bytes: &[u8]| block.text.buffer_mut().extend_from_slice(bytes);
        if let Ok(text) = token.cast::<PyString>() {
            with_utf8(text, push)?;
        } else {
            // Any integer, including NumPy's, is represented by its digits.
            let number = token.call_method0("__index__").map_err(|_| {
                PyTypeError::new_err(format!(
                    "{name}, segment {segment}: found a token {} \
                     (expected strings or integers)",
                    describe_value(&token)
                ))
            })?;
            with_utf8(&number.cast::<PyInt>()?.str()?, push)?;
        }
        block.token_ends.push(block.text.len() as u32);
    }
    Ok(())
}

impl TokenSource {
    /// Append the next segment to a batch. Return false at the end.
    fn append_segment(&mut self, py: Python<'_>, batch: &mut TokenBatch) -> Result<bool, Error> {
        let Some(row) = self.rows.bind(py).clone().next() else { return Ok(false) };
        let row = row?;
        self.segment_count += 1;
        let sequences: Vec<Bound<'_, PyAny>> = if self.has_several_references {
            row.try_iter()?.collect::<PyResult<_>>()?
        } else {
            vec![row]
        };
        for (i, tokens) in sequences.iter().enumerate().filter(|(_, tokens)| !tokens.is_none()) {
            let append = |block: &mut _| push_tokens(block, tokens, &self.name, self.segment_count);
            batch.push_text(i, append)?;
        }
        Ok(true)
    }
}

impl text_batches::Source for TokenSource {
    fn name(&self) -> &str {
        &self.name
    }

    /// Return true, so that foreign code runs only in the calling thread.
    fn may_wait(&self) -> bool {
        true
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        let name = self.name.clone();
        Python::attach(|py| {
            TokenBatch::read(&name, size.limits(), |batch| self.append_segment(py, batch))
        })
    }
}

/// Create a source of hypotheses from a tuple of strings.
#[pyfunction]
pub fn strings(items: Py<PyTuple>, name: String) -> Source {
    Source::new(TextSource { name, items, position: 0, is_encoded: false })
}

/// Create a source of references from a tuple with one item per segment: a string, or a sequence of
/// strings and None.
#[pyfunction]
pub fn references(items: Bound<'_, PyTuple>) -> PyResult<Source> {
    let items = to_plain_sequences(items)?.unbind();
    Ok(Source::new(ReferenceSource { items, position: 0 }))
}

/// Convert sequences of foreign classes to tuples, so that foreign code runs in the calling thread
/// now, and not later in a thread that reads texts.
fn to_plain_sequences(items: Bound<'_, PyTuple>) -> PyResult<Bound<'_, PyTuple>> {
    let py = items.py();
    let mut replaced = None;
    for (i, item) in items.iter_borrowed().enumerate() {
        if i % (1 << 14) == 0 {
            py.check_signals()?;
        }
        let is_plain = item.is_instance_of::<PyString>()
            || item.is_none()
            || item.is_instance_of::<PyTuple>()
            || item.is_instance_of::<PyList>();
        if !is_plain {
            let items_list = replaced.get_or_insert_with(|| items.iter().collect::<Vec<_>>());
            items_list[i] = several(&item, i + 1)?.into_any();
        }
    }
    replaced.map_or(Ok(items.clone()), |items| PyTuple::new(py, items))
}

/// Create a source from a tuple of None and bytes, which are UTF-8 (surrogates are allowed).
#[pyfunction]
pub fn encoded(items: Py<PyTuple>, name: String) -> Source {
    Source::new(TextSource { name, items, position: 0, is_encoded: true })
}

/// Create a source of tokenized segments. With `several`, each row is a sequence of segments.
#[pyfunction]
pub fn tokens(rows: Py<PyIterator>, name: String, several: bool) -> Source {
    Source::new(TokenSource { name, rows, has_several_references: several, segment_count: 0 })
}

/// Return the data of an object that implements the Arrow PyCapsule protocol, by its method
/// `__arrow_c_stream__` or `__arrow_c_array__`.
pub fn take_arrow_input(object: &Bound<'_, PyAny>) -> PyResult<ArrowInput> {
    fn take_from_capsule<T>(
        capsule: &Bound<'_, PyAny>,
        name: &std::ffi::CStr,
        empty: T,
    ) -> PyResult<T> {
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast::<T>();
        // SAFETY: a capsule with this name contains this structure. An empty structure replaces
        // it, which marks it as moved.
        Ok(unsafe { pointer.as_ptr().replace(empty) })
    }
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let stream = take_from_capsule(&capsule, c"arrow_array_stream", ArrowArrayStream::empty())?;
        return Ok(ArrowInput::Stream(stream));
    }
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        object.call_method0("__arrow_c_array__")?.extract()?;
    let schema = take_from_capsule(&schema, c"arrow_schema", ArrowSchema::empty())?;
    Ok(ArrowInput::Array(schema, take_from_capsule(&array, c"arrow_array", ArrowArray::empty())?))
}

/// Create a source from an Arrow column that implements the PyCapsule protocol.
#[pyfunction]
pub fn arrow(column: &Bound<'_, PyAny>, name: String, required: bool) -> PyResult<Source> {
    Ok(Source::new(TextColumn::new(name, required, take_arrow_input(column)?)?))
}

/// Create a source from the lines of a regular file, up to its current size.
#[pyfunction]
pub fn file(path: PathBuf, name: String) -> PyResult<Source> {
    Ok(Source::new(Stream::from_file(name, std::fs::File::open(path)?)?))
}

/// Create a source from the lines that `read(size)` returns as bytes, or from one tab-separated
/// column of these lines, counted from 0.
#[pyfunction]
#[pyo3(signature = (read, name, column=None))]
pub fn stream(read: Py<PyAny>, name: String, column: Option<usize>) -> Source {
    const MAX_READ_BYTES: usize = 1 << 22;
    let read_chunk = move |chunk: &mut Chunk| {
        let byte_count = Python::attach(|py| -> PyResult<usize> {
            let bytes = read.bind(py).call1((chunk.spare_mut().len().min(MAX_READ_BYTES),))?;
            let bytes = bytes.cast::<PyBytes>()?.as_bytes();
            chunk.append(bytes);
            Ok(bytes.len())
        });
        Ok(byte_count?)
    };
    Source::new(Stream::new(name, column, Box::new(read_chunk)))
}
