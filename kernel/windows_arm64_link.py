#!/usr/bin/env python3
"""Links the kernel for Windows on arm64 with Zig: cargo calls it as its linker.

maturin can call Zig itself, but then adds a list of exports in which the module's function has
another name than Python looks for.
"""

import subprocess
import sys

ZIG = ("maturin", "zig", "cc", "--", "-fno-sanitize=all", "-target", "aarch64-windows-gnu")

if __name__ == "__main__":
    sys.exit(subprocess.run([*ZIG, *sys.argv[1:]], check=False).returncode)
