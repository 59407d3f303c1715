//! Token ids: segments of integers instead of text.

use super::sources::Source;
use crate::error::Error;
use crate::interrupt::Work;
use crate::text_batches::{self, Batch, BatchSize, TokenBatch, TokenBlock};
use pyo3::buffer::{Element, PyBuffer, ReadOnlyCell};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyIterator, PySlice, PyTuple, PyType};
use std::ops::Range;
use std::sync::Arc;

/// Number of ids that are converted together.
const CHUNK_IDS: usize = 1 << 10;

/// Texts of token ids. A segment of references may have several texts.
#[derive(Default)]
struct IdTexts {
    /// The lower 32 bits of each id.
    low: Vec<u32>,
    /// The upper 32 bits of each id; empty if all are 0.
    high: Vec<u32>,
    /// The end of each text in `low`.
    text_ends: Vec<usize>,
    /// For references: the end of each segment in `text_ends`.
    segment_ends: Option<Vec<usize>>,
}

impl IdTexts {
    fn segment_count(&self) -> usize {
        self.segment_ends.as_ref().unwrap_or(&self.text_ends).len()
    }

    /// Return the indices of the texts of a segment.
    fn texts(&self, segment: usize) -> Range<usize> {
        self.segment_ends.as_ref().map_or(segment..segment + 1, |ends| find_range(ends, segment))
    }

    /// Return the positions of the ids of a text.
    fn positions(&self, text: usize) -> Range<usize> {
        find_range(&self.text_ends, text)
    }

    fn id(&self, position: usize) -> u64 {
        let high = self.high.get(position).copied().unwrap_or(0);
        u64::from(high) << 32 | u64::from(self.low[position])
    }

    fn push(&mut self, id: u64) {
        let high = (id >> 32) as u32;
        if high != 0 || !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
            self.high.push(high);
        }
        self.low.push(id as u32);
    }

    /// Return the location of a text for messages.
    fn describe_text(&self, text: usize) -> String {
        let Some(ends) = &self.segment_ends else { return format!("row {}", text + 1) };
        let segment = ends.partition_point(|&end| end <= text);
        let reference = text - self.texts(segment).start;
        format!("segment {}, reference {}", segment + 1, reference + 1)
    }
}

/// Return the range that ends at `ends[i]`.
fn find_range(ends: &[usize], i: usize) -> Range<usize> {
    i.checked_sub(1).map_or(0, |previous| ends[previous])..ends[i]
}

/// Rules that select the ids of a text.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct IdRules {
    pad: Option<i128>,
    eos: Option<i128>,
    skip: Vec<i128>,
}

impl IdRules {
    /// Append the ids of a row to `texts`; return an error message for an invalid row.
    fn append<T: Element + Into<i128>>(
        &self,
        row: &[ReadOnlyCell<T>],
        texts: &mut IdTexts,
    ) -> Result<(), String> {
        let mut work = Work::default();
        if self.pad.is_none() && self.eos.is_none() && self.skip.is_empty() {
            // This loop is branch-free. The bits of all ids show whether each id fits.
            let bits = row.chunks(1 << 12).fold(0, |bits, part| {
                work.add(part.len());
                part.iter().fold(bits, |bits: i128, id| bits | id.get().into())
            });
            if (0..1 << 32).contains(&bits) && texts.high.is_empty() {
                texts.low.extend(row.iter().map(|id| id.get().into() as u32));
                return Ok(());
            }
        }
        let is = |id: &ReadOnlyCell<T>, value: Option<i128>| value == Some(id.get().into());
        let start = row.iter().position(|id| !is(id, self.pad) || self.pad == self.eos);
        let row = &row[start.unwrap_or(row.len())..];
        let end = self.eos.and_then(|_| row.iter().position(|id| is(id, self.eos)));
        let row = &row[..end.unwrap_or(row.len())];
        let end = row.iter().rposition(|id| !is(id, self.pad)).map_or(0, |last| last + 1);
        for id in &row[..end] {
            work.add(1);
            let id: i128 = id.get().into();
            if Some(id) == self.pad {
                return Err(format!("the padding {id} is between other ids"));
            }
            if self.skip.contains(&id) {
                continue;
            }
            let id = u64::try_from(id).map_err(|_| format!("negative id {id}"))?;
            texts.push(id);
        }
        Ok(())
    }
}

