//! Key columns for grouping: their types, and their entries as bytes that do not depend on the
//! layout of the column.
//!
//! An entry is the byte 0 for null, or the byte 1 and a value. The value is one byte for a boolean;
//! a sign byte and 8 bytes for an integer; 8 bytes for a float; 4 bytes for a date, in days; 8
//! bytes for a time, in microseconds (in UTC if it has a time zone). A decimal has no trailing
//! zeros, and is stored as its scale and 16 bytes. Fixed-size binary values are stored unchanged.
//! Strings and other binary values are stored as their length in 4 bytes, then their bytes. All
//! values are little-endian.

use super::check::{Layout, integer_bits};
use super::export;
use super::interface::{ArrowArray, ArrowSchema};
use super::text::{self, dictionary_index, is_null, read_entry, read_integer, read_string};
use crate::error::Error;
use std::cmp::Ordering;

/// The type of a key column, independent of its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Only nulls.
    Null,
    /// Booleans.
    Boolean,
    /// Integers, with the letter of their format.
    Integer(u8),
    /// Floats, with the letter of their format.
    Float(u8),
    /// Dates in days.
    Date,
    /// Times of day, timestamps without a time zone, UTC timestamps and durations, all in
    /// microseconds.
    Time(TimeKind),
    /// Decimals.
    Decimal,
    /// Binary values of a fixed size.
    Fixed(usize),
    /// Binary values.
    Binary,
    /// Strings.
    Text,
}

/// The meaning of a number of microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeKind {
    /// The time since midnight.
    OfDay,
    /// The time since the start of 1970, in an unknown time zone.
    Local,
    /// The time since the start of 1970 in UTC.
    Utc,
    /// A duration.
    Duration,
}

/// The key types, as messages list them.
const KEY_TYPES: &str = "strings, integers, floats, booleans, dates, times, decimals, binary values \
                         or dictionaries of them";

/// Maximum size of fixed-size binary values.
const MAX_FIXED_BYTES: u32 = i32::MAX as u32;

impl KeyType {
    /// Return the type with this format, and a reader for its entries.
    fn from_format(format: &str) -> Option<(Self, EntryReader)> {
        let scaled = |width, multiplier, divisor, stored_bytes| EntryReader::Scaled {
            width,
            multiplier,
            divisor,
            stored_bytes,
        };
        let time_type = |of, width, unit: Option<char>| {
            let (multiplier, divisor) = match unit? {
                's' => (1_000_000, 1),
                'm' => (1000, 1),
                'u' => (1, 1),
                'n' => (1, 1000),
                _ => return None,
            };
            Some((Self::Time(of), scaled(width, multiplier, divisor, 8)))
        };
        let unit = format.chars().nth(2);
        let first = format.as_bytes().first().copied()?;
        if let Some(letter) = text::integer_letter(format) {
            return Some((Self::Integer(letter), EntryReader::Integer(letter)));
        }
        Some(match format {
            "n" => (Self::Null, EntryReader::Null),
            "b" => (Self::Boolean, EntryReader::Boolean),
            "f" | "g" => (Self::Float(first), EntryReader::Float(first)),
            "u" => (Self::Text, EntryReader::Bytes(Layout::Bytes)),
            "U" => (Self::Text, EntryReader::Bytes(Layout::LargeBytes)),
            "vu" => (Self::Text, EntryReader::Bytes(Layout::Views)),
            "z" => (Self::Binary, EntryReader::Bytes(Layout::Bytes)),
            "Z" => (Self::Binary, EntryReader::Bytes(Layout::LargeBytes)),
            "vz" => (Self::Binary, EntryReader::Bytes(Layout::Views)),
            "tdD" => (Self::Date, scaled(4, 1, 1, 4)),
            "tdm" => (Self::Date, scaled(8, 1, 86_400_000, 4)),
            "tts" | "ttm" => time_type(TimeKind::OfDay, 4, unit)?,
            "ttu" | "ttn" => time_type(TimeKind::OfDay, 8, unit)?,
            _ if format.starts_with("ts") => {
                let is_local = matches!(format.len(), 3 | 4);
                time_type(if is_local { TimeKind::Local } else { TimeKind::Utc }, 8, unit)?
            }
            _ if format.starts_with("tD") => time_type(TimeKind::Duration, 8, unit)?,
            _ => {
                if let Some(width) = format.strip_prefix("w:") {
                    let width =
                        width.parse::<u32>().ok().filter(|&width| width <= MAX_FIXED_BYTES)?;
                    (Self::Fixed(width as usize), EntryReader::Fixed(width as usize))
                } else {
                    let mut parts = format.strip_prefix("d:")?.split(',').skip(1);
                    let scale = parts.next()?.parse::<i8>().ok()?;
                    let width = match parts.next().unwrap_or("128") {
                        "32" => 4,
                        "64" => 8,
                        "128" => 16,
                        "256" => 32,
                        _ => return None,
                    };
                    (Self::Decimal, EntryReader::Decimal { width, scale })
                }
            }
        })
    }

