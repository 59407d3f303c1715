//! Columns by which rows are grouped: their types, and an entry as bytes that are the same whatever
//! layout it came in.
//!
//! An entry is a byte 0 for null, or a byte 1 and its value: one byte for a truth value; the sign
//! and 8 bytes for an integer; 8 for a floating-point number; 4 for a date, in days; 8 for times, in
//! microseconds (of UTC, where they are of a zone); the scale and 16 bytes for a decimal without
//! zeros at its end; as many as the type has for binary values of one length; the length in 4 bytes
//! and then the bytes for strings and other binary values. All of them little-endian.

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
    /// Dates in days.
    Date,
    /// Times of the day, moments of a clock without a zone, moments of UTC, and how long something
    /// took: all in microseconds.
    Time(Time),
    /// Decimals.
    Decimal,
    /// Binary values of one length.
    Fixed(usize),
    /// Binary values.
    Binary,
    /// Strings.
    Text,
}

/// What a number of microseconds means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Since midnight.
    OfDay,
    /// Since 1970 began, by a clock of which no zone is known.
    Local,
    /// Since 1970 began in UTC.
    Utc,
    /// From one moment to another.
    Long,
}

/// The types of keys, as messages name them.
const KEY_TYPES: &str = "strings, integers, floats, booleans, dates, times, decimals, binary values \
                         or dictionaries of them";

/// The bytes that binary values of one length can have.
const MOST_BYTES: u32 = i32::MAX as u32;

