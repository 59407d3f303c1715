//! Two scores of the same things, one of them people's: how their pairs agree, row by row.
//!
//! Scores are a matrix, systems in blocks of items; NaN marks a hole. A row is what one correlation
//! is computed of: all cells, the systems of one item, or the items of one system. Only the cells
//! that people rated are in it. Counts are integers, and every sum has one order, so the results
//! do not depend on who computes how many of them at a time.

use crate::interrupt::{self, Work};
use crate::random::Generator;
use std::cmp::Ordering;

/// What one row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// All cells.
    None,
    /// The systems of an item.
    Item,
    /// The items of a system.
    System,
}

impl Average {
    /// Its name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "item" => Some(Self::Item),
            "sys" => Some(Self::System),
            _ => None,
        }
    }
}

/// People's scores and a metric's, of so many systems.
#[derive(Clone, Copy, Debug)]
pub struct Matrices<'a> {
    /// People's scores; NaN where nobody rated.
    pub gold: &'a [f64],
    /// The metric's.
    pub metric: &'a [f64],
    /// The number of systems, which divides that of scores.
    pub systems: usize,
}

/// The rated cells of one row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// People's scores.
    pub gold: Vec<f64>,
    /// The metric's.
    pub metric: Vec<f64>,
}

impl Matrices<'_> {
    /// The rows, in order, those without a rated cell too.
    pub fn rows(&self, average: Average) -> Vec<Row> {
        let items = self.gold.len() / self.systems.max(1);
        let row = |cells: &mut dyn Iterator<Item = usize>| {
            let mut row = Row::default();
            for cell in cells.filter(|&cell| !self.gold[cell].is_nan()) {
                row.gold.push(self.gold[cell]);
                row.metric.push(self.metric[cell]);
            }
            row
        };
        match average {
            Average::None => vec![row(&mut (0..self.gold.len()))],
            Average::Item => (0..items)
                .map(|item| row(&mut (0..self.systems).map(|system| system * items + item)))
                .collect(),
            Average::System => (0..self.systems)
                .map(|system| row(&mut (system * items..(system + 1) * items)))
                .collect(),
        }
    }
}

/// How the pairs of a row agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs that both order the same way.
    pub concordant: i64,
    /// Pairs that they order in opposite ways.
    pub discordant: i64,
    /// Pairs tied for people only.
    pub gold_tied: i64,
    /// Pairs tied for the metric only.
    pub metric_tied: i64,
    /// Pairs tied for both.
    pub both_tied: i64,
}

/// Rows with fewer cells are counted pair by pair.
const FEW: usize = 48;

impl Counts {
    /// The counts of a row. Metric scores tie up to a difference of `epsilon`; only pairs count
    /// whose gold scores are at least `least` apart.
    pub fn of(row: &Row, epsilon: f64, least: f64) -> Self {
        if row.gold.len() < FEW || epsilon > 0.0 || least > 0.0 {
            Self::by_definition(row, epsilon, least)
        } else {
            Self::by_sorting(row)
        }
    }

    /// Pair by pair.
    pub fn by_definition(row: &Row, epsilon: f64, least: f64) -> Self {
        let mut counts = Self::default();
        let mut work = Work::default();
        for (i, (&gold, &metric)) in row.gold.iter().zip(&row.metric).enumerate() {
            work.done(4 * i);
            for (&other, &others) in row.gold[..i].iter().zip(&row.metric[..i]) {
                if (gold - other).abs() < least {
                    continue;
                }
                let tied = (metric - others).abs() <= epsilon;
                let same = (gold > other) == (metric > others);
                *counts.kind(gold == other, tied, same) += 1;
            }
        }
        counts
    }

    fn kind(&mut self, gold_tied: bool, metric_tied: bool, same: bool) -> &mut i64 {
        match (gold_tied, metric_tied, same) {
            (true, true, _) => &mut self.both_tied,
            (true, false, _) => &mut self.gold_tied,
            (false, true, _) => &mut self.metric_tied,
            (false, false, true) => &mut self.concordant,
            (false, false, false) => &mut self.discordant,
        }
    }

