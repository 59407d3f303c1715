"""axe-core, which finds what keeps people out of a page; how pages are looked at with it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

AXE = "4.14.1"
SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"


def script() -> str:
    """axe-core's script. It is no part of the repository: npm brings it, once."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "truebleu-tests"
    packed = cache / f"axe-core-{AXE}.tgz"
    if not packed.exists():
        npm = shutil.which("npm")
        if not npm:
            pytest.skip("no npm to fetch axe-core with")
        cache.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", "--silent", f"axe-core@{AXE}"]
        done = subprocess.run(command, check=False, cwd=cache, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"axe-core could not be fetched: {done.stderr.strip()[-200:]}")
    assert hashlib.sha256(packed.read_bytes()).hexdigest() == SHA256
    with tarfile.open(packed) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode()


def found(tab):
    """What axe calls serious or critical, with the elements that it says it of."""
    result = tab.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return {
        f"{rule['id']} ({rule['impact']}): {rule['help']}": [
            f"{node['target']} {node['html'][:160]} {node['failureSummary'][:300]}"
            for node in rule["nodes"][:4]
        ]
        for rule in result["violations"]
        if rule["impact"] in {"serious", "critical"}
    }


LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced": {"forced_colors": "active"},
    "narrow": {"color_scheme": "light", "viewport": {"width": 320, "height": 640}},
    "narrow, dark": {"color_scheme": "dark", "viewport": {"width": 320, "height": 640}},
}
