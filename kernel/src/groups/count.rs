//! Rows of a table to totals of groups, in one pass: what engines run beside their data.
//!
//! Threads take slices of the table's batches in turn. Each keeps groups of its own, which are
//! added up at the end; sums of integers are the same in any order.

use super::group_sums::{Groups, replace_id};
use crate::arrow::key::{KeyType, put_integer};
use crate::arrow::rows::{Frame, Keys, Rows, Texts};
use crate::count::{Batch, Count, Names, Summary, Worker};
use crate::error::Error;
use crate::interrupt::{self, Work, in_threads};
use crate::text_batches::{Block, Foreign, check_size};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Rows that a thread takes at a time: some 64 KB of sentences.
const SLICE: usize = 512;

/// Bytes of hypotheses that are counted at once, about, where rows are longer.
const BATCH_BYTES: usize = 1 << 16;

/// The roles of the columns.
#[derive(Clone)]
pub struct Plan {
    /// The hypotheses.
    pub hypothesis: String,
    /// The references, one per column or lists of them.
    pub references: Vec<String>,
    /// The groups.
    pub by: Vec<String>,
    /// A column of ids, and into how many buckets they are put.
    pub bucket: Option<(String, u64)>,
    /// Every row is a group of its own, whose key is its number in the table.
    pub by_row: bool,
}

/// The name of the column of buckets.
pub const BUCKET: &str = "bucket";
/// The name of the column of rows' numbers.
pub const ROW: &str = "row";

impl Plan {
    /// The names of the columns of keys.
    pub fn keys(&self) -> Vec<String> {
        let bucket = self.bucket.iter().map(|_| BUCKET.to_owned());
        let row = self.by_row.then(|| ROW.to_owned());
        self.by.iter().cloned().chain(bucket).chain(row).collect()
    }

    fn pick(&self, frame: &mut Frame) -> Result<Picked, Error> {
        let by = self.by.iter().map(|name| frame.keys(name));
        let by = by.collect::<Result<Vec<_>, _>>()?;
        let mut types: Vec<_> = by.iter().map(|key| key.of().clone()).collect();
        let id = match &self.bucket {
            None => None,
            Some((name, buckets)) => {
                let id = frame.keys(name)?;
                use KeyType::{Binary, Fixed, Integer, Null, Text};
                if !matches!(id.of(), Binary | Fixed(_) | Integer(_) | Null | Text) {
                    let found = id.of().name();
                    return Err(Error::Input(format!(
                        "{name}: expected ids to be strings, integers or binary values, not {found}"
                    )));
                }
                types.push(KeyType::Integer(b'l'));
                Some((id, *buckets))
            }
        };
        types.extend(self.by_row.then_some(KeyType::Integer(b'l')));
        Ok(Picked {
            hypothesis: frame.texts(&self.hypothesis, false)?,
            references: {
                let texts = self.references.iter().map(|name| frame.texts(name, true));
                texts.collect::<Result<_, _>>()?
            },
            by,
            id,
            types,
        })
    }
}

/// The columns of one table.
struct Picked {
    hypothesis: Texts,
    references: Vec<Texts>,
    by: Vec<Keys>,
    id: Option<(Keys, u64)>,
    types: Vec<KeyType>,
}

/// The result of a run over a table.
pub struct Found {
    /// The groups.
    pub groups: Groups,
    /// The number of rows.
    pub rows: u64,
    /// The first row that has a null, counted from 1.
    pub first_null: Option<u64>,
}

/// Rows of one batch, and the number of the first of them in the table, from 0.
struct Slice {
    rows: Arc<Rows>,
    range: std::ops::Range<usize>,
    first: u64,
}

/// Batches that were read and are to be counted, slice by slice.
#[derive(Default)]
struct Ready {
    batches: VecDeque<Arc<Rows>>,
    /// How far the first of them has been given.
    position: usize,
    given: u64,
    read: u64,
    /// No more will be read.
    ended: bool,
    failed: Option<(u64, Error)>,
}

