//! A set of texts against itself: each with all the others as references, from one count of all
//! n-grams; and how many of the n-grams are different ones.
//!
//! Tokens get numbers, then n-grams, order after order: one of order n is the number of its first
//! n - 1 tokens and its last token. A text's n-gram is clipped by its highest count in the others:
//! the highest of all, or the second if the highest is this text's own. What only one text has
//! matches nothing, nor does any n-gram that it begins, so these are not looked at again.
//!
//! Threads share the work by first tokens: an n-gram and all that it begins belong to one thread.

use crate::bleu::ReferenceLength;
use crate::error::Error;
use crate::ids::Numbers;
use crate::interrupt::{self, Work, in_threads};
use crate::lex::{Lexer, Scratch};
use crate::pairwise::missing;
use crate::text_batches::{Source, Want};
use crate::token_corpus::Vocabulary;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Mutex, PoisonError};

/// Bytes lexed at a time.
const BATCH_BYTES: usize = 1 << 16;

/// Stands for no text.
const NOBODY: u32 = u32::MAX;

/// Texts as numbers of tokens.
#[derive(Default)]
pub struct Set {
    tokens: Vec<u32>,
    /// The end of each text in `tokens`.
    ends: Vec<u32>,
    /// The number of different tokens.
    vocabulary: usize,
}

impl Set {
    /// Reads a source, up to about `most` texts of it.
    pub fn read(mut source: Box<dyn Source>, lexer: &Lexer, most: usize) -> Result<Self, Error> {
        let mut set = Self::default();
        let mut vocabulary = Vocabulary::default();
        let mut scratch = Scratch::default();
        while set.count() < most {
            interrupt::poll();
            let Some(batch) = source.next(Want::Bytes(BATCH_BYTES)).map_err(missing)? else {
                break;
            };
            for block in batch.streams.iter().take(1) {
                let mut lexed = lexer.lex(block, &mut scratch).map_err(|bad| Error::Utf8 {
                    input: source.name().to_owned(),
                    segment: (set.count() + bad.segment) as u64 + 1,
                    offset: None,
                    byte: bad.byte,
                })?;
                for _ in 0..batch.count.min(most - set.count()) {
                    let Some(view) = lexed.next_segment() else {
                        let segment = set.count() as u64 + 1;
                        let input = source.name().to_owned();
                        return Err(Error::MissingText { input, segment });
                    };
                    vocabulary.number_all(&view, |number| set.tokens.push(number));
                    set.ends.push(set.tokens.len() as u32);
                }
            }
            // Positions are 32-bit numbers, of which one stands for nothing.
            if set.tokens.len() >= (u32::MAX >> 1) as usize || set.count() >= NOBODY as usize {
                let problem = "more than 2,147,483,647 tokens; take a sample";
                return Err(Error::Input(format!("{}: {problem}", source.name())));
            }
        }
        set.vocabulary = vocabulary.count();
        Ok(set)
    }

