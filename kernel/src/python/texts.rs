//! Functions for complete columns of texts that Python owns.

use super::require;
use super::run::interruptible;
use crate::interrupt::{self, Work};
use crate::text_codec;
use memchr::{memchr, memchr_iter};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// A column of texts that Python owns: single texts, or newline-terminated lines.
pub enum PythonTexts<'py> {
    Segments(Vec<Option<Bound<'py, PyBytes>>>),
    Lines(Bound<'py, PyBytes>),
}

impl<'py> FromPyObject<'_, 'py> for PythonTexts<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyBytes>() {
            return Ok(Self::Lines(text.to_owned()));
        }
        let texts = object.cast::<PyTuple>()?.iter().enumerate().map(|(i, item)| {
            if i % (1 << 14) == 0 {
                object.py().check_signals()?;
            }
            Ok(if item.is_none() { None } else { Some(item.cast_into::<PyBytes>()?) })
        });
        Ok(Self::Segments(texts.collect::<PyResult<_>>()?))
    }
}

impl PythonTexts<'_> {
    /// Return each text, or `None` if it is missing.
    pub fn texts(&self) -> Vec<Option<&[u8]>> {
        match self {
            Self::Segments(texts) => {
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

    /// Return the texts of each column, or an error if the columns have different lengths.
    pub fn columns<'a>(
        python_columns: impl IntoIterator<Item = &'a Self>,
    ) -> PyResult<Vec<Vec<Option<&'a [u8]>>>>
    where
        Self: 'a,
    {
        let columns: Vec<_> = python_columns.into_iter().map(Self::texts).collect();
        let have_same_length = columns.iter().all(|column| column.len() == columns[0].len());
        require(have_same_length, "columns have different lengths")?;
        Ok(columns)
    }
}

/// Split text at line endings into parts of about one mebibyte.
fn split_parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut remaining = text;
    std::iter::from_fn(move || {
        let end = memchr(b'\n', remaining.get(1 << 20..).unwrap_or_default());
        let (part, after) =
            remaining.split_at(end.map_or(remaining.len(), |end| (1 << 20) + end + 1));
        remaining = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Return the number of line endings in a text.
#[pyfunction]
pub fn count_lines(py: Python<'_>, text: &[u8]) -> PyResult<usize> {
    let text_parts = split_parts(text).inspect(|_| interrupt::poll());
    Ok(interruptible(py, || text_parts.map(|part| memchr_iter(b'\n', part).count()).sum())?)
}

/// Return whether a text is valid UTF-8.
#[pyfunction]
pub fn is_utf8(py: Python<'_>, text: &[u8]) -> PyResult<bool> {
    let mut text_parts = split_parts(text).inspect(|_| interrupt::poll());
    Ok(interruptible(py, || text_parts.all(|part| std::str::from_utf8(part).is_ok()))?)
}

/// Return the number of segments with equal texts in two columns.
#[pyfunction]
pub fn count_same(py: Python<'_>, one: PythonTexts<'_>, other: PythonTexts<'_>) -> PyResult<usize> {
    let columns = PythonTexts::columns([&one, &other])?;
    let mut work = Work::default();
    let pairs = columns[0].iter().zip(&columns[1]).inspect(|_| work.add(8));
    Ok(interruptible(py, || pairs.filter(|(first, second)| first == second).count())?)
}

/// Encode columns of texts for a report, in the format that the report's `payload.py` describes.
#[pyfunction]
pub fn with_dictionary<'py>(
    py: Python<'py>,
    columns: Vec<PythonTexts<'py>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = text_codec::TextColumns(PythonTexts::columns(&columns)?);
    // Sizes are stored in four bytes.
    let have_valid_sizes = columns.column_sizes().all(|size| u32::try_from(size).is_ok());
    require(
        have_valid_sizes,
        "a system or reference has 4 GiB of text or more. Embed fewer texts",
    )?;
    Ok(PyBytes::new(py, &interruptible(py, || columns.encode())?))
}
