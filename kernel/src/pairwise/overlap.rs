//! Scores of all pairs for metrics that use clipped matches. Each n-gram of a hypothesis is looked
//! up once for a whole block of references.
//!
//! A text is a sequence of units (tokens or characters), given as ids. Every n-gram of a block's
//! references is a node of a tree, identified by its (n-1)-gram prefix and its last unit. For each
//! node, an [`NgramIndex`] stores the references that contain it, and their counts, in a
//! [`NodeEntry`]. If many references contain the n-gram, the entry is a row with one count per
//! reference of the block; otherwise it is a list.
//!
//! A hypothesis is processed one order at a time. If no reference contains an n-gram, all longer
//! n-grams with that prefix are skipped. For each common n-gram, the smaller of both counts is
//! added to the matches of all references that contain it. Rows use vectors of small integers.
//! Matches never exceed the reference length, which determines the integer size.

mod summed;

pub use summed::SetRanges;

use super::{Band, Block, Pairs, TakeScores, Worker, lex_source};
use crate::error::Error;
use crate::ids::KeyIds;
use crate::interrupt::{self, Work};
use crate::lex::Lexer;
use crate::simd::{Instructions, Job, Vector};
use crate::text_batches::{BatchSize, Source};
use crate::tokens::View;
use std::ops::{Add, Range};

/// Maximum number of references in a block.
pub const BLOCK_LANES: usize = 256;

/// Maximum number of n-grams of a block's references, unless the block has only one reference.
const MAX_BLOCK_NGRAMS: usize = 1 << 19;

/// An n-gram that occurs in at least this many references is stored as a row, which then costs no
/// more than a list.
const MIN_ROW_REFERENCES: usize = 8;

/// Number of references whose matches are updated together.
const STRIP_LANES: usize = 64;

/// Number of bytes of text lexed at a time.
const BATCH_BYTES: usize = 1 << 16;

/// An integer type for match counts. The narrowest sufficient type is used.
pub trait CountInteger:
    Copy + Default + Ord + Add<Output = Self> + Into<u32> + Send + Sync + 'static
{
    /// The largest value of the type.
    const MAX_VALUE: u32;

    /// Convert a count, limited to the largest value; larger counts cannot match.
    fn from_count(count: u32) -> Self;
}

macro_rules! impl_count_integer {
    ($($type:ty),*) => {$(
        impl CountInteger for $type {
            const MAX_VALUE: u32 = <$type>::MAX as u32;

            #[inline(always)]
            fn from_count(count: u32) -> Self {
                count.min(Self::MAX_VALUE) as $type
            }
        }
    )*};
}
impl_count_integer!(u8, u16, u32);

/// The scores of one hypothesis against a block.
pub type BlockScores = [f64; BLOCK_LANES];

/// A metric that depends only on clipped matches and the lengths of both texts.
pub trait Overlap: Send + Sync + 'static {
    /// The state during reading, which assigns ids to units.
    type Reading: Default;
    /// The buffers of one thread during scoring.
    type Scratch: Default;

    /// Return the largest n-gram order of each kind of unit.
    fn max_orders(&self) -> Vec<usize>;

    /// Append the units of a text, separately for each kind.
    fn read_units(&self, text: &View<'_>, reading: &mut Self::Reading, units: &mut [Units]);

    /// Compute the scores of one hypothesis. Implementations are `#[inline(always)]`, like
    /// [`Job::run`].
    fn score_block<T: CountInteger>(
        &self,
        pairs: &MatchedPairs<'_, T>,
        memory: &mut Self::Scratch,
        scores: &mut BlockScores,
    );

    /// Return the score of one hypothesis against the sum of many references.
    fn score_against_sum(&self, pair: &SummedPair) -> f64;
}

/// A hypothesis, counted once per reference, and the sum of the references.
#[derive(Default)]
pub struct SummedPair {
    /// The number of references.
    pub times: i64,
    /// The lengths of hypothesis and references, in units of the first kind.
    pub lengths: [i64; 2],
    /// For each order of each kind: the n-grams of the hypothesis, the n-grams of the references,
    /// and the clipped matches.
    pub orders: Vec<[i64; 3]>,
}

