//! The driver, which executes a target on inputs from a seed in this process.

use crate::Target;
use crate::make::Random;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Allocator that counts the requested memory, a measure of work that does not depend on timing.
pub struct CountingAllocator;

thread_local! {
    static REQUESTED_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Count an allocation.
fn count_request(size: usize) {
    // Thread-local values may be gone when a thread ends.
    let _ = REQUESTED_BYTES.try_with(|bytes| bytes.set(bytes.get().saturating_add(size)));
}

// SAFETY: all calls are passed to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_request(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_request(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_request(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Make the input of one execution.
pub fn make_input(target: &Target, seed: u64, number: u64, data: &mut Vec<u8>) {
    data.clear();
    let mut random = Random::new(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    random.next_bits();
    (target.make)(&mut random, data);
}

/// Execute a target, and return a description of the problem on failure.
pub fn execute(target: &Target, data: &[u8]) -> Result<(), String> {
    let bytes_before = REQUESTED_BYTES.get();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(data)));
    let requested_kib = (REQUESTED_BYTES.get() - bytes_before) / 1024;
    if let Err(panic) = outcome {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        return Err(text.unwrap_or_else(|| "a panic".to_owned()));
    }
    if requested_kib > target.max_memory + data.len() {
        return Err(format!(
            "requested {requested_kib} KiB of memory for {} bytes of input",
            data.len()
        ));
    }
    Ok(())
}
