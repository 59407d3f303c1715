"""Rehearse a release: run the steps of the release workflow in a clone of HEAD.

    make rehearse                                                   all jobs and wheels
    make rehearse WHEELS="manylinux-x86_64 sdist --python abi3"     fewer wheels
    make rehearse JOBS="wheels check"                               fewer jobs

The commands are read from .github/workflows/ci.yml. The rehearsal stops at the first command that
fails, and keeps the clone. At the end it lists what a maintainer has to do to publish.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = Path(".github", "workflows", "ci.yml")
# The jobs that can run on one Linux machine; the others test the same code on other machines.
JOBS = ("version", "lint", "npm", "wheels", "check", "sdist", "wheel")
# One file stands for the whole test suite, which the job `wheel` runs on every system.
VARIABLES = {"TESTS": "tests/metrics/test_scores.py"}
# Variables of the outer make and environment that would change what the steps do.
REMOVED_VARIABLES = ("JOBS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONPATH", "VENV")
MAX_LINES = 40


def main() -> None:
    """Run the rehearsal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"job to run: {', '.join(JOBS)}")
    selected_jobs = parser.parse_args().jobs or JOBS
    if unknown := sorted({*selected_jobs} - {*JOBS}):
        parser.error(f"unknown job {unknown[0]!r} (expected {', '.join(JOBS)})")
    changes = run_git("status", "--porcelain").splitlines()
    if changes:
        sys.exit(
            f"tools/rehearse.py: the checkout has uncommitted changes (expected none, found "
            f"{len(changes)}: {changes[0][3:]} …). Commit or stash them."
        )
    scratch = Path(tempfile.mkdtemp(prefix="truebleu-rehearsal-"))
    clone = scratch / "truebleu"
    run_git("clone", "--quiet", str(ROOT), str(clone))
    print(f"Commit {run_git('log', '-1', '--format=%h %s').strip()}\nClone {clone}", flush=True)
    # The steps call `python` as they do after actions/setup-python: a new environment.
    subprocess.run([sys.executable, "-m", "venv", scratch / "python"], check=True)
    variables = {key: value for key, value in os.environ.items() if key not in REMOVED_VARIABLES}
    variables["PATH"] = f"{scratch / 'python' / 'bin'}{os.pathsep}{variables['PATH']}"
    workflow = yaml.safe_load((clone / WORKFLOW).read_text("utf-8"))
    started = time.monotonic()
    for job in (job for job in JOBS if job in selected_jobs):
        for step in workflow["jobs"][job]["steps"]:
            if "run" in step:
                run_step(job, step, clone, variables)
    check_file_names(clone)
    print(f"The rehearsal took {format_time(time.monotonic() - started)}. Not rehearsed:")
    print("  " + "\n  ".join(job for job in workflow["jobs"] if job not in selected_jobs))
    shutil.rmtree(scratch)
    print_todo(read_version(ROOT))


def run_step(job: str, step: dict[str, Any], clone: Path, variables: dict[str, str]) -> None:
    """Run one step as GitHub's shell does, and print its first line and its time."""
    command = step["run"]
    name = step.get("name", command.strip().splitlines()[0])
    if command.startswith("sudo "):
        print(f"{job}: left out, because it installs packages:\n  {name}", flush=True)
        return
    # Expressions such as ${{ matrix.python }} are empty, so steps take their default branch.
    step_variables = {
        key: re.sub(r"\$\{\{.*?\}\}", "", value) for key, value in step.get("env", {}).items()
    }
    print(f"{job}: {name} ...", end="", flush=True)
    started = time.monotonic()
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
        cwd=clone,
        env=variables | step_variables | VARIABLES,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    print(f" {format_time(time.monotonic() - started)}", flush=True)
    lines = done.stdout.splitlines()
    if done.returncode:
        print("\n".join(lines[-MAX_LINES:]))
        sys.exit(f"{job}: {name}: failed with status {done.returncode} in {clone}")
    if command.startswith("make test-wheels"):
        print("\n".join(f"  {line}" for line in lines if not line.startswith("make")))


def check_file_names(clone: Path) -> None:
    """List the built files, and exit if one has another version than kernel/Cargo.toml."""
    version = read_version(clone)
    for path in sorted([*(clone / "dist").glob("*"), *(clone / "build" / "npm").glob("*.tgz")]):
        print(f"{path.stat().st_size:>12,} bytes  {path.name}")
        if not re.match(rf"truebleu-{re.escape(version)}(-|\.tar|\.tgz)", path.name):
            sys.exit(f"{path}: wrong version (expected {version}).")


def print_todo(version: str) -> None:
    """Print the lists in docs/maintaining.md of what a maintainer has to do."""
    page = (ROOT / "docs" / "maintaining.md").read_text("utf-8")
    steps = page.partition("\n## Releases\n")[2].partition("\n## ")[0]
    pattern = r"^(\d+\.) (.*)$|((?:Once|For each).*):$"
    print(f"\nTo publish truebleu {version}:")
    for number, step, heading in re.findall(pattern, steps, re.MULTILINE):
        if heading:
            print(f"\n{heading.partition(', here')[0]}:")
        else:
            text = f"{number} {step.replace('0.1.0', version)}"
            print(textwrap.fill(text, 79, subsequent_indent="   ", break_on_hyphens=False))


def read_version(folder: Path) -> str:
    """Return the version in kernel/Cargo.toml."""
    manifest = tomllib.loads((folder / "kernel" / "Cargo.toml").read_text("utf-8"))
    return str(manifest["package"]["version"])


def run_git(*arguments: str) -> str:
    """Return the output of git in this repository."""
    return subprocess.check_output(["git", *arguments], text=True, cwd=ROOT)


def format_time(seconds: float) -> str:
    """Return minutes and seconds."""
    return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


if __name__ == "__main__":
    main()
