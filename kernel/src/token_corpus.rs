//! A corpus stored as token ids, for statistics other than metrics.
//!
//! Equal tokens have equal ids. Tokens are compared by key, and by their bytes if the key is a
//! hash. Memory holds four bytes per token of each text, and the bytes of each distinct token once.
//! [`TokenCorpus::read`] stops at a given number of tokens.

use crate::bleu;
use crate::count::{Metric, count_next};
use crate::error::Error;
use crate::ids::TokenIds;
use crate::interrupt::{self, Work};
use crate::lex::{LexScratch, Lexer};
use crate::ngrams::{self, MAX_ORDER};
use crate::text_batches::{BatchSize, Source};
use crate::tokens::View;

/// Number of bytes of the first system that are read at a time.
const BATCH_BYTES: usize = 1 << 16;

/// The distinct tokens and their ids.
#[derive(Default)]
pub struct Vocabulary {
    ids: TokenIds,
    text: Vec<u8>,
    /// The start of each token in `text`.
    starts: Vec<usize>,
}

impl Vocabulary {
    /// Return the number of tokens.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Return the token with this id.
    pub fn token(&self, id: u32) -> &[u8] {
        token_bytes(&self.text, &self.starts, id)
    }

    /// Pass the ids of a text's tokens to `take`, assigning new ids to new tokens.
    pub(crate) fn assign_ids(&mut self, view: &View<'_>, mut take: impl FnMut(u32)) {
        let Self { ids, text, starts } = self;
        let mut work = Work::default();
        for (i, &key) in view.keys().iter().enumerate() {
            work.add(8);
            let bytes = view.token(i);
            let same = |number| token_bytes(text, starts, number) == bytes;
            let (id, is_new) = ids.get_or_assign(key, bytes, starts.len() as u32, same);
            if is_new {
                starts.push(text.len());
                text.extend_from_slice(bytes);
            }
            take(id);
        }
    }
}

/// Return the token with this id.
fn token_bytes<'a>(text: &'a [u8], starts: &[usize], id: u32) -> &'a [u8] {
    let index = id as usize;
    &text[starts[index]..starts.get(index + 1).copied().unwrap_or(text.len())]
}

/// The tokens of several systems and of the references, segment by segment.
#[derive(Default)]
pub struct TokenCorpus {
    /// The distinct tokens.
    pub vocabulary: Vocabulary,
    /// The number of systems.
    pub systems: usize,
    /// The largest n-gram order.
    pub max_order: usize,
    /// The ids of all tokens, by segment: each system, then each reference.
    pub(crate) tokens: Vec<u32>,
    /// The end of each text in `tokens`.
    pub(crate) ends: Vec<u32>,
    /// The end of each segment in `ends`.
    segments: Vec<u32>,
    /// Whether some segments were not read.
    pub is_truncated: bool,
    /// The number of n-grams per order, for each system and finally for all references.
    pub ngram_totals: Vec<[u64; MAX_ORDER]>,
    /// The number of matching n-grams per order, for each system.
    pub ngram_matches: Vec<[u64; MAX_ORDER]>,
}

