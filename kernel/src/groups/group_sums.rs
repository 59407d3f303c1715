//! Collections of groups, which store the key, the row sum and the counts of each group.

use crate::arrow::key::{KeyType, push_integer};
use crate::columns::{self, overflow_error};
use crate::error::Error;
use crate::interrupt::Work;
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::hash::Hasher;

/// The row counts of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCounts {
    /// The number of rows with both a hypothesis and a reference.
    pub segments: i64,
    /// The number of rows without a hypothesis.
    pub null_hypotheses: i64,
    /// The number of rows without any reference.
    pub null_references: i64,
    /// The smallest and largest number of references per segment.
    pub references: Option<(i32, i32)>,
}

impl RowCounts {
    /// The counts of an empty group.
    pub const EMPTY: Self =
        Self { segments: 0, null_hypotheses: 0, null_references: 0, references: None };

    /// Create counts from the first three numbers, and the smallest and largest number of references.
    pub fn from_numbers(numbers: [i64; 3], references: Option<(i32, i32)>) -> Self {
        let [segments, null_hypotheses, null_references] = numbers;
        Self { segments, null_hypotheses, null_references, references }
    }

    /// Return the first three numbers.
    pub fn numbers(&self) -> [i64; 3] {
        [self.segments, self.null_hypotheses, self.null_references]
    }

    /// Return the sum of both counts, or `None` if it overflows 64 bits.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            segments: self.segments.checked_add(other.segments)?,
            null_hypotheses: self.null_hypotheses.checked_add(other.null_hypotheses)?,
            null_references: self.null_references.checked_add(other.null_references)?,
            references: match (self.references, other.references) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (first, second) => first.or(second),
            },
        })
    }
}

/// Groups by key. A key consists of the entries of its columns, in the format of
/// [`crate::arrow::key`].
#[derive(Clone)]
pub struct GroupSums {
    /// The names of the key columns, for messages and tables.
    pub names: Vec<String>,
    /// The types of the key columns, or `None` if nothing has been read.
    pub types: Option<Vec<KeyType>>,
    width: usize,
    /// An open-addressing table of group indices plus one; 0 is a free slot.
    slots: Vec<u32>,
    hashes: Vec<u64>,
    keys: Vec<u8>,
    /// The end of each group's key in `keys`.
    ends: Vec<usize>,
    sums: Vec<i64>,
    counts: Vec<RowCounts>,
}

impl GroupSums {
    /// Create an empty collection with these key columns, and sums of `width` columns.
    pub fn new(names: Vec<String>, width: usize) -> Self {
        Self {
            names,
            types: None,
            width,
            slots: vec![0; 16],
            hashes: Vec::new(),
            // Allocate memory even while keys are empty, because glibc needs 130 ns to compare zero
            // bytes at an unmapped address, where the masked load faults.
            keys: Vec::with_capacity(64),
            ends: Vec::new(),
            sums: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Return the number of groups.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Return whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Return the number of columns of the sums.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Return the key of a group.
    pub fn key(&self, group: usize) -> &[u8] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.keys[start..self.ends[group]]
    }

    /// Return the entries of a group's key, one per column.
    pub fn key_entries(&self, group: usize) -> impl Iterator<Item = (&KeyType, &[u8])> {
        split_key(self.types.as_deref().unwrap_or(&[]), self.key(group))
    }

    /// Return the sum of a group's rows.
    pub fn sums_of_group(&self, group: usize) -> &[i64] {
        &self.sums[group * self.width..(group + 1) * self.width]
    }

    /// Return a mutable reference to the sum of a group's rows.
    fn sums_of_group_mut(&mut self, group: usize) -> &mut [i64] {
        &mut self.sums[group * self.width..(group + 1) * self.width]
    }

    /// Return the counts of a group.
    pub fn counts_of_group(&self, group: usize) -> &RowCounts {
        &self.counts[group]
    }

    /// Return a mutable reference to the counts of a group.
    pub fn counts_mut(&mut self, group: usize) -> &mut RowCounts {
        &mut self.counts[group]
    }

    /// Return the hash of a key.
    fn hash_key(key: &[u8]) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(key);
        hasher.finish()
    }