    /// By a merge sort that counts its exchanges (William R. Knight, 1966: A computer method for
    /// calculating Kendall's tau with ungrouped data. Journal of the American Statistical
    /// Association 61).
    fn by_sorting(row: &Row) -> Self {
        let mut cells: Vec<(f64, f64)> =
            row.gold.iter().copied().zip(row.metric.iter().copied()).collect();
        let mut work = Work::default();
        cells.sort_unstable_by(|a, b| {
            work.done(4);
            ordered(a.0, b.0).then(ordered(a.1, b.1))
        });
        let gold_ties = ties(&cells, |a, b| a.0 == b.0);
        let both_tied = ties(&cells, |a, b| a == b);
        let mut metric: Vec<f64> = cells.iter().map(|cell| cell.1).collect();
        let discordant = exchanges(&mut metric, &mut vec![0.0; cells.len()]);
        let metric_ties = ties(&metric, |a, b| a == b);
        let cells = row.gold.len() as i64;
        let pairs = cells * (cells - 1) / 2;
        Self {
            concordant: pairs - discordant - gold_ties - metric_ties + both_tied,
            discordant,
            gold_tied: gold_ties - both_tied,
            metric_tied: metric_ties - both_tied,
            both_tied,
        }
    }
}

fn ordered(one: f64, other: f64) -> Ordering {
    one.partial_cmp(&other).unwrap_or(Ordering::Equal)
}

/// The pairs of equal neighbours in a sorted list.
fn ties<T>(sorted: &[T], equal: impl Fn(&T, &T) -> bool) -> i64 {
    let runs = sorted.chunk_by(|a, b| equal(a, b)).map(|run| run.len() as i64);
    runs.map(|run| run * (run - 1) / 2).sum()
}

/// Sorts, and counts the pairs that stood the wrong way round.
fn exchanges(values: &mut [f64], space: &mut [f64]) -> i64 {
    if values.len() < 2 {
        return 0;
    }
    if values.len() > 1 << 12 {
        interrupt::poll();
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let (first, second) = space.split_at_mut(middle);
    let mut found = exchanges(left, first) + exchanges(right, second);
    let (mut i, mut j) = (0, 0);
    for place in &mut *space {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *place = left[i];
            i += 1;
        } else {
            *place = right[j];
            j += 1;
            found += (left.len() - i) as i64;
        }
    }
    values.copy_from_slice(space);
    found
}

/// The number of different values.
pub fn distinct(values: &[f64]) -> i64 {
    let mut sorted = values.to_vec();
    let mut work = Work::default();
    sorted.sort_unstable_by(|a, b| {
        work.done(4);
        ordered(*a, *b)
    });
    sorted.dedup();
    sorted.len() as i64
}

/// Pearson's r, by two passes; NaN where either side is constant.
pub fn pearson(row: &Row) -> f64 {
    let constant = |values: &[f64]| values.iter().all(|value| *value == values[0]);
    if row.gold.len() < 2 || constant(&row.gold) || constant(&row.metric) {
        return f64::NAN;
    }
    let count = row.gold.len() as f64;
    let gold_mean = sum(row.gold.iter().copied()) / count;
    let metric_mean = sum(row.metric.iter().copied()) / count;
    let gold = || row.gold.iter().map(|value| value - gold_mean);
    let metric = || row.metric.iter().map(|value| value - metric_mean);
    let product = sum(gold().zip(metric()).map(|(a, b)| a * b));
    let squares = sum(gold().map(|a| a * a)).sqrt() * sum(metric().map(|b| b * b)).sqrt();
    (product / squares).clamp(-1.0, 1.0)
}

/// Spearman's ρ: Pearson's r of ranks, ties at their mean.
pub fn spearman(row: &Row) -> f64 {
    pearson(&Row { gold: ranks(&row.gold), metric: ranks(&row.metric) })
}

/// A sum that carries what rounding loses (Arnold Neumaier, 1974).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = total + value;
        let (large, small) =
            if total.abs() >= value.abs() { (total, value) } else { (value, total) };
        lost += (large - next) + small;
        total = next;
    }
    total + lost
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let mut work = Work::default();
    order.sort_by(|&a, &b| {
        work.done(8);
        ordered(values[a], values[b])
    });
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        for &place in run {
            ranks[place] = before as f64 + (run.len() as f64 + 1.0) / 2.0;
        }
        before += run.len();
    }
    ranks
}

/// The tie threshold that makes a metric agree best with people, and what it gives.
#[derive(Clone, Debug)]
pub struct Best {
    /// Metric scores that differ by no more than this are tied.
    pub epsilon: f64,
    /// For each row its pairs, those that agree at the threshold, and those that do at 0.
    pub rows: Vec<[i64; 3]>,
    /// Pairs that the threshold ties.
    pub tied: i64,
}

