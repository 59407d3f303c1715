//! Resampled sums of the rows of tables: with replacement (the bootstrap) and by halves (randomized
//! pairs).
//!
//! The columns of all systems and metrics stand side by side in a [`Stack`], so they share the
//! draws, and each is kept in the narrowest integers that hold it; those that are 0 in all rows are
//! left out. A bootstrap replicate adds the drawn rows one after the other: thirty-two columns are
//! one or two machine words, so a draw costs a load and an addition. A randomized sum needs each row
//! or not: the sums of all 256 subsets of eight rows are made once and looked up (the method of four
//! Russians). Integer sums are exact in any order, so neither the layout nor the number of threads
//! can be seen in the result.

use crate::error::Error;
use crate::interrupt::{self, Work, in_threads};
use crate::random::{Bits, Generator};
use crate::simd::{Instructions, Job, Vector};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Columns of one tile: a cache line of 16-bit integers, or half of one.
const NARROW: usize = 32;
const HALF: usize = 16;
const MIDDLE: usize = 16;
const WIDE: usize = 8;
const SINGLE: usize = 64;

/// The fewest rows that must fit into a lane before it has to be widened.
const SPAN: u64 = 16;

/// Trials whose sums are kept in the cache while all rows pass by. Not a power of two: their bytes
/// lie so far apart, and would all compete for the same lines of the cache.
const TRIALS: usize = 2000;

/// Bytes of which rows all trials take, about: with very many rows, fewer trials are made at a time.
const HALVES: usize = 1 << 26;

/// Indices drawn at a time, about: replicates are made in blocks so that memory stays bounded.
const DRAWS: usize = 1 << 21;

/// A kind of number that is summed.
pub trait Lane: Copy + Default + Send + Sync + 'static {
    /// The type that sums of such numbers are widened to.
    type Wide: Copy + Default + Send + Sync;
    /// The sum. It must fit.
    fn plus(self, other: Self) -> Self;
    /// A wide sum and this one.
    fn onto(self, wide: Self::Wide) -> Self::Wide;
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
            fn onto(self, wide: $wide) -> $wide {
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
    fn onto(self, wide: Self) -> Self {
        wide + self
    }
}

/// A line of the cache, and half of one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line;
#[derive(Clone, Copy)]
#[repr(align(32))]
struct HalfLine;

/// Numbers side by side, which lie where an `A` may lie.
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
    fn add_onto(&self, wide: &mut [L::Wide; N]) {
        for (wide, sum) in wide.iter_mut().zip(&self.0) {
            *wide = sum.onto(*wide);
        }
    }
}

/// At most `N` columns side by side.
struct Tile<L, const N: usize, A = Line> {
    rows: Vec<Lanes<L, N, A>>,
    /// The column of the stack in each lane.
    columns: Vec<usize>,
    /// The number of rows that can be added in a lane.
    span: usize,
}

impl<L: Lane, const N: usize, A: Copy> Tile<L, N, A> {
    /// Tiles of these columns; `value` gives the value of a column in a row.
    fn cover(
        columns: &[usize],
        rows: usize,
        span: impl Fn(&[usize]) -> usize,
        value: impl Fn(usize, usize) -> L,
    ) -> Vec<Self> {
        let tile = |columns: &[usize]| {
            let mut work = Work::default();
            let row = |row| {
                let mut lanes = Lanes::zero();
                for (lane, &column) in lanes.0.iter_mut().zip(columns) {
                    *lane = value(row, column);
                }
                work.done(4 * N);
                lanes
            };
            Self {
                rows: (0..rows).map(row).collect(),
                columns: columns.to_vec(),
                span: span(columns),
            }
        };
        columns.chunks(N).map(tile).collect()
    }
}

/// Tiles of integers, whatever their lanes.
trait Summed: Send + Sync {
    fn gather(&self, draws: &[u32], out: &mut [i64], width: usize, instructions: Instructions);
    fn choose(&self, halves: &Halves, out: &mut [i64], width: usize, instructions: Instructions);
}

