//! The three structures of the Arrow C interfaces, and a reader for streams.
//!
//! The fields are documented in "The Arrow C data interface" and "The Arrow C stream interface" of
//! the Apache Arrow documentation.

use crate::error::Error;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

/// `struct ArrowSchema`.
#[repr(C)]
#[allow(missing_docs)]
pub struct ArrowSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
#[allow(missing_docs)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
#[allow(missing_docs)]
pub struct ArrowArrayStream {
    pub get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    pub get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub private_data: *mut c_void,
}

macro_rules! impl_ownership {
    ($name:ident) => {
        // SAFETY: the interface allows moving a structure between threads; one thread uses it at a
        // time.
        unsafe impl Send for $name {}
        // SAFETY: shared references are only used for reading.
        unsafe impl Sync for $name {}

        impl $name {
            /// Return a released structure, which a producer can fill.
            pub fn empty() -> Self {
                // SAFETY: null pointers are valid, and a null `release` means "released".
                unsafe { std::mem::zeroed() }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the producer provided this function for this structure; it runs once.
                    unsafe { release(self) }
                }
            }
        }
    };
}

impl_ownership!(ArrowSchema);
impl_ownership!(ArrowArray);
impl_ownership!(ArrowArrayStream);

/// Maximum nesting depth of types.
const MAX_DEPTH: usize = 64;

impl ArrowSchema {
    /// Return an error for a schema that is incomplete or nested too deeply.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        if self.is_complete(MAX_DEPTH) {
            return Ok(());
        }
        Err(Error::Input(format!(
            "{name}: malformed Arrow schema: it is incomplete, or nested more than {MAX_DEPTH} levels \
             deep. The error is in the program that created it"
        )))
    }

    fn is_complete(&self, max_depth: usize) -> bool {
        let Some(remaining_depth) = max_depth.checked_sub(1) else { return false };
        let children = self.n_children.max(0) as usize;
        self.release.is_some()
            && !self.format.is_null()
            && (children == 0 || !self.children.is_null())
            && (0..children).all(|i| {
                // SAFETY: there are `n_children` pointers; each is null or points to a schema.
                let child = unsafe { (*self.children.add(i)).as_ref() };
                child.is_some_and(|child| child.is_complete(remaining_depth))
            })
            && self.dictionary().is_none_or(|values| values.is_complete(remaining_depth))
    }

    /// Return the type in the interface's notation.
    pub fn format(&self, name: &str) -> Result<String, Error> {
        if self.format.is_null() {
            return Err(Error::Input(format!("{name}: the Arrow schema has no format")));
        }
        // SAFETY: the interface guarantees a C string.
        Ok(unsafe { CStr::from_ptr(self.format) }.to_string_lossy().into_owned())
    }

    /// Return the name of the column, which may be empty.
    pub fn name(&self) -> String {
        if self.name.is_null() {
            return String::new();
        }
        // SAFETY: the interface guarantees a C string or null.
        unsafe { CStr::from_ptr(self.name) }.to_string_lossy().into_owned()
    }

    /// Return the children of a nested type.
    pub fn children(&self) -> impl ExactSizeIterator<Item = &Self> {
        // SAFETY: there are `n_children` children, owned by this schema.
        (0..self.n_children.max(0) as usize).map(|i| unsafe { &**self.children.add(i) })
    }

    /// Return the type of a dictionary's values, if this is a dictionary.
    pub fn dictionary(&self) -> Option<&Self> {
        // SAFETY: the pointer is null, or this schema owns the dictionary.
        unsafe { self.dictionary.as_ref() }
    }
}

/// Data from another program.
pub enum ArrowInput {
    /// A stream of arrays.
    Stream(ArrowArrayStream),
    /// A single array, and its type.
    Array(ArrowSchema, ArrowArray),
}

/// The arrays of a stream, or a single array.
pub struct ArrayChunks {
    name: String,
    stream: ArrowArrayStream,
    first: Option<Arc<ArrowArray>>,
}

impl ArrayChunks {
    /// Return a reader of the arrays of `input`, and the arrays' type. Messages contain `name`.
    pub fn new(name: String, input: ArrowInput) -> Result<(Self, ArrowSchema), Error> {
        let mut stream = match input {
            ArrowInput::Stream(stream) => stream,
            ArrowInput::Array(schema, array) => {
                let (stream, first) = (ArrowArrayStream::empty(), Some(Arc::new(array)));
                return Ok((Self { name, stream, first }, schema));
            }
        };
        let mut schema = ArrowSchema::empty();
        if let Some(get_schema) = stream.get_schema {
            // SAFETY: a stream that is not released writes its schema to an empty structure.
            let status = unsafe { get_schema(&mut stream, &mut schema) };
            check_status(&name, &mut stream, status)?;
        }
        Ok((Self { name, stream, first: None }, schema))
    }

    /// Return the next array that has entries, or `None` at the end.
    pub fn next_chunk(&mut self) -> Result<Option<Arc<ArrowArray>>, Error> {
        loop {
            if let Some(array) = self.first.take() {
                if array.release.is_none() {
                    let message = format!("{}: the Arrow array was already consumed", self.name);
                    return Err(Error::Input(message));
                }
                if array.length != 0 {
                    return Ok(Some(array));
                }
            }
            let Some(get_next) = self.stream.get_next else {
                return Ok(None);
            };
            let mut array = ArrowArray::empty();
            // SAFETY: a stream that is not released writes an array to an empty structure.
            let status = unsafe { get_next(&mut self.stream, &mut array) };
            check_status(&self.name, &mut self.stream, status)?;
            if array.release.is_none() {
                self.stream = ArrowArrayStream::empty();
                return Ok(None);
            }
            self.first = Some(Arc::new(array));
        }
    }
}

/// Return an error if a stream call failed.
fn check_status(name: &str, stream: &mut ArrowArrayStream, status: c_int) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    let mut problem = String::new();
    if let Some(get_last_error) = stream.get_last_error {
        // SAFETY: called immediately after a failure, as the interface requires.
        let message = unsafe { get_last_error(stream) };
        if !message.is_null() {
            // SAFETY: the interface guarantees a C string.
            problem = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        }
    }
    Err(Error::Input(format!("{name}: Arrow stream failed with status {status}: {problem}")))
}
