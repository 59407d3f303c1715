//! chrF of all pairs: characters are one kind of units, words another; several pairs are scored side
//! by side.

use super::overlap::{Matched, Number, Overlap, Scores, Summed, Units};
use crate::chrf::{Columns, Interner, Text};
use crate::simd::Portable;
use crate::token_corpus::Vocabulary;
use crate::tokens::View;

/// The numbers of characters and words.
#[derive(Default)]
pub struct Reading {
    interner: Interner,
    text: Text,
    words: Vocabulary,
}

impl Overlap for Columns {
    type Reading = Reading;
    type Memory = ();

    fn orders(&self) -> Vec<usize> {
        vec![self.char_order, self.word_order]
    }

    fn read(&self, text: &View<'_>, reading: &mut Reading, units: &mut [Units]) {
        let Reading { interner, text: found, words } = reading;
        // SAFETY: the portable set needs nothing of the processor.
        unsafe { Columns::read::<Portable>(self, text, interner, found) };
        found.characters.iter().for_each(|&character| units[0].push(character));
        if self.word_order > 0 {
            let all = text.of(&found.words, 0, found.words.count());
            words.number_all(&all, |word| units[1].push(word));
        }
    }

    #[inline(always)]
    fn score<T: Number>(&self, pairs: &Matched<'_, T>, _: &mut (), scores: &mut Scores) {
        /// The number of pairs scored side by side: their sums stay in registers.
        const SIDE: usize = 16;
        for first in (0..pairs.lanes.end).step_by(SIDE) {
            let orders = (0..self.char_order).map(|order| (0, order));
            let orders = orders.chain((0..self.word_order).map(|order| (1, order)));
            let counts = orders.zip(pairs.matches).map(|((kind, order), matches)| {
                let ours = pairs.hypothesis[kind].saturating_sub(order as u32);
                let theirs: &[u32; SIDE] = side(&pairs.references[kind], first);
                let theirs = theirs.map(|all| f64::from(all.saturating_sub(order as u32) as i32));
                let matches: &[T; SIDE] = side(matches, first);
                [
                    // Where the reference has no n-gram, the hypothesis' do not count either.
                    theirs.map(|all| if all > 0.0 { f64::from(ours as i32) } else { 0.0 }),
                    theirs,
                    matches.map(|matches| f64::from(matches.into() as i32)),
                ]
            });
            scores[first..first + SIDE].copy_from_slice(&self.formula.side_by_side(counts));
        }
    }

    fn score_of_sum(&self, pair: &Summed) -> f64 {
        let counts = |&[ours, theirs, matches]: &[i64; 3]| {
            // As above.
            [if theirs > 0 { ours } else { 0 }, theirs, matches].map(|count| [count as f64])
        };
        self.formula.side_by_side(pair.orders.iter().map(counts))[0]
    }
}

/// `N` entries of an array whose length `N` divides.
#[inline(always)]
fn side<T, const N: usize>(all: &[T], first: usize) -> &[T; N] {
    &all[first..].as_chunks::<N>().0[0]
}
