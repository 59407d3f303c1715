//! Counts of distinct n-grams in a set of texts, and leave-one-out counts, where each text has all
//! other texts as references.
//!
//! All texts are counted together. N-grams get ids, order by order: the id of an n-gram of order n
//! is determined by the id of its first n - 1 tokens and its last token. A text's n-gram is clipped
//! to its largest count in the other texts. That is the largest count in any text, or the second
//! largest if this text has the largest. An n-gram that occurs in only one text matches nothing,
//! and neither do longer n-grams with that prefix, so these are skipped.
//!
//! Threads share the work by first token: one thread counts all n-grams that start with the same
//! token.

use crate::bleu::ReferenceLength;
use crate::error::Error;
use crate::ids::KeyIds;
use crate::interrupt::{Work, in_threads, lock};
use crate::lex::Lexer;
use crate::pairwise::lex_source;
use crate::text_batches::{BatchSize, Source};
use crate::token_corpus::Vocabulary;
use crate::tokens::View;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Mutex;

/// Number of bytes lexed at a time.
const BATCH_BYTES: usize = 1 << 16;

/// The index that means "no text".
const NO_TEXT: u32 = u32::MAX;

/// A set of texts, stored as token ids.
#[derive(Default)]
pub struct TextSet {
    tokens: Vec<u32>,
    /// The end of each text in `tokens`.
    ends: Vec<u32>,
    /// The number of distinct tokens.
    vocabulary_size: usize,
}

