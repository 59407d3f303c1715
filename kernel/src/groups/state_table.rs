//! The state table, which stores aggregated statistics for exchange between engines. A row contains
//! the sums of one group for one metric; rows with equal keys can be added.

use super::group_sums::{GroupSums, RowCounts, find_invalid_text, split_key};
use crate::arrow::key::KeyType;
use crate::arrow::rows::TableReader;
use crate::arrow::{ArrowArray, ArrowSchema, export};
use crate::columns::{ColumnRules, overflow_error};
use crate::error::Error;
use crate::interrupt::{self, Work};

/// The metrics of a state, each with its fingerprint and column rules.
#[derive(Clone, Debug)]
pub struct StateMetrics(pub Vec<(String, ColumnRules)>);

/// The names of the columns after the key columns.
const FINGERPRINT_COLUMN: &str = "fingerprint";
const COUNT_COLUMNS: [&str; 3] = ["segments", "null_hypotheses", "null_references"];
const REFERENCE_COLUMNS: [&str; 2] = ["fewest_references", "most_references"];
const STATISTICS_COLUMN: &str = "statistics";

impl StateMetrics {
    /// Return the total number of columns.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, rules)| rules.names.len()).sum()
    }

    /// Return the columns of one metric.
    pub fn metric_columns(&self, metric: usize) -> Option<std::ops::Range<usize>> {
        self.iter_columns().nth(metric).map(|(_, part)| part)
    }

    /// Return each metric's fingerprint and its columns.
    fn iter_columns(&self) -> impl Iterator<Item = (&str, std::ops::Range<usize>)> {
        let mut end = 0;
        self.0.iter().map(move |(fingerprint, rules)| {
            let start = end;
            end += rules.names.len();
            (fingerprint.as_str(), start..end)
        })
    }

    /// Return an error if the metrics cannot have produced these sums.
    fn check_sums(&self, totals: &[i64]) -> Result<(), Error> {
        for ((fingerprint, part), (_, rules)) in self.iter_columns().zip(&self.0) {
            if let Some(problem) = rules.find_violation(&totals[part]) {
                let message =
                    format!("sums of {fingerprint}: {problem}. Compute these statistics again");
                return Err(Error::Input(message));
            }
        }
        Ok(())
    }
}

/// A field of the table: its name, its format, and whether it may be null.
struct FieldSpec(String, String, bool);

/// A state as columns of an Arrow table.
pub struct StateTable {
    fields: Vec<FieldSpec>,
    array: ArrowArray,
}

/// Return the schema of a table with these fields. All lists contain integers.
fn table_schema(fields: &[FieldSpec]) -> ArrowSchema {
    let fields = fields.iter().map(|FieldSpec(name, format, nullable)| {
        let items = match format.as_str() {
            "+l" => vec![export::create_schema("l", "item", Vec::new())],
            _ => Vec::new(),
        };
        let field = export::create_schema(format, name, items);
        if *nullable { export::make_nullable(field) } else { field }
    });
    export::create_schema("+s", "", fields.collect())
}

