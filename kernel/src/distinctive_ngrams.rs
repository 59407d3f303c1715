//! The n-grams that set systems apart from each other and from the references.
//!
//! N-grams get numbers, order after order: one of order n is a pair of n-grams of order n - 1, the
//! one without its last token and the one without its first, so a pair of numbers says exactly
//! which it is. An n-gram has no larger count than any part of it. So those that occur less often
//! than `least` need no number, nor does anything that they are a part of; a sketch of how often
//! each pair occurs, which may say too much and never too little, keeps most of them from being
//! looked at. In the end it is checked that none that was left out could be in a list, or all is
//! done again with a smaller `least`, which then is small enough.
//!
//! Memory, beside the corpus: as much again for numbers, at most 32 MiB for sketches, and a record
//! for each n-gram of one order that occurs often enough.
//!
//! How surprising an n-gram is, is by how much its odds are larger on one side than on the other, as
//! a logarithm, with an informative Dirichlet prior, and that in standard deviations. Monroe,
//! Colaresi and Quinn, "Fightin' Words: Lexical Feature Selection and Evaluation for Identifying the
//! Content of Political Conflict", Political Analysis 16 (2008), equations 15 to 22. The prior is
//! what the systems of the pair and the references have together, brought down to the size of one
//! of them.

use crate::ids::Numbers;
use crate::interrupt::{self, Work};
use crate::math::ln;
use crate::token_corpus::{Corpus, Here, NONE, Tally};

/// The kinds of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Matched by one system of a pair more often than by the other.
    Difference,
    /// Produced by a system more often than any reference allows.
    Over,
    /// In the references, and matched by no system of the pair.
    Missed,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Difference, Self::Over, Self::Missed];
}

/// A system and another one, or one alone, which has no [`Kind::Difference`].
pub type Pair = (usize, Option<usize>);

/// An n-gram of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The numbers of its tokens.
    pub tokens: Vec<u32>,
    /// Its count in each system of the pair.
    pub produced: Vec<u32>,
    /// The number of matches in each.
    pub matched: Vec<u32>,
    /// Its count in the references: the sum over segments of the highest count in a reference.
    pub reference: u32,
    /// The difference of its log odds: of the first system's matches against the second's, of what
    /// is written against the references ([`Kind::Over`]), or of these against that.
    pub log_odds: f64,
    /// The same in standard deviations.
    pub z: f64,
    /// The first segments where it is as the list says, from 0.
    pub segments: Vec<u32>,
}

/// Which lists to make, and how long.
pub struct Lists<'a> {
    /// Up to which order.
    pub orders: usize,
    /// Of which systems.
    pub pairs: &'a [Pair],
    /// The most n-grams of a list.
    pub limit: usize,
    /// The most example segments of an n-gram.
    pub examples: usize,
    /// With which `least` to begin, if not with about the count of an n-gram that is in a list.
    pub least: Option<u32>,
}

/// The lists of one order: for each pair one of each kind, the largest first; of equals the one
/// that the corpus has first.
pub type Order = Vec<[Vec<Entry>; 3]>;

