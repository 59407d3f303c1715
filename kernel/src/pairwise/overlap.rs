//! All pairs of metrics that are made of clipped matches: each n-gram of a hypothesis is looked up
//! once for a whole block of references.
//!
//! A text is a sequence of units (tokens, characters), which are numbers. Every n-gram of a block's
//! references is a node of a tree: the node of the n-gram without its last unit, and that unit, have
//! a number together. For each node an [`Index`] knows which references have it, and how often: a
//! [`Place`], which is a row with a count for each reference of the block if many have it, and a
//! list of those that have it if few do.
//!
//! A hypothesis is walked an order at a time: an n-gram that no reference has takes all longer ones
//! that start with it out of the walk. Of each n-gram found, the lesser of both counts is added to
//! the matches of all references that have it, for rows with vectors of small integers: no match is
//! counted beyond the reference's length, which decides how small they are.

mod summed;

pub use summed::Places;

use super::{Band, Block, Pairs, Take, Worker, read};
use crate::error::Error;
use crate::ids::Numbers;
use crate::interrupt::{self, Work};
use crate::lex::Lexer;
use crate::simd::{Instructions, Job, Vector};
use crate::text_batches::{Source, Want};
use crate::tokens::View;
use std::ops::{Add, Range};

/// The most references of a block.
pub const LANES: usize = 256;

/// The most n-grams of a block's references, if they are more than one.
const MOST_NGRAMS: usize = 1 << 19;

/// In so many references an n-gram has a row of its own: so many entries of a list cost as much.
const COMMON: usize = 8;

/// The number of references whose matches are added to at once.
const STRIP: usize = 64;

/// Bytes of text lexed at a time.
const BATCH_BYTES: usize = 1 << 16;

/// A count that matches can be added up in, just wide enough.
pub trait Number:
    Copy + Default + Ord + Add<Output = Self> + Into<u32> + Send + Sync + 'static
{
    /// The largest.
    const MOST: u32;

    /// This count, or the largest there is: more than that do not match.
    fn of(count: u32) -> Self;
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const MOST: u32 = <$type>::MAX as u32;

            #[inline(always)]
            fn of(count: u32) -> Self {
                count.min(Self::MOST) as $type
            }
        }
    )*};
}
number!(u8, u16, u32);

/// The scores of one hypothesis against a block.
pub type Scores = [f64; LANES];

/// A metric that is made of clipped matches and of the lengths of both texts.
pub trait Overlap: Send + Sync + 'static {
    /// The state kept while texts are read: the numbers of units.
    type Reading: Default;
    /// The memory of a thread while pairs are scored.
    type Memory: Default;

    /// The highest order of n-grams of each kind of units.
    fn orders(&self) -> Vec<usize>;

    /// Appends the units of a text, of each kind.
    fn read(&self, text: &View<'_>, reading: &mut Self::Reading, units: &mut [Units]);

    /// The scores of one hypothesis. `#[inline(always)]`, as [`Job::run`].
    fn score<T: Number>(
        &self,
        pairs: &Matched<'_, T>,
        memory: &mut Self::Memory,
        scores: &mut Scores,
    );

    /// The score of one hypothesis against the sum of many references.
    fn score_of_sum(&self, pair: &Summed) -> f64;
}

/// One hypothesis, counted as often as there are references, and the sum of these.
#[derive(Default)]
pub struct Summed {
    /// The number of references.
    pub times: i64,
    /// The lengths of both, in units of the first kind.
    pub lengths: [i64; 2],
    /// Of each order of each kind the n-grams of the hypothesis and of the references, and the
    /// clipped matches.
    pub orders: Vec<[i64; 3]>,
}

/// The pairs to be scored: one hypothesis and a block of references.
pub struct Matched<'a, T> {
    /// The length of the hypothesis, in units of each kind.
    pub hypothesis: &'a [u32],
    /// The lengths of the references.
    pub references: &'a [[u32; LANES]],
    /// The clipped matches of each order of each kind.
    pub matches: &'a [[T; LANES]],
    /// The references that scores are wanted for.
    pub lanes: Range<usize>,
}

/// Texts as sequences of units of one kind.
#[derive(Default)]
pub struct Units {
    units: Vec<u32>,
    ends: Vec<usize>,
}

impl Units {
    /// Appends a unit to the text that is being read.
    #[inline(always)]
    pub fn push(&mut self, unit: u32) {
        self.units.push(unit);
    }

    fn text(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.units[start..self.ends[i]]
    }
}

/// The texts of one side.
struct Side {
    /// Of each kind.
    units: Vec<Units>,
    count: usize,
}

