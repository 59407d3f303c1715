"""Stored results of other re-segmentation programs."""

import json

import pytest


@pytest.fixture
def golden_cases(shared):
    """Return the cases of a file by its name without extension."""

    def read(name):
        path = shared / "reference" / "resegmentation" / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return read