impl Lists<'_> {
    /// The lists of each order.
    pub fn of(&self, corpus: &Corpus) -> Vec<Order> {
        let usual = || (corpus.produced[0][0] / 400_000).try_into().unwrap_or(u32::MAX);
        let all = self.least.unwrap_or_else(usual).max(1);
        // Where few segments differ, differences are small.
        let apart = corpus.differing().filter(|&differs| differs).count() as u64;
        let different = u64::from(all) * apart / (corpus.count() as u64).max(1);
        let least = Least { all, different: (different as u32).max(1) };
        let (lists, enough) = self.with(corpus, least);
        if enough.all >= least.all && enough.different >= least.different {
            return lists;
        }
        let least = Least {
            all: least.all.min(enough.all),
            different: least.different.min(enough.different),
        };
        self.with(corpus, least).0
    }

    /// The lists, and what `least` would have been small enough for them.
    fn with(&self, corpus: &Corpus, least: Least) -> (Vec<Order>, Least) {
        let mut grams = Grams::new(corpus);
        let mut lists = Vec::new();
        let mut enough = Least { all: u32::MAX, different: u32::MAX };
        for order in 1..=self.orders {
            if order > 1 {
                grams.extend(corpus, least);
            }
            let totals = Totals::of(corpus, &grams);
            let chosen: Vec<_> =
                self.pairs.iter().map(|&pair| self.choose(&totals, pair)).collect();
            if order > 1 {
                for (lists, (_, other)) in chosen.iter().zip(self.pairs) {
                    let [difference, over, missed] =
                        lists.each_ref().map(|(values, _)| match values.get(self.limit - 1) {
                            Some(&last) => last,
                            None => 1,
                        });
                    enough.all = enough.all.min(over).min(missed);
                    if other.is_some() {
                        enough.different = enough.different.min(difference);
                    }
                }
            }
            lists.push(self.described(corpus, &grams, &totals, &chosen, order));
            if order < self.orders {
                grams.keep(&totals, least);
            }
        }
        (lists, enough)
    }

    /// For each kind the values and the numbers of the n-grams to list.
    fn choose(&self, totals: &Totals, pair: Pair) -> [(Vec<u32>, Vec<u32>); 3] {
        Kind::ALL.map(|kind| {
            interrupt::poll();
            let mut found: Vec<(u32, u32)> = (0..totals.count() as u32)
                .map(|gram| (totals.record(gram).value(kind, pair), gram))
                .filter(|&(value, _)| value > 0)
                .collect();
            let order = |&(value, gram): &(u32, u32)| (std::cmp::Reverse(value), gram);
            if found.len() > self.limit {
                found.select_nth_unstable_by_key(self.limit, order);
                found.truncate(self.limit);
            }
            found.sort_unstable_by_key(order);
            found.into_iter().unzip()
        })
    }

    /// The entries of what was chosen, with their tokens and segments.
    fn described(
        &self,
        corpus: &Corpus,
        grams: &Grams,
        totals: &Totals,
        chosen: &[[(Vec<u32>, Vec<u32>); 3]],
        order: usize,
    ) -> Order {
        // The lists in which each n-gram is, by its number among those that are in any.
        let mut places = vec![NONE; totals.count()];
        let mut listed: Vec<Vec<(usize, usize, usize)>> = Vec::new();
        let mut chosen_gram = Vec::new();
        for (pair, lists) in chosen.iter().enumerate() {
            for (kind, (_, numbers)) in lists.iter().enumerate() {
                for (place, &gram) in numbers.iter().enumerate() {
                    let known = &mut places[gram as usize];
                    if *known == NONE {
                        *known = listed.len() as u32;
                        listed.push(Vec::new());
                        chosen_gram.push(gram);
                    }
                    listed[*known as usize].push((pair, kind, place));
                }
            }
        }
        let list = |&pair: &Pair, kind: Kind, numbers: &[u32]| -> Vec<Entry> {
            let entry = |&gram: &u32| totals.record(gram).entry(corpus, kind, pair, order);
            numbers.iter().map(entry).collect()
        };
        let mut made: Order = chosen
            .iter()
            .zip(self.pairs)
            .map(|(lists, pair)| Kind::ALL.map(|kind| list(pair, kind, &lists[kind as usize].1)))
            .collect();
        let mut starts = vec![NONE; listed.len()];
        let mut open = listed.len();
        let mut tally = Tally::new(corpus.systems, listed.len(), 0);
        let (mut numbers, mut local_ends) = (Vec::new(), Vec::new());
        let mut work = Work::default();
        for (i, (start, ends)) in corpus.segments().enumerate() {
            if open == 0 {
                break;
            }
            numbers.clear();
            local_ends.clear();
            work.done(2 * (ends.last().map_or(0, |&end| end as usize) - start));
            let mut at = start;
            for &end in ends {
                for (at, &gram) in (at..).zip(&grams.numbers[at..end as usize]) {
                    if gram != NONE && places[gram as usize] != NONE {
                        let number = places[gram as usize];
                        numbers.push(number);
                        let start = &mut starts[number as usize];
                        *start = (*start).min(at as u32);
                    }
                }
                local_ends.push(numbers.len() as u32);
                at = end as usize;
            }
            tally.segment(&numbers, 0, &local_ends, |number, here, _| {
                let mut full = true;
                for &(pair, kind, place) in &listed[number as usize] {
                    let entry = &mut made[pair][kind][place];
                    if entry.segments.len() < self.examples
                        && value_here(&here, Kind::ALL[kind], self.pairs[pair]) > 0
                    {
                        entry.segments.push(i as u32);
                    }
                    full &= entry.segments.len() == self.examples;
                }
                if full {
                    // N-grams that have all their examples are not looked for in the rest of the corpus.
                    places[chosen_gram[number as usize] as usize] = NONE;
                    open -= 1;
                }
            });
        }
        for (number, listed) in listed.iter().enumerate() {
            let start = starts[number] as usize;
            for &(pair, kind, place) in listed {
                made[pair][kind][place].tokens = corpus.tokens[start..start + order].to_vec();
            }
        }
        made
    }
}

/// The count an n-gram must have to be considered: in all, or in segments where systems differ.
#[derive(Clone, Copy)]
struct Least {
    all: u32,
    different: u32,
}

