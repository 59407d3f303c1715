"""pytest plugin with the fixture `truebleu_check`, which fails tests if scores are too low.

The fixture is available wherever truebleu is installed. It accepts the arguments of
`truebleu.check`, and records scores as properties of the test in JUnit XML (`pytest --junit-xml`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from truebleu.comparison.gate import Check


@pytest.fixture
def truebleu_check(record_property: Callable[[str, object], None]) -> Callable[..., Check]:
    """Return a function like `truebleu.check` that fails the test if a condition does not hold.

    Input that cannot be compared (a missing log, different references) raises an exception.
    """

    def check_scores(hypotheses: Any, references: Any, **options: Any) -> Check:
        # Import truebleu only in test runs that use the fixture.
        from truebleu.comparison.gate import check

        result = check(hypotheses, references, check_text=False, **options)
        for metric in result.to_dict()["metrics"]:
            record_property(metric["name"], metric["score"])
            record_property(f"{metric['name']} signature", metric["signature"])
        if not result:
            pytest.fail(str(result), pytrace=False)
        return result

    return check_scores
