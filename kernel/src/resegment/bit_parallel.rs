//! Alignment with one reference by the smallest edit distance, 64 units at a time.
//!
//! The differences between vertical and horizontal neighbours in the table of distances are −1, 0
//! or 1, so a column is two bit vectors (Myers, 1999; Hyyrö, 2003). "The distance is one more than
//! above" says that a unit of the reference can be skipped, "one more than to the left" that a unit
//! of the hypothesis can be skipped; the way back reads these two bits. Only every n-th column is
//! stored, and the columns between two of them are computed again on the way back, so memory grows
//! with the square root of the hypothesis.

use super::{Alignment, LeadingBorders, UNPAIRED};
use crate::interrupt::Work;
use rustc_hash::FxHashMap;

/// The vertical differences of one column that are +1 and −1, one bit per unit of the reference.
#[derive(Clone, Debug, Default)]
struct Column {
    increases: Vec<u64>,
    decreases: Vec<u64>,
}

/// The units of the reference and the places of each.
struct Reference {
    length: usize,
    /// For each segment, the number of units up to its end.
    ends: Vec<usize>,
    places: FxHashMap<u32, Vec<u32>>,
    /// The places of frequent units as bits.
    bits: FxHashMap<u32, Vec<u64>>,
}

impl Reference {
    fn new(segments: &[&[u32]]) -> Self {
        let mut places: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let (mut length, mut ends) = (0_usize, Vec::with_capacity(segments.len()));
        for units in segments {
            for &unit in *units {
                places.entry(unit).or_default().push(length as u32);
                length += 1;
            }
            ends.push(length);
        }
        let words = length.div_ceil(64);
        let frequent = places.iter().filter(|(_, places)| places.len() > words / 8);
        let to_bits = |places: &[u32]| {
            let mut bits = vec![0; words];
            set_bits(&mut bits, places);
            bits
        };
        let bits = frequent.map(|(&unit, places)| (unit, to_bits(places))).collect();
        Self { length, ends, places, bits }
    }

    fn words(&self) -> usize {
        self.length.div_ceil(64)
    }

    /// Return the first column after the empty one, its horizontal increases, and the distance in
    /// its last row. The empty column may count borders, so it is computed cell by cell.
    fn first_column(&self, unit: u32, borders: LeadingBorders) -> (Column, Vec<u64>, u64) {
        let mut column =
            Column { increases: vec![0; self.words()], decreases: vec![0; self.words()] };
        let mut skips = vec![0; self.words()];
        let mut equal = vec![false; self.length];
        for &place in self.places.get(&unit).into_iter().flatten() {
            equal[place as usize] = true;
        }
        let (mut above, mut crossed) = (1_u64, 0_u64);
        let mut ends = self.ends.iter().peekable();
        for (row, &equal) in equal.iter().enumerate() {
            while ends.next_if(|&&end| end <= row).is_some() {
                crossed += u64::from(borders == LeadingBorders::Counted);
            }
            let left = row as u64 + 1 + crossed;
            let paired = row as u64 + crossed + u64::from(!equal);
            let distance = paired.min(above + 1).min(left + 1);
            let (word, bit) = (row / 64, 1 << (row % 64));
            if distance == above + 1 {
                column.increases[word] |= bit;
            } else if distance + 1 == above {
                column.decreases[word] |= bit;
            }
            if distance == left + 1 {
                skips[word] |= bit;
            }
            above = distance;
        }
        (column, skips, above)
    }

    /// Compute the next column in place. Return the change of the distance in the last row; write
    /// the horizontal increases to `skips` if it is not empty. `scratch` contains zeros.
    fn advance(
        &self,
        column: &mut Column,
        unit: u32,
        scratch: &mut [u64],
        skips: &mut [u64],
    ) -> i64 {
        if let Some(bits) = self.bits.get(&unit) {
            return self.advance_with(column, bits, skips);
        }
        let places = self.places.get(&unit).map_or(&[][..], Vec::as_slice);
        set_bits(scratch, places);
        let change = self.advance_with(column, scratch, skips);
        for &place in places {
            scratch[place as usize / 64] = 0;
        }
        change
    }