/// The pairs of one hypothesis with a block of references, ready for scoring.
pub struct MatchedPairs<'a, T> {
    /// The length of the hypothesis in units of each kind.
    pub hypothesis: &'a [u32],
    /// The lengths of the references in units of each kind.
    pub references: &'a [[u32; BLOCK_LANES]],
    /// The clipped matches of each order of each kind.
    pub matches: &'a [[T; BLOCK_LANES]],
    /// The references to score.
    pub lanes: Range<usize>,
}

/// Texts, stored as sequences of units of one kind.
#[derive(Default)]
pub struct Units {
    units: Vec<u32>,
    ends: Vec<usize>,
}

impl Units {
    /// Append a unit to the current text.
    #[inline(always)]
    pub fn push(&mut self, unit: u32) {
        self.units.push(unit);
    }

    fn text(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.units[start..self.ends[i]]
    }
}

/// The units of all hypotheses, or of all references.
struct TextUnits {
    /// The units of each kind.
    units: Vec<Units>,
    count: usize,
}

impl TextUnits {
    fn read_source<M: Overlap>(
        source: &mut dyn Source,
        lexer: &Lexer,
        metric: &M,
        reading: &mut M::Reading,
    ) -> Result<Self, Error> {
        let mut units: Vec<Units> = metric.max_orders().iter().map(|_| Units::default()).collect();
        let mut count = 0;
        let take_text = |text: &View<'_>| {
            metric.read_units(text, reading, &mut units);
            for units in &mut units {
                units.ends.push(units.units.len());
            }
            count += 1;
        };
        lex_source(source, || Some(BatchSize::Bytes(BATCH_BYTES)), lexer, take_text, |_, _| {})?;
        Ok(Self { units, count })
    }

    /// Return the lengths of a text in units of each kind.
    fn lengths(&self, i: usize) -> impl Iterator<Item = u32> {
        self.units.iter().map(move |units| units.text(i).len() as u32)
    }
}

/// Two lists of texts, converted to units.
pub struct OverlapPairs<M> {
    metric: M,
    max_orders: Vec<usize>,
    instructions: Instructions,
    hypotheses: TextUnits,
    /// `None` if the hypotheses serve as references.
    references: Option<TextUnits>,
}

impl<M: Overlap> OverlapPairs<M> {
    /// Read all texts. Without references, the hypotheses also serve as references.
    pub fn read_texts(
        metric: M,
        lexer: &Lexer,
        hypotheses: Box<dyn Source>,
        references: Option<Box<dyn Source>>,
    ) -> Result<Self, Error> {
        let mut reading = M::Reading::default();
        let mut read_side = |mut source: Box<dyn Source>| {
            TextUnits::read_source(&mut *source, lexer, &metric, &mut reading)
        };
        let hypotheses = read_side(hypotheses)?;
        let references = references.map(read_side).transpose()?;
        let (max_orders, instructions) = (metric.max_orders(), lexer.instructions);
        Ok(Self { metric, max_orders, instructions, hypotheses, references })
    }

    fn references(&self) -> &TextUnits {
        self.references.as_ref().unwrap_or(&self.hypotheses)
    }
}

impl<M: Overlap> Pairs for OverlapPairs<M> {
    fn shape(&self) -> (usize, usize) {
        (self.hypotheses.count, self.references().count)
    }

    fn block_end(&self, first: usize) -> usize {
        let mut ngrams = 0;
        let is_within_limit = |&i: &usize| {
            let lengths = self.references().lengths(i).zip(&self.max_orders);
            ngrams += lengths.map(|(length, orders)| length as usize * orders).sum::<usize>();
            i == first || ngrams <= MAX_BLOCK_NGRAMS
        };
        let last = self.references().count.min(first + BLOCK_LANES);
        first + (first..last).take_while(is_within_limit).count()
    }

    fn prepare_block(&self, references: Range<usize>) -> Box<dyn Block + '_> {
        let longest = references.clone().flat_map(|i| self.references().lengths(i)).max();
        match longest.unwrap_or(0) {
            0..=<u8 as CountInteger>::MAX_VALUE => {
                Box::new(OverlapBlock::<M, u8>::new(self, references))
            }
            0x100..=<u16 as CountInteger>::MAX_VALUE => {
                Box::new(OverlapBlock::<M, u16>::new(self, references))
            }
            _ => Box::new(OverlapBlock::<M, u32>::new(self, references)),
        }
    }

    fn score_against_sums(
        &self,
        sets: &[SetRanges],
        weights: Option<&[u32]>,
        workers: usize,
    ) -> Option<Vec<f64>> {
        Some(OverlapPairs::score_against_sums(self, sets, weights, workers))
    }
}