impl Side {
    fn read<M: Overlap>(
        source: &mut dyn Source,
        lexer: &Lexer,
        metric: &M,
        reading: &mut M::Reading,
    ) -> Result<Self, Error> {
        let mut units: Vec<Units> = metric.orders().iter().map(|_| Units::default()).collect();
        let mut count = 0;
        let look = |text: &View<'_>| {
            metric.read(text, reading, &mut units);
            for units in &mut units {
                units.ends.push(units.units.len());
            }
            count += 1;
        };
        read(source, || Want::Bytes(BATCH_BYTES), lexer, look, |_, _| {})?;
        Ok(Self { units, count })
    }

    /// The lengths of a text, of each kind.
    fn lengths(&self, i: usize) -> impl Iterator<Item = u32> {
        self.units.iter().map(move |units| units.text(i).len() as u32)
    }
}

/// Two lists of texts, as units.
pub struct Overlaps<M> {
    metric: M,
    orders: Vec<usize>,
    instructions: Instructions,
    hypotheses: Side,
    /// `None` if they are the hypotheses.
    references: Option<Side>,
}

impl<M: Overlap> Overlaps<M> {
    /// Reads all texts. Without references, the hypotheses are their own.
    pub fn read(
        metric: M,
        lexer: &Lexer,
        hypotheses: Box<dyn Source>,
        references: Option<Box<dyn Source>>,
    ) -> Result<Self, Error> {
        let mut reading = M::Reading::default();
        let mut texts =
            |mut source: Box<dyn Source>| Side::read(&mut *source, lexer, &metric, &mut reading);
        let hypotheses = texts(hypotheses)?;
        let references = references.map(texts).transpose()?;
        let (orders, instructions) = (metric.orders(), lexer.instructions);
        Ok(Self { metric, orders, instructions, hypotheses, references })
    }

    fn references(&self) -> &Side {
        self.references.as_ref().unwrap_or(&self.hypotheses)
    }
}

impl<M: Overlap> Pairs for Overlaps<M> {
    fn shape(&self) -> (usize, usize) {
        (self.hypotheses.count, self.references().count)
    }

    fn block_end(&self, first: usize) -> usize {
        let mut ngrams = 0;
        let fits = |&i: &usize| {
            let lengths = self.references().lengths(i).zip(&self.orders);
            ngrams += lengths.map(|(length, orders)| length as usize * orders).sum::<usize>();
            i == first || ngrams <= MOST_NGRAMS
        };
        let last = self.references().count.min(first + LANES);
        first + (first..last).take_while(fits).count()
    }

    fn block(&self, references: Range<usize>) -> Box<dyn Block + '_> {
        let longest = references.clone().flat_map(|i| self.references().lengths(i)).max();
        match longest.unwrap_or(0) {
            0..=<u8 as Number>::MOST => Box::new(OverlapBlock::<M, u8>::new(self, references)),
            0x100..=<u16 as Number>::MOST => {
                Box::new(OverlapBlock::<M, u16>::new(self, references))
            }
            _ => Box::new(OverlapBlock::<M, u32>::new(self, references)),
        }
    }

    fn against_sums(
        &self,
        sets: &[Places],
        weights: Option<&[u32]>,
        workers: usize,
    ) -> Option<Vec<f64>> {
        Some(Overlaps::against_sums(self, sets, weights, workers))
    }
}

/// Where the references of an n-gram are.
#[derive(Clone, Copy)]
struct Place {
    /// The first of its entries in a list, or its row.
    at: u32,
    /// The number of entries; `ROW` for a row.
    count: u32,
}

const ROW: u32 = u32::MAX;

/// The references of a block by n-gram, with counts.
struct Index<T> {
    nodes: Nodes,
    /// Each node's place.
    places: Vec<Place>,
    /// References and counts.
    entries: Vec<(u8, T)>,
    rows: Vec<[T; LANES]>,
}

/// The tree of n-grams. Its root, which is none yet, is 0.
#[derive(Default)]
struct Nodes(Numbers);

const ROOT: u32 = 0;

impl Nodes {
    fn count(&self) -> usize {
        1 + self.0.count()
    }

    #[inline(always)]
    fn key(before: u32, unit: u32) -> u64 {
        u64::from(before) << 32 | u64::from(unit)
    }

    /// The node of an n-gram and one more unit, a new one if it is new.
    fn grow(&mut self, before: u32, unit: u32) -> u32 {
        1 + self.0.number(Self::key(before, unit)).0
    }

    /// The node of an n-gram and one more unit.
    #[inline(always)]
    fn next(&self, before: u32, unit: u32) -> Option<u32> {
        self.0.find(Self::key(before, unit)).map(|number| 1 + number)
    }

