//! Sums of resampled table rows: rows drawn with replacement (bootstrap), or a random half of the
//! rows (approximate randomization).
//!
//! The columns of all systems and metrics are side by side in a [`Stack`], so they share the
//! resamples. Each column is stored in the narrowest sufficient integer type. Columns of zeros are
//! omitted, and so are columns that equal another column plus a constant, such as the reference
//! lengths of a second system, or the numbers of bigrams. A bootstrap replicate is the sum of the
//! resampled rows. Thirty-two columns fit into one or two vector registers, so a row costs one load
//! and one addition. For randomization, each row is included or not: the sums of all 256 subsets of
//! eight rows are computed once and looked up (the method of four Russians). Integer sums are exact
//! in any order, so the result does not depend on the layout or the number of threads.

use crate::error::Error;
use crate::interrupt::{self, Work, in_threads, lock};
use crate::random::{Bits, Generator};
use crate::simd::{Instructions, Job, Vector};
use std::sync::Mutex;

/// Number of columns per tile. A tile of integers fills a cache line, or a half or a quarter of one.
const NARROW: usize = 32;
const HALF: usize = 16;
const QUARTER: usize = 8;
const MIDDLE: usize = 16;
const WIDE: usize = 8;
const SINGLE: usize = 64;

/// Number of rows that are compared before whole columns are.
const PROBED_ROWS: usize = 16;

/// A lane type is used only if it can hold the sum of at least this many rows.
const MIN_SPAN: u64 = 16;

/// Number of trials whose sums stay in the cache while all rows are processed. A power of two would
/// make their addresses compete for the same cache lines.
const CACHED_TRIALS: usize = 2000;

/// Approximate total size in bytes of the row selections of the trials that are processed together.
/// With more rows, fewer trials fit.
const MAX_SELECTION_BYTES: usize = 1 << 26;

/// Approximate number of indices generated at a time. Replicates are processed in blocks to bound
/// memory.
const MAX_BLOCK_INDICES: usize = 1 << 21;

/// A number type for the lanes that sum rows.
pub trait Lane: Copy + Default + Send + Sync + 'static {
    /// The wider type for sums of many lanes.
    type Wide: Copy + Default + Send + Sync;
    /// Return the sum of two numbers, which must fit the type.
    fn plus(self, other: Self) -> Self;
    /// Return a wide sum plus this number.
    fn add_to_wide(self, wide: Self::Wide) -> Self::Wide;
}

macro_rules! integer_lane {
    ($lane:ty, $wide:ty) => {
        impl Lane for $lane {
            type Wide = $wide;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn add_to_wide(self, wide: $wide) -> $wide {
                wide.wrapping_add(<$wide>::from(self))
            }
        }
    };
}
integer_lane!(i16, i32);
integer_lane!(i32, i64);
integer_lane!(i64, i64);

impl Lane for f32 {
    type Wide = Self;
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn add_to_wide(self, wide: Self) -> Self {
        wide + self
    }
}

/// The alignments of a cache line, and of its half and its quarter.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line;
#[derive(Clone, Copy)]
#[repr(align(32))]
struct HalfLine;
#[derive(Clone, Copy)]
#[repr(align(16))]
struct QuarterLine;

/// Numbers side by side, with the alignment of `A`.
#[derive(Clone, Copy)]
struct Lanes<L, const N: usize, A>([L; N], [A; 0]);

impl<L: Lane, const N: usize, A: Copy> Lanes<L, N, A> {
    fn zero() -> Self {
        Self([L::default(); N], [])
    }

    #[inline(always)]
    fn add(&mut self, other: &Self) {
        for (sum, value) in self.0.iter_mut().zip(&other.0) {
            *sum = sum.plus(*value);
        }
    }

    #[inline(always)]
    fn add_to_wide(&self, wide: &mut [L::Wide; N]) {
        for (wide, sum) in wide.iter_mut().zip(&self.0) {
            *wide = sum.add_to_wide(*wide);
        }
    }
}

/// At most `N` columns side by side.
struct Tile<L, const N: usize, A = Line> {
    rows: Vec<Lanes<L, N, A>>,
    /// The stack's column in each lane.
    columns: Vec<usize>,
    /// The number of rows whose sum fits a lane.
    span: usize,
}

