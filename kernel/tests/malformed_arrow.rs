//! Arrays that a program has made wrongly are refused, and never followed.

use std::ffi::c_void;
use truebleu_kernel::arrow::rows::Frame;
use truebleu_kernel::arrow::{ArrowArray, ArrowSchema, Column, export};
use truebleu_kernel::error::Error;
use truebleu_kernel::text_batches::{Block, Foreign, Source, Want};

/// The bytes of little-endian integers.
macro_rules! bytes {
    ($type:ty: $($value:expr),*) => {
        [$(<$type>::try_from($value).unwrap().to_le_bytes().to_vec()),*].concat()
    };
}

/// What is done to an array, and what is then said of it.
type Change = (fn(&mut ArrowArray), &'static str);

/// An array of so many entries, none of them null.
fn array(length: usize, buffers: &[Vec<u8>]) -> ArrowArray {
    export::column(&vec![true; length], buffers.to_vec())
}

fn strings(offsets: Vec<u8>, length: usize) -> ArrowArray {
    array(length, &[offsets, b"abcdef".to_vec()])
}

/// A structure of one column, which gives the column a place among children.
fn child(items: ArrowArray, mut lists: ArrowArray) -> ArrowArray {
    // The children of a structure, with the buffers of the lists: as long as both live.
    let mut whole = export::structure(lists.length as usize, vec![items]);
    whole.buffers = lists.buffers;
    whole.n_buffers = lists.n_buffers;
    lists.release = None;
    whole
}

fn of_lists(format: &str) -> ArrowSchema {
    export::schema(format, "refs", vec![export::schema("u", "item", Vec::new())])
}

/// The texts of a column, by streams.
fn read(schema: &ArrowSchema, array: ArrowArray) -> Result<Vec<Vec<Option<Vec<u8>>>>, Error> {
    let mut column = Column::from_array("refs".into(), false, schema, array)?;
    let mut found = Vec::new();
    while let Some(batch) = column.next(Want::Segments(2))? {
        for (number, block) in batch.streams.iter().enumerate() {
            let Block::Segments { segments, .. } = block else { panic!("no segments") };
            found.resize(found.len().max(number + 1), Vec::new());
            let texts =
                segments.iter().map(|text| text.as_ref().map(|t| Foreign::bytes(t).to_vec()));
            found[number].extend(texts);
        }
    }
    Ok(found)
}

fn refused(schema: &ArrowSchema, array: ArrowArray) -> String {
    let error = read(schema, array).unwrap_err().to_string();
    assert!(error.starts_with("refs: a malformed Arrow array: "), "{error}");
    error
}

fn texts(texts: &[&str]) -> Vec<Vec<Option<Vec<u8>>>> {
    vec![texts.iter().map(|text| Some(text.as_bytes().to_vec())).collect()]
}

#[test]
fn offsets_rise_and_begin_at_0_or_above() {
    let (small, large) = (export::schema("u", "", Vec::new()), export::schema("U", "", Vec::new()));
    let good = || strings(bytes!(i32: 0, 2, 2, 6), 3);
    assert_eq!(read(&small, good()).unwrap(), texts(&["ab", "", "cdef"]));
    let wide = || strings(bytes!(i64: 1, 2, 2, 6), 3);
    assert_eq!(read(&large, wide()).unwrap(), texts(&["b", "", "cdef"]));
    for (offsets, told) in [
        (bytes!(i32: 0, 3, 2, 6), "entry 1 goes from 3 to 2"),
        (bytes!(i32: 4, 3, 3, 3), "entry 0 goes from 4 to 3"),
        (bytes!(i32: -1, 2, 2, 6), "offsets from -1 to 6"),
        (bytes!(i32: 0, 2, 2, -6), "entry 2 goes from 2 to -6"),
        (bytes!(i32: i32::MIN, 0, i32::MAX, i32::MAX), "offsets from"),
    ] {
        assert!(refused(&small, strings(offsets, 3)).contains(told));
    }
    for (offsets, told) in [
        (bytes!(i64: 0, 3, 2, 6), "entry 1 goes from 3 to 2"),
        (bytes!(i64: -1, 2, 2, 6), "offsets from -1"),
        (bytes!(i64: 0, 2, 2, i64::MAX), "offsets from 0 to 9223372036854775807"),
        (bytes!(i64: 0, 1_i64 << 32, 1_i64 << 33, 1_i64 << 34), "entry 0 has 4294967296 bytes"),
    ] {
        assert!(refused(&large, strings(offsets, 3)).contains(told));
    }
    // What lies before and behind a slice does not count.
    let mut slice = strings(bytes!(i32: 9, 0, 2, 6, 5), 4);
    (slice.offset, slice.length) = (1, 2);
    assert_eq!(read(&small, slice).unwrap(), texts(&["ab", "cdef"]));
}

#[test]
fn lengths_pointers_and_numbers_of_buffers() {
    let small = export::schema("u", "", Vec::new());
    let changes: [Change; 10] = [
        (|array| array.length = -1, "length -1"),
        (|array| array.length = i64::MAX, "length 9223372036854775807"),
        (|array| array.offset = -1, "offset -1"),
        (|array| array.offset = i64::MAX, "offset 9223372036854775807"),
        (|array| array.n_buffers = 0, "0 of its 3 buffers"),
        (|array| array.n_buffers = 2, "2 of its 3 buffers"),
        (|array| array.n_buffers = -3, "-3 of its 3 buffers"),
        (|array| array.buffers = std::ptr::null_mut(), "buffers are there"),
        // SAFETY: there are three buffers.
        (|array| unsafe { *array.buffers.add(1) = std::ptr::null() }, "a buffer is missing"),
        // SAFETY: as above.
        (|array| unsafe { *array.buffers.add(2) = std::ptr::null() }, "a buffer is missing"),
    ];
    for (change, told) in changes {
        let mut array = strings(bytes!(i32: 0, 2, 2, 6), 3);
        change(&mut array);
        assert!(refused(&small, array).contains(told), "{told}");
    }
    // Without bytes, no buffer of them is needed; without entries, none at all.
    let empty = strings(bytes!(i32: 0, 0, 0, 0), 3);
    // SAFETY: there are three buffers.
    unsafe { *empty.buffers.add(2) = std::ptr::null() }
    assert_eq!(read(&small, empty).unwrap(), texts(&["", "", ""]));
    let none = strings(bytes!(i32: 5, -2), 0);
    // SAFETY: as above.
    unsafe { *none.buffers.add(1) = std::ptr::null() }
    assert!(read(&small, none).unwrap().is_empty());
    let mut used = strings(bytes!(i32: 0, 2), 1);
    used.release = None;
    assert!(read(&small, used).unwrap_err().to_string().contains("used before"));
}

#[test]
fn lists_stay_within_their_items() {
    let items = || strings(bytes!(i32: 0, 2, 2, 6), 3);
    let list = |offsets: Vec<u8>, length| child(items(), array(length, &[offsets]));
    let (small, large) = (of_lists("+l"), of_lists("+L"));
    let found = read(&small, list(bytes!(i32: 0, 2, 3), 2)).unwrap();
    assert_eq!(found[0], [Some(b"ab".to_vec()), Some(b"cdef".to_vec())]);
    assert!(refused(&small, list(bytes!(i32: 0, 2, 4), 2)).contains("items: 4 of 3 entries"));
    assert!(refused(&small, list(bytes!(i32: 2, 0, 3), 2)).contains("goes from 2 to 0"));
    assert!(refused(&small, list(bytes!(i32: -1, 0, 3), 2)).contains("offsets from -1"));
    assert!(refused(&large, list(bytes!(i64: 0, 2, 1_i64 << 60), 2)).contains("offsets from 0"));
    assert!(refused(&large, list(bytes!(i64: 0, 2, 1_i64 << 40), 2)).contains("of 3 entries"));
    let views = |starts, sizes| child(items(), array(2, &[starts, sizes]));
    let (small, large) = (of_lists("+vl"), of_lists("+vL"));
    assert_eq!(read(&small, views(bytes!(i32: 1, 0), bytes!(i32: 2, 0))).unwrap().len(), 2);
    for (start, size) in [(0, 4), (3, 1), (-1, 1), (0, -1), (i32::MAX, i32::MAX)] {
        refused(&small, views(bytes!(i32: start, 0), bytes!(i32: size, 0)));
        refused(&large, views(bytes!(i64: start, 0), bytes!(i64: size, 0)));
    }
    refused(&large, views(bytes!(i64: i64::MAX, 0), bytes!(i64: i64::MAX, 0)));
    for (size, fits) in [("1", true), ("2", false), ("9223372036854775807", false)] {
        let fixed = of_lists(&format!("+w:{size}"));
        assert_eq!(read(&fixed, child(items(), array(2, &[]))).is_ok(), fits);
    }
    assert!(read(&of_lists("+w:-1"), child(items(), array(2, &[]))).is_err());
    // Lists without items, or with items that are not there.
    assert!(refused(&of_lists("+l"), array(1, &[bytes!(i32: 0, 0)])).contains("without items"));
    let hole = list(bytes!(i32: 0, 1), 1);
    // SAFETY: there is one child.
    let kept = unsafe { std::mem::replace(&mut *hole.children, std::ptr::null_mut()) };
    let mut column = Column::from_array("refs".into(), false, &of_lists("+l"), hole).unwrap();
    assert!(column.next(Want::Segments(1)).is_err());
    // The array is dropped with a child of null, so it is kept, and its child with it.
    std::mem::forget(column);
    let _ = kept;
}

#[test]
fn indices_are_those_of_values() {
    let mut schema = export::schema("c", "", Vec::new());
    let values = Box::into_raw(Box::new(export::schema("u", "", Vec::new())));
    schema.dictionary = values;
    let words = Box::into_raw(Box::new(strings(bytes!(i32: 0, 2, 2, 6), 3)));
    let indices = |valid: &[bool], bytes: Vec<u8>| {
        let mut array = export::column(valid, vec![bytes]);
        array.dictionary = words;
        array
    };
    let all = [true; 3];
    let found = read(&schema, indices(&all, bytes!(i8: 2, 0, 2))).unwrap();
    assert_eq!(found, texts(&["cdef", "ab", "cdef"]));
    assert!(
        refused(&schema, indices(&all, bytes!(i8: 2, 3, 2))).contains("values: 4 of 3 entries")
    );
    refused(&schema, indices(&all, bytes!(i8: 2, -1, 2)));
    // The index of what is null may be anything.
    let found = read(&schema, indices(&[true, false, true], bytes!(i8: 2, -1, 2))).unwrap();
    assert_eq!(found[0][1], None);
    let mut without = indices(&all, bytes!(i8: 0, 0, 0));
    without.dictionary = std::ptr::null_mut();
    assert!(refused(&schema, without).contains("without values"));
    // SAFETY: both were made above, and are released once.
    unsafe { (drop(Box::from_raw(values)), drop(Box::from_raw(words))) };
}

#[test]
fn views_point_into_their_buffers() {
    let schema = export::schema("vu", "", Vec::new());
    let text = b"a text of more than twelve bytes".to_vec();
    let views = |valid: &[bool], view: [i32; 4]| {
        let bytes: Vec<u8> = view.iter().flat_map(|n| n.to_le_bytes()).collect();
        export::column(valid, vec![bytes, text.clone(), bytes!(i64: text.len())])
    };
    let good = read(&schema, views(&[true], [30, 0, 0, 2])).unwrap();
    assert_eq!(good, vec![vec![Some(text[2..].to_vec())]]);
    assert!(read(&schema, views(&[true], [12, 0, -1, -1])).is_ok());
    for view in [
        [30, 0, 0, 3],
        [30, 0, 0, -1],
        [30, 0, 1, 0],
        [30, 0, -1, 0],
        [-1, 0, 0, 0],
        [i32::MAX, 0, 0, i32::MAX],
        [13, 0, i32::MAX, 0],
    ] {
        assert!(refused(&schema, views(&[true], view)).contains("view 0 has"));
        assert_eq!(read(&schema, views(&[false], view)).unwrap(), [[None]]);
    }
    let mut few = views(&[true], [30, 0, 0, 2]);
    few.n_buffers = 2;
    refused(&schema, few);
}

#[test]
fn schemas_that_are_not_whole() {
    let deep = (0..100_000).fold(export::schema("u", "", Vec::new()), |items, _| {
        let mut list = export::schema("+l", "", Vec::new());
        // Kept for good: dropping it would go as deep.
        list.children = Box::leak(Box::new(Box::into_raw(Box::new(items))));
        list.n_children = 1;
        list
    });
    let none = || array(0, &[bytes!(i32: 0)]);
    let told = |schema: &ArrowSchema| read(schema, none()).unwrap_err().to_string();
    assert!(told(&deep).contains("malformed Arrow schema"));
    assert!(told(&ArrowSchema::empty()).contains("malformed Arrow schema"));
    let mut holes = export::schema("+l", "", Vec::new());
    holes.n_children = 1;
    holes.children = std::ptr::null_mut();
    assert!(told(&holes).contains("malformed Arrow schema"));
    holes.n_children = 0;
    assert!(told(&holes).contains("without an item type"));
    let lists = export::schema("+l", "", vec![of_lists("+l")]);
    assert!(told(&lists).contains("lists of lists"));
}

#[test]
fn tables_have_their_columns_whole() {
    let schema = || {
        let columns = [("u", "text"), ("l", "number")];
        let columns = columns.map(|(format, name)| export::schema(format, name, Vec::new()));
        export::schema("+s", "", columns.into())
    };
    let table = || {
        let numbers = export::numbers(vec![1_i64, 2]);
        export::structure(2, vec![strings(bytes!(i32: 0, 2, 6), 2), numbers])
    };
    let rows = |array| -> Result<usize, Error> {
        let mut frame = Frame::from_array("rows".into(), schema(), array)?;
        frame.texts("text", false)?;
        frame.keys("number")?;
        Ok(frame.next_rows()?.map_or(0, |rows| rows.len()))
    };
    assert_eq!(rows(table()).unwrap(), 2);
    let changes: [Change; 8] = [
        (|table| table.length = 3, "a column is truncated, with 2 of 3 rows"),
        (|table| table.offset = 1, "a column is truncated, with 2 of 3 rows"),
        (|table| table.offset = i64::MAX, "offset 9223372036854775807"),
        (|table| table.length = -2, "length -2"),
        (|table| table.n_children = 1, "1 columns, and its schema has 2"),
        (|table| table.n_children = -1, "-1 columns"),
        (|table| table.buffers = std::ptr::null_mut(), "a buffer is missing"),
        (|table| spoil(table), "text: a mal"),
    ];
    for (change, told) in changes {
        let mut array = table();
        change(&mut array);
        let error = rows(array).unwrap_err().to_string();
        assert!(error.contains(told) && error.contains("malformed"), "{error}");
    }
}

/// Gives the first column of a table offsets that fall.
fn spoil(table: &mut ArrowArray) {
    let offsets: *const c_void = Box::leak(Box::new([0_i32, 7, 6])).as_ptr().cast();
    // SAFETY: the first child is an array of strings, with three buffers.
    unsafe { *(**table.children).buffers.add(1) = offsets }
}

#[test]
fn what_is_given_out_is_released_whole() {
    let list = export::lists(&[1, 3], export::numbers(vec![1_i64, 2, 3]));
    let table = export::structure(2, vec![list, export::numbers(vec![1_i64, 2])]);
    // SAFETY: there are two children; one is moved away, which leaves it released.
    let moved = unsafe {
        let child = &mut **table.children.add(1);
        std::mem::replace(child, ArrowArray::empty())
    };
    drop(table);
    // SAFETY: a column of two numbers, which is ours now.
    let numbers = unsafe { std::slice::from_raw_parts((*moved.buffers.add(1)).cast::<i64>(), 2) };
    assert_eq!(numbers, [1, 2]);
    let schema = of_lists("+l");
    // SAFETY: there is one child.
    assert_eq!(unsafe { (**schema.children).name() }, "item");
}
