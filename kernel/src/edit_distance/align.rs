//! The alignment on rows of bits, sixty-four cells at a time.
//!
//! Neighbouring cells of the table of edit distances differ by -1, 0 or 1, so a row is two bits a
//! cell: where it rises and where it falls (Myers 1999, with the operations of Hyyrö 2003). All rows
//! are kept, and the way back is read from them. A column is a token of the reference, a row one of
//! the hypothesis.
//!
//! A large table is computed in a band about its diagonal that no cheapest way leaves: on its left
//! stands a cell that costs one more in each row, on its right the row above is continued as if it
//! rose all the way. Where even the band is too large to be kept, the table is cut at half of its
//! rows and both parts are aligned alone (Hirschberg 1975): at the first column that a cheapest way
//! passes, and from the size on that rapidfuzz has, because among equally cheap ways that decides.

use super::Edit;
use crate::interrupt::Work;

/// Cells within the band from which on rapidfuzz cuts the table.
const MOST_CELLS: usize = 1 << 22;

/// A thread's memory.
#[derive(Default)]
pub struct Aligner {
    places: Places,
    /// The row that was filled last: rises and falls, by block.
    row: Vec<[u64; 2]>,
    /// All rows, one behind the other, of each the blocks in the band.
    rows: Vec<[u64; 2]>,
    /// Where each row starts in `rows`, and its first block.
    starts: Vec<(usize, usize)>,
}

/// Where the last row ended: its blocks in the band, and the cell before them.
struct Last {
    first: usize,
    last: usize,
    base: usize,
}

impl Aligner {
    /// Hands the edits of the cheapest way to `take`, from the end, each with its number.
    ///
    /// The tokens of the reference are the numbers 1 to `kinds`; any other token is 0.
    pub fn align(
        &mut self,
        reference: &[u32],
        hypothesis: &[u32],
        kinds: usize,
        take: &mut dyn FnMut(Edit, usize),
    ) {
        let same = reference.iter().zip(hypothesis);
        let prefix = same.take_while(|(a, b)| a == b).count();
        let (r, h) = (&reference[prefix..], &hypothesis[prefix..]);
        let same = r.iter().rev().zip(h.iter().rev());
        let suffix = same.take_while(|(a, b)| a == b).count();
        take(Edit::Hit, suffix);
        self.differing(&r[..r.len() - suffix], &h[..h.len() - suffix], kinds, take);
        take(Edit::Hit, prefix);
    }

    /// The same for what does not start or end with the same token.
    fn differing(&mut self, r: &[u32], h: &[u32], kinds: usize, take: &mut dyn FnMut(Edit, usize)) {
        if r.is_empty() || h.is_empty() {
            take(Edit::Deletion, r.len());
            take(Edit::Insertion, h.len());
            return;
        }
        let most = r.len().max(h.len());
        if r.len() <= 64 {
            self.fill_one_block(r, h, kinds);
        } else if r.len().saturating_mul(h.len()) < MOST_CELLS || h.len() < 10 {
            self.fill(r, h, kinds, most, true);
        } else {
            let distance = self.distance(r, h, kinds);
            let width = r.len().min(2 * distance + 1);
            if width.saturating_mul(h.len()) >= MOST_CELLS {
                self.halves(r, h, kinds, distance, take);
                return;
            }
            self.fill(r, h, kinds, distance, true);
        }
        self.trace(r, h, take);
    }

    /// The way back.
    fn trace(&self, r: &[u32], h: &[u32], take: &mut dyn FnMut(Edit, usize)) {
        let has = |i: usize, j: usize, which: usize| {
            let (start, first) = self.starts[i];
            // Before the band no cell is on a cheapest way; behind it none is asked for.
            let block = (j / 64).checked_sub(first);
            block.is_some_and(|block| self.rows[start + block][which] >> (j % 64) & 1 == 1)
        };
        let (mut i, mut j) = (h.len(), r.len());
        while i > 0 && j > 0 {
            if has(i - 1, j - 1, 0) {
                j -= 1;
                take(Edit::Deletion, 1);
                continue;
            }
            i -= 1;
            if i > 0 && has(i - 1, j - 1, 1) {
                take(Edit::Insertion, 1);
            } else {
                j -= 1;
                take(if h[i] == r[j] { Edit::Hit } else { Edit::Substitution }, 1);
            }
        }
        take(Edit::Deletion, j);
        take(Edit::Insertion, i);
    }

    /// All rows for a reference of at most 64 tokens.
    fn fill_one_block(&mut self, r: &[u32], h: &[u32], kinds: usize) {
        self.places.note(r, kinds);
        self.rows.clear();
        self.starts.clear();
        let mut row = [!0, 0];
        for &word in h {
            step(&mut row, self.places.dense[word as usize], &mut (1, 0));
            self.starts.push((self.rows.len(), 0));
            self.rows.push(row);
        }
    }

    /// All rows within `reach` cells of the diagonal, kept if wanted.
    fn fill(&mut self, r: &[u32], h: &[u32], kinds: usize, reach: usize, keep: bool) -> Last {
        self.places.note(r, kinds);
        self.row.clear();
        self.row.resize(r.len().div_ceil(64), [!0, 0]);
        self.rows.clear();
        self.starts.clear();
        let mut at = Last { first: 0, last: 0, base: 0 };
        let mut work = Work::default();
        for (i, &word) in (1_usize..).zip(h) {
            let first = (i.saturating_sub(reach).max(1) - 1) / 64;
            for block in &self.row[at.first..first] {
                at.base += block[0].count_ones() as usize;
                at.base -= block[1].count_ones() as usize;
            }
            at = Last { first, last: (r.len().min(i + reach) - 1) / 64, base: at.base + 1 };
            let row = &mut self.row[at.first..=at.last];
            work.done(4 * row.len());
            let equal = self.places.equal(word, at.first, at.last);
            let mut carry = (1, 0);
            for (block, &equal) in row.iter_mut().zip(equal) {
                step(block, equal, &mut carry);
            }
            if keep {
                self.starts.push((self.rows.len(), at.first));
                self.rows.extend_from_slice(row);
            }
        }
        at
    }

