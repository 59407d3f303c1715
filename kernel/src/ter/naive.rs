//! The definition of the TER search, which computes a full table of distances for each candidate.
//!
//! Tests compare the fast search with it. It also handles the few segments whose beam is too wide
//! for the fast search.

use super::{Beam, Limits, Outcome, Shift};
use crate::interrupt::Work;

/// An edit of a word that turns the hypothesis into the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A hypothesis word that equals its reference word.
    Match,
    /// A hypothesis word replaced by another word.
    Substitution,
    /// A hypothesis word that the reference lacks.
    Deletion,
    /// A reference word that the hypothesis lacks.
    Insertion,
}

/// Return the edit distance within the beam, and the steps of one cheapest path.
///
/// Among equally cheap paths, seen from the end, a match or substitution comes first, then a
/// deletion, then an insertion.
pub fn distance(hypothesis: &[u32], reference: &[u32]) -> (u32, Vec<Step>) {
    /// A number larger than any distance.
    const FAR: u32 = u32::MAX / 2;
    let band = Beam::new(hypothesis.len(), reference.len());
    // Only the columns within the beam are stored.
    let mut rows: Vec<(usize, Vec<(u32, Step)>)> = Vec::with_capacity(hypothesis.len() + 1);
    rows.push((0, (0..=reference.len()).map(|j| (j as u32, Step::Insertion)).collect()));
    let mut work = Work::default();
    for (i, word) in (1..).zip(hypothesis) {
        let (above_start, above) = &rows[i - 1];
        let columns = band.columns(i);
        let mut row: Vec<(u32, Step)> = Vec::with_capacity(columns.len());
        let cell_above = |j: usize| {
            j.checked_sub(*above_start).and_then(|j| above.get(j)).map_or(FAR, |cell| cell.0)
        };
        for j in columns.clone() {
            work.add(4);
            if j == 0 {
                row.push((cell_above(0) + 1, Step::Deletion));
                continue;
            }
            let is_match = *word == reference[j - 1];
            let step = if is_match { Step::Match } else { Step::Substitution };
            let left = row.last().map_or(FAR, |cell| cell.0);
            let options = [
                (cell_above(j - 1) + u32::from(!is_match), step),
                (cell_above(j) + 1, Step::Deletion),
                (left + 1, Step::Insertion),
            ];
            // `min_by_key` returns the first of the cheapest options.
            row.push(options.into_iter().min_by_key(|option| option.0).unwrap_or(options[0]));
        }
        rows.push((columns.start, row));
    }
    let cell = |i: usize, j: usize| rows[i].1[j - rows[i].0];
    let (mut i, mut j) = (hypothesis.len(), reference.len());
    let mut steps = Vec::with_capacity(i.max(j));
    while i > 0 || j > 0 {
        let (_, step) = cell(i, j);
        steps.push(step);
        i -= usize::from(step != Step::Insertion);
        j -= usize::from(step != Step::Deletion);
    }
    steps.reverse();
    (cell(hypothesis.len(), reference.len()).0, steps)
}

/// The properties of an alignment that the shift search needs.
struct Alignment {
    /// For each reference word, the number of hypothesis words before its successor's position: one
    /// more than the position of the aligned word, or of the last aligned word before it.
    aligned_end: Vec<usize>,
    is_error_in_hypothesis: Vec<bool>,
    is_error_in_reference: Vec<bool>,
}

impl Alignment {
    fn new(steps: &[Step]) -> Self {
        let mut alignment = Self {
            aligned_end: Vec::new(),
            is_error_in_hypothesis: Vec::new(),
            is_error_in_reference: Vec::new(),
        };
        for &step in steps {
            let is_error = step != Step::Match;
            if step != Step::Insertion {
                alignment.is_error_in_hypothesis.push(is_error);
            }
            if step != Step::Deletion {
                alignment.aligned_end.push(alignment.is_error_in_hypothesis.len());
                alignment.is_error_in_reference.push(is_error);
            }
        }
        alignment
    }
}

/// Return the words after a shift. `target` is an index into the words before the shift. If the
/// target is inside the phrase, the phrase moves to the right, so that it starts at `target`.
pub fn apply_shift(words: &[u32], start: usize, length: usize, target: usize) -> Vec<u32> {
    let (leading, tail) = words.split_at(start);
    let (block, following) = tail.split_at(length);
    let mut shifted: Vec<u32> = [leading, following].concat();
    let insertion_point = Shift::target_position(words.len(), start, length, target);
    shifted.splice(insertion_point..insertion_point, block.iter().copied());
    shifted
}

/// Apply shifts until no shift reduces the edit distance.
pub fn search(hypothesis: &[u32], reference: &[u32]) -> Outcome {
    let mut words = hypothesis.to_vec();
    let mut shifts = Vec::new();
    let mut candidate_count = 0;
    loop {
        let (current, steps) = distance(&words, reference);
        let best = best_shift(&words, reference, current, &steps, &mut candidate_count);
        let Some((shift, next)) = best else {
            return Outcome { distance: current, shifts, steps };
        };
        shifts.push(shift);
        words = next;
    }
}

/// Return the shift that reduces the distance most. Ties are broken by length (longest), then start
/// (first), then target (first).
fn best_shift(
    words: &[u32],
    reference: &[u32],
    current: u32,
    steps: &[Step],
    candidate_count: &mut usize,
) -> Option<(Shift, Vec<u32>)> {
    let alignment = Alignment::new(steps);
    let mut best: Option<(_, Vec<u32>)> = None;
    for start in 0..words.len() {
        for reference_start in 0..reference.len() {
            if start.abs_diff(reference_start) > Limits::MAX_SHIFT_DISTANCE {
                continue;
            }
            let pairs = words[start..]
                .iter()
                .zip(&reference[reference_start..])
                .take(Limits::MAX_SHIFT_WORDS);
            let longest = pairs.take_while(|(a, b)| a == b).count();
            for length in 1..=longest {
                let is_correct = |errors: &[bool]| !errors.contains(&true);
                if is_correct(&alignment.is_error_in_hypothesis[start..start + length])
                    || is_correct(
                        &alignment.is_error_in_reference[reference_start..reference_start + length],
                    )
                    || (start + 1..start + length + 1)
                        .contains(&alignment.aligned_end[reference_start])
                {
                    continue;
                }
                let mut last_target = None;
                for i in reference_start..=reference_start + length {
                    let target = if i == 0 { 0 } else { alignment.aligned_end[i - 1] };
                    if last_target.replace(target) == Some(target) {
                        continue;
                    }
                    let next = apply_shift(words, start, length, target);
                    let gain = i64::from(current) - i64::from(distance(&next, reference).0);
                    *candidate_count += 1;
                    let key = (gain, length, -(start as i64), -(target as i64));
                    if best.as_ref().is_none_or(|(best_key, _)| key > *best_key) {
                        best = Some((key, next));
                    }
                }
                if *candidate_count >= Limits::MAX_CANDIDATES {
                    return None;
                }
            }
        }
    }
    let ((gain, length, start, target), next) = best?;
    let (start, target) = (-start as usize, -target as usize);
    let target = Shift::target_position(words.len(), start, length, target);
    (gain > 0).then_some((Shift { start, length, target }, next))
}
