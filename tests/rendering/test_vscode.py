"""What VS Code's notebooks make of HTML: their output's styles, colours and fonts around it."""

from __future__ import annotations

import pytest
from page_contrast import FAINT, LIGHT

import truebleu as tb

TEXTS = ["the cat is on the mat", "nobody was there at all", "it rains"] * 8
OTHERS = ["the cat sat on the mat", "nobody is here at all", "it rains"] * 8

# The colours of its default themes, as its web views have them.
THEMES = {
    "vscode-light": ("#3b3b3b", "#ffffff"),
    "vscode-dark": ("#cccccc", "#1f1f1f"),
    "vscode-high-contrast": ("#ffffff", "#000000"),
}
# What it says of every output: tables are wide, striped and aligned by it, borders are taken away.
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
    systems = {"one": TEXTS, "two": OTHERS[::-1]}
    return {
        "comparison": tb.compare(systems, OTHERS, samples=50, metrics=["bleu", "chrf"]),
        "report": tb.report(systems, OTHERS, samples=50, confidence=50),
        "explanation": tb.explain(TEXTS[0], OTHERS[0]),
        "score": tb.bleu(TEXTS, OTHERS),
    }


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", ["comparison", "report", "explanation", "score"])
def test_an_output_can_be_read_and_follows_the_theme(browser, outputs, kind, theme):
    ink, paper = THEMES[theme]
    output = outputs[kind]._repr_html_()
    # The system's scheme is the browser's usual one, whatever the theme is.
    tab = browser.new_page(viewport={"width": 900, "height": 900})
    tab.set_content(HOST.format(ink=ink, paper=paper, theme=theme, output=output))
    assert tab.evaluate(f"({FAINT})(document.body)") == []
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    if kind != "score":
        own = tab.locator(".truebleu")
        assert own.evaluate(LIGHT) == (theme == "vscode-light")
        assert own.locator("tr").evaluate_all(
            "all => all.every(e => getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)')"
        )
        names = own.locator(".words-column")
        assert names.count()
        assert set(names.evaluate_all("all => all.map(e => getComputedStyle(e).textAlign)")) == {
            "left"
        }
    tab.close()