impl<L: Lane, const N: usize, A: Copy> Tile<L, N, A> {
    /// Create tiles for these columns; `value` returns the value of a column in a row.
    fn from_columns(
        columns: &[usize],
        rows: usize,
        span: impl Fn(&[usize]) -> usize,
        value: impl Fn(usize, usize) -> L,
    ) -> Vec<Self> {
        let make_tile = |columns: &[usize]| {
            let mut work = Work::default();
            let make_row = |row| {
                let mut lanes = Lanes::zero();
                for (lane, &column) in lanes.0.iter_mut().zip(columns) {
                    *lane = value(row, column);
                }
                work.add(4 * N);
                lanes
            };
            Self {
                rows: (0..rows).map(make_row).collect(),
                columns: columns.to_vec(),
                span: span(columns),
            }
        };
        columns.chunks(N).map(make_tile).collect()
    }
}

/// Tiles of integers with any lane type.
trait IntegerTile: Send + Sync {
    fn sum_samples(&self, draws: &[u32], out: &mut [i64], width: usize, instructions: Instructions);
    fn sum_selections(
        &self,
        halves: &RowSelections,
        out: &mut [i64],
        width: usize,
        instructions: Instructions,
    );
}

impl<L: Lane, const N: usize, A: Copy + Send + Sync> IntegerTile for Tile<L, N, A>
where
    L::Wide: Into<i64>,
{
    fn sum_samples(
        &self,
        draws: &[u32],
        out: &mut [i64],
        width: usize,
        instructions: Instructions,
    ) {
        instructions.run(SumSamplesJob { tile: self, draws, out, width });
    }

    fn sum_selections(
        &self,
        halves: &RowSelections,
        out: &mut [i64],
        width: usize,
        instructions: Instructions,
    ) {
        instructions.run(SumSelectionsJob { tile: self, halves, out, width });
    }
}

/// A job that sums resampled rows. Each replicate has one index per table row.
struct SumSamplesJob<'a, L, O, const N: usize, A> {
    tile: &'a Tile<L, N, A>,
    draws: &'a [u32],
    out: &'a mut [O],
    width: usize,
}

impl<L: Lane, O, const N: usize, A: Copy> Job for SumSamplesJob<'_, L, O, N, A>
where
    L::Wide: Into<O>,
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let rows = self.tile.rows.as_slice();
        let replicates = self.draws.chunks_exact(rows.len());
        let mut work = Work::default();
        for (draws, out) in replicates.zip(self.out.chunks_exact_mut(self.width)) {
            // In a large table, loading a row waits for memory, so a row costs several units.
            work.add(4 * draws.len());
            let mut total = [L::Wide::default(); N];
            for draws in draws.chunks(self.tile.span) {
                let mut sum = Lanes::<L, N, A>::zero();
                for &draw in draws {
                    sum.add(&rows[draw as usize]);
                }
                sum.add_to_wide(&mut total);
            }
            for (&column, sum) in self.tile.columns.iter().zip(total) {
                out[column] = sum.into();
            }
        }
    }
}

/// The rows selected in each of several trials, with one bit per row.
struct RowSelections {
    trials: usize,
    /// Each word covers 64 rows. The words of all trials for the first 64 rows come first.
    words: Vec<u64>,
}

impl RowSelections {
    fn random(generator: &mut Generator, bits: &mut Bits, rows: usize, trials: usize) -> Self {
        let groups = rows.div_ceil(64);
        let mut words = vec![0; groups * trials];
        // The words of eight trials fill a cache line, which is written as a whole.
        let mut trial_words = vec![0; groups * 8];
        let mut work = Work::default();
        for first in (0..trials).step_by(8) {
            let count = (trials - first).min(8);
            for selection in trial_words.chunks_exact_mut(groups).take(count) {
                work.add(rows / 8);
                bits.fill(generator, rows, selection);
            }
            for (group, words) in words.chunks_exact_mut(trials).enumerate() {
                for (trial, word) in words[first..first + count].iter_mut().enumerate() {
                    *word = trial_words[trial * groups + group];
                }
            }
        }
        Self { trials, words }
    }

    /// Return the number of rows selected in each trial.
    fn row_counts(&self) -> Vec<i64> {
        let mut counts = vec![0; self.trials];
        for words in self.words.chunks_exact(self.trials) {
            for (count, word) in counts.iter_mut().zip(words) {
                *count += i64::from(word.count_ones());
            }
        }
        counts
    }
}

/// For each of eight groups of eight rows, the sums of all 256 subsets.
struct SubsetSums<L, const N: usize, A>(Vec<[Lanes<L, N, A>; 256]>);

