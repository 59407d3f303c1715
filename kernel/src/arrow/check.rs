//! Validation of each array before its entries are read: lengths, pointers, offsets and indices. A
//! valid entry cannot refer to memory outside the array, no matter which program created it.
//!
//! The interface does not state the lengths of buffers. They are assumed to match the array's
//! length and its last offset.

use super::interface::ArrowArray;
use super::text::{dictionary_index, is_null, read_entry};
use crate::error::Error;
use std::ops::Range;

/// Maximum number of entries. With more entries, addresses might overflow.
const MAX_ENTRIES: i64 = 1 << 56;

/// Maximum size of a text in bytes.
const MAX_TEXT_BYTES: usize = i32::MAX as usize;

/// The contents of an array's buffers.
#[derive(Clone, Debug)]
pub enum Layout {
    /// No values: every entry is null.
    Null,
    /// Values of a fixed width in bits.
    Fixed(usize),
    /// Bytes delimited by 32-bit offsets.
    Bytes,
    /// Bytes delimited by 64-bit offsets.
    LargeBytes,
    /// Views of 16 bytes, which contain or refer to the values.
    Views,
    /// Indices of this integer format, which refer to distinct values.
    Dictionary(u8, Box<Layout>),
    /// Lists delimited by 32-bit offsets.
    List(Box<Layout>),
    /// Lists delimited by 64-bit offsets.
    LargeList(Box<Layout>),
    /// Lists of a fixed length.
    FixedList(usize, Box<Layout>),
    /// Lists with 32-bit offsets and sizes.
    ListView(Box<Layout>),
    /// Lists with 64-bit offsets and sizes.
    LargeListView(Box<Layout>),
}

/// Return the number of bits of an integer format.
pub fn integer_bits(format: u8) -> usize {
    match format.to_ascii_lowercase() {
        b'c' => 8,
        b's' => 16,
        b'i' => 32,
        _ => 64,
    }
}

impl Layout {
    /// Return the minimum number of buffers, including the validity buffer.
    fn min_buffers(&self) -> i64 {
        match self {
            Self::Null => 0,
            Self::FixedList(..) => 1,
            Self::Bytes | Self::LargeBytes | Self::ListView(_) | Self::LargeListView(_) => 3,
            _ => 2,
        }
    }

    /// Return the layout of list items, or `None` for other layouts.
    pub fn items(&self) -> Option<&Self> {
        match self {
            Self::List(items)
            | Self::LargeList(items)
            | Self::FixedList(_, items)
            | Self::ListView(items)
            | Self::LargeListView(items) => Some(items),
            _ => None,
        }
    }

