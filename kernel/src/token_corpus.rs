//! A corpus as numbers of tokens: what is counted beside the metrics is counted on these.
//!
//! Equal tokens have equal numbers, and different ones different numbers: keys find candidates, and
//! where a key is a hash the bytes decide. Memory is four bytes for each token of each text, and the
//! text of each different token once; [`Corpus::read`] stops at a number of tokens that is given.

use crate::bleu;
use crate::count::{Metric, count_next};
use crate::error::Error;
use crate::ids::TokenNumbers;
use crate::interrupt::{self, Work};
use crate::lex::{Lexer, Scratch};
use crate::ngrams::{self, MOST_ORDERS};
use crate::text_batches::{Source, Want};
use crate::tokens::View;

/// Bytes of the first system read at a time.
const BATCH_BYTES: usize = 1 << 16;

/// The different tokens.
#[derive(Default)]
pub struct Vocabulary {
    numbers: TokenNumbers,
    text: Vec<u8>,
    /// Where each token starts in `text`.
    starts: Vec<usize>,
}

impl Vocabulary {
    /// The number of tokens.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The token with a number.
    pub fn token(&self, number: u32) -> &[u8] {
        token(&self.text, &self.starts, number)
    }

    /// The numbers of a text's tokens, new ones where they are new.
    pub(crate) fn number_all(&mut self, text: &View<'_>, mut take: impl FnMut(u32)) {
        let mut work = Work::default();
        for (i, &key) in text.keys().iter().enumerate() {
            work.done(8);
            take(self.number(key, text.token(i)));
        }
    }

    #[inline(always)]
    fn number(&mut self, key: u64, bytes: &[u8]) -> u32 {
        let Self { numbers, text, starts } = self;
        let same = |number| token(text, starts, number) == bytes;
        let (number, new) = numbers.number(key, bytes, starts.len() as u32, same);
        if new {
            starts.push(text.len());
            text.extend_from_slice(bytes);
        }
        number
    }
}

fn token<'a>(text: &'a [u8], starts: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    &text[starts[number]..starts.get(number + 1).copied().unwrap_or(text.len())]
}

/// The tokens of several systems and of the references, segment by segment.
#[derive(Default)]
pub struct Corpus {
    /// The tokens by their numbers.
    pub vocabulary: Vocabulary,
    /// The number of systems.
    pub systems: usize,
    /// The numbers of all tokens: of a segment those of each system, then of each reference.
    pub(crate) tokens: Vec<u32>,
    /// The end of each text in `tokens`.
    pub(crate) ends: Vec<u32>,
    /// The end of each segment in `ends`.
    segments: Vec<u32>,
    /// True if there are segments that were not read.
    pub truncated: bool,
    /// The number of n-grams of each system per order; last, those of all references.
    pub produced: Vec<[u64; MOST_ORDERS]>,
    /// The number of those that match, per system.
    pub matched: Vec<[u64; MOST_ORDERS]>,
}

