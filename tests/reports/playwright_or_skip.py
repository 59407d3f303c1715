"""Playwright's assertions, or a skip of the module; the mark of what one browser can be asked."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="no Playwright").expect
# A busy machine is slow, and no worse.
expect.set_options(timeout=30_000)

# WebDriver BiDi has no media to emulate in the Firefox that Debian keeps.
only_chromium = pytest.mark.parametrize("browser", ["chromium"], indirect=True)
