"""Numbers of examples in daily tests, and in thorough runs (`-m ""`)."""

import inspect

import pytest
from hypothesis import given, settings

thorough = pytest.mark.thorough


def given_examples(max_examples, *strategies, **keyword_strategies):
    """Return a decorator like `given`: few examples daily, all examples in thorough runs."""

    def decorate(test):
        properties = {
            "few": settings(max_examples=max_examples)(
                given(*strategies, **keyword_strategies)(test)
            ),
            "all": given(*strategies, **keyword_strategies)(test),
        }

        def run(amount, **fixtures):
            properties[amount](**fixtures)

        fixtures = inspect.signature(properties["all"]).parameters.values()
        amount = inspect.Parameter("amount", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*fixtures, amount])
        run.__name__, run.__doc__ = test.__name__, test.__doc__
        run.pytestmark = getattr(test, "pytestmark", [])
        amounts = ["few", pytest.param("all", marks=thorough)]
        return pytest.mark.parametrize("amount", amounts)(run)

    return decorate