impl StateTable {
    /// Create the table of `groups` in canonical order: by keys, then by fingerprint.
    pub fn new(groups: &GroupSums, metrics: &StateMetrics) -> Result<Self, Error> {
        let mut columns_by_metric: Vec<_> = metrics.iter_columns().collect();
        columns_by_metric.sort_unstable_by_key(|(fingerprint, _)| *fingerprint);
        let ordered_groups = groups.ordered_groups();
        let rows = ordered_groups.len() * columns_by_metric.len();
        let group_metric_pairs = || {
            let mut work = Work::default();
            let groups_iter = ordered_groups.iter().inspect(move |_| work.add(16));
            groups_iter.flat_map(|&group| columns_by_metric.iter().map(move |part| (group, part)))
        };
        let (mut fields, mut columns) =
            key_columns(groups, group_metric_pairs().map(|(group, _)| group))?;
        let mut push_column = |name: &str, format: String, nullable: bool, column: ArrowArray| {
            fields.push(FieldSpec(name.to_owned(), format, nullable));
            columns.push(column);
        };
        let (format, array) =
            text_column(group_metric_pairs().map(|(_, (fingerprint, _))| *fingerprint));
        push_column(FINGERPRINT_COLUMN, format, false, array);
        for (i, name) in COUNT_COLUMNS.into_iter().enumerate() {
            let counts = group_metric_pairs().map(|(group, _)| groups.counts_of_group(group));
            let values: Vec<_> = counts.map(|counts| counts.numbers()[i]).collect();
            push_column(name, "l".into(), false, export::number_column(values));
        }
        let bounds: [fn((i32, i32)) -> i32; 2] = [|(min, _)| min, |(_, max)| max];
        for (name, bound) in REFERENCE_COLUMNS.into_iter().zip(bounds) {
            let values: Vec<_> = group_metric_pairs()
                .map(|(group, _)| groups.counts_of_group(group).references.map(bound))
                .collect();
            let valid: Vec<_> = values.iter().map(Option::is_some).collect();
            let values = values.iter().flat_map(|value| value.unwrap_or(0).to_le_bytes()).collect();
            push_column(name, "i".into(), true, export::nullable_column(&valid, vec![values]));
        }
        let mut items = Vec::with_capacity(ordered_groups.len() * metrics.width());
        let mut ends = Vec::with_capacity(rows);
        for (group, (_, part)) in group_metric_pairs() {
            items.extend_from_slice(&groups.sums_of_group(group)[part.clone()]);
            ends.push(items.len());
        }
        if i32::try_from(items.len()).is_err() {
            return Err(Error::Input(format!(
                "too many groups for one table: {}. Merge the states instead",
                ordered_groups.len()
            )));
        }
        push_column(
            STATISTICS_COLUMN,
            "+l".into(),
            false,
            export::list_column(&ends, export::number_column(items)),
        );
        Ok(Self { fields, array: export::struct_array(rows, columns) })
    }

    /// Create a table with one row per group: key, score, number of segments, and further columns
    /// of text. All inputs must have the same length.
    pub fn from_scores(
        groups: &GroupSums,
        group_indices: &[usize],
        scores: Vec<f64>,
        text_columns: &[(String, Vec<String>)],
    ) -> Result<Self, Error> {
        let (mut fields, mut columns) = key_columns(groups, group_indices.iter().copied())?;
        let mut push_column = |name: &str, format: String, column: ArrowArray| {
            fields.push(FieldSpec(name.to_owned(), format, false));
            columns.push(column);
        };
        push_column("score", "g".into(), export::number_column(scores));
        let segments: Vec<_> =
            group_indices.iter().map(|&group| groups.counts_of_group(group).segments).collect();
        push_column(COUNT_COLUMNS[0], "l".into(), export::number_column(segments));
        for (name, values) in text_columns {
            let (format, array) = text_column(values.iter().map(String::as_str));
            push_column(name, format, array);
        }
        Ok(Self { fields, array: export::struct_array(group_indices.len(), columns) })
    }

    /// Create a table with one column of scores, which is null where `valid` is false.
    pub fn from_row_scores(scores: impl Iterator<Item = f64>, valid: &[bool]) -> Self {
        let values = scores.flat_map(f64::to_le_bytes).collect();
        let column = export::nullable_column(valid, vec![values]);
        let fields = vec![FieldSpec("score".into(), "g".into(), true)];
        Self { fields, array: export::struct_array(valid.len(), vec![column]) }
    }

    /// Return the table as one structure of columns.
    pub fn into_structure(self) -> (ArrowSchema, ArrowArray) {
        (table_schema(&self.fields), self.array)
    }

    /// Return the table as a stream of one batch.
    pub fn into_stream(self) -> crate::arrow::ArrowArrayStream {
        let fields = self.fields;
        export::single_array_stream(move || table_schema(&fields), self.array)
    }
}

