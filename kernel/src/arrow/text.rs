//! The types of column that hold text, and how an entry of one is read.

use super::interface::{ArrowArray, ArrowSchema};
use crate::error::Error;

/// The types of column that hold text.
#[derive(Debug)]
pub enum Kind {
    /// Every entry is null.
    Null,
    /// Strings with 32-bit offsets.
    Utf8,
    /// Strings with 64-bit offsets.
    LargeUtf8,
    /// Strings of 16 bytes, or pointers to longer ones.
    Utf8View,
    /// Indices (their format) into distinct strings.
    Dictionary(u8, Box<Kind>),
    /// Lists with 32-bit offsets.
    List(Box<Kind>),
    /// Lists with 64-bit offsets.
    LargeList(Box<Kind>),
    /// Lists of one length.
    FixedList(usize, Box<Kind>),
    /// Lists with 32-bit offsets and sizes.
    ListView(Box<Kind>),
    /// Lists with 64-bit offsets and sizes.
    LargeListView(Box<Kind>),
}

impl Kind {
    /// The type of a column called `name`; an error if it holds no text.
    pub fn of(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        let format = schema.format(name)?;
        if let Some(values) = schema.dictionary() {
            let index = index_format(&format, name)?;
            let values = Self::of(values, name)?;
            if values.items().is_some() {
                let told = format!("{name}: expected strings, not a dictionary of lists");
                return Err(Error::Input(told));
            }
            return Ok(Self::Dictionary(index, Box::new(values)));
        }
        let child = || -> Result<Box<Self>, Error> {
            let items = schema.children().next();
            let items = items.ok_or_else(|| {
                Error::Input(format!("{name}: an Arrow list without an item type"))
            })?;
            let of = Self::of(items, name)?;
            if of.items().is_some() {
                return Err(Error::Input(format!(
                    "{name}: expected strings or lists of strings, not lists of lists"
                )));
            }
            Ok(Box::new(of))
        };
        Ok(match format.as_str() {
            "n" => Self::Null,
            "u" => Self::Utf8,
            "U" => Self::LargeUtf8,
            "vu" => Self::Utf8View,
            "+l" => Self::List(child()?),
            "+L" => Self::LargeList(child()?),
            "+vl" => Self::ListView(child()?),
            "+vL" => Self::LargeListView(child()?),
            "+s" => {
                let names: Vec<_> = schema.children().map(ArrowSchema::name).collect();
                return Err(Error::Input(format!(
                    "{name}: expected a column of text, not a table; its columns are {}",
                    names.join(", ")
                )));
            }
            other => {
                if let Some(length) = other.strip_prefix("+w:").and_then(|n| n.parse().ok()) {
                    Self::FixedList(length, child()?)
                } else {
                    return Err(Error::Input(format!(
                        "{name}: an Arrow column of {} holds no text; \
                         strings, dictionaries of strings, and lists of strings do",
                        type_name(other)
                    )));
                }
            }
        })
    }

    /// The type of a list's items; `None` for other types.
    pub fn items(&self) -> Option<&Self> {
        match self {
            Self::List(of)
            | Self::LargeList(of)
            | Self::FixedList(_, of)
            | Self::ListView(of)
            | Self::LargeListView(of) => Some(of),
            _ => None,
        }
    }
}

/// The letter of the integers that are indices into a dictionary.
pub fn index_format(format: &str, name: &str) -> Result<u8, Error> {
    match format.as_bytes() {
        [letter @ (b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L')] => Ok(*letter),
        _ => Err(Error::Input(format!(
            "{name}: the indices of an Arrow dictionary are integers, not {}",
            type_name(format)
        ))),
    }
}

/// The common name of a format's type.
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
        other => return format!("format '{other}'"),
    };
    name.to_owned()
}

/// Entry `i` of a buffer of `T`.
///
/// # Safety
/// The array must have that buffer, with that entry.
pub unsafe fn entry<T: Copy>(array: &ArrowArray, buffer: usize, i: usize) -> T {
    // SAFETY: as the caller promises; producers need not align buffers.
    unsafe { (*array.buffers.add(buffer)).cast::<T>().add(i).read_unaligned() }
}

