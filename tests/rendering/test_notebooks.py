"""Tests of the HTML that notebooks show for scores and tables."""

import re

import pytest
from page_parser import Page, parse_rows

import truebleu as tb
from truebleu.metrics.scores import MAX_SHOWN_ROWS

TEXTS = ["the cat is on the mat", "nobody was there at all", "it rains"] * 8
REFERENCES = ["the cat sat on the mat", "nobody is here at all", "it rains"] * 8


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "nist", "gleu"])
def test_score_shows_value_details_and_signature(name):
    score = tb.metric(name).score(TEXTS, REFERENCES)
    rows = parse_rows(score._repr_html_())
    assert Page(score._repr_html_()).text.startswith(f"{score.name} = {score:.2f}")
    assert [row[0] for row in rows] == [*score.details(), "signature"]
    assert rows[-1][1] == str(score.signature)


def test_scores_show_first_segments():
    scores = tb.BLEU().segments(TEXTS, REFERENCES)
    rows = parse_rows(scores._repr_html_())
    assert "24 segments" in Page(scores._repr_html_()).text
    assert [row[0] for row in rows] == [*map(str, range(MAX_SHOWN_ROWS)), "…"]
    for (_, text), value in zip(rows[:-1], scores, strict=False):
        assert float(text) == pytest.approx(value, rel=1e-3)
    short_scores = tb.BLEU().segments(TEXTS[:3], REFERENCES[:3])
    assert len(parse_rows(short_scores._repr_html_())) == 3


def test_statistics_show_columns_first_rows_and_sum():
    table = tb.CHRF(char_order=2).statistics(TEXTS, REFERENCES)
    rows = parse_rows(table._repr_html_())
    assert "24 segments × 6 columns" in Page(table._repr_html_()).text
    assert rows[0] == ["", *table.columns]
    assert rows[1:4] == [[str(i), *map(str, row)] for i, row in enumerate(table.tolist()[:3])]
    assert rows[-2] == ["…"]
    assert rows[-1] == ["sum", *map(str, table.sum().tolist()[0])]
    short_rows = parse_rows(table[:2]._repr_html_())
    assert [row[0] for row in short_rows] == ["", "0", "1", "sum"]


def test_text_is_escaped():
    score = tb.BLEU(tokenize=str.split).score(TEXTS, REFERENCES)
    assert not re.search(r"<(?!/?(?:b|table|tr|th|td)\b)", score._repr_html_())