/// Return the key columns of these groups.
fn key_columns(
    groups: &GroupSums,
    group_indices: impl Iterator<Item = usize>,
) -> Result<(Vec<FieldSpec>, Vec<ArrowArray>), Error> {
    let unknown = vec![KeyType::Null; groups.names.len()];
    let types = groups.types.as_ref().unwrap_or(&unknown);
    let mut keys = vec![Vec::new(); types.len()];
    for group in group_indices {
        for (column, (_, entry)) in keys.iter_mut().zip(groups.key_entries(group)) {
            column.push(entry);
        }
    }
    let key_column = |((name, key_type), column): ((&String, &KeyType), &Vec<&[u8]>)| {
        let (format, array) = key_type.column(column).ok_or_else(|| decimal_error(name))?;
        Ok((FieldSpec(name.clone(), format, true), array))
    };
    groups.names.iter().zip(types).zip(&keys).map(key_column).collect()
}

/// Return a column of strings, and the column's format.
fn text_column<'a>(values: impl Iterator<Item = &'a str>) -> (String, ArrowArray) {
    let entries: Vec<Vec<u8>> = values.map(text_entry).collect();
    let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
    KeyType::Text.column(&entries).unwrap_or_else(|| unreachable!("strings have no scale"))
}

/// Return the error for decimal keys without a common decimal type.
fn decimal_error(name: &str) -> Error {
    Error::Input(format!(
        "{name}: the keys do not fit a decimal type of 38 digits. Round them, or cast them to text"
    ))
}

/// Return the key entry of a string.
fn text_entry(text: &str) -> Vec<u8> {
    let length = (text.len() as u32).to_le_bytes();
    [&[1], &length[..], text.as_bytes()].concat()
}

