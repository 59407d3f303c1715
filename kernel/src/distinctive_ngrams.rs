//! The n-grams that distinguish systems from each other and from the references.
//!
//! N-grams get ids, order by order. An n-gram of order n is identified by a pair of n-grams of
//! order n - 1: its prefix and its suffix. An n-gram is at most as frequent as any part of it.
//! Therefore, n-grams below a minimum count need no id, and neither do longer n-grams that contain
//! them. A sketch of the pair counts, which may overestimate but never underestimates, excludes
//! most of these early. Finally, the result is checked: if an excluded n-gram could have been
//! listed, everything is repeated with a sufficiently small minimum count.
//!
//! In addition to the corpus, memory holds ids of the same total size, at most 32 MiB of sketches,
//! and a record for each sufficiently frequent n-gram of one order.
//!
//! N-grams are compared by their log-odds ratio with an informative Dirichlet prior, and by that
//! ratio in standard deviations. Source: Monroe, Colaresi and Quinn, "Fightin' Words: Lexical
//! Feature Selection and Evaluation for Identifying the Content of Political Conflict", Political
//! Analysis 16 (2008), equations 15 to 22. The prior consists of the counts of the pair's systems
//! and the references together, scaled to the size of one of them.

use crate::ids::KeyIds;
use crate::interrupt::{self, Work};
use crate::math::ln;
use crate::token_corpus::{NONE, SegmentCounts, Tally, TokenCorpus};

/// The kinds of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// N-grams that one system of a pair matches more often than the other.
    Difference,
    /// N-grams that a system produces more often than they occur in the references.
    Overproduced,
    /// N-grams of the references that neither system of the pair matches.
    Missed,
}

impl ListKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Difference, Self::Overproduced, Self::Missed];
}

/// A pair of systems, or a single system, to which [`ListKind::Difference`] does not apply.
pub type SystemPair = (usize, Option<usize>);

/// An entry of a list: an n-gram with its counts.
#[derive(Clone, Debug, PartialEq)]
pub struct NgramEntry {
    /// The ids of the n-gram's tokens.
    pub tokens: Vec<u32>,
    /// The count in each system of the pair.
    pub system_counts: Vec<u32>,
    /// The number of matches in each system of the pair.
    pub match_counts: Vec<u32>,
    /// The count in the references: the sum over segments of the largest count in a reference.
    pub reference_count: u32,
    /// The log-odds ratio of the first system's matches to the second's; for
    /// [`ListKind::Overproduced`], of the systems' n-grams to the references' n-grams; for
    /// [`ListKind::Missed`], the reverse.
    pub log_odds: f64,
    /// The log-odds ratio in standard deviations.
    pub z: f64,
    /// The first segments that contribute to the list value, counted from 0.
    pub segments: Vec<u32>,
}

/// A request for lists of distinctive n-grams.
pub struct ListSettings<'a> {
    /// The systems to compare.
    pub pairs: &'a [SystemPair],
    /// The maximum number of n-grams per list.
    pub max_entries: usize,
    /// The maximum number of example segments per n-gram.
    pub max_examples: usize,
    /// The initial minimum count; by default, about the count of a typical listed n-gram.
    pub initial_minimum: Option<u32>,
}

/// The lists for one n-gram order: for each pair, one list per kind, sorted from the highest to the
/// lowest value. Ties are in corpus order.
pub type OrderLists = Vec<[Vec<NgramEntry>; 3]>;