impl<L: Lane, const N: usize, A: Copy + Send + Sync> Summed for Tile<L, N, A>
where
    L::Wide: Into<i64>,
{
    fn gather(&self, draws: &[u32], out: &mut [i64], width: usize, instructions: Instructions) {
        instructions.run(Gather { tile: self, draws, out, width });
    }

    fn choose(&self, halves: &Halves, out: &mut [i64], width: usize, instructions: Instructions) {
        instructions.run(Choose { tile: self, halves, out, width });
    }
}

/// The sums of drawn rows: a replicate has as many draws as there are rows.
struct Gather<'a, L, O, const N: usize, A> {
    tile: &'a Tile<L, N, A>,
    draws: &'a [u32],
    out: &'a mut [O],
    width: usize,
}

impl<L: Lane, O, const N: usize, A: Copy> Job for Gather<'_, L, O, N, A>
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
            // A draw from many rows waits for memory.
            work.done(4 * draws.len());
            let mut total = [L::Wide::default(); N];
            for draws in draws.chunks(self.tile.span) {
                let mut sum = Lanes::<L, N, A>::zero();
                for &draw in draws {
                    sum.add(&rows[draw as usize]);
                }
                sum.add_onto(&mut total);
            }
            for (&column, sum) in self.tile.columns.iter().zip(total) {
                out[column] = sum.into();
            }
        }
    }
}

/// The rows that each of some trials takes: one bit per row.
struct Halves {
    trials: usize,
    /// 64 rows per word; the words of all trials for the first 64 rows come first.
    words: Vec<u64>,
}

impl Halves {
    fn draw(generator: &mut Generator, bits: &mut Bits, rows: usize, trials: usize) -> Self {
        let groups = rows.div_ceil(64);
        let mut words = vec![0; groups * trials];
        // Those of eight trials are a line of the cache, which is written at once.
        let mut eight = vec![0; groups * 8];
        let mut work = Work::default();
        for first in (0..trials).step_by(8) {
            let count = (trials - first).min(8);
            for own in eight.chunks_exact_mut(groups).take(count) {
                work.done(rows / 8);
                bits.fill(generator, rows, own);
            }
            for (group, words) in words.chunks_exact_mut(trials).enumerate() {
                for (trial, word) in words[first..first + count].iter_mut().enumerate() {
                    *word = eight[trial * groups + group];
                }
            }
        }
        Self { trials, words }
    }
}

/// The sums of the 256 subsets of each of eight times eight rows.
struct Subsets<L, const N: usize, A>(Vec<[Lanes<L, N, A>; 256]>);

impl<L: Lane, const N: usize, A: Copy> Subsets<L, N, A> {
    /// Of at most 64 rows.
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

    /// Adds the subset that each word says, `EIGHTS` times eight rows at a time.
    #[inline(always)]
    fn add<const EIGHTS: usize>(&self, words: &[u64], totals: &mut [[L::Wide; N]]) {
        for (total, word) in totals.iter_mut().zip(words) {
            let bytes = word.to_le_bytes();
            for (tables, bytes) in self.0.chunks_exact(EIGHTS).zip(bytes.chunks_exact(EIGHTS)) {
                let mut sum = Lanes::<L, N, A>::zero();
                for (table, &byte) in tables.iter().zip(bytes) {
                    sum.add(&table[usize::from(byte)]);
                }
                sum.add_onto(total);
            }
        }
    }
}

/// The sums of the rows that each trial takes.
struct Choose<'a, L, const N: usize, A> {
    tile: &'a Tile<L, N, A>,
    halves: &'a Halves,
    out: &'a mut [i64],
    width: usize,
}