impl Corpus {
    /// Reads the texts of systems and references, up to about `most` tokens, to look at n-grams up
    /// to `orders`. `check` is called now and then, and may stop it.
    pub fn read(
        systems: Vec<Box<dyn Source>>,
        references: Vec<Box<dyn Source>>,
        lexer: &Lexer,
        orders: usize,
        most: usize,
        check: &mut dyn FnMut(u64) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let count = systems.len();
        let mut corpus = Self {
            systems: count,
            produced: vec![[0; MOST_ORDERS]; count + 1],
            matched: vec![[0; MOST_ORDERS]; count],
            ..Self::default()
        };
        // A row is the length, the matches of each order and the n-grams of each order.
        let columns = bleu::Columns { lengths: Vec::new(), orders, at_least_one: false };
        let mut row = vec![0; columns.width()];
        let mut matching = ngrams::Scratch::default();
        let mut sources: Vec<_> = systems.into_iter().chain(references).collect();
        let most = most.min(u32::MAX as usize >> 1);
        let mut scratches: Vec<Scratch> = Vec::new();
        loop {
            check(corpus.count() as u64)?;
            let want = if corpus.tokens.len() < most { BATCH_BYTES } else { 1 };
            let mut blocks = Vec::new();
            let mut count = 0;
            for (i, source) in sources.iter_mut().enumerate() {
                let want = if i == 0 { Want::Bytes(want) } else { Want::Segments(count.max(1)) };
                let batch = source.next(want)?;
                let given = batch.as_ref().map_or(0, |batch| batch.count);
                if i > 0 && given != count {
                    let problem = "the inputs have different numbers of segments";
                    return Err(Error::Input(format!("{}: {problem}", source.name())));
                }
                count = given;
                blocks.extend(batch.into_iter().flat_map(|batch| batch.streams));
            }
            if count == 0 {
                return Ok(corpus);
            }
            if corpus.tokens.len() >= most {
                corpus.truncated = true;
                return Ok(corpus);
            }
            if scratches.len() < blocks.len() {
                scratches.resize_with(blocks.len(), Scratch::default);
            }
            let lexed = blocks.iter().zip(&mut scratches);
            let lexed = lexed.map(|(block, scratch)| lexer.lex(block, scratch));
            let mut lexed = lexed.collect::<Result<Vec<_>, _>>()?;
            for _ in 0..count {
                interrupt::poll();
                let before = lexed.clone();
                let mut views: Vec<View<'_>> = Vec::with_capacity(lexed.len());
                for (i, text) in lexed.iter_mut().enumerate() {
                    match text.next_segment() {
                        Some(view) => views.push(view),
                        None if i < corpus.systems => {
                            let input = sources[i].name().to_owned();
                            let segment = corpus.count() as u64 + 1;
                            return Err(Error::MissingHypothesis { input, segment });
                        }
                        None => {}
                    }
                }
                corpus.add(&views);
                let (hypotheses, references) = before.split_at(corpus.systems);
                for (matched, text) in corpus.matched.iter_mut().zip(hypotheses) {
                    let set = lexer.instructions;
                    count_next(set, &columns, text, references, &mut matching, &mut row);
                    for (sum, &count) in matched.iter_mut().zip(&row[1..=orders]) {
                        *sum += count as u64;
                    }
                }
            }
        }
    }

    /// Adds a segment: the texts of the systems, and the references that there are.
    fn add(&mut self, texts: &[View<'_>]) {
        for (text, view) in texts.iter().enumerate() {
            let mut work = Work::default();
            for (at, &key) in view.keys().iter().enumerate() {
                work.done(8);
                self.tokens.push(self.vocabulary.number(key, view.token(at)));
            }
            self.ends.push(self.tokens.len() as u32);
            let produced = &mut self.produced[text.min(self.systems)];
            for (order, sum) in (1..).zip(produced) {
                *sum += (view.count() + 1).saturating_sub(order) as u64;
            }
        }
        self.segments.push(self.ends.len() as u32);
    }

    /// The number of segments read.
    pub fn count(&self) -> usize {
        self.segments.len()
    }

    /// The ends of the texts of each segment, the systems' first, and where the first one starts.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut first = 0;
        self.segments.iter().map(move |&last| {
            let start = if first == 0 { 0 } else { self.ends[first - 1] };
            let ends = &self.ends[first..last as usize];
            first = last as usize;
            (start as usize, ends)
        })
    }

    /// Of each segment whether the systems' tokens differ.
    pub(crate) fn differing(&self) -> impl Iterator<Item = bool> {
        self.segments().map(|(start, ends)| {
            let first = &self.tokens[start..ends[0] as usize];
            let mut others = ends[..self.systems].windows(2);
            others.any(|ends| &self.tokens[ends[0] as usize..ends[1] as usize] != first)
        })
    }

    /// The frequency of each token of the vocabulary in the references.
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

