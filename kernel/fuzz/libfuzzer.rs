//! The entry point of libFuzzer for the target in the environment variable `TARGET`. An empty input
//! folder is filled first, so that libFuzzer starts from meaningful inputs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use truebleu_fuzz::run::make_input;
use truebleu_fuzz::{TARGETS, Target};

/// Number of initial inputs.
const INITIAL_INPUTS: u64 = 1000;

/// Return the selected target.
fn selected_target() -> &'static Target {
    static SELECTED: OnceLock<&Target> = OnceLock::new();
    SELECTED.get_or_init(|| {
        let name = std::env::var("TARGET").unwrap_or_default();
        let names = TARGETS.map(|target| target.name).join(" ");
        let target = TARGETS.iter().find(|target| target.name == name);
        target.unwrap_or_else(|| panic!("set TARGET to one of: {names}"))
    })
}

/// Fill the folder in the last argument if it is empty.
fn fill_empty_folder() {
    let folder = std::env::args().next_back().unwrap_or_default();
    let Ok(mut entries) = std::fs::read_dir(&folder) else { return };
    if entries.next().is_some() {
        return;
    }
    let mut data = Vec::new();
    for number in 0..INITIAL_INPUTS {
        make_input(selected_target(), 0, number, &mut data);
        let path = format!("{folder}/{number}");
        std::fs::write(&path, &data).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

fuzz_target!(init: fill_empty_folder(), |data: &[u8]| (selected_target().run)(data));
