//! Columns by which rows are grouped: their types, and an entry as bytes that are the same whatever
//! layout it came in.
//!
//! An entry is a byte 0 for null, or a byte 1 and its value: one byte for a truth value; the sign
//! and 8 bytes for an integer; 8 for a floating-point number; as many as the type has for dates,
//! times, decimals and binary values of one length; the length in 4 bytes and then the bytes for
//! strings and other binary values. All of them little-endian.

use super::check::{Layout, integer_bits};
use super::export;
use super::interface::{ArrowArray, ArrowSchema};
use super::text::{self, Kind, dictionary_index, entry, is_null, string};
use crate::error::Error;
use std::cmp::Ordering;

/// The type of a column of keys, without the layout its values come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Nothing but null.
    Null,
    /// Truth values.
    Boolean,
    /// Integers, with the format's letter.
    Integer(u8),
    /// Floating-point numbers, with the format's letter.
    Float(u8),
    /// Dates, times and decimals: signed numbers of so many bytes, with the whole format.
    Number(String, usize),
    /// Binary values of one length.
    Fixed(usize),
    /// Binary values.
    Binary,
    /// Strings.
    Text,
}

/// The types of keys, as messages name them.
const KEY_TYPES: &str = "strings, integers, floats, booleans, dates, times, decimals, binary values \
                         or dictionaries of them";

/// The bytes that binary values of one length can have.
const MOST_BYTES: u32 = i32::MAX as u32;

impl KeyType {
    /// The type with this format, and how an entry of it is read.
    fn of_format(format: &str) -> Option<(Self, Reader)> {
        let number = |width| (Self::Number(format.to_owned(), width), Reader::Number(width));
        let first = format.as_bytes().first().copied()?;
        Some(match format {
            "n" => (Self::Null, Reader::Null),
            "b" => (Self::Boolean, Reader::Boolean),
            "c" | "C" | "s" | "S" | "i" | "I" | "l" | "L" => {
                (Self::Integer(first), Reader::Integer(first))
            }
            "f" | "g" => (Self::Float(first), Reader::Float(first)),
            "u" => (Self::Text, Reader::Bytes(Kind::Utf8)),
            "U" => (Self::Text, Reader::Bytes(Kind::LargeUtf8)),
            "vu" => (Self::Text, Reader::Bytes(Kind::Utf8View)),
            "z" => (Self::Binary, Reader::Bytes(Kind::Utf8)),
            "Z" => (Self::Binary, Reader::Bytes(Kind::LargeUtf8)),
            "vz" => (Self::Binary, Reader::Bytes(Kind::Utf8View)),
            "tdD" | "tts" | "ttm" => number(4),
            "tdm" | "ttu" | "ttn" => number(8),
            _ if format.starts_with("ts") || format.starts_with("tD") => number(8),
            _ => {
                if let Some(width) = format.strip_prefix("w:") {
                    let width = width.parse::<u32>().ok().filter(|&width| width <= MOST_BYTES)?;
                    (Self::Fixed(width as usize), Reader::Number(width as usize))
                } else {
                    match format.strip_prefix("d:")?.split(',').nth(2).unwrap_or("128") {
                        "32" => number(4),
                        "64" => number(8),
                        "128" => number(16),
                        "256" => number(32),
                        _ => return None,
                    }
                }
            }
        })
    }

    /// The format of columns of this type; `large` where there are 2 GiB of strings or more.
    pub fn format(&self, large: bool) -> String {
        match self {
            Self::Null => "n".to_owned(),
            Self::Boolean => "b".to_owned(),
            Self::Integer(letter) | Self::Float(letter) => char::from(*letter).to_string(),
            Self::Number(format, _) => format.clone(),
            Self::Fixed(width) => format!("w:{width}"),
            Self::Binary => if large { "Z" } else { "z" }.to_owned(),
            Self::Text => if large { "U" } else { "u" }.to_owned(),
        }
    }

    /// The type that `format` gave.
    pub fn parse(format: &str) -> Option<Self> {
        Self::of_format(format).map(|(of, _)| of)
    }

