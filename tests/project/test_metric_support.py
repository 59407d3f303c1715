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
SOME = (
    "mteval-v13a",
    "nltk-sentence-4",
    "nltk-corpus-5",
    "fairseq",
    "coco-bleu-4-item",
    "cdec-ibm",
)

pytestmark = pytest.mark.filterwarnings("ignore:method . of NLTK:UserWarning")


def skip_without(name):
    """Skips the test of a metric that cannot run here."""
    if said := lacking(name):
        pytest.skip(said)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("product")


# METEOR reads tables for 12 seconds.
CELLS = [
    pytest.param(name, marks=pytest.mark.thorough) if name.startswith("meteor") else name
    for name in (*registry.METRICS, *SOME)
]


@pytest.mark.parametrize("face", metric_support.FACES, ids=" ".join)
@pytest.mark.parametrize("name", CELLS)
def test_cell(name, face, folder):
    """The number of the metric, or one sentence; the cell raises otherwise."""
    skip_without(name)
    said = metric_support.cell(face, name, folder)
    assert len(said) < 200
    assert "Traceback" not in said


@pytest.mark.thorough
def test_no_metric_is_refused_by_the_verbs_that_every_metric_has(folder):
    for name in [*registry.METRICS, *SOME]:
        if lacking(name):
            continue
        for verb in ("score", "sentence", "segments", "statistics", "signature"):
            assert (
                metric_support.cell(
                    ("Python", f"`{verb}`" if verb != "signature" else verb), name, folder
                )
                == ""
            )


@pytest.mark.thorough
def test_the_page_of_cells(folder):
    """docs/metric-support.md says what all cells do now."""
    for name in registry.METRICS:
        skip_without(name)
    with warnings.catch_warnings(action="ignore"):
        made = metric_support.page(folder)
    if os.environ.get("TRUEBLEU_WRITE_PAGES"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made, "write it anew: make docs"
    assert all(f"`{name}`" in made for name in [*registry.METRICS, *tb.family])
