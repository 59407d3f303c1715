"""Fixtures for the integration tests."""

from __future__ import annotations

import pytest
from integration_programs import ExampleText, TinyModels, read_lines


@pytest.fixture(scope="session")
def text() -> ExampleText:
    pairs = zip(read_lines("reference.a.en"), read_lines("reference.b.en"), strict=True)
    return ExampleText(read_lines("birch.en"), [list(pair) for pair in pairs])


@pytest.fixture(scope="session")
def tiny(text: ExampleText) -> TinyModels:
    return TinyModels([*text.hypotheses, *text.first_references])
