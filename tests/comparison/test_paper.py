"""Tables for papers: one table in LaTeX and Markdown whose marks agree with the printed digits.

The tests with a real TeX need Debian's packages texlive-latex-base and texlive-latex-recommended.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from paths import EXAMPLES

from truebleu import compare
from truebleu.comparison import Comparisons, paper_layout
from truebleu.comparison.setup_description import cite
from truebleu.rendering.latex import escape_latex, render_latex_signature, unescape_latex
from truebleu.text.citations import decode_tex, encode_tex

PDFLATEX = shutil.which("pdflatex")
needs_tex = pytest.mark.skipif(
    PDFLATEX is None,
    reason="pdflatex is not installed (Debian: texlive-latex-base, texlive-latex-recommended)",
)
HOSTILE = [
    r"\input{x} $x^2$ 50% #1 ~ & {}",
    '[a|b`c*d_e] "x"',
    "*star -- l'été",
    "Žižek Łódź Nießen ąęș ế Δ≥−↑",
    "中文 система",
]


def compare_scores(scores: dict[str, dict[str, float]], **options):
    """Return a comparison by given scores: each system has the same score in all segments."""
    segments = {
        metric: {name: [value + 0.001 * (i % 2) for i in range(40)] for name, value in row.items()}
        for metric, row in scores.items()
    }
    return compare(None, None, metrics=(), scores=segments, samples=199, confidence=50, **options)


def compile_latex(folder, source: str, document_class: str = r"\documentclass{article}") -> str:
    """Compile LaTeX with pdfLaTeX's default encoding and return the log."""
    document = [document_class, r"\usepackage{booktabs}", r"\begin{document}", source]
    document += [r"See Table~\ref{tab:truebleu}.", r"\end{document}"]
    (folder / "paper.tex").write_text("\n".join(document), "utf-8")
    for _ in range(2):
        done = subprocess.run(
            [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return done.stdout.decode(errors="replace")


def read_latex_rows(source: str) -> list[list[str]]:
    """Return the cells of all rows of a table with as many cells as the header."""
    lines = [
        line for line in source.splitlines() if line.endswith(r"\\") and "multicol" not in line
    ]
    return [[cell.strip() for cell in line.removesuffix(r"\\").split(" & ")] for line in lines]


# ---- pdfLaTeX ----


@needs_tex
@pytest.mark.parametrize(
    "document_class", [r"\documentclass{article}", r"\documentclass[twocolumn]{article}"]
)
def test_table_compiles_without_warnings(tmp_path, document_class):
    scores = {"M": {"a": 1.0, "b": 2.0}, "N": {"a": 3.0, "b": 2.0}}
    source = compare_scores(scores, correction="holm").latex()
    log = compile_latex(tmp_path, source, document_class)
    assert not re.findall("(?m)^.*(?:Warning|Overfull).*$", log)


LINE_WIDTHS = pytest.mark.parametrize("class_options", ["", "[12pt]", "[twocolumn]"])


@needs_tex
@LINE_WIDTHS
@pytest.mark.parametrize("place", ["caption", "footnote"])
def test_signatures_of_table_stay_within_margins(tmp_path, class_options, place):
    systems = {"a": ["a b c d"] * 40, "b": ["a b c e"] * 40}
    options = {"metrics": ["bleu", "chrf", "ter"], "samples": 19, "confidence": 50}
    scores = compare(systems, ["a b c d"] * 40, **options)
    source = scores.latex(columns=["system", "score", "interval", "p"], signature=place)
    assert source.count(r"\texttt{") == 3
    log = compile_latex(tmp_path, source, rf"\documentclass{class_options}{{article}}")
    assert not re.findall("(?m)^.*Overfull.*$", log)


@needs_tex
@LINE_WIDTHS
def test_signatures_in_setup_sentences_stay_within_margins(tmp_path, class_options):
    metrics = ["bleu", "chrf++", "ter", "bertscore:microsoft/deberta-xlarge-mnli"]
    setup = cite(metrics, test="ar", correction="holm", test_sets=["wmt22"])
    source = setup.latex() + r"\begin{table}\caption{x}\label{tab:truebleu}\end{table}"
    log = compile_latex(tmp_path, source, rf"\documentclass{class_options}{{article}}")
    assert not re.findall("(?m)^.*Overfull.*$", log)


@pytest.mark.parametrize("break_command", [r"\allowbreak{}", r"\hfil\allowbreak\hfilneg{}"])
def test_breakable_signature_is_read_back(break_command):
    """Earlier versions wrote only the penalty."""
    assert unescape_latex(rf"\texttt{{M\_1|{break_command}nrefs:1}}").strip() == "M_1|nrefs:1"
    signature = "COMET|nrefs:1|model:Unbabel/wmt22-comet-da"
    assert unescape_latex(render_latex_signature(signature)).strip() == signature


@needs_tex
@pytest.mark.parametrize("place", paper_layout.SIGNATURE_PLACES)
def test_hostile_names_compile(tmp_path, place):
    scores = {"M_%": {name: 1.0 + i for i, name in enumerate(HOSTILE)}}
    comparison = compare_scores(scores, correction="bh")
    compile_latex(tmp_path, comparison.latex(signature=place, caption="50% & {more}"))


@needs_tex
def test_all_columns_of_four_metrics_compile_within_the_page(tmp_path):
    scores = {f"M{i}": {"a": 1.0, "b": 2.0, "c": 3.0} for i in range(4)}
    columns = ["system", "score", "interval", "delta", "p", "won", "tied", "lost"]
    log = compile_latex(tmp_path, compare_scores(scores).latex(columns=columns))
    assert "Overfull" not in log


# ---- characters ----


def test_latex_is_ascii():
    scores = {"M": {name: 1.0 + i for i, name in enumerate(HOSTILE)}}
    source = compare_scores(scores).latex(caption="Résultats – Žilina 中")
    assert source.isascii()
    assert source.startswith("% Note: code points such as U+"), "says what was replaced"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Popović", r"Popovi\'{c}"),
        ("Łódź", r"\L{}\'{o}d\'{z}"),
        ("Nießen", r"Nie\ss{}en"),
        ("ąế", r"a\^{e}"),  # one accent at most, and none that needs another encoding
        ("≥ ↑ − Δ", r"$\ge$ $\uparrow$ $-$ $\Delta$"),
        ("中文", r"\texttt{U+4E2D U+6587}"),
    ],
)
def test_characters_become_tex_commands(text, expected):
    assert encode_tex(text) == expected