/// Read the groups of a state table that has key columns with these names.
pub fn read_state_table(
    mut frame: TableReader,
    names: &[String],
    has_bucket: bool,
    metrics: &StateMetrics,
) -> Result<GroupSums, Error> {
    let keys = names.iter().map(|name| frame.select_keys(name)).collect::<Result<Vec<_>, _>>()?;
    let mut types: Vec<_> = keys.iter().map(|key| key.key_type().clone()).collect();
    if has_bucket && let Some(key_type) = types.last_mut() {
        if !matches!(key_type, KeyType::Integer(_) | KeyType::Null) {
            let (name, type_name) = (names.last().map_or("", String::as_str), key_type.name());
            return Err(Error::Input(format!("{name}: expected integers, found {type_name}")));
        }
        *key_type = KeyType::Integer(b'l');
    }
    let fingerprints = frame.select_keys(FINGERPRINT_COLUMN)?;
    let counts = COUNT_COLUMNS.map(|name| frame.select_integers(name));
    let [segments, null_hypotheses, null_references] = counts;
    let counts = [segments?, null_hypotheses?, null_references?];
    let [min_column, max_column] = REFERENCE_COLUMNS.map(|name| frame.select_integers(name));
    let (min_column, max_column) = (min_column?, max_column?);
    let statistics = frame.select_lists(STATISTICS_COLUMN)?;
    let mut groups = GroupSums::new(names.to_vec(), metrics.width());
    groups.types = Some(types.clone());
    let metric_parts: Vec<_> =
        metrics.iter_columns().map(|(fingerprint, part)| (text_entry(fingerprint), part)).collect();
    // The row counts per group and metric, which must be equal for all metrics.
    let mut metric_counts: Vec<Option<RowCounts>> = Vec::new();
    let (mut key, mut fingerprint, mut integers) = (Vec::new(), Vec::new(), Vec::new());
    let mut row = 0_u64;
    let mut work = Work::default();
    while let Some(rows) = frame.next_rows()? {
        interrupt::poll();
        for i in 0..rows.len() {
            row += 1;
            work.add(64 + metrics.width());
            let row_error = |column: &str, problem: &str| {
                Error::Input(format!("{column}: row {row} of the state {problem}"))
            };
            key.clear();
            for (column, name) in keys.iter().zip(names) {
                rows.read_key(column, i, &mut key).map_err(|problem| row_error(name, problem))?;
            }
            fingerprint.clear();
            rows.read_key(&fingerprints, i, &mut fingerprint)
                .map_err(|problem| row_error(FINGERPRINT_COLUMN, problem))?;
            let metric = metric_parts.iter().position(|(entry, _)| *entry == fingerprint);
            let Some(metric) = metric else {
                let found_fingerprint =
                    fingerprints.key_type().entry_value(&fingerprint).unwrap_or_default();
                let expected_fingerprints: Vec<_> =
                    metrics.0.iter().map(|(fingerprint, _)| fingerprint.as_str()).collect();
                return Err(Error::Input(format!(
                    "cannot add statistics of {} to sums of {}",
                    String::from_utf8_lossy(found_fingerprint),
                    expected_fingerprints.join(" and ")
                )));
            };
            let columns = &metric_parts[metric].1;
            let mut row_counts = [0_i64; 3];
            for ((row_count, column), name) in row_counts.iter_mut().zip(&counts).zip(COUNT_COLUMNS)
            {
                let count =
                    rows.read_integer(column, i).ok_or_else(|| row_error(name, "is null"))?;
                *row_count = i64::try_from(count).map_err(|_| overflow_error())?;
                if *row_count < 0 {
                    return Err(row_error(name, "is negative"));
                }
            }
            let read_bound = |column, name| match rows.read_integer(column, i).map(i32::try_from) {
                None => Ok(None),
                Some(Ok(bound)) if bound > 0 => Ok(Some(bound)),
                Some(_) => Err(row_error(name, "is not a positive 32-bit integer")),
            };
            let references = match (
                read_bound(&min_column, REFERENCE_COLUMNS[0])?,
                read_bound(&max_column, REFERENCE_COLUMNS[1])?,
            ) {
                (Some(min), Some(max)) if min <= max => Some((min, max)),
                (None, None) => None,
                _ => return Err(row_error(REFERENCE_COLUMNS[1], "is smaller than the minimum")),
            };
            if references.is_some() != (row_counts[0] > 0) {
                return Err(row_error(COUNT_COLUMNS[0], "contradicts the numbers of references"));
            }
            integers.clear();
            if !rows.read_list(&statistics, i, &mut integers) || integers.len() != columns.len() {
                let problem = format!("is not a list of {} integers", columns.len());
                return Err(row_error(STATISTICS_COLUMN, &problem));
            }
            let (group, is_new) = groups.get_or_insert(&key);
            if is_new {
                metric_counts.resize(groups.len() * metric_parts.len(), None);
                if let Some(column) = find_invalid_text(&types, &key) {
                    return Err(row_error(&names[column], "is not valid UTF-8"));
                }
            }
            groups.add_checked(group, columns.start, &integers)?;
            let counts = RowCounts::from_numbers(row_counts, references);
            let previous = &mut metric_counts[group * metric_parts.len() + metric];
            *previous = Some(match previous {
                None => counts,
                Some(previous) => previous.checked_add(counts).ok_or_else(overflow_error)?,
            });
        }
    }
    for group in 0..groups.len() {
        work.add(16 + metrics.width());
        let counts_of_group =
            &metric_counts[group * metric_parts.len()..(group + 1) * metric_parts.len()];
        let first = counts_of_group.iter().flatten().next().copied().unwrap_or(RowCounts::EMPTY);
        for (counts, (fingerprint, _)) in counts_of_group.iter().zip(&metrics.0) {
            if *counts != Some(first) {
                let problem = match counts {
                    None => "has rows for other metrics, but not for",
                    Some(_) => "has different counts for",
                };
                return Err(Error::Input(format!(
                    "the state is incomplete: a group {problem} {fingerprint}. A row was lost or \
                     added twice"
                )));
            }
        }
        *groups.counts_mut(group) = first;
        metrics.check_sums(groups.sums_of_group(group))?;
    }
    Ok(groups)
}

