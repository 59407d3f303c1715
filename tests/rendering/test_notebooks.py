"""What a notebook shows of scores and tables: whole HTML of everything, or of the first rows."""

import re
from html.parser import HTMLParser

import pytest

import truebleu as tb
from truebleu.metrics.statistics import MAX_SHOWN_ROWS

TEXTS = ["the cat is on the mat", "nobody was there at all", "it rains"] * 8
OTHERS = ["the cat sat on the mat", "nobody is here at all", "it rains"] * 8


class Table(HTMLParser):
    """The rows of a table, cell by cell; every tag is closed in its turn."""

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
def test_a_score_shows_its_number_its_parts_and_its_signature(name):
    score = tb.metric(name).score(TEXTS, OTHERS)
    shown = Table(score._repr_html_())
    assert shown.text.startswith(f"{score.name} = {score:.2f}")
    assert [row[0] for row in shown.rows] == [*score.details(), "signature"]
    assert shown.rows[-1][1] == str(score.signature)


def test_scores_show_the_first_segments():
    scores = tb.BLEU().segments(TEXTS, OTHERS)
    shown = Table(scores._repr_html_())
    assert "24 segments" in shown.text
    assert [row[0] for row in shown.rows] == [*map(str, range(MAX_SHOWN_ROWS)), "…"]
    for (_, text), value in zip(shown.rows[:-1], scores, strict=False):
        assert float(text) == pytest.approx(value, rel=1e-3)
    few = tb.BLEU().segments(TEXTS[:3], OTHERS[:3])
    assert len(Table(few._repr_html_()).rows) == 3


def test_statistics_show_their_columns_the_first_rows_and_the_sum():
    table = tb.CHRF(char_order=2).statistics(TEXTS, OTHERS)
    shown = Table(table._repr_html_())
    assert "24 segments × 6 columns" in shown.text
    assert shown.rows[0] == ["", *table.columns]
    assert shown.rows[1:4] == [[str(i), *map(str, row)] for i, row in enumerate(table.tolist()[:3])]
    assert shown.rows[-2] == ["…"]
    assert shown.rows[-1] == ["sum", *map(str, table.sum().tolist()[0])]
    few = Table(table[:2]._repr_html_())
    assert [row[0] for row in few.rows] == ["", "0", "1", "sum"]


def test_no_text_is_markup():
    score = tb.BLEU(tokenize=str.split).score(TEXTS, OTHERS)
    assert not re.search(r"<(?!/?(?:b|table|tr|th|td)\b)", score._repr_html_())
