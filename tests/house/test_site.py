"""The documentation site builds without a warning, and loads nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest
from places import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built strictly: dead links and anchors are errors."""
    if not importlib.util.find_spec("material"):
        pytest.skip("no mkdocs-material, which is in the dependency group `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_site(site):
    pages = {
        page.relative_to(ROOT / "docs").with_suffix(".html")
        for page in (ROOT / "docs").rglob("*.md")
    }
    made = {page.relative_to(site) for page in site.rglob("*.html")}
    assert pages <= made
    assert {str(page) for page in made - pages} == {"404.html", "changelog.html", "lab.html"}


def test_nothing_is_loaded_from_elsewhere(site):
    """No script, style, font or picture; links may lead away."""
    loading = re.compile(
        r"""<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=["']?(https?:|//)[^>]*>"""
    )
    for page in site.rglob("*.html"):
        if page.name != "lab.html":  # its own tests
            assert not loading.search(page.read_text("utf-8")), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", style.read_text("utf-8")), style


def test_it_can_be_searched_from_a_disk(site):
    index = (site / "search" / "search_index.js").read_text("utf-8")
    assert "reference/environment.html" in index
    assert "TRUEBLEU_SIMD" in index
