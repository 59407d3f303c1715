"""The browsers that are installed, started without a window."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Debian's names first.
BROWSERS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
PACKAGES = {"chromium": "chromium", "firefox": "firefox-esr"}


def executable(kind: str) -> str | None:
    """Return the path of a browser that is installed."""
    return next(filter(None, map(shutil.which, BROWSERS[kind])), None)


def launched(playwright, kind: str, path: str, saves: Path | None = None):
    """Return a browser of the system, without a window."""
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