    /// For each segment a row: how many words of each bucket the references have (of each word as
    /// many as the reference that has it most often), and how many of them each system has, system
    /// after system. A bucket has the tokens that are as frequent as its edge, or more frequent, up
    /// to the next edge; less frequent ones are in none.
    pub fn buckets(&self, frequencies: &[u64], edges: &[u64]) -> Vec<i64> {
        let count = edges.len();
        let above = |frequency| edges.partition_point(|edge| edge <= frequency) as u8;
        let buckets: Vec<u8> = frequencies.iter().map(above).collect();
        let width = (1 + self.systems) * count;
        let mut rows = vec![0; self.count() * width];
        let mut tally = Tally::new(self.systems, self.vocabulary.count(), 0);
        let mut work = Work::default();
        for ((start, ends), row) in self.segments().zip(rows.chunks_exact_mut(width)) {
            work.done(8 * (ends.last().map_or(0, |&end| end as usize) - start));
            tally.segment(&self.tokens, start, ends, |token, here, _| {
                if let Some(bucket) = usize::from(buckets[token as usize]).checked_sub(1) {
                    row[bucket] += i64::from(here.reference);
                    for (system, &times) in here.produced.iter().enumerate() {
                        row[(1 + system) * count + bucket] += i64::from(times.min(here.reference));
                    }
                }
            });
        }
        rows
    }
}

/// Stands for no n-gram.
pub(crate) const NONE: u32 = u32::MAX;

/// The counts of one n-gram or token in a segment.
pub(crate) struct Here<'a> {
    /// Its count in each system.
    pub produced: &'a [u32],
    /// Its highest count in a reference.
    pub reference: u32,
    /// Its count in all references together.
    pub occurrences: u32,
}

/// Counts of what one segment has, by number, beside whatever is kept for each number: what is used
/// together lies together.
pub(crate) struct Tally {
    systems: usize,
    kept: usize,
    /// For each number: how often each system has it, [`Here::reference`], how often the current
    /// reference has it, [`Here::occurrences`]; then what is kept.
    records: Vec<u32>,
}

impl Tally {
    /// For numbers below `count`, with `kept` integers for each.
    pub(crate) fn new(systems: usize, count: usize, kept: usize) -> Self {
        Self { systems, kept, records: vec![0; count * (systems + 3 + kept)] }
    }

    /// The number of numbers given.
    pub(crate) fn count(&self) -> usize {
        self.records.len() / (self.systems + 3 + self.kept)
    }

    /// The key with this number.
    pub(crate) fn kept(&self, number: u32) -> &[u32] {
        let width = self.systems + 3 + self.kept;
        &self.records[number as usize * width..][..width][self.systems + 3..]
    }

    /// Hands each number of a segment to `take`, once, with how often it is there and what is kept
    /// for it. The segment's texts end at `ends` in `numbers`, those of the systems first.
    #[inline(always)]
    pub(crate) fn segment(
        &mut self,
        numbers: &[u32],
        start: usize,
        ends: &[u32],
        mut take: impl FnMut(u32, Here<'_>, &mut [u32]),
    ) {
        let Self { systems, kept, records } = self;
        let systems = *systems;
        let width = systems + 3 + *kept;
        let mut first = start;
        for (text, &end) in ends.iter().enumerate() {
            let column = if text < systems { text } else { systems + 1 };
            let text_numbers = &numbers[first..end as usize];
            first = end as usize;
            for &number in text_numbers.iter().filter(|&&number| number != NONE) {
                records[number as usize * width + column] += 1;
            }
            if text >= systems {
                for &number in text_numbers.iter().filter(|&&number| number != NONE) {
                    let [most, current, all] =
                        &mut records[number as usize * width + systems..][..3]
                    else {
                        continue;
                    };
                    *most = (*most).max(*current);
                    *all += *current;
                    *current = 0;
                }
            }
        }
        for &number in numbers[start..first].iter().filter(|&&number| number != NONE) {
            let record = &mut records[number as usize * width..][..width];
            let (counts, kept) = record.split_at_mut(systems + 3);
            if counts.iter().any(|&count| count > 0) {
                let here = Here {
                    produced: &counts[..systems],
                    reference: counts[systems],
                    occurrences: counts[systems + 2],
                };
                take(number, here, kept);
                counts.fill(0);
            }
        }
    }
}
