//! Export of columns and tables as structures that other programs can read.

use super::interface::{ArrowArray, ArrowArrayStream, ArrowSchema};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

/// The memory that an exported structure owns.
struct ExportedMemory<T> {
    _strings: Vec<CString>,
    /// Boxes to which other programs have pointers. They belong to this structure and must not
    /// move.
    children: Vec<*mut T>,
    buffers: Vec<*const c_void>,
    _owner: Option<Box<dyn std::any::Any>>,
}

impl<T> ExportedMemory<T> {
    /// Allocate memory at a fixed address, until `release` frees it.
    fn new(
        strings: Vec<CString>,
        children: Vec<T>,
        buffers: Vec<*const c_void>,
        owner: Option<Box<dyn std::any::Any>>,
    ) -> *mut Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        Box::into_raw(Box::new(Self { _strings: strings, children, buffers, _owner: owner }))
    }
}

impl<T> Drop for ExportedMemory<T> {
    fn drop(&mut self) {
        for child in &self.children {
            // SAFETY: created by `Box::into_raw` above, and freed only once. A child that was moved
            // is marked as released, so dropping it has no effect.
            unsafe { drop(Box::from_raw(*child)) }
        }
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: called once, with a structure created below.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<ExportedMemory<ArrowSchema>>()));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: called once, with a structure created below.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<ExportedMemory<ArrowArray>>()));
        (*array).release = None;
    }
}

/// The flag for fields that may contain nulls.
const NULLABLE: i64 = 2;

/// Create the schema of a field.
pub fn create_schema(format: &str, name: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
    let c_string = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
    let strings = vec![c_string(format), c_string(name)];
    let (format, name) = (strings[0].as_ptr(), strings[1].as_ptr());
    let n_children = children.len() as i64;
    let exported = ExportedMemory::new(strings, children, Vec::new(), None);
    ArrowSchema {
        format,
        name,
        metadata: ptr::null(),
        flags: 0,
        n_children,
        // SAFETY: just created; the memory stays in place until it is released.
        children: unsafe { (*exported).children.as_mut_ptr() },
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: exported.cast(),
    }
}

/// Return the same field, with nulls allowed.
pub fn make_nullable(mut schema: ArrowSchema) -> ArrowSchema {
    schema.flags |= NULLABLE;
    schema
}

/// Create a column of numbers, or of other values of a fixed width, without nulls.
pub fn number_column<T: 'static>(values: Vec<T>) -> ArrowArray {
    let length = values.len();
    let buffers = vec![ptr::null(), values.as_ptr().cast()];
    create_array(length, buffers, Vec::new(), Some(Box::new(values)))
}

/// Create a structure of columns of equal length.
pub fn struct_array(length: usize, columns: Vec<ArrowArray>) -> ArrowArray {
    create_array(length, vec![ptr::null()], columns, None)
}

/// Create a column that contains only nulls.
pub fn null_column(length: usize) -> ArrowArray {
    let mut array = create_array(length, Vec::new(), Vec::new(), None);
    array.null_count = length as i64;
    array
}

/// Create a column that is null where `is_valid` is false.
///
/// `buffers` contains the buffers after the validity buffer, such as offsets and values.
pub fn nullable_column(is_valid: &[bool], buffers: Vec<Vec<u8>>) -> ArrowArray {
    let missing = is_valid.iter().filter(|valid| !**valid).count();
    let validity =
        if missing > 0 { align_bytes(&pack_bits(is_valid.iter().copied())) } else { Vec::new() };
    let first = if missing > 0 { validity.as_ptr().cast() } else { ptr::null() };
    let buffers: Vec<_> = buffers.iter().map(|buffer| align_bytes(buffer)).collect();
    let pointers = buffers.iter().map(|buffer| buffer.as_ptr().cast());
    let pointers = std::iter::once(first).chain(pointers).collect();
    let mut array =
        create_array(is_valid.len(), pointers, Vec::new(), Some(Box::new((validity, buffers))));
    array.null_count = missing as i64;
    array
}

/// Copy bytes to memory that is aligned for numbers of any width.
fn align_bytes(bytes: &[u8]) -> Vec<u128> {
    let wide = bytes.chunks(16).map(|chunk| {
        let mut block = [0; 16];
        block[..chunk.len()].copy_from_slice(chunk);
        u128::from_ne_bytes(block)
    });
    wide.collect()
}

/// Pack booleans into bytes, eight per byte.
pub fn pack_bits(values: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (i, value) in values.enumerate() {
        if i % 8 == 0 {
            bytes.push(0);
        }
        bytes[i / 8] |= u8::from(value) << (i % 8);
    }
    bytes
}

/// Create a column of lists. `ends` contains the end of each list in `items`.
pub fn list_column(ends: &[usize], items: ArrowArray) -> ArrowArray {
    let offsets: Vec<i32> = std::iter::once(0).chain(ends.iter().map(|&end| end as i32)).collect();
    let buffers = vec![ptr::null(), offsets.as_ptr().cast()];
    create_array(ends.len(), buffers, vec![items], Some(Box::new(offsets)))
}

/// Create an array that owns its buffers and children.
fn create_array(
    length: usize,
    buffers: Vec<*const c_void>,
    children: Vec<ArrowArray>,
    owner: Option<Box<dyn std::any::Any>>,
) -> ArrowArray {
    let n_children = children.len() as i64;
    let n_buffers = buffers.len() as i64;
    let exported = ExportedMemory::new(Vec::new(), children, buffers, owner);
    ArrowArray {
        length: length as i64,
        null_count: 0,
        offset: 0,
        n_buffers,
        n_children,
        // SAFETY: just created; the memory stays in place until it is released.
        buffers: unsafe { (*exported).buffers.as_mut_ptr() },
        // SAFETY: as above.
        children: unsafe { (*exported).children.as_mut_ptr() },
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: exported.cast(),
    }
}

/// Create a stream of one array.
pub fn single_array_stream(
    schema: impl Fn() -> ArrowSchema + 'static,
    array: ArrowArray,
) -> ArrowArrayStream {
    struct SingleArray {
        schema: Box<dyn Fn() -> ArrowSchema>,
        array: Option<ArrowArray>,
    }
    unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
        // SAFETY: the stream was created below; `out` is an empty structure.
        unsafe { out.write(((*(*stream).private_data.cast::<SingleArray>()).schema)()) }
        0
    }
    unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
        // SAFETY: as above.
        unsafe {
            let next = (*(*stream).private_data.cast::<SingleArray>()).array.take();
            out.write(next.unwrap_or_else(ArrowArray::empty));
        }
        0
    }
    unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
        ptr::null()
    }
    unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
        // SAFETY: called once, with a stream created below.
        unsafe {
            drop(Box::from_raw((*stream).private_data.cast::<SingleArray>()));
            (*stream).release = None;
        }
    }
    let once = Box::new(SingleArray { schema: Box::new(schema), array: Some(array) });
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(once).cast(),
    }
}
