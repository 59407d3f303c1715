//! Re-segmentation for Python. Units are integers; places are returned as bytes of 32-bit integers.

use super::run::{LongSequence, interruptible};
use crate::resegment::similar::UnitType;
use crate::resegment::{Alignment, LeadingBorders, bit_parallel, general, similar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The segments and pairs of the units, the alternatives of the segments (each as bytes), and the
/// edit distance.
type Places<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64);

fn to_python(py: Python<'_>, alignment: Alignment) -> Places<'_> {
    let encode = |values: Vec<u32>| {
        PyBytes::new(py, &values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>())
    };
    let Alignment { segments, pairs, alternatives, errors } = alignment;
    (encode(segments), encode(pairs), encode(alternatives), errors)
}

/// Align a hypothesis with segments, each of one or more alternatives, by the edit distance.
#[pyfunction]
pub fn align_by_edits<'py>(
    py: Python<'py>,
    segments: LongSequence<Vec<Vec<u32>>>,
    hypothesis: LongSequence<u32>,
    forbidden: &[u8],
    counts_leading_borders: bool,
) -> PyResult<Places<'py>> {
    let (segments, hypothesis) = (segments.0, hypothesis.0);
    if segments.is_empty() || segments.iter().any(Vec::is_empty) {
        return Err(PyValueError::new_err(
            "expected at least one segment, and at least one reference per segment",
        ));
    }
    let borders =
        if counts_leading_borders { LeadingBorders::Counted } else { LeadingBorders::Free };
    let alignment = interruptible(py, || {
        if forbidden.is_empty() && segments.iter().all(|alternatives| alternatives.len() == 1) {
            let segments: Vec<&[u32]> = segments.iter().map(|units| &units[0][..]).collect();
            bit_parallel::align_bit_parallel(&segments, &hypothesis, borders)
        } else {
            let forbidden: Vec<bool> = forbidden.iter().map(|&flag| flag != 0).collect();
            general::align_general(&segments, &hypothesis, &forbidden, borders)
        }
    })?;
    Ok(to_python(py, alignment))
}

/// Align a hypothesis with segments by the similarities of unit types. Units are indices of
/// `types`, which are the characters of each type and whether it is punctuation.
#[pyfunction]
pub fn align_by_similarity<'py>(
    py: Python<'py>,
    segments: LongSequence<Vec<u32>>,
    hypothesis: LongSequence<u32>,
    types: LongSequence<(Vec<u32>, bool)>,
    only_equal: bool,
) -> PyResult<Places<'py>> {
    let (segments, hypothesis, types) = (segments.0, hypothesis.0, types.0);
    let mut units = segments.iter().flatten().chain(&hypothesis);
    if units.any(|&unit| unit as usize >= types.len()) {
        return Err(PyValueError::new_err("expected units to be indices into the types"));
    }
    let types: Vec<UnitType> = types
        .into_iter()
        .map(|(characters, is_punctuation)| UnitType { characters, is_punctuation })
        .collect();
    let alignment = interruptible(py, || {
        let segments: Vec<&[u32]> = segments.iter().map(Vec::as_slice).collect();
        similar::align_by_similarity(&segments, &hypothesis, &types, only_equal)
    })?;
    Ok(to_python(py, alignment))
}
