"""Fixtures for the integration tests."""

from __future__ import annotations

import pytest
from integration_programs import ExampleText, TinyModels, read_example_lines


@pytest.fixture(scope="session")
def text() -> ExampleText:
    pairs = zip(
        read_example_lines("reference.a.en"), read_example_lines("reference.b.en"), strict=True
    )
    return ExampleText(read_example_lines("birch.en"), [list(pair) for pair in pairs])


@pytest.fixture(scope="session")
def tiny(text: ExampleText) -> TinyModels:
    return TinyModels([*text.hypotheses, *text.first_references])
