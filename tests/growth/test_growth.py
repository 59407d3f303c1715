"""No entry point takes more than n log n steps for a text of size n, whatever the text is.

Instructions are counted, of a text and of one twice and four times as large; `counted.py` prints
them. `cases.py` lists cases whose definition costs more; they stay below quadratic growth.
"""

from math import prod

import pytest
from cases import CASES, COMMAND_TITLES, NO_TEXT
from instruction_counts import MAX_GROWTH, count_instructions, lacking, ratios

import truebleu

# At two doublings n² has 16. Twice that, since a band around the diagonal may be twice as wide as
# necessary.
MOST_OF_SQUARE = 32

pytestmark = [pytest.mark.skipif(bool(lacking()), reason=lacking()), pytest.mark.thorough]


def test_every_public_name_has_a_growth_case_or_reads_no_text():
    for name in set(truebleu.__all__) - set(NO_TEXT):
        begins = COMMAND_TITLES.get(name, name)
        assert any(case.startswith(begins) for case in CASES), name


@pytest.fixture(scope="session")
def counts(request, tmp_path_factory):
    """Return the instruction counts of all selected cases, which are counted together."""
    selected_names = [
        item.callspec.params["name"] for item in request.session.items if is_case(item)
    ]
    counts_by_name = count_instructions(selected_names, tmp_path_factory.mktemp("growth"))
    # A table of the interpreter's own, which all cases fill, grows in one of them: that one is
    # counted again in a process without the others.
    suspicious_names = [name for name in selected_names if not within(name, counts_by_name[name])]
    return (
        counts_by_name | count_instructions(suspicious_names, tmp_path_factory.mktemp("again"))
        if suspicious_names
        else counts_by_name
    )


def within(name, instruction_counts):
    growth = ratios(instruction_counts)
    return prod(growth) <= MOST_OF_SQUARE if CASES[name].dearer else max(growth) <= MAX_GROWTH


def is_case(item):
    return getattr(item, "originalname", "") == test_work_grows_in_proportion_to_text.__name__


@pytest.mark.parametrize("name", CASES)
def test_work_grows_in_proportion_to_text(counts, name):
    instruction_counts = counts[name]
    assert within(name, instruction_counts), (
        f"{instruction_counts} instructions grow by {ratios(instruction_counts)}"
    )