/// The first threshold with the greatest mean share of pairs that agree, of 0 and every difference
/// of two metric scores of a row. Rows without a pair are left out of the mean.
///
/// Daniel Deutsch, George Foster and Markus Freitag (2023): Ties matter: meta-evaluating modern
/// metrics with pairwise accuracy and tie calibration. EMNLP.
pub fn best_epsilon(rows: &[Row]) -> Best {
    // A pair that becomes a tie is won if people tie it, and lost if it was concordant.
    let mut changes: Vec<(f64, u32, i8)> = Vec::new();
    let mut counted: Vec<[i64; 3]> = Vec::with_capacity(rows.len());
    let mut work = Work::default();
    for (number, row) in (0_u32..).zip(rows) {
        let mut hits = 0;
        for (i, (&gold, &metric)) in row.gold.iter().zip(&row.metric).enumerate() {
            work.done(8 * i);
            for (&other, &others) in row.gold[..i].iter().zip(&row.metric[..i]) {
                let difference = (metric - others).abs();
                let (gold_tied, tied) = (gold == other, difference == 0.0);
                let same = (gold > other) == (metric > others);
                let hit = if gold_tied { tied } else { !tied && same };
                hits += i64::from(hit);
                if !tied {
                    changes.push((difference, number, i8::from(gold_tied) - i8::from(hit)));
                }
            }
        }
        let cells = row.gold.len() as i64;
        counted.push([cells * (cells - 1) / 2, hits, hits]);
    }
    changes.sort_unstable_by(|a, b| {
        work.done(4);
        ordered(a.0, b.0)
    });
    let weights = weights(&counted);
    let (mut epsilon, mut last, mut gain, mut most) = (0.0, 0, 0_i128, 0_i128);
    let mut start = 0;
    for run in changes.chunk_by(|a, b| a.0 == b.0) {
        work.done(8 * run.len());
        start += run.len();
        gain += run.iter().map(|c| i128::from(c.2) * weights[c.1 as usize]).sum::<i128>();
        if gain > most {
            (epsilon, last, most) = (run[0].0, start, gain);
        }
    }
    for change in &changes[..last] {
        counted[change.1 as usize][1] += i64::from(change.2);
    }
    let pairs: i64 = counted.iter().map(|row| row[0]).sum();
    Best { epsilon, rows: counted, tied: pairs - (changes.len() - last) as i64 }
}

/// What one pair of each row weighs so that all rows weigh the same: whole numbers, in proportion
/// to 1 / pairs. With too many different sizes they are rounded to 80 bits.
fn weights(rows: &[[i64; 3]]) -> Vec<i128> {
    const MOST: i128 = 1 << 80;
    let mut common: i128 = 1;
    for [pairs, ..] in rows.iter().filter(|row| row[0] > 0) {
        let pairs = i128::from(*pairs);
        common = common / divisor(common, pairs) * pairs;
        if common > MOST {
            common = MOST;
            break;
        }
    }
    rows.iter().map(|[pairs, ..]| common / i128::from(*pairs).max(1)).collect()
}

fn divisor(mut one: i128, mut other: i128) -> i128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// For each pair of each row, in order, whether the metric agrees with people at a threshold.
pub fn outcomes(rows: &[Row], epsilon: f64) -> Vec<u8> {
    let mut found = Vec::new();
    let mut work = Work::default();
    for row in rows {
        for (i, (&gold, &metric)) in row.gold.iter().zip(&row.metric).enumerate() {
            work.done(8 * i);
            for (&other, &others) in row.gold[..i].iter().zip(&row.metric[..i]) {
                let tied = (metric - others).abs() <= epsilon;
                let same = (gold > other) == (metric > others);
                found.push(u8::from(if gold == other { tied } else { !tied && same }));
            }
        }
    }
    found
}

/// For every two systems, the first the earlier, in how many of so many random exchanges of their
/// scores of items the first leads by at least as much as it does.
///
/// All pairs share the draws, which are `np.rint(generator.random((samples, items), np.float32))`:
/// 0 exchanges. Scores are rounded to 12 significant digits of the largest, so that sums are exact
/// and equal ones equal.
pub fn leads(
    scores: &[f64],
    systems: usize,
    generator: &mut Generator,
    samples: usize,
) -> Vec<u32> {
    let items = scores.len() / systems.max(1);
    let largest = scores.iter().fold(0.0_f64, |most, score| most.max(score.abs()));
    let digits = if largest > 0.0 { 12 - largest.log10().ceil() as i32 } else { 0 };
    let whole = |score: f64| {
        let scaled = if digits > 300 {
            score * 1e300 * 10_f64.powi(digits - 300)
        } else {
            score * 10_f64.powi(digits)
        };
        scaled.round() as i64
    };
    // Item by item, so that a draw adds a row.
    let mut values = vec![0_i64; scores.len()];
    for (system, block) in scores.chunks_exact(items.max(1)).enumerate() {
        for (item, &score) in block.iter().enumerate() {
            values[item * systems + system] = whole(score);
        }
    }
    let mut counts = vec![0; systems * systems.saturating_sub(1) / 2];
    let mut exchanged = vec![0_i64; systems];
    let mut work = Work::default();
    for _ in 0..samples {
        exchanged.fill(0);
        work.done(systems * systems);
        for row in values.chunks_exact(systems.max(1)) {
            work.done(4 + systems);
            if !generator.rounded_single() {
                for (sum, value) in exchanged.iter_mut().zip(row) {
                    *sum += value;
                }
            }
        }
        // The lead without the exchanged items, less theirs, is at least the lead if theirs is
        // not above 0.
        let mut count = counts.iter_mut();
        for (i, first) in exchanged.iter().enumerate() {
            for (second, count) in exchanged[i + 1..].iter().zip(&mut count) {
                *count += u32::from(first <= second);
            }
        }
    }
    counts
}