impl Ready {
    /// True if there is something for each thread, or nothing will come.
    fn enough(&self, threads: usize) -> bool {
        self.ended || self.read - self.given > ((threads - 1) * SLICE) as u64
    }

    fn put(&mut self, rows: Rows) {
        self.read += rows.len() as u64;
        if !rows.is_empty() && !self.ended {
            self.batches.push_back(Arc::new(rows));
        }
    }

    fn slice(&mut self) -> Option<Slice> {
        let rows = Arc::clone(self.batches.front()?);
        let range = self.position..rows.len().min(self.position + SLICE);
        let first = self.given;
        self.given += range.len() as u64;
        self.position = range.end;
        if self.position == rows.len() {
            self.batches.pop_front();
            self.position = 0;
        }
        Some(Slice { rows, range, first })
    }

    /// Nothing more is read or given after an error, of which the first in the table is kept.
    fn fail(&mut self, row: u64, error: Error) {
        if self.failed.as_ref().is_none_or(|(earlier, _)| row < *earlier) {
            self.failed = Some((row, error));
        }
        self.ended = true;
        self.batches.clear();
    }
}

/// The table's rows in the hands of all threads. The one that called reads them, and nobody else:
/// what brings them may be what others wrote, and that thread can be interrupted in it.
struct Feed {
    ready: Mutex<Ready>,
    more: Condvar,
    threads: usize,
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, row: u64, error: Error) {
        self.lock().fail(row, error);
        self.more.notify_all();
    }

    /// The next slice, with what `frame` has read on where that is needed.
    fn read(&self, frame: &mut Frame) -> Option<Slice> {
        loop {
            interrupt::poll();
            let mut ready = self.lock();
            if ready.enough(self.threads) {
                return ready.slice();
            }
            let before = ready.read;
            drop(ready);
            match frame.next_rows() {
                Ok(Some(rows)) => self.lock().put(rows),
                Ok(None) => self.lock().ended = true,
                // Rows before it that are still to be counted may have an error as well.
                Err(error) => {
                    let mut ready = self.lock();
                    ready.ended = true;
                    ready.failed.get_or_insert((before, error));
                }
            }
            self.more.notify_all();
        }
    }

    /// The next slice, when there is one.
    fn wait(&self) -> Option<Slice> {
        loop {
            interrupt::poll();
            let mut ready = self.lock();
            if ready.batches.is_empty() && !ready.ended {
                let wait = self.more.wait_timeout(ready, interrupt::PAUSE);
                ready = wait.unwrap_or_else(PoisonError::into_inner).0;
            }
            let slice = ready.slice();
            if slice.is_some() || ready.ended {
                return slice;
            }
        }
    }
}

/// Says that no more is read, whatever ended that.
struct Ending<'a>(&'a Feed);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.more.notify_all();
    }
}

/// Counts the rows of `frame`, with a thread for each worker.
///
/// Of several errors the first in the table is given.
pub fn run(
    plan: &Plan,
    width: usize,
    mut frame: Frame,
    workers: &mut [Box<dyn Worker>],
) -> Result<Found, Error> {
    let picked = plan.pick(&mut frame)?;
    let threads = workers.len().max(1);
    let feed = Feed { ready: Mutex::default(), more: Condvar::new(), threads };
    let workers = Mutex::new(workers.iter_mut());
    let work = |next: &mut dyn FnMut() -> Option<Slice>| {
        let mut part = Part::new(plan, width, &picked);
        let worker = workers.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(worker) = worker else { return part };
        while let Some(slice) = next() {
            if let Err(error) = part.take(&slice, &mut **worker) {
                feed.fail(slice.first, error);
                break;
            }
        }
        part
    };
    let own = || {
        let _ending = Ending(&feed);
        work(&mut || feed.read(&mut frame))
    };
    let parts = in_threads(threads, own, || work(&mut || feed.wait()));
    let Ready { failed, given, .. } =
        feed.ready.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, error)) = failed {
        return Err(error);
    }
    let first_null = parts.iter().filter_map(|part| part.first_null).min();
    let mut parts = parts.into_iter().map(|part| part.groups);
    let mut groups = parts.next().unwrap_or_else(|| Groups::new(plan.keys(), width));
    for part in parts {
        groups.merge(&part)?;
    }
    Ok(Found { groups, rows: given, first_null })
}

