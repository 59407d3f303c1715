"""Wheels for every platform, and the source distribution, built on this machine into dist/.

    python kernel/wheels.py                              all of them
    python kernel/wheels.py manylinux-x86_64 sdist       some
    python kernel/wheels.py --out DIR --python 3.14t ... elsewhere, for free-threaded Python

Zig links for Linux, macOS and Windows on arm64, whose C libraries it has; MinGW for Windows on
x86-64; Rust's own linker for Pyodide. Two builds of one commit, in whatever folders, give the same
bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import backend

# What is published for Windows is built there, with its own linker.
ON_WINDOWS = sys.platform == "win32"
# Of each platform: what rustc calls it, and the tag that the wheel is to have.
PLATFORMS = {
    "manylinux-x86_64": ("x86_64-unknown-linux-gnu", "manylinux_2_17"),
    "manylinux-aarch64": ("aarch64-unknown-linux-gnu", "manylinux_2_17"),
    "musllinux-x86_64": ("x86_64-unknown-linux-musl", "musllinux_1_2"),
    "musllinux-aarch64": ("aarch64-unknown-linux-musl", "musllinux_1_2"),
    "macos-x86_64": ("x86_64-apple-darwin", "pypi"),
    "macos-arm64": ("aarch64-apple-darwin", "pypi"),
    "windows-x86_64": ("x86_64-pc-windows-" + ("msvc" if ON_WINDOWS else "gnu"), "pypi"),
    "windows-arm64": ("aarch64-pc-windows-" + ("msvc" if ON_WINDOWS else "gnullvm"), "pypi"),
    "pyodide": ("wasm32-unknown-emscripten", "pypi"),
}
# The linkers of those that neither maturin nor Zig alone can link.
LINKERS = {"pyodide": "pyodide_link.py"} | (
    {} if ON_WINDOWS else {"windows-arm64": "windows_arm64_link.py"}
)
PYODIDE = "2026_0"  # what a wheel for Pyodide 314 is tagged; that release is for Python 3.14
PYTHONS = {"abi3": "3.11", "3.14t": "3.14t"}  # the stable ABI is of that release; others have none


def main() -> None:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", metavar="WHAT", help=", ".join([*PLATFORMS, "sdist"]))
    parser.add_argument("--python", nargs="*", choices=PYTHONS, default=[*PYTHONS])
    parser.add_argument("--out", type=Path, default=backend.ROOT / "dist")
    given = parser.parse_args()
    wanted = given.what or [*PLATFORMS, "sdist"]
    if unknown := set(wanted) - {*PLATFORMS, "sdist"}:
        parser.error(f"{' '.join(unknown)}: there are {', '.join([*PLATFORMS, 'sdist'])}")
    given.out.mkdir(parents=True, exist_ok=True)
    given.out = given.out.resolve()
    os.chdir(backend.ROOT)
    os.environ.setdefault("SOURCE_DATE_EPOCH", date())
    if "sdist" in wanted:
        print(given.out / backend.build_sdist(str(given.out)))
        wanted = [name for name in wanted if name != "sdist"]
    if wanted and not backend.prepare():
        sys.exit(1)
    for name in wanted:
        for python in given.python:
            if name == "pyodide" and python == "3.14t":
                continue  # there is none
            print(build(name, python, given.out), flush=True)
    shutil.rmtree(backend.EXAMPLES, ignore_errors=True)


def date() -> str:
    """When the commit was made, in seconds: what the files of a wheel are dated."""
    asked = ["git", "log", "-1", "--format=%ct"]
    return subprocess.check_output(asked, text=True, cwd=backend.ROOT).strip()


def build(name: str, python: str, out: Path) -> Path:
    """Build one wheel; its path."""
    target, tag = PLATFORMS[name]
    folder = os.environ.get("CARGO_TARGET_DIR", str(backend.ROOT / "target" / "wheels"))
    asked = ["maturin", "build", "--release", "--locked", "--target", target]
    flags, variables = backend.remapped(), {}
    if name in LINKERS:
        linker = f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"
        variables[linker] = str(backend.ROOT / "kernel" / LINKERS[name])
    if name == "pyodide":
        flags += " -C relocation-model=pic -C target-feature=+simd128"
        variables["MATURIN_PYEMSCRIPTEN_PLATFORM_VERSION"] = PYODIDE
    elif not name.startswith("windows"):
        asked.append("--zig")
    asked += ["--compatibility", tag, "--interpreter", f"python{PYTHONS[python]}"]
    with tempfile.TemporaryDirectory(dir=out) as place:
        made = subprocess.run(
            [*asked, "--out", place],
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, **variables, "RUSTFLAGS": flags, "CARGO_TARGET_DIR": folder},
        )
        if made.returncode:
            sys.exit(f"{name} for Python {python}:\n{made.stderr}{made.stdout}")
        (path,) = Path(place).glob("*.whl")
        backend.without_place(path)
        return path.replace(out / path.name)


if __name__ == "__main__":
    main()
