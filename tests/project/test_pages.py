"""The pages of docs/: what they claim holds."""

import doctest
import importlib
import json
import re
import subprocess
import sys
import warnings

import pytest
from paths import ROOT

from truebleu import TextWarning

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages():
    """Return the modules that make the pages."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("pages")
    sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def built(pages) -> dict[str, str]:
    return {name: " ".join(page().split()) for name, page in pages.PAGES.items()}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "claim",
    [
        # With the right values of the examples in well-known texts.
        "so the clipped precision is 2/7",
        "2/6 of reference 1 and 2/7 of reference 2",
        "BP = exp(1 − 6/4) = 0.6065",
        "exp(1 − 6/5) = 0.8187 for this text. That is the penalty for a text of 5 tokens",
        "| 1 | 1/1 | 0.00674 | 0.00674 |",
        "| 8 | 2/8 | 1 | 0.25000 |",
        "| both | 3/3 | 1/2 |",
        "| exp | 4/4 | 1/3 | 1/4 | 1/4 | 23.04 |",
        # With `--textbook`.
        "| 2/7 | 0/6 | 0/5 | 0/4 | 1 | 0 | BLEU-1: 0.2857 |",
        "| 5/7 | 3/6 | 1/5 | 0/4 | 1 | 0 | BLEU-3: 0.4149 |",
        "| 3/6 | 1/5 | 0/4 | 0/3 | 0.8465 | 0 |",
    ],
)
def test_by_hand_page_states_correct_numbers(built, claim):
    assert claim in built["by-hand.md"]


def test_character_bleu_on_the_page_is_live_nltk_s(pages):
    """NLTK iterates over strings, so it scores their characters."""
    bleu_score = pytest.importorskip("nltk.translate.bleu_score")
    by_hand = importlib.import_module("by_hand")
    page = pages.PAGES["by-hand.md"]()
    reference, hypotheses = by_hand.CHARACTER_REFERENCE, by_hand.CHARACTER_HYPOTHESES
    with warnings.catch_warnings():
        # NLTK warns about orders without matches.
        warnings.simplefilter("ignore")
        characters = [bleu_score.sentence_bleu([reference], text) for text in hypotheses]
        words = [bleu_score.sentence_bleu([reference.split()], text.split()) for text in hypotheses]
    assert [round(score, 3) for score in characters] == [0.789, 0.87, 0.866, 0.665, 0.599, 0.878]
    assert [round(100 * score, 2) for score in words] == [0, 39.28, 59.12, 0, 52.99, 71.89]
    for text, by_characters, by_words in zip(hypotheses, characters, words, strict=True):
        numbers = f"{100 * by_words:.2f} | {100 * by_characters:.2f} | {by_characters:.3f}"
        assert f"| `{text}` | {numbers} |" in page


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_page_opens_with_its_question(page):
    headings = re.findall(r"^# .*$", page.read_text("utf-8"), re.MULTILINE)
    assert headings[0].endswith("?")


def test_references_and_measured_costs_are_current():
    """In a separate process, because other tests may have added metrics."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import json, pages; "
        "print(json.dumps({name: pages.wrap_paragraphs(page()) for name, page in"
        " pages.PAGES.items() if name.startswith(('reference/', 'at-scale'))}))"
    )
    output = subprocess.check_output([sys.executable, "-c", code, str(DOCS)], cwd=ROOT)
    pages = json.loads(output)
    assert pages
    for name, page in pages.items():
        older = f"docs/{name} is older than the code: make docs"
        assert page == (DOCS / name).read_text("utf-8"), older


def test_table_of_rewards_is_current(pages):
    pytest.importorskip("rouge_score")
    page = (DOCS / "how-to" / "rewards.md").read_text("utf-8")
    older = "docs/how-to/rewards.md is older than the code: make docs"
    assert page == pages.wrap_paragraphs(pages.PAGES["how-to/rewards.md"]()), older


