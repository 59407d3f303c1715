//! The table of a state: what engines exchange instead of text. A row is one group's totals of one
//! metric; rows of the same keys add up.

use super::group_sums::{Counts, Groups, entries};
use crate::arrow::key::KeyType;
use crate::arrow::rows::Frame;
use crate::arrow::{ArrowArray, ArrowSchema, export};
use crate::columns::{Rules, too_large};
use crate::error::Error;
use crate::interrupt::{self, Work};

/// The metrics of a state: the fingerprint of each, and what its columns are.
#[derive(Clone, Debug)]
pub struct Metrics(pub Vec<(String, Rules)>);

/// The columns behind those of the keys.
const FINGERPRINT: &str = "fingerprint";
const COUNTS: [&str; 3] = ["segments", "null_hypotheses", "null_references"];
const REFERENCES: [&str; 2] = ["fewest_references", "most_references"];
const STATISTICS: &str = "statistics";

impl Metrics {
    /// The number of columns of all of them.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, rules)| rules.names.len()).sum()
    }

    /// The columns of one metric.
    pub fn part(&self, metric: usize) -> Option<std::ops::Range<usize>> {
        self.parts().nth(metric).map(|(_, part)| part)
    }

    /// Each metric's fingerprint and its part of a row.
    fn parts(&self) -> impl Iterator<Item = (&str, std::ops::Range<usize>)> {
        let mut end = 0;
        self.0.iter().map(move |(fingerprint, rules)| {
            let start = end;
            end += rules.names.len();
            (fingerprint.as_str(), start..end)
        })
    }

    /// The error for totals that these metrics cannot have counted.
    fn check(&self, totals: &[i64]) -> Result<(), Error> {
        for ((fingerprint, part), (_, rules)) in self.parts().zip(&self.0) {
            if let Some(why) = rules.broken(&totals[part]) {
                let told = format!("sums of {fingerprint}: {why}; they are not those of text");
                return Err(Error::Input(told));
            }
        }
        Ok(())
    }
}

/// A field of the table: its name, its format, whether it may be null.
struct Field(String, String, bool);

/// A state as a table, ready to be given out.
pub struct Table {
    fields: Vec<Field>,
    array: ArrowArray,
}

/// The schema of a table of these fields, the last of them lists of integers.
fn schema(fields: &[Field]) -> ArrowSchema {
    let fields = fields.iter().map(|Field(name, format, nullable)| {
        let items = match format.as_str() {
            "+l" => vec![export::schema("l", "item", Vec::new())],
            _ => Vec::new(),
        };
        let field = export::schema(format, name, items);
        if *nullable { export::nullable(field) } else { field }
    });
    export::schema("+s", "", fields.collect())
}

impl Table {
    /// The table of `groups`, in canonical order: by keys, then by fingerprint.
    pub fn new(groups: &Groups, metrics: &Metrics) -> Result<Self, Error> {
        let mut parts: Vec<_> = metrics.parts().collect();
        parts.sort_unstable_by_key(|(fingerprint, _)| *fingerprint);
        let ordered = groups.ordered();
        let rows = ordered.len() * parts.len();
        let each = || {
            let mut work = Work::default();
            let each = ordered.iter().inspect(move |_| work.done(16));
            each.flat_map(|&group| parts.iter().map(move |part| (group, part)))
        };
        let (mut fields, mut columns) = keys(groups, each().map(|(group, _)| group))?;
        let mut put = |name: &str, format: String, nullable: bool, column: ArrowArray| {
            fields.push(Field(name.to_owned(), format, nullable));
            columns.push(column);
        };
        let (format, array) = texts(each().map(|(_, (fingerprint, _))| *fingerprint));
        put(FINGERPRINT, format, false, array);
        let counts: [fn(&Counts) -> i64; 3] =
            [|counts| counts.segments, |c| c.null_hypotheses, |c| c.null_references];
        for (name, count) in COUNTS.into_iter().zip(counts) {
            let values: Vec<_> = each().map(|(group, _)| count(groups.counts(group))).collect();
            put(name, "l".into(), false, export::numbers(values));
        }
        let bounds: [fn((i32, i32)) -> i32; 2] = [|(fewest, _)| fewest, |(_, most)| most];
        for (name, bound) in REFERENCES.into_iter().zip(bounds) {
            let values: Vec<_> =
                each().map(|(group, _)| groups.counts(group).references.map(bound)).collect();
            let valid: Vec<_> = values.iter().map(Option::is_some).collect();
            let values = values.iter().flat_map(|value| value.unwrap_or(0).to_le_bytes()).collect();
            put(name, "i".into(), true, export::column(&valid, vec![values]));
        }
        let mut items = Vec::with_capacity(ordered.len() * metrics.width());
        let mut ends = Vec::with_capacity(rows);
        for (group, (_, part)) in each() {
            items.extend_from_slice(&groups.totals(group)[part.clone()]);
            ends.push(items.len());
        }
        if i32::try_from(items.len()).is_err() {
            return Err(Error::Input(format!(
                "{} groups are too many for one table; merge states instead",
                ordered.len()
            )));
        }
        put(STATISTICS, "+l".into(), false, export::lists(&ends, export::numbers(items)));
        Ok(Self { fields, array: export::structure(rows, columns) })
    }

