"""Fixtures and Hypothesis profiles that the whole suite shares."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import strategies
from browsers import PACKAGES, executable, launched
from fork_server import ForkServer
from hypothesis import HealthCheck, settings
from places import SHARED

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
# `make test` draws few cases and `make test-all` many.
settings.register_profile("few", max_examples=15, deadline=None, suppress_health_check=QUIET)
settings.register_profile("many", settings.get_profile("few"), max_examples=150)
settings.register_profile("thorough", settings.get_profile("few"), max_examples=10_000)
# The same examples each time, where a change is judged by them; new ones are sought elsewhere.
settings.register_profile("ci", settings.get_profile("many"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))


def pytest_configure() -> None:
    # A shell has what it starts in the background ignore interrupts, which some tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What takes long, and shows what something shorter shows as well: `make test-all` runs it, as it
# runs everything that needs the data beside the checkout.
LONG = (
    "growth/test_growth",
    "metrics/test_meteor.py",
    "test_product.py::test_cell[meteor",
    "test_accumulator.py::test_any_split",
    "test_engines_together.py::test_a_row_of_50_megabytes",
    "test_interrupts.py::test_ctrl_c_comes_out_of_the_kernel",
    "test_mecab.py::test_changed_bytes",
    "test_mecab.py::test_very_long_lines",
    "test_other_metrics.py::test_any_text_is_rendered_whole",
    "test_report.py::test_any_strings_are_text",
    "test_sums_truth.py::test_every_bit",
    "test_table_truth.py::test_no_bit_of_a_saved_table_can_change",
    "test_viewer.py::test_bleu_with_other_smoothing",
    "test_viewer.py::test_the_script_with_and_without",
    "test_viewer.py::test_tokens_to_show",
    "report/test_browser_accessibility",
    "report/test_browser_agreement",
    "report/test_browser_filters",
    "report/test_browser_flows",
    "report/test_browser_notes",
    "report/test_browser_pictures",
    "report/test_browser_reading",
    "report/test_lab_files",
    "test_site.py::test_axe_finds_nothing",
    "report/test_lab.py",
    "test_live.py::test_the_page_counts_anew",
    "metrics/test_nltk_meteor.py",
    "test_duckdb.py::test_contract",
    "test_live.py::test_lists_of_ngrams",
    "test_live.py::test_any_text",
    "test_family.py::test_the_kernel_stands_in",
    "test_pages.py::test_bleu_by_hand",
    "npm/test_browser.py",
    "test_npm_scores.py::test_any_text",
    "test_npm_package.py::test_memory_does_not_grow",
    "report/test_browser_hostile",
    "report/test_browser_page",
    "report/test_browser_parity",
    "report/test_browser_sizes",
    "test_differential.py::test_every_assigned_code_point",
    "test_diversity.py::test_real_text",
    "test_duckdb.py::test_a_join_spills",
    "test_duckdb.py::test_every_function_with_every_metric",
    "test_duckdb.py::test_segments_of_ten_megabytes",
    "test_duckdb.py::test_every_metric_that",
    "test_parameters.py::test_degenerate_text",
    "test_product.py::test_no_metric_is_refused",
    "test_npm_package.py::test_it_is_as_small",
    "test_npm_package.py::test_a_strict_program",
    "test_npm_scores.py::test_hard_text",
    "test_pages.py::test_which_bleu",
    "test_cache.py::test_a_process_that_is_killed",
    "test_command_line.py::test_signal_that_a_shell_ignores",
    "test_site.py::test_a_search",
    "test_equivalence.py::test_any_number_of_workers",
    "test_equivalence.py::test_files_larger",
    "test_matrix.py::test_only_the_answer_grows",
    "test_serve.py::test_memory",
    "test_ter.py::test_absurd_lines",
    "test_ter.py::test_tokens_of_every_code_point",
    "test_which.py::test_finds_each_member",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if "shared" in item.fixturenames or any(name in item.nodeid for name in LONG):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specifications and WMT22 data that lies beside a development checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"no reference data: {SHARED} does not exist")
    return SHARED


@pytest.fixture(scope="session")
def wmt22(shared: Path) -> Path:
    return shared / "data" / "wmt22"


@pytest.fixture(scope="session")
def corpus() -> tuple[list[str], list[str]]:
    """400 pairs of every length that are hard to lex; one line of valid UTF-8 each."""
    dice = random.Random(20020706)
    fragments = [
        text
        for text in strategies.SNIPPETS + list(strategies.CHARACTERS)
        if "\n" not in text and not any(mark in text for mark in strategies.SURROGATES)
    ]

    def segment(length: int) -> str:
        pool = dice.choices(fragments, k=4) + strategies.WORDS[:6]
        return "".join(dice.choice(pool) + " " * dice.randint(0, 1) for _ in range(length))

    hypotheses, references = ["", "a", "", "\ufeffBOM"], ["a", "", "", "BOM"]
    for length in [*range(64), *range(120, 136), *range(250, 264), 600] * 5:
        text = segment(length)
        words = text.split(" ")
        dice.shuffle(words)
        hypotheses.append(text)
        references.append(dice.choice([text, " ".join(words), text + segment(3), segment(length)]))
    return hypotheses[:400], references[:400]


class Result:
    """What a finished command left: its exit status and both of its outputs as text."""

    def __init__(self, done: subprocess.CompletedProcess):
        self.status = done.returncode
        self.output = (done.stdout or b"").decode()
        self.error = (done.stderr or b"").decode()

    def __repr__(self) -> str:
        return f"status {self.status}\n--- output\n{self.output}\n--- error\n{self.error}"


@pytest.fixture(scope="session")
def truebleu_command():
    """Runs `python -m truebleu ...` and returns its `Result`.

    With options of `subprocess.run` other than `input` and `cwd` it is a new process, otherwise,
    where there is `fork`, the fork of one that has imported truebleu.
    """
    server = ForkServer() if hasattr(os, "fork") else None

    def run(*arguments, **options) -> Result:
        words = [*map(str, arguments)]
        if server and options.keys() <= {"input", "cwd"}:
            return Result(
                server.run(words, options.get("input", b""), options.get("cwd", os.getcwd()))
            )
        command = [sys.executable, "-m", "truebleu", *words]
        options = {"input": b"", "stdout": subprocess.PIPE, "timeout": 120} | options
        return Result(subprocess.run(command, check=False, stderr=subprocess.PIPE, **options))

    yield run
    if server:
        server.close()


@pytest.fixture
def write(tmp_path: Path):
    """Writes lines to a file of that name, each ended by a newline, and returns its path."""

    def write(name: str, lines, encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
        return path

    return write


# ---- browsers ----


@pytest.fixture(scope="session")
def playwright():
    """What drives browsers from here. Tests skip without it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright to drive browsers")
    with sync_api.sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def saves(tmp_path_factory) -> Path:
    """Where Firefox puts what a page saves."""
    return tmp_path_factory.mktemp("saves")


@pytest.fixture(
    scope="session",
    params=["chromium", pytest.param("firefox", marks=pytest.mark.thorough)],
)
def browser(playwright, request, saves):
    """Chromium, and in thorough runs Firefox, as it is installed. Tests skip where it is not."""
    from playwright.sync_api import Error

    kind = request.param
    path = executable(kind)
    if path is None:
        pytest.skip(f"no {kind} here (Debian: apt-get install {PACKAGES[kind]})")
    started = launched(playwright, kind, path, saves)
    try:
        # Playwright may ask for what a browser that is kept for long does not know yet.
        started.new_context().close()
    except Error as error:
        told = str(error).splitlines()[0]
        started.close()
        pytest.skip(f"this Playwright cannot drive {kind} {path}: {told}")
    yield started
    started.close()