def test_tex_letters_are_decoded():
    for text in ("Popović", "Łódź", "Nießen", "Ondřej Bojar", "Søgaard"):
        assert decode_tex(encode_tex(text)) == text


def test_quotes_hyphens_and_stars_are_literal():
    quote = r"{\ttfamily\char34}"
    assert escape_latex('a "b" --c *[d]') == f"a {quote}b{quote} -{{}}-c {{*}}{{[}}d{{]}}"
    assert escape_latex("„a“") == ",,a``"


# ---- content ----


@pytest.mark.parametrize(
    ("scores", "best"),
    [({"a": 1.0, "b": 2.0, "c": 3.0}, ["c"]), ({"a": 1.0, "b": 3.00001, "c": 3.00002}, ["b", "c"])],
)
def test_best_printed_scores_are_bold(scores, best):
    comparison = compare_scores({"M": scores})
    rows = read_latex_rows(comparison.latex())[1:]
    assert {row[0] for row in rows if r"\textbf" in row[1]} == set(best)
    markdown_rows = [line for line in comparison.markdown().splitlines() if "**" in line]
    assert len(markdown_rows) == len(best)


def test_marks_show_significant_differences_and_caption_explains_them():
    comparison = compare_scores({"M": {"base": 2.0, "good": 3.0, "poor": 1.0}})
    cells = {row[0]: row[1] for row in read_latex_rows(comparison.latex())[1:]}
    assert r"$\dagger$" in cells["good"]
    assert r"$\ddagger$" in cells["poor"]
    assert "dagger" not in cells["base"]
    caption = comparison.latex().partition(r"\caption{")[2]
    assert r"$\dagger$: significantly better than base; $\ddagger$: significantly worse" in caption
    test = "paired approximate randomization with 199 randomizations"
    assert f"($p < 0.05$, {test}, uncorrected)" in caption


