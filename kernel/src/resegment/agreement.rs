//! The agreement of a divided text with its reference: the number of matching and differing units
//! in each segment.

use super::UNPAIRED;
use crate::interrupt::Work;

/// The numbers of units in one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of units of the text that equal their counterparts.
    pub equal: u32,
    /// Number of units of the text that differ from their counterparts.
    pub substituted: u32,
    /// Number of units of the text without a counterpart.
    pub added: u32,
    /// Number of units of the reference without a counterpart.
    pub missing: u32,
}

/// The agreement of all segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The indices of the units of the first segment, then of the second segment, and so on.
    pub members: Vec<u32>,
    /// The counts of each segment.
    pub counts: Vec<Counts>,
    /// Number of reference units without a counterpart that are in long runs.
    pub missing: usize,
    /// Number of text units without a counterpart that are in long runs.
    pub added: usize,
}

/// Return the segments of units after moving each unit that may not begin a segment to the segment
/// of the unit before it. With `first`, every unit belongs to this segment or a later one.
pub fn join_units(segments: &[u32], begins: &[u8], first: Option<u32>) -> Vec<u32> {
    let mut places = Vec::with_capacity(segments.len());
    for (&segment, &begins) in segments.iter().zip(begins) {
        places.push(match (places.last(), first) {
            (Some(&place), _) if begins == 0 => place,
            (_, Some(first)) if segment == UNPAIRED => first,
            (_, first) => segment.max(first.unwrap_or(0)),
        });
    }
    places
}

/// Count the units of each segment.
///
/// `places` contains the final segment of each unit of the text. `segments` and `pairs` are from
/// the alignment: a unit that was moved to another segment has no counterpart there. Runs are long
/// if they have at least `min_run` units.
pub fn count_agreement(
    references: &[Vec<u32>],
    hypothesis: &[u32],
    places: &[u32],
    (segments, pairs): (&[u32], &[u32]),
    min_run: usize,
) -> Agreement {
    let mut work = Work::default();
    let mut counts = vec![Counts::default(); references.len()];
    let mut is_missing: Vec<Vec<bool>> =
        references.iter().map(|units| vec![true; units.len()]).collect();
    let mut is_added = Vec::with_capacity(hypothesis.len());
    for (((&unit, &place), &segment), &pair) in
        hypothesis.iter().zip(places).zip(segments).zip(pairs)
    {
        work.add(1);
        is_added.push(pair == UNPAIRED || place != segment);
        let Some(counts) = counts.get_mut(place as usize) else { continue };
        if is_added.last() == Some(&true) {
            counts.added += 1;
        } else {
            is_missing[place as usize][pair as usize] = false;
            if references[place as usize][pair as usize] == unit {
                counts.equal += 1;
            } else {
                counts.substituted += 1;
            }
        }
    }
    for (counts, is_missing) in counts.iter_mut().zip(&is_missing) {
        counts.missing = is_missing.iter().filter(|&&flag| flag).count() as u32;
    }
    let mut members: Vec<u32> = (0..hypothesis.len() as u32).collect();
    members.retain(|&index| places[index as usize] != UNPAIRED);
    members.sort_by_key(|&index| places[index as usize]);
    Agreement {
        members,
        counts,
        missing: count_long_runs(is_missing.iter().flatten(), min_run),
        added: count_long_runs(&is_added, min_run),
    }
}

/// Return the number of true values in runs of at least `min_run`.
fn count_long_runs<'a>(flags: impl IntoIterator<Item = &'a bool>, min_run: usize) -> usize {
    let (mut total, mut run) = (0, 0);
    for &flag in flags {
        run = if flag { run + 1 } else { 0 };
        if run == min_run {
            total += min_run;
        } else if run > min_run {
            total += 1;
        }
    }
    total
}
