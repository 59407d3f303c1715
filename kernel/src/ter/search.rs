//! The shift search, which skips distances that cannot matter.
//!
//! * A shift swaps two adjacent parts of the hypothesis ([`Swap`]). Table rows before the swap stay
//!   unchanged, so evaluation starts at the swap. As soon as a row after the swap is parallel to
//!   its previous version, the remaining distance is known.
//!
//! * Candidates are counted first, without computing distances. If they exceed the limit, the
//!   search ends before any of them is evaluated.
//!
//! * Candidates are evaluated in tie-breaking order, so a later candidate replaces the best only if
//!   it is better. Candidates that cannot be better are skipped: no shift can reduce the distance
//!   below the number of unmatched words. Where the beam loses no path, a shift of `n` words over
//!   `d` words gains at most 2 min(n, d) edits.

use super::beam::{self, Occurrences, Row, Trace, Window};
use super::{Beam, Limits, Shift, Step};
use crate::interrupt::{self, Work};
use std::cmp::Reverse;

/// A candidate shift, as defined in [`super::naive`]. Candidates are ordered by preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    length: Reverse<u32>,
    start: u32,
    target: u32,
}

/// Exchange of the words from `start` to `middle` with the words from `middle` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Swap {
    start: usize,
    middle: usize,
    end: usize,
}

impl Candidate {
    /// Convert this candidate to a shift in a hypothesis of `words` words.
    fn shift(&self, words: usize) -> Shift {
        let (start, length, target) =
            (self.start as usize, self.length.0 as usize, self.target as usize);
        Shift { start, length, target: Shift::target_position(words, start, length, target) }
    }
}

impl Swap {
    /// Return the swap that performs a shift.
    fn from_shift(shift: &Shift) -> Self {
        let &Shift { start, length, target } = shift;
        if target < start {
            Self { start: target, middle: start, end: start + length }
        } else {
            Self { start, middle: start + length, end: target + length }
        }
    }

    /// Return the maximum number of edits that the swap can save without a beam: two per moved
    /// word.
    fn max_gain(&self) -> u32 {
        2 * (self.middle - self.start).min(self.end - self.middle) as u32
    }
}

/// If a hypothesis has more words than this, the search polls for interrupts at each candidate.
const MAX_UNPOLLED_WORDS: usize = 1 << 12;

/// Buffers and results of the search.
#[derive(Default)]
pub struct Search {
    /// The current words of the hypothesis.
    words: Vec<u32>,
    pub shifts: Vec<Shift>,
    windows: Vec<Window>,
    occurrences: Occurrences,
    /// The table of edit distances for `words`.
    rows: Vec<Row>,
    traces: Vec<Trace>,
    /// For each reference word, the number of hypothesis words before its successor's position.
    aligned_end: Vec<u32>,
    /// For each word, the distance to the next error, counting from the word itself.
    error_distance_in_hypothesis: Vec<u32>,
    error_distance_in_reference: Vec<u32>,
    candidates: Vec<Candidate>,
    work: Work,
}

impl Search {
    /// Return the edit distance after all shifts, and store the shifts in `shifts`. Return `None`
    /// if the beam is too wide.
    ///
    /// Reference words have the ids 1 to `max_word`; any other word has the id 0. `min_distance` is
    /// a lower bound that holds for every word order.
    #[inline(always)]
    pub fn run(
        &mut self,
        hypothesis: &[u32],
        reference: &[u32],
        max_word: usize,
        min_distance: u32,
    ) -> Option<u32> {
        self.shifts.clear();
        beam::places(hypothesis.len(), reference.len(), &mut self.windows)?;
        self.occurrences.index(reference, max_word);
        self.words.clear();
        self.words.extend_from_slice(hypothesis);
        self.rows.clear();
        self.rows.resize(hypothesis.len() + 1, Row::FIRST);
        self.traces.clear();
        self.traces.resize(hypothesis.len() + 1, Trace::default());
        let Some(last) = self.windows.last().copied() else {
            return Some(reference.len() as u32);
        };
        self.recompute_rows(0, hypothesis.len());
        let mut distance = last.cell(self.rows[hypothesis.len()], reference.len());
        let mut checked = 0;
        while distance > min_distance {
            self.store_alignment(reference);
            checked += self.find_candidates(reference, Limits::MAX_CANDIDATES - checked);
            if checked >= Limits::MAX_CANDIDATES {
                break;
            }
            self.work.add(8 * (self.words.len() + reference.len()));
            let Some((candidate, gain)) = self.best_candidate(distance, min_distance) else {
                break;
            };
            let shift = candidate.shift(self.words.len());
            self.shifts.push(shift);
            let swap = Swap::from_shift(&shift);
            self.words[swap.start..swap.end].rotate_left(swap.middle - swap.start);
            self.recompute_rows(swap.start, swap.end);
            distance -= gain;
        }
        Some(distance)
    }

