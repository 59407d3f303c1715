//! Rows of the edit distance within the beam, 64 cells at a time.
//!
//! Neighbouring cells of the table differ by -1, 0 or 1, with or without a beam. A row is therefore
//! two bitsets: the cells where it rises and the cells where it falls (Myers 1999, with the
//! operations of Hyyrö 2003). The beam is 50 cells wide and moves to the right from row to row, and
//! the window of bits moves with it. Cells outside the beam must never be on a cheaper path:
//!
//! * The cell to the left of the window costs one more than the cell above it. Any step from there
//!   costs more than a path from above.
//!
//! * To the right, each cell of the row above is assumed to rise by one. Matches of cells without
//!   an upper left neighbour in the beam are masked.

use super::Beam;

/// A row of the table: the differences of the window's cells, and the cell before the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The cells that are one more than the cell before them. All bits past the beam are set.
    pub rise: u64,
    /// The cells that are one less than the cell before them.
    pub fall: u64,
    /// The cell before the window.
    pub base: i32,
}

impl Row {
    /// The row of an empty hypothesis, where each cell costs one more insertion.
    pub const FIRST: Self = Self { rise: !0, fall: 0, base: 0 };

    /// Return whether two rows differ only by a constant.
    #[inline(always)]
    pub fn is_parallel(&self, other: &Self) -> bool {
        (self.rise, self.fall) == (other.rise, other.fall)
    }
}

/// The bits of a row that determine the steps to its cells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    /// The cell costs the same as its upper left neighbour.
    flat: u64,
    /// The cell costs one more than the cell above.
    down: u64,
}

/// The position of a row's window, and the part of it within the beam.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// The first column of the window, and its distance from the window of the row above.
    pub column: u32,
    shift: u32,
    /// The cells within the beam.
    valid_cells: u64,
    /// The cells whose upper left neighbour is within the beam.
    has_diagonal: u64,
}

/// Compute the windows of all rows except the first. Return `None` if the beam is too wide.
pub fn places(hypothesis: usize, reference: usize, places: &mut Vec<Window>) -> Option<()> {
    let band = Beam::new(hypothesis, reference);
    if band.width() > 60 {
        return None;
    }
    places.clear();
    // Column 0 needs no bit, because it costs one more in each row, like the cell left of a window.
    let mut column = 1;
    let mut above = 0..reference + 1;
    places.extend((1..=hypothesis).map(|i| {
        let columns = band.columns(i);
        let shift = columns.start.max(1) - column;
        column += shift;
        let mut diagonal = ones(above.end - column) << 1 | 1;
        if column == above.start {
            diagonal &= !1;
        }
        let window = Window {
            column: column as u32,
            shift: shift as u32,
            valid_cells: ones(columns.end - column),
            has_diagonal: diagonal,
        };
        above = columns;
        window
    }));
    Some(())
}

/// Return a word with the lowest `count` bits set.
fn ones(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { !0 }
}

impl Window {
    /// Return the row below `above`, in this window. `equal` marks the cells whose word equals the
    /// row's word.
    #[inline(always)]
    pub fn next_row(&self, above: Row, equal: u64) -> (Row, Trace) {
        let skipped = (1u64 << self.shift) - 1;
        let base = above.base + 1 + (above.rise & skipped).count_ones() as i32
            - (above.fall & skipped).count_ones() as i32;
        // The highest bit is past the beam, so it is set, and so are the bits that are shifted in.
        let rise = (above.rise as i64 >> self.shift) as u64;
        let fall = above.fall >> self.shift;
        let equal = equal & self.has_diagonal;
        let flat = ((equal & rise).wrapping_add(rise) ^ rise) | equal | fall;
        let down = fall | !(flat | rise);
        let up = flat & rise;
        let before = down << 1 | 1;
        let row = Row {
            rise: up << 1 | !(flat | before) | !self.valid_cells,
            fall: flat & before & self.valid_cells,
            base,
        };
        (row, Trace { flat, down })
    }

    /// Return the cell of `row` in `column`.
    pub fn cell(&self, row: Row, column: usize) -> u32 {
        let cells_up_to_column = ones(column + 1 - self.column as usize);
        let rises = (row.rise & cells_up_to_column).count_ones() as i32;
        (row.base + rises - (row.fall & cells_up_to_column).count_ones() as i32) as u32
    }

    /// Return the step to the cell in `column`. Matches and substitutions are preferred, then
    /// deletions, then insertions.
    #[inline(always)]
    pub fn step(&self, trace: Trace, column: usize, equal: bool) -> super::Step {
        let bit = column - self.column as usize;
        let has = |bits: u64| bits >> bit & 1 == 1;
        if has(self.has_diagonal) && equal {
            super::Step::Match
        } else if has(self.has_diagonal & !trace.flat) {
            super::Step::Substitution
        } else if has(trace.down) {
            super::Step::Deletion
        } else {
            super::Step::Insertion
        }
    }
}

/// The positions of each word in the reference.
#[derive(Default)]
pub struct Occurrences {
    /// The end of each word's positions; words are numbered from 1.
    ends: Vec<u32>,
    positions: Vec<u32>,
    /// Number of 64-bit words per row of `dense`; 0 if `dense` would be too large.
    width: usize,
    /// For each word, a bitset of its positions.
    dense: Vec<u64>,
}

impl Occurrences {
    /// Maximum total size of `dense` in 64-bit words, so that it fits in the first- or second-level
    /// cache.
    const MAX_DENSE_WORDS: usize = 1 << 14;

    /// Record the positions of the words 1 to `words` in `reference`.
    pub fn index(&mut self, reference: &[u32], words: usize) {
        self.ends.clear();
        self.ends.resize(words + 2, 0);
        for &word in reference {
            self.ends[word as usize + 1] += 1;
        }
        for word in 1..words + 2 {
            self.ends[word] += self.ends[word - 1];
        }
        self.positions.resize(reference.len(), 0);
        for (position, &word) in reference.iter().enumerate() {
            let end = &mut self.ends[word as usize];
            self.positions[*end as usize] = position as u32;
            *end += 1;
        }
        // A window may start at any bit and end in the next 64-bit word.
        let width = reference.len() / 64 + 2;
        self.dense.clear();
        self.width = 0;
        if width.saturating_mul(words + 1) <= Self::MAX_DENSE_WORDS {
            self.width = width;
            self.dense.resize(width * (words + 1), 0);
            for (position, &word) in reference.iter().enumerate() {
                self.dense[word as usize * width + position / 64] |= 1 << (position % 64);
            }
        }
    }

    /// Return the positions of a word in ascending order.
    #[inline(always)]
    pub fn positions_of_word(&self, word: u32) -> &[u32] {
        let Some(word) = (word as usize).checked_sub(1) else {
            return &[];
        };
        &self.positions[self.ends[word] as usize..self.ends[word + 1] as usize]
    }

    /// Return the cells, from `column` on, whose word is `word`.
    #[inline(always)]
    pub fn matching_cells(&self, word: u32, column: u32) -> u64 {
        let first = column as usize - 1;
        if self.width == 0 {
            let positions = self.positions_of_word(word);
            let start = positions.partition_point(|&position| (position as usize) < first);
            let offsets = positions[start..].iter().map(|&position| position as usize - first);
            return offsets.take_while(|&bit| bit < 64).fold(0, |bits, bit| bits | 1 << bit);
        }
        let index = word as usize * self.width + first / 64;
        let bit = first % 64;
        self.dense[index] >> bit | self.dense[index + 1] << 1 << (63 - bit)
    }
}
