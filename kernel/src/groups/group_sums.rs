//! Totals of groups: keys as bytes, and for each the sum of its rows and what was counted beside.

use crate::arrow::key::{KeyType, put_integer};
use crate::columns::{self, too_large};
use crate::error::Error;
use crate::interrupt::Work;
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::hash::Hasher;

/// The counts of a group beside its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Rows with a hypothesis and a reference.
    pub segments: i64,
    /// Rows without a hypothesis.
    pub null_hypotheses: i64,
    /// Rows without any reference.
    pub null_references: i64,
    /// The fewest and the most references that a segment had.
    pub references: Option<(i32, i32)>,
}

impl Counts {
    /// Nothing yet.
    pub const NONE: Self =
        Self { segments: 0, null_hypotheses: 0, null_references: 0, references: None };

    /// Both together; `None` if that is too much for 64 bits.
    pub fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            segments: self.segments.checked_add(other.segments)?,
            null_hypotheses: self.null_hypotheses.checked_add(other.null_hypotheses)?,
            null_references: self.null_references.checked_add(other.null_references)?,
            references: match (self.references, other.references) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (one, other) => one.or(other),
            },
        })
    }
}

/// Groups by their keys. A key is the entries of its columns, one after the other, as
/// [`crate::arrow::key`] writes them.
#[derive(Clone)]
pub struct Groups {
    /// The names of the columns of keys, for messages and tables.
    pub names: Vec<String>,
    /// Their types; `None` before anything was read.
    pub types: Option<Vec<KeyType>>,
    width: usize,
    /// An open-addressed table of group numbers plus one; 0 is a free place.
    places: Vec<u32>,
    hashes: Vec<u64>,
    keys: Vec<u8>,
    /// Where each group's key ends in `keys`.
    ends: Vec<usize>,
    totals: Vec<i64>,
    counts: Vec<Counts>,
}

impl Groups {
    /// No groups yet, of keys of these names, with totals of `width` columns.
    pub fn new(names: Vec<String>, width: usize) -> Self {
        Self {
            names,
            types: None,
            width,
            places: vec![0; 16],
            hashes: Vec::new(),
            // Of real memory even while keys are empty: comparing nothing at an address that is
            // not mapped takes glibc 130 ns, in a load that the processor has to fault and mask.
            keys: Vec::with_capacity(64),
            ends: Vec::new(),
            totals: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of columns of the totals.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The key of a group.
    pub fn key(&self, group: usize) -> &[u8] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.keys[start..self.ends[group]]
    }

    /// The entries of a group's key, a column each.
    pub fn entries(&self, group: usize) -> impl Iterator<Item = (&KeyType, &[u8])> {
        entries(self.types.as_deref().unwrap_or(&[]), self.key(group))
    }

    /// The sum of a group's rows.
    pub fn totals(&self, group: usize) -> &[i64] {
        &self.totals[group * self.width..(group + 1) * self.width]
    }

    fn totals_mut(&mut self, group: usize) -> &mut [i64] {
        &mut self.totals[group * self.width..(group + 1) * self.width]
    }

    /// The counts of a group.
    pub fn counts(&self, group: usize) -> &Counts {
        &self.counts[group]
    }

    /// The same, to be changed.
    pub fn counts_mut(&mut self, group: usize) -> &mut Counts {
        &mut self.counts[group]
    }

    fn hash(key: &[u8]) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(key);
        hasher.finish()
    }

