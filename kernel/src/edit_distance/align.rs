//! Alignment with bit-parallel rows, 64 cells at a time.
//!
//! Neighbouring cells of the table of edit distances differ by -1, 0 or 1. A row therefore has two
//! bits per cell: whether it rises and whether it falls (Myers 1999, with the operations of Hyyrö
//! 2003). All rows are stored, and the path is traced back through them. Columns are tokens of the
//! reference, and rows are tokens of the hypothesis.
//!
//! Large tables are computed in a band around the diagonal that contains every cheapest path. The
//! cell to the left of the band is assumed to cost one more in each row. To the right of the band,
//! each cell of the row above is assumed to rise by one. If even the band is too large to store,
//! the table is split at half of its rows and both parts are aligned separately (Hirschberg 1975).
//! The split column is the first that a cheapest path crosses. The size limit equals rapidfuzz's,
//! because it affects the choice among equally cheap paths.

use super::Edit;
use crate::interrupt::Work;

/// Minimum number of cells within the band for which rapidfuzz splits the table.
const SPLIT_CELLS: usize = 1 << 22;

/// An aligner with the reusable buffers of one thread.
#[derive(Default)]
pub struct Aligner {
    columns: TokenColumns,
    /// The rises and falls of the most recent row, per block.
    row: Vec<[u64; 2]>,
    /// The blocks within the band, row by row.
    rows: Vec<[u64; 2]>,
    /// The start of each row in `rows`, and the row's first block.
    starts: Vec<(usize, usize)>,
}

/// The extent of the last row: the row's blocks in the band, and the cell before these blocks.
struct LastRow {
    first: usize,
    last: usize,
    base: usize,
}

impl Aligner {
    /// Pass each edit of the cheapest path, with its count, to `take`, starting from the end.
    ///
    /// Reference tokens have ids from 1 to `max_id`; any other token has the id 0.
    pub fn align(
        &mut self,
        reference: &[u32],
        hypothesis: &[u32],
        max_id: usize,
        take: &mut dyn FnMut(Edit, usize),
    ) {
        let pairs = reference.iter().zip(hypothesis);
        let prefix = pairs.take_while(|(a, b)| a == b).count();
        let (r, h) = (&reference[prefix..], &hypothesis[prefix..]);
        let pairs = r.iter().rev().zip(h.iter().rev());
        let suffix = pairs.take_while(|(a, b)| a == b).count();
        take(Edit::Hit, suffix);
        self.align_differing(&r[..r.len() - suffix], &h[..h.len() - suffix], max_id, take);
        take(Edit::Hit, prefix);
    }

    /// Align sequences that neither start nor end with a common token.
    fn align_differing(
        &mut self,
        r: &[u32],
        h: &[u32],
        max_id: usize,
        take: &mut dyn FnMut(Edit, usize),
    ) {
        if r.is_empty() || h.is_empty() {
            take(Edit::Deletion, r.len());
            take(Edit::Insertion, h.len());
            return;
        }
        let max_distance = r.len().max(h.len());
        if r.len() <= 64 {
            self.fill_one_block(r, h, max_id);
        } else if r.len().saturating_mul(h.len()) < SPLIT_CELLS || h.len() < 10 {
            self.fill(r, h, max_id, max_distance, true);
        } else {
            let distance = self.distance(r, h, max_id);
            let width = r.len().min(2 * distance + 1);
            if width.saturating_mul(h.len()) >= SPLIT_CELLS {
                self.align_halves(r, h, max_id, distance, take);
                return;
            }
            self.fill(r, h, max_id, distance, true);
        }
        self.trace(r, h, take);
    }