// ---- tests between metrics ----

/// What Pearson's r needs of a metric: the sums of its scores, of their squares, and of their
/// products with people's. They come as whole numbers, in steps of 1 / `scale`.
pub const MOMENTS: usize = 3;

/// For every two metrics, in how many exchanges of their scores the first leads the second in r by
/// as much as it does, or lacks no more than `slack` of it.
///
/// totals: of each metric its moments. exchanged: in each trial the moments of the cells that are
/// exchanged. gold: the number of cells, the sum of people's scores and of their squares.
pub fn exceeding(
    totals: &[i64],
    exchanged: &[i64],
    gold: (f64, f64, f64),
    scale: f64,
    slack: f64,
) -> Vec<u32> {
    let metrics = totals.len() / MOMENTS;
    let (cells, gold_sum, gold_squares) = gold;
    let spread = (gold_squares - gold_sum * gold_sum / cells).sqrt();
    let r = |at: [i64; MOMENTS]| {
        let [sum, squares, products] = at.map(|value| value as f64 / scale);
        let varies = (squares - sum * sum / cells).max(0.0).sqrt() * spread;
        // A constant column agrees with nothing.
        if varies > 0.0 { (products - sum * gold_sum / cells) / varies } else { 0.0 }
    };
    let of = |values: &[i64], metric: usize| -> [i64; MOMENTS] {
        std::array::from_fn(|i| values[metric * MOMENTS + i])
    };
    let observed: Vec<f64> = (0..metrics).map(|metric| r(of(totals, metric))).collect();
    let mut counts = vec![0; metrics * metrics.saturating_sub(1) / 2];
    let mut work = Work::default();
    for trial in exchanged.chunks_exact(totals.len().max(1)) {
        work.done(32 * metrics * metrics);
        let mut count = counts.iter_mut();
        for first in 0..metrics {
            let (first_all, first_part) = (of(totals, first), of(trial, first));
            for (second, count) in (first + 1..metrics).zip(&mut count) {
                let (second_all, second_part) = (of(totals, second), of(trial, second));
                let moved: [i64; MOMENTS] = std::array::from_fn(|i| second_part[i] - first_part[i]);
                let lead = r(std::array::from_fn(|i| first_all[i] + moved[i]))
                    - r(std::array::from_fn(|i| second_all[i] - moved[i]));
                *count += u32::from(lead >= observed[first] - observed[second] - slack);
            }
        }
    }
    counts
}

/// The sums of all subsets of rows, of which there may be 20: the bits of a subset's number say
/// which rows are in it.
pub fn subset_sums(rows: &[i64], width: usize) -> Vec<i64> {
    let mut sums = vec![0; width];
    for row in rows.chunks_exact(width.max(1)) {
        interrupt::poll();
        for at in 0..sums.len() {
            sums.push(sums[at] + row[at % width]);
        }
    }
    sums
}

/// A system, and the number of its lines.
pub type Block<'a> = (&'a str, usize);

/// Lines of a system and a score, or None: the systems in blocks, and their scores one behind the
/// other. The number of the first line that is not such, counted from 1, if there is one.
pub fn score_lines(text: &[u8]) -> Result<(Vec<Block<'_>>, Vec<f64>), usize> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut scores = Vec::new();
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
    let mut work = Work::default();
    for (number, line) in (1..).zip(lines) {
        work.done(line.len());
        let line = std::str::from_utf8(line).map_err(|_| number)?;
        let mut words = line.split_ascii_whitespace();
        let (Some(system), Some(score), None) = (words.next(), words.next(), words.next()) else {
            return Err(number);
        };
        let score = if score == "None" { f64::NAN } else { score.parse().map_err(|_| number)? };
        scores.push(score);
        match blocks.last_mut() {
            Some((last, count)) if *last == system => *count += 1,
            _ => blocks.push((system, 1)),
        }
    }
    Ok((blocks, scores))
}
