"""The package for npm: made, packed, and installed from the packed file, as users have it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from npm_user import Installed, module

from truebleu.reports import browser_kernel

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Installed:
    """The package, installed without any registry."""
    if not browser_kernel.load_kernel_blocks():
        pytest.skip("the package was built without the kernel for pages")
    for program in ("node", "npm", "npx"):
        if not shutil.which(program):
            pytest.skip(f"no {program} to make and install the package with")
    folder = tmp_path_factory.mktemp("user")
    user = Installed(folder, {})
    if user.typescript("--version").returncode:
        pytest.skip("npm cannot fetch TypeScript, which makes the package's types")
    user.packed = module("npm/build.py").package(tmp_path_factory.mktemp("npm"))
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    done = user.run(
        *("npm", "install", "--offline", "--no-audit", "--no-fund", user.packed["path"])
    )
    assert done.returncode == 0, done.stderr
    for script in HERE.glob("*.*js"):
        shutil.copyfile(script, folder / script.name)
    return user