impl KeyType {
    /// The type with this format, and how an entry of it is read.
    fn of_format(format: &str) -> Option<(Self, Reader)> {
        let date =
            |width, days| (Self::Date, Reader::Scaled { width, times: 1, by: days, most: 4 });
        let time = |of, width, unit: Option<char>| {
            let (times, by) = match unit? {
                's' => (1_000_000, 1),
                'm' => (1000, 1),
                'u' => (1, 1),
                'n' => (1, 1000),
                _ => return None,
            };
            Some((Self::Time(of), Reader::Scaled { width, times, by, most: 8 }))
        };
        let unit = format.chars().nth(2);
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
            "tdD" => date(4, 1),
            "tdm" => date(8, 86_400_000),
            "tts" | "ttm" => time(Time::OfDay, 4, unit)?,
            "ttu" | "ttn" => time(Time::OfDay, 8, unit)?,
            _ if format.starts_with("ts") => {
                let local = matches!(format.len(), 3 | 4);
                time(if local { Time::Local } else { Time::Utc }, 8, unit)?
            }
            _ if format.starts_with("tD") => time(Time::Long, 8, unit)?,
            _ => {
                if let Some(width) = format.strip_prefix("w:") {
                    let width = width.parse::<u32>().ok().filter(|&width| width <= MOST_BYTES)?;
                    (Self::Fixed(width as usize), Reader::Fixed(width as usize))
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
                    (Self::Decimal, Reader::Decimal { width, scale })
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
            Self::Date => "tdD".to_owned(),
            Self::Time(Time::OfDay) => "ttu".to_owned(),
            Self::Time(Time::Local) => "tsu:".to_owned(),
            Self::Time(Time::Utc) => "tsu:UTC".to_owned(),
            Self::Time(Time::Long) => "tDu".to_owned(),
            Self::Decimal => format!("d:{MOST_DIGITS},0"),
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

    /// What is wrong with a value that has no entry.
    pub fn unfit(&self) -> &'static str {
        match self {
            Self::Date => "is a date with a time of day, or too far away; cast it to a date",
            Self::Decimal => "is a decimal of more than 38 digits; cast it to a shorter one",
            _ => "is no whole number of microseconds, or too far away; truncate it to microseconds",
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
            Self::Decimal => {
                let (mantissa, scale) = decimal(value);
                let mut written = Vec::with_capacity(entry.len());
                put_decimal(mantissa, i16::from(scale), &mut written) && written == entry
            }
            Self::Date | Self::Time(_) | Self::Fixed(_) | Self::Binary => true,
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
            Self::Date | Self::Time(_) => signed(a).cmp(&signed(b)),
            Self::Decimal => compare_decimals(decimal(a), decimal(b)),
            _ => a.cmp(b),
        }
    }

    /// The entries as a column, and its format; `None` for decimals that no scale holds all of.
    pub fn column(&self, entries: &[&[u8]]) -> Option<(String, ArrowArray)> {
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
            Self::Date => export::column(&valid, vec![fixed(&values, 4)]),
            Self::Time(_) => export::column(&valid, vec![fixed(&values, 8)]),
            Self::Decimal => {
                let scale = values.iter().flatten().map(|value| decimal(value).1).max();
                let scale = scale.unwrap_or(0);
                let mut bytes = Vec::with_capacity(16 * values.len());
                for value in &values {
                    let (mantissa, own) = value.map_or((0, scale), decimal);
                    let power = 10_i128.checked_pow(u32::from(scale - own))?;
                    let number = mantissa.checked_mul(power)?;
                    if number.unsigned_abs() >= 10_u128.pow(MOST_DIGITS) {
                        return None;
                    }
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                let array = export::column(&valid, vec![bytes]);
                return Some((format!("d:{MOST_DIGITS},{scale}"), array));
            }
            Self::Fixed(width) => export::column(&valid, vec![fixed(&values, *width)]),
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
        Some((self.format(large), array))
    }
}

/// The digits that a decimal of 128 bits can have.
const MOST_DIGITS: u32 = 38;

/// The signed number of at most 8 bytes.
pub fn signed(value: &[u8]) -> i64 {
    let mut bytes = [if value.last().is_some_and(|&byte| byte >= 128) { 255 } else { 0 }; 8];
    bytes[..value.len()].copy_from_slice(value);
    i64::from_le_bytes(bytes)
}

/// The decimal of an entry's value: an integer, and how many of its digits stand behind the point.
pub fn decimal(value: &[u8]) -> (i128, u8) {
    let (scale, mantissa) = value.split_first().unwrap_or((&0, &[]));
    (i128::from_le_bytes(mantissa.try_into().unwrap_or_default()), *scale)
}

/// Appends the entry of a decimal: the same for all that are equal. False for one that has no entry.
fn put_decimal(mut mantissa: i128, mut scale: i16, out: &mut Vec<u8>) -> bool {
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    while scale < 0 {
        let Some(longer) = mantissa.checked_mul(10) else { return false };
        (mantissa, scale) = (longer, scale + 1);
    }
    let Ok(scale) = u8::try_from(scale) else { return false };
    if u32::from(scale) > MOST_DIGITS || mantissa.unsigned_abs() >= 10_u128.pow(MOST_DIGITS) {
        return false;
    }
    out.extend_from_slice(&[1, scale]);
    out.extend_from_slice(&mantissa.to_le_bytes());
    true
}

/// The order of two decimals.
fn compare_decimals((a, a_scale): (i128, u8), (b, b_scale): (i128, u8)) -> Ordering {
    // Before the point first; what is behind it has at most 38 digits, brought to one scale.
    let split = |number: i128, scale: u8| {
        let unit = 10_i128.pow(u32::from(scale));
        let rest = number.rem_euclid(unit) * 10_i128.pow(MOST_DIGITS - u32::from(scale));
        (number.div_euclid(unit), rest)
    };
    split(a, a_scale).cmp(&split(b, b_scale))
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
    /// A signed number of `width` bytes, multiplied and divided, to one of `most` bytes.
    Scaled {
        width: usize,
        times: i64,
        by: i64,
        most: usize,
    },
    Decimal {
        width: usize,
        scale: i8,
    },
    Fixed(usize),
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
            Self::Scaled { width, .. } | Self::Decimal { width, .. } | Self::Fixed(width) => {
                Layout::Fixed(8 * width)
            }
            Self::Bytes(kind) => Layout::of(kind, None),
            Self::Dictionary(format, values) => {
                Layout::Dictionary(*format, Box::new(values.layout()))
            }
        }
    }

    /// Appends the entry at index `i`, not counting the array's offset. False for a value that has
    /// none: a time that is no whole microsecond, say.
    ///
    /// # Safety
    /// The array must be a valid one of this type with more than `i` entries.
    unsafe fn put(&self, array: &ArrowArray, i: usize, out: &mut Vec<u8>) -> bool {
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
                return true;
            }
            if matches!(self, Self::Null) || is_null(array, at) {
                out.push(0);
                return true;
            }
            let raw = |width: usize| {
                let values: *const u8 = (*array.buffers.add(1)).cast();
                std::slice::from_raw_parts(values.add(at * width), width)
            };
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
                Self::Scaled { width, times, by, most } => {
                    let Some(number) = signed(raw(*width)).checked_mul(*times) else {
                        return false;
                    };
                    let fits = *most == 8 || i32::try_from(number / by).is_ok();
                    if number % by != 0 || !fits {
                        return false;
                    }
                    out.push(1);
                    out.extend_from_slice(&(number / by).to_le_bytes()[..*most]);
                }
                Self::Decimal { width, scale } => {
                    // Of 256 bits, those numbers that 128 hold.
                    let (low, high) = raw(*width).split_at((*width).min(16));
                    let negative = low.last().is_some_and(|&byte| byte >= 128);
                    let sign = if negative { 255 } else { 0 };
                    let mut bytes = [sign; 16];
                    bytes[..low.len()].copy_from_slice(low);
                    let fits = high.iter().all(|&byte| byte == sign);
                    let number = i128::from_le_bytes(bytes);
                    return fits && put_decimal(number, i16::from(*scale), out);
                }
                Self::Fixed(width) => {
                    out.push(1);
                    out.extend_from_slice(raw(*width));
                }
                Self::Dictionary(format, values) => {
                    let at = dictionary_index(array, *format, at);
                    return values.put(&*array.dictionary, at, out);
                }
            }
        }
        true
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

    /// Appends the entry at index `i`, not counting the array's offset; false for a value that has
    /// none.
    ///
    /// # Safety
    /// The array must be a valid one of this type with more than `i` entries.
    pub unsafe fn put(&self, array: &ArrowArray, i: usize, out: &mut Vec<u8>) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.reader.put(array, i, out) }
    }
}
