"""Accessibility checks with axe-core, and the appearances in which pages are checked."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

AXE_VERSION = "4.14.1"
ARCHIVE_SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"


def load_axe_script() -> str:
    """Return axe-core's script, which npm downloads on first use."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "truebleu-tests"
    archive_path = cache / f"axe-core-{AXE_VERSION}.tgz"
    if not archive_path.exists():
        npm = shutil.which("npm")
        if not npm:
            pytest.skip("no npm to fetch axe-core with")
        cache.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", "--silent", f"axe-core@{AXE_VERSION}"]
        result = subprocess.run(command, check=False, cwd=cache, capture_output=True, text=True)
        if result.returncode:
            pytest.skip(f"axe-core could not be fetched: {result.stderr.strip()[-200:]}")
    assert hashlib.sha256(archive_path.read_bytes()).hexdigest() == ARCHIVE_SHA256
    with tarfile.open(archive_path) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode()


def find_violations(tab):
    """Return the serious and critical violations that axe finds, with their elements."""
    result = tab.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return {
        f"{rule['id']} ({rule['impact']}): {rule['help']}": [
            f"{node['target']} {node['html'][:160]} {node['failureSummary'][:300]}"
            for node in rule["nodes"][:4]
        ]
        for rule in result["violations"]
        if rule["impact"] in {"serious", "critical"}
    }


WIDE = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
NARROW = {"viewport": {"width": 320, "height": 640}, "reduced_motion": "reduce"}
APPEARANCES = {
    "light": {"color_scheme": "light", **WIDE},
    "dark": {"color_scheme": "dark", **WIDE},
    "forced": {"forced_colors": "active", **WIDE},
    "narrow": {"color_scheme": "light", **NARROW},
    "narrow, dark": {"color_scheme": "dark", **NARROW},
}
