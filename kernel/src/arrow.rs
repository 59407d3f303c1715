//! Text columns in the Arrow C data interface, and tables of numbers given out through it.
//!
//! The three structures are the interface's own; see "The Arrow C data interface" and "The Arrow C
//! stream interface" of the Apache Arrow documentation for their fields. Columns of strings
//! (32-bit, 64-bit offsets, or views), dictionaries of them and lists of them are understood.

use crate::error::Error;
use crate::text::{Batch, Block, Foreign, MOST_SEGMENTS, Source, Want, check_size};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
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

/// The types of column that hold text.
#[derive(Debug)]
enum Kind {
    /// Every entry is null.
    Null,
    /// Strings with 32-bit offsets.
    Utf8,
    /// Strings with 64-bit offsets.
    LargeUtf8,
    /// Strings of 16 bytes, or pointers to longer ones.
    Utf8View,
    /// Indices (their format) into distinct strings.
    Dictionary(u8, Box<Kind>),
    /// Lists with 32-bit offsets.
    List(Box<Kind>),
    /// Lists with 64-bit offsets.
    LargeList(Box<Kind>),
    /// Lists of one length.
    FixedList(i64, Box<Kind>),
    /// Lists with 32-bit offsets and sizes.
    ListView(Box<Kind>),
    /// Lists with 64-bit offsets and sizes.
    LargeListView(Box<Kind>),
}

impl Kind {
    fn of(schema: &ArrowSchema, name: &str) -> Result<Self, Error> {
        if schema.format.is_null() {
            return Err(Error::Input(format!("{name}: an Arrow schema without a format")));
        }
        // SAFETY: the format is a C string by the interface.
        let format = unsafe { CStr::from_ptr(schema.format) }.to_string_lossy().into_owned();
        if !schema.dictionary.is_null() {
            let index = format.as_bytes().first().copied().unwrap_or(0);
            // SAFETY: not null, and owned by the schema.
            let values = Self::of(unsafe { &*schema.dictionary }, name)?;
            return Ok(Self::Dictionary(index, Box::new(values)));
        }
        let child = || -> Result<Box<Self>, Error> {
            // SAFETY: lists have one child by the interface.
            Ok(Box::new(Self::of(unsafe { &**schema.children }, name)?))
        };
        Ok(match format.as_str() {
            "n" => Self::Null,
            "u" => Self::Utf8,
            "U" => Self::LargeUtf8,
            "vu" => Self::Utf8View,
            "+l" => Self::List(child()?),
            "+L" => Self::LargeList(child()?),
            "+vl" => Self::ListView(child()?),
            "+vL" => Self::LargeListView(child()?),
            "+s" => {
                let names = (0..schema.n_children as usize).map(|i| {
                    // SAFETY: there are so many children, whose names are C strings or null.
                    unsafe {
                        let name = (**schema.children.add(i)).name;
                        if name.is_null() {
                            "?".into()
                        } else {
                            CStr::from_ptr(name).to_string_lossy()
                        }
                    }
                });
                let names: Vec<_> = names.collect();
                return Err(Error::Input(format!(
                    "{name}: a table was given where a column of text is meant; \
                     it has the columns {}",
                    names.join(", ")
                )));
            }
            other => {
                if let Some(length) = other.strip_prefix("+w:").and_then(|n| n.parse().ok()) {
                    Self::FixedList(length, child()?)
                } else {
                    return Err(Error::Input(format!(
                        "{name}: an Arrow column of {} holds no text; \
                         strings, dictionaries of strings, and lists of strings do",
                        type_name(other)
                    )));
                }
            }
        })
    }

    /// What a list holds; `None` for other types.
    fn items(&self) -> Option<&Self> {
        match self {
            Self::List(of)
            | Self::LargeList(of)
            | Self::FixedList(_, of)
            | Self::ListView(of)
            | Self::LargeListView(of) => Some(of),
            _ => None,
        }
    }
}

/// What people call the type of a format.
fn type_name(format: &str) -> String {
    let name = match format {
        "b" => "boolean",
        "c" => "int8",
        "C" => "uint8",
        "s" => "int16",
        "S" => "uint16",
        "i" => "int32",
        "I" => "uint32",
        "l" => "int64",
        "L" => "uint64",
        "e" => "float16",
        "f" => "float32",
        "g" => "float64",
        "z" | "Z" | "vz" => "binary",
        "+r" => "run-end encoded values",
        other => return format!("format '{other}'"),
    };
    name.to_owned()
}

/// Entry `i` of a buffer of `T`.
///
/// # Safety
/// The array must have that buffer, with that entry.
unsafe fn entry<T: Copy>(array: &ArrowArray, buffer: usize, i: usize) -> T {
    // SAFETY: as the caller promises; producers need not align buffers.
    unsafe { (*array.buffers.add(buffer)).cast::<T>().add(i).read_unaligned() }
}

/// Whether entry `i` (with the offset added) is null.
///
/// # Safety
/// The array must be a valid one of a type with a validity buffer.
unsafe fn is_null(array: &ArrowArray, i: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let validity = *array.buffers;
        !validity.is_null() && *validity.cast::<u8>().add(i / 8) >> (i % 8) & 1 == 0
    }
}

