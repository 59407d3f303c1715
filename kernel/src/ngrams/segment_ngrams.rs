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
    /// The end of each text in `tokens`.
    ends: Vec<usize>,
    /// An exclusive upper bound on the ids of tokens.
    token_bound: usize,
}

impl SegmentNgrams {
    /// Assign ids to the tokens of texts.
    pub(crate) fn number_tokens(&mut self, texts: &[View<'_>]) {
        let Self { token_ids, places, tokens, ends, .. } = self;
        token_ids.clear(texts.iter().map(View::count).sum());
        places.clear();
        tokens.clear();
        ends.clear();
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
            ends.push(tokens.len());
        }
        self.token_bound = places.len();
    }

    /// Use texts of ids.
    pub(crate) fn set_ids(&mut self, texts: &[&[u32]]) {
        let Self { pair_ids, tokens, ends, .. } = self;
        pair_ids.clear(texts.iter().map(|text| text.len()).sum());
        tokens.clear();
        ends.clear();
        for text in texts {
            tokens.extend(text.iter().map(|&id| pair_ids.get_or_assign(id.into()).0));
            ends.push(tokens.len());
        }
        self.token_bound = pair_ids.count();
    }

    /// Return an exclusive upper bound on the ids of an order.
    pub(crate) fn id_bound(&self, order: usize) -> usize {
        if order == 1 { self.token_bound } else { self.tokens.len() }
    }

    /// Pass each n-gram's text and id to `visit`. Visit order 1 first, and then order after order: the
    /// ids of order n come from pairs of an n-gram of order n - 1 and a token.
    #[inline(always)]
    pub(crate) fn visit(&mut self, order: usize, mut visit: impl FnMut(usize, usize)) {
        let Self { pair_ids, tokens, ngrams, ends, .. } = self;
        match order {
            1 => ngrams.clone_from(tokens),
            _ => pair_ids.clear(tokens.len()),
        }
        let mut work = Work::default();
        let mut start = 0;
        for (text, &end) in ends.iter().enumerate() {
            for i in start..(end + 1).saturating_sub(order) {
                work.add(8);
                if order > 1 {
                    let pair = u64::from(ngrams[i]) << 32 | u64::from(tokens[i + order - 1]);
                    ngrams[i] = pair_ids.get_or_assign(pair).0;
                }
                visit(text, ngrams[i] as usize);
            }
            start = end;
        }
    }

    /// Return the clipped matches of the first text with the others, for each order.
    pub(crate) fn count_matches(&mut self, orders: usize) -> Vec<u32> {
        let mut matches = vec![0; orders];
        for (order, matches) in (1..).zip(&mut matches) {
            // For each n-gram: its count in the first text, its largest count in another text, and
            // its count in the last text that contains it.
            let mut counts = vec![(0_u32, 0_u32, 0_u32, 0); self.id_bound(order)];
            self.visit(order, |text, ngram| {
                let (first_count, max_count, count, last_text) = &mut counts[ngram];
                if *last_text != text {
                    (*count, *last_text) = (0, text);
                }
                *count += 1;
                match text {
                    0 => *first_count = *count,
                    _ => *max_count = (*max_count).max(*count),
                }
            });
            *matches = counts.iter().map(|counts| counts.0.min(counts.1)).sum();
            if *matches == 0 {
                // Longer n-grams do not match, either.
                break;
            }
        }
        matches
    }
}