    /// The number of texts.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The number of tokens of each text.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(&end, start)| (end - start) as usize)
    }

    /// The rows of BLEU ([`crate::bleu::Columns`]) of each text with all the others as references.
    ///
    /// Of the rule [`ReferenceLength::Average`] the column has the sum of the others' lengths.
    /// There must be at least two texts.
    pub fn rows(
        &self,
        orders: usize,
        rule: ReferenceLength,
        at_least_one: bool,
        workers: usize,
    ) -> Vec<i64> {
        let width = 2 + 2 * orders;
        let least = usize::from(at_least_one);
        let mut rows = vec![0; self.count() * width];
        let lengths: Vec<usize> = self.lengths().collect();
        let references = others(&lengths, rule);
        for ((row, &length), reference) in
            rows.chunks_exact_mut(width).zip(&lengths).zip(references)
        {
            row[0] = length as i64;
            row[1] = reference as i64;
            for (order, total) in row[2 + orders..].iter_mut().enumerate() {
                *total = length.saturating_sub(order).max(least) as i64;
            }
        }
        let mut parts = self.parts(workers);
        for order in 0..orders {
            let threads = parts.len();
            let rest = Mutex::new(parts.iter_mut());
            let next = || rest.lock().unwrap_or_else(PoisonError::into_inner).next();
            let work = || {
                while let Some(part) = next() {
                    part.count(self, order);
                }
            };
            in_threads(threads, work, work);
            for part in &mut parts {
                for (row, matched) in rows.chunks_exact_mut(width).zip(&mut part.matched) {
                    row[2 + order] += i64::from(std::mem::take(matched));
                }
            }
        }
        rows
    }

    /// The positions of tokens, shared out among `workers` by the tokens.
    fn parts(&self, workers: usize) -> Vec<Part> {
        let workers = workers.clamp(1, self.vocabulary.max(1));
        let part = || Part { matched: vec![0; self.count()], ..Part::default() };
        let mut parts: Vec<_> = (0..workers).map(|_| part()).collect();
        if let [only] = parts.as_mut_slice() {
            only.positions = (0..self.tokens.len() as u32).collect();
        } else {
            let mut frequencies = vec![0usize; self.vocabulary];
            for &token in &self.tokens {
                frequencies[token as usize] += 1;
            }
            // Each token goes to whoever has least to do so far.
            let mut loads: BinaryHeap<_> =
                (0..workers).map(|worker| Reverse((0, worker))).collect();
            let mut owners = vec![0; self.vocabulary];
            for (owner, frequency) in owners.iter_mut().zip(frequencies) {
                if let Some(Reverse((load, worker))) = loads.pop() {
                    *owner = worker;
                    loads.push(Reverse((load + frequency, worker)));
                }
            }
            for (at, &token) in self.tokens.iter().enumerate() {
                parts[owners[token as usize]].positions.push(at as u32);
            }
        }
        for part in &mut parts {
            part.grams = vec![0; part.positions.len()];
        }
        parts
    }

    /// The number of different n-grams of an order, counted from 1; and for each text its
    /// tokens, its n-grams, and how many of these are different ones.
    pub fn distinct(&self, order: usize) -> (usize, Vec<i64>) {
        let mut grams = vec![0u32; self.tokens.len()];
        let mut rows = vec![0; 3 * self.count()];
        let mut different = 0;
        for before in 0..order {
            let is_last = before + 1 == order;
            let mut numbers = Numbers::default();
            let mut work = Work::default();
            // For each n-gram the last text that had it.
            let mut owners: Vec<u32> = Vec::new();
            let mut start = 0;
            for (text, (&end, row)) in self.ends.iter().zip(rows.chunks_exact_mut(3)).enumerate() {
                let end = end as usize;
                let count = (end - start).saturating_sub(before);
                let last = self.tokens[(start + before).min(end)..end].iter();
                for (gram, &token) in grams[start..end].iter_mut().zip(last) {
                    work.done(4);
                    let key = u64::from(*gram) << 32 | u64::from(token);
                    let (number, new) = numbers.number(key);
                    *gram = number;
                    if is_last {
                        if new {
                            owners.push(NOBODY);
                        }
                        let owner = &mut owners[number as usize];
                        row[2] += i64::from(*owner != text as u32);
                        *owner = text as u32;
                    }
                }
                (row[0], row[1]) = ((end - start) as i64, count as i64);
                start = end;
            }
            different = numbers.count();
        }
        (different, rows)
    }
}

