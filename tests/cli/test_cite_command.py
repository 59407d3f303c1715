"""`truebleu cite`: BibTeX and sentences for a result or for methods."""

from __future__ import annotations

import json

import pytest
from paths import EXAMPLES

import truebleu
from truebleu.cli import cite
from truebleu.text.citations import parse_bibtex

REFERENCE = EXAMPLES / "de-en" / "reference.a.en"
SYSTEMS = [EXAMPLES / "de-en" / f"{name}.en" for name in ("birch", "cedar")]


@pytest.fixture
def run_compare(truebleu_command):
    """Return a function that compares the example systems with few resamples."""

    def run(*options, systems=SYSTEMS):
        words = ("-parn", "99", "-q", *options)
        result = truebleu_command("compare", REFERENCE, "-i", *systems, *words)
        assert result.status == 0, result
        return result.output

    return run


@pytest.fixture
def result_file(run_compare, tmp_path):
    """Return a JSON result of compare."""
    path = tmp_path / "result.json"
    run_compare("-m", "bleu", "chrf", "--correction", "holm", "-o", path)
    return path


@pytest.fixture
def run_cite(truebleu_command):
    """Return a function that returns the output of `truebleu cite`."""

    def run(*words, **options):
        result = truebleu_command("cite", *words, **options)
        assert (result.status, result.error) == (0, ""), result
        return result.output

    return run


def list_keys(text):
    return [work.key for work in parse_bibtex(text)]


def test_result_file_is_cited(run_cite, result_file):
    output = run_cite(result_file)
    assert list_keys(output) == [
        *("papineni-etal-2002-bleu", "post-2018-call", "popovic-2015-chrf", "truebleu"),
        *("riezler-maxwell-2005-pitfalls", "holm-1979-simple", "koehn-2004-statistical"),
    ]
    text = " ".join(output.partition(f"\n{cite.LATEX_ADVICE}")[0].split())
    assert text == truebleu.cite(truebleu.Comparison.from_json(result_file.read_text())).text()


def test_score_result_and_standard_input_are_cited(truebleu_command, run_cite):
    printed = truebleu_command("score", REFERENCE, "-i", SYSTEMS[0], "-m", "ter").output
    output = run_cite("-", input=printed.encode())
    assert list_keys(output) == ["snover-etal-2006-study", "truebleu"]
    assert json.loads(printed)["scores"][0]["signature"] in output.replace("\n", "")


def test_playground_has_no_result(truebleu_command, read_error, tmp_path):
    truebleu_command("lab", "-o", tmp_path / "lab.html")
    error = read_error(1, "cite", tmp_path / "lab.html")
    assert "expected a result of truebleu score or compare, found truebleu_report" in error


def test_methods_are_cited(run_cite):
    words = ("-m", "chrf++,ter", "--test", "bs", "--correction", "bh", "-t", "wmt22", "ntrex")
    assert {
        *("popovic-2017-chrf", "snover-etal-2006-study", "efron-tibshirani-1993-bootstrap"),
        *("benjamini-hochberg-1995-controlling", "kocmi-etal-2022-findings"),
        "federmann-etal-2022-ntrex",
    } <= set(list_keys(run_cite(*words)))


def test_latex_ends_before_the_entries(run_cite, result_file):
    output = run_cite(result_file, "-f", "latex")
    sentences, entries = output.split("\n\n\\endinput\n\n")
    assert r"BLEU~\cite{papineni-etal-2002-bleu,post-2018-call}" in sentences
    assert "@" not in sentences
    assert output.isascii()
    assert entries == run_cite(result_file, "-f", "bibtex")


@pytest.mark.parametrize("form", ["text", "latex", "bibtex", "json"])
def test_only_plain_text_recommends_the_version_for_latex(run_cite, result_file, form):
    lines = run_cite(result_file, "-f", form).splitlines()
    assert lines.count(cite.LATEX_ADVICE) == (form == "text")


@pytest.mark.parametrize("options", [[], ["--columns", "system", "score", "interval"]])
def test_text_from_a_table_mentions_only_what_the_table_shows(
    options, run_compare, run_cite, tmp_path
):
    table = tmp_path / "table.tex"
    run_compare("-m", "bleu", "chrf", "ter", *options, "-o", table)
    text = run_cite(table, "-f", "latex").partition("\\endinput")[0]
    assert ("confidence intervals" in text) == bool(options)
    assert ("bs:" in text) == bool(options)
    assert r"at $p < 0.05$" in text


@pytest.mark.parametrize(
    ("name", "start"), [("a.bib", "@"), ("a.tex", "We report"), ("a.json", "{"), ("a.txt", "We")]
)
def test_output_suffix_selects_format(run_cite, result_file, tmp_path, name, start):
    run_cite(result_file, "-o", tmp_path / name)
    assert (tmp_path / name).read_text().startswith(start)


