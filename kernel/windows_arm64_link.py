#!/usr/bin/env python3
"""Link the kernel for Windows on arm64 with Zig. Cargo calls this script as its linker.

maturin can call Zig itself, but then adds a list of exports that names the module's function
incorrectly, so Python would not find the function.
"""

import subprocess
import sys

ZIG = ("maturin", "zig", "cc", "--", "-fno-sanitize=all", "-target", "aarch64-windows-gnu")

if __name__ == "__main__":
    sys.exit(subprocess.run([*ZIG, *sys.argv[1:]], check=False).returncode)