    /// Return the format of columns of this type. `is_large` means that the strings have 2 GiB or
    /// more.
    pub fn format(&self, is_large: bool) -> String {
        match self {
            Self::Null => "n".to_owned(),
            Self::Boolean => "b".to_owned(),
            Self::Integer(letter) | Self::Float(letter) => char::from(*letter).to_string(),
            Self::Date => "tdD".to_owned(),
            Self::Time(TimeKind::OfDay) => "ttu".to_owned(),
            Self::Time(TimeKind::Local) => "tsu:".to_owned(),
            Self::Time(TimeKind::Utc) => "tsu:UTC".to_owned(),
            Self::Time(TimeKind::Duration) => "tDu".to_owned(),
            Self::Decimal => format!("d:{MAX_DIGITS},0"),
            Self::Fixed(width) => format!("w:{width}"),
            Self::Binary => if is_large { "Z" } else { "z" }.to_owned(),
            Self::Text => if is_large { "U" } else { "u" }.to_owned(),
        }
    }

    /// Return the type with this format.
    pub fn parse(format: &str) -> Option<Self> {
        Self::from_format(format).map(|(key_type, _)| key_type)
    }

    /// Return the usual name of the type.
    pub fn name(&self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Null => "null".to_owned(),
            key_type => text::type_name(&key_type.format(false)),
        }
    }

    /// Describe why a value of this type cannot be converted to an entry.
    pub fn conversion_problem(&self) -> &'static str {
        match self {
            Self::Date => "is a date with a time of day, or out of range (cast it to a date)",
            Self::Decimal => "is a decimal of more than 38 digits (cast it to a shorter decimal)",
            _ => {
                "is not a whole number of microseconds, or is out of range (truncate it to microseconds)"
            }
        }
    }

    /// Return the common type of two types, independent of their order, or `None` if they are
    /// incompatible.
    pub fn join(&self, other: &Self) -> Option<Self> {
        let is_unsigned = u8::is_ascii_uppercase;
        Some(match (self, other) {
            (first, second) if first == second => first.clone(),
            (Self::Null, key_type) => key_type.clone(),
            (key_type, Self::Null) => key_type.clone(),
            (Self::Integer(a), Self::Integer(b)) if is_unsigned(a) && is_unsigned(b) => {
                let width = |letter: u8| b"CSIL".iter().position(|&candidate| candidate == letter);
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

    /// Return the length of the entry at the start of `bytes`, or `None` if it is truncated.
    pub fn entry_width(&self, bytes: &[u8]) -> Option<usize> {
        let width = match (bytes.first()?, self) {
            (0, _) | (_, Self::Null) => 1,
            (_, Self::Boolean) => 2,
            (_, Self::Integer(_)) => 10,
            (_, Self::Float(_)) => 9,
            (_, Self::Date) => 5,
            (_, Self::Time(_)) => 9,
            (_, Self::Decimal) => 18,
            (_, Self::Fixed(width)) => 1 + width,
            (_, Self::Text | Self::Binary) => {
                5 + u32::from_le_bytes(bytes.get(1..5)?.try_into().ok()?) as usize
            }
        };
        (width <= bytes.len()).then_some(width)
    }

    /// Return the value of an entry, or `None` for null.
    pub fn entry_value<'a>(&self, entry: &'a [u8]) -> Option<&'a [u8]> {
        match (entry.first(), self) {
            (Some(1), Self::Text | Self::Binary) => entry.get(5..),
            (Some(1), Self::Null) => None,
            (Some(1), _) => entry.get(1..),
            _ => None,
        }
    }

    /// Return whether an entry of the right length is valid for the type and is the canonical entry
    /// for its value.
    pub fn is_canonical(&self, entry: &[u8]) -> bool {
        if entry == [0] {
            return true;
        }
        let Some(value) = self.entry_value(entry) else { return false };
        match self {
            Self::Null => false,
            Self::Boolean => matches!(value, [0 | 1]),
            Self::Integer(letter) => {
                let value_as_integer = read_integer_value(value);
                let mut canonical_entry = Vec::with_capacity(entry.len());
                push_integer(value_as_integer, &mut canonical_entry);
                let bits = integer_bits(*letter);
                let is_unsigned = letter.is_ascii_uppercase();
                let (minimum, bit_limit) =
                    if is_unsigned { (0, bits) } else { (-1 << (bits - 1), bits - 1) };
                canonical_entry == entry
                    && (minimum..1_i128 << bit_limit).contains(&value_as_integer)
            }
            Self::Float(letter) => {
                let number = read_float(value);
                let number = if *letter == b'f' { f64::from(number as f32) } else { number };
                canonical_float(number).to_le_bytes() == value
            }
            Self::Text => simdutf8::basic::from_utf8(value).is_ok(),
            Self::Decimal => {
                let (mantissa, scale) = read_decimal(value);
                let mut canonical_entry = Vec::with_capacity(entry.len());
                push_decimal(mantissa, i16::from(scale), &mut canonical_entry)
                    && canonical_entry == entry
            }
            Self::Date | Self::Time(_) | Self::Fixed(_) | Self::Binary => true,
        }
    }

    /// Compare two entries: null first, numbers by value with NaN last, everything else by bytes.
    pub fn compare(&self, first: &[u8], second: &[u8]) -> Ordering {
        let (Some(a), Some(b)) = (self.entry_value(first), self.entry_value(second)) else {
            return first.first().cmp(&second.first());
        };
        match self {
            Self::Integer(_) => read_integer_value(a).cmp(&read_integer_value(b)),
            Self::Float(_) => read_float(a).total_cmp(&read_float(b)),
            Self::Date | Self::Time(_) => read_signed(a).cmp(&read_signed(b)),
            Self::Decimal => compare_decimals(read_decimal(a), read_decimal(b)),
            _ => a.cmp(b),
        }
    }

    /// Return a column of the entries, and the column's format. Return `None` for decimals without
    /// a common scale.
    pub fn column(&self, entries: &[&[u8]]) -> Option<(String, ArrowArray)> {
        let values: Vec<_> = entries.iter().map(|entry| self.entry_value(entry)).collect();
        let valid: Vec<_> = values.iter().map(Option::is_some).collect();
        let bytes: usize = values.iter().flatten().map(|value| value.len()).sum();
        let is_large = bytes > i32::MAX as usize;
        let buffers = match self {
            Self::Null => {
                return Some((self.format(false), export::null_column(values.len())));
            }
            Self::Boolean => {
                vec![export::pack_bits(values.iter().map(|value| *value == Some(&[1])))]
            }
            Self::Integer(letter) => {
                let width = integer_bits(*letter) / 8;
                let numbers = values.iter().flat_map(|value| {
                    value.map_or([0; 8], |value| (read_integer_value(value) as i64).to_le_bytes())
                });
                // Keep only the low bytes of each integer, according to the size of the type.
                let numbers = numbers.enumerate().filter(|(i, _)| i % 8 < width);
                vec![numbers.map(|(_, byte)| byte).collect()]
            }
            Self::Float(b'f') => {
                let numbers = values
                    .iter()
                    .flat_map(|value| (value.map_or(0.0, read_float) as f32).to_le_bytes());
                vec![numbers.collect()]
            }
            Self::Float(_) | Self::Time(_) => vec![concatenate_fixed(&values, 8)],
            Self::Date => vec![concatenate_fixed(&values, 4)],
            Self::Decimal => {
                let scale = values.iter().flatten().map(|value| read_decimal(value).1).max();
                let scale = scale.unwrap_or(0);
                let mut bytes = Vec::with_capacity(16 * values.len());
                for value in &values {
                    let (mantissa, own_scale) = value.map_or((0, scale), read_decimal);
                    let power = 10_i128.checked_pow(u32::from(scale - own_scale))?;
                    let number = mantissa.checked_mul(power)?;
                    if number.unsigned_abs() >= 10_u128.pow(MAX_DIGITS) {
                        return None;
                    }
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                let array = export::nullable_column(&valid, vec![bytes]);
                return Some((format!("d:{MAX_DIGITS},{scale}"), array));
            }
            Self::Fixed(width) => vec![concatenate_fixed(&values, *width)],
            Self::Binary | Self::Text => {
                let mut end = 0_u64;
                let mut offsets = Vec::with_capacity((values.len() + 1) * 8);
                let mut push_offset = |end: u64| match is_large {
                    true => offsets.extend_from_slice(&end.to_le_bytes()),
                    false => offsets.extend_from_slice(&(end as u32).to_le_bytes()),
                };
                push_offset(0);
                for value in &values {
                    end += value.map_or(0, <[u8]>::len) as u64;
                    push_offset(end);
                }
                vec![offsets, values.iter().flatten().copied().flatten().copied().collect()]
            }
        };
        Some((self.format(is_large), export::nullable_column(&valid, buffers)))
    }
}

/// Number of digits of a 128-bit decimal.
const MAX_DIGITS: u32 = 38;

/// Decode a signed integer from at most 8 bytes.
pub fn read_signed(value: &[u8]) -> i64 {
    let mut bytes = [if value.last().is_some_and(|&byte| byte >= 128) { 255 } else { 0 }; 8];
    bytes[..value.len()].copy_from_slice(value);
    i64::from_le_bytes(bytes)
}

/// Decode the decimal in an entry's value. Return an integer and its number of decimal places.
pub fn read_decimal(value: &[u8]) -> (i128, u8) {
    let (scale, mantissa) = value.split_first().unwrap_or((&0, &[]));
    (i128::from_le_bytes(mantissa.try_into().unwrap_or_default()), *scale)
}

/// Append the canonical entry of a decimal. Return false if the decimal has no entry.
fn push_decimal(mut mantissa: i128, mut scale: i16, out: &mut Vec<u8>) -> bool {
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    while scale < 0 {
        let Some(multiplied) = mantissa.checked_mul(10) else { return false };
        (mantissa, scale) = (multiplied, scale + 1);
    }
    let Ok(scale) = u8::try_from(scale) else { return false };
    if u32::from(scale) > MAX_DIGITS || mantissa.unsigned_abs() >= 10_u128.pow(MAX_DIGITS) {
        return false;
    }
    out.extend_from_slice(&[1, scale]);
    out.extend_from_slice(&mantissa.to_le_bytes());
    true
}

/// Compare two decimals.
fn compare_decimals((a, a_scale): (i128, u8), (b, b_scale): (i128, u8)) -> Ordering {
    // Compare the integer parts first, then the fractions at a common scale of 38 digits.
    let split = |number: i128, scale: u8| {
        let unit = 10_i128.pow(u32::from(scale));
        let fraction = number.rem_euclid(unit) * 10_i128.pow(MAX_DIGITS - u32::from(scale));
        (number.div_euclid(unit), fraction)
    };
    split(a, a_scale).cmp(&split(b, b_scale))
}

/// Concatenate values of a fixed width, with zeros for null.
fn concatenate_fixed(values: &[Option<&[u8]>], width: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * width);
    for value in values {
        match value {
            Some(value) => bytes.extend_from_slice(value),
            None => bytes.resize(bytes.len() + width, 0),
        }
    }
    bytes
}

/// Decode the integer in an entry's value: a sign byte (0 if negative), then 8 bytes.
pub fn read_integer_value(value: &[u8]) -> i128 {
    let (sign, low) = value.split_first().unwrap_or((&1, &[]));
    let low = u64::from_le_bytes(low.try_into().unwrap_or_default());
    if *sign == 0 { i128::from(low as i64) } else { i128::from(low) }
}

/// Append the entry of an integer.
pub fn push_integer(value: i128, out: &mut Vec<u8>) {
    out.extend_from_slice(&[1, u8::from(value >= 0)]);
    out.extend_from_slice(&(value as u64).to_le_bytes());
}

/// Return the canonical form of a float: the same NaN for all NaNs, and 0.0 for -0.0.
fn canonical_float(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

/// Decode the float in an entry's value.
pub fn read_float(value: &[u8]) -> f64 {
    f64::from_le_bytes(value.try_into().unwrap_or_default())
}

/// A reader of entries in a column's layout.
#[allow(missing_docs)]
#[derive(Debug)]
pub enum EntryReader {
    Null,
    Boolean,
    Integer(u8),
    Float(u8),
    /// A signed integer of `width` bytes. It is multiplied, divided, and stored in `stored_bytes`.
    Scaled {
        width: usize,
        multiplier: i64,
        divisor: i64,
        stored_bytes: usize,
    },
    Decimal {
        width: usize,
        scale: i8,
    },
    Fixed(usize),
    Bytes(Layout),
    /// Indices of this integer format, which refer to distinct values.
    Dictionary(u8, Box<EntryReader>),
}

impl EntryReader {
    /// Return the layout of the arrays.
    pub fn layout(&self) -> Layout {
        match self {
            Self::Null => Layout::Null,
            Self::Boolean => Layout::Fixed(1),
            Self::Integer(format) => Layout::Fixed(integer_bits(*format)),
            Self::Float(format) => Layout::Fixed(if *format == b'f' { 32 } else { 64 }),
            Self::Scaled { width, .. } | Self::Decimal { width, .. } | Self::Fixed(width) => {
                Layout::Fixed(8 * width)
            }
            Self::Bytes(layout) => layout.clone(),
            Self::Dictionary(format, values) => {
                Layout::Dictionary(*format, Box::new(values.layout()))
            }
        }
    }

    /// Append the entry at index `i`, which does not include the array's offset. Return false for a
    /// value without an entry, such as a time with a fraction of a microsecond.
    ///
    /// # Safety
    /// The array must be valid, of this type, and have more than `i` entries.
    pub unsafe fn push_entry(&self, array: &ArrowArray, i: usize, out: &mut Vec<u8>) -> bool {
        let index = i + array.offset as usize;
        // SAFETY: guaranteed by the caller; the buffers follow the interface's layout of each type.
        unsafe {
            if let Self::Bytes(kind) = self {
                match read_string(array, kind, i) {
                    Some(text) => {
                        out.push(1);
                        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                        out.extend_from_slice(text);
                    }
                    None => out.push(0),
                }
                return true;
            }
            if matches!(self, Self::Null) || is_null(array, index) {
                out.push(0);
                return true;
            }
            let raw_value = |width: usize| {
                let values: *const u8 = (*array.buffers.add(1)).cast();
                std::slice::from_raw_parts(values.add(index * width), width)
            };
            match self {
                Self::Null | Self::Bytes(_) => {}
                Self::Boolean => {
                    let byte = read_entry::<u8>(array, 1, index / 8);
                    out.extend_from_slice(&[1, byte >> (index % 8) & 1]);
                }
                Self::Integer(format) => push_integer(read_integer(array, *format, index), out),
                Self::Float(format) => {
                    let value = match format {
                        b'f' => f64::from(read_entry::<f32>(array, 1, index)),
                        _ => read_entry::<f64>(array, 1, index),
                    };
                    out.push(1);
                    out.extend_from_slice(&canonical_float(value).to_le_bytes());
                }
                Self::Scaled { width, multiplier: times, divisor: by, stored_bytes: most } => {
                    let Some(number) = read_signed(raw_value(*width)).checked_mul(*times) else {
                        return false;
                    };
                    let is_in_range = *most == 8 || i32::try_from(number / by).is_ok();
                    if number % by != 0 || !is_in_range {
                        return false;
                    }
                    out.push(1);
                    out.extend_from_slice(&(number / by).to_le_bytes()[..*most]);
                }
                Self::Decimal { width, scale } => {
                    // 256-bit decimals are supported if their value fits into 128 bits.
                    let (low, high) = raw_value(*width).split_at((*width).min(16));
                    let is_negative = low.last().is_some_and(|&byte| byte >= 128);
                    let sign = if is_negative { 255 } else { 0 };
                    let mut bytes = [sign; 16];
                    bytes[..low.len()].copy_from_slice(low);
                    let is_in_range = high.iter().all(|&byte| byte == sign);
                    let number = i128::from_le_bytes(bytes);
                    return is_in_range && push_decimal(number, i16::from(*scale), out);
                }
                Self::Fixed(width) => {
                    out.push(1);
                    out.extend_from_slice(raw_value(*width));
                }
                Self::Dictionary(format, values) => {
                    let value_index = dictionary_index(array, *format, index);
                    return values.push_entry(&*array.dictionary, value_index, out);
                }
            }
        }
        true
    }
}

/// A key column: the type of its values, and their reader.
#[derive(Debug)]
pub struct KeyColumn {
    /// The type of the values.
    pub key_type: KeyType,
    /// The reader of the values.
    pub reader: EntryReader,
}

impl KeyColumn {
    /// Return the column that `schema` describes, or an error if its values cannot be keys.
    pub fn from_schema(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        let format = schema.format(name)?;
        if let Some(values) = schema.dictionary() {
            let values = Self::from_schema(values, name)?;
            let index = text::index_format(&format, name)?;
            let reader = match values.reader {
                EntryReader::Bytes(kind) => {
                    EntryReader::Bytes(Layout::Dictionary(index, Box::new(kind)))
                }
                reader => EntryReader::Dictionary(index, Box::new(reader)),
            };
            return Ok(Self { key_type: values.key_type, reader });
        }
        match KeyType::from_format(&format) {
            Some((key_type, reader)) => Ok(Self { key_type, reader }),
            None => {
                let found_type = text::type_name(&format);
                Err(Error::Input(format!(
                    "{name}: expected keys to be {KEY_TYPES}, found {found_type}"
                )))
            }
        }
    }
}
