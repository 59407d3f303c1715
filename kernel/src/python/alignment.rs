//! Functions that return word-level alignments to Python, for TER and the error rates.

use super::run::{LongSequence, interruptible, run_on_text};
use super::sentence::SegmentTexts;
use super::{LexerSettings, current_instructions, decode_tokens};
use crate::edit_distance::Edit;
use crate::lex::{self, tercom};
use crate::ter::{Outcome, Step, TerScratch};
use crate::tokens::View;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// Return TER's lexer settings for hypotheses and for references.
pub fn ter_lexer_settings(
    py: Python<'_>,
    options: tercom::TercomOptions,
    case_sensitive: bool,
) -> PyResult<(LexerSettings, LexerSettings)> {
    let lowercase = if case_sensitive { "no" } else { "python" };
    let create_settings =
        |twice| LexerSettings::from_tokenizer(py, options.tokenizer(twice), lowercase);
    Ok((create_settings(false)?, create_settings(true)?))
}

/// Return the tokens of the hypothesis and of each reference, and the index of the reference with
/// the fewest edits. Also return the shifts (start, length, target) and the remaining steps as one
/// letter each: "m"atch, "s"ubstitution, "d"eletion, "i"nsertion.
#[pyfunction]
#[pyo3(signature = (hypothesis, references, *, normalized, no_punct, asian_support, case_sensitive))]
#[allow(clippy::type_complexity)]
pub fn ter_alignment<'py>(
    hypothesis: &Bound<'py, PyString>,
    references: &Bound<'py, PyAny>,
    normalized: bool,
    no_punct: bool,
    asian_support: bool,
    case_sensitive: bool,
) -> PyResult<(
    Bound<'py, PyList>,
    Vec<Bound<'py, PyList>>,
    usize,
    Vec<(usize, usize, usize)>,
    String,
)> {
    let py = hypothesis.py();
    let options =
        tercom::TercomOptions { normalized, no_punct, asian_support, applies_twice: false };
    let (hypothesis_settings, reference_settings) =
        ter_lexer_settings(py, options, case_sensitive)?;
    let instructions = current_instructions()?;
    let texts = SegmentTexts::new(hypothesis, references)?;
    let (mut hypothesis_scratch, mut reference_scratch) = Default::default();
    let mut hypotheses = lex_texts(
        py,
        &hypothesis_settings.to_lexer(instructions)?,
        &texts,
        &mut hypothesis_scratch,
    )?;
    let mut references =
        lex_texts(py, &reference_settings.to_lexer(instructions)?, &texts, &mut reference_scratch)?;
    let hypothesis_tokens = decode_view(py, hypotheses.next_segment())?;
    references.next_segment();
    let reference_tokens =
        (0..texts.reference_count()).map(|_| decode_view(py, references.next_segment()));
    let reference_tokens = reference_tokens.collect::<PyResult<Vec<_>>>()?;
    let (hypothesis_view, reference_views) =
        (hypothesis_tokens.0, reference_tokens.iter().map(|(view, _)| *view).collect::<Vec<_>>());
    let best = run_on_text(py, texts.byte_count(), || {
        let mut search = TerScratch::default();
        let outcomes = reference_views.iter().map(|view| search.find_edits(&hypothesis_view, view));
        outcomes.enumerate().min_by_key(|(_, outcome)| outcome.total_edits())
    })?;
    let missing = crate::error::Error::NoReference { segment: 1 };
    let (best_reference, Outcome { shifts, steps, .. }) = best.ok_or(missing)?;
    let shifts = shifts.iter().map(|shift| (shift.start, shift.length, shift.target));
    let letter = |step: &Step| match step {
        Step::Match => 'm',
        Step::Substitution => 's',
        Step::Deletion => 'd',
        Step::Insertion => 'i',
    };
    let reference_strings = reference_tokens.into_iter().map(|(_, tokens)| tokens);
    Ok((
        hypothesis_tokens.1,
        reference_strings.collect(),
        best_reference,
        shifts.collect(),
        steps.iter().map(letter).collect(),
    ))
}

/// Return the edits that turn a reference into a hypothesis, as one letter each: "h"it,
/// "s"ubstitution, "d"eletion (of a reference token), "i"nsertion. The arguments are token ids.
#[pyfunction]
pub fn edits(
    py: Python<'_>,
    reference: LongSequence<u32>,
    hypothesis: LongSequence<u32>,
) -> PyResult<String> {
    let letter = |edit: &Edit| match edit {
        Edit::Hit => 'h',
        Edit::Substitution => 's',
        Edit::Deletion => 'd',
        Edit::Insertion => 'i',
    };
    let work = || {
        crate::edit_distance::align_tokens(&reference.0, &hypothesis.0).iter().map(letter).collect()
    };
    Ok(interruptible(py, work)?)
}

/// Lex the texts of a segment.
fn lex_texts<'a>(
    py: Python<'_>,
    lexer: &lex::Lexer,
    texts: &'a SegmentTexts,
    scratch: &'a mut lex::LexScratch,
) -> PyResult<lex::Lexed<'a>> {
    let lexed = run_on_text(py, texts.byte_count(), || lexer.lex(texts.block(), scratch))?;
    Ok(lexed.map_err(crate::error::Error::from)?)
}

/// Return the tokens of a segment, both as a kernel view and as Python strings.
fn decode_view<'a, 'py>(
    py: Python<'py>,
    view: Option<View<'a>>,
) -> PyResult<(View<'a>, Bound<'py, PyList>)> {
    let view = view.ok_or(crate::error::Error::NoReference { segment: 1 })?;
    Ok((view, decode_tokens(py, (0..view.count()).map(|i| view.token(i)))?))
}
