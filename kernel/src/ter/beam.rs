//! Rows of the edit distance within the beam, sixty-four cells at a time.
//!
//! Neighbouring cells of the table differ by -1, 0 or 1, within the beam as without one, so a row
//! is two words of bits: where it rises and where it falls (Myers 1999, with the operations of
//! Hyyrö 2003). The beam is 50 cells wide and moves to the right from row to row, and so does the
//! window of bits. What is outside of the beam must never be the cheaper way:
//!
//! * On the left of the window stands a cell that costs one more than the cell above it, from
//!   which another step costs more than any way from above.
//! * On the right the row above is continued as if it rose all the way, and words that would be
//!   equal to those of a cell without a neighbour above and to the left are masked.

use super::Band;

/// A row of the table: the window's cells as differences, and the cell before the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The cells that are one more than the cell before them. All bits behind the beam are set.
    pub rise: u64,
    /// The cells that are one less than the cell before them.
    pub fall: u64,
    /// The cell before the window.
    pub base: i32,
}

impl Row {
    /// The row of no words at all, which costs an insertion a cell.
    pub const FIRST: Self = Self { rise: !0, fall: 0, base: 0 };

    /// True if two rows differ by the same number everywhere.
    #[inline(always)]
    pub fn is_parallel(&self, other: &Self) -> bool {
        (self.rise, self.fall) == (other.rise, other.fall)
    }
}

/// How the steps to a row's cells can be told: a bit a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    /// The cell is as cheap as the one above and to the left.
    flat: u64,
    /// The cell costs one more than the one above.
    down: u64,
}

/// Where the window of a row is, and what of it lies in the beam.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The first column of the window, and how far it is from the window of the row above.
    pub column: u32,
    shift: u32,
    /// The cells within the beam.
    inside: u64,
    /// The cells whose neighbour above and to the left is within the beam.
    diagonal: u64,
}

/// The windows of all rows of a table, the first row aside; `None` where the beam is too wide.
pub fn places(hypothesis: usize, reference: usize, places: &mut Vec<Place>) -> Option<()> {
    let band = Band::new(hypothesis, reference);
    if band.width() > 60 {
        return None;
    }
    places.clear();
    // Column 0 needs no bit: it costs one more in each row, as does what is left of a window.
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
        let place = Place {
            column: column as u32,
            shift: shift as u32,
            inside: ones(columns.end - column),
            diagonal,
        };
        above = columns;
        place
    }));
    Some(())
}

/// `count` ones from the lowest bit on.
fn ones(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { !0 }
}

impl Place {
    /// The row below `above`, in this place; `equal` has the cells whose word is the row's.
    #[inline(always)]
    pub fn below(&self, above: Row, equal: u64) -> (Row, Trace) {
        let left = (1u64 << self.shift) - 1;
        let base = above.base + 1 + (above.rise & left).count_ones() as i32
            - (above.fall & left).count_ones() as i32;
        // The highest bit is behind the beam, so it rises, and so does what moves in.
        let rise = (above.rise as i64 >> self.shift) as u64;
        let fall = above.fall >> self.shift;
        let equal = equal & self.diagonal;
        let flat = ((equal & rise).wrapping_add(rise) ^ rise) | equal | fall;
        let down = fall | !(flat | rise);
        let up = flat & rise;
        let before = down << 1 | 1;
        let row = Row {
            rise: up << 1 | !(flat | before) | !self.inside,
            fall: flat & before & self.inside,
            base,
        };
        (row, Trace { flat, down })
    }

    /// The cell of `row` in `column`.
    pub fn cell(&self, row: Row, column: usize) -> u32 {
        let left = ones(column + 1 - self.column as usize);
        let rises = (row.rise & left).count_ones() as i32;
        (row.base + rises - (row.fall & left).count_ones() as i32) as u32
    }

    /// True if the step to the cell in `column` is from above and the left; `None` if neither
    /// word is the other's match or substitution, then whether it is from above.
    #[inline(always)]
    pub fn step(&self, trace: Trace, column: usize, equal: bool) -> super::Step {
        let bit = column - self.column as usize;
        let has = |bits: u64| bits >> bit & 1 == 1;
        if has(self.diagonal) && equal {
            super::Step::Match
        } else if has(self.diagonal & !trace.flat) {
            super::Step::Substitution
        } else if has(trace.down) {
            super::Step::Deletion
        } else {
            super::Step::Insertion
        }
    }
}

/// Where the words of the reference stand.
#[derive(Default)]
pub struct Occurrences {
    /// For each word the end of its positions; the first word has the number 1.
    ends: Vec<u32>,
    positions: Vec<u32>,
    /// Words of bits that a row of `dense` has; 0 if there are too many.
    width: usize,
    /// For each word a bit for each position.
    dense: Vec<u64>,
}

impl Occurrences {
    /// The most words of bits in all: such a table stays in the first- or second-level cache.
    const MOST_DENSE: usize = 1 << 14;

    /// Notes where each of the words 1 to `words` stands in `reference`.
    pub fn note(&mut self, reference: &[u32], words: usize) {
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
            let at = &mut self.ends[word as usize];
            self.positions[*at as usize] = position as u32;
            *at += 1;
        }
        // A window may begin at any bit and end in the word of bits behind it.
        let width = reference.len() / 64 + 2;
        self.dense.clear();
        self.width = 0;
        if width.saturating_mul(words + 1) <= Self::MOST_DENSE {
            self.width = width;
            self.dense.resize(width * (words + 1), 0);
            for (position, &word) in reference.iter().enumerate() {
                self.dense[word as usize * width + position / 64] |= 1 << (position % 64);
            }
        }
    }

    /// The positions of a word, in order.
    #[inline(always)]
    pub fn of(&self, word: u32) -> &[u32] {
        let Some(word) = (word as usize).checked_sub(1) else {
            return &[];
        };
        &self.positions[self.ends[word] as usize..self.ends[word + 1] as usize]
    }

    /// The cells from `column` on whose word is `word`.
    #[inline(always)]
    pub fn equal(&self, word: u32, column: u32) -> u64 {
        let first = column as usize - 1;
        if self.width == 0 {
            let positions = self.of(word);
            let start = positions.partition_point(|&position| (position as usize) < first);
            let offsets = positions[start..].iter().map(|&position| position as usize - first);
            return offsets.take_while(|&bit| bit < 64).fold(0, |bits, bit| bits | 1 << bit);
        }
        let at = word as usize * self.width + first / 64;
        let bit = first % 64;
        self.dense[at] >> bit | self.dense[at + 1] << 1 << (63 - bit)
    }
}