/// By how much an n-gram belongs into a list because of one segment.
fn value_here(here: &Here<'_>, kind: Kind, pair: Pair) -> u32 {
    let Here { produced, reference, .. } = *here;
    let matched = |system: usize| produced[system].min(reference);
    value(kind, pair, matched, |system| produced[system], reference)
}

/// By how much an n-gram belongs into a list.
#[inline(always)]
fn value(
    kind: Kind,
    (one, other): Pair,
    matched: impl Fn(usize) -> u32,
    produced: impl Fn(usize) -> u32,
    reference: u32,
) -> u32 {
    let excess = |system| produced(system) - matched(system);
    match (kind, other) {
        (Kind::Difference, None) => 0,
        (Kind::Difference, Some(other)) => matched(one).abs_diff(matched(other)),
        (Kind::Over, None) => excess(one),
        (Kind::Over, Some(other)) => excess(one).max(excess(other)),
        (Kind::Missed, None) => reference - matched(one),
        (Kind::Missed, Some(other)) => reference - matched(one).max(matched(other)),
    }
}

/// The counts of the n-grams of one order in the corpus: a [`Record`] for each.
struct Totals {
    systems: usize,
    records: Tally,
}

/// An n-gram's numbers: produced by each system, matched by each, in the references, in all
/// references together, and in segments that differ.
struct Record<'a> {
    systems: usize,
    values: &'a [u32],
}

impl Totals {
    fn of(corpus: &Corpus, grams: &Grams) -> Self {
        let systems = corpus.systems;
        let mut records = Tally::new(systems, grams.count, 2 * systems + 3);
        let mut work = Work::default();
        for ((start, ends), &different) in corpus.segments().zip(&grams.different) {
            work.done(8 * (ends.last().map_or(0, |&end| end as usize) - start));
            records.segment(&grams.numbers, start, ends, |_, here, record| {
                let mut most = 0;
                for (system, &times) in here.produced.iter().enumerate() {
                    record[system] += times;
                    record[systems + system] += times.min(here.reference);
                    most = times.max(most);
                }
                record[2 * systems] += here.reference;
                record[2 * systems + 1] += here.occurrences;
                record[2 * systems + 2] += if different { most } else { 0 };
            });
        }
        Self { systems, records }
    }

    fn count(&self) -> usize {
        self.records.count()
    }

    fn record(&self, gram: u32) -> Record<'_> {
        Record { systems: self.systems, values: self.records.kept(gram) }
    }
}

impl Record<'_> {
    fn value(&self, kind: Kind, pair: Pair) -> u32 {
        let Self { systems, values } = *self;
        value(
            kind,
            pair,
            |system| values[systems + system],
            |system| values[system],
            values[2 * systems],
        )
    }

    /// True if a longer n-gram that contains this one could be in a list.
    fn is_enough(&self, least: Least) -> bool {
        let Self { systems, values } = *self;
        let most = values[..systems].iter().chain(&values[2 * systems..=2 * systems]).max();
        most.is_some_and(|&most| most >= least.all) || values[2 * systems + 2] >= least.different
    }

    /// What a list says of an n-gram of an order, but for its tokens and segments.
    fn entry(&self, corpus: &Corpus, kind: Kind, pair: Pair, order: usize) -> Entry {
        let Self { systems, values } = *self;
        let own: Vec<usize> = std::iter::once(pair.0).chain(pair.1).collect();
        // How often the n-gram is there, and how many n-grams there are.
        let written =
            |system: usize| (f64::from(values[system]), corpus.produced[system][order - 1] as f64);
        let matched = |system: usize| {
            (f64::from(values[systems + system]), corpus.matched[system][order - 1] as f64)
        };
        let sum = |(x, all_x): (f64, f64), (y, all_y): (f64, f64)| (x + y, all_x + all_y);
        let ours = own.iter().map(|&system| written(system)).fold((0.0, 0.0), sum);
        let theirs =
            (f64::from(values[2 * systems + 1]), corpus.produced[systems][order - 1] as f64);
        let (one, other) = match (kind, pair.1) {
            (Kind::Difference, Some(second)) => (matched(pair.0), matched(second)),
            (Kind::Missed, _) => (theirs, ours),
            _ => (ours, theirs),
        };
        let share = 1.0 / (1.0 + own.len() as f64);
        let prior = ((ours.0 + theirs.0) * share, (ours.1 + theirs.1) * share);
        let (log_odds, deviation) = log_odds(one, other, prior);
        Entry {
            tokens: Vec::new(),
            produced: own.iter().map(|&system| values[system]).collect(),
            matched: own.iter().map(|&system| values[systems + system]).collect(),
            reference: values[2 * systems],
            log_odds,
            z: log_odds / deviation,
            segments: Vec::new(),
        }
    }
}

