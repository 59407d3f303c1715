//! Columns of text, and functions that read the entries of columns.

use super::check::Layout;
use super::interface::{ArrowArray, ArrowSchema};
use crate::error::Error;
use std::ops::Range;

impl Layout {
    /// Return the layout of the column `name`, or an error if it does not contain text.
    pub fn of_texts(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        let format = schema.format(name)?;
        if let Some(values) = schema.dictionary() {
            let index = index_format(&format, name)?;
            let values = Self::of_texts(values, name)?;
            if values.items().is_some() {
                let message = format!("{name}: expected strings, found a dictionary of lists");
                return Err(Error::Input(message));
            }
            return Ok(Self::Dictionary(index, Box::new(values)));
        }
        let lists = Self::of_lists(schema, name, |items| {
            let layout = Self::of_texts(items, name)?;
            if layout.items().is_some() {
                return Err(Error::Input(format!(
                    "{name}: expected strings or lists of strings, found lists of lists"
                )));
            }
            Ok(layout)
        })?;
        match (lists, format.as_str()) {
            (Some(lists), _) => Ok(lists),
            (_, "n") => Ok(Self::Null),
            (_, "u") => Ok(Self::Bytes),
            (_, "U") => Ok(Self::LargeBytes),
            (_, "vu") => Ok(Self::Views),
            (_, "+s") => {
                let names: Vec<_> = schema.children().map(ArrowSchema::name).collect();
                Err(Error::Input(format!(
                    "{name}: expected a column of text, found a table with the columns {}",
                    names.join(", ")
                )))
            }
            (_, format) => Err(Error::Input(format!(
                "{name}: expected strings, dictionaries of strings or lists of strings, \
                 found an Arrow column of {}",
                type_name(format)
            ))),
        }
    }

    /// Return the layout of a column of lists, or `None` for other columns. `item_layout` returns
    /// the layout of the items.
    pub fn of_lists(
        schema: &ArrowSchema,
        name: &str,
        item_layout: impl FnOnce(&ArrowSchema) -> Result<Self, Error>,
    ) -> Result<Option<Self>, Error> {
        let format = schema.format(name)?;
        let length = format.strip_prefix("+w:").and_then(|length| length.parse().ok());
        if length.is_none() && !matches!(&*format, "+l" | "+L" | "+vl" | "+vL") {
            return Ok(None);
        }
        let items = schema.children().next();
        let items = items
            .ok_or_else(|| Error::Input(format!("{name}: the Arrow list has no item type")))?;
        let items = Box::new(item_layout(items)?);
        Ok(Some(match (&*format, length) {
            (_, Some(length)) => Self::FixedList(length, items),
            ("+l", _) => Self::List(items),
            ("+L", _) => Self::LargeList(items),
            ("+vl", _) => Self::ListView(items),
            _ => Self::LargeListView(items),
        }))
    }
}

/// Return the letter of an integer format, or `None` for other formats.
pub fn integer_letter(format: &str) -> Option<u8> {
    match format.as_bytes() {
        [letter @ (b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L')] => Some(*letter),
        _ => None,
    }
}

/// Return the format letter of the indices of a dictionary.
pub fn index_format(format: &str, name: &str) -> Result<u8, Error> {
    integer_letter(format).ok_or_else(|| {
        let found_type = type_name(format);
        Error::Input(format!(
            "{name}: expected integer indices of the Arrow dictionary, found {found_type}"
        ))
    })
}

/// Return the usual name of a format's type.
pub fn type_name(format: &str) -> String {
    let name = match format {
        "b" => "boolean",
        "c" => "int8",
        "C" => "uint8",
        "s" => "int16",
        "S" => "uint16",
        "i" => "int32",
        "I" => "uint32",
        "l" => "int64",
        "L" => "uint64",
        "e" => "float16",
        "f" => "float32",
        "g" => "float64",
        "n" => "null",
        "u" | "U" | "vu" => "string",
        "z" | "Z" | "vz" => "binary",
        "tdD" => "date32",
        "tdm" => "date64",
        "+l" | "+L" | "+vl" | "+vL" => "list",
        "+s" => "struct",
        "+m" => "map",
        "+r" => "run-end encoded values",
        format => return format!("format '{format}'"),
    };
    name.to_owned()
}

/// Return entry `i` of a buffer of `T`.
///
/// # Safety
/// The array must have that buffer, with that entry.
pub unsafe fn read_entry<T: Copy>(array: &ArrowArray, buffer: usize, i: usize) -> T {
    // SAFETY: guaranteed by the caller. Buffers may be unaligned.
    unsafe { (*array.buffers.add(buffer)).cast::<T>().add(i).read_unaligned() }
}

/// Return whether entry `i` is null, where `i` includes the array's offset.
///
/// # Safety
/// The array must be valid, and its type must have a validity buffer.
pub unsafe fn is_null(array: &ArrowArray, i: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let validity = *array.buffers;
        !validity.is_null() && *validity.cast::<u8>().add(i / 8) >> (i % 8) & 1 == 0
    }
}

/// Return the dictionary index of the entry at `position`, which includes the array's offset.
///
/// # Safety
/// The array must be a valid dictionary of this format, with that entry.
pub unsafe fn dictionary_index(array: &ArrowArray, format: u8, position: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { read_integer(array, format, position) as usize }
}

/// Return the integer at `position`, which includes the array's offset.
///
/// # Safety
/// The array must be valid, of this format, and have that entry.
pub unsafe fn read_integer(array: &ArrowArray, format: u8, position: usize) -> i128 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match format {
            b'c' => read_entry::<i8>(array, 1, position).into(),
            b'C' => read_entry::<u8>(array, 1, position).into(),
            b's' => read_entry::<i16>(array, 1, position).into(),
            b'S' => read_entry::<u16>(array, 1, position).into(),
            b'i' => read_entry::<i32>(array, 1, position).into(),
            b'I' => read_entry::<u32>(array, 1, position).into(),
            b'L' => read_entry::<u64>(array, 1, position).into(),
            _ => read_entry::<i64>(array, 1, position).into(),
        }
    }
}

