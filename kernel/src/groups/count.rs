//! Group-by counting of a table's rows in one pass.
//!
//! Threads claim slices of the table's batches. Each thread sums its own groups, which are merged
//! at the end. The order of addition does not affect integer sums.

use super::group_sums::{GroupSums, find_invalid_text, replace_id_by_bucket};
use crate::arrow::key::{KeyType, push_integer};
use crate::arrow::rows::{KeyField, RowBatch, TableReader, TextField};
use crate::count::{Batch, Count, InputNames, Summary, Worker};
use crate::error::Error;
use crate::interrupt::{self, Work, in_threads, lock};
use crate::text_batches::{Block, BorrowedSegment, check_text_size};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Number of rows that a thread claims at a time. They contain about 64 KB of sentences.
const SLICE_ROWS: usize = 512;

/// Approximate number of hypothesis bytes after which a thread counts its pending rows.
const BATCH_BYTES: usize = 1 << 16;

/// The names of the columns, by role.
#[derive(Clone)]
pub struct ColumnRoles {
    /// The column of hypotheses.
    pub hypothesis: String,
    /// The columns of references, each with one reference or a list of references per row.
    pub references: Vec<String>,
    /// The column of sources. Metrics then count sources as hypotheses, and hypotheses as the first
    /// reference, as SARI does.
    pub source: Option<String>,
    /// The columns to group by.
    pub group_columns: Vec<String>,
    /// A column of ids, and the number of hash buckets for them.
    pub bucket_column: Option<(String, u64)>,
    /// Whether every row is a separate group, with its row number as its key.
    pub by_row: bool,
}

/// The name of the key column with hash buckets.
pub const BUCKET_NAME: &str = "bucket";
/// The name of the key column with row numbers.
pub const ROW_NAME: &str = "row";

impl ColumnRoles {
    /// Return the names of the key columns.
    pub fn key_names(&self) -> Vec<String> {
        let bucket = self.bucket_column.iter().map(|_| BUCKET_NAME.to_owned());
        let row = self.by_row.then(|| ROW_NAME.to_owned());
        self.group_columns.iter().cloned().chain(bucket).chain(row).collect()
    }

    /// Find the columns in a table.
    fn select_columns(&self, frame: &mut TableReader) -> Result<SelectedColumns, Error> {
        let group_columns = self.group_columns.iter().map(|name| frame.select_keys(name));
        let group_columns = group_columns.collect::<Result<Vec<_>, _>>()?;
        let mut types: Vec<_> = group_columns.iter().map(|key| key.key_type().clone()).collect();
        let id = match &self.bucket_column {
            None => None,
            Some((name, buckets)) => {
                let id = frame.select_keys(name)?;
                use KeyType::{Binary, Fixed, Integer, Null, Text};
                if !matches!(id.key_type(), Binary | Fixed(_) | Integer(_) | Null | Text) {
                    let type_name = id.key_type().name();
                    return Err(Error::Input(format!(
                        "{name}: expected ids to be strings, integers or binary values, found {type_name}"
                    )));
                }
                types.push(KeyType::Integer(b'l'));
                Some((id, *buckets))
            }
        };
        types.extend(self.by_row.then_some(KeyType::Integer(b'l')));
        Ok(SelectedColumns {
            hypothesis: frame.select_texts(&self.hypothesis, false)?,
            references: {
                let texts = self.references.iter().map(|name| frame.select_texts(name, true));
                texts.collect::<Result<_, _>>()?
            },
            source: {
                let source = self.source.as_ref();
                source.map(|name| frame.select_texts(name, false)).transpose()?
            },
            group_columns,
            id_column: id,
            types,
        })
    }
}

/// The selected columns of a table.
struct SelectedColumns {
    hypothesis: TextField,
    references: Vec<TextField>,
    source: Option<TextField>,
    group_columns: Vec<KeyField>,
    id_column: Option<(KeyField, u64)>,
    types: Vec<KeyType>,
}

/// The result of counting a table.
pub struct GroupedTable {
    /// The groups.
    pub groups: GroupSums,
    /// The number of rows.
    pub rows: u64,
    /// The first row that contains a null, counted from 1.
    pub first_null: Option<u64>,
}

/// A range of rows of one batch. `first` is the row number of its first row, counted from 0.
struct RowSlice {
    rows: Arc<RowBatch>,
    range: std::ops::Range<usize>,
    first: u64,
}

/// Batches that have been read but not yet counted.
#[derive(Default)]
struct BatchQueue {
    batches: VecDeque<Arc<RowBatch>>,
    /// The number of rows of the first batch that have been claimed.
    position: usize,
    claimed_rows: u64,
    read_rows: u64,
    /// Whether no more batches will be read.
    has_ended: bool,
    failure: Option<(u64, Error)>,
}

