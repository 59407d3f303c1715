//! TER as it is defined: a whole table of distances for each candidate.
//!
//! This is what the tests hold the fast search equal to, and what computes the few segments whose
//! beam is too wide for it.

use super::{Band, Limits, Outcome, Shift};
use crate::interrupt::Work;

/// An edit of a word on the way from hypothesis to reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The same word on both sides.
    Match,
    /// Another word in the reference.
    Substitution,
    /// A word of the hypothesis that the reference has not.
    Deletion,
    /// A word of the reference that the hypothesis has not.
    Insertion,
}

/// Edit distance within a beam, and the steps of one cheapest way.
///
/// Of equally cheap ways, from the end, a match or substitution is taken first, then a deletion,
/// then an insertion.
pub fn distance(hypothesis: &[u32], reference: &[u32]) -> (u32, Vec<Step>) {
    /// More than any distance.
    const FAR: u32 = u32::MAX / 2;
    let band = Band::new(hypothesis.len(), reference.len());
    // Only the columns within the beam are kept of each row.
    let mut rows: Vec<(usize, Vec<(u32, Step)>)> = Vec::with_capacity(hypothesis.len() + 1);
    rows.push((0, (0..=reference.len()).map(|j| (j as u32, Step::Insertion)).collect()));
    let mut work = Work::default();
    for (i, word) in (1..).zip(hypothesis) {
        let (above_start, above) = &rows[i - 1];
        let columns = band.columns(i);
        let mut row: Vec<(u32, Step)> = Vec::with_capacity(columns.len());
        let at = |j: usize| {
            j.checked_sub(*above_start).and_then(|j| above.get(j)).map_or(FAR, |cell| cell.0)
        };
        for j in columns.clone() {
            work.done(4);
            if j == 0 {
                row.push((at(0) + 1, Step::Deletion));
                continue;
            }
            let same = *word == reference[j - 1];
            let step = if same { Step::Match } else { Step::Substitution };
            let left = row.last().map_or(FAR, |cell| cell.0);
            let ways = [
                (at(j - 1) + u32::from(!same), step),
                (at(j) + 1, Step::Deletion),
                (left + 1, Step::Insertion),
            ];
            // The first of the cheapest.
            row.push(ways.into_iter().min_by_key(|way| way.0).unwrap_or(ways[0]));
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

/// The queries of the shift search on an alignment.
struct Aligned {
    /// For each word of the reference, how many words of the hypothesis come before what follows
    /// it: one more than the word it is aligned with, or than the last one before it.
    after: Vec<usize>,
    wrong_in_hypothesis: Vec<bool>,
    wrong_in_reference: Vec<bool>,
}

impl Aligned {
    fn new(steps: &[Step]) -> Self {
        let mut aligned = Self {
            after: Vec::new(),
            wrong_in_hypothesis: Vec::new(),
            wrong_in_reference: Vec::new(),
        };
        for &step in steps {
            let wrong = step != Step::Match;
            if step != Step::Insertion {
                aligned.wrong_in_hypothesis.push(wrong);
            }
            if step != Step::Deletion {
                aligned.after.push(aligned.wrong_in_hypothesis.len());
                aligned.wrong_in_reference.push(wrong);
            }
        }
        aligned
    }
}

/// The words after a shift. `target` counts in the words before it, and inside of the shifted
/// words it means so many places to the right.
pub fn shifted(words: &[u32], start: usize, length: usize, target: usize) -> Vec<u32> {
    let (before, rest) = words.split_at(start);
    let (block, after) = rest.split_at(length);
    let mut shifted: Vec<u32> = [before, after].concat();
    let to = Shift::landing(words.len(), start, length, target);
    shifted.splice(to..to, block.iter().copied());
    shifted
}

/// Shifts until no shift reduces the edit distance.
pub fn search(hypothesis: &[u32], reference: &[u32]) -> Outcome {
    let mut words = hypothesis.to_vec();
    let mut shifts = Vec::new();
    let mut checked = 0;
    loop {
        let (current, steps) = distance(&words, reference);
        let best = best_shift(&words, reference, current, &steps, &mut checked);
        let Some((shift, next)) = best else {
            return Outcome { distance: current, shifts, steps };
        };
        shifts.push(shift);
        words = next;
    }
}

/// The shift that reduces the distance most; of several the longest, then the first, then the one
/// that goes least far.
fn best_shift(
    words: &[u32],
    reference: &[u32],
    current: u32,
    steps: &[Step],
    checked: &mut usize,
) -> Option<(Shift, Vec<u32>)> {
    let aligned = Aligned::new(steps);
    let mut best: Option<(_, Vec<u32>)> = None;
    for start in 0..words.len() {
        for at in 0..reference.len() {
            if start.abs_diff(at) > Limits::DISTANCE {
                continue;
            }
            let pairs = words[start..].iter().zip(&reference[at..]).take(Limits::SIZE);
            let longest = pairs.take_while(|(a, b)| a == b).count();
            for length in 1..=longest {
                let right = |wrong: &[bool]| !wrong.contains(&true);
                if right(&aligned.wrong_in_hypothesis[start..start + length])
                    || right(&aligned.wrong_in_reference[at..at + length])
                    || (start + 1..start + length + 1).contains(&aligned.after[at])
                {
                    continue;
                }
                let mut last = None;
                for i in at..=at + length {
                    let target = if i == 0 { 0 } else { aligned.after[i - 1] };
                    if last.replace(target) == Some(target) {
                        continue;
                    }
                    let next = shifted(words, start, length, target);
                    let gain = i64::from(current) - i64::from(distance(&next, reference).0);
                    *checked += 1;
                    let key = (gain, length, -(start as i64), -(target as i64));
                    if best.as_ref().is_none_or(|(other, _)| key > *other) {
                        best = Some((key, next));
                    }
                }
                if *checked >= Limits::CANDIDATES {
                    return None;
                }
            }
        }
    }
    let ((gain, length, start, target), next) = best?;
    let (start, target) = (-start as usize, -target as usize);
    let target = Shift::landing(words.len(), start, length, target);
    (gain > 0).then_some((Shift { start, length, target }, next))
}