    /// Compute the next column from the places of its unit.
    fn advance_with(&self, column: &mut Column, equal: &[u64], skips: &mut [u64]) -> i64 {
        let (mut carry, mut last) = (Carry { increase: 1, decrease: 0 }, (0, 0));
        let cells = column.increases.iter_mut().zip(&mut column.decreases).zip(equal);
        if skips.is_empty() {
            for ((up, down), &equal) in cells {
                last = carry.advance(up, down, equal);
            }
        } else {
            for (((up, down), &equal), skips) in cells.zip(skips) {
                last = carry.advance(up, down, equal);
                *skips = last.0;
            }
        }
        let bit = (self.length - 1) % 64;
        (last.0 >> bit & 1) as i64 - (last.1 >> bit & 1) as i64
    }
}

/// The horizontal difference that enters a word from above: in the row of no units, it is +1.
struct Carry {
    increase: u64,
    decrease: u64,
}

impl Carry {
    /// Compute a word of the next column in place. Return its horizontal increases and decreases.
    #[inline(always)]
    fn advance(&mut self, up: &mut u64, down: &mut u64, equal: u64) -> (u64, u64) {
        let matches = equal | self.decrease;
        let vertical = equal | *down;
        let horizontal = ((matches & *up).wrapping_add(*up) ^ *up) | matches;
        let increases = *down | !(horizontal | *up);
        let decreases = *up & horizontal;
        let entering_increases = increases << 1 | self.increase;
        let entering_decreases = decreases << 1 | self.decrease;
        (self.increase, self.decrease) = (increases >> 63, decreases >> 63);
        *up = entering_decreases | !(vertical | entering_increases);
        *down = entering_increases & vertical;
        (increases, decreases)
    }
}

fn set_bits(bits: &mut [u64], places: &[u32]) {
    for &place in places {
        bits[place as usize / 64] |= 1 << (place % 64);
    }
}

/// Align a hypothesis with the units of each segment.
pub fn align_bit_parallel(
    segments: &[&[u32]],
    hypothesis: &[u32],
    borders: LeadingBorders,
) -> Alignment {
    let reference = Reference::new(segments);
    let mut alignment = Alignment {
        segments: vec![0; hypothesis.len()],
        pairs: vec![UNPAIRED; hypothesis.len()],
        alternatives: vec![0; segments.len()],
        errors: (reference.length + hypothesis.len()) as u64,
    };
    if reference.length == 0 || hypothesis.is_empty() {
        return alignment;
    }
    let words = reference.words();
    let interval = (hypothesis.len() as f64).sqrt().ceil() as usize;
    let mut work = Work::default();
    let mut equal = vec![0; words];
    let (first, first_skips, mut distance) = reference.first_column(hypothesis[0], borders);
    // The column before each block of columns; the first block begins with the first column.
    let mut stored = vec![first.clone()];
    let mut column = first;
    for (index, &unit) in hypothesis.iter().enumerate().skip(1) {
        if index % interval == 0 {
            stored.push(column.clone());
        }
        let change = reference.advance(&mut column, unit, &mut equal, &mut []);
        distance = distance.wrapping_add_signed(change);
        work.add(words);
    }
    alignment.errors = distance;

    // The way back: `row` units of the reference and `index` units of the hypothesis are left.
    let (mut row, mut index) = (reference.length, hypothesis.len());
    let mut segment = segments.len() - 1;
    for (block, mut column) in stored.into_iter().enumerate().rev() {
        let start = block * interval;
        let mut increases = Vec::with_capacity((index - start) * words);
        let mut skips = vec![0; (index - start) * words];
        if block == 0 {
            increases.extend_from_slice(&column.increases);
            skips[..words].copy_from_slice(&first_skips);
        }
        for position in start + usize::from(block == 0)..index {
            let skips = &mut skips[(position - start) * words..][..words];
            reference.advance(&mut column, hypothesis[position], &mut equal, skips);
            increases.extend_from_slice(&column.increases);
            work.add(words);
        }
        while index > start {
            let offset = (index - 1 - start) * words;
            let is_set = |bits: &[u64], row: usize| {
                row > 0 && bits[offset + (row - 1) / 64] >> ((row - 1) % 64) & 1 == 1
            };
            if is_set(&increases, row) {
                row -= 1;
                continue;
            }
            while segment > 0 && reference.ends[segment - 1] >= row {
                segment -= 1;
            }
            index -= 1;
            alignment.segments[index] = segment as u32;
            if row > 0 && !is_set(&skips, row) {
                let segment_start = if segment == 0 { 0 } else { reference.ends[segment - 1] };
                row -= 1;
                alignment.pairs[index] = (row - segment_start) as u32;
            }
        }
    }
    alignment
}