    /// The cells of the last row, from column `64 * first` on.
    fn cells(&self, at: &Last, columns: usize) -> Vec<usize> {
        let mut cell = at.base;
        let inside = 64 * at.first..columns.min(64 * (at.last + 1));
        let mut cells = vec![cell];
        cells.extend(inside.map(|j| {
            let [rise, fall] = self.row[j / 64];
            cell = cell + (rise >> (j % 64) & 1) as usize - (fall >> (j % 64) & 1) as usize;
            cell
        }));
        cells
    }

    /// The edit distance, in bands that grow until one holds it.
    fn distance(&mut self, r: &[u32], h: &[u32], kinds: usize) -> usize {
        let most = r.len().max(h.len());
        let mut reach = r.len().abs_diff(h.len()).max(64);
        loop {
            let at = self.fill(r, h, kinds, reach, false);
            let found = self.cells(&at, r.len()).pop().unwrap_or(most);
            if found <= reach || reach >= most {
                return found;
            }
            reach = most.min(2 * reach);
        }
    }

    /// Cuts the hypothesis in two, and the reference where a cheapest way passes first.
    fn halves(
        &mut self,
        r: &[u32],
        h: &[u32],
        kinds: usize,
        distance: usize,
        take: &mut dyn FnMut(Edit, usize),
    ) {
        let (before, behind) = h.split_at(h.len() / 2);
        let reversed = |words: &[u32]| words.iter().rev().copied().collect::<Vec<u32>>();
        let at = self.fill(&reversed(r), &reversed(behind), kinds, distance, false);
        let (right, right_first) = (self.cells(&at, r.len()), 64 * at.first);
        let at = self.fill(r, before, kinds, distance, false);
        let (left, left_first) = (self.cells(&at, r.len()), 64 * at.first);
        let costs = (left_first..).zip(&left).filter_map(|(j, cost)| {
            let other = right.get((r.len() - j).checked_sub(right_first)?)?;
            Some((cost + other, j))
        });
        let (_, cut) = costs.min().unwrap_or((distance, r.len() / 2));
        self.align(&r[cut..], behind, kinds, take);
        self.align(&r[..cut], before, kinds, take);
    }
}

/// One row of a block below another: `equal` has the columns whose token is the row's. The carry says
/// whether the column before the block rises and falls; then, whether the last one does.
#[inline(always)]
fn step(row: &mut [u64; 2], equal: u64, carry: &mut (u64, u64)) {
    let [rise, fall] = *row;
    let equal = equal | carry.1;
    let flat = ((equal & rise).wrapping_add(rise) ^ rise) | equal | fall;
    let (down, up) = (fall | !(flat | rise), flat & rise);
    let (below, above) = (down << 1 | carry.0, up << 1 | carry.1);
    *carry = (down >> 63, up >> 63);
    *row = [above | !(flat | below), below & flat];
}

/// Where each token of the reference stands: a bit a column.
#[derive(Default)]
struct Places {
    blocks: usize,
    /// For each token a bit for each column, unless that is too much.
    dense: Vec<u64>,
    is_dense: bool,
    /// For each token the end of its columns, and the columns.
    ends: Vec<u32>,
    columns: Vec<u32>,
    row: Vec<u64>,
}

impl Places {
    /// The most words of bits for all tokens together: 8 MiB.
    const MOST_DENSE: usize = 1 << 20;

    #[inline(always)]
    fn note(&mut self, r: &[u32], kinds: usize) {
        self.blocks = r.len().div_ceil(64);
        self.is_dense = self.blocks.saturating_mul(kinds + 1) <= Self::MOST_DENSE;
        if self.is_dense || self.blocks == 1 {
            self.dense.clear();
            self.dense.resize(self.blocks * (kinds + 1), 0);
            for (j, &word) in r.iter().enumerate() {
                self.dense[word as usize * self.blocks + j / 64] |= 1 << (j % 64);
            }
            return;
        }
        self.ends.clear();
        self.ends.resize(kinds + 2, 0);
        for &word in r {
            self.ends[word as usize + 1] += 1;
        }
        for word in 1..kinds + 2 {
            self.ends[word] += self.ends[word - 1];
        }
        self.columns.resize(r.len(), 0);
        for (j, &word) in r.iter().enumerate() {
            let end = &mut self.ends[word as usize];
            self.columns[*end as usize] = j as u32;
            *end += 1;
        }
        self.row.resize(self.blocks, 0);
    }

    /// The columns of a token, in the blocks from `first` to `last`.
    #[inline(always)]
    fn equal(&mut self, word: u32, first: usize, last: usize) -> &[u64] {
        if self.is_dense {
            let start = word as usize * self.blocks;
            return &self.dense[start + first..=start + last];
        }
        let row = &mut self.row[first..=last];
        row.fill(0);
        let start = (word as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        let columns = &self.columns[start as usize..self.ends[word as usize] as usize];
        let from = columns.partition_point(|&j| (j as usize) < 64 * first);
        for &j in columns[from..].iter().take_while(|&&j| j as usize / 64 <= last) {
            row[j as usize / 64 - first] |= 1 << (j % 64);
        }
        row
    }
}
