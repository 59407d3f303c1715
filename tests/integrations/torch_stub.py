"""Makes PyPI's torch for Linux importable without the two gigabytes of CUDA that it links to.

`python light_torch.py` looks for the libraries that torch was linked to and that are not there,
and compiles an empty function for every name that torch wants of them, in a library of that name
beside torch's own. Nothing of CUDA is called where there is no GPU; a name that were called would
do nothing, so this is for tests of what runs on the CPU, in an environment made for them
(`make integrations`). Where torch needs nothing (macOS, Windows, arm64, CUDA installed), nothing is
done.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path


def output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def names(library: Path, which: str) -> list[tuple[str, str]]:
    """The names that a library defines or wants, each with its version or ""."""
    lines = [line.split() for line in output("nm", "-D", f"--{which}-only", library).splitlines()]
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
        linked = output("ldd", library)
        missing.update(re.findall(r"(\S+) => not found", linked))
        present.update(Path(path) for path in re.findall(r"=> (/\S+)", linked))
    missing -= {path.name for path in libraries} | {"libcuda.so.1"}
    if not missing:
        return
    defined = {name for path in present for name, _ in names(path, "defined")}
    # Of which library a version is: "required from libcublas.so.13:" stands above its versions.
    wanted: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in missing}
    for library in libraries:
        owner, owners = "", {}
        for line in (
            output("objdump", "-p", library).partition("Version References")[2].splitlines()
        ):
            if found := re.match(r"\s+required from (\S+):", line):
                owner = found[1]
            elif len(fields := line.split()) == 4:
                owners[fields[3]] = owner
        for name, version in names(library, "undefined"):
            home = owners.get(version, "") if version else min(missing)
            if home in missing and name not in defined:
                wanted[home][version].add(name)
    for library_name, versions in wanted.items():
        compiled(folder / library_name, versions)
    sys.stdout.write(f"Stand-ins for {', '.join(sorted(missing))} are in {folder}\n")


def compiled(library: Path, versions: dict[str, set[str]]) -> None:
    """A library of functions that do nothing."""
    everything = sorted(name for some in versions.values() for name in some)
    with tempfile.TemporaryDirectory() as temporary:
        source, script = Path(temporary, "stand-in.c"), Path(temporary, "versions")
        source.write_text("".join(f"void {name}(void) {{}}\n" for name in everything))
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
