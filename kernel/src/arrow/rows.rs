//! A table as rows: columns are picked by name once, and their entries read row by row, as text,
//! as keys or as integers.

use super::check::{Layout, check_table, integer_bits};
use super::interface::{ArrowArray, ArrowArrayStream, ArrowSchema, Chunks};
use super::key::{Key, KeyType, read_integer};
use super::text::{self, Kind, entry, is_null, list, string};
use crate::error::Error;
use std::ops::Range;
use std::sync::Arc;

/// A table that comes in batches of rows.
pub struct Frame {
    name: String,
    schema: ArrowSchema,
    chunks: Chunks,
    /// The columns that were picked, and their layouts.
    picked: Vec<(usize, Layout)>,
}

impl Frame {
    /// The table that `stream` brings. `name` is for messages.
    pub fn from_stream(name: String, stream: ArrowArrayStream) -> Result<Self, Error> {
        let (chunks, schema) = Chunks::from_stream(name.clone(), stream)?;
        Self::new(name, schema, chunks)
    }

    /// The table that `array` is, a structure of columns.
    pub fn from_array(name: String, schema: ArrowSchema, array: ArrowArray) -> Result<Self, Error> {
        let chunks = Chunks::from_array(name.clone(), array);
        Self::new(name, schema, chunks)
    }

    fn new(name: String, schema: ArrowSchema, chunks: Chunks) -> Result<Self, Error> {
        schema.check(&name)?;
        let format = schema.format(&name)?;
        if format != "+s" || schema.dictionary().is_some() {
            return Err(Error::Input(format!(
                "{name}: expected a table with named columns, such as a RecordBatch, a Table or a \
                 data frame, not an Arrow column of {}",
                text::type_name(&format)
            )));
        }
        Ok(Self { name, schema, chunks, picked: Vec::new() })
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        self.schema.children().map(ArrowSchema::name).collect()
    }

    /// The number of the column called `name`, and its schema.
    fn find(&self, name: &str) -> Result<(usize, &ArrowSchema), Error> {
        let mut found = self.schema.children().enumerate().filter(|(_, of)| of.name() == name);
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column),
            (None, _) => {
                let names = self.names().join(", ");
                Err(Error::Input(format!("no column '{name}'; there are {names}")))
            }
            _ => Err(Error::Input(format!(
                "{}: several columns are called '{name}'; rename all but one",
                self.name
            ))),
        }
    }

    /// The column of text with this name: one text a row or, with `several`, lists of them too.
    pub fn texts(&mut self, name: &str, several: bool) -> Result<Texts, Error> {
        let (at, schema) = self.find(name)?;
        let kind = Kind::of(schema, name)?;
        if kind.items().is_some() && !several {
            let told = format!("{name}: expected one string per row, not a column of lists");
            return Err(Error::Input(told));
        }
        self.picked.push((at, Layout::of(&kind, None)));
        Ok(Texts { at, kind })
    }

    /// The column of keys with this name.
    pub fn keys(&mut self, name: &str) -> Result<Keys, Error> {
        let (at, schema) = self.find(name)?;
        let key = Key::of(schema, name)?;
        self.picked.push((at, key.layout()));
        Ok(Keys { at, key })
    }

    /// The column of integers with this name.
    pub fn integers(&mut self, name: &str) -> Result<Integers, Error> {
        let (at, schema) = self.find(name)?;
        let of = Integer::of(schema, name)?;
        self.picked.push((at, of.layout()));
        Ok(Integers { at, of })
    }

    /// The column of lists of integers with this name.
    pub fn lists(&mut self, name: &str) -> Result<Lists, Error> {
        let (at, schema) = self.find(name)?;
        let nothing = || Box::new(Kind::Null);
        let format = schema.format(name)?;
        let kind = match format.as_str() {
            "+l" => Kind::List(nothing()),
            "+L" => Kind::LargeList(nothing()),
            "+vl" => Kind::ListView(nothing()),
            "+vL" => Kind::LargeListView(nothing()),
            _ => match format.strip_prefix("+w:").and_then(|length| length.parse().ok()) {
                Some(length) => Kind::FixedList(length, nothing()),
                None => {
                    let found = text::type_name(&format);
                    return Err(Error::Input(format!(
                        "{name}: expected lists of integers, not {found}"
                    )));
                }
            },
        };
        let items = schema
            .children()
            .next()
            .ok_or_else(|| Error::Input(format!("{name}: an Arrow list without an item type")))?;
        let of = Integer::of(items, name)?;
        self.picked.push((at, Layout::of(&kind, Some(of.layout()))));
        Ok(Lists { at, kind, of })
    }

    /// The next batch of rows; `None` at the end.
    pub fn next_rows(&mut self) -> Result<Option<Rows>, Error> {
        let Some(array) = self.chunks.next_chunk()? else {
            return Ok(None);
        };
        let rows = Rows(array);
        let columns = self.schema.children().len();
        // SAFETY: the interface promises memory where the pointers of an array lead.
        unsafe {
            check_table(&rows.0, columns, &self.name)?;
            for (at, layout) in &self.picked {
                let column = rows.column(*at);
                let name =
                    self.schema.children().nth(*at).map_or_else(String::new, ArrowSchema::name);
                layout.check(column, &name)?;
            }
        }
        Ok(Some(rows))
    }
}

