//! A reader of tables. The caller selects columns by name, and then reads their entries row by row,
//! as texts, keys or integers.

use super::check::{Layout, check_table, integer_bits};
use super::interface::{ArrayChunks, ArrowArray, ArrowInput, ArrowSchema};
use super::key::{KeyColumn, KeyType};
use super::text::{self, is_null, list_range, read_entry, read_integer, read_string};
use crate::error::Error;
use std::sync::Arc;

/// A reader of a table that arrives in batches of rows.
pub struct TableReader {
    name: String,
    schema: ArrowSchema,
    chunks: ArrayChunks,
    /// The selected columns, with their layouts.
    selected: Vec<(usize, Layout)>,
}

impl TableReader {
    /// Read a table: structures of columns. Error messages contain `name`.
    pub fn new(name: String, input: ArrowInput) -> Result<Self, Error> {
        let (chunks, schema) = ArrayChunks::new(name.clone(), input)?;
        schema.check(&name)?;
        let format = schema.format(&name)?;
        if format != "+s" || schema.dictionary().is_some() {
            return Err(Error::Input(format!(
                "{name}: expected a table with named columns, such as a RecordBatch, a Table or a \
                 data frame, found an Arrow column of {}",
                text::type_name(&format)
            )));
        }
        Ok(Self { name, schema, chunks, selected: Vec::new() })
    }

    /// Return the names of the columns.
    pub fn column_names(&self) -> Vec<String> {
        self.schema.children().map(ArrowSchema::name).collect()
    }

    /// Return the index and the schema of the column `name`.
    fn find_column(&self, name: &str) -> Result<(usize, &ArrowSchema), Error> {
        let mut matching_columns =
            self.schema.children().enumerate().filter(|(_, column)| column.name() == name);
        match (matching_columns.next(), matching_columns.next()) {
            (Some(column), None) => Ok(column),
            (None, _) => {
                let names = self.column_names().join(", ");
                Err(Error::Input(format!("unknown column '{name}' (expected one of {names})")))
            }
            _ => Err(Error::Input(format!(
                "{}: duplicate column '{name}'. Rename all but one",
                self.name
            ))),
        }
    }

    /// Select a column of texts. With `allows_lists`, the column may contain lists of texts.
    pub fn select_texts(&mut self, name: &str, allows_lists: bool) -> Result<TextField, Error> {
        let (index, schema) = self.find_column(name)?;
        let layout = Layout::of_texts(schema, name)?;
        if layout.items().is_some() && !allows_lists {
            let message = format!("{name}: expected one string per row, found a column of lists");
            return Err(Error::Input(message));
        }
        self.selected.push((index, layout.clone()));
        Ok(TextField { index, layout })
    }

    /// Select a column of keys.
    pub fn select_keys(&mut self, name: &str) -> Result<KeyField, Error> {
        let (index, schema) = self.find_column(name)?;
        let key = KeyColumn::from_schema(schema, name)?;
        self.selected.push((index, key.reader.layout()));
        Ok(KeyField { index, key })
    }

    /// Select a column of integers.
    pub fn select_integers(&mut self, name: &str) -> Result<IntegerField, Error> {
        let (index, schema) = self.find_column(name)?;
        let integer_type = IntegerType::from_schema(schema, name)?;
        self.selected.push((index, integer_type.layout()));
        Ok(IntegerField { index, integer_type })
    }

    /// Select a column of lists of integers.
    pub fn select_lists(&mut self, name: &str) -> Result<ListField, Error> {
        let (index, schema) = self.find_column(name)?;
        let mut integer_type = IntegerType::Null;
        let layout = Layout::of_lists(schema, name, |items| {
            integer_type = IntegerType::from_schema(items, name)?;
            Ok(integer_type.layout())
        })?;
        let Some(layout) = layout else {
            let found_type = text::type_name(&schema.format(name)?);
            let message = format!("{name}: expected lists of integers, found {found_type}");
            return Err(Error::Input(message));
        };
        self.selected.push((index, layout.clone()));
        Ok(ListField { index, layout, integer_type })
    }

    /// Return the next batch of rows, or `None` at the end.
    pub fn next_rows(&mut self) -> Result<Option<RowBatch>, Error> {
        let Some(array) = self.chunks.next_chunk()? else {
            return Ok(None);
        };
        let batch = RowBatch(array);
        let columns = self.schema.children().len();
        // SAFETY: the interface guarantees that the pointers of an array refer to valid memory.
        unsafe {
            check_table(&batch.0, columns, &self.name)?;
            for (index, layout) in &self.selected {
                let column = batch.column(*index);
                let name =
                    self.schema.children().nth(*index).map_or_else(String::new, ArrowSchema::name);
                layout.check_array(column, &name)?;
            }
        }
        Ok(Some(batch))
    }
}

/// A selected column of texts, or of lists of texts.
pub struct TextField {
    index: usize,
    layout: Layout,
}

/// A selected column of keys.
pub struct KeyField {
    index: usize,
    key: KeyColumn,
}

impl KeyField {
    /// Return the type of the keys.
    pub fn key_type(&self) -> &KeyType {
        &self.key.key_type
    }
}

