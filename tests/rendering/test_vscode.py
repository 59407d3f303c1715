"""Tests of HTML within the styles, colours and fonts of VS Code's notebooks."""

from __future__ import annotations

import pytest
from page_contrast import FIND_LOW_CONTRAST, IS_BACKGROUND_LIGHT

import truebleu as tb

TEXTS = ["the cat is on the mat", "nobody was there at all", "it rains"] * 8
REFERENCES = ["the cat sat on the mat", "nobody is here at all", "it rains"] * 8

# Colours of VS Code's default themes in web views.
THEMES = {
    "vscode-light": ("#3b3b3b", "#ffffff"),
    "vscode-dark": ("#cccccc", "#1f1f1f"),
    "vscode-high-contrast": ("#ffffff", "#000000"),
}
# VS Code's styles for outputs: tables are wide, striped and aligned, without borders.
HOST = """<!doctype html><html>
<style>
:root {{ --vscode-foreground: {ink}; --vscode-editor-background: {paper}; }}
body {{ margin: 0; padding: 0 20px; color: var(--vscode-foreground); font: 13px system-ui;
  background: var(--vscode-editor-background); }}
code {{ font-size: 1em; line-height: 1.357em; }}
table {{ width: 100%; }}
table, thead, tr, th, td, tbody {{ border: none; border-spacing: 0; border-collapse: collapse; }}
table, th, tr {{ vertical-align: middle; text-align: right; }}
thead {{ font-weight: bold; background-color: rgba(130, 130, 130, .16); }}
th, td {{ padding: 4px 8px; }}
tr:nth-child(even) {{ background-color: rgba(130, 130, 130, .08); }}
tbody th {{ font-weight: normal; }}
</style>
<body class="{theme}"><div class="output_container">{output}</div></body></html>"""

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def outputs():
    systems = {"one": TEXTS, "two": REFERENCES[::-1]}
    return {
        "comparison": tb.compare(systems, REFERENCES, samples=50, metrics=["bleu", "chrf"]),
        "report": tb.report(systems, REFERENCES, samples=50, confidence=50),
        "explanation": tb.explain(TEXTS[0], REFERENCES[0]),
        "score": tb.bleu(TEXTS, REFERENCES),
    }


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", ["comparison", "report", "explanation", "score"])
def test_output_is_readable_and_follows_theme(browser, outputs, kind, theme):
    ink, paper = THEMES[theme]
    output = outputs[kind]._repr_html_()
    # The system's colour scheme stays the browser's default in all themes.
    tab = browser.new_page(viewport={"width": 900, "height": 900})
    tab.set_content(HOST.format(ink=ink, paper=paper, theme=theme, output=output))
    assert tab.evaluate(f"({FIND_LOW_CONTRAST})(document.body)") == []
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    if kind != "score":
        styled_output = tab.locator(".truebleu")
        assert styled_output.evaluate(IS_BACKGROUND_LIGHT) == (theme == "vscode-light")
        assert styled_output.locator("tr").evaluate_all(
            "all => all.every(e => getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)')"
        )
        names = styled_output.locator(".words-column")
        assert names.count()
        assert set(names.evaluate_all("all => all.map(e => getComputedStyle(e).textAlign)")) == {
            "left"
        }
    tab.close()
