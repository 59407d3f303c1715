//! Whatever an Arrow array says: it is refused, or its entries lie in the memory that it has.
//!
//! The interface does not say how long a buffer is; each one is as long here as the array's length
//! and its last offset make it, and everything else is taken from the input.

use crate::input::Input;
use crate::make::Random;
use std::ffi::{CString, c_void};
use std::ptr;
use truebleu_kernel::arrow::key::KeyType;
use truebleu_kernel::arrow::rows::Frame;
use truebleu_kernel::arrow::{ArrowArray, ArrowSchema, Column};
use truebleu_kernel::text_batches::{Block, Source, Want};

/// An input: mostly small numbers.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..random.length(120) {
        let small = random.below(6) as u8;
        out.push(if random.once_in(5) { random.bits() as u8 } else { small });
    }
}

/// What the pointers of an array lead to; a structure's place must not change.
#[derive(Default)]
#[allow(clippy::vec_box)]
struct Memory {
    buffers: Vec<Box<[u8]>>,
    pointers: Vec<Box<[*const c_void]>>,
    arrays: Vec<Box<ArrowArray>>,
    array_pointers: Vec<Box<[*mut ArrowArray]>>,
    schemas: Vec<Box<ArrowSchema>>,
    schema_pointers: Vec<Box<[*mut ArrowSchema]>>,
    strings: Vec<CString>,
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: a structure that was made below; its memory goes with the target's.
    unsafe { (*array).release = None }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: as above.
    unsafe { (*schema).release = None }
}

/// The layouts of entries without others in them.
const LEAVES: [&str; 16] =
    ["u", "U", "vu", "z", "Z", "vz", "n", "b", "c", "S", "i", "l", "g", "tdD", "w:3", "d:38,0"];

/// Those with others in them; "D" and a letter is a dictionary with such indices.
const NESTED: [&str; 13] =
    ["+l", "+L", "+vl", "+vL", "+w:2", "+w:0", "Dc", "DC", "Ds", "Di", "DI", "Dl", "DL"];

/// A number that an array may have where a small one is expected.
fn number(input: &mut Input<'_>) -> i64 {
    const WILD: [i64; 10] = [
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
        wild @ 0xE0.. => WILD[usize::from(wild) % WILD.len()],
        small => i64::from(small % 16),
    }
}

impl Memory {
    fn string(&mut self, text: &str) -> *const std::ffi::c_char {
        self.strings.push(CString::new(text).unwrap_or_default());
        self.strings[self.strings.len() - 1].as_ptr()
    }

    fn buffer(&mut self, bytes: Vec<u8>) -> *const c_void {
        self.buffers.push(bytes.into_boxed_slice());
        self.buffers[self.buffers.len() - 1].as_ptr().cast()
    }