impl TokenCorpus {
    /// Read systems and references up to about `max_tokens` tokens, for n-grams up to `max_order`.
    pub fn read(
        systems: Vec<Box<dyn Source>>,
        references: Vec<Box<dyn Source>>,
        lexer: &Lexer,
        max_order: usize,
        max_tokens: usize,
    ) -> Result<Self, Error> {
        let count = systems.len();
        let mut corpus = Self {
            systems: count,
            max_order,
            ngram_totals: vec![[0; MAX_ORDER]; count + 1],
            ngram_matches: vec![[0; MAX_ORDER]; count],
            ..Self::default()
        };
        // A row contains the length, then the matches of each order, then the n-grams of each
        // order.
        let columns = bleu::BleuColumns { lengths: Vec::new(), max_order, at_least_one: false };
        let mut row = vec![0; columns.width()];
        let mut match_scratch = ngrams::MatchScratch::default();
        let mut sources: Vec<_> = systems.into_iter().chain(references).collect();
        let max_tokens = max_tokens.min(u32::MAX as usize >> 1);
        let mut scratches: Vec<LexScratch> = Vec::new();
        loop {
            interrupt::poll();
            let max_bytes = if corpus.tokens.len() < max_tokens { BATCH_BYTES } else { 1 };
            let mut blocks = Vec::new();
            let mut count = 0;
            for (i, source) in sources.iter_mut().enumerate() {
                let size = if i == 0 {
                    BatchSize::Bytes(max_bytes)
                } else {
                    BatchSize::Segments(count.max(1))
                };
                let batch = source.next(size)?;
                let batch_segments = batch.as_ref().map_or(0, |batch| batch.count);
                if i > 0 && batch_segments != count {
                    let problem = "the inputs have different numbers of segments";
                    return Err(Error::Input(format!("{}: {problem}", source.name())));
                }
                count = batch_segments;
                blocks.extend(batch.into_iter().flat_map(|batch| batch.streams));
            }
            if count == 0 {
                return Ok(corpus);
            }
            if corpus.tokens.len() >= max_tokens {
                corpus.is_truncated = true;
                return Ok(corpus);
            }
            if scratches.len() < blocks.len() {
                scratches.resize_with(blocks.len(), LexScratch::default);
            }
            let lexed = blocks.iter().zip(&mut scratches);
            let lexed = lexed.map(|(block, scratch)| lexer.lex(block, scratch));
            let mut lexed = lexed.collect::<Result<Vec<_>, _>>()?;
            for _ in 0..count {
                interrupt::poll();
                let segment_start = lexed.clone();
                let mut views: Vec<View<'_>> = Vec::with_capacity(lexed.len());
                for (i, text) in lexed.iter_mut().enumerate() {
                    match text.next_segment() {
                        Some(view) => views.push(view),
                        None if i < corpus.systems => {
                            let input = sources[i].name().to_owned();
                            let segment = corpus.segment_count() as u64 + 1;
                            return Err(Error::MissingHypothesis { input, segment });
                        }
                        None => {}
                    }
                }
                corpus.add_segment(&views);
                let (hypotheses, references) = segment_start.split_at(corpus.systems);
                for (matched, text) in corpus.ngram_matches.iter_mut().zip(hypotheses) {
                    let set = lexer.instructions;
                    count_next(set, &columns, text, references, &mut match_scratch, &mut row);
                    for (sum, &count) in matched.iter_mut().zip(&row[1..=max_order]) {
                        *sum += count as u64;
                    }
                }
            }
        }
    }

    /// Add a segment: the texts of the systems, and all references that are not missing.
    fn add_segment(&mut self, texts: &[View<'_>]) {
        for (text, view) in texts.iter().enumerate() {
            self.vocabulary.assign_ids(view, |id| self.tokens.push(id));
            self.ends.push(self.tokens.len() as u32);
            let produced = &mut self.ngram_totals[text.min(self.systems)];
            for (order, sum) in (1..).zip(produced) {
                *sum += (view.count() + 1).saturating_sub(order) as u64;
            }
        }
        self.segments.push(self.ends.len() as u32);
    }

    /// Return the number of segments read.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Return, for each segment, its start and the ends of its texts (systems first).
    pub(crate) fn segments(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut first = 0;
        self.segments.iter().map(move |&last| {
            let start = if first == 0 { 0 } else { self.ends[first - 1] };
            let ends = &self.ends[first..last as usize];
            first = last as usize;
            (start as usize, ends)
        })
    }

    /// Return, for each segment, whether the systems' tokens differ.
    pub(crate) fn differing_segments(&self) -> impl Iterator<Item = bool> {
        self.segments().map(|(start, ends)| {
            let first = &self.tokens[start..ends[0] as usize];
            let mut following = ends[..self.systems].windows(2);
            following.any(|ends| &self.tokens[ends[0] as usize..ends[1] as usize] != first)
        })
    }

    /// Return the frequency of each token of the vocabulary in the references.
    pub fn reference_frequencies(&self) -> Vec<u64> {
        let mut counts = vec![0; self.vocabulary.count()];
        for (start, ends) in self.segments() {
            let first = self.systems.checked_sub(1).map_or(start, |last| ends[last] as usize);
            for &token in &self.tokens[first..ends.last().map_or(first, |&end| end as usize)] {
                counts[token as usize] += 1;
            }
        }
        counts
    }

    /// Return a row of counts per segment: the number of words in each frequency bucket, in the
    /// references and then in each system. The reference count of a word is its largest count in
    /// one reference; system counts are clipped to that number. A bucket contains the tokens whose
    /// frequency is at least its edge and below the next edge. Tokens below the first edge are not
    /// counted.
    pub fn count_frequency_buckets(&self, frequencies: &[u64], edges: &[u64]) -> Vec<i64> {
        let count = edges.len();
        let bucket_number = |frequency| edges.partition_point(|edge| edge <= frequency) as u8;
        let buckets: Vec<u8> = frequencies.iter().map(bucket_number).collect();
        let width = (1 + self.systems) * count;
        let mut rows = vec![0; self.segment_count() * width];
        let mut tally = Tally::new(self.systems, self.vocabulary.count(), 0);
        let mut work = Work::default();
        for ((start, ends), row) in self.segments().zip(rows.chunks_exact_mut(width)) {
            work.add(8 * (ends.last().map_or(0, |&end| end as usize) - start));
            tally.count_segment(&self.tokens, start, ends, |token, segment_counts, _| {
                if let Some(bucket) = usize::from(buckets[token as usize]).checked_sub(1) {
                    row[bucket] += i64::from(segment_counts.max_reference_count);
                    for (system, &times) in segment_counts.system_counts.iter().enumerate() {
                        row[(1 + system) * count + bucket] +=
                            i64::from(times.min(segment_counts.max_reference_count));
                    }
                }
            });
        }
        rows
    }
}

/// The id that means "no n-gram".
pub(crate) const NONE: u32 = u32::MAX;

/// The counts of one n-gram or token in a segment.
pub(crate) struct SegmentCounts<'a> {
    /// The count in each system.
    pub system_counts: &'a [u32],
    /// The largest count in a reference.
    pub max_reference_count: u32,
    /// The total count in all references.
    pub reference_total: u32,
}

