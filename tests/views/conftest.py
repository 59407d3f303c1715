"""Real browsers for the tests of what people look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browsers import PACKAGES, executable, launched

if TYPE_CHECKING:
    from pathlib import Path


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
