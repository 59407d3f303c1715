//! Alignment with one reference by the largest sum of similarities of paired units.
//!
//! This is SoftSegmenter (Polák et al., 2025, "Better Late Than Never: Evaluation of Latency Metrics
//! for Simultaneous Speech-to-Text Translation", arXiv:2509.17349): skipped units cost nothing, and
//! the similarity of two units is the Jaccard index of their sets of characters. The order of
//! equally good steps, and of floating-point additions, is the same as in OmniSTEval 0.1.10.

use super::{Alignment, UNPAIRED};
use crate::interrupt::Work;
use crate::simd::{Instructions, Job, Vector};
use rustc_hash::FxHashMap;

/// A distinct unit, which may occur many times in a text.
#[derive(Clone, Debug)]
pub struct UnitType {
    /// The distinct characters.
    pub characters: Vec<u32>,
    /// Whether the unit is a punctuation mark, which is paired only with punctuation marks.
    pub is_punctuation: bool,
}

/// The types that contain a character.
enum Containing {
    /// The indices of the types.
    Few(Vec<u32>),
    /// For each type, 1 if it contains the character, otherwise 0.
    Many(Vec<u8>),
}

/// The similarities between all unit types and the types that occur in the hypothesis. The latter
/// have the lowest indices.
struct Similarities<'a> {
    types: &'a [UnitType],
    /// For each type in the hypothesis, its number of characters, or 1 if only equal types are
    /// similar.
    sizes: Vec<u32>,
    /// For each type in the hypothesis, whether it is a punctuation mark.
    is_punctuation: Vec<bool>,
    containing: FxHashMap<u32, Containing>,
    /// Whether different types have a similarity of 0.
    only_equal: bool,
}

impl<'a> Similarities<'a> {
    fn new(types: &'a [UnitType], hypothesis: &[u32], only_equal: bool) -> Self {
        let columns = hypothesis.iter().max().map_or(0, |&last| last as usize + 1);
        let mut indices: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (index, kind) in types[..columns].iter().enumerate() {
            for &character in &kind.characters {
                indices.entry(character).or_default().push(index as u32);
            }
        }
        let collect = |indices: Vec<u32>| {
            if indices.len() < columns / 32 {
                return Containing::Few(indices);
            }
            let mut flags = vec![0; columns];
            indices.iter().for_each(|&index| flags[index as usize] = 1);
            Containing::Many(flags)
        };
        let containing =
            indices.into_iter().map(|(character, indices)| (character, collect(indices))).collect();
        let size = |kind: &UnitType| if only_equal { 1 } else { kind.characters.len() as u32 };
        let sizes = types[..columns].iter().map(size).collect();
        let is_punctuation = types[..columns].iter().map(|kind| kind.is_punctuation).collect();
        Self { types, sizes, is_punctuation, containing, only_equal }
    }
}

/// A job that computes the similarities of one type.
struct Compare<'a> {
    similarities: &'a Similarities<'a>,
    index: u32,
    /// A buffer for the numbers of common characters.
    common: &'a mut [u32],
    row: &'a mut [f64],
}

impl Job for Compare<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { similarities, index, common, row } = self;
        let own = &similarities.types[index as usize];
        let mut own_size = own.characters.len() as u32;
        common.fill(0);
        if similarities.only_equal {
            own_size = 1;
            if let Some(equal) = common.get_mut(index as usize) {
                *equal = 1;
            }
        } else {
            for character in &own.characters {
                match similarities.containing.get(character) {
                    None => {}
                    Some(Containing::Few(indices)) => {
                        indices.iter().for_each(|&index| common[index as usize] += 1);
                    }
                    Some(Containing::Many(flags)) => {
                        common
                            .iter_mut()
                            .zip(flags)
                            .for_each(|(count, &flag)| *count += u32::from(flag));
                    }
                }
            }
        }
        let others = similarities.sizes.iter().zip(&similarities.is_punctuation);
        for ((value, &common), (&size, &is_punctuation)) in row.iter_mut().zip(&*common).zip(others)
        {
            // Two types without characters have a similarity of 0.
            let similarity = f64::from(common) / f64::from((own_size + size - common).max(1));
            let is_comparable = is_punctuation == own.is_punctuation;
            *value = if is_comparable { similarity } else { f64::NEG_INFINITY };
        }
    }
}

