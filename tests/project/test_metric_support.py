"""Every metric on every face works, or refuses in one sentence; the page of cells says which."""

import os
import warnings

import metric_support
import pytest
from optional_tools import lacking
from paths import ROOT

import truebleu as tb
from truebleu.metrics import registry

PAGE = ROOT / "docs" / "metric-support.md"

# One member of each kind, for the daily test; `make test-all` walks all of them.
TESTED_MEMBERS = (
    *("mteval-v13a", "nltk-sentence-4", "nltk-corpus-5", "fairseq", "coco-bleu-4-item", "cdec-ibm"),
)

pytestmark = pytest.mark.filterwarnings("ignore:method . of NLTK:UserWarning")


def skip_without(name):
    """Skip the test of a metric that cannot run here."""
    if reason := lacking(name):
        pytest.skip(reason)


@pytest.fixture(scope="module")
def input_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("product")


# METEOR reads tables for 12 seconds.
CELLS = [
    pytest.param(name, marks=pytest.mark.thorough) if name.startswith("meteor") else name
    for name in (*registry.METRICS, *TESTED_MEMBERS)
]


@pytest.mark.parametrize("interface", metric_support.INTERFACES, ids=" ".join)
@pytest.mark.parametrize("name", CELLS)
def test_metric_works_or_is_refused_in_one_sentence(name, interface, input_folder):
    """The number of the metric, or one sentence; the cell raises otherwise."""
    skip_without(name)
    refusal = metric_support.cell(interface, name, input_folder)
    assert len(refusal) < 200
    assert "Traceback" not in refusal


@pytest.mark.thorough
def test_metric_support_page_is_current(input_folder):
    """docs/metric-support.md says what all cells do now."""
    for name in registry.METRICS:
        skip_without(name)
    with warnings.catch_warnings(action="ignore"):
        page_text = metric_support.page(input_folder)
    if os.environ.get("TRUEBLEU_WRITE_PAGES"):
        PAGE.write_text(page_text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page_text, "write it anew: make docs"
    assert all(f"`{name}`" in page_text for name in [*registry.METRICS, *tb.family])