    /// A table of scores: of each of these groups its key, its score and its segments, and columns
    /// of text. Nothing is looked at but lengths.
    pub fn of_scores(
        groups: &Groups,
        chosen: &[usize],
        scores: Vec<f64>,
        beside: &[(String, Vec<String>)],
    ) -> Result<Self, Error> {
        let (mut fields, mut columns) = keys(groups, chosen.iter().copied())?;
        let mut put = |name: &str, format: String, column: ArrowArray| {
            fields.push(Field(name.to_owned(), format, false));
            columns.push(column);
        };
        put("score", "g".into(), export::numbers(scores));
        let segments: Vec<_> = chosen.iter().map(|&group| groups.counts(group).segments).collect();
        put(COUNTS[0], "l".into(), export::numbers(segments));
        for (name, values) in beside {
            let (format, array) = texts(values.iter().map(String::as_str));
            put(name, format, array);
        }
        Ok(Self { fields, array: export::structure(chosen.len(), columns) })
    }

    /// A table of one column of scores, null where `valid` is false.
    pub fn of_rows(scores: impl Iterator<Item = f64>, valid: &[bool]) -> Self {
        let values = scores.flat_map(f64::to_le_bytes).collect();
        let column = export::column(valid, vec![values]);
        let fields = vec![Field("score".into(), "g".into(), true)];
        Self { fields, array: export::structure(valid.len(), vec![column]) }
    }

    /// The table as one structure of columns.
    pub fn structure(self) -> (ArrowSchema, ArrowArray) {
        (schema(&self.fields), self.array)
    }

    /// The table as a stream of one batch.
    pub fn stream(self) -> crate::arrow::ArrowArrayStream {
        let fields = self.fields;
        export::stream(move || schema(&fields), self.array)
    }
}

/// The columns of the keys of some groups.
fn keys(
    groups: &Groups,
    chosen: impl Iterator<Item = usize>,
) -> Result<(Vec<Field>, Vec<ArrowArray>), Error> {
    let unknown = vec![KeyType::Null; groups.names.len()];
    let types = groups.types.as_ref().unwrap_or(&unknown);
    let mut keys = vec![Vec::new(); types.len()];
    for group in chosen {
        for (column, (_, entry)) in keys.iter_mut().zip(groups.entries(group)) {
            column.push(entry);
        }
    }
    let of_key = |((name, of), column): ((&String, &KeyType), &Vec<&[u8]>)| {
        let (format, array) = of.column(column).ok_or_else(|| unfit(name))?;
        Ok((Field(name.clone(), format, true), array))
    };
    groups.names.iter().zip(types).zip(&keys).map(of_key).collect()
}

/// A column of strings, and its format.
fn texts<'a>(values: impl Iterator<Item = &'a str>) -> (String, ArrowArray) {
    let entries: Vec<Vec<u8>> = values.map(text_entry).collect();
    let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
    KeyType::Text.column(&entries).unwrap_or_else(|| unreachable!("strings have no scale"))
}

/// The error for keys that no column holds.
fn unfit(name: &str) -> Error {
    Error::Input(format!(
        "{name}: no decimal of 38 digits holds all of these keys; round them, or cast them to text"
    ))
}

/// A string as the entry of a key.
fn text_entry(text: &str) -> Vec<u8> {
    let length = (text.len() as u32).to_le_bytes();
    [&[1], &length[..], text.as_bytes()].concat()
}

