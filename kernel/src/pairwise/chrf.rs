//! chrF scores of all pairs. The two kinds of units are characters and words. Several pairs are
//! scored side by side.

use super::overlap::{BlockScores, CountInteger, MatchedPairs, Overlap, SummedPair, Units};
use crate::chrf::{CharacterIds, ChrfColumns, ChrfText};
use crate::simd::Portable;
use crate::token_corpus::Vocabulary;
use crate::tokens::View;

/// The ids of characters and words.
#[derive(Default)]
pub struct ChrfReader {
    interner: CharacterIds,
    text: ChrfText,
    words: Vocabulary,
}

impl Overlap for ChrfColumns {
    type Reading = ChrfReader;
    type Scratch = ();

    fn max_orders(&self) -> Vec<usize> {
        vec![self.char_order, self.word_order]
    }

    fn read_units(&self, text: &View<'_>, reading: &mut ChrfReader, units: &mut [Units]) {
        let ChrfReader { interner, text: chrf_text, words } = reading;
        // SAFETY: the portable set needs no particular instructions.
        unsafe { ChrfColumns::read_text::<Portable>(self, text, interner, chrf_text) };
        chrf_text.characters.iter().for_each(|&character| units[0].push(character));
        if self.word_order > 0 {
            let all_words = text.view_tokens(&chrf_text.words, 0, chrf_text.words.count());
            words.assign_ids(&all_words, |word| units[1].push(word));
        }
    }

    #[inline(always)]
    fn score_block<T: CountInteger>(
        &self,
        pairs: &MatchedPairs<'_, T>,
        _: &mut (),
        scores: &mut BlockScores,
    ) {
        /// Number of pairs scored side by side, limited so that their sums stay in registers.
        const SIDE_BY_SIDE: usize = 16;
        for first in (0..pairs.lanes.end).step_by(SIDE_BY_SIDE) {
            let orders = (0..self.char_order).map(|order| (0, order));
            let orders = orders.chain((0..self.word_order).map(|order| (1, order)));
            let counts = orders.zip(pairs.matches).map(|((kind, order), matches)| {
                let hypothesis_ngrams = pairs.hypothesis[kind].saturating_sub(order as u32);
                let lengths: &[u32; SIDE_BY_SIDE] = entries_from(&pairs.references[kind], first);
                let reference_ngrams =
                    lengths.map(|length| f64::from(length.saturating_sub(order as u32) as i32));
                let matches: &[T; SIDE_BY_SIDE] = entries_from(matches, first);
                [
                    // sacreBLEU ignores the hypothesis n-grams of an order if the reference has no
                    // n-grams.
                    reference_ngrams
                        .map(|n| if n > 0.0 { f64::from(hypothesis_ngrams as i32) } else { 0.0 }),
                    reference_ngrams,
                    matches.map(|matches| f64::from(matches.into() as i32)),
                ]
            });
            scores[first..first + SIDE_BY_SIDE].copy_from_slice(&self.formula.score_pairs(counts));
        }
    }

    fn score_against_sum(&self, pair: &SummedPair) -> f64 {
        let counts = |&[hypothesis, reference, matches]: &[i64; 3]| {
            [if reference > 0 { hypothesis } else { 0 }, reference, matches]
                .map(|count| [count as f64])
        };
        self.formula.score_pairs(pair.orders.iter().map(counts))[0]
    }
}

/// Return `N` entries of an array whose length is a multiple of `N`.
#[inline(always)]
fn entries_from<T, const N: usize>(entries: &[T], first: usize) -> &[T; N] {
    &entries[first..].as_chunks::<N>().0[0]
}