/// One thread's groups, and its memory.
struct Part<'a> {
    plan: &'a Plan,
    picked: &'a Picked,
    groups: Groups,
    first_null: Option<u64>,
    summary: Summary,
    key: Vec<u8>,
    /// Of the rows to be counted next: the group of each, and its number in the table, from 1.
    members: Vec<(usize, u64)>,
}

/// The texts of the rows to be counted next. Those of references are kept by column, and then by
/// their number in a list.
struct Texted {
    hypotheses: Vec<Option<Foreign>>,
    references: Vec<Vec<Vec<Option<Foreign>>>>,
    bytes: usize,
    hypothesis_bytes: usize,
}

impl<'a> Part<'a> {
    fn new(plan: &'a Plan, width: usize, picked: &'a Picked) -> Self {
        let mut groups = Groups::new(plan.keys(), width);
        groups.types = Some(picked.types.clone());
        Self {
            plan,
            picked,
            groups,
            first_null: None,
            summary: Summary::default(),
            key: Vec::with_capacity(64),
            members: Vec::new(),
        }
    }

    /// The group of a row.
    fn group(&mut self, rows: &Rows, i: usize, number: u64) -> Result<usize, Error> {
        let Self { plan, picked, groups, key, .. } = self;
        key.clear();
        for (column, name) in picked.by.iter().zip(&plan.by) {
            rows.key(column, i, key)
                .map_err(|why| Error::Input(format!("{name}: row {number} {why}")))?;
        }
        if plan.by_row {
            put_integer(number.into(), key);
        }
        if let Some((column, buckets)) = &picked.id {
            let start = key.len();
            let put = rows.key(column, i, key);
            put.and_then(|()| replace_id(column.of(), key, start, *buckets)).map_err(|why| {
                let name = plan.bucket.as_ref().map_or("", |(name, _)| name);
                Error::Input(format!("{name}: row {number} {why}"))
            })?;
        }
        let (group, new) = groups.group(key);
        if new {
            for ((of, entry), name) in groups.entries(group).zip(&plan.by) {
                if *of == KeyType::Text
                    && let Some(text) = of.value(entry)
                    && simdutf8::basic::from_utf8(text).is_err()
                {
                    return Err(Error::Input(format!("{name}: row {number} is not UTF-8")));
                }
            }
        }
        Ok(group)
    }

    fn take(&mut self, slice: &Slice, worker: &mut dyn Worker) -> Result<(), Error> {
        let picked = self.picked;
        let rows = &*slice.rows;
        let mut texts = Texted::new(picked.references.len(), slice.range.len());
        let mut work = Work::default();
        for (n, i) in slice.range.clone().enumerate() {
            let number = slice.first + n as u64 + 1;
            let group = self.group(rows, i, number)?;
            let mut hypothesis = None;
            rows.texts(&picked.hypothesis, i, |_, text| hypothesis = text);
            let found = texts.put(rows, picked, i, hypothesis, &mut work);
            let counts = self.groups.counts_mut(group);
            if hypothesis.is_some() && found > 0 {
                counts.segments += 1;
                let found = i32::try_from(found).unwrap_or(i32::MAX);
                let (fewest, most) = counts.references.unwrap_or((found, found));
                counts.references = Some((fewest.min(found), most.max(found)));
                self.members.push((group, number));
                if texts.hypothesis_bytes >= BATCH_BYTES {
                    let next = Texted::new(picked.references.len(), SLICE);
                    self.count(std::mem::replace(&mut texts, next), worker)?;
                }
            } else {
                texts.drop_last(self.members.len());
                counts.null_hypotheses += i64::from(hypothesis.is_none());
                counts.null_references += i64::from(found == 0);
                self.first_null.get_or_insert(number);
            }
        }
        self.count(texts, worker)
    }

