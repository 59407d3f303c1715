"""`--columns`, `--caption`, `--label` and `--signature` of score and compare."""

from __future__ import annotations

import re

import pytest
from paths import EXAMPLES

REFERENCE = EXAMPLES / "de-en" / "reference.a.en"
SYSTEMS = [EXAMPLES / "de-en" / f"{name}.en" for name in ("birch", "cedar", "aspen")]
TESTS = ("--test", "none")


@pytest.fixture(params=["score", "compare"])
def paper_command(request):
    """Return the words of a command that scores or compares three systems."""
    tests = TESTS if request.param == "compare" else ()
    return (request.param, REFERENCE, "-i", *SYSTEMS, *tests)


@pytest.fixture
def run_paper(paper_command, truebleu_command):
    return lambda *options: truebleu_command(*paper_command, *options)


def test_latex_is_one_table_with_systems_and_metrics(run_paper):
    source = run_paper("-m", "bleu", "ter", "-f", "latex").output
    assert source.isascii()
    assert source.count(r"\begin{table}") == source.count(r"\begin{tabular}") == 1
    assert "system &" in source
    assert r"BLEU $\uparrow$ &" in source
    assert r"TER $\downarrow$ \\" in source
    assert re.search(r"cedar +& +\\textbf\{47\.0\} & +\\textbf\{44\.5\}", source)


def test_markdown_is_one_table_below_its_caption(run_paper):
    output = run_paper("-m", "bleu", "ter", "-f", "markdown").output
    assert output.startswith("Table: BLEU and TER of 3 systems on 128 segments")
    assert sum(line.startswith("| --") for line in output.splitlines()) == 1
    assert re.search(r"\| cedar +\| \*\*47\.0\*\* \| \*\*44\.5\*\* \|", output)


def test_texts_are_set(run_paper):
    source = run_paper(
        *("-f", "latex", "--caption", "Results & more.", "--label", "tab:en-de_1"),
        *("--signature", "caption"),
    ).output
    assert r"\caption{Results \& more. Bold: best score. \texttt{BLEU|" in source
    assert r"\label{tab:en-de_1}" in source
    assert "footnotesize" not in source


@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("form", ["latex", "markdown"])
@pytest.mark.parametrize(
    ("caption", "beginning"),
    [
        ("Results", "Results. "),
        ("Results. ", "Results. "),
        ("Results (old.)", "Results (old.) "),
        ("Is it better?", "Is it better? "),
        ("Results:", "Results: "),
        ("", ""),
    ],
)
def test_caption_ends_before_signature(truebleu_command, command, form, caption, beginning):
    """A single system has no other sentence between the caption and the signature."""
    words = ["-f", form, "--caption", caption, "--signature", "caption", "-q"]
    words += ["--test", "none"] if command == "compare" else []
    output = truebleu_command(command, REFERENCE, "-i", SYSTEMS[0], *words).output
    start = r"\caption{" if form == "latex" else "Table: "
    signature = r"\texttt{BLEU|" if form == "latex" else "`BLEU|"
    printed = output.partition(start)[2].partition(signature)[0]
    assert printed == beginning


def test_short_signatures_and_digits_are_used(run_paper):
    source = run_paper("-f", "latex", "-sh", "-w", "3").output
    assert r"\texttt{BLEU|\hfil\allowbreak\hfilneg{}\#:1" in source
    assert "46.952" in source


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-f", "text", "--caption", "x"], "--caption has no effect with -f text"),
        (["-f", "json", "--signature", "none"], "--signature has no effect with -f json"),
        (["-f", "markdown", "--label", "x"], "--label has no effect with -f markdown"),
        (["-f", "latex", "--label", "a}b"], "--label: invalid label 'a}b'"),
        (["-f", "latex", "--signature", "top"], "unknown value 'top'"),
    ],
)
def test_option_without_effect_is_an_error(paper_command, read_error, options, message):
    assert message in read_error(2, *paper_command, *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--columns scor -f latex", "did you mean 'score'"),
        ("--columns p -f latex", "--columns: this comparison has no column 'p' (expected letter, "),
    ],
)
def test_unusable_column_is_an_error(read_error, options, message):
    words = ("compare", REFERENCE, "-i", *SYSTEMS, *TESTS, *options.split())
    assert message in read_error(2, *words)


@pytest.mark.parametrize("columns", [["system", "score", "delta"], ["system,score,delta"]])
def test_columns_accept_commas_and_spaces(truebleu_command, columns):
    words = ("compare", REFERENCE, "-i", *SYSTEMS, *TESTS, "-f", "markdown", "--columns", *columns)
    assert "| system |   BLEU ↑ |     Δ |" in truebleu_command(*words).output


def test_documents_are_sections_of_scores(truebleu_command, write):
    documents = write("docs", ["a"] * 100 + ["b"] * 28)
    options = ("-f", "latex", "--docs", documents, "--by", "document")
    source = truebleu_command("score", REFERENCE, "-i", *SYSTEMS, *options).output
    titles = re.findall(r"\\emph\{(.*?)\}", source)
    assert titles == ["all segments", "a (100 segments)", "b (28 segments)"]
    assert source.count(r"\textbf") == 3, "the best system of each section"


def test_intervals_are_printed_with_scores(truebleu_command):
    source = truebleu_command("score", REFERENCE, "-i", *SYSTEMS, "-ci", "50", "-f", "latex").output
    assert re.search(r"\\textbf\{47\.0 \{\[\}\d\d\.\d, \d\d\.\d\{\]\}\}", source)
    assert r"95\% intervals (percentile bootstrap, 50 resamples)" in source


def test_long_table_is_split_with_a_note(truebleu_command, write):
    documents = write("docs", [f"d{i // 4}" for i in range(128)])
    options = ("-f", "latex", "--docs", documents, "--by", "document")
    result = truebleu_command("score", REFERENCE, "-i", *SYSTEMS, *options)
    assert "note: the table has 99 rows and is split into 5 tables" in result.error
    assert result.output.startswith("% Needs"), "the table is written"


def test_unprintable_name_has_a_note(truebleu_command):
    result = truebleu_command("score", REFERENCE, "-i", f"中={SYSTEMS[0]}", "-f", "latex")
    assert r"\texttt{U+4E2D}" in result.output
    assert "note: code points such as U+4E2D replace characters" in result.error