/// Encode the groups in canonical order.
///
/// A group consists of the length of its key (4 bytes) and the key; the number of segments, of rows
/// without a hypothesis and of rows without a reference (8 bytes each); the smallest and largest
/// number of references (4 bytes each; 0 if there are no segments); and the sums (8 bytes each).
/// All integers are little-endian.
pub fn encode_groups(groups: &GroupSums) -> Vec<u8> {
    let mut out = Vec::new();
    let mut work = Work::default();
    for group in groups.ordered_groups() {
        work.add(32 + groups.width());
        let (key, counts) = (groups.key(group), groups.counts_of_group(group));
        out.extend_from_slice(&(key.len() as u32).to_le_bytes());
        out.extend_from_slice(key);
        out.extend(counts.numbers().into_iter().flat_map(i64::to_le_bytes));
        let (min, max) = counts.references.unwrap_or((0, 0));
        out.extend_from_slice(&min.to_le_bytes());
        out.extend_from_slice(&max.to_le_bytes());
        out.extend(groups.sums_of_group(group).iter().flat_map(|total| total.to_le_bytes()));
    }
    out
}

/// Decode the groups that [`encode_groups`] wrote, for keys with these names and types. Return an
/// error for invalid bytes.
pub fn decode_groups(
    names: &[String],
    types: Option<Vec<KeyType>>,
    metrics: &StateMetrics,
    bytes: &[u8],
) -> Result<GroupSums, Error> {
    let mut groups = GroupSums::new(names.to_vec(), metrics.width());
    let type_count = types.as_ref().map_or(0, Vec::len);
    groups.types = types;
    if type_count != names.len() && !(groups.types.is_none() && bytes.is_empty()) {
        return Err(damaged_error("the number of keys differs from the number of names"));
    }
    let mut remaining = bytes;
    let mut work = Work::default();
    while !remaining.is_empty() {
        work.add(64 + groups.width());
        decode_group(&mut groups, metrics, &mut remaining)?;
    }
    Ok(groups)
}

/// Decode the group at the start of `remaining`, and add it to `groups`.
fn decode_group(
    groups: &mut GroupSums,
    metrics: &StateMetrics,
    remaining: &mut &[u8],
) -> Result<(), Error> {
    fn take_bytes<const N: usize>(remaining: &mut &[u8]) -> Result<[u8; N], Error> {
        let chunk = remaining.split_first_chunk();
        let (chunk_bytes, after) =
            chunk.ok_or_else(|| damaged_error("the last group is truncated"))?;
        *remaining = after;
        Ok(*chunk_bytes)
    }
    let length = u32::from_le_bytes(take_bytes(remaining)?) as usize;
    let (key, after) =
        remaining.split_at_checked(length).ok_or_else(|| damaged_error("a key is truncated"))?;
    *remaining = after;
    let types = groups.types.as_deref().unwrap_or(&[]);
    let (mut count, mut end) = (0, 0);
    for (key_type, entry) in split_key(types, key) {
        if !key_type.is_canonical(entry) {
            return Err(damaged_error("a key does not match its type"));
        }
        (count, end) = (count + 1, end + entry.len());
    }
    if (count, end) != (types.len(), length) {
        return Err(damaged_error("a key does not match its type"));
    }
    let (group, is_new) = groups.get_or_insert(key);
    if !is_new {
        return Err(damaged_error("two groups have the same key"));
    }
    let mut counts = [0; 3];
    for count in &mut counts {
        *count = i64::from_le_bytes(take_bytes(remaining)?);
    }
    let bounds =
        (i32::from_le_bytes(take_bytes(remaining)?), i32::from_le_bytes(take_bytes(remaining)?));
    let references = (counts[0] > 0).then_some(bounds);
    let has_valid_bounds = references.map_or(bounds == (0, 0), |(min, max)| 0 < min && min <= max);
    if !has_valid_bounds || counts.iter().any(|count| *count < 0) {
        return Err(damaged_error("invalid counts"));
    }
    *groups.counts_mut(group) = RowCounts::from_numbers(counts, references);
    let row = (0..groups.width()).map(|_| Ok(i64::from_le_bytes(take_bytes(remaining)?)));
    let row = row.collect::<Result<Vec<_>, Error>>()?;
    metrics.check_sums(&row)?;
    groups.add_row(group, &row)
}

/// Return the error for invalid bytes.
fn damaged_error(problem: &str) -> Error {
    Error::Input(format!("invalid sums: {problem}. Create them again"))
}
