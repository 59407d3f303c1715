//! The shift search, with no distance computed that cannot matter.
//!
//! * A shift turns a stretch of the hypothesis around ([`Turn`]). The rows of the table before it
//!   are those of the hypothesis as it was, so a candidate starts there; behind it, as soon as a
//!   row is parallel to the old one, the rest of the distance is known.
//! * Candidates are counted first, which takes no distance, and the limit on their number ends the
//!   search before any of them is looked at.
//! * They are looked at in the order in which ties are broken, so only one that is better than the
//!   best so far can replace it, and what cannot be better is left out: no shift makes the distance
//!   smaller than words that have no counterpart at all, and where the beam leaves nothing out, a
//!   shift of `n` words over `d` words gains at most 2 min(n, d) edits.

use super::beam::{self, Occurrences, Place, Row, Trace};
use super::{Band, Limits, Shift, Step};
use crate::interrupt::{self, Work};
use std::cmp::Reverse;

/// A candidate as the definition knows it, in the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    length: Reverse<u32>,
    start: u32,
    target: u32,
}

/// The words from `start` to `middle` change places with those from `middle` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    start: usize,
    middle: usize,
    end: usize,
}

impl Candidate {
    fn shift(&self, words: usize) -> Shift {
        let (start, length, target) =
            (self.start as usize, self.length.0 as usize, self.target as usize);
        Shift { start, length, target: Shift::landing(words, start, length, target) }
    }
}

impl Turn {
    fn of(shift: &Shift) -> Self {
        let &Shift { start, length, target } = shift;
        if target < start {
            Self { start: target, middle: start, end: start + length }
        } else {
            Self { start, middle: start + length, end: target + length }
        }
    }

    /// The most edits it can save in a whole table: each word that moves costs at most two.
    fn most(&self) -> u32 {
        2 * (self.middle - self.start).min(self.end - self.middle) as u32
    }
}

/// In a hypothesis of more words, each candidate is polled for.
const LONG: usize = 1 << 12;

/// Memory of the search, and what it found.
#[derive(Default)]
pub struct Search {
    /// The words of the hypothesis as they stand.
    words: Vec<u32>,
    pub shifts: Vec<Shift>,
    places: Vec<Place>,
    occurrences: Occurrences,
    /// The table for `words`.
    rows: Vec<Row>,
    traces: Vec<Trace>,
    /// For each word of the reference, how many words of the hypothesis stand before what follows.
    after: Vec<u32>,
    /// For each word, how far it is to the next wrong one, itself included.
    wrong_in_hypothesis: Vec<u32>,
    wrong_in_reference: Vec<u32>,
    candidates: Vec<Candidate>,
    work: Work,
}

impl Search {
    /// The edit distance after all shifts, which `shifts` then has; `None` if the beam is too wide.
    ///
    /// The words of the reference are the numbers 1 to `kinds`; any other word is 0. `least` is a
    /// distance that no order of the words can get below.
    #[inline(always)]
    pub fn run(
        &mut self,
        hypothesis: &[u32],
        reference: &[u32],
        kinds: usize,
        least: u32,
    ) -> Option<u32> {
        self.shifts.clear();
        beam::places(hypothesis.len(), reference.len(), &mut self.places)?;
        self.occurrences.note(reference, kinds);
        self.words.clear();
        self.words.extend_from_slice(hypothesis);
        self.rows.clear();
        self.rows.resize(hypothesis.len() + 1, Row::FIRST);
        self.traces.clear();
        self.traces.resize(hypothesis.len() + 1, Trace::default());
        let Some(last) = self.places.last().copied() else {
            return Some(reference.len() as u32);
        };
        self.fill(0, hypothesis.len());
        let mut distance = last.cell(self.rows[hypothesis.len()], reference.len());
        let mut checked = 0;
        while distance > least {
            self.align(reference);
            checked += self.find(reference, Limits::CANDIDATES - checked);
            if checked >= Limits::CANDIDATES {
                break;
            }
            self.work.done(8 * (self.words.len() + reference.len()));
            let Some((candidate, gain)) = self.best(distance, least) else {
                break;
            };
            let shift = candidate.shift(self.words.len());
            self.shifts.push(shift);
            let turn = Turn::of(&shift);
            self.words[turn.start..turn.end].rotate_left(turn.middle - turn.start);
            self.fill(turn.start, turn.end);
            distance -= gain;
        }
        Some(distance)
    }

    /// Makes the rows of the table anew behind row `start`, until they are parallel to what they
    /// were after row `end`.
    #[inline(always)]
    fn fill(&mut self, start: usize, end: usize) {
        let mut row = self.rows[start];
        for i in start..self.words.len() {
            let place = &self.places[i];
            let equal = self.occurrences.equal(self.words[i], place.column);
            let (next, trace) = place.below(row, equal);
            let old = std::mem::replace(&mut self.rows[i + 1], next);
            self.traces[i + 1] = trace;
            if i + 1 >= end && next.is_parallel(&old) {
                for row in &mut self.rows[i + 2..] {
                    row.base += next.base - old.base;
                }
                break;
            }
            row = next;
        }
        // As if all were made anew.
        self.work.done(8 * (self.words.len() - start));
    }