@pytest.mark.parametrize(
    ("values", "columns", "statement"),
    [
        ((2.0, 3.0, 1.0), None, ", uncorrected)."),
        ((2.0, 2.0, 2.0), ["system", "p"], ", uncorrected; significant: p \\< 0.05."),
        ((2.0, 2.0, 2.0), None, ", uncorrected)."),
        # One test does not need a correction.
        ((2.0, 3.0), None, "199 randomizations)."),
    ],
)
def test_caption_says_that_several_tests_are_uncorrected(values, columns, statement):
    comparison = compare_scores({"M": dict(zip("abc", values, strict=False))})
    assert statement in comparison.markdown(columns=columns)


def test_difference_that_digits_hide_has_no_mark():
    comparison = compare_scores({"M": {"base": 2.0, "other": 2.00001}})
    assert comparison["other"]["scores"]["M"]["difference"]["significant"]
    assert "dagger" not in comparison.latex()
    assert "†" not in comparison.markdown()


def test_equal_scores_have_a_sentence_with_the_test():
    caption = compare_scores({"M": {"a": 2.0, "b": 2.0}}, correction="holm").markdown()
    assert "No printed score differs significantly from the score of a (p \\< 0.05, " in caption
    assert "199 randomizations, p-values corrected by Holm's method)." in caption


@pytest.mark.parametrize(
    ("place", "in_caption", "count"),
    [("footnote", False, 1), ("caption", True, 1), ("none", False, 0)],
)
def test_signature_option_moves_signatures(place, in_caption, count):
    comparison = compare_scores({"M": {"a": 1.0, "b": 2.0}})
    source = comparison.latex(signature=place)
    assert source.count("sha256") == count
    caption = source.partition(r"\caption{")[2].partition(r"\label")[0]
    assert ("sha256" in caption) == in_caption
    markdown = comparison.markdown(signature=place)
    assert markdown.count("sha256") == count
    assert ("sha256" in markdown.splitlines()[0]) == in_caption


def test_columns_are_grouped_by_metric():
    comparison = compare_scores({"M": {"a": 1.0, "b": 2.0}, "N": {"a": 3.0, "b": 2.0}})
    columns = ["system", "score", "delta", "p"]
    source = comparison.latex(columns=columns)
    assert r"\multicolumn{3}{c}{M $\uparrow$} & \multicolumn{3}{c}{N $\uparrow$}" in source
    assert r"\cmidrule(lr){2-4} \cmidrule(lr){5-7}" in source
    header = comparison.markdown(columns=columns).splitlines()[2]
    assert header.replace(" ", "") == "|system|M↑|MΔ|Mp|N↑|NΔ|Np|"


def test_both_intervals_have_distinct_headers():
    comparison = compare_scores({"M": {"a": 1.0, "b": 2.0}})
    header = comparison.markdown(columns=["interval", "delta-interval"]).splitlines()[2]
    assert re.findall(r"[^|]+", header.replace(" ", "")) == ["95%interval", "Δ95%interval"]


def test_counts_are_explained_with_the_baseline():
    caption = compare_scores({"M": {"a": 1.0, "b": 2.0}}).markdown(columns=["won", "tied", "lost"])
    expected = "Won, tied and lost: segments with a better, equal or worse score compared with a."
    assert expected in caption
    assert "Δ" not in caption


def test_correction_follows_an_italic_p():
    systems = {"a": ["x y"] * 9, "b": ["x z"] * 9, "c": ["z"] * 9}
    options = {"metrics": ["chrf"], "correction": "holm", "samples": 9}
    comparison = compare(systems, ["x y z"] * 9, **options)
    header, *rows = read_latex_rows(comparison.latex(columns=["system", "p"]))
    assert header == ["system", "$p$ Holm"]
    assert [name for name, p in rows if p == "--"] == ["a"]


