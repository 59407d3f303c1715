"""Reports in a browser that record all problems, and the report of the example data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from paths import read_example_lines

from truebleu import BLEU, CER, CHRF, MER, TER, WER, WIL, WIP
from truebleu.reports import report

if TYPE_CHECKING:
    from pathlib import Path

# All further settings whose counts the example page contains.
FURTHER_SETTINGS = [
    *(BLEU(tokenize=name) for name in ("none", "intl", "char", "zh")),
    BLEU(lowercase=True),
    BLEU(tokenize="intl", lowercase=True),
    *(BLEU(smoothing=name) for name in ("floor", "add-k", "none", "add-k-all", "epsilon")),
    BLEU(smoothing="floor", smoothing_value=0.01),
    BLEU(max_order=2),
    BLEU(max_order=6, weights=(0.3, 0.2, 0.2, 0.1, 0.1, 0.1)),
    BLEU(effective_order=True),
    CHRF(word_order=2),
    CHRF(char_order=4, word_order=1, beta=1),
    CHRF(lowercase=True, eps_smoothing=True),
    CHRF(whitespace=True),
    TER(normalized=True, case_sensitive=True),
    TER(no_punct=True, asian_support=True),
    WER(),
    MER(),
    WIL(),
    WIP("13a", lowercase=True),
    CER(),
]

# Runs before the page's scripts; the page's own policy stays active.
VIOLATION_LISTENER = """
window.violations = [];
addEventListener("securitypolicyviolation", event =>
  violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""


# Resolves after the page has handled the event, because its listener is called first.
NAVIGATE_SCRIPT = """where => new Promise(done => {
  addEventListener("hashchange", () => setTimeout(done), {once: true});
  setTimeout(done, 300);
  location.hash = where;
})"""


def format_unsupported_options(options: dict[str, object]) -> str:
    """Return the requested options that WebDriver BiDi does not support in Firefox."""
    supported = {"color_scheme": "light", "forced_colors": "none", "java_script_enabled": True}
    return ", ".join(
        f"{k}={options[k]}"
        for k, default in supported.items()
        if options.get(k, default) != default
    )


class OpenReport:
    """Report in a separate tab without network, which records all problems."""

    def __init__(
        self, browser, path: Path, fragment: str = "", script: str = "", **options
    ) -> None:
        options = {"viewport": {"width": 1360, "height": 850}} | options
        if browser.browser_type.name == "firefox" and format_unsupported_options(options):
            pytest.skip(f"Firefox's driver has no {format_unsupported_options(options)}")
        # The policy must stay active to be tested.
        self.context = browser.new_context(bypass_csp=False, **options)
        self.context.set_offline(True)
        self.context.add_init_script(VIOLATION_LISTENER + script)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.address = path.as_uri()
        self.problems: list[str] = []
        self.page.on("console", self._record_message)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", self._record_dialog)
        self.context.on("request", self._record_request)
        self.page.goto(f"{self.address}{fragment}")

    def _record_message(self, message) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"{message.type}: {message.text}")

    def _record_dialog(self, dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _record_request(self, request) -> None:
        # Blob URLs belong to the page's worker.
        if request.url.partition("#")[0] != self.address and not request.url.startswith("blob:"):
            self.problems.append(f"request: {request.url}")

    def wait_until_ready(self) -> OpenReport:
        """Wait until the page has unpacked all data."""
        self.page.locator("html[data-ready]").wait_for(state="attached")
        return self

    def navigate(self, fragment: str):
        """Open a URL fragment within the page, as a link would."""
        self.page.evaluate(NAVIGATE_SCRIPT, fragment)
        name = fragment.lstrip("#").partition("?")[0]
        self.page.locator(f"main.view.{name}").wait_for()
        return self.page

    @property
    def views(self) -> list[str]:
        """Names of the views in the navigation, as in URLs."""
        return self.page.locator("nav a").evaluate_all(
            "all => all.map(a => a.getAttribute('href').slice(1).split('?')[0])"
        )

    def assert_no_problems(self) -> None:
        """Fail if any problem was recorded."""
        violations = self.page.evaluate("() => window.violations ?? []")
        assert not violations
        assert not self.problems


class Example:
    """Example data and its report: three systems, two references, documents and labels."""

    systems = ("birch", "cedar", "aspen")

    def __init__(self, folder: Path, samples: int | None = 200, confidence: int = 200) -> None:
        self.hypotheses = {name: read_example_lines(f"de-en/{name}.en") for name in self.systems}
        streams = [read_example_lines(f"de-en/reference.{name}.en") for name in "ab"]
        self.references = list(map(list, zip(*streams, strict=True)))
        self.source = read_example_lines("de-en/source.de")
        self.documents = read_example_lines("de-en/documents.txt")
        self.labels = {"length": ["long" if len(s) > 60 else "short" for s in self.source]}
        self.metrics = [BLEU(), CHRF(), TER()]
        self.also = FURTHER_SETTINGS
        self.report = report(
            self.hypotheses,
            self.references,
            source=self.source,
            documents=self.documents,
            labels=self.labels,
            metrics=self.metrics,
            also=self.also,
            samples=samples,
            confidence=confidence,
            languages=("de", "en"),
            title="Three systems",
        )
        self.path = folder / "example.html"
        self.report.save(self.path)

    @property
    def settings(self):
        """All metrics of the page with their setting numbers."""
        return list(enumerate([*self.metrics, *self.also]))


class PythonNumbers:
    """Expected numbers of a page for a metric."""

    def __init__(self, metric, hypotheses, references) -> None:
        self.metric = metric
        self.tables = {
            name: metric.statistics(texts, references) for name, texts in hypotheses.items()
        }
        self.segments = {
            name: list(metric.segments(texts, references)) for name, texts in hypotheses.items()
        }

    def corpus(self, system, segment_numbers=None):
        rows = self.tables[system].tolist()
        selected_rows = rows if segment_numbers is None else [rows[i] for i in segment_numbers]
        return self.metric.from_statistics(
            [sum(column) for column in zip(*selected_rows, strict=True)]
        ).value

    def influence(self, a, b, i):
        """Return the decrease of the delta (b − a) without a segment."""
        rest = [j for j in range(len(self.segments[a])) if j != i]
        full_delta = self.corpus(b) - self.corpus(a)
        return full_delta - (self.corpus(b, rest) - self.corpus(a, rest))


def type_text(field, text: str) -> None:
    """Replace the text of a field with key presses, because Firefox misses changes by `fill`."""
    field.press("ControlOrMeta+a")
    field.press_sequentially(text)


def measure_box(element) -> dict[str, float]:
    """Return the bounding box of an element; try again if the page is just replacing it."""
    for _ in range(100):
        box = element.bounding_box()
        if box is not None:
            return box
        element.page.wait_for_timeout(50)
    raise AssertionError(f"{element} is not shown")


def download_file(tab, button, saves):
    """Click a button and return the name and content of the saved file."""
    if tab.context.browser.browser_type.name == "firefox":
        return take_firefox_download(tab, button, saves)
    with tab.expect_download() as download:
        button.click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return download.value.suggested_filename, file.read()


def take_firefox_download(tab, button, saves):
    """Return the file that Firefox saved, because Playwright gets no event for it."""
    button.click()
    for _ in range(400):
        tab.wait_for_timeout(50)
        saved_files = [path for path in saves.iterdir() if path.stat().st_size]
        if len(saved_files) == 1 and saved_files[0].suffix != ".part":
            text = saved_files[0].read_bytes().decode()
            saved_files[0].unlink()
            return saved_files[0].name, text
    raise AssertionError(f"nothing was saved: {list(saves.iterdir())}")
