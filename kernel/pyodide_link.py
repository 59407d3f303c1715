#!/usr/bin/env python3
"""Link the kernel for Pyodide with Rust's linker. Cargo calls this script in place of emcc.

An extension module for Pyodide is loaded into a running program that contains the functions of
Python and of the C library. So Emscripten is not needed: this script passes the arguments for emcc
to the linker, and leaves Emscripten's functions to the program.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SETTINGS = (
    *(
        "--experimental-pic",
        "-shared",
        "--no-export-dynamic",
        "--unresolved-symbols=import-dynamic",
    ),
    *("--gc-sections", "--strip-all", "-O2"),
)


def get_linker_command() -> list[str]:
    """Return the linker command of the installed Rust compiler."""
    version = subprocess.check_output([os.environ.get("RUSTC", "rustc"), "-vV"], text=True)
    (host,) = (line[6:] for line in version.splitlines() if line.startswith("host: "))
    command = [os.environ.get("RUSTC", "rustc"), "--print", "sysroot"]
    root = Path(subprocess.check_output(command, text=True).strip())
    return [str(root / "lib" / "rustlib" / host / "bin" / "rust-lld"), "-flavor", "wasm"]


def main() -> int:
    """Translate emcc's arguments, run the linker, and return its exit status."""
    files, exports, out = [], [], ""
    arguments = iter(sys.argv[1:])
    for argument in arguments:
        if argument == "-o":
            out = next(arguments)
        elif argument == "-s":
            name, _, value = next(arguments).partition("=")
            if name == "EXPORTED_FUNCTIONS":
                exports = [f"--export={function[1:]}" for function in json.loads(value)]
        elif argument in {"-l", "-L"}:
            next(arguments)  # the program contains these libraries
        elif not argument.startswith("-"):
            files.append(argument)
    options = [*SETTINGS, "--export-if-defined=__wasm_call_ctors", *exports]
    command = [*get_linker_command(), *options, *files, "-o", out]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