def test_user_registry_is_cited(run_cite, tmp_path):
    (tmp_path / "s").write_text("a\n")
    entry = {
        "name": "ours",
        "citation": "@misc{own-2026, author={Own, Ann}, title={T}, year={2026}}",
        "files": {"de-en": {"src": "s", "ref": "s"}},
    }
    (tmp_path / "ours.json").write_text(json.dumps(entry))
    words = ("-t", "ours", "--registry", tmp_path / "ours.json")
    output = run_cite(*words)
    assert "on ours (Own, 2026)" in " ".join(output.split())
    assert "own-2026" in list_keys(output)
    assert r"on ours~\cite{own-2026}" in run_cite(*words, "-f", "latex")


def test_unknown_metric_of_others_has_a_note(truebleu_command):
    result = truebleu_command("cite", "-m", "command:mine=prog {hyp}")
    assert "note: no citation is known for mine; cite its authors" in result.error
    assert truebleu_command("cite", "-q", "-m", "command:mine=prog {hyp}").error == ""


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["none.json"], 1, "none.json: No such file or directory"),
        ([REFERENCE], 1, "no signatures found"),
        ([EXAMPLES], 1, "directory"),
        (["-m", "bleuu"], 2, "-m/--metrics: unknown metric 'bleuu'; did you mean 'bleu'?"),
        (["-t", "wmt222"], 1, "unknown test set 'wmt222'; did you mean wmt22?"),
        (["--test", "t"], 2, "--test: unknown value 't'"),
        (["--correction", "holm"], 2, "--correction has no effect without --test"),
        (["x.json", "-m", "bleu"], 2, "-m/--metrics has no effect with a result FILE"),
        (["-f", "csv"], 2, "unknown value 'csv'"),
    ],
)
def test_wrong_input_is_an_error(read_error, words, status, message):
    assert message in read_error(status, "cite", *words)


def test_former_option_names_the_command(read_error):
    assert "use truebleu cite" in read_error(2, "--citation")


@pytest.mark.parametrize("is_one_file", [False, True])
def test_sentences_name_tables_with_different_corrections(
    run_compare, run_cite, tmp_path, is_one_file
):
    tables = [tmp_path / "main.tex", tmp_path / "appendix.tex"]
    for table, options in zip(tables, ([], ["--correction", "holm"]), strict=True):
        run_compare("--label", f"tab:{table.stem}", *options, "-o", table)
    if is_one_file:
        both = tmp_path / "both.tex"
        both.write_text("\n".join(table.read_text() for table in tables))
        tables = [both]
    text, _, entries = run_cite(*tables, "-f", "latex").partition("\\endinput")
    assert text.count("We report BLEU") == 1
    assert text.count("by Holm's method") == 1
    first, second = text.split("For Table~")[1:]
    assert first.startswith(r"\ref{tab:main}, we test differences between systems by paired")
    assert "Holm" not in first
    assert second.startswith(r"\ref{tab:appendix}, we test")
    keys = list_keys(entries)
    assert "holm-1979-simple" in keys
    assert len(keys) == len({*keys})


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_each_table_of_concatenated_results_has_its_own_sentence(
    run_compare, run_cite, tmp_path, form
):
    tables = [run_compare("-f", form, *options) for options in ((), ("--correction", "bh"))]
    (tmp_path / "out").write_text("\n".join(tables))
    prose = " ".join(run_cite(tmp_path / "out").split())
    first, second = prose.partition(". @")[0].split("For table ")[1:3]
    assert first.startswith("1 of out, we test")
    assert "corrected" not in first
    assert second.startswith("2 of out, we test")
    assert "Benjamini" in second


def test_equal_setups_of_several_files_need_no_names(run_cite, result_file):
    copy = result_file.parent / "copy.json"
    copy.write_text(result_file.read_text())
    assert run_cite(result_file, copy) == run_cite(result_file)


def test_parts_of_a_long_latex_table_are_one_table(run_compare, run_cite, tmp_path):
    table = tmp_path / "long.tex"
    systems = [f"system{i}={SYSTEMS[i % 2]}" for i in range(40)]
    run_compare("-o", table, systems=systems)
    assert table.read_text().count("\\end{table}") == 2
    assert "For " not in run_cite(table).partition(cite.LATEX_ADVICE)[0]


def test_table_without_signatures_has_a_note(run_compare, truebleu_command, tmp_path):
    parts = [run_compare("-f", "latex", *more) for more in ((), ("--signature", "none"))]
    (tmp_path / "both.tex").write_text("\n".join(parts))
    result = truebleu_command("cite", tmp_path / "both.tex")
    assert result.status == 0
    assert "both.tex has no signatures, so it is not described" in result.error
