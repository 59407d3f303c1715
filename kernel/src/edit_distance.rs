//! The row of integers of the word error rate and its relatives, and their formulas.
//!
//! A hypothesis is aligned with a reference by insertions, deletions and substitutions, as few as
//! there can be; a row is the numbers of hits, substitutions, deletions and insertions. Several
//! alignments may be equally cheap and have other numbers of hits; which one counts is as in
//! rapidfuzz, and so in jiwer. `plain` is the definition; `align` finds the same on rows of bits.

mod align;
pub mod naive;

use crate::chrf;
use crate::count;
use crate::interner::Interner;
use crate::interrupt::Work;
use crate::lex::whitespace;
use crate::simd::Vector;
use crate::tokens::View;
pub use align::Aligner;

/// What becomes of a token of the reference or of the hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The same token on both sides.
    Hit,
    /// Another token in the hypothesis.
    Substitution,
    /// A token of the reference that the hypothesis has not.
    Deletion,
    /// A token of the hypothesis that the reference has not.
    Insertion,
}

/// What is made of the numbers of edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The word error rate: edits for each token of the reference. Of characters it is the CER.
    ErrorRate,
    /// The match error rate: the share of edits in the alignment.
    MatchErrorRate,
    /// Word information lost: 1 less what is preserved.
    InformationLost,
    /// Word information preserved: hits in the reference times hits in the hypothesis.
    InformationPreserved,
}

impl Measure {
    /// The measures and their names.
    pub const NAMED: [(&str, Self); 4] = [
        ("wer", Self::ErrorRate),
        ("mer", Self::MatchErrorRate),
        ("wil", Self::InformationLost),
        ("wip", Self::InformationPreserved),
    ];

    /// The measure with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, measure)| measure)
    }

    /// The number between 0 and 1, or above for an error rate, operation by operation as jiwer has it.
    fn of(self, row: &[i64]) -> f64 {
        let [hits, substitutions, deletions, insertions] = [row[0], row[1], row[2], row[3]];
        let (reference, hypothesis) =
            (hits + substitutions + deletions, hits + substitutions + insertions);
        let edits = (substitutions + deletions + insertions) as f64;
        match self {
            Self::ErrorRate if reference == 0 => insertions as f64,
            Self::ErrorRate => edits / reference as f64,
            Self::MatchErrorRate if reference == 0 => f64::from(u8::from(hypothesis > 0)),
            Self::MatchErrorRate => edits / (reference + insertions) as f64,
            Self::InformationLost => 1.0 - Self::InformationPreserved.of(row),
            Self::InformationPreserved if reference == 0 => f64::from(u8::from(hypothesis == 0)),
            Self::InformationPreserved if hypothesis == 0 => 0.0,
            Self::InformationPreserved => {
                (hits as f64 / reference as f64) * (hits as f64 / hypothesis as f64)
            }
        }
    }

    fn is_better(self, one: f64, other: f64) -> bool {
        if self == Self::InformationPreserved { one > other } else { one < other }
    }
}

impl count::Formula for Measure {
    /// The score of a row, 0 to 100 and above.
    fn score(&self, row: &[i64]) -> f64 {
        100.0 * self.of(row)
    }
}

/// The columns of a row: hits, substitutions, deletions and insertions, against the reference with
/// the best score; of equally good ones the first.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// What decides which of several references is the best.
    pub measure: Measure,
    /// Characters are aligned, and not tokens. Segments then come as single tokens.
    pub characters: bool,
}

/// A thread's memory.
#[derive(Default)]
pub struct Scratch {
    words: Interner,
    characters: Characters,
    aligner: Aligner,
}

impl count::Metric for Columns {
    type Scratch = Scratch;

    fn width(&self) -> usize {
        4
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut Scratch,
        row: &mut [i64],
    ) {
        let mut best = None;
        for reference in references {
            let counts = scratch.counts(self.characters, &hypothesis, reference);
            let score = self.measure.of(&counts);
            if best.is_none_or(|best| self.measure.is_better(score, best)) {
                best = Some(score);
                row.copy_from_slice(&counts);
            }
        }
    }
}

impl Scratch {
    fn counts(
        &mut self,
        characters: bool,
        hypothesis: &View<'_>,
        reference: &View<'_>,
    ) -> [i64; 4] {
        let Self { words, characters: letters, aligner } = self;
        let (theirs, ours, kinds) = if characters {
            letters.number(hypothesis, reference);
            (&letters.reference, &letters.hypothesis, letters.kinds)
        } else {
            words.number(hypothesis, reference);
            (&words.reference, &words.hypothesis, words.words.len())
        };
        let mut counts = [0; 4];
        aligner.align(theirs, ours, kinds, &mut |edit, number| {
            counts[edit as usize] += number as i64;
        });
        counts
    }
}

/// Characters as small numbers: those of the reference from 1 on, all others 0.
#[derive(Default)]
struct Characters {
    interner: chrf::Interner,
    /// By the interner's ids.
    numbers: Vec<u32>,
    hypothesis: Vec<u32>,
    reference: Vec<u32>,
    kinds: usize,
}

impl Characters {
    fn number(&mut self, hypothesis: &View<'_>, reference: &View<'_>) {
        let Self { interner, numbers, hypothesis: ours, reference: theirs, kinds } = self;
        interner.clear();
        for (view, ids) in [(reference, &mut *theirs), (hypothesis, &mut *ours)] {
            ids.clear();
            // White space within counts, that at the ends does not.
            let mut text = whitespace::trim_end(whitespace::trim_start(view.span()));
            let mut work = Work::default();
            while !text.is_empty() {
                work.done(4);
                let (point, width) = chrf::next_point(text);
                ids.push(interner.id(point));
                text = &text[width..];
            }
        }
        numbers.clear();
        numbers.resize(interner.ids(), 0);
        *kinds = 0;
        for id in theirs {
            let number = &mut numbers[*id as usize];
            if *number == 0 {
                *kinds += 1;
                *number = *kinds as u32;
            }
            *id = *number;
        }
        for id in ours {
            *id = numbers[*id as usize];
        }
    }
}

/// The edits that make a hypothesis of a reference, from the start. Tokens are any numbers.
pub fn edits(reference: &[u32], hypothesis: &[u32]) -> Vec<Edit> {
    let mut numbers = rustc_hash::FxHashMap::default();
    let mut theirs = Vec::with_capacity(reference.len());
    let mut work = Work::default();
    for token in reference {
        work.done(8);
        let next = numbers.len() as u32 + 1;
        theirs.push(*numbers.entry(token).or_insert(next));
    }
    let ours: Vec<u32> =
        hypothesis.iter().map(|token| numbers.get(token).copied().unwrap_or(0)).collect();
    let mut edits = Vec::new();
    Aligner::default().align(&theirs, &ours, numbers.len(), &mut |edit, number| {
        edits.extend(std::iter::repeat_n(edit, number));
    });
    edits.reverse();
    edits
}
