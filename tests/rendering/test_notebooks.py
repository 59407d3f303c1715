"""Tests of the HTML that notebooks show for scores and tables."""

import re
from html.parser import HTMLParser

import pytest

import truebleu as tb
from truebleu.metrics.scores import MAX_SHOWN_ROWS

TEXTS = ["the cat is on the mat", "nobody was there at all", "it rains"] * 8
REFERENCES = ["the cat sat on the mat", "nobody is here at all", "it rains"] * 8


class Table(HTMLParser):
    """Parser that collects the rows of a table, and checks that all tags are closed."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(markup)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "nist", "gleu"])
def test_score_shows_value_details_and_signature(name):
    score = tb.metric(name).score(TEXTS, REFERENCES)
    table = Table(score._repr_html_())
    assert table.text.startswith(f"{score.name} = {score:.2f}")
    assert [row[0] for row in table.rows] == [*score.details(), "signature"]
    assert table.rows[-1][1] == str(score.signature)


def test_scores_show_first_segments():
    scores = tb.BLEU().segments(TEXTS, REFERENCES)
    table = Table(scores._repr_html_())
    assert "24 segments" in table.text
    assert [row[0] for row in table.rows] == [*map(str, range(MAX_SHOWN_ROWS)), "…"]
    for (_, text), value in zip(table.rows[:-1], scores, strict=False):
        assert float(text) == pytest.approx(value, rel=1e-3)
    short_scores = tb.BLEU().segments(TEXTS[:3], REFERENCES[:3])
    assert len(Table(short_scores._repr_html_()).rows) == 3


def test_statistics_show_columns_first_rows_and_sum():
    table = tb.CHRF(char_order=2).statistics(TEXTS, REFERENCES)
    html_table = Table(table._repr_html_())
    assert "24 segments × 6 columns" in html_table.text
    assert html_table.rows[0] == ["", *table.columns]
    assert html_table.rows[1:4] == [
        [str(i), *map(str, row)] for i, row in enumerate(table.tolist()[:3])
    ]
    assert html_table.rows[-2] == ["…"]
    assert html_table.rows[-1] == ["sum", *map(str, table.sum().tolist()[0])]
    short_table = Table(table[:2]._repr_html_())
    assert [row[0] for row in short_table.rows] == ["", "0", "1", "sum"]


def test_text_is_escaped():
    score = tb.BLEU(tokenize=str.split).score(TEXTS, REFERENCES)
    assert not re.search(r"<(?!/?(?:b|table|tr|th|td)\b)", score._repr_html_())