impl<L: Lane, const N: usize, A: Copy> SubsetSums<L, N, A> {
    /// Compute the sums for at most 64 rows.
    #[inline(always)]
    fn fill(&mut self, rows: &[Lanes<L, N, A>]) {
        for (table, rows) in self.0.iter_mut().zip(rows.chunks(8)) {
            for subset in 1..1 << rows.len() {
                let first = (subset as u32).trailing_zeros() as usize;
                let mut sum = table[subset & (subset - 1)];
                sum.add(&rows[first]);
                table[subset] = sum;
            }
        }
    }

    /// Add the subset that each word selects, `EIGHTS` groups of eight rows at a time.
    #[inline(always)]
    fn add_selected<const EIGHTS: usize>(&self, words: &[u64], totals: &mut [[L::Wide; N]]) {
        for (total, word) in totals.iter_mut().zip(words) {
            let bytes = word.to_le_bytes();
            for (tables, bytes) in self.0.chunks_exact(EIGHTS).zip(bytes.chunks_exact(EIGHTS)) {
                let mut sum = Lanes::<L, N, A>::zero();
                for (table, &byte) in tables.iter().zip(bytes) {
                    sum.add(&table[usize::from(byte)]);
                }
                sum.add_to_wide(total);
            }
        }
    }
}

/// A job that sums the rows selected in each trial.
struct SumSelectionsJob<'a, L, const N: usize, A> {
    tile: &'a Tile<L, N, A>,
    halves: &'a RowSelections,
    out: &'a mut [i64],
    width: usize,
}

impl<L: Lane, const N: usize, A: Copy> Job for SumSelectionsJob<'_, L, N, A>
where
    L::Wide: Into<i64>,
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { tile, halves, out, width } = self;
        let mut sums = SubsetSums(vec![[Lanes::zero(); 256]; 8]);
        let mut totals = vec![[L::Wide::default(); N]; halves.trials];
        let mut work = Work::default();
        let words = halves.words.chunks_exact(halves.trials);
        for (rows, words) in tile.rows.chunks(64).zip(words) {
            work.add(8 * (halves.trials + 256));
            sums.fill(rows);
            // The number of groups of eight rows whose sum fits a lane.
            match tile.span / 8 {
                0 | 1 => sums.add_selected::<1>(words, &mut totals),
                2 | 3 => sums.add_selected::<2>(words, &mut totals),
                4..8 => sums.add_selected::<4>(words, &mut totals),
                _ => sums.add_selected::<8>(words, &mut totals),
            }
        }
        for (total, out) in totals.into_iter().zip(out.chunks_exact_mut(width)) {
            for (&column, sum) in tile.columns.iter().zip(total) {
                out[column] = sum.into();
            }
        }
    }
}

/// The columns of several tables with the same number of rows.
pub struct Stack {
    rows: usize,
    width: usize,
    tiles: Vec<Box<dyn IntegerTile>>,
    /// The divisors of columns whose values were divided, as (column, divisor).
    divisors: Vec<(usize, i64)>,
    derived_columns: Vec<DerivedColumn>,
}

/// A column that equals the column `base` plus a constant, so that its sums need no rows.
struct DerivedColumn {
    column: usize,
    base: usize,
    constant: i64,
}

