//! The driver: a target's executions from a seed, one after the other, in this process.

use crate::Target;
use crate::make::Random;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Counts what a thread asks for, which is a measure of work that no clock disturbs.
pub struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

fn asked(size: usize) {
    // At a thread's end there is nothing to count any more.
    let _ = ASKED.try_with(|asked| asked.set(asked.get().saturating_add(size)));
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        asked(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        asked(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        asked(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Makes the input of one execution.
pub fn input(target: &Target, seed: u64, number: u64, data: &mut Vec<u8>) {
    data.clear();
    let mut random = Random::new(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    random.bits();
    (target.make)(&mut random, data);
}

/// One execution: what went wrong, if anything did.
pub fn execute(target: &Target, data: &[u8]) -> Result<(), String> {
    let before = ASKED.get();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(data)));
    let asked = (ASKED.get() - before) / 1024;
    if let Err(panic) = outcome {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        return Err(text.unwrap_or_else(|| "a panic".to_owned()));
    }
    if asked > target.most_memory + data.len() {
        return Err(format!("asked for {asked} KiB of memory for {} bytes", data.len()));
    }
    Ok(())
}