impl BatchQueue {
    /// Return whether there are slices for all threads, or no more batches to read.
    fn is_full(&self, threads: usize) -> bool {
        self.has_ended || self.read_rows - self.claimed_rows > ((threads - 1) * SLICE_ROWS) as u64
    }

    /// Add a batch.
    fn push(&mut self, rows: RowBatch) {
        self.read_rows += rows.len() as u64;
        if !rows.is_empty() && !self.has_ended {
            self.batches.push_back(Arc::new(rows));
        }
    }

    /// Claim the next slice.
    fn next_slice(&mut self) -> Option<RowSlice> {
        let rows = Arc::clone(self.batches.front()?);
        let range = self.position..rows.len().min(self.position + SLICE_ROWS);
        let first = self.claimed_rows;
        self.claimed_rows += range.len() as u64;
        self.position = range.end;
        if self.position == rows.len() {
            self.batches.pop_front();
            self.position = 0;
        }
        Some(RowSlice { rows, range, first })
    }

    /// Record an error and stop. If there are several errors, keep the one in the earliest row.
    fn fail(&mut self, row: u64, error: Error) {
        if self.failure.as_ref().is_none_or(|(earlier, _)| row < *earlier) {
            self.failure = Some((row, error));
        }
        self.has_ended = true;
        self.batches.clear();
    }
}

/// The shared queue of all threads. Only the calling thread reads batches: reading may run foreign
/// code, and only this thread can be interrupted.
struct SliceFeed {
    queue: Mutex<BatchQueue>,
    changed: Condvar,
    threads: usize,
}

impl SliceFeed {
    fn lock(&self) -> MutexGuard<'_, BatchQueue> {
        lock(&self.queue)
    }

    fn fail(&self, row: u64, error: Error) {
        self.lock().fail(row, error);
        self.changed.notify_all();
    }

    /// Return the next slice. Read batches from `frame` if there are too few slices.
    fn read_slice(&self, frame: &mut TableReader) -> Option<RowSlice> {
        loop {
            interrupt::poll();
            let mut queue = self.lock();
            if queue.is_full(self.threads) {
                return queue.next_slice();
            }
            let rows_before = queue.read_rows;
            drop(queue);
            match frame.next_rows() {
                Ok(Some(rows)) => self.lock().push(rows),
                Ok(None) => self.lock().has_ended = true,
                // Earlier rows may still be waiting, and their errors take precedence.
                Err(error) => {
                    let mut queue = self.lock();
                    queue.has_ended = true;
                    queue.failure.get_or_insert((rows_before, error));
                }
            }
            self.changed.notify_all();
        }
    }

    /// Wait for the next slice; return `None` at the end.
    fn wait_for_slice(&self) -> Option<RowSlice> {
        loop {
            interrupt::poll();
            let mut queue = self.lock();
            if queue.batches.is_empty() && !queue.has_ended {
                let result = self.changed.wait_timeout(queue, interrupt::PAUSE);
                queue = result.unwrap_or_else(PoisonError::into_inner).0;
            }
            let slice = queue.next_slice();
            if slice.is_some() || queue.has_ended {
                return slice;
            }
        }
    }
}

/// A guard that ends the feed when it is dropped.
struct EndOnDrop<'a>(&'a SliceFeed);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_all();
    }
}

/// Count the rows of `frame`, with one thread per worker.
///
/// If several errors occur, return the error in the earliest row.
pub fn count_table(
    roles: &ColumnRoles,
    width: usize,
    mut frame: TableReader,
    workers: &mut [Box<dyn Worker>],
) -> Result<GroupedTable, Error> {
    let columns = roles.select_columns(&mut frame)?;
    let threads = workers.len().max(1);
    let feed = SliceFeed { queue: Mutex::default(), changed: Condvar::new(), threads };
    let workers = Mutex::new(workers.iter_mut());
    let count_slices = |next: &mut dyn FnMut() -> Option<RowSlice>| {
        let mut part_counter = GroupCounter::new(roles, width, &columns);
        let worker = lock(&workers).next();
        let Some(worker) = worker else { return part_counter };
        while let Some(slice) = next() {
            if let Err(error) = part_counter.count_slice(&slice, &mut **worker) {
                feed.fail(slice.first, error);
                break;
            }
        }
        part_counter
    };
    let own_work = || {
        let _end_guard = EndOnDrop(&feed);
        count_slices(&mut || feed.read_slice(&mut frame))
    };
    let part_counters =
        in_threads(threads, own_work, || count_slices(&mut || feed.wait_for_slice()));
    let BatchQueue { failure, claimed_rows, .. } =
        feed.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, error)) = failure {
        return Err(error);
    }
    let first_null = part_counters.iter().filter_map(|counter| counter.first_null).min();
    let mut part_groups = part_counters.into_iter().map(|counter| counter.groups);
    let mut groups = part_groups.next().unwrap_or_else(|| GroupSums::new(roles.key_names(), width));
    for groups_of_part in part_groups {
        groups.merge(&groups_of_part)?;
    }
    Ok(GroupedTable { groups, rows: claimed_rows, first_null })
}