impl TextSet {
    /// Read about `max_texts` texts of a source, or all texts if there are fewer.
    pub fn read_texts(
        mut source: Box<dyn Source>,
        lexer: &Lexer,
        max_texts: usize,
    ) -> Result<Self, Error> {
        let mut set = Self::default();
        let mut vocabulary = Vocabulary::default();
        let (text_count, token_count) = (Cell::new(0), Cell::new(0));
        // Positions are 32-bit integers, one of which is reserved.
        let is_too_large = || {
            token_count.get() >= (u32::MAX >> 1) as usize || text_count.get() >= NO_TEXT as usize
        };
        let next_size = || {
            let is_complete = text_count.get() >= max_texts || is_too_large();
            (!is_complete).then_some(BatchSize::Bytes(BATCH_BYTES))
        };
        let take_text = |view: &View<'_>| {
            if text_count.get() < max_texts {
                vocabulary.assign_ids(view, |id| set.tokens.push(id));
                set.ends.push(set.tokens.len() as u32);
                text_count.set(set.ends.len());
                token_count.set(set.tokens.len());
            }
        };
        lex_source(&mut *source, next_size, lexer, take_text, |_, _| {})?;
        if is_too_large() {
            let problem = "found more than 2,147,483,647 tokens. Use a sample of the texts";
            return Err(Error::Input(format!("{}: {problem}", source.name())));
        }
        set.vocabulary_size = vocabulary.count();
        Ok(set)
    }

    /// Return the number of texts.
    pub fn text_count(&self) -> usize {
        self.ends.len()
    }

    /// Return the number of tokens of each text.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(&end, start)| (end - start) as usize)
    }

    /// Return a row of BLEU's counts ([`crate::bleu::BleuColumns`]) for each text, with all other
    /// texts as references.
    ///
    /// For [`ReferenceLength::Average`], the column contains the sum of the other lengths instead
    /// of their mean. There must be at least two texts.
    pub fn bleu_rows(
        &self,
        max_order: usize,
        rule: ReferenceLength,
        at_least_one: bool,
        workers: usize,
    ) -> Vec<i64> {
        let width = 2 + 2 * max_order;
        let minimum_total = usize::from(at_least_one);
        let mut rows = vec![0; self.text_count() * width];
        let lengths: Vec<usize> = self.lengths().collect();
        let references = reference_lengths(&lengths, rule);
        for ((row, &length), reference) in
            rows.chunks_exact_mut(width).zip(&lengths).zip(references)
        {
            row[0] = length as i64;
            row[1] = reference as i64;
            for (order, total) in row[2 + max_order..].iter_mut().enumerate() {
                *total = length.saturating_sub(order).max(minimum_total) as i64;
            }
        }
        let mut thread_parts = self.split_positions(workers);
        for order in 0..max_order {
            let threads = thread_parts.len();
            let remaining_parts = Mutex::new(thread_parts.iter_mut());
            let next = || lock(&remaining_parts).next();
            let work = || {
                while let Some(part) = next() {
                    part.count_order(self, order);
                }
            };
            in_threads(threads, work, work);
            for part in &mut thread_parts {
                for (row, matched) in rows.chunks_exact_mut(width).zip(&mut part.match_counts) {
                    row[2 + order] += i64::from(std::mem::take(matched));
                }
            }
        }
        rows
    }

    /// Divide the tokens among `workers` threads, and return the positions that each thread counts.
    fn split_positions(&self, workers: usize) -> Vec<ThreadPart> {
        let workers = workers.clamp(1, self.vocabulary_size.max(1));
        let new_part =
            || ThreadPart { match_counts: vec![0; self.text_count()], ..ThreadPart::default() };
        let mut thread_parts: Vec<_> = (0..workers).map(|_| new_part()).collect();
        if let [single_part] = thread_parts.as_mut_slice() {
            single_part.positions = (0..self.tokens.len() as u32).collect();
        } else {
            let mut frequencies = vec![0usize; self.vocabulary_size];
            for &token in &self.tokens {
                frequencies[token as usize] += 1;
            }
            // Each token goes to the worker with the smallest load so far.
            let mut loads: BinaryHeap<_> =
                (0..workers).map(|worker| Reverse((0, worker))).collect();
            let mut owners = vec![0; self.vocabulary_size];
            for (owner, frequency) in owners.iter_mut().zip(frequencies) {
                if let Some(Reverse((load, worker))) = loads.pop() {
                    *owner = worker;
                    loads.push(Reverse((load + frequency, worker)));
                }
            }
            for (position, &token) in self.tokens.iter().enumerate() {
                thread_parts[owners[token as usize]].positions.push(position as u32);
            }
        }
        for part in &mut thread_parts {
            part.ngram_ids = vec![0; part.positions.len()];
        }
        thread_parts
    }

    /// Return the number of distinct n-grams of an order, counted from 1. Also return three numbers
    /// for each text: tokens, n-grams, and distinct n-grams.
    pub fn count_distinct(&self, order: usize) -> (usize, Vec<i64>) {
        let mut ngram_ids = vec![0u32; self.tokens.len()];
        let mut rows = vec![0; 3 * self.text_count()];
        // No text has an n-gram of a larger order.
        let starts = std::iter::once(&0).chain(&self.ends);
        let longest = starts.zip(&self.ends).map(|(start, end)| end - start).max().unwrap_or(0);
        let order = order.min(longest as usize + 1);
        let mut distinct_count = 0;
        for prefix_length in 0..order {
            let is_last = prefix_length + 1 == order;
            let mut ids = KeyIds::default();
            let mut work = Work::default();
            // The last text that contained each n-gram.
            let mut last_texts: Vec<u32> = Vec::new();
            let mut start = 0;
            for (text, (&end, row)) in self.ends.iter().zip(rows.chunks_exact_mut(3)).enumerate() {
                let end = end as usize;
                let count = (end - start).saturating_sub(prefix_length);
                let last_tokens = self.tokens[(start + prefix_length).min(end)..end].iter();
                for (gram, &token) in ngram_ids[start..end].iter_mut().zip(last_tokens) {
                    work.add(4);
                    let key = u64::from(*gram) << 32 | u64::from(token);
                    let (id, is_new) = ids.get_or_assign(key);
                    *gram = id;
                    if is_last {
                        if is_new {
                            last_texts.push(NO_TEXT);
                        }
                        let last_text = &mut last_texts[id as usize];
                        row[2] += i64::from(*last_text != text as u32);
                        *last_text = text as u32;
                    }
                }
                (row[0], row[1]) = ((end - start) as i64, count as i64);
                start = end;
            }
            distinct_count = ids.count();
        }
        (distinct_count, rows)
    }
}

