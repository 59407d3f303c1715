"""The npm package in browsers, imported from a local server."""

from __future__ import annotations

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from closeness import is_close
from paths import read_example_lines

import truebleu as tb

pytestmark = pytest.mark.thorough

POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-inline'"
PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>truebleu</title>
<script type="module">
  import * as truebleu from "./node_modules/truebleu/index.js";
  await truebleu.init();
  window.truebleu = truebleu;
  document.documentElement.dataset.ready = "yes";
</script>
"""

METRICS = [
    ("bleu", {}),
    ("bleu", {"tokenize": "intl", "lowercase": True}),
    ("bleu", {"tokenize": "char", "smoothing": "floor", "smoothing_value": 0.125}),
    ("chrf", {}),
    ("chrf++", {"lowercase": True}),
    ("ter", {"normalized": True}),
    ("wer", {}),
    ("cer", {}),
    ("torchmetrics", {}),
    ("bleu-rc", {}),
]

SCORE_SCRIPT = """([metrics, hypotheses, references]) => metrics.map(([name, options]) => {
  const metric = truebleu.metric(name, options), score = metric.score(hypotheses, references);
  return { score: score.value, signature: score.signature,
    segments: [...metric.segments(hypotheses, references)] };
})"""


class QuietHandler(SimpleHTTPRequestHandler):
    """File server without a log."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def tab(browser, installed):
    """Open a page that imports the package; fail on errors in the page."""
    (installed.folder / "page.html").write_text(PAGE.replace("{policy}", POLICY))
    serve = functools.partial(QuietHandler, directory=installed.folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = browser.new_context()
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/page.html")
        page.locator("html[data-ready]").wait_for(state="attached", timeout=30_000)
        yield page
        assert [text for text in errors if "favicon" not in text and "404" not in text] == []
    finally:
        context.close()
        server.shutdown()
        server.server_close()


def check_browser_scores(tab, hypotheses: list[str], references: list) -> None:
    results = tab.evaluate(SCORE_SCRIPT, [METRICS, hypotheses, references])
    for (name, options), result in zip(METRICS, results, strict=True):
        metric = tb.metric(name, **options)
        score = metric.score(hypotheses, references)
        assert is_close(result["score"], score.value), (name, options)
        assert result["signature"] == str(score.signature)
        segments = list(metric.segments(hypotheses, references))
        assert is_close(result["segments"], segments), (name, options)


def test_example_scores_equal_python(tab):
    files = (read_example_lines(f"de-en/reference.{name}.en") for name in "ab")
    references = list(map(list, zip(*files, strict=True)))
    check_browser_scores(tab, read_example_lines("de-en/birch.en"), references)


def test_difficult_text_scores_equal_python(tab, corpus):
    check_browser_scores(tab, *map(list, corpus))


def test_missing_kernel_raises_error(tab):
    """Import a second copy of the package, which is not initialized."""
    message = tab.evaluate("""async () => {
      const other = await import("./node_modules/truebleu/index.js?again");
      try { await other.init("./nowhere.wasm"); return "no error"; } catch (e) { return e.message; }
    }""")
    assert "nowhere.wasm: 404" in message
    assert "expected kernel.wasm of the package truebleu" in message
