//! Bootstrap intervals of one system or of two on the same segments, as `truebleu/significance` has
//! them: the same draws, the same sums, the same ends.

use super::Done;
use super::metric_settings::Metric;
use crate::columns;
use crate::random::Generator;
use crate::resample::Stack;
use crate::simd::Instructions;
use std::sync::Arc;

/// Sums stay below this power of two, whatever is drawn.
const BITS: u32 = 61;
/// Decimal places up to which scores are taken for decimal numbers, and added as such.
const PLACES: usize = 9;

/// What the sums of a system mean.
enum Meaning {
    /// The metric's statistics.
    Statistics,
    /// The scores of so many segments as integers: the divisor of their mean.
    Mean(u128),
    /// Those of documents, and how many segments they have.
    MeanOfDocuments(Scale),
}

/// What a score was multiplied by to become an integer.
enum Scale {
    Whole(u128),
    Part(f64),
}

/// Resamples of the rows of one table or two, and the scores of each.
pub struct Draws {
    metric: Arc<Metric>,
    meaning: Meaning,
    stack: Stack,
    width: usize,
    generator: Generator,
    scores: Vec<Vec<f64>>,
}

impl Draws {
    /// Of tables of the metric's rows, whose width is `width`.
    ///
    /// `groups` says for each row of which document it is, numbered by their first segments, if
    /// whole documents are drawn; else it is empty.
    pub fn new(
        metric: Arc<Metric>,
        tables: &[&[i64]],
        width: usize,
        groups: &[u32],
        seed: &[u32],
    ) -> Done<Self> {
        let segments = tables.first().map_or(0, |values| values.len() / width);
        if segments == 0 || tables.iter().any(|values| values.len() != segments * width) {
            return Err("expected two tables of the same segments".to_owned());
        }
        let mut columns: Vec<Vec<i64>>;
        let mut meaning = Meaning::Statistics;
        let mut widths = width;
        if metric.is_mean() {
            let scores: Vec<Vec<f64>> = tables
                .iter()
                .map(|values| {
                    values.chunks_exact(width).map(|row| metric.formula(false).score(row)).collect()
                })
                .collect();
            let (scale, whole) = whole_numbers(&scores)?;
            (columns, widths) = (whole, 1);
            meaning = Meaning::Mean(u128::from(scale) * segments as u128);
            if !groups.is_empty() {
                let sizes = grouped(&vec![1; segments], 1, groups)?;
                for column in &mut columns {
                    *column = grouped(column, 1, groups)?;
                }
                let scale = beside_sizes(&mut columns, &sizes, scale);
                (meaning, widths) = (Meaning::MeanOfDocuments(scale), 2);
            }
        } else if groups.is_empty() {
            columns = tables.iter().map(|values| values.to_vec()).collect();
        } else {
            let sums = tables.iter().map(|values| grouped(values, width, groups));
            columns = sums.collect::<Done<_>>()?;
        }
        let rows = columns[0].len() / widths;
        let parts: Vec<_> = columns.iter().map(|values| (&values[..], widths)).collect();
        let stack = Stack::new(&parts, rows).map_err(|error| error.to_string())?;
        let scores = vec![Vec::new(); tables.len()];
        let generator = Generator::new(seed);
        Ok(Self { metric, meaning, stack, width: widths, generator, scores })
    }

    /// Draws so many resamples more, and gives how many there are.
    pub fn draw(&mut self, replicates: usize) -> usize {
        let sums = self.stack.bootstrap(&mut self.generator, replicates, Instructions::best(), 1);
        for row in sums.chunks_exact(self.stack.width()) {
            for (scores, sums) in self.scores.iter_mut().zip(row.chunks_exact(self.width)) {
                scores.push(match &self.meaning {
                    Meaning::Statistics => self.metric.formula(true).score(sums),
                    Meaning::Mean(divisor) => quotient(sums[0], *divisor),
                    Meaning::MeanOfDocuments(Scale::Whole(scale)) => {
                        quotient(sums[0], scale * sums[1] as u128)
                    }
                    Meaning::MeanOfDocuments(Scale::Part(scale)) => {
                        sums[0] as f64 / (scale * sums[1] as f64)
                    }
                });
            }
        }
        self.scores[0].len()
    }

