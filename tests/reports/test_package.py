"""Packages built from the source distribution, with and without the browser kernel."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest
from paths import EXAMPLES, ROOT

pytest.importorskip("maturin", reason="no maturin to build the package with")

# A compiler that was installed without the WebAssembly target.
FAKE_RUSTC = """#!/bin/sh
case "$*" in *target-libdir*wasm32*) echo /nowhere; exit;; esac
exec rustc "$@"
"""
KERNEL_FILE = "truebleu/reports/kernel.wasm"
WASM_TARGET = "wasm32-unknown-unknown"

pytestmark = pytest.mark.thorough


def run_python(*words, **variables):
    """Run Python with arguments and return its output; fail if it fails."""
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    # A separate, persistent target folder avoids compiling unchanged crates again.
    target = str(ROOT / "target" / "package")
    result = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PATH": path, "CARGO_TARGET_DIR": target, **variables},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def source_folder(tmp_path_factory):
    """Return the folder of the unpacked source distribution."""
    folder = tmp_path_factory.mktemp("source")
    hook = (
        f"import os; os.chdir({str(ROOT)!r}); import backend; backend.build_sdist({str(folder)!r})"
    )
    run_python("-c", hook, PYTHONPATH=str(ROOT / "kernel"))
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def build_wheel(source_folder, folder, **variables):
    """Build a wheel and return it with the build output."""
    arguments = ["-m", "pip", "wheel", "-v", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    # The dev profile compiles faster and is sufficient to test the contents.
    variables["CARGO_NET_OFFLINE"] = "true"  # the crates are in the source distribution
    output = run_python(
        *arguments, "-C", "build-args=--profile=dev", "-w", folder, source_folder, **variables
    )
    (wheel_path,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel_path), output


def test_source_distribution_has_build_files(source_folder):
    names = ["kernel/backend.py", "kernel/Cargo.toml", "Cargo.lock", "rust-toolchain.toml"]
    names += ["LICENSE", "NOTICE", "THIRD-PARTY-LICENSES.txt", "truebleu.cyclonedx.json"]
    for name in (*names, ".cargo/config.toml", "vendor/memchr/LICENSE-MIT"):
        assert (source_folder / name).read_bytes(), name
    for folder, kinds in {
        "truebleu": (".py", ".pyi", ".js", ".css"),
        "kernel/src": (".rs", ".txt", ".bin"),
        "examples": (".md", ".txt", ".de", ".en", ".zh"),
    }.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in kinds:
                assert (source_folder / path.relative_to(ROOT)).is_file(), path
    built = [path for path in source_folder.rglob("*") if path.suffix in {".wasm", ".so", ".pyd"}]
    built += source_folder.rglob("report.html")
    assert not built


def test_package_has_browser_kernel(source_folder, tmp_path):
    command = ["rustc", "--print", "target-libdir", "--target", WASM_TARGET]
    if not os.path.isdir(subprocess.check_output(command, text=True).strip()):
        pytest.skip(f"no {WASM_TARGET} here: rustup target add {WASM_TARGET}")
    wheel, output = build_wheel(source_folder, tmp_path)
    with wheel, wheel.open(KERNEL_FILE) as kernel:
        assert kernel.read(4) == b"\0asm"
        # The files that `truebleu demo` writes.
        for path in EXAMPLES.glob("*/*"):
            packed = f"truebleu/cli/examples/{path.relative_to(EXAMPLES).as_posix()}"
            assert wheel.read(packed) == path.read_bytes()
    assert "truebleu is built without" not in output


def test_package_lists_crates_without_build_paths(source_folder, tmp_path):
    wheel, _ = build_wheel(source_folder, tmp_path)
    with wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    (bill,) = (text for name, text in files.items() if ".dist-info/sboms/" in name)
    (licenses,) = (
        text for name, text in files.items() if name.endswith("/THIRD-PARTY-LICENSES.txt")
    )
    crates = {f"{one['name']} {one['version']}: " for one in json.loads(bill)["components"]}
    assert crates
    assert crates <= {line[: line.find(": ") + 2] for line in licenses.decode().splitlines()}
    assert str(source_folder).encode() not in bill
    record = next(text for name, text in files.items() if name.endswith("/RECORD")).decode()
    sum_ = base64.urlsafe_b64encode(hashlib.sha256(bill).digest()).rstrip(b"=").decode()
    assert f".cyclonedx.json,sha256={sum_},{len(bill)}\n" in record


@pytest.fixture(scope="module")
def package_without_kernel(source_folder, tmp_path_factory):
    """Return the folder of a package without the browser kernel, and the build output."""
    folder = tmp_path_factory.mktemp("without")
    rustc = folder / "rustc"
    rustc.write_text(FAKE_RUSTC, "utf-8")
    rustc.chmod(0o755)
    wheel, output = build_wheel(source_folder, folder, RUSTC=str(rustc))
    with wheel:
        assert KERNEL_FILE not in wheel.namelist()
        wheel.extractall(folder / "package")
    return folder / "package", output


def test_build_without_wasm_target_explains_how_to_add_it(package_without_kernel):
    _, output = package_without_kernel
    assert output.count(f"rustc has no target {WASM_TARGET}") == 1
    assert f"rustup target add {WASM_TARGET}" in output
