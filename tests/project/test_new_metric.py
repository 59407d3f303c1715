"""The metric in CONTRIBUTING.md: one file and one line, and every face knows it."""

from __future__ import annotations

import doctest
import re
import sys
from types import ModuleType

import pytest
from paths import EXAMPLES, ROOT

import truebleu as tb
from truebleu import cli
from truebleu.metrics import registry

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILE, LINE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)

CEDAR, BIRCH, REFERENCE = (
    EXAMPLES / "de-en" / f"{n}.en" for n in ("cedar", "birch", "reference.a")
)


@pytest.fixture
def module(monkeypatch):
    """Return the file, as if it were in truebleu/metrics/, and the line added to the table."""
    ((name, (place, parameters)),) = eval(f"{{{LINE}}}").items()
    metric_module = ModuleType(f"truebleu.metrics.{place.partition(':')[0]}")
    exec(FILE, vars(metric_module))
    monkeypatch.setitem(sys.modules, metric_module.__name__, metric_module)
    monkeypatch.setitem(registry.METRICS, name, (place, parameters))
    return metric_module


def test_example_metric_passes_its_doctest(module):
    assert doctest.testmod(module) == (0, 1)


def test_example_metric_works_in_every_interface(module, capfd):
    metric = tb.metric("length")
    score = metric.score(CEDAR, REFERENCE)
    assert f"{score:.2f}" == "106.08"
    assert tb.metric(f"length|{score.signature}") == metric
    comparison = tb.compare({"a": CEDAR, "b": BIRCH}, REFERENCE, metrics=["bleu", "length"])
    assert comparison["a"]["scores"]["length"]["score"] == score.value
    total = tb.Accumulator("length")
    total.update(["a b"], ["a"])
    assert total.compute() == 200
    assert tb.mbr(["a b", "c", "d e f"], utility="length").best == "d e f"
    explanation = tb.explain("a cat sat", ["the cat sat down"], metric="length").to_dict()
    assert explanation["systems"][0]["columns"] == {"hypothesis_length": 3, "reference_length": 4}
    assert cli.main(["score", str(REFERENCE), "-i", str(CEDAR), "-m", "length", "-b"]) == 0
    assert float(capfd.readouterr().out) == score.value
    assert tb.report({"a": CEDAR}, REFERENCE, metrics=["bleu", "length"]).html()
