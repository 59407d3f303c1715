//! Arrow arrays with arbitrary contents either fail, or all their entries lie within their memory.
//!
//! The interface does not give the length of buffers. Here each buffer is as long as the array's
//! length and its last offset require; everything else comes from the input.

use crate::input::Input;
use crate::make::Random;
use std::ffi::{CString, c_void};
use std::ptr;
use truebleu_kernel::arrow::key::KeyType;
use truebleu_kernel::arrow::rows::TableReader;
use truebleu_kernel::arrow::{ArrowArray, ArrowInput, ArrowSchema, TextColumn};
use truebleu_kernel::text_batches::{BatchSize, Block, Source};

/// Make an input of mostly small numbers.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..random.length(120) {
        let small = random.below(6) as u8;
        out.push(if random.once_in(5) { random.next_bits() as u8 } else { small });
    }
}

/// The memory that an array's pointers refer to. Structures must not move.
#[derive(Default)]
#[allow(clippy::vec_box)]
struct ArrayMemory {
    buffers: Vec<Box<[u8]>>,
    pointers: Vec<Box<[*const c_void]>>,
    arrays: Vec<Box<ArrowArray>>,
    array_pointers: Vec<Box<[*mut ArrowArray]>>,
    schemas: Vec<Box<ArrowSchema>>,
    schema_pointers: Vec<Box<[*mut ArrowSchema]>>,
    strings: Vec<CString>,
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: a structure created below; its memory belongs to the target.
    unsafe { (*array).release = None }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: as above.
    unsafe { (*schema).release = None }
}

/// Formats without child arrays.
const LEAF_FORMATS: [&str; 16] =
    ["u", "U", "vu", "z", "Z", "vz", "n", "b", "c", "S", "i", "l", "g", "tdD", "w:3", "d:38,0"];

/// Formats with child arrays, where "D" and a letter is a dictionary with such indices.
const NESTED_FORMATS: [&str; 13] =
    ["+l", "+L", "+vl", "+vL", "+w:2", "+w:0", "Dc", "DC", "Ds", "Di", "DI", "Dl", "DL"];

/// Return a mostly small number, and sometimes an extreme number.
fn mostly_small(input: &mut Input<'_>) -> i64 {
    const EXTREMES: [i64; 10] = [
        -1,
        i64::MIN,
        i64::MAX,
        1 << 56,
        1 << 60,
        i32::MAX as i64,
        i32::MIN as i64,
        1 << 32,
        -(1 << 31) - 1,
        1000,
    ];
    match input.byte() {
        extreme @ 0xE0.. => EXTREMES[usize::from(extreme) % EXTREMES.len()],
        small => i64::from(small % 16),
    }
}

impl ArrayMemory {
    /// Store a string.
    fn store_string(&mut self, text: &str) -> *const std::ffi::c_char {
        self.strings.push(CString::new(text).unwrap_or_default());
        self.strings[self.strings.len() - 1].as_ptr()
    }

    /// Store a buffer.
    fn store_buffer(&mut self, bytes: Vec<u8>) -> *const c_void {
        self.buffers.push(bytes.into_boxed_slice());
        self.buffers[self.buffers.len() - 1].as_ptr().cast()
    }

