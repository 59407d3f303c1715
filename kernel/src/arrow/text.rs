//! Column types that hold text, and functions that read their entries.

use super::interface::{ArrowArray, ArrowSchema};
use crate::error::Error;

/// The column types that hold text.
#[derive(Debug)]
pub enum TextType {
    /// Every entry is null.
    Null,
    /// Strings with 32-bit offsets.
    Utf8,
    /// Strings with 64-bit offsets.
    LargeUtf8,
    /// String views: strings of up to 12 bytes, or references to longer strings.
    Utf8View,
    /// Indices of this integer format, which refer to distinct strings.
    Dictionary(u8, Box<TextType>),
    /// Lists with 32-bit offsets.
    List(Box<TextType>),
    /// Lists with 64-bit offsets.
    LargeList(Box<TextType>),
    /// Lists of a fixed length.
    FixedList(usize, Box<TextType>),
    /// Lists with 32-bit offsets and sizes.
    ListView(Box<TextType>),
    /// Lists with 64-bit offsets and sizes.
    LargeListView(Box<TextType>),
}

impl TextType {
    /// Return the type of the column `name`, or an error if it does not contain text.
    pub fn from_schema(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        let format = schema.format(name)?;
        if let Some(values) = schema.dictionary() {
            let index = index_format(&format, name)?;
            let values = Self::from_schema(values, name)?;
            if values.items().is_some() {
                let message = format!("{name}: expected strings, found a dictionary of lists");
                return Err(Error::Input(message));
            }
            return Ok(Self::Dictionary(index, Box::new(values)));
        }
        let item_type = || -> Result<Box<Self>, Error> {
            let items = schema.children().next();
            let items = items
                .ok_or_else(|| Error::Input(format!("{name}: the Arrow list has no item type")))?;
            let text_type = Self::from_schema(items, name)?;
            if text_type.items().is_some() {
                return Err(Error::Input(format!(
                    "{name}: expected strings or lists of strings, found lists of lists"
                )));
            }
            Ok(Box::new(text_type))
        };
        Ok(match format.as_str() {
            "n" => Self::Null,
            "u" => Self::Utf8,
            "U" => Self::LargeUtf8,
            "vu" => Self::Utf8View,
            "+l" => Self::List(item_type()?),
            "+L" => Self::LargeList(item_type()?),
            "+vl" => Self::ListView(item_type()?),
            "+vL" => Self::LargeListView(item_type()?),
            "+s" => {
                let names: Vec<_> = schema.children().map(ArrowSchema::name).collect();
                return Err(Error::Input(format!(
                    "{name}: expected a column of text, found a table with the columns {}",
                    names.join(", ")
                )));
            }
            format => {
                if let Some(length) = format.strip_prefix("+w:").and_then(|n| n.parse().ok()) {
                    Self::FixedList(length, item_type()?)
                } else {
                    return Err(Error::Input(format!(
                        "{name}: expected strings, dictionaries of strings or lists of strings, \
                         found an Arrow column of {}",
                        type_name(format)
                    )));
                }
            }
        })
    }

    /// Return the type of a list's items, or `None` for other types.
    pub fn items(&self) -> Option<&Self> {
        match self {
            Self::List(item_type)
            | Self::LargeList(item_type)
            | Self::FixedList(_, item_type)
            | Self::ListView(item_type)
            | Self::LargeListView(item_type) => Some(item_type),
            _ => None,
        }
    }
}

/// Return the format letter of the indices of a dictionary.
pub fn index_format(format: &str, name: &str) -> Result<u8, Error> {
    match format.as_bytes() {
        [letter @ (b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L')] => Ok(*letter),
        _ => Err(Error::Input(format!(
            "{name}: expected integer indices of the Arrow dictionary, found {}",
            type_name(format)
        ))),
    }
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
    unsafe {
        match format {
            b'c' => read_entry::<i8>(array, 1, position) as usize,
            b'C' => read_entry::<u8>(array, 1, position) as usize,
            b's' => read_entry::<i16>(array, 1, position) as usize,
            b'S' => read_entry::<u16>(array, 1, position) as usize,
            b'i' => read_entry::<i32>(array, 1, position) as usize,
            b'I' => read_entry::<u32>(array, 1, position) as usize,
            _ => read_entry::<u64>(array, 1, position) as usize,
        }
    }
}

/// Return the string at index `i`, which does not include the array's offset; `None` for null.
///
/// # Safety
/// The array must be valid, of this type, and have more than `i` entries.
pub unsafe fn read_string<'a>(
    array: &'a ArrowArray,
    text_type: &TextType,
    i: usize,
) -> Option<&'a [u8]> {
    // SAFETY: the buffers follow the interface's layout of each type.
    unsafe {
        let position = i + array.offset as usize;
        if matches!(text_type, TextType::Null) || is_null(array, position) {
            return None;
        }
        let (start, end) = match text_type {
            TextType::Utf8 => (
                read_entry::<i32>(array, 1, position) as usize,
                read_entry::<i32>(array, 1, position + 1) as usize,
            ),
            TextType::LargeUtf8 => (
                read_entry::<i64>(array, 1, position) as usize,
                read_entry::<i64>(array, 1, position + 1) as usize,
            ),
            TextType::Utf8View => {
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
            TextType::Dictionary(format, values) => {
                let value_index = dictionary_index(array, *format, position);
                return read_string(&*array.dictionary, values, value_index);
            }
            _ => return None,
        };
        if start == end {
            return Some(b"");
        }
        let data: *const u8 = (*array.buffers.add(2)).cast();
        Some(std::slice::from_raw_parts(data.add(start), end - start))
    }
}

/// Return the range of list entry `i` in the child. The range does not include the offsets of
/// either array, and is empty for null.
///
/// # Safety
/// The array must be a valid list of this type, and have more than `i` entries.
pub unsafe fn list_range(
    array: &ArrowArray,
    list_type: &TextType,
    i: usize,
) -> std::ops::Range<usize> {
    let position = i + array.offset as usize;
    // SAFETY: the buffers follow the interface's layout of each type.
    unsafe {
        if is_null(array, position) {
            return 0..0;
        }
        match list_type {
            TextType::LargeList(_) => {
                read_entry::<i64>(array, 1, position) as usize
                    ..read_entry::<i64>(array, 1, position + 1) as usize
            }
            TextType::ListView(_) => {
                let start = read_entry::<i32>(array, 1, position) as usize;
                start..start + read_entry::<i32>(array, 2, position) as usize
            }
            TextType::LargeListView(_) => {
                let start = read_entry::<i64>(array, 1, position) as usize;
                start..start + read_entry::<i64>(array, 2, position) as usize
            }
            TextType::FixedList(length, _) => position * length..(position + 1) * length,
            _ => {
                read_entry::<i32>(array, 1, position) as usize
                    ..read_entry::<i32>(array, 1, position + 1) as usize
            }
        }
    }
}