/// Token ids of hypotheses, or of references with one or more texts per segment. As a sequence,
/// they are texts of decimal numbers.
#[pyclass(frozen, module = "truebleu._kernel")]
pub struct TokenIds {
    texts: Arc<IdTexts>,
}

/// The arguments of `TokenIds` that recreate an object.
type ReducedIds<'py> =
    (Bound<'py, PyAny>, &'static str, Vec<usize>, Option<Vec<usize>>, Bound<'py, PyDict>);

/// Read rows of `T`, which end at `ends`.
fn read_rows<T: Element + Into<i128>>(
    data: &Bound<'_, PyAny>,
    ends: &[usize],
    rules: &IdRules,
    texts: &mut IdTexts,
) -> PyResult<Option<(usize, String)>> {
    let buffer = PyBuffer::<T>::get(data)?;
    let pointer = buffer.as_slice_ptr();
    let pointer = pointer.ok_or_else(|| PyValueError::new_err("the buffer is not contiguous"))?;
    // SAFETY: the buffer outlives the slice, and other code may change it only between calls.
    let values = unsafe { &*(pointer.as_ptr() as *const [ReadOnlyCell<T>]) };
    texts.low.reserve_exact(values.len());
    let mut start = 0;
    for (text, &end) in ends.iter().enumerate() {
        let row = values.get(start..end).ok_or_else(|| PyValueError::new_err("too few values"))?;
        if let Err(problem) = rules.append(row, texts) {
            return Ok(Some((text, problem)));
        }
        texts.text_ends.push(texts.low.len());
        start = end;
    }
    Ok(None)
}

#[pymethods]
impl TokenIds {
    /// Read a buffer of native integers with the given ends of rows.
    #[new]
    fn new(
        data: &Bound<'_, PyAny>,
        number_format: &str,
        ends: Vec<usize>,
        segment_ends: Option<Vec<usize>>,
        rules: IdRules,
    ) -> PyResult<Self> {
        let mut texts = IdTexts { segment_ends, ..IdTexts::default() };
        let problem = match number_format {
            "b" => read_rows::<i8>(data, &ends, &rules, &mut texts),
            "B" => read_rows::<u8>(data, &ends, &rules, &mut texts),
            "h" => read_rows::<i16>(data, &ends, &rules, &mut texts),
            "H" => read_rows::<u16>(data, &ends, &rules, &mut texts),
            "i" => read_rows::<i32>(data, &ends, &rules, &mut texts),
            "I" => read_rows::<u32>(data, &ends, &rules, &mut texts),
            "Q" => read_rows::<u64>(data, &ends, &rules, &mut texts),
            _ => read_rows::<i64>(data, &ends, &rules, &mut texts),
        }?;
        if let Some((text, problem)) = problem {
            return Err(Error::Input(format!("{}: {problem}", texts.describe_text(text))).into());
        }
        Ok(Self { texts: Arc::new(texts) })
    }

    fn __len__(&self) -> usize {
        self.texts.segment_count()
    }

    /// Return a segment as text, or its references as a tuple of texts.
    fn __getitem__<'py>(&self, segment: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, count) = (segment.py(), self.texts.segment_count());
        if let Ok(slice) = segment.cast::<PySlice>() {
            let indices = slice.indices(count as isize)?;
            let segments = (0..indices.slicelength as isize).map(|i| {
                self.__getitem__((indices.start + i * indices.step).into_pyobject(py)?.as_any())
            });
            return Ok(PyTuple::new(py, segments.collect::<PyResult<Vec<_>>>()?)?.into_any());
        }
        let segment: isize = segment.extract()?;
        let index = if segment < 0 { segment + count as isize } else { segment };
        let index = usize::try_from(index).ok().filter(|index| *index < count);
        let index = index.ok_or_else(|| PyIndexError::new_err("segment index out of range"))?;
        let join = |text| {
            let ids = self.texts.positions(text).map(|position| self.texts.id(position));
            let decimals: Vec<String> = ids.map(|id| id.to_string()).collect();
            decimals.join(" ")
        };
        if self.texts.segment_ends.is_none() {
            return Ok(join(index).into_pyobject(py)?.into_any());
        }
        Ok(PyTuple::new(py, self.texts.texts(index).map(join).collect::<Vec<_>>())?.into_any())
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        slf.get_item(PySlice::full(slf.py()))?.try_iter()
    }

    fn __repr__(&self) -> String {
        format!("TokenIds({} segments, {} ids)", self.__len__(), self.texts.low.len())
    }

    /// Pickle the ids as an array. A last item, which is ignored, prevents an empty array, whose
    /// address may not be aligned.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, ReducedIds<'py>)> {
        let (py, texts) = (slf.py(), &slf.get().texts);
        let ids = (0..texts.low.len()).map(|position| texts.id(position)).chain([0]);
        let bytes: Vec<u8> = ids.flat_map(u64::to_ne_bytes).collect();
        let array = py.import("array")?.call_method1("array", ("Q", PyBytes::new(py, &bytes)))?;
        let rules = [("pad", None), ("eos", None), ("skip", Some([0; 0]))].into_py_dict(py)?;
        let ends = (texts.text_ends.clone(), texts.segment_ends.clone());
        Ok((slf.get_type(), (array, "Q", ends.0, ends.1, rules)))
    }

    /// Return a kernel source of the ids.
    fn make_source(&self, name: String) -> Source {
        Source::new(IdSource { name, texts: Arc::clone(&self.texts), position: 0 })
    }
}

