"""Build backend of the package (PEP 517), which extends maturin's backend.

Before maturin runs, rustup installs the compiler that rust-toolchain.toml names. The kernel is also
compiled to WebAssembly, because reports contain it. If the compiler does not support WebAssembly,
the package is built without this file; the build and every report then warn about it. Wheels also
contain the licences of all crates, and the texts of `examples/` for `truebleu demo`. Local paths
are kept out of the binaries, so that all builds of one commit give the same bytes. After maturin
has run, all crates are added to a source distribution, so that it can be built offline.
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
WASM_KERNEL = ROOT / "truebleu" / "reports" / "kernel.wasm"
EXAMPLES = ROOT / "truebleu" / "cli" / "examples"
WASM_BUILD_COMMAND = (
    *("cargo", "build", "--quiet", "--lib", "--package", "truebleu-kernel"),
    *("--features", "page", "--target", TARGET, "--profile", "page"),
)
MISSING_TARGET = (
    f"warning: truebleu is built without the WebAssembly kernel: rustc has no target {TARGET}. "
    f"Reports cannot recompute scores. Run `rustup target add {TARGET}` and build again."
)


LICENSES = ROOT / "THIRD-PARTY-LICENSES.txt"
# The list of crates in a source distribution. maturin adds such a list to wheels only.
BILL_OF_MATERIALS = "truebleu.cyclonedx.json"
# The cargo configuration for the crates in a source distribution.
VENDORED_CRATES_CONFIG = """\
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "vendor"
"""


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: object = None
) -> str:
    """Return the metadata of a wheel, including its licence files."""
    prepare_compiler()
    write_licenses()
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(
    metadata_directory: str, config_settings: object = None
) -> str:
    """Return the metadata of an editable wheel."""
    prepare_compiler()
    write_licenses()
    return maturin.prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel that includes the WebAssembly kernel and the example texts."""
    write_generated_files()
    os.environ.setdefault("RUSTFLAGS", get_path_flags())
    try:
        name = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    finally:
        shutil.rmtree(EXAMPLES)
    remove_local_path(Path(wheel_directory) / name)
    return name


