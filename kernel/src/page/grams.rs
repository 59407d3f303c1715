//! The n-grams that set systems apart, for pages: the lists of [`crate::distinctive_ngrams`], and how
//! surprising each n-gram is, as `truebleu/views/report/ngrams.py` defines it.

use super::Done;
use crate::distinctive_ngrams::{Entry, Kind, Lists};
use crate::elementary::ln;
use crate::inventory::Corpus;
use crate::lex::Lexer;
use crate::text::Source;

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
    pub fn lists(&self, pair: (usize, Option<usize>), limit: usize) -> Done<Vec<u8>> {
        let known = |system: usize| system < self.corpus.systems;
        if !known(pair.0) || !pair.1.is_none_or(known) || limit == 0 {
            return Err("no such systems".to_owned());
        }
        let systems: Vec<usize> = std::iter::once(pair.0).chain(pair.1).collect();
        let Self { corpus, orders } = self;
        let written: u64 = corpus.produced[..corpus.systems].iter().map(|by| by[0]).sum();
        // About how often an n-gram in a list occurs: a wrong number takes longer, no more.
        let least = (written / corpus.systems as u64 / 400_000).max(1) as u32;
        let lists = Lists { orders: *orders, pairs: &[pair], limit, examples: 0, least };
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
                    numbers.extend(systems.iter().map(|&system| entry.matched[system]));
                    numbers.extend(systems.iter().map(|&system| entry.produced[system]));
                    numbers.push(entry.reference);
                    for x in self.surprise(Kind::ALL[kind], &entry, &systems, order) {
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

    /// By how much the odds of an n-gram are larger on one side than on the other, as a logarithm,
    /// and in standard deviations.
    fn surprise(&self, kind: Kind, entry: &Entry, systems: &[usize], order: usize) -> [f64; 2] {
        let Corpus { produced, matched, systems: references, .. } = &self.corpus;
        let sum = |of: &dyn Fn(usize) -> f64| systems.iter().map(|&system| of(system)).sum::<f64>();
        let ours = (
            sum(&|system| f64::from(entry.produced[system])),
            sum(&|system| produced[system][order] as f64),
        );
        let theirs = (f64::from(entry.occurrences), produced[*references][order] as f64);
        let share = 1.0 / (1.0 + systems.len() as f64);
        let prior = ((ours.0 + theirs.0) * share, (ours.1 + theirs.1) * share);
        let of_matches =
            |system: usize| (f64::from(entry.matched[system]), matched[system][order] as f64);
        let (one, other) = match (kind, systems) {
            (Kind::Difference, &[first, second]) => (of_matches(first), of_matches(second)),
            (Kind::Missed, _) => (theirs, ours),
            _ => (ours, theirs),
        };
        let odds = |(count, total): (f64, f64)| {
            ln((count + prior.0) / (total + prior.1 - count - prior.0).max(0.5))
        };
        let difference = odds(one) - odds(other);
        let variance = 1.0 / (one.0 + prior.0) + 1.0 / (other.0 + prior.0);
        [difference, difference / variance.sqrt()]
    }
}