/// Return the reference length for each text, computed from the lengths of all other texts.
fn reference_lengths(lengths: &[usize], rule: ReferenceLength) -> Vec<usize> {
    // For each length, the number of texts and the index of the first text.
    let mut texts_by_length: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (text, &length) in lengths.iter().enumerate() {
        texts_by_length.entry(length).or_insert((0, text)).0 += 1;
    }
    let total_length: usize = lengths.iter().sum();
    let next_shorter =
        |length| texts_by_length.range(..length).next_back().map(|(&length, _)| length);
    let next_longer =
        |length| texts_by_length.range(length + 1..).next().map(|(&length, _)| length);
    let closest_length = |length: usize| {
        if texts_by_length[&length].0 > 1 {
            return length;
        }
        match (next_shorter(length), next_longer(length)) {
            (Some(shorter), Some(longer)) => {
                let prefers_longer = match (length - shorter).cmp(&(longer - length)) {
                    std::cmp::Ordering::Less => false,
                    std::cmp::Ordering::Greater => true,
                    std::cmp::Ordering::Equal => match rule {
                        ReferenceLength::ClosestFirst => {
                            texts_by_length[&longer].1 < texts_by_length[&shorter].1
                        }
                        ReferenceLength::ClosestLonger => true,
                        _ => false,
                    },
                };
                if prefers_longer { longer } else { shorter }
            }
            (shorter, longer) => shorter.or(longer).unwrap_or(length),
        }
    };
    let extreme_length = |length: usize, extreme: Option<usize>, next: Option<usize>| match extreme
    {
        // If only this text has the extreme length, use the next length.
        Some(extreme) if extreme == length && texts_by_length[&length].0 == 1 => {
            next.unwrap_or(length)
        }
        Some(extreme) => extreme,
        None => length,
    };
    let reference_length = |&length: &usize| match rule {
        ReferenceLength::Shortest => {
            extreme_length(length, texts_by_length.keys().next().copied(), next_longer(length))
        }
        ReferenceLength::Longest => extreme_length(
            length,
            texts_by_length.keys().next_back().copied(),
            next_shorter(length),
        ),
        ReferenceLength::Average => total_length - length,
        ReferenceLength::AverageTruncated => (total_length - length) / (lengths.len() - 1).max(1),
        _ => closest_length(length),
    };
    lengths.iter().map(reference_length).collect()
}

/// The counts of an n-gram in the texts.
#[derive(Clone, Copy)]
struct CountsByText {
    /// The current text, or the last text that contains the n-gram, and the n-gram's count in that
    /// text.
    text: u32,
    text_count: u32,
    /// The largest count, the text with that count, and the second largest count.
    max_count: u32,
    max_text: u32,
    second_max: u32,
}

impl CountsByText {
    const EMPTY: Self =
        Self { text: NO_TEXT, text_count: 0, max_count: 0, max_text: NO_TEXT, second_max: 0 };

    /// Count one more occurrence in `text`, and return the previous count in that text.
    #[inline(always)]
    fn add_occurrence(&mut self, text: u32) -> u32 {
        if self.text != text {
            self.update_maxima();
            (self.text, self.text_count) = (text, 0);
        }
        self.text_count += 1;
        self.text_count - 1
    }

    /// Include the count of the last text in the maxima.
    #[inline(always)]
    fn update_maxima(&mut self) {
        if self.text_count > self.max_count {
            self.second_max = self.max_count;
            (self.max_count, self.max_text) = (self.text_count, self.text);
        } else if self.text_count > self.second_max {
            self.second_max = self.text_count;
        }
    }
}

/// The n-grams that one thread counts.
#[derive(Default)]
struct ThreadPart {
    /// The start positions of n-grams that may still match, and the ids of their prefixes.
    positions: Vec<u32>,
    ngram_ids: Vec<u32>,
    /// The number of matching n-grams of the last order in each text.
    match_counts: Vec<u32>,
}