/// For each text the reference length of all the others.
fn others(lengths: &[usize], rule: ReferenceLength) -> Vec<usize> {
    // The number of texts of each length, and the first of them.
    let mut known: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (text, &length) in lengths.iter().enumerate() {
        known.entry(length).or_insert((0, text)).0 += 1;
    }
    let all: usize = lengths.iter().sum();
    let below = |length| known.range(..length).next_back().map(|(&length, _)| length);
    let above = |length| known.range(length + 1..).next().map(|(&length, _)| length);
    let closest = |own: usize| {
        if known[&own].0 > 1 {
            return own;
        }
        match (below(own), above(own)) {
            (Some(shorter), Some(longer)) => {
                let prefers_longer = match (own - shorter).cmp(&(longer - own)) {
                    std::cmp::Ordering::Less => false,
                    std::cmp::Ordering::Greater => true,
                    std::cmp::Ordering::Equal => match rule {
                        ReferenceLength::ClosestFirst => known[&longer].1 < known[&shorter].1,
                        ReferenceLength::ClosestLonger => true,
                        _ => false,
                    },
                };
                if prefers_longer { longer } else { shorter }
            }
            (one, other) => one.or(other).unwrap_or(own),
        }
    };
    let outermost = |own: usize, outer: Option<usize>, inner: Option<usize>| match outer {
        // An only longest or shortest text leaves the next one.
        Some(length) if length == own && known[&own].0 == 1 => inner.unwrap_or(own),
        Some(length) => length,
        None => own,
    };
    let of = |&own: &usize| match rule {
        ReferenceLength::Shortest => outermost(own, known.keys().next().copied(), above(own)),
        ReferenceLength::Longest => outermost(own, known.keys().next_back().copied(), below(own)),
        ReferenceLength::Average => all - own,
        ReferenceLength::AverageTruncated => (all - own) / (lengths.len() - 1).max(1),
        _ => closest(own),
    };
    lengths.iter().map(of).collect()
}

/// The counts of an n-gram in the texts.
#[derive(Clone, Copy)]
struct Record {
    /// The text that is being read, or was the last to have it, and how often it does.
    text: u32,
    here: u32,
    /// The highest count, whose it is, and the second highest.
    first: u32,
    holder: u32,
    second: u32,
}

impl Record {
    const NEW: Self = Self { text: NOBODY, here: 0, first: 0, holder: NOBODY, second: 0 };

    /// Counts it once more in `text`; gives its count there before.
    #[inline(always)]
    fn once_more(&mut self, text: u32) -> u32 {
        if self.text != text {
            self.settle();
            (self.text, self.here) = (text, 0);
        }
        self.here += 1;
        self.here - 1
    }

    /// Takes the count of the last text into account.
    #[inline(always)]
    fn settle(&mut self) {
        if self.here > self.first {
            self.second = self.first;
            (self.first, self.holder) = (self.here, self.text);
        } else if self.here > self.second {
            self.second = self.here;
        }
    }
}

/// One thread's share.
#[derive(Default)]
struct Part {
    /// Where the n-grams start that may still match, and their numbers in the last order.
    positions: Vec<u32>,
    grams: Vec<u32>,
    /// The number of n-grams of the last order that match in each text.
    matched: Vec<u32>,
}

