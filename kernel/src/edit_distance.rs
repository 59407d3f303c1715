//! The edit counts and the formulas of the word error rate and related metrics.
//!
//! A hypothesis is aligned with a reference so that the number of insertions, deletions and
//! substitutions is minimal. A row contains the numbers of hits, substitutions, deletions and
//! insertions. Equally cheap alignments may have different numbers of hits; the choice follows
//! rapidfuzz, which jiwer uses. [`naive`] defines the alignment; `align` computes the same
//! alignment with bit-parallel rows.

mod align;
pub mod naive;

use crate::chrf;
use crate::count;
use crate::interner::WordIds;
use crate::interrupt::Work;
use crate::lex::whitespace;
use crate::simd::Vector;
use crate::tokens::View;
pub use align::Aligner;

/// An edit operation on one token of the reference or hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A reference token that equals its hypothesis token.
    Hit,
    /// A reference token replaced by another token.
    Substitution,
    /// A reference token that the hypothesis lacks.
    Deletion,
    /// A hypothesis token that the reference lacks.
    Insertion,
}

named_enum! {
    /// The formula that turns edit counts into a score.
    EditMeasure {
        /// The word error rate: edits per reference token. For characters, this is the character
        /// error rate.
        ErrorRate = "wer",
        /// The match error rate: the share of edits in the alignment.
        MatchErrorRate = "mer",
        /// Word information lost: 1 minus word information preserved.
        InformationLost = "wil",
        /// Word information preserved: hits / reference length × hits / hypothesis length.
        InformationPreserved = "wip",
    }
}

impl EditMeasure {
    /// Return the measure as a fraction; error rates can exceed 1. The order of floating-point
    /// operations is the same as in jiwer.
    fn fraction(self, row: &[i64]) -> f64 {
        let [hits, substitutions, deletions, insertions] = [row[0], row[1], row[2], row[3]];
        let (reference, hypothesis) =
            (hits + substitutions + deletions, hits + substitutions + insertions);
        let edits = (substitutions + deletions + insertions) as f64;
        match self {
            Self::ErrorRate if reference == 0 => insertions as f64,
            Self::ErrorRate => edits / reference as f64,
            Self::MatchErrorRate if reference == 0 => f64::from(u8::from(hypothesis > 0)),
            Self::MatchErrorRate => edits / (reference + insertions) as f64,
            Self::InformationLost => 1.0 - Self::InformationPreserved.fraction(row),
            Self::InformationPreserved if reference == 0 => f64::from(u8::from(hypothesis == 0)),
            Self::InformationPreserved if hypothesis == 0 => 0.0,
            Self::InformationPreserved => {
                (hits as f64 / reference as f64) * (hits as f64 / hypothesis as f64)
            }
        }
    }

    /// Return whether one fraction is better than another.
    fn is_better(self, candidate: f64, best: f64) -> bool {
        if self == Self::InformationPreserved { candidate > best } else { candidate < best }
    }
}

impl count::Formula for EditMeasure {
    /// Return the score of a row as a percentage; error rates can exceed 100.
    fn score(&self, row: &[i64]) -> f64 {
        100.0 * self.fraction(row)
    }
}

/// The columns of a row: hits, substitutions, deletions and insertions, against the reference with
/// the best score (the first of equally good references).
#[derive(Clone, Copy, Debug)]
pub struct EditColumns {
    /// The measure that selects the best of several references.
    pub measure: EditMeasure,
    /// Align characters instead of tokens. Each segment is then a single token.
    pub aligns_characters: bool,
}

/// Reusable buffers of one thread.
#[derive(Default)]
pub struct EditScratch {
    words: WordIds,
    characters: SegmentCharacters,
    aligner: Aligner,
}

impl count::Metric for EditColumns {
    type Scratch = EditScratch;

    fn width(&self) -> usize {
        4
    }

