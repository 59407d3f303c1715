"""What JupyterLab makes of HTML, with its own styles around it, trusted and not: `make jupyter`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from page_contrast import FAINT, LIGHT
from paths import EXAMPLES, ROOT

pytest.importorskip("jupyterlab", reason="no JupyterLab here; `make jupyter` runs this with one")
pytest.importorskip("nbclient")

pytestmark = pytest.mark.thorough

CELLS = f"""
import truebleu as tb
def lines(name):
    with open({str(EXAMPLES / "de-en")!r} + "/" + name, encoding="utf-8") as file:
        return file.read().split("\\n")[:-1]
systems = {{name: lines(name + ".en") for name in ("birch", "cedar", "aspen")}}
references = list(zip(lines("reference.a.en"), lines("reference.b.en")))
report = tb.report(systems, references, metrics=["bleu", "chrf"], samples=50, confidence=50)
----
tb.compare(systems, references, metrics=["bleu", "ter"], samples=50)
----
report
----
tb.explain(systems["cedar"][17], references[17])
----
tb.bleu(systems["cedar"], references)
----
report.show()
"""
THEMES = [("Light", "light"), ("Light", "dark"), ("Dark", "dark"), ("Dark", "light")]


def run(folder, code, *words):
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=variables(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def variables(folder):
    """An environment that knows nothing of this user's notebooks."""
    own = {f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("DATA", "CONFIG", "RUNTIME")}
    return {**os.environ, **own, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """A notebook that a kernel has run, as somebody else's, and as one's own."""
    folder = tmp_path_factory.mktemp("notebooks")
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": source.strip(),
        }
        for number, source in enumerate(CELLS.split("----"))
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat_minor": 5}
    path = folder / "untrusted.ipynb"
    path.write_text(json.dumps(notebook | {"nbformat": 4}), "utf-8")
    run(folder, "from nbclient.cli import main; main()", "--inplace", path.name)
    # A signature is of the content: of another one, it says nothing of the first.
    told = json.loads(path.read_text("utf-8"))
    told["metadata"]["mine"] = True
    (folder / "trusted.ipynb").write_text(json.dumps(told), "utf-8")
    sign = "from nbformat.sign import TrustNotebookApp; TrustNotebookApp.launch_instance()"
    run(folder, sign, "trusted.ipynb")
    return folder


@pytest.fixture(scope="module")
def lab(notebooks):
    """The address of a JupyterLab in the folder of the notebooks, and its token."""
    words = ["-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    with open(notebooks / "log.txt", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, *words],
            cwd=notebooks,
            env=variables(notebooks),
            stderr=log,
            stdout=log,
        )
    try:
        for _ in range(600):
            found = list((notebooks / "RUNTIME").glob("jpserver-*.json"))
            if found and (told := found[0].read_text("utf-8").strip()):
                break
            assert server.poll() is None, (notebooks / "log.txt").read_text("utf-8")
            time.sleep(0.1)
        info = json.loads(told)
        yield info["url"], info["token"]
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def shown(lab, notebooks, browser):
    """Opens a notebook in JupyterLab, in one of its themes, on a system with some scheme."""
    contexts = []

    def shown(name, theme="Light", scheme="light"):
        folder = (
            notebooks / "CONFIG" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
        )
        folder.mkdir(parents=True, exist_ok=True)
        chosen = json.dumps({"theme": f"JupyterLab {theme}"})
        (folder / "themes.jupyterlab-settings").write_text(chosen, "utf-8")
        news = json.dumps({"fetchNews": "false"})
        (folder / "notification.jupyterlab-settings").write_text(news, "utf-8")
        if browser.browser_type.name == "firefox" and scheme == "dark":
            pytest.skip("Firefox's driver has no color_scheme=dark")
        # High enough that no output waits outside of what is seen.
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1300, "height": 9000})
        contexts.append(context)
        tab = context.new_page()
        url, token = lab
        tab.goto(f"{url}doc/tree/{name}.ipynb?reset&token={token}")
        themed = tab.locator(f'body[data-jp-theme-name="JupyterLab {theme}"]')
        themed.wait_for(timeout=60_000, state="attached")
        # Seen, and not only there: JupyterLab lays out what it has when it comes to it.
        tab.locator(".jp-OutputArea-output").nth(4).wait_for(timeout=60_000)
        return tab

    yield shown
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("theme", "scheme"), THEMES)
def test_what_is_trusted_follows_the_theme_and_can_be_read(shown, theme, scheme):
    tab = shown("trusted", theme, scheme)
    own = tab.locator(".jp-OutputArea .truebleu")
    assert own.count() == 3
    for i in range(3):
        assert own.nth(i).evaluate(LIGHT) == (theme == "Light")
        assert own.nth(i).evaluate(FAINT) == []


def test_the_style_outweighs_that_of_the_notebook(shown):
    tab = shown("trusted")
    own = tab.locator(".jp-OutputArea .truebleu")
    cells = own.locator(".words-column").evaluate_all(
        "all => [...new Set(all.map(e => getComputedStyle(e).textAlign))]"
    )
    assert cells == ["left"]
    rows = own.locator("tr").evaluate_all(
        "all => [...new Set(all.map(e => getComputedStyle(e).backgroundColor))]"
    )
    assert rows == ["rgba(0, 0, 0, 0)"]
    # Firefox also measures what is behind a summary; there a table may scroll.
    tables = own.locator("table").evaluate_all(
        "all => all.filter(t => !t.closest('details:not([open])') &&"
        " t.scrollWidth > t.parentElement.clientWidth).length"
    )
    assert tables == 0


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_what_is_not_trusted_reads_well_without_style(shown, theme):
    tab = shown("untrusted", theme)
    outputs = tab.locator(".jp-OutputArea-output")
    assert outputs.locator("style, svg, iframe").count() == 0
    for i in range(5):
        assert outputs.nth(i).evaluate(FAINT) == []
    comparison = outputs.nth(0)
    assert "cedar is best of 3 systems" in comparison.inner_text()
    assert comparison.locator("caption").first.inner_text() == "Systems by all metrics"
    first = comparison.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert first[:2] == ["B", "cedar"]
    assert first[2].startswith("54.0")
    assert comparison.locator("strong").first.inner_text() == "cedar"
    # Where the forest plot was, its numbers are.
    forest = comparison.locator("table").nth(1)
    assert "[+16." in forest.locator("tbody tr", has_text="cedar").inner_text()
    assert "Trust this notebook" in outputs.nth(4).inner_text()


def test_a_whole_report_works_in_a_notebook_that_is_trusted(shown):
    frame = shown("trusted").frame_locator("iframe[title='truebleu report']")
    frame.locator("html[data-ready]").wait_for(state="attached", timeout=60_000)
    frame.get_by_role("link", name="Segments", exact=True).click()
    frame.locator(".rows .row").first.click()
    frame.get_by_role("heading", name="Segment ").first.wait_for()
