//! The way from a hypothesis to a reference, token by token, for pages: TER's and the error rates'.

use super::Done;
use super::metric_settings::{Edited, Metric};
use super::texts::{Part, Texts};
use crate::count::Formula;
use crate::edit_distance::Edit;
use crate::lex::{Lexer, Scratch as Lexing};
use crate::ter::{Scratch, Shift, Step};
use crate::text_batches::{Source, Want};
use crate::tokens::View;
use std::collections::HashMap;
use std::sync::Arc;

/// A hypothesis and the reference that it is scored by, and the steps between them: 0 for a match,
/// 1 for a substitution, 2 for a deletion from the hypothesis and 3 for an insertion into it, as TER
/// has them, or 4 and 5 for those of the reference, as error rates have them.
struct Alignment {
    chosen: usize,
    tokens: [Vec<Vec<u8>>; 2],
    shifts: Vec<Shift>,
    steps: Vec<u32>,
}

/// Does something with the tokens of a text, if it is there.
fn with_tokens<R>(
    texts: &Arc<Texts>,
    at: usize,
    lexer: &Lexer,
    take: impl FnOnce(&View<'_>) -> R,
) -> Done<Option<R>> {
    let mut part = Part::new(Arc::clone(texts), at, at + 1)?;
    let batch = part.next(Want::Segments(1)).map_err(|error| error.to_string())?;
    let batch = batch.ok_or("no text")?;
    let mut scratch = Lexing::default();
    let mut lexed = lexer.lex(&batch.streams[0], &mut scratch).map_err(|_| "no UTF-8")?;
    Ok(lexed.next_segment().map(|view| take(&view)))
}

fn tokens_of(view: &View<'_>) -> Vec<Vec<u8>> {
    (0..view.count()).map(|i| view.token(i).to_vec()).collect()
}

/// The alignment of the first text with the best of the others, as numbers of 4 bytes, then tokens.
///
/// First stand the number of the reference, how many tokens the hypothesis has, how many the
/// reference, how many shifts and how many steps; then the lengths of the tokens, the shifts (start,
/// length, target) and the steps.
pub fn alignment(metric: &Metric, texts: Texts) -> Done<Vec<u8>> {
    let edited = metric.edited().ok_or("the metric counts no edits of tokens")?;
    let texts = Arc::new(texts);
    let mut best: Option<(f64, Alignment)> = None;
    for at in 1..texts.count() {
        let found = with_tokens(&texts, 0, metric.hypotheses(), |hypothesis| {
            with_tokens(&texts, at, metric.references(), |reference| {
                aligned(edited, at - 1, hypothesis, reference)
            })
        })?;
        let Some((score, one)) = found.ok_or("no hypothesis")?? else { continue };
        if best.as_ref().is_none_or(|(known, _)| score < *known) {
            best = Some((score, one));
        }
    }
    let (_, Alignment { chosen, tokens, shifts, steps }) = best.ok_or("no reference")?;
    let mut numbers: Vec<u32> =
        [chosen, tokens[0].len(), tokens[1].len(), shifts.len(), steps.len()]
            .map(|count| count as u32)
            .to_vec();
    numbers.extend(tokens.iter().flatten().map(|token| token.len() as u32));
    let places = shifts.iter().flat_map(|shift| [shift.start, shift.length, shift.target]);
    numbers.extend(places.map(|place| place as u32));
    numbers.extend(steps);
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    tokens.iter().flatten().for_each(|token| bytes.extend(token));
    Ok(bytes)
}

/// The alignment with one reference, and a number that is lower for a better one.
fn aligned(
    edited: Edited,
    chosen: usize,
    hypothesis: &View<'_>,
    reference: &View<'_>,
) -> (f64, Alignment) {
    let tokens = [tokens_of(hypothesis), tokens_of(reference)];
    let Edited::Rate(measure) = edited else {
        let outcome = Scratch::default().outcome(hypothesis, reference);
        let edits = outcome.edits() as f64;
        let step = |step: &Step| match step {
            Step::Match => 0,
            Step::Substitution => 1,
            Step::Deletion => 2,
            Step::Insertion => 3,
        };
        let steps = outcome.steps.iter().map(step).collect();
        return (edits, Alignment { chosen, tokens, shifts: outcome.shifts, steps });
    };
    let mut numbers: HashMap<&[u8], u32> = HashMap::new();
    let [ours, theirs] = tokens.each_ref().map(|tokens| {
        let mut of = Vec::with_capacity(tokens.len());
        for token in tokens {
            let next = numbers.len() as u32;
            of.push(*numbers.entry(token).or_insert(next));
        }
        of
    });
    let edits = crate::edit_distance::edits(&theirs, &ours);
    let mut row = [0; 4];
    edits.iter().for_each(|&edit| row[edit as usize] += 1);
    let score = measure.score(&row);
    let better =
        if measure == crate::edit_distance::Measure::InformationPreserved { -score } else { score };
    let step = |edit: &Edit| match edit {
        Edit::Hit => 0,
        Edit::Substitution => 1,
        Edit::Deletion => 4,
        Edit::Insertion => 5,
    };
    let steps = edits.iter().map(step).collect();
    (better, Alignment { chosen, tokens, shifts: Vec::new(), steps })
}
