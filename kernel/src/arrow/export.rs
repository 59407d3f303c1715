//! Giving out: columns of values, and tables of them, as structures that anybody can read.

use super::interface::{ArrowArray, ArrowArrayStream, ArrowSchema};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

/// The memory an exported structure owns: the values its pointers point to.
struct Exported<T> {
    _strings: Vec<CString>,
    /// Boxes whose addresses were given out: they are this structure's, and stay where they are.
    children: Vec<*mut T>,
    buffers: Vec<*const c_void>,
    _keep: Option<Box<dyn std::any::Any>>,
}

impl<T> Exported<T> {
    /// Memory that stays where it is until `release` frees it.
    fn new(
        strings: Vec<CString>,
        children: Vec<T>,
        buffers: Vec<*const c_void>,
        keep: Option<Box<dyn std::any::Any>>,
    ) -> *mut Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        Box::into_raw(Box::new(Self { _strings: strings, children, buffers, _keep: keep }))
    }
}

impl<T> Drop for Exported<T> {
    fn drop(&mut self) {
        for child in &self.children {
            // SAFETY: made by `Box::into_raw` above, and freed once. A child that was moved away
            // is released, and dropping it does nothing.
            unsafe { drop(Box::from_raw(*child)) }
        }
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: called once, with a structure made below.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<Exported<ArrowSchema>>()));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: called once, with a structure made below.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Exported<ArrowArray>>()));
        (*array).release = None;
    }
}

/// The flag of a field that may have nulls.
const NULLABLE: i64 = 2;

/// The schema of a field called `name`, of a type without children or with `children`.
pub fn schema(format: &str, name: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
    let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
    let strings = vec![text(format), text(name)];
    let (format, name) = (strings[0].as_ptr(), strings[1].as_ptr());
    let n_children = children.len() as i64;
    let exported = Exported::new(strings, children, Vec::new(), None);
    ArrowSchema {
        format,
        name,
        metadata: ptr::null(),
        flags: 0,
        n_children,
        // SAFETY: just made; what is pointed to stays until it is released.
        children: unsafe { (*exported).children.as_mut_ptr() },
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: exported.cast(),
    }
}

/// The same field, with nulls allowed.
pub fn nullable(mut schema: ArrowSchema) -> ArrowSchema {
    schema.flags |= NULLABLE;
    schema
}

/// A column of numbers (or anything of fixed width) without nulls.
pub fn numbers<T: 'static>(values: Vec<T>) -> ArrowArray {
    let length = values.len();
    let buffers = vec![ptr::null(), values.as_ptr().cast()];
    array(length, buffers, Vec::new(), Some(Box::new(values)))
}

/// A structure of columns of the same length.
pub fn structure(length: usize, columns: Vec<ArrowArray>) -> ArrowArray {
    array(length, vec![ptr::null()], columns, None)
}

/// A column without values, all of it null.
pub fn nulls(length: usize) -> ArrowArray {
    let mut array = array(length, Vec::new(), Vec::new(), None);
    array.null_count = length as i64;
    array
}

/// A column whose null entries are those that are false in `valid`, if there are any.
///
/// `offsets` and the like, and the values: the buffers behind the first, which says what is null.
pub fn column(valid: &[bool], buffers: Vec<Vec<u8>>) -> ArrowArray {
    let missing = valid.iter().filter(|valid| !**valid).count();
    let validity = if missing > 0 { aligned(&bits(valid.iter().copied())) } else { Vec::new() };
    let first = if missing > 0 { validity.as_ptr().cast() } else { ptr::null() };
    let buffers: Vec<_> = buffers.iter().map(|buffer| aligned(buffer)).collect();
    let pointers = buffers.iter().map(|buffer| buffer.as_ptr().cast());
    let pointers = std::iter::once(first).chain(pointers).collect();
    let mut array = array(valid.len(), pointers, Vec::new(), Some(Box::new((validity, buffers))));
    array.null_count = missing as i64;
    array
}

/// The same bytes where numbers of any width may stand.
fn aligned(bytes: &[u8]) -> Vec<u128> {
    let wide = bytes.chunks(16).map(|chunk| {
        let mut sixteen = [0; 16];
        sixteen[..chunk.len()].copy_from_slice(chunk);
        u128::from_ne_bytes(sixteen)
    });
    wide.collect()
}

/// Truth values, eight a byte.
pub fn bits(values: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (i, value) in values.enumerate() {
        if i % 8 == 0 {
            bytes.push(0);
        }
        bytes[i / 8] |= u8::from(value) << (i % 8);
    }
    bytes
}

/// A column of lists; `ends` are their ends in `items`.
pub fn lists(ends: &[usize], items: ArrowArray) -> ArrowArray {
    let offsets: Vec<i32> = std::iter::once(0).chain(ends.iter().map(|&end| end as i32)).collect();
    let buffers = vec![ptr::null(), offsets.as_ptr().cast()];
    array(ends.len(), buffers, vec![items], Some(Box::new(offsets)))
}

fn array(
    length: usize,
    buffers: Vec<*const c_void>,
    children: Vec<ArrowArray>,
    keep: Option<Box<dyn std::any::Any>>,
) -> ArrowArray {
    let n_children = children.len() as i64;
    let n_buffers = buffers.len() as i64;
    let exported = Exported::new(Vec::new(), children, buffers, keep);
    ArrowArray {
        length: length as i64,
        null_count: 0,
        offset: 0,
        n_buffers,
        n_children,
        // SAFETY: just made; what is pointed to stays until it is released.
        buffers: unsafe { (*exported).buffers.as_mut_ptr() },
        // SAFETY: as above.
        children: unsafe { (*exported).children.as_mut_ptr() },
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: exported.cast(),
    }
}

/// A stream of one array.
pub fn stream(schema: impl Fn() -> ArrowSchema + 'static, array: ArrowArray) -> ArrowArrayStream {
    struct Once {
        schema: Box<dyn Fn() -> ArrowSchema>,
        array: Option<ArrowArray>,
    }
    unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
        // SAFETY: the stream was made below; `out` is an empty structure.
        unsafe { out.write(((*(*stream).private_data.cast::<Once>()).schema)()) }
        0
    }
    unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
        // SAFETY: as above.
        unsafe {
            let next = (*(*stream).private_data.cast::<Once>()).array.take();
            out.write(next.unwrap_or_else(ArrowArray::empty));
        }
        0
    }
    unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
        ptr::null()
    }
    unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
        // SAFETY: called once, with a stream made below.
        unsafe {
            drop(Box::from_raw((*stream).private_data.cast::<Once>()));
            (*stream).release = None;
        }
    }
    let once = Box::new(Once { schema: Box::new(schema), array: Some(array) });
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(once).cast(),
    }
}
