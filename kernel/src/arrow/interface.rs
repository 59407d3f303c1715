//! The three structures of the Arrow C interfaces, and how a stream is read.
//!
//! They are the interface's own; see "The Arrow C data interface" and "The Arrow C stream
//! interface" of the Apache Arrow documentation for their fields.

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

macro_rules! owned {
    ($name:ident) => {
        // SAFETY: the interface lets a structure move between threads; it is used by one at a time.
        unsafe impl Send for $name {}
        // SAFETY: shared use only reads.
        unsafe impl Sync for $name {}

        impl $name {
            /// A released structure, for a producer to fill.
            pub fn empty() -> Self {
                // SAFETY: null pointers and no release function are valid, and mean "released".
                unsafe { std::mem::zeroed() }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the producer gave this function for this structure; it runs once.
                    unsafe { release(self) }
                }
            }
        }
    };
}

owned!(ArrowSchema);
owned!(ArrowArray);
owned!(ArrowArrayStream);

/// The depth of types in types.
const DEEPEST: usize = 64;

impl ArrowSchema {
    /// An error for a schema that is not whole, or too deep.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        if self.is_whole(DEEPEST) {
            return Ok(());
        }
        Err(Error::Input(format!(
            "{name}: a malformed Arrow schema: parts are missing, or more than {DEEPEST} lie in one \
             another; the program that made it is at fault"
        )))
    }

    fn is_whole(&self, deepest: usize) -> bool {
        let Some(deeper) = deepest.checked_sub(1) else { return false };
        let children = self.n_children.max(0) as usize;
        self.release.is_some()
            && !self.format.is_null()
            && (children == 0 || !self.children.is_null())
            && (0..children).all(|i| {
                // SAFETY: there are so many pointers; each is null or to a schema.
                let child = unsafe { (*self.children.add(i)).as_ref() };
                child.is_some_and(|child| child.is_whole(deeper))
            })
            && self.dictionary().is_none_or(|values| values.is_whole(deeper))
    }

    /// The type, in the interface's letters.
    pub fn format(&self, name: &str) -> Result<String, Error> {
        if self.format.is_null() {
            return Err(Error::Input(format!("{name}: an Arrow schema without a format")));
        }
        // SAFETY: the format is a C string by the interface.
        Ok(unsafe { CStr::from_ptr(self.format) }.to_string_lossy().into_owned())
    }

    /// The name of the column; nothing if it has none.
    pub fn name(&self) -> String {
        if self.name.is_null() {
            return String::new();
        }
        // SAFETY: the name is a C string by the interface, if it is not null.
        unsafe { CStr::from_ptr(self.name) }.to_string_lossy().into_owned()
    }

    /// The parts of a nested type.
    pub fn children(&self) -> impl ExactSizeIterator<Item = &Self> {
        // SAFETY: there are so many children, owned by this schema.
        (0..self.n_children.max(0) as usize).map(|i| unsafe { &**self.children.add(i) })
    }

    /// The type of a dictionary's values, if this is one.
    pub fn dictionary(&self) -> Option<&Self> {
        // SAFETY: null, or owned by this schema.
        unsafe { self.dictionary.as_ref() }
    }
}

/// The arrays of a stream, one after the other, or a single array.
pub struct Chunks {
    name: String,
    stream: ArrowArrayStream,
    first: Option<Arc<ArrowArray>>,
}

impl Chunks {
    /// Those that `stream` brings, and their type. `name` is for messages.
    pub fn from_stream(
        name: String,
        mut stream: ArrowArrayStream,
    ) -> Result<(Self, ArrowSchema), Error> {
        let mut schema = ArrowSchema::empty();
        if let Some(get_schema) = stream.get_schema {
            // SAFETY: a stream that is not released gives its schema into an empty structure.
            let status = unsafe { get_schema(&mut stream, &mut schema) };
            stream_status(&name, &mut stream, status)?;
        }
        Ok((Self { name, stream, first: None }, schema))
    }

    /// A single one.
    pub fn from_array(name: String, array: ArrowArray) -> Self {
        Self { name, stream: ArrowArrayStream::empty(), first: Some(Arc::new(array)) }
    }

    /// The next one that has entries; `None` at the end.
    pub fn next_chunk(&mut self) -> Result<Option<Arc<ArrowArray>>, Error> {
        loop {
            if let Some(array) = self.first.take() {
                if array.release.is_none() {
                    let told = format!("{}: an Arrow array that was used before", self.name);
                    return Err(Error::Input(told));
                }
                if array.length != 0 {
                    return Ok(Some(array));
                }
            }
            let Some(get_next) = self.stream.get_next else {
                return Ok(None);
            };
            let mut array = ArrowArray::empty();
            // SAFETY: a stream that is not released gives an array into an empty structure.
            let status = unsafe { get_next(&mut self.stream, &mut array) };
            stream_status(&self.name, &mut self.stream, status)?;
            if array.release.is_none() {
                self.stream = ArrowArrayStream::empty();
                return Ok(None);
            }
            self.first = Some(Arc::new(array));
        }
    }
}

fn stream_status(name: &str, stream: &mut ArrowArrayStream, status: c_int) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    let mut why = String::new();
    if let Some(get_last_error) = stream.get_last_error {
        // SAFETY: called right after a failure, as the interface wants it.
        let message = unsafe { get_last_error(stream) };
        if !message.is_null() {
            // SAFETY: a C string by the interface.
            why = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        }
    }
    Err(Error::Input(format!("{name}: the Arrow stream failed with status {status}: {why}")))
}
