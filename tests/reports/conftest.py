"""Fixtures that open reports in a browser and fail if a page causes a problem."""

from __future__ import annotations

from pathlib import Path

import axe_core
import pytest
from browser_report import Example, OpenReport


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
def axe() -> str:
    """Return axe-core's script."""
    return axe_core.load_axe_script()
