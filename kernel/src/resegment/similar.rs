//! Alignment with one reference by the largest sum of similarities of paired units.
//!
//! This is SoftSegmenter (Polák et al., 2025, "Better Late Than Never: Evaluation of Latency Metrics
//! for Simultaneous Speech-to-Text Translation", arXiv:2509.17349): skipped units cost nothing, and
//! the similarity of two units is the Jaccard index of their sets of characters. The order of equally
//! good steps and of floating-point additions is that of OmniSTEval 0.1.10.

use super::{Alignment, UNPAIRED};
use crate::interrupt::Work;

/// A kind of unit, of which a text contains many.
#[derive(Clone, Debug)]
pub struct UnitType {
    /// The characters, each once.
    pub characters: Vec<u32>,
    /// A punctuation mark is never paired with another unit.
    pub is_punctuation: bool,
}

/// Similarities of a unit type of the reference to all unit types are kept up to this number.
const CACHED_SIMILARITIES: usize = 1 << 23;

/// The similarities of unit types.
struct Similarities<'a> {
    types: &'a [UnitType],
    /// For each character, the types that contain it.
    containing: Vec<Vec<u32>>,
    /// Two different types have nothing in common.
    only_equal: bool,
    rows: Vec<Option<Box<[f64]>>>,
    cached: usize,
}

impl<'a> Similarities<'a> {
    fn new(types: &'a [UnitType], only_equal: bool) -> Self {
        let characters = types.iter().flat_map(|kind| &kind.characters).max().map_or(0, |&c| c + 1);
        let mut containing = vec![Vec::new(); characters as usize];
        for (index, kind) in types.iter().enumerate() {
            for &character in &kind.characters {
                containing[character as usize].push(index as u32);
            }
        }
        Self { types, containing, only_equal, rows: vec![None; types.len()], cached: 0 }
    }

    /// Return the similarities of one type to all types.
    fn row(&mut self, index: u32) -> &[f64] {
        if self.rows[index as usize].is_none() {
            if self.cached > CACHED_SIMILARITIES {
                self.rows.fill(None);
                self.cached = 0;
            }
            self.cached += self.types.len();
            self.rows[index as usize] = Some(self.compute_row(index));
        }
        self.rows[index as usize].as_deref().unwrap_or_default()
    }

    fn compute_row(&self, index: u32) -> Box<[f64]> {
        let own = &self.types[index as usize];
        let mut row = vec![0.0_f64; self.types.len()].into_boxed_slice();
        if self.only_equal {
            row[index as usize] = 1.0;
        } else {
            for &character in &own.characters {
                for &other in &self.containing[character as usize] {
                    row[other as usize] += 1.0;
                }
            }
        }
        for (value, other) in row.iter_mut().zip(self.types) {
            if own.is_punctuation != other.is_punctuation {
                *value = f64::NEG_INFINITY;
            } else if *value > 0.0 && !self.only_equal {
                *value /= (own.characters.len() + other.characters.len()) as f64 - *value;
            }
        }
        row
    }
}

/// Columns that are computed together; their best steps are the bits of two words.
const CHUNK: usize = 64;

/// One row of the table of sums.
struct Row<'a> {
    sums: Vec<f64>,
    hypothesis: &'a [u32],
}

impl<'a> Row<'a> {
    fn new(hypothesis: &'a [u32]) -> Self {
        Self { sums: vec![0.0; hypothesis.len()], hypothesis }
    }

    /// Replace the sums by those of the next row. For each chunk of columns, `write` receives in
    /// which of them pairing two units is best, and skipping a unit of the reference.
    #[inline(always)]
    fn advance(&mut self, similarities: &[f64], mut write: impl FnMut(usize, u64, u64)) {
        let mut ends = Ends::default();
        let (chunks, rest) = self.sums.as_chunks_mut::<CHUNK>();
        let (ids, last_ids) = self.hypothesis.as_chunks::<CHUNK>();
        for (index, (sums, ids)) in chunks.iter_mut().zip(ids).enumerate() {
            let (pairs, skips) = ends.advance(sums, ids, similarities);
            write(index, pairs, skips);
        }
        if !rest.is_empty() {
            let (pairs, skips) = ends.advance(rest, last_ids, similarities);
            write(chunks.len(), pairs, skips);
        }
    }
}

/// The last sums to the left of a chunk, in the row above and in the current row.
#[derive(Default)]
struct Ends {
    diagonal: f64,
    left: f64,
}