    /// Appends the nodes of all n-grams of a text to `found`, new ones where they are new.
    fn grow_all(&mut self, units: &[u32], orders: usize, found: &mut Vec<u32>, work: &mut Work) {
        let mut before = found.len();
        for order in 0..orders.min(units.len()) {
            let start = found.len();
            for (i, &unit) in units[order..].iter().enumerate() {
                work.done(8);
                let shorter = if order == 0 { ROOT } else { found[before + i] };
                found.push(self.grow(shorter, unit));
            }
            before = start;
        }
    }
}

impl<T: Number> Index<T> {
    fn new(texts: &Units, references: Range<usize>, orders: usize) -> Self {
        let mut nodes = Nodes::default();
        let mut found: Vec<u32> = Vec::new();
        let mut ends = Vec::new();
        let mut work = Work::default();
        for units in references.map(|i| texts.text(i)) {
            nodes.grow_all(units, orders, &mut found, &mut work);
            ends.push(found.len());
        }
        let mut index = Self { nodes, places: Vec::new(), entries: Vec::new(), rows: Vec::new() };
        index.make_lists(&found, &ends);
        index.make_rows();
        index
    }

    /// Lists the references of each node, from the nodes of all n-grams of all references, where
    /// `ends` are theirs.
    fn make_lists(&mut self, found: &[u32], ends: &[usize]) {
        let mut room = vec![0; self.nodes.count()];
        for &node in found {
            room[node as usize] += 1;
        }
        let mut at = 0;
        self.places.extend(room.iter().map(|room| {
            let place = Place { at, count: 0 };
            at += room;
            place
        }));
        self.entries.resize(found.len(), Default::default());
        let mut start = 0;
        for (lane, &end) in ends.iter().enumerate() {
            interrupt::poll();
            for &node in &found[start..end] {
                let place = &mut self.places[node as usize];
                let list = &mut self.entries[place.at as usize..][..=place.count as usize];
                match list {
                    // The n-grams of one reference come together.
                    [.., (last, count), _] if usize::from(*last) == lane => {
                        *count = *count + T::of(1)
                    }
                    [.., next] => {
                        *next = (lane as u8, T::of(1));
                        place.count += 1;
                    }
                    [] => {}
                }
            }
            start = end;
        }
    }

    /// Turns long lists into rows.
    fn make_rows(&mut self) {
        for place in self.places.iter_mut().filter(|place| place.count as usize >= COMMON) {
            let mut row = [T::default(); LANES];
            for &(lane, count) in &self.entries[place.at as usize..][..place.count as usize] {
                row[usize::from(lane)] = count;
            }
            *place = Place { at: self.rows.len() as u32, count: ROW };
            self.rows.push(row);
        }
    }

    /// Adds the clipped matches of each order to `matches`, which has as many entries.
    #[inline(always)]
    fn count(&self, units: &[u32], lanes: usize, walk: &mut Walk<T>, matches: &mut [[T; LANES]]) {
        walk.begin(&self.nodes, units);
        for (order, matches) in matches.iter_mut().enumerate() {
            walk.go_on(&self.nodes, units, order);
            let Walk { alive, seen, common, .. } = walk;
            common.clear();
            for &(_, node) in alive.iter() {
                // All occurrences of an n-gram are counted with the first.
                let count = T::of(std::mem::take(&mut seen[node as usize]));
                if count == T::default() {
                    continue;
                }
                let place = self.places[node as usize];
                if place.count == ROW {
                    common.push((place.at, count));
                    continue;
                }
                for &(lane, there) in &self.entries[place.at as usize..][..place.count as usize] {
                    let sum = &mut matches[usize::from(lane)];
                    *sum = *sum + there.min(count);
                }
            }
            self.add_rows(common, lanes, matches);
        }
    }

    /// Adds the lesser of a hypothesis' counts and those of each of the first `lanes` references.
    #[inline(always)]
    fn add_rows(&self, common: &[(u32, T)], lanes: usize, matches: &mut [T; LANES]) {
        let strips = matches.as_chunks_mut::<STRIP>().0;
        for (i, sums) in strips.iter_mut().enumerate().take(lanes.div_ceil(STRIP)) {
            let mut added = *sums;
            for &(row, count) in common {
                let there = &self.rows[row as usize].as_chunks::<STRIP>().0[i];
                for (sum, &there) in added.iter_mut().zip(there) {
                    *sum = *sum + there.min(count);
                }
            }
            *sums = added;
        }
    }
}

/// Counts the matches of one text, for whatever metric.
struct CountText<'a, T> {
    index: &'a Index<T>,
    units: &'a [u32],
    lanes: usize,
    walk: &'a mut Walk<T>,
    matches: &'a mut [[T; LANES]],
}

impl<T: Number> Job for CountText<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        self.index.count(self.units, self.lanes, self.walk, self.matches);
    }
}