    /// The steps of the cheapest way, from the end.
    #[inline(always)]
    pub fn steps(&self, reference: &[u32], mut take: impl FnMut(Step, usize, usize)) {
        let (mut i, mut j) = (self.words.len(), reference.len());
        while i > 0 && j > 0 {
            let equal = self.words[i - 1] == reference[j - 1];
            let step = self.places[i - 1].step(self.traces[i], j, equal);
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

    /// The queries of the search on the cheapest way.
    #[inline(always)]
    fn align(&mut self, reference: &[u32]) {
        const NONE: u32 = Limits::SIZE as u32;
        let mut after = std::mem::take(&mut self.after);
        let mut in_hypothesis = std::mem::take(&mut self.wrong_in_hypothesis);
        let mut in_reference = std::mem::take(&mut self.wrong_in_reference);
        after.resize(reference.len(), 0);
        in_hypothesis.resize(self.words.len(), 0);
        in_reference.resize(reference.len(), 0);
        let (mut far_in_hypothesis, mut far_in_reference) = (NONE, NONE);
        self.steps(reference, |step, i, j| {
            let further = |far: u32| if step == Step::Match { (far + 1).min(NONE) } else { 0 };
            if step != Step::Insertion {
                far_in_hypothesis = further(far_in_hypothesis);
                in_hypothesis[i] = far_in_hypothesis;
            }
            if step != Step::Deletion {
                far_in_reference = further(far_in_reference);
                in_reference[j] = far_in_reference;
                after[j] = (i + usize::from(step != Step::Insertion)) as u32;
            }
        });
        self.after = after;
        self.wrong_in_hypothesis = in_hypothesis;
        self.wrong_in_reference = in_reference;
    }

    /// Finds the candidates, and says how many there are as the definition counts them: each as
    /// often as it is found. At `most` of them it stops.
    #[inline(always)]
    fn find(&mut self, reference: &[u32], most: usize) -> usize {
        self.candidates.clear();
        let mut count = 0;
        for start in 0..self.words.len() {
            let wrong = self.wrong_in_hypothesis[start];
            if wrong as usize >= Limits::SIZE {
                continue;
            }
            let mut positions = self.occurrences.of(self.words[start]);
            if positions.len() > Limits::DISTANCE {
                let near = start.saturating_sub(Limits::DISTANCE) as u32;
                positions = &positions[positions.partition_point(|&at| at < near)..];
            }
            for &at in positions {
                let at = at as usize;
                if start.abs_diff(at) > Limits::DISTANCE {
                    if at > start {
                        break;
                    }
                    continue;
                }
                // Shorter ones have no error in the hypothesis, or none in the reference.
                let least = wrong.max(self.wrong_in_reference[at]) as usize + 1;
                let mut longest = Limits::SIZE;
                let aligned = self.after[at] as usize;
                if aligned > start {
                    // Longer ones would go to where they are.
                    longest = longest.min(aligned - 1 - start);
                }
                if least > longest {
                    continue;
                }
                let pairs = self.words[start..].iter().zip(&reference[at..]).take(longest);
                let longest = pairs.take_while(|(a, b)| a == b).count();
                for length in least..=longest {
                    let mut last = u32::MAX;
                    for i in at..=at + length {
                        let target = if i == 0 { 0 } else { self.after[i - 1] };
                        if target == last {
                            continue;
                        }
                        last = target;
                        count += 1;
                        let length = Reverse(length as u32);
                        self.candidates.push(Candidate { length, start: start as u32, target });
                    }
                    if count >= most {
                        return count;
                    }
                }
            }
        }
        count
    }

    /// The best candidate, if it is any good, and what it gains.
    #[inline(always)]
    fn best(&mut self, distance: u32, least: u32) -> Option<(Candidate, u32)> {
        self.candidates.sort_unstable();
        self.candidates.dedup();
        let mut best = None;
        let mut gain = 0;
        let whole = Band::holds(distance, self.words.len(), self.after.len());
        for candidate in &self.candidates {
            if self.words.len() > LONG {
                interrupt::poll();
            }
            let turn = Turn::of(&candidate.shift(self.words.len()));
            if whole && turn.most() <= gain {
                continue;
            }
            let shorter = self.gain(turn, distance);
            if shorter > gain {
                gain = shorter;
                best = Some((*candidate, gain));
                if distance - gain == least {
                    break;
                }
            }
        }
        best
    }

    /// By how much a turn reduces the distance; 0 if it does not.
    #[inline(always)]
    fn gain(&self, turn: Turn, distance: u32) -> u32 {
        let Turn { start, middle, end } = turn;
        let mut row = self.rows[start];
        let turned = self.words[middle..end].iter().chain(&self.words[start..middle]);
        for (i, &word) in (start..).zip(turned.chain(&self.words[end..])) {
            if i >= end && row.is_parallel(&self.rows[i]) {
                return (self.rows[i].base - row.base).max(0) as u32;
            }
            let place = &self.places[i];
            row = place.below(row, self.occurrences.equal(word, place.column)).0;
        }
        let last = &self.places[self.places.len() - 1];
        distance.saturating_sub(last.cell(row, self.after.len()))
    }
}
