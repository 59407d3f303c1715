//! Columns of texts that Python holds, looked at all at once.

use super::run::interruptible;
use crate::interrupt::{self, Work};
use crate::text_codec;
use memchr::{memchr, memchr_iter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// A column of texts that Python holds: one by one, or as lines, all of which have an end.
pub enum Held<'py> {
    Each(Vec<Option<Bound<'py, PyBytes>>>),
    Lines(Bound<'py, PyBytes>),
}

impl<'py> FromPyObject<'_, 'py> for Held<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = given.cast::<PyBytes>() {
            return Ok(Self::Lines(text.to_owned()));
        }
        let texts = given.cast::<PyTuple>()?.iter().enumerate().map(|(i, item)| {
            if i % (1 << 14) == 0 {
                given.py().check_signals()?;
            }
            Ok(if item.is_none() { None } else { Some(item.cast_into::<PyBytes>()?) })
        });
        Ok(Self::Each(texts.collect::<PyResult<_>>()?))
    }
}

impl Held<'_> {
    /// Each text, if it is there.
    pub fn texts(&self) -> Vec<Option<&[u8]>> {
        match self {
            Self::Each(texts) => {
                texts.iter().map(|text| text.as_ref().map(|text| text.as_bytes())).collect()
            }
            Self::Lines(text) => {
                let text = text.as_bytes();
                let mut start = 0;
                let lines = memchr_iter(b'\n', text).map(|end| {
                    let line = &text[start..end];
                    start = end + 1;
                    Some(line)
                });
                lines.collect()
            }
        }
    }

    /// Columns of the same segments.
    pub fn columns<'a>(
        given: impl IntoIterator<Item = &'a Self>,
    ) -> PyResult<Vec<Vec<Option<&'a [u8]>>>>
    where
        Self: 'a,
    {
        let columns: Vec<_> = given.into_iter().map(Self::texts).collect();
        if columns.iter().any(|column| column.len() != columns[0].len()) {
            return Err(PyValueError::new_err("columns of different lengths"));
        }
        Ok(columns)
    }
}

/// Whole lines, of about a mebibyte each time, with the end of each but perhaps the last.
fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr(b'\n', rest.get(1 << 20..).unwrap_or_default());
        let (part, next) = rest.split_at(end.map_or(rest.len(), |end| (1 << 20) + end + 1));
        rest = next;
        (!part.is_empty()).then_some(part)
    })
}

/// The number of line ends in a text.
#[pyfunction]
pub fn count_lines(py: Python<'_>, text: &[u8]) -> PyResult<usize> {
    let parts = parts(text).inspect(|_| interrupt::poll());
    Ok(interruptible(py, || parts.map(|part| memchr_iter(b'\n', part).count()).sum())?)
}

/// True if a text is UTF-8.
#[pyfunction]
pub fn is_utf8(py: Python<'_>, text: &[u8]) -> PyResult<bool> {
    let mut parts = parts(text).inspect(|_| interrupt::poll());
    Ok(interruptible(py, || parts.all(|part| std::str::from_utf8(part).is_ok()))?)
}

/// The number of segments whose texts are the same in two columns.
#[pyfunction]
pub fn count_same(py: Python<'_>, one: Held<'_>, other: Held<'_>) -> PyResult<usize> {
    let columns = Held::columns([&one, &other])?;
    let mut work = Work::default();
    let pairs = columns[0].iter().zip(&columns[1]).inspect(|_| work.done(8));
    Ok(interruptible(py, || pairs.filter(|(one, other)| one == other).count())?)
}

/// Columns of texts for a page: `payload.py` of the report describes the bytes.
#[pyfunction]
pub fn with_dictionary<'py>(
    py: Python<'py>,
    columns: Vec<Held<'py>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = text_codec::Columns(Held::columns(&columns)?);
    // Sizes are numbers of four bytes.
    if columns.sizes().any(|size| u32::try_from(size).is_err()) {
        let message = "the texts of a system or reference are 4 GiB or more; embed fewer of them";
        return Err(PyValueError::new_err(message));
    }
    Ok(PyBytes::new(py, &interruptible(py, || columns.written())?))
}
