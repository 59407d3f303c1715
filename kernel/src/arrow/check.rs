//! What is looked at of each array, once, before its entries are read: lengths, pointers, offsets
//! and indices. Whatever program made it, no entry then lies outside of what the array has.
//!
//! The interface says nothing of the lengths of buffers, so they are taken to be as long as the
//! array's length, and its last offset, make them.

use super::interface::ArrowArray;
use super::text::{Kind, dictionary_index, entry, is_null};
use crate::error::Error;
use std::ops::Range;

/// More entries than memory has bits: beyond it, addresses would overflow.
const MOST: i64 = 1 << 56;

/// The bytes that one text can have.
const MOST_BYTES: usize = i32::MAX as usize;

/// What the buffers of an array hold.
#[derive(Debug)]
pub enum Layout {
    /// Nothing: every entry is null.
    Null,
    /// Values of one width, in bits.
    Fixed(usize),
    /// Bytes between 32-bit offsets.
    Bytes,
    /// Bytes between 64-bit offsets.
    LargeBytes,
    /// Bytes of 16-byte views.
    Views,
    /// Indices (their format) into distinct values.
    Dictionary(u8, Box<Layout>),
    /// Lists between 32-bit offsets.
    List(Box<Layout>),
    /// Lists between 64-bit offsets.
    LargeList(Box<Layout>),
    /// Lists of one length.
    FixedList(usize, Box<Layout>),
    /// Lists with 32-bit offsets and sizes.
    ListView(Box<Layout>),
    /// Lists with 64-bit offsets and sizes.
    LargeListView(Box<Layout>),
}

/// The bits of an index, or another integer, of this format.
pub fn integer_bits(format: u8) -> usize {
    match format.to_ascii_lowercase() {
        b'c' => 8,
        b's' => 16,
        b'i' => 32,
        _ => 64,
    }
}

impl Layout {
    /// That of a column of text; of lists, with items of another layout than their own.
    pub fn of(kind: &Kind, items: Option<Self>) -> Self {
        let child = |of: &Kind| Box::new(items.unwrap_or_else(|| Self::of(of, None)));
        match kind {
            Kind::Null => Self::Null,
            Kind::Utf8 => Self::Bytes,
            Kind::LargeUtf8 => Self::LargeBytes,
            Kind::Utf8View => Self::Views,
            Kind::Dictionary(index, of) => Self::Dictionary(*index, child(of)),
            Kind::List(of) => Self::List(child(of)),
            Kind::LargeList(of) => Self::LargeList(child(of)),
            Kind::FixedList(length, of) => Self::FixedList(*length, child(of)),
            Kind::ListView(of) => Self::ListView(child(of)),
            Kind::LargeListView(of) => Self::LargeListView(child(of)),
        }
    }

    /// The fewest buffers: the first says what is null.
    fn buffers(&self) -> i64 {
        match self {
            Self::Null => 0,
            Self::FixedList(..) => 1,
            Self::Bytes | Self::LargeBytes | Self::ListView(_) | Self::LargeListView(_) => 3,
            _ => 2,
        }
    }

    /// The layout of lists' items.
    fn items(&self) -> Option<&Self> {
        match self {
            Self::List(of)
            | Self::LargeList(of)
            | Self::FixedList(_, of)
            | Self::ListView(of)
            | Self::LargeListView(of) => Some(of),
            _ => None,
        }
    }

    /// An error if an array, or one of those in it, is not whole. `name` is for messages.
    ///
    /// # Safety
    /// Every pointer of the arrays must be null, or to as much memory as their lengths and their
    /// last offsets say.
    pub unsafe fn check(&self, array: &ArrowArray, name: &str) -> Result<(), Error> {
        let rows = length(array).map_err(|why| malformed(name, &why))?;
        // SAFETY: as the caller promises.
        unsafe { self.check_range(array, 0..rows) }.map_err(|why| malformed(name, &why))
    }

