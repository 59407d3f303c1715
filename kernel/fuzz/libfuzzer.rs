//! The entry of libFuzzer: the target that the variable `TARGET` names. A folder of inputs that is
//! empty gets some first, so that libFuzzer has what makes sense to start from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use truebleu_fuzz::run::input;
use truebleu_fuzz::{TARGETS, Target};

/// Inputs to start from.
const FIRST: u64 = 1000;

fn chosen() -> &'static Target {
    static CHOSEN: OnceLock<&Target> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("TARGET").unwrap_or_default();
        let names = TARGETS.map(|target| target.name).join(" ");
        let found = TARGETS.iter().find(|target| target.name == name);
        found.unwrap_or_else(|| panic!("set TARGET to one of: {names}"))
    })
}

/// Fills the folder that is the last argument, if it is an empty one.
fn fill() {
    let folder = std::env::args().next_back().unwrap_or_default();
    let Ok(mut entries) = std::fs::read_dir(&folder) else { return };
    if entries.next().is_some() {
        return;
    }
    let mut data = Vec::new();
    for number in 0..FIRST {
        input(chosen(), 0, number, &mut data);
        let path = format!("{folder}/{number}");
        std::fs::write(&path, &data).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

fuzz_target!(init: fill(), |data: &[u8]| (chosen().run)(data));
