//! Malformed arrays of other programs are rejected, and their invalid pointers are not followed.

use std::ffi::c_void;
use truebleu_kernel::arrow::rows::TableReader;
use truebleu_kernel::arrow::{ArrowArray, ArrowInput, ArrowSchema, TextColumn, export};
use truebleu_kernel::error::Error;
use truebleu_kernel::text_batches::{BatchSize, Block, BorrowedSegment, Source};

/// The bytes of little-endian integers.
macro_rules! bytes {
    ($type:ty: $($value:expr),*) => {
        [$(<$type>::try_from($value).unwrap().to_le_bytes().to_vec()),*].concat()
    };
}

/// A change of an array, and a part of the expected message.
type Change = (fn(&mut ArrowArray), &'static str);

/// Create an array of `length` entries without nulls.
fn create_array(length: usize, buffers: &[Vec<u8>]) -> ArrowArray {
    export::nullable_column(&vec![true; length], buffers.to_vec())
}

/// Create an array of strings.
fn string_array(offsets: Vec<u8>, length: usize) -> ArrowArray {
    create_array(length, &[offsets, b"abcdef".to_vec()])
}

/// Convert an array of lists to a structure whose child is `items`.
fn with_items(items: ArrowArray, mut lists: ArrowArray) -> ArrowArray {
    // The child of a structure, with the buffers of the lists, while both exist.
    let mut structure = export::struct_array(lists.length as usize, vec![items]);
    structure.buffers = lists.buffers;
    structure.n_buffers = lists.n_buffers;
    lists.release = None;
    structure
}

/// Return the schema of lists of strings.
fn list_schema(format: &str) -> ArrowSchema {
    export::create_schema(format, "refs", vec![export::create_schema("u", "item", Vec::new())])
}

/// Return the texts of a column by stream.
fn read_column(
    schema: &ArrowSchema,
    array: ArrowArray,
) -> Result<Vec<Vec<Option<Vec<u8>>>>, Error> {
    unsafe extern "C" fn keep(_: *mut ArrowSchema) {}
    // SAFETY: the original lives longer than the copy, whose release has no effect.
    let mut schema = unsafe { std::ptr::read(schema) };
    schema.release = schema.release.map(|_| keep as _);
    let mut column = TextColumn::new("refs".into(), false, ArrowInput::Array(schema, array))?;
    let mut streams = Vec::new();
    while let Some(batch) = column.next(BatchSize::Segments(2))? {
        for (number, block) in batch.streams.iter().enumerate() {
            let Block::Segments { segments, .. } = block else { panic!("expected segments") };
            streams.resize(streams.len().max(number + 1), Vec::new());
            let texts = segments
                .iter()
                .map(|text| text.as_ref().map(|t| BorrowedSegment::bytes(t).to_vec()));
            streams[number].extend(texts);
        }
    }
    Ok(streams)
}

/// Return the message of a malformed array.
fn malformed_message(schema: &ArrowSchema, array: ArrowArray) -> String {
    let error = read_column(schema, array).unwrap_err().to_string();
    assert!(error.starts_with("refs: malformed Arrow array: "), "{error}");
    error
}

/// Return expected texts of a single stream.
fn single_stream(texts: &[&str]) -> Vec<Vec<Option<Vec<u8>>>> {
    vec![texts.iter().map(|text| Some(text.as_bytes().to_vec())).collect()]
}

#[test]
fn test_descending_or_negative_offsets_fail() {
    let (small, large) =
        (export::create_schema("u", "", Vec::new()), export::create_schema("U", "", Vec::new()));
    let good = || string_array(bytes!(i32: 0, 2, 2, 6), 3);
    assert_eq!(read_column(&small, good()).unwrap(), single_stream(&["ab", "", "cdef"]));
    let good_large = || string_array(bytes!(i64: 1, 2, 2, 6), 3);
    assert_eq!(read_column(&large, good_large()).unwrap(), single_stream(&["b", "", "cdef"]));
    for (offsets, message) in [
        (bytes!(i32: 0, 3, 2, 6), "entry 1 has descending offsets 3 and 2"),
        (bytes!(i32: 4, 3, 3, 3), "entry 0 has descending offsets 4 and 3"),
        (bytes!(i32: -1, 2, 2, 6), "offsets from -1 to 6"),
        (bytes!(i32: 0, 2, 2, -6), "entry 2 has descending offsets 2 and -6"),
        (bytes!(i32: i32::MIN, 0, i32::MAX, i32::MAX), "offsets from"),
    ] {
        assert!(malformed_message(&small, string_array(offsets, 3)).contains(message));
    }
    for (offsets, message) in [
        (bytes!(i64: 0, 3, 2, 6), "entry 1 has descending offsets 3 and 2"),
        (bytes!(i64: -1, 2, 2, 6), "offsets from -1"),
        (bytes!(i64: 0, 2, 2, i64::MAX), "offsets from 0 to 9223372036854775807"),
        (bytes!(i64: 0, 1_i64 << 32, 1_i64 << 33, 1_i64 << 34), "entry 0 has 4294967296 bytes"),
    ] {
        assert!(malformed_message(&large, string_array(offsets, 3)).contains(message));
    }
    // Offsets before and after a slice are ignored.
    let mut slice = string_array(bytes!(i32: 9, 0, 2, 6, 5), 4);
    (slice.offset, slice.length) = (1, 2);
    assert_eq!(read_column(&small, slice).unwrap(), single_stream(&["ab", "cdef"]));
}

#[test]
fn test_invalid_lengths_and_buffers_fail() {
    let small = export::create_schema("u", "", Vec::new());
    let changes: [Change; 10] = [
        (|array| array.length = -1, "length -1"),
        (|array| array.length = i64::MAX, "length 9223372036854775807"),
        (|array| array.offset = -1, "offset -1"),
        (|array| array.offset = i64::MAX, "offset 9223372036854775807"),
        (|array| array.n_buffers = 0, "expected 3 buffers, found 0"),
        (|array| array.n_buffers = 2, "expected 3 buffers, found 2"),
        (|array| array.n_buffers = -3, "expected 3 buffers, found -3"),
        (|array| array.buffers = std::ptr::null_mut(), "expected 3 buffers, found 0"),
        // SAFETY: there are three buffers.
        (|array| unsafe { *array.buffers.add(1) = std::ptr::null() }, "missing buffer"),
        // SAFETY: as above.
        (|array| unsafe { *array.buffers.add(2) = std::ptr::null() }, "missing buffer"),
    ];
    for (change, message) in changes {
        let mut array = string_array(bytes!(i32: 0, 2, 2, 6), 3);
        change(&mut array);
        assert!(malformed_message(&small, array).contains(message), "{message}");
    }
    // Without bytes, the data buffer may be null; without entries, the offsets may be, too.
    let empty = string_array(bytes!(i32: 0, 0, 0, 0), 3);
    // SAFETY: there are three buffers.
    unsafe { *empty.buffers.add(2) = std::ptr::null() }
    assert_eq!(read_column(&small, empty).unwrap(), single_stream(&["", "", ""]));
    let no_entries = string_array(bytes!(i32: 5, -2), 0);
    // SAFETY: as above.
    unsafe { *no_entries.buffers.add(1) = std::ptr::null() }
    assert!(read_column(&small, no_entries).unwrap().is_empty());
    let mut used = string_array(bytes!(i32: 0, 2), 1);
    used.release = None;
    assert!(read_column(&small, used).unwrap_err().to_string().contains("already consumed"));
}

#[test]
fn test_lists_outside_their_items_fail() {
    let items = || string_array(bytes!(i32: 0, 2, 2, 6), 3);
    let create_list =
        |offsets: Vec<u8>, length| with_items(items(), create_array(length, &[offsets]));
    let (small, large) = (list_schema("+l"), list_schema("+L"));
    let streams = read_column(&small, create_list(bytes!(i32: 0, 2, 3), 2)).unwrap();
    assert_eq!(streams[0], [Some(b"ab".to_vec()), Some(b"cdef".to_vec())]);
    assert!(
        malformed_message(&small, create_list(bytes!(i32: 0, 2, 4), 2))
            .contains("items: entries up to 4 are used, but the length is 3")
    );
    assert!(
        malformed_message(&small, create_list(bytes!(i32: 2, 0, 3), 2))
            .contains("descending offsets 2 and 0")
    );
    assert!(
        malformed_message(&small, create_list(bytes!(i32: -1, 0, 3), 2))
            .contains("offsets from -1")
    );
    assert!(
        malformed_message(&large, create_list(bytes!(i64: 0, 2, 1_i64 << 60), 2))
            .contains("offsets from 0")
    );
    assert!(
        malformed_message(&large, create_list(bytes!(i64: 0, 2, 1_i64 << 40), 2))
            .contains("the length is 3")
    );
    let create_view = |starts, sizes| with_items(items(), create_array(2, &[starts, sizes]));
    let (small, large) = (list_schema("+vl"), list_schema("+vL"));
    assert_eq!(
        read_column(&small, create_view(bytes!(i32: 1, 0), bytes!(i32: 2, 0))).unwrap().len(),
        2
    );
    for (start, size) in [(0, 4), (3, 1), (-1, 1), (0, -1), (i32::MAX, i32::MAX)] {
        malformed_message(&small, create_view(bytes!(i32: start, 0), bytes!(i32: size, 0)));
        malformed_message(&large, create_view(bytes!(i64: start, 0), bytes!(i64: size, 0)));
    }
    malformed_message(&large, create_view(bytes!(i64: i64::MAX, 0), bytes!(i64: i64::MAX, 0)));
    for (size, is_valid) in [("1", true), ("2", false), ("9223372036854775807", false)] {
        let fixed = list_schema(&format!("+w:{size}"));
        assert_eq!(
            read_column(&fixed, with_items(items(), create_array(2, &[]))).is_ok(),
            is_valid
        );
    }
    assert!(read_column(&list_schema("+w:-1"), with_items(items(), create_array(2, &[]))).is_err());
    // Lists without items, or with a null pointer to items.
    assert!(
        malformed_message(&list_schema("+l"), create_array(1, &[bytes!(i32: 0, 0)]))
            .contains("the lists have no items")
    );
    let list_without_items = create_list(bytes!(i32: 0, 1), 1);
    // SAFETY: there is one child.
    let detached_items =
        unsafe { std::mem::replace(&mut *list_without_items.children, std::ptr::null_mut()) };
    let input = ArrowInput::Array(list_schema("+l"), list_without_items);
    let mut column = TextColumn::new("refs".into(), false, input).unwrap();
    assert!(column.next(BatchSize::Segments(1)).is_err());
    // Dropping an array with a null child would crash, so it is leaked, with its child.
    std::mem::forget(column);
    let _ = detached_items;
}

#[test]
fn test_indices_outside_values_fail() {
    let mut schema = export::create_schema("c", "", Vec::new());
    let values = Box::into_raw(Box::new(export::create_schema("u", "", Vec::new())));
    schema.dictionary = values;
    let words = Box::into_raw(Box::new(string_array(bytes!(i32: 0, 2, 2, 6), 3)));
    let indices = |valid: &[bool], bytes: Vec<u8>| {
        let mut array = export::nullable_column(valid, vec![bytes]);
        array.dictionary = words;
        array
    };
    let all_valid = [true; 3];
    let streams = read_column(&schema, indices(&all_valid, bytes!(i8: 2, 0, 2))).unwrap();
    assert_eq!(streams, single_stream(&["cdef", "ab", "cdef"]));
    assert!(
        malformed_message(&schema, indices(&all_valid, bytes!(i8: 2, 3, 2)))
            .contains("values: entries up to 4")
    );
    malformed_message(&schema, indices(&all_valid, bytes!(i8: 2, -1, 2)));
    // The index of a null entry may have any value.
    let streams =
        read_column(&schema, indices(&[true, false, true], bytes!(i8: 2, -1, 2))).unwrap();
    assert_eq!(streams[0][1], None);
    let mut no_values = indices(&all_valid, bytes!(i8: 0, 0, 0));
    no_values.dictionary = std::ptr::null_mut();
    assert!(malformed_message(&schema, no_values).contains("the dictionary has no values"));
    // SAFETY: both were created above, and are released once.
    unsafe { (drop(Box::from_raw(values)), drop(Box::from_raw(words))) };
}

#[test]
fn test_views_outside_their_buffers_fail() {
    let schema = export::create_schema("vu", "", Vec::new());
    let text = b"a text of more than twelve bytes".to_vec();
    let views = |valid: &[bool], view: [i32; 4]| {
        let bytes: Vec<u8> = view.iter().flat_map(|n| n.to_le_bytes()).collect();
        export::nullable_column(valid, vec![bytes, text.clone(), bytes!(i64: text.len())])
    };
    let good = read_column(&schema, views(&[true], [30, 0, 0, 2])).unwrap();
    assert_eq!(good, vec![vec![Some(text[2..].to_vec())]]);
    assert!(read_column(&schema, views(&[true], [12, 0, -1, -1])).is_ok());
    for view in [
        [30, 0, 0, 3],
        [30, 0, 0, -1],
        [30, 0, 1, 0],
        [30, 0, -1, 0],
        [-1, 0, 0, 0],
        [i32::MAX, 0, 0, i32::MAX],
        [13, 0, i32::MAX, 0],
    ] {
        assert!(malformed_message(&schema, views(&[true], view)).contains("view 0 refers to"));
        assert_eq!(read_column(&schema, views(&[false], view)).unwrap(), [[None]]);
    }
    let mut too_few_buffers = views(&[true], [30, 0, 0, 2]);
    too_few_buffers.n_buffers = 2;
    malformed_message(&schema, too_few_buffers);
}

#[test]
fn test_incomplete_schemas_fail() {
    let deep = (0..100_000).fold(export::create_schema("u", "", Vec::new()), |items, _| {
        let mut list = export::create_schema("+l", "", Vec::new());
        // Leaked, because dropping it would recurse as deeply.
        list.children = Box::leak(Box::new(Box::into_raw(Box::new(items))));
        list.n_children = 1;
        list
    });
    let empty_array = || create_array(0, &[bytes!(i32: 0)]);
    let error_message =
        |schema: &ArrowSchema| read_column(schema, empty_array()).unwrap_err().to_string();
    assert!(error_message(&deep).contains("malformed Arrow schema"));
    assert!(error_message(&ArrowSchema::empty()).contains("malformed Arrow schema"));
    let mut incomplete = export::create_schema("+l", "", Vec::new());
    incomplete.n_children = 1;
    incomplete.children = std::ptr::null_mut();
    assert!(error_message(&incomplete).contains("malformed Arrow schema"));
    incomplete.n_children = 0;
    assert!(error_message(&incomplete).contains("no item type"));
    let lists = export::create_schema("+l", "", vec![list_schema("+l")]);
    assert!(error_message(&lists).contains("lists of lists"));
}

#[test]
fn test_tables_with_invalid_columns_fail() {
    let schema = || {
        let columns = [("u", "text"), ("l", "number")];
        let columns = columns.map(|(format, name)| export::create_schema(format, name, Vec::new()));
        export::create_schema("+s", "", columns.into())
    };
    let table = || {
        let numbers = export::number_column(vec![1_i64, 2]);
        export::struct_array(2, vec![string_array(bytes!(i32: 0, 2, 6), 2), numbers])
    };
    let rows = |array| -> Result<usize, Error> {
        let mut frame = TableReader::new("rows".into(), ArrowInput::Array(schema(), array))?;
        frame.select_texts("text", false)?;
        frame.select_keys("number")?;
        Ok(frame.next_rows()?.map_or(0, |rows| rows.len()))
    };
    assert_eq!(rows(table()).unwrap(), 2);
    let changes: [Change; 8] = [
        (|table| table.length = 3, "a column has 2 rows (expected 3)"),
        (|table| table.offset = 1, "a column has 2 rows (expected 3)"),
        (|table| table.offset = i64::MAX, "offset 9223372036854775807"),
        (|table| table.length = -2, "length -2"),
        (|table| table.n_children = 1, "expected the schema's 2 columns, found 1"),
        (|table| table.n_children = -1, "found -1"),
        (|table| table.buffers = std::ptr::null_mut(), "missing buffer"),
        (|table| make_offsets_descend(table), "text: mal"),
    ];
    for (change, message) in changes {
        let mut array = table();
        change(&mut array);
        let error = rows(array).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("malformed"), "{error}");
    }
}

/// Make the offsets of the first column of a table descend.
fn make_offsets_descend(table: &mut ArrowArray) {
    let offsets: *const c_void = Box::leak(Box::new([0_i32, 7, 6])).as_ptr().cast();
    // SAFETY: the first child is an array of strings, with three buffers.
    unsafe { *(**table.children).buffers.add(1) = offsets }
}

#[test]
fn test_exported_memory_is_released_completely() {
    let list = export::list_column(&[1, 3], export::number_column(vec![1_i64, 2, 3]));
    let table = export::struct_array(2, vec![list, export::number_column(vec![1_i64, 2])]);
    // SAFETY: there are two children; one is moved out, which leaves a released structure.
    let moved = unsafe {
        let child = &mut **table.children.add(1);
        std::mem::replace(child, ArrowArray::empty())
    };
    drop(table);
    // SAFETY: the column has two numbers, and this test owns it.
    let numbers = unsafe { std::slice::from_raw_parts((*moved.buffers.add(1)).cast::<i64>(), 2) };
    assert_eq!(numbers, [1, 2]);
    let schema = list_schema("+l");
    // SAFETY: there is one child.
    assert_eq!(unsafe { (**schema.children).name() }, "item");
}
