//! Agreement of a metric's scores with human scores, measured by pairs of cells and by correlation.
//!
//! Scores are matrices with one block of items per system; NaN marks a missing score. A row
//! consists of the cells from which one correlation is computed: all cells, the systems of one
//! item, or the items of one system. Cells without human scores are excluded. Counts are integers,
//! and every sum has a fixed order, so the results do not depend on how the work is divided.

use crate::interrupt::{self, Work};
use crate::random::Generator;
use std::cmp::Ordering;

named_enum! {
    /// The cells that form one row.
    Averaging {
        /// All cells.
        None = "none",
        /// The systems of one item.
        Item = "item",
        /// The items of one system.
        System = "sys",
    }
}

/// Human scores and a metric's scores for the same systems and items.
#[derive(Clone, Copy, Debug)]
pub struct ScoreMatrices<'a> {
    /// The human scores, where NaN marks a missing score.
    pub human: &'a [f64],
    /// The metric's scores.
    pub metric: &'a [f64],
    /// The number of systems. The number of scores is a multiple of this number.
    pub systems: usize,
}

/// The cells of one row that have human scores.
#[derive(Clone, Debug, Default)]
pub struct ScoreRow {
    /// Human scores.
    pub human: Vec<f64>,
    /// The metric's scores.
    pub metric: Vec<f64>,
}

impl ScoreMatrices<'_> {
    /// Return the rows in order, including rows without human scores.
    pub fn rows(&self, average: Averaging) -> Vec<ScoreRow> {
        let items = self.human.len() / self.systems.max(1);
        let make_row = |cells: &mut dyn Iterator<Item = usize>| {
            let mut row = ScoreRow::default();
            for cell in cells.filter(|&cell| !self.human[cell].is_nan()) {
                row.human.push(self.human[cell]);
                row.metric.push(self.metric[cell]);
            }
            row
        };
        match average {
            Averaging::None => vec![make_row(&mut (0..self.human.len()))],
            Averaging::Item => (0..items)
                .map(|item| make_row(&mut (0..self.systems).map(|system| system * items + item)))
                .collect(),
            Averaging::System => (0..self.systems)
                .map(|system| make_row(&mut (system * items..(system + 1) * items)))
                .collect(),
        }
    }
}

/// The numbers of cell pairs in a row, by agreement between metric and human scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Pairs ranked in the same order by metric scores and by human scores.
    pub concordant: i64,
    /// Pairs ranked in opposite orders by metric scores and by human scores.
    pub discordant: i64,
    /// Pairs tied only in the human scores.
    pub human_tied: i64,
    /// Pairs tied only in the metric's scores.
    pub metric_tied: i64,
    /// Pairs tied in both the human scores and the metric's scores.
    pub both_tied: i64,
}

/// Number of cells below which a row is counted pair by pair.
const MIN_SORTED_CELLS: usize = 48;

impl PairCounts {
    /// Return the counts of a row. Metric scores tie if they differ by at most `epsilon`. Only
    /// pairs whose human scores differ by at least `min_difference` are counted.
    pub fn count_pairs(row: &ScoreRow, epsilon: f64, min_difference: f64) -> Self {
        if row.human.len() < MIN_SORTED_CELLS || epsilon > 0.0 || min_difference > 0.0 {
            Self::count_naively(row, epsilon, min_difference)
        } else {
            Self::count_by_sorting(row)
        }
    }

    /// Return the counts of a row, pair by pair.
    pub fn count_naively(row: &ScoreRow, epsilon: f64, min_difference: f64) -> Self {
        let mut counts = Self::default();
        let mut work = Work::default();
        for (i, (&human, &metric)) in row.human.iter().zip(&row.metric).enumerate() {
            work.add(4 * i);
            for (&other_human, &other_metric) in row.human[..i].iter().zip(&row.metric[..i]) {
                if (human - other_human).abs() < min_difference {
                    continue;
                }
                let is_metric_tied = (metric - other_metric).abs() <= epsilon;
                let is_concordant = (human > other_human) == (metric > other_metric);
                *counts.count_mut(human == other_human, is_metric_tied, is_concordant) += 1;
            }
        }
        counts
    }

