"""The build of the package: maturin's, and before it the kernel for pages and the example texts.

pip calls these hooks (PEP 517). A page that computes carries the kernel as WebAssembly, which is
one more file of the package. Where the compiler has no standard library for that, the package is
built without it, and what is missing is said here and in the pages. `truebleu demo` has the texts
of `examples/`, which a wheel carries within the package; a checkout has them where they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from maturin import build_editable as _build_editable
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from maturin import build_wheel as _build_wheel

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

TARGET = "wasm32-unknown-unknown"
ROOT = Path(__file__).parent.parent
PLACE = ROOT / "truebleu" / "views" / "report" / "kernel.wasm"
EXAMPLES = ROOT / "truebleu" / "cli" / "examples"
COMMAND = (
    *("cargo", "build", "--quiet", "--lib", "--package", "truebleu-kernel"),
    *("--features", "page", "--target", TARGET, "--profile", "page"),
)
MISSING = (
    "truebleu is built without the kernel for pages: the compiler has no standard library for "
    f"{TARGET}. Reports will have the counts that were made when they were written, and make no "
    f"others. To have it: rustup target add {TARGET}, and build again."
)


def build_wheel(wheel: str, settings: object = None, metadata: str | None = None) -> str:
    """A wheel, with the kernel for pages and the example texts in it."""
    build_page_kernel()
    copy_examples()
    try:
        return _build_wheel(wheel, settings, metadata)
    finally:
        shutil.rmtree(EXAMPLES)


def build_editable(wheel: str, settings: object = None, metadata: str | None = None) -> str:
    """An editable wheel; the kernel for pages is beside the sources."""
    build_page_kernel()
    return _build_editable(wheel, settings, metadata)


def build_page_kernel() -> bool:
    """Puts the kernel for pages into its place; False, and words, if it cannot be built."""
    # A newer page must not get an older kernel.
    PLACE.unlink(missing_ok=True)
    asked = [os.environ.get("RUSTC", "rustc"), "--print", "target-libdir", "--target", TARGET]
    found = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=ROOT)
    if found.returncode or not Path(found.stdout.strip()).is_dir():
        print(MISSING, file=sys.stderr)
        return False
    # The kernel is for all browsers since 2021 and 2022, which have these instructions.
    flags = "-C target-feature=+simd128"
    variable = f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_RUSTFLAGS"
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    subprocess.run(COMMAND, check=True, cwd=ROOT, env={**os.environ, variable: flags})
    shutil.copyfile(Path(target) / TARGET / "page" / "truebleu_kernel.wasm", PLACE)
    return True


def copy_examples() -> None:
    """Puts the example texts into the package, for a wheel."""
    shutil.rmtree(EXAMPLES, ignore_errors=True)
    shutil.copytree(ROOT / "examples", EXAMPLES, ignore=lambda _, names: {"report.html"} & {*names})


if __name__ == "__main__":
    copy_examples()
    sys.exit(not build_page_kernel())