impl ThreadPart {
    /// Count the matches of the n-grams with `prefix_length` tokens before the last token. Drop
    /// n-grams that occur in only one text.
    fn count_order(&mut self, set: &TextSet, prefix_length: usize) {
        let Self { positions, ngram_ids: grams, match_counts: matched } = self;
        let mut ids = KeyIds::default();
        let mut work = Work::default();
        let mut records: Vec<CountsByText> = Vec::new();
        let (mut position_index, mut kept_count) = (0, 0);
        for (text, &end) in set.ends.iter().enumerate() {
            while let Some(&start) = positions.get(position_index)
                && start < end
            {
                work.add(4);
                let last_position = start + prefix_length as u32;
                if last_position < end {
                    let token = set.tokens[last_position as usize];
                    let key = u64::from(grams[position_index]) << 32 | u64::from(token);
                    let (id, is_new) = ids.get_or_assign(key);
                    if is_new {
                        records.push(CountsByText::EMPTY);
                    }
                    records[id as usize].add_occurrence(text as u32);
                    (positions[kept_count], grams[kept_count]) = (start, id);
                    kept_count += 1;
                }
                position_index += 1;
            }
        }
        positions.truncate(kept_count);
        grams.truncate(kept_count);
        for record in &mut records {
            record.update_maxima();
            (record.text, record.text_count) = (NO_TEXT, 0);
        }
        (position_index, kept_count) = (0, 0);
        for ((text, &end), matched) in (0..).zip(&set.ends).zip(matched) {
            while let Some(&start) = positions.get(position_index)
                && start < end
            {
                work.add(4);
                let gram = grams[position_index];
                let record = &mut records[gram as usize];
                if record.second_max > 0 {
                    if record.text != text {
                        (record.text, record.text_count) = (text, 0);
                    }
                    let max_elsewhere =
                        if record.max_text == text { record.second_max } else { record.max_count };
                    *matched += u32::from(record.text_count < max_elsewhere);
                    record.text_count += 1;
                    (positions[kept_count], grams[kept_count]) = (start, gram);
                    kept_count += 1;
                }
                position_index += 1;
            }
        }
        positions.truncate(kept_count);
        grams.truncate(kept_count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Create a set of texts with four distinct tokens.
    fn to_set(texts: &[Vec<u32>]) -> TextSet {
        let mut set = TextSet { vocabulary_size: 4, ..TextSet::default() };
        for text in texts {
            set.tokens.extend(text);
            set.ends.push(set.tokens.len() as u32);
        }
        set
    }

    fn count_ngrams(text: &[u32], order: usize) -> HashMap<&[u32], i64> {
        let mut counts = HashMap::new();
        for gram in text.windows(order) {
            *counts.entry(gram).or_insert(0) += 1;
        }
        counts
    }

    fn random_texts() -> impl Strategy<Value = Vec<Vec<u32>>> {
        prop::collection::vec(prop::collection::vec(0u32..4, 0..9), 2..7)
    }

    proptest! {
        #[test]
        fn test_rows_match_definition(texts in random_texts(), max_order in 1usize..6, workers in 1usize..5) {
            let rule = ReferenceLength::Closest;
            let rows = to_set(&texts).bleu_rows(max_order, rule, false, workers);
            for (text_index, row) in rows.chunks_exact(2 + 2 * max_order).enumerate() {
                prop_assert_eq!(row[0], texts[text_index].len() as i64);
                for order in 1..=max_order {
                    let max_elsewhere = |gram: &[u32]| {
                        let other_texts = texts.iter().enumerate().filter(|&(i, _)| i != text_index);
                        let other_counts = other_texts.map(|(_, tokens)| count_ngrams(tokens, order));
                        other_counts.map(|counts| counts.get(gram).copied().unwrap_or(0)).max().unwrap()
                    };
                    let ngram_counts = count_ngrams(&texts[text_index], order);
                    let expected: i64 = ngram_counts.iter().map(|(gram, &count)| count.min(max_elsewhere(gram))).sum();
                    prop_assert_eq!(row[1 + order], expected);
                }
            }
        }

        #[test]
        fn test_distinct_ngrams_are_counted(texts in random_texts(), order in 1usize..6) {
            let (distinct_count, rows) = to_set(&texts).count_distinct(order);
            let mut all_ngrams = HashMap::new();
            for (text, row) in texts.iter().zip(rows.chunks_exact(3)) {
                let ngram_counts = count_ngrams(text, order);
                let expected = [text.len() as i64, ngram_counts.values().sum(), ngram_counts.len() as i64];
                prop_assert_eq!(row, expected);
                all_ngrams.extend(ngram_counts);
            }
            prop_assert_eq!(distinct_count, all_ngrams.len());
        }

        #[test]
        fn test_reference_lengths_follow_rules(lengths in prop::collection::vec(0usize..9, 2..7)) {
            for &rule in ReferenceLength::ALL {
                for (text_index, reference) in reference_lengths(&lengths, rule).into_iter().enumerate() {
                    let other_lengths: Vec<usize> = [&lengths[..text_index], &lengths[text_index + 1..]].concat();
                    let distance = |candidate: &usize| candidate.abs_diff(lengths[text_index]);
                    let sum: usize = other_lengths.iter().sum();
                    let candidates = other_lengths.iter().copied();
                    let expected = match rule {
                        ReferenceLength::Closest => candidates.min_by_key(|n| (distance(n), *n)),
                        ReferenceLength::ClosestFirst => candidates.min_by_key(distance),
                        ReferenceLength::ClosestLonger => {
                            candidates.min_by_key(|n| (distance(n), Reverse(*n)))
                        }
                        ReferenceLength::Shortest => candidates.min(),
                        ReferenceLength::Longest => candidates.max(),
                        ReferenceLength::Average => Some(sum),
                        ReferenceLength::AverageTruncated => Some(sum / candidates.count()),
                    };
                    prop_assert_eq!(Some(reference), expected);
                }
            }
        }
    }
}