impl Part {
    /// Counts the matches of the n-grams that have `before` tokens before their last one, and
    /// forgets those that only one text has.
    fn count(&mut self, set: &Set, before: usize) {
        let Self { positions, grams, matched } = self;
        let mut numbers = Numbers::default();
        let mut work = Work::default();
        let mut records: Vec<Record> = Vec::new();
        let (mut next, mut kept) = (0, 0);
        for (text, &end) in set.ends.iter().enumerate() {
            while let Some(&at) = positions.get(next)
                && at < end
            {
                work.done(4);
                let last = at + before as u32;
                if last < end {
                    let token = set.tokens[last as usize];
                    let key = u64::from(grams[next]) << 32 | u64::from(token);
                    let (number, new) = numbers.number(key);
                    if new {
                        records.push(Record::NEW);
                    }
                    records[number as usize].once_more(text as u32);
                    (positions[kept], grams[kept]) = (at, number);
                    kept += 1;
                }
                next += 1;
            }
        }
        positions.truncate(kept);
        grams.truncate(kept);
        for record in &mut records {
            record.settle();
            (record.text, record.here) = (NOBODY, 0);
        }
        (next, kept) = (0, 0);
        for ((text, &end), matched) in (0..).zip(&set.ends).zip(matched) {
            while let Some(&at) = positions.get(next)
                && at < end
            {
                work.done(4);
                let gram = grams[next];
                let record = &mut records[gram as usize];
                if record.second > 0 {
                    if record.text != text {
                        (record.text, record.here) = (text, 0);
                    }
                    let most = if record.holder == text { record.second } else { record.first };
                    *matched += u32::from(record.here < most);
                    record.here += 1;
                    (positions[kept], grams[kept]) = (at, gram);
                    kept += 1;
                }
                next += 1;
            }
        }
        positions.truncate(kept);
        grams.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn set(texts: &[Vec<u32>]) -> Set {
        let mut set = Set { vocabulary: 4, ..Set::default() };
        for text in texts {
            set.tokens.extend(text);
            set.ends.push(set.tokens.len() as u32);
        }
        set
    }

    fn counts(text: &[u32], order: usize) -> HashMap<&[u32], i64> {
        let mut counts = HashMap::new();
        for gram in text.windows(order) {
            *counts.entry(gram).or_insert(0) += 1;
        }
        counts
    }

    fn texts() -> impl Strategy<Value = Vec<Vec<u32>>> {
        prop::collection::vec(prop::collection::vec(0u32..4, 0..9), 2..7)
    }

    proptest! {
        /// Matches are those of the definition, for any number of threads.
        #[test]
        fn all_others_are_references(texts in texts(), orders in 1usize..6, workers in 1usize..5) {
            let rule = ReferenceLength::Closest;
            let rows = set(&texts).rows(orders, rule, false, workers);
            for (own, row) in rows.chunks_exact(2 + 2 * orders).enumerate() {
                prop_assert_eq!(row[0], texts[own].len() as i64);
                for order in 1..=orders {
                    let most = |gram: &[u32]| {
                        let others = texts.iter().enumerate().filter(|&(other, _)| other != own);
                        let others = others.map(|(_, text)| counts(text, order));
                        others.map(|counts| counts.get(gram).copied().unwrap_or(0)).max().unwrap()
                    };
                    let own = counts(&texts[own], order);
                    let expected: i64 = own.iter().map(|(gram, &count)| count.min(most(gram))).sum();
                    prop_assert_eq!(row[1 + order], expected);
                }
            }
        }

        /// Different n-grams, in all texts and in each.
        #[test]
        fn distinct_ones(texts in texts(), order in 1usize..6) {
            let (different, rows) = set(&texts).distinct(order);
            let mut all = HashMap::new();
            for (text, row) in texts.iter().zip(rows.chunks_exact(3)) {
                let own = counts(text, order);
                let expected = [text.len() as i64, own.values().sum(), own.len() as i64];
                prop_assert_eq!(row, expected);
                all.extend(own);
            }
            prop_assert_eq!(different, all.len());
        }

        /// The reference length is the rule's, of all lengths but the text's own.
        #[test]
        fn lengths_of_the_others(lengths in prop::collection::vec(0usize..9, 2..7)) {
            for (_, rule) in ReferenceLength::NAMED {
                for (own, found) in others(&lengths, rule).into_iter().enumerate() {
                    let rest: Vec<usize> = [&lengths[..own], &lengths[own + 1..]].concat();
                    let distance = |other: &usize| other.abs_diff(lengths[own]);
                    let sum: usize = rest.iter().sum();
                    let rest = rest.iter().copied();
                    let expected = match rule {
                        ReferenceLength::Closest => rest.min_by_key(|n| (distance(n), *n)),
                        ReferenceLength::ClosestFirst => rest.min_by_key(distance),
                        ReferenceLength::ClosestLonger => {
                            rest.min_by_key(|n| (distance(n), Reverse(*n)))
                        }
                        ReferenceLength::Shortest => rest.min(),
                        ReferenceLength::Longest => rest.max(),
                        ReferenceLength::Average => Some(sum),
                        ReferenceLength::AverageTruncated => Some(sum / rest.count()),
                    };
                    prop_assert_eq!(Some(found), expected);
                }
            }
        }
    }
}