    /// Return the number of pairs of this kind.
    fn count_mut(&mut self, human_tied: bool, metric_tied: bool, is_concordant: bool) -> &mut i64 {
        match (human_tied, metric_tied, is_concordant) {
            (true, true, _) => &mut self.both_tied,
            (true, false, _) => &mut self.human_tied,
            (false, true, _) => &mut self.metric_tied,
            (false, false, true) => &mut self.concordant,
            (false, false, false) => &mut self.discordant,
        }
    }

    /// Return the counts of a row by a merge sort that counts its swaps (William R. Knight, 1966: A
    /// computer method for calculating Kendall's tau with ungrouped data. Journal of the American
    /// Statistical Association 61).
    fn count_by_sorting(row: &ScoreRow) -> Self {
        let mut cells: Vec<(f64, f64)> =
            row.human.iter().copied().zip(row.metric.iter().copied()).collect();
        let mut work = Work::default();
        cells.sort_unstable_by(|a, b| {
            work.add(4);
            compare(a.0, b.0).then(compare(a.1, b.1))
        });
        let human_ties = count_ties(&cells, |a, b| a.0 == b.0);
        let both_tied = count_ties(&cells, |a, b| a == b);
        let mut metric: Vec<f64> = cells.iter().map(|cell| cell.1).collect();
        let discordant = count_inversions(&mut metric, &mut vec![0.0; cells.len()]);
        let metric_ties = count_ties(&metric, |a, b| a == b);
        let cells = row.human.len() as i64;
        let pairs = cells * (cells - 1) / 2;
        Self {
            concordant: pairs - discordant - human_ties - metric_ties + both_tied,
            discordant,
            human_tied: human_ties - both_tied,
            metric_tied: metric_ties - both_tied,
            both_tied,
        }
    }
}

/// Compare two numbers, where NaN equals everything.
fn compare(first: f64, second: f64) -> Ordering {
    first.partial_cmp(&second).unwrap_or(Ordering::Equal)
}

/// Return the number of pairs of equal values in a sorted list.
fn count_ties<T>(sorted: &[T], equal: impl Fn(&T, &T) -> bool) -> i64 {
    let runs = sorted.chunk_by(|a, b| equal(a, b)).map(|run| run.len() as i64);
    runs.map(|run| run * (run - 1) / 2).sum()
}

/// Sort the values, and return the number of pairs that were in the wrong order.
fn count_inversions(values: &mut [f64], space: &mut [f64]) -> i64 {
    if values.len() < 2 {
        return 0;
    }
    if values.len() > 1 << 12 {
        interrupt::poll();
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let (first, second) = space.split_at_mut(middle);
    let mut inversions = count_inversions(left, first) + count_inversions(right, second);
    let (mut i, mut j) = (0, 0);
    for place in &mut *space {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *place = left[i];
            i += 1;
        } else {
            *place = right[j];
            j += 1;
            inversions += (left.len() - i) as i64;
        }
    }
    values.copy_from_slice(space);
    inversions
}

/// Return the number of distinct values.
pub fn count_distinct(values: &[f64]) -> i64 {
    let mut sorted = values.to_vec();
    let mut work = Work::default();
    sorted.sort_unstable_by(|a, b| {
        work.add(4);
        compare(*a, *b)
    });
    sorted.dedup();
    sorted.len() as i64
}

/// Return Pearson's r, computed in two passes, or NaN if either list of scores is constant.
pub fn pearson(row: &ScoreRow) -> f64 {
    let is_constant = |values: &[f64]| values.iter().all(|value| *value == values[0]);
    if row.human.len() < 2 || is_constant(&row.human) || is_constant(&row.metric) {
        return f64::NAN;
    }
    let count = row.human.len() as f64;
    let human_mean = compensated_sum(row.human.iter().copied()) / count;
    let metric_mean = compensated_sum(row.metric.iter().copied()) / count;
    let human_deviations = || row.human.iter().map(|value| value - human_mean);
    let metric_deviations = || row.metric.iter().map(|value| value - metric_mean);
    let product = compensated_sum(human_deviations().zip(metric_deviations()).map(|(a, b)| a * b));
    let squares = compensated_sum(human_deviations().map(|a| a * a)).sqrt()
        * compensated_sum(metric_deviations().map(|b| b * b)).sqrt();
    (product / squares).clamp(-1.0, 1.0)
}

