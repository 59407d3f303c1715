"""A report in a browser, and that of the example; what pages must never do fails a test."""

from __future__ import annotations

from pathlib import Path

import axe_core
import pytest
from browser_report import Example, Opened


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a report, or a file, and at the end sees to it that nothing went wrong with any."""
    all_of_them: list[Opened] = []

    def opened(what, where: str = "", *, wait: bool = True, **options) -> Opened:
        path = what
        if not isinstance(what, Path):
            path = tmp_path / f"report{len(all_of_them)}.html"
            what.save(path)
        one = Opened(browser, path, where, **options)
        all_of_them.append(one)
        return one.ready() if wait else one

    yield opened
    try:
        for one in all_of_them:
            one.check()
    finally:
        for one in all_of_them:
            one.context.close()


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Example:
    return Example(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core's script."""
    return axe_core.script()