    fn trace(&self, r: &[u32], h: &[u32], take: &mut dyn FnMut(Edit, usize)) {
        let has_bit = |i: usize, j: usize, which: usize| {
            let (start, first) = self.starts[i];
            // No cell before the band is on a cheapest path, and no cell after the band is visited.
            let block = (j / 64).checked_sub(first);
            block.is_some_and(|block| self.rows[start + block][which] >> (j % 64) & 1 == 1)
        };
        let (mut i, mut j) = (h.len(), r.len());
        while i > 0 && j > 0 {
            if has_bit(i - 1, j - 1, 0) {
                j -= 1;
                take(Edit::Deletion, 1);
                continue;
            }
            i -= 1;
            if i > 0 && has_bit(i - 1, j - 1, 1) {
                take(Edit::Insertion, 1);
            } else {
                j -= 1;
                take(if h[i] == r[j] { Edit::Hit } else { Edit::Substitution }, 1);
            }
        }
        take(Edit::Deletion, j);
        take(Edit::Insertion, i);
    }

    /// Compute all rows for a reference of at most 64 tokens.
    fn fill_one_block(&mut self, r: &[u32], h: &[u32], max_id: usize) {
        self.columns.index(r, max_id);
        self.rows.clear();
        self.starts.clear();
        let mut row = [!0, 0];
        for &word in h {
            next_row(&mut row, self.columns.dense[word as usize], &mut (1, 0));
            self.starts.push((self.rows.len(), 0));
            self.rows.push(row);
        }
    }

    /// Compute all rows within `reach` cells of the diagonal, and store them if `keep` is set.
    fn fill(&mut self, r: &[u32], h: &[u32], max_id: usize, reach: usize, keep: bool) -> LastRow {
        self.columns.index(r, max_id);
        self.row.clear();
        self.row.resize(r.len().div_ceil(64), [!0, 0]);
        self.rows.clear();
        self.starts.clear();
        let mut last_row = LastRow { first: 0, last: 0, base: 0 };
        let mut work = Work::default();
        for (i, &word) in (1_usize..).zip(h) {
            let first = (i.saturating_sub(reach).max(1) - 1) / 64;
            for block in &self.row[last_row.first..first] {
                last_row.base += block[0].count_ones() as usize;
                last_row.base -= block[1].count_ones() as usize;
            }
            last_row =
                LastRow { first, last: (r.len().min(i + reach) - 1) / 64, base: last_row.base + 1 };
            let row = &mut self.row[last_row.first..=last_row.last];
            work.add(4 * row.len());
            let equal = self.columns.matching_columns(word, last_row.first, last_row.last);
            let mut carry = (1, 0);
            for (block, &equal) in row.iter_mut().zip(equal) {
                next_row(block, equal, &mut carry);
            }
            if keep {
                self.starts.push((self.rows.len(), last_row.first));
                self.rows.extend_from_slice(row);
            }
        }
        last_row
    }

    /// Return the cells of the last row, from column `64 * last_row.first` on.
    fn last_row_cells(&self, last_row: &LastRow, columns: usize) -> Vec<usize> {
        let mut cell = last_row.base;
        let columns_in_band = 64 * last_row.first..columns.min(64 * (last_row.last + 1));
        let mut cells = vec![cell];
        cells.extend(columns_in_band.map(|j| {
            let [rise, fall] = self.row[j / 64];
            cell = cell + (rise >> (j % 64) & 1) as usize - (fall >> (j % 64) & 1) as usize;
            cell
        }));
        cells
    }

    /// Return the edit distance, computed in bands that grow until one is wide enough.
    fn distance(&mut self, r: &[u32], h: &[u32], max_id: usize) -> usize {
        let max_distance = r.len().max(h.len());
        let mut reach = r.len().abs_diff(h.len()).max(64);
        loop {
            let last_row = self.fill(r, h, max_id, reach, false);
            let current_distance =
                self.last_row_cells(&last_row, r.len()).pop().unwrap_or(max_distance);
            if current_distance <= reach || reach >= max_distance {
                return current_distance;
            }
            reach = max_distance.min(2 * reach);
        }
    }

