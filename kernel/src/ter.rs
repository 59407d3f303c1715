//! TER's counts for a segment, stored as a row of integers. As in sacreBLEU, tercom's shift search
//! finds the edits.
//!
//! The edits that turn a hypothesis into a reference are insertions, deletions and substitutions of
//! words, and shifts of phrases. Each edit costs 1 (Snover et al. 2006). tercom's heuristic, with
//! the limits of sacreBLEU 2.6.0, determines which shifts are tried, and in which order. Other
//! choices would give other scores. [`naive`] defines the search. `search` finds the same shifts
//! with far less work, using bit-parallel rows (`beam`).
//!
//! Time and memory are bounded for any text: each row of the table is 50 cells wide, or wider if
//! the lengths differ greatly. At most [`Limits::MAX_CANDIDATES`] shifts are tried per segment.

mod beam;
pub mod naive;
mod search;

use crate::bleu::PARTS;
use crate::count;
use crate::interner::WordIds;
use crate::simd::Vector;
use crate::tokens::View;
pub use naive::Step;
use search::Search;
use std::ops::Range;

/// The limits of the search in tercom and sacreBLEU.
pub struct Limits;

impl Limits {
    /// Maximum number of words in a shift.
    pub const MAX_SHIFT_WORDS: usize = 10;
    /// Maximum distance between the positions of a phrase in the hypothesis and in the reference.
    pub const MAX_SHIFT_DISTANCE: usize = 50;
    /// Number of candidates, over all shifts of a segment, at which the search stops.
    pub const MAX_CANDIDATES: usize = 1000;
    /// Half the width of the beam.
    pub const BEAM_HALF_WIDTH: usize = 25;
}

/// The beam: the columns of the table that are computed in each row.
#[derive(Clone, Copy, Debug)]
pub struct Beam {
    rows: usize,
    columns: usize,
    ratio: f64,
    half_width: usize,
}

impl Beam {
    /// Create the beam for the word counts of the hypothesis (rows) and the reference (columns).
    pub fn new(hypothesis: usize, reference: usize) -> Self {
        let ratio = if hypothesis == 0 { 1.0 } else { reference as f64 / hypothesis as f64 };
        // Without this widening, a row might share no column with the row above.
        let is_widened = (Limits::BEAM_HALF_WIDTH as f64) < ratio / 2.0;
        let half_width = if is_widened {
            (ratio / 2.0 + Limits::BEAM_HALF_WIDTH as f64).ceil() as usize
        } else {
            Limits::BEAM_HALF_WIDTH
        };
        Self { rows: hypothesis, columns: reference, ratio, half_width }
    }

    /// Return whether a distance found within the beam is the exact edit distance. A shift then
    /// reduces either both the distance within the beam and the exact distance, or neither.
    ///
    /// A path of cost `D` between lengths that differ by `d` stays within (D + d) / 2 columns of
    /// the diagonal. The beam reaches 24 columns, minus one because its centre is rounded.
    fn is_exact(distance: u32, hypothesis: usize, reference: usize) -> bool {
        distance as usize + hypothesis.abs_diff(reference) <= 2 * (Limits::BEAM_HALF_WIDTH - 2)
    }

    /// Return the maximum number of columns in any row except the last.
    fn width(&self) -> usize {
        2 * self.half_width
    }

    /// Return the columns of a row. Rows and columns are counted from 1; column 0 represents an
    /// empty reference prefix.
    pub fn columns(&self, row: usize) -> Range<usize> {
        let diagonal = (row as f64 * self.ratio).floor() as usize;
        let end = if row == self.rows { self.columns + 1 } else { diagonal + self.half_width };
        diagonal.saturating_sub(self.half_width)..end.min(self.columns + 1)
    }
}

/// A phrase of the hypothesis that moves to another position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// The position of the first word before the shift.
    pub start: usize,
    /// Number of words moved.
    pub length: usize,
    /// The position of the first word after the shift.
    pub target: usize,
}

