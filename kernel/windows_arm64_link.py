#!/usr/bin/env python3
"""Links the kernel for Windows on arm64 with Zig: cargo calls it as its linker.

maturin's list of exports names the module's function after the whole module, `truebleu._kernel`.
Python looks for `_kernel`, and so the function is called: here the list says that.
"""

import subprocess
import sys
from pathlib import Path

words = sys.argv[1:]
for exports in {Path(word) for word in words if word.endswith("truebleu._kernel.def")}:
    said = exports.read_text("utf-8").replace("PyInit_truebleu._kernel", "PyInit__kernel")
    exports.write_text(said, "utf-8")
asked = ["maturin", "zig", "cc", "--", "-fno-sanitize=all", "-target", "aarch64-windows-gnu"]
sys.exit(subprocess.run([*asked, *words], check=False).returncode)