    /// Return an error that contains `name` if an array, or one of its children, is invalid.
    ///
    /// # Safety
    /// Every pointer of the arrays must be null, or refer to as much memory as their lengths and
    /// last offsets require.
    pub unsafe fn check_array(&self, array: &ArrowArray, name: &str) -> Result<(), Error> {
        let rows = checked_length(array).map_err(|problem| malformed_error(name, &problem))?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.check_range(array, 0..rows) }
            .map_err(|problem| malformed_error(name, &problem))
    }

    /// Check a range of entries, counted from the array's offset.
    ///
    /// # Safety
    /// The caller must meet the conditions of `check_array`.
    unsafe fn check_range(&self, array: &ArrowArray, range: Range<usize>) -> Result<(), String> {
        let length = checked_length(array)?;
        if range.end > length {
            return Err(format!(
                "entries up to {} are used, but the length is {length}",
                range.end
            ));
        }
        let min_buffers = self.min_buffers();
        let buffer_count = if array.buffers.is_null() { 0 } else { array.n_buffers };
        if buffer_count < min_buffers {
            return Err(format!("expected {min_buffers} buffers, found {buffer_count}"));
        }
        let check_child = |items: &'_ Self, range: Range<usize>| {
            // SAFETY: called only if there is a child. The caller guarantees the other conditions.
            unsafe { items.check_range(&**array.children, range) }
                .map_err(|problem| format!("items: {problem}"))
        };
        if self.items().is_some() {
            // SAFETY: guaranteed by the caller; `children` points to `n_children` pointers.
            let has_child = array.n_children > 0
                && !array.children.is_null()
                && unsafe { !(*array.children).is_null() };
            if !has_child {
                return Err("the lists have no items".into());
            }
        }
        if matches!(self, Self::Dictionary(..)) && array.dictionary.is_null() {
            return Err("the dictionary has no values".into());
        }
        if range.is_empty() || matches!(self, Self::Null) {
            return Ok(());
        }
        // SAFETY: `buffer` is less than the number of buffers.
        let is_absent = |buffer: usize| unsafe { (*array.buffers.add(buffer)).is_null() };
        if min_buffers > 1 && (is_absent(1) || (self.has_sizes() && is_absent(2))) {
            return Err("missing buffer".into());
        }
        let first = array.offset as usize;
        let entries = first + range.start..first + range.end;
        // SAFETY: the array has this layout and these entries.
        unsafe {
            match self {
                Self::Null | Self::Fixed(_) => Ok(()),
                Self::Bytes => check_data(array, check_offsets::<i32>(array, entries)?),
                Self::LargeBytes => {
                    let range = check_offsets::<i64>(array, entries.clone())?;
                    if range.len() > MAX_TEXT_BYTES {
                        check_text_lengths(array, entries)?;
                    }
                    check_data(array, range)
                }
                Self::Views => check_views(array, entries),
                Self::Dictionary(format, values) => {
                    let indices = entries.filter(|&i| !is_null(array, i));
                    let indices = indices.map(|i| dictionary_index(array, *format, i));
                    let value_count = indices.max().map_or(0, |index| index.saturating_add(1));
                    values
                        .check_range(&*array.dictionary, 0..value_count)
                        .map_err(|problem| format!("values: {problem}"))
                }
                Self::List(items) => check_child(items, check_offsets::<i32>(array, entries)?),
                Self::LargeList(items) => check_child(items, check_offsets::<i64>(array, entries)?),
                Self::ListView(items) => check_child(items, check_sizes::<i32>(array, entries)?),
                Self::LargeListView(items) => {
                    check_child(items, check_sizes::<i64>(array, entries)?)
                }
                Self::FixedList(length, items) => {
                    let end = entries
                        .end
                        .checked_mul(*length)
                        .ok_or("the lists exceed the address space")?;
                    check_child(items, entries.start * length..end)
                }
            }
        }
    }

    /// Return whether the third buffer has a size for each entry.
    fn has_sizes(&self) -> bool {
        matches!(self, Self::ListView(_) | Self::LargeListView(_))
    }
}

/// Return the error for an invalid array.
fn malformed_error(name: &str, problem: &str) -> Error {
    Error::Input(format!(
        "{name}: malformed Arrow array: {problem}. The error is in the program that created it (pyarrow: \
         array.validate(full=True))"
    ))
}

/// Return the number of entries, or an error if the length or the offset is invalid.
pub fn checked_length(array: &ArrowArray) -> Result<usize, String> {
    let ArrowArray { length, offset, .. } = *array;
    let is_valid = (0..=MAX_ENTRIES).contains(&length) && (0..=MAX_ENTRIES).contains(&offset);
    if is_valid {
        Ok(length as usize)
    } else {
        Err(format!("invalid length {length} or offset {offset}"))
    }
}

/// Check that a table has `columns` columns, each at least as long as the table.
///
/// # Safety
/// The caller must meet the conditions of `Layout::check_array`.
pub unsafe fn check_table(array: &ArrowArray, columns: usize, name: &str) -> Result<(), Error> {
    let check_columns = || -> Result<(), String> {
        // The interface allows the offset of a table to apply to its columns.
        let rows = checked_length(array)? + array.offset as usize;
        if array.n_buffers > 0 && array.buffers.is_null() {
            return Err("missing buffer".into());
        }
        if usize::try_from(array.n_children) != Ok(columns) {
            let column_count = array.n_children;
            return Err(format!("expected the schema's {columns} columns, found {column_count}"));
        }
        for i in 0..columns {
            // SAFETY: there are `n_children` pointers if `children` is not null.
            let column =
                unsafe { array.children.as_ref().and_then(|_| (*array.children.add(i)).as_ref()) };
            let column_length = checked_length(column.ok_or("missing column")?)?;
            if column_length < rows {
                return Err(format!("a column has {column_length} rows (expected {rows})"));
            }
        }
        Ok(())
    };
    check_columns().map_err(|problem| malformed_error(name, &problem))
}

