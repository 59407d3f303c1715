//! Clipped matches of long segments, whose tokens are replaced by ids and then sorted.

use super::{MAX_ORDER, Matches};
use crate::ids::TokenIds;
use crate::interrupt::Work;
use crate::simd::ORDERS;
use crate::sorted_ngrams::{self, MAX_REFERENCES, SortScratch};
use crate::tokens::View;

/// Reusable buffers for matching a segment.
#[derive(Default)]
pub(super) struct NumberedTokenScratch {
    token_ids: TokenIds,
    /// For each id, counted from 1, the reference and the position where it first occurs.
    first_occurrences: Vec<(u32, u32)>,
    /// The ids of the hypothesis, then the ids of the references. The id 0 represents tokens that
    /// only the hypothesis contains.
    ids: Vec<u32>,
    sorting: SortScratch,
}

impl NumberedTokenScratch {
    /// Return the clipped matches of each order, or `None` if [`sorted_ngrams`] cannot count them.
    #[inline(never)]
    pub(super) fn count_matches(
        &mut self,
        hypothesis: &View<'_>,
        references: &[View<'_>],
        max_order: usize,
    ) -> Option<Matches> {
        if max_order > ORDERS || references.len() > MAX_REFERENCES {
            return None;
        }
        self.assign_ids(hypothesis, references);
        let id_bound = self.first_occurrences.len() + 1;
        let (hypothesis_ids, mut remaining) = self.ids.split_at(hypothesis.count());
        let mut texts: [&[u32]; MAX_REFERENCES] = Default::default();
        for (ids, reference) in texts.iter_mut().zip(references) {
            (*ids, remaining) = remaining.split_at(reference.count());
        }
        let (references, sorting) = (&texts[..references.len()], &mut self.sorting);
        let counts =
            sorted_ngrams::count_matches(hypothesis_ids, references, max_order, id_bound, sorting)?;
        let mut matches = [0; MAX_ORDER];
        matches[..max_order].copy_from_slice(&counts[..max_order]);
        Some(matches)
    }

    /// Assign ids to the tokens of the references, and find the ids of the hypothesis.
    fn assign_ids(&mut self, hypothesis: &View<'_>, references: &[View<'_>]) {
        let Self { token_ids, first_occurrences, ids, .. } = self;
        let mut work = Work::default();
        // Twice the usual space halves the number of collisions.
        token_ids.clear(2 * references.iter().map(View::count).sum::<usize>());
        first_occurrences.clear();
        ids.clear();
        ids.resize(hypothesis.count(), 0);
        let has_id = |first_occurrences: &[(u32, u32)], id: u32, token: &[u8]| {
            let (number, position) = first_occurrences[id as usize - 1];
            references[number as usize].token(position as usize) == token
        };
        for (number, reference) in references.iter().enumerate() {
            for (i, &key) in reference.keys().iter().enumerate() {
                work.add(8);
                let token = reference.token(i);
                let is_same = |id: u32| has_id(first_occurrences, id, token);
                let next = first_occurrences.len() as u32 + 1;
                let (id, is_new) = token_ids.get_or_assign(key, token, next, is_same);
                if is_new {
                    first_occurrences.push((number as u32, i as u32));
                }
                ids.push(id);
            }
        }
        for (i, &key) in hypothesis.keys().iter().enumerate() {
            work.add(8);
            let token = hypothesis.token(i);
            let is_same = |id: u32| has_id(first_occurrences, id, token);
            ids[i] = token_ids.find(key, token, is_same).unwrap_or(0);
        }
    }
}
