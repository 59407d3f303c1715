//! Alignment with one reference by the smallest edit distance, 64 units at a time.
//!
//! The differences between vertical and horizontal neighbours in the table of distances are −1, 0
//! or 1, so a column is two bit vectors (Myers, 1999; Hyyrö, 2003). If a distance is one more than
//! the distance above, a unit of the reference can be skipped. If it is one more than the distance
//! to the left, a unit of the hypothesis can be skipped. The traceback reads these two bits. Only
//! every n-th column is stored, and the columns between two stored columns are recomputed during
//! the traceback, so memory grows with the square root of the hypothesis length.
//!
//! A word of a column needs the word above and the word to the left. Eight columns are therefore
//! computed at the same time, each one word behind the column to its left.

use super::{Alignment, LeadingBorders, UNPAIRED};
use crate::interrupt::Work;
use crate::simd::{Instructions, Job, Vector};
use rustc_hash::FxHashMap;

/// Number of columns that are computed at the same time.
const LANES: usize = 8;
/// Number of zeros before and after the words of a column, because each column lags behind its left
/// neighbour.
const PADDING: usize = LANES - 1;

/// One word of several columns.
type Lanes = [u64; LANES];

/// The vertical differences of +1 and of −1 in one column, with one bit per unit of the reference.
#[derive(Clone)]
struct Column {
    increases: Vec<u64>,
    decreases: Vec<u64>,
}

impl Column {
    /// Return the distance in a row of the first column.
    fn distance(&self, row: usize) -> u64 {
        let differences = |bits: &[u64]| {
            (0..row).filter(|row| bits[PADDING + row / 64] >> (row % 64) & 1 == 1).count() as u64
        };
        1 + differences(&self.increases) - differences(&self.decreases)
    }
}

/// The units of the reference and the positions of each distinct unit.
struct Reference {
    units: Vec<u32>,
    /// For each segment, the number of units up to its end.
    ends: Vec<usize>,
    places: FxHashMap<u32, Vec<u32>>,
    /// The positions of frequent units as bitsets.
    bits: FxHashMap<u32, Vec<u64>>,
}

impl Reference {
    fn new(segments: &[&[u32]]) -> Self {
        let units = segments.concat();
        let mut places: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (place, &unit) in units.iter().enumerate() {
            places.entry(unit).or_default().push(place as u32);
        }
        let ends = segments.iter().scan(0, |end, units| {
            *end += units.len();
            Some(*end)
        });
        let words = units.len().div_ceil(64);
        let frequent = places.iter().filter(|(_, places)| places.len() > words / 32);
        let to_bits = |places: &[u32]| {
            let mut bits = vec![0; words + 2 * PADDING];
            set_bits(&mut bits, places);
            bits
        };
        let bits = frequent.map(|(&unit, places)| (unit, to_bits(places))).collect();
        Self { ends: ends.collect(), units, places, bits }
    }

    fn words(&self) -> usize {
        self.units.len().div_ceil(64)
    }

    /// Return the first column after the empty one, and its horizontal increases. The empty column
    /// may count borders, so it is computed cell by cell.
    fn first_column(&self, unit: u32, borders: LeadingBorders) -> (Column, Vec<u64>) {
        let zeros = vec![0; self.words() + 2 * PADDING];
        let mut column = Column { increases: zeros.clone(), decreases: zeros.clone() };
        let mut skips = zeros;
        let (mut above, mut crossed) = (1_u64, 0_u64);
        let mut ends = self.ends.iter().peekable();
        for (row, &other) in self.units.iter().enumerate() {
            while ends.next_if(|&&end| end <= row).is_some() {
                crossed += u64::from(borders == LeadingBorders::Counted);
            }
            let left = row as u64 + 1 + crossed;
            let paired = row as u64 + crossed + u64::from(unit != other);
            let distance = paired.min(above + 1).min(left + 1);
            let (word, bit) = (PADDING + row / 64, 1 << (row % 64));
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
        (column, skips)
    }
}

fn set_bits(bits: &mut [u64], places: &[u32]) {
    for &place in places {
        bits[PADDING + place as usize / 64] |= 1 << (place % 64);
    }
}

/// One word of eight columns: bits that state whether a reference unit can be skipped (vertical
/// increases), and whether a hypothesis unit can be skipped (horizontal increases).
#[derive(Clone, Copy, Default)]
struct Steps {
    references: Lanes,
    hypotheses: Lanes,
}

/// Computation of successive columns.
struct Columns<'a> {
    reference: &'a Reference,
    /// For each of eight columns, the positions of a unit with few occurrences.
    scratch: [Vec<u64>; LANES],
    work: Work,
}

impl Columns<'_> {
    /// Return the column before each block of `interval` units, starting with the given first
    /// column.
    fn store(&mut self, first: &Column, units: &[u32], interval: usize) -> Vec<Column> {
        let mut lines = vec![Steps::default(); self.reference.words() + PADDING];
        let mut column = first.clone();
        let mut stored = vec![column.clone()];
        for block in units[..units.len().saturating_sub(1) / interval * interval].chunks(interval) {
            for units in block.chunks(LANES) {
                self.advance(&mut column, units, &mut lines);
            }
            stored.push(column.clone());
        }
        stored
    }

    /// Advance a column by up to eight units. After fewer than eight units, the column is
    /// undefined. Write the best steps to `lines`: word `i` of column `k` is in line `i + k`.
    fn advance(&mut self, column: &mut Column, units: &[u32], lines: &mut [Steps]) {
        let places: [&[u32]; LANES] = std::array::from_fn(|lane| {
            let places = units.get(lane).and_then(|unit| self.reference.places.get(unit));
            places.map_or(&[][..], Vec::as_slice)
        });
        let bits: [_; LANES] = std::array::from_fn(|lane| {
            units.get(lane).and_then(|unit| self.reference.bits.get(unit))
        });
        for lane in 0..LANES {
            if bits[lane].is_none() {
                set_bits(&mut self.scratch[lane], places[lane]);
            }
        }
        let equal = std::array::from_fn(|lane| {
            &bits[lane].unwrap_or(&self.scratch[lane])[PADDING - lane..][..lines.len()]
        });
        let count = lines.len();
        Instructions::best().run(Advance { column, equal, lines });
        for lane in 0..LANES {
            if bits[lane].is_none() {
                for &place in places[lane] {
                    self.scratch[lane][PADDING + place as usize / 64] = 0;
                }
            }
        }
        self.work.add(2 * count);
    }
}