/// Number of rows of the table of sums that are computed at the same time.
const LANES: usize = 8;
/// Number of columns before and after the table, because each row lags behind the row above.
const PADDING: usize = LANES - 1;

/// One value in each of eight rows.
type Lanes = [f64; LANES];

/// The best steps of eight rows as bits: pairing two units, and skipping a unit of the reference.
#[derive(Clone, Copy, Default)]
struct Steps {
    pairs: u8,
    skips: u8,
}

/// The rows of the table of sums, computed eight at a time. A cell needs the cells above and to the
/// left, so each row is one column behind the row above it.
struct Rows<'a> {
    similarities: Similarities<'a>,
    /// The types of the hypothesis, between padding whose similarities are all zero.
    columns: Vec<u32>,
    /// For each type of the hypothesis and for the padding, the similarity to the unit of each row.
    table: Vec<Lanes>,
    common: Vec<u32>,
    row: Vec<f64>,
    work: Work,
}

impl<'a> Rows<'a> {
    fn new(types: &'a [UnitType], hypothesis: &[u32], only_equal: bool) -> Self {
        let similarities = Similarities::new(types, hypothesis, only_equal);
        let count = similarities.sizes.len();
        let padding = [count as u32; PADDING];
        Self {
            similarities,
            columns: [&padding, hypothesis, &padding].concat(),
            table: vec![[0.0; LANES]; count + 1],
            common: vec![0; count],
            row: vec![0.0; count],
            work: Work::default(),
        }
    }

    /// Return the sums before each block of `interval` units.
    fn store(&mut self, units: &[u32], interval: usize) -> Vec<Vec<f64>> {
        let mut lines = vec![Steps::default(); self.columns.len() - PADDING];
        let mut sums = vec![0.0; self.columns.len()];
        let mut stored = vec![sums.clone()];
        for block in units[..(units.len() - 1) / interval * interval].chunks(interval) {
            for units in block.chunks(LANES) {
                self.advance(&mut sums, units, &mut lines);
            }
            stored.push(sums.clone());
        }
        stored
    }

    /// Return the similarities between a type and all types in the hypothesis.
    fn compute_similarities(&mut self, index: u32) -> &[f64] {
        let Self { similarities, common, row, .. } = self;
        Instructions::best().run(Compare { similarities, index, common, row });
        &self.row
    }

    /// Advance the sums by up to eight units (rows). After fewer than eight units, the sums are
    /// undefined. Write the best steps to `lines`: column `i` of row `k` is in line `i + k`.
    fn advance(&mut self, sums: &mut [f64], units: &[u32], lines: &mut [Steps]) {
        for (lane, &unit) in units.iter().enumerate() {
            self.compute_similarities(unit);
            for (lanes, &value) in self.table.iter_mut().zip(&self.row) {
                lanes[lane] = value;
            }
        }
        self.work.add(2 * (self.row.len() + lines.len()));
        let Self { columns, table, .. } = self;
        Instructions::best().run(Advance { columns, table, sums, lines });
    }
}

/// A job that computes eight rows.
struct Advance<'a> {
    columns: &'a [u32],
    table: &'a [Lanes],
    sums: &'a mut [f64],
    lines: &'a mut [Steps],
}

impl Job for Advance<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { columns, table, sums, lines } = self;
        let sums = &mut sums[..lines.len() + PADDING];
        let (mut above, mut current) = ([0.0; LANES], [0.0; LANES]);
        for ((line, steps), columns) in lines.iter_mut().enumerate().zip(columns.windows(LANES)) {
            let diagonal = above;
            above = std::array::from_fn(|lane| {
                if lane == 0 { sums[line + PADDING] } else { current[lane - 1] }
            });
            let paired: Lanes = std::array::from_fn(|lane| {
                diagonal[lane] + table[columns[PADDING - lane] as usize][lane]
            });
            current = std::array::from_fn(|lane| {
                larger(above[lane], larger(paired[lane], current[lane]))
            });
            sums[line] = current[PADDING];
            // SAFETY: the caller guarantees the instructions.
            let (pairs, skips) =
                unsafe { (equal_bits::<V>(paired, current), equal_bits::<V>(above, current)) };
            *steps = Steps { pairs, skips };
        }
    }
}