impl Stack {
    /// Create a stack from tables of `rows` rows, each given as its values, row by row, and its
    /// width.
    ///
    /// Return an error if a sum of `rows` values may overflow 64 bits.
    pub fn new(tables: &[(&[i64], usize)], rows: usize) -> Result<Self, Error> {
        let columns = columns(tables, rows)?;
        let value = |row: usize, column: usize| -> i64 {
            let (values, width) = columns[column];
            values[row * width]
        };
        let (mut narrow, mut middle, mut wide) = (Vec::new(), Vec::new(), Vec::new());
        let (mut maxima, mut divisors) = (vec![0; columns.len()], Vec::new());
        let (mut derived_columns, mut base_columns) = (Vec::new(), Vec::<usize>::new());
        for (column, lane_maximum) in maxima.iter_mut().enumerate() {
            interrupt::poll();
            let values = || (0..rows).map(|row| value(row, column).unsigned_abs());
            let mut maximum = values().max().unwrap_or(0);
            if (maximum as u128) * (rows as u128) > i64::MAX as u128 {
                return Err(Error::Input(format!(
                    "statistics are too large: {rows} rows of up to {maximum} may overflow 64-bit integers"
                )));
            }
            if maximum == 0 {
                continue;
            }
            // The differences may overflow, but the sums do not.
            let difference = |row, base| value(row, column).wrapping_sub(value(row, base));
            let is_constant =
                |base, rows| (1..rows).all(|row| difference(row, base) == difference(0, base));
            let probed_rows = rows.min(PROBED_ROWS);
            let similar_column =
                base_columns.iter().copied().find(|&base| is_constant(base, probed_rows));
            if let Some(base) = similar_column.filter(|&base| is_constant(base, rows)) {
                derived_columns.push(DerivedColumn { column, base, constant: difference(0, base) });
                continue;
            }
            base_columns.push(column);
            if maximum > i16::MAX as u64 / MIN_SPAN {
                // Values that are all multiples of a number, such as PARTS, are divided by it.
                let divisor = values().fold(0, gcd).max(1);
                if divisor > 1 {
                    divisors.push((column, divisor as i64));
                    maximum /= divisor;
                }
            }
            *lane_maximum = maximum;
            let sum = maximum.saturating_mul(rows as u64);
            if maximum <= i16::MAX as u64 / MIN_SPAN && sum <= i32::MAX as u64 {
                narrow.push(column);
            } else if maximum <= i32::MAX as u64 / MIN_SPAN {
                middle.push(column);
            } else {
                wide.push(column);
            }
        }
        let divisor = |column: usize| {
            divisors
                .binary_search_by_key(&column, |(column, _)| *column)
                .map_or(1, |i| divisors[i].1)
        };
        let span = |limit: u64| {
            let maxima = &maxima;
            move |columns: &[usize]| {
                let largest = columns.iter().map(|&column| maxima[column]).max().unwrap_or(0);
                (limit / largest.max(1)) as usize
            }
        };
        let quotient = |row, column| value(row, column) / divisor(column);
        let short = |row, column| quotient(row, column) as i16;
        // If there are few columns, a part of a tile is sufficient and needs less cache space.
        let (remainder, narrow) = narrow.split_at(match narrow.len() % NARROW {
            count @ 1..=HALF => count,
            _ => 0,
        });
        let limit = i16::MAX as u64;
        let mut tiles = if remainder.len() <= QUARTER {
            let tiles = Tile::<i16, QUARTER, QuarterLine>::from_columns;
            boxed(tiles(remainder, rows, span(limit), short))
        } else {
            let tiles = Tile::<i16, HALF, HalfLine>::from_columns;
            boxed(tiles(remainder, rows, span(limit), short))
        };
        tiles.extend(boxed(Tile::<i16, NARROW>::from_columns(narrow, rows, span(limit), short)));
        tiles.extend(boxed(Tile::<i32, MIDDLE>::from_columns(
            &middle,
            rows,
            span(i32::MAX as u64),
            |row, column| quotient(row, column) as i32,
        )));
        tiles.extend(boxed(Tile::<i64, WIDE>::from_columns(&wide, rows, |_| usize::MAX, quotient)));
        Ok(Self { rows, width: columns.len(), tiles, divisors, derived_columns })
    }

    /// Return the number of columns of all tables.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Return the sums of all columns in each of `replicates` bootstrap samples, concatenated.
    pub fn bootstrap_sums(
        &self,
        generator: &mut Generator,
        replicates: usize,
        instructions: Instructions,
        workers: usize,
    ) -> Vec<i64> {
        let mut sums = vec![0; replicates * self.width];
        sum_in_blocks(generator, self.rows, &mut sums, self.width, workers, |draws, sums| {
            for tile in &self.tiles {
                tile.sum_samples(draws, sums, self.width, instructions);
            }
            let sums = sums.chunks_exact_mut(self.width);
            sums.for_each(|sums| self.complete_sums(sums, self.rows as i64));
        });
        sums
    }

    /// Return the sums of the rows that each trial selects with probability 1/2.
    pub fn random_half_sums(
        &self,
        generator: &mut Generator,
        bits: &mut Bits,
        trials: usize,
        instructions: Instructions,
        workers: usize,
    ) -> Vec<i64> {
        let mut sums = vec![0; trials * self.width];
        if sums.is_empty() {
            return sums;
        }
        let max_trials = CACHED_TRIALS.min(MAX_SELECTION_BYTES / self.rows.div_ceil(8)).max(100);
        // One generator produces the selections, while other threads sum earlier selections.
        let remaining = Mutex::new((sums.chunks_mut(max_trials * self.width), generator, bits));
        let next = || {
            let (parts, generator, bits) = &mut *lock(&remaining);
            let part = parts.next()?;
            let trials = part.len() / self.width;
            Some((RowSelections::random(generator, bits, self.rows, trials), part))
        };
        let work = || {
            while let Some((halves, out)) = next() {
                for tile in &self.tiles {
                    tile.sum_selections(&halves, out, self.width, instructions);
                }
                let needs_counts = self.derived_columns.iter().any(|one| one.constant != 0);
                let counts = if needs_counts { halves.row_counts() } else { Vec::new() };
                for (trial, sums) in out.chunks_exact_mut(self.width).enumerate() {
                    self.complete_sums(sums, counts.get(trial).copied().unwrap_or(0));
                }
            }
        };
        in_threads(workers.min(trials.div_ceil(max_trials)), work, work);
        sums
    }