/// A job that computes eight columns.
struct Advance<'a> {
    column: &'a mut Column,
    /// The positions of each column's unit, starting at the first line.
    equal: [&'a [u64]; LANES],
    lines: &'a mut [Steps],
}

impl Job for Advance<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { column, equal, lines } = self;
        let (mut up, mut down) = ([0; LANES], [0; LANES]);
        // The horizontal differences that enter a word from above. They are +1 in the top row,
        // which has no reference units.
        let (mut increase, mut decrease) = ([1; LANES], [0; LANES]);
        let increases = &mut column.increases[..lines.len() + PADDING];
        let decreases = &mut column.decreases[..lines.len() + PADDING];
        assert!(equal.iter().all(|words| words.len() == lines.len()));
        for (line, steps) in lines.iter_mut().enumerate() {
            up = shift_lanes(up, increases[line + PADDING]);
            down = shift_lanes(down, decreases[line + PADDING]);
            let equal: Lanes = std::array::from_fn(|lane| equal[lane][line]);
            let mut skips = [0; LANES];
            for lane in 0..LANES {
                let matches = equal[lane] | decrease[lane];
                let vertical = equal[lane] | down[lane];
                let horizontal = ((matches & up[lane]).wrapping_add(up[lane]) ^ up[lane]) | matches;
                skips[lane] = down[lane] | !(horizontal | up[lane]);
                let decreases = up[lane] & horizontal;
                let entering_increases = skips[lane] << 1 | increase[lane];
                let entering_decreases = decreases << 1 | decrease[lane];
                (increase[lane], decrease[lane]) = (skips[lane] >> 63, decreases >> 63);
                up[lane] = entering_decreases | !(vertical | entering_increases);
                down[lane] = entering_increases & vertical;
            }
            (increases[line], decreases[line]) = (up[PADDING], down[PADDING]);
            *steps = Steps { references: up, hypotheses: skips };
        }
    }
}

/// Move all lanes up by one, and insert a new lowest lane.
#[inline(always)]
fn shift_lanes(lanes: Lanes, lowest: u64) -> Lanes {
    std::array::from_fn(|lane| if lane == 0 { lowest } else { lanes[lane - 1] })
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
        errors: (reference.units.len() + hypothesis.len()) as u64,
    };
    let Some((&first_unit, rest)) = hypothesis.split_first() else { return alignment };
    if reference.units.is_empty() {
        return alignment;
    }
    let words = reference.words();
    let (first, first_skips) = reference.first_column(first_unit, borders);
    let interval = ((rest.len() as f64).sqrt() as usize + 1).next_multiple_of(LANES);
    let scratch = std::array::from_fn(|_| vec![0; words + 2 * PADDING]);
    let mut lines = Vec::new();
    let mut columns = Columns { reference: &reference, scratch, work: Work::default() };
    let mut stored = columns.store(&first, rest, interval);

    // Traceback: `row` units of the reference and `index` units of the hypothesis remain.
    let (mut row, mut index) = (reference.units.len(), hypothesis.len());
    let (mut segment, mut errors) = (segments.len() - 1, 0);
    for block in (0..=stored.len()).rev() {
        let start = block.checked_sub(1).map_or(0, |block| 1 + block * interval);
        let height = row.div_ceil(64) + PADDING;
        if let Some(mut column) = stored.pop() {
            let groups = hypothesis[start..index].chunks(LANES);
            lines.resize(groups.len() * height, Steps::default());
            for (units, lines) in groups.zip(lines.chunks_mut(height)) {
                columns.advance(&mut column, units, lines);
            }
        } else {
            alignment.errors = errors + first.distance(row);
            let words = first.increases.iter().zip(&first_skips).skip(PADDING);
            lines = words
                .map(|(&word, &skips)| Steps {
                    references: [word; LANES],
                    hypotheses: [skips; LANES],
                })
                .collect();
        }
        while index > start {
            let (group, lane) = ((index - 1 - start) / LANES, (index - 1 - start) % LANES);
            let is_set = |steps: fn(&Steps) -> &Lanes, row: usize| {
                let line = group * height + (row - 1) / 64 + lane;
                steps(&lines[line])[lane] >> ((row - 1) % 64) & 1 == 1
            };
            if row > 0 && is_set(|steps| &steps.references, row) {
                row -= 1;
                errors += 1;
                continue;
            }
            while segment > 0 && reference.ends[segment - 1] >= row {
                segment -= 1;
            }
            index -= 1;
            alignment.segments[index] = segment as u32;
            if row == 0 || is_set(|steps| &steps.hypotheses, row) {
                errors += 1;
                continue;
            }
            row -= 1;
            let segment_start = if segment == 0 { 0 } else { reference.ends[segment - 1] };
            alignment.pairs[index] = (row - segment_start) as u32;
            errors += u64::from(reference.units[row] != hypothesis[index]);
        }
    }
    alignment
}