    /// Split the hypothesis in the middle, and the reference at the first column that a cheapest
    /// path crosses.
    fn align_halves(
        &mut self,
        r: &[u32],
        h: &[u32],
        max_id: usize,
        distance: usize,
        take: &mut dyn FnMut(Edit, usize),
    ) {
        let (first_half, second_half) = h.split_at(h.len() / 2);
        let reversed = |words: &[u32]| words.iter().rev().copied().collect::<Vec<u32>>();
        let last_row = self.fill(&reversed(r), &reversed(second_half), max_id, distance, false);
        let (right, right_first) = (self.last_row_cells(&last_row, r.len()), 64 * last_row.first);
        let last_row = self.fill(r, first_half, max_id, distance, false);
        let (left, left_first) = (self.last_row_cells(&last_row, r.len()), 64 * last_row.first);
        let costs = (left_first..).zip(&left).filter_map(|(j, cost)| {
            let right_cost = right.get((r.len() - j).checked_sub(right_first)?)?;
            Some((cost + right_cost, j))
        });
        let (_, cut) = costs.min().unwrap_or((distance, r.len() / 2));
        self.align(&r[cut..], second_half, max_id, take);
        self.align(&r[..cut], first_half, max_id, take);
    }
}

/// Compute one row of a block from the row above. `equal` marks the columns whose token equals the
/// row's token. `carry` states whether the row rises or falls before the block. On return, it
/// states this for the last column.
#[inline(always)]
fn next_row(row: &mut [u64; 2], equal: u64, carry: &mut (u64, u64)) {
    let [rise, fall] = *row;
    let equal = equal | carry.1;
    let flat = ((equal & rise).wrapping_add(rise) ^ rise) | equal | fall;
    let (down, up) = (fall | !(flat | rise), flat & rise);
    let (below, above) = (down << 1 | carry.0, up << 1 | carry.1);
    *carry = (down >> 63, up >> 63);
    *row = [above | !(flat | below), below & flat];
}

/// The positions of each token in the reference, as bits per column.
#[derive(Default)]
struct TokenColumns {
    blocks: usize,
    /// For each token, a bitset of its columns, unless the bitsets would be too large.
    dense: Vec<u64>,
    is_dense: bool,
    /// The end of each token's columns in `columns`.
    ends: Vec<u32>,
    columns: Vec<u32>,
    row: Vec<u64>,
}

impl TokenColumns {
    /// Maximum number of 64-bit words for all tokens: 8 MiB.
    const MAX_DENSE_WORDS: usize = 1 << 20;

    #[inline(always)]
    fn index(&mut self, r: &[u32], max_id: usize) {
        self.blocks = r.len().div_ceil(64);
        self.is_dense = self.blocks.saturating_mul(max_id + 1) <= Self::MAX_DENSE_WORDS;
        if self.is_dense || self.blocks == 1 {
            self.dense.clear();
            self.dense.resize(self.blocks * (max_id + 1), 0);
            for (j, &word) in r.iter().enumerate() {
                self.dense[word as usize * self.blocks + j / 64] |= 1 << (j % 64);
            }
            return;
        }
        self.ends.clear();
        self.ends.resize(max_id + 2, 0);
        for &word in r {
            self.ends[word as usize + 1] += 1;
        }
        for word in 1..max_id + 2 {
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

    /// Return the columns of a token, in the blocks from `first` to `last`.
    #[inline(always)]
    fn matching_columns(&mut self, word: u32, first: usize, last: usize) -> &[u64] {
        if self.is_dense {
            let start = word as usize * self.blocks;
            return &self.dense[start + first..=start + last];
        }
        let row = &mut self.row[first..=last];
        row.fill(0);
        let start = (word as usize).checked_sub(1).map_or(0, |previous| self.ends[previous]);
        let columns = &self.columns[start as usize..self.ends[word as usize] as usize];
        let first_column = columns.partition_point(|&j| (j as usize) < 64 * first);
        for &j in columns[first_column..].iter().take_while(|&&j| j as usize / 64 <= last) {
            row[j as usize / 64 - first] |= 1 << (j % 64);
        }
        row
    }
}