/// Return Spearman's ρ: Pearson's r of ranks, where tied values get their mean rank.
pub fn spearman(row: &ScoreRow) -> f64 {
    pearson(&ScoreRow { human: mean_ranks(&row.human), metric: mean_ranks(&row.metric) })
}

/// Return the sum of values, compensated for rounding errors (Arnold Neumaier, 1974).
fn compensated_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut compensation) = (0.0_f64, 0.0);
    for value in values {
        let next = total + value;
        let (large, small) =
            if total.abs() >= value.abs() { (total, value) } else { (value, total) };
        compensation += (large - next) + small;
        total = next;
    }
    total + compensation
}

/// Return the ranks of values, where tied values get their mean rank.
fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let mut work = Work::default();
    order.sort_by(|&a, &b| {
        work.add(8);
        compare(values[a], values[b])
    });
    let mut ranks = vec![0.0; values.len()];
    let mut lower_count = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        for &place in run {
            ranks[place] = lower_count as f64 + (run.len() as f64 + 1.0) / 2.0;
        }
        lower_count += run.len();
    }
    ranks
}

/// The tie threshold that maximizes a metric's agreement with human scores, and the agreement.
#[derive(Clone, Debug)]
pub struct TieCalibration {
    /// Metric scores that differ by at most this threshold are tied.
    pub epsilon: f64,
    /// For each row, three counts: all pairs, and agreeing pairs with and without the threshold.
    pub rows: Vec<[i64; 3]>,
    /// The number of pairs that the threshold ties.
    pub tied: i64,
}

/// Return the threshold with the largest mean share of agreeing pairs, or the first of several
/// equally good thresholds. The candidates are 0 and every difference of two metric scores of a
/// row. Rows without pairs are excluded from the mean.
///
/// Source: Daniel Deutsch, George Foster and Markus Freitag (2023): Ties matter: meta-evaluating
/// modern metrics with pairwise accuracy and tie calibration. EMNLP.
pub fn calibrate_ties(rows: &[ScoreRow]) -> TieCalibration {
    // A newly tied pair now agrees if its human scores tie, and no longer agrees if it was
    // concordant.
    let mut changes: Vec<(f64, u32, i8)> = Vec::new();
    let mut row_counts: Vec<[i64; 3]> = Vec::with_capacity(rows.len());
    let mut work = Work::default();
    for (number, row) in (0_u32..).zip(rows) {
        let mut hits = 0;
        for (i, (&human, &metric)) in row.human.iter().zip(&row.metric).enumerate() {
            work.add(8 * i);
            for (&other_human, &other_metric) in row.human[..i].iter().zip(&row.metric[..i]) {
                let difference = (metric - other_metric).abs();
                let (human_tied, metric_tied) = (human == other_human, difference == 0.0);
                let is_concordant = (human > other_human) == (metric > other_metric);
                let agrees = if human_tied { metric_tied } else { !metric_tied && is_concordant };
                hits += i64::from(agrees);
                if !metric_tied {
                    changes.push((difference, number, i8::from(human_tied) - i8::from(agrees)));
                }
            }
        }
        let cells = row.human.len() as i64;
        row_counts.push([cells * (cells - 1) / 2, hits, hits]);
    }
    changes.sort_unstable_by(|a, b| {
        work.add(4);
        compare(a.0, b.0)
    });
    let row_weights = pair_weights(&row_counts);
    let (mut epsilon, mut changed_count, mut gain, mut max_gain) = (0.0, 0, 0_i128, 0_i128);
    let mut start = 0;
    for run in changes.chunk_by(|a, b| a.0 == b.0) {
        work.add(8 * run.len());
        start += run.len();
        gain += run.iter().map(|c| i128::from(c.2) * row_weights[c.1 as usize]).sum::<i128>();
        if gain > max_gain {
            (epsilon, changed_count, max_gain) = (run[0].0, start, gain);
        }
    }
    for change in &changes[..changed_count] {
        row_counts[change.1 as usize][1] += i64::from(change.2);
    }
    let pairs: i64 = row_counts.iter().map(|row| row[0]).sum();
    TieCalibration {
        epsilon,
        rows: row_counts,
        tied: pairs - (changes.len() - changed_count) as i64,
    }
}