    /// The common name of the type.
    pub fn name(&self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Null => "null".to_owned(),
            other => text::type_name(&other.format(false)),
        }
    }

    /// The type that holds the values of both, whatever the order; `None` if there is none.
    pub fn joined(&self, other: &Self) -> Option<Self> {
        let unsigned = u8::is_ascii_uppercase;
        Some(match (self, other) {
            (one, other) if one == other => one.clone(),
            (Self::Null, other) => other.clone(),
            (one, Self::Null) => one.clone(),
            (Self::Integer(a), Self::Integer(b)) if unsigned(a) && unsigned(b) => {
                let width = |letter: u8| b"CSIL".iter().position(|&known| known == letter);
                Self::Integer(if width(*a) > width(*b) { *a } else { *b })
            }
            (Self::Integer(b'L'), Self::Integer(_)) | (Self::Integer(_), Self::Integer(b'L')) => {
                return None;
            }
            (Self::Integer(_), Self::Integer(_)) => Self::Integer(b'l'),
            (Self::Float(_), Self::Float(_)) => Self::Float(b'g'),
            _ => return None,
        })
    }

    /// The length of the entry that `bytes` starts with; `None` if it is truncated.
    pub fn width(&self, bytes: &[u8]) -> Option<usize> {
        let width = match (bytes.first()?, self) {
            (0, _) | (_, Self::Null) => 1,
            (_, Self::Boolean) => 2,
            (_, Self::Integer(_)) => 10,
            (_, Self::Float(_)) => 9,
            (_, Self::Number(_, width) | Self::Fixed(width)) => 1 + width,
            (_, Self::Text | Self::Binary) => {
                5 + u32::from_le_bytes(bytes.get(1..5)?.try_into().ok()?) as usize
            }
        };
        (width <= bytes.len()).then_some(width)
    }

    /// The value of an entry; `None` for null.
    pub fn value<'a>(&self, entry: &'a [u8]) -> Option<&'a [u8]> {
        match (entry.first(), self) {
            (Some(1), Self::Text | Self::Binary) => entry.get(5..),
            (Some(1), Self::Null) => None,
            (Some(1), _) => entry.get(1..),
            _ => None,
        }
    }

    /// True if an entry of the right length is one as they are written: those of equal values are
    /// the same bytes, and every value is one of the type.
    pub fn is_canonical(&self, entry: &[u8]) -> bool {
        if entry == [0] {
            return true;
        }
        let Some(value) = self.value(entry) else { return false };
        match self {
            Self::Null => false,
            Self::Boolean => matches!(value, [0 | 1]),
            Self::Integer(letter) => {
                let number = integer(value);
                let mut written = Vec::with_capacity(entry.len());
                put_integer(number, &mut written);
                let bits = integer_bits(*letter);
                let unsigned = letter.is_ascii_uppercase();
                let (least, most) = if unsigned { (0, bits) } else { (-1 << (bits - 1), bits - 1) };
                written == entry && (least..1_i128 << most).contains(&number)
            }
            Self::Float(letter) => {
                let number = float(value);
                let number = if *letter == b'f' { f64::from(number as f32) } else { number };
                canonical(number).to_le_bytes() == value
            }
            Self::Text => simdutf8::basic::from_utf8(value).is_ok(),
            Self::Number(..) | Self::Fixed(_) | Self::Binary => true,
        }
    }

    /// The order of two entries: null first, numbers by size and not-a-number last, the rest by
    /// its bytes.
    pub fn compare(&self, one: &[u8], other: &[u8]) -> Ordering {
        let (Some(a), Some(b)) = (self.value(one), self.value(other)) else {
            return one.first().cmp(&other.first());
        };
        match self {
            Self::Integer(_) => integer(a).cmp(&integer(b)),
            Self::Float(_) => float(a).total_cmp(&float(b)),
            // Two's complement: the sign is in the last byte, and the bytes before are its weight.
            Self::Number(..) => {
                let signed = |bytes: &[u8]| bytes.last().map_or(0, |&byte| byte as i8);
                let heavier =
                    |bytes: &[u8]| bytes.iter().rev().skip(1).copied().collect::<Vec<_>>();
                signed(a).cmp(&signed(b)).then_with(|| heavier(a).cmp(&heavier(b)))
            }
            _ => a.cmp(b),
        }
    }

    /// The entries as a column, and its format.
    pub fn column(&self, entries: &[&[u8]]) -> (String, ArrowArray) {
        let values: Vec<_> = entries.iter().map(|entry| self.value(entry)).collect();
        let valid: Vec<_> = values.iter().map(Option::is_some).collect();
        let bytes: usize = values.iter().flatten().map(|value| value.len()).sum();
        let large = bytes > i32::MAX as usize;
        let array = match self {
            Self::Null => export::nulls(values.len()),
            Self::Boolean => {
                let bits = export::bits(values.iter().map(|value| *value == Some(&[1])));
                export::column(&valid, vec![bits])
            }
            Self::Integer(letter) => {
                let width = match letter.to_ascii_lowercase() {
                    b'c' => 1,
                    b's' => 2,
                    b'i' => 4,
                    _ => 8,
                };
                let numbers = values.iter().flat_map(|value| {
                    value.map_or([0; 8], |value| (integer(value) as i64).to_le_bytes())
                });
                // Those bytes of each that the type has.
                let numbers = numbers.enumerate().filter(|(i, _)| i % 8 < width);
                export::column(&valid, vec![numbers.map(|(_, byte)| byte).collect()])
            }
            Self::Float(b'f') => {
                let numbers =
                    values.iter().flat_map(|value| (value.map_or(0.0, float) as f32).to_le_bytes());
                export::column(&valid, vec![numbers.collect()])
            }
            Self::Float(_) => export::column(&valid, vec![fixed(&values, 8)]),
            Self::Number(_, width) | Self::Fixed(width) => {
                export::column(&valid, vec![fixed(&values, *width)])
            }
            Self::Binary | Self::Text => {
                let mut end = 0_u64;
                let mut offsets = Vec::with_capacity((values.len() + 1) * 8);
                let mut put = |end: u64| match large {
                    true => offsets.extend_from_slice(&end.to_le_bytes()),
                    false => offsets.extend_from_slice(&(end as u32).to_le_bytes()),
                };
                put(0);
                for value in &values {
                    end += value.map_or(0, <[u8]>::len) as u64;
                    put(end);
                }
                export::column(
                    &valid,
                    vec![offsets, values.iter().flatten().copied().flatten().copied().collect()],
                )
            }
        };
        (self.format(large), array)
    }
}