/// Counts of the tokens or n-grams of one segment by id, next to user values, so that values used
/// together share cache lines.
pub(crate) struct Tally {
    systems: usize,
    user_values: usize,
    /// For each id: the count in each system, [`SegmentCounts::max_reference_count`], the count in
    /// the current reference, [`SegmentCounts::reference_total`]; then the user values.
    records: Vec<u32>,
}

impl Tally {
    /// Create zero counts for ids below `count`, with `user_values` user values per id.
    pub(crate) fn new(systems: usize, count: usize, user_values: usize) -> Self {
        Self { systems, user_values, records: vec![0; count * (systems + 3 + user_values)] }
    }

    /// Return the number of ids.
    pub(crate) fn id_count(&self) -> usize {
        self.records.len() / (self.systems + 3 + self.user_values)
    }

    /// Return the user values of an id.
    pub(crate) fn user_values_of(&self, id: u32) -> &[u32] {
        let width = self.systems + 3 + self.user_values;
        &self.records[id as usize * width..][..width][self.systems + 3..]
    }

    /// Pass each distinct id of a segment to `take`, with its counts and user values. The segment's
    /// texts end at `ends` in `ids`, systems first.
    #[inline(always)]
    pub(crate) fn count_segment(
        &mut self,
        ids: &[u32],
        start: usize,
        ends: &[u32],
        mut take: impl FnMut(u32, SegmentCounts<'_>, &mut [u32]),
    ) {
        let Self { systems, user_values: kept, records } = self;
        let systems = *systems;
        let width = systems + 3 + *kept;
        let mut first = start;
        for (text, &end) in ends.iter().enumerate() {
            let column = if text < systems { text } else { systems + 1 };
            let text_ids = &ids[first..end as usize];
            first = end as usize;
            for &id in text_ids.iter().filter(|&&number| number != NONE) {
                records[id as usize * width + column] += 1;
            }
            if text >= systems {
                for &id in text_ids.iter().filter(|&&number| number != NONE) {
                    let [max_count, current, total] =
                        &mut records[id as usize * width + systems..][..3]
                    else {
                        continue;
                    };
                    *max_count = (*max_count).max(*current);
                    *total += *current;
                    *current = 0;
                }
            }
        }
        for &id in ids[start..first].iter().filter(|&&number| number != NONE) {
            let record = &mut records[id as usize * width..][..width];
            let (counts, user_values) = record.split_at_mut(systems + 3);
            if counts.iter().any(|&count| count > 0) {
                let segment_counts = SegmentCounts {
                    system_counts: &counts[..systems],
                    max_reference_count: counts[systems],
                    reference_total: counts[systems + 2],
                };
                take(id, segment_counts, user_values);
                counts.fill(0);
            }
        }
    }
}