def test_every_environment_variable_is_documented(pages):
    """Variables that Python reads, by name or in a declaration, and variables that Rust reads."""
    reading = re.compile(r"""environ(?:\.get\(|\[)["'](\w+)|["'](TRUEBLEU_\w+)["']""")
    code = "\n".join(file.read_text("utf-8") for file in (ROOT / "truebleu").rglob("*.py"))
    read = {one or other for one, other in reading.findall(code)}
    for file in (ROOT / "kernel" / "src").rglob("*.rs"):
        read |= set(re.findall(r'env::var\("(\w+)"', file.read_text("utf-8")))
    reference_pages = importlib.import_module("reference_pages")
    explained = [name for named in reference_pages.VARIABLES.values() for name in named]
    assert sorted(explained) == sorted(read)
    # Each other reading is by a name that a declaration has.
    places = re.findall(r"environ(?:\.get\(|\[)(?![\"'])([\w.]+)", code)
    assert set(places) == {"published.environment_variable", "dictionary.environment_variable"}


def test_exit_statuses_agree_in_all_documents(pages):
    """By `truebleu help` and the page of the command line."""
    page = (DOCS / "command-line.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*?) \|$", page, re.MULTILINE)
    listed = [(status, meaning.replace("`", "").partition("; ")[0]) for status, meaning in rows]
    documented = importlib.import_module("reference_pages").list_exit_statuses()
    short = [(status, meaning.removeprefix("truebleu ")) for status, meaning in documented]
    assert listed in (documented, short)


def test_every_raised_exit_status_is_documented():
    """Every exception's status is documented, and no code exits with another number."""
    from truebleu.cli.output import STATUSES

    package = ROOT / "truebleu"
    code = {file: file.read_text("utf-8") for file in package.rglob("*.py")}
    pattern = re.compile(r"^    exit_status = (\d+)$", re.MULTILINE)
    raised_statuses = pattern.findall("\n".join(code.values()))
    assert {*map(int, raised_statuses)} <= set(STATUSES)
    ending = r"sys\.exit\([^)]|os\._exit\(|SystemExit\([^)]"
    other_files = {file for file, text in code.items() if re.search(ending, text)}
    # A program with sacreBLEU's statuses, and a program for catalogue maintainers.
    allowed = (package / "compat", package / "testsets" / "__main__.py", package / "__main__.py")
    assert all(any(file.is_relative_to(one) for one in allowed) for file in other_files)


def test_every_integration_and_engine_is_documented(pages):
    reference_pages = importlib.import_module("reference_pages")
    package = ROOT / "truebleu"
    hosts = {file.stem for file in (package / "integrations").glob("*.py")}
    # Modules that integrations share, and the module that Hugging Face evaluate reads.
    shared = {"__init__", "log_records", "reward_hosts", "truebleu_metric"}
    assert set(reference_pages.HOSTS) == hosts - shared
    engines = {module for module, _ in reference_pages.ENGINES.values()}
    made_of = re.compile(r"^score, stats, compare = make_engine_functions\(", re.MULTILINE)
    files = (package / "engines").glob("*.py")
    assert engines == {file.stem for file in files if made_of.search(file.read_text("utf-8"))}


def test_page_of_undetected_errors_is_current(pages):
    """The wrong hypothesis scores higher than the right one, where the page says so."""
    cannot_see = importlib.import_module("cannot_see")
    claims = {
        one["title"]: (one["reference"], dict(one["hypotheses"])) for one in cannot_see.CLAIMS
    }

    def score(title: str, name: str) -> float:
        reference, hypotheses = claims[title]
        return cannot_see.METRICS["BLEU"].sentence(hypotheses[name], reference).value

    not_ = "A dropped “not”"
    words = "correct paraphrase"
    assert score(not_, "the opposite") > score(not_, "harmless") > 5 * score(not_, words)
    swap = "Who did what to whom"
    assert score(swap, "roles swapped") > 2 * score(swap, words)
    assert score("Active and passive", "wrong") > score("Active and passive", "passive")
    assert score("Paraphrase", "nonsense") > score("Paraphrase", "same meaning")
    assert score("A number, a name", "different gate") == score("A number, a name", "harmless")
    assert score("Case", "different day") > score("Case", "lower case")
    same = "Diacritics and normalization"
    assert score(same, "different code points") == score(same, "no accents")


@pytest.mark.thorough
def test_which_bleu_page_is_current(built):
    page = built["which-bleu.md"]
    assert "| sacreBLEU's defaults | 29.96 | | 33.94 | |" in page
    assert "published implementations" in page


@pytest.mark.thorough
def test_significance_page_is_current(built):
    page = built["significance.md"]
    assert "with a different last segment, sacreBLEU's p is 0.0001 and truebleu's is 1.0000" in page
    assert "| chrF2 | 200 | 5% |" in page


@pytest.fixture(scope="module")
def shapes(pages):
    return importlib.import_module("json_shapes")