/// Values of one width, zeros for null.
fn fixed(values: &[Option<&[u8]>], width: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * width);
    for value in values {
        match value {
            Some(value) => bytes.extend_from_slice(value),
            None => bytes.resize(bytes.len() + width, 0),
        }
    }
    bytes
}

/// The integer of an entry's value: a byte 0 for those below 0, then 8 bytes.
pub fn integer(value: &[u8]) -> i128 {
    let (sign, low) = value.split_first().unwrap_or((&1, &[]));
    let low = u64::from_le_bytes(low.try_into().unwrap_or_default());
    if *sign == 0 { i128::from(low as i64) } else { i128::from(low) }
}

/// The entry of an integer.
pub fn put_integer(value: i128, out: &mut Vec<u8>) {
    out.extend_from_slice(&[1, u8::from(value >= 0)]);
    out.extend_from_slice(&(value as u64).to_le_bytes());
}

/// One of all that are equal, or not a number: they are one key.
fn canonical(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

/// The floating-point number of an entry's value.
pub fn float(value: &[u8]) -> f64 {
    f64::from_le_bytes(value.try_into().unwrap_or_default())
}

/// How an entry is read.
#[derive(Debug)]
enum Reader {
    Null,
    Boolean,
    Integer(u8),
    Float(u8),
    Number(usize),
    Bytes(Kind),
    /// Indices (their format) into distinct values.
    Dictionary(u8, Box<Reader>),
}

impl Reader {
    fn layout(&self) -> Layout {
        match self {
            Self::Null => Layout::Null,
            Self::Boolean => Layout::Fixed(1),
            Self::Integer(format) => Layout::Fixed(integer_bits(*format)),
            Self::Float(format) => Layout::Fixed(if *format == b'f' { 32 } else { 64 }),
            Self::Number(width) => Layout::Fixed(8 * width),
            Self::Bytes(kind) => Layout::of(kind, None),
            Self::Dictionary(format, values) => {
                Layout::Dictionary(*format, Box::new(values.layout()))
            }
        }
    }

    /// Appends the entry at index `i`, not counting the array's offset.
    ///
    /// # Safety
    /// The array must be a valid one of this type with more than `i` entries.
    unsafe fn put(&self, array: &ArrowArray, i: usize, out: &mut Vec<u8>) {
        let at = i + array.offset as usize;
        // SAFETY: as the caller promises; the buffers are those the interface gives each type.
        unsafe {
            if let Self::Bytes(kind) = self {
                match string(array, kind, i) {
                    Some(text) => {
                        out.push(1);
                        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                        out.extend_from_slice(text);
                    }
                    None => out.push(0),
                }
                return;
            }
            if matches!(self, Self::Null) || is_null(array, at) {
                out.push(0);
                return;
            }
            match self {
                Self::Null | Self::Bytes(_) => {}
                Self::Boolean => {
                    let byte = entry::<u8>(array, 1, at / 8);
                    out.extend_from_slice(&[1, byte >> (at % 8) & 1]);
                }
                Self::Integer(format) => put_integer(read_integer(array, *format, at), out),
                Self::Float(format) => {
                    let value = match format {
                        b'f' => f64::from(entry::<f32>(array, 1, at)),
                        _ => entry::<f64>(array, 1, at),
                    };
                    out.push(1);
                    out.extend_from_slice(&canonical(value).to_le_bytes());
                }
                Self::Number(width) => {
                    let values: *const u8 = (*array.buffers.add(1)).cast();
                    out.push(1);
                    out.extend_from_slice(std::slice::from_raw_parts(
                        values.add(at * width),
                        *width,
                    ));
                }
                Self::Dictionary(format, values) => {
                    values.put(&*array.dictionary, dictionary_index(array, *format, at), out);
                }
            }
        }
    }
}

/// The integer at `at`, with the offset added.
///
/// # Safety
/// The array must be a valid one of this format, with that entry.
pub unsafe fn read_integer(array: &ArrowArray, format: u8, at: usize) -> i128 {
    // SAFETY: as the caller promises.
    unsafe {
        match format {
            b'c' => entry::<i8>(array, 1, at).into(),
            b'C' => entry::<u8>(array, 1, at).into(),
            b's' => entry::<i16>(array, 1, at).into(),
            b'S' => entry::<u16>(array, 1, at).into(),
            b'i' => entry::<i32>(array, 1, at).into(),
            b'I' => entry::<u32>(array, 1, at).into(),
            b'L' => entry::<u64>(array, 1, at).into(),
            _ => entry::<i64>(array, 1, at).into(),
        }
    }
}

/// A column of keys: what its values are, and how they are read.
#[derive(Debug)]
pub struct Key {
    /// The type of the values.
    pub of: KeyType,
    reader: Reader,
}

impl Key {
    /// The column that `schema` announces; an error if its values cannot be keys.
    pub fn of(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        let format = schema.format(name)?;
        if let Some(values) = schema.dictionary() {
            let values = Self::of(values, name)?;
            let index = text::index_format(&format, name)?;
            let reader = match values.reader {
                Reader::Bytes(kind) => Reader::Bytes(Kind::Dictionary(index, Box::new(kind))),
                reader => Reader::Dictionary(index, Box::new(reader)),
            };
            return Ok(Self { of: values.of, reader });
        }
        match KeyType::of_format(&format) {
            Some((of, reader)) => Ok(Self { of, reader }),
            None => {
                let found = text::type_name(&format);
                Err(Error::Input(format!("{name}: expected keys to be {KEY_TYPES}, not {found}")))
            }
        }
    }

    /// What its arrays hold.
    pub fn layout(&self) -> Layout {
        self.reader.layout()
    }

    /// Appends the entry at index `i`, not counting the array's offset.
    ///
    /// # Safety
    /// The array must be a valid one of this type with more than `i` entries.
    pub unsafe fn put(&self, array: &ArrowArray, i: usize, out: &mut Vec<u8>) {
        // SAFETY: as the caller promises.
        unsafe { self.reader.put(array, i, out) }
    }
}
