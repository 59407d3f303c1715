"""Playwright's assertions, or a skip of the module that asks for them."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="no Playwright").expect