    #[inline(always)]
    unsafe fn row<V: Vector>(
        &self,
        hypothesis: View<'_>,
        references: &[View<'_>],
        scratch: &mut EditScratch,
        row: &mut [i64],
    ) {
        let mut best = None;
        for reference in references {
            let edit_counts = scratch.count_edits(self.aligns_characters, &hypothesis, reference);
            let score = self.measure.fraction(&edit_counts);
            if best.is_none_or(|best| self.measure.is_better(score, best)) {
                best = Some(score);
                row.copy_from_slice(&edit_counts);
            }
        }
    }
}

impl EditScratch {
    /// Return the number of edits of each kind against one reference.
    fn count_edits(
        &mut self,
        aligns_characters: bool,
        hypothesis: &View<'_>,
        reference: &View<'_>,
    ) -> [i64; 4] {
        let Self { words, characters: character_ids, aligner } = self;
        let (reference_ids, hypothesis_ids, max_id) = if aligns_characters {
            character_ids.assign_ids(hypothesis, reference);
            (&character_ids.reference, &character_ids.hypothesis, character_ids.max_id)
        } else {
            words.assign_ids(hypothesis, reference);
            (&words.reference, &words.hypothesis, words.words.len())
        };
        let mut counts = [0; 4];
        aligner.align(reference_ids, hypothesis_ids, max_id, &mut |edit, number| {
            counts[edit as usize] += number as i64;
        });
        counts
    }
}

/// Character ids: reference characters have ids from 1; all other characters have the id 0.
#[derive(Default)]
struct SegmentCharacters {
    point_ids: chrf::CharacterIds,
    /// The ids within the segment, indexed by the ids that `point_ids` assigns.
    segment_ids: Vec<u32>,
    hypothesis: Vec<u32>,
    reference: Vec<u32>,
    max_id: usize,
}

impl SegmentCharacters {
    /// Assign ids to the characters of hypothesis and reference.
    fn assign_ids(&mut self, hypothesis: &View<'_>, reference: &View<'_>) {
        let Self {
            point_ids: interner,
            segment_ids: numbers,
            hypothesis: hypothesis_ids,
            reference: reference_ids,
            max_id: kinds,
        } = self;
        interner.clear();
        for (view, ids) in [(reference, &mut *reference_ids), (hypothesis, &mut *hypothesis_ids)] {
            ids.clear();
            // White space within a text is compared, but white space at the ends of a text is not.
            let mut text = whitespace::trim_end(whitespace::trim_start(view.span()));
            let mut work = Work::default();
            while !text.is_empty() {
                work.add(4);
                let (point, width) = chrf::next_point(text);
                ids.push(interner.id(point));
                text = &text[width..];
            }
        }
        numbers.clear();
        numbers.resize(interner.id_bound(), 0);
        *kinds = 0;
        for id in reference_ids {
            let segment_id = &mut numbers[*id as usize];
            if *segment_id == 0 {
                *kinds += 1;
                *segment_id = *kinds as u32;
            }
            *id = *segment_id;
        }
        for id in hypothesis_ids {
            *id = numbers[*id as usize];
        }
    }
}

/// Return the edits that turn a reference into a hypothesis, in order. Tokens are arbitrary
/// integers.
pub fn align_tokens(reference: &[u32], hypothesis: &[u32]) -> Vec<Edit> {
    let mut token_ids = rustc_hash::FxHashMap::default();
    let mut reference_ids = Vec::with_capacity(reference.len());
    let mut work = Work::default();
    for token in reference {
        work.add(8);
        let next = token_ids.len() as u32 + 1;
        reference_ids.push(*token_ids.entry(token).or_insert(next));
    }
    let hypothesis_ids: Vec<u32> =
        hypothesis.iter().map(|token| token_ids.get(token).copied().unwrap_or(0)).collect();
    let mut edits = Vec::new();
    Aligner::default().align(
        &reference_ids,
        &hypothesis_ids,
        token_ids.len(),
        &mut |edit, count| {
            edits.extend(std::iter::repeat_n(edit, count));
        },
    );
    edits.reverse();
    edits
}