    /// Recompute the rows of the table after row `start`, until they are parallel to the previous
    /// rows, at the earliest after row `end`.
    #[inline(always)]
    fn recompute_rows(&mut self, start: usize, end: usize) {
        let mut row = self.rows[start];
        for i in start..self.words.len() {
            let place = &self.windows[i];
            let equal = self.occurrences.matching_cells(self.words[i], place.column);
            let (next, trace) = place.next_row(row, equal);
            let previous = std::mem::replace(&mut self.rows[i + 1], next);
            self.traces[i + 1] = trace;
            if i + 1 >= end && next.is_parallel(&previous) {
                for row in &mut self.rows[i + 2..] {
                    row.base += next.base - previous.base;
                }
                break;
            }
            row = next;
        }
        // The recomputation of all rows counts as work.
        self.work.add(8 * (self.words.len() - start));
    }

    /// Pass the steps of the best path to `take`, starting from the end.
    #[inline(always)]
    pub fn for_each_step(&self, reference: &[u32], mut take: impl FnMut(Step, usize, usize)) {
        let (mut i, mut j) = (self.words.len(), reference.len());
        while i > 0 && j > 0 {
            let equal = self.words[i - 1] == reference[j - 1];
            let step = self.windows[i - 1].step(self.traces[i], j, equal);
            i -= usize::from(step != Step::Insertion);
            j -= usize::from(step != Step::Deletion);
            take(step, i, j);
        }
        for i in (0..i).rev() {
            take(Step::Deletion, i, 0);
        }
        for j in (0..j).rev() {
            take(Step::Insertion, 0, j);
        }
    }

    /// Store the positions and errors of the best path for the candidate search.
    #[inline(always)]
    fn store_alignment(&mut self, reference: &[u32]) {
        const NO_ERROR: u32 = Limits::MAX_SHIFT_WORDS as u32;
        let mut aligned_end = std::mem::take(&mut self.aligned_end);
        let mut in_hypothesis = std::mem::take(&mut self.error_distance_in_hypothesis);
        let mut in_reference = std::mem::take(&mut self.error_distance_in_reference);
        aligned_end.resize(reference.len(), 0);
        in_hypothesis.resize(self.words.len(), 0);
        in_reference.resize(reference.len(), 0);
        let (mut hypothesis_distance, mut reference_distance) = (NO_ERROR, NO_ERROR);
        self.for_each_step(reference, |step, i, j| {
            let next_distance =
                |distance: u32| if step == Step::Match { (distance + 1).min(NO_ERROR) } else { 0 };
            if step != Step::Insertion {
                hypothesis_distance = next_distance(hypothesis_distance);
                in_hypothesis[i] = hypothesis_distance;
            }
            if step != Step::Deletion {
                reference_distance = next_distance(reference_distance);
                in_reference[j] = reference_distance;
                aligned_end[j] = (i + usize::from(step != Step::Insertion)) as u32;
            }
        });
        self.aligned_end = aligned_end;
        self.error_distance_in_hypothesis = in_hypothesis;
        self.error_distance_in_reference = in_reference;
    }