    /// What is wrong with these entries of an array, not counting its offset.
    ///
    /// # Safety
    /// As for `check`.
    unsafe fn check_range(&self, array: &ArrowArray, range: Range<usize>) -> Result<(), String> {
        let length = length(array)?;
        if range.end > length {
            return Err(format!("{} of {length} entries are used", range.end));
        }
        let most = self.buffers();
        let found = if array.buffers.is_null() { 0 } else { array.n_buffers };
        if found < most {
            return Err(format!("{found} of its {most} buffers are there"));
        }
        let child = |of: &'_ Self, range: Range<usize>| {
            // SAFETY: below, only where there is a child; as the caller promises.
            unsafe { of.check_range(&**array.children, range) }
                .map_err(|why| format!("items: {why}"))
        };
        if self.items().is_some() {
            // SAFETY: as the caller promises; there is an array of as many pointers.
            let there = array.n_children > 0
                && !array.children.is_null()
                && unsafe { !(*array.children).is_null() };
            if !there {
                return Err("lists without items".into());
            }
        }
        if matches!(self, Self::Dictionary(..)) && array.dictionary.is_null() {
            return Err("a dictionary without values".into());
        }
        if range.is_empty() || matches!(self, Self::Null) {
            return Ok(());
        }
        // SAFETY: there are so many buffers.
        let absent = |buffer: usize| unsafe { (*array.buffers.add(buffer)).is_null() };
        if most > 1 && (absent(1) || (self.sizes() && absent(2))) {
            return Err("a buffer is missing".into());
        }
        let first = array.offset as usize;
        let at = first + range.start..first + range.end;
        // SAFETY: of arrays of these layouts, with these entries.
        unsafe {
            match self {
                Self::Null | Self::Fixed(_) => Ok(()),
                Self::Bytes => bytes(array, offsets::<i32>(array, at)?),
                Self::LargeBytes => {
                    let range = offsets::<i64>(array, at.clone())?;
                    if range.len() > MOST_BYTES {
                        short(array, at)?;
                    }
                    bytes(array, range)
                }
                Self::Views => views(array, at),
                Self::Dictionary(format, of) => {
                    let indices = at.filter(|&i| !is_null(array, i));
                    let indices = indices.map(|i| dictionary_index(array, *format, i));
                    let most = indices.max().map_or(0, |most| most.saturating_add(1));
                    of.check_range(&*array.dictionary, 0..most)
                        .map_err(|why| format!("values: {why}"))
                }
                Self::List(of) => child(of, offsets::<i32>(array, at)?),
                Self::LargeList(of) => child(of, offsets::<i64>(array, at)?),
                Self::ListView(of) => child(of, sizes::<i32>(array, at)?),
                Self::LargeListView(of) => child(of, sizes::<i64>(array, at)?),
                Self::FixedList(length, of) => {
                    let end = at.end.checked_mul(*length).ok_or("lists beyond memory")?;
                    child(of, at.start * length..end)
                }
            }
        }
    }

    /// Whether the third buffer has a size for each entry.
    fn sizes(&self) -> bool {
        matches!(self, Self::ListView(_) | Self::LargeListView(_))
    }
}

fn malformed(name: &str, why: &str) -> Error {
    Error::Input(format!(
        "{name}: a malformed Arrow array: {why}; the program that made it is at fault (pyarrow: \
         array.validate(full=True))"
    ))
}

/// The number of entries, if that and the offset can be.
pub fn length(array: &ArrowArray) -> Result<usize, String> {
    let ArrowArray { length, offset, .. } = *array;
    let whole = (0..=MOST).contains(&length) && (0..=MOST).contains(&offset);
    if whole { Ok(length as usize) } else { Err(format!("length {length}, offset {offset}")) }
}

/// The error for a table that is not whole: as many columns as that, each as long as the table.
///
/// # Safety
/// As for `Layout::check`.
pub unsafe fn check_table(array: &ArrowArray, columns: usize, name: &str) -> Result<(), Error> {
    let whole = || -> Result<(), String> {
        // The interface lets the offset of a table count for its columns.
        let rows = length(array)? + array.offset as usize;
        if array.n_buffers > 0 && array.buffers.is_null() {
            return Err("a buffer is missing".into());
        }
        if usize::try_from(array.n_children) != Ok(columns) {
            let found = array.n_children;
            return Err(format!("{found} columns, and its schema has {columns}"));
        }
        for i in 0..columns {
            // SAFETY: there are so many pointers, if there are any.
            let column =
                unsafe { array.children.as_ref().and_then(|_| (*array.children.add(i)).as_ref()) };
            let found = length(column.ok_or("a column is missing")?)?;
            if found < rows {
                return Err(format!("a column is truncated, with {found} of {rows} rows"));
            }
        }
        Ok(())
    };
    whole().map_err(|why| malformed(name, &why))
}

/// The integers that offsets are.
trait Offset: Copy + Ord {
    fn wide(self) -> i64;
}

impl Offset for i32 {
    fn wide(self) -> i64 {
        self.into()
    }
}

impl Offset for i64 {
    fn wide(self) -> i64 {
        self
    }
}