    /// Return the slot of a key, and its group if it exists.
    fn find_slot(&self, key: &[u8], hash: u64) -> (usize, Option<usize>) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let Some(group) = (self.slots[slot] as usize).checked_sub(1) else {
                return (slot, None);
            };
            if self.hashes[group] == hash && self.key(group) == key {
                return (slot, Some(group));
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Return the group with this key, and whether it is new.
    #[inline]
    pub fn get_or_insert(&mut self, key: &[u8]) -> (usize, bool) {
        let hash = Self::hash_key(key);
        let (slot, existing) = self.find_slot(key, hash);
        if let Some(group) = existing {
            return (group, false);
        }
        let group = self.len();
        self.hashes.push(hash);
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        self.sums.resize(self.sums.len() + self.width, 0);
        self.counts.push(RowCounts::EMPTY);
        self.slots[slot] = group as u32 + 1;
        if 2 * self.len() > self.slots.len() {
            self.grow();
        }
        (group, true)
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        self.slots.clear();
        self.slots.resize(mask + 1, 0);
        for (group, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = group as u32 + 1;
        }
    }

    /// Add a row to a group's sum. After an error, the sum is invalid.
    #[inline]
    pub fn add_row(&mut self, group: usize, row: &[i64]) -> Result<(), Error> {
        if columns::add_row(self.sums_of_group_mut(group), row) {
            Ok(())
        } else {
            Err(overflow_error())
        }
    }

    /// Add integers to a group's sum, starting at column `first_column`.
    pub fn add_checked(
        &mut self,
        group: usize,
        first_column: usize,
        row: &[i128],
    ) -> Result<(), Error> {
        for (total, value) in self.sums_of_group_mut(group)[first_column..].iter_mut().zip(row) {
            let value = i64::try_from(*value).ok();
            *total = value.and_then(|value| total.checked_add(value)).ok_or_else(overflow_error)?;
        }
        Ok(())
    }

    /// Widen the key types to include these types. Return an error if they are incompatible.
    pub fn join_types(&mut self, types: &[KeyType]) -> Result<(), Error> {
        let Some(own_types) = &self.types else {
            self.types = Some(types.to_vec());
            return Ok(());
        };
        let joined =
            own_types.iter().zip(types).zip(&self.names).map(|((own_type, other_type), name)| {
                own_type.join(other_type).ok_or_else(|| {
                    let (own_name, other_name) = (own_type.name(), other_type.name());
                    Error::Input(format!(
                        "{name}: incompatible types {own_name} and {other_name}. Cast one of them"
                    ))
                })
            });
        self.types = Some(joined.collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Merge all other groups into these groups. After an error, nothing has changed. Interrupts
    /// are handled only before the first change.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let Some(types) = &other.types else {
            return Ok(());
        };
        let mut joined = self.clone_empty();
        joined.join_types(types)?;
        // Check for overflow before changing anything.
        let mut work = Work::default();
        for other_group in 0..other.len() {
            work.add(32 + self.width);
            let key = other.key(other_group);
            let (_, Some(group)) = self.find_slot(key, other.hashes[other_group]) else { continue };
            let summands = self.sums_of_group(group).iter().zip(other.sums_of_group(other_group));
            let fits = self.counts[group].checked_add(other.counts[other_group]).is_some()
                && summands.into_iter().all(|(a, b)| a.checked_add(*b).is_some());
            if !fits {
                return Err(overflow_error());
            }
        }
        self.types = joined.types;
        for other_group in 0..other.len() {
            let (target_group, _) = self.get_or_insert(other.key(other_group));
            self.add_row(target_group, other.sums_of_group(other_group))?;
            if let Some(counts) = self.counts[target_group].checked_add(other.counts[other_group]) {
                self.counts[target_group] = counts;
            }
        }
        Ok(())
    }

    /// Return an empty collection with the same names and types.
    fn clone_empty(&self) -> Self {
        Self { types: self.types.clone(), ..Self::new(self.names.clone(), self.width) }
    }

    /// Return the groups with only these key columns. Groups with equal keys are merged, and their
    /// sums are added.
    pub fn roll_up(&self, group_indices: &[usize], columns: &[usize]) -> Result<Self, Error> {
        let names = columns.iter().map(|&column| self.names[column].clone());
        let mut coarse_groups = Self::new(names.collect(), self.width);
        let select_types =
            |types: &Vec<KeyType>| columns.iter().map(|&column| types[column].clone()).collect();
        coarse_groups.types = self.types.as_ref().map(select_types);
        let mut work = Work::default();
        let mut key = Vec::new();
        for &group in group_indices {
            work.add(32 + self.width);
            let entries: Vec<_> = self.key_entries(group).map(|(_, entry)| entry).collect();
            key.clear();
            columns.iter().for_each(|&column| key.extend_from_slice(entries[column]));
            let (target, _) = coarse_groups.get_or_insert(&key);
            coarse_groups.add_row(target, self.sums_of_group(group))?;
            let counts = coarse_groups
                .counts_of_group(target)
                .checked_add(*self.counts_of_group(group))
                .ok_or_else(overflow_error)?;
            *coarse_groups.counts_mut(target) = counts;
        }
        Ok(coarse_groups)
    }

    /// Return the groups in canonical order, sorted by the first key column, then the second, and
    /// so on.
    pub fn ordered_groups(&self) -> Vec<usize> {
        let types = self.types.as_deref().unwrap_or(&[]);
        let mut groups: Vec<_> = (0..self.len()).collect();
        let mut work = Work::default();
        groups.sort_unstable_by(|&a, &b| {
            work.add(16);
            let pairs = split_key(types, self.key(a)).zip(split_key(types, self.key(b)));
            pairs
                .map(|((key_type, a), (_, b))| key_type.compare(a, b))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        groups
    }
}

/// Return the entries of a key.
pub fn split_key<'a>(
    types: &'a [KeyType],
    key: &'a [u8],
) -> impl Iterator<Item = (&'a KeyType, &'a [u8])> {
    let mut remaining = key;
    types.iter().map_while(move |key_type| {
        let (entry, after) = remaining.split_at_checked(key_type.entry_width(remaining)?)?;
        remaining = after;
        Some((key_type, entry))
    })
}

/// Return the number of the first string of a key that is not valid UTF-8.
pub fn find_invalid_text(types: &[KeyType], key: &[u8]) -> Option<usize> {
    split_key(types, key).position(|(key_type, entry)| {
        let text = key_type.entry_value(entry).filter(|_| *key_type == KeyType::Text);
        text.is_some_and(|text| simdutf8::basic::from_utf8(text).is_err())
    })
}

/// Return the hash bucket of a row, computed from the row's id. The bucket depends only on the id,
/// so all rows of a segment share a bucket, even across systems, files and machines.
///
/// The hash is the 64-bit FNV-1a hash of the id's bytes: UTF-8 for strings, 8 little-endian bytes
/// for integers of any width. It is finalized like splitmix64, because FNV's low bits depend on few
/// input bits, and reduced modulo the number of buckets.
pub fn hash_bucket(id: &[u8], buckets: u64) -> u64 {
    hash_id(id) % buckets
}

/// Return the hash of an id, used by [`hash_bucket`].
pub fn hash_id(id: &[u8]) -> u64 {
    let mut hash = id.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

/// Replace the id at the end of `key`, starting at `start`, with its hash bucket. Return a
/// description of the problem on failure.
pub fn replace_id_by_bucket(
    key_type: &KeyType,
    key: &mut Vec<u8>,
    start: usize,
    buckets: u64,
) -> Result<(), &'static str> {
    let id = key_type.entry_value(&key[start..]).ok_or("is null (every row needs an id)")?;
    let bucket = match key_type {
        // The first byte is the sign, which is not hashed.
        KeyType::Integer(_) => hash_bucket(&id[1..], buckets),
        _ => hash_bucket(id, buckets),
    };
    key.truncate(start);
    push_integer(bucket.into(), key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return the key entry of a string.
    fn text_entry(value: &str) -> Vec<u8> {
        [&[1], &(value.len() as u32).to_le_bytes()[..], value.as_bytes()].concat()
    }

    /// Create groups with one column from keys and values.
    fn from_rows(rows: &[(&str, i64)]) -> GroupSums {
        let mut groups = GroupSums::new(vec!["key".into()], 1);
        groups.types = Some(vec![KeyType::Text]);
        for (key, value) in rows {
            let (group, _) = groups.get_or_insert(&text_entry(key));
            groups.add_row(group, &[*value]).unwrap();
        }
        groups
    }

    /// Return the keys and sums in canonical order.
    fn ordered_sums(groups: &GroupSums) -> Vec<(Vec<u8>, i64)> {
        let ordered = groups.ordered_groups().into_iter();
        ordered.map(|group| (groups.key(group).to_vec(), groups.sums_of_group(group)[0])).collect()
    }

    #[test]
    fn test_hash_is_fnv_1a_with_splitmix64_finalizer() {
        // FNV-1a's published test vectors for "", "a" and "foobar", before finalization.
        for (id, fnv) in [
            ("", 0xcbf2_9ce4_8422_2325_u64),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            let mixed = (fnv ^ fnv >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            assert_eq!(hash_id(id.as_bytes()), mixed ^ mixed >> 31);
        }
        assert_eq!(hash_bucket(b"seg-17", 1000), 79);
        assert_eq!(hash_bucket(&17_i64.to_le_bytes(), 1000), 245);
    }

    #[test]
    fn test_keys_with_long_common_prefix_are_distinct() {
        let keys: Vec<String> = (0..5000).map(|i| format!("{}{i}", "x".repeat(40))).collect();
        let rows: Vec<_> = keys.iter().map(|key| (key.as_str(), 1)).collect();
        let mut merged = from_rows(&rows);
        merged.merge(&from_rows(&rows)).unwrap();
        assert_eq!(merged.len(), keys.len());
        assert!((0..merged.len()).all(|group| merged.sums_of_group(group) == [2]));
    }

    #[test]
    fn test_merge_is_commutative_and_order_is_canonical() {
        let (first, second) =
            (from_rows(&[("b", 1), ("a", 2)]), from_rows(&[("a", 5), ("", 7), ("ab", 1)]));
        let (mut forward, mut backward) = (first.clone(), second.clone());
        forward.merge(&second).unwrap();
        backward.merge(&first).unwrap();
        assert_eq!(ordered_sums(&forward), ordered_sums(&backward));
        let expected = [("", 7), ("a", 7), ("ab", 1), ("b", 1)];
        assert_eq!(ordered_sums(&forward), expected.map(|(key, total)| (text_entry(key), total)));
    }

    #[test]
    fn test_failed_merge_changes_nothing() {
        let mut sums = from_rows(&[("a", i64::MAX), ("b", 1)]);
        let before = ordered_sums(&sums);
        assert!(sums.merge(&from_rows(&[("c", 1), ("b", 1), ("a", 1)])).is_err());
        assert_eq!(ordered_sums(&sums), before);
        let mut numbers = from_rows(&[]);
        numbers.types = Some(vec![KeyType::Integer(b'l')]);
        assert!(sums.merge(&numbers).is_err());
    }

    #[test]
    fn test_join_of_types_does_not_depend_on_order() {
        let letters = *b"cCsSiIlL";
        let mut types: Vec<_> = letters.map(KeyType::Integer).to_vec();
        types.extend([KeyType::Null, KeyType::Text, KeyType::Binary, KeyType::Float(b'f')]);
        let join = |a: Option<KeyType>, b: &KeyType| a.and_then(|a| a.join(b));
        for first in &types {
            for second in &types {
                assert_eq!(first.join(second), second.join(first));
                for third in &types {
                    // Joins may fail in some orders, but all successful joins give the same type.
                    let left = join(first.join(second), third);
                    let right = join(second.join(third), first);
                    if let (Some(left), Some(right)) = (left, right) {
                        assert_eq!(left, right);
                    }
                }
            }
        }
    }
}
