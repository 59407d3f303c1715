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
def result_file(truebleu_command, tmp_path):
    """Return a JSON result of compare."""
    path = tmp_path / "result.json"
    words = ("-m", "bleu", "chrf", "--correction", "holm", "-parn", "99", "-o", path)
    assert truebleu_command("compare", REFERENCE, "-i", *SYSTEMS, *words).status == 0
    return path


def list_keys(text):
    return [work.key for work in parse_bibtex(text)]


def test_result_file_is_cited(truebleu_command, result_file):
    result = truebleu_command("cite", result_file)
    assert (result.status, result.error) == (0, "")
    assert list_keys(result.output) == [
        *("papineni-etal-2002-bleu", "post-2018-call", "popovic-2015-chrf", "truebleu"),
        *("riezler-maxwell-2005-pitfalls", "holm-1979-simple", "koehn-2004-statistical"),
    ]
    text = " ".join(result.output.partition(f"\n{cite.LATEX_ADVICE}")[0].split())
    assert text == truebleu.cite(truebleu.Comparison.from_json(result_file.read_text())).text()


def test_score_result_and_standard_input_are_cited(truebleu_command, tmp_path):
    printed = truebleu_command("score", REFERENCE, "-i", SYSTEMS[0], "-m", "ter").output
    result = truebleu_command("cite", "-", input=printed.encode())
    assert list_keys(result.output) == ["snover-etal-2006-study", "truebleu"]
    assert json.loads(printed)["scores"][0]["signature"] in result.output.replace("\n", "")


def test_playground_has_no_result(truebleu_command, tmp_path):
    truebleu_command("lab", "-o", tmp_path / "lab.html")
    error = truebleu_command("cite", tmp_path / "lab.html").error
    assert "expected a result of truebleu score or compare, found truebleu_report" in error


def test_methods_are_cited(truebleu_command):
    output = truebleu_command(
        *("cite", "-m", "chrf++,ter", "--test", "bs", "--correction", "bh", "-t", "wmt22", "ntrex")
    ).output
    assert {
        *("popovic-2017-chrf", "snover-etal-2006-study", "efron-tibshirani-1993-bootstrap"),
        *("benjamini-hochberg-1995-controlling", "kocmi-etal-2022-findings"),
        "federmann-etal-2022-ntrex",
    } <= set(list_keys(output))


def test_latex_ends_before_the_entries(truebleu_command, result_file):
    output = truebleu_command("cite", result_file, "-f", "latex").output
    sentences, entries = output.split("\n\n\\endinput\n\n")
    assert r"BLEU~\cite{papineni-etal-2002-bleu,post-2018-call}" in sentences
    assert "@" not in sentences
    assert output.isascii()
    assert entries == truebleu_command("cite", result_file, "-f", "bibtex").output


def test_only_plain_text_recommends_the_version_for_latex(truebleu_command, result_file):
    for form, count in (("text", 1), ("latex", 0), ("bibtex", 0), ("json", 0)):
        output = truebleu_command("cite", result_file, "-f", form).output
        assert output.splitlines().count(cite.LATEX_ADVICE) == count


@pytest.mark.parametrize("options", [[], ["--columns", "system", "score", "interval"]])
def test_text_from_a_table_mentions_only_what_the_table_shows(options, truebleu_command, tmp_path):
    table = tmp_path / "table.tex"
    truebleu_command(
        "compare", REFERENCE, "-i", *SYSTEMS, "-m", "bleu", "chrf", "ter", *options, "-o", table
    )
    text = truebleu_command("cite", table, "-f", "latex").output.partition("\\endinput")[0]
    assert ("confidence intervals" in text) == bool(options)
    assert ("bs:" in text) == bool(options)
    assert r"at $p < 0.05$" in text


def test_output_suffix_selects_format(truebleu_command, result_file, tmp_path):
    for name, start in (("a.bib", "@"), ("a.tex", "We report"), ("a.json", "{"), ("a.txt", "We")):
        assert truebleu_command("cite", result_file, "-o", tmp_path / name).status == 0
        assert (tmp_path / name).read_text().startswith(start)


def test_user_registry_is_cited(truebleu_command, tmp_path):
    (tmp_path / "s").write_text("a\n")
    entry = {
        "name": "ours",
        "citation": "@misc{own-2026, author={Own, Ann}, title={T}, year={2026}}",
        "files": {"de-en": {"src": "s", "ref": "s"}},
    }
    (tmp_path / "ours.json").write_text(json.dumps(entry))
    words = ("cite", "-t", "ours", "--registry", tmp_path / "ours.json")
    output = truebleu_command(*words).output
    assert "on ours (Own, 2026)" in " ".join(output.split())
    assert "own-2026" in list_keys(output)
    assert r"on ours~\cite{own-2026}" in truebleu_command(*words, "-f", "latex").output