/// The difference of an n-gram's log odds in two texts, and its standard deviation.
///
/// Each pair is how often the n-gram is there, and how many n-grams there are. Where nothing else is
/// there, the rest counts as one half.
fn log_odds(one: (f64, f64), other: (f64, f64), (alpha, all_alpha): (f64, f64)) -> (f64, f64) {
    let odds =
        |(count, all): (f64, f64)| ln((count + alpha) / (all + all_alpha - count - alpha).max(0.5));
    let variance = 1.0 / (one.0 + alpha) + 1.0 / (other.0 + alpha);
    (odds(one) - odds(other), variance.sqrt())
}

/// The n-grams of one order.
struct Grams {
    /// The number of the n-gram that starts at each token; [`NONE`] for one that is not looked at,
    /// or that would go beyond its text.
    numbers: Vec<u32>,
    /// The number of different ones.
    count: usize,
    /// Of each segment whether the systems differ.
    different: Vec<bool>,
}

impl Grams {
    /// Those of order 1.
    fn new(corpus: &Corpus) -> Self {
        Self {
            numbers: corpus.tokens.clone(),
            count: corpus.vocabulary.count(),
            different: corpus.differing().collect(),
        }
    }

    /// Forgets those that cannot be part of a longer n-gram of any list.
    fn keep(&mut self, totals: &Totals, least: Least) {
        if least.all.min(least.different) <= 1 {
            return;
        }
        let enough: Vec<bool> =
            (0..self.count as u32).map(|gram| totals.record(gram).is_enough(least)).collect();
        for number in &mut self.numbers {
            if *number != NONE && !enough[*number as usize] {
                *number = NONE;
            }
        }
    }

    /// Goes on to the next order.
    fn extend(&mut self, corpus: &Corpus, least: Least) {
        let Self { numbers, different, .. } = self;
        let pair = |numbers: &[u32], at: usize| {
            let (head, tail) = (numbers[at], numbers[at + 1]);
            (head != NONE && tail != NONE).then(|| u64::from(head) << 32 | u64::from(tail))
        };
        let mut all = (least.all > 1).then(|| Sketch::new(numbers.len(), least.all));
        // What occurs often enough anywhere does so without being counted apart.
        let mut apart = (least.different < least.all && least.all > 1)
            .then(|| Sketch::new(numbers.len(), least.different));
        let mut work = Work::default();
        for (segment, (mut start, ends)) in corpus.segments().enumerate() {
            for (text, &end) in ends.iter().enumerate() {
                for at in start..(end as usize).saturating_sub(1) {
                    work.done(2);
                    if let Some(key) = pair(numbers, at) {
                        if let Some(all) = &mut all {
                            all.add(key);
                        }
                        if let Some(apart) = &mut apart
                            && different[segment]
                            && text < corpus.systems
                        {
                            apart.add(key);
                        }
                    }
                }
                start = end as usize;
            }
        }
        let enough = |key| {
            all.as_ref().is_none_or(|all| all.has(key))
                || apart.as_ref().is_some_and(|apart| apart.has(key))
        };
        let mut known = Numbers::default();
        let mut start = 0;
        for &end in &corpus.ends {
            let end = end as usize;
            for at in start..end.saturating_sub(1) {
                work.done(4);
                let key = pair(numbers, at).filter(|&key| enough(key));
                numbers[at] = key.map_or(NONE, |key| known.number(key).0);
            }
            if start < end {
                numbers[end - 1] = NONE;
            }
            start = end;
        }
        self.count = known.count();
    }
}

/// Spreads a key over 64 bits, of which the highest are the best. A text that is made to bring keys
/// together makes sketches say more, and no list another.
#[inline(always)]
fn spread(key: u64) -> u64 {
    (key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Upper bounds on the number of times that keys were added.
struct Sketch {
    counts: Vec<u8>,
    shift: u32,
    least: u8,
}

impl Sketch {
    /// For about so many keys, to ask which were added `least` times.
    fn new(keys: usize, least: u32) -> Self {
        let bits = keys.max(1).ilog2().clamp(10, 24);
        let least = least.min(u32::from(u8::MAX)) as u8;
        Self { counts: vec![0; 1 << bits], shift: 64 - bits, least }
    }

    #[inline(always)]
    fn add(&mut self, key: u64) {
        let count = &mut self.counts[(spread(key) >> self.shift) as usize];
        *count = count.saturating_add(1);
    }

    #[inline(always)]
    fn has(&self, key: u64) -> bool {
        self.counts[(spread(key) >> self.shift) as usize] >= self.least
    }
}
