"""Fixtures that open reports in a browser and fail if a page causes a problem."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import axe_core
import pytest
from browser_report import Example, OpenReport

from truebleu.reports import browser_kernel, html_page
from truebleu.reports.lab import create_playground


@pytest.fixture
def open_report(browser, tmp_path):
    """Return a function that opens a report or file; check all opened pages at the end."""
    open_reports: list[OpenReport] = []

    def open_report(source, fragment: str = "", *, wait: bool = True, **options) -> OpenReport:
        path = source
        if not isinstance(source, Path):
            path = tmp_path / f"report{len(open_reports)}.html"
            source.save(path)
        report_tab = OpenReport(browser, path, fragment, **options)
        open_reports.append(report_tab)
        return report_tab.wait_until_ready() if wait else report_tab

    yield open_report
    try:
        for report_tab in open_reports:
            report_tab.assert_no_problems()
    finally:
        for report_tab in open_reports:
            report_tab.context.close()


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Example:
    return Example(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="session")
def lab_path(tmp_path_factory) -> Path:
    if not browser_kernel.load_kernel_blocks():
        pytest.skip("built without the browser kernel")
    path = tmp_path_factory.mktemp("lab") / "lab.html"
    create_playground(path)
    return path


@pytest.fixture(scope="session")
def viewer_modules(tmp_path_factory) -> Path:
    """Return a folder with the viewer's modules, in which Node runs them as in pages."""
    folder = tmp_path_factory.mktemp("viewer")
    # package.json makes Node load the files as modules.
    (folder / "package.json").write_text('{"type": "module"}')
    for module in (html_page.PACKAGE_FOLDER / "viewer").glob("*.js"):
        source = html_page.strip_comments(module.read_text("utf-8"))
        (folder / module.name).write_text(source, "utf-8")
    return folder


@pytest.fixture(scope="session")
def run_modules(viewer_modules):
    """Return a function that runs a script of this folder on cases for the viewer's functions."""
    node = shutil.which("node")
    if not node:
        pytest.skip("no Node here to run the viewer's functions")
    if not browser_kernel.load_kernel_blocks():
        pytest.skip("built without the browser kernel")

    def run_modules(script: str, cases: dict) -> dict:
        path = Path(__file__).with_name(script)
        done = subprocess.run(
            [node, path, viewer_modules, browser_kernel.KERNEL_PATH],
            input=json.dumps(cases),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run_modules


@pytest.fixture(scope="session")
def axe() -> str:
    """Return axe-core's script."""
    return axe_core.load_axe_script()
