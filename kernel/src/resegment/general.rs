//! Alignment by the smallest edit distance, cell by cell: with several references, or where a
//! segment may not end before some units.
//!
//! Each alternative of a segment has its own rows. At the end of a segment, the cheapest
//! alternative continues (the first of equally cheap alternatives), so every segment selects its
//! own reference. Only the rows at the end of every n-th segment are stored; all other rows are
//! recomputed during the traceback.

use super::{Alignment, LeadingBorders, Segments, UNPAIRED};
use crate::interrupt::Work;

/// The cost of a border where a segment may not end.
const FORBIDDEN: u64 = 100_000;

/// A step of the traceback from a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Skip a unit of the reference.
    Reference,
    /// Skip a unit of the hypothesis.
    Hypothesis,
    /// Pair two units.
    Pair,
}

/// The table of one segment: the steps of each alternative, and the alternative selected in each
/// column.
struct Table {
    steps: Vec<Vec<Step>>,
    selected: Vec<u32>,
}

/// Align a hypothesis with a reference. `forbidden` contains, for each unit of the hypothesis,
/// whether a segment must not end before it, unless this cannot be avoided. It is empty if every
/// unit may begin a segment.
pub fn align_general(
    segments: &Segments,
    hypothesis: &[u32],
    forbidden: &[bool],
    borders: LeadingBorders,
) -> Alignment {
    let columns = hypothesis.len() + 1;
    let interval = (segments.len() as f64).sqrt().ceil().max(1.0) as usize;
    let mut work = Work::default();
    let mut costs: Vec<u64> = (0..columns as u64).collect();
    let mut stored = Vec::new();
    let last = segments.len() - 1;
    let mut fill = |index: usize, costs: &mut Vec<u64>, keeps_steps: bool| {
        let table =
            fill_segment(&segments[index], hypothesis, costs, borders, keeps_steps, &mut work);
        if index < last {
            for (cost, _) in
                costs[..hypothesis.len()].iter_mut().zip(forbidden).filter(|pair| *pair.1)
            {
                *cost += FORBIDDEN;
            }
        }
        table
    };
    for index in 0..segments.len() {
        if index % interval == 0 {
            stored.push(costs.clone());
        }
        fill(index, &mut costs, false);
    }
    let mut alignment = Alignment {
        segments: vec![0; hypothesis.len()],
        pairs: vec![UNPAIRED; hypothesis.len()],
        alternatives: vec![0; segments.len()],
        errors: costs[hypothesis.len()],
    };
    let mut column = hypothesis.len();
    for (block, mut costs) in stored.into_iter().enumerate().rev() {
        let start = block * interval;
        let end = segments.len().min(start + interval);
        let tables: Vec<Table> = (start..end).map(|index| fill(index, &mut costs, true)).collect();
        for (index, table) in (start..end).zip(tables).rev() {
            let selected = table.selected[column];
            alignment.alternatives[index] = selected;
            let steps = &table.steps[selected as usize];
            let mut row = segments[index][selected as usize].len();
            // Hypothesis units before the first reference unit also belong to the first segment.
            while row > 0 || (index == 0 && column > 0) {
                let step =
                    if row == 0 { Step::Hypothesis } else { steps[(row - 1) * columns + column] };
                if step != Step::Reference {
                    column -= 1;
                    alignment.segments[column] = index as u32;
                }
                if step != Step::Hypothesis {
                    row -= 1;
                }
                if step == Step::Pair {
                    alignment.pairs[column] = row as u32;
                }
            }
        }
    }
    alignment
}

/// Replace the costs at the border before a segment with the costs at the border after it.
fn fill_segment(
    alternatives: &[Vec<u32>],
    hypothesis: &[u32],
    costs: &mut Vec<u64>,
    borders: LeadingBorders,
    keeps_steps: bool,
    work: &mut Work,
) -> Table {
    let columns = hypothesis.len() + 1;
    let longest = alternatives.iter().map(Vec::len).max().unwrap_or(0) as u64;
    let counted = u64::from(borders == LeadingBorders::Counted);
    let mut best: Option<Vec<u64>> = None;
    let mut table = Table { steps: Vec::new(), selected: vec![0; columns] };
    for (number, units) in alternatives.iter().enumerate() {
        let mut row = costs.clone();
        let mut steps = Vec::with_capacity(if keeps_steps { units.len() * columns } else { 0 });
        for &unit in units {
            let mut diagonal = row[0];
            row[0] += 1;
            if keeps_steps {
                steps.push(Step::Reference);
            }
            let mut left = row[0];
            for (cell, &other) in row[1..].iter_mut().zip(hypothesis) {
                let (skip_reference, skip_hypothesis) = (*cell + 1, left + 1);
                let paired = diagonal + u64::from(unit != other);
                diagonal = *cell;
                left = skip_reference.min(skip_hypothesis).min(paired);
                *cell = left;
                if keeps_steps {
                    steps.push(if left == skip_reference {
                        Step::Reference
                    } else if left == skip_hypothesis {
                        Step::Hypothesis
                    } else {
                        Step::Pair
                    });
                }
            }
            work.add(columns);
        }
        table.steps.push(steps);
        match &mut best {
            None => best = Some(row),
            Some(best) => {
                for ((best, selected), cost) in best.iter_mut().zip(&mut table.selected).zip(row) {
                    if cost < *best {
                        (*best, *selected) = (cost, number as u32);
                    }
                }
            }
        }
    }
    let first = costs[0];
    *costs = best.unwrap_or_default();
    if borders == LeadingBorders::Counted {
        costs[0] = first + longest + counted;
    }
    table
}