/// The location of an n-gram's references.
#[derive(Clone, Copy)]
struct NodeEntry {
    /// The index of the first list entry, or of the row.
    at: u32,
    /// The number of list entries, or `ROW` for a row.
    count: u32,
}

const ROW: u32 = u32::MAX;

/// The references of a block by n-gram, with counts.
struct NgramIndex<T> {
    nodes: NgramTree,
    /// The entry of each node.
    node_entries: Vec<NodeEntry>,
    /// Lists of references and counts.
    entries: Vec<(u8, T)>,
    rows: Vec<[T; BLOCK_LANES]>,
}

/// The tree of n-grams. Node 0 is the root, the empty n-gram.
#[derive(Default)]
struct NgramTree(KeyIds);

const ROOT: u32 = 0;

impl NgramTree {
    /// Return the number of nodes, including the root.
    fn count(&self) -> usize {
        1 + self.0.count()
    }

    #[inline(always)]
    fn key(prefix: u32, unit: u32) -> u64 {
        u64::from(prefix) << 32 | u64::from(unit)
    }

    /// Return the node of an n-gram extended by one unit. Create the node if it does not exist.
    fn get_or_insert(&mut self, prefix: u32, unit: u32) -> u32 {
        1 + self.0.get_or_assign(Self::key(prefix, unit)).0
    }

    /// Return the node of an n-gram extended by one unit, if the node exists.
    #[inline(always)]
    fn find(&self, prefix: u32, unit: u32) -> Option<u32> {
        self.0.find(Self::key(prefix, unit)).map(|id| 1 + id)
    }

    /// Append the nodes of all n-grams of a text to `node_list`, creating missing nodes.
    fn insert_all(
        &mut self,
        units: &[u32],
        max_order: usize,
        node_list: &mut Vec<u32>,
        work: &mut Work,
    ) {
        let mut previous_start = node_list.len();
        for order in 0..max_order.min(units.len()) {
            let start = node_list.len();
            for (i, &unit) in units[order..].iter().enumerate() {
                work.add(8);
                let prefix = if order == 0 { ROOT } else { node_list[previous_start + i] };
                node_list.push(self.get_or_insert(prefix, unit));
            }
            previous_start = start;
        }
    }
}

impl<T: CountInteger> NgramIndex<T> {
    fn new(texts: &Units, references: Range<usize>, max_order: usize) -> Self {
        let mut nodes = NgramTree::default();
        let mut node_list: Vec<u32> = Vec::new();
        let mut ends = Vec::new();
        let mut work = Work::default();
        for units in references.map(|i| texts.text(i)) {
            nodes.insert_all(units, max_order, &mut node_list, &mut work);
            ends.push(node_list.len());
        }
        let mut index =
            Self { nodes, node_entries: Vec::new(), entries: Vec::new(), rows: Vec::new() };
        index.build_lists(&node_list, &ends);
        index.build_rows();
        index
    }

    /// Create the list of references of each node. `node_list` contains the nodes of all n-grams of
    /// all references; `ends` contains the end of each reference in `node_list`.
    fn build_lists(&mut self, node_list: &[u32], ends: &[usize]) {
        let mut capacities = vec![0; self.nodes.count()];
        for &node in node_list {
            capacities[node as usize] += 1;
        }
        let mut next_start = 0;
        self.node_entries.extend(capacities.iter().map(|room| {
            let place = NodeEntry { at: next_start, count: 0 };
            next_start += room;
            place
        }));
        self.entries.resize(node_list.len(), Default::default());
        let mut start = 0;
        for (lane, &end) in ends.iter().enumerate() {
            interrupt::poll();
            for &node in &node_list[start..end] {
                let place = &mut self.node_entries[node as usize];
                let list = &mut self.entries[place.at as usize..][..=place.count as usize];
                match list {
                    // The n-grams of one reference are consecutive.
                    [.., (last, count), _] if usize::from(*last) == lane => {
                        *count = *count + T::from_count(1)
                    }
                    [.., next] => {
                        *next = (lane as u8, T::from_count(1));
                        place.count += 1;
                    }
                    [] => {}
                }
            }
            start = end;
        }
    }