    /// The ends of the interval of each system's score, and of the second's less the first's.
    pub fn intervals(&self, level: f64) -> Done<Vec<f64>> {
        let mut all: Vec<Vec<f64>> = self.scores.clone();
        if let [a, b] = &self.scores[..] {
            all.push(b.iter().zip(a).map(|(b, a)| b - a).collect());
        }
        let mut ends = Vec::new();
        for mut scores in all {
            if scores.is_empty() {
                return Err("nothing was drawn".to_owned());
            }
            scores.sort_unstable_by(f64::total_cmp);
            // The small number keeps a product like 1000 * 0.05 from falling short of 50.
            let cut = (scores.len() as f64 * (1.0 - level) / 2.0 + 1e-9) as usize;
            let cut = cut.min(scores.len() - 1);
            ends.extend([scores[cut], scores[scores.len() - 1 - cut]]);
        }
        Ok(ends)
    }
}

/// The sums of the rows of each group.
fn grouped(values: &[i64], width: usize, groups: &[u32]) -> Done<Vec<i64>> {
    if groups.len() * width != values.len() {
        return Err("every segment needs a document".to_owned());
    }
    let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
    let mut sums = vec![0; count * width];
    for (row, &group) in values.chunks_exact(width).zip(groups) {
        if !columns::add(&mut sums[group as usize * width..][..width], row) {
            return Err(columns::too_large().to_string());
        }
    }
    Ok(sums)
}

/// Numbers as integers whose sums are exact in any order, and what they were multiplied by: decimal
/// numbers by a power of ten, others by the largest power of two that leaves room for all sums.
fn whole_numbers(scores: &[Vec<f64>]) -> Done<(u64, Vec<Vec<i64>>)> {
    let all = || scores.iter().flatten().copied();
    let largest = all().map(f64::abs).fold(0.0, f64::max);
    if !largest.is_finite() {
        return Err("a score is no finite number".to_owned());
    }
    let most = largest.ceil() as u128 * scores[0].len() as u128;
    let spare = BITS.checked_sub(u128::BITS - most.leading_zeros());
    let spare = spare.ok_or_else(|| format!("scores as large as {largest} cannot be added"))?;
    let scale = match decimal_places(all()) {
        None => 1 << spare,
        Some(places) => 10u64.pow(places as u32).min(1 << spare),
    };
    let whole = |x: &f64| (x * scale as f64).round_ties_even() as i64;
    Ok((scale, scores.iter().map(|column| column.iter().map(whole).collect()).collect()))
}

/// The decimal places of the numbers; `None` if they are not decimal numbers.
fn decimal_places(numbers: impl Iterator<Item = f64>) -> Option<usize> {
    let mut most = 0;
    for x in numbers {
        if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
            return None; // Python writes it with an exponent.
        }
        let places = x.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len());
        if places > PLACES {
            return None;
        }
        most = most.max(places);
    }
    Some(most)
}

/// Puts the number of segments beside the sum of each document, and makes room for any draw.
fn beside_sizes(columns: &mut [Vec<i64>], sizes: &[i64], scale: u64) -> Scale {
    let largest = columns.iter().flatten().map(|total| total.unsigned_abs()).max().unwrap_or(0);
    let room = u128::BITS - (u128::from(largest) * sizes.len() as u128).leading_zeros();
    let shift = room.saturating_sub(BITS);
    let half = (1_i64 << shift) >> 1;
    for column in columns {
        let pairs = column.iter().zip(sizes);
        *column = pairs.flat_map(|(total, &size)| [(total + half) >> shift, size]).collect();
    }
    if shift == 0 {
        Scale::Whole(u128::from(scale))
    } else {
        Scale::Part(scale as f64 / (1_u64 << shift) as f64)
    }
}

/// An integer divided by another one, rounded once, as Python does.
fn quotient(dividend: i64, divisor: u128) -> f64 {
    let size = u128::from(dividend.unsigned_abs());
    if size == 0 || divisor == 0 {
        return 0.0;
    }
    // The quotient gets 64 binary digits or more, and its last one says whether something is left.
    let shift = (64 + size.leading_zeros()).saturating_sub(divisor.leading_zeros());
    let shift = shift.min(size.leading_zeros());
    let (whole, rest) = ((size << shift) / divisor, (size << shift) % divisor);
    let value = (whole | u128::from(rest != 0)) as f64 * 0.5f64.powi(shift as i32);
    if dividend < 0 { -value } else { value }
}