/// A source of token ids. Each id becomes a short token.
struct IdSource {
    name: String,
    texts: Arc<IdTexts>,
    position: usize,
}

impl IdTexts {
    /// Append a text to a block. Each id becomes ASCII characters from `@` on, each of which
    /// represents six bits. Ids below 2^24 become four characters.
    fn append_text(&self, text: usize, block: &mut TokenBlock) {
        let positions = self.positions(text);
        let mut work = Work::default();
        for start in positions.clone().step_by(CHUNK_IDS) {
            work.add(CHUNK_IDS);
            let ids = start..positions.end.min(start + CHUNK_IDS);
            let (low, first) = (&self.low[ids.clone()], block.text.len() as u32);
            let buffer = block.text.buffer_mut();
            if self.high.is_empty() && low.iter().fold(0, |bits, id| bits | id) < 1 << 24 {
                let end = buffer.len();
                buffer.resize(end + 4 * low.len(), 0);
                for (bytes, &id) in buffer[end..].as_chunks_mut().0.iter_mut().zip(low) {
                    let bits = id & 0x3F | (id & 0xFC0) << 2;
                    let bits = bits | (id & 0x3_F000) << 4 | (id & 0xFC_0000) << 6;
                    *bytes = (bits | 0x4040_4040).to_le_bytes();
                }
                block.token_ends.extend((1..=low.len() as u32).map(|i| first + 4 * i));
                continue;
            }
            block.has_other_tokens = true;
            for position in ids {
                let mut rest = self.id(position);
                let shortest = buffer.len() + if rest < 1 << 24 { 4 } else { 1 };
                while rest > 0 || buffer.len() < shortest {
                    buffer.push(b'@' | (rest & 63) as u8);
                    rest >>= 6;
                }
                block.token_ends.push((buffer.len() - text_batches::MARGIN) as u32);
            }
        }
    }
}

impl text_batches::Source for IdSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, size: BatchSize) -> Result<Option<Batch>, Error> {
        let Self { name, texts, position } = self;
        // A token takes six times as much memory as its text, and small batches stay in caches.
        let (max_segments, max_bytes) = size.limits();
        TokenBatch::read(name, (max_segments, max_bytes / 4), |batch| {
            if *position == texts.segment_count() {
                return Ok(false);
            }
            for (i, text) in texts.texts(*position).enumerate() {
                batch.push_text(i, |block| texts.append_text(text, block));
            }
            *position += 1;
            Ok(true)
        })
    }
}