def build_editable(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    """Build an editable wheel, and write the WebAssembly kernel to the source tree."""
    prepare_compiler()
    write_licenses()
    build_wasm_kernel()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Build a source distribution that contains all crates."""
    prepare_compiler()
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "components": write_licenses()}
    name = maturin.build_sdist(sdist_directory, config_settings)
    add_crates(Path(sdist_directory) / name, bill)
    return name


def write_generated_files() -> bool:
    """Write the generated files of a wheel. Return False if the WebAssembly kernel is missing."""
    prepare_compiler()
    write_licenses()
    copy_examples()
    return build_wasm_kernel()


def get_path_flags() -> str:
    """Return rustc flags that keep local paths out of the binary."""
    info = subprocess.check_output([os.environ.get("RUSTC", "rustc"), "-vV"], text=True, cwd=ROOT)
    (commit,) = re.findall("^commit-hash: (.+)$", info, re.MULTILINE)
    command = [os.environ.get("RUSTC", "rustc"), "--print", "sysroot"]
    library = Path(
        subprocess.check_output(command, text=True, cwd=ROOT).strip(), "lib/rustlib/src/rust"
    )
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    crates = sorted((cargo / "registry" / "src").glob("*/"))
    replacements = {ROOT: "/truebleu", ROOT / "vendor": "/crates", library: f"/rustc/{commit}"}
    replacements |= dict.fromkeys(crates, "/crates")
    # RUSTFLAGS is split at spaces, so paths that contain a space cannot be replaced.
    return " ".join(
        f"--remap-path-prefix={path}={name}"
        for path, name in replacements.items()
        if " " not in str(path)
    )


def remove_local_path(path: Path) -> None:
    """Remove the path of this folder from the bill of materials of a wheel."""
    with zipfile.ZipFile(path) as archive:
        files = [(info, archive.read(info)) for info in archive.infolist()]
    record_lines = {}  # new RECORD lines of changed files
    with zipfile.ZipFile(path, "w") as archive:
        for info, content in files:
            new_content = content
            if ".dist-info/sboms/" in info.filename:
                new_content = content.replace(ROOT.as_uri().encode(), b"file:///truebleu")
                digest = base64.urlsafe_b64encode(hashlib.sha256(new_content).digest())
                checksum = f"sha256={digest.rstrip(b'=').decode()}"
                record_lines[info.filename] = f"{info.filename},{checksum},{len(new_content)}"
            elif info.filename.endswith(".dist-info/RECORD"):  # RECORD is the last file
                lines = content.decode().splitlines()
                lines = [record_lines.get(line.partition(",")[0], line) for line in lines]
                new_content = ("\n".join(lines) + "\n").encode()
            archive.writestr(info, new_content)


def write_licenses() -> list[dict[str, object]]:
    """Write the licences of all crates that the kernel depends on, on any platform.

    Return the crates as components of a CycloneDX bill of materials.
    """
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--features=python"]
    command += ["--manifest-path", str(ROOT / "kernel" / "Cargo.toml")]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    dependencies = {
        node["id"]: [
            other["pkg"]
            for other in node["deps"]
            if any(kind["kind"] != "dev" for kind in other["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }
    kernel = metadata["resolve"]["root"]
    used, open_ = set(), [kernel]
    while open_:
        crate = open_.pop()
        if crate not in used:
            used.add(crate)
            open_ += dependencies[crate]
    crates = sorted(
        (package["name"], package["version"], package["license"], package["manifest_path"])
        for package in metadata["packages"]
        if package["id"] in used - {kernel}
    )
    crates_by_text: dict[str, list[str]] = {}
    for name, version, license_, manifest in crates:
        found = sorted(
            path
            for path in Path(manifest).parent.iterdir()
            if re.match("(un)?licen[cs]e|copying|copyright|notice", path.name, re.IGNORECASE)
        )
        if not found:
            sys.exit(f"The crate {name} {version} ({license_}) has no licence file.")
        for path in found:
            text = path.read_text("utf-8").replace("\r\n", "\n").strip()
            crates_by_text.setdefault(text, []).append(f"{name} {version}: {path.name}")
    lines = [
        "The kernel of truebleu is built from these crates, and from the standard library of Rust",
        "(MIT OR Apache-2.0, The Rust Project Developers). The texts of their licences follow.",
        "",
        *(f"{name} {version}: {license_}" for name, version, license_, _ in crates),
    ]
    for text, names in crates_by_text.items():
        lines += ["", "=" * 80, *names, "-" * 80, "", text]
    LICENSES.write_text("\n".join(lines) + "\n", "utf-8")
    return [
        {
            "type": "library",
            "name": name,
            "version": version,
            "licenses": [{"expression": license_.replace("/", " OR ")}],
            "purl": f"pkg:cargo/{name}@{version}",
        }
        for name, version, license_, _ in crates
    ]


def add_crates(path: Path, bill_of_materials: dict[str, object]) -> None:
    """Add all crates and their list to a source distribution, and configure cargo to use them."""
    with tarfile.open(path) as archive:
        members = [(member, archive.extractfile(member)) for member in archive.getmembers()]
        files = {member.name: file.read() for member, file in members if file}
        root, time = members[0][0].name.partition("/")[0], members[0][0].mtime
    with tempfile.TemporaryDirectory() as folder:
        command = ["cargo", "vendor", "--quiet", "--locked", "--respect-source-config", folder]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        for crate in Path(folder).rglob("*"):
            if crate.is_file():
                files[f"{root}/vendor/{crate.relative_to(folder).as_posix()}"] = crate.read_bytes()
    files[f"{root}/.cargo/config.toml"] = VENDORED_CRATES_CONFIG.encode()
    files[f"{root}/{BILL_OF_MATERIALS}"] = json.dumps(bill_of_materials, indent=2).encode()
    with (
        path.open("wb") as out,
        gzip.GzipFile("", "wb", mtime=time, fileobj=out) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), time, 0o644
            archive.addfile(member, io.BytesIO(content))


def prepare_compiler() -> None:
    """Install the pinned compiler with rustup, and exit if rustc is missing or too old."""
    if (ROOT / "rust-toolchain.toml").is_file() and shutil.which("rustup"):
        # rustup before 1.28 lacks this command, and installs the compiler when `rustc` runs.
        subprocess.run(
            ["rustup", "toolchain", "install"], capture_output=True, check=False, cwd=ROOT
        )
        if subprocess.run(["rustc", "-V"], capture_output=True, check=False, cwd=ROOT).returncode:
            # Use the default compiler if the pinned one cannot be downloaded.
            command = ["rustup", "default"]
            default = subprocess.run(command, capture_output=True, check=False, text=True).stdout
            if default:
                os.environ.setdefault("RUSTUP_TOOLCHAIN", default.split()[0])
    manifest = tomllib.loads((ROOT / "kernel" / "Cargo.toml").read_text("utf-8"))
    min_version = manifest["package"]["rust-version"]
    remedy = (
        f"truebleu needs Rust {min_version} or newer. Install it with rustup (https://rustup.rs)."
    )
    rustc = os.environ.get("RUSTC", "rustc")
    try:
        process = subprocess.run(
            [rustc, "--version"], capture_output=True, check=False, text=True, cwd=ROOT
        )
    except OSError as error:
        sys.exit(f"{rustc}: {error.strerror}. {remedy}")
    version = re.match(r"rustc (\d+)\.(\d+)", process.stdout)
    if version is None:
        sys.exit(f"{rustc} --version failed: {process.stderr.strip()} {remedy}")
    if tuple(map(int, version.groups())) < tuple(map(int, min_version.split("."))):
        sys.exit(f"{rustc} is Rust {'.'.join(version.groups())}: too old. {remedy}")


def build_wasm_kernel() -> bool:
    """Build the WebAssembly kernel. Warn and return False if rustc lacks the target."""
    # A new report must not contain an old kernel.
    WASM_KERNEL.unlink(missing_ok=True)
    command = [os.environ.get("RUSTC", "rustc"), "--print", "target-libdir", "--target", TARGET]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if found.returncode or not Path(found.stdout.strip()).is_dir():
        print(MISSING_TARGET, file=sys.stderr)
        return False
    # All browsers have supported these instructions since 2021 or 2022.
    flags = f"-C target-feature=+simd128 {get_path_flags()}"
    variable = f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_RUSTFLAGS"
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    # RUSTFLAGS would override the flags for this target.
    others = {name: value for name, value in os.environ.items() if name != "RUSTFLAGS"}
    subprocess.run(WASM_BUILD_COMMAND, check=True, cwd=ROOT, env={**others, variable: flags})
    shutil.copyfile(Path(target) / TARGET / "page" / "truebleu_kernel.wasm", WASM_KERNEL)
    return True


def copy_examples() -> None:
    """Copy the example texts into the package, for a wheel."""
    shutil.rmtree(EXAMPLES, ignore_errors=True)
    shutil.copytree(ROOT / "examples", EXAMPLES, ignore=lambda _, names: {"report.html"} & {*names})


if __name__ == "__main__":
    sys.exit(not write_generated_files())
