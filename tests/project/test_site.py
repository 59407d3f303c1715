"""The documentation site: built without a warning, complete without a network, for everyone."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import axe_core
import pytest
from browsers import executable, launched
from paths import ROOT

# Pages that the package writes; separate tests cover them.
SITE_PAGES = {"lab.html", "report.html"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, built strictly: dead links and anchors are errors."""
    if not importlib.util.find_spec("material"):
        pytest.skip("no mkdocs-material, which is in the dependency group `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    options = {"cwd": ROOT, "env": os.environ | {"NO_MKDOCS_2_WARNING": "1"}}
    done = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return folder


def test_site_has_every_page(site):
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).with_suffix(".html") for page in docs.rglob("*.md")}
    built_pages = {page.relative_to(site) for page in site.rglob("*.html")}
    assert pages <= built_pages
    assert {str(page) for page in built_pages - pages} == {"changelog.html", *SITE_PAGES}


def test_site_loads_no_remote_resource(site):
    """No script, style, font or picture; links may lead away."""
    loading = re.compile(
        r"""<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=["']?(https?:|//)[^>]*>"""
    )
    for page in site.rglob("*.html"):
        if page.name not in SITE_PAGES:
            assert not loading.search(page.read_text("utf-8")), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", style.read_text("utf-8")), style


def test_search_works_from_file_urls(site):
    index = (site / "search" / "search_index.js").read_text("utf-8")
    assert "reference/environment.html" in index
    assert "TRUEBLEU_SIMD" in index


@pytest.fixture(scope="module")
def chromium(playwright):
    """Return a browser without a window."""
    path = executable("chromium")
    if path is None:
        pytest.skip("no Chromium (Debian: apt-get install chromium)")
    browser = launched(playwright, "chromium", path)
    yield browser
    browser.close()


VIEWED = (
    *("index.html", "install.html", "tutorials/compare.html", "tutorials/report.html"),
    *("which-bleu.html", "reference/commands.html", "reference/python.html"),
    "reference/engines.html",
)


@pytest.mark.thorough
@pytest.mark.parametrize("look", axe_core.APPEARANCES)
def test_axe_reports_no_serious_violation(site, chromium, look):
    script, wrong = axe_core.load_axe_script(), {}
    context = chromium.new_context(**axe_core.APPEARANCES[look])
    page = context.new_page()
    for name in VIEWED:
        page.goto((site / name).as_uri(), wait_until="load")
        # The theme's script has put wide tables into boxes, or there is none.
        page.wait_for_function(
            "() => [...document.querySelectorAll('.md-typeset table')]"
            ".every(table => table.closest('.md-typeset__scrollwrap'))"
        )
        page.evaluate(script)
        wrong |= {
            f"{name}: {rule}": nodes for rule, nodes in axe_core.find_violations(page).items()
        }
        width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], f"{name} is wider than the window"
    context.close()
    assert not wrong


@pytest.mark.thorough
def test_search_finds_a_page(site, chromium):
    page = chromium.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.get_by_placeholder("Search").click()
    page.keyboard.type("TRUEBLEU_OFFLINE")
    page.locator(".md-search-result__link", has_text="Environment variables").first.click()
    page.wait_for_url("**/reference/environment.html*")
    page.close()
    assert not [url for url in requests if url.startswith("http")]


def test_options_do_not_break_on_a_phone(site, chromium):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto((site / "reference" / "commands.html").as_uri())
    lines = page.locator(".md-typeset code").evaluate_all(
        "all => all.filter(one => /^--[a-z-]+$/.test(one.textContent))"
        ".map(one => [one.textContent, one.getClientRects().length])"
    )
    page.close()
    assert len(lines) > 100
    assert not [option for option, pieces in lines if pieces > 1]


def test_copying_a_session_copies_only_the_input(site, chromium):
    """The theme's script marks a block while it reads its text."""
    page = chromium.new_page()
    page.goto((site / "tutorials" / "score.html").as_uri())
    copied = page.locator(".md-typeset pre > code").evaluate_all(
        "all => all.map(one => { one.setAttribute('data-md-copying', ''); return one.innerText; })"
    )
    page.close()
    assert copied[0].strip() == (
        "truebleu score examples/de-en/reference.a.en -i examples/de-en/cedar.en -f text"
    )
    assert ">>>" not in copied[-1]
    assert "import truebleu as tb" in copied[-1]
