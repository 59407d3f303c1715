"""Make PyPI's torch for Linux importable without two gigabytes of CUDA libraries.

`python torch_stub.py` finds the libraries that torch is linked to and that are missing. For each,
it compiles a library with empty functions for all symbols that torch needs, in torch's folder.
Without a GPU torch does not call CUDA; a call of an empty function would have no effect. Use it
only for tests on the CPU, in a separate environment (`make integrations`). If no library is missing
(macOS, Windows, arm64, CUDA installed), it does nothing.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path


def run_command(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def list_symbols(library: Path, which: str) -> list[tuple[str, str]]:
    """Return the symbols that a library defines or needs, each with its version or ""."""
    lines = [
        line.split() for line in run_command("nm", "-D", f"--{which}-only", library).splitlines()
    ]
    split = [line[-1].partition("@") for line in lines if line[-2] != "w"]
    return [(name, version.lstrip("@")) for name, _, version in split]


def main() -> None:
    torch = importlib.util.find_spec("torch")
    if sys.platform != "linux" or torch is None or torch.origin is None:
        return
    folder = Path(torch.origin).parent / "lib"
    libraries = sorted(path for path in folder.glob("lib*.so*") if "linalg" not in path.name)
    missing: set[str] = set()
    present: set[Path] = set(libraries)
    for library in libraries:
        linked = run_command("ldd", library)
        missing.update(re.findall(r"(\S+) => not found", linked))
        present.update(Path(path) for path in re.findall(r"=> (/\S+)", linked))
    missing -= {path.name for path in libraries} | {"libcuda.so.1"}
    if not missing:
        return
    defined = {name for path in present for name, _ in list_symbols(path, "defined")}
    # A line "required from libcublas.so.13:" precedes the versions of a library.
    missing_symbols: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in missing}
    for library in libraries:
        owner, owners = "", {}
        for line in (
            run_command("objdump", "-p", library).partition("Version References")[2].splitlines()
        ):
            if match := re.match(r"\s+required from (\S+):", line):
                owner = match[1]
            elif len(fields := line.split()) == 4:
                owners[fields[3]] = owner
        for name, version in list_symbols(library, "undefined"):
            home = owners.get(version, "") if version else min(missing)
            if home in missing and name not in defined:
                missing_symbols[home][version].add(name)
    for library_name, versions in missing_symbols.items():
        compile_library(folder / library_name, versions)
    sys.stdout.write(f"Stand-ins for {', '.join(sorted(missing))} are in {folder}\n")


def compile_library(library: Path, versions: dict[str, set[str]]) -> None:
    """Compile a library of functions that do nothing."""
    all_names = sorted(name for names in versions.values() for name in names)
    with tempfile.TemporaryDirectory() as temporary:
        source, script = Path(temporary, "stand-in.c"), Path(temporary, "versions")
        source.write_text("".join(f"void {name}(void) {{}}\n" for name in all_names))
        script.write_text(
            "".join(
                f"{version} {{ global: {'; '.join(sorted(some))}; }};\n"
                for version, some in versions.items()
                if version
            )
        )
        options = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
        build = ["-shared", "-fPIC", "-fno-builtin", "-w", f"-Wl,-soname,{library.name}"]
        subprocess.run(["cc", *build, *options, "-o", library, source], check=True)


if __name__ == "__main__":
    main()