/// Where the texts of a row are.
pub struct Texts {
    at: usize,
    kind: Kind,
}

/// Where a key of a row is.
pub struct Keys {
    at: usize,
    key: Key,
}

impl Keys {
    /// The type of the keys.
    pub fn of(&self) -> &KeyType {
        &self.key.of
    }
}

/// Where an integer of a row is.
pub struct Integers {
    at: usize,
    of: Integer,
}

/// Where a list of integers of a row is.
pub struct Lists {
    at: usize,
    kind: Kind,
    of: Integer,
}

/// The layouts of integers. Engines that add integers up may give decimals without places.
enum Integer {
    /// Every entry is null.
    Null,
    Plain(u8),
    Decimal,
}

impl Integer {
    fn of(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        let format = schema.format(name)?;
        if schema.dictionary().is_none() {
            if format == "n" {
                return Ok(Self::Null);
            }
            if let [letter @ (b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L')] =
                format.as_bytes()
            {
                return Ok(Self::Plain(*letter));
            }
            let parts: Vec<_> = format.strip_prefix("d:").unwrap_or("").split(',').collect();
            if let [_, "0"] | [_, "0", "128"] = parts[..] {
                return Ok(Self::Decimal);
            }
        }
        let found = text::type_name(&format);
        Err(Error::Input(format!("{name}: expected 64-bit integers, not {found}; cast it")))
    }

    fn layout(&self) -> Layout {
        match self {
            Self::Null => Layout::Null,
            Self::Plain(format) => Layout::Fixed(integer_bits(*format)),
            Self::Decimal => Layout::Fixed(128),
        }
    }

    /// The integer at index `i`, not counting the array's offset; `None` for null.
    ///
    /// # Safety
    /// The array must be a valid one of this type with more than `i` entries.
    unsafe fn read(&self, array: &ArrowArray, i: usize) -> Option<i128> {
        let at = i + array.offset as usize;
        // SAFETY: as the caller promises.
        unsafe {
            if matches!(self, Self::Null) || is_null(array, at) {
                return None;
            }
            Some(match self {
                Self::Null => return None,
                Self::Plain(format) => read_integer(array, *format, at),
                Self::Decimal => entry::<i128>(array, 1, at),
            })
        }
    }
}

/// A batch of rows. Columns are those of the frame that it is of.
pub struct Rows(Arc<ArrowArray>);

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.0.length as usize
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn column(&self, at: usize) -> &ArrowArray {
        // SAFETY: a batch has as many columns as its frame, checked in `Frame::next_rows`.
        unsafe { &**self.0.children.add(at) }
    }

    /// Where row `i` is in the columns; `None` if the whole row is null.
    fn place(&self, i: usize) -> Option<usize> {
        assert!(i < self.len(), "row {i} of {}", self.len());
        let at = i + self.0.offset as usize;
        // SAFETY: a structure has a validity buffer, which may be left out.
        let null = self.0.n_buffers > 0 && unsafe { is_null(&self.0, at) };
        (!null).then_some(at)
    }

    /// Hands the texts of row `i` to `put`, each with its number; `None` for those missing.
    #[inline]
    pub fn texts<'a>(
        &'a self,
        column: &Texts,
        i: usize,
        mut put: impl FnMut(usize, Option<&'a [u8]>),
    ) {
        let Some(at) = self.place(i) else {
            return put(0, None);
        };
        let array = self.column(column.at);
        // SAFETY: the column is of this kind, by its schema, and has this entry.
        unsafe {
            match column.kind.items() {
                None => put(0, string(array, &column.kind, at)),
                Some(of) => {
                    let range = list(array, &column.kind, at);
                    let items = &**array.children;
                    for (number, at) in range.enumerate() {
                        put(number, string(items, of, at));
                    }
                }
            }
        }
    }

    /// Appends the key of row `i`; what is wrong with it otherwise.
    #[inline]
    pub fn key(&self, column: &Keys, i: usize, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let Some(at) = self.place(i) else {
            out.push(0);
            return Ok(());
        };
        // SAFETY: the column is of this type, by its schema, and has this entry.
        let fits = unsafe { column.key.put(self.column(column.at), at, out) };
        if fits { Ok(()) } else { Err(column.key.of.unfit()) }
    }

    /// The integer of row `i`; `None` for null.
    pub fn integer(&self, column: &Integers, i: usize) -> Option<i128> {
        // SAFETY: the column is of this type, by its schema, and has this entry.
        unsafe { column.of.read(self.column(column.at), self.place(i)?) }
    }

    /// Appends the integers of row `i`. Whether all of them are there.
    pub fn list(&self, column: &Lists, i: usize, out: &mut Vec<i128>) -> bool {
        let Some(at) = self.place(i) else {
            return false;
        };
        let array = self.column(column.at);
        // SAFETY: the column is of this kind, by its schema, and has this entry.
        unsafe {
            if is_null(array, at + array.offset as usize) {
                return false;
            }
            let range: Range<usize> = list(array, &column.kind, at);
            let items = &**array.children;
            for at in range {
                match column.of.read(items, at) {
                    Some(integer) => out.push(integer),
                    None => return false,
                }
            }
        }
        true
    }
}