def test_wide_table_has_a_section_per_metric():
    scores = {f"M{i}": {"a": 1.0, "b": 2.0} for i in range(3)}
    columns = ["system", "score", "delta", "p", "won"]
    source = compare_scores(scores).latex(columns=columns)
    assert re.findall(r"\\emph\{(M\d)", source) == ["M0", "M1", "M2"]
    header, *_, baseline = read_latex_rows(source)
    assert header == ["system", "score", r"$\Delta$", "$p$", "won"]
    assert baseline[2:] == ["--"] * 3


def test_only_shown_columns_are_explained():
    comparison = compare_scores({"M": {"a": 1.0, "b": 2.0}})
    for columns, expected in (
        (["score", "p"], False),
        (["p"], False),
        (["score", "delta"], True),
        (["delta-interval", "p"], True),
    ):
        for source in (comparison.latex(columns=columns), comparison.markdown(columns=columns)):
            assert ("difference from a." in source) == expected
    assert "±: half the width of 95% intervals" in comparison.markdown(columns=["half-width"])
    # The baseline is named even if no mark names it.
    equal = compare_scores({"M": {"a": 1.0, "b": 1.0}}).markdown(columns=["system", "p"])
    assert "p: difference from a, paired" in equal


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (["systm"], ValueError, "unknown column 'systm'; did you mean 'system'"),
        (["p-value"], ValueError, "unknown column 'p-value'; did you mean 'p'"),
        (["Diff"], ValueError, "unknown column 'Diff'; did you mean 'delta'"),
        (["CI"], ValueError, "unknown column 'CI'; did you mean 'interval'"),
        (["score", "score"], ValueError, "duplicate column 'score'"),
        (["p-uncorrected"], ValueError, "this comparison has no column 'p-uncorrected'"),
    ],
)
def test_unavailable_column_is_an_error(columns, error, message):
    with pytest.raises(error, match=message):
        compare_scores({"M": {"a": 1.0, "b": 2.0}}).latex(columns=columns)


def compare_documents(count: int):
    documents = [f"d{i % count}" for i in range(40)]
    return compare_scores({"M": {"a": 1.0, "b": 2.0}}, documents=documents)


def test_documents_are_sections():
    comparison = compare_documents(2)
    source = comparison.latex(by=["document"])
    titles = re.findall(r"\\emph\{(.*?)\}", source)
    assert titles == ["all segments", "d0 (20 segments)", "d1 (20 segments)"]
    assert len(read_latex_rows(source)) == 1 + 3 * 2
    assert "**d1 (20 segments)**" in comparison.markdown(by=["document"])
    assert "d1" not in comparison.latex()


def test_references_are_sections():
    references = [("a b c d e", "a b c d"), ("x y z w", "x y z")]
    systems = {"one": ["a b c d e", "x y z w"], "two": ["a b c", "x y z"]}
    comparison = compare(systems, references, samples=9, confidence=9)
    source = comparison.latex(by=["reference"])
    names = [f"{one['name']} alone" for one in comparison.by_reference]
    assert re.findall(r"\\emph\{(.*?)\}", source) == ["all references", *names]
    with pytest.raises(ValueError, match="unknown by 'domain'"):
        comparison.latex(by=["domain"])


REFERENCES = EXAMPLES / "de-en" / "reference.a.en", EXAMPLES / "de-en" / "reference.b.en"


def compare_with_references(references, **options):
    """Return a comparison of the example systems."""
    systems = {name: EXAMPLES / "de-en" / f"{name}.en" for name in ("aspen", "birch", "cedar")}
    return compare(systems, references, samples=99, confidence=99, **options)


def read_latex_sections(source: str) -> list[list[list[str]]]:
    """Return the rows of each section of a table, without the header."""
    tabular = source.partition(r"\bottomrule")[0].split(r"\midrule")[1:]
    return [read_latex_rows(section) for section in tabular]