    /// Counts the texts, and adds the rows to their groups.
    fn count(&mut self, texts: Texted, worker: &mut dyn Worker) -> Result<(), Error> {
        if self.members.is_empty() {
            return Ok(());
        }
        // The name of each stream of text in messages.
        let mut names = vec![self.plan.hypothesis.clone()];
        for (name, streams) in self.plan.references.iter().zip(&texts.references) {
            names.extend(streams.iter().map(|_| name.clone()));
        }
        check_size(&names[0], texts.bytes)?;
        let count = self.members.len();
        // The slice keeps the bytes alive while they are counted.
        let block = |segments| Block::Segments { segments, trusted: false, keep: None };
        let hypotheses = block(texts.hypotheses);
        let references: Vec<_> = texts.references.into_iter().flatten().map(block).collect();
        let names = Names(names);
        // Any segment but the very first, at which more is looked at than is asked here.
        let first = 1;
        let batch =
            Batch { first, count, hypotheses: &hypotheses, references: &references, names: &names };
        let rows = match worker.count(&batch, &mut self.summary) {
            Ok(rows) => rows,
            Err(Error::Utf8 { input, segment, byte, .. }) => {
                let (_, number) = self.members[(segment - first) as usize - 1];
                return Err(Error::Input(format!(
                    "{input}: row {number} has a byte 0x{byte:02x} that is not UTF-8; Arrow's \
                     strings are UTF-8, so the column was made wrongly: decode it with its encoding"
                )));
            }
            Err(error) => return Err(error),
        };
        for (row, (group, _)) in rows.chunks_exact(self.groups.width()).zip(&self.members) {
            self.groups.add(*group, row)?;
        }
        self.members.clear();
        Ok(())
    }
}

impl Texted {
    fn new(columns: usize, rows: usize) -> Self {
        Self {
            hypotheses: Vec::with_capacity(rows),
            references: (0..columns).map(|_| vec![Vec::with_capacity(rows)]).collect(),
            bytes: 0,
            hypothesis_bytes: 0,
        }
    }

    /// Adds a row; gives how many references it has.
    #[inline]
    fn put(
        &mut self,
        rows: &Rows,
        picked: &Picked,
        i: usize,
        hypothesis: Option<&[u8]>,
        work: &mut Work,
    ) -> usize {
        let Self { hypotheses, references, bytes, hypothesis_bytes } = self;
        let before = hypotheses.len();
        // SAFETY: the slice that the texts are of is kept until they have been counted.
        let foreign = |text: &[u8]| unsafe { Foreign::new(text) };
        let mut found = 0;
        for (column, streams) in picked.references.iter().zip(references) {
            rows.texts(column, i, |number, text| {
                work.done(8);
                if streams.len() <= number {
                    streams.push(vec![None; before]);
                }
                found += usize::from(text.is_some());
                *bytes += text.map_or(0, <[u8]>::len);
                streams[number].push(text.map(foreign));
            });
            for stream in streams {
                if stream.len() <= before {
                    stream.push(None);
                }
            }
        }
        *hypothesis_bytes += hypothesis.map_or(0, <[u8]>::len);
        *bytes += hypothesis.map_or(0, <[u8]>::len);
        hypotheses.push(hypothesis.map(foreign));
        found
    }

    /// Forgets the row behind the first `count`.
    fn drop_last(&mut self, count: usize) {
        self.hypotheses.truncate(count);
        for stream in self.references.iter_mut().flatten() {
            stream.truncate(count);
        }
    }
}

/// A thread's workers for a run.
pub fn workers(counter: &Arc<dyn Count>, count: usize) -> Vec<Box<dyn Worker>> {
    (0..count).map(|_| Arc::clone(counter).worker()).collect()
}