/// The string at index `i`, not counting the array's offset; `None` for null.
///
/// # Safety
/// The array must be a valid one of this kind with more than `i` entries.
unsafe fn string<'a>(array: &'a ArrowArray, kind: &Kind, i: usize) -> Option<&'a [u8]> {
    // SAFETY: the buffers are those that the interface gives each type.
    unsafe {
        let at = i + array.offset as usize;
        if matches!(kind, Kind::Null) || is_null(array, at) {
            return None;
        }
        let (start, end) = match kind {
            Kind::Utf8 => {
                (entry::<i32>(array, 1, at) as usize, entry::<i32>(array, 1, at + 1) as usize)
            }
            Kind::LargeUtf8 => {
                (entry::<i64>(array, 1, at) as usize, entry::<i64>(array, 1, at + 1) as usize)
            }
            Kind::Utf8View => {
                let view: *const u8 = (*array.buffers.add(1)).cast::<u8>().add(16 * at);
                let number = |i: usize| view.add(4 * i).cast::<i32>().read_unaligned() as usize;
                let length = number(0);
                let start = if length <= 12 {
                    view.add(4)
                } else {
                    (*array.buffers.add(2 + number(2))).cast::<u8>().add(number(3))
                };
                return Some(std::slice::from_raw_parts(start, length));
            }
            Kind::Dictionary(index, values) => {
                let index = match index {
                    b'c' => entry::<i8>(array, 1, at) as usize,
                    b'C' => entry::<u8>(array, 1, at) as usize,
                    b's' => entry::<i16>(array, 1, at) as usize,
                    b'S' => entry::<u16>(array, 1, at) as usize,
                    b'i' => entry::<i32>(array, 1, at) as usize,
                    b'I' => entry::<u32>(array, 1, at) as usize,
                    _ => entry::<u64>(array, 1, at) as usize,
                };
                return string(&*array.dictionary, values, index);
            }
            _ => return None,
        };
        if start == end {
            return Some(b"");
        }
        let data: *const u8 = (*array.buffers.add(2)).cast();
        Some(std::slice::from_raw_parts(data.add(start), end - start))
    }
}

/// The range of list entry `i` in the child, not counting either's offset; empty for null.
///
/// # Safety
/// The array must be a valid one of this kind, a list, with more than `i` entries.
unsafe fn list(array: &ArrowArray, kind: &Kind, i: usize) -> std::ops::Range<usize> {
    let at = i + array.offset as usize;
    // SAFETY: the buffers are those that the interface gives each type.
    unsafe {
        if is_null(array, at) {
            return 0..0;
        }
        match kind {
            Kind::LargeList(_) => {
                entry::<i64>(array, 1, at) as usize..entry::<i64>(array, 1, at + 1) as usize
            }
            Kind::ListView(_) => {
                let start = entry::<i32>(array, 1, at) as usize;
                start..start + entry::<i32>(array, 2, at) as usize
            }
            Kind::LargeListView(_) => {
                let start = entry::<i64>(array, 1, at) as usize;
                start..start + entry::<i64>(array, 2, at) as usize
            }
            Kind::FixedList(length, _) => at * *length as usize..(at + 1) * *length as usize,
            _ => entry::<i32>(array, 1, at) as usize..entry::<i32>(array, 1, at + 1) as usize,
        }
    }
}

/// A column of text, read a chunk at a time.
pub struct Column {
    name: String,
    kind: Kind,
    stream: ArrowArrayStream,
    chunk: Option<Arc<ArrowArray>>,
    position: usize,
    /// Missing entries are an error: these are hypotheses.
    required: bool,
    given: u64,
}

impl Column {
    /// The column that `stream` brings.
    pub fn from_stream(
        name: String,
        required: bool,
        mut stream: ArrowArrayStream,
    ) -> Result<Self, Error> {
        let mut schema = ArrowSchema::empty();
        if let Some(get_schema) = stream.get_schema {
            // SAFETY: a stream that is not released gives its schema into an empty structure.
            let status = unsafe { get_schema(&mut stream, &mut schema) };
            stream_status(&name, &mut stream, status)?;
        }
        let kind = Kind::of(&schema, &name)?;
        Ok(Self { name, kind, stream, chunk: None, position: 0, required, given: 0 })
    }

    /// The column that `array` is.
    pub fn from_array(
        name: String,
        required: bool,
        schema: &ArrowSchema,
        array: ArrowArray,
    ) -> Result<Self, Error> {
        let kind = Kind::of(schema, &name)?;
        let chunk = Some(Arc::new(array));
        let stream = ArrowArrayStream::empty();
        Ok(Self { name, kind, stream, chunk, position: 0, required, given: 0 })
    }