/// Return the range from the first to the last offset of these entries. The offsets must be
/// non-negative and ascending.
///
/// # Safety
/// The array must have a second buffer of such offsets, with one more offset than entries.
unsafe fn check_offsets<T: Copy + Ord + Into<i64>>(
    array: &ArrowArray,
    entries: Range<usize>,
) -> Result<Range<usize>, String> {
    // SAFETY: guaranteed by the caller.
    let offset = |i: usize| unsafe { read_entry::<T>(array, 1, i) };
    // The loop is branch-free, so that it can be vectorized.
    let has_descent =
        entries.clone().fold(false, |has_descent, i| has_descent | (offset(i + 1) < offset(i)));
    let (first, last): (i64, i64) = (offset(entries.start).into(), offset(entries.end).into());
    if first < 0 || last > MAX_ENTRIES {
        return Err(format!("invalid offsets from {first} to {last}"));
    }
    if has_descent && let Some(i) = entries.clone().find(|&i| offset(i + 1) < offset(i)) {
        let (number, start, end): (_, i64, i64) =
            (i - entries.start, offset(i).into(), offset(i + 1).into());
        return Err(format!("entry {number} has descending offsets {start} and {end}"));
    }
    // Later entries are not used, but the last offset determines the size of the data.
    let data_end: i64 = offset((array.offset + array.length) as usize).into();
    if last > data_end {
        return Err(format!("offset {last} exceeds the last offset {data_end}"));
    }
    Ok(first as usize..last as usize)
}

/// Return an error for the first entry that is too long for a text.
///
/// # Safety
/// The array must have such offsets, and they must have been checked.
unsafe fn check_text_lengths(array: &ArrowArray, entries: Range<usize>) -> Result<(), String> {
    for i in entries.clone() {
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { read_entry::<i64>(array, 1, i + 1) - read_entry::<i64>(array, 1, i) };
        if bytes > MAX_TEXT_BYTES as i64 {
            let number = i - entries.start;
            return Err(format!("entry {number} has {bytes} bytes (expected at most 2 GiB)"));
        }
    }
    Ok(())
}

/// Return an error if the offsets require a buffer of bytes but there is none.
///
/// # Safety
/// The array must have three buffers.
unsafe fn check_data(array: &ArrowArray, range: Range<usize>) -> Result<(), String> {
    // SAFETY: guaranteed by the caller.
    let is_absent = unsafe { (*array.buffers.add(2)).is_null() };
    if is_absent && !range.is_empty() { Err("missing buffer".into()) } else { Ok(()) }
}

/// Return the range from the first to the last item of these lists, ignoring null entries.
///
/// # Safety
/// The array must have a second and a third buffer with such offsets and sizes.
unsafe fn check_sizes<T: Copy + Ord + Into<i64>>(
    array: &ArrowArray,
    entries: Range<usize>,
) -> Result<Range<usize>, String> {
    let (mut first, mut last) = (usize::MAX, 0);
    for i in entries.clone() {
        // SAFETY: guaranteed by the caller.
        let (start, size): (i64, i64) = unsafe {
            if is_null(array, i) {
                continue;
            }
            (read_entry::<T>(array, 1, i).into(), read_entry::<T>(array, 2, i).into())
        };
        if !(0..=MAX_ENTRIES).contains(&start) || !(0..=MAX_ENTRIES).contains(&size) {
            return Err(format!(
                "list {} has an invalid start {start} or size {size}",
                i - entries.start
            ));
        }
        first = first.min(start as usize);
        last = last.max((start + size) as usize);
    }
    Ok(first.min(last)..last)
}

/// Return an error for a view that refers to missing bytes, ignoring null entries.
///
/// # Safety
/// The array must have views, with these entries.
unsafe fn check_views(array: &ArrowArray, entries: Range<usize>) -> Result<(), String> {
    // The buffers are validity, views, any number of data buffers, and the data buffers' sizes.
    let count = (array.n_buffers - 3).max(0) as usize;
    // SAFETY: `i` is less than the number of data buffers, or equal to it for the sizes.
    let buffer = |i: usize| unsafe { *array.buffers.add(2 + i) };
    let has_no_sizes = count > 0 && buffer(count).is_null();
    for i in entries.clone() {
        // SAFETY: the entry exists and has 16 bytes.
        let [length, _, number, start] = unsafe {
            if is_null(array, i) {
                continue;
            }
            read_entry::<[i32; 4]>(array, 1, i)
        };
        if (0..=12).contains(&length) {
            continue;
        }
        let bytes = match usize::try_from(number) {
            Ok(number) if number < count && !has_no_sizes && !buffer(number).is_null() => {
                // SAFETY: the last buffer has one length per data buffer.
                unsafe { read_entry::<i64>(array, 2 + count, number) }
            }
            _ => -1,
        };
        if length < 0 || start < 0 || i64::from(start) + i64::from(length) > bytes {
            let entry = i - entries.start;
            return Err(format!(
                "view {entry} refers to {length} bytes at offset {start} of buffer {number} (of {count}), which do not exist"
            ));
        }
    }
    Ok(())
}
