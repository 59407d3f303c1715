//! Token-level alignments for TER and the error rates, shown in reports.

use super::TextResult;
use super::metric_settings::{EditKind, PageMetric};
use super::texts::{TextColumn, TextRange};
use crate::count::Formula;
use crate::edit_distance::{Edit, EditMeasure, align_tokens};
use crate::lex::{LexScratch as Lexing, Lexer};
use crate::ter::{Shift, Step, TerScratch};
use crate::text_batches::{BatchSize, Source};
use crate::tokens::View;
use std::collections::HashMap;
use std::sync::Arc;

/// The alignment of a hypothesis with the reference that determines its score. Steps are 0 for a
/// match, 1 for a substitution, 2 for a deletion from the hypothesis and 3 for an insertion into it
/// (TER). For error rates, 4 is a deletion from the reference and 5 an insertion into it.
struct Alignment {
    reference_index: usize,
    tokens: [Vec<Vec<u8>>; 2],
    shifts: Vec<Shift>,
    steps: Vec<u32>,
}

/// Call a function with the tokens of a text, and return its result; `None` if the text is missing.
fn with_tokens<R>(
    texts: &Arc<TextColumn>,
    index: usize,
    lexer: &Lexer,
    work: impl FnOnce(&View<'_>) -> R,
) -> TextResult<Option<R>> {
    let mut range = TextRange::new(Arc::clone(texts), index, index + 1)?;
    let batch = range.next(BatchSize::Segments(1))?.ok_or("no text")?;
    let mut scratch = Lexing::default();
    let mut lexed = lexer.lex(&batch.streams[0], &mut scratch).map_err(|_| "invalid UTF-8")?;
    Ok(lexed.next_segment().map(|view| work(&view)))
}

/// Return the tokens of a segment.
fn copy_tokens(view: &View<'_>) -> Vec<Vec<u8>> {
    (0..view.count()).map(|i| view.token(i).to_vec()).collect()
}

/// Encode the alignment of the first text with the best-matching other text: numbers of 4 bytes,
/// then tokens.
///
/// The numbers start with the index of the reference, the number of tokens of the hypothesis, the
/// number of tokens of the reference, the number of shifts and the number of steps. The lengths of
/// the tokens, the shifts (start, length, target) and the steps follow.
pub fn encode_alignment(metric: &PageMetric, texts: TextColumn) -> TextResult<Vec<u8>> {
    let edit_kind = metric.edit_kind.ok_or("the metric does not count token edits")?;
    let (lexer, reference_lexer) = metric.counter.lexers();
    let texts = Arc::new(texts);
    let mut best: Option<(f64, Alignment)> = None;
    for index in 1..texts.count() {
        let candidate = with_tokens(&texts, 0, lexer, |hypothesis| {
            with_tokens(&texts, index, reference_lexer, |reference| {
                align_with_reference(edit_kind, index - 1, hypothesis, reference)
            })
        })?;
        let Some((score, alignment)) = candidate.ok_or("no hypothesis")?? else { continue };
        if best.as_ref().is_none_or(|(best_score, _)| score < *best_score) {
            best = Some((score, alignment));
        }
    }
    let (_, Alignment { reference_index, tokens, shifts, steps }) = best.ok_or("no reference")?;
    let mut numbers: Vec<u32> =
        [reference_index, tokens[0].len(), tokens[1].len(), shifts.len(), steps.len()]
            .map(|count| count as u32)
            .to_vec();
    numbers.extend(tokens.iter().flatten().map(|token| token.len() as u32));
    let positions = shifts.iter().flat_map(|shift| [shift.start, shift.length, shift.target]);
    numbers.extend(positions.map(|position| position as u32));
    numbers.extend(steps);
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    tokens.iter().flatten().for_each(|token| bytes.extend(token));
    Ok(bytes)
}

/// Return the alignment with one reference and its cost; a lower cost is better.
fn align_with_reference(
    edit_kind: EditKind,
    reference_index: usize,
    hypothesis: &View<'_>,
    reference: &View<'_>,
) -> (f64, Alignment) {
    let tokens = [copy_tokens(hypothesis), copy_tokens(reference)];
    let EditKind::Rate(measure) = edit_kind else {
        let outcome = TerScratch::default().find_edits(hypothesis, reference);
        let edits = outcome.total_edits() as f64;
        let step = |step: &Step| match step {
            Step::Match => 0,
            Step::Substitution => 1,
            Step::Deletion => 2,
            Step::Insertion => 3,
        };
        let steps = outcome.steps.iter().map(step).collect();
        return (edits, Alignment { reference_index, tokens, shifts: outcome.shifts, steps });
    };
    let mut ids: HashMap<&[u8], u32> = HashMap::new();
    let mut assign_id = |token| {
        let next = ids.len() as u32;
        *ids.entry(token).or_insert(next)
    };
    let [hypothesis_ids, reference_ids] = tokens
        .each_ref()
        .map(|tokens| tokens.iter().map(|token| assign_id(&token[..])).collect::<Vec<_>>());
    let edits = align_tokens(&reference_ids, &hypothesis_ids);
    let mut row = [0; 4];
    edits.iter().for_each(|&edit| row[edit as usize] += 1);
    let score = measure.score(&row);
    let is_higher_better = measure == EditMeasure::InformationPreserved;
    let cost = if is_higher_better { -score } else { score };
    let step = |edit: &Edit| match edit {
        Edit::Hit => 0,
        Edit::Substitution => 1,
        Edit::Deletion => 4,
        Edit::Insertion => 5,
    };
    let steps = edits.iter().map(step).collect();
    (cost, Alignment { reference_index, tokens, shifts: Vec::new(), steps })
}
