"""Tests of number formats with few significant digits."""

import pytest

from truebleu.rendering import number_format

ROUNDED_COUNTS = {
    2: "2",
    13: "13",
    99: "99",
    124: "120",
    125: "130",
    128: "130",
    994: "990",
    995: "1,000",
    3925: "3,900",
    87_011: "87,000",
    1_000_000: "1,000,000",
    1_000_001: "> 1 million",
    8_701_186: "> 1 million",
    10**12: "> 1 million",
}


@pytest.mark.parametrize(("segments", "text"), ROUNDED_COUNTS.items())
def test_segments_needed_have_two_digits(segments, text):
    assert number_format.format_segments_needed(segments) == text


def test_segments_needed_of_none_is_empty():
    assert number_format.format_segments_needed(None) == ""