@pytest.mark.parametrize("correction", [None, "holm"])
@pytest.mark.parametrize("columns", [None, ["system", "score", "interval", "delta", "p"]])
def test_section_of_a_reference_equals_the_table_with_this_reference(correction, columns):
    metrics = ["bleu", "ter"] if columns is None else ["bleu"]
    options = {"metrics": metrics, "correction": correction, "order": "given"}
    together = compare_with_references(REFERENCES, **options)
    sections = read_latex_sections(together.latex(by=["reference"], columns=columns))
    assert sections[0] == read_latex_sections(together.latex(columns=columns))[0]
    for section, reference in zip(sections[1:], REFERENCES, strict=True):
        alone = compare_with_references(reference, **options).latex(columns=columns)
        assert "dagger" in alone
        assert section == read_latex_sections(alone)[0]


def test_stacked_sections_of_references_have_their_own_marks():
    comparison = compare_with_references(REFERENCES, metrics=["bleu", "ter"])
    columns = ["system", "score", "interval", "delta", "p", "won"]
    sections = read_latex_sections(comparison.latex(by=["reference"], columns=columns))
    assert len(sections) == 6
    assert all("dagger" in str(section) for section in sections)


@pytest.mark.parametrize("short", [False, True])
def test_sections_of_references_have_signatures_with_one_reference(short):
    comparison = compare_with_references(REFERENCES, metrics=["bleu", "ter"])
    markdown = comparison.markdown(by=["reference"], short=short)
    for references in (REFERENCES, REFERENCES[0]):
        other = compare_with_references(references, metrics=["bleu", "ter"]).to_dict()
        for metric in other["metrics"]:
            signature = metric["short_signature" if short else "signature"]
            signature = signature.replace("|bs:99", "")  # The table shows no intervals.
            assert f"`{metric['name']}|{signature}`" in markdown
    assert "with 2 references together, and with each reference alone." in markdown
    assert "with 2 references each." in comparison.markdown()
    assert "nrefs:1" not in comparison.markdown()


def test_reference_of_some_segments_has_the_number_of_segments():
    references = [("a b c d e", "a b c d"), ("x y z w", None)]
    systems = {"one": ["a b c d e", "x y z w"], "two": ["a b c", "x y z"]}
    markdown = compare(systems, references, samples=9, confidence=9).markdown(by=["reference"])
    assert "alone**" in markdown
    assert "alone (1 segment)**" in markdown
    assert "a varying number of references, and with each reference alone." in markdown


def test_documents_have_a_sentence_that_they_were_not_tested():
    comparison = compare_documents(2)
    sentence = "Differences in document scores were not tested."
    assert sentence in comparison.markdown(by=["document"])
    assert sentence not in comparison.markdown()
    scores = {"M": {"a": [1.0] * 4, "b": [2.0] * 4}}
    options = {"metrics": (), "documents": ["d0", "d1"] * 2, "test": None}
    untested = compare(None, None, scores=scores, **options)
    assert sentence not in untested.markdown(by=["document"])


def test_documents_that_exceed_a_page_are_split_into_several_tables():
    comparison = compare_documents(20)
    source = comparison.latex(by=["document"])
    assert "% Note: the table has 42 rows and is split into 3 tables." in source
    assert source.count(r"\begin{tabular}") == 3
    assert source.count(r"\emph{d") == 20
    assert comparison.markdown(by=["document"]).count("segments)**") == 20
    assert r"\caption{Table~\ref{tab:truebleu}, continued.}" in source
    assert r"\label{tab:truebleu-2}" in source


def test_groups_are_sections():
    groups = [({"domain": name}, compare_scores({"M": {"a": 1.0, "b": 2.0}})) for name in "xy"]
    comparisons = Comparisons.from_groups(["domain"], groups)
    source = comparisons.latex()
    assert re.findall(r"\\emph\{(.*?)\}", source) == ["x (40 segments)", "y (40 segments)"]
    assert source.count(r"\begin{tabular}") == 1
    assert "80 segments in 2 groups" in source
