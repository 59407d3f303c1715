//! The n-grams that set systems apart, for pages: the lists of [`crate::distinctive_ngrams`].

use super::Done;
use crate::distinctive_ngrams::{Lists, Pair};
use crate::lex::Lexer;
use crate::text_batches::Source;
use crate::token_corpus::Corpus;

/// Tokens of all texts together.
const MOST_TOKENS: usize = 1 << 25;

/// The tokens of systems and references.
pub struct Grams {
    corpus: Corpus,
    orders: usize,
}

impl Grams {
    /// Reads all texts, to look at n-grams up to `orders`.
    pub fn new(
        systems: Vec<Box<dyn Source>>,
        references: Vec<Box<dyn Source>>,
        lexer: &Lexer,
        orders: usize,
    ) -> Done<Self> {
        let read = Corpus::read(systems, references, lexer, orders, MOST_TOKENS, &mut |_| Ok(()));
        Ok(Self { corpus: read.map_err(|error| error.to_string())?, orders })
    }

    /// The number of segments that were read.
    pub fn segments(&self) -> usize {
        self.corpus.count()
    }

    /// For each segment the words of the references by their frequency in them, and those that each
    /// system has, as [`Corpus::buckets`] has them: the width of a row, and the rows.
    pub fn frequencies(&self, edges: &[u64]) -> (usize, Vec<i64>) {
        let rows = self.corpus.buckets(&self.corpus.reference_frequencies(), edges);
        (edges.len() * (1 + self.corpus.systems), rows)
    }

    /// The lists of two systems, or of one, with at most `limit` n-grams of each order, as numbers of
    /// 4 bytes, then the tokens.
    ///
    /// First stands how many n-grams there are; then of each its list (a difference, over, missed),
    /// its order, the lengths of its tokens, how often each system matched it, and wrote it, its
    /// count in the references, and the log-odds and the z of these, as two numbers each.
    pub fn lists(&self, pair: Pair, limit: usize) -> Done<Vec<u8>> {
        let known = |system: usize| system < self.corpus.systems;
        if !known(pair.0) || !pair.1.is_none_or(known) || limit == 0 {
            return Err("no such systems".to_owned());
        }
        let Self { corpus, orders } = self;
        let lists = Lists { orders: *orders, pairs: &[pair], limit, examples: 0, least: None };
        let (mut numbers, mut text, mut count) = (vec![0_u32], Vec::new(), 0);
        for (order, found) in lists.of(corpus).into_iter().enumerate() {
            for (kind, entries) in found.into_iter().flatten().enumerate() {
                for entry in entries {
                    count += 1;
                    numbers.extend([kind as u32, order as u32 + 1]);
                    for &token in &entry.tokens {
                        let token = corpus.vocabulary.token(token);
                        numbers.push(token.len() as u32);
                        text.extend_from_slice(token);
                    }
                    numbers.extend(entry.matched);
                    numbers.extend(entry.produced);
                    numbers.push(entry.reference);
                    for x in [entry.log_odds, entry.z] {
                        numbers.extend([x.to_bits() as u32, (x.to_bits() >> 32) as u32]);
                    }
                }
            }
        }
        numbers[0] = count;
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.append(&mut text);
        Ok(bytes)
    }
}
