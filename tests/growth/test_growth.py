"""No entry point takes more than n log n steps for a text of size n, whatever the text is.

Instructions are counted, of a text and of one twice and four times as large; `counted.py` prints
them. What the definition makes dearer says so in `cases.py`, and stays below the square.
"""

from math import prod

import pytest
from cases import CASES, NAMED, NO_TEXT
from instruction_counts import MOST, counted, lacking, ratios

import truebleu

# At two doublings n² has 16. Twice that, since a band around the diagonal may be twice as wide as
# it need be.
MOST_OF_SQUARE = 32

pytestmark = [pytest.mark.skipif(bool(lacking()), reason=lacking()), pytest.mark.thorough]


def test_every_public_name_is_a_case_or_reads_no_text():
    for name in set(truebleu.__all__) - set(NO_TEXT):
        begins = NAMED.get(name, name)
        assert any(case.startswith(begins) for case in CASES), name


@pytest.fixture(scope="session")
def counts(request, tmp_path_factory):
    """The instructions of all cases that are to be tested, which are counted together."""
    wanted = [item.callspec.params["name"] for item in request.session.items if is_case(item)]
    found = counted(wanted, tmp_path_factory.mktemp("growth"))
    # A table of the interpreter's own, which all cases fill, grows in one of them: that one is
    # counted again in a process without the others.
    again = [name for name in wanted if not within(name, found[name])]
    return found | counted(again, tmp_path_factory.mktemp("again")) if again else found


def within(name, counted):
    growth = ratios(counted)
    return prod(growth) <= MOST_OF_SQUARE if CASES[name].dearer else max(growth) <= MOST


def is_case(item):
    return getattr(item, "originalname", "") == test_work_grows_as_the_text_does.__name__


@pytest.mark.parametrize("name", CASES)
def test_work_grows_as_the_text_does(counts, name):
    found = counts[name]
    assert within(name, found), f"{found} instructions grow by {ratios(found)}"