/// A hypothesis' way through an index.
#[derive(Default)]
struct Walk<T> {
    /// Where n-grams start that some reference has, and their nodes.
    alive: Vec<(u32, u32)>,
    /// The count of each node; all 0 between the orders.
    seen: Vec<u32>,
    /// The rows found, and how often.
    common: Vec<(u32, T)>,
    work: Work,
}

impl<T> Walk<T> {
    /// Begins with a text, of which nothing has been looked up yet.
    #[inline(always)]
    fn begin(&mut self, nodes: &Nodes, units: &[u32]) {
        self.work.done(units.len());
        self.alive.clear();
        self.alive.extend((0..units.len() as u32).map(|start| (start, ROOT)));
        self.seen.resize(self.seen.len().max(nodes.count()), 0);
    }

    /// Looks up the n-grams of the next order, of those that go on, and counts them.
    #[inline(always)]
    fn go_on(&mut self, nodes: &Nodes, units: &[u32], order: usize) {
        let Self { alive, seen, work, .. } = self;
        let mut still = 0;
        for i in 0..alive.len() {
            work.done(4);
            let (start, before) = alive[i];
            let Some(&unit) = units.get(start as usize + order) else { break };
            if let Some(node) = nodes.next(before, unit) {
                seen[node as usize] += 1;
                alive[still] = (start, node);
                still += 1;
            }
        }
        alive.truncate(still);
    }
}

/// Some references: an index of each kind of units.
struct OverlapBlock<'a, M, T> {
    all: &'a Overlaps<M>,
    references: Range<usize>,
    lengths: Vec<[u32; LANES]>,
    indices: Vec<Index<T>>,
}

impl<'a, M: Overlap, T: Number> OverlapBlock<'a, M, T> {
    fn new(all: &'a Overlaps<M>, references: Range<usize>) -> Self {
        let mut lengths = vec![[0; LANES]; all.orders.len()];
        for (lane, i) in references.clone().enumerate() {
            for (lengths, length) in lengths.iter_mut().zip(all.references().lengths(i)) {
                lengths[lane] = length;
            }
        }
        let units = all.references().units.iter().zip(&all.orders);
        let indices =
            units.map(|(units, &orders)| Index::new(units, references.clone(), orders)).collect();
        Self { all, references, lengths, indices }
    }
}

impl<M: Overlap, T: Number> Block for OverlapBlock<'_, M, T> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(OverlapWorker { block: self, walk: Walk::default(), memory: Default::default() })
    }
}

struct OverlapWorker<'a, M: Overlap, T> {
    block: &'a OverlapBlock<'a, M, T>,
    walk: Walk<T>,
    memory: M::Memory,
}

impl<M: Overlap, T: Number> Worker for OverlapWorker<'_, M, T> {
    fn score(&mut self, band: &Band, take: &mut Take<'_>) -> Result<(), Error> {
        self.block.all.instructions.run(ScoreBand { worker: self, band, take });
        Ok(())
    }
}

/// Scores a band against a block.
struct ScoreBand<'a, 'b, 'c, M: Overlap, T> {
    worker: &'a mut OverlapWorker<'b, M, T>,
    band: &'a Band,
    take: &'a mut Take<'c>,
}

impl<M: Overlap, T: Number> Job for ScoreBand<'_, '_, '_, M, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let OverlapWorker { block, walk, memory } = self.worker;
        let OverlapBlock { all, references, lengths, indices } = block;
        let mut matches = vec![[T::default(); LANES]; all.orders.iter().sum()];
        let mut scores = [0.0; LANES];
        let mut hypothesis = Vec::with_capacity(all.orders.len());
        for i in self.band.hypotheses.clone() {
            let first = self.band.first(i, references);
            if first == references.end {
                continue;
            }
            matches.fill([T::default(); LANES]);
            let mut rest = &mut matches[..];
            for ((index, units), &orders) in
                indices.iter().zip(&all.hypotheses.units).zip(&all.orders)
            {
                let (own, others) = rest.split_at_mut(orders);
                let (units, lanes) = (units.text(i), references.len());
                let count = CountText { index, units, lanes, walk, matches: own };
                // SAFETY: as the caller promises.
                unsafe { V::call(count) };
                rest = others;
            }
            hypothesis.clear();
            hypothesis.extend(all.hypotheses.lengths(i));
            let lanes = first - references.start..references.len();
            let pairs = Matched {
                hypothesis: &hypothesis,
                references: lengths,
                matches: &matches,
                lanes: lanes.clone(),
            };
            all.metric.score(&pairs, memory, &mut scores);
            (self.take)(i, first, &scores[lanes]);
        }
    }
}