/// Return, as bits, the lanes in which two values are equal.
///
/// # Safety
/// The processor must support the instructions of `V`.
#[inline(always)]
unsafe fn equal_bits<V: Vector>(first: Lanes, second: Lanes) -> u8 {
    const { assert!(V::LANES == LANES) };
    let differences: [u64; LANES] =
        std::array::from_fn(|lane| first[lane].to_bits() ^ second[lane].to_bits());
    // SAFETY: the caller guarantees the instructions, and there are `V::LANES` differences.
    unsafe { V::equal_keys(V::load_keys(differences.as_ptr()), 0) as u8 }
}

/// Return the larger number. This compiles to one instruction, because no number is NaN.
#[inline(always)]
fn larger(first: f64, second: f64) -> f64 {
    if first > second { first } else { second }
}

/// Tables with at most this many cells are stored completely, with two bits per cell (64 MiB).
const MAX_KEPT_CELLS: usize = 1 << 28;

/// Align a hypothesis with the units of each segment; units are indices of `types`.
///
/// A skipped unit, and all skipped units after it, belong to the next unit of the reference if the
/// skipped unit is more similar to that unit than to the previous one; otherwise, the skipped unit
/// belongs to the previous one. A unit before the first reference unit gets no segment if the two
/// are not comparable.
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
    let columns = hypothesis.len();
    let mut rows = Rows::new(types, hypothesis, only_equal);
    // Stored rows take 8 bytes per cell, and steps within a block take a quarter of a byte.
    let interval = if reference.len() * columns <= MAX_KEPT_CELLS {
        reference.len()
    } else {
        ((32 * reference.len()) as f64).sqrt() as usize
    }
    .next_multiple_of(LANES);
    let stored = rows.store(&reference, interval);
    let mut lines = Vec::new();
    // For each unit of the hypothesis, the number of reference units above it, and whether it is
    // paired with the last of these.
    let mut places = vec![(0_usize, false); columns];
    let (mut row, mut column) = (reference.len(), columns);
    for (block, mut sums) in stored.into_iter().enumerate().rev() {
        let start = block * interval;
        // Only the columns to the left are needed.
        let width = column + PADDING;
        let groups = reference[start..row].chunks(LANES);
        lines.resize(groups.len() * width, Steps::default());
        for (units, lines) in groups.zip(lines.chunks_mut(width)) {
            rows.advance(&mut sums, units, lines);
        }
        while row > start && column > 0 {
            let (group, lane) = ((row - 1 - start) / LANES, (row - 1 - start) % LANES);
            let steps = lines[group * width + column - 1 + lane];
            let is_pair = steps.pairs >> lane & 1 == 1;
            if is_pair || steps.skips >> lane & 1 == 0 {
                column -= 1;
                places[column] = (row, is_pair);
            }
            if is_pair || steps.skips >> lane & 1 == 1 {
                row -= 1;
            }
        }
        row = start;
    }
    assign_segments(&mut alignment, segments, hypothesis, &places, &mut rows);
    alignment
}

/// Write the segment and the counterpart of each unit of the hypothesis.
///
/// `places` contains, for each unit, the number of reference units above it, and whether it is
/// paired with the last of these.
fn assign_segments(
    alignment: &mut Alignment,
    segments: &[&[u32]],
    hypothesis: &[u32],
    places: &[(usize, bool)],
    rows: &mut Rows<'_>,
) {
    let reference: Vec<u32> = segments.concat();
    let mut owners = Vec::with_capacity(reference.len());
    for (segment, units) in segments.iter().enumerate() {
        owners.extend((0..units.len()).map(|index| (segment as u32, index as u32)));
    }
    // The row whose remaining skipped units all belong to the next unit of the reference.
    let mut row_before_next = None;
    for (index, &(row, is_paired)) in places.iter().enumerate() {
        if is_paired {
            let (segment, unit) = owners[row - 1];
            (alignment.segments[index], alignment.pairs[index]) = (segment, unit);
            continue;
        }
        if row_before_next != Some(row) {
            let mut similarity = |row: usize| match reference.get(row) {
                Some(&unit) => rows.compute_similarities(unit)[hypothesis[index] as usize],
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
}