def test_unknown_metric_of_others_has_a_note(truebleu_command):
    result = truebleu_command("cite", "-m", "command:mine=prog {hyp}")
    assert "note: no citation is known for mine; cite its authors" in result.error
    assert truebleu_command("cite", "-q", "-m", "command:mine=prog {hyp}").error == ""


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["none.json"], 1, "none.json: No such file or directory"),
        ([REFERENCE], 1, "no signatures found"),
        ([__file__.replace("test_cite_command.py", "")], 1, "directory"),
        (["-m", "bleuu"], 2, "-m/--metrics: unknown metric 'bleuu'; did you mean 'bleu'?"),
        (["-t", "wmt222"], 1, "unknown test set 'wmt222'; did you mean wmt22?"),
        (["--test", "t"], 2, "--test: unknown value 't'"),
        (["--correction", "holm"], 2, "--correction has no effect without --test"),
        (["x.json", "-m", "bleu"], 2, "-m/--metrics has no effect with a result FILE"),
        (["-f", "csv"], 2, "unknown value 'csv'"),
    ],
)
def test_wrong_input_is_an_error(truebleu_command, words, status, message):
    result = truebleu_command("cite", *words)
    assert (result.status, result.output) == (status, "")
    assert message in result.error
    assert result.error.count("\n") == 1


def test_former_option_names_the_command(truebleu_command):
    result = truebleu_command("--citation")
    assert (result.status, result.output) == (2, "")
    assert "use truebleu cite" in result.error


@pytest.mark.parametrize("is_one_file", [False, True])
def test_sentences_name_tables_with_different_corrections(truebleu_command, tmp_path, is_one_file):
    tables = [tmp_path / "main.tex", tmp_path / "appendix.tex"]
    for table, options in zip(tables, ([], ["--correction", "holm"]), strict=True):
        words = ("-m", "bleu", "-parn", "99", "-q", "--label", f"tab:{table.stem}", *options)
        assert (
            truebleu_command("compare", REFERENCE, "-i", *SYSTEMS, *words, "-o", table).status == 0
        )
    if is_one_file:
        both = tmp_path / "both.tex"
        both.write_text("\n".join(table.read_text() for table in tables))
        tables = [both]
    result = truebleu_command("cite", *tables, "-f", "latex")
    assert (result.status, result.error) == (0, "")
    text = result.output.partition("\\endinput")[0]
    assert text.count("We report BLEU") == 1
    assert text.count("by Holm's method") == 1
    first, second = text.split("For Table~")[1:]
    assert first.startswith(r"\ref{tab:main}, we test differences between systems by paired")
    assert "Holm" not in first
    assert second.startswith(r"\ref{tab:appendix}, we test")
    keys = list_keys(result.output.partition("\\endinput")[2])
    assert "holm-1979-simple" in keys
    assert len(keys) == len({*keys})


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_each_table_of_concatenated_results_has_its_own_sentence(truebleu_command, tmp_path, form):
    words = ("compare", REFERENCE, "-i", *SYSTEMS, "-parn", "99", "-q", "-f", form)
    text = (
        truebleu_command(*words).output
        + "\n"
        + truebleu_command(*words, "--correction", "bh").output
    )
    (tmp_path / "out").write_text(text)
    result = truebleu_command("cite", tmp_path / "out")
    assert result.status == 0
    prose = " ".join(result.output.split())
    first, second = prose.partition(". @")[0].split("For table ")[1:3]
    assert first.startswith("1 of out, we test")
    assert "corrected" not in first
    assert second.startswith("2 of out, we test")
    assert "Benjamini" in second


def test_equal_setups_of_several_files_need_no_names(truebleu_command, result_file):
    (result_file.parent / "copy.json").write_text(result_file.read_text())
    one = truebleu_command("cite", result_file)
    both = truebleu_command("cite", result_file, result_file.parent / "copy.json")
    assert (both.status, both.error, both.output) == (0, "", one.output)


def test_parts_of_a_long_latex_table_are_one_table(truebleu_command, tmp_path):
    systems = []
    for i in range(40):
        systems.append(tmp_path / f"system{i}.en")
        systems[-1].write_text(SYSTEMS[i % 2].read_text())
    table = tmp_path / "long.tex"
    words = ("-parn", "9", "-q", "-m", "bleu", "-o", table)
    assert truebleu_command("compare", REFERENCE, "-i", *systems, *words).status == 0
    assert table.read_text().count("\\end{table}") == 2
    result = truebleu_command("cite", table)
    assert (result.status, result.error) == (0, "")
    assert "For " not in result.output.partition(cite.LATEX_ADVICE)[0]


def test_table_without_signatures_has_a_note(truebleu_command, tmp_path):
    words = ("compare", REFERENCE, "-i", *SYSTEMS, "-parn", "99", "-q", "-f", "latex")
    parts = [truebleu_command(*words, *more).output for more in ((), ("--signature", "none"))]
    (tmp_path / "both.tex").write_text("\n".join(parts))
    result = truebleu_command("cite", tmp_path / "both.tex")
    assert result.status == 0
    assert "both.tex has no signatures, so it is not described" in result.error
