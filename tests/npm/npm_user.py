"""A folder of a user's in which the package for npm is installed, and what can be run there."""

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
class Installed:
    """A folder of a user's, in which the package is installed."""

    folder: Path
    packed: dict[str, Any]

    @property
    def package(self) -> Path:
        """Where the package lies."""
        return self.folder / "node_modules" / "truebleu"

    def run(self, *words: object, given: str = "") -> subprocess.CompletedProcess[str]:
        """A program, run in the user's folder."""
        return subprocess.run(
            list(map(str, words)),
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            check=False,
        )

    def node(self, script: str, given: object = None) -> Any:
        """What a script prints as JSON; `given` is its input."""
        done = self.run("node", script, given=json.dumps(given))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def typescript(self, *words: object) -> subprocess.CompletedProcess[str]:
        """The type checker."""
        return self.run(*TYPESCRIPT, "tsc", *words)


(VERSION,) = re.findall(r"^TYPESCRIPT := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
TYPESCRIPT = ("npx", "--yes", "--prefer-offline", f"--package=typescript@{VERSION}")


def module(path: str) -> Any:
    """A file of the checkout that is no part of the package, as a module."""
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made
