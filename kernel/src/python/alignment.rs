//! The way from one hypothesis to a reference, word by word, for Python: TER's, and the error rates'.

use super::run::{Many, interruptible, on_text};
use super::sentence::Sentence;
use super::{Lexing, current_instructions, decoded};
use crate::edit_distance::Edit;
use crate::lex::{self, tercom};
use crate::ter::{Outcome, Scratch, Step};
use crate::tokens::View;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// How TER's hypotheses become tokens, and how its references do.
pub fn lexing(
    py: Python<'_>,
    options: tercom::Options,
    case_sensitive: bool,
) -> PyResult<(Lexing, Lexing)> {
    let lowercase = if case_sensitive { "no" } else { "python" };
    let lexing = |twice| Lexing::of(py, options.tokenizer(twice), lowercase);
    Ok((lexing(false)?, lexing(true)?))
}

/// The tokens of a hypothesis, those of each reference, the number of the reference that needs the
/// fewest edits (from 0), the shifts (start, length, target), and a letter for each step then:
/// "m"atch, "s"ubstitution, "d"eletion, "i"nsertion.
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
    Vec<Bound<'py, PyAny>>,
    Vec<Vec<Bound<'py, PyAny>>>,
    usize,
    Vec<(usize, usize, usize)>,
    String,
)> {
    let py = hypothesis.py();
    let options = tercom::Options { normalized, no_punct, asian_support, twice: false };
    let (ours, theirs) = lexing(py, options, case_sensitive)?;
    let instructions = current_instructions()?;
    let texts = Sentence::new(hypothesis, references)?;
    let (mut first, mut second) = Default::default();
    let mut hypotheses = lexed(py, &ours.with(instructions)?, &texts, &mut first)?;
    let mut references = lexed(py, &theirs.with(instructions)?, &texts, &mut second)?;
    let words = tokens(py, hypotheses.next_segment())?;
    references.next_segment();
    let others = (0..texts.references()).map(|_| tokens(py, references.next_segment()));
    let others = others.collect::<PyResult<Vec<_>>>()?;
    let (ours, theirs) = (words.0, others.iter().map(|(view, _)| *view).collect::<Vec<_>>());
    let best = on_text(py, texts.bytes(), || {
        let mut search = Scratch::default();
        let outcomes = theirs.iter().map(|view| search.outcome(&ours, view));
        outcomes.enumerate().min_by_key(|(_, outcome)| outcome.edits())
    })?;
    let missing = crate::error::Error::NoReference { segment: 1 };
    let (chosen, Outcome { shifts, steps, .. }) = best.ok_or(missing)?;
    let shifts = shifts.iter().map(|shift| (shift.start, shift.length, shift.target));
    let letter = |step: &Step| match step {
        Step::Match => 'm',
        Step::Substitution => 's',
        Step::Deletion => 'd',
        Step::Insertion => 'i',
    };
    let others = others.into_iter().map(|(_, tokens)| tokens);
    Ok((words.1, others.collect(), chosen, shifts.collect(), steps.iter().map(letter).collect()))
}

/// The edits that make a hypothesis of a reference, a letter each: "h"it, "s"ubstitution, "d"eletion (of
/// a token of the reference), "i"nsertion. Equal tokens have equal numbers.
#[pyfunction]
pub fn edits(py: Python<'_>, reference: Many<u32>, hypothesis: Many<u32>) -> PyResult<String> {
    let letter = |edit: &Edit| match edit {
        Edit::Hit => 'h',
        Edit::Substitution => 's',
        Edit::Deletion => 'd',
        Edit::Insertion => 'i',
    };
    let work =
        || crate::edit_distance::edits(&reference.0, &hypothesis.0).iter().map(letter).collect();
    Ok(interruptible(py, work)?)
}

/// The texts of a segment, lexed.
fn lexed<'a>(
    py: Python<'_>,
    lexer: &lex::Lexer,
    texts: &'a Sentence,
    scratch: &'a mut lex::Scratch,
) -> PyResult<lex::Lexed<'a>> {
    let lexed = on_text(py, texts.bytes(), || lexer.lex(texts.block(), scratch))?;
    Ok(lexed.map_err(crate::error::Error::from)?)
}

/// The tokens of a text, for the kernel and for Python.
fn tokens<'a, 'py>(
    py: Python<'py>,
    view: Option<View<'a>>,
) -> PyResult<(View<'a>, Vec<Bound<'py, PyAny>>)> {
    let view = view.ok_or(crate::error::Error::NoReference { segment: 1 })?;
    let tokens = (0..view.count()).map(|i| {
        if i % (1 << 14) == 0 {
            py.check_signals()?;
        }
        decoded(py, view.token(i))
    });
    Ok((view, tokens.collect::<PyResult<_>>()?))
}