    /// Convert long lists to rows.
    fn build_rows(&mut self) {
        for place in
            self.node_entries.iter_mut().filter(|place| place.count as usize >= MIN_ROW_REFERENCES)
        {
            let mut row = [T::default(); BLOCK_LANES];
            for &(lane, count) in &self.entries[place.at as usize..][..place.count as usize] {
                row[usize::from(lane)] = count;
            }
            *place = NodeEntry { at: self.rows.len() as u32, count: ROW };
            self.rows.push(row);
        }
    }

    /// Add the clipped matches of each order to `matches`, which has one entry per order.
    #[inline(always)]
    fn count_matches(
        &self,
        units: &[u32],
        lanes: usize,
        walk: &mut NgramWalk<T>,
        matches: &mut [[T; BLOCK_LANES]],
    ) {
        walk.start_text(&self.nodes, units);
        for (order, matches) in matches.iter_mut().enumerate() {
            walk.next_order(&self.nodes, units, order);
            let NgramWalk { active: alive, node_counts: seen, row_counts, .. } = walk;
            row_counts.clear();
            for &(_, node) in alive.iter() {
                // All occurrences of an n-gram are counted at its first occurrence.
                let count = T::from_count(std::mem::take(&mut seen[node as usize]));
                if count == T::default() {
                    continue;
                }
                let place = self.node_entries[node as usize];
                if place.count == ROW {
                    row_counts.push((place.at, count));
                    continue;
                }
                for &(lane, reference_count) in
                    &self.entries[place.at as usize..][..place.count as usize]
                {
                    let sum = &mut matches[usize::from(lane)];
                    *sum = *sum + reference_count.min(count);
                }
            }
            self.add_rows(row_counts, lanes, matches);
        }
    }

    /// Add, for each of the first `lanes` references, the smaller of the counts in hypothesis and
    /// reference.
    #[inline(always)]
    fn add_rows(&self, row_counts: &[(u32, T)], lanes: usize, matches: &mut [T; BLOCK_LANES]) {
        let strips = matches.as_chunks_mut::<STRIP_LANES>().0;
        for (i, sums) in strips.iter_mut().enumerate().take(lanes.div_ceil(STRIP_LANES)) {
            let mut local_sums = *sums;
            for &(row, count) in row_counts {
                let reference_counts = &self.rows[row as usize].as_chunks::<STRIP_LANES>().0[i];
                for (sum, &reference_count) in local_sums.iter_mut().zip(reference_counts) {
                    *sum = *sum + reference_count.min(count);
                }
            }
            *sums = local_sums;
        }
    }
}

/// A job that counts the matches of one text.
struct CountTextJob<'a, T> {
    index: &'a NgramIndex<T>,
    units: &'a [u32],
    lanes: usize,
    walk: &'a mut NgramWalk<T>,
    matches: &'a mut [[T; BLOCK_LANES]],
}

impl<T: CountInteger> Job for CountTextJob<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        self.index.count_matches(self.units, self.lanes, self.walk, self.matches);
    }
}

/// The state of a hypothesis that is being looked up in an index.
#[derive(Default)]
struct NgramWalk<T> {
    /// The start positions of n-grams that occur in a reference, and their nodes.
    active: Vec<(u32, u32)>,
    /// The number of occurrences of each node; all 0 between orders.
    node_counts: Vec<u32>,
    /// The matched rows, and the hypothesis counts.
    row_counts: Vec<(u32, T)>,
    work: Work,
}

impl<T> NgramWalk<T> {
    /// Start a new text, whose n-grams have not been looked up yet.
    #[inline(always)]
    fn start_text(&mut self, nodes: &NgramTree, units: &[u32]) {
        self.work.add(units.len());
        self.active.clear();
        self.active.extend((0..units.len() as u32).map(|start| (start, ROOT)));
        self.node_counts.resize(self.node_counts.len().max(nodes.count()), 0);
    }