impl ListSettings<'_> {
    /// Return the lists of each order.
    pub fn find_lists(&self, corpus: &TokenCorpus) -> Vec<OrderLists> {
        let default_minimum =
            || (corpus.ngram_totals[0][0] / 400_000).try_into().unwrap_or(u32::MAX);
        let minimum = self.initial_minimum.unwrap_or_else(default_minimum).max(1);
        // If few segments differ, the counts in them are small, so a lower minimum applies.
        let differing_count = corpus.differing_segments().filter(|&differs| differs).count() as u64;
        let differing_minimum =
            u64::from(minimum) * differing_count / (corpus.segment_count() as u64).max(1);
        let minimum_counts =
            MinimumCounts { all: minimum, in_differing: (differing_minimum as u32).max(1) };
        let (lists, sufficient) = self.try_minimum_counts(corpus, minimum_counts);
        if sufficient.all >= minimum_counts.all
            && sufficient.in_differing >= minimum_counts.in_differing
        {
            return lists;
        }
        let minimum_counts = MinimumCounts {
            all: minimum_counts.all.min(sufficient.all),
            in_differing: minimum_counts.in_differing.min(sufficient.in_differing),
        };
        self.try_minimum_counts(corpus, minimum_counts).0
    }

    /// Return the lists, and minimum counts that are small enough to make the lists complete.
    fn try_minimum_counts(
        &self,
        corpus: &TokenCorpus,
        minimum_counts: MinimumCounts,
    ) -> (Vec<OrderLists>, MinimumCounts) {
        let mut ngrams = NgramIds::new(corpus);
        let mut lists = Vec::new();
        let mut sufficient = MinimumCounts { all: u32::MAX, in_differing: u32::MAX };
        for order in 1..=corpus.max_order {
            if order > 1 {
                ngrams.next_order(corpus, minimum_counts);
            }
            let counts = CorpusCounts::count_ngrams(corpus, &ngrams);
            let selected: Vec<_> =
                self.pairs.iter().map(|&pair| self.select_ngrams(&counts, pair)).collect();
            if order > 1 {
                for (lists, (_, second)) in selected.iter().zip(self.pairs) {
                    let [difference, over, missed] =
                        lists.each_ref().map(|(values, _)| {
                            match values.get(self.max_entries - 1) {
                                Some(&last) => last,
                                None => 1,
                            }
                        });
                    sufficient.all = sufficient.all.min(over).min(missed);
                    if second.is_some() {
                        sufficient.in_differing = sufficient.in_differing.min(difference);
                    }
                }
            }
            lists.push(self.build_entries(corpus, &ngrams, &counts, &selected, order));
            if order < corpus.max_order {
                ngrams.drop_rare(&counts, minimum_counts);
            }
        }
        (lists, sufficient)
    }

    /// Return the n-grams to list for each kind, as values and ids.
    fn select_ngrams(&self, counts: &CorpusCounts, pair: SystemPair) -> [(Vec<u32>, Vec<u32>); 3] {
        ListKind::ALL.map(|kind| {
            interrupt::poll();
            let mut candidates: Vec<(u32, u32)> = (0..counts.count() as u32)
                .map(|gram| (counts.record(gram).value(kind, pair), gram))
                .filter(|&(value, _)| value > 0)
                .collect();
            let sort_key = |&(value, gram): &(u32, u32)| (std::cmp::Reverse(value), gram);
            if candidates.len() > self.max_entries {
                candidates.select_nth_unstable_by_key(self.max_entries, sort_key);
                candidates.truncate(self.max_entries);
            }
            candidates.sort_unstable_by_key(sort_key);
            candidates.into_iter().unzip()
        })
    }

    /// Return the entries of the selected n-grams, with their tokens and segments.
    fn build_entries(
        &self,
        corpus: &TokenCorpus,
        ngrams: &NgramIds,
        counts: &CorpusCounts,
        selected: &[[(Vec<u32>, Vec<u32>); 3]],
        order: usize,
    ) -> OrderLists {
        // The index in `placements` of each listed n-gram, keyed by n-gram id.
        let mut listed_index = vec![NONE; counts.count()];
        let mut placements: Vec<Vec<(usize, usize, usize)>> = Vec::new();
        let mut listed_ngrams = Vec::new();
        for (pair, lists) in selected.iter().enumerate() {
            for (kind, (_, ngram_ids)) in lists.iter().enumerate() {
                for (rank, &gram) in ngram_ids.iter().enumerate() {
                    let index = &mut listed_index[gram as usize];
                    if *index == NONE {
                        *index = placements.len() as u32;
                        placements.push(Vec::new());
                        listed_ngrams.push(gram);
                    }
                    placements[*index as usize].push((pair, kind, rank));
                }
            }
        }
        let build_list = |&pair: &SystemPair, kind: ListKind, numbers: &[u32]| -> Vec<NgramEntry> {
            let entry = |&gram: &u32| counts.record(gram).entry(corpus, kind, pair, order);
            numbers.iter().map(entry).collect()
        };
        let mut lists_by_pair: OrderLists = selected
            .iter()
            .zip(self.pairs)
            .map(|(lists, pair)| {
                ListKind::ALL.map(|kind| build_list(pair, kind, &lists[kind as usize].1))
            })
            .collect();
        let mut first_positions = vec![NONE; placements.len()];
        let mut incomplete_count = placements.len();
        let mut tally = Tally::new(corpus.systems, placements.len(), 0);
        let (mut segment_ids, mut segment_ends) = (Vec::new(), Vec::new());
        let mut work = Work::default();
        for (i, (start, ends)) in corpus.segments().enumerate() {
            if incomplete_count == 0 {
                break;
            }
            segment_ids.clear();
            segment_ends.clear();
            work.add(2 * (ends.last().map_or(0, |&end| end as usize) - start));
            let mut text_start = start;
            for &end in ends {
                for (position, &gram) in (text_start..).zip(&ngrams.ids[text_start..end as usize]) {
                    if gram != NONE && listed_index[gram as usize] != NONE {
                        let index = listed_index[gram as usize];
                        segment_ids.push(index);
                        let first_position = &mut first_positions[index as usize];
                        *first_position = (*first_position).min(position as u32);
                    }
                }
                segment_ends.push(segment_ids.len() as u32);
                text_start = end as usize;
            }
            tally.count_segment(&segment_ids, 0, &segment_ends, |index, segment_counts, _| {
                let mut is_complete = true;
                for &(pair, kind, place) in &placements[index as usize] {
                    let entry = &mut lists_by_pair[pair][kind][place];
                    if entry.segments.len() < self.max_examples
                        && segment_value(&segment_counts, ListKind::ALL[kind], self.pairs[pair]) > 0
                    {
                        entry.segments.push(i as u32);
                    }
                    is_complete &= entry.segments.len() == self.max_examples;
                }
                if is_complete {
                    // Ignore n-grams that already have all their examples.
                    listed_index[listed_ngrams[index as usize] as usize] = NONE;
                    incomplete_count -= 1;
                }
            });
        }
        for (index, placed) in placements.iter().enumerate() {
            let start = first_positions[index] as usize;
            for &(pair, kind, place) in placed {
                lists_by_pair[pair][kind][place].tokens =
                    corpus.tokens[start..start + order].to_vec();
            }
        }
        lists_by_pair
    }
}

