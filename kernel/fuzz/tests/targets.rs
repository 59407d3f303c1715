//! Replay of earlier findings, and a short run of each target.

use truebleu_fuzz::TARGETS;
use truebleu_fuzz::run::{execute, make_input};

#[test]
fn test_findings_stay_fixed() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/found")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(target) = TARGETS.iter().find(|target| file.starts_with(target.name)) else {
            continue;
        };
        let data = std::fs::read(&path).unwrap();
        assert_eq!(execute(target, &data), Ok(()), "{file}");
    }
}

#[test]
fn test_targets_find_no_problems() {
    // One execution takes seconds under Miri.
    let count = if cfg!(miri) { 3 } else { 2000 };
    let mut data = Vec::new();
    for target in TARGETS {
        println!("{}", target.name);
        for number in 0..count {
            make_input(&target, 0, number, &mut data);
            assert_eq!(execute(&target, &data), Ok(()), "{} {data:02x?}", target.name);
        }
        assert_eq!(execute(&target, b""), Ok(()), "{}", target.name);
    }
}
