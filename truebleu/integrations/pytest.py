"""A plugin of pytest: the fixture `truebleu_check` fails a test whose scores are not good enough.

It is there wherever truebleu is installed:

    def test_translation(truebleu_check):
        truebleu_check(translate(SOURCES), REFERENCES, minimum=30)

Arguments are those of `truebleu.check`. Scores are properties of the test in JUnit's XML
(`pytest --junit-xml`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from truebleu.comparison.gate import Check


@pytest.fixture
def truebleu_check(record_property: Callable[[str, object], None]) -> Callable[..., Check]:
    """`truebleu.check`, which fails the test unless everything holds.

    What cannot be compared (a log that is missing, other references) is an error of the test, as
    any exception is.
    """

    def checked(hypotheses: Any, references: Any, **asked: Any) -> Check:
        # Where tests are run that never ask, nothing of truebleu is imported.
        from truebleu.comparison.gate import check

        made = check(hypotheses, references, **asked)
        for metric in made.to_dict()["metrics"]:
            record_property(metric["name"], metric["score"])
            record_property(f"{metric['name']} signature", metric["signature"])
        if not made:
            pytest.fail(str(made), pytrace=False)
        return made

    return checked