/// The groups and buffers of one thread.
struct GroupCounter<'a> {
    roles: &'a ColumnRoles,
    columns: &'a SelectedColumns,
    groups: GroupSums,
    first_null: Option<u64>,
    summary: Summary,
    key: Vec<u8>,
    /// The group of each pending row, and the row's number, counted from 1.
    pending_rows: Vec<(usize, u64)>,
}

/// The texts of the pending rows. References are grouped by column, then by index in a list.
struct PendingTexts {
    sources: Vec<Option<BorrowedSegment>>,
    hypotheses: Vec<Option<BorrowedSegment>>,
    references: Vec<Vec<Vec<Option<BorrowedSegment>>>>,
    bytes: usize,
    hypothesis_bytes: usize,
}

impl<'a> GroupCounter<'a> {
    fn new(roles: &'a ColumnRoles, width: usize, columns: &'a SelectedColumns) -> Self {
        let mut groups = GroupSums::new(roles.key_names(), width);
        groups.types = Some(columns.types.clone());
        Self {
            roles,
            columns,
            groups,
            first_null: None,
            summary: Summary::default(),
            key: Vec::with_capacity(64),
            pending_rows: Vec::new(),
        }
    }

    /// Return the group of a row.
    fn find_group(&mut self, rows: &RowBatch, i: usize, number: u64) -> Result<usize, Error> {
        let Self { roles: plan, columns: picked, groups, key, .. } = self;
        key.clear();
        for (column, name) in picked.group_columns.iter().zip(&plan.group_columns) {
            rows.read_key(column, i, key)
                .map_err(|problem| Error::Input(format!("{name}: row {number} {problem}")))?;
        }
        if plan.by_row {
            push_integer(number.into(), key);
        }
        if let Some((column, buckets)) = &picked.id_column {
            let start = key.len();
            let result = rows.read_key(column, i, key);
            result
                .and_then(|()| replace_id_by_bucket(column.key_type(), key, start, *buckets))
                .map_err(|problem| {
                    let name = plan.bucket_column.as_ref().map_or("", |(name, _)| name);
                    Error::Input(format!("{name}: row {number} {problem}"))
                })?;
        }
        let (group, is_new) = groups.get_or_insert(key);
        if is_new && let Some(column) = find_invalid_text(&picked.types, key) {
            let name = &plan.group_columns[column];
            return Err(Error::Input(format!("{name}: row {number} is not valid UTF-8")));
        }
        Ok(group)
    }

    /// Count a slice.
    fn count_slice(&mut self, slice: &RowSlice, worker: &mut dyn Worker) -> Result<(), Error> {
        let columns = self.columns;
        let rows = &*slice.rows;
        let mut texts = PendingTexts::new(columns.references.len(), slice.range.len());
        let mut work = Work::default();
        for (offset, i) in slice.range.clone().enumerate() {
            let number = slice.first + offset as u64 + 1;
            let group = self.find_group(rows, i, number)?;
            let (mut hypothesis, mut source) = (None, None);
            rows.read_texts(&columns.hypothesis, i, |_, text| hypothesis = text);
            if let Some(column) = &columns.source {
                rows.read_texts(column, i, |_, text| source = text);
                texts.push_source(source);
            }
            let has_texts = hypothesis.is_some() && source.is_some() == columns.source.is_some();
            let reference_count = texts.push_row(rows, columns, i, hypothesis, &mut work);
            let counts = self.groups.counts_mut(group);
            if has_texts && reference_count > 0 {
                counts.segments += 1;
                let found = i32::try_from(reference_count).unwrap_or(i32::MAX);
                let (min, max) = counts.references.unwrap_or((found, found));
                counts.references = Some((min.min(found), max.max(found)));
                self.pending_rows.push((group, number));
                if texts.hypothesis_bytes >= BATCH_BYTES {
                    let next = PendingTexts::new(columns.references.len(), SLICE_ROWS);
                    self.count_pending(std::mem::replace(&mut texts, next), worker)?;
                }
            } else {
                texts.drop_last(self.pending_rows.len());
                counts.null_hypotheses += i64::from(!has_texts);
                counts.null_references += i64::from(reference_count == 0);
                self.first_null.get_or_insert(number);
            }
        }
        self.count_pending(texts, worker)
    }