/// The minimum counts that an n-gram needs to get an id: in all segments, and in segments where
/// systems differ.
#[derive(Clone, Copy)]
struct MinimumCounts {
    all: u32,
    in_differing: u32,
}

/// Return the contribution of one segment to an n-gram's list value.
fn segment_value(counts: &SegmentCounts<'_>, kind: ListKind, pair: SystemPair) -> u32 {
    let SegmentCounts { system_counts: produced, max_reference_count: reference, .. } = *counts;
    let matched = |system: usize| produced[system].min(reference);
    list_value(kind, pair, matched, |system| produced[system], reference)
}

/// Return an n-gram's list value, which decides whether it is listed.
#[inline(always)]
fn list_value(
    kind: ListKind,
    (first, second): SystemPair,
    matches: impl Fn(usize) -> u32,
    system_count: impl Fn(usize) -> u32,
    reference_count: u32,
) -> u32 {
    let excess = |system| system_count(system) - matches(system);
    match (kind, second) {
        (ListKind::Difference, None) => 0,
        (ListKind::Difference, Some(second)) => matches(first).abs_diff(matches(second)),
        (ListKind::Overproduced, None) => excess(first),
        (ListKind::Overproduced, Some(second)) => excess(first).max(excess(second)),
        (ListKind::Missed, None) => reference_count - matches(first),
        (ListKind::Missed, Some(second)) => reference_count - matches(first).max(matches(second)),
    }
}

/// The counts of the n-grams of one order in the corpus: one [`CountRecord`] per n-gram.
struct CorpusCounts {
    systems: usize,
    records: Tally,
}

/// The counts of an n-gram: occurrences per system, matches per system, the sum of the largest
/// reference counts, occurrences in all references, and occurrences in segments where systems
/// differ.
struct CountRecord<'a> {
    systems: usize,
    values: &'a [u32],
}

impl CorpusCounts {
    fn count_ngrams(corpus: &TokenCorpus, ngrams: &NgramIds) -> Self {
        let systems = corpus.systems;
        let mut records = Tally::new(systems, ngrams.count, 2 * systems + 3);
        let mut work = Work::default();
        for ((start, ends), &is_differing) in corpus.segments().zip(&ngrams.differing_segments) {
            work.add(8 * (ends.last().map_or(0, |&end| end as usize) - start));
            records.count_segment(&ngrams.ids, start, ends, |_, counts, record| {
                let mut max_count = 0;
                for (system, &times) in counts.system_counts.iter().enumerate() {
                    record[system] += times;
                    record[systems + system] += times.min(counts.max_reference_count);
                    max_count = times.max(max_count);
                }
                record[2 * systems] += counts.max_reference_count;
                record[2 * systems + 1] += counts.reference_total;
                record[2 * systems + 2] += if is_differing { max_count } else { 0 };
            });
        }
        Self { systems, records }
    }