    /// Look up and count the n-grams of the next order whose prefixes exist.
    #[inline(always)]
    fn next_order(&mut self, nodes: &NgramTree, units: &[u32], order: usize) {
        let Self { active: alive, node_counts: seen, work, .. } = self;
        let mut active_count = 0;
        for i in 0..alive.len() {
            work.add(4);
            let (start, prefix) = alive[i];
            let Some(&unit) = units.get(start as usize + order) else { break };
            if let Some(node) = nodes.find(prefix, unit) {
                seen[node as usize] += 1;
                alive[active_count] = (start, node);
                active_count += 1;
            }
        }
        alive.truncate(active_count);
    }
}

/// A block of references, with an index per kind of unit.
struct OverlapBlock<'a, M, T> {
    all_pairs: &'a OverlapPairs<M>,
    references: Range<usize>,
    lengths: Vec<[u32; BLOCK_LANES]>,
    indices: Vec<NgramIndex<T>>,
}

impl<'a, M: Overlap, T: CountInteger> OverlapBlock<'a, M, T> {
    fn new(pairs: &'a OverlapPairs<M>, references: Range<usize>) -> Self {
        let mut lengths = vec![[0; BLOCK_LANES]; pairs.max_orders.len()];
        for (lane, i) in references.clone().enumerate() {
            for (lengths, length) in lengths.iter_mut().zip(pairs.references().lengths(i)) {
                lengths[lane] = length;
            }
        }
        let units = pairs.references().units.iter().zip(&pairs.max_orders);
        let indices = units
            .map(|(units, &orders)| NgramIndex::new(units, references.clone(), orders))
            .collect();
        Self { all_pairs: pairs, references, lengths, indices }
    }
}

impl<M: Overlap, T: CountInteger> Block for OverlapBlock<'_, M, T> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(OverlapWorker {
            block: self,
            walk: NgramWalk::default(),
            memory: Default::default(),
        })
    }
}

struct OverlapWorker<'a, M: Overlap, T> {
    block: &'a OverlapBlock<'a, M, T>,
    walk: NgramWalk<T>,
    memory: M::Scratch,
}

impl<M: Overlap, T: CountInteger> Worker for OverlapWorker<'_, M, T> {
    fn score(&mut self, band: &Band, take: &mut TakeScores<'_>) -> Result<(), Error> {
        self.block.all_pairs.instructions.run(ScoreBandJob { worker: self, band, take });
        Ok(())
    }
}

/// A job that scores a band against a block.
struct ScoreBandJob<'a, 'b, 'c, M: Overlap, T> {
    worker: &'a mut OverlapWorker<'b, M, T>,
    band: &'a Band,
    take: &'a mut TakeScores<'c>,
}

impl<M: Overlap, T: CountInteger> Job for ScoreBandJob<'_, '_, '_, M, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let OverlapWorker { block, walk, memory } = self.worker;
        let OverlapBlock { all_pairs: all, references, lengths, indices } = block;
        let mut matches = vec![[T::default(); BLOCK_LANES]; all.max_orders.iter().sum()];
        let mut scores = [0.0; BLOCK_LANES];
        let mut hypothesis = Vec::with_capacity(all.max_orders.len());
        for i in self.band.hypotheses.clone() {
            let first = self.band.first_reference(i, references);
            if first == references.end {
                continue;
            }
            matches.fill([T::default(); BLOCK_LANES]);
            let mut remaining_matches = &mut matches[..];
            for ((index, units), &orders) in
                indices.iter().zip(&all.hypotheses.units).zip(&all.max_orders)
            {
                let (unit_matches, later_matches) = remaining_matches.split_at_mut(orders);
                let (units, lanes) = (units.text(i), references.len());
                let count = CountTextJob { index, units, lanes, walk, matches: unit_matches };
                // SAFETY: the caller guarantees that `V` is available.
                unsafe { V::call(count) };
                remaining_matches = later_matches;
            }
            hypothesis.clear();
            hypothesis.extend(all.hypotheses.lengths(i));
            let lanes = first - references.start..references.len();
            let pairs = MatchedPairs {
                hypothesis: &hypothesis,
                references: lengths,
                matches: &matches,
                lanes: lanes.clone(),
            };
            all.metric.score_block(&pairs, memory, &mut scores);
            (self.take)(i, first, &scores[lanes]);
        }
    }
}
