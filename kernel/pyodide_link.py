#!/usr/bin/env python3
"""Links the kernel for Pyodide, with the linker of Rust: cargo calls it as if it were emcc.

A module for Pyodide is a library that is loaded into the running program, which has Python's
functions and those of the C library. So nothing of Emscripten is needed: what is asked of emcc is
said to the linker, and what emcc would bring is left to the program.
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


def linker() -> list[str]:
    """Return the program of the Rust that compiles here."""
    said = subprocess.check_output([os.environ.get("RUSTC", "rustc"), "-vV"], text=True)
    (host,) = (line[6:] for line in said.splitlines() if line.startswith("host: "))
    asked = [os.environ.get("RUSTC", "rustc"), "--print", "sysroot"]
    root = Path(subprocess.check_output(asked, text=True).strip())
    return [str(root / "lib" / "rustlib" / host / "bin" / "rust-lld"), "-flavor", "wasm"]


def main() -> int:
    """Say what emcc is told to the linker; the linker's status."""
    files, exports, out = [], [], ""
    words = iter(sys.argv[1:])
    for word in words:
        if word == "-o":
            out = next(words)
        elif word == "-s":
            name, _, value = next(words).partition("=")
            if name == "EXPORTED_FUNCTIONS":
                exports = [f"--export={function[1:]}" for function in json.loads(value)]
        elif word in {"-l", "-L"}:
            next(words)  # libraries that the program has
        elif not word.startswith("-"):
            files.append(word)
    asked = [*linker(), *SETTINGS, "--export-if-defined=__wasm_call_ctors", *exports, *files]
    return subprocess.run([*asked, "-o", out], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