    /// The chunk to read from; `None` at the end.
    fn chunk(&mut self) -> Result<Option<Arc<ArrowArray>>, Error> {
        loop {
            if let Some(chunk) = &self.chunk
                && self.position < chunk.length as usize
            {
                return Ok(Some(Arc::clone(chunk)));
            }
            self.chunk = None;
            self.position = 0;
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
            self.chunk = Some(Arc::new(array));
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

impl Source for Column {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self, want: Want) -> Result<Option<Batch>, Error> {
        let (most, most_bytes) = match want {
            Want::Segments(segments) => (segments, usize::MAX),
            Want::Bytes(bytes) => (MOST_SEGMENTS, bytes),
        };
        let mut streams: Vec<Vec<Option<Foreign>>> = vec![Vec::new()];
        let mut keep = Vec::new();
        let (mut count, mut bytes) = (0, 0);
        while count < most && (count == 0 || bytes < most_bytes) {
            let Some(chunk) = self.chunk()? else { break };
            while count < most
                && (count == 0 || bytes < most_bytes)
                && self.position < chunk.length as usize
            {
                let mut put = |stream: usize, text: Option<&[u8]>| {
                    if streams.len() <= stream {
                        streams.resize(stream + 1, vec![None; count]);
                    }
                    bytes += text.map_or(0, <[u8]>::len);
                    // SAFETY: the chunk is kept as long as the batch.
                    streams[stream].push(text.map(|text| unsafe { Foreign::new(text) }));
                };
                // SAFETY: the array is of this kind, by its schema, and has this entry.
                unsafe {
                    match self.kind.items() {
                        Some(of) => {
                            let child = &**chunk.children;
                            let range = list(&chunk, &self.kind, self.position);
                            for (stream, i) in range.enumerate() {
                                put(stream, string(child, of, i));
                            }
                        }
                        None => put(0, string(&chunk, &self.kind, self.position)),
                    }
                }
                count += 1;
                for stream in &mut streams {
                    stream.resize(count, None);
                }
                if self.required && streams[0][count - 1].is_none() {
                    let segment = self.given + count as u64;
                    return Err(Error::MissingHypothesis { input: self.name.clone(), segment });
                }
                self.position += 1;
            }
            keep.push(chunk);
        }
        if count == 0 {
            return Ok(None);
        }
        check_size(&self.name, bytes)?;
        if self.required && self.kind.items().is_some() {
            return Err(Error::Input(format!(
                "{}: a column of lists; hypotheses are one string a segment",
                self.name
            )));
        }
        self.given += count as u64;
        let keep: Arc<dyn std::any::Any + Send + Sync> = Arc::new(keep);
        let block =
            |segments| Block::Segments { segments, trusted: false, keep: Some(Arc::clone(&keep)) };
        Ok(Some(Batch { count, streams: streams.into_iter().map(block).collect() }))
    }
}

// Giving out ------------------------------------------------------------------------------------

/// What an exported structure owns: the values its pointers point to.
struct Exported {
    _strings: Vec<CString>,
    _children: Vec<Box<dyn std::any::Any>>,
    child_pointers: Vec<*mut c_void>,
    buffers: Vec<*const c_void>,
    _keep: Option<Box<dyn std::any::Any>>,
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: called once, with a structure made below.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<Exported>()));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: called once, with a structure made below.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Exported>()));
        (*array).release = None;
    }
}

/// The schema of a field called `name`, of a type without children or with `children`.
pub fn schema(format: &str, name: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
    let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
    let strings = vec![text(format), text(name)];
    let mut children: Vec<Box<ArrowSchema>> = children.into_iter().map(Box::new).collect();
    let pointers = children.iter_mut().map(|child| ptr::from_mut(&mut **child).cast()).collect();
    let (format, name) = (strings[0].as_ptr(), strings[1].as_ptr());
    let n_children = children.len() as i64;
    let mut exported = Box::new(Exported {
        _strings: strings,
        _children: children.into_iter().map(|child| child as Box<dyn std::any::Any>).collect(),
        child_pointers: pointers,
        buffers: Vec::new(),
        _keep: None,
    });
    ArrowSchema {
        format,
        name,
        metadata: ptr::null(),
        flags: 0,
        n_children,
        children: exported.child_pointers.as_mut_ptr().cast(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(exported).cast(),
    }
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

fn array(
    length: usize,
    buffers: Vec<*const c_void>,
    children: Vec<ArrowArray>,
    keep: Option<Box<dyn std::any::Any>>,
) -> ArrowArray {
    let mut children: Vec<Box<ArrowArray>> = children.into_iter().map(Box::new).collect();
    let pointers = children.iter_mut().map(|child| ptr::from_mut(&mut **child).cast()).collect();
    let n_children = children.len() as i64;
    let n_buffers = buffers.len() as i64;
    let mut exported = Box::new(Exported {
        _strings: Vec::new(),
        _children: children.into_iter().map(|child| child as Box<dyn std::any::Any>).collect(),
        child_pointers: pointers,
        buffers,
        _keep: keep,
    });
    ArrowArray {
        length: length as i64,
        null_count: 0,
        offset: 0,
        n_buffers,
        n_children,
        buffers: exported.buffers.as_mut_ptr(),
        children: exported.child_pointers.as_mut_ptr().cast(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(exported).cast(),
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
