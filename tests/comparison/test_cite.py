"""Citations: every metric, test, correction and test set has one, and BibTeX can read them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from paths import EXAMPLES

import truebleu as tb
from truebleu._kernel import InputError
from truebleu.comparison import setup_description
from truebleu.comparison.comparison_request import TESTS
from truebleu.comparison.setup_description import SetupDescription, cite
from truebleu.metrics import comet, registry
from truebleu.significance import CORRECTIONS
from truebleu.testsets import catalogue
from truebleu.text.citations import expand_keys, format_bibtex, get_work, load_works, parse_bibtex

REFERENCE = EXAMPLES / "de-en" / "reference.a.en"
SYSTEMS = {name: EXAMPLES / "de-en" / f"{name}.en" for name in ("birch", "cedar")}


def read_result(text: str, name: str) -> SetupDescription:
    return setup_description.combine_setups(setup_description.read_tables(text, name))


# ---- completeness ----


def test_everything_has_known_works_and_every_work_is_used():
    by_method = {
        **setup_description.TEST_CITATIONS,
        **setup_description.CORRECTION_CITATIONS,
        **setup_description.EXTERNAL_CITATIONS,
        **setup_description.RESEGMENTATION_CITATIONS,
        "intervals": setup_description.INTERVAL_CITATIONS,
        "runs": setup_description.RUN_CITATIONS,
    }
    assert {*TESTS, *CORRECTIONS} <= by_method.keys()
    assert set(TESTS) == set(setup_description.TEST_NAMES)
    cited = [
        *by_method.items(),
        *((one.__name__, one.CITATIONS) for one in registry.iterate_metric_classes()),
        *((name, member.citations) for name, member in tb.family.items()),
        *(
            (name, (entry.citation or "").split())
            for name, entry in catalogue._load_published_entries().items()
        ),
    ]
    # Only a user's program has no publication.
    assert [name for name, keys in cited if not keys] == ["Command"]
    used = {key for _, keys in cited for key in keys}
    used |= {"truebleu", "popovic-2017-chrf", *comet.MODEL_CITATIONS.values()}
    assert load_works().keys() == used


def test_citation_of_family_member_starts_with_its_first_work():
    for member in tb.family.values():
        assert get_work(member.citations[0]).family_names[0] in member.citation


# ---- BibTeX ----


@pytest.mark.parametrize("key", list(load_works()))
def test_entry_is_safe_for_pdflatex_and_has_required_fields(key):
    work = get_work(key)
    assert work.bibtex.isascii()
    assert work.bibtex.count("{") == work.bibtex.count("}")
    kind = work.bibtex.partition("{")[0]
    required = {"@inproceedings": {"booktitle", "year"}, "@article": {"journal", "year"}}
    assert {"author", "title"} | required.get(kind, set()) <= work.fields.keys()
    for name, value in work.fields.items():
        if name != "url":
            assert not re.search(r"(?<!\\)[&%#$_]", value) or name == "doi", value
    assert "year" in work.fields or key != "truebleu"
    if "year" in work.fields and re.search(r"\d{4}", key):
        assert work.fields["year"] in key


@pytest.mark.skipif(
    shutil.which("bibtex") is None or shutil.which("pdflatex") is None,
    reason="bibtex or pdflatex is not installed (Debian: texlive-latex-base)",
)
def test_bibtex_and_pdflatex_typeset_all_entries(tmp_path):
    (tmp_path / "works.bib").write_text(format_bibtex(load_works()), "ascii")
    sentences = cite(["bleu", "chrf++"], test="bs", correction="bh", test_sets=["wmt22"]).latex()
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\n"
        f"{sentences}\n\\nocite{{*}}\\bibliographystyle{{plain}}\\bibliography{{works}}\n"
        "\\end{document}\n",
        "ascii",
    )
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    logs = [
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for command in (latex, ["bibtex", "paper"], latex, latex)
    ]
    assert "Warning" not in logs[1]
    assert "undefined" not in logs[3].lower()


@pytest.mark.parametrize(
    ("text", "label", "reference"),
    [
        (
            '@misc{a, author = "Popovi{\\\'c}, Maja and {NLLB Team}", year = 2020, title={A {B}}}',
            "Popović and NLLB Team, 2020",
            "Popović and NLLB Team (2020): A B",
        ),
        (
            "@article{b,\n author={Maja Popovic and Ond{\\v{r}}ej Bojar and others},title={T}}",
            "Popovic et al.",
            "Popovic et al.: T",
        ),
        (
            "@misc{c, author = {{Standards and Tests} and {\\c{C}}elebi, Onur}, title = {{{A}}}}",
            "Standards and Tests and Çelebi",
            "Standards and Tests and Çelebi: A",
        ),
    ],
)
def test_entries_are_parsed(text, label, reference):
    [work] = parse_bibtex(text)
    assert (work.label, work.reference) == (label, reference)


def test_unbalanced_entry_is_an_error():
    with pytest.raises(ValueError, match="BibTeX entry 'a': missing closing brace"):
        list(parse_bibtex("@misc{a, title={x}"))


def test_text_without_keys_is_kept():
    assert expand_keys("me, 2020") == "me, 2020"
    assert expand_keys("post-2018-call").startswith("@inproceedings{post-2018-call,")


# ---- sentences ----


def test_text_names_metrics_test_and_test_set():
    text = cite(["bleu", "chrf++"], test="ar", correction="holm", test_sets=["wmt22"]).text()
    for part in (
        "BLEU (Papineni et al., 2002; Post, 2018)",
        "chrF2++ (Popović, 2015; Popović, 2017)",
        "on WMT22 (Kocmi et al., 2022)",
        f"truebleu {tb.__version__} (signatures BLEU|case:mixed|",
        "paired approximate randomization (Riezler and Maxwell, 2005) with 10,000 randomizations",
        "Holm's method (Holm, 1979)",
    ):
        assert part in text


def test_latex_cites_the_printed_entries():
    setup = cite(["bleu", "mteval-v13a"], test="koehn", test_sets=["ntrex", "wmt24pp"])
    source = setup.latex()
    assert source.isascii()
    assert r"BLEU~\cite{papineni-etal-2002-bleu,post-2018-call}" in source
    cited = {key for keys in re.findall(r"\\cite\{(.*?)\}", source) for key in keys.split(",")}
    assert cited == {work.key for work in parse_bibtex(setup.bibtex())}
    assert "nist-mteval" in cited


@pytest.mark.parametrize("test", list(TESTS))
@pytest.mark.parametrize("correction", [None, *CORRECTIONS])
def test_every_test_and_correction_is_described(test, correction):
    setup = cite(test=test, correction=correction)
    assert setup_description.TEST_NAMES[test] in setup.text()
    keys = setup_description.TEST_CITATIONS[test]
    keys += setup_description.CORRECTION_CITATIONS.get(correction, ())
    assert set(keys) <= set(setup.citations)


def test_comparison_is_described():
    options = {"test": "bs", "samples": 99, "correction": "bh", "level": 0.9}
    comparison = tb.compare(SYSTEMS, REFERENCE, metrics=["ter"], **options)
    setup = cite(comparison)
    assert setup == read_result(comparison.to_json(), "x")
    text = setup.text()
    assert "TER (Snover et al., 2006)" in text
    assert "the centred paired bootstrap" in text
    assert "with 99 resamples, at p < 0.1" in text
    assert "90% confidence intervals from 99 bootstrap resamples" in text
    assert comparison.to_dict()["metrics"][0]["signature"] in text


def test_external_scores_cite_their_metric_without_signature():
    scores = {name: {"a": [0.1] * 9, "b": [0.2] * 9} for name in ("COMET-22", "mine")}
    setup = cite(tb.compare(None, None, metrics=(), scores=scores, samples=9))
    assert "COMET-22 (Rei et al., 2020; Rei et al., 2022) and mine as implemented" in setup.text()
    assert "signature" not in setup.text()
    assert setup.notes == ["no citation is known for mine; cite its authors"]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("COMET", ["rei-etal-2020-comet"]),
        ("CometKiwi-XL", ["rei-etal-2022-cometkiwi"]),
        ("XCOMET-XXL", ["guerreiro-etal-2024-xcomet"]),
        ("MetricX-23", ["juraska-etal-2023-metricx"]),
        ("MetricX-24-Hybrid", ["juraska-etal-2024-metricx"]),
        ("MetricX", []),
        ("BLEURT", ["sellam-etal-2020-bleurt"]),
        ("BLEURT-20", ["sellam-etal-2020-bleurt", "pu-etal-2021-learning"]),
    ],
)
def test_external_metric_cites_its_version(name, keys):
    assert list(setup_description._list_metric_keys(name, None)) == keys


@pytest.mark.parametrize(
    ("metric", "keys"),
    [
        ("comet:Unbabel/wmt20-comet-da", []),
        ("comet:Unbabel/wmt22-comet-da", ["rei-etal-2022-comet"]),
        ("comet:Unbabel/wmt22-cometkiwi-da", ["rei-etal-2022-cometkiwi"]),
        ("comet:Unbabel/wmt23-cometkiwi-da-xl", ["rei-etal-2023-scaling"]),
        ("comet:Unbabel/XCOMET-XL", ["guerreiro-etal-2024-xcomet"]),
        ("bleurt:lucadiliello/BLEURT-20-D3", ["pu-etal-2021-learning"]),
        ("bleurt:Elron/bleurt-base-128", []),
    ],
)
def test_neural_metric_cites_its_model(metric, keys):
    assert list(registry.metric(metric).citations[1:]) == keys


def test_runs_are_described():
    systems = {"a": [SYSTEMS["birch"], SYSTEMS["cedar"]], "b": [SYSTEMS["cedar"]] * 2}
    setup = cite(tb.compare(systems, REFERENCE, samples=9, confidence=9))
    assert "training runs" in setup.text()
    assert "clark-etal-2011-better" in setup.citations


@pytest.mark.parametrize(
    "method", ["soft-words+docs", "as-wer-13a", "mweralign-cj-1.4.1", "time-zh"]
)
def test_resegmentation_is_cited(method):
    signature = f"nrefs:1|reseg:{method}|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    setup = read_result(f"BLEU|{signature}", "x")
    name, scope, _ = method.partition("+docs")
    assert f"by the method {name} (" in setup.text()
    assert ("separately for each document" in setup.text()) == bool(scope)
    prefix = next(one for one in setup_description.RESEGMENTATION_CITATIONS if name.startswith(one))
    assert set(setup_description.RESEGMENTATION_CITATIONS[prefix]) <= set(setup.citations)


def test_signatures_in_sentences_name_their_metric():
    metrics = ["bleu", "mteval-v13a", "nltk-bleu"]
    comparison = tb.compare(SYSTEMS, REFERENCE, metrics=[*metrics, "BLEU|tok:intl"], test=None)
    for setup in (cite(metrics), cite(comparison)):
        signatures = [word.strip("(,.)") for word in setup.text().split() if "|" in word]
        assert len(signatures) >= 3
        assert {tb.metric(one) for one in signatures} >= {tb.metric(one) for one in metrics[1:]}


@pytest.mark.parametrize("signature", ["footnote", "caption"])
def test_own_latex_is_read_like_markdown(signature):
    comparison = tb.compare(SYSTEMS, REFERENCE, metrics=["bleu", "rouge-l"], samples=99)
    options = {"columns": ["system", "interval", "p"], "signature": signature}
    setup = read_result(comparison.latex(**options), "table.tex")
    assert setup == read_result(comparison.markdown(**options), "table.md")
    assert setup.metrics == cite(comparison).metrics
    assert read_result(setup.latex(), "setup.tex").metrics == setup.metrics
    assert read_result(setup.text(), "setup.txt").metrics == setup.metrics


def test_escaped_characters_in_latex_are_read():
    source = r"\footnotesize\texttt{M\_1\%|\allowbreak{}nrefs:1|\allowbreak{}version:2\_0}\par"
    [metric] = read_result(source, "x").metrics
    assert (metric.name, metric.signature) == ("M_1%", "nrefs:1|version:2_0")


@pytest.mark.parametrize("correction", [None, *CORRECTIONS])
@pytest.mark.parametrize("test", list(TESTS))
@pytest.mark.parametrize("columns", [None, ["system", "score"], ["system", "score", "p"]])
def test_printed_table_has_the_setup_of_the_result(test, correction, columns):
    """Every output states the test, the level and the correction."""
    options = {"test": test, "correction": correction, "level": 0.9, "samples": 99}
    comparison = tb.compare(SYSTEMS, REFERENCE, **options)
    texts = [comparison.text(), comparison.text(explain=True), comparison.text(columns=columns)]
    tables = [comparison.latex(columns=columns), comparison.markdown(columns=columns)]
    for printed in (*texts, *tables):
        setup = read_result(printed, "table")
        complete = cite(comparison)
        if printed in tables:  # They show no intervals.
            complete = complete.replace(confidence=None)
        # Short signatures do not state the version of truebleu.
        text, expected = (
            re.sub(r"\|(?:by|bs):[^|)]*", "", one.text()) for one in (setup, complete)
        )
        assert text == expected
        assert setup.notes == []


def test_signature_under_a_table_lists_only_the_shown_resampling():
    comparison = tb.compare(SYSTEMS, REFERENCE, samples=99)
    for columns, fields in (
        (["system", "score"], ["ar", "seed"]),
        (["system", "p"], ["ar", "seed"]),
        (["system", "half-width"], ["bs", "seed"]),
        (["system", "won"], []),
        (["system", "interval", "p"], ["bs", "ar", "seed"]),
    ):
        for printed in (comparison.latex(columns=columns), comparison.markdown(columns=columns)):
            setup = read_result(printed, "table")
            names = [part.partition(":")[0] for part in setup.metrics[0].signature.split("|")]
            assert [name for name in names if name in ("bs", "ar", "seed")] == fields
            assert (setup.test is not None) == ("ar" in fields)
            assert (setup.confidence is not None) == ("bs" in fields)


def test_bootstrap_test_stays_in_the_signature():
    comparison = tb.compare(SYSTEMS, REFERENCE, test="bs", samples=99)
    setup = read_result(comparison.latex(), "table.tex")
    assert (setup.test, setup.samples, setup.confidence) == ("bs", 99, None)
    assert "|bs:99|" in f"|{setup.metrics[0].signature}"


@pytest.mark.parametrize("correction", [None, *CORRECTIONS])
@pytest.mark.parametrize("test", [None, *TESTS])
def test_html_has_the_setup_of_the_result(test, correction):
    options = {"correction": correction, "samples": 99} if test else {}
    options |= {"metrics": ["bleu", "chrf"], "test": test, "level": 0.9}
    comparison = tb.compare(SYSTEMS, REFERENCE, **options)
    setup = read_result(comparison.html(), "c.html")
    assert (setup.text(), setup.notes) == (cite(comparison).text(), [])


def test_report_has_the_setup_of_its_comparison():
    """Only the JSON of a report is parsed, because reports contain long lines of data."""
    report = tb.report(SYSTEMS, REFERENCE, correction="holm", samples=99)
    page = report.html()
    assert read_result(page, "r.html").text() == report.to_dict()["setup"]
    extracted = setup_description._extract_html(page)
    assert json.loads(extracted) == report.to_dict()


def test_signature_names_start_after_a_separator():
    """The search starts once per word, so it takes linear time in long words."""
    pattern = setup_description.PRINTED_SIGNATURE
    word = "A" * 9 + "|nrefs:1"
    assert [i for i in range(len(word)) if pattern.match(word, i)] == [0]


@pytest.mark.parametrize("separator", ["\t", ","])
def test_signature_without_name_is_not_read(separator):
    """TSV and CSV files have the names of metrics in other cells."""
    comparison = tb.compare(SYSTEMS, REFERENCE, samples=99)
    signature = comparison.text().splitlines()[-1].removeprefix("BLEU|")
    with pytest.raises(tb.InputError, match="x: no signatures found"):
        read_result(f"birch{separator}33.9{separator}{signature}\n", "x")


def test_table_without_significant_difference_has_the_correction():
    systems = {"one": SYSTEMS["birch"], "two": SYSTEMS["birch"]}
    comparison = tb.compare(systems, REFERENCE, correction="holm", samples=99)
    assert read_result(comparison.markdown(), "x").correction == "holm"


def test_signature_alone_has_notes_on_the_level_and_the_correction():
    comparison = tb.compare(SYSTEMS, REFERENCE, correction="holm", samples=99)
    signature = comparison.text().splitlines()[-1]
    setup = read_result(signature, "out.txt")
    assert (setup.test, setup.correction, setup.confidence) == ("ar", None, None)
    assert setup.notes == [
        "out.txt does not state the significance level. Use the output of -f json.",
        "out.txt does not state whether p-values were corrected. Use the output of -f json.",
    ]


def test_table_without_test_and_intervals_claims_neither():
    comparison = tb.compare(SYSTEMS, REFERENCE, test=None, level=0.9)
    assert read_result(comparison.latex(), "x").confidence is None
    setup = read_result(comparison.latex(columns=["system", "interval"]), "x")
    assert (setup.test, setup.level) == (None, 0.9)


def test_metric_with_several_signatures_is_named_once():
    references = [REFERENCE, EXAMPLES / "de-en" / "reference.b.en"]
    table = tb.compare(SYSTEMS, references, samples=99).latex(by=["reference"])
    text = read_result(table, "x").text()
    assert text.startswith("We report BLEU (Papineni et al., 2002; Post, 2018) as implemented in")
    assert "(signatures BLEU|nrefs:2|" in text
    assert ", BLEU|nrefs:1|" in text


def test_text_of_scores_has_no_note():
    score = tb.metric("bleu").signature()
    assert read_result(f"BLEU|{score}", "x").notes == []


@pytest.mark.parametrize(
    "line",
    [
        "\x1b[2mBLEU|nrefs:1|version:2.6.0\x1b[0m\r\n",
        "\x1b]0;title\x07\x1b[?25l\x1b[1;38;5;12mBLEU\x1b[0m|nrefs:1|version:2.6.0\x1b[K",
    ],
)
def test_terminal_codes_are_ignored(line):
    [metric] = read_result(line, "session").metrics
    assert (metric.name, metric.signature) == ("BLEU", "nrefs:1|version:2.6.0")


def test_sacrebleu_signature_cites_sacrebleu():
    line = "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.0 = 30.0 60/40/20/10"
    text = read_result(line, "x").text()
    assert "as implemented in sacreBLEU 2.4.0 (Post, 2018)" in text


def test_test_set_of_signature_is_cited():
    line = "BLEU|nrefs:1|test:wmt22|lang:en-de|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    assert "kocmi-etal-2022-findings" in read_result(line, "x").citations
    own = read_result(line.replace("wmt22", "ours"), "x")
    assert own.notes == ["no citation is known for ours; cite its authors"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no result", "x: no signatures found"),
        ("{", "x: expected a result of truebleu score or compare"),
        ('{"truebleu_history": 1}', "found truebleu_history"),
        ('{"a": 1}', "found other JSON"),
        ('{"truebleu_comparison": 1}', "x: expected a result of truebleu score or compare"),
        ('{"truebleu_score": 1, "scores": []}', "x: "),
    ],
)
def test_other_text_is_an_error(text, message):
    with pytest.raises(InputError, match=message):
        read_result(text, "x")


def test_setup_prints_sentences_and_entries():
    setup = cite()
    assert isinstance(setup, SetupDescription)
    assert repr(setup) == str(setup) == f"{setup.text()}\n\n{setup.bibtex()}"
    assert [one["key"] for one in setup.to_dict()["works"]] == setup.citations