/// True if entry `i` (with the offset added) is null.
///
/// # Safety
/// The array must be a valid one of a type with a validity buffer.
pub unsafe fn is_null(array: &ArrowArray, i: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let validity = *array.buffers;
        !validity.is_null() && *validity.cast::<u8>().add(i / 8) >> (i % 8) & 1 == 0
    }
}

/// The index into a dictionary's values of entry `at` (with the offset added), in this format.
///
/// # Safety
/// The array must be a valid one of such a type, with that entry.
pub unsafe fn dictionary_index(array: &ArrowArray, format: u8, at: usize) -> usize {
    // SAFETY: as the caller promises.
    unsafe {
        match format {
            b'c' => entry::<i8>(array, 1, at) as usize,
            b'C' => entry::<u8>(array, 1, at) as usize,
            b's' => entry::<i16>(array, 1, at) as usize,
            b'S' => entry::<u16>(array, 1, at) as usize,
            b'i' => entry::<i32>(array, 1, at) as usize,
            b'I' => entry::<u32>(array, 1, at) as usize,
            _ => entry::<u64>(array, 1, at) as usize,
        }
    }
}

/// The string at index `i`, not counting the array's offset; `None` for null.
///
/// # Safety
/// The array must be a valid one of this kind with more than `i` entries.
pub unsafe fn string<'a>(array: &'a ArrowArray, kind: &Kind, i: usize) -> Option<&'a [u8]> {
    // SAFETY: the buffers are those that the interface gives each type.
    unsafe {
        let at = i + array.offset as usize;
        if matches!(kind, Kind::Null) || is_null(array, at) {
            return None;
        }
        let (start, end) = match kind {
            Kind::Utf8 => {
                (entry::<i32>(array, 1, at) as usize, entry::<i32>(array, 1, at + 1) as usize)
            }
            Kind::LargeUtf8 => {
                (entry::<i64>(array, 1, at) as usize, entry::<i64>(array, 1, at + 1) as usize)
            }
            Kind::Utf8View => {
                let view: *const u8 = (*array.buffers.add(1)).cast::<u8>().add(16 * at);
                let number = |i: usize| view.add(4 * i).cast::<i32>().read_unaligned() as usize;
                let length = number(0);
                let start = if length <= 12 {
                    view.add(4)
                } else {
                    (*array.buffers.add(2 + number(2))).cast::<u8>().add(number(3))
                };
                return Some(std::slice::from_raw_parts(start, length));
            }
            Kind::Dictionary(index, values) => {
                let index = dictionary_index(array, *index, at);
                return string(&*array.dictionary, values, index);
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

/// The range of list entry `i` in the child, not counting either's offset; empty for null.
///
/// # Safety
/// The array must be a valid one of this kind, a list, with more than `i` entries.
pub unsafe fn list(array: &ArrowArray, kind: &Kind, i: usize) -> std::ops::Range<usize> {
    let at = i + array.offset as usize;
    // SAFETY: the buffers are those that the interface gives each type.
    unsafe {
        if is_null(array, at) {
            return 0..0;
        }
        match kind {
            Kind::LargeList(_) => {
                entry::<i64>(array, 1, at) as usize..entry::<i64>(array, 1, at + 1) as usize
            }
            Kind::ListView(_) => {
                let start = entry::<i32>(array, 1, at) as usize;
                start..start + entry::<i32>(array, 2, at) as usize
            }
            Kind::LargeListView(_) => {
                let start = entry::<i64>(array, 1, at) as usize;
                start..start + entry::<i64>(array, 2, at) as usize
            }
            Kind::FixedList(length, _) => at * length..(at + 1) * length,
            _ => entry::<i32>(array, 1, at) as usize..entry::<i32>(array, 1, at + 1) as usize,
        }
    }
}
