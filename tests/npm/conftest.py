"""Fixture of the npm package, built, packed and installed like a user's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from npm_user import InstalledPackage, load_module

from truebleu.reports import browser_kernel

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> InstalledPackage:
    """Install the packed package without a registry."""
    if not browser_kernel.load_kernel_blocks():
        pytest.skip("the package was built without the browser kernel")
    for program in ("node", "npm", "npx"):
        if not shutil.which(program):
            pytest.skip(f"{program} not found")
    folder = tmp_path_factory.mktemp("user")
    user = InstalledPackage(folder, {})
    if user.typescript("--version").returncode:
        pytest.skip("npm cannot fetch TypeScript")
    user.packed = load_module("npm/build.py").build_package(tmp_path_factory.mktemp("npm"))
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    done = user.run(
        *("npm", "install", "--offline", "--no-audit", "--no-fund", user.packed["path"])
    )
    assert done.returncode == 0, done.stderr
    for script in HERE.glob("*.*js"):
        shutil.copyfile(script, folder / script.name)
    return user
