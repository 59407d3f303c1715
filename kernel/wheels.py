"""Build the source distribution and the wheels for all platforms into dist/.

    python kernel/wheels.py                              build everything
    python kernel/wheels.py manylinux-x86_64 sdist       build only these
    python kernel/wheels.py --out DIR --python 3.14t ... build into DIR, for free-threaded Python

Zig links for Linux, for macOS, and for Windows on arm64; MinGW links for Windows on x86-64; Rust's
own linker links for Pyodide. Two builds of one commit give the same bytes, in any folders.
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

# The published Windows wheels are built on Windows, with its own linker.
ON_WINDOWS = sys.platform == "win32"
# The rustc target and the compatibility tag of each platform.
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
# The linker scripts of platforms for which maturin and Zig are not sufficient.
LINKERS = {"pyodide": "pyodide_link.py"} | (
    {} if ON_WINDOWS else {"windows-arm64": "windows_arm64_link.py"}
)
PYODIDE = "2026_0"  # the tag of wheels for Pyodide 314, which contains Python 3.14
PYTHONS = {"abi3": "3.11", "3.14t": "3.14t"}  # abi3 wheels support 3.11 and later


def main() -> None:
    """Build the distributions that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", metavar="WHAT", help=", ".join([*PLATFORMS, "sdist"]))
    parser.add_argument("--python", nargs="*", choices=PYTHONS, default=[*PYTHONS])
    parser.add_argument("--out", type=Path, default=backend.ROOT / "dist")
    options = parser.parse_args()
    names = options.what or [*PLATFORMS, "sdist"]
    if unknown := set(names) - {*PLATFORMS, "sdist"}:
        parser.error(f"{' '.join(unknown)}: unknown (expected {', '.join([*PLATFORMS, 'sdist'])})")
    has_mingw = ON_WINDOWS or shutil.which("x86_64-w64-mingw32-dlltool")
    if "windows-x86_64" in names and not has_mingw:
        parser.error(
            "windows-x86_64 needs MinGW (Debian and Ubuntu: apt-get install gcc-mingw-w64-x86-64)"
        )
    options.out.mkdir(parents=True, exist_ok=True)
    options.out = options.out.resolve()
    os.chdir(backend.ROOT)
    os.environ.setdefault("SOURCE_DATE_EPOCH", get_commit_time())
    if "sdist" in names:
        print(options.out / backend.build_sdist(str(options.out)))
        names = [name for name in names if name != "sdist"]
    if names and not backend.write_generated_files():
        sys.exit(1)
    for name in names:
        for python in options.python:
            if name == "pyodide" and python == "3.14t":
                continue  # Pyodide has no free-threaded Python
            print(build_platform_wheel(name, python, options.out), flush=True)
    shutil.rmtree(backend.EXAMPLES, ignore_errors=True)


def get_commit_time() -> str:
    """Return the time of the commit in seconds, used as the date of files in a wheel."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.check_output(command, text=True, cwd=backend.ROOT).strip()


def build_platform_wheel(name: str, python: str, out: Path) -> Path:
    """Build one wheel, and return its path."""
    target, tag = PLATFORMS[name]
    folder = os.environ.get("CARGO_TARGET_DIR", str(backend.ROOT / "target" / "wheels"))
    command = ["maturin", "build", "--release", "--locked", "--target", target]
    flags, variables = backend.get_path_flags(), {}
    if name in LINKERS:
        linker = f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"
        variables[linker] = str(backend.ROOT / "kernel" / LINKERS[name])
    if name == "pyodide":
        flags += " -C relocation-model=pic -C target-feature=+simd128"
        variables["MATURIN_PYEMSCRIPTEN_PLATFORM_VERSION"] = PYODIDE
    elif not name.startswith("windows"):
        command.append("--zig")
    command += ["--compatibility", tag, "--interpreter", f"python{PYTHONS[python]}"]
    with tempfile.TemporaryDirectory(dir=out) as build_folder:
        process = subprocess.run(
            [*command, "--out", build_folder],
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, **variables, "RUSTFLAGS": flags, "CARGO_TARGET_DIR": folder},
        )
        if process.returncode:
            sys.exit(f"{name} for Python {python}:\n{process.stderr}{process.stdout}")
        (path,) = Path(build_folder).glob("*.whl")
        backend.remove_local_path(path)
        return path.replace(out / path.name)


if __name__ == "__main__":
    main()