KINDS = (
    *("score", "segments", "matrix", "compare", "explain", "history", "check", "meta"),
    *("family list, family show", "family score", "family which", "testset list", "testset info"),
    *("cite", "latency", "resegment"),
    "testset get, testset add, testset verify, testset path, testset remove",
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_json_key_is_documented(shapes, kind):
    fields = shapes.collect_fields(kind)
    assert set(fields) == set(shapes.MEANINGS[kind])
    version = next(iter(fields))
    assert version.startswith("truebleu_")
    assert fields[version][0] == 1


def test_json_of_every_command_is_documented(shapes):
    from truebleu.cli import COMMANDS

    explained = {name.split()[0] for kind in shapes.COMMANDS for name in kind.split(", ")}
    assert set(KINDS) == set(shapes.COMMANDS)
    # Pages, a script and a demonstration do not print JSON.
    assert explained == set(COMMANDS) - {"report", "lab", "completion", "demo"}


def test_tests_documented_as_calibrated_are_calibrated(pages):
    """Between 4 and 6% of false differences at 5%, of every metric, with every size."""
    result = json.loads((DOCS / "calibration.json").read_text(encoding="utf-8"))
    assert set(result["metrics"]) == {"BLEU", "chrF2", "TER"}
    assert result["trials"] >= 2000
    level_index = result["levels"].index(0.05)
    for metric_result in result["metrics"].values():
        assert set(metric_result) == {"200", "1000", "2000"}
        for counts in metric_result.values():
            share = {test: found[level_index] / result["trials"] for test, found in counts.items()}
            assert 0.04 <= share["ar"] <= 0.06
            assert 0.04 <= share["bs"] <= 0.06
            assert share["bs-sacrebleu"] > 0.1
            assert share["koehn"] > 0.09


def test_document_resampling_is_calibrated_and_segment_resampling_is_not(pages):
    result = json.loads((DOCS / "calibration_documents.json").read_text(encoding="utf-8"))
    trials = result["trials"]
    assert trials >= 1000
    assert {one["metric"] for one in result["found"]} == {"BLEU", "chrF2"}
    for pool_result in result["found"]:
        for kind in ("intervals", "tests"):
            for miss_counts in pool_result[kind].values():
                assert miss_counts["documents"] <= miss_counts["segments"]
        for miss_counts in pool_result["tests"].values():
            assert 0.03 <= miss_counts["documents"] / trials <= 0.07
            assert miss_counts["segments"] / trials > 0.06


def test_run_aware_test_keeps_its_level_and_plain_test_does_not(pages):
    result = json.loads((DOCS / "calibration_runs.json").read_text(encoding="utf-8"))
    trials = result["trials"]
    assert trials >= 1000
    for scenario in result["made"]:
        assert 0.02 <= scenario["found"]["runs"] / trials <= 0.065
        if scenario["cause"] == "lucky runs":
            assert scenario["found"]["one"] / trials > 0.35


# The examples in docs/reference/ come from docstrings, which are tested separately.
WITH_SESSIONS = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if "\n>>> " in page.read_text("utf-8") and page.parent.name != "reference"
]


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=lambda page: page.stem)
def test_python_examples_on_pages_run(page, monkeypatch):
    """The examples in pages that are written by hand."""
    monkeypatch.chdir(ROOT)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with warnings.catch_warnings():
        # Readers who try an example should not see a warning about its text.
        warnings.simplefilter("error", TextWarning)
        done = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert done.attempted
    assert not done.failed


def test_bucket_tests_are_calibrated_like_segment_tests(pages):
    """Errors found with B buckets are off by about 1 / √(2B); tests of 5% are tests of 5%."""
    result = json.loads((DOCS / "calibration_buckets.json").read_text(encoding="utf-8"))
    trials, level_index = result["null_trials"], result["levels"].index(0.05)
    assert trials >= 2000
    for buckets in result["buckets"]:
        for middle, deviation in result["widths"][str(buckets)].values():
            expected = (2 * buckets) ** -0.5
            assert abs(middle - 1) < expected
            assert deviation < 2 * expected
        for counts in result["rejections"][str(buckets)].values():
            share = counts[level_index] / trials
            # Four standard errors; a bootstrap of 50 units is a little too eager.
            assert abs(share - 0.05) < 4 * (0.05 * 0.95 / trials) ** 0.5 + 0.5 / buckets
