//! Re-segmentation for Python. Units are integers; segments of units are returned as bytes of
//! 32-bit integers.

use super::require;
use super::run::{LongSequence, interruptible};
use crate::resegment::similar::UnitType;
use crate::resegment::{
    Alignment, LeadingBorders, UNPAIRED, agreement, bit_parallel, general, similar,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The segments and pairs of the units, the alternatives of the segments (each as bytes), and the
/// edit distance.
type Places<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64);

fn to_python(py: Python<'_>, alignment: Alignment) -> Places<'_> {
    let Alignment { segments, pairs, alternatives, errors } = alignment;
    (encode(py, &segments), encode(py, &pairs), encode(py, &alternatives), errors)
}

fn encode<'py>(py: Python<'py>, values: &[u32]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>())
}

fn decode(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&value| u32::from_ne_bytes(value)).collect()
}

/// Align a hypothesis with segments by edit distance. A segment has one or more alternatives.
#[pyfunction]
pub fn align_by_edits<'py>(
    py: Python<'py>,
    segments: LongSequence<Vec<Vec<u32>>>,
    hypothesis: LongSequence<u32>,
    forbidden: &[u8],
    counts_leading_borders: bool,
) -> PyResult<Places<'py>> {
    let (segments, hypothesis) = (segments.0, hypothesis.0);
    let has_references = !segments.is_empty() && !segments.iter().any(Vec::is_empty);
    let expectation = "expected at least one segment, and at least one reference per segment";
    require(has_references, expectation)?;
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

/// Align a hypothesis with segments by the similarities of unit types. Units are indices of types.
/// The types are given as the concatenated code points of all types, the number of code points of
/// each type, and whether each type is a punctuation mark.
#[pyfunction]
pub fn align_by_similarity<'py>(
    py: Python<'py>,
    segments: LongSequence<Vec<u32>>,
    hypothesis: LongSequence<u32>,
    characters: &[u8],
    lengths: LongSequence<usize>,
    is_punctuation: &[u8],
    only_equal: bool,
) -> PyResult<Places<'py>> {
    let (segments, hypothesis, lengths) = (segments.0, hypothesis.0, lengths.0);
    let characters = decode(characters);
    let mut units = segments.iter().flatten().chain(&hypothesis);
    let is_valid = units.all(|&unit| (unit as usize) < lengths.len())
        && lengths.iter().sum::<usize>() == characters.len()
        && lengths.len() == is_punctuation.len();
    require(is_valid, "expected units that are indices of the types")?;
    let mut rest = &characters[..];
    let types = lengths.iter().zip(is_punctuation).map(|(&length, &flag)| {
        let (characters, others) = rest.split_at(length);
        rest = others;
        let mut characters = characters.to_vec();
        characters.sort_unstable();
        characters.dedup();
        UnitType { characters, is_punctuation: flag != 0 }
    });
    let alignment = interruptible(py, || {
        let segments: Vec<&[u32]> = segments.iter().map(Vec::as_slice).collect();
        similar::align_by_similarity(&segments, &hypothesis, &types.collect::<Vec<_>>(), only_equal)
    })?;
    Ok(to_python(py, alignment))
}

/// Return the segments of units after moving each unit that may not begin a segment to the segment
/// of the unit before it. With `first`, every unit belongs to this segment or a later one.
#[pyfunction]
pub fn join_units<'py>(
    py: Python<'py>,
    segments: &[u8],
    begins: &[u8],
    first: Option<u32>,
) -> Bound<'py, PyBytes> {
    encode(py, &agreement::join_units(&decode(segments), begins, first))
}

/// The indices of the units, segment by segment, as bytes; for each segment, the numbers of equal,
/// substituted, added and missing units; and the total numbers of missing and of added units in
/// runs of at least `min_run`.
type AgreementCounts<'py> = (Bound<'py, PyBytes>, Vec<(u32, u32, u32, u32)>, usize, usize);

/// Count the units that each segment has in common with its reference. `places` contains the final
/// segment of each unit; `segments` and `pairs` are from the alignment.
#[pyfunction]
pub fn count_agreement<'py>(
    py: Python<'py>,
    references: LongSequence<Vec<u32>>,
    hypothesis: LongSequence<u32>,
    places: &[u8],
    segments: &[u8],
    pairs: &[u8],
    min_run: usize,
) -> PyResult<AgreementCounts<'py>> {
    let (references, hypothesis) = (references.0, hypothesis.0);
    let (places, segments, pairs) = (decode(places), decode(segments), decode(pairs));
    let is_valid = |(&segment, &pair): (&u32, &u32)| match references.get(segment as usize) {
        Some(units) => pair == UNPAIRED || (pair as usize) < units.len(),
        None => segment == UNPAIRED,
    };
    let sizes = [places.len(), segments.len(), pairs.len()];
    let are_valid = sizes == [hypothesis.len(); 3]
        && segments.iter().zip(&pairs).all(is_valid)
        && places.iter().all(|place| is_valid((place, &UNPAIRED)));
    require(are_valid, "expected units of the segments")?;
    let result = interruptible(py, || {
        let aligned = (&segments[..], &pairs[..]);
        agreement::count_agreement(&references, &hypothesis, &places, aligned, min_run)
    })?;
    let to_tuple = |counts: agreement::Counts| {
        (counts.equal, counts.substituted, counts.added, counts.missing)
    };
    let counts = result.counts.into_iter().map(to_tuple).collect();
    Ok((encode(py, &result.members), counts, result.missing, result.added))
}
