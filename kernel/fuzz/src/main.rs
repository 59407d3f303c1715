//! Command `truebleu-fuzz EXECUTIONS [TARGET [SEED]]`, which runs targets and prints one line per
//! target.
//!
//! Each target runs in a separate process, so that a crash is a finding, too. Findings are stored
//! in `found/`, whose files the tests replay, or in the folder in the environment variable `FOUND`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use truebleu_fuzz::run::{execute, make_input};
use truebleu_fuzz::{TARGETS, Target};

/// Number of executions between two progress lines of a process.
const PROGRESS_INTERVAL: u64 = 1 << 16;

/// Number of findings at which a target stops.
const MAX_FINDINGS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["part", name, first, end, seed, careful] => {
            let numbers = [first, end, seed].map(|number| number.parse().unwrap_or(0));
            let [first, end, seed] = numbers;
            if let Some(target) = TARGETS.iter().find(|target| target.name == name) {
                run_range(target, first, end, seed, careful == "careful");
            }
            ExitCode::SUCCESS
        }
        [] | ["--help"] => print_usage(),
        [count, ref options @ ..] if options.len() <= 2 => {
            let name = options.first().copied().unwrap_or("all");
            let seed = options.get(1).map_or(Some(1), |seed| seed.parse().ok());
            let is_known_target = name == "all" || TARGETS.iter().any(|target| target.name == name);
            // Accept 1e8, which is easier to read than a number with eight zeros.
            let count = count.parse::<f64>().ok().filter(|&count| count >= 1.0);
            let (Some(count), Some(seed), true) = (count, seed, is_known_target) else {
                return print_usage();
            };
            let selected = TARGETS.iter().filter(|target| name == "all" || target.name == name);
            let findings: usize =
                selected.map(|target| run_target(target, count as u64, seed)).sum();
            if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        _ => print_usage(),
    }
}

/// Print the usage.
fn print_usage() -> ExitCode {
    let names = TARGETS.map(|target| target.name).join(" ");
    eprintln!("usage: truebleu-fuzz EXECUTIONS [TARGET [SEED]]; targets: all {names}");
    ExitCode::from(2)
}

/// Return the folder for findings: the environment variable `FOUND`, or the folder that the tests
/// replay.
fn findings_folder() -> PathBuf {
    let default_folder = || Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    std::env::var_os("FOUND").map_or_else(default_folder, PathBuf::from)
}

/// Store an input, and print its path.
fn report_finding(target: &Target, number: u64, data: &[u8], problem: &str) {
    let path = findings_folder().join(format!("{}-{number}", target.name));
    if let Err(error) = fs::create_dir_all(findings_folder()).and_then(|()| fs::write(&path, data))
    {
        eprintln!("{}: {error}", path.display());
    }
    println!("finding {} {}", path.display(), problem.replace('\n', " "));
}

/// Run a range of executions of a target in this process.
fn run_range(target: &Target, first: u64, end: u64, seed: u64, saves_inputs: bool) {
    std::panic::set_hook(Box::new(|_| ()));
    let mut data = Vec::new();
    let mut findings = 0;
    let path = findings_folder().join(format!("{}-crash", target.name));
    for number in first..end {
        if number % PROGRESS_INTERVAL == 0 {
            println!("at {number}");
        }
        make_input(target, seed, number, &mut data);
        if saves_inputs {
            // Keep the input in case of a crash.
            let _ = fs::create_dir_all(findings_folder()).and_then(|()| fs::write(&path, &data));
        }
        if let Err(problem) = execute(target, &data) {
            report_finding(target, number, &data, &problem);
            findings += 1;
            if findings == MAX_FINDINGS {
                println!("at {}", number + 1);
                return;
            }
        }
    }
    if saves_inputs {
        let _ = fs::remove_file(&path);
    }
    println!("at {end}");
}

/// Run a range in a separate process. Return the number of executions, the findings, and whether it
/// completed.
fn run_in_process(
    target: &Target,
    first: u64,
    end: u64,
    seed: u64,
    saves_inputs: bool,
) -> (u64, usize, bool) {
    let program = std::env::current_exe().expect("this program has a path");
    let numbers = [first, end, seed].map(|number| number.to_string());
    let mut child = Command::new(program)
        .args(["part", target.name, &numbers[0], &numbers[1], &numbers[2]])
        .arg(if saves_inputs { "careful" } else { "fast" })
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program runs again");
    let (mut reached, mut findings) = (first, 0);
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok) {
        if let Some(number) = line.strip_prefix("at ") {
            let number = number.parse().unwrap_or(reached);
            // Show progress in a long run.
            if number / 10_000_000 > reached / 10_000_000 && number < end {
                eprintln!("{} {number} of {end}, {findings} findings", target.name);
            }
            reached = number;
        } else {
            findings += 1;
            println!("{line}");
        }
    }
    let has_completed = child.wait().is_ok_and(|status| status.success());
    (reached, findings, has_completed)
}

/// Run all executions of a target, print a summary, and return the number of findings.
fn run_target(target: &Target, count: u64, seed: u64) -> usize {
    let start = Instant::now();
    let (reached, mut findings, has_completed) = run_in_process(target, 0, count, seed, false);
    if !has_completed {
        // Repeat the range, storing each input before it is executed.
        let end = (reached + PROGRESS_INTERVAL).min(count);
        let (_, _, has_completed_again) = run_in_process(target, reached, end, seed, true);
        let path = findings_folder().join(format!("{}-crash", target.name));
        let location = if has_completed_again { "not reproduced" } else { "in the file" };
        println!("finding {} crash, {location}", path.display());
        findings += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    let name = target.name;
    println!("{name:<14} {reached:>11} executions {seconds:>9.1} s {findings:>3} findings");
    findings
}
