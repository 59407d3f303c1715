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
from paths import SHARED

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
# `make test` draws few cases, `make test-rest` and `make test-all` many.
settings.register_profile("few", max_examples=15, deadline=None, suppress_health_check=QUIET)
settings.register_profile("many", settings.get_profile("few"), max_examples=150)
settings.register_profile("thorough", settings.get_profile("few"), max_examples=10_000)
# The same examples each time, where a change is judged by them; new ones are sought elsewhere.
settings.register_profile("ci", settings.get_profile("many"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))


def pytest_configure() -> None:
    # A shell has what it starts in the background ignore interrupts, which some tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave slow tests, and tests that need the reference data, to `make test-rest`."""
    for item in items:
        if "shared" in item.fixturenames:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of specifications and WMT22 data next to a development checkout."""
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
    """Result of a command: exit status, standard output and standard error."""

    def __init__(self, done: subprocess.CompletedProcess):
        self.status = done.returncode
        self.output = (done.stdout or b"").decode()
        self.error = (done.stderr or b"").decode()

    def __repr__(self) -> str:
        return f"status {self.status}\n--- output\n{self.output}\n--- error\n{self.error}"


@pytest.fixture(scope="session")
def truebleu_command():
    """Return a function that runs `python -m truebleu ...` and returns its `Result`.

    It takes options of `subprocess.run`. With none but `input` and `cwd`, the command runs in a
    fork of a process that has imported truebleu, on systems that can fork.
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
    """Write lines to a file of that name, each ended by a newline, and returns its path."""

    def write(name: str, lines, encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
        return path

    return write


# ---- browsers ----


@pytest.fixture(scope="session")
def playwright():
    """Start Playwright. Tests skip without it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright to drive browsers")
    with sync_api.sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def saves(tmp_path_factory) -> Path:
    """Return Firefox's download folder."""
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
        message = str(error).splitlines()[0]
        started.close()
        pytest.skip(f"this Playwright cannot drive {kind} {path}: {message}")
    yield started
    started.close()