    /// Numbers of this many bytes each.
    fn numbers(&mut self, width: usize, numbers: &[i64]) -> *const c_void {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(width));
        let bytes = bytes.collect();
        self.buffer(bytes)
    }

    /// Offsets of so many entries, the last of them `last`; mostly in order.
    fn offsets(
        &mut self,
        input: &mut Input<'_>,
        entries: usize,
        width: usize,
    ) -> (i64, *const c_void) {
        let wild = input.below(4) == 0;
        let mut at = 0;
        let mut offsets: Vec<i64> = (0..entries + 1)
            .map(|_| {
                at += input.below(5) as i64;
                if wild { number(input) } else { at }
            })
            .collect();
        offsets[entries] = at;
        (at, self.numbers(width, &offsets))
    }

    /// A type and an array of it, `depth` layouts deep at most.
    fn column(&mut self, input: &mut Input<'_>, depth: usize) -> (ArrowSchema, ArrowArray) {
        let which = input.below(64);
        let format = if depth > 1 && which >= 32 {
            NESTED[which % NESTED.len()]
        } else {
            LEAVES[which % LEAVES.len()]
        };
        let (length, offset) = (input.below(6), input.below(3));
        let entries = length + offset;
        let mut buffers = vec![ptr::null()];
        if input.below(3) == 0 {
            let bits = (0..entries.div_ceil(8)).map(|_| input.byte()).collect();
            buffers[0] = self.buffer(bits);
        }
        let mut items = None;
        let mut values = None;
        // Of texts: which buffer has the offsets, their width, and the last of them.
        let mut ends = None;
        let fixed = |width: usize, input: &mut Input<'_>| {
            (0..width * entries).map(|_| input.byte()).collect::<Vec<u8>>()
        };
        match format {
            "u" | "z" | "U" | "Z" => {
                let width = if format == "u" || format == "z" { 4 } else { 8 };
                let (last, offsets) = self.offsets(input, entries, width);
                ends = Some((self.buffers.len() - 1, width, last));
                let text = (0..last).map(|_| b'a' + input.byte() % 26).collect();
                buffers.extend([offsets, self.buffer(text)]);
            }
            "vu" | "vz" => {
                let sizes: Vec<i64> =
                    (0..input.below(3)).map(|_| 13 + input.below(20) as i64).collect();
                let mut views = Vec::new();
                for _ in 0..entries {
                    let length = number(input);
                    let longer = if input.below(2) == 0 { 10 } else { 0 };
                    let length = length.saturating_add(longer) as i32;
                    views.extend(length.to_le_bytes());
                    views.extend([b'v'; 4]);
                    views.extend((number(input) as i32).to_le_bytes());
                    views.extend((number(input) as i32).to_le_bytes());
                }
                buffers.push(self.buffer(views));
                for size in &sizes {
                    buffers.push(self.buffer(vec![b'x'; *size as usize]));
                }
                buffers.push(self.numbers(8, &sizes));
            }
            "n" => buffers.clear(),
            "b" => buffers.push(self.buffer(vec![0b0101_0101; entries.div_ceil(8)])),
            "+l" | "+L" => {
                let (_, offsets) = self.offsets(input, entries, if format == "+l" { 4 } else { 8 });
                buffers.push(offsets);
                items = Some(self.column(input, depth - 1));
            }
            "+vl" | "+vL" => {
                let width = if format == "+vl" { 4 } else { 8 };
                for _ in 0..2 {
                    let numbers: Vec<i64> = (0..entries).map(|_| number(input) % 8).collect();
                    buffers.push(self.numbers(width, &numbers));
                }
                items = Some(self.column(input, depth - 1));
            }
            "+w:2" | "+w:0" => items = Some(self.column(input, depth - 1)),
            _ if format.starts_with('D') => {
                let width = match format.as_bytes()[1].to_ascii_lowercase() {
                    b'c' => 1,
                    b's' => 2,
                    b'i' => 4,
                    _ => 8,
                };
                let indices: Vec<i64> = (0..entries).map(|_| number(input)).collect();
                buffers.push(self.numbers(width, &indices));
                values = Some(self.column(input, depth - 1));
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
                let bytes = fixed(width, input);
                buffers.push(self.buffer(bytes));
            }
        }
        let mut length = length as i64;
        let mut offset = offset as i64;
        // Now and then something that no array has.
        match input.byte() {
            0xF0 => {
                length = number(input).min(length);
                if let (Some((place, width, last)), Ok(end)) = (ends, usize::try_from(length)) {
                    // The last offset, which is another one now, still says how much there is.
                    let at = width * (end + offset as usize);
                    let offsets = &mut self.buffers[place];
                    offsets[at..at + width].copy_from_slice(&last.to_le_bytes()[..width]);
                    buffers[1] = offsets.as_ptr().cast();
                }
            }
            0xF1 => length = [i64::MAX, 1 << 60, i64::MIN][input.below(3)],
            0xF2 => offset = [-1, i64::MAX, i64::MIN, 1 << 60][input.below(4)],
            0xF3 => buffers.truncate(input.below(3)),
            0xF4 => {
                let at = input.below(buffers.len().max(1));
                buffers.iter_mut().skip(at).take(1).for_each(|buffer| *buffer = ptr::null());
            }
            0xF5 => items = items.map(|(schema, _)| (schema, ArrowArray::empty())),
            0xF6 => values = values.map(|(schema, _)| (schema, ArrowArray::empty())),
            _ => {}
        }
        let (mut schema, mut array) = (ArrowSchema::empty(), ArrowArray::empty());
        schema.format = self.string(format.strip_prefix('D').unwrap_or(format));
        schema.name = self.string("c");
        schema.release = Some(release_schema);
        array.length = length;
        array.offset = offset;
        array.n_buffers = buffers.len() as i64;
        self.pointers.push(buffers.into_boxed_slice());
        let last = self.pointers.len() - 1;
        array.buffers = self.pointers[last].as_mut_ptr();
        array.release = Some(release_array);
        if let Some((of, child)) = items {
            self.adopt(&mut schema, &mut array, of, child);
        }
        if let Some((of, child)) = values {
            schema.dictionary = self.schema(of);
            if child.release.is_some() {
                array.dictionary = self.array(child);
            }
        }
        (schema, array)
    }

    fn array(&mut self, array: ArrowArray) -> *mut ArrowArray {
        self.arrays.push(Box::new(array));
        let last = self.arrays.len() - 1;
        &raw mut *self.arrays[last]
    }

    fn schema(&mut self, schema: ArrowSchema) -> *mut ArrowSchema {
        self.schemas.push(Box::new(schema));
        let last = self.schemas.len() - 1;
        &raw mut *self.schemas[last]
    }

    /// Puts a child into its parent; one that is released is left out of the array.
    fn adopt(
        &mut self,
        schema: &mut ArrowSchema,
        array: &mut ArrowArray,
        of: ArrowSchema,
        child: ArrowArray,
    ) {
        let of = self.schema(of);
        self.schema_pointers.push(Box::new([of]));
        let last = self.schema_pointers.len() - 1;
        schema.children = self.schema_pointers[last].as_mut_ptr();
        schema.n_children = 1;
        if child.release.is_some() {
            let child = self.array(child);
            self.array_pointers.push(Box::new([child]));
            let last = self.array_pointers.len() - 1;
            array.children = self.array_pointers[last].as_mut_ptr();
            array.n_children = 1;
        }
    }

    /// Panics unless `text` lies in one of the buffers.
    fn has(&self, text: &[u8]) {
        let range = text.as_ptr_range();
        let inside = |buffer: &[u8]| {
            let all = buffer.as_ptr_range();
            all.start <= range.start && range.end <= all.end
        };
        let there = text.is_empty() || self.buffers.iter().any(|buffer| inside(buffer));
        assert!(there, "a text of {} bytes outside of all buffers", text.len());
        // Read, so that a sanitizer sees it.
        std::hint::black_box(text.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
    }
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let which = input.byte();
    let required = which & 2 == 2;
    // What the arrays point to is dropped last.
    let mut memory = Memory::default();
    let (schema, array) = memory.column(&mut input, 3);
    if which & 1 == 0 {
        if let Ok(mut column) = Column::from_array("c".into(), required, &schema, array) {
            while let Ok(Some(batch)) = column.next(Want::Segments(1 + usize::from(which >> 4))) {
                for stream in &batch.streams {
                    let Block::Segments { segments, .. } = stream else { panic!("no segments") };
                    assert_eq!(segments.len(), batch.count);
                    segments.iter().flatten().for_each(|text| memory.has(text.bytes()));
                }
            }
        }
        return;
    }
    let (mut whole, mut rows) = (ArrowSchema::empty(), ArrowArray::empty());
    whole.format = memory.string("+s");
    whole.release = Some(release_schema);
    rows.release = Some(release_array);
    rows.offset = (input.byte() & 1).into();
    rows.length = array.length.saturating_sub(rows.offset);
    if input.byte() == 0xFF {
        rows.length = number(&mut input).min(rows.length);
    }
    memory.pointers.push(Box::new([ptr::null()]));
    let last = memory.pointers.len() - 1;
    (rows.n_buffers, rows.buffers) = (1, memory.pointers[last].as_mut_ptr());
    memory.adopt(&mut whole, &mut rows, schema, array);
    let Ok(mut frame) = Frame::from_array("rows".into(), whole, rows) else { return };
    let (mut key, mut integers) = (Vec::new(), Vec::new());
    match which >> 2 & 3 {
        0 => {
            let Ok(texts) = frame.texts("c", which & 16 == 0) else { return };
            while let Ok(Some(rows)) = frame.next_rows() {
                for i in 0..rows.len() {
                    rows.texts(&texts, i, |_, text| memory.has(text.unwrap_or_default()));
                }
            }
        }
        1 => {
            let Ok(keys) = frame.keys("c") else { return };
            while let Ok(Some(rows)) = frame.next_rows() {
                for i in 0..rows.len() {
                    key.clear();
                    if rows.key(&keys, i, &mut key).is_ok() {
                        assert_eq!(keys.of().width(&key), Some(key.len()));
                        assert!(keys.of().is_canonical(&key) || *keys.of() == KeyType::Text);
                    }
                }
            }
        }
        2 => {
            let Ok(column) = frame.integers("c") else { return };
            while let Ok(Some(rows)) = frame.next_rows() {
                for i in 0..rows.len() {
                    std::hint::black_box(rows.integer(&column, i));
                }
            }
        }
        _ => {
            let Ok(lists) = frame.lists("c") else { return };
            while let Ok(Some(rows)) = frame.next_rows() {
                for i in 0..rows.len() {
                    rows.list(&lists, i, &mut integers);
                }
                assert!(integers.len() < 100_000);
            }
        }
    }
}
