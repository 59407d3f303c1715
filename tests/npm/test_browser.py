"""The package for npm in browsers: imported from its folder, through a server on this machine."""

from __future__ import annotations

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from closeness import is_close
from paths import EXAMPLES

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

SCORED = """([metrics, hypotheses, references]) => metrics.map(([name, options]) => {
  const metric = truebleu.metric(name, options), score = metric.score(hypotheses, references);
  return { score: score.value, signature: score.signature,
    segments: [...metric.segments(hypotheses, references)] };
})"""


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that writes no log."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def tab(browser, installed):
    """A page that has imported the package; nothing may go wrong in it."""
    (installed.folder / "page.html").write_text(PAGE.replace("{policy}", POLICY))
    serve = functools.partial(Quiet, directory=installed.folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = browser.new_context()
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/page.html")
        page.locator("html[data-ready]").wait_for(state="attached", timeout=30_000)
        yield page
        assert [text for text in wrong if "favicon" not in text and "404" not in text] == []
    finally:
        context.close()
        server.shutdown()
        server.server_close()


def lines(path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def check(tab, hypotheses: list[str], references: list) -> None:
    found = tab.evaluate(SCORED, [METRICS, hypotheses, references])
    for (name, options), own in zip(METRICS, found, strict=True):
        metric = tb.metric(name, **options)
        score = metric.score(hypotheses, references)
        assert is_close(own["score"], score.value), (name, options)
        assert own["signature"] == str(score.signature)
        segments = list(metric.segments(hypotheses, references))
        assert is_close(own["segments"], segments), (name, options)


def test_the_examples_have_pythons_numbers(tab):
    folder = EXAMPLES / "de-en"
    files = (lines(folder / f"reference.{r}.en") for r in "ab")
    check(tab, lines(folder / "birch.en"), list(map(list, zip(*files, strict=True))))


def test_hard_text_has_pythons_numbers(tab, corpus):
    check(tab, *map(list, corpus))


def test_a_kernel_that_is_not_there_is_said(tab):
    """In a frame of its own, where the package is not ready yet."""
    said = tab.evaluate("""async () => {
      const other = await import("./node_modules/truebleu/index.js?again");
      try { await other.init("./nowhere.wasm"); return "no error"; } catch (e) { return e.message; }
    }""")
    assert "nowhere.wasm: 404" in said
    assert "expected kernel.wasm of the package truebleu" in said
