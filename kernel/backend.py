"""The build of the package: maturin's, and what comes before it and after it.

pip calls these hooks (PEP 517). Before: rustup installs the compiler that rust-toolchain.toml
names, if it is not there yet. A page that computes carries the kernel as WebAssembly, which is one
more file of the package. Where the compiler has no standard library for that, the package is built
without it; the build and every report warn about it. The licences of all crates are collected for
the wheel, which also carries the texts of `examples/` for `truebleu demo`; a checkout has them
where they are. Paths of this machine are kept out of what is compiled, so two builds give the same
bytes. After: a source distribution gets the crates, so it builds offline.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

import maturin
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

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
PLACE = ROOT / "truebleu" / "reports" / "kernel.wasm"
EXAMPLES = ROOT / "truebleu" / "cli" / "examples"
COMMAND = (
    *("cargo", "build", "--quiet", "--lib", "--package", "truebleu-kernel"),
    *("--features", "page", "--target", TARGET, "--profile", "page"),
)
MISSING_TARGET = (
    f"warning: truebleu is built without the kernel for pages: rustc has no target {TARGET}. "
    f"Reports cannot recompute scores. Run `rustup target add {TARGET}` and build again."
)


LICENSES = ROOT / "THIRD-PARTY-LICENSES.txt"
# The crates that a source distribution brings, and what tells cargo of them.
VENDORED = """\
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "vendor"
"""


def prepare_metadata_for_build_wheel(folder: str, settings: object = None) -> str:
    """Return the metadata of a wheel, which names the files of licences."""
    prepare_compiler()
    write_licenses()
    return maturin.prepare_metadata_for_build_wheel(folder, settings)


def prepare_metadata_for_build_editable(folder: str, settings: object = None) -> str:
    """Return the metadata of an editable wheel."""
    prepare_compiler()
    write_licenses()
    return maturin.prepare_metadata_for_build_editable(folder, settings)


def build_wheel(wheel: str, settings: object = None, metadata: str | None = None) -> str:
    """Return a wheel, with the kernel for pages and the example texts in it."""
    prepare()
    os.environ.setdefault("RUSTFLAGS", remapped())
    try:
        name = maturin.build_wheel(wheel, settings, metadata)
    finally:
        shutil.rmtree(EXAMPLES)
    without_place(Path(wheel) / name)
    return name


def build_editable(wheel: str, settings: object = None, metadata: str | None = None) -> str:
    """Build an editable wheel; the kernel for pages goes to the sources."""
    prepare_compiler()
    write_licenses()
    build_page_kernel()
    return maturin.build_editable(wheel, settings, metadata)


def build_sdist(folder: str, settings: object = None) -> str:
    """Build a source distribution that contains all crates."""
    prepare_compiler()
    write_licenses()
    name = maturin.build_sdist(folder, settings)
    add_crates(Path(folder) / name)
    return name


def prepare() -> bool:
    """Write the files that a wheel has in addition to the sources; False if one is missing."""
    prepare_compiler()
    write_licenses()
    copy_examples()
    return build_page_kernel()


def remapped() -> str:
    """Return flags of rustc that keep local paths out of the binary."""
    said = subprocess.check_output([os.environ.get("RUSTC", "rustc"), "-vV"], text=True, cwd=ROOT)
    (commit,) = re.findall("^commit-hash: (.+)$", said, re.MULTILINE)
    asked = [os.environ.get("RUSTC", "rustc"), "--print", "sysroot"]
    library = Path(
        subprocess.check_output(asked, text=True, cwd=ROOT).strip(), "lib/rustlib/src/rust"
    )
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    crates = sorted((cargo / "registry" / "src").glob("*/"))
    places = {ROOT: "/truebleu", ROOT / "vendor": "/crates", library: f"/rustc/{commit}"}
    places |= dict.fromkeys(crates, "/crates")
    # Where a path has a space, flags in one string cannot name it: it is left as it is.
    return " ".join(
        f"--remap-path-prefix={path}={name}"
        for path, name in places.items()
        if " " not in str(path)
    )


def without_place(path: Path) -> None:
    """Take this folder out of the bill of materials of a wheel, which calls the kernel by it."""
    with zipfile.ZipFile(path) as packed:
        files = [(about, packed.read(about)) for about in packed.infolist()]
    said = {}  # the lines of RECORD for what is changed
    with zipfile.ZipFile(path, "w") as packed:
        for about, content in files:
            kept = content
            if ".dist-info/sboms/" in about.filename:
                kept = content.replace(ROOT.as_uri().encode(), b"file:///truebleu")
                sum_ = base64.urlsafe_b64encode(hashlib.sha256(kept).digest()).rstrip(b"=").decode()
                said[about.filename] = f"{about.filename},sha256={sum_},{len(kept)}"
            elif about.filename.endswith(".dist-info/RECORD"):  # the last of them
                lines = content.decode().splitlines()
                lines = [said.get(line.partition(",")[0], line) for line in lines]
                kept = ("\n".join(lines) + "\n").encode()
            packed.writestr(about, kept)


def write_licenses() -> None:
    """Collect the licences of all crates that the kernel is built from, whatever the platform."""
    asked = ["cargo", "metadata", "--locked", "--format-version=1", "--features=python"]
    asked += ["--manifest-path", str(ROOT / "kernel" / "Cargo.toml")]
    told = json.loads(subprocess.check_output(asked, cwd=ROOT))
    uses = {
        node["id"]: [
            other["pkg"]
            for other in node["deps"]
            if any(kind["kind"] != "dev" for kind in other["dep_kinds"])
        ]
        for node in told["resolve"]["nodes"]
    }
    kernel = told["resolve"]["root"]
    used, open_ = set(), [kernel]
    while open_:
        crate = open_.pop()
        if crate not in used:
            used.add(crate)
            open_ += uses[crate]
    crates = sorted(
        (package["name"], package["version"], package["license"], package["manifest_path"])
        for package in told["packages"]
        if package["id"] in used - {kernel}
    )
    holders: dict[str, list[str]] = {}  # of each text
    for name, version, license_, manifest in crates:
        found = sorted(
            path
            for path in Path(manifest).parent.iterdir()
            if re.match("(un)?licen[cs]e|copying|copyright|notice", path.name, re.IGNORECASE)
        )
        if not found:
            sys.exit(f"The crate {name} {version} ({license_}) has no file with its licence.")
        for path in found:
            text = path.read_text("utf-8").replace("\r\n", "\n").strip()
            holders.setdefault(text, []).append(f"{name} {version}: {path.name}")
    lines = [
        "The kernel of truebleu is built from these crates, and from the standard library of Rust",
        "(MIT OR Apache-2.0, The Rust Project Developers). The texts of their licences follow.",
        "",
        *(f"{name} {version}: {license_}" for name, version, license_, _ in crates),
    ]
    for text, names in holders.items():
        lines += ["", "=" * 80, *names, "-" * 80, "", text]
    LICENSES.write_text("\n".join(lines) + "\n", "utf-8")


def add_crates(path: Path) -> None:
    """Put all crates into a source distribution, and a configuration that tells cargo so."""
    with tarfile.open(path) as packed:
        members = [(member, packed.extractfile(member)) for member in packed.getmembers()]
        files = {member.name: file.read() for member, file in members if file}
        root, time = members[0][0].name.partition("/")[0], members[0][0].mtime
    with tempfile.TemporaryDirectory() as folder:
        asked = ["cargo", "vendor", "--quiet", "--locked", "--respect-source-config", folder]
        subprocess.run(asked, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        for crate in Path(folder).rglob("*"):
            if crate.is_file():
                files[f"{root}/vendor/{crate.relative_to(folder).as_posix()}"] = crate.read_bytes()
    files[f"{root}/.cargo/config.toml"] = VENDORED.encode()
    with (
        path.open("wb") as out,
        gzip.GzipFile("", "wb", mtime=time, fileobj=out) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as packed,
    ):
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), time, 0o644
            packed.addfile(member, io.BytesIO(content))


def prepare_compiler() -> None:
    """Let rustup install the pinned compiler, and stop if rustc is missing or too old."""
    if (ROOT / "rust-toolchain.toml").is_file() and shutil.which("rustup"):
        # rustup before 1.28 has no such command, and installs when `rustc` runs.
        subprocess.run(
            ["rustup", "toolchain", "install"], capture_output=True, check=False, cwd=ROOT
        )
        if subprocess.run(["rustc", "-V"], capture_output=True, check=False, cwd=ROOT).returncode:
            # Without a network, the default compiler will do.
            asked = ["rustup", "default"]
            default = subprocess.run(asked, capture_output=True, check=False, text=True).stdout
            if default:
                os.environ.setdefault("RUSTUP_TOOLCHAIN", default.split()[0])
    manifest = tomllib.loads((ROOT / "kernel" / "Cargo.toml").read_text("utf-8"))
    needed = manifest["package"]["rust-version"]
    remedy = f"truebleu needs Rust {needed} or newer. Install it with rustup (https://rustup.rs)."
    rustc = os.environ.get("RUSTC", "rustc")
    try:
        done = subprocess.run(
            [rustc, "--version"], capture_output=True, check=False, text=True, cwd=ROOT
        )
    except OSError as error:
        sys.exit(f"{rustc}: {error.strerror}. {remedy}")
    version = re.match(r"rustc (\d+)\.(\d+)", done.stdout)
    if version is None:
        sys.exit(f"{rustc} --version failed: {done.stderr.strip()} {remedy}")
    if tuple(map(int, version.groups())) < tuple(map(int, needed.split("."))):
        sys.exit(f"{rustc} is Rust {'.'.join(version.groups())}: too old. {remedy}")


def build_page_kernel() -> bool:
    """Build the kernel for pages; return False, after a warning, if rustc has no such target."""
    # A newer page must not get an older kernel.
    PLACE.unlink(missing_ok=True)
    asked = [os.environ.get("RUSTC", "rustc"), "--print", "target-libdir", "--target", TARGET]
    found = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=ROOT)
    if found.returncode or not Path(found.stdout.strip()).is_dir():
        print(MISSING_TARGET, file=sys.stderr)
        return False
    # The kernel is for all browsers since 2021 and 2022, which have these instructions.
    flags = f"-C target-feature=+simd128 {remapped()}"
    variable = f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_RUSTFLAGS"
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    # Flags for all targets would take the place of those.
    others = {name: value for name, value in os.environ.items() if name != "RUSTFLAGS"}
    subprocess.run(COMMAND, check=True, cwd=ROOT, env={**others, variable: flags})
    shutil.copyfile(Path(target) / TARGET / "page" / "truebleu_kernel.wasm", PLACE)
    return True


def copy_examples() -> None:
    """Put the example texts into the package, for a wheel."""
    shutil.rmtree(EXAMPLES, ignore_errors=True)
    shutil.copytree(ROOT / "examples", EXAMPLES, ignore=lambda _, names: {"report.html"} & {*names})


if __name__ == "__main__":
    sys.exit(not prepare())
