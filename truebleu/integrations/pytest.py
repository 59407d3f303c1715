"""pytest plugin: the fixture `truebleu_check` fails a test whose scores do not meet conditions.

The fixture is available wherever truebleu is installed:

    def test_translation(truebleu_check):
        truebleu_check(translate(SOURCES), REFERENCES, minimum=30)

The arguments are the arguments of `truebleu.check`. Scores are recorded as properties of the test
in JUnit XML (`pytest --junit-xml`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from truebleu.comparison.gate import Check


@pytest.fixture
def truebleu_check(record_property: Callable[[str, object], None]) -> Callable[..., Check]:
    """`truebleu.check`, which fails the test if a condition does not hold.

    Input that cannot be compared (a missing log, other references) is an error of the test, as any
    exception is.
    """

    def check_scores(hypotheses: Any, references: Any, **options: Any) -> Check:
        # Test runs that do not use the fixture do not import truebleu.
        from truebleu.comparison.gate import check

        result = check(hypotheses, references, **options)
        for metric in result.to_dict()["metrics"]:
            record_property(metric["name"], metric["score"])
            record_property(f"{metric['name']} signature", metric["signature"])
        if not result:
            pytest.fail(str(result), pytrace=False)
        return result

    return check_scores