/// A selected column of integers.
pub struct IntegerField {
    index: usize,
    integer_type: IntegerType,
}

/// A selected column of lists of integers.
pub struct ListField {
    index: usize,
    layout: Layout,
    integer_type: IntegerType,
}

/// The layouts of integers. Engines may return integer sums as decimals without decimal places.
enum IntegerType {
    /// Every entry is null.
    Null,
    Plain(u8),
    Decimal,
}

impl IntegerType {
    /// Return the type of a column, or an error if it does not contain integers.
    fn from_schema(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        let format = schema.format(name)?;
        if schema.dictionary().is_none() {
            if format == "n" {
                return Ok(Self::Null);
            }
            if let Some(letter) = text::integer_letter(&format) {
                return Ok(Self::Plain(letter));
            }
            let parts: Vec<_> = format.strip_prefix("d:").unwrap_or("").split(',').collect();
            if let [_, "0"] | [_, "0", "128"] = parts[..] {
                return Ok(Self::Decimal);
            }
        }
        let found_type = text::type_name(&format);
        Err(Error::Input(format!(
            "{name}: expected 64-bit integers, found {found_type}. Cast the column"
        )))
    }

    /// Return the layout of the arrays.
    fn layout(&self) -> Layout {
        match self {
            Self::Null => Layout::Null,
            Self::Plain(format) => Layout::Fixed(integer_bits(*format)),
            Self::Decimal => Layout::Fixed(128),
        }
    }

    /// Return the integer at index `i`, which does not include the array's offset; `None` for null.
    ///
    /// # Safety
    /// The array must be valid, of this type, and have more than `i` entries.
    unsafe fn read_at(&self, array: &ArrowArray, i: usize) -> Option<i128> {
        let index = i + array.offset as usize;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if matches!(self, Self::Null) || is_null(array, index) {
                return None;
            }
            Some(match self {
                Self::Null => return None,
                Self::Plain(format) => read_integer(array, *format, index),
                Self::Decimal => read_entry::<i128>(array, 1, index),
            })
        }
    }
}

/// A batch of rows, with the columns of the table.
pub struct RowBatch(Arc<ArrowArray>);

impl RowBatch {
    /// Return the number of rows.
    pub fn len(&self) -> usize {
        self.0.length as usize
    }

    /// Return whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn column(&self, index: usize) -> &ArrowArray {
        // SAFETY: `TableReader::next_rows` checked that a batch has all columns of the table.
        unsafe { &**self.0.children.add(index) }
    }

    /// Return the index of row `i` in the columns, or `None` if the whole row is null.
    fn column_index(&self, i: usize) -> Option<usize> {
        assert!(i < self.len(), "row {i} of {}", self.len());
        let index = i + self.0.offset as usize;
        // SAFETY: the validity buffer of a structure is optional.
        let is_row_null = self.0.n_buffers > 0 && unsafe { is_null(&self.0, index) };
        (!is_row_null).then_some(index)
    }

    /// Call `take` with each text of row `i` and its index. Missing texts are `None`.
    #[inline]
    pub fn read_texts<'a>(
        &'a self,
        column: &TextField,
        i: usize,
        mut take: impl FnMut(usize, Option<&'a [u8]>),
    ) {
        let Some(row) = self.column_index(i) else {
            return take(0, None);
        };
        let array = self.column(column.index);
        // SAFETY: the column has this type by its schema, and has this entry.
        unsafe {
            match column.layout.items() {
                None => take(0, read_string(array, &column.layout, row)),
                Some(item_type) => {
                    let range = list_range(array, &column.layout, row);
                    let items = &**array.children;
                    for (number, item) in range.enumerate() {
                        take(number, read_string(items, item_type, item));
                    }
                }
            }
        }
    }

    /// Append the key of row `i`, or return a description of the problem with it.
    #[inline]
    pub fn read_key(
        &self,
        column: &KeyField,
        i: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        let Some(row) = self.column_index(i) else {
            out.push(0);
            return Ok(());
        };
        // SAFETY: the column has this type by its schema, and has this entry.
        let has_entry =
            unsafe { column.key.reader.push_entry(self.column(column.index), row, out) };
        if has_entry { Ok(()) } else { Err(column.key.key_type.conversion_problem()) }
    }

    /// Return the integer of row `i`, or `None` for null.
    pub fn read_integer(&self, column: &IntegerField, i: usize) -> Option<i128> {
        // SAFETY: the column has this type by its schema, and has this entry.
        unsafe { column.integer_type.read_at(self.column(column.index), self.column_index(i)?) }
    }

    /// Append the integers of row `i`. Return false if any of them is missing.
    pub fn read_list(&self, column: &ListField, i: usize, out: &mut Vec<i128>) -> bool {
        let Some(row) = self.column_index(i) else {
            return false;
        };
        let array = self.column(column.index);
        // SAFETY: the column has this type by its schema, and has this entry.
        unsafe {
            if is_null(array, row + array.offset as usize) {
                return false;
            }
            let range = list_range(array, &column.layout, row);
            let items = &**array.children;
            for item in range {
                match column.integer_type.read_at(items, item) {
                    Some(integer) => out.push(integer),
                    None => return false,
                }
            }
        }
        true
    }
}
