#!/usr/bin/env python3
"""Links the kernel for Windows on arm64 with Zig: cargo calls it as its linker.

maturin adds a list of exports that calls the module by its full name, which it has not; rustc's own
list has the right name.
"""

import subprocess
import sys

words = [word for word in sys.argv[1:] if not word.endswith("truebleu._kernel.def")]
asked = ["maturin", "zig", "cc", "--", "-fno-sanitize=all", "-target", "aarch64-windows-gnu"]
sys.exit(subprocess.run([*asked, *words], check=False).returncode)
