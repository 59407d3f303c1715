//! TER's row of integers for a segment: tercom's shift search, as sacreBLEU has it.
//!
//! A hypothesis is edited into a reference by insertions, deletions and substitutions of words and
//! by shifts of whole phrases, each of which counts one (Snover et al. 2006). Which shifts are
//! tried, and in which order, is tercom's heuristic with the limits of sacreBLEU 2.6.0; another
//! choice gives another number. `plain` is the definition; `search` finds the same shifts with far
//! less work, on rows of bits (`beam`).
//!
//! Time and memory are bounded for any text: the beam makes a row of the table 50 cells wide
//! (or as wide as the lengths' ratio asks), and no more than [`Limits::CANDIDATES`] shifts are
//! tried for a segment.

mod beam;
pub mod naive;
mod search;

use crate::bleu::PARTS;
use crate::count;
use crate::interner::Interner;
use crate::simd::Vector;
use crate::tokens::View;
pub use naive::Step;
use search::Search;
use std::ops::Range;

/// The limits of tercom's and sacreBLEU's search.
pub struct Limits;

impl Limits {
    /// The most words that are shifted together.
    pub const SIZE: usize = 10;
    /// The most places between a phrase in the hypothesis and the same one in the reference.
    pub const DISTANCE: usize = 50;
    /// The number of candidates, over all shifts of a segment, that ends the search.
    pub const CANDIDATES: usize = 1000;
    /// Half of the width of the beam.
    pub const BEAM: usize = 25;
}

/// The beam: which columns of the table are computed in which row.
#[derive(Clone, Copy, Debug)]
pub struct Band {
    rows: usize,
    columns: usize,
    ratio: f64,
    half: usize,
}

impl Band {
    /// The beam for so many words of hypothesis (rows) and reference (columns).
    pub fn new(hypothesis: usize, reference: usize) -> Self {
        let ratio = if hypothesis == 0 { 1.0 } else { reference as f64 / hypothesis as f64 };
        // Else a row might have no column in common with the one above.
        let wide = (Limits::BEAM as f64) < ratio / 2.0;
        let half =
            if wide { (ratio / 2.0 + Limits::BEAM as f64).ceil() as usize } else { Limits::BEAM };
        Self { rows: hypothesis, columns: reference, ratio, half }
    }

    /// True if a distance found within the beam is the distance of the whole table, and a shift
    /// that reduces either reduces both.
    ///
    /// A way of cost `D` between lengths that differ by `d` keeps within (D + d) / 2 columns of the
    /// line from corner to corner; the beam reaches 24 columns, less one for the rounding of its
    /// middle.
    fn holds(distance: u32, hypothesis: usize, reference: usize) -> bool {
        distance as usize + hypothesis.abs_diff(reference) <= 2 * (Limits::BEAM - 2)
    }

    /// The most columns of a row, except for the last row.
    fn width(&self) -> usize {
        2 * self.half
    }

    /// The columns of a row, which both count from 1; column 0 is for no word at all.
    pub fn columns(&self, row: usize) -> Range<usize> {
        let diagonal = (row as f64 * self.ratio).floor() as usize;
        let end = if row == self.rows { self.columns + 1 } else { diagonal + self.half };
        diagonal.saturating_sub(self.half)..end.min(self.columns + 1)
    }
}

/// Words of the hypothesis that are moved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// The first of them, before the shift.
    pub start: usize,
    /// Their number.
    pub length: usize,
    /// The first of them, after the shift.
    pub target: usize,
}

impl Shift {
    /// Where a phrase stands after it was moved before the word `target`. A target within the
    /// phrase means so many places to the right.
    fn landing(words: usize, start: usize, length: usize, target: usize) -> usize {
        if target > start + length { target - length } else { target.min(words - length) }
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The edit distance after the shifts.
    pub distance: u32,
    /// The shifts in their order.
    pub shifts: Vec<Shift>,
    /// The steps from the shifted hypothesis to the reference.
    pub steps: Vec<Step>,
}

impl Outcome {
    /// Shifts, insertions, deletions and substitutions together.
    pub fn edits(&self) -> usize {
        self.distance as usize + self.shifts.len()
    }
}

/// A thread's memory.
#[derive(Default)]
pub struct Scratch {
    interner: Interner,
    search: Search,
}

impl Scratch {
    /// The edits from a hypothesis to one reference.
    #[inline(always)]
    fn edits(&mut self, hypothesis: &View<'_>, reference: &View<'_>) -> usize {
        if reference.count() == 0 {
            return hypothesis.count();
        }
        let Self { interner, search } = self;
        interner.number(hypothesis, reference);
        let Interner { hypothesis, reference, words, .. } = &*interner;
        match search.run(hypothesis, reference, words.len(), interner.least()) {
            Some(distance) => distance as usize + search.shifts.len(),
            None => naive::search(hypothesis, reference).edits(),
        }
    }

    /// The same with all steps.
    pub fn outcome(&mut self, hypothesis: &View<'_>, reference: &View<'_>) -> Outcome {
        if reference.count() == 0 {
            let steps = vec![Step::Deletion; hypothesis.count()];
            return Outcome { distance: steps.len() as u32, shifts: Vec::new(), steps };
        }
        let Self { interner, search } = self;
        interner.number(hypothesis, reference);
        let Interner { hypothesis, reference, words, .. } = &*interner;
        match search.run(hypothesis, reference, words.len(), interner.least()) {
            None => naive::search(hypothesis, reference),
            Some(distance) => {
                let mut steps = Vec::new();
                search.steps(reference, |step, _, _| steps.push(step));
                steps.reverse();
                Outcome { distance, shifts: search.shifts.clone(), steps }
            }
        }
    }
}

/// The columns of a row: the edits to the reference that needs fewest, and the mean
/// reference length in parts of [`PARTS`].
#[derive(Clone, Copy, Debug)]
pub struct Columns;

impl count::Metric for Columns {
    type Scratch = Scratch;

    fn width(&self) -> usize {
        2
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut Scratch,
        row: &mut [i64],
    ) {
        let edits = references.iter().map(|reference| scratch.edits(&hypothesis, reference));
        row[0] = edits.min().unwrap_or(0) as i64;
        let length: usize = references.iter().map(View::count).sum();
        // More than 16 references lose less than a part each.
        row[1] = length as i64 * PARTS / references.len() as i64;
    }
}

/// TER: edits for each word of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Formula;

impl count::Formula for Formula {
    /// The score of a row, 0 to 100 and above, operation by operation as sacreBLEU computes it.
    fn score(&self, row: &[i64]) -> f64 {
        let (edits, length) = (row[0] as f64, row[1] as f64 / PARTS as f64);
        let rate = if length > 0.0 {
            edits / length
        } else if edits > 0.0 {
            // Words where there should be none.
            1.0
        } else {
            0.0
        };
        100.0 * rate
    }
}

/// Words as the search sees them, for tests: the outcome by the fast way, where there is one.
pub fn search(hypothesis: &[u32], reference: &[u32]) -> Option<Outcome> {
    let kinds = reference.iter().max().map_or(0, |&word| word as usize);
    let known = |word: &u32| if *word as usize > kinds { 0 } else { *word };
    let hypothesis: Vec<u32> = hypothesis.iter().map(known).collect();
    let mut search = Search::default();
    let distance = search.run(&hypothesis, reference, kinds, 0)?;
    let mut steps = Vec::new();
    search.steps(reference, |step, _, _| steps.push(step));
    steps.reverse();
    Some(Outcome { distance, shifts: search.shifts, steps })
}
