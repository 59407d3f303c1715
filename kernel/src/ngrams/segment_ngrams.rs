//! Ids of the n-grams of all texts of a segment, for any length and any order.

use crate::ids::{KeyIds, TokenIds};
use crate::interrupt::Work;
use crate::tokens::View;

/// Reusable buffers for numbering n-grams.
#[derive(Default)]
pub(crate) struct SegmentNgrams {
    token_ids: TokenIds,
    pair_ids: KeyIds,
    /// The first occurrence of each token: a text and a position.
    places: Vec<(u32, u32)>,
    /// The ids of the tokens and of the n-grams of the current order, for one text after another.
    tokens: Vec<u32>,
    ngrams: Vec<u32>,
}

impl SegmentNgrams {
    /// Assign ids to the tokens of texts.
    pub(crate) fn number_tokens(&mut self, texts: &[View<'_>]) {
        let Self { token_ids, places, tokens, .. } = self;
        token_ids.clear(texts.iter().map(View::count).sum());
        places.clear();
        tokens.clear();
        let mut work = Work::default();
        for (t, text) in texts.iter().enumerate() {
            for (i, &key) in text.keys().iter().enumerate() {
                work.add(8);
                let bytes = text.token(i);
                let has_bytes = |id: u32| {
                    let (t, i) = places[id as usize];
                    texts[t as usize].token(i as usize) == bytes
                };
                let next = places.len() as u32;
                let (id, is_new) = token_ids.get_or_assign(key, bytes, next, has_bytes);
                if is_new {
                    places.push((t as u32, i as u32));
                }
                tokens.push(id);
            }
        }
    }

    /// Return an exclusive upper bound on the ids of each order.
    pub(crate) fn id_bound(&self) -> usize {
        self.tokens.len()
    }

    /// Pass each n-gram's text and id to `visit`. Visit order 1 first, and then order after order: the
    /// ids of order n come from pairs of an n-gram of order n - 1 and a token.
    #[inline(always)]
    pub(crate) fn visit(
        &mut self,
        texts: &[View<'_>],
        order: usize,
        mut visit: impl FnMut(usize, usize),
    ) {
        let Self { pair_ids, tokens, ngrams, .. } = self;
        match order {
            1 => ngrams.clone_from(tokens),
            _ => pair_ids.clear(tokens.len()),
        }
        let mut work = Work::default();
        let mut first = 0;
        for (t, text) in texts.iter().enumerate() {
            for i in first..first + text.count().saturating_sub(order - 1) {
                work.add(8);
                if order > 1 {
                    let pair = u64::from(ngrams[i]) << 32 | u64::from(tokens[i + order - 1]);
                    ngrams[i] = pair_ids.get_or_assign(pair).0;
                }
                visit(t, ngrams[i] as usize);
            }
            first += text.count();
        }
    }
}
