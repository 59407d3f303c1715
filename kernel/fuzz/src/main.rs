//! Runs targets: `truebleu-fuzz EXECUTIONS [TARGET [SEED]]`, a line for each.
//!
//! A target runs in a process of its own, so that a crash is a finding as well. What is found is
//! kept in `found/`, whose files the tests replay, or in the folder that the variable `FOUND` names.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use truebleu_fuzz::run::{execute, input};
use truebleu_fuzz::{TARGETS, Target};

/// Executions after which the process says how far it is.
const STRETCH: u64 = 1 << 16;

/// Findings of a target after which it stops.
const ENOUGH: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["part", name, first, end, seed, careful] => {
            let numbers = [first, end, seed].map(|number| number.parse().unwrap_or(0));
            let [first, end, seed] = numbers;
            if let Some(target) = TARGETS.iter().find(|target| target.name == name) {
                part(target, first, end, seed, careful == "careful");
            }
            ExitCode::SUCCESS
        }
        [] | ["--help"] => usage(),
        [count, ref rest @ ..] if rest.len() <= 2 => {
            let name = rest.first().copied().unwrap_or("all");
            let seed = rest.get(1).map_or(Some(1), |seed| seed.parse().ok());
            let known = name == "all" || TARGETS.iter().any(|target| target.name == name);
            // 1e8 is easier to read than a number with eight zeros.
            let count = count.parse::<f64>().ok().filter(|&count| count >= 1.0);
            let (Some(count), Some(seed), true) = (count, seed, known) else {
                return usage();
            };
            let chosen = TARGETS.iter().filter(|target| name == "all" || target.name == name);
            let findings: usize = chosen.map(|target| all(target, count as u64, seed)).sum();
            if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    let names = TARGETS.map(|target| target.name).join(" ");
    eprintln!("truebleu-fuzz EXECUTIONS [TARGET [SEED]]; the targets are all {names}");
    ExitCode::from(2)
}

/// Where findings go: the folder that the variable `FOUND` names, or the one of the tests.
fn folder() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    std::env::var_os("FOUND").map_or_else(own, PathBuf::from)
}

/// Keeps an input, and says where.
fn keep(target: &Target, number: u64, data: &[u8], problem: &str) {
    let path = folder().join(format!("{}-{number}", target.name));
    if let Err(error) = fs::create_dir_all(folder()).and_then(|()| fs::write(&path, data)) {
        eprintln!("{}: {error}", path.display());
    }
    println!("finding {} {}", path.display(), problem.replace('\n', " "));
}

/// Some executions of a target, in this process.
fn part(target: &Target, first: u64, end: u64, seed: u64, careful: bool) {
    std::panic::set_hook(Box::new(|_| ()));
    let mut data = Vec::new();
    let mut findings = 0;
    let path = folder().join(format!("{}-crash", target.name));
    for number in first..end {
        if number % STRETCH == 0 {
            println!("at {number}");
        }
        input(target, seed, number, &mut data);
        if careful {
            // What a crash leaves behind.
            let _ = fs::create_dir_all(folder()).and_then(|()| fs::write(&path, &data));
        }
        if let Err(problem) = execute(target, &data) {
            keep(target, number, &data, &problem);
            findings += 1;
            if findings == ENOUGH {
                println!("at {}", number + 1);
                return;
            }
        }
    }
    if careful {
        let _ = fs::remove_file(&path);
    }
    println!("at {end}");
}

/// Runs a part in a process of its own: how far it came, its findings, whether it came to its end.
fn process(target: &Target, first: u64, end: u64, seed: u64, careful: bool) -> (u64, usize, bool) {
    let program = std::env::current_exe().expect("this program has a path");
    let numbers = [first, end, seed].map(|number| number.to_string());
    let mut child = Command::new(program)
        .args(["part", target.name, &numbers[0], &numbers[1], &numbers[2]])
        .arg(if careful { "careful" } else { "fast" })
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program runs again");
    let (mut reached, mut findings) = (first, 0);
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok) {
        if let Some(number) = line.strip_prefix("at ") {
            let number = number.parse().unwrap_or(reached);
            // A sign of life in a long run.
            if number / 10_000_000 > reached / 10_000_000 && number < end {
                eprintln!("{} {number} of {end}, {findings} findings", target.name);
            }
            reached = number;
        } else {
            findings += 1;
            println!("{line}");
        }
    }
    let whole = child.wait().is_ok_and(|status| status.success());
    (reached, findings, whole)
}

/// All executions of a target, and one line about them: the number of findings.
fn all(target: &Target, count: u64, seed: u64) -> usize {
    let start = Instant::now();
    let (reached, mut findings, whole) = process(target, 0, count, seed, false);
    if !whole {
        // The same again, with each input written down before it is executed.
        let end = (reached + STRETCH).min(count);
        let (_, _, again) = process(target, reached, end, seed, true);
        let path = folder().join(format!("{}-crash", target.name));
        let of = if again { "not seen again" } else { "in the file" };
        println!("finding {} a crash, {of}", path.display());
        findings += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    let name = target.name;
    println!("{name:<14} {reached:>11} executions {seconds:>9.1} s {findings:>3} findings");
    findings
}