impl<L: Lane, const N: usize, A: Copy> Job for Choose<'_, L, N, A>
where
    L::Wide: Into<i64>,
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { tile, halves, out, width } = self;
        let mut sums = Subsets(vec![[Lanes::zero(); 256]; 8]);
        let mut totals = vec![[L::Wide::default(); N]; halves.trials];
        let mut work = Work::default();
        let words = halves.words.chunks_exact(halves.trials);
        for (rows, words) in tile.rows.chunks(64).zip(words) {
            work.done(8 * (halves.trials + 256));
            sums.fill(rows);
            // A lane holds the sum of so many eights.
            match tile.span / 8 {
                0 | 1 => sums.add::<1>(words, &mut totals),
                2 | 3 => sums.add::<2>(words, &mut totals),
                4..8 => sums.add::<4>(words, &mut totals),
                _ => sums.add::<8>(words, &mut totals),
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
    tiles: Vec<Box<dyn Summed>>,
    /// The divisors of columns whose values were divided: (column, divisor).
    divisors: Vec<(usize, i64)>,
}

impl Stack {
    /// The columns of tables of `rows` rows, each given as its values, row after row, and its width.
    ///
    /// An error if a sum of so many rows may not fit into 64 bits.
    pub fn new(tables: &[(&[i64], usize)], rows: usize) -> Result<Self, Error> {
        let columns = columns(tables, rows)?;
        let value = |row: usize, column: usize| -> i64 {
            let (values, width) = columns[column];
            values[row * width]
        };
        let (mut narrow, mut middle, mut wide) = (Vec::new(), Vec::new(), Vec::new());
        let (mut most, mut divisors) = (Vec::new(), Vec::new());
        for column in 0..columns.len() {
            interrupt::poll();
            let values = || (0..rows).map(|row| value(row, column).unsigned_abs());
            let mut largest = values().max().unwrap_or(0);
            if (largest as u128) * (rows as u128) > i64::MAX as u128 {
                return Err(Error::Input(format!(
                    "statistics as large as {largest}: the sum of {rows} such rows may exceed 64 bits"
                )));
            }
            if largest > i16::MAX as u64 / SPAN {
                // Parts of a whole: they are resampled as multiples of what they all are multiples of.
                let divisor = values().fold(0, gcd).max(1);
                if divisor > 1 {
                    divisors.push((column, divisor as i64));
                    largest /= divisor;
                }
            }
            most.push(largest);
            let sum = largest.saturating_mul(rows as u64);
            if largest == 0 {
                continue;
            }
            if largest <= i16::MAX as u64 / SPAN && sum <= i32::MAX as u64 {
                narrow.push(column);
            } else if largest <= i32::MAX as u64 / SPAN {
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
            let most = &most;
            move |columns: &[usize]| {
                let largest = columns.iter().map(|&column| most[column]).max().unwrap_or(0);
                (limit / largest.max(1)) as usize
            }
        };
        let quotient = |row, column| value(row, column) / divisor(column);
        let short = |row, column| quotient(row, column) as i16;
        // Of a few columns half a tile is enough, which takes half of the cache.
        let (half, narrow) = narrow.split_at(match narrow.len() % NARROW {
            few @ 1..=HALF => few,
            _ => 0,
        });
        let mut tiles =
            boxed(Tile::<i16, HALF, HalfLine>::cover(half, rows, span(i16::MAX as u64), short));
        tiles.extend(boxed(Tile::<i16, NARROW>::cover(narrow, rows, span(i16::MAX as u64), short)));
        tiles.extend(boxed(Tile::<i32, MIDDLE>::cover(
            &middle,
            rows,
            span(i32::MAX as u64),
            |row, column| quotient(row, column) as i32,
        )));
        tiles.extend(boxed(Tile::<i64, WIDE>::cover(&wide, rows, |_| usize::MAX, quotient)));
        Ok(Self { rows, width: columns.len(), tiles, divisors })
    }

    /// The number of columns of all tables together.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The sums of `replicates` bootstrap samples, one after the other, all columns of each.
    pub fn bootstrap(
        &self,
        generator: &mut Generator,
        replicates: usize,
        instructions: Instructions,
        workers: usize,
    ) -> Vec<i64> {
        let mut sums = vec![0; replicates * self.width];
        in_blocks(generator, self.rows, &mut sums, self.width, workers, |draws, sums| {
            for tile in &self.tiles {
                tile.gather(draws, sums, self.width, instructions);
            }
        });
        self.multiply(&mut sums);
        sums
    }

    /// The sums of the rows that each of `trials` trials takes with probability 1/2.
    pub fn choose(
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
        let most = TRIALS.min(HALVES / self.rows.div_ceil(8)).max(100);
        // Draws come from the one generator, and are used while others are drawn.
        let rest = Mutex::new((sums.chunks_mut(most * self.width), generator, bits));
        let next = || {
            let (parts, generator, bits) = &mut *lock(&rest);
            let part = parts.next()?;
            let trials = part.len() / self.width;
            Some((Halves::draw(generator, bits, self.rows, trials), part))
        };
        let work = || {
            while let Some((halves, out)) = next() {
                for tile in &self.tiles {
                    tile.choose(&halves, out, self.width, instructions);
                }
            }
        };
        in_threads(workers.min(trials.div_ceil(most)), work, work);
        self.multiply(&mut sums);
        sums
    }

    fn multiply(&self, sums: &mut [i64]) {
        for &(column, divisor) in &self.divisors {
            for row in sums.chunks_exact_mut(self.width) {
                row[column] *= divisor;
            }
        }
    }
}

/// Columns of several tables as 32-bit floating-point numbers, which are added in the order of the
/// draws. Sums beyond 2^24 depend on that order.
pub struct SingleStack {
    rows: usize,
    width: usize,
    tiles: Vec<Tile<f32, SINGLE>>,
}

impl SingleStack {
    /// `width` columns of `rows` rows; `value` gives the number in a row and a column.
    pub fn new(
        rows: usize,
        width: usize,
        value: impl Fn(usize, usize) -> f32,
    ) -> Result<Self, Error> {
        check_rows(rows)?;
        let columns: Vec<usize> = (0..width).collect();
        Ok(Self { rows, width, tiles: Tile::cover(&columns, rows, |_| usize::MAX, value) })
    }

    /// The sums of `replicates` bootstrap samples, one after the other, all columns of each.
    pub fn bootstrap(
        &self,
        generator: &mut Generator,
        replicates: usize,
        instructions: Instructions,
        workers: usize,
    ) -> Vec<f32> {
        let mut sums = vec![0.0; replicates * self.width];
        in_blocks(generator, self.rows, &mut sums, self.width, workers, |draws, sums| {
            for tile in &self.tiles {
                instructions.run(Gather { tile, draws, out: &mut *sums, width: self.width });
            }
        });
        sums
    }
}

fn boxed<T: Summed + 'static>(tiles: Vec<T>) -> Vec<Box<dyn Summed>> {
    tiles.into_iter().map(|tile| Box::new(tile) as Box<dyn Summed>).collect()
}

fn check_rows(rows: usize) -> Result<(), Error> {
    match u32::try_from(rows) {
        Ok(1..) => Ok(()),
        _ => Err(Error::Input(format!("{rows} segments cannot be resampled"))),
    }
}

/// Each column of all tables: its values from the first on, and how far apart they are.
fn columns<'a>(
    tables: &[(&'a [i64], usize)],
    rows: usize,
) -> Result<Vec<(&'a [i64], usize)>, Error> {
    check_rows(rows)?;
    if let Some((values, width)) =
        tables.iter().find(|(values, width)| values.len() != rows * width)
    {
        return Err(Error::Input(format!(
            "tables of different lengths: {} rows and {rows} rows",
            values.len() / width
        )));
    }
    Ok(tables
        .iter()
        .flat_map(|&(values, width)| (0..width).map(move |column| (&values[column..], width)))
        .collect())
}

/// Draws indices for all replicates, in blocks, and lets `workers` threads sum each block.
fn in_blocks<O: Send>(
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
    let replicates = (DRAWS / rows).max(workers);
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
