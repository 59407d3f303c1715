//! The entry of libFuzzer: the target that the variable `TARGET` names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use truebleu_fuzz::{TARGETS, Target};

fuzz_target!(|data: &[u8]| {
    static CHOSEN: OnceLock<&Target> = OnceLock::new();
    let target = CHOSEN.get_or_init(|| {
        let name = std::env::var("TARGET").unwrap_or_default();
        let names = TARGETS.map(|target| target.name).join(" ");
        let found = TARGETS.iter().find(|target| target.name == name);
        found.unwrap_or_else(|| panic!("set TARGET to one of: {names}"))
    });
    (target.run)(data);
});