/// The groups that the rows of a table of states are, with keys of these names.
pub fn read(
    mut frame: Frame,
    names: &[String],
    bucketed: bool,
    metrics: &Metrics,
) -> Result<Groups, Error> {
    let keys = names.iter().map(|name| frame.keys(name)).collect::<Result<Vec<_>, _>>()?;
    let mut types: Vec<_> = keys.iter().map(|key| key.of().clone()).collect();
    if bucketed && let Some(of) = types.last_mut() {
        if !matches!(of, KeyType::Integer(_) | KeyType::Null) {
            let (name, found) = (names.last().map_or("", String::as_str), of.name());
            return Err(Error::Input(format!("{name}: expected integers, not {found}")));
        }
        *of = KeyType::Integer(b'l');
    }
    let fingerprints = frame.keys(FINGERPRINT)?;
    let counts = COUNTS.map(|name| frame.integers(name));
    let [segments, null_hypotheses, null_references] = counts;
    let counts = [segments?, null_hypotheses?, null_references?];
    let [fewest, most] = REFERENCES.map(|name| frame.integers(name));
    let (fewest, most) = (fewest?, most?);
    let statistics = frame.lists(STATISTICS)?;
    let mut groups = Groups::new(names.to_vec(), metrics.width());
    groups.types = Some(types.clone());
    let parts: Vec<_> =
        metrics.parts().map(|(fingerprint, part)| (text_entry(fingerprint), part)).collect();
    // Of each group, what was counted beside each metric.
    let mut seen: Vec<Option<Counts>> = Vec::new();
    let (mut key, mut fingerprint, mut integers) = (Vec::new(), Vec::new(), Vec::new());
    let mut row = 0_u64;
    let mut work = Work::default();
    while let Some(rows) = frame.next_rows()? {
        interrupt::poll();
        for i in 0..rows.len() {
            row += 1;
            work.done(64 + metrics.width());
            let wrong = |column: &str, why: &str| {
                Error::Input(format!("{column}: row {row} of the state {why}"))
            };
            key.clear();
            for (column, name) in keys.iter().zip(names) {
                rows.key(column, i, &mut key).map_err(|why| wrong(name, why))?;
            }
            fingerprint.clear();
            rows.key(&fingerprints, i, &mut fingerprint).map_err(|why| wrong(FINGERPRINT, why))?;
            let known = parts.iter().position(|(known, _)| *known == fingerprint);
            let Some(metric) = known else {
                let found = fingerprints.of().value(&fingerprint).unwrap_or_default();
                let own: Vec<_> = metrics.0.iter().map(|(own, _)| own.as_str()).collect();
                return Err(Error::Input(format!(
                    "these statistics were made with {}, and these sums are of {}",
                    String::from_utf8_lossy(found),
                    own.join(" and ")
                )));
            };
            let part = &parts[metric].1;
            let mut numbers = [0_i64; 3];
            for ((number, column), name) in numbers.iter_mut().zip(&counts).zip(COUNTS) {
                let count = rows.integer(column, i).ok_or_else(|| wrong(name, "is null"))?;
                *number = i64::try_from(count).map_err(|_| too_large())?;
                if *number < 0 {
                    return Err(wrong(name, "is below 0"));
                }
            }
            let bound = |column, name| match rows.integer(column, i).map(i32::try_from) {
                None => Ok(None),
                Some(Ok(bound)) if bound > 0 => Ok(Some(bound)),
                Some(_) => Err(wrong(name, "is not a valid number of references")),
            };
            let references = match (bound(&fewest, REFERENCES[0])?, bound(&most, REFERENCES[1])?) {
                (Some(fewest), Some(most)) if fewest <= most => Some((fewest, most)),
                (None, None) => None,
                _ => return Err(wrong(REFERENCES[1], "does not fit the fewest")),
            };
            if references.is_some() != (numbers[0] > 0) {
                return Err(wrong(COUNTS[0], "does not fit the numbers of references"));
            }
            integers.clear();
            if !rows.list(&statistics, i, &mut integers) || integers.len() != part.len() {
                let why = format!("is not a list of {} integers", part.len());
                return Err(wrong(STATISTICS, &why));
            }
            let (group, new) = groups.group(&key);
            if new {
                seen.resize(groups.len() * parts.len(), None);
                for ((of, entry), name) in entries(&types, &key).zip(names) {
                    let text = of.value(entry).filter(|_| *of == KeyType::Text);
                    if text.is_some_and(|text| simdutf8::basic::from_utf8(text).is_err()) {
                        return Err(wrong(name, "is not UTF-8"));
                    }
                }
            }
            groups.add_checked(group, part.start, &integers)?;
            let counts = Counts {
                segments: numbers[0],
                null_hypotheses: numbers[1],
                null_references: numbers[2],
                references,
            };
            let before = &mut seen[group * parts.len() + metric];
            *before = Some(match before {
                None => counts,
                Some(before) => before.plus(counts).ok_or_else(too_large)?,
            });
        }
    }
    for group in 0..groups.len() {
        work.done(16 + metrics.width());
        let of_metrics = &seen[group * parts.len()..(group + 1) * parts.len()];
        let first = of_metrics.iter().flatten().next().copied().unwrap_or(Counts::NONE);
        for (counts, (fingerprint, _)) in of_metrics.iter().zip(&metrics.0) {
            if *counts != Some(first) {
                let why = match counts {
                    None => "has rows of other metrics and none",
                    Some(_) => "counts other segments",
                };
                return Err(Error::Input(format!(
                    "the state is not whole: a group {why} of {fingerprint}; a row was lost or \
                     added twice"
                )));
            }
        }
        *groups.counts_mut(group) = first;
        metrics.check(groups.totals(group))?;
    }
    Ok(groups)
}

