"""How much is tested every day, and how much in a thorough run (`-m ""`)."""

import inspect

import pytest
from hypothesis import given, settings

thorough = pytest.mark.thorough


def some(few, *strategies, **named):
    """Like `given`: a few examples every day, as many as the profile has in a thorough run."""

    def decorate(test):
        properties = {
            "few": settings(max_examples=few)(given(*strategies, **named)(test)),
            "all": given(*strategies, **named)(test),
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
