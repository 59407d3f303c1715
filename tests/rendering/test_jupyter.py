"""Tests of HTML within JupyterLab's styles, in trusted and untrusted notebooks (`make jupyter`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from page_contrast import FIND_LOW_CONTRAST, IS_BACKGROUND_LIGHT
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


def run_code(folder, code, *words):
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=build_environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def build_environment(folder):
    """Return an environment without the user's notebook settings."""
    jupyter_folders = {
        f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("DATA", "CONFIG", "RUNTIME")
    }
    return {**os.environ, **jupyter_folders, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """Return an executed notebook, untrusted and trusted."""
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
    run_code(folder, "from nbclient.cli import main; main()", "--inplace", path.name)
    # Signatures depend on the content, so the changed copy is trusted separately.
    notebook_content = json.loads(path.read_text("utf-8"))
    notebook_content["metadata"]["mine"] = True
    (folder / "trusted.ipynb").write_text(json.dumps(notebook_content), "utf-8")
    sign = "from nbformat.sign import TrustNotebookApp; TrustNotebookApp.launch_instance()"
    run_code(folder, sign, "trusted.ipynb")
    return folder


@pytest.fixture(scope="module")
def lab(notebooks):
    """Return the URL and token of a JupyterLab server in the folder of the notebooks."""
    words = ["-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    with open(notebooks / "log.txt", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, *words],
            cwd=notebooks,
            env=build_environment(notebooks),
            stderr=log,
            stdout=log,
        )
    try:
        for _ in range(600):
            server_files = list((notebooks / "RUNTIME").glob("jpserver-*.json"))
            if server_files and (server_info := server_files[0].read_text("utf-8").strip()):
                break
            assert server.poll() is None, (notebooks / "log.txt").read_text("utf-8")
            time.sleep(0.1)
        info = json.loads(server_info)
        yield info["url"], info["token"]
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def open_notebook(lab, notebooks, browser):
    """Return a function that opens a notebook in JupyterLab with a theme and a colour scheme."""
    contexts = []

    def open_notebook(name, theme="Light", scheme="light"):
        folder = (
            notebooks / "CONFIG" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
        )
        folder.mkdir(parents=True, exist_ok=True)
        theme_settings = json.dumps({"theme": f"JupyterLab {theme}"})
        (folder / "themes.jupyterlab-settings").write_text(theme_settings, "utf-8")
        news = json.dumps({"fetchNews": "false"})
        (folder / "notification.jupyterlab-settings").write_text(news, "utf-8")
        if browser.browser_type.name == "firefox" and scheme == "dark":
            pytest.skip("Firefox's driver has no color_scheme=dark")
        # The viewport is high enough to show all outputs.
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1300, "height": 9000})
        contexts.append(context)
        tab = context.new_page()
        url, token = lab
        tab.goto(f"{url}doc/tree/{name}.ipynb?reset&token={token}")
        themed = tab.locator(f'body[data-jp-theme-name="JupyterLab {theme}"]')
        themed.wait_for(timeout=60_000, state="attached")
        # Wait for visible outputs, because JupyterLab lays them out lazily.
        tab.locator(".jp-OutputArea-output").nth(4).wait_for(timeout=60_000)
        return tab

    yield open_notebook
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("theme", "scheme"), THEMES)
def test_trusted_output_is_readable_and_follows_theme(open_notebook, theme, scheme):
    tab = open_notebook("trusted", theme, scheme)
    styled_outputs = tab.locator(".jp-OutputArea .truebleu")
    assert styled_outputs.count() == 3
    for i in range(3):
        assert styled_outputs.nth(i).evaluate(IS_BACKGROUND_LIGHT) == (theme == "Light")
        assert styled_outputs.nth(i).evaluate(FIND_LOW_CONTRAST) == []


def test_style_overrides_notebook_style(open_notebook):
    tab = open_notebook("trusted")
    styled_outputs = tab.locator(".jp-OutputArea .truebleu")
    cells = styled_outputs.locator(".words-column").evaluate_all(
        "all => [...new Set(all.map(e => getComputedStyle(e).textAlign))]"
    )
    assert cells == ["left"]
    rows = styled_outputs.locator("tr").evaluate_all(
        "all => [...new Set(all.map(e => getComputedStyle(e).backgroundColor))]"
    )
    assert rows == ["rgba(0, 0, 0, 0)"]
    # Firefox also measures folded tables, which may scroll.
    tables = styled_outputs.locator("table").evaluate_all(
        "all => all.filter(t => !t.closest('details:not([open])') &&"
        " t.scrollWidth > t.parentElement.clientWidth).length"
    )
    assert tables == 0


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_untrusted_output_is_readable_without_style(open_notebook, theme):
    tab = open_notebook("untrusted", theme)
    outputs = tab.locator(".jp-OutputArea-output")
    assert outputs.locator("style, svg, iframe").count() == 0
    for i in range(5):
        assert outputs.nth(i).evaluate(FIND_LOW_CONTRAST) == []
    comparison = outputs.nth(0)
    assert "cedar is best of 3 systems" in comparison.inner_text()
    assert comparison.locator("caption").first.inner_text() == "Systems by all metrics"
    first = comparison.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert first[:2] == ["A", "cedar"]
    assert first[2].startswith("54.0")
    assert comparison.locator("strong").first.inner_text() == "cedar"
    # The numbers replace the forest plot.
    forest = comparison.locator("table").nth(1)
    assert "[+16." in forest.locator("tbody tr", has_text="cedar").inner_text()
    assert "Trust this notebook" in outputs.nth(4).inner_text()


def test_report_works_in_trusted_notebook(open_notebook):
    frame = open_notebook("trusted").frame_locator("iframe[title='truebleu report']")
    frame.locator("html[data-ready]").wait_for(state="attached", timeout=60_000)
    frame.get_by_role("link", name="Segments", exact=True).click()
    frame.locator(".rows .row").first.click()
    frame.get_by_role("heading", name="Segment ").first.wait_for()