/// Return the range between the offsets at `position` and after it.
///
/// # Safety
/// The array must have a buffer of these offsets, with these entries.
unsafe fn read_range<T: Copy + Into<i64>>(array: &ArrowArray, position: usize) -> Range<usize> {
    // SAFETY: guaranteed by the caller.
    let offset = |i| unsafe { read_entry::<T>(array, 1, i) }.into() as usize;
    offset(position)..offset(position + 1)
}

/// Return the range from the offset at `position`, with the size in the next buffer.
///
/// # Safety
/// The array must have buffers of these offsets and sizes, with these entries.
unsafe fn read_view_range<T: Copy + Into<i64>>(
    array: &ArrowArray,
    position: usize,
) -> Range<usize> {
    // SAFETY: guaranteed by the caller.
    let number = |buffer| unsafe { read_entry::<T>(array, buffer, position) }.into() as usize;
    number(1)..number(1) + number(2)
}

/// Return the string at index `i`, which does not include the array's offset; `None` for null.
///
/// # Safety
/// The array must be valid, of this layout, and have more than `i` entries.
pub unsafe fn read_string<'a>(
    array: &'a ArrowArray,
    layout: &Layout,
    i: usize,
) -> Option<&'a [u8]> {
    // SAFETY: the buffers follow the interface's layout of each type.
    unsafe {
        let position = i + array.offset as usize;
        if matches!(layout, Layout::Null) || is_null(array, position) {
            return None;
        }
        let range = match layout {
            Layout::Bytes => read_range::<i32>(array, position),
            Layout::LargeBytes => read_range::<i64>(array, position),
            Layout::Views => {
                let view: *const u8 = (*array.buffers.add(1)).cast::<u8>().add(16 * position);
                let read_field = |i: usize| view.add(4 * i).cast::<i32>().read_unaligned() as usize;
                let length = read_field(0);
                let start = if length <= 12 {
                    view.add(4)
                } else {
                    (*array.buffers.add(2 + read_field(2))).cast::<u8>().add(read_field(3))
                };
                return Some(std::slice::from_raw_parts(start, length));
            }
            Layout::Dictionary(format, values) => {
                let value_index = dictionary_index(array, *format, position);
                return read_string(&*array.dictionary, values, value_index);
            }
            _ => return None,
        };
        if range.is_empty() {
            return Some(b"");
        }
        let data: *const u8 = (*array.buffers.add(2)).cast();
        Some(std::slice::from_raw_parts(data.add(range.start), range.len()))
    }
}

/// Return the range of list entry `i` in the child. The range does not include the offsets of
/// either array, and is empty for null.
///
/// # Safety
/// The array must be a valid list of this layout, and have more than `i` entries.
pub unsafe fn list_range(array: &ArrowArray, layout: &Layout, i: usize) -> Range<usize> {
    let position = i + array.offset as usize;
    // SAFETY: the buffers follow the interface's layout of each type.
    unsafe {
        match layout {
            _ if is_null(array, position) => 0..0,
            Layout::LargeList(_) => read_range::<i64>(array, position),
            Layout::ListView(_) => read_view_range::<i32>(array, position),
            Layout::LargeListView(_) => read_view_range::<i64>(array, position),
            Layout::FixedList(length, _) => position * length..(position + 1) * length,
            _ => read_range::<i32>(array, position),
        }
    }
}
