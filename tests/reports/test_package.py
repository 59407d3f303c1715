"""The package, built from its source distribution: with the kernel for pages, and without."""

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
from playwright_or_skip import expect, only_chromium

pytest.importorskip("maturin", reason="no maturin to build the package with")

# As a compiler that was installed without the target answers.
RUSTC = """#!/bin/sh
case "$*" in *target-libdir*wasm32*) echo /nowhere; exit;; esac
exec rustc "$@"
"""
PAGE_KERNEL = "truebleu/reports/kernel.wasm"
TARGET = "wasm32-unknown-unknown"

pytestmark = pytest.mark.thorough


def run(*words, **variables):
    """The output of a program of this environment, which must succeed."""
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    # Beside the checkout's own, and kept: what does not change is compiled once.
    target = str(ROOT / "target" / "package")
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PATH": path, "CARGO_TARGET_DIR": target, **variables},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("source")
    hook = (
        f"import os; os.chdir({str(ROOT)!r}); import backend; backend.build_sdist({str(folder)!r})"
    )
    run("-c", hook, PYTHONPATH=str(ROOT / "kernel"))
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def wheel(source, folder, **variables):
    """A wheel of the source, its names, and what was said while it was built."""
    words = ["-m", "pip", "wheel", "-v", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    # What is tested is what is in it: a kernel that is compiled fast will do.
    variables["CARGO_NET_OFFLINE"] = "true"  # the crates are in the source distribution
    said = run(*words, "-C", "build-args=--profile=dev", "-w", folder, source, **variables)
    (made,) = folder.glob("*.whl")
    return zipfile.ZipFile(made), said


def test_the_source_distribution_has_what_the_build_needs(source):
    names = ["kernel/backend.py", "kernel/Cargo.toml", "Cargo.lock", "rust-toolchain.toml"]
    names += ["LICENSE", "NOTICE", "THIRD-PARTY-LICENSES.txt"]
    for name in (*names, ".cargo/config.toml", "vendor/memchr/LICENSE-MIT"):
        assert (source / name).read_bytes(), name
    for folder, kinds in {
        "truebleu": (".py", ".pyi", ".js", ".css"),
        "kernel/src": (".rs",),
        "examples": (".md", ".txt", ".de", ".en", ".zh"),
    }.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in kinds:
                assert (source / path.relative_to(ROOT)).is_file(), path
    built = [path for path in source.rglob("*") if path.suffix in {".wasm", ".so", ".pyd"}]
    built += source.rglob("report.html")
    assert not built


def test_the_package_has_the_kernel_for_pages(source, tmp_path):
    asked = ["rustc", "--print", "target-libdir", "--target", TARGET]
    if not os.path.isdir(subprocess.check_output(asked, text=True).strip()):
        pytest.skip(f"no {TARGET} here: rustup target add {TARGET}")
    made, said = wheel(source, tmp_path)
    with made, made.open(PAGE_KERNEL) as kernel:
        assert kernel.read(4) == b"\0asm"
        # What `truebleu demo` writes.
        for path in EXAMPLES.glob("*/*"):
            packed = f"truebleu/cli/examples/{path.relative_to(EXAMPLES).as_posix()}"
            assert made.read(packed) == path.read_bytes()
    assert "truebleu is built without" not in said


def test_the_package_has_the_example_files(without):
    packed = without[0] / "truebleu" / "cli" / "examples"
    for path in EXAMPLES.glob("*/*"):
        assert (packed / path.relative_to(EXAMPLES)).read_bytes() == path.read_bytes()


def test_the_package_says_of_which_crates_it_is_and_not_where_it_was_built(source, tmp_path):
    made, _ = wheel(source, tmp_path)
    with made:
        files = {name: made.read(name) for name in made.namelist()}
    (bill,) = (text for name, text in files.items() if ".dist-info/sboms/" in name)
    (licenses,) = (
        text for name, text in files.items() if name.endswith("/THIRD-PARTY-LICENSES.txt")
    )
    crates = {f"{one['name']} {one['version']}: " for one in json.loads(bill)["components"]}
    assert crates
    assert crates <= {line[: line.find(": ") + 2] for line in licenses.decode().splitlines()}
    assert str(source).encode() not in bill
    record = next(text for name, text in files.items() if name.endswith("/RECORD")).decode()
    sum_ = base64.urlsafe_b64encode(hashlib.sha256(bill).digest()).rstrip(b"=").decode()
    assert f".cyclonedx.json,sha256={sum_},{len(bill)}\n" in record


@pytest.fixture(scope="module")
def without(source, tmp_path_factory):
    """Where a package without the kernel for pages is unpacked, and what its build said."""
    folder = tmp_path_factory.mktemp("without")
    rustc = folder / "rustc"
    rustc.write_text(RUSTC, "utf-8")
    rustc.chmod(0o755)
    made, said = wheel(source, folder, RUSTC=str(rustc))
    with made:
        assert PAGE_KERNEL not in made.namelist()
        made.extractall(folder / "package")
    return folder / "package", said


def test_a_build_without_the_target_says_how_to_have_it(without):
    _, said = without
    assert said.count(f"rustc has no target {TARGET}") == 1
    assert f"rustup target add {TARGET}" in said


def test_the_laboratory_of_such_a_package_says_how_to_have_it(without, tmp_path):
    words = "import sys; from truebleu.cli import main; sys.exit(main(['lab', '-o', 'lab.html']))"
    done = subprocess.run(
        [sys.executable, "-c", words],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(without[0]), "PYTHONSAFEPATH": "1"},
    )
    assert done.returncode == 1
    assert f"rustup target add {TARGET}" in done.stderr
    assert "Traceback" not in done.stderr


@only_chromium
def test_a_report_of_such_a_package_is_whole_and_says_that_it_is_not_live(
    without, opened, tmp_path
):
    path = tmp_path / "report.html"
    folder = EXAMPLES / "de-en"
    words = [folder / "reference.a.en", "-i", folder / "birch.en", folder / "cedar.en"]
    place = {"PYTHONPATH": str(without[0]), "PYTHONSAFEPATH": "1"}
    said = run("-m", "truebleu", "report", *words, "-o", path, **place)
    assert "Traceback" not in said
    tab = opened(path, "#why", wait=False).page
    expect(tab.locator(".failed")).to_contain_text("built without the kernel for pages")
    # The first screen stays, which was made in Python.
    expect(tab.locator("#static")).to_contain_text("B cedar is best: 47.0 BLEU")