impl Shift {
    /// Return the new position of a phrase that moves before the word `target`. If the target is
    /// inside the phrase, the phrase moves to the right, so that it starts at `target`.
    fn target_position(words: usize, start: usize, length: usize, target: usize) -> usize {
        if target > start + length { target - length } else { target.min(words - length) }
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The edit distance after the shifts.
    pub distance: u32,
    /// The shifts in order of application.
    pub shifts: Vec<Shift>,
    /// The steps that turn the shifted hypothesis into the reference.
    pub steps: Vec<Step>,
}

impl Outcome {
    /// Return the total number of shifts, insertions, deletions and substitutions.
    pub fn total_edits(&self) -> usize {
        self.distance as usize + self.shifts.len()
    }
}

/// Reusable buffers of one thread.
#[derive(Default)]
pub struct TerScratch {
    interner: WordIds,
    search: Search,
}

impl TerScratch {
    /// Return the number of edits that turn a hypothesis into one reference.
    #[inline(always)]
    fn count_edits(&mut self, hypothesis: &View<'_>, reference: &View<'_>) -> usize {
        if reference.count() == 0 {
            return hypothesis.count();
        }
        let Self { interner, search } = self;
        interner.assign_ids(hypothesis, reference);
        let WordIds { hypothesis, reference, words, .. } = &*interner;
        match search.run(hypothesis, reference, words.len(), interner.min_edits()) {
            Some(distance) => distance as usize + search.shifts.len(),
            None => naive::search(hypothesis, reference).total_edits(),
        }
    }

    /// Return the shifts and steps that turn a hypothesis into one reference.
    pub fn find_edits(&mut self, hypothesis: &View<'_>, reference: &View<'_>) -> Outcome {
        if reference.count() == 0 {
            let steps = vec![Step::Deletion; hypothesis.count()];
            return Outcome { distance: steps.len() as u32, shifts: Vec::new(), steps };
        }
        let Self { interner, search } = self;
        interner.assign_ids(hypothesis, reference);
        let WordIds { hypothesis, reference, words, .. } = &*interner;
        match search.run(hypothesis, reference, words.len(), interner.min_edits()) {
            None => naive::search(hypothesis, reference),
            Some(distance) => {
                let mut steps = Vec::new();
                search.for_each_step(reference, |step, _, _| steps.push(step));
                steps.reverse();
                Outcome { distance, shifts: search.shifts.clone(), steps }
            }
        }
    }
}

/// The columns of a row: the smallest number of edits to a reference, and the mean reference length
/// as a multiple of 1 / [`PARTS`].
#[derive(Clone, Copy, Debug)]
pub struct TerColumns;

impl count::Metric for TerColumns {
    type Scratch = TerScratch;

    fn width(&self) -> usize {
        2
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut TerScratch,
        row: &mut [i64],
    ) {
        let edits = references.iter().map(|reference| scratch.count_edits(&hypothesis, reference));
        row[0] = edits.min().unwrap_or(0) as i64;
        let length: usize = references.iter().map(View::count).sum();
        // With more than 16 references, rounding loses less than 1 / `PARTS` of a word.
        row[1] = length as i64 * PARTS / references.len() as i64;
    }
}

/// The TER score: edits per reference word.
#[derive(Clone, Copy, Debug)]
pub struct TerFormula;

impl count::Formula for TerFormula {
    /// Return the score of a row as a percentage (it can exceed 100), computed in sacreBLEU's order of
    /// floating-point operations.
    fn score(&self, row: &[i64]) -> f64 {
        let (edits, length) = (row[0] as f64, row[1] as f64 / PARTS as f64);
        let rate = if length > 0.0 {
            edits / length
        } else if edits > 0.0 {
            // The hypothesis has words, but the reference is empty.
            1.0
        } else {
            0.0
        };
        100.0 * rate
    }
}

/// Return the outcome of the fast search over word ids, or `None` if it does not apply (for tests).
pub fn search(hypothesis: &[u32], reference: &[u32]) -> Option<Outcome> {
    let max_word = reference.iter().max().map_or(0, |&word| word as usize);
    let map_unknown_words = |word: &u32| if *word as usize > max_word { 0 } else { *word };
    let hypothesis: Vec<u32> = hypothesis.iter().map(map_unknown_words).collect();
    let mut search = Search::default();
    let distance = search.run(&hypothesis, reference, max_word, 0)?;
    let mut steps = Vec::new();
    search.for_each_step(reference, |step, _, _| steps.push(step));
    steps.reverse();
    Some(Outcome { distance, shifts: search.shifts, steps })
}