    /// Complete the sums of `rows` rows: multiply by the divisors, and add the sums of the derived
    /// columns.
    fn complete_sums(&self, sums: &mut [i64], rows: i64) {
        for &(column, divisor) in &self.divisors {
            sums[column] *= divisor;
        }
        for &DerivedColumn { column, base, constant } in &self.derived_columns {
            sums[column] = sums[base].wrapping_add(rows.wrapping_mul(constant));
        }
    }
}

/// Columns of several tables as 32-bit floats, which are added in the order of the samples. Sums
/// beyond 2^24 depend on that order.
pub struct SingleStack {
    rows: usize,
    width: usize,
    tiles: Vec<Tile<f32, SINGLE>>,
}

impl SingleStack {
    /// Create a stack of `width` columns and `rows` rows; `value` returns the number at a given row
    /// and column.
    pub fn new(
        rows: usize,
        width: usize,
        value: impl Fn(usize, usize) -> f32,
    ) -> Result<Self, Error> {
        check_rows(rows)?;
        let columns: Vec<usize> = (0..width).collect();
        Ok(Self { rows, width, tiles: Tile::from_columns(&columns, rows, |_| usize::MAX, value) })
    }

    /// Return the sums of all columns in each of `replicates` bootstrap samples, concatenated.
    pub fn bootstrap_sums(
        &self,
        generator: &mut Generator,
        replicates: usize,
        instructions: Instructions,
        workers: usize,
    ) -> Vec<f32> {
        let mut sums = vec![0.0; replicates * self.width];
        sum_in_blocks(generator, self.rows, &mut sums, self.width, workers, |draws, sums| {
            for tile in &self.tiles {
                instructions.run(SumSamplesJob { tile, draws, out: &mut *sums, width: self.width });
            }
        });
        sums
    }
}

fn boxed<T: IntegerTile + 'static>(tiles: Vec<T>) -> Vec<Box<dyn IntegerTile>> {
    tiles.into_iter().map(|tile| Box::new(tile) as Box<dyn IntegerTile>).collect()
}

fn check_rows(rows: usize) -> Result<(), Error> {
    match u32::try_from(rows) {
        Ok(1..) => Ok(()),
        _ => Err(Error::Input(format!(
            "cannot resample {rows} segments (expected 1 to 4,294,967,295)"
        ))),
    }
}

/// Return each column of all tables: a slice that starts at the column's first value, and a stride.
fn columns<'a>(
    tables: &[(&'a [i64], usize)],
    rows: usize,
) -> Result<Vec<(&'a [i64], usize)>, Error> {
    check_rows(rows)?;
    if let Some((values, width)) =
        tables.iter().find(|(values, width)| values.len() != rows * width)
    {
        return Err(Error::Input(format!(
            "tables have different lengths: {} and {rows} rows",
            values.len() / width
        )));
    }
    Ok(tables
        .iter()
        .flat_map(|&(values, width)| (0..width).map(move |column| (&values[column..], width)))
        .collect())
}

/// Generate the indices of all replicates in blocks, and sum each block in `workers` threads.
fn sum_in_blocks<O: Send>(
    generator: &mut Generator,
    rows: usize,
    sums: &mut [O],
    width: usize,
    workers: usize,
    work: impl Fn(&[u32], &mut [O]) + Sync,
) {
    if sums.is_empty() {
        return;
    }
    let replicates = (MAX_BLOCK_INDICES / rows).max(workers);
    let mut draws = vec![0; rows * replicates.min(sums.len() / width)];
    for sums in sums.chunks_mut(replicates * width) {
        let draws = &mut draws[..sums.len() / width * rows];
        generator.fill_below(rows as u32, draws);
        let share = (draws.len() / rows).div_ceil(workers);
        if workers == 1 {
            work(draws, sums);
            continue;
        }
        let parts = draws.chunks(share * rows).zip(sums.chunks_mut(share * width));
        let (threads, parts) = (parts.len(), Mutex::new(parts));
        let work = || {
            while let Some((draws, sums)) = { lock(&parts).next() } {
                work(draws, sums);
            }
        };
        in_threads(threads, work, work);
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