/// The groups in canonical order as bytes: of each the length of its key in 4 bytes, the key; the
/// segments, the rows without a hypothesis and those without a reference, in 8 bytes each; the
/// fewest and the most references, in 4 bytes each, 0 if there are no segments; the totals, in 8
/// bytes each. All little-endian.
pub fn to_bytes(groups: &Groups) -> Vec<u8> {
    let mut out = Vec::new();
    let mut work = Work::default();
    for group in groups.ordered() {
        work.done(32 + groups.width());
        let (key, counts) = (groups.key(group), groups.counts(group));
        out.extend_from_slice(&(key.len() as u32).to_le_bytes());
        out.extend_from_slice(key);
        for count in [counts.segments, counts.null_hypotheses, counts.null_references] {
            out.extend_from_slice(&count.to_le_bytes());
        }
        let (fewest, most) = counts.references.unwrap_or((0, 0));
        out.extend_from_slice(&fewest.to_le_bytes());
        out.extend_from_slice(&most.to_le_bytes());
        out.extend(groups.totals(group).iter().flat_map(|total| total.to_le_bytes()));
    }
    out
}

/// The groups that [`to_bytes`] wrote, of keys of these names and types; an error for what it
/// cannot have written.
pub fn from_bytes(
    names: &[String],
    types: Option<Vec<KeyType>>,
    metrics: &Metrics,
    bytes: &[u8],
) -> Result<Groups, Error> {
    let mut groups = Groups::new(names.to_vec(), metrics.width());
    let known = types.as_ref().map_or(0, Vec::len);
    groups.types = types;
    if known != names.len() && !(groups.types.is_none() && bytes.is_empty()) {
        return Err(damaged("another number of keys than their names"));
    }
    let mut rest = bytes;
    let mut work = Work::default();
    while !rest.is_empty() {
        work.done(64 + groups.width());
        put_group(&mut groups, metrics, &mut rest)?;
    }
    Ok(groups)
}

/// Puts the group that `rest` starts with into `groups`.
fn put_group(groups: &mut Groups, metrics: &Metrics, rest: &mut &[u8]) -> Result<(), Error> {
    fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Error> {
        let found = rest.split_first_chunk();
        let (first, more) = found.ok_or_else(|| damaged("the last group is cut"))?;
        *rest = more;
        Ok(*first)
    }
    let length = u32::from_le_bytes(take(rest)?) as usize;
    let (key, more) = rest.split_at_checked(length).ok_or_else(|| damaged("a key is cut"))?;
    *rest = more;
    let types = groups.types.as_deref().unwrap_or(&[]);
    let (mut count, mut end) = (0, 0);
    for (of, entry) in entries(types, key) {
        if !of.is_canonical(entry) {
            return Err(damaged("a key is none of its type"));
        }
        (count, end) = (count + 1, end + entry.len());
    }
    if (count, end) != (types.len(), length) {
        return Err(damaged("a key is none of its type"));
    }
    let (group, new) = groups.group(key);
    if !new {
        return Err(damaged("two groups have one key"));
    }
    let mut counts = [0; 3];
    for count in &mut counts {
        *count = i64::from_le_bytes(take(rest)?);
    }
    let [segments, null_hypotheses, null_references] = counts;
    let bounds = (i32::from_le_bytes(take(rest)?), i32::from_le_bytes(take(rest)?));
    let references = (segments > 0).then_some(bounds);
    let whole = references.map_or(bounds == (0, 0), |(least, most)| 0 < least && least <= most);
    if !whole || counts.iter().any(|count| *count < 0) {
        return Err(damaged("counts that no rows have"));
    }
    *groups.counts_mut(group) = Counts { segments, null_hypotheses, null_references, references };
    let row = (0..groups.width()).map(|_| Ok(i64::from_le_bytes(take(rest)?)));
    let row = row.collect::<Result<Vec<_>, Error>>()?;
    metrics.check(&row)?;
    groups.add(group, &row)
}

fn damaged(why: &str) -> Error {
    Error::Input(format!("these bytes are not sums: {why}; make them again"))
}
