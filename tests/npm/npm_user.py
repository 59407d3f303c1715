"""A user's folder with the installed npm package, and commands in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from paths import ROOT


@dataclass
class InstalledPackage:
    """A user's folder in which the package is installed."""

    folder: Path
    packed: dict[str, Any]

    @property
    def package_path(self) -> Path:
        """Path of the installed package."""
        return self.folder / "node_modules" / "truebleu"

    def run(self, *words: object, input_text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program in the user's folder."""
        return subprocess.run(
            list(map(str, words)),
            input=input_text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            check=False,
        )

    def node(self, script: str, input_value: object = None) -> Any:
        """Return the JSON output of a script; `given` is its input."""
        completed = self.run("node", script, input_text=json.dumps(input_value))
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout)

    def typescript(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run the TypeScript compiler."""
        return self.run(*TYPESCRIPT, "tsc", *words)


(VERSION,) = re.findall(r"^TYPESCRIPT := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
TYPESCRIPT = ("npx", "--yes", "--prefer-offline", f"--package=typescript@{VERSION}")


def load_module(path: str) -> Any:
    """Load a Python file of the repository as a module."""
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded
