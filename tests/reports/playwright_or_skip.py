"""Playwright's assertions (modules are skipped without it), and a mark for Chromium tests."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="no Playwright").expect
# Allow for slow, busy machines.
expect.set_options(timeout=30_000)

# Firefox with WebDriver BiDi, as in Debian, cannot emulate media features.
only_chromium = pytest.mark.parametrize("browser", ["chromium"], indirect=True)
