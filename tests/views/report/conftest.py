"""A real browser for the tests of the report, started once; what it must never see fails a test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from opened import Example, Opened

# Debian's name first.
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


@pytest.fixture(scope="session")
def browser():
    """Chromium, driven from here. Tests skip where there is none."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium here to open the report with (Debian: apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright to drive Chromium")
    # Chromium's sandbox does not work for root, as which containers run.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        # Scroll bars take room, and people see them; Playwright would hide them.
        started = playwright.chromium.launch(
            executable_path=path, args=arguments, ignore_default_args=["--hide-scrollbars"]
        )
        yield started
        started.close()


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
