"""Real browsers for the tests of the report; what they must never see fails a test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import axe_core
import pytest
from opened import Example, Opened

# Debian's names first.
BROWSERS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
PACKAGES = {"chromium": "chromium", "firefox": "firefox-esr"}


@pytest.fixture(scope="session")
def playwright():
    """What drives browsers from here. Tests skip without it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright to drive browsers")
    with sync_api.sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def saves(tmp_path_factory) -> Path:
    """Where Firefox puts what a page saves."""
    return tmp_path_factory.mktemp("saves")


@pytest.fixture(
    scope="session",
    params=["chromium", pytest.param("firefox", marks=pytest.mark.thorough)],
)
def browser(playwright, request, saves):
    """Chromium, and in thorough runs Firefox, as it is installed. Tests skip where it is not."""
    from playwright.sync_api import Error

    kind = request.param
    path = executable(kind)
    if path is None:
        pytest.skip(
            f"no {kind} here to open the report with (Debian: apt-get install {PACKAGES[kind]})"
        )
    started = launched(playwright, kind, path, saves)
    try:
        # Playwright may ask for what a browser that is kept for long does not know yet.
        started.new_context().close()
    except Error as error:
        told = str(error).splitlines()[0]
        started.close()
        pytest.skip(f"this Playwright cannot drive {kind} {path}: {told}")
    yield started
    started.close()


def executable(kind: str) -> str | None:
    """The path of a browser that is installed."""
    return next(filter(None, map(shutil.which, BROWSERS[kind])), None)


def launched(playwright, kind: str, path: str, saves: Path | None = None):
    """A browser of the system, without a window."""
    if kind == "firefox":
        # As Mozilla builds it, driven by WebDriver BiDi; not Playwright's own, which has patches.
        return playwright.firefox.launch(
            channel="moz-firefox", executable_path=path, downloads_path=saves
        )
    # Chromium's sandbox does not work for root, as which containers run.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    # Scroll bars take room, and people see them; Playwright would hide them.
    return playwright.chromium.launch(
        executable_path=path, args=arguments, ignore_default_args=["--hide-scrollbars"]
    )


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