/// Return, for each row, the weight of one of its pairs, so that all rows have equal weight.
/// Weights are integers proportional to 1 / pairs. If there are too many different sizes, the
/// weights are rounded to 80 bits.
fn pair_weights(rows: &[[i64; 3]]) -> Vec<i128> {
    const MAX_MULTIPLE: i128 = 1 << 80;
    let mut common: i128 = 1;
    for [pairs, ..] in rows.iter().filter(|row| row[0] > 0) {
        let pairs = i128::from(*pairs);
        common = common / gcd(common, pairs) * pairs;
        if common > MAX_MULTIPLE {
            common = MAX_MULTIPLE;
            break;
        }
    }
    rows.iter().map(|[pairs, ..]| common / i128::from(*pairs).max(1)).collect()
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Return, for each pair of each row, whether the metric agrees with the human scores at a
/// threshold.
pub fn pair_outcomes(rows: &[ScoreRow], epsilon: f64) -> Vec<u8> {
    let mut agreements = Vec::new();
    let mut work = Work::default();
    for row in rows {
        for (i, (&human, &metric)) in row.human.iter().zip(&row.metric).enumerate() {
            work.add(8 * i);
            for (&other_human, &other_metric) in row.human[..i].iter().zip(&row.metric[..i]) {
                let metric_tied = (metric - other_metric).abs() <= epsilon;
                let is_concordant = (human > other_human) == (metric > other_metric);
                agreements.push(u8::from(if human == other_human {
                    metric_tied
                } else {
                    !metric_tied && is_concordant
                }));
            }
        }
    }
    agreements
}

/// Return, for each pair of systems, the number of random swaps after which the first system leads
/// by at least the observed amount. Each sample swaps the scores of random items.
///
/// All pairs share the random numbers, `np.rint(generator.random((samples, items), np.float32))`,
/// where 0 means a swap. Scores are rounded to 12 significant digits of the largest score, so that
/// sums are exact and ties are detected.
pub fn count_leads(
    scores: &[f64],
    systems: usize,
    generator: &mut Generator,
    samples: usize,
) -> Vec<u32> {
    let items = scores.len() / systems.max(1);
    let largest = scores.iter().fold(0.0_f64, |maximum, score| maximum.max(score.abs()));
    let digits = if largest > 0.0 { 12 - largest.log10().ceil() as i32 } else { 0 };
    let to_integer = |score: f64| {
        let scaled = if digits > 300 {
            score * 1e300 * 10_f64.powi(digits - 300)
        } else {
            score * 10_f64.powi(digits)
        };
        scaled.round() as i64
    };
    // The leads are stored item by item, so that each swap adds a row.
    let mut values = vec![0_i64; scores.len()];
    for (system, block) in scores.chunks_exact(items.max(1)).enumerate() {
        for (item, &score) in block.iter().enumerate() {
            values[item * systems + system] = to_integer(score);
        }
    }
    let mut counts = vec![0; systems * systems.saturating_sub(1) / 2];
    let mut swapped = vec![0_i64; systems];
    let mut work = Work::default();
    for _ in 0..samples {
        swapped.fill(0);
        work.add(systems * systems);
        for row in values.chunks_exact(systems.max(1)) {
            work.add(4 + systems);
            if !generator.rounded_single() {
                for (sum, value) in swapped.iter_mut().zip(row) {
                    *sum += value;
                }
            }
        }
        // The lead after the swap is the lead of the unswapped items minus the lead of the swapped
        // items. It is therefore at least the observed lead if the lead of the swapped items is not
        // positive.
        let mut count = counts.iter_mut();
        for (i, first) in swapped.iter().enumerate() {
            for (second, count) in swapped[i + 1..].iter().zip(&mut count) {
                *count += u32::from(first <= second);
            }
        }
    }
    counts
}

/// Number of sums per metric that Pearson's r needs: the sum of scores, the sum of their squares,
/// and the sum of their products with human scores. The sums are integers, in units of 1 / `scale`.
pub const MOMENTS: usize = 3;

/// Return, for each pair of metrics, the number of swaps after which the first metric leads the
/// second in Pearson's r by at least the observed amount minus `slack`.
///
/// `totals` contains the moments of each metric. `swapped` contains, for each trial, the moments of
/// the swapped cells. `human_moments` contains the number of cells, the sum of the human scores and
/// the sum of their squares.
pub fn count_exceeding_leads(
    totals: &[i64],
    swapped: &[i64],
    human_moments: (f64, f64, f64),
    scale: f64,
    slack: f64,
) -> Vec<u32> {
    let metrics = totals.len() / MOMENTS;
    let (cells, human_sum, human_squares) = human_moments;
    let human_deviation = (human_squares - human_sum * human_sum / cells).sqrt();
    let r = |moments: [i64; MOMENTS]| {
        let [sum, squares, products] = moments.map(|value| value as f64 / scale);
        let deviations = (squares - sum * sum / cells).max(0.0).sqrt() * human_deviation;
        // A correlation with a constant column is defined as 0.
        if deviations > 0.0 { (products - sum * human_sum / cells) / deviations } else { 0.0 }
    };
    let moments_of_metric = |values: &[i64], metric: usize| -> [i64; MOMENTS] {
        std::array::from_fn(|i| values[metric * MOMENTS + i])
    };
    let observed: Vec<f64> =
        (0..metrics).map(|metric| r(moments_of_metric(totals, metric))).collect();
    let mut counts = vec![0; metrics * metrics.saturating_sub(1) / 2];
    let mut work = Work::default();
    for trial in swapped.chunks_exact(totals.len().max(1)) {
        work.add(32 * metrics * metrics);
        let mut count = counts.iter_mut();
        for first in 0..metrics {
            let (first_total, first_swapped) =
                (moments_of_metric(totals, first), moments_of_metric(trial, first));
            for (second, count) in (first + 1..metrics).zip(&mut count) {
                let (second_total, second_swapped) =
                    (moments_of_metric(totals, second), moments_of_metric(trial, second));
                let moved: [i64; MOMENTS] =
                    std::array::from_fn(|i| second_swapped[i] - first_swapped[i]);
                let lead = r(std::array::from_fn(|i| first_total[i] + moved[i]))
                    - r(std::array::from_fn(|i| second_total[i] - moved[i]));
                *count += u32::from(lead >= observed[first] - observed[second] - slack);
            }
        }
    }
    counts
}

/// Return the sum of every subset of at most 20 rows. The bits of a subset's index select its rows.
pub fn subset_sums(rows: &[i64], width: usize) -> Vec<i64> {
    let mut sums = vec![0; width];
    for row in rows.chunks_exact(width.max(1)) {
        interrupt::poll();
        for subset in 0..sums.len() {
            sums.push(sums[subset] + row[subset % width]);
        }
    }
    sums
}

/// The name of a system, and the number of its consecutive lines.
pub type SystemBlock<'a> = (&'a str, usize);

/// Parse lines that contain a system name and a score (or `None`). Return the systems in blocks,
/// and all scores. On failure, return the number of the first invalid line, counted from 1.
pub fn parse_score_lines(text: &[u8]) -> Result<(Vec<SystemBlock<'_>>, Vec<f64>), usize> {
    let mut blocks: Vec<SystemBlock<'_>> = Vec::new();
    let mut scores = Vec::new();
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
    let mut work = Work::default();
    for (number, line) in (1..).zip(lines) {
        work.add(line.len());
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
