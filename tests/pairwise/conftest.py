"""Candidates that several tests of pairs choose from."""

import pytest


@pytest.fixture(scope="module")
def sources(wmt22):
    """Return the outputs of all systems for each of some segments of three language pairs."""
    candidate_sets = []
    for pair in ("en-de", "zh-en", "en-cs"):
        paths = sorted((wmt22 / "system-outputs").glob(f"generaltest2022.{pair}.hyp.*"))
        columns = [path.read_text(encoding="utf-8").splitlines() for path in paths]
        candidate_sets += [list(segment) for segment in list(zip(*columns, strict=True))[::211]]
    return candidate_sets