    fn count(&self) -> usize {
        self.records.id_count()
    }

    fn record(&self, gram: u32) -> CountRecord<'_> {
        CountRecord { systems: self.systems, values: self.records.user_values_of(gram) }
    }
}

impl CountRecord<'_> {
    fn value(&self, kind: ListKind, pair: SystemPair) -> u32 {
        let Self { systems, values } = *self;
        list_value(
            kind,
            pair,
            |system| values[systems + system],
            |system| values[system],
            values[2 * systems],
        )
    }

    /// Return whether a longer n-gram that contains this n-gram could be listed.
    fn is_frequent_enough(&self, minimum_counts: MinimumCounts) -> bool {
        let Self { systems, values } = *self;
        let max_count = values[..systems].iter().chain(&values[2 * systems..=2 * systems]).max();
        max_count.is_some_and(|&count| count >= minimum_counts.all)
            || values[2 * systems + 2] >= minimum_counts.in_differing
    }

    /// Return the list entry of an n-gram, without tokens and segments.
    fn entry(
        &self,
        corpus: &TokenCorpus,
        kind: ListKind,
        pair: SystemPair,
        order: usize,
    ) -> NgramEntry {
        let Self { systems, values } = *self;
        let pair_systems: Vec<usize> = std::iter::once(pair.0).chain(pair.1).collect();
        // Each pair contains the count of the n-gram and the count of all n-grams of its order.
        let system_counts = |system: usize| {
            (f64::from(values[system]), corpus.ngram_totals[system][order - 1] as f64)
        };
        let match_counts = |system: usize| {
            (f64::from(values[systems + system]), corpus.ngram_matches[system][order - 1] as f64)
        };
        let sum = |(x, total_x): (f64, f64), (y, total_y): (f64, f64)| (x + y, total_x + total_y);
        let pair_counts =
            pair_systems.iter().map(|&system| system_counts(system)).fold((0.0, 0.0), sum);
        let reference_counts =
            (f64::from(values[2 * systems + 1]), corpus.ngram_totals[systems][order - 1] as f64);
        let (first, second) = match (kind, pair.1) {
            (ListKind::Difference, Some(second)) => (match_counts(pair.0), match_counts(second)),
            (ListKind::Missed, _) => (reference_counts, pair_counts),
            _ => (pair_counts, reference_counts),
        };
        let scale = 1.0 / (1.0 + pair_systems.len() as f64);
        let prior = (
            (pair_counts.0 + reference_counts.0) * scale,
            (pair_counts.1 + reference_counts.1) * scale,
        );
        let (log_odds, deviation) = log_odds_ratio(first, second, prior);
        NgramEntry {
            tokens: Vec::new(),
            system_counts: pair_systems.iter().map(|&system| values[system]).collect(),
            match_counts: pair_systems.iter().map(|&system| values[systems + system]).collect(),
            reference_count: values[2 * systems],
            log_odds,
            z: log_odds / deviation,
            segments: Vec::new(),
        }
    }
}

/// Return the log-odds ratio of an n-gram in two texts, and its standard deviation.
///
/// Each pair contains the count of the n-gram and the count of all n-grams. If a text contains no
/// other n-gram, the count of its other n-grams is replaced by one half.
fn log_odds_ratio(
    first: (f64, f64),
    second: (f64, f64),
    (alpha, total_alpha): (f64, f64),
) -> (f64, f64) {
    let odds = |(count, total): (f64, f64)| {
        ln((count + alpha) / (total + total_alpha - count - alpha).max(0.5))
    };
    let variance = 1.0 / (first.0 + alpha) + 1.0 / (second.0 + alpha);
    (odds(first) - odds(second), variance.sqrt())
}

/// The n-grams of one order.
struct NgramIds {
    /// The id of the n-gram that starts at each token; [`NONE`] if it is excluded or would extend
    /// past the end of its text.
    ids: Vec<u32>,
    /// The number of distinct ids.
    count: usize,
    /// For each segment, whether the systems differ.
    differing_segments: Vec<bool>,
}