    /// Where the group with this key is, or belongs.
    fn place(&self, key: &[u8], hash: u64) -> (usize, Option<usize>) {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let Some(group) = (self.places[place] as usize).checked_sub(1) else {
                return (place, None);
            };
            if self.hashes[group] == hash && self.key(group) == key {
                return (place, Some(group));
            }
            place = (place + 1) & mask;
        }
    }

    /// The group with this key, and whether it is new.
    #[inline]
    pub fn group(&mut self, key: &[u8]) -> (usize, bool) {
        let hash = Self::hash(key);
        let (place, found) = self.place(key, hash);
        if let Some(group) = found {
            return (group, false);
        }
        let group = self.len();
        self.hashes.push(hash);
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        self.totals.resize(self.totals.len() + self.width, 0);
        self.counts.push(Counts::NONE);
        self.places[place] = group as u32 + 1;
        if 2 * self.len() > self.places.len() {
            self.grow();
        }
        (group, true)
    }

    fn grow(&mut self) {
        let mask = 2 * self.places.len() - 1;
        self.places.clear();
        self.places.resize(mask + 1, 0);
        for (group, hash) in self.hashes.iter().enumerate() {
            let mut place = *hash as usize & mask;
            while self.places[place] != 0 {
                place = (place + 1) & mask;
            }
            self.places[place] = group as u32 + 1;
        }
    }

    /// Adds a row to a group's sum, which is spoilt if that is an error.
    #[inline]
    pub fn add(&mut self, group: usize, row: &[i64]) -> Result<(), Error> {
        if columns::add(self.totals_mut(group), row) { Ok(()) } else { Err(too_large()) }
    }

    /// Adds integers to a group's sum, from column `first` on.
    pub fn add_checked(&mut self, group: usize, first: usize, row: &[i128]) -> Result<(), Error> {
        for (total, value) in self.totals_mut(group)[first..].iter_mut().zip(row) {
            let value = i64::try_from(*value).ok();
            *total = value.and_then(|value| total.checked_add(value)).ok_or_else(too_large)?;
        }
        Ok(())
    }

    /// Takes keys of these types from now on as well; an error if they do not go together.
    pub fn join(&mut self, types: &[KeyType]) -> Result<(), Error> {
        let Some(own) = &self.types else {
            self.types = Some(types.to_vec());
            return Ok(());
        };
        let joined = own.iter().zip(types).zip(&self.names).map(|((own, other), name)| {
            own.joined(other).ok_or_else(|| {
                let (own, other) = (own.name(), other.name());
                Error::Input(format!("{name}: {other}, and {own} before; cast one of them"))
            })
        });
        self.types = Some(joined.collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Adds other groups, all or none: an interrupt is heard until all of them are known to fit.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let Some(types) = &other.types else {
            return Ok(());
        };
        let mut joined = self.clone_types();
        joined.join(types)?;
        // Before anything is changed, whether it fits.
        let mut work = Work::default();
        for theirs in 0..other.len() {
            work.done(32 + self.width);
            let key = other.key(theirs);
            let (_, Some(own)) = self.place(key, other.hashes[theirs]) else { continue };
            let sums = self.totals(own).iter().zip(other.totals(theirs));
            let fits = self.counts[own].plus(other.counts[theirs]).is_some()
                && sums.into_iter().all(|(a, b)| a.checked_add(*b).is_some());
            if !fits {
                return Err(too_large());
            }
        }
        self.types = joined.types;
        for theirs in 0..other.len() {
            let (own, _) = self.group(other.key(theirs));
            self.add(own, other.totals(theirs))?;
            if let Some(counts) = self.counts[own].plus(other.counts[theirs]) {
                self.counts[own] = counts;
            }
        }
        Ok(())
    }

    fn clone_types(&self) -> Self {
        Self { types: self.types.clone(), ..Self::new(self.names.clone(), self.width) }
    }

    /// Some of the groups, by these columns of their keys: those that differ in others alone are
    /// added up.
    pub fn rolled_up(&self, chosen: &[usize], columns: &[usize]) -> Result<Self, Error> {
        let names = columns.iter().map(|&column| self.names[column].clone());
        let mut coarse = Self::new(names.collect(), self.width);
        let types = |types: &Vec<KeyType>| columns.iter().map(|&at| types[at].clone()).collect();
        coarse.types = self.types.as_ref().map(types);
        let mut work = Work::default();
        let mut key = Vec::new();
        for &group in chosen {
            work.done(32 + self.width);
            let entries: Vec<_> = self.entries(group).map(|(_, entry)| entry).collect();
            key.clear();
            columns.iter().for_each(|&column| key.extend_from_slice(entries[column]));
            let (to, _) = coarse.group(&key);
            coarse.add(to, self.totals(group))?;
            let counts = coarse.counts(to).plus(*self.counts(group)).ok_or_else(too_large)?;
            *coarse.counts_mut(to) = counts;
        }
        Ok(coarse)
    }

    /// The groups in canonical order: by the first column of their keys, then the second …
    pub fn ordered(&self) -> Vec<usize> {
        let types = self.types.as_deref().unwrap_or(&[]);
        let mut groups: Vec<_> = (0..self.len()).collect();
        let mut work = Work::default();
        groups.sort_unstable_by(|&one, &other| {
            work.done(16);
            let pairs = entries(types, self.key(one)).zip(entries(types, self.key(other)));
            pairs
                .map(|((of, one), (_, other))| of.compare(one, other))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        groups
    }
}

/// The entries of a key.
pub fn entries<'a>(
    types: &'a [KeyType],
    key: &'a [u8],
) -> impl Iterator<Item = (&'a KeyType, &'a [u8])> {
    let mut rest = key;
    types.iter().map_while(move |of| {
        let (entry, more) = rest.split_at_checked(of.width(rest)?)?;
        rest = more;
        Some((of, entry))
    })
}

/// The bucket of a row, by its id: the same in every program, so that all rows of one segment come
/// into the same bucket whichever system, file or machine they are from.
///
/// The 64-bit FNV-1a hash of the id's bytes (UTF-8 for strings; for integers of any width, the 8
/// bytes of a little-endian 64-bit integer), finished as splitmix64 does because FNV's low bits
/// depend on few of the input's, modulo the number of buckets.
pub fn bucket(id: &[u8], buckets: u64) -> u64 {
    hash(id) % buckets
}

/// The hash behind [`bucket`].
pub fn hash(id: &[u8]) -> u64 {
    let mut hash = id.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

/// Replaces the id that `key` ends with, from `start` on, with its bucket; what is wrong with it
/// otherwise.
pub fn replace_id(
    of: &KeyType,
    key: &mut Vec<u8>,
    start: usize,
    buckets: u64,
) -> Result<(), &'static str> {
    let id = of.value(&key[start..]).ok_or("is null; every row needs an id")?;
    let bucket = match of {
        // Without the byte of the sign.
        KeyType::Integer(_) => bucket(&id[1..], buckets),
        _ => bucket(id, buckets),
    };
    key.truncate(start);
    put_integer(bucket.into(), key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Vec<u8> {
        [&[1], &(value.len() as u32).to_le_bytes()[..], value.as_bytes()].concat()
    }

    fn groups(rows: &[(&str, i64)]) -> Groups {
        let mut groups = Groups::new(vec!["key".into()], 1);
        groups.types = Some(vec![KeyType::Text]);
        for (key, value) in rows {
            let (group, _) = groups.group(&text(key));
            groups.add(group, &[*value]).unwrap();
        }
        groups
    }

    fn listed(groups: &Groups) -> Vec<(Vec<u8>, i64)> {
        let ordered = groups.ordered().into_iter();
        ordered.map(|group| (groups.key(group).to_vec(), groups.totals(group)[0])).collect()
    }

    #[test]
    fn the_hash_is_fnv_1a_finished_as_splitmix64() {
        // FNV-1a's published vectors for "", "a" and "foobar", mixed by hand.
        for (id, fnv) in [
            ("", 0xcbf2_9ce4_8422_2325_u64),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            let mixed = (fnv ^ fnv >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            assert_eq!(hash(id.as_bytes()), mixed ^ mixed >> 31);
        }
        assert_eq!(bucket(b"seg-17", 1000), 79);
        assert_eq!(bucket(&17_i64.to_le_bytes(), 1000), 245);
    }

    #[test]
    fn thousands_of_keys_that_share_a_beginning_are_told_apart() {
        let keys: Vec<String> = (0..5000).map(|i| format!("{}{i}", "x".repeat(40))).collect();
        let rows: Vec<_> = keys.iter().map(|key| (key.as_str(), 1)).collect();
        let mut all = groups(&rows);
        all.merge(&groups(&rows)).unwrap();
        assert_eq!(all.len(), keys.len());
        assert!((0..all.len()).all(|group| all.totals(group) == [2]));
    }

    #[test]
    fn merging_is_commutative_and_grouping_in_order() {
        let (one, other) = (groups(&[("b", 1), ("a", 2)]), groups(&[("a", 5), ("", 7), ("ab", 1)]));
        let (mut there, mut back) = (one.clone(), other.clone());
        there.merge(&other).unwrap();
        back.merge(&one).unwrap();
        assert_eq!(listed(&there), listed(&back));
        let expected = [("", 7), ("a", 7), ("ab", 1), ("b", 1)];
        assert_eq!(listed(&there), expected.map(|(key, total)| (text(key), total)));
    }

    #[test]
    fn what_does_not_fit_is_refused_whole() {
        let mut sums = groups(&[("a", i64::MAX), ("b", 1)]);
        let before = listed(&sums);
        assert!(sums.merge(&groups(&[("c", 1), ("b", 1), ("a", 1)])).is_err());
        assert_eq!(listed(&sums), before);
        let mut numbers = groups(&[]);
        numbers.types = Some(vec![KeyType::Integer(b'l')]);
        assert!(sums.merge(&numbers).is_err());
    }

    #[test]
    fn types_join_the_same_way_in_any_order() {
        let letters = *b"cCsSiIlL";
        let mut types: Vec<_> = letters.map(KeyType::Integer).to_vec();
        types.extend([KeyType::Null, KeyType::Text, KeyType::Binary, KeyType::Float(b'f')]);
        let join = |one: Option<KeyType>, other: &KeyType| one.and_then(|one| one.joined(other));
        for one in &types {
            for other in &types {
                assert_eq!(one.joined(other), other.joined(one));
                for third in &types {
                    // Where both ways go, they end at the same type.
                    let left = join(one.joined(other), third);
                    let right = join(other.joined(third), one);
                    if let (Some(left), Some(right)) = (left, right) {
                        assert_eq!(left, right);
                    }
                }
            }
        }
    }
}