impl Ends {
    /// Replace the sums of one chunk. Return the bits of its best steps.
    #[inline(always)]
    fn advance(&mut self, sums: &mut [f64], ids: &[u32], similarities: &[f64]) -> (u64, u64) {
        let (mut paired, mut above) = ([0.0; CHUNK], [0.0; CHUNK]);
        let cells = paired.iter_mut().zip(&mut above).zip(sums.iter().zip(ids));
        for ((paired, above), (&sum, &id)) in cells {
            *paired = self.diagonal + similarities[id as usize];
            *above = sum;
            self.diagonal = sum;
        }
        // The largest value so far: four cells at a time wait for only one previous result.
        let (mut pairs, mut skips) = (0, 0);
        for start in (0..sums.len()).step_by(4) {
            let mut largest = f64::NEG_INFINITY;
            for index in start..sums.len().min(start + 4) {
                largest = larger(largest, larger(paired[index], above[index]));
                let sum = larger(largest, self.left);
                pairs |= u64::from(paired[index] == sum) << index;
                skips |= u64::from(above[index] == sum) << index;
                sums[index] = sum;
            }
            self.left = larger(largest, self.left);
        }
        (pairs, skips)
    }
}

/// Return the larger number; one instruction, because no number is NaN.
fn larger(first: f64, second: f64) -> f64 {
    if first > second { first } else { second }
}

/// Tables with at most this many cells are kept whole: two bits a cell, 64 MiB.
const MAX_KEPT_CELLS: usize = 1 << 28;

/// Align a hypothesis with the units of each segment; units are indices of `types`.
///
/// A skipped unit belongs to the next unit of the reference if it is more similar to it than to the
/// previous one, with all skipped units between; otherwise to the previous one. A unit before the
/// first unit of the reference to which it is not comparable gets no segment.
pub fn align_by_similarity(
    segments: &[&[u32]],
    hypothesis: &[u32],
    types: &[UnitType],
    only_equal: bool,
) -> Alignment {
    let reference: Vec<u32> = segments.concat();
    let mut alignment = Alignment {
        segments: vec![UNPAIRED; hypothesis.len()],
        pairs: vec![UNPAIRED; hypothesis.len()],
        alternatives: vec![0; segments.len()],
        errors: 0,
    };
    if reference.is_empty() {
        return alignment;
    }
    let mut similarities = Similarities::new(types, only_equal);
    let mut work = Work::default();
    let columns = hypothesis.len();
    // Stored rows take 8 bytes a cell, steps within a block a quarter of a byte.
    let interval = if reference.len() * columns <= MAX_KEPT_CELLS {
        reference.len()
    } else {
        ((32 * reference.len()) as f64).sqrt().ceil() as usize
    };
    let mut row = Row::new(hypothesis);
    let mut stored = vec![row.sums.clone()];
    // The last block is computed on the way back.
    for (index, &unit) in
        reference[..(reference.len() - 1) / interval * interval].iter().enumerate()
    {
        row.advance(similarities.row(unit), |_, _, _| {});
        work.add(columns);
        if (index + 1) % interval == 0 {
            stored.push(row.sums.clone());
        }
    }
    // For each unit of the hypothesis, the units of the reference above it, and whether it is
    // paired with the last of them.
    let mut rows = vec![(0_usize, false); columns];
    let mut column = columns;
    let words = columns.div_ceil(64);
    for (block, sums) in stored.into_iter().enumerate().rev() {
        let start = block * interval;
        let end = reference.len().min(start + interval);
        let mut pairs = vec![0_u64; (end - start) * words];
        let mut skips = vec![0_u64; (end - start) * words];
        row.sums = sums;
        for (index, &unit) in reference[start..end].iter().enumerate() {
            let offset = index * words;
            row.advance(similarities.row(unit), |chunk, is_pair, is_skip| {
                pairs[offset + chunk] = is_pair;
                skips[offset + chunk] = is_skip;
            });
            work.add(columns);
        }
        let mut row = end;
        while row > start && column > 0 {
            let word = (row - 1 - start) * words + (column - 1) / 64;
            let bit = (column - 1) % 64;
            if pairs[word] >> bit & 1 == 1 {
                column -= 1;
                rows[column] = (row, true);
                row -= 1;
            } else if skips[word] >> bit & 1 == 1 {
                row -= 1;
            } else {
                column -= 1;
                rows[column] = (row, false);
            }
        }
    }

    let mut owners = Vec::with_capacity(reference.len());
    for (segment, units) in segments.iter().enumerate() {
        owners.extend((0..units.len()).map(|index| (segment as u32, index as u32)));
    }
    // The row whose skipped units all belong to the next unit of the reference.
    let mut row_before_next = None;
    for (index, &(row, is_paired)) in rows.iter().enumerate() {
        if is_paired {
            let (segment, unit) = owners[row - 1];
            (alignment.segments[index], alignment.pairs[index]) = (segment, unit);
            continue;
        }
        if row_before_next != Some(row) {
            let mut similarity = |row: usize| match reference.get(row) {
                Some(&unit) => similarities.row(unit)[hypothesis[index] as usize],
                None => f64::NEG_INFINITY,
            };
            let previous = if row == 0 { f64::NEG_INFINITY } else { similarity(row - 1) };
            row_before_next = (similarity(row) > previous).then_some(row);
        }
        let owner = if row_before_next.is_some() { Some(row) } else { row.checked_sub(1) };
        if let Some(owner) = owner {
            alignment.segments[index] = owners[owner].0;
        }
    }
    alignment
}