impl NgramIds {
    /// Create the n-grams of order 1.
    fn new(corpus: &TokenCorpus) -> Self {
        Self {
            ids: corpus.tokens.clone(),
            count: corpus.vocabulary.count(),
            differing_segments: corpus.differing_segments().collect(),
        }
    }

    /// Drop n-grams that cannot be part of a longer listed n-gram.
    fn drop_rare(&mut self, counts: &CorpusCounts, minimum_counts: MinimumCounts) {
        if minimum_counts.all.min(minimum_counts.in_differing) <= 1 {
            return;
        }
        let is_frequent: Vec<bool> = (0..self.count as u32)
            .map(|gram| counts.record(gram).is_frequent_enough(minimum_counts))
            .collect();
        for id in &mut self.ids {
            if *id != NONE && !is_frequent[*id as usize] {
                *id = NONE;
            }
        }
    }

    /// Replace all n-grams with the n-grams of the next order.
    fn next_order(&mut self, corpus: &TokenCorpus, minimum_counts: MinimumCounts) {
        let Self { ids: numbers, differing_segments: different, .. } = self;
        let pair_key = |ids: &[u32], position: usize| {
            let (head, tail) = (ids[position], ids[position + 1]);
            (head != NONE && tail != NONE).then(|| u64::from(head) << 32 | u64::from(tail))
        };
        let mut sketch =
            (minimum_counts.all > 1).then(|| Sketch::new(numbers.len(), minimum_counts.all));
        // N-grams that are frequent overall need no separate count in differing segments.
        let mut differing_sketch = (minimum_counts.in_differing < minimum_counts.all
            && minimum_counts.all > 1)
            .then(|| Sketch::new(numbers.len(), minimum_counts.in_differing));
        let mut work = Work::default();
        for (segment, (mut start, ends)) in corpus.segments().enumerate() {
            for (text, &end) in ends.iter().enumerate() {
                for position in start..(end as usize).saturating_sub(1) {
                    work.add(2);
                    if let Some(key) = pair_key(numbers, position) {
                        if let Some(sketch) = &mut sketch {
                            sketch.add(key);
                        }
                        if let Some(differing_sketch) = &mut differing_sketch
                            && different[segment]
                            && text < corpus.systems
                        {
                            differing_sketch.add(key);
                        }
                    }
                }
                start = end as usize;
            }
        }
        let is_frequent = |key| {
            sketch.as_ref().is_none_or(|sketch| sketch.is_frequent(key))
                || differing_sketch.as_ref().is_some_and(|sketch| sketch.is_frequent(key))
        };
        let mut pair_ids = KeyIds::default();
        let mut start = 0;
        for &end in &corpus.ends {
            let end = end as usize;
            for position in start..end.saturating_sub(1) {
                work.add(4);
                let key = pair_key(numbers, position).filter(|&key| is_frequent(key));
                numbers[position] = key.map_or(NONE, |key| pair_ids.get_or_assign(key).0);
            }
            if start < end {
                numbers[end - 1] = NONE;
            }
            start = end;
        }
        self.count = pair_ids.count();
    }
}

/// Hash a key to 64 bits. The high bits of the hash depend on more bits of the key than the low
/// bits. Adversarial texts can only increase the estimates of sketches; they cannot change a list.
#[inline(always)]
fn hash_key(key: u64) -> u64 {
    (key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A sketch that returns an upper bound on how often a key was added.
struct Sketch {
    counts: Vec<u8>,
    shift: u32,
    min_count: u8,
}

impl Sketch {
    /// Create a sketch for about `keys` keys, which finds the keys that are added at least
    /// `min_count` times.
    fn new(keys: usize, min_count: u32) -> Self {
        let bits = keys.max(1).ilog2().clamp(10, 24);
        let least = min_count.min(u32::from(u8::MAX)) as u8;
        Self { counts: vec![0; 1 << bits], shift: 64 - bits, min_count: least }
    }

    #[inline(always)]
    fn add(&mut self, key: u64) {
        let count = &mut self.counts[(hash_key(key) >> self.shift) as usize];
        *count = count.saturating_add(1);
    }

    #[inline(always)]
    fn is_frequent(&self, key: u64) -> bool {
        self.counts[(hash_key(key) >> self.shift) as usize] >= self.min_count
    }
}