/// From the first offset of these entries to the last, if none is below 0 and none falls.
///
/// # Safety
/// The array must have a second buffer with such offsets, one more than entries.
unsafe fn offsets<T: Offset>(array: &ArrowArray, at: Range<usize>) -> Result<Range<usize>, String> {
    // SAFETY: as the caller promises.
    let offset = |i: usize| unsafe { entry::<T>(array, 1, i) };
    // Without a branch in the loop, so that it can be made of wide instructions.
    let falls = at.clone().fold(false, |falls, i| falls | (offset(i + 1) < offset(i)));
    let (first, last) = (offset(at.start).wide(), offset(at.end).wide());
    if first < 0 || last > MOST {
        return Err(format!("offsets from {first} to {last}"));
    }
    if falls && let Some(i) = at.clone().find(|&i| offset(i + 1) < offset(i)) {
        return Err(format!(
            "entry {} goes from {} to {}",
            i - at.start,
            offset(i).wide(),
            offset(i + 1).wide()
        ));
    }
    // Entries behind these are not looked at, but the last offset says how much there is.
    let whole = offset((array.offset + array.length) as usize).wide();
    if last > whole {
        return Err(format!("offsets up to {last} of {whole}"));
    }
    Ok(first as usize..last as usize)
}

/// An error for the first entry that is too long for a text.
///
/// # Safety
/// The array must have such offsets, checked.
unsafe fn short(array: &ArrowArray, at: Range<usize>) -> Result<(), String> {
    for i in at.clone() {
        // SAFETY: as the caller promises.
        let bytes = unsafe { entry::<i64>(array, 1, i + 1) - entry::<i64>(array, 1, i) };
        if bytes > MOST_BYTES as i64 {
            let number = i - at.start;
            return Err(format!("entry {number} has {bytes} bytes, and a text 2 GiB at most"));
        }
    }
    Ok(())
}

/// An error if there are no bytes where the offsets say that there are.
///
/// # Safety
/// The array must have three buffers.
unsafe fn bytes(array: &ArrowArray, range: Range<usize>) -> Result<(), String> {
    // SAFETY: as the caller promises.
    let absent = unsafe { (*array.buffers.add(2)).is_null() };
    if absent && !range.is_empty() { Err("a buffer is missing".into()) } else { Ok(()) }
}

/// From the first item of these lists to behind the last; what is null is not looked at.
///
/// # Safety
/// The array must have a second and a third buffer with such offsets and sizes.
unsafe fn sizes<T: Offset>(array: &ArrowArray, at: Range<usize>) -> Result<Range<usize>, String> {
    let (mut first, mut last) = (usize::MAX, 0);
    for i in at.clone() {
        // SAFETY: as the caller promises.
        let (start, size) = unsafe {
            if is_null(array, i) {
                continue;
            }
            (entry::<T>(array, 1, i).wide(), entry::<T>(array, 2, i).wide())
        };
        if !(0..=MOST).contains(&start) || !(0..=MOST).contains(&size) {
            return Err(format!("list {} starts at {start} and has {size}", i - at.start));
        }
        first = first.min(start as usize);
        last = last.max((start + size) as usize);
    }
    Ok(first.min(last)..last)
}

/// An error for a view that points to no bytes; what is null is not looked at.
///
/// # Safety
/// The array must be one of views, with these entries.
unsafe fn views(array: &ArrowArray, at: Range<usize>) -> Result<(), String> {
    // Behind validity and views come the bytes, and last how many each of their buffers has.
    let count = (array.n_buffers - 3).max(0) as usize;
    // SAFETY: there are so many buffers.
    let buffer = |i: usize| unsafe { *array.buffers.add(2 + i) };
    let absent = count > 0 && buffer(count).is_null();
    for i in at.clone() {
        // SAFETY: there is such an entry, of 16 bytes.
        let [length, _, number, start] = unsafe {
            if is_null(array, i) {
                continue;
            }
            entry::<[i32; 4]>(array, 1, i)
        };
        if (0..=12).contains(&length) {
            continue;
        }
        let bytes = match usize::try_from(number) {
            Ok(number) if number < count && !absent && !buffer(number).is_null() => {
                // SAFETY: the last buffer has as many lengths.
                unsafe { entry::<i64>(array, 2 + count, number) }
            }
            _ => -1,
        };
        if length < 0 || start < 0 || i64::from(start) + i64::from(length) > bytes {
            let entry = i - at.start;
            return Err(format!(
                "view {entry} has {length} bytes from {start} on of buffer {number} of {count}"
            ));
        }
    }
    Ok(())
}