    /// Count the pending texts, and add the rows to their groups.
    fn count_pending(&mut self, texts: PendingTexts, worker: &mut dyn Worker) -> Result<(), Error> {
        if self.pending_rows.is_empty() {
            return Ok(());
        }
        // The name of each stream of texts, for messages.
        let mut names = vec![self.roles.hypothesis.clone()];
        for (name, streams) in self.roles.references.iter().zip(&texts.references) {
            names.extend(streams.iter().map(|_| name.clone()));
        }
        check_text_size(&names[0], texts.bytes)?;
        let count = self.pending_rows.len();
        // The slice owns the bytes while they are counted.
        let block = |segments| Block::Segments { segments, is_utf8: false, owner: None };
        let mut hypotheses = block(texts.hypotheses);
        let mut references: Vec<_> = texts.references.into_iter().flatten().map(block).collect();
        if let Some(source) = &self.roles.source {
            references.insert(0, std::mem::replace(&mut hypotheses, block(texts.sources)));
            names.insert(0, source.clone());
        }
        let names = InputNames(names);
        let batch = Batch {
            first: 0,
            count,
            hypotheses: &hypotheses,
            references: &references,
            names: &names,
            has_warnings: false,
        };
        let rows = match worker.count(&batch, &mut self.summary) {
            Ok(rows) => rows,
            Err(Error::Utf8 { input, segment, byte, .. }) => {
                let (_, number) = self.pending_rows[segment as usize - 1];
                return Err(Error::Input(format!(
                    "{input}, row {number}: byte 0x{byte:02x} is not valid UTF-8. Arrow strings must be \
                     UTF-8; decode the column with its encoding before converting it to Arrow"
                )));
            }
            Err(error) => return Err(error),
        };
        for (row, (group, _)) in rows.chunks_exact(self.groups.width()).zip(&self.pending_rows) {
            self.groups.add_row(*group, row)?;
        }
        self.pending_rows.clear();
        Ok(())
    }
}

impl PendingTexts {
    fn new(columns: usize, rows: usize) -> Self {
        Self {
            sources: Vec::new(),
            hypotheses: Vec::with_capacity(rows),
            references: (0..columns).map(|_| vec![Vec::with_capacity(rows)]).collect(),
            bytes: 0,
            hypothesis_bytes: 0,
        }
    }

    /// Add the source of the next row.
    fn push_source(&mut self, source: Option<&[u8]>) {
        self.bytes += source.map_or(0, <[u8]>::len);
        // SAFETY: the slice that owns the texts is kept until they have been counted.
        self.sources.push(source.map(|text| unsafe { BorrowedSegment::new(text) }));
    }

    /// Add a row, and return its number of references.
    #[inline]
    fn push_row(
        &mut self,
        rows: &RowBatch,
        columns: &SelectedColumns,
        i: usize,
        hypothesis: Option<&[u8]>,
        work: &mut Work,
    ) -> usize {
        let Self { hypotheses, references, bytes, hypothesis_bytes, .. } = self;
        let row_count = hypotheses.len();
        // SAFETY: the slice that owns the texts is kept until they have been counted.
        let borrow = |text: &[u8]| unsafe { BorrowedSegment::new(text) };
        let mut reference_count = 0;
        for (column, streams) in columns.references.iter().zip(references) {
            rows.read_texts(column, i, |number, text| {
                work.add(8);
                if streams.len() <= number {
                    streams.push(vec![None; row_count]);
                }
                reference_count += usize::from(text.is_some());
                *bytes += text.map_or(0, <[u8]>::len);
                streams[number].push(text.map(borrow));
            });
            for stream in streams {
                if stream.len() <= row_count {
                    stream.push(None);
                }
            }
        }
        *hypothesis_bytes += hypothesis.map_or(0, <[u8]>::len);
        *bytes += hypothesis.map_or(0, <[u8]>::len);
        hypotheses.push(hypothesis.map(borrow));
        reference_count
    }

    /// Keep only the first `count` rows.
    fn drop_last(&mut self, count: usize) {
        self.sources.truncate(count);
        self.hypotheses.truncate(count);
        for stream in self.references.iter_mut().flatten() {
            stream.truncate(count);
        }
    }
}

/// Return a worker for each thread.
pub fn create_workers(counter: &Arc<dyn Count>, count: usize) -> Vec<Box<dyn Worker>> {
    (0..count).map(|_| Arc::clone(counter).worker()).collect()
}