    /// Find the candidates. Return their number, including duplicates as in the definition. Stop at
    /// `max_count`.
    #[inline(always)]
    fn find_candidates(&mut self, reference: &[u32], max_count: usize) -> usize {
        self.candidates.clear();
        let mut count = 0;
        for start in 0..self.words.len() {
            let error_distance = self.error_distance_in_hypothesis[start];
            if error_distance as usize >= Limits::MAX_SHIFT_WORDS {
                continue;
            }
            let mut positions = self.occurrences.positions_of_word(self.words[start]);
            if positions.len() > Limits::MAX_SHIFT_DISTANCE {
                let first_near = start.saturating_sub(Limits::MAX_SHIFT_DISTANCE) as u32;
                positions = &positions[positions.partition_point(|&at| at < first_near)..];
            }
            for &reference_start in positions {
                let at = reference_start as usize;
                if start.abs_diff(at) > Limits::MAX_SHIFT_DISTANCE {
                    if at > start {
                        break;
                    }
                    continue;
                }
                // Phrases shorter than this have no error in the hypothesis, or no error in the
                // reference.
                let shortest =
                    error_distance.max(self.error_distance_in_reference[at]) as usize + 1;
                let mut longest = Limits::MAX_SHIFT_WORDS;
                let aligned = self.aligned_end[at] as usize;
                if aligned > start {
                    // Phrases longer than this would be moved to their current position.
                    longest = longest.min(aligned - 1 - start);
                }
                if shortest > longest {
                    continue;
                }
                let pairs = self.words[start..].iter().zip(&reference[at..]).take(longest);
                let longest = pairs.take_while(|(a, b)| a == b).count();
                for length in shortest..=longest {
                    let mut last_target = u32::MAX;
                    for i in at..=at + length {
                        let target = if i == 0 { 0 } else { self.aligned_end[i - 1] };
                        if target == last_target {
                            continue;
                        }
                        last_target = target;
                        count += 1;
                        let length = Reverse(length as u32);
                        self.candidates.push(Candidate { length, start: start as u32, target });
                    }
                    if count >= max_count {
                        return count;
                    }
                }
            }
        }
        count
    }

    /// Return the best candidate and its gain, if a candidate reduces the distance.
    #[inline(always)]
    fn best_candidate(&mut self, distance: u32, min_distance: u32) -> Option<(Candidate, u32)> {
        self.candidates.sort_unstable();
        self.candidates.dedup();
        let mut best = None;
        let mut gain = 0;
        let is_exact = Beam::is_exact(distance, self.words.len(), self.aligned_end.len());
        for candidate in &self.candidates {
            if self.words.len() > MAX_UNPOLLED_WORDS {
                interrupt::poll();
            }
            let swap = Swap::from_shift(&candidate.shift(self.words.len()));
            if is_exact && swap.max_gain() <= gain {
                continue;
            }
            let candidate_gain = self.gain(swap, distance);
            if candidate_gain > gain {
                gain = candidate_gain;
                best = Some((*candidate, gain));
                if distance - gain == min_distance {
                    break;
                }
            }
        }
        best
    }

    /// Return the amount by which a swap reduces the distance, or 0 if it does not reduce it.
    #[inline(always)]
    fn gain(&self, swap: Swap, distance: u32) -> u32 {
        let Swap { start, middle, end } = swap;
        let mut row = self.rows[start];
        let swapped_words = self.words[middle..end].iter().chain(&self.words[start..middle]);
        for (i, &word) in (start..).zip(swapped_words.chain(&self.words[end..])) {
            if i >= end && row.is_parallel(&self.rows[i]) {
                return (self.rows[i].base - row.base).max(0) as u32;
            }
            let place = &self.windows[i];
            row = place.next_row(row, self.occurrences.matching_cells(word, place.column)).0;
        }
        let last = &self.windows[self.windows.len() - 1];
        distance.saturating_sub(last.cell(row, self.aligned_end.len()))
    }
}