    /// Store numbers of `width` bytes each.
    fn store_numbers(&mut self, width: usize, numbers: &[i64]) -> *const c_void {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(width));
        let bytes = bytes.collect();
        self.store_buffer(bytes)
    }

    /// Store mostly ascending offsets of `entries` entries, and return the last offset, too.
    fn store_offsets(
        &mut self,
        input: &mut Input<'_>,
        entries: usize,
        width: usize,
    ) -> (i64, *const c_void) {
        let is_unordered = input.below(4) == 0;
        let mut last_offset = 0;
        let mut offsets: Vec<i64> = (0..entries + 1)
            .map(|_| {
                last_offset += input.below(5) as i64;
                if is_unordered { mostly_small(input) } else { last_offset }
            })
            .collect();
        offsets[entries] = last_offset;
        (last_offset, self.store_numbers(width, &offsets))
    }

    /// Return a type and an array of it, nested at most `depth` levels deep.
    fn create_column(&mut self, input: &mut Input<'_>, depth: usize) -> (ArrowSchema, ArrowArray) {
        let selector = input.below(64);
        let format = if depth > 1 && selector >= 32 {
            NESTED_FORMATS[selector % NESTED_FORMATS.len()]
        } else {
            LEAF_FORMATS[selector % LEAF_FORMATS.len()]
        };
        let (length, offset) = (input.below(6), input.below(3));
        let entries = length + offset;
        let mut buffers = vec![ptr::null()];
        if input.below(3) == 0 {
            let bits = (0..entries.div_ceil(8)).map(|_| input.byte()).collect();
            buffers[0] = self.store_buffer(bits);
        }
        let mut items = None;
        let mut values = None;
        // For texts: the buffer of the offsets, their width, and the last offset.
        let mut text_offsets = None;
        let random_bytes = |width: usize, input: &mut Input<'_>| {
            (0..width * entries).map(|_| input.byte()).collect::<Vec<u8>>()
        };
        match format {
            "u" | "z" | "U" | "Z" => {
                let width = if format == "u" || format == "z" { 4 } else { 8 };
                let (last, offsets) = self.store_offsets(input, entries, width);
                text_offsets = Some((self.buffers.len() - 1, width, last));
                let text = (0..last).map(|_| b'a' + input.byte() % 26).collect();
                buffers.extend([offsets, self.store_buffer(text)]);
            }
            "vu" | "vz" => {
                let sizes: Vec<i64> =
                    (0..input.below(3)).map(|_| 13 + input.below(20) as i64).collect();
                let mut views = Vec::new();
                for _ in 0..entries {
                    let length = mostly_small(input);
                    let longer = if input.below(2) == 0 { 10 } else { 0 };
                    let length = length.saturating_add(longer) as i32;
                    views.extend(length.to_le_bytes());
                    views.extend([b'v'; 4]);
                    views.extend((mostly_small(input) as i32).to_le_bytes());
                    views.extend((mostly_small(input) as i32).to_le_bytes());
                }
                buffers.push(self.store_buffer(views));
                for size in &sizes {
                    buffers.push(self.store_buffer(vec![b'x'; *size as usize]));
                }
                buffers.push(self.store_numbers(8, &sizes));
            }
            "n" => buffers.clear(),
            "b" => buffers.push(self.store_buffer(vec![0b0101_0101; entries.div_ceil(8)])),
            "+l" | "+L" => {
                let (_, offsets) =
                    self.store_offsets(input, entries, if format == "+l" { 4 } else { 8 });
                buffers.push(offsets);
                items = Some(self.create_column(input, depth - 1));
            }
            "+vl" | "+vL" => {
                let width = if format == "+vl" { 4 } else { 8 };
                for _ in 0..2 {
                    let numbers: Vec<i64> = (0..entries).map(|_| mostly_small(input) % 8).collect();
                    buffers.push(self.store_numbers(width, &numbers));
                }
                items = Some(self.create_column(input, depth - 1));
            }
            "+w:2" | "+w:0" => items = Some(self.create_column(input, depth - 1)),
            _ if format.starts_with('D') => {
                let width = match format.as_bytes()[1].to_ascii_lowercase() {
                    b'c' => 1,
                    b's' => 2,
                    b'i' => 4,
                    _ => 8,
                };
                let indices: Vec<i64> = (0..entries).map(|_| mostly_small(input)).collect();
                buffers.push(self.store_numbers(width, &indices));
                values = Some(self.create_column(input, depth - 1));
            }
            _ => {
                let width = match format {
                    "c" => 1,
                    "S" => 2,
                    "w:3" => 3,
                    "i" | "tdD" => 4,
                    "d:38,0" => 16,
                    _ => 8,
                };
                let bytes = random_bytes(width, input);
                buffers.push(self.store_buffer(bytes));
            }
        }
        let mut length = length as i64;
        let mut offset = offset as i64;
        // Occasionally create an invalid array.
        match input.byte() {
            0xF0 => {
                length = mostly_small(input).min(length);
                if let (Some((buffer_index, width, last)), Ok(end)) =
                    (text_offsets, usize::try_from(length))
                {
                    // The last offset has moved, but must still state the size of the data.
                    let position = width * (end + offset as usize);
                    let offsets = &mut self.buffers[buffer_index];
                    offsets[position..position + width]
                        .copy_from_slice(&last.to_le_bytes()[..width]);
                    buffers[1] = offsets.as_ptr().cast();
                }
            }
            0xF1 => length = [i64::MAX, 1 << 60, i64::MIN][input.below(3)],
            0xF2 => offset = [-1, i64::MAX, i64::MIN, 1 << 60][input.below(4)],
            0xF3 => buffers.truncate(input.below(3)),
            0xF4 => {
                let index = input.below(buffers.len().max(1));
                buffers.iter_mut().skip(index).take(1).for_each(|buffer| *buffer = ptr::null());
            }
            0xF5 => items = items.map(|(schema, _)| (schema, ArrowArray::empty())),
            0xF6 => values = values.map(|(schema, _)| (schema, ArrowArray::empty())),
            _ => {}
        }
        let (mut schema, mut array) = (ArrowSchema::empty(), ArrowArray::empty());
        schema.format = self.store_string(format.strip_prefix('D').unwrap_or(format));
        schema.name = self.store_string("c");
        schema.release = Some(release_schema);
        array.length = length;
        array.offset = offset;
        array.n_buffers = buffers.len() as i64;
        self.pointers.push(buffers.into_boxed_slice());
        let last = self.pointers.len() - 1;
        array.buffers = self.pointers[last].as_mut_ptr();
        array.release = Some(release_array);
        if let Some((child_schema, child)) = items {
            self.add_child(&mut schema, &mut array, child_schema, child);
        }
        if let Some((value_schema, child)) = values {
            schema.dictionary = self.store_schema(value_schema);
            if child.release.is_some() {
                array.dictionary = self.store_array(child);
            }
        }
        (schema, array)
    }

    /// Store an array.
    fn store_array(&mut self, array: ArrowArray) -> *mut ArrowArray {
        self.arrays.push(Box::new(array));
        let last = self.arrays.len() - 1;
        &raw mut *self.arrays[last]
    }

    /// Store a schema.
    fn store_schema(&mut self, schema: ArrowSchema) -> *mut ArrowSchema {
        self.schemas.push(Box::new(schema));
        let last = self.schemas.len() - 1;
        &raw mut *self.schemas[last]
    }

    /// Add a child to its parent. A released child is omitted from the array.
    fn add_child(
        &mut self,
        schema: &mut ArrowSchema,
        array: &mut ArrowArray,
        child_schema: ArrowSchema,
        child: ArrowArray,
    ) {
        let child_schema_pointer = self.store_schema(child_schema);
        self.schema_pointers.push(Box::new([child_schema_pointer]));
        let last = self.schema_pointers.len() - 1;
        schema.children = self.schema_pointers[last].as_mut_ptr();
        schema.n_children = 1;
        if child.release.is_some() {
            let child = self.store_array(child);
            self.array_pointers.push(Box::new([child]));
            let last = self.array_pointers.len() - 1;
            array.children = self.array_pointers[last].as_mut_ptr();
            array.n_children = 1;
        }
    }

    /// Panic unless `text` lies in one of the buffers.
    fn assert_contains(&self, text: &[u8]) {
        let range = text.as_ptr_range();
        let contains_text = |buffer: &[u8]| {
            let buffer_range = buffer.as_ptr_range();
            buffer_range.start <= range.start && range.end <= buffer_range.end
        };
        let is_contained =
            text.is_empty() || self.buffers.iter().any(|buffer| contains_text(buffer));
        assert!(is_contained, "a text of {} bytes is outside all buffers", text.len());
        // Read the text, so that a sanitizer checks the access.
        std::hint::black_box(text.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
    }
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let selector = input.byte();
    let is_required = selector & 2 == 2;
    // The memory of the arrays is dropped last.
    let mut memory = ArrayMemory::default();
    let (schema, array) = memory.create_column(&mut input, 3);
    if selector & 1 == 0 {
        if let Ok(mut column) =
            TextColumn::new("c".into(), is_required, ArrowInput::Array(schema, array))
        {
            while let Ok(Some(batch)) =
                column.next(BatchSize::Segments(1 + usize::from(selector >> 4)))
            {
                for stream in &batch.streams {
                    let Block::Segments { segments, .. } = stream else {
                        panic!("expected segments")
                    };
                    assert_eq!(segments.len(), batch.count);
                    segments.iter().flatten().for_each(|text| memory.assert_contains(text.bytes()));
                }
            }
        }
        return;
    }
    let (mut table_schema, mut rows) = (ArrowSchema::empty(), ArrowArray::empty());
    table_schema.format = memory.store_string("+s");
    table_schema.release = Some(release_schema);
    rows.release = Some(release_array);
    rows.offset = (input.byte() & 1).into();
    rows.length = array.length.saturating_sub(rows.offset);
    if input.byte() == 0xFF {
        rows.length = mostly_small(&mut input).min(rows.length);
    }
    memory.pointers.push(Box::new([ptr::null()]));
    let last = memory.pointers.len() - 1;
    (rows.n_buffers, rows.buffers) = (1, memory.pointers[last].as_mut_ptr());
    memory.add_child(&mut table_schema, &mut rows, schema, array);
    let Ok(mut table) = TableReader::new("rows".into(), ArrowInput::Array(table_schema, rows))
    else {
        return;
    };
    let (mut key, mut integers) = (Vec::new(), Vec::new());
    match selector >> 2 & 3 {
        0 => {
            let Ok(text_field) = table.select_texts("c", selector & 16 == 0) else { return };
            while let Ok(Some(rows)) = table.next_rows() {
                for i in 0..rows.len() {
                    rows.read_texts(&text_field, i, |_, text| {
                        memory.assert_contains(text.unwrap_or_default())
                    });
                }
            }
        }
        1 => {
            let Ok(key_field) = table.select_keys("c") else { return };
            while let Ok(Some(rows)) = table.next_rows() {
                for i in 0..rows.len() {
                    key.clear();
                    if rows.read_key(&key_field, i, &mut key).is_ok() {
                        assert_eq!(key_field.key_type().entry_width(&key), Some(key.len()));
                        assert!(
                            key_field.key_type().is_canonical(&key)
                                || *key_field.key_type() == KeyType::Text
                        );
                    }
                }
            }
        }
        2 => {
            let Ok(integer_field) = table.select_integers("c") else { return };
            while let Ok(Some(rows)) = table.next_rows() {
                for i in 0..rows.len() {
                    std::hint::black_box(rows.read_integer(&integer_field, i));
                }
            }
        }
        _ => {
            let Ok(list_field) = table.select_lists("c") else { return };
            while let Ok(Some(rows)) = table.next_rows() {
                for i in 0..rows.len() {
                    rows.read_list(&list_field, i, &mut integers);
                }
                assert!(integers.len() < 100_000);
            }
        }
    }
}
